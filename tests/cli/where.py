# SPDX-License-Identifier: MIT
"""--where and the language EXPR: what is kept, byte for byte, what is refused and where it points.

What is kept is written by hand as the ids of the records; the model (oracle_scan.py) must agree.
"""
import fractions
import random
import re

import harness
import oracle_scan
from harness import answers, fixture, is_, refuses
from oracle_scan import Scan
from scan_ways import breaks, holds, models, prints, ways

# ---- what holds ---------------------------------------------------------------------------------

NAMES = b"id,bytes,method,seconds,x\n"
RECORDS = [b"1,1000,GET,0.5,1\n",
           b'2,999.999,"POST",,1.0\r\n',
           b"3,1e3,get,NA,\n",
           b'4,,"say ""hi, you""",2,-0\n',
           b'5,"12345678901234567890","two\nlines",1e-300,x\n',
           b'6, -5 ,GET ,0.3,1e400']
DATA = NAMES + b"".join(RECORDS)

MEANINGS = [
    # the signs, the sides
    ("id = 3", "3"), ("id == 3", "3"), ("id != 3", "12456"), ("id < 3", "12"), ("id <= 3", "123"),
    ("id > 3", "456"), ("id >= 3", "3456"), ("3 < id", "456"), ("3>=id", "123"), ("3 != id", "12456"),
    ("id<3.5", "123"), ("\tid\n>\r4 ", "56"), ("id > +4", "56"), ("id > -4", "123456"), ("id>.5e1", "6"),
    ("id < id", ""), ("id = id", "123456"), ("id > seconds", "14" "56"), ("seconds < id", "1456"),
    # exact
    ("bytes = 1000", "13"), ("bytes = 1e3", "13"), ("bytes = 1000.000", "13"), ("bytes >= 1000", "135"),
    ("bytes < 999.9990000000000000000000000001", "26"), ("bytes > 12345678901234567889", "5"),
    ("bytes = 12345678901234567890", "5"), ("bytes > 12345678901234567890", ""),
    ("bytes = 12345678901234567891", ""), ("seconds > 0", "1456"), ("seconds < 1e-299", "5"),
    ("seconds = 1e-300", "5"), ("seconds = 0.3", "6"), ("seconds = 0.30000000000000000000001", ""),
    ("bytes = -5", "6"), ("bytes < 1e399", "12356"),
    # strings
    ("method = 'GET'", "1"), ('method = "GET"', "1"), ("'GET' = method", "1"), ("method = 'POST'", "2"),
    ("method = 'get'", "3"), ("method = 'GET '", "6"), ("method = 'say \"hi, you\"'", "4"),
    ('method = "say ""hi, you"""', "4"), ("method = 'two\nlines'", "5"), ("method != 'GET'", "23456"),
    ("method < 'Z'", "126"), ("method >= 'get'", "345"), ("'h' < method", "45"), ("bytes = '1000'", "1"),
    ("bytes = '1e3'", "3"), ("bytes < '2'", "1356"), ("bytes = ' -5 '", "6"), ("x = 'x'", "5"),
    # missing and three values
    ("bytes is missing", "4"), ("bytes is not missing", "12356"), ("not bytes is missing", "12356"),
    ("seconds is missing", "23"), ("x is missing", "3"), ("seconds = 0.5", "1"), ("seconds != 0.5", "456"),
    ("not seconds = 0.5", "456"), ("not seconds != 0.5", "1"), ("seconds = seconds", "1456"),
    ("seconds = 'NA'", ""), ("seconds != 'NA'", "1456"), ("not (seconds > 0 and id > 0)", ""),
    ("not (seconds > 0 and id > 2)", "12"), ("seconds > 0 or id = 2", "12456"),
    ("not (seconds > 0 or id = 9)", ""), ("seconds > bytes", "6"), ("not seconds > bytes", "15"),
    # precedence
    ("id=1 or id=2 and id=3", "1"), ("(id=1 or id=2) and id=3", ""), ("id=2 and id=3 or id=1", "1"),
    ("id=1 or id=2 and id=2 or id=4", "124"), ("id<5 and (id=1 or id=4)", "14"),
    ("not id=1 and id<3", "2"), ("not (id=1 and id<3)", "23456"), ("not id=1 or id=1", "123456"),
    ("not not id=1", "1"), ("!!!id=1", "23456"), ("not(id=1)and id<3", "2"), ("((((id=1))))", "1"),
    ("! ( ! (id=1) || id = 2 )", "1"), ("id=1 || id=2 && id=3", "1"), ("id=1 && id=2 || id=3", "3"),
    # words
    ("id=1 OR id=2", "12"), ("id<4 AND NOT id=2", "13"), ("bytes Is Not Missing", "12356"),
    ("bytes IS MISSING||id=1", "14"), ("id=1and id=1", None),
    # columns
    (":1 = 2", "2"), ("col1 = 2", "2"), ("`id` = 2", "2"), (":2 = bytes", "12356"), ("col4 is missing", "23"),
    ("`col1` = 2", None), (":6 = 2", None), (":0 = 2", None), ("ID = 2", None), ("`:1` = 2", None),
    # lists, ranges, parts
    ("id in (1, 3.0, 9)", "13"), ("id IN(2)", "2"), ("id not in (1,2)", "3456"), ("not id in (1, 2)", "3456"),
    ("not id not in (1, 2)", "12"), ("seconds in (0.5, 2)", "14"), ("seconds not in (0.5)", "456"),
    ("method in ('GET', 'get')", "13"), ("method not in ('GET', 'get')", "2456"), ("bytes in ('1e3', 999.999)", "23"),
    ("id in (seconds, 3)", "3"), ("id in (id)", "123456"), ("id in (1, 2) and id = 2", "2"),
    ("id=1 or id in (2, 3) and id=3", "13"), ("id between 2 and 4", "234"), ("id not between 2 and 4", "156"),
    ("not id between 2 and 4", "156"), ("id between 4 and 2", ""), ("id not between 4 and 2", "123456"),
    ("id between 2 and 4 and id between 4 and 9", "4"), ("id between 1 and 2 or id = 6", "126"),
    ("seconds between 0.3 && 1", "16"), ("seconds not between 0.3 and 1", "45"), ("id between 1 and seconds", ""),
    ("method between 'G' and 'GET'", "1"), ("method between 'POST' and 'get'", "23"),
    ("method contains 'E'", "16"), ("method contains 'you\"'", "4"), ("method not contains 'E'", "2345"),
    ("method contains 'GET '", "6"), ("method contains 'T G'", ""), ("method starts with 'GE'", "16"),
    ("method Starts With 'GET '", "6"), ("method not starts with 'GE'", "2345"), ("method ends with 'T'", "12"),
    ("not method ends with 'T'", "3456"), ("method ends with 'a longer text'", ""), ("bytes starts with '1'", "135"),
    ("bytes ends with ' '", "6"), ("seconds contains 'A'", ""), ("seconds not contains '0'", "4"),
    ("x is number", "124"), ("x is not number", "56"), ("not x is number", "56"), ("seconds is number", "1456"),
    ("seconds is not number", ""), ("method is number", ""), ("x is number and x = 1", "12"),
    ("x is number and x >= 0 or id = 9", "124"), ("bytes starts with '1' and bytes is number", "135"),
    # text where a number is asked
    ("id < 5 and x = 1", "12"), ("x = 1 and id < 5", "12"), ("id >= 5 or x = 1", "1256"),
    ("x = 1 or id >= 5", "1256"), ("x is not missing", "12456"), ("not (x = 1 and id < 5)", "456"),
    ("x > 1 and seconds > 1 and id < 5", ""), ("not (x > 1 or id > 4)", "124"),
]


