# SPDX-License-Identifier: MIT
"""A model of pictures: bars and lines of characters, and what is wrong with an SVG. It computes in fractions from the
numbers that the same request prints as CSV, and asks Python's Unicode data for the width of characters."""
import decimal
import fractions
import math
import re
import unicodedata
import xml.etree.ElementTree as ET

F = fractions.Fraction
SVG = "{http://www.w3.org/2000/svg}"
NROWS_MAX, NBUCKETS, NLINES = 10000, 1024, 16


# ---- the model of bars ------------------------------------------------------------------------

def width_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shown(text):
    return "".join({"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(c, c) for c in text)


def looked_at(number):
    """A number of at most 6 significant digits, but for those before the point, which stay: those of a picture."""
    if not number:
        return number
    x = decimal.Decimal(number)
    places = max(5 - x.adjusted(), 0)
    if not x or -x.as_tuple().exponent <= places:
        return number
    with decimal.localcontext(prec=1000):
        text = format(x.quantize(decimal.Decimal(1).scaleb(-places)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def fitted(text, width, right, mark):
    if width_of(text) > width:
        kept = ""
        for c in text:
            if width_of(kept + c) > width - 1:
                break
            kept += c
        text, right = kept + mark, False
    pad = " " * (width - width_of(text))
    return pad + text if right else text + pad


def rounded(x):
    return math.floor(x + F(1, 2))


def scale_of(values):
    known = [F(v) for v in values if v] + [F(0)]
    return min(known), max(known)


def bar(value, room, span, utf8):
    n = max(rounded(abs(F(value)) * room * (8 if utf8 else 1) / span), 1) if F(value) else 0
    if not utf8:
        return "#" * n
    if F(value) > 0:
        return "█" * (n // 8) + " ▏▎▍▌▋▊▉"[n % 8].strip()
    parts = {0: "", 1: "▕", 2: "▕", 3: "▐", 4: "▐", 5: "▐", 6: "█", 7: "█"}
    return parts[n % 8] + "█" * (n // 8)


def blocks(table, nlabels, bounds, width, utf8):
    names, rows = [shown(c) for c in table[0]], [[shown(c) for c in row[:nlabels]] + [looked_at(c) for c in row[nlabels:]] for row in table[1:]]
    widths = [max([width_of(row[i]) for row in rows] + [width_of(names[i])]) for i in range(nlabels)]
    most = width // 2
    while most > 4 and sum(min(w, most) + 2 for w in widths) > width // 2:
        most -= 1
    widths = [min(w, most) for w in widths]
    label = lambda row: "".join(fitted(row[i], widths[i], bounds, "…" if utf8 else "~") + "  " for i in range(nlabels))
    out = []
    for k in range(nlabels, len(names)):
        low, high = scale_of(row[k] for row in rows)
        left = max(width - sum(w + 2 for w in widths), 0)
        taken = max([len(row[k]) for row in rows] + [0]) + 1 + (2 if low < 0 else 0)
        room = left - taken if left > taken + 8 else 8
        before = math.ceil(-low * room / (high - low)) if low < 0 else 0
        lines = [label(names) + names[k]]
        for row in rows:
            drawn = bar(row[k], room, high - low, utf8) if row[k] else ""
            below = row[k].startswith("-")
            line = label(row) + (drawn.rjust(before) if below else " " * before)
            line += ("│" if utf8 else "|") if low < 0 else ""
            lines.append((line + ("" if below else drawn) + " " + row[k]).rstrip(" "))
        out.append("".join(line + "\n" for line in lines))
    return "\n".join(out)


# ---- the model of a line ----------------------------------------------------------------------

def buckets(values):
    """The least and the greatest value of every so many records, texts, or None; and how many these are."""
    n = 1
    while len(values) > n * NBUCKETS:
        n *= 2
    parts = [[v for v in values[i:i + n] if v] for i in range(0, len(values), n)]
    return [(min(p, key=F), max(p, key=F)) if p else None for p in parts], n


def curve(values, name, width, utf8):
    kept = [v for v in values if v]
    if not kept:
        return name + ": no values\n"
    least, greatest = min(kept, key=F), max(kept, key=F)
    gutter = min(max(len(least), len(greatest)), width // 3)
    dots, ncolumns = (2 if utf8 else 1), width - gutter - 2
    top, n = NLINES * dots - 1, ncolumns * dots
    span = F(greatest) - F(least)
    place = lambda v: rounded((F(v) - F(least)) * top / span) if span else top // 2
    parts, _ = buckets(values)
    spans = []
    for i in range(n):
        begin, end = i * len(parts) // n, (i + 1) * len(parts) // n
        group = [p for p in parts[begin:max(end, begin + 1)] if p]
        spans.append((min(place(p[0]) for p in group), max(place(p[1]) for p in group)) if group else None)
    grid = [set() for _ in range(n)]
    for i, s in enumerate(spans):
        if s:
            low, high = s
            if i and spans[i - 1]:
                low, high = min(low, spans[i - 1][1] + 1), max(high, spans[i - 1][0] - 1)
            grid[i] = set(range(low, high + 1))
    line_of = lambda v: NLINES - 1 - place(v) // dots
    labels = {}
    if F(least) < 0 < F(greatest):
        labels[line_of("0")] = "0"
    labels[line_of(least)] = least
    labels[line_of(greatest)] = greatest
    quadrants = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
    out = ["%s: least %s, greatest %s, last %s" % (name, least, greatest, kept[-1])]
    for line in range(NLINES):
        label, y = labels.get(line, ""), (NLINES - line) * dots - 1
        label = label if len(label) <= gutter else label[:gutter - 1] + ("…" if utf8 else "~")
        if utf8:
            cells = "".join(quadrants[sum(1 << k for k in range(4) if y - k // 2 in grid[2 * i + k % 2])] for i in range(ncolumns))
        else:
            cells = "".join("#" if y in grid[i] else " " for i in range(ncolumns))
        out.append(label.rjust(gutter) + (" │" if utf8 else " |") + cells.rstrip(" "))
    out.append(" " * gutter + (" └" + "─" * ncolumns if utf8 else " +" + "-" * ncolumns))
    out.append(" " * gutter + "  1" + (str(len(values)).rjust(ncolumns - 1) if 1 < len(values) and len(str(len(values))) < ncolumns else ""))
    out.append(" " * (gutter + 2 + ncolumns // 2 - 3) + "record")
    return "".join(line + "\n" for line in out)


# ---- SVG --------------------------------------------------------------------------------------

def px(element, name):
    return F(element.get(name))


def near(a, b):
    return abs(a - b) <= F(1, 100)  # both may have been rounded


def ticks_fault(page, name, at, least, greatest, begin, length):
    """What is wrong with an axis' ticks: they must be at the values they name, evenly, at round numbers."""
    texts = [(F(t.text.replace("e", "E")), px(t, at)) for t in page]
    for value, place in texts:
        want = begin + (value - least) * length / (greatest - least) if greatest > least else begin
        if not near(place, want) or not least <= value <= greatest:
            return "%s: tick %s at %s, not %s" % (name, value, float(place), float(want))
    steps = {b[0] - a[0] for a, b in zip(texts, texts[1:])}
    if len(texts) > 10 or len(steps) > 1:
        return "%s: ticks %s" % (name, [float(t[0]) for t in texts])
    for step in steps:
        digits = str(step.numerator * 10 ** 40 // step.denominator).rstrip("0")
        if digits not in ("1", "2", "5"):
            return "%s: ticks are %s apart" % (name, step)
    return None


def bars_svg_fault(out, table, nlabels, between, title):
    """What is wrong with a bar chart, or None."""
    names, rows = table[0], [row[:nlabels] + [looked_at(c) for c in row[nlabels:]] for row in table[1:]]
    drawn = rows[:NROWS_MAX]
    root = ET.fromstring(out)
    if root.find(SVG + "title").text != title:
        return "title %r" % root.find(SVG + "title").text
    elements, panels = list(root), []
    for e in elements:
        if e.get("class") == "h":
            panels.append([])
        if panels:
            panels[-1].append(e)
    if len(panels) != len(names) - nlabels:
        return "%d panels" % len(panels)
    for k, panel in enumerate(panels, nlabels):
        if panel[0].text != shown(names[k]):
            return "panel %r" % panel[0].text
        groups = [e for e in panel if e.tag == SVG + "g"]
        if len(groups) != len(drawn):
            return "%d bars of %d" % (len(groups), len(drawn))
        low, high = scale_of(row[k] for row in drawn)
        rects = [r for g in groups for r in g.findall(SVG + "rect")]
        lengths = [(F(row[k]), r) for row, r in zip([row for row in drawn if row[k]], rects)]
        if len(rects) != len([row for row in drawn if row[k]]):
            return "%d rectangles" % len(rects)
        if high > low:
            longest = sum(px(max(side, key=lambda p: abs(p[0]))[1], "width") for side in ([p for p in lengths if p[0] < 0], [p for p in lengths if p[0] > 0]) if side)
            exact = [room for room in (longest + F(k, 100) for k in (-1, 0, 1))
                     if all(px(r, "width") == F(rounded(abs(v) * room * 100 / (high - low)), 100) for v, r in lengths)]
            if longest < 299 or not exact:
                return "bars as long as %s for %s" % ([r.get("width") for _, r in lengths], [str(v) for v, _ in lengths])
            room = exact[0]
            zero = px(rects[0], "x") + (px(rects[0], "width") if lengths[0][0] < 0 else 0)
            for value, r in lengths:
                if not near(px(r, "x") + (px(r, "width") if value < 0 else 0), zero):
                    return "bar of %s at %s, zero at %s" % (value, r.get("x"), float(zero))
            faint = [e for e in panel if e.get("class") == "f" and e.get("text-anchor") == "middle"]
            fault = ticks_fault(faint, names[k], "x", low, high, zero + low * room / (high - low), room)
            if fault:
                return fault
        for row, g in zip(drawn, groups):
            label, value = g.findall(SVG + "text")
            whole = shown(between.join(row[:nlabels]))
            if g.find(SVG + "title").text != "%s: %s" % (whole, row[k]) or (value.text or "") != row[k]:
                return "%r says %r, %r" % (row, g.find(SVG + "title").text, value.text)
            cut = fitted(whole, 44, False, "…").rstrip(" ") if width_of(whole) > 44 else whole
            if (label.text or "") != cut:
                return "label %r, not %r" % (label.text, cut)
    words = [e.text for e in elements if e.get("class") == "f" and e.get("y") == "54"]
    want = ["the first %d of %d" % (len(drawn), len(rows))] if len(drawn) < len(rows) else []
    return None if words == want else "words %r" % words


def curve_svg_fault(out, values, name):
    root = ET.fromstring(out)
    kept = [v for v in values if v]
    words = [e.text for e in root if e.get("class") == "f" and e.get("y") == "54"]
    if root.find(SVG + "title").text != name:
        return "title"
    if not kept:
        return None if words == ["no values"] else "words %r" % words
    least, greatest = min(kept, key=F), max(kept, key=F)
    if words != ["records 1 to %d: least %s, greatest %s, last %s" % (len(values), least, greatest, kept[-1])]:
        return "words %r" % words
    path = next(e for e in root if e.get("class") == "line").get("d")
    points = [(F(x), F(y)) for _, x, y in re.findall(r"([ML])([-\d.]+) ([-\d.]+)", path)]
    base = [e for e in root if e.tag == SVG + "path" and e.get("class") == "z"]
    left, bottom, right = next((F(a), F(b), F(c)) for a, b, c in (re.match(r"M(\S+) (\S+)L(\S+) \2$", e.get("d")).groups() for e in base
                                                                 if re.match(r"M(\S+) (\S+)L(\S+) \2$", e.get("d"))) if F(b) == 374)
    parts, n = buckets(values)
    span, records = F(greatest) - F(least), len(values) - 1
    want = []
    for i, part in enumerate(parts):
        if part:
            first, last = i * n, min((i + 1) * n, len(values)) - 1
            x = left + F(first + (last - first) // 2) * (right - left) / records if records else (left + right) / 2
            want.append((x, {bottom - (F(v) - F(least)) * 300 / span if span else bottom - 150 for v in part}))
    i = 0
    for x, ys in want:
        got = points[i:i + len(ys)]
        if len(ys) == 2 and len(got) == 2 and near(min(ys), max(ys)) and not near(got[0][0], got[1][0]):
            ys, got = {min(ys)}, got[:1]  # one point after rounding
        if len(got) != len(ys) or not all(near(g[0], x) for g in got) or not all(any(near(g[1], y) for g in got) for y in ys):
            return "point %d: %s, wanted %s at %s" % (i, [tuple(map(float, g)) for g in got], sorted(map(float, ys)), float(x))
        i += len(got)
    if i != len(points):
        return "%d points, not %d" % (len(points), i)
    faint = [e for e in root if e.get("class") == "f" and e.get("y") != "54" and e.text != "record"]
    across = [e for e in faint if e.get("text-anchor") == "middle"]
    fault = ticks_fault(across, "record", "x", F(1), F(len(values)), left, right - left) if records else None
    return fault
