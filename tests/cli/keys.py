# SPDX-License-Identifier: MIT
"""Statistics of texts: --count-distinct, --mode, --antimode, against Python's csv and a dict."""
import collections
import csv
import io
import json
import os
import random

import harness
import oracle_statistic
from oracle_text import in_json

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261123))
csv.field_size_limit(1 << 30)
ASKED = ["--count-distinct=k", "--mode=k", "--antimode=k"]
WAYS = [(c, t) for c in (1, 2, 3, None) for t in (1, 2, 3, 7)]


def check_fixed():
    table = b'k,v\na,1\nb,1.0\n"a",1\n"x,""y""",2\nb,\n'
    harness.answers("names of results, and ties", ["--count-distinct=k,v", "--mode=k,v", "--antimode=k,v"], table,
                    'count_distinct(k),count_distinct(v),mode(k),mode(v),antimode(k),antimode(v)\n'
                    '3,3,a,1,"x,""y""",1.0\n')
    harness.answers("texts, not numbers", ["--count-distinct=1", "--header=no"], b"1\n1.0\n01\n+1\n1e0\n1\n", "5\n")
    harness.answers("blanks and case count", ["--count-distinct=1", "--header=no"], b'a\n a\na \nA\n" a"\n', "4\n")
    harness.answers("missing values do not", ["--missing=NA", "--format=plain"] + ASKED, b"k,l\n,1\nNA,2\n NA,3\n  ,4\nx,5\n",
                    "1\nx\nx\n")
    harness.answers("none", ["--format=csv"] + ASKED, b"k,l\n,1\n", "count_distinct(k),mode(k),antimode(k)\n0,,\n")
    harness.answers("none is null in JSON", ["--format=json"] + ASKED, b"k,l\n,1\n",
                    '{"count_distinct(k)": 0, "mode(k)": null, "antimode(k)": null}\n')
    harness.answers("a text is a string in JSON", ["--format=json", "--mode=k"], b'k,l\n"5",1\n6,1\n5,1\n', '{"mode(k)": "5"}\n')
    harness.answers("JSON escapes", ["--format=json", "--mode=k"], b'k,l\n"a\n""\\\xff",1\n', '{"mode(k)": "a\\u000a\\"\\\\\\ufffd"}\n')
    harness.answers("plain escapes line ends", ["--mode=k"], b'k,l\n"a\nb\tc",1\n', "a\\nb\\tc\n")
    harness.answers("a condition", ["--where", "v > 1", "--count-distinct=k", "--mode=k"], table,
                    'count_distinct(k),mode(k)\n1,"x,""y"""\n')
    harness.answers("several files are one input", ["--mode=k", "--antimode=k", harness.fixture("1.csv", b"k\na\nb\nc\n"),
                                                    harness.fixture("2.csv", b"k\nc\nb\nd\n")], None,
                    "mode(k),antimode(k)\nb,a\n")
    harness.answers("columns at other places", ["--mode=k", harness.fixture("3.csv", b"k,l\na,x\nb,x\n"),
                                                harness.fixture("4.csv", b"l,k\nx,b\ny,c\n")], None, "b\n")
    harness.refuses("a NUL", ["--count-distinct=k"], b"k,l\na\0b,1\n", 1, "<stdin>:2: ", "NUL byte")
    harness.refuses("no running mode", ["--mode=k", "--running-sum=l"], table, 2, "not both")


