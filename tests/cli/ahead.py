# SPDX-License-Identifier: MIT
"""--lead, fields of later records, and --rank. The models are a list of records and an index, and a sorted list.

Records that wait for later ones are the program's only state behind the write chain, so every case runs with chunks of a
few bytes and several threads, and some between pipes.
"""
import os
import random
import select
import subprocess
import time

import harness
from harness import answers, refuses
from scan_ways import breaks, holds, prints, ways


def lead(rows, column, n, keys=()):
    """The field of each row's n-th next in its group. rows: lists of raw fields."""
    out = [b""] * len(rows)
    for i, row in enumerate(rows):
        later = [k for k in range(i + 1, len(rows)) if all(rows[k][c] == row[c] for c in keys)]
        if len(later) >= n:
            out[i] = rows[later[n - 1]][column]
    return out


def check_by_hand():
    text = b"t,v\n1,10\n2,x\n3,\n4,40\n"
    answers("the next field", ["--lead=v"], text, "t,v,lead(v)\n1,10,x\n2,x,\n3,,40\n4,40,\n")
    answers("two later", ["--lead=v:2"], text, "t,v,lead(v:2)\n1,10,\n2,x,40\n3,,\n4,40,\n")
    answers("further than there are records", ["--lead=v:4", "--lead=v:1000000000000"], text,
            "t,v,lead(v:4),lead(v:1000000000000)\n1,10,,\n2,x,,\n3,,,\n4,40,,\n")
    answers("as far as the last record", ["--lead=t:3", "--only"], text, "lead(t:3)\n4\n\n\n\n")
    answers("several columns, several N", ["--lead=t,v:2", "--cumsum=t", "--lead=v"], text,
            "t,v,lead(t:2),lead(v:2),running_sum(t),lead(v)\n1,10,3,,1,x\n2,x,4,40,3,\n3,,,,6,40\n4,40,,,10,\n")
    answers("of records that are printed", ["--lead=t", "--where=t != 2"], text, "t,v,lead(t)\n1,10,3\n3,,4\n4,40,\n")
    answers("the last of --head has no next", ["--lead=t", "--head=2"], text, "t,v,lead(t)\n1,10,2\n2,x,\n")
    answers("with --select", ["--select=v", "--lead=t"], text, "v,lead(t)\n10,2\nx,3\n,4\n40,\n")
    answers("of a computed column", ["--let=x = t * 1.5", "--lead=x"], text,
            "t,v,x,lead(x)\n1,10,1.5,3.0\n2,x,3.0,4.5\n3,,4.5,6.0\n4,40,6.0,\n")
    answers("a name with a colon", ["--lead=a:b"], b"a:b,c\n1,2\n3,4\n", "a:b,c,lead(a:b)\n1,2,3\n3,4,\n")
    answers("a position", ["--lead=:2:1"], b"a,b\n1,2\n3,4\n", "a,b,lead(b:1)\n1,2,4\n3,4,\n")
    answers("no record", ["--lead=v"], b"t,v\n", "t,v,lead(v)\n")
    answers("one record", ["--lead=v"], b"t,v\n1,2", "t,v,lead(v)\n1,2,")
    answers("only fields of text, the last of none, no line end", ["--lead=v", "--only"], b"v\nx\ny", "lead(v)\ny\n")
    answers("line ends of both kinds", ["--lead=v"], b"v\r\n1\r\n2\n3\r\n", "v,lead(v)\r\n1,2\r\n2,3\n3,\r\n")
    answers("another delimiter and decimal point", ["-d;", "--decimal=,", "--lead=v"], b"v;t\n1,5;x\n2,25;y\n",
            "v;t;lead(v)\n1,5;x;2,25\n2,25;y;\n")
    answers("--ragged allow: an empty field", ["--lead=b", "--ragged=allow"], b"a,b\n1,2\n3\n4,5,6\n",
            "a,b,lead(b)\n1,2,\n3,,5\n4,5,\n")
    answers("words", ["--whitespace", "--lead=v"], b"t v\n1  ab\n2  cd\n", "t v lead(v)\n1  ab cd\n2  cd _\n")
    answers("a byte offset beside it", ["--byte-offset", "--lead=v"], b"v\n1\n2\n", "v,byte_offset,lead(v)\n1,2,2\n2,4,\n")


