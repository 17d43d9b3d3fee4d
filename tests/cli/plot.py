# SPDX-License-Identifier: MIT
"""--plot and --svg: pictures against a model that reads the CSV of the same request and computes in fractions."""
import csv
import fcntl
import io
import locale
import os
import random
import re
import struct
import subprocess
import termios

import harness
from oracle_picture import NROWS_MAX, bars_svg_fault, blocks, curve, curve_svg_fault, shown

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261123))
WAYS = ((None, 1), (None, 2), (None, 7), (1, 2), (7, 3), (100, 7))


def run(args, stdin, width=80, utf8=True, threads=None, chunk=None, **how):
    env = dict(harness.environment(chunk), LC_ALL="C.UTF-8" if utf8 else "C", COLUMNS=str(width))
    argv = [harness.program()] + (["--threads", str(threads)] if threads else []) + list(args)
    p = subprocess.run(argv, input=stdin, env=env, stdout=how.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=120)
    return harness.Result(p.returncode, p.stdout or b"", p.stderr, argv, chunk)


def same(name, args, stdin, want, **how):
    r = run(args, stdin, **how)
    return harness.ok(r.status == 0 and r.out == want.encode() and r.err == b"", name,
                      lambda: "%s\ngot:\n%s\nwanted:\n%s" % (harness.describe(r, stdin), r.out.decode("utf-8", "replace"), want))


def numbers(args, stdin):
    """The CSV that the request prints without a picture."""
    def table(more):
        r = run(args + more, stdin)
        assert r.status == 0, harness.describe(r, stdin)
        return list(csv.reader(io.StringIO(r.out.decode(), newline="")))
    rows = table([])
    if any(is_long(cell) for row in rows for cell in row):      # a picture has all digits before the point, also of what is rounded
        rows = [[precise if is_long(cell) else cell for cell, precise in zip(*pair)] for pair in zip(rows, table(["--digits=40"]))]
    return rows


def is_long(cell):
    return bool(re.fullmatch(r"-?[\d.]{17,}", cell))


# ---- bars -------------------------------------------------------------------------------------

TABLE = """host,n,x
alpha,1,2.50
b,2,-1.25
alpha,3,10
東京,4,7
a very long name of a host that does not fit.example.org,5,
z,0,-3.75
""".encode()


