# SPDX-License-Identifier: MIT
"""One gzip member, decoded by all threads: the same bytes as by one, for any threads, chunks and ways to deflate.

What is compared is what a filter that keeps every record prints, and for a pipe, where records are printed by one
thread's decoding, a sum and a count. Damaged files are compared with what one thread makes of them, and with
Python's zlib.
"""
import concurrent.futures
import os
import random
import struct
import subprocess
import threading
import zlib

import harness
from harness import fixture, ok

ECHO = ["--where", "v is not missing", "--device=cpu"]
FOLD = ["--sum", "v", "--count", "t", "--count-records", "--device=cpu"]
POOL = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2)


def table(nrows, seed=1):
    """Records with repetitions near and far, quotes, and line ends in quotes."""
    rng = random.Random(seed)
    words = [b"some text", b"", b'"a, b"', b'"two\nlines"', b"abc" * 20, b'"say ""x"""']
    rows = (b"%d,%s,%d" % (rng.randrange(10 ** rng.randrange(1, 12)), rng.choice(words), i)
            for i in range(nrows))
    return b"v,t,n\n" + b"\n".join(rows) + b"\n"


def member(data, level=6, memory=8, strategy=zlib.Z_DEFAULT_STRATEGY, flush=None, every=0):
    c = zlib.compressobj(level, zlib.DEFLATED, -15, memory, strategy)
    step = every or len(data) or 1
    body = b""
    for at in range(0, len(data), step):
        body += c.compress(data[at:at + step]) + (c.flush(flush) if flush is not None else b"")
    return (b"\x1f\x8b\x08" + bytes(6) + b"\xff" + body + c.flush() +
            struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF))


def run(args, data, threads, chunk=None, pipe=False):
    env = harness.environment(chunk)
    argv = [harness.program(), "--threads", str(threads)] + args
    how = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=300)
    if pipe:
        p = subprocess.run(argv, input=data, **how)
    else:
        p = subprocess.run(argv + [fixture("%d.csv.gz" % threading.get_ident(), data)], stdin=subprocess.DEVNULL, **how)
    err = p.stderr.replace(b"%d.csv.gz" % threading.get_ident(), b"FILE")
    return p.returncode, p.stdout, err


LARGE = table(90000)  # behind the first 256 KiB of text, which one thread decodes
PACKED = {
    "level 1": member(LARGE, 1),
    "level 6": member(LARGE, 6),
    "level 9, small blocks": member(LARGE, 9, memory=1),
    "stored": member(LARGE, 0),
    "fixed codes": member(LARGE, 6, strategy=zlib.Z_FIXED),
    "Huffman codes alone": member(LARGE, 6, strategy=zlib.Z_HUFFMAN_ONLY),
    "runs": member(LARGE, 6, strategy=zlib.Z_RLE),
    "full flushes": member(LARGE, 6, flush=zlib.Z_FULL_FLUSH, every=20011),
    "sync flushes": member(LARGE, 6, flush=zlib.Z_SYNC_FLUSH, every=3001),
    "two members": member(LARGE[:1000000]) + member(LARGE[1000000:], 9, memory=2),
    "members of 300,000 bytes": b"".join(member(LARGE[at:at + 300000], 6, memory=3)
                                         for at in range(0, len(LARGE), 300000)),
    "many members": b"".join(member(LARGE[at:at + 20000]) for at in range(0, len(LARGE), 20000)),
}
WAYS = [(2, None), (3, 400000), (7, 60000), (2, 9001), (5, 3000)]


def check_text():
    total = run(FOLD, LARGE, 1)[1]
    for name, data in PACKED.items():
        wrong = []
        for threads, chunk in WAYS:
            got = run(ECHO, data, threads, chunk)
            if got != (0, LARGE, b""):
                same = len(os.path.commonprefix([got[1], LARGE]))
                wrong.append("%d threads, chunks of %s: status %s, %d bytes, the first %d are right, %s" % (
                    threads, chunk, got[0], len(got[1]), same, got[2]))
            for pipe in (False, True):
                got = run(FOLD, data, threads, chunk, pipe=pipe)
                if got != (0, total, b""):
                    wrong.append("%d threads, chunks of %s, %s: %s" % (threads, chunk, "pipe" if pipe else "file", got))
        ok(not wrong, "%s: any threads, any chunks" % name, "\n".join(wrong))


def damaged(data, seed):
    rng = random.Random(seed)
    data = bytearray(data)
    if rng.random() < 0.3:
        del data[rng.randrange(len(data) // 8, len(data)):]
    else:
        at = rng.randrange(len(data) // 8, len(data))
        data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


def same_verdict(case):
    """-> None, or how reading in sections differs from reading in one thread."""
    data, threads, chunk = case
    one, all_threads = run(ECHO, data, 1), run(ECHO, data, threads, chunk)
    if one == all_threads:
        return None
    return "%d threads, chunks of %s: status %d and %d, %d and %d bytes, %s and %s" % (
        threads, chunk, one[0], all_threads[0], len(one[1]), len(all_threads[1]), one[2], all_threads[2])


def check_damage():
    for name in ("level 6", "level 9, small blocks", "full flushes", "members of 300,000 bytes"):
        cases = [(damaged(PACKED[name], seed),) + WAYS[seed % len(WAYS)] for seed in range(40)]
        wrong = list(filter(None, POOL.map(same_verdict, cases)))
        ok(not wrong, "%s, damaged: the same records, the same words" % name, "\n".join(wrong[:5]))
    wrong = list(filter(None, POOL.map(same_verdict, (
        (PACKED["level 6"][:-8] + trailer, 3, 60000)
        for trailer in (b"", b"\0" * 8, PACKED["level 6"][-8:-4] + b"\0" * 4, PACKED["level 6"][-8:] + b"more")))))
    ok(not wrong, "wrong trailers", "\n".join(wrong))


def check_ends():
    """All of a member is decoded, and some of its text not yet read, when threads could take over."""
    first = 256 * 1024  # what one thread reads before that
    wrong = []
    for extra in list(range(0, 24)) + list(range(24, 300, 23)):
        data = LARGE[:first + extra].ljust(first + extra + 3, b"\n")
        wrong.extend("%d bytes behind the first piece, %s threads: %s" % (extra, threads, got[2])
                     for threads in (1, 3) for got in [run(FOLD, member(data) + member(b"1,a,2\n"), threads)]
                     if got != run(FOLD, data + b"1,a,2\n", 1))
    ok(not wrong, "members that end just behind the first piece", "\n".join(wrong[:5]))
    rng, wrong = random.Random(2), []
    data = b"".join(b"%d,1,%d\n" % (rng.randrange(10 ** 59, 10 ** 60), rng.randrange(10 ** 39, 10 ** 40))
                    for _ in range(140))  # short codes: several are decoded at once, with the end behind them
    before = ["--header=no", "--sum", "2", fixture("before.csv", data)]
    for cut in range(100, 126):
        packed = member(data[:cut], 1, memory=1) + member(data[cut:])
        wrong += ["the first member of %d bytes, chunks of %d: %s" % (cut, chunk, got) for chunk in range(3, 16)
                  for got in [run(before, packed, 2, chunk)] if got != (0, b"280\n", b"")]
    ok(not wrong, "a member that ends just behind the first record, in the second file", "\n".join(wrong[:5]))


check_text()
check_ends()
check_damage()
harness.done()
