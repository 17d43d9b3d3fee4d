# SPDX-License-Identifier: MIT
"""An independent model of EXPR, the language of --where and --offsets.

Written from the grammar. The truth of a condition is a pair (least, most): a field that is no number
is an error only if it leaves open whether the whole condition is true.
"""
import collections
import re

from oracle_let import Invalid, epoch, fraction
from oracle_text import BadData, Unclear, Usage, number

FALSE, UNKNOWN, TRUE = 0, 1, 2


# ---- EXPR: text to tree ---------------------------------------------------------------------

_WORD = rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*"
_TOKEN = re.compile(rb"""[ \t\r\n]*(?:
    (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.\x80-\xff])
  | (?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*')
  | (?P<name>`(?:[^`]|``)*`)
  | (?P<position>:[0-9]+)(?![A-Za-z0-9_\x80-\xff])
  | (?P<word>""" + _WORD + rb""")
  | (?P<sign>==|!~|!=|<=|>=|&&|\|\||[=<>!(),~])
  | (?P<end>\Z))""", re.X)
_KEYWORDS = {b"and": b"and", b"&&": b"and", b"or": b"or", b"||": b"or", b"not": b"not",
             b"!": b"not", b"is": b"is", b"missing": b"missing"}
_SIGNS = {b"=": "eq", b"==": "eq", b"!=": "ne", b"<": "lt", b"<=": "le", b">": "gt", b">=": "ge"}
_HOLDS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
          "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}

Column = collections.namedtuple("Column", "text quoted")        # as written; `quoted` names only
Test = collections.namedtuple("Test", "sign left right")        # a side: Column, bytes or Decimal
Missing = collections.namedtuple("Missing", "column")
Number = collections.namedtuple("Number", "column")             # is it one?
Match = collections.namedtuple("Match", "column pattern")       # in Python's spelling
Part = collections.namedtuple("Part", "where column text")      # contains, starts, ends
Not = collections.namedtuple("Not", "what")
Both = collections.namedtuple("Both", "all")
Either = collections.namedtuple("Either", "all")


