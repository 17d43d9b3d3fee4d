# SPDX-License-Identifier: MIT
"""What is computed of results: --agg, --share, --cumshare, --having, and --sort by expressions and by several keys. Random ones are
in tests/fuzz/differential.py, with a model (oracle_finish.py)."""
import os
import random

import harness
from harness import answers, fixture, ok, refuses
from scan_ways import holds, prints, ways

SALES = b"region,price,q,name\nn,5,1,ann\ns,7,2,bob\nn,9,3,cem\ns,7,4,dan\nw,,5,eve\nn,9,6,fay\n"
BY = "--by=region"


def check_names():
    table = b"x,3\n1,2\n3,5\n"
    for option, want in (("--having=sum(3) > 2", "x,sum(3)\n3,5\n"), ("--sort=-sum(3) * 2", "x,sum(3)\n3,5\n1,2\n")):
        answers("a column called 3: " + option, ["--by=x", "--sum=2", option], table, want)
    answers("the number 3", ["--by=x", "--having=sum(3) > 2"], table, "x,count\n1,1\n3,1\n")


def check_meanings():
    for number, (args, want) in enumerate((
            (["--agg=rate = sum(price) / sum(q)"], "1.7619047619047619"), (["--agg=n=count()", "--agg=sum(q) + 1"], "n,sum(q) + 1|6,22"),
            (["--sum=q", "--agg=m = mean(q) - median(q)", "--max=price"], "sum(q),m,max(price)|21,0.0,9"),
            (["--agg=e = sum(price * q) / sum(q)"], "6.0952380952380952"), (["--agg=x = upper(first(name))"], "ANN"),
            (["--agg=n = count()", "--agg=n2 = n * n + 1"], "n,n2|6,37"), (["--agg=x = if(count() > 10, 'many', 'few')"], "few"),
            (["--agg=z = sum(q) / (count() - 6)"], ""), (["--agg=t = count() = 6"], "1"), (["--agg=p90(q) - p12.5(q)"], "3.875"),
            (["--let=b = price * q", "--agg=r = sum(b) / max(b)"], "2.3703703703703704"),
            ([BY, "--agg=rate = sum(price) / sum(q)"], "region,rate|n,2.3|s,2.3333333333333333|w,0"),
            ([BY, "--agg=sum(q)/count()", "--count-records"], "region,sum(q)/count(),records|n,3.3333333333333333,3|s,3,2|w,5,1"),
            ([BY, "--agg=k = upper(region)", "--agg=l = length(k)"], "region,k,l|n,N,1|s,S,1|w,W,1"),
            ([BY, "--agg=`odd, name` = min(q)"], 'region,"odd, name"|n,1|s,2|w,5'),
            (["--by=upper(region)", "--agg=`upper(region)`"], "upper(region),`upper(region)`|N,N|S,S|W,W"),
            (["--by=1", "--agg=r = lower(:1)", "--agg=s = count(:2)"], "region,r,s|n,n,3|s,s,2|w,w,0"),
            ([BY, "--having=count() > 1"], "region,count|n,3|s,2"), ([BY, "--having=COUNT( * ) > 1"], "region,count|n,3|s,2"), ([BY, "--having=sum(q) >= 6", "--sum=q"], "region,sum(q)|n,10|s,6"),
            ([BY, "--where=q > 1", "--having=count() > 1", "--sum=q", "--sort=-sum"], "region,sum(q)|n,9|s,6"),
            ([BY, "--having=region != 'n' and mean(price) > 1", "--first=name"], "region,first(name)|s,bob"),
            ([BY, "--having=min(q) = 2", "--count=q"], "region,count(q)|s,2"), ([BY, "--having=count < 3"], "region,count|s,2|w,1"),
            ([BY, "--agg=r = sum(price) / sum(q)", "--having=r > 1 and count() > 2"], "region,r|n,2.3"),
            ([BY, "--having=mean(price) is missing"], "region,count|w,1"), ([BY, "--having=not mean(price) > 7"], "region,count|s,2"),
            ([BY, "--having=max(q) > 100"], "region,count"), ([BY, "--having=max(q) > 4", "--top=1"], "region,count|n,3"),
            ([BY, "--having=first(name) like '%b%'"], "region,count|s,2"), ([BY, "--having=`sum(q)` > 5", "--sum=q"], "region,sum(q)|n,10|s,6"),
            ([BY, "--having=share(q) > 0.25"], "region,count|n,3|s,2"), (["--by=region,q", "--having=q in (2, 5)"], "region,q,count|s,2,1|w,5,1"),
            ([BY, "--sum=q", "--share=q", "--cumshare=q"], "region,sum(q),share(q),cumshare(q)|n,10,0.47619047619047619,0.47619047619047619"
             "|s,6,0.28571428571428571,0.7619047619047619|w,5,0.2380952380952381,1"),
            ([BY, "--cumshare=q", "--sort=sum(q)"], "region,cumshare(q)|w,0.2380952380952381|s,0.52380952380952381|n,1"),
            ([BY, "--share=q", "--top=1"], "region,share(q)|n,0.47619047619047619"), ([BY, "--share=q", "--having=count() = 1"], "region,share(q)|w,0.2380952380952381"),
            ([BY, "--agg=p = round(100 * share(q), 1)", "--agg=c = round(100 * cumshare(q), 1)", "--sort=-p"], "region,p,c|n,47.6,47.6|s,28.6,76.2|w,23.8,100"),
            ([BY, "--share=price,q", "--where=q > 1"], "region,share(price),share(q)|s,0.4375,0.3|n,0.5625,0.45|w,0,0.25"),
            ([BY, "--let=z = q - q", "--share=z"], "region,share(z)|n,|s,|w,"), ([BY, "--share=*", "--sort=share(q)"], "region,share(price),share(q)|w,0,0.2380952380952381"
             "|s,0.37837837837837838,0.28571428571428571|n,0.62162162162162162,0.47619047619047619"),
            ([BY, "--sort=-max(price) - sum(q)"], "region,count|s,2|n,3|w,1"), ([BY, "--sort=max(q) % 4,-region"], "region,count|s,2|w,1|n,3"),
            ([BY, "--sort=-count(), region"], "region,count|n,3|s,2|w,1"), ([BY, "--sum=q", "--sort=-sum"], "region,sum(q)|n,10|s,6|w,5"),
            ([BY, "--agg=r = max(price)", "--sort=r"], "region,r|s,7|n,9|w,"), ([BY, "--agg=r = max(price)", "--sort=-r"], "region,r|n,9|s,7|w,"),
            ([BY, "--sort=-max(price)", "--top=2"], "region,count|n,3|s,2"), ([BY, "--sort=count() > 1,-region"], "region,count|w,1|s,2|n,3"),
            ([BY, "--sort=`count`,-`region`"], "region,count|w,1|s,2|n,3"), (["--by=region,q", "--sum=price * 2", "--having=sum(price * 2) = 14"], "region,q,sum(price * 2)|s,2,14|s,4,14"),
            ([BY, "--agg=a = sum(q = 1)", "--agg=b = sum(if(q = 6, 1, 0))", "--share=price * q"], "region,a,b,share(price * q)|n,1,1,0.671875|s,0,0,0.328125|w,0,0,0"),
            ([BY, "--agg=r = sum(q)", "--top=2"], "region,r|n,10|s,6"), ([BY, "--sort=length(first(name)),-upper(region)"], "region,count|w,1|s,2|n,3"),
            ([BY, "--sum=q,price", "--sort=-q"], "region,sum(q),sum(price)|n,10,23|s,6,14|w,5,0"), ([BY, "--sum=q", "--share=q", "--sort=q"],
             "region,sum(q),share(q)|w,5,0.2380952380952381|s,6,0.28571428571428571|n,10,0.47619047619047619"),
            ([BY, "--let=s = q / sum(q)", "--max=s", "--having=max(q) > 5"], "region,max(s)|n,0.6"),
            ([BY, "--max=q", "--having=max(q) > 4", "--format=json"], '[{"region": "n", "max(q)": 6},| {"region": "w", "max(q)": 5}]'),
            ([BY, "--agg=x = if(count() > 1, first(name), missing)", "--agg=y=count()", "--format=ndjson"],
             '{"region": "n", "x": "ann", "y": 3}|{"region": "s", "x": "bob", "y": 2}|{"region": "w", "x": null, "y": 1}'),
            (["--agg=x = sum(q) / 2", "--agg=y = first(name)", "--format=json"], '{"x": 10.5, "y": "ann"}'),
            ([BY, "--agg=y = sum(q) / 4", "--format=markdown"], "| region | y |||| --- | --: |||| n | 2.5 |||| s | 1.5 |||| w | 1.25 |"))):
        text = want.replace("|", "\n") if "markdown" not in args[-1] else want.replace("|||", "|\n")
        holds(" ".join(args), args, SALES, prints((text + "\n").encode()), ways(number))


