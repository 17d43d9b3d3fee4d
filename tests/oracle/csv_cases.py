# SPDX-License-Identifier: MIT
"""The chapter CSV of gpustat(1) as a table: good-* inputs, what is asked, what must come out.

The wanted text was written by hand; tests/oracle/oracle_check.py makes sure that the model agrees, and
csv_text.py and devices.py run each case cut at every byte.
"""
import collections

import oracle

GoodCase = collections.namedtuple("GoodCase", "name data request want")


def good(name, data, operations, want, **how):
    if isinstance(operations, str):
        operations = [("sum", operations)]
    return GoodCase(name, data, oracle.Request(operations, **how), want)


ALL = [(o, "n") for o in ("sum", "min", "max", "count", "mean")]

GOOD = [
    # ---- line ends -------------------------------------------------------------------------
    good("lf", b"a,b\n1,2\n3,4\n", "b", "6\n"),
    good("crlf", b"a,b\r\n1,2\r\n3,4\r\n", "b", "6\n"),
    good("crlf and lf mixed", b"a,b\r\n1,2\n3,4\r\n5,6\n", "b", "12\n"),
    good("no last line end", b"a,b\n1,2\n3,4", "b", "6\n"),
    good("no last line end, one digit", b"1", "1", "1\n"),
    good("no last line end, one byte, a header", b"a", "a", "0\n"),
    good("cr at the end of the file", b"a,b\r\n1,2\r\n3,4\r", "b", "6\n"),
    good("cr at the end, quoted", b'a,b\r\n1,"2"\r\n3,"4"\r', "b", "6\n"),
    good("header only, no line end", b"a,b", "b", "0\n"),
    good("header only, cr", b"a,b\r", "b", "0\n"),
    good("header only, crlf", b"a,b\r\n", "b", "0\n"),
    good("lone cr is data", b"a,b\nx\ry,2\nx\r,3\n\r,4\n", "b", "9\n"),
    good("lone cr is data, counted", b"n\nx\ry\nz\n", [("count", "n")], "2\n"),
    good("cr cr lf", b"a,b\n1,x\r\r\n2,y\r\r\n", "a", "3\n"),
    good("lone cr in a name", b"a\rb,c\n1,2\n", [("sum", ":1"), ("sum", "c")],
         '"sum(a\rb)",sum(c)\n1,2\n'),
    # ---- BOM -------------------------------------------------------------------------------
    good("bom", b"\xef\xbb\xbfa,b\n1,2\n", "a", "1\n"),
    good("bom before a quoted name", b'\xef\xbb\xbf"a,a",b\n1,2\n', '"a,a"', "1\n"),
    good("bom before a number", b"\xef\xbb\xbf5\n6\n", "1", "11\n"),
    good("bom and nothing", b"\xef\xbb\xbf", "1", "0\n"),
    good("bom is data elsewhere", b"a,b\n\xef\xbb\xbf,1\n\xef\xbb\xbf,2\n", "b", "3\n"),
    good("two bytes of a bom are data", b"\xef\xbb,1\n5,2\n", "2", "2\n"),
    # ---- quotes ----------------------------------------------------------------------------
    good("quoted numbers", b'"a","b"\n"1","2.5"\n"3","4"\n', "b", "6.5\n"),
    good("quoted, blanks inside", b'a,b\n" 1 ","\t2 "\n', "a,b", "sum(a),sum(b)\n1,2\n"),
    good("delimiters in quotes", b'a,b\n"x,y,9",2\n",",3\n",,,",4\n', "b", "9\n"),
    good("newlines in quotes", b'a,b\n"x\ny",2\n"\n\n",3\n"\n",4\n', "b", "9\n"),
    good("crlf in quotes", b'a,b\r\n"x\r\ny",2\r\n"\r\n",3\r\n"\r",4\r\n', "b", "9\n"),
    good("records in quotes", b'a,b\n"1,2\n3,4\n5,6",7\n"8,9\n",10\n', "b", "17\n"),
    good("doubled quotes", b'a,b\n"say ""hi""",2\n"""",3\n"""""",4\n', "b", "9\n"),
    good("doubled quotes and delimiters", b'a,b\n"x"",""y",2\n""",""",3\n"""\n""",4\n', "b", "9\n"),
    good("empty quotes", b'a,b\n"",2\n"",3\n"",""\n', "b", "5\n"),
    good("empty quotes are missing", b'n,m\n"",2\n"",3\n1,4\n', ALL,
         "sum(n),min(n),max(n),count(n),mean(n)\n1,1,1,1,1\n"),
    good("stray quote inside", b'a,b\n12" disk,2\n3"5",4\nx"",5\nx""",6\n', "b", "17\n"),
    good("quotes after a blank that quote a part", b'a,b\n "x" z,2\n "y"z"",3\n', "b", "5\n"),
    good("stray quotes hide nothing", b'a,b\nx"y,1\nz"w,2\nx",3\n', "b", "6\n"),
    good("quote is the last byte", b'a,b\n1,"2"', "b", "2\n"),
    good("quote opens after the delimiter", b'a,b\n,"2"\n,"3"\n', "b", "5\n"),
    good("quoted last field, crlf", b'a,b\r\n1,"2"\r\n1,"3"\r\n', "b", "5\n"),
    good("quotes alone on a line", b'n\n""\n""\n5\n', ALL,
         "sum(n),min(n),max(n),count(n),mean(n)\n5,5,5,1,5\n"),
    good("a quoted name with a newline", b'"a\nb",c\n1,2\n', [("sum", '"a\nb"'), ("sum", "c")],
         '"sum(a\nb)",sum(c)\n1,2\n'),
    good("a quoted name with quotes", b'"a""b",c\n1,2\n', [("sum", '"a""b"'), ("max", "c")],
         '"sum(a""b)",max(c)\n1,2\n'),
    good("a name with a stray quote", b'12" disk,c\n1,2\n', '12" disk', "1\n"),
    # ---- blank lines -----------------------------------------------------------------------
    good("blank lines, several columns", b"a,b\n\n1,2\n\n\n3,4\n\n", "b", "6\n"),
    good("blank lines, crlf", b"a,b\r\n\r\n1,2\r\n\r\n\r\n3,4\r\n\r\n", "b", "6\n"),
    good("blank lines, mixed", b"a,b\n\r\n1,2\r\n\n3,4\n\n\r\n", "b", "6\n"),
    good("blank lines first", b"\n\r\n\na,b\n1,2\n", "b", "2\n"),
    good("blank lines first, numbers", b"\n\n1,2\n3,4\n", "2", "6\n"),
    good("blank line last, no line end", b"a,b\n1,2\n\r", "b", "2\n"),
    good("blank lines are missing in one column", b"n\n1\n\n3\n\n\n", [("count", "n"), ("mean", "n")],
         "count(n),mean(n)\n2,2\n"),
    good("blank lines, one column, the summary", b"n\n1\n\n3\r\n\r\n\n", [],
         "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\nn,number,2,3,0,4,1,3,2,,\n", format="csv"),
    good("blank lines, the summary", b"n,m\n\n1,2\n\n", [],
         "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\nn,number,1,0,0,1,1,1,1,,\nm,number,1,0,0,2,2,2,2,,\n",
         format="csv"),
    good("blank lines first, one column", b"\n\n1\n2\n", [("sum", "1"), ("count", "1")],
         "sum(col1),count(col1)\n3,2\n"),
    good("only blank lines", b"\n\n\r\n", [("sum", "1"), ("count", "1")], "sum(col1),count(col1)\n0,0\n"),
    good("blank lines in quotes", b'a,b\n"\n\n",2\n\n"\r\n\r\n",3\n', "b", "5\n"),
    # ---- missing ---------------------------------------------------------------------------
    good("empty fields", b"a,n\n,1\nx,\n,\n,4\n", [("sum", "n"), ("count", "n"), ("count", "a")],
         "sum(n),count(n),count(a)\n5,2,1\n"),
    good("blanks are missing", b'a,n\n1, \n2,\t \n3," "\n4,4\n', [("sum", "n"), ("count", "n")],
         "sum(n),count(n)\n4,1\n"),
    good("delimiter last", b"n,a\n1,\n2,\n", [("sum", "n"), ("count", "a")], "sum(n),count(a)\n3,0\n"),
    good("delimiter last, no line end", b"n,a\n1,\n2,", [("sum", "n"), ("count", "a")],
         "sum(n),count(a)\n3,0\n"),
    good("all missing", b"a,n\n1,\n2,\n", [("sum", "n"), ("min", "n"), ("max", "n"), ("mean", "n"),
                                          ("count", "n")],
         "sum(n),min(n),max(n),mean(n),count(n)\n0,,,,0\n"),
    good("blanks around numbers", b"a,n\nx, 1\nx,2 \nx,\t3\t\nx,  4.5\t \n", "n", "10.5\n"),
    # ---- shapes ----------------------------------------------------------------------------
    good("a delimiter at a record's end", b"a,b\n1,2,\n5,6\n7,8,\r\n9,10,", "b", "26\n"),
    good("a name missing at the header's end", b"a,b,\n1,2\n3,4,5\n6,7,\n8,9,,\n", [("sum", "b"), ("count", "3")],
         "sum(b),count(col3)\n22,1\n"),
    good("empty input", b"", "1", "0\n"),
    good("one value", b"5\n", "1", "5\n"),
    good("many columns", b",".join(b"c%d" % i for i in range(1, 101)) + b"\n"
         + b",".join(b"%d" % i for i in range(1, 101)) + b"\n", "c100,c1,57-59",
         "sum(c100),sum(c1),sum(c57),sum(c58),sum(c59)\n100,1,57,58,59\n"),
    good("many empty columns", b"," * 200 + b"7\n" + b"," * 200 + b"8\n", "201", "15\n", header="no"),
    good("nul bytes", b"a,n\n\0,1\nx\0y,2\n\"\0\",3\n", "n", "6\n"),
    good("bytes that are no utf-8", b"\xff\xfe,n\n\x80\x81,1\n\xc3,2\n\"\xe2\x82\",3\n", "n", "6\n"),
    good("every byte as text", b"t,n\n" + b"".join(
        b"x%cx,%d\n" % (c, c) for c in range(256) if c not in b'\n,') + b'"x\nx",10\n"x,x",44\n',
        "n", "32640\n"),
    # ---- delimiters ------------------------------------------------------------------------
    good("semicolons", b'a;b\n"x;y";2\n1,5;3\n', "b", "5\n", delimiter=b";"),
    good("tabs", b'a\tb\n"x\ty"\t2\n, \t3\n', "b", "5\n", delimiter=b"\t"),
    good("blanks as delimiters", b'1 2 "3 3"\n4 5 x\n', "2", "7\n", delimiter=b" ", header="no"),
    good("bars", b'a|b\n"x|""|"|2\n|3\n', "b", "5\n", delimiter=b"|"),
    # ---- headers ---------------------------------------------------------------------------
    good("no header", b"1,2\n3,4\n", "1,2", "sum(col1),sum(col2)\n4,6\n"),
    good("a selected field is no number", b"x,2\n3,4\n", "1", "3\n"),
    good("an unselected field is no number", b"x,2\n3,4\n", "2", "6\n", header="no"),
    good("a selected field is missing", b",2\n3,4\n", "1", "3\n", header="no"),
]
