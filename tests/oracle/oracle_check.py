# SPDX-License-Identifier: MIT
"""Is the model itself right? Its records against csv.reader and, if it is there, pandas; its numbers against fractions."""
import fractions
import io
import random

import harness
import hostile
import hostile_dialect
import hostile_request
import oracle
import oracle_dialect
import oracle_groups
import oracle_notation
import oracle_text
from csv_cases import GOOD

SEED = 20251121


def random_text(rng):
    pieces = [b'"', b'""', b",", b"\n", b"\r\n", b"a", b"1", b".", b" ", b";", b"\t", b"xyz", b"\0", b"'", b"''", b"\\",
              b"^"]
    return b"".join(rng.choice(pieces) for _ in range(rng.randrange(0, 30)))


def cut(data, dialect):
    return oracle_dialect.cut(dialect, dialect.delimiter or b",", "f", data)


def like_csv_module(data, dialect):
    """True, False, or None where the two mean different things."""
    if oracle_dialect.has_lone_cr(data) or dialect.comment or dialect.whitespace or dialect.trim or dialect.skip_lines:
        return None
    try:
        mine, trouble = cut(data, dialect)
    except oracle.Unclear:
        return None
    theirs = oracle_dialect.records_by_csv_module(data, dialect.delimiter or b",", dialect.quote, dialect.escape)
    if trouble and trouble.kind == "escape":
        return None
    if trouble and trouble.kind == "open":
        theirs = theirs[:-1]            # csv.reader hands out the unfinished record
    elif trouble:
        return mine[-1].stray is not None and all(r.stray is None for r in mine[:-1])
    return [list(r.fields) if r.raw else [] for r in mine] == theirs


def random_plain_dialect(rng):
    return oracle_dialect.Dialect(rng.choice((None, b";", b"\t")), rng.choice((b'"', b'"', b"'", None)),
                                  rng.choice((None, None, b"\\", b"^")))


def check_records():
    rng, wrong, tried = random.Random(SEED), None, 0
    for _ in range(30000):
        data, dialect = random_text(rng), random_plain_dialect(rng)
        said = like_csv_module(data, dialect)
        tried += said is not None
        if said is False:
            wrong = data, dialect.args()
    harness.ok(wrong is None and tried > 15000, "records are what csv.reader gives, random bytes",
               lambda: repr((wrong, tried)))
    wrong, tried = None, 0
    for seed in range(1500):
        case = hostile_request.make_case(seed)
        for _, data in case.files:
            data = data[3:] if data.startswith(oracle_text.BOM) else data
            if not data.startswith(b"sep="):
                said = like_csv_module(data, case.shape.dialect)
                tried += said is not None
                if said is False:
                    wrong = data, case.shape.dialect.args()
    harness.ok(wrong is None and tried > 1000, "records are what csv.reader gives, hostile tables",
               lambda: repr((wrong, tried)))
    rows, _ = cut(b'a\rb,"c\r"\r\n"d\ne",f\r\r\n1,2\r', oracle_dialect.Dialect())
    harness.is_([r.fields for r in rows], [(b"a\rb", b"c\r"), (b"d\ne", b"f\r"), (b"1", b"2")],
                "a lone CR is data, CRLF and a CR at the end are line ends")
    harness.is_([r.lines for r in rows], [(1, 1), (2, 3), (4, 4)], "lines are physical")
    _, trouble = cut(b'a\n\n"b\nc\n', oracle_dialect.Dialect())
    harness.is_(trouble.places, {("f", 3)}, "an open quote is found where it began")


