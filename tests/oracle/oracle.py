# SPDX-License-Identifier: MIT
"""An independent model of the contract (gpustat(1)): what gpustat must answer, results and the summary.

From the bottom: oracle_text.py and oracle_notation.py (numbers), oracle_dialect.py (fields), oracle_request.py (options
and COLS), oracle_header.py, oracle_table.py (the records of all files under their columns), oracle_judge.py. It is slow
and plain on purpose. Where the contract leaves a question open the model raises Unclear, so that no test rests on a guess.
"""
import collections
import decimal
import fractions
import re
import sys

import oracle_judge
import oracle_texts
from oracle_expr import Expr, position
from oracle_judge import Answer, Note
from oracle_pair import PAIRS, SYMMETRIC, both, of_itself
from oracle_pair import answer as pair_answer
from oracle_request import (COUNT_RECORDS, ON_DEVICE, OPERATIONS, TAKES_TEXT, TOTALS, Request, is_pair, is_position,
                            resolve)
from oracle_statistic import STATISTICS, Column
from oracle_table import Table, ragged
from oracle_text import BadData, Unclear, Usage, strip

__all__ = ["COUNT_RECORDS", "ON_DEVICE", "OPERATIONS", "PAIRS", "STATISTICS", "SYMMETRIC", "TAKES_TEXT", "TOTALS",
           "Answer", "BadData", "Column", "Request", "Unclear", "Usage", "answer", "judge"]

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


# ---- records and values that are left out -------------------------------------------------------

class LeftOut:
    """What --invalid skip left out. values: {column: how many}, of the `present` ones, which are those not missing.
    records: {"ragged", "again", "condition" or "key K", K: the column: how many} of `all`. first: for each of these keys where the first is."""
    def __init__(self):
        self.values, self.present = collections.Counter(), collections.Counter()
        self.records, self.all, self.first = collections.Counter(), 0, {}
        self.currencies = {}  # the first one of each column: it is the column's

    def value(self, k, row):
        self.values[k] += 1
        self.first.setdefault(k, (row.file, row.lines[k]))

    def record(self, why, row):
        self.records[why] += 1
        self.first.setdefault(why, (row.file, row.line))

    def notes(self):
        out = [Note(n, place(*self.first[k])) for k, n in self.values.items()]
        return out + [Note(n, b"condition") if why == "condition" else Note(n, place(*self.first[why]))
                      for why, n in self.records.items()]

    def too_much(self, q):
        """The BadData that says so, or None."""
        columns = {k for k, n in self.values.items() if above(n, self.present[k], q.max_invalid)}
        records = sum(self.records.values())
        if above(records, self.all, q.max_invalid):
            columns.update(self.records)
        places = () if "condition" in columns else {self.first[key] for key in columns}
        return BadData("too much is left out", places, kind="left out") if columns else None


def place(file, line):
    return b"%s:%d:" % (file.encode(), line)


def above(n, present, limit):
    """Are n of `present` all of them, or more than --max-invalid says?"""
    return n > 0 and (n == present or (limit is not None and n > allowed_of(limit, present)))


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
        if not skips or (q.sums_up() and not q.ragged and row.shape != "again"):
            raise ragged(row)
        out.record("again" if row.shape == "again" else "ragged", row)
        return False, []
    truths = []
    for expr in ([where] if where else []) + offsets:
        holds, culprits = expr.truth(q, row)
        if holds is None and skips:
            out.record("condition", row)
            return False, []
        if holds is None:
            raise fault("text compared with a number", row, names, sorted(culprits))
        if expr is where and not holds:
            return False, []
        if expr is not where:
            truths.append(holds)
    nuls = [k for k in q.keys(names, len(row.fields)) if b"\0" in row.fields[k]]
    if nuls:
        if not skips:
            raise BadData("a NUL in a key", [(row.file, n) for n in row.lines])
        out.record("key %d" % nuls[0], row._replace(line=row.lines[nuls[0]]))
        return False, []
    return True, truths


def pairs_of(q, names, row, wanted, out):
    """wanted: {column: is it taken as numbers?} -> {column: pair, True for a text that counts, "missing", or None for a
    value that is left out}. Raises what is wrong with them."""
    pairs, wrong, kinds = {}, [], set()
    for k, as_number in wanted.items():
        field = row.fields[k]
        if q.is_missing(field):
            pairs[k] = "missing"
            continue
        out.present[k] += 1
        pairs[k], why = (True, None) if not as_number else value(q, field)
        if b"\0" in field:
            pairs[k], why = None, "NUL"
            if q.sums_up():
                raise Unclear("a NUL, in a summary")
        currency = q.notation.currency_of(field) if as_number and not why else None
        if currency and out.currencies.setdefault(k, currency) != currency:
            wrong.append(k)
            kinds.add(None)
        elif why and q.invalid == "skip":
            out.value(k, row)
        elif why:
            wrong.append(k)
            kinds.add({"out of range": "range", "NUL": "nul"}.get(why))
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


