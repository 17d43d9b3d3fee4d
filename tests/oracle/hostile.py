# SPDX-License-Identifier: MIT
"""Random hostile tables and random requests over them, the same for the same seed.

A table has quoted and unquoted fields, delimiters, newlines and doubled quotes inside quotes, stray quotes, CRLF and
lone CR, blank lines, missing values, wide numbers; now and then another dialect (hostile_dialect.py), another notation,
ragged records, files with other columns, or one fault. make_case(seed) gives a Case.
"""
import os
import random

import harness
import oracle
from hostile_dialect import (COMMENTS, DELIMITERS, PREAMBLES, in_notation, random_dialect, random_notation, says_sep,
                             write_record)
from oracle_dialect import Dialect
from oracle_notation import PLAIN

FEATURES = ("ragged", "dialect", "notation", "header", "files", "count", "nul", "stray", "preamble", "pairs")
SET = os.environ.get("GPUSTAT_TEST_FEATURES")
CHOSEN = frozenset(FEATURES if SET is None else SET.split(","))

NO_NUMBERS = ("text", "date", "datetime", "empty", "key")
FAULTS = ("not a number", "out of range", "open quote", "ragged", "stray")
SPELLINGS = (b"NA", b"null", b"-", b"n/a", b"-999")
NAMES = (b"a", b"bytes", b"two words", b"x,y", b"semi;colon", b"say \"hi\"", b"12\" disk",
         b"line\nbreak", "größe".encode(), b"seconds", b"c_1", b"tab\there", b"p|q")
TEXTS = (b"", b"foo", b"x,y", b"a;b", b"1.2.3", b"12\" disk", b"\"", b"\"\"", b"line\none",
         b"\n", b"\r\n", b"nan", b"inf", b"0x10", b"--1", "ü€".encode(), b"tab\t", b" lead",
         b"2025-02-28", b"2025-02-28T10:20:30Z", b"1e", b".", b"+", b"lone\rcr", b"\xff\xfe", b"a\"b\"c", b"end\"", b"e5", b"|", b"it's", b"a\\b", b"#", b"\\")
NOT_NUMBERS = (b"abc", b"1x", b"1e", b"1.2.3", b"0x10", b"nan", b"1 2", b"--1", b".", b"e5")
OTHER_NOTATIONS = (b"$5", b"1,234.50", b"12%", b"1,5", b"(12.00)", b"5-", b"1'000", b"1.234,5", b"5 EUR", b"1,2,3",
                   b"1.23.4")
BEYOND = (b"1e400", b"-1e400", b"1e-401", b"1" * 401)
DOUBTFUL = (b"N/A", b"NaN", b"inf", b"$5", b"1,5", b"null", b"-", b"?", b"0x10", b"12%", b"NA")
DATES = (b"2025-03-01", b"2025-03-01", b"2024-02-29", b"0000-02-29", b"1999-12-31")
TIMES = (b"T10:20", b" 23:59:60", b"T00:00:00.123456Z", b"T10:20:30,5+02", b" 10:20:30-0330", b"T10:20+02:00")
NO_DATES = (b"2025-02-29", b"2025-13-01", b"2025-00-10", b"2025-01-00", b"2025-01-01T", b"2025-01-01T24:00",
            b"2025-01-01T10:61", b"2025-01-01 10:20:30.", b"2025-01-01T10:20+2", b"2025-1-1", b"2025-03-01x")
NUMBERS = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")


class Case:
    """files: pairs (name, bytes). request: an oracle.Request."""
    def __init__(self, files, request):
        self.files, self.request = files, request


# ---- values -----------------------------------------------------------------------------------

def number_text(rng, kind):
    sign = rng.choice(("", "", "", "-", "+"))
    if kind == "small":
        return sign + str(rng.randrange(10 ** rng.randrange(1, 5)))
    if kind == "int":
        return sign + str(rng.randrange(10 ** rng.randrange(1, 19)))
    if kind == "decimal":
        whole, places = rng.randrange(10 ** rng.randrange(1, 9)), rng.randrange(0, 7)
        part = "".join(rng.choice("0123456789") for _ in range(places))
        form = rng.randrange(8)
        if form == 0 and part:
            return sign + "." + part
        return sign + str(whole) + ("." + part if part or form == 1 else "")
    if kind == "edge":
        base = rng.choice((2 ** 63, 2 ** 64, 2 ** 127, 2 ** 128, 10 ** 18, 10 ** 19, 10 ** 38, 10 ** 9))
        text = str(base + rng.randrange(-2, 3))
        if rng.randrange(3) == 0:
            cut = rng.randrange(len(text) + 1)
            text = text[:cut] + "." + text[cut:]
        return sign + text
    if kind == "zeros":
        return sign + "0" * rng.randrange(1, 30) + rng.choice(("", "7", ".0", ".", ".000", ".00100"))
    if kind == "exponent":
        return "%s%d%s%s%s%d" % (sign, rng.randrange(10 ** 6), rng.choice(("", ".", ".5", ".250")),
                                 "e", rng.choice(("", "+", "-")), rng.randrange(0, 25))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 60)))
    return "%s%s.%se%d" % (sign, digits, digits[::-1][:20], rng.randrange(-300, 300))


