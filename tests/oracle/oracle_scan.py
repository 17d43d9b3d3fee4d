# SPDX-License-Identifier: MIT
"""An independent model of the scan half: running totals, filters and offsets.

It stands on oracle.py and what is below that. A Scan says what the command line asks; answer() says what must come out,
byte for byte, and which error ends it. Where the contract is silent the model raises Unclear.
"""
import copy
import decimal
import fractions
import re

import oracle
import oracle_judge
import oracle_window
from oracle import LeftOut, admit, label_of, pairs_of
from oracle_expr import Expr
from oracle_header import UNCLEAR
from oracle_judge import Answer
from oracle_request import OVER, RANKS, RUNNING, TOTALS, WINDOWS, Request, as_bytes, resolve
from oracle_statistic import rounded
from oracle_table import Table
from oracle_text import EXACT, BadData, Unclear, Usage, in_plain, mean_text


class Scan(Request):
    """news: new columns in order, such as ("sum", COLS), ("offsets", EXPR), ("byte-offset", None). operations:
    reductions, as oracle.Request has them."""
    def __init__(self, news=(), where=None, exclusive=False, only=False, operations=(), over=None, **others):
        super().__init__(operations, **others)
        self.news = [(o, as_bytes(c)) for o, c in news]
        self.over = as_bytes(over)
        self.where, self.exclusive, self.only = as_bytes(where), exclusive, only

    def columns_asked(self):
        asked = self.operations or [(o, c) for o, c in self.news if o in RUNNING + WINDOWS + RANKS]
        return asked + ([] if self.over is None else [(OVER, self.over)])

    def args(self):
        out = super().args()
        for operation, text in self.news:
            if operation in RUNNING:
                out += [b"--running-" + operation.encode(), text]
            else:
                out += [b"--" + operation.encode()] + ([] if text is None else [text])
        if self.where is not None:
            out += [b"--where", self.where]
        if self.over is not None:
            out += [b"--over", self.over]
        return out + [b"--exclusive"] * self.exclusive + [b"--only"] * self.only

    def times(self, names, ncolumns):
        """The column of the times, 0-based; None: there are no windows by time."""
        if not any(o in WINDOWS and o != "ewma" and oracle_window.width_of(oracle_window.split(c)[1]) for o, c in self.news):
            if self.over is not None:
                raise Usage("--over without a window by time")
            return None
        if self.over is None:
            raise Unclear("which column has times")
        columns = [k for o, text, as_written in self.items() if o == OVER for k in resolve(text, as_written, names, ncolumns)]
        if len(columns) != 1 or self.over == b"*" or b"," in self.over:
            raise Unclear("several columns of times")
        return columns[0]


# ---- the new columns ------------------------------------------------------------------------

class Total:
    """A running total of one column. add() a value that is not missing; text() is its state."""
    def __init__(self, operation, field, as_number):
        self.operation, self.field, self.as_number = operation, field, as_number
        self.value, self.scale, self.count = None, 0, 0

    def add(self, pair):
        self.count += 1
        if self.operation == "count":
            return
        value, scale = pair
        self.scale = max(self.scale, scale)
        if self.value is None:
            self.value = value
        elif self.operation == "sum":
            self.value = EXACT.add(self.value, value)
        else:
            self.value = (min if self.operation == "min" else max)(self.value, value)

    def text(self):
        if self.operation == "count":
            return b"%d" % self.count
        if self.value is None:
            return in_plain(decimal.Decimal(0), 0).encode() if self.operation == "sum" else b""
        return in_plain(self.value, self.scale).encode()


class Ratio(Total):
    """A running mean, variance or standard deviation: from the exact sums of the values and of their squares."""
    def __init__(self, *args):
        super().__init__(*args)
        self.value, self.squares = decimal.Decimal(0), fractions.Fraction(0)

    def add(self, pair):
        self.count += 1
        self.value = EXACT.add(self.value, pair[0])
        self.squares += fractions.Fraction(pair[0]) ** 2

    def text(self):
        n = self.count
        if self.operation == "mean":
            return mean_text(self.value, n).encode() if n else b""
        if n < 2:
            return b""
        variance = (self.squares - fractions.Fraction(self.value) ** 2 / n) / (n - 1)
        return rounded(variance, root=self.operation == "stddev").encode()


