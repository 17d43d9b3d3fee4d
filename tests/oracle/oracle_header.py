# SPDX-License-Identifier: MIT
"""Is the first record a header? The chapter HEADER of gpustat(1)."""
import re

from oracle_notation import is_number_somewhere
from oracle_text import BadData, strip

UNCLEAR = object()                  # where a record would be, but the contract does not say which
LOOK = 100                          # so many records below are looked at
LOOK_NBYTES = 1 << 20               # that end within so many bytes behind the first

WORDS = re.compile(rb"(?:na|nan|nat|null|none|nil)\Z", re.I)       # where there is no value, or names
MARKS = re.compile(rb"(?:n/a|n\.a\.?|[+-]nan|\\n|<na>|<null>|\(null\)|#(?:na|n/a|ref!|num!|null!|name\?|value!|div/0!))\Z", re.I)
INFINITY = re.compile(rb"[+-]?inf(?:inity)?\Z", re.I)
# Signs, ASCII or not, then a letter. Of U+0080 to U+00BF and U+2000 to U+2FFF there are no letters.
LETTER = re.compile(rb"(?:\xc2[\s\S]|\xe2[\s\S]{2}|[^0-9A-Za-z\x80-\xff])*[A-Za-z\x80-\xc1\xc3-\xe1\xe3-\xff]")


def names_of(row):
    """A name ends at its first NUL."""
    return [f.split(b"\0", 1)[0] for f in row.fields]


def is_value(q, field):
    """Is it a number, and there?"""
    return q.is_number(field) and not q.is_missing(field)


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


def in_quotes(q, delimiter, row):
    """For each field whether quotes are around it that it does not need."""
    quote = q.dialect.quote
    if q.dialect.whitespace or not quote:
        return [False] * len(row.fields)
    parts = [part.strip(q.dialect.blanks(delimiter)) for part in row.parts]
    return [len(part) > 2 and part.startswith(quote) and delimiter not in field for part, field in zip(parts, row.fields)]


def has_header(q, exprs, delimiter, row, uncut, below, second):
    """row: the first record; uncut: the same before words were found to stand below it; below: the fields of those below
    it in its file, as far as they are whole and sound; second: the Row that is the first of these, or None.
    -> (is it a header?, how that is known: "said", "name", "values", "doubt")."""
    if q.header != "auto":
        return q.header == "yes", "said"
    if any(names_a_column(q, text, quoted, row) for _, text, quoted in q.items()) or any(
            names_a_column(q, text, quoted, row) for e in exprs for text, quoted in e.items()):
        return True, "name"
    open_end = len(uncut.fields) > 1 and not uncut.fields[-1] and uncut.raw.rstrip(q.dialect.blanks(delimiter)).endswith(delimiter)
    if all(is_value(q, f) for f in uncut.fields[:-1 if open_end else None]):
        pairs = zip(in_quotes(q, delimiter, uncut), in_quotes(q, delimiter, second), second.fields) if second else ()
        if not any(first and not other and is_value(q, f) for first, other, f in pairs):
            return False, "values"
    numbers = [is_value(q, f) for f in row.fields]
    for k, field in enumerate(row.fields):
        if is_text(q, field) and not (any(numbers) and WORDS.match(strip(field))):
            column = [fields[k] for fields in below[:LOOK] if k < len(fields) and not q.is_missing(fields[k])]
            if column and q.is_number(column[0]):
                return True, "values"
    if q.sums_up():
        return True, "doubt"
    raise BadData("names or data", {(row.file, row.line)}, kind="doubtful")
