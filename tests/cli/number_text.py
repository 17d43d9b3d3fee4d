# SPDX-License-Identifier: MIT
"""Numbers as the chapter NUMBERS of gpustat(1) has them: exact, at the column's scale, in plain decimal."""
import decimal
import random

import harness
import oracle
import oracle_order
import oracle_text

SEED = 42
ALL = ["--sum=1", "--min=1", "--max=1", "--count=1", "--mean=1"]
BARE = ["--header=no", "--format=plain"]


def lines(values):
    return "".join(v + "\n" for v in values).encode()


def sums(values, want, **how):
    harness.answers("sum of " + harness.short(" ".join(values), 60), BARE + ["--sum=1"],
                    lines(values), want + "\n", **how)


def all_of(values, *wants):
    """sum, min, max, count, mean"""
    harness.answers("all of " + harness.short(" ".join(values), 60), BARE + ALL, lines(values),
                    "".join(w + "\n" for w in wants))


def check_promises():
    """Issue 2, 'Must show'."""
    harness.answers("0.1 + 0.2", ["--sum", "a"], b"a,b\n0.1,x\n0.2,y\n", "0.3\n")
    harness.answers("0.10 + 0.20", ["--sum", "a"], b"a,b\n0.10,x\n0.20,y\n", "0.30\n")
    sums(["9223372036854775807", "1", "-5"], "9223372036854775803")
    sums(["1e16", "1", "-1e16"], "1")
    sums(["1e300", "1", "-1e300"], "1")


def check_forms():
    for text, want in (
            ("0", "0"), ("-0", "0"), ("+0", "0"), ("-0.0", "0.0"), ("-0.00", "0.00"), ("+5", "5"), ("-5", "-5"),
            (".5", "0.5"), ("-.5", "-0.5"), ("+.5", "0.5"), ("5.", "5"), ("-5.", "-5"), ("0.", "0"),
            (".0", "0.0"), ("007", "7"), ("-007.50", "-7.50"), ("1e3", "1000"), ("1E3", "1000"), ("1e+3", "1000"),
            ("1e-3", "0.001"), ("1.5e-2", "0.015"), ("1.5e2", "150"), ("1.50e1", "15.0"), ("1.5e1", "15"),
            ("1.500e2", "150.0"), (".5e1", "5"), ("5.e1", "50"), ("5.e-1", "0.5"), ("-1.5e-2", "-0.015"),
            ("1e0", "1"), ("1e-0", "1"), ("1e00003", "1000"), ("1e-00003", "0.001"), ("0e5", "0"), ("0e500", "0"),
            ("0e-2", "0.00"), ("-0e-2", "0.00"), ("0.00e1", "0.0"), ("0.00e2", "0"), ("0.0e500", "0"),
            ("0e99999999999999999999", "0"), ("-0e99999999999999999999", "0"),
            ("0" * 500, "0"), ("0" * 500 + "1", "1"), ("-" + "0" * 50 + "1.5", "-1.5"),
            ("00000000000000000000000000000.5", "0.5"), ("0.00000000000000000001", "0.00000000000000000001"),
            ("1" * 18, "1" * 18), ("9" * 18, "9" * 18), ("9" * 19, "9" * 19), ("9" * 38, "9" * 38),
            ("9" * 39, "9" * 39), ("9" * 40, "9" * 40), ("-" + "9" * 400, "-" + "9" * 400),
            ("1e399", "1" + "0" * 399), ("-9.99e399", "-999" + "0" * 397), ("1e-400", "0." + "0" * 399 + "1"),
            ("0." + "3" * 400, "0." + "3" * 400), ("9" * 400 + "." + "9" * 400, "9" * 400 + "." + "9" * 400),
            ("0e-400", "0." + "0" * 400), ("0.1e400", "1" + "0" * 399), ("0." + "0" * 99 + "1e499", "1" + "0" * 399),
            ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", "9223372036854775808"), ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "18446744073709551616"),
            ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
            ("170141183460469231731687303715884105728", "170141183460469231731687303715884105728"),
            ("-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"),
            ("340282366920938463463374607431768211456", "340282366920938463463374607431768211456")):
        all_of([text], want, want, want, "1", oracle_text.mean_text(oracle_text.number(text.encode())[0], 1))


