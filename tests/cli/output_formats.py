# SPDX-License-Identifier: MIT
"""--format and --output-delimiter of records, --pivot and --transpose of results: what is printed is read again with Python's csv and json, or stands here byte for byte."""
import csv
import gzip
import io
import json
import random
import re

import harness
from harness import answers, fixture, refuses
from scan_ways import breaks, holds, ways

DATA = b"""host,n,x,name
a,1,2.5,"he said ""x"", y"
b,2,,caf\xc3\xa9
a,3,02134,tab\there
b,,1.50,"line
two"
c,5,-3e2,back\\slash
a,007,+1,_under_*star*
"""
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")


def in_json(cell):
    """A field of a record in JSON."""
    return None if not cell.strip(" \t") else (float(cell), cell.strip(" \t")) if NUMBER.match(cell.strip(" \t")) else cell


def reads(kind, rows, delimiter=","):
    """For holds(): status 0, and the rows, of text, when they are read again. JSON has its numbers digit by digit."""
    def judge(r):
        if r.status or r.err:
            return "wanted: status 0 without a message"
        text = r.out.decode("utf-8")
        if kind == "csv":
            got = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
            return None if got == rows else "wanted: %r" % rows
        if kind in ("tsv", "plain"):
            undo = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
            got = [[re.sub(r"\\(.)", lambda m: undo[m[1]], cell) for cell in line.split("\t")] for line in text.split("\n")[:-1]]
            return None if got == (rows if kind == "tsv" else rows[1:]) else "wanted: %r" % rows
        number = dict(parse_float=lambda t: (float(t), t), parse_int=lambda t: (float(t), t), object_pairs_hook=list)
        got = json.loads(text, **number) if kind == "json" else [json.loads(line, **number) for line in text.splitlines()]
        want = [[(name, in_json(cell)) for name, cell in zip(rows[0], row)] for row in rows[1:]]
        return None if got == want else "wanted: %r" % want
    return judge


def rows_of(data, delimiter=","):
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), delimiter=delimiter))


KINDS = ("csv", "tsv", "plain", "json", "ndjson")


def check_all_ways():
    rows = rows_of(DATA)
    for i, kind in enumerate(KINDS):
        holds("all records as " + kind, ["--format", kind, "--tail", "100"], DATA, reads(kind, rows), ways(i, (1, 7, 64, None)))
        holds("some as " + kind, ["--format", kind, "--where", "host = 'a'"], DATA,
              reads(kind, [r for r in rows if r[0] in ("host", "a")]), ways(i))
        holds("none as " + kind, ["--format", kind, "--where", "host = 'z'"], DATA, reads(kind, rows[:1]), ways(i, (1, None)))
        holds("selected columns as " + kind, ["--format", kind, "--select", "name,n,name"], DATA,
              reads(kind, [["name", "n", "name_2" if "json" in kind else "name"]] + [[r[3], r[1], r[3]] for r in rows[1:]]), ways(i))
        holds("one column, with empty ones, as " + kind, ["--format", kind, "--select", "x"], DATA,
              lambda r, kind=kind, rows=rows: reads(kind, [[r[2]] for r in rows] if kind != "csv" else [[r[2]] if r[2] else [] for r in rows])(r),
              ways(i))
        sums = ["running_sum(n)", "1", "3", "6", "6", "11", "18"]
        later = ["lead(host)", "b", "a", "b", "c", "a", ""]
        holds("new columns as " + kind, ["--format", kind, "--cumsum", "n", "--lead", "host"], DATA,
              reads(kind, [r + [s, e] for r, s, e in zip(rows, sums, later)]), ways(i))
        holds("nothing but those as " + kind, ["--format", kind, "--cumsum", "n", "--lead", "host", "--only"], DATA,
              reads(kind, [[s, e] for s, e in zip(sums, later)]), ways(i))
        ordered = sorted(rows[1:], key=lambda r: (r[1] == "", float(r[1] or 0)))
        holds("sorted as " + kind, ["--format", kind, "--sort", "n"], DATA, reads(kind, rows[:1] + ordered), ways(i))
        holds("the first of each host as " + kind, ["--format", kind, "--unique", "host"], DATA,
              reads(kind, [rows[0], rows[1], rows[2], rows[5]]), ways(i))
        holds("the last two as " + kind, ["--format", kind, "--tail", "2"], DATA, reads(kind, rows[:1] + rows[-2:]), ways(i))
        holds("the first two as " + kind, ["--format", kind, "--head", "2"], DATA, reads(kind, rows[:3]), ways(i))
        holds("the largest of each host as " + kind, ["--format", kind, "--by", "host", "--sort=-n", "--top", "1"], DATA,
              reads(kind, [rows[0], rows[6], rows[5], rows[2]]), ways(i))
        holds("renamed as " + kind, ["--format", kind, "--rename", "n=m,\"m\""], DATA,
              reads(kind, [["host", 'm,"m"'] + rows[0][2:]] + rows[1:]), ways(i, (1, None)))
        holds("computed as " + kind, ["--format", kind, "--let", "y = n * 2", "--let", "z = upper(host)"], DATA,
              reads(kind, [r + e for r, e in zip(rows, [["y", "z"], ["2", "A"], ["4", "B"], ["6", "A"], ["", "B"], ["10", "C"], ["14", "A"]])]),
              ways(i))
        holds("gzip as " + kind, ["--format", kind, "--where", "n > 0"], gzip.compress(DATA),
              reads(kind, [r for r in rows if r[1] != ""]), ways(i, (1, None)))
        holds("without a last line end, as " + kind, ["--format", kind, "--tail", "9"], DATA[:-1], reads(kind, rows), ways(i, (1, 5, None)))
        two = [fixture("two-%s-%d.csv" % (kind, k), DATA[:-1]) for k in (1, 2)]
        holds("two files as " + kind, ["--format", kind, "--where", "host = 'c'"] + two, None,
              reads(kind, rows[:1] + [rows[5], rows[5]]), ways(i, (1, 64, None)))


