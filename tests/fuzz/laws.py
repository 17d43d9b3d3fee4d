# SPDX-License-Identifier: MIT
"""Metamorphic laws: what two ways to ask must have in common, whatever the answer is. No model is needed.

A law has a name, the options that it wants, those that it lets in besides, and a check of a hostile_request.Case. The
check says None where the law holds, ABSENT where it says nothing of this case, else what is wrong. It asks through
`run(uses, files or stdin)`, which gives a harness.Result.
"""
import collections
import csv
import fractions
import io
import json
import os
import re
import shlex

import hostile
import hostile_request
from hostile_dialect import DIALECT, NOTATION
from hostile_request import OPTIONS, Use

ABSENT = "the law says nothing here"
FRACTION = re.compile(r"-?[0-9]+(\.[0-9]+)?\Z")
READING = DIALECT + NOTATION + ("missing",)         # options that say what the text is
KEPT = ("threads", "memory", "device")
COUNTS = ("sum", "min", "max", "count", "count-records")
RUNNING = tuple(name for name in hostile_request.PRINT_RECORDS if OPTIONS[name].kind == "RUNNING")
RESULTS = hostile_request.RESULTS + ("hist",)
IN_ORDER = ("first", "last", "mode", "antimode")    # results that depend on the records' order

Law = collections.namedtuple("Law", "name wanted pool check")


def use(name, argument=None):
    return Use(OPTIONS[name], name, argument)


def only(uses, names):
    return [u for u in uses if u.option.name in names]


def without(uses, names):
    return [u for u in uses if u.option.name not in names]


HEADER = use("header", b"yes")


def one_file(case, records=None):
    """Records, all if None is given, in one text with a header."""
    return case.head + b"".join(case.records if records is None else records)


def some_files(case):
    """The same records in several files, each with the header."""
    n = case.rng.choice((1, 2, 2, 3, 5))
    cuts = sorted(case.rng.randrange(len(case.records) + 1) for _ in range(n - 1))
    return [("piece%d.csv" % i, one_file(case, case.records[low:high]))
            for i, (low, high) in enumerate(zip([0] + cuts, cuts + [len(case.records)]))]


def differ(first, second, what, only_good=False):
    """None where both say the same on standard output, with the same status."""
    if only_good and first.status:
        return None
    if (first.status, first.out) == (second.status, second.out):
        return None
    at = max(0, len(os.path.commonprefix((first.out, second.out))) - 100)
    return "%s:\n%s\n%s" % (what, describe(first, at), describe(second, at))


def describe(r, at=0):
    """at: from where on its output is shown."""
    return "  %s %s -> %s\n    out from %d %r\n    err %r" % (r.chunk, shlex.join(map(os.fsdecode, r.argv[1:])), r.status, at,
                                                          r.out[at:at + 1000], r.err[:500])


def rows_of(out, encoding="latin-1"):
    """The rows of CSV. A blank line is one cell without a value."""
    return [row or [""] for row in csv.reader(io.StringIO(out.decode(encoding), newline=""), strict=True)]


def rows_printed(shape, out):
    """The rows of records that are printed in the input's dialect. A field may hold line ends."""
    dialect, text = shape.dialect, out.decode("latin-1")
    if dialect.whitespace:
        return [line.split() for line in text.splitlines()]
    quote = dict(quotechar=dialect.quote.decode()) if dialect.quote else dict(quoting=csv.QUOTE_NONE)
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=shape.delimiter.decode("latin-1"),
                                      escapechar=dialect.escape and dialect.escape.decode(), **quote) if row]


def as_number(cell):
    return fractions.Fraction(cell) if FRACTION.match(cell) else None


def names_of(shape, columns):
    return b",".join(hostile_request.quoted_item(shape.names[k]) for k in columns)


def second_stage(uses):
    """What reads the records that a first stage has printed: its comments and what stood above them are gone."""
    return without(only(uses, READING), ("comment", "skip-lines"))


def printing(uses):
    """With --head, where the rest alone would be the summary."""
    asks = any(u.option.kind and u.option.name != "let" for u in uses)
    return uses if asks or only(uses, ("by", "head", "tail", "sample", "rename", "all")) else uses + [use("head", b"1000000000")]


# ---- two runs in a pipe -----------------------------------------------------------------------

