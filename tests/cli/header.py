# SPDX-License-Identifier: MIT
"""The chapter HEADER of gpustat(1): which first record is a header, which is data, and which is an error."""
import gzip
import os
import resource
import subprocess
import threading

import harness
from harness import fixture

WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, None) for threads in (1, 3)]
DOUBT = "gpustat: <stdin>:%d: '%s' may be names or data: say -H if these are names, -N if they are data%s\n"
NOTE = "gpustat: note: <stdin>:%d: '%s' is taken for the header: say -N if it is data\n"
EMPTY = "gpustat: %s: the input is empty, and has no column '%s': did the command that writes it fail?\n"
NUL = "gpustat: <stdin>:%d: column '%s': NUL byte in '%s': try iconv -f UTF-16 -t UTF-8, or tr '\\0' '\\n'\n"


def says(name, args, stdin, status, out, err=""):
    """Exactly this, whatever the chunks and threads."""
    wanted = (status, harness._bytes(out), harness._bytes(err))
    harness.agrees(name, args, stdin, lambda r: None if (r.status, r.out, r.err) == wanted else "wanted: %r" % (wanted,),
                   WAYS)


ROWS = ("gpustat: %s:%d: each record has one field more than this header: R and pandas write no name above the names of rows "
        "(try sed '%ds/^/row%s/' to name that column)\n")


def check_row_names():
    """A header with one name less than every record has fields."""
    r = b'"x","y"\n"1",5,6\n"2",7,8\n'
    says("row names", ["--sum=x"], r, 1, "", "gpustat: <stdin>:2: 3 fields where the header has 2: a delimiter in a value that is "
         "not quoted? See --ragged (try sed '1s/^/row,/' if the first column has no name, as from R and pandas)\n")
    for args in (["--sum=x", "--ragged=extra"], ["--sum=x", "--ragged=allow"], ["-H", "--ragged=allow"], ["--ragged=extra"], [],
                 ["--where=x > 1", "--ragged=allow"], ["--cumsum=y", "--ragged=extra"], ["--by=x", "--count-records", "--ragged=extra"],
                 ["-H", "--sum=2", "--ragged=extra", "--invalid=skip"]):
        says("row names, %s" % args, args, r, 1, "", ROWS % ("<stdin>", 1, 1, ","))
    says("row names, as the message says", ["--sum=x"], b"row," + r, 0, "12\n")
    says("row names between tabs", ["-d", "tab", "--sum=x", "--ragged=extra"], b"x\ty\na\t1\t2\n", 1, "",
         ROWS % ("<stdin>", 1, 1, "\\t"))
    says("row names after skipped lines", ["--skip-lines=2", "--sum=x", "--ragged=extra"], b"by R\n\nx,y\na,1,2\n", 1, "",
         ROWS % ("<stdin>", 3, 3, ","))
    says("row names, and a byte that sed would not take", ["-d", "&", "--sum=x", "--ragged=extra"], b"x&y\na&1&2\n", 1, "",
         (ROWS % ("<stdin>", 1, 1, ",")).split(" (try")[0] + "\n")
    says("one record has as many", ["--sum=x", "--ragged=extra"], b"x,y\n1,5,6\n2,7,8\n3,4\n", 0, "6\n")
    says("a hundred records are looked at", ["--sum=x", "--ragged=extra"], b"x,y\n" + b"1,5,6\n" * 100 + b"3,4\n", 1, "",
         ROWS % ("<stdin>", 1, 1, ","))
    says("a delimiter at the end is no field", ["--sum=x", "--ragged=extra"], b"x,y\n1,5,\n2,7,\n", 0, "3\n")
    says("two fields more", ["--sum=x", "--ragged=extra"], b"x,y\n1,5,6,7\n", 0, "1\n")
    says("no header", ["-N", "--sum=1", "--ragged=extra"], b"1,2\n3,4,5\n", 0, "4\n")
    says("no record", ["-H", "--sum=x", "--ragged=extra"], b"x,y\n", 0, "0\n")
    says("the summary, a title of one field", ["--format=csv"], b"title\na,b\n1,2\n", 0, harness.run(["--format=csv"], b"title\na,b\n1,2\n").out,
         "gpustat: warning: 2 records have too many or too few fields; the first: <stdin>:2: 2 fields where the header has 1: a delimiter in a value "
         "that is not quoted? See --ragged\n" +
         NOTE % (1, "title"))
    good, later = fixture("rows_good.csv", b"x,y\n1,2\n"), fixture("rows_later.csv", b"y,x\n1,5,6\n")
    harness.refuses("row names in a later file", ["--sum=x", "--ragged=extra", good, later], None, 1, ROWS % (later, 1, 1, ","))