def pad(rng, text, delimiter):
    blanks = b" " if delimiter == b"\t" else b" \t"
    if rng.randrange(12):
        return text
    return bytes(rng.choice(blanks) for _ in range(rng.randrange(3))) + text + \
        bytes(rng.choice(blanks) for _ in range(rng.randrange(3)))


def column_names(rng, n):
    names = rng.sample(NAMES, min(n, len(NAMES)))
    return names + [b"n%d" % k for k in range(len(names), n)]


class Shape:
    """What one table is like: drawn once, then used for every record."""
    def __init__(self, rng, features):
        self.features, other = features, rng.randrange(10)
        self.dialect, self.delimiter = Dialect(rng.choice(DELIMITERS)), None
        if "dialect" in features and other < 3:
            self.dialect, self.delimiter = random_dialect(rng, "preamble" in features)
        self.delimiter = self.delimiter or self.dialect.delimiter or b","
        self.notation = PLAIN
        if "notation" in features and other in (2, 3, 4):
            self.notation = random_notation(rng, self.delimiter, self.dialect.quote)
        self.keys = ()      # what the columns of kind "key" hold
        self.n = rng.choice((1, 1, 2, 3, 4, 6, 9))
        self.kinds = [rng.choice(("small", "int", "decimal", "decimal", "edge", "zeros", "exponent", "wide",
                                  "mixed", "text", "text", "date", "datetime", "empty")) for _ in range(self.n)]
        self.names = column_names(rng, self.n) if rng.randrange(4) else None
        self.missing = rng.sample(SPELLINGS, rng.randrange(1, 4)) if rng.randrange(3) == 0 else []
        if self.dialect.whitespace and b"-" not in self.missing:
            self.missing.append(b"-")
        self.fault = rng.choice(FAULTS) if rng.randrange(8) == 0 else None
        self.invalid = "skip" if rng.randrange(5) == 0 else "error"
        self.style = rng.choice((0, 5, 30, 100))
        self.eols = rng.choice(((b"\n",), (b"\r\n",), (b"\n", b"\r\n")))
        self.ragged = self.policy = None
        if "ragged" in features and other in (4, 5, 6):
            self.policy = rng.choice((None, "error", "extra", "extra", "allow", "allow"))
            self.ragged = rng.choice(("open end", "open end", "more", "more", "any", "any"))
        self.blanks = rng.randrange(3) == 0
        self.nul = "nul" in features and rng.randrange(25) == 0
        self.stray = "stray" in features and self.fault == "stray"
        self.files = "files" in features and self.n > 1 and self.names and other in (6, 7)
        self.doubtful = "header" in features and not self.names and rng.randrange(8) == 0

    def cell(self, rng, kind):
        """The content of a field."""
        if kind == "key":
            return rng.choice(self.keys)
        if rng.randrange(10) == 0:
            return rng.choice((b"", b"", b" ", *self.missing))
        if kind == "text":
            return rng.choice(TEXTS) if not self.nul or rng.randrange(9) else b"x\0y"
        if kind == "empty":
            return b""
        if kind in ("date", "datetime"):
            odd = rng.randrange(60) == 0
            return rng.choice(NO_DATES) if odd else rng.choice(DATES) + rng.choice(TIMES) * (kind == "datetime")
        if kind == "mixed":
            kind = rng.choice(NUMBERS)
        return pad(rng, in_notation(rng, number_text(rng, kind), self.notation), self.delimiter)

    def record(self, rng):
        """The contents of one record."""
        fields = [self.cell(rng, kind) for kind in self.kinds]
        if self.invalid == "skip" and rng.randrange(4) == 0:
            fields[rng.randrange(self.n)] = rng.choice(NOT_NUMBERS + OTHER_NOTATIONS * (not self.notation.plain) + BEYOND[:1])
        if self.ragged == "open end":
            fields += [b""] * (rng.randrange(8) > 0)
        elif self.ragged and rng.randrange(4 if self.policy else 12) == 0:
            if self.policy == "extra" or self.ragged == "more" or rng.randrange(2):
                fields += [rng.choice(TEXTS) for _ in range(rng.choice((1, 1, 2, 3)))]
            elif self.n > 1:
                fields = fields[:rng.randrange(1, self.n)]
        return fields

    def spoil(self, rng, table):
        """Puts the one fault in."""
        at = rng.randrange(len(table))
        if self.fault == "ragged":
            table[at] = table[at][:-1] or [b"1", b"2"]
        elif self.fault == "not a number":
            table[at][rng.randrange(len(table[at]))] = rng.choice(NOT_NUMBERS + OTHER_NOTATIONS)
        elif self.fault == "out of range":
            table[at][rng.randrange(len(table[at]))] = rng.choice(BEYOND)
        elif self.fault == "open quote":
            table[at].append("open quote")      # what lines_of() writes so


