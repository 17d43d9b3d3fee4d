# SPDX-License-Identifier: MIT
"""What stands before the records: --skip-lines, sep=; and line ends that are CR alone."""
import gzip
import os
import subprocess

import harness
from harness import fixture

WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, None) for threads in (1, 3)]
CR = "gpustat: %s: lines end in CR alone: try tr '\\r' '\\n'\n"
FEW = "gpustat: %s: fewer lines than --skip-lines drops\n"
DIFFERS = "gpustat: %s:%d: another delimiter than the first file's: '%s'\n"
BOM = b"\xef\xbb\xbf"


def says(name, args, stdin, status, out, err=""):
    wanted = (status, harness._bytes(out), harness._bytes(err))
    harness.agrees(name, args, stdin, lambda r: None if (r.status, r.out, r.err) == wanted else "wanted: %r" % (wanted,),
                   WAYS)


def check_carriage_returns():
    for name, data in (("numbers", b"1\r2\r3\r"), ("a table", b"a,b\r1,2\r"), ("quotes", b'"a","b"\r"1","2"\r'),
                       ("LF in quotes", b'"a\nx",b\r1,"\n\n"\r'), ("no last line end", b"a\r1"), ("blank lines", b"\r\ra\r1\r"),
                       ("a quote in text", b'a,12" disk\r1,2\r'), ("a mark", BOM + b"a\r1\r"), ("doubled quotes", b'"a""\r","b"\r1,2\r')):
        says("CR alone: " + name, ["--sum=1"], data, 1, "", CR % "<stdin>")
        path = fixture("cr.csv", data)
        says("CR alone, a file: " + name, ["--count=2", path], None, 1, "", CR % path)
        says("CR alone, the second file: " + name, ["--count=1", "--header=no", fixture("lf.csv", b"1\n"), path], None, 1, "", CR % path)
        says("CR alone, gzip: " + name, [], gzip.compress(data), 1, "", CR % "<stdin>")
    says("CR alone and lines to skip", ["--skip-lines=1", "--sum=1"], b"x\r1\r2\r", 1, "", CR % "<stdin>")
    two_crs, skip = fixture("two_crs.csv", b"\r\r"), ["--skip-lines=1", "--count=1", "--header=no"]
    for name, args in (("", skip), (" that are too few", ["--skip-lines=2"] + skip[1:])):
        says("CR alone, nothing but two, and lines to skip" + name, args + [fixture("none.csv", b""), two_crs], None, 1, "", CR % two_crs)
    says("CR alone ends the only line to skip", skip, b"x\r", 0, "0\n")
    says("CR alone in a line to skip that LF ends", skip, b"x\ry\r\n5\n", 0, "1\n")
    says("CR alone in a comment", ["--comment=#", "--sum=1"], b'# "\r1\r2\r', 1, "", CR % "<stdin>")
    escape = ["--escape=\\"]
    for name, data in (("a quote behind an escaped byte", b'"a\\"",b\r1,2\r'), ("an escaped LF", b"a\\\n,b\r1,2\r"),
                       ("an escaped LF in quotes", b'"a\\\n",b\r1,2\r'), ("an escaped quote", b'\\"a,b\r1,2\r')):
        says("CR alone and an escape byte: " + name, escape + ["--count=1"], data, 1, "", CR % "<stdin>")
    says("CR alone is data: escaped", escape + ["--count=1"], b"a\\\rb\\\rc,d", 1, "",
         "gpustat: <stdin>:1: 'a\\\\rb\\\\rc,d' may be names or data: say -H if these are names, -N if they are data\n")
    says("LF ends a comment, an escape byte before it or not", escape + ["--comment=#", "--count=1", "--header=no"], b"#x\\\n1\r2", 0, "1\n")
    says("CR alone and no quotes", ["--quote=none", "--sum=1"], b'"a\r1\r2\r', 1, "", CR % "<stdin>")
    for name, data, args, out in (
            ("in a header's quotes", b'"a\rb",c\n1,2\n', ["--sum=c"], "2\n"),
            ("in a value", b"a,b\nx\ry,2\n", ["--sum=b"], "2\n"), ("in a header", b"a\rx,b\n1,2\n", ["--sum=b"], "2\n"),
            ("before LF", b"a,b\r\n1,2\r\n", ["--sum=b"], "2\n"), ("mixed ends", b"a,b\n1,2\r\n3,4\n", ["--sum=b"], "6\n"),
            ("at the end", b"a,b\n1,2\r", ["--sum=b"], "2\n"), ("one value", b"5\r", ["--sum=1"], "5\n"),
            ("a header alone", b"a,b\r", ["--sum=b"], "0\n"), ("in quotes that never hold LF", b'"a\r\r",b\n1,2', ["--sum=b"], "2\n"),
            ("in quotes, no line end", b'"a\rb",c', ["--sum=c"], "0\n"),
            ("CR CR LF", b"a,b\r\r\n1,2\r\r\n", ["--sum=a"], "1\n")):
        says("CR " + name, args, data, 0, out)


