# SPDX-License-Identifier: MIT
"""--select, --drop, --rename and --head: which columns of the records are printed, in which order, under which names, and
how many of the records. Tables are
made of raw fields here, so what must be printed is known without reading CSV."""
import gzip
import random

import harness
from harness import answers, fixture, refuses
from scan_ways import breaks, holds, prints, ways

NAMES = [b"region", b"qty", b'"unit, price"', b"name"]
ROWS = [[b"n", b"2", b"1.50", b"Ann"], [b"s", b"", b'"1,5"', b'"say ""hi"""'], [b"", b" 7 ", b'"two\nlines"', b"x"], [b"w", b"8", b"", b""]]
ENDS = [b"\n", b"\r\n", b"\n", b"\n"]


def table(columns, names=NAMES, rows=None):
    rows = ROWS if rows is None else rows
    return b"".join(b",".join(row[c] for c in columns) + end for row, end in zip([names] + rows, [b"\n"] + ENDS * len(rows)))


DATA = table(range(4))
OR_DROP = ", or --drop for the other column"

SELECTED = [(["--select", "name"], [3]), (["--select", "name,region"], [3, 0]), (["--select=2-4"], [1, 2, 3]),
            (["--select=3-"], [2, 3]), (["--select", '"unit, price"'], [2]), (["--select=qty,qty"], [1, 1]),
            (["--select=qty", "--select=1"], [1, 0]), (["--select=1-4"], [0, 1, 2, 3]),
            (["--drop=qty"], [0, 2, 3]), (["--drop=2-3"], [0, 3]), (["--drop=4", "--drop=1"], [1, 2]),
            (["--drop=name,region,qty"], [2])]


def check_columns():
    for i, (args, columns) in enumerate(SELECTED):
        holds(" ".join(args), args, DATA, prints(table(columns)), ways(i, (1, 5, 16, None)))
    rows = [row for row in ROWS if row[0] in (b"n", b"w")]
    answers("of some records", ["--select=name,qty", "--where=region in ('n', 'w')"], DATA,
            b"name,qty\nAnn,2\n,8\n")
    answers("with new columns", ["--select=name", "--row-number", "--select=region"], b"region,name\nn,a\ns,b\n",
            "name,row_number,region\na,1,n\nb,2,s\n")
    answers("with a running total", ["--cumsum=qty", "--select=region"], b"region,qty\nn,1\ns,2\n",
            "running_sum(qty),region\n1,n\n3,s\n")
    answers("with a computed column", ["--let=x = qty * 2", "--select=x,region"], b"region,qty\nn,1\ns,2\n", "x,region\n2,n\n4,s\n")
    answers("of which it is not printed", ["--let=x = qty * 2", "--select=region", "--where=x > 2"], b"region,qty\nn,1\ns,2\n",
            "region\ns\n")
    answers("all but one, with a computed one", ["--let=x = qty * 2", "--drop=qty"], b"region,qty\nn,1\ns,2\n", "region,x\nn,2\ns,4\n")
    answers("all but the computed one", ["--let=x = qty * 2", "--drop=x", "--where=x > 2"], b"region,qty\nn,1\ns,2\n", "region,qty\ns,2\n")
    answers("no header", ["--header=no", "--select=2,1"], b"1,x\n3,y\n", "x,1\ny,3\n")
    answers("no LF at the end", ["--select=b,a"], b"a,b\n1,2", "b,a\n2,1")
    answers("a header alone", ["--select=b,a"], b"a,b\n", "b,a\n")
    answers("a column without a name", ["--select=2,1"], b"a,\n1,2\n", ",a\n2,1\n")
    answers("words", ["-W", "--select=c,a"], b"a b  c\n1 2  x y\n", "c a\nx_y 1\n")
    answers("words with several blanks", ["-W", "--select=c,a,b"], b" a   b  c\n 1   2  x  y\n", "c a b\nx__y 1 2\n")
    answers("computed words", ["-W", "--let=t = a", "--let=u = upper(c)", "--only"], b" a   b  c\n 1   2  x  y\n", "t u\n1 X__Y\n")
    answers("a delimiter that numbers have, but none is written", ["--quote=none", "-d5", "--select=2"], b"a5b\n152\n", "b\n2\n")
    answers("words, the last column last", ["-W", "--select=a,c"], b"a b  c\n1 2  x y\n", "a c\n1 x_y\n")
    answers("another dialect", ["-d;", "--quote='", "--select=b"], b"a;b\n1;'x;y'\n", "b\n'x;y'\n")
    answers("records with fewer fields", ["--ragged=allow", "--select=b,a"], b"a,b\n1\n2,3\n", "b,a\n,1\n3,2\n")
    answers("records with more fields", ["--ragged=extra", "--drop=a"], b"a,b\n1,2,3\n4,5\n", "b\n2\n5\n")
    answers("files with another order", ["--select=b,a", fixture("ab.csv", b"a,b\n1,2\n"), fixture("ba.csv", b"b,a\n4,3\n")], None,
            "b,a\n2,1\n4,3\n")
    harness.is_(rows, [ROWS[0], ROWS[3]], "the rows of the condition")


