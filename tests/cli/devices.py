# SPDX-License-Identifier: MIT
"""The answer never depends on the device: --device gpu and --device cpu print the same bytes.

Without a usable GPU every test here skips with the program's own reason.
"""
import gzip
import os
import random
import re
import zlib

import harness
import hostile
import hostile_request
import oracle
from csv_cases import GOOD
from packed_text import bgzip

SEED = 7


def reason_to_skip():
    r = harness.run(["--device", "gpu", "--sum=1"], b"1\n")
    if r.status != 0 and b"no usable GPU" in r.err:
        return r.err.decode("utf-8", "replace").strip().split("\n")[-1]
    return None


def same(name, args, stdin, ways, want=None, files=(), gpu="gpu"):
    """One TAP line, printed later: for each way (chunk, threads) both devices give the same status and bytes.

    want: a judge as for harness.agrees(), or None where being equal is all that is asked.
    """
    args = list(args) + list(files)
    def verdict(results):
        complaints = []
        for on_cpu, on_gpu in zip(results[::2], results[1::2]):
            if (on_cpu.status, on_cpu.out, on_cpu.err) != (on_gpu.status, on_gpu.out, on_gpu.err):
                complaints.append("the devices differ\n%s\n%s" % (harness.describe(on_cpu, stdin), harness.describe(on_gpu)))
            elif want and want(on_gpu):
                complaints.append(harness.describe(on_gpu, stdin) + "\n" + want(on_gpu))
        harness.ok(not complaints, name, lambda: "%d of %d\n%s" % (len(complaints), len(ways), complaints[0]))
    harness.run_meanwhile([dict(args=args, stdin=stdin, chunk=c, threads=t, device=d) for c, t in ways for d in ("cpu", gpu)], verdict)


def damaged(name, rng, good, n, **how):
    """One TAP line: of n files of which one bit is wrong, both devices say the same."""
    jobs = []
    for i in range(n):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        path = harness.fixture("damaged.%d.gz" % i, bytes(bad))
        jobs += [dict(args=["--sum=*", path], device=d, **how) for d in ("cpu", "gpu")]
    results = harness.run_many(jobs)
    wrong = ["%s\n%s" % (harness.describe(on_cpu), harness.describe(on_gpu)) for on_cpu, on_gpu in zip(results[::2], results[1::2])
             if (on_cpu.status, on_cpu.out, on_cpu.err) != (on_gpu.status, on_gpu.out, on_gpu.err)]
    harness.ok(not wrong, name, lambda: "%d: %s" % (len(wrong), wrong[0]))


def check_cases():
    rng = random.Random(SEED)
    for case in GOOD:
        ways = [(None, None), (rng.choice((1, 2, 3)), rng.choice((1, 2, 3)))]
        same("good: " + case.name, case.request.args(), case.data, ways, harness.exactly(case.want))


def check_hostile():
    done, seed = 0, 5000
    while done < 60:
        seed += 1
        case = hostile_request.make_case(seed, None if done % 3 else 400)
        if len(case.files) > 1:
            continue
        data = case.files[0][1]
        try:
            judge = oracle.judge(case.request, data)
            same("hostile table, seed %d" % seed, case.args(), data if done % 5 else gzip.compress(data),
                 [(None, None), ((7, 64, 333, 4096)[done % 4], 2)], judge)
            done += 1
        except oracle.Unclear:
            continue


def table(rng, rows, kinds):
    lines = [",".join("c%d" % (k + 1) for k in range(len(kinds)))]
    for i in range(rows):
        lines.append(",".join(field(rng, kind, i) for kind in kinds))
    return ("\n".join(lines) + "\n").encode()


def field(rng, kind, i):
    if kind == "text":
        return rng.choice(("plain", '"a,b"', '"line\nbreak"', '"say ""hi"""', '12" disk', ""))
    if kind == "holes":
        return "" if rng.randrange(3) else str(i)
    if kind == "seldom wide":
        return "1e%d" % rng.randrange(20, 300) if rng.randrange(500) == 0 else str(i)
    return hostile.number_text(rng, kind)


