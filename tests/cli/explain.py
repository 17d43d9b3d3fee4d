# SPDX-License-Identifier: MIT
"""--explain: what a run would read and do, in words, from the beginning of its input alone."""
import gzip
import os
import subprocess

import harness
from harness import fixture, refuses

LOG = b"host,bytes,seconds\nx,100,0.25\ny,200,1.5\n"
CPU = ["--device=cpu", "--threads=2"]
TEXT = "text:    fields end at ',', and '\"' quotes them\n"
ALONE = "devices: CPU only, as asked; 1 CPU thread\n"
NAMES = "columns: 3: host, bytes, seconds\n"
NUMBERS = "'*':     columns of numbers, by the first record below the header; not: host\nreads:   bytes, seconds\n"


def explains(name, args, data, *lines):
    """Exactly these lines about a file, where {} is its name and size, or about the pipe, where data is bytes."""
    path = fixture("log.csv", data)
    want = "input:   {}, {} bytes\n".format(path, len(data)) + "".join(lines).replace("{}", path)
    r = harness.run(["--explain"] + args + CPU + [path])
    harness.is_((r.status, r.out.decode("utf-8"), r.err), (0, want, b""), name)


def check_words():
    header = "header:  line 1 of {}, for %s\n" + NAMES
    explains("the summary", [], LOG, TEXT, header % "'bytes' is above a number", "reads:   host, bytes, seconds\nprints:  a line about each column\n", ALONE)
    explains("by name", ["--sum=bytes", "--count=host"], LOG, TEXT, header % "a column is asked for by name",
             "reads:   host (as text), bytes\nprints:  sum(bytes), count(host)\n", ALONE)
    explains("by number", ["--max=3"], LOG, TEXT, header % "'bytes' is above a number", "reads:   seconds\nprints:  max(seconds)\n", ALONE)
    explains("'*'", ["--sum=*"], LOG, TEXT, header % "'bytes' is above a number", NUMBERS, "prints:  sum(bytes), sum(seconds)\n", ALONE)
    explains("a matrix", ["--cov=*"], LOG, TEXT, header % "'bytes' is above a number", NUMBERS, "prints:  a line about each column, a matrix of cov\n", ALONE)
    explains("as --header says", ["--sum=bytes", "--header=yes"], LOG, TEXT, "header:  line 1 of {}, as --header says\n" + NAMES,
             "reads:   bytes\nprints:  sum(bytes)\n", ALONE)
    explains("conditions and groups", ["--sum=bytes", "--where=seconds > 1", "--by=host"], LOG, TEXT, header % "a column is asked for by name",
             "reads:   host (for the groups), bytes, seconds (for a condition)\nrecords: those where seconds > 1\ngroups:  of equal host\nprints:  sum(bytes)\n", ALONE)
    explains("records", ["--where=seconds > 1"], LOG, TEXT, header % "a column is asked for by name",
             "reads:   seconds (for a condition)\nrecords: those where seconds > 1\nprints:  each record\n", ALONE)
    explains("ranks", ["--rank=seconds"], LOG, TEXT, header % "a column is asked for by name",
             "reads:   seconds (the input is read twice: a rank needs all values before the first record)\n",
             "prints:  each record, and rank(seconds)\n", ALONE)
    explains("no header", ["--cumsum=2", "-d;", "--quote=none", "--comment=#"], b"1;2\n3;4\n", "text:    fields end at ';', '#' begins a comment\n",
             "header:  none in line 1 of {}, for all its values are numbers\ncolumns: 2: col1, col2\n", "reads:   col2\nprints:  each record, and running_sum(col2)\n", ALONE)
    explains("below the names", ["-W", "--sum=b"], b"a    b\nx y  2\n", "text:    fields stand below the header's names\n",
             "header:  line 1 of {}, for a column is asked for by name\ncolumns: 2: a, b\n", "reads:   b\nprints:  sum(b)\n", ALONE)
    explains("lines skipped, blanks", ["--skip-lines=1", "-W", "--sum=2"], b"title\na b\n1 2\n", "text:    fields end at blanks\n",
             "header:  line 2 of {}, for 'a' is above a number\ncolumns: 2: a, b\n", "reads:   b\nprints:  sum(b)\n", ALONE)
    many = ",".join("c%d" % i for i in range(30)).encode()
    explains("many columns", ["--count-records"], many + b"\n" + b",".join([b"1"] * 30) + b"\n", TEXT, "header:  line 1 of {}, for 'c0' is above a number\n",
             "columns: 30: " + ", ".join("c%d" % i for i in range(20)) + " and 10 more\n", "reads:   no column\nprints:  records\n", ALONE)


