# SPDX-License-Identifier: MIT
"""--sort of records, with --top: against Python's sorted(), whose keys are Decimals and bytes, from files and pipes, in any chunks, on
any number of threads, and through temporary files."""
import decimal
import fractions
import functools
import gzip
import os
import random
import re

import harness
from harness import answers, fixture, is_, refuses
from scan_ways import holds, prints, ways

EXACT = decimal.Context(prec=2000)
NUMBER = re.compile(rb"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*\Z")


def compare(a, b, descending):
    """Two values: numbers, then texts, or turned around; what is missing comes last."""
    missing = [not v.strip(b" \t") for v in (a, b)]
    if any(missing):
        return missing[0] - missing[1]
    a, b = ((0, decimal.Decimal(v.decode().strip(" \t"), EXACT), b"") if NUMBER.match(v) else (1, decimal.Decimal(0), v) for v in (a, b))
    order = (a > b) - (a < b)
    return -order if descending else order


def in_order(rows, keys):
    """rows: tuples of a record and the values of its keys. keys: whether each descends."""
    def order(x, y):
        return next((o for o in (compare(a, b, d) for a, b, d in zip(x[1], y[1], keys)) if o), 0)
    return [row[0] for row in sorted(rows, key=functools.cmp_to_key(order))]


DATA = b"name,price,k\nb,2.5,x\na,10,y\nc,,x\nd,2.50,y\ne,-3,x\nf,abc,y\n"


def lines(*names):
    rows = {row[:1]: row + b"\n" for row in DATA.split(b"\n")[1:-1]}
    return b"name,price,k\n" + b"".join(rows[n.encode()] for n in names)


def check_keys():
    for i, (sort, order) in enumerate((("price", "ebdafc"), ("-price", "fabdec"), ("name", "abcdef"), ("-name", "fedcba"), ("k", "bceadf"),
                                       ("-k", "adfbce"), ("k,-price", "becfad"), ("-k,price", "dafebc"), ("k,price,-name", "ebcdaf"),
                                       ("3,-2", "becfad"), ("price,name", "ebdafc"), (" - k , price", "dafebc"), ('"price"', "ebdafc"),
                                       ("length(name),-name", "fedcba"), ("if(k = \"x\", 2, 1)", "adfbce"), ("upper(name)", "abcdef"))):
        holds("--sort %s" % sort, ["--sort=" + sort], DATA, prints(lines(*order)), ways(i))
        holds("--sort %s --top 4" % sort, ["--sort=" + sort, "--top=4"], DATA, prints(lines(*order[:4])), ways(i + 1))
    holds("a number computed", ["--sort=price * -1", "--where=price is number"], DATA, prints(lines(*"abde")), ways(1))
    holds("a column of --let", ["--let=q = 0 - price", "--sort=q", "--where=price is number", "--drop=q"], DATA, prints(lines(*"abde")), ways(2))
    holds("an aggregate", ["--let=s = price / sum(price)", "--sort=s", "--drop=s", "--where=price is number"], DATA, prints(lines(*"ebda")), ways(3))
    holds("numbers of any length", ["-N", "--sort=1"],
          b"1e30\n-1\n1000000000000000000000000000001\n1000000000000000000000000000000.5\n0.1\n0.10000000000000000000000000000000000001\n-0\n0\n-1e-30\n",
          prints("-1\n-1e-30\n-0\n0\n0.1\n0.10000000000000000000000000000000000001\n1e30\n1000000000000000000000000000000.5\n"
                 "1000000000000000000000000000001\n"), ways(4))
    holds("texts byte by byte", ["-N", "--sort=1"], b"b\nab\na\n\xc3\xa9\nB\na\x01\naa\n\n", prints(b"B\na\na\x01\naa\nab\nb\n\xc3\xa9\n\n"), ways(5))
    holds("a name with a sign", ["--sort=-x"], b"-x,x\n1,2\n0,3\n", prints("-x,x\n0,3\n1,2\n"), ways(6))
    holds("... and descending", ["--sort=--x"], b"-x,x\n1,2\n0,3\n2,0\n", prints("-x,x\n2,0\n1,2\n0,3\n"), ways(6))