def where_in_a_pipe(case, run):
    data, reading = one_file(case), only(case.uses, READING + ("invalid", "ragged"))
    first = run(reading + only(case.uses, ("where",)) + [HEADER], data)
    if first.status or first_records_tell(case):      # other records come first in the pipe
        return ABSENT
    rest = printing(without(case.uses, READING + ("where",)))
    second = run(second_stage(case.uses) + rest + [HEADER], first.out)
    return differ(run(printing(case.uses) + [HEADER], data), second, "--where, then the rest, is one run")


def lets_in_a_pipe(case, run):
    lets = only(case.uses, ("let",))
    if any(re.search(rb"/|pow|sqrt|ln|log|exp", u.argument.lower()) for u in lets):     # kept with more digits than are printed
        return ABSENT
    data = one_file(case)
    first = run(only(case.uses, READING) + lets + [HEADER], data)
    if first.status:
        return ABSENT
    second = run(second_stage(case.uses) + printing(without(case.uses, READING + ("let",))) + [HEADER], first.out)
    whole = run(lets + printing(without(case.uses, ("let",))) + [HEADER], data)
    return differ(whole, second, "--let, then the rest, is one run")


def having_in_a_pipe(case, run):
    """--having is --where over the groups that are printed."""
    numeric = [k for k in range(case.shape.n) if case.shape.kinds[k] not in hostile.NO_NUMBERS]
    if not numeric:
        return ABSENT
    name, what = case.shape.names[case.rng.choice(numeric)], case.rng.choice(("sum", "count", "max", "min", "median", "count-distinct"))
    test = case.rng.choice((b"%s > 1", b"%s <= 2", b"not %s = 3", b"%s between -5 and 100", b"%s is missing", b"%s > 0 or %s < -7.5"))
    uses, data = without(case.uses, RESULTS) + [use(what, hostile_request.quoted_item(name)), use("format", b"csv"), HEADER], one_file(case)
    first = run(uses, data)
    if first.status:
        return ABSENT
    title = rows_of(first.out)[0][-1].encode("latin-1")
    quoted = [b"`%s`" % text.replace(b"`", b"``") for text in (name, title)]
    second = run([HEADER, use("where", test.replace(b"%s", quoted[1]))], first.out)
    aggregate = b"%s(%s)" % (what.replace("-", "_").encode(), quoted[0])
    whole = run(uses + [use("having", test.replace(b"%s", aggregate))], data)
    return differ(whole, second, "--having, or --where behind it")


def expressions_are_columns(case, run):
    """NAME=EXPR where columns are named is the column of that name that --let makes."""
    let = only(case.uses, ("let",))[-1]
    name, text = re.match(rb"(\w+)\s*=\s*(.*)\Z", let.argument, re.S).groups()
    asked = re.compile(rb"(?<![\w`])" + name + rb"(?!\w)")
    rest = [u for u in case.uses if u is not let] + [HEADER]
    takes = [u for u in rest if u.option.argument.endswith(("COLS", "COLS:N", "COLS[:N]", "COLS:A", "COLS:F", "COL:WIDTH", "PAIRS"))]
    if not any(asked.search(u.argument) for u in takes) or any(u.argument and name in u.argument for u in rest if u not in takes):
        return ABSENT
    item = re.compile(rb"(?:\A|,)\s*-?" + name + rb"\s*(?=[,:]|\Z)")
    if any(len(asked.findall(u.argument)) != len(item.findall(u.argument)) for u in takes):
        return ABSENT       # it is within another expression, where no name can be given
    second = [u._replace(argument=asked.sub(lambda m: name + b"=" + text, u.argument)) if u in takes else u for u in rest]
    first, other = run([let] + rest, one_file(case)), run(second, one_file(case))
    first, other = (r._replace(out=re.sub(rb"\w+\(-?" + name + rb"(:[^,\t\n\"():]*)?\)", name, r.out)) for r in (first, other))  # NAME= is the heading
    return differ(first, other, "an expression is a column of --let", only_good=True)


def select_moves_nothing(case, run):
    data, columns = one_file(case), list(range(case.shape.n))
    case.rng.shuffle(columns)
    first = run(only(case.uses, READING) + [HEADER, use("select", names_of(case.shape, columns))], data)
    if first.status or first_records_tell(case) or (case.shape.dialect.whitespace and {len(row) for row in rows_printed(case.shape, first.out)} != {len(columns)}):
        return ABSENT       # a value of several words in the last column: nothing shows below which name it stands
    second = run(second_stage(case.uses) + without(case.uses, READING) + [HEADER], first.out)
    return differ(run(case.uses + [HEADER], data), second, "--select before moves no result")


