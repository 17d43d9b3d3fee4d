# SPDX-License-Identifier: MIT
"""The differential fuzzer (tests/fuzz/differential.py) over a fixed set of seeds.

GPUSTAT_TEST_SEED sets the first, GPUSTAT_TEST_CASES how many follow. `make fuzz` goes on from anywhere.
"""
import os
import sys

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import differential                                             # noqa: E402

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "1"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "3000"))
GROUP = 250     # cases a TAP line
SERVE = os.environ.get("GPUSTAT_SERVE") or os.path.join(os.path.abspath(os.environ.get("builddir", ".")), "tests", "fuzz", "serve")

if not os.access(SERVE, os.X_OK):
    harness.bail("%s was not built" % SERVE)
fuzzer = differential.Fuzzer(SERVE, 2)
harness.note("seeds from %d, %d cases; %s" % (SEED, CASES, fuzzer.sets))
for first in range(SEED, SEED + CASES, GROUP):
    done, unclear, wrong = differential.run(fuzzer, first, min(GROUP, SEED + CASES - first))
    harness.ok(not wrong and unclear * 3 < done + 10, "seeds %d to %d (%d where the models are silent)"
               % (first, first + done - 1, unclear), "\n".join(wrong[:3]) or "too many where the models are silent")
fuzzer.close()
harness.done()
