# SPDX-License-Identifier: MIT
"""An independent model of what is computed of results: --agg, --share, --cumshare, --having and --sort (EXPRESSIONS OF RESULTS of
gpustat(1)). Expressions become the trees of oracle_let.py, over the results of oracle.py; a few forms of them, and of all others the
model says nothing. Groups are oracle_groups.py's."""
import copy
import re

import oracle
from oracle_let import Invalid, Number, add, evaluate, fraction, is_missing, plain, read, write
from oracle_request import COUNT_RECORDS, OPERATIONS
from oracle_text import Unclear, Usage

NAMES = {o.replace("-", "_"): o for o in OPERATIONS if ":" not in o}
FUNCTIONS = ("abs", "coalesce")
_TOKEN = re.compile(r"\s*(?:([0-9]+(?:[.][0-9]+)?(?:e[0-9]+)?)|([A-Za-z_][A-Za-z0-9_.]*)|`((?:[^`]|``)*)`|(<=|>=|<>|!=|==|[-+*/%()=<>,])|(:[0-9]+))")
WORDS = ("and", "or", "not", "is", "missing", "in", "like", "between", "contains")
COMPARE = {"=": lambda a, b: a == b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<>": lambda a, b: a != b,
           "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def tokens(text):
    """[(kind, text)]: number, word, name (in backquotes), sign, place."""
    text, out, at = text.decode("utf-8", "surrogateescape").rstrip(), [], 0
    while at < len(text):
        m = _TOKEN.match(text, at)
        if not m:
            raise Unclear("an expression of results that the model does not read")
        kind = ("number", "word", "name", "sign", "place")[m.lastindex - 1]
        out.append((kind, m[m.lastindex].replace("``", "`") if kind == "name" else m[m.lastindex]))
        at = m.end()
    return out + [("end", "")]


def truth_of(tree):
    """A tree as a condition: what it is of a record."""
    if tree[0] != "truth":
        raise Usage("a condition is needed")
    return tree[1][1]


class Parser:
    """uses: the aggregates, pairs (operation, COLS) in order; ("share", COLS) too."""
    def __init__(self, text, uses):
        self.tokens, self.at, self.uses = tokens(text), 0, uses

    def take(self, *signs):
        kind, text = self.tokens[self.at]
        if kind in ("sign", "word") and text.lower() in signs:
            self.at += 1
            return text.lower()
        return None

    def need(self, sign):
        if not self.take(sign):
            raise Unclear("an expression of results that the model does not read")

    def whole(self):
        tree = self.joined()
        if self.tokens[self.at][0] != "end":
            raise Unclear("an expression of results that the model does not read")
        return tree

    def joined(self, words=("or", "and")):
        deeper = (lambda: self.joined(words[1:])) if words[1:] else self.negated
        tree = deeper()
        while self.take(words[0]):
            a, b, decisive = truth_of(tree), truth_of(deeper()), words[0] == "or"
            tree = ("truth", ("", lambda r, a=a, b=b: decisive if decisive in (a(r), b(r)) else None if None in (a(r), b(r)) else not decisive))
        return tree

    def negated(self):
        if self.take("not"):
            of = truth_of(self.negated())
            return ("truth", ("", lambda r: None if of(r) is None else not of(r)))
        return self.comparison()

    def comparison(self):
        a = self.sum()
        if self.take("is"):
            negative = self.take("not")
            self.need("missing")
            return ("truth", ("", lambda r: is_missing(evaluate(a, r)) != bool(negative)))
        sign = self.take(*COMPARE)
        if not sign:
            return a
        b = self.sum()

        def holds(r):
            x, y = evaluate(a, r), evaluate(b, r)
            if is_missing(x) or is_missing(y):
                return None
            if not (isinstance(x, Number) and isinstance(y, Number)):
                raise Unclear("texts that are compared")
            return COMPARE[sign](*(fraction(read(plain(write(v)))) for v in (x, y)))    # as printed
        return ("truth", ("", holds))

    def sum(self):
        tree = self.product()
        while sign := self.take("+", "-"):
            tree = (sign, tree, self.product())
        return tree

    def product(self):
        tree = self.factor()
        while sign := self.take("*", "/", "%"):
            tree = (sign, tree, self.factor())
        return tree

    def factor(self):
        if self.take("-"):
            return ("neg", self.factor())
        if self.take("("):
            tree = self.joined()
            self.need(")")
            return tree
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return ("number", text)
        if kind == "word" and self.tokens[self.at] == ("sign", "("):
            self.at += 1
            return self.call(text.lower())
        if kind not in ("word", "name") or (kind == "word" and text.lower() in WORDS):
            raise Unclear("an expression of results that the model does not read")
        return ("column", text.encode("utf-8", "surrogateescape"))

    def call(self, name):
        if name == "round":
            x = self.joined()
            self.need(",")
            n = int(self.tokens[self.at][1])
            self.at += 1
            self.need(")")
            return ("round", x, n)
        if name in FUNCTIONS:
            first, rest = self.joined(), []
            while self.take(","):
                rest.append(self.joined())
            self.need(")")
            return (name, first, *rest)
        if name == "count" and self.take(")"):
            return self.aggregate(COUNT_RECORDS, None)
        kind, text = self.tokens[self.at]
        if (name not in NAMES and name not in ("mean", "share")) or kind not in ("word", "name", "place") or self.tokens[self.at + 1] != ("sign", ")"):
            raise Unclear("an expression of results that the model does not read")
        self.at += 2
        columns = text.encode("utf-8", "surrogateescape")
        if kind == "name":
            columns = b'"' + columns.replace(b'"', b'""') + b'"'
        if name == "mean":
            return ("/", self.aggregate("sum", columns), self.aggregate("count", columns))
        if name == "share":
            return self.share(columns)
        return self.aggregate(NAMES.get(name, name), columns)

    def share(self, columns):
        place = self.aggregate("sum", columns)[1]
        return ("/", ("column", place), ("column", ("total", place)))

    def aggregate(self, operation, columns):
        if (operation, columns) not in self.uses:
            self.uses.append((operation, columns))
        return ("column", self.uses.index((operation, columns)))


class Finish:
    """layout: in the order of the command line ("operation", None), ("agg", text) or ("share" or "cumshare", COLS). sort: its items. hidden:
    the operations that are needed besides."""
    def __init__(self, layout, having, sort):
        self.hidden, self.layout, self.sort = [], [], []
        for kind, text in layout:
            if kind == "agg":
                m = re.match(rb"\s*(?:([A-Za-z_][A-Za-z0-9_.]*)|`((?:[^`]|``)*)`)\s*=(?!=)(.*)\Z", text, re.S)
                name = text if not m else m[1] if m[1] is not None else m[2].replace(b"``", b"`")
                self.layout.append((kind, name, Parser(m[3] if m else text, self.hidden).whole()))
            elif kind == "operation":
                self.layout.append((kind, None, None))
            else:
                if re.search(rb'[",*:-]', text) or re.fullmatch(rb"[0-9]+", text):
                    raise Unclear("a share of several columns, or of one with an odd name")
                self.layout.append((kind, text, Parser(b"0", self.hidden).share(text)))
        self.having = None if having is None else truth_of(Parser(having, self.hidden).whole())
        for item in [] if sort is None else split(sort):
            item = item.lstrip(b" \t")
            try:
                tree = Parser(item.removeprefix(b"-"), self.hidden).whole()
            except (Unclear, Usage) as why:
                tree = why
            self.sort.append((item.startswith(b"-"), item.removeprefix(b"-"), tree))
        names = [name for kind, name, _ in self.layout if kind == "agg"]
        if len(set(names)) < len(names):
            raise Usage("two results of one name")


def names(tree):
    """Does it have a name?"""
    return isinstance(tree, tuple) and (tree[0] in ("column", "truth") or any(map(names, tree[1:])))


def split(text):
    """At commas outside parentheses and backquotes."""
    out, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        quoted ^= c == 0x60
        depth += 0 if quoted else (c == 0x28) - (c == 0x29)
        if c == 0x2C and depth == 0 and not quoted:
            out.append(text[start:i])
            start = i + 1
    return out + [text[start:]]


# ---- rows -----------------------------------------------------------------------------------

class Row:
    """A group: the cells that are printed, which of them are texts, its hidden results, and what names mean."""
    def __init__(self, nkeys, cells, texts):
        self.cells, self.texts, self.nkeys = cells, texts, nkeys
        self.record = {}


def value_of(q, cell):
    if b'"' in cell or b"," in cell:
        raise Unclear("a text that is computed with")
    return None if not cell or q.is_missing(cell) else cell


def number_of(cell):
    return read(cell) if cell else None


def compute(tree, record):
    if tree[0] == "truth":
        raise Unclear("a condition as a value")
    try:
        return evaluate(tree, record)
    except Invalid:
        raise Unclear("a result that is no number, or beyond the range") from None
    except KeyError as name:
        raise Usage("no result of this name: %r" % name.args[0]) from None


def spell(value):
    """-> (cell, is it a text?)"""
    if is_missing(value):
        return b"", False
    if isinstance(value, Number):
        return write(value), False
    raise Unclear("a text that is computed")


def counts_of(q, table, operations):
    """How many results each has."""
    out = []
    for operation in operations:
        one = copy.copy(q)
        one.operations = [operation]
        out.append(len(oracle.choose(one, table, [])[0]))
    return out


def finish(q, table, rows, titles, nkeys, shown, in_order, column_of_sort, chosen):
    """rows: (cells, texts) of each group, its results and the hidden ones. -> (titles, rows) that are printed."""
    f = q.finish
    if q.asks_star() or q.matrix() or not q.notation.plain:
        raise Unclear("'*', or numbers in a notation, where results are computed")
    counts = counts_of(q, table, q.operations[:shown])
    nshown, nhidden = sum(counts), len(f.hidden)
    columns, heads, at, nth = [], list(titles[:nkeys]), nkeys, 0        # of the layout: where a result is, or a tree
    for kind, name, tree in f.layout:
        if kind == "operation":
            columns += [("cell", i, None) for i in range(at, at + counts[nth])]
            heads += titles[at:at + counts[nth]]
            at, nth = at + counts[nth], nth + 1
        else:
            columns.append((kind, name, tree))
            label = table_label(table, name) if kind != "agg" else None
            heads.append(name if kind == "agg" else kind.encode() + b"(" + label + b")")
    made = [Row(nkeys, cells, texts) for cells, texts in rows]
    totals = {}
    for row in made:
        for i in range(nhidden):
            cell = row.cells[nkeys + nshown + i]
            row.record[i] = value_of(q, cell) if f.hidden[i][0] in ("first", "last", "mode", "antimode", "text-min", "text-max") else number_of(cell)
            if f.hidden[i][0] == "sum":
                totals[i] = add(totals[i], row.record[i]) if i in totals else row.record[i]
    for row in made:
        row.record.update({("total", i): total for i, total in totals.items()})
        cells = {k: v for k, v in reversed(list(zip(titles[:nkeys], [value_of(q, c) for c in row.cells[:nkeys]])))}
        names = {}
        row.out, row.is_text = list(row.cells[:nkeys]), list(row.texts[:nkeys])
        for (kind, i, tree), head in zip(columns, heads[nkeys:]):
            if kind == "cell":
                row.out.append(row.cells[i])
                row.is_text.append(row.texts[i])
                names.setdefault(head, value_of(q, row.cells[i]) if row.texts[i] else number_of(row.cells[i]))
        for (kind, _, tree), head, place in zip(columns, heads[nkeys:], range(nkeys, nkeys + len(columns))):
            if kind == "cell":
                continue
            record = dict(cells)
            record.update(row.record)
            record.update(names)
            value = compute(tree, record) if kind != "cumshare" else None
            cell, is_text = spell(value)
            row.out.insert(place, cell)
            row.is_text.insert(place, is_text)
            names.setdefault(head, Invalid("known when the order is") if kind == "cumshare" else value)
        row.names = dict(cells)
        row.names.update(row.record)
        row.names.update(names)
    made = [row for row in made if f.having is None or having(f.having, row.names)]
    made = sort(q, made, heads, columns, nkeys, in_order, column_of_sort, chosen)[:q.top]
    accumulate(made, columns, nkeys)
    return heads, made


def having(of, record):
    try:
        return of(record) is True
    except Invalid:
        raise Unclear("a result that is no number, or beyond the range") from None
    except KeyError as name:
        raise Usage("no result of this name: %r" % name.args[0]) from None


def table_label(table, name):
    return oracle.label_of(table.names, oracle.resolve(name, False, table.names, table.ncolumns)[0])


def accumulate(rows, columns, nkeys):
    so_far = {}
    for row in rows:
        for place, (kind, _, tree) in enumerate(columns, nkeys):
            if kind == "cumshare":
                part, total = tree[1][1], tree[2][1]
                so_far[place] = add(so_far[place], row.record[part]) if place in so_far else row.record[part]
                row.out[place] = spell(evaluate(("/", ("column", 0), ("column", 1)), {0: so_far[place], 1: row.record[total]}))[0]


def sort(q, rows, heads, columns, nkeys, in_order, column_of_sort, chosen):
    """By what --sort names, or the first result with --top alone."""
    f = q.finish
    at = iter(chosen)
    asked = [next(at) if kind == "cell" else (kind, None) for kind, _, _ in columns]
    if any(kind == "cumshare" for kind, _, _ in columns) and (f.sort or q.top is not None):
        raise Unclear("an order, and cumulative shares")
    plain_heads = heads[:nkeys] + [b"" if kind == "share" else head for head, (kind, _, _) in zip(heads[nkeys:], columns)]

    def place(text):
        one = copy.copy(q)
        one.sort = text
        if text in heads[nkeys:]:
            return nkeys + heads[nkeys:].index(text)
        return column_of_sort(one, plain_heads, nkeys, asked)

    pairs = [(row.out, row) for row in rows]
    if q.sort is None:
        return [row for _, row in (in_order(q, nkeys, True, pairs, nkeys, asked) if q.top is not None else pairs)]
    try:
        keys = [(q.sort.startswith(b"-"), place(q.sort.removeprefix(b"-")))]
    except Usage:
        keys = []
    for descending, text, tree in f.sort if not keys else []:
        try:
            keys.append((descending, place(text)))
        except Usage:
            if isinstance(tree, Unclear):
                raise tree from None
            if isinstance(tree, Exception) or not names(tree) or (tree[0] == "column" and not isinstance(tree[1], int) and not text.startswith(b"`")):
                raise
            keys.append((descending, tree))
    for descending, key in reversed(keys):
        if isinstance(key, int):
            pairs = in_order(q, key, descending, pairs, nkeys, asked)
            continue
        cells = [([b""] * nkeys + [spell(compute(key, row.names))[0]], row) for _, row in pairs]
        pairs = [(row.out, row) for _, row in in_order(q, nkeys, descending, cells, nkeys, [("agg", None)])]
    return [row for _, row in pairs]
