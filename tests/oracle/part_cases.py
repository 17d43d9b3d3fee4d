# SPDX-License-Identifier: MIT
"""Random tables in several files, random requests, and random trees in which their parts are merged.

What is wanted is what one run over all files prints: the law of parts. That run is compared with models elsewhere.
"""
import os
import random
import re
import zlib

import bgzf_blocks
import harness

KEYS = [b"a", b"b", b"", b'"x,y"', b'"say ""hi"""', b'"two\nlines"', b"\xff\xfe", "\u00e4\u20ac".encode(), b"k" * 20, b"\x01\x7f",
        b"a\\b", b" a", b"404"]
WIDE = [b"1e30", b"-1e-40", b"123456789012345678901234567890.5", b"9e399", b"1e-400", b"-99999999999999999999",
        b"0.00000000000000000000000000000000001"]
WORDS = [b"pear", b"fig", b"2026-01-02", b"2026-01-02T03:04:05", b'"a ""b"""', b"zebra" * 9, b"\xc3", b"7up"]
COLUMNS = ("k", "h", "x", "y", "w", "t", "s")
NUMERIC = ("x", "y", "w")
PLAIN = ("sum", "min", "max", "count", "mean", "range", "first", "last", "var", "var-pop", "stddev", "stddev-pop",
         "sem", "rms", "geomean", "harmonic-mean", "skewness", "skewness-pop", "kurtosis", "kurtosis-pop", "median", "p90", "p99.9", "iqr", "mad")
OF_TEXT = ("count", "first", "last", "count-distinct", "entropy", "mode", "antimode", "text-min", "text-max")
PAIRS = ("cov", "corr", "slope", "wmean")
LETS = (("z", ("x + y", "x * 0.25 - 1", "round(x / 7, 3)", "coalesce(y, 0)", "max(x, y) * min(x, 3)", "abs(w)")),
        ("u", ("upper(k)", "if(x > 0, 'up', h)", "lower(t)", "coalesce(h, 'none')", "if(k == 'a', x, t)", "'one'")),
        ("n", ("length(t)", "epoch(t)", "x / y", "-x", "if(y < 5, 1, 2)", "length(u) + 1")))