def check_dialects():
    data = "a;b\n1,5;'x;y'\n2,5;'it''s'\n".encode()
    answers("a decimal comma in JSON", ["-d;", "--quote", "'", "--decimal=,", "--cumsum=a", "--format=json"], data,
            '[{"a": "1,5", "b": "x;y", "running_sum(a)": 1.5},\n {"a": "2,5", "b": "it\'s", "running_sum(a)": 4.0}]\n')
    answers("... and in CSV", ["-d;", "--quote", "'", "--decimal=,", "--cumsum=a", "--format=csv"], data,
            'a,b,running_sum(a)\n"1,5",x;y,"1,5"\n"2,5",it\'s,"4,0"\n')
    answers("a point that separates thousands is no number of JSON", ["-d;", "--decimal=,", "--thousands=.", "--where=a > 1", "--format=ndjson"],
            b"a;b\n1.500;12\n", '{"a": "1.500", "b": 12}\n')
    answers("escapes", ["--escape", "\\", "--select=1-", "--format=tsv", "-H"], b"a,b\nx\\,y,\\\\\n", "a\tb\nx,y\t\\\\\n")
    answers("blanks that mean nothing", ["--trim", "--where=b > 0", "--format=csv"], b'a, b\n" x, y" , 1\n', 'a,b\n" x, y",1\n')
    answers("words", ["-W", "--cumsum=b", "--format=json"], b"a b  c\n1 2  x y\n3 4 z\n",
            '[{"a": 1, "b": 2, "c": "x y", "running_sum(b)": 2},\n {"a": 3, "b": 4, "c": "z", "running_sum(b)": 6}]\n')
    answers("comments are none of the records", ["--comment=#", "--where=n > 0", "--format=csv", "-H"], b"# one\nn\n1\n# two\n2\n", "n\n1\n2\n")
    answers("a field that looks like a comment", ["--comment=#", "--select=b", "--format=csv"], b"a,b\n1,#x\n", "b\n#x\n")
    answers("fields that a record lacks, and those it has too many", ["--ragged=allow", "-N", "--where=col1 > 0", "--format=json"], b"1,2\n3\n4,5,6\n",
            '[{"col1": 1, "col2": 2},\n {"col1": 3, "col2": null},\n {"col1": 4, "col2": 5}]\n')
    answers("no header", ["-N", "--where=:1 > 1", "--format=tsv"], b"1,2\n3,4\n", "3\t4\n")
    answers("a column without a name", ["--where=a > 0", "--format=ndjson"], b"a,,b\n1,2,3\n", '{"a": 1, "col2": 2, "b": 3}\n')
    answers("... in CSV", ["--where=a > 0", "--format=csv"], b"a,,b\n1,2,3\n", "a,,b\n1,2,3\n")
    answers("names twice", ["--where=:1 > 0", "--format=ndjson"], b"a,a,a_2\n1,2,3\n", '{"a": 1, "a_3": 2, "a_2": 3}\n')
    answers("a spelling of missing", ["--missing=NA,-", "--where=b > 0", "--format=json"], b"a,b\nNA,1\n-,2\nx,3\n",
            '[{"a": null, "b": 1},\n {"a": null, "b": 2},\n {"a": "x", "b": 3}]\n')
    answers("... stays in CSV", ["--missing=NA", "--where=b > 0", "--format=csv"], b"a,b\nNA,1\n", "a,b\nNA,1\n")
    answers("no UTF-8", ["--where=b > 0", "--format=ndjson"], b"a,b\n\xff\x01,1\n", '{"a": "\\ufffd\\u0001", "b": 1}\n')
    answers("a byte NUL", ["--where=b > 0", "--format=ndjson"], b"a,b\nx\0y,1\n", '{"a": "x\\u0000y", "b": 1}\n')
    answers("blanks around numbers", ["--where=b > 0", "--format=ndjson"], b"a,b\n 1 , 2\n", '{"a": 1, "b": 2}\n')
    answers("no digit is lost", ["--where=b > 0", "--format=ndjson"], b"a,b\n123456789012345678901234567890.10,1\n",
            '{"a": 123456789012345678901234567890.10, "b": 1}\n')
    answers("--exclusive", ["--running-count=a", "--exclusive", "--format=ndjson", "--select=a"], b"a\n1\n2\n",
            '{"running_count(a)": 0, "a": 1}\n{"running_count(a)": 1, "a": 2}\n')


