# SPDX-License-Identifier: MIT
"""An independent model of the contract (gpustat(1)): what gpustat must answer.

It stands on oracle_text.py (records and numbers), reads the options as a Request, and says what
must come out. It is slow and plain on purpose. Where the contract leaves a question open the model
raises Unclear, so that no test rests on a guess.
"""
import decimal
import json
import re
import sys

from oracle_statistic import STATISTICS, Column
from oracle_text import BOM, EXACT, BadData, in_json, in_plain, is_number, is_utf8, mean_text, number, records, strip

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

ON_DEVICE = ("sum", "min", "max", "count", "mean")
OPERATIONS = ON_DEVICE + tuple(STATISTICS)
SUMMARY = ("column", "type", "count", "missing", "sum", "min", "max", "mean")


class Unclear(Exception):
    """The contract does not say; the caller must not test this."""


UNCLEAR = object()                  # where a value would be, but the contract is silent


class Usage(Exception):
    """Exit 2."""


# ---- requests -------------------------------------------------------------------------------

class Request:
    """What the command line asks. operations: pairs such as ("sum", "a,2-3"); none: the summary."""
    def __init__(self, operations=(), header="auto", missing=(), invalid="error", delimiter=b",",
                 format="auto"):
        self.operations = [(o, c if isinstance(c, bytes) else c.encode()) for o, c in operations]
        self.header, self.invalid, self.delimiter = header, invalid, delimiter
        self.missing = [m if isinstance(m, bytes) else m.encode() for m in missing]
        self.format = format

    def args(self):
        out = []
        for operation, columns in self.operations:
            out += [b"--" + operation.encode(), columns]
        if self.header != "auto":
            out.append(b"--header=" + self.header.encode())
        if self.missing:
            out.append(b"--missing=" + b",".join(self.missing))
        if self.invalid != "error":
            out.append(b"--invalid=" + self.invalid.encode())
        if self.delimiter != b",":
            out += [b"-d", self.delimiter]
        if self.format != "auto":
            out.append(b"--format=" + self.format.encode())
        return out

    def is_missing(self, field):
        field = strip(field)
        return not field or field in self.missing

    def items(self):
        """All COLS items as (operation, text, quoted?)."""
        for operation, columns in self.operations:
            for text, raw in zip(records(columns)[0][0].fields, _raw_items(columns)):
                yield operation, text, raw.startswith(b'"')


def _raw_items(columns):
    """The items as spelled. A comma inside quotes does not end one."""
    parts, start, quoted = [], 0, False
    for i, c in enumerate(columns):
        if c == 0x22 and (quoted or i == start):
            quoted = not quoted
        elif c == 0x2C and not quoted:
            parts.append(columns[start:i])
            start = i + 1
    return parts + [columns[start:]]


def is_position(text):
    """Is this item of COLS a number, colN, :N or a range?"""
    return re.match(rb"(:|col)?[0-9]+\Z|[0-9]+-[0-9]*\Z|-[0-9]+\Z", text) is not None


def positions(text, ncolumns):
    """0-based columns of an item that speaks of positions; None where it does not; Usage beyond."""
    m = re.match(rb":([0-9]+)\Z|([0-9]+)\Z|col([0-9]+)\Z", text)
    if m:
        first = last = int(next(g for g in m.groups() if g is not None))
    else:
        m = re.match(rb"([0-9]*)-([0-9]*)\Z", text)
        if not m or text == b"-":
            return None
        first, last = int(m[1] or b"1"), int(m[2] or str(ncolumns))
        if first > last and m[1] and m[2]:
            raise Unclear("a range that runs backwards")
    if not 1 <= first <= last <= ncolumns:
        raise Usage("no such column: %r" % text)
    return list(range(first - 1, last))


def resolve(text, quoted, names, ncolumns):
    """An item other than '*' as 0-based columns. names: the header's fields, or None."""
    if names is not None and not text.startswith(b":") and text in names:
        if names.count(text) > 1:
            raise Usage("ambiguous name: %r" % text)
        return [names.index(text)]
    if quoted and is_position(text):
        raise Unclear("a quoted item that looks like a position")
    found = positions(text, ncolumns)
    if found is None:
        raise Usage("unknown column: %r" % text)
    return found