def check_combined():
    holds("columns that are printed", ["--sort=-price", "--select=name", "--where=price is number"], DATA, prints("name\na\nb\nd\ne\n"), ways(1))
    holds("totals are of the input's order", ["--sort=-name", "--drop=n", "--cumsum=n"], b"name,n\na,1\nc,2\nb,3\n",
          prints("name,running_sum(n)\nc,3\nb,6\na,1\n"), ways(2))
    holds("... also of the first", ["--sort=-name", "--cumsum=n", "--top=1"], b"name,n\na,1\nc,2\nb,3\n", prints("name,n,running_sum(n)\nc,2,3\n"), ways(3))
    holds("totals by group", ["--by=g", "--sort=n", "--cumsum=n"], b"g,n\na,3\nb,2\na,1\n",
          prints("g,n,running_sum(n)\na,1,4\nb,2,2\na,3,3\n"), ways(4))
    holds("renamed", ["--sort=-name", "--rename=name=N", "--top=1"], DATA, prints("N,price,k\nf,abc,y\n"), ways(5))
    holds("no header", ["-N", "--sort=-1"], b"1\n3\n2", prints("3\n2\n1\n"), ways(6))
    holds("a header alone", ["-H", "--sort=a"], b"a,b\n", prints("a,b\n"), ways(7))
    holds("CRLF", ["--sort=-a"], b"a,b\r\n1,x\r\n2,y\r\n", prints("a,b\r\n2,y\r\n1,x\r\n"), ways(1))
    holds("decimal comma", ["-d;", "--decimal=,", "--sort=a"], b"a;b\n10,5;x\n9;y\n", prints("a;b\n9;y\n10,5;x\n"), ways(2))
    holds("amounts", ["--money", "--sort=-a"], b"a\n$5\n(7)\n$10\n", prints("a\n$10\n$5\n(7)\n"), ways(3))
    holds("spellings of what is missing", ["--missing=-99,NA", "--sort=a"], b"a\n-99\n4\nNA\n1\n", prints("a\n1\n4\n-99\nNA\n"), ways(4))
    holds("words", ["-W", "--sort=-b"], b"a b\n1  2\n 3   4\n", prints("a b\n 3   4\n1  2\n"), ways(5))
    holds("records with fewer fields", ["--ragged=allow", "--sort=b"], b"a,b\n1\n3,4\n5,2\n", prints("a,b\n5,2\n3,4\n1,\n"), ways(6))
    ab, ba = fixture("ab.csv", b"a,b\n1,9\n3,4"), fixture("ba.csv", b"b,a\n6,5\n8,2\n")
    answers("columns by name, of several files", ["--select=b,a", "--sort=a", ab, ba], None, "b,a\n9,1\n8,2\n4,3\n6,5\n")
    packed = fixture("t.csv.gz", gzip.compress(b"a\n" + b"".join(b"%d\n" % (i * 7919 % 100003) for i in range(100003))))
    answers("compressed", ["--sort=a", packed], None, "a\n" + "".join("%d\n" % i for i in range(100003)))
    answers("its first", ["--sort=-a", "--top=2", packed], None, "a\n100002\n100001\n")
    harness.ok(harness.run(["--sort=name", "--cumsum=n", "--svg=-"], b"name,n\na,1\nb,2\n").out.startswith(b"<svg"), "a line")
    for args, want in ((["--by=k", "--sort=-count"], "k,count\nx,2\ny,1\n"), (["--by=k", "--sort=k", "--top=1"], "k,count\nx,2\n"),
                       (["--by=k", "--sum=v", "--sort=-sum"], "k,sum(v)\nx,4\ny,2\n"),
                       (["--by=:1", "--sort=-k", "--top=1"], "k,count\ny,1\n"),
                       (["--by=1-", "--sort=-v", "--top=1"], "k,v,count\nx,3,1\n"),
                       (["--by=left(k, 1), 2", "--sort=-v", "--top=1"], '"left(k, 1)",v,count\nx,3,1\n'),
                       (["--header=no", "--by=1-2", "--sort=-col2", "--top=1"], "col1,col2,count\nk,v,1\n"),
                       (["--by=k", "--sort=-count-records", "--top=1"], "k,count\nx,2\n")):
        answers("results of groups: " + " ".join(args), args, b"k,v\nx,1\ny,2\nx,3\n", want)
    for args, want in ((["--by=round(k, 1)", "--sort=n", "--top=1"], "k,n\n1,3\n2,4\n"),
                       (["--by=col1", "--sort=col2", "--top=1"], "k,n\n1,3\n2,4\n"),
                       (['--by="k"', "--sort=-n", "--top=1"], "k,n\n1,5\n2,4\n")):
        answers("records of groups: " + " ".join(args), args, b"k,n\n1,5\n2,4\n1,3\n", want)
    is_(harness.run(["--sort=-b", "--explain"], b"a,b\n1,2\n").out.split(b"\n")[4:6], [b"reads:   b (to sort by)", b"prints:  each record, sorted"],
        "--explain")


