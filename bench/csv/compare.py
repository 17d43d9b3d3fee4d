#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py [OPTION]...: gpustat beside every other tool for columns of CSV that is found here.

Makes its inputs once, runs all on the same files in turn, compares the answers, and prints a
table for each task: times of whole processes, and their ratios to gpustat's in the same run.
`make bench` runs it; bench/csv/README.md says how to read what it prints.

Exit status: 0; 1 if gpustat failed, or answered differently from itself, or differently from
every peer that answered.
"""
import argparse
import datetime
import os
import platform
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import answers
import inputs
import instructions
import measure
import programs as finder
import report
import tasks

BUDGET_SECONDS = 12  # a contestant that has taken longer in a task is not repeated
GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "generate.c")


# ---- the command line -------------------------------------------------------------------------

def parse(argv):
    parser = argparse.ArgumentParser(description="Times gpustat beside its peers.")
    add = parser.add_argument
    add("--gpustat", default=os.environ.get("GPUSTAT", "gpustat"), metavar="PATH")
    add("--generate", metavar="PATH", help="the generator; compiled in the folder by default")
    add("--folder", default="bench-csv.data", help="where inputs are kept (default: %(default)s)")
    add("--size", default="200M", help="of each input (default: %(default)s)")
    add("--repeat", type=int, default=5, metavar="N", help="runs of each (default: %(default)s)")
    add("--quick", action="store_true", help="20 MB, 2 runs, unless told otherwise")
    add("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    add("--timeout", type=float, default=60, metavar="SECONDS")
    add("--only", metavar="TASK,...", help="these tasks; a word also names all that begin so")
    add("--program", action="append", default=[], metavar="NAME=PATH",
        help="use this program as NAME; an empty PATH leaves it out")
    add("--markdown", action="store_true", help="tables as docs/speed.md has them")
    add("--instructions", action="store_true", help="count instructions instead, by valgrind")
    add("--list", action="store_true", help="show the commands of each task, time none")
    options = parser.parse_args(argv)
    if options.quick:
        options.size = "20M" if options.size == "200M" else options.size
        options.repeat = min(options.repeat, 2)
    try:
        options.nbytes = inputs.size_nbytes(options.size)
    except ValueError as e:
        parser.error(str(e))
    return options


def chosen(only):
    words = only.split(",") if only else [""]
    picked = [t for t in tasks.TASKS if any(t.name.startswith(word) for word in words)]
    for word in words:
        if not any(t.name.startswith(word) for t in tasks.TASKS):
            sys.exit("no task begins with '%s': %s" % (word, " ".join(t.name for t in tasks.TASKS)))
    return picked


def compiled(options):
    """The path of the generator; compiles it if none is given."""
    if options.generate:
        return os.path.abspath(options.generate)
    path = os.path.join(options.folder, "generate")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(GENERATOR):
        os.makedirs(options.folder, exist_ok=True)
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-o", path, GENERATOR],
                       check=True)
    return os.path.abspath(path)


# ---- the machine ------------------------------------------------------------------------------

def processor():
    """The processor's name and those of its instruction sets that gpustat uses."""
    name, flags = platform.machine(), []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            for line in f:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    name = value.strip()
                if key.strip() in ("flags", "Features"):
                    flags = value.split()
    except OSError:
        pass
    known = [f for f in ("asimd", "sve", "avx2", "avx512bw", "avx512_vbmi2") if f in flags]
    return "%s (%s)" % (name, " ".join(known) or "no SIMD known of")


def built_in(gpustat):
    """The lines of gpustat --version."""
    said = subprocess.run([gpustat, "--version"], capture_output=True).stdout
    return said.decode("utf-8", "replace").strip().split("\n")


def instructions_used(gpustat, simd):
    """The instruction set that gpustat --verbose reports if GPUSTAT_SIMD is `simd`."""
    env = measure.environment({"GPUSTAT_SIMD": simd} if simd else {})
    said = subprocess.run([gpustat, "--verbose", "--device", "cpu", "--sum", "1"], env=env,
                          input=b"1\n2\n", capture_output=True).stderr.decode("utf-8", "replace")
    names = re.findall(r"\b(avx512\w*|avx2|neon|portable)\b", said)
    return names[0] if names else "not told"


def machine(found, options):
    """Lines with the date, machine, versions, and missing peers."""
    yield "date: %s" % datetime.date.today().isoformat()
    yield "machine: %s, %d cores, Linux %s, load %.2f at the start" % (
        processor(), len(os.sched_getaffinity(0)), platform.release(), os.getloadavg()[0])
    yield "gpustat: " + ", ".join(built_in(options.gpustat))
    yield "its instructions: " + ", ".join(
        "%s: %s" % (simd or "as it comes", instructions_used(options.gpustat, simd))
        for simd in (None, *tasks.SIMD))
    yield "inputs: %s each, in the page cache; medians of up to %d runs, whole processes" % (
        options.size, options.repeat)
    for name, path in sorted(found.items()):
        yield "%s: %s" % (name, finder.version(name, path))
    yield "missing: " + (", ".join(finder.missing(found)) or "nothing")


