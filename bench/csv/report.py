# SPDX-License-Identifier: MIT
"""The tables: as text, in columns, or as Markdown."""
import collections

import measure

# runs: measure.Run of each repeat. said: the words for the answer, or why there is none. agrees: False
# if the answer is wrong.
Outcome = collections.namedtuple("Outcome", "contestant runs said agrees")

HEADINGS = ("", "threads", "seconds", "spread", "GB/s", "x gpustat", "x 1 thread", "peak MB",
            "answer")
SUMMARY_HEADINGS = ("task", "seconds", "GB/s", "duckdb", "duckdb, 1 thread", "best peer", "",
                    "limit", "", "peak MB")
LEFT = ("", "answer")


def table(rows, headings, markdown):
    """Lines. A column is flush left if its heading is in LEFT or it is the first one."""
    if markdown:
        rule = ["---" if h in LEFT or i == 0 else "---:" for i, h in enumerate(headings)]
        return ["| %s |" % " | ".join(cell.replace("|", "\\|") for cell in row)
                for row in (headings, rule, *rows)]
    widths = [max(len(row[i]) for row in (headings, *rows)) for i in range(len(headings))]
    lines = []
    for row in (headings, *rows):
        cells = [cell.ljust(w) if h in LEFT or i == 0 else cell.rjust(w)
                 for i, (cell, w, h) in enumerate(zip(row, widths, headings))]
        lines.append("  ".join(cells).rstrip())
    return lines


def seconds_of(outcome):
    """The median; None if no run succeeded."""
    whole = [r for r in outcome.runs if not r.problem]
    return measure.median(whole) if whole and len(whole) == len(outcome.runs) else None


def of_gpustat(outcomes, threads):
    """The time of gpustat with this number of threads and no other option."""
    return next((seconds_of(o) for o in outcomes
                 if o.contestant.name == "gpustat" and o.contestant.threads == threads), None)


def ratio(seconds, base):
    return "%.2f" % (seconds / base) if seconds and base else ""


def peak(runs):
    nbytes = max((r.peak_nbytes for r in runs), default=0)
    floor = measure.peak_floor()
    return "<= %.0f" % (floor / 1e6) if nbytes <= floor else "%.0f" % (nbytes / 1e6)


def task_rows(outcomes, nbytes, threads):
    several, one = of_gpustat(outcomes, threads), of_gpustat(outcomes, 1)
    rows = []
    for o in outcomes:
        seconds = seconds_of(o)
        count = "" if o.contestant.threads is None else str(o.contestant.threads)
        if seconds is None:
            rows.append((o.contestant.name, count, "", "", "", "", "", "", o.said))
            continue
        rows.append((o.contestant.name, count, "%.4f" % seconds,
                     "%.0f%%" % (100 * measure.spread(o.runs)) if len(o.runs) > 1 else "once",
                     "%.2f" % (nbytes / seconds / 1e9), ratio(seconds, several),
                     ratio(seconds, one), peak(o.runs), o.said))
    return rows


def of_task(task, outcomes, nbytes, threads, markdown):
    """The lines of one task's table, with a heading."""
    title = "%s: %s (%.0f MB of text)" % (task.name, task.title, nbytes / 1e6)
    rows = task_rows(outcomes, nbytes, threads)
    return ["", "### " + title if markdown else title, "", *table(rows, HEADINGS, markdown)]


def _least(outcomes, role, base):
    """(ratio, name) of the fastest in this role with a right answer."""
    timed = [(seconds_of(o), o.contestant.name) for o in outcomes
             if o.contestant.role == role and seconds_of(o) and o.agrees]
    if not timed or not base:
        return "", ""
    return ratio(min(timed)[0], base), min(timed)[1]


def _duckdb(outcomes, threads):
    """The time of the faster DuckDB divided by gpustat's with the same number of threads."""
    same = [o for o in outcomes if o.contestant.name.startswith("duckdb")
            and o.contestant.threads == threads]
    return _least(same, "peer", of_gpustat(outcomes, threads))[0]


def summary_row(task, outcomes, nbytes, threads):
    base = of_gpustat(outcomes, threads)
    if base is None:
        return None
    gpustat = next(o for o in outcomes if o.contestant.name == "gpustat")
    return (task.name, "%.4f" % base, "%.2f" % (nbytes / base / 1e9),
            _duckdb(outcomes, threads), _duckdb(outcomes, 1), *_least(outcomes, "peer", base),
            *_least(outcomes, "limit", base), peak(gpustat.runs))


def summary(rows, threads, markdown):
    """rows: from summary_row."""
    title = "gpustat, threads: %d; and how many times as long others take" % threads
    return ["", "### " + title if markdown else title, "",
            *table(rows, SUMMARY_HEADINGS, markdown)]


def instructions(rows, markdown):
    """rows: (task's name, instructions a byte, instructions of a start), numbers or a complaint."""
    title = "Instructions of gpustat, one thread, AVX2 (valgrind --tool=callgrind)"
    shown = [(name, "%.2f" % rate, "%.0f" % (start / 1000)) if isinstance(rate, float)
             else (name, rate, "") for name, rate, start in rows]
    return ["", "### " + title if markdown else title, "",
            *table(shown, ("task", "a byte of text", "thousands at start"), markdown)]
