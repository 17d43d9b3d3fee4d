# SPDX-License-Identifier: MIT
"""--tail and --sample: which of the records are printed, where only the whole input tells. The model draws as the man page
says, with SplitMix64 written again from its paper; that its draws are uniform is tested, too."""
import gzip
import random
import subprocess

import harness
from harness import answers, fixture, refuses
from scan_ways import holds, prints, ways

MASK = (1 << 64) - 1


def key(seed, number):
    """The output at `number` (from 0 on) of SplitMix64 begun with `seed`."""
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def sampled(n, nrecords, seed=0):
    """The numbers of the records that are drawn, in the input's order."""
    return sorted(sorted(range(nrecords), key=lambda i: key(seed, i))[:n])


def last(n, nrecords):
    return range(max(nrecords - n, 0), nrecords)


def chosen(args, nrecords):
    """args: of one of the two, as --tail=3."""
    asked = dict(a[2:].split("=") for a in args)
    if "tail" in asked:
        return last(int(asked["tail"]), nrecords)
    return sampled(int(asked["sample"]), nrecords, int(asked.get("seed", 0)))


CHOICES = [["--tail=%d" % n] for n in (1, 2, 3, 4, 5, 6, 1000)] + \
          [["--sample=%d" % n, "--seed=%d" % s] for n, s in ((1, 0), (1, 1), (2, 7), (3, 8), (4, 9), (5, 3), (1000, 4))] + [["--sample=2"]]

HEAD = b"a,b\n"
ROWS = [b"1,x\n", b'2,"two\nlines"\n', b"3,y\r\n", b'4,"q""q"\n', b"5,w"]
DATA = HEAD + ROWS[0] + b"\n" + b"".join(ROWS[1:])


def check_records():
    for i, choice in enumerate(CHOICES):
        want = HEAD + b"".join(ROWS[k] for k in chosen(choice, 5))
        holds(" ".join(choice), choice, DATA, prints(want), ways(i))
    holds("of a condition, the last", ["--tail=2", "--where=a != 4"], DATA, prints(HEAD + ROWS[2] + ROWS[4]), ways(1))
    kept = [ROWS[i] for i in (0, 2, 3, 4)]
    holds("of a condition, drawn", ["--sample=2", "--seed=5", "--where=a != 2"], DATA,
          prints(HEAD + b"".join(kept[i] for i in sampled(2, 4, 5))), ways(2))
    holds("none holds", ["--tail=2", "--where=a > 9"], DATA, prints(HEAD), ways(3))
    holds("a header alone", ["--sample=2", "--header=yes"], b"a,b\n", prints("a,b\n"), ways(1, (1, None)))
    answers("a header without LF", ["--tail=2", "--header=yes"], b"a,b", "a,b")
    answers("no header", ["--header=no", "--tail=2"], b"1,2\n3,4\n5,6\n", "3,4\n5,6\n")
    answers("of the empty input", ["--header=no", "--tail=2"], b"", "")


def check_columns():
    holds("totals of all records", ["--tail=2", "--cumsum=a", "--only"], DATA, prints("running_sum(a)\n10\n15"), ways(1))
    holds("beside a condition", ["--tail=2", "--cumsum=a", "--only", "--where=a > 1"], DATA, prints("running_sum(a)\n9\n14"), ways(2))
    holds("numbers of records", ["--sample=3", "--seed=2", "--row-number", "--only"], DATA.replace(b"5,w", b"5,w\n").replace(b"\r", b""),
          prints("row_number\n" + "".join("%d\n" % (i + 1) for i in sampled(3, 5, 2))), ways(3))
    holds("changes", ["--tail=2", "--delta=a", "--only"], b"a\n1\n5\n7\n4\n", prints("delta(a)\n2\n-3\n"), ways(4))
    holds("positions", ["--tail=2", "--offsets=a > 1", "--only"], b"a\n1\n5\n7\n4\n", prints("offset\n1\n2\n"), ways(5))
    holds("by group", ["--tail=1", "--cumsum=v", "--by=g", "--only"], b"g,v\nx,1\ny,2\nx,3\ny,5\nx,1\n",
          prints("running_sum(v)\n7\n5\n"), ways(2))
    answers("of each group, the last", ["--tail=2", "--by=g"], b"g,v\nx,1\ny,2\nx,3\ny,5\nx,1", "g,v\ny,2\nx,3\ny,5\nx,1")
    holds("computed columns", ["--tail=2", "--let=c = a * 2", "--select=c"], DATA, prints("c\n8\n10"), ways(3))
    holds("computed columns in a condition", ["--tail=2", "--let=c = a * 2", "--where=c < 9", "--select=b,a"], DATA,
          prints(b'b,a\ny,3\r\n"q""q",4\n'), ways(4))
    holds("renamed", ["--tail=1", "--rename=a=A", "--drop=b"], DATA, prints("A\n5"), ways(1))
    holds("a line", ["--tail=3", "--cumsum=a", "--svg=-"], b"a\n1\n2\n", lambda r: None if r.status == 0 and r.out.startswith(b"<svg") else "no picture",
          ways(1))