def check_fixed():
    same("groups, 40 columns", ["--by=host", "--sum=n", "--plot"], TABLE,
         "host                sum(n)\n"
         "alpha               ██████████████▍ 4\n"
         "b                   ███████▎ 2\n"
         "東京                ██████████████▍ 4\n"
         "a very long name …  ██████████████████ 5\n"
         "z                    0\n", width=40)
    same("groups, 40 columns, without UTF-8", ["--by=host", "--sum=n", "--plot"], TABLE,
         "host                sum(n)\n"
         "alpha               ############## 4\n"
         "b                   ####### 2\n"
         "東京                ############## 4\n"
         "a very long name ~  ################## 5\n"
         "z                    0\n", width=40, utf8=False)
    same("negative values are left of a line, a missing one has no bar", ["--by=host", "--max=x", "--plot"], TABLE,
         "host                max(x)\n"
         "alpha                   │████████▊ 10.00\n"
         "b                     ▕█│ -1.25\n"
         "東京                    │██████▏ 7\n"
         "a very long name …      │\n"
         "z                   ▕███│ -3.75\n", width=40)
    same("a histogram, 80 columns", ["--hist=n:2", "--plot"], TABLE,
         "low  high  count\n"
         "  0     2  %s 2\n" % ("█" * 67) + "  2     4  %s 2\n" % ("█" * 67) + "  4     6  %s 2\n" % ("█" * 67))
    same("several results, a block each", ["--by=host", "--sum=n", "--count=n", "--where=host in ('alpha', 'b')", "--plot"], TABLE,
         "host   sum(n)\nalpha  %s 4\nb      %s 2\n\nhost   count(n)\nalpha  %s 2\nb      %s 1\n" % ("█" * 11, "█" * 5 + "▌", "█" * 11, "█" * 5 + "▌"), width=20)
    same("a format prints numbers before it", ["--by=host", "--sum=n", "--where=host in ('alpha', 'b')", "--plot", "--format=csv"], TABLE,
         "host,sum(n)\nalpha,4\nb,2\n\nhost   sum(n)\nalpha  %s 4\nb      %s 2\n" % ("█" * 11, "█" * 5 + "▌"), width=20)
    for form, numbers in (("json", '[{"host": "alpha", "sum(n)": 4},\n {"host": "b", "sum(n)": 2}]\n'), ("plain", "alpha\t4\nb\t2\n"),
                          ("ndjson", '{"host": "alpha", "sum(n)": 4}\n{"host": "b", "sum(n)": 2}\n')):
        same("... in that format: " + form, ["--by=host", "--sum=n", "--where=host in ('alpha', 'b')", "--plot", "--format=" + form], TABLE,
             numbers + "\nhost   sum(n)\nalpha  %s 4\nb      %s 2\n" % ("█" * 11, "█" * 5 + "▌"), width=20)
    same("numbers as they are spelled", ["--by=k", "--first=v", "--plot"], b"k,v\na,02E0\nb,+4\n",
         "k  first(v)\na  ###### 02E0\nb  ############ +4\n", width=20, utf8=False)
    same("no group", ["--by=host", "--plot"], b"host\n", "host  count\n")
    same("no value", ["--hist=x:1", "--plot"], b"x,y\n,1\n", "low  high  count\n")
    same("a text has no bar", ["--by=host", "--mode=n", "--where=host = 'alpha'", "--plot"], TABLE, "host   mode(n)\nalpha   1\n")
    same("text in a key does not reach the terminal as it is", ["--by=k", "--plot"], b'k\n"a\nb\x1b[1m"\n', "k            count\na\\nb\\x1b[1m  ######################### 1\n", width=40, utf8=False)
    same("what is not 0 has some bar", ["--by=k", "--sum=x", "--plot"], b"k,x\na,1000000\nb,1\nc,0\n",
         "k  sum(x)\na  █████████ 1000000\nb  ▏ 1\nc   0\n", width=20)
    same("a value is never cut", ["--by=k", "--sum=x", "--plot"], b"k,x\na,%s\n" % (b"7" * 50), "k  sum(x)\na  ######## %s\n" % ("7" * 50), width=20, utf8=False)
    for columns, want in (("0", 80), ("", 80), ("1", 20), ("99999", 1000)):
        r = run(["--by=k", "--plot"], b"k\na\n", width=columns)
        harness.is_(len(r.out.decode().split("\n")[1]), want, "COLUMNS=%s: a line of %d columns" % (columns, want))
    for columns in ("x", "-5", "80x", "8.0", "99999999999999999999"):
        r = run(["--by=k", "--plot"], b"k\na\n", width=columns)
        harness.is_((r.status, r.out, r.err.decode()), (2, b"", "gpustat: COLUMNS: '%s' is not a number of columns, such as 80\n"
                    "Try 'gpustat --help'.\n" % columns), "COLUMNS=%s" % columns)
    harness.is_(run(["--by=k"], b"k\na\n", width="x").out, b"k,count\na,1\n", "COLUMNS does not count where nothing is drawn")


def check_terminal():
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    r = run(["--by=host", "--sum=n", "--plot"], TABLE, width=30, stdout=slave)
    os.close(slave)
    got = os.read(master, 100000).decode().replace("\r\n", "\n")
    harness.is_((r.status, got), (0, blocks(numbers(["--by=host", "--sum=n"], TABLE), 1, False, 50, True)), "the terminal's width comes before COLUMNS")
    os.close(master)


RESULTS = ("--sum=x", "--min=x", "--max=y", "--mean=x", "--count=x", "--median=y", "--var=x", "--range=y", "--sum=z")