# ---- groups -------------------------------------------------------------------------------------

def groups_add_up(case, run):
    numeric = [k for k in range(case.shape.n) if case.shape.kinds[k] not in hostile.NO_NUMBERS]
    columns = names_of(case.shape, case.rng.sample(numeric, case.rng.randrange(1, len(numeric) + 1)))
    asked = [use("count-records")] + [use(o, columns) for o in COUNTS[:4]] + [use("format", b"csv"), HEADER]
    data, common = one_file(case), without(case.uses, RESULTS)
    grouped, whole = run(common + asked, data), run(without(common, ("by",)) + asked, data)
    is_computed = any(re.search(rb"[(*/=+%]", u.argument) for u in only(common, ("by",)))
    if grouped.status or whole.status:
        if grouped.status and (whole.status or is_computed or only(common, ("let",))):  # a key may be computed, and fail alone
            return ABSENT
        return differ(grouped, whole, "groups fail as the whole does")
    names = [u.argument.split(b"=")[0].strip() for u in only(common, ("let",))]
    if re.search(rb"left out|without an answer", grouped.err) and (is_computed or any(n in u.argument for n in names for u in only(common, ("by",)))):
        return ABSENT       # a record whose computed key is no number is left out
    titles, total = rows_of(whole.out)
    groups = [row[len(row) - len(titles):] for row in rows_of(grouped.out)[1:]]
    for k, title in enumerate(titles):
        values = [as_number(row[k]) for row in groups if row[k]]
        best = {"min": min, "max": max}.get(title[:3], sum) if values or title[:3] not in ("min", "max") else None
        if (best(values) if best else None) != as_number(total[k]):
            return "%s of the groups is not the whole's:\n%s\n%s" % (title, describe(grouped), describe(whole))
    return None


def top_is_the_beginning(case, run):
    data, uses = one_file(case), case.uses + [HEADER, use("format", b"csv")]
    top, full = run(uses, data), run(without(uses, ("top",)), data)
    if full.status == 2 and not top.status:
        return ABSENT       # with --top, records are sorted
    if top.status or full.status:
        return differ(top, full, "--top fails as the whole list does")
    n, rows = int(only(uses, ("top",))[0].argument), rows_of(full.out)
    if rows_of(top.out) != rows[:n + 1]:
        return "--top is not the list's beginning:\n%s\n%s" % (describe(top), describe(full))
    plain = run(without(uses, ("top", "sort")), data)
    if sorted(rows_of(plain.out)) != sorted(rows):
        return "--sort has other rows:\n%s\n%s" % (describe(full), describe(plain))
    return out_of_order(only(uses, ("sort",))[0].argument, rows, full)


def out_of_order(sort, rows, full):
    """Are the rows ordered by some column that --sort may mean, missing values last?"""
    def is_ordered(k):
        cells = [row[k] for row in rows[1:]]
        there = [c for c in cells if c]
        values = [as_number(c) for c in there]
        if None in values:
            return True
        values.sort(reverse=sort.startswith(b"-"))
        return values == [as_number(c) for c in there] and cells == there + [""] * (len(cells) - len(there))
    if re.search(rb"[-,+*/%(`]", sort[1:]) and sort.removeprefix(b"-").decode("latin-1") not in rows[0]:
        return None         # several keys, or what is computed
    return None if any(map(is_ordered, range(len(rows[0])))) else "not ordered:\n" + describe(full)


# ---- parts, states, files -------------------------------------------------------------------------

PRINTING = ("format", "sort", "top", "plot", "svg")


def parts_merge(case, run):
    files, query = some_files(case), without(case.uses, PRINTING) + [HEADER]
    printing = only(case.uses, PRINTING)
    whole, parts = run(query + printing, files), []
    for i, one in enumerate(files):
        r = run(query + [use("partial")], [one])
        if r.status == 2:
            return ABSENT
        if r.status:
            return None if whole.status or only(query, ("invalid",)) else differ(whole, r, "the parts fail, the whole does not")
        parts.append(("%d.part" % i, r.out))
    if first_records_tell(case, whole):
        return ABSENT
    merged = run([use("merge")] + printing, parts)
    if merged.status == 2 and b"none of the results" in merged.err:      # --sort by what the parts do not hold
        return ABSENT
    return differ(whole, merged, "parts merge to the whole")