def number(rng):
    scale = rng.choice((0, 0, 1, 2, 2, 5))
    x = rng.choice((rng.randrange(-9, 10), rng.randrange(-10 ** 6, 10 ** 6), rng.randrange(10 ** 17)))
    return b"%s%d%s" % (b"-" if x < 0 else b"", abs(x) // 10 ** scale, b".%0*d" % (scale, abs(x) % 10 ** scale) if scale else b"")


def field(rng, name, tame):
    """tame: no value is an error."""
    roll = rng.random()
    if name in "kh":
        return rng.choice(KEYS)
    if name == "t":
        return b"" if roll < 0.1 else rng.choice(WORDS)
    if roll < 0.12:
        return b"NA" if roll < 0.03 else b""
    if name == "w" and roll < 0.4:
        return rng.choice(WIDE)
    if name == "s":
        return rng.choice(WORDS) if roll < 0.3 else number(rng)
    return rng.choice(WORDS) if roll < 0.13 and not tame else number(rng)


class Case:
    """files: (name, bytes) in order; args: of every run; printing: of the run that prints."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.seed, self.printing = seed, []
        self.args = self.request(rng) + ["--missing", "NA", "--header", "yes"]
        tame = rng.random() < 0.7
        kinds = [rng.random() < 0.5 for _ in range(8)]  # whether s is one of numbers, by file
        self.files = []
        mixed = rng.random() < 0.15  # columns in other orders; then no file lacks records
        for i in range(rng.randrange(1, 7)):
            order = list(COLUMNS)
            if mixed:
                rng.shuffle(order)
            rows = [[number(rng) if n == "s" and kinds[i] else field(rng, n, tame) for n in order]
                    for _ in range(rng.choice((1 if mixed else 0, 1, 2, 5, 20, 60)))]
            names = [n.encode() for n in order]
            if rng.random() < 0.1:  # as in files that were joined
                rows.insert(rng.randrange(len(rows) + 1), names)
            text = b"\n".join(b",".join(r) for r in [names] + rows)
            if rng.random() < 0.05 and not mixed:
                text = b",".join(n.encode() for n in order)
            self.files.append(("%d-%d.csv" % (seed, i), text + (b"\n" if rng.random() < 0.9 else b"")))

    def request(self, rng):
        args = []
        kind = rng.randrange(10)
        if kind == 0:
            args = rng.choice(([], ["--all"]))
        elif kind == 1:
            args = ["--" + rng.choice(("cov", "corr")), "*"]
        elif kind == 2:
            args = ["--hist", rng.choice(("x:1e17", "y:1e17"))]
        else:
            made = [(name, rng.choice(of)) for name, of in LETS] if rng.random() < 0.3 else []
            for let in made:
                args += ["--let", " = ".join(let)]
            for _ in range(rng.randrange(1, 5)):
                args += self.operation(rng, bool(made))
            if rng.random() < 0.4:
                args += ["--by", rng.choice(("k", "h,k", "k,h", "t") + (("u", "u,k") if made else ()))]
                self.printing = rng.choice(([], [], ["--top", "3"], ["--sort", "-k"] if "k" in args[-1] else []))
            if rng.random() < 0.2:
                args += ["--where", rng.choice(("x > 0", "k == 'a' or y < 5", "not t contains 'e'") + (("z > 0", "u != 'up'") if made else ()))]
        if rng.random() < 0.6:
            args += ["--invalid", "skip"]
            if rng.random() < 0.2:
                args += ["--max-invalid", rng.choice(("1", "10%", "40%"))]
        if rng.random() < 0.2:
            self.printing = self.printing + ["--format", rng.choice(("json", "csv", "table", "ndjson"))]
        return args

    @staticmethod
    def operation(rng, computed):
        """computed: there are columns of LETS."""
        roll = rng.randrange(10)
        if roll < 5:
            return ["--" + rng.choice(PLAIN), ",".join(rng.sample(NUMERIC + ("z", "n") * computed, rng.randrange(1, 3)))]
        if roll < 7:
            return ["--" + rng.choice(OF_TEXT), rng.choice(COLUMNS + ("z", "u", "n") * computed)]
        if roll == 7:
            return ["--" + rng.choice(PAIRS), rng.choice(("x:y", "y:x", "x:w", "w:y") + ("x:z", "z:y", "n:w") * computed)]
        return rng.choice((["--" + rng.choice(PLAIN), "*"], ["--count-records"], ["--trimmed-mean", rng.choice(("x:0.1", "w,y:0.25"))]))

    def lay_down(self):
        return [harness.fixture(name, data) for name, data in self.files]


def ways(rng):
    """How a run is made: bytes a chunk, which a merge reads at once, and threads."""
    return dict(chunk=rng.choice((None, 1, 7, 100, 1000)), threads=rng.choice((1, 2, 3, 7)))


def make_parts(case, paths):
    """Parts of runs of neighbouring files -> paths of the parts, or the result that failed."""
    rng, parts, at = case.rng, [], 0
    while at < len(paths):
        n = rng.randrange(1, len(paths) - at + 1) if rng.random() < 0.4 else 1
        r = harness.run(case.args + ["--partial"] + paths[at:at + n], **ways(rng))
        if r.status:
            return r
        parts.append(harness.fixture("%d-%d.part" % (case.seed, at), r.out))
        at += n
    return parts


# ---- parts of one file ------------------------------------------------------------------------

def make_ranges(case, path, n):
    """The n parts of one file, each begun inside quotes if the merge of those before says so -> paths, or what failed."""
    parts, quoted = [], set()
    for k in range(1, n + 1):
        name = "%d-r%d.part" % (case.seed, k)
        for entry in ("", ",quoted"):
            r = harness.run(case.args + ["--partial", "--part", "%d/%d%s" % (k, n, entry), path], **ways(case.rng))
            if r.status == 0:
                made = harness.fixture(name, r.out)
                told = harness.run(["--merge", "--partial"] + parts + [made])
                if told.status == 0:
                    break
                if b"write it again with --part %d/%d,quoted" % (k, n) not in told.err:
                    return told
            elif entry or k == 1:
                return r
        else:
            return told
        parts.append(made)
    return parts


def run_ranges(seed):
    """Like run_case, for the parts of one file, plain or BGZF."""
    case = Case(seed)
    case.files = [max(case.files, key=lambda f: len(f[1]))]
    path, = case.lay_down()
    if case.files[0][1] and case.rng.random() < 0.5:
        packed = bgzf_blocks.pack_at_random(case.rng, case.files[0][1], bgzf_blocks.ENDS)
        path = harness.fixture("%d.csv.gz" % seed, packed)
    want = harness.run(case.args + case.printing + [path])
    parts = make_ranges(case, path, case.rng.randrange(1, 9))
    got = parts if not isinstance(parts, list) else merge(case, parts, case.printing)
    right = (want.status, want.out) == (got.status, got.out)
    if right and want.status == 0:
        right = want.err == got.err
    return None if right else complaint(case, want, got)


def merge(case, parts, how=()):
    """Merges the parts in a random tree, which keeps their order -> the last result."""
    rng, n = case.rng, 0
    while len(parts) > 1 and rng.random() < 0.6:
        i = rng.randrange(len(parts) - 1)
        j = rng.randrange(i + 2, len(parts) + 1)
        r = harness.run(["--merge", "--partial"] + parts[i:j], **ways(rng))
        if r.status:
            return r
        n += 1
        parts = parts[:i] + [harness.fixture("%d-m%d.part" % (case.seed, n), r.out)] + parts[j:]
    if len(parts) > 1 and rng.random() < 0.3:  # one behind the other on standard input
        joined = b"".join(open(p, "rb").read() for p in parts)
        return harness.run(["--merge", *how], stdin=joined, **ways(rng))
    return harness.run(["--merge", *how] + parts, **ways(rng))


def complaint(case, want, got):
    return "seed %d: %s\nfiles: %s\nwanted: %s\n%s\ngot: %s\n%s" % (
        case.seed, case.args + case.printing, case.files, want.status, (want.out + want.err).decode("utf-8", "replace"), got.status,
        (got.out + got.err).decode("utf-8", "replace"))


def run_case(seed):
    """None where merging prints what one run prints, else what is wrong."""
    case = Case(seed)
    paths = case.lay_down()
    want = harness.run(case.args + case.printing + paths)
    parts = make_parts(case, paths)
    got = parts if not isinstance(parts, list) else merge(case, parts, case.printing)
    right = (want.status, want.out) == (got.status, got.out)
    if right and want.status == 0:
        right = want.err == got.err
    if not right:
        return complaint(case, want, got)
    for name in os.listdir(harness.folder()):
        if name.startswith("%d-" % seed):
            os.unlink(os.path.join(harness.folder(), name))
    return None


# ---- parts that no program wrote --------------------------------------------------------------

NUMBERS = [b"0", b"1", b"31", b"32", b"62", b"255", b"400", b"401", b"801", b"1201", b"65536", b"1000000", b"4294967295", b"4294967296",
           b"281474976710656", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"18446744073709551615",
           b"99999999999999999999", b"-1", b'"', b"[]", b"{}", b"null", b'"x"', b'"-5"', b'"1e9"', b'"1e8"', b'"%d"' % 10 ** 200]
DIGITS = [n for n in NUMBERS if n[-1:].isdigit()] + [b"9" * n for n in (18, 38, 57, 96, 846, 1692, 3456)] + [b"-" + b"9" * 38, b"9" * 1602 + b"e90"]
MEMBER = re.compile(rb',"[a-z_]+":(\[[^]]*\]|\{[^{}]*\}|\d+|"[^"]*"|true|false)')
REPORT = re.compile(rb"Sanitizer|runtime error:")


def sealed(lines):
    """The lines of a part, with a last line that fits them."""
    body = b"".join(line + b"\n" for line in lines)
    return body + b'{"lines":%d,"crc32":%d}\n' % (len(lines), zlib.crc32(body))


def spoil(rng, lines):
    """Changes a number, some, a digit, a byte, or bytes of a line, takes a member out of it, or doubles it."""
    i = rng.randrange(len(lines)) if rng.random() < 0.8 else 0
    line, kind = lines[i], rng.randrange(7)
    at = rng.randrange(len(line) + 1)
    if kind == 0:
        found = rng.choice(list(re.finditer(rb'-?\d+|"[^"]*"|\[|\]', line)) or [None])
        line = line[:found.start()] + rng.choice(NUMBERS) + line[found.end():] if found else line
    elif kind == 1:
        line = line[:at] + bytes([rng.randrange(11, 256)]) + line[at + rng.randrange(2):]
    elif kind == 2:
        lines.insert(rng.randrange(1, len(lines) + 1), line)
    elif kind == 3:
        for _ in range(rng.randrange(1, 6)):
            found = rng.choice(list(re.finditer(rb"-?\d+(e\d+)?", line)) or [None])
            line = line[:found.start()] + rng.choice(DIGITS) + line[found.end():] if found else line
    elif kind == 4:
        found = rng.choice(list(re.finditer(rb"\d", line)) or [None])
        line = line[:found.start()] + b"%d" % rng.randrange(10) + line[found.end():] if found else line
    elif kind == 5:
        found = rng.choice(list(MEMBER.finditer(line)) or [None])
        line = line[:found.start()] + line[found.end():] if found else line
    else:
        line = line[:at] + line[at + rng.randrange(20):]
    lines[i] = line


def run_hostile(seed):
    """None where spoilt parts with fitting checksums give a result or an error, never a crash."""
    case = Case(seed)
    r = harness.run(case.args + ["--partial"] + case.lay_down()[:2])
    lines = r.out.split(b"\n")[:-2]
    for _ in range(6 if lines else 0):
        spoilt = list(lines)
        for _ in range(case.rng.randrange(1, 3)):
            spoil(case.rng, spoilt)
        r = harness.run(["--merge"] + case.printing, sealed(spoilt), **ways(case.rng))
        if is_wrong(r):
            return "seed %d\n%s" % (seed, harness.describe(r, sealed(spoilt)))
    return None


def is_wrong(r):
    """Did it neither give a result nor an error?"""
    return r.status not in (0, 1, 2) or bool(REPORT.search(r.err))
