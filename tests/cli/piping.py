# SPDX-License-Identifier: MIT
"""Scans and filters between pipes: answers come at once, a closed pipe causes no message, memory is bounded.

The tests wait for an answer by select with a deadline and measure no time. The other end of the pipe stays
open, and nothing is written to it, until the answer has come.
GPUSTAT_TEST_STREAM_MB sets the size of the long stream, 300 by default.
"""
import gzip
import os
import select
import signal
import subprocess
import sys
import threading
import time

import harness
from harness import fixture, is_, note, ok

DEADLINE_S = 1.0
LIMIT_KIB = 300 * 1000 * 1000 // 1024
SMALL_MB = 40
LARGE_MB = int(os.environ.get("GPUSTAT_TEST_STREAM_MB", "300"))
ROW = b'12345,"a text, with ""quotes""",67.25\n'
ROWS = 27000                                        # a block of about one MB


class Talk:
    """A run of the program whose two ends stay in our hands."""
    def __init__(self, args, chunk=None):
        self.p = subprocess.Popen([harness.program()] + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=harness.environment(chunk), bufsize=0)

    def say(self, data):
        self.p.stdin.write(data)

    def hear(self, want, deadline=DEADLINE_S):
        """The bytes that come before the deadline, until there are as many as in `want`."""
        got, end = b"", time.monotonic() + deadline
        while len(got) < len(want):
            ready, _, _ = select.select([self.p.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                break
            part = os.read(self.p.stdout.fileno(), 65536)
            if not part:
                break
            got += part
        return got

    def silent(self, seconds=0.15):
        return not select.select([self.p.stdout], [], [], seconds)[0]

    def end(self, tail=b""):
        """-> (what else came, exit status, stderr)."""
        try:
            out, err = self.p.communicate(tail, timeout=20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            return b"", "timeout", b""
        return out, self.p.returncode, err


# ---- answers at once ------------------------------------------------------------------------

TALKS = [
    # name, args, then pairs: what is written, and the answer that must come before more is written
    ("a first total", ["--cumsum", "v"], [(b"v\n1\n", b"v,running_sum(v)\n1,1\n"), (b"2\n", b"2,3\n")]),
    ("a first total, on the CPU alone", ["--cumsum", "v", "--device=cpu"],
     [(b"v\n1\n", b"v,running_sum(v)\n1,1\n"), (b"2\n3\n", b"2,3\n3,6\n")]),
    ("one thread", ["--cumsum", "v", "--threads=1"], [(b"v\n1\n", b"v,running_sum(v)\n1,1\n"), (b"2\n", b"2,3\n")]),
    ("CRLF", ["--cumsum", "v"], [(b"v\r\n1\r\n", b"v,running_sum(v)\r\n1,1\r\n"), (b"2\r\n", b"2,3\r\n")]),
    ("no header", ["--running-max", "1"], [(b"5\n", b"5,5\n"), (b"7\n", b"7,7\n"), (b"6\n", b"6,7\n")]),
    ("a filter", ["--where", "v > 1"], [(b"v\n1\n2\n", b"v\n2\n"), (b"1\n1\n1\n3\n", b"3\n")]),
    ("offsets", ["--offsets", "v > 1", "--only"], [(b"v\n2\n", b"offset\n0\n"), (b"1\n3\n", b"\n1\n")]),
    ("byte offsets", ["--byte-offset", "--header=no"], [(b"x,y\n", b"x,y,0\n"), (b"z,w\n", b"z,w,4\n")]),
    ("a string, --header=yes", ["--where", ":1 != 'y'", "--header=yes"], [(b"x\n", b"x\n"), (b"z\n", b"z\n")]),
    ("byte offsets, two records to tell a header", ["--byte-offset"], [(b"x,y\n1,2\n", b"x,y,byte_offset\n1,2,4\n")]),
    ("a record of lines", ["--cumsum", "v"], [(b'v,t\n1,"a\nb"\n', b'v,t,running_sum(v)\n1,"a\nb",1\n')]),
    ("many short ones", ["--cumsum", "v"],
     [(b"v\n", b"")] + [(b"%d\n" % i, (b"v,running_sum(v)\n" if i == 1 else b"") + b"%d,%d\n" % (i, i * (i + 1) // 2))
                        for i in range(1, 30)]),
    ("a block after a line", ["--cumsum", "v", "--only"],
     [(b"v\n1\n", b"running_sum(v)\n1\n"), (b"0\n" * 200000, b"1\n" * 200000), (b"1\n", b"2\n")]),
]


def check_talks():
    for name, args, turns in TALKS:
        talk, complaint, want = Talk(args), None, b""
        for said, want in turns:
            feeder = threading.Thread(target=talk.say, args=(said,))
            feeder.start()
            got = talk.hear(want, DEADLINE_S if len(said) < 100 else 10)
            if got != want:
                complaint = "said %s\ngot %s\nwanted %s" % tuple(map(harness.short, (said, got, want)))
                break
            feeder.join()
        rest, status, err = talk.end()
        if not complaint and (rest, status, err) != (b"", 0, b""):
            complaint = "at the end: %r" % ((rest, status, err),)
        ok(not complaint, "at once: " + name, complaint or "")


def check_parts():
    """A record that is not complete is not answered; the rest of it is."""
    talk = Talk(["--cumsum", "v"])
    talk.say(b"v\n1\n2")
    want = b"v,running_sum(v)\n1,1\n"
    is_(talk.hear(want), want, "what is complete of a torn line")
    ok(talk.silent(), "and nothing of the rest")
    talk.say(b"5\n3")
    is_(talk.hear(b"25,26\n"), b"25,26\n", "then its whole")
    is_(talk.end(), (b"3,29", 0, b""), "and the last one at the end of the input")
    talk = Talk(["--cumsum", "v"])
    talk.say(b"v\n1\nx\n")
    want = b"v,running_sum(v)\n1,1\n"
    is_(talk.hear(want), want, "what stands before an error")
    try:
        talk.p.wait(DEADLINE_S * 5)
        is_(talk.p.returncode, 1, "an error ends it while the input is open")
    except subprocess.TimeoutExpired:
        ok(False, "an error ends it while the input is open", "it still waits")
    talk.p.kill()
    talk.p.communicate()


# ---- the ends -------------------------------------------------------------------------------

ENDLESS = {"a running total": ["--cumsum", "v"], "a filter": ["--where", "v = 1"], "byte offsets": ["--byte-offset"]}


def check_head():
    """The reader closes after the first line: SIGPIPE, and no word."""
    path = fixture("long.csv", b"v,t\n" + b"1,text\n" * 1500000)
    for name, args in ENDLESS.items():
        for threads in ("1", "3"):
            p = subprocess.Popen([harness.program(), "--threads", threads] + args + [path], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=harness.environment(), restore_signals=True)
            first = p.stdout.readline()
            p.stdout.close()
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
            err = p.stderr.read()
            p.stderr.close()
            ok(first.startswith(b"v,t") and p.wait() == -signal.SIGPIPE and err == b"",
               "head -1 after %s, %s threads: SIGPIPE and no message" % (name, threads),
               "status %s, stderr %r, first %r" % (p.returncode, err, first))


def check_full():
    if not os.path.exists("/dev/full"):
        harness.skip("a full disk", "no /dev/full")
        return
    for name, args in ENDLESS.items():
        for size, data in (("one record", b"v,t\n1,x\n"), ("much", b"v,t\n" + b"1,text\n" * 200000)):
            with open("/dev/full", "wb") as full:
                r = harness.run(args, data, stdout=full, timeout=30)
            ok(r.status == 1 and r.err.startswith(b"gpustat: ") and r.err.count(b"\n") == 1,
               "a full disk, %s, %s: exit 1 with a message" % (name, size), lambda r=r: harness.describe(r))


def check_chain():
    """A filter, an index and a total in a row."""
    data = b"v,t\n" + b"".join(b"%d,x%d\n" % (i, i % 3) for i in range(30000))
    first = harness.run(["--where", "t = 'x1'"], data)
    second = harness.run(["--cumsum", "v", "--only"], first.out)
    wanted, total = [b"running_sum(v)"], 0
    for i in range(1, 30000, 3):
        total += i
        wanted.append(b"%d" % total)
    is_((second.status, second.out), (0, b"\n".join(wanted) + b"\n"), "a filter feeds a running total")


def check_tail():
    """`tail -c +N` from the byte offset finds the record."""
    rows = [b'%d,"a\nb %d",%s' % (i, i, b"x" * (i % 50)) for i in range(3000)]
    data = b"\xef\xbb\xbfid,t,u\r\n" + b"\r\n".join(rows[:1500]) + b"\r\n\n" + b"\n".join(rows[1500:])
    path = fixture("index.csv", data)
    for name, source in (("a file", path), ("gzip", fixture("index.csv.gz", gzip.compress(data)))):
        r = harness.run(["--byte-offset", "--only", "--where", "id is not missing", source])
        offsets = [int(line) for line in r.out.split()[1:]]
        found = len(offsets) == len(rows) and all(data.startswith(row, at) for row, at in zip(rows, offsets))
        ok(r.status == 0 and found, "byte offsets of %s find every record" % name, lambda r=r: harness.describe(r))
    tail = subprocess.run(["tail", "-c", "+%d" % (offsets[2000] + 1), path], stdout=subprocess.PIPE, check=True).stdout
    ok(tail.startswith(rows[2000] + b"\n"), "tail -c +N begins with the record", harness.short(tail))


# ---- memory ---------------------------------------------------------------------------------

def stream(args, nblocks):
    """nblocks of ROWS through a pipe -> (exit status, bytes out, last line, peak resident set in KiB)."""
    p = subprocess.Popen([harness.program()] + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env=harness.environment())
    block = ROW * ROWS

    def feed():
        try:
            p.stdin.write(b"n,t,m\n")
            for _ in range(nblocks):
                p.stdin.write(block)
            p.stdin.close()
        except BrokenPipeError:
            pass
    writer = threading.Thread(target=feed)
    writer.start()
    nbytes, tail = 0, b""
    while True:
        part = os.read(p.stdout.fileno(), 1 << 20)
        if not part:
            break
        nbytes, tail = nbytes + len(part), (tail + part)[-200:]
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    writer.join()
    p.stdout.close()
    peak = usage.ru_maxrss // 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return p.returncode, nbytes, tail.split(b"\n")[-2], peak


def check_memory(name, args, last, large=LARGE_MB):
    peaks = []
    for megabytes in (SMALL_MB, large):
        status, nbytes, line, peak = stream(["--device=cpu"] + args, megabytes)
        nrows = megabytes * ROWS
        is_((status, line), (0, last(nrows)), "%s, %d MB: the last record" % (name, megabytes))
        ok(peak < LIMIT_KIB, "%s, %d MB: under 300 MB" % (name, megabytes), "peak %d KiB" % peak)
        peaks.append(peak)
    note("%s: peaks %s KiB" % (name, peaks))
    ok(peaks[1] <= peaks[0] * 1.15 + 4096, "%s: memory does not grow" % name, "peaks %s KiB" % peaks)


def check_slow_reader():
    """The reader stops; the program must not take in the whole input meanwhile."""
    p = subprocess.Popen([harness.program(), "--device=cpu", "--cumsum=n"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, env=harness.environment(), bufsize=0)
    os.set_blocking(p.stdin.fileno(), False)
    rows = memoryview(ROW * ROWS)
    block, taken, idle = memoryview(b"n,t,m\n"), 0, 0
    while idle < 5 and taken < 400 * 10 ** 6:
        _, ready, _ = select.select([], [p.stdin], [], 0.1)
        idle = 0 if ready else idle + 1
        try:
            nbytes = os.write(p.stdin.fileno(), block[:1 << 20]) if ready else 0
        except BlockingIOError:
            continue
        taken += nbytes
        block = block[nbytes:] or rows  # perhaps only a part was taken, which may end within a record
    p.kill()
    p.communicate()
    ok(taken < 250 * 10 ** 6, "a reader that stops stops the reading", "%d bytes were taken in" % taken)
    note("taken in while nobody read: %d bytes" % taken)


def total(nrows):
    return ROW[:-1] + b",%d" % (12345 * nrows)


def several(nrows):
    cents = 6725 * nrows
    return b"%d.%02d,67.25,%d" % (cents // 100, cents % 100, nrows - 1)


check_talks()
check_parts()
check_head()
check_full()
check_chain()
check_tail()
check_memory("--cumsum", ["--cumsum=n"], total)
check_memory("several columns, 3 threads",
             ["--threads=3", "--cumsum=m", "--running-min=m", "--offsets=n > 0", "--only"], several, LARGE_MB // 2)
check_memory("a filter", ["--where=m = 67.25 or n is missing"], lambda nrows: ROW[:-1], LARGE_MB // 2)
check_slow_reader()
harness.done()
