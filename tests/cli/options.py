# SPDX-License-Identifier: MIT
"""The command line: selectors, headers, formats, several files, missing, invalid, help, usage."""
import csv
import gzip
import io
import json
import os
import pty
import re
import subprocess

import harness
import oracle
from harness import answers, fixture, refuses, warns

LOG = b'host,bytes,seconds\nx,100,0.25\ny,200,1.5\n"z,z",300,2\n'
BARE = b"1,2,3\n4,5,6\n7,8,9\n"


def check_selectors():
    for columns, want in (
            ("bytes", "600\n"), ("2", "600\n"), (":2", "600\n"), ("col2", "600\n"), ("2-2", "600\n"),
            ("bytes,seconds", "sum(bytes),sum(seconds)\n600,3.75\n"), ("seconds,bytes", "sum(seconds),sum(bytes)\n3.75,600\n"),
            ("2-3", "sum(bytes),sum(seconds)\n600,3.75\n"), ("2-", "sum(bytes),sum(seconds)\n600,3.75\n"),
            ("*", "sum(bytes),sum(seconds)\n600,3.75\n"), ('"bytes"', "600\n"), ('"bytes",3', "sum(bytes),sum(seconds)\n600,3.75\n"),
            ("col3,:2", "sum(seconds),sum(bytes)\n3.75,600\n"), ("3,bytes", "sum(seconds),sum(bytes)\n3.75,600\n")):
        answers("columns with a header: " + columns, ["--sum", columns], LOG, want)
    for columns, want in (
            ("2", "15\n"), ("col2", "15\n"), (":2", "15\n"), ("col3", "18\n"), ("1-2", "sum(col1),sum(col2)\n12,15\n"),
            ("2-", "sum(col2),sum(col3)\n15,18\n"), ("-2", "sum(col1),sum(col2)\n12,15\n"), ("1-3", "sum(col1),sum(col2),sum(col3)\n12,15,18\n"),
            ("*", "sum(col1),sum(col2),sum(col3)\n12,15,18\n"), ("3,1", "sum(col3),sum(col1)\n18,12\n"),
            ("3,1-2", "sum(col3),sum(col1),sum(col2)\n18,12,15\n")):
        answers("columns without a header: " + columns, ["--sum=" + columns], BARE, want)
    answers("order of options", ["--max=3", "--sum=1", "--min", "2", "--count=1", "--sum=3"], BARE,
            "max(col3),sum(col1),min(col2),count(col1),sum(col3)\n9,12,2,3,18\n")
    answers("the same option twice", ["--sum=2", "--sum=1"], BARE, "sum(col2),sum(col1)\n15,12\n")
    answers("operations mixed with '*'", ["--sum=*", "--min=bytes"], LOG,
            "sum(bytes),sum(seconds),min(bytes)\n600,3.75,100\n")
    answers("count of text", ["--count=host"], LOG, "3\n")
    answers("count of text and a sum", ["--count=host,bytes", "--sum=bytes"], LOG,
            "count(host),count(bytes),sum(bytes)\n3,3,600\n")
    answers("mean", ["--mean", "bytes,seconds"], LOG, "mean(bytes),mean(seconds)\n200,1.25\n")
    # exact names win over positions
    answers("a name that is a number", ["--header=yes", '--sum="2"'], b"2,1\n10,20\n", "10\n")
    answers("digits are a position", ["--header=yes", "--sum=2"], b"2,1\n10,20\n", "20\n")
    answers(":N is always a position", ["--header=yes", "--sum=:2"], b"2,1\n10,20\n", "20\n")
    answers("a name that is no valid position", ['--sum="2020"'], b"2019,2020\n1,2\n3,4\n", "6\n")
    answers("a number that is a position is no name", ["--sum=2"], b"2,1\n10,20\n", "21\n")
    answers("a name like colN wins", ["--sum=col1"], b"x,col1\n1,2\n", "2\n")
    answers("a name like a range wins", ["--sum=1-2"], b"x,1-2\n1,2\n", "2\n")
    answers("a name like a range, by position", ["--sum=:1,:2"], b"x,1-2\n1,2\n", "sum(x),sum(1-2)\n1,2\n")
    answers("a name with a comma", ["--sum", '"a,b"'], b'"a,b",c\n1,2\n', "1\n")
    answers("a name with a comma, in the results", ["--sum", '"a,b",c'], b'"a,b",c\n1,2\n', '"sum(a,b)",sum(c)\n1,2\n')
    answers("a name with quotes", ["--sum", '"a""b"', "--max=c"], b'"a""b",c\n1,2\n', '"sum(a""b)",max(c)\n1,2\n')
    answers("a name with blanks", ["--sum", "two words"], b"two words,c\n1,2\n", "1\n")
    answers("a name in UTF-8", ["--sum", "größe"], "größe,c\n1,2\n".encode(), "1\n")
    answers("a name that is quoted in the file only", ["--sum", "a"], b'"a","b"\n"1",2\n', "1\n")
    answers("names are case-sensitive", ["--sum", "A"], b"a,A\n1,2\n", "2\n")
    answers("duplicate names by position", ["--sum", ":1,:3"], b"a,b,a\n1,2,3\n", "sum(a),sum(a)\n1,3\n")
    answers("duplicate names elsewhere", ["--sum", "b"], b"a,b,a\n1,2,3\n", "2\n")
    answers("an empty name prints as colN", ["--sum", ":2", "--sum=a"], b"a,\n1,2\n", "sum(col2),sum(a)\n2,1\n")
    refuses("'*' matches nothing beside another column", ["--count=a", "--sum=*"], b"a,b\nx,y\n", 1)
    answers("'*' leaves out a selected column without values", ["--sum=b,*"], b"a,b\n1,\n", "sum(b),sum(a)\n0,1\n")
    refuses("'*' and a first number beyond the range", ["--sum=*"], b"a,b\n1,1e400\n", 1, "<stdin>:2: ", "'b'")
    answers("'*' lets a number beyond the range be in a text column", ["--sum=*"], b"a,b\nx,1\n1e400,2\n", "3\n")
    answers("'*' ... after a missing value, too", ["--sum=*"], b"a,b\n,1\nx,1\n1e400,2\n", "4\n")
    answers("'*' and a leading missing value", ["--sum=*"], b"a,b,t\n,1,x\n2,,y\n", "sum(a),sum(b)\n2,1\n")
    refuses("a duplicate name is ambiguous", ["--sum", "a"], b"a,b,a\n1,2,3\n", 2, "a")
    for columns in ("nosuch", "4", ":4", "col4", "2-4", "4-", "0", ":0", "col0", "bytes,nosuch", "bytes,9", "Bytes", ""):
        refuses("unknown column: %r" % columns, ["--sum", columns], LOG, 2,
                *(("host", "bytes", "seconds") if columns == "nosuch" else ()))
    refuses("a name and --header=no", ["--header=no", "--sum=a"], b"a\n1\n", 2)
    refuses("a name where there is no header", ["--sum=a"], b"1,2\n", 2)
    refuses("a column beyond the first record", ["--sum=3"], b"1,2\n1,2,3\n", 2)