class Looking(Total):
    """A column that looks back on the last records: each is added, also one without a number."""
    def __init__(self, operation, field, argument):
        super().__init__(operation, field, operation != "rolling-count")
        self.window = oracle_window.Window(operation, argument)

    def add(self, pair, time=None):
        self.window = copy.copy(self.window)
        self.window.take(pair, time)

    def text(self):
        return self.window.text()


class Rank(Total):
    """The ranks of one column, known at the end."""
    def __init__(self, operation, field, descending, nparts=None):
        super().__init__(operation, field, True)
        self.nparts = nparts and int(nparts)
        self.descending, self.values, self.last = descending, (), None

    def add(self, pair):
        self.values = self.values or []         # a copy has its own
        self.values.append(pair[0])

    def cell(self, pair):
        """A function that says the rank of this record's value in the end."""
        if pair in (None, "missing"):
            return lambda: b""
        return lambda: self.among(pair[0])

    def among(self, value):
        before = [v for v in self.values if (v > value if self.descending else v < value)]
        if self.operation == "percent-rank":
            return mean_text(decimal.Decimal(len(before)), max(len(self.values) - 1, 1)).encode()
        if self.operation == "ntile":
            size, more = divmod(len(self.values), self.nparts)
            ends = [k * size + min(k, more) for k in range(1, min(self.nparts, len(self.values)) + 1)]     # of the parts, in order
            return b"%d" % (1 + sum(end <= len(before) for end in ends))
        return b"%d" % (1 + len(set(before) if self.operation == "rank-dense" else before))


class RowNumber:
    """Of a record among those of its group. The first is 1."""
    number = 0


class Offset:
    def __init__(self, expr):
        self.expr, self.kept, self.text = expr, 0, b""


def quoted(cell, dialect, delimiter):
    """A new field, so that it can be read back; Usage where the dialect has no way to say it."""
    escape, quote = dialect.escape, dialect.quote
    if dialect.whitespace:
        return re.sub(rb"[ \t\n]", b"_", cell) or b"_"
    if escape:
        cell = cell.replace(escape, escape * 2)
    odd = [c for c in (delimiter, b"\r", b"\n") if c in cell]
    odd += [cell] * (cell.strip(dialect.blanks(delimiter)) != cell)
    if quote and (odd or quote in cell):
        return quote + cell.replace(quote, quote * 2) + quote
    if odd and not escape:
        raise Usage("nothing can quote the new field %r" % cell)
    for c in odd:
        cell = cell.replace(c, escape + c)
    return cell


def plan(q, table, rows, offsets):
    """[(name, Total, Offset or None)] in the order of the command line."""
    names = table.names
    if q.asks_star() and table.header and rows and rows[0].file != table.header.file:
        raise Unclear("'*' where the header's file has no other record")
    columns, offsets = [], iter(offsets)
    for operation, text in q.news:
        if operation == "offsets":
            columns.append((b"offset", Offset(next(offsets))))
        elif operation == "row-number":
            columns.append((b"row_number", RowNumber()))
        elif operation == "byte-offset":
            columns.append((b"byte_offset", None))
        elif operation in WINDOWS:
            suffix = oracle_window.split(text)[1]
            columns += [(b"%s(%s:%s)" % (operation.replace("-", "_").encode(), label_of(names, k), suffix),
                         Looking(operation, k, suffix)) for k in chosen(operation, text, q, table, rows)]
        elif operation in RANKS:
            descending = text.startswith(b"-")
            suffix = oracle_window.split(text)[1] if operation == "ntile" else None
            columns += [(b"%s(%s%s%s)" % (operation.replace("-", "_").encode(), b"-" * descending, label_of(names, k),
                                          b":" + suffix if suffix else b""), Rank(operation, k, descending, suffix)) for k in chosen(operation, text, q, table, rows)]
        else:
            for k in chosen(operation, text, q, table, rows):
                columns.append((b"running_%s(%s)" % (operation.encode(), label_of(names, k)),
                                (Total if operation in TOTALS else Ratio)(operation, k, operation != "count")))
    numeric = {c.field for _, c in columns if isinstance(c, Total) and c.as_number}
    counted = {c.field for _, c in columns if isinstance(c, Total) and not c.as_number}
    if counted & numeric and q.invalid == "skip":
        raise Unclear("is a value that is no number counted?")
    for _, c in columns:
        if isinstance(c, Total):
            c.as_number = c.field in numeric
    return columns