def check_comment_lines():
    """Lines above the header that begin with #."""
    data, hint = b"# made by x\na,b\n1,2\n", " (try --comment '#')"
    says("a comment, a name", ["--sum=b"], data, 2, "", "gpustat: unknown column 'b'%s\ngpustat: the input has 1 column: # made by x\n" % hint)
    says("a comment with a delimiter", ["--sum=b"], b"# a, made by x\na,b\n1,2\n", 2, "",
         "gpustat: unknown column 'b'%s\ngpustat: the input has 2 columns: # a,  made by x\n" % hint)
    says("a comment, a number", ["--sum=2"], b"#made by x\na,b\n1,2\n", 2, "",
         "gpustat: unknown column '2'%s\ngpustat: the input has 1 column: #made by x\n" % hint)
    says("a comment, a number that is there", ["--sum=1"], data, 1, "", DOUBT % (1, "# made by x", hint))
    says("a comment, -H", ["-H", "--sum=1"], b"# made by x\nab\n1\n", 1, "",
         "gpustat: <stdin>:2: column '# made by x': not a number: 'ab'%s\n" % hint)
    says("a comment, --count", ["-H", "--count=1"], data, 1, "", "gpustat: <stdin>:2: 2 fields where the header has 1%s\n" % hint)
    says("a percent sign", ["--sum=b"], b"%% x, y\na,b\n1,2\n", 2, "",
         "gpustat: unknown column 'b' (try --comment '%')\ngpustat: the input has 2 columns: %% x,  y\n")
    says("as it says", ["--comment=#", "--sum=b"], data, 0, "2\n")
    says("a name may begin so", ["--sum=b"], b"#chrom,c\n1,2\n", 2, "", "gpustat: unknown column 'b'\ngpustat: the input has 2 columns: #chrom, c\n")
    says("in quotes it is no comment", ["--sum=b"], b'"# a",c\n1,2\n', 2, "", "gpustat: unknown column 'b'\ngpustat: the input has 2 columns: # a, c\n")


