# SPDX-License-Identifier: MIT
"""An independent model of the scan half: running totals, filters and offsets.

It stands on oracle.py, oracle_text.py and oracle_expr.py. A Scan says what the command line asks;
answer() says what must come out, byte for byte, and which error ends it. Where the contract is
silent the model raises oracle.Unclear.
"""
import collections
import re

import oracle
from oracle import BOM, EXACT, BadData, Unclear, Usage, in_plain, is_number, number, records, strip
from oracle_expr import Expr

TOTALS = ("sum", "min", "max", "count")


# ---- requests -------------------------------------------------------------------------------

class Scan:
    """What the command line asks. news: new columns in order, such as ("sum", COLS),
    ("offsets", EXPR), ("byte-offset", None). operations: reductions, as oracle.Request has them."""
    def __init__(self, news=(), where=None, exclusive=False, only=False, operations=(), **others):
        self.news = [(o, c.encode() if isinstance(c, str) else c) for o, c in news]
        self.where = where.encode() if isinstance(where, str) else where
        self.exclusive, self.only = exclusive, only
        self.reduces = bool(operations)
        columns = operations or [(o, c) for o, c in self.news if o in TOTALS]
        self.request = oracle.Request(columns, **others)
        self.is_missing = self.request.is_missing

    def args(self):
        out = list(self.request.args())
        if not self.reduces:
            del out[:2 * len(self.request.operations)]
        for operation, text in self.news:
            if operation in TOTALS:
                out += [b"--running-" + operation.encode(), text]
            elif operation == "offsets":
                out += [b"--offsets", text]
            else:
                out.append(b"--byte-offset")
        if self.where is not None:
            out += [b"--where", self.where]
        return out + [b"--exclusive"] * self.exclusive + [b"--only"] * self.only


# ---- the records ----------------------------------------------------------------------------

Row = collections.namedtuple("Row", "file fields lines raw end offset")


def rows_of(name, data, delimiter, base):
    """The Rows of a file, blank ones too, and the line of a quote that stays open, or None."""
    at = len(BOM) if data.startswith(BOM) else 0
    found, opened = records(data[at:], delimiter)
    out = []
    for r in found:
        stop = at + len(r.raw)
        end = b""
        if data[stop:stop + 2] == b"\r\n":
            end = b"\r\n"
        elif stop < len(data):
            end = data[stop:stop + 1]
        out.append(Row(name, r.fields, r.lines, r.raw, end, base + at))
        at = stop + len(end)
    assert opened is not None or at == len(data)
    return out, opened


def stream(q, files, exprs):
    """files: pairs (name, bytes) -> (header Row or None, ncolumns, Rows, the BadData after them)."""
    per_file, trouble, base = [], None, 0
    for name, data in files:
        rows, opened = rows_of(name, data, q.request.delimiter, base)
        base += len(data)
        per_file.append(rows)
        if opened is not None:
            if len(per_file) > 1 and not any(r.raw for r in rows):
                raise Unclear("an open quote, perhaps in what should be a header")
            trouble = BadData("open quote", {(name, opened)})
            break
    full = next((r for rows in per_file for r in rows if r.raw), None)
    if full is None:
        raise Unclear("no record at all")
    ncolumns = len(full.fields)
    if ncolumns > 1:
        per_file = [[r for r in rows if r.raw] for rows in per_file]
    flat = [r for rows in per_file for r in rows]
    if not flat[0].raw and q.request.header != "no":
        raise Unclear("a blank line where the header may be")
    if trouble and sum(bool(r.raw) for r in flat) < 2:
        raise Unclear("an open quote before there are two records")
    second = flat[1].fields if len(flat) > 1 else None
    if len(flat) > 1 and flat[0].file != flat[1].file:
        second = oracle.UNCLEAR
    if not has_header(q, exprs, list(flat[0].fields), second):
        return None, ncolumns, flat, trouble
    rest, first = [], flat[0]
    for rows in per_file:
        if rows and rows[0] is first:
            rows = rows[1:]
        elif rows and rows[0].raw == first.raw:
            rows = rows[1:]
        elif rows and not rows[0].raw:
            raise Unclear("a blank line where a repeated header may be")
        elif rows and q.request.header == "yes":
            return first, ncolumns, rest, BadData("another header", {(rows[0].file, None)})
        rest += rows
    return first, ncolumns, rest, trouble


