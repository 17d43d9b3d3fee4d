# SPDX-License-Identifier: MIT
"""The line that shows how far a run is: on a terminal only, rewritten in place, gone without trace.

A pseudo terminal's output goes through a small model of a terminal, so what counts is what a person sees. Runs are
slow because their input is a pipe that the test holds, or because their chunks have one byte; nothing is timed. That
nothing is shown is judged when a run that was started later, and always shows it, has shown it twice.
"""
import fcntl
import gzip
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import termios
import time

import harness

LIMIT = 60
SIZE = rb"(?:\d{1,3} B|(?:\d\.\d\d|\d\d\.\d|\d{3}) [kMGTPE]B)"
TIME = rb"(?:\d+:)?\d+:\d\d"
DEVICES = rb"(?:, \d+ CPU threads?)?"
KNOWN = re.compile(rb"gpustat: (\d+) %, (" + SIZE + rb"), " + SIZE + rb"/s, (?:(?:" + TIME + rb"|-:--) left|finishing)" + DEVICES)
UNKNOWN = re.compile(rb"gpustat: (" + SIZE + rb"), " + SIZE + rb"/s, " + TIME + DEVICES)
RNG = random.Random(3)
TABLE = b"n,t\n" + b"".join(b"%d,word %d\n" % (RNG.randrange(10 ** 9), i % 100) for i in range(3000000))


class Terminal:
    """What is on the screen: lines of text, written with CR, LF and ESC [ K."""
    def __init__(self, columns=80):
        self.columns, self.lines, self.column, self.rest, self.seen = columns, [b""], 0, b"", []

    def write(self, data):
        data = self.rest + data
        self.rest = b""
        while data:
            match = re.match(rb"\x1b\[K|\r|\n|[^\x1b\r\n]+", data)
            if not match:
                self.rest = data    # the beginning of an escape sequence
                return
            self._take(match.group())
            data = data[match.end():]

    def _take(self, word):
        line = self.lines[-1]
        if word == b"\r":
            self.column = 0
        elif word == b"\n":
            self.lines.append(b"")
        elif word == b"\x1b[K":
            self.lines[-1] = line[:self.column]
            if self.lines[-1]:
                self.seen.append(self.lines[-1])
        else:
            self.lines[-1] = line[:self.column].ljust(self.column) + word + line[self.column + len(word):]
            self.column += len(word)
            if self.column >= self.columns:
                self.lines.append(b"wrapped")

    def text(self):
        return b"\n".join(self.lines)


