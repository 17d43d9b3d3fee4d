# SPDX-License-Identifier: MIT
"""Parts: --partial and --merge. Merged parts print what one run over all their inputs prints, byte for byte.

Random tables, split and merged in random trees: GPUSTAT_TEST_SEED sets the first, GPUSTAT_TEST_CASES how many. What one
run prints is compared with models elsewhere; here, some results come from Python's decimal. Parts are damaged, cut and
changed in every way that must be noticed. GNU parallel runs where it is installed.
"""
import bz2
import concurrent.futures
import decimal
import gzip
import json
import lzma
import os
import random
import re
import shutil
import subprocess
import types

import bgzf_blocks
import harness
import hostile_request
import part_cases
from harness import answers, fixture, is_, ok, refuses, run

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "1"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "500"))
LOG_A = b"status,host,bytes,rt\n200,a,10,1.5\n404,b,20,2.25\n"
LOG_B = b"status,host,bytes,rt\n200,a,30,0.125\n500,c,5,\n"


def part(name, args, data, **how):
    """Writes the part of one input -> its path."""
    r = run(args + ["--partial"], data, **how)
    if r.status or r.err:
        harness.bail(harness.describe(r, data))
    return fixture(name, r.out)


def lines_of(path):
    with open(path, "rb") as f:
        return f.read().split(b"\n")[:-2]


# ---- random trees ---------------------------------------------------------------------------

def check_random():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        wrong = [w for w in pool.map(part_cases.run_case, range(SEED, SEED + CASES)) if w]
    ok(not wrong, "%d tables in parts, merged in trees" % CASES, lambda: "%d wrong\n%s" % (len(wrong), wrong[0]))


