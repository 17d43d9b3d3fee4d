# SPDX-License-Identifier: MIT
"""Compressed input: its text, and its damage.

BGZF files, which bgzip writes, are made here from struct and zlib.

A filter that keeps every record shows the bytes that the reader returns, rather than a sum of them.
"""
import concurrent.futures
import gzip
import os
import random
import shutil
import signal
import struct
import subprocess
import threading
import time
import zlib

import harness
from harness import fixture, is_, ok

ECHO = ["--where", "v is not missing", "--device=cpu"]
EOF_BLOCK = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
ZSTD = shutil.which("zstd")


def versions():
    text = harness.run(["--version"]).out.decode()
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


BUILT = {name for name, version in versions().items() if version != "not built in"}


# ---- making ---------------------------------------------------------------------------------

def deflate(data, level=6):
    c = zlib.compressobj(level, zlib.DEFLATED, -15)
    return c.compress(data) + c.flush()


def trailer(data):
    return struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def member(data, level=6, extra=None, name=None, comment=None, header_crc=False):
    flags = 2 * header_crc + 4 * (extra is not None) + 8 * (name is not None) + 16 * (comment is not None)
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(4) + b"\0\xff"
    if extra is not None:
        header += struct.pack("<H", len(extra)) + extra
    header += b"" if name is None else name + b"\0"
    header += b"" if comment is None else comment + b"\0"
    if header_crc:
        header += struct.pack("<H", zlib.crc32(header) & 0xFFFF)
    return header + deflate(data, level) + trailer(data)


def block(data, level=6, before=b"", after=b"", lie=0, **how):
    """A BGZF block; lie: what is added to the length that it says."""
    def with_length(n):
        return member(data, level, before + b"BC\2\0" + struct.pack("<H", n & 0xFFFF) + after, **how)
    return with_length(len(with_length(0)) - 1 + lie)


def bgzf(data, nbytes=65280, level=6, end=EOF_BLOCK):
    return b"".join(block(data[i:i + nbytes], level) for i in range(0, len(data), nbytes)) + end


def table(nrows, seed=1):
    rng = random.Random(seed)
    rows = [b"%d,%s" % (rng.randrange(10 ** rng.randrange(1, 12)), rng.choice((b"x", b"some text", b"", b"abc" * 20)))
            for _ in range(nrows)]
    return b"v,t\n" + b"\n".join(rows) + b"\n"


SMALL = b"v,t\n" + b"".join(b"%d,row %d\n" % (i * i, i) for i in range(1, 30))
TINY = b"v,t\n1,a\n22,bb\n33,bb\n333,bb\n"
LARGE = table(120000)                               # some MB: many slots of the ring
CUT = LARGE[:LARGE.index(b"\n", 700000) + 1]


# ---- running --------------------------------------------------------------------------------

def run(data, args=None, threads=None, timeout=300, name="t.csv.gz", pipe=False, chunk=None):
    """-> (status, stdout, stderr) of the program reading data from a file, or a pipe."""
    env = harness.environment(chunk)
    argv = [harness.program()] + (["--threads", str(threads)] if threads else []) + (args or ECHO)
    if pipe:
        p = subprocess.run(argv, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=timeout)
    else:
        path = fixture("%d-%s" % (threading.get_ident(), name), data)
        p = subprocess.run(argv + [path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=env, timeout=timeout)
    return p.returncode, p.stdout, p.stderr


POOL = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2)


def run_all(datas, **how):
    return list(POOL.map(lambda data: run(data, **how), datas))


def gives(name, data, want, threads=(1, 3)):
    """From a file and from a pipe, the program gives want."""
    wrong = []
    for n in threads:
        for pipe in (False, True):
            got = run(data, threads=n, pipe=pipe)
            if got != (0, want, b""):
                wrong.append("%d threads, %s: status %s, %d bytes, the first %d are right, %s" % (
                    n, "pipe" if pipe else "file", got[0], len(got[1]),
                    len(os.path.commonprefix([got[1], want])), got[2]))
    ok(not wrong, name, "\n".join(wrong) + "\nwanted: %d bytes" % len(want))


