# SPDX-License-Identifier: MIT
"""The documents say what the program does: --help, the man pages, and the examples of README.md and docs/."""
import glob
import gzip
import os
import re
import shutil
import subprocess

import harness

TOOLS = ("gpustat", "gpustat-bench")
SETUP = re.compile(r"(^|[;&|]\s*)(\./bootstrap|sudo|git|apt|apt-get|make|\./configure|\.\./configure|man)\b")
NEEDS_GPU = re.compile(r"\bgpustat-bench +(reduce|scan|ceilings)\b")
OPTIONAL_TOOLS = ("df", "du", "iconv", "jq", "parallel", "ps", "timeout", "zstd")
SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO")


def options_in(text):
    return set(re.findall(r"(?<![-\w])--[a-z](?:[a-z-]*[a-z])?", text))


def man_path(tool):
    return harness.source("man", tool + ".1")


def man_source(tool):
    if not os.path.exists(man_path(tool)):
        return None
    with open(man_path(tool), encoding="utf-8") as f:
        return f.read()


def plain_roff(text):
    """roff source with its escapes and mdoc's flag macros turned into plain text."""
    text = re.sub(r'^[.\']\\".*$', "", text, flags=re.M)
    text = re.sub(r"\\f(?:\(..|\[[^]]*\]|.)|\\[&,/]", "", text)
    text = text.replace("\\-", "-").replace("\\(hy", "-")
    text = re.sub(r"\bFl\s+Fl\s+(?=\w)", "--", text)
    return re.sub(r"\bFl\s+-(?=\w)", "--", text)


def check_options(tool):
    r = harness.run(["--help"], tool=tool)
    named = options_in(r.out.decode("utf-8"))
    harness.ok(r.status == 0 and len(named) > 5, "%s --help lists the options" % tool, lambda: harness.describe(r))
    source = man_source(tool)
    if source is None:
        harness.skip("%s.1 names every option" % tool, "no man page")
        harness.skip("%s --help names every option of the man page" % tool, "no man page")
        return
    written = options_in(plain_roff(source))
    harness.is_(sorted(named - written), [], "%s.1 names every option of --help" % tool)
    harness.is_(sorted(written - named), [], "%s --help names every option of the man page" % tool)
    for section in SECTIONS:
        harness.ok(re.search(r'^\.S[Hh]\s+"?%s"?\s*$' % section, source, re.M), "%s.1 has %s" % (tool, section))


def check_commands():
    """What stands below "Commands:" in gpustat-bench's --help is an item of its man page's list."""
    out = harness.run(["--help"], tool="gpustat-bench").out.decode("utf-8")
    listed = re.findall(r"^  (\w+) ", out[out.find("Commands:"):out.find("Options")], re.M)
    source = man_source("gpustat-bench") or ""
    written = [word for word in listed if re.search(r"^\.It Cm %s$" % word, source, re.M)]
    harness.ok(len(listed) > 2 and written == listed, "gpustat-bench.1 names every command",
               "--help: %s\nman page: %s" % (listed, written))


def check_rungs():
    """Every rung that a file defines is in ladder.cu, and with its idea in gpustat-bench's man page."""
    source = man_source("gpustat-bench") or ""
    files = sorted(glob.glob(harness.source("kernels", "ladder", "*.cu")))
    text = "".join(open(path, encoding="utf-8").read() for path in files)
    listed = re.findall(r"\bRUNG\((\w+)\)", text)
    defined = ["%s_%s" % rung for rung in re.findall(r"^LADDER_RUNG\((\w+), (\w+),", text, re.M)]
    harness.is_(sorted(listed), sorted(defined), "ladder.cu lists the rungs that are defined")
    for ladder in ("reduce", "scan"):
        rungs = re.findall(r'^LADDER_RUNG\(%s, (\w+), "([^"]*)"\)' % ladder, text, re.M)
        missing = [name for name, idea in rungs if ".It %s\n%s\n" % (name, idea) not in source]
        harness.ok(len(rungs) > 10 and not missing, "gpustat-bench.1 explains the rungs of %s" % ladder,
                   lambda: "%d rungs, missing: %s" % (len(rungs), missing))