DIALECTS = (        # data, dialect, fields; worked out by hand
    (b"'a''b',\"c\n", dict(quote=b"'"), [(b"a'b", b'"c')]),
    (b'a"b,"c"\n"\n', dict(quote=None), [(b'a"b', b'"c"'), (b'"',)]),
    (b'"a \\"b\\" c",x\\,y\\\nz\n', dict(escape=b"\\"), [(b'a "b" c', b"x,y\nz")]),
    (b'\\"a,b"\n"c""d"\n', dict(escape=b"\\"), [(b'"a', b'b"'), (b'c"d',)]),
    (b'#a "b\n1,2\n # no\n#\n"#\n#",3\n#', dict(comment=b"#"), [(b"1", b"2"), (b" # no",), (b"#\n#", b"3")]),
    (b' a  b\tc \n\n\t\n"d e" f\r\n', dict(whitespace=True),
     [(b"a", b"b", b"c"), (b"",), (b"",), (b'"d', b'e"', b"f")]),
    (b' a , "b, ""c"" " ,"d"\t\n  \t\n, "" ,\t\r\n"e" ,f "g\n',
     dict(trim=True), [(b"a", b'b, "c" ', b"d"), (b"",), (b"", b"", b""), (b"e", b'f "g')]),
    (b'a\\ ,\\ b\\\\ , "c\\ "\n', dict(escape=b"\\", trim=True), [(b"a ", b" b\\", b"c ")]),
    (b' "a"\t "b"\t c\n', dict(delimiter=b"\t", trim=True), [(b"a", b"b", b"c")]),
    (b'x "\r\ny\n1,2\n', dict(skip_lines=2), [(b"1", b"2")]),
)


def check_dialects():
    for data, how, want in DIALECTS:
        rows, trouble = cut(data, oracle_dialect.Dialect(**how))
        harness.is_((trouble, [r.fields for r in rows]), (None, want), "%r, %s" % (data, how))
    for text, line in ((b'1\n "5" disk , 2\n', 2), (b'"a" "b"\n', 1)):
        rows, trouble = cut(text, oracle_dialect.Dialect(trim=True))
        harness.is_((trouble.kind, rows[-1].stray), ("stray", line), "text after a closing quote and a blank, %r" % text)
    for text, line in ((b'1\n"5" disk\n', 2), (b'"a \\"b\\" c"\n', 1), (b'"a\nb" \n', 2), (b'"a"\ry\n', 1)):
        rows, trouble = cut(text, oracle_dialect.Dialect())
        harness.is_((trouble.kind, rows[-1].stray), ("stray", line), "text behind a closing quote, %r" % text)
    wide = cut(b"a b c\n1 2  3 4 \n5 6\n", oracle_dialect.Dialect(whitespace=True))[0]
    harness.is_([oracle_dialect.with_rest(r, 3).fields for r in wide],
                [(b"a", b"b", b"c"), (b"1", b"2", b"3 4"), (b"5", b"6")],
                "the last column of -W holds the rest of the line")


def by_pandas(data, dialect):
    """The fields as pandas reads them, [] for none; None where it refuses."""
    import pandas
    how = dict(sep=r"\s+") if dialect.whitespace else dict(sep=(dialect.delimiter or b",").decode())
    if dialect.quote is None or dialect.whitespace:
        how["quoting"] = 3
    else:
        how["quotechar"] = dialect.quote.decode()
    how.update(header=None, dtype=str, keep_default_na=False, na_values=[], encoding="latin-1", skip_blank_lines=False)
    try:
        return pandas.read_csv(io.BytesIO(data), escapechar=dialect.escape and dialect.escape.decode(),
                               skiprows=dialect.skip_lines, **how)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError):
        return None


def check_pandas():
    """Regular tables, without blank lines and comments, which pandas takes elsewhere too."""
    try:
        import pandas                                           # noqa: F401
    except ImportError:
        harness.skip("records are what pandas gives", "there is no pandas")
        return
    wrong, tried = [], 0
    for seed in range(8000):
        case = hostile_request.make_case(seed, pool=hostile_dialect.DIALECT)
        dialect = case.shape.dialect
        for _, data in case.files:
            data = data[3:] if data.startswith(oracle_text.BOM) else data
            if b"\r" in data or b"\0" in data or b"\n\n" in b"\n" + data or data.startswith(b"sep="):
                continue
            if dialect.comment or dialect.trim or dialect.delimiter == b" ":
                continue
            try:
                rows, trouble = cut(data, dialect)
            except (oracle.Unclear, oracle_text.BadData):
                continue
            if trouble or not rows or len({len(r.fields) for r in rows}) > 1 or any(not r.raw.strip() for r in rows):
                continue
            frame = by_pandas(data, dialect)
            want = [[f.decode("latin-1") for f in r.fields] for r in rows]
            tried += 1
            if frame is None or [["" if v != v else v for v in row] for row in frame.values.tolist()] != want:
                wrong.append((seed, data, dialect.args(), want, frame))
    harness.ok(not wrong and tried > 1200, "records are what pandas gives, %d tables" % tried,
               lambda: repr((len(wrong), wrong[:2])))
    check_pandas_numbers()


