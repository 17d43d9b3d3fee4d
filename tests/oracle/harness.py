# SPDX-License-Identifier: MIT
"""TAP verbs, a runner for the program under test, and fixtures in a folder that goes away.

Every tests/cli/*.py is a TAP producer for automake's driver. It finds the program in $GPUSTAT,
says `answers`, `refuses`, `agrees` … and ends with `done()`, which prints the plan. A test that
dies on the way prints no plan and so cannot pass.
"""
import atexit
import collections
import concurrent.futures
import os
import queue
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

Result = collections.namedtuple("Result", "status out err argv chunk")
HOOK = "GPUSTAT_CHUNK_BYTES"
SIMD = "GPUSTAT_SIMD"
GPU_FAULT = "GPUSTAT_GPU_FAULT"

# made absolute before any test changes the folder
_TOP = os.path.abspath(os.environ.get("srcdir") or os.path.join(os.path.dirname(__file__), "..", ".."))
_PROGRAM = os.environ.get("GPUSTAT") and os.path.abspath(os.environ["GPUSTAT"])
_BENCH = os.environ.get("GPUSTAT_BENCH") and os.path.abspath(os.environ["GPUSTAT_BENCH"])

_count = 0
_failed = 0
_folder = None
_pool = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2)
_waiting = collections.deque()      # pairs of the runs of a case that go on, as futures, and its verdict
WAITING_MAX = 64


# ---- TAP ------------------------------------------------------------------------------------

def _say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def note(text):
    """Prints `text` as a diagnostic, every line of it."""
    for line in str(text).split("\n"):
        _say("# " + line)


def ok(holds, name, diagnosis=""):
    """One TAP line; `diagnosis` (text, or a function that makes it) only where it fails."""
    global _count, _failed
    _count += 1
    name = name.replace("#", "\\#").replace("\n", " ")
    _say("%s %d - %s" % ("ok" if holds else "not ok", _count, name))
    if not holds:
        _failed += 1
        if diagnosis:
            note(diagnosis() if callable(diagnosis) else diagnosis)
    return bool(holds)


def is_(got, want, name):
    return ok(got == want, name, lambda: "got:    %s\nwanted: %s" % (short(got), short(want)))


def skip(name, reason):
    global _count
    _count += 1
    _say("ok %d - %s # SKIP %s" % (_count, name.replace("#", "\\#"), reason))


def skip_all(reason):
    _say("1..0 # SKIP " + reason)
    sys.exit(0)


def bail(reason):
    _say("Bail out! " + reason)
    sys.exit(99)


def done():
    """Prints the plan. The exit status is 0 if all passed, for a person's shell."""
    settle()
    _say("1..%d" % _count)
    if _failed:
        note("%d of %d failed" % (_failed, _count))
    sys.exit(1 if _failed else 0)


def short(value, limit=600):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else "%s … (%d characters)" % (text[:limit], len(text))


# ---- fixtures -------------------------------------------------------------------------------

def folder():
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="gpustat-test-")
        atexit.register(shutil.rmtree, _folder, True)
    return _folder


def fixture(name, data):
    """Writes `data` (bytes) to `name` in the temporary folder and returns its path."""
    path = os.path.join(folder(), name)
    if os.path.exists(path):      # runs may read it
        settle()
    with open(path, "wb") as f:
        f.write(data)
    return path


def source(*names):
    """The path of a file of the source tree. srcdir is the top of it (non-recursive automake)."""
    return os.path.join(_TOP, *names)


# ---- the program ----------------------------------------------------------------------------

def program(tool="gpustat"):
    """The path of the program to test: gpustat, or gpustat-bench, by default from beside it."""
    path = _PROGRAM if tool == "gpustat" else _BENCH or (_PROGRAM and _PROGRAM + "-bench")
    if not path:
        bail("GPUSTAT does not name the program to test")
    if not os.access(path, os.X_OK):
        bail("%s: %s cannot be run" % (tool, path))
    return path


def environment(chunk=None, **extra):
    env = dict(os.environ, LC_ALL="C", **extra)
    env.pop(HOOK, None)
    env.pop("COLUMNS", None)
    if chunk is not None:
        env[HOOK] = str(chunk)
    return env


def has_patterns():
    """Whether the program was built with regular expressions."""
    return not any(line.startswith(b"PCRE2") and b"not built in" in line
                   for line in run(["--version"]).out.split(b"\n"))


def instruction_sets():
    """Those that the program has and that run here, the best first."""
    names = ("avx512", "avx2", "neon", "portable")
    return [name for name in names
            if subprocess.run([program(), "--version"], env=environment(**{SIMD: name}),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0]


# ---- a program that is kept ---------------------------------------------------------------

# GCC 13 puts frames that it checks after their return where vectors of 64 bytes are not aligned, which ends in a crash (its bug 110027).
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:exitcode=86",
              "UBSAN_OPTIONS": "print_stacktrace=1"}


