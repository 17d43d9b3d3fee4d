# SPDX-License-Identifier: MIT
"""Holds what the program wrote against what the models want: the exit status, standard output, and the messages.

An Answer says what must come out. What is said on standard error is a list of Notes, each of which must be there, and
nothing else.
"""
import json
import re

from oracle_text import Unclear, in_json, is_utf8

# The columns of the summary, with --all.
SUMMARY_ALL = ("column", "type", "count", "missing", "invalid", "sum", "min", "max", "mean", "stddev", "p25", "p50", "p75",
               "shortest", "longest", "distinct", "mode")
SUMMARY = tuple(c for c in SUMMARY_ALL if c not in ("stddev", "p25", "p50", "p75", "distinct", "mode"))
CUT = 24  # characters of a text in a table; longer ones end in an ellipsis
KINDS = {       # what a message of each kind must hold
    "again": rb"is the header again",
    "ragged": rb"[0-9]+ fields? where the (header|first record) has [0-9]+",
    "stray": rb"text behind a closing quote|blanks between a quote and a delimiter",
    "escape": rb"nothing follows the escape byte that ends the file",
    "open": rb"quoted field is never closed",
    "empty": rb"the input is empty, and has no column ",
    "doubtful": rb"may be names or data: say -H if these are names, -N if they are data",
    "row names": rb"each record has one field more than this header",
    "misaligned": rb"the header (has [0-9]+ words where the next record has [0-9]+|begins with blanks)",
    "unaligned": rb"words do not stand below the header's names",
    "aligned only": rb"printed only as they came",
    "range": rb"number beyond 10\^-400 to 10\^400",
    "nul": rb"NUL byte in ",
    "cr": rb"lines end in CR alone: try tr '\\r' '\\n'",
    "few": rb"fewer lines than --skip-lines drops",
    "sep": rb"another delimiter than the first file's",
    "no numbers": rb"no column holds numbers",
    "files": rb"header",
    "left out": rb"--invalid skip leaves out ",
}


class Note:
    """A line of standard error that must be there: all of `words`, or, where these are numbers, each as a number.
    optional: may be missing."""
    def __init__(self, *words, optional=False):
        self.words, self.optional = words, optional

    def fits(self, line):
        said = {int(n) for n in re.findall(rb"[0-9]+", line)}
        return all(w in said if isinstance(w, int) else w in line for w in self.words)


ORDERED_AS_TEXT = b" as text: without the quotes, numbers are compared"
NAME_AS_TEXT = b" is a text in an expression; the column of this name is written in backquotes: "


def notes_differ(notes, err):
    """None, or what is wrong with standard error."""
    lines = err.split(b"\n")[:-1] if err.endswith(b"\n") else err.split(b"\n") if err else []
    lines = [line for line in lines if not line.startswith(b"gpustat: note: device") and not line.endswith(ORDERED_AS_TEXT)
             and NAME_AS_TEXT not in line and b" may hold numbers: try " not in line and b": a line of units is taken for a record: " not in line and b": every second column has no name: " not in line]
    for note in notes:
        if not note.optional and not any(note.fits(line) for line in lines):
            return "wanted: a line on stderr with %r" % (note.words,)
    for line in lines:
        if not line.startswith(b"gpustat: ") or not any(note.fits(line) for note in notes):
            return "not wanted on stderr: %r" % line
    return None


# ---- the answer -----------------------------------------------------------------------------