def check_headers():
    for name, args, data, want in (
            ("a number loses nothing", ["--sum=1"], b"1\n2\n", "3\n"),
            ("selected field is text", ["--sum=1"], b"x\n1\n2\n", "3\n"),
            ("selected field is missing", ["-N", "--sum=1,2"], b",1\n2,3\n", "sum(col1),sum(col2)\n2,4\n"),
            ("selected field is a missing spelling", ["-N", "--sum=1", "--missing=NA"], b"NA\n1\n2\n", "3\n"),
            ("... so it was data", ["-N", "--sum=1", "--count=2", "--missing=NA"], b"NA,5\n1,5\n", "sum(col1),count(col2)\n1,2\n"),
            ("unselected text", ["-N", "--sum=2"], b"x,1\ny,2\n", "3\n"),
            ("a name matches", ["--sum=a,:2"], b"a,1\n5,2\n", "sum(a),sum(1)\n5,2\n"),
            ("yes, with numbers", ["--header=yes", "--sum=1"], b"1,2\n3,4\n5,6\n", "8\n"),
            ("no, with numbers", ["--header=no", "--sum=1"], b"1,2\n3,4\n5,6\n", "9\n"),
            ("yes names the columns", ["--header=yes", "--sum=:1,:2"], b"1,2\n3,4\n", "sum(1),sum(2)\n3,4\n"),
            ("'*', text over a number", ["--sum=*"], b"a,x\n1,y\n", "1\n"),
            ("'*', data at once", ["-N", "--sum=*"], b"x,1\ny,2\n", "3\n"),
            ("'*', numbers only", ["--sum=*"], b"1,2\n3,4\n", "sum(col1),sum(col2)\n4,6\n"),
            ("'*', one record of numbers", ["--sum=*"], b"1,2\n", "sum(col1),sum(col2)\n1,2\n"),
            ("count of a text column, no", ["--count=1", "--header=no"], b"x\ny\nz\n", "3\n"),
            ("header only", ["--sum=a"], b"a,b\n", "0\n"),
            ("header only, yes", ["--sum=1", "--header=yes"], b"1\n", "0\n")):
        answers("header: " + name, args, data, want)
    refuses("header no, text selected", ["--header=no", "--sum=1"], b"x\n1\n", 1, "<stdin>:1: ", "'col1'", "'x'")


