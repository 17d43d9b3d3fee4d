# SPDX-License-Identifier: MIT
"""Differential test: random hostile tables and random scans and filters against the model.

Each case runs with several sizes of chunks and numbers of threads, and some on the GPU where there is
one (GPUSTAT_TEST_GPU_EVERY). GPUSTAT_TEST_SEED sets the first seed, GPUSTAT_TEST_CASES how many follow. A case that fails
leaves its files and the command in cli_random.failed/scan-SEED/ of the current folder.
"""
import gzip
import os
import random
import re
import shlex

import harness
import hostile
import oracle
from oracle_scan import TOTALS, Scan, judge
from scan_ways import no_gpu

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "2000"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "700"))
GPU_EVERY = int(os.environ.get("GPUSTAT_TEST_GPU_EVERY", "7"))  # case; each of its runs takes a third of a second
BARE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = (b"and", b"or", b"not", b"is", b"missing")
SETS = [None] + harness.instruction_sets()
KINDS = ("small", "small", "int", "decimal", "edge", "zeros", "exponent", "wide")


# ---- random conditions ----------------------------------------------------------------------

def spell_column(rng, k, n, names):
    if rng.randrange(80) == 0:
        return rng.choice((b"nosuch", b":%d" % (n + 1), b":0", b"`no such`"))
    forms = [b":%d" % (k + 1), b"col%d" % (k + 1)]
    if names:
        back = b"`" + names[k].replace(b"`", b"``") + b"`"
        bare = BARE.match(names[k]) and names[k].lower() not in RESERVED
        forms += [names[k] if bare else back, back, names[k] if bare else back]
    return rng.choice(forms)


def spell_string(rng, missing):
    text = rng.choice(hostile.TEXTS + tuple(missing) + (b"a", b"1", b"it's"))
    text = text.replace(b"\0", b"") or b"m"
    quote = rng.choice((b'"', b"'"))
    return quote + text.replace(quote, quote * 2) + quote


def spell_number(rng, kind):
    return hostile.number_text(rng, kind if rng.randrange(3) and kind in KINDS else rng.choice(KINDS)).encode()


def spell_test(rng, n, names, kinds, missing):
    numeric = [k for k in range(n) if kinds[k] not in ("text", "empty")]
    k = rng.randrange(n)
    form = rng.randrange(10)
    if form == 0:
        return spell_column(rng, k, n, names) + rng.choice((b" is missing", b" IS NOT missing", b"\tis\nnot missing"))
    blank = rng.choice((b"", b" "))
    sign = blank + rng.choice((b"=", b"==", b"!=", b"<", b"<=", b">", b">=")) + blank
    if form < 4 or not numeric:
        sides = [spell_column(rng, k, n, names), spell_string(rng, missing)]
    else:
        k = rng.choice(numeric) if rng.randrange(25) else k
        sides = [spell_column(rng, k, n, names), spell_number(rng, kinds[k])]
        if form < 6:
            sides[1] = spell_column(rng, rng.choice(numeric), n, names)
    if rng.randrange(3) == 0:
        sides.reverse()
    return sign.join(sides)


def spell_condition(rng, depth, *about):
    if depth == 0 or rng.randrange(3) == 0:
        return spell_test(rng, *about)
    form = rng.randrange(5)
    if form == 0:
        return rng.choice((b"not (", b"!(", b"NOT(")) + spell_condition(rng, depth - 1, *about) + b")"
    if form == 1:
        return b"(" + spell_condition(rng, depth - 1, *about) + b")"
    if form == 2:
        return rng.choice((b"not ", b"! ")) + spell_test(rng, *about)
    joint = rng.choice((b" and ", b" && ", b" or ", b" || ", b" OR "))
    return spell_condition(rng, depth - 1, *about) + joint + spell_condition(rng, depth - 1, *about)


# ---- random requests ------------------------------------------------------------------------

def spell_columns(rng, operation, n, names, kinds):
    numeric = [k for k in range(n) if kinds[k] not in ("text", "empty")]
    pool = list(range(n)) if operation == "count" else numeric
    if not pool or (operation != "count" and rng.randrange(10) == 0):
        return b"*"
    if len(pool) == n and rng.randrange(8) == 0:
        low = rng.randrange(n)
        return b"%d-%d" % (low + 1, rng.randrange(low, n) + 1)
    chosen = rng.sample(pool, rng.randrange(1, min(3, len(pool)) + 1))
    return b",".join(hostile.spell_item(rng, k, n, names) for k in chosen)


