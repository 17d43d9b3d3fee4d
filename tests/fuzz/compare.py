# SPDX-License-Identifier: MIT
"""An older version and this one: do they say the same?

    compare.py --tree OLD --serve SERVE [--seconds N] [--cases N] [--seed N] [--jobs N] [--by] [--limit N]

OLD is the checkout of an older version in which tests/fuzz/serve is built (--old names another); SERVE is this version's.
OLD's fuzzer draws the cases, so every option is one that both know. Several in a row have one table and the same options, with
other arguments. Each case is run in one way by both: chunks, threads, an instruction set. Compared are the exit status, standard output, pictures, and standard error (not of --explain and --verbose).
Parts and states have a form of their own in each version: each reads what it has written. --by: only cases with groups.

What differs is printed, one entry a combination of options and kind of difference, with the first such case; standard error
tells each, and how many cases there were, meanwhile.
"""
import argparse
import collections
import concurrent.futures
import copy
import functools
import multiprocessing
import os
import random
import sys
import time
import zlib

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
NLINES = 8      # command lines over one table, of the same options with other arguments
SAVES = ("partial", "save-state")
OTHER = ("explain", "help", "completion", "version", "partial")     # what these print is another text in another version


pack = differential.pack
packed = functools.lru_cache(8)(lambda data, packing: pack(random.Random(zlib.crc32(data)), data, packing))
differential.pack = lambda rng, data, packing: packed(data, packing)      # once for all command lines over a table, and for both versions


def said(case, r):
    return {"status": r.status, "standard output": None if case.has(*OTHER) else r.out,
            "standard error": None if case.is_loose() or case.says("memory", b"64K", b"1") else r.err,
            "pictures": {name: data for name, data in r.chunk.items() if not case.has(*SAVES)}}


def draw(old, seed):
    """Command lines over one table, of the same options with other arguments: [(case, its way)]."""
    rng = random.Random(seed)
    rows = next((n for one_in, n in differential.ROWS if rng.randrange(one_in) == 0), None)
    names = old.goes.draw(rng, old.next_pair(rng.randrange(1 << 30)), None)
    if "by" not in names and (OPTIONS.by or (rng.randrange(3) == 0 and old.goes.all_together([*names, "by"]))):
        names = [*names, "by"]
    case, lines = differential.Case(rng, names, rows, None), []
    for _ in range(1 if case.parts_of is not None else NLINES):
        lines.append((copy.copy(case), differential.ways(rng, case, 1, old.sets)[0]))
        case.uses = hostile_request.draw_uses(rng, names, case.shape)
    return lines


def run_all(fuzzer, lines):
    """What one version says of each."""
    for case, way in lines:
        fuzzer.left([hostile_request.STATE])    # of the case before
        case = copy.copy(case)
        fuzzer.prepare(case)                    # what is saved has a version's own form: each reads its own
        yield fuzzer.run_way(case, way)


def judge(case, way, a, b, seed):
    """None, or the case's options, what differs, and what both say."""
    one, other = said(case, a), said(case, b)
    differs = [what for what in one if one[what] != other[what]]
    if not differs or case.says("memory", b"64K", b"1") and 1 in (a.status, b.status):     # how much is kept at once is not promised
        return None
    text = "seed %d, %s\nold: %s\nnew: %s" % (seed, " ".join([*way.args, *way.env, way.mode, way.packing or "plain"]),
                                              differential.describe(a), differential.describe(b))
    return " ".join(sorted("--" + u.option.name for u in case.uses)), differs[0], text


def sentence(counts, ndifferent):
    return "%s; %d differ" % (", ".join("%d %s" % (n, what) for what, n in counts.items()), ndifferent)


def job(k):
    old = differential.Fuzzer(OPTIONS.old or os.path.join(OPTIONS.tree, "tests/fuzz/serve"), 1, None, GOES)
    new = differential.Fuzzer(OPTIONS.serve, 1, None, GOES)
    found, counts, seed, told = [], collections.Counter(), OPTIONS.seed + k, 0
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        while (OPTIONS.cases is None or counts["cases"] < OPTIONS.cases // OPTIONS.jobs) and \
                (OPTIONS.seconds is None or time.monotonic() - START < OPTIONS.seconds):
            lines = draw(old, seed)
            said_by_new = beside.submit(lambda lines=lines: list(run_all(new, lines)))
            for (case, way), a, b in zip(lines, list(run_all(old, lines)), said_by_new.result()):
                different = judge(case, way, a, b, seed)
                counts["cases"] += 1
                counts["cases with groups"] += case.has("by")
                counts["cases that ended well"] += a.status == 0
                if different:
                    found.append(different)
                    print("---- %s differs: %s\n%s" % (different[1], different[0], different[2]), file=sys.stderr, flush=True)
            if counts["cases"] // 1000 > told:
                told = counts["cases"] // 1000
                print(sentence(counts, len(found)), file=sys.stderr, flush=True)
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
    print("from seed %d: %s" % (OPTIONS.seed, sentence(counts, sum(map(len, kinds.values())))))
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