def check_formats():
    one, two = ["--sum=bytes"], ["--sum=bytes", "--max=seconds"]
    head = {"csv": "sum(bytes),max(seconds)\n600,2.00\n", "tsv": "sum(bytes)\tmax(seconds)\n600\t2.00\n",
            "plain": "600\n2.00\n", "auto": "sum(bytes),max(seconds)\n600,2.00\n"}
    single = {"csv": "sum(bytes)\n600\n", "tsv": "sum(bytes)\n600\n", "plain": "600\n", "auto": "600\n"}
    for form in head:
        answers("two values as " + form, two + ["--format=" + form], LOG, head[form])
        answers("one value as " + form, one + ["--format", form], LOG, single[form])
    for name, args, data in (
            ("one value", one, LOG), ("two values", two, LOG),
            ("null", ["--sum=a", "--min=a", "--max=a", "--mean=a", "--count=a"], b"a,b\n,1\n"),
            ("names to escape", ["--sum", ':1', "--sum", ":2"], b'"a""b\n\\",c\td\n1,2\n'),
            ("wide numbers", ["--sum=a"], b"a\n1e50\n-1e-50\n")):
        r = harness.run(args + ["--format=json"], data)
        try:
            got = json.loads(r.out, object_pairs_hook=list, parse_float=str, parse_int=str)
        except ValueError as e:
            got = str(e)
        want = json_wanted[name]
        harness.ok(r.status == 0 and got == want and r.out.endswith(b"\n"), "json: " + name,
                   lambda: harness.describe(r) + "\nwanted: %r" % (want,))
    r = harness.run(two + ["--format=table"], LOG)
    harness.ok(r.status == 0 and b"600" in r.out and b"2.00" in r.out and b"max(seconds)" in r.out,
               "table shows names and values", lambda: harness.describe(r))
    answers("tsv escapes names", ["--format=tsv", "--sum=:1,:2"], b'"a\tb\\c","d\r\n""e"\n1,2\n',
            'sum(a\\tb\\\\c)\tsum(d\\r\\n"e)\n1\t2\n')
    nothing = b"a,b\n,x\n"
    answers("no values print alone as nothing", ["--min=a"], nothing, "\n")
    answers("sum of no values", ["--sum=a"], nothing, "0\n")
    answers("no values as plain", ["--min=a", "--sum=a", "--mean=a", "--format=plain"], nothing, "\n0\n\n")
    answers("no values as csv", ["--min=a", "--count=a"], nothing, "min(a),count(a)\n,0\n")


def rows_of_markdown(out):
    """The rows of a GFM table, and its columns' alignment: an independent reading of what a renderer shows."""
    rows = []
    for line in out.decode("utf-8").split("\n")[:-1]:
        cells = re.findall(r"((?:\\.|[^\\|])*)\|", line)
        rows.append([re.sub(r"\\([!-/:-@[-`{-~])|<br>", lambda m: m.group(1) or "\n", cell).strip(" ") for cell in cells[1:]])
    return rows[:1] + rows[2:], rows[1] if len(rows) > 1 else None


def check_lines_and_markdown():
    """--format ndjson has the objects of json, one a line; markdown a table of what csv has."""
    hostile = b'"a|b","\\|c","*d*_e_","x_y","<f>&amp;","`g`","[h](i)","$j$~~k~~","l\nm\r\nn",\xc3\xb6\n' + b"1,2,3,4,5,6,7,8,9,10\n"
    groups = b'k,v\n"a|b",1\n"c\nd",2\n"a|b",4\n'
    for name, args, data in (
            ("one value", ["--sum=bytes"], LOG), ("two values", ["--sum=bytes", "--max=seconds"], LOG), ("no value", ["--min=a"], b"a,b\n,1\n"),
            ("the summary", [], LOG), ("the summary of nothing", [], b""), ("hostile names", ["--sum=*"], hostile),
            ("a matrix", ["--cov=*"], b"a,b\n1,2\n3,5\n"), ("a histogram", ["--hist=a:1"], b"a\n1\n3\n"),
            ("groups", ["--sum=v", "--by=k"], groups), ("a text", ["--mode=k", "--first=k"], groups), ("two of a name", ["--sum=1,1"], b"1\n")):
        csv_, json_, lines, markdown = (harness.run(args + ["--format=" + form], data) for form in ("csv", "json", "ndjson", "markdown"))
        objects, got = json.loads(json_.out), [json.loads(line) for line in lines.out.decode("utf-8").split("\n")[:-1]]
        harness.ok((lines.status, lines.err) == (0, b"") and got == (objects if isinstance(objects, list) else [objects]) and
                   lines.out[-1:] in (b"", b"\n"), "ndjson: " + name, lambda: harness.describe(lines))
        rows, rule = rows_of_markdown(markdown.out)
        want = [[cell.replace("\r\n", "\n") for cell in row] for row in csv.reader(io.StringIO(csv_.out.decode("utf-8"), newline=""))] or [[""]]
        want = [row or [""] for row in want]
        harness.ok((markdown.status, markdown.err, rows) == (0, b"", want) and len(rule) == len(rows[0]) and set(rule) <= {"---", "--:"},
                   "markdown: " + name, lambda: harness.describe(markdown) + "\nwanted %r\ngot %r" % (want, rows))
    answers("markdown, byte by byte", ["--format=markdown", "--sum=v", "--by=k"], groups, "| k | sum(v) |\n| --- | --: |\n| a\\|b | 5 |\n| c<br>d | 2 |\n")
    answers("ndjson, byte by byte", ["--format=ndjson", "--sum=v", "--by=k"], groups, '{"k": "a|b", "sum(v)": 5}\n{"k": "c\\u000ad", "sum(v)": 2}\n')


