# SPDX-License-Identifier: MIT
"""Untrusted text in messages: every byte that could harm a terminal or a log is escaped.

Names of files and columns, values, values of options and of environment variables contain hostile
text: escape sequences, line ends, bytes that are no UTF-8, characters that
change the direction of text. A message must be lines of plain text, and only the program may begin a line.
"""
import os
import re
import socket
import subprocess
import unicodedata

import harness

ESCAPE = b"\x1b]0;owned\x07\x1b[31m"
HOSTILE = (
    ("an escape sequence", ESCAPE, b"\\x1b]0;owned\\x07\\x1b[31m"),
    ("a line of its own", b"x\ngpustat: all is well", b"x\\ngpustat: all is well"),
    ("a return", b"x\rgpustat: all is well", b"x\\rgpustat: all is well"),
    ("a control of eight bits", b"\x9b31m", b"\\x9b31m"),
    ("a control in UTF-8", b"\xc2\x9b31m", b"\\xc2\\x9b31m"),
    ("no UTF-8", b"\xff\xfe\xc0\x80", b"\\xff\\xfe\\xc0\\x80"),
    ("a surrogate", b"\xed\xa0\x80", b"\\xed\\xa0\\x80"),
    ("text turned round", "a\u202eb\u2066c".encode(), b"a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c"),
    ("a line separator", "a\u2028b".encode(), b"a\\xe2\\x80\\xa8b"),
    ("a tab", b"a\tb", b"a\\tb"),
    ("delete", b"a\x7fb", b"a\\x7fb"),
)
OWN_LINE = re.compile(r"gpustat: |Try 'gpustat --help'\.\Z")


def harmful(err, free_lines=0):
    """None, or what could do harm in a message. free_lines: how many may be the user's expression."""
    try:
        text = err.decode("utf-8")
    except UnicodeDecodeError as e:
        return "no UTF-8: %s" % e
    if not text.endswith("\n"):
        return "the last line does not end"
    for c in text:
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            return "a control character: %r" % c
    strange = [line for line in text.split("\n")[:-1] if not OWN_LINE.match(line)]
    return "lines that are not the program's: %r" % strange if len(strange) > free_lines else None


def speaks(name, args, stdin, status, escaped, free_lines=0, **how):
    """The program ends with `status`, and its message holds `escaped` and nothing harmful."""
    r = harness.run(args, stdin, **how)
    complaint = harmful(r.err, free_lines)
    holds = r.status == status and escaped in r.err and not complaint
    harness.ok(holds, name, lambda: "%s\nwanted: status %s, a message with %r; %s"
               % (harness.describe(r, stdin), status, escaped, complaint))


def quoted(name):
    return b'"' + name.replace(b'"', b'""') + b'"'


def check_names(what, raw, escaped):
    """Column names in every message that has one."""
    head = b"n," + quoted(raw) + b"\n"
    for name, args, data, status in (
            ("not a number", ["--sum=:2"], head + b"1,x\n", 1),
            ("out of range", ["--sum=:2"], head + b"1,1e999\n", 1),
            ("left out", ["--sum=:2", "--invalid=skip"], head + b"1,x\n1,2\n", 0),
            ("the names there are", ["--sum=nosuch"], head + b"1,2\n", 2),
            ("text in a condition", ["--where=:2 > 1"], head + b"1,x\n", 1)):
        speaks("a column's name, %s: %s" % (name, what), args, data, status, escaped)


def check_values(what, raw, escaped):
    trimmed = raw.strip(b" \t")
    assert trimmed == raw
    for name, args in (("a result", ["--sum=n"]), ("a total", ["--cumsum=n", "--only"])):
        speaks("a value, %s: %s" % (name, what), args, b"n\n" + quoted(raw) + b"\n", 1, escaped)


def check_files(what, raw, escaped):
    if b"/" in raw:
        return
    speaks("a file that is not there: " + what, [b"--sum=1", raw], None, 1, escaped)
    path = os.path.join(os.fsencode(harness.folder()), raw)
    with open(path, "wb") as f:
        f.write(b"n\nx\n")
    speaks("a file with a bad value: " + what, [b"--sum=n", path], None, 1, escaped)


def check_options(what, raw, escaped):
    for option in (b"--header", b"--invalid", b"--format", b"--device", b"--threads", b"--delimiter"):
        speaks("%s: %s" % (option.decode(), what), [option + b"=" + raw], b"1\n", 2, escaped)
    speaks("an option that is none: " + what, [b"--no" + raw], b"1\n", 2, escaped)
    for option in (b"--sum", b"--cumsum"):
        speaks("%s, an unknown column: %s" % (option.decode(), what), [option, raw], b"a,b\n1,2\n", 2, escaped)
    speaks("COLS with an empty item: " + what, [b"--sum", raw + b",,"], b"1\n", 2, escaped)
    speaks("two columns of a name: " + what, [b"--sum", quoted(raw)],
           quoted(raw) + b"," + quoted(raw) + b"\n1,2\n", 2, escaped)
    speaks("a name in a condition: " + what, [b"--where", b"`" + raw + b"` > 1"], b"a,b\n1,2\n", 2, escaped)
    speaks("a condition that is none: " + what, [b"--where", raw], b"a,b\n1,2\n", 2, b"--where: ", free_lines=2)
    for hook in ("simd", "chunk"):
        speaks("the environment's %s: %s" % (hook, what), ["--sum=1"], b"1\n", 2, escaped,
               **{hook: os.fsdecode(raw)})


def check_one_write():
    """A message is one write to a line: those of processes that share a log do not mix."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)     # keeps writes apart
    ours.setblocking(False)
    subprocess.run([harness.program(), "--sum=n"], input=b"n\n\x1b[31m\n", stdout=subprocess.DEVNULL,
                   stderr=theirs, env=harness.environment())
    pieces = []
    try:
        while True:
            pieces.append(ours.recv(65536))
    except BlockingIOError:
        pass
    harness.is_(pieces, [b"gpustat: <stdin>:2: column 'n': not a number: '\\x1b[31m'\n"],
                "a message is one write")


for description, hostile, wanted in HOSTILE:
    check_names(description, hostile, wanted)
    check_values(description, hostile, wanted)
    check_files(description, hostile, wanted)
    check_options(description, hostile, wanted)
check_one_write()
harness.done()