def check_tables():
    answers("a table", ["--where=n > 1", "--format=table", "--cumsum=n"], DATA,
            "host    n      x  name           running_sum(n)\n"
            "b       2         café                        2\n"
            "a       3  02134  tab\\there                   5\n"
            "c       5   -3e2  back\\slash                 10\n"
            "a     007     +1  _under_*star*              17\n")
    answers("Markdown", ["--where=n > 1", "--format=markdown", "--select=name,x"], DATA,
            "| name | x |\n| --- | --: |\n| café |  |\n| tab\there | 02134 |\n| back\\\\slash | -3e2 |\n| \\_under\\_\\*star\\* | +1 |\n")
    answers("a table without a record", ["--where=n > 100", "--format=table"], DATA, "host  n  x  name\n")
    answers("a column without a value is shown", ["--where=b > 0", "--format=table"], b"a,b\n,1\n", "a  b\n   1\n")
    answers("a byte NUL", ["--where=b > 0", "--format=table"], b"a,b\nx\0y,1\n", "a        b\nx\\x00y  1\n".replace("        b", "       b"))
    many = b"n,t\n" + b"".join(b"%d,%s\n" % (i, b"x" * (i % 7)) for i in range(3000))
    width = len("2999")
    table = "".join("%*s  %s\n" % (width, a, b) if b else "%*s\n" % (width, a) for a, b in (line.split(",") for line in many.decode().splitlines()))
    holds("widths are those of all records", ["--format=table", "--tail=5000"], many, harness.exactly(table.encode()), ways(1, (100, None)))
    refuses("more than memory holds", ["--format=table", "--where=n >= 0", "--memory=64K"], many * 1, 1, "--memory", "or fewer records")


