# SPDX-License-Identifier: MIT
"""Statistics from moments: variance, skewness, kurtosis, geometric mean and others, exact and rounded once.

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
SPREADS = ("var", "var-pop", "stddev", "stddev-pop")
ALL = ["--header=no", "--format=plain"] + ["--%s=1" % o for o in NAMES]


def lines(values):
    return "".join(v + "\n" for v in values).encode()


def as_certified(text, certified):
    """text rounded to the digits that are certified."""
    ndigits = len(decimal.Decimal(certified).as_tuple().digits)
    rounded = decimal.Context(prec=ndigits, rounding=decimal.ROUND_HALF_UP).create_decimal(text)
    return decimal.Decimal(certified) == rounded


def is_exactly(text, certified):
    return decimal.Decimal(text) == decimal.Decimal(certified)


def check_certified():
    for name, (values, mean, stddev) in nist.SETS.items():
        r = harness.run(["--header=no", "--format=plain", "--mean=1", "--stddev=1"], lines(values))
        answers = r.out.decode().split()
        mean_is = as_certified if name == "Lottery" else is_exactly
        stddev_is = is_exactly if name in nist.EXACT else as_certified
        harness.ok(r.status == 0 and len(answers) == 2 and mean_is(answers[0], mean) and stddev_is(answers[1], stddev),
                   "NIST %s: all certified digits" % name, lambda r=r: harness.describe(r, b""))
        print_running = ["--header=no", "--only", "--running-mean=1", "--running-stddev=1"]
        r = harness.run(print_running, lines(values), chunk=1000)
        harness.ok(r.status == 0 and r.out.split(b"\n")[-2].decode().split(",") == answers,
                   "NIST %s: the last of the running ones is the result" % name, lambda r=r: harness.describe(r, b""))


def check_fixed():
    for values, wants in (
            (["1", "2", "3", "4"], ("1.6666666666666667", "1.25", "1.2909944487358056", "1.1180339887498948")),
            (["5", "5", "5"], ("0", "0", "0", "0")), (["7"], ("", "0", "", "0")), ([""], ("", "", "", "")),
            (["0.1", "0.3"], ("0.02", "0.01", "0.14142135623730950", "0.1")),
            # half to even at the 17th digit: variances of pairs at a distance of 2 d are d^2
            (["0", "1e-400"], (None, None, None, "0." + "0" * 400 + "5")),
            (["-1e399", "1e399"], (None, "1" + "0" * 798, None, "1" + "0" * 399)),
            (["1e18", "1000000000000000001"], ("0.5", "0.25", "0.70710678118654752", "0.5"))):
        assert len(wants) == len(SPREADS)
        for name, want in zip(SPREADS, wants):
            if want is None:
                want = oracle_statistic.answer(name, [oracle_text.number(v.encode())[0] for v in values])
            want = want.rstrip("0").rstrip(".") if "." in want else want
            harness.answers("%s of %s" % (name, harness.short(" ".join(values), 40)),
                            ["--header=no", "--format=plain", "--%s=1" % name], lines(values), want + "\n")


# What both pandas 3.1 (Series.skew, Series.kurt) and DuckDB 2.0 (skewness, kurtosis) print: they differ behind it.
SHAPES = (
    ("1 2 3.5 9 -4", "0.203476228761318", "1.32785218009454"),
    ("1 2 3 4 100", "2.23239591163646", "4.98686595720065"),
    ("-5 0 0 0 1 1 7 8 8.25", "0.165239702409599", "-0.843232459847844"),
)


def check_shapes():
    for values, *peers in SHAPES:
        for name, peer in zip(("skewness", "kurtosis"), peers):
            r = harness.run(["--header=no", "--%s=1" % name], lines(values.split()))
            harness.ok(r.status == 0 and as_certified(r.out.decode().strip(), peer), "%s of %s, as pandas and DuckDB" % (name, values),
                       lambda r=r: harness.describe(r, b""))
    for values, wants in (
            ("", ("", "", "", "")), ("5", ("", "", "5", "0")), ("1 3", ("", "", "1.7320508075688773", "2")),
            ("1 2 3", ("0", "", "1.8171205928321397", "2")), ("1 2 3 4", ("0", "-1.2", "2.2133638394006432", "3")),
            ("5 5 5 5 5", ("", "", "5", "0")),            # no variance, so no shape
            ("-1 -1 -1 5", ("2", "4", "", "6")), ("1 1 1 -5", ("-2", "4", "", "6")),
            ("-0.5 0.25 1e3", (None, "", "", "1000.50")), ("-1e399 1e399 0 1", (None, None, "", "2" + "0" * 399)),
            ("0 1e-400 1", (None, "", "0", "1." + "0" * 400)),
            # exact results are exact, whatever their logarithms are; zeros make 0, negative numbers nothing
            ("2 8", ("", "", "4", "6")), ("0.001 1000", ("", "", "1", "999.999")), ("7.25 7.25", ("", "", "7.25", "0.00")),
            ("1e400 1", None), ("1e300 1e100", ("", "", "1" + "0" * 200, "9" * 200 + "0" * 100)),
            ("1e-400 1e-398", ("", "", "0." + "0" * 398 + "1", "0." + "0" * 398 + "99")),
            ("1.00000000000000005", ("", "", "1", "0." + "0" * 17)),                   # a tie goes to the even digit
            ("1.00000000000000015", ("", "", "1.0000000000000002", "0." + "0" * 17)),
            ("0 4", ("", "", "0", "4")), ("-2 -8", ("", "", "", "6")), ("0 -4", ("", "", "", "4"))):
        if wants is None:
            harness.refuses("10^400", ["--header=no", "--geomean=1"], lines(values.split()), 1, "<stdin>:1: ")
            continue
        for name, want in zip(("skewness", "kurtosis", "geomean", "range"), wants):
            if want is None:
                want = oracle_statistic.answer(name, [oracle_text.number(v.encode())[0] for v in values.split()])
            harness.answers("%s of %s" % (name, harness.short(values, 40)), ["--header=no", "--format=plain", "--%s=1" % name],
                            lines(values.split()), want + "\n")


# As SciPy 1.17 (stats.sem; skew and kurtosis, which are a population's) and NumPy print them.
OF_POPULATION = (
    ("1 2 3.5 9 -4", "2.0952326839757", "4.78016736108685", "0.13649600379468", "-0.66803695497636"),
    ("1 2 3 4 100", "19.5064092031312", "44.7883913531174", "1.4975367033335", "0.24671648930016"),
)


def check_population():
    """The forms with divisor n, the standard error and the root of the mean square."""
    for values, *wants in OF_POPULATION:
        for name, want in zip(("sem", "rms", "skewness-pop", "kurtosis-pop"), wants):
            r = harness.run(["--header=no", "--%s=1" % name], lines(values.split()))
            harness.ok(r.status == 0 and as_certified(r.out.decode().strip(), want), "%s of %s, as SciPy" % (name, values),
                       lambda r=r: harness.describe(r, b""))
    for values, wants in (
            ("", ("", "", "", "")), ("5", ("", "5", "", "")), ("-5", ("", "5", "", "")), ("0 0", ("0", "0", "", "")),
            ("1 3", ("1", None, "0", "-2")), ("3 4 0 0", (None, "2.5", None, None)), ("2 2 2", ("0", "2", "", "")),
            ("-1e399 1e399", ("1" + "0" * 399, "1" + "0" * 399, "0", "-2")), ("1e-400 3e-400", ("0." + "0" * 399 + "1", None, "0", "-2")),
            ("1e18 1000000000000000001", ("0.5", None, "0", "-2"))):
        for name, want in zip(("sem", "rms", "skewness-pop", "kurtosis-pop"), wants):
            if want is None:
                want = oracle_statistic.answer(name, [oracle_text.number(v.encode())[0] for v in values.split()])
            harness.answers("%s of %s" % (name, harness.short(values, 40)), ["--header=no", "--format=plain", "--%s=1" % name],
                            lines(values.split()), want + "\n")


def check_other_means():
    """The harmonic mean, of which zeros make 0 and negative numbers nothing; exact where it has up to 17 digits. The trimmed mean."""
    for values, want in (
            ("", ""), ("5", "5"), ("1 2 4", "1.7142857142857143"), ("3 3 3", "3"), ("40 60", "48"), ("0.1 0.1 0.1", "0.1"), ("3 6", "4"),
            ("0 4", "0"), ("-1 4", ""), ("0 -4", ""), ("1e300 2e300 3.5", "10.5"), ("7 14 1e399", "14"), ("1e-400 1e399", "0." + "0" * 399 + "2"),
            ("1e-31 1e17", "0." + "0" * 30 + "2"), ("1.00000000000000005", "1"), ("1.00000000000000015", "1.0000000000000002"),
            ("999999999999999999 999999999999999999", "1" + "0" * 18), ("2.50 10 7", "4.6666666666666667"), ("1e-400", "0." + "0" * 399 + "1"),
            ("9e399 9e399", "9" + "0" * 399), ("0.00000000000000000000000000000007 7", "0.00000000000000000000000000000014")):
        harness.answers("harmonic-mean of %s" % harness.short(values, 40), ["--header=no", "--format=plain", "--harmonic-mean=1"],
                        lines(values.split()), want + "\n")
    twenty = lines(str(i * i) for i in range(20))
    harness.answers("trimmed means", ["--header=no", "--trimmed-mean=1:0.1", "--trimmed-mean", "1:0.25", "--trimmed-mean=1:0", "--mean=1"], twenty,
                    "trimmed_mean(col1:0.1),trimmed_mean(col1:0.25),trimmed_mean(col1:0),mean(col1)\n111.5,98.5,123.5,123.5\n")
    for argument in ("1", "1:", "1:0.5", "1:1", "1:-0.1", "1:10%", "1:.1", "1:1e-1", "1:0.0000000000000001"):
        harness.refuses("--trimmed-mean " + argument, ["--header=no", "--trimmed-mean=" + argument], twenty, 2, "is not COLS:F")


def check_laws():
    """Any cut of the input, and any threads, give the same bytes; numbers beyond 18 digits are among them."""
    values = "3 -1.5 1e19 0.25 123456789012345678 -99999999999999999999.5 4 1073741824 -1073741825 1e-30 7".split()
    positive = [v.lstrip("-") for v in values]
    for column in (values, positive, positive[:1] * 200):
        numbers = [oracle_text.number(v.encode())[0] for v in column]
        want = "".join((oracle_statistic.answer(o, numbers) or "") + "\n" for o in NAMES).encode()
        jobs = [dict(args=ALL, stdin=lines(column), chunk=chunk, threads=threads)
                for chunk in (1, 2, 3, 4, 5, 7, 11, 30, 64, None) for threads in (1, 3)]
        wrong = [harness.describe(r, b"") for r in harness.run_many(jobs) if r.status != 0 or r.out != want]
        harness.ok(not wrong, "any cut, any threads: %s ..." % harness.short(" ".join(column), 30),
                   lambda wrong=wrong, want=want: "%d\n%s\nwanted: %s" % (len(wrong), wrong[0], harness.short(want)))


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


def check_ends():
    """--first and --last, in the order of the input however it is cut and by whichever threads it is folded."""
    table = b'k,x,y\na,1,10\n"b, ""c""",2.25,\nz,,1e3\n'
    header = "first(k),first(x),first(y),last(k),last(x),last(y)\n"
    harness.answers("first and last", ["--first=k,x,y", "--last=k,x,y"], table, header + "a,1,10,z,2.25,1e3\n")
    harness.answers("with a condition", ["--where=y<=10 or k!='z'".replace("'", '"'), "--last=k,x", "--format=plain"], table, 'b, "c"\n2.25\n')
    harness.answers("text is a string in JSON", ["--first=k,x", "--count=k", "--format=json"], table,
                    '{"first(k)": "a", "first(x)": 1, "count(k)": 3}\n')
    harness.answers("of no value", ["--first=x", "--last=x", "--format=plain"], b"x\n\n\n", "\n\n")
    for args in ["--first=v", "--sum=*"], ["--last=v", "--sum=*"]:
        rows = [b"1e400", b"7", b"8"] if "first" in args[0] else [b"8", b"7", b"1e400"]
        r = harness.run(args + ["--invalid=skip"], b"v\n" + b"\n".join(rows) + b"\n")
        harness.is_((r.status, r.out.split(b"\n")[1]), (0, b"7,15"), args[0] + " of numbers, beside '*'")
    harness.answers("'*' is every numeric column", ["--first=*"], table, "first(x),first(y)\n1,10\n")
    harness.answers("beside '*', whose first value is missing", ["--first=k", "--last=k", "--sum=*"], b"k,x\n,1\nb,2\nc,3\n",
                    "first(k),last(k),sum(x)\nb,c,6\n")
    harness.answers("beside '*': numbers", ["--first=k", "--last=k", "--sum=*"], b"k,x\n3,1\n4,2\n",
                    "first(k),last(k),sum(k),sum(x)\n3,4,7,3\n")
    harness.warns("beside '*', a text left out", ["--last=k", "--sum=*", "--invalid=skip"], b"k,x\n3,1\n4,2\nb,3\n",
                  "last(k),sum(k),sum(x)\n4,7,6\n", "1 value of column 'k' left out")
    harness.answers("one text makes it a column of text: as spelled", ["--first=1", "--last=1", "--header=no", "--format=plain"],
                    b"007\n1.5\nx1\n2e0\n", "007\n2e0\n")
    harness.answers("without text: as spelled, too", ["--first=1", "--last=1", "--header=no", "--format=plain"],
                    b"007\n1.5\n2e0\n", "007\n2e0\n")
    harness.answers("out of range: as spelled", ["--last=1", "--header=no"], b"1\n1e500\n", "1e500\n")
    harness.answers("another notation, of numbers", ["--last=1", "--header=no", "--percent"], b"1\n12%\n", "12%\n")
    harness.answers("another notation, with text", ["--last=1", "--header=no", "--percent"], b"x\n12%\n", "12%\n")
    spelled = (("02134", '"02134"'), ("1.9", "1.9"), ("1.90", "1.90"), ("+4989123", '"+4989123"'), ("12E3", "12E3"), ("-0", "-0"), ("0", "0"),
               (".5", '".5"'), ("5.", '"5."'), ("-07", '"-07"'), ("1e-5", "1e-5"), ("1E+05", "1E+05"), ("0.0", "0.0"), ("00", '"00"'),
               ("12345678901234567890.10", "12345678901234567890.10"), ("1e399", "1e399"))
    for text, json in spelled:
        for other in (b"7.125", b"x"):
            for way, data in (("first", b"v\n%s\n%s\n" % (text.encode(), other)), ("last", b"v\n%s\n%s\n" % (other, text.encode()))):
                r = [harness.run(["--header=yes", "--%s=v" % way, "--format=" + f], data, chunk=c) for f in ("plain", "json") for c in (1, None)]
                value = '"%s"' % text if other == b"x" else json
                harness.is_([x.out.decode() for x in r], [text + "\n"] * 2 + ['{"%s(v)": %s}\n' % (way, value)] * 2, "%s as it is spelled: %s, with %s" % (way, text, other.decode()))
    data = b"k,v\na,02134\na,1.9\nb,7\nb,5\nc,007\n"
    for args in (["--format=json", "--by=k", "--first=v", "--last=v"], ["--format=json", "--by=k", "--first=v", "--last=v", "--sort=last(v)"]):
        harness.answers("numbers by group: each by its spelling, " + args[-1], args, data, '[{"k": "a", "first(v)": "02134", "last(v)": 1.9},\n'
                        ' {"k": "b", "first(v)": 7, "last(v)": 5},\n {"k": "c", "first(v)": "007", "last(v)": "007"}]\n')
        harness.answers("with a text in another group: strings in all groups, " + args[-1], args, data + b"c,x\nd,\n",
                        '[{"k": "a", "first(v)": "02134", "last(v)": "1.9"},\n {"k": "b", "first(v)": "7", "last(v)": "5"},\n'
                        ' {"k": "c", "first(v)": "007", "last(v)": "x"},\n {"k": "d", "first(v)": null, "last(v)": null}]\n')
    text = [harness.fixture("text%d.part" % i, harness.run(["--by=k", "--last=v", "--partial"], data).out)
            for i, data in enumerate((b"k,v\na,1\n", b"k,v\nb,x\n"))]
    harness.answers("... in another part", ["--merge", "--format=ndjson"] + text, None, '{"k": "a", "last(v)": "1"}\n{"k": "b", "last(v)": "x"}\n')
    harness.answers("... where numbers are still sorted as numbers", ["--by=k", "--last=v", "--format=csv", "--sort=-last(v)"], b"k,v\na,9\nb,10\nc,x\n",
                    "k,last(v)\nc,x\nb,10\na,9\n")
    harness.answers("a number without the blanks around it, a text with them", ["--first=a,b", "--last=a,b", "--header=yes"],
                    b"a,b\n 05 , x \n\t7,\" 8 \"\n", "first(a),first(b),last(a),last(b)\n05, x ,7,8\n")
    harness.answers("another decimal point", ["-d;", "--decimal=,", "--by=k", "--first=v", "--sum=v", "--sort=-first(v)"],
                    b"k;v\na;1,50\nb;12,5\na;3\n", 'k,first(v),sum(v)\nb,"12,5",12.5\na,"1,50",4.50\n')
    harness.answers("thousands, and money", ["--thousands=,", "--money", "--by=k", "--last=v", "--sum=v"],
                    b'k,v\na,"$1,000"\nb,$ 5\n', 'k,last(v),sum(v)\na,"$1,000",1000\nb,$ 5,5\n')
    harness.answers("of a computed column", ["--let=w = v * 10", "--by=k", "--first=w,v", "--sum=w"], b"k,v\na,01.50\nb,2\n",
                    "k,first(w),first(v),sum(w)\na,15.00,01.50,15.00\nb,20,2,20\n")
    harness.answers("sorted as numbers", ["--by=k", "--first=v", "--sort=first(v)"], b"k,v\na,+10\nb,9\nc,007\nd,1E1\n",
                    "k,first(v)\nc,007\nb,9\na,+10\nd,1E1\n")
    part = [harness.run(["--by=k", "--first=v", "--last=v", "--partial", "--header=yes"], data).out for data in (b"k,v\na,01\n", b"k,v\na,1.90\nb,+3\n")]
    parts = [harness.fixture("end%d.part" % i, text) for i, text in enumerate(part)]
    harness.answers("of parts", ["--merge"] + parts, None, "k,first(v),last(v)\na,01,1.90\nb,+3,+3\n")
    state, one, two = os.path.join(harness.folder(), "ends.state"), b"v\n01\n2\n", b"v\n1.90\n"
    harness.answers("saved", ["--first=v", "--last=v", "--save-state=" + state], one, "first(v),last(v)\n01,2\n")
    harness.answers("and gone on with", ["--first=v", "--last=v", "--from-state=" + state], two, "first(v),last(v)\n01,1.90\n")
    harness.answers("line ends in plain", ["--first=1", "--header=no"], b'"a\nb"\n', "a\\nb\n")
    harness.warns("skipped values are not the last", ["--first=x", "--last=x", "--max=x", "--invalid=skip", "--format=plain"],
                    b"x\nbad\n1\n2\nbad\n", "1\n2\n2\n", "not a number: 'bad'")
    harness.refuses("text where numbers are asked for", ["--first=k", "--sum=k"], table, 1, "<stdin>:2: ", "not a number: 'a'")
    harness.refuses("a NUL", ["--last=k"], b"k\na\nb\0\n", 1, "<stdin>:3: ")
    rng, wrong, jobs, wants = random.Random(SEED + 2), [], [], []
    for _ in range(200):
        kind = rng.choice(("", "small", "wide", "text"))
        values = [rng.choice(("", "NA", '"%d"' % k, "%d" % k, "%d.5" % k, "1e2%d" % (k % 10)) + (("x%d" % k,) if kind == "text" else ()))
                  for k in range(rng.choice((1, 3, 64, 65, 200)))]
        present = [v.strip('"') for v in values if v not in ("", "NA")]
        pairs = [oracle_text.number(v.encode()) for v in present]
        column = oracle.Column()
        for value, pair in zip(present, pairs):
            column.add_text(value.encode(), pair)
        wants.append("".join((column.answer(o) or "") + "\n" for o in ("first", "last", "count")).encode())
        jobs.append(dict(args=["--header=no", "--format=plain", "--missing=NA", "--first=1", "--last=1", "--count=1"],
                         stdin=b"".join(v.encode() + b",1\n" for v in values), threads=rng.choice((1, 2, 5)),
                         chunk=rng.choice((None, 1, 2, 3, 7, 64, 300))))
    for job, want, r in zip(jobs, wants, harness.run_many(jobs)):
        if r.status != 0 or r.out != want:
            wrong.append(harness.describe(r, job["stdin"]) + "\nwanted: " + harness.short(want))
    harness.ok(not wrong, "first and last of random values, seed %d" % SEED, lambda: "%d\n%s" % (len(wrong), wrong[0]))


