#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py FOLDER: makes the seeds of the harnesses fuzz_*.c, a folder for each below FOLDER.

They come from the tests' own tables, so that they grow with those. words.dict: what expressions are made of.
"""
import gzip
import os
import random
import re
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import csv_cases                                                # noqa: E402
import harness                                                  # noqa: E402
import hostile                                                  # noqa: E402
import hostile_request                                          # noqa: E402
import oracle_let                                               # noqa: E402

TEXTS = [case.data for case in csv_cases.GOOD]


def records(rng):
    for k in range(60):
        data = hostile_request.make_case(k, rng.choice((1, 3, 12, 60))).files[0][1]
        yield bytes((rng.randrange(256), rng.randrange(256), rng.randrange(256), 0, rng.randrange(256))) + data[:4000]
    yield b"\x00\x10\x00\x00\x10" + b"1,2.5,-3\n" * 200
    yield b"\x10\x10\x00\x00\x10" + b'"a",2.5,-3\r\n' * 100
    for k, data in enumerate(TEXTS[:80]):
        yield b"\x10\x30\x00\x00" + bytes((k % 64,)) + data
    for k in range(120):
        head = bytes((rng.randrange(256), rng.randrange(256), rng.randrange(256), rng.randrange(1, 256),
                      rng.randrange(256)))
        yield head + dialect_text(rng, rng.choice((20, 90, 400, 3000)))
    yield b"\x10\x31\x00\x0c\x19" + b'1,"a \\"b\\", c",2\n# "x\n3,\\,,4\\\n\n' * 20
    yield b"\x00\x10\x00\x58\x10" + b"1 2\n#3 4\n5 6\n" * 40
    yield b"\x10\x31\x00\x70\x11" + b"  1  2\tx y z\r\n\n \t\n1 2\n# a b\n" * 20


def dialect_text(rng, nbytes):
    """Bytes that some dialect gives a meaning, in runs."""
    alphabet = rng.choices((b",", b";", b"\t", b"|", b" ", b"\n", b"\r\n", b'"', b"'", b"\\", b"#", b"\n#", b"1", b"-2.5", b"a",
                            b'","', b'"\n"', b"\0"), k=rng.randrange(2, 14)) + [b"\n", b"7", b","]
    out = b""
    while len(out) < nbytes:
        out += rng.choice(alphabet) * rng.choice((1, 1, 1, 2, 3, rng.randrange(1, 80)))
    return out


def decimals(rng):
    kinds = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")
    for k in range(120):
        yield hostile.number_text(rng, kinds[k % len(kinds)]).encode()
    for text in hostile.NOT_NUMBERS + (b"1e400", b"1e-400", b"9" * 400, b"." + b"0" * 399 + b"1", b" \t12\t ", b"-0", b"-.0e-3"):
        yield text


def words(rng):
    for text in (b"a", b"1,2", b"a,\"x,y\"", b"2-4", b"-3", b"2-", b":1,col2", b"*", b"\"a\"\"b\"", b"", b",", b"99999999999"):
        yield b"c" + text
    row = b'1,22,"a ""q""",4.50,NA,x,7,2024-02-29T12:34:56.5Z,1e3\n'
    shape = hostile.Shape(random.Random(1), {"missing"}, tame=True)
    shape.n, shape.names = 9, [b"a", b"bytes", b"x,y", b"col4", b"2", b"b", b"count()", b"t", b"sum(a)"]
    shape.kinds = ["small"] * 7 + ["date", "small"]
    columns = hostile_request.Columns(shape)
    for k in range(60):
        draw = oracle_let.Draw(rng, ["a", "bytes", "x,y", "col4"], ["b"], ["t"])
        tree = draw.number(3) if k % 3 else draw.text(3)
        yield b"lx = " + oracle_let.spell(tree, rng).replace("`col4`", ":4").encode() + b"\0" + row
    for _ in range(80):
        condition = hostile_request.spell_condition(rng, rng.randrange(4), columns)
        yield b"e" + condition + b"\0" + row
        yield b"b" + hostile_request.spell_words_of(rng, 2, columns) + b"\0" + row
        yield b"lx=" + hostile_request.spell_sum(rng, 2, columns) + b"\0" + row


