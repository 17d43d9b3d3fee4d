# SPDX-License-Identifier: MIT
"""The source says what the design says: arrows point down, one file speaks, one file ends.

Rules are functions of a tree, {path: text}, that return complaints. Each is asked twice: of the
tree as it is, which must give none, and of a copy with one line broken, which must give some.
Nothing is built or run, so this test needs neither the program nor a compiler.
"""
import glob
import os
import re

import harness

# The rooms, lowest first, and in each the modules, lowest first (DESIGN.md, section 3). A file
# belongs to the module that is its name up to the dot and includes only what stands before it.
# Where a header stands lower than its source, or two folders have a name in common, the file
# itself is in the table, and the module is what is left.
ROOMS = (
    ("words",   "hd status cores"),
    ("numbers", "csv_dfa decimal decimal_text wide"),
    ("bytes",   "simd.h simd_x86 simd_positions simd_quotes simd_words simd_fold simd_convert simd_groups simd_groups_fold "
                "simd_portable simd_neon simd_avx2 simd_avx512 simd nibbles quotes structure"),
    ("terms",   "clock utf8 plan chunk expr_eval"),
    ("records", "column rows expr_row row_block row_judge rows_fold record.h record_walk record"),
    ("rows",    "running emit new_fields rows_emit"),
    ("data",    "feed inflate inflate_zlib inflate_isal inflate_libdeflate gzip bgzf unzstd decoder ahead unpacker "
                "source passed ranged input"),
    ("request", "select expr_lex expr_show expr argument options header query"),
    ("workers", "total stage worker worker_cpu"),
    ("kernels", "fold lane warp block grid "
                "scan.cuh scan_tile scan_lookback async_copy scan_lookahead scan_launch scan "
                "records window fields.cuh field_read field_number fields reduce_strips reduce column_fold number_text emission "
                "expand gpu gpu_memory "
                "worker_gpu.cuh worker_gpu_plan worker_gpu_ahead worker_gpu_read worker_gpu_fold worker_gpu_emit worker_gpu"),
    ("engine",  "chain writer engine.h member engine"),
    ("answer",  "output result message team main"),
    # gpustat ends here: what follows is gpustat-bench, and nothing above may include it.
    ("ladder",  "bench ladder_index ladder ladder_memory ladder_fold sample "
                "reduce_array ladder_reduce ladder_reduce_book ladder_reduce_series ladder_reduce_shipped "
                "ladder_reduce_cub "
                "ladder_scan ladder_scan_section ladder_scan_hierarchical ladder_scan_domino "
                "ladder_scan_persistent ladder_scan_cub"),
    ("bench",   "timing reference cpu_ladder cpu_measure gpu_fault event_timer sweep "
                "ladder_value ceilings ladder_check ladder_time ladder_bench.h ladder_select "
                "ladder_bench trace device_marks traced_worker lockstep read_ceiling pipeline.h pipeline_limits pipeline "
                "model sheet report report_model report_pipeline svg chart timeline bench_options bench/run/main.c"),
)
MODULES = [module for _, modules in ROOMS for module in modules.split()]
KERNELS = dict(ROOMS)["kernels"].split()
LEVELS = ("fold", "lane", "warp", "block", "grid")
SPEAKS = "src/io/message.c"
ENDS = ("src/run/main.c", "bench/run/main.c")
MAY_TRAP = ("kernels/scan/lookahead.cuh",)  # in code for chips on which nobody launches it
MAY_SPEAK_THROUGH_MESSAGE = ("src/io/message.c", "src/run/main.c", "src/run/device_choice.c", "bench/run/main.c")
SHARED_BY_BOTH_COMPILERS = ("src/base/hd.h", "src/csv/dfa.h", "src/number/decimal.h")
LINES_MAX = 500


# ---- reading ----------------------------------------------------------------------------------

def read_tree():
    """Every source file there is. What `make dist` leaves out is not missed."""
    patterns = ("src/*", "kernels/*", "bench/*", "bench/csv/*", "tests/*", "m4/*.m4", "data/*.py", ".ci/run",
                "bootstrap", "configure.ac", "Makefile.am")
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


def module_of(path):
    """The file itself, with or without its folder, if it has a place of its own, else its name
    up to the dot."""
    name = os.path.basename(path)
    return next((own for own in (path, name) if own in MODULES), name.split(".")[0])


