# SPDX-License-Identifier: MIT
"""gpustat-mpi: any number of ranks print the bytes that gpustat prints, or one message.

Open MPI's or MPICH's mpirun runs the ranks on this machine. Random tables are those of mpi_cases.py: GPUSTAT_TEST_SEED
sets the first, GPUSTAT_TEST_CASES how many. Some sums come from Python's decimal.
"""
import concurrent.futures
import csv
import decimal
import gzip
import io
import os
import random
import re
import shutil
import signal
import subprocess
import time

import bgzf_blocks
import harness
import mpi_cases
from harness import fixture, is_, ok

reason = mpi_cases.has_mpi()
if reason:
    harness.skip_all(reason)

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", "1"))
CASES = int(os.environ.get("GPUSTAT_TEST_CASES", "12"))
FAULTS = os.path.join(os.path.abspath(os.environ.get("builddir", ".")), "tests", "faults", "faults.so")
RANKS = (1, 2, 3, 5)
# MPICH's launcher says on standard output, not on standard error, that a rank was killed.
HYDRA_SAYS = rb"(?s)\n=+\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n(=[^\n]*\n)+YOUR APPLICATION TERMINATED [^\n]*\n" \
    rb"This typically refers to a problem with your application.\nPlease see the FAQ page for debugging suggestions\n"
pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2)


def table(n, seed, quoted=True):
    """Rows whose last field holds a line end, so that most borders of ranges are in quotes."""
    rng = random.Random(seed)
    last = '"a %d\nb,""c"""' if quoted else "a%d"
    return "k,x,t\n" + "".join("%s,%s,%s\n" % (rng.choice("abc"), decimal.Decimal(rng.randrange(-10 ** 9, 10 ** 9)).scaleb(-rng.randrange(9)),
                                               last % i) for i in range(n))


def alike(name, args, ranks=(2, 5), **how):
    """All numbers of ranks say what one process says."""
    want = harness.run(args)
    results = list(pool.map(lambda n: mpi_cases.run(n, args, **how), ranks))
    wrong = [(n, r) for n, r in zip(ranks, results) if mpi_cases.differs(want, r, n == 1)]
    ok(not wrong, name, lambda: "%d ranks\n%s\nwanted: %s" % (wrong[0][0], harness.describe(wrong[0][1]), harness.describe(want)))


# ---- results --------------------------------------------------------------------------------

def check_results():
    text = table(3000, 1)
    one, two, three = (fixture(name, data.encode()) for name, data in (
        ("one.csv", text), ("two.csv", table(40, 2)), ("three.csv", table(500, 3, False))))
    packed = fixture("packed.csv.gz", gzip.compress(table(700, 4).encode()))
    r = mpi_cases.run(3, ["--sum", "x", one])
    with decimal.localcontext() as c:
        c.prec = 60
        want = sum(decimal.Decimal(row["x"]) for row in csv.DictReader(io.StringIO(text)))
    is_(decimal.Decimal(r.out.decode().strip() or "0"), want, "a sum, as Python's decimal has it")
    alike("sums and a median", ["--sum", "x", "--mean", "x", "--median", "x", one], ranks=RANKS)
    alike("groups of several files", ["--by", "k", "--sum", "x", "--p90", "x", "--count-distinct", "t", one, two, packed, three])
    alike("groups in another order, the first", ["--by", "k", "--sum", "x", "--sort", "-sum", "--top", "2", "--format", "json", one, three],
          ranks=(2, 3))
    alike("the first and the last", ["--first", "t", "--last", "t", "--mode", "k", two, packed], ranks=(2, 5))
    alike("the summary", [three, one], ranks=(3,))
    alike("more ranks than lines", ["--sum", "x", fixture("short.csv", b"x\n1\n2\n")], ranks=(5,))
    alike("empty files", ["--sum", "x", fixture("e1.csv", b""), three, fixture("e2.csv", b"")], ranks=(3,))
    alike("only empty files", ["--count-records", fixture("e1.csv", b""), fixture("e2.csv", b"")], ranks=(2,))
    alike("chunks of a byte", ["--by", "k", "--sum", "x", two], ranks=(3,), chunk=1)
    alike("a record longer than a slice", ["--count", "t", "--sum", "x", fixture("long.csv", b'x,t\n1,"%s"\n2,b\n' % (b"line\n" * 2000))],
          ranks=(5,))
    alike("a drawing", ["--by", "k", "--sum", "x", "--plot", one], ranks=(2,))


