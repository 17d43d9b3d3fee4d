# SPDX-License-Identifier: MIT
"""How bytes are cut into records and fields, in every dialect: the lowest part of the model.

Dialect holds the options, cut() the rules. records_by_csv_module() is Python's csv module, which oracle_check.py
holds against cut() where both mean the same. Nothing here was taken from the program.
"""
import collections
import csv
import functools
import io
import re

from oracle_text import BLANKS, BOM, BadData, Unclear

COMMA = b","


class Dialect:
    """delimiter: a byte, or None where nothing was said, which is a comma or what a first line 'sep=' says. quote and
    escape: a byte or None. comment: the byte that begins a line to be skipped, or None. whitespace: -W.
    skip_lines: how many lines of each file are no part of the table. trim: blanks around a field are no part of it."""
    pad, right = 0, 0       # of -W, how wide columns are written, and which to the right: hostile_dialect.write_below()

    def __init__(self, delimiter=None, quote=b'"', escape=None, comment=None, whitespace=False, skip_lines=0, trim=False):
        self.delimiter, self.quote, self.escape = delimiter, quote, escape
        self.comment, self.whitespace, self.skip_lines, self.trim = comment, whitespace, skip_lines, trim

    def blanks(self, delimiter):
        """The bytes that are trimmed."""
        return BLANKS.replace(delimiter, b"") if self.trim else b""

    def args(self):
        out = [b"-d", self.delimiter] if self.delimiter is not None else []
        if self.whitespace:
            out.append(b"-W")
        if self.trim:
            out.append(b"--trim")
        if self.quote != b'"':
            out.append(b"--quote=" + (self.quote or b"none"))
        for name, value in ((b"escape", self.escape), (b"comment", self.comment)):
            if value is not None:
                out += [b"--" + name, value]
        if self.skip_lines:
            out.append(b"--skip-lines=%d" % self.skip_lines)
        return out


# fields: contents, without quotes and escapes. lines: the physical line on which each begins. raw: the record
# without its line end, and parts those of each field, but with -W. offset: its first byte in the whole input. stray: the
# line of text behind a closing quote, or None.
Row = collections.namedtuple("Row", "file line fields lines raw end offset blank stray parts")


# ---- what stands before the records ------------------------------------------------------------

def preamble(dialect, name, data):
    """-> (where the records begin, its line number, the delimiter that a line 'sep=' names, or None)."""
    at, line = len(BOM) if data.startswith(BOM) else 0, 1
    if dialect.skip_lines and b"\n" not in data and b"\r" in data[at:-1]:
        raise BadData("CR only, in the lines to skip", {(name, None)}, kind="cr")
    for _ in range(dialect.skip_lines if at < len(data) else 0):
        if at == len(data):
            raise BadData("fewer lines than --skip-lines says", {(name, None)}, kind="few")
        stop = data.find(b"\n", at)
        at, line = (stop + 1 if stop >= 0 else len(data)), line + 1
    if dialect.skip_lines and data.startswith(BOM, at):
        raise Unclear("a byte-order mark behind skipped lines")
    said = re.compile(rb"sep=([^\r\n])(\r?\n|\r?\Z)").match(data, at)
    if said is None or dialect.delimiter is not None or dialect.whitespace or said[1].isalnum() or said[1] == b'"':
        return at, line, None
    if said[1] in (dialect.quote, dialect.escape, dialect.comment):
        raise Unclear("a line 'sep=' of an odd byte")
    return said.end(), line + 1, said[1]


# ---- records ---------------------------------------------------------------------------------

@functools.lru_cache(None)
def _patterns(delimiter, quote, escape):
    """The expressions of an unquoted field, of what stands between quotes, and of what an escape or two quotes mean."""
    e, d, q = (re.escape(x) if x else b"" for x in (escape, delimiter, quote))
    taken = e + rb"[\s\S]|" if escape else b""
    plain = re.compile(rb"(?:" + taken + rb"[^\n\r" + d + e + rb"]|\r(?!\n|\Z))*")
    inside = re.compile(rb"(?:" + taken + rb"[^" + q + e + rb"]|" + q + q + rb")*") if quote else None
    change = re.compile((e + rb"([\s\S])|" if escape else b"()") + (q + q if quote else rb"(?!)"))
    return plain, inside, change if escape or quote else None