def check_exactness():
    """A quotient of exact sums is rounded once; numbers of any length; notations."""
    ones = b"v,w\n" + b"0.1,3\n" * 10
    answers("sums are exact", ["--agg=r = sum(v) / sum(w)", "--agg=d = sum(v) - 1", "-H"], ones, "r,d\n0.033333333333333333,0.0\n")
    long = b"v\n" + b"9" * 39 + b"\n1\n"
    answers("a sum of 40 digits", ["--agg=x = sum(v) + 1", "--agg=y = sum(v)"], long, "x,y\n1%s1,1%s\n" % ("0" * 38, "0" * 39))
    answers("--decimal", ["-d;", "--decimal=,", "--by=k", "--agg=x = sum(v) / 2", "--having=k > 1", "--sort=-k"],
            b"k;v\n1,5;2,5\n2,5;1\n0,5;7\n12;1\n", "k,x\n12,0.5\n\"2,5\",0.5\n\"1,5\",1.25\n")
    answers("--missing", ["--missing=NA", "--by=k", "--having=k is missing", "--count-records"], b"k,v\nNA,1\na,2\n,3\n", "k,records\nNA,1\n,1\n")
    answers("no record", ["--agg=x = sum(v) / count()", "-H"], b"v\n", "\n")
    answers("no group", [BY.replace("region", "k"), "--share=v", "--having=count() > 1", "-H"], b"k,v\n", "k,share(v)\n")
    answers("names with signs", ["--by=a-b", "--agg=x = sum(c-d) / 2", "--having=a-b != 'y'"], b"a-b,c-d\nx,1\ny,2\n", "a-b,x\nx,0.5\n")
    answers("no header", ["-N", "--by=1", "--agg=x = sum(:2)", "--sort=-sum(col2)", "--having=col1 != 'c'"], b"a,1\nb,2\nc,3\n", "col1,x\nb,2\na,1\n")


