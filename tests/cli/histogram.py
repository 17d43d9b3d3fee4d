# SPDX-License-Identifier: MIT
"""--hist: counts of the bins, against Python's fractions; chunks down to one byte; its bound and its errors."""
import fractions
import os
import random

import harness
import hostile
import oracle_order
import oracle_text

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261124))
KINDS = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")
NBINS_MAX = 100000


def lines(values):
    return "".join(v + "\n" for v in values).encode()


def wanted(values, width):
    """The table, or None where it has too many bins."""
    numbers = [fractions.Fraction(oracle_text.number(v.encode())[0]) for v in values]
    exact, scale = oracle_text.number(width.encode())
    exact = fractions.Fraction(exact)
    if numbers and max(numbers) // exact - min(numbers) // exact >= NBINS_MAX:
        return None
    rows = oracle_order.histogram(numbers, exact)
    return "low,high,count\n" + "".join("%s,%s,%d\n" % (oracle_order.plain(a, scale), oracle_order.plain(b, scale), n) for a, b, n in rows)


def check_fixed():
    for values, width, want in (
            ("1 2 -3 4.55", "2.5", "-5.0,-2.5,1 -2.5,0.0,0 0.0,2.5,2 2.5,5.0,1"), ("5", "5", "5,10,1"), ("4.999", "5", "0,5,1"),
            ("-5", "5", "-5,0,1"), ("-5.001", "5", "-10,-5,1"), ("0", "1e2", "0,100,1"), ("0.1 0.2 0.3", "0.1", "0.1,0.2,1 0.2,0.3,1 0.3,0.4,1"),
            ("7 7 7", "0.50", "7.00,7.50,3"), ("-0 0", "3", "0,3,2"), ("1e30", "7", "999999999999999999999999999999,1000000000000000000000000000006,1"),
            ("-1e300 -1e300", "10", "-1" + "0" * 300 + ",-" + "9" * 299 + "0,2"), ("1e-300", "1e-20", "0." + "0" * 20 + ",0." + "0" * 19 + "1,1")):
        harness.answers("%s by %s" % (harness.short(values, 40), width), ["--header=no", "--hist", "1:" + width], lines(values.split()),
                        "low,high,count\n" + "".join(row + "\n" for row in want.split()))
    harness.answers("no values", ["--hist=x:2"], b"x,y\n,1\n", "low,high,count\n")
    harness.answers("no values, as JSON", ["--hist=x:2", "--format=json"], b"x,y\n,1\n", "[]\n")
    harness.answers("as JSON", ["--hist=x:2", "--format=json"], b"x\n1\n3\n", '[{"low": 0, "high": 2, "count": 1},\n {"low": 2, "high": 4, "count": 1}]\n')
    harness.answers("a name with colons, and a condition", ["--hist=a:b:2", "--where", "k = 1"], b"k,a:b\n1,3\n2,9\n", "low,high,count\n2,4,1\n")
    harness.answers("tsv", ["--hist=1:2", "--format=tsv"], b"x\n1\n", "low\thigh\tcount\n0\t2\t1\n")


def near(rng, kind):
    """Values of a kind that lie so near to each other that some width has few bins; the width."""
    n = rng.choice((1, 2, 3, 64, 65, 300, 3000))
    base = hostile.number_text(rng, kind)
    exact, scale = oracle_text.number(base.encode())
    scale = min(scale + rng.randrange(0, 3), 400)
    spread = 10 ** rng.randrange(1, 5)
    unit = fractions.Fraction(1, 10 ** scale)
    values = [oracle_order.plain(fractions.Fraction(exact) + unit * rng.randrange(-spread, spread), scale) for _ in range(n)]
    return values, rng.choice((1, 2, 3, 7, 10, 25, 999)), scale


def check_random():
    rng = random.Random(SEED)
    for kind in KINDS:
        wrong, jobs, wants = [], [], []
        while len(jobs) < 40:
            values, width, scale = near(rng, kind)
            if scale > 30:
                continue
            width = oracle_order.plain(fractions.Fraction(width, 10 ** scale), scale)
            wants.append(wanted(values, width))
            if wants[-1] is None or wants[-1].count("\n") > 20000:
                wants.pop()
                continue
            jobs.append(dict(args=["--header=no", "--hist=1:" + width], stdin=lines(values), threads=rng.choice((1, 2, 3, 7)),
                             chunk=rng.choice((None, 1, 2, 3, 64, 500))))
        for job, want, r in zip(jobs, wants, harness.run_many(jobs)):
            if r.status != 0 or r.out != want.encode():
                wrong.append(harness.describe(r, job["stdin"]) + "\nwanted: " + harness.short(want))
        harness.ok(not wrong, "random numbers against fractions: %s, seed %d" % (kind, SEED),
                   lambda: "%d of %d\n%s" % (len(wrong), len(jobs), wrong[0]))
    values = [str(rng.randrange(-10 ** 6, 10 ** 6)) for _ in range(300000)]
    r = harness.run(["--header=no", "--hist=1:777"], lines(values), threads=3)
    harness.ok(r.status == 0 and r.out == wanted(values, "777").encode(), "300,000 numbers", lambda: harness.describe(r))


def check_errors():
    data = b"x,y\n1,2\n100000,3\n"
    r = harness.run(["--hist=x:1"], data)
    harness.ok(r.status == 0 and r.out.count(b"\n") == NBINS_MAX + 1, "as many bins as there may be", lambda: harness.describe(r))
    for width in ("0.9", "1e-10"):
        harness.refuses("more bins, " + width, ["--hist", "x:" + width], data, 1, "column 'x': more than 100000 bins: try --hist with a greater WIDTH")
    harness.refuses("far more", ["--header=no", "--hist=1:1e-20"], b"1e399\n-1e399\n", 1, "column 'col1': more than 100000 bins")
    for argument in ("x", "x:", "x:0", "x:-1", "x:y", "x:1e40", ":", ""):
        harness.refuses("--hist " + argument, ["--hist=" + argument], data, 2, "--hist: '%s' is not COL:WIDTH" % argument)
    for columns in ("x,y", "*", "1-2"):
        harness.refuses("--hist of " + columns, ["--hist=%s:1" % columns], data, 2, "--hist: '%s' is not one column" % columns)
    harness.refuses("an unknown column", ["--hist=z:1"], data, 2, "unknown column 'z'")
    harness.refuses("beside a sum", ["--hist=x:1", "--sum=x"], data, 2, "--hist prints a table of its own: it cannot go with --sum")
    harness.refuses("twice", ["--hist=x:1", "--hist=y:1"], data, 2, "--hist prints a table of its own: it cannot go with --hist")
    harness.refuses("beside records", ["--cumsum=x", "--hist=x:1"], data, 2, "--hist prints a table of its own: it cannot go with --cumsum")
    harness.refuses("text", ["--hist=x:1"], b"x\n1\na\n", 1, "<stdin>:3: column 'x': not a number: 'a'")


check_fixed()
check_random()
check_errors()
harness.done()
