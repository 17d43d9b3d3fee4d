# SPDX-License-Identifier: MIT
"""New columns that look back: --lag, --fill-down, --ewma and all --rolling-.
The model of the numbers is oracle_window.py; fields as they are need none but a list."""
import decimal
import os
import random

import harness
import oracle_scan
import part_cases
from harness import answers, refuses
from oracle_groups import Groups
from oracle_request import WINDOWS
from oracle_scan import Scan
from oracle_window import Window
from scan_ways import breaks, holds, prints, ways

OPTIONS = ("--lag", "--fill-down", "--rolling-sum", "--rolling-mean", "--rolling-min", "--rolling-max", "--rolling-count",
           "--rolling-stddev", "--rolling-median", "--ewma")
READINGS = b"t,v\n1,10\n2,12.5\n3,\n4,7\n5,20.25\n6,1\n"


def only(name, args, data, want):
    """One column; each of its lines is a word of want, and - one of no bytes."""
    head, *cells = want.split()
    lines = [head] + [c.replace("-", "", 1) if c == "-" else c for c in cells]
    holds(name, args + ["--only"], data, prints("".join(line + "\n" for line in lines)), ways(0, (1, 2, 7, 64, None)))


def check_by_hand():
    answers("lag", ["--lag=v"], READINGS, "t,v,lag(v)\n1,10,\n2,12.5,10\n3,,12.5\n4,7,\n5,20.25,7\n6,1,20.25\n")
    only("lag of two", ["--lag=v:2"], READINGS, "lag(v:2) - - 10 12.5 - 7")
    only("lag of as many as there are", ["--lag=v:6"], READINGS, "lag(v:6) - - - - - -")
    only("lag of more", ["--lag=v:1000000000"], READINGS, "lag(v:1000000000) - - - - - -")
    only("fill down", ["--fill-down=v"], READINGS, "filled(v) 10 12.5 12.5 7 20.25 1")
    only("fill down, other words for missing", ["--fill-down=v", "--missing=NA"], b"v\nNA\na\nNA\n\"NA\"\n  \nb\n", "filled(v) - a a a a b")
    only("sum", ["--rolling-sum=v:2"], READINGS, "rolling_sum(v:2) 10 22.5 12.5 7.0 27.25 21.25")
    only("sum of one", ["--rolling-sum=v:1"], READINGS, "rolling_sum(v:1) 10 12.5 0.0 7.0 20.25 1.00")
    only("sum of all", ["--rolling-sum=v:99"], READINGS, "rolling_sum(v:99) 10 22.5 22.5 29.5 49.75 50.75")
    only("mean", ["--rolling-mean=v:3"], READINGS, "rolling_mean(v:3) 10 11.25 11.25 9.75 13.625 9.4166666666666667")
    only("mean of one", ["--rolling-mean=v:1"], READINGS, "rolling_mean(v:1) 10 12.5 - 7 20.25 1")
    only("minimum", ["--rolling-min=v:3"], READINGS, "rolling_min(v:3) 10 10.0 10.0 7.0 7.00 1.00")
    only("maximum", ["--rolling-max=v:3"], READINGS, "rolling_max(v:3) 10 12.5 12.5 12.5 20.25 20.25")
    only("of a missing value alone", ["--rolling-max=v:1"], READINGS, "rolling_max(v:1) 10 12.5 - 7.0 20.25 1.00")
    only("count", ["--rolling-count=v:2"], READINGS, "rolling_count(v:2) 1 2 1 1 2 2")
    only("count of text", ["--rolling-count=v:3"], b"v,w\na,1\n,2\n\"b, c\",3\n\"\",4\nd,5\n", "rolling_count(v:3) 1 1 2 1 2")
    only("deviation", ["--rolling-stddev=v:3"], READINGS, "rolling_stddev(v:3) - 1.7677669529663688 1.7677669529663688 "
         "3.8890872965260114 9.3691648507217547 9.8499153972678026")
    only("median of three", ["--rolling-median=v:3"], READINGS, "rolling_median(v:3) 10 11.25 11.25 9.75 13.625 7.00")
    only("median of all", ["--rolling-median=v:99"], READINGS, "rolling_median(v:99) 10 11.25 11.25 10.0 11.25 10.00")
    only("median of long numbers", ["--rolling-median=v:2"], b"v\n123456789012345678901\n1e-30\n0\n1\n",
         "rolling_median(v:2) 123456789012345678901 61728394506172839450.5000000000000000000000000000005 "
         "0.0000000000000000000000000000005 0.500000000000000000000000000000")
    only("weighted mean", ["--ewma=v:0.5"], READINGS, "ewma(v:0.5) 10 11.25 11.25 9.125 14.6875 7.84375")
    only("weighted mean of weight 1", ["--ewma=v:1"], READINGS, "ewma(v:1) 10 12.5 12.5 7 20.25 1")
    only("a third of it, rounded at each step", ["--ewma=v:0.3333333333333333"], b"v\n1\n2\n4\n",
         "ewma(v:0.3333333333333333) 1 1.3333333333333333 2.2222222222222221")