def check_files():
    ab, ba = fixture("ab.csv", b"a,b\n1,2\n3,4"), fixture("ba.csv", b"b,a\n6,5\n8,7\n")
    answers("columns by name, of several files", ["--select=b,a", "--tail=3", ab, ba], None, "b,a\n4,3\n6,5\n8,7\n")
    answers("a file that ends without LF, last", ["--tail=3", "--select=a", ba, ab], None, "a\n7\n1\n3")
    packed = fixture("t.csv.gz", gzip.compress(b"a\n" + b"".join(b"%d\n" % i for i in range(100000))))
    answers("compressed", ["--tail=2", packed], None, "a\n99998\n99999\n")
    answers("records with fewer fields", ["--ragged=allow", "--tail=2"], b"a,b\n1,2\n3\n4\n", "a,b\n3,\n4,\n")
    answers("ragged records that are left out", ["--invalid=skip", "--ragged=allow", "--select=b", "--tail=2"], b"a,b\n1,2\n3\n4,5\n", "b\n\n5\n")
    answers("words", ["-W", "--tail=1"], b"a b\n1  2\n 3   4\n", "a b\n 3   4\n")
    answers("another dialect", ["-d;", "--quote='", "--tail=1"], b"a;b\n1;2\n3;'x\ny;'\n", "a;b\n3;'x\ny;'\n")
    answers("comments are no records", ["--comment=#", "--tail=2"], b"a\n1\n#x\n2\n3\n#y\n", "a\n2\n3\n")
    shell = "{ printf 'a\\n'; sleep 0.1; printf '1\\n2\\n'; sleep 0.1; printf '3'; } | \"$0\" --tail 2"
    p = subprocess.run(["sh", "-c", shell, harness.program()], stdout=subprocess.PIPE, env=harness.environment())
    harness.is_(p.stdout, b"a\n2\n3", "a slow pipe")