def random_table(rng):
    keys = rng.sample(["a", "bb", "c d", "e,f", "東京", "e\u0301", "long " * 12 + "x", "", "<&>\"'", "ключ", "x\ny"], rng.randrange(1, 11))
    places, size = rng.randrange(0, 4), 10 ** rng.randrange(1, 22)
    number = lambda: rng.choice(("", "%.*f" % (places, rng.uniform(-size, size)), str(rng.randrange(size)), "-%d.%d" % (rng.randrange(9), rng.randrange(99))))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["k", "l", "x", "y", "z"])
    for _ in range(rng.choice((1, 2, 10, 100))):
        writer.writerow([rng.choice(keys), rng.choice("pq"), number(), number(), rng.randrange(-2, 3)])
    return out.getvalue().encode()


def check_random_bars():
    rng = random.Random(SEED)
    wrong = []
    for _ in range(60):
        data = random_table(rng)
        if rng.random() < 0.25:
            args, nlabels, bounds = ["--hist=z:%s" % rng.choice(("1", "0.5", "3"))], 2, True
        else:
            by = rng.choice((["--by=k"], ["--by=k,l"], ["--by=l"]))
            args, nlabels, bounds = by + rng.sample(RESULTS, rng.randrange(1, 4)), by[0].count(",") + 1, False
        table = numbers(args, data)
        width, utf8, (chunk, threads) = rng.choice((20, 40, 80, 133)), rng.random() < 0.7, rng.choice(WAYS)
        r = run(args + ["--plot"], data, width=width, utf8=utf8, chunk=chunk, threads=threads)
        want = blocks(table, nlabels, bounds, width, utf8)
        if r.out.decode() != want or r.status or r.err:
            wrong.append("%s\ngot:\n%s\nwanted:\n%s" % (harness.describe(r, data), r.out.decode(), want))
        r = run(args + ["--svg=-"], data, width=width, utf8=utf8, chunk=chunk, threads=threads)
        title = "hist(z)" if bounds else ", ".join(shown(n) for n in table[0][nlabels:]) + " by " + ", ".join(table[0][:nlabels])
        fault = bars_svg_fault(r.out, table, nlabels, " – " if bounds else ", ", title) if r.status == 0 else "failed"
        if fault:
            wrong.append("%s\n%s" % (fault, harness.describe(r, data)))
    harness.ok(not wrong, "random groups and histograms, drawn and as SVG, seed %d" % SEED, lambda: "%d wrong\n%s" % (len(wrong), wrong[0]))


# ---- lines ------------------------------------------------------------------------------------

RUNNING = ("--cumsum=x", "--running-max=x", "--running-mean=x", "--running-count=x", "--running-stddev=x", "--running-min=x")


def running(args, data):
    return run(args + ["--only", "--header=yes"], data).out.decode().split("\n")


def check_line(rng, n, wrong):
    style = rng.choice(("walk", "up", "huge", "gaps", "flat"))
    value = {"walk": lambda: "%.2f" % rng.uniform(-9, 9), "up": lambda: str(rng.randrange(100)), "flat": lambda: "0",
             "huge": lambda: rng.choice("-+").replace("+", "") + "%d.%d" % (rng.randrange(10 ** 20), rng.randrange(1000)),
             "gaps": lambda: rng.choice(("", "", "%d" % rng.randrange(-9, 9)))}[style]
    end = rng.choice(("\n", "\r\n"))
    data = ("x,y" + end + end.join(value() + ",1" for _ in range(n)) + rng.choice(("", end))).encode()
    args = [rng.choice(RUNNING)] + rng.choice(([], ["--exclusive"]))
    lines = [line.rstrip("\r") for line in running(args, data)]
    name, values = lines[0], lines[1:n + 1]
    width, utf8, (chunk, threads) = rng.choice((20, 40, 80, 133)), rng.random() < 0.7, rng.choice(WAYS)
    if n > 5000:
        chunk = None
    r = run(args + ["--plot"], data, width=width, utf8=utf8, chunk=chunk, threads=threads)
    want = curve(values, name, width, utf8)
    if r.out.decode() != want or r.status or r.err:
        wrong.append("%s\ngot:\n%s\nwanted:\n%s" % (harness.describe(r, data), r.out.decode(), want))
    r = run(args + ["--svg=-"], data, chunk=chunk, threads=threads)
    fault = curve_svg_fault(r.out, values, name) if r.status == 0 else "failed"
    if fault:
        wrong.append("%s\n%s" % (fault, harness.describe(r, data)))


