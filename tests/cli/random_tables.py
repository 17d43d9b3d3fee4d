# SPDX-License-Identifier: MIT
"""Differential test: random hostile tables and options against the model, in several ways each.

GPUSTAT_TEST_SEED sets the first seed, GPUSTAT_TEST_CASES how many follow, GPUSTAT_TEST_FEATURES what
may be in them (hostile.FEATURES). A case that fails leaves
its files and the command in cli_random.failed/SEED/ of the current folder.
"""
import gzip
import os
import random
import shlex

import harness
import hostile
import hostile_groups
import oracle
import oracle_groups

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "1000"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "600"))
SETS = [None] + harness.instruction_sets()


def ways(rng, size):
    """Pairs (chunk, threads): one-byte chunks, the default, and two in between."""
    small = [1, rng.randrange(2, 9), rng.randrange(2, max(3, min(size, 5000)) + 1), None]
    return [(c, t) for c, t in zip(small, rng.sample((1, 2, 3, 7), 4))]


def lay_down(case, rng, seed):
    """The case as (args, stdin, files as the program will call them)."""
    if len(case.files) == 1 and rng.randrange(4):
        data = case.files[0][1]
        zipped = rng.randrange(6) == 0
        return [], gzip.compress(data) if zipped else data, [("<stdin>", data)]
    paths = []
    for name, data in case.files:
        stored = data
        if rng.randrange(5) == 0:
            cut = rng.randrange(len(data) + 1)
            stored = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
        paths.append(harness.fixture("%d-%s" % (seed, name), stored))
    return paths, None, list(zip(paths, (d for _, d in case.files)))


def save(seed, args, stdin, case, text):
    where = os.path.join("cli_random.failed", str(seed))
    os.makedirs(where, exist_ok=True)
    for name, data in case.files:
        with open(os.path.join(where, name), "wb") as f:
            f.write(data)
    with open(os.path.join(where, "command"), "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("gpustat %s\n\n%s\n" % (shlex.join(os.fsdecode(a) for a in args), text))
    return where


def run_groups(seed, rows=None, chunks=None):
    """The same with --by."""
    case = hostile.make_case(seed, rows, hostile_groups.make_results, prepare=hostile_groups.prepare)
    return run_case(seed, rows, chunks, case, oracle_groups)


def run_case(seed, rows=None, chunks=None, case=None, model=oracle):
    """None where all runs are right, 'unclear' where the contract is silent, else what is wrong."""
    case = case or hostile.make_case(seed, rows)
    rng = random.Random(-seed)
    paths, stdin, files = lay_down(case, rng, seed)
    try:
        judge = model.judge(case.request, files)
    except oracle.Unclear:
        for path in paths:
            os.unlink(path)
        return "unclear"
    args = case.request.args() + paths
    pairs = chunks or ways(rng, max((len(d) for _, d in files), default=0))
    results = harness.run_many([dict(args=args, stdin=stdin, chunk=c, threads=t, simd=rng.choice(SETS))
                                for c, t in pairs])
    wrong = []
    for r in results:
        try:
            complaint = judge(r)
        except ValueError as e:
            complaint = "not JSON: %s" % e
        if complaint:
            wrong.append((r, complaint))
    if wrong:
        r, complaint = wrong[-1]
        text = "wrong with chunks of %s\n%s\n%s" % ([str(x.chunk) for x, _ in wrong], harness.describe(r, stdin), complaint)
        return "seed %d\n%s\nsaved in %s" % (seed, text, save(seed, args, stdin, case, text))
    for path in paths:
        os.unlink(path)
    return None


harness.note("seeds from %d, %d cases" % (SEED, CASES))
hostile.check_small(run_case, SEED, CASES, 3)
hostile.check_large(run_case, SEED, 3000)
if hostile_groups.offered(harness.run(["--help"]).out):
    hostile.check_small(run_groups, SEED + 10 ** 5, CASES, 3)
    hostile.check_large(run_groups, SEED + 10 ** 5, 3000)
else:
    harness.skip("the same by groups", "this program has no --by")
harness.done()