def has_header(q, exprs, first, second):
    if q.request.header != "auto":
        return q.request.header == "yes"
    if any(e.sees_header(q, first) for e in exprs):
        return True
    if not q.request.operations and any(e.tells() for e in exprs):
        return False
    return oracle.has_header(q.request, first, second)


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
            return b"0" if self.operation == "sum" else b""
        return in_plain(self.value, self.scale).encode()


class Offset:
    def __init__(self, expr):
        self.expr, self.kept = expr, 0


class Answer:
    """out: what stands on stdout. bad: the BadData that ended it, or None. skipped: how many values
    were left out by column, and "records". reduced: oracle's Answer where results were asked."""
    def __init__(self, out, bad, skipped, reduced=None):
        self.out, self.bad, self.skipped, self.reduced = out, bad, skipped, reduced


def quoted(name, delimiter):
    if any(c in name for c in (delimiter, b'"', b"\r", b"\n")):
        return b'"' + name.replace(b'"', b'""') + b'"'
    return name


def plan(q, header, ncolumns, rows, offsets):
    """[(name, Total, Offset or None)] in the order of the command line."""
    names = list(header.fields) if header else None
    if names and any(b"\0" in name for name in names):
        raise Unclear("NUL in a name")
    items = list(q.request.items())
    for _, text, as_written in items:
        if text != b"*":
            oracle.resolve(text, as_written, names, ncolumns)
    if header and rows and rows[0].file != header.file and any(text == b"*" for _, text, _ in items):
        raise Unclear("'*' where the header's file has no other record")
    columns, offsets = [], iter(offsets)
    for operation, text in q.news:
        if operation == "offsets":
            columns.append((b"offset", Offset(next(offsets))))
        elif operation == "byte-offset":
            columns.append((b"byte_offset", None))
        else:
            for k in chosen(oracle.Request([(operation, text)]), q, names, ncolumns, rows):
                called = names[k] if names and names[k] else b"col%d" % (k + 1)
                columns.append((b"running_%s(%s)" % (operation.encode(), called),
                                Total(operation, k, operation != "count")))
    numeric = {c.field for _, c in columns if isinstance(c, Total) and c.as_number}
    counted = {c.field for _, c in columns if isinstance(c, Total) and not c.as_number}
    if counted & numeric and q.request.invalid == "skip":
        raise Unclear("is a value that is no number counted?")
    for _, c in columns:
        if isinstance(c, Total):
            c.as_number = c.field in numeric
    return columns


def chosen(one, q, names, ncolumns, rows):
    for _, text, as_written in one.items():
        if text != b"*":
            yield from oracle.resolve(text, as_written, names, ncolumns)
        elif not rows or (names is None and not rows[0].raw):
            raise Unclear("'*' where no record is, or a blank one where a header may be")
        else:
            if one.operations[0][0] == "count":
                raise Unclear("is the text in a column that '*' counts an error?")
            numeric = [k for k, f in enumerate(rows[0].fields[:ncolumns]) if not q.is_missing(f) and is_number(f)]
            if not numeric:
                raise BadData("no numeric column")
            yield from numeric


def fault(what, row, header, fields, line_of_field=True):
    """The BadData about some fields of a row."""
    names = list(header.fields) if header else []
    called = [names[k] if k < len(names) and names[k] else b"col%d" % (k + 1) for k in fields]
    places = [(row.file, row.lines[k if line_of_field else 0]) for k in fields]
    values = [strip(row.fields[k]) if line_of_field else b"\n" for k in fields]
    return BadData(what, places, called, values)


