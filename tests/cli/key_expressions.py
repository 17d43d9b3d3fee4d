# SPDX-License-Identifier: MIT
"""--by: keys that are expressions. Random ones are counted by the model of --let; and a key prints what it prints as a column of
--let under another heading."""
import os
import random

import harness
import oracle_let
from harness import answers, fixture, ok, refuses
from oracle_let import Invalid, evaluate, in_csv, plain, random_rows, spell, write
from scan_ways import breaks, holds, prints, ways

LOG = b"host,status,bytes,a-b,unit price\nA,200,10,1,5\nb,404,20,2,6\nB,200,30,1,7\na,301,5,3,5\n"

# keys, what is printed of --sum bytes
MEANINGS = [
    ("lower(host)", "lower(host),sum(bytes)|a,15|b,50"),
    ("lower(host),status", "lower(host),status,sum(bytes)|a,200,10|b,404,20|b,200,30|a,301,5"),
    ("status, lower(host)", "status,lower(host),sum(bytes)|200,a,10|404,b,20|200,b,30|301,a,5"),
    ("h=lower(host), s = round(status/100, 0)", "h,s,sum(bytes)|a,2,10|b,4,20|b,2,30|a,3,5"),
    ("`new name`=lower(host)", "new name,sum(bytes)|a,15|b,50"),
    ("round(status / 100, 0)", '"round(status / 100, 0)",sum(bytes)|2,40|4,20|3,5'),
    ("status/100", "status/100,sum(bytes)|2,40|4.04,20|3.01,5"),
    ("a-b", "a-b,sum(bytes)|1,40|2,20|3,5"),            # the header's name wins,
    ("`a-b`*2", "`a-b`*2,sum(bytes)|2,40|4,20|6,5"),
    ("a-b*2", "a-b*2,sum(bytes)|2,40|4,20|6,5"),
    ("status-bytes", "status-bytes,sum(bytes)|190,10|384,20|170,30|296,5"),   # and a sign is one where it does not
    ("unit price", "unit price,sum(bytes)|5,15|6,20|7,30"),
    ("`unit price` * 1", "`unit price` * 1,sum(bytes)|5,15|6,20|7,30"),
    (":2 - 1", ":2 - 1,sum(bytes)|199,40|403,20|300,5"), ("col2*1", "col2*1,sum(bytes)|200,40|404,20|301,5"),
    ("2", "status,sum(bytes)|200,40|404,20|301,5"), ("1-2", "host,status,sum(bytes)|A,200,10|b,404,20|B,200,30|a,301,5"),
    ("h=host", "h,sum(bytes)|A,10|b,20|B,30|a,5"),
    ("if(host in ('A', 'a'), \"it's a, b\", 'c')", "\"if(host in ('A', 'a'), \"\"it's a, b\"\", 'c')\",sum(bytes)|\"it's a, b\",15|c,50"),
    ("'all'", "'all',sum(bytes)|all,65"),
    ("bytes:20", "bytes:20,sum(bytes)|0,15|20,50"), ("h = bin(bytes, 20)", "h,sum(bytes)|0,15|20,50"), (":3:20", ":3:20,sum(bytes)|0,15|20,50"),
    ("3:20", "3:20,sum(bytes)|0,15|20,50"), ('"a-b":2,unit price:2.5', "\"\"\"a-b\"\":2\",unit price:2.5,sum(bytes)|0,5.0,40|2,5.0,25"),
    ("col3:20,host", "col3:20,host,sum(bytes)|0,A,10|20,b,20|20,B,30|0,a,5"),
    (" lower(host) ", "lower(host),sum(bytes)|a,15|b,50"),
]


