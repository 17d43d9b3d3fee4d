# SPDX-License-Identifier: MIT
"""Random hostile tables and requests, hundreds a second, against the models: a library and a program.

    differential.py --serve SERVE [--seconds N] [--cases N] [--seed N] [--ways N] [--jobs N] [--device D]
                    [--features LIST] [--by ONE_IN]

SERVE is tests/fuzz/serve.c, built. --jobs: so many at once, each with seeds of its own. --device: one more way runs
with this --device; it needs a SERVE that was built with CUDA. --features: what may be in a case, of hostile.FEATURES.
--by: one case in so many has groups; 0: none. Without the option, one in four, if the program's --help names --by.

A case is tests/oracle/hostile.py's table, now and then spoiled
by edits that know nothing of CSV, and a request for results or for records. It is run in several
ways: chunks, threads, instruction sets, libraries that inflate, a file or a pipe, plain or packed.
All must say the same, byte for byte; and what the models (oracle.py, oracle_scan.py) say, where they
say anything. A case that fails is cut down and left in fuzz.failed/SEED; the seed alone makes it again.
"""
import argparse
import collections
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
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import harness                                                  # noqa: E402
import hostile                                                  # noqa: E402
import hostile_groups                                           # noqa: E402
import hostile_scan                                             # noqa: E402
import oracle                                                   # noqa: E402
import oracle_groups                                            # noqa: E402
import oracle_scan                                              # noqa: E402
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
PACKED_ONE_IN = 8
INFLATERS = ("own", "zlib")
MANY_ONE_IN = 40        # a table of MANY_ROWS records, mostly packed: enough for several sections of gzip
MANY_ROWS = 800
GROUPS_ONE_IN = 4       # a case of groups (hostile_groups.py)
LARGE_ONE_IN = 250      # of these: LARGE_ROWS records, and perhaps as many groups
LARGE_ROWS = 12000
SPOILED_ONE_IN = 4
BLANK_ONE_IN = 24       # one file more, of nothing but blank lines
BLANKS = (b"", b"\n", b"\r\n", b"\n\n\n", b"\n\r", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n")
LONG_ONE_IN = 400       # a field of 64 KiB to 2 MiB
COLUMNS_FOLDED = 50 * 10 ** 6   # columns times chunks; of a sum, some 30 ns each


class Server:
    """The running program tests/fuzz/serve.c. run() is what harness.run() is."""
    def __init__(self, path):
        env = {k: v for k, v in os.environ.items() if not k.startswith("GPUSTAT")}
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(env, LC_ALL="C"))
        self.nruns = 0

    def run(self, args, stdin, mode="f", env=()):
        texts = [a if isinstance(a, bytes) else os.fsencode(a) for a in args] + [os.fsencode(e) for e in env]
        job = struct.pack("=IIII", len(args), len(env), len(stdin), ord(mode))
        job += b"".join(struct.pack("=I", len(t)) + t for t in texts) + stdin
        self.process.stdin.write(job)
        self.process.stdin.flush()
        status, nout, nerr = struct.unpack("=iII", self._read(12))
        self.nruns += 1
        return harness.Result(status, self._read(nout), self._read(nerr), ["gpustat"] + list(args), " ".join(env) + " " + mode)

    def _read(self, n):
        data = self.process.stdout.read(n)
        if len(data) != n:
            raise RuntimeError("the server has ended: %s" % self.process.wait())
        return data

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- cases ----------------------------------------------------------------------------------

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


class Groups:
    """Which cases have groups. one_in: 0: none. make: what makes their requests."""
    def __init__(self, one_in=0, make=hostile_groups.make_request):
        self.one_in, self.make = one_in, make

    def take(self, seed):
        return self.one_in > 0 and random.Random(-seed).randrange(self.one_in) == 0

    def case(self, rng, seed, rows, features):
        if rng.randrange(LARGE_ONE_IN) == 0:
            rows = LARGE_ROWS
        return hostile.make_case(seed, rows, self.make, features, hostile_groups.prepare)


class Case:
    """What the seed makes: files, request, and the model that judges it."""
    def __init__(self, seed, features=hostile.CHOSEN, groups=Groups()):
        rng = random.Random(seed)
        scans = rng.randrange(2) == 0
        self.many = rng.randrange(MANY_ONE_IN) == 0
        rows = MANY_ROWS if self.many else None
        if groups.take(seed):
            case = groups.case(rng, seed, rows, features)
        else:
            case = hostile.make_case(seed, rows, hostile_scan.make_request if scans else None, features)
        self.seed, self.request, self.files = seed, case.request, case.files
        if rng.randrange(SPOILED_ONE_IN) == 0:
            self.files = [(name, spoil(rng, data)) for name, data in case.files]
        if rng.randrange(BLANK_ONE_IN) == 0:
            self.files.insert(rng.randrange(len(self.files) + 1), ("blank.csv", rng.choice(BLANKS)))
        self.model = oracle_groups if groups.take(seed) else oracle_scan if scans else oracle
        self.piped, self.silent = len(self.files) == 1, "another format"
        self.rng = rng

    def judge(self):
        """The model's judge of results, or None where it is silent."""
        if any(seems_foreign(data) for _, data in self.files):
            return None
        files = [("<stdin>", self.files[0][1])] if self.piped else self.files
        try:
            return self.model.judge(self.request, files)
        except (oracle.Unclear, UnicodeDecodeError) as why:
            self.silent = str(why)
            return None


