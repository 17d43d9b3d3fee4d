# SPDX-License-Identifier: MIT
"""Regular expressions in conditions: ~ and !~. What matches is written by hand as the ids of the records; the model,
which is Python's re, must agree. Random patterns are in tests/fuzz/differential.py as well."""
import random

import harness
import oracle_scan
from harness import answers, refuses
from hostile_request import spell_pattern
from oracle_scan import Scan
from scan_ways import breaks, holds, models, ways

NAMES = b"id,path,n\n"
RECORDS = [b"1,/item/22,5\n", b'2,"/item/x,y",6\r\n', b'3,"say ""hi""",\n', b"4,,7\n", "5,größe,NA\n".encode(),
           b'6,"two\nlines\n",8\n', b"7,/Item/22/,9\n", b"8, NA ,1\n", b"9,^$.[,-12"]
DATA = NAMES + b"".join(RECORDS)

MEANINGS = [
    # plain ones, which need no automaton
    ("path ~ '/item/'", "12"), ("path ~ '^/item/'", "12"), ("path ~ '22$'", "1"), ("path ~ '^/item/22$'", "1"),
    ("path !~ '/item/'", "35679"), ("not path ~ '/item/'", "35679"), ("not path !~ '/item/'", "12"),
    ("path ~ '\"hi\"$'", "3"), ("path ~ 'lines'", "6"), ("path ~ 'ö'", "5"), ("path ~ 'ITEM'", ""),
    # operators
    ("path ~ '^/item/[0-9]+$'", "1"), ("path ~ '^/[Ii]tem/'", "127"), ("path ~ 'x|22'", "127"),
    ("path ~ '^gr..e$'", "5"), ("path ~ '^.{5}$'", "5"), ("path ~ 'gr[öä]ß'", "5"), ("path ~ 'two.lines'", "6"),
    ("path ~ 'lines$'", ""), ("path ~ '(/[a-z]+){2}'", "2"), ("path ~ '^[^/]*$'", "3569"), ("path ~ '[.]'", "9"),
    ("path ~ '\\^\\$'", None), ("path ~ 'say \"hi\"'", "3"), ('path ~ "say ""hi"""', "3"), ("path ~ 'a?'", "1235679"),
    ("n ~ '^[0-9]$'", "12" "4678"), ("n ~ '-'", "9"), ("n !~ '[0-9]'", ""),
    ("path ~ '^/' and n > 5", "27"), ("n > 5 and not (path ~ '^/' or n ~ '8')", "4"[:0]),
    ("id in (1, 2) and path !~ '[0-9]'", "2"), ("path ~ '^/'and path ~ '/$' or id=3", "37"),
]

CARETS = [("path ~ '(x'", 10), ("path ~ 'a{2,1}'", 13), ("path ~ '[z-a]'", 11), ("path ~ ''", 7), ("path ~ x", 7),
          ("path ~ 5", 7), ("5 ~ 'x'", 0), ("path ~ 'a' ~ 'b'", 11), ("path not ~ 'a'", 9), ("~ 'a'", 0)]


def check_without():
    refuses("without PCRE2, a condition says so", ["--where", "path ~ '^/item/'"], DATA, 2,
            "built without PCRE2: no regular expressions")


def check_meanings():
    for condition, ids in MEANINGS:
        q = Scan(where=condition, missing=["NA"])
        if ids is None:
            continue
        want = NAMES + b"".join(r for r in RECORDS if r[:1].decode() in ids)
        models("where " + condition, q, DATA, ways(len(condition), (1, 6, None)), want)
    answers("escaped signs", ["--where", "path ~ '\\^\\$'"], DATA, NAMES + RECORDS[8])
    answers("classes of POSIX", ["--where", "path ~ '^/[[:alpha:]]+/'"], DATA,
            b"".join([NAMES] + RECORDS[:2] + RECORDS[6:7]))


def check_bytes():
    data = b"id,t\n1,\xff\n2,a\xffb\n3,a\xc3\xa9b\n4,\xe9\n"
    for pattern, ids in (("b", "23"), ("^.$", ""), ("^a.b$", "3"), ("[^a]b", "3"), ("b$", "23"), ("a+|q*b", "23")):
        want = b"id,t\n" + b"".join(line + b"\n" for line in data.split(b"\n") if line[:1] in [i.encode() for i in ids])
        for kind in ("", "(?:)"):      # the second: with characters, not bytes
            answers("not UTF-8: %s%s" % (kind, pattern), ["--where", "t ~ '%s%s'" % (kind, pattern)], data, want)


def check_carets():
    for condition, column in CARETS:
        r = harness.run(["--where", condition], DATA)
        lines = r.err.decode().split("\n")
        harness.ok(r.status == 2 and not r.out and lines[1] == condition and lines[2] == " " * column + "^",
                   "%s: a caret under column %d" % (condition, column), lambda r=r: harness.describe(r))


def check_limit():
    data = b"id,t\n1,ok\n2," + b"a" * 40 + b"!\n3,ok\n"
    condition = "t ~ '^(a+)+$' or t = 'ok'"
    holds("too many steps end the run", ["--where", condition], data,
          breaks(b"id,t\n1,ok\n", "<stdin>:3: column 't': a regular expression takes too many steps", "aaaa"), ways(3))
    r = harness.run(["--invalid=skip", "--where", condition], data)
    harness.ok(r.status == 0 and r.out == b"id,t\n1,ok\n3,ok\n" and b"1 record without an answer" in r.err
               and b"too many steps" in r.err, "or the record is left out", lambda: harness.describe(r))
    answers("if another test decides, they do not matter", ["--where", "id >= 1 or t ~ '^(a+)+$'"], data, data)
    long = b"id,t\n1," + b"ab" * 400000 + b"c\n2,x\n"
    answers("a long value", ["--where", "t ~ '[ab]*c$'", "--sum=id"], long, "1\n")


def check_random():
    rng = random.Random(5)
    texts = [b"", b"a", b"1e-5", b"0.10", "é".encode(), b"a,1", b"ae 1", b"aa11-00", b"]", b"."]
    rows = [b"".join(rng.choice(texts) for _ in range(rng.randrange(5))) for _ in range(300)]
    data = b"id,t\n" + b"".join(b'%d,"%s"\n' % (i, row) for i, row in enumerate(rows))
    nkept = 0
    for i in range(120):
        pattern = spell_pattern(rng).replace(b"'", b"''")
        q = Scan(where=b"t " + rng.choice((b"~", b"!~")) + b" '" + pattern + b"'")
        nkept += len(oracle_scan.answer(q, data).out.split(b"\n")) > 2
        models("random: %s" % pattern.decode(), q, data, ways(i, (None, 64)))
    harness.ok(nkept > 60, "and most of them keep some records")


def check_many():
    rng = random.Random(6)
    lines = [b'%d,"/item/%d?q=a,b"' % (i, rng.randrange(1000)) for i in range(20000)]
    data = b"id,path\n" + b"\n".join(lines) + b"\n"
    for pattern, part in ((r"^/item/7[0-9]\?", lambda n: n // 10 == 7), ("[?]q=a,b$", lambda n: True)):
        want = b"".join(line + b"\n" for line in lines if part(int(line.split(b"/item/")[1].split(b"?")[0])))
        answers("many records: " + pattern, ["--where", "path ~ '%s'" % pattern], data, b"id,path\n" + want)


if not harness.has_patterns():
    check_without()
else:
    check_meanings()
    check_bytes()
    check_carets()
    check_limit()
    check_random()
    check_many()
harness.done()