# ---- one task ---------------------------------------------------------------------------------

def answer_of(contestant, runs, timeout):
    """(answer, None), or (None, reason). Printed records are summed up in another run."""
    problem = next((r.problem for r in runs if r.problem), None)
    if problem or not (contestant.answers or contestant.check):
        return None, problem
    if contestant.answers:
        if any(r.out != runs[0].out for r in runs) and contestant.role == "gpustat":
            return None, "WRONG: its runs differ"
        return runs[0].out, None
    check = measure.run(contestant.check, timeout)
    return (None, check.problem) if check.problem else (check.out, None)


def judged(contestants, runs, timeout):
    """An Outcome for each contestant. The answers are compared with the first one's."""
    outcomes, want = [], None
    for contestant, done in zip(contestants, runs):
        got, problem = answer_of(contestant, done, timeout)
        want = got if want is None and contestant.role == "gpustat" else want
        if problem:
            said, agrees = problem, False
        elif got is None:
            said, agrees = "", True
        elif contestant.role == "gpustat":
            said, agrees = ("exact", True) if got == want else ("WRONG: differs", False)
        elif want is None:
            said, agrees = "not compared", True
        else:
            said, agrees = answers.verdict(got, want)
        outcomes.append(report.Outcome(contestant, done, said, agrees))
    return outcomes


def trusted(outcomes):
    """gpustat always gave the same answer, and a peer agreed, if any answered at all."""
    own = [o for o in outcomes if o.contestant.role == "gpustat"]
    others = [o for o in outcomes if o.contestant.role == "peer" and seconds_known(o)]
    return all(o.agrees for o in own) and (not others or any(o.agrees for o in others))


def seconds_known(outcome):
    return report.seconds_of(outcome) is not None


def run_task(task, data, contestants, options):
    inputs.warm(data.path)
    runs = measure.in_turn([c.command for c in contestants], options.repeat, options.timeout,
                           BUDGET_SECONDS)
    return judged(contestants, runs, options.timeout)


# ---- the whole run ----------------------------------------------------------------------------

def say(lines):
    print("\n".join(lines), flush=True)


def input_for(task, options, folder):
    """(input, None), or (None, why the task is left out)."""
    zstd = any(re.match(r"zstd\b(?!.*not built in)", line) for line in built_in(options.gpustat))
    if task.way == "zst" and not zstd:
        return None, "zstd is not built into gpustat"
    data = folder.get(task.kind, task.way)
    return data, None if data else "no %s to pack its input" % inputs.PACKERS[task.way][1][0]


def compare(options, found, folder):
    """Runs the tasks; returns whether gpustat's answers were right."""
    rows, good = [], True
    for task in chosen(options.only):
        data, reason = input_for(task, options, folder)
        if data is None:
            say(["", "%s: left out: %s" % (task.name, reason)])
            continue
        contestants = tasks.contestants(options.gpustat, folder.generator, task, data,
                                        options.threads, found)
        if options.list:
            say(["", task.name + ": " + task.title]
                + ["    %-24s %s" % (c.name, measure.shown(c.command)) for c in contestants])
            continue
        outcomes = run_task(task, data, contestants, options)
        good = good and trusted(outcomes)
        say(report.of_task(task, outcomes, data.nbytes, options.threads, options.markdown))
        rows.append(report.summary_row(task, outcomes, data.nbytes, options.threads))
    say(report.summary([r for r in rows if r], options.threads, options.markdown) if rows else [])
    return good


def count_instructions(options, found, generator):
    if "valgrind" not in found:
        sys.exit("valgrind was not found: no instructions counted")
    folders = instructions.folders(options.folder, generator, found)
    rows = [(task.name, *instructions.count(found["valgrind"], options.gpustat, task, folders))
            for task in chosen(options.only) if input_for(task, options, folders[0])[0]]
    say(report.instructions(rows, options.markdown))


def main():
    options = parse(sys.argv[1:])
    options.gpustat = finder.find(options.gpustat) or sys.exit(options.gpustat + ": not found")
    options.gpustat = os.path.abspath(options.gpustat)
    found = finder.find_all(pair.split("=", 1) for pair in options.program)
    generator = compiled(options)
    fence = ["```"] if options.markdown else []
    say(fence + list(machine(found, options)) + fence)
    if options.instructions:
        return count_instructions(options, found, generator)
    folder = inputs.Folder(options.folder, options.nbytes, generator, found)
    return None if compare(options, found, folder) else "gpustat's answers cannot be trusted"


if __name__ == "__main__":
    sys.exit(main())