def make_request(rng, n, names, kinds, missing, delimiter, invalid):
    about = (n, names, kinds, missing)
    common = dict(missing=missing, invalid=invalid, delimiter=delimiter,
                  header=rng.choice(("auto", "auto", "auto", "yes" if names else "no")))
    where = spell_condition(rng, rng.randrange(4), *about) if rng.randrange(5) < 2 else None
    if rng.randrange(8) == 0:
        operations = [(o, spell_columns(rng, o, n, names, kinds))
                      for o in rng.choices(oracle.OPERATIONS, k=rng.randrange(1, 4))]
        where = where or spell_condition(rng, 2, *about)
        return Scan(operations=operations, where=where, **common)
    news = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 5)) if where else rng.choice((1, 1, 1, 2, 3, 5))):
        form = rng.randrange(7)
        if form == 5:
            news.append(("offsets", spell_condition(rng, rng.randrange(3), *about)))
        elif form == 6:
            news.append(("byte-offset", None))
        else:
            operation = rng.choice(TOTALS)
            news.append((operation, spell_columns(rng, operation, n, names, kinds)))
    totals = any(o in TOTALS for o, _ in news)
    return Scan(news, where, totals and rng.randrange(3) == 0, bool(news) and rng.randrange(4) == 0, **common)


# ---- running them ---------------------------------------------------------------------------

def ways(rng, size, wake_gpu):
    """Triples (chunk, threads, device): one-byte chunks, the default, and two in between."""
    chunks = [1, rng.randrange(2, 9), rng.randrange(2, max(3, min(size, 5000)) + 1), None]
    out = [(c, t, "cpu") for c, t in zip(chunks, rng.sample((1, 2, 3, 7), 4))]
    return out + [(c, t, "gpu") for c, t, _ in out[2:]] if wake_gpu else out


def lay_down(case, rng, seed):
    """The case as (paths, stdin, files as the program will call them)."""
    if len(case.files) == 1 and rng.randrange(4):
        data = case.files[0][1]
        return [], gzip.compress(data) if rng.randrange(6) == 0 else data, [("<stdin>", data)]
    paths = []
    for name, data in case.files:
        stored = data
        if rng.randrange(5) == 0:
            cut = rng.randrange(len(data) + 1)
            stored = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
        paths.append(harness.fixture("scan-%d-%s" % (seed, name), stored))
    return paths, None, list(zip(paths, (d for _, d in case.files)))


def save(seed, args, case, text):
    where = os.path.join("cli_random.failed", "scan-%d" % seed)
    os.makedirs(where, exist_ok=True)
    for name, data in case.files:
        with open(os.path.join(where, name), "wb") as f:
            f.write(data)
    with open(os.path.join(where, "command"), "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("gpustat %s\n\n%s\n" % (shlex.join(os.fsdecode(a) for a in args), text))
    return where


def run_case(seed, rows=None, chosen=None):
    """None where all runs are right, 'unclear' where the contract is silent, else what is wrong."""
    case = hostile.make_case(seed, rows, make_request)
    rng = random.Random(-seed)
    paths, stdin, files = lay_down(case, rng, seed)
    args = case.request.args() + paths
    try:
        right = judge(case.request, files)
    except oracle.Unclear:
        right = None
    wrong = []
    if right:
        devices = ("cpu",) if no_gpu() else ("cpu", "gpu")
        triples = [(c, t, d) for c, t in chosen for d in devices] if chosen \
            else ways(rng, max(len(d) for _, d in files), seed % GPU_EVERY == 0 and not no_gpu())
        results = harness.run_many([dict(args=args, stdin=stdin, chunk=c, threads=t, device=d, simd=rng.choice(SETS))
                                    for c, t, d in triples])
        wrong = [(r, right(r)) for r in results if right(r)]
        if not wrong and len({(r.status, r.out, r.err) for r in results}) > 1:
            wrong = [(results[-1], "the messages differ: %s" % {r.err for r in results})]
    for path in paths:
        os.unlink(path)
    if wrong:
        r, complaint = wrong[-1]
        text = "wrong with chunks of %s\n%s\n%s" % ([str(x.chunk) for x, _ in wrong], harness.describe(r, stdin),
                                                    complaint)
        return "seed %d\n%s\nsaved in %s" % (seed, text, save(seed, args, case, text))
    return None if right else "unclear"


harness.note("seeds from %d, %d cases" % (SEED, CASES))
hostile.check_small(run_case, SEED, CASES, 2)
hostile.check_large(run_case, SEED, 2000)
if no_gpu():
    harness.skip("the same on the GPU", no_gpu())
harness.done()
