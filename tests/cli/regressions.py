# SPDX-License-Identifier: MIT
"""What fuzzing has found, by name, in many ways each. A new one: a row of CASES, with its seed or origin.

The other findings of tests/cli/faults.py and tests/cli/messages.py stand there.
"""
import gzip
import os
import subprocess

import harness
from harness import fixture

# (name, arguments, files, what must stand on standard output)
CASES = (
    ("an empty last record without a line end still has its line (fuzz 17452)",
     ["--offsets", ":1 is missing", "--only"], (b"3\n1", b"", b"\n"), b"\n\n0\n"),
    ("and where it ends the input, it has none", ["--offsets", ":1 is missing", "--only"], (b"3\n1",), b"\n"),
    ("and two files of one empty record each", ["--running-min", "1", "--only", "--missing=x", "-N"], (b"x", b"x\n", b"x"),
     b"\n\n"),
    ("a NUL behind a number does not make the first record a header (fuzz 3003427)",
     ["-d", "|", "--count", "7,6", "-N"], (b'""|6\0|""|2|0|""|5\n',), b"count(col7),count(col6)\n1,0\n"),
    ("in one column a first file of blank lines is records", ["--cumsum=1"], (b"\n\r\n", b"", b"5\n6\n"),
     b",0\n,0\r\n5,5\n6,11\n"),
    ("and counted as missing", ["--format=csv"], (b"\n", gzip.compress(b"\n\n"), b"5\n6\n", b"\n"),
     b"column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\ncol1,number,2,4,0,11,5,6,5.5,,\n"),
    ("with a BOM, its bytes counted", ["--byte-offset"], (b"\xef\xbb\xbf\n", b"\xef\xbb\xbf\n", b"\xef\xbb\xbf5"),
     b",3\n,7\n5,11"),
    ("and where there is nothing else", ["--running-count=1"], (b"\n", b"\n\n", b"\r"), b",0\n" * 3 + b",0\r"),
    ("before a header they are none, as in one file", ["--cumsum=a"], (b"\n\n", b"a\n5\n"), b"a,running_sum(a)\n5,5\n"),
    ("in two columns they are none", ["--byte-offset"], (b"\n\n", b"", b"5,6\n", b"\n"), b"5,6,2\n"),
    ("a range that the first record holds as a number is no name (fuzz 20781724)", ["-d", "e", "--sum=-1", "--mean=2"],
     (b"-1e4\n",), b"sum(col1),mean(col2)\n-1,4\n"),
    ("a name ends at its first NUL", ["--header=yes", "--cumsum", "1"], (b"a\0b\n2\n",),
     b"a\0b,running_sum(a)\n2,2\n"),
    ("a long number of --let is quoted where it holds the delimiter (fuzz 102178)", ["-d5", "--let", "z = 12345678901234567890.5"],
     (b"a5b\n1512\n",), b'a5b5z\n15125"12345678901234567890.5"\n'),
    ("and the decimal comma", ["--decimal", ",", "--let", "z = 12345678901234567890.5", "--let", "y = z + a"], (b"a,b\n1,2\n",),
     b'a,b,z,y\n1,2,"12345678901234567890,5","12345678901234567891,5"\n'),
    ("all columns dropped, and a new one (fuzz 100081)", ["--drop=a,b", "--row-number"], (b"a,b\n1,2\n",), b"row_number\n1\n"),
    ("and of no record", ["--drop=1,2"], (b"",), b""),
    ("a computed value that is missing is printed as it is, summed or not (fuzz 2000180)", ["--let=z = a", "--cumsum=z"],
     (b"a,b\n ,2\n5,3\n",), b"a,b,z,running_sum(z)\n ,2, ,0\n5,3,5,5\n"),
    ("and one that is spelled so", ["--let=z = if(b > 2, a, b)", "--running-max=z", "--missing=5"], (b"a,b\n5,3\n7,1\n",),
     b"a,b,z,running_max(z)\n5,3,5,\n7,1,1,1\n"),
)
WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, 64, 65536, None) for threads in (1, 3)]

for name, args, datas, want in CASES:
    paths = [fixture("part%d.csv" % i, data) for i, data in enumerate(datas)]
    harness.agrees(name, args + paths, None, harness.exactly(want), WAYS)


harness.answers("the quote is not advised as the delimiter (fuzz 2000194)", ["--quote=|", "--format=csv", "-H"], b"|a|\n|b|\n",
                "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\na,text,1,0,0,,b,b,,1,1\n")