def check_pandas_numbers():
    """--decimal and --thousands as pandas reads them. It checks no groups, so all are right here."""
    import pandas
    rng, wrong, tried = random.Random(SEED), [], 0
    for _ in range(1500):
        marks = rng.choice(((b",", b"."), (b".", b","), (b",", None), (b".", b"'"), (b",", b" ")))
        notation = oracle_notation.Notation(*marks)
        plain = [hostile.number_text(rng, rng.choice(("small", "int", "decimal"))) for _ in range(5)]
        texts = [hostile_dialect.in_notation(rng, t, notation) for t in plain]
        pairs = [notation.number(t) for t in texts]
        if None in pairs:
            continue
        frame = pandas.read_csv(io.BytesIO(b"n\n" + b"\n".join(texts)), sep=";", decimal=marks[0].decode(),
                                thousands=marks[1] and marks[1].decode(), skip_blank_lines=False)
        tried += 1
        got = [float(v) for v in frame["n"].tolist()] if frame["n"].dtype.kind in "if" else None
        want = [float(v) for v, _ in pairs]
        if got is None and max(map(abs, want)) < 1e17 or got and any(
                abs(a - b) > 1e-12 * abs(b) for a, b in zip(got, want)) or [p[0] for p in pairs] != [
                oracle_text.number(t.encode())[0] for t in plain]:
            wrong.append((marks, texts, got, want))
    harness.ok(not wrong and tried > 1000, "notations are what pandas reads, %d tables" % tried,
               lambda: repr(wrong[:3]))


def check_numbers():
    rng = random.Random(SEED)
    kinds = ("small", "int", "decimal", "edge", "zeros", "exponent", "wide")
    wrong = []
    for _ in range(600):
        texts = [hostile.number_text(rng, rng.choice(kinds)) for _ in range(rng.randrange(1, 8))]
        column = oracle.Column()
        for t in texts:
            column.add(oracle_text.number(t.encode()))
        exact = [fractions.Fraction(t.rstrip(".") if "e" not in t else t.replace(".e", "e"))
                 for t in texts]
        for operation, want in (("sum", sum(exact)), ("min", min(exact)), ("max", max(exact))):
            got = column.answer(operation)
            places = len(got.partition(".")[2])
            if fractions.Fraction(got) != want or places != column.scale or got.startswith("-") != \
                    (want < 0):
                wrong.append((operation, texts, got))
        got, want = fractions.Fraction(column.answer("mean")), sum(exact) / len(exact)
        if abs(got - want) * 2 * 10 ** 16 > abs(want):
            wrong.append(("mean", texts, got))
    harness.ok(not wrong, "sum, min, max and mean against fractions", lambda: repr(wrong[:3]))
    table = ((b"1.5e-2", "0.015"), (b"1e3", "1000"), (b".5", "0.5"), (b"5.", "5"), (b"-0.00", "0.00"),
             (b"0e500", "0"), (b"0e-2", "0.00"), (b"+1.50e1", "15.0"), (b" \t7 ", "7"))
    for text, want in table:
        harness.is_(oracle_text.in_plain(*oracle_text.number(text)), want, "number %r" % text)
    for text in (b"", b".", b"+", b"-", b"e5", b"1e", b"nan", b"inf", b"0x10", b"1,234", b"1 2", b"1_0"):
        harness.is_(oracle_text.number(text), None, "no number %r" % text)


