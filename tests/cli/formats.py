# SPDX-License-Identifier: MIT
"""Files that are no CSV: each is named before anything is computed, with the command that makes CSV of it.

The fixtures are made by Python's own modules where it has one, or are the heads that the formats' specifications
give. What must go on being read, because it only looks like another format, is here as well.
"""
import bz2
import gzip
import io
import json
import lzma
import os
import random
import sqlite3
import subprocess
import tarfile
import time
import zipfile

import harness
from harness import fixture, ok

TABLE = b"a,b\n1,2\n3,4\n"
WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, None) for threads in (1, 2, 3, 7)]
SELECTIONS = (["--sum=b"], ["--count=1"], [], ["--where", "b > 1"], ["--header=no", "--running-count=1"])
PANDAS = ("try: python3 -c 'import sys, pandas; pandas.read_%s(sys.argv[1]).to_csv(sys.stdout, index=False)' %%s"
          " | gpustat ...")
JQ = "try: jq -r '[.NAME, .NAME] | @csv' %s | gpustat ..."
JQ_ARRAY = "try: jq -r '.[] | [.NAME, .NAME] | @csv' %s | gpustat ..."


def zipped(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(name, data)
    return out.getvalue()


def tarred(data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        member = tarfile.TarInfo("t.csv")
        member.size = len(data)
        t.addfile(member, io.BytesIO(data))
    return out.getvalue()


def database():
    path = os.path.join(harness.folder(), "made.sqlite")
    with sqlite3.connect(path) as c:
        c.execute("create table t(a, b)")
    with open(path, "rb") as f:
        return f.read()


def iconv(name):
    return "try: iconv -f %s -t UTF-8 %%s | gpustat ..." % name


def encoded(name, text="a,b\n1,2\n"):
    return text.encode(name)


MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0", "utf-32-be": b"\0\0\xfe\xff"}
broken = bytearray(gzip.compress(TABLE * 40))
broken[0] = 0
noise = random.Random(17).randbytes(3000)

# name of the file, its bytes, what it is, what to do
FORMATS = [
    ("t.bz2", bz2.compress(TABLE), "bzip2 data", "try: bzcat %s | gpustat ..."),
    ("empty.bz2", bz2.compress(b""), "bzip2 data", "try: bzcat %s | gpustat ..."),
    ("t.xz", lzma.compress(TABLE), "xz data", "try: xzcat %s | gpustat ..."),
    ("t.lzma", lzma.compress(TABLE, lzma.FORMAT_ALONE), "lzma data", "try: xzcat %s | gpustat ..."),
    ("t.lz", b"LZIP\1\x0c\0\0", "lzip data", "try: lzip -dc %s | gpustat ..."),
    ("t.lz4", b"\x04\x22\x4d\x18\x64\x40\xa7", "lz4 data", "try: lz4 -dc %s | gpustat ..."),
    ("t.Z", b"\x1f\x9d\x90a\xc4", "compress data", "try: gzip -dc %s | gpustat ..."),
    ("t.zip", zipped("t.csv", TABLE), "a zip archive", "try: unzip -p %s | gpustat ..."),
    ("empty.zip", b"PK\5\6" + bytes(18), "a zip archive", "try: unzip -p %s | gpustat ..."),
    ("t.xlsx", zipped("[Content_Types].xml", b"<x/>"), "a workbook", "save it as CSV, or try: in2csv %s | gpustat ..."),
    ("t.ods", zipped("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), "a workbook",
     "save it as CSV, or try: in2csv %s | gpustat ..."),
    ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(20), "a workbook",
     "save it as CSV, or try: in2csv %s | gpustat ..."),
    ("t.7z", b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive", "try: 7z x -so %s | gpustat ..."),
    ("t.rar", b"Rar!\x1a\7\1\0", "a RAR archive", "try: unrar p -inul %s | gpustat ..."),
    ("t.tar", tarred(TABLE), "a tar archive", "try: tar -xOf %s | gpustat ..."),
    ("t.parquet", b"PAR1\x15\x04\x15\x10", "a Parquet file", "try: duckdb -csv -c \"from '%s'\" | gpustat ..."),
    ("t.arrow", b"ARROW1\0\0\xff\xff\xff\xff", "an Arrow file", PANDAS % "feather"),
    ("t.feather", b"FEA1\0\0\0\0", "a Feather file", PANDAS % "feather"),
    ("t.orc", b"ORC\x1d\0\0\x0a\x0c", "an ORC file", PANDAS % "orc"),
    ("t.avro", b"Obj\1\4\x16avro.schema", "an Avro file",
     "try: duckdb -csv -c \"install avro; load avro; from read_avro('%s')\" | gpustat ..."),
    ("t.h5", b"\x89HDF\r\n\x1a\n\0", "an HDF5 file", PANDAS % "hdf"),
    ("t.sqlite", database(), "an SQLite database", "try: sqlite3 -csv -header %s 'select * from TABLE' | gpustat ..."),
    ("t.pdf", b"%PDF-1.7\n%\xe2\xe3\n", "a PDF document", "export its table as CSV"),
    ("t.elf", b"\x7fELF\2\1\1" + bytes(9), "an ELF program or library", "give a text file"),
    ("t.html", b"<!DOCTYPE html>\n<html>\n", "an HTML page", "export its table as CSV"),
    ("t2.html", b"<html><body>no such file</body></html>\n", "an HTML page", "export its table as CSV"),
    ("t.xml", b'<?xml version="1.0"?>\n<t/>\n', "XML", "export its table as CSV"),
    ("t.jsonl", b'{"a": 1, "b": "x, \\"y\\""}\n{"a": 2}\n', "JSON", JQ),
    ("one.jsonl", b'{"a":1}', "JSON", JQ),
    ("t.json", json.dumps({"t": [{"a": 1, "b": None}] * 9}, indent=2).encode(), "JSON", JQ),
    ("long.json", json.dumps({"t": [{"a": 1, "b": None}] * 900}).encode(), "JSON", JQ),
    ("array.json", json.dumps([{"a": i} for i in range(9)]).encode(), "a JSON array", JQ_ARRAY),
    ("array2.json", b"\xef\xbb\xbf[\n  {\n    \"a\": 1\n  }\n]\n", "a JSON array", JQ_ARRAY),
    ("t.bin", bytes(broken), "binary data", "to see what it is: file %s"),
    ("zeros.bin", bytes(100000), "binary data", "to see what it is: file %s"),
    ("noise.bin", noise, "binary data", "to see what it is: file %s"),
    ("late.bin", b"\0x\n" + noise, "binary data", "to see what it is: file %s"),
    ("t.nul", b"12\x00345\x006\x00", "text with NUL bytes for line ends", "try: tr '\\0' '\\n' <%s | gpustat ..."),
    ("digits.nul", b"1\x002\x003\x00", "text with NUL bytes for line ends", "try: tr '\\0' '\\n' <%s | gpustat ..."),
]
for codec, mark in MARKS.items():
    bits = codec[:6].upper()
    FORMATS.append((codec + ".wide", mark + encoded(codec, "\u4fa1\u683c\n1\n"), bits + " text", iconv(bits)))
    FORMATS.append((codec + ".mark", mark + encoded(codec), bits + " text", iconv(bits)))
    FORMATS.append((codec + ".long", encoded(codec, "name,v\n" + "a\u00fc,1\n" * 999), bits + " text",
                    iconv(codec.upper().replace("-L", "L").replace("-B", "B"))))
    FORMATS.append((codec + ".short", encoded(codec), bits + " text",
                    iconv(codec.upper().replace("-L", "L").replace("-B", "B"))))


BUILT = {line.split()[0] for line in harness.run(["--version"]).out.decode().splitlines()
         if line and not line.endswith("not built in")}
READ = {"bzip2 data": "libbz2", "xz data": "liblzma"} # where the library is there
REFUSED = [row for row in FORMATS if READ.get(row[2]) not in BUILT]


def message(shown, what, remedy, name):
    return ("gpustat: %s: not CSV but %s: %s\n" % (shown, what, remedy % name if "%s" in remedy else remedy)).encode()


def refused(name, args, stdin, want, out=b"", ways=WAYS):
    """Status 1, these bytes on both outputs, in all ways."""
    harness.agrees(name, args, stdin,
                   lambda r: None if (r.status, r.out, r.err) == (1, out, want) else "wanted: %s" % want, ways)


def check_formats():
    os.chdir(harness.folder()) # short names, so that they are part of the command
    for name, data, what, remedy in REFUSED:
        fixture(name, data)
        refused("a file: " + name, ["--sum=b", name], None, message(name, what, remedy, name))
        refused("standard input: " + name, ["--sum=b"], data, message("<stdin>", what, remedy, "FILE"))
        for args in SELECTIONS:
            refused("%s, %s" % (name, args), args + [name], None, message(name, what, remedy, name), ways=[(3, 2)])


def check_several():
    """A later file is looked at as well; no result, and of records those before it."""
    fixture("good.csv", TABLE)
    for name, data, what, remedy in REFUSED:
        refused("the second file: " + name, ["--sum=b", "good.csv", name], None, message(name, what, remedy, name),
                ways=[(1, 1), (3, 2), (None, 3)])
    refused("records before it", ["--cumsum=b", "good.csv", "t.lz"], None,
            message("t.lz", "lzip data", "try: lzip -dc %s | gpustat ...", "t.lz"),
            b"a,b,running_sum(b)\n1,2,2\n3,4,6\n")


def check_inside():
    """What was compressed is looked at as well."""
    for name, data, what, remedy in FORMATS:
        fixture(name + ".gz", gzip.compress(data))
        refused("in gzip: " + name, ["--sum=b", name + ".gz"], None,
                message(name + ".gz", what + " in gzip", "decompress it; then " + remedy, "FILE"),
                ways=[(7, 2), (None, 1)])


def check_names():
    """The name is part of the command only where a shell takes it as one word."""
    for name, shown in (("a b.zip", "FILE"), ("$(x).zip", "FILE"), ("-x.zip", "FILE"), ("x;y.zip", "FILE"),
                        ("n" * 80 + ".zip", "FILE"), ("A-1_z./../A-1_z.,+=@:.zip", None)):
        if shown is None:
            os.makedirs("A-1_z.", exist_ok=True)
        fixture(name, zipped("t.csv", TABLE))
        refused("a name: " + name, ["--sum=b", "--", name], None,
                message(name, "a zip archive", "try: unzip -p %s | gpustat ...", shown or name), ways=[(None, 1)])


def check_remedies():
    """Commands that are here do what the message says."""
    fixture("t.bz2", bz2.compress(TABLE))
    fixture("t.xz", lzma.compress(TABLE))
    for name, command in (("t.bz2", "bzcat t.bz2"), ("t.xz", "xzcat t.xz"), ("t.zip", "unzip -p t.zip"),
                          ("t.tar", "tar -xOf t.tar"), ("utf-16-le.mark", "iconv -f UTF-16 -t UTF-8 utf-16-le.mark"),
                          ("utf-16-be.short", "iconv -f UTF-16BE -t UTF-8 utf-16-be.short")):
        tool = command.split()[0]
        if subprocess.run(["sh", "-c", "command -v " + tool], stdout=subprocess.DEVNULL).returncode:
            harness.skip(command, tool + " is not here")
            continue
        p = subprocess.run(command.split(), stdout=subprocess.PIPE)
        harness.answers(command, ["--sum=b"], p.stdout, "6\n" if name[0] == "t" else "2\n")


def check_good():
    """Text that begins much like another format is read."""
    for name, data, args, want in (
            ("BZh9", b"BZh9,b\n1,2\n", ["--sum=b"], "2\n"), ("PK", b"PK,b\n1,2\n", ["--sum=b"], "2\n"),
            ("PAR1", b"PAR1,b\n1,2\n", ["--sum=b"], "2\n"), ("ORC", b"ORC\n1\n", ["--sum=ORC"], "1\n"),
            ("7z", b"7z,b\n1,2\n", ["--sum=b"], "2\n"), ("Obj", b"Obj,b\n1,2\n", ["--sum=b"], "2\n"),
            ("LZIP", b"LZIP,b\n1,2\n", ["--sum=b"], "2\n"), ("<a>", b"<a>,b\n1,2\n", ["--sum=b"], "2\n"),
            ("a brace", b"{,b\n1,2\n", ["--sum=b"], "2\n"), ("a bracket", b"[,b\n1,2\n", ["--sum=b"], "2\n"),
            ("numbers in brackets", b"[1,b\n2],3\n", ["--sum=b"], "3\n"),
            ("a list of numbers", b"[1],b\n2,3\n", ["--sum=b"], "3\n"),
            ("an object, then a column", b'{"a":1},b\n1,2\n', ["--sum=b"], "2\n"),
            ("an object, then a tab", b'{"a":1}\tb\n1\t2\n', ["-d", "\\t", "--sum=b"], "2\n"),
            ("an empty object", b"{}\n5\n", ["--header=yes", "--sum=1"], "5\n"),
            ("half an object", b'{"a":1,b\nx,2\n', ["--header=yes", "--sum=2"], "2\n"),
            ("bytes of a UTF-16 mark", b"\xff\xfe,b\n1,2\n", ["--sum=b"], "2\n"),
            ("a NUL in a name", b"a\0x,b\n1,2\n", ["--sum=b"], "2\n"),
            ("a NUL in each record", b"a,b\n\0,2\n\0,3\n", ["--sum=b"], "5\n"),
            ("control bytes as delimiter", b"a\x1fb\x1fc\n1\x1f2\x1f3\n" * 1, ["-d", "\x1f", "--sum=b"], "2\n"),
            ("every control byte, behind the first line",
             b"a,b\n" + b"".join(b"x%c,1\n" % c for c in range(32) if c not in b"\n\r"), ["--sum=b"], "30\n"),
            ("escapes of a terminal", b"\x1b[1ma\x1b[0m,b\n1,2\n", ["--sum=b"], "2\n")):
        harness.agrees("read: " + name, args, data, harness.exactly(want), WAYS)


def check_slow():
    """The verdict does not depend on how the bytes arrive, and no byte is waited for that cannot matter."""
    for name, data, what, remedy in REFUSED:
        if len(data) > 5000:
            continue
        p = subprocess.Popen([harness.program(), "--sum=b"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=harness.environment())
        try:
            for at in range(0, min(len(data), 40)):
                os.write(p.stdin.fileno(), data[at:at + 1])
                time.sleep(0.0005)
            p.stdin.write(data[40:])
        except BrokenPipeError:
            pass
        out, err = p.communicate()
        want = message("<stdin>", what, remedy, "FILE")
        ok((p.returncode, out, err) == (1, b"", want), "byte by byte: " + name,
           lambda: "%s %s %s\nwanted: %s" % (p.returncode, out, err, want))


check_formats()
check_several()
check_inside()
check_names()
check_remedies()
check_good()
check_slow()
harness.done()
