# SPDX-License-Identifier: MIT
"""--digits, --round, --group-digits, --human and --output-decimal: numbers as people want them, rounded once from the exact value.

Random columns of up to 60 digits, with ties, are compared with Python's fractions (oracle_style.py, which is held against
decimal.quantize here): nothing may be rounded to 17 digits before. GPUSTAT_TEST_SEED sets the first random case.
"""
import csv
import decimal
import fractions
import io
import os
import random

import harness
import oracle_pair
import oracle_style
import oracle_text
import oracle_window
from harness import answers, is_, refuses, run
from oracle_style import Style
from oracle_statistic import Column

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261128))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", 60))
OPERATIONS = ("sum", "mean", "min", "max", "range", "median", "p99.9", "iqr", "mad", "var", "var-pop", "stddev", "stddev-pop", "sem", "rms",
              "skewness", "kurtosis", "skewness-pop", "kurtosis-pop", "geomean", "harmonic-mean", "entropy", "count", "first", "last")
WINDOWS = ("rolling-sum:2", "rolling-mean:3", "rolling-stddev:3", "rolling-median:2", "ewma:0.5")
MONEY = b"k,v\na,1.005\nb,2.5\na,1234567.125\nb,-0.004\nc,\n"


def check_style():
    """The model's own rounding, against decimal's."""
    rng = random.Random(SEED)
    long = decimal.Context(prec=300)
    for _ in range(300):
        places, half_up = rng.choice((0, 1, 2, 5, 20)), rng.randrange(2) == 1
        x = decimal.Decimal(number(rng, places))
        how = decimal.ROUND_HALF_UP if half_up else decimal.ROUND_HALF_EVEN
        want = x.quantize(decimal.Decimal((0, (1,), -places)), rounding=how, context=long)
        want = format(abs(want) if not want else want, "f")
        if Style(places, half_up).text(fractions.Fraction(x)) != want:
            is_(Style(places, half_up).text(fractions.Fraction(x)), want, "%s to %d places" % (x, places))
            return
    is_(True, True, "decimal.quantize rounds as the model does")


def number(rng, places):
    """Of 1 to 60 digits; a third are ties of so many places, or next to one."""
    form = rng.randrange(6)
    sign = rng.choice(("", "-"))
    if form < 2:
        whole = str(rng.randrange(10 ** rng.choice((1, 3, 20))))
        fraction = "".join(rng.choice("0123456789") for _ in range(places))
        return sign + whole + "." + fraction + rng.choice(("5", "5", "50", "4" + "9" * 30, "5" + "0" * 30 + "1"))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice((1, 2, 5, 17, 18, 19, 30, 60))))
    if form == 2:
        return sign + digits
    if form == 3:
        return sign + digits + "e%d" % rng.choice((-300, -60, -20, -3, 3, 30, 200))
    return sign + "0." + digits if form == 4 else sign + digits[:3] + "." + digits


def check_random():
    for case in range(CASES):
        rng = random.Random(SEED + case)
        style = Style(rng.choice((0, 1, 2, 2, 2, 3, 7, 16, 17, 18, 30, 100)), rng.randrange(3) == 0)
        values = [number(rng, style.places) if rng.randrange(8) else "" for _ in range(rng.choice((1, 2, 2, 3, 5, 40)))]
        if rng.randrange(3) == 0:
            values = [v.lstrip("-") for v in values]
        groups = [rng.choice("ab") for _ in values]
        how = ["--digits", str(style.places)] + ["--round=half-up"] * style.half_up
        others = [number(rng, style.places) for _ in values]
        data = "g,v,w\n" + "".join("%s,%s,%s\n" % row for row in zip(groups, values, others))
        data = data.encode()
        chunk = rng.choice((1, 7, None))
        check_results(style, how, data, values, others, chunk, "case %d" % case)
        check_groups(style, how, data, values, groups, chunk, "case %d" % case)
        check_windows(style, how, data, values, chunk, "case %d" % case)


def shown(style, make):
    oracle_style.SHOWN = style
    try:
        return make()
    finally:
        oracle_style.SHOWN = None


def column_of(values):
    column = Column()
    for v in values:
        if v:
            column.add(oracle_text.number(v.encode()), v.encode())
            column.keys[v.encode()] += 1
    return column


def table(args, data, chunk):
    r = run(args, data, chunk=chunk, threads=2)
    return r, list(csv.reader(io.StringIO(r.out.decode())))