def check_units():
    """A line of units below the header."""
    hint = " (try sed %dd, or --invalid skip: this is a line of units)"

    def unit(name, data, column, value, line=2, args=(), hint=hint):
        says("units: " + name, list(args) or ["--sum=" + column], data, 1, "",
             "gpustat: <stdin>:%d: column '%s': not a number: '%s'%s\n" % (line, column, value, hint % line if "%d" in hint else hint))

    skip = " (try --invalid skip)"
    unit("m,s,kg", b"a,b,c\nm,s,kg\n1,2,3\n", "b", "s")
    unit("a percent sign", b"time,temp,hum\ns,degC,%\n0,20.5,40\n", "hum", "%")
    unit("in brackets", b'a,b\n(m/s),[parsecs]\n1,2\n', "b", "[parsecs]")
    unit("in quotes", b'a,b\n"m/s","kg"\n1,2\n', "b", "kg")
    unit("a square", b"a,b\nm2,m^3\n1,2\n", "a", "m2")
    unit("beside an empty field", b"site,a\n,\xc2\xb5g/l\nx,2\n", "a", "\u00b5g/l")
    unit("of computed columns", b"a,b\nm,s\n1,2\n", "v", "m", args=["--let=v = a / b", "--sum=v"])
    unit("in a condition", b"a,b\nm,s\n1,2\n", "b", "s", args=["--where=b > 1", "--sum=a"])
    unit("after skipped lines", b"title\na,b\nm,s\n1,2\n", "b", "s", 3, args=["--skip-lines=1", "--sum=b"])
    unit("in a later record", b"a,b\n1,2\nm,s\n", "b", "s", 3, hint=skip)
    unit("a number beside it", b"a,b\n1,s\n", "b", "s", hint=skip)
    unit("other texts", b"a,b,c\nx,y,s\n", "c", "s", hint=skip)
    unit("no header", b"m,s\n1,2\n", "col2", "s", 1, args=["-N", "--sum=2"], hint=" (try -H, if this is the header)")
    units = b"a,b\nm,s\n1,2\n"
    says("units, as it says", ["--sum=b", "--invalid=skip"], units, 0, "2\n",
         "gpustat: warning: 1 value of column 'b' left out: <stdin>:2: not a number: 's' (try sed 2d, which drops a line of units)\n")
    says("units in a condition, left out", ["-H", "--where=b > 1", "--invalid=skip", "--count-records"], units, 0, "1\n", "gpustat: warning: 1 record without an "
         "answer to the condition: <stdin>:2: column 'b': not a number: 's' (try sed 2d, which drops a line of units)\n")
    head, many = "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n", b"time,bytes,name\ns,B,-\n1,2,x\n2,3,y\n"
    summary = "time,text,3,0,0,,1,s,,1,1\nbytes,text,3,0,0,,2,B,,1,1\nname,text,3,0,0,,-,y,,1,1\n"
    says("units in the summary", ["-H", "--format=csv"], many, 0, head + summary,
         "gpustat: note: column 'time' and 1 more may hold numbers: try sed 2d, which drops a line of units\n")
    says("units of many values in the summary", ["-H", "--format=csv"], b"b\nkB\n" + b"1\n" * 20, 0, head + "b,number,20,0,1,20,1,1,1,,\n",
         "gpustat: warning: 1 value of column 'b' left out: <stdin>:2: not a number: 'kB' (try sed 2d, which drops a line of units)\n")
    says("a unit that is the column's only value", ["-H", "--format=csv"], b"a\nkB\n", 0, head + "a,text,1,0,0,,kB,kB,,2,2\n")
    note = "gpustat: note: <stdin>:2: a line of units is taken for a record: try sed 2d, which drops it\n"
    for args, out in ((["--by=time"], "time,count\ns,1\n1,1\n2,1\n"), (["--by=name"], "name,count\n-,1\nx,1\ny,1\n"),
                      (["--by=time", "--count=bytes"], "time,count(bytes)\ns,1\n1,1\n2,1\n"), (["--mode=time"], "s\n"), (["--count-records"], "3\n"),
                      (["--first=bytes"], "B\n")):
        says("units in " + " ".join(args), ["-H"] + args, many, 0, out, note)
    says("units, and an operation on numbers, which says so", ["--by=time", "--sum=bytes"], many, 1, "",
         "gpustat: <stdin>:2: column 'bytes': not a number: 'B'" + hint % 2 + "\n")
    for name, data in (("no number below them", b"sex,g\nF,A\nM,B\n"), ("no record below them", b"a,b\nm,s\n"), ("a number beside them", b"a,b\n1,s\n1,2\n"),
                       ("a number below another column", b"a,b,c\nm,s,x\nm,s,1\n"), ("a blank line before them", b"a,b\n\nm,s\n1,2\n")):
        says("no units: " + name, ["-H", "--count-records"], data, 0, "%d\n" % (len(data.split()) - 1))
    first, second = fixture("units_first.csv", b"a,b\n1,2\n"), fixture("units_second.csv", b"b,a\ns,m\n1,2\n")
    harness.refuses("units in a later file", ["--sum=b", first, second], None, 1,
                    "gpustat: %s:2: column 'b': not a number: 's'%s\n" % (second, hint % 2))