def check_entropy():
    """In bits; an exact one is exact, whatever its logarithms are."""
    for counts, want in (((), ""), ((1,), "0"), ((7,), "0"), ((1, 1), "1"), ((2, 1, 1), "1.5"), ((3, 3, 3, 3), "2"), ((1,) * 1024, "10"),
                         ((9, 6, 1, 8), "1.75"), ((9, 6, 1, 1, 7), None), ((1, 2), "0.91829583405448951"), ((1,) * 3, "1.5849625007211562"),
                         ((1, 99999), None), ((500, 1500, 3000), None), (tuple(range(1, 60)), None)):
        want = oracle_statistic.entropy(counts) if want is None else want
        texts = [b"v%d" % i for i, c in enumerate(counts) for _ in range(c)]
        random.Random(SEED).shuffle(texts)
        table = b"k,l\n" + b"".join(b"%s,1\n" % t for t in texts)
        for threads, chunk in ((1, None), (3, 1000)) if len(texts) > 5000 else ((1, None), (3, 7)):
            harness.answers("entropy of %s, %d threads" % (harness.short(str(counts), 40), threads),
                            ["--entropy=k", "--format=plain", "--threads=%d" % threads], table, want + "\n", chunk=chunk)
    table = b"g,k,v\na,x,1\na,y,1.0\nb,x,1\na,x,\nb,,q\nb,z,1\n"
    harness.answers("entropy by group, sorted", ["--by=g", "--entropy=k,v", "--sort=entropy(k)"], table,
                    "g,entropy(k),entropy(v)\na,0.91829583405448951,1\nb,1,0.91829583405448951\n")
    rng, groups = random.Random(41), collections.OrderedDict()
    rows = [("g%d" % rng.randrange(4000), "x" * rng.randrange(4), rng.choice(("", "1", "2", "2.0"))) for _ in range(12000)]
    for group, *values in rows:
        for counts, value in zip(groups.setdefault(group, (collections.Counter(), collections.Counter())), values):
            counts.update([value] if value else [])
    table_of_many = "".join("%s,%s,%s\n" % row for row in rows).encode()
    want = "".join("%s,%s,%s\n" % (group, *(oracle_statistic.entropy(list(counts.values())) or "" for counts in both)) for group, both in groups.items())
    for chunk, threads, more in ((None, 1, []), (None, 3, []), (1000, 2, []), (None, 2, ["--mode=3", "--sum=3"])):
        results = harness.run(["-N", "--by=1", "--entropy=2", "--entropy=3", "--format=csv", "--threads=%d" % threads,
                               *more], table_of_many, chunk=chunk)
        got = "".join(",".join(line.split(",")[:3]) + "\n" for line in results.out.decode().split("\n")[1:-1])
        harness.ok(got == want, "entropy of 4,000 groups, %d threads, chunks of %s, beside %d results" % (threads, chunk, len(more)),
                   lambda: harness.describe(results))
    harness.answers("entropy is a number in JSON", ["--entropy=k", "--format=json", "--where=g = 'c'"], table, '{"entropy(k)": null}\n')
    harness.answers("entropy of a computed column", ["--let", "w = upper(g)", "--entropy=w", "--where", "k is not missing"], table,
                    oracle_statistic.entropy((3, 2)) + "\n")
    table, args = b"k,v\na,1\nb,x\nc,2\nd,y\n", ["--invalid=skip", "--sum=v", "--entropy=v"]
    r = harness.run(args, table)
    harness.ok(r.out == b"sum(v),entropy(v)\n3,1\n", "what is left out does not count", lambda: harness.describe(r, table))


def check_beside_numbers():
    table = b"k,v\na,1\nb,x\nc,1\nd,x\ne,x\nf,2\n"
    both = ["--invalid=skip", "--sum=v", "--count-distinct=v", "--mode=v", "--count=v", "--var=v"]
    r = harness.run(both, table)
    harness.ok(r.out == b"sum(v),count_distinct(v),mode(v),count(v),var(v)\n4,2,1,3,0.33333333333333333\n",
               "what is left out of the sum is not counted", lambda: harness.describe(r, table))
    harness.answers("in another notation, as it stands", ["--thousands=,", "--sum=v", "--mode=v"],
                    b'k,v\na,"1,000"\nb,1000\nc,"1,000"\n', 'sum(v),mode(v)\n3000,"1,000"\n')
    harness.answers("'*' is numeric columns", ["--count-distinct=*"], b"k,v,w\na,1,3\nb,1,4\n",
                    "count_distinct(v),count_distinct(w)\n1,2\n")
    harness.answers("'*' and its name", ["--sum=*", "--count-distinct=k,v", "--mode=k"], b"k,v\n,1\nb,1\nc,1\nb,2\n",
                    "sum(v),count_distinct(k),count_distinct(v),mode(k)\n5,2,2,b\n")
    harness.answers("a text of numbers, quoted and not", ["--sum=v", "--count-distinct=v"], b'k,v\na,"1"\nb,1\n" c","12"\n',
                    "sum(v),count_distinct(v)\n14,2\n")
    harness.answers("whitespace", ["-W", "--count-distinct=k", "--mode=k", "--sum=v"], b"k   v\na    1\n b  2\na 3\n",
                    "count_distinct(k),mode(k),sum(v)\n2,a,6\n")
    harness.answers("an escape", ["--escape=\\", "--quote=none", "--count-distinct=k"], b"k,v\na\\,b,1\na\\,b,2\na,3\n", "2\n")
    harness.answers("ragged", ["--ragged=allow", "--count-distinct=v", "--mode=v"], b"k,v\na\nb,1\nc,1,2\n",
                    "count_distinct(v),mode(v)\n1,1\n")


# ---- random tables --------------------------------------------------------------------------

PIECES = (b"a", b"b", b"0", b"-1", b"1.50", b",", b'"', b'""', b"\n", b"\r\n", b"\r", b"\xff", b"\xc3", b"\xc3\xa9", b" ",
          b"\t", b"\\", b"x" * 7, b"y" * 8, b"0123456789abcde", b"0123456789abcdef")


def random_text(rng):
    return b"".join(rng.choice(PIECES) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 6))))


