# SPDX-License-Identifier: MIT
"""The documents say what the program does: --help, the man page and the README's examples."""
import os
import re
import shutil
import subprocess

import harness

SETUP = re.compile(r"(^|[;&|]\s*)(\./bootstrap|sudo|git|apt|apt-get|make|\./configure|\.\./configure|man)\b")


def options_in(text):
    return set(re.findall(r"(?<![-\w])--[a-z][a-z-]*[a-z]", text))


def man_source():
    path = harness.source("man", "gpustat.1")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return f.read()


def plain_roff(text):
    """roff source with its escapes and mdoc's flag macros turned into plain text."""
    text = re.sub(r'^[.\']\\".*$', "", text, flags=re.M)
    text = re.sub(r"\\f(?:\(..|\[[^]]*\]|.)|\\[&,/]", "", text)
    text = text.replace("\\-", "-").replace("\\(hy", "-")
    text = re.sub(r"\bFl\s+Fl\s+(?=\w)", "--", text)
    return re.sub(r"\bFl\s+-(?=\w)", "--", text)


def check_options():
    r = harness.run(["--help"])
    named = options_in(r.out.decode("utf-8"))
    harness.ok(r.status == 0 and len(named) > 5, "--help lists the options", lambda: harness.describe(r))
    source = man_source()
    if source is None:
        harness.skip("the man page names every option", "no man page")
        harness.skip("--help names every option of the man page", "no man page")
        return
    written = options_in(plain_roff(source))
    harness.is_(sorted(named - written), [], "the man page names every option of --help")
    harness.is_(sorted(written - named), [], "--help names every option of the man page")
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"):
        harness.ok(re.search(r'^\.S[Hh]\s+"?%s"?\s*$' % section, source, re.M), "the man page has " + section)


def check_lint():
    path = harness.source("man", "gpustat.1")
    source = man_source()
    if source is None:
        harness.skip("the man page is clean", "no man page")
        return
    if shutil.which("mandoc"):
        p = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    elif shutil.which("groff"):
        p = subprocess.run(["groff", "-mandoc", "-Tutf8", "-ww", "-z", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    else:
        harness.skip("the man page is clean", "neither mandoc nor groff here")
        return
    harness.ok(p.returncode == 0 and not p.stdout, "the man page is clean under %s" % p.args[0],
               p.stdout.decode("utf-8", "replace"))


def readme_blocks(text):
    return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)


def man_blocks(text):
    """The literal displays of the man page's EXAMPLES, with roff's escapes undone."""
    text = text[text.index(".Sh EXAMPLES"):]
    for body in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", text, re.M | re.S):
        for escape, plain in (("\\-", "-"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\&", ""), ("\\e", "\\")):
            body = body.replace(escape, plain)
        yield body


def commands(body):
    """[[command, output]]: a command starts with '$ ' and goes on after a backslash or a bar."""
    pairs, more = [], False
    for line in body.split("\n")[:-1]:
        if more:
            pairs[-1][0] += "\n" + line
        elif line.startswith("$ "):
            pairs.append([line[2:], ""])
        elif pairs:
            pairs[-1][1] += line + "\n"
        more = bool(pairs) and pairs[-1][1] == "" and line.endswith(("\\", "|"))
    return pairs


def check_examples(name, path, find_blocks):
    if not os.path.exists(path):
        harness.skip("examples of " + name, "no " + name)
        return
    with open(path, encoding="utf-8") as f:
        text = f.read()
    bin_folder = os.path.join(harness.folder(), "bin")
    os.makedirs(bin_folder, exist_ok=True)
    link = os.path.join(bin_folder, "gpustat")
    if not os.path.lexists(link):
        os.symlink(harness.program(), link)
    env = dict(harness.environment(), PATH=bin_folder + os.pathsep + os.environ.get("PATH", ""))
    ran = 0
    for command, want in (pair for body in find_blocks(text) for pair in commands(body)):
        if SETUP.search(command) or "gpustat" not in command:
            harness.note("not run: " + command)
            continue
        p = subprocess.run(["sh", "-c", command], cwd=harness.source(), env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        ran += 1
        out, err = p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")
        harness.ok(want in (out + err, err + out), "%s: %s" % (name, command),
                   "got:    %r\nerrors: %r\nwanted: %r" % (out, err, want))
    harness.ok(ran > 0, "%s has examples that run" % name)


check_options()
check_lint()
check_examples("README.md", harness.source("README.md"), readme_blocks)
check_examples("gpustat.1", harness.source("man", "gpustat.1"), man_blocks)
harness.done()
