# SPDX-License-Identifier: MIT
"""Windows by time: --rolling-... COLS:7d --over COL. The model is plain Python: datetime, fractions, lists."""
import datetime
import decimal
import fractions
import os
import random

import harness
from harness import answers, refuses
from oracle_window import Window
from scan_ways import breaks, holds, prints, ways

OPERATIONS = ("sum", "mean", "min", "max", "count", "stddev", "median")
DAYS = b"t,v\n2024-01-01,1\n2024-01-02,2\n2024-01-10,3\n2024-01-11,4\n"
WIDTHS = {"1s": 1, "90s": 90, "15m": 900, "1h": 3600, "1h30m": 5400, "7d": 604800, "2w": 1209600, "0.5s": fractions.Fraction(1, 2),
          "1d12h": 129600, "250ms": fractions.Fraction(1, 4)}


def only(name, args, data, want, chunks=(1, 2, 7, 64, None)):
    """One column; each of its lines is a word of want, and - one of no bytes."""
    head, *cells = want.split()
    lines = [head] + ["" if c == "-" else c for c in cells]
    holds(name, args + ["--only"], data, prints("".join(line + "\n" for line in lines)), ways(0, chunks))


def check_by_hand():
    answers("case 21", ["--rolling-sum", "v:7d"], DAYS,
            "t,v,rolling_sum(v:7d)\n2024-01-01,1,1\n2024-01-02,2,3\n2024-01-10,3,3\n2024-01-11,4,7\n")
    for operation, want in (("sum", "1 3 3 7"), ("mean", "1 1.5 3 3.5"), ("min", "1 1 3 3"), ("max", "1 2 3 4"), ("count", "1 2 1 2"),
                            ("stddev", "- 0.70710678118654752 - 0.70710678118654752"), ("median", "1 1.5 3 3.5")):
        only("--rolling-" + operation, ["--rolling-%s=v:7d" % operation, "--over=t"], DAYS, "rolling_%s(v:7d) %s" % (operation, want))
    only("the record a width ago has left", ["--rolling-sum=v:1d"], DAYS, "rolling_sum(v:1d) 1 2 3 4")
    only("... and is there if it came a moment later", ["--rolling-sum=v:90s", "--over=t"], b"t,v\n0,1\n89.999999999999999999,2\n90,4\n",
         "rolling_sum(v:90s) 1 3 6")
    only("of equal times, those that came first", ["--rolling-sum=v:1s", "--over=t"], b"t,v\n5,1\n5,2\n5,4\n6,8\n", "rolling_sum(v:1s) 1 3 7 8")
    only("numbers are seconds", ["--rolling-sum=v:1m", "--over=t"], b"t,v\n-30,1\n29.9,2\n30,4\n89,8\n", "rolling_sum(v:1m) 1 3 6 14")
    only("zones and fractions", ["--rolling-count=v:1h"],
         b"t,v\n2024-03-31T01:30:00+01:00,1\n2024-03-31T00:30:00.5Z,2\n2024-03-31T03:30:00.25+02:00,3\n", "rolling_count(v:1h) 1 2 2")
    only("a zone of its own", ["--rolling-sum=v:2h", "--tz=Europe/Berlin"], b"t,v\n2024-03-31 01:30,1\n2024-03-31 03:15,2\n2024-03-31 04:30,4\n",
         "rolling_sum(v:2h) 1 3 6")
    only("YYYYMMDD", ["--rolling-sum=v:7d", "--over=t"], b"t,v\n20240227,1\n20240301,2\n20240307,4\n", "rolling_sum(v:7d) 1 3 6")
    only("numbers and times", ["--rolling-count=v:1h", "--over=t"], b"t,v\n-5.5,1\n1e2,2\n1970-01-01T00:10:00Z,3\n19700102,4\n12345678901234567890.5,5\n",
         "rolling_count(v:1h) 1 2 3 1 1")
    only("times and numbers", ["--rolling-count=v:1h", "--over=t"], b"t,v\n1970-01-01,1\n1e2,2\n1970-01-01T00:10:00Z,3\n19700102,4\n12345678901234567890.5,5\n",
         "rolling_count(v:1h) 1 2 3 1 1")
    only("a date of the year 0", ["--rolling-count=v:1d", "--over=t"], b"t,v\n0000-01-01,1\n00000101,2\n\"00000101\",3\n", "rolling_count(v:1d) 1 2 3")
    only("... among numbers", ["--rolling-count=v:1d", "--over=t"], b"t,v\n-99999999999,1\n00000101,2\n\"00000101\",3\n", "rolling_count(v:1d) 1 1 2")
    only("YYYYMMDD that is meant as a number", ["--rolling-count=v:1h", "--over=0 + t"], b"t,v\n19700101,1\n19700102,2\n", "rolling_count(v:1h) 1 2")
    only("another notation", ["-d;", "--decimal=,", "--rolling-count=v:1s", "--over=t"], b"t;v\n1,5;1\n2,25;3\n2,5;4\n", "rolling_count(v:1s) 1 2 2")
    only("a format", ["--rolling-sum=v:2d", "--over=time(t, \"%d/%b/%Y\")"], b"t,v\n31/Dec/2023,1\n01/Jan/2024,2\n02/Jan/2024,4\n",
         "rolling_sum(v:2d) 1 3 6")
    only("milliseconds", ["--rolling-sum=v:250ms", "--over=ms * 0.001"], b"ms,v\n100,1\n349,2\n350,4\n", "rolling_sum(v:250ms) 1 3 6")
    only("milliseconds, divided", ["--rolling-sum=v:1s", "--over=ms / 1000"], b"ms,v\n1000,1\n3999,2\n4000,4\n", "rolling_sum(v:1s) 1 2 6")
    only("a missing time", ["--rolling-sum=v:2d", "--over=t"], b"t,v\n2024-01-01,1\n,2\n2024-01-02,4\n", "rolling_sum(v:2d) 1 - 5")
    only("a missing value", ["--rolling-sum=v:2d", "--over=t"], b"t,v\n2024-01-01,1\n2024-01-02,\n2024-01-03,4\n", "rolling_sum(v:2d) 1 1 4")
    only("no record", ["--rolling-sum=v:2d"], b"t,v\n", "rolling_sum(v:2d)")
    answers("by position, without a header", ["--rolling-sum=2:2d", "--over=1", "-N", "--only"], b"2024-01-01,1\n2024-01-02,2\n", "1\n3\n")
    answers("... another way", ["--rolling-sum=:2:2d", "--over=col1", "-N", "--only"], b"2024-01-01,1\n2024-01-02,2\n", "1\n3\n")
    answers("in an empty input", ["--rolling-sum=:2:2d", "--over=col1"], b"", "")
    answers("a name in quotes", ["--rolling-sum=v:2d", '--over="the, day"', "--only"], b'"the, day",v\n2024-01-01,1\n2024-01-02,2\n',
            "rolling_sum(v:2d)\n1\n3\n")
    answers("a name with signs", ["--rolling-sum=v:2d", "--over=start-time", "--only"], b"start-time,v\n2024-01-01,1\n2024-01-02,2\n",
            "rolling_sum(v:2d)\n1\n3\n")
    answers("a computed column", ["--let=day = date(t)", "--rolling-sum=v:1d", "--over=day", "--only", "--select=v"][:4] + ["--only"],
            b"t,v\n2024-01-01T23:00:00Z,1\n2024-01-02T01:00:00Z,2\n", "day,rolling_sum(v:1d)\n2024-01-01,1\n2024-01-02,2\n")
    answers("'*' leaves the times out", ["--rolling-sum=*:10s", "--over=t", "--only"], b"t,v,w\n1,2,3\n2,4,5\n",
            "rolling_sum(v:10s),rolling_sum(w:10s)\n2,3\n6,8\n")


