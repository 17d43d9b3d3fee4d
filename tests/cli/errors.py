# SPDX-License-Identifier: MIT
"""Bad input and bad output: the right exit status, a message that says where, nothing on stdout."""
import gzip
import os
import socket
import struct
import subprocess
import zlib

import harness
from harness import fixture, refuses

WAYS = [(c, t) for c in (1, 2, 3, 5, 7, 16, 64, None) for t in (1, 2, 3, 7)]


def refused(status, *parts):
    """For harness.agrees()."""
    def judge(r):
        if r.status == status and not r.out and r.err.startswith(b"gpustat: ") and all(p in r.err for p in parts):
            return None
        return "wanted: status %s, an empty stdout, a message with %s" % (status, parts)
    return judge


def check_values():
    for name, data, args, *parts in (
            ("a word", b"a,b\n1,2\n3,abc\n", ["--sum=b"], b"gpustat: <stdin>:3: column 'b': not a number: 'abc'"),
            ("the first line", b"1,abc\n2,3\n", ["--header=no", "--sum=2"],
             b"gpustat: <stdin>:1: column 'col2': not a number: 'abc'"),
            ("a text column", b"a,b\nx,1\ny,2\n", ["--sum=a"], b"gpustat: <stdin>:2: column 'a': not a number: 'x'"),
            ("the second of two columns", b"a,b\n1,2\n3,x1\n", ["--sum=a", "--min=b"], b"<stdin>:3: column 'b'", b"'x1'"),
            ("a quoted word", b'a,b\n1,"abc"\n', ["--sum=b"], b"<stdin>:2: column 'b': not a number: 'abc'"),
            ("after lines in quotes", b'a,b\n"x\ny\n\nz",1\nw,abc\n', ["--sum=b"], b"<stdin>:6: column 'b': not a number: 'abc'"),
            ("in a record of many lines", b'a,b\n"x\ny\nz",abc\n', ["--sum=b"], b"<stdin>:4: column 'b': not a number: 'abc'"),
            ("in a field before a field of many lines", b'a,b\nabc,"x\ny"\n', ["--sum=a"], b"<stdin>:2: column 'a'"),
            ("after blank lines", b"a,b\n\n\n1,2\n\n1,abc\n", ["--sum=b"], b"<stdin>:6: column 'b': not a number: 'abc'"),
            ("after CRLF", b"a,b\r\n1,2\r\n1,abc\r\n", ["--sum=b"], b"<stdin>:3: column 'b': not a number: 'abc'"),
            ("after a lone CR", b"a,b\nx\ry,2\n1,abc\n", ["--sum=b"], b"<stdin>:3: column 'b': not a number: 'abc'"),
            ("no last line end", b"a,b\n1,abc", ["--sum=b"], b"<stdin>:2: column 'b': not a number: 'abc'"),
            ("the first of several", b"n\n1\nabc\n2\ndef\nghi\n", ["--sum=n"], b"<stdin>:3: column 'n': not a number: 'abc'"),
            ("a header after a BOM", b"\xef\xbb\xbfa,b\nabc,1\n", ["--sum=a"], b"<stdin>:2: column 'a': not a number: 'abc'"),
            ("out of range", b"n\n1\n1e400\n", ["--sum=n"], b"<stdin>:3: ", b"'n'"),
            ("scale out of range", b"n\n1\n1e-401\n", ["--sum=n"], b"<stdin>:3: ", b"'n'"),
            ("out of range for min", b"n\n1\n-1e400\n", ["--min=n"], b"<stdin>:3: ", b"'n'"),
            ("empty quotes are no blank line", b'a,b\n1,2\n""\n', ["--sum=b"], b"<stdin>:3: 1 field where the header has 2"),
            ("open quote", b'a,b\n1,2\n3,"4\n5,6\n', ["--sum=b"], b"<stdin>:3"),
            ("open quote at once", b'"a,b\n1,2\n', ["--count=1"], b"<stdin>:1"),
            ("open quote in an unselected column", b'a,b\n1,2\n3,"x\n', ["--sum=a"], b"<stdin>:3"),
            ("open quote is the last byte", b'a,b\n1,2\n3,"', ["--sum=a"], b"<stdin>:3"),
            ("open quote after lines in quotes", b'a,b\n1,"x\n\ny"\n\n3,"z\n\n', ["--sum=a"], b"<stdin>:6"),
            ("open quote that ends in a doubled one", b'a,b\n1,2\n3,"x""\n', ["--sum=a"], b"<stdin>:3"),
            ("open quote on the second line of a record", b'a,b\n1,2\n"x\ny","z\n', ["--sum=a"], b"<stdin>:4"),
            ("no numeric column", b"a,b\nx,y\n", ["--sum=*"]),
            ("no numeric column, header only", b"a,b\n", ["--sum=*"])):
        harness.agrees("bad: " + name, args, data, refused(1, *parts), WAYS)
    for name, args in (("'*'", ["--sum=*", "--max=2"]), ("'*' counted", ["--sum=2", "--count=*"]), ("a condition", ["--where=:2 > 1", "--count=*"])):
        harness.agrees("bad: a value before a quote that stays open, no header, " + name, ["--header=no"] + args, b'1,x\n2,"3\n',
                       refused(1, b"gpustat: <stdin>:1: column 'col2': not a number: 'x' (try -H, if this is the header)\n"), WAYS)
    lines = b"".join(b"%d,%d\n" % (i, i) for i in range(5000))
    data = b"a,b\n" + lines + b"1,oops\n" + lines + b"1,later\n"
    harness.agrees("bad: the first of two, far away", ["--sum=b"], data,
                   refused(1, b"<stdin>:5002: column 'b': not a number: 'oops'"),
                   [(c, t) for c in (7, 100, 4096, 65536, None) for t in (1, 2, 7)])
    path = fixture("bad name.csv", b"a\n1\nabc\n")
    refuses("bad: the file is named as given", ["--sum=a", path], None, 1,
            "gpustat: %s:3: column 'a': not a number: 'abc'" % path)
    path = fixture("bad.csv.gz", gzip.compress(b"a\n1\nabc\n"))
    refuses("bad: in gzip", ["--sum=a", path], None, 1, "gpustat: %s:3: column 'a': not a number: 'abc'" % path)
    refuses("bad: in gzip on stdin", ["--sum=a"], gzip.compress(b"a\n1\nabc\n"), 1, "<stdin>:3: column 'a'")
    for form in ("csv", "json", "table", "plain", "tsv"):
        refuses("bad: nothing on stdout, " + form, ["--format=" + form, "--max=b", "--sum=a"],
                b"a,b\n" + b"1,2\n" * 3000 + b"x,2\n", 1, "<stdin>:3002: ")


