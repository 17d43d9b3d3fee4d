# SPDX-License-Identifier: MIT
"""bzip2, xz, and zstd of many frames: the same bytes from any number of threads, and the right words for what is wrong.

Python's bz2 and lzma make the files and say what is in them. Frames of zstd are made here of raw blocks, with and
without their length in the header, so that the program zstd is not needed for most of it.
"""
import bz2
import concurrent.futures
import gzip
import lzma
import os
import random
import shutil
import struct
import subprocess
import threading
import time
import zlib

import harness
from harness import fixture, ok

ECHO = ["--where", "v is not missing", "--device=cpu"]
THREADS = (1, 2, 3, 7)


def built():
    lines = harness.run(["--version"]).out.decode().splitlines()
    return {line.split(" ", 1)[0] for line in lines if not line.endswith("not built in")}


BUILT = built()
POOL = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2)


def table(nbytes, seed=1):
    rng = random.Random(seed)
    rows, n = [b"v,t\n"], 0
    while n < nbytes:
        rows.append(b"%d,%s\n" % (rng.randrange(10 ** rng.randrange(1, 12)), rng.choice((b"x", b"some text", b"", b"abc" * 20))))
        n += len(rows[-1])
    return b"".join(rows)


SMALL = b"v,t\n" + b"".join(b"%d,row %d\n" % (i * i, i) for i in range(1, 30))
LARGE = table(2000000)
REST = LARGE[4:]


# ---- making ---------------------------------------------------------------------------------

def skippable(data, kind=0):
    return struct.pack("<II", 0x184D2A50 + kind, len(data)) + data


def frame(data, says_length=True, block_nbytes=128 * 1024):
    """A zstd frame of raw blocks, without a checksum (RFC 8878)."""
    head = b"\xa0" + struct.pack("<I", len(data)) if says_length else b"\x00\x50"
    blocks = [data[i:i + block_nbytes] for i in range(0, len(data), block_nbytes)] or [b""]
    body = b"".join(struct.pack("<I", len(b) << 3 | (i == len(blocks) - 1))[:3] + b for i, b in enumerate(blocks))
    return b"\x28\xb5\x2f\xfd" + head + body


def cut(data, nbytes):
    return [data[i:i + nbytes] for i in range(0, len(data), nbytes)]


def frames(data, nbytes=600000, **how):
    return b"".join(frame(piece, **how) for piece in cut(data, nbytes))


def pzstd(data, nbytes=600000):
    """As pzstd writes them: each frame behind one to be skipped, which has its length; none has its text's."""
    packed = [frame(piece, False) for piece in cut(data, nbytes)]
    return b"".join(skippable(struct.pack("<I", len(p))) + p for p in packed)


def seekable(data, nbytes=50000):
    """The seekable format: many frames, and a table of them in one to be skipped."""
    rows = b"".join(struct.pack("<II", len(frame(piece)), len(piece)) for piece in cut(data, nbytes))
    return frames(data, nbytes) + skippable(rows + struct.pack("<IBI", len(cut(data, nbytes)), 0, 0x8F92EAB1), 14)


def pbzip2(data, nbytes=200000):
    return b"".join(bz2.compress(piece, 1) for piece in cut(data, nbytes))


def xz(data, **how):
    return lzma.compress(data, preset=1, **how)


# ---- running --------------------------------------------------------------------------------

def run(data, args=None, threads=2, pipe=False, chunk=None):
    """-> (status, stdout, stderr) of the program reading data from a file, or a pipe."""
    argv = [harness.program(), "--threads", str(threads)] + (args or ECHO)
    env = harness.environment(chunk)
    if not pipe:
        argv.append(fixture("t-%d.csv" % threading.get_ident(), data))
    p = subprocess.run(argv, input=data if pipe else b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                       timeout=120)
    return p.returncode, p.stdout, p.stderr


