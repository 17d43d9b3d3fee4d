# SPDX-License-Identifier: MIT
"""The files of --save-state and --svg: there in full or as they were, whatever ends the run; and what is never replaced."""
import os
import resource
import shutil
import signal
import stat
import subprocess

import harness
from harness import is_, ok, run

TABLE = b"k,n\na,1\nb,2\na,4\n"
OPTIONS = {"--save-state": ["--sum=n"], "--svg": ["--by=k", "--sum=n"]}
WANT = {}
FOLDER = os.path.join(harness.folder(), "saved")
GROUPS = b"k,n\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(60000))


def path(name):
    return os.path.join(FOLDER, name)


def read(name):
    with open(path(name), "rb") as f:
        return f.read()


def write(name, data, mode=None):
    with open(path(name), "wb") as f:
        f.write(data)
    if mode is not None:
        os.chmod(path(name), mode)


def fresh():
    shutil.rmtree(FOLDER, True)
    os.makedirs(FOLDER)
    write("in.csv", TABLE)


def saves(option, name, inputs=("in.csv",), **how):
    return run(OPTIONS[option] + [option, name] + list(inputs), cwd=FOLDER, **how)


def mode_of(name):
    return stat.S_IMODE(os.lstat(path(name)).st_mode)


# ---- what is written ----------------------------------------------------------------------------

def check_places():
    for option in OPTIONS:
        fresh()
        old = os.umask(0o027)
        r = saves(option, "new")
        os.umask(old)
        WANT[option] = read("new")
        ok(r.status == 0 and not r.err and len(WANT[option]) > 100, option + ": a new file", harness.describe(r))
        is_((mode_of("new"), sorted(os.listdir(FOLDER))), (0o640, ["in.csv", "new"]), option + ": its mode is the umask's, and it is alone")
        for name, begin in (("empty", b""), ("one of the same kind", WANT[option][:20] + b" of old\n" * 1000)):
            write("old", begin, 0o600)
            os.link(path("old"), path("beside"))
            r = saves(option, "old")
            is_((r.status, r.err, read("old"), mode_of("old"), read("beside")), (0, b"", WANT[option], 0o600, begin), "%s: in place of %s" % (option, name))
            os.unlink(path("beside"))
        os.symlink("old", path("link"))
        os.symlink("away/" + "x" * 250, path("far"))
        os.mkdir(path("away"))
        os.symlink(path("far"), path("farther"))
        write("old", b"", 0o604)
        saves(option, "link")
        saves(option, "farther")
        is_((read("old"), mode_of("old"), os.readlink(path("link"))), (WANT[option], 0o604, "old"), option + ": a symbolic link stays, what it leads to is replaced")
        is_((read("far"), os.readlink(path("farther")), os.listdir(path("away"))), (WANT[option], path("far"), ["x" * 250]), option + ": links that lead to no file yet")
        write("old", b"", 0o600)
        write("old.new", b"mine\n")
        saves(option, "old")
        is_((read("old.new"), read("old")), (b"mine\n", WANT[option]), option + ": FILE.new is not touched")