def chosen(operation, columns, q, table, rows):
    for _, text, as_written in Request([(operation, columns)]).items():
        if text != b"*":
            yield from resolve(text, as_written, table.names, table.ncolumns)
        elif not rows or (table.names is None and not rows[0].raw.strip(q.dialect.blanks(table.delimiter))):
            raise Unclear("'*' where no record is, or a blank one where a header may be")
        elif operation in ("count", "rolling-count"):
            raise Unclear("is the text in a column that '*' counts an error?")
        elif rows[0].shape:
            raise Unclear("'*' where the first record is ragged")
        else:
            keys = q.keys(table.names, table.ncolumns) + ([] if q.over is None else [q.times(table.names, table.ncolumns)])
            numeric = [k for k, f in enumerate(rows[0].fields) if k not in keys and not q.is_missing(f) and q.is_number(f)]
            if not numeric:
                raise BadData("no numeric column")
            yield from numeric


# ---- the records ----------------------------------------------------------------------------

def answer(q, files):
    """files: bytes (stdin) or pairs (name, decompressed bytes) -> Answer; Usage, Unclear."""
    if q.operations:
        return reduce(q, files)
    if q.format not in ("auto", "csv", "tsv", "plain") or (q.format != "auto" and (q.dialect.whitespace or not q.dialect.quote)):
        raise Unclear("no model of records in this format")
    if q.dialect.whitespace and q.ragged == "allow":
        raise Usage("a field that is not there cannot be printed between blanks")
    files = [("<stdin>", files)] if isinstance(files, bytes) else files
    where = None if q.where is None else Expr(q.where)
    offsets = [Expr(text) for operation, text in q.news if operation == "offsets"]
    exprs = ([where] if where else []) + offsets
    try:
        table = Table(q, exprs, files)
    except BadData as bad:
        return Answer(b"", bad)
    if not table.ncolumns:
        oracle.no_column_0(exprs)
        if q.asks_star():
            return Answer(b"", BadData("no numeric column"))
        if not table.nothing:
            raise Unclear("records are printed, and all lines are blank")
        return Answer(b"")
    needed = table.resolve()
    try:
        rows, trouble = table.rows(set(range(table.ncolumns)) if q.asks_star() else needed)
    except BadData as bad:
        raise Unclear("is anything printed before a later file's words are found not to be readable?") from bad
    try:
        columns = plan(q, table, rows, offsets)
    except BadData as bad:
        return Answer(b"", bad)
    if trouble and not any(r.raw.strip(q.dialect.blanks(table.delimiter)) for r in rows) and (table.header or table.second is UNCLEAR):
        raise Unclear("is the header printed before an error in the second record?")
    return scan(q, table, rows, trouble, where, columns)


def reduce(q, files):
    try:
        return oracle.answer(q, files)
    except BadData as bad:
        return Answer(bad=bad)


