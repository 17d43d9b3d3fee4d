# SPDX-License-Identifier: MIT
"""What a run reads from and writes to: the input that is the output, O_NONBLOCK, names, padding, keys of JSON.

A run between two pipes with O_NONBLOCK must wait for both ends. The test lets it wait: it writes and reads late.
"""
import fcntl
import gzip
import json
import os
import shutil
import struct
import subprocess
import threading
import time
import zlib

import harness
from harness import fixture, is_, ok

TABLE = b"a,b\n" + b"1,2\n" * 20000


# ---- the input that is the output -------------------------------------------------------------

def shell(name, command, status, out, err, files):
    """The command in sh, in a folder of its own; files: name -> (before, after)."""
    folder = os.path.join(harness.folder(), "shell")
    shutil.rmtree(folder, True)
    os.makedirs(folder)
    for file, (before, _) in files.items():
        with open(os.path.join(folder, file), "wb") as f:
            f.write(before)
    p = subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                       env=dict(harness.environment(), GPUSTAT=harness.program()))
    after = {}
    for file in files:
        with open(os.path.join(folder, file), "rb") as f:
            after[file] = f.read()
    wanted = {file: text for file, (_, text) in files.items()}
    ok((p.returncode, p.stdout, p.stderr, after) == (status, out, err, wanted), name,
       lambda: "%s\nstatus %s, %s, %s\n%s\nwanted: %s, %s, %s, %s" % (command, p.returncode, p.stdout, p.stderr, after,
                                                                     status, out, err, wanted))


def check_output():
    names, word = b"name\nann\nbob\n", b"gpustat: %s: is the output as well: write to another file\n"
    kept, emptied = (names, names), (names, b"")
    for args in ("--running-count name", "--count name", "--where 'name = \"ann\"'", "", "--format=json"):
        shell("appended to: " + args, '"$GPUSTAT" %s f >>f' % args, 1, b"", word % b"f", {"f": kept})
    shell("overwritten", '"$GPUSTAT" --count name f >f', 1, b"", word % b"f", {"f": emptied})
    shell("written over in place", '"$GPUSTAT" --running-count name f 1<>f', 1, b"", word % b"f", {"f": kept})
    shell("standard input", '"$GPUSTAT" --running-count name <f >>f', 1, b"", word % b"<stdin>", {"f": kept})
    shell("a hard link", 'ln -f f g && "$GPUSTAT" --running-count name g >>f', 1, b"", word % b"g", {"f": kept})
    shell("a symbolic link", 'ln -sf f h && "$GPUSTAT" --running-count name h >>f', 1, b"", word % b"h", {"f": kept})
    shell("the second file", '"$GPUSTAT" --count name g f >>f', 1, b"", word % b"f", {"g": kept, "f": kept})
    shell("the second file, which was empty at first", '"$GPUSTAT" --where \'name != "x"\' g f >f', 1, b"", word % b"f",
          {"g": kept, "f": (b"", names)})
    shell("another file", '"$GPUSTAT" --running-count name f >g', 0, b"", b"",
          {"f": kept, "g": (b"", b"name,running_count(name)\nann,1\nbob,2\n")})
    shell("a copy", 'cp f g && "$GPUSTAT" --count name f >>g', 0, b"", b"", {"f": kept, "g": (b"", names + b"2\n")})


def check_growth():
    """A file is read up to the size that it had when it was opened."""
    path = fixture("grows.csv", b"name\n" + b"ann\n" * 300000)
    p = subprocess.Popen([harness.program(), "--running-count=name", path], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=harness.environment(1000), bufsize=0)
    first = p.stdout.read(10)
    with open(path, "ab") as f:
        f.write(b"late\n" * 1000)
    out, err = p.communicate()
    out = first + out
    is_((p.returncode, out.count(b"\n"), out.endswith(b"ann,300000\n"), err), (0, 300001, True, b""),
        "what is appended to a file while it is read is not read")


# ---- O_NONBLOCK -------------------------------------------------------------------------------

