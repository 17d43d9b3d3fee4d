# SPDX-License-Identifier: MIT
"""Records are printed, and conditions evaluated, in blocks of rows (src/fold/row_block.h). The tables are long
enough for whole blocks. Nearly all rows are plain; rows that are not stand at every place of a block. The model is
oracle_scan.py; every instruction set, number of threads and size of chunk must write the same.

GPUSTAT_TEST_SEED sets the seed.
"""
import os
import random

import harness
import oracle
from oracle_scan import Scan, judge

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "3000"))
SETS = harness.instruction_sets()
CHUNKS = (64, 999, 4000, None)
THREADS = (1, 2, 3, 7)
HEADER = b"id,v,w,t"


# ---- tables -----------------------------------------------------------------------------------

def small(rng):
    return b"%d" % rng.randrange(-1000, 1000)


def decimals(rng):
    return b"%d.%02d" % (rng.randrange(-99, 100), rng.randrange(100))


def long_ones(rng):
    return b"%s%d" % (rng.choice((b"", b"-", b"+")), rng.randrange(10 ** 17, 10 ** 18))


def floats(rng):
    return repr(rng.uniform(-1e6, 1e6)).encode()


# What stands now and then where a plain number is expected.
ODD = {
    "missing": (b"", b" ", b"NA", b'""', b"\t"),
    "quoted": (b'"5"', b'"-7.5"', b'"+1"', b'"12"', b'" 8 "', b'"1e2"'),
    "scales": (b"0.1", b"1.25", b"3.00000", b"1e-9", b"7", b"-0.000000000000001", b".5", b"5.", b"1E3"),
    "larger scales": (b"1e-19", b"2e-20", b"-1e-31", b"1e-25"),
    "wide": (b"12345678901234567890", b"-1e300", b"1e-200", b"99999999999999999999.5", b"1e-32"),
    "128 bits": (b"999999999999999999", b"1e-17", b"-999999999999999999", b"1e-30", b"1e17"),
    "signs": (b"-0", b"+0", b"-0.0", b"+.5", b" 6", b"6 ", b"-000000000000000000000012"),
}
TEXTS = (b"GET", b"POST", b"", b"get", b'"GET"', b'"a,b"', b'"two\nlines"', b'"say ""hi"""', b"NA", b" GET")


def field(rng, plain, odd, rarity):
    return rng.choice(odd) if odd and rng.randrange(rarity) == 0 else plain(rng)


def table(rng, plain, kinds=(), rarity=40, nrows=260, end=b"\n", others=(), last=True):
    """A table of which a column holds `plain` numbers and, one in `rarity`, others of ODD's kinds.
    others: whole lines that stand between records now and then."""
    odd = [text for kind in kinds for text in ODD[kind]]
    lines = [HEADER]
    for i in range(nrows):
        lines.append(b",".join((b"%d" % i, field(rng, plain, odd, rarity), field(rng, small, odd, rarity),
                                rng.choice(TEXTS))))
        if others and rng.randrange(rarity) == 0:
            lines.append(rng.choice(others))
    return end.join(lines) + (end if last else b"")


# ---- running ----------------------------------------------------------------------------------

def check(name, q, data, turn, some=1):
    """One line for the Scan q over data, chunks and sets in turn, the last of both always (a machine may know
    one set alone); none where the contract is silent."""
    try:
        right = judge(q, data)
    except oracle.Unclear:
        return
    jobs = []
    for i, chunk in enumerate(CHUNKS):
        for j, simd in enumerate(SETS):
            if (i + j) % some == 0 or (i == len(CHUNKS) - 1 and j == len(SETS) - 1):
                jobs.append(dict(args=q.args(), stdin=data, chunk=chunk, device="cpu", simd=simd,
                                 threads=THREADS[(turn + i + j) % len(THREADS)]))
    results = harness.run_many(jobs)
    wrong = [(r, job, right(r)) for r, job in zip(results, jobs) if right(r)]

    def diagnosis():
        r, job, complaint = wrong[0]
        return "%d of %d runs are wrong\n%s\n%s\n%s" % (len(wrong), len(jobs), job["simd"],
                                                        harness.describe(r, data), complaint)
    harness.ok(not wrong and len(results) > 1, name, diagnosis)


