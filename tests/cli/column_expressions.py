# SPDX-License-Identifier: MIT
"""Expressions where columns are named: --sum 'a*b'. Their values are those of the model of --let; and each prints what it prints as a
column of --let under another heading."""
import csv
import io
import os
import random
import re

import harness
import oracle_let
from harness import answers, fixture, ok, refuses
from oracle_let import Invalid, evaluate, plain, random_rows, spell, write
from scan_ways import breaks, holds, prints, ways

SALES = b"item,price,qty,a*b,p/e ratio,price ($)\nnut,2.50,4,1,10,7\nbolt,0.10,30,2,20,8\nNut,1,,3,30,9\n"

# options, what is printed
MEANINGS = [
    (["--sum=price*qty"], "13.00"),
    (["--sum=price*qty,qty"], "sum(price*qty),sum(qty)|13.00,34"),
    (["--sum= price * qty , qty"], "sum(price * qty),sum(qty)|13.00,34"),
    (["--mean=qty/1024", "--median=abs(-price)"], "mean(qty/1024),median(abs(-price))|0.0166015625,1.00"),
    (["--max=round(price, 1),qty"], '"max(round(price, 1))",max(qty)|2.5,30'),
    (["--sum=total=price*qty"], "13.00"), (["--sum=`a total`=price*qty,qty"], "a total,sum(qty)|13.00,34"),
    (["--sum=qty > 3"], "2"), (["--mean=qty == 4"], "0.5"), (["--count=price*qty"], "2"),
    (["--count-distinct=lower(item)"], "2"), (["--mode=lower(item)", "--first=upper(item)"], "mode(lower(item)),first(upper(item))|nut,NUT"),
    (["--text-max=concat(item, ', ', qty)"], 'nut, 4'),
    (["--hist=round(price*qty, 0):5"], "low,high,count|0,5,1|5,10,0|10,15,1"),
    (["--p50=price*qty"], "6.50"), (["--trimmed-mean=price*qty:0"], "6.5"),
    # an exact name of the header is that column, alone or within an expression
    (["--sum=a*b"], "6"), (["--sum=`a*b`*2"], "12"), (["--sum=a*b*2"], "12"), (["--sum=p/e ratio"], "60"), (["--sum=`p/e ratio`/10"], "6"),
    (["--sum=price ($),p/e ratio, qty"], "sum(price ($)),sum(p/e ratio),sum(qty)|24,60,34"), (['--sum="a*b",qty'], "sum(a*b),sum(qty)|6,34"),
    (["--sum=`price ($)` + 1"], "27"),
    # positions, and pairs
    (["--sum=:2*:3"], "13.00"), (["--sum=col2*col3,3"], "sum(col2*col3),sum(qty)|13.00,34"),
    (["--cov=price*qty:qty"], "-91"), (["--cov=:2*:3:qty"], "-91"), (["--cov=qty:price*:3"], "-91"),
    (["--wmean=price*qty:if(item = \":\", 0, qty),qty:price"], '"wmean(price*qty:if(item = "":"", 0, qty))",wmean(qty:price)|3.8235294117647059,5'),
    (["--cov=qty*1:\"a*b\"", "--corr=a*b:`a*b`+1"], "cov(qty*1:a*b),corr(a*b:`a*b`+1)|13,1"),
    # groups
    (["--by=lower(item)", "--sum=price*qty", "--max=price*qty", "--sort=-sum(price*qty)"],
     "lower(item),sum(price*qty),max(price*qty)|nut,10.00,10.00|bolt,3.00,3.00"),
    (["--by=lower(item)", "--count-distinct=lower(item)"], "lower(item),count_distinct(lower(item))|nut,1|bolt,1"),
    (["--let=c=price*qty", "--sum=c*2,c"], "sum(c*2),sum(c)|26.00,13.00"), (["--let=`a-b`=qty", "--sum=a-b"], "34"),
    (["--where=qty > 5", "--sum=price*qty"], "3.00"),
    # records
    (["--select=item, price*qty"], "item,price*qty|nut,10.00|bolt,3.00|Nut,"),
    (["--select=lower(item),total=price*qty"], "lower(item),total|nut,10.00|bolt,3.00|nut,"),
    (["--running-sum=price*qty", "--only"], "running_sum(price*qty)|10.00|13.00|13.00"),
    (["--cumsum=price*qty,qty", "--only", "--by=lower(item)"], "running_sum(price*qty),running_sum(qty)|10.00,4|3.00,30|10.00,4"),
    (["--rolling-sum=price*qty:2", "--only"], "rolling_sum(price*qty:2)|10.00|13.00|3.00"),
    (["--lag=price*qty", "--lead=lower(item):1", "--only"], "lag(price*qty),lead(lower(item):1)|,bolt|10.00,nut|3.00,"),
    (["--rank=-price*qty", "--select=item"], "rank(-price*qty),item|1,nut|2,bolt|,Nut"),
    (["--ewma=price*qty:0.5", "--delta=price*qty", "--only"], "ewma(price*qty:0.5),delta(price*qty)|10,|6.5,-7.00|6.5,"),
    (["--where=price > 1", "--select=price*qty,item"], "price*qty,item|10.00,nut"),
]


