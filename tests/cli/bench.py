# SPDX-License-Identifier: MIT
"""gpustat-bench: the model's figures, its three formats, wrong usage; with a GPU, every rung. And `make bench`: its groups and
different values, compared with what peers are there.

The oracle of the model is written down here as the textbook does it, with loops over iterations
and warps; it shares nothing with the program. Without a GPU the ladders must say so and fail.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import harness

TOOL = "gpustat-bench"
SVG = "{http://www.w3.org/2000/svg}"
RUNGS = {
    "reduce": "simple convergent shared_memory segmented_atomic coarsened interleaved_modulo "
              "interleaved_index sequential add_on_load unroll_last_warp unroll_all multi_add "
              "warp_shuffle shuffle_pack shipped cub",
    "scan": "kogge_stone kogge_stone_double_buffer kogge_stone_exclusive brent_kung "
            "coarsened_three_phase hierarchical hierarchical_exclusive domino lookback "
            "persistent shipped shipped_exclusive cub",
}


def run(args, **how):
    return harness.run(args, tool=TOOL, **how)


def refuses(name, args, status, *parts):
    harness.refuses(name, args, None, status, *parts, tool=TOOL)


# ---- the model ----------------------------------------------------------------------------------

def tree_costs(active_by_iteration, positions):
    """(issued lanes, requests) of a reduction in global memory. active_by_iteration: the threads
    that add, iteration by iteration; positions(thread, stride): the two that it adds."""
    issued = requests = 0
    for stride, threads in active_by_iteration:
        warps = {}
        for t in threads:
            warps.setdefault(t // 32, []).append(positions(t, stride))
        issued += 32 * len(warps)
        for pairs in warps.values():
            to = {p // 32 for p, _ in pairs}
            requests += 2 * len(to) + len({q // 32 for _, q in pairs})
    return issued, requests


def expected(n):
    """{rung: (operations, issued, requests or None)}, the scans without their lanes."""
    log2 = n.bit_length() - 1
    strides = [2 ** k for k in range(log2)]
    simple = tree_costs([(s, range(0, n // 2, s)) for s in strides], lambda t, s: (2 * t, 2 * t + s))
    convergent = tree_costs([(s, range(s)) for s in reversed(strides)], lambda t, s: (t, t + s))
    return {
        "simple": (n - 1,) + simple,
        "convergent": (n - 1,) + convergent,
        "shared_memory": (n - 1, convergent[0], shared_requests(n)),
        "kogge_stone": (n * log2 - (n - 1), None, None),
        "brent_kung": (2 * n - 2 - log2, None, None),
    }


def shared_requests(n):
    """Each warp of the first addition loads two lots of adjacent values; then one store."""
    half = n // 2
    lots = [range(first, min(first + 32, half)) for first in range(0, half, 32)]
    return sum(len({t // 32 for t in lot}) + len({(t + half) // 32 for t in lot}) for lot in lots) + 1


def check_counts():
    for n in [2 ** k for k in range(1, 12)]:
        r = run(["model", "--n", str(n), "--format", "json"])
        rows = json.loads(r.out) if r.status == 0 else []
        got = {row["rung"]: (row["operations"],
                             row["issued"] if row["requests"] is not None else None,
                             row["requests"]) for row in rows}
        harness.is_(got, expected(n), "the model's counts for n = %d" % n)
        harness.ok(all(row["efficiency"] == round(row["operations"] / row["issued"], 4) for row in rows) and rows,
                   "and its efficiencies", lambda: harness.describe(r))


def check_figures_in_print():
    rows = {row["rung"]: row for row in json.loads(run(["model", "--format=json"]).out)}
    for rung, want in (("simple", (255, 864, 0.2951, 141)), ("convergent", (255, 384, 0.6641, 36)),
                       ("shared_memory", (255, 384, 0.6641, 9))):
        row = rows[rung]
        harness.is_((row["operations"], row["issued"], row["efficiency"], row["requests"]), want,
                    "256 values by default: " + rung)
    simple = rows["simple"]
    harness.is_((simple["issued_published"], simple["efficiency_published"]), (736, 0.3465),
                "the published efficiency of simple stands beside the count")
    harness.ok("stride 32" in simple["why_different"] and not rows["convergent"]["why_different"],
               "and why it is another", repr(rows))
    harness.ok(all("Programming Massively Parallel Processors" in row["source"] for row in rows.values()),
               "with its source", repr(rows))
    rows = {row["rung"]: row for row in json.loads(run(["model", "--format=json", "--n=2K"]).out)}
    harness.is_([rows[rung]["requests_published"] for rung in ("simple", "convergent", "shared_memory")],
                [1149, 204, None], "what is published for 2048 values")
    harness.is_([row["efficiency_published"] for row in rows.values()], [None] * 5,
                "what is published for 256 values is not said of 2048")


def check_formats():
    r = run(["model"])
    text = r.out.decode("utf-8")
    harness.ok(r.status == 0 and r.err == b"" and "255/864 = 0.30" in text and "255/736 = 0.35" in text
               and "255/384 = 0.66" in text and "Nsight Compute" in text, "the table of the model",
               lambda: harness.describe(r))
    harness.ok(all(len(line) <= 120 for line in text.split("\n")), "and its lines are not long", text)
    records = list(csv.DictReader(io.StringIO(run(["model", "--format=csv"]).out.decode("utf-8"), newline="")))
    objects = json.loads(run(["model", "--format=json"]).out)
    harness.is_([{k: "" if v is None else v if isinstance(v, str) else float(v) for k, v in o.items()} for o in objects],
                [{k: float(v) if re.fullmatch(r"[0-9.]+", v) else v for k, v in o.items()} for o in records],
                "CSV and JSON of the model say the same")
    harness.is_(run(["--n", "1Ki", "model", "--format=csv"]).out, run(["model", "--n=1024", "--format", "csv"]).out,
                "options may stand before the command, and 1Ki is 1024")


# ---- usage --------------------------------------------------------------------------------------

def check_usage():
    for args, part in (
            ([], "no command"), (["reductions"], "'reductions'"), (["model", "scan"], "'scan'"),
            (["model", "--type=int32"], "model takes no --type"), (["model", "--trace=x"], "model takes no --trace"),
            (["ceilings", "--n=4"], "ceilings takes no --n"), (["ceilings", "--rungs=cub"], "ceilings takes no --rungs"),
            (["model", "--repeat=3"], "model takes no --repeat"), (["reduce", "--trace=x"], "reduce takes no --trace"),
            (["model", "--n=3"], "power of 2"), (["model", "--n=1"], "power of 2"), (["model", "--n=4K"], "power of 2"),
            (["reduce", "--n=0"], "'0'"), (["reduce", "--n=-1"], "'-1'"), (["reduce", "--n="], "''"),
            (["reduce", "--n=1.5M"], "'1.5M'"), (["reduce", "--n=1T"], "'1T'"), (["reduce", "--n=1KB"], "'1KB'"),
            (["reduce", "--n=1025G"], "2^40"), (["reduce", "--n=99999999999999999999"], "2^40"), (["scan", "--n"], "'--n'"),
            (["scan", "--type=int"], "float32, int32, int64, int128, segmented, all"), (["scan", "--type=int32,"], "''"),
            (["reduce", "--type=segmented"], "no reduction of segmented"),
            (["scan", "--type=affine"], "'affine'"), (["scan", "--rungs="], "empty"), (["scan", "--rungs=a,,b"], "empty"),
            (["scan", "--repeat=0"], "'0'"), (["scan", "--repeat=3x"], "'3x'"), (["scan", "--repeat=100001"], "100000"),
            (["inflate", "--type=int32"], "inflate takes no --type"), (["scan", "--block=64K"], "scan takes no --block"),
            (["inflate", "--block=512"], "from 1K to 16M"), (["inflate", "--block=17M"], "from 1K to 16M"),
            (["inflate", "--block=x"], "'x'"), (["group", "--groups=0"], "'0'"), (["group", "--groups=17M"], "from 1 to 16M"),
            (["inflate", "--groups=8"], "inflate takes no --groups"), (["group", "--block=64K"], "group takes no --block"),
            (["pipeline", "--trace"], "'--trace'"),
            (["scan", "--format=tsv"], "table, csv, json"), (["--frob"], "'--frob'"), (["model", "-q"], "'-q'"),
            (["reduce", "--n=\x1b[31m"], r"\x1b")):
        refuses("usage: " + " ".join(args).replace("\x1b", "ESC"), args, 2, "gpustat-bench: ", part,
                "Try 'gpustat-bench --help'.")


def check_help():
    for args in (["--help"], ["-h"], ["scan", "--help"]):
        r = run(args)
        harness.ok(r.status == 0 and r.err == b"" and b"Usage: gpustat-bench" in r.out and b"--rungs A,B" in r.out,
                   "help: " + " ".join(args), lambda: harness.describe(r))
    for args in (["--version"], ["-V"]):
        r = run(args)
        harness.ok(r.status == 0 and r.err == b"" and re.match(rb"gpustat-bench [0-9.]+\n", r.out) and b"CUDA" in r.out,
                   "version: " + " ".join(args), lambda: harness.describe(r))


def check_full_disk():
    if not os.path.exists("/dev/full"):
        harness.skip("a full disk", "no /dev/full")
        return
    for args in (["model"], ["model", "--format=json"], ["--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            r = run(args, stdout=full)
        harness.ok(r.status == 1 and r.err.startswith(b"gpustat-bench: write error"),
                   "a full disk: " + " ".join(args), lambda: harness.describe(r))


# ---- the ladders --------------------------------------------------------------------------------

def reason_to_skip():
    """The program's own words, where it has no GPU to measure."""
    r = run(["reduce", "--n=1K", "--rungs=simple", "--repeat=1"])
    if r.status == 1 and b"no usable GPU" in r.err:
        return r.err.decode("utf-8", "replace").strip().split("\n")[-1]
    return None


