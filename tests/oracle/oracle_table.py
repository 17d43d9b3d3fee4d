# SPDX-License-Identifier: MIT
"""From files to a table: the header, the records of all files under its columns, and which of them are ragged.

Table(q, exprs, files) finds the header, resolve() the columns that are asked for. rows() says what the records are, and
the BadData that comes behind them.
"""
import collections
import re

from oracle_dialect import COMMA, cut, preamble, with_rest
from oracle_header import LOOK, LOOK_NBYTES, UNCLEAR, has_header, is_place, is_value, names_of
from oracle_request import is_position, resolve
from oracle_words import MISALIGNED, line_up
from oracle_text import BOM, BadData, Unclear, Usage

# fields, lines: one for each column of the table, empty where the record has none. shape: None, or the pair (how many
# fields it has, how many it should have) where it is ragged under the policy that is asked, or "again": it is the header.
Record = collections.namedtuple("Record", "file line fields lines raw end offset shape")


def only_cr(data, dialect, delimiter):
    """Do its records end in CR, and none in LF?"""
    quote, escape = None if dialect.whitespace else dialect.quote, dialect.escape
    data = data[:1 << 20]
    found, at, start, line, comment = False, 0, True, True, False
    if b"\r" not in data[:-1]:
        return False
    inside = re.compile(b"(?:[^%s]|%s)*" % (re.escape(quote + (escape or b"")), re.escape(quote) * 2 + (
        b"|" + re.escape(escape) + b"[\\s\\S]" if escape else b""))) if quote else None
    while at < len(data):
        here = data[at:at + 1]
        comment = here == dialect.comment if line else comment
        if comment and here != b"\n":
            pass
        elif quote and start and here == quote:
            at = inside.match(data, at + 1).end()
        elif here == escape:
            at += 1
        elif here == b"\n":
            return False
        found |= here == b"\r" and at < len(data) - 1
        line, start = here == b"\r", here in (b"\r", delimiter) or (start and here and here in dialect.blanks(delimiter))
        at += 1
    return found


