# SPDX-License-Identifier: MIT
"""make install under another name, below DESTDIR: program, messages, man pages, completion; make uninstall."""
import os
import re
import shutil
import subprocess

import harness

PREFIX = "/usr"


def make(goal, program):
    """Runs make in the folder of the build; the outer make's flags are not for it."""
    env = {k: v for k, v in harness.environment().items() if not k.startswith("MAKE") and k != "MFLAGS"}
    p = subprocess.run(["make", "-s", goal, "DESTDIR=" + destination(), "prefix=" + PREFIX,
                        "program_transform_name=s/gpustat/%s/" % program],
                       cwd=build_folder(), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    harness.ok(p.returncode == 0, "make %s as %s" % (goal, program), lambda: p.stdout.decode("utf-8", "replace"))


def build_folder():
    return os.path.dirname(harness.program("gpustat"))


def destination():
    return os.path.join(harness.folder(), "destdir")


def installed(*names):
    return os.path.join(destination() + PREFIX, *names)


def read(*names):
    with open(installed(*names), encoding="utf-8") as f:
        return f.read()


def files():
    return sorted(os.path.relpath(os.path.join(folder, name), destination() + PREFIX)
                  for folder, _, names in os.walk(destination()) for name in names)


def has_mpi():
    return os.access(harness.program("gpustat") + "-mpi", os.X_OK)


def expected(name):
    return sorted(["share/doc/gpustat/" + text for text in ("LICENSE", "NEWS", "README.md")] + [
        path % tool for tool in (name, name + "-bench")
        for path in ("bin/%s", "share/man/man1/%s.1", "share/bash-completion/completions/%s",
                     "share/zsh/site-functions/_%s", "share/fish/vendor_completions.d/%s.fish")] + [
        path % (name + "-mpi") for path in ("bin/%s", "share/man/man1/%s.1") if has_mpi()])


def run(*words, **how):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def check_program(name):
    p = run(installed("bin", name), "--sum", "1", input=b"1.5\n2\n")
    harness.is_((p.returncode, p.stdout, p.stderr), (0, b"3.5\n", b""), name + " runs")
    for tool in (name, name + "-bench"):
        p = run(installed("bin", tool), "--nosuch")
        said = ("%s: unknown option '--nosuch'" % tool, "Try '%s --help'." % tool)
        harness.is_((p.returncode, tuple(p.stderr.decode("utf-8").splitlines())), (2, said), tool + " says its own name")


def check_pages(name):
    for old in ("gpustat", "gpustat-bench") + ("gpustat-mpi",) * has_mpi():
        new = old.replace("gpustat", name)
        page = read("share", "man", "man1", new + ".1")
        with open(harness.source("man", old + ".1"), encoding="utf-8") as f:
            source = f.read()
        renamed = re.sub(r"(?m)^\.Dt .*", ".Dt %s 1" % new.upper(), source.replace("gpustat", name))
        harness.is_(page, renamed, "the man page of %s calls everything by its new name" % new)
        harness.ok(name in page and (name == "gpustat" or "gpustat" not in page), "%s: no old name is left" % new)


def check_completion(name):
    harness.fixture("table.csv", b"alpha,beta x\n1,2\n")
    if not shutil.which("bash"):
        harness.skip("bash completes " + name, "no bash")
        return
    text = 'source "$1"; COMP_WORDS=(%s table.csv --sum b); COMP_CWORD=3; _%s; complete -p %s; printf "%%s\\n" "${COMPREPLY[@]}"' % (
        name, name, name)
    p = run("bash", "--norc", "-uc", text, "bash", installed("share", "bash-completion", "completions", name), cwd=harness.folder(),
            env=dict(harness.environment(), PATH=installed("bin") + os.pathsep + os.environ["PATH"]))
    harness.is_((p.stdout, p.stderr), (("complete -o default -F _%s %s\nbeta\\ x\n" % (name, name)).encode(), b""),
                "bash completes %s, and names of columns" % name)


def check_installed(name):
    make("install", name)
    harness.is_(files(), expected(name), name + ": all files are there, under the new name")
    check_program(name)
    check_pages(name)
    check_completion(name)
    make("uninstall", name)
    harness.is_(files(), [], name + ": uninstall leaves no file")


if not os.path.exists(os.path.join(build_folder(), "Makefile")):
    harness.skip_all("the program under test lies in no folder that make built")
check_installed("gpustat")
check_installed("csvstat")
harness.done()
