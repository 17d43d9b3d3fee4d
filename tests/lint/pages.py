# SPDX-License-Identifier: MIT
"""The pages hang together: every link leads to a file and a heading, README is short, the cookbook is numbered.

Each rule is a function of the pages, {path: text}, that returns complaints. It is asked twice: of the pages as they are, which
must give none, and of a copy with one place broken, which must give some.
"""
import glob
import os
import re

import harness

PAGES = ("README.md", "HACKING.md", "SECURITY.md", "docs/*.md", "data/README.md", "bench/csv/README.md")
README_LINES = 160
TASKS_MIN = 40


def read_pages():
    paths = (path for pattern in PAGES for path in glob.glob(harness.source(*pattern.split("/"))))
    pages = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            pages[os.path.relpath(path, harness.source()).replace(os.sep, "/")] = f.read()
    return pages


def prose(text):
    """A page without its blocks of code, where brackets and '#' mean other things."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"^    .*$", "", text, flags=re.M)


def anchors(text):
    """The names that GitHub gives to the headings: lower case, without signs, blanks as hyphens."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.M)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def links(text):
    """(target, anchor) of each link that leads to a place in this repository."""
    found = re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", re.sub(r"`[^`\n]*`", "", prose(text)))
    return [link for link in found if not re.match(r"[a-z]+:", link[0])]


def broken_links(pages):
    for page, text in sorted(pages.items()):
        for target, anchor in links(text):
            path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
            if not os.path.exists(harness.source(*path.split("/"))):
                yield "%s: no file %s" % (page, path)
            elif anchor and anchor not in anchors(pages.get(path, "")):
                yield "%s: no heading %s in %s" % (page, anchor, path)


def long_readme(pages):
    nlines = pages["README.md"].count("\n")
    if nlines >= README_LINES:
        yield "README.md has %d lines" % nlines


def missing_commands(pages):
    """CI and people take these two from README."""
    for command in ("./bootstrap demo", "./bootstrap check"):
        if "\n    %s " % command not in pages["README.md"]:
            yield "README.md lacks " + command


def tasks(pages):
    return re.findall(r"^### (\d+)\. ", pages["docs/cookbook.md"], re.M)


def wrong_numbers(pages):
    """Tasks are numbered from 1 on; the two pages that say how many there are say so."""
    numbers = tasks(pages)
    if len(numbers) < TASKS_MIN or numbers != [str(k + 1) for k in range(len(numbers))]:
        yield "docs/cookbook.md: tasks %s" % ", ".join(numbers)
    for page in ("README.md", "docs/cookbook.md"):
        if not re.search(r"\b%d tasks\b" % len(numbers), pages[page]):
            yield "%s does not say %d tasks" % (page, len(numbers))


def wrong_contents(pages):
    """The cookbook's list of contents has every heading behind it, in order."""
    text = pages["docs/cookbook.md"]
    listed = re.findall(r"^ *- \[.*\]\(#(.*)\)$", text, re.M)
    if listed != anchors(text)[1:]:
        yield "docs/cookbook.md: the list differs from the headings"


RULES = (
    (broken_links, "README.md", "(docs/cookbook.md)", "(docs/cook.md)"),
    (broken_links, "docs/cookbook.md", "](#money)", "](#muney)"),
    (long_readme, "README.md", "\n", "\n\n"),
    (missing_commands, "README.md", "./bootstrap check", "make check"),
    (wrong_numbers, "docs/cookbook.md", "\n### 7. ", "\n### 8. "),
    (wrong_numbers, "README.md", "tasks:", "recipes:"),
    (wrong_contents, "docs/cookbook.md", "\n## Money\n", "\n## Cash\n"),
)


found = read_pages()
harness.ok(len(found) >= 8 and sum(len(links(text)) for text in found.values()) > 80, "pages and links were found", str(sorted(found)))
for rule, page, old, new in RULES:
    name = "%s: %s" % (rule.__name__.replace("_", " "), page)
    complaints = list(rule(found))
    harness.ok(not complaints, "no " + name, "\n".join(complaints))
    broken = dict(found, **{page: found[page].replace(old, new)})
    harness.ok(old in found[page] and list(rule(broken)), "seen: %s, %r for %r" % (name, new, old))
harness.done()
