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
    ("a NUL behind a number does not make the first record a header (fuzz 3003427)",
     ["-d", "|", "--count", "7,6"], (b'""|6\0|""|2|0|""|5\n',), b"count(col7),count(col6)\n1,0\n"),
    ("a name ends at no NUL: it has none", ["--header=yes", "--cumsum", "1"], (b"a\0b\n2\n",),
     b"a\0b,running_sum(col1)\n2,2\n"),
)
WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, 64, 65536, None) for threads in (1, 3)]

for name, args, datas, want in CASES:
    paths = [fixture("part%d.csv" % i, data) for i, data in enumerate(datas)]
    harness.agrees(name, args + paths, None, harness.exactly(want), WAYS)
harness.done()