GROUPS = b"k,price,n\nx,5,1\ny,7,2\nx,9,3\ny,7,4\nx,5,5\nz,1,6\n,3,7\ny,8,8\n,4,9\n"


def check_groups():
    rows = GROUPS.splitlines(True)
    for i, (args, order) in enumerate(((["--by=k", "--sort=-price", "--top=1"], "3896"), (["--by=k", "--sort=-price", "--top=2"], "3821976"),
                                       (["--by=k", "--sort=k,-price", "--top=2"], "3182697"), (["--by=k,price", "--sort=n", "--top=1"], "123" "6789"),
                                       (["--by=upper(k)", "--sort=-n", "--top=1"], "9865"), (["--unique=k"], "1267"),
                                       (["--unique=k", "--sort=-price"], "3896"), (["--unique=k", "--sort=-price", "--top=2"], "38"),
                                       (["--unique=k,price"], "1236789"), (["--unique=1", "--where=n > 2"], "3467"), (["--unique=price % 2"], "18"),
                                       (["--unique=k", "--top=1"], "1"))):
        holds(" ".join(args), args, GROUPS, prints(b"".join([rows[0]] + [rows[int(n)] for n in order])), ways(i))
    holds("each with the total of its group", ["--by=k", "--cumsum=n", "--sort=-n", "--top=1", "--only"], GROUPS,
          prints("running_sum(n)\n16\n14\n6\n9\n"), ways(1))
    holds("some columns", ["--by=k", "--sort=-price", "--top=1", "--select=n"], GROUPS, prints("n\n3\n8\n9\n6\n"), ways(2))
    holds("values in quotes are the same", ["--unique=a"], b'a,b\n"x",1\nx,2\n"x ",3\n', prints(b'a,b\n"x",1\n"x ",3\n'), ways(3))
    rng = random.Random(8)
    many = [(b"%d,%d\n" % (rng.randrange(20000), rng.randrange(1000))) for _ in range(60000)]
    path, order = fixture("groups.csv", b"k,v\n" + b"".join(many)), sorted(many, key=lambda r: -int(r.split(b",")[1]))
    for args, rows, most in ((["--by=k", "--sort=-v", "--top=2"], order, 2), (["--unique=k"], many, 1)):
        seen, want = {}, [b"k,v\n"]
        for row in rows:
            n = seen[row.split(b",")[0]] = seen.get(row.split(b",")[0], 0) + 1
            want += [row] * (n <= most)
        for more in ([], ["--memory=16M"]):
            harness.agrees("many: " + " ".join(args + more), args + more + [path], None, harness.exactly(b"".join(want)), [(100000, 3), (None, 2), (None, 1)])
    # groups that outgrow --memory: nothing is printed, not even the header; and where records alone do, all of it
    large = fixture("large.csv", b"k,v\n" + b"".join(b"%d,%s\n" % (i * 7919 % 100003, b"x" * (i % 50)) for i in range(100003)))
    for args in (["--unique=k"], ["--by=k", "--sort=-v", "--top=2"], ["--unique=k", "--sort=v"]):
        refuses("too many groups: " + " ".join(args), args + ["--memory=2M", large], None, 1, "--memory")
    wide = [b"%d,%d,%s\n" % (i * 7919 % 3001, i, b"y" * 100) for i in range(60000)]
    seen, want = {}, [b"k,v,t\n"]
    for row in sorted(wide, key=lambda r: int(r.split(b",")[1])):
        seen[row.split(b",")[0]] = seen.get(row.split(b",")[0], 0) + 1
        want += [row] * (seen[row.split(b",")[0]] <= 15)
    wide = fixture("wide.csv", b"k,v,t\n" + b"".join(wide))
    for memory in ("2M", "4M", "64M"):
        harness.agrees("groups by temporary files, --memory " + memory, ["--by=k", "--sort=v,t", "--top=15", "--memory=" + memory, wide], None,
                       harness.exactly(b"".join(want)), [(100000, 3), (None, 2), (None, 1)])
    for args, word in ((["--unique=k", "--sum=n"], "--unique"), (["--unique=k", "--head=2"], "--top N"), (["--unique=*"], "*"),
                       (["--unique=k", "--unique=n"], "twice"), (["--by=k", "--sort=price"], "price"), (["--unique=nope"], "nope"),
                       (["--by=k", "--unique=n", "--sort=n", "--top=2"], "--unique")):
        refuses("usage: " + " ".join(args), args, GROUPS, 2, word)