def check_meanings():
    for number, (args, want) in enumerate(MEANINGS):
        holds(" ".join(args), args, SALES, prints((want.replace("|", "\n") + "\n").encode()), ways(number))


def check_use():
    answers("without a header", ["-N", "--sum=:1*:2"], b"1,2\n3,4\n", "14\n")
    answers("a header and nothing", ["--sum=a*b", "--max=a/b"], b"a,b\n", "sum(a*b),max(a/b)\n0,\n")
    answers("notations", ["-d;", "--decimal=,", "--sum=v * 2"], b"v;w\n1,5;1\n2,5;2\n", "8.0\n")
    answers("a summary of numbers and texts", ["--min=v*2", "--text-min=lower(t)", "--count=t"], b"v,t\n3,B\n2,a\n", "min(v*2),text_min(lower(t)),count(t)\n4,a,2\n")
    other = fixture("inline-other.csv", b"qty,price\n10,3\n")
    answers("other headers", ["--sum=price*qty", fixture("inline-sales.csv", b"item,price,qty\nnut,2.50,4\n"), other], None, "40.00\n")
    args = ["--by=lower(item)", "--sum=price*qty", "--cov=price*qty:qty", "--median=price*qty"]
    whole = harness.run(args, SALES)
    parts = [harness.run(args + ["--partial", "--part=%d/2" % n, fixture("inline.csv", SALES)]).out for n in (1, 2)]
    answers("parts", ["--merge"], b"".join(parts), whole.out.decode())
    state = os.path.join(harness.folder(), "inline.state")
    harness.run(["--sum=price*qty", "--save-state=" + state], SALES)
    answers("states", ["--sum=price*qty", "--from-state=" + state], SALES, "26.00\n")
    said = harness.run(["--sum=price*qty", "--explain"], SALES).out
    ok(b"price (for a computed column), qty (for a computed column), price*qty (computed)" in said, "--explain", lambda: said.decode())
    for name in ("a(b", "(x)", "lower(host)", "it's", "k=v", "x+", "50%"):
        table = b"%s,v\n1,2\n" % name.encode()
        answers("the header's own " + name, ["--sum=%s,v" % name, "--format=tsv"], table, "sum(%s)\tsum(v)\n1\t2\n" % name)


