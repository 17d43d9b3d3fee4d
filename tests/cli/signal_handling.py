# SPDX-License-Identifier: MIT
"""Signals at random moments: the signal ends the program at once and without a message, or the program has finished.

The output up to then is a prefix of the right output. It may end inside a record, like the output of any
filter that is killed. A program that is stopped and continued gives the right output. SIGUSR1 makes it report
its progress.
"""
import gzip
import os
import random
import re
import signal
import subprocess
import tempfile
import time

import harness

DEADLY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
ROUNDS = int(os.environ.get("GPUSTAT_TEST_SIGNALS", "8"))    # of each signal and request
LIMIT = 60

TABLE = b"n,t\n" + b"".join(b"%d,word %d\n" % (i, i % 100) for i in range(150000))


class Job:
    """A request over the table, in a file; right: its output, undisturbed; seconds: how long it takes."""
    def __init__(self, name, args, data):
        self.name = name
        self.argv = [harness.program(), "--device=cpu", "--threads=3"] + args + [harness.fixture(name, data)]
        start = time.monotonic()
        p = subprocess.run(self.argv, stdout=subprocess.PIPE, env=harness.environment(), check=True)
        self.seconds, self.right = time.monotonic() - start, p.stdout

    def disturbed(self, disturb):
        """-> (status, stdout, stderr) where disturb(process) does what it will meanwhile."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            p = subprocess.Popen(self.argv, stdout=out, stderr=err, env=harness.environment(),
                                 preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
            disturb(p)
            try:
                status = p.wait(LIMIT)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                status = "it hangs"
            return (status, *[f.seek(0) or f.read() for f in (out, err)])


def check_deadly(job, rng, number):
    died, wrong = 0, []
    for _ in range(ROUNDS):
        moment = rng.random() * job.seconds * 1.1

        def disturb(p):
            time.sleep(moment)
            p.send_signal(number)
        status, out, err = job.disturbed(disturb)
        died += status == -number
        if not (err == b"" and (status == 0 and out == job.right or status == -number and job.right.startswith(out))):
            wrong.append((moment, status, len(out), err))
    harness.ok(not wrong, "%s, %s (%d of %d died)" % (job.name, signal.Signals(number).name, died, ROUNDS), repr(wrong[:3]))


PROGRESS = re.compile(rb"gpustat: \d+ bytes( of \d+ \(\d+ %\))? in \d+\.\d{3} s: \d+\.\d{2} GB/s\n")


def catches_usr1(p):
    """Waits until the process has made its own arrangements for the signal; False if it has ended before."""
    while p.poll() is None:
        with open("/proc/%d/status" % p.pid) as f:
            caught = re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M)
        if not caught or int(caught.group(1), 16) >> (signal.SIGUSR1 - 1) & 1:
            return True
        time.sleep(0.0002)
    return False


def check_usr1(job, rng):
    """The signal makes the program report on standard error; the answer does not change."""
    wrong, told = [], 0
    for _ in range(ROUNDS):
        moment = rng.random() * job.seconds

        def disturb(p):
            if catches_usr1(p):
                time.sleep(moment)
                p.send_signal(signal.SIGUSR1)
                p.send_signal(signal.SIGUSR1)
        status, out, err = job.disturbed(disturb)
        told += len(PROGRESS.findall(err))
        if status != 0 or out != job.right or PROGRESS.sub(b"", err):
            wrong.append((moment, status, len(out), err))
    harness.ok(not wrong, "%s, SIGUSR1 (%d answers to %d)" % (job.name, told, 2 * ROUNDS), repr(wrong[:3]))


def check_progress():
    """On a pipe the report has no total, which is not known; an ignored signal stays ignored."""
    argv = [harness.program(), "--device=cpu", "--sum=1"]
    for ignored in (False, True):
        p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=harness.environment(), restore_signals=False, preexec_fn=lambda: signal.signal(
                                 signal.SIGUSR1, signal.SIG_IGN if ignored else signal.SIG_DFL))
        p.stdin.write(b"1\n" * 1000000)
        p.stdin.flush()
        if not ignored and not catches_usr1(p):
            harness.ok(False, "it ends before its input does")
        p.send_signal(signal.SIGUSR1)
        line = b"" if ignored else p.stderr.readline()
        out, err = p.communicate(b"1\n", LIMIT)
        harness.ok((p.returncode, out, err) == (0, b"1000001\n", b"") and
                   bool(PROGRESS.fullmatch(line)) != ignored and b" of " not in line,
                   "a pipe's progress" + (", ignored" if ignored else ""), repr((p.returncode, out, line, err)))


def check_stopped(job, rng):
    wrong = []
    for _ in range(ROUNDS):
        def disturb(p):
            for _ in range(5):
                time.sleep(rng.random() * job.seconds / 5)
                p.send_signal(signal.SIGSTOP)
                time.sleep(0.002)
                p.send_signal(signal.SIGCONT)
        result = job.disturbed(disturb)
        if result != (0, job.right, b""):
            wrong.append((result[0], len(result[1]), result[2]))
    harness.ok(not wrong, "%s, stopped and continued" % job.name, repr(wrong[:3]))


harness.note("seed %s" % os.environ.get("GPUSTAT_TEST_SEED", "7"))
RNG = random.Random(int(os.environ.get("GPUSTAT_TEST_SEED", "7")))
for one in (Job("results.csv", ["--sum=n", "--count=t"], TABLE), Job("records.csv", ["--cumsum=n"], TABLE),
            Job("records.csv.gz", ["--where", "n > 10"], gzip.compress(TABLE, 1))):
    for which in DEADLY:
        check_deadly(one, RNG, which)
    check_usr1(one, RNG)
    check_stopped(one, RNG)
check_progress()
harness.done()