def check_delimiter():
    rows = rows_of(DATA)
    for i, (typed, byte) in enumerate(((";", ";"), ("tab", "\t"), ("\\t", "\t"), ("|", "|"), (".", "."), ("\\x1f", "\x1f"))):
        holds("records with " + typed, ["--output-delimiter", typed, "--select", "1-"], DATA, reads("csv", rows, byte), ways(i, (1, 9, None)))
        holds("results with " + typed, ["--output-delimiter", typed, "--by=host", "--sum=n,x", "--first=name"], DATA,
              reads("csv", [["host", "sum(n)", "sum(x)", "first(name)"], ["a", "11", "2137.5", 'he said "x", y'], ["b", "2", "1.50", "café"],
                            ["c", "5", "-300", "back\\slash"]], byte), ways(i, (1, None)))
    answers("a result", ["--output-delimiter=;", "--sum=a,b"], b"a,b\n1,2\n", "sum(a);sum(b)\n1;2\n")
    answers("with --format csv", ["--output-delimiter=;", "--format=csv", "--sum=a"], b"a,b\n1,2\n", "sum(a)\n1\n")
    answers("from another delimiter", ["-d;", "--output-delimiter=,", "--where=a > 0"], b"a;b\n1;x,y\n", 'a,b\n1,"x,y"\n')
    answers("of the summary", ["--output-delimiter=;"], b"a\n1\n", "column;type;count;missing;invalid;sum;min;max;mean;shortest;longest\n"
            "a;number;1;0;0;1;1;1;1;;\n")
    for name in ("json", "tsv", "table", "plain"):
        refuses("not with " + name, ["--output-delimiter=;", "--format", name, "--sum=a"], b"a\n1\n", 2, "--output-delimiter", "--format csv")
    refuses("two bytes", ["--output-delimiter=ab", "--sum=a"], b"a\n1\n", 2, "not one byte")
    refuses("a quote", ["--output-delimiter=\"", "--sum=a"], b"a\n1\n", 2, "cannot separate fields")
    refuses("of a part", ["--output-delimiter=;", "--partial", "--sum=a"], b"a\n1\n", 2, "--merge")
    refuses("a picture", ["--plot", "--format=csv", "--cumsum=a"], b"a\n1\n", 2, "drawn")


def check_random():
    """Tables of anything, with every kind of column before and after."""
    rng = random.Random(43)
    cells = ["", "1", "-2.50", "007", "x", "a,b", 'q"q', "two\nlines", "tab\t", "\\", " 5", "é", "1e5", "-", "0.1"]
    for seed in range(12):
        names = ["c%d" % i for i in range(rng.randrange(1, 5))]
        rows = [names + ["k"]] + [[rng.choice(cells) for _ in names] + [str(i)] for i in range(rng.choice((1, 5, 70, 200)))]
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator=rng.choice(("\n", "\r\n"))).writerows(rows)
        kind = rng.choice(KINDS)
        args, want = rng.choice((
            (["--where", "k >= 0"], rows),
            (["--sort=-k"], rows[:1] + rows[:0:-1]),
            (["--row-number"], [r + [str(i) if i else "row_number"] for i, r in enumerate(rows)]),
            (["--lag=k"], [r + [rows[i - 1][-1] if i > 1 else "" if i else "lag(k)"] for i, r in enumerate(rows)])))
        holds("random %d as %s" % (seed, kind), args + ["--format", kind], out.getvalue().encode(), reads(kind, want), ways(seed, (1, 30, None)))
    bad = b"n\n1\n2\nx\n"
    for chunk in (None,):
        holds("what comes before an error", ["--cumsum=n", "--format=csv"], bad, breaks("n,running_sum(n)\n1,1\n2,3\n", "not a number"), ways(0, (1, chunk)))


LOG = b"""host,status,bytes
a,200,10
b,500,1
a,404,5
a,200,2.5
c,,7
b,200,
"""