SCANS = (
    ("sum", [("sum", "v")], {}),
    ("sum before the record", [("sum", "v")], dict(exclusive=True)),
    ("sum alone", [("sum", "v")], dict(only=True)),
    ("minimum", [("min", "v")], {}),
    ("maximum, before the record", [("max", "v")], dict(exclusive=True)),
    ("count of numbers", [("count", "v"), ("max", "v")], {}),
    ("presence", [("count", "t")], {}),
    ("two columns, twice", [("sum", "w"), ("sum", "v"), ("min", "w"), ("sum", "w")], {}),
    ("positions", [("byte-offset", None), ("sum", "v"), ("offsets", "w > 0")], dict(exclusive=True)),
    ("positions alone", [("offsets", "t = 'GET'"), ("byte-offset", None)], dict(only=True)),
    ("a condition", [("sum", "v")], dict(where="w >= 100")),
    ("a condition on what is summed", [("sum", "v"), ("offsets", "v < 0")], dict(where="v >= -100.5")),
    ("a condition on text", [("max", "v"), ("count", "t")], dict(where="t = 'GET' or t is missing")),
)
CONDITIONS = (
    "v > 0", "v <= 12.5", "v = 7", "v != 7", "v >= -0.125", "v < 1e-12", "v > 1e17", "v < -1e-40", "v = 1e30",
    "v > 99999999999999999999", "v > w", "v = w", "v <= w or t = 'GET'", "v is missing", "v is not missing",
    "not (v > 0 and w > 0)", "v > 0 and w > 0 or t != 'POST' and v < 0", "t = 'GET'", "t != 'GET'", "t < 'H'",
    "t >= 'POST'", "t is missing", "t is not missing and id > 200", "t = 'a,b' or t = 'say \"hi\"'",
    "t = 'two\nlines'", "id < 64", "id >= 64 and id < 128", "id = 259", "id < 0", "id >= 0",
    "(id < 10 or id > 250) and not t = 'get'",
)
TABLES = (
    ("plain", small, ()), ("decimals", decimals, ()), ("floats", floats, ("missing",)),
    ("long", long_ones, ()), ("missing", small, ("missing",)), ("quoted", decimals, ("quoted",)),
    ("scales", small, ("scales",)), ("larger scales", small, ("larger scales", "missing")),
    ("wide", small, ("wide",)), ("wide, scales", decimals, ("wide", "scales", "signs")),
    ("128 bits", long_ones, ("128 bits",)), ("128 bits, few", small, ("128 bits", "signs")),
)


def check_scans(rng):
    for t, (what, plain, kinds) in enumerate(TABLES):
        data = table(rng, plain, kinds, rng.choice((7, 40, 150)), end=rng.choice((b"\n", b"\r\n")), last=t % 3 != 0)
        for i, (name, news, how) in enumerate(SCANS):
            check("%s: %s" % (what, name), Scan(news, missing=["NA"], **how), data, t + i, 3)


def check_conditions(rng):
    for t, (what, plain, kinds) in enumerate(TABLES):
        data = table(rng, plain, kinds, rng.choice((7, 40)), end=rng.choice((b"\n", b"\r\n")), last=t % 2 != 0)
        for i, condition in enumerate(CONDITIONS):
            if (i + t) % 3 == 0:
                check("%s: where %s" % (what, condition), Scan(where=condition, missing=["NA"]), data, t + i, 3)
            elif (i + t) % 3 == 1:
                q = Scan(operations=[("sum", "w"), ("max", "v"), ("count", "t")], where=condition, missing=["NA"])
                check("%s: reduced where %s" % (what, condition), q, data, t + i, 5)


# Lines between records: blank, too short, of more fields, of one field.
SHAPES = (b"", b"1,2", b"x", b"1,5,6,a,b,c", b"9,,,", b",,,", b'"q,q\n",1,2,"3\n"', b"0,1,2,y,")


def check_shapes(rng):
    for end in (b"\n", b"\r\n"):
        for rarity in (3, 30):
            data = table(rng, decimals, ("missing", "scales"), rarity, end=end, others=SHAPES)
            for i, (name, news, how) in enumerate(SCANS):
                check("shapes: %s" % name, Scan(news, missing=["NA"], invalid="skip", **how), data, i, 3)
            for i, condition in enumerate(CONDITIONS[::4]):
                check("shapes: where %s" % condition, Scan(where=condition, missing=["NA"], invalid="skip"), data, i, 3)