def check_faults():
    """What is not printed is checked all the same, and nothing is printed before the end."""
    refuses("a ragged record, not among the last", ["--tail=1"], b"a,b\n1\n2,3\n", 1, "<stdin>:2")
    refuses("a value in a running column", ["--tail=1", "--cumsum=a"], b"a,b\nx,1\n2,3\n", 1, "<stdin>:2", "'x'")
    refuses("a value behind those drawn", ["--sample=1", "--cumsum=a"], b"a,b\n2,1\nx,3\n", 1, "<stdin>:3", "'x'")
    refuses("a quote that stays open", ["--tail=1"], b'a,b\n1,2\n3,"4\n', 1, "<stdin>:3")
    big = fixture("big.csv", b"a,b\n" + b"".join(b"%d,%s\n" % (i, b"x" * 90) for i in range(40000)))
    refuses("more than the memory limit", ["--tail=30000", "--memory=1M", big], None, 1, "--memory")
    refuses("the same of a pipe", ["--sample=30000", "--memory=1M"], open(big, "rb").read(), 1, "--memory", "fewer records")
    r = harness.run(["--tail=3", "--memory=1M", big])
    harness.ok(r.status == 0 and r.out.count(b"\n") == 4, "a few fit", lambda: harness.describe(r))
    keyless = b"k,v\na,1\nb,2\nc,3\nd\0,4\n"
    for choice, want in (("--tail=2", b"a,1,1\nb,2,1\nc,3,1\n"), ("--head=3", b"a,1,1\nb,2,1\nc,3,1\n"), ("--sample=3", b"a,1,1\nb,2,1\nc,3,1\n")):
        for chunk in (1, 7, None):
            r = harness.run(["--by=k", "--running-count=v", choice, "--invalid=skip"], keyless, chunk=chunk)
            harness.ok(r.status == 0 and r.out == b"k,v,running_count(v)\n" + want and
                       b"1 value of column 'k' left out" in r.err,
                       "a record without a key is none of the last or first, chunk %s, %s" % (chunk, choice), lambda r=r: harness.describe(r))
    for args, word in ((["--tail=0"], "--tail"), (["--tail=x"], "--tail"), (["--tail=-1"], "--tail"), (["--sample=0"], "--sample"),
                       (["--sample=1.5"], "--sample"), (["--sample=2", "--seed=x"], "--seed"), (["--seed=1"], "--sample"),
                       (["--tail=1", "--seed=1"], "--sample"), (["--head=2", "--tail=2"], "--head and --tail"),
                       (["--head=2", "--sample=2"], "--head and --sample"), (["--tail=2", "--sample=2"], "--tail and --sample"),
                       (["--tail=2", "--sum=a"], "gpustat --tail N FILE | gpustat --sum COLS"), (["--sample=2", "--by=a", "--sum=b"], "--top N"), (["--tail=2", "--runs=a"], "--by"),
                       (["--sample=2", "--runs=a", "--cumsum=b"], "--by"),
                       (["--tail=2", "--all"], "--all"),
                       (["--tail=2", "--partial", "--cumsum=a"], "--partial"), (["--sample=2", "--sort=a"], "--sort")):
        refuses(" ".join(args), args, b"a,b\n1,2\n", 2, word)


GROUPS = b"g,id,v\nA,1,100\nB,4,400\nA,2,200\n,6,\nA,3,300\nB,5,500\nB,7,600\n"


