# SPDX-License-Identifier: MIT
"""What configure says of hardening is in the program that was built: readelf looks.

HARDENING holds the flags that configure took, CFLAGS the user's. A flag that the compiler does not
have, or that --disable-hardening left out, is skipped with that reason.
"""
import os
import re
import shutil
import subprocess

import harness

FLAGS = os.environ.get("HARDENING", "").split()
CFLAGS = os.environ.get("CFLAGS", "")
OPTIMISED = re.search(r"(^|\s)-O([1-3sgz]|fast)?(\s|$)", CFLAGS) is not None
SANITISED = "-fsanitize" in CFLAGS


def readelf(option, path=None):
    return subprocess.run(["readelf", "-W", option, path or harness.program()], stdout=subprocess.PIPE,
                          env=dict(os.environ, LC_ALL="C"), check=True).stdout.decode("utf-8", "replace")


def has(name, flag, holds, reason="", diagnosis=""):
    """One TAP line, if the flag was taken and no other reason speaks against it."""
    if flag not in FLAGS:
        reason = "configure has not taken " + flag
    if reason:
        harness.skip(name, reason)
    else:
        harness.ok(holds, name, diagnosis)


def check_headers():
    head, segments, dynamic = readelf("-h"), readelf("-l"), readelf("-d")
    has("its place in memory is chosen anew for every run", "-pie",
        re.search(r"Type:\s+DYN", head) and "PIE" in dynamic, diagnosis=head)
    has("relocations are read-only from the start", "-Wl,-z,now",
        re.search(r"GNU_RELRO", segments) and re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic),
        diagnosis=segments + dynamic)
    stack = re.search(r"GNU_STACK\s+(?:0x\S+\s+){5}(\S+)", segments)
    has("the stack is not executable", "-Wl,-z,noexecstack", stack and "E" not in stack.group(1),
        diagnosis=segments)
    writable = re.findall(r"LOAD\s+(?:0x\S+\s+){5}(RWE)", segments)
    harness.is_(writable, [], "no memory is both written and run")
    harness.ok("TEXTREL" not in dynamic, "no code is relocated", dynamic)
    harness.ok("RPATH" not in dynamic and "RUNPATH" not in dynamic, "it names no folder to load from", dynamic)


def check_symbols():
    symbols = readelf("--dyn-syms")
    # the program's own objects: static libraries in it have been built by others
    own = readelf("-s", os.path.join(os.environ.get("builddir", "."), "libgpustat.a"))
    has("functions with buffers guard their return", "-fstack-protector-strong",
        "__stack_chk_fail" in own)
    checked = re.findall(r"__\w+_chk\b", own)
    fortified = re.search(r"(?m)^#define GPUSTAT_FORTIFY [23]$", config()) is not None
    if not fortified or not OPTIMISED or SANITISED:
        harness.skip("the C library checks the sizes of buffers",
                     "no _FORTIFY_SOURCE here" if not fortified else "CFLAGS are " + CFLAGS)
    else:
        harness.ok(checked, "the C library checks the sizes of buffers")
    banned = sorted(set(re.findall(r"\b(?:gets|mktemp|tmpnam|tempnam|tmpfile|mkstemp|system|popen|exec[lv]\w*)@",
                                   symbols)))
    cuda = config().find("#define HAVE_CUDA 1") >= 0
    if cuda:
        harness.skip("it can make no temporary file and run no program", "the CUDA runtime is linked in")
    else:
        harness.is_(banned, [], "it can make no temporary file and run no program")


def config():
    path = os.path.join(os.environ.get("builddir", "."), "config.h")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        return f.read()


if not shutil.which("readelf"):
    harness.skip_all("no readelf")
if "HARDENING" not in os.environ:
    harness.skip_all("HARDENING does not say which flags configure took: run it by make check")
check_headers()
check_symbols()
harness.done()
