# SPDX-License-Identifier: MIT
"""Aggregates in expressions: sum(x), of all records or of the record's group. What an aggregate is, the program says as a result
(--sum x --by g); what is computed of it, and which records a condition takes, the model of --let (oracle_let.py)."""
import csv
import fractions
import io
import os
import random
import threading
import subprocess

import harness
import oracle_let
from harness import answers, fixture, ok, refuses
from oracle_let import Invalid, evaluate, is_missing, spell, write
from scan_ways import breaks, holds, prints, ways

SALES = b"region,price,q,name\nn,5,1,ann\ns,7,2,bob\nn,9,3,cem\ns,7,4,dan\nw,,5,eve\nn,9,6,fay\n"
NREAD = "gpustat: the input is read twice: aggregates need all records before the first\n"


def column(table, values):
    lines = table.decode().split("\n")[:-1]
    return "".join("%s,%s\n" % pair for pair in zip(lines, values.split("|"))).encode()


def check_meanings():
    for number, (args, values) in enumerate((
            (["--let=s = price / sum(price)"], "s|0.13513513513513514|0.18918918918918919|0.24324324324324324|0.18918918918918919||0.24324324324324324"),
            (["--by=region", "--let=s = price / sum(price)"], "s|0.21739130434782609|0.5|0.39130434782608696|0.5||0.39130434782608696"),
            (["--by=region", "--let=m = max(price)"], "m|9|7|9|7||9"), (["--let=n = sum(q > 1)"], "n|5|5|5|5|5|5"), (["--let=m = MAX( price )"], "m|9|9|9|9|9|9"),
            (["--let=m = max(price, q)"], "m|5|7|9|7||9"), (["--let=m = min(price * q)"], "m|5|5|5|5|5|5"),
            (["--let=m = mean(price)"], "m|7.4|7.4|7.4|7.4|7.4|7.4"), (["--let=c = count()"], "c|6|6|6|6|6|6"),
            (["--by=region", "--let=c = count(price)", "--let=n=count()"], "c,n|3,3|2,2|3,3|2,2|0,1|3,3"),
            (["--let=d = price - median(price)"], "d|-2|0|2|0||2"), (["--by=region", "--let=f = upper(first(name))"], "f|ANN|BOB|ANN|BOB|EVE|ANN"),
            (["--by=region", "--let=l = last(name)"], "l|fay|dan|fay|dan|eve|fay"), (["--let=d = count_distinct(region)"], "d|3|3|3|3|3|3"),
            (["--let=p = p90(q) - p12.5(q)"], "p|3.875|3.875|3.875|3.875|3.875|3.875"),
            (["--let=z = round((q - mean(q)) / stddev(q), 4)"], "z|-1.3363|-0.8018|-0.2673|0.2673|0.8018|1.3363"),
            (["--let=s = sum(if(region = 'n', q, 0))"], "s|10|10|10|10|10|10"),
            (["--let=b = q * 2", "--let=s = b / sum(b)"],
             "b,s|2,0.047619047619047619|4,0.095238095238095238|6,0.14285714285714286|8,0.19047619047619048|10,0.2380952380952381|12,0.28571428571428571"),
            (["--by=k = upper(region), length(name)", "--let=s = sum(q)"], "s|10|6|10|6|5|10"),
            (["--by=region", "--let=i = if(price = max(price), 'top', '')"], "i||top|top|top||top"),
            (["--by=region", "--let=s = sum(q)", "--cumsum=q"], "s,running_sum(q)|10,1|6,2|10,4|6,6|5,5|10,10"))):
        holds(" ".join(args), args, SALES, prints(column(SALES, values)), ways(number))
    for number, (args, want) in enumerate((
            (["--by=region", "--where=price = max(price)"], "region,price,q,name|s,7,2,bob|n,9,3,cem|s,7,4,dan|n,9,6,fay"),
            (["--where=price > mean(price)", "--select=name"], "name|cem|fay"),
            (["--by=region", "--where=price = max(price)", "--sum=q"], "region,sum(q)|s,6|n,9"),
            (["--where=q > mean(q)", "--count-records"], "3"),
            (["--where=region = 'n'", "--let=s = q / sum(q)", "--select=name,s"], "name,s|ann,0.1|cem,0.3|fay,0.6"),     # of those taken,
            (["--where=q > median(q)", "--let=s = q / sum(q)", "--select=s"], "s|0.19047619047619048|0.2380952380952381|0.28571428571428571"),
            (["--let=s = q / sum(q)", "--where=s > 0.2", "--select=q"], "q|5|6"),                                        # or of all
            (["--let=s = q / sum(q)", "--sum=s"], "1"), (["--let=s = q / sum(q)", "--by=region", "--sum=s"], "region,sum(s)|n,1.0|s,1|w,1"),
            (["--offsets=q > mean(q)", "--only"], "offset||||0|1|2"),
            # where columns are named
            (["--select=name, s = q / sum(q)"], "name,s|ann,0.047619047619047619|bob,0.095238095238095238|cem,0.14285714285714286|dan,0.19047619047619048|"
             "eve,0.2380952380952381|fay,0.28571428571428571"),
            (["--by=region", "--select=name,s=q/sum(q)", "--where=region='s'"], "name,s|bob,0.33333333333333333|dan,0.66666666666666667"),
            (["--max=q / sum(q)"], "0.28571428571428571"), (["--by=region", "--max=q / sum(q)"], "region,max(q / sum(q))|n,0.6|s,0.66666666666666667|w,1"),
            (["--cumsum=q/sum(q)*21", "--only"], "running_sum(q/sum(q)*21)|1|3|6|10|15|21"), (["--corr=q/sum(q):q"], "1"),
            (["--hist=q/sum(q):0.2"], "low,high,count|0.0,0.2,4|0.2,0.4,2"), (["--select=m=min(q),name", "--head=1"], "m,name|1,ann"),
            # aggregates of aggregates
            (["--sum=q - min(q)", "--mean=(q - mean(q)) * (q - mean(q))"], "sum(q - min(q)),mean((q - mean(q)) * (q - mean(q)))|15,2.9166666666666667"),
            (["--head=1", "--select=s=sum(q * sum(q)), t=sum(sum(sum(1))), u=max(q - mean(q))"], "s,t,u|441,216,2.5"),
            (["--by=region", "--select=name,d=max(q - min(q))"], "name,d|ann,5|bob,2|cem,5|dan,2|eve,0|fay,5"),
            (["--where=price = max(price)", "--head=1", "--select=name"], "name|cem"),
            (["--where=price = max(price)", "--tail=1", "--select=name"], "name|fay"),
            (["--by=region", "--where=price <= mean(price)", "--having=count(price) = 2", "--max=price"], "region,max(price)|s,7"),
            (["--by=region", "--let=s = q / sum(q)", "--having=max(q) > 5", "--max=s"], "region,max(s)|n,0.6"),
            (["--rank=q", "--let=s = q / max(q)", "--where=s > 0.5", "--only"], "rank(q),s|1,0.66666666666666667|2,0.83333333333333333|3,1"))):
        holds(" ".join(args), args, SALES, prints((want.replace("|", "\n") + "\n").encode()), ways(number))