def is_code(path):
    """Compiled into a program. options.def is a table of one."""
    return path.startswith(("src/", "kernels/", "bench/")) and not path.startswith("bench/csv/")


def without_comments(text, strings=True):
    """C text without comments; strings=False: string literals emptied too."""
    def replace(match):
        token = match.group()
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token if strings else token[0] * 2
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', replace, text,
                  flags=re.S)


def includes(text):
    """Pairs (line number, name) of #include "name"."""
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def mentions(tree, pattern, allowed):
    """Where code, comments and strings apart, matches pattern in files that are not allowed to."""
    for path, text in sorted(tree.items()):
        if not is_code(path) or path in allowed:
            continue
        for number, line in enumerate(without_comments(text, strings=False).split("\n"), 1):
            match = re.search(pattern, line)
            if match:
                yield "%s:%d: %s" % (path, number, match.group())


# ---- rules ------------------------------------------------------------------------------------

def table_is_whole(tree):
    modules = {module_of(path) for path in tree if is_code(path)}
    for module in sorted(modules - set(MODULES)):
        yield "%s is in no room: give it a place in ROOMS" % module
    for module in MODULES:
        if module not in modules:
            yield "%s stands in ROOMS and nowhere else" % module


def arrows_point_down(tree):
    headers = {os.path.basename(path) for path in tree if is_code(path)}
    for path, text in sorted(tree.items()):
        if not is_code(path) or module_of(path) not in MODULES:
            continue
        place = MODULES.index(module_of(path))
        for number, name in includes(text):
            if name == "config.h":
                continue
            if name not in headers:
                yield "%s:%d: %s is no file of src/, kernels/ or bench/" % (path, number, name)
                continue
            there = MODULES.index(module_of(name)) if module_of(name) in MODULES else len(MODULES)
            own = there == place and name != os.path.basename(path)
            if there >= place and not own:
                yield "%s:%d: includes %s, which is not below it" % (path, number, name)


def a_header_includes_no_source(tree):
    for path, text in sorted(tree.items()):
        for number, name in includes(text) if is_code(path) else ():
            if name.endswith((".c", ".cu")):
                yield "%s:%d: includes %s" % (path, number, name)


def levels_include_one_before(tree):
    for before, level in zip(LEVELS, LEVELS[1:]):
        text = tree.get("kernels/%s.cuh" % level, "")
        kernels = [name for _, name in includes(text) if module_of(name) in KERNELS]
        if kernels != [before + ".cuh"]:
            yield "kernels/%s.cuh includes %s of kernels/, not %s.cuh alone" % (level, kernels, before)


def src_knows_kernels_by_gpu_h(tree):
    for path, text in sorted(tree.items()):
        for number, name in includes(text) if path.startswith("src/") else ():
            if module_of(name) in KERNELS and (name, path) != ("gpu.h", "src/run/device_choice.c"):
                yield "%s:%d: includes %s" % (path, number, name)


def core_needs_nothing(tree):
    for path in SHARED_BY_BOTH_COMPILERS:
        for line in without_comments(tree.get(path, "")).split("\n"):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if match and match.group(1) not in ("stddef.h", "stdint.h", "hd.h"):
                yield "%s includes %s" % (path, match.group(1))


def one_file_speaks(tree):
    yield from mentions(tree, r"\b(stderr|STDERR_FILENO)\b|\b(perror|psignal|v?warnx?|v?errx?|"
                        r"v?dprintf)\s*\(|\bwrite\s*\(\s*2\s*,", (SPEAKS,))
    for path, text in sorted(tree.items()):
        if is_code(path) and path not in MAY_SPEAK_THROUGH_MESSAGE:
            for number, name in includes(text):
                if name == "message.h":
                    yield "%s:%d: includes message.h" % (path, number)


def one_file_ends(tree):
    yield from mentions(tree, r"\b(_?_?exit|_Exit|quick_exit|abort|raise|longjmp|assert|"
                        r"kill)\s*\(", ENDS)
    yield from mentions(tree, r"\b__trap\s*\(", MAY_TRAP)
    yield from mentions(tree, r"\bmain\s*\(", ENDS)