def check_tables():
    """Tables of some hundred KiB: many chunks, several tiles in each, both paths of numbers."""
    rng = random.Random(SEED)
    usual = [(None, None), (4096, 2), (65536, 3), (1000, 1)]
    every = ["--%s=*" % o for o in oracle.ON_DEVICE]
    for kinds in (["small"], ["int"], ["decimal"], ["edge"], ["zeros"], ["exponent"], ["wide"], ["holes", "holes"],
                  ["seldom wide", "int"], ["text", "decimal", "text", "int"], ["decimal"] * 40,
                  ["int", "text"] * 20, ["small"] * 300):
        rows = max(30, 12000 // len(kinds)) if kinds != ["wide"] else 2000
        data = table(rng, rows, kinds)
        name = "%d × %d of %s" % (rows, len(kinds), "/".join(sorted(set(kinds))))
        same("all operations: " + name, every, data, usual)
        same("the summary: " + name, ["--format=csv"], data, usual[:2])
        same("gzip: " + name, every, gzip.compress(data, 1), usual[:2])
    bits = table(rng, 20000, ["int", "text", "decimal"])
    path = harness.fixture("bits.csv", bits)
    same("a regular file", ["--sum=*", path], None, usual)
    same("several files", ["--sum=*", path, path, harness.fixture("bits.csv.gz", gzip.compress(bits)), "-"], bits, usual)
    other = harness.fixture("other.csv", bits.replace(b"c1,c2,c3", b"c3,new,c1", 1))
    same("several files, another order", ["--sum=c1,c3", "--max=1", path, other, path], None, usual)
    same("several files, another order, packed", ["--count=c3", other, harness.fixture("other.csv.gz", gzip.compress(bits))], None, usual)
    same("several files, another order, records", ["--only", "--cumsum=c1,c3", "--where", "c1 > 5", path, other, path], None, usual)
    same("missing spellings", ["--sum=1", "--count=1", "--missing=NA,-"], b"n\n" + b"1\nNA\n-\n5\n" * 5000, usual)
    same("invalid values skipped", ["--sum=1,2", "--invalid=skip"], b"n,m\n" + b"1,2\nx,3\n4\n5,y\n" * 5000, usual)
    same("an error far away", ["--sum=2"], b"n,m\n" + b"1,2\n" * 30000 + b"1,oops\n" + b"1,2\n" * 30000 + b"1,later\n", usual)
    same("a short record far away", ["--sum=2"], b"n,m\n" + b"1,2\n" * 30000 + b"1\n" + b"1,x\n" * 3, usual)
    same("an open quote far away", ["--sum=1"], b"n,m\n" + b"1,2\n" * 30000 + b'1,"\n' + b"1,x\n" * 300, usual)
    same("out of range far away", ["--sum=2"], b"n,m\n" + b"1,2\n" * 30000 + b"1,1e400\n", usual)
    long = b"n,t,m\n1,\"" + b"x,\n\"\"" * 500000 + b"\",2\n3,short,4\n"
    same("a record of megabytes", ["-H", "--sum=1,3"], long, [(None, None), (65536, 2)], harness.exactly("sum(n),sum(m)\n4,6\n"))
    same("blank lines only", ["--count=1"], b"\n" * 70000, usual, harness.exactly("0\n"))
    same("many short records", ["--sum=1", "--count=1"], b"1\n" * 300000, usual[:3],
         harness.exactly("sum(col1),count(col1)\n300000,300000\n"))
    same("delimiters only", ["-N", "--count=70", "--sum=101"], (b"," * 100 + b"5\n") * 2000, usual,
         harness.exactly("count(col70),sum(col101)\n0,10000\n"))


def uneven(rng, rows, nfields):
    """Records of which one in twenty has another number of fields than the header."""
    lines = [",".join("c%d" % (k + 1) for k in range(nfields))]
    for i in range(rows):
        n = nfields if rng.randrange(20) else rng.choice((0, 1, nfields - 1, nfields + 1, nfields + 3))
        end = rng.choice(("", ",", "\r")) if rng.randrange(20) == 0 else ""
        lines.append(",".join(str(rng.randrange(1000)) for _ in range(n)) + end)
    return ("\n".join(lines) + "\n").encode()


RAGGED = [["--ragged", "error"], ["--ragged", "extra"], ["--ragged", "allow"], ["--invalid", "skip"],
          ["--invalid", "skip", "--ragged", "extra"]]
ASKED = [["--sum=*", "--max=*", "--count=3"], ["--sum=1"], ["--sum=1", "--count-records"], ["--count-records"],
         ["--cumsum=3", "--byte-offset"], ["--byte-offset", "--only"], ["--where", "c2 > 500"],
         ["--where", "c3 is missing", "--sum=1", "--count-records"]]


def check_ragged():
    """Records with too few and too many fields, and what is behind quotes: the same answer or the same error."""
    rng = random.Random(SEED)
    usual = [(None, None), (4096, 2), (30011, 3)]
    plain = b"a,b,c\n" + b"1,2,3\n" * 30000
    mixed = uneven(rng, 20000, 3)
    for asked in ASKED:
        for policy in RAGGED:
            same("ragged: %s" % " ".join(asked + policy), asked + policy, mixed, usual)
    same("ragged: the summary", ["--format=csv"], mixed, usual)
    for name, inside in (("long, then short", b"1,2,3,4\n" + b"1,2,3\n" * 40 + b"1,2\n"),
                         ("short, then long", b"1,2\n" + b"1,2,3\n" * 40 + b"1,2,3,4\n"),
                         ("short, then no number", b"1,2\n1,2,x\n"), ("no number, then short", b"1,2,x\n1,2\n"),
                         ("stray text", b'"1" x,2,3\n'), ("stray text, then short", b'1,"2"x,3\n1,2\n'),
                         ("short, then stray text", b'1,2\n1,"2"x,3\n'), ("a stray CR", b'1,2,"3"\rx\n'),
                         ("stray text in quotes", b'1,"2,""x"" ""y",3\n'), ("quotes and CR LF", b'1,2,"3"\r\n' * 9),
                         ("a NUL", b"1,2,3\0\n"), ("a NUL in text", b"1,te\0xt,3\n"),
                         ("a long record of megabytes", b'1,"' + b"x,\n" * 400000 + b'",3,4\n'),
                         ("a short record of megabytes", b'1,"' + b"x,\n" * 400000 + b'"\n')):
        for args in (["--sum=1"], ["--sum=1,3", "--count=2"], ["--sum=1", "--invalid=skip"],
                     ["--cumsum=1", "--ragged=allow"], ["--sum=1", "--ragged=allow", "--count=2"]):
            same("far away: %s, %s" % (name, " ".join(args)), args, plain + inside + plain[6:], usual)
    quoted = b"a,b,c\n" + b"1,'2,\n''x\"',3\n4,it's,'6'\r\n" * 20000
    same("another quote", ["--sum=*", "--count=2", "--quote", "'"], quoted, usual,
         harness.exactly("sum(a),sum(c),count(b)\n100000,180000,40000\n"))
    same("another quote: stray text", ["--sum=1", "--quote", "'"], quoted + b"1,'2'x,3\n" + quoted[6:], usual)
    bare = b"a,b,c\n" + b'1,5" disk,3\n4,"six,6\n' * 20000
    same("no quotes", ["--sum=1,3", "--count=2", "--quote", "none"], bare, usual,
         harness.exactly("sum(a),sum(c),count(b)\n100000,180000,40000\n"))
    for quote in ("'", "none"):
        r = harness.run(["--verbose", "--sum=1", "--quote", quote], bare, device="gpu")
        harness.ok(b"GPU only" in r.err, "--quote %s on the GPU" % quote, lambda: harness.describe(r))
    ends = b"a,b,c\n" + b"1,2,3,\n4,5,6,\r\n" * 20000
    same("delimiters at line ends", ["--sum=*"], ends, usual, harness.exactly("sum(a),sum(b),sum(c)\n100000,140000,180000\n"))
    ends = b"a,b,\n" + b"1,2,\n4,5\n" * 20000
    same("a name less", ["--sum=1,2"], ends, usual, harness.exactly("sum(a),sum(b)\n100000,140000\n"))


PACKING = [(20000, 12), (65536, 12), (200000, 13)]  # chunk, threads: they pack what they read


def check_packed():
    """Files of numbers are copied up as nibbles if 12 threads or more read them: the answer is the same, whatever else
    they contain."""
    rng = random.Random(SEED)
    every = ["--%s=*" % o for o in oracle.ON_DEVICE]
    numbers = table(rng, 150000, ["int", "decimal", "holes"]).replace(b"e", b"").replace(b"E", b"")
    middle = numbers.index(b"\n", len(numbers) // 2) + 1
    for name, inside in (("numbers", b""), ("a field in quotes", b'"1",2,3\n'), ("a blank", b"1, 2,3\n"),
                         ("an exponent", b"1e3,2,3\n"), ("a number of 300 digits", b"7" * 300 + b",2,3\n"),
                         ("no number", b"1,2-3,4\n"), ("text", b"1,two,4\n"), ("a short record", b"1\n"),
                         ("a long record", b"1,2,3,4\n"), ("a delimiter at the end", b"1,2,3,\n"),
                         ("CRLF", b"1,2,3\r\n"), ("a record of 200 kB", b"1,2," + b"5" * 200000 + b"\n"),
                         ("an open quote", b'1,2,"3\n'), ("blank lines", b"\n" * 100000)):
        path = harness.fixture("packed.%s.csv" % name, numbers[:middle] + inside + numbers[middle:])
        same("packed: " + name, every, None, PACKING, files=[path], gpu="gpu:0")
        same("packed, all allowed: " + name, every + ["--ragged", "allow"], None, PACKING, files=[path], gpu="gpu:0")
    r = harness.run(["--verbose", "--sum=1", path], chunk=65536, threads=12, device="gpu:0")
    harness.ok(b"that pack" in r.err, "packed: they are", lambda: harness.describe(r))
    # A plus has the low half of a semicolon.
    path = harness.fixture("packed.csv", numbers.replace(b"+", b"").replace(b",", b";")[:-1])
    same("packed: another delimiter, three files", every + ["-d", ";"], None, PACKING, files=[path] * 3,
         gpu="gpu:0")
    r = harness.run(["--verbose", "--sum=1", path, "-d", ";"], chunk=65536, threads=12, device="gpu:0")
    harness.ok(b"that pack" in r.err, "packed: with another delimiter, too", lambda: harness.describe(r))
    want = harness.run(every + [path, "-d", ";"], device="cpu")
    jobs = [dict(faulty(k, every + [path, "-d", ";"], None, 12), chunk=65536, device="gpu:0")
            for k in ["%d%s" % (rng.randrange(1, 600), rng.choice(("", "+"))) for _ in range(24)]]
    results = harness.run_many(jobs)
    wrong = [r for r in results if (r.status, r.out) != (want.status, want.out) or warned_twice(r)]
    nfailed = sum(FAILED in r.err for r in results)
    harness.ok(not wrong and nfailed > 9, "GPU faults while text is packed: %d" % nfailed,
               lambda: harness.describe(wrong[0]) if wrong else "it hardly failed")


def check_blocks():
    """BGZF goes up packed and is decoded on the device. Damage there is the CPU's to tell."""
    rng = random.Random(SEED + 3)
    text = table(rng, 30000, ["int", "text", "decimal", "quoted"])
    requests = (["--sum=*", "--max=*"], ["--stddev=1,3"], ["--where=c1 > 0", "--sum=3"], ["--cumsum=1,3"], ["--where=c1 > 0"],
                ["--median=1"])
    for size, level, strategy in ((65280, 6, 0), (65536, 9, 0), (700, 1, 0), (40000, 0, 0), (3000, 6, zlib.Z_FIXED),
                                  (50000, 6, zlib.Z_HUFFMAN_ONLY)):
        path = harness.fixture("packed.%d.%d.gz" % (size, strategy), bgzip(text, size, level, strategy))
        for args in requests:
            same("blocks of %d, level %d: %s" % (size, level, " ".join(args)), args, None,
                 [(None, None), (1000000, 3), (300000, 2), (5000, 1)], files=[path])
    good = bgzip(text, 20000)
    mixed = good + gzip.compress(text.partition(b"\n")[2]) + bgzip(text.partition(b"\n")[2], 9000)
    same("blocks, a member, blocks", ["--sum=*"], None, [(None, None), (300000, 3)], files=[harness.fixture("mixed.gz", mixed)])
    damaged("150 damaged files: what the CPU says", rng, good, 150, threads=1)
    path, complaints = harness.fixture("packed.gz", bgzip(text, 20000)), []
    want = harness.run(["--sum=*", path], device="cpu")
    jobs = [dict(faulty("%d%s" % (k, how), ["--sum=*", path], None, 3), chunk=300000) for k in range(1, 80) for how in ("", "+")]
    for job, r in zip(jobs, harness.run_many(jobs)):
        if (r.status, r.out) != (want.status, want.out) or warned_twice(r):
            complaints.append("fault %s: %s" % (job["gpu_fault"], harness.describe(r)))
    harness.ok(not complaints, "GPU faults while blocks are decoded: %d" % len(jobs), lambda: complaints[0])


def member(text, level, strategy=0):
    """One gzip member."""
    z = zlib.compressobj(level, zlib.DEFLATED, 31, 8, strategy)
    return z.compress(text) + z.flush()


DECODED = b"decoded by a GPU"


def decoded(path, chunk):
    """Whether the GPU decodes some of the file."""
    return DECODED in harness.run(["--sum=1", "--verbose", path], chunk=chunk, threads=3, device="gpu").err


def check_members():
    """A long member is decoded in sections on the device, whose chunks are small for this test: what it cannot, and
    damage, is left to the CPU."""
    rng = random.Random(SEED + 5)
    text = table(rng, 60000, ["int", "text", "decimal", "quoted"])
    body = text.partition(b"\n")[2]
    ways = [(100000, 3), (300000, 2)]
    for level, strategy in ((1, 0), (6, 0), (9, 0), (6, zlib.Z_HUFFMAN_ONLY), (0, 0), (6, zlib.Z_FIXED)):
        path = harness.fixture("member.%d.%d.gz" % (level, strategy), member(text, level, strategy))
        for args in (["--sum=*", "--max=*"], ["--where=c1 > 0", "--sum=3"], ["--cumsum=1,3"], ["--median=1"])[:4 if level == 6 else 1]:
            same("a member, level %d, strategy %d: %s" % (level, strategy, " ".join(args)), args, None, ways, files=[path])
        if level and strategy != zlib.Z_FIXED:
            harness.ok(decoded(path, 100000), "... which the GPU decodes")
    good, path = member(text, 6), harness.fixture("member.gz", member(text, 6))
    for name, data in (("two members", good + member(body, 9)), ("a member, blocks", good + bgzip(body, 20000)),
                       ("blocks, a member", bgzip(text, 20000) + member(body, 6)), ("small members", good + gzip.compress(body[:5000]) * 9),
                       ("cut off", good[:len(good) * 2 // 3]), ("no trailer", good[:-8]), ("half a trailer", good[:-3]),
                       ("another length", good[:-1] + b"\x55"), ("trailing bytes", good + b"text"), ("padding", good + bytes(999)),
                       ("a name", b"\x1f\x8b\x08\x08" + good[4:10] + b"name\0" + good[10:]),
                       ("runs", member(text + b"1,x,2,y\n" * 400000 + body, 6))):
        same("a long member: " + name, ["--sum=*"], None, ways, files=[harness.fixture("member.%s.gz" % name, data)])
    same("a long member: twice", ["--sum=*"], None, ways, files=[path, path])
    damaged("60 damaged members: what the CPU says", rng, good, 60, threads=2, chunk=100000)
    want, complaints = harness.run(["--sum=*", path], device="cpu"), []
    jobs = [dict(faulty("%d%s" % (k, how), ["--sum=*", path], None, 3), chunk=300000) for k in range(1, 200, 7) for how in ("", "+")]
    results = harness.run_many(jobs)
    for job, r in zip(jobs, results):
        if (r.status, r.out) != (want.status, want.out) or warned_twice(r):
            complaints.append("fault %s: %s" % (job["gpu_fault"], harness.describe(r)))
    harness.ok(not complaints and sum(FAILED in r.err for r in results) > 20, "GPU faults while a member is decoded: %d" % len(jobs),
               lambda: complaints[0] if complaints else "it hardly failed")


def let_operand(rng, columns, depth):
    """A random expression of --let that GPUs compute."""
    kind = rng.randrange(10) if depth else rng.randrange(4)
    inner = [let_operand(rng, columns, depth - 1) for _ in range(2)] if kind > 3 else []
    if kind < 3:
        return rng.choice(columns)
    if kind == 3:
        return rng.choice(("2", "0.5", "1.25", "1000000", "0"))
    if kind < 7:
        return "(%s %s %s)" % (inner[0], rng.choice("+-*"), inner[1])
    if kind == 7:
        return rng.choice(("abs(%s)", "-%s", "round(%s, 1)", "round(%s, 3)")) % inner[0]
    if kind == 8:
        return "%s(%s, %s)" % (rng.choice(("min", "max", "coalesce")), *inner)
    return "if(%s, %s + 0, %s + 0)" % (let_condition(rng, columns), *inner)


def let_condition(rng, columns):
    return rng.choice(("%s > 3", "%s is missing", "%s <= 2.5 or c1 = 0", "%s < c1", "%s is number",
                       "%s between -10 and 100")) % rng.choice([c for c in columns if c.startswith("c")])


def check_lets():
    """Columns of --let, and conditions on them: numbers of the fast path, and what only CPUs compute."""
    rng = random.Random(SEED + 4)
    plain, mixed = table(rng, 3000, ["int", "decimal", "holes"]), table(rng, 3000, ["int", "wide", "text"])
    verbose = []
    for i in range(60):
        columns, args = ["c1", "c2", "c3"], []
        for k in range(rng.randrange(1, 4)):
            args += ["--let", "x%d = 0 + %s" % (k, let_operand(rng, columns, 3))]
            columns.append("x%d" % k)
        args += ["--sum", columns[-1], "--max", rng.choice(columns), "--invalid=skip"]
        if rng.randrange(2):
            args += ["--where", rng.choice(("%s > 3", "%s is not missing")) % rng.choice(columns)]
        if rng.randrange(5) == 0:
            args = [a if a != "--sum" and a != "--max" else "--cumsum" for a in args]
        data = rng.choice((plain, plain, mixed))
        verbose.append(dict(args=args + ["--verbose"], stdin=data, device="gpu"))
        same("computed columns: " + " ".join(args), args, data, [(None, None), (5000, 3)])
    on_gpu = sum(b"GPU only" in r.err for r in harness.run_many(verbose))
    harness.ok(on_gpu > 30, "computed columns: %d of 60 on the GPU" % on_gpu, "few")


def check_auto():
    """--device auto must give the same, too, and says with --verbose what ran."""
    data = table(random.Random(SEED), 20000, ["int", "text", "decimal"])
    cpu = harness.run(["--sum=*", "--mean=*"], data, device="cpu")
    auto = harness.run(["--sum=*", "--mean=*"], data, device="auto")
    harness.is_((auto.status, auto.out), (cpu.status, cpu.out), "--device auto gives the same bytes")
    r = harness.run(["--sum=1", "--verbose"], b"1\n2\n", device="gpu")
    harness.ok(r.status == 0 and r.out == b"3\n" and b"gpu" in r.err.lower(), "--verbose names the GPU",
               lambda: harness.describe(r))
    check_gpu_alone()


def check_parts():
    """The bytes of parts and of states; what a GPU keeps to itself is in neither."""
    rng = random.Random(SEED)
    rows = [b"%s,%s,%s" % (rng.choice((b"1", b"-2.5", b"2.50", b"1e30", b"100000000000000000", b"1e-31", b"", b"0.0")), b"%d" % rng.randrange(10 ** 6),
                           rng.choice((b"a", b"b", b""))) for _ in range(3000)]
    data = b"a,d,k\n" + b"\n".join(rows) + b"\n"
    path = harness.fixture("kept.csv", data)
    for args in (["--sum=a,d"], ["--min=a", "--max=d"], ["--var=a,d"], ["--by=k", "--mean=a", "--stddev=d"], ["--by=k", "--range=a", "--count=d"],
                 ["--median=d"], ["--count-distinct=d,a"], [], ["--by=d", "--sum=a"], ["--sum=a", "--where=d > 500000"]):
        same("a part: " + " ".join(args), ["-H"] + args + ["--partial"], None, [(None, 2), (1000, 3)], files=[path])
        states = []
        for device in ("cpu", "gpu"):
            state = os.path.join(harness.folder(), "devices.state")
            r = harness.run(["-H"] + args + ["--save-state", state, path], device=device)
            with open(state, "rb") as f:
                states.append((r.status, r.out, f.read()))
            os.unlink(state)
        harness.ok(states[0] == states[1], "a state: " + " ".join(args), lambda states=states: "\n".join(repr(s)[:2000] for s in states))


def check_gpu_alone():
    """Beside one CPU thread, a GPU surely ends sooner where different values of 320 MB are counted: no CPU begins."""
    data = b"id,value\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 65537) for i in range(2000000))
    files = [harness.fixture("long.csv", data)] * 12
    args = ["--count-distinct=value", "--median=value", *files]
    cpu = harness.run(args, None, device="cpu")
    auto = harness.run(args + ["--verbose"], None, device="auto", threads=1)
    harness.ok((auto.status, auto.out) == (cpu.status, cpu.out) and b"the CPUs would surely take longer" in auto.err,
               "--device auto takes the GPU alone", lambda: harness.describe(auto))
    faults = ("1+", "2+", "5", "40")
    jobs = [dict(args=args, device="auto", threads=1, gpu_fault=fault) for fault in faults]
    for fault, r in zip(faults, harness.run_many(jobs)):
        harness.ok((r.status, r.out) == (cpu.status, cpu.out) and r.err.count(b"\n") <= 1,
                   "... which fails at its call %s" % fault, lambda: harness.describe(r))


FAILED = b"the CPU has done its work"


def warned_twice(r):
    """Whether there are two warnings of one GPU: of several GPUs, each may fail."""
    gpus = re.findall(rb"warning: (gpu:[0-9]+) [^\n]*" + FAILED, r.err)
    return len(set(gpus)) < r.err.count(FAILED)


def grouped(rng, rows, nkeys, wide=1000):
    """A table to be grouped: some keys that are empty, quoted, long or like another; one in `wide` numbers is wide."""
    lines = ["key,kind,n,x"]
    for i in range(rows):
        key = "%s%d" % (rng.choice(("", "a key with more bytes than are kept in line; ")), rng.randrange(nkeys))
        key = rng.choice((key, key, key, "", '"%s"' % key, '"%s, ""it"""' % key if rng.randrange(20) == 0 else key))
        number = "1e%d" % rng.randrange(20, 40) if rng.randrange(wide) == 0 else str(rng.randrange(-10 ** 9, 10 ** 9))
        lines.append("%s,%s,%s,%s" % (key, rng.choice("ab"), rng.choice((number, number, "")), hostile.number_text(rng, "decimal")))
    return ("\n".join(lines) + "\n").encode()


def answered(result):
    return None if result.status == 0 else "there is no answer"


def check_groups():
    """Groups that a GPU keeps: of files, since those of a pipe are the CPUs'. Then with hardly any room for them."""
    rng = random.Random(SEED)
    usual = [(None, None), (4096, 2), (1000, 3)]
    results = ["--count-records", "--sum=n,x", "--min=n", "--max=x", "--stddev=x", "--count=kind"]
    for rows, nkeys in ((1, 1), (9000, 5), (9000, 9000)):
        path = harness.fixture("grouped.%d.%d.csv" % (rows, nkeys), grouped(rng, rows, nkeys))
        for by in ("key", "kind,key", "x"):
            same("%d records of %d keys, by %s" % (rows, nkeys, by), ["--by", by, *results], None, usual, answered, files=[path])
    same("groups, a condition", ["--by=key", "--where", "n > 0", *results], None, usual, answered, files=[path])
    few = harness.fixture("grouped_few.csv", grouped(rng, 9000, 9000, 10 ** 9))
    for order in (["--sum=n", "--sort=-sum", "--top=9"], ["--sum=n", "--sort=key", "--top=4000"], ["--sum=n", "--sort=sum"],
                  ["--stddev=x", "--sort=-stddev", "--top=50", "--format=json"], ["--mean=x", "--top=7"], ["--sum=n", "--format=tsv"]):
        same("groups in order: " + " ".join(order), ["--by=key", *order], None, usual, answered, files=[path])
        same("groups that stay on the GPU: " + " ".join(order), ["--by=key", *order], None, usual, answered, files=[few])
    long = "".join("%s,%d\n" % ("ab"[i % 2], (10 ** 18 - 1) * (1 if i % 3 else -1)) for i in range(4000))
    path = harness.fixture("squares.csv", b"key,n\n" + long.encode())
    same("groups whose squares need more than 128 bits", ["--by=key", "--stddev=n", "--sum=n"], None, usual, answered, files=[path])
    path = harness.fixture("grouped.csv", grouped(rng, 9000, 9000))
    same("groups of two files", ["--by=key", *results], None, usual, answered, files=[path, path])
    same("groups, every device", ["--by=key", *results], None, usual, answered, files=[path], gpu="all")
    wrong = grouped(rng, 3000, 9) + b"a,b,oops,1\nshort\n" + grouped(rng, 3000, 9)[13:]
    path = harness.fixture("wrong.csv", wrong)
    for args in ([], ["--invalid=skip"], ["--ragged=skip"], ["--invalid=skip", "--ragged=skip"]):
        same("groups, a bad record: " + " ".join(args), ["--by=key", "--sum=n", *args], None, usual, files=[path])


def check_running_groups():
    """Totals by group: a segmented scan."""
    rng = random.Random(SEED + 1)
    usual = [(None, None), (4096, 2), (1000, 3)]
    news = ["--running-sum=n,x", "--running-min=n", "--running-max=x", "--running-count=n,kind"]
    for rows, nkeys, wide in ((1, 1, 9), (9000, 5, 9000), (9000, 9000, 10 ** 9), (9000, 40, 300), (200000, 300, 10 ** 9)):
        data = grouped(rng, rows, nkeys, wide)
        for by in ("key", "kind,key", "x"):
            same("%d records of %d keys, totals by %s" % (rows, nkeys, by), ["--by", by, *news], data, usual, answered)
    data = grouped(rng, 9000, 40, 10 ** 9)
    for args in (["--exclusive"], ["--only"], ["--exclusive", "--only"], ["--where", "n > 0"], ["--byte-offset"],
                 ["--where", "x > 10", "--exclusive"]):
        same("totals by group, " + " ".join(args), ["--by=key", *news, *args], data, usual, answered)
    same("totals by group, every device", ["--by=key", *news], data, usual, answered, gpu="all")
    paths = [harness.fixture("running%d.csv" % i, grouped(rng, 3000, 20)) for i in range(3)]
    same("totals by group, three files", ["--by=key", *news], None, usual, answered, files=paths)
    wrong = grouped(rng, 3000, 9) + b"a,b,oops,1\nshort\n" + grouped(rng, 3000, 9)[13:]
    for args in ([], ["--invalid=skip"], ["--ragged=skip"], ["--invalid=skip", "--ragged=skip"]):
        same("totals by group, a bad record: " + " ".join(args), ["--by=key", "--cumsum=n", *args], wrong, usual)


def faulty(k, args, stdin, threads):
    return dict(args=args, stdin=stdin, chunk=50000, threads=threads, device="gpu", gpu_fault=k)


def check_faults():
    """The GPU fails at each of its calls in turn, once or for good: the answer is the CPU's, with one warning of each GPU."""
    data = table(random.Random(SEED), 1500, ["int", "text", "decimal", "wide"])
    path = harness.fixture("faulty.csv", data)
    many = harness.fixture("faulty_groups.csv", grouped(random.Random(SEED), 50000, 50000, 10 ** 9))
    for args in (["--sum=*", "--max=*"], ["--cumsum=1,3", "--byte-offset"], ["--where=c1 > 0", "--sum=3"],
                 ["--where=c1 > 0"], ["--by=c2", "--sum=c3", path], ["--by=c2", "--running-sum=c3", "--running-min=c1"],
                 ["--by=key", "--sum=n", many]):    # in the midst of printing, too
        want = harness.run(args, data, device="cpu")
        for how in ("%d", "%d+"):
            complaints, k, alive = [], 1, True
            while alive and k < 600:
                jobs = [faulty(how % j, args, data, 1 if j % 2 else 3) for j in range(k, k + 12)]
                for job, r in zip(jobs, harness.run_many(jobs)):
                    warned = r.err.count(FAILED)
                    if (r.status, r.out) != (want.status, want.out) or warned_twice(r):
                        complaints.append("fault %s: %s" % (job["gpu_fault"], harness.describe(r)))
                    alive = alive and warned > 0
                k += 12
            harness.ok(not complaints and k > 24, "GPU faults %s, %s: %d of them" % (how, " ".join(args), k - 1),
                       lambda: "%d wrong\n%s" % (len(complaints), complaints[0]) if complaints else "it never failed")


reason = reason_to_skip()
if reason:
    for title in ("good cases", "hostile tables", "large tables", "ragged records", "packed text", "blocks", "members", "computed columns", "groups", "totals by group",
                  "parts", "auto", "faults"):
        harness.skip("devices: " + title, reason)
else:
    harness.keep()
    check_cases()
    check_hostile()
    check_tables()
    check_ragged()
    check_packed()
    check_blocks()
    check_members()
    check_lets()
    check_groups()
    check_running_groups()
    check_parts()
    check_auto()
    check_faults()
harness.done()