def check_sums():
    sums(["0.1"] * 10, "1.0")
    sums(["1", "0.5", "0.25"], "1.75")
    sums(["1.5", "-1.50"], "0.00")
    sums(["0.001", "1e3"], "1000.001")
    sums(["1", "0e-2"], "1.00")
    sums(["1e-400", "1e399"], "1" + "0" * 399 + "." + "0" * 399 + "1")
    sums(["1e399", "-1e399", "1e-400", "-1e-400"], "0." + "0" * 400)
    sums(["9223372036854775807"] * 3, "27670116110564327421")
    sums(["-9223372036854775808"] * 3, "-27670116110564327424")
    sums(["999999999999999999"] * 1000, "999999999999999999000")
    sums(["170141183460469231731687303715884105727"] * 2, "340282366920938463463374607431768211454")
    sums(["-170141183460469231731687303715884105728", "-1"], "-170141183460469231731687303715884105729")
    sums(["9" * 38, "1"], "1" + "0" * 38)
    sums(["9" * 400, "1"], "1" + "0" * 400)
    sums(["9e399"] * 12, "108" + "0" * 399)
    sums(["-9e399"] * 12, "-108" + "0" * 399)
    sums(["123456789012345678", "0.000000000000000001"], "123456789012345678.000000000000000001")
    sums(["12345678901234567890", "0.00000000000000000001"], "12345678901234567890.00000000000000000001")
    # an integer column of 18 digits that meets a large scale late: nothing may be lost by rescaling
    sums(["999999999999999999"] * 50 + ["1e-30"], "49999999999999999950." + "0" * 29 + "1")
    sums(["1e-30"] + ["999999999999999999"] * 50, "49999999999999999950." + "0" * 29 + "1")
    sums(["0.1"] * 100 + ["1e300", "-1e300"], "10.0")


def check_extremes():
    all_of(["3", "-1", "2"], "4", "-1", "3", "3", "1.3333333333333333")
    all_of(["0.5", "0.25"], "0.75", "0.25", "0.50", "2", "0.375")
    all_of(["1", "1.000"], "2.000", "1.000", "1.000", "2", "1")
    all_of(["1e300", "-1e300", "0.01"], "0.01", "-1" + "0" * 300 + ".00", "1" + "0" * 300 + ".00", "3",
           oracle_text.mean_text(decimal.Decimal("0.01"), 3))
    all_of(["-0.3", "-0.30", "-0.299"], "-0.899", "-0.300", "-0.299", "3", "-0.29966666666666667")
    all_of(["9007199254740993", "9007199254740992"], "18014398509481985", "9007199254740992",
           "9007199254740993", "2", "9007199254740992.5")
    all_of(["1e-20", "1e-21"], "0.000000000000000000011", "0.000000000000000000001",
           "0.000000000000000000010", "2", "0.0000000000000000000055")
    all_of(["1e20", "99999999999999999999"], "199999999999999999999", "99999999999999999999",
           "1" + "0" * 20, "2", "1" + "0" * 20)
    all_of(["-1e399", "1e399"], "0", "-1" + "0" * 399, "1" + "0" * 399, "2", "0")


def check_means():
    for values, want in (
            (["1", "2"], "1.5"), (["1", "0", "0"], "0.33333333333333333"), (["2", "0", "0"], "0.66666666666666667"),
            (["-1", "0", "0"], "-0.33333333333333333"), (["10", "0", "0"], "3.3333333333333333"),
            (["5", "5"], "5"), (["100"], "100"), (["0.10", "0.10"], "0.1"), (["0", "-0"], "0"), (["0.00"], "0"),
            (["1e16", "1e16"], "1" + "0" * 16), (["1e20", "0", "0"], "33333333333333333000"),
            (["1e-5", "0"], "0.000005"), (["123456789012345678"], "123456789012345680"),
            # half to even at the 17th digit, both ways
            (["10000000000000000.5"], "10000000000000000"), (["10000000000000001.5"], "10000000000000002"),
            (["10000000000000002.5"], "10000000000000002"), (["-10000000000000000.5"], "-10000000000000000"),
            (["10000000000000000.5000000000000000000001"], "10000000000000001"),
            (["10000000000000002.4999999999999999999999"], "10000000000000002"),
            (["20000000000000001", "0"], "10000000000000000"), (["20000000000000003", "0"], "10000000000000002"),
            (["1.00000000000000005"], "1"), (["1.00000000000000015"], "1.0000000000000002"),
            (["99999999999999999.5"], "1" + "0" * 17), (["9.99999999999999995"], "10"),
            (["0.999999999999999995"], "1"), (["0.99999999999999999"], "0.99999999999999999"),
            (["1e399", "1e399", "1e-400"], oracle_text.mean_text(oracle_text.EXACT.add(decimal.Decimal("2e399"),
                                                            decimal.Decimal("1e-400")), 3)),
            (["1e-400", "0", "0"], "0." + "0" * 400 + "33333333333333333")):
        harness.answers("mean of " + harness.short(" ".join(values), 60), BARE + ["--mean=1"],
                        lines(values), want + "\n")


def check_not_numbers():
    for text in ("nan", "NaN", "inf", "-inf", "Infinity", "0x10", "0b1", "1_000", "1,234", "1.2.3", "1e", "1e+",
                 "e5", ".e5", "+", "-", ".", "+.", "-.", "+-1", "--1", "- 1", "1 2", "1e2.5", "1e2e3", "1-2", "12abc",
                 "abc12", "1.e", "\u0661\u0662", "\u2212" "5", "$5", "5%", "1'000", "0o7", "1f", "1L", "5..", "..5",
                 "\u00a05", "1e 5", "1 e5", "''", "'5'", "true"):
        data = ('5\n"%s"\n6\n' % text).encode()
        harness.refuses("not a number: " + text, ["--header=no", "--sum=1"], data, 1, "<stdin>:2: ",
                        "column 'col1'", "not a number: '%s'" % text if text.isascii() and "'" not in text else "")


