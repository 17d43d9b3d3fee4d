#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ranks.py - N one-thread ranks of gpustat-mpi beside one process with N threads, on the same file.

    ranks.py [--gpustat build/gpustat] [--ranks 16] [--repeat 7] [--launch "--bind-to core"] FILE... [-- GPUSTAT-OPTION...]

Prints the median, least and greatest time of each, and the ranks' share of the process's speed. A run that only starts
and ends the ranks is shown too: it is what MPI costs. Both must print the same bytes. Each is run once before it is timed,
so the files are in memory if they fit there.
"""
import argparse
import os
import shlex
import statistics
import subprocess
import sys
import time

QUERIES = (["--sum", "bytes"], ["--by", "status", "--sum", "bytes", "--mean", "bytes"])


def timed(argv):
    begin = time.monotonic()
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if p.returncode:
        sys.exit("failed: " + shlex.join(argv))
    return time.monotonic() - begin, p.stdout


def measure(name, argv, repeat, nbytes):
    """Prints a line -> (median, what was printed)."""
    out = timed(argv)[1]
    times = sorted(timed(argv)[0] for _ in range(repeat))
    median = statistics.median(times)
    print("  %-28s %8.3f s  (%.3f to %.3f)  %7.2f GB/s" % (name, median, times[0], times[-1], nbytes / median / 1e9), flush=True)
    return median, out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gpustat", default="build/gpustat")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--launch", default="", help="more options of mpirun")
    parser.add_argument("files", nargs="+")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:cut])
    queries = (words[cut + 1:],) if words[cut + 1:] else QUERIES
    nbytes = sum(os.path.getsize(f) for f in args.files)
    mpirun = ["mpirun", "-n", str(args.ranks)] + shlex.split(args.launch) + [args.gpustat + "-mpi"]
    print("%d ranks, %.2f GB, %d runs each" % (args.ranks, nbytes / 1e9, args.repeat))
    measure("start and end of the ranks", mpirun + ["--version"], args.repeat, 0)
    for query in queries:
        print(shlex.join(query))
        # --device cpu on both sides: which device is faster is another question
        one, want = measure("one process, %d threads" % args.ranks,
                            [args.gpustat, "--device", "cpu", "--threads", str(args.ranks)] + query + args.files, args.repeat, nbytes)
        many, got = measure("%d ranks, one thread" % args.ranks, mpirun + ["--device", "cpu", "--threads", "1"] + query + args.files,
                            args.repeat, nbytes)
        if got != want:
            sys.exit("the ranks print something else")
        print("  the ranks have %.1f %% of the process's speed" % (100 * one / many))


main()
