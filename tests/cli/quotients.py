# SPDX-License-Identifier: MIT
"""Quotients that do not end: what is printed of them, and of all that is computed of them, has 17 digits and no wrong one.

Random columns are compared with Python's fractions, which the program does not have: a sum over a / b is the sum of the
exact fractions, rounded once. let.py has the rules for one record (oracle_let.py). GPUSTAT_TEST_SEED sets the first random
case, GPUSTAT_TEST_CASES how many follow.
"""
import decimal
import fractions
import os
import random

import harness
import oracle_let
from harness import answers, fixture, is_, ok, run
from oracle_statistic import rounded
from scan_ways import holds, prints, ways

THIRDS = b"x,g\n1,a\n1,b\n1,a\n"
THIRD, T = "0.33333333333333333", ["--let", "t = x / 3"]
ALL = ["sum", "mean", "min", "max", "range", "median", "p25", "iqr", "var", "stddev-pop", "first", "last", "mode"]


def check_results():
    want = ["1", THIRD, THIRD, THIRD, "0", THIRD, THIRD, "0", "0", "0", THIRD, THIRD, THIRD]
    holds("three thirds are 1", [*T, "--sum", "t"], THIRDS, prints("1\n"), ways(0))
    holds("all results of three thirds", [*T, *["--%s=t" % o for o in ALL]], THIRDS,
          lambda r: None if r.out.decode().split("\n")[1].split(",") == want else "wanted: %s" % want, ways(1))
    holds("as JSON", [*T, "--sum", "t", "--max", "t", "--format", "json"], THIRDS,
          prints('{"sum(t)": 1, "max(t)": %s}\n' % THIRD), ways(2, (1, None)))
    holds("by group", [*T, "--by", "g", "--sum", "t", "--mean", "t"], THIRDS,
          prints("g,sum(t),mean(t)\na,0.66666666666666667,%s\nb,%s,%s\n" % (THIRD, THIRD, THIRD)), ways(3))
    holds("terms that cancel", [*T, "--sum", "t", "--mean", "t"], b"x\n1\n-2\n1\n", prints("sum(t),mean(t)\n0,0\n"), ways(4))
    holds("a total of GB", ["--let", "gb = bytes / 1073741824", "--sum", "gb"], b"bytes\n1234567\n89012345678\n7\n",
          prints("82.900356736034155\n"), ways(5))
    holds("quotients that end are exact", ["--let", "t = x / 8", "--sum", "t"], b"x\n1\n1e16\n-1e16\n", prints("0.125\n"), ways(6))
    holds("and their sum has all of its digits", ["--let", "t = x / 8", "--sum", "t"], b"x\n1\n1e18\n1\n",
          prints("125000000000000000.250\n"), ways(7))
    holds("one that does not end, and others", ["--let", "t = x / y", "--sum", "t"], b"x,y\n1,3\n1e18,8\n2,3\n",
          prints("125000000000000000\n"), ways(8))
    answers("an exact column beside it keeps its digits", [*T, "--sum", "t", "--sum", "x"], b"x\n1\n1e18\n0.5\n",
            "sum(t),sum(x)\n333333333333333330,1000000000000000001.5\n")
    answers("digits that are printed are compared", [*T, "--let", "y = t * 3", "--where", "t = %s and y = 1" % THIRD, "--count-records"],
            THIRDS, "3\n")
    answers("an exact result of it is exact", ["--let", "t = x / 3", "--let", "y = t * 3 * 1e18 + 1", "--sum", "y"], THIRDS,
            "3000000000000000003\n")
    answers("nothing is left of a difference", ["--let", "y = 2 / 3 - 1 / 3 - x / 3"], b"x\n1\n", "x,y\n1,0\n")
    answers("a difference of computed columns", [*T, "--let", "y = (x + 1) / 3 - t", "--sum", "y", "--stddev", "y"], b"x\n1\n5\n7\n",
            "sum(y),stddev(y)\n1,0\n")
    answers("round makes it exact", ["--let", "y = round(x / 3, 20)", "--sum", "y"], THIRDS, "0.99999999999999999999\n")
    answers("nines that are rounded up", ["--let", "y = (1 - 1e-45) / x", "--let", "z = y / x"], b"x\n1.0000\n3\n",
            "x,y,z\n1.0000,1,1\n3,%s,0.11111111111111111\n" % THIRD)
    answers("printed", [*T, "--let", "y = 1 + t", "--let", "z = -abs(t)"], b"x\n1\n2e30\n",
            "x,t,y,z\n1,%s,1.3333333333333333,-%s\n2e30,666666666666666670000000000000,666666666666666670000000000000,"
            "-666666666666666670000000000000\n" % (THIRD, THIRD))
    answers("as a key", [*T, "--by", "t"], b"x\n1\n2\n1\n", "t,count\n%s,2\n0.66666666666666667,1\n" % THIRD)
    answers("counted and listed", [*T, "--count-distinct", "t", "--mode", "t"], b"x\n2\n1\n1\n", "count_distinct(t),mode(t)\n2,%s\n" % THIRD)
    answers("in a histogram", ["--let", "t = x / 3 * 3", "--hist", "t:1"], b"x\n1\n2\n", "low,high,count\n1,2,1\n2,3,1\n")
    answers("with a decimal comma that is the delimiter", ["--decimal=,", *T, "--let", "y = t * 3"], b"x,z\n1,2\n",
            'x,z,t,y\n1,2,"0,33333333333333333",1\n')
    answers("--missing names no quotient", ["--missing", THIRD, *T, "--sum", "t", "--count", "t"], b"x\n1\n2\n",
            "sum(t),count(t)\n1,2\n")
    answers("as text", ["--let", "n = length(x / 3)", "--let", "c = coalesce(x / 3, 'none')", "--only"], b"x\n1\n\n",
            "n,c\n19,%s\n,none\n" % THIRD)
    answers("lag and lead", [*T, "--lag", "t", "--lead", "t", "--only"], b"x\n1\n2\n",
            "t,lag(t),lead(t)\n%s,,0.66666666666666667\n0.66666666666666667,%s,\n" % (THIRD, THIRD))
    answers("ranks", ["--let", "t = x / y", "--rank", "t", "--only", fixture("ranks.csv", b"x,y\n2,6\n1,4\n1,3\n")], None,
            "t,rank(t)\n%s,2\n0.25,1\n%s,2\n" % (THIRD, THIRD))
    answers("of two columns", [*T, "--cov", "t:x", "--wmean", "x:t"], b"x\n1\n2\n", "cov(t:x),wmean(x:t)\n0.16666666666666667,1.6666666666666667\n")
    harness.refuses("a field is no such number", ["--sum", "x"], b"x\n1\n~333e-3\n", 1, "<stdin>:3: column 'x': not a number: '~333e-3'")
    answers("nor is a text that looks like one", ["--let", "t = lower(x)", "--where", "t is number", "--count-records"],
            b"x\n~333e-3\n1\n", "1\n")