def gives(name, data, want, chunks=(None,), threads=THREADS):
    wrong = []
    for chunk in chunks:
        for n in threads:
            for pipe in (False, True):
                got = run(data, threads=n, pipe=pipe, chunk=chunk)
                if got != (0, want, b""):
                    wrong.append("chunk %s, %d threads, pipe %s: %s, %d bytes, the first %d are right, %s" % (
                        chunk, n, pipe, got[0], len(got[1]), len(os.path.commonprefix([got[1], want])), got[2]))
    ok(not wrong, name, lambda: "\n".join(wrong) + "\nwanted: %d bytes" % len(want))


def fails(name, data, words, text=None):
    """The same message from any number of threads, and only text that stands before the fault. text None: the checksum
    stands behind the damage, and that the text is no table may be seen before."""
    wrong = []
    for n, pipe in ((1, False), (2, False), (7, False), (3, True)):
        status, out, err = run(data, threads=n, pipe=pipe)
        is_right = text is None or words in err and text.startswith(out)
        if status != 1 or err.count(b"\n") != 1 or not is_right:
            wrong.append("%d threads, pipe %s: %s, %d bytes, %s" % (n, pipe, status, len(out), err))
    ok(not wrong, name, lambda: "\n".join(wrong) + "\nwanted: 1 and %s" % words)


def fails_at_every_byte(kind, text, data, whole=(), first=1):
    """Cut after each byte, and with a bit of each byte flipped: an error, or all of the text. A flipped bit may show
    only in a checksum, behind text that was printed; the header may be damaged, too."""
    ncuts = range(first, len(data))
    results = POOL.map(lambda n: run(data[:n]), ncuts)
    wrong = ["cut at %d: %s" % (n, r) for n, r in zip(ncuts, results)
             if n not in whole and (r[0] != 1 or not text.startswith(r[1]) or not r[2])]
    ok(not wrong, "cut after every byte: " + kind, lambda: "\n".join(wrong[:9]))
    results = list(POOL.map(lambda i: run(data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1:]), range(len(data))))
    nharmless = results.count((0, text, b""))
    bad = ["bit %d of byte %d: %s" % (i % 8, i, r) for i, r in enumerate(results)
           if r != (0, text, b"") and (r[0] not in (1, 2) or not r[2])]
    ok(not bad, "bits flipped: " + kind, lambda: "\n".join(bad[:9]))
    harness.note("%s: %d flips, %d harmless" % (kind, len(data), nharmless))


def answers_at_once(name, parts):
    """Each (packed, text) is answered while the pipe stays open."""
    p = subprocess.Popen([harness.program()] + ECHO, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=harness.environment(), bufsize=0)
    watch = threading.Timer(60, p.kill)
    watch.start()
    try:
        for i, (packed, text) in enumerate(parts):
            p.stdin.write(packed)
            got = b""
            while len(got) < len(text):
                more = os.read(p.stdout.fileno(), 65536)
                if not more:
                    break
                got += more
            if got != text:
                break
        out, err = p.communicate()
        ok((got, out, err, p.returncode) == (text, b"", b"", 0), "at once: " + name,
           lambda: "part %d: %d bytes of %d, %s" % (i, len(got), len(text), err))
    finally:
        watch.cancel()
        p.kill()
        p.communicate()


# ---- bzip2 ----------------------------------------------------------------------------------