def check_beyond_128_bits():
    only("a sum beyond 128 bits, behind a chunk's border", ["--rolling-sum=v:2"],
         b"v\n.31687303715884105727\n999999999999999998\n999999999999999999\n5\n",
         "rolling_sum(v:2) 0.31687303715884105727 999999999999999998.31687303715884105727 1999999999999999997.00000000000000000000 "
         "1000000000000000004.00000000000000000000")
    n = 200     # 171 of them are more than 2^127 x 10^-18
    sums = ["0.000000000000000001"] + ["%d.000000000000000001" % (k * (10 ** 18 - 1)) for k in range(1, n + 1)]
    only("a sum that grows beyond 128 bits", ["--rolling-sum=v:300"], b"v\n.000000000000000001\n" + b"999999999999999999\n" * n,
         " ".join(["rolling_sum(v:300)"] + sums))


def check_together():
    data = b"g,v\na,1\nb,10\na,3\nb,7\na,\na,5\n"
    answers("by group", ["--by=g", "--only", "--lag=v", "--fill-down=v", "--rolling-sum=v:2", "--rolling-min=v:2", "--ewma=v:0.5"], data,
            "lag(v),filled(v),rolling_sum(v:2),rolling_min(v:2),ewma(v:0.5)\n,1,1,1,1\n,10,10,10,10\n1,3,4,1,2\n10,7,17,7,8.5\n"
            "3,3,3,3,2\n,5,5,5,3.5\n")
    answers("of some records", ["--where=v > 1", "--only", "--lag=v", "--rolling-sum=v:2"], b"v\n1\n2\n5\n1\n6\n",
            "lag(v),rolling_sum(v:2)\n,2\n2,7\n5,11\n")
    answers("with other columns", ["--cumsum=v", "--lag=v", "--delta=v", "--only"], b"v\n1\n2\n5\n",
            "running_sum(v),lag(v),delta(v)\n1,,\n3,1,1\n8,2,3\n")
    answers("several columns", ["--rolling-sum=a,b:2", "--only"], b"a,b\n1,2\n3,4\n5,6\n",
            "rolling_sum(a:2),rolling_sum(b:2)\n1,2\n4,6\n8,10\n")
    answers("all columns of numbers", ["--rolling-max=*:2", "--lag=*", "--only"], b"a,t,b\n3,x,2\n1,y,4\n",
            "rolling_max(a:2),rolling_max(b:2),lag(a),lag(b)\n3,2,,\n3,4,3,2\n")
    answers("a computed column", ["--let=x = v * 2", "--select=v", "--lag=x", "--rolling-sum=x:2"], b"v\n1\n2\n5\n",
            "v,lag(x),rolling_sum(x:2)\n1,,2\n2,2,6\n5,4,14\n")
    answers("by position", ["--lag=:2", "--rolling-sum=:2:2", "--lag=1,:2:1", "--only", "--header=no"], b"1,2\n3,4\n", ",2,,\n2,6,1,2\n")
    answers("a name with a colon", ["--lag=a:b", "--lag=\"c:2\"", "--lag=\"c:2\":2", "--only"], b"a:b,c:2\n1,2\n3,4\n5,6\n",
            "lag(a:b),lag(c:2),lag(c:2:2)\n,,\n1,2,\n3,4,2\n")