def check_without_gpu():
    for args in (["reduce"], ["scan"], ["ceilings"], ["scan", "--type=all", "--n=1M", "--format=json"], ["inflate"], ["group"],
                 ["inflate", "--n=1M", "--block=256K", "--rungs=simple,zlib", "--repeat=3"], ["group", "--n=1M", "--groups=8"]):
        refuses("without a GPU: " + " ".join(args), args, 1, "gpustat-bench: no usable GPU")


def check_figures(rows, name):
    """Times in order, and percentages that follow from them."""
    wrong = [row for row in rows if not (
        0 < row["least_us"] <= row["median_us"] <= row["greatest_us"]
        and abs(row["gbps"] - row["nbytes"] / row["median_us"] / 1e3) <= 0.06 + 1e-3 * row["gbps"]
        and (row["device"] == "cpu") == (row["percent_of_ceiling"] is None)
        and row["times_first"] is not None and row["date"] and row["gpu"])]
    harness.ok(rows and not wrong, name + ": the figures hang together", lambda: repr(wrong[:3]))


def check_ladder(ladder):
    r = run([ladder, "--n=1M", "--type=all", "--repeat=3", "--format=json"], timeout=600)
    rows = json.loads(r.out) if r.out else []
    harness.ok(r.status == 0 and r.err == b"", ladder + " ends well", lambda: harness.describe(r))
    harness.is_([row["rung"] for row in rows if row["is_right"] is not True or not row["nchecks"]], [],
                ladder + ": every rung was checked and right")
    for kind in ("float32", "int32", "int64", "int128") + (("segmented",) if ladder == "scan" else ()):
        names = {row["rung"] for row in rows if row["type"] == kind and row["device"] == "gpu"}
        missing = set(RUNGS[ladder].split()) - names
        harness.is_("segment_walk" in names, kind == "segmented", "%s of %s: segments are walked or not" % (ladder, kind))
        atomic = {"segmented_atomic", "coarsened"} if kind == "int128" else set()
        harness.is_(missing, atomic & set(RUNGS[ladder].split()), "%s of %s: every rung is there" % (ladder, kind))
    check_figures(rows, ladder)