def every_file_has_its_licence(tree):
    for path, text in sorted(tree.items()):
        if "SPDX-License-Identifier: MIT" not in "\n".join(text.split("\n")[:3]):
            yield "%s: no SPDX line among the first three" % path


def every_file_is_short(tree):
    for path, text in sorted(tree.items()):
        nlines = len(text.splitlines())
        if nlines > LINES_MAX:
            yield "%s: %d lines" % (path, nlines)


# Each rule, what it says, and lines that break it: (file, text put behind its SPDX line).
RULES = (
    (table_is_whole, "every module has a place in the table",
     [("src/misc.c", "int f(void);")]),
    (arrows_point_down, "a file includes only lower ones",
     [("src/number/decimal.h", '#include "wide.h"'), ("src/base/status.h", '#include "message.h"'),
      ("src/fold/record.c", '#include "engine.h"'), ("kernels/level/lane.cuh", '#include "grid.cuh"'),
      ("src/query/plan.h", '#  include "options.def"'), ("src/engine/total.c", '#include "nowhere.h"'),
      ("src/number/wide.h", '#include "wide.h"'), ("src/fold/record.h", '#include "record_walk.h"'),
      ("src/query/expr_eval.h", '#include "expr.h"'), ("src/emit/running.c", '#include "emit.h"'),
      ("kernels/scan/scan.cuh", '#include "kernels/scan/tile.cuh"'),
      ("kernels/emit/emission.cuh", '#include "worker_gpu.cuh"'), ("src/emit/emit.c", '#include "total.h"'),
      ("kernels/fold/reduce.cu", '#include "ladder.cuh"'), ("src/run/device_choice.c", '#include "bench.h"'),
      ("kernels/ladder/scan.cu", '#include "timing.h"'),
      ("bench/report/report.c", '#include "bench_options.h"')]),
    (a_header_includes_no_source, "no file includes a source",
     [("src/run/main.c", '#include "engine.c"'), ("kernels/fold/reduce.cu", '#include "fields.cu"')]),
    (levels_include_one_before, "lane, warp, block and grid each include only the one before",
     [("kernels/level/grid.cuh", '#include "lane.cuh"'), ("kernels/level/warp.cuh", '#include "fold.cuh"')]),
    (src_knows_kernels_by_gpu_h, "src/ knows the kernels by gpu.h, and only device_choice.c does",
     [("src/engine/engine.c", '#include "gpu.h"'), ("src/run/device_choice.c", '#include "grid.cuh"')]),
    (core_needs_nothing, "hd.h, dfa.h and decimal.h need no other header",
     [("src/number/decimal.h", "#include <math.h>"), ("src/csv/dfa.h", '#include "plan.h"')]),
    (one_file_speaks, "only message.c writes to stderr, and only main.c and device_choice.c ask it to",
     [("src/engine/engine.c", 'static void f(void) { fprintf(stderr, "x"); }'),
      ("src/codec/gzip.c", 'static void f(void) { perror("x"); }'),
      ("kernels/worker/gpu.cu", "static void f(void) { fputs(\"x\", stderr); }"),
      ("src/io/input.c", 'static void f(void) { write(2, "x", 1); }'),
      ("src/engine/total.c", '#include "message.h"'), ("bench/report/report.c", '#include "message.h"')]),
    (one_file_ends, "only main.c ends the process",
     [("src/query/options.c", "static void f(void) { exit(2); }"),
      ("src/number/wide.c", "static void f(void) { abort(); }"),
      ("kernels/worker/gpu.cu", "static void f(void) { _exit (1); }"),
      ("kernels/fold/reduce.cu", "static __device__ void f(void) { __trap(); }"),
      ("src/run/device_choice.c", "int main(void);"),
      ("bench/report/chart.c", "static void f(void) { exit(1); }")]),
    (every_file_has_its_licence, "every source file has its SPDX line",
     [("src/query/query.c", None), ("tests/oracle/harness.py", None), ("kernels/level/warp.cuh", None)]),
    (every_file_is_short, "no source file is longer than %d lines" % LINES_MAX,
     [("src/run/main.c", "\n" * LINES_MAX)]),
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
    harness.is_(list(mentions({"src/a.c": "int status_exit(int x); err = warn[0]; /* exit(1) */"},
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
