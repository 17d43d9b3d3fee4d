# SPDX-License-Identifier: MIT
"""The fuzzer of command lines (tests/fuzz/differential.py) over a fixed set of seeds.

GPUSTAT_TEST_SEED sets the first, GPUSTAT_TEST_CASES how many follow. `make fuzz` goes on from anywhere. Where there is
a GPU, one case in GPUSTAT_TEST_GPU_EVERY runs there, too.
"""
import os
import sys

import harness
from scan_ways import no_gpu

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import differential                                             # noqa: E402

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "1"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "5000"))
GPU_EVERY = int(os.environ.get("GPUSTAT_TEST_GPU_EVERY", "7"))  # each run takes a third of a second
GROUP = 250     # cases a TAP line

if not os.access(harness.SERVE, os.X_OK):
    harness.bail("%s was not built" % harness.SERVE)
fuzzer = differential.Fuzzer(harness.SERVE, 2)


def check(title, first, end):
    done, unclear, wrong = differential.run(fuzzer, first, end - first)
    harness.ok(not wrong and unclear * 3 < 2 * done + 10, "%s %d to %d (%d where models and laws are silent)"
               % (title, first, end - 1, unclear), "\n".join(wrong[:3]) or "too many where models and laws are silent")


harness.note("seeds from %d, %d cases; %s" % (SEED, CASES, fuzzer.sets))
for seed in range(SEED, SEED + CASES, GROUP):
    check("seeds", seed, min(seed + GROUP, SEED + CASES))
went, pairs = len(fuzzer.went), len(differential.PAIRS_OF_OPTIONS)
harness.note("%d of %d pairs of options occurred in a run that was not refused" % (went, pairs))
harness.ok(went * 2 > pairs or CASES < 3000, "more than half of the pairs of options occurred")
if no_gpu():
    harness.skip("the same on the GPU", no_gpu())
else:
    fuzzer.device = "gpu"
    for seed in range(SEED + CASES, SEED + CASES + CASES // GPU_EVERY, GROUP):
        check("on the GPU, seeds", seed, min(seed + GROUP, SEED + CASES + CASES // GPU_EVERY))
fuzzer.close()
harness.done()