def check_precision():
    """No digit that the errors reach, and no digit less than that."""
    y = ["--let", "y = x / 3"]
    holds("the mean is of the whole sum", [*y, "--mean", "y", "--sum", "y"],
          b"x\n1000000000000\n-1000000000000\n1\n1\n", prints("mean(y),sum(y)\n0.16666666666666667,0.66666666666666667\n"), ways(0))
    answers("a running mean", [*y, "--running-mean", "y", "--only"], b"x\n1000000000000\n-1000000000000\n1\n1\n",
            "y,running_mean(y)\n333333333333.33333,333333333333.33333\n-333333333333.33333,0\n%s,0.11111111111111111\n"
            "%s,0.16666666666666667\n" % (THIRD, THIRD))
    holds("a rolling mean", ["--let", "rate = bytes / ms", "--rolling-mean", "rate:2", "--only"],
          b"bytes,ms\n1000000000000,7\n700,7\n801,7\n",
          lambda r: None if r.out.endswith(b"\n114.42857142857143,107.21428571428571\n") else "wrong", ways(1))
    holds("few numbers leave few doubtful digits", [*y, "--sum", "y"], b"x\n1e30\n-1e30\n3\n", prints("1\n"), ways(2))
    holds("a window has the digits of its own numbers", [*y, "--rolling-sum", "y:2", "--rolling-mean", "y:2", "--only"],
          b"x\n1e30\n1\n1\n3e-9\n0.0006\n",
          lambda r: None if r.out.split(b"\n", 3)[3] ==
          b"0.33333333333333333,0.66666666666666667,0.33333333333333333\n0.000000001,0.33333333433333333,0.16666666716666667\n"
          b"0.0002,0.000200001,0.0001000005\n" else "wrong", ways(3, (1, 9, None)))
    holds("a percentile has those of the numbers that it is made of", [*y, "--median", "y", "--p25", "y"],
          b"x\n1e30\n1\n1\n1\n", prints("median(y),p25(y)\n%s,%s\n" % (THIRD, THIRD)), ways(4))
    answers("a median that cancels", ["--let", "y = x / 7", "--median", "y", "--iqr", "y"], b"x\n1e30\n-1e30\n",
            "median(y),iqr(y)\n0,142857142857142860000000000000\n")
    answers("a range", ["--let", "y = x / 7", "--range", "y", "--iqr", "y"], b"x\n1e30\n1000000000000000000000000000001\n",
            "range(y),iqr(y)\n0.143,0.071\n")
    for operation, exact in (("var", fractions.Fraction(19, 3) / 49), ("var-pop", fractions.Fraction(38, 9) / 49)):
        said = run(["--let", "y = x / 7", "--" + operation, "y"], b"x\n1e30\n%d\n%d\n" % (10 ** 30 + 2, 10 ** 30 + 5)).out.decode().strip()
        ok(said == "%.*f" % (len(said.partition(".")[2]), exact), operation + ": digits that are right", lambda: "got: " + said)
    holds("an average that cancels", ["--let", "y = x / 3", "--ewma", "y:0.5", "--ewma", "y:0.25", "--only"], b"x\n1\n-1\n0\n",
          prints("y,ewma(y:0.5),ewma(y:0.25)\n%s,%s,%s\n-%s,0,0.16666666666666667\n0,0,0.125\n" % ((THIRD,) * 4)), ways(5))
    answers("... of a rounded number and one that is not", ["--let", "y = x / 3", "--ewma", "y:0.25", "--only"], b"x\n-1\n3\n3\n",
            "y,ewma(y:0.25)\n-%s,-%s\n1,0\n1,0.25\n" % (THIRD, THIRD))