def between(args, data, pieces, late_reader, chunk=None):
    """Runs the program between two pipes with O_NONBLOCK on its ends. -> (status, stdout, stderr)"""
    (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
    fcntl.fcntl(out_read, fcntl.F_SETPIPE_SZ, 4096)
    for fd in (in_read, out_write):
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
    p = subprocess.Popen([harness.program()] + args, stdin=in_read, stdout=out_write, stderr=subprocess.PIPE,
                         env=harness.environment(chunk))
    os.close(in_read)
    os.close(out_write)

    def write():
        size = len(data) // pieces + 1
        with os.fdopen(in_write, "wb", buffering=0) as f:
            for at in range(0, len(data), size):
                time.sleep(0.02)
                f.write(data[at:at + size])
    writer = threading.Thread(target=write)
    writer.start()
    if late_reader:
        time.sleep(0.2)
    with os.fdopen(out_read, "rb") as f:
        out = f.read()
    writer.join()
    err = p.stderr.read()
    return p.wait(), out, err


def check_nonblock():
    many = [b"c%d" % i for i in range(3000)]
    wide = b",".join(many) + b"\n" + b",".join(b"1" for _ in many) + b"\n"
    for name, args, data in (("results", ["--sum=b"], TABLE), ("records", ["--cumsum=b"], TABLE),
                             ("records of a condition", ["--where", "b > 1"], TABLE), ("the summary", [], TABLE),
                             ("a wide summary", [], wide), ("a wide summary as JSON", ["--format=json"], wide),
                             ("many results", ["--sum=*"], wide), ("a wide heading", ["--cumsum=*"], wide)):
        want = harness.run(args, data)
        for packed, text in (("", data), (" of gzip", gzip.compress(data)), (" of two members", gzip.compress(data[:9]) +
                                                                             gzip.compress(data[9:]))):
            for chunk in (None, 4096):
                is_(between(args, text, 7, True, chunk), (want.status, want.out, want.err),
                    "O_NONBLOCK: %s%s, chunks of %s" % (name, packed, chunk))
    is_(between(["--sum=b"], gzip.compress(os.urandom(200000).hex().encode())[:150000], 5, False)[0], 1,
        "O_NONBLOCK: a fault is one still")


# ---- names and the environment ----------------------------------------------------------------

def says(name, args, status, err, **env):
    p = subprocess.run([harness.program()] + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=dict(harness.environment(), **env))
    is_((p.returncode, p.stdout if status else b"", p.stderr), (status, b"", err), name)


def check_names():
    says("a file without a name", ["--sum=a", ""], 1, b"gpustat: '': cannot open: No such file or directory\n")


# ---- zeros behind gzip data ----------------------------------------------------------------------

def block(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    return (b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25) + body +
            struct.pack("<II", zlib.crc32(data), len(data)))


def check_padding():
    blocks = b"".join(block(TABLE[i:i + 60000]) for i in range(0, len(TABLE), 60000))
    for name, packed in (("a member", gzip.compress(TABLE)), ("BGZF", blocks), ("BGZF with its last block", blocks + block(b"")),
                         ("members", gzip.compress(TABLE[:9]) + gzip.compress(TABLE[9:])), ("a short one", gzip.compress(TABLE[:8]))):
        want = b"%d\n" % (2 if name == "a short one" else 40000)
        for nbytes in (1, 2, 511, 300000):
            wrong = []
            for chunk in (None, 1000):
                for pipe in (False, True):
                    for behind in (b"", b"x", gzip.compress(b"")):
                        data = packed + bytes(nbytes) + behind
                        path = fixture("padded.gz", data)
                        shown = b"<stdin>" if pipe else path.encode()
                        p = subprocess.run([harness.program(), "--threads=3", "--sum=b"] + ([] if pipe else [path]),
                                           input=data if pipe else b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           env=harness.environment(chunk))
                        good = (1, b"", b"gpustat: %s: trailing garbage after gzip data\n" % shown) if behind else \
                            (0, want, b"gpustat: warning: %s: zero bytes behind the gzip data left out\n" % shown)
                        if (p.returncode, p.stdout, p.stderr) != good:
                            wrong.append((chunk, pipe, behind, p))
            ok(not wrong, "%s, then %d zeros" % (name, nbytes), lambda: str(wrong[:3]))
    p = harness.run(["--sum=b", fixture("1.gz", gzip.compress(TABLE) + bytes(9)), fixture("2.csv", TABLE),
                     fixture("3\n.gz", blocks + bytes(70))])
    is_((p.status, p.out, p.err.replace(harness.folder().encode() + b"/", b"")),
        (0, b"120000\n", b"gpustat: warning: 1.gz: zero bytes behind the gzip data left out\n"
         b"gpustat: warning: 3\\n.gz: zero bytes behind the gzip data left out\n"), "several files: a warning each")
    p = harness.run(["--sum=b"], b"\x28\xb5\x2f\xfd" + bytes(20))
    ok(p.status == 1, "zeros are no zstd data", p)


# ---- keys of JSON -----------------------------------------------------------------------------

def check_keys():
    pairs = lambda text: json.loads(text, object_pairs_hook=lambda p: p)
    for name, data, args, want in (
            ("a column twice", b"a\n1\n", ["--sum=a,a,a"], [["sum(a)", 1], ["sum(a)_2", 1], ["sum(a)_3", 1]]),
            ("two columns of one name", b"a,a\n1,2\n", ["--sum=:1,:2"], [["sum(a)", 1], ["sum(a)_2", 2]]),
            ("a name that is taken", b"a,a,a\n1,2,3\n", ["--max=:1,:2,:3", "--max=:2"],
             [["max(a)", 1], ["max(a)_2", 2], ["max(a)_3", 3], ["max(a)_4", 2]]),
            ("bytes that are no UTF-8", b"\xff,\xfe\n1,2\n", ["--sum=:1,:2"], [["sum(\ufffd)", 1], ["sum(\ufffd)_2", 2]]),
            ("names that differ", b"a,b\n1,2\n", ["--sum=a,b", "--min=a"], [["sum(a)", 1], ["sum(b)", 2], ["min(a)", 1]])):
        r = harness.run(args + ["--format=json"], data)
        is_((r.status, r.err, r.status == 0 and [list(p) for p in pairs(r.out)]), (0, b"", want), "JSON: " + name)
    harness.answers("CSV has a name as often as it is asked for", ["--sum=a,a"], b"a\n1\n", "sum(a),sum(a)\n1,1\n")
    names = b",".join(b"a" for _ in range(50000))
    r = harness.run(["--format=json", "--header=yes", "--sum=1-50000"], names + b"\n" + b",".join(b"1" for _ in range(50000)))
    ok(r.status == 0 and len(json.loads(r.out)) == 50000, "JSON: 50,000 columns of one name", lambda: harness.describe(r))


check_output()
check_growth()
check_nonblock()
check_names()
check_padding()
check_keys()
harness.done()
