# SPDX-License-Identifier: MIT
"""Medians, percentiles and interquartile ranges, exact: sorted lists of Python's fractions on random hostile columns;
definition 7, as numpy and DuckDB have it, on fixed ones; chunks down to one byte; --memory."""
import gzip
import os
import random
import subprocess

import harness
import hostile
import oracle_order
import oracle_text

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261123))
PLAIN = ["--header=no", "--format=plain"]
ALL = PLAIN + [oracle_order.spell(o, 1) for o in oracle_order.QUANTILES]
BY_ONE_SEARCH = tuple(o for o in oracle_order.QUANTILES if o != "mad")    # --mad searches again for what it finds
WIDE = ("edge", "exponent", "wide", "mixed", "bits")
KINDS = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")


def lines(values):
    return "".join(v + "\n" for v in values).encode()


def wanted(values, operations=oracle_order.QUANTILES):
    pairs = [oracle_text.number(v.encode()) for v in values if v]
    scale = max((s for _, s in pairs), default=0)
    values = sorted(x for x, _ in pairs)
    return "".join((oracle_order.answer(o, values, scale) or "") + "\n" for o in operations)


def check_fixed():
    for values, operation, want in (
            ("1 2 3 4", "median", "2.5"), ("1 2 3", "median", "2"), ("7", "median", "7"), ("7", "p37", "7"), ("7", "iqr", "0"),
            ("", "median", ""), ("", "iqr", ""), ("", "mad", ""), ("7", "mad", "0"), ("1 2", "mad", "0.5"), ("1 1 2 2 4 6 9", "mad", "1"),
            ("1 2 4 8", "mad", "1.5"), ("5 5 5 9", "mad", "0"), ("0.10 0.4 1", "mad", "0.30"), ("1 2 3 4.5", "mad", "1.0"), ("1 2 3 4.75", "mad", "1.00"),
            ("-1e399 0 1e399", "mad", "1" + "0" * 399), ("1e-400 4e-400", "mad", "0." + "0" * 399 + "15"), ("1 2", "p25", "1.25"), ("1 2", "p99.9", "1.999"), ("10 20 30 40 50", "p90", "46"),
            ("1 2 3 4", "p25", "1.75"), ("1 2 3 4", "p75", "3.25"), ("1 2 3 4", "iqr", "1.50"), ("-4 -1 0 2", "median", "-0.5"),
            ("1.50 2.5", "median", "2.00"), ("0.1 0.2 0.3", "p50", "0.2"), ("3 1 2 3 3 3", "median", "3"), ("-1 1", "p50", "0"),
            ("1e3 1e-3", "median", "500.0005"), ("0 1e-400", "p0.000000000000001", "0." + "0" * 416 + "1"),
            ("-1e399 1e399", "median", "0"), ("1e399 1e399 3", "p100", "1" + "0" * 399),
            ("99999999999999999999 1", "iqr", "49999999999999999999"), ("5 5 5 5 6", "p80", "5.2"),
            ("0 1", "p12.345678901234567", "0.12345678901234567"), ("", "trimmed-mean:0.1", ""), ("7", "trimmed-mean:0.4", "7"),
            ("1 2 3 1000 -5", "trimmed-mean:0.2", "2"), ("1 2 3 1000 -5", "trimmed-mean:0.19", "200.2"),
            ("1 2 2.5 9", "trimmed-mean:0.25", "2.25"), ("1e399 1 2 2 -1e399", "trimmed-mean:0.2", "1.6666666666666667"),
            ("5 5 5 6 6 6", "trimmed-mean:0.17", "5.5"), ("5 5 5 5", "trimmed-mean:0.3", "5"), ("1e300 2e300 4e300 9e300", "trimmed-mean:0.25", "3" + "0" * 300), ("-0.0 -0.0", "median", "0.0")):
        data = lines(values.split() or [""])
        want = want if want != "1.50" else "1.5"
        harness.answers("%s of %s" % (operation, harness.short(values, 40)), ["--header=no", "--format=plain", oracle_order.spell(operation, 1)],
                        data, want + "\n")