def check_ranks():
    """Numbers that are equal but for their errors have one rank."""
    rows = [(1, 3), (2, 4), (5, 7), (1, 4), (10 ** 12 + 1, 10 ** 12 + 3), (7, 7), (0, 0)]
    path = fixture("ranks.csv", b"a,b,g\n" + b"".join(b"%d,%d,%s\n" % (a, b, b"xy"[i % 2:i % 2 + 1]) for i, (a, b) in enumerate(rows)))
    values = [fractions.Fraction(a - b, 3) for a, b in rows]
    for by in ([], ["--by", "g"]):
        peers = lambda i: [v for j, v in enumerate(values) if not by or j % 2 == i % 2]
        want = [sum(v < x for v in peers(i)) + 1 for i, x in enumerate(values)]
        said = run(["--let", "d = a/3 - b/3", "--rank", "d", "--only", *by, path]).out.decode().split("\n")[1:-1]
        is_([int(line.split(",")[-1]) for line in said], want, "ranks of quotients " + " ".join(by))


def check_pairs():
    holds("weights that add up to 0", ["--let", "w = x / 3", "--wmean", "v:w", "--sum", "w"], b"x,v\n1,10\n1,20\n-2,30\n",
          prints("wmean(v:w),sum(w)\n,0\n"), ways(5))
    holds("by group", ["--let", "w = x / 3", "--by", "g", "--wmean", "v:w"],
          b"x,v,g\n1,10,a\n1,20,a\n-2,30,a\n1,7,b\n", prints("g,wmean(v:w)\na,\nb,7\n"), ways(6))
    holds("a constant but for its errors", ["--let", "y = a / 3 - b / 3", "--corr", "i:y", "--cov", "i:y", "--cov-pop", "i:y"],
          b"i,a,b\n1,1,0\n2,1,0\n3,2,1\n", prints("corr(i:y),cov(i:y),cov_pop(i:y)\n,0,0\n"), ways(7))