def check_together():
    answers("several widths, and rows", ["--rolling-sum=v:1d", "--rolling-sum=v:9d", "--rolling-max=v:2", "--cumsum=v", "--lag=v", "--lead=v", "--only"], DAYS,
            "rolling_sum(v:1d),rolling_sum(v:9d),rolling_max(v:2),running_sum(v),lag(v),lead(v)\n1,1,1,1,,2\n2,3,2,3,1,3\n3,5,3,6,2,4\n4,7,4,10,3,\n")
    answers("by group", ["--by=g", "--rolling-sum=v:2d", "--only"], b"g,t,v\na,2024-01-05,1\nb,2024-01-01,2\na,2024-01-06,4\nb,2024-01-03,8\n",
            "rolling_sum(v:2d)\n1\n2\n5\n8\n")
    only("by group, in the second of two passes", ["--by=g", "--rolling-sum=v:2d", "--rank=v"],
         b"g,t,v\na,2024-01-05,1\nb,2024-01-01,2\na,2024-01-06,4\nb,2024-01-03,8\n", "rolling_sum(v:2d),rank(v) 1,1 2,1 5,2 8,2")
    answers("of runs", ["--runs=g", "--rolling-sum=v:9d", "--only"], b"g,t,v\na,2024-01-05,1\na,2024-01-06,2\nb,2024-01-01,4\na,2024-01-02,8\n",
            "rolling_sum(v:9d)\n1\n3\n4\n8\n")
    answers("of some records", ["--where=v != 2", "--rolling-sum=v:9d", "--only"], DAYS, "rolling_sum(v:9d)\n1\n3\n7\n".replace("\n3", "\n3"))
    answers("the first ones", ["--head=2", "--rolling-sum=v:9d", "--only"], DAYS, "rolling_sum(v:9d)\n1\n3\n")
    answers("the last ones", ["--tail=1", "--rolling-sum=v:7d", "--only"], DAYS, "rolling_sum(v:7d)\n7\n")
    answers("sorted after", ["--sort=-v", "--rolling-sum=v:7d", "--only"], DAYS, "rolling_sum(v:7d)\n7\n3\n3\n1\n")
    answers("in JSON", ["--rolling-sum=v:7d", "--format=ndjson", "--only", "--tail=1"], DAYS, '{"rolling_sum(v:7d)": 7}\n')
    one, two = harness.fixture("one.csv", DAYS), harness.fixture("two.csv", b"t,v\n2024-01-12,5\n")
    r = harness.run(["--rolling-sum=v:7d", "--only", one, two])
    harness.is_(r.out, b"rolling_sum(v:7d)\n1\n3\n3\n7\n12\n", "two files")
    r = harness.run(["--rolling-sum=v:7d", two, one])
    harness.ok(r.status == 1 and b"one.csv:2: column 't'" in r.err, "the second file's times are earlier", lambda: harness.describe(r))
    r = harness.run(["--explain", "--rolling-sum=v:7d", one])
    harness.ok(b"t (times)" in r.out, "--explain says which column has the times", lambda: harness.describe(r))