def check_refused():
    inputs = "is an input as well: write to another file"
    output = "is the output as well: write to another file"
    for option in OPTIONS:
        fresh()
        for name, args in (("an input", ["in.csv"]), ("the second input", ["-", "in.csv"])):
            r = saves(option, "in.csv", args, stdin=TABLE)
            is_((r.status, r.out, r.err.decode(), read("in.csv")), (1, b"", "gpustat: in.csv: %s\n" % inputs, TABLE), "%s: %s" % (option, name))
        os.link(path("in.csv"), path("hard"))
        os.symlink("in.csv", path("soft"))
        for name in ("hard", "soft"):
            r = saves(option, name)
            is_((r.status, r.out, r.err.decode(), read("in.csv")), (1, b"", "gpustat: %s: %s\n" % (name, inputs), TABLE), "%s: an input by a %s link" % (option, name))
        with open(path("in.csv"), "rb") as f:
            r = subprocess.run([harness.program()] + OPTIONS[option] + [option, "in.csv"], stdin=f, capture_output=True, cwd=FOLDER, env=harness.environment())
        is_((r.returncode, r.stdout, r.stderr.decode(), read("in.csv")), (1, b"", "gpustat: in.csv: %s\n" % inputs, TABLE), option + ": standard input")
        write("empty.csv", b"")
        r = saves(option, "empty.csv", ["empty.csv"])
        is_((r.status, r.err.decode()), (1, "gpustat: empty.csv: %s\n" % inputs), option + ": an input of no byte")
        for name in ("out", "/dev/stdout"):
            with open(path("out"), "wb") as f:
                r = saves(option, name, stdout=f)
            is_((r.status, read("out"), r.err.decode()), (1, b"", "gpustat: %s: %s\n" % (name, output)), "%s: standard output as %s" % (option, name))
        write("data", b"x\n1\n")
        words = {"--svg": "is there already and is no SVG: --svg does not overwrite it",
                 "--save-state": "is there already and is no state: --save-state does not overwrite it"}
        r = saves(option, "data")
        is_((r.status, r.out, r.err.decode(), read("data")), (1, b"", "gpustat: data: %s\n" % words[option], b"x\n1\n"), option + ": a file of data")
        os.symlink("data", path("to-data"))
        r = saves(option, "to-data")
        is_((r.status, r.out, read("data")), (1, b"", b"x\n1\n"), option + ": a link to a file of data")
        os.symlink("round", path("about"))
        os.symlink("about", path("round"))
        r = saves(option, "about")
        is_((r.status, r.err.decode()), (1, "gpustat: about: cannot open: Too many levels of symbolic links\n"), option + ": links in a circle")
        r = saves(option, ".")
        is_((r.status, r.err.decode()), (1, "gpustat: .: cannot open: Is a directory\n"), option + ": a folder")
        r = saves(option, "no/x")
        is_((r.status, r.err.decode()), (1, "gpustat: no/x: cannot open: No such file or directory\n"), option + ": a folder that is not there")
        r = saves(option, "")
        is_((r.status, r.err.split(b"\n")[0].decode()), (2, "gpustat: %s: '' is no file" % option), option + ": no name")
        if os.geteuid():
            write("read-only", b"", 0o444)
            is_(saves(option, "read-only").status, 1, option + ": a file that may not be written")
            os.mkdir(path("closed"), 0o555)
            r = saves(option, "closed/x")
            is_((r.status, r.err.decode()), (1, "gpustat: closed/x: cannot open: Permission denied (try a folder in which files may be made)\n"), option + ": a folder that may not be written to")
    os.mkfifo(path("fifo"))
    for name in ("fifo", "/dev/full", "/dev/null"):
        r = saves("--save-state", name)
        is_((r.status, r.out, r.err.decode()), (1, b"", "gpustat: %s: is not a regular file: save the state in one\n" % name), "--save-state: " + name)
    p = subprocess.Popen(["cat", path("fifo")], stdout=subprocess.PIPE)
    is_((saves("--svg", "fifo").status, p.communicate()[0]), (0, WANT["--svg"]), "--svg: a FIFO is written to")
    for a, b in (("x", "x"), ("x", "./x")):
        r = run(["--by=k", "--svg", a, "--save-state", b, "in.csv"], cwd=FOLDER)
        is_((r.status, r.err.endswith(b"--save-state does not overwrite it\n") if b != a else r.err), (1, True if b != a else b"gpustat: x: is the output as well: write to another file\n"), "one file for both: %s, %s" % (a, b))


# ---- what ends the run --------------------------------------------------------------------------

def limited(number):
    """In the child: no file may grow beyond 100,000 bytes, and what the signal for that does."""
    def before():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, number)
    return before


def check_ends():
    fresh()
    write("groups.csv", GROUPS)
    args = [harness.program(), "--by=k", "--sum=n", "--top=1", "--sort=sum", "--save-state", "state", "groups.csv"]
    write("state", WANT["--save-state"], 0o600)
    for name, action, status in (("is killed in the middle", signal.SIG_DFL, -signal.SIGXFSZ), ("cannot write more", signal.SIG_IGN, 1)):
        r = subprocess.run(args, cwd=FOLDER, capture_output=True, env=harness.environment(), preexec_fn=limited(action))
        is_((r.returncode, read("state"), mode_of("state")), (status, WANT["--save-state"], 0o600), "a run that %s leaves the old state" % name)
    is_(r.stderr, b"gpustat: state: write error: File too large\n", "... and says so")
    is_(sorted(os.listdir(FOLDER)), ["groups.csv", "in.csv", "state"], "... and no other file")
    r = run(["--by=k", "--sum=n", "--save-state", "state"], b"k,n\na,x\n", cwd=FOLDER)
    is_((r.status, read("state")), (1, WANT["--save-state"]), "a run that fails leaves the old state")
    runs = [subprocess.Popen(args[:-1] + ["--threads=2"], cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=harness.environment()) for _ in range(6)]
    wants = []
    for i, p in enumerate(runs):
        text = GROUPS[:len(GROUPS) // 2 + 7 * i]
        text = text[:text.rindex(b"\n") + 1]
        wants.append(text)
        p.stdin.write(text[:-20])
    for p, text in zip(runs, wants):
        p.stdin.write(text[-20:])
        p.stdin.close()
    is_([p.wait() for p in runs], [0] * 6, "six runs at once save one state")
    got = read("state")
    alone = [run(args[1:-2] + ["one"], text, cwd=FOLDER).status == 0 and read("one") for text in wants]
    ok(got in alone, "... which is that of one of them", "%d bytes" % len(got))
    os.unlink(path("one"))
    is_(sorted(os.listdir(FOLDER)), ["groups.csv", "in.csv", "state"], "... and there is no other file")


check_places()
check_refused()
check_ends()
harness.done()