def admit(q, header, row, needed, where, offsets, skipped):
    """-> (is the record kept?, the truth of each of offsets). Raises what is wrong with it."""
    skips = q.request.invalid == "skip"
    short = sorted(k for k in needed if k >= len(row.fields))
    if short:
        if not skips:
            raise fault("short record", row, header, short, False)
        skipped["records"] += 1
        return False, []
    truths = []
    for expr in ([where] if where else []) + offsets:
        holds, culprits = expr.truth(q, row)
        if holds is None and skips:
            skipped["conditions"] += 1
            return False, []
        if holds is None:
            raise fault("text compared with a number", row, header, sorted(culprits))
        if expr is where and not holds:
            return False, []
        if expr is not where:
            truths.append(holds)
    return True, truths


def pairs_of(q, header, row, columns, skipped):
    """The values of the totals' fields: {field: pair, True for a text that is counted, or None}."""
    pairs, wrong = {}, []
    for total in columns:
        k = total.field
        if k in pairs:
            continue
        pairs[k] = None
        if q.is_missing(row.fields[k]):
            continue
        if not total.as_number:
            pairs[k] = True
            continue
        try:
            pairs[k] = number(row.fields[k])
        except BadData:
            if q.request.invalid == "skip":
                raise Unclear("is a number beyond the range invalid, to be skipped?") from None
            wrong.append(k)
            continue
        if pairs[k] is None and q.request.invalid == "skip":
            skipped[k] += 1
        elif pairs[k] is None:
            wrong.append(k)
    if wrong:
        raise fault("not a number", row, header, wrong)
    return pairs


def answer(q, files):
    """files: bytes (stdin) or pairs (name, decompressed bytes) -> Answer; Usage, Unclear."""
    if isinstance(files, bytes):
        files = [("<stdin>", files)]
    where = None if q.where is None else Expr(q.where)
    offsets = [Expr(text) for operation, text in q.news if operation == "offsets"]
    exprs = ([where] if where else []) + offsets
    header, ncolumns, rows, trouble = stream(q, files, exprs)
    if header and any(b"\0" in name for name in header.fields):
        raise Unclear("NUL in a name")
    try:
        for expr in exprs:
            expr.resolve(list(header.fields) if header else None, ncolumns)
        for _, text, as_written in q.request.items():
            if text != b"*":
                oracle.resolve(text, as_written, list(header.fields) if header else None, ncolumns)
    except Usage:
        if trouble:
            raise Unclear("which of two errors comes first") from None
        raise
    if q.reduces:
        return reduce(q, header, ncolumns, rows, trouble, where)
    try:
        columns = plan(q, header, ncolumns, rows, offsets)
    except BadData as bad:
        return Answer(b"", bad, {})
    return scan(q, header, rows, trouble, where, columns)


def scan(q, header, rows, trouble, where, columns):
    delimiter = q.request.delimiter
    totals = [c for _, c in columns if isinstance(c, Total)]
    offsets = [c for _, c in columns if isinstance(c, Offset)]
    needed = {t.field for t in totals}.union(*(o.expr.needs() for o in offsets))
    needed |= where.needs() if where else set()
    skipped = collections.Counter()
    out = []

    def put(raw, cells, end):
        if out and not out[-1].endswith(b"\n"):
            out.append(b"\n")                   # a file may end without a line end, the stream goes on
        record = ([] if q.only else [raw]) + [quoted(c, delimiter) for c in cells]
        out.append(delimiter.join(record) + end)

    if header:
        put(header.raw, [name for name, _ in columns], header.end)
    for row in rows:
        try:
            keep, truths = admit(q, header, row, needed, where, [o.expr for o in offsets], skipped)
            if not keep:
                continue
            pairs = pairs_of(q, header, row, totals, skipped)
        except BadData as bad:
            return Answer(b"".join(out), bad, skipped)
        for offset, holds in zip(offsets, truths):
            offset.text = b"%d" % offset.kept if holds else b""
            offset.kept += holds
        before = {id(t): t.text() for t in totals}
        for total in totals:
            if pairs[total.field]:
                total.add(pairs[total.field])
        cells = []
        for _, c in columns:
            if isinstance(c, Total):
                cells.append(before[id(c)] if q.exclusive else c.text())
            else:
                cells.append(c.text if c else b"%d" % row.offset)
        put(row.raw, cells, row.end)
    return Answer(b"".join(out), trouble, skipped)


