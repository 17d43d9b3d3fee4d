# SPDX-License-Identifier: MIT
"""Peak memory is bounded: it does not grow with the input (two streams of very different sizes), and many columns
take little, on any number of threads.

GPUSTAT_TEST_STREAM_MB sets the larger one (10000 for the promise of 10 GB), 300 by default.
A peak below that of this interpreter (some 16 MB) is reported as the interpreter's: a child process inherits it.
"""
import gzip
import os
import resource
import zlib

import harness

LIMIT_KIB = 200 * 1000 * 1000 // 1024
SMALL_MB = 40
LARGE_MB = int(os.environ.get("GPUSTAT_TEST_STREAM_MB", "300"))
ROW = b'12345,"a text, with ""quotes""",67.25\n'
ROWS = 27000                                        # a block of about one MB


def plain(nblocks, block):
    yield b"n,t,m\n"
    for _ in range(nblocks):
        yield block


def zipped(nblocks, block):
    """One member; the block is compressed once and repeated by a full flush."""
    z = zlib.compressobj(1, zlib.DEFLATED, -15)
    head = z.compress(b"n,t,m\n") + z.flush(zlib.Z_FULL_FLUSH)
    body = z.compress(block) + z.flush(zlib.Z_FULL_FLUSH)
    yield b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + head
    crc, size = zlib.crc32(b"n,t,m\n"), 6
    for _ in range(nblocks):
        crc, size = zlib.crc32(block, crc), size + len(block)
        yield body
    yield z.flush(zlib.Z_FINISH) + crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


def members(nblocks, block):
    yield gzip.compress(b"n,t,m\n")
    member = gzip.compress(block, 1)
    for _ in range(nblocks):
        yield member


def bgzip(nblocks, block):
    """BGZF: members that say how long they are, less one, in an extra field."""
    def member(text):
        z = zlib.compressobj(1, zlib.DEFLATED, -15)
        body = z.compress(text) + z.flush()
        extra = b"BC\2\0" + (len(body) + 25).to_bytes(2, "little")
        end = zlib.crc32(text).to_bytes(4, "little") + len(text).to_bytes(4, "little")
        return b"\x1f\x8b\x08\4\0\0\0\0\0\xff\6\0" + extra + body + end
    yield member(b"n,t,m\n")
    packed = b"".join(member(block[i:i + 65280]) for i in range(0, len(block), 65280))
    for _ in range(nblocks):
        yield packed
    yield member(b"")


def check(name, make, args, answer, large=LARGE_MB, small=SMALL_MB):
    block = ROW * ROWS
    peaks = []
    for megabytes in (small, large):
        status, out, _, peak = harness.feed(args, make(megabytes, block))
        harness.is_((status, out), (0, answer(megabytes * ROWS)), "%s, %d MB: the answer" % (name, megabytes))
        harness.ok(peak < LIMIT_KIB, "%s, %d MB: under 200 MB" % (name, megabytes), "peak %d KiB" % peak)
        peaks.append(peak)
    harness.note("%s: peaks %s KiB" % (name, peaks))
    harness.ok(peaks[1] <= peaks[0] * 1.15 + 4096, "%s: does not grow" % name, "peaks %s KiB" % peaks)


def sum_of(nrows):
    return b"%d\n" % (12345 * nrows)


def all_of(nrows):
    return b"sum(n),max(m),mean(m),count(t)\n%d,67.25,67.25,%d\n" % (12345 * nrows, nrows)


check("a pipe", plain, ["--device=cpu", "--sum=n"], sum_of)
check("a pipe, several operations, 3 threads", plain,
      ["--device=cpu", "--threads=3", "--sum=n", "--max=m", "--mean=m", "--count=t"], all_of, LARGE_MB // 2)
# The memory in which a thread decodes is touched as far as text comes: of data packed so well, only with some text.
check("gzip", zipped, ["--device=cpu", "--threads=2", "--sum=n"], sum_of, LARGE_MB, LARGE_MB // 2)
# Two threads: how many of sixteen get a section of a short member is chance.
check("gzip of many members", members, ["--device=cpu", "--threads=2", "--sum=n"], sum_of, LARGE_MB // 2)
check("bgzip", bgzip, ["--device=cpu", "--threads=3", "--sum=n"], sum_of, LARGE_MB // 2)


# ---- many columns ----

NCOLUMNS = 300000
NAMES = b",".join(b"a%d" % i for i in range(NCOLUMNS)) + b"\n"


def check_columns(name, args, nrows, kib, answer):
    """kib: the limit. A dense fold of 1 KiB a column would take 300 MB for each of a thread's tables."""
    rows = [NAMES] + nrows * [b",".join([b"1"] * NCOLUMNS) + b"\n"]
    status, out, err, peak = harness.feed(["--device=cpu"] + args, rows)
    harness.is_((status, err), (0, b""), name)
    harness.ok(answer(out.decode().split("\n")), name + ": the answer", lambda: out[-300:])
    harness.ok(peak < kib, name + ": under %d MB" % (kib * 1024 // 10**6), "peak %d KiB" % peak)
    harness.note("%s: peak %d KiB" % (name, peak))


def summarises(nrows):
    """The heading, and a line a column."""
    last = ["a%d" % (NCOLUMNS - 1), "number", str(nrows), "0", "0", str(nrows), "1", "1", "1"]
    return lambda lines: len(lines) == NCOLUMNS + 2 and lines[-2].split() == last


def prints(value):
    return lambda lines: lines[1] == ",".join([value] * NCOLUMNS)


check_columns("300,000 columns, 1 thread", ["--threads=1"], 1, 450000, summarises(1))
check_columns("300,000 columns, 8 threads", ["--threads=8"], 1, 550000, summarises(1))
check_columns("300,000 columns, 8 threads that all work", ["--threads=8"], 20, 800000, summarises(20))
check_columns("the sums of 300,000 columns", ["--threads=8", "--sum=*"], 1, 450000, prints("1"))
check_columns("the variances of 300,000 columns", ["--threads=8", "--var-pop=*"], 2, 700000, prints("0"))
check_columns("the modes of 10,000 of them", ["--threads=8", "--mode=1-10000"], 2, 300000,
              lambda lines: lines[1] == ",".join(["1"] * 10000))
check_columns("running sums of 30,000 of them", ["--threads=1", "--only", "--running-sum=1-30000"], 1, 250000,
              lambda lines: lines[1] == ",".join(["1"] * 30000))
check_columns("one of 300,000 columns", ["--threads=8", "--sum=5"], 2, 100000, lambda lines: lines == ["2", ""])


# ---- many keys ----

def check_limit():
    """Half of what the process may have is for tables; 400000 keys of 40 bytes exceed half of 40 MB. The program itself,
    which is large with kernels for many GPUs, lies in the address space as well."""
    path = harness.fixture("limit.csv", b"k,v\n" + b"".join(b"%040d,1\n" % i for i in range(400000)))
    usual = resource.getrlimit(resource.RLIMIT_AS)
    limit = (36 << 20) + os.path.getsize(os.path.realpath(harness.program()))
    resource.setrlimit(resource.RLIMIT_AS, (limit, usual[1]))
    try:
        r = harness.run(["--threads=1", "--count-distinct=k", path])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, usual)
    harness.ok(r.status == 1 and not r.out and b"column 'k': more different values than there is memory for: " in r.err and
               b" in the table of one thread" in r.err, "more keys than memory", lambda: harness.describe(r))


check_limit()
harness.done()