# Of values that are computed, which the model does not have.
CALCULATED = [
    ("id + 1 = 3", "2"), ("id+1 > 4", "456"), ("id * 2 between 4 and 6", "23"), ("id * id - id = 6", "3"), ("-id < -4", "56"),
    ("(id + 1) * 2 in (4, 8)", "13"), ("id not in (seconds * 2, 3)", "56"), ("not (id + 1 > 3)", "12"), ("id > 7 - id", "456"),
    ("bytes / 3 > 333", "1235"), ("bytes / 0 is missing", "123456"), ("seconds + 1 is missing", "23"), ("seconds + 0 is number", "1456"),
    ("lower(method) = 'get'", "13"), ("upper(method) in ('GET', 'POST')", "123"), ("lower(method) = upper(method)", ""),
    ("length(method) = 3", "13"), ("length(method) > id + 2", "45"), ("if(id > 3, 1, 0) = 1", "456"), ("(id) = 2", "2"),
    ("coalesce(seconds, id) = id", "23"), ("max(id, 4) = 4 and min(id, 2) = 2", "234"), ("abs(bytes) = 5", "6"),
    ("round(seconds, 0) = 0", "156"), ("bytes * bytes > 1e30", "5"), ("bytes + 1 = 12345678901234567891", "5"),
    ("id = 1 or x * 2 > 1 and id < 5", "12"), ("id < 5 and x * 2 > 1", "12"), ("if(id < 5, x, 3) = 1 and id < 5", "12"),
]