def check_text_for_numbers(rng):
    """Text in a column of numbers: an error, or left out, wherever in a block it stands."""
    for at in (0, 1, 63, 64, 65, 200, 259):
        lines = table(rng, small).split(b"\n")
        lines = [line for line in lines if line.count(b",") == 3 and line.count(b'"') % 2 == 0][:261]
        lines[min(at, len(lines) - 2) + 1] = b"7,abc,xyz,GET"
        data = b"\n".join(lines) + b"\n"
        for i, (name, news, how) in enumerate(SCANS):
            for invalid in ("error", "skip"):
                if (i + at) % 4 == 0:
                    check("text in row %d, %s: %s" % (at, invalid, name), Scan(news, invalid=invalid, **how), data, i, 3)
        for condition in ("v > 0", "w < 5 or v > 0", "id >= 0 or v > 0", "v > w"):
            for invalid in ("error", "skip"):
                check("text in row %d, %s: where %s" % (at, invalid, condition),
                      Scan(where=condition, invalid=invalid), data, at, 3)
    for first, second in ((b"7,abc,5,GET", b"8,5,xyz,GET"), (b"7,5,xyz,GET", b"8,abc,5,GET")):
        lines = [HEADER] + [b"%d,%d,5,GET" % (i, i) for i in range(200)]
        lines[70], lines[80] = first, second
        for q in (Scan(where="v > w"), Scan([("offsets", "w > 0")], where="v >= 0"), Scan([("sum", "id")], where="w > v"),
                  Scan(operations=[("sum", "id")], where="w > 0 or v > 0"), Scan([("offsets", "v > 0")], where="w > 0")):
            check("two texts in a block: %s" % q.where.decode(), q, b"\n".join(lines), 1)


def check_irregular(rng):
    """A stray quote in the middle of a chunk: from there on the automaton parses."""
    for at in (3, 100, 240):
        lines = table(rng, decimals, ("missing",)).split(b"\n")
        lines.insert(at + 1, b'5,6.5,7,12" disk')
        data = b"\n".join(lines)
        for i, (name, news, how) in enumerate(SCANS):
            check("a stray quote: %s" % name, Scan(news, missing=["NA"], **how), data, i, 3)
        for condition in CONDITIONS[::5]:
            check("a stray quote: where %s" % condition, Scan(where=condition, missing=["NA"]), data, at, 3)


def check_others(rng):
    one = b"".join(b"%d\n" % rng.randrange(1000) if rng.randrange(9) else b"\n" for _ in range(300))
    for how in ({}, dict(exclusive=True), dict(only=True)):
        check("one column, blank lines: %s" % how, Scan([("sum", "1"), ("count", "1")], header="no", **how), one, 1, 2)
    check("one column, a condition", Scan(where=":1 is missing or :1 > 500", header="no"), one, 2, 2)
    data = table(rng, small, ("missing",))
    spelled = Scan([("sum", "v"), ("count", "t")], where="v < 500", missing=["0", "-7", "GET"])
    check("numbers that mean missing", spelled, data, 3, 2)
    for delimiter in (b".", b"-", b"5", b"e"):
        swapped = b"a" + delimiter + b"b\n" + b"".join(
            b"%d" % rng.choice((1, 2, 3, 44)) + delimiter + b"%d\n" % rng.choice((1, 2, 3)) for _ in range(200))
        check("new fields in quotes: %s" % delimiter.decode(),
              Scan([("sum", "b"), ("byte-offset", None)], delimiter=delimiter), swapped, 4, 2)
    cr = b"a,b\r\n" + b"1,2\r\n" * 100 + b"1,5\r,x\r\n" * 3
    for q in (Scan([("sum", "b")]), Scan(where="b > 1"), Scan(operations=[("sum", "b")], where="a = 1")):
        check("a CR that ends a field, but no record", q, cr, 5)
    many = Scan([("sum", "v,w,id")] * 30, missing=["NA"])
    check("many new columns", many, table(rng, decimals, ("scales",), nrows=150), 5, 3)
    large = b"v\n" + b"9" * 18 + b"\n" + b"".join(b"%d\n" % (9 * 10 ** 17) for _ in range(200))
    check("beyond 64 bits and back", Scan([("sum", "v")]), large + large[2:].replace(b"9", b"-9", 1)
          + b"-900000000000000000\n" * 400, 6)


def main():
    rng = random.Random(SEED)
    harness.note("seed %d" % SEED)
    check_scans(rng)
    check_conditions(rng)
    check_shapes(rng)
    check_text_for_numbers(rng)
    check_irregular(rng)
    check_others(rng)
    harness.done()


main()
