# SPDX-License-Identifier: MIT
"""The source says what the design says: arrows point down, one file speaks, one file ends.

Rules are functions of a tree, {path: text}, that return complaints. Each is asked twice: of the
tree as it is, which must give none, and of a copy with one line broken, which must give some.
Nothing is built or run, so this test needs neither the program nor a compiler.
"""
import functools
import glob
import os
import re

import harness

# HACKING.md's map names the folders in this order; there is no second list.
MAP_ROW = r"^\| `((?:src|kernels|bench)/\w+)/` \|"
LEVELS = ("fold", "warp", "block", "grid")
SPEAKS = "src/io/message.c"
ENDS = ("src/run/main.c", "src/mpi/main.c", "bench/run/main.c")
MAY_TRAP = ("kernels/ladder/scan_lookahead.cuh",)  # in code for chips on which nobody launches it
STANDALONE = "kernels/ladder/"  # a rung may be a program of its own: see HACKING.md
MAY_SPEAK_THROUGH_MESSAGE = ("src/io/message.c", "src/run/", "src/mpi/", "bench/run/")
SHARED_BY_BOTH_COMPILERS = ("src/base/hd.h", "src/csv/dfa.h", "src/number/decimal.h")


# ---- reading ----------------------------------------------------------------------------------

def read_tree():
    """Every source file there is. What `make dist` leaves out is not missed."""
    patterns = ("src/*/*", "kernels/*/*", "bench/*/*", "tests/*", "tests/*/*", "m4/*.m4", "data/*.py", ".ci/run",
                "bootstrap", "configure.ac", "Makefile.am", "HACKING.md")
    tree = {}
    for pattern in patterns:
        for path in glob.glob(harness.source(*pattern.split("/"))):
            name = os.path.relpath(path, harness.source()).replace(os.sep, "/")
            if name.startswith(("src/", "kernels/", "bench/", "tests/")) and not re.search(
                    r"\.(c|h|def|cu|cuh|py|sh)$", name):
                continue
            with open(path, encoding="utf-8") as f:
                tree[name] = f.read()
    return tree


def rooms(tree):
    """The folders in the order of HACKING.md's map."""
    return re.findall(MAP_ROW, tree.get("HACKING.md", ""), flags=re.M)


def room_of(path):
    return os.path.dirname(path)


def resolve(tree, path, name):
    """The file that #include "name" in path means, or None."""
    near = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return next((there for there in (near, "src/" + name, name) if there in tree), None)


def is_code(path):
    """Compiled into a program. options.def is a table of one."""
    return path.startswith(("src/", "kernels/", "bench/")) and not path.startswith("bench/csv/") and not path.endswith(".py")


@functools.lru_cache(maxsize=None)
def without_comments(text, strings=True):
    """C text without comments; strings=False: string literals emptied too."""
    def replace(match):
        token = match.group()
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token if strings else token[0] * 2
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', replace, text,
                  flags=re.S)


def lines_with(text, pattern):
    """Pairs (line number, match) of the lines of text that have the pattern, once each."""
    last = 0
    for match in re.finditer(pattern, text, flags=re.M):
        number = text.count("\n", 0, match.start()) + 1
        if number != last:
            yield number, match
        last = number


@functools.lru_cache(maxsize=None)
def includes(text):
    """Pairs (line number, name) of #include "name"."""
    return [(number, match.group(1))
            for number, match in lines_with(without_comments(text), r'^[^\S\n]*#[^\S\n]*include[^\S\n]*"([^"\n]+)"')]


def mentions(tree, pattern, allowed):
    """Where code, comments and strings apart, matches pattern in files that are not allowed to."""
    for path, text in sorted(tree.items()):
        if not is_code(path) or path in allowed:
            continue
        for number, match in lines_with(without_comments(text, strings=False), pattern):
            yield "%s:%d: %s" % (path, number, match.group())


# ---- rules ------------------------------------------------------------------------------------

def map_is_whole(tree):
    listed, folders = rooms(tree), {room_of(path) for path in tree if is_code(path)}
    for folder in sorted(folders - set(listed)):
        yield "%s/ is not in HACKING.md's map" % folder
    for folder in listed:
        if folder not in folders:
            yield "%s/ is in HACKING.md's map and nowhere else" % folder


def arrows_point_down(tree):
    order = rooms(tree)
    for path, text in sorted(tree.items()):
        if not is_code(path) or room_of(path) not in order:
            continue
        for number, name in includes(text):
            there = resolve(tree, path, name)
            if name == "config.h":
                continue
            if there is None or not is_code(there):
                yield "%s:%d: %s is no file of src/, kernels/ or bench/" % (path, number, name)
            elif room_of(there) not in order or order.index(room_of(there)) > order.index(room_of(path)):
                yield "%s:%d: includes %s, whose folder stands after its own" % (path, number, name)


