#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py SOURCES OBJECT...: a table of gcov's counts for the files below SOURCES.

A line or branch counts once, however many objects a header is compiled into.
"""
import collections
import json
import os
import subprocess
import sys


def counts(top, objects):
    """{file: ({line: times}, {(line, branch): times})}"""
    lines, branches = collections.defaultdict(dict), collections.defaultdict(dict)
    for path in objects:
        run = subprocess.run(["gcov", "-b", "--json-format", "--stdout", path], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False)
        for text in run.stdout.splitlines():
            for file in json.loads(text)["files"]:
                name = os.path.realpath(file["file"])
                if not name.startswith(top + os.sep):
                    continue
                name = os.path.relpath(name, top)
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[name][number] = max(lines[name].get(number, 0), line["count"])
                    for k, branch in enumerate(b for b in line["branches"] if not b["throw"]):
                        key = number, k
                        branches[name][key] = max(branches[name].get(key, 0), branch["count"])
    return lines, branches


def share(found):
    return sum(n > 0 for n in found.values()), len(found)


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def main():
    lines, branches = counts(os.path.realpath(sys.argv[1]), sys.argv[2:])
    rows = sorted((percent(*share(branches[name])), name) for name in lines)
    print("%-24s %15s %15s" % ("file", "lines", "branches"))
    for _, name in rows:
        print("%-24s %9d %5.1f %9d %5.1f" % (name, len(lines[name]), percent(*share(lines[name])),
                                             len(branches[name]), percent(*share(branches[name]))))
    for what, table in (("lines", lines), ("branches", branches)):
        pairs = [share(found) for found in table.values()]
        part, whole = sum(p for p, _ in pairs), sum(w for _, w in pairs)
        print("%s: %d of %d, %.1f %%" % (what, part, whole, percent(part, whole)))


main()