def check_running():
    want = "".join("%s\n" % line for line in (
        "t,running_sum(t),running_mean(t),running_min(t),running_max(t),running_stddev(t),delta(t),rolling_sum(t:2),rolling_min(t:2)",
        "0.5,0.5,0.5,0.5,0.5,,,0.5,0.5",
        "{0},0.83333333333333333,0.41666666666666667,{0},0.5,0.11785113019775792,-0.16666666666666667,0.83333333333333333,{0}",
        "{0},1.1666666666666667,0.38888888888888889,{0},0.5,0.096225044864937627,0,0.66666666666666667,{0}",
        "-1,0.16666666666666667,0.041666666666666667,-1,0.5,0.69887475696717357,-1.3333333333333333,-0.66666666666666667,-1",
        "0.5,0.66666666666666667,0.13333333333333333,-1,0.5,0.6390096504226938,1.5,-0.5,-1")).format(THIRD)
    asked = ["running-sum", "running-mean", "running-min", "running-max", "running-stddev", "delta"]
    holds("running columns", [*T, *["--%s=t" % o for o in asked], "--rolling-sum=t:2", "--rolling-min=t:2", "--only"],
          b"x\n1.5\n1\n1\n-3\n1.5\n", prints(want), ways(0))
    holds("a ratio has the digits of the coarser number", ["--let", "y = a / 3 - b / 3", "--ratio", "y", "--only"],
          b"a,b\n1,0\n1%030d,1%030d\n1%030d,1%030d\n2,0\n" % (1, 0, 8, 0),
          prints("y,ratio(y)\n%s,\n0.3333,1\n2.6667,8\n0.66666666666666667,0.25\n" % THIRD), ways(2))
    for nzeros in range(0, 64, 9):  # texts of quotients have no more room at one of several places of a block
        many = b"x\n" + b"0\n" * nzeros + b"1\n2\n-3\n" * 3000
        lines = ["0"] * nzeros + [THIRD, "1", "0"] * 3000
        holds("a long running sum after %d zeros" % nzeros, [*T, "--cumsum=t", "--only"], many,
              lambda r, lines=lines: None if [line.split(",")[1] for line in r.out.decode().split("\n")[1:-1]] == lines else "wrong",
              ways(1, (100, 1000, None)[nzeros > 0:]))


def signed(x):
    return ("-" if x < 0 else "") + rounded(abs(x))


def check_random():
    """Sums, means and extremes over a / b are those of the fractions."""
    first = int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "60"))):
        rng = random.Random(seed)
        divisors = rng.choice(([3], [7, -9], [1 << 30], [86400], [3, 7, 11, 13, 999999999999999989], range(1, 100)))
        rows = [(rng.choice((rng.randrange(-9, 10), rng.randrange(-10 ** 9, 10 ** 9), rng.randrange(10 ** 18))), rng.choice(divisors))
                for _ in range(rng.choice((1, 2, 20, 64, 65, 300)))]
        values = [fractions.Fraction(a, b) for a, b in rows]
        data = b"a,b\n" + b"".join(b"%d,%d\n" % row for row in rows)
        total = sum(values)
        wanted = [total, min(values), max(values), total / len(values), max(values) - min(values)]
        asked = ["--sum=q", "--min=q", "--max=q", "--mean=q", "--range=q"]
        if not any(oracle_let.divide(oracle_let.Number(a, 0), oracle_let.Number(b, 0)).rounded for a, b in rows):
            continue
        want = ",".join(signed(x) for x in wanted)
        holds("random %d" % seed, ["--let", "q = a / b", *asked], data,
              lambda r, want=want: None if r.out.split(b"\n")[1] == want.encode() else "wanted: " + want, ways(seed, (1, 9, 100, None)))
        whole = run(["--let", "q = a / b", *asked], data).out
        middle = rng.randrange(len(rows) + 1)
        parts = [fixture("quotients-%d-%d" % (seed, i), run(["--let", "q = a / b", *asked, "--partial"],
                                                             b"a,b\n" + b"".join(b"%d,%d\n" % row for row in some)).out)
                 for i, some in enumerate((rows[:middle], rows[middle:]))]
        is_(run(["--merge", *parts]).out, whole, "random %d: in two parts" % seed)


