#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes debian-packages.csv from a Debian package index read on stdin.

Takes the sections admin, net and utils, every package of them, in the index's
order, and keeps facts only: names, versions and sizes, no descriptions.
data/README.md says which index was used and how to get one.
"""

import csv
import sys

SECTIONS = {"admin", "net", "utils"}

# column of the table, field of the index
COLUMNS = [
    ("package", "Package"),
    ("version", "Version"),
    ("section", "Section"),
    ("priority", "Priority"),
    ("architecture", "Architecture"),
    ("installed_size_kib", "Installed-Size"),
    ("download_size_bytes", "Size"),
]


def stanzas(lines):
    """Yields each package's fields as a dict; continuation lines are dropped."""
    fields = {}
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if fields:
                yield fields
            fields = {}
        elif not line[0].isspace():
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    if fields:
        yield fields


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(name for name, _ in COLUMNS)
    for fields in stanzas(sys.stdin):
        if fields.get("Section") in SECTIONS:
            # A size that the index does not state stays an empty field.
            table.writerow(fields.get(field, "") for _, field in COLUMNS)


main()