def answer(q, files, answer_of=None):
    """files: bytes (stdin) or pairs (name, decompressed bytes) -> Answer; Usage, BadData, Unclear.
    answer_of: what makes it of (names, chosen, records), as one_group(), which is the default."""
    files = [("<stdin>", files)] if isinstance(files, bytes) else files
    where = None if q.where is None else Expr(q.where)
    table = Table(q, [where] if where else [], files)
    if not table.ncolumns:
        no_column_0([where] if where else [])
        return of_nothing(q, table)
    names, n, needed = table.names, table.ncolumns, table.resolve()
    if q.sums_up() or q.asks_star():
        needed = set(range(n))
    rows, trouble = table.rows(needed)
    out = LeftOut()
    kept, trouble = kept_rows(q, names, rows, trouble, where, out)
    if q.sums_up():
        return summary(q, table, kept, trouble, out)
    if where and q.asks_star():
        _check_star(q, rows, kept, trouble)
    if where and not table.header and not kept:
        raise Unclear("nothing is left, and no header")
    return results(q, table, kept, trouble, out, answer_of or one_group)


def _check_star(q, rows, kept, trouble):
    if rows and not (kept and kept[0] is rows[0]) and any(
            not q.is_missing(f) and not q.is_number(f) for f in rows[0].fields):
        raise Unclear("does '*' mean a column where the first record has text, if that is not kept?")
    if trouble:
        raise Unclear("which columns does '*' mean before an error?")


def of_nothing(q, table):
    """The answer where there is no record at all: every column exists that is asked for."""
    if q.sums_up() and not table.nothing:
        raise Unclear("a summary of blank lines")
    if q.where is not None and not table.nothing:
        raise Unclear("a condition about blank lines")
    values = []
    for operation, columns in q.operations:
        if columns is None:
            values.append((b"records", str(blank_records(q, table))))
            continue
        if is_pair(operation, columns):
            for x, y in q.pairs(operation, columns):
                labels = label_of_nothing(*x), label_of_nothing(*y)
                values.append((title(operation, b"%s:%s" % labels), pair_answer(operation, [])))
            continue
        for _, text, quoted in Request([(operation, columns)]).items():
            if text == b"*":
                raise BadData("no numeric column")
            values.append((title(operation, label_of_nothing(text, quoted)), Column().answer(operation)))
    return Answer(values=values) if q.operations else Answer(
        rows=[], titles=oracle_judge.SUMMARY_ALL if q.everything else oracle_judge.SUMMARY)


def no_column_0(exprs):
    if any(position(c) == -1 for e in exprs for c, _ in e.uses):
        raise Usage("column 0")


def blank_records(q, table):
    """Blank lines are records where there is no column but the first."""
    labels = {label_of_nothing(text, quoted) for _, text, quoted in q.items()}
    if q.header == "yes" or not table.nothing and not all(re.match(rb"col[0-9]+\Z", label) for label in labels):
        raise Unclear("blank lines, and a header or names")
    return sum(len(rows) for rows in table.files) if labels <= {b"col1"} else 0


def label_of_nothing(text, quoted):
    m = re.match(rb"(?::|col)?([0-9]+)(-?)\Z", text)
    if quoted or not (is_position(text) or text.startswith(b":")):
        return text
    if m is None or m[1].startswith(b"0") or len(m[1]) > 6:
        raise Unclear("a range, or column 0, of nothing")
    return b"col" + m[1]


def title(operation, label):
    name, colon, part = operation.partition(":")
    return name.replace("-", "_").encode() + b"(" + label + (colon + part).encode() + b")"


def results(q, table, kept, trouble, out, answer_of):
    chosen, star = choose(q, table, kept)
    numeric = {k for o, ks in chosen if o not in TAKES_TEXT for k in columns_of(ks)} | star
    _check_counts(q, chosen, numeric, kept)
    wanted = {k: k in numeric for _, ks in chosen for k in columns_of(ks)}
    q.check(table, chosen, trouble or (q.asks_star() and not star))
    try:
        records = [(row, pairs_of(q, table.names, row, wanted, out)) for row in kept]
    except BadData as bad:
        if q.asks_star() and not star:
            raise BadData("a bad value, or no numeric column") from None
        raise bad
    if q.asks_star() and not star:
        raise BadData("no numeric column", kind=None if trouble or out.values or out.records else "no numbers")
    want = answer_of(q, table, chosen, records)
    bad = trouble or out.too_much(q)
    if bad:
        raise bad
    want.notes = out.notes() + header_notes(table)
    return want