def states_go_on(case, run):
    files, uses, outs = some_files(case), case.uses + [HEADER], []
    if only(uses, RUNNING + ("row-number",)):
        uses = without(uses, ("format",))       # the header of each step is left out below
    whole = run(uses, files)
    if any(u.argument and b"*" in u.argument for u in uses):
        return ABSENT
    for i, one in enumerate(files):
        state = [use("save-state", b"%d.state" % (i + 1))] + [use("from-state", b"%d.state" % i)] * (i > 0)
        outs.append(run(uses + state, [one]))
        if outs[-1].status == 2:
            return ABSENT
        if outs[-1].status:     # with --invalid skip, all that a step has may be left out
            return None if whole.status or only(uses, ("invalid",)) else differ(whole, outs[-1], "a step fails, the whole does not")
    if any(u.option.name in RUNNING + ("row-number",) for u in uses):
        said = [outs[0].out] + [b"".join(r.out.split(b"\n", 1)[1:]) for r in outs[1:]]
        said = [text + b"\n" * (text != b"" and not text.endswith(b"\n")) for text in said[:-1]] + said[-1:]
        outs[-1] = outs[-1]._replace(out=b"".join(said))
    return ABSENT if first_records_tell(case, whole) else differ(whole, outs[-1], "--save-state in steps is one run")


def first_records_tell(case, *results):
    """With --whitespace, may the first records of a file decide how the others are read? Not below a header without two blanks."""
    return case.shape.dialect.whitespace and (any(b" " in name for name in case.shape.names)
                                              or any(b" stand below " in r.err for r in results)
                                              or re.search(rb"(?m)^[ \t]|[ \t]{2}|\t", case.head) is not None)


def files_are_one(case, run):
    """The records in files that each have the header."""
    whole = run(case.uses + [HEADER], one_file(case))
    if whole.status == 2:
        return ABSENT
    pieces = run(case.uses + [HEADER], some_files(case))
    return ABSENT if first_records_tell(case, pieces) else differ(whole, pieces, "several files are one", only_good=True)


def union_adds_nothing(case, run):
    """Files with the same columns are united as they are; one more column, which no record has, changes no other."""
    files, uses = some_files(case), case.uses + [HEADER, use("format", b"csv")]
    if case.shape.dialect.whitespace or any(u.argument and b"*" in u.argument for u in uses):
        return ABSENT
    plain = run(uses, files)
    if plain.status == 2 or first_records_tell(case, plain):
        return ABSENT
    wrong = differ(plain, run(uses + [use("union")], files), "--union of the same columns differs", only_good=True)
    if wrong or not only(case.uses, ("select",) + RESULTS) or only(case.uses, DIALECT + ("drop", "all")):
        return wrong
    return differ(plain, run(uses + [use("union")], files + [("more.csv", b"a column of no record\n")]), "one more column changes others", only_good=True)


def order_is_free(case, run):
    if any(u.argument and b"*" in u.argument for u in case.uses):      # the first values tell what '*' means
        return ABSENT
    records = list(case.records)
    case.rng.shuffle(records)
    uses = case.uses + [HEADER, use("format", b"csv")]
    first, second = run(uses, one_file(case)), run(uses, one_file(case, records))
    if first_records_tell(case, first, second):
        return ABSENT
    if first.status or second.status:
        return ABSENT if first.status and second.status else differ(first, second, "an error depends on the order")
    if sorted(rows_of(first.out)) != sorted(rows_of(second.out)):
        return "results depend on the order of records:\n%s\n%s" % (describe(first), describe(second))
    return None


# ---- formats, and records as they are -----------------------------------------------------------

def formats_agree(case, run):
    data, said = one_file(case), {}
    if only(case.uses, ("where", "let")) and not only(case.uses, RESULTS + ("by",)):
        return ABSENT       # records: see below
    for name in ("csv", "tsv", "json", "ndjson", "plain"):
        said[name] = run(case.uses + [HEADER, use("format", name.encode())], data)
        if said[name].status:
            return ABSENT if said["csv"].status else differ(said["csv"], said[name], "one format fails")
    try:
        want = rows_of(said["csv"].out, "utf-8")
    except UnicodeDecodeError:
        return ABSENT       # JSON is UTF-8
    keep = dict(parse_float=str, parse_int=str, object_pairs_hook=list)
    objects = json.loads(said["json"].out, **keep)
    lines = [json.loads(line, **keep) for line in said["ndjson"].out.splitlines()]
    objects = [objects] if objects and isinstance(objects[0], tuple) else objects
    if lines != objects:
        return "ndjson is not json:\n%s\n%s" % (describe(said["json"]), describe(said["ndjson"]))
    if [[("" if v is None else v) for _, v in o] for o in objects] != want[1:]:
        return "json is not csv:\n%s\n%s" % (describe(said["json"]), describe(said["csv"]))
    undo = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    tsv = [[re.sub(r"\\(.)", lambda m: undo[m[1]], cell) for cell in line.split("\t")]
           for line in said["tsv"].out.decode("utf-8").split("\n")[:-1]]
    if tsv != want:
        return "tsv is not csv:\n%s\n%s" % (describe(said["tsv"]), describe(said["csv"]))
    return None


