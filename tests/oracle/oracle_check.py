# SPDX-License-Identifier: MIT
"""Is the model itself right? Its records against csv.reader, its numbers against fractions."""
import fractions
import random

import harness
import hostile
import oracle
import oracle_text
from csv_cases import GOOD

SEED = 20251121


def random_text(rng):
    pieces = [b'"', b'""', b",", b"\n", b"\r\n", b"a", b"1", b".", b" ", b";", b"\t", b"xyz", b"\0"]
    return b"".join(rng.choice(pieces) for _ in range(rng.randrange(0, 30)))


def like_csv_module(data, delimiter=b","):
    mine, opened = oracle_text.records(data, delimiter)
    theirs = oracle_text.records_by_csv_module(data, delimiter)
    if opened is not None:
        theirs = theirs[:-1]            # csv.reader hands out the unfinished record
    return [list(r.fields) if r.raw else [] for r in mine] == theirs


def check_records():
    rng, wrong, tried = random.Random(SEED), None, 0
    for _ in range(30000):
        data = random_text(rng)
        if not oracle_text.has_lone_cr(data):
            tried += 1
            if not like_csv_module(data, rng.choice((b",", b";", b"\t"))):
                wrong = data
    harness.ok(wrong is None and tried > 20000, "records are what csv.reader gives, random bytes",
               repr(wrong))
    wrong, tried = None, 0
    for seed in range(1500):
        case = hostile.make_case(seed)
        for _, data in case.files:
            data = data[3:] if data.startswith(oracle_text.BOM) else data
            if not oracle_text.has_lone_cr(data):
                tried += 1
                if not like_csv_module(data, case.request.delimiter):
                    wrong = data
    harness.ok(wrong is None and tried > 1000, "records are what csv.reader gives, hostile tables",
               repr(wrong))
    cut, opened = oracle_text.records(b'a\rb,"c\r"\r\n"d\ne",f\r\r\n1,2\r')
    harness.is_([r.fields for r in cut], [(b"a\rb", b"c\r"), (b"d\ne", b"f\r"), (b"1", b"2")],
                "a lone CR is data, CRLF and a CR at the end are line ends")
    harness.is_([r.lines for r in cut], [(1, 1), (2, 3), (4, 4)], "lines are physical")
    harness.is_(oracle_text.records(b'a\n\n"b\nc\n')[1], 3, "an open quote is found where it began")


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


def check_cases():
    """The hand-written answers of csv_cases.py against the model."""
    for case in GOOD:
        got = oracle.answer(case.request, case.data).text(case.request.format)
        harness.is_(got, case.want.encode(), "good: " + case.name)


def check_reach():
    """The random cases must reach what they are for."""
    seen = {"answer": 0, "usage": 0, "bad": 0, "unclear": 0, "skipped": 0, "summary": 0, "files": 0}
    for seed in range(1500):
        case = hostile.make_case(seed)
        try:
            got = oracle.answer(case.request, case.files)
            seen["answer"] += 1
            seen["skipped"] += sum(got.skipped.values()) > 0
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
check_numbers()
check_cases()
check_reach()
harness.done()