def check_random_ranges():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        wrong = [w for w in pool.map(part_cases.run_ranges, range(SEED, SEED + CASES // 4)) if w]
    ok(not wrong, "%d files in ranges" % (CASES // 4), lambda: "%d wrong\n%s" % (len(wrong), wrong[0]))


def check_hostile():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        wrong = [w for w in pool.map(part_cases.run_hostile, range(SEED, SEED + CASES // 5)) if w]
    ok(not wrong, "%d parts, spoilt and sealed again" % (CASES // 5), lambda: "%d wrong\n%s" % (len(wrong), wrong[0]))


# ---- results --------------------------------------------------------------------------------

def check_results():
    args = ["--by", "status", "--sum", "bytes", "--mean", "rt"]
    a, b = part("a.part", args, LOG_A), part("b.part", args, LOG_B)
    want = "status,sum(bytes),mean(rt)\n200,40,0.8125\n404,20,2.25\n500,5,\n"
    answers("two machines", ["--merge", a, b], None, want)
    answers("their order is that of the command line", ["--merge", b, a], None,
            "status,sum(bytes),mean(rt)\n200,40,0.8125\n500,5,\n404,20,2.25\n")
    answers("the query may be said again", ["--merge"] + args + [a, b], None, want)
    answers("sorted, the first, as JSON", ["--merge", "--sort", "-sum", "--top", "1", "--format", "ndjson", a, b], None,
            '{"status": "200", "sum(bytes)": 40, "mean(rt)": 0.8125}\n')
    both = open(a, "rb").read() + open(b, "rb").read()
    answers("parts one behind the other", ["--merge"], both, want)
    answers("standard input by name", ["--merge", "-"], both, want)
    for names in ([], ["-N"]):
        twice = names + ["--by", "upper(1),2,upper(1)", "--let", "y = 4 + 0", "--count", "y"]
        answers("two keys of one name", ["--merge", part("two.part", twice, LOG_A)], None, run(twice, LOG_A).out.decode())
    tree = fixture("ab.part", run(["--merge", "--partial", a, b]).out)
    answers("a merged part is a part", ["--merge", tree], None, want)
    answers("an input twice counts twice", ["--merge", tree, a], None,
            "status,sum(bytes),mean(rt)\n200,50,1.0416666666666667\n404,40,2.25\n500,5,\n")
    for name, data in (("each line is JSON", open(tree, "rb").read()), ("and so for one input", open(a, "rb").read())):
        ok(all(isinstance(json.loads(line), dict) for line in data.decode().splitlines()), name)


def check_sums():
    """Exact decimals through several merges, with Python's decimal as oracle."""
    rng = random.Random(3)
    values = [decimal.Decimal(rng.randrange(-10 ** 30, 10 ** 30)).scaleb(-rng.randrange(40)) for _ in range(300)]
    parts = [part("s%d.part" % i, ["--sum=x", "--min=x", "--max=x", "--median=x"],
                  b"x\n" + b"".join(b"%s\n" % format(v, "f").encode() for v in values[i::3])) for i in range(3)]
    out = run(["--merge"] + parts).out.decode().split("\n")[1].split(",")
    with decimal.localcontext() as c:
        c.prec = 200
        ordered = sorted(values)
        want = [sum(values), min(values), max(values), (ordered[149] + ordered[150]) / 2]
    is_([decimal.Decimal(x) for x in out], want, "sums, extremes and a median of 30 digits")


def check_order():
    args = ["--first=x", "--last=x", "--mode=x", "--antimode=x", "--count-distinct=x"]
    a, b = part("o1.part", args, b"x\n\nb\na\n"), part("o2.part", args, b"x\na\nb\nc\n\n")
    head = "first(x),last(x),mode(x),antimode(x),count_distinct(x)\n"
    answers("first, last, and the mode of several", ["--merge", a, b], None, head + "b,c,b,c,3\n")
    answers("... in the other order", ["--merge", b, a], None, head + "a,a,a,c,3\n")


def check_stars():
    """Whether a column of '*' holds numbers is known only when all parts are there."""
    args = ["--sum=*"]
    numbers, texts = part("n.part", args, b"a,b\n1,2\n"), part("t.part", args, b"a,b\n3,x\n")
    answers("a column that begins with a text is text", ["--merge", texts, numbers], None, "4\n")
    refuses("one that begins with a number is not", ["--merge", numbers, texts], None, 1,
            "<stdin>:2: column 'b': not a number: 'x'")
    both = part("nt.part", args, b"a,b\n1,2\n3,x\n")
    refuses("... in one part", ["--merge", both], None, 1, "<stdin>:3: column 'b': not a number: 'x'")
    answers("... unless it is text from an earlier part on", ["--merge", texts, both], None, "7\n")


def check_left_out():
    args = ["--sum=n", "--invalid=skip", "--max-invalid=50%"]
    a, b = part("l1.part", args, b"n\nx\n"), part("l2.part", args, b"n\n1\n2\n\n5,6\n")
    r = run(["--merge", a, b])
    is_((r.status, r.out), (0, b"3\n"), "what is left out is judged by the whole")
    is_(r.err.decode(), "gpustat: warning: 1 value of column 'n' left out: <stdin>:2: not a number: 'x'\n"
        "gpustat: warning: 1 record left out: <stdin>:5: 2 fields where the header has 1: "
        "a delimiter in a value that is not quoted? See --ragged\n", "... and said by the merge")
    refuses("... which may be too much", ["--merge", a], None, 1, "<stdin>:2: column 'n': not a number: 'x'")


AGAIN = "this record is the header again (try naming the files instead of joining them)"


def check_joined():
    """Records that are the header again, of files that were joined, which --invalid skip leaves out."""
    one = fixture("j1.csv", b"name,amount\na,1\nname,amount\nb,2\nc,3\nname,amount\nd,4\n")
    other = fixture("j2.csv", b'amount,"name"\n5,e\namount,"name"\n6,f\n')
    left = "gpustat: warning: %d record%s left out%s" + one + ":3: " + AGAIN + "\n"
    for args, out in ((["--sum=amount"], "21\n"), (["--count-records"], "6\n"), (["--count=name"], "6\n"), (["--by=name", "--top=1", "--sum=amount"], "name,sum(amount)\nf,6\n"),
                      (["--sum=*"], "21\n"), (["--first=name"], "a\n"), (["--where=name != 'b'", "--sum=amount"], "19\n"), (["--cov=amount:amount"], "3.5\n")):
        args = args + ["--invalid=skip", "--header=yes"]
        printing = [a for a in args if a.startswith("--top")]
        args = [a for a in args if a not in printing]
        whole = run(args + printing + [one, other])
        is_((whole.status, whole.out.decode(), whole.err.decode()), (0, out, left % (3, "s", "; the first: ")), "joined: " + " ".join(args))
        first = part("j1.part", args + [one], None)
        is_(run(["--merge"] + printing + [first, part("j2.part", args + [other], None)]).err, whole.err, "... said by the merge of two parts")
        is_(run(["--merge"] + printing + [fixture("j.part.gz", gzip.compress(open(first, "rb").read())), part("j2.part", args + [other], None)]).out, whole.out,
            "... of which one is compressed")
        for n in range(2, 9):
            case = types.SimpleNamespace(args=args, rng=random.Random(n), seed=0)
            parts = part_cases.make_ranges(case, one, n)
            case.seed = 1
            r = run(["--merge"] + printing + parts + part_cases.make_ranges(case, other, n))
            is_((r.status, r.out, r.err), (0, whole.out, whole.err), "... of %d parts of each" % n)
    again = ["--sum=amount", "--invalid=skip", "--max-invalid=1"]
    refuses("the headers are counted for --max-invalid", ["--merge", part("j1.part", again + [one], None)], None, 1, one + ":3: " + AGAIN +
            "; --invalid skip leaves out 2 of 6 records, more than --max-invalid 1\n")
    state = os.path.join(harness.folder(), "joined.state")
    a = run(["--sum=amount", "--invalid=skip", "--save-state", state, one])
    is_((a.status, a.out.decode(), a.err.decode()), (0, "10\n", left % (2, "s", "; the first: ")), "a state of a joined file")
    is_(run(["--sum=amount", "--invalid=skip", "--from-state", state], b"name,amount\nx,1\n").err, a.err, "... the run that goes on says so")
    b = run(["--sum=amount", "--invalid=skip", "--from-state", state, other])
    is_((b.status, b.out.decode(), b.err.decode()), (0, "21\n", left % (3, "s", "; the first: ")), "... and adds those of its own")
    refuses("... and counts them for --max-invalid", ["--sum=amount", "--invalid=skip", "--max-invalid=2", "--from-state",
            part_state(["--sum=amount", "--invalid=skip", "--max-invalid=2"], open(one, "rb").read()), other], None, 1,
            "<stdin>:3: " + AGAIN + "; --invalid skip leaves out 3 of 9 records, more than --max-invalid 2\n")
    both = run(["--sum=amount", "--invalid=skip"], b"name,amount\na\nname,amount\nb,2\n")
    is_((both.status, both.out.decode(), both.err.decode()), (0, "2\n", "gpustat: warning: 1 record left out: <stdin>:2: 1 field where the header "
        "has 2: see --ragged\ngpustat: warning: 1 record left out: <stdin>:3: " + AGAIN + "\n"), "a ragged record and the header again: each has its warning")


def check_headers():
    args = ["--sum=b", "--cov=a:b"]
    a, b = part("h1.part", args, b"a,b\n1,2\n3,5\n"), part("h2.part", args, b"b,c,a\n10,0,4\n")
    answers("columns in another order", ["--merge", a, b], None, "sum(b),cov(a:b)\n17,5.8333333333333333\n")
    plain = ["--sum=2", "--header=no"]
    answers("no header: by place", ["--merge", part("p1.part", plain, b"1,2\n"), part("p2.part", plain, b"3,4\n")], None, "6\n")
    named = ["--let=col1 = :1 * 2", "--let=z = col1 + 1", "--sum=col1", "--by=z", "--first=:1", "--header=no"]
    a1, a2 = part("c1.part", named, b"1,2\n"), part("c2.part", named, b"3,4\n1,9\n")
    answers("computed columns without a header: by name", ["--merge", a1, a2], None, "z,sum(col1),first(col1)\n3,4,1\n7,6,3\n")
    star = ["--sum=*", "--header=yes"]
    refuses("a column is not there", ["--merge", part("h3.part", star, b"a,b\n1,2\n"), part("h4.part", star, b"a\n3\n")], None, 1,
            "h4.part:1: column 'b': in the first file's header, but not in this one")
    refuses("a part of no byte has no column of a name", ["--sum=b", "--partial"], b"", 1, "<stdin>: the input is empty, and has no column 'b'")
    empty = part("e.part", ["--sum=b", "--cov=a:b"], b"\n")
    answers("an empty input", ["--merge", empty, a, empty, b, empty], None, "sum(b),cov(a:b)\n17,5.8333333333333333\n")
    answers("only empty ones", ["--merge", empty, empty], None, "sum(b),cov(a:b)\n0,\n")


# ---- parts of one file ----------------------------------------------------------------------

def check_compressed():
    args = ["--by=status", "--sum=bytes", "--median=rt"]
    a, b = part("z1.part", args, LOG_A), part("z2.part", args, LOG_B)
    want = run(["--merge", a, b]).out
    plain = [open(p, "rb").read() for p in (a, b)]
    libraries = run(["--version"]).out.decode()
    for name, library, pack in (("gzip", "zlib", gzip.compress), ("bgzip", "zlib", lambda data: bgzf_blocks.pack(data, 50)),
                                ("bzip2", "libbz2", bz2.compress), ("xz", "liblzma", lzma.compress)):
        packed = pack(plain[0])
        if re.search("(?m)^%s .*not built in$" % library, libraries):
            continue
        for chunk in (None, 1, 100):
            answers("a part of %s" % name, ["--merge", fixture("z1." + name, packed), b], None, want, chunk=chunk)
        answers("... and two, from a pipe", ["--merge"], packed + pack(plain[1]), want)
        refuses("a truncated one", ["--merge"], packed[:-9], 1, "gpustat: <stdin>: truncated ")
    refuses("what is no part", ["--merge"], gzip.compress(LOG_A), 1, "<stdin>:1: not a part: --merge takes what --partial writes")
    state, packed = os.path.join(harness.folder(), "z.state"), os.path.join(harness.folder(), "z.state.gz")
    run(["--sum=bytes", "--save-state", state], LOG_A)
    with open(state, "rb") as f, open(packed, "wb") as to:
        to.write(gzip.compress(f.read()))
    is_(run(["--sum=bytes", "--from-state", packed], LOG_B).out, run(["--sum=bytes", "--from-state", state], LOG_B).out, "a compressed state")
    for n in range(4):
        refuses("%d bytes of a magic number" % n, ["--merge"], b"\x1f\x8b\x08"[:n], 1, "<stdin>")


def check_ranges():
    text = b"k,x\n" + b"".join(b'%s,"%d\n"\n' % (b"ab"[i % 2:i % 2 + 1], i) for i in range(40))
    path = fixture("range.csv", text)
    args = ["--by=k", "--count=x", "--first=x", "--last=x"]
    want = run(args + [path]).out
    parts = []
    for k in range(1, 6):
        r = run(args + ["--partial", "--part", "%d/5" % k, path])
        if r.status == 0:
            made = fixture("range%d.part" % k, r.out)
            told = run(["--merge", "--partial"] + parts + [made])
            if told.status:
                ok(b"part %d/5 of %s begins inside a quoted field: write it again with --part %d/5,quoted" %
                   (k, path.encode(), k) in told.err, "a border in quotes is told", told.err.decode())
        if r.status or told.status:
            made = fixture("range%d.part" % k, run(args + ["--partial", "--part", "%d/5,quoted" % k, path]).out)
        parts.append(made)
    is_(run(["--merge"] + parts).out, want, "five parts of one file")
    middle = fixture("middle.part", run(["--merge", "--partial"] + parts[1:4]).out)
    is_(run(["--merge", parts[0], middle, parts[4]]).out, want, "... in a tree")
    for name, some, words in (("the first", parts[1:], "part 1/5 of"), ("one between", parts[:2] + parts[3:], "part 3/5 of"),
                              ("the last", parts[:4], "part 5/5 of"), ("all but the middle", [middle], "part 1/5 of")):
        refuses(name + " is missing", ["--merge"] + some, None, 1, words, "is missing")
    refuses("another number of parts", ["--merge", parts[0], part_of(args, "2/4", path)], None, 1, "part 2/4 behind part 1/5")
    changed = fixture("range.csv", text + b"a,1\n")
    refuses("the file has grown", ["--merge", parts[0], part_of(args, "2/5", changed)], None, 1, "write its parts again")
    refuses("compressed", args + ["--partial", "--part=1/2", fixture("r.csv.gz", gzip.compress(text))], None, 1, "not a plain file")
    for name, packed in (("what is no block behind some", bgzf_blocks.pack(text, 50) + gzip.compress(b"a,1\n")),
                         ("a truncated block", bgzf_blocks.pack(text, 50)[:-30])):
        refuses(name, args + ["--partial", "--part=1/2", fixture("r.csv.gz", packed)], None, 1, "not a plain file")
    refuses("a pipe", args + ["--partial", "--part=1/2"], text, 1, "not a plain file")
    refuses("a place in the whole file", ["--sum=x", "--partial", "--part=2/2", fixture("bad.csv", b"x\n1\n2\n3\n4\n5\nz\n")], None,
            1, "bad.csv:7: column 'x': not a number: 'z' (try --part 2/2,quoted")
    for argument in ("0/3", "4/3", "1", "1/2,quoted", "2/2,x", "a/b", "-1/2"):
        refuses("--part " + argument, ["--partial", "--part=" + argument, path], None, 2, "--part")
    refuses("--part without --partial", ["--part=1/2", path], None, 2, "--partial")
    refuses("--part of two files", ["--partial", "--part=1/2", path, path], None, 2, "one file")
    turned = fixture("turned.csv", b'x,k\n3,b\n5,"q\nrrrrrrr\nsssss\nttttttttttttt"')
    sums = ["--by=k", "--sum=x"]
    answers("a record that the file's end completes, its columns in another order", ["--merge", part("straight.part", sums, b"k,x\na,1\n"),
            part_of(sums, "1/2", turned), part_of(sums, "2/2,quoted", turned)], None,
            'k,sum(x)\na,1\nb,3\n"q\nrrrrrrr\nsssss\nttttttttttttt",5\n')
    texts = fixture("texts.csv", b'k,h\n,b\n\x01,"two\nlines"\n5,"two\nmore"\n')
    case = types.SimpleNamespace(args=["--all", "--header=yes"], rng=random.Random(1), seed=0)
    for n in range(2, 9):
        is_(run(["--merge"] + part_cases.make_ranges(case, texts, n)).out, run(case.args + [texts]).out,
            "text in the record between two of %d parts" % n)
    bad = fixture("worse.csv", b'k,x\n"a\nb",1\n"a\nb",bad\ne,2\nf,worse\ng,3\nh,4\n')
    case = types.SimpleNamespace(args=["--sum=*", "--invalid=skip", "--header=yes"], rng=random.Random(2), seed=0)
    for n in range(2, 9):
        is_(run(["--merge"] + part_cases.make_ranges(case, bad, n)).err, run(case.args + [bad]).err,
            "the first value left out, in the record between two of %d parts" % n)
    big = fixture("big.csv", b"k,x\n" + b"".join(b"%02d,%06d\n" % (i % 97, i) for i in range(200000)))
    parts = [part_of(["--by=k", "--sum=x", "--median=x"], "%d/7" % k, big) for k in range(1, 8)]
    is_(run(["--merge"] + parts).out, run(["--by=k", "--sum=x", "--median=x", big]).out, "200000 records in seven parts")
    sizes = [json.loads(open(p, "rb").readline())["records"] for p in parts]
    ok(max(sizes) < 1.1 * min(sizes), "... of about the same length", sizes)
    packed = fixture("big.csv.gz", bgzf_blocks.pack(open(big, "rb").read(), 7000))
    parts = [part_of(["--by=k", "--sum=x", "--median=x"], "%d/7" % k, packed) for k in range(1, 8)]
    is_(run(["--merge"] + parts).out, run(["--by=k", "--sum=x", "--median=x", big]).out, "... of a BGZF file")
    sizes = [json.loads(open(p, "rb").readline())["records"] for p in parts]
    ok(max(sizes) < 1.1 * min(sizes), "... of about the same length", sizes)
    refuses("a place in the whole of it", ["--sum=x", "--partial", "--part=2/2",
                                           fixture("bad.csv.gz", bgzf_blocks.pack(b"x\n1\n2\n3\n4\n5\nz\n", 2))], None,
            1, "bad.csv.gz:7: column 'x': not a number: 'z' (try --part 2/2,quoted")


def part_of(args, number, path):
    r = run(args + ["--partial", "--part", number, path])
    if r.status:
        harness.bail(harness.describe(r))
    return fixture("%s-%s.part" % (os.path.basename(path), number.replace("/", "-")), r.out)


# ---- a run that goes on where another ended -------------------------------------------------

RUNNING = (["--cumsum=x", "--running-mean=x"], ["--cumsum=x,y", "--by=k"], ["--running-var=x", "--running-max=y", "--row-number"],
           ["--running-stddev=y", "--running-count=x", "--running-min=x", "--exclusive", "--only"],
           ["--row-number", "--running-mean=y", "--by=k,h", "--where", "x > 0"], ["--cumsum=w"],
           ["--cumsum=x", "--invalid=skip", "--by=h"], ["--delta=x", "--ratio=y"], ["--delta=w,x", "--ratio=x", "--by=k"],
           ["--delta=x", "--invalid=skip", "--only", "--where", "y > 0"], ["--let=z = x * y", "--cumsum=z", "--delta=z"],
           ["--let=u = upper(k)", "--let=z = coalesce(x, 0) - 1.5", "--running-mean=z", "--by=u"],
           ["--select=t", "--cumsum=x", "--select=k"], ["--drop=y", "--cumsum=x", "--row-number"],
           ["--select=k,x", "--ratio=x", "--rename=k=key"], ["--lag=t:3", "--fill-down=k", "--rolling-sum=x:7", "--rolling-min=w:2"],
           ["--rolling-mean=x,y:1000", "--rolling-max=x:5", "--ewma=x:0.3", "--by=k"], ["--ewma=x,w:0.25", "--lag=w", "--invalid=skip"],
           ["--lag=t,k:1", "--fill-down=t", "--rolling-min=y:3", "--where", "x > 0", "--by=k,h"])
RESULTS = (["--sum=x", "--mean=y"], ["--by=k", "--sum=x", "--last=y", "--median=x"], ["--first=t", "--last=t", "--mode=t", "--iqr=w"],
           ["--let=z = x / y", "--let=u = if(x > 0, k, h)", "--by=u", "--median=z", "--last=z", "--where", "z != 1"],
           ["--cov=x:y", "--stddev=w"], [], ["--all"], ["--by=h", "--count-distinct=t", "--top", "3", "--sort=-count_distinct(t)"])


def check_state():
    rng = random.Random(11)
    for args in RUNNING + RESULTS:
        emits = args in RUNNING
        rows = [b",".join(part_cases.field(rng, n, "--invalid=skip" not in args) for n in part_cases.COLUMNS[:-1]) for _ in range(60)]
        head = ",".join(part_cases.COLUMNS[:-1]).encode() + b"\n"
        args = args + ["--header=yes", "--missing=NA"]
        cuts = [0] + sorted(rng.sample(range(61), 3)) + [60]
        out, state, wrong = b"", os.path.join(harness.folder(), "run.state"), ""
        for i, (a, b) in enumerate(zip(cuts, cuts[1:])):
            how = (["--from-state", state] if i else []) + ["--save-state", state]
            r = run(args + how, head + b"".join(row + b"\n" for row in rows[a:b]), **part_cases.ways(rng))
            wrong = wrong or (harness.describe(r) if r.status else "")
            out = out + r.out[r.out.index(b"\n") + 1 if i else 0:] if emits else r.out
        want = run(args, head + b"".join(row + b"\n" for row in rows))
        ok(not wrong and out == want.out, "four runs are one: " + " ".join(args),
           lambda: "%s\ngot: %s\nwanted: %s" % (wrong, out.decode("utf-8", "replace"), want.out.decode("utf-8", "replace")))


def check_state_faults():
    state = os.path.join(harness.folder(), "kept.state")
    run(["--sum=n", "--save-state", state], b"n\n1\n2\n")
    kept = open(state, "rb").read()
    refuses("a run that fails", ["--sum=n", "--from-state", state, "--save-state", state], b"n\nx\n", 1, "not a number")
    is_(open(state, "rb").read(), kept, "... leaves the state")
    refuses("a state of another query", ["--mean=n", "--from-state", state], b"n\n3\n", 1, "state of another query: --sum=n")
    first, all_inputs = " (try the first run without --from-state)", " (try a run over all inputs without --from-state)"
    csv, empty = fixture("log.csv", LOG_A), fixture("empty.state", b"")
    one, other = fixture("half.csv", b"n\n1\n22222\n"), part("whole.part", ["--sum=n"], b"n\n1\n")
    halves = [part_of(["--sum=n"], "%d/2" % k, one) for k in (1, 2)]
    order = " (try --merge --partial of all parts, which writes what is a state, too)"
    for name, data, words in (
            ("a truncated state", kept[:-9], "{}:4: truncated state" + all_inputs), ("a damaged state", kept.replace(b'"count"', b'"cuont"'), "{}:3: damaged state" + all_inputs),
            ("a state of a future format", kept.replace(b'part":', b'part":9'), "{}:1: state in the format of another gpustat: %s (try that version, or a run over all "
             "inputs without --from-state)" % json.loads(kept.split(b"\n")[0])["version"]),
            ("a CSV for a state", csv, "{}:1: not a state: --from-state takes what --save-state writes" + first),
            ("an empty file for a state", empty, "{}: the file is empty, and no state" + first),
            ("nothing, compressed, for a state", gzip.compress(b""), "{}: the file is empty, and no state" + first),
            ("a part of another query for a state", part("mean.part", ["--mean=n"], b"n\n1\n"), "{}:1: state of another query: --mean=n (try the options of the run that "
             "saved it, or another file)"),
            ("the first part of a file for a state", halves[0], "{}: part 2/2 of %s is missing behind these%s" % (one, order)),
            ("the second part of a file for a state", halves[1], "{}:1: part 1/2 of %s is missing before this%s" % (one, order))):
        path = data if isinstance(data, str) else fixture("bad.state", data)
        r = run(["--sum=n", "--from-state", path], b"n\n3\n")
        is_((r.status, r.out, r.err.decode()), (1, b"", "gpustat: " + words.replace("{}", path) + "\n"), name)
    answers("a part of the same query is a state", ["--sum=n", "--from-state", other], b"n\n3\n", "4\n")
    answers("... and so are all parts of a file, merged", ["--sum=n", "--from-state", fixture("halves.state", run(["--merge", "--partial"] + halves).out)], b"n\n3\n", "22226\n")
    running = os.path.join(harness.folder(), "running.state")
    run(["--cumsum=n", "--save-state", running], b"n\n1\n2\n")
    for args in (["--merge", running], ["--merge", "--partial", running], ["--merge", "--cumsum=n", running]):
        r = run(args)
        is_((r.status, r.out, r.err.decode()), (1, b"", "gpustat: %s:1: a state of new columns, which --merge cannot take: --cumsum=n (try --from-state, to print "
            "the records that follow)\n" % running), "a state of running totals: " + " ".join(args[:-1]))
    refuses("no state", ["--sum=n", "--from-state", state + ".no"], b"n\n3\n", 1, "cannot open")
    refuses("another column", ["--sum=1", "--from-state", part_state(["--sum=1"], b"n\n1\n")], b"m\n3\n", 1, "column 'm'")
    r = run(["--sum=n", "--save-state", "/nonexistent/s"], b"n\n3\n")
    ok(r.status == 1 and b"/nonexistent/s: cannot open" in r.err, "a state that cannot be saved", harness.describe(r))
    for args, words in ((["--sum=*"], "name the columns"), (["--partial", "--sum=n"], "--partial"), (["--byte-offset"], "--byte-offset"),
                        (["--where", "n > 0"], "no running total"), (["--select=n"], "no running total"), (["--head=1", "--cumsum=n"], "--head"), (["--sum=n", "--explain"], "--explain")):
        refuses("--save-state with " + args[0], args + ["--save-state", state + "2"], b"n\n3\n", 2, words)
    a = run(["--sum=n", "--invalid=skip", "--save-state", state], b"n\n1\nx\n", cwd=harness.folder())
    b = run(["--sum=n", "--invalid=skip", "--from-state", state], b"n\ny\n2\n", cwd=harness.folder())
    is_((a.status, b.out, b.err.decode()), (0, b"3\n", "gpustat: warning: 2 values of column 'n' left out; the first: "
        "<stdin>:3: not a number: 'x'\n"), "what was left out counts on")


def part_state(args, data):
    path = os.path.join(harness.folder(), "other.state")
    run(args + ["--save-state", path], data)
    return path


# ---- what is refused ------------------------------------------------------------------------

def check_damage():
    path = part("d.part", ["--by=status", "--sum=bytes", "--median=rt", "--mode=host"], LOG_A)
    data = open(path, "rb").read()
    lines = lines_of(path)
    answers("a part as it is", ["--merge", path], None,
            "status,sum(bytes),median(rt),mode(host)\n200,10,1.5,a\n404,20,2.25,b\n")
    cut = [run(["--merge"], data[:n]) for n in range(len(data))]
    ok(all(r.status == 1 and not r.out for r in cut), "cut at every byte",
       lambda: harness.describe(next(r for r in cut if r.status != 1 or r.out)))
    flipped = [run(["--merge"], data[:i] + bytes([data[i] ^ 1]) + data[i + 1:]) for i in range(0, len(data), 3)]
    ok(all(r.status in (1, 2) and not r.out for r in flipped), "a bit that flipped",
       lambda: harness.describe(next(r for r in flipped if r.status not in (1, 2) or r.out)))
    refuses("a line is gone", ["--merge"], b"\n".join(lines[:2] + lines[3:]) + data[data.rindex(b"\n{"):], 1, "damaged part")
    refuses("a truncated part", ["--merge"], data[:-60], 1, "<stdin>", "truncated part")
    empty = fixture("empty.part", b"")
    for args in ([empty], [path, empty]):
        r = run(["--merge"] + args)
        is_((r.status, r.out, r.err.decode()), (1, b"", "gpustat: %s: the file is empty: did the command that writes this part fail?\n" % empty), "an empty file")
    refuses("no part", ["--merge", fixture("log.csv", LOG_A)], None, 1, "log.csv:1: not a part")
    refuses("no file", ["--merge", "/nonexistent.part"], None, 1, "cannot open")
    begin = b'{"gpustat_part":%d,"version":"'
    number = int(lines[0].split(b",")[0].split(b":")[1])
    for name, other, version in (("a future format", number + 1, b"9."), ("the format before", number - 1, b"0.1.")):
        head = lines[0].replace(begin % number, begin % other + version)
        refuses(name, ["--merge"], part_cases.sealed([head] + lines[1:]), 1,
                "part in the format of another gpustat: " + version.decode(), "write the part again")
    for name, old, new in (("a scale that is none", b'"numbers":[0', b'"numbers":[7777'), ("a number that is none", b'"10"', b'"1x"'),
                           ("a sum beyond its numbers", b'"10"', b'"1e402"'), ("two columns less", b"{},{", b"{"),
                           ("a group without records", b'"records":1,', b'"records":0,')):
        broken = part_cases.sealed([line.replace(old, new) if line.startswith(b'{"group"') else line for line in lines])
        ok(old in data, name + ": the part has it")
        refuses(name + ", with a fitting checksum", ["--merge"], broken, 1, "damaged part")


def check_forged():
    """Parts of lines that do not fit each other, with checksums that do: what is kept is not where it is said to be."""
    table = b"x,t\n" + b"".join(b"%d,a\n" % i for i in range(0, 900, 3)) + b"bad,\n"
    for name, ask, old, new, words in (
            ("fewer numbers than there are", ["--median=x"], b'"count":300', b'"count":3', "damaged part"),
            ("more numbers", ["--median=x"], b'"count":300', b'"count":301', "damaged part"),
            ("a number above the greatest", ["--median=x"], b"897", b"500", "damaged part"),
            ("a number below the least", ["--median=x"], b'"values":[[0,"0 3 6', b'"values":[[0,"-9 3 6', "damaged part"),
            ("the least above the greatest", ["--p90=x"], b'"0","897"', b'"897","0"', "damaged part"),
            ("a bar that is not there", ["--hist=x:100"], b'"0","897"', b'"0","97"', "damaged part"),
            ("a bar below the first", ["--hist=x:100"], b'"0","897"', b'"700","897"', "damaged part"),
            ("logarithms of less than 1", ["--geomean=x", "--where=x > 0"], b'"logs":["', b'"logs":["-', "damaged part"),
            ("logarithms of more numbers", ["--geomean=x", "--where=x > 0"], b'"logs":["', b'"logs":["9999999', "damaged part"),
            ("exponents of more numbers", ["--geomean=x", "--where=x > 0"], b'","0"]', b'","134551"]', "damaged part"),
            ("reciprocals that are negative", ["--harmonic-mean=x", "--where=x > 0"], b'"reciprocals":["', b'"reciprocals":["-', "damaged part"),
            ("numbers that do not fit, more than there can be", ["--sum=x,t"], b'"count":300', b'"count":18446744073709551615', "damaged part"),
            ("a sum beyond its numbers", ["--sum=x"], b'[0,"134550"', b'[0,"1e404"', "damaged part"),
            ("more numbers than there can be", ["--sum=x"], b'"count":300', b'"count":18446744073709551615', "damaged part"),
            ("a group that begins beyond all files", ["--by=t", "--sum=x"], b'"first":4', b'"first":18446744073709551615', "damaged part"),
            ("a group that begins beyond the last file", ["--by=t", "--sum=x"], b'"first":4', b'"first":9223372036854775808', "damaged part"),
            ("a value that comes first beyond all files", ["--mode=t"], b'["a",300,6]', b'["a",300,18446744073709551615]', "damaged part"),
            ("a note of an input that is not there", ["--sum=x"], b'"input":0', b'"input":31', "damaged part"),
            ("no input", ["--sum=x"], b'"inputs":["<stdin>"]', b'"inputs":[]', "damaged part")):
        lines = lines_of(part("forged.part", ["--invalid=skip"] + ask, table))
        forged = [line.replace(old, new, 1) for line in lines]
        ok(forged != lines, name + ": the part has it", lines)
        refuses(name, ["--merge"], part_cases.sealed(forged), 1, words)


# ---- the bytes of a part ----------------------------------------------------------------------

# The argument of an operation, by what --help calls it; of texts, and of two with rules of their own.
ARGUMENTS = {"COLS": "a,d", "PAIRS": "a:p,d:p,p:m", "COLS[:N]": "a,t:3", "COLS:N": "a,d:3", "COLS:A": "a,d:0.3", "COLS:F": "a,d:0.1", "[-]COLS": "a", "[-]COLS:N": "a:4",
             "EXPR": "p > 2", "COL:WIDTH": "d:1e17", "[NAME=]EXPR": "r = sum(a) / mean(d)", "": None}
ITS_OWN = {"let": ["--let=z = a * p", "--sum=z", "--cov=z:p"], "hist": ["--hist=p:0.5"], "select": ["--select=a,k", "--row-number"],
           "drop": ["--drop=a,k", "--row-number"], "share": ["--share=a,d", "--by=m"], "cumshare": ["--cumshare=a", "--by=m"]}
BESIDE = ([], ["--by=k"], ["--by=t,s", "--where=p > 2", "--having=count() > 1"])
NOT_KEPT = ("rank", "rank-dense", "percent-rank", "ntile", "lead", "offsets", "byte-offset")   # neither --partial nor --save-state goes with these
WAYS = [dict(chunk=chunk, threads=threads, piped=piped) for chunk, threads, piped in
        ((None, 1, False), (1, 3, True), (7, 2, False), (64, 8, False), (64, 3, True), (1000, 2, True))]


def asked_of(name):
    if name in ITS_OWN:
        return ITS_OWN[name]
    option = hostile_request.OPTIONS[name]
    argument = "t,k" if option.kind == "TEXT" else ARGUMENTS[option.argument]
    return ["--" + name.replace("pNN", "p90") + ("=" + argument if argument else "")]


def rows_of_all_kinds(rng, n):
    """Numbers of many scales, which do not fit at one together, quoted values, dates, texts among numbers, missing ones."""
    a = [b"1", b"-2.5", b"2.50", b"0.0", b"0", b"-0", b"1e3", b"1.5e-3", b"123456.789", b"+4", b'"3.5"', b" 2", b"", b"NA", b"1e30", b"-1e-40",
         b"123456789012345678901234567890.5", b"0.000000000000000000000000000123", b"999999999999999999", b"-10.0000000000000000000000000000"]
    d = [b"5", b"7", b"0.25", b"", b"NA", b"12.125", b"100000000000000000", b"1e-31", b"-1e17"]
    t = [b"pear", b"2026-01-02", b"2026-01-02T03:04:05", b'"a ""b"""', b"zebra" * 9, b"7up", b""]
    columns = (a, d, (b"1", b"2.5", b"7.25", b"3.00", b"1e-5"), (b"a", b"b", b"", b'"x,y"', b"\xff"), t, (b"1", b"2", b"x"), (b"1", b"2.5", b"x"))
    rows = [b",".join(rng.choice(values) for values in columns) for _ in range(n)]
    return b"a,d,p,k,t,s,m\n" + b"\n".join(rows) + b"\n"


def kept_in_ways(job):
    """Runs an operation in all ways -> what is wrong, or None; whether it is not for parts."""
    number, args, tail, data, path = job
    args, state = ["-H", "--missing=NA", "--invalid=skip"] + args, os.path.join(harness.folder(), "same%d.state" % number)
    kept, first = set(), None
    for way in WAYS:
        how = {"chunk": way["chunk"], "threads": way["threads"]}
        r = run(args + ([tail + "=" + state] if tail == "--save-state" else [tail]) + ["-" if way["piped"] else path], data if way["piped"] else None, **how)
        if r.status:
            return r.err.decode() if r.status == 1 else None, r.status == 2
        out = r.out
        if tail == "--save-state":
            with open(state, "rb") as f:
                out = f.read()
            os.unlink(state)
        elif first is None:
            first = run(["--merge"], out)
            if first[:2] != run(args + [path])[:2]:
                return harness.describe(first), False
        kept.add(re.sub(rb'"crc32":[0-9]+', b"", out.replace(os.fsencode(path), b"<stdin>")))
    return "\n".join(repr(k) for k in sorted(kept)) if len(kept) > 1 else None, False


def check_same():
    """The bytes of a part, and of a state, depend on the input alone, for each operation and the summary."""
    rng = random.Random(12)
    data = rows_of_all_kinds(rng, 120)
    path = fixture("same.csv", data)
    asked = {name: asked_of(name) for name in hostile_request.OPERATIONS}
    asked.update({"the summary": [], "some together": ["--median=a,d", "--sum=*", "--last=t", "--count-distinct=a,t"]})
    for name, args in asked.items():
        jobs = [(tail, beside) for tail in ("--partial", "--save-state") for beside in (BESIDE[:1] if "--by=m" in args else BESIDE)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            said = list(pool.map(kept_in_ways, [(i, args + beside, tail, data, path) for i, (tail, beside) in enumerate(jobs)]))
        wrong = [w for w, _ in said if w]
        ok(not wrong and all(refused for _, refused in said) == (name in NOT_KEPT), "a part depends neither on chunks nor on threads nor on pipes: " + (" ".join(args) or name),
           lambda wrong=wrong: wrong[0][:3000] if wrong else "refused always, or no more")


def check_broken_lines():
    """Where a long line is broken does not depend on the lines before it, such as the one with the input's name."""
    data = b"t,u\n" + b"".join(b"a text that is different in each record %d,x%d\n" % (i, i % 5000) for i in range(9000))
    bodies = [run(["--count-distinct=t,u", "--partial", fixture(name, data)]).out.split(b"\n", 1)[1] for name in ("a.csv", "a" * 200 + ".csv")]
    ok(bodies[0].count(b"\n") > 8, "long lines are broken")
    ok([line for line in bodies[0].split(b"\n") if b"crc32" not in line] == [line for line in bodies[1].split(b"\n") if b"crc32" not in line],
       "... at the same places, whatever the input's name")


def check_same_ranges():
    """Ranges, also those that are said to begin inside quotes, wrongly or not: where the first record ends and the last one
    begins depends on the text alone."""
    rng, wrong = random.Random(SEED), []
    for i in range(CASES // 20):
        fields = [rng.choice((b"1", b'"2"', b'""', b'"x,y"', b'" "', b'"a\nb"', b'3"', b"4" * 40, b'"%s"' % (b"5" * 50))) for _ in range(40)]
        path = fixture("quotes%d.csv" % i, b"a,b\n" + b"".join(f + rng.choice((b",", b"\n", b"\r\n")) for f in fields) + rng.choice((b"", b"\n")))
        args = ["--sum=a", "-H", "--invalid=skip", "--partial", "--part=" + rng.choice(("1/3", "2/3", "2/3,quoted")), path]
        jobs = [dict(args=args, chunk=chunk, threads=threads) for chunk in (1, 30, 100, 200, 500) for threads in (1, 3)]
        said = {(r.status, r.out, r.err) for r in harness.run_many(jobs)}
        wrong += [(path, said)] if len(said) > 1 else []
    ok(not wrong, "a range's first record and its last depend neither on chunks nor on threads", lambda: wrong[0])


# ---- parts that no program wrote ----------------------------------------------------------------

def parts_of_all(data, path):
    """Arguments and the lines of a part, or of a state, of each operation; and of a file in three parts, with those around it."""
    state = os.path.join(harness.folder(), "spoilt.state")
    for name in hostile_request.OPERATIONS + ("the summary",):
        for beside in BESIDE if name not in NOT_KEPT else ():
            args = ["-H", "--missing=NA", "--invalid=skip"] + (asked_of(name) if name in hostile_request.OPTIONS else []) + beside
            r = run(args + ["--partial"], data)
            if r.status == 0:
                yield args, None, r.out.split(b"\n")[:-2]
            elif run(args + ["--save-state", state], data).status == 0:
                with open(state, "rb") as f:
                    yield args, b"", f.read().split(b"\n")[:-2]
                os.unlink(state)
    for args in (["--sum=a", "--by=k"], ["--first=t", "--last=t", "--mode=t"], [], ["--cov=a:a", "--median=a"]):
        case = types.SimpleNamespace(args=["-H"] + args, rng=random.Random(1), seed=0)
        three = [open(p, "rb").read() for p in part_cases.make_ranges(case, path, 3)]
        for k in range(3):
            yield args, (b"".join(three[:k]), b"".join(three[k + 1:])), three[k].split(b"\n")[:-2]


def check_spoilt():
    """Spoilt parts and states of each operation, with checksums that fit: an error or a result, in bounded time and memory."""
    rng = random.Random(SEED)
    data = rows_of_all_kinds(rng, 12)
    path = fixture("ranges.csv", b"a,t,k\n" + b"".join(b'%d,"x\ny%d",%s\n' % (i, i, rng.choice((b"u", b"v"))) for i in range(12)))
    kept, jobs = list(parts_of_all(data, path)), []
    for n in range(3 * CASES):
        args, around, lines = rng.choice(kept)
        spoilt = list(lines)
        for _ in range(rng.randrange(1, 4)):
            part_cases.spoil(rng, spoilt)
        how = dict(threads=rng.choice((1, 2)), timeout=20)
        if around == b"":
            jobs.append(dict(args=args + ["--from-state", fixture("spoilt%d.state" % n, part_cases.sealed(spoilt))], stdin=data, **how))
        else:
            before, after = around or (b"", b"")
            jobs.append(dict(args=["--merge"] + rng.choice(([], ["--partial"])), stdin=before + part_cases.sealed(spoilt) + after, **how))
    wrong = [(r, job) for r, job in zip(harness.run_many(jobs), jobs) if part_cases.is_wrong(r)]
    ok(len(kept) > 140 and not wrong, "%d spoilt parts of all operations" % len(jobs),
       lambda: harness.describe(wrong[0][0], wrong[0][1]["stdin"]) if wrong else len(kept))


def check_forged_query():
    """The query of a part is what --partial writes: no option that prints, reads or writes a file, and no records."""
    lines = lines_of(part("query.part", ["--sum=bytes"], LOG_A))
    written = os.path.join(harness.folder(), "written")
    for said in (["--sum=bytes", "--save-state=" + written], ["--sum=bytes", "--from-state=" + written],
                 ["--sum=bytes", written], ["--sum=bytes", "--partial"], ["--sum=bytes", "--help"], ["--sum=bytes", "--"], ["--sum", "bytes"],
                 ["--cumsum=bytes"], ["--tail=1"], ["--lag=bytes:1000000000"]):
        forged = [lines[0].replace(b'["--sum=bytes"]', json.dumps(said, separators=(",", ":")).encode())] + lines[1:]
        ok(forged != lines, "the part has a query", lines)
        refuses("a forged query: " + " ".join(said[-1:]), ["--merge", fixture("forged.part", part_cases.sealed(forged))], None, 1,
                "forged.part:1: damaged part" if not said[-1].startswith(("--cumsum", "--lag")) else "forged.part:1: a state of new columns")
        ok(not os.path.exists(written), "... and no file is written")


def check_first_error():
    """Lines are read in several threads: of several faults, the first is told."""
    path = part("many.part", ["--by=k", "--sum=v", "--last=v"], b"k,v\n" + b"".join(b"%d,%d\n" % (i % 300, i) for i in range(900)))
    lines, rng, wrong = lines_of(path), random.Random(5), []
    for ordered in (True, False):
        if not ordered:
            lines = lines_of(part("many2.part", ["--by=k", "--sum=v"], b"k,v\n" + b"".join(b"%d,%d\n" % (i % 300, i) for i in range(900))))
        for _ in range(20):
            at = sorted(rng.sample(range(5, len(lines)), 2))
            spoilt = [line.replace(b'"count"', b'"cuont"') if i in at else line for i, line in enumerate(lines)]
            bad = fixture("bad.part", part_cases.sealed(spoilt))
            behind = rng.choice((bad, fixture("log.csv", LOG_A), fixture("cut.part", b"\n".join(spoilt[:9])), "/nonexistent.part"))
            how = part_cases.ways(rng)
            r = run(["--merge", path if ordered else os.path.join(harness.folder(), "many2.part"), bad, behind], **how)
            if r.status != 1 or b"bad.part:%d: damaged part" % (at[0] + 1) not in r.err:
                wrong.append((at, behind, how, r.err))
    ok(not wrong, "the first error, in any number of threads", lambda: wrong[0])


def check_usage():
    a = part("u1.part", ["--sum=bytes"], LOG_A)
    b = part("u2.part", ["--sum=rt"], LOG_B)
    refuses("another query", ["--merge", a, b], None, 1, "u2.part:1: another query than the first part's: --sum=rt")
    refuses("another query than the command line's", ["--merge", "--sum=rt", a], None, 2, "--sum=rt")
    refuses("--sort without groups", ["--merge", "--sort", "x", a], None, 2, "--sort is for groups")
    refuses("--partial of records", ["--partial", "--cumsum=bytes"], LOG_A, 2, "--partial is for results")
    refuses("--partial does not print", ["--partial", "--sum=bytes", "--format=json"], LOG_A, 2, "give it to --merge")
    refuses("a faulty input is no part", ["--partial", "--sum=host"], LOG_A, 1, "not a number: 'a'")
    refuses("--explain", ["--merge", "--explain", a], None, 2, "--explain")
    let = [part("let%d.part" % i, ["--let=z = %s * bytes" % n, "--sum=z"], LOG_A) for i, n in ((1, "2"), (2, "3"))]
    refuses("another computed column", ["--merge"] + let, None, 1, "let2.part:1: another query than the first part's: --let=z = 3 * bytes")
    refuses("a value that cannot be computed", ["--partial", "--let=z = bytes + host", "--sum=z"], LOG_A, 1, "column 'z'", "'a'")


def check_full_disk():
    if not os.path.exists("/dev/full"):
        harness.skip("a full disk", "there is no /dev/full")
        return
    with open("/dev/full", "wb") as full:
        r = run(["--partial", "--sum=bytes"], LOG_A, stdout=full)
        ok(r.status == 1 and b"write error" in r.err, "a full disk", harness.describe(r._replace(out=b"")))
        many = b"k\n" + b"".join(b"%d\n" % i for i in range(20000))
        r = run(["--partial", "--by=k"], many, stdout=full)
        ok(r.status == 1 and b"write error" in r.err, "... in the midst", harness.describe(r._replace(out=b"")))


# ---- many -----------------------------------------------------------------------------------

def check_many():
    rows = [(i * 7919 % 5000, i) for i in range(20000)]
    text = lambda some: b"k,v\n" + b"".join(b"%d,%d\n" % r for r in some)
    args = ["--by=k", "--sum=v", "--median=v", "--count-distinct=v"]
    parts = [part("m%d.part" % i, args, text(rows[i * 200:(i + 1) * 200])) for i in range(100)]
    is_(run(["--merge"] + parts).out, run(args, text(rows)).out, "100 parts, 5000 groups")
    long = b"v\n" + b"".join(b"%d\n" % (i * i) for i in range(60000))
    kept = part("long.part", ["--median=v", "--mode=v", "--count-distinct=v"], long)
    ok(max(len(line) for line in lines_of(kept)) < 500000, "a long column is written in several lines")
    is_(run(["--merge", kept]).out, run(["--median=v", "--mode=v", "--count-distinct=v"], long).out, "... and read")


def check_memory():
    """What is sorted to be written counts towards --memory as what is kept does."""
    path = fixture("values.csv", b"x\n" + b"".join(b"%d\n" % (i * 7919 % 1000003) for i in range(200000)))
    state = os.path.join(harness.folder(), "values.state")
    is_(run(["--median=x", "--memory=1M", path]).out, run(["--median=x", path]).out, "the values fit in the memory")
    for args in (["--partial"], ["--save-state", state]):
        r = run(["--median=x", "--memory=1M", path] + args)
        is_((r.status, r.err), (1, b"gpustat: more memory needed to keep values than --memory allows: 1048576 bytes (try --memory SIZE with more)\n"),
            "... but not sorted, for " + args[0])
        ok(args[0] != "--partial" or not r.out, "... and no part is begun")
        ok(run(["--median=x", "--memory=3M", path] + args).status == 0, "... which 3M are enough for")
    refuses("distinct values", ["--count-distinct=x", "--memory=8M", "--threads=1", path, "--partial"], None, 1,
            "column 'x': more different values than there is memory for: ", " in the table of one thread; all tables may have 8388608 bytes")
    ok(run(["--count-distinct=x", "--memory=20M", "--threads=1", path, "--partial"]).status == 0, "... fit in 20M")


def check_parallel():
    if not shutil.which("parallel"):
        harness.skip("GNU parallel", "it is not installed")
        return
    files = [fixture("par%d.csv" % i, b"k,v\n" + b"".join(b"%d,%d\n" % (j % 7, i * j) for j in range(50))) for i in range(9)]
    args = ["--by", "k", "--sum", "v"]
    p = subprocess.run(["parallel", "-k", "-j2", harness.program(), *args, "--partial", ":::", *files],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    is_(run(["--merge"], p.stdout).out, run(args + files).out, "GNU parallel")


def check_xargs():
    files = [fixture("x%d.csv" % i, b"k,v\n" + b"".join(b"%d,%d\n" % (j % 7, i * j) for j in range(50))) for i in range(9)]
    p = subprocess.run(["xargs", "-P2", "-I{}", "sh", "-c", '"$0" --by k --sum v --partial "$1" > "$1.part"', harness.program(), "{}"],
                       input="\n".join(files).encode())
    is_((p.returncode, run(["--merge"] + [f + ".part" for f in files]).out), (0, run(["--by=k", "--sum=v"] + files).out), "xargs -P")


check_results()
check_sums()
check_order()
check_stars()
check_left_out()
check_joined()
check_headers()
check_compressed()
check_ranges()
check_state()
check_state_faults()
check_damage()
check_forged()
check_same()
check_broken_lines()
check_same_ranges()
check_spoilt()
check_forged_query()
check_first_error()
check_usage()
check_full_disk()
check_many()
check_memory()
check_parallel()
check_xargs()
check_random()
check_random_ranges()
check_hostile()
harness.done()
