# SPDX-License-Identifier: MIT
"""The summary: types, texts and dates, --all, how the table reads; and --text-min, --text-max.

Random tables are compared with the model in tests/fuzz/differential.py; here are the cases by name.
"""
import datetime
import random

import harness
import oracle_texts

HEAD = "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n"
WAYS = [(c, t) for c in (1, 2, 3, 7, None) for t in (1, 2, 3, 7)]


def gives(name, args, data, out, ways=WAYS):
    """x alone in a line is a header."""
    args = ["-H"] * data.startswith((b"x\n", b"t\n")) + args
    def right(r):
        good = r.status == 0 and r.out == (out if isinstance(out, bytes) else out.encode()) and not r.err
        return None if good else "wanted: %r and nothing on stderr" % out
    harness.agrees(name, args, data, right, ways)


def rows(*values):
    return b"x\n" + b"".join(v + b"\n" for v in values)


def check_texts():
    gives("texts", ["--format=csv"], b"a,b\nfig,1\napple,2\n\"fig, dried\",3\n", HEAD
          + "a,text,3,0,0,,apple,\"fig, dried\",,3,10\nb,number,3,0,0,6,1,3,2,,\n")
    gives("numbers in a column of text are texts", ["--format=csv"], rows(b"10", b"z", b"9", b"0010", b"1e400"),
          HEAD + "x,text,5,0,0,,0010,z,,1,5\n")
    gives("one value", ["--format=csv"], rows(b"z"), HEAD + "x,text,1,0,0,,z,z,,1,1\n")
    gives("blanks count", ["--format=csv"], b"x,y\n b,1\nb ,2\n\" a\",3\n", HEAD
          + "x,text,3,0,0,, a,b ,,2,2\ny,number,3,0,0,6,1,3,2,,\n")
    gives("missing values are no texts", ["--format=csv", "--missing=NA,-"],
          b"x,y\nNA,1\n\" \",2\nb,3\n\"-\",4\n,5\nNAN,6\n-x,7\n", HEAD
          + "x,text,3,4,0,,-x,b,,1,3\ny,number,7,0,0,28,1,7,4,,\n")
    gives("bytes above 127, and a value before those that it begins", ["--format=csv"],
          b"x\n\xc3\xbc\nabcdefgh\nabcdefghi\nz\n\xff\n",
          HEAD.encode() + b"x,text,5,0,0,,abcdefgh,\xff,,1,9\n")
    same = [b"prefix of many bytes %d" % k for k in (5, 55, 4, 44, 444, 5)]
    gives("the first 8 bytes alike", ["--format=csv"], rows(*same),
          HEAD + "x,text,6,0,0,,prefix of many bytes 4,prefix of many bytes 55,,22,24\n")
    for n in (8, 16, 17, 20, 24):
        for at in range(n):
            one, other = bytearray(b"a" * n), bytearray(b"a" * n)
            one[at], other[at] = 0x35, 0x7A
            pair = rows(bytes(one), bytes(other))
            gives("two values of %d bytes that differ in byte %d" % (n, at), ["--format=csv"], pair, HEAD
                  + "x,text,2,0,0,,%s,%s,,%d,%d\n" % (one.decode(), other.decode(), n, n), [(None, 1)])
    gives("quotes doubled", ["--format=csv"], b'x,y\n"say ""b""",1\n"say ""a""",2\n', HEAD
          + 'x,text,2,0,0,,"say ""a""","say ""b""",,7,7\ny,number,2,0,0,3,1,2,1.5,,\n')
    gives("escaped bytes", ["--format=csv", "--escape=\\"], b"x,y\nb\\,c,1\nb\\,a,2\n", HEAD
          + 'x,text,2,0,0,,"b,a","b,c",,3,3\ny,number,2,0,0,3,1,2,1.5,,\n')
    gives("--whitespace", ["--format=csv", "-W"], b"x y\n  bb  1\na   22\n", HEAD
          + "x,text,2,0,0,,a,bb,,1,2\ny,number,2,0,0,23,1,22,11.5,,\n")
    gives("another notation", ["--format=csv", "--money"], b"x,y\nEUR 5,1\nabc,2\n7 USD,3\nXYZ,4\n", HEAD
          + "x,text,4,0,0,,7 USD,abc,,3,5\ny,number,4,0,0,10,1,4,2.5,,\n")
    gives("a tenth of texts: still numbers", ["--format=csv", "--max-invalid=1", "--invalid=skip", "--header=no"],
          b"1,a\n" * 3, HEAD + "col1,number,3,0,0,3,1,1,1,,\ncol2,text,3,0,0,,a,a,,1,1\n")
    gives("a value with a NUL is counted, and is no text to compare", ["--format=csv"], rows(b"b", b"a\0z", b"c"),
          HEAD + "x,text,3,0,0,,b,c,,1,1\n")
    gives("nor is it a date", ["--format=csv"], rows(b"2025-01-02", b"2025-01-0\0", b"2025-01-01"),
          HEAD + "x,text,3,0,0,,2025-01-01,2025-01-02,,10,10\n")
    gives("NULs alone", ["--format=csv", "--header=yes"], rows(b"\0", b"\0"), HEAD + "x,text,2,0,0,,,,,,\n")
    gives("CR before the line end is no text", ["--format=csv"], b"y,x\r\n1,a\r\n2,bb\r\n", HEAD
          + "y,number,2,0,0,3,1,2,1.5,,\nx,text,2,0,0,,a,bb,,1,2\n")


