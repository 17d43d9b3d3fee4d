# SPDX-License-Identifier: MIT
"""What the command line asks, and what COLS means: the chapters OPTIONS, COLUMN SELECTION and HEADER of gpustat(1)."""
import re

from oracle_dialect import Dialect
from oracle_notation import PLAIN, is_number_somewhere
from oracle_statistic import STATISTICS
from oracle_text import BadData, Unclear, Usage, strip

ON_DEVICE = ("sum", "min", "max", "count", "mean")
OPERATIONS = ON_DEVICE + tuple(STATISTICS)
TOTALS = ("sum", "min", "max", "count")
COUNT_RECORDS = "count-records"
UNCLEAR = object()                  # where a value would be, but the contract is silent


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


class Request:
    """operations: pairs such as ("sum", "a,2-3") or ("count-records", None); none: the summary.
    ragged: None where the option is not given. max_invalid: as it is written, or None."""
    where, news, exclusive, only = None, (), False, False

    def __init__(self, operations=(), header="auto", missing=(), invalid="error", delimiter=None, format="auto",
                 ragged=None, max_invalid=None, dialect=None, notation=PLAIN):
        self.operations = [(o, as_bytes(c)) for o, c in operations]
        self.header, self.invalid, self.format = header, invalid, format
        self.ragged, self.max_invalid, self.notation = ragged, max_invalid, notation
        self.dialect = dialect or Dialect(delimiter)
        self.missing = [as_bytes(m) for m in missing]
        self.number, self.is_number = notation.number, notation.is_number

    def args(self):
        out = []
        for operation, columns in self.operations:
            out += [b"--" + operation.encode()] + ([] if columns is None else [columns])
        for name, value, usual in (("header", self.header, "auto"), ("invalid", self.invalid, "error"),
                                   ("format", self.format, "auto"), ("ragged", self.ragged, None),
                                   ("max-invalid", self.max_invalid, None)):
            if value != usual:
                out.append(b"--%s=%s" % (name.encode(), as_bytes(value)))
        if self.missing:
            out.append(b"--missing=" + b",".join(self.missing))
        return out + self.dialect.args() + self.notation.args()

    def is_missing(self, field):
        field = strip(field)
        return not field or field in self.missing

    def columns_asked(self):
        """The pairs (operation, COLS)."""
        return self.operations

    def items(self):
        """All COLS items as (operation, text, quoted?)."""
        for operation, columns in self.columns_asked():
            if columns is not None:
                for raw in _raw_items(columns):
                    yield operation, _unquoted(raw), raw.startswith(b'"')

    def asks_star(self):
        return any(text == b"*" for _, text, _ in self.items())

    def sums_up(self):
        """Is it the summary?"""
        return not self.operations and not self.news and self.where is None


def _raw_items(columns):
    """The items as spelled. A comma inside quotes does not end one."""
    parts, start, quoted = [], 0, False
    for i, c in enumerate(columns):
        if c == 0x22 and (quoted or i == start):
            quoted = not quoted
        elif c == 0x2C and not quoted:
            parts.append(columns[start:i])
            start = i + 1
    return parts + [columns[start:]]


def _unquoted(raw):
    if not raw.startswith(b'"'):
        return raw
    m = re.match(rb'"((?:[^"]|"")*)"\Z', raw)
    if not m:
        raise Unclear("text behind a quoted item")
    return m[1].replace(b'""', b'"')


# ---- COLS -----------------------------------------------------------------------------------

def is_position(text):
    """Is this item of COLS a number, colN, :N or a range?"""
    return re.match(rb"(:|col)?[0-9]+\Z|[0-9]+-[0-9]*\Z|-[0-9]+\Z", text) is not None


def positions(text, ncolumns):
    """0-based columns of an item that speaks of positions; None where it does not; Usage beyond."""
    m = re.match(rb":([0-9]+)\Z|([0-9]+)\Z|col([0-9]+)\Z", text)
    if m:
        first = last = int(next(g for g in m.groups() if g is not None))
    else:
        m = re.match(rb"([0-9]*)-([0-9]*)\Z", text)
        if not m or text == b"-":
            return None
        first, last = int(m[1] or b"1"), int(m[2] or str(ncolumns))
        if first > last and m[1] and m[2]:
            raise Unclear("a range that runs backwards")
    if not 1 <= first <= last <= ncolumns:
        raise Usage("no such column: %r" % text)
    return list(range(first - 1, last))


