# SPDX-License-Identifier: MIT
"""An older version and this one: do they say the same?

    compare.py --tree OLD --serve SERVE [--seconds N] [--cases N] [--seed N] [--jobs N] [--by] [--limit N]

OLD is the checkout of an older version in which tests/fuzz/serve is built (--old names another); SERVE is this version's.
OLD's fuzzer draws the cases, so every option is one that both know. Each case is run in one way by both: chunks, threads, an
instruction set. Compared are the exit status, standard output, pictures, and standard error (not of --explain and --verbose).
Parts and states have a form of their own in each version: each reads what it has written. --by: only cases with groups.

What differs is printed, one entry a combination of options and kind of difference, with the first such case.
"""
import argparse
import collections
import multiprocessing
import os
import random
import sys
import time

START = time.monotonic()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tree", required=True, help="checkout of the older version")
    parser.add_argument("--old", help="its serve")
    parser.add_argument("--serve", required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(5), "big"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--by", action="store_true", help="only cases with groups")
    parser.add_argument("--limit", type=int, default=40, help="how many differences are printed")
    return parser.parse_args()


OPTIONS = arguments()
sys.path[:0] = [os.path.join(OPTIONS.tree, "tests", folder) for folder in ("oracle", "fuzz")]
import differential                                             # noqa: E402
import hostile_request                                          # noqa: E402

GOES = None
SAVES = ("partial", "save-state")
OTHER = ("explain", "help", "completion", "version", "partial")     # what these print is another text in another version


def said(case, r):
    return {"status": r.status, "standard output": None if case.has(*OTHER) else r.out,
            "standard error": None if case.is_loose() or case.says("memory", b"64K", b"1") else r.err,
            "pictures": {name: data for name, data in r.chunk.items() if not case.has(*SAVES)}}


def compare(old, new, seed):
    """None, or the case's options, what differs, and what both say."""
    rng = random.Random(seed)
    for fuzzer in (old, new):
        fuzzer.left([hostile_request.STATE])    # of the case before
    rows = next((n for one_in, n in differential.ROWS if rng.randrange(one_in) == 0), None)
    for _ in range(differential.TRIES):
        names = old.goes.draw(rng, old.next_pair(rng.randrange(1 << 30)), None)
        if OPTIONS.by and "by" not in names:
            names = [*names, "by"]
        case = differential.Case(rng, names, rows, None)
        files, parts_of = case.files, case.parts_of
        if old.run_first(case).status != 2:
            break
    way = differential.ways(case.rng, case, 1, old.sets)[0]
    a = old.run_way(case, way)
    if case.has("from-state", "merge"):      # what is saved has a version's own form: each reads its own
        case.files, case.parts_of = files, parts_of
        new.prepare(case)
    b = new.run_way(case, way)
    one, other = said(case, a), said(case, b)
    differs = [what for what in one if one[what] != other[what]]
    if case.says("memory", b"64K", b"1") and 1 in (a.status, b.status):     # how much is kept at once is not promised
        differs = []
    if not differs:
        return case, None
    text = "seed %d, %s\nold: %s\nnew: %s" % (seed, " ".join([*way.args, *way.env, way.mode, way.packing or "plain"]),
                                              differential.describe(a), differential.describe(b))
    return case, (" ".join(sorted("--" + u.option.name for u in case.uses)), differs[0], text)


def job(k):
    old = differential.Fuzzer(OPTIONS.old or os.path.join(OPTIONS.tree, "tests/fuzz/serve"), 1, None, GOES)
    new = differential.Fuzzer(OPTIONS.serve, 1, None, GOES)
    found, counts, seed = [], collections.Counter(), OPTIONS.seed + k
    while (OPTIONS.cases is None or counts["cases"] < OPTIONS.cases // OPTIONS.jobs) and \
            (OPTIONS.seconds is None or time.monotonic() - START < OPTIONS.seconds):
        case, different = compare(old, new, seed)
        counts["cases"] += 1
        counts["cases with groups"] += case.has("by")
        counts["cases that ended well"] += case.status == 0
        if different:
            found.append(different)
        seed += OPTIONS.jobs
    old.close()
    new.close()
    return counts, found


def main():
    global GOES
    sys.stdout.reconfigure(errors="backslashreplace")
    first = differential.Fuzzer(OPTIONS.old or os.path.join(OPTIONS.tree, "tests/fuzz/serve"), 1)
    GOES = first.goes
    first.close()
    with multiprocessing.get_context("fork").Pool(OPTIONS.jobs) as pool:
        results = pool.map(job, range(OPTIONS.jobs), 1)
    counts, kinds = sum((c for c, _ in results), collections.Counter()), collections.OrderedDict()
    for options, what, text in (d for _, found in results for d in found):
        kinds.setdefault((options, what), []).append(text)
    for (options, what), texts in sorted(kinds.items(), key=lambda item: len(item[0][0]))[:OPTIONS.limit]:
        print("---- %s differs, %d times: %s\n%s" % (what, len(texts), options, texts[0]))
    print("from seed %d: %s; %d differ" % (OPTIONS.seed, ", ".join("%d %s" % (n, what) for what, n in counts.items()),
                                          sum(map(len, kinds.values()))))
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