def choose(q, table, kept):
    """-> ([(operation, column, pair of columns or None)] in the order of the results, the columns of '*')."""
    names, n, chosen = table.names, table.ncolumns, []
    star = {k for k, kind in enumerate(first_kinds(q, kept, n)) if kind == "number"} if q.asks_star() else set()
    star -= set(q.keys(names, n))
    for operation, columns in q.operations:
        if columns is None:
            chosen.append((operation, None))
            continue
        if is_pair(operation, columns):
            for x, y in q.pairs(operation, columns):
                k = tuple(resolve(text, quoted, names, n) for text, quoted in (x, y))
                if len(k[0]) != 1 or len(k[1]) != 1:
                    raise Usage("a side of a pair is one column")
                chosen.append((operation, (k[0][0], k[1][0])))
            continue
        for _, text, quoted in Request([(operation, columns)]).items():
            found = sorted(star) if text == b"*" else resolve(text, quoted, names, n)
            chosen += [(operation, k) for k in found]
    return chosen, star


def one_group(q, table, chosen, records):
    if q.matrix():
        columns = fill(q, chosen, records)
        return matrix(q.matrix(), table.names, sorted({k for _, k in chosen}), [pairs for _, pairs in records], columns)
    return Answer(values=values_of(q, table.names, chosen, records))


def values_of(q, names, chosen, records):
    """[(title, value)] of some records, pairs (row, what pairs_of() says of it)."""
    columns, pairs = fill(q, chosen, records), [pairs for _, pairs in records]
    return [(b"records", str(len(records))) if k is None else one_result(o, k, names, columns, pairs) for o, k in chosen]


def columns_of(chosen):
    """None, a column, or a pair of columns, as a tuple."""
    return () if chosen is None else chosen if isinstance(chosen, tuple) else (chosen,)


def one_result(operation, k, names, columns, records):
    if not isinstance(k, tuple):
        return title(operation, label_of(names, k)), columns[k].answer(operation)
    labels = label_of(names, k[0]), label_of(names, k[1])
    return title(operation, b"%s:%s" % labels), pair_answer(operation, both(records, *k))


def matrix(operation, names, star, records, columns):
    """A row and a column for each column of numbers."""
    rows = []
    for i in star:
        cells = [of_itself(operation, columns[i].values) if i == j else pair_answer(operation, both(records, i, j))
                 for j in star]
        rows.append([label_of(names, i)] + [(c or "").encode() for c in cells])
    return Answer(rows=rows, titles=["column"] + [label_of(names, k) for k in star], texts=1)


def first_kinds(q, rows, ncolumns):
    """number, text or empty for each column, by its first value that is not missing."""
    kinds = ["empty"] * ncolumns
    for row in rows:
        for k, field in enumerate(row.fields):
            if kinds[k] == "empty" and not q.is_missing(field):
                kinds[k] = "number" if q.is_number(field) else "text"
    return kinds


def _check_counts(q, chosen, numeric, kept):
    counted = {k for o, k in chosen if o in TAKES_TEXT} & numeric
    if (q.invalid == "skip" or q.asks_star()) and any(
            not q.is_missing(r.fields[k]) and not q.is_number(r.fields[k]) for k in counted for r in kept):
        raise Unclear("is a value that is no number counted?")


def fill(q, chosen, records):
    """-> {column: Column} of the records."""
    columns = {k: Column() for _, ks in chosen for k in columns_of(ks)}
    for row, pairs in records:
        for k, pair in pairs.items():
            _put(q, columns[k], pair, row.fields[k])
    return columns


def header_notes(table):
    """The summary takes a doubtful first record for the header, and says so."""
    return [Note(b"is taken for the header: say -N if it is data")] if table.known == "doubt" else []


# ---- the summary ----------------------------------------------------------------------------

