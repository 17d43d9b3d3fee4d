# SPDX-License-Identifier: MIT
"""One command timed as a whole process, and several of them in turn.

The clock runs from before the process is made until it has ended and been waited for, so every
side pays for its own start. Commands take turns, so that a drift of the machine meets all alike.
"""
import collections
import os
import resource
import shlex
import signal
import statistics
import subprocess
import tempfile
import time

# argv: a list, or a string for the shell. env: variables besides those of this process.
# stdin: a path. quiet: standard output goes to /dev/null; otherwise it is kept as the answer.
Command = collections.namedtuple("Command", "argv env stdin quiet", defaults=({}, None, False))

# problem: why there is no answer, or None. peak_nbytes: of the largest process.
Run = collections.namedtuple("Run", "seconds peak_nbytes out err problem")


def shown(command):
    """The command as a line of the shell."""
    text = command.argv if isinstance(command.argv, str) else shlex.join(command.argv)
    names = "".join("%s=%s " % pair for pair in sorted(command.env.items()))
    return names + text + (" < " + shlex.quote(command.stdin) if command.stdin else "")


def environment(extra):
    """The environment. wc, gawk and mlr are faster with LC_ALL=C, as a careful user would set it."""
    return dict({k: v for k, v in os.environ.items() if not k.startswith("GPUSTAT_")},
                LC_ALL="C", **extra)


def peak_floor():
    """The least peak of a child: this process's own size, which the kernel counts before exec()."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _complaint(err):
    """The line of standard error that a table has room for, without valgrind's."""
    lines = [line for line in err.decode("utf-8", "replace").strip().split("\n")
             if not line.startswith("==")]
    return max(lines, key=lambda line: "rror" in line, default="")[:80]


def _limit_memory(pid):
    """Limits each process to half of the machine's memory: some peers use many times the file's size."""
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    try:
        resource.prlimit(pid, resource.RLIMIT_DATA, (half, half))
    except (OSError, ValueError):
        pass  # the process has ended, or has a lower limit


def _wait(process, timeout):
    """Waits for the process; kills it and its children when its time is over."""
    late = []

    def end(*_):
        late.append(True)
        os.killpg(process.pid, signal.SIGKILL)
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage, bool(late)


def run(command, timeout):
    """Runs the command once. A command that fails or takes too long has a `problem`."""
    shell = isinstance(command.argv, str)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, \
            open(command.stdin or os.devnull, "rb") as stdin, open(os.devnull, "wb") as null:
        env = environment(command.env)
        start = time.perf_counter()
        try:
            process = subprocess.Popen(command.argv, shell=shell, stdin=stdin, stderr=err, env=env,
                                       stdout=null if command.quiet else out,
                                       start_new_session=True)
        except OSError as e:
            return Run(0.0, 0, b"", b"", str(e))
        _limit_memory(process.pid)
        status, usage, late = _wait(process, timeout)
        seconds = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        said, complained = out.read(), err.read()
    problem = None
    if late:
        problem = "over %g s" % timeout
    elif status != 0:
        problem = "exit %d: %s" % (status, _complaint(complained))
    return Run(seconds, usage.ru_maxrss * 1024, said, complained, problem)


def in_turn(commands, repeats, timeout, budget):
    """Runs each command `repeats` times, in turn; returns a list of Runs for each.

    One that has failed is not run again, nor one that has already taken `budget` seconds.
    """
    runs = [[] for _ in commands]
    for _ in range(repeats):
        for command, done in zip(commands, runs):
            if any(r.problem for r in done) or sum(r.seconds for r in done) > budget:
                continue
            done.append(run(command, timeout))
    return runs


def median(runs):
    return statistics.median(r.seconds for r in runs)


def spread(runs):
    """(slowest - fastest) / median."""
    seconds = [r.seconds for r in runs]
    return (max(seconds) - min(seconds)) / statistics.median(seconds)