def fails(name, data, words):
    """From a file and from a pipe, the program finds the fault."""
    wrong = []
    for pipe in (False, True):
        status, out, err = run(data, threads=2, pipe=pipe)
        if status != 1 or words not in err or err.count(b"\n") != 1:
            wrong.append("status %s, stderr %s" % (status, err))
    ok(not wrong, name, "\n".join(wrong) + "\nwanted: 1 and %s" % words)


# ---- what is right --------------------------------------------------------------------------

def check_members():
    gives("one member", member(LARGE), LARGE)
    gives("one member, stored", member(LARGE, 0), LARGE)
    gives("one member, level 1", member(LARGE, 1), LARGE)
    gives("Python's own", gzip.compress(LARGE, 9), LARGE)
    pieces = [LARGE[i:i + 9973] for i in range(0, len(LARGE), 9973)]
    gives("many members", b"".join(map(member, pieces)), LARGE)
    gives("members of one byte", b"".join(member(SMALL[i:i + 1]) for i in range(len(SMALL))), SMALL)
    gives("empty members before, between and after",
          member(b"") * 3 + member(CUT) + member(b"") * 2 + member(b"1,a\n") + member(b""), CUT + b"1,a\n")
    gives("nothing but empty members, then a table", member(b"", 0) * 50 + member(SMALL), SMALL)
    zeros = b"v\n" + b"0" * 3000000 + b"1\n"
    gives("a member that was deflated a thousandfold", member(zeros, 9), zeros)
    noise = b"v,t\n" + b"".join(b"%d,%s\n" % (i, random.Random(i).randbytes(60).hex().encode()) for i in range(9000))
    gives("a member that can hardly be deflated", member(noise), noise)
    fixed = zlib.compressobj(6, zlib.DEFLATED, -15, 9, zlib.Z_FIXED)
    body = fixed.compress(CUT) + fixed.flush()
    gives("fixed codes", member(CUT)[:10] + body + trailer(CUT), CUT)
    small_window = zlib.compressobj(6, zlib.DEFLATED, -9)
    body = small_window.compress(CUT) + small_window.flush()
    gives("a window of 512 bytes", member(CUT)[:10] + body + trailer(CUT), CUT)
    flushed = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = b"".join(flushed.compress(SMALL[i:i + 7]) + flushed.flush(zlib.Z_SYNC_FLUSH) for i in range(0, len(SMALL), 7))
    gives("a flush every 7 bytes", member(SMALL)[:10] + body + flushed.flush() + trailer(SMALL), SMALL)


def check_headers():
    for name, how in (("FNAME", dict(name=b"a.csv")), ("an empty FNAME", dict(name=b"")),
                      ("a long FNAME", dict(name=b"n" * 100000)), ("FCOMMENT", dict(comment=b"words")),
                      ("FEXTRA", dict(extra=b"ab\3\0xyz")), ("an empty FEXTRA", dict(extra=b"")),
                      ("the longest FEXTRA", dict(extra=b"ab\xfb\xff" + b"x" * 65531)),
                      ("FEXTRA that is no list", dict(extra=b"BC\xff\xffzz")), ("FHCRC", dict(header_crc=True)),
                      ("all of them", dict(extra=b"zz\1\0\0", name=b"n", comment=b"c", header_crc=True))):
        gives("a header with " + name, member(SMALL, **how) + member(b"7,x\n", **how), SMALL + b"7,x\n")
    bad = bytearray(member(SMALL, name=b"n", header_crc=True))
    bad[12] ^= 1
    fails("a wrong header CRC", bytes(bad), b"header crc mismatch")
    fails("an FNAME without end", member(SMALL)[:3] + b"\x08" + bytes(6) + b"n" * 50, b"truncated gzip data")
    fails("an FNAME of a megabyte", member(SMALL)[:3] + b"\x08" + bytes(6) + b"n" * 1000000 + b"\0", b"corrupt gzip data")


