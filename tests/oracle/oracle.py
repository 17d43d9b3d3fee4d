# SPDX-License-Identifier: MIT
"""An independent model of the contract (gpustat(1)): what gpustat must answer, results and the summary.

From the bottom: oracle_text.py (numbers), oracle_notation.py, oracle_dialect.py (fields), oracle_request.py (options, COLS,
the header), oracle_table.py (records of all files under their columns). It is slow and plain on purpose. Where the contract
leaves a question open the model raises Unclear, so that no test rests on a guess.
"""
import collections
import decimal
import fractions
import re
import sys

import oracle_judge
from oracle_expr import Expr
from oracle_judge import Answer, Note
from oracle_request import COUNT_RECORDS, ON_DEVICE, OPERATIONS, TOTALS, Request, is_position, resolve
from oracle_statistic import STATISTICS, Column
from oracle_table import Table, ragged
from oracle_text import BadData, Unclear, Usage, strip

__all__ = ["COUNT_RECORDS", "ON_DEVICE", "OPERATIONS", "STATISTICS", "TOTALS", "Answer", "BadData", "Column", "Request",
           "Unclear", "Usage", "answer", "judge"]

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


# ---- records and values that are left out -------------------------------------------------------

class LeftOut:
    """What --invalid skip left out. values: {column: Counter of "not a number", "out of range"}, present: {column: values
    that are not missing}; records: Counter of "ragged" and "condition", of `all` records."""
    def __init__(self):
        self.values, self.present = collections.defaultdict(collections.Counter), collections.Counter()
        self.records, self.all = collections.Counter(), 0

    def notes(self):
        out = []
        for counts in self.values.values():
            several = len(counts) > 1
            out += [Note(n, optional=several) for n in counts.values()]
            if several:
                out.append(Note(sum(counts.values()), optional=True))
        return out + [Note(n) for n in self.records.values()]

    def too_much(self, q):
        """The BadData that says so, or None. Unclear where it depends on how records are counted."""
        limit = q.max_invalid
        for k, counts in self.values.items():
            n = sum(counts.values())
            if n and n == self.present[k]:
                return BadData("every value is left out", kind="all left out")
            if limit is not None and n > allowed_of(limit, self.present[k]):
                return BadData("too many values are left out", kind="too many")
        n = sum(self.records.values())
        if n and n == self.all:
            raise Unclear("every record is left out")
        if limit is not None and n > allowed_of(limit, self.all):
            if len(self.records) > 1 or limit.endswith(b"%"):
                raise Unclear("which records are counted together?")
            return BadData("too many records are left out", kind="too many")
        return None


def allowed_of(limit, present):
    if limit.endswith(b"%"):
        return present * fractions.Fraction(limit[:-1].decode()) / 100
    return int(limit)


def label_of(names, k):
    return names[k] if names and names[k] else b"col%d" % (k + 1)


def fault(what, row, names, fields, kind=None):
    """The BadData about some fields of a record."""
    return BadData(what, [(row.file, row.lines[k]) for k in fields], [label_of(names, k) for k in fields],
                   [strip(row.fields[k]) for k in fields], kind)


def admit(q, names, row, where, offsets, out):
    """-> (is the record kept?, the truth of each of offsets). Raises what is wrong with it. out: a LeftOut."""
    out.all += 1
    skips = q.invalid == "skip"
    if row.shape:
        if not skips or (q.sums_up() and not q.ragged):
            raise ragged(row)
        out.records["ragged"] += 1
        return False, []
    truths = []
    for expr in ([where] if where else []) + offsets:
        with_nul = [k for k in expr.needs() if b"\0" in row.fields[k]]
        if with_nul and (skips or len(expr.needs()) > 1):
            raise Unclear("a NUL in a condition")
        if with_nul:
            raise fault("NUL", row, names, with_nul, "nul")
        holds, culprits = expr.truth(q, row)
        if holds is None and skips:
            out.records["condition"] += 1
            return False, []
        if holds is None:
            raise fault("text compared with a number", row, names, sorted(culprits))
        if expr is where and not holds:
            return False, []
        if expr is not where:
            truths.append(holds)
    return True, truths


