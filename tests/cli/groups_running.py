# SPDX-License-Identifier: MIT
"""Running columns by group (--by with --running-..., --offsets, --row-number): each group has its own values.

What is wanted was written by hand, and the model (oracle_scan.py by way of oracle_groups.py) must say the same. Pipes
are answered at once, as piping.py tests it without groups. Random tables are in tests/fuzz/differential.py.
"""
import gzip
import os
import random
import select
import subprocess
import time

import harness
import oracle_groups
import oracle_scan
from harness import fixture, is_, ok, refuses
from oracle_groups import Groups
from oracle_scan import Scan
from scan_ways import breaks, holds, prints, ways

DATA = b"k,v\na,1\nb,10\na,2.5\n,7\nb,\na,-1\n"
NCASES = 0


def gives(name, data, by, news, want, **how):
    """by: None for a Scan without groups."""
    global NCASES
    NCASES += 1
    q, want = Groups(by, news=news, **how) if by else Scan(news, **how), want if isinstance(want, bytes) else want.encode()
    model = oracle_groups if by else oracle_scan
    answer = model.answer(q, data)
    if answer.bad or answer.out != want:
        return ok(False, name, "the model itself differs: %r, %s\nwanted: %r" % (answer.out, answer.bad, want))
    return holds(name, q.args(), data, model.judge(q, data), ways(NCASES))


SUM = [("sum", "v")]
NUMBER = [("row-number", None)]


def check_row_numbers():
    gives("row numbers without --by", DATA, None, NUMBER, "k,v,row_number\na,1,1\nb,10,2\na,2.5,3\n,7,4\nb,,5\na,-1,6\n")
    gives("of the records that are taken", DATA, None, NUMBER, "k,v,row_number\na,1,1\na,2.5,2\na,-1,3\n", where="k = 'a'")
    gives("before the record: from 0", DATA, None, NUMBER, "row_number\n0\n1\n2\n3\n4\n5\n", exclusive=True, only=True)
    gives("beside others, in the order given", b"v\n5\n6\n", None, [("sum", "v"), *NUMBER, ("byte-offset", None), *NUMBER],
          "v,running_sum(v),row_number,byte_offset,row_number\n5,5,1,2,1\n6,11,2,4,2\n")
    gives("no header", b"5,x\n6,y\n", None, NUMBER, "5,x,1\n6,y,2\n", header="no")
    gives("by group", DATA, "k", NUMBER, "k,v,row_number\na,1,1\nb,10,1\na,2.5,2\n,7,1\nb,,2\na,-1,3\n")
    gives("by group, before the record", DATA, "k", NUMBER, "row_number\n0\n0\n1\n0\n1\n2\n", exclusive=True, only=True)
    refuses("--row-number takes no argument", ["--row-number=1"], DATA, 2, "--row-number")
    refuses("--row-number and a result", ["--row-number", "--sum=v"], DATA, 2, "--")


