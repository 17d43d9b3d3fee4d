# SPDX-License-Identifier: MIT
"""gpustat-bench pipeline: the run that is timed is gpustat's own, and its figures hang together.

What it prints into --output must be what gpustat prints, chunk borders or not. The spans of the
trace, and the bars that draw.py makes of them, are counted against the table, and the chunks against the
size of the file. How long anything took is not tested.
"""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import harness

TOOL = "gpustat-bench"
SVG = "{http://www.w3.org/2000/svg}"
CHUNK = 10000
HOST = ["read", "map", "fold", "emit", "write"]


def run(args, **how):
    return harness.run(["pipeline"] + args, tool=TOOL, **how)


def refuses(name, args, status, *parts):
    harness.refuses(name, ["pipeline"] + args, None, status, *parts, tool=TOOL)


def make_input():
    """A table with quotes, missing values and a last line without LF."""
    path = os.path.join(harness.folder(), "input.csv")
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write("id,name,value\n")
        for i in range(12000):
            name = '"a, ""b""\n%d"' % i if i % 50 == 0 else "name%d" % (i % 7)
            f.write("%d,%s,%s\n" % (i, name, "" if i % 97 == 0 else "%d.%02d" % (i * 37 % 1000, i % 100)))
        f.write("12000,last,1.5")
    return path


def rounded(gbps):
    """Between what a speed may have been that is printed with 3 digits behind its point, from 10 on with 1."""
    off = 0.051 if gbps >= 9.99 else 0.00051
    return gbps - off, gbps + off


def hangs_together(row):
    """Times in order, and a percentage that follows from two speeds, as they are rounded. A device that got no
    chunk beside the others has figures of its stages apart alone."""
    if row["stage"] != "whole" and not row["nspans"]:
        return row["gbps"] is row["percent_of_ceiling"] is None and row["apart_gbps"] > 0 and not row["nbytes"]
    if not row["ceiling_gbps"]:
        return 0 < row["least_wall_ms"] <= row["wall_ms"] <= row["greatest_wall_ms"] and row["percent_of_ceiling"] is None
    (slowest, fastest), (low, high) = rounded(row["gbps"]), rounded(row["ceiling_gbps"])
    if not (0 < row["least_wall_ms"] <= row["wall_ms"] <= row["greatest_wall_ms"] and row["busy_ms"] > 0 and low > 0):
        return False
    least, most = 100 * slowest / high, 100 * fastest / low
    return least - 0.06 <= row["percent_of_ceiling"] <= most + 0.06 and (row["percent_busy"] or 0) <= 100.1


def is_speed_of_whole(row):
    """The input by the time, which is rounded to 0.001 ms."""
    slowest, fastest = (row["nbytes"] / (row["wall_ms"] + off) / 1e6 for off in (0.0005, -0.0005))
    low, high = rounded(row["gbps"])
    return low <= fastest and slowest <= high


def figures(name, args, chunk=None, apart=True):
    """The records of a run, after checks that hold of every run. apart: whether stages are timed apart."""
    r = run(["--repeat=2", "--format=json"] + args, chunk=chunk, timeout=120)
    rows = json.loads(r.out) if r.status == 0 and r.out else []
    harness.ok(r.status == 0 and r.err == b"" and len(rows) > 3, name + " ends well", lambda: harness.describe(r))
    harness.is_([row for row in rows if not hangs_together(row)], [], name + ": the figures hang together")
    whole = rows[-1] if rows else {}
    harness.ok(whole.get("stage") == "whole" and whole["device"] == "all" and is_speed_of_whole(whole),
               name + ": the last one is the whole, its speed the input by its time", repr(whole))
    harness.is_(sum(row["nbytes"] for row in rows if row["stage"] == "map"), whole.get("nbytes"),
                name + ": the whole is what was mapped")
    untimed = [row["stage"] for row in rows if row["device"] != "gpu" and not row["apart_gbps"]]
    harness.is_(untimed, [] if apart else [row["stage"] for row in rows], name + ": every stage was timed apart, or none")
    return rows


def stages(rows, device="cpu"):
    return {row["stage"]: row for row in rows if row["device"] == device}