def check_early():
    """A large file of such lines is not read to its end."""
    block = b"1,2\r" * 16384
    for threads in ("1", "3"):
        status, out, err, _ = harness.feed(["--sum=1", "--threads", threads], [block] * 1000)
        harness.is_((status, out, err), (1, b"", (CR % "<stdin>").encode()), "CR alone: 64 MB through a pipe, %s threads" % threads)
    read, write = os.pipe()
    p = subprocess.Popen([harness.program(), "--sum=1"], stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=harness.environment())
    os.close(read)
    try:                                                         # the pipe stays open: the answer does not wait for its end
        for _ in range(40):
            os.write(write, block)
    except BrokenPipeError:
        pass
    out, err = p.communicate(timeout=60)
    os.close(write)
    harness.is_((p.returncode, out, err), (1, b"", (CR % "<stdin>").encode()), "CR alone: a pipe that does not end")


def check_skipped_lines():
    table = b"a,b\n1,2\n3,4\n"
    for name, before, n in (("one", b"Report\n", 1), ("two", b"Report\n\n", 2), ("CRLF", b"Report\r\n2026\r\n", 2),
                            ("quotes mean nothing", b'5" disk, "x\n', 1), ("none", b"", 0), ("a mark before them", BOM + b"x\n", 1)):
        args = ["--skip-lines=%d" % n, "--sum=b"]
        says("lines to skip: " + name, args, before + table, 0, "6\n")
        says("lines to skip, gzip: " + name, args, gzip.compress(before + table), 0, "6\n")
        path = fixture("skip.csv", before + table)
        says("lines to skip, files: " + name, args + [path, path], None, 0, "12\n")
        says("skipped lines count in byte offsets: " + name, args[:1] + ["--byte-offset", "--only"], before + table, 0,
             "byte_offset\n%d\n%d\n" % (len(before) + 4, len(before) + 8))
        says("skipped lines count in messages: " + name, args, before + table + b"5,x\n", 1, "",
             "gpustat: <stdin>:%d: column 'b': not a number: 'x' (try --invalid skip)\n" % (n + 4))
    says("they are not printed", ["--skip-lines=1", "--where=b > 2"], b"Report\n" + table, 0, "a,b\n3,4\n")
    says("offsets through two files", ["--skip-lines=1", "--byte-offset", "--only", "--header=no"] +
         [fixture("one.csv", b"xx\n1\n2\n"), fixture("two.csv", b"yyyy\n3\n")], None, 0, "3\n5\n12\n")
    says("more lines than there are", ["--skip-lines=4", "--sum=1"], b"1\n2\n3\n", 1, "", FEW % "<stdin>")
    says("the last line has no end", ["--skip-lines=2", "--count=1"], b"1\n2", 0, "0\n")
    says("and is one of too few", ["--skip-lines=3", "--count=1"], b"1\n2", 1, "", FEW % "<stdin>")
    says("all lines", ["--skip-lines=3", "--sum=1"], b"1\n2\n3\n", 0, "0\n")
    says("all lines, and a name", ["--skip-lines=3", "--sum=price"], b"1\n2\n3\n", 1, "",
         "gpustat: <stdin>: the input is empty, and has no column 'price': did the command that writes it fail?\n")
    says("an empty file", ["--skip-lines=3", "--sum=1"], b"", 0, "0\n")
    short = fixture("short.csv", b"x\n")
    says("too few in the second file", ["--skip-lines=2", "--sum=1", "--header=no", fixture("long.csv", b"x\ny\n1\n"), short], None, 1, "",
         FEW % short)
    for value in ("-1", "x", "", "1.5", "99999999999999999999"):
        harness.refuses("--skip-lines %r" % value, ["--skip-lines=" + value, "--sum=1"], b"1\n", 2,
                        "gpustat: --skip-lines: '%s' is not a number of lines\n" % value)
    status, out, err, peak_kib = harness.feed(["--skip-lines=4000000", "--sum=1", "--threads=1"],
                                              [b"some words of a preamble\n" * 40000] * 100 + [b"7\n8\n"])
    harness.is_((status, out, err), (0, b"15\n", b""), "100 MB of lines to skip")
    harness.ok(peak_kib < 60 * 1024, "they are not kept in memory", "%d KiB" % peak_kib)