def check_meanings():
    for number, (keys, want) in enumerate(MEANINGS):
        holds("--by " + keys, ["--by=" + keys, "--sum=bytes"], LOG, prints((want.replace("|", "\n") + "\n").encode()), ways(number))
    for name in ("a(b", "(x)", "lower(host)", "it's", "k=v", "a, b"):
        table = b'%s,host,v\nq,w,1\n' % (b'"a, b"' if name == "a, b" else name.encode())
        keys = '"a, b",host' if name == "a, b" else name + ",host"
        answers("the header's own " + name, ["--by=" + keys, "--sum=v"], table, '%s,host,sum(v)\nq,w,1\n' % (
            '"a, b"' if name == "a, b" else name))
    times = b"t,v\n2024-05-01T10:15:00Z,1\n2024-05-01T10:45:00Z,2\n2024-05-01T11:00:00Z,4\n"
    for keys, want in (("t:hour", "2024-05-01T10:00:00Z,3\n2024-05-01T11:00:00Z,4\n"), ("t:day", "2024-05-01,7\n"),
                       ("t:30m", "2024-05-01T10:00:00Z,1\n2024-05-01T10:30:00Z,2\n2024-05-01T11:00:00Z,4\n")):
        answers("--by " + keys, ["--by=" + keys, "--sum=v"], times, keys + ",sum(v)\n" + want)
    answers("a name as another key follows it", ["--by=lower(host), unit price"], LOG,
            "lower(host),unit price,count\na,5,2\nb,6,1\nb,7,1\n")


def check_use():
    """Together with all that groups go with."""
    by = "--by=h=lower(host)"
    answers("sorted by its heading", [by, "--sum=bytes", "--sort=-h"], LOG, "h,sum(bytes)\nb,50\na,15\n")
    answers("sorted by what was typed", ["--by=lower(host)", "--sort=-lower(host)"], LOG, "lower(host),count\nb,2\na,2\n")
    answers("beside a condition", [by, "--where=status < 400"], LOG, "h,count\na,2\nb,1\n")
    answers("of --let's columns", ["--let=k = lower(host)", "--by=upper(k),k", "--count-records"], LOG,
            "upper(k),k,records\nA,a,2\nB,b,2\n")
    answers("not printed with records", [by, "--cumsum=bytes"], LOG,
            LOG.decode().replace("\n", ",10\n").replace("price,10", "price,running_sum(bytes)").replace("b,404,20,2,6,10", "b,404,20,2,6,20")
            .replace("B,200,30,1,7,10", "B,200,30,1,7,50").replace("a,301,5,3,5,10", "a,301,5,3,5,15"))
    answers("windows", [by, "--delta=bytes", "--lag=status", "--only"], LOG, "delta(bytes),lag(status)\n,\n,\n10,404\n-5,200\n")
    answers("of the records that are printed, --drop names others", [by, "--row-number", "--drop=2-"], LOG,
            "row_number,host\n1,A\n1,b\n2,B\n2,a\n")
    answers("* takes no key that is computed", ["--by=status/1", "--sum=*"], LOG,
            "status/1,sum(status),sum(bytes),sum(a-b),sum(unit price)\n200,400,40,2,12\n404,404,20,2,6\n301,301,5,3,5\n")
    answers("without a header", ["-N", "--by=lower(:1)", "--sum=2"], b"a,1\nA,2\n", "lower(:1),sum(col2)\na,3\n")
    answers("a header and nothing", ["--by=lower(host)", "--sum=x"], b"host,x\n", "lower(host),sum(x)\n")
    answers("missing values", ["--by=v * 2", "--missing=NA"], b"v,w\n1,1\nNA,1\n,1\n1,2\n", "v * 2,count\n2,2\n,2\n")
    answers("--decimal", ["-d;", "--decimal=,", "--by=v * 2"], b"v;w\n1,5;1\n1,5;2\n", 'v * 2,count\n"3,0",2\n')
    other = fixture("keys-other.csv", b"bytes,host\n100,A\n")
    answers("other headers", ["--by=lower(host)", "--sum=bytes", fixture("keys-log.csv", LOG), other], None,
            "lower(host),sum(bytes)\na,115\nb,50\n")
    parts = [harness.run(["--by=lower(host)", "--sum=bytes", "--partial", "--part=%d/2" % n, fixture("keys-log.csv", LOG)]).out for n in (1, 2)]
    answers("parts", ["--merge"], b"".join(parts), "lower(host),sum(bytes)\na,15\nb,50\n")
    said = harness.run(["--by=lower(host),status", "--explain"], LOG).out
    ok(b"reads:   host (for a computed column), status (for the groups), lower(host) (computed)\n" in said
       and b"groups:  of equal lower(host),status\n" in said, "--explain", lambda: said.decode())