def check_pivot():
    for i, chunk in enumerate((1, 5, None)):
        way = ways(i, (chunk,))
        holds("a count in each cell", ["--by=host", "--pivot=status"], LOG, harness.exactly(b"host,200,500,404,\na,2,,1,\nb,1,1,,\nc,,,,1\n"), way)
        holds("a sum in each cell", ["--by=host", "--pivot=status", "--sum=bytes"], LOG,
              harness.exactly(b"host,200,500,404,\na,12.5,,5,\nb,0,1,,\nc,,,,7\n"), way)
        holds("two results", ["--by=host", "--pivot=status", "--sum=bytes", "--count-records", "--sort=host,status"], LOG, harness.exactly(
            b"host,200_sum(bytes),200_records,404_sum(bytes),404_records,500_sum(bytes),500_records,_sum(bytes),_records\n"
            b"a,12.5,2,5,1,,,,\nb,0,1,,,1,1,,\nc,,,,,,,7,1\n"), way)
    answers("sorted values", ["--by=host", "--pivot=status", "--sort=-status"], LOG, "host,500,404,200,\nb,1,,1,\na,,1,2,\nc,,,,1\n")
    answers("... numbers by value", ["--by=k", "--pivot=n", "--sort=k,n"], b"k,n\na,10\na,9\na,x\na,-1\n", "k,-1,9,10,x\na,1,1,1,1\n")
    answers("sorted by a result", ["--by=host", "--pivot=status", "--sum=bytes", "--sort=-sum"], LOG, "host,200,,404,500\na,12.5,,5,\nc,,7,,\nb,0,,,1\n")
    answers("in --by already", ["--by=host,status", "--pivot=status"], LOG, "host,200,500,404,\na,2,,1,\nb,1,1,,\nc,,,,1\n")
    answers("one row", ["--pivot=status", "--sum=bytes"], LOG, "200,500,404,\n12.5,1,5,7\n")
    answers("... in JSON", ["--pivot=status", "--sum=bytes", "--format=json"], LOG, '{"200": 12.5, "500": 1, "404": 5, "": 7}\n')
    answers("missing cells in JSON", ["--by=host", "--pivot=status", "--max=bytes", "--format=ndjson"], LOG,
            '{"host": "a", "200": 10.0, "500": null, "404": 5, "": null}\n{"host": "b", "200": null, "500": 1, "404": null, "": null}\n'
            '{"host": "c", "200": null, "500": null, "404": null, "": 7}\n')
    answers("as a table", ["--by=host", "--pivot=status", "--sum=bytes", "--format=table", "--where=status > 0"], LOG,
            "host   200  500  404\na     12.5         5\nb        0    1\n")
    answers("of two keys", ["--by=a,b", "--pivot=c", "--format=tsv"], b"a,b,c\n1,2,x\n1,3,y\n1,2,y\n", "a\tb\tx\ty\n1\t2\t1\t1\n1\t3\t\t1\n")
    answers("by an expression", ["--by=host", "--pivot", "kind = if(status >= 400, 'bad', 'good')", "--count=bytes", "--where=status > 0"], LOG,
            "host,good,bad\na,2,1\nb,0,1\n")
    answers("of texts", ["--by=host", "--pivot=status", "--first=bytes", "--where=status = 200"], LOG, "host,200\na,10\nb,\n")
    answers("--having leaves cells out", ["--by=host", "--pivot=status", "--having=count() > 1"], LOG, "host,200\na,2\n")
    answers("--share is of all", ["--by=host", "--pivot=status", "--share=bytes", "--where=bytes >= 5"], b"host,status,bytes\na,1,5\nb,1,15\n",
            "host,1\na,0.25\nb,0.75\n")
    answers("--agg", ["--by=host", "--pivot=status", "--agg=m = sum(bytes) / count(bytes)", "--where=status = 200"], LOG, "host,200\na,6.25\nb,\n")
    answers("no record", ["--by=host", "--pivot=status", "--where=bytes > 100"], LOG, "host\n")
    answers("no record, one row", ["--pivot=status", "--where=bytes > 100", "--format=json"], LOG, "[]\n")
    parts = []
    for k in range(2):
        part = harness.run(["--by=host", "--pivot=status", "--sum=bytes", "--partial"], LOG).out
        parts.append(fixture("pivot%d.part" % k, part))
    answers("parts", ["--merge", "--format=csv"] + parts, None, "host,200,500,404,\na,25.0,,10,\nb,0,2,,\nc,,,,14\n")
    wide = b"k,v\n" + b"".join(b"a,%d\n" % i for i in range(1001))
    refuses("too many values", ["--by=k", "--pivot=v"], wide, 2, "--pivot: there would be 1002 columns, and at most 1000", "--where")
    answers("as many as there may be", ["--by=k", "--pivot=v", "--where=v < 999"], wide,
            "k," + ",".join("%d" % i for i in range(999)) + "\na" + ",1" * 999 + "\n")
    for name, args in (("--top", ["--top=1"]), ("--plot", ["--plot"]), ("--cumsum", ["--cumsum=bytes"]), ("one column", ["--pivot=host,bytes"][:1])):
        refuses("usage: " + name, ["--by=host"] + (["--pivot=status"] if name != "one column" else []) + args, LOG, 2, name)
    refuses("usage: an unknown column", ["--by=host", "--pivot=nothing"], LOG, 2, "unknown column 'nothing'")
    refuses("usage: twice", ["--by=host", "--pivot=status", "--pivot=host"], LOG, 2, "--pivot is given twice")


