# SPDX-License-Identifier: MIT
"""bench/report/draw.py: a bar for each rung of a ladder and each span of a trace, in well-formed XML, whatever the names.

The CSV is written here, in the form that tests/unit/test_report.c asks of gpustat-bench; tests/cli/pipeline.py and
tests/cli/bench.py draw what the program itself prints.
"""
import csv
import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import harness

SVG = "{http://www.w3.org/2000/svg}"
SCRIPT = harness.source("bench", "report", "draw.py")
HOSTILE = "GPU <&\"'>, \x01\x00\ufffe \u00e9"
HARMLESS = "GPU <&\"'>, \ufffd\ufffd\ufffd \u00e9"
N = 2 ** 29


def to_csv(rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def draw(data, *args, stdout=subprocess.PIPE):
    return subprocess.run([sys.executable, SCRIPT, *args], input=data, stdout=stdout, stderr=subprocess.PIPE, timeout=120)


class Picture:
    """What is drawn of CSV, in several views; makes sure that it was drawn without a word."""
    def __init__(self, name, data, *args):
        p = draw(data, *args)
        self.source = p.stdout.decode("utf-8")
        try:
            root = xml.etree.ElementTree.fromstring(self.source)
        except xml.etree.ElementTree.ParseError as error:
            root = xml.etree.ElementTree.Element("none")
            harness.note(error)
        harness.ok(p.returncode == 0 and not p.stderr and root.tag == SVG + "svg", name + ": well-formed",
                   lambda: p.stderr.decode("utf-8", "replace"))
        harness.ok(not re.search(r"href|url\(|<script|<style|nan\b|inf\b", self.source),
                   name + ": nothing from elsewhere is asked for, and every position is a number", self.source[:2000])
        self.texts = [element.text or "" for element in root.iter(SVG + "text")]
        self.bars = [element for element in root.iter() if element.get("class") == "bar"]
        self.titles = [element.findtext(SVG + "title") or "" for element in self.bars]
        self.fills = [element.get("fill") for element in self.bars]

    def has(self, count, text, name):
        harness.is_(self.texts.count(text), count, name)

    def window(self):
        """The part that is drawn, and the whole, in ms, from the heading."""
        return tuple(float(ms) for ms in re.search(r"; ms (\S+) to (\S+) of (\S+)$", self.texts_with("; ms ")[0]).groups())

    def texts_with(self, part):
        return [text for text in self.texts if part in text]


# ---- ladders ------------------------------------------------------------------------------------

def rung(name, kind, fold, n, us, right=True, **more):
    return dict(dict(ladder="reduce", type=kind, fold=fold, rung=name, idea='a < b && "c"', device="gpu", n=n, nbytes=4 * n,
                     median_us="%.3f" % us if us else "", is_right="true" if right else "false", peak_gbps="4814.0",
                     ceiling_gbps="4600.0", gpu=HOSTILE, versions="CUDA & driver", date="2026-11-21"), **more)


FIGURES = [rung("simple", "float32", "sum", 2048, 7.5), rung("cpu", "float32", "sum", N, 120000, device="cpu"),
           rung("warp_shuffle", "float32", "sum", N, 480), rung("shipped", "float32", "min", N, 470),
           rung("cub", "float32", "sum", N, 479), rung("warp_shuffle", "int32", "sum", N, 481, right=False),
           rung("not_timed", "int32", "sum", N, 0)]


def check_chart():
    p = Picture("a chart", to_csv(FIGURES))
    harness.is_(len(p.bars), len(FIGURES), "a bar for each rung")
    p.has(2, "warp_shuffle", "with its name")
    p.has(1, "simple, n = 2Ki", "and its n, where it is another")
    p.has(1, "shipped, min", "and its fold")
    p.has(1, "4474 GB/s, 92.9% of peak", "and its speed")
    p.has(1, "1.1 GB/s, 0.023% of peak", "also a low one")
    p.has(1, "18 GB/s", "and the CPU's, without the peak of a GPU")
    harness.is_(len(p.texts_with("WRONG ")), 1, "one is wrong")
    p.has(1, "not timed", "one was not timed")
    p.has(1, "float32, n = 512Mi", "a panel of float32")
    p.has(1, "int32, n = 512Mi", "a panel of int32")
    p.has(2, "peak: 4814", "both with the peak")
    p.has(2, "read, measured: 4600", "and the ceiling")
    p.has(1, "Reductions, naive to shipped, on " + HARMLESS, "what XML has no place for is replaced, and the rest escaped")
    p.has(1, "CUDA & driver, 2026-11-21", "versions and the day")
    harness.is_(p.source.count("<title>a &lt; b &amp;&amp; &quot;c&quot;</title>"), len(FIGURES), "each bar's title is its idea")
    harness.is_(sorted(set(re.findall(r'<g class="bar">\n<rect x="265.00" y="[0-9.]+" width="([0-9.]+)"', p.source)))[:1],
                ["1.00"], "the shortest bar is seen, too")
    p = Picture("a chart of bytes that are no UTF-8", to_csv(FIGURES).replace("\u00e9".encode("utf-8"), b"\xff"))
    p.has(1, "Reductions, naive to shipped, on " + HARMLESS.replace("\u00e9", "\ufffd"), "they are replaced")


def check_limits():
    p = Picture("without limits", to_csv([dict(row, peak_gbps="", ceiling_gbps="") for row in FIGURES]))
    harness.ok("peak" not in p.source and "measured" not in p.source, "without a peak nothing is said of it")
    p = Picture("nothing timed", to_csv([dict(FIGURES[0], median_us="", peak_gbps="", ceiling_gbps="", ladder="scan")]))
    harness.ok(p.texts_with("Scans, naive to shipped"), "a ladder of scans", p.source)
    for peak, ceiling, left in (("4814.0", "4600.0", "copy"), ("4600.0", "4814.0", "peak"), ("4600.0", "4600.0", "copy")):
        p = Picture("peak %s, ceiling %s" % (peak, ceiling),
                    to_csv([dict(FIGURES[0], ladder="scan", peak_gbps=peak, ceiling_gbps=ceiling)]))
        anchors = dict(re.findall(r'text-anchor="(\w+)"[^>]*>(copy|peak)', p.source))
        harness.is_(anchors, {"end": left, "start": "peak" if left == "copy" else "copy"}, "the lower one's name stands left")


# ---- traces -------------------------------------------------------------------------------------

def span(device, lane, place, stage, chunk, begin_ms, end_ms):
    return dict(device=device, lane=lane, place=place, stage=stage, chunk=chunk, begin_us="%.3f" % (1e3 * begin_ms),
                end_us="%.3f" % (1e3 * end_ms))


def whole(end_ms):
    return dict(span("all", "", "", "whole", "", 0, end_ms), nbytes=1500000, threads=1, gpus=1, streams=2, gpu=HOSTILE,
                versions="gpustat-bench 0.1.0", date="2026-11-21")


def chunks(n):
    """n chunks, one after the other, of 2 ms: half read, half mapped."""
    return [whole(2 * n)] + [row for i in range(n) for row in (
        span("cpu", 0, "host", "read", i, 2 * i, 2 * i + 1), span("cpu", 0, "host", "map", i, 2 * i + 1, 2 * i + 2))]


def check_timeline():
    p = Picture("a timeline", to_csv(chunks(5) + [
        span("gpu", 0, "host", "read", 5, 0, 1), span("gpu", 0, "up", "copy_up", 5, 1, 2),
        span("gpu", 0, "back", "copy_back", 5, 4, 4), span("gpu", 0, "host", "fold", 5, 2, 5)]))
    harness.is_(len(p.bars), 14, "a bar for each span, also for one of no length")
    harness.is_(min(float(bar.get("width")) for bar in p.bars), 0.1, "which is seen")
    harness.is_(sum(title.startswith("map ") for title in p.titles), 5, "with its stage")
    harness.is_(p.titles.count("fold 5"), 1, "and its chunk")
    p.has(1, "CPU threads", "lanes of CPUs")
    p.has(1, "streams of GPUs, copying up", "of streams, for each place")
    p.has(0, "streams of GPUs, kernels", "where anything was done")
    p.has(2, "thread 0", "lanes have a number")
    p.has(1, "read", "the legend has each stage once")
    p.has(0, "emit", "and no others")
    p.has(1, "10", "the axis ends at 10 ms")
    p.has(1, "ms", "with its unit")
    p.has(1, "Pipeline of 1.5 MB, CPU threads: 1, GPUs: 1, streams: 2; ms 0.00 to 10.00 of 10.00", "the heading")
    p.has(1, HARMLESS + ", gpustat-bench 0.1.0, 2026-11-21", "names are escaped")
    harness.is_([bar.get("x") for bar in p.bars[:3]], ["90.00", "174.50", "259.00"], "a bar lies where its time is")
    p = Picture("no GPU", to_csv([dict(whole(10), gpus=0, streams=0, gpu="")] + chunks(5)[1:]))
    p.has(1, "Pipeline of 1.5 MB, CPU threads: 1; ms 0.00 to 10.00 of 10.00", "it is not in the heading")
    p.has(1, "no GPU in it, gpustat-bench 0.1.0, 2026-11-21", "and said to be none")


def check_window():
    for n, args, want in ((2000, [], (0, 4000, 4000)), (20000, [], (18000, 22000, 40000)),
                          (20000, ["--from", "0"], (0, 4000, 40000)), (20000, ["--from=100.5"], (100.5, 4100.5, 40000)),
                          (20000, ["--from", "1000000"], (36000, 40000, 40000))):
        p = Picture("%d spans %s" % (2 * n, " ".join(args)), to_csv(chunks(n)), *args)
        harness.is_(p.window(), want, "the part of it that is drawn")
        harness.ok(4000 <= len(p.bars) <= 4002, "has no more bars than a viewer shows quickly", str(len(p.bars)))
    p = Picture("one span too many", to_csv(chunks(2000) + [span("cpu", 0, "host", "read", 1, 0, 1)]))
    begin, end, total = p.window()
    harness.ok(begin > 0 and end < total, "a part of it", str(p.window()))
    p = Picture("nothing at all", to_csv([whole(0)]))
    harness.is_(len(p.bars), 0, "no bar")


def check_stages():
    """Every stage has a colour of its own; an unknown one is drawn, too."""
    with open(harness.source("src", "engine", "stage.h"), encoding="utf-8") as f:
        stages = re.findall(r'^\tSTAGE\(\w+, "(\w+)"', f.read(), re.M)
    rows = [span("cpu", 0, "host", stage, i, i, i + 1) for i, stage in enumerate(stages + ["nosuch"])]
    p = Picture("every stage", to_csv([whole(len(rows))] + rows))
    harness.ok(len(stages) > 10 and len(set(p.fills)) == len(rows), "a colour for each stage of stage.h", str(p.fills))
    harness.is_([stage for stage in stages + ["nosuch"] if stage not in p.texts], [], "and a line of the legend")


# ---- errors -------------------------------------------------------------------------------------

def refuses(name, p, *parts):
    err = p.stderr.decode("utf-8", "replace")
    harness.ok(p.returncode == 1 and not p.stdout and err.startswith("draw.py: ") and err.count("\n") == 1
               and all(part in err for part in parts), name, "%d: %s" % (p.returncode, err))


def check_errors():
    for name, data in (("empty input", b""), ("a heading alone", to_csv(FIGURES).split(b"\n", maxsplit=1)[0] + b"\n"),
                       ("a table", b"reduce of float32\nrung n time us\nsimple 2Ki 7.5\n"), ("another CSV", b"a,b\n1,2\n"),
                       ("a ladder cut off", to_csv(FIGURES) + b"reduce,float32"),
                       ("a trace that lacks columns", b"begin_us,end_us\n0,1\n"), ("JSON", b'[{"rung": "simple"}]\n')):
        refuses(name, draw(data), "neither a ladder nor a trace")
    refuses("no such file", draw(b"", "/nonexistent/x.csv"), "/nonexistent/x.csv: No such file")
    if not os.path.exists("/dev/full"):
        harness.skip("a full disk", "no /dev/full")
        return
    with open("/dev/full", "wb") as full:
        refuses("a full disk", draw(to_csv(FIGURES), stdout=full), "No space left")


def main():
    check_chart()
    check_limits()
    check_timeline()
    check_window()
    check_stages()
    check_errors()
    harness.done()


main()