def check_input():
    """Files, pipes, compressed ones, several of them; the memory."""
    want = column(SALES, "s|10|6|10|6|5|10")
    args = ["--by=region", "--let=s = sum(q)"]
    name = fixture("aggregates.csv", SALES)
    answers("a file", args + [name], None, want.decode())
    answers("a pipe beyond its part of --memory", ["--memory=1K"] + ["--let=s = sum(q)", "--select=s"], b"q\n" + b"1\n" * 9999, "s\n" + "9999\n" * 9999)
    other = fixture("aggregates-other.csv", b"q,region,price,name\n100,n,1,x\n")
    answers("files with other headers", ["--by=region", "--let=s = sum(q)", "--select=q,s", name, other], None,
            "q,s\n1,110\n2,6\n3,110\n4,6\n5,5\n6,110\n100,110\n")
    answers("a pipe and a file", ["--let=s = sum(q)", "--select=s", name, "-"], SALES, "s\n" + "42\n" * 12)
    both = subprocess.run(["bash", "-c", '"$GPUSTAT" --let "s = sum(q)" --select s <(cat "$0") <(gzip -c "$0")', name], capture_output=True)
    ok(both.stdout == b"s\n" + b"42\n" * 12 and not both.stderr, "process substitution", lambda: repr(both))
    answers("an empty input", ["--let=s = v / sum(v)"], b"v\n", "v,s\n")
    answers("no header", ["-N", "--let=s = :1 / sum(:1)", "--only"], b"1\n3\n", "0.25\n0.75\n")
    answers("an odd name", ["--let=s = sum(`a \"b\"`) + sum(c-d)", "--only"], b'"a ""b""",c-d\n1,2\n3,4\n', "s\n10\n10\n")
    answers("--decimal", ["-d;", "--decimal=,", "--let=s = sum(v)", "--let=f = first(v)"], b"v;w\n1,5;x\n2,25;y\n", "v;w;s;f\n1,5;x;3,75;1,5\n2,25;y;3,75;1,5\n")
    answers("a text that needs quotes", ["--let=f = first(t)", "--only"], b't,u\n"a,""b""",1\nc,2\n', 'f\n"a,""b"""\n"a,""b"""\n')
    answers("a sum of 40 digits", ["--let=s = sum(v)", "--only"], b"v\n" + b"9" * 39 + b"\n1\n", "s\n" + "1" + "0" * 39 + "\n" + "1" + "0" * 39 + "\n")
    answers("--missing", ["--missing=3", "--let=s = sum(v)", "--only"], b"v\n1\n2\n3\n", "s\n3\n3\n3\n")
    said = harness.run(["--let=s = sum(q)", "--explain"], SALES).out
    ok(b"(the input is read twice: aggregates need all records before the first)" in said, "--explain says it", lambda: said.decode())
    said = harness.run(["--let=s = sum(q)", "--verbose"], SALES).err
    ok(said.startswith(NREAD.encode()), "--verbose says it", lambda: said.decode())