def reduce(q, header, ncolumns, rows, trouble, where):
    """Reductions of the records where the condition holds."""
    names = list(header.fields) if header else None
    needed = where.needs() if where else set()
    star = False
    for _, text, as_written in q.request.items():
        star |= text == b"*"
        if text != b"*":
            needed |= set(oracle.resolve(text, as_written, names, ncolumns))
    if star and any(len(r.fields) < ncolumns for r in rows):
        raise Unclear("which columns does '*' need of a short record?")
    skipped, kept = collections.Counter(), []
    for row in rows:
        try:
            if admit(q, header, row, needed, where, [], skipped)[0]:
                kept.append((row.file, row))
        except BadData as bad:
            trouble = bad
            break
    if star and rows and not (kept and kept[0][1] is rows[0]) and any(
            not q.is_missing(f) and not is_number(f) for f in rows[0].fields):
        raise Unclear("does '*' mean a column where the first record has text, if that is not kept?")
    if star and trouble:
        raise Unclear("which columns does '*' mean before an error?")
    if header is None and not kept:
        raise Unclear("nothing is left, and no header")
    try:
        reduced = oracle._reduce(q.request, header, ncolumns, kept)
    except BadData as bad:
        return Answer(b"", bad, skipped)
    if trouble:
        return Answer(b"", trouble, skipped)
    skipped.update(reduced.skipped)
    return Answer(None, None, skipped, reduced)


# ---- judging --------------------------------------------------------------------------------

def tells(skipped, warning):
    """Does the warning say how many values of each column and how many records were left out?"""
    counts = {k: n for k, n in skipped.items() if n}
    said = [int(n) for n in re.findall(rb"[0-9]+", warning)]
    if not counts:
        return warning == b""
    left_out = counts.pop("records", 0), counts.pop("conditions", 0)
    return (all(n in said for n in counts.values())
            and (all(n in said for n in left_out if n) or sum(left_out) in said))


def names_the_fault(bad, err):
    """None where the message fits, else what is missing in it."""
    if bad.places and not any((b"%s:%d:" % (name.encode(), line) if line else name.encode() + b":") in err
                              for name, line in bad.places):
        return "a message that names one of %s" % sorted(bad.places)
    for called, words in (("column", bad.columns), ("value", bad.values)):
        if words and all(w.isalnum() and w.isascii() and len(w) < 100 for w in words) \
                and not any(b"'" + w + b"'" in err for w in words):
            return "a message that names the %s, one of %s" % (called, sorted(words))
    return None


def judge(q, files):
    """A function for harness.agrees() that holds a Result against the model; or Unclear."""
    try:
        want = answer(q, files)
    except Usage as wrong:
        why = str(wrong)
        return lambda r: None if r.status == 2 and not r.out and r.err else "wanted: status 2 (%s)" % why
    out = want.out if want.reduced is None else want.reduced.text(q.request.format)

    def right(r):
        if r.status != (1 if want.bad else 0):
            return "wanted: status %d%s" % (1 if want.bad else 0, " (%s)" % want.bad if want.bad else "")
        if r.out != out:
            return "wanted on stdout: %r" % out[:2000]
        if not want.bad:
            return None if tells(want.skipped, r.err) else "wanted: a warning of %s" % dict(want.skipped)
        if b"gpustat: " not in r.err:
            return "wanted: a message"
        lacks = names_the_fault(want.bad, r.err)
        return lacks and "wanted: " + lacks
    return right