class Server:
    """The running program tests/fuzz/serve.c, in `folder`, with options. run() is what run() below is."""
    def __init__(self, path, folder=None, *options):
        env = {k: v for k, v in os.environ.items() if not k.startswith("GPUSTAT") and k not in ("COLUMNS", "LC_ALL")}
        self.process = subprocess.Popen([path, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
                                        env=dict(SANITIZERS, **env, LC_ALL="C"))
        self.nruns = 0

    def run(self, args, stdin, mode="f", env=()):
        texts = [a if isinstance(a, bytes) else os.fsencode(a) for a in args] + [os.fsencode(e) for e in env]
        job = struct.pack("=IIII", len(args), len(env), len(stdin), ord(mode))
        job += b"".join(struct.pack("=I", len(t)) + t for t in texts) + stdin
        self.process.stdin.write(job)
        self.process.stdin.flush()
        status, nout, nerr = struct.unpack("=iII", self._read(12))
        self.nruns += 1
        return Result(status, self._read(nout), self._read(nerr), ["gpustat"] + list(args), " ".join(env) + " " + mode)

    def _read(self, n):
        data = self.process.stdout.read(n)
        if len(data) != n:
            raise RuntimeError("the server has ended: %s" % self.process.wait())
        return data

    def close(self):
        self.process.stdin.close()
        self.process.wait()


SERVE = os.environ.get("GPUSTAT_SERVE") or os.path.join(os.path.abspath(os.environ.get("builddir", ".")), "tests", "fuzz", "serve")
SERVERS_MAX = 8

_keeps_all = False                  # whether kept processes run the program on CPUs, too
_idle = queue.LifoQueue()           # servers, and None for one that was not started yet
_idle.put(None)


def keep():
    """Has run() leave the program to some processes of tests/fuzz/serve --keep from now on, wherever it runs. Runs on a GPU
    are left to one in any case: a CUDA context takes some tenths of a second, and of two GPUs several seconds where many
    processes make theirs at once (two H200, 31 tests at once, 2026-11-28)."""
    global _keeps_all
    if os.access(SERVE, os.X_OK) and not _keeps_all:
        _keeps_all = True
        for _ in range(min(SERVERS_MAX, os.cpu_count() or 2) - 1):
            _idle.put(None)


def asks_for_gpu(args):
    return "--device=gpu" in args or ("--device", "gpu") in zip(args, args[1:])


def _is_kept(args):
    return os.access(SERVE, os.X_OK) and (_keeps_all or asks_for_gpu(args))


def _run_kept(argv, stdin, chunk, gpu_fault):
    env = ["%s=%s" % pair for pair in ((HOOK, chunk), (GPU_FAULT, gpu_fault)) if pair[1] is not None]
    server = _idle.get()
    try:
        if server is None:
            server = Server(SERVE, None, "--keep")
            atexit.register(server.close)
        r = server.run(argv[1:], stdin or b"", "f" if stdin is None else "p", env)
    finally:
        _idle.put(server)
    return Result(r.status, r.out, r.err, argv, chunk)


def run(args, stdin=None, chunk=None, threads=None, device=None, stdout=subprocess.PIPE,
        timeout=120, cwd=None, tool="gpustat", simd=None, gpu_fault=None):
    """Runs the program to its end; `tool` says which. simd: an instruction set, None for the best.
    gpu_fault: "K", a GPU's K-th call fails; "K+", all from then on.

    stdin: bytes, or None for an empty one. chunk: size of a chunk in bytes, None for the default.
    A run that exceeds `timeout` seconds has the status 'timeout'; death by a signal is negative.
    """
    argv = [program(tool)] + list(args)
    if threads is not None:
        argv[1:1] = ["--threads", str(threads)]
    if device is not None:
        argv[1:1] = ["--device", device]
    if tool == "gpustat" and stdout == subprocess.PIPE and cwd is None and simd is None and _is_kept(argv):
        return _run_kept(argv, stdin, chunk, gpu_fault)
    feed = dict(input=stdin) if stdin is not None else dict(stdin=subprocess.DEVNULL)
    extra = {name: value for name, value in ((SIMD, simd), (GPU_FAULT, gpu_fault)) if value}
    try:
        p = subprocess.run(argv, stdout=stdout, stderr=subprocess.PIPE,
                           env=environment(chunk, **extra), timeout=timeout, cwd=cwd, **feed)
    except subprocess.TimeoutExpired as e:
        return Result("timeout", e.stdout or b"", e.stderr or b"", argv, chunk)
    return Result(p.returncode, p.stdout, p.stderr, argv, chunk)


# A process's peak begins with that of the one that started it, and a test may be larger than the program: a small
# interpreter starts the program.
MEASURE = """
import os, sys
_, status, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
os.write(int(sys.argv[1]), b"%d %d" % (status, usage.ru_maxrss))
"""


def feed(args, blocks):
    """Feeds blocks of bytes through a pipe -> (exit status, stdout, stderr, peak resident set in KiB)."""
    measured, end = os.pipe()
    p = subprocess.Popen([sys.executable, "-S", "-E", "-c", MEASURE, str(end), program()] + args, pass_fds=[end],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    os.close(end)

    def write():
        try:
            for block in blocks:
                p.stdin.write(block)
            p.stdin.close()
        except BrokenPipeError:
            pass
    writer = threading.Thread(target=write)
    writer.start()
    out, err = p.stdout.read(), p.stderr.read()
    p.wait()
    writer.join()
    with os.fdopen(measured) as result:
        status, peak = map(int, result.read().split())
    return os.waitstatus_to_exitcode(status), out, err, peak


def run_many(jobs):
    """jobs: keyword dictionaries for run(). Runs them on all cores; results in the same order."""
    return list(_pool.map(lambda job: run(**job), jobs))


def run_meanwhile(jobs, verdict):
    """The same, while the test goes on to its next cases: verdict(results) prints the TAP line, later. A run on a GPU
    takes some tenths of a second to start, whatever it has to do."""
    _waiting.append(([_pool.submit(run, **job) for job in jobs], verdict))
    if len(_waiting) > WAITING_MAX:
        _settle_one()


def settle():
    """Waits for all such runs."""
    while _waiting:
        _settle_one()


def _settle_one():
    runs, verdict = _waiting.popleft()
    verdict([r.result() for r in runs])


def describe(r, stdin=None):
    hook = "" if r.chunk is None else "%s=%s " % (HOOK, r.chunk)
    name = os.path.basename(r.argv[0])
    lines = ["run:    %s%s %s" % (hook, name, shlex.join(os.fsdecode(a) for a in r.argv[1:]))]
    if stdin is not None:
        lines.append("stdin:  " + short(stdin))
    lines.append("status: %s" % r.status)
    lines.append("stdout: " + short(r.out))
    lines.append("stderr: " + short(r.err))
    return "\n".join(lines)


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode()


# ---- checks ---------------------------------------------------------------------------------

def answers(name, args, stdin, want, **how):
    """The program exits 0 and writes exactly `want`, and says nothing on stderr."""
    r = run(args, stdin, **how)
    holds = r.status == 0 and r.out == _bytes(want) and r.err == b""
    return ok(holds, name, lambda: describe(r, stdin) + "\nwanted: 0 and " + short(_bytes(want)))


def warns(name, args, stdin, want, *parts):
    """Like answers(), but stderr holds a warning with all of `parts`."""
    r = run(args, stdin)
    holds = r.status == 0 and r.out == _bytes(want) and all(_bytes(p) in r.err for p in parts)
    return ok(holds and r.err != b"", name,
              lambda: describe(r, stdin) + "\nwanted: %s, a warning with %s" % (short(want), parts))


def refuses(name, args, stdin, status, *parts, **how):
    """The program exits with `status`, nothing on stdout, and stderr holds all of `parts`."""
    r = run(args, stdin, **how)
    speaker = _bytes(how.get("tool", "gpustat") + ": ")
    holds = (r.status == status and not r.out and r.err.strip() != b""
             and all(_bytes(p) in r.err for p in parts)
             and (status != 1 or r.err.startswith(speaker)))
    return ok(holds, name,
              lambda: describe(r, stdin) + "\nwanted: status %s, stdout empty, stderr with %s"
              % (status, parts))


def offers_to_gpu(name, args, stdin, want, leaves):
    """With --device gpu, the answer is `want`. leaves: whether the CPU does all of it, and the program says so. Without a
    GPU the program refuses, and says that."""
    r = run(list(args) + ["--device=gpu", "--verbose"], stdin)
    holds = (r.status == 1 and not r.out and b"no usable GPU" in r.err) or (
        r.status == 0 and r.out == _bytes(want) and (b"CPU only: " in r.err) == leaves)
    return ok(holds, name, lambda: describe(r, stdin) + "\nwanted: %s, %sthe CPU alone" % (short(_bytes(want)), "" if leaves else "not "))


def agrees(name, args, stdin, want, ways):
    """One TAP line for the same request run in many ways.

    want: a function of a Result that returns None where it is right, else what is wrong.
    ways: pairs (chunk, threads).
    """
    results = run_many([dict(args=args, stdin=stdin, chunk=c, threads=t) for c, t in ways])
    wrong = [(r, complaint) for r in results for complaint in [want(r)] if complaint]

    def diagnosis():
        r, complaint = wrong[0]
        return "%d of %d runs are wrong: chunks %s\n%s\n%s" % (
            len(wrong), len(results), sorted({str(r.chunk) for r, _ in wrong})[:20],
            describe(r, stdin), complaint)
    return ok(not wrong and results, name, diagnosis)


def exactly(want):
    """For agrees(): status 0, these bytes, no word on stderr."""
    want = _bytes(want)

    def judge(r):
        if r.status == 0 and r.out == want and r.err == b"":
            return None
        return "wanted: 0 and " + short(want)
    return judge


def every_cut(data, limit=80, beyond=(16, 64, 100, 1000, 65536)):
    """Chunk sizes so that a chunk ends at every byte of a short input, and some larger ones."""
    sizes = list(range(1, min(len(data) + 1, limit) + 1))
    return sizes + [b for b in beyond if b > len(sizes)]