def read_trace(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def check_trace(name, rows, path):
    """The trace has the table's spans and the timeline a bar for each."""
    counts = {row["stage"]: row["nspans"] for row in rows if row["stage"] != "whole"}
    nbytes = {row["stage"]: row["nbytes"] for row in rows}
    whole, *spans = read_trace(path)
    harness.is_({s: sum(span["stage"] == s for span in spans) for s in counts}, counts,
                name + ": the trace has every span")
    harness.is_(len(spans), sum(counts.values()), name + ": and no others")
    harness.is_({s: sum(int(span["nbytes"]) for span in [whole] + spans if span["stage"] == s) for s in nbytes}, nbytes,
                name + ": with its bytes")
    harness.ok(whole["stage"] == "whole" and all(
        -1e3 <= float(span["begin_us"]) <= float(span["end_us"]) <= float(whole["end_us"]) for span in spans),
        name + ": in order, and within the run", repr(whole))
    p = subprocess.run([sys.executable, harness.source("bench", "report", "draw.py"), path], stdout=subprocess.PIPE,
                       timeout=60)
    root = xml.etree.ElementTree.fromstring(p.stdout)
    bars = [bar.find(SVG + "title").text for bar in root.iter(SVG + "rect") if bar.get("class") == "bar"]
    harness.is_(sorted(bars), sorted("%(stage)s %(chunk)s" % span for span in spans),
                name + ": the timeline has a bar for each")


def check_reduction(path):
    trace = os.path.join(harness.folder(), "sum.trace")
    nbytes = os.path.getsize(path)
    for nthreads in ("1", "3"):
        name = "a sum, threads: " + nthreads
        rows = figures(name, ["--trace", trace, "--", "--device=cpu", "--threads", nthreads, "--sum=value", path], CHUNK)
        of = stages(rows)
        header = len("id,name,value\n")
        harness.is_(list(of), ["read", "map", "fold"], name + ": its stages")
        harness.is_([of[s]["nbytes"] for s in of], [nbytes - header] * 3, name + ": all bytes go through each")
        least = (nbytes - header + CHUNK - 1) // CHUNK
        harness.ok(least <= of["read"]["nspans"] <= least + 1 and of["map"]["nspans"] == of["read"]["nspans"]
                   and of["fold"]["nspans"] >= least, name + ": chunk by chunk", repr(of))
        check_trace(name, rows, trace)
        spans = read_trace(trace)[1:]
        chunks = {span["chunk"] for span in spans if span["stage"] == "read"}
        harness.is_(chunks, {str(i) for i in range(of["read"]["nspans"])}, name + ": every chunk was read")
        harness.is_({span["place"] for span in spans}, {"host"}, name + ": by the host")
        harness.ok({span["lane"] for span in spans} <= {str(i) for i in range(int(nthreads))},
                   name + ": in a lane for each thread")


def check_scan(path):
    trace, out = (os.path.join(harness.folder(), name) for name in ("scan.trace", "scan.out"))
    for options in (["--cumsum=value"], ["--where=value > 500", "--offsets=id >= 0"],
                    ["--cumsum=value", "--only", "--threads=1"], ["--by=name", "--cumsum=value"]):
        want = harness.run(["--device=cpu", "--header=yes"] + options + [path])
        name = " ".join(options)
        rows = figures(name, ["--trace", trace, "--output", out, "--", "--device=cpu"] + options + [path],
                       CHUNK)
        with open(out, "rb") as f:
            got = f.read()
        harness.is_(got, want.out.split(b"\n", 1)[1], name + ": --output has gpustat's records")
        harness.is_(list(stages(rows)), HOST, name + ": the stages")
        whole = rows[-1]["output_nbytes"] if rows else 0
        harness.ok(0 < whole <= len(got), name + ": what workers printed, seams apart", "%d of %d" % (whole, len(got)))
        check_trace(name, rows, trace)


def check_groups(path):
    rows = figures("sums by group", ["--", "--device=cpu", "--by=name", "--sum=value", path], CHUNK)
    harness.is_(list(stages(rows)), [stage for stage in HOST if stage not in ("emit", "write")],
                "sums by group: the stages")


def check_several_files(path):
    rows = figures("three files", ["--", "--device=cpu", "--sum=value", path, path, path])
    harness.is_(stages(rows)["map"]["nbytes"], 3 * (os.path.getsize(path) - 14), "their headers apart")


def lies_within(span, outer):
    return outer is not None and float(outer["begin_us"]) - 1 <= float(span["begin_us"]) \
        and float(span["end_us"]) <= float(outer["end_us"]) + 1


def check_compressed(path):
    """No stage is timed apart; those of sections lie within read. What they are made of adds up."""
    trace, packed = (os.path.join(harness.folder(), name) for name in ("packed.trace", "input.csv.gz"))
    with open(path, "rb") as f:
        text = f.read()
    with gzip.open(packed, "wb") as f:
        f.write(text)
    for nthreads in ("1", "3"):
        name = "one .gz, threads: " + nthreads
        rows = figures(name, ["--trace", trace, "--", "--device=cpu", "--threads", nthreads, "--sum=value", packed], CHUNK, apart=False)
        of = stages(rows)
        harness.is_(of["map"]["nbytes"], len(text) - 14, name + ": all of the text")
        harness.is_("resolve" in of, nthreads == "3", name + ": decoded in sections by several threads alone")
        if nthreads == "3":
            text_nbytes = sum(of[stage]["nbytes"] for stage in ("bytes", "redo", "symbols") if stage in of)
            harness.ok(0 < of["resolve"]["nbytes"] <= min(text_nbytes, len(text)), name + ": what was decoded became text", repr(of))
            spans = read_trace(trace)[1:]
            reads = {(span["lane"], span["chunk"]): span for span in spans if span["stage"] == "read"}
            ends = {lane: max(float(span["end_us"]) for (of_lane, _), span in reads.items() if of_lane == lane) for lane, _ in reads}
            outside = [span for span in spans if span["stage"] in ("find", "symbols", "turn", "bytes", "redo", "resolve")
                       and not lies_within(span, reads.get((span["lane"], span["chunk"])))
                       and float(span["begin_us"]) < ends.get(span["lane"], 0)]  # behind the last one, no chunk was left
            harness.ok(not outside, name + ": each of them lies within the read of its chunk", lambda: repr(outside[:3]))
        check_trace(name, rows, trace)
    r = run(["--repeat=1", "--", "--device=cpu", "--sum=value", packed])
    harness.ok(r.status == 0 and b"ceilings: none; compressed input" in r.out, "the table of one .gz", lambda: harness.describe(r))


def check_formats(path):
    args = ["--repeat=1", "--", "--device=cpu", "--threads=2", "--sum=value", path]
    r = run(args)
    text = r.out.decode("utf-8")
    harness.ok(r.status == 0 and r.err == b"" and "whole run: " in text and "ceilings, GB/s of input: read " in text
               and "; slowest: read" in text and re.search(r"(?m)^cpu +map +[0-9.]+ ", text)
               and re.search(r"(?m)^all +whole +", text), "the table", lambda: harness.describe(r))
    r = run(["--format=csv"] + args)
    records = list(csv.DictReader(io.StringIO(r.out.decode("utf-8"), newline="")))
    harness.is_([row["stage"] for row in records], ["read", "map", "fold", "whole"], "as CSV")
    r = run(args[:1] + [path])
    harness.ok(r.status == 0, "without any of gpustat's options: the summary", lambda: harness.describe(r))


def check_refusals(path):
    refuses("an unknown option of gpustat's", ["--", "--frob", path], 2, "'--frob'")
    refuses("an option of gpustat's before --", ["--sum=value", path], 2, "--sum")
    refuses("an unknown column", ["--", "--sum=nosuch", path], 2, "'nosuch'")
    refuses("no such file", ["--", "--sum=value", "/nonexistent/x.csv"], 1, "/nonexistent/x.csv: cannot open")
    refuses("standard input", ["--", "--sum=value"], 2, "several times")
    with open(path, "rb") as f:
        r = run(["--", "--sum=value", "-"], stdin=f.read())
    harness.ok(r.status == 2 and b"several times" in r.err, "by name", lambda: harness.describe(r))
    refuses("help of gpustat's", ["--", "--help"], 2, "pipeline times a run")
    refuses("an option of the ladders", ["--rungs=cub", path], 2, "pipeline takes no --rungs")
    refuses("a trace that cannot be", ["--trace=/nonexistent/x.csv", path], 1, "/nonexistent/x.csv: cannot open")
    kept = harness.fixture("kept.csv", b"kept")
    refuses("an unknown column, with a trace", ["--trace", kept, "--", "--sum=nosuch", path], 2, "'nosuch'")
    with open(kept, "rb") as f:
        harness.is_(f.read(), b"kept", "and a trace that is there stays")
    refuses("an output that cannot be", ["--output=/nonexistent/x", path], 1, "/nonexistent/x: cannot open")
    harness.refuses("--output for a ladder", ["scan", "--output=x"], None, 2, "scan takes no --output", tool=TOOL)
    bad = os.path.join(harness.folder(), "bad.csv")
    with open(bad, "w", encoding="utf-8") as f:
        f.write("a,b\n1,2\nx,4\n")
    refuses("a value that is no number", ["--", "--device=cpu", "--sum=a", bad], 1, "bad.csv:3", "'x'")
    empty = os.path.join(harness.folder(), "empty.csv")
    with open(empty, "w", encoding="utf-8") as f:
        f.write("a,b\n")
    refuses("no records", ["--", "--device=cpu", "--sum=a", empty], 2, "no records")
    if os.path.exists("/dev/full"):
        refuses("records to a full disk", ["--output=/dev/full", "--", "--device=cpu", "--cumsum=value", path], 1,
                "write error")
        r = run(["--repeat=1", "--trace=/dev/full", "--", "--device=cpu", "--sum=value", path])
        harness.ok(r.status == 1 and r.err.startswith(b"gpustat-bench: /dev/full: write error: No space left"),
                   "a trace to a full disk", lambda: harness.describe(r))


def check_gpu(path):
    r = run(["--repeat=1", "--", "--device=gpu", "--sum=value", path])
    if r.status == 1 and b"no usable GPU" in r.err:
        harness.skip("a GPU's pipeline", r.err.decode("utf-8", "replace").strip().split("\n")[-1])
        return
    trace, out = (os.path.join(harness.folder(), name) for name in ("gpu.trace", "gpu.out"))
    rows = figures("a sum on a GPU", ["--trace", trace, "--", "--device=gpu", "--sum=value", path], 10 * CHUNK)
    harness.ok({"read", "map", "copy_up", "records", "column_fold", "copy_back"} <= set(stages(rows, "gpu")),
               "a sum on a GPU: its stages", repr(rows))
    check_trace("a sum on a GPU", rows, trace)
    rows = figures("running totals on a GPU",
                   ["--trace", trace, "--output", out, "--", "--device=gpu", "--cumsum=value", path], 10 * CHUNK)
    harness.ok({"read", "copy_up", "records", "fields", "reduce", "scan", "format", "copy_back", "write"}
               <= set(stages(rows, "gpu")), "running totals on a GPU: their stages", repr(rows))
    check_trace("running totals on a GPU", rows, trace)
    want = harness.run(["--device=cpu", "--cumsum=value", path])
    with open(out, "rb") as f:
        harness.is_(f.read(), want.out.split(b"\n", 1)[1], "running totals on a GPU: the records")
    rows = figures("sums by group on a GPU", ["--", "--device=gpu", "--by=name", "--sum=value", path], 10 * CHUNK)
    harness.ok("groups" in stages(rows, "gpu"), "sums by group on a GPU: their stage", repr(rows))
    rows = figures("all devices", ["--", "--device=all", "--sum=value", path], 10 * CHUNK)
    harness.ok(stages(rows, "cpu") or stages(rows, "gpu"), "all devices: somebody worked", repr(rows))


def main():
    path = make_input()
    check_reduction(path)
    check_scan(path)
    check_groups(path)
    check_several_files(path)
    check_compressed(path)
    check_formats(path)
    check_refusals(path)
    check_gpu(path)
    harness.done()


main()