def no_circle_in_a_room(tree):
    """Headers of one folder include one another in one direction."""
    edges = {}
    for path, text in tree.items():
        for _, name in includes(text) if is_code(path) else ():
            there = resolve(tree, path, name)
            if there and room_of(there) == room_of(path):
                edges.setdefault(path, set()).add(there)
    done, open_ = set(), []

    def visit(header):
        if header in open_:
            yield "a circle: %s" % " -> ".join(open_[open_.index(header):] + [header])
        elif header not in done:
            open_.append(header)
            for there in sorted(edges.get(header, ())):
                yield from visit(there)
            open_.pop()
            done.add(header)
    for header in sorted(edges):
        yield from visit(header)


def a_header_includes_no_source(tree):
    for path, text in sorted(tree.items()):
        for number, name in includes(text) if is_code(path) else ():
            if name.endswith((".c", ".cu")):
                yield "%s:%d: includes %s" % (path, number, name)


def levels_include_one_before(tree):
    for before, level in zip(LEVELS, LEVELS[1:]):
        path = "kernels/level/%s.cuh" % level
        below = [there for there in (resolve(tree, path, name) for _, name in includes(tree.get(path, "")))
                 if there and there.startswith("kernels/")]
        if below != ["kernels/level/%s.cuh" % before]:
            yield "%s includes %s of kernels/, not %s.cuh alone" % (path, below, before)


def src_knows_kernels_by_gpu_h(tree):
    for path, text in sorted(tree.items()):
        for number, name in includes(text) if path.startswith("src/") else ():
            there = resolve(tree, path, name) or ""
            if there.startswith("kernels/") and (there != "kernels/worker/gpu.h" or room_of(path) != "src/run"):
                yield "%s:%d: includes %s" % (path, number, name)


def core_needs_nothing(tree):
    for path in SHARED_BY_BOTH_COMPILERS:
        for line in without_comments(tree.get(path, "")).split("\n"):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if match and match.group(1) not in ("stddef.h", "stdint.h", "base/hd.h"):
                yield "%s includes %s" % (path, match.group(1))


def one_file_speaks(tree):
    yield from mentions(tree, r"\b(stderr|STDERR_FILENO)\b|\b(perror|psignal|v?warnx?|v?errx?|"
                        r"v?dprintf)\s*\(|\bwrite\s*\(\s*2\s*,", (SPEAKS,))
    for path, text in sorted(tree.items()):
        if is_code(path) and not path.startswith(MAY_SPEAK_THROUGH_MESSAGE):
            for number, name in includes(text):
                if name == "io/message.h":
                    yield "%s:%d: includes io/message.h" % (path, number)


def one_file_ends(tree):
    tree = {path: text for path, text in tree.items() if not path.startswith(STANDALONE)}
    yield from mentions(tree, r"\b(_?_?exit|_Exit|quick_exit|abort|raise|longjmp|assert|"
                        r"kill)\s*\(", ENDS)
    yield from mentions(tree, r"\b__trap\s*\(", MAY_TRAP)
    yield from mentions(tree, r"\bmain\s*\(", ENDS)


def every_file_has_its_licence(tree):
    for path, text in sorted(tree.items()):
        if "SPDX-License-Identifier: MIT" not in "\n".join(text.split("\n")[:3]):
            yield "%s: no SPDX line among the first three" % path


