# SPDX-License-Identifier: MIT
"""Random command lines over a hostile table, the same for the same state of rng.

The options come from the program's own table, src/query/options.def, so a new row is drawn without an edit here: its
argument is made by what --help calls it (COLS, EXPR, N, ...) and, where that says too little, by its name. Which
options go together is found by trial, see Goes.
"""
import collections
import itertools
import random
import re

import harness
import hostile
import oracle_command
import oracle_window
from hostile_dialect import DIALECT, NOTATION
from oracle_order import PERCENTILES
from oracle_pair import SYMMETRIC

BARE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = (b"and", b"or", b"not", b"is", b"missing")
KINDS = ("small", "small", "int", "decimal", "edge", "zeros", "exponent", "wide")
PATTERNS = True     # whether the program has regular expressions: a test may set it


# ---- the options ------------------------------------------------------------------------------

# kind: of an operation, else None. letter: of the short form, or "". words: the arguments there are, or ().
Option = collections.namedtuple("Option", "name kind argument words title letter")


def _rows(text):
    """The macro calls of a table: (macro, what is in it: words, and strings with their quotes)."""
    for m in re.finditer(r"^(OPERATION|OPTION)\(", text, re.M):
        tokens = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[\w|~ .]+(?:\(\w+\))?|,|\))")
        at, out = m.end(), []
        while True:
            token = tokens.match(text, at)
            at = token.end()
            if token[1] == ")":
                break
            out.append(token[1])
        yield m[1], out


def read_options():
    """{name: Option} of all options but those that only tell about the program."""
    with open(harness.source("src", "query", "options.def"), encoding="utf-8") as f:
        text = f.read()
    options = {}
    for macro, tokens in _rows(text[text.index("\nGROUP("):]):
        strings = [t[1:-1] for t in tokens if t[0] == '"']
        name, argument, third = strings[:3]
        if macro == "OPERATION":
            options[name] = Option(name, tokens[2], argument, (), third, "")
        else:
            letter = tokens[2][1] if tokens[2][0] == "'" else ""
            options[name] = Option(name, None, argument, tuple(third.split(", ")) if third else (), "", letter)
    return options


ABOUT = {"completion": Option("completion", None, "SHELL", ("bash", "zsh", "fish"), "", ""),
         "help": Option("help", None, "", (), "", "h"), "version": Option("version", None, "", (), "", "V")}
OPTIONS = dict(read_options(), **ABOUT)
OPERATIONS = tuple(name for name, o in OPTIONS.items() if o.kind)
PRINT_RECORDS = tuple(name for name, o in OPTIONS.items() if o.kind in ("RUNNING", "OFFSET", "FIELDS"))
RESULTS = tuple(name for name, o in OPTIONS.items() if o.kind in ("REDUCE", "TEXT", "PAIR", "RECORDS"))
COMPUTED = tuple(name for name, o in OPTIONS.items() if o.kind in ("EXPR", "FRACTION"))
REPEATED = OPERATIONS + ("missing", "rename")     # options that may be given several times with a sense
SHADOWING = tuple(ABOUT) + ("columns", "explain")  # options beside which nothing else is printed
FREQUENT = ("let", "let", "let", "where", "where", "by", "by", "sum", "cumsum", "invalid", "missing", "header", "headers")


DRAW = {"plot", "svg"}


class Use(collections.namedtuple("Use", "option typed argument")):
    """One option of a command line. typed: its name, as in "p95". argument: bytes, or None."""
    def spell(self, rng=None):
        name = self.typed.encode()
        if self.argument is None:
            short = self.option.letter and rng and rng.randrange(2)
            return [b"-" + self.option.letter.encode() if short else b"--" + name]
        forms = [[b"--" + name, self.argument], [b"--" + name + b"=" + self.argument]]
        if self.option.letter and self.argument:
            forms.append([b"-" + self.option.letter.encode() + self.argument])
        return rng.choice(forms) if rng else forms[1]


# ---- columns that can be asked for --------------------------------------------------------------

class Columns:
    """The table's columns, and after them those that --let makes. names: bytes, or None for a column that has none."""
    def __init__(self, shape):
        self.n, self.names, self.kinds = shape.n, list(shape.names or [None] * shape.n), list(shape.kinds)
        self.missing, self.tame, self.named = shape.missing, shape.tame, shape.named
        self.one_line = self.beside_others = False      # what is drawn has one column; another result is asked, or groups

    def add(self, name, kind):
        self.names.append(name)
        self.kinds.append(kind)

    def odd(self, rng, one_in):
        return not self.tame and rng.randrange(one_in) == 0

    def all(self):
        return range(len(self.names))

    def numeric(self):
        return [k for k in self.all() if self.kinds[k] not in hostile.NO_NUMBERS]

    def of_kind(self, *kinds):
        return [k for k in self.all() if self.kinds[k] in kinds]

    def labels(self):
        return [name if name is not None else b"col%d" % (k + 1) for k, name in enumerate(self.names)]

    def positions(self, k):
        return [] if self.named or (k >= self.n and self.tame) else [b":%d" % (k + 1), b"col%d" % (k + 1)]


