# SPDX-License-Identifier: MIT
"""Random command lines over random hostile tables, hundreds a second: a library and a program.

    differential.py --serve SERVE [--seconds N] [--cases N] [--seed N] [--ways N] [--jobs N] [--device D] [--limit N]

SERVE is tests/fuzz/serve.c, built, best with AddressSanitizer and UBSan. --jobs: so many at once, each with seeds of
its own, which together are all from --seed on. --device: one more way runs with this --device; it needs a SERVE that was built with CUDA.

A case is a command line and a table (tests/oracle/hostile_request.py, hostile.py), now and then spoiled by edits that
know nothing of CSV. Each second seed begins with a pair of options, each pair in turn, in an order drawn once; a quarter with a
law (laws.py), the others have a model. Each is run in several ways: chunks, threads, instruction sets, what inflates; a file, standard
input, a pipe, a pipe whose writer pauses; plain or packed. Then

 - no run ends by a signal, or with a sanitizer's report, or with another exit status than 0, 1 and 2;
 - a failed run prints no result, and says why;
 - all ways say the same, byte for byte, and leave the same files;
 - the law holds; and the models (oracle.py, oracle_scan.py, oracle_groups.py) agree, where they say anything.

A case that fails is cut down and left in fuzz.failed/SEED with a script that runs it; the seed alone makes it again.
At the end comes how many pairs of options occurred in a run that was not refused, how many were always refused, and
how many never occurred: 24,000 seeds in a row are enough for all.
"""
import argparse
import bz2
import collections
import lzma
import multiprocessing
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bgzf_blocks                                              # noqa: E402
import harness                                                  # noqa: E402
import hostile                                                  # noqa: E402
import hostile_request                                          # noqa: E402
import laws                                                     # noqa: E402
import oracle                                                   # noqa: E402
import oracle_command                                           # noqa: E402
import oracle_style                                             # noqa: E402
from hostile_request import OPTIONS, PAIRS_OF_OPTIONS, SAVED, STATE, Use, pair    # noqa: E402
from oracle_table import PIECES, seems_foreign                  # noqa: E402

TOKENS = (b'"', b'""', b'",', b',"', b'"\n', b'\n"', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r\n",
          b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b" ", b"+", b"-", b".", b"e", b"E", b"e5", b"e-9", b"0", b"00000000",
          b"9", b"99999999", b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808",
          b"999999999999999999", b"1000000000000000000", b"170141183460469231731687303715884105727",
          b"-170141183460469231731687303715884105728", b"340282366920938463463374607431768211456",
          b"1e399", b"1e400", b"1e-400", b"1e-401", b"0e400", b"0e-401", b"0." + b"0" * 399 + b"1", b"9" * 400, b"9" * 401,
          b"1e99999999999999999999", b"1e-99999999999999999999", b"0e99999999999999999999", b"NA", b"x" * 63, b"y" * 64,
          b"z" * 65, b"1," * 40, b'"' * 63, b'"' * 64, b"\n" * 63, b"," * 65)