def check_names():
    answers("a name", ["--rename=qty=n"], DATA, table(range(4), [b"region", b"n"] + NAMES[2:]))
    answers("a name with a comma", ["--rename=qty=n,m"], DATA, table(range(4), [b"region", b'"n,m"'] + NAMES[2:]))
    answers("of a column by number", ["--rename=:3=p", "--rename=1=r"], DATA, table(range(4), [b"r", b"qty", b"p", b"name"]))
    answers("a quoted name", ["--rename", '"unit, price"=p'], DATA, table(range(4), NAMES[:2] + [b"p", b"name"]))
    answers("names that change places", ["--rename=a=b", "--rename=b=a"], b"a,b\n1,2\n", "b,a\n1,2\n")
    answers("of a selected column", ["--select=b,a", "--rename=a=x"], b"a,b\n1,2\n", "b,x\n2,1\n")
    answers("of a computed column", ["--let=x = a + b", "--rename=x=total"], b"a,b\n1,2\n", "a,b,total\n1,2,3\n")
    answers("options use the old name", ["--rename=a=x", "--where=a > 1"], b"a,b\n1,2\n3,4\n", "x,b\n3,4\n")
    answers("a sign in the new name", ["--rename=a=x=y"], b"a,b\n1,2\n", "x=y,b\n1,2\n")
    holds("records stay as they are", ["--rename=region=r"], DATA, prints(table(range(4), [b"r"] + NAMES[1:])), ways(1))


def check_head():
    data = b"a,b\n1,x\n2,\"two\nlines\"\n\n3,y\r\n4,z\n5,w"
    lines = [b"a,b\n", b"1,x\n", b'2,"two\nlines"\n', b"3,y\r\n", b"4,z\n", b"5,w"]
    for n in (1, 2, 3, 4, 5, 6, 1000):
        holds("--head %d" % n, ["--head", str(n)], data, prints(b"".join(lines[:n + 1])), ways(n))
    holds("of a condition", ["--head=2", "--where=a in (2, 4, 5)"], data, prints(lines[0] + lines[2] + lines[4]), ways(1))
    holds("with new columns", ["--head=2", "--where=a > 1", "--cumsum=a", "--only"], data, prints("running_sum(a)\n2\n5\r\n"), ways(2))
    holds("by group", ["--head=2", "--cumsum=v", "--by=g", "--only"], b"g,v\nx,1\ny,2\nx,3\nx,4\ny,5\ny,6\n", prints("running_sum(v)\n1\n2\n4\n7\n"), ways(2))
    bad = b"a,b\n1,x\n2,y\nx,y\n3\n"
    for n, want in ((1, b"a,b,running_sum(a)\n1,x,1\n"), (2, b"a,b,running_sum(a)\n1,x,1\n2,y,3\n")):
        holds("what follows is not looked at: %d" % n, ["--head=%d" % n, "--cumsum=a"], bad, prints(want), ways(n))
    holds("a fault before the last", ["--head=3", "--cumsum=a"], bad, breaks(b"a,b,running_sum(a)\n1,x,1\n2,y,3\n", "<stdin>:4:", "'x'"), ways(3))
    left = harness.run(["--head=1", "--cumsum=a", "--invalid=skip"], b"a,b\nx,1\n2,3\n" + b"y,0\n" * 9)
    harness.ok(left.out == b"a,b,running_sum(a)\nx,1,0\n" and left.status == 1, "what was left out of the first records counts",
               lambda: harness.describe(left))
    for chunk in (1, 4, None):
        r = harness.run(["--head=2", "--cumsum=a", "--invalid=skip"], b"a,b\nx,1\n2,3\n" + b"y,0\n" * 9, chunk=chunk)
        harness.ok(r.status == 0 and r.out == b"a,b,running_sum(a)\nx,1,0\n2,3,2\n" and b" 1 value of column 'a'" in r.err,
                   "and what follows does not, chunks %s" % chunk, lambda r=r: harness.describe(r))
    path = fixture("cut.csv.gz", gzip.compress(b"a\n" + b"".join(b"%d\n" % i for i in range(200000)))[:-3000])
    answers("a compressed file that is cut", ["--head=2", path], None, "a\n0\n1\n")
    rng = random.Random(9)
    rows = [b"%d,%s\n" % (rng.randrange(100), b"x" * rng.randrange(30)) for _ in range(20000)]
    for n in (1, 63, 64, 65, 5000, 9999):
        kept = [row for row in rows if int(row.split(b",")[0]) < 50][:n]
        holds("many records: %d" % n, ["--head=%d" % n, "--where=v < 50"], b"v,t\n" + b"".join(rows), prints(b"v,t\n" + b"".join(kept)),
              ways(n, (1000, 65536, None)))