def check_bgzf():
    gives("BGZF", bgzf(LARGE), LARGE)
    gives("BGZF without the EOF block", bgzf(LARGE, end=b""), LARGE)
    gives("BGZF, stored", bgzf(LARGE, 65000, 0), LARGE)
    gives("BGZF, the largest blocks", bgzf(LARGE, 65536, 9), LARGE)
    gives("BGZF, blocks of 10 bytes", bgzf(SMALL, 10), SMALL)
    gives("BGZF, blocks of many sizes", b"".join(bgzf(LARGE[i:i + 77777], 1 + i % 60000) for i in range(0, len(LARGE), 77777)),
          LARGE)
    gives("BGZF, a thousand EOF blocks", EOF_BLOCK * 1000 + bgzf(SMALL) + EOF_BLOCK * 20000, SMALL)
    gives("BGZF, the EOF block alone, then a table", EOF_BLOCK + member(SMALL), SMALL)
    gives("BGZF, other subfields before and after",
          block(SMALL, before=b"ab\3\0xyz", after=b"zz\0\0") + block(b"1,x\n", name=b"n", comment=b"c", header_crc=True),
          SMALL + b"1,x\n")
    half = len(LARGE) // 2
    gives("BGZF, then a plain member", bgzf(LARGE[:half]) + member(LARGE[half:]), LARGE)
    gives("a plain member, then BGZF", member(LARGE[:half]) + bgzf(LARGE[half:]), LARGE)
    rng, mixed, at = random.Random(5), b"", 0
    while at < len(LARGE):
        n = rng.choice((1, 100, 5000, 65280, 200000))
        mixed += bgzf(LARGE[at:at + n], rng.choice((1000, 65280))) if rng.random() < 0.5 else member(LARGE[at:at + n])
        mixed += rng.choice((b"", EOF_BLOCK, member(b"")))
        at += n
    gives("BGZF and plain members in turn", mixed, LARGE)


def check_bgzf_lies():
    first, second = block(SMALL), block(b"1,x\n2,y\n")
    for lie in (-1, 1, -20, 20, len(second), 30000):
        for rest in (second + EOF_BLOCK, EOF_BLOCK * 2000):
            data = block(SMALL, lie=lie) + rest
            status, out, err = run(data)
            harness.ok(status == 1 and b"gzip data" in err and SMALL.startswith(out),
                       "a block that says %+d bytes, before %d" % (lie, len(rest)), (status, out, err))
    fails("a block of more than 64 KiB inflated", block(CUT[:65537]) + member(CUT[65537:]), b"corrupt gzip data")
    for at, name in ((-1, "length"), (-8, "CRC")):
        bad = bytearray(first)
        bad[at] ^= 0x40
        fails("a block's wrong " + name, bytes(bad) + second + EOF_BLOCK, b"corrupt gzip data")
        fails("a later block's wrong " + name, bgzf(LARGE, end=b"") + bytes(bad) + second * 5000, b"corrupt gzip data")
    bad = first[:-4] + struct.pack("<I", len(SMALL) - 1)
    fails("a block longer than it says", bad + second, b"corrupt gzip data")
    bad = first[:-4] + struct.pack("<I", len(SMALL) + 1)
    fails("a block shorter than it says", bad + second, b"corrupt gzip data")
    fails("BGZF, then text", bgzf(CUT) + b"garbage", b"trailing garbage")
    fails("BGZF, then one byte", bgzf(CUT) + b"\x1f", b"gzip data")
    fails("BGZF, then zeros and a byte", bgzf(CUT) + bytes(512) + b"x", b"trailing garbage")
    fails("BGZF cut in the last block", bgzf(CUT, end=b"")[:-5], b"truncated gzip data")
    fails("BGZF cut in the EOF block", bgzf(CUT)[:-5], b"truncated gzip data")