def has_header(request, first, second):
    """gpustat(1), --header auto. first, second: the fields of the first two records."""
    if request.header != "auto":
        return request.header == "yes"
    n = len(first)
    for _, text, quoted in request.items():
        if text == b"*" or text.startswith(b":"):
            continue
        if text in first and not _counts_columns(text, n):
            return True
    for _, text, quoted in request.items():
        if text == b"*":
            continue
        try:
            chosen = positions(text, n) or []
        except Usage:
            chosen = []
        if any(not request.is_missing(first[k]) and not is_number(first[k]) for k in chosen):
            return True
    if not request.operations or any(text == b"*" for _, text, _ in request.items()):
        if second is UNCLEAR:
            raise Unclear("the second record is in another file")
        return _looks_like_header(request, first, second)
    return False


def _counts_columns(text, n):
    """Is it a number, as 2 and -2 are, that means a position or a range in n columns? Then it is no name."""
    m = re.match(rb"-?([0-9]+)\Z", text)
    return m is not None and 1 <= int(m[1]) <= n


def _looks_like_header(request, first, second):
    verdicts = set()
    for missing_counts in (True, False):
        pairs = [(a, b) for a, b in zip(first, second or ())
                 if missing_counts or not request.is_missing(a)]
        some = any(not is_number(a) and is_number(b) and not request.is_missing(b)
                   for a, b in pairs)
        fields = [a for a in first if missing_counts or not request.is_missing(a)]
        none = bool(fields) and not any(is_number(a) for a in fields)
        verdicts.add(some or none)
    if len(verdicts) > 1 or any(is_number(a) and request.is_missing(a) for a in first):
        raise Unclear("missing fields in what may be a header")
    return verdicts.pop()


# ---- the answer -----------------------------------------------------------------------------

def _stream(request, files):
    """files: pairs (name, bytes) -> (header Record or None, ncolumns, [(file name, Record)],
    the BadData that comes after these records, or None)."""
    per_file = [(name, records(data, request.delimiter)[0]) for name, data in files]
    full = next((r for _, rs in per_file for r in rs if r.raw), None)
    if full is None:
        if any(rs for _, rs in per_file) and not request.operations:
            raise Unclear("a summary of blank lines")
        return None, 0, [], None
    ncolumns = len(full.fields)
    if ncolumns > 1:
        per_file = [(name, [r for r in rs if r.raw]) for name, rs in per_file]
    elif not next(r for _, rs in per_file for r in rs).raw and not all(
            positions(text, 1) for _, text, _ in request.items()):
        raise Unclear("a blank line where the header may be")
    flat = [(name, r) for name, rs in per_file for r in rs]
    first, second = flat[0][1], flat[1][1].fields if len(flat) > 1 else None
    if len(flat) > 1 and flat[0][0] != flat[1][0]:
        second = UNCLEAR
    if not first.raw and request.header == "yes":
        raise Unclear("a blank line where the header must be")
    if not first.raw and request.header == "auto" and not is_number(full.fields[0]):
        raise Unclear("a blank line, then what may be a header")
    if not has_header(request, list(first.fields), second):
        return None, ncolumns, flat, None
    rest, started = [], False
    for name, rs in per_file:
        if rs and not started:
            started, rs = True, rs[1:]
        elif rs and rs[0].raw == first.raw:
            rs = rs[1:]
        elif rs and not rs[0].raw:
            raise Unclear("a blank line where a repeated header may be")
        elif rs and request.header == "yes":
            return first, ncolumns, rest, BadData("another header", {(name, None)})
        rest += [(name, r) for r in rs]
    return first, ncolumns, rest, None


def _kinds(request, ncolumns, rows):
    """number, text or empty for each column, by its first value that is not missing."""
    kinds = ["empty"] * ncolumns
    for _, r in rows:
        for k, field in enumerate(r.fields[:ncolumns]):
            if kinds[k] == "empty" and not request.is_missing(field):
                kinds[k] = "number" if is_number(field) else "text"
    return kinds


def _whole_kind(request, kind, k, rows):
    """The summary's type of column k: text as soon as one value is no number."""
    fields = [r.fields[k] for _, r in rows if k < len(r.fields) and not request.is_missing(r.fields[k])]
    if kind != "number" or all(is_number(f) for f in fields):
        return kind
    for f in fields:
        try:
            number(f)
        except BadData:
            raise Unclear("a number beyond the range in a column of text") from None
    return "text"


def _choose(request, names, ncolumns, kinds):
    """[(operation, column)] in the order of the command line."""
    chosen = []
    for operation, text, quoted in request.items():
        if text != b"*":
            resolve(text, quoted, names, ncolumns)      # wrong usage comes before bad data
    for operation, text, quoted in request.items():
        if text != b"*":
            chosen += [(operation, k) for k in resolve(text, quoted, names, ncolumns)]
        elif "number" in kinds:
            chosen += [(operation, k) for k in range(ncolumns) if kinds[k] == "number"]
        else:
            raise BadData("no numeric column")
    return chosen