def least_chunk(files):
    """Chunks of so many bytes take seconds, not minutes: a run takes time for each column of each chunk."""
    return max((len(data) * max(map(data.count, (b",", b";", b"\t", b"|", b" "))) for _, data in files), default=0) // COLUMNS_FOLDED


def ways(rng, case, n, sets, device=None):
    """n ways to run it, and one more on the device: (arguments, environment, mode, packed?)."""
    size = max((len(d) for _, d in case.files), default=0)
    chunks = [1, rng.randrange(2, 9), rng.randrange(2, max(3, min(size, 5000)) + 1), rng.choice((64, 4096, 65536)), None]
    if case.many:
        chunks = [rng.randrange(10, 200), rng.randrange(200, 5000), 65536]
    if size > 100000:
        chunks = [max(rng.choice((100, 1000)), least_chunk(case.files)), 65536, None]
    out = []
    for chunk in rng.sample(chunks, min(n, len(chunks))):
        env = ["GPUSTAT_SIMD=" + rng.choice(sets)]
        if chunk:
            env.append("GPUSTAT_CHUNK_BYTES=%d" % chunk)
        packed = rng.randrange(2 if case.many else PACKED_ONE_IN) == 0
        if packed:
            env.append("GPUSTAT_INFLATE=" + ("own" if case.many else rng.choice(INFLATERS)))
        mode = "f" if case.request.reads_twice() else rng.choice("fp")
        out.append((["--threads=%d" % rng.choice((1, 2, 3, 7))], env, mode, packed))
    if device:
        out.append((["--device=" + device, *out[0][0]], *out[0][1:]))
    return out


def member(rng, data):
    """A gzip member: short blocks, long ones or stored ones. Several threads decode it where chunks are short."""
    z = zlib.compressobj(rng.choice((0, 1, 6)), zlib.DEFLATED, 31, rng.choice((1, 1, 2, 8)))
    return z.compress(data) + z.flush()


def pack(rng, data):
    cut = rng.choice((0, 0, rng.randrange(len(data) + 1)))
    return (member(rng, data[:cut]) if cut else b"") + member(rng, data[cut:])


