# SPDX-License-Identifier: MIT
"""Is the first record a header? The chapter HEADER of gpustat(1)."""
import re

from oracle_notation import is_number_somewhere
from oracle_text import BadData, Unclear, strip

UNCLEAR = object()                  # where a record would be, but the contract does not say which
LOOK = 100                          # so many records below are looked at

WORDS = re.compile(rb"(?:na|nan|nat|null|none|nil)\Z", re.I)       # where there is no value, or names
MARKS = re.compile(rb"(?:n/a|n\.a\.?|[+-]nan|\\n|<na>|<null>|\(null\)|#(?:na|n/a|ref!|num!|null!|name\?|value!|div/0!))\Z", re.I)
INFINITY = re.compile(rb"[+-]?inf(?:inity)?\Z", re.I)
# Signs, ASCII or not, then a letter. Of U+0080 to U+00BF and U+2000 to U+2FFF there are no letters.
LETTER = re.compile(rb"(?:\xc2[\s\S]|\xe2[\s\S]{2}|[^0-9A-Za-z\x80-\xff])*[A-Za-z\x80-\xc1\xc3-\xe1\xe3-\xff]")


def names_of(row):
    """A name ends at its first NUL."""
    return [f.split(b"\0", 1)[0] for f in row.fields]


def is_text(q, field):
    """Is it a text, which no notation makes a number?"""
    text = strip(field)
    return not (q.is_missing(field) or q.is_number(field) or b"\0" in field or INFINITY.match(text) or MARKS.match(text)
                or is_number_somewhere(field)) and LETTER.match(text) is not None


def is_place(text):
    """Does an item say where its column is, unless a column is called so?"""
    m = re.match(rb"(?:col)?([0-9]+)\Z|([0-9]+)-([0-9]*)\Z|-([0-9]+)\Z", text)
    return m is not None and all(1 <= int(g) <= 1 << 24 for g in m.groups() if g)


def names_a_column(q, text, quoted, row):
    """Does an item of COLS name a column: one of the first record, or one that is nowhere?"""
    if not quoted and (text == b"*" or text.startswith(b":") or text.isdigit()):
        return False
    may_be_place = not quoted and is_place(text)
    return not may_be_place or any(name == text and not q.is_number(field) for name, field in zip(names_of(row), row.fields))


def in_quotes(q, row):
    """For each field whether quotes are around it that it does not need."""
    quote, delimiter = q.dialect.quote, q.ends_with()
    if q.dialect.whitespace or not quote or quote not in row.raw:
        return [False] * len(row.fields)
    if q.dialect.escape:
        raise Unclear("quotes, and an escape byte")
    whole = re.compile(b"%s((?:[^%s]|%s)*)%s" % (quote, quote, quote * 2, quote))
    found, at = [], 0
    for _ in row.fields:
        m = whole.match(row.raw, at)
        found.append(m is not None and len(m[0]) > 2 and delimiter not in m[1])
        at = row.raw.find(delimiter, m.end() if m else at) + 1 or len(row.raw)
    return found


def has_header(q, exprs, row, below, second):
    """row: the first record; below: the fields of those below it in its file, as far as they are whole and sound;
    second: the Row that is the first of these, or None.
    -> (is it a header?, how that is known: "said", "name", "values", "doubt")."""
    if q.header != "auto":
        return q.header == "yes", "said"
    if any(names_a_column(q, text, quoted, row) for _, text, quoted in q.items()) or any(
            names_a_column(q, text, quoted, row) for e in exprs for text, quoted in e.items()):
        return True, "name"
    values = row.fields[:-1] if len(row.fields) > 1 and row.raw.rstrip(q.dialect.blanks(q.ends_with())).endswith(q.ends_with()) and not row.fields[-1] else row.fields
    numbers = [q.is_number(f) and not q.is_missing(f) for f in values]
    if all(numbers):
        if second and any(in_quotes(q, row)) and (q.dialect.trim or len(second.fields) != len(row.fields)):
            raise Unclear("numbers in quotes, with blanks before them or above a ragged record")
        pairs = zip(in_quotes(q, row), in_quotes(q, second), below[0]) if second and any(in_quotes(q, row)) else ()
        if not any(first and not other and q.is_number(f) and not q.is_missing(f) for first, other, f in pairs):
            return False, "values"
    for k, field in enumerate(row.fields):
        if is_text(q, field) and not (any(numbers) and WORDS.match(strip(field))):
            column = [fields[k] for fields in below[:LOOK] if k < len(fields) and not q.is_missing(fields[k])]
            if column and q.is_number(column[0]):
                return True, "values"
    if q.sums_up():
        return True, "doubt"
    raise BadData("names or data", {(row.file, row.line)}, kind="doubtful")
