# SPDX-License-Identifier: MIT
"""An independent model of groups by key (--by): dictionaries of records, each answered by itself.

Results are those of oracle.py, over the records of one group; running columns are those of oracle_scan.py, which keeps
a state for each key. What is here: the request, the rows with their keys, --sort and --top. A GroupAnswer knows which
cells are texts, so JSON is compared by type, too.
"""
import decimal
import json
import re

import oracle
import oracle_finish
import oracle_judge
import oracle_scan
from oracle import label_of, values_of
from oracle_judge import Answer, as_cell, json_names
from oracle_notation import PLAIN
from oracle_request import BY, COUNT_RECORDS, as_bytes
from oracle_scan import Scan
from oracle_text import BadData, Unclear, Usage, in_json, is_utf8, strip


class Groups(Scan):
    """by: COLS. sort: [-]RESULT or None. top: a number or None. finish: what is computed of results (oracle_finish.py), or None. No news
    and no operations: the records are counted."""
    def __init__(self, by, sort=None, top=None, news=(), operations=(), finish=None, **others):
        self.alone = not news and not operations and (finish is None or not finish.layout)
        self.shown = len(operations) + self.alone
        operations = [(COUNT_RECORDS, None)] if self.alone else list(operations)
        super().__init__(news, operations=operations + (finish.hidden if finish else []), **others)
        self.by, self.sort, self.top, self.finish = as_bytes(by), as_bytes(sort), top, finish
        if self.alone and finish:
            finish.layout = [("operation", None, None)]

    def columns_asked(self):
        return super().columns_asked() + [(BY, self.by)]

    def check(self, table, chosen, trouble):
        keys = self.keys(table.names, table.ncolumns)
        try:
            if self.sort is not None and not self.finish:
                column_of_sort(self, titles_of(self, table.names, keys, chosen), len(keys), chosen)
        except Usage:
            if trouble:
                raise Unclear("which of two errors comes first") from None
            raise

    def args(self):
        out = [arg for arg in super().args() if not self.alone or arg != b"--count-records"] + [b"--by=" + self.by]
        if self.sort is not None:
            out.append(b"--sort=" + self.sort)
        return out + ([] if self.top is None else [b"--top=%d" % self.top])


class Number(str):
    """A number of JSON, as it is spelled."""


class GroupAnswer(Answer):
    """rows: lists of bytes; texts: of each row, which cells are texts. titles: bytes."""
    def __init__(self, titles, rows, texts):
        super().__init__(rows=rows, titles=titles)
        self.texts = texts

    def is_shown(self, format):
        return self.out is None and format == "table"

    def text(self, format):
        delimiter = b"," if format in ("auto", "csv") else b"\t"
        table = self.rows if format == "plain" else [self.titles] + self.rows
        return b"".join(oracle_judge.line(row, delimiter) for row in table)

    def matches_json(self, out):
        got = json.loads(out.decode("utf-8"), object_pairs_hook=list, parse_float=Number, parse_int=Number)
        names = json_names(self.titles)
        want = [list(zip(names, map(_in_json, row, texts))) for row, texts in zip(self.rows, self.texts)]
        return got == want and all(type(a[1]) is type(b[1]) for x, y in zip(got, want) for a, b in zip(x, y))

    def lost_in_table(self, out):
        """A table for people leaves out columns without any value."""
        seen = out.decode("utf-8", "replace")
        titles = [title for k, title in enumerate(self.titles) if any(row[k] for row in self.rows)]
        cells = [c.decode() for row in [titles] + self.rows for c in row if is_utf8(c)]
        return [c for c in cells if c.isprintable() and c not in seen and oracle_judge._cut(c) not in seen]


def _in_json(cell, is_text):
    """None for a result without a value; an empty key is a text."""
    if is_text:
        return in_json(cell)
    return Number(in_json(cell)) if cell else None


# ---- the order ------------------------------------------------------------------------------

def column_of_sort(q, titles, nkeys, chosen):
    """Which column of the rows --sort names; Usage."""
    name = q.sort[1:] if q.sort.startswith(b"-") else q.sort
    found = [k for k, title in enumerate(titles) if title == name]
    if found and found[0] < nkeys <= found[-1]:
        raise Unclear("a key column that is called as a result is")
    if found:
        return found[0]
    if q.alone and name in (b"records", b"count-records"):
        raise Unclear("an operation that was not asked for")
    if q.asks_star():
        raise Unclear("what '*' means is known at the end")
    operations = [nkeys + i for i, (operation, _) in enumerate(chosen)
                  if name in (operation.partition(":")[0].encode(), operation.partition(":")[0].replace("-", "_").encode())
                  or (operation == COUNT_RECORDS and name == b"records")]
    if not operations:
        operations = [k for k, title in enumerate(titles) if k >= nkeys and title.endswith(b"(" + name + b")")
                      and title.find(b"(") == len(title) - len(name) - 2]
    if len(operations) != 1:
        raise Usage("--sort: none, or several: %r" % name)
    return operations[0]