def case(condition, ids):
    q = Scan(where=condition, missing=["NA"])
    if ids is None:
        refuses("refused: " + condition, q.args(), DATA, 2)
        return False
    want = NAMES + b"".join(r for r in RECORDS if r[:1].decode() in ids)
    models("where " + condition, q, DATA, ways(len(condition), (1, 6, 16, None)), want)
    return True


def check_meanings():
    for condition, ids in MEANINGS:
        case(condition, ids)
    for i, (condition, ids) in enumerate(CALCULATED):
        want = NAMES + b"".join(r for r in RECORDS if r[:1].decode() in ids)
        holds("where " + condition, ["--missing=NA", "--where", condition], DATA, prints(want), ways(i, (1, 6, 16, None)))


CULPRITS = [
    # condition, how many records stand before the culprit, what the message says
    ("x >= 0", 4, ("<stdin>:7:", "'x'", "not a number")),
    ("not x >= 0", 4, ("<stdin>:7:", "column 'x'", "not a number: 'x'")),
    ("id < 5 and x >= 0 or id = 6 and x < 1e399", 5, ("<stdin>:8:", "column 'x'", "1e400")),
    ("x >= 0 or seconds < 0", 4, ("<stdin>:7:", "column 'x'")),
    ("x <= 0 or x > 0", 4, ("<stdin>:7:", "column 'x'", "not a number: 'x'")),
    ("id = 5 and x > seconds", 4, ("<stdin>:7:", "column 'x'", "cannot be compared with the other value: 'x' (try text(COL) in place")),
    ("method > 0 and id < 6", 0, ("<stdin>:2:", "column 'method'", "not a number: 'GET'")),
    ("method > 0 and seconds > 1 and bytes is missing or id = 2 and 5 < method", 1,
     ("<stdin>:3:", "column 'method'", "not a number: 'POST'")),
]


# Two columns: the condition, the records of PAIRS that it keeps, and the one before which it ends for want of an answer.
PAIRS = [b"red,red", b"red,blue", b",blue", b"01,1", b"1e1,10.0", b" x,x", b'"a,b","a,b"', b"2024-01-05,2024-01-05T00:00Z", b"N\xc3\xa4h,n\xc3\xa4h",
         b"2024-01-05T12:00+02:00,2024-01-05T10:00:00.000Z", b"2024-01-05T10:00:00.25Z,2024-01-05T10:00:00.3Z", b'"1,5","1,5"', b"$5,$10",
         b"12,x", b"x,1e400", b",", b"NA,x"]
COLUMNS = [("old = new", "adeghjl", 13), ("old != new", "bfikm", 13), ("not old = new", "bfikm", 13),
           ("old < new", "fik", 11), ("old <= new and old != '1,5'", "adefghijk", 12), ("old > new and id < 11", "b", None),
           ("text(old) = new", "agl", None), ("text(old) != text(new)", "bdefhijkmno", None), ("number(old) = number(new)", "de", None),
           ("old in (new, 'x')", "adeghjlo", 13), ("old between new and new", "adeghj", 11), ("old = new or id > 12", "adeghjlnopq", None)]


def check_columns():
    """Two columns: numbers, times or texts, as each record's values are; a number and a text are an error that says how."""
    records = [b"%d," % i + pair + b"\n" for i, pair in enumerate(PAIRS)]
    data = b"id,old,new\n" + b"".join(records)
    for i, (condition, ids, end) in enumerate(COLUMNS):
        kept = [r for k, r in enumerate(records) if chr(97 + k) in ids and (end is None or k < end)]
        want = b"id,old,new\n" + b"".join(kept)
        ways_of = ways(i, (1, 7, None))
        if end is None:
            holds("columns: " + condition, ["--missing=NA", "--where", condition], data, prints(want), ways_of)
        else:
            holds("columns: " + condition, ["--missing=NA", "--where", condition], data, breaks(want, "<stdin>:%d: column '" % (end + 2)), ways_of)
    rng, values = random.Random(5), [p for pair in PAIRS for p in ([pair] if pair[:1] == b'"' else pair.split(b","))][:-4]
    values = [v for v in values if v.count(b'"') in (0, 2)] + [b"1", b"2", b"x", b"y", b"-3", b"(4)", b"\xe2\x82\xac5", b"1.0"]
    for i in range(60):
        rows = b"".join(b"%d,%s,%s\n" % (k, rng.choice(values), rng.choice(values)) for k in range(rng.choice((3, 70))))
        condition = "%s %s %s" % (("a", rng.choice(("=", "!=", "<", "<=", ">", ">=")), "b") if i % 4 else ("a", "in", "(b, id, 'x')"))
        condition = rng.choice(("%s", "not %s", "%s or id < 40", "id > 1 and %s")) % condition
        models("random columns %d: %s" % (i, condition), Scan(where=condition, **rng.choice(({}, {"invalid": "skip"}))), b"id,a,b\n" + rows,
               ways(i, (1, 64, None)))