def quoted_item(name):
    if any(c in b",\r\n" for c in name) or name[:1] == b'"':
        return b'"' + name.replace(b'"', b'""') + b'"'
    return name


def spell_item(rng, k, columns):
    """An item of COLS that means column k, or, seldom, one that does not exist."""
    if columns.odd(rng, 60):
        return rng.choice((b"nosuch", b":%d" % (columns.n + 1), b"%d" % (columns.n + 7), b"0"))
    forms = []
    if (k < columns.n or columns.odd(rng, 8)) and not columns.named:
        forms = columns.positions(k) + [b"%d" % (k + 1)]
    if columns.names[k] is not None:
        forms += [quoted_item(columns.names[k])] * (4 if forms else 1)
    return rng.choice(forms)


def spell_some(rng, pool, columns, most=3):
    chosen = rng.sample(pool, rng.randrange(1, min(most, len(pool)) + 1))
    return b",".join(spell_item(rng, k, columns) for k in chosen)


def spell_columns(rng, option, columns):
    """COLS for an operation."""
    takes_text = option.kind in ("TEXT", "FIELDS") or option.name in oracle_command.TAKE_TEXT
    pool = list(columns.all()) if takes_text else columns.numeric()
    form = rng.randrange(10)
    if columns.odd(rng, 60):  # a law judges it, no model
        return spell_inline(rng, takes_text, columns)
    if columns.one_line and option.kind == "RUNNING":
        return spell_some(rng, pool or list(columns.all()), columns, 1)
    if not pool or (form == 0 and option.kind != "FIELDS" and not columns.named):
        return b"*"
    if form == 1 and not columns.named and columns.n > 1 and (takes_text or len(pool) >= columns.n or columns.odd(rng, 4)):
        low = rng.randrange(columns.n)
        high = rng.randrange(low, columns.n)
        return rng.choice((b"%d-%d" % (low + 1, high + 1), b"%d-" % (low + 1), b"-%d" % (high + 1)))
    return spell_some(rng, pool, columns)


def spell_inline(rng, takes_text, columns):
    """COLS with an expression, and columns around it."""
    text = (spell_words_of if takes_text and rng.randrange(2) else spell_sum)(rng, rng.choice((0, 1, 1, 2)), columns)
    items = [rng.choice((b"(%s)", b"k=%s", b"`a name` = %s")) % text]
    if not columns.one_line and rng.randrange(3) == 0:
        items.insert(rng.randrange(2), spell_item(rng, rng.choice(columns.all() if takes_text else columns.numeric() or columns.all()), columns))
    return rng.choice((b",", b", ")).join(items)


def spell_keys(rng, columns):
    pool = columns.of_kind("key")
    if not pool or rng.randrange(8) == 0:
        pool = list(columns.all())      # numbers and computed columns, too
    if columns.odd(rng, 12):
        low = rng.randrange(columns.n)
        return b"%d-%d" % (low + 1, rng.randrange(low, columns.n) + 1)
    if rng.randrange(4):
        return spell_some(rng, pool, columns)
    keys = [spell_some(rng, pool, columns, 1)] * rng.randrange(2) + [spell_key(rng, columns) for _ in range(rng.choice((1, 1, 2)))]
    rng.shuffle(keys)
    return rng.choice((b",", b", ")).join(keys)


def spell_key(rng, columns):
    """A key that is an expression."""
    text = (spell_sum if rng.randrange(3) == 0 else spell_words_of)(rng, rng.choice((1, 2)), columns)
    return rng.choice((b"", b"k=", b"`a key` = ")) + text


def spell_pairs(rng, option, columns):
    numeric = columns.numeric()
    if (rng.randrange(20 if columns.beside_others else 4) == 0 or not numeric) and not columns.named and (
            option.name in SYMMETRIC or columns.odd(rng, 20)):
        return b"*"
    pool = numeric or list(columns.all())

    def side():
        return b"(%s)" % spell_sum(rng, 1, columns) if columns.odd(rng, 8) else spell_item(rng, rng.choice(pool), columns)
    return b",".join(b"%s:%s" % (side(), side())
                     for _ in range(rng.choice((1, 1, 2, 3))))


# ---- EXPR -------------------------------------------------------------------------------------

def spell_column(rng, k, columns):
    """A column in EXPR."""
    if columns.odd(rng, 80):
        return rng.choice((b"nosuch", b":%d" % (columns.n + 1), b":0", b"`no such`"))
    forms = columns.positions(k) if k < columns.n or columns.odd(rng, 8) else []
    name = columns.names[k]
    if name is not None:
        back = b"`" + name.replace(b"`", b"``") + b"`"
        bare = BARE.match(name) and name.lower() not in RESERVED
        forms += [name if bare else back, back, name if bare else back]
    return rng.choice(forms)