def check_faults():
    refuses("nothing is printed before a fault", ["--sort=a"], b"a,b\n1,2\n3\n", 1, "<stdin>:3")
    refuses("a computed number that is none", ["--sort=a * 2"], b"a\n1\nx\n", 1, "<stdin>:3", "'x'", "a * 2")
    r = harness.run(["--sort=-(a * 2)", "--invalid=skip"], b"a\n1\nx\n3\n")
    is_((r.status, r.out, r.err.count(b"\n")), (0, b"a\n3\n1\nx\n", 1), "... is left out as a key")
    refuses("an aggregate alone", ["--sort=sum(a)"], b"a\n1\n", 2, "--let 'NAME=sum(a)'")
    refuses("... beside a column", ["--by=k", "--sort=-sum(n),n", "--top=2"], GROUPS, 2, "--let 'NAME=sum(n)'")
    refuses("a column that groups do not have", ["--by=k", "--sort=price"], GROUPS, 2, "--top N", "max(price)")
    refuses("... of one result", ["--by=k", "--sum=n", "--sort=price"], GROUPS, 2, "'price' is not one result: k, sum(n)")
    refuses("an unknown column", ["--sort=nope"], DATA, 2, "nope")
    big = fixture("big.csv", b"v\n" + b"".join(b"%d\n" % i for i in range(50000)))
    had, os.environ["TMPDIR"] = os.environ.get("TMPDIR"), os.path.join(harness.folder(), "nowhere")
    refuses("no folder for temporary files", ["--sort=v", "--memory=100K", big], None, 1, "temporary file", "TMPDIR")
    harness.settle()
    del os.environ["TMPDIR"]
    if had is not None:
        os.environ["TMPDIR"] = had
    for args, word in ((["--sort="], "''"), (["--sort=-"], "'-'"), (["--sort=a,"], "'a,'"), (["--sort=*"], "*"), (["--top=2"], "--sort"),
                       (["--sort=a", "--head=2"], "--top N"), (["--sort=a", "--tail=2"], "--top N"), (["--sort=a", "--sample=2"], "--top N"),
                       (["--sort=a", "--lead=a"], "--lead"), (["--sort=a", "--sum=a"], "--by"),
                       (["--sort=a", "--partial"], "--partial"), (["--sort=a", "--top=0"], "--top"), (["--sort=a", "--all"], "--all"),
                       (["--where=a > 1", "--top=2"], "--top"), (["--sort=a", "--cumsum=a", "--save-state=s"], "--sort")):
        refuses("usage: " + " ".join(args), args, b"a,b\n1,2\n", 2, word)