NOTATIONS = (       # options, text, its value or None; worked out by hand
    (dict(decimal=b","), b"1,5", "1.5"),
    (dict(decimal=b","), b"1.5", None),
    (dict(decimal=b","), b",5e1", "5"),
    (dict(thousands=b","), b"1,234,567.50", "1234567.50"),
    (dict(thousands=b","), b"1234", "1234"),
    (dict(thousands=b","), b"1,23", None),
    (dict(thousands=b","), b",123", None),
    (dict(thousands=b","), b"1,2345", None),
    (dict(thousands=b","), b"1234,567", None),
    (dict(thousands=b","), b"1.234,567", None),
    (dict(thousands=b".", decimal=b","), b"-1.234,50", "-1234.50"),
    (dict(thousands=b".", decimal=b","), b"1.23.4", None),
    (dict(thousands=b" "), "1\u202f234".encode(), "1234"),
    (dict(thousands=b" "), "1\u00a0234".encode(), "1234"),
    (dict(thousands=b"'"), b"1'234.5", "1234.5"),
    (dict(money=True), b"$5", "5"),
    (dict(money=True), b"$ 5.00", "5.00"),
    (dict(money=True), b"-$5", "-5"),
    (dict(money=True), b"(12.00)", "-12.00"),
    (dict(money=True), b"12.00-", "-12.00"),
    (dict(money=True), b"($5)", "-5"),
    (dict(money=True), b"5 EUR", "5"),
    (dict(money=True), b"EUR5", "5"),
    (dict(money=True), "5\u00a0\u20ac".encode(), "5"),
    (dict(money=True), b"5 eur", None),
    (dict(money=True), b"$5$", None),
    (dict(money=True), b"(-5)", None),
    (dict(money=True), b"$", None),
    (dict(money=True), b"12%", None),
    (dict(money=True), b"-5-", None),
    (dict(money=True, thousands=b","), b"$1,234.50", "1234.50"),
    (dict(money=True, decimal=b","), "1,50 \u20ac".encode(), "1.50"),
    (dict(percent=True), b"12%", "0.12"),
    (dict(percent=True), b"12.5 %", "0.125"),
    (dict(percent=True), b"-7%", "-0.07"),
    (dict(percent=True), b"%", None),
    (dict(percent=True), b"12%%", None),
    (dict(percent=True), b"12", "12"),
    (dict(), b"12%", None),
    (dict(), b"$5", None),
    (dict(), b"1,5", None),
)


def check_notations():
    for how, text, want in NOTATIONS:
        pair = oracle_notation.Notation(**how).number(text)
        harness.is_(pair and oracle_text.in_plain(*pair), want, "%r with %s" % (text, how))
    rng, wrong = random.Random(SEED), []
    for _ in range(5000):
        notation = hostile_dialect.random_notation(rng, b";")
        plain = hostile.number_text(rng, rng.choice(hostile.NUMBERS))
        text = hostile_dialect.in_notation(rng, plain, notation)
        try:
            got = notation.number(text)
        except (oracle.Unclear, oracle_text.BadData):
            continue
        want = oracle_text.number(plain.encode())
        if text.endswith(b"%"):
            want = want[0].scaleb(-2, oracle_text.EXACT), None
        if got is not None and got[0] != want[0]:
            wrong.append((plain, text, notation.args(), got))
    harness.ok(not wrong, "what is written in a notation is read back", lambda: repr(wrong[:3]))


GROUPED = """SELECT k, count(*), count(v), sum(v), min(v), max(v), median(v), quantile_cont(v, 0.25), first(v ORDER BY n)
    FILTER (v IS NOT NULL), last(v ORDER BY n) FILTER (v IS NOT NULL), count(DISTINCT v) FROM t GROUP BY k ORDER BY %s min(n)"""
RUNNING = """SELECT sum(v) OVER w, min(v) OVER w, count(v) OVER w, row_number() OVER w, sum(v) OVER b FROM t
    WINDOW w AS (PARTITION BY k ORDER BY n), b AS (PARTITION BY k ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ORDER BY n"""


def cells_of(answer):
    """The numbers as Fractions, "" as None, keys as they are."""
    lines = [line.split(",") for line in answer.text("csv").decode().splitlines()[1:]]
    return [[c if c[:1] == "k" else fractions.Fraction(c) if c else None for c in line] for line in lines]


