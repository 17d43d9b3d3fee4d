#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""startup.py GPUSTAT [PEER...]: how long a three-line file takes, whole process, beside peers.

Prints the median and the least of 101 runs each, taken in turn so that a drift of the machine meets
all alike. A peer is a shell-quoted command that reads the file on stdin; datamash where none is given.
No figure decides anything here: a benchmark, not a test.
"""
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

NRUNS = 101


def main():
    gpustat = os.path.abspath(sys.argv[1])
    peers = sys.argv[2:] or (["datamash sum 1"] if shutil.which("datamash") else [])
    commands = [[gpustat, "--device", "cpu", "--sum", "1"], [gpustat, "--sum", "1"]] + [shlex.split(p) for p in peers]
    seconds = [[] for _ in commands]
    with tempfile.TemporaryFile() as f:
        f.write(b"1\n2\n3\n")
        f.flush()
        for _ in range(NRUNS):
            for command, taken in zip(commands, seconds):
                f.seek(0)
                start = time.perf_counter()
                out = subprocess.run(command, stdin=f, stdout=subprocess.PIPE, check=True).stdout
                taken.append(time.perf_counter() - start)
                assert out == b"6\n", (command, out)
    for command, taken in zip(commands, seconds):
        name = " ".join([os.path.basename(command[0])] + command[1:])
        print("%-32s median %6.2f ms  least %6.2f ms" % (name, statistics.median(taken) * 1e3, min(taken) * 1e3))


main()