def check_definition():
    """What others print of these columns: numpy.percentile(x, [5, 25, 50, 75, 95]) and DuckDB's quantile_cont, 2026-11-23."""
    for values, want in (("3 6 7 8 8 10 13 15 16 20", ("4.35", "7.25", "9", "14.5", "18.2")),
                         ("2 1 4 8 16 32", ("1.25", "2.5", "6", "14", "28"))):
        args = ["--header=no", "--format=plain"] + ["--p%s=1" % p for p in (5, 25, 50, 75, 95)]
        harness.answers("the definition, of " + values, args, lines(values.split()), "".join(w + "\n" for w in want))


def random_column(rng, kind):
    n = rng.choice((0, 1, 2, 3, 5, 64, 65, 300, 1000))
    if kind == "equal":
        few = [hostile.number_text(rng, rng.choice(KINDS)) for _ in range(rng.choice((1, 2, 3)))]
        return [rng.choice(few) for _ in range(n)]
    if kind == "scales":
        return ["%d.%s" % (rng.randrange(-99, 99), "1" * rng.randrange(0, 20)) for _ in range(n)]
    if kind == "bits":
        return [str(rng.randrange(-2 ** rng.randrange(1, 130), 2 ** rng.randrange(1, 130))) for _ in range(n)]
    return [hostile.number_text(rng, kind if kind != "mixed" else rng.choice(KINDS)) for _ in range(n)]


def check_random():
    rng = random.Random(SEED)
    for kind in KINDS + ("mixed", "equal", "scales", "bits"):
        wrong, jobs, wants = [], [], []
        for _ in range(60):
            values = random_column(rng, kind)
            wants.append(wanted(values))
            jobs.append(dict(args=ALL, stdin=lines(values) or b"\n", threads=rng.choice((1, 2, 3, 7)),
                             chunk=rng.choice((None, 1, 2, 3, 5, 64, 500))))
        for job, want, r in zip(jobs, wants, harness.run_many(jobs)):
            if r.status != 0 or r.out != want.encode():
                wrong.append(harness.describe(r, job["stdin"]) + "\nwanted: " + harness.short(want))
        harness.ok(not wrong, "random numbers against fractions: %s, seed %d" % (kind, SEED),
                   lambda: "%d of %d\n%s" % (len(wrong), len(jobs), wrong[0]))