def check_doubtful_values():
    """A bad first value never passes for a name."""
    marks = ("N/A", "n/a", "-", "--", "?", ".", "#N/A", "n.a.", "#DIV/0!", "<NA>", "\\N", "+nan")
    for value in marks + ("inf", "-Infinity", "$5", "1,5", "12%", "0x10", "1_000", "1.2.3", "(5)", "5 EUR", "1O", "-5x", ".5x",
                          "10.0.0.1", "2024-01-02", "<5", "\u22125", "\u20ac5", "\u00b15", "# 5"):
        data = ('"%s"\n4\n6\n' % value).encode()
        says("the first value is %s" % value, ["--mean", "1"], data, 1, "", DOUBT % (1, '"%s"' % value, ""))
        harness.answers("%s is a name" % value, ["--mean=1", "-H"], data, "5\n")
        harness.refuses("%s is data" % value, ["--mean=1", "-N"], data, 1, "<stdin>:1: column 'col1': not a number: ")
    for value in ("nA", "NaN", "NA", "null", "Nil", "x", "\u00e4", "_x", "%x", "#x", "\u00b5g", "x5", "info", "\u5e74"):
        data = ("%s\n4\n6\n" % value).encode()
        says("%s above a number is a name" % value, ["--mean", "1"], data, 0, "5\n")
    for value in ("nA", "NaN", "NA", "null"):
        data = ("%s,5\n4,6\n" % value).encode()
        says("%s beside a number may be a value" % value, ["--sum", "2"], data, 1, "", DOUBT % (1, value + ",5", ""))
        says("%s beside a text is a name" % value, ["--sum", "2"], data.replace(b"5", b"x"), 0, "6\n")
    says("beyond the range", ["--sum=1"], b"1e500\n4\n", 1, "",
         "gpustat: <stdin>:1: column 'col1': number beyond 10^-400 to 10^400: '1e500' (try --invalid skip)\n")
    says("a spelling of --missing is no text", ["--mean=1", "--missing=NA"], b"NA\n4\n6\n", 1, "", DOUBT % (1, "NA", ""))
    says("a value that is not selected", ["--sum=2"], b"N/A,1\nx,2\n", 1, "", DOUBT % (1, "N/A,1", ""))
    says("the line behind blank ones", ["--sum=2"], b"\n\r\na,$5\nc,6\n", 1, "", DOUBT % (3, "a,$5", ""))
    says("a record of several lines", ["--sum=2"], b'"a\nb",$5\nc,6\n', 1, "", DOUBT % (1, '"a\\nb",$5', ""))
    says("another delimiter", ["--count=1"], b"a;b\n1;2\n", 1, "", DOUBT % (1, "a;b", " (try -d ';')"))
    says("another delimiter below", ["--count=1"], b"a\n1;2\n", 1, "", DOUBT % (1, "a", " (try -d ';')"))
    long_record = b"x" * 300
    says("a long record is cut", ["--count=1"], long_record + b"\ny\n", 1, "",
         (DOUBT % (1, "x" * 255, "")).replace("' may", "'... (300 bytes) may"))