def check_bzip2():
    gives("bzip2: one stream", bz2.compress(LARGE), LARGE)
    gives("bzip2: streams", pbzip2(LARGE), LARGE)
    gives("bzip2: streams of many sizes, empty ones", bz2.compress(b"") + bz2.compress(LARGE[:1000000]) + bz2.compress(b"") * 3 +
          pbzip2(LARGE[1000000:], 100000) + bz2.compress(b""), LARGE)
    gives("bzip2: tiny streams", pbzip2(SMALL, 7), SMALL, (None, 1))
    gives("bzip2: chunks of a byte", bz2.compress(SMALL), SMALL, (1, 2, 3))
    gives("bzip2: chunks of some bytes", pbzip2(LARGE[:900000]), LARGE[:900000], (1000, 65536), (1, 3))
    zeros = b"v\n" + b"0" * 6000000 + b"\n"
    gives("bzip2: a long stream of few bytes behind others", pbzip2(b"v\n" + b"1\n" * 400000) + bz2.compress(zeros[2:]),
          b"v\n" + b"1\n" * 400000 + zeros[2:], threads=(1, 3))
    noise = random.Random(3).randbytes(500000).hex().encode()
    gives("bzip2: hardly compressed", pbzip2(b"v\n" + b"\n".join(cut(noise, 19)) + b"\n"),
          b"v\n" + b"\n".join(cut(noise, 19)) + b"\n", threads=(1, 3))
    small, two = bz2.compress(SMALL), bz2.compress(SMALL[:100]) + bz2.compress(SMALL[100:])
    # fewer than ten bytes could be text
    fails_at_every_byte("bzip2", SMALL, small, first=10)
    fails_at_every_byte("bzip2, two streams", SMALL, two, whole=(len(bz2.compress(SMALL[:100])),), first=10)
    fails("bzip2: truncated", small[:-1], b": truncated bzip2 data\n", SMALL)
    fails("bzip2: corrupt", small[:-1] + bytes([small[-1] ^ 255]), b": corrupt bzip2 data\n")
    for rest in (b"garbage", b"B", b"\0" * 512, b"BZhx"):
        fails("bzip2: trailing %r" % rest[:9], small + rest, b"after bzip2 data" if rest != b"B" else b"truncated bzip2 data", SMALL)
        fails("bzip2: behind many, %r" % rest[:9], pbzip2(LARGE) + rest, b" bzip2 data", LARGE)
    many = pbzip2(LARGE)
    for at in (0.3, 0.6, 0.95):
        n = int(at * len(many))
        fails("bzip2: many, cut at %s" % at, many[:n], b": truncated bzip2 data\n", LARGE)
        fails("bzip2: many, damaged at %s" % at, many[:n] + b"\xff\0\xff\0" + many[n + 4:], b"", None)
    answers_at_once("bzip2 streams", [(bz2.compress(t), t) for t in (b"v,t\n1,a\n", b"2,b\n", LARGE[4:], REST, b"3,c\n")])


# ---- xz -------------------------------------------------------------------------------------