def check_large():
    """More values than are gathered at once, in every form that is kept, and in several threads."""
    rng = random.Random(SEED + 1)
    n = 150000
    columns = {
        "32 bits": [str(rng.randrange(-10 ** 6, 10 ** 6)) for _ in range(n)],
        "64 bits": [str(rng.randrange(-10 ** 17, 10 ** 17)) for _ in range(n)],
        "128 bits": ["%d.%015d" % (rng.randrange(10 ** rng.randrange(1, 9)), rng.randrange(10 ** 15)) for _ in range(n)],
        "equal": [rng.choice(("5", "5.0", "6", "5")) for _ in range(n)],
        "skewed": [str(int(2 ** (rng.random() * 60))) for _ in range(n)],
        "one far away": ["%d" % rng.randrange(1000) for _ in range(n - 1)] + ["1e17"],
        "wide": ["%de%d" % (rng.randrange(1, 10 ** 6), rng.randrange(-200, 200)) for _ in range(n // 4)],
        "wide and equal": [rng.choice(("1e300", "1e-300")) for _ in range(n // 4)]}
    asked = ("median", "p0", "p1", "p25", "p99.9", "p100", "iqr")
    args = ["--header=no", "--format=plain"] + [oracle_order.spell(o, 1) for o in asked]
    jobs = [dict(args=args, stdin=lines(v), threads=t, chunk=c) for v in columns.values() for t, c in ((1, None), (7, 20000))]
    runs = harness.run_many(jobs)
    for i, (name, values) in enumerate(columns.items()):
        want = wanted(values, asked).encode()
        for r in runs[2 * i:2 * i + 2]:
            harness.ok(r.status == 0 and r.out == want, "%d values: %s" % (len(values), name),
                       lambda r=r, want=want: harness.describe(r) + "\nwanted: " + harness.short(want))


def beyond_128_bits(answers):
    """Whether the extremes are: of such numbers, many that agree in 17 digits must fit in memory."""
    return any(len(x.strip("-").replace(".", "").lstrip("0")) > 37 for x in answers.split("\n"))


def check_passes():
    """Files whose values do not fit in memory are read several times."""
    rng = random.Random(SEED + 2)
    for kind in KINDS + ("mixed", "scales", "bits"):
        wrong, jobs, wants, again, nrefused = [], [], [], [], 0
        for i in range(12):
            values = sum((random_column(rng, kind) for _ in range(10 if kind in WIDE else 2)), [])
            path = harness.fixture("passes-%s-%d.csv" % (kind, i), lines(values) or b"\n")
            wants.append(wanted(values, BY_ONE_SEARCH))
            jobs.append(dict(args=PLAIN + [oracle_order.spell(o, 1) for o in BY_ONE_SEARCH] + ["--memory", "96K" if kind in WIDE else rng.choice(("1", "4K"))] + [path], threads=rng.choice((1, 2, 3) if kind in WIDE else (1, 2, 3, 7)),
                             chunk=rng.choice((None, 5, 64, 500))))
            if i % 4 == 0:
                again.append((dict(jobs[-1], args=PLAIN + ["--mad=1"] + jobs[-1]["args"][-3:]), wanted(values, ("mad",)), wants[-1]))
        if kind in WIDE:
            jobs, wants = jobs + [dict(j, threads=1) for j in jobs if j["threads"] > 1], wants + [w for w, j in zip(wants, jobs) if j["threads"] > 1]
        for job, want, r in zip(jobs, wants, harness.run_many(jobs)):
            if r.status == 1 and b"more memory needed" in r.err and beyond_128_bits(want):
                # several threads hold as many blocks as chunks are under way, which is not the same in each run
                nrefused += kind not in WIDE or job["threads"] == 1
            elif r.status != 0 or r.out != want.encode():
                wrong.append(harness.describe(r) + "\nwanted: " + harness.short(want))
        for (job, want, all_wanted), r in zip(again, harness.run_many([job for job, _, _ in again])):
            is_refused = r.status == 1 and b"more memory needed" in r.err and kind in WIDE and beyond_128_bits(all_wanted)
            if not is_refused and (r.status != 0 or r.out != want.encode()):
                wrong.append(harness.describe(r) + "\nwanted: " + harness.short(want))
        harness.ok(not wrong and nrefused < (6 if kind in WIDE else 1), "passes over random numbers: %s, seed %d" % (kind, SEED), lambda: "%d of %d, refused %d\n%s" % (len(wrong), len(jobs), nrefused, wrong[:1]))
    values = [rng.choice(("5", "5.0", "6", "-3")) for _ in range(50000)]
    path = harness.fixture("equal.csv", lines(values))
    harness.answers("passes over few different values", ALL + ["--memory=1K", path], b"", wanted(values), threads=3)
    n = 100000
    pairs = [(str(rng.randrange(-10 ** 9, 10 ** 9)), "%d.%02d" % (rng.randrange(50), rng.randrange(100))) for _ in range(n)]
    data = b"x,y,z\n" + "".join("%s,%s,1\n" % p for p in pairs).encode()
    path, zipped = harness.fixture("two.csv", data), harness.fixture("two.csv.gz", gzip.compress(data, 1))
    want = "median(x),p99(y),iqr(x),sum(z),p5(y)\n%s\n" % ",".join((
        wanted([x for x, _ in pairs], ["median"]), wanted([y for _, y in pairs], ["p99"]), wanted([x for x, _ in pairs], ["iqr"]),
        "%d\n" % n, wanted([y for _, y in pairs], ["p5"]))).replace("\n", "")
    args = ["--median=x", "--p99=y", "--iqr=x", "--sum=z", "--p5=y", "--memory"]
    for size in ("8M", "500K", "100K", "10K"):
        for threads in (1, 3):
            harness.answers("two columns, --memory %s, %d threads" % (size, threads), args + [size, path], b"", want, threads=threads)
    harness.answers("... of a compressed file", args + ["100K", zipped], b"", want)
    with open(path, "rb") as f:
        got = subprocess.run([harness.program()] + args + ["100K"], stdin=f, stdout=subprocess.PIPE, env=harness.environment()).stdout
    harness.is_(got, want.encode(), "... of a redirect")
    few = ["--where", "z = 1 and y < 1", "--median=y"]
    harness.answers("... with a condition", few + ["--memory=1K", path], b"", wanted([y for _, y in pairs if float(y) < 1], ["median"]))
    harness.refuses("a histogram beyond --memory", ["--hist=x:1000000", "--memory=10K", path], b"", 1, "(try --memory SIZE with more)")


def check_forms():
    table = b"k,x,y\na,1,10\nb,,20\nc,4,30\n"
    harness.answers("names of results", ["--median=x", "--p99.9=y,x", "--iqr=y", "--p050", "x"], table,
                    "median(x),p99.9(y),p99.9(x),iqr(y),p050(x)\n2.5,29.98,3.997,10,2.5\n")
    harness.answers("with a condition", ["--where", "y > 10", "--median=y"], table, "25\n")
    harness.answers("'*' and other operations beside it", ["--median=*", "--sum=x", "--var=x", "--p10=y"], table,
                    "median(x),median(y),sum(x),var(x),p10(y)\n2.5,20,5,4.5,12\n")
    harness.answers("no value is null in JSON", ["--median=x", "--p5=x", "--format=json"], b"x,y\n,1\n",
                    '{"median(x)": null, "p5(x)": null}\n')
    harness.refuses("text", ["--median=k"], table, 1, "<stdin>:2: ", "not a number: 'a'")
    for option in ("p101", "p100.1", "p50x", "p5.", "p1.2.3", "p-5", "pNN", "p0.0000000000000001", "p1e1", "p99999999999999999999"):
        sentence = "--%s: percentiles are --p0 to --p100" % option if option[1] != "-" else "unknown option '--p-5'"
        harness.refuses("--" + option, ["--%s=x" % option], table, 2, sentence)
    harness.refuses("--p", ["--p=x"], table, 2, "unknown option '--p'")
    harness.refuses("--p50 without columns", ["--p50"], table, 2, "option '--pNN' needs an argument")
    harness.offers_to_gpu("a GPU keeps values", ["--median=x"], table, "2.5\n", False)


def check_memory():
    data = lines(str(i * i) for i in range(20000))
    for threads in (1, 3):
        for chunk in (None, 1000):
            harness.refuses("a pipe and little --memory, %d threads" % threads, ["--header=no", "--median=1", "--memory=20K"], data, 1,
                            "more memory needed to keep values than --memory allows: 20480 bytes",
                            "(try --memory SIZE with more, or a file instead of a pipe)",
                            threads=threads, chunk=chunk)
    for size in ("1M", "1m", "1048576", "1024K", "1G", "2T"):
        harness.answers("--memory " + size, ["--header=no", "--median=1", "--memory", size], data, "99990000.5\n")
    for size in ("0", "", "K", "1KB", "x", "-1", "1.5G", "99999999999999999999", "16777217T", "1 K"):
        harness.refuses("--memory " + size, ["--header=no", "--median=1", "--memory", size], data, 2, "--memory: '%s' is no size" % size)


check_memory()
check_fixed()
check_definition()
check_random()
check_large()
check_passes()
check_forms()
harness.done()