def check_rule():
    """(a) to (e) of the chapter, on tables from other programs."""
    years = b"Country Name,Country Code,2020,2021\nA,B,5,6\nC,D,7,8\n"
    doubt = DOUBT % (1, "Country Name,Country Code,2020,2021", "")
    says("a header of years", ["--sum", "3"], years, 1, "", doubt)
    says("a header of years, -H", ["--sum", "3", "-H"], years, 0, "12\n")
    says("a header of years, -N", ["--sum", "3", "-N"], years, 0, "2032\n")
    says("a header of years, by name", ["--sum", '"2020"'], years, 0, "12\n")
    says("a header of years, one by name", ["--sum", "4", "--by", "Country Code"], years, 0, "Country Code,sum(2021)\nB,6\nD,8\n")
    says("the last of -H and -N holds", ["--sum", "3", "-N", "-H"], years, 0, "12\n")
    says("--header no is -N", ["--sum", "3", "--header", "no"], years, 0, "2032\n")
    says("--no-headers is -N", ["--sum", "3", "--no-headers"], years, 0, "2032\n")
    lists = b"web1,200\nweb2,300\nweb1,5\n"
    says("a list", ["--by", "1", "--sum", "2"], lists, 1, "", DOUBT % (1, "web1,200", ""))
    says("a list, -N", ["--by", "1", "--sum", "2", "-N"], lists, 0, "col1,sum(col2)\nweb1,205\nweb2,300\n")
    says("a list, a number by a condition", ["--where=:2 > 5", "--by=1"], lists, 1, "", DOUBT % (1, "web1,200", ""))
    says("a list whose number is counted", ["--by", "1"], b"foo,1\nbar,2\n", 1, "", DOUBT % (1, "foo,1", ""))
    says("text and one number", ["-d", " ", "--mode", "1"], b"ERROR 5\nERROR 6\n", 1, "", DOUBT % (1, "ERROR 5", ""))
    says("one column of text", ["--mode", "1"], b"b\na\nb\n", 1, "", DOUBT % (1, "b", ""))
    for name, args in (("records", ["--head=1"]), ("a count of records", ["--count-records"]), ("a condition", ["--where=:1 = 'b'"]),
                       ("a new column", ["--row-number"]), ("'*'", ["--sum=*"])):
        says("one column of text: " + name, args, b"b\na\nb\n", 1, "", DOUBT % (1, "b", ""))
    for header, record in ((b'"",1940,1945', b"Food,22.2,44.5"), (b'"",1,2', b"1,50,19")):
        says("a missing value beside numbers", ["--sum", "2"], header + b"\n" + record + b"\n", 1, "", DOUBT % (1, header.decode(), ""))
    says("only numbers", ["--sum", "1"], b"1,2\n3,4\n", 0, "4\n")
    says("only numbers above a text", ["--sum", "1"], b"1,2\n3,x\n", 0, "4\n")
    says("only numbers, and a delimiter at the end", ["--sum", "1"], b"1,2,\n3,4,\n", 0, "4\n")
    says("R's names, quoted, above numbers", ["--sum", "1"], b'"1940","1945"\n22.2,44.5\n', 1, "", DOUBT % (1, '"1940","1945"', ""))
    says("all quoted", ["--sum", "1"], b'"1","2"\n"3","4"\n', 0, "4\n")
    says("quotes that are needed", ["--sum", "1", "--decimal=,"], b'"1,5",2\n2,3\n', 0, "3.5\n")
    says("a quoted number above a text", ["--sum", "2"], b'"1",2\nx,3\n', 0, "5\n")
    says("an empty value at the end in quotes", ["--sum", "1"], b'1,2,""\n3,4,\n', 1, "", DOUBT % (1, '1,2,""', ""))
    says("numbers in another notation are numbers", ["--sum", "1", "--money"], b"$1,2\n$3,4\n", 0, "4\n")
    says("a text above a number, beside numbers", ["--sum", "1"], b"150,4,setosa\n5.1,3.5,1.4\n", 0, "5.1\n")
    says("in a column that is not selected", ["--count", "1"], b"name,price\nann,5\n", 0, "1\n")
    says("below missing values", ["--count", "1"], b"name,price\nann,\nbob,\neve,5\n", 0, "3\n")
    says("the first value counts", ["--count", "1"], b"name,price\nann,x\nbob,5\n", 1, "", DOUBT % (1, "name,price", ""))
    says("a text on one side, another above a number", ["--count", "1"], b"name,a,b\nann,x,\nbob,y,5\n", 0, "2\n")
    gaps = b"name,price\n" + b"ann,\n" * 99
    says("in the hundredth record", ["--count", "1"], gaps + b"bob,5\n", 0, "100\n")
    says("in the record after that", ["--count", "1"], gaps + b"ann,\nbob,5\n", 1, "", DOUBT % (1, "name,price", ""))
    says("a record that ends within a mebibyte", ["--count", "1"], b"a,b\n" + b"x" * ((1 << 20) - 3) + b",5\n", 0, "1\n")
    says("one that ends behind it", ["--count", "1"], b"a,b\n" + b"x" * ((1 << 20) - 2) + b",5\n", 1, "", DOUBT % (1, "a,b", ""))
    says("blank lines in one column", ["--count", "1"], b"price\n\n\n5\n", 0, "1\n")
    says("nothing below", ["--count", "1"], b"price\n", 1, "", DOUBT % (1, "price", ""))
    says("nothing but blank lines below", ["--count", "1"], b"a,b\n\n\n", 1, "", DOUBT % (1, "a,b", ""))
    says("an open quote below", ["--sum", "1"], b'a,b\n"3\n', 1, "", DOUBT % (1, "a,b", ""))
    says("text behind a quote below", ["--sum", "2"], b'a,b\n"3"x,4\n', 1, "", DOUBT % (1, "a,b", ""))
    says("an open quote below a header", ["--sum", "a"], b'a,b\n"3\n', 1, "", "gpustat: <stdin>:2: quoted field is never closed (try --quote none, if quotes are data)\n")
    says("comments between", ["--comment=#", "--sum=1"], b"a\n# x\n5\n", 0, "5\n")
    says("an escaped line end", ["--escape=\\", "--sum=2"], b"a,b\nx\\\ny,5\n", 0, "5\n")
    head, more = fixture("head.csv", b"a,b\n"), fixture("more.csv", b"1,2\n3,4\n")
    says("the next file does not tell", ["--sum=2", head, more], None, 1, "", (DOUBT % (1, "a,b", "")).replace("<stdin>", head))
    says("the next file does not tell, by name", ["--sum=b", head, more], None, 0, "6\n")
    says("all names are looked for", ["--sum=a,c"], b"a,b\n1,2\n", 2, "",
         "gpustat: unknown column 'c'\ngpustat: the input has 2 columns: a, b\n")
    says("a name in a condition", ["--where=b = 'y'", "--count=1"], b"a,b\nx,y\n", 0, "1\n")
    says("a name of a key", ["--by=a"], b"a,b\nx,y\n", 0, "a,count\nx,1\n")
    says("a name of a computed column's", ["--let", "z=upper(a)", "--select=z"], b"a,b\nx,y\n", 0, "z\nX\n")
    says("a name that is renamed", ["--rename=a=c"], b"a,b\nx,y\n", 0, "c,b\nx,y\n")
    says("no OLD=NEW", ["--rename=a"], b"a,b\nx,y\n", 2, "", "gpustat: --rename: 'a' is not OLD=NEW\nTry 'gpustat --help'.\n")