LONG = decimal.Context(prec=120, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def long(x):
    return LONG.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


def root(x):
    return fractions.Fraction(long(x).sqrt(LONG))


class Side:
    """A column of quotients, or of their differences: exact, and how far off the program's values may be."""
    def __init__(self, values, error):
        self.values, self.n, self.error = values, len(values), error
        self.mean = sum(values) / self.n
        self.m2, self.m3, self.m4 = (sum((v - self.mean) ** k for v in values) / self.n for k in (2, 3, 4))
        self.deviation, self.half_range = root(self.m2), (max(values) - min(values)) / 2
        self.part = error / self.deviation if self.deviation > 2000 * error else None  # None: it is all errors


def shapes(x):
    """By operation: the exact value, and the most that the errors may make of it. Without an entry: none, or anything."""
    n, out = x.n, {}
    if x.part is None:
        return out
    skewness = x.m3 / root(x.m2 ** 3)
    kurtosis = x.m4 / x.m2 ** 2 - 3
    reach = 3 * x.part * (2 + abs(skewness))
    out["skewness-pop"] = skewness, reach
    out["kurtosis-pop"] = kurtosis, 12 * x.part * (kurtosis + 3)
    if n > 2:
        f = root(fractions.Fraction(n * (n - 1), (n - 2) ** 2))
        out["skewness"] = f * skewness, f * reach
    if n > 3:
        f = fractions.Fraction((n - 1) * (n + 1), (n - 2) * (n - 3))
        out["kurtosis"] = f * kurtosis + 6 * f / (n + 1), 12 * f * x.part * (kurtosis + 3)
    return out


def sizes(x):
    square = sum(v * v for v in x.values) / x.n
    out = {"rms": (root(square), x.error)}
    if min(x.values) > 1000 * x.error:
        total = sum(LONG.ln(long(v)) for v in x.values)
        mean = fractions.Fraction(LONG.exp(LONG.divide(total, decimal.Decimal(x.n))))
        out["geomean"] = mean, mean * x.error / min(x.values)
        mean = x.n / sum(1 / v for v in x.values)
        out["harmonic-mean"] = mean, mean * x.error / min(x.values)
    return out


def of_pairs(x, y):
    n, out = x.n, {}
    products = sum((a - x.mean) * (b - y.mean) for a, b in zip(x.values, y.values)) / n
    reach = x.error * y.half_range + y.error * x.half_range + x.error * y.error
    out["cov-pop"] = products, reach
    if n > 1:
        out["cov"] = products * n / (n - 1), reach * n / (n - 1)
    if n > 1 and x.part is not None and y.part is not None:
        out["corr"] = products / x.deviation / y.deviation, x.part + y.part
    if n > 1 and x.part is not None:
        square = x.deviation ** 2
        slope = products / square
        reach = reach / square + 2 * abs(slope) * x.part
        out["slope"] = slope, reach
        out["intercept"] = y.mean - slope * x.mean, y.error + abs(x.mean) * reach + abs(slope) * x.error
    weights = sum(y.values)
    if abs(weights) > 1000 * n * y.error:
        mean = sum(a * b for a, b in zip(x.values, y.values)) / weights
        far = max(abs(v - mean) for v in x.values)
        out["wmean"] = mean, (n * y.error * far + x.error * sum(abs(w) for w in y.values)) / abs(weights)
    return out


def is_right(text, exact, reach):
    """Whether each digit of text is right, and there are 17, or as many as the errors leave, but for 3."""
    said = decimal.Decimal(text)
    off = abs(fractions.Fraction(said) - exact)
    last = fractions.Fraction(10) ** said.normalize(LONG).as_tuple().exponent
    few = fractions.Fraction(10) ** (long(exact).adjusted() - 16) / 2 if exact else 0
    return (said == 0 or off <= last * fractions.Fraction(11, 20)) and off <= max(few * fractions.Fraction(11, 10), 1000 * reach)


def place(x):
    """The place of the last of 38 digits."""
    return fractions.Fraction(10) ** (long(x).adjusted() - 37) if x else 0


def check_statistics():
    """Statistics of quotients, and of differences in which they cancel, have no digit that the errors reach."""
    first = int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "60"))):
        rng = random.Random(seed)
        divisors = rng.choice(([3], [7, -9], [1 << 30], [86400], [3, 7, 11, 13, 999999999999999989], range(1, 100)))
        sizes_of_cells = rng.choice(((10,), (10 ** 9,), (10, 10 ** 9, 10 ** 18)))
        cell = lambda: rng.choice((1, -1)) * rng.randrange(rng.choice(sizes_of_cells))
        base = rng.choice((0, 0, 10 ** 9, 10 ** 15, 10 ** 24, 10 ** 30))
        less = rng.choice((0, base))  # a difference in which the base cancels
        is_positive = rng.random() < 0.3
        rows = []
        for _ in range(rng.choice((1, 2, 3, 4, 5, 20, 64, 300))):
            a, c = (abs(cell()) + 1, abs(cell()) + 1) if is_positive else (cell(), cell())
            rows.append((base + a, rng.choice(divisors), less, c, rng.choice(divisors)))
        data = b"a,b,z,c,d\n" + b"".join(b"%d,%d,%d,%d,%d\n" % row for row in rows)
        x = Side([fractions.Fraction(a - z, b) for a, b, z, *_ in rows],
                 5000 * max(place(fractions.Fraction(u, b)) for a, b, z, *_ in rows for u in (a, z)))
        y = Side([fractions.Fraction(c, d) for *_, c, d in rows], 5000 * max(place(fractions.Fraction(c, d)) for *_, c, d in rows))
        wanted = {(o, "x"): w for o, w in [*shapes(x).items(), *sizes(x).items()]}
        wanted.update({(o, "y"): w for o, w in [*shapes(y).items(), *sizes(y).items()]})
        wanted.update({(o, "x:y"): w for o, w in of_pairs(x, y).items()})
        wanted.update({(o, "y:x"): w for o, w in of_pairs(y, x).items()})
        if not wanted:
            continue
        asked = ["--let", "x = a / b - z / b", "--let", "y = c / d", *["--%s=%s" % o for o in wanted]]
        r = run(asked, data)
        said = r.out.decode().split("\n")[1].split(",") if r.out.count(b"\n") == 2 else r.out.decode().split()
        wrong = [(o, t, str(long(v)), "%.1e" % e) for (o, (v, e)), t in zip(wanted.items(), said) if not t or not is_right(t, v, e)]
        ok(len(said) == len(wanted) and not wrong, "statistics of quotients %d" % seed, lambda: "%s\n%s\n%s" % (r, wrong, data[:300]))
        grouped = run(["--by=g", "--let=g = 'one'", *asked], data).out.decode()
        ok(grouped.split("\n")[1] == ",".join(["one", *said]), "... by group %d" % seed, lambda: grouped)
        lines = data.split(b"\n")
        middle = rng.randrange(1, len(lines))
        parts = [fixture("statistics-%d-%d" % (seed, i), run([*asked, "--partial"], b"\n".join(some)).out)
                 for i, some in enumerate((lines[:middle] + [b""], lines[:1] + lines[middle:]))]
        is_(run(["--merge", *parts]).out, r.out, "... in two parts %d" % seed)


