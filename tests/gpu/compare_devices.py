#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_devices.py GPUSTAT GEN [FOLDER] [--size BYTES]: CPU against GPU on ten large random inputs.

For the machine with a GPU; not part of `make check`. GEN makes the inputs (GEN KIND ROWS SEED); each
is at least --size bytes (10^8) and comes in five kinds by two seeds. For each input, plain and once
gzipped, `--device cpu`, `--device gpu` and `--device auto` must print the same bytes. A smaller input
of each kind is held against Python's csv and decimal. Prints the times; exit 0 if all is equal.
"""
import argparse
import concurrent.futures
import csv
import decimal
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

KINDS = {"logs": 1250000, "narrow": 6000000, "wide": 275000, "floats": 2700000, "ledger": 2500000}
SEEDS = (20251121, 88172645463325252)
EVERY = [a for o in ("sum", "min", "max", "mean", "count") for a in ("--%s" % o, "*")]
EXACT = decimal.Context(prec=2000, Emin=-99999, Emax=99999)
MEAN = decimal.Context(prec=17, rounding=decimal.ROUND_HALF_EVEN)
failures = []


def report(holds, text, more=""):
    print("%s %s" % ("same     " if holds else "DIFFERENT", text), flush=True)
    if not holds:
        failures.append(text)
        if more:
            print(more)


def generate(job):
    """Writes one input of at least `size` bytes; asks for more rows until it is."""
    gen, path, kind, seed, size = job
    rows = max(10, int(KINDS[kind] * size / 1e8))
    while True:
        with open(path, "wb") as f:
            subprocess.run([gen, kind, str(rows), str(seed)], stdout=f, check=True)
        if os.path.getsize(path) >= size:
            return path
        rows = rows * 5 // 4 + 1


def run(gpustat, args, device, stdin=None, env=None):
    """-> (exit status, stdout, stderr, seconds)"""
    start = time.monotonic()
    with open(stdin or os.devnull, "rb") as f:
        p = subprocess.run([gpustat, "--device", device] + args, stdin=f, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=env)
    return p.returncode, p.stdout, p.stderr, time.monotonic() - start


def compare(gpustat, name, args, stdin=None, env=None, status=0):
    ways = {d: run(gpustat, args, d, stdin, env) for d in ("cpu", "gpu", "auto")}
    cpu = ways["cpu"]
    said = cpu[2] if status else cpu[1]
    holds = cpu[0] == status and said != b"" and all(w[:3] == cpu[:3] for w in ways.values())
    times = "  ".join("%s %6.3f s" % (d, w[3]) for d, w in ways.items())
    more = "".join("  %s: status %s, %r, %r\n" % (d, w[0], w[1][:300], w[2][:300]) for d, w in ways.items())
    report(holds, "%-44s %s  sha256 %s" % (name, times, hashlib.sha256(said).hexdigest()[:12]), more)


def check_by_python(gpustat, path, label):
    """Every numeric column of a small input by Python's csv and decimal."""
    with open(path, encoding="latin-1", newline="") as f:
        rows = list(csv.reader(f))
    names, rows, want = rows[0], rows[1:], {}
    for k, name in enumerate(names):
        try:
            values = [decimal.Decimal(r[k]) for r in rows]
        except decimal.InvalidOperation:
            continue
        scale = max(max(0, -v.as_tuple().exponent) for v in values)
        unit = decimal.Decimal((0, (1,), -scale))
        total = decimal.Decimal(0)
        for v in values:
            total = EXACT.add(total, v)
        mean = format(MEAN.divide(total, decimal.Decimal(len(values))), "f")
        mean = mean.rstrip("0").rstrip(".") if "." in mean else mean
        for operation, value in (("sum", total), ("min", min(values)), ("max", max(values))):
            want["%s(%s)" % (operation, name)] = format((value or decimal.Decimal(0)).quantize(unit, context=EXACT), "f")
        want["mean(%s)" % name], want["count(%s)" % name] = mean, str(len(values))
    for device in ("cpu", "gpu"):
        status, out, err, _ = run(gpustat, EVERY + [path], device)
        lines = list(csv.reader(out.decode("latin-1").splitlines()))
        got = dict(zip(*lines)) if len(lines) == 2 else {}
        wrong = sorted(k for k in want.keys() | got.keys() if want.get(k) != got.get(k))
        report(status == 0 and not wrong, "%s: %d values by Python's decimal, %s" % (label, len(want), device),
               "".join("  %s: wanted %s, got %s\n" % (k, want.get(k), got.get(k)) for k in wrong[:5]) + repr(err[:300]))


def compare_ragged(gpustat, path):
    """A copy of the input that has one record too short and, in the middle and at the end, two too long."""
    with open(path, "rb") as f:
        lines = f.read().splitlines()
    n, ragged = len(lines), path + ".ragged"
    for k in (n // 2, n - 2):
        lines[k] += b",5"
    lines[n // 2 + 3] = lines[n // 2 + 3].rpartition(b",")[0]
    with open(ragged, "wb") as f:
        f.write(b"\n".join(lines) + b"\n")
    name = os.path.basename(ragged)
    compare(gpustat, name, ["--sum=1", ragged], status=1)
    for args in (["--ragged=extra"], ["--ragged=allow"], ["--invalid=skip"]):
        compare(gpustat, name + " " + args[0], ["--count=*", "--count-records", ragged] + args,
                status=args == ["--ragged=extra"])
    os.remove(ragged)


def compare_all(options, folder):
    jobs = [(options.gen, os.path.join(folder, "%s-%d.csv" % (kind, k)), kind, seed, options.size)
            for kind in KINDS for k, seed in enumerate(SEEDS)]
    small = [(options.gen, os.path.join(folder, "small-%s.csv" % kind), kind, 5, 10 ** 6) for kind in KINDS]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = list(pool.map(generate, jobs + small))[:len(jobs)]
        zipped = list(pool.map(lambda p: subprocess.run(["gzip", "-1kf", p], check=True) and p + ".gz", paths[::2]))
    print("inputs made in %.1f s: %s" % (time.monotonic() - start, ", ".join(
        "%s %.0f MB" % (os.path.basename(p), os.path.getsize(p) / 1e6) for p in paths)), flush=True)
    for path in paths:
        name = os.path.basename(path)
        compare(options.gpustat, name, EVERY + [path])
        compare(options.gpustat, name + ", the summary, redirected", ["--format=csv"], path)
    for path in paths[::2]:
        compare_ragged(options.gpustat, path)
    for path in zipped:
        compare(options.gpustat, os.path.basename(path), EVERY + [path])
    tiny = dict(os.environ, GPUSTAT_CHUNK_BYTES="1000003")
    for path in paths[1::2]:
        compare(options.gpustat, os.path.basename(path) + ", odd chunks", EVERY + [path], None, tiny)
    compare(options.gpustat, "both logs and both again, one stream", ["--sum", "*"] + paths[:2] + paths[:2])
    for _, path, kind, _, _ in small:
        check_by_python(options.gpustat, path, "small " + kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpustat")
    parser.add_argument("gen")
    parser.add_argument("folder", nargs="?", help="where the inputs are made (and left); default: a temporary one")
    parser.add_argument("--size", type=int, default=10 ** 8)
    options = parser.parse_args()
    options.gpustat, options.gen = os.path.abspath(options.gpustat), os.path.abspath(options.gen)
    folder = options.folder or tempfile.mkdtemp(prefix="gpustat-compare-")
    os.makedirs(folder, exist_ok=True)
    try:
        compare_all(options, folder)
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)
    print("%d differ" % len(failures) if failures else "all the same")
    sys.exit(1 if failures else 0)


main()