def check_groups():
    text = b"g,v\nx,1\ny,2\nx,3\nz,4\ny,5\nx,6\n"
    answers("by group", ["--lead=v", "--by=g"], text, "g,v,lead(v)\nx,1,3\ny,2,5\nx,3,6\nz,4,\ny,5,\nx,6,\n")
    answers("two later by group, and beside it a total", ["--lead=v:2", "--by=g", "--cumsum=v", "--only"], text,
            "lead(v:2),running_sum(v)\n6,1\n,2\n,4\n,4\n,7\n,10\n")
    answers("of printed ones by group", ["--lead=v", "--by=g", "--where=v > 1", "--only"], text, "lead(v)\n5\n6\n\n\n\n")
    for test in ("v > 5", "v < 0", "v > 1 and g = 'x'"):
        name, matched = "by group, beside --offsets %s" % test, {}
        offsets = []
        for g, v in ((b"x", 1), (b"y", 2), (b"x", 3), (b"z", 4), (b"y", 5), (b"x", 6)):
            is_in = {"v > 5": v > 5, "v < 0": v < 0}.get(test, v > 1 and g == b"x")
            offsets.append(b"%d" % matched.setdefault(g, 0) if is_in else b"")
            matched[g] = matched.setdefault(g, 0) + is_in
        want = b"".join(b"%s,%s\n" % pair for pair in zip((b"3", b"5", b"6", b"", b"", b""), offsets))
        args = ["--lead=v", "--by=g", "--only", "--offsets=" + test]
        holds(name, args, text, prints(b"lead(v),offset\n" + want), ways(len(test), (1, 5, 8, 11, None)))
    answers("a key of two columns", ["--lead=c", "--by=a,b"], b"a,b,c\n1,2,x\n1,3,y\n1,2,z\n", "a,b,c,lead(c)\n1,2,x,z\n1,3,y,\n1,2,z,\n")


def check_refusals():
    text = b"v\n1\n"
    refuses("--lead --exclusive", ["--lead=v", "--exclusive"], text, 2, "--exclusive", "--lead looks at later records")
    refuses("N of 0", ["--lead=v:0"], text, 2, "'v:0' is not COLS:N", "v:1")
    refuses("too large an N is taken as a name", ["--lead=v:1000000000001"], text, 2, "unknown column", "v:1000000000001")
    refuses("no such column", ["--lead=w:2"], text, 2, "unknown column", "'w'")
    refuses("with a result", ["--lead=v", "--sum=v"], text, 2, "not both")
    refuses("--save-state", ["--lead=v", "--save-state=" + os.path.join(harness.folder(), "s")], text, 2, "--save-state", "yet to come")
    refuses("--from-state", ["--lead=v", "--from-state=" + os.path.join(harness.folder(), "s")], text, 2, "--from-state", "yet to come")
    refuses("--partial", ["--lead=v", "--partial"], text, 2, "--partial is for results")
    refuses("--plot", ["--lead=v", "--plot"], text, 2, "--plot draws numbers", "--lead")


def check_faults():
    """Up to a fault, the records are printed that have all their fields."""
    text = b"g,v\na,1\nb,2\na,3\nb,4\na,x\nb,6\n"
    args = ["--cumsum=v", "--only", "--lead=v"]
    holds("before a fault", args, text, breaks(b"running_sum(v),lead(v)\n1,2\n3,3\n6,4\n", "<stdin>:6:", "'x'"), ways(0))
    holds("before a fault, by group", args + ["--by=g"], text,
          breaks(b"running_sum(v),lead(v)\n1,3\n2,4\n", "<stdin>:6:", "'x'"), ways(1))
    for threads in (1, 3):
        r = harness.run(["--lead=v", "--by=g", "--memory=100K"], b"g,v\na,1\n" + b"b,2\n" * 20000, chunk=1000, threads=threads)
        harness.ok(r.status == 1 and b"--memory SIZE with more, or an input sorted by" in r.err, "too many wait, %d threads" % threads,
                   lambda: harness.describe(r))
    r = harness.run(["--lead=v", "--memory=100K"], b"v\n" + b"123456\n" * 20000, chunk=1000)
    harness.ok(r.status == 0 and r.out.count(b"\n") == 20001, "without --by few wait", lambda: harness.describe(r))


def check_files():
    a, b = harness.fixture("a.csv", b"v\n1\n2"), harness.fixture("b.csv", b"v\n3\n4\n")
    for threads in (1, 3):
        for chunk in (2, None):
            g, h = harness.fixture("g.csv", b"k,v\nb,5\na,6\n"), harness.fixture("h.csv", b"k,v\nb,9\nb,1\n")
            r = harness.run(["--lead=v", "--by=k", "--offsets=v > 5", g, h], threads=threads, chunk=chunk)
            harness.is_(r.out, b"k,v,lead(v),offset\nb,5,9,\na,6,,0\nb,9,1,0\nb,1,,\n",
                        "by group over two files, beside --offsets, %d threads" % threads)
        r = harness.run(["--lead=v", a, b], threads=threads, chunk=2)
        harness.is_(r.out, b"v,lead(v)\n1,2\n2,3\n3,4\n4,\n", "over two files, %d threads" % threads)