def check_averages():
    """--ewma has the digits that each value leaves right by its part, also where a state goes on."""
    first = int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "60")) // 2):
        rng = random.Random(seed)
        base = rng.choice((0, 10 ** 9, 10 ** 15, 10 ** 24, 10 ** 30))
        less = rng.choice((0, base))
        weight = rng.choice(("0.5", "0.25", "0.9", "0.001", "1"))
        rows = [(rng.choice((base, less)) + rng.randrange(-9, 10), less, rng.choice((1, 3, 7, 8))) for _ in range(rng.choice((1, 5, 80)))]
        data = [b"a,z,b\n", *(b"%d,%d,%d\n" % row for row in rows)]
        asked = ["--let", "x = a / b - z / b", "--ewma", "x:" + weight, "--only"]
        said = [line.split(",")[1] for line in run(asked, b"".join(data)).out.decode().split("\n")[1:-1]]
        w, mean, reach, wrong = fractions.Fraction(weight), None, 0, []
        for (a, z, b), text in zip(rows, said):
            x, error = fractions.Fraction(a - z, b), 5000 * max(place(fractions.Fraction(u, b)) for u in (a, z))
            mean, reach = (x, error) if mean is None else (w * x + (1 - w) * mean, w * error + (1 - w) * reach)
            wrong += [] if is_right(text, mean, reach) else [(text, str(long(mean)), "%.1e" % reach)]
        ok(len(said) == len(rows) and not wrong, "averages of quotients %d" % seed, lambda: "%s %s" % (weight, wrong[:3]))
        middle, state = rng.randrange(1, len(data) + 1), os.path.join(harness.folder(), "averages-%d.state" % seed)
        run([*asked, "--save-state", state], b"".join(data[:middle]))
        rest = run([*asked, "--from-state", state], b"".join(data[:1] + data[middle:])).out.decode().split("\n")[1:-1]
        is_([line.split(",")[1] for line in rest], said[middle - 1:], "... where a state goes on %d" % seed)


