# SPDX-License-Identifier: MIT
"""--delta, --ratio and --pct-change: a value compared with the last one that is not missing. The model is a few lines of Python's
integers and fractions."""
import fractions
import random

import harness
from harness import answers, refuses
from oracle_let import Invalid, Number, divide, number, write
from scan_ways import breaks, holds, prints, ways


def changes(values):
    """[(delta, ratio, pct_change)] of raw fields; a missing one is empty."""
    last, out = None, []
    for field in values:
        if not field.strip(b' "'):
            out.append((b"", b"", b""))
            continue
        now, delta, ratio, part = number(field), b"", b"", b""
        if last is not None:
            scale = max(now.scale, last.scale)
            change = Number(now.significand * 10 ** (scale - now.scale) - last.significand * 10 ** (scale - last.scale), scale)
            delta = write(change)
            ratio, part = (write(divide(now, last)), write(divide(change, last))) if last.significand else (b"", b"")
        out.append((delta, ratio, part))
        last = now
    return out


def check_by_hand():
    answers("a change", ["--delta=v", "--ratio=v"], b"t,v\n1,10\n2,12.5\n3,\n4,10\n5,0\n6,7\n",
            "t,v,delta(v),ratio(v)\n1,10,,\n2,12.5,2.5,1.25\n3,,,\n4,10,-2.5,0.8\n5,0,-10,0\n6,7,7,\n")
    answers("a part of the value before", ["--pct-change=v", "--only"], b"v\n10\n12.5\n\n10\n0\n7\n-7\n-8\n",
            "pct_change(v)\n\n0.25\n\n-0.2\n-1\n\n-2\n0.14285714285714286\n")
    answers("by group", ["--delta=v", "--by=g", "--only"], b"g,v\na,1\nb,10\na,3\nb,7\na,3\n", "delta(v)\n\n\n2\n-3\n0\n")
    answers("of some records", ["--delta=v", "--where=v > 1", "--only"], b"v\n1\n2\n5\n1\n6\n", "delta(v)\n\n3\n1\n")
    answers("of a computed column", ["--let=x = v * 2", "--select=v", "--delta=x"], b"v\n1\n2\n5\n", "v,delta(x)\n1,\n2,2\n5,6\n")
    answers("with a total", ["--cumsum=v", "--delta=v", "--only"], b"v\n1\n2\n5\n", "running_sum(v),delta(v)\n1,\n3,1\n8,3\n")
    answers("another notation", ["-d;", "--decimal=,", "--delta=v", "--only"], b"v;t\n1,5;x\n2,25;y\n", "delta(v)\n\n0,75\n")
    answers("quotes around it", ["-d-", "--delta=v", "--only"], b"v-t\n2-x\n1-y\n", 'delta(v)\n\n"-1"\n')
    holds("text is an error", ["--delta=v"], b"v\n1\nx\n2\n", breaks(b"v,delta(v)\n1,\n", "<stdin>:3:", "column 'v'", "'x'"), ways(0))
    r = harness.run(["--delta=v", "--only", "--invalid=skip"], b"v\n1\nx\n3\n")
    harness.ok(r.out == b"delta(v)\n\n\n2\n" and r.status == 0, "--invalid skip leaves it out", lambda: harness.describe(r))
    for option in ("--delta=v", "--ratio=v", "--pct-change=v"):
        refuses(option + " --exclusive", [option, "--exclusive"], b"v\n1\n", 2, "--exclusive")
    refuses("with a result", ["--delta=v", "--sum=v"], b"v\n1\n", 2, "not both")


def check_random():
    values = (b"", b"0", b"1", b"-2", b"3.5", b"0.001", b"-12.50", b'"7"', b"1e3", b"2.5E-3", b"999999999999999999",
              b"-123456789012345678.9", b"12345678901234567890123", b"1e-25", b"0.10", b"1e390", b"-1e390", b"1e-390", b"5")
    for seed in range(80):
        rng = random.Random(seed)
        few = rng.sample(values[:-4] if rng.randrange(3) else values, rng.randrange(2, 6)) + [b"5"]
        rows = [(rng.choice(b"xyz"), rng.choice(few)) for _ in range(rng.choice((1, 2, 63, 64, 65, 300)))]
        grouped = rng.randrange(2)
        out = [None] * len(rows)
        try:
            for g in (b"xyz" if grouped else [None]):
                at = [i for i, row in enumerate(rows) if g is None or row[0] == g]
                for i, pair in zip(at, changes([rows[i][1] for i in at])):
                    out[i] = pair
        except Invalid:                          # a ratio beyond the range: the program writes it, the model does not
            continue
        data = b"g,v\n" + b"".join(b"%c,%s\n" % row for row in rows)
        want = b"g,v,delta(v),ratio(v),pct_change(v)\n" + b"".join(b"%c,%s,%s,%s,%s\n" % (*row, *cells) for row, cells in zip(rows, out))
        holds("random %d" % seed, ["--delta=v", "--ratio=v", "--pct-change=v"] + ["--by=g"] * grouped, data, prints(want), ways(seed, (1, 7, 64, None)))


def check_many():
    rng = random.Random(4)
    numbers = [fractions.Fraction(rng.randrange(10 ** 6), 100) for _ in range(30000)]
    data = b"v\n" + b"".join(b"%.2f\n" % n for n in numbers)
    want = b"delta(v)\n\n" + b"".join(b"%.2f\n" % (b - a) for a, b in zip(numbers, numbers[1:]))
    holds("many records", ["--delta=v", "--only"], data, prints(want), ways(1, (1000, 65536, None)))


check_by_hand()
check_random()
check_many()
harness.done()