class Table:
    """header: a Row or None. known: how that was known (has_header()). names: its fields, or None. ncolumns: 0 where
    there is no record. nothing: is there no byte at all?"""
    def __init__(self, q, exprs, files):
        self.q, self.files, self.trouble = q, [], None
        self.nothing = not any(data[len(BOM):] if data.startswith(BOM) else data for _, data in files)
        self.has_byte, self.first_file = False, files[0][0] if files else None     # below what is dropped
        self.policy = q.ragged or ("allow" if q.sums_up() else "error")
        self.delimiter = b" " if q.dialect.whitespace else q.dialect.delimiter or COMMA
        self._read(files)
        self.exprs = exprs
        try:
            self._find_header(exprs)
        except BadData as bad:
            if bad.kind in ("doubtful", "nul", "open", "stray", "row names", "misaligned"):
                self._may_be_usage(bad.kind not in ("open", "stray"))
            raise

    def _read(self, files):
        base, self.said, begun = 0, None, False
        for name, data in files:
            try:
                at, line, said = preamble(self.q.dialect, name, data)
            except BadData as bad:
                self.trouble, at, said = bad, 0, None
            if begun and said and said != self.delimiter:
                self.trouble = BadData("another 'sep='", {(name, line - 1)}, kind="sep")
            if not self.trouble and only_cr(data[at:], self.q.dialect, said or self.delimiter):
                self.trouble = BadData("CR only", {(name, None)}, kind="cr")
            if self.trouble:
                break
            self.said = self.said or said
            if not begun and said:
                self.delimiter = said
            begun = begun or len(data) > len(BOM) * data.startswith(BOM)
            rows, self.trouble = cut(self.q.dialect, self.delimiter, name, data, base)
            self.files.append(rows)
            if self.trouble:
                break
            self.has_byte |= at < len(data)
            base += len(data)

    def _find_header(self, exprs):
        q = self.q
        self.header = self.names = None
        full = next((r for rows in self.files for r in rows if not r.blank), None)
        if full is None:
            if self.trouble:
                raise self.trouble
            self.ncolumns, self.known, self.second = 0, "values", None
            self._refuse_names(exprs)
            return
        self.with_blanks = self.files
        if len(self._of_words([r for rows in self.files for r in rows if not r.blank]).fields) > 1:
            self.files = [[r for r in rows if not r.blank] for rows in self.files]
        flat = [r for rows in self.files for r in rows]
        only_positions = not exprs and all(is_position(text) for _, text, _ in q.items())
        if flat[0].blank and q.header != "no" and (not only_positions or q.news or q.header == "yes"
                                                   or not is_value(q, full.fields[0])
                                                   or (q.dialect.quote and q.dialect.quote in full.raw)):
            raise Unclear("a blank line where the header may be")
        if full.stray:          # so how many columns there are is not known, nor what blank lines are
            raise self.trouble
        if flat[0].blank and self.trouble and q.header != "no":
            raise Unclear("a blank line, then an error")
        self.first = first = self._of_words(flat)
        below = self._below(flat, first)
        found, self.known = has_header(q, exprs, self.delimiter, full if first.blank else first, full if first.blank else flat[0],
                                       below, flat[1] if below else None)
        if not found:
            self.layout, self.first = None, flat[0]
            first = flat[0]
        elif self.layout is MISALIGNED:
            raise BadData("another number of words than the next record", {(first.file, first.line)}, kind="misaligned")
        if found:
            self.header, self.names = first, names_of(first)
            self._refuse_row_names(first, flat[1:])
        self.second = below[0] if below else UNCLEAR
        self.ncolumns = len(first.fields if found else full.fields)
        self.open_end = not q.dialect.whitespace and ends_open(full, self.delimiter, q.dialect)

    def _refuse_row_names(self, first, below):
        """R leaves out the name of the first column: then each record has one field more, and --ragged would take it."""
        n, look = len(first.fields), 0
        if self.policy == "error" or self.q.dialect.whitespace or (n == 1 and not self.q.ragged) or is_comment(self.q.dialect, first):
            return
        for row in below[:LOOK]:
            if row.file != first.file or row.stray:
                break
            if len(row.fields) != n + 1 or not (row.parts[-1].strip(b" \t") if self.q.dialect.trim else row.parts[-1]):
                return
            look += 1
        if look:
            raise BadData("a name less than fields", {(first.file, first.line)}, kind="row names")

    def _refuse_names(self, exprs):
        """An input without a byte has no column of a name."""
        items = [(text, quoted) for _, text, quoted in self.q.items()] + [item for e in exprs for item in e.items()]
        if not self.has_byte and any(quoted or not (text == b"*" or text.startswith(b":") or text.isdigit() or is_place(text))
                                     for text, quoted in items):
            raise BadData("an empty input, and a name", {(self.first_file, None)}, kind="empty")

    def _below(self, flat, first):
        """The fields of the records below the first one in its file, up to the first that is wrong."""
        below = []
        for row in flat[flat.index(flat[0]) + 1:]:
            if row.file != first.file or row.stray or end_of(row) > end_of(first) + LOOK_NBYTES:
                break
            fields = row.fields
            if self.q.dialect.whitespace:       # the last takes the rest here, whether or not new columns come behind it
                fields = with_rest(row, len(first.fields)).fields if self.layout in (None, MISALIGNED) else self.layout.cut(row.raw)
            if fields is None:
                break
            below.append(fields)
        return below

    def _of_words(self, flat):
        """The first record. Of -W, its fields if it is a header: how records stand below it tells."""
        self.layout = None
        if self.q.dialect.whitespace and self.q.header != "no":
            self.layout = self._lined_up(flat)
        return self._below_itself(flat[0], self.layout)

    def _lined_up(self, rows):
        """How records stand below a header. Blank lines are none here: how many columns there are is not known yet."""
        records = [r.raw for r in rows[1:] if r.file == rows[0].file and not r.blank]
        return None if rows[0].blank else line_up(rows[0].raw, records)

    def _below_itself(self, row, layout):
        if layout in (None, MISALIGNED):
            return row
        fields = layout.cut(row.raw)
        return row._replace(fields=fields, lines=(row.line,) * len(fields))

    def _words(self, row, layout, n):
        """The fields of a record in a table of n columns; None if it does not stand below the header."""
        if layout not in (None, MISALIGNED):
            return layout.cut(row.raw)
        return row.fields if self._widens() else with_rest(row, n).fields

    def _widens(self):
        """Are new fields printed behind those of a record?"""
        return bool(self.q.news) and not self.q.only

    def _use(self, layout):
        """Sets what is read below the names. Returns whether a record may lack its last fields."""
        q, beside = self.q, self._widens()
        if layout is None:
            return False
        if beside and not layout.by_words:
            raise BadData("new columns beside fields that may be empty", kind="aligned only")
        layout.by_columns = layout.by_columns and not beside
        layout.rest = layout.rest and not beside
        layout.shorter_fails = layout.by_columns and (not layout.by_words or (self.policy == "error" and q.invalid != "skip"))
        return layout.shorter_fails

    # ---- columns ----------------------------------------------------------------------------

    def resolve(self):
        """The columns that are selected otherwise than by '*'; Usage."""
        needed = set()
        try:
            for expr in self.exprs:
                expr.resolve(self.names, self.ncolumns)
                needed |= expr.needs()
            for _, text, as_written in self.q.items():
                if text != b"*":
                    needed.update(resolve(text, as_written, self.names, self.ncolumns))
        except Usage as wrong:
            if self.second is UNCLEAR and self.q.asks_star():
                raise Unclear("which of two errors comes first") from None
            raise
        return needed

    def _comes_first(self, wrong):
        """Is it reported before a bad value of the first record? How many fields there are is known, names may not be."""
        return not self.q.dialect.whitespace and "ambiguous" not in str(wrong)

    def _may_be_usage(self, understood):
        """Raises Usage, or Unclear, where an item is unknown besides what is wrong with the first record."""
        first = next((r for rows in self.files for r in rows if not r.blank), None)
        self.ncolumns, self.names, self.second = (len(first.fields), names_of(first), ()) if first else (0, [], ())
        self.first = first
        self.known = "said"
        try:
            self.resolve()
        except Usage as wrong:
            if understood and self._comes_first(wrong):
                raise
            raise Unclear("which of two errors comes first") from None

    # ---- records ----------------------------------------------------------------------------

    def rows(self, needed):
        """needed: 0-based columns that the answer depends on. -> ([Record], the BadData behind them or None)."""
        out, first, self.tolerated = [], self.header, []
        for rows, with_blanks in zip(self.files, self.with_blanks):
            columns, n, open_end, layout, header = None, self.ncolumns, self.open_end, self.layout, self.header
            if rows and first and rows[0].offset == first.offset:
                rows = rows[1:]
            elif rows and rows[0].stray:
                return out, self.trouble
            elif rows and not first and self.known == "values" and rows[0].file != self.first.file:
                row = next((r for r in rows if not r.blank), None)
                if row and self._may_be_header(row):
                    return out, BadData("may be a header", {(row.file, row.line)}, kind="files")
            elif rows and first:
                own = self._lined_up(rows) if self.q.dialect.whitespace else None
                rows = [self._below_itself(rows[0], own)] + rows[1:]
                columns = self._columns_of(rows[0], needed)
                if isinstance(columns, BadData):
                    if own is MISALIGNED:
                        raise Unclear("two faults of a later header")
                    return out, columns
                if columns is None:
                    rows = [with_blanks[with_blanks.index(next(r for r in with_blanks if r.offset == rows[0].offset))]] + rows[1:]
                elif own is MISALIGNED:
                    return out, BadData("another number of words than the next record", {(rows[0].file, rows[0].line)}, kind="misaligned")
                else:
                    layout = own
                    try:
                        self._refuse_row_names(rows[0], rows[1:])
                    except BadData as bad:
                        return out, bad
                if columns is not None:
                    n = len(rows[0].fields)
                    header = rows[0]
                    if names_of(header) != self.names:
                        open_end = ends_open(header, self.delimiter, self.q.dialect)
                    if n == 1:
                        rows = with_blanks[[r.offset for r in with_blanks].index(rows[0].offset):]
                    rows = [r for r in rows[1:] if n == 1 or not r.blank]
            lacks = self._use(layout)
            for r in rows:
                if r.stray is not None:
                    continue
                if self.q.dialect.whitespace and not r.blank:
                    fields = self._words(r, layout, n)
                    if fields is None:
                        return out, BadData("not below the header", {(r.file, r.line)},
                                            kind="aligned only" if self._widens() else "unaligned")
                    r = r._replace(fields=fields, lines=(r.line,) * len(fields))
                out.append(self._record(r, header, columns, n, open_end, lacks))
        trouble = self.trouble
        return out, trouble

    def _may_be_header(self, row):
        """Has the first record of a later file a text, and no number?"""
        if any(b"\0" in f for f in row.fields):
            raise Unclear("a NUL in what may be a header")
        known = [f for f in row.fields if not self.q.is_missing(f)]
        return known and not any(self.q.is_number(f) for f in known)

    def _columns_of(self, row, needed):
        """What the first record of a later file is: the file's own columns in the header's order (None for one that it
        lacks) where it is a header, else None; or what is wrong with it."""
        names, own = self.names, names_of(row)
        if row.blank:
            raise Unclear("a blank line where a repeated header may be")
        if own == names:
            return list(range(len(names)))
        if any(b"\0" in f for f in row.fields):
            raise Unclear("a NUL in what may be a header")
        if self.q.header != "yes":
            texts = {f for f in own if f and not self.q.is_number(f)}
            in_place = [a for a, b in zip(own, names) if a and a == b]
            data = any(f not in names and (not is_alike(f, names[k] if k < len(names) else b"") if self.q.is_number(f) else self.q.is_missing(f))
                       for k, f in enumerate(own) if f)
            known = sum(f in names for f in own if f)
            is_header = (any(f in texts for f in in_place) or (len(in_place) > 1 and not data)
                         or (texts & set(names) and (2 * known > len(own) or not data)))
            if not is_header:
                return None if data and not in_place else BadData("may be a header", {(row.file, row.line)}, kind="files")
        return self._matched(row, own, needed)

    def _matched(self, row, own, needed):
        names = self.names
        if any(own.count(names[k]) != names.count(names[k]) for k in needed) or self._prints_records():
            if self.q.asks_star() and not self._prints_records():
                raise Unclear("'*', and a column that a later header lacks")
            return BadData("another header", {(row.file, row.line)}, kind="files")
        found, left = [], list(own)
        for name in names:
            found.append(left.index(name) if name in left else None)
            if name in left:
                left[left.index(name)] = None
        return found

    def _prints_records(self):
        return not self.q.operations and not self.q.sums_up() and not self.q.only

    def _is_header(self, row, header):
        """Has the record the header's values, but for an empty last one? header: its file's, or the first file's if it has none of its own."""
        if row.raw.startswith(BOM):
            if row.raw != BOM + header.raw and set(row.fields[1:]) & set(header.fields):
                raise Unclear("a byte-order mark before what may be the header")
            return row.raw == BOM + header.raw
        a, b = list(row.fields), list(header.fields)
        if len(a) > len(b):
            a, b = b, a
        return a == b or a + [b""] == b

    def _record(self, row, header, columns, n, open_end, lacks):
        count, fields, lines = len(row.fields), row.fields, row.lines
        shape = None
        if count != n and not (lacks and count < n) and not fits(row, count, n, open_end, self.delimiter, self.q.dialect):
            if not (self.policy == "allow" or (self.policy == "extra" and count > n)):
                shape = count, n
            self.tolerated.append(row)
        if columns is not None and columns != list(range(self.ncolumns)):
            fields = [fields[k] if k is not None and k < count else b"" for k in columns]
            lines = [lines[k] if k is not None and k < count else row.line for k in columns]
        elif count != self.ncolumns:
            fields = fields[:self.ncolumns] + (b"",) * (self.ncolumns - count)
            lines = lines[:self.ncolumns] + (row.line,) * (self.ncolumns - count)
        raw = row.raw
        if header and not all(map(self.q.is_missing, header.fields)) and self._is_header(row, header):
            shape = "again"
        if count != n and row.parts:    # where it is printed, it has as many fields as the first
            raw = self.delimiter.join(row.parts[:n] + (b"",) * (n - count))
        elif count > n and self.q.dialect.whitespace and self.layout is None:
            raw = row.raw[:[word.start() for word in re.finditer(rb"[^ \t]+", row.raw)][n] - 1]
        return Record(row.file, row.line, fields, lines, raw, row.end, row.offset, shape)


