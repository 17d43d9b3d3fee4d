# SPDX-License-Identifier: MIT
"""Each file of a rung compiles alone, without an include path, into a program that checks itself.

All of them where there is a GPU to run them on. Without one, the textbook's, which are compiled as a reader would, by
`nvcc FILE`: nvcc takes minutes for all of them.
"""
import concurrent.futures
import ctypes
import glob
import os
import shutil
import subprocess

import harness

RUNGS = sorted(os.path.abspath(path) for path in glob.glob(harness.source("kernels", "ladder", "*_*.cu")))
REFUSED = 77  # exit status of a rung that this GPU cannot run
TEXTBOOK = ("reduce_simple reduce_convergent reduce_shared_memory reduce_segmented_atomic reduce_coarsened scan_kogge_stone "
            "scan_kogge_stone_double_buffer scan_brent_kung scan_coarsened_three_phase scan_hierarchical scan_domino "
            "inflate_simple inflate_lookup inflate_shared group_simple group_warp group_shared").split()


def find_nvcc():
    """The compiler, or None."""
    homes = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
    return shutil.which("nvcc", path=os.pathsep.join([os.environ["PATH"]] + [home + "/bin" for home in homes if home]))


def has_gpu():
    """Whether the driver finds a device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def run_alone(nvcc, path, *options):
    """Compiles path in another folder, and runs it: (exit status of what failed or of the program, what it printed)."""
    program = os.path.join(harness.folder(), os.path.basename(path)[:-3])
    for command in ([nvcc, *options, path, "-o", program], [program]):
        p = subprocess.run(command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        if p.returncode != 0:
            break
    return p.returncode, p.stdout.decode(errors="replace")[-2000:]


def check_textbook(nvcc):
    """Without a GPU: the textbook's rungs compile alone, and their programs say that there is no GPU."""
    paths = [os.path.abspath(harness.source("kernels", "ladder", name + ".cu")) for name in TEXTBOOK]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, got in zip(paths, pool.map(lambda path: run_alone(nvcc, path), paths)):
            harness.is_(got, (REFUSED, "SKIP: no CUDA device\n"), os.path.basename(path) + " compiles alone")
    harness.skip("rungs compile and pass alone", "no GPU")
    harness.done()


def main():
    nvcc = find_nvcc()
    if nvcc is None:
        harness.skip_all("no nvcc")
    harness.ok(len(RUNGS) > 15, "the rungs are there", "%d files" % len(RUNGS))
    if not has_gpu():
        check_textbook(nvcc)
        return
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (status, words) in zip(RUNGS, pool.map(lambda path: run_alone(nvcc, path, "-arch=native"), RUNGS)):
            name = os.path.basename(path) + " compiles and passes alone"
            if status == REFUSED:
                harness.skip(name, "this GPU cannot run it")
            else:
                harness.ok(status == 0 and words.endswith("\nPASS\n"), name, words)
    harness.done()


main()
