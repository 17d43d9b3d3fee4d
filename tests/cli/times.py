# SPDX-License-Identifier: MIT
"""Times in expressions: parts, units, formats, arithmetic and zones, against Python's datetime and zoneinfo.

TIMES=N tries N random times of each kind instead of 2,000.
"""
import datetime
import os
import random
import tempfile
import zoneinfo

import harness
import oracle_time

SEED = 42
N = int(os.environ.get("TIMES", "2000"))
CHUNKS = (1, 2, 7, 64, None)
CASE = "time,n\n2024-05-01T10:15:00Z,1\n2024-05-01T10:45:00Z,2\n2024-05-01T11:05:00+02:00,4\n2024-05-02 10:00:00,8\n"


def everywhere(name, args, data, want):
    harness.agrees(name, args, data.encode(), harness.exactly(want), [(c, t) for c in CHUNKS for t in (1, 3)])


def value(expression, text, want, *args):
    """What an expression makes of the column t."""
    harness.answers("%s of %s %s" % (expression, text, " ".join(args)), ["-H", "--let=x=" + expression, "--select=x"] + list(args),
                    b"t|u\n%s|\n" % text.encode(), "x\n" + want + "\n")


def check_units():
    everywhere("requests per hour", ["--by=trunc(time, \"hour\")", "--sum=n"], CASE,
               "\"trunc(time, \"\"hour\"\")\",sum(n)\n2024-05-01T10:00:00Z,3\n2024-05-01T09:00:00Z,4\n2024-05-02T10:00:00Z,8\n")
    for unit, want in (("15m", "2024-05-17T10:45:00Z"), ("minute", "2024-05-17T10:47:00Z"), ("10 seconds", "2024-05-17T10:47:30Z"),
                       ("day", "2024-05-17"), ("week", "2024-05-13"), ("month", "2024-05-01"), ("quarter", "2024-04-01"),
                       ("year", "2024-01-01"), ("2 weeks", "2024-05-13"), ("6mo", "2024-01-01"), ("7h", "2024-05-17T04:00:00Z")):
        value('trunc(t, "%s")' % unit, "2024-05-17T10:47:33.9Z", want, "-d|")
    value("trunc(u, 'day')", "2024-05-17", "", "-d|")
    value("trunc(t / 10)", "25", "2", "-d|")


def check_arithmetic():
    for expression, want in (
            ('t + "1h30m"', "2024-02-29T01:15:00.50Z"), ('t - "45:00"', "2024-02-28T23:00:00.50Z"), ("time(t) + 0.25", "2024-02-28T23:45:00.75Z"),
            ('t + "1 month"', "2024-03-28T23:45:00.50Z"), ('t - "2 years"', "2022-02-28T23:45:00.50Z"), ('t + "1 day"', "2024-02-29T23:45:00.50Z"),
            ('add_months("2024-01-31", 1)', "2024-02-29"), ('time(t) - "2024-02-28"', "85500.50"), ('"2024-02-28" - time(t)', "-85500.50"),
            ('t - trunc(t, "day")', "85500.50"), ("epoch(t)", "1709163900.50"), ("from_epoch(epoch(t))", "2024-02-28T23:45:00.50Z"),
            ("from_epoch_ms(1709163900500)", "2024-02-28T23:45:00.500Z"), ("from_epoch(-0.5)", "1969-12-31T23:59:59.5Z"),
            ("from_epoch(1e9)", "2001-09-09T01:46:40Z"), ("date(t)", "2024-02-28"), ("time(t) > '2024-02-28'", "1"),
            ("if('2024-02-29' <= time(t), 1, 2)", "2"), ("time(t) between '2024-02-28' and '2024-02-29'", "1"),
            ("time(t) in ('2024-02-29T00:45:00.5+01:00', '2020-01-01')", "1"), ("time(t) = from_epoch(1709163900.5)", "1"),
            ("t - '2024-02-28T00:00:00Z'", "85500.50"), ("time(t) not between '2024-02-28' and '2024-02-29' or t is missing", "0"),
            ("from_epoch(1709163900.123456789012)", "2024-02-28T23:45:00.123456789012Z")):
        value(expression, "2024-02-28T23:45:00.50", want, "-d|")
    everywhere("the difference of two columns", ["--let=s=end - start", "--only"],
               "start,end\n2024-05-01T10:00:00Z,2024-05-01T12:30:00+02:00\n2024-05-01,2024-05-02T00:00:00.25\n7,9.5\n,2024-05-01\n",
               "s\n1800\n86400.25\n2.5\n\n")
    everywhere("the sum of differences", ["--let=s=end - start", "--sum=s", "--max=s"],
               "start,end\n2024-05-01T10:00:00Z,2024-05-01T12:30:00+02:00\n2024-05-01,2024-05-02T00:00:00.25\n", "sum(s),max(s)\n88200.25,86400.25\n")