def rank(notation, cell):
    """What a cell that is not empty is sorted by: numbers, of any magnitude, then texts."""
    if not notation.is_number(cell):
        return 1, cell
    if strip(cell) != cell:
        raise Unclear("are blanks around a number part of what is sorted?")
    if notation.plain:
        return 0, decimal.Decimal(cell.decode())
    try:
        return 0, notation.number(cell)[0]
    except BadData:
        raise Unclear("sorted by numbers beyond the range") from None


SPELLED = ("first", "last", "mode", "antimode", "text-min", "text-max")    # values of the input, in its notation


def in_order(q, column, descending, rows, nkeys, chosen):
    """rows: pairs whose first is the list of cells. sorted() is stable in both directions."""
    is_spelled = column < nkeys or chosen[column - nkeys][0] in SPELLED
    full, empty = [r for r in rows if r[0][column]], [r for r in rows if not r[0][column]]
    return sorted(full, key=lambda r: rank(q.notation if is_spelled else PLAIN, r[0][column]), reverse=descending) + empty


# ---- results --------------------------------------------------------------------------------

def by_key(keys, records):
    """{values of the key columns: records}, by first appearance."""
    groups = {}
    for row, pairs in records:
        groups.setdefault(tuple(row.fields[k] for k in keys), []).append((row, pairs))
    return groups


JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?")


def is_text(operation, k, columns, whole):
    """Is this result a text, a number of a column that has texts, or one that is spelled otherwise than in JSON, and so a
    string there? columns: of the group; whole: of all groups."""
    column = columns.get(k)
    if operation in ("first", "last"):
        return (not all(pair for _, pair in whole[k].spelled)
                or not JSON_NUMBER.fullmatch(column.answer(operation)))
    return operation in ("mode", "antimode", "text-min", "text-max") and bool(column.raw)


def row_of(q, names, chosen, key, records, whole):
    """-> (cells, which of them are texts)."""
    columns = oracle.fill(q, chosen, records)
    values = [as_cell(value) for _, value in values_of(q, names, chosen, records)]
    texts = [value != b"" and is_text(operation, k, columns, whole) for (operation, k), value in zip(chosen, values)]
    return [*key, *values], [True] * len(key) + texts


def titles_of(q, names, keys, chosen):
    titles = [title for title, _ in values_of(q, names, chosen, [])]
    if q.alone:
        titles[0] = b"count"
    return [label_of(names, k) for k in keys] + titles


def results(q, table, chosen, records):
    keys = q.keys(table.names, table.ncolumns)
    titles = titles_of(q, table.names, keys, chosen)
    sorts = None if q.sort is None or q.finish else column_of_sort(q, titles, len(keys), chosen)
    whole = oracle.fill(q, chosen, records)
    rows = [row_of(q, table.names, chosen, key, group, whole) for key, group in by_key(keys, records).items()]
    if q.finish:
        titles, rows = oracle_finish.finish(q, table, rows, titles, len(keys), q.shown, in_order, column_of_sort, chosen)
        return GroupAnswer(titles, [row.out for row in rows], [row.is_text for row in rows])
    if sorts is not None:
        rows = in_order(q, sorts, q.sort.startswith(b"-"), rows, len(keys), chosen)
    elif q.top is not None:
        rows = in_order(q, len(keys), True, rows, len(keys), chosen)
    rows = rows[:q.top]
    return GroupAnswer(titles, [cells for cells, _ in rows], [texts for _, texts in rows])


def of_nothing(q, want):
    """want: the results of no record, where there is no column either."""
    if q.finish:
        raise Unclear("what is computed of no result")
    keys = [oracle.label_of_nothing(text, quoted) for operation, text, quoted in q.items() if operation == BY]
    if any(key == b"*" for key in keys):
        raise Usage("--by '*'")
    titles = [title for title, _ in want.values]
    chosen = [(re.match(rb"[a-z0-9_.]+", title)[0].decode().replace("_", "-"), None) for title in titles]
    titles = keys + ([b"count"] if q.alone else titles)
    if q.sort is not None:
        column_of_sort(q, titles, len(keys), chosen)
    return GroupAnswer(titles, [], [])


def answer(q, files):
    """files: bytes (stdin) or pairs (name, decompressed bytes) -> Answer; Usage, Unclear."""
    if q.news:
        return oracle_scan.answer(q, files)
    try:
        want = oracle.answer(q, files, results)
    except BadData as bad:
        if q.sort is not None and q.asks_star():
            raise Unclear("which of two errors comes first") from None
        return Answer(bad=bad)
    if isinstance(want, GroupAnswer):
        return want
    data = files if isinstance(files, bytes) else b"".join(data for _, data in files)
    if data not in (b"", b"\xef\xbb\xbf"):
        raise Unclear("groups of blank lines")
    return of_nothing(q, want)


def judge(q, files):
    """A function for harness.agrees() that holds a Result against the model; or Unclear."""
    try:
        want = answer(q, files)
    except Usage as wrong:
        return oracle_judge.refusal(2, wrong)
    return oracle_judge.judge_of(want, q.format)
