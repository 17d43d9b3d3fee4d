# SPDX-License-Identifier: MIT
"""Random hostile tables, the same for the same seed.

A table has quoted and unquoted fields, delimiters, newlines and doubled quotes inside quotes, stray quotes, CRLF and
lone CR, blank lines, missing values, wide numbers; keys that repeat; another dialect and notation
(hostile_dialect.py) where the options of a command line ask for it; now and then ragged records, files with other
columns, or one fault. hostile_request.py draws the command lines.
"""
import oracle_time
from hostile_dialect import (COMMENTS, PREAMBLES, dialect_for, in_notation, notation_for, random_dialect, says_sep,
                             write_record)

NO_NUMBERS = ("text", "date", "datetime", "empty", "key", "clock")
FAULTS = ("not a number", "out of range", "open quote", "ragged", "stray")
SPELLINGS = (b"NA", b"null", b"-", b"n/a", b"-999")
NAMES = (b"a", b"bytes", b"two words", b"x,y", b"semi;colon", b"say \"hi\"", b"12\" disk",
         b"line\nbreak", "größe".encode(), b"seconds", b"c_1", b"tab\there", b"p|q")
TAME_NAMES = (b"a", b"bytes", b"two words", "gr\u00f6\u00dfe".encode(), b"seconds", b"c_1", b"x", b"y", b"host")
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
KINDS = ("small", "int", "decimal", "decimal", "edge", "zeros", "exponent", "wide", "mixed", "text", "text", "date", "datetime",
         "empty")
NUMBERS = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")


KEYS = (b"a", b"a", b"b", b"A", b"", b" ", b" a", b"a ", b"x,y", b"x\ny", b"x\r\ny", b'say "hi"', b'"', b"\xff", b"\xff\xfe",
        b"\xc3", "gr\u00f6\u00dfe".encode(), b"10", b"9", b"10.0", b"-1", b"1e1", b"007", b"7", b"NA", b"null", b"-", b"tab\t",
        b"a;b", b"a|b", b"'", b"\\", b"#", b"=1+1", b"404", b"200")
KEY_LENGTHS = (6, 7, 8, 9, 14, 15, 16, 17, 23, 31, 32, 33, 63, 64, 65, 200)     # at some a key is kept in another way


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


def column_names(rng, n, tame=False):
    names = rng.sample(TAME_NAMES if tame else NAMES, min(n, len(NAMES)))
    return names + [b"n%d" % k for k in range(len(names), n)]


# ---- keys ---------------------------------------------------------------------------------------

def random_key(rng, missing):
    form = rng.randrange(8)
    if form < 4:
        return rng.choice(KEYS + tuple(missing))
    if form == 4:
        return b"k" * rng.choice(KEY_LENGTHS) + rng.choice((b"", b"", b"1", b"2"))
    if form == 5:
        return bytes(rng.randrange(1, 256) for _ in range(rng.randrange(1, 20)))
    if form == 6:
        return rng.choice((b"user", b"host-", b"10.0.0.")) + b"%d" % rng.randrange(1000)
    return number_text(rng, rng.choice(("small", "decimal"))).encode()


def random_keys(rng, missing):
    """What a column of keys holds: mostly few, so that groups have several records; one table in ten has as many as records."""
    if rng.randrange(10) == 0:
        some = [random_key(rng, missing)[:40] for _ in range(20)]
        return [b"%s%d" % (rng.choice(some), i) for i in range(3000)]
    return [random_key(rng, missing) for _ in range(rng.choice((1, 2, 3, 5, 5, 10, 30)))]


# ---- what a table is like -----------------------------------------------------------------------