NAMES = ("k", "a,b", "p(q", "-m", "x y", "7up", "c:d", 'q"r', "count2", "e-f", "*g", "2")


def spell(rng, names, c):
    """A column by its name, in quotes where it has signs, or by its place."""
    plain = re.fullmatch("[a-z][a-z0-9]*", names[c])
    return rng.choice([names[c]] * bool(plain) + ['"%s"' % names[c].replace('"', '""'), ":%d" % (c + 1)] + ["%d" % (c + 1)] * ("2" not in names))


def check_names():
    """Whether --by with --sort and --top is of groups or of records, whatever the columns are called, and however they are named."""
    for seed in range(250):
        rng = random.Random(seed)
        has_header = rng.randrange(5) > 0
        names = rng.sample(NAMES, 4)
        rows = [[str(rng.randrange(4)) for _ in names] for _ in range(rng.choice((1, 9, 40)))]
        by = rng.sample(range(4), rng.choice((1, 1, 2)))
        keys = [rng.choice([*by, *range(4), "count"]) for _ in range(rng.choice((1, 1, 2, 3)))]
        down, top = [rng.random() < 0.5 for _ in keys], rng.choice((1, 2, 3))
        name = (lambda c: spell(rng, names, c)) if has_header else (lambda c: rng.choice((":%d", "%d", "col%d")) % (c + 1))
        args = ["--headers" if has_header else "--no-headers", "--by=" + ",".join(map(name, by)), "--top=%d" % top, "--sort=" + ",".join(
            "-" * d + (key if key == "count" else name(key)) for d, key in zip(down, keys))]
        cells = names if has_header else ["col%d" % (c + 1) for c in range(4)]
        quote = lambda v: '"%s"' % v.replace('"', '""') if set(v) & set('",') else v
        data = "".join(",".join(map(quote, row)) + "\n" for row in [cells] * has_header + rows).encode()
        if all(key == "count" or key in by for key in keys):
            groups = {}
            for row in rows:
                groups.setdefault(tuple(row[c] for c in by), []).append(row)
            table = [([*key, str(len(of))], [len(of) if k == "count" else int(of[0][k]) for k in keys]) for key, of in groups.items()]
            ordered = in_order([(row, [b"%d" % v for v in values]) for row, values in table], down)[:top]
            want = [[cells[c] for c in by] + ["count"]] + ordered
        elif "count" in keys:
            refuses("names %d: %s" % (seed, " ".join(args)), args, data, 2, "count")
            continue
        else:
            ordered, seen = in_order([(row, [row[k].encode() for k in keys]) for row in rows], down), {}
            want = [cells] * has_header
            for row in ordered:
                of = seen.setdefault(tuple(row[c] for c in by), [])
                of.append(row)
                want += [row] * (len(of) <= top)
        holds("names %d: %s" % (seed, " ".join(args)), args, data, prints("".join(",".join(map(quote, row)) + "\n" for row in want)), ways(seed, (1, 5, None)))