# Workers inflate blocks themselves behind the first 256 KiB, which are looked at for the header. This fills those.
AHEAD = b"v,t\n" + b"1,once more\n" * 26000
BEHIND = b"".join(b"%d,row %d\n" % (i * i, i) for i in range(3000, 60000))


def check_chunks_of_blocks():
    """Blocks of many sizes, chunks that hold many, some, one or none of them."""
    rng, data, at = random.Random(11), bgzf(AHEAD, end=b""), 0
    text = BEHIND[:BEHIND.index(b"\n", 400000) + 1]
    while at < len(text):
        n = rng.choice((1, 7, 1000, 30000, 65280, 65536))
        data += block(text[at:at + n]) + rng.choice((b"", EOF_BLOCK))
        at += n
    for chunk in (1, 100, 65535, 65536, 131071, 500000, None):
        wrong = []
        for threads in (1, 2, 3, 7):
            for pipe in (False, True):
                got = run(data + EOF_BLOCK, threads=threads, pipe=pipe, chunk=chunk)
                if got != (0, AHEAD + text, b""):
                    wrong.append("%s threads, pipe %s: %s, %d bytes, %s" % (threads, pipe, got[0], len(got[1]), got[2]))
        ok(not wrong, "blocks of many sizes in chunks of %s" % chunk, "\n".join(wrong))
    half = bgzf(AHEAD + text, end=b"")
    for name, rest, more in (("a member", member(BEHIND), BEHIND), ("a member, and blocks", member(b"1,a\n") + bgzf(BEHIND),
                             b"1,a\n" + BEHIND), ("nothing", b"", b""), ("an empty member", member(b""), b"")):
        gives("much BGZF, then " + name, half + rest, AHEAD + text + more, threads=(1, 2, 7))
    gives("stored blocks longer than their text, in chunks", bgzf(AHEAD + text, 65500, 0), AHEAD + text, threads=(1, 2, 7))


def check_faults_in_order():
    """Of two faults in different chunks the first in the file is reported, whoever finds one first."""
    ahead = bgzf(AHEAD, end=b"")
    bad_value, good = block(b"".join(BEHIND[:60000].rpartition(b"\n")[:2]) + b"word,x\n"), bgzf(BEHIND, end=b"")
    damaged = bytearray(good)
    damaged[-8] ^= 1                                # the last block's CRC
    lies, cut = block(SMALL, lie=20000), block(BEHIND[:60000])[:-1000]
    for name, data, words in (
            ("a bad value, then damage", bad_value + good + bytes(damaged) + good, b"not a number: 'word'"),
            ("damage, then a bad value", bytes(damaged) + good + bad_value + good, b"corrupt gzip data"),
            ("a bad value, then a lie", bad_value + good + lies + EOF_BLOCK * 2000, b"not a number: 'word'"),
            ("a lie, then a bad value", good + lies + EOF_BLOCK * 2000 + bad_value, b"corrupt gzip data"),
            ("damage, then the file's end too soon", bytes(damaged) + good + cut, b"corrupt gzip data"),
            ("damage, then garbage", bytes(damaged) + good + b"garbage", b"corrupt gzip data"),
            ("blocks, then garbage", good + good + b"garbage", b"trailing garbage"),
            ("blocks, then less than one", good + good + cut, b"truncated gzip data"),
            ("blocks, then a bad value, then garbage", good + bad_value + good + b"garbage", b"not a number: 'word'")):
        jobs = [dict(threads=threads, pipe=pipe, chunk=65536) for threads in (1, 2, 3, 7) for pipe in (False, True)] * 3
        got = list(POOL.map(lambda how: run(ahead + data, args=["--sum=v", "--device=cpu"], **how), jobs))
        wrong = [(how, r) for how, r in zip(jobs, got) if r[0] != 1 or r[1] or words not in r[2] or r[2].count(b"\n") != 1]
        ok(not wrong, "in order: " + name, lambda: "%d wrong, first: %s" % (len(wrong), wrong[0]))