def check_gzip():
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(3000))
    whole = gzip.compress(text)
    first = gzip.compress(b"a,b\n1,2\n")
    crc, size = whole[-8:-4], whole[-4:]
    flipped = bytes(x ^ 0xFF for x in crc)
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = raw.compress(text) + raw.flush()
    header = whole[:10]
    bad = [("wrong CRC", whole[:-8] + flipped + size), ("wrong length", whole[:-4] + struct.pack("<I", len(text) + 1)),
           ("length zero", whole[:-4] + bytes(4)), ("CRC of another text", header + body + first[-8:]),
           ("trailing text", whole + b"garbage"), ("one trailing byte", whole + b"x"), ("trailing CSV", whole + b"1,2\n"),
           ("trailing half of the magic", whole + b"\x1f"), ("trailing magic", whole + b"\x1f\x8b"),
           ("trailing header", whole + header), ("second member truncated", whole + first[:-1]),
           ("second member's CRC", whole + first[:-8] + bytes(4) + first[-4:]),
           ("first member's CRC", first[:-8] + bytes(4) + first[-4:] + whole),
           ("an empty member's CRC", gzip.compress(b"")[:-8] + b"\1\0\0\0\0\0\0\0"),
           ("deflate data damaged", header + b"\xff" * 40 + whole[50:]), ("a method that is none", whole[:2] + b"\7" + whole[3:]),
           ("reserved flags", whole[:3] + b"\xe0" + whole[4:]),
           ("magic alone", b"\x1f\x8b"), ("magic and a method", b"\x1f\x8b\x08"), ("header alone", header)]
    cuts = (3, 9, 10, 11, 12, 20, len(whole) // 2, len(whole) - 9, len(whole) - 8, len(whole) - 7, len(whole) - 4, len(whole) - 1)
    bad += [("truncated at %d" % n, whole[:n]) for n in cuts]
    for name, data in bad:
        path = fixture("bad.gz", data)
        refuses("gzip: " + name, ["--sum=a", path], None, 1, path)
        refuses("gzip on stdin: " + name, ["--count=1"], data, 1, "<stdin>")
    path = fixture("bad.gz", whole[:-1])
    refuses("gzip: small chunks, truncated", ["--sum=a", path], None, 1, path, chunk=100, threads=3)
    refuses("gzip: a good file, then a bad one", ["--sum=a", fixture("good.csv", b"a,b\n1,2\n"), path], None, 1, path)
    # damage anywhere must be seen: one bit in each of many bytes (a name or time in the header may differ)
    jobs, places = [], list(range(10, len(whole), max(1, len(whole) // 60)))
    for k in places:
        broken = bytearray(whole)
        broken[k] ^= 1 << (k % 8)
        jobs.append(dict(args=["--sum=a,b"], stdin=bytes(broken)))
    wrong = [k for k, r in zip(places, harness.run_many(jobs)) if r.status != 1 or r.out or not r.err]
    harness.ok(not wrong, "gzip: a flipped bit anywhere is an error", lambda: "unseen at bytes %s" % wrong)
    # a header with all optional parts is good
    extra = b"\x1f\x8b\x08\x1f" + bytes(6) + struct.pack("<H", 5) + b"extra" + b"name\0" + b"comment\0"
    extra += struct.pack("<H", zlib.crc32(extra) & 0xFFFF)
    harness.answers("gzip: a header with name, comment, extra, CRC", ["--sum=a"], extra + body + whole[-8:],
                    "%d\n" % (3000 * 2999 // 2))
    harness.answers("gzip: stored blocks", ["--sum=a"], gzip.compress(text, 0), "%d\n" % (3000 * 2999 // 2))


def check_files():
    refuses("a missing file", ["--sum=1", "no-such-file.csv"], None, 1, "no-such-file.csv")
    refuses("a directory", ["--sum=1", harness.folder()], None, 1, harness.folder())
    refuses("a directory after a good file", ["--sum=1", fixture("good.csv", b"1\n"), harness.folder()], None, 1, harness.folder())
    refuses("a missing file after a good one", ["--sum=1", fixture("good.csv", b"1\n"), "nosuch"], None, 1, "nosuch")
    refuses("an empty file name", ["--sum=1", ""], None, 1)
    path = fixture("unreadable.csv", b"1\n2\n")
    os.chmod(path, 0)
    if os.access(path, os.R_OK):
        harness.skip("an unreadable file", "this user reads everything")
    else:
        refuses("an unreadable file", ["--sum=1", path], None, 1, path)
    p = subprocess.run([harness.program(), "--sum=1"], stdin=os.open(harness.folder(), os.O_RDONLY),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.environment())
    harness.ok(p.returncode == 1 and not p.stdout and b"<stdin>" in p.stderr, "a directory on stdin", repr(p))
    p = subprocess.run(["sh", "-c", '"$0" --sum=1 <&-', harness.program()], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=harness.environment())
    harness.ok(p.returncode == 1 and not p.stdout and p.stderr, "stdin is closed", repr(p))
    left, right = socket.socketpair()
    left.sendall(b"a\n1\n2\n")
    left.shutdown(socket.SHUT_WR)
    p = subprocess.run([harness.program(), "--sum=a"], stdin=right, stdout=subprocess.PIPE, env=harness.environment())
    harness.is_((p.returncode, p.stdout), (0, b"3\n"), "a socket as stdin")
    fifo = os.path.join(harness.folder(), "fifo")
    os.mkfifo(fifo)
    with subprocess.Popen([harness.program(), "--sum=a", fifo], stdout=subprocess.PIPE, env=harness.environment()) as p:
        with open(fifo, "wb") as f:
            f.write(b"a\n1\n2\n")
        harness.is_((p.communicate(timeout=60)[0], p.returncode), (b"3\n", 0), "a named pipe as file")


def check_packed_inside():
    """Files of which one is compressed, joined by cat."""
    end = "gzip data begins here, after plain text (try naming the files instead of joining them)\n"
    packed = gzip.compress(b"a,b\n3,4\n", mtime=0)
    for name, data, args, line in (
            ("ragged", b"a,b\n1,2\n" + packed, ["--sum=b"], 3), ("in a record", b"a,b\n1,2" + packed, ["--sum=b"], 2),
            ("one column", b"a\n1\n" + packed, ["--sum=a"], 3), ("by group", b"a,b\n1,2\n" + packed, ["--by=a", "--max=b"], 3),
            ("a condition", b"a\n1\n" + packed, ["--where=a > 0", "--count-records"], 3)):
        harness.agrees("compressed data in the middle: " + name, args, data, refused(1, ("gpustat: <stdin>:%d: " % line + end).encode()), WAYS)
    r = harness.run([], b"a,b\n1,2\n" + packed)
    harness.ok(r.status == 0 and ("fields: <stdin>:3: " + end).encode() in r.err, "and in the summary's warning", lambda: harness.describe(r))


def check_remedies():
    """What a message tells to try, where the status says no more than that."""
    for name, args, data, want in (
            ("a value", ["--sum=v"], "v\nx\n", "<stdin>:2: column 'v': not a number: 'x' (try --invalid skip)\n"),
            ("beyond the range", ["--sum=v"], "v\n1e500\n", "<stdin>:2: column 'v': number beyond 10^-400 to 10^400: '1e500' (try --invalid skip)\n"),
            ("names that are data", ["-N", "--sum=2"], "k,v\na,1\n", "<stdin>:1: column 'col2': not a number: 'v' (try -H, if this is the header)\n"),
            ("a later record", ["-N", "--sum=2"], "1,2\na,v\n", "<stdin>:2: column 'col2': not a number: 'v' (try --invalid skip)\n"),
            ("a date's least", ["--min=d"], "d,v\n2024-01-05,1\n", "<stdin>:2: column 'd': not a number: '2024-01-05' (try --text-min and "
             "--text-max, which order dates)\n"),
            ("a time's greatest", ["--by=v", "--max=d"], "d,v\n2024-01-05T10:00:00Z,1\n", "<stdin>:2: column 'd': not a number: "
             "'2024-01-05T10:00:00Z' (try --text-min and --text-max, which order dates)\n"),
            ("a date's sum", ["--sum=d", "--min=v"], "d,v\n2024-01-05,1\n", "<stdin>:2: column 'd': not a number: '2024-01-05' (try --invalid skip)\n"),
            ("no numbers", ["--cumsum=*", "-H"], "a,b\nx,y\n", "no column holds numbers (try gpustat without an operation, which shows what the "
             "columns hold)\n"),
            ("an open quote", ["--sum=v"], 'v\n"1\n', "<stdin>:2: quoted field is never closed (try --quote none, if quotes are data)\n")):
        harness.refuses("remedy: " + name, args, data.encode(), 1, "gpustat: " + want)
    r = harness.run(["--sum=v", "--invalid=skip"], b"v\nx\n")
    harness.is_((r.status, r.err), (1, b"gpustat: <stdin>:2: column 'v': not a number: 'x'; --invalid skip leaves out the only value\n"),
                "--invalid skip is no remedy where it is given")


def check_output():
    for name, args, data in (("a value", ["--sum=1"], b"1\n"), ("json", ["--format=json", "--sum=1"], b"1\n"),
                             ("the summary", [], b"a\n1\n"), ("--help", ["--help"], b""), ("--version", ["--version"], b"")):
        if not os.path.exists("/dev/full"):
            harness.skip("a full disk: " + name, "no /dev/full")
            continue
        with open("/dev/full", "wb") as full:
            r = harness.run(args, data, stdout=full)
        harness.ok(r.status == 1 and b"gpustat: " in r.err, "a full disk: " + name,
                   lambda: "status %s, stderr %r" % (r.status, r.err))
    p = subprocess.run(["sh", "-c", '"$0" --sum=1 >&-', harness.program()], input=b"1\n", stderr=subprocess.PIPE,
                       env=harness.environment())
    harness.ok(p.returncode == 1 and p.stderr, "stdout is closed", repr(p))


def check_empty():
    for name, data in (("nothing", b""), ("a BOM", b"\xef\xbb\xbf"), ("an empty gzip", gzip.compress(b""))):
        harness.answers("empty input: sum, " + name, ["--sum=1"], data, "0\n")
        harness.answers("empty input: min, " + name, ["--min=1"], data, "\n")
        harness.answers("empty input: count, " + name, ["--count=1"], data, "0\n")
        refuses("empty input: a name, " + name, ["--sum=bytes"], data, 1, "<stdin>: the input is empty, and has no column 'bytes'")
        refuses("empty input: '*', " + name, ["--sum=*"], data, 1)
    harness.answers("header only: a name", ["--sum=b", "--max=a"], b"a,b\n", "sum(b),max(a)\n0,\n")
    refuses("header only: an unknown name", ["--sum=c"], b"a,b\n", 2, "a", "b")
    for size in (1, None):
        refuses("an unknown column before the data is bad", ["--sum=c"], b"a,b\nx,y\n", 2, "c", chunk=size)


check_values()
check_gzip()
check_files()
check_remedies()
check_packed_inside()
check_output()
check_empty()
for text, shown in (("5\u00a0", "5\\u00a0"), ("5\u200b", "5\\u200b"), ("\ufeff5", "\\ufeff5"), ("5\u2009x\u3000", "5\\u2009x\\u3000"), ("5\u00e9", "5\u00e9")):
    harness.refuses("what cannot be seen in a value is escaped: " + shown, ["--sum=v"], ("v\n" + text + "\n").encode(), 1,
                    "gpustat: <stdin>:2: column 'v': not a number: '%s' (try %s)\n" % (shown, "naming the files instead of joining them: "
                    "a byte-order mark begins this value" if text[0] == "\ufeff" else "--invalid skip"))
for name, typed, words in (
        ("cafe\u0301,x", "caf\u00e9", "'cafe\u0301' writes its accents as other characters (Unicode NFC or NFD): copy that name, or take its number"),
        ("caf\u00e9,x", "cafe\u0301", "'caf\u00e9' writes its accents as other characters (Unicode NFC or NFD): copy that name, or take its number"),
        ("\u015e\u0171 z,x", "S\u0327u\u030b z", "'\u015e\u0171 z' writes its accents as other characters (Unicode NFC or NFD): copy that name, or "
         "take its number"),
        ("\ufeff\ufeffa,x", "a", "'\\ufeffa' begins with a byte-order mark: files were joined, perhaps"),
        ("abc,x", "ab", "did you mean 'abc'?")):
    harness.refuses("nearly a name: " + typed, ["--sum", typed], (name + "\n1,2\n").encode(), 2, "; " + words + "\n")
harness.refuses("a letter with another accent", ["--sum", "cafe\u0300"], "caf\u00e9,x\n1,2\n".encode(), 2, "2 columns: caf\u00e9, x\n")
harness.refuses("the name of a computed column", ["--let=total=a+x", "--sum=totl"], b"a,x\n1,2\n", 2, "did you mean 'total'?")
harness.refuses("and in names", ["--sum=a b"], "a\u00a0b,\ufeffc\n1,2\n".encode(), 2, "gpustat: unknown column 'a b'\n", "a\\u00a0b, \\ufeffc")
harness.done()