NO_COLUMN = "--drop: no column is left to print: --select says which are printed\n"
harness.refuses("without a new column, none is left to print (fuzz 100081)", ["--drop=a,b"], b"a,b\n1,2\n", 2, NO_COLUMN)
harness.refuses("nor with a computed one that is dropped", ["--drop=a", "--let=z=b", "--drop=b,z", "--tail=5"], b"a,b\n1,2\n", 2, NO_COLUMN)
harness.answers("a long number of --let is escaped", ["-d5", "-N", "--escape=\\", "--let=z=12345678901234567890.5"], b"a5b\n",
                "a5b51234\\5678901234\\567890.\\5\n")
harness.refuses("or refused where nothing can quote it", ["-d5", "-N", "--escape=\\", "--quote=none", "--let=z=12345678901234567890.5"],
                b"a5b\n", 2, "the numbers of a new column can hold the delimiter '5': nothing can quote them")
blanks, five = fixture("blanks.csv", b"\n\n"), fixture("five.csv", b"5\n")
harness.agrees("blank lines from a pipe, then a file", ["--cumsum=1", "-", five], b"\n\n", harness.exactly(b",0\n,0\n5,5\n"), WAYS)
harness.agrees("a header alone in its file, then blank lines: '*' finds what it finds in one file",
               ["--cumsum=*", fixture("head.csv", b"v\n"), blanks, five], None,
               lambda r: None if r.status == 1 and b"'v' may be names or data" in r.err else "wrong", WAYS)

# A chunk folded ahead leaves several records to the seam if its quotes decide the entry state late:
# the first fault counts.
late = fixture("late.csv", b"a\n" + b"1\n" * 2000 + b'"84"83x\n"-5"\r\n"-4534662203292949341336.63314\n23')
harness.agrees("a fault before a quote that never closes (fuzz 758, delimiters of 2026-11-21)", ["--sum=a", late], None,
               lambda r: None if r.status == 1 and b":2002: text behind a closing quote: " in r.err else "wrong",
               [(chunk, threads) for chunk in (100, 1000, 1500, 3200, None) for threads in (1, 4)])


# The rest of a name was measured anew for each of its characters: 7 s for one of a mebibyte (fuzz 20218881, 20247211).
name = b"ab\xc3\xa9\t" * 200000
harness.agrees("a name of a mebibyte in JSON takes no longer than its length", ["--sum=1", "--format=json"], name + b"\n5\n",
               harness.exactly(b'{"sum(' + name.replace(b"\t", b"\\u0009") + b')": 5}\n'), [(None, 1), (65536, 3)])


# ---- compressed files that are cut in their first bytes --------------------------------------

for data, words in ((b"\x1f", b"truncated gzip data"), (b"\x28\xb5", b"truncated zstd data"), (b"\x28\xb5\x2f", b"truncated zstd data")):
    harness.agrees("a piece of a magic number: %r" % data, ["--count=1"], data,
                   lambda r, words=words: None if (r.status, r.out) == (1, b"") and words in r.err else "wrong", WAYS)
for data in (b"(", b"8", b"_\n", b"?", b"P*M", b"\x1fx\n", b"(\xb5)\n", b"\x1e\x8b\n"):
    harness.agrees("text that begins much like one: %r" % data, ["--count=1", "--header=no"], data, harness.exactly(b"1\n"), WAYS)


# ---- standard input -------------------------------------------------------------------------

def redirected(args, path, before=0, **how):
    """Runs the program with the file as standard input, `before` of its bytes read -> (output, rest)."""
    with open(path, "rb") as f:
        os.lseek(f.fileno(), before, os.SEEK_SET)
        p = subprocess.run([harness.program()] + args, stdin=f, stdout=subprocess.PIPE, env=harness.environment(**how),
                           check=False)
        return p.stdout, os.read(f.fileno(), 10)


numbers = fixture("numbers.csv", b"a\n" + b"".join(b"%d\n" % i for i in range(100000)))
total = b"%d\n" % sum(range(100000))
for chunk in (1000, None):
    name = "standard input from a file%s: " % ("" if chunk is None else ", chunks of %d" % chunk)
    for words, args, before in (("once", ["--sum=a"], 0), ("named twice it is there once", ["--sum=a", "-", "-"], 0),
                                ("named twice, from its middle on", ["--sum=1", "-", "-"], 2)):
        harness.is_(redirected(args, numbers, before, chunk=chunk), (total, b""), name + words)

# A pipe cannot be read twice, even if a file has its name: so no chunk may be folded with a guessed entry state.
nowhere = os.path.join(harness.folder(), "dash")
os.mkdir(nowhere)
fixture(os.path.join("dash", "-"), b"a,b\n1,2\n" * 2000)
head = fixture("head.csv", b"a,b\n1,2\n")
quoted = b"".join(b'3,"' + b"4,5\n" * 200 + b'"\n' for _ in range(200))
harness.is_([harness.run(["--sum=a", head, "-"], quoted, chunk=100, threads=4, cwd=nowhere).out for _ in range(5)],
            [b"601\n"] * 5, "a pipe beside a file that is called -")
harness.done()
