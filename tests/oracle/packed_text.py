# SPDX-License-Identifier: MIT
"""Packed forms of a text, made here from struct and zlib."""
import struct
import zlib


def bgzip(data, size=700, level=6, strategy=zlib.Z_DEFAULT_STRATEGY):
    """`data` in blocks of BGZF, with the empty one at the end."""
    out = []
    for piece in [data[i:i + size] for i in range(0, len(data), size)] + [b""]:
        packer = zlib.compressobj(level, zlib.DEFLATED, -15, 8, strategy)
        body = packer.compress(piece) + packer.flush()
        out.append(b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25)
                   + body + struct.pack("<II", zlib.crc32(piece), len(piece)))
    return b"".join(out)