def check_errors():
    for args, *words in (
            (["--let=s = sum(nosuch)"], "unknown column 'nosuch'"), (["--let=s = sum(price, q)"], "--let: expected ')': an aggregate takes one argument"),
            (["--select=sum(q)"], "--select: there is no column 'sum(q)': --let 'NAME=sum(q)' makes one"),
            (["--sort=sum(q)"], "--sort: there is no column 'sum(q)': --let 'NAME=sum(q)' makes one"),
            (["--by=region", "--select=name,price/1"], "--by is for results and running columns"),
            (["--by=q > mean(q)"], "an aggregate is no key"), (["--let=s = sum()"], "expected a column or a value"),
            (["--by=sum(q)"], "--by: an aggregate is no key"), (["--let=s = q / sum(q)", "--let=t = max(s)"], "'s' has an aggregate, and here it is needed before"),
            (["--let=s = sum(q)", "--by=s"], "'s' has an aggregate"), (["--let=s = sum(q", "--only"], "expected ')'"),
            (["--let=s = sum(q)", "--partial", "--sum=s"], "--let: an aggregate needs all records, and --partial has some"),
            (["--by=region", "--agg=s=sum(q - mean(q))"], "an aggregate within an aggregate"),
            (["--sum=q / sum(q)", "--save-state=x"], "--sum: an aggregate needs all records, and --save-state has some")):
        refuses("refused: " + " ".join(args), args, SALES, 2, *words)
    holds("a text in a sum", ["--let=s = sum(name)"], SALES, breaks("", "<stdin>:2: column 'name': not a number: 'ann'"), ways())
    r = harness.run(["--let=s = sum(v)", "--invalid=skip"], b"v,w\n1,1\nx,2\n")
    ok((r.status, r.out) == (0, b"v,w,s\n1,1,1\nx,2,1\n") and b"1 value of column 'v' left out" in r.err, "which is left out, and said", lambda: harness.describe(r))


AGGREGATES = ("sum(x)", "min(x)", "max(x)", "count(x)", "median(x)", "stddev(x)", "count()", "mean(y)", "sum(y)", "p75(y)")


def table_of(rng):
    numbers = (b"", b"0", b"1", b"-2", b"3.5", b"0.001", b"-12.50", b'"7"', b" 8 ", b"1e3", b"999999999999999999", b"12345678901234567890123", b"0.10")
    return [dict(zip("gxy", (rng.choice((b"a", b"b", b"", b'"c,d"', b"a long one, of many bytes".replace(b",", b""))), rng.choice(numbers),
                             rng.choice(numbers)))) for _ in range(rng.choice((1, 5, 63, 64, 65, 300)))]


def values_of(asked, source, by):
    """{key: {aggregate: field}}, as the program's results have them."""
    args = ["--%s" % a.replace("()", "-records").replace("(", "=").rstrip(")") for a in asked]
    r = harness.run(["-H", "--format=csv"] + args + (["--by=g"] if by else []), source)
    rows = list(csv.reader(io.StringIO(r.out.decode())))[1:]
    return {row[0] if by else None: dict(zip(asked, (cell.encode() for cell in row[by:]))) for row in rows}