def check_lines():
    rng = random.Random(SEED + 1)
    for what, sizes in (("few records", (1, 2, 3, 10, 79, 80, 81, 300)), ("about 1024 records", (1023, 1024, 1025, 2047, 2048, 2049)),
                        ("many records", (5000, 20000, 70000))):
        wrong = []
        for n in sizes * (4 if sizes[-1] < 5000 else 1):
            check_line(rng, n, wrong)
        harness.ok(not wrong, "running columns, %s, drawn and as SVG, seed %d" % (what, SEED), lambda: "%d wrong\n%s" % (len(wrong), wrong[0]))
    same("a line of two records", ["--cumsum=x", "--plot"], b"x\n1\n2\n", curve(["1", "3"], "running_sum(x)", 40, True), width=40)
    same("no value before the first number", ["--running-max=x", "--plot"], b"x,y\n,1\n,1\n", "running_max(x): no values\n")
    same("no record", ["--cumsum=x", "--plot"], b"x\n", "running_sum(x): no values\n")
    same("records of a condition", ["--cumsum=x", "--where", "x > 1", "--plot", "--only"], b"x\n1\n2\n0\n5\n", curve(["2", "7"], "running_sum(x)", 40, True), width=40)
    same("numbers that hold the delimiter are in quotes", ["--cumsum=x", "--delimiter=-", "--plot"], b'x-y\n"-1"-a\n"-2"-a\n', curve(["-1", "-3"], "running_sum(x)", 40, True), width=40)
    blank = b"x\r\n1\r\n\r\n\r"
    same("a last record of no bytes", ["--cumsum=x", "--plot"], blank, curve([line.rstrip("\r") for line in running(["--cumsum=x"], blank)[1:4]], "running_sum(x)", 40, True), width=40)
    same("a last record of no bytes and no line end", ["--cumsum=x", "--plot"], b"x\n1\n\n2", curve(["1", "1", "3"], "running_sum(x)", 40, True), width=40)


def check_memory():
    """Of lines, memory does not grow with the records."""
    def peak(n):
        return harness.feed(["--header=no", "--cumsum=1", "--plot", "--threads=2"], (b"12.5\n" * 10000 for _ in range(n)))
    small, large = peak(10), peak(600)
    harness.ok(small[0] == large[0] == 0 and large[3] < small[3] + 4096, "a line of 6,000,000 records takes the memory of one of 100,000", "%d and %d KiB" % (small[3], large[3]))


# ---- files and errors -------------------------------------------------------------------------