STYLED = ("group-digits", b"'"), ("output-decimal", b"_"), ("digits", b"3")


def styles_change_numbers(case, run):
    """Numbers are printed in a style, and nothing else is: what is chosen, sorted and computed stays as it is."""
    data, asked = one_file(case), case.uses + [HEADER, use("format", b"csv")]
    style = {name: value for name, value in STYLED if case.rng.randrange(3)}
    plain, styled = run(asked, data), run(asked + [use(name, value) for name, value in style.items()], data)
    if plain.status or styled.status or not style:
        refused = b"prints records as they came" in styled.err
        return differ(plain, styled, "a style changes the status") if plain.status != styled.status and not refused else ABSENT

    off = fractions.Fraction(1, 2000) if "digits" in style else 0
    for row, other in zip(rows_of(plain.out), rows_of(styled.out), strict=True):
        for cell, shown in zip(row, other, strict=True):
            whole = shown.lstrip("-").partition("_" if "output-decimal" in style else ".")[0]
            x, y = as_number(cell), as_number(shown.replace("'", "").replace("_", "."))
            if cell != shown and (x is None or y is None or abs(x - y) > off + abs(x) / 10 ** 16 or (
                    "group-digits" in style and len(whole.rpartition("'")[2]) > 3)):
                return "%r is not %r:\n%s\n%s" % (shown, cell, describe(plain), describe(styled))
    return None


def record_formats_agree(case, run):
    """CSV is what the input's dialect says, and the other formats say what CSV does. JSON drops blanks around numbers and has null
    for what is missing."""
    data, said, shape = one_file(case), {}, case.shape
    asked = case.uses + [HEADER] + ([] if only(case.uses, ("where", "select", "drop", "sort", "unique", "row-number") + RUNNING) else
                                    [use("tail", b"1000000000")])
    for name in ("auto", "csv", "tsv", "json", "ndjson", "plain", "markdown", "table"):
        said[name] = run(asked + [use("format", name.encode())], data)
    if said["csv"].status or said["auto"].status:
        bad = [r for r in said.values() if not r.status]
        return "one format fails:\n%s\n%s" % (describe(said["csv"]), describe(bad[0])) if bad else ABSENT
    other = run(asked + [use("output-delimiter", b";")], data)
    try:
        want, semicolons = rows_of(said["csv"].out, "utf-8"), other.out.decode("utf-8")
    except UnicodeDecodeError:
        return ABSENT       # JSON is UTF-8
    if [row or [""] for row in csv.reader(io.StringIO(semicolons, newline=""), delimiter=";", strict=True)] != want:
        return "another delimiter, other fields:\n%s\n%s" % (describe(said["csv"]), describe(other))
    if not only(case.uses, DIALECT + NOTATION) and not re.search(rb'"|\r(?!\n)', said["auto"].out) and rows_of(said["auto"].out, "utf-8") != want:
        return "csv is not what the records are:\n%s\n%s" % (describe(said["csv"]), describe(said["auto"]))
    undo = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    tsv = [[re.sub(r"\\(.)", lambda m: undo[m[1]], cell) for cell in line.split("\t")]
           for line in said["tsv"].out.decode("utf-8").split("\n")[:-1]]
    if tsv != want or said["plain"].out != said["tsv"].out.split(b"\n", 1)[1]:
        return "tsv is not csv:\n%s\n%s" % (describe(said["tsv"]), describe(said["csv"]))
    keep = dict(parse_float=str, parse_int=str, object_pairs_hook=list)
    objects = json.loads(said["json"].out, **keep)
    lines = [json.loads(line, **keep) for line in said["ndjson"].out.splitlines()]
    if lines != objects:
        return "ndjson is not json:\n%s\n%s" % (describe(said["json"]), describe(said["ndjson"]))
    missing = {m.decode("utf-8", "replace") for m in shape.missing}
    point = shape.notation.decimal.decode()
    for got, row in zip(objects, want[1:], strict=True):
        for (_, value), cell in zip(got, row, strict=True):
            fits = cell in (value, (value or "").replace(".", point)) or cell.strip(" \t") == value
            if not (fits if value is not None else not cell.strip(" \t") or missing):
                return "json is not csv: %r %r\n%s\n%s" % (value, cell, describe(said["json"]), describe(said["csv"]))
    if said["markdown"].out.count(b"\n") != len(want) + 1 or said["table"].out.count(b"\n") != len(want):
        return "a line is not a record:\n%s\n%s" % (describe(said["markdown"]), describe(said["table"]))
    return None