def check_dialects():
    answers("text, as it stands", ["--lag=v", "--fill-down=v"], b'v,w\n"a, b",1\n"",2\n"say ""hi""",3\nx,4\n',
            'v,w,lag(v),filled(v)\n"a, b",1,,"a, b"\n"",2,"a, b","a, b"\n"say ""hi""",3,"","say ""hi"""\nx,4,"say ""hi""",x\n')
    answers("line ends of DOS", ["--lag=v", "--rolling-sum=v:2"], b"v\r\n1\r\n2\r\n", "v,lag(v),rolling_sum(v:2)\r\n1,,1\r\n2,1,3\r\n")
    answers("quotes around a number", ["-d-", "--rolling-sum=v:2", "--only"], b"v-t\n\"-2\"-x\n1-y\n", '"rolling_sum(v:2)"\n"-2"\n"-1"\n'.replace('"rolling_sum(v:2)"', 'rolling_sum(v:2)'))
    answers("another notation", ["-d;", "--decimal=,", "--thousands=.", "--rolling-mean=v:2", "--lag=v", "--only"], b"v;t\n1.001,5;x\n2,25;y\n",
            "rolling_mean(v:2);lag(v)\n1001,5;\n501,875;1.001,5\n")
    answers("words", ["--whitespace", "--lag=v", "--rolling-sum=v:2"], b"v  t\n1  x\n22 y\n3  z\n",
            "v  t lag(v) rolling_sum(v:2)\n1  x _ 1\n22 y 1 23\n3  z 22 25\n")
    answers("short records", ["--ragged=allow", "--lag=b", "--rolling-sum=b:2", "--only"], b"a,b\n1,2\n1\n1,3\n", "lag(b),rolling_sum(b:2)\n,2\n2,2\n,3\n")


def check_errors():
    holds("text is an error", ["--rolling-sum=v:2"], b"v\n1\nx\n2\n", breaks(b"v,rolling_sum(v:2)\n1,1\n", "<stdin>:3:", "column 'v'", "'x'"), ways(0))
    r = harness.run(["--rolling-sum=v:2", "--rolling-mean=v:2", "--ewma=v:0.5", "--only", "--invalid=skip"], b"v\n1\nx\n3\n")
    harness.ok(r.out == b"rolling_sum(v:2),rolling_mean(v:2),ewma(v:0.5)\n1,1,1\n1,1,1\n3,3,2\n" and r.status == 0, "--invalid skip leaves it out",
               lambda: harness.describe(r))
    for option in OPTIONS:
        tail = ":0.5" if option == "--ewma" else "" if option == "--fill-down" else ":2"
        refuses(option + " --exclusive", [option + "=v" + tail, "--exclusive"], b"v\n1\n", 2, "--exclusive")
        refuses(option + " with a result", [option + "=v" + tail, "--sum=v"], b"v\n1\n", 2, "not both")
        refuses(option + " and a part", [option + "=v" + tail, "--partial"], b"v\n1\n", 2, "--partial")
    for option in OPTIONS[2:9]:
        for argument in ("v", "v:0", "v:-1", "v:x", "v:1.5", "v:", ":2", "a,:2", "v:99999999999999999999"):
            refuses("%s %s" % (option, argument), [option, argument], b"v\n1\n", 2, option[2:], "COLS:N")
    refuses("--lag v:0", ["--lag", "v:0"], b"v\n1\n", 2, "--lag", "COLS:N")
    refuses("--lag v:x", ["--lag", "v:x"], b"v\n1\n", 2, "v:x")
    for argument in ("v", "v:0", "v:-0.1", "v:1.1", "v:x", "v:", "v:0.0000000000000000001"):
        refuses("--ewma " + argument, ["--ewma", argument], b"v\n1\n", 2, "--ewma", "COLS:A", ":0.1")
    for option in ("--lag=v", "--fill-down=v"):
        refuses("%s --plot" % option, [option, "--plot"], b"v\n1\n", 2, "--plot")