def check_hints():
    """Columns of text whose first, least and greatest value would be numbers with an option."""
    def hints(name, data, *want, args=()):
        for chunk, threads in ((None, 4), (1, 1), (7, 3)):
            r = harness.run(["--format=csv"] + list(args), data.encode(), chunk=chunk, threads=threads)
            harness.is_((r.status, r.err.decode()), (0, "".join("gpustat: note: column %s may hold numbers: try %s\n" % x for x in want)),
                        "hints: %s, chunks of %s" % (name, chunk))

    hints("money, percentages, dates and n/a", 'id,price,pct,d,m\n1,"$1,000.50",5%,2024-01-05,n/a\n2,$2,7%,2024-01-06,5\n3,$3,9%,2024-01-07,n/a\n',
          ("'price'", "--thousands , --money"), ("'pct'", "--percent"), ("'m'", "--missing 'n/a'"))
    hints("two columns", 'id,a,b\n1,"1,5","2,25"\n2,"2,5","3,25"\n', ("'a' and 1 more", "--decimal ,"))
    hints("texts beside them", "id,a\n1,$5\n2,abc\n")
    hints("some slips", "a,b\n" + "1,2\n" * 20 + "$5,2\n", args=["--invalid=skip", "--money"])
    hints("given", "id,a\n1,$5\n2,$6\n", args=["--money"])
    hints("two currencies", "id,a\n1,$5\n2,EUR 6\n", args=["--money"])
    hints("addresses", "id,a\n1,10.0.0.1\n2,10.0.0.2\n")


def kind_of(values):
    r = harness.run(["--format=csv", "--header=yes"], rows(*values))
    return r.out.decode("utf-8", "replace").split("\n")[1].split(",")[1]