def pivot_is_by(case, run):
    """--pivot has the cells of --by with one key more; --transpose has those of the table."""
    data, by, pivot = one_file(case), only(case.uses, ("by",))[0].argument, only(case.uses, ("pivot",))[0].argument
    base = without(case.uses, ("by", "pivot")) + [HEADER, use("format", b"csv")]
    long, wide = run(base + [use("by", by + b"," + pivot)], data), run(base + [use("by", by), use("pivot", pivot)], data)
    if long.status or wide.status:
        wrong = not long.status and b" columns, and at most " not in wide.err and b"is not one column" not in wide.err or not wide.status
        return "only one of --by and --pivot fails:\n%s\n%s" % (describe(long), describe(wide)) if wrong else ABSENT
    keys = run(without(base, RESULTS + ("sort", "share", "cumshare", "agg", "having")) + [use("by", by + b"," + pivot), use("count-records")], data)
    long, wide, nkeys = rows_of(long.out), rows_of(wide.out), len(rows_of(keys.out)[0]) - 1
    pivots = [k for k in range(nkeys - 1) if all(row[k] == row[nkeys - 1] for row in long)]
    if pivots or b"*" in by:
        return ABSENT
    labels, names, stats, cells = {}, {}, long[0][nkeys:], {}
    for row in long[1:]:
        label, value = labels.setdefault(tuple(row[:nkeys - 1]), len(labels)), names.setdefault(row[nkeys - 1], len(names))
        cells[label, value] = row[nkeys:]
    titles = long[0][:nkeys - 1] + [value + "_" + stat if len(stats) > 1 else value for value in names for stat in stats]
    want = [titles] + [list(label) + [cell for v in range(len(names)) for cell in cells.get((i, v), [""] * len(stats))]
                       for label, i in labels.items()]
    if only(case.uses, ("sort",)):      # which may order the columns
        want, wide = ([sorted(zip(table[0], row)) for row in table] for table in (want, wide))
    return None if want == wide else "--pivot is not --by:\n%r\n%r\n%s" % (want[:20], wide[:20], case.uses)


def transposed_is_turned(case, run):
    data, uses = one_file(case), case.uses + [HEADER, use("format", b"csv")]
    plain, turned = run(uses, data), run(uses + [use("transpose")], data)
    if plain.status or turned.status:
        return ABSENT if plain.status or re.search(rb" columns, and at most | prints records", turned.err) else "--transpose fails:\n%s" % describe(turned)
    want, got = rows_of(plain.out), rows_of(turned.out)
    want = [list(row) for row in zip(*want)]
    if not only(case.uses, ("by", "hist")) and any(u.option.kind or u.option.name == "pivot" for u in case.uses if u.option.name != "let"):
        want = [["name", "value"]] + want if not any(u.argument == b"*" and u.option.kind == "PAIR" for u in case.uses) else want
    return None if want == got else "--transpose does not turn the table:\n%r\n%r" % (want[:20], got[:20])


def all_is_all(case, run):
    """The first, the last, and a draw of more records than there are; and again of what that prints."""
    data = one_file(case)
    base = without(case.uses, ("head", "tail", "sample", "seed")) + [HEADER]
    rows = [run(base + [use(name, b"1000000000")], data) for name in ("head", "tail", "sample")]
    if any(r.status for r in rows):
        return ABSENT       # a fault: --tail prints nothing before it
    for r in rows[1:]:
        if r.out != rows[0].out:
            return differ(rows[0], r, "all records are all records")
    again = run(second_stage(case.uses) + [HEADER, use("head", b"1000000000")], rows[0].out)
    return differ(rows[0], again, "printed records are printed as they are")


