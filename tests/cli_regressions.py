# SPDX-License-Identifier: MIT
"""What fuzzing has found, by name, in many ways each. A new one: a row of CASES, with its seed or origin.

The other findings of tests/cli_faults.py and tests/cli_messages.py stand there.
"""
import harness
from harness import fixture

# (name, arguments, files, what must stand on standard output)
CASES = (
    ("an empty last record without a line end still has its line (fuzz 17452)",
     ["--offsets", ":1 is missing", "--only"], (b"3\n1", b"", b"\n"), b"\n\n0\n"),
    ("and where it ends the input, it has none", ["--offsets", ":1 is missing", "--only"], (b"3\n1",), b"\n"),
    ("and two files of one empty record each", ["--running-min", "1", "--only", "--missing=x"], (b"x", b"x\n", b"x"),
     b"\n\n"),
)
WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, 64, 65536, None) for threads in (1, 3)]

for name, args, datas, want in CASES:
    paths = [fixture("part%d.csv" % i, data) for i, data in enumerate(datas)]
    harness.agrees(name, args + paths, None, harness.exactly(want), WAYS)
harness.done()
