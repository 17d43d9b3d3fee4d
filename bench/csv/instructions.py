# SPDX-License-Identifier: MIT
"""Instructions of gpustat a byte of text, counted by callgrind.

Counts depend very little on the machine and its load, so a changed count means a changed program.
The cost of starting is excluded: two sizes are counted, and their difference is divided.
valgrind does not support AVX-512, so the AVX2 code is counted.
"""
import re

import inputs
import measure
import tasks

LARGE_NBYTES = 1000 * 1000
SMALL_NBYTES = 20 * 1000
TIMEOUT = 300


def _count(command):
    """Instructions of a command under callgrind, or a complaint."""
    done = measure.run(command, TIMEOUT)
    match = re.search(rb"Collected\s*:\s*(\d+)", done.err)
    if done.problem or not match:
        return done.problem or "valgrind did not count"
    return int(match.group(1))


def _counts_and_sizes(valgrind, gpustat, task, folders):
    callgrind = (valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null")
    for folder in folders:
        data = folder.get(task.kind, task.way)
        if data is None:
            yield "no program to pack it", 0
            continue
        command = tasks.gpustat_command(gpustat, task, data, 1, simd="avx2", under=callgrind)
        yield _count(command), data.nbytes


def count(valgrind, gpustat, task, folders):
    """(instructions a byte, instructions of a start) of the task, or (complaint, None).

    folders: inputs.Folder of SMALL_NBYTES and of LARGE_NBYTES.
    """
    counted = list(_counts_and_sizes(valgrind, gpustat, task, folders))
    complaint = next((count for count, _ in counted if isinstance(count, str)), None)
    if complaint:
        return complaint, None
    (small, small_nbytes), (large, large_nbytes) = counted
    rate = (large - small) / (large_nbytes - small_nbytes)
    return rate, small - rate * small_nbytes


def folders(path, generator, programs):
    return [inputs.Folder("%s/%d" % (path, nbytes), nbytes, generator, programs)
            for nbytes in (SMALL_NBYTES, LARGE_NBYTES)]
