# SPDX-License-Identifier: MIT
"""--columns, and completion in the shells themselves: options, their words, names of columns."""
import gzip
import os
import pty
import re
import select
import shutil
import subprocess
import time

import harness
from harness import answers, fixture, refuses

TABLE = b'alpha,beta x,"c$(touch EXPANDED)",al2\n1,2,3,4\n'


def options_of(tool):
    out = harness.run(["--help"], tool=tool).out.decode("utf-8")
    return re.findall(r"^  (?:-\w,|   ) --([a-z-]+)(?: [A-Z,]+)? ", out, re.M)


def check_columns():
    answers("--columns prints the names", ["--columns"], TABLE, 'alpha\nbeta x\nc$(touch EXPANDED)\nal2\n')
    answers("--columns: quotes where CSV needs them, numbers for no names", ["--columns"], b'"a,b",,"d""e"\n3,4,5\n', '"a,b"\ncol2\n"d""e"\n')
    answers("--columns of numbers", ["--columns"], b"1,2\n3,4\n", "col1\ncol2\n")
    answers("--columns of nothing", ["--columns"], b"", "")
    answers("--columns in another dialect", ["--columns", "-d", ";"], b"a;b\n1;2\n", "a\nb\n")
    answers("--columns of compressed input", ["--columns", fixture("table.csv.gz", gzip.compress(TABLE))], b"",
            'alpha\nbeta x\nc$(touch EXPANDED)\nal2\n')
    answers("--columns reads no more than it needs", ["--columns"], b'a,b\n1,2\n3,4,5\n"', "a\nb\n")
    r = harness.run(["--columns"], b"web1,200\n")
    harness.is_((r.status, r.out, r.err), (0, b"web1\n200\n", b"gpustat: note: <stdin>:1: 'web1,200' is taken for the header: say -N if it is data\n"),
                "--columns in doubt")
    words = "--columns prints names, a line each: no operation and no --format goes with it"
    for args in (["--sum=1"], ["--where=a > 1"], ["--cumsum=1"], ["--format=json"]):
        refuses("--columns " + args[0], ["--columns"] + args, TABLE, 2, words)


def environment():
    """The shells find the programs, and write into the temporary folder alone."""
    folder = os.path.dirname(harness.program("gpustat"))
    return dict(harness.environment(), PATH=folder + os.pathsep + os.environ["PATH"], HOME=harness.folder(), TERM="dumb", PS1="> ")


def has(shell, name):
    if shutil.which(shell):
        return True
    harness.skip(name, "no " + shell)
    return False