def check_results(style, how, data, values, others, chunk, name):
    _, rows = table(how + ["--format=csv"] + ["--%s=v" % o for o in OPERATIONS], data, chunk)
    got = dict(zip(OPERATIONS, rows[1]))
    want = shown(style, lambda: {o: column_of(values).answer(o) or "" for o in OPERATIONS})
    wrong = [(o, got.get(o), want[o]) for o in OPERATIONS if got.get(o) != want[o]]
    is_(wrong[:1], [], "%s: results, %s" % (name, how))
    pairs = [(decimal.Decimal(v), decimal.Decimal(w)) for v, w in zip(values, others) if v]
    r, rows = table(how + ["--format=csv"] + ["--%s=v:w" % o for o in oracle_pair.PAIRS], data, chunk)
    want = shown(style, lambda: [oracle_pair.answer(o, pairs) or "" for o in oracle_pair.PAIRS])
    is_(rows[1:], [want], "%s: pairs" % name + ("" if rows[1:] == [want] else harness.describe(r, data)))


def check_groups(style, how, data, values, groups, chunk, name):
    operations = [o for o in OPERATIONS if o not in ("median", "first")]
    _, rows = table(how + ["--by=g"] + ["--%s=v" % o for o in operations], data, chunk)
    want = []
    for g in dict.fromkeys(groups):
        column = column_of([v for v, group in zip(values, groups) if group == g])
        want.append([g] + shown(style, lambda c=column: [c.answer(o) or "" for o in operations]))
    is_(rows[1:], want, "%s: groups" % name)


def check_windows(style, how, data, values, chunk, name):
    args = how + ["--only", "--cumsum=v", "--running-mean=v", "--running-stddev=v", "--running-count=v", "--row-number"]
    for w in WINDOWS:
        operation, argument = w.split(":")
        args.append("--%s=v:%s" % (operation, argument))
    _, rows = table(args, data, chunk)
    windows, want = [oracle_window.Window(o, n.encode()) for o, n in (w.split(":") for w in WINDOWS)], []
    for i, v in enumerate(values):
        column, pair = column_of(values[:i + 1]), oracle_text.number(v.encode()) if v else None
        row = shown(style, lambda c=column: [c.answer(o) or "" for o in ("sum", "mean", "stddev", "count")]) + [str(i + 1)]
        for window in windows:
            window.take(pair)
            row.append(shown(style, window.text).decode())
        want.append(row)
    is_(rows[1:], want, "%s: new columns" % name)


def check_quotients():
    answers("a mean is rounded once", ["--mean=v", "--digits=2"], b"v\n0.1349999999999999999999\n0.1349999999999999999999\n", "0.13\n")
    answers("a deviation, too", ["--stddev=v", "--digits=1"], b"v\n0\n0.49999999999999999999999\n0.99999999999999999999998\n", "0.5\n")
    answers("columns of --let", ["--let=w=v/8", "--let=t=concat('<', v / 3)", "--digits=2"], b"v\n1\n2\n3\n",
            "v,w,t\n1,0.12,<0.33333333333333333\n2,0.25,<0.66666666666666667\n3,0.38,<1\n")
    answers("results of others", ["--by=k", "--agg=n=count()", "--agg=r=sum(v)/count()", "--share=v", "--digits=3"], b"k,v\na,1\na,1\nb,1\n",
            "k,n,r,share(v)\na,2,1.000,0.667\nb,1,1.000,0.333\n")
    answers("quotients have 34 digits", ["--agg=1 / sum(v)", "--digits=40"], b"v\n3\n", "0.3333333333333333333333333333333333000000\n")
    answers("what is chosen, and its order, are not rounded", ["--by=k", "--mean=v", "--having=mean(v) > 0.333", "--sort=-mean", "--digits=1"],
            b"k,v\na,0.34\nb,0.349\nc,0.33\n", "k,mean(v)\nb,0.3\na,0.3\n")
    answers("nor is what records are compared with", ["--where=v > mean(v)", "--running-mean=v", "--digits=0"], b"v\n1\n2\n2\n",
            "v,running_mean(v)\n2,2\n2,2\n")
    answers("counts and texts are as they are", ["--by=k", "--count=v", "--count-distinct=v", "--mode=v", "--digits=2"], b"k,v\na,1\na,1\n",
            "k,count(v),count_distinct(v),mode(v)\na,2,1,1\n")
    answers("a first value is a number", ["--first=v", "--digits=2", "--money", "--thousands=,"], b"v\n\"$1,234.505\"\n", "1234.50\n")
    answers("no minus zero", ["--min=v", "--digits=1"], b"v\n-0.04\n", "0.0\n")
    answers("nines", ["--max=v", "--digits=1"], b"v\n99.95\n", "100.0\n")
    answers("JSON", ["--mean=v", "--sum=v", "--digits=2", "--format=json"], b"v\n1\n2\n2\n", '{"mean(v)": 1.67, "sum(v)": 5.00}\n')
    answers("a histogram", ["--hist=v:0.5", "--digits=2", "--group-digits='"], b"v\n1000.1\n",
            "low,high,count\n1'000.00,1'000.50,1\n")