def check_culprits():
    for i, (condition, before, parts) in enumerate(CULPRITS):
        q = Scan(where=condition, missing=["NA"])
        out = oracle_scan.answer(q, DATA)
        is_(out.bad is not None and len(out.out.split(b"\n")) <= before + 2, True, "the model sees it: " + condition)
        holds("it hangs on text: " + condition, q.args(), DATA, breaks(out.out, *parts), ways(i, (1, 7, None)))
        models("it hangs on text, the model: " + condition, q, DATA, ways(i, (2, None)))
        q = Scan(where=condition, missing=["NA"], invalid="skip")
        models("--invalid=skip: " + condition, q, DATA, ways(i, (3, None)))


# ---- what is refused ------------------------------------------------------------------------------

CARETS = [
    ("a and b = 1", 2), ("a", 1), ("a = ", 4), ("a = = 1", 4), ("= 1", 0), ("a = 1 b", 6), ("a = 1 and", 9),
    ("1 < a < 5", 6), ("1 = 1", 0), ("'x' = 'y'", 0), ("1 is missing", 0), ("a is 1", 5), ("a is", 4), ("(a = 1", 6),
    ("a = 1)", 5), ("()", 1), ("a = 'x", 4), ("`a = 1", 0), ("a = ''", 4), ("a = 0x10", 4), ("a = 1.2.3", 4),
    ("a = 1e400", 4), ("a = 1e", 4), ("a = 1,000", 5), ("a + = 2", 4), ("a + 1", 5), ("a = 1 & b = 1", 6),
    ("a = 1; b = 2", 5), ("a =! 1", 3), ("a // 2 = 1", 3), ("a ** 2 = 1", 3), ("a like", 6), ("a like b", 7), ("a like ''", 7), ("a = 1 not b = 1", 6), ("größe = 1 ?", 10), ("or = 1", 0), ("a = and", 4),
    ("a glob 'x'", 2), ("a = 1 \x7f", 6), ("a =* 1", 3), ("a in", 4), ("a in 1", 5), ("a in ()", 6), ("a in (1", 7), ("a in (1,)", 8),
    ("a in (1 2)", 8), ("5 in (a)", 0), ("a in ('')", 6), ("a between 1", 11), ("a between 1 or 2", 12),
    ("a between and 1", 10), ("a contains", 10), ("a contains )", 11), ("a contains ''", 11),
    ("a starts 'x'", 9), ("a ends with", 11), ("a not = 1", 6), ("a not not in (1)", 6), ("a is number 1", 12),
    ("a in (1) in (2)", 9), ("a, b = 1", 1), ("1 is number", 0), ("a within (1)", 2),
    ("a = nan'", 7), (": = 1", 0),
]


def check_carets():
    for option in ("--where", "--offsets"):
        for condition, column in CARETS:
            r = harness.run([option, condition], b"a,b\n1,2\n")
            lines = r.err.decode("utf-8", "replace").split("\n")
            at = next((i for i, line in enumerate(lines) if line.strip() == "^"), None)
            fits = (r.status == 2 and not r.out and at is not None and option in lines[0]
                    and lines[at].index("^") - lines[at - 1].index(condition[:1].strip() or condition[1]) == column
                    and lines[0].startswith("gpustat: "))
            harness.ok(fits, "%s %s: a caret under column %d" % (option, condition, column),
                       lambda r=r: harness.describe(r))
    for bad in ("", "   "):
        refuses("an empty condition: %r" % bad, ["--where", bad], b"a\n1\n", 2, "--where")
    long = "a = 1 and " * 50 + "a = = 2" + " or a = 3" * 50
    r = harness.run(["--where", long], b"a\n1\n")
    lines = r.err.decode().split("\n")
    at = next((i for i, line in enumerate(lines) if line.strip() == "^"), 1)
    harness.ok(r.status == 2 and lines[at - 1][lines[at].find("^"):].startswith("= 2")
               and lines[at - 1][:lines[at].find("^")].endswith("a = ") and len(lines[at - 1]) < 200,
               "a long condition is shown around the culprit", lambda: harness.describe(r))
    refuses("fifty thousand parentheses", ["--where", "(" * 50000 + "a=1" + ")" * 50000], b"a\n1\n", 2)
    answers("a hundred thousand nots", ["--where", "!" * 100000 + "a=1"], b"a\n1\n2\n", "a\n1\n")
    answers("ten thousand alternatives", ["--where", " or ".join("a=%d" % i for i in range(9999))],
            b"a\n9998\n9999\n0\n", "a\n9998\n0\n")