def check_lint(tool):
    path = man_path(tool)
    if man_source(tool) is None:
        harness.skip("%s.1 is clean" % tool, "no man page")
        return
    if shutil.which("mandoc"):
        p = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    elif shutil.which("groff"):
        p = subprocess.run(["groff", "-mandoc", "-Tutf8", "-ww", "-z", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    else:
        harness.skip("%s.1 is clean" % tool, "neither mandoc nor groff here")
        return
    harness.ok(p.returncode == 0 and not p.stdout, "%s.1 is clean under %s" % (tool, p.args[0]),
               p.stdout.decode("utf-8", "replace"))


def page_blocks(text):
    return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)


def man_blocks(text):
    """The man page's literal displays, with roff's escapes undone."""
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


def tools_missing(body):
    """The programs and codecs that the commands of a block need and that are not here."""
    named = {name for name in OPTIONAL_TOOLS if re.search(r"(?:^\$|[|;({]|&&)\s*%s\b" % name, body, re.M)}
    missing = {name for name in named if not shutil.which(name)}
    version = harness.run(["--version"]).out.decode("utf-8")
    return sorted(missing | {name for name in named & {"zstd"} if not re.search(r"^zstd \d", version, re.M)})


def example_environment():
    """Names as a person types them: gpustat and gpustat-bench are the programs to test."""
    bin_folder = os.path.join(harness.folder(), "bin")
    os.makedirs(bin_folder, exist_ok=True)
    for tool in TOOLS:
        link = os.path.join(bin_folder, tool)
        if not os.path.lexists(link):
            os.symlink(harness.program(tool), link)
    return dict(harness.environment(), PATH=bin_folder + os.pathsep + os.environ.get("PATH", ""))


def skip_block(name, body, missing):
    """Skips each command of a block; the number of them."""
    pairs = commands(body)
    for command, _ in pairs:
        harness.skip("%s: %s" % (name, command.split("\n")[0]), "no " + ", ".join(missing))
    return len(pairs)


def check_command(name, command, want, cwd):
    p = subprocess.run(["sh", "-c", command], cwd=cwd, env=example_environment(), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    out, err = p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")
    wanted = (out + err, err + out)
    harness.ok(want in wanted, "%s: %s" % (name, command), "got:    %r\nerrors: %r\nwanted: %r" % (out, err, want))


def check_examples(name, path, find_blocks):
    if not os.path.exists(path):
        harness.skip("examples of " + name, "no " + name)
        return
    with open(path, encoding="utf-8") as f:
        text = f.read()
    ran = 0
    for body in find_blocks(text):
        missing = tools_missing(body)
        if missing:
            skip_block(name, body, missing)
            continue
        for command, want in commands(body):
            if SETUP.search(command) or NEEDS_GPU.search(command) or "gpustat" not in command:
                harness.note("not run: " + command)
                continue
            if re.search(r" !?~ ", command) and not harness.has_patterns():
                harness.skip("%s: %s" % (name, command), "built without PCRE2")
                continue
            check_command(name, command, want, harness.source())
            ran += 1
    harness.ok(ran > 0, "%s has examples that run" % name)


def check_cookbook():
    """Every command of the cookbook runs, one after the other in one folder: it makes the files that it uses."""
    with open(harness.source("docs", "cookbook.md"), encoding="utf-8") as f:
        blocks = page_blocks(f.read())
    folder = os.path.join(harness.folder(), "cookbook")
    os.makedirs(folder)
    os.symlink(harness.source("data"), os.path.join(folder, "data"))
    left_out = 0
    for body in blocks:
        missing = tools_missing(body)
        if missing:
            left_out += skip_block("cookbook.md", body, missing)
            continue
        for command, want in commands(body):
            check_command("cookbook.md", command, want, folder)
    harness.note("cookbook.md: %d commands left out for want of a program" % left_out)
    harness.ok(len(blocks) > 40, "cookbook.md has more than 40 blocks", str(len(blocks)))


def check_help():
    """-h is one screen; --help has every option once, in groups, each with an example; the examples run."""
    whole, brief = (harness.run([option]).out.decode("utf-8") for option in ("--help", "-h"))
    options = harness.run(["--completion=fish"]).out.decode("utf-8")
    names = re.findall(r"^complete -c gpustat -l (\S+)", options, re.M)
    rows = [re.findall(r"^  (?:-\w,|   ) --(\S+) .*$", text, re.M) for text in (whole, brief)]
    names = sorted(set("pNN" if re.match(r"p\d", name) else name for name in names))
    harness.is_(sorted(rows[0]), names, "--help has each option once")
    harness.ok(len(rows[1]) >= 12 and set(brief.split("\n")[6:-3]) <= set(whole.split("\n")), "-h has lines of --help", brief)
    harness.ok(brief.count("\n") <= 24, "-h has at most 24 lines", brief)
    harness.is_([line for line in (whole + brief).split("\n") if len(line) > 80], [], "no line has more than 80 columns")
    for args in (["-h", "--help"], ["--help", "-h"], ["-V", "--help"]):
        harness.is_(harness.run(args).out.decode("utf-8"), whole, "all of it: " + " ".join(args))
    harness.is_(harness.run(["-vVh"]).out.decode("utf-8"), brief, "-h among other letters")
    groups = re.findall(r"^\n(?!About)[A-Z].*\n(.*)\n +(?:-\w, )?--", whole, re.M)
    harness.ok(len(groups) > 9 and all(line.startswith("  $ ") for line in groups), "each group has an example", groups)
    check_help_examples(groups + brief.split("\n")[2:5])


def check_help_examples(lines):
    log = b"host,status,bytes,seconds\na,200,10,0.5\nb,500,20,0.25\na,503,30,\n" + b"b,200,40,1.5\n" * 7
    harness.fixture("log.csv", log)
    harness.fixture("log.csv.gz", gzip.compress(log))
    harness.fixture("prices.csv", b"id;amount\n1;1.234,50\n2;0,5\n")
    harness.ok(sum(line.startswith("  $ ") for line in lines) == len(lines), "--help's examples begin with $", lines)
    env = dict(harness.environment(), PATH=os.path.dirname(harness.program()) + os.pathsep + os.environ.get("PATH", ""))
    for line in lines:
        if "ps aux" in line and not shutil.which("ps"):
            harness.skip(line, "no ps")
            continue
        p = subprocess.run(["sh", "-c", line.strip(" $")], cwd=harness.folder(), env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        written = p.stdout or open(os.path.join(harness.folder(), line.split()[-1]), "rb").read()
        harness.ok(p.returncode == 0 and written.count(b"\n") > 0, "--help: " + line, "%r" % p)


def check_package():
    """The packages' files say the program's version and licence."""
    with open(harness.source("rpm", "gpustat-csv.spec"), encoding="utf-8") as f:
        spec = f.read()
    version = harness.run(["--version"]).out.decode("utf-8").split()[1]
    harness.is_(re.findall(r"^(?:Version|License): (.*)$", spec, re.M), [version, "MIT"], "the RPM's version is the program's")


for program in TOOLS:
    check_options(program)
    check_lint(program)
    check_examples(program + ".1", man_path(program), man_blocks)
check_lint("gpustat-mpi")
check_help()
check_package()
check_commands()
check_rungs()
check_examples("README.md", harness.source("README.md"), page_blocks)
for page in ("cluster.md", "exactness.md", "ladder.md"):
    check_examples(page, harness.source("docs", page), page_blocks)
check_cookbook()
harness.done()
