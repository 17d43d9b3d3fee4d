# SPDX-License-Identifier: MIT
"""What the command line asks, and what COLS means: the chapters OPTIONS and COLUMN SELECTION of gpustat(1)."""
import decimal
import re

import oracle_window
from oracle_dialect import Dialect
from oracle_notation import PLAIN
from oracle_order import QUANTILES
from oracle_pair import PAIRS, SYMMETRIC, sides
from oracle_statistic import STATISTICS
from oracle_text import BadData, Unclear, Usage, strip

ON_DEVICE = ("sum", "min", "max", "count", "mean", "range")
OF_TEXT = ("text-min", "text-max", "count-distinct", "entropy", "mode", "antimode")
BY = "by"           # as an operation, that of the key columns
OVER = "over"       # that of the times
TAKES_TEXT = ("count", "first", "last", BY, OVER) + OF_TEXT
OPERATIONS = ON_DEVICE + ("first", "last") + OF_TEXT + QUANTILES + tuple(STATISTICS)
TOTALS = ("sum", "min", "max", "count")
RUNNING = TOTALS + ("mean", "var", "stddev")
WINDOWS = ("rolling-sum", "rolling-mean", "rolling-min", "rolling-max", "rolling-count", "rolling-stddev", "rolling-median",   # COLS:N
           "ewma")                                                                                                      # COLS:A
RANKS = ("rank", "rank-dense", "percent-rank", "ntile")       # [-]COLS, the last of them [-]COLS:N
COUNT_RECORDS = "count-records"


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


class Request:
    """operations: pairs such as ("sum", "a,2-3") or ("count-records", None); none: the summary.
    ragged: None where the option is not given. max_invalid: as it is written, or None."""
    where, news, exclusive, only, over = None, (), False, False, None

    def __init__(self, operations=(), header="auto", missing=(), invalid="error", delimiter=None, format="auto",
                 ragged=None, max_invalid=None, dialect=None, notation=PLAIN, everything=False):
        self.operations = [(o, as_bytes(c)) for o, c in operations]
        self.header, self.invalid, self.format = header, invalid, format
        self.ragged, self.max_invalid, self.notation = ragged, max_invalid, notation
        self.dialect = dialect or Dialect(delimiter)
        self.everything = everything  # --all
        self.missing = [as_bytes(m) for m in missing]
        self.number, self.is_number = notation.number, notation.is_number
        self.missing_numbers = {v for v in map(self._value, map(strip, self.missing)) if isinstance(v, decimal.Decimal)}

    def args(self):
        out = []
        for operation, columns in self.operations:
            name, colon, part = operation.encode().partition(b":")   # of a trimmed mean, as oracle_order.QUANTILES has it
            out += [b"--" + name] + ([] if columns is None else [columns + colon + part])
        for name, value, usual in (("header", self.header, "auto"), ("invalid", self.invalid, "error"),
                                   ("format", self.format, "auto"), ("ragged", self.ragged, None),
                                   ("max-invalid", self.max_invalid, None)):
            if value != usual:
                out.append(b"--%s=%s" % (name.encode(), as_bytes(value)))
        if self.everything:
            out.append(b"--all")
        if self.missing:
            out.append(b"--missing=" + b",".join(b'"' + m.replace(b'"', b'""') + b'"' if b"," in m or m.startswith(b'"') else m for m in self.missing))
        return out + self.dialect.args() + self.notation.args()

    def is_missing(self, field):
        """Blank, or a spelling of --missing, or the number that such a spelling is, however it is spelled."""
        field = strip(field)
        return not field or field in self.missing or self._value(field) in self.missing_numbers

    def _value(self, field):
        """A number's value; else a text that is no number's."""
        try:
            found = self.number(field)
        except BadData:  # out of range
            return decimal.Decimal(field.decode()) if re.fullmatch(rb"[-+]?[0-9.]+([eE][-+]?[0-9]{1,9})?", field) else field
        return found[0] if found else field

    def columns_asked(self):
        """The pairs (operation, COLS)."""
        return self.operations

    def items(self):
        """All COLS items as (operation, text, quoted?)."""
        for operation, columns in self.columns_asked():
            if columns is not None:
                columns = oracle_window.split(columns)[0] if operation in WINDOWS + ("ntile",) else columns
                columns = columns.removeprefix(b"-") if operation in RANKS else columns
                for raw in _raw_sides(columns) if is_pair(operation, columns) else _raw_items(columns):
                    yield operation, _unquoted(raw), raw.startswith(b'"')

    def keys(self, names, ncolumns):
        """The key columns, 0-based; none without --by."""
        return [k for o, text, quoted in self.items() if o == BY for k in resolve(text, quoted, names, ncolumns)]

    def check(self, table, chosen, trouble):
        """Raises Usage where these results cannot be printed as is asked; before any record is read. trouble: is
        something else wrong, too?"""

    def pairs(self, operation, columns):
        """The items of one operation, two by two: ((text, quoted?), (text, quoted?))."""
        items = [(text, quoted) for _, text, quoted in Request([(operation, columns)]).items()]
        return list(zip(items[::2], items[1::2]))

    def matrix(self):
        """The operation that is asked of all pairs, or None."""
        return next((o for o, c in self.operations if o in SYMMETRIC and c == b"*"), None)

    def asks_star(self):
        return any(text == b"*" for _, text, _ in self.items())

    def reads_twice(self):
        """Is its input to be a file?"""
        return any(operation in RANKS for operation, _ in self.news)

    def sums_up(self):
        """Is it the summary?"""
        return not self.operations and not self.news and self.where is None


def is_pair(operation, columns):
    return operation in PAIRS and columns != b"*"


def _raw_sides(columns):
    found = sides(columns)
    if found is None:
        raise Unclear("pairs that are none, or that only names can cut")
    return [side for pair in found for side in pair]


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
    if names is not None and text in names and (quoted or not (text.startswith(b":") or text.isdigit())):
        if names.count(text) > 1:
            raise Usage("ambiguous name: %r" % text)
        return [names.index(text)]
    if quoted and is_position(text):
        raise Unclear("a quoted item that looks like a position")
    found = positions(text, ncolumns)
    if found is None:
        raise Usage("unknown column: %r" % text)
    return found
