# SPDX-License-Identifier: MIT
"""gpustat-mpi beside gpustat: random tables and requests, which both must answer with the same bytes.

Run by hand, for as many cases as one likes: python3 mpi_cases.py FIRST COUNT, with GPUSTAT set.
"""
import glob
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import bgzf_blocks
import harness
import part_cases


def has_mpi():
    """Why gpustat-mpi cannot be run here, or None."""
    if not os.access(harness.program() + "-mpi", os.X_OK):
        return "gpustat-mpi was not built"
    return None if shutil.which("mpirun") else "no mpirun"


def is_open_mpi():
    return b"Open MPI" in subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def mpirun(nranks):
    """The launcher's command. Open MPI's wants to be told that ranks may share cores, and to say nothing itself."""
    return ["mpirun"] + (["--oversubscribe", "--quiet"] if is_open_mpi() else []) + ["-n", str(nranks)]


def environment(chunk=None, **extra):
    """For Open MPI: no other hosts are looked for, and each job has its files in a folder of its own, since two that begin
    or end at once may take away the other's."""
    return harness.environment(chunk, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
                               OMPI_MCA_pml="ob1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
                               TMPDIR=tempfile.mkdtemp(dir=harness.folder()), **extra)


def run(nranks, args, chunk=None, threads=1, timeout=120, **extra):
    """Runs gpustat-mpi -> harness.Result, whose err has gpustat's name for gpustat-mpi's."""
    argv = mpirun(nranks) + [harness.program() + "-mpi"] + (["--threads", str(threads)] if threads else []) + list(args)
    try:
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=environment(chunk, **extra), timeout=timeout)
    except subprocess.TimeoutExpired as e:
        return harness.Result("timeout", e.stdout or b"", e.stderr or b"", argv, chunk)
    return harness.Result(p.returncode, p.stdout, re.sub(rb"\bgpustat-mpi\b", b"gpustat", p.stderr), argv, chunk)


def differs(want, got, is_alone=False):
    """Whether a run of ranks says other than one process. One that fails prints no records, but for a rank that is alone
    and prints to standard output: it does what gpustat does."""
    out = want.out if want.status == 0 or is_alone else b""
    return (want.status, out, want.err) != (got.status, got.out, got.err)


RUNNING = ("cumsum", "running-mean", "running-var", "running-max", "running-min", "running-count", "running-stddev", "delta", "ratio")
RECORDS = (["--select", "k,t"], ["--drop", "t,x"], ["--where", "x > 0 or k == 'b'"], ["--byte-offset"], ["--row-number"],
           ["--offsets", "y > 3"], ["--rename", "x=z", "--row-number"], ["--let", "z = x + y"], ["--let", "z = x + y", "--cumsum", "z", "--by", "k"],
           ["--let", "z = if(x > 0, x * y, 0)", "--let", "n = length(t)", "--running-max", "z", "--where", "n > 2"], ["--cumsum", "*"],
           ["--head", "7", "--row-number"], ["--rolling-mean", "x:3", "--fill-down", "y"], ["--row-number", "--byte-offset", "--where", "y < 5"])


def spoil(rng, packed, text):
    """BGZF that sometimes is no whole one, or not only BGZF."""
    roll = rng.random()
    if roll < 0.03:
        return packed[:rng.randrange(len(packed))]
    if roll < 0.06:
        at = rng.randrange(18, len(packed))
        return packed[:at] + bytes([packed[at] ^ 1 << rng.randrange(8)]) + packed[at + 1:]
    cut = text.find(b"\n", rng.randrange(len(text))) + 1
    if roll < 0.12 and cut:
        first, second = bgzf_blocks.pack(text[:cut], 100, end=rng.choice((b"", b"", bytes(5)))), text[cut:]
        second = gzip.compress(second) if rng.random() < 0.7 else bgzf_blocks.pack(second, 70)
        return first + second
    return packed


class Case(part_cases.Case):
    """A request of results or of records, of files some of which are compressed and some are cut within quotes."""

    def request(self, rng):
        if rng.random() < 0.6:
            return super().request(rng)
        if rng.random() < 0.4:
            args = list(rng.choice(RECORDS))
        else:
            args = ["--" + rng.choice(RUNNING), rng.choice(part_cases.NUMERIC)]
            args += ["--" + rng.choice(RUNNING), "x,y"] if rng.random() < 0.3 else []
            args += ["--by", rng.choice(("k", "h,k", "t"))] if rng.random() < 0.4 else []
            args += ["--where", "x > 0"] if rng.random() < 0.2 else []
            args += ["--only"] if rng.random() < 0.2 else []
        return args + (["--invalid", "skip"] if rng.random() < 0.6 else [])

    def lay_down(self):
        rng, paths = self.rng, []
        for name, data in self.files:
            roll, ends = rng.random(), bgzf_blocks.ENDS  # with --head, zero bytes behind them may be read or not
            ends += () if "--head" in self.args else (bgzf_blocks.END + bytes(100),)
            if roll < 0.15:
                name, data = name + ".gz", gzip.compress(data)
            elif roll < 0.55 and data:
                name, data = name + ".gz", spoil(rng, bgzf_blocks.pack_at_random(rng, data, ends), data)
            paths.append(harness.fixture(name, data))
        return paths

    def clear(self):
        for name in os.listdir(harness.folder()):
            if name.startswith("%d-" % self.seed):
                os.unlink(os.path.join(harness.folder(), name))


def to_folder(nranks, args, folder, **how):
    """Like run(), with the records in a folder -> Result, whose out is the files' one behind the other."""
    got = run(nranks, ["--output-dir", folder] + args, **how)
    parts = sorted(glob.glob(os.path.join(folder, "part-*.csv")))
    done = os.path.exists(os.path.join(folder, "_SUCCESS"))
    out = b"".join(open(path, "rb").read() for path in parts)
    if got.out or done != (got.status == 0) or (done and len(parts) != nranks):
        out = b"not as a folder should be: %s" % repr((parts, done, got.out)).encode()
    shutil.rmtree(folder, True)
    return got._replace(out=out)


def run_case(seed):
    """None where the ranks say what one process says, else what is wrong."""
    case = Case(seed)
    paths, nranks = case.lay_down(), case.rng.choice((1, 2, 3, 4, 5))
    args = case.args + case.printing + paths
    how = dict(chunk=case.rng.choice((None, None, 1, 50)), threads=case.rng.choice((1, 2)))
    want = harness.run(args)
    if case.args[0][2:] in RUNNING and case.args[1] != "*" and case.rng.random() < 0.3:
        got, is_alone = to_folder(nranks, args, os.path.join(harness.folder(), "%d-folder" % seed), **how), False
    else:
        got, is_alone = run(nranks, args, **how), nranks == 1
    if differs(want, got, is_alone):
        return part_cases.complaint(case, want, got) + "\n%d ranks" % nranks
    case.clear()
    return None


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        wrong = run_case(number)
        if wrong:
            print(wrong)
            print("=" * 100, flush=True)
    print("done", sys.argv[1:])