def spell_text(rng, text):
    """A string literal."""
    text, quote = text.replace(b"\0", b"") or b"m", rng.choice((b'"', b"'"))
    return quote + text.replace(quote, quote * 2) + quote


def spell_string(rng, missing):
    return spell_text(rng, rng.choice(hostile.TEXTS + tuple(missing) + (b"a", b"1", b"it's")))


def spell_number(rng, kind):
    return hostile.number_text(rng, kind if rng.randrange(3) and kind in KINDS else rng.choice(KINDS)).encode()


def spell_test(rng, columns):
    numeric, k, form = columns.numeric(), rng.choice(columns.all()), rng.randrange(10)
    if form == 0:
        return spell_column(rng, k, columns) + rng.choice((b" is missing", b" IS NOT missing", b"\tis\nnot missing"))
    if rng.randrange(4) == 0:
        return spell_words(rng, columns)
    blank = rng.choice((b"", b" "))
    sign = blank + rng.choice((b"=", b"==", b"!=", b"<", b"<=", b">", b">=")) + blank
    if form < 4 or not numeric:
        sides = [spell_column(rng, k, columns), spell_string(rng, columns.missing)]
    else:
        k = k if columns.odd(rng, 25) else rng.choice(numeric)
        sides = [spell_column(rng, k, columns), spell_number(rng, columns.kinds[k])]
        if form < 6:
            sides[1] = spell_column(rng, rng.choice(numeric), columns)
    if rng.randrange(3) == 0:
        sides.reverse()
    return sign.join(sides)


def spell_pattern(rng, depth=2):
    """A regular expression that PCRE2, POSIX and Python spell alike, but for `$`."""
    atom = rng.choice((b"a", b"e", b"1", b"0", b"-", b",", b"[0-9]", b"[^a-z]", b".", b"[]a]", "é".encode(), b" ", b"[.]"))
    out = atom + rng.choice((b"", b"", b"+", b"*", b"?", b"{2}", b"{1,3}"))
    if depth and rng.randrange(2):
        out += spell_pattern(rng, depth - 1)
    if depth and rng.randrange(4) == 0:
        out = b"(" + out + b"|" + spell_pattern(rng, depth - 1) + b")" + rng.choice((b"", b"?", b"+"))
    return rng.choice((b"", b"", b"^")) + out + rng.choice((b"", b"", b"$")) if depth == 2 else out


def spell_words(rng, columns):
    """A test that begins with a word."""
    numeric, k = columns.numeric(), rng.choice(columns.all())
    negative = rng.choice((b" ", b" not ", b"\tNOT "))
    form = rng.randrange(5 if PATTERNS else 4)
    if form == 4:
        text = spell_pattern(rng).replace(b"'", b"''")
        return spell_column(rng, k, columns) + rng.choice((b"~", b" !~ ")) + b"'" + text + b"'"
    if form == 0:
        return spell_column(rng, k, columns) + b" is" + negative + rng.choice((b"number", b"Number"))
    if form == 1:
        text = rng.choice(hostile.TEXTS + (b"a", b"1", b"e")).replace(b"\0", b"")
        begin = rng.randrange(len(text)) if text else 0
        return (spell_column(rng, k, columns) + negative + rng.choice((b"contains ", b"starts with ", b"Ends\nWITH"))
                + spell_text(rng, text[begin:begin + rng.choice((1, 1, 2, 9))]))
    if numeric and rng.randrange(3):
        k = rng.choice(numeric)
        values = [spell_column(rng, rng.choice(numeric), columns) if rng.randrange(6) == 0
                  else spell_number(rng, columns.kinds[k]) for _ in range(rng.choice((1, 2, 2, 5)))]
    else:
        values = [spell_string(rng, columns.missing) for _ in range(rng.choice((1, 2, 2, 5)))]
    if form == 2:
        return spell_column(rng, k, columns) + negative + b"in (" + rng.choice((b",", b" , ")).join(values) + b")"
    return (spell_column(rng, k, columns) + negative + b"between " + values[0] + rng.choice((b" and ", b"&&"))
            + values[-1])


def spell_condition(rng, depth, columns):
    if depth == 0 or rng.randrange(3) == 0:
        return spell_test(rng, columns)
    form = rng.randrange(5)
    if form == 0:
        return rng.choice((b"not (", b"!(", b"NOT(")) + spell_condition(rng, depth - 1, columns) + b")"
    if form == 1:
        return b"(" + spell_condition(rng, depth - 1, columns) + b")"
    if form == 2:
        return rng.choice((b"not ", b"! ")) + spell_test(rng, columns)
    joint = rng.choice((b" and ", b" && ", b" or ", b" || ", b" OR "))
    return spell_condition(rng, depth - 1, columns) + joint + spell_condition(rng, depth - 1, columns)


# ---- NAME=EXPR of --let -------------------------------------------------------------------------