def check_delimiter_line():
    for name, line, delimiter in (("semicolon", b"sep=;\n", b";"), ("CRLF", b"sep=;\r\n", b";"), ("tab", b"sep=\t\n", b"\t"),
                                  ("bar", b"sep=|\n", b"|"), ("comma", b"sep=,\n", b","), ("a mark", BOM + b"sep=;\n", b";"),
                                  ("Latin-1", b"sep=\xa7\n", b"\xa7")):
        table = b"a,b\n1,2\n3,4\n".replace(b",", delimiter)
        says("sep=, " + name, ["--sum=b"], line + table, 0, "6\n")
        says("sep=, gzip: " + name, ["--sum=b"], gzip.compress(line + table), 0, "6\n")
        path = fixture("sep.csv", line + table)
        says("sep=, files: " + name, ["--sum=b", path, path], None, 0, "12\n")
        says("sep=, printed records: " + name, ["--byte-offset"], line + table, 0,
             (b"a,b,byte_offset\n1,2,%d\n3,4,%d\n" % (len(line) + 4, len(line) + 8)).replace(b",", delimiter))
        says("sep=, the line of an error: " + name, ["--sum=b"], line + table + b"5,x\n".replace(b",", delimiter), 1, "",
             "gpustat: <stdin>:5: column 'b': not a number: 'x' (try --invalid skip)\n")
    for data in (b"sep=;\n", b"sep=;"):
        says("sep= alone has no column of a name: %r" % data, ["--sum=b"], data, 1, "",
             "gpustat: <stdin>: the input is empty, and has no column 'b': did the command that writes it fail?\n")
    for name, args, data, out in (
            ("behind lines to skip", ["--skip-lines=1", "--sum=b"], b"x\nsep=;\na;b\n1;2\n", "2\n"),
            ("is a line to skip", ["--skip-lines=1", "-d;", "--sum=b"], b"sep=;\na;b\n1;2\n", "2\n"),
            ("no record follows", ["--sum=1"], b"sep=;\n", "0\n"), ("no line end", ["--sum=1"], b"sep=;", "0\n"),
            ("a letter is a name", ["--sum=1"], b"sep=x\n1\n", "1\n"), ("a digit is a name", ["--sum=sep=1"], b"sep=1\n5\n", "5\n"),
            ("nothing behind it is a name", ["--sum=sep="], b"sep=\n5\n", "5\n"), ("a longer line is a name", ["-H", "--sum=:1"], b"sep=;;\n5;;\n", None),
            ("with -d it is data", ["-d;", "--sum=1"], b"sep=;\n5;\n", "5\n"),
            ("a name beside it", ["--sum=2"], b"sep=,b\n1,2\n", "2\n")):
        if out is None:
            harness.refuses("sep=, " + name, args, data, 1, "not a number: '5;;' (try -d ';')")
        else:
            says("sep=, " + name, args, data, 0, out)
    first, plain = fixture("semicolon.csv", b"sep=;\na;b\n1;2\n"), fixture("plain.csv", b"a;b\n3;4\n")
    other = fixture("other.csv", b"sep=|\na|b\n3|4\n")
    says("sep=, a later file has none", ["--sum=b", first, plain], None, 0, "6\n")
    says("sep=, a later file has another", ["--sum=b", first, other], None, 1, "", DIFFERS % (other, 1, "sep=|"))
    says("sep=, only a later file has it", ["--sum=a", fixture("commas.csv", b"a,b\n1,2\n"), other], None, 1, "", DIFFERS % (other, 1, "sep=|"))
    says("sep=, behind an empty file", ["--sum=b", fixture("nothing.csv", b""), first], None, 0, "2\n")


check_carriage_returns()
check_early()
check_skipped_lines()
check_delimiter_line()
harness.done()