def functions():
    """Their names, and the words and signs of the language."""
    with open(harness.source("src", "lang", "functions.def"), encoding="utf-8") as f:
        rows = re.findall(r'^(?:[A-Z_]*FUNCTION|SYNONYM)\((?:[A-Z0-9_]+, )?"(\w+)"', f.read(), re.M)
    return [name + "(" for name in dict.fromkeys(rows)] + re.findall(r"\S+", "or || and && not ! <> <= >= != == is missing null number in ( between "
                                                      "case when then else end "
                                                      "contains starts with ends like ilike ~ =~ !~ 'hour' '15m' '%d.%m.%Y' '%s' \"%z\"")


def dictionary():
    return "".join('"%s"\n' % word.replace("\\", "\\\\").replace('"', '\\"') for word in functions())


def block(data):
    z = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = z.compress(data) + z.flush()
    return b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25) + body + \
        struct.pack("<II", zlib.crc32(data), len(data))


def deflated(data, memory=1, level=6, strategy=zlib.Z_DEFAULT_STRATEGY):
    """Raw deflate data; with memory=1 a block has at most 127 codes."""
    z = zlib.compressobj(level, zlib.DEFLATED, -15, memory, strategy)
    return z.compress(data) + z.flush()


def sections(rng):
    """Members long enough for several sections of 1024 bytes, most of them behind 32 KiB of text."""
    text = b"7" * 40000 + b"".join(b"%d,%d.%02d\n" % (rng.randrange(10 ** 6), rng.randrange(1000), i % 100) for i in range(600))
    for data in (deflated(text), deflated(text, 2, 1), deflated(text, 1, 6, zlib.Z_HUFFMAN_ONLY)):
        yield b"d" + data
    yield b"d" + deflated(b"text\n" + deflated(text) * 2, 8, 0)     # blocks within a stored block, where none begin
    yield b"f" + gzip.compress(b"text\n" + gzip.compress(text, 1), 0)
    yield b"f" + gzip.compress(text[36000:]) * 3 + bytes(600)


def packed(rng):
    yield from sections(rng)
    text = b"n,x\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50))
    for level in (0, 1, 9):
        z = zlib.compressobj(level, zlib.DEFLATED, -15)
        yield b"d" + z.compress(text) + z.flush()
    z = zlib.compressobj(9, zlib.DEFLATED, -15, 8, zlib.Z_FIXED)
    yield b"d" + z.compress(text) + z.flush()
    whole = gzip.compress(text)
    yield b"f" + whole
    yield b"f" + whole + gzip.compress(b"") + whole
    yield b"f" + block(text) + block(b"1,2\n") + block(b"")
    yield b"f" + block(text) + whole + block(b"1,2\n")
    yield b"f" + whole[:3] + b"\x1f" + whole[4:10] + b"\x05\0hello" + b"name\0words\0" + b"\0\0" + whole[10:]
    yield b"f" + b"\x28\xb5\x2f\xfd\x24\x05\x29\0\0" + b"1,2\n3" + bytes(4)
    yield b"f" + b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0" + b"1,2\n3"
    yield b"f" + b"\x50\x2a\x4d\x18\x03\0\0\0abc\x28\xb5\x2f\xfd\x20\x05\x29\0\0" + b"1,2\n3"
    yield b"f" + b"plain,text\n1,2\n"
    # An incomplete set of Huffman codes, which ISA-L takes; zlib does not.
    yield b"d" + bytes.fromhex("159039924531080373cea28027cdd85ceac773fce917" + "50" * 121 + "51662dca90657bd03f")


def main():
    for name, make in (("records", records), ("decimal", decimals), ("words", words), ("packed", packed)):
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        for k, data in enumerate(make(random.Random(1))):
            with open(os.path.join(folder, "seed-%03d" % k), "wb") as f:
                f.write(data)
    with open(os.path.join(sys.argv[1], "words.dict"), "w", encoding="ascii") as f:
        f.write(dictionary())


main()