def end_of(row):
    return row.offset + len(row.raw) + len(row.end)


def is_alike(a, b):
    """Are they numbers of as many digits, and nothing else?"""
    return re.fullmatch(rb"[0-9]+", a) is not None and re.fullmatch(rb"[0-9]+", b) is not None and len(a) == len(b)


def is_comment(dialect, row):
    """Is a first record rather a comment than names?"""
    quoted = dialect.quote and row.raw.startswith(dialect.quote)
    quoted = quoted or (b" " if dialect.whitespace else dialect.delimiter or COMMA) in row.fields[0]
    text = row.fields[0].split(b"\0", 1)[0]
    if dialect.comment or quoted or text[:1] not in (b"#", b"%"):
        return False
    return text[1:2] in (b" ", b"!", text[:1]) or (len(row.fields) == 1 and len(text) > 1)


def ends_open(row, delimiter, dialect):
    """Does it end with a delimiter, so that its last field is empty?"""
    return row.fields[-1] == b"" and row.raw.rstrip(dialect.blanks(delimiter)).endswith(delimiter)


def fits(row, count, n, open_end, delimiter, dialect):
    """Is a record of `count` fields as good as one of n? open_end: does the first one end with a delimiter?"""
    if count == n + 1:
        return ends_open(row, delimiter, dialect)
    return count == n - 1 and open_end


def ragged(record):
    if record.shape == "again":
        return BadData("the header again", {(record.file, record.line)}, kind="again")
    count, n = record.shape
    return BadData("%d fields, not %d" % (count, n), {(record.file, record.line)}, kind="ragged")


FOREIGN = re.compile(rb"\x1f\x8b|.\x2a\x4d\x18|\x28\xb5\x2f|BZh|\xfd7zXZ|PK|PAR1|ARROW1|SQLite|%PDF|\x7fELF|\xff\xfe"
                     rb"|\xfe\xff|[\s]*[\[{]", re.S)


# Whole files that are the beginning of a magic number, and no text: of gzip, zstd and xz.
PIECES = (b"\x1f", b"\x28\xb5", b"\x28\xb5\x2f", b"\xfd", b"\xfd7", b"\xfd7z", b"\xfd7zX", b"\xfd7zXZ")


def seems_foreign(data):
    """May the program take it for another format: packed, UTF-16, JSON …?"""
    if data in PIECES:
        return True
    head = data[:4096]
    return FOREIGN.match(data) is not None or head.count(b"\0") * 8 > len(head)