def random_field(rng):
    return rng.choice((b"", b"1", b"-2.5", b"x", b'"a,b"', b'"say ""hi"""', b'"two\nlines"', b"long " * 20, b"y", b"0"))


def random_case(rng):
    rows = [[rng.choice((b"x", b"y", b"z", b"%d" % rng.randrange(20))), random_field(rng), b"%d" % rng.randrange(9)]
            for _ in range(rng.choice((1, 2, 3, 20, 63, 64, 65, 200)))]
    keys = [0] * rng.randrange(2)
    least = rng.choice((0, 0, 3))
    printed = [r for r in rows if int(r[2]) >= least]
    cells, args = [], ["--by=g"] * len(keys) + ["--where=n >= %d" % least] * bool(least)
    names = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        column, n = rng.randrange(3), rng.choice((1, 1, 2, 3, 64, 1000))
        args.append("--lead=%s:%d" % ("gvn"[column], n))
        names.append(b"lead(%c:%d)" % (b"gvn"[column], n))
        cells.append(lead(printed, column, n, keys))
    only = rng.randrange(3) == 0
    end = rng.choice((b"\n", b"\r\n"))
    header = [b"g", b"v", b"n"]
    want = [b",".join(([] if only else row) + [c[i] for c in cells]) for i, row in enumerate(printed)]
    data = end.join([b",".join(row) for row in [header] + rows]) + end
    return args + ["--only"] * only, data, end.join([b",".join(([] if only else header) + names)] + want) + end


def check_random():
    for seed in range(60):
        args, data, want = random_case(random.Random(seed))
        holds("random %d" % seed, args, data, prints(want), ways(seed, (1, 2, 7, 64, 1000, None)))


def check_many():
    rng = random.Random(4)
    rows = [[b"%d" % rng.randrange(50), b"%.2f" % rng.random()] for _ in range(30000)]
    data = b"".join(b",".join(r) + b"\n" for r in [[b"g", b"v"]] + rows)
    for n in (1, 10000):
        want = b"lead(v:%d)\n" % n + b"\n".join([r[1] for r in rows[n:]] + [b""] * n) + b"\n"
        holds("many records, %d later" % n, ["--lead=v:%d" % n, "--only"], data, prints(want), ways(1, (1000, 65536, None)))
    groups, later = {}, [b""] * len(rows)
    for i, row in enumerate(rows):
        if row[0] in groups:
            later[groups[row[0]]] = row[1]
        groups[row[0]] = i
    want = b"lead(v)\n" + b"\n".join(later) + b"\n"
    holds("many records by group", ["--lead=v", "--only", "--by=g"], data, prints(want), ways(1, (1000, 65536, None)))