def check_transpose():
    answers("results", ["--transpose", "--sum=bytes", "--mean=bytes", "--count=host"], LOG,
            "name,value\nsum(bytes),25.5\nmean(bytes),5.1\ncount(host),6\n")
    answers("no record is left of a pivot", ["--transpose", "--sum=bytes", "--pivot=host", "--where=bytes < 0"], LOG, "")
    answers("one result", ["--transpose", "--sum=bytes"], LOG, "name,value\nsum(bytes),25.5\n")
    answers("as JSON", ["--transpose", "--sum=bytes", "--text-max=host", "--format=json"], LOG,
            '[{"name": "sum(bytes)", "value": 25.5},\n {"name": "text_max(host)", "value": "c"}]\n')
    answers("as a table", ["--transpose", "--sum=bytes", "--max=bytes", "--format=table"], LOG, "name        value\nsum(bytes)   25.5\nmax(bytes)   10.0\n")
    answers("groups", ["--transpose", "--by=host", "--sum=bytes", "--count-records"], LOG, "host,a,b,c\nsum(bytes),17.5,1,7\nrecords,3,2,1\n")
    answers("groups of two keys", ["--transpose", "--by=host,status", "--where=host = 'a'", "--output-delimiter=;"], LOG,
            "host;a;a\nstatus;200;404\ncount;2;1\n")
    answers("after --pivot", ["--by=host", "--pivot=status", "--transpose"], LOG, "host,a,b,c\n200,2,1,\n500,,1,\n404,1,,\n,,,1\n")
    answers("a matrix", ["--transpose", "--corr=*", "--format=csv"], b"a,b\n1,2\n2,4\n", "column,a,b\na,1,1\nb,1,1\n")
    answers("the summary", ["--transpose"], b"a,b\n1,x\n2,y\n",
            "column    a    b\ntype      number  text\n".replace("a    b", "a       b") + "count     2       2\nmissing   0       0\ninvalid   0       0\n"
            "sum       3\nmin       1       x\nmax       2       y\nmean      1.5\nshortest          1\nlongest           1\n")
    wide = b"k\n" + b"".join(b"%d\n" % i for i in range(1000))
    refuses("too many rows", ["--by=k", "--transpose"], wide, 2, "--transpose: there would be 1001 columns", "--top")
    refuses("usage: records", ["--transpose", "--cumsum=bytes"], LOG, 2, "--cumsum prints records")
    refuses("usage: a part", ["--transpose", "--sum=bytes", "--partial"], LOG, 2, "give it to --merge")