def pairs_of(q, names, row, wanted, out):
    """wanted: {column: is it taken as numbers?} -> {column: pair, True for a text that counts, "missing", or None for a
    value that is left out}. Raises what is wrong with them."""
    pairs, wrong, kinds = {}, [], set()
    for k, as_number in wanted.items():
        field = row.fields[k]
        if b"\0" in field:
            if q.invalid == "skip" or q.sums_up():
                raise Unclear("a NUL, to be skipped or summed up")
            wrong.append(k)
            kinds.add("nul")
            continue
        if q.is_missing(field):
            pairs[k] = "missing"
            continue
        out.present[k] += 1
        pairs[k], why = (True, None) if not as_number else value(q, field)
        if why and q.invalid == "skip":
            out.values[k][why] += 1
        elif why:
            wrong.append(k)
            kinds.add("range" if why == "out of range" else None)
    if wrong:
        raise fault("a bad value", row, names, wrong, kinds.pop() if len(kinds) == 1 else None)
    return pairs


def value(q, field):
    """-> (pair, None) or (None, why there is none)."""
    try:
        pair = q.number(field)
    except BadData:
        return None, "out of range"
    return pair, None if pair else "not a number"


# ---- results --------------------------------------------------------------------------------

def kept_rows(q, names, rows, trouble, where, out):
    """-> (the records that are taken, the BadData behind them)."""
    kept = []
    for row in rows:
        try:
            if admit(q, names, row, where, [], out)[0]:
                kept.append(row)
        except BadData as bad:
            return kept, bad
    return kept, trouble


def answer(q, files):
    """files: bytes (stdin) or pairs (name, decompressed bytes) -> Answer; Usage, BadData, Unclear."""
    files = [("<stdin>", files)] if isinstance(files, bytes) else files
    where = None if q.where is None else Expr(q.where)
    table = Table(q, [where] if where else [], files)
    if not table.ncolumns:
        return of_nothing(q, table)
    names, n = table.names, table.ncolumns
    if where:
        where.resolve(names, n)
    named = {k for _, text, quoted in q.items() if text != b"*" for k in resolve(text, quoted, names, n)}
    needed = set(range(n)) if q.sums_up() or q.asks_star() else named | (where.needs() if where else set())
    rows, trouble = table.rows(needed)
    out = LeftOut()
    kept, trouble = kept_rows(q, names, rows, trouble, where, out)
    if q.sums_up():
        return summary(q, table, kept, trouble, out)
    if where and q.asks_star():
        _check_star(q, rows, kept, trouble)
    if where and not table.header and not kept:
        raise Unclear("nothing is left, and no header")
    return results(q, table, kept, trouble, out)


def _check_star(q, rows, kept, trouble):
    if rows and not (kept and kept[0] is rows[0]) and any(
            not q.is_missing(f) and not q.is_number(f) for f in rows[0].fields):
        raise Unclear("does '*' mean a column where the first record has text, if that is not kept?")
    if trouble:
        raise Unclear("which columns does '*' mean before an error?")


def of_nothing(q, table):
    """The answer where there is no record at all."""
    if q.where is not None or q.sums_up() and not table.nothing:
        raise Unclear("a summary of blank lines, or a condition about nothing")
    values = []
    for operation, columns in q.operations:
        if columns not in (b"*", b"1", b":1", b"col1"):
            raise Unclear("a column of an empty input")
        if columns == b"*":
            raise BadData("no numeric column")
        values.append((title(operation, b"col1"), Column().answer(operation)))
    return Answer(values=values) if values else Answer(rows=[])


def title(operation, label):
    return operation.replace("-", "_").encode() + b"(" + label + b")"


def results(q, table, kept, trouble, out):
    names, n = table.names, table.ncolumns
    star = {k for k, kind in enumerate(first_kinds(q, kept, n)) if kind == "number"} if q.asks_star() else set()
    if q.asks_star() and not star:
        raise trouble or BadData("no numeric column")
    chosen = []
    for operation, columns in q.operations:
        if columns is None:
            chosen.append((operation, None))
            continue
        for _, text, quoted in Request([(operation, columns)]).items():
            found = sorted(star) if text == b"*" else resolve(text, quoted, names, n)
            chosen += [(operation, k) for k in found]
    numeric = {k for o, k in chosen if o != "count"} | star
    _check_counts(q, chosen, numeric, kept)
    columns = fill(q, names, kept, {k: k in numeric for _, k in chosen if k is not None}, out)
    if trouble:
        raise trouble
    if out.too_much(q):
        raise out.too_much(q)
    values = [(b"records", str(len(kept))) if k is None else (title(o, label_of(names, k)), columns[k].answer(o))
              for o, k in chosen]
    return Answer(values=values, notes=out.notes() + header_notes(q, table, numeric))


