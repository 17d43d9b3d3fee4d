# SPDX-License-Identifier: MIT
"""Statistics from moments: variance and standard deviation, exact and rounded once.

Certified values of NIST; Python's fractions on random hostile columns; chunks down to one byte.
"""
import decimal
import os
import random

import harness
import hostile
import nist
import oracle
import oracle_statistic
import oracle_text

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261122))
NAMES = tuple(oracle_statistic.STATISTICS)
ALL = ["--header=no", "--format=plain"] + ["--%s=1" % o for o in NAMES]


def lines(values):
    return "".join(v + "\n" for v in values).encode()


def as_certified(text, certified):
    """text rounded to the digits that are certified."""
    ndigits = len(decimal.Decimal(certified).as_tuple().digits)
    rounded = decimal.Context(prec=ndigits, rounding=decimal.ROUND_HALF_UP).create_decimal(text)
    return decimal.Decimal(certified) == rounded


def check_certified():
    for name, (values, mean, stddev) in nist.SETS.items():
        r = harness.run(["--header=no", "--format=plain", "--mean=1", "--stddev=1"], lines(values))
        answers = r.out.decode().split()
        harness.ok(r.status == 0 and len(answers) == 2 and as_certified(answers[0], mean) and
                   as_certified(answers[1], stddev), "NIST %s: all certified digits" % name,
                   lambda r=r: harness.describe(r, b""))


def check_fixed():
    for values, wants in (
            (["1", "2", "3", "4"], ("1.6666666666666667", "1.25", "1.2909944487358056", "1.1180339887498948")),
            (["5", "5", "5"], ("0", "0", "0", "0")), (["7"], ("", "0", "", "0")), ([""], ("", "", "", "")),
            (["0.1", "0.3"], ("0.02", "0.01", "0.14142135623730950", "0.1")),
            # half to even at the 17th digit: variances of pairs at a distance of 2 d are d^2
            (["0", "1e-400"], (None, None, None, "0." + "0" * 400 + "5")),
            (["-1e399", "1e399"], (None, "1" + "0" * 798, None, "1" + "0" * 399)),
            (["1e18", "1000000000000000001"], ("0.5", "0.25", "0.70710678118654752", "0.5"))):
        assert len(wants) == len(NAMES)
        for name, want in zip(NAMES, wants):
            if want is None:
                want = oracle_statistic.answer(name, [oracle_text.number(v.encode())[0] for v in values])
            want = want.rstrip("0").rstrip(".") if "." in want else want
            harness.answers("%s of %s" % (name, harness.short(" ".join(values), 40)),
                            ["--header=no", "--format=plain", "--%s=1" % name], lines(values), want + "\n")


def check_random():
    rng = random.Random(SEED)
    kinds = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")
    for kind in kinds + ("mixed",):
        wrong, jobs, wants = [], [], []
        for _ in range(60):
            values = [hostile.number_text(rng, kind if kind != "mixed" else rng.choice(kinds))
                      for _ in range(rng.choice((1, 2, 5, 64, 65, 300)))]
            numbers = [oracle_text.number(v.encode())[0] for v in values]
            wants.append("".join((oracle_statistic.answer(o, numbers) or "") + "\n" for o in NAMES))
            jobs.append(dict(args=ALL, stdin=lines(values), threads=rng.choice((1, 2, 3, 7)),
                             chunk=rng.choice((None, 1, 5, 64, 500))))
        for job, want, r in zip(jobs, wants, harness.run_many(jobs)):
            if r.status != 0 or r.out != want.encode():
                wrong.append(harness.describe(r, job["stdin"]) + "\nwanted: " + harness.short(want))
        harness.ok(not wrong, "random numbers against fractions: %s, seed %d" % (kind, SEED),
                   lambda: "%d of %d\n%s" % (len(wrong), len(jobs), wrong[0]))


def check_digits_of_400():
    """Columns of numbers of up to 400 digits on either side of the point."""
    rng = random.Random(SEED + 1)
    wrong = []
    for _ in range(100):
        values = []
        for _ in range(rng.randrange(2, 12)):
            whole, part = rng.randrange(0, 401), rng.randrange(0, 401)
            text = "".join(rng.choice("0123456789") for _ in range(whole)) or "0"
            values.append(rng.choice(("", "-")) + text + "." + "".join(rng.choice("0123456789") for _ in range(part)))
        numbers = [oracle_text.number(v.encode())[0] for v in values]
        want = "".join((oracle_statistic.answer(o, numbers) or "") + "\n" for o in NAMES)
        r = harness.run(ALL, lines(values), chunk=rng.choice((None, 1, 300)), threads=rng.choice((1, 3)))
        if r.out != want.encode():
            wrong.append(harness.describe(r, lines(values)) + "\nwanted: " + harness.short(want))
    harness.ok(not wrong, "numbers of 400 digits", lambda: "%d\n%s" % (len(wrong), wrong[0]))


def check_forms():
    table = b"k,x,y\na,1,10\nb,,20\nc,4,30\n"
    harness.answers("names of results", ["--var=x", "--stddev-pop=y,x"], table,
                    "var(x),stddev_pop(y),stddev_pop(x)\n4.5,8.1649658092772603,1.5\n")
    harness.answers("with a condition", ["--where", "y > 10", "--var-pop=y"], table, "25\n")
    harness.answers("'*' and other operations beside it", ["--var=*", "--sum=x"], table, "var(x),var(y),sum(x)\n4.5,100,5\n")
    harness.answers("no value is null in JSON", ["--header=no", "--var=1", "--format=json"], b"1\n", '{"var(col1)": null}\n')
    harness.refuses("text", ["--stddev=k"], table, 1, "<stdin>:2: ", "not a number: 'a'")
    r = harness.run(["--var=x", "--device=gpu", "--verbose"], table)
    harness.ok(r.status == 1 or (r.out == b"4.5\n" and b"CPU only: " in r.err), "a GPU leaves it to the CPU, and says so",
               lambda: harness.describe(r, table))


check_certified()
check_fixed()
check_random()
check_digits_of_400()
check_forms()
assert oracle.OPERATIONS[-len(NAMES):] == NAMES
harness.done()