def check_errors():
    for keys, *words in (
            ("lower(nosuch)", "unknown column 'nosuch'"), ("host-status-x", "unknown column 'host-status-x'"),
            ("lower(host", "--by: expected ')', not the end\nlower(host\n          ^\n"),
            ("lower(host) + 1", "--by: a number is needed, not a text"), ("h=", "--by: expected a column or a value, not the end"),
            ("lower(host),", "an item is empty"), (",lower(host)", "an item is empty"), ("lower(host),,status", "an item is empty"),
            ("status, *", "--by: '*' is not a column"), ("nosuch(host)", "no function of this name"),
            ("nosuch:10", "unknown column 'nosuch'"), ("host:nothing", "unknown column 'host:nothing'"),
            ("unit prize", "unknown column 'unit prize'", "did you mean 'unit price'?"), ("2 apples", "unknown column '2 apples'")):
        refuses("refused: " + keys, ["--by=" + keys], LOG, 2, *words)
    refuses("an empty input", ["--by=lower(host)"], b"", 1, "the input is empty, and has no column 'host'")
    holds("no number", ["--by=v * 2", "--count-records"], b"v,w\n1,1\nx,2\n", breaks("", "<stdin>:3: column 'v * 2': not a number: 'x'"), ways())
    r = harness.run(["--by=v * 2", "--invalid=skip"], b"v,w\n1,1\nx,2\n")
    ok((r.status, r.out) == (0, b"v * 2,count\n2,1\n") and b"1 value of column 'v * 2' left out" in r.err, "which is left out",
       lambda: harness.describe(r))


def check_random():
    first = int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "120"))):
        rng = random.Random(seed)
        rows, trees = random_rows(rng), []
        for _ in range(rng.choice((1, 1, 2, 3))):
            draw = oracle_let.Draw(rng, ["a", "b"], ["t"], ["d"])
            trees.append((draw.number if rng.randrange(2) else draw.text)(rng.randrange(1, 3)))
        groups, kept = {}, []
        for row in rows:
            try:
                key = tuple(plain(write(evaluate(tree, row))) for tree in trees)
            except Invalid:
                continue
            kept.append(row)
            groups[key] = groups.get(key, 0) + 1
        texts = [spell(tree, rng) for tree in trees]
        names = ["k%d" % k for k in range(len(trees))]
        keys = rng.choice((",", ", ")).join("%s=%s" % item for item in zip(names, texts))
        source = b"a,b,t,d\n" + b"".join(b",".join(row[n] for n in "abtd") + b"\n" for row in kept)
        body = b"".join(b",".join(map(in_csv, key)) + b",%d\n" % n for key, n in groups.items())
        holds("random %d: %s" % (seed, keys), ["-H", "--by=" + keys], source,
              prints(",".join(names).encode() + b",count\n" + body), ways(seed, (1, 7, 64, None)))
        asked = rng.choice((["--max=a", "--mean=b"], ["--cumsum=a", "--select=t"], ["--lag=t", "--select=t"], ["--first=t", "--count-distinct=d"],
                            ["--sum=*"], ["--where=a > 1 or b is missing", "--median=a"], ["--row-number", "--select=t"]))
        lets = ["--let=%s=%s" % item for item in zip(names, texts)]
        if any(tree[0] == "column" for tree in trees) or "--sum=*" in asked:
            continue
        want = harness.run(["-H"] + lets + ["--by=" + ",".join(names)] + asked, source)
        holds("random %d: as a column of --let, %s" % (seed, asked[0]), ["-H", "--by=" + keys] + asked, source,
              lambda r, want=want: None if (r.status, r.out, r.err) == (want.status, want.out, want.err) else harness.describe(want),
              ways(seed, (1, 64, None)))


check_meanings()
check_use()
check_errors()
check_random()
harness.done()