def _fill(request, columns, numeric, rows, label, all_needed):
    """Puts the rows into `columns` ({index: Column}). Raises the first record's errors."""
    skipped = dict.fromkeys(sorted(columns), 0)
    skipped["records"] = 0
    for name, r in rows:
        errors, pairs = [], []
        short = [k for k in all_needed if k >= len(r.fields)]
        if short and request.invalid == "skip":
            skipped["records"] += 1
            continue
        errors += [((name, r.lines[0]), label(k), b"\n") for k in short]
        for k in sorted(columns):
            if k >= len(r.fields):
                continue
            field, pair = r.fields[k], None
            if request.is_missing(field):
                pairs.append((k, "missing"))
                continue
            if k in numeric:
                try:
                    pair = number(field)
                except BadData:
                    errors.append(((name, r.lines[k]), label(k), b"\n"))
                    if request.invalid == "skip":
                        raise Unclear("is a number beyond the range invalid, to be skipped?")
                    continue
                if pair is None and request.invalid == "skip":
                    skipped[k] += 1
                elif pair is None:
                    errors.append(((name, r.lines[k]), label(k), strip(field)))
            pairs.append((k, pair))
        if errors:
            raise BadData("bad record", *zip(*errors))
        for k, pair in pairs:
            if pair == "missing":
                columns[k].missing += 1
            elif pair is not None:
                columns[k].add(pair)
            elif k not in numeric:
                columns[k].texts += 1
    return skipped


class Answer:
    """values: (name, text or None) for an operation; rows: the summary's. skipped: values by
    column, and "records"."""
    def __init__(self, values=None, rows=None, skipped=None):
        self.values, self.rows, self.skipped = values, rows, skipped or {}

    def text(self, format):
        """The bytes on stdout; Unclear for a format whose bytes are not fixed."""
        if self.rows is not None:
            table = [[c.encode() for c in SUMMARY]] + self.rows
            if format not in ("csv", "tsv"):
                raise Unclear("compare the summary by its meaning")
            return b"".join(_line(row, b"," if format == "csv" else b"\t") for row in table)
        if format == "plain" or (format == "auto" and len(self.values) == 1):
            return b"".join((v or "").encode() + b"\n" for _, v in self.values)
        if format in ("auto", "csv", "tsv"):
            delim = b"\t" if format == "tsv" else b","
            return (_line([n for n, _ in self.values], delim)
                    + _line([(v or "").encode() for _, v in self.values], delim))
        raise Unclear("compare json and table by their meaning")

    def matches_json(self, out):
        keep = dict(parse_float=str, parse_int=str, parse_constant=str)
        got = json.loads(out.decode("utf-8"), object_pairs_hook=list, **keep)
        if self.rows is None:
            return got == [(in_json(n), v) for n, v in self.values]
        return got == [[(c, None if v == b"" and c not in ("column", "type") else in_json(v))
                        for c, v in zip(SUMMARY, row)] for row in self.rows]


def _line(cells, delimiter):
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


def answer(request, files):
    """files: bytes (stdin) or pairs (name, decompressed bytes) -> Answer; Usage, BadData, Unclear."""
    if isinstance(files, bytes):
        files = [("<stdin>", files)]
    files = [(name, data[len(BOM):] if data.startswith(BOM) else data) for name, data in files]
    for i, (name, data) in enumerate(files):
        whole, opened = records(data, request.delimiter)
        if opened is not None:
            if i and not any(r.raw for r in whole):
                raise Unclear("an open quote, perhaps in what should be a header")
            before = files[:i] + [(name, b"".join(r.raw + b"\r\n" for r in whole))]
            try:
                _answer(request, before)
            except (Usage, BadData):
                raise Unclear("which of two errors comes first") from None
            raise BadData("open quote", {(name, opened)})
    return _answer(request, files)


def _answer(request, files):
    header, ncolumns, rows, trouble = _stream(request, files)
    found = _reduce(request, header, ncolumns, rows)
    if trouble:
        raise trouble
    return found