# ---- requests ---------------------------------------------------------------------------------

def spell_item(rng, k, n, names):
    """An item of COLS that means column k, or, seldom, none."""
    if rng.randrange(60) == 0:
        return rng.choice((b"nosuch", b":%d" % (n + 1), b"%d" % (n + 7), b"0"))
    forms = [b":%d" % (k + 1), b"%d" % (k + 1), b"col%d" % (k + 1)]
    if names:
        name = names[k]
        if any(c in b",\r\n" for c in name) or name[:1] == b'"':
            name = b'"' + name.replace(b'"', b'""') + b'"'
        forms += [name] * 4
    return rng.choice(forms)


def common_of(rng, shape):
    """What a request says besides columns."""
    said = None
    if shape.invalid == "skip" and "count" in shape.features and rng.randrange(3) == 0:
        said = rng.choice((b"0", b"1", b"2", b"5", b"10%", b"50%", b"0.5%", b"100%"))
    return dict(header=rng.choice(("auto", "auto", "auto", "yes" if shape.names else "no")), missing=shape.missing,
                invalid=shape.invalid, ragged=shape.policy, max_invalid=said, dialect=shape.dialect,
                notation=shape.notation)


def spell_pairs(rng, shape, numeric):
    """An operation and pairs of columns, or '*', which stands alone."""
    if rng.randrange(3) == 0 or not numeric:
        return rng.choice(oracle.SYMMETRIC), b"*"
    chosen = [b"%s:%s" % tuple(spell_item(rng, rng.choice(numeric), shape.n, shape.names) for _ in range(2))
              for _ in range(rng.choice((1, 1, 2, 3)))]
    return rng.choice(oracle.PAIRS), b",".join(chosen)


def spell_operations(rng, shape, some):
    n, names, operations = shape.n, shape.names, []
    numeric = [k for k in range(n) if shape.kinds[k] not in NO_NUMBERS]
    if some and "pairs" in shape.features and rng.randrange(6) == 0:
        operations.append(spell_pairs(rng, shape, numeric))
        if operations[0][1] == b"*":
            return operations
    for _ in range(some):
        operation = rng.choice(oracle.OPERATIONS)
        pool = list(range(n)) if operation in oracle.TAKES_TEXT else numeric
        form = rng.randrange(8)
        if form == 0 or not pool:
            operations.append((operation, b"*"))
            continue
        if form == 1 and len(pool) == n and n > 1:
            low = rng.randrange(n)
            high = rng.randrange(low, n)
            operations.append((operation, rng.choice((b"%d-%d" % (low + 1, high + 1),
                                                      b"%d-" % (low + 1), b"-%d" % (high + 1)))))
            continue
        chosen = rng.sample(pool, rng.randrange(1, min(3, len(pool)) + 1))
        operations.append((operation, b",".join(spell_item(rng, k, n, names) for k in chosen)))
    if "count" in shape.features and rng.randrange(12) == 0:
        operations.insert(rng.randrange(len(operations) + 1), (oracle.COUNT_RECORDS, None))
    return operations


def make_request(rng, shape):
    operations = spell_operations(rng, shape, rng.choice((0, 1, 1, 1, 2, 3, 4)))
    format = rng.choice(("auto", "auto", "plain", "csv", "tsv", "json", "table"))
    if not operations:
        format = rng.choice(("auto", "csv", "csv", "json", "tsv", "table"))
    return oracle.Request(operations, format=format, everything=not operations and rng.randrange(2) == 0,
                          **common_of(rng, shape))


# ---- tables -----------------------------------------------------------------------------------

def make_case(seed, rows=None, request_of=None, features=CHOSEN, prepare=None):
    """A Case from a seed. rows: how many records, None for some dozens at most. request_of: what makes the request,
    None for make_request(). features: those of FEATURES that may be in it. prepare: changes the shape first, or None."""
    rng = random.Random(seed)
    shape = Shape(rng, features)
    if prepare:
        prepare(rng, shape)
    table = [shape.record(rng) for _ in range(rng.choice((0, 1, 2, 3, 5, 12, 40)) if rows is None else rows)]
    if shape.fault and table:
        shape.spoil(rng, table)
    if shape.doubtful and table:
        table[0] = [rng.choice(DOUBTFUL) for _ in table[0]]
    files = lay_out(rng, shape, table)
    return Case(files, (request_of or make_request)(rng, shape))