def head_is_the_beginning(case, run):
    data, n = one_file(case), case.rng.choice((b"1", b"2", b"5"))
    base = without(case.uses, ("head", "tail", "sample", "seed")) + [HEADER]
    full, head, tail = (run(base + [use(*what)], data) for what in (("head", b"1000000000"), ("head", n), ("tail", n)))
    if full.status or head.status or tail.status:
        return ABSENT
    if not full.out.startswith(head.out):
        return differ(full, head, "--head is not the beginning")
    header = run(base + [use("head", b"1000000000")], one_file(case, []))
    if header.status:
        return ABSENT       # '*' of no record
    header = header.out
    if not tail.out.startswith(header.rstrip(b"\r\n")) or not full.out.endswith(tail.out[len(header):]):
        return differ(full, tail, "--tail is not the end")
    return None


def head_is_of_each_group(case, run):
    data, n = one_file(case), case.rng.choice((1, 1, 2, 5))
    base = case.uses + [HEADER, use("row-number"), use("only")]
    full, head = run(base, data), run(base + [use("head", b"%d" % n)], data)
    if full.status or head.status == 2:     # --lead
        return ABSENT
    rows = rows_printed(case.shape, full.out)
    at = rows[0].index("row_number")
    want = rows[:1] + [row for row in rows[1:] if int(row[at]) <= n]
    return None if want == rows_printed(case.shape, head.out) else differ(full, head, "--head is not the first of each group")


def sorts_are_stable(case, run):
    """By two keys is by the second, then by the first; and none is lost."""
    keys = [b"-" * case.rng.randrange(2) + names_of(case.shape, [case.rng.randrange(case.shape.n)]) for _ in range(2)]
    data, base = one_file(case), case.uses + [HEADER]
    if any(b" " in key for key in keys) and case.shape.dialect.whitespace:
        return ABSENT       # what is printed has other names
    full, both, by_last = (run(base + [use(*what)], data) for what in (("head", b"1000000000"), ("sort", b",".join(keys)), ("sort", keys[1])))
    if full.status or by_last.status:
        return ABSENT if full.status else differ(full, by_last, "a sort fails")
    again = run(second_stage(case.uses) + [HEADER, use("sort", keys[0])], by_last.out)
    if both.out != again.out:
        return differ(both, again, "a sort by two keys is not one after the other")
    lines = [sorted(line for line in r.out.splitlines() if line) for r in (full, both)]     # of records, which are moved whole
    if lines[0] != lines[1]:
        return differ(full, both, "sorted records are others")
    n = case.rng.choice((b"1", b"3"))
    top = run(base + [use("sort", b",".join(keys)), use("top", n)], data)
    return None if both.out.startswith(top.out) else differ(both, top, "--top is not the beginning")


ENDS = {"running-" + o: o for o in ("sum", "min", "max", "count", "mean", "var", "stddev")}


def totals_end_in_results(case, run):
    numeric = [k for k in range(case.shape.n) if case.shape.kinds[k] not in hostile.NO_NUMBERS]
    column, chosen = names_of(case.shape, [case.rng.choice(numeric)]), case.rng.sample(sorted(ENDS), 3)
    data, common = one_file(case), case.uses + [HEADER]
    printed = run(common + [use("only")] + [use(name, column) for name in chosen], data)
    folded = run(common + [use(ENDS[name], column) for name in chosen] + [use("format", b"csv")], data)
    if printed.status:      # it prints computed columns, too
        return ABSENT
    if folded.status:
        return differ(printed, folded, "running totals fail as results do")
    rows = rows_printed(case.shape, printed.out)
    if len(rows) < 2:
        return ABSENT
    last = rows[-1]
    last = [cell.replace(case.shape.notation.decimal.decode(), ".") for cell in last[len(last) - len(chosen):]]
    if any(u.typed == "whitespace" for u in common):     # an empty new field is written as _
        last = ["" if cell == "_" else cell for cell in last]
    if last != rows_of(folded.out)[1]:
        return "running totals do not end in the results:\n%s\n%s" % (describe(printed), describe(folded))
    return None


# --missing names values of the input: what --let computed is one of them only for the second program.
NOT_IN_A_PIPE = ("whitespace", "quote", "missing")