def duckdb_rows(rows, query):
    import duckdb
    base = duckdb.connect()
    base.execute("CREATE TABLE t (n INTEGER, k VARCHAR, v INTEGER)")
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, k, v) for n, (k, v) in enumerate(rows)])
    return [[c if c is None or isinstance(c, str) else fractions.Fraction(c) for c in row]
            for row in base.execute(query).fetchall()]


def check_groups():
    """Groups and running columns by group as DuckDB has them, of integers."""
    try:
        import duckdb   # noqa: F401
    except ImportError:
        harness.skip("groups are what DuckDB gives", "no duckdb here")
        return
    rng, wrong = random.Random(SEED), []
    operations = [("count-records", None)] + [(o, "v") for o in (
        "count", "sum", "min", "max", "median", "p25", "first", "last", "count-distinct")]
    for _ in range(60):
        nkeys = rng.choice((1, 2, 5, 30))
        rows = [("k%d" % rng.randrange(nkeys), rng.choice((None, 0, 1, rng.randrange(-1000, 1000))))
                for _ in range(rng.randrange(1, 60))]
        data = "".join("%s,%s\n" % (k, "" if v is None else v) for k, v in [("k", "v")] + rows).encode()
        for sort, order in ((None, ""), ("sum(v)", "sum(v) NULLS FIRST,"), ("-max", "max(v) DESC NULLS LAST,"), ("-k", "k DESC,")):
            if sort == "sum(v)" and any(all(v is None for k, v in rows if k == key) for key, _ in rows):
                continue        # SQL's sum of nothing is none
            top = rng.choice((None, 1, 3))
            mine = cells_of(oracle_groups.answer(oracle_groups.Groups("k", sort, top, operations=operations), data))
            if top and not sort:
                order = "count(*) DESC,"        # the largest of the first result
            theirs = duckdb_rows(rows, GROUPED % order)[:top]
            theirs = [row[:3] + [row[3] or fractions.Fraction(0)] + row[4:] for row in theirs]
            wrong += [(sort, rows, mine, theirs)] if mine != theirs else []
        news = [("sum", "v"), ("min", "v"), ("count", "v"), ("row-number", None)]
        after, before = (cells_of(oracle_groups.answer(oracle_groups.Groups("k", news=n, only=True, exclusive=x), data))
                         for n, x in ((news, False), (news[:1], True)))
        mine = [a + b for a, b in zip(after, before)]
        theirs = [[row[0] or fractions.Fraction(0)] + row[1:4] + [row[4] or fractions.Fraction(0)]
                  for row in duckdb_rows(rows, RUNNING)]
        wrong += [("running", rows, mine, theirs)] if mine != theirs else []
    harness.ok(not wrong, "groups are what DuckDB gives", lambda: repr(wrong[:2]))


def check_cases():
    """The hand-written answers of csv_cases.py against the model."""
    for case in GOOD:
        try:
            got = oracle.answer(case.request, case.data).text(case.request.format)
        except (oracle.BadData, oracle.Unclear, oracle.Usage) as why:
            got = repr(why)
        harness.is_(got, case.want.encode(), "good: " + case.name)


def check_reach():
    """The random cases must reach what they are for."""
    seen = {"answer": 0, "usage": 0, "bad": 0, "unclear": 0, "notes": 0, "summary": 0, "files": 0}
    for seed in range(1600):
        case = hostile_request.make_case(seed)
        try:
            got = oracle.answer(case.request, case.files)
            seen["answer"] += 1
            seen["notes"] += len(got.notes) > 0
            seen["summary"] += got.rows is not None
            seen["files"] += len(case.files) > 1
        except oracle.Usage:
            seen["usage"] += 1
        except oracle_text.BadData:
            seen["bad"] += 1
        except oracle.Unclear:
            seen["unclear"] += 1
    harness.note(seen)
    harness.ok(seen["answer"] > 700 and min(seen.values()) > 15, "random cases reach every outcome")


check_records()
check_dialects()
check_pandas()
check_numbers()
check_notations()
check_cases()
check_groups()
check_reach()
harness.done()