def tokens(text):
    out, at = [], 0
    while True:
        m = _TOKEN.match(text, at)
        if not m:
            raise Usage("unexpected character at %d of %r" % (at, text))
        kind, word, at = m.lastgroup, m[m.lastgroup], m.end()
        if kind in ("word", "sign") and word.lower() in _KEYWORDS:
            kind, word = "keyword", _KEYWORDS[word.lower()]
        out.append((kind, word))
        if kind == "end":
            return out


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def takes(self, *wanted):
        if self.tokens[self.at] in wanted:
            return self.next()
        return None

    def whole(self):
        tree = self.expression()
        if self.tokens[self.at][0] != "end":
            raise Usage("expected the end")
        return tree

    def expression(self):
        parts = [self.conjunction()]
        while self.takes(("keyword", b"or")):
            parts.append(self.conjunction())
        return Either(parts)

    def conjunction(self):
        parts = [self.negation()]
        while self.takes(("keyword", b"and")):
            parts.append(self.negation())
        return Both(parts)

    def negation(self):
        if self.takes(("keyword", b"not")):
            return Not(self.negation())
        if self.takes(("sign", b"(")):
            tree = self.expression()
            if not self.takes(("sign", b")")):
                raise Usage("expected )")
            return tree
        return self.comparison()

    def operand(self):
        kind, word = self.next()
        if kind == "number":
            try:
                return number(word)[0]
            except BadData:
                raise Usage("a literal beyond the range") from None
        if kind == "string":
            quote = word[:1]
            text = word[1:-1].replace(quote * 2, quote)
            if not text:
                raise Usage("an empty string")
            return text
        if kind == "name":
            return Column(word[1:-1].replace(b"``", b"`"), True)
        if kind in ("position", "word"):
            return Column(word, False)
        raise Usage("expected an operand, not %r" % word)

    def word(self, *wanted):
        """Takes a word that has a meaning only here; returns it in lower case, or None."""
        kind, word = self.tokens[self.at]
        if kind == "word" and word.lower() in wanted:
            self.at += 1
            return word.lower()
        return None

    def test(self, sign, left, right):
        if not isinstance(left, Column) and not isinstance(right, Column):
            raise Usage("no column in a comparison")
        return Test(sign, left, right)

    def comparison(self):
        left = self.operand()
        if self.takes(("keyword", b"is")):
            return self.behind_is(left)
        kind, word = self.tokens[self.at]
        if kind == "sign" and word in _SIGNS:
            self.next()
            return self.test(_SIGNS[word], left, self.operand())
        if not isinstance(left, Column):
            raise Usage("expected a comparison")
        if kind == "sign" and word in (b"~", b"!~"):
            self.next()
            return Not(self.match(left)) if word == b"!~" else self.match(left)
        negative = self.takes(("keyword", b"not"))
        tree = self.behind_word(left)
        return Not(tree) if negative else tree

    def match(self, left):
        if self.tokens[self.at][0] != "string":
            raise Usage("expected a string")
        try:
            pattern = self.operand().decode().replace("$", r"\Z")   # where it is the sign, as models are asked
            return Match(left, re.compile(pattern, re.DOTALL | re.ASCII))
        except (re.error, UnicodeDecodeError):
            raise Usage("no regular expression") from None

    def behind_is(self, left):
        negative = self.takes(("keyword", b"not"))
        if not isinstance(left, Column):
            raise Usage("expected: column is ...")
        if self.word(b"number"):
            tree = Number(left)
        elif self.takes(("keyword", b"missing")):
            tree = Missing(left)
        else:
            raise Usage("expected: missing, number")
        return Not(tree) if negative else tree

    def behind_word(self, left):
        word = self.word(b"in", b"between", b"contains", b"starts", b"ends")
        if word == b"in":
            if not self.takes(("sign", b"(")):
                raise Usage("expected (")
            values = [self.operand()]
            while self.takes(("sign", b",")):
                values.append(self.operand())
            if not self.takes(("sign", b")")):
                raise Usage("expected )")
            return Either([Test("eq", left, value) for value in values])
        if word == b"between":
            least = self.operand()
            if not self.takes(("keyword", b"and")):
                raise Usage("expected and")
            return Both([Test("ge", left, least), Test("le", left, self.operand())])
        if word is None or (word != b"contains" and not self.word(b"with")):
            raise Usage("expected a comparison")
        if self.tokens[self.at][0] != "string":
            raise Usage("expected a string")
        return Part(word, left, self.operand())


# ---- EXPR: tree and record to truth ---------------------------------------------------------

def tests_of(tree):
    if isinstance(tree, Not):
        return tests_of(tree.what)
    if isinstance(tree, (Both, Either)):
        return [t for part in tree.all for t in tests_of(part)]
    return [tree]