# ---- headers ----------------------------------------------------------------------------------------

HEADERS = [
    # name, data, condition, what is printed, options
    ("a name tells", b"a,b\n1,2\n", "a = 1", "a,b\n1,2\n", {}),
    ("a name tells, nothing is kept", b"a,b\n1,2\n", "a = 5", "a,b\n", {}),
    ("a name tells, there is no record", b"a,b\n", "a = 5", "a,b\n", {}),
    ("a name that is a number tells", b"7,8\n1,2\n", "`7` = 1", "7,8\n1,2\n", {}),
    ("a name colN tells", b"x,col1\n1,2\n", "col1 = 2", "x,col1\n1,2\n", {}),
    ("a position compared with a number tells", b"a,b\n1,2\n3,4\n", ":2 > 2", "a,b\n3,4\n", {}),
    ("a position without a header", b"1,2\n3,4\n", ":2 > 0", "1,2\n3,4\n", {}),
    ("a position compared with a column tells", b"a,b\n1,2\n3,4\n", ":1 < :2", "a,b\n1,2\n3,4\n", {}),
    ("a missing field is no header", b",2\n3,4\n", ":1 > 0", "3,4\n", {"header": "no"}),
    ("a position compared with a string: two records tell", b"a,b\n1,2\n3,4\n", ":2 = '4'", "a,b\n3,4\n", {}),
    ("the same, numbers first", b"1,2\n3,4\n", ":2 = '2'", "1,2\n", {}),
    ("--header=no", b"a,b\n1,2\n", ":1 = 'a'", "a,b\n", {"header": "no"}),
    ("--header=yes", b"1,2\n3,4\n", ":1 > 0", "1,2\n3,4\n", {"header": "yes"}),
    ("--header=yes, names are numbers", b"1,2\n3,4\n", "`2` = 4", "1,2\n3,4\n", {"header": "yes"}),
]


def check_headers():
    for i, (name, data, condition, want, how) in enumerate(HEADERS):
        models("header: " + name, Scan(where=condition, **how), data, ways(i, (1, 4, None)), want)
    words = b"in,between,contains,starts,ends,with,number\n1,2,ab,ab,ab,3,4\n5,6,cd,cd,cd,7,x\n"
    for i, condition in enumerate(("in in (in)", "between between in and 2", "contains contains 'c'", "with not in (3)",
                                   "starts starts with 'a' and ends ends with 'b'", "number is not number",
                                   "in < between and with > number or number is number", "not in in (1)")):
        models("words as names: " + condition, Scan(where=condition), words, ways(i, (1, 9, None)))
    refuses("a name, but no header", ["--header=no", "--where", "a = 1"], b"a,b\n1,2\n", 2, "'a'")
    refuses("a name twice", ["--where", "a = 1"], b"a,a\n1,2\n", 2, "'a'")


# ---- records pass unchanged -----------------------------------------------------------------------

def check_passing():
    data = b'"a",t\r\n1, x\n\r\n2,"y\n\r\n"\r\n\n3,"",\n4,\xff\x00\n5,last'
    models("bytes pass as they came", Scan(where=":1 > 0"), data, ways(0),
           b'"a",t\r\n1, x\n2,"y\n\r\n"\r\n3,""\n4,\xff\x00\n5,last')
    models("the last is dropped, its end is not missed", Scan(where=":1 < 5"), data, ways(1),
           b'"a",t\r\n1, x\n2,"y\n\r\n"\r\n3,""\n4,\xff\x00\n')
    models("blank lines in one column are records", Scan(where="v is missing"), b"v\n1\n\n\r\n2\n\n", ways(2),
           "v\n\n\r\n\n")
    models("another delimiter", Scan(where="b = 'x,y'", delimiter=b";"), b"a;b\n1;x,y\n2;x\n", ways(3),
           "a;b\n1;x,y\n")
    short = b"a,b\n1,2\n3\n5,6\n"
    models("a short record", Scan(where="b > 0"), short, ways(0))
    models("a short record, skipped", Scan(where="b > 0", invalid="skip"), short, ways(1))
    models("an open quote", Scan(where="a > 0"), b'a,b\n1,2\n3,"4\n5,6\n', ways(3))
    many = b"id,t\n" + b"".join(b'%d,"x\n%d"\n' % (i, i % 10) for i in range(5000))
    for i, condition in enumerate(("t = 'x\n7'", "id >= 4990", "id < 0", "id >= 0", "id = 2500 or t = 'x\n0'")):
        models("many records: " + condition, Scan(where=condition), many, ways(i, (64, 1000, 65536, None)))