class Run:
    """The program with standard error on a pseudo terminal, or on a pipe, which is None of a terminal."""
    def __init__(self, args, stdin=subprocess.DEVNULL, on_terminal=True, chunk=None, columns=80, stdout=subprocess.PIPE,
                 term="xterm", argv=None, **how):
        env = harness.environment(chunk)
        env["TERM"] = term
        if on_terminal:
            self.end, given = pty.openpty()
            fcntl.ioctl(given, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
            attributes = termios.tcgetattr(given)
            attributes[1] &= ~termios.OPOST     # the program's own bytes
            termios.tcsetattr(given, termios.TCSANOW, attributes)
        else:
            self.end, given = os.pipe()
        self.terminal, self.raw, self.at_end = Terminal(columns), b"", False
        self.p = subprocess.Popen((argv or [harness.program(), "--device=cpu", "--threads=2"]) + args, stdin=stdin,
                                  stdout=given if stdout == "terminal" else stdout, stderr=given, env=env, **how)
        os.close(given)

    def read(self, seconds):
        """Reads what is there within so many seconds; False at the end."""
        if self.at_end or not select.select([self.end], [], [], seconds)[0]:
            return not self.at_end
        try:
            data = os.read(self.end, 65536)
        except OSError:                     # Linux: nobody has the terminal any more
            data = b""
        self.at_end = not data
        self.raw += data
        self.terminal.write(data)
        return not self.at_end

    def until(self, holds):
        """Reads until holds(self); False where the limit or the end comes first."""
        limit = time.monotonic() + LIMIT
        while not holds(self):
            if not self.read(0.2) or time.monotonic() > limit:
                return holds(self)
        return True

    def shown(self, pattern=UNKNOWN):
        return [line for line in self.terminal.seen if pattern.fullmatch(line)]

    def finish(self):
        """-> (status, stdout) once it has ended, and all its output has been read."""
        if self.p.stdin:
            self.p.stdin.close()
        limit = time.monotonic() + LIMIT
        while self.read(0.2) and time.monotonic() < limit:
            pass
        out = self.p.stdout.read() if self.p.stdout else b""
        try:
            status = self.p.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.p.kill()
            status = "it hangs"
        os.close(self.end)
        return status, out


def fed(args, **how):
    """A run whose input is a pipe that has delivered a little."""
    run = Run(args, stdin=subprocess.PIPE, **how)
    run.p.stdin.write(b"n\n" + b"1\n" * 499)
    run.p.stdin.flush()
    return run


def describe(run):
    return lambda: "screen: %r\nseen: %r\nraw: %s" % (run.terminal.lines, run.terminal.seen[-3:], harness.short(run.raw))


def check_pipe():
    """The beginning, the middle and the end of a slow pipe."""
    run = fed(["--sum=n"])
    began = run.until(lambda r: r.shown())
    harness.ok(began and run.terminal.lines[-1].startswith(b"gpustat: 1.00 kB, ") and b"%" not in run.terminal.text()
               and b"CPU thread" in run.terminal.text(), "a pipe: the bytes, the speed, the time, the devices", describe(run))
    run.p.stdin.write(b"1\n" * 1000000)
    run.p.stdin.flush()
    went_on = run.until(lambda r: r.terminal.lines[-1].startswith(b"gpustat: 2.00 MB, "))
    harness.ok(went_on and run.raw.count(b"\n") == 0, "... is rewritten in its place", describe(run))
    harness.is_((run.finish(), run.terminal.lines), ((0, b"1000499\n"), [b""]), "... and is gone at the end")


def check_known(name, path, chunk):
    """A file: a percentage that grows."""
    def percents(run):
        return [int(KNOWN.fullmatch(line).group(1)) for line in run.shown(KNOWN)]
    run = Run(["--sum=n", path], chunk=chunk)
    grew = run.until(lambda r: any(0 < first < second < 100 for first, second in zip(percents(r), percents(r)[1:])))
    run.p.kill()
    run.finish()
    seen = run.terminal.seen
    harness.ok(grew and len(run.shown(KNOWN)) == len(seen) and percents(run) == sorted(percents(run)) and b" left" in seen[-1],
               "%s: a percentage and the time left" % name, describe(run))


def check_signals(path):
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGQUIT, signal.SIGTERM):
        run = Run(["--sum=n", path], chunk=1, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        shown = run.until(lambda r: r.shown(KNOWN))
        run.p.send_signal(number)
        status, out = run.finish()
        harness.ok(shown and (status, out, run.terminal.lines) == (-number, b"", [b""]),
                   "%s ends it, and the line is gone" % signal.Signals(number).name, describe(run))
    run = Run(["--sum=n", path], chunk=1, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.until(lambda r: r.shown(KNOWN))
    run.p.send_signal(signal.SIGHUP)
    before = len(run.terminal.seen)
    harness.ok(run.until(lambda r: len(r.terminal.seen) > before + 2), "an ignored signal stays ignored", describe(run))
    run.p.kill()
    run.finish()


def check_stopped(path):
    """^Z: the terminal is the shell's. A group of its own, or the system would ignore the signal."""
    run = Run(["--sum=n", path], chunk=1, preexec_fn=os.setpgrp)
    for time_ in ("once", "and again"):
        before = len(run.terminal.seen)
        shown = run.until(lambda r: len(r.terminal.seen) > before and r.terminal.lines[-1])
        run.p.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(run.p.pid, os.WUNTRACED)
        run.read(0)
        harness.ok(shown and os.WIFSTOPPED(status) and run.until(lambda r: r.terminal.lines == [b""]),
                   "stopped, %s: the line is gone" % time_, describe(run))
        run.p.send_signal(signal.SIGCONT)
    harness.ok(run.until(lambda r: r.terminal.lines[-1]), "continued: it is back", describe(run))
    run.p.kill()
    run.finish()


def check_messages():
    run = fed(["--sum=n"])
    shown = run.until(lambda r: r.shown())
    run.p.stdin.write(b"abc\n")
    status, out = run.finish()
    harness.ok(shown and (status, out) == (1, b"") and
               run.terminal.lines == [b"gpustat: <stdin>:501: column 'n': not a number: 'abc' (try --invalid skip)", b""],
               "an error's message stands where the line was", describe(run))
    run = fed(["--sum=n"])
    shown = run.until(lambda r: r.shown())
    run.p.send_signal(signal.SIGUSR1)
    told = run.until(lambda r: len(r.terminal.lines) == 2 and r.terminal.lines[-1])
    status, out = run.finish()
    harness.ok(shown and told and status == 0 and len(run.terminal.lines) == 2 and run.terminal.lines[-1] == b"" and
               re.fullmatch(rb"gpustat: 0 bytes in \d+\.\d{3} s: 0\.00 GB/s", run.terminal.lines[0]),
               "SIGUSR1's answer stands above it", describe(run))


def check_narrow():
    run = fed(["--sum=n"], columns=20)
    shown = run.until(lambda r: r.terminal.lines[-1])
    harness.is_((shown, run.terminal.lines), (True, [b"gpustat: 1.00 kB, " + run.terminal.lines[-1][18:19]]), "a narrow terminal: cut")
    harness.is_((run.finish(), run.terminal.lines), ((0, b"499\n"), [b""]), "... and gone")


def check_always():
    """Where standard error is no terminal: whole lines."""
    run = fed(["--sum=n", "--progress=always"], on_terminal=False)
    shown = run.until(lambda r: r.raw.count(b"\n") >= 2)
    status, out = run.finish()
    lines = run.raw.split(b"\n")
    harness.ok(shown and (status, out, lines[-1]) == (0, b"499\n", b"") and all(map(UNKNOWN.fullmatch, lines[:-1])),
               "always: a line each second into a log", describe(run))
    run = fed(["--cumsum=n", "--progress=always"], stdout="terminal")
    shown = run.until(lambda r: b"\ngpustat: " in r.raw)
    harness.ok(shown and run.finish()[0] == 0 and b"\x1b" not in run.raw and b"\r" not in run.raw,
               "always, among the records on a terminal: whole lines", describe(run))


def check_silence():
    """Nothing is shown where it would be out of place."""
    with open(os.devnull, "wb") as null, open(os.path.join(harness.folder(), "records"), "wb") as file:
        silent = {
            "standard error is a pipe": fed(["--sum=n"], on_terminal=False),
            "... with --verbose": fed(["--sum=n", "-v"], on_terminal=False),
            "never": fed(["--sum=n", "--progress=never"]),
            "a terminal that rewrites nothing": fed(["--sum=n"], term="dumb"),
            "a terminal of no kind": fed(["--sum=n"], term=""),
            "records into a pipe": fed(["--cumsum=n"]),
            "in the background": fed(["%s --sum=n & wait" % harness.program()], argv=["sh", "-mc"], start_new_session=True,
                                     preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0)),
        }
        typed, terminal = pty.openpty()
        silent["typed input"] = Run(["--sum=n"], stdin=terminal)
        os.close(terminal)
        witness = {"a file": fed(["--cumsum=n"], stdout=file), "/dev/null": fed(["--where=n>0"], stdout=null)}
        last = fed(["--sum=n", "--progress=always"], on_terminal=False)
        seen = last.until(lambda r: r.raw.count(b"\n") >= 2)
        for name, run in silent.items():
            run.read(0)
            harness.ok(seen and run.raw == b"" and run.p.poll() is None, "nothing is shown: " + name, describe(run))
            run.p.kill()
            run.finish()
        for name, run in witness.items():
            shown = run.until(lambda r: r.shown())
            run.finish()
            harness.ok(shown and run.terminal.lines == [b""], "shown while records go to %s" % name, describe(run))
        os.close(typed)
        last.finish()


def check_passes(path):
    """Values that do not fit in memory: the passes are counted, each from 0 %."""
    run = Run(["--median=n", "--memory=1M", path], chunk=4)
    shown = run.until(lambda r: any(b"pass 2, " in line for line in r.terminal.seen))
    run.p.kill()
    run.finish()
    harness.ok(shown and re.match(rb"gpustat: pass 2, \d+ %, ", run.terminal.seen[-1]), "a second pass says so", describe(run))


PATH = harness.fixture("slow.csv", TABLE)
check_pipe()
check_known("a file", PATH, 1)
check_known("a compressed file", harness.fixture("slow.csv.gz", gzip.compress(TABLE, 1)), 1)
check_signals(PATH)
check_stopped(PATH)
check_messages()
check_narrow()
check_always()
check_silence()
check_passes(harness.fixture("passes.csv", TABLE[:8000000]))
harness.done()