json_wanted = {
    "one value": [("sum(bytes)", "600")], "two values": [("sum(bytes)", "600"), ("max(seconds)", "2.00")],
    "null": [("sum(a)", "0"), ("min(a)", None), ("max(a)", None), ("mean(a)", None), ("count(a)", "0")],
    "names to escape": [('sum(a"b\n\\)', "1"), ("sum(c\td)", "2")],
    "wide numbers": [("sum(a)", "9" * 50 + "." + "9" * 50)]}


def check_summary():
    head = "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n"
    names = head.strip().split(",")
    data = b"name,n,e,x\nfoo,1,,0.5\n,2,,\nbar,4,,-1.25\n"
    rows = "name,text,2,1,0,,bar,foo,,3,3\nn,number,3,0,0,7,1,4,2.3333333333333333,,\n"
    r = harness.run(["--format=csv"], data)
    want = head + rows + "e,empty,0,3,0,0,,,,,\nx,number,2,1,0,-0.75,-1.25,0.50,-0.375,,\n"
    harness.is_((r.status, r.out), (0, want.encode()), "the summary as csv")
    answers("the summary without a header", ["-N", "--format=csv"], b"1,x\n2,y\n", head
            + "col1,number,2,0,0,3,1,2,1.5,,\ncol2,text,2,0,0,,x,y,,1,1\n")
    answers("the summary of a header", ["--format=csv", "--count=a"], b"a,b\n", "count(a)\n0\n")
    answers("the summary as tsv", ["--format=tsv"], b"a\n1\n", head.replace(",", "\t") + "a\tnumber\t1\t0\t0\t1\t1\t1\t1\t\t\n")
    answers("the summary of nothing", ["--format=csv"], b"", head)
    r = harness.run(["--format=json"], data)
    try:
        got = json.loads(r.out, parse_float=str, parse_int=str)
    except ValueError as e:
        got = str(e)
    want = [dict(zip(names, row)) for row in (
        ("name", "text", "2", "1", "0", None, "bar", "foo", None, "3", "3"),
        ("n", "number", "3", "0", "0", "7", "1", "4", "2.3333333333333333", None, None),
        ("e", "empty", "0", "3", "0", "0", None, None, None, None, None),
        ("x", "number", "2", "1", "0", "-0.75", "-1.25", "0.50", "-0.375", None, None))]
    harness.is_(got, want, "the summary as json")
    table, named = harness.run([], data), harness.run(["--format=table"], data)
    harness.ok(table.status == 0 and table.out == named.out, "the summary is a table by default",
               lambda: harness.describe(table))
    lines = table.out.decode().split("\n")
    words = [line.split() for line in lines]
    harness.ok(names in words and ["n", "number", "3", "0", "0", "7", "1", "4", "2.3333333333333333"] in words,
               "the table has the columns and the values", lambda: harness.describe(table))
    quoted = harness.run(["--format=csv"], b'"a,b","say ""x"""\n1,2\n')
    harness.is_(quoted.out, (head + '"a,b",number,1,0,0,1,1,1,1,,\n"say ""x""",number,1,0,0,2,2,2,2,,\n').encode(),
                "the summary quotes names")
    answers("the summary calls a column text where more than a tenth is", ["--format=csv"], b"a,b\n1,2\nx,3\n",
            head + "a,text,2,0,0,,1,x,,1,1\nb,number,2,0,0,5,2,3,2.5,,\n")
    answers("the summary lets a number beyond the range be in a text column", ["--format=csv"], b"a,b\nx,1\n1e400,2\n",
            head + "a,text,2,0,0,,1e400,x,,1,5\nb,number,2,0,0,3,1,2,1.5,,\n")
    refuses("'*' of a number column with text later", ["--sum=*"], b"a,b\n1,2\nx,3\n", 1, "<stdin>:3: ", "'a'", "'x'")
    answers("numbers in a text column stay text", ["--sum=*"], b"a,b\nx,2\n1,3\n", "5\n")