class Answer:
    """out: the records that are printed, or None where results are: values, pairs (name, text or None), or rows, the
    summary's or a matrix's. titles: of the columns of rows, the first `texts` of text. bad: the BadData that ends them.
    notes: what stands on standard error besides."""
    def __init__(self, out=None, bad=None, notes=(), values=None, rows=None, titles=SUMMARY, texts=2):
        self.out, self.bad, self.notes = out, bad, list(notes)
        self.values, self.rows, self.titles, self.texts = values, rows, titles, texts

    def is_shown(self, format):
        """Is it a table for people?"""
        results = self.out is None and not self.bad
        return results and (format == "table" or (format == "auto" and self.rows is not None and self.titles in (SUMMARY, SUMMARY_ALL)))

    def text(self, format):
        """The bytes on stdout; Unclear for a format whose bytes are not fixed."""
        if self.out is not None:
            return self.out
        if self.bad:
            return b""
        if self.rows is not None:
            table = [[c.encode() if isinstance(c, str) else c for c in self.titles]] + self.rows
            if format not in ("csv", "tsv") and (format != "auto" or self.is_shown(format)):
                raise Unclear("compare the summary by its meaning")
            return b"".join(line(row, b"\t" if format == "tsv" else b",") for row in table)
        if format == "plain" or (format == "auto" and len(self.values) == 1):
            return b"".join(line([as_cell(v)], b"\t") for _, v in self.values)
        if format in ("auto", "csv", "tsv"):
            delim = b"\t" if format == "tsv" else b","
            names, cells = [n for n, _ in self.values], [as_cell(v) for _, v in self.values]
            return line(names, delim) + line(cells, delim)
        raise Unclear("compare json and table by their meaning")

    def matches_json(self, out):
        keep = dict(parse_float=str, parse_int=str, parse_constant=str)
        got = json.loads(out.decode("utf-8"), object_pairs_hook=list, **keep)
        if self.rows is None:
            return got == list(zip(json_names(n for n, _ in self.values),
                                   (v if v is None else in_json(as_cell(v)) for _, v in self.values)))
        titles = json_names(c.encode() if isinstance(c, str) else c for c in self.titles)
        return got == [[(c, None if v == b"" and k >= self.texts else in_json(v))
                         for k, (c, v) in enumerate(zip(titles, row))] for row in self.rows]

    def lost_in_table(self, out):
        """The cells that a table for people does not show."""
        seen = out.decode("utf-8", "replace")
        if self.rows is not None and self.titles not in (SUMMARY, SUMMARY_ALL):  # a matrix
            return [c for row in self.rows for c in map(bytes.decode, filter(is_utf8, row)) if c.isprintable() and c not in seen]
        whole = [as_cell(v) for _, v in self.values or ()] + [row[0] for row in self.rows or ()]
        whole += [c for row in self.rows or () if row[1] in (b"number", b"empty")
                  for title, c in zip(self.titles, row) if title != "mode"]
        cut = [c for row in self.rows or () for title, c in zip(self.titles, row)
               if title == "mode" or row[1] not in (b"number", b"empty") and title != "column"]
        cells = [c.decode("utf-8") for c in whole if is_utf8(c)]
        cells += [_cut(c.decode("utf-8")) for c in cut if is_utf8(c) and c.decode("utf-8").isprintable()]
        return [c for c in cells if c.isprintable() and c not in seen]


def _cut(cell):
    """A text in a table of several rows."""
    return cell if len(cell) <= CUT else cell[:CUT - 1] + "\u2026"


def as_cell(value):
    """A result as it is printed. Text may hold bytes that are no UTF-8."""
    return value if isinstance(value, bytes) else (value or "").encode("utf-8", "surrogateescape")


def json_names(names):
    """No name is there twice."""
    out = []
    for name in map(in_json, names):
        k, base = 1, name
        while name in out:
            k += 1
            name = "%s_%d" % (base, k)
        out.append(name)
    return out


def line(cells, delimiter):
    """A line as Python's csv writer quotes it; TSV escapes tabs, line ends and backslashes."""
    out = []
    for cell in cells:
        if delimiter == b"\t":
            for byte, escape in ((b"\\", b"\\\\"), (b"\t", b"\\t"), (b"\n", b"\\n"), (b"\r", b"\\r")):
                cell = cell.replace(byte, escape)
        elif re.search(rb'[,"\r\n]', cell):
            cell = b'"' + cell.replace(b'"', b'""') + b'"'
        out.append(cell)
    return delimiter.join(out) + b"\n"


# ---- judging --------------------------------------------------------------------------------

def names_the_fault(bad, err):
    """None where the message fits, else what is missing in it."""
    if b"gpustat: " not in err:
        return "a message"
    if bad.places and not any((b"%s:%d:" % (name.encode(), line) if line else name.encode() + b":") in err
                              for name, line in bad.places):
        return "a message that names one of %s" % sorted(bad.places, key=str)
    if bad.kind in KINDS and not re.search(KINDS[bad.kind], err):
        return "a message of kind '%s', with %r" % (bad.kind, KINDS[bad.kind])
    for called, words in (("column", bad.columns), ("value", bad.values)):
        if words and all(w.isalnum() and w.isascii() and len(w) < 100 for w in words) \
                and not any(b"'" + w + b"'" in err for w in words):
            return "a message that names the %s, one of %s" % (called, sorted(words))
    return None


def refusal(status, why):
    """The judge of a run that only has a message and this status."""
    def right(r):
        if r.status != status or r.out or not r.err.startswith(b"gpustat: "):
            return "wanted: status %d (%s), an empty stdout, a message" % (status, why)
        return None
    return right


def judge_of(want, format):
    """The function for harness.agrees() that holds a Result against an Answer."""
    shown = want.is_shown(format)
    text = None if shown or (want.out is None and format == "json") else want.text(format)

    def right(r):
        if r.status != (1 if want.bad else 0):
            return "wanted: status %d%s" % (1 if want.bad else 0, " (%s)" % want.bad if want.bad else "")
        if want.bad:
            if r.out != (want.out or b""):
                return "wanted on stdout: %r" % (want.out or b"")[:2000]
            lacks = names_the_fault(want.bad, r.err)
            return lacks and "wanted: %s (%s)" % (lacks, want.bad)
        if shown:
            lost = want.lost_in_table(r.out)
            if lost:
                return "wanted in the table: %r" % lost
        elif text is None:
            if not want.matches_json(r.out):
                return "wanted: %r" % (want.values or want.rows)
        elif r.out != text:
            return "wanted on stdout: %r" % text[:2000]
        return notes_differ(want.notes, r.err)
    return right