def check_comparisons():
    """What a quotient is compared with, it is compared with as printed, though most are compared without dividing: the condition on
    a / b, and that on a column which has it."""
    draw = random.Random(42)
    long = [10 ** 17, 10 ** 18 - 1, 333333333333333333, 666666666666666667, 123456789012345678, 10 ** 20 + 1]
    rows = [[draw.choice(long + [0, 1, 2, 3, -3, 7, -12, 1000]) * draw.choice([1, 1, -1]) + draw.randint(-1, 1) for _ in range(4)]
            for _ in range(300)]
    rows += [[a, b, a + draw.randint(-1, 1), b] for a, b, _, _ in rows]
    data = ("a,b,c,d\n" + "".join("%s,%s,%s.50,%s\n" % tuple(row) for row in rows)).encode()
    for sign in ("=", "!=", "<", "<=", ">", ">="):
        for left, right in (("a / b", "3"), ("a / b", THIRD), ("a / b", "0.333333333333333333"), ("-0.5", "a / b"), ("a / b", "c"),
                            ("c", "a / b"), ("a / b", "c / d"), ("a / b", "(c - a) / (d + 1)")):
            lets = ["--let", "p = %s" % left, "--let", "q = %s" % right]
            for condition in ("%s %s %s", "not %s %s %s", "if(%s %s %s, 1, 2) = 1"):
                want = run([*lets, "--where", condition % ("p", sign, "q"), "--select", "a,b,c,d"], data).out
                is_(run(["--where", condition % (left, sign, right), "--select", "a,b,c,d"], data).out, want,
                    condition % (left, sign, right))


def check_lists_of_comparisons():
    """Several comparisons of one quotient, which is not divided, choose the records that those of a computed column do."""
    rng = random.Random(7)
    pool = ("", "0", "1", "2", "3", "-7", "0.5", "1e-30", "12345678901234567890", "999999999999999999", "6", "x")
    data = b"a,b,c,d\n" + b"".join(b",".join(rng.choice(pool).encode() for _ in "abcd") + b"\n" for _ in range(400))
    lets = ["--let", "p = a / b", "--let", "q = c / d"]
    for condition in ("{p} between {q} and 3", "{p} not between -1 and {q}", "{p} in (2, {q}, 12345678901234567890)", "{p} not in ({q}, 0.5, c)",
                      "{p} in ('3', '0.33333333333333333')", "{p} in ('x', 3, {q})", "{p} between c and {q} or {q} in (1, {p}) and not {p} in (c, d)",
                      "case {p} when {q} then 1 when 3 then 2 end = 1", "nullif({p}, {q}) > 1"):
        for k in range(2):
            args = ["--invalid=skip", "--max-invalid=100%", "--select", "a,b,c,d", "--where"]
            want = run([*lets, *args, condition.format(p="p", q="q")], data, chunk=50 if k else None)
            got = run([*args, condition.format(p="a / b", q="c / d")], data)
            is_((got.status, got.out), (want.status, want.out), "not divided: " + condition)


def check_state():
    state = os.path.join(harness.folder(), "quotients.state")
    asked = [*T, "--sum=t", "--median=t", "--by=g", "--save-state", state]
    log = fixture("quotients.csv", THIRDS)
    run([*asked, log])
    with open(log, "ab") as f:
        f.write(b"2,b\n")
    is_(run([*asked, log]).out, b"g,sum(t),median(t)\na,0.66666666666666667,%s\nb,1,0.5\n" % THIRD.encode(), "a state goes on")


check_results()
check_precision()
check_ranks()
check_pairs()
check_running()
check_random()
check_statistics()
check_averages()
check_comparisons()
check_lists_of_comparisons()
check_state()
harness.done()