# ---- what is wrong --------------------------------------------------------------------------

def check_ends():
    for name, rest in (("text", b"garbage"), ("a byte", b"x"), ("zeros and a byte", bytes(1000) + b"x"), ("a record", b"1,2\n")):
        fails("trailing " + name, member(SMALL) + rest, b"trailing garbage after gzip data")
        fails("after much, trailing " + name, member(LARGE) + rest, b"trailing garbage after gzip data")
    for name, rest in (("the magic", b"\x1f\x8b"), ("a header", member(b"")[:10]), ("less than a member", member(b"1,x\n")[:-1])):
        fails("trailing " + name, member(SMALL) + rest, b"truncated gzip data")
    fails("a second member's CRC", member(SMALL) + member(b"1,x\n")[:-8] + bytes(8), b"corrupt gzip data")
    fails("a second member's method", member(SMALL) + b"\x1f\x8b\x07" + member(b"1\n")[3:], b"corrupt gzip data")
    fails("a distance that reaches into the member before", member(SMALL) + member(b"")[:10] + bytes.fromhex("4b040200") +
          bytes(8), b"corrupt gzip data")


KINDS = {"one member": (SMALL, member(SMALL)), "two members": (TINY, member(TINY[:9]) + member(TINY[9:])),
         "stored": (TINY, member(TINY, 0)), "BGZF": (TINY, bgzf(TINY, 15)), "a large block": (SMALL, block(SMALL)),
         "a whole header": (TINY, member(TINY, extra=b"ab\1\0x", name=b"n", comment=b"c", header_crc=True))}


def check_truncation(name, text, data, whole, **how):
    """Cut after every byte: an error, except where whole members are left, or nothing."""
    cuts = [n for n in range(1, len(data)) if n not in whole]
    results = run_all([data[:n] for n in cuts], **how)
    wrong = [(n, r) for n, r in zip(cuts, results) if r[0] != 1 or not text.startswith(r[1]) or not r[2]]
    ok(not wrong, "cut after every byte: %s" % name, lambda: "unseen: %s" % wrong[:5])


def check_flips(name, text, data, first=0, **how):
    """Every bit in turn: an error, or the right answer. What is printed before the error may be
    damaged, since a member's CRC comes last, and so may the header: then its column is unknown."""
    flips = [data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1:] for i in range(first, len(data)) for bit in range(8)]
    results = run_all(flips, **how)
    right = [r == (0, text, b"") for r in results]
    wrong = [i for i, r in enumerate(results) if not right[i] and (r[0] not in (1, 2) or not r[2])]
    ok(not wrong, "every bit flipped: %s" % name,
       lambda: "bits %s: %s" % ([divmod(i, 8) for i in wrong[:5]], results[wrong[0]]))
    harness.note("%s: %d flips, %d harmless" % (name, len(flips), sum(right)))


def check_damage():
    for name, (text, data) in KINDS.items():
        whole, at = set(), 0
        while at < len(data):                       # ends of members: what stands before is complete
            d = zlib.decompressobj(31)
            d.decompress(data[at:])
            at = len(data) - len(d.unused_data)
            whole.add(at)
        check_truncation(name, text, data, whole)
        check_flips(name, text, data)
    ahead, last = bgzf(AHEAD, end=b""), b"".join(block(TINY[i:i + 15]) for i in range(4, len(TINY), 15)) + EOF_BLOCK
    text, whole, at = b"%d\n" % (26000 + 1 + 22 + 33 + 333), set(), len(ahead)
    for piece in (block(TINY[i:i + 15]) for i in range(4, len(TINY), 15)):
        whole.add(at)
        at += len(piece)
    how = dict(args=["--sum=v", "--device=cpu"], threads=2)
    check_flips("blocks that workers inflate", text, ahead + last, len(ahead), **how)
    cuts = [n for n in range(len(ahead) + 1, len(ahead + last)) if n not in whole | {at}]
    wrong = [(n, r) for n, r in zip(cuts, run_all([(ahead + last)[:n] for n in cuts], **how))
             if r[:2] != (1, b"") or b"gzip data" not in r[2]]
    ok(not wrong, "cut after every byte: blocks that workers inflate", lambda: "unseen: %s" % wrong[:5])


