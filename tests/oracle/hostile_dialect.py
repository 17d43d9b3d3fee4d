# SPDX-License-Identifier: MIT
"""Random dialects and notations, and how contents are written down in them, the same for the same state of rng."""
import re

from oracle_dialect import Dialect
from oracle_notation import PLAIN, Notation

DELIMITERS = (None,) * 6 + (b";", b"\t", b"|", b"-", b".", b"5", b"e", b" ")
COMMENTS = (b"", b" a note", b'"', b" 1,2,3", b",,", b'"open', b" it's", b"\r")
PREAMBLES = (b"", b"made by hand", b'a "quote', b"1,2", b"# x", b"\r", b"sep")
CURRENCIES = ("$", "€", "£", "USD", "EUR", "kr".upper() + "X", "¥")


# ---- dialects --------------------------------------------------------------------------------

def random_dialect(rng, preamble):
    """One that is not the usual, mostly in one way. preamble: may it have lines before the table? -> (Dialect, the
    delimiter that is written)."""
    form = rng.randrange(9)
    delimiter = rng.choice((None, None, b";", b"\t", b"|"))
    if form == 0:
        return Dialect(comment=rng.choice((None, None, b"#")), whitespace=True), b" "
    if form == 1 and preamble:
        return Dialect(), rng.choice((b";", b"\t", b",", b"|", b":"))      # sep=
    how = {}
    if form in (2, 3, 8):
        how["quote"] = rng.choice((None, b"'", b"'", b"|" if delimiter != b"|" else b"'"))
    if form in (4, 5, 8):
        how["escape"] = rng.choice((b"\\", b"\\", b"^"))
    if form in (6, 8):
        how["comment"] = rng.choice((b"#", b"%"))
    if form in (7, 8) and preamble:
        how["skip_lines"] = rng.choice((1, 1, 2, 3))
    return Dialect(delimiter, **how), delimiter or b","


def says_sep(dialect, written):
    """Is the delimiter given by a first line 'sep='?"""
    return not dialect.whitespace and (dialect.delimiter or b",") != written


def must_quote(content, dialect, delimiter):
    first = dialect.quote and content.startswith(dialect.quote)
    return first or any(c in content for c in (delimiter, b"\n", dialect.escape or b"\n")) or content[-1:] == b"\r"


def quoted(rng, content, quote, escape, stray):
    """`content` between quotes; where `stray`, perhaps with its tail behind the closing one."""
    cut = len(content)
    if stray and content and rng.randrange(4) == 0:
        cut = rng.randrange(len(content) + 1)
        if content[cut:cut + 1] == quote or any(c in b'",;|\t\r\n' for c in content[cut:]):
            cut = len(content)
    head = content[:cut]
    if escape:
        head = head.replace(escape, escape * 2)
        head = head.replace(quote, rng.choice((quote, escape)) + quote)
    else:
        head = head.replace(quote, quote * 2)
    return quote + head + quote + content[cut:]


def escaped(rng, content, dialect, delimiter):
    """`content` without quotes, each byte that needs it behind an escape, and now and then another one."""
    out = bytearray()
    for i, c in enumerate(content):
        byte = bytes((c,))
        needs = byte in (delimiter, b"\n", b"\r", dialect.escape) or (i == 0 and byte == dialect.quote)
        if needs or rng.randrange(30) == 0:
            out += dialect.escape
        out += byte
    return bytes(out)


def write_field(rng, content, dialect, delimiter, style, stray=False):
    """A field that holds `content`, or something near to it where the dialect cannot say it. style: one in a hundred
    is quoted without need."""
    needs = must_quote(content, dialect, delimiter)
    if dialect.escape and (rng.randrange(3) == 0 or not dialect.quote) and (needs or rng.randrange(4) == 0):
        return escaped(rng, content, dialect, delimiter)
    if dialect.quote and (needs or rng.randrange(100) < style):
        return quoted(rng, content, dialect.quote, dialect.escape, stray)
    if needs:
        return re.sub(b"[\n" + re.escape(delimiter) + b"]", b"_", content) + (b"_" if content[-1:] == b"\r" else b"")
    return content


def write_record(rng, contents, dialect, delimiter, style, stray=False):
    if not dialect.whitespace:
        return delimiter.join(write_field(rng, c, dialect, delimiter, style, stray) for c in contents)
    words = [re.sub(rb"[ \t\r\n]+", b"_", c) or b"-" for c in contents[:-1]]
    words.append(re.sub(rb"[\r\n]+", b"_", contents[-1]).strip(b" \t") or b"-")
    out = b" " * rng.choice((0, 0, 1, 3))
    for i, word in enumerate(words):
        out += (rng.choice((b" ", b"  ", b"\t", b" \t ", b"    ")) if i else b"") + word
    return out + b" " * rng.choice((0, 0, 0, 2))


# ---- notations -------------------------------------------------------------------------------

def random_notation(rng, delimiter, quote=b'"'):
    how = {}
    form = rng.randrange(6)
    if form in (0, 1, 5):
        how["decimal"] = b","
    if form in (1, 2, 5):
        marks = [b".", b"'", b" ", "\u00a0".encode(), "\u202f".encode(), "\u2019".encode()]
        how["thousands"] = rng.choice(marks if "decimal" in how else [b","] * 3 + marks[1:])
    how["money"] = form in (3, 5)
    how["percent"] = form == 4 or rng.randrange(8) == 0
    if delimiter in (b".", b"-", b"5", b"e") or delimiter == how.get("decimal", b".") or quote == how.get("thousands"):
        return PLAIN
    return Notation(**how)


def in_notation(rng, text, notation):
    """A number as oracle_text reads it, written as people may."""
    m = re.match(r"([+-]?)([0-9]*)(\.[0-9]*)?([eE].*)?\Z", text)
    if notation.plain or not m:
        return text.encode()
    sign, whole, point, power = (x or "" for x in m.groups())
    if notation.thousands and rng.randrange(4) and len(whole) > 3:
        head = len(whole) % 3 or 3
        groups = [whole[:head]] + [whole[k:k + 3] for k in range(head, len(whole), 3)]
        if rng.randrange(40) == 0:
            groups.insert(rng.randrange(1, len(groups) + 1), rng.choice(("", "12", "1234")))
        whole = notation.thousands.decode().join(groups)
    number = whole + point.replace(".", notation.decimal.decode()) + power
    if notation.money and rng.randrange(3):
        return with_money(rng, sign, number).encode()
    if notation.percent and rng.randrange(3):
        number += rng.choice(("%", "%", " %"))
    return (sign + number).encode()


def with_money(rng, sign, number):
    """In one of the places that signs and currencies have; now and then in one that they have not."""
    blank, currency = rng.choice(("", "", " ", "\t", "\u00a0")), rng.choice(CURRENCIES)
    if sign == "-":
        outer = rng.choice(("-%s", "%s-", "(%s)", "%s", "%s", "%s"))
        if outer == "%s":
            number = rng.choice(("-%s", "%s-", "(%s)")) % number
    else:
        outer = rng.choice(("%s", "%s", "%s", "+%s"))
    number = rng.choice((currency + blank + number, number + blank + currency, number))
    if rng.randrange(60) == 0:
        number = rng.choice((currency + number, number + "--", " " + number, number + "%", "(" + number))
    return outer % number