def check_files():
    path = os.path.join(harness.folder(), "a.svg")
    for name, args in (("groups", ["--by=host", "--sum=n"]), ("a histogram", ["--hist=n:2"]), ("a line", ["--cumsum=n"])):
        want = run(args + ["--svg=-"], TABLE).out
        runs = [run(args + ["--svg", path], TABLE, threads=t, chunk=c, utf8=t != 2, width=40 * t) for c, t in WAYS]
        got = []
        for c, t in WAYS:
            r = run(args + ["--svg", path], TABLE, threads=t, chunk=c, utf8=t != 2, width=40 * t)
            with open(path, "rb") as f:
                got.append((r.status, r.out, r.err, f.read()))
        harness.ok(want.startswith(b"<svg ") and all(g == (0, b"", b"", want) for g in got), "SVG of %s: the same bytes from any threads, chunks and locale" % name,
                   lambda: harness.describe(runs[0]) + "\n" + harness.short(got[0]))
    r = run(["--by=host", "--plot", "--svg", path], TABLE)
    with open(path, "rb") as f:
        harness.ok(r.out == run(["--by=host", "--plot"], TABLE).out and f.read() == run(["--by=host", "--svg=-"], TABLE).out, "both pictures at once")
    many = b"k\n" + b"".join(b"%d\n" % i for i in range(NROWS_MAX + 5))
    fault = bars_svg_fault(run(["--by=k", "--svg=-"], many).out, numbers(["--by=k"], many), 1, ", ", "count by k")
    harness.is_(fault, None, "SVG has the first %d groups, and says so" % NROWS_MAX)
    data = harness.fixture("data.csv", b"x\n1\n")
    harness.refuses("a file of data is not overwritten", ["--by=host", "--svg", data], TABLE, 1, "data.csv", "is no SVG")
    with open(data, "rb") as f:
        harness.is_(f.read(), b"x\n1\n", "and is as it was")
    for name, target, words in (("a folder that is not there", os.path.join(harness.folder(), "no", "a.svg"), "a.svg"), ("a folder", harness.folder(), harness.folder())):
        harness.refuses("SVG in " + name, ["--by=host", "--svg", target], TABLE, 1, words)
    harness.refuses("SVG on a full disk", ["--by=host", "--svg=/dev/full"], TABLE, 1, "/dev/full", "write error")
    with open(path, "rb") as f:
        before = f.read()
    new = os.path.join(harness.folder(), "new.svg")
    for where in (path, new):
        harness.refuses("an error in the input", ["--by=host", "--sum=x", "--svg", where], TABLE + b"z,1,bad\n", 1, "bad")
    with open(path, "rb") as f:
        harness.ok(f.read() == before and not os.path.exists(new), "a run that fails leaves the file as it was, and makes none")


def check_errors():
    for name, args, words in (
            ("a result without groups", ["--sum=n", "--plot"], "no --by beside --sum"),
            ("the summary", ["--plot"], "there is none of them"),
            ("the summary, SVG", ["--svg=x.svg"], "--svg draws groups"),
            ("a matrix", ["--corr=*", "--plot"], "--corr"),
            ("pairs", ["--corr=n:x", "--svg=x.svg"], "--corr"),
            ("records of a condition", ["--where=n > 1", "--plot"], "--where prints records"),
            ("positions", ["--byte-offset", "--plot"], "--byte-offset prints records"),
            ("row numbers", ["--row-number", "--plot"], "--row-number prints records"),
            ("two operations", ["--cumsum=n", "--running-max=n", "--plot"], "--cumsum and --running-max"),
            ("two columns", ["--cumsum=n,x", "--plot"], "one running column: here are 2"),
            ("all columns", ["--cumsum=*", "--svg=x.svg"], "--svg draws one running column: here are 2"),
            ("a line for each group", ["--by=host", "--cumsum=n", "--plot"], "leave out --by"),
            ("names of columns", ["--columns", "--plot"], "--columns"),
            ("both on standard output", ["--by=host", "--plot", "--svg=-"], "--svg -: --plot"),
            ("numbers and SVG on standard output", ["--by=host", "--format=csv", "--svg=-"], "--svg -: --format"),
            ("a format of records", ["--cumsum=n", "--plot", "--format=json"], "--plot: the records are drawn, and not printed: leave out --format\n"),
            ("a file without a name", ["--by=host", "--svg="], "'' is no file"),
            ("no file", ["--by=host", "--svg"], "--svg")):
        harness.refuses(name, args, TABLE, 2, words)
    harness.refuses("a bad value: no picture of the records before", ["--cumsum=x", "--plot"], b"x\n1\nbad\n", 1, "bad")
    r = run(["--by=host", "--sum=n", "--plot", "--explain"], TABLE)
    harness.ok(r.status == 0 and b"draws:   sum(n)\n" in r.out, "--explain says what is drawn", lambda: harness.describe(r))


def main():
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        harness.skip_all("no locale C.UTF-8")
    check_fixed()
    check_terminal()
    check_random_bars()
    check_lines()
    check_memory()
    check_files()
    check_errors()
    harness.done()


main()