def check_aggregates():
    """Keys that have an aggregate of all records, or of the record's group, against Fractions."""
    for seed in range(60):
        rng = random.Random(seed)
        rows = [(rng.choice("uvw"), rng.randrange(1, 30), i) for i in range(rng.choice((1, 7, 60)))]
        data = b"k,x,i\n" + b"".join(b"%s,%d,%d\n" % (k.encode(), x, i) for k, x, i in rows)
        by, descends, top = rng.randrange(2), rng.randrange(2), rng.choice((0, 0, 1, 2))
        of = {k: [x for j, x, _ in rows if j == k or not by] for k, _, _ in rows}
        text, key = rng.choice((("x / sum(x)", lambda k, x: fractions.Fraction(x, sum(of[k]))), ("abs(x - mean(x))", lambda k, x: abs(x - fractions.Fraction(sum(of[k]), len(of[k])))),
                                ("max(x) - x", lambda k, x: max(of[k]) - x), ("sum(x) * 100 + x", lambda k, x: sum(of[k]) * 100 + x)))
        args = ["--sort=" + "-" * descends + ("(%s)" % text if descends else text) + rng.choice(("", ",i"))] + ["--by=k"] * by + ["--top=%d" % top] * (top > 0)
        want, seen = [], {}
        for k, x, i in sorted(rows, key=lambda r: key(r[0], r[1]), reverse=descends == 1):
            seen[k if by else 0] = seen.get(k if by else 0, 0) + 1
            want += [b"%s,%d,%d\n" % (k.encode(), x, i)] * (not top or seen[k if by else 0] <= top)
        holds("aggregates %d: %s" % (seed, " ".join(args)), args, data, prints(b"k,x,i\n" + b"".join(want)), ways(seed, (1, 9, None)))
    answers("beside what --unique tells apart", ["--unique=k", "--sort=-n / sum(n)"], GROUPS, "k,price,n\n,4,9\ny,8,8\nz,1,6\nx,5,5\n")
    answers("beside a running total by group", ["--by=k", "--sort=-n / sum(n)", "--cumsum=n", "--top=1", "--only"], GROUPS, "running_sum(n)\n6\n14\n16\n9\n")
    answers("a key that is computed, by its name", ["--by=g = upper(k)", "--sort=-g,-n", "--top=1"], GROUPS, "k,price,n\nz,1,6\ny,8,8\nx,5,5\n,4,9\n")
    for args, want in ((["--by=1", "--sort=-1"], "k,count\nz,1\ny,3\nx,3\n,2\n"), (["--by=1", "--sum=3", "--sort=-3", "--top=1"], "k,sum(n)\n,16\n"),
                       (["--by=k", "--sort=k,-sum(n) / count()"], "k,count\nx,3\ny,3\nz,1\n,2\n"),
                       (["--by=k", "--where=price = max(price)"], "k,price,n\nx,9,3\nz,1,6\ny,8,8\n,4,9\n")):
        answers("groups, or not: " + " ".join(args), args, GROUPS, want)
    answers("a result beside two keys", ["--by=k,price", "--max=n", "--sort=-max", "--top=1"], GROUPS, "k,price,max(n)\n,4,9\n")
    answers("a column that is called as an aggregate", ["--by=k", "--where=`sum(x)` > 1"], b"k,sum(x)\na,1\nb,2\nb,3\n", "k,count\nb,2\n")
    answers("... sorted by", ["--by=k", "--sort=-`sum(x)` / 2", "--top=1"], b"k,sum(x)\na,1\nb,2\nb,3\n", "k,sum(x)\nb,3\na,1\n")


def value(rng):
    kind = rng.randrange(20)
    if kind < 2:
        return rng.choice((b"", b"  "))
    if kind < 10:
        return b"%s%d.%0*d" % (rng.choice((b"", b"-")), rng.randrange(100), rng.randrange(1, 5), rng.randrange(10))
    if kind < 12:
        return b"%de%d" % (rng.randrange(-9, 9), rng.randrange(-30, 30))
    if kind < 14:
        return b"-" * rng.randrange(2) + b"".join(rng.choice((b"0", b"1", b"9")) for _ in range(rng.randrange(1, 60))) + rng.choice((b"", b".5", b".50"))
    if kind < 15:
        return rng.choice((b"0", b"-0", b"0.00", b"1", b"1.0", b"01", b"+1", b" 1", b"1 "))
    return b"".join(rng.choice((b"a", b"b", b'"', b",", b"\n", b" ", b"\x01", b"\xc3\xa9")) for _ in range(rng.randrange(1, 40)))