def first_kinds(q, rows, ncolumns):
    """number, text or empty for each column, by its first value that is not missing."""
    kinds = ["empty"] * ncolumns
    for row in rows:
        for k, field in enumerate(row.fields):
            if kinds[k] == "empty" and not q.is_missing(field):
                kinds[k] = "number" if q.is_number(field) else "text"
    return kinds


def _check_counts(q, chosen, numeric, kept):
    counted = {k for o, k in chosen if o == "count"} & numeric
    if (q.invalid == "skip" or q.asks_star()) and any(
            not q.is_missing(r.fields[k]) and not q.is_number(r.fields[k]) for k in counted for r in kept):
        raise Unclear("is a value that is no number counted?")


def fill(q, names, rows, wanted, out):
    """-> {column: Column} of the rows. Raises the first record's errors."""
    columns = {k: Column() for k in wanted}
    for row in rows:
        for k, pair in pairs_of(q, names, row, wanted, out).items():
            if pair == "missing":
                columns[k].missing += 1
            elif pair is True:
                columns[k].texts += 1
            elif pair is not None:
                columns[k].add(pair)
    return columns


def header_notes(q, table, numeric):
    """A header that was guessed away where all else is text."""
    if table.known in ("number", "look") and table.header and not numeric:
        return [Note(b"header", optional=True)]
    return []


# ---- the summary ----------------------------------------------------------------------------

def summary(q, table, rows, trouble, out):
    """At most a tenth of a column's values may be no numbers."""
    if trouble:
        raise trouble
    names, kinds, notes, lines = table.names, [], [], []
    for k in range(table.ncolumns):
        fields = [(r, r.fields[k]) for r in rows if not q.is_missing(r.fields[k])]
        bad = [(r, f) for r, f in fields if value(q, f)[1]]
        kinds.append("empty" if not fields else "number" if len(bad) * 10 <= len(fields) else "text")
        if bad and q.invalid == "skip":
            raise Unclear("the summary, and values to be skipped")
        if bad and kinds[k] == "number":
            notes.append(Note(b"%s:%d:" % (bad[0][0].file.encode(), bad[0][0].lines[k])))
    for k, kind in enumerate(kinds):
        column, invalid = Column(), 0
        for row in rows:
            field = row.fields[k]
            if kind == "number" and not q.is_missing(field) and value(q, field)[1]:
                invalid += 1
                continue
            for pair in pairs_of(q, names, row, {k: kind == "number"}, out).values():
                _put(column, pair)
        lines.append(_row(label_of(names, k), kind, column, invalid))
    return Answer(rows=lines, notes=notes + out.notes() + ragged_notes(q, table) + delimiter_notes(q, table, rows))


def _put(column, pair):
    if pair == "missing":
        column.missing += 1
    elif pair is True:
        column.texts += 1
    elif pair is not None:
        column.add(pair)


def _row(label, kind, column, invalid):
    cells = [label, kind.encode(), column.answer("count").encode(), b"%d" % column.missing]
    if "invalid" in oracle_judge.SUMMARY:
        cells.append(b"%d" % invalid)
    return cells + [(kind != "text" and column.answer(o) or "").encode() for o in ("sum", "min", "max", "mean")]


def ragged_notes(q, table):
    """The summary takes ragged records and says how many there are, and where the first is."""
    if q.ragged:
        return []
    found = table.tolerated
    return [Note(len(found), b"%s:%d" % (found[0].file.encode(), found[0].line))] if found else []


def delimiter_notes(q, table, rows):
    if table.ncolumns > 1 or q.dialect.delimiter is not None or q.dialect.whitespace or table.said:
        return []
    others = re.compile(rb"[;\t|]")
    if table.names and others.search(table.names[0]):
        return [Note(b"-d")]
    return [Note(b"-d", optional=True)] if any(others.search(r.raw) for r in rows) else []


def judge(q, files):
    """A function for harness.agrees() that holds a Result against the model; or Unclear."""
    try:
        want = answer(q, files)
    except Usage as wrong:
        return oracle_judge.refusal(2, wrong)
    except BadData as bad:
        want = Answer(bad=bad)
    return oracle_judge.judge_of(want, q.format)