def check_positions():
    """Digits are a position, never a name, unless they are quoted."""
    table = b"year,3,2\n1,20,300\n"
    for cols, out in (("2", "20"), ("3", "300"), (":2", "20"), ("col3", "300"), ('"2"', "300"), ('"3"', "20")):
        says("COLS %s" % cols, ["--sum", cols], table, 0, out + "\n")
    says("a name of digits beyond", ["--sum", "2018"], b"year,2018\n1,2\n", 2, "",
         "gpustat: unknown column '2018' (try the name in quotes: '\"2018\"')\ngpustat: the input has 2 columns: year, 2018\n")
    says("a name of digits as a key", ["--by", '"2018"'], b"year,2018\n1,2\n", 0, "2018,count\n2,1\n")
    says("digits in quotes above numbers", ["--sum", '"4"'], b"3,4\n1,2\n", 0, "2\n")
    says("a range is a name where there is one", ["--sum", "2-3"], b"a,2-3,c\n1,20,300\n", 0, "20\n")
    says("a range is no number of the first record", ["--sum=-2"], b"5,-2,7\n1,2,3\n", 0, "sum(col1),sum(col2)\n6,0\n")
    says("a number that is no position", ["--sum=0.5"], b"0.1,0.5\n1,2\n", 0, "2\n")
    says("many columns", ["--sum", "2,3,3,2,2,3,3,2,2,3,3,2,2,3,3,2,2,3,\"3\""], table, 0,
         harness.run(["--sum", ":2,:3,:3,:2,:2,:3,:3,:2,:2,:3,:3,:2,:2,:3,:3,:2,:2,:3,:2"], table).out)
    says("pairs", ["--corr=2:3"], b"x,3,y\n1,1,5\n2,2,7\n", 0, "1\n")


def check_unknown_columns():
    """A column that the first record cannot have is wrong usage, whatever its values are and whatever follows."""
    unknown = "gpustat: unknown column '%s'\ngpustat: the input has 2 columns: %s\n"
    says("a column beyond a doubtful record", ["--sum=1,9"], b"N/A,b\n2,3\n", 0 + 2, "", unknown % ("9", "N/A, b"))
    says("beyond a doubtful record", ["--sum=1,9"], b"x,b\ny,z\n", 2, "", unknown % ("9", "x, b"))
    says("a condition, too", ["--count=1", "--where=:9 > 1"], b"$5,b\n2,x\n", 2, "", unknown % (":9", "$5, b"))
    says("beyond a value with a NUL", ["--sum=1,3"], b"1\0,b\n2,x\n", 2, "", unknown % ("3", "col1, b"))
    says("nothing follows the header", ["--sum=1,3"], b"a,b\n", 2, "", unknown % ("3", "a, b"))
    says("an open quote follows", ["--sum=1,3"], b'a,b\n"3\n', 2, "", unknown % ("3", "a, b"))


