# SPDX-License-Identifier: MIT
"""The harnesses of the coverage-guided fuzzers, over their seeds and every short prefix of those.

tests/fuzz/run.sh fuzzes with them; FOUND is what it has found, and what was wrong is mended.
"""
import base64
import os
import subprocess
import sys

import harness

# (harness, name, input in base64)
FOUND = (
    ("words", "a caret beyond the text: a byte that is not UTF-8, in ilike",
     "ZWBhYCA+ICItOTAvIiBvciBgYTw9YGlsaWtlIuIiYycAMWFicygyMTozNWAsMWUzCg=="),
    ("packed", "nothing peeked at yet: 0 added to no pointer", "Zii1L/0gBSkAADEsMgoz"),
)
LIMIT = 120

FOLDER = os.path.join(os.path.abspath(os.environ.get("builddir", ".")), "tests", "fuzz")
SEEDS = harness.folder()


def replay(which, files, name):
    program = os.path.join(FOLDER, "fuzz_" + which)
    if not os.access(program, os.X_OK):
        harness.bail("%s was not built" % program)
    p = subprocess.run([program] + files, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
    harness.ok(p.returncode == 0 and p.stdout == b"%d files\n" % len(files), name, repr(p))


subprocess.run([sys.executable, harness.source("tests", "fuzz", "seeds.py"), SEEDS], check=True)
for one in sorted(name for name in os.listdir(SEEDS) if not name.endswith(".dict")):
    inputs = sorted(os.path.join(SEEDS, one, f) for f in os.listdir(os.path.join(SEEDS, one)))
    replay(one, inputs, "%s: %d seeds" % (one, len(inputs)))
for one, what, data in FOUND:
    replay(one, [harness.fixture("found", base64.b64decode(data))], "%s: %s" % (one, what))
harness.done()
