# SPDX-License-Identifier: MIT
"""Random dialects and notations, and how contents are written down in them, the same for the same state of rng."""
import decimal
import re

from oracle_dialect import Dialect
from oracle_notation import PLAIN, Notation

DIALECT = ("delimiter", "whitespace", "trim", "quote", "escape", "comment", "skip-lines")      # the options' names
NOTATION = ("decimal", "thousands", "money", "percent", "durations", "sizes")
DELIMITERS = (b";", b"\t", b"|") * 3 + (b"-", b".", b"5", b"e", b" ", b",")
COMMENTS = (b"", b" a note", b'"', b" 1,2,3", b",,", b'"open', b" it's", b"\r")
PREAMBLES = (b"", b"made by hand", b'a "quote', b"1,2", b"# x", b"\r", b"sep")
CURRENCIES = ("$", "€", "£", "USD", "EUR", "kr".upper() + "X", "¥")


# ---- dialects --------------------------------------------------------------------------------

def dialect_for(rng, asked, tame=False):
    """One that these options ask for -> (Dialect, the delimiter that is written). tame: no first line says which."""
    comment = rng.choice((b"#", b"#", b"%")) if "comment" in asked else None
    skipped = rng.choice((1, 1, 2, 3)) if "skip-lines" in asked else 0
    if "whitespace" in asked:
        dialect = Dialect(comment=comment, whitespace=True, skip_lines=skipped)
        dialect.pad, dialect.right = rng.choice((0, 0, 9, 14, 22)), rng.choice((0, 2, 3))
        return dialect, b" "
    delimiter = rng.choice(DELIMITERS[:3] if asked & set(NOTATION) else DELIMITERS) if "delimiter" in asked else None
    quote = rng.choice((None, b"'", b"'", b"|" if delimiter != b"|" else b"'")) if "quote" in asked else b'"'
    escape = rng.choice((b"\\", b"\\", b"^")) if "escape" in asked else None
    written = rng.choice((b";", b"\t", b",", b"|", b":")) if not (tame or asked & set(DIALECT) or rng.randrange(30)) else b","   # sep=
    trim = "trim" in asked and delimiter != b" "
    return Dialect(delimiter, quote, escape, comment, skip_lines=skipped, trim=trim), delimiter or written


def random_dialect(rng, some=DIALECT):
    """One that is not the usual, mostly in one way."""
    return dialect_for(rng, set(rng.sample(some, rng.choice((0, 1, 1, 1, 2)))))


def says_sep(dialect, written):
    """Is the delimiter given by a first line 'sep='?"""
    return not dialect.whitespace and (dialect.delimiter or b",") != written


def must_quote(content, dialect, delimiter):
    first = dialect.quote and content.startswith(dialect.quote)
    blanks = dialect.blanks(delimiter)
    return first or any(c in content for c in (delimiter, b"\n", dialect.escape or b"\n")) or content[-1:] == b"\r" \
        or content.strip(blanks) != content or (dialect.trim and content.lstrip(b" \t")[:1] == (dialect.quote or b"\0"))


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
        needs = byte in (delimiter, b"\n", b"\r", dialect.escape) or (i == 0 and byte == dialect.quote) or \
            (i in (0, len(content) - 1) and byte in dialect.blanks(delimiter)) or \
            (dialect.trim and byte == dialect.quote and not content[:i].strip(b" \t"))
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


def padded(rng, field, dialect, delimiter):
    """A field with blanks around it that mean nothing."""
    blanks = [bytes((b,)) for b in dialect.blanks(delimiter)]
    if not blanks or rng.randrange(3) == 0:
        return field
    return b"".join(rng.choices(blanks, k=rng.choice((0, 1, 1, 2)))) + field + \
        b"".join(rng.choices(blanks, k=rng.choice((0, 0, 1, 3))))


def write_below(rng, contents, dialect):
    """A record of -W whose words stand below the header's, as long as they fit."""
    out = b""
    for i, c in enumerate(contents):
        word = re.sub(rb"[ \t\r\n]+", rng.choice((b"_", b"_", b" ")), c).strip()
        word = word or rng.choice((b"", b"-"))
        if i + 1 == len(contents):
            out += word
        else:
            blanks = b" " * (dialect.pad - 1 - len(word.decode(errors="replace")))      # columns are characters
            out += (blanks + word if dialect.right and i % dialect.right else word + blanks) + b" "
    return out if out.strip() else b"-"