def check_many():
    """Many groups, in blocks and by several threads; what comes first of equal ones; sums over groups before a block."""
    n, rng = 9000, random.Random(5)
    rows = [(rng.randrange(n), rng.randrange(1, 100)) for _ in range(4 * n)]
    data = b"k,v\n" + b"".join(b"k%d,%d\n" % row for row in rows)
    sums, first = {}, {}
    for place, (k, v) in enumerate(rows):
        sums[k] = sums.get(k, 0) + v
        first.setdefault(k, place)
    total = sum(sums.values())
    name = fixture("many-groups.csv", data)
    for threads in ("1", "3"):
        order = sorted((k for k in sums if sums[k] > 100), key=lambda k: (sums[k] % 7, -(sums[k] // 50), first[k]))
        r = harness.run(["--threads=" + threads, "--by=k", "--sum=v", "--having=sum(v) > 100", "--sort=sum(v) % 7,-div(sum(v), 50)", name], None)
        ok(r.out == b"k,sum(v)\n" + b"".join(b"k%d,%d\n" % (k, sums[k]) for k in order), "sorted by two expressions, threads " + threads, lambda: harness.describe(r)[:2000])
        r = harness.run(["--threads=" + threads, "--by=k", "--agg=c = round(cumshare(v) * %d)" % total, "--having=sum(v) > 100", name], None)
        so_far, want = 0, b"k,c\n"
        for k in sorted((k for k in sums if sums[k] > 100), key=first.get):
            so_far += sums[k]
            want += b"k%d,%d\n" % (k, so_far)
        ok(r.out == want, "cumulative shares of blocks of rows, threads " + threads, lambda: harness.describe(r)[:2000])
        r = harness.run(["--threads=" + threads, "--by=k", "--share=v", "--top=3", "--sort=-share(v),k", name], None)
        top = sorted(sums, key=lambda k: (-sums[k], b"k%d" % k))[:3]
        ok([line.split(b",")[0] for line in r.out.split(b"\n")[1:-1]] == [b"k%d" % k for k in top], "the first ones of many, threads " + threads,
           lambda: harness.describe(r)[:2000])


def check_parts():
    """Parts, states, and ranks where they are built: the same bytes as one run."""
    lines = SALES.split(b"\n")
    for args in ([BY, "--agg=r = sum(price) / sum(q)", "--having=count() > 1", "--share=q", "--cumshare=price"], ["--agg=r = mean(price) - 1", "--sum=q"],
                 [BY, "--having=median(q) > 2", "--agg=sum(q)"]):
        whole = harness.run(args, SALES)
        parts = []
        for i, piece in enumerate((lines[:3], lines[:1] + lines[3:5], lines[:1] + lines[5:])):
            r = harness.run(["-H"] + args + ["--partial"], b"\n".join(piece) + b"\n")
            parts.append(fixture("computed-%d.part" % i, r.out))
        r = harness.run(["--merge"] + parts, None)
        ok((r.status, r.out) == (0, whole.out), "parts: " + " ".join(args), lambda: harness.describe(r))
        state = os.path.join(harness.folder(), "computed.state")
        harness.run(["-H"] + args + ["--save-state=" + state], b"\n".join(lines[:4]) + b"\n")
        r = harness.run(["-H"] + args + ["--from-state=" + state], b"\n".join(lines[:1] + lines[4:]))
        ok((r.status, r.out) == (0, whole.out), "a state: " + " ".join(args), lambda: harness.describe(r))
    r = harness.run(["-H", BY, "--sum=q", "--agg=r = max(price)", "--partial"], SALES)
    part = fixture("computed.part", r.out)
    answers("--sort by what a part holds", ["--merge", "--sort=-max(price) + sum(q),region", part], None, "region,sum(q),r\nn,10,9\ns,6,7\nw,5,\n")
    refuses("and by what it does not hold", ["--merge", "--sort=-min(price) / 2", part], None, 2, "--sort: 'min(price)' is none of the results: ask for it with --agg where")


def check_distinct_values():
    """What is found among a group's distinct values is the same for each that reads it: shares, --having, --sort, the table and
    the state that is saved after it."""
    rnd = random.Random(781620)
    header, rows = b"k,v,n\n", [b"g%d,%s,%d\n" % (rnd.randrange(40), rnd.choice([b"", b"%d" % rnd.randrange(9), b"a%d" % rnd.randrange(9)]), rnd.randrange(1, 99))
                               for _ in range(1500)]
    args = ["--by=k", "--entropy=v,n", "--mode=v", "--antimode=n", "--count-distinct=v"]
    plain = harness.run(args, header + b"".join(rows))
    want = plain.out.split(b"\n")[1:]
    for more in (["--cumshare=n"], ["--share=n"], ["--share=n", "--having=entropy(v) >= 0 and mode(v) = mode(v)"],
                 ["--cumshare=n", "--sort=-round(entropy(v), 1),k"]):
        for threads in ("1", "3"):
            r = harness.run(args + more + ["--threads=" + threads], header + b"".join(rows))
            lines = [line.rsplit(b",", 1)[0] for line in r.out.split(b"\n")[1:]]
            ok(sorted(lines) == sorted(want) if "--sort" in more[-1] else lines == want, "read twice: %s, threads %s" % (" ".join(more), threads), lambda: harness.describe(r)[:2000])
    for how in ([], ["--having=count() > 0"], ["--sort=-entropy(n)"], ["--share=n"], ["--top=3"]):
        state = os.path.join(harness.folder(), "distinct.state")
        r = harness.run(args + how + ["--save-state=" + state], header + b"".join(rows[:700]))
        ok(r.status == 0, "a state is saved after it was read: " + " ".join(how), lambda: harness.describe(r)[:2000])
        r = harness.run(args + how + ["--from-state=" + state], header + b"".join(rows[700:]))
        whole = harness.run(args + how, header + b"".join(rows))
        ok((r.status, r.out) == (0, whole.out), "and holds all: " + " ".join(how), lambda: harness.describe(r)[:2000])


def check_errors():
    for args, *words in (
            (["--having=count() > 1"], "--having is for groups: there is no --by"), ([BY, "--having=count()"], "--having: expected a comparison"),
            (["--share=q"], "--share is for groups: there is no --by"), (["--cumshare=q"], "--cumshare is for groups: there is no --by"),
            ([BY, "--having=q > 5"], "--having: 'q' is neither a result nor a column of --by: the column has many values, and a result is sum(q), max(q), first(q)"),
            (["--agg=q + 1"], "--agg: 'q' is no result: the column has many values"), ([BY, "--agg=x = nosuch"], "--agg: 'nosuch' is neither"),
            (["--agg=x = sum(nosuch)"], "unknown column 'nosuch'"), ([BY, "--having=sum(nosuch) > 1"], "unknown column 'nosuch'"),
            (["--agg=x = sum(q", "--sum=q"], "--agg: expected ')'"), (["--agg=x = sum(sum(q))"], "an aggregate within an aggregate"),
            (["--agg=x = 1", "--agg=x = 2"], "--agg: there are two results 'x'"), (["--agg=x = y", "--agg=y = count()"], "'y' is no result"),
            ([BY, "--cumshare=q", "--sort=cumshare(q)"], "--sort: cumshare(q) is known when the order is"), ([BY, "--cumshare=q", "--top=2"], "--top: cumshare(q) is known"),
            ([BY, "--having=cumshare(q) < 0.8"], "--having: cumshare(q) is known when the order is"), ([BY, "--sort=sum(q"], "--sort: expected ')'"),
            ([BY, "--sort=nosuch"], "--sort: 'nosuch' is not one result: region, count"), ([BY, "--sort=count(),"], "--sort: '' is not one result"), ([BY, "--sort=-2"], "--sort: '2' is not one result"),
            ([BY, "--sort=price+1"], "--sort: 'price' is neither"), ([BY, "--cumsum=q", "--having=count() > 1"], "--having is for results: --cumsum prints records"),
            ([BY, "--having=count() > 1", "--where=q > 1", "--having=count() > 2"], "--having is given twice"), (["--agg=count()", "--cumsum=q"], "--agg"),
            (["--agg=count()", "--hist=q:1"], "--hist prints a table of its own"), (["--agg=x = nosuch(q)"], "--agg: no function of this name"),
            (["--where=share(q) > 1"], "no function of this name"), ([BY, "--agg="], "--agg: expected")):
        refuses("refused: " + " ".join(args), args, SALES, 2, *words)
    refuses("a text in a sum of results", [BY, "--agg=x = first(name) + 1"], SALES, 1, "column 'x': not a number: 'ann'")
    refuses("and in --having", [BY, "--having=first(name) + 1 > 2"], SALES, 1, "column 'first(name)': not a number: 'ann'")
    refuses("and in --sort, of the first group", [BY, "--sort=last(name) * 2"], SALES, 1, "not a number: 'fay'")
    answers("which --invalid skip leaves out", ["--invalid=skip", BY, "--agg=x = first(name) + 1", "--having=count() > 1"], SALES, "region,x\nn,\ns,\n")
    said = harness.run([BY, "--agg=r = count() / 2", "--having=r > 1", "--explain"], SALES).out
    ok(b"having r > 1" in said and b"prints:  r\n" in said, "--explain says it", lambda: said.decode())


check_names()
check_meanings()
check_exactness()
check_many()
check_parts()
check_distinct_values()
check_errors()
harness.done()