def check_errors():
    late = b"t,v\n2024-01-02,1\n2024-01-03,2\n2024-01-02T23:59:59.9Z,3\n2024-01-05,4\n"
    holds("times that run backwards", ["--rolling-sum=v:7d", "--over=t"], late,
          breaks("t,v,rolling_sum(v:7d)\n2024-01-02,1,1\n2024-01-03,2,3\n", "<stdin>:4:", "column 't'", "'2024-01-02T23:59:59.9Z'", "--sort t"), ways(0))
    holds("... of a group", ["--rolling-sum=v:7d", "--by=g"], b"g,t,v\na,2024-01-05,1\nb,2024-01-03,2\nb,2024-01-02,4\n",
          breaks("g,t,v,rolling_sum(v:7d)\na,2024-01-05,1,1\nb,2024-01-03,2,2\n", "<stdin>:4:", "column 't'", "'2024-01-02'"), ways(1))
    holds("... of a run", ["--rolling-sum=v:7d", "--runs=g"], b"g,t,v\nb,2024-01-05,1\na,2024-01-03,2\na,2024-01-02,4\n",
          breaks("g,t,v,rolling_sum(v:7d)\nb,2024-01-05,1,1\na,2024-01-03,2,2\n", "<stdin>:4:", "column 't'", "'2024-01-02'"), ways(2))
    holds("... of an expression", ["--rolling-sum=v:7d", "--over=time(t, \"%d.%m.%Y\")"], b"t,v\n05.01.2024,1\n04.02.2023,2\n",
          breaks("t,v,rolling_sum(v:7d)\n05.01.2024,1,1\n", "<stdin>:3:", "column 't'", "'04.02.2023'"), ways(3))
    holds("no time", ["--rolling-sum=v:7d", "--over=t"], b"t,v\n2024-01-05,1\nsoon,2\n",
          breaks("t,v,rolling_sum(v:7d)\n2024-01-05,1,1\n", "<stdin>:3:", "column 't'", "not an ISO date", "'soon'"), ways(4))
    holds("no time among numbers", ["--rolling-sum=v:7d", "--over=t"], b"t,v\n17,1\nsoon,2\n",
          breaks("t,v,rolling_sum(v:7d)\n17,1,1\n", "<stdin>:3:", "column 't'", "not an ISO date", "'soon'"), ways(5))
    holds("what is no sum of seconds", ["--rolling-sum=v:7d", "--over=t + 0"], b"t,v\n17,1\nsoon,2\n",
          breaks("t,v,rolling_sum(v:7d)\n17,1,1\n", "<stdin>:3:", "not a number", "'soon'"), ways(5))
    r = harness.run(["--rolling-sum=v:7d", "--over=t", "--invalid=skip", "--only"], b"t,v\n2024-01-05,1\nsoon,2\n2024-01-06,4\n")
    harness.ok(r.status == 0 and r.out == b"rolling_sum(v:7d)\n1\n\n5\n" and b"1 value" in r.err, "--invalid skip", lambda: harness.describe(r))
    refuses("no column of times", ["--rolling-sum=v:7d"], b"t,v\n17,1\n", 2, "--over COL", "--rolling-sum v:7d")
    refuses("two of them", ["--rolling-sum=v:7d"], b"from,to,v\n2024-01-01,2024-01-02,1\n", 2, "'from' and 'to'", "--over from")
    refuses("--over alone", ["--rolling-sum=v:7", "--over=t"], DAYS, 2, "--over", "COLS:7d")
    refuses("--over twice", ["--rolling-sum=v:7d", "--over=t", "--over=v"], DAYS, 2, "--over is given twice")
    refuses("no such column", ["--rolling-sum=v:7d", "--over=nosuch"], DAYS, 2, "nosuch")
    refuses("no column in --over", ["--rolling-sum=v:7d", "--over=\"2024-01-01\" + \"1 day\""], DAYS, 2, "--over")
    for width in ("7x", "0s", "-7d", "1mo", "1y", "d", "1.5", "7d7", "1e3", "99999999999999999999d"):
        refuses("a width of " + width, ["--rolling-sum", "v:" + width], DAYS, 2, "--rolling-sum", "COLS:N")
    refuses("--lag by time", ["--lag=v:7d"], DAYS, 2, "v:7d")