def check_groups():
    gives("a sum of each group, records in their order", DATA, "k", SUM,
          "k,v,running_sum(v)\na,1,1\nb,10,10\na,2.5,3.5\n,7,7\nb,,10\na,-1,2.5\n")
    gives("exclusive", DATA, "k", SUM, "k,v,running_sum(v)\na,1,0\nb,10,0\na,2.5,1\n,7,0\nb,,10\na,-1,3.5\n", exclusive=True)
    gives("min, max and count", DATA, "k", [("min", "v"), ("max", "v"), ("count", "v")],
          "running_min(v),running_max(v),running_count(v)\n1,1,1\n10,10,1\n1.0,2.5,2\n7,7,1\n10,10,1\n-1.0,2.5,3\n", only=True)
    gives("min and max, exclusive", DATA, "k", [("min", "v"), ("max", "v")],
          "running_min(v),running_max(v)\n,\n,\n1,1\n,\n10,10\n1.0,2.5\n", only=True, exclusive=True)
    gives("mean, variance, standard deviation", DATA, "k", [("mean", "v"), ("var", "v"), ("stddev", "v")],
          "running_mean(v),running_var(v),running_stddev(v)\n1,,\n10,,\n1.75,1.125,1.0606601717798213\n7,,\n10,,\n"
          "0.83333333333333333,3.0833333333333333,1.7559422921421231\n", only=True)
    gives("decimals are those of the group so far", b"k,v\na,1.50\nb,2\na,1\nb,0.125\n", "k", SUM,
          "running_sum(v)\n1.50\n2\n2.50\n2.125\n", only=True)
    gives("numbers beyond 64 bits", b"k,v\na,9223372036854775807\nb,1e30\na,9223372036854775807\nb,-1e30\n", "k", SUM,
          "running_sum(v)\n9223372036854775807\n1000000000000000000000000000000\n18446744073709551614\n0\n", only=True)
    gives("offsets: positions within the group", DATA, "k", [("offsets", "v > 0")],
          "k,v,offset\na,1,0\nb,10,0\na,2.5,1\n,7,0\nb,,\na,-1,\n")
    gives("byte offsets: those of the input", DATA, "k", [("byte-offset", None)], "byte_offset\n4\n8\n13\n19\n22\n25\n", only=True)
    gives("--where first", DATA, "k", SUM + NUMBER, "k,v,running_sum(v),row_number\nb,10,10,1\na,2.5,2.5,1\n,7,7,1\n", where="v > 1")
    gives("two key columns", b"a,b,v\nx,yz,1\nxy,z,2\nx,yz,4\n", "a,b", SUM, "running_sum(v)\n1\n2\n5\n", only=True)
    gives("a key that is summed", b"k,v\n1,5\n2,5\n1,5\n", "k", [("sum", "k,v")],
          "k,v,running_sum(k),running_sum(v)\n1,5,1,5\n2,5,2,5\n1,5,2,10\n")
    gives("* is the numbers that are no keys", b"k,v,t\n1,5,x\n2,5,y\n1,5,z\n", "k", [("sum", "*")],
          "k,v,t,running_sum(v)\n1,5,x,5\n2,5,y,5\n1,5,z,10\n")
    gives("quoted keys", b'k,v\n"a",1\na,2\n"x,\n""y",3\n"x,\n""y",4\n', "k", SUM,
          'k,v,running_sum(v)\n"a",1,1\na,2,3\n"x,\n""y",3,3\n"x,\n""y",4,7\n')
    gives("records as they are: CRLF, no last line end", b"k,v\r\na,1\r\nb,2\r\na,3", "k", SUM,
          "k,v,running_sum(v)\r\na,1,1\r\nb,2,2\r\na,3,4")
    gives("fields that are not there", b"v,k\n1,a\n2\n3,\n", "k", SUM, "running_sum(v)\n1\n2\n5\n", only=True, ragged="allow")
    gives("blanks, case and spellings", b"k,v\nA,1\na,1\n a,1\n1,1\n1.0,1\nNA,1\n", "k", NUMBER, "row_number\n1\n1\n1\n1\n1\n1\n",
          only=True, missing=["NA"])


def check_faults():
    def fails(name, data, out, *parts, **how):
        q = Groups("k", news=SUM, **how)
        is_(oracle_groups.answer(q, data).out, out, name + ": so says the model")
        holds(name, q.args(), data, breaks(out, *parts), ways(len(name)))
    fails("records before the first error", b"k,v\na,1\nb,x\na,y\n", b"k,v,running_sum(v)\na,1,1\n", "<stdin>:3: column 'v'")
    fails("a NUL in a key", b"k,v\na,1\nb\0,2\na,3\n", b"k,v,running_sum(v)\na,1,1\n", "<stdin>:3: column 'k': NUL byte in")
    skips = ["--by=k", "--cumsum=v", "--invalid=skip"]
    for name, data, out, part in (
            ("a value", b"k,v\na,1\na,x\na,2\n", b"k,v,running_sum(v)\na,1,1\na,x,1\na,2,3\n", b"not a number"),
            ("a NUL in a key", b"k,v\na,1\na\0,5\na,2\n", b"k,v,running_sum(v)\na,1,1\na,2,3\n", b"NUL byte in")):
        harness.agrees("--invalid skip: " + name, skips, data,
                       lambda r, out=out, part=part: None if (r.status, r.out, r.err.count(b"\n")) == (0, out, 1)
                       and b"<stdin>:3:" in r.err and part in r.err else "wanted: %r, a warning with %r" % (out, part),
                       [(chunk, threads) for chunk in (1, 3, None) for threads in (1, 2, 3, 7)])
    for name, args in (("--top", ["--top=1"]), ("a result", ["--sum=v"]), ("'*' as a key", ["--by=*"])):
        refuses("usage: running columns by group, and " + name, ["--by=k"][:args != ["--by=*"]] + ["--cumsum=v"] + args, DATA, 2, "--")