class Expr:
    """A condition. After resolve() it can be asked about records."""
    def __init__(self, text):
        self.text = text if isinstance(text, bytes) else text.encode()
        self.tree = Parser(self.text).whole()
        self.uses = []                                  # (Column, is it compared as a number?)
        for test in tests_of(self.tree):
            sides = [test.left, test.right] if isinstance(test, Test) else [test.column]
            for side in sides:
                if isinstance(side, Column):
                    self.uses.append((side, isinstance(test, Test) and
                                      not any(isinstance(s, bytes) for s in sides)))

    def items(self):
        """Its columns, as (text, quoted?)."""
        return [(c.text, c.quoted) for c, _ in self.uses]

    def resolve(self, names, ncolumns):
        self.fields = {}
        for c, _ in self.uses:
            by_position = not c.quoted and c.text.startswith(b":")
            if names is not None and not by_position and c.text in names:
                if names.count(c.text) > 1:
                    raise Usage("ambiguous name %r" % c.text)
                self.fields[c] = names.index(c.text)
                continue
            k = position(c)
            if k is None or not 0 <= k < ncolumns:
                raise Usage("unknown column %r" % c.text)
            self.fields[c] = k

    def needs(self):
        return set(self.fields.values())

    def truth(self, q, row):
        """-> (does it hold?, fields that make this undecidable)."""
        least, most, culprits = self._range(self.tree, q, row.fields)
        if least < TRUE and most == TRUE:
            return None, culprits
        return least == TRUE, set()

    def _range(self, tree, q, fields):
        if isinstance(tree, Not):
            least, most, culprits = self._range(tree.what, q, fields)
            return TRUE - most, TRUE - least, culprits
        if isinstance(tree, (Both, Either)):
            pick = min if isinstance(tree, Both) else max
            parts = [self._range(part, q, fields) for part in tree.all]
            least, most = pick(p[0] for p in parts), pick(p[1] for p in parts)
            if least == most:
                return least, most, set()
            return least, most, set().union(*(p[2] for p in parts))
        if isinstance(tree, Missing):
            truth = TRUE if q.is_missing(fields[self.fields[tree.column]]) else FALSE
            return truth, truth, set()
        if isinstance(tree, (Number, Part, Match)):
            field = fields[self.fields[tree.column]]
            truth = UNKNOWN if q.is_missing(field) else TRUE if holds(tree, q, field) else FALSE
            return truth, truth, set()
        return self._compare(tree, q, fields)

    def _compare(self, test, q, fields):
        sides = [test.left, test.right]
        chosen = [self.fields[s] for s in sides if isinstance(s, Column)]
        if any(q.is_missing(fields[k]) for k in chosen):
            return UNKNOWN, UNKNOWN, set()
        if len(chosen) == 2:
            return self._compare_columns(test.sign, q, chosen, [fields[k] for k in chosen])
        values, culprits = [], set()
        for side in sides:
            if not isinstance(side, Column):
                values.append(side)
            elif any(isinstance(s, bytes) for s in sides):
                values.append(fields[self.fields[side]])
            else:
                values.append(value_of(q, fields[self.fields[side]]))
                if values[-1] is None:
                    culprits.add(self.fields[side])
        if culprits:
            return FALSE, TRUE, culprits
        truth = TRUE if _HOLDS[test.sign](*values) else FALSE
        return truth, truth, set()

    def _compare_columns(self, sign, q, columns, texts):
        values = [value_of(q, text) for text in texts]
        kinds = {TEXT if is_text(q, t) else NUMERIC if v is not None else BEYOND for v, t in zip(values, texts)}
        if kinds == {TEXT}:
            values = times_of(texts) or texts
            if values is texts and sign not in ("eq", "ne") and any(_LIKE_NUMBER.match(t) for t in texts):
                return FALSE, TRUE, {k for k in columns}
        elif kinds != {NUMERIC}:
            return FALSE, TRUE, {k for k, v in zip(columns, values) if v is None}
        truth = TRUE if _HOLDS[sign](*values) else FALSE
        return truth, truth, set()


TEXT, NUMERIC, BEYOND = range(3)
_LIKE_NUMBER = re.compile(rb"[ \t]*[-+.,($#']*[\x80-\xff]{0,4}[0-9]")


def is_text(q, field):
    try:
        return q.number(field) is None
    except BadData:
        return False


def times_of(texts):
    """Two texts as times, if both are."""
    try:
        return [fraction(epoch(t)) for t in texts]
    except Invalid:
        return None


def holds(tree, q, field):
    """Of a field that is not missing."""
    if isinstance(tree, Number):
        return value_of(q, field) is not None
    if isinstance(tree, Match):
        try:
            return tree.pattern.search(field.decode()) is not None
        except UnicodeDecodeError:
            raise Unclear("a regular expression on a text that is not UTF-8") from None
    if tree.where == b"contains":
        return tree.text in field
    return field.startswith(tree.text) if tree.where == b"starts" else field.endswith(tree.text)


def value_of(q, field):
    try:
        pair = q.number(field)
    except BadData:
        return None
    return pair and pair[0]


def position(column):
    """The 0-based column that is meant if it is no name; None for a word that is only a name."""
    m = None if column.quoted else re.match(rb"(?::|col)([0-9]+)\Z", column.text)
    return int(m[1]) - 1 if m else None