def spelled(rng, kind, seconds):
    """A time of so many seconds, a Fraction, from 2024-02-27 on."""
    if kind == "number":
        return format(decimal.Decimal(seconds.numerator) / seconds.denominator, "f")
    whole = seconds.numerator // seconds.denominator
    zone = rng.choice((0, 0, 3600, -5400)) if kind == "zones" else 0
    text = (datetime.datetime(2024, 2, 27) + datetime.timedelta(seconds=whole + zone)).isoformat()
    if kind == "date":
        return text[:10]
    part = seconds - whole
    if part:
        text += "." + ("%.3f" % float(part))[2:].rstrip("0")
    return text + ("%s%02d:%02d" % ("-+"[zone > 0], abs(zone) // 3600, abs(zone) % 3600 // 60) if zone else "Z")


def random_times(rng, kind, n):
    """Ascending, with equal ones and gaps."""
    steps = ((0, 86400, 86400, 3 * 86400, 40 * 86400) if kind == "date" else (0, 0, 1, 1, 30, 60, 600, 4000, 100000))
    now, out = fractions.Fraction(0), []
    for _ in range(n):
        now += rng.choice(steps)
        if kind in ("number", "zones", "fraction") and rng.randrange(3) == 0:
            now += fractions.Fraction(rng.randrange(8), 8)
        out.append(now)
    return out


def cells(news, rows, grouped):
    """rows: (group, time or None, value or None). The new columns' cells of each."""
    kept, scales, out = {}, {}, []
    for group, time, value in rows:
        group = group if grouped else 0
        before = kept.setdefault(group, [])
        line = []
        if time is not None:
            before.append((time, value))
        for k, (operation, width) in enumerate(news):
            w = Window("rolling-" + operation, b"1")
            if value is not None:     # also of a record in no window
                scales[group, k] = max(scales.get((group, k), 0), 0 if operation == "count" else value[1])
            w.scale = scales.get((group, k), 0)
            if operation == "count":
                w.values = tuple(None if v is None else 1 for t, v in before if time is not None and t > time - width)
            else:
                w.values = tuple(v and v[0] for t, v in before if time is not None and t > time - width)
            line.append(b"" if time is None else w.text())
        out.append(b",".join(line))
    return out


def check_random():
    few = ([b"%d" % k for k in range(-9, 9)], [b"0.5", b"12.25", b"-3", b"", b"1000000"],
           [b"1", b"999999999999999999", b"-123456789012345678.9", b"12345678901234567890123", b"1e-25", b""])
    for seed in range(60):
        rng = random.Random(seed)
        kind = ("date", "number", "zones", "fraction", "second")[seed % 5]
        n, mode = rng.choice((1, 5, 64, 65, 130, 400, 900 if seed % 3 < 2 else 300)), rng.choice(("", "", "--by=g", "--runs=g"))
        widths = rng.sample(sorted(WIDTHS), 3) if kind != "date" else ["7d", "2w", "1d12h"]
        news = [(rng.choice(OPERATIONS), w) for w in widths]
        rows, place = [], 0
        times = random_times(rng, kind, n)
        for k in range(n):
            group = rng.choice("xyz") if mode != "--runs=g" or not rows or rng.randrange(6) == 0 else rows[-1][0]
            place += mode == "--runs=g" and bool(rows) and rows[-1][0] != group
            time = times[k] if rng.randrange(20) or seed % 2 or k == 0 else None
            text = rng.choice(few[seed % 3])
            rows.append((group, place, time, text))
        data = b"g,t,v\n" + b"".join(b"%s,%s,%s\n" % (g.encode(), b"" if t is None else spelled(rng, kind, t).encode(), v) for g, _, t, v in rows)
        model = [((p if mode == "--runs=g" else g), t, pair(v)) for g, p, t, v in rows]
        want = b",".join(b"rolling_%s(v:%s)" % (o.encode(), w.encode()) for o, w in news) + b"\n" + \
            b"".join(line + b"\n" for line in cells([(o, WIDTHS[w]) for o, w in news], model, bool(mode)))
        args = ["--rolling-%s=v:%s" % new for new in news] + ["--over=t", "--only", "-H"] + [mode] * bool(mode)
        holds("random, %d" % seed, args, data, prints(want), ways(seed, (1, 7, 500, None)))
        if not mode.startswith("--runs") and n > 1:
            first, state = rng.randrange(1, n), os.path.join(harness.folder(), "time.state")
            lines = data.split(b"\n")
            harness.run(args + ["--save-state", state], b"\n".join(lines[:1 + first]) + b"\n")
            r = harness.run(args + ["--from-state", state], b"\n".join(lines[:1] + lines[1 + first:]))
            harness.is_(r.out, b"\n".join(want.split(b"\n")[:1] + want.split(b"\n")[1 + first:]), "random, %d: a state goes on" % seed)


def pair(text):
    """(Decimal, scale) of a value, or None."""
    if not text:
        return None
    value = decimal.Decimal(text.decode())
    return value, max(0, -value.as_tuple().exponent)


def check_backwards():
    """The first record whose time is before the one before it, of its group, is the error, wherever chunks end."""
    for seed in range(30):
        rng = random.Random(seed)
        n, grouped = rng.choice((3, 70, 300)), rng.randrange(2)
        times = random_times(rng, "second", n)
        at = rng.randrange(1, n)
        times[at] = times[at - 1] - rng.choice((1, 3600))
        groups = [rng.choice("xyz") for _ in range(n)]
        last, wrong = {}, None
        for k in range(n):
            group = groups[k] if grouped else 0
            if group in last and times[k] < last[group] and wrong is None:
                wrong = k
            last[group] = times[k]
        data = b"g,t,v\n" + b"".join(b"%s,%s,1\n" % (g.encode(), spelled(rng, "second", t).encode()) for g, t in zip(groups, times))
        args = ["--rolling-count=v:5m", "--rolling-sum=v:1h"] + ["--by=g"] * grouped + ["--only"]
        want = cells([("count", 300), ("sum", 3600)], [(g, t, pair(b"1")) for g, t in zip(groups, times)][:n if wrong is None else wrong], grouped)
        want = b"rolling_count(v:5m),rolling_sum(v:1h)\n" + b"".join(line + b"\n" for line in want)
        judge = prints(want) if wrong is None else breaks(want, "<stdin>:%d:" % (wrong + 2), "column 't'", "earlier")
        holds("backwards, %d" % seed, args, data, judge, ways(seed, (1, 2, 33, 700, None)))


def check_long_windows():
    """Windows of many records over many chunks, and gaps in which all of them leave at once."""
    rng, n, now, times = random.Random(7), 40000, 0, []
    for k in range(n):
        now += 10 ** 6 if k % 13000 == 12999 else rng.choice((0, 1, 1, 2))
        times.append(now)
    values = [rng.randrange(-10 ** 6, 10 ** 6) for _ in range(n)]
    data = b"t,v\n" + b"".join(b"%d,%d\n" % row for row in zip(times, values))
    sums, counts, first, total = [], [], 0, 0
    for k in range(n):
        total += values[k]
        while times[first] <= times[k] - 7200:
            total -= values[first]
            first += 1
        sums.append(total)
        counts.append(k + 1 - first)
    want = b"rolling_sum(v:2h),rolling_count(v:2h)\n" + b"".join(b"%d,%d\n" % row for row in zip(sums, counts))
    holds("long windows", ["--rolling-sum=v:2h", "--rolling-count=v:2h", "--over=t", "--only"], data, prints(want), ways(1, (1000, 65536, None)))
    r = harness.run(["--rolling-sum=v:9w", "--over=t", "--memory=10K"], data)
    harness.ok(r.status == 1 and b"--memory" in r.err, "more than --memory allows is an error", lambda: harness.describe(r))


check_by_hand()
check_together()
check_errors()
check_random()
check_backwards()
check_long_windows()
harness.done()