def check_many():
    """Many groups, in a file and through small chunks."""
    for ngroups, nrecords in ((5, 40000), (20000, 60000)):
        rng, sums, counts, rows, out = random.Random(ngroups), {}, {}, [], [b"running_sum(v),row_number"]
        for _ in range(nrecords):
            key, value = rng.randrange(ngroups), rng.randrange(-10 ** 9, 10 ** 9)
            sums[key], counts[key] = sums.get(key, 0) + value, counts.get(key, 0) + 1
            rows.append(b"user%d,%d" % (key, value))
            out.append(b"%d,%d" % (sums[key], counts[key]))
        path = fixture("many.csv", b"k,v\n" + b"\n".join(rows) + b"\n")
        want = b"\n".join(out) + b"\n"
        for chunk, threads in ((None, 1), (None, 2), (100000, 3), (4096, 7)):
            r = harness.run(["--by=k", "--cumsum=v", "--row-number", "--only", path], chunk=chunk, threads=threads)
            ok((r.status, r.err, r.out) == (0, b"", want), "%d groups, chunks of %s, %d threads" % (ngroups, chunk, threads),
               lambda r=r: "status %s, %r, %d bytes" % (r.status, r.err, len(r.out)))


TALKS = [   # as piping.py's: arguments, then pairs: what is written, and the answer that must come before more is written
    (["--by=k", "--cumsum=v"], [(b"k,v\na,1\n", b"k,v,running_sum(v)\na,1,1\n"), (b"b,2\n", b"b,2,2\n"), (b"a,3\nb,1\n", b"a,3,4\nb,1,3\n")]),
    (["--by=k", "--row-number", "--only", "--threads=1"], [(b"k,v\na,1\n", b"row_number\n1\n"), (b"a,2\n", b"2\n"), (b"b,2\n", b"1\n")]),
    (["--by=1", "--offsets=:2 > 1", "--header=no", "--only"], [(b"a,2\n", b"0\n"), (b"a,1\na,3\n", b"\n1\n"), (b"b,5\n", b"0\n")]),
    (["--row-number"], [(b"k,v\na,1\n", b"k,v,row_number\na,1,1\n"), (b"b,2\n", b"b,2,2\n")]),
]


def hear(p, want, deadline=1.0):
    got, end = b"", time.monotonic() + deadline
    while len(got) < len(want) and select.select([p.stdout], [], [], max(0, end - time.monotonic()))[0]:
        part = os.read(p.stdout.fileno(), 65536)
        if not part:
            break
        got += part
    return got


def check_pipes():
    for args, turns in TALKS:
        p = subprocess.Popen([harness.program()] + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=harness.environment(), bufsize=0)
        got = []
        for said, want in turns:
            p.stdin.write(said)
            got.append(hear(p, want))
        rest, err = p.communicate(timeout=20)
        is_((got, rest, err, p.returncode), ([want for _, want in turns], b"", b"", 0), "at once: " + " ".join(args))
    one, two = fixture("r1.csv", b"k,v\na,1\nb,2\n"), fixture("r2.csv", b"v,x,k\n10,0,b\n20,0,a\n")
    for chunk, threads, _ in ways(3):
        r = harness.run(["--by=k", "--cumsum=v", "--row-number", "--only", one, two], chunk=chunk, threads=threads)
        is_((r.status, r.out, r.err), (0, b"running_sum(v),row_number\n1,1\n2,1\n12,2\n21,2\n", b""),
            "files with other headers, chunk %s, %d threads" % (chunk, threads))
    holds("compressed", ["--by=k", "--cumsum=v", "--only"], gzip.compress(DATA), prints(b"running_sum(v)\n1\n10\n3.5\n7\n10\n2.5\n"),
          ways())


check_row_numbers()
check_groups()
check_faults()
check_many()
check_pipes()
harness.done()