def spelled(rng, text):
    if any(c in text for c in b',"\r\n') or rng.randrange(4) == 0:
        return b'"' + text.replace(b'"', b'""') + b'"'
    return text


def random_table(rng, nrows, nkeys):
    pool = [random_text(rng) for _ in range(nkeys)]
    end = rng.choice((b"\n", b"\r\n"))
    rows = [(b"%d" % i, rng.choice(pool), b"%d" % rng.randrange(10)) for i in range(nrows)]
    last = rng.randrange(2)  # the column of texts is the middle one, or the last
    lines = [b"i,v,k" if last else b"i,k,v"]
    for i, key, v in rows:
        lines.append(b",".join((i, v, spelled(rng, key)) if last else (i, spelled(rng, key), v)))
    return end.join(lines) + end * rng.randrange(2)


def keys_of(data, condition=lambda v: True):
    """-> Counter in the order of first appearance, by Python's csv: bytes as Latin-1, which keeps every one."""
    counts = collections.Counter()
    for row in csv.DictReader(io.StringIO(data.decode("latin-1"), newline="")):
        if row["k"].strip(" \t") and condition(int(row["v"])):
            counts[row["k"]] += 1
    return counts


def wanted_json(counts):
    best = max(counts, key=counts.get) if counts else None
    worst = min(counts, key=counts.get) if counts else None
    texts = [t if t is None else in_json(t.encode("latin-1")) for t in (best, worst)]
    return {"count_distinct(k)": len(counts), "mode(k)": texts[0], "antimode(k)": texts[1]}


def wanted_csv(counts):
    """What csv.reader reads."""
    best = max(counts, key=counts.get) if counts else ""
    worst = min(counts, key=counts.get) if counts else ""
    return [["count_distinct(k)", "mode(k)", "antimode(k)"], [str(len(counts)), best, worst]]


def judge_json(counts):
    want = wanted_json(counts)

    def judge(r):
        return None if r.status == 0 and json.loads(r.out) == want else "wanted: %s" % want
    return judge


def judge_csv(counts):
    want = wanted_csv(counts)

    def judge(r):
        got = list(csv.reader(io.StringIO(r.out.decode("latin-1"), newline="")))
        return None if r.status == 0 and got == want else "wanted: %s" % want
    return judge


def check_random():
    rng = random.Random(SEED)
    for i in range(12):
        data = random_table(rng, rng.choice((1, 3, 20, 60)), rng.choice((1, 2, 5, 30)))
        harness.agrees("random texts %d, seed %d" % (i, SEED), ["--header=yes", "--format=json"] + ASKED, data,
                       judge_json(keys_of(data)), WAYS)
        harness.agrees("and quoted as CSV", ["--header=yes", "--format=csv"] + ASKED, data, judge_csv(keys_of(data)), WAYS)
        harness.agrees("and with a condition", ["--header=yes", "--format=json", "--where", "v > 4"] + ASKED, data,
                       judge_json(keys_of(data, lambda v: v > 4)), WAYS)
        harness.agrees("and beside a sum", ["--header=yes", "--format=json", "--where", "v > 1", "--count-distinct=v"], data,
                       lambda r, data=data: None if json.loads(r.out) == {"count_distinct(v)": len(
                           {row["v"] for row in csv.DictReader(io.StringIO(data.decode("latin-1"), newline=""))
                            if int(row["v"]) > 1})} else "another number", WAYS)


def check_many():
    """So many keys that tables grow, and that threads join them."""
    rng = random.Random(SEED + 1)
    for name, spell in (("short", "%d"), ("long", "%d, and more than fits in a key")):
        values = [rng.randrange(60000) for _ in range(150000)]
        data = b"k,v\n" + b"".join(b'"%s",%d\n' % ((spell % k).encode(), k % 10) for k in values)
        harness.agrees("many %s keys" % name, ["--format=json"] + ASKED, data, judge_json(keys_of(data)),
                       [(c, t) for c in (None, 5000, 100000) for t in (1, 2, 3, 7)])
        path = harness.fixture("many.csv", data)
        harness.agrees("many %s keys of a file" % name, ["--format=json", "--count-distinct=k", path], None,
                       harness.exactly('{"count_distinct(k)": %d}\n' % len(set(values))),
                       [(c, t) for c in (None, 5000) for t in (1, 2, 7)])
    longest = [b"x" * n + b"%d" % i for n in (1000, 2000000, 15, 16, 31, 32) for i in range(3)]
    data = b"k,v\n" + b"".join(key + b",1\n" for key in longest + longest)
    harness.agrees("keys longer than a block", ["--format=csv"] + ASKED, data, judge_csv(keys_of(data)),
                   [(None, 1), (None, 3), (70000, 7)])


check_fixed()
check_entropy()
check_beside_numbers()
check_random()
check_many()
harness.done()