def check_fields():
    """--lag and --fill-down against a list, by group or not."""
    values = (b"", b"", b" ", b"1", b"-2.50", b'"a,b"', b'"x""y"', b"long " * 30, b"NA", b'""', b'"NA"', b"e")
    for seed in range(60):
        rng = random.Random(seed)
        rows = [(rng.choice(b"xyz"), rng.choice(values)) for _ in range(rng.choice((1, 2, 63, 64, 65, 300, 3000)))]
        nrows, grouped, before, out = rng.choice((1, 1, 2, 3, 63, 64, 65, 2000)), rng.randrange(2), {}, []
        for group, field in rows:
            fields = before.setdefault(group if grouped else 0, [])
            fields.append(field)
            there = [f for f in fields if f.strip(b' "') not in (b"", b"NA")]
            out.append((fields[-1 - nrows] if len(fields) > nrows else b"", there[-1] if there else b""))
        data = b"g,v\n" + b"".join(b"%c,%s\n" % row for row in rows)
        want = b"lag(v:%d),filled(v)\n" % nrows + b"".join(b"%s,%s\n" % cells for cells in out)
        holds("fields, %d" % seed, ["--lag=v:%d" % nrows, "--fill-down=v", "--missing=NA", "--only"] + ["--by=g"] * grouped, data, prints(want),
              ways(seed, (1, 7, 64, 5000, None)))


def check_damaged_fields():
    """A state without a text where a window has fields, sealed anew: the sanitizers see whether it is read as one."""
    state = os.path.join(harness.folder(), "fields.state")
    harness.run(["--lag=v", "--save-state", state], b"v\n7\n")
    with open(state, "rb") as f:
        lines = [line.replace(b'["7"]', b"[null]") for line in f.read().split(b"\n")[:-2]]
    harness.fixture("fields.state", part_cases.sealed(lines))
    harness.is_(harness.run(["--lag=v", "--from-state", state], b"v\n1\n2\n").out, b"v,lag(v)\n1,\n2,1\n", "a field without a text")


def check_numbers():
    """All windows of numbers over long columns: small ones, and those that leave the fast path now and then."""
    values = ([b"%d" % k for k in range(-9, 9)], [b"0.5", b"12.25", b"-3", b"", b"1000000"],
              [b"1", b"999999999999999999", b"-123456789012345678.9", b"12345678901234567890123", b"1e-25", b"", b"1e390", b"1e-390", b"-1e390"])
    for seed in range(40):
        rng = random.Random(seed)
        few = values[seed % 3]
        nrows = rng.choice((3, 65, 300, 1500 if seed % 3 < 2 else 500))  # long numbers take long where each record is a chunk
        data = b"g,v\n" + b"".join(b"%c,%s\n" % (rng.choice(b"xyz"), rng.choice(few)) for _ in range(nrows))
        sizes = b"%d" % rng.choice((1, 2, 7, 64, 100, 700))
        news = [(o, b"v:" + (rng.choice((b"0.1", b"0.5", b"0.0625", b"0.123456")) if o == "ewma" else sizes)) for o in WINDOWS]
        q = Groups("g", news=news, only=True) if rng.randrange(2) else Scan(news, only=True)
        model = oracle_scan.judge(q, data)
        holds("numbers, %d" % seed, q.args(), data, model, ways(seed, (1, 7, 500, None)))


def check_groups():
    """A group's new columns are those of its records alone: few records of many groups, and many of few; with values that
    groups have no room for in line."""
    numbers = (b"7", b"-3.25", b"", b"12", b"0.5", b"1e-23", b"999999999999999999", b"1e40", b"12345678901234567890", b"99999999999999999.5")
    texts = (b"", b"x", b"q" * 24, b"r" * 25, b'"a,b"', b"long " * 30, b"NA")
    for seed in range(24):
        rng = random.Random(seed)
        ngroups, nrows = rng.choice((1, 3, 40, 400)), rng.choice((5, 70, 800))
        plain = numbers[:rng.choice((5, len(numbers)))], texts[:rng.choice((3, len(texts)))]
        rows = [b"g%d,%s,%s" % (rng.randrange(ngroups), rng.choice(plain[0]), rng.choice(plain[1])) for _ in range(nrows)]
        args = ["--missing=NA"]
        for size in rng.sample((1, 2, 3, 4, 5, 8, 14, 15, 16, 40), 3):
            args += rng.choice((["--lag=t:%d" % size], ["--lag=v:%d" % size], ["--fill-down=t,v"], ["--ewma=v:0.%d" % (size % 9 + 1)],
                                ["--rolling-sum=v:%d" % size, "--rolling-min=v:%d" % size], ["--cumsum=v", "--rolling-mean=v:%d" % size],
                                ["--rolling-max=v:%d" % size, "--delta=v"]))
        of = {}
        for k, row in enumerate(rows):
            of.setdefault(row.split(b",")[0], []).append(k)
        want = [b""] * nrows
        for places in of.values():
            alone = harness.run(args + ["-H"], b"g,v,t\n" + b"".join(rows[k] + b"\n" for k in places)).out.split(b"\n")
            head = alone[0]
            for k, line in zip(places, alone[1:]):
                want[k] = line
        data = b"g,v,t\n" + b"".join(row + b"\n" for row in rows)
        holds("by group, %d" % seed, args + ["-H", "--by=g"], data, prints(b"\n".join([head] + want) + b"\n"), ways(seed, (1, 60, 700, None)))
        first, state = rng.randrange(1, nrows), os.path.join(harness.folder(), "windows.state")
        harness.run(args + ["-H", "--by=g", "--save-state", state], b"g,v,t\n" + b"".join(row + b"\n" for row in rows[:first]))
        harness.is_(harness.run(args + ["-H", "--by=g", "--from-state", state], b"g,v,t\n" + b"".join(row + b"\n" for row in rows[first:])).out,
                    b"\n".join([head] + want[first:]) + b"\n", "by group, %d: a state goes on" % seed)