def _reduce(request, header, ncolumns, rows):
    names = list(header.fields) if header else None
    if names and any(b"\0" in name for name in names):
        raise Unclear("NUL in a name")

    def label(k):
        return names[k] if names and names[k] else b"col%d" % (k + 1)

    nothing = header is None and not rows
    if nothing:
        for _, text, _ in request.items():
            if text != b"*" and not is_position(text):
                raise Usage("unknown column: %r" % text)
            if text not in (b"*", b"1", b":1", b"col1"):
                raise Unclear("a column of an empty input")
        ncolumns = 1 if request.operations else 0
    kinds = _kinds(request, ncolumns, rows)
    ragged = any(len(r.fields) < ncolumns for _, r in rows)
    if not request.operations:
        if ragged and request.invalid == "skip":
            raise Unclear("does a skipped record decide the type?")
        if request.invalid == "error":
            kinds = [_whole_kind(request, kind, k, rows) for k, kind in enumerate(kinds)]
        return _summary(request, ncolumns, rows, kinds, label)
    star = any(text == b"*" for _, text, _ in request.items())
    if star and ragged and "number" not in kinds:
        raise Unclear("does a short record decide what '*' means?")
    chosen = _choose(request, names, ncolumns, kinds)
    needed = {k for _, k in chosen}
    numeric = {k for o, k in chosen if o != "count" or
               any(text == b"*" and kinds[k] == "number" for _, text, _ in request.items())}
    _check_clear(request, chosen, needed, numeric, rows, ragged, ncolumns)
    columns = {k: Column() for k in needed}
    skipped = _fill(request, columns, numeric, rows, label, needed)
    values = [(o.replace("-", "_").encode() + b"(" + label(k) + b")", columns[k].answer(o)) for o, k in chosen]
    return Answer(values, None, skipped)


def _check_clear(request, chosen, needed, numeric, rows, ragged, ncolumns):
    star = any(text == b"*" for _, text, _ in request.items())
    if star and ragged:
        raise Unclear("which columns does '*' need of a short record?")
    counted = {k for o, k in chosen if o == "count"}
    if (request.invalid == "skip" or star) and counted & numeric and any(
            len(r.fields) > k and not request.is_missing(r.fields[k]) and not is_number(r.fields[k])
            for k in counted & numeric for _, r in rows):
        raise Unclear("is a value that is no number counted?")


def _summary(request, ncolumns, rows, kinds, label):
    columns = {k: Column() for k in range(ncolumns)}
    numeric = {k for k in columns if kinds[k] == "number"}
    skipped = _fill(request, columns, numeric, rows, label, set(columns))
    out = []
    for k, column in columns.items():
        row = [label(k), kinds[k].encode(), column.answer("count").encode(),
               str(column.missing).encode()]
        for o in ("sum", "min", "max", "mean"):
            value = None if kinds[k] == "text" else column.answer(o)
            row.append((value or "").encode())
        out.append(row)
    return Answer(None, out, skipped)


def tells(skipped, warning):
    """Does the warning say how many were left out: in all, by kind, or by column?"""
    counts = [n for n in skipped.values() if n]
    values = sum(counts) - skipped.get("records", 0)
    said = {int(n) for n in re.findall(rb"[0-9]+", warning)}
    if not counts:
        return warning == b""
    return sum(counts) in said or set(counts) <= said or {values, skipped["records"]} - {0} <= said


def judge(request, files):
    """A function for harness.agrees() that holds a Result against the model; or Unclear."""
    try:
        want = answer(request, files)
    except Usage:
        return lambda r: None if r.status == 2 and not r.out and r.err else "wanted: status 2"
    except BadData as bad:
        def refused(r, bad=bad):
            if r.status != 1 or r.out or not r.err.startswith(b"gpustat: "):
                return "wanted: status 1 (%s), an empty stdout, a message" % bad
            if bad.places and not any(
                    ("%s:%d:" % (name, line) if line else name + ":").encode() in r.err for name, line in bad.places):
                return "wanted: a message that names one of %s" % sorted(bad.places)
            for called, words in (("column", bad.columns), ("value", bad.values)):
                if words and all(w.isalnum() and w.isascii() and len(w) < 200 for w in words) \
                        and not any(b"'" + w + b"'" in r.err for w in words):
                    return "wanted: a message that names the %s, one of %s" % (called, sorted(words))
            return None
        return refused

    shown = request.format == "table" or (request.format == "auto" and want.rows is not None)
    text = None if shown or request.format == "json" else want.text(request.format)

    def right(r):
        if r.status != 0:
            return "wanted: status 0"
        if not tells(want.skipped, r.err):
            return "wanted: a warning where any were left out: %s" % want.skipped
        if request.format == "json":
            return None if want.matches_json(r.out) else "wanted: %r" % (want.values or want.rows)
        if shown:
            cells = [v or "" for _, v in want.values or ()]
            cells += [c.decode("utf-8") for row in want.rows or () for c in row if is_utf8(c)]
            seen = r.out.decode("utf-8", "replace")
            lost = [c for c in cells if c.isprintable() and c not in seen]
            return "wanted in the table: %r" % lost if lost else None
        return None if r.out == text else "wanted: %r" % text[:2000]
    return right