FOREIGN = re.compile(rb": not CSV but .*")       # what it is; packed, "in gzip" is added
ODD = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")     # bytes that another format may have been recognised by
PACKED_ONE_IN = 6
ROWS = ((40, 800), (200, 3000), (2000, 12000))      # one case in so many has so many records
SPOILED_ONE_IN = 8
BLANK_ONE_IN = 24       # one file more, of nothing but blank lines
BLANKS = (b"", b"\n", b"\r\n", b"\n\n\n", b"\n\r", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n")
LONG_ONE_IN = 400       # a field of 64 KiB to 2 MiB
COLUMNS_FOLDED = 50 * 10 ** 6   # columns times chunks; of a sum, some 30 ns each
TRIALS = 6              # command lines of two options, to know whether they go together
TRIES = 6               # command lines of a case, until one is not refused; the last ones have no option that is not needed
OTHERS_ONE_IN = 4       # turn of a pair, by those which trial has found to be refused
CHECKSUM = re.compile(rb'(?<="crc32":)[0-9]+')
REPORT = re.compile(rb"Sanitizer|runtime error:")

# ---- text that is spoiled ---------------------------------------------------------------------

def spoil(rng, data):
    """`data` after a few edits: bytes put in, taken out, doubled, moved."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(data) + 1)
        form = rng.randrange(8)
        if form < 4:
            data[at:at] = rng.choice(TOKENS)
        elif form == 4:
            del data[at:at + rng.choice((1, 1, 2, 7, 40))]
        elif form == 5 and data:
            data[min(at, len(data) - 1)] = rng.choice((0, 9, 10, 13, 32, 34, 44, 48, 46, 101, 255, rng.randrange(256)))
        elif form == 6:
            piece = data[at:at + rng.randrange(1, 80)]
            where = rng.randrange(len(data) + 1)
            data[where:where] = piece
        else:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 8)))
    if rng.randrange(LONG_ONE_IN) == 0:
        at = rng.randrange(len(data) + 1)
        data[at:at] = rng.choice((b"x", b"7", b'"', b"\n", b"0", b",1", b'""', b" ")) * rng.choice((65536, 70001, 1 << 20))
    return bytes(data)


def seems_packed(data):
    """Does it begin with a magic number, or is it a piece of one that no text can be?"""
    if data in PIECES or data[:4] == b"\x28\xb5\x2f\xfd":
        return True
    return data[:2] == b"\x1f\x8b" or data[1:4] == b"\x2a\x4d\x18"


# ---- cases ----------------------------------------------------------------------------------

MODELLED = tuple(name for name, o in OPTIONS.items() if name in oracle_command.MODELLED or o.kind in ("REDUCE", "TEXT", "PAIR", "RECORDS"))
READS_TWICE = ("rank", "rank-dense", "percent-rank", "ntile", "part")      # of a file only
LOOSE = ("explain", "verbose")      # what they say depends on threads and on how the input comes


class Case(hostile_request.Case):
    """What the seed makes. law: a laws.Law, or None. status: of the first run."""
    def __init__(self, rng, names, rows, law, tame=False):
        super().__init__(rng, names, rows, tame or law is not None, law is not None and "pipe" in law.name)
        self.rng, self.law, self.silent, self.status = rng, law, "a law", None
        if not law:
            if not tame:
                self.spoil()
        else:
            header, *lines = [hostile.with_end(rng, self.shape, line) for line in
                              hostile.lines_of(rng, self.shape, None, self.table, True)]
            self.head, self.records = bytes(hostile.before_records(rng, self.shape)) + header, lines
        self.env = ["COLUMNS=%d" % rng.choice((20, 80, 200))] * (rng.randrange(20) == 0)
        self.prepared = {}      # files that runs before this one have left

    def spoil(self):
        if self.rng.randrange(SPOILED_ONE_IN) == 0:
            self.files = [(name, spoil(self.rng, data)) for name, data in self.files]
        if self.rng.randrange(BLANK_ONE_IN) == 0 and not self.has("part"):
            self.files.insert(self.rng.randrange(len(self.files) + 1), ("blank.csv", self.rng.choice(BLANKS)))

    def has(self, *names):
        return any(u.option.name in names for u in self.uses)

    def says(self, name, *arguments):
        return any(u.option.name == name and u.argument in arguments for u in self.uses)

    def only_file(self):
        """Does it have to be a file that can be read twice?"""
        return self.has(*READS_TWICE) or len(self.files) != 1

    def is_loose(self):
        return self.has(*LOOSE) or self.says("progress", b"always")

    def prints_results(self):
        """No record is printed, so a failed run prints nothing."""
        return self.has(*hostile_request.RESULTS, *hostile_request.COMPUTED, "hist") and not self.has("partial", "merge")

    def judge(self):
        """The model's judge of results, or None where it is silent."""
        if any(seems_foreign(data) for _, data in self.files):
            self.silent = "another format"
            return None
        try:
            request, model = oracle_command.read(self.uses)
            return model.judge(request, self.files)
        except (oracle.Unclear, UnicodeDecodeError) as why:
            self.silent = str(why)
            return None
        finally:
            oracle_style.SHOWN = None


def least_chunk(files):
    """Chunks of so many bytes take seconds, not minutes: a run takes time for each column of each chunk."""
    return max((len(data) * max(map(data.count, (b",", b";", b"\t", b"|", b" "))) for _, data in files), default=0) // COLUMNS_FOLDED


Way = collections.namedtuple("Way", "args env mode packing")    # mode: f, p or s of serve.c, or "files"


def ways(rng, case, n, sets, device=None):
    """n ways to run it, and one more on the device."""
    size = max((len(d) for _, d in case.files), default=0)
    chunks = [1, rng.randrange(2, 9), rng.randrange(2, max(3, min(size, 5000)) + 1), rng.choice((64, 4096, 65536)), None]
    if size > 20000:
        chunks = [rng.randrange(10, 200), rng.randrange(200, 5000), 65536, None]
    if size > 100000:
        chunks = [max(rng.choice((100, 1000)), least_chunk(case.files)), 65536, None]
    out = []
    for chunk in rng.sample(chunks, min(n, len(chunks))):
        env = ["GPUSTAT_SIMD=" + rng.choice(sets)] + case.env
        if chunk:
            env.append("GPUSTAT_CHUNK_BYTES=%d" % chunk)
        packing = None
        if rng.randrange(2 if size > 20000 else PACKED_ONE_IN) == 0 and not case.has("part", "explain", "merge"):
            packing = rng.choice(sorted(PACKINGS))
        mode = "files" if case.only_file() else rng.choice(("files", "f", "p", "s"))
        threads = [] if case.has("threads") else ["--threads=%d" % rng.choice((1, 2, 3, 5, 7))]
        out.append(Way(threads, env, mode, packing))
    if device:
        out.append(out[0]._replace(args=["--device=" + device, *out[0].args]))
    return out


# ---- packed text --------------------------------------------------------------------------------

def member(rng, data):
    """A gzip member: short blocks, long ones or stored ones. Several threads decode it where chunks are short."""
    z = zlib.compressobj(rng.choice((0, 1, 6)), zlib.DEFLATED, 31, rng.choice((1, 1, 2, 8)))
    return z.compress(data) + z.flush()


def zstd_frame(rng, data):
    """Zstandard's format with blocks that are stored: RFC 8878, 3.1.1."""
    most, out = rng.choice((1, 10, 1000, 65536)) if len(data) < 5000 else 65536, [b"\x28\xb5\x2f\xfd\x00\x30"]     # a window of 64 KiB
    pieces = [data[i:i + most] for i in range(0, len(data), most)] or [b""]
    for i, piece in enumerate(pieces):
        out.append(struct.pack("<I", (len(piece) << 3) + (i + 1 == len(pieces)))[:3] + piece)
    return b"".join(out)


PACKINGS = {"gzip": member, "zstd": zstd_frame, "bzip2": lambda rng, data: bz2.compress(data), "xz": lambda rng, data: lzma.compress(data)}


def pack(rng, data, packing):
    if packing == "bgzip":
        return bgzf_blocks.pack_at_random(rng, data, bgzf_blocks.ENDS)
    cut = rng.choice((0, 0, rng.randrange(len(data) + 1)))
    return (PACKINGS[packing](rng, data[:cut]) if cut else b"") + PACKINGS[packing](rng, data[cut:])


# ---- running and judging ------------------------------------------------------------------------

class Fuzzer:
    def __init__(self, serve, nways, device=None, goes=None):
        self.folder = tempfile.mkdtemp(prefix="gpustat-fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.path, self.nways, self.device = os.path.abspath(serve), nways, device
        self.server, self.kept = harness.Server(self.path, self.folder), None    # kept: with a CUDA context, for runs on GPUs
        self.seen, self.went, self.refused = (collections.Counter() for _ in range(3))
        self.sets = [s for s in ("avx512", "avx2", "neon", "portable")
                     if self.server.run(["--version"], b"", "f", ["GPUSTAT_SIMD=" + s]).status == 0]
        said = self.server.run(["--version"], b"").out
        hostile_request.PATTERNS = not re.search(rb"PCRE2.*not built in", said)
        for name in [n for n in PACKINGS if re.search(rb"(?i)%s.*not built in" % {"bzip2": b"bz2", "xz": b"lzma"}.get(n, n.encode()), said)]:
            del PACKINGS[name]
        PACKINGS.setdefault("bgzip", None)
        self.here = os.getcwd()
        self.goes = goes or hostile_request.Goes(self.try_out)
        pairs = random.Random(1).sample(PAIRS_OF_OPTIONS, len(PAIRS_OF_OPTIONS))    # so that few seeds see all options
        self.reachable = [p for p in pairs if self.goes.together(*p)]
        self.others = [p for p in pairs if not self.goes.together(*p)]

    def close(self):
        for server in (self.server, self.kept):
            if server:
                server.close()
        shutil.rmtree(self.folder, True)

    def run(self, args, given, env=(), mode="files"):
        """given: files, pairs (name, bytes), or the text of standard input."""
        server = self.server
        if harness.asks_for_gpu(args):
            self.kept = server = self.kept or harness.Server(self.path, self.folder, "--keep")
        if isinstance(given, bytes):
            return server.run(args, given, "f" if mode == "files" else mode, env)
        for name, data in given:
            with open(os.path.join(self.folder, name), "wb") as f:
                f.write(data)
        return server.run(list(args) + [name for name, _ in given], b"", "f", env)

    # ---- which options go together ----

    def try_out(self, names):
        """Is a command line of these options taken, with arguments of no fault?"""
        rng, said, refused = random.Random(" ".join(names)), None, False
        for _ in range(TRIALS):
            r = self.run_first(Case(rng, names, None, None, True))
            if r.status == 0:
                return True
            if r.err == said:       # else it may be the arguments
                return False
            refused |= r.status == 2
            said = r.err
        return not refused

    def run_first(self, case, way=Way((), (), "files", None)):
        self.prepare(case)
        r = self.run_way(case, way)
        case.status = r.status
        return r

    def prepare(self, case):
        """The runs that leave what the case reads: a state, parts."""
        if case.has("from-state"):
            uses = [u for u in case.uses if u.option.name not in ("from-state", "save-state", "svg", "plot")]
            self.run(spell(uses + [Use(OPTIONS["save-state"], "save-state", STATE.encode())]), case.files)
            case.prepared = self.left([STATE])
        if case.parts_of is not None:
            parts = []
            for i, one in enumerate(case.files):
                r = self.run(spell(case.parts_of + [Use(OPTIONS["partial"], "partial", None)]), [one])
                parts.append(("%d.part" % i, r.out))
            case.files, case.parts_of = parts, None

    def left(self, names=(SAVED, hostile_request.PICTURE)):
        found = {}
        for name in names:
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, "rb") as f:
                    found[name] = f.read()
                os.unlink(path)
        return found

    # ---- one case ----

    def run_way(self, case, way):
        """A Result whose chunk is what files it left."""
        rng = random.Random(len(case.files))
        files = [(name, pack(rng, data, way.packing) if way.packing and not seems_packed(data) else data)
                 for name, data in case.files]
        for name, data in case.prepared.items():
            with open(os.path.join(self.folder, name), "wb") as f:
                f.write(data)
        args = list(way.args) + case.args(random.Random(1))
        r = self.run(args, files if way.mode == "files" else files[0][1], way.env, way.mode)
        left = {n: FOREIGN.sub(b": not CSV", d) for n, d in self.left().items()}
        err, out = FOREIGN.sub(b": not CSV", r.err), r.out
        if way.mode != "files":
            name = case.files[0][0].encode()
            err, out = err.replace(b"standard input", name).replace(b"<stdin>", name), out.replace(b"<stdin>", name)
            left = {n: d.replace(b"<stdin>", name) for n, d in left.items()}
        if case.has("partial", "save-state"):       # the input's name is in the part
            out, left = CHECKSUM.sub(b"", out), {n: CHECKSUM.sub(b"", d) for n, d in left.items()}
        return r._replace(out=out, err=err, chunk=left)

    def form(self, case, r):
        """What is wrong with a run, whatever was asked for; or None."""
        if REPORT.search(r.err) or r.status not in (0, 1, 2):
            return "status %s, or a sanitizer's report" % r.status
        if r.status and not r.err.startswith(b"gpustat: "):
            return "it fails without a message"
        if r.out and (r.status == 2 or (r.status == 1 and case.prints_results())):
            return "it fails, and prints"
        if re.search(rb"[\0-\x08\x0b-\x1f\x7f]", r.err) and not case.says("progress", b"always"):
            return "control characters in a message"
        return None

    def complaint(self, case, chosen):
        """None, "unclear", or what is wrong."""
        results = [self.run_way(case, way) for way in chosen]
        case.status = results[0].status
        for r in results:
            if self.form(case, r):
                return "%s\n%s" % (self.form(case, r), describe(r))
        said = {(r.status, *(() if case.is_loose() else (r.err,)), *(() if case.has("explain") else (r.out, str(r.chunk))))
                for r in results}
        if case.says("memory", b"64K", b"1"):      # how much is kept at once depends on threads
            said = said if all(r.status in (0, 1) for r in results) else {r.status for r in results}
            said = {(s[1:] if isinstance(s, tuple) else s) for s in said if not isinstance(s, tuple) or s[0] == 0}
        if len(said) > 1:
            return "the ways differ:\n" + "\n".join("%s: %s" % (way_of(way), describe(r)) for way, r in zip(chosen, results))
        return self.of_law(case) if case.law else self.of_model(case, results[0])

    def of_law(self, case):
        state = case.rng.getstate()
        wrong = case.law.check(case, lambda uses, given: self.run_law(case, uses, given))
        case.rng.setstate(state)
        if wrong == laws.ABSENT:
            self.seen["%s: says nothing" % case.law.name] += 1
            return "unclear"
        return wrong and "%s: %s" % (case.law.name, wrong)

    def run_law(self, case, uses, given):
        rng = case.rng
        env = ["GPUSTAT_SIMD=" + rng.choice(self.sets)] + ["GPUSTAT_CHUNK_BYTES=%d" % rng.choice((1, 7, 64, 1000))] * rng.randrange(2)
        files = given if not isinstance(given, bytes) or rng.randrange(2) else [("in.csv", given)]
        return self.run(["--threads=%d" % rng.choice((1, 2, 3))] + spell(uses), files, env)

    def of_model(self, case, r):
        right = case.judge()
        if b": not CSV" in r.err and any(ODD.search(data) for _, data in case.files):
            right, case.silent = None, "another format"
        if right and r.status == 2 and r.err.startswith(b"gpustat: --"):
            right, case.silent = None, "options that do not go together, or an argument of theirs"
        if not right:
            return "unclear"
        try:
            said = right(r)
        except ValueError as e:
            said = "not JSON: %s" % e
        return said and "%s\n%s" % (describe(r), said)

    # ---- seeds ----

    def next_pair(self, turn):
        """Each pair comes once in as many turns as there are, so it is known after how many seeds all have occurred."""
        if turn % OTHERS_ONE_IN == 0 and self.others:
            return self.others[turn // OTHERS_ONE_IN % len(self.others)]
        return self.reachable[(turn - turn // OTHERS_ONE_IN - 1) % len(self.reachable)]

    def draw(self, seed):
        """The case of a seed: one that is not refused, if there is one of these options."""
        rng = random.Random(seed)
        rows = next((n for one_in, n in ROWS if rng.randrange(one_in) == 0), None)
        law, wanted, pool = None, self.next_pair(seed // 2), None
        if seed % 4 == 1:
            law = rng.choice(laws.LAWS)
            wanted, pool = law.wanted, law.pool + law.wanted
        elif seed % 4 == 3:
            wanted, pool = rng.sample(MODELLED, rng.choice((0, 1))), MODELLED
        for k in range(TRIES):
            last = seed % 2 == 0 and k >= TRIES // 2
            case = Case(rng, self.goes.draw(rng, wanted, wanted if last else pool), rows, law, last)
            if self.run_first(case).status != 2:
                self.count(self.went, case)
                break
            self.count(self.refused, case)
        return case

    @staticmethod
    def count(counter, case):
        names = sorted({u.option.name for u in case.uses})
        counter.update(pair(a, b) for i, a in enumerate(names) for b in names[i + 1:])

    def run_seed(self, seed):
        """None, "unclear", or what is wrong with the case."""
        case = self.draw(seed)
        chosen = ways(case.rng, case, self.nways, self.sets, self.device)
        wrong = self.complaint(case, chosen)
        self.seen["silent: " + case.silent if wrong == "unclear" and not case.law else "status %d" % case.status] += 1
        if case.law:
            self.seen["law: " + case.law.name] += 1
        if wrong in (None, "unclear"):
            return wrong
        if not case.law:
            self.shrink(case, chosen, wrong)
        last = self.complaint(case, chosen)
        if last in (None, "unclear"):
            last = "not every time: " + wrong
        return "seed %d: %s\nsaved in %s" % (seed, last, self.save(seed, case, chosen, wrong))

    def shrink(self, case, chosen, wrong, seconds=20):
        """Takes options off, files, and bytes out of the files, for as long as the case stays wrong in the same way."""
        end, kind = time.monotonic() + seconds, kind_of(wrong)

        def stays_wrong():
            return kind_of(self.complaint(case, chosen)) == kind

        def without_some(whole, set_whole, least=0):
            size = len(whole) // 2 or 1
            while size and time.monotonic() < end:
                at = 0
                while at < len(whole) and time.monotonic() < end:
                    less = whole[:at] + whole[at + size:]
                    set_whole(less if len(less) >= least else whole)
                    if len(less) >= least and stays_wrong():
                        whole = less
                    else:
                        at += size
                set_whole(whole)
                size //= 2
        without_some(case.uses, lambda uses: setattr(case, "uses", uses))
        case.names = [u.option.name for u in case.uses]
        if len(case.files) > 1 and any(way.mode == "files" for way in chosen):
            without_some(case.files, lambda files: setattr(case, "files", files), 1)
        for i, (name, data) in enumerate(case.files):
            without_some(data, lambda less, i=i, name=name: case.files.__setitem__(i, (name, less)))

    def save(self, seed, case, chosen, wrong):
        """Files and a script, `command`, that makes the runs."""
        where = os.path.join(self.here, "fuzz.failed", str(seed))
        os.makedirs(where, exist_ok=True)
        for name, data in list(case.files) + list(case.prepared.items()):
            with open(os.path.join(where, name), "wb") as f:
                f.write(data)
        lines = ["#!/bin/bash", "# GPUSTAT names the program."]
        for way in chosen:
            said = shlex.join(os.fsdecode(a) for a in way.args + case.args(random.Random(1)))
            names = [name for name, _ in case.files]
            if way.packing:
                lines.append("# the files packed: %s" % way.packing)
            if way.mode == "s":
                lines.append("( head -c %d %s; sleep 0.2; tail -c +%d %s ) |" % (len(case.files[0][1]) // 2, names[0],
                                                                               len(case.files[0][1]) // 2 + 1, names[0]))
            given = {"files": " ".join(names), "f": "<" + names[0] if names else "", "p": "<" + "".join(names[:1]), "s": ""}[way.mode]
            if way.mode == "p":
                lines.append("cat %s |" % names[0])
                given = ""
            lines.append("env %s ${GPUSTAT-gpustat} %s %s" % (" ".join(way.env), said, given))
        with open(os.path.join(where, "command"), "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write("\n".join(lines) + "\n" + "".join("# %s\n" % line for line in wrong.split("\n")))
        return where


def kind_of(wrong):
    """What remains of a complaint when its case is cut down."""
    if wrong in (None, "unclear"):
        return wrong
    first, last = wrong.split("\n")[0], wrong.split("\n")[-1]
    return " ".join(last.split()[:2]) if first.startswith("run:") else first


def spell(uses):
    return [arg for u in uses for arg in u.spell()]


def way_of(way):
    return " ".join([*way.env, "stdin %s" % way.mode if way.mode != "files" else "files", way.packing or "plain"])


def describe(r):
    files = "".join("\nleft:   %s %s" % (name, harness.short(data)) for name, data in (r.chunk or {}).items()) if isinstance(r.chunk, dict) else ""
    env = "" if isinstance(r.chunk, dict) else r.chunk
    return harness.describe(r._replace(chunk=None)) + files + (env or "")


def run(fuzzer, seed, cases=None, seconds=None, tell=None, limit=20, step=1, at=None):
    """Runs every step-th seed from `seed` on -> (how many, how many unclear, what is wrong). at(seed) is called before each."""
    end = seconds and time.monotonic() + seconds
    done, unclear, wrong = 0, 0, []
    while (cases is None or done < cases) and (not end or time.monotonic() < end) and len(wrong) < limit:
        if at:
            at(seed + done * step)
        try:
            said = fuzzer.run_seed(seed + done * step)
        except Exception:       # a fault of the models', or the server has ended: the statistic is told all the same
            said = "seed %d: %s" % (seed + done * step, traceback.format_exc())
        unclear += said == "unclear"
        if said not in (None, "unclear"):
            wrong.append(said)
            if tell:
                tell(said)
        done += 1
    return done, unclear, wrong


GRACE_S = 200       # for a job to end after --seconds: it may be cutting a case down
GOES = None         # what the first process has found by trial, for all jobs
SEEDS = None        # which seed each job is at


def job(options, k):
    """The k-th of --jobs -> (cases, runs, unclear, wrong, what was seen, pairs of options that went, that were refused)."""
    fuzzer = Fuzzer(options.serve, options.ways, options.device, GOES)
    cases = options.cases and options.cases // options.jobs + (k < options.cases % options.jobs)
    done, unclear, wrong = run(fuzzer, options.seed + k, cases, options.seconds,
                               lambda said: print(said, flush=True), options.limit, options.jobs,
                               lambda seed: SEEDS.__setitem__(k, seed))
    fuzzer.close()
    return done, fuzzer.server.nruns, unclear, len(wrong), fuzzer.seen, fuzzer.went, fuzzer.refused


def report_pairs(went, refused, tell):
    """How many pairs of options occurred. tell: which ones never did so in a run that was not refused."""
    refusals = [p for p in PAIRS_OF_OPTIONS if p not in went and p in refused]
    never = [p for p in PAIRS_OF_OPTIONS if p not in went and p not in refused]
    print("%d pairs of options: %d occurred in runs that were not refused, %d were always refused, %d never occurred"
          % (len(PAIRS_OF_OPTIONS), len(PAIRS_OF_OPTIONS) - len(refusals) - len(never), len(refusals), len(never)))
    for what, pairs in (("always refused", refusals if tell else ()), ("never occurred", never if tell or len(never) < 50 else ())):
        beside = collections.defaultdict(list)
        for a, b in pairs:
            beside[a].append("%s (%d)" % (b, refused[a, b]) if refused[a, b] else b)
        for name, others in beside.items():
            print("%s: --%s beside %s" % (what, name, ", ".join(others)))


def run_jobs(options):
    """What job() says of each; of one that hangs, that it does."""
    end = options.seconds and time.monotonic() + options.seconds + GRACE_S
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        waits = [pool.apply_async(job, (options, k)) for k in range(options.jobs)]
        for k, wait in enumerate(waits):
            try:
                yield wait.get(end and max(1, end - time.monotonic()))
            except multiprocessing.TimeoutError:
                print("seed %d has not ended: a run of it hangs, or it is long" % SEEDS[k])
                yield 0, 0, 0, 1, *(collections.Counter() for _ in range(3))


def main():
    global GOES, SEEDS
    sys.stdout.reconfigure(errors="backslashreplace")  # command lines have bytes that are no UTF-8
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--serve", required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(5), "big"))
    parser.add_argument("--ways", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=int, default=20, help="how many wrong cases end a job")
    parser.add_argument("--device", help="one more way, with this --device")
    parser.add_argument("--tell", action="store_true",
                        help="say which outcomes there were, where the models are silent, and which pairs were refused always")
    options = parser.parse_args()
    start = time.monotonic()
    first = Fuzzer(options.serve, options.ways)
    first.close()
    GOES, SEEDS = first.goes, multiprocessing.get_context("fork").Array("q", options.jobs)
    print("seeds from %d; which options go together was tried in %.0f s" % (options.seed, time.monotonic() - start), flush=True)
    found = list(run_jobs(options))
    done, runs, unclear, wrong = (sum(f[i] for f in found) for i in range(4))
    seen, went, refused = (sum((f[i] for f in found), collections.Counter()) for i in (4, 5, 6))
    took = time.monotonic() - start
    print("%d cases, %d runs, %d where models and laws are silent, %d wrong; %.0f s, %.0f cases/s"
          % (done, runs, unclear, wrong, took, done / took))
    report_pairs(went, refused, options.tell)
    if options.tell:
        for what, n in seen.most_common():
            print("%7d %s" % (n, what))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