def check_random():
    for seed in range(120):
        rng = random.Random(seed)
        n = rng.choice((0, 1, 2, 5, 63, 64, 65, 300, 3000))
        few = [value(rng) for _ in range(5)]
        rows = []
        for i in range(n):
            values = [rng.choice(few) if rng.randrange(3) == 0 else value(rng) for _ in range(3)]
            fields = [b"%d" % i] + [b'"' + v.replace(b'"', b'""') + b'"' if set(v) & set(b'",\n') or rng.randrange(5) == 0 else v for v in values]
            rows.append((b",".join(fields) + rng.choice((b"\n", b"\n", b"\r\n")), values))
        keys = [(rng.randrange(3), rng.random() < 0.5) for _ in range(rng.randrange(1, 4))]
        want = in_order([(record, [values[c] for c, _ in keys]) for record, values in rows], [d for _, d in keys])
        args = ["-H", "--sort=" + ",".join("-" * d + "abc"[c] for c, d in keys)]
        kind = rng.randrange(6)
        if kind < 2:
            by = rng.randrange(3)
            n_each = 1 if kind else rng.choice((1, 2, 5))
            if kind and rng.randrange(2):
                want, args = [record for record, _ in rows], args[:1]
            values, seen = {record: v[by] for record, v in rows}, {}
            want = [r for r in want if seen.setdefault(values[r], []).append(r) or len(seen[values[r]]) <= n_each]
            if not kind:
                args[1] += ",i"     # a key of --by alone would sort counts
            args += ["--unique=" + "abc"[by]] if kind else ["--by=" + "abc"[by], "--top=%d" % n_each]
        elif kind < 4:
            top = rng.choice((1, 3, 64, 2000))
            args, want = args + ["--top=%d" % top], want[:top]
        memory = rng.choice(([], [], ["--memory=100K"], ["--memory=400K"])) if kind > 1 else rng.choice(([], ["--memory=2M"]))
        holds("random %d: %s" % (seed, " ".join(args + memory)), args + memory, b"i,a,b,c\n" + b"".join(r for r, _ in rows),
              prints(b"i,a,b,c\n" + b"".join(want)), ways(seed, (1, 7, 1000, None) if n < 1000 else (777, None)))


def check_many():
    """So many that there are buckets, of numbers and texts with few or many values, or one that most have."""
    rng = random.Random(43)
    n = 60000
    for name, make in (("many numbers", lambda: b"%d.%02d" % (rng.randrange(10 ** 6), rng.randrange(100))), ("few", lambda: b"%d" % rng.randrange(3)),
                       ("one", lambda: b"7" if rng.randrange(50) else b"%d" % rng.randrange(20)), ("ids", lambda: b"id%010d" % rng.randrange(n)),
                       ("long texts", lambda: b"https://example.com/a/page/with/a/name/%d" % rng.randrange(n)),
                       ("long numbers", lambda: b"1234567890123456789012345%d" % rng.randrange(n))):
        values = [make() for _ in range(n)]
        rows = [(b"%d,%s\n" % (i, v), [v]) for i, v in enumerate(values)]
        data = b"i,v\n" + b"".join(r for r, _ in rows)
        key = {v: (0, decimal.Decimal(v.decode()), b"") if NUMBER.match(v) else (1, decimal.Decimal(0), v) for v in values}
        path = fixture("many.csv", data)
        for descending in (False, True):
            order = sorted(rows, key=lambda r: key[r[1][0]], reverse=descending) if not descending else \
                sorted(reversed(rows), key=lambda r: key[r[1][0]])[::-1]
            want = b"i,v\n" + b"".join(r for r, _ in order)
            for more, part in (([], want), (["--memory=2M"], want), (["--top=10000"], b"".join(want.splitlines(True)[:10001])),
                               (["--top=5", "--memory=2M"], b"".join(want.splitlines(True)[:6]))):
                args = ["--sort=" + "-" * descending + "v"] + more
                harness.agrees("%s: %s" % (name, " ".join(args)), args + [path], None, harness.exactly(part), [(100000, 3), (None, 2), (None, 1)])


check_keys()
check_combined()
check_groups()
check_names()
check_aggregates()
check_faults()
check_random()
check_many()
harness.done()