def spell_sum(rng, depth, columns):
    """An expression whose value is a number."""
    numeric, form = columns.numeric(), rng.randrange(19 if depth else 3)
    if form == 0 or (form < 3 and not numeric):
        return rng.choice((b"0", b"1", b"2.50", b"1e2", b"0.001", b"7", b"1e300", b"1e399", b"123456789012345678",
                           b"12345678901234567890.5"))
    if form < 3:
        return spell_column(rng, rng.choice(columns.all()) if columns.odd(rng, 12) else rng.choice(numeric), columns)
    if columns.odd(rng, 12):    # as the laws say nothing of them
        return spell_aggregate(rng, depth, columns)
    x = spell_sum(rng, depth - 1, columns)
    if form > 13:
        return spell_function(rng, form, x, depth, columns)
    if form < 8:
        y = spell_sum(rng, depth - 1, columns)
        return (x + rng.choice((b" + ", b" - ", b" * ", b"*", b" / ", b"/")) + y if form < 7 else
                rng.choice((b"min(", b"max(", b"coalesce(")) + x + b", " + y + b")")
    if form == 8:
        return b"(" + x + b")"
    if form == 9:
        return rng.choice((b"round(%s, %d)", b"Round(%s,%d)")) % (x, rng.randrange(6))
    if form == 10:
        return rng.choice((b"-(", b"abs(")) + x + b")"
    if form == 11:
        return b"if(" + spell_condition(rng, 1, columns) + b", " + x + b", " + spell_sum(rng, depth - 1, columns) + b")"
    if form == 12:
        return b"length(" + spell_words_of(rng, depth - 1, columns) + b")"
    dates = columns.of_kind("date", "datetime")
    if not dates:
        return rng.choice((b"duration(%s)", b"bytes(%s)", b"bytes(%s, 'iec')", b"%s")) % x
    t = spell_time(rng, depth - 1, columns)
    return rng.choice((b"epoch(%s)", b"hour(%s)", b"week(%s)", b"year(%s)", b"dayofyear(%s)", b"second(%s)", b"(%s - '2024-02-29')",
                       b"(" + spell_column(rng, rng.choice(dates), columns) + b" - time(%s))")) % t


def spell_time(rng, depth, columns):
    """An expression whose value is a time."""
    dates = columns.of_kind("date", "datetime")
    if not dates or (depth > 0 and rng.randrange(6) == 0):
        return b"from_epoch(" + spell_sum(rng, max(depth - 1, 0), columns) + b")"
    t = spell_column(rng, rng.choice(dates if rng.randrange(12) else columns.all()), columns)
    for _ in range(rng.randrange(3)):
        t = rng.choice((b"trunc(%s, '15m')", b"trunc(%s, 'week')", b"trunc(%s, 'quarter')", b"time(%s)", b"date(%s)", b"(%s + '1h30m')",
                        b"(%s - '1 month')", b"add_months(%s, 13)", b"time(format(%s, '%%d.%%m.%%Y %%T'), '%%d.%%m.%%Y %%H:%%M:%%S')")) % t
    return t


def spell_aggregate(rng, depth, columns):
    """Of all records, or of the record's group."""
    name = rng.choice((b"sum", b"mean", b"min", b"MAX", b"count", b"median", b"stddev", b"first", b"p90", b"count_distinct"))
    if name == b"count" and rng.randrange(2):
        return b"count()"
    numeric = columns.numeric()
    within = spell_column(rng, rng.choice(numeric), columns) if numeric and rng.randrange(3) else spell_sum(rng, depth - 1, columns)
    return name + b"(" + within + b")"


def spell_function(rng, form, x, depth, columns):
    """One of the other functions of numbers, and a condition as a number."""
    if form == 14:
        return rng.choice((b"floor(", b"ceil(", b"Sign(", b"trunc(", b"round_half_up(", b"round(", b"number(")) + x + b")"
    if form == 15:
        return rng.choice((b"sqrt(", b"ln(", b"log10(", b"LOG2(", b"exp(")) + x + b")"
    if form == 16:
        return b"(" + spell_condition(rng, 1, columns) + b")"
    y = spell_sum(rng, depth - 1, columns)
    if form == 17:
        return rng.choice((b"mod(%s, %s)", b"div(%s, %s)", b"bin(%s,%s)", b"(%s) %% (%s)", b"least(%s, %s)", b"pow(%s, %s)")) % (x, y)
    return b"pow(" + x + b", " + rng.choice((b"2", b"-1", b"0.5", b"3", b"100")) + b")"


def spell_made(rng, x, depth, columns):
    """A text that is made of another one."""
    n, part = rng.choice((b"1", b"2", b"-1", b"-3", b"9", b"length(%s) - 1" % x)), spell_string(rng, columns.missing)
    y = spell_words_of(rng, depth - 1, columns)
    return rng.choice((
        b"trim(%s)" % x, b"substr(%s, %s)" % (x, n), b"substr(%s, %s, 2)" % (x, n), b"left(%s, %s)" % (x, n), b"right(%s,%s)" % (x, n),
        b"concat(%s, %s, %s)" % (x, part, y), b"replace(%s, %s, %s)" % (x, part, y), b"split(%s, %s, %s)" % (x, part, n), b"text(%s)" % x,
        b"pad(%s, %s)" % (x, n), b"pad(%s, -7, %s)" % (x, part), b"replace(%s, 'a', '')" % x, b"if(contains(%s, %s), %s, missing)" % (x, part, y),
        b"extract(%s, '%s')" % (x, spell_pattern(rng).replace(b"'", b"''")) if PATTERNS else b"trim(%s)" % x))