def check_dates():
    for value, kind in ((b"2025-03-01", "date"), (b"2024-02-29", "date"), (b"2000-02-29", "date"), (b"0000-02-29", "date"),
                        (b"9999-12-31", "date"), (b"2025-03-01T10:20", "datetime"), (b"2025-03-01 10:20:30", "datetime"),
                        (b"2025-03-01T10:20:30.123456789Z", "datetime"), (b"2025-03-01T10:20:60,5", "datetime"),
                        (b"2025-03-01T10:20:30+05:30", "datetime"), (b"2025-03-01T10:20-0330", "datetime"),
                        (b"2025-03-01T10:20+02", "datetime"), (b"2025-02-29", "text"), (b"1900-02-29", "text"),
                        (b"2025-04-31", "text"), (b"2025-13-01", "text"), (b"2025-00-01", "text"), (b"2025-01-00", "text"),
                        (b"2025-01-32", "text"), (b"2025-1-1", "text"), (b"2025/03/01", "text"), (b"25-03-01", "text"),
                        (b"2025-03-01T", "text"), (b"2025-03-01T10", "text"), (b"2025-03-01T24:00", "text"),
                        (b"2025-03-01T10:60", "text"), (b"2025-03-01T10:20:61", "text"), (b"2025-03-01T10:20.5", "text"),
                        (b"2025-03-01T10:20:30.", "text"), (b"2025-03-01T10:20+2", "text"), (b"2025-03-01T10:20+24", "text"),
                        (b"2025-03-01T10:20Zx", "text"), (b"2025-03-01x10:20", "text"), (b" 2025-03-01", "text"),
                        (b"2025-03-01T10:20+05:", "text"), (b"2025-03-01t10:20", "text"), (b"20250301", "number")):
        got = kind_of([value])
        harness.is_(got, kind, "%r is of type %s" % (value, kind))
        if kind != "number":
            harness.is_(oracle_texts.type_of([value]), kind, "the model says so, too")
    gives("dates", ["--format=csv"], rows(b"2025-03-01", b"2024-12-31", b"\"2025-01-01\""),
          HEAD + "x,date,3,0,0,,2024-12-31,2025-03-01,,10,10\n")
    gives("dates and times", ["--format=csv"], rows(b"2025-03-01", b"2025-03-01T00:00Z", b"2024-01-01"),
          HEAD + "x,datetime,3,0,0,,2024-01-01,2025-03-01T00:00Z,,10,17\n")
    gives("a date and a number", ["--format=csv"], rows(b"2025-03-01", b"7", b"2024-01-01"),
          HEAD + "x,text,3,0,0,,2024-01-01,7,,1,10\n")
    gives("a date and a text", ["--format=csv"], rows(b"2025-03-01", b"soon", b"2024-01-01"),
          HEAD + "x,text,3,0,0,,2024-01-01,soon,,4,10\n")
    days = [(datetime.date(1999, 12, 25) + datetime.timedelta(d)).isoformat().encode() for d in range(0, 20000, 17)]
    gives("every kind of day", ["--format=csv"], rows(*days), HEAD + "x,date,%d,0,0,,%s,%s,,10,10\n"
          % (len(days), days[0].decode(), days[-1].decode()), [(1000, 3), (None, 1)])


def check_all():
    head = HEAD.replace("mean,", "mean,stddev,p25,p50,p75,").replace("longest", "longest,distinct,mode")
    gives("--all", ["--all", "--format=csv"], b"a,b,c\n1,x,\n2,y,\n4,z,\n", head
          + "a,number,3,0,0,7,1,4,2.3333333333333333,1.5275252316519467,1.5,2,3,,,3,1\nb,text,3,0,0,,x,z,,,,,,1,1,3,x\n"
          + "c,empty,0,3,0,0,,,,,,,,,,0,\n")
    for n, distinct in ((100000, "100000"), (100001, ">100000")):
        data = b"t,n\n" + b"".join(b"v%d,%d\n" % (k, k) for k in range(n)) + b"v7,7\n"
        mode = ("", "") if n > 100000 else ("v7", "7")
        r = harness.run(["--all", "--format=csv"], data, threads=3)
        got = [line.split(",")[-2:] for line in r.out.decode().split("\n")[1:3]]
        harness.is_(got, [[distinct, mode[0]], [distinct, mode[1]]], "%d different values" % n)
    gives("distinct in a column of texts and numbers", ["--all", "--format=csv"], rows(b"1", b"w", b"1", b"\"w\"", b"y"),
          head + "x,text,5,0,0,,1,y,,,,,,1,1,3,1\n")
    for args in (["--sum=a"], ["--where", "a > 1"], ["--cumsum=a"], ["--count-records"]):
        r = harness.run(["--all"] + args, b"a\n1\n")
        harness.ok(r.status == 2 and not r.out and b"--all is for the summary" in r.err, "--all with %s" % args[0],
                   lambda r=r: harness.describe(r))


