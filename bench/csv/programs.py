# SPDX-License-Identifier: MIT
"""The peers of this machine: their paths and versions."""
import importlib.util
import os
import shutil
import subprocess
import sys

PROGRAMS = ("duckdb", "mlr", "datamash", "mawk", "gawk", "awk", "qsv", "xan", "zsv", "igzip",
            "zcat", "pigz", "gzip", "bgzip", "zstd", "libdeflate-gunzip", "wc", "valgrind")
MODULES = ("duckdb", "polars", "chdb", "pyarrow")
VERSION_FLAGS = {"mawk": ("-W", "version")}


def _ask(argv):
    """The first line that the command prints, or ""."""
    try:
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (p.stdout.decode("utf-8", "replace").strip().split("\n") or [""])[0]


def _behind_launcher(name, path):
    """The program behind a launcher (of pyenv, of the package duckdb-cli), whose own start-up must not
    count against the peer."""
    if os.path.basename(os.path.dirname(path)) == "shims":
        path = _ask(["pyenv", "which", name]) or path
    spec = importlib.util.find_spec("duckdb_cli") if name == "duckdb" else None
    own = spec and spec.origin and os.path.join(os.path.dirname(spec.origin), "duckdb")
    return own if own and os.access(own, os.X_OK) else path


def find(name):
    """The path of a program, or None."""
    path = shutil.which(name)
    if path is None and name == "duckdb":
        path = _behind_launcher(name, "")
        return path or None
    return path and _behind_launcher(name, path)


def interpreter():
    """This Python's own path, not its launcher's."""
    return os.path.realpath(sys.executable)


def find_all(given=()):
    """Programs by name; modules as "python:NAME", whose value is the interpreter.

    given: pairs (name, path) that override what would be found; an empty path hides the program.
    """
    found = {name: find(name) for name in PROGRAMS}
    found.update(("python:" + name, importlib.util.find_spec(name) and interpreter())
                 for name in MODULES)
    found.update(given)
    found = {name: path for name, path in found.items() if path}
    # awk may be another name of one of these, which would be measured twice
    others = [os.path.realpath(found[name]) for name in ("mawk", "gawk") if name in found]
    if "awk" in found and os.path.realpath(found["awk"]) in others:
        del found["awk"]
    return found


def missing(found):
    return [name for name in PROGRAMS + tuple("python:" + m for m in MODULES)
            if name not in found and not (name == "awk" and shutil.which("awk"))]


def version(name, path):
    if name.startswith("python:"):
        from importlib import metadata
        try:
            return metadata.version(name.split(":")[1])
        except metadata.PackageNotFoundError:
            return "?"
    if name == "zsv":
        return _ask([path, "version"])
    return _ask([path, *VERSION_FLAGS.get(name, ("--version",))])