def check_forms():
    table = b"k,x,y\na,1,10\nb,,20\nc,4,30\n"
    harness.answers("names of results", ["--var=x", "--stddev-pop=y,x"], table,
                    "var(x),stddev_pop(y),stddev_pop(x)\n4.5,8.1649658092772603,1.5\n")
    harness.answers("with a condition", ["--where", "y > 10", "--var-pop=y"], table, "25\n")
    harness.answers("'*' and other operations beside it", ["--var=*", "--sum=x"], table, "var(x),var(y),sum(x)\n4.5,100,5\n")
    harness.answers("no value is null in JSON", ["--header=no", "--var=1", "--format=json"], b"1\n", '{"var(col1)": null}\n')
    harness.refuses("text", ["--stddev=k"], table, 1, "<stdin>:2: ", "not a number: 'a'")
    harness.offers_to_gpu("a GPU sums squares", ["--var=x"], table, "4.5\n", False)
    harness.offers_to_gpu("a GPU leaves cubes to the CPU, and says so", ["--skewness=y"], table, "0\n", True)


check_certified()
check_fixed()
check_shapes()
check_population()
check_laws()
check_random()
check_digits_of_400()
check_ends()
check_other_means()
check_forms()
assert oracle.OPERATIONS[-len(NAMES):] == NAMES
harness.done()