# ---- time -----------------------------------------------------------------------------------

def talk(pieces, read):
    """Writes piece after piece, and waits for the answer to each while the pipe stays open."""
    env = harness.environment()
    p = subprocess.Popen([harness.program()] + ECHO, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=env, bufsize=0)
    watch = threading.Timer(20, p.kill)
    watch.start()
    try:
        for said, want in pieces:
            for i in range(0, len(said), read or len(said) or 1):
                p.stdin.write(said[i:i + (read or len(said))])
                if read:
                    time.sleep(0.0005)
            got = b""
            while len(got) < len(want):
                part = os.read(p.stdout.fileno(), 65536)
                if not part:
                    return "ended after %r, wanted %r" % (got, want)
                got += part
            if got != want:
                return "got %r, wanted %r" % (got, want)
        out, err = p.communicate(timeout=10)
        return None if (out, err, p.returncode) == (b"", b"", 0) else repr((out, err, p.returncode))
    finally:
        watch.cancel()
        p.kill()
        p.communicate()


def pieces_of(texts, flush):
    pieces, c = [], zlib.compressobj(6, zlib.DEFLATED, 31)
    for text in texts:
        pieces.append((c.compress(text) + c.flush(flush), text))
    return pieces + [(c.flush(), b"")]


def check_slow():
    texts = [b"v,t\n1,a\n", b"2,b\n"] + [b"%d,line\n" % i for i in range(20)] + [CUT[4:], b"3,c\n"]
    is_(talk(pieces_of(texts, zlib.Z_SYNC_FLUSH), 0), None, "at once: a flushed stream")
    is_(talk(pieces_of(texts[:6], zlib.Z_SYNC_FLUSH), 1), None, "at once: a flushed stream by bytes")
    is_(talk(pieces_of(texts, zlib.Z_FULL_FLUSH), 0), None, "at once: a fully flushed stream")
    is_(talk([(member(t), t) for t in texts], 0), None, "at once: members")
    is_(talk([(bgzf(t, end=b""), t) for t in texts] + [(EOF_BLOCK, b"")], 0), None, "at once: BGZF")
    is_(talk([(bgzf(t, end=b""), t) for t in texts[:6]], 1), None, "at once: BGZF by bytes")
    torn = member(b"v,t\n1,a\n") + member(b"2,b\n")[:8]
    is_(talk([(torn, b"v,t\n1,a\n"), (member(b"2,b\n")[8:], b"2,b\n")], 0), None,
        "at once: what is complete, while a member is not")
    torn = bgzf(b"v,t\n1,a\n") + block(b"2,b\n")[:15]
    is_(talk([(torn, b"v,t\n1,a\n"), (block(b"2,b\n")[15:], b"2,b\n")], 0), None,
        "at once: what is complete, while a block is not")


