# SPDX-License-Identifier: MIT
"""gpustat-mpi beside gpustat: random tables and requests, which both must answer with the same bytes.

Run by hand, for as many cases as one likes: python3 mpi_cases.py FIRST COUNT, with GPUSTAT set.
"""
import gzip
import os
import random
import re
import shutil
import subprocess
import sys

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
    return harness.environment(chunk, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                               OMPI_MCA_btl_vader_single_copy_mechanism="none", **extra)


def run(nranks, args, chunk=None, threads=1, timeout=120, **extra):
    """Runs gpustat-mpi -> harness.Result, whose err has gpustat's name for gpustat-mpi's."""
    argv = mpirun(nranks) + [harness.program() + "-mpi"] + (["--threads", str(threads)] if threads else []) + list(args)
    try:
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=environment(chunk, **extra), timeout=timeout)
    except subprocess.TimeoutExpired as e:
        return harness.Result("timeout", e.stdout or b"", e.stderr or b"", argv, chunk)
    return harness.Result(p.returncode, p.stdout, re.sub(rb"\bgpustat-mpi\b", b"gpustat", p.stderr), argv, chunk)


def differs(want, got):
    """Whether a run of ranks says other than one process. One that fails prints no records."""
    out = want.out if want.status == 0 else b""
    return (want.status, out, want.err) != (got.status, got.out, got.err)


class Case(part_cases.Case):
    """A request of parts, of files some of which are compressed and some are cut within quotes."""

    def lay_down(self):
        rng, paths = self.rng, []
        for name, data in self.files:
            if rng.random() < 0.25:
                name, data = name + ".gz", gzip.compress(data)
            paths.append(harness.fixture(name, data))
        return paths

    def clear(self):
        for name in os.listdir(harness.folder()):
            if name.startswith("%d-" % self.seed):
                os.unlink(os.path.join(harness.folder(), name))


def run_case(seed):
    """None where the ranks say what one process says, else what is wrong."""
    case = Case(seed)
    paths, nranks = case.lay_down(), case.rng.choice((2, 3, 4, 5))
    want = harness.run(case.args + case.printing + paths)
    got = run(nranks, case.args + case.printing + paths, case.rng.choice((None, None, 1, 50)), case.rng.choice((1, 2)))
    if differs(want, got):
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