class Fuzzer:
    def __init__(self, serve, nways, features=hostile.CHOSEN, device=None, one_in=GROUPS_ONE_IN):
        self.server, self.nways, self.features, self.device = Server(serve), nways, features, device
        self.seen = collections.Counter()
        self.folder = tempfile.mkdtemp(prefix="gpustat-fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.sets = [s for s in ("avx512", "avx2", "neon", "portable")
                     if self.server.run(["--version"], b"", "f", ["GPUSTAT_SIMD=" + s]).status == 0]
        self.here = os.getcwd()
        said = self.server.run(["--help"], b"").out
        make = hostile_groups.make_request if hostile_groups.runs_offered(said) else hostile_groups.make_results
        self.groups = Groups(one_in if hostile_groups.offered(said) else 0, make)

    def close(self):
        self.server.close()
        shutil.rmtree(self.folder, True)

    def run_way(self, case, way):
        args, env, mode, packed = way
        rng = random.Random(case.seed)
        files = [(name, pack(rng, data) if packed and not seems_packed(data) else data) for name, data in case.files]
        if case.piped:
            return self.server.run(args + case.request.args(), files[0][1], mode, env)
        for name, data in files:
            with open(os.path.join(self.folder, name), "wb") as f:
                f.write(data)
        paths = [os.path.join(self.folder, name) for name, _ in files]
        r = self.server.run(args + case.request.args() + paths, b"", mode, env)
        where = os.fsencode(self.folder + "/")
        return r._replace(err=r.err.replace(where, b""))

    def complaint(self, case, chosen):
        """None, "unclear", or what is wrong."""
        results = [self.run_way(case, way) for way in chosen]
        results = [r._replace(err=FOREIGN.sub(b": not CSV", r.err)) for r in results]
        case.status = results[0].status
        for r in results:
            if r.status not in (0, 1, 2):
                return "status %s\n%s" % (r.status, harness.describe(r))
        if len({(r.status, r.out, r.err) for r in results}) > 1:
            return "the ways differ:\n" + "\n".join(harness.describe(r) for r in results)
        right = case.judge()
        if b": not CSV" in results[0].err and any(ODD.search(data) for _, data in case.files):
            right, case.silent = None, "another format"
        if not right:
            return "unclear"
        try:
            said = right(results[0])
        except ValueError as e:
            said = "not JSON: %s" % e
        return said and "%s\n%s" % (harness.describe(results[0]), said)

    def run_seed(self, seed):
        """None, "unclear", or what is wrong with the case."""
        case = Case(seed, self.features, self.groups)
        chosen = ways(case.rng, case, self.nways, self.sets, self.device)
        wrong = self.complaint(case, chosen)
        self.seen["silent: " + case.silent if wrong == "unclear" else "status %d" % case.status] += 1
        if wrong in (None, "unclear"):
            return wrong
        self.shrink(case, chosen)
        return "seed %d: %s\nsaved in %s" % (seed, self.complaint(case, chosen), self.save(case, chosen))

    def shrink(self, case, chosen, seconds=10):
        """Takes bytes out of the files for as long as the case stays wrong."""
        end = time.monotonic() + seconds
        for i, (name, _) in enumerate(case.files):
            size = len(case.files[i][1]) // 2
            while size and time.monotonic() < end:
                at = 0
                while at < len(case.files[i][1]) and time.monotonic() < end:
                    before = case.files[i]
                    case.files[i] = (name, before[1][:at] + before[1][at + size:])
                    if self.complaint(case, chosen) in (None, "unclear"):
                        case.files[i] = before
                        at += size
                size //= 2

    def save(self, case, chosen):
        where = os.path.join(self.here, "fuzz.failed", str(case.seed))
        os.makedirs(where, exist_ok=True)
        for name, data in case.files:
            with open(os.path.join(where, name), "wb") as f:
                f.write(data)
        with open(os.path.join(where, "command"), "w", encoding="utf-8", errors="surrogateescape") as f:
            for args, env, mode, packed in chosen:
                said = shlex.join(os.fsdecode(a) for a in args + case.request.args())
                f.write("%s gpustat %s %s %s%s\n" % (" ".join(env), said, "" if mode == "f" else "# a pipe",
                                                     " ".join(n for n, _ in case.files), " # packed" if packed else ""))
        return where


def run(fuzzer, seed, cases=None, seconds=None, tell=None, limit=20):
    """Runs seeds from `seed` on -> (how many, how many unclear, what is wrong)."""
    end = seconds and time.monotonic() + seconds
    done, unclear, wrong = 0, 0, []
    while (cases is None or done < cases) and (not end or time.monotonic() < end) and len(wrong) < limit:
        said = fuzzer.run_seed(seed + done)
        unclear += said == "unclear"
        if said not in (None, "unclear"):
            wrong.append(said)
            if tell:
                tell(said)
        done += 1
    return done, unclear, wrong


STRIDE = 10 ** 7    # seeds between two jobs


def job(options, k):
    """The k-th of --jobs -> (cases, runs, unclear, wrong, what was seen)."""
    fuzzer = Fuzzer(os.path.abspath(options.serve), options.ways, options.features, options.device, options.by)
    cases = options.cases and options.cases // options.jobs + (k < options.cases % options.jobs)
    done, unclear, wrong = run(fuzzer, options.seed + k * STRIDE, cases, options.seconds,
                               lambda said: print(said, flush=True), options.limit)
    fuzzer.close()
    return done, fuzzer.server.nruns, unclear, len(wrong), fuzzer.seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--serve", required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(6), "big"))
    parser.add_argument("--ways", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=20, help="how many wrong cases end a job")
    parser.add_argument("--device", help="one more way, with this --device")
    parser.add_argument("--features", type=lambda text: frozenset(text.split(",")), default=hostile.CHOSEN)
    parser.add_argument("--by", type=int, default=GROUPS_ONE_IN, help="one case in so many has groups; 0: none")
    parser.add_argument("--tell", action="store_true", help="say which outcomes there were, and where the models are silent")
    options = parser.parse_args()
    start = time.monotonic()
    print("seeds from %d" % options.seed, flush=True)
    with multiprocessing.Pool(options.jobs) as pool:
        found = pool.starmap(job, [(options, k) for k in range(options.jobs)], 1)
    done, runs, unclear, wrong = (sum(f[i] for f in found) for i in range(4))
    took = time.monotonic() - start
    print("%d cases, %d runs, %d where the models are silent, %d wrong; %.0f s, %.0f cases/s"
          % (done, runs, unclear, wrong, took, done / took))
    if options.tell:
        for what, n in sum((f[4] for f in found), collections.Counter()).most_common():
            print("%7d %s" % (n, what))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