def spell_words_of(rng, depth, columns):
    """An expression whose value is a text, as a field is one."""
    form = rng.randrange(10 if depth > 0 else 3)
    if form == 9:
        return rng.choice((b"%s", b"format(%s, '%%F, %%H:00')")) % spell_time(rng, depth - 1, columns)
    if form < 2:
        return spell_column(rng, rng.choice(columns.all()), columns)
    if form == 2:
        return spell_string(rng, columns.missing)
    x = spell_words_of(rng, depth - 1, columns)
    if form > 5:
        return spell_made(rng, x, depth, columns)
    if form == 3:
        return rng.choice((b"lower(", b"UPPER(", b"upper(")) + x + b")"
    y = spell_words_of(rng, depth - 1, columns) if rng.randrange(2) else spell_sum(rng, depth - 1, columns)
    if form == 4:
        return b"coalesce(" + x + b", " + y + b")"
    return b"if(" + spell_condition(rng, 1, columns) + b", " + x + b"," + y + b")"


def spell_let(rng, columns):
    """NAME=EXPR, and the column is one of `columns` from now on."""
    is_number = rng.randrange(3) > 0
    text = (spell_sum if is_number else spell_words_of)(rng, rng.choice((1, 2, 3)), columns)
    name = b"z%d" % len(columns.names)
    if columns.odd(rng, 30):
        name = rng.choice([n for n in columns.names if n] or [b"two words"])
    columns.add(name, "decimal" if is_number or columns.odd(rng, 4) else "text")
    return name + rng.choice((b"=", b" = ")) + text


# ---- other arguments ----------------------------------------------------------------------------

def titles_of(use, labels):
    """Results of an operation as they are printed, where its COLS are a list of names and numbers."""
    title = (use.typed if use.option.title == "pNN" else use.option.title).encode()
    if use.argument is None:
        return [title]
    if use.option.kind == "EXPR":
        return [use.argument.split(b" = ")[0]]

    def label(item):
        k = re.fullmatch(rb"(?:col|:)?([0-9]+)", item)
        return item if item in labels else labels[int(k[1]) - 1] if k and 0 < int(k[1]) <= len(labels) else None
    pairs = [[label(side) for side in item.split(b":")] if use.option.kind == "PAIR" else [label(item)]
             for item in use.argument.split(b",")]
    return [title + b"(" + b":".join(sides) + b")" for sides in pairs if None not in sides]


def spell_result(rng, columns, uses):
    """[-]KEYS: a result as it is printed, or an operation's name; now and then one that does not exist."""
    labels, asked = columns.labels(), [u for u in uses if u.option.kind and u.option.name != "let"]
    form, there = rng.randrange(8), [title for u in asked for title in titles_of(u, labels)]
    if there and rng.randrange(4):
        name = rng.choice(there)
    elif not asked:
        name = rng.choice((b"count", b"count", b"count", rng.choice(labels)))
    else:
        use = rng.choice(asked)
        title = (use.typed if use.option.title == "pNN" else use.option.title).encode()
        if use.argument is None or form == 0:
            name = rng.choice((b"count", b"records", b"count-records"))
        elif form < 4:
            item = rng.choice(labels)
            name = title + b"(" + (item + b":" + rng.choice(labels) if use.option.kind == "PAIR" else item) + b")"
        else:
            name = rng.choice((use.typed.encode(), title)) if form < 6 else rng.choice(labels)
    if columns.odd(rng, 20):
        name = b"nosuch"
    return rng.choice((b"", b"-")) + name


# ---- expressions of results: --agg, --having, --sort --------------------------------------------

def spell_finished(rng, depth, columns, uses):
    """A number that is computed of results."""
    form = rng.randrange(12 if depth else 6)
    numeric = columns.numeric()
    if form == 0:
        return rng.choice((b"0", b"1", b"2.5", b"100", b"0.001", b"1e3"))
    if form == 1 or not numeric:
        return rng.choice((b"count()", b"count()", b"COUNT( )"))
    if form == 2:
        named = [t for u in uses if u.option.kind and u.option.name != "let" for t in titles_of(u, columns.labels())]
        if named:
            name = rng.choice(named)
            return name if BARE.match(name) and name.lower() not in RESERVED else b"`" + name.replace(b"`", b"``") + b"`"
    if form < 6:
        name = rng.choice((b"sum", b"sum", b"mean", b"min", b"max", b"count", b"median", b"p90", b"stddev", b"first", b"share"))
        within = spell_column(rng, rng.choice(numeric), columns)
        if columns.odd(rng, 6):
            within = spell_sum(rng, 1, columns)
        return name + b"(" + within + b")"
    x, y = (spell_finished(rng, depth - 1, columns, uses) for _ in range(2))
    if form < 10:
        return x + rng.choice((b" + ", b" - ", b" * ", b" / ", b" / ", b"/")) + y
    return rng.choice((b"(%s)" % x, b"round(%s, 2)" % x, b"abs(%s)" % x, b"if(%s > %s, %s, 0)" % (x, y, x), b"coalesce(%s, 0)" % x))


