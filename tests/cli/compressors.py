# SPDX-License-Identifier: MIT
"""gzip data of many compressors: each one's text, byte for byte, and of damaged data what zlib says.

zlib at all levels and strategies, by way of Python; gzip, pigz, igzip and libdeflate-gzip where they are installed.
Each cuts blocks and chooses codes and distances in its own way. The oracle is Python's zlib: its text, printed by a
filter that keeps every record, and the words of its errors.
"""
import concurrent.futures
import os
import random
import shutil
import subprocess
import threading
import zlib

import harness
from harness import fixture, ok

ECHO = ["--where", "v is not missing", "--device=cpu"]
WAYS = [(threads, chunk) for threads in (1, 2, 3) for chunk in (None, 20011, 3000)]
STRATEGIES = ("DEFAULT_STRATEGY", "FILTERED", "HUFFMAN_ONLY", "RLE", "FIXED")
COMMANDS = [("gzip", "-%d" % level) for level in (1, 6, 9)] + \
    [("pigz", "-p2", "-b128", "-%d" % level) for level in (0, 1, 6, 9)] + [("pigz", "-p2", "-b128", "-i")] + \
    [("igzip", "-%d" % level) for level in range(4)] + [("libdeflate-gzip", "-%d" % level) for level in range(1, 13)]
POOL = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2)


def table(nbytes, seed=1):
    """Repetitions near, far and long, and text that hardly repeats. A comma and a line end stand only where they part."""
    rng = random.Random(seed)
    words = [b"some text", b"", b"abc" * 20, b"x" * 700, b"\xc3\xa4\xe2\x82\xac"]
    rows, n = [b"v,t,h\n"], 0
    while n < nbytes:
        noise = b"%0*x" % (rng.randrange(1, 24), rng.getrandbits(60))
        rows.append(b"%d,%s,%s\n" % (rng.randrange(10 ** rng.randrange(1, 12)), rng.choice(words), noise))
        n += len(rows[-1])
    return b"".join(rows)


TEXT = table(400000)  # longer than the first 256 KiB, which one thread decodes where chunks are long


def deflated(level, strategy):
    c = zlib.compressobj(level, zlib.DEFLATED, 31, 8, getattr(zlib, "Z_" + strategy))
    return c.compress(TEXT) + c.flush()


def made_by(command):
    """What the command makes of TEXT, or None: it is not here."""
    if not shutil.which(command[0]):
        return None
    p = subprocess.run(list(command) + ["-c"], input=TEXT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if p.returncode or zlib.decompress(p.stdout, 31) != TEXT:
        raise SystemExit("%s: status %d, %s" % (" ".join(command), p.returncode, p.stderr))
    return p.stdout


def run(data, threads=1, chunk=None, pipe=False):
    """-> (status, stdout, stderr), with FILE for the file's name."""
    path = None if pipe else fixture("%d.csv" % threading.get_ident(), data)
    argv = [harness.program(), "--threads", str(threads)] + ECHO + ([] if pipe else [path])
    p = subprocess.run(argv, input=data if pipe else b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=harness.environment(chunk), timeout=300)
    return p.returncode, p.stdout, p.stderr.replace(b"<stdin>" if pipe else path.encode(), b"FILE")


# ---- whole ----------------------------------------------------------------------------------

def misread(case):
    """-> None, or how one way to read the data went wrong."""
    data, (threads, chunk), pipe = case
    got = run(data, threads, chunk, pipe)
    return None if got == (0, TEXT, b"") else "%d threads, chunks of %s, %s: status %d, %d bytes, the first %d are right, %s" % (
        threads, chunk, "pipe" if pipe else "file", got[0], len(got[1]), len(os.path.commonprefix([got[1], TEXT])), got[2])


def check_text(name, data):
    wrong = list(filter(None, POOL.map(misread, ((data, way, pipe) for way in WAYS for pipe in (False, True)))))
    ok(not wrong, name + ": the text", "\n".join(wrong))


# ---- damaged --------------------------------------------------------------------------------

def zlib_says(data):
    """-> the text that Python's zlib gives, to some bytes before damage, and its words, or None."""
    d, text = zlib.decompressobj(31), []
    try:
        for at in range(len(data)):
            text.append(d.decompress(data[at:at + 1]))
    except zlib.error as e:
        return b"".join(text), b"corrupt gzip data: " + str(e).partition(": ")[2].encode()
    return b"".join(text), None if d.eof else b"truncated gzip data"


def damaged(data, rng):
    """Cut off somewhere behind the header, or with a bit flipped there."""
    at = rng.randrange(10, len(data))
    if rng.random() < 0.4:
        return data[:at]
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]


def misjudged(case):
    """-> None, or how the verdict differs from zlib's. A fault of the text before the damage is found first."""
    data, (threads, chunk), pipe = case
    text, words = zlib_says(data)
    complete = run(text[:text.rfind(b"\n") + 1])
    got = run(data, threads, chunk, pipe)
    if words and complete[0] == 0:
        wrong = got[0] != 1 or got[1][:len(complete[1])] != complete[1] or len(got[1]) > len(complete[1]) + 2000 or \
            got[2] != b"gpustat: FILE: " + words + b"\n"
    else:
        wrong = got != complete
    return "%d threads, chunks of %s, pipe %s: %s, %d bytes, %s; zlib: %s, %d bytes; its text: %s %s" % (
        threads, chunk, pipe, got[0], len(got[1]), got[2], words, len(text), complete[0], complete[2]) if wrong else None


def check_damage(name, data):
    rng = random.Random(name)
    cases = [(damaged(data, rng), rng.choice(WAYS), rng.random() < 0.5) for _ in range(6)]
    wrong = list(filter(None, POOL.map(misjudged, cases)))
    ok(not wrong, name + ", damaged: what zlib says", "\n".join(wrong))


for strategy in STRATEGIES:
    for level in range(10):
        check_text("zlib, level %d, Z_%s" % (level, strategy), deflated(level, strategy))
    check_damage("zlib, Z_" + strategy, deflated(6, strategy))
for command in COMMANDS:
    packed = made_by(command)
    if packed is None:
        harness.skip(" ".join(command), "no program " + command[0])
        continue
    check_text(" ".join(command), packed)
    check_damage(" ".join(command), packed)
harness.done()