# A pool has what may be drawn besides. HEADER is added by the checks.
LAWS = (
    Law("--where in a pipe", ("where",),
        READING + KEPT + RESULTS + RUNNING + ("by", "row-number", "offsets", "head", "tail", "sample", "seed", "exclusive", "only",
                                              "sort", "top", "format", "all", "invalid", "select", "drop", "rename"), where_in_a_pipe),
    Law("--let in a pipe", ("let",),
        tuple(o for o in READING if o not in NOT_IN_A_PIPE) + KEPT + ("let", "where", "by", "offsets") + RESULTS
        + ("sort", "top", "format"), lets_in_a_pipe),
    Law("--let in a pipe, records", ("let",),
        tuple(o for o in READING if o not in NOT_IN_A_PIPE) + KEPT + RUNNING + ("let", "where", "by"), lets_in_a_pipe),
    Law("expressions in place", ("let",), READING + KEPT + RESULTS + ("by", "where", "let", "invalid"), expressions_are_columns),
    Law("expressions in place, records", ("let", "select"), READING + KEPT + RUNNING + ("by", "where", "let", "select"), expressions_are_columns),
    Law("--having in a pipe", ("by",), DIALECT + KEPT + ("missing", "where", "let", "invalid"), having_in_a_pipe),
    Law("--select in a pipe", ("sum",), READING + KEPT + RESULTS + ("by", "where", "sort", "top", "format"), select_moves_nothing),
    Law("groups add up", ("by",), READING + KEPT + ("where", "let", "invalid"), groups_add_up),
    Law("--sort and --top", ("by", "sort", "top"), READING + KEPT + RESULTS + ("where", "let"), top_is_the_beginning),
    Law("parts merge", (), READING + KEPT + RESULTS + PRINTING + ("by", "where", "let", "invalid", "max-invalid"), parts_merge),
    Law("states go on", (), READING + KEPT + RESULTS + RUNNING + ("by", "where", "let", "row-number", "exclusive", "format", "sort", "top",
                                                                  "invalid"), states_go_on),
    Law("files are one", (), READING + KEPT + RESULTS + RUNNING + ("by", "where", "let", "row-number", "exclusive", "only", "format",
                                                                   "sort", "top", "offsets", "select", "drop", "invalid", "tail",
                                                                   "sample", "head", "rename"), files_are_one),
    Law("--union adds nothing", (), READING + KEPT + RESULTS + RUNNING + ("by", "where", "let", "row-number", "only", "select", "drop", "sort",
                                                                            "invalid", "ragged", "unique", "lead", "pivot"), union_adds_nothing),
    Law("order is free", ("sum",), READING + KEPT + tuple(o for o in RESULTS if o not in IN_ORDER) + ("by", "where", "let"), order_is_free),
    Law("formats agree", (), READING + KEPT + RESULTS + ("by", "where", "let", "sort", "top", "all", "invalid"), formats_agree),
    Law("formats of records agree", (), READING + KEPT + RUNNING + ("by", "where", "let", "only", "select", "drop", "rename", "row-number",
                                                                    "sort", "unique", "lead", "invalid", "ragged"), record_formats_agree),
    Law("styles change numbers", (), DIALECT + KEPT + ("missing",) + tuple(o for o in RESULTS if o not in IN_ORDER) + (
        "by", "where", "let", "sort", "top", "share", "agg", "having", "pivot"), styles_change_numbers),
    Law("styles change new columns", ("cumsum",), DIALECT + KEPT + ("missing",) + RUNNING + ("by", "where", "let", "only"), styles_change_numbers),
    Law("--pivot is --by", ("by", "pivot"), READING + KEPT + RESULTS[:-1] + ("where", "let", "invalid", "sort", "share", "agg"), pivot_is_by),
    Law("--transpose turns", (), READING + KEPT + RESULTS + ("by", "pivot", "let", "where", "sort", "all", "invalid"), transposed_is_turned),
    Law("all is all", (), READING + KEPT + RUNNING + ("by", "where", "let", "only", "select", "drop", "rename", "row-number"), all_is_all),
    Law("--head and --tail", (), READING + KEPT + RUNNING + ("where", "let", "only", "select", "drop", "row-number"),
        head_is_the_beginning),
    Law("--head of groups", ("by",), READING + KEPT + RUNNING + ("where", "let", "invalid"), head_is_of_each_group),
    Law("sorts are stable", (), READING + KEPT + ("where",), sorts_are_stable),
    Law("totals end in results", (), READING + KEPT + ("where", "let"), totals_end_in_results),
)