def check_carried_digits():
    """A weighted mean has 34 digits; those behind the 17 that are printed show once the next value takes these away."""
    for seed in range(20):
        rng, weight = random.Random(seed), ("0.5", "0.123456", "0.04", "0.999999999")[seed % 4]
        window, w = Window("ewma", weight.encode()), decimal.Decimal(weight)
        numbers = ["%s%d.%03d" % (rng.choice(("", "-")), rng.randrange(1, 10 ** 6), rng.randrange(1000)) for _ in range(rng.randrange(60, 90))]
        for number in numbers:
            window.take((decimal.Decimal(number), 3))
        with decimal.localcontext() as context:
            context.prec = 60
            away = ((w - 1) * window.mean / w).quantize(decimal.Decimal("1e-%d" % rng.choice((9, 14, 18))))
        data = "v\n" + "".join("%s\n" % n for n in numbers + [format(away, "f"), "0"])
        q = Scan([("ewma", b"v:" + weight.encode())], only=True)
        holds("carried digits, %d" % seed, q.args(), data.encode(), oracle_scan.judge(q, data.encode()), ways(seed, (7, None)))


def check_long_windows():
    """A window of many records, over many chunks: the values before a chunk are shared, not copied."""
    rng, n, nrows = random.Random(1), 60000, 20000
    numbers = [rng.randrange(-10 ** 6, 10 ** 6) for _ in range(n)]
    data = b"v\n" + b"".join(b"%d\n" % x for x in numbers)
    sums, total = [], 0
    for i, x in enumerate(numbers):
        total += x - (numbers[i - nrows] if i >= nrows else 0)
        sums.append(total)
    lags = [b""] * nrows + [b"%d" % x for x in numbers[:-nrows]]
    want = b"rolling_sum(v:%d),lag(v:%d)\n" % (nrows, nrows) + b"".join(b"%d,%s\n" % pair for pair in zip(sums, lags))
    args = ["--rolling-sum=v:%d" % nrows, "--lag=v:%d" % nrows, "--only"]
    holds("a long window", args, data, prints(want), ways(1, (1000, 65536, None)))
    falling = b"v\n" + b"".join(b"%d\n" % x for x in range(n, 0, -1))
    want = b"rolling_max(v:%d)\n" % nrows + b"".join(b"%d\n" % min(x + nrows - 1, n) for x in range(n, 0, -1))
    holds("a long window of falling values", ["--rolling-max=v:%d" % nrows, "--only"], falling, prints(want), ways(2, (5000, None)))
    r = harness.run(["--lag=v:%d" % nrows, "--memory=10K"], data)
    harness.ok(r.status == 1 and b"--memory" in r.err, "more than --memory allows is an error", lambda: harness.describe(r))


check_by_hand()
check_beyond_128_bits()
check_together()
check_dialects()
check_errors()
check_fields()
check_damaged_fields()
check_numbers()
check_groups()
check_carried_digits()
check_long_windows()
harness.done()