def check_left_out():
    path = fixture("left.csv", b"x\n" + b"".join(b"%d\n" % i for i in range(300)) + b"bad\n" + b"7\n" * 500 + b"worse\n1,2\n")
    alike("what is left out, and where", ["--sum", "x", "--invalid", "skip", path], ranks=(2, 5))
    alike("... which may be too much", ["--sum", "x", "--invalid", "skip", "--max-invalid", "1", path], ranks=(3,))
    alike("... beside records", ["--cumsum", "x", "--invalid", "skip", path], ranks=(3,))
    alike("records that are printed before too much is left out", ["--cumsum", "x", "--invalid", "skip", "--max-invalid", "1", path],
          ranks=(3,))


# ---- many groups ------------------------------------------------------------------------------

def keyed(n, nkeys, seed):
    """Keys short and long; some groups hold sums that no cell does."""
    rng = random.Random(seed)
    keys = ["k%d" % i if i % 7 else '"a key of so many bytes that it, lies ""elsewhere"" %d"' % i for i in range(nkeys)]
    return "k,x,t\n" + "".join("%s,%s,%s\n" % (rng.choice(keys), rng.choice(("1", "-2.5", "9" * 18, "1e30", "")), rng.choice("abc"))
                               for _ in range(n))


def check_many_groups():
    many = fixture("many.csv", keyed(150000, 60000, 11).encode())
    alike("many groups, exchanged", ["--by", "k", "--sum", "x", "--min", "x", "--var", "x", many], ranks=RANKS)
    alike("... in another order", ["--by", "k", "--count", "x", "--sort", "-count", "--top", "5", many], ranks=(3,))
    alike("... with more than cells hold", ["--by", "k,t", "--median", "x", "--count-distinct", "t", many], ranks=(2, 3))
    alike("... where order shows", ["--by", "k", "--first", "x", "--last", "t", many], ranks=(3,))
    alike("... of one rank only", ["--by", "k", "--sum", "x", fixture("one.csv", keyed(99, 9, 12).encode()), many,
                                   fixture("three.csv", b"k,x,t\n")], ranks=(5,))
    alike("... in blocks of 50 bytes", ["--by", "k,t", "--sum", "x", "--mode", "t", fixture("few.csv", keyed(400, 90, 13).encode())], ranks=(2, 3),
          chunk=50)
    refuses("... more than there is memory for", ["--by", "k", "--sum", "x", "--memory", "1M", many], 1, b"more groups than there is memory for")


# ---- records --------------------------------------------------------------------------------