def check_bash(tool, script):
    if not has("bash", tool + ": bash completes it"):
        return

    def bash(text, *words):
        return subprocess.run(["bash", "--norc", "-uc", 'source "$0"; ' + text, script] + list(words), env=environment(), cwd=harness.folder(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode("utf-8")

    def completes(want, *words):
        got = bash('COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _%s; printf "%%s\\n" "${COMPREPLY[@]-}"' % tool, tool, *words).splitlines()
        harness.is_(sorted(filter(None, got)), sorted(want), "bash completes: %s %s" % (tool, " ".join(words)))

    harness.is_(bash("complete -p " + tool), "complete -o default -F _%s %s\n" % (tool, tool), "bash knows how to complete " + tool)
    percentiles = ["--p50", "--p90", "--p95", "--p99"] if tool == "gpustat" else []
    completes(["--" + name for name in options_of(tool)] + percentiles, "--")
    completes(["--format"], "--fo")
    completes(["--help"], "scan", "--hel")
    completes([], "--nosuch")
    completes(["bash", "fish", "zsh"], "--completion", "")
    completes(["bash", "fish", "zsh"], "--completion", "=")
    completes(["json"], "--format", "=", "j")
    if tool == "gpustat":
        completes("auto plain csv tsv json ndjson table markdown".split(), "--format", "")
        completes("auto cpu gpu all".split(), "--sum=1", "--device", "")
        completes("error skip".split(), "--invalid", "=")
        completes([], "")
        completes(["floor"], "--where", "flo")
        completes(["left", "length"], "--offsets", "le")
        told = re.findall(r"^  (\w+)\(", harness.run(["--help", "expr"]).out.decode(), re.M)
        completes([*told, "missing", "case", "when", "then", "else", "end"], "--where", "")
        completes(["--sum"], "file.csv", "--su")
        names = ["alpha", "beta\\ x", "c\\$\\(touch\\ EXPANDED\\)", "al2"]
        completes(names, "table.csv", "--sum", "")
        completes(names, "table.csv", "--sum", "=")
        completes(names, "table.csv", "--cov", "")
        completes(["beta,alpha", "beta,al2"], "--sum", "1", "table.csv", "--max", "beta,al")
        completes([], "--sum", "al")
        completes(["floor"], "--sum", "flo")
        completes(["floor"], "table.csv", "--sum", "'flo")
        completes(["floor(beta x"], "table.csv", "--sum", "'floor(b")
        completes(["floor(abs"], "table.csv", "--sum", "'floor(ab")
        completes(["alpha * al2", "alpha * alpha"], "table.csv", "--mean", '"alpha * al')
        completes([*sorted({w for w in told if w.startswith("c")}), "case"], "table.csv", "--mean", '"c')
        completes(["c$(touch EXPANDED)"], "table.csv", "--mean", "'c")
        completes(["beta\\ x,round\\(alpha", "beta\\ x,round\\(al2"], "table.csv", "--by", "beta\\ x,round\\(al")
        # bash cuts a word at ':' as it does at '='; the reply is what follows the last of them.
        completes(names, "table.csv", "--corr", "alpha", ":")
        completes(["alpha", "al2"], "table.csv", "--corr", "beta", ":", "al")
        completes(names, "table.csv", "--corr", "=", "alpha", ":")
        completes(["beta\\ x"], "table.csv", "--corr", "=", "alpha", ":", "b")
        completes(["beta\\ x"], "table.csv", "--cov", "alpha", ":", "al2,alpha", ":", "b")
        completes(["al2,alpha", "al2,al2"], "table.csv", "--cov", "alpha", ":", "al2,al")
        completes(["alpha:al2,al2:beta\\ x"], "table.csv", "--wmean", "alpha:al2,al2:b")
        completes(["c\\$\\(touch\\ EXPANDED\\)"], "table.csv", "--hist", "c")
        completes(["15"], "times.csv", "--sum", "12", ":", "1")
        completes(names, "table.csv", "--p99.9", "")
        completes(["alpha", "al2"], "table.csv", "--p0", "=", "al")
        completes([], "table.csv", "--px", "al")
        completes([], "table.csv", ":")
        completes([], ":")
        completes([], ":", ":")
        return
    completes("reduce scan inflate group model ceilings pipeline".split(), "")
    completes(["ceilings"], "ce")
    completes("float32 int32 int64 int128 segmented all".split(), "scan", "--type", "")


def check_fish(tool, script):
    if not has("fish", tool + ": fish completes it"):
        return

    def completes(want, line):
        p = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, tool + " " + line], env=environment(),
                           cwd=harness.folder(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        got = [row.split("\t")[0] for row in p.stdout.decode("utf-8").splitlines()]
        harness.ok(sorted(got) == sorted(want) and not p.stderr, "fish completes: %s %s" % (tool, line), lambda: repr(p))

    completes(["json"], "--format j")
    completes(["--completion"], "--compl")
    if tool == "gpustat":
        completes(["floor"], "--where flo")
    if tool == "gpustat":
        completes(["alpha", "beta x", "c$(touch EXPANDED)", "al2"], "table.csv --sum ")
        completes(["beta,alpha", "beta,al2"], "table.csv --sum beta,al")
        completes(["--sum=beta x"], "table.csv --sum=be")
        completes(["alpha:beta x"], "table.csv --corr alpha:b")
        completes(["--corr=al2:al2,alpha:beta x"], "table.csv --corr=al2:al2,alpha:be")
        completes(["alpha", "beta x", "c$(touch EXPANDED)", "al2"], "table.csv --p99.9 ")
        completes(["alpha", "al2"], "table.csv --p50 al")
        completes(["floor"], "table.csv --sum flo")
        completes(["floor(alpha", "floor(al2"], "table.csv --sum 'floor(al")


class Zsh:
    """zsh at a terminal, as its completion needs one."""

    def __init__(self, script):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(harness.folder())
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment())
        self.pid = pid
        self.send("autoload -U compinit; compinit -u -D; source %s; bindkey '^I' complete-word; echo REA''DY\n" % script)
        self.shows("READY")

    def send(self, text):
        self.got = b""
        os.write(self.fd, text.encode("utf-8"))

    def shows(self, want, seconds=30):
        end = time.monotonic() + seconds
        while want.encode("utf-8") not in self.got and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.got += os.read(self.fd, 65536)
        return want.encode("utf-8") in self.got

    def completes(self, want, line):
        self.send("\x15" + line + "\t")
        harness.ok(self.shows(want), "zsh completes: " + line, lambda: repr(self.got))

    def close(self):
        self.send("\x15exit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def check_zsh(tool, script):
    if not has("zsh", tool + ": zsh completes it"):
        return
    zsh = Zsh(script)
    zsh.completes(tool + " --completion=", tool + " --compl")
    zsh.completes(tool + " --completion fish", tool + " --completion f")
    if tool == "gpustat":
        zsh.completes("gpustat table.csv --sum beta\\ x", "gpustat table.csv --sum be")
        zsh.completes("gpustat table.csv --sum=beta,alpha", "gpustat table.csv --sum=beta,alp")
        zsh.completes("gpustat table.csv --corr alpha:beta\\ x", "gpustat table.csv --corr alpha:be")
        zsh.completes("gpustat table.csv --cov=alpha:al2,beta", "gpustat table.csv --cov=alpha:al2,be")
        zsh.completes("gpustat table.csv --p99.9 beta\\ x", "gpustat table.csv --p99.9 be")
        zsh.completes("gpustat table.csv --p5=al2,beta\\ x", "gpustat table.csv --p5=al2,be")
        zsh.completes("gpustat table.csv --sum floor", "gpustat table.csv --sum flo")
        zsh.completes("gpustat table.csv --sum 'floor(alpha", "gpustat table.csv --sum 'floor(alp")
        zsh.completes("gpustat table.csv --min c\\$\\(touch\\ EXPANDED\\)", "gpustat table.csv --min c")
    else:
        zsh.completes("gpustat-bench reduce", "gpustat-bench redu")
    zsh.close()


def check_completion():
    fixture("table.csv", TABLE)
    fixture("times.csv", b"12:00,12:15,9:15\n1,2,3\n")
    for tool in ("gpustat", "gpustat-bench"):
        for shell, check in (("bash", check_bash), ("zsh", check_zsh), ("fish", check_fish)):
            r = harness.run(["--completion", shell], tool=tool)
            harness.ok(r.status == 0 and not r.err and all(name.encode() in r.out for name in options_of(tool)),
                       "%s --completion %s names every option" % (tool, shell), lambda: harness.describe(r))
            check(tool, fixture("%s.%s" % (tool, shell), r.out))
    harness.ok(not os.path.exists(os.path.join(harness.folder(), "EXPANDED")), "no shell expands what a header holds")


check_columns()
check_completion()
harness.done()