def summary(q, table, rows, trouble, out):
    """At most a tenth of a column's values may be no numbers."""
    if trouble:
        raise trouble
    names, kinds, notes, lines = table.names, [], [], []
    for k in range(table.ncolumns):
        fields = [(r, r.fields[k]) for r in rows if not q.is_missing(r.fields[k])]
        bad = [(r, f) for r, f in fields if value(q, f)[1]]
        mixed = len({q.notation.currency_of(f) for _, f in fields if not value(q, f)[1]} - {None}) > 1
        kinds.append("empty" if not fields else "text" if mixed or len(bad) * 10 > len(fields) else "number")
        if bad and kinds[k] == "number":
            if q.max_invalid is not None and q.invalid == "skip" and len(bad) > allowed_of(q.max_invalid, len(fields)):
                raise BadData("too many values are left out", {(bad[0][0].file, bad[0][0].lines[k])}, kind="left out")
            notes.append(Note(len(bad), place(bad[0][0].file, bad[0][0].lines[k])))
    for k, kind in enumerate(kinds):
        column, invalid = Column(), 0
        for row in rows:
            field = row.fields[k]
            if kind == "number" and not q.is_missing(field) and value(q, field)[1]:
                invalid += 1
                continue
            for pair in pairs_of(q, names, row, {k: kind == "number"}, out).values():
                _put(q, column, pair, field)
        lines.append(_row(q, label_of(names, k), kind, column, invalid))
    if q.max_invalid is not None and sum(out.records.values()) > allowed_of(q.max_invalid, out.all):
        raise BadData("too many records are left out", kind="left out")
    titles = oracle_judge.SUMMARY_ALL if q.everything else oracle_judge.SUMMARY
    notes += ragged_notes(q, table) + out.notes() + delimiter_notes(q, table)
    others = header_notes(table)
    others = [Note(*n.words, optional=True) for n in others] if delimiter_notes(q, table) else others
    return Answer(rows=lines, titles=titles, notes=notes + others)


def _put(q, column, pair, field):
    if pair != "missing" and b"\0" not in field:
        column.raw.append(field)
        if pair is not None:
            column.keys[field] += 1
    if pair == "missing":
        column.missing += 1
    elif pair is True:
        column.add_text(field, value(q, field)[0])
    elif pair is not None:
        column.add(pair, field)


def _row(q, label, kind, column, invalid):
    if kind == "text":
        kind = oracle_texts.type_of(column.raw)
    cells = [label, kind.encode(), column.answer("count").encode(), b"%d" % column.missing]
    if "invalid" in oracle_judge.SUMMARY:
        cells.append(b"%d" % invalid)
    more = [column.answer("count-distinct").encode(), oracle_judge.as_cell(column.answer("mode"))] * q.everything
    if kind in ("number", "empty"):
        asked = ("sum", "min", "max", "mean") + (("stddev", "p25", "p50", "p75") if q.everything else ())
        return cells + [(column.answer(o) or "").encode() for o in asked] + [b"", b""] + more
    lengths = [len(v) for v in column.raw]
    return cells + [b"", column.answer("text-min"), column.answer("text-max"), b""] + [b""] * (4 * q.everything) + [
        b"%d" % min(lengths), b"%d" % max(lengths)] + more


def ragged_notes(q, table):
    """The summary takes ragged records and says how many there are, and where the first is."""
    if q.ragged or not table.tolerated:
        return []
    first = table.tolerated[0]
    return [Note(len(table.tolerated), place(first.file, first.line), b" too many or too few fields")]


def delimiter_notes(q, table):
    """The first record, and the one below it, as they stand: what quotes hold is no delimiter."""
    if table.ncolumns != 1 or q.dialect.delimiter is not None or q.dialect.whitespace or table.said:
        return []
    records = next(rows for rows in table.with_blanks if not all(r.blank for r in rows))
    first, second = (records[next(i for i, r in enumerate(records) if not r.blank):] + [None])[:2]
    there = [r.raw.strip(q.dialect.blanks(table.delimiter)) for r in (first, second) if r]
    outside, signs = [re.sub(rb'"[^"]*("|\Z)', b"", text) for text in there], {b";", b"\t", b"|"}
    if second and q.header != "no" and not second.blank and second.stray is None and not signs & {
            q.dialect.quote, q.dialect.escape, q.dialect.comment}:
        if any(outside[0].count(c) == outside[1].count(c) > 0 for c in signs):
            return [Note(b"-d")]
    return [Note(b"-d", optional=True)] if any(c in text for c in signs for text in there) else []


def judge(q, files):
    """A function for harness.agrees() that holds a Result against the model; or Unclear."""
    try:
        want = answer(q, files)
    except Usage as wrong:
        return oracle_judge.refusal(2, wrong)
    except BadData as bad:
        want = Answer(bad=bad)
    return oracle_judge.judge_of(want, q.format)