def check_notation():
    by = ["--by=k", "--sum=v", "--count=v"]
    answers("groups of digits", [*by, "--group-digits=,"], MONEY, 'k,sum(v),count(v)\na,"1,234,568.130",2\nb,2.496,2\nc,0,0\n')
    answers("where nothing needs quotes", [*by, "--group-digits=,", "--output-delimiter=;"], MONEY,
            "k;sum(v);count(v)\na;1,234,568.130;2\nb;2.496;2\nc;0;0\n")
    answers("a decimal comma", [*by, "--group-digits=.", "--output-decimal=,", "--digits=2"], MONEY,
            'k,sum(v),count(v)\na,"1.234.568,13",2\nb,"2,50",2\nc,"0,00",0\n')
    answers("a character of UTF-8", ["--sum=v", "--group-digits=\u202f"], b"v\n-1234567\n", "-1\u202f234\u202f567\n")
    answers("in new columns", ["--cumsum=v", "--group-digits=,", "--digits=0"], b"v\n999\n1\n999000\n",
            'v,running_sum(v)\n999,999\n1,"1,000"\n999000,"1,000,000"\n')
    answers("with the input's comma", ["--decimal=,", "-d;", "--cumsum=v", "--digits=1", "--group-digits=."], b"v\n1000,25\n",
            "v;running_sum(v)\n1000,25;1.000,2\n")
    answers("in a table", [*by, "--human=iec", "--format=table"], MONEY, "k  sum(v)  count(v)\na    1.2M         2\nb     2.5         2\nc       0         0\n")
    for text, iec, si in (("0", "0", "0"), ("1023", "1023", "1.0K"), ("1024", "1.0K", "1.0K"), ("1536", "1.5K", "1.5K"), ("1048575", "1.0M", "1.0M"),
                          ("1047552", "1023.0K", "1.0M"), ("999949", "976.5K", "999.9K"), ("999950", "976.5K", "1.0M"), ("-2500", "-2.4K", "-2.5K"),
                          ("0.012345", "0.0123", "0.0123"), ("12.345", "12.3", "12.3"), ("1e30", "827180.6Y", "1000000.0Y"), ("1e12", "931.3G", "1.0T")):
        for units, want in (("iec", iec), ("si", si)):
            answers("%s, %s" % (text, units), ["--sum=v", "--human", units], b"v\n%s\n" % text.encode(), want + "\n")
    answers("--sizes reads what --human prints", ["--sizes=iec", "--sum=v"], b"v\n1.5K\n", "1536\n")
    answers("with --digits", ["--sum=v", "--human=si", "--digits=3"], b"v\n1234567\n", "1.235M\n")
    answers("of the merge", ["--merge", "--digits=2"], run(["--mean=v", "--partial"], MONEY).out, "308642.66\n")


def check_refusals():
    for args, says in ((["--round=half-up", "--sum=v"], "--digits N"), (["--digits=2", "--where=v > 1"], "round(x, 2)"),
                       (["--digits=2", "--sum=v", "--partial"], "give it to --merge"), (["--group-digits=,", "--format=json", "--sum=v"], "--format csv"),
                       (["--human=si", "--format=ndjson", "--sum=v"], "--format csv"), (["--group-digits=.", "--sum=v"], "--output-decimal ,"),
                       (["--digits=101", "--sum=v"], "from 0 to 100"), (["--digits=x", "--sum=v"], "from 0 to 100"),
                       (["--group-digits=12", "--sum=v"], "a digit"), (["--output-decimal=-", "--sum=v"], "a sign"),
                       (["--by=k", "--sum=v", "--human=si", "--plot"], "--plot draws numbers")):
        refuses(" ".join(args), args, MONEY, 2, says)


if __name__ == "__main__":
    check_style()
    check_quotients()
    check_notation()
    check_refusals()
    check_random()
    harness.done()
