# SPDX-License-Identifier: MIT
"""Records printed to a file: it holds exactly what a pipe would get, and no block is reserved beyond that at the end, also
after a fault, after a signal, where the disk ends, and where the file is shared or appended to."""
import os
import random
import resource
import signal
import subprocess
import time

import harness

STEP = 64 << 20
NROWS = 2400000  # of more than is written before the first blocks are reserved

TABLE = harness.fixture("table.csv", b"n,t\n" + b"".join(b"%d,word %d\n" % (i, i % 1000) for i in range(NROWS)))
BROKEN = harness.fixture("broken.csv", open(TABLE, "rb").read() + b"x,y\n")
ARGS = ["--device=cpu", "--cumsum=n"]
WANT = harness.run(ARGS + [TABLE]).out
PATH = os.path.join(harness.folder(), "out.csv")


def opened(flags=os.O_WRONLY, begin=b""):
    with open(PATH, "wb") as f:
        f.write(begin)
    return os.open(PATH, flags)


def print_to(fd, args=(), path=TABLE, **how):
    return subprocess.run([harness.program()] + ARGS + list(args) + [path], stdout=fd, stderr=subprocess.PIPE,
                          env=harness.environment(), timeout=120, **how)


def nbytes_beyond():
    """Of blocks, more than the file's size needs."""
    s = os.stat(PATH)
    return s.st_blocks * 512 - s.st_size


def holds(name, want, diagnosis=""):
    with open(PATH, "rb") as f:
        got = f.read()
    harness.ok(want(got) if callable(want) else got == want, name + ": the bytes", "%d bytes %s" % (len(got), diagnosis))
    harness.ok(nbytes_beyond() < 1 << 20, name + ": no block beyond them", "%d bytes" % nbytes_beyond())


def check_places():
    for name, flags, begin, threads in (("a new file", os.O_WRONLY, b"", 1), ("a new file, 3 threads", os.O_WRONLY, b"", 3),
                                        ("appended to", os.O_WRONLY | os.O_APPEND, b"old\n", 2),
                                        ("both read and written", os.O_RDWR, b"", 7)):
        fd = opened(flags, begin)
        r = print_to(fd, ["--threads=%d" % threads])
        os.close(fd)
        harness.ok(r.returncode == 0 and not r.stderr, name, r.stderr)
        holds(name, begin + WANT)
    fd = opened(os.O_WRONLY, b"x" * 100)
    os.lseek(fd, 100, os.SEEK_SET)
    print_to(fd)
    print_to(fd)
    os.write(fd, b"more\n")
    os.close(fd)
    holds("two runs, one behind the other", b"x" * 100 + WANT + WANT + b"more\n")
    longer = b"y" * (len(WANT) + 5000)
    fd = opened(os.O_WRONLY, longer)
    print_to(fd)
    os.close(fd)
    holds("over a longer file", WANT + longer[len(WANT):])


def check_shared():
    """Two processes write through one descriptor: the order is theirs, but no byte is lost."""
    fd = opened()
    one = subprocess.Popen([harness.program()] + ARGS + [TABLE], stdout=fd, env=harness.environment())
    for _ in range(50):
        os.write(fd, b"from beside\n")
        time.sleep(0.01)
    one.wait()
    os.write(fd, b"behind\n")
    os.close(fd)
    size = len(WANT) + 50 * len(b"from beside\n") + len(b"behind\n")
    got = open(PATH, "rb").read()
    harness.ok(len(got) == size and b"\0" not in got and got.endswith(b"behind\n"), "another process writes as well", "%d of %d bytes" % (len(got), size))


def check_ends():
    fd = opened()
    r = print_to(fd, path=BROKEN)
    os.close(fd)
    harness.ok(r.returncode == 1 and b"'x'" in r.stderr, "a fault in the last record", r.stderr)
    holds("a fault in the last record", WANT)
    limit = (40 << 20) + 123
    fd = opened()
    r = print_to(fd, preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)))
    os.close(fd)
    harness.ok(r.returncode == 1 and b"File too large" in r.stderr, "a file that may not grow", r.stderr)
    holds("a file that may not grow", WANT[:limit])
    rng = random.Random(22)
    reserved = 0
    for i in range(12):
        fd = opened()
        number = rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        wait = rng.choice((1, 17, 20, 30, 50)) << 20
        p = subprocess.Popen([harness.program()] + ARGS + ["--threads=%d" % rng.choice((1, 3)), TABLE], stdout=fd, env=harness.environment())
        while p.poll() is None and os.fstat(fd).st_size < wait:
            pass
        reserved += os.fstat(fd).st_blocks * 512 - os.fstat(fd).st_size > 1 << 20
        p.send_signal(number)
        p.wait()
        os.close(fd)
        harness.ok(p.returncode in (0, -number), "signal %d ends it" % number, str(p.returncode))
        holds("signal %d after %d bytes" % (number, wait), WANT.startswith)
    harness.note("blocks were reserved at %d of 12 signals" % reserved)
    fd = opened()
    p = print_to(fd, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    os.close(fd)
    harness.ok(p.returncode == 0, "an ignored signal stays ignored")


if len(WANT) < STEP // 2:
    harness.bail("the table is too small")
check_places()
check_shared()
check_ends()
harness.done()
