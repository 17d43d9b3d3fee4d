# SPDX-License-Identifier: MIT
"""Random expressions against the model (tests/fuzz/expressions.py) over a fixed set of seeds.

GPUSTAT_TEST_SEED sets the first, GPUSTAT_TEST_CASES how many expressions there are at least.
"""
import os
import sys

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import expressions                                              # noqa: E402

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "1"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "4000"))

if not os.access(harness.SERVE, os.X_OK):
    harness.bail("%s was not built" % harness.SERVE)
fuzzer, seed = expressions.Fuzzer(harness.SERVE), SEED
while sum(fuzzer.counts.values()) < CASES and fuzzer.wrong < 3:
    fuzzer.batch(seed)
    seed += 1
fuzzer.close()
harness.ok(fuzzer.wrong == 0, "%d expressions (%s), of %d more that are refused" % (
    sum(fuzzer.counts.values()), ", ".join("%s %d" % item for item in fuzzer.counts.items()), sum(fuzzer.refused.values())))
harness.ok(20 * sum(fuzzer.refused.values()) < CASES, "few are refused", lambda: repr(fuzzer.refused))
harness.done()