def check_chart(ladder):
    """draw.py makes a chart of the ladder's CSV."""
    r = run([ladder, "--n=1M", "--type=float32,int32", "--repeat=2", "--format=csv"], timeout=600)
    rows = list(csv.DictReader(io.StringIO(r.out.decode("utf-8"), newline="")))
    p = subprocess.run([sys.executable, harness.source("bench", "report", "draw.py")], input=r.out, stdout=subprocess.PIPE,
                       timeout=60)
    root = xml.etree.ElementTree.fromstring(p.stdout)
    bars = [g for g in root.iter(SVG + "g") if g.get("class") == "bar"]
    harness.ok(rows and root.tag == SVG + "svg", ladder + ": the chart is drawn", lambda: harness.describe(r))
    harness.is_(len(bars), len(rows), ladder + ": the chart has a bar for each rung")


WORKS = {
    "inflate": (["--n=4M", "--block=16K"], "zlib simple lookup shared shipped"),
    "group": (["--n=100K"], 3 * "simple warp shared sorted shipped "),
}


def check_work(ladder):
    """The ladders of blocks and of records: every rung is there, right and timed."""
    args, rungs = WORKS[ladder]
    r = run([ladder, *args, "--repeat=2", "--format=csv"], timeout=300)
    rows = list(csv.DictReader(io.StringIO(r.out.decode("utf-8"), newline="")))
    harness.ok(r.status == 0 and [row["rung"] for row in rows] == rungs.split(), ladder + ": every rung is there",
               lambda: harness.describe(r))
    harness.ok(all(row["is_right"] == "true" and int(row["nchecks"]) > 0 and float(row["gbps"]) > 0 for row in rows),
               ladder + ": each was checked, right and timed", lambda: harness.describe(r))
    refuses(ladder + ": an unknown rung", [ladder, "--rungs=nosuch"], 2, "'nosuch'", "shipped")