# ---- with reductions ------------------------------------------------------------------------------

def check_words_of_others():
    """What other languages call it."""
    expected = "expected a comparison (= != < <= > >= ~, is, in, between, contains, starts, ends) (try "
    for condition, words in (
            ("v // 2 = 1", "expected a column or a value (try div(a, b), or floor(a / b))"), ("v ** 2 = 1", "expected a column or a value (try pow(x, k))"),
            ("v ^ 2 = 1", "unexpected character (a name that has it is written in `backquotes`) (try pow(x, k))"), ("v eq 1", expected + "=)"),
            ("k glob 'a*'", expected + "like, or ~ and a regular expression)"), ("v is nullable", "expected 'missing', 'number' or 'not'"),
            ("k + 'x' = 'ax'", "a number is needed, not a text: a || b joins texts"),
            ("log(v) = 1", "no function of this name (try ln(x), or log10(x), or gpustat --help expr, which lists them)"),
            ("v || (k = 'a') = 1", "|| joins two texts, or two conditions: before it is a value, and this is a condition"),
            ("k = 'a' || ''", "an empty text is missing, and so is the result"), ("v when 1 then 2 = 'a'", expected + "case when condition then a else b end)"),
            ("case v when 1 then 2 + 2", "expected 'when', 'else' or 'end', not the end"), ("case v when 1 + 2", "expected 'then', not the end"),
            ("case when k then 1 end = 1", expected[:-6]), ("nullif(v) = 1", "expected ',': nullif(x, y): x, but missing where it equals y"),
            ("avg(v, k) = 1", "expected ')': an aggregate takes one argument"), ("v = date_trunc('hour', k)", "a number is needed, not a text (try trunc(time, \"hour\"))"),
            ("now() - k > 1", "no function of this name (try the time in quotes, which the shell writes: \"'$(date -Is)'\", or gpustat --help expr, which lists them)"),
            ("max(v) - '1 day' > 1", "a number is needed, not a text (try time(a) - \"1h30m\", time(text_max(a)) - \"1 day\")"),
            ("v = 1 xor k = 'a'", "expected 'and', 'or' or the end (text is written in quotes) (try (a = 1) != (b = 1))"),
            ("extract(hour from k) = 1", "expected ',': extract(t, \"regex\"[, group]): what it, or its group, matches (try hour(time), month(time) and the like)"),
            ("flor(v) = 1", "no function of this name (try floor(), or gpustat --help expr, which lists them)"),
            ("'v' > 5", "neither side of this comparison is a column: `NAME` is one, \"NAME\" a text")):
        r = harness.run(["--where", condition], b"v,k\n1,a\n")
        is_((r.status, r.out, r.err.decode().split("\n")[0]), (2, b"", "gpustat: --where: " + words), "words of others: " + condition)
    r = harness.run(["--let=x = if(v eq 1, 1, 2)"], b"v,k\n1,a\n")
    is_((r.status, r.err.decode().split("\n")[0]), (2, "gpustat: --let: " + expected + "=)"), "words of others, in if()")
    data = b"id,v,k\n1,1,a\n2,,b%c\n3,3,A\n4,4,x\n5,5,abc\n6,6,\n7,-7,a\xc3\xa4c\n8,8,a.c\n"
    for condition, ids in (
            ("v <> 1", "345678"), ("v = missing or v == 1", None), ("v is null", "2"), ("v is not NULL", "1345678"), ("v == 1 || v =~ '^[34]$'", "134"),
            ("v % 2 = 0", "468"), ("v%2 = 1", "135"), ("mod(v, 2) = -1", "7"), ("k like 'a%'", "1578"), ("k not like 'a%'", "234"),
            ("k like '%c'", "2578"), ("k like '%'", "1234578"), ("k like 'a_c'", "578"), ("k like '_'", "134"), ("k ilike 'a'", "13"), ("k ilike 'A%C'", "578"),
            ("k like '%\\%%'", "2"), ("k like '%b%'", "25"), ("k like 'a.c'", "8"), ("k like 'a\\.c'", "8"), ("not k ilike '%C'", "134"),
            ("v < 4 && !(v = 1)", "37"), ("if(id < 3, missing, v) is missing", "12"), ("coalesce(missing, v) = 5", "5"),
            ("k || v = 'a1'", "1"), ("k || v = 'a1' || id = 3", "13"), ("k = 'a' || v = 3 || k = 'A' and id = 3", "13"), ("k = 'a' || '.c' or v = 3", "38"),
            ("v = 1 || v = 3 && k = 'A'", "13"), ("(v = 1) || v = 3", "13"), ("k = 'a' || 'b' || 'c' and v = 5 || v = 1", "15"), ("not v = 1 || v = 1", "1345678"),
            ("v between 1 and 3 || v = 4", "134"), ("v in (1, 3) || k contains 'b' || 'c'", "135"), ("k contains 'b' || k = 'x'", "245"),
            ("k || v is missing", "26"), ("concat(k, v) is missing", ""), ("(k || v) || id = 'a11'", "1"), ("k starts with 'a' || 'b'", "5"),
            ("case when v = 1 then 'x' when v > 3 then k else 'n' end in ('x', 'abc')", "145"), ("case v when 1 then 0 when 3 then 1 end = 1", "3"),
            ("case when v > 3 || v < 0 then 1 end is missing", "123"), ("case k when 'a' || '.c' then 1 else 0 end = 1", "8"),
            ("nullif(v, 3) is missing", "23"), ("nullif(k, 'a') = 'x'", "4"), ("nullif(k || v, 'a1') is missing", "126"), ("nullif(v / 2, 1.5) > 1", "4568")):
        if not harness.has_patterns() and ("like" in condition or "~" in condition):
            continue
        if ids is None:
            refuses("words of others: " + condition, ["--where", condition], data, 2, "write 'is missing'")
            continue
        want = b"id,v,k\n" + b"".join(line + b"\n" for line in data.split(b"\n")[1:-1] if line[:1].decode() in ids)
        answers("words of others: " + condition, ["--where", condition], data, want)