def check_errors():
    table = b"host,bytes,n\nA,10,1\nb,x,2\n"
    for args, *words in (
            (["--sum=bytes*nosuch"], "unknown column 'nosuch'"), (["--sum=byte/1024"], "unknown column 'byte'", "did you mean 'bytes'?"),
            (["--sum=bytes-x"], "unknown column 'bytes-x'"), (["--mean=abs(bytes"], "--mean: expected ')', not the end\nabs(bytes\n         ^\n"),
            (["--p99=bytes*"], "--p99: expected a column or a value, not the end\nbytes*\n      ^\n"),
            (["--cumsum=n, bytes*(n"], "--cumsum: expected ')', not the end\nbytes*(n\n        ^\n"),
            (["--sum=bytes=n"], "--sum: there is a column 'bytes' already", "=="), (["--by=n=1"], "--by: there is a column 'n' already"),
            
            (["--sum=n*2,"], "an item is empty"), (["--sum=upper(host)+1"], "--sum: a number is needed, not a text"),
            (["--corr=n*2"], "not a list of pairs"), (["--corr=n*2:"], "not a list of pairs"), (["--drop=n*2"], "--drop: 'n*2' is no column of the records"),
            (["--sum=nosuch(n)"], "--sum: no function of this name"), (["--sum=bytes n"], "unknown column 'bytes n'"), (['--sum="n'], "--sum: this quote does not close")):
        refuses("refused: " + " ".join(args), args, table, 2, *words)
    holds("no number", ["--sum=bytes*2"], table, breaks("", "<stdin>:3: column 'bytes*2': not a number: 'x'"), ways())


def cells_of(out):
    return [row or [""] for row in csv.reader(io.StringIO(out.decode(), newline=""))]


def check_units():
    table = b"item,weight,x y\nfoo,1 kg,1 kg\nbar,2.312 kg,2 kg\n"
    refuses("a unit", ["--sum=weight"], table, 1, "column 'weight': not a number: '1 kg' (try 'number(split(weight, \" \", 1))', the number")
    answers("the number before it", ["--sum=number(split(weight, \" \", 1))"], table, "3.312\n")
    refuses("of a name that needs quotes", ["--sum=x y"], table, 1, "'1 kg' (try --invalid skip)")
    refuses("two units", ["--sum=weight"], b"item,weight\nfoo,1 kg 5 g\n", 1, "(try --invalid skip)")


def check_random():
    first = int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "120"))):
        rng = random.Random(seed)
        draw = oracle_let.Draw(rng, ["a", "b"], ["t"], ["d"])
        trees = [(draw.number if rng.randrange(2) else draw.text)(rng.randrange(1, 3)) for _ in range(rng.choice((1, 1, 2, 3)))]
        texts, names = [spell(tree, rng) for tree in trees], ["k%d" % k for k in range(len(trees))]
        kept, values = [], [names]
        for row in random_rows(rng):
            try:
                values.append([plain(write(evaluate(tree, row))).decode() for tree in trees])
                kept.append(row)
            except Invalid:
                continue
        columns, lets = rng.choice((",", ", ")).join(map("=".join, zip(names, texts))), ["--let=%s=%s" % item for item in zip(names, texts)]
        source = b"a,b,t,d\n" + b"".join(b",".join(row[n] for n in "abtd") + b"\n" for row in kept)
        holds("random %d: %s" % (seed, columns), ["-H", "--select=" + columns], source,
              lambda r, values=values: None if r.status == 0 and cells_of(r.out) == values else "wanted %r" % values, ways(seed, (1, 7, 64, None)))
        for option, more in rng.sample((("count", []), ("count-distinct", []), ("text-max", []), ("mode", ["--by=t"]), ("first", []),
                                        ("lag", ["--select=t"]), ("fill-down", ["--select=t", "--by=d"]), ("lead", ["--select=t"])), 2):
            want = harness.run(["-H"] + lets + ["--%s=%s" % (option, ",".join(names))] + more, source)
            title = {"fill-down": "filled"}.get(option, option).replace("-", "_").encode()
            want = want._replace(out=re.sub(title + rb"\((\w+)\)", rb"\1", want.out, count=len(names)))     # NAME= is the heading
            holds("random %d: --%s" % (seed, option), ["-H", "--%s=%s" % (option, columns)] + more, source,
                  lambda r, want=want: None if (r.status, r.out, r.err) == (want.status, want.out, want.err) else harness.describe(want),
                  ways(seed, (1, 64, None)))


check_meanings()
check_use()
check_units()
check_errors()
check_random()
harness.done()