def check_records():
    one = fixture("r1.csv", table(900, 5).encode())
    bare = fixture("r2.csv", table(30, 6).rstrip("\n").encode())  # its last record has no line end
    packed = fixture("r3.csv.gz", gzip.compress(table(90, 7).encode()))
    alike("running totals", ["--cumsum", "x", "--running-mean", "x", "--row-number", one, bare, packed], ranks=RANKS)
    alike("... by group", ["--cumsum", "x", "--by", "k", packed, bare, one], ranks=(2, 5))
    alike("filtered, and where they stood", ["--where", "x > 0", "--byte-offset", bare, one, bare], ranks=(2, 3))
    alike("a pivot", ["--by", "k", "--pivot", "if(x > 0, 'more', 'less')", "--sum", "x", "--count-records", "--transpose", one], ranks=(3,))
    alike("records in a format", ["--cumsum", "x", "--format", "ndjson", one], ranks=(3,))
    alike("records in a list, which one rank prints", ["--cumsum", "x", "--format", "json", one], ranks=(3,))
    alike("what one rank prints", ["--head", "5", "--cumsum", "x", one], ranks=(3,))
    timed = fixture("timed.csv", b"t,k,x\n" + b"".join(b"%d,%d,%d\n" % (i // 3, i % 7, i * i % 101) for i in range(900)))
    alike("windows by time, by group and of all", ["--rolling-sum", "x:40s", "--over", "t", "--by", "k", timed], ranks=RANKS)
    alike("columns that look back", ["--rolling-sum", "x:700", "--lag", "t:2", "--fill-down", "x", "--rolling-max", "x:5", "--by", "k", one], ranks=(3,))
    alike("a mean that one rank prints", ["--ewma", "x:0.5", "--by", "k", one], ranks=(3,))
    alike("fields of later records", ["--lead", "x:2", one], ranks=(3,))
    for n in (1, 3):
        folder = os.path.join(harness.folder(), "out%d" % n)
        want = harness.run(["--cumsum", "x", bare, one])
        is_(mpi_cases.to_folder(n, ["--cumsum", "x", bare, one], folder)[:3], want[:3], "a file for each of %d ranks" % n)
    folder = os.path.join(harness.folder(), "full")
    os.mkdir(folder)
    fixture("full/part-00007.csv", b"")
    refuses("a folder that is not empty", ["--output-dir", folder, "--cumsum", "x", one], 2, b"not empty")
    refuses("a folder for a result", ["--output-dir", folder + "2", "--sum", "x", one], 2, b"--output-dir is for records")


# ---- BGZF -----------------------------------------------------------------------------------

def spread(name, args, path, n):
    """Each rank prints records of its own, and all of them what one process prints."""
    folder = os.path.join(harness.folder(), "spread")
    r = mpi_cases.run(n, ["--output-dir", folder] + args + [path])
    parts = [open(os.path.join(folder, "part-%05d.csv" % i), "rb").read() for i in range(n)] if r.status == 0 else []
    ok(parts and all(parts) and b"".join(parts) == harness.run(args + [path]).out, name, lambda: harness.describe(r))
    shutil.rmtree(folder, True)


def check_blocks():
    text = table(4000, 8).encode()
    rng = random.Random(9)
    usual = fixture("blocks.csv.gz", bgzf_blocks.pack(text + text[6:] * 7, 30000))
    tiny = fixture("tiny.csv.gz", bgzf_blocks.pack_at_random(rng, text[:9000]))
    plain = fixture("beside.csv", table(300, 10).encode())
    args = ["--by", "k", "--sum", "x", "--median", "x", "--first", "t", "--last", "t", "--count-distinct", "t"]
    alike("BGZF, whose blocks cut quoted fields", args + [usual], ranks=RANKS)
    alike("... tiny blocks, and other files", args + [tiny, plain, usual, tiny], ranks=(2, 5))
    alike("... chunks of a byte", ["--by", "k", "--sum", "x", "--first", "t", tiny], ranks=(3,), chunk=1)
    alike("... more ranks than blocks", ["--sum", "x", fixture("short.csv.gz", bgzf_blocks.pack(b"x\n1\n2\n"))], ranks=(5,))
    alike("... a header of many blocks", ["--skip-lines", "40", "--header", "no", "--count-records",
                                          fixture("head.csv.gz", bgzf_blocks.pack(b"a,b\n" * 60, 5))], ranks=(3, 5))
    alike("... records, and where they stood", ["--cumsum", "x", "--by", "k", "--row-number", "--byte-offset", tiny, usual], ranks=(3,))
    spread("every rank prints some of a BGZF file", ["--cumsum", "x"], usual, 3)
    bad = text + b"a,zzz,t\n" + text[6:]
    alike("... a bad value, with its line", ["--sum", "x", fixture("bad.csv.gz", bgzf_blocks.pack(bad, 3000))], ranks=(2, 5))
    alike("... what is left out, and its line", ["--sum", "x", "--invalid", "skip", fixture("bad.csv.gz", bgzf_blocks.pack(bad, 3000))], ranks=(5,))
    packed = bgzf_blocks.pack(text, 3000)
    alike("... damaged", ["--sum", "x", fixture("hurt.csv.gz", packed[:-5000] + b"!" + packed[-4999:])], ranks=(3,))
    alike("... truncated", ["--sum", "x", fixture("short.csv.gz", packed[:-5000])], ranks=(3,))
    alike("... with a gzip member behind it", ["--sum", "x", fixture("both.csv.gz", bgzf_blocks.pack(text, 3000, end=b"") + gzip.compress(text[6:]))],
          ranks=(2, 5))
    alike("... and with zero bytes in its midst", ["--sum", "x", fixture("zeros.csv.gz", bgzf_blocks.pack(text, 3000) + bytes(9) + packed)], ranks=(3,))


def check_false_blocks():
    """Text that is BGZF itself, stored: whichever byte a rank begins to look at, it finds blocks, which are none."""
    inner = b"".join(bgzf_blocks.block(b"%d\n" % i, 0) for i in range(4000))
    whole = b"x\n1\n" + inner + b"\n"
    path = fixture("false.csv.gz", bgzf_blocks.pack(whole, 65000, 0))
    for args in (["--header", "no", "--count-records"], ["--header", "no", "--where", "1 < 2", "--count-records", "--invalid", "skip"],
                 ["--header", "no", "--row-number"], ["--header", "no", "--sum", "1"]):
        alike("data that looks like blocks: " + " ".join(args[2:]), args + [path], ranks=(2, 3, 5))
    # A block of the text that goes on in the next real block hides the border between the two.
    hidden = bgzf_blocks.block(b"7\n" * 300, 0)
    text = b"x\n" + b"1\n" * 900 + hidden * 20
    path = fixture("hidden.csv.gz", bgzf_blocks.pack(text, len(text) - 5 * len(hidden) - 100, 0))
    alike("... across a real border", ["--header", "no", "--count-records", path], ranks=(2, 3, 4, 5))


# ---- faults ---------------------------------------------------------------------------------

def refuses(name, args, status, words, n=3, ranks=None):
    """One message, in which the words are; no output."""
    r = mpi_cases.run(n, args) if ranks is None else run_apart(ranks, args)
    said = [line for line in r.err.split(b"\n") if line.startswith(b"gpustat: ")]
    ok(r.status == status and not r.out and len(said) == 1 and words in said[0], name, lambda: harness.describe(r))


def run_apart(environments, args, programs={}):
    """Ranks with environments of their own, and some with a program of their own."""
    argv = mpi_cases.mpirun(1)[:-2]
    for i, extra in enumerate(environments):
        argv += [":"] * (i > 0) + ["-n", "1", "env"] + ["%s=%s" % pair for pair in extra.items()]
        argv += [programs.get(i, harness.program() + "-mpi"), "--threads", "1"] + args
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=mpi_cases.environment(), timeout=120)
    return harness.Result(p.returncode, p.stdout, p.stderr.replace(b"gpustat-mpi", b"gpustat"), argv, None)


def check_faults():
    lines = ["x"] + [str(i) for i in range(1000)]
    for at, name in ((100, "early"), (990, "late")):
        bad = lines[:at] + ["zzz"] + lines[at:]
        path = fixture(name + ".csv", "\n".join(bad).encode() + b"\n")
        alike("a bad value, " + name, ["--sum", "x", path], ranks=(2, 3))
        alike("... of '*'", ["--sum", "*", path], ranks=(3,))
    twice = fixture("twice.csv", ("\n".join(lines[:700] + ["zzz"] + lines[1:] + ["yyy"])).encode())
    alike("the first of two", ["--sum", "x", twice], ranks=(5,))
    alike("... beside records, of which none is printed", ["--cumsum", "x", twice], ranks=(3,))
    alike("a quote that is never closed", ["--count", "t", fixture("open.csv", b"t\n" + b"a\n" * 50 + b'"b\n' + b"c\n" * 50)], ranks=(3,))
    alike("a file that is not there", ["--sum", "x", twice, "/nonexistent/x.csv"], ranks=(2,))
    alike("... the first", ["--sum", "x", "/nonexistent/x.csv", twice], ranks=(2,))
    alike("a column that is not there", ["--sum", "y", twice], ranks=(3,))
    alike("damaged data", ["--sum", "x", fixture("cut.csv.gz", gzip.compress(b"x\n1\n2\n")[:-6])], ranks=(2,))
    refuses("standard input", ["--sum", "x", "-"], 2, b"standard input: not every rank can read it")
    pipe = os.path.join(harness.folder(), "pipe")
    os.mkfifo(pipe)
    refuses("a pipe by name, which is not opened", ["--sum", "x", twice, pipe], 2, b"a pipe or a device, which not every rank can read")
    refuses("--merge", ["--merge", twice], 2, b"--merge: the ranks make and merge their parts")
    refuses("an option that is none", ["--nothing", twice], 2, b"--nothing")


def check_system():
    if not os.path.exists(FAULTS) or not mpi_cases.is_open_mpi():
        harness.skip("calls that fail", "no library of faults, or not Open MPI")
        return
    good = fixture("good.csv", b"x\n" + b"12345\n" * 200000)
    fails = [{}, dict(LD_PRELOAD=FAULTS, FAULT="write:ENOSPC", FAULT_NOTE="/dev/null"), {}]
    folder = os.path.join(harness.folder(), "nospace")
    refuses("a disk full in one rank", ["--output-dir", folder, "--cumsum", "x", good], 1, b"write error: No space left", ranks=fails)
    is_(os.listdir(folder), [], "... and nothing is left of the others")
    refuses("where the result goes", ["--sum", "x", good], 1, b"write error: No space left", ranks=fails[1:] + fails[:1])


def other_version():
    """A copy of the program with another version in it, or None if it does not stand there once."""
    with open(harness.program() + "-mpi", "rb") as f:
        program = f.read()
    parts = re.split(rb"(?<=\0gpustat-mpi )[0-9.]+(?=\0)", program)
    if len(parts) != 2:
        return None
    version = program[len(parts[0]):len(program) - len(parts[1])]
    other = version[:-1] + (b"0" if version[-1:] == b"9" else b"9")
    path = fixture("gpustat-mpi", other.join(parts))
    os.chmod(path, 0o755)
    return path, version, other


def check_versions():
    found = other_version()
    if not ok(found is not None, "the program says its version to other ranks in a text that can be found"):
        return
    path, version, other = found
    good = fixture("versions.csv", b"x\n1\n2\n")
    for at, theirs, ours in ((2, other, version), (0, version, other)):
        r = run_apart([{}] * 3, ["--sum", "x", good], {at: path})
        said = [line for line in r.err.split(b"\n") if line.startswith(b"gpustat: ")]
        words = b"ranks of different versions: rank %d on " % (at or 1)
        ok(r.status == 1 and not r.out and len(said) == 1 and words in said[0] and b" is gpustat %s, rank 0 on " % theirs in said[0] and
           said[0].endswith(b" is gpustat %s (try one version on all hosts)" % ours), "rank %d has another version" % at, lambda: harness.describe(r))
    r = run_apart([{}] * 2, ["--sum", "x", good], {0: path, 1: path})
    is_((r.status, r.out), (0, b"3\n"), "all have another")


def children(pid):
    """The processes that pid started, and those that they did."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name) as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == pid:
            found += [int(name)] + children(int(name))
    return found


def is_rank(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return b"gpustat-mpi" in f.read().split(b"\0")[0]
    except OSError:
        return False


def check_killed():
    if not os.path.isdir("/proc/self"):
        harness.skip("a rank that is killed", "no /proc")
        return
    slow = fixture("slow.csv", b"x\n" + b"123456789\n" * 2000000)
    argv = mpi_cases.mpirun(3) + [harness.program() + "-mpi", "--threads", "1", "--sum", "x", slow]
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=mpi_cases.environment(1))
    ranks, end = [], time.monotonic() + 30
    while len(ranks) < 3 and time.monotonic() < end and p.poll() is None:
        ranks = [pid for pid in children(p.pid) if is_rank(pid)]
        time.sleep(0.05)
    if len(ranks) == 3:
        time.sleep(0.3)
        os.kill(ranks[1], signal.SIGKILL)
    try:
        out, _ = p.communicate(timeout=60)
        ended = True
    except subprocess.TimeoutExpired:
        p.kill()
        out, ended = p.communicate()[0], False
    said = out if mpi_cases.is_open_mpi() else re.sub(HYDRA_SAYS, b"", out, count=1)
    ok(len(ranks) == 3 and ended and p.returncode != 0 and said == b"", "a rank that is killed ends the job",
       "%s ranks, ended %s, status %s, output %s" % (ranks, ended, p.returncode, out))
    os.unlink(slow)


# ---- the rest -------------------------------------------------------------------------------

def check_random():
    wrong = [w for w in pool.map(mpi_cases.run_case, range(SEED, SEED + CASES)) if w]
    ok(not wrong, "%d random requests" % CASES, lambda: "%d wrong\n%s" % (len(wrong), wrong[0]))


def check_about():
    r = mpi_cases.run(2, ["--help"], threads=None)
    ok(r.status == 0 and r.out.count(b"Usage: mpirun") == 1 and b"--sum" in r.out, "--help is printed once", harness.describe(r))
    r = mpi_cases.run(2, ["--version"], threads=None)
    is_((r.status, r.out.split(b"\n")[0].split()[:1]), (0, [b"gpustat"]), "--version")


check_about()
check_results()
check_left_out()
check_many_groups()
check_records()
check_blocks()
check_false_blocks()
check_faults()
check_system()
check_versions()
check_killed()
check_random()
harness.done()