def check_formats():
    for form, text, want in (
            ("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z"), ("%d.%m.%Y", "1.5.2024", "2024-05-01"),
            ("%m/%d/%y %I:%M %p", "05/01/24 10:15 pm", "2024-05-01T22:15:00Z"), ("%Y%m%d", "20240501", "2024-05-01"),
            ("%s", "1714558500", "2024-05-01T10:15:00Z"), ("%a, %d %b %Y %T %Z", "Wed, 01 May 2024 10:15:00 GMT", "2024-05-01T10:15:00Z"),
            ("%F %T.%f", "2024-05-01 10:15:00.1230", "2024-05-01T10:15:00.1230Z")):
        value('time(t, "%s")' % form, text, want, "-d|")
    value('format(t, "%F %H:00")', "2024-05-01T10:15:00Z", "2024-05-01 10:00", "-d|")
    value('format(t, "%A|%B")', "2024-05-01T10:15:00Z", '"Wednesday|May"', "-d|")
    value('format(time(t, "%d.%m.%Y"), "%Y-%m")', "31.12.2023", "2023-12", "-d|")
    everywhere("by month", ["--by=month=format(time(d, \"%d.%m.%Y\"), \"%Y-%m\")", "--sum=v"], "d,v\n01.04.2024,1\n\"30.4.2024\",2\n1.5.2024,4\n",
               "month,sum(v)\n2024-04,3\n2024-05,4\n")


def check_ways():
    data = "t\tv\n" + "".join("2024-05-0%dT%02d:15:00Z\t%d\n" % (i % 9 + 1, i % 24, i) for i in range(300)) + "NA\t1\n\t2\n"
    rows = {}
    for i in range(300):
        rows.setdefault((i % 24, i % 9), []).append(i)
    hours = {h: sum(sum(v) for (k, _), v in rows.items() if k == h) for h in range(24)}
    want = "hour\tsum(v)\n" + "".join("%d\t%d\n" % (h, hours[h]) for h in range(24))
    everywhere("TSV and missing times", ["-d\\t", "--missing=NA", "--let=hour=hour(t)", "--by=hour", "--where=hour is not missing", "--sum=v", "--format=tsv"], data, want)
    everywhere("where", ["-d\\t", "--missing=NA", "--where=hour(t) >= 23 and weekday(t) <= 5", "--sum=v"], data,
               "%d\n" % sum(i for i in range(300) if i % 24 >= 23 and datetime.date(2024, 5, i % 9 + 1).isoweekday() <= 5))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "times.tsv")
        with open(path, "w", encoding="utf-8") as f:
            f.write(data)
        args = ["-d\\t", "--missing=NA", "--tz=+05:30", "--by=trunc(t, '6h')", "--sum=v"]
        whole, parts = harness.run(args + [path]), []
        for k in (1, 2, 3):
            parts.append(os.path.join(folder, "part%d" % k))
            with open(parts[-1], "wb") as f:
                f.write(harness.run(args + ["--partial", "--part=%d/3" % k, path]).out)
        harness.is_(harness.run(["--merge"] + parts).out, whole.out, "parts of a file")
        r = harness.run([a.replace("+05:30", "UTC") for a in args] + ["--partial", "--part=2/3", path])
        with open(parts[1], "wb") as f:
            f.write(r.out)
        r = harness.run(["--merge"] + parts)
        harness.ok(r.status == 1 and not r.out, "parts of two zones are refused", lambda: harness.describe(r))