def spell_agg(rng, columns, uses):
    """[NAME=]EXPR"""
    return rng.choice((b"", b"r%d = " % rng.randrange(1000), b"`a result %d` = " % rng.randrange(1000))) + spell_finished(rng, 2, columns, uses)


def spell_having(rng, columns, uses):
    test = spell_finished(rng, 1, columns, uses) + rng.choice((b" > ", b" < ", b" >= ", b" = ", b" != ")) + spell_finished(rng, 1, columns, uses)
    if rng.randrange(4):
        return test
    return rng.choice((b"not (%s)", b"count() > 1 and %s", b"%s or count() < 3", b"%s is not missing")) % (
        test if rng.randrange(4) else spell_finished(rng, 1, columns, uses) + b" > 1")


def spell_sort(rng, columns, uses):
    """[-]KEYS of groups."""
    items = [spell_result(rng, columns, uses) if rng.randrange(3) else rng.choice((b"", b"-")) + spell_finished(rng, 1, columns, uses)
             for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    return rng.choice((b",", b",", b", ")).join(items)


def spell_rename(rng, columns, uses):
    there = [title for u in uses if u.option.kind and u.option.name != "let" for title in titles_of(u, columns.labels())]
    if there and rng.randrange(4):
        return b",".join(old + b"=n%d" % rng.randrange(1000) for old in rng.sample(there, rng.choice((1, min(2, len(there))))))
    old = rng.choice([n for n in columns.names[:columns.n] if n] or [b"col1"])
    return old + b"=" + rng.choice((b"new", b"n%d" % rng.randrange(100), old, b"x,y", b"a"))


def spell_count(rng, option, shape):
    """N or S."""
    if option.name == "max-invalid":
        return rng.choice((b"0", b"1", b"2", b"5", b"10%", b"50%", b"0.5%", b"100%"))
    if option.name == "digits":
        return b"%d" % rng.choice((0, 1, 2, 2, 2, 3, 5, 17, 18, 40, 100))
    if option.name == "threads":
        return rng.choice((b"1", b"2", b"3", b"7"))
    if option.name == "skip-lines":
        return b"%d" % (shape.dialect.skip_lines or rng.randrange(3))
    return b"%d" % rng.choice((1, 1, 2, 3, 5, 10, 100, 10 ** 9) + (0,) * (not shape.tame))


def spell_byte(rng, option, shape):
    """C: what the table is written with."""
    said = getattr(shape.dialect if hasattr(shape.dialect, option.name) else shape.notation, option.name, b"?")
    if option.name == "quote" and said is None:
        return b"none"
    if option.name in ("group-digits", "output-decimal"):
        return rng.choice((b",", b"'", b" ", b"_", b".", b";") + (b"\xc2\xa0",) * (option.name == "group-digits"))
    if said == b"\t" and rng.randrange(2):
        return b"\\t"
    return said or rng.choice((b";", b"#", b"_", b"'"))


def spell_choice(rng, option, shape):
    """One of the words that the option knows."""
    if option.name == "header":
        return rng.choice((b"auto", b"yes" if shape.names else b"no", b"yes" if shape.names else b"no"))
    if option.name == "ragged":
        return shape.policy.encode()
    if option.name == "invalid":
        return shape.invalid.encode()
    if option.name == "device":
        return rng.choice((b"cpu", b"auto"))      # GPUs are a way of the run
    return rng.choice(option.words).encode()


STATE, SAVED, PICTURE = "before.state", "after.state", "picture.svg"     # names of files
FILES = {"svg": PICTURE, "save-state": SAVED, "from-state": STATE}

# By what --help calls the argument: a function of (rng, option, shape, columns, uses so far).
ARGUMENTS = {
    "COLS": lambda rng, o, shape, c, uses: spell_columns(rng, o, c) if o.name != "by" else spell_keys(rng, c),
    "COL": lambda rng, o, shape, c, uses: spell_item(rng, rng.choice((o.name == "over" and not c.odd(rng, 8) and c.of_kind("rising", "clock"))
                                                                     or c.all()), c),
    "[-]COLS:N": lambda rng, o, shape, c, uses: rng.choice((b"", b"-")) + oracle_window.spell(rng, o.name, spell_columns(rng, o, c)),
    "[-]COLS": lambda rng, o, shape, c, uses: rng.choice((b"", b"-")) + spell_columns(rng, o, c),
    "COLS[:N]": lambda rng, o, shape, c, uses: spell_columns(rng, o, c) + rng.choice((b"", b":1", b":2", b":9")),
    "COLS:N": lambda rng, o, shape, c, uses: oracle_window.spell(rng, o.name, spell_columns(rng, o, c), shape.timed),
    "COLS:A": lambda rng, o, shape, c, uses: oracle_window.spell(rng, o.name, spell_columns(rng, o, c)),
    "COLS:F": lambda rng, o, shape, c, uses: spell_columns(rng, o, c) + b":" + rng.choice((b"0.1", b"0", b"0.25", b"0.4999", b"0.05")),
    "COL:WIDTH": lambda rng, o, shape, c, uses: (
        b"(%s)" % spell_sum(rng, 1, c) if c.odd(rng, 6) else spell_item(rng, rng.choice(c.numeric() or c.all()), c)) + b":" + rng.choice(
        (b"1", b"0.5", b"100", b"1e6", b"1e17")),
    "PAIRS": lambda rng, o, shape, c, uses: spell_pairs(rng, o, c),
    "EXPR": lambda rng, o, shape, c, uses: spell_having(rng, c, uses) if o.name == "having" else spell_condition(rng, rng.randrange(4), c),
    "[NAME=]EXPR": lambda rng, o, shape, c, uses: spell_agg(rng, c, uses),
    "NAME=EXPR": lambda rng, o, shape, c, uses: spell_let(rng, c),
    "OLD=NEW": lambda rng, o, shape, c, uses: spell_rename(rng, c, uses),
    "[-]KEYS": lambda rng, o, shape, c, uses: spell_sort(rng, c, uses),
    "N": lambda rng, o, shape, c, uses: spell_count(rng, o, shape),
    "ZONE": lambda rng, o, shape, c, uses: rng.choice((b"UTC", b"+02:00", b"-0330", b"+05", b"Z")),
    "S": lambda rng, o, shape, c, uses: b"%d" % rng.randrange(1000),
    "C": lambda rng, o, shape, c, uses: spell_byte(rng, o, shape),
    "LIST": lambda rng, o, shape, c, uses: b",".join(shape.missing),
    "FILE": lambda rng, o, shape, c, uses: FILES.get(o.name, o.name + ".out").encode(),
    "K/N": lambda rng, o, shape, c, uses: b"%d/%d" % rng.choice(((1, 1), (1, 2), (2, 2), (3, 7))) + rng.choice((b"", b"", b",quoted")),
    "SIZE": lambda rng, o, shape, c, uses: rng.choice((b"1G", b"512M", b"2000M") + (b"64K", b"1") * (not shape.tame)),
}


def spell_argument(rng, option, shape, columns, uses):
    if not option.argument:
        return None
    if option.words:
        return spell_choice(rng, option, shape)
    make = ARGUMENTS.get(option.argument) or ARGUMENTS[rng.choice(sorted(ARGUMENTS))]   # a new word of --help: any
    return make(rng, option, shape, columns, uses)


def spell_name(rng, option):
    if option.name != "pNN":
        return option.name
    return rng.choice([p for p in PERCENTILES if p != "median"] + ["p12.5", "p90"])


def draw_uses(rng, names, shape):
    """The options' arguments. Those that others speak of come first: columns, operations, what orders their results."""
    columns, uses = Columns(shape), []
    columns.one_line = bool(DRAW & set(names))
    columns.beside_others = "by" in names or sum(name in RESULTS for name in names) > 1
    for name in sorted(names, key=lambda n: (n != "let", OPTIONS[n].kind is None)):
        option = OPTIONS[name]
        uses.append(Use(option, spell_name(rng, option), spell_argument(rng, option, shape, columns, uses)))
    lets = [u for u in uses if u.option.name == "let"]
    rest = uses[len(lets):]
    rng.shuffle(rest)
    for use in reversed(lets):      # in their order, since one may speak of those before it
        at = rng.randrange(len(rest) + 1) if use is lets[-1] else rng.randrange(rest.index(last) + 1)
        rest.insert(at, use)
        last = use
    return rest


# ---- which options go together ------------------------------------------------------------------

def kind_of(name):
    """Options of the same kind go with the same others, mostly: a trial of one tells of all."""
    o = OPTIONS[name]
    return (o.kind, o.argument) if o.kind in ("REDUCE", "TEXT", "PAIR", "RUNNING") else name


def pair(a, b):
    return (a, b) if a < b else (b, a)


PAIRS_OF_OPTIONS = tuple(itertools.combinations(sorted(OPTIONS), 2))


class Goes:
    """What trial has shown: which kinds of options the program takes alone, and which beside which. try_out(names): does
    the program take a command line of these options, with arguments of no fault?"""
    def __init__(self, try_out):
        firsts = {}
        for name in OPTIONS:
            firsts.setdefault(kind_of(name), name)
        self.alone = {kind: try_out([name]) for kind, name in firsts.items()}
        self.helpers = {kind: [] for kind in firsts}        # of those refused alone: beside which they are taken
        self.pairs = set()
        for a, b in itertools.combinations(firsts, 2):
            if not (self.alone[a] and self.alone[b]) and try_out([firsts[a], firsts[b]]):
                self.pairs.add(frozenset((a, b)))
                for kind, other in ((a, b), (b, a)):
                    if not self.alone[kind]:
                        self.helpers[kind].append(firsts[other])
        for a, b in itertools.combinations(firsts, 2):
            if frozenset((a, b)) in self.pairs:
                continue
            helpers = [h for kind in (a, b) for h in self.helpers[kind]]
            tries = [[firsts[a], firsts[b]]] if self.alone[a] and self.alone[b] else []
            tries += [[firsts[a], firsts[b], h] for h in helpers]
            if any(try_out(names) for names in tries):
                self.pairs.add(frozenset((a, b)))
        for kind, name in firsts.items():
            if kind != name or try_out([name, name]):
                self.pairs.add(frozenset((kind,)))

    def together(self, a, b):
        return frozenset((kind_of(a), kind_of(b))) in self.pairs

    def all_together(self, names):
        return all(self.together(a, b) for a, b in itertools.combinations(names, 2))

    def helped(self, rng, names):
        """With what those lack that are refused alone."""
        names = list(names)
        for name in list(names):
            helpers = self.helpers[kind_of(name)]
            kinds = {kind_of(h) for h in helpers}
            if self.alone[kind_of(name)] or not helpers or any(kind_of(n) in kinds for n in names if n != name):
                continue
            fitting = [h for h in helpers if all(self.together(h, n) for n in names)]
            names.append(rng.choice(fitting or helpers))
        return names

    def draw(self, rng, wanted=(), pool=None, most=5):
        """Names of options: the wanted ones, what those lack, and some more that go with all of them."""
        names, pool = self.helped(rng, wanted), tuple(pool or OPTIONS)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 4, most))):
            name = rng.choice(FREQUENT) if rng.randrange(3) == 0 else rng.choice(pool)
            if name not in pool or (name in names and name not in REPEATED) or (name in SHADOWING and rng.randrange(12)):
                continue
            more = self.helped(rng, names + [name])
            if DRAW & set(more) and sum(OPTIONS[n].kind == "RUNNING" for n in more) > 1:
                continue
            if all(self.together(name, n) for n in names) and set(more) <= set(pool) | set(names) and self.all_together(more):
                names = more
        return names