def check_range():
    for text in ("1e400", "-1e400", "1" + "0" * 400, "1e401", "1e1000", "1e99999999999999999999", "-1e4294967296",
                 "1e18446744073709551616", "1e18446744073709551617", "1e-401", "1e-18446744073709551617",
                 "0.1e-400", "1.0e-400", "0e-401", "0e-18446744073709551617", "0." + "0" * 401, "0.1e401",
                 "10e399", "1e-4294967297", "9" * 401, "9" * 401 + ".5", "0." + "0" * 400 + "1"):
        harness.refuses("out of range: " + harness.short(text, 40), ["--header=no", "--sum=1"],
                        ("5\n6\n%s\n" % text).encode(), 1, "<stdin>:3: ", "column 'col1'")


def check_scales():
    """The scale of a column is the largest in it, wherever the chunk that holds it falls."""
    values = ["1"] * 50 + ["0.12345"] + ["2.5"] * 50
    want = "%s\n0.12345\n2.50000\n" % ("175.12345",)
    harness.agrees("the scale comes from another chunk", BARE + ["--sum=1", "--min=1", "--max=1"],
                   lines(values), harness.exactly(want),
                   [(c, t) for c in (1, 2, 3, 7, 16, 100, 1000, None) for t in (1, 2, 3, 7)])
    harness.answers("columns have their own scales", ["--format=plain", "--sum=a,b,c"],
                    b"a,b,c\n1,1.0,1.00\n2,2,2\n", "3\n3.0\n3.00\n")
    harness.answers("missing values have no scale", ["--sum=a"], b"a,b\n1,x\n,y\n , z\n", "1\n")
    harness.answers("a left-out value has no scale", ["--sum=a", "--missing=-9.999"],
                    b"a\n1\n-9.999\n2.5\n", "3.5\n")


def shown(answer):
    """An answer of the model, None, str or, of text, bytes."""
    return answer.decode() if isinstance(answer, bytes) else answer or ""


def check_random():
    rng = random.Random(SEED)
    import hostile
    kinds = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")
    for kind in kinds + ("mixed",):
        wrong, jobs, wants = [], [], []
        for _ in range(40):
            values = [hostile.number_text(rng, kind if kind != "mixed" else rng.choice(kinds))
                      for _ in range(rng.choice((1, 2, 5, 50, 300)))]
            column = oracle.Column()
            for v in values:
                column.add(oracle_text.number(v.encode()), v.encode())
                column.raw.append(v.encode())
                column.keys[v.encode()] += 1
            wants.append("".join(shown(column.answer(o)) + "\n" for o in oracle.OPERATIONS))
            args = BARE + [oracle_order.spell(o, 1) for o in oracle.OPERATIONS]
            jobs.append(dict(args=args, stdin=lines(values), threads=rng.choice((1, 2, 3, 7)),
                             chunk=rng.choice((None, 1, 5, 64, 500))))
        for job, want, r in zip(jobs, wants, harness.run_many(jobs)):
            if r.status != 0 or r.out != want.encode():
                wrong.append(harness.describe(r, job["stdin"]) + "\nwanted: " + harness.short(want))
        harness.ok(not wrong, "random numbers against decimal: %s, seed %d" % (kind, SEED),
                   lambda: "%d of %d\n%s" % (len(wrong), len(jobs), wrong[0]))


def check_many():
    """Enough values that no small accumulator holds the sum; exact in closed form."""
    n = 200000
    data = lines("%d" % (9 * 10 ** 17 + i) for i in range(n))
    harness.answers("200000 values of 18 digits", BARE + ["--sum=1"], data,
                    "%d\n" % (9 * 10 ** 17 * n + n * (n - 1) // 2))
    data = lines("0.%018d" % (i * 7) for i in range(n))
    harness.answers("200000 values of scale 18", BARE + ["--sum=1"], data,
                    oracle_text.in_plain(decimal.Decimal((0, tuple(map(int, str(7 * n * (n - 1) // 2))), -18)),
                                         18) + "\n")
    data = lines(("-" if i % 2 else "") + "%d%030d" % (i, i) for i in range(20000))
    total = sum((-1) ** i * (i * 10 ** 30 + i) for i in range(20000))
    harness.answers("20000 wide values", BARE + ["--sum=1"], data, "%d\n" % total)


check_promises()
check_forms()
check_sums()
check_extremes()
check_means()
check_not_numbers()
check_range()
check_scales()
check_random()
check_many()
harness.done()
