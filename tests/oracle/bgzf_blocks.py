# SPDX-License-Identifier: MIT
"""BGZF, as bgzip writes it: gzip members that say how long they are (SAM/BAM format specification, section 4.1). By zlib."""
import struct
import zlib

END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")  # the empty block that ends a file


def block(text, level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    data = packer.compress(text) + packer.flush()
    header = b"\x1f\x8b\x08\x04" + bytes(4) + b"\0\xff\x06\0BC\x02\0" + struct.pack("<H", 18 + len(data) + 8 - 1)
    return header + data + struct.pack("<II", zlib.crc32(text), len(text))


def pack(text, nbytes=65280, level=6, end=END):
    return b"".join(block(text[i:i + nbytes], level) for i in range(0, len(text), nbytes)) + end


ENDS = (END, b"", END * 3)


def pack_at_random(rng, text, ends=ENDS + (END + bytes(100),)):
    """Blocks of different lengths, some of them stored, some empty. ends: what may stand behind them."""
    most, blocks, at = rng.choice((3, 30, 300, 3000, 60000)), [], 0
    while at < len(text):
        n = rng.randrange(most) if rng.random() < 0.9 else 0
        blocks.append(block(text[at:at + n], rng.choice((0, 1, 6))))
        at += n
    return b"".join(blocks) + rng.choice(ends)