def check_table():
    data = b"name,n\nshort,1\n%s,2\n%s,3\n" % (b"b" * 24, "größer als ein Feld breit ist".encode())
    gives("a text of the table's width stays whole, a longer one is cut", [], data,
          "column  type    count  missing  invalid  sum                       min    max  mean  shortest  longest\n"
          "name    text        3        0        0       bbbbbbbbbbbbbbbbbbbbbbbb  short               5       31\n"
          "n       number      3        0        0    6                         1      3     2\n")
    gives("the cut", [], data.replace(b"short", b"zz" * 13),
          "column  type    count  missing  invalid  sum                       min                       max  mean  shortest"
          "  longest\n"
          "name    text        3        0        0       bbbbbbbbbbbbbbbbbbbbbbbb  zzzzzzzzzzzzzzzzzzzzzzz…              24"
          "       31\n"
          "n       number      3        0        0    6                         1                         3     2\n")
    gives("a control byte is no reason to write past the cut", [], b"n,t\n1,%s\n" % (b"a" * 21 + b"\x01bc"),
          "column  type    count  missing  invalid  sum                       min                       max  mean  shortest"
          "  longest\n"
          "n       number      1        0        0    1                         1                         1     1\n"
          "t       text        1        0        0         aaaaaaaaaaaaaaaaaaaaa…    aaaaaaaaaaaaaaaaaaaaa…              24"
          "       24\n")
    gives("columns of the table that hold nothing are left out", [], b"t\na\n",
          "column  type  count  missing  invalid  min  max  shortest  longest\n"
          "t       text      1        0        0    a    a         1        1\n")
    gives("csv is not cut", ["--format=csv"], b"t\n%s\n" % (b"a" * 100), HEAD + "t,text,1,0,0,,%s,%s,,100,100\n"
          % ("a" * 100, "a" * 100))
    gives("json", ["--format=json"], b"t,n\n\"a\"\"\xff\",5\n",
          '[{"column": "t", "type": "text", "count": 1, "missing": 0, "invalid": 0, "sum": null, "min": "a\\"\\ufffd", '
          '"max": "a\\"\\ufffd", "mean": null, "shortest": 3, "longest": 3},\n'
          ' {"column": "n", "type": "number", "count": 1, "missing": 0, "invalid": 0, "sum": 5, "min": 5, "max": 5, '
          '"mean": 5, "shortest": null, "longest": null}]\n')


def check_operations():
    data = b"day,n,t\n2025-03-01,5,b\n2024-12-31,10,a\n,7,\n"
    gives("--text-min of dates", ["--text-min=day"], data, "2024-12-31\n")
    gives("--text-max", ["--text-max=day,t", "--max=n"], data, "text_max(day),text_max(t),max(n)\n2025-03-01,b,10\n")
    gives("of numbers, byte by byte", ["--text-max=n", "--max=n", "--text-min=n"], data,
          "text_max(n),max(n),text_min(n)\n7,10,10\n")
    gives("of nothing", ["--text-max=t", "--where", "n > 100"], data, "\n")
    gives("of some records", ["--text-max=t,n", "--where", "day < '2025'"], data, "text_max(t),text_max(n)\na,10\n")
    gives("with other columns' numbers", ["--where", "n >= 7", "--text-min=n,t"], data, "text_min(n),text_min(t)\n10,a\n")
    gives("'*' is the columns of numbers", ["--text-max=*"], data, "7\n")
    gives("as json: text", ["--text-max=t,n", "--format=json"], data, '{"text_max(t)": "b", "text_max(n)": "7"}\n')
    gives("plain: one line", ["--text-max=t"], b't,n\n"a\nb\\",1\n', "a\\nb\\\\\n")
    gives("a number is asked as well: text is an error", ["--text-max=n", "--sum=n", "--invalid=skip", "--format=csv"],
          b"n\n1\n2\n", "text_max(n),sum(n)\n2,3\n")
    r = harness.run(["--text-max=t"], b"t,n\na\0b,1\n")
    harness.ok(r.status == 1 and b"NUL byte" in r.err, "a NUL is an error", lambda: harness.describe(r))


def check_guess():
    """Numbers first, then texts: their column is one of text after all, and the numbers' texts are needed."""
    rng = random.Random(7)
    numbers = [b"%d" % rng.randrange(10 ** 6, 10 ** 9) for _ in range(40000)]
    texts = [b"x%d" % k for k in range(8000)]
    data = b"n,t\n" + b"".join(b"%s,%s\n" % (b"5" if k % 2 else b"17", v) for k, v in enumerate(numbers + texts))
    both = numbers + texts
    want = HEAD + "n,number,48000,0,0,528000,5,17,11,,\nt,text,48000,0,0,,%s,%s,,%d,%d\n" % (
        min(both).decode(), max(both).decode(), min(map(len, both)), max(map(len, both)))
    path = harness.fixture("late-texts.csv", data)
    for chunk, threads in ((100000, 1), (100000, 3), (70000, 7), (None, 2)):
        r = harness.run(["--format=csv", path], chunk=chunk, threads=threads)
        harness.is_((r.status, r.out.decode()), (0, want), "texts behind a file's numbers, chunk %s, threads %d"
                    % (chunk, threads))
    r = harness.run(["--format=csv"], data, chunk=100000, threads=3)
    harness.is_((r.status, r.out.decode()), (0, want), "the same from a pipe")


check_texts()
check_dates()
check_all()
check_table()
check_operations()
check_guess()
check_hints()
harness.done()