def check_files():
    one, two = fixture("one.csv", b"a,b\n1,2\n"), fixture("two.csv", b"a,b\r\n3,4\r\n")
    bare, bom = fixture("bare.csv", b"5,6\n"), fixture("bom.csv", b"\xef\xbb\xbfa,b\n7,8\n")
    zipped, cut = fixture("z.csv.gz", gzip.compress(b"a,b\n9,10\n")), fixture("cut.csv", b"a,b\n11,12")
    other, empty = fixture("other.csv", b"b,a\n1,2\n"), fixture("empty.csv", b"")
    only, blank = fixture("only.csv", b"a,b\n"), fixture("blank.csv", b"\n\na,b\n\n13,14\n")
    plain = fixture("zipped-without-a-name", gzip.compress(b"a,b\n1,2\n"))
    for name, files, want in (
            ("one", [one], "1\n"), ("two", [one, two], "4\n"), ("two, CRLF first", [two, one], "4\n"),
            ("a file without the header", [one, bare], "6\n"), ("a BOM in the second", [one, bom], "8\n"),
            ("a BOM in the first", [bom, one], "8\n"), ("gzip among them", [one, zipped, two], "13\n"),
            ("gzip first", [zipped, one], "10\n"), ("no end of line before the next", [cut, one, cut, bare], "28\n"),
            ("the same twice", [one, one, one], "3\n"), ("an empty one among them", [one, empty, two], "4\n"),
            ("an empty one last", [one, empty], "1\n"), ("an empty one first", [empty, one], "1\n"),
            ("an empty gzip first", [fixture("empty.csv.gz", gzip.compress(b"")), two, one], "4\n"), ("a header only", [only, one, only], "1\n"),
            ("blank lines before the header", [one, blank], "14\n"), ("gzip by magic", [plain], "1\n")):
        harness.agrees("files: " + name, ["--sum=a"] + files, b"", harness.exactly(want),
                       [(c, t) for c in (1, 4, None) for t in (1, 3)])
    answers("files: an empty one first, blank lines, no header", ["--sum=2", empty, "-"], b"1,2\n\n3,4\n", "6\n")
    r = harness.run(["--format=csv", empty, one])
    harness.is_((r.status, r.out), (0, b"column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n"
                 b"a,number,1,0,0,1,1,1,1,,\nb,number,1,0,0,2,2,2,2,,\n"),
                "files: an empty one first, the summary")
    answers("'-' is stdin", ["--sum=a", "-"], b"a,b\n1,2\n", "1\n")
    answers("'-' among files", ["--sum=a", one, "-", two], b"a,b\n100,2\n", "104\n")
    answers("gzip on '-' among files", ["--sum=a", one, "-"], gzip.compress(b"a,b\n100,2\n"), "101\n")
    answers("options after files", [one, "--sum=a"], b"", "1\n")
    answers("'--' ends the options", ["--sum=a", "--", one], b"", "1\n")
    answers("yes, equal headers", ["--header=yes", "--sum=a", one, two, bom, zipped], b"", "20\n")
    answers("yes, an empty file", ["--header=yes", "--sum=a", one, empty], b"", "1\n")
    answers("yes, a file of blank lines", ["--header=yes", "--sum=a", one, fixture("blanks.csv", b"\n\r\n")], b"", "1\n")
    answers("yes, another order", ["--header=yes", "--sum=a", one, other], b"", "3\n")
    refuses("yes, no header", ["--header=yes", "--sum=a", one, bare], b"", 1, "bare.csv")
    answers("auto, another order", ["--sum=a", one, other], b"", "3\n")
    answers("no header, the first records are equal", ["--sum=2", bare, bare], b"", "12\n")
    answers("headerless files", ["--header=no", "--sum=1", bare, bare, "-"], b"1,2", "11\n")
    refuses("a quote that stays open across files", ["--sum=2", fixture("open.csv", b'1,2\n"x,3\n'),
            fixture("close.csv", b'y",4\n')], b"", 1, "open.csv:2")
    refuses("the line of an error is the file's own", ["--sum=a", one, fixture("bad.csv", b"a,b\n1,2\nx,2\n")],
            b"", 1, "bad.csv:3: column 'a': not a number: 'x'")
    os.chdir(harness.folder())
    fixture("-dash.csv", b"5\n")
    answers("a file that starts with a dash", ["--sum=1", "--", "-dash.csv"], b"", "5\n")
    refuses("a second file too short", ["--sum=2", bare, fixture("short.csv", b"1\n")], b"", 1, "short.csv:1")
    members = gzip.compress(b"a,b\n1") + gzip.compress(b"") + gzip.compress(b"2,3\n4,5") + gzip.compress(b"")
    answers("gzip members, some empty, cut within a record", ["--sum=a"], members, "16\n")
    answers("an empty gzip", ["--sum=1"], gzip.compress(b""), "0\n")
    answers("a thousand members", ["--sum=a"], gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") * 1000, "1000\n")


def check_missing_and_invalid():
    for name, args, data, want in (
            ("NA,null,-", ["--missing=NA,null,-"], b"n\n1\nNA\nnull\n-\n2\n", "3,2\n"),
            ("blanks around", ["--missing=NA"], b"n,m\n1,x\n NA ,x\n\tNA,x\n", "1,1\n"),
            ("quoted", ["--missing=NA"], b'n\n1\n"NA"\n" NA "\n', "1,1\n"),
            ("looks like a number", ["--missing=-999"], b"n\n1\n-999\n5\n", "6,2\n"),
            ("a number, however it is spelled", ["--missing=-999"], b"n\n1\n-999.0\n-0999\n-9.99e2\n-99.9E+1\n 999\n-99\n", "901,3\n"),
            ("0, however it is spelled", ["--missing=0"], b"n\n1\n-0\n0.00\n+0e7\n.0\n10\n", "11,2\n"),
            ("a number of other digits after the point", ["--missing=9.50"], b"n\n9.5\n9.05\n", "9.05,1\n"),
            ("a number with an exponent", ["--missing=1e3"], b"n\n1000\n1000.0\n1e2\n", "100,1\n"),
            ("a long number", ["--missing=12345678901234567890123"], b"n\n12345678901234567890123.0\n12345678901234567890124\n",
             "12345678901234567890124,1\n"),
            ("a number out of range", ["--missing=1e500"], b"n\n10e499\n1\n", "1,1\n"),
            ("quoted numbers", ["--missing=-9"], b'n\n"-9.0"\n" -9 "\n7\n', "7,1\n"),
            ("with a sign", ["--missing=+9"], b"n\n9\n9.0\n7\n", "7,1\n"),
            ("another decimal point", ["-d;", "--decimal=,", "--missing=-9, 5"], b"n\n-9,0\n5\n1,5\n05,00\n", "1.5,1\n"),
            ("a percentage", ["--percent", "--missing=12%"], b"n\n0.12\n12%\n1\n", "1,1\n"),
            ("case", ["--missing=na,NA"], b"n\n1\nna\nNA\n", "1,1\n"),
            ("empty stays missing", ["--missing=NA"], b"n,m\n,1\n1,1\n  ,1\n", "1,1\n"),
            ("two options in one", ["--missing", "x y,z"], b"n\nx y\n1\nz\n", "1,1\n")):
        answers("missing: " + name, ["--sum=n", "--count=n"] + args, data, "sum(n),count(n)\n" + want)
    text = b"k,v\nx,-9.0\nx,a\ny,-9\ny,-8.0\n"
    answers("missing: a number in a column of text", ["--count=v", "--count-distinct=v", "--text-min=v", "--missing=-9"], text,
            "count(v),count_distinct(v),text_min(v)\n2,2,-8.0\n")
    answers("missing: ... in conditions", ["--where=v is missing", "--missing=-9"], text, "k,v\nx,-9.0\ny,-9\n")
    answers("missing: ... by group", ["--by=k", "--count=v", "--missing=-9"], text, "k,count(v)\nx,1\ny,1\n")
    answers("missing: ... of a computed column", ["--let=w = v + 1", "--by=k", "--sum=w", "--missing=-9"], b"k,v\nx,-9.0\nx,1\ny,-09\n",
            "k,sum(w)\nx,2\ny,0\n")
    answers("missing: ... in new columns", ["--fill-down=v", "--cumsum=v", "--only", "--missing=-9"], b"v\n1\n-9.0\n-9\n2\n",
            "filled(v),running_sum(v)\n1,1\n1,1\n1,1\n2,3\n")
    refuses("missing: not the spelling", ["--sum=n", "--missing=NA"], b"n\n1\nNAN\n", 1, "<stdin>:3: ", "'NAN'")
    refuses("missing: case counts", ["--sum=n", "--missing=NA"], b"n\n1\nna\n", 1, "<stdin>:3: ", "'na'")
    skip = ["--invalid=skip"]
    warns("skip one", skip + ["--sum=n"], b"n\n1\nabc\n2\n", "3\n", "1")
    warns("skip several", skip + ["--sum=n"], b"n\n1\n" + b"abc\n" * 37 + b"2\n", "3\n", "37")
    warns("skip only in its column", skip + ["--sum=n,m"], b"n,m\n1,2\nabc,3\n4,abc\n", "sum(n),sum(m)\n5,5\n")
    warns("skip a short record whole", skip + ["--sum=n,m"], b"n,m\n1,2\n100\n3,4\n", "sum(n),sum(m)\n4,6\n", "1")
    answers("skip nothing", skip + ["--sum=n"], b"n\n1\n2\n", "3\n")
    answers("skip is not for missing", skip + ["--sum=n"], b"n,m\n1,x\n,y\n", "1\n")
    answers("error is the default", ["--invalid=error", "--sum=n"], b"n\n1\n", "1\n")
    warns("skip: no value has no scale", skip + ["--sum=n"], b"n\n1\n1.000x\n", "1\n", "1")
    refuses("skip: an open quote stays an error", skip + ["--sum=n"], b'n\n1\n"2\n', 1, "<stdin>:3")
    request = oracle.Request([("sum", "n,m"), ("min", "n")], invalid="skip")
    data = b"n,m\n" + b"".join(b"%d,%s\n" % (i, (b"x", b"1", b"1.5")[i % 3]) if i % 7 else b"%d\n" % i for i in range(200))
    harness.agrees("skip in any chunks", request.args(), data, oracle.judge(request, data),
                   [(c, t) for c in (1, 2, 3, 7, 16, 100, None) for t in (1, 2, 3, 7)])


def check_usage():
    for name, args in (
            ("unknown option", ["--nosuch"]), ("unknown short option", ["-Q"]), ("an option without its value", ["--sum"]),
            ("format", ["--sum=1", "--format=xml"]), ("header", ["--sum=1", "--header=maybe"]),
            ("invalid", ["--sum=1", "--invalid=ignore"]), ("device", ["--sum=1", "--device=tpu"]),
            ("threads", ["--sum=1", "--threads=two"]), ("threads below zero", ["--sum=1", "--threads=-1"]),
            ("threads with a tail", ["--sum=1", "--threads=2x"]), ("delimiter of two bytes", ["--sum=1", "-d", ",,"]),
            ("no delimiter", ["--sum=1", "-d", ""]), ("a quote as delimiter", ["--sum=1", "-d", '"']),
            ("a newline as delimiter", ["--sum=1", "-d", "\n"]), ("a value for --help", ["--help=x"])):
        refuses("usage: " + name, args, b"1\n2\n", 2)
    for option in ("--help", "--version"):
        r = harness.run([option])
        harness.ok(r.status == 0 and b"gpustat" in r.out and not r.err, option, lambda: harness.describe(r))
    r = harness.run(["--help"])
    harness.ok(all(b"--" + re.sub(r"^p[0-9.]+$", "pNN", o.partition(":")[0]).encode() in r.out for o in oracle.OPERATIONS + oracle.PAIRS), "--help names the operations",
               lambda: harness.describe(r))
    for args in (["-d", ";"], ["-d;"], ["--delimiter=;"], ["--delimiter", ";"]):
        answers("delimiter: " + " ".join(args), args + ["--sum=2"], b"1;2\n3;4\n", "6\n")
    answers("--device cpu", ["--device", "cpu", "--sum=1"], b"1\n2\n", "3\n")
    answers("--device auto", ["--device=auto", "--sum=1"], b"1\n2\n", "3\n")
    answers("-g and -H", ["-Hg", "1", "--sum=2"], b"7,8\n1,2\n1,3\n", "7,sum(8)\n1,5\n")
    answers("--threads 16", ["--threads=16", "--sum=1"], b"1\n2\n", "3\n")
    r = harness.run(["--verbose", "--sum=1", "--device=cpu"], b"1\n2\n")
    harness.ok(r.status == 0 and r.out == b"3\n" and r.err, "--verbose speaks on stderr only", lambda: harness.describe(r))
    main, other = pty.openpty()
    p = subprocess.run([harness.program()], stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=harness.environment(), timeout=60)
    os.close(other)
    os.close(main)
    harness.ok(p.returncode == 2 and b"gpustat" in p.stderr and not p.stdout, "nothing to do on a terminal: the usage, exit 2",
               repr(p))


def options_of(tool):
    """{name: whether it takes an argument}, as --help has them."""
    out = harness.run(["--help"], tool=tool).out.decode("utf-8")
    return {name: bool(argument) for name, argument in re.findall(r"^  (?:-\w,|   ) --([a-z-]+)(?: ([A-Z,]+))? ", out, re.M)}


def complains(name, args, sentence, tool="gpustat"):
    """Wrong usage: exactly this sentence, then the pointer to --help."""
    r = harness.run(args, b"1\n2\n", tool=tool)
    harness.is_((r.status, r.out, r.err.decode("utf-8")), (2, b"", "%s: %s\nTry '%s --help'.\n" % (tool, sentence, tool)), name)


def check_abbreviations():
    """No beginning of an option's name means the option."""
    for tool in ("gpustat", "gpustat-bench"):
        options = options_of(tool)
        prefixes = sorted({name[:n] for name in options for n in range(1, len(name))} - set(options))
        jobs = [dict(args=["--" + prefix + ending, "1"], stdin=b"1\n2\n", tool=tool) for prefix in prefixes for ending in ("", "=1")]
        results = harness.run_many(jobs)
        wrong = [r for job, r in zip(jobs, results) if r.status != 2 or r.out or not r.err.startswith(
            b"%s: unknown option '%s'" % (tool.encode(), job["args"][0].split("=")[0].encode()))]
        harness.ok(len(options) > 9 and len(prefixes) > 30 and not wrong, "%s: no option is abbreviated" % tool,
                   lambda: "%d prefixes of %s\n" % (len(prefixes), list(options)) + "\n".join(map(harness.describe, wrong[:3])))
        complaints = [r.err for r in harness.run_many([dict(args=["--" + name] + ["="] * takes, tool=tool)
                                                       for name, takes in options.items()])]
        harness.is_([e for e in complaints if b"unknown option" in e], [], "%s: every option is known in full" % tool)


def check_wrong_options():
    for typed, meant in (
            ("--sume", "--sum"), ("--sum1=1", "--sum"), ("--su=1", "--sum"), ("--byt", "--byte-offset"), ("--me", "--mean"),
            ("--Sum", "--sum"), ("--smu", "--sum"), ("--runing-sum", "--running-sum"), ("--running_sum=1", "--running-sum"),
            ("--runningsum", "--running-sum"), ("--cumulsum", "--cumsum"), ("--delimeter=;", "--delimiter"), ("--haeder", "--header"),
            ("--verbos", "--verbose"), ("--wehre", "--where"), ("--formats=csv", "--format"), ("--m", None), ("--x", None),
            ("--nosuch", None), ("--group-by=a", "--by"), ("--avg", "--mean"), ("--hlep", "--help"), ("--=x", None), ("---", None), ("--sum --max", None), ("--" + "sum" * 40, None)):
        hint = ": did you mean '%s'?" % meant if meant else ""
        complains("unknown: " + typed, [typed], "unknown option '%s'%s" % (typed.split("=")[0][:64], hint))
    complains("unknown: a letter", ["-Q"], "unknown option '-Q'")
    complains("unknown: a letter behind others", ["-vQ"], "unknown option '-Q'")
    complains("unknown, of gpustat-bench", ["scan", "--repeet=3"], "unknown option '--repeet': did you mean '--repeat'?", "gpustat-bench")
    complains("unknown, behind the -- of gpustat-bench", ["pipeline", "--", "--su=1", "x.csv"],
              "unknown option '--su': did you mean '--sum'?", "gpustat-bench")
    for option in ("help", "version", "verbose", "exclusive", "only", "byte-offset"):
        for value in ("x", ""):
            complains("no argument: --%s=%s" % (option, value), ["--%s=%s" % (option, value)], "option '--%s' takes no argument" % option)
    for args, option in ((["--sum"], "--sum"), (["-d"], "-d"), (["-vd"], "-d"), (["--sum=1", "--threads"], "--threads")):
        complains("an argument is missing: " + " ".join(args), args, "option '%s' needs an argument" % option)
    complains("a word that is none", ["--format=xml"], "--format: 'xml' is none of auto, plain, csv, tsv, json, ndjson, table, markdown")
    complains("the beginning of a word", ["--header", "y"], "--header: 'y' is none of auto, yes, no")
    complains("two words", ["--invalid=error, skip"], "--invalid: 'error, skip' is none of error, skip")
    complains("no word", ["--device="], "--device: '' is none of auto, cpu, gpu, all")
    complains("a shell that is none", ["--completion=csh"], "--completion: 'csh' is none of bash, zsh, fish")


def check_idle_options():
    """An option that would do nothing beside another is wrong usage."""
    for args in (["--head=1"], ["--tail=1"], ["--sample=1"], ["--rename=col1=w"], ["--where=:1 > 1"], ["--where=:1 > 1", "--head=1"]):
        complains("--only " + " ".join(args), ["--only"] + args, "--only: there is no new column to print")
    answers("--only of a computed column", ["--only", "--let=w=col1 + 1", "--head=1"], b"1\n2\n", "2\n")
    for option, others in (("head", ["--head=1"]), ("tail", ["--tail=1"]), ("sample", ["--sample=1", "--seed=2"]), ("seed", ["--seed=2"]),
                           ("rename", ["--rename=col1=w"]), ("only", ["--only"]), ("all", ["--all"])):
        complains("--columns " + " ".join(others), ["--columns"] + others,
                  "--columns prints the names in the input, a line each: leave out --%s" % option)
    for option, others in (("head", ["--head=1"]), ("tail", ["--tail=1"]), ("sample", ["--sample=1", "--seed=2"]), ("seed", ["--seed=2"])):
        complains("--merge " + " ".join(others), ["--merge"] + others,
                  "--%s is for printed records, and --merge prints results: leave it out" % option)
    for option, others in (("select", ["--select=1"]), ("drop", ["--drop=1"]),
                           ("select", ["--select=1", "--let=w=col1", "--where=w > 1"])):
        complains("--by " + " ".join(others), ["--by=1"] + others,
                  "--by is for results and running columns: --%s prints records as they came: leave out --by" % option)
    for args in (["--row-number"], ["--offsets=:1 > 0"], ["--lead=1"], ["--lag=1"], ["--byte-offset"]):
        r = harness.run(["--by=1", "--select=1"] + args, b"1\n2\n")
        harness.ok(r.status == 0 and not r.err, "groups of " + args[-1], lambda r=r: harness.describe(r))
    complains("a state on standard output", ["--sum=1", "--save-state=-"],
              "--save-state: '-' is standard output, which has the results: name a file, or ./- for one of that name")


def check_forms():
    path = fixture("forms.csv", b"a,b\n1,2\n3,4\n")
    for args in (["--sum", "a", path], [path, "--sum", "a"], ["--sum=a", "--", path], ["-d", ",", "--sum=a", path], ["-d,", path, "--sum=a"],
                 ["--sum", "a", "-d", ",", "--", path], [path, "--header=yes", "--sum=a", "--"]):
        answers("forms: " + " ".join(args).replace(path, "FILE"), args, b"", "4\n")
    r = harness.run(["-vd,", "--sum=a", path])
    harness.ok(r.status == 0 and r.out == b"4\n" and r.err, "forms: -vd,", lambda: harness.describe(r))
    answers("an argument may look like an option", ["--sum", "--max"], b"--max,b\n1,2\n", "1\n")
    answers("an argument may be --", ["--sum", "--", "--max=b"], b"--,b\n1,2\n", "sum(--),max(b)\n1,2\n")
    answers("an argument may have =", ["--sum=a=b"], b"a=b,b\n1,2\n", "1\n")
    answers("an argument may be empty, and is no option then", ["--missing=", "--sum=a"], b"a\n1\n", "1\n")
    answers("- is an operand", ["-", "--sum=a"], b"a\n1\n", "1\n")
    os.environ["POSIXLY_CORRECT"] = "1"
    answers("POSIXLY_CORRECT: options before files", ["--sum=a", path], b"", "4\n")
    refuses("POSIXLY_CORRECT: the first file ends them", ["--sum=a", path, "--sum=b"], b"", 1, "--sum=b: cannot open")
    refuses("POSIXLY_CORRECT: behind it -- is a file", ["--sum=a", path, "--", path], b"", 1, "--: cannot open")
    del os.environ["POSIXLY_CORRECT"]


check_selectors()
check_headers()
check_formats()
check_lines_and_markdown()
check_summary()
check_files()
check_missing_and_invalid()
check_usage()
check_idle_options()
check_abbreviations()
check_wrong_options()
check_forms()
harness.done()