def check_union():
    """Files with other columns, each in every way that chunks can cut them, against Python's dictionaries."""
    def files(tables, pack=False):
        out = []
        for k, rows in enumerate(tables):
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows(rows)
            data = text.getvalue().encode()[:-1 if k % 2 else None]
            out.append(fixture("union-%d-%d.csv" % (len(tables), k), gzip.compress(data) if pack and k else data))
        return out

    def united(tables):
        names = []
        for rows in tables:
            names += [name for name in rows[0] if name not in names]
        return [names] + [[dict(zip(rows[0], row)).get(name, "") for name in names] for rows in tables for row in rows[1:]]

    one, two, three = [["a", "b"], ["1", "2"], ["3", "4"]], [["b", "c"], ["5", "x,y"]], [["d", "a"], ["two\nlines", "7"], ["z", ""]]
    for i, tables in enumerate(([one, two, three], [two, one], [three, two, one], [one, one], [one], [one, [["b", "a"], ["8", "9"]]])):
        rows = united(tables)
        for pack in (False, True):
            paths = files(tables, pack)
            holds("union %d, %s" % (i, pack), ["--union", "--select", "1-"] + paths, None, reads("csv", rows), ways(i, (1, 3, None)))
            holds("union %d as JSON, %s" % (i, pack), ["--union", "--format=ndjson", "--row-number"] + paths, None,
                  reads("ndjson", [r + [str(k) if k else "row_number"] for k, r in enumerate(rows)]), ways(i, (2, None)))
            holds("union %d, sorted, %s" % (i, pack), ["--union", "--sort=b", "--tail=9"][:2] + paths, None,
                  reads("csv", rows[:1] + sorted(rows[1:], key=lambda r, b=rows[0].index("b"): (r[b] == "", int(r[b] or 0)))), ways(i, (2, None)))
            sums = [sum(int(r[k] or 0) for r in rows[1:]) for k in map(rows[0].index, "ab") if "a" in rows[0]] if "a" in rows[0] else []
            if sums:
                answers("union %d, sums, %s" % (i, pack), ["--union", "--sum=a,b"] + paths, None, "sum(a),sum(b)\n%d,%d\n" % tuple(sums))
    paths = files([one, two, three])
    answers("by a column that some lack", ["--union", "--by=c", "--count=a,b", "--sum=b"] + paths, None, 'c,count(a),count(b),sum(b)\n,3,2,6\n"x,y",0,1,5\n')
    answers("a condition", ["--union", "--where=c is missing and a > 1", "--select=a,d"] + paths, None, 'a,d\n3,\n7,"two\nlines"\n')
    answers("new columns", ["--union", "--lead=b", "--cumsum=b", "--select=c"] + paths, None,
            'lead(b),running_sum(b),c\n4,2,\n5,6,\n,11,"x,y"\n,11,\n,11,\n')
    answers("all columns by number", ["--union", "--sum=:2", "--max=1"] + paths, None, "sum(b),max(a)\n11,7\n")
    answers("the numeric ones", ["--union", "--sum=*", "--format=json"] + paths, None, '{"sum(a)": 11, "sum(b)": 11}\n')
    answers("their names", ["--union", "--columns"] + paths, None, "a\nb\nc\nd\n")
    answers("a name twice in one file", ["--union", "--select=1-", fixture("u-aa.csv", b"a,a\n1,2\n"), fixture("u-a.csv", b"b,a\n3,4\n")], None,
            "a,a,b\n1,2,\n4,,3\n")
    answers("another delimiter", ["--union", "-d;", "--where=a > 0 or b > 0", fixture("u-s.csv", b"a\n1\n"), fixture("u-t.csv", b"b;c\n2;x,y\n")], None,
            "a;b;c\n1;;\n;2;x,y\n")
    answers("words", ["-W", "--union", "--sum=*", fixture("u-w.txt", b"a b\n1 2\n"), fixture("u-v.txt", b"b c\n3 4\n")], None, "sum(a),sum(b),sum(c)\n1,5,4\n")
    answers("short and long records", ["--union", "--ragged=allow", "--select=1-", fixture("u-r.csv", b"a,b\n1,2,9\n5\n"), fixture("u-q.csv", b"b,c\n6\n7,8,9\n")],
            None, "a,b,c\n1,2,\n5,,\n,6,\n,7,8\n")
    answers("a file without records", ["--union", "--select=1-", paths[0], fixture("u-0.csv", b""), fixture("u-h.csv", b"z\n")], None, "a,b,z\n1,2,\n3,4,\n")
    parts = [fixture("union%d.part" % k, harness.run(["--union", "--by=c", "--sum=a,b", "--partial"] + some).out)
             for k, some in enumerate(([paths[0], paths[1]], [paths[1], paths[0]]))]
    answers("parts", ["--merge"] + parts, None, 'c,sum(a),sum(b)\n,8,12\n"x,y",0,10\n')
    answers("read twice", ["--union", "--let=s = b / sum(b)", "--select=s"] + files([one, two]), None,
            "s\n0.18181818181818182\n0.36363636363636364\n0.45454545454545455\n")
    answers("one input from a pipe", ["--union", "--sum=a"], b"a,b\n1,2\n", "1\n")
    refuses("a pipe among several", ["--union", "--sum=a", "-", paths[0]], b"a\n1\n", 2, "--union reads the headers of all files first", "save it")
    refuses("no names", ["--union", "-N", "--sum=1"] + paths, None, 2, "--union joins columns by name")
    refuses("a file that is not there", ["--union", "--sum=a", paths[0], "/nowhere/x.csv"], None, 1, "cannot open", "/nowhere/x.csv")
    refuses("an unknown column", ["--union", "--sum=q"] + paths, None, 2, "unknown column 'q'", "4 columns: a, b, c, d")
    r = harness.run(["--where=b > 0"] + files([one, two]))
    harness.ok(r.status == 1 and b"--union" in r.err and b"--select" in r.err, "records of other headers", lambda: harness.describe(r))
    refuses("without it, results", ["--sum=a"] + files([one, two]), None, 1, "--union")
    bad = fixture("u-bad.csv", b"b,c\n5,x\nno,y\n")
    breaks_at = harness.run(["--union", "--sum=b", paths[0], bad])
    harness.ok(breaks_at.status == 1 and b"u-bad.csv:3: column 'b': not a number: 'no'" in breaks_at.err, "an error names its file and line",
               lambda: harness.describe(breaks_at))


check_all_ways()
check_dialects()
check_tables()
check_delimiter()
check_pivot()
check_transpose()
check_union()
check_random()
harness.done()
