# SPDX-License-Identifier: MIT
"""From files to a table: the header, the records of all files under its columns, and which of them are ragged.

Table(q, exprs, files) finds the header. rows() says, once it is known which columns are needed, what the records are and
the BadData that comes behind them.
"""
import collections
import re

from oracle_dialect import COMMA, cut, preamble, with_rest
from oracle_request import UNCLEAR, has_header, is_position
from oracle_text import BOM, BadData, Unclear

# fields, lines: one for each column of the table, empty where the record has none. shape: None, or the pair (how many
# fields it has, how many it should have) where it is ragged under the policy that is asked. Table.tolerated lists all ragged ones, whatever the policy.
Record = collections.namedtuple("Record", "file line fields lines raw end offset shape")


def only_cr(data):
    """Are its line ends CR only?"""
    if b"\n" in data or b"\r" not in data:
        return False
    if data.rstrip(b"\r").count(b"\r") == 0 or b'"' in data:
        raise Unclear("a CR at the end of what has no other line end, or in quotes")
    return True


class Table:
    """header: a Row or None. known: how that was known (has_header()). names: its fields, or None. ncolumns: 0 where
    there is no record. nothing: is there no byte at all?"""
    def __init__(self, q, exprs, files):
        self.q, self.files, self.trouble = q, [], None
        self.nothing = not any(data[len(BOM):] if data.startswith(BOM) else data for _, data in files)
        self.policy = q.ragged or ("allow" if q.sums_up() else "error")
        self.delimiter = b" " if q.dialect.whitespace else q.dialect.delimiter or COMMA
        self._read(files)
        self._find_header(exprs)

    def _read(self, files):
        base, self.said = 0, None
        for i, (name, data) in enumerate(files):
            said = preamble(self.q.dialect, data)[2]
            self.said = self.said or said
            if i == 0 and said:
                self.delimiter = said
            elif said and said != self.delimiter:
                self.trouble = BadData("another 'sep='", {(name, 1)}, kind="sep")
                break
            if only_cr(data):
                self.trouble = BadData("CR only", {(name, None)}, kind="cr")
                break
            rows, self.trouble = cut(self.q.dialect, self.delimiter, name, data, base)
            self.files.append(rows)
            if self.trouble:
                break
            base += len(data)

    def _find_header(self, exprs):
        q = self.q
        self.header = self.names = None
        full = next((r for rows in self.files for r in rows if not r.blank), None)
        if full is None:
            if self.trouble:
                raise self.trouble
            self.ncolumns, self.known = 0, "look"
            return
        if len(full.fields) > 1:
            self.files = [[r for r in rows if not r.blank] for rows in self.files]
        flat = [r for rows in self.files for r in rows]
        if flat[0].blank and q.header != "no" and (exprs or q.news or q.header == "yes" or not q.is_number(full.fields[0])
                                                   or not all(is_position(text) for _, text, _ in q.items())):
            raise Unclear("a blank line where the header may be")
        if flat[0].stray or flat[0].blank and self.trouble:
            raise self.trouble
        first = self._of_words(flat)
        second = flat[1].fields if len(flat) > 1 else UNCLEAR if self.trouble else None
        if len(flat) > 1 and (flat[0].file != flat[1].file or flat[1].stray):
            second = UNCLEAR
        found, self.known = has_header(q, exprs, list(first.fields), second)
        if found:
            self.header, self.names = first, list(first.fields)
            self._check_header(flat)
        elif first is not flat[0] and self.known != "said":
            raise Unclear("more words in the first line than in the second, and no header")
        self.ncolumns = len(first.fields if found else full.fields)
        self.open_end = not q.dialect.whitespace and ends_open(full, self.delimiter)

    def _of_words(self, flat):
        """The first record. Of -W, a header's last name may have several words: then the second record tells how many
        fields there are."""
        first = flat[0]
        if self.q.dialect.whitespace and self.q.header != "no" and len(flat) > 1 and flat[1].file == first.file:
            first = with_rest(first, len(flat[1].fields))
        return first

    def _check_header(self, flat):
        if self.known in ("number", "look") and len(flat) == 1 and not self.trouble:
            if self.known == "look":
                raise Unclear("a header that is guessed by its look, and nothing behind it")
            raise BadData("a guessed header and nothing behind it", {(self.header.file, None)}, kind="nothing")
        if any(b"\0" in name for name in self.names):
            raise Unclear("NUL in a name")

    # ---- records ----------------------------------------------------------------------------

    def rows(self, needed):
        """needed: 0-based columns that the answer depends on. -> ([Record], the BadData behind them or None)."""
        out, first, self.tolerated = [], self.header, []
        for rows in self.files:
            columns, n, open_end = None, self.ncolumns, self.open_end
            if rows and first and rows[0].offset == first.offset:
                rows = rows[1:]
            elif rows and first:
                columns = self._columns_of(rows[0], needed)
                if isinstance(columns, BadData):
                    return out, columns
                if columns is not None:
                    n, open_end = len(rows[0].fields), ends_open(rows[0], self.delimiter)
                    rows = rows[1:]
            out += [self._record(r, columns, n, open_end) for r in rows if r.stray is None]
        return out, self.trouble

    def _columns_of(self, row, needed):
        """What the first record of a later file is: the file's own columns in the header's order (None for one that it
        lacks) where it is a header, else None; or what is wrong with it."""
        names, own = self.names, list(row.fields)
        if row.blank:
            raise Unclear("a blank line where a repeated header may be")
        if own == names:
            return list(range(len(names)))
        twice = [n for n in names if names.count(n) > 1 or own.count(n) > 1]
        shared = set(own) & set(names) - {b""}
        if shared and not twice and all(names[k] in own and names[k] for k in needed):
            if shared == set(names) == set(own) or (needed and self.q.header != "no" and all(
                    not self.q.is_number(f) and not self.q.is_missing(f) for f in own)):
                return self._matched(own)
        if not shared and any(self.q.is_number(f) for f in own) and not any(
                self._may_be_name(own, k) for k in needed):
            if self.q.header == "yes":
                return BadData("another header", {(row.file, None), (row.file, row.line)})
            return None
        raise Unclear("is it a header?")

    def _may_be_name(self, own, k):
        return k < len(own) and not self.q.is_number(own[k]) and not self.q.is_missing(own[k])

    def _matched(self, own):
        if not self.q.sums_up() and not self.q.operations:
            raise Unclear("records are printed, and the columns have another order")
        return [own.index(n) if n in own else None for n in self.names]

    def _record(self, row, columns, n, open_end):
        if self.q.dialect.whitespace:
            row = with_rest(row, n)
        count, fields, lines = len(row.fields), row.fields, row.lines
        shape = None
        if count != n and not fits(row, count, n, open_end, self.delimiter):
            if not (self.policy == "allow" or (self.policy == "extra" and count > n)):
                shape = count, n
            self.tolerated.append(row)
        if columns is not None and columns != list(range(self.ncolumns)):
            fields = [fields[k] if k is not None and k < count else b"" for k in columns]
            lines = [lines[k] if k is not None and k < count else row.line for k in columns]
        elif count != self.ncolumns:
            fields = fields[:self.ncolumns] + (b"",) * (self.ncolumns - count)
            lines = lines[:self.ncolumns] + (row.line,) * (self.ncolumns - count)
        return Record(row.file, row.line, fields, lines, row.raw, row.end, row.offset, shape)


def ends_open(row, delimiter):
    """Does it end with a delimiter, so that its last field is empty?"""
    return row.fields[-1] == b"" and row.raw.endswith(delimiter)


def fits(row, count, n, open_end, delimiter):
    """Is a record of `count` fields as good as one of n? open_end: does the first one end with a delimiter?"""
    if count == n + 1:
        return ends_open(row, delimiter)
    return count == n - 1 and open_end


def ragged(record):
    count, n = record.shape
    return BadData("%d fields, not %d" % (count, n), {(record.file, record.line)}, kind="ragged")


FOREIGN = re.compile(rb"\x1f\x8b|.\x2a\x4d\x18|\x28\xb5\x2f|BZh|\xfd7zXZ|PK|PAR1|ARROW1|SQLite|%PDF|\x7fELF|\xff\xfe|\xfe\xff|[\s]*[\[{]", re.S)


def seems_foreign(data):
    """May the program take it for another format: packed, UTF-16, JSON …?"""
    if data in (b"\x1f", b"\x28\xb5", b"\x28\xb5\x2f"):
        return True
    head = data[:4096]
    return FOREIGN.match(data) is not None or head.count(b"\0") * 8 > len(head)