def check_messages():
    for expression, text, words in (
            ("hour(t)", "x", "column 'x': not an ISO date: 'x' (try time(t, \"%d.%m.%Y %H:%M\") for another form than 2024-01-05T10:15:00Z)"),
            ("hour(t)", "1714558500", "not an ISO date: '1714558500' (try from_epoch(n), if it is the seconds since 1970)"),
            ("hour(t)", "1714558500123", "(try from_epoch_ms(n), if it is the milliseconds since 1970)"),
            ("hour(t)", "17145", "(try time(t, "),
            ('time(t, "%d.%m.%Y")', "31.4.2024", "column 'x': not a time in the format of the expression: '31.4.2024'"),
            ("duration(t)", "1 month", "column 'x': not a duration: '1 month' (try 1h30m, 01:30:15 or 10:00)"),
            ("bytes(t)", "1Kb", "column 'x': not a size: '1Kb' (try 1.5K, 10 MB or 2GiB)"),
            ("from_epoch(t)", "1e12", "column 'x': number beyond"), ("t + '1h'", "9999-12-31T23:30:00Z", "column 'x': number beyond"),
            ('trunc(t, "hour")', "2024-05-01T24:00:00Z", "not an ISO date: '2024-05-01T24:00:00Z'")):
        harness.refuses("%s of %s" % (expression, text), ["--let=x=" + expression, "--count=x", "-d|"], b"t|u\n%s|\n" % text.encode(), 1, words)
    for expression, words in (
            ('trunc(t, "fortnight")', "no unit of time"), ('time(t, "%Q")', "no letter of a format"), ('time(t, "Y-m-d")', "a format has letters after %"),
            ('time(t, "%G-%V")', "are written, but not read"), ('bytes(t, "4")', "no units of sizes"), ("time(t) * 2", "not a time: epoch() is its seconds"),
            ("time(t) + time(t)", "not a time"), ("time(t) < 5", "a time is needed here"), ('time(t) < "May"', "not a time"),
            ('t + "one"', "a number is needed"), ('1 + "1h"', "a number is needed"), ("t between time(t) and 5", "times are compared with times")):
        harness.refuses(expression, ["--let=x=" + expression, "--count=x"], b"t\n1\n", 2, words)
    for zone in ("Nowhere/None", "/etc/passwd", "+25:00", "../UTC", ""):
        harness.refuses("--tz %s" % zone, ["--tz", zone, "--count=1"], b"t\n", 2, "--tz '%s': no zone of this name" % zone)


# ---- random times ---------------------------------------------------------------------------

UNITS = [(1, "second"), (10, "second"), (1, "minute"), (15, "minute"), (7, "minute"), (1, "hour"), (6, "hour"), (5, "hour"), (1, "day"), (3, "day"),
         (1, "week"), (2, "week"), (1, "month"), (5, "month"), (1, "quarter"), (1, "year"), (10, "year")]
FORMATS = ("%Y-%m-%d %H:%M:%S", "%d/%b/%Y:%H:%M:%S %z", "%m/%d/%y %I:%M:%S %p", "%A, %e %B %Y %T", "%Y%j%H%M%S", "%s", "%F %T.%f", "%d%m%Y", "%D %R",
           "%b %d %H:%M:%S")
WRITTEN = FORMATS + ("%G-W%V-%u", "%a %w %h %y %Z %%", "%F %H:00")
PARTS = ("year", "quarter", "month", "week", "day", "weekday", "dayofyear", "hour", "minute", "second")


def random_text(rng, low, high):
    x = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=rng.randrange(low, high))
    date = rng.choice((x.strftime("%Y-%m-%d").rjust(10, "0"),) * 6 + ("%04d%02d%02d" % (x.year, x.month, x.day),
                      "%04d-W%02d-%d" % x.isocalendar() if 1 < x.year < 9999 else "2024-W01-1", "%04d-%03d" % (x.year, x.timetuple().tm_yday)))
    if rng.randrange(12) == 0:
        return date
    colon = ":" if "-" in date else ""
    clock = x.strftime("%H" + colon + "%M" + colon + "%S") if rng.randrange(9) else x.strftime("%H" + colon + "%M")
    if len(clock) > 5 and rng.randrange(5) == 0:
        clock += rng.choice(".,") + str(rng.randrange(10 ** 9))[:rng.randrange(1, 10)]
    return date + rng.choice("TTT ") + clock + rng.choice(("Z", "Z", "", "+02:00", "-0930", "+14", " UTC", " +0100"))