def check_pipe():
    """A record is printed as soon as its fields have come, while the pipe stays open."""
    p = subprocess.Popen([harness.program(), "--lead=v:2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env=harness.environment(), bufsize=0)
    for said, want in ((b"v\n1\n2\n3\n", b"v,lead(v:2)\n1,3\n"), (b"4\n", b"2,4\n"), (b"5\n6\n", b"3,5\n4,6\n")):
        p.stdin.write(said)
        got, end = b"", time.monotonic() + 5
        while len(got) < len(want) and select.select([p.stdout], [], [], max(0, end - time.monotonic()))[0]:
            got += os.read(p.stdout.fileno(), 65536)
        harness.is_(got, want, "as soon as it is complete: %r" % want)
    out, _ = p.communicate(b"", timeout=20)
    harness.is_(out, b"5,\n6,\n", "the rest at the end")


# ---- ranks ----------------------------------------------------------------------------------

def ranked(name, args, data, want, chunks=(1, 7, None)):
    """The same from a file in any chunks, and from standard input that is one."""
    path = harness.fixture("ranked.csv", data)
    holds(name, args + [path], None, prints(want), ways(len(data), chunks))


def rank_fails(name, args, data, status, *parts):
    path = harness.fixture("ranked.csv", data)
    for threads in (1, 3):
        r = harness.run(args + [path], chunk=3, threads=threads)
        harness.ok(r.status == status and not r.out and all(p.encode() in r.err for p in parts), "%s, %d threads" % (name, threads),
                   lambda: harness.describe(r))


def check_ranks():
    text = b"g,v\na,1\nb,2.0\na,2\nb,-4\na,\na,1.00\nb,5\n"
    ranked("ties have one rank, whatever their scale", ["--rank=v"], text,
           b"g,v,rank(v)\na,1,2\nb,2.0,4\na,2,4\nb,-4,1\na,,\na,1.00,2\nb,5,6\n")
    ranked("the greatest first", ["--rank", "-v", "--only"], text, b"rank(-v)\n4\n2\n2\n6\n\n4\n1\n")
    ranked("by group", ["--rank=v", "--rank=-v", "--by=g", "--only"], text,
           b"rank(v),rank(-v)\n1,2\n2,2\n3,1\n1,3\n,\n1,2\n3,1\n")
    ranked("without gaps", ["--rank-dense=v", "--rank-dense=-v", "--only"], text,
           b"rank_dense(v),rank_dense(-v)\n2,3\n3,2\n3,2\n1,4\n,\n2,3\n4,1\n")
    ranked("as parts of the others", ["--percent-rank=v", "--percent-rank=-v", "--only"], text,
           b"percent_rank(v),percent_rank(-v)\n0.2,0.6\n0.6,0.2\n0.6,0.2\n0,1\n,\n0.2,0.6\n1,0\n")
    ranked("both by group", ["--rank-dense=v", "--percent-rank=v", "--by=g", "--only"], text + b"c,1\n",
           b"rank_dense(v),percent_rank(v)\n1,0\n2,0.5\n2,1\n1,0\n,\n1,0\n3,1\n1,0\n")
    ranked("both of longer ones", ["--rank-dense=v", "--percent-rank=-v", "--only"], b"v\n1e-390\n1\n-1e300\n1.0\n3e30\n3e30\n",
           b"rank_dense(v),percent_rank(-v)\n2,0.8\n3,0.4\n1,1\n3,0.4\n4,0\n4,0\n")
    ranked("in parts, the larger ones first", ["--ntile=v:2", "--ntile=-v:4", "--only"], text,
           b"ntile(v:2),ntile(-v:4)\n1,2\n2,1\n2,1\n1,4\n,\n1,2\n2,1\n")
    ranked("in more parts than values, by group", ["--ntile=v:9", "--by=g", "--only"], text, b"ntile(v:9)\n1\n2\n3\n1\n\n1\n3\n")
    ranked("in parts of longer ones", ["--ntile=v:3", "--only"], b"v\n3e30\n1\n-1e300\n2e30\n", b"ntile(v:3)\n3\n1\n1\n2\n")
    refuses("no number of parts", ["--ntile=v"], text, 2, "'v' is not COLS:N", "v:4")
    refuses("parts that are no number", ["--ntile=v:1h"], text, 2, "'v:1h' is not COLS:N")
    refuses("no parts", ["--ntile=-v:0"], text, 2, "'v:0' is not COLS:N")
    ranked("of those that --where takes", ["--rank=v", "--where=v > 1", "--only"], text, b"rank(v)\n1\n1\n3\n")
    ranked("among all, though --head prints some", ["--rank=-v", "--head=2", "--only"], text, b"rank(-v)\n4\n2\n")
    ranked("of a computed column", ["--let=x = v * -1", "--select=v", "--rank=x"], text,
           b"v,rank(x)\n1,4\n2.0,2\n2,2\n-4,6\n,\n1.00,4\n5,1\n")
    ranked("beside a total and a later field", ["--rank=v", "--cumsum=v", "--lead=v:2", "--only"], text,
           b"rank(v),running_sum(v),lead(v:2)\n2,1,2\n4,3.0,-4\n4,5.0,\n1,1.0,1.00\n,1.0,5\n2,2.00,\n6,7.00,\n")
    ranked("several columns in one order", ["--rank=-a,b", "--only"], b"a,b\n1,9\n2,8\n", b"rank(-a),rank(-b)\n2,1\n1,2\n")
    ranked("a name that begins with a minus, in quotes", ['--rank="-a"', "--only"], b"-a\n2\n1\n", b"rank(-a)\n2\n1\n")
    ranked("numbers of 128 bits", ["--rank=v", "--only"], b"v\n1e30\n1\n3e30\n1000000000000000000000000000000.0\n", b"rank(v)\n2\n1\n4\n2\n")
    ranked("longer ones", ["--rank=-v", "--only"], b"v\n1e-390\n1\n-1e300\n1.0\n", b"rank(-v)\n3\n1\n4\n1\n")
    ranked("the ends of 64 bits", ["--rank=v", "--only"],
           b"v\n9223372036854775807\n-9223372036854775808\n0\n-9223372036854775807\n", b"rank(v)\n4\n1\n3\n2\n")
    ranked("another notation", ["-d;", "--decimal=,", "--rank=v", "--only"], b"v;t\n1,5;x\n1,25;y\n", b"rank(v)\n2\n1\n")
    ranked("no record", ["--rank=v"], b"v,t\n", b"v,t,rank(v)\n")
    ranked("no number", ["--rank=v"], b"v,t\n,x\n", b"v,t,rank(v)\n,x,\n")
    empty, more = harness.fixture("empty.csv", b""), harness.fixture("more.csv", b"v\n3\n1\n")
    answers("an empty file beside it", ["--rank=v", "--only", more, empty], None, "rank(v)\n2\n1\n")
    rank_fails("an error in the last record comes before any is printed", ["--rank=v"], text + b"a,x\n", 1, ":9:", "column 'v'", "'x'")
    rank_fails("text", ["--rank=g"], text, 1, ":2:", "column 'g'", "not a number")
    rank_fails("--memory", ["--rank=v", "--memory=10K"], b"v\n" + b"".join(b"%d\n" % i for i in range(20000)), 1, "--memory SIZE with more")
    answers("a pipe", ["--rank=v"], b"v\n2\n1\n", "v,rank(v)\n2,2\n1,1\n")
    refuses("--rank --exclusive", ["--rank=v", "--exclusive"], b"v\n1\n", 2, "--exclusive", "--rank")
    refuses("--rank --save-state", ["--rank=v", "--save-state=s"], b"v\n1\n", 2, "--save-state", "--rank")
    refuses("--rank --partial", ["--rank=v", "--partial"], b"v\n1\n", 2, "--partial is for results")
    with open(harness.fixture("stdin.csv", b"v\n7\n3\n"), "rb") as f:
        p = subprocess.run([harness.program(), "--rank=v", "--only"], stdin=f, stdout=subprocess.PIPE, env=harness.environment())
    harness.is_(p.stdout, b"rank(v)\n2\n1\n", "standard input that is a file")
    r = harness.run(["--rank=v", "--invalid=skip", "--only", harness.fixture("skip.csv", b"v\n2\nx\n1\n")])
    harness.ok(r.out == b"rank(v)\n2\n\n1\n" and r.status == 0, "--invalid skip: no rank", lambda: harness.describe(r))


def check_many_ranks():
    """So many that threads sort, with few different numbers or many, over ranges of any width."""
    rng = random.Random(9)
    kinds = {"few": lambda: rng.randrange(10), "one": lambda: 7, "a wide range": lambda: rng.randrange(-10 ** 18, 10 ** 18),
             "two clusters": lambda: rng.choice((-10 ** 17, 10 ** 17)) + rng.randrange(1000), "some thousands": lambda: rng.randrange(60000)}
    for kind, make in kinds.items():
        numbers = [make() for _ in range(60000)]
        places = {}
        for i, x in enumerate(sorted(numbers)):
            places.setdefault(x, i + 1)
        up = [places[x] for x in numbers]
        counts = {}
        for x in numbers:
            counts[x] = counts.get(x, 0) + 1
        down = [len(numbers) - (places[x] - 1 + counts[x]) + 1 for x in numbers]
        want = b"rank(v),rank(-v)\n" + b"".join(b"%d,%d\n" % pair for pair in zip(up, down))
        dense = {x: i + 1 for i, x in enumerate(sorted(counts))}
        ranked("without gaps: " + kind, ["--rank-dense=v", "--rank-dense=-v", "--only"], b"v\n" + b"".join(b"%d\n" % x for x in numbers),
               b"rank_dense(v),rank_dense(-v)\n" + b"".join(b"%d,%d\n" % (dense[x], len(dense) + 1 - dense[x]) for x in numbers), (30000, None))
        ranked("many numbers: " + kind, ["--rank=v", "--rank=-v", "--only"], b"v\n" + b"".join(b"%d\n" % x for x in numbers), want,
               (30000, None))
    rows = [(rng.randrange(3000), rng.randrange(5)) for _ in range(30000)]
    groups = {}
    for g, v in rows:
        groups.setdefault(g, []).append(v)
    want = b"rank(v)\n" + b"".join(b"%d\n" % (1 + sum(w < v for w in groups[g])) for g, v in rows)
    ranked("many groups", ["--rank=v", "--by=g", "--only"], b"g,v\n" + b"".join(b"%d,%d\n" % row for row in rows), want, (3000, None))


check_ranks()
check_many_ranks()
check_by_hand()
check_groups()
check_refusals()
check_faults()
check_files()
check_random()
check_many()
check_pipe()
harness.done()