def write_record(rng, contents, dialect, delimiter, style, stray=False):
    if not dialect.whitespace:
        return delimiter.join(padded(rng, write_field(rng, c, dialect, delimiter, style, stray), dialect, delimiter)
                              for c in contents)
    if dialect.pad:
        return write_below(rng, contents, dialect)
    words = [re.sub(rb"[ \t\r\n]+", b"_", c) or b"-" for c in contents[:-1]]
    words.append(re.sub(rb"[\r\n]+", b"_", contents[-1]).strip(b" \t") or b"-")
    out = b" " * rng.choice((0, 0, 1, 3))
    for i, word in enumerate(words):
        out += (rng.choice((b" ", b"  ", b"\t", b" \t ", b"    ")) if i else b"") + word
    return out + b" " * rng.choice((0, 0, 0, 2))


# ---- notations -------------------------------------------------------------------------------

def notation_for(rng, asked, delimiter, quote=b'"'):
    """One that these options ask for, in a table of this dialect."""
    how = {}
    if "decimal" in asked:
        how["decimal"] = rng.choice((b",", b",", b",", b",", b"."))
    if "thousands" in asked:
        marks = [b".", b"'", b" ", "\u00a0".encode(), "\u202f".encode(), "\u2019".encode()]
        marks = marks if how.get("decimal") == b"," else [b","] * 3 + marks[1:]
        how["thousands"] = rng.choice([m for m in marks if m != quote])
    how["money"], how["percent"] = "money" in asked, "percent" in asked
    how["currency"] = rng.choice(CURRENCIES) if how["money"] else None
    how["durations"] = "durations" in asked
    if "sizes" in asked:
        how["sizes"] = rng.choice((b"iec", b"si"))
    if delimiter in (b".", b"-", b"5", b"e", b":") and asked & set(NOTATION):
        return PLAIN
    return Notation(**how)


def random_notation(rng, delimiter, quote=b'"'):
    found = notation_for(rng, set(rng.sample(NOTATION, rng.choice((1, 1, 2)))), delimiter, quote)
    return PLAIN if delimiter == found.decimal else found


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
        return with_money(rng, sign, number, notation.mark or rng.choice(CURRENCIES)).encode()
    if notation.sizes != b"none" and not power and (whole or "0").isdigit() and rng.randrange(3):
        return (sign + with_size(rng, whole or "0", point, notation)).encode()
    if notation.durations and not power and (whole or "0").isdigit() and rng.randrange(3):
        return (sign + duration(rng, whole or "0", point)).replace(".", notation.decimal.decode()).encode()
    if notation.percent and rng.randrange(3):
        number += rng.choice(("%", "%", " %"))
    return (sign + number).encode()


def with_size(rng, whole, point, notation):
    """Bytes as a size."""
    x, power = decimal.Decimal(whole + point), rng.choice((1, 1, 2, 3))
    units = ("", "KMG"[power - 1])
    if notation.sizes == b"si" and len(whole + point) < 26 and rng.randrange(2):
        return format(x.scaleb(-3 * power), "f").replace(".", notation.decimal.decode()) + rng.choice(("%s", "%sB", " %s")) % units[1]
    scaled = x / 1024 ** power
    if scaled == scaled.to_integral_value() and len(whole) < 18:
        return "%d" % scaled + rng.choice(("%siB", " %siB", "%si")) % units[1]
    return whole + point.replace(".", notation.decimal.decode()) + rng.choice(("B", " B", "b", "Kb" if rng.randrange(9) == 0 else "B"))


def duration(rng, whole, point):
    """Seconds as a duration, with a point."""
    n, form = int(whole), rng.randrange(8)
    if form < 2 or len(whole) > 15:
        return whole + point + rng.choice(("s", " s", " sec", " seconds"))
    if form < 4:
        return "%d:%02d" % (n // 60, n % 60) + (point if len(point) > 1 else "")
    minutes, seconds = divmod(n, 60)
    hours, minutes = divmod(minutes, 60)
    if form == 4:
        return "%d:%02d:%02d" % (hours, minutes, seconds) + (point if len(point) > 1 else "")
    if form == 5:
        return "PT%dH%dM%d%sS" % (hours, minutes, seconds, point)
    if form == 6:
        return "%d days %d:%02d:%02d" % (hours // 24, hours % 24, minutes, seconds) + (point if len(point) > 1 else "")
    return rng.choice(("%dh%dm%d%ss", "%d hours %d min %d%s s", "%dh %dm %d%ss", "%dm %dh%d%ss" if rng.randrange(9) == 0 else "%dh%dm%d%ss")) % (
        hours, minutes, seconds, point)


def with_money(rng, sign, number, currency):
    """In one of the places that signs and currencies have; now and then in one that they have not."""
    blank = rng.choice(("", "", " ", "\t", "\u00a0"))
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