def resolve(text, quoted, names, ncolumns):
    """An item other than '*' as 0-based columns. names: the header's fields, or None."""
    if names is not None and not text.startswith(b":") and text in names:
        if names.count(text) > 1:
            raise Usage("ambiguous name: %r" % text)
        return [names.index(text)]
    if quoted and is_position(text):
        raise Unclear("a quoted item that looks like a position")
    found = positions(text, ncolumns)
    if found is None:
        raise Usage("unknown column: %r" % text)
    return found


# ---- is the first record a header? --------------------------------------------------------------

NO_NAMES = re.compile(rb"(?:na|n/a|n\.a\.|#n/a|null|none|nil|nan|[+-]?inf|[+-]?infinity|-|--|\?|\.|0x[0-9a-f]+)\Z", re.I)
NAMES = re.compile(rb"[A-Za-z_][A-Za-z_0-9 ]*\Z")


def looks(request, field):
    """number, missing, name, doubtful (it names --header), or unclear."""
    text = strip(field)
    if request.is_missing(field):
        return "missing"
    if request.is_number(field):
        return "number"
    elsewhere = is_number_somewhere(field)
    if NO_NAMES.match(text) or elsewhere:
        return "doubtful"
    return "name" if NAMES.match(text) and not elsewhere else "unclear"


def has_header(request, exprs, first, second):
    """gpustat(1), --header auto. first, second: the fields of the first two records. -> (is it one?, how it was known:
    "said", "name", "number", "look")."""
    if request.header != "auto":
        return request.header == "yes", "said"
    n, items = len(first), list(request.items())
    if any(e.names_one(first) for e in exprs) or any(
            text in first and text != b"*" and not text.startswith(b":") and not _counts_columns(text, n)
            for _, text, _ in items):
        return True, "name"
    chosen = {k for e in exprs for k in e.numbers_at(n)}
    for _, text, _ in items:
        try:
            chosen.update(positions(text, n) or [] if text != b"*" else [])
        except Usage:
            pass
    found = _by_number(request, [first[k] for k in sorted(chosen)])
    if found is not None:
        return found, "number"
    if not request.operations and any(e.tells() for e in exprs) and not any(True for _ in items):
        return False, "number"
    if not items or any(text == b"*" for _, text, _ in items):
        if second is UNCLEAR:
            raise Unclear("the second record is in another file, or not whole")
        return _looks_like_header(request, first, second), "look"
    return False, "number"


def _by_number(request, fields):
    """Do the fields that are selected by number make it a header? None where they say nothing."""
    kinds = {looks(request, f) for f in fields}
    if kinds <= {"number", "missing"}:
        return None
    if "unclear" in kinds or kinds >= {"doubtful", "name"}:
        raise Unclear("is it surely a name?")
    if "doubtful" in kinds:
        raise BadData("neither a number nor surely a name", kind="doubtful")
    return True


def _counts_columns(text, n):
    """Is it a number, as 2 and -2 are, that means a position or a range in n columns? Then it is no name."""
    m = re.match(rb"-?([0-9]+)\Z", text)
    return m is not None and 1 <= int(m[1]) <= n


def _looks_like_header(request, first, second):
    is_number, verdicts = request.is_number, set()
    for missing_counts in (True, False):
        pairs = [(a, b) for a, b in zip(first, second or ()) if missing_counts or not request.is_missing(a)]
        some = any(not is_number(a) and is_number(b) and not request.is_missing(b) for a, b in pairs)
        fields = [a for a in first if missing_counts or not request.is_missing(a)]
        none = bool(fields) and not any(is_number(a) for a in fields)
        verdicts.add(some or none)
    if len(verdicts) > 1 or any(is_number(a) and request.is_missing(a) for a in first):
        raise Unclear("missing fields in what may be a header")
    if any(looks(request, a) == "doubtful" for a in first):
        raise Unclear("spellings of missing in what may be a header")
    return verdicts.pop()
