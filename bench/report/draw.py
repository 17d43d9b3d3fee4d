#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws CSV of gpustat-bench as SVG: a ladder as a bar chart, the trace of a pipeline as a timeline.

    gpustat-bench reduce --format csv | bench/report/draw.py > reduce.svg
    gpustat-bench pipeline --trace sum.csv -- --sum bytes logs.csv && bench/report/draw.py sum.csv > sum.svg

A picture has its own background, for light and dark pages, and needs no font, script or other file.
"""
import argparse
import csv
import html
import itertools
import re
import sys

WIDTH, HEADER = 960, 66
PAGE, TEXT, FAINT, GRID, PEAK = "#ffffff", "#1f2328", "#59636e", "#e6eaef", "#8c2f5b"  # each contrasts with PAGE
FONTS = "system-ui, 'Segoe UI', 'Liberation Sans', Helvetica, Arial, sans-serif"
SPANS_MAX = 4000  # a viewer still shows so many quickly
STAGES = {"read": "#2f6fb5", "find": "#8fb7de", "symbols": "#5b95cc", "turn": "#dfe5ec",
          "bytes": "#1f4f80", "redo": "#d1242f", "resolve": "#74c7c0", "map": "#c77700", "fold": "#17733f", "emit": "#8c2f5b", "write": "#1f2328",
          "copy_up": "#4a90d9", "expand": "#b0503c", "inflate": "#e0785a", "check": "#f2b8a0", "records": "#e09b2d", "column_fold": "#2e9e5b",
          "fields": "#7bbf4a", "groups": "#b8a12e", "reduce": "#0f5c4d", "keep": "#3f8f9c",
          "scan": "#7a5cc2", "format": "#c2478a", "copy_back": "#6e7781"}
OF_READ = ("find", "symbols", "turn", "bytes", "redo", "resolve")  # parts of it, drawn above it
LANES = {("cpu", "host"): "CPU threads", ("gpu", "host"): "threads that feed GPUs: reading, and calls that wait",
         ("gpu", "up"): "streams of GPUs, copying up", ("gpu", "kernels"): "streams of GPUs, kernels",
         ("gpu", "back"): "streams of GPUs, copying back"}


def text(x, y, words, anchor="start", fill=TEXT, size=13, weight=400):
    return ('<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" font-size="%d" font-weight="%d">%s</text>\n'
            % (x, y, anchor, fill, size, weight, html.escape(words)))


def line(x, top, bottom, stroke, more=""):
    return '<path d="M%.1f %.1fV%.1f" stroke="%s"%s/>\n' % (x, top, bottom, stroke, more)


def rect(x, y, width, height, fill, more="", title=""):
    return ('<rect%s x="%.2f" y="%.1f" width="%.2f" height="%d" fill="%s"><title>%s</title></rect>\n'
            % (more, x, y, width, height, fill, html.escape(title)))


def axis(begin, end, nmax, x_of, unit, top, bottom):
    """Grid lines at multiples of the least of 1, 2, 5 x 10^k, k >= -3, that gives nmax intervals at most."""
    step, factors = 0.001, itertools.cycle((2, 2.5, 2))
    while step * nmax < end - begin:
        step *= next(factors)
    yield text(x_of(begin) - 8, bottom + 16, unit, "end", FAINT, 11)
    for i in range(-int(-begin // step), int(end / step) + 1):
        yield line(x_of(i * step), top, bottom, GRID)
        yield text(x_of(i * step), bottom + 16, "%.10g" % (i * step), "middle", FAINT, 11)


def picture(height, heading, words, body):
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
            'font-family="%s">\n<title>%s</title>\n' % (WIDTH, height, WIDTH, height, FONTS, html.escape(heading))
            + rect(0.5, 0.5, WIDTH - 1, height - 1, PAGE, ' rx="6" stroke="#d0d7de"', heading)
            + text(24, 34, heading, size=19, weight=600) + text(24, 54, words, fill=FAINT) + "".join(body) + "</svg>\n")


def short(n):  # "536870912" -> "512Mi"
    power = next(power for power in (4, 3, 2, 1, 0) if int(n) % 1024 ** power == 0)
    return str(int(n) // 1024 ** power) + ("", "Ki", "Mi", "Gi", "Ti")[power]


def gbps(row):
    return float(row["nbytes"]) / float(row["median_us"]) / 1e3 if row["median_us"] else 0


def bar(row, y, x_of, n):
    """One rung. n: what most rungs of its type work on."""
    speed, peak, wrong, cpu = gbps(row), float(row["peak_gbps"] or 0), row["is_right"] != "true", row["device"] == "cpu"
    kinds = {"cub": "#8a5a00", "shipped": "#17733f"}
    fill = "#b3261e" if wrong else "#6e7781" if cpu else kinds.get(row["rung"].split("_")[0], "#2f6fb5")
    label = row["rung"] + (", " + row["fold"]) * (row["fold"] != "sum") + (", n = " + short(row["n"])) * (row["n"] != n)
    words = "WRONG " * wrong + (("%.2g GB/s" if speed < 10 else "%.0f GB/s") % speed if speed else "not timed")
    if speed and peak and not cpu:
        words += (", %.2g%% of peak" if speed < 0.1 * peak else ", %.1f%% of peak") % (100 * speed / peak)
    begin, end = x_of(0), max(x_of(speed), x_of(0) + 1)
    side = (-8, "end", PAGE) if end > 511 else (7, "start", TEXT)  # the speed is in a long bar, and behind a short one
    return ('<g class="bar">\n' + rect(begin, y, end - begin, 18, fill, title=row["idea"])
            + text(begin - 8, y + 13.5, label, "end") + text(end + side[0], y + 13.5, words, *side[1:]) + "</g>\n")


def panel(rows, y, x_of, scale):
    """The rungs of one type. The name of the lower limit is left of its line and the other right: they never meet."""
    top, bottom, n = y + 52, y + 52 + 24 * len(rows), max((row["n"] for row in rows), key=int)
    yield text(24, y + 20, "%s, n = %s" % (rows[0]["type"], short(n)), size=14, weight=600)
    yield from axis(0, scale, 8, x_of, "GB/s", top, bottom)
    name = ("read" if rows[0]["ladder"] == "reduce" else "copy") + ", measured:"
    limits = sorted(((float(rows[0]["ceiling_gbps"] or 0), name, TEXT, ' stroke-dasharray="4 3"'),
                     (float(rows[0]["peak_gbps"] or 0), "peak:", PEAK, "")), key=lambda limit: limit[0])
    for (speed, name, fill, dashes), dx, anchor in zip(limits, (-5, 5), ("end", "start")):
        if speed:
            yield line(x_of(speed), top - 16, bottom, fill, ' stroke-width="1.5"' + dashes)
            yield text(x_of(speed) + dx, top - 8, "%s %.0f" % (name, speed), anchor, fill, 11)
    yield from (bar(row, top + 24 * i + 3, x_of, n) for i, row in enumerate(rows))


def chart(rows):
    first, body, y = rows[0], [], HEADER
    speeds = [float(first[name] or 0) for name in ("peak_gbps", "ceiling_gbps")] + [gbps(row) for row in rows]
    scale = 1.01 * max(speeds) or 1  # one for all panels, so that bars compare across them
    for group in [list(group) for _, group in itertools.groupby(rows, lambda row: row["type"])]:
        body += panel(group, y, lambda speed: 265 + 615 * speed / scale, scale)
        y += 92 + 24 * len(group)
    heading = {"reduce": "Reductions", "scan": "Scans"}[first["ladder"]] + ", naive to shipped, on " + first["gpu"]
    return picture(y + 10, heading, "%s, %s" % (first["versions"], first["date"]), body)


def legend(spans):
    used, x = {span["stage"] for span in spans}, 24
    for stage in [stage for stage in STAGES if stage in used] + sorted(used - set(STAGES)):
        yield rect(x, HEADER + 3, 10, 10, STAGES.get(stage, FAINT)) + text(x + 14, HEADER + 12, stage, size=11)
        x += 30 + 6.2 * len(stage)


def lane(spans, y, name, x_of):
    yield text(82, y + 9, name, "end", FAINT, 10)
    for span in sorted(spans, key=lambda s: s["stage"] in OF_READ):
        x, end = (x_of(float(span[name]) / 1e3) for name in ("begin_us", "end_us"))
        yield rect(x, y, max(end - x, 0.1), 10, STAGES.get(span["stage"], FAINT), ' class="bar"',
                   "%(stage)s %(chunk)s" % span)


def timeline(rows, begin):
    whole, spans, body, y = rows[0], rows[1:], [], HEADER + 24
    total = float(whole["end_us"]) / 1e3
    length = total * min(1, SPANS_MAX / max(len(spans), 1))
    begin = (total - length) / 2 if begin is None else min(begin, total - length)
    end = begin + length
    x_of = lambda ms: 90 + 845 * min(max((ms - begin) / (length or 1), 0), 1)
    spans = [s for s in spans if float(s["begin_us"]) < end * 1e3 and float(s["end_us"]) > begin * 1e3]
    for place, title in LANES.items():
        group = [span for span in spans if (span["device"], span["place"]) == place]
        if group:
            body.append(text(24, y + 18, title, weight=600))
            y += 26
        for number in sorted({int(span["lane"]) for span in group}):
            name = "%s %d" % ("thread" if place[1] == "host" else "stream", number)
            body += lane([span for span in group if int(span["lane"]) == number], y, name, x_of)
            y += 12
    names = (("CPU threads", "threads"), ("GPUs", "gpus"), ("streams", "streams"))
    counts = "".join(", %s: %s" % (name, whole[column]) for name, column in names if whole[column] != "0")
    title = "Pipeline of %.1f MB%s; ms %.2f to %.2f of %.2f" % (float(whole["nbytes"]) / 1e6, counts, begin, end, total)
    words = "%s, %s, %s" % (whole["gpu"] or "no GPU in it", whole["versions"], whole["date"])
    return picture(y + 40, title, words, [*legend(spans), *axis(begin, end, 10, x_of, "ms", HEADER + 24, y + 4), *body])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", nargs="?", default="/dev/stdin", help="CSV of gpustat-bench (default: standard input)")
    parser.add_argument("--from", type=float, metavar="MS", dest="begin",
                        help="where to begin in a run of more than %d spans (default: its middle is drawn)" % SPANS_MAX)
    options = parser.parse_args()
    try:
        with open(options.file, encoding="utf-8", errors="replace", newline="") as source:
            # what XML forbids becomes U+FFFD
            lines = (re.sub("[^\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", line) for line in source)
            rows = list(csv.DictReader(lines, restval=""))
        svg = chart(rows) if "rung" in rows[0] else timeline(rows, options.begin)
        with open(sys.stdout.fileno(), "wb", closefd=False) as out:
            out.write(svg.encode("utf-8"))
    except OSError as error:
        sys.exit("draw.py: %s: %s" % (error.filename or "standard output", error.strerror))
    except (IndexError, KeyError, ValueError):
        sys.exit("draw.py: %s: neither a ladder nor a trace as CSV" % options.file)


main()