def check_xz():
    gives("xz: one stream", xz(LARGE), LARGE)
    for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_SHA256):
        gives("xz: check %d" % check, xz(LARGE, check=check), LARGE, threads=(1, 3))
    half = len(LARGE) // 2
    gives("xz: streams, empty ones, padding", xz(b"") + bytes(4) + xz(LARGE[:half]) + bytes(400000) + xz(LARGE[half:]) + bytes(8),
          LARGE)
    gives("xz: tiny streams", b"".join(map(xz, cut(SMALL, 7))), SMALL, (None, 1))
    gives("xz: chunks of a byte", xz(SMALL), SMALL, (1, 2, 3))
    small = xz(SMALL)
    two = xz(SMALL[:100]) + bytes(4) + xz(SMALL[100:])
    first = len(xz(SMALL[:100]))
    fails_at_every_byte("xz", SMALL, small)
    fails_at_every_byte("xz, two streams and padding", SMALL, two, whole=(first, first + 4))
    fails("xz: truncated", small[:-1], b": truncated xz data\n", SMALL)
    for n in (1, 2, 5):
        fails("xz: %d bytes of the magic number" % n, small[:n], b": truncated xz data\n", SMALL)
    fails("xz: corrupt", small[:40] + bytes([small[40] ^ 255]) + small[41:], b": corrupt xz data\n")
    fails("xz: odd padding", small + bytes(6), b": corrupt xz data: padding that is no multiple of 4 bytes\n", SMALL)
    for rest in (b"garbage", b"x", bytes(4) + b"x", bytes(3) + b"x"):
        fails("xz: trailing %r" % rest, small + rest, b": trailing garbage after xz data\n", SMALL)
    fails("xz: half a magic number behind it", small + small[:3], b": truncated xz data\n", SMALL)
    large = lzma.compress(SMALL, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}])
    at = large.index(b"\x21\x01") + 2 # the filter's property: the dictionary's size
    head = large[12:24]
    assert head[0] == 2 and 12 < at < 24, large
    head = large[12:at] + b"\x26" + large[at + 1:20] # 2 GiB
    head += struct.pack("<I", zlib.crc32(head))
    fails("xz: a dictionary of 2 GiB", large[:12] + head + large[24:], b"MiB of memory, more than 512 MiB: try xzcat", b"")
    answers_at_once("xz streams", [(xz(t), t) for t in (b"v,t\n1,a\n", b"2,b\n", REST, b"3,c\n")])
    if not shutil.which("xz"):
        harness.skip("xz: blocks of several threads", "no program xz")
        return
    def blocks(data, n):
        return subprocess.run(["xz", "-1", "-T2", "--block-size=%d" % n, "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    many = blocks(LARGE, 300000)
    gives("xz: blocks", many, LARGE)
    gives("xz: blocks, in chunks", blocks(LARGE[:900000], 100000), LARGE[:900000], (1000, 65536), (1, 3))
    gives("xz: tiny blocks", blocks(SMALL, 100), SMALL, (None, 1))
    fails_at_every_byte("xz, blocks", SMALL[:150], blocks(SMALL[:150], 50))
    for at in (0.3, 0.6, 0.95):
        n = int(at * len(many))
        fails("xz: blocks, cut at %s" % at, many[:n], b": truncated xz data\n", LARGE)
        fails("xz: blocks, damaged at %s" % at, many[:n] + b"\xff\0\xff\0" + many[n + 4:], b"", None)


# ---- zstd -----------------------------------------------------------------------------------

def check_zstd():
    for name, data in (("with their lengths", frames(LARGE)), ("without", frames(LARGE, says_length=False)),
                       ("as pzstd writes them", pzstd(LARGE)), ("small ones and a seek table", seekable(LARGE)),
                       ("of small blocks", frames(LARGE, 400000, block_nbytes=100)),
                       ("tiny ones", frames(LARGE[:400000], 11) + frames(LARGE[400000:], 300000)),
                       ("the first is the longest", frame(LARGE[:2000000]) + frames(LARGE[2000000:], 1000)),
                       ("the last is the longest", frames(LARGE[:1000000], 300000) + frame(LARGE[1000000:])),
                       ("and many empty ones", frames(LARGE[:1000000]) + (frame(b"") + skippable(b"")) * 40000 + frames(LARGE[1000000:])),
                       ("and long ones to be skipped", frames(LARGE[:1000000]) + skippable(bytes(3000000)) +
                        skippable(bytes(300000)) + frames(LARGE[1000000:]))):
        gives("zstd frames, " + name, data, LARGE)
    gives("zstd frames, chunks of a byte", frames(SMALL, 30), SMALL, (1, 2, 3))
    gives("zstd frames, chunks of some bytes", pzstd(LARGE[:900000], 100000), LARGE[:900000], (1000, 65536), (1, 3))
    repeated = b"v\n" + b"7\n" * 300000
    rle = b"\x28\xb5\x2f\xfd\x00\x50" + struct.pack("<I", 100000 << 3 | 2 | 1)[:3] + b"8" # 100000 times one byte
    gives("zstd frames, a block of one byte repeated", frames(repeated, 300000) + rle + frame(b"\n"), repeated + b"8" * 100000 + b"\n")
    long = REST * (40000000 // len(REST))
    gives("zstd frames, one longer than is decoded ahead", frames(LARGE) + frame(long) + frames(REST), LARGE + long + REST,
          threads=(1, 3))
    ahead, more = frames(LARGE), SMALL[SMALL.index(b"\n") + 1:]     # without the header
    for name, rest, words in (("garbage", b"garbage", b"trailing garbage after zstd data"),
                              ("a frame cut short", frame(more)[:-1], b"truncated zstd data"),
                              ("a header cut short", frame(more)[:7], b"truncated zstd data"),
                              ("one byte", b"\x28", b"truncated zstd data"),
                              ("a length that is wrong", frame(more)[:5] + b"\1" + frame(more)[6:] + ahead, b"corrupt zstd data"),
                              ("a block of a type that is none", frame(more)[:9] + b"\x07" + frame(more)[10:] + ahead,
                               b"corrupt zstd data"),
                              ("a frame to be skipped, cut short", skippable(bytes(9))[:-1], b"truncated zstd data")):
        fails("zstd frames, then " + name, ahead + rest, words, LARGE + more)
    for at in (0.3, 0.6, 0.95):
        fails("zstd frames, cut at %s" % at, ahead[:int(at * len(ahead))], b": truncated zstd data\n", LARGE)
    answers_at_once("zstd frames", [(frame(t), t) for t in (b"v,t\n1,a\n", REST, REST, b"2,b\n", b"3,c\n")])
    answers_at_once("zstd frames, one torn", [(frame(LARGE) + frame(b"2,b\n") + frame(b"3,c\n4,d\n", block_nbytes=4)[:-7],
                                              LARGE + b"2,b\n3,c\n"),
                                             (frame(b"3,c\n4,d\n", block_nbytes=4)[-7:], b"4,d\n")])
    check_zstd_programs()


def check_zstd_programs():
    for tool, args in (("zstd", ["-q", "-c"]), ("pzstd", ["-q", "-c", "-p", "3"])):
        if not shutil.which(tool):
            harness.skip("zstd frames of " + tool, "no program " + tool)
            continue
        def pack(data):
            return subprocess.run([tool] + args, input=data, stdout=subprocess.PIPE, check=True).stdout
        many = b"".join(pack(piece) for piece in cut(LARGE, 700000))
        gives("zstd frames of " + tool, many, LARGE)
        gives("zstd frames of %s, one of 20 MB" % tool, pack(LARGE + REST * 9), LARGE + REST * 9, threads=(1, 3))
        for at in (0.3, 0.5, 0.6, 0.9):
            n = int(at * len(many))
            fails("zstd frames of %s, damaged at %s" % (tool, at), many[:n] + bytes([many[n] ^ 0x55]) + many[n + 1:],
                  b": corrupt zstd data", None)
        last = many[:-1] + bytes([many[-1] ^ 1])
        fails("zstd frames of %s, the last checksum" % tool, last, b": corrupt zstd data: ", LARGE)


# ---- a second pass ----------------------------------------------------------------------------

def check_second_pass():
    """A chunk that lies within quotes is guessed wrong, and a file on standard input is read anew, while a thread still reads
    ahead of the first pass: both have one place in the file."""
    rng = random.Random(3)
    numbers = [b"%d,%d" % (rng.randrange(10 ** 9), rng.randrange(10 ** 15)) for _ in range(66000)]
    text = b"\n".join([b"a,b"] + numbers[:3000] + [b'7,"'] + numbers[3000:6000] + [b'"'] + numbers[6000:]) + b"\n"
    total = b"%d\n" % (7 + sum(int(line.split(b",")[0]) for line in numbers[:3000] + numbers[6000:]))
    packed = {"zlib": gzip.compress(text, 1), "libbz2": bz2.compress(text), "liblzma": lzma.compress(text, preset=0)}
    for library in sorted(BUILT & set(packed)):
        path = fixture("second." + library, packed[library])

        def said(_, path=path):
            with open(path, "rb") as f:
                r = subprocess.run([harness.program(), "--threads=4", "--device=cpu", "--sum=a"], stdin=f, capture_output=True,
                                   env=harness.environment(5000), timeout=120, check=False)
            return r.returncode, r.stdout, r.stderr
        ok(set(map(said, range(60))) == {(0, total, b"")}, "a second pass of standard input: " + library)


# ---- not built in ---------------------------------------------------------------------------

def check_absent(name, data, what, tool):
    path = fixture("absent", data)
    p = harness.run(["--sum=v", path])
    ok((p.status, p.out) == (1, b"") and b": not CSV but %s data: try: %s " % (what, tool) in p.err, name + " is not built in", p)


for library, check, absent in (("libbz2", check_bzip2, (bz2.compress(SMALL), b"bzip2", b"bzcat")),
                               ("liblzma", check_xz, (lzma.compress(SMALL), b"xz", b"xzcat")),
                               ("zstd", check_zstd, None)):
    if library in BUILT:
        begin = time.monotonic()
        check()
        harness.note("%s: %.0f s" % (library, time.monotonic() - begin))
    elif absent:
        check_absent(library, *absent)
    else:
        harness.skip(library, "not built in")
check_second_pass()
harness.done()