def check_with_gpu():
    for ladder in WORKS:
        check_work(ladder)
    for ladder in RUNGS:
        check_ladder(ladder)
        check_chart(ladder)
    r = run(["scan", "--n=100000", "--type=int32", "--rungs=shipped,cub", "--repeat=2", "--format=csv"])
    rows = list(csv.DictReader(io.StringIO(r.out.decode("utf-8"))))
    harness.is_([row["rung"] for row in rows if row["device"] == "gpu"], ["shipped", "cub"], "--rungs takes these only")
    r = run(["reduce", "--n=100000", "--rungs=shipped,cub", "--repeat=2"])
    harness.ok(r.status == 0 and b"reduce of float32" in r.out and b"% ceiling" in r.out, "the table of a run",
               lambda: harness.describe(r))
    refuses("an unknown rung", ["reduce", "--rungs=nosuch"], 2, "'nosuch'", "warp_shuffle")
    r = run(["ceilings", "--format=json"], timeout=300)
    rows = json.loads(r.out) if r.status == 0 else []
    harness.ok(len(rows) >= 6 and all(row["value"] > 0 and row["unit"] for row in rows), "ceilings",
               lambda: harness.describe(r))


# ---- make bench ---------------------------------------------------------------------------------

GROUPED = ("by-status by-host by-path by-account distinct-ids distinct-wide brc " +
           " ".join("h2o-q%d" % i for i in (1, 2, 3, 4, 5, 6, 7, 9, 10))).split()


def compare(folder, *args):
    command = [sys.executable, harness.source("bench", "csv", "compare.py"), "--gpustat", harness.program(), "--folder", folder,
               "--size", "200K", "--repeat", "1", "--threads", "1", *args]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def records_of(folder, kind, delimiter=","):
    with open(os.path.join(folder, kind + ".csv"), encoding="ascii", newline="") as f:
        return list(csv.DictReader(f, delimiter=delimiter))


def check_inputs(folder):
    """What the two inputs for groups are made of."""
    rows = records_of(folder, "keys")
    few, many = {str(i) for i in range(1, 101)}, {str(i) for i in range(1, 41)}
    harness.ok(len(rows) > 3000 and all(
        {row["id1"], row["id2"]} <= {"id%03d" % int(i) for i in few} and row["id3"] in {"id%010d" % int(i) for i in many}
        and {row["id4"], row["id5"]} <= few and row["id6"] in many and 1 <= int(row["v1"]) <= 5 and 1 <= int(row["v2"]) <= 15
        and re.fullmatch(r"\d\d?\.\d{6}|100\.000000", row["v3"]) for row in rows), "make bench: the records of keys", repr(rows[:3]))
    harness.is_([len({row[name] for row in rows}) for name in ("id1", "id4", "id3", "id6", "v1", "v2")], [100, 100, 40, 40, 5, 15],
                "make bench: its different keys")
    rows = records_of(folder, "stations", ";")
    harness.ok(len({row["station"] for row in rows}) == 413 and all(
        re.fullmatch(r"[A-Z][a-z]{1,14}\d{2,3}", row["station"]) and re.fullmatch(r"-?\d\d?\.\d", row["temperature"]) for row in rows),
               "make bench: the records of stations", repr(rows[:3]))


def check_comparison():
    """Each task runs at a small size, and no answer is wrong. Peers that start slowly are left out."""
    if not shutil.which(os.environ.get("CC", "cc").split()[0]):
        harness.skip("make bench", "no C compiler for its generator")
        return
    with tempfile.TemporaryDirectory() as folder:
        r = compare(folder, "--only", ",".join(GROUPED), *("--program=python:%s=" % name for name in ("polars", "chdb", "pyarrow")))
        said = r.stdout.decode("utf-8", "replace")
        rows = said.partition("how many times as long")[2].split("\n")
        harness.is_(sorted(line.split()[0] for line in rows[3:] if line), sorted(GROUPED), "make bench: a row for each task")
        harness.ok(r.returncode == 0 and "WRONG" not in said and " exit " not in said, "make bench: the answers agree",
                   said + r.stderr.decode("utf-8", "replace"))
        check_inputs(folder)


def main():
    check_comparison()
    check_counts()
    check_figures_in_print()
    check_formats()
    check_usage()
    check_help()
    check_full_disk()
    reason = reason_to_skip()
    if reason:
        check_without_gpu()
        harness.skip("every rung", reason)
    else:
        check_with_gpu()
    harness.done()


main()
