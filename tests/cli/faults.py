# SPDX-License-Identifier: MIT
"""Every call that can fail is made to fail in turn: the run prints an error or the right answer.

tests/faults/faults.c is loaded before the program and makes the K-th allocation, read, write, thread
… fail; K grows from 1 until a run ends without reaching the fault. After each fault the program must
end with status 1, a message and no answer (if it prints records: whole ones from the first on). If
it does not need the call that failed, it must print the right answer and no message. It may not crash, hang, or
print another answer. Why GPUs are not in here: docs/reliability.md.
"""
import bz2
import gzip
import lzma
import os
import signal
import struct
import subprocess
import tempfile
import time
import zlib

import harness
from packed_text import bgzip

LIBRARY = os.path.join(os.path.abspath(os.environ.get("builddir", ".")), "tests", "faults", "faults.so")
LIMIT = 30              # seconds: a run that takes longer hangs
MOST = 5000             # faults in one request: more would be a loop


def zstd(data):
    """`data` as a frame of zstd of stored blocks, without a checksum (RFC 8878)."""
    blocks = [data[i:i + 1000] for i in range(0, len(data), 1000)] or [b""]
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    for i, block in enumerate(blocks):
        out += struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3] + block
    return out


LINES = [b"name,n,x\n"] + [b'"item %d",%d,%d.%02d\n' % (i, i, i % 7, i % 100) for i in range(300)]
LINES[150] = b'"two\nlines",149,1e300\n'
TABLE = b"".join(LINES)

# Longer than what is peeked at, so that it is read in several parts; TABLE is peeked at to its end.
LONG_LINES = [line.replace(b'",', b" %s\"," % (b"x" * (i % 10 * 70)), 1) for i, line in enumerate(LINES)]
LONG_TABLE = b"".join(LONG_LINES)

# (name, arguments before the file, what stands in the file, is it standard input?, chunk, threads)
REQUESTS = (
    ("results", ["--sum", "n", "--mean", "n,x", "--max", "x"], TABLE, False, None, None),
    ("results from a pipe", ["--sum", "*"], TABLE, True, None, None),
    ("results, small chunks", ["--sum", "n", "--min", "x"], TABLE, False, 700, 3),
    ("results, longer", ["--sum", "n", "--mean", "n,x", "--max", "x"], LONG_TABLE, False, None, None),
    ("results, longer, small chunks", ["--sum", "n", "--min", "x"], LONG_TABLE, False, 9000, 3),
    ("the summary as JSON", ["--format=json"], TABLE, False, None, None),
    ("the summary as a table", ["--format=table"], TABLE, True, None, 1),
    ("records", ["--where", "n > 20 and not (name = 'item 25' or x is missing)"], TABLE, False, None, None),
    ("records, small chunks", ["--cumsum", "x", "--running-max", "n", "--offsets", "n < 90"], TABLE, False, 500, 3),
    ("records, longer, small chunks", ["--cumsum", "x", "--running-max", "n", "--offsets", "n < 90"], LONG_TABLE, False, 9000, 3),
    ("records from a pipe", ["--cumsum", "n", "--byte-offset", "--only"], TABLE, True, 4096, 2),
    ("skipping", ["--sum", "n", "--invalid=skip", "--missing=1,2"], TABLE, False, None, None),
    ("gzip", ["--sum", "n", "--count", "name"], gzip.compress(TABLE), False, None, None),
    ("gzip from a pipe", ["--cumsum", "n"], gzip.compress(TABLE) + gzip.compress(b"z,1,1\n"), True, 3000, 2),
    ("BGZF", ["--sum", "n,x"], bgzip(TABLE), False, 1000, 3),
    ("zstd", ["--sum", "n,x"], zstd(TABLE), False, 1000, 2),
    ("zstd ahead", ["--sum", "1"], zstd(b"1\n" * 131072) + zstd(b"2\n" * 400000) * 2, False, None, 2),
    ("bzip2", ["--sum", "n,x"], bz2.compress(TABLE), False, 1000, 2),
    ("bzip2 ahead", ["--sum", "1"], bz2.compress(b"1\n" * 131072) + bz2.compress(b"2\n" * 200000) * 3, False, None, 2),
    ("xz", ["--sum", "n,x"], lzma.compress(TABLE, preset=0), False, 1000, 2),
    ("groups", ["--sum", "n", "--count", "*", "--by", "x"], LONG_TABLE, False, 9000, 3),
    ("groups, many keys", ["--max", "n", "--by", "name"], LONG_TABLE, False, None, 2),
    ("sorted", ["--sort", "-x,name"], TABLE, False, 700, 3),
    ("sorted from a pipe", ["--sort", "n", "--cumsum", "n"], TABLE, True, 4096, 2),
    ("sorted by an aggregate", ["--sort", "-n / sum(n)"], TABLE, True, 2000, 2),
    ("the first of each group", ["--by", "x", "--sort", "-n", "--top", "2"], TABLE, False, 700, 3),
    ("the first of each value", ["--unique", "x"], TABLE, False, 700, 2),
    ("computed results", ["--by", "x", "--agg", "r = sum(n) / count()", "--having", "count() > 1", "--sort", "-r,x", "--top", "3"], TABLE, False,
     700, 2),
    ("shares", ["--by", "x", "--share", "n", "--cumshare", "n", "--sort", "-sum(n)"], TABLE, False, 700, 2),
    ("a state", ["--sum", "n", "--median", "n", "--by", "x", "--save-state", os.path.join(harness.folder(), "faults.state")], TABLE, False, 700,
     None),
    ("another order", ["--sum", "n", "--count", "name", harness.fixture("order.csv", b"x,new,n,name\n1,2,3,4\n")], TABLE, False,
     700, 2),
    ("one name in JSON", ["--sum", "n,n,x,n", "--format=json"], TABLE, False, None, 1),
    ("padded gzip", ["--sum", "n"], gzip.compress(TABLE) + bytes(600), False, None, 1),
    ("records as JSON, small chunks", ["--cumsum", "n", "--lead", "name", "--format=ndjson"], TABLE, False, 700, 2),
    ("records as a table", ["--where", "n > 20", "--format=table"], TABLE, False, 700, 2),
    ("another delimiter", ["--cumsum", "n", "--output-delimiter=;"], TABLE, True, 500, 2),
    ("groups as JSON", ["--sum", "n", "--by", "x", "--format=json"], TABLE, False, 700, 2),
    ("a pivot", ["--sum", "n", "--by", "x", "--pivot", "n < 20", "--sort", "n < 20"], TABLE, False, 700, 2),
    ("turned over", ["--sum", "n", "--by", "x", "--transpose"], TABLE, False, None, 1),
    ("a union", ["--union", "--cumsum", "n", harness.fixture("union.csv", b"x,new,n,name\n1,2,3,4\n")], TABLE, False, 700, 2),
    ("blank lines before", ["--cumsum", "1", harness.fixture("blank.csv", b"\n\n")], b"5\n6\n" * 900, False, 1000, 2),
)