class Shape:
    """What one table is like: drawn once, then used for every record.

    asked: the names of the options of the command line; what they are about is in the table, and mostly nothing else
    that would be an error without them. tame: nothing is at fault, and all is usual but what was asked for. named: the
    command line asks for columns by their names alone."""
    def __init__(self, rng, asked=frozenset(), tame=False, named=False):
        asked, self.tame, self.named = frozenset(asked), tame, named

        def odd(one_in):
            return not tame and rng.randrange(one_in) == 0
        self.dialect, self.delimiter = dialect_for(rng, asked, tame)    # what the command line says
        self.written = self.dialect
        if odd(25):                                                 # and what is not so
            self.written, self.delimiter = random_dialect(rng)
        self.notation = notation_for(rng, asked, self.delimiter, self.dialect.quote)
        self.n = rng.choice((1, 1, 2, 3, 4, 6, 9)) if not tame else rng.choice((3, 4, 6))
        self.kinds = [rng.choice(KINDS) for _ in range(self.n)]
        if tame:
            self.kinds[0] = "decimal"
        has_names = (tame or rng.randrange(4)) and ("no-headers" not in asked or (rng.randrange(8) == 0 and not tame))
        self.names = column_names(rng, self.n, tame) if has_names else None
        self.missing = rng.sample(SPELLINGS, rng.randrange(1, 4)) if "missing" in asked else []
        for k in rng.sample(range(self.n), min(self.n, rng.choice((1, 1, 1, 2, 3)))) if "by" in asked or odd(6) else ():
            if (self.n > 1 or rng.randrange(4) == 0) and not (tame and k == 0):
                self.kinds[k] = "key"
        self.timed = "over" in asked
        if self.timed:
            self.kinds[-1] = rng.choice(("rising", "clock"))
            self.clock, self.steps = rng.randrange(-10 ** 6, 10 ** 9), rng.choice(((0, 1, 1, 2, 60), (0, 3600, 86400), (1, 10 ** 6)))
        self.keys = random_keys(rng, self.missing) if "key" in self.kinds else [b""]
        self.fault = rng.choice(FAULTS) if odd(8) else None
        self.invalid = rng.choice(("skip", "skip", "skip", "error")) if "invalid" in asked else None
        if "max-invalid" in asked and (tame or rng.randrange(8)):
            self.invalid = "skip"
        self.style = rng.choice((0, 5, 30, 100))
        self.eols = rng.choice(((b"\n",), (b"\r\n",), (b"\n", b"\r\n")))
        self.policy = rng.choice(("error", "extra", "extra", "allow", "allow")) if "ragged" in asked else None
        self.ragged = None
        if self.policy or odd(20):
            self.ragged = rng.choice(("open end", "open end", "more", "more", "any", "any"))
        self.blanks = odd(3)
        self.nul = odd(25)
        if self.nul:
            self.keys.append(b"k\0")
        self.stray = self.fault == "stray"
        self.files = self.n > 1 and self.names and odd(8)
        self.doubtful = not self.names and odd(8)

    def cell(self, rng, kind):
        """The content of a field."""
        if kind == "key":
            return rng.choice(self.keys)
        if rng.randrange(10) == 0:
            return self.filled(rng, rng.choice((b"", b"", b" ", *self.missing)))
        if kind == "text":
            return rng.choice(TEXTS) if not self.nul or rng.randrange(9) else b"x\0y"
        if kind == "empty":
            return self.filled(rng, b"")
        if kind in ("date", "datetime"):
            odd = rng.randrange(60) == 0 and not self.tame
            return rng.choice(NO_DATES) if odd else rng.choice(DATES) + rng.choice(TIMES) * (kind == "datetime")
        if kind in ("rising", "clock"):
            return self.tick(rng, kind)
        if kind == "mixed":
            kind = rng.choice(NUMBERS)
        return pad(rng, in_notation(rng, number_text(rng, kind), self.notation), self.delimiter)

    def tick(self, rng, kind):
        """A time that is not before the last one; seldom, if that may be, one that is."""
        self.clock += rng.choice(self.steps)
        now = self.clock - (rng.randrange(100) == 0 and not self.tame)
        part = rng.choice(("", "", "", ".25"))
        if kind == "rising":
            return in_notation(rng, str(now + 10 ** 9) + part, self.notation)
        day, clock = divmod(now + 10 ** 9, 86400)
        text = "%04d-%02d-%02d" % oracle_time.date_of(day)
        return (text + rng.choice("T ") * (not self.dialect.whitespace) + "T" * bool(self.dialect.whitespace)
                + "%02d:%02d:%02d" % (clock // 3600, clock // 60 % 60, clock % 60) + part + rng.choice(("Z", ""))).encode()

    def filled(self, rng, text):
        """Words have no other way to say that a value is missing than a spelling of it."""
        if self.dialect.whitespace and not text.strip():
            return rng.choice(self.missing) if self.missing else b"0"
        return text

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


# ---- tables -----------------------------------------------------------------------------------

def draw_records(rng, shape, rows=None):
    """The contents of a table's records. rows: how many, None for some dozens at most."""
    if rows is None:
        rows = rng.choice((0, 1, 2, 3, 5, 12, 40)) if not shape.tame else rng.choice((2, 3, 5, 12, 40))
    table = [shape.record(rng) for _ in range(rows)]
    if shape.fault and table:
        shape.spoil(rng, table)
    if shape.doubtful and table:
        table[0] = [rng.choice(DOUBTFUL) for _ in table[0]]
    return table


def lines_of(rng, shape, columns, rows, header):
    """The text of some records, those columns of theirs that are asked; None is a column of its own."""
    def text(fields):
        open_quote = fields[-1:] == ["open quote"]
        fields = fields[:-1] if open_quote else fields
        if columns is not None:
            tail = fields[shape.n:]
            fields = [b"7" if k is None else fields[k] if k < len(fields) else b"" for k in columns] + tail
        out = write_record(rng, fields, shape.written, shape.delimiter, shape.style, shape.stray)
        return out + shape.delimiter + (shape.written.quote or b'"') + b"tail" if open_quote else out

    names = [text(shape.names + [b""] * (rng.randrange(4) == 0 and shape.ragged == "open end"))] if header else []
    if header and columns is not None and None in columns:
        names = [write_record(rng, [shape.names[k] if k is not None else b"added" for k in columns], shape.written,
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


def before_records(rng, shape):
    """A byte-order mark, lines to be skipped, a line that says what the delimiter is."""
    dialect, eols = shape.written, shape.eols
    data = bytearray(b"\xef\xbb\xbf" if rng.randrange(8) == 0 else b"")
    for _ in range(dialect.skip_lines):
        data += rng.choice(PREAMBLES) + rng.choice(eols)
    if says_sep(dialect, shape.delimiter):
        data += b"sep=" + shape.delimiter + rng.choice(eols)
    return data


def with_end(rng, shape, line):
    """A record with its line end, perhaps comments before it and blank lines behind it."""
    out = shape.written.comment + rng.choice(COMMENTS) + rng.choice(shape.eols) if shape.written.comment and rng.randrange(4) == 0 else b""
    out += line + rng.choice(shape.eols)
    return out + (rng.choice(shape.eols) * rng.randrange(1, 4) if shape.blanks and rng.randrange(5) == 0 else b"")


def file_of(rng, shape, lines):
    data = before_records(rng, shape) + b"".join([with_end(rng, shape, line) for line in lines])
    if rng.randrange(3) == 0:
        for end in (b"\r\n", b"\n"):
            if data.endswith(end):
                data = data[:-len(end)] + (rng.choice((b"", b"", b"\r")) if len(lines) > 1 else b"")
                break
    return bytes(data)