def check_random(zone_name, zone, low, high):
    rng, is_utc = random.Random("%s %d" % (zone_name, SEED)), zone_name == "UTC"
    texts = []
    while len(texts) < N:
        text = random_text(rng, low, high)
        try:
            texts.append((text, oracle_time.read(text.encode(), zone)))
        except oracle_time.NoTime:
            pass
    columns, units, forms = [], [rng.choice(UNITS) for _ in range(3)], [rng.choice(WRITTEN) for _ in range(3)]
    columns += [("%s(t)" % part, lambda x, part=part: str(getattr(oracle_time.Civil(x, zone), part))) for part in rng.sample(PARTS, 4)]
    for count, unit in units:
        columns.append(("trunc(t, '%d %ss')" % (count, unit), lambda x, c=count, u=unit: oracle_time.write(oracle_time.trunc(x, c, u, zone), zone, is_utc)))
    for form in forms:
        columns.append(("format(t, '%s')" % form, lambda x, form=form: oracle_time.write_format(form, x, zone)))
    columns.append(("time(t)", lambda x: oracle_time.write(x, zone, is_utc)))
    args = ["-d|", "--quote=none", "--tz", zone_name] + ["--let=c%d=%s" % (i, e) for i, (e, _) in enumerate(columns)] + ["--only"]
    r = harness.run(args, ("t\n" + "".join(text + "\n" for text, _ in texts)).encode(), chunk=rng.choice((100, 1000, None)))
    got = r.out.decode().split("\n")[1:-1]
    want = ["|".join(f(x) for _, f in columns) for _, x in texts]
    wrong = [(t[0], g, w) for t, g, w in zip(texts, got, want) if g != w]
    harness.ok(r.status == 0 and len(got) == len(want) and not wrong, "%d random times, %s" % (N, zone_name),
               lambda: repr((len(wrong), [e for e, _ in columns], wrong[:2], r.err[:300])))


def spoiled(rng, text):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(("", text[at:at + 1] * 2, rng.choice("0123456789:-+TZ .W/"))) + text[at + 1:]


def check_random_texts(form):
    """Texts that are times by a format, and such with a character changed: which of them are none."""
    rng, zone = random.Random("%s %d" % (form, SEED)), datetime.timezone(datetime.timedelta(hours=-3))
    texts, want = [], []
    for _ in range(N):
        x = oracle_time.Instant(rng.randrange(-10 ** 9, 4 * 10 ** 9), 0, False)
        text = oracle_time.write_format(form or "%FT%TZ", x, zone)
        text = spoiled(rng, text) if rng.randrange(2) else text
        if not text.strip(" ") or "|" in text:
            continue
        texts.append(text)
        try:
            text = text.strip(" \t").encode()
            x = oracle_time.read_format(form, text, zone) if form else oracle_time.read(text, zone)
            want.append(oracle_time.write(oracle_time.in_range(x, zone), zone, False))
        except oracle_time.NoTime:
            want.append("")
    argument = ", '%s'" % form if form else ""
    r = harness.run(["-d|", "--tz=-03", "--let=x=time(t%s)" % argument, "--invalid=skip", "--select=x"],
                    ("t\n" + "".join(t + "\n" for t in texts)).encode(), chunk=rng.choice((100, 1000, None)))
    got = r.out.decode().split("\n")[1:-1]
    wrong = [(t, g, w) for t, g, w in zip(texts, got, want) if g != w]
    harness.ok(r.status == 0 and len(got) == len(want) and not wrong, "random texts by %s" % (form or "ISO 8601"),
               lambda: repr((len(wrong), wrong[:3], len(got), len(want), r.err[:300])))


check_units()
check_arithmetic()
check_formats()
check_ways()
check_messages()
check_random("UTC", None, -62135596800 + 86400, 253402300799 - 90000)
check_random("+05:45", datetime.timezone(datetime.timedelta(hours=5, minutes=45)), -62135596800 + 86400 * 2, 253402300799 - 86400 * 2)
for name in ("Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "America/New_York", "Asia/Kathmandu"):
    try:
        found = zoneinfo.ZoneInfo(name)
    except zoneinfo.ZoneInfoNotFoundError:
        harness.skip("random times of " + name, "no zoneinfo database")
        continue
    check_random(name, found, -10 ** 9, 3 * 10 ** 9)
for known in (None,) + FORMATS:
    check_random_texts(known)
harness.done()