PACKED = {"gzip": "zlib", "BGZF": "zlib", "zstd": "zstd", "bzip2": "libbz2", "xz": "liblzma"} # and the library


class Request:
    """One of REQUESTS, its input laid down, and its answer without a fault."""
    def __init__(self, name, args, data, piped, chunk, threads):
        self.name, self.piped = name, piped
        self.path = harness.fixture(name.replace(" ", "-") + ".csv", data)
        self.args = (["--threads", str(threads)] if threads else []) + args + ([] if piped else [self.path])
        self.env = harness.environment(chunk)
        self.right = self.run(None)
        if self.right[0] != 0:
            harness.bail("%s: %r" % (name, self.right))
        is_sorted = "--sort" in args and self.right[1].startswith(data.split(b"\n")[0])
        self.prints_records = is_sorted or any(a in args for a in ("--where", "--cumsum", "--unique", "--save-state")) # a state is saved last

    def start(self, fault, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        env = dict(self.env)
        if fault:
            env.update(LD_PRELOAD=LIBRARY, FAULT=fault, FAULT_NOTE=self.note(fault))
        return subprocess.Popen([harness.program()] + self.args, env=env, stdin=subprocess.PIPE if self.piped
                                else subprocess.DEVNULL, stdout=stdout, stderr=stderr)

    def note(self, fault):
        return os.path.join(harness.folder(), "struck-%s-%s" % (os.path.basename(self.path), fault))

    def run(self, fault):
        """-> (status, stdout, stderr, did the fault come about?)"""
        data = None
        if self.piped:
            with open(self.path, "rb") as f:
                data = f.read()
        with self.start(fault) as p:
            try:
                out, err = p.communicate(data, timeout=LIMIT)
                status = p.returncode
            except subprocess.TimeoutExpired:
                p.kill()
                out, err = p.communicate()
                status = "it hangs"
        struck = bool(fault) and os.path.exists(self.note(fault))
        if struck:
            os.unlink(self.note(fault))
        return status, out, err, struck

    def complaint(self, result, words, answered=False):
        """None, or what is wrong with a run that met a fault. words: one of them is in the message.
        answered: the answer may have been printed when the fault occurs."""
        status, out, err, _ = result
        right = self.right[1]
        if status == 0:
            return None if out == right and err == self.right[2] else "another answer"
        if status != 1:
            return "status %s" % status
        if not err.startswith(b"gpustat: ") or err.count(b"\n") != 1 or not err.endswith(b"\n"):
            return "not one message"
        if not any(w in err for w in words):
            return "a message without %s" % (words,)
        if out and not self.prints_records and not (answered and out == right):
            return "an answer beside an error"
        return None if right.startswith(out) else "output that does not begin the right one"

    def whole(self, out):
        """Do printed records end where one ends? (A write may be broken off anywhere.)"""
        return out == b"" or out.endswith(b"\n") and out.count(b'"') % 2 == 0


def every(request, what, words, whole=True, recovers=None):
    """Lets the K-th call fail for every K, once alone and once with all later ones. One TAP line
    each. recovers: True, all runs must end well; False, none may; None, either."""
    for later in ("", "+"):
        wrong, nfaults, ended_well = [], 0, 0
        k, batch = 1, 16
        while k < MOST:
            faults = ["%s:%d%s" % (what, k + i, later) for i in range(batch)]
            results = list(harness._pool.map(request.run, faults))
            for fault, result in zip(faults, results):
                if not result[3]:
                    continue
                nfaults += 1
                ended_well += result[0] == 0
                bad = request.complaint(result, words, what.startswith("close"))
                if not bad and whole and result[0] == 1 and not request.whole(result[1]):
                    bad = "half a record"
                if not bad and recovers is not None and (result[0] == 0) != recovers:
                    bad = "it should recover" if recovers else "it should fail"
                if bad:
                    wrong.append((fault, bad, result))
            if not any(r[3] for r in results):
                break
            k += batch
        harness.ok(not wrong and k < MOST and nfaults, "%s: %s, each%s (%d faults, %d got over)"
                   % (request.name, what, " and all later" if later else " in turn", nfaults, ended_well),
                   lambda: "%d of %d wrong: %s; the first: %s: %s\n… %r"
                   % (len(wrong), nfaults, [w[0] for w in wrong[:20]], wrong[0][0], wrong[0][1],
                      (wrong[0][2][0], wrong[0][2][1][-300:], wrong[0][2][2]))
                   if wrong else "no fault came about, or no end")


def always(request, fault, words=(), recovers=True):
    """A fault at every call."""
    result = request.run(fault)
    bad = None if result[3] else "the fault did not come about"
    bad = bad or request.complaint(result, words)
    if not bad and recovers and result[0] != 0:
        bad = "it should recover"
    harness.ok(not bad, "%s: %s" % (request.name, fault), lambda: "%s\n%s" % (bad, harness.short(repr(result))))


def check_memory(request):
    every(request, "alloc:fail", [b"out of memory", b"Cannot allocate memory"])


def check_threads(request):
    result = request.run("thread:fail:1")
    if result[3]:
        every(request, "thread:fail", [], recovers=True)
    else:
        harness.skip("%s: threads" % request.name, "it starts none")


def check_reading(request):
    every(request, "read:EIO", [b"read error: Input/output error"], recovers=False)
    always(request, "read:short")
    always(request, "read:again")
    if "pipe" in request.name or "zip" in request.name or "BGZF" in request.name:
        result = request.run("poll:again")
        harness.ok(not request.complaint(result, []) and result[0] == 0, "%s: poll is interrupted" % request.name,
                   repr(result))


def check_writing(request):
    for error, words in (("ENOSPC", b"No space left"), ("EDQUOT", b"quota"), ("EIO", b"Input/output")):
        every(request, "write:" + error, [b"write error: ", words], whole=False, recovers=False)
    every(request, "close:EIO", [b"write error: Input/output error"], recovers=False)
    always(request, "write:short")
    # The C library's streams do not go on after EINTR. The program has no handler that would cause it.
    always(request, "write:again", [b"write error: Interrupted"], recovers=False)


def check_opening(request):
    if not request.piped:
        recovers = None if "--save-state" in request.args else False # a state's folder need not be opened
        every(request, "open:EMFILE", [b"cannot open: Too many open files"], recovers=recovers)


def check_sizes(request):
    """fstat says that a plain file is longer, or shorter, than it is: as if it had just changed."""
    if request.piped or not TABLE.startswith(b"name") or request.name.split()[-1] in PACKED or "ahead" in request.name:
        return
    for more in (1, 1000, 10 ** 6):
        result = request.run("fstat:+%d" % more)
        bad = None if result[0] == 1 and result[3] else "status %s" % result[0]
        bad = bad or request.complaint(result, [b"file shrank while it was read"])
        harness.ok(not bad, "%s: %d bytes fewer than fstat says" % (request.name, more), lambda: "%s %r" % (bad, result))
    for less in (1, 777):
        result = request.run("fstat:-%d" % less)
        size = os.path.getsize(request.path) - less
        with open(request.path, "rb") as f:
            start = f.read(size)
        args = [a for a in request.args if a != request.path] + [harness.fixture("start.csv", start)]
        want = subprocess.run([harness.program()] + args, env=request.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        harness.is_((result[0], result[1]), (want.returncode, want.stdout),
                    "%s: what is appended after fstat, %d bytes, is not read" % (request.name, less))


def stopped(request, k, out, err):
    """The process, stopped before its K-th read; None where it has ended before. out, err: files
    for what it says, since nobody reads it meanwhile."""
    p = request.start("read:stop:%d" % k, stdout=out, stderr=err)
    _, state = os.waitpid(p.pid, os.WUNTRACED)
    if os.WIFSTOPPED(state):
        return p
    p.returncode = os.waitstatus_to_exitcode(state)
    return None


def check_changing(request, packed, nreads_least):
    """The file is cut, emptied, appended to or overwritten while the program stands before a read."""
    with open(request.path, "rb") as f:
        whole = f.read()
    cases = (("cut", whole[:len(whole) // 2]), ("emptied", b""), ("appended to", whole + b"z,1,1\n"),
             ("cut at its last byte", whole[:-1]))
    for name, then in cases:
        wrong, k = [], 1
        while True:
            put(request.path, whole)
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                p = stopped(request, k, out, err)
                if p is None:
                    break
                put(request.path, then)
                os.kill(p.pid, signal.SIGCONT)
                try:
                    status = p.wait(LIMIT)
                except subprocess.TimeoutExpired:
                    p.kill()
                    status = p.wait() and "it hangs"
                said = [f.seek(0) or f.read() for f in (out, err)]
            bad = judge_changed(request, status, *said, then, packed)
            if bad:
                wrong.append((k, bad, status, said[0][-200:], said[1]))
            k += 1
        put(request.path, whole)
        harness.ok(not wrong and k > nreads_least, "%s: the file is %s before each of %d reads" % (request.name, name, k - 1),
                   lambda: "%d wrong, the first: %s" % (len(wrong), wrong[:1]))


def put(path, data):
    """Makes the file hold data, the same file, as a program that writes a log does."""
    with open(path, "r+b") as f:
        f.write(data)
        f.truncate()


def judge_changed(request, status, out, err, then, packed):
    """None for the answer of the file before or after the change, or an error that says what happened."""
    if status == 0 and (out, err) == request.right[1:3]:
        return None
    args = [a for a in request.args if a != request.path] + [harness.fixture("after.csv", then)]
    after = subprocess.run([harness.program()] + args, env=request.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if (status, out) == (after.returncode, after.stdout):
        return None
    if status != 1 or not err.startswith(b"gpustat: ") or err.count(b"\n") != 1:
        return "status %s" % status
    if out and not (request.prints_records and request.right[1].startswith(out)):
        return "an answer beside an error"
    known = (b"shrank", b"truncated", b"trailing garbage", b"corrupt") if packed else (b"shrank", b"never closed")
    return None if any(w in err for w in known) else "another message"


def main():
    if not os.path.exists(LIBRARY):
        harness.skip_all("%s was not built: see config.log" % LIBRARY)
    if "-fsanitize" in os.environ.get("CFLAGS", ""):
        harness.skip_all("a sanitizer has its own malloc, and says more than one line")
    started = time.monotonic()
    absent = {line.split()[0] for line in harness.run(["--version"]).out.decode().splitlines() if line.endswith("not built in")}
    requests = [Request(*row) for row in REQUESTS if PACKED.get(row[0].split()[0]) not in absent]
    for request in requests:
        check_memory(request)
        check_threads(request)
        check_reading(request)
        check_opening(request)
        check_sizes(request)
    for request in requests:
        if request.name in ("results", "the summary as JSON", "the summary as a table", "records", "records, small chunks"):
            check_writing(request)
    for request in requests:
        if request.name in ("results", "results, longer", "results, longer, small chunks", "records, longer, small chunks", "groups",
                            "gzip", "BGZF"):
            check_changing(request, request.name in ("gzip", "BGZF"), 1 if request.name == "results" else 2)
    harness.note("%.0f s" % (time.monotonic() - started))
    harness.done()


main()
