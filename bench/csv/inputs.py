# SPDX-License-Identifier: MIT
"""The input files: made once in a folder, and again if their generator changes."""
import collections
import hashlib
import os
import re
import shlex
import subprocess
import sys

# number: a column's number. field: its number for a tool that splits at every comma, quoted or not; in these
# inputs that works for the columns named here.
Column = collections.namedtuple("Column", "name number field")
COLUMNS = {column.name: column for column in (
    # of logs; a path has a comma, so at every comma it is two fields
    Column("host", 2, 2), Column("path", 4, 4), Column("status", 5, 6), Column("bytes", 6, 7), Column("seconds", 7, 8),
    Column("id", 1, 1), Column("value", 2, 2),  # of narrow
    Column("c25", 25, 25), Column("c150", 150, 150),  # of wide and of broad
    Column("account", 2, 2), Column("amount", 3, 3),  # of ledger
    Column("x", 1, 1), Column("y", 2, 2),  # of floats
    Column("station", 1, 1), Column("temperature", 2, 2),  # of stations
    *(Column(name, i, i) for i, name in enumerate("id1 id2 id3 id4 id5 id6 v1 v2 v3".split(), 1)))}  # of keys
# The kinds of inputs, each with the column that is summed.
KINDS = {kind: COLUMNS[name] for kind, name in {
    "logs": "bytes", "narrow": "value", "wide": "c25", "broad": "c150", "ledger": "amount", "floats": "x", "keys": "v1",
    "stations": "temperature"}.items()}
DELIMITERS = {"stations": ";"}  # others have commas
WIDE_NCOLUMNS = 50
SEED = 20261121



def delimiter(kind):
    return DELIMITERS.get(kind, ",")


# A format, the suffix of its files, and the programs that can pack it.
PACKERS = {
    "gz": ("gz", ("gzip", "-6", "-c")),
    "bgz": ("bgz.gz", ("bgzip", "-@8", "-c")),
    "zst": ("zst", ("zstd", "-q", "-c")),
}

# way: "file", "pipe", or one of PACKERS. nbytes: of the text, unpacked.
Input = collections.namedtuple("Input", "kind way path nbytes")


def size_nbytes(text):
    """200M as a number of bytes; K, M, G are powers of 1000, as in GB/s."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)B?", text)
    if not match:
        raise ValueError("not a size: " + text)
    power = " kMGT".index(match.group(2).replace("K", "k") or " ")
    return int(float(match.group(1)) * 1000 ** power)


class Folder:
    """Makes inputs of one size in one folder. generator: the path of the program generate."""

    def __init__(self, path, nbytes, generator, programs):
        self.path, self.nbytes, self.generator, self.programs = path, nbytes, generator, programs
        os.makedirs(path, exist_ok=True)
        self._forget_older()

    def _forget_older(self):
        """Removes files that another generator made; a stamp names it."""
        with open(os.path.join(os.path.dirname(__file__), "generate.c"), "rb") as f:
            source = hashlib.sha256(f.read()).hexdigest()
        mark = "%d bytes, seed %d, generate.c %s\n" % (self.nbytes, SEED, source)
        stamp = os.path.join(self.path, "made-by")
        if os.path.exists(stamp) and open(stamp).read() == mark:
            return
        for name in os.listdir(self.path):
            if re.match(r"(%s)\.csv" % "|".join(KINDS), name):
                os.remove(os.path.join(self.path, name))
        with open(stamp, "w") as f:
            f.write(mark)

    def _make(self, name, argv):
        """Writes the output of argv to `name`, under another name until it is whole."""
        path = os.path.join(self.path, name)
        if not os.path.exists(path):
            sys.stderr.write("making %s\n" % path)
            with open(path + ".part", "wb") as f:
                subprocess.run(argv, stdout=f, check=True)
            os.rename(path + ".part", path)
        return path

    def get(self, kind, way):
        """The input, or None if no program can pack it so."""
        plain = self._make(kind + ".csv", [self.generator, kind, str(self.nbytes), str(SEED)])
        nbytes = os.path.getsize(plain)
        if way in ("file", "pipe"):
            return Input(kind, way, plain, nbytes)
        ending, packer = PACKERS[way]
        if packer[0] not in self.programs:
            return None
        path = self._make("%s.csv.%s" % (kind, ending),
                          [self.programs[packer[0]], *packer[1:], plain])
        return Input(kind, way, path, nbytes)


def warm(path):
    """Reads the file into the page cache."""
    piece = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as f:
        while f.readinto(piece):
            pass


def unpacker(data, programs):
    """The command that feeds a tool that cannot read this input; "" if it can."""
    path = shlex.quote(data.path)
    if data.way == "file":
        return ""
    if data.way == "pipe":
        return "cat " + path
    if data.way == "zst":
        return "%s -dc %s" % (programs["zstd"], path)
    return "%s %s" % (programs["igzip"] + " -dc" if "igzip" in programs else "gzip -dc", path)