class _Printer:
    """The records with their new fields. out: what stands on stdout."""
    def __init__(self, q, delimiter):
        self.q, self.delimiter, self.records = q, delimiter, []

    def put(self, record, cells):
        """cells: bytes, or functions that say them at the end."""
        self.records.append((record, cells))

    def formatted(self, header):
        """Of --format csv, tsv and plain: values, whatever the input's dialect is."""
        rows = [([] if self.q.only else list(record.fields)) + [c() if callable(c) else c for c in cells] for record, cells in self.records]
        rows = rows[1:] if header and self.q.format == "plain" else rows
        return b"".join(oracle_judge.line(row, b"," if self.q.format == "csv" else b"\t") for row in rows)

    def answer(self, bad, notes, header=True):
        out = []
        if self.q.format != "auto":
            return Answer(self.formatted(header), bad, notes)
        for (raw, end), cells in [((r.raw, r.end), cells) for r, cells in self.records]:
            if out and not out[-1].endswith(b"\n"):
                out.append(b"\n")               # a file may end without a line end, the stream goes on
            cells = [c() if callable(c) else c for c in cells]
            record = ([] if self.q.only else [raw]) + [quoted(c, self.q.dialect, self.delimiter) for c in cells]
            out.append(self.delimiter.join(record) + end)
        return Answer(b"".join(out), bad, notes)


def scan(q, table, rows, trouble, where, columns):
    totals = [c for _, c in columns if isinstance(c, Total)]
    conditions = [c.expr for _, c in columns if isinstance(c, Offset)]
    wanted, keys, groups = {t.field: t.as_number for t in totals}, q.keys(table.names, table.ncolumns), {}
    times, latest = q.times(table.names, table.ncolumns), {}
    left_out, printer = LeftOut(), _Printer(q, table.delimiter)
    if table.header:
        printer.put(table.header, [name for name, _ in columns])
    fails = (lambda bad: Answer(b"", bad)) if q.reads_twice() else (lambda bad: printer.answer(bad, left_out.notes(), table.header))
    for row in rows:
        try:
            keep, truths = admit(q, table.names, row, where, conditions, left_out)
            pairs = pairs_of(q, table.names, row, wanted, left_out) if keep else {}
            time = time_of(q, table.names, row, times, latest, tuple(row.fields[k] for k in keys)) if keep and times is not None else None
        except BadData as bad:
            return fails(bad)
        if keep:
            group = groups.setdefault(tuple(row.fields[k] for k in keys), [copy.copy(c) for _, c in columns])
            printer.put(row, step(q, row, group, truths, pairs, time))
    notes = oracle.header_notes(table)
    if trouble and q.reads_twice():
        return fails(trouble)
    return printer.answer(trouble or left_out.too_much(q), left_out.notes() + notes, table.header)


def time_of(q, names, row, column, latest, key):
    """The record's time, in seconds; None: it has none. latest: of each group, which it changes. Raises what is wrong with it."""
    field = row.fields[column]
    if q.is_missing(field):
        return None
    if b"\0" in field:
        raise Unclear("a NUL in a time")
    time = oracle_window.seconds_of(q, field)
    if time is None and q.invalid == "skip":
        raise Unclear("times that are left out")
    if time is None or time < latest.get(key, time):
        raise oracle.fault("no time, or one that runs backwards", row, names, [column])
    latest[key] = time
    return time


def step(q, row, columns, truths, pairs, time=None):
    """Takes a record into the totals and offsets of its group; its new cells."""
    for offset, holds in zip([c for c in columns if isinstance(c, Offset)], truths):
        offset.text = b"%d" % offset.kept if holds else b""
        offset.kept += holds
    totals = [c for c in columns if isinstance(c, Total)]
    before = {id(t): t.text() for t in totals}
    for total in totals:
        there = pairs[total.field] not in (None, "missing")
        if there or isinstance(total, Looking):
            total.add(pairs[total.field] if there else None, *[time] * isinstance(total, Looking))
    cells = []
    for c in columns:
        if isinstance(c, RowNumber):
            c.number += 1
            cells.append(b"%d" % (c.number - q.exclusive))
        elif isinstance(c, Rank):
            cells.append(lambda rank=c.cell(pairs[c.field]): q.notation.printed(rank()))
        elif isinstance(c, Total):
            cells.append(q.notation.printed(before[id(c)] if q.exclusive else c.text()))
        else:
            cells.append(c.text if c else b"%d" % row.offset)
    return cells


def judge(q, files):
    """A function for harness.agrees() that holds a Result against the model; or Unclear."""
    try:
        want = answer(q, files)
    except Usage as wrong:
        return oracle_judge.refusal(2, wrong)
    return oracle_judge.judge_of(want, q.format)
