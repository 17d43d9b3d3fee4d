#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""devices.py [OPTION]...: gpustat with --device cpu, gpu and auto, in turn, over a grid of plans,
inputs, plain and packed, and sizes.

The promise of --device auto is tested here: it is never more than 5 % and 20 ms slower than the
better of the two. A size beyond that of the file is the file given several times.

Exit status: 0; 1 if a run failed, or a device answered otherwise than the CPUs.
"""
import argparse
import os
import shutil
import sys

sys.dont_write_bytecode = True

import inputs
import measure

DEVICES = ("cpu", "gpu", "auto")
SLACK, SLACK_S = 1.05, 0.02

# Input, and what is asked of it. Records go to /dev/null.
RESULTS = [
    ("logs", ["--sum", "bytes"]),
    ("logs", []),
    ("logs", ["--stddev", "bytes,seconds"]),
    ("logs", ["--where", "status >= 500", "--sum", "bytes"]),
    ("narrow", ["--sum", "value"]),
    ("narrow", ["--var", "*"]),
    ("narrow", ["--median", "value", "--p99", "value"]),
    ("narrow", ["--count-distinct", "id"]),
    ("narrow", ["--median", "value", "--p99", "value", "--count-distinct", "value"]),
    ("narrow", ["--where", "value > 0", "--sum", "id"]),
    ("wide", ["--sum", "c25"]),
    ("wide", ["--sum", "*", "--min", "*", "--max", "*"]),
    ("wide", ["--stddev", "*"]),
    ("broad", ["--sum", "*"]),
    ("broad", ["--stddev", "*"]),
    ("broad", []),
    ("floats", ["--sum", "x"]),
    ("floats", ["--sum", "*"]),
    ("ledger", ["--sum", "amount"]),
    ("narrow", ["--let", "x = value * 1.5 + id", "--sum", "x"]),
    ("logs", ["--let", "kb = bytes * 0.001", "--where", "kb > 10", "--sum", "kb"]),
    ("logs", ["--by", "status", "--sum", "bytes"]),
    ("logs", ["--by", "host", "--sum", "bytes", "--mean", "bytes"]),
    ("logs", ["--by", "path", "--sum", "bytes"]),
    ("ledger", ["--by", "account", "--sum", "amount"]),
]
RECORDS = [
    ("logs", ["--cumsum", "bytes"]),
    ("logs", ["--where", "status >= 500"]),
    ("narrow", ["--cumsum", "value"]),
    ("narrow", ["--cumsum", "value", "--only"]),
    ("narrow", ["--where", "value > 0"]),
]
PACKED = [
    ("logs", "bgz", ["--sum", "bytes"]),
    ("logs", "bgz", []),
    ("logs", "bgz", ["--by", "status", "--sum", "bytes"]),
    ("narrow", "bgz", ["--median", "value"]),
    ("logs", "gz", ["--sum", "bytes"]),
    ("logs", "gz", ["--by", "host", "--sum", "bytes"]),
    ("narrow", "gz", ["--sum", "value"]),
]


def parse(argv):
    parser = argparse.ArgumentParser(description="Times gpustat's choice of devices.")
    add = parser.add_argument
    add("--gpustat", default=os.environ.get("GPUSTAT", "gpustat"), metavar="PATH")
    add("--generate", required=True, metavar="PATH", help="the generator, bench/csv/generate")
    add("--folder", default="bench-csv.data", help="where inputs are kept (default: %(default)s)")
    add("--file", default="2G", metavar="SIZE", help="of each file (default: %(default)s)")
    add("--sizes", default="1,4,8", metavar="N,...", help="how often a file is given (default: %(default)s)")
    add("--repeat", type=int, default=3, metavar="N", help="runs of each (default: %(default)s)")
    add("--only", default="", metavar="KIND,...", help="these inputs")
    add("--timeout", type=float, default=60, metavar="SECONDS")
    return parser.parse_args(argv)


def chosen(only):
    kinds = only.split(",") if only else list(inputs.KINDS)
    return [(kind, "file", plan, False) for kind, plan in RESULTS if kind in kinds] + \
           [(kind, "file", plan, True) for kind, plan in RECORDS if kind in kinds] + \
           [(kind, way, plan, False) for kind, way, plan in PACKED if kind in kinds]


def packers():
    """The programs that pack; pigz makes one member as gzip does, on all cores."""
    found = {"bgzip": shutil.which("bgzip"), "gzip": shutil.which("pigz") or shutil.which("gzip")}
    return {name: path for name, path in found.items() if path}


def command(options, device, plan, paths, quiet):
    return measure.Command([options.gpustat, "--device", device, *plan, *paths], quiet=quiet)


def problem_of(runs):
    """What went wrong in the runs of the devices, or None."""
    for done in runs:
        for run in done:
            if run.problem or run.out != runs[0][0].out:
                return run.problem or "answers differently"
    return None


def row(kind, way, plan, nbytes, runs):
    """The line of the table, and whether the promise holds."""
    cpu, gpu, auto = [measure.median(done) for done in runs]
    better = min(cpu, gpu)
    holds = auto <= better * SLACK + SLACK_S
    return "| %s | %s | %.1f | %.3f | %.3f | %.3f | %.2f | %s |" % (
        kind if way == "file" else kind + "." + way, " ".join(plan) or "summary", nbytes / 1e9, cpu, gpu, auto, auto / better,
        "yes" if holds else "**no**"), holds


def main():
    options = parse(sys.argv[1:])
    folder = inputs.Folder(options.folder, inputs.size_nbytes(options.file), options.generate, packers())
    print("| input | plan | GB | cpu, s | gpu, s | auto, s | auto / better | holds |")
    print("|---|---|---:|---:|---:|---:|---:|---|", flush=True)
    nheld = nrows = nfailed = 0
    for kind, way, plan, quiet in chosen(options.only):
        data = folder.get(kind, way)
        if not data:
            continue
        inputs.warm(data.path)
        for n in map(int, options.sizes.split(",")):
            commands = [command(options, d, plan, [data.path] * n, quiet) for d in DEVICES]
            runs = measure.in_turn(commands, options.repeat, options.timeout, options.timeout)
            problem = problem_of(runs)
            line, holds = (None, False) if problem else row(kind, way, plan, n * data.nbytes, runs)
            print(line or "| %s | %s | %s |" % (kind, " ".join(plan), problem), flush=True)
            nrows, nheld, nfailed = nrows + 1, nheld + holds, nfailed + bool(problem)
    print("\nThe promise holds in %d of %d rows." % (nheld, nrows))
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