def check_early_ends():
    """The program ends while its input pipe is still open."""
    large = {"gzip": (member, LARGE), "BGZF": (bgzf, LARGE), "members": (lambda part: member(part) * 5, CUT)}
    for kind, (packed, text) in large.items():
        rows = packed(text[len(b"v,t\n"):])          # a header again would be an error: it may come before SIGPIPE does
        data = member(b"v,t\n") + rows if kind == "members" else packed(text)
        for name, args, status in (("an unknown column", ["--sum=nosuch"], 2), ("a bad value", ["--sum=t"], 1)):
            p = subprocess.Popen([harness.program()] + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=harness.environment())
            try:
                p.stdin.write(data)                 # and leaves the pipe open
                p.stdin.flush()
            except BrokenPipeError:
                pass
            try:
                is_(p.wait(10), status, "%s while the pipe is open, %s" % (name, kind))
            except subprocess.TimeoutExpired:
                ok(False, "%s while the pipe is open, %s" % (name, kind), "it still waits")
            p.kill()
            p.stdin = None
            p.communicate()
        p = subprocess.Popen([harness.program()] + ECHO + [fixture("head.gz", data + rows * 2)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=harness.environment(), restore_signals=True)
        first = p.stdout.readline()
        p.stdout.close()
        is_((first, p.wait(20), p.stderr.read()), (b"v,t\n", -signal.SIGPIPE, b""), "head -1, " + kind)
        p.stderr.close()


def check_many_files():
    """Files one after the other, each with its own threads, that end."""
    paths = [fixture("f%d.gz" % i, (member, bgzf)[i % 2](CUT)) for i in range(12)]
    rows = CUT[4:]
    status, out, err = run(b"", args=["--where", "v is not missing", "--device=cpu"] + paths, pipe=True)
    ok((status, out, err) == (0, b"v,t\n" + rows * 12, b""), "a dozen files", "%s %d bytes %s" % (status, len(out), err))


# ---- zstd -----------------------------------------------------------------------------------

def zstd(data, *args):
    return subprocess.run([ZSTD, "-q", "-c"] + list(args), input=data, stdout=subprocess.PIPE, check=True).stdout


def skippable(data, magic=0x184D2A50):
    return struct.pack("<II", magic, len(data)) + data


def check_zstd():
    if "zstd" not in BUILT:
        status, out, err = run(b"\x28\xb5\x2f\xfd" + bytes(20))
        ok((status, out) == (1, b"") and b"no zstd" in err, "zstd: the build says that it has none", err)
        return
    # a frame with one raw block, made by hand: the program zstd is not needed for it
    raw = b"\x28\xb5\x2f\xfd\x20" + bytes([100]) + struct.pack("<I", 100 << 3 | 1)[:3] + SMALL[:100]
    gives("zstd: a raw block", raw, SMALL[:100])
    gives("zstd: a frame to be skipped first", skippable(b"words") + raw, SMALL[:100])
    for name, data in (("cut", raw[:-1]), ("cut in the header", raw[:5])):
        fails("zstd: " + name, data, b": truncated zstd data\n")
    fails("zstd: a block of a type that is none", raw[:6] + b"\x27\3\0" + raw[9:], b": corrupt zstd data: ")
    fails("zstd: trailing garbage", raw + b"garbage", b": trailing garbage after zstd data\n")
    fails("zstd: a trailing byte", raw + b"x", b"zstd data")
    if not ZSTD:
        harness.skip("zstd: what the program zstd makes", "no program zstd")
        return
    gives("zstd: one frame", zstd(LARGE), LARGE)
    gives("zstd: from a file, its size known, level 19", zstd(CUT, "-19"), CUT)
    gives("zstd: without a checksum", zstd(LARGE, "--no-check"), LARGE)
    half = LARGE.index(b"\n", len(LARGE) // 2) + 1
    gives("zstd: frames, empty ones, and some to be skipped",
          zstd(b"") + zstd(LARGE[:half]) + skippable(b"x" * 70000, 0x184D2A5F) + zstd(LARGE[half:]) + skippable(b"") + zstd(b""),
          LARGE)
    small = zstd(SMALL, "--check")
    check_truncation("zstd", SMALL, small, {1})
    bad = small[:-1] + bytes([small[-1] ^ 1])
    fails("zstd: a wrong checksum", bad, b": corrupt zstd data: ")
    check_flips("zstd", SMALL, small)
    is_(talk([(zstd(t), t) for t in (b"v,t\n1,a\n", b"2,b\n", CUT[4:], b"3,c\n")], 0), None, "at once: zstd frames")


check_members()
check_headers()
check_bgzf()
check_bgzf_lies()
check_chunks_of_blocks()
check_faults_in_order()
check_ends()
check_damage()
check_slow()
check_early_ends()
check_many_files()
check_zstd()
harness.done()