def check_refused():
    for args, word in ((["--select=nosuch"], "nosuch"), (["--drop=nosuch"], "nosuch"), (["--select=5"], "5"), (["--select=*"], "'*'"),
                       (["--drop=*"], "'*'"), (["--select=a", "--drop=b"], "not both"), (["--select=a", "--sum=a"], "not both"),
                       (["--select=a", "--only"], "--only"), (["--select="], "an item is empty"), (["--rename=a"], "OLD=NEW"), (["--rename==b"], "OLD=NEW"),
                       (["--rename=c=d"], "'c'"), (["--rename=1-2=d"], "one column"), (["--rename=a=b", "--sum=a"], "none of the columns that are printed: sum(a)"),
                       (["--rename=a,b=c"], "one column"),
                       (["--select=a", "--all"], "--all"), (["--head=0"], "--head"), (["--head=x"], "--head"), (["--head=1k"], "--head"),
                       (["--head=2", "--sum=a"], "--head is for printed records")):
        refuses(" ".join(args), args, b"a,b\n1,2\n", 2, word)
    for args, name, remedy in ((["--rename=a=b"], "b", OR_DROP), (["--rename=a=b", "--where=a > 0", "--tail=1"], "b", OR_DROP),
                               (["--rename=a=x", "--rename=b=x"], "x", OR_DROP), (["--select=b,a", "--rename=a=b"], "b", ""),
                               (["--let=d=a+b", "--rename=a=d"], "d", OR_DROP), (["--let=d=a+b", "--rename=d=a"], "a", OR_DROP),
                               (["--cumsum=a", "--rename=b=running_sum(a)"], "running_sum(a)", OR_DROP)):
        r = harness.run(args, b"a,b\n1,2\n")
        want = ("gpustat: --rename: there would be two columns '%s' (try another name%s)\nTry 'gpustat --help'.\n" % (name, remedy)).encode()
        harness.ok((r.status, r.out, r.err) == (2, b"", want), "two columns of a name: %s" % " ".join(args), lambda: harness.describe(r))
    answers("one of them is dropped", ["--rename=a=b", "--drop=b"], b"a,b\n1,2\n", "b\n1\n")
    answers("one of them is not selected", ["--select=a", "--rename=a=b"], b"a,b\n1,2\n", "b\n1\n")
    answers("a column that is printed twice", ["--select=a,a", "--rename=a=x"], b"a,b\n1,2\n", "x,x\n1,1\n")
    answers("the input has two of another name", ["--rename=a=x"], b"a,b,b\n1,2,3\n", "x,b,b\n1,2,3\n")
    refuses("no header to rename in", ["--rename=1=x", "--header=no"], b"1,2\n", 2, "no header")


def check_random():
    for seed in range(60):
        rng = random.Random(seed)
        n = rng.randrange(1, 8)
        names = [b"c%d" % i for i in range(n)]
        values = (b"", b"1", b"x", b'"a,b"', b'"q""q"', b'"l\nl"', b"  ", b"longer text that is copied in pieces, no" .replace(b",", b";"))
        rows = [[rng.choice(values) for _ in range(n)] for _ in range(rng.choice((1, 63, 64, 65, 300)))]
        rows = [row if any(row) or n > 1 else [b"z"] for row in rows]
        data = table(range(n), names, rows)
        if rng.randrange(2):
            columns = [rng.randrange(n) for _ in range(rng.randrange(1, 5))]
            args = ["--select", ",".join(rng.choice(("c%d" % c, ":%d" % (c + 1))) for c in columns)]
        else:
            columns = sorted(rng.sample(range(n), rng.randrange(1, n + 1)))
            args = ["--drop", ",".join("c%d" % c for c in range(n) if c not in columns)]
            if len(columns) == n:
                args = ["--select", "1-%d" % n]
        holds("random %d: %s" % (seed, " ".join(args)), args + ["--header=yes"], data, prints(table(columns, names, rows)), ways(seed, (1, 7, 64, None)))


check_columns()
check_names()
check_head()
check_refused()
check_random()
harness.done()