def check_order_as_text():
    """A column of numbers that a number in quotes is compared with: a note, once."""
    data = b"v,k\n9,a\n200,b\n"
    note = "gpustat: note: column '%s' has numbers, but is compared with \"%s\" as text: without the quotes, numbers are compared\n"
    for args, out, of in (
            (["--where=v > '100'", "--count-records"], "2\n", ("v", "100")), (["--where='5' > v", "--count-records"], "1\n", ("v", "5")),
            (["--where=not v > '100' or v < '1'", "--count-records"], "0\n", ("v", "100")), (["-H", "--where=v >= '300'"], "v,k\n9,a\n", ("v", "300")),
            (["-N", "--skip-lines=1", "--where=:1 > '100'"], "9,a\n200,b\n", ("col1", "100")),
            (["--let=w = v * 2", "--where=w < '5'", "--sum=v"], "209\n", ("w", "5")), (["--let=w = if(v > '5', 1, 0)", "--sum=w"], "1\n", ("v", "5")),
            (["--offsets=v < '5'", "--only"], "offset\n\n0\n", ("v", "5")), (["--where=v > '1,000'", "--thousands=,", "--sum=v"], "209\n", ("v", "1,000")),
            (["--where=v = '9'", "--sum=v"], "9\n", None), (["--where=k > '5'", "--sum=v"], "209\n", None), (["--where=v < 'x'", "--sum=v"], "209\n", None),
            (["--where=v > 100", "--sum=v"], "200\n", None), (["--let=w = if(v > '5', 1, 0)", "--sum=v"], "209\n", None)):
        r = harness.run(args, data, chunk=1)
        is_((r.status, r.out.decode(), r.err.decode()), (0, out, note % of if of else ""), "numbers as text: %s" % " ".join(args))


