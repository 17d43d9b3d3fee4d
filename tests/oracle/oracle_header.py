# SPDX-License-Identifier: MIT
"""Is the first record a header? The chapter HEADER of gpustat(1)."""
import re

from oracle_notation import is_number_somewhere
from oracle_request import BY, TAKES_TEXT, positions
from oracle_text import BadData, Unclear, Usage, strip

UNCLEAR = object()                  # where a record would be, but the contract does not say which

NO_VALUES = re.compile(rb"(?:na|n/a|n\.a\.|#n/a|<na>|null|none|nil|nan|[+-]?inf|[+-]?infinity|-|--|\?|\.|#div/0!|\\n"
                       rb"|[+-]?0x[0-9a-f]+|[+-]?[0-9][0-9.,'_]*|[.]+)\Z", re.I)


def names_of(row):
    """A name ends at its first NUL."""
    return [f.split(b"\0", 1)[0] for f in row.fields]


def looks(q, field):
    """number, missing, name, doubtful (no value, or a number elsewhere), digits (it begins with one), nul or unclear."""
    text = strip(field)
    if q.is_missing(field):
        return "missing"
    if b"\0" in field:
        return "nul"
    if q.is_number(field):
        return "number"
    if NO_VALUES.match(text) or is_number_somewhere(field):
        return "doubtful"
    if re.match(rb"[+-]?[.,'][0-9][0-9.,'_]*\Z", text):
        return "unclear"
    if re.match(rb"[+-]?\.?[0-9]", text):
        return "unclear" if re.match(rb"[-+0-9., '_]+\Z", text) and b" " in text else "digits"
    return "name"


def _counts_columns(text, n):
    """Is it a number, as 2 and -2 are, that means a position or a range in n columns? Then it is no name."""
    m = re.match(rb"-?([0-9]+)\Z", text)
    return m is not None and 1 <= int(m[1]) <= n


def has_header(q, exprs, row, second):
    """row: the first record; second: the fields of the second, None where there is none, or UNCLEAR.
    -> (is it a header?, how that is known: "said", "name", "values")."""
    if q.header != "auto":
        return q.header == "yes", "said"
    names, items = names_of(row), list(q.items())
    if any(e.names_one(names) for e in exprs) or any(
            text in names and text != b"*" and not text.startswith(b":") and not _counts_columns(text, len(names))
            for _, text, _ in items):
        return True, "name"
    chosen = by_number(q, exprs, items, len(names), row)
    if not any(text == b"*" for _, text, _ in items) and (items or not q.sums_up() and any(e.tells() for e in exprs)):
        return bool(verdict_of(q, row, chosen)), "values"
    try:
        verdict = verdict_of(q, row, chosen)
        found = by_look(q, row, second)
    except BadData:
        if {looks(q, row.fields[k]) for k in chosen} <= {"missing"}:
            raise
        raise Unclear("columns by number, and '*'") from None
    if verdict is not None and found is not None and verdict is not found:
        if "digits" in {looks(q, f) for f in row.fields}:
            raise Unclear("columns by number, and '*'")
        raise BadData("a name beside a number", {(row.file, n) for n in row.lines}, kind="doubtful")
    return bool(found if verdict is None else verdict), "values"


def by_number(q, exprs, items, n, row):
    """{column that is selected by number: are only numbers of use in it?}"""
    chosen = dict.fromkeys((k for e in exprs for k in e.numbers_at(n)), True)
    for operation, text, _ in items:
        try:
            found = positions(text, n) or [] if text != b"*" else []
        except Usage:
            continue
        if operation == BY and any(looks(q, row.fields[k]) == "digits" for k in found):
            raise Unclear("is a key that begins with a digit a name?")
        for k in found:
            chosen[k] = chosen.get(k, False) or operation not in TAKES_TEXT
    return chosen


def verdict_of(q, row, chosen):
    """What the values of `chosen` tell: True, a header; False, data; None, nothing. BadData where they are doubtful."""
    kinds = {k: looks(q, row.fields[k]) for k in chosen}
    kinds = {k: "weak" if kind == "digits" and not chosen[k] else kind for k, kind in kinds.items() if kind != "missing"}
    slips = "digits" in kinds.values()      # beside 1O in a column of numbers, 2024-01-02 in a counted one is no name
    kinds = {k: "name" if kind == "weak" else kind for k, kind in kinds.items() if kind != "weak" or not slips}
    found = set(kinds.values())
    if not found:
        return None
    if "unclear" in found:
        raise Unclear("is it surely a name?")
    if found <= {"name", "digits"} and "name" in found:
        return True
    if found == {"number"}:
        return False
    if found == {"nul"}:
        raise BadData("NUL in the first record", {(row.file, row.lines[k]) for k in kinds}, kind="nul")
    if "nul" in found:
        raise Unclear("NUL and other things in the first record")
    places = {(row.file, row.lines[k]) for k in kinds if kinds[k] != "number"}
    raise BadData("neither a number nor surely a name", places, kind="doubtful")


def by_look(q, row, second):
    """The same for '*' and where no column is selected: numbers tell, and what has one below it, and, where the first
    record has no number, its other values."""
    if second is UNCLEAR:
        raise Unclear("the second record is in another file, or not whole")
    kinds = [looks(q, f) for f in row.fields]
    if "unclear" in kinds or "nul" in kinds:
        raise Unclear("is it surely a name?")
    above = {k for k, below in enumerate((second or ())[:len(kinds)]) if q.is_number(below) and not q.is_missing(below)}
    others = [kind for k, kind in enumerate(kinds) if "number" not in kinds and k not in above]
    found = ({kinds[k] for k in above} | {"number"} & set(kinds)) - {"missing"}
    if q.sums_up():
        text = {"name", "digits"} if "number" not in kinds else {"name"}
        return bool(text & (found | set(others)))
    if "digits" in found and "digits" in others:
        raise Unclear("what begins with a digit, and '*'")
    if "doubtful" in found or ("digits" in found and "name" not in found | set(others)) or (
            "number" in kinds and found & {"name", "digits"}):
        raise BadData("neither a number nor surely a name", {(row.file, n) for n in row.lines}, kind="doubtful")
    if "number" in found:
        return False
    if not found and "digits" in others and "name" not in others:
        raise Unclear("what begins with a digit, and '*'")
    return "name" in found or "name" in others or None