def check_nuls():
    says("a NUL in the first value", ["-N", "--sum=1"], b"1\0002\n3\n", 1, "", NUL % (1, "col1", "1\\x002"))
    says("the same, doubtful", ["--sum=1"], b"1\0002\n3\n", 1, "", DOUBT % (1, "1\\x002", ""))
    says("a NUL in the first text", ["--count=1", "-N"], b"a\0b\nc\n", 1, "", NUL % (1, "col1", "a\\x00b"))
    says("a NUL in a number", ["--sum=a"], b"a,b\n1,2\n3\0004,5\n", 1, "", NUL % (3, "a", "3\\x004"))
    says("a NUL in text that is counted", ["--count=a"], b"a,b\nx,2\ny\0,5\n", 1, "", NUL % (3, "a", "y\\x00"))
    says("a NUL in text that is counted beside '*'", ["--count=b", "--sum=*"], b"a,b\n,\n8,x\0\n", 1, "", NUL % (3, "b", "x\\x00"))
    says("the same, text before it", ["--count=b", "--sum=*"], b"a,b\n,\n8,x\n9,y\n7,z\0\n1,\0\n", 1, "", NUL % (5, "b", "z\\x00"))
    says("the same, in a number", ["--count=b", "--sum=*"], b"a,b\n,\n8,x\n9,5\0\n", 1, "", NUL % (4, "b", "5\\x00"))
    says("text that only '*' includes", ["--sum=*", "--header=yes"], b"a,b\n,\n8,x\0\n", 0, "8\n")
    says("a NUL in quotes", ["--count=a"], b'a,b\nx,2\n"y\0\n""z",5\n', 1, "", NUL % (3, "a", "y\\x00\\n\"z"))
    says("a NUL in records that are printed", ["-H", "--running-count=a"], b"a\nx\ny\0\nz\n", 1, "a,running_count(a)\nx,1\n",
         NUL % (3, "a", "y\\x00"))
    says("a NUL elsewhere", ["--sum=b"], b"a,b\nx\0y,2\n", 0, "2\n")
    says("a name ends at its first NUL", ["--sum", "ab"], b"ab\0cd,x\n1,2\n", 0, "1\n")
    says("so does one that is listed", ["--sum", "abcd"], b"ab\0cd,x\n1,2\n", 2, "",
         "gpustat: unknown column 'abcd'\ngpustat: the input has 2 columns: ab, x; did you mean 'ab'?\n")
    long_text = b"x" * 100 + b"\0"
    harness.refuses("a NUL far into a long text", ["--count=a"], b"a\n" + long_text + b"\n", 1, "<stdin>:2: column 'a': NUL byte in 'xxx")


def check_summary():
    """The summary is a first look: it takes a doubtful record for the header, and says so."""
    for name, data in (("text", b"name,city\nann,rome\n"), ("one line", b"name,city\n"), ("a list", b"web1,200\nweb2,300\n"),
                       ("a missing value", b",1940\nFood,22.2\n"), ("one column", b"x\ny\n")):
        want = harness.run(["--format=csv", "-H"], data).out
        says("the summary, " + name, ["--format=csv"], data, 0, want, NOTE % (1, data.split(b"\n")[0].decode()))
        says("the summary with -H, " + name, ["--format=csv", "-H"], data, 0, want)
    says("the summary, numbers", ["--format=csv"], b"1\n2\n", 0, harness.run(["--format=csv", "-N"], b"1\n2\n").out)
    says("the summary, a text above a number", ["--format=csv"], b"x\n2\n", 0, harness.run(["--format=csv", "-H"], b"x\n2\n").out)