def check_first_of_groups():
    """--head with --by and --runs: records as they come, a count for each group."""
    rows = GROUPS.splitlines(True)
    for i, (args, order) in enumerate(((["--by=g", "--head=1"], "124"), (["--by=g", "--head=2"], "12346"), (["--by=g", "--head=9"], "1234567"),
                                       (["--runs=g", "--head=1"], "123456"), (["--by=g", "--head=1", "--where=v > 150"], "23"),
                                       (["--by=id % 2", "--head=2"], "1235"), (["--by=g,id", "--head=1"], "1234567"),
                                       (["--by=g", "--head=1", "--where=v >= mean(v)"], "36"))):
        holds("of groups: " + " ".join(args), args, GROUPS, prints(b"".join([rows[0]] + [rows[int(n)] for n in order])), ways(i))
    for i, (args, want) in enumerate(((["--cumsum=v", "--only"], "running_sum(v)\n100\n400\n300\n0\n900\n"),
                                      (["--row-number", "--select=id"], "row_number,id\n1,1\n1,4\n2,2\n1,6\n2,5\n"),
                                      (["--let=m = max(v)", "--select=id,m"], "id,m\n1,300\n4,600\n2,300\n6,\n5,600\n"),
                                      (["--rank=-v", "--only"], "rank(-v)\n3\n3\n2\n\n2\n"),
                                      (["--delta=v", "--only", "--format=json"],
                                       '[{"delta(v)": null},\n {"delta(v)": null},\n {"delta(v)": 100},\n {"delta(v)": null},\n {"delta(v)": 100}]\n'))):
        if args[0] in ("--rank=-v", "--let=m = max(v)"):    # these read the input twice
            harness.agrees("of groups: " + " ".join(args), ["--by=g", "--head=2"] + args + [fixture("g.csv", GROUPS)], None, harness.exactly(want.encode()),
                           [(1, 1), (7, 3), (None, 2)])
        else:
            holds("of groups: " + " ".join(args), ["--by=g", "--head=2"] + args, GROUPS, prints(want), ways(i))
    ab, ba = fixture("ab.csv", b"g,v\nx,1\ny,2\nx,3"), fixture("ba.csv", b"v,g\n4,y\n5,z\n6,x\n")
    answers("of groups, several files", ["--by=g", "--head=1", "--select=v,g", ab, ba], None, "v,g\n1,x\n2,y\n5,z\n")
    answers("of groups, ragged", ["--by=g", "--head=1", "--ragged=allow"], b"g,v\nx,1\ny\ny,2\nx\n", "g,v\nx,1\ny,\n")
    shell = "{ printf 'g,v\\nx,1\\nx,2\\nx,3\\n'; sleep 0.3; date +y,%s%N; sleep 0.3; } | \"$0\" --by g --head 1 | while read -r l; do date +$l,%s%N; done"
    p = subprocess.run(["sh", "-c", shell, harness.program()], stdout=subprocess.PIPE, env=harness.environment())
    at = [line.split(b",") for line in p.stdout.splitlines()]
    harness.ok(len(at) == 3 and int(at[1][2]) < int(at[2][1]), "of groups: a record is printed when it comes", lambda: repr(p.stdout))
    for args, word in ((["--lead=v"], "--lead"), (["--sum=v"], "--head"), (["--having=count() > 1"], "--having"), (["--sort=v"], "--top N"),
                       (["--plot", "--cumsum=v"], "--by"), (["--save-state=x", "--cumsum=v"], "--head")):
        refuses("of groups: " + " ".join(args), ["--by=g", "--head=1"] + args, GROUPS, 2, word)
    for seed in range(60):
        rng = random.Random(seed)
        keys = (b"", b"x", b"y", b'"a,b"', b'"q""q"', b"long key that fits no word", b"1", b"1.0") + (tuple(b"k%d" % i for i in range(300)) if seed % 3 == 0 else ())
        rows = [(rng.choice(keys), rng.randrange(-99, 100)) for _ in range(rng.choice((0, 1, 5, 63, 64, 65, 200, 900)))]
        n, bound, runs = rng.choice((1, 1, 2, 3, 20)), rng.randrange(-50, 50), rng.randrange(4) == 0
        choice = ["--head=%d" % n] if runs else rng.choice((["--head=%d" % n], ["--tail=%d" % n], ["--sample=%d" % n, "--seed=%d" % seed]))
        has_where, has_sum = (rng.randrange(2) for _ in range(2))
        want, seen, totals, before, of = [], {}, {}, None, {}
        for k, v in rows:
            if has_where and not v < bound:
                continue
            if runs and k != before:
                seen, totals = {}, {}
            before = k
            seen[k], totals[k] = seen.get(k, 0) + 1, totals.get(k, 0) + v
            if not runs or seen[k] <= n:
                of.setdefault(k, []).append(len(want))
                want.append(k + b",%d" % v + (b",%d" % totals[k] if has_sum else b"") + b"\n")
        if not runs:
            first = {"--head": lambda i: i, "--tail": lambda i: -i, "--sample": lambda i: key(seed, i)}[choice[0].split("=")[0]]
            want = [want[i] for i in sorted(i for numbers in of.values() for i in sorted(numbers, key=first)[:n])]
        data = b"k,v\n" + b"".join(k + b",%d\n" % v for k, v in rows)
        args = ["--runs=k" if runs else "--by=k"] + choice + ["--where=v < %d" % bound] * has_where + ["--cumsum=v"] * has_sum
        holds("of groups, random %d: %s" % (seed, " ".join(args)), args + ["--header=yes"], data,
              prints((b"k,v,running_sum(v)\n" if has_sum else b"k,v\n") + b"".join(want)), ways(seed, (1, 7, 64, None)))


def check_many():
    rng = random.Random(24)
    rows = [b"%d,%s\n" % (rng.randrange(100), b"x" * rng.randrange(30)) for _ in range(20000)]
    kept = [row for row in rows if int(row.split(b",")[0]) < 50]
    data = b"v,t\n" + b"".join(rows)
    for n in (1, 63, 64, 65, 4095, 4096, 5000, 9000, len(kept) - 1, len(kept), 20000):
        for choice in (["--tail=%d" % n], ["--sample=%d" % n, "--seed=%d" % n]):
            want = b"v,t\n" + b"".join(kept[i] for i in chosen(choice, len(kept)))
            holds("many: " + " ".join(choice), choice + ["--where=v < 50"], data, prints(want), ways(n, (1000, 4096, 65536, None)))