def lines_of(rng, shape, columns, rows, header):
    """The text of some records, those columns of theirs that are asked; None is a column of its own."""
    def text(fields):
        open_quote = fields[-1:] == ["open quote"]
        fields = fields[:-1] if open_quote else fields
        if columns is not None:
            tail = fields[shape.n:]
            fields = [b"7" if k is None else fields[k] if k < len(fields) else b"" for k in columns] + tail
        out = write_record(rng, fields, shape.dialect, shape.delimiter, shape.style, shape.stray)
        return out + shape.delimiter + (shape.dialect.quote or b'"') + b"tail" if open_quote else out

    names = [text(shape.names + [b""] * (rng.randrange(4) == 0 and shape.ragged == "open end"))] if header else []
    if header and columns is not None and None in columns:
        names = [write_record(rng, [shape.names[k] if k is not None else b"added" for k in columns], shape.dialect,
                              shape.delimiter, shape.style)]
    return names + [text(fields) for fields in rows]


def other_columns(rng, n):
    """The columns of a later file: in another order, with one more or without one."""
    columns = list(range(n))
    if rng.randrange(3):
        rng.shuffle(columns)
    form = rng.randrange(4)
    if form == 0:
        columns.insert(rng.randrange(n + 1), None)
    elif form == 1:
        columns.pop(rng.randrange(n))
    return columns


def lay_out(rng, shape, table):
    """The records as one to three files, with line ends, blank lines, BOMs, comments, preambles, repeated headers."""
    nfiles = rng.choice((2, 2, 3)) if shape.files else rng.choice((1, 1, 1, 1, 2, 3))
    bounds = sorted(rng.randrange(len(table) + 1) for _ in range(nfiles - 1))
    files = []
    for k, (low, high) in enumerate(zip([0] + bounds, bounds + [len(table)])):
        columns = other_columns(rng, shape.n) if k and shape.files else None
        header = shape.names is not None and (k == 0 or columns is not None or rng.randrange(2))
        lines = lines_of(rng, shape, columns, table[low:high], header)
        files.append(("part%d.csv" % k, file_of(rng, shape, lines)))
    return files


def file_of(rng, shape, lines):
    dialect, eols = shape.dialect, shape.eols
    data = bytearray(b"\xef\xbb\xbf" if rng.randrange(8) == 0 else b"")
    for _ in range(dialect.skip_lines):
        data += rng.choice(PREAMBLES) + rng.choice(eols)
    if says_sep(dialect, shape.delimiter):
        data += b"sep=" + shape.delimiter + rng.choice(eols)
    for line in lines:
        if dialect.comment and rng.randrange(4) == 0:
            data += dialect.comment + rng.choice(COMMENTS) + rng.choice(eols)
        data += line + rng.choice(eols)
        if shape.blanks and rng.randrange(5) == 0:
            data += rng.choice(eols) * rng.randrange(1, 4)
    if rng.randrange(3) == 0:
        for end in (b"\r\n", b"\n"):
            if data.endswith(end):
                data = data[:-len(end)] + (rng.choice((b"", b"", b"\r")) if len(lines) > 1 else b"")
                break
    return bytes(data)


# ---- the two kinds of differential test ----------------------------------------------------------

GROUP = 50  # cases a TAP line


def check_small(run_case, seed, cases, unclear_one_in):
    """`cases` small tables from `seed` on. run_case(seed) -> None (right), "unclear" (the contract is silent;
    no more than about one case in `unclear_one_in`), or what is wrong."""
    for first in range(seed, seed + cases, GROUP):
        seeds = range(first, min(first + GROUP, seed + cases))
        outcomes = [run_case(s) for s in seeds]
        unclear = outcomes.count("unclear")
        wrong = [o for o in outcomes if o not in (None, "unclear")]
        harness.ok(not wrong and unclear * unclear_one_in < len(seeds) + 3,
                   "hostile tables, seeds %d to %d" % (seeds[0], seeds[-1]),
                   lambda: "%d of %d wrong, %d unclear\n%s" % (len(wrong), len(seeds), unclear, "\n".join(wrong[:3])))


def check_large(run_case, seed, rows):
    """Eight tables of some hundred KiB, so that chunks of usual sizes have borders inside them."""
    done, seed = 0, seed + 10 ** 6
    while done < 8:
        outcome = run_case(seed, rows, [(None, None), (None, 1), (4096, 2), (1000, 3), (65536, 7), (333, 2)])
        if outcome != "unclear":
            done += 1
            harness.ok(outcome is None, "a large hostile table, seed %d" % seed, outcome or "")
        seed += 1