def check_empty():
    """An empty input has every column that is asked for by number, and no record; a name it does not have."""
    zip_of_nothing = gzip.compress(b"")
    for what, data in (("nothing", b""), ("nothing, gzip", zip_of_nothing)):
        for args, column in ((["--sum=price"], "price"), (["--sum=3,price"], "price"), (["--sum=1", "--where=qty > 1"], "qty"),
                             (["--where=price > 1"], "price"), (["--cumsum=price"], "price"), (["--sum=price", "-H"], "price"),
                             (["--sum=price", "-N"], "price"), (['--count="2"'], "2"), (["--sum=1", "--by=k"], "k"),
                             (["--let", "z=a + 1", "--sum=z"], "a"), (["--rename=a=b"], "a")):
            says("%s, %s" % (what, args), args, data, 1, "", EMPTY % ("<stdin>", column))
        for args, out in ((["--sum=1"], "0\n"), (["--min=1"], "\n"), (["--sum=3", "--max=col2"], "sum(col3),max(col2)\n0,\n"),
                          (["--sum=1", "--where=:7 < 5"], "0\n"), (["--cumsum=1"], ""), (["--count-records"], "0\n"),
                          (["--let", "z=:1 + 1", "--sum=z"], "0\n"), (["--by=1", "--sum=2"], "col1,sum(col2)\n"),
                          (["--sum=1", "-H"], "0\n"), (["--sum=1", "-N"], "0\n")):
            says("%s, %s" % (what, args), args, data, 0, out)
        says(what + ", '*'", ["--sum=*"], data, 1, "", "gpustat: no column holds numbers\n")
    says("a byte-order mark", ["--count=price", "--sum=price"], b"\xef\xbb\xbf", 1, "", EMPTY % ("<stdin>", "price"))
    says("blank lines", ["--count=price", "--sum=price"], b"\n\r\n\n", 0, "count(price),sum(price)\n0,0\n")
    for what, args in (("a header alone", ["--sum=price"]), ("a header alone, -H", ["--sum=1", "-H"])):
        says(what, args, b"price\n", 0, "0\n")
    names = [fixture("e1", b""), fixture("e2", b"")]
    says("files", ["--sum=price"] + names, None, 1, "", EMPTY % (names[0], "price"))
    says("an empty file before another", ["--sum=price", names[0], fixture("e3", b"price\n5\n")], None, 0, "5\n")


def check_live():
    """Only what the rule needs is waited for."""
    for name, args, first, wanted in (("a name", ["--cumsum=a"], b"a\n", b"a,running_sum(a)\n"),
                                      ("-H", ["--cumsum=1", "-H"], b"a\n", b"a,running_sum(a)\n"),
                                      ("numbers", ["--cumsum=1"], b"5\n", b"5,5\n"),
                                      ("-N", ["--running-count=1", "-N"], b"x\n", b"x,1\n"),
                                      ("a text above a number", ["--cumsum=1"], b"a\n5\n", b"a,running_sum(a)\n5,5\n"),
                                      ("a doubtful record", ["--cumsum=2"], b",5\n", b"")):
        read, write = os.pipe()
        p = subprocess.Popen([harness.program()] + args, stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=harness.environment())
        os.close(read)
        os.write(write, first)
        timer = threading.Timer(30, p.kill)                      # the pipe stays open
        timer.start()
        got = p.stdout.read(len(wanted)) if wanted else p.stderr.readline()
        timer.cancel()
        os.close(write)
        p.communicate()
        harness.is_(got, wanted or (DOUBT % (1, ",5", "")).encode(), "a live pipe, %s: nothing is waited for" % name)


def check_many():
    """15,000 columns by position are found about as fast as by name."""
    n = 15000
    path = harness.fixture("many.csv", b",".join(b"n%d" % i for i in range(n)) + b"\n" + b",".join(b"%d" % i for i in range(n)) + b"\n")
    took = {}
    for kind in ("n%d", "%d", ":%d", "col%d", "%d-"):
        first = 0 if kind[0] == "n" else 1
        args = ["--sum=" + ",".join(kind.replace("%d-", "%d-%%d" % (i + first)) % (i + first) for i in range(j, j + 3000))
                for j in range(0, n, 3000)]
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        r = harness.run(["--format=csv", *args, path])
        took[kind] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
        harness.ok(r.status == 0 and r.out.split(b"\n")[1] == b",".join(b"%d" % i for i in range(n)), "15,000 columns as " + kind,
                   lambda r=r: harness.describe(r)[:500])
    harness.ok(max(took.values()) < 5 * took["n%d"] + 0.3, "in about the time of names", str(took))


check_doubtful_values()
check_many()
check_row_names()
check_comment_lines()
check_units()
check_rule()
check_positions()
check_unknown_columns()
check_nuls()
check_summary()
check_empty()
check_live()
harness.done()