class _Cutter:
    """Reads one file of delimited fields. rows grows; trouble is the BadData that ends it."""
    def __init__(self, dialect, delimiter, name, data, at, line, base):
        self.dialect, self.delimiter, self.name = dialect, delimiter, name
        self.data, self.at, self.line, self.base = data, at, line, base
        self.plain, self.inside, self.change = _patterns(delimiter, dialect.quote, dialect.escape)
        self.blanks = dialect.blanks(delimiter)
        self.rows, self.trouble = [], None

    def run(self):
        while self.trouble is None and self.at < len(self.data):
            if self.dialect.comment and self.data.startswith(self.dialect.comment, self.at):
                stop = self.data.find(b"\n", self.at)
                self.at, self.line = (stop + 1 if stop >= 0 else len(self.data)), self.line + 1
                continue
            self.record()
        return self.rows, self.trouble

    def record(self):
        begin, first, fields, lines, parts = self.at, self.line, [], [], []
        self.stray = None
        while True:
            lines.append(self.line)
            start, field = self.at, self.field()
            if self.trouble:
                return
            fields.append(field)
            parts.append(self.data[start:self.at])
            if not self.data.startswith(self.delimiter, self.at):
                break
            self.at += 1
        raw = self.data[begin:self.at]
        end = re.compile(rb"\r?\n|\r\Z|\Z").match(self.data, self.at)[0]
        self.at, self.line = self.at + len(end), self.line + 1
        self.rows.append(Row(self.name, first, tuple(fields), tuple(lines), raw, end, self.base + begin,
                             not raw.strip(self.blanks), self.stray, tuple(parts)))
        if self.stray is not None:
            self.trouble = BadData("text behind a closing quote", {(self.name, self.stray)}, kind="stray")

    def field(self):
        data, quote = self.data, self.dialect.quote
        self.skip_blanks()
        if quote and not self.dialect.trim and self.begins_late():
            self.stray = self.stray or self.line
        if not quote or not data.startswith(quote, self.at):
            return self.take(self.plain, quote and None)
        opened = self.line
        self.at += 1
        text = self.take(self.inside, quote)
        if self.trouble or not data.startswith(quote, self.at):
            self.trouble = BadData("open quote", {(self.name, opened)}, kind="open")
            return None
        self.at += 1
        self.skip_blanks()
        closed, here = self.at, self.line
        behind = self.take(self.plain, None)
        if self.at > closed:
            self.stray = self.stray or here
        return text + behind

    def begins_late(self):
        """Do blanks and then a quoted field come here, or blanks and a quote that its line does not close?"""
        blanks = BLANKS.replace(self.delimiter, b"")
        line = self.data[self.at:].split(b"\n", 1)[0]
        rest = line.lstrip(blanks)
        if rest == line or not rest.startswith(self.dialect.quote):
            return False
        closed = self.inside.match(rest, 1).end()
        if not rest.startswith(self.dialect.quote, closed):
            return True
        after = rest[closed + 1:].lstrip(blanks)
        return after in (b"", b"\r") or after.startswith(self.delimiter)

    def skip_blanks(self):
        while self.blanks and self.data[self.at:self.at + 1] in [self.blanks[i:i + 1] for i in range(len(self.blanks))]:
            self.at += 1

    def take(self, pattern, doubled):
        """What `pattern` takes from here on, without escapes; `doubled`: the byte of which two mean one."""
        piece = pattern.match(self.data, self.at)[0]
        self.at += len(piece)
        self.line += piece.count(b"\n")
        escape = self.dialect.escape
        if self.blanks and pattern is self.plain:
            bare = piece.rstrip(self.blanks)
            if escape and bare != piece and re.match(rb"(?:[^%s]|%s[\s\S])*\Z" % (2 * (re.escape(escape),)), bare) is None:
                bare = piece[:len(bare) + 1]        # the first of the blanks is escaped
            piece = bare
        if escape and self.data.startswith(escape, self.at):
            self.trouble = BadData("an escape byte is the last one", {(self.name, self.line)}, kind="escape")
        if escape and escape in piece:
            return self.change.sub(lambda m: m[1] or m[0][:1], piece) if doubled else \
                re.sub(re.escape(escape) + rb"([\s\S])", rb"\1", piece)
        return piece.replace(doubled * 2, doubled) if doubled else piece


def _cut_blanks(dialect, name, data, at, line, base):
    """The same for -W. Row.fields are all fields; with_rest() cuts a record of a known table."""
    rows = []
    for m in re.compile(rb"([^\n]*?)(\r?\n|\r\Z|\Z)").finditer(data, at):
        raw, end = m[1], m[2]
        if m.start() == len(data):
            break
        if not (dialect.comment and raw.startswith(dialect.comment)):
            text = raw.strip(BLANKS)
            fields = tuple(re.split(rb"[ \t]+", text))
            rows.append(Row(name, line, fields, (line,) * len(fields), raw, end, base + m.start(), not text, None, None))
        line += 1
    return rows, None


def with_rest(row, n):
    """A record of -W in a table of n columns: the last one holds the rest of the line."""
    if len(row.fields) <= n:
        return row
    text = row.raw.strip(BLANKS)
    fields = re.split(rb"[ \t]+", text, maxsplit=n - 1) if n > 1 else [text]
    return row._replace(fields=tuple(fields), lines=row.lines[:n])


def cut(dialect, delimiter, name, data, base=0):
    """-> (the Rows of a file, blank ones too, the BadData behind them or None). base: bytes of the files before."""
    at, line, _ = preamble(dialect, name, data)
    if dialect.whitespace:
        return _cut_blanks(dialect, name, data, at, line, base)
    return _Cutter(dialect, delimiter, name, data, at, line, base).run()


# ---- the other opinion -----------------------------------------------------------------------

def has_lone_cr(data):
    return re.search(rb"\r(?!\n)", data) is not None


def records_by_csv_module(data, delimiter=b",", quote=b'"', escape=None):
    """The same by Python's csv module, contents only, [] for a blank line. No lone CR, please."""
    csv.field_size_limit(1 << 30)
    how = dict(delimiter=delimiter.decode("latin-1"), escapechar=escape and escape.decode("latin-1"))
    how.update(dict(quotechar=quote.decode("latin-1")) if quote else dict(quoting=csv.QUOTE_NONE, quotechar=None))
    rows = csv.reader(io.StringIO(data.decode("latin-1"), newline=""), **how)
    return [[field.encode("latin-1") for field in row] for row in rows]