def check_random():
    """Tables of raw fields: what is printed is known without reading CSV."""
    for seed in range(80):
        rng = random.Random(seed)
        texts = (b"", b"x", b'"a,b"', b'"q""q"', b'"l\nl"', b'"\r\n"', b"  ", b"a longer text")
        rows = [(rng.randrange(-99, 100), rng.choice(texts)) for _ in range(rng.choice((0, 1, 5, 63, 64, 65, 200, 700)))]
        ends = [rng.choice((b"\n", b"\n", b"\r\n", b"\n\n")) for _ in rows]
        n = rng.choice((1, 2, 10, 64, 100, 500))
        choice = rng.choice((["--tail=%d" % n], ["--sample=%d" % n, "--seed=%d" % rng.choice((0, 1, seed, MASK // 16))]))
        args, bound = list(choice), rng.randrange(-50, 50)
        total, printed = 0, []
        has_where, has_sum, by_let = (rng.randrange(2) for _ in range(3))
        for (v, t), end in zip(rows, ends):
            if has_where and not v < bound:
                continue
            total += v
            fields = [b"%d" % v, t] + [b"%d" % total] * has_sum
            printed.append(b",".join(fields) + end.replace(b"\n\n", b"\n"))
        if has_where:
            args += ["--let=w = v * 2 - %d" % (2 * bound), "--where=w < 0", "--drop=w"] if by_let and not has_sum else ["--where=v < %d" % bound]
        if has_sum:
            args += ["--cumsum=v"]
        data = b"v,t\n" + b"".join(b"%d,%s%s" % (v, t, e) for (v, t), e in zip(rows, ends))
        want = (b"v,t,running_sum(v)\n" if has_sum else b"v,t\n") + b"".join(printed[i] for i in chosen(choice, len(printed)))
        holds("random %d: %s" % (seed, " ".join(args)), args + ["--header=yes"], data, prints(want), ways(seed, (1, 7, 64, None)))


# ---- uniformity --------------------------------------------------------------------------------

def chi_square(counts, expected, variance):
    """Of counts that add up to a given sum: about a chi-square of len(counts) - 1 degrees of freedom."""
    k = len(counts)
    return sum((c - expected) ** 2 for c in counts) / variance * (k - 1) / k


def near(value, k, name):
    """Within five standard deviations of a chi-square of k degrees of freedom, on both sides: a constant draw lies above,
    one that is too even below."""
    harness.ok(abs(value - k) < 5 * (2 * k) ** 0.5, name, "chi-square %.1f of %d degrees of freedom" % (value, k))


def check_uniform():
    nruns, n, of = 120, 500, 5000
    data = b"".join(b"%d\n" % i for i in range(of))
    runs = harness.run_many([dict(args=["--header=no", "--sample=%d" % n, "--seed=%d" % s], stdin=data) for s in range(nruns)])
    drawn = [[int(x) for x in r.out.split()] for r in runs]
    harness.ok(all(len(set(d)) == n and d == sorted(d) for d in drawn), "each draw has N records, none twice, in order")
    p = n / of
    counts = [0] * of
    for d in drawn:
        for i in d:
            counts[i] += 1
    near(chi_square(counts, nruns * p, nruns * p * (1 - p)), of - 1, "each record is drawn as often as another")
    blocks = [sum(counts[i:i + 50]) for i in range(0, of, 50)]
    near(chi_square(blocks, 50 * nruns * p, 50 * nruns * p * (1 - p)), len(blocks) - 1, "and each part of the input")
    both = [len(set(a) & set(b)) for a, b in zip(drawn, drawn[1:])]
    variance = n * p * (1 - p) * (of - n) / (of - 1)
    near(sum((b - n * p) ** 2 for b in both) / variance, len(both), "draws of neighbouring seeds have nothing to do with each other")
    pairs = [sum(i + 1 in s for i in s) for s in map(set, drawn)]
    expected = (of - 1) * p * (n - 1) / (of - 1)
    near(sum((b - expected) ** 2 for b in pairs) / (expected * (1 - p) ** 2), len(pairs), "nor have neighbouring records")


check_records()
check_columns()
check_files()
check_faults()
check_first_of_groups()
check_many()
check_random()
check_uniform()
harness.done()