def check_random():
    first = int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "120"))):
        rng = random.Random(seed)
        rows, by = table_of(rng), rng.randrange(2)
        source = b"g,x,y\n" + b"".join(b",".join(row[n] for n in "gxy") + b"\n" for row in rows)
        asked = rng.sample([a for a in AGGREGATES if not a.startswith("mean")], 3)
        found = values_of(asked, source, by)
        tree = oracle_let.Draw(rng, ["x", "y"] + asked + asked).number(rng.randrange(1, 3))
        text = spell(tree, rng)
        for a in asked:
            text = text.replace("`%s`" % a, a)
        kept = []
        for row in rows:
            record = dict(row, **found[oracle_let.plain(row["g"]).decode() if by else None])
            try:
                kept.append((row, evaluate(tree, record)))
            except Invalid:
                break
        if len(kept) < len(rows) or not any(a in text for a in asked):
            continue
        want = b"g,x,y,z\n" + b"".join(b",".join([row[n] for n in "gxy"] + [write(z)]) + b"\n" for row, z in kept)
        args = ["-H", "--let=z = " + text] + (["--by=g"] if by else [])
        holds("random %d: %s" % (seed, " ".join(args)), args, source, prints(want), ways(seed, (1, 7, 64, None)))
        numbers = [None if is_missing(row["x"]) else oracle_let.fraction(oracle_let.number(row["x"])) for row in rows]
        best = {}
        for row, x in zip(rows, numbers):
            if x is not None:
                best[row["g"] if by else None] = max(best.get(row["g"] if by else None, fractions.Fraction(-10 ** 30)), x)
        chosen = [row for row, x in zip(rows, numbers) if x is not None and x == best[row["g"] if by else None]]
        want = b"g,x,y\n" + b"".join(b",".join(row[n] for n in "gxy") + b"\n" for row in chosen)
        holds("random %d: the largest of %s" % (seed, "each group" if by else "all"), ["-H", "--where=x = max(x)"] + (["--by=g"] if by else []),
              source, prints(want), ways(seed, (1, 64, None)))


def check_names():
    """The argument of an aggregate is what it is alone where columns are named, but that a number is one."""
    for name in ("(x*2)", "((x*2))", "a b", 'say ""q""', "`x`", "2", "x = 1"):
        table = b'"%s",x\n5,1\n7,2\n' % name.encode()
        item = "`%s`" % name.replace('""', '"').replace("`", "``")
        answers("beside a column %s" % name, ["--let=z=sum(x*2) + sum(2) + sum(x=1) + sum(%s)" % item, "--only"], table, "z\n23\n23\n")
    answers("an exact name wins alone", ["--let=z=sum(x*2)", "--only"], b"x*2,x\n5,1\n", "z\n5\n")
    answers("of columns of --let", ["--let=`(x*2)`=x", "--let=z=sum(x*2)", "--let=y=sum(`(x*2)`)", "--only"], b"x\n1\n2\n",
            "(x*2),z,y\n1,6,3\n2,6,3\n")


def check_columns():
    """A column that is called as an aggregate, as a first gpustat prints it, is that column; a pipe that has none is not kept."""
    table = b"k,sum(x),x/max(x)\na,1,7\nb,2,8\n"
    answers("of results", ["--max=sum(x),x/max(x)"], table, "max(sum(x)),max(x/max(x))\n2,8\n")
    answers("beside one", ["--max=sum(x)", "--sum=`sum(x)` / max(`sum(x)`)"], table, "max(sum(x)),sum(`sum(x)` / max(`sum(x)`))\n2,1.5\n")
    refuses("and no groups", ["--by=k", "--select=x/max(x)"], table, 2, "--by is for results and running columns")
    answers("parts", ["--max=sum(x)", "--save-state=" + os.path.join(harness.folder(), "columns.state")], table, "2\n")


def check_change():
    """A file that is written to while it is read twice."""
    for args in (["--let=z=x/sum(x)"], ["--by=k", "--where=x=max(x)"], ["--rank=x"], ["--where=x > mean(x)", "--sum=x"]):
        path, stop = os.path.join(harness.folder(), "grows.csv"), threading.Event()
        with open(path, "wb") as f:
            f.write(b"k,x\n" + b"".join(b"%d,%d\n" % (i % 7, i) for i in range(300000)))

        def grow(path=path, stop=stop):
            with open(path, "ab", buffering=0) as f:
                while not stop.wait(0.002):
                    f.write(b"new,1\n")
        writer = threading.Thread(target=grow)
        writer.start()
        r = harness.run(args + [path])
        stop.set()
        writer.join()
        ok(r.status == 1 and b"the input changed while it was read several times" in r.err, "a file that grows: " + " ".join(args),
           lambda r=r: "%s %s" % (r.status, r.err[:300]))


check_meanings()
check_names()
check_columns()
check_input()
check_change()
check_errors()
check_random()
harness.done()