def check_inputs():
    path = fixture("log.csv.gz", gzip.compress(LOG))
    other = fixture("other.csv", LOG)
    r = harness.run(["--explain", "--sum=bytes", path, other] + CPU)
    first = "input:   %s, %d bytes of gzip\ninput:   %s, %d bytes\n" % (path, os.path.getsize(path), other, len(LOG))
    harness.ok(r.status == 0 and r.out.decode("utf-8").startswith(first), "compressed, and several files", lambda: harness.describe(r))
    r = harness.run(["--explain", "--sum=a", "--by=" + "a", "-d", "\t"] + CPU, b'"a\x1b[31m\n",a\n'.replace(b",", b"\t"))
    harness.ok(r.status == 0 and b"columns: 2: a\\x1b[31m\\n, a\n" in r.out and b"fields end at '\\t'" in r.out and b"\x1b" not in r.out,
               "what could harm a terminal is escaped", lambda: harness.describe(r))
    r = harness.run(["--explain", "--sum=bytes"] + CPU, gzip.compress(LOG))
    harness.ok(r.status == 0 and r.out.startswith(b"input:   <stdin>, gzip of a size that is not known\n"), "compressed, from a pipe", lambda: harness.describe(r))
    empty, words = fixture("empty.csv", b""), TEXT + "header:  none, the input has no records\nreads:   no column\nprints:  a line about each column\n" + ALONE
    for name, file, data in (("an empty file", [empty], None), ("nothing in a pipe", [], b"")):
        r = harness.run(["--explain"] + CPU + file, data)
        harness.is_((r.status, r.out.decode(), r.err), (0, "input:   %s, 0 bytes\n" % (file or ["<stdin>"])[0] + words, b""), name)
    r = harness.run(["--explain", "--sum=bytes", other, empty, "/proc/self/cmdline"] + CPU)
    harness.ok(r.status == 0 and r.out.decode().startswith("input:   %s, %d bytes\ninput:   %s, 0 bytes\ninput:   /proc/self/cmdline, of a size that "
               "is not known\n" % (other, len(LOG), empty)), "... behind another file, and one of /proc, whose size is false", lambda: harness.describe(r))
    r = harness.run(["--explain", "--device=auto", "--sum=1", empty])
    harness.ok(r.status == 0 and b"cannot be known" not in r.out, "... whose size is known to the choice of devices", lambda: harness.describe(r))


def check_pipe():
    """It ends while its input goes on, and a fault behind the beginning is not found."""
    p = subprocess.Popen([harness.program(), "--explain", "--sum=bytes"] + CPU, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=harness.environment())
    p.stdin.write(LOG + b"bad\n")
    p.stdin.flush()
    try:
        p.wait(60)
    except subprocess.TimeoutExpired:
        p.kill()
    out, err = p.stdout.read(), p.stderr.read()
    harness.ok((p.returncode, err) == (0, b"") and out.startswith(b"input:   <stdin>, of a size that is not known\n"), "the beginning of a pipe", repr((p.returncode, out, err)))


def check_refused():
    refuses("an unknown column", ["--explain", "--sum=nosuch"], LOG, 2, "nosuch")
    refuses("with --columns", ["--explain", "--columns"], LOG, 2, "--columns prints names, --explain what would be done: not both")


check_words()
check_inputs()
check_pipe()
check_refused()
harness.done()
