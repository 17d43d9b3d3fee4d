# SPDX-License-Identifier: MIT
"""Differential test: random hostile tables and random scans and filters against the model.

Each case runs with several sizes of chunks and numbers of threads, and some on the GPU where there is
one (GPUSTAT_TEST_GPU_EVERY). GPUSTAT_TEST_SEED sets the first seed, GPUSTAT_TEST_CASES how many follow,
GPUSTAT_TEST_FEATURES what may be in them (hostile.FEATURES). A case that fails
leaves its files and the command in cli_random.failed/scan-SEED/ of the current folder.
"""
import gzip
import os
import random
import shlex

import harness
import hostile
import hostile_groups
import hostile_scan
import oracle
import oracle_groups
import oracle_scan
from hostile_scan import make_request
from scan_ways import no_gpu

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "2000"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "700"))
GPU_EVERY = int(os.environ.get("GPUSTAT_TEST_GPU_EVERY", "7"))  # case; each of its runs takes a third of a second
hostile_scan.PATTERNS = harness.has_patterns()
SETS = [None] + harness.instruction_sets()


# ---- running them ---------------------------------------------------------------------------

def ways(rng, size, wake_gpu):
    """Triples (chunk, threads, device): one-byte chunks, the default, and two in between."""
    chunks = [1, rng.randrange(2, 9), rng.randrange(2, max(3, min(size, 5000)) + 1), None]
    out = [(c, t, "cpu") for c, t in zip(chunks, rng.sample((1, 2, 3, 7), 4))]
    return out + [(c, t, "gpu") for c, t, _ in out[2:]] if wake_gpu else out


def lay_down(case, rng, seed):
    """The case as (paths, stdin, files as the program will call them)."""
    if len(case.files) == 1 and rng.randrange(4) and not case.request.reads_twice():
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


def run_groups(seed, rows=None, chosen=None):
    """The same with --by."""
    case = hostile.make_case(seed, rows, hostile_groups.make_running, prepare=hostile_groups.prepare)
    return run_case(seed, rows, chosen, case, oracle_groups)


def run_case(seed, rows=None, chosen=None, case=None, model=oracle_scan):
    """None where all runs are right, 'unclear' where the contract is silent, else what is wrong."""
    case = case or hostile.make_case(seed, rows, make_request)
    rng = random.Random(-seed)
    paths, stdin, files = lay_down(case, rng, seed)
    args = case.request.args() + paths
    try:
        right = model.judge(case.request, files)
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
if hostile_groups.runs_offered(harness.run(["--help"]).out):
    hostile.check_small(run_groups, SEED + 10 ** 5, CASES, 2)
    hostile.check_large(run_groups, SEED + 10 ** 5, 2000)
else:
    harness.skip("the same by groups", "this program has no --by for running columns")
if no_gpu():
    harness.skip("the same on the GPU", no_gpu())
harness.done()
