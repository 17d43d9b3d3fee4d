# SPDX-License-Identifier: MIT
"""--runs: neighbours with the same values. The model numbers the runs in a column of its own, in Python, and asks for groups of that
number: --by is tested elsewhere. Sums and counts are compared with Python's as well."""
import itertools
import random

import harness
from harness import answers, is_, refuses, run

TABLE = b"st,v\nup,1\nup,2\ndown,3\nup,4\nup,5\n"
RESULTS = (["--sum=v"], ["--count-records", "--min=v", "--max=v"], ["--first=t", "--last=t"], ["--median=v", "--p90=v"], ["--mean=v", "--stddev=v"],
           ["--count-distinct=t", "--mode=t"], ["--corr=v:w"], ["--entropy=t"], ["--text-max=t"], ["--geomean=w"], ["--agg=x = sum(v) / count(*)"],
           ["--sum=v", "--having=sum(v) > 10"], ["--share=w"], ["--sum=v", "--sort=-sum(v)"], ["--sum=v", "--top=3"], ["--sum=v", "--where=w > 3"])
COLUMNS = (["--cumsum=v"], ["--running-max=v"], ["--running-mean=v"], ["--running-stddev=v"], ["--row-number"], ["--lag=t"], ["--lag=t:3"], ["--delta=v"],
           ["--rolling-sum=v:3"], ["--rolling-median=v:5"], ["--rolling-max=w:2"], ["--fill-down=t"], ["--ewma=w:0.5"], ["--offsets=w > 3"],
           ["--cumsum=v", "--exclusive"], ["--cumsum=v", "--where=w > 2"], ["--cumsum=v", "--lag=t", "--delta=w"], ["--cumsum=v", "--sort=-w"],
           ["--let=x = v * w", "--cumsum=x", "--row-number"], ["--cumsum=v", "--format=ndjson"])


def table(rng):
    """Records of few keys, in runs; some keys are long, quoted or missing."""
    keys = rng.sample((b"up", b"down", b"", b"a key of more than fifteen bytes", b"a key of more than fifteen bytEs", b'"q,x"', b"0123456",
                       b"1234567", b"12345678"), rng.choice((1, 2, 3, 6)))
    rows = []
    for _ in range(rng.choice((1, 3, 20, 80, 300))):
        key, other = rng.choice(keys), rng.choice((b"x", b"y"))
        for _ in range(rng.choice((1, 1, 2, 5, 70))):
            t = b"T%d" % rng.randrange(9) if rng.randrange(8) else b""
            v = b"%d.%d" % (rng.randrange(-99, 999), rng.randrange(9)) if rng.randrange(30) else b"%d" % 10 ** rng.randrange(17, 30)
            rows.append((key, other, t, v if rng.randrange(9) else b"", b"%d" % rng.randrange(1, 9)))
    return rows


def number_runs(rows, of, takes):
    """Prefixes each record that is taken with the number of its run."""
    number, last, out = 0, None, []
    for row in rows:
        if takes(row):
            number += of(row) != last
            last = of(row)
        out.append((b"%d" % number,) + row)
    return out


def write(names, rows):
    return b"\n".join([names, *(b",".join(row) for row in rows)]) + b"\n"


def without_number(text):
    return b"".join(line.partition(b",")[2] for line in text.splitlines(True))


def check_random(rng, nrounds):
    for _ in range(nrounds):
        rows = table(rng)
        keys = rng.choice(("k", "k", "k,o", "o", "key = k"))
        of = {"k": lambda r: r[0], "k,o": lambda r: r[:2], "o": lambda r: r[1], "key = k": lambda r: r[0]}[keys]
        asked, prints = rng.choice([(a, False) for a in RESULTS] + [(a, True) for a in COLUMNS])
        least = next((int(a[-1]) for a in asked if a.startswith("--where")), 0)
        data = write(b"k,o,t,v,w", rows)
        numbered = write(b"run,k,o,t,v,w", number_runs(rows, of, lambda r: int(r[4]) > least))
        if prints:
            want = run(["--header=yes", "--by=run", *asked], numbered).out
            got = run(["--header=yes", "--runs=" + keys, *asked], data, chunk=rng.choice((None, 1, 7, 64, 1000)), threads=rng.choice((1, 3))).out
            want = b"".join(b"{" + x.partition(b", ")[2] for x in want.splitlines(True)) if "--format=ndjson" in asked else without_number(want)
        else:
            want = without_number(run(["--header=yes", "--by=run," + keys, *asked, "--format=csv"], numbered).out)
            got = run(["--header=yes", "--runs=" + keys, *asked, "--format=csv"], data, chunk=rng.choice((None, 1, 7, 64, 1000)), threads=rng.choice((1, 3))).out
        is_(got, want, f"--runs={keys} {' '.join(asked)} of {len(rows)} records")
        sums = [(key, sum(1 for _ in of_key)) for key, of_key in itertools.groupby(rows, lambda r: r[1])]
        is_(run(["--header=yes", "--runs=o", "--count-records"], data).out,
            b"o,records\n" + b"".join(b"%s,%d\n" % pair for pair in sums), "records of each run")


def check_by_hand():
    answers("a line a run", ["--runs=st"], TABLE, "st,count\nup,2\ndown,1\nup,2\n")
    answers("a total starts again", ["--runs=st", "--cumsum=v"], TABLE,
            "st,v,running_sum(v)\nup,1,1\nup,2,3\ndown,3,3\nup,4,4\nup,5,9\n")
    answers("records left out are not there", ["--runs=st", "--where=st != \"down\"", "--sum=v"], TABLE, "st,sum(v)\nup,12\n")
    one, two = harness.fixture("one.csv", TABLE), harness.fixture("two.csv", TABLE)
    answers("a run goes on in the next file", ["--runs=st", "--sum=v", one, two], b"", "st,sum(v)\nup,3\ndown,3\nup,12\ndown,3\nup,9\n")
    answers("and its total, too", ["--runs=st", "--cumsum=v", "--only", one, two], b"", "running_sum(v)\n1\n3\n3\n4\n9\n10\n12\n3\n4\n9\n")


def check_refusals():
    for args, part in ((["--by=v"], "gpustat --sort KEYS FILE | gpustat --runs KEYS,st"), (["--partial"], "a run may go on where --partial ends"),
                       (["--save-state=s", "--sum=v"], "a run may go on where --save-state ends"), (["--lead=v"], "--lead looks at later records"),
                       (["--let=x = v / sum(v)"], "an aggregate"), (["--sort=-v", "--top=1"], "--runs"), (["--pivot=st"], "--pivot")):
        refuses(" ".join(args), ["--runs=st", *args], TABLE, 2, part)


check_by_hand()
check_refusals()
check_random(random.Random(1), 160)
harness.done()