# ---- cases --------------------------------------------------------------------------------------

class Case:
    """uses: the options; shape, table, files: what they are about; parts_of: of --merge, the Uses of the runs that wrote
    the parts."""
    def __init__(self, rng, names, rows=None, tame=False, named=False):
        self.names, asked = list(names), set(names)
        self.shape = hostile.Shape(rng, asked, tame, named)
        self.table = hostile.draw_records(rng, self.shape, rows)
        self.files = hostile.lay_out(rng, self.shape, self.table)
        if asked & {"part"}:
            self.files = self.files[:1]
        self.uses = draw_uses(rng, names, self.shape)
        self.parts_of = None
        if "merge" in asked:
            results = ["sum", rng.choice(RESULTS), rng.choice(RESULTS)][:rng.choice((1, 2, 3))]
            about = [u for u in self.uses if u.option.name in ("header", "headers", "missing", "ragged", "invalid")
                     or hasattr(self.shape.dialect, u.option.name.replace("-", "_")) or hasattr(self.shape.notation, u.option.name)]
            by = ["by"] * bool(asked & {"sort", "top", "plot", "svg"} or rng.randrange(3) == 0)
            self.parts_of = about + draw_uses(rng, results + by, self.shape)
            columns = Columns(self.shape)
            self.uses = [u if u.option.name != "sort" else u._replace(argument=spell_result(rng, columns, self.parts_of))
                         for u in self.uses]

    def args(self, rng=None):
        return [arg for use in self.uses for arg in use.spell(rng)]

    @property
    def request(self):
        """What the models can answer; Unclear."""
        return oracle_command.read(self.uses)[0]


PLAIN = RESULTS + DIALECT + NOTATION + ("header", "headers", "missing", "ragged", "invalid", "max-invalid", "format", "all")


def make_case(seed, rows=None, pool=PLAIN):
    """A Case of results, or of the summary, from a seed: one that the models know, and whose options go together."""
    rng = random.Random(seed)
    results = [name for name in RESULTS if name in pool]
    names = rng.choices(results, k=rng.choice((0, 1, 1, 1, 2, 3, 4))) if results else []
    names += [name for name in pool if name not in RESULTS and rng.randrange(max(3, len(pool) // 6)) == 0]
    if "whitespace" in names:
        names = [name for name in names if name not in ("delimiter", "trim", "quote", "escape")]
    if names[:1] and names[0] in RESULTS:
        names = [name for name in names if name != "all"]
    if "invalid" not in names:
        names = [name for name in names if name != "max-invalid"]
    return Case(rng, names, rows)