# Each rule, what it says, and lines that break it: (file, text put behind its SPDX line).
RULES = (
    (map_is_whole, "every folder has its place in HACKING.md's map",
     [("src/misc/misc.c", "int f(void);")]),
    (arrows_point_down, "a file includes only what its own folder and those before it hold",
     [("src/number/decimal.h", '#include "csv/dfa.h"'), ("src/base/status.h", '#include "io/message.h"'),
      ("src/fold/column.c", '#include "engine/engine.h"'), ("kernels/level/lane.cuh", '#include "kernels/csv/lane.cuh"'),
      ("src/query/plan.h", '#  include "fold/column.h"'), ("src/engine/total.c", '#include "nowhere.h"'),
      ("src/emit/lead.c", '#include "engine/total.h"'), ("src/csv/rows.h", '#include "query/plan.h"'),
      ("kernels/emit/emission.cuh", '#include "kernels/worker/worker.cuh"'),
      ("kernels/fold/reduce.cu", '#include "kernels/ladder/ladder.cuh"'),
      ("src/run/main.c", '#include "bench/ladder/bench.h"'), ("src/run/main.c", '#include "unit/tap.h"'),
      ("bench/report/report.c", '#include "bench/run/bench_options.h"')]),
    (no_circle_in_a_room, "no folder's headers include one another in a circle",
     [("src/number/decimal.h", '#include "number/exact.h"'), ("src/lang/lexer.h", '#include "program.h"')]),
    (a_header_includes_no_source, "no file includes a source",
     [("src/run/main.c", '#include "engine/engine.c"'), ("kernels/fold/reduce.cu", '#include "kernels/csv/fields.cu"')]),
    (levels_include_one_before, "warp, block and grid each include only the level before, and warp the folds",
     [("kernels/level/grid.cuh", '#include "kernels/level/lane.cuh"'),
      ("kernels/level/warp.cuh", '#include "kernels/level/lane.cuh"')]),
    (src_knows_kernels_by_gpu_h, "src/ knows the kernels by gpu.h, and only src/run/ does",
     [("src/engine/engine.c", '#include "kernels/worker/gpu.h"'),
      ("src/run/main.c", '#include "kernels/level/grid.cuh"')]),
    (core_needs_nothing, "hd.h, dfa.h and decimal.h need no other header",
     [("src/number/decimal.h", "#include <math.h>"), ("src/csv/dfa.h", '#include "query/plan.h"')]),
    (one_file_speaks, "only message.c writes to stderr, and only the programs' own folders ask it to",
     [("src/engine/engine.c", 'static void f(void) { fprintf(stderr, "x"); }'),
      ("src/codec/gzip.c", 'static void f(void) { perror("x"); }'),
      ("kernels/worker/gpu.cu", "static void f(void) { fputs(\"x\", stderr); }"),
      ("src/io/input.c", 'static void f(void) { write(2, "x", 1); }'),
      ("src/engine/total.c", '#include "io/message.h"'), ("bench/report/report.c", '#include "io/message.h"')]),
    (one_file_ends, "only main.c ends the process",
     [("src/query/options.c", "static void f(void) { exit(2); }"),
      ("src/number/exact.c", "static void f(void) { abort(); }"),
      ("kernels/worker/gpu.cu", "static void f(void) { _exit (1); }"),
      ("kernels/fold/reduce.cu", "static __device__ void f(void) { __trap(); }"),
      ("src/run/device_choice.c", "int main(void);"),
      ("bench/report/report.c", "static void f(void) { exit(1); }")]),
    (every_file_has_its_licence, "every source file has its SPDX line",
     [("src/query/query.c", None), ("tests/oracle/harness.py", None), ("kernels/level/warp.cuh", None)]),
)


def broken(tree, path, line):
    """The tree with one line more behind path's first; line None: without its SPDX line."""
    text = tree.get(path, "/* SPDX-License-Identifier: MIT\n */\n")
    if line is None:
        text = text.replace("SPDX-License-Identifier", "", 1)
    else:
        end = text.find("*/") + 2
        text = text[:end] + "\n" + line + "\n" + text[end:]
    return dict(tree, **{path: text})


def check_reading():
    code = 'a /* #include "x.h"\n stderr */ "s/*" b // exit(1)\n  #  include "y.h" /* z */\n'
    harness.is_(list(includes(code)), [(3, "y.h")], "an include in a comment is none")
    harness.is_(without_comments('f("stderr", \'"\', x) /* stderr */', strings=False).split(),
                ['f("",', "'',", "x)"], "comments and strings are no code")
    harness.is_(list(mentions({"src/base/a.c": "int status_exit(int x); err = warn[0]; /* exit(1) */"},
                              r"\bexit\s*\(", ())), [], "status_exit is not exit")


def main():
    tree = read_tree()
    code = [path for path in tree if is_code(path)]
    harness.ok(len(code) > 50 and "src/run/main.c" in tree and "kernels/level/grid.cuh" in tree,
               "the source tree is there", lambda: "%d files below %s" % (len(code), harness.source()))
    check_reading()
    for rule, name, breakages in RULES:
        harness.is_(list(rule(tree)), [], name)
        for path, line in breakages:
            found = list(rule(broken(tree, path, line)))
            shown = "without the line" if line is None else line.strip() or "%d more lines" % len(line)
            harness.ok(len(found) > len(list(rule(tree))), "and %s is found out: %s" % (path, shown),
                       "the rule did not complain")
    harness.done()


main()