def check_name_as_text():
    """A text in double quotes that is the name of a column: a note, once."""
    data = b"unit price,n,kind\n5,2,n\n1,3,x\n"
    note = 'gpustat: note: "%s" is a text in an expression; the column of this name is written in backquotes: `%s`\n'
    for args, out, of in (
            (['--where=n > "unit price"', "--count-records"], "0\n", "unit price"), (['--where="unit price" < n', "--count-records"], "0\n", "unit price"),
            (['--where=kind = "n"', "--count-records"], "1\n", "n"), (['--where=not (n < 1 or kind != "n")', "--count-records"], "1\n", "n"),
            (['--where=kind in ("x", "unit price", "n")', "--sum=n"], "5\n", "unit price"), (['--where=kind between "a" and "n"', "--sum=n"], "2\n", "n"),
            (['--offsets=kind = "n"', "--only"], "offset\n0\n\n", "n"), (['--let=w = if(kind = "n", 1, 0)', "--sum=w"], "1\n", "n"),
            (['--let=w = if(n > 2, "unit price", 0)', "--mode=w"], "0\n", "unit price"), (['--let=w = n * 2', '--where=kind = "w"', "--sum=w"], "0\n", "w"),
            (['--let=w = upper("kind")', "--only"], "w\nKIND\nKIND\n", "kind"), (['--where=n > "unit price" or kind = "n"', "--count-records"], "1\n", "unit price"),
            (['--where=n > `unit price`', "--count-records"], "1\n", None), (["--where=kind = 'n'", "--count-records"], "1\n", None),
            (['--where=kind != "kind"', "--count-records"], "2\n", None), (['--where=kind = "N"', "--count-records"], "0\n", None),
            (['--where=kind contains "n"', "--count-records"], "1\n", None),
            (['--where=kind ~ "^n$"' if harness.has_patterns() else '--where=kind starts with "n"', "--count-records"], "1\n", None),
            (["-N", "--skip-lines=1", '--where=:3 = "n"', "--count-records"], "1\n", None), (['--let=w = if(kind = "n", 1, 0)', "--sum=n"], "5\n", None)):
        r = harness.run(args, data, chunk=1)
        is_((r.status, r.out.decode(), r.err.decode()), (0, out, note % (of, of) if of else ""), "names as text: %s" % " ".join(args))


def check_reductions():
    every = [(o, "bytes") for o in ("sum", "min", "max", "count", "mean")]
    for i, condition in enumerate(("id > 1", "method = 'GET' or seconds is missing", "id > 99", "bytes is missing",
                                   "bytes >= 1000 and not seconds < 0.4", "bytes = 1000")):
        q = Scan(operations=every, where=condition, missing=["NA"])
        models("reductions where " + condition, q, DATA, ways(i))
    answers("one sum", ["--where", "method = 'GET'", "--sum=bytes"], DATA, "1000\n")
    answers("one count", ["--missing=NA", "--where", "seconds is missing", "--count=method"], DATA, "2\n")
    answers("a sum of nothing", ["--where", "id > 99", "--sum=bytes"], DATA, "0\n")
    answers("formats", ["--where=id < 3", "--sum=bytes", "--format=json"], DATA, '{"sum(bytes)": 1999.999}\n')
    models("what is dropped may be text", Scan(operations=[("sum", "x")], where="id <= 4"), DATA, ways(1), None)
    models("what is kept may not", Scan(operations=[("sum", "x")], where="id != 6"), DATA, ways(2))
    models("a condition that hangs on text", Scan(operations=[("sum", "id")], where="x < 5"), DATA, ways(3))
    models("the same, skipped", Scan(operations=[("sum", "id")], where="x < 5", invalid="skip"), DATA, ways(3))
    models("what is dropped has no scale", Scan(operations=[("sum", "v"), ("max", "v")], where="v > 1"),
           b"v\n2\n0.125\n3\n", ways(0), None)


def check_exact_answer():
    """The promise of the issue: --sum bytes,seconds where bytes > 500000, and the number of records."""
    rng = random.Random(3)
    rows = [(rng.randrange(10 ** 6), "%d.%03d" % (rng.randrange(100), rng.randrange(1000))) for _ in range(40000)]
    text = "host,bytes,seconds\n" + "".join('"h,%d",%d,%s\n' % (i, b, s) for i, (b, s) in enumerate(rows))
    path = fixture("logs.csv", text.encode())
    kept = [(b, fractions.Fraction(s)) for b, s in rows if b > 500000]
    seconds = sum(s for _, s in kept) * 1000
    want = "sum(bytes),sum(seconds)\n%d,%d.%03d\n" % (sum(b for b, _ in kept), seconds // 1000, seconds % 1000)
    holds("sums where bytes > 500000", ["--where", "bytes > 500000", "--sum", "bytes,seconds", path], None,
          prints(want), ways(0, (1000, 65536, None)))
    r = harness.run(["--where", "bytes > 500000", path])
    is_(len(r.out.split(b"\n")) - 1, len(kept) + 1, "as many records as Python counts, and the header")
    lines = text.encode().split(b"\n")
    over = [line for line in lines[1:-1] if int(re.split(b'[",]+', line)[3]) > 500000]
    wanted = b"\n".join([lines[0]] + over + [b""])
    harness.ok(r.out == wanted, "and the same bytes", lambda: harness.short(r.out))


check_meanings()
check_columns()
check_culprits()
check_carets()
check_headers()
check_passing()
check_order_as_text()
check_name_as_text()
check_words_of_others()
check_reductions()
check_exact_answer()
harness.done()
