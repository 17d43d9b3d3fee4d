# SPDX-License-Identifier: MIT
"""Input that is made to exhaust: small files that become large. Memory and time stay bounded.

A record of 1000 MiB, plain or compressed, is an error at 256 MiB. Input of many empty members,
blocks and frames is read to its end. No run takes more memory than LIMIT_KIB.
"""
import gzip
import time
import zlib

import harness

LIMIT_KIB = 900 * 1024      # a record of 256 MiB, in the buffer that finds headers and that of the seam
SECONDS = 120
MIB = 1 << 20


def measured(args, chunks):
    """Runs the program on a pipe -> (status, stdout, stderr, peak KiB, seconds)."""
    start = time.monotonic()
    fed = harness.feed(args, chunks)
    return (*fed, time.monotonic() - start)


def member(head, byte, nmib):
    """A gzip member: `head`, then nmib MiB of one byte, made without ever holding them."""
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = [z.compress(head) + z.flush(zlib.Z_FULL_FLUSH)]
    block = byte * MIB
    packed = z.compress(block) + z.flush(zlib.Z_FULL_FLUSH)
    crc = zlib.crc32(head)
    for _ in range(nmib):
        crc = zlib.crc32(block, crc)
        body.append(packed)
    length = (len(head) + nmib * MIB) & 0xFFFFFFFF
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"".join(body) + z.flush() + crc.to_bytes(4, "little") + \
        length.to_bytes(4, "little")


def plain(head, byte, nmib):
    yield head
    for _ in range(nmib):
        yield byte * MIB


def bounded(name, result, status, out, *words):
    got_status, got_out, err, peak, seconds = result
    holds = (got_status == status and got_out == out and all(w in err for w in words)
             and peak < LIMIT_KIB and seconds < SECONDS)
    harness.note("%s: %d MiB, %.1f s" % (name, peak // 1024, seconds))
    harness.ok(holds, name, "status %s, stdout %r, stderr %r, %d KiB, %.1f s; wanted %s, %r, %s"
               % (got_status, got_out[:200], err[:500], peak, seconds, status, out, words))


def check_long_records():
    wanted = b"record longer than 256 MiB"
    for args in (["--sum=n"], ["--cumsum=n"], ["--where=n is missing"]):
        head = b"" if args[0] == "--sum=n" else b"n,t\n"
        bounded("a field that never ends, %s" % args[0], measured(args, plain(b'n,t\n1,2\n3,"', b"x", 400)), 1,
                {"--sum=n": b"", "--cumsum=n": b"n,t,running_sum(n)\n1,2,1\n"}.get(args[0], head),
                b"gpustat: <stdin>:3: ", wanted)
    bounded("a first record that never ends", measured(["--sum=1"], plain(b"", b"1", 600)), 1, b"",
            b"gpustat: <stdin>:1: ", wanted)
    bounded("a second record that never ends", measured([], plain(b"a,b\n\n", b"1", 600)), 1, b"",
            b"gpustat: <stdin>:3: ", wanted)
    bounded("a first record of gzip that never ends", measured(["--sum=1"], [member(b"", b"1", 1000)]), 1, b"",
            b"gpustat: <stdin>:1: ", wanted)
    bounded("zeros in gzip", measured(["--sum=1"], [member(b"", b"\0", 1000)]), 1, b"",
            b"gpustat: <stdin>: not CSV but binary data in gzip")
    bounded("a field that never ends in gzip", measured(["--sum=n"], [member(b"n\n1\n\"", b"\n", 1000)]), 1, b"",
            b"gpustat: <stdin>:3: ", wanted)
    long_but_legal = measured(["--sum=n"], plain(b"n,t\n1,2\n3,", b"x", 250))
    bounded("a record of 250 MiB is none too many", long_but_legal, 0, b"4\n")


def check_blank():
    bounded("blank lines in gzip", measured(["--count=1"], [member(b"a,b\n1,2\n", b"\n", 300)]), 0, b"1\n")
    bounded("blank lines before anything", measured(["--sum=1"], plain(b"", b"\n", 100)), 0, b"0\n")
    bounded("blank lines in gzip, nothing else", measured(["--sum=1"], [member(b"", b"\n", 1000)]), 1, b"",
            b"record longer than 256 MiB")


def check_many_members():
    empty = gzip.compress(b"")
    bounded("a hundred thousand empty members", measured(["--sum=1"], [empty * 100000, gzip.compress(b"7\n")]), 0, b"7\n")
    block = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
    bounded("a hundred thousand empty blocks", measured(["--sum=1"], [block * 100000, gzip.compress(b"7\n")]), 0, b"7\n")
    stored = bytes([0, 0, 0, 255, 255])
    empties = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stored * 10 ** 6 + b"\x03\0" + bytes(8)
    bounded("a million empty blocks of deflate", measured(["--sum=1"], [empties]), 0, b"0\n")


def check_numbers():
    """Digits are work: a field of a million of them is refused, in time."""
    digits = b"9" * 10 ** 6
    for name, field in (("digits", digits), ("zeros", b"0" * 10 ** 6 + b"1"), ("a fraction", b"0." + b"0" * 10 ** 6),
                        ("an exponent", b"1e" + digits), ("blanks", b" " * 10 ** 6 + b"1")):
        status, out, err, peak, seconds = measured(["--sum=n"], [b"n\n"] + [field + b"\n"] * 20)
        harness.ok(status in (0, 1) and peak < LIMIT_KIB and seconds < 20 and (status == 0) == (err == b"")
                   and (out == b"") == (status == 1), "twenty million of %s in numbers" % name,
                   "%s %r %r %d KiB %.1f s" % (status, out[:100], err[:300], peak, seconds))


def check_names():
    """Names are printed in time, and in room, that is in proportion to their length."""
    long = b"y" * (8 * MIB)
    for format in ("json", "table", "csv"):
        status, out, err, peak, seconds = measured(["--format=" + format], [long + b",b\n1,2\n"])
        harness.ok((status, err) == (0, b"") and long in out and len(out) < 2 * len(long) and peak < LIMIT_KIB
                   and seconds < SECONDS, "a name of 8 MiB, %s: %d MiB, %.1f s" % (format, peak // 1024, seconds),
                   "%s %r… %d bytes %r" % (status, out[:200], len(out), err[:300]))
    columns = 20000
    head = b"y" * 50000 + b",b" * (columns - 1) + b"\n"
    status, out, err, peak, seconds = measured(["--format=table"], [head, b"1" + b",1" * (columns - 1) + b"\n"])
    harness.ok((status, err) == (0, b"") and out.count(b"\n") == columns + 1 and len(out) < 200 * columns,
               "a long name among many short ones", "%s %d bytes %r" % (status, len(out), err[:300]))


check_long_records()
check_blank()
check_names()
check_many_members()
check_numbers()
harness.done()
