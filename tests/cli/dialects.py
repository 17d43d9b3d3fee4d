# SPDX-License-Identifier: MIT
"""The dialects of the chapter CSV of gpustat(1): --quote, --escape, --comment, --whitespace, text behind a closing quote."""
import csv
import io
import random

import harness
from harness import fixture

THREADS = (1, 2, 3, 7)
STRAY = "gpustat: <stdin>:%d: text behind a closing quote: try %s\n"
ESCAPE, NONE = "--escape '\\'", "--quote none"
USAGE = "gpustat: %s\nTry 'gpustat --help'.\n"


def says(name, args, stdin, status, out, err=""):
    """Exactly this, whatever the chunks and threads."""
    wanted = (status, harness._bytes(out), harness._bytes(err))
    ways = [(chunk, THREADS[i % 4]) for i, chunk in enumerate(harness.every_cut(stdin))] + [(None, 1), (None, 3)]
    harness.agrees(name, args, stdin, lambda r: None if (r.status, r.out, r.err) == wanted else "wanted: %r" % (wanted,), ways)


def check_quotes():
    says("another quote", ["--quote=*", "--sum=b", "--count=a"], b'a,b\n*x,"y*,2\n"x,3\n**,*4*\n*a**b\n*,5\n', 0, "sum(b),count(a)\n14,3\n")
    says("another quote, a condition", ["--quote='", "--where=a = \"it's\"", "--sum=b"], b"a,b\n'it''s',2\n'its',3\nit's,4\n", 0, "6\n")
    says("a quote that is no ASCII", [b"--quote=\xa7", "--sum=b"], b"a,b\n\xa7x,y\n\xa7,2\n", 0, "2\n")
    says("no quotes", ["--quote=none", "--sum=b", "--count=a"], b'a,b\n"x,2\n"y",3\n12",4\n', 0, "sum(b),count(a)\n9,3\n")
    says("no quotes, and NULs", ["--quote=none", "--sum=b"], b'a,b\n\0x,2\n\0,\x003\n'.replace(b"\x003", b"3"), 0, "5\n")
    says("no quotes: they are part of a name", ["--quote=none", "--sum", '"""b"""'], b'a,"b"\nx,1\n', 0, "1\n")
    says("no quotes: a quoted number is none", ["--quote=none", "--sum=b"], b'a,b\nx,"1"\n', 1, "",
         "gpustat: <stdin>:2: column 'b': not a number: '\"1\"' (try --invalid skip)\n")
    says("no quotes in TSV", ["-d\\t", "--quote=none", "--count=t", "--sum=n"], b't\tn\n5" disk\t1\n"\t2\n"a"b\t3\n', 0, "count(t),sum(n)\n3,6\n")


def check_stray():
    """Whichever columns are asked for; before any other fault of the record."""
    for args in (["--sum=b"], ["--count=a"], ["--max=b", "--invalid=skip"], ["--where=b > 1", "--sum=b"], []):
        says("backslashes, %s" % args, args, b'a,b\nx,1\n"say \\"hi\\"",2\n', 1, "", STRAY % (3, ESCAPE))
        says("inches, %s" % args, args, b'a,b\nx,1\n"5" disk",2\n', 1, "", STRAY % (3, NONE))
    says("records that are printed end before it", ["--running-sum=b"], b'a,b\nx,1\ny,2\n"z" z,3\nw,4\n', 1,
         "a,b,running_sum(b)\nx,1,1\ny,2,3\n", STRAY % (4, NONE))
    says("the line where it is", ["--sum=b"], b'a,b\n"x\n\ny" z,1\n', 1, "", STRAY % (4, NONE))
    says("in the header", ["--sum=b"], b'"a"x,b\ny,1\n', 1, "", STRAY % (1, NONE))
    says("in the header, on its second line", ["--sum=b"], b'\n"a\n\\"x",b\ny,1\n', 1, "", STRAY % (3, ESCAPE))
    says("in the first record", ["--sum=2", "--header=no"], b'"a"x,1\ny,1\n', 1, "", STRAY % (1, NONE))
    for data in (b'\n\n""m', b'\n\n""m\n3\n', b'\n\n4,""m\n'):
        says("behind blank lines, which may be records or not: %r" % data, ["--header=no", "--running-sum=1"], data, 1, "", STRAY % (3, NONE))
    says("in the last record, without a line end", ["--sum=b"], b'a,b\nx,"1"2', 1, "", STRAY % (2, NONE))
    says("in a number", ["--sum=b"], b'a,b\nx,"1"2\n', 1, "", STRAY % (2, NONE))
    says("before a bad value of its record", ["--sum=a"], b'a,b\nbad,"1"2\n', 1, "", STRAY % (2, NONE))
    says("before too many fields of its record", ["--sum=a"], b'a,b\n1,"x \\"y, z\\" w"\n', 1, "", STRAY % (2, ESCAPE))
    says("behind a fault of an earlier record", ["--sum=a"], b'a,b\nbad,1\n1,"1"2\n', 1, "",
         "gpustat: <stdin>:2: column 'a': not a number: 'bad' (try --invalid skip)\n")
    says("a CR that is none of a line end", ["--sum=b"], b'a,b\n"x"\ry,2\n', 1, "", STRAY % (2, NONE))
    says("a CR before a delimiter", ["--sum=b"], b'a,b\n"x"\r,2\n', 1, "", STRAY % (2, NONE))
    says("the escape byte behind a closing quote", ["--escape=\\", "--sum=b"], b'a,b\n"x"\\,2\n', 1, "", STRAY % (2, NONE))
    says("with another escape byte", ["--escape=^", "--sum=b"], b'a,b\n"x\\"y",2\n', 1, "", STRAY % (2, ESCAPE))
    says("none: CR LF, CR at the end", ["--sum=a", "--count=b"], b'a,b\r\n1,"x"\r\n2,"y"\r', 0, "sum(a),count(b)\n3,2\n")
    says("none: doubled quotes, empty ones", ["--sum=a", "--count=b"], b'a,b\n1,"x"""\n2,""\n"3",""""\n', 0, "sum(a),count(b)\n6,2\n")
    says("none: quotes in an unquoted field", ["--sum=a", "--count=b"], b'a,b\n1,12" disk\n2, "x" y\n3,x"y"z\n', 0, "sum(a),count(b)\n6,3\n")
    path = fixture("stray.csv", b'a,b\n1,"x"y\n')
    harness.refuses("the file is named", ["--sum=a", path], None, 1, "gpustat: %s:2: text behind a closing quote: try --quote none\n" % path)
    lines = [b'%d,"a ""b"", c",%s' % (i, (b"x", b'"y"', b'12" z')[i % 3]) for i in range(3000)]
    for at in (0, 1, 700, 2999):
        one = lines[:at] + [lines[at] + b'\r,"q"!' if at % 3 == 1 else b'1,"q"!,2'] + lines[at + 1:]
        data = b"n,t,u\n" + b"\n".join(one) + b"\n"
        ways = [(c, t) for c in (1, 61, 64, 1000, 65536, None) for t in (1, 3)]
        wanted = (1, b"", harness._bytes(STRAY % (at + 2, NONE)))
        harness.agrees("one of 3,000 records, number %d" % at, ["--sum=n"], data,
                       lambda r, w=wanted: None if (r.status, r.out, r.err) == w else "wanted: %r" % (w,), ways)


def check_escapes():
    esc = ["--escape=\\"]
    says("outside of quotes", esc + ["--sum=b", "--count=a"], b"a,b\nx\\,y,1\n\\\nz\\\n,2\n\\\\,3\n\\\"q\\\",4\n", 0, "sum(b),count(a)\n10,4\n")
    says("inside quotes", esc + ["--sum=b", "--count=a"], b'a,b\n"say \\"hi\\", you",1\n"\\\\",2\n"a""b\\\n",3\n', 0, "sum(b),count(a)\n6,3\n")
    says("values lack it", esc + ["--where=a = 'say \"hi\"'", "--sum=b"],
         b'a,b\n"say \\"hi\\"",1\nsay \\"hi\\",2\n"say ""hi""",4\n\\say "hi",8\nsay\\\\ "hi",16\n', 0, "15\n")
    says("an escaped line end", esc + ["--where=a = '1\n2'", "--sum=b"], b'a,b\n1\\\n2,1\n"1\n2",2\n"1\\\n2",4\n12,8\n', 0, "7\n")
    says("numbers", esc + ["--sum=b"], b"a,b\nx,1\\2\nx,\"\\3\"\nx,\\-4\n", 0, "11\n")
    says("missing once escapes are removed", esc + ["--missing=N", "--count=a", "--sum=b"], b"a,b\n\\N,1\n,2\nx,3\n", 0, "count(a),sum(b)\n1,6\n")
    says("names", esc + ["--sum", "x,y"], b"a,x,y\n1,2,3\n", 0, "sum(x),sum(y)\n2,3\n")
    says("a name with a delimiter", esc + ["--sum", '"x,y"'], b"a,x\\,y\n1,2\n", 0, "2\n")
    says("an escaped CR is data", esc + ["--where=b = '1\r'", "--count=a"], b"a,b\r\nx,1\\\r\r\ny,1\\\r\nz,1\r\n", 0, "2\n")
    says("an escaped CR stays in its record", esc + ["--running-count=a"], b"a,b\nx,1\\\r\ny,2\r\n", 0,
         "a,b,running_count(a)\nx,1\\\r,1\ny,2,2\r\n")
    says("no quotes, escapes only", esc + ["--quote=none", "-d\\t", "--sum=b", "--count=a"], b'a\tb\n"x\\\ty\t1\n\\N\t2\n\\\n"\t3\n', 0, "sum(b),count(a)\n6,3\n")
    says("nothing follows the last", esc + ["--sum=b"], b"a,b\nx,1\ny,2\\", 1, "",
         "gpustat: <stdin>:3: nothing follows the escape byte that ends the file (try no --escape, if the byte is data)\n")
    says("nothing follows it in the header", esc + ["--sum=b"], b"a,b\\", 1, "",
         "gpustat: <stdin>:1: nothing follows the escape byte that ends the file (try no --escape, if the byte is data)\n")
    says("the last closing quote is escaped", esc + ["--sum=b"], b'a,b\nx,"1\\"\ny,2\n', 1, "", "gpustat: <stdin>:2: quoted field is never closed (try --quote none, if quotes are data)\n")
    log = b'host,request,bytes\n10.0.0.1,"GET /?q=\\"a, b\\" HTTP/1.1",512\n10.0.0.2,"GET /\\\\",88\n'
    says("an Apache log as it is", ["--sum=bytes"], log, 1, "", STRAY % (2, ESCAPE))
    says("an Apache log as the error says", esc + ["--sum=bytes"], log, 0, "600\n")
    says("another escape byte", ["--escape=^", "--quote='", "--sum=b"], b"a,b\n'x^',y',1\n^'z,2\n", 0, "3\n")


def check_comments():
    hash = ["--comment=#"]
    says("before, between and behind", hash + ["--sum=b", "--count=a"],
         b'# a "b\n#\n\na,b\nx,1\n#y,2\n# "\n#,\nz,4\n #,8\n"#",16\nq#,32\n# the end', 0, "sum(b),count(a)\n61,5\n")
    says("one column", hash + ["--sum=1"], b"#1\n1\n\n#2\n2\r\n#3\r\n3", 0, "6\n")
    says("blank lines in one column still are missing", hash + [], b"# x\nn\n#\n1\n\n#2\n3\n", 0,
         "column  type    count  missing  invalid  sum  min  max  mean\nn       number      2        1        0    4    1    3     2\n")
    says("they are not printed", hash + ["--where=b > 1"], b"# title\na,b\nx,1\n# y,2\nz,4\n", 0, "a,b\nz,4\n")
    says("not in quotes", hash + ["--sum=b"], b'a,b\n"x\n#y",1\n#"\nz,2\n', 0, "3\n")
    says("not elsewhere in a record", hash + ["--count=b", "--sum=a"], b"a,b\n1,#x\n2,#\n", 0, "count(b),sum(a)\n2,3\n")
    says("an escaped one is data", hash + ["--escape=\\", "--sum=b"], b"a,b\n\\#x,1\n#y\\\nz,2\nw\\\n#,4\n", 0, "7\n")
    says("without quotes", hash + ["--quote=none", "--sum=b"], b'a,b\n"x,1\n#"\ny",2\n', 0, "3\n")
    says("line numbers count them", hash + ["--sum=b"], b"#\na,b\n#x\ny,bad\n", 1, "", "gpustat: <stdin>:4: column 'b': not a number: 'bad' (try --invalid skip)\n")
    says("only comments", hash + ["--sum=1"], b"# a\n# b", 0, "0\n")
    says("a counted column, and a comment without line end behind it", hash + ["--count=:1"], b"f\n#x", 1, "",
         "gpustat: <stdin>:1: 'f' may be names or data: say -H if these are names, -N if they are data\n")
    says("a guessed header with nothing but comments behind it", hash + ["--running-count=1"], b"y\n#", 1, "",
         "gpustat: <stdin>:1: 'y' may be names or data: say -H if these are names, -N if they are data\n")
    head, rest = fixture("head.csv", b"v\n# no more\n"), fixture("rest.csv", b"# still no more\n5\n7\n")
    harness.answers("comments between files", hash + ["--running-sum=v", head, rest], None, "v,running_sum(v)\n5,5\n7,12\n")
    harness.answers("a file of comments", hash + ["--running-sum=v", head, fixture("none.csv", b"#\n# x"), rest], None,
                    "v,running_sum(v)\n5,5\n7,12\n")
    again = fixture("again.csv", b"# again\nv\n1\n")
    harness.answers("comments before the header of a later file", hash + ["--sum=v", head, rest, again], None, "13\n")
    data = b"a,b\n1,#x\n2,y\n3,##\n"
    for name, args, out in (
            ("a field", ["--select=b,a"], 'b,a\n"#x",1\ny,2\n"##",3\n'),
            ("not the first", ["--select=a,b"], "a,b\n1,#x\n2,y\n3,##\n"),
            ("a computed one", ["--let=c = b", "--only", "--row-number"], 'c,row_number\n"#x",1\ny,2\n"##",3\n'),
            ("one of another record", ["--lead=b:2", "--only", "--lag=b"], 'lead(b:2),lag(b)\n"##",\n,#x\n,y\n'),
            ("one that is chosen", ["--tail=1", "--select=b"], 'b\n"##"\n'),
            ("a name", ["--rename=a=#n"], '"#n",b\n1,#x\n2,y\n3,##\n'),
            ("a selected name", ["--select=b,a", "--rename=b=#n"], '"#n",a\n"#x",1\ny,2\n"##",3\n'),
            ("quoted by another byte", ["--quote='", "--select=b"], "b\n'#x'\ny\n'##'\n"),
            ("escaped", ["--escape=\\", "--select=b"], "b\n\\#x\ny\n\\##\n"),
            ("escaped, without quotes", ["--quote=none", "--escape=\\", "--select=b"], "b\n\\#x\ny\n\\##\n")):
        harness.agrees("a printed record does not begin as one: " + name, hash + args, data, harness.exactly(out),
                       [(c, t) for c in (1, 2, 7, None) for t in (1, 3)])
        dialect = [a for a in args if a.startswith(("--quote", "--escape"))]
        harness.answers("and is read again: " + name, hash + dialect + ["-H", "--count-records"], out.encode(),
                "%d\n" % (out.count("\n") - 1))
    says("a printed record does not begin as one: quotes in it", hash + ["--select=b"], b'a,b\n1,#x"y\n2,"#z"\n', 0, 'b\n"#x""y"\n"#z"\n')
    says("a printed record does not begin as one: a number", ["--comment=-", "--cumsum=b", "--only"], b"a,b\n1,-2\n", 0, 'running_sum(b)\n"-2"\n')
    says("a printed record does not begin as one: words", hash + ["-W", "--select=b,a"], b"a  b\n1  #x\n", 0, "b a\n #x 1\n")
    says("a printed record does not begin as one: the first word", hash + ["-W", "--header=yes", "--select=1"], b"a  b\n #1  x\n", 0, "a\n #1\n")
    says("a record that begins with a blank is no comment", hash + ["-W", "--where=b = 'x'"], b"a  b\n #1  x\n", 0, "a  b\n #1  x\n")
    none = ("gpustat: --quote none: a line that is printed could begin with '#', the byte of --comment, and nothing can quote it: "
            "try --escape '\\', or the input's first column first\nTry 'gpustat --help'.\n")
    says("a printed record that could not be quoted", hash + ["--quote=none", "--select=b,a"], data, 2, "", none)
    says("a computed one that could not be quoted", hash + ["--quote=none", "--let=c = upper(b)", "--only"], data, 2, "", none)
    says("the first column does not begin as a comment", hash + ["--quote=none", "--select=a,b"], data, 0, data.decode())
    says("nor does a number", hash + ["--quote=none", "--cumsum=a", "--only"], data, 0, "running_sum(a)\n1\n3\n6\n")
    says("a name that could not be quoted", hash + ["--quote=none", "--rename=a=#n"], data, 2, "",
         "gpustat: --quote none: the name of the new column '#n' would begin a comment: nothing can quote it\nTry 'gpustat --help'.\n")
    says("a new name that holds the delimiter", ["--quote=none", "--rename=b=x,y"], data, 2, "",
         "gpustat: --quote none: the name of the new column 'x,y' holds the delimiter: nothing can quote it\nTry 'gpustat --help'.\n")
    says("byte offsets count them", hash + ["--byte-offset", "--only"], b"#\na,b\n#x\n1,2\n", 0, "byte_offset\n9\n")


# ---- random tables, held against Python's csv ----------------------------------------------------

PIECES = ("a", "b c", ",", "\n", '"', "\\", "#", "\\\\", '""', "\r\n", "#x\n#", "'")


def write(rng, value, quote, escape):
    """One of the ways to write a value."""
    plain = "".join(escape + c if c in ",\n\r" + quote + escape or (c == "#" and i == 0) else c for i, c in enumerate(value)) if escape else value
    inner = "".join((rng.choice((quote * 2, escape + quote)) if escape else quote * 2) if c == quote else
                    escape * 2 if escape and c == escape else c for c in value)
    if not escape and any(c in ",\n\r" + quote or c == "#" for c in value):
        return quote + inner + quote
    return rng.choice((plain, quote + inner + quote))


def check_random():
    rng = random.Random(17)
    for round_ in range(12):
        escape, quote = ("\\", "", "^")[round_ % 3], "\"'"[round_ % 2]
        rows, text = [], "# x,%s\nt,n,u\n" % quote
        for i in range(rng.choice((3, 40, 1500))):
            row = ["".join(rng.choices(PIECES, k=rng.randrange(4))), rng.randrange(-999, 999), "".join(rng.choices(PIECES, k=rng.randrange(3)))]
            rows.append(row)
            while rng.random() < .2:
                text += "#%s\\\n" % "".join(rng.choices(PIECES, k=rng.randrange(5))).replace("\n", "\n#")
            text += "%s,%s,%s%s" % (write(rng, row[0], quote, escape), write(rng, str(row[1]), quote, ""), write(rng, row[2], quote, escape), rng.choice(("\n", "\r\n")))
        args = ["--comment=#", "--quote=" + quote] + (["--escape=" + escape] if escape else [])
        data = text.encode()
        total = sum(row[1] for row in rows)
        present = sum(row[0].strip(" \t") != "" for row in rows)
        ways = [(c, t) for c in (1, 2, 3, 63, 64, 65, 1000, None) for t in (1, 3)]
        harness.agrees("random table %d: sums" % round_, args + ["--sum=n", "--count=t"], data,
                       harness.exactly("sum(n),count(t)\n%d,%d\n" % (total, present)), ways)
        harness.agrees("random table %d: sums of a file" % round_, args + ["--sum=n", "--count=t", fixture("random.csv", data)], None,
                       harness.exactly("sum(n),count(t)\n%d,%d\n" % (total, present)), ways)
        for text in ("b c", ",", "#", "\\"):
            harness.agrees("random table %d: %r" % (round_, text), args + ["--where=t = '%s'" % text, "--sum=n"], data,
                           harness.exactly("%d\n" % sum(row[1] for row in rows if row[0] == text)), ways)
        printed = harness.run(args + ["--where=n > -2000"], data).out.decode()
        if not escape:                          # Python's csv escapes a quote in quotes, too, but knows no comments
            lines = list(csv.reader(io.StringIO(printed, newline=""), quotechar=quote))
            harness.is_([[a, int(n), u] for a, n, u in lines[1:]], rows, "random table %d: what is printed" % round_)
        again = harness.run(args + ["--sum=n", "--count=t"], printed.encode())
        harness.is_(again.out, b"sum(n),count(t)\n%d,%d\n" % (total, present), "random table %d: what is printed is read again" % round_)


# ---- whitespace ------------------------------------------------------------------------------------

DF = b"""Filesystem              1K-blocks     Used Available Use% Mounted on
tmpfs                    24684084       96  24683988   1% /dev/shm
/dev/vda                264212084 22331884  78005304  23% /
overlay                   1048576        4   1048572   1% /mnt/my disk
"""
LS = b"""total 95688
-rw-r--r-- 1 root root  5259 Nov 22 12:46 emit.c
-rwxr-xr-x 1 root root 72360 Nov 22 12:47 rh new
drwxr-xr-x 2 root root  4096 Nov  2 2025  a b  c
"""
PS = b"""USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.0   4356  3100 ?        Ss   12:25   0:00 /bin/sh -c 'sleep  1'
nobody     12345 31.6  0.1 222744 45028 pts/0    R+   16:25   1:02 python3 -c "print(1, 2)"
root         117  0.5  0.0      0     0 ?        I    12:25   0:00 [kworker/0:1]
"""


def check_whitespace():
    says("df", ["-W", "--sum=Used", "--max=Available"], DF, 0, "sum(Used),max(Available)\n22331984,78005304\n")
    says("df: the last name and the last value have blanks", ["-W", "--where", '`Mounted on` = "/mnt/my disk"', "--sum=2"], DF, 0, "1048576\n")
    says("df: a percentage", ["-W", "--percent", "--max", "Use%"], DF, 0, "0.23\n")
    says("df: records are printed as they are", ["-W", "--where=Used > 50", "--running-sum=Used"], DF.replace(b"my disk", b"disk"), 0,
         "Filesystem              1K-blocks     Used Available Use% Mounted on running_sum(Used)\n"
         "tmpfs                    24684084       96  24683988   1% /dev/shm 96\n"
         "/dev/vda                264212084 22331884  78005304  23% / 22331980\n")
    says("df: a new name has no blanks", ["-W", "--running-count=Mounted on", "--only"], DF, 0, "running_count(Mounted_on)\n1\n2\n3\n")
    says("ls -l", ["-W", "--skip-lines=1", "--header=no", "--sum=5"], LS, 0, "81715\n")
    says("ls -l: its first line is the first record", ["-W", "--sum=5"], LS, 2, "",
         "gpustat: unknown column '5'\ngpustat: the input has 2 columns: total, 95688\n")
    says("ps aux", ["-W", "--sum=RSS", "--max=%CPU", "--count=COMMAND"], PS, 0, "sum(RSS),max(%CPU),count(COMMAND)\n48128,31.6,3\n")
    says("ps aux: the command is one value", ["-W", "--where", 'COMMAND = "/bin/sh -c \'sleep  1\'"', "--sum=PID"], PS, 0, "1\n")
    says("ps aux: text and numbers in conditions", ["-W", "--where", 'USER = "root" and `%CPU` < 0.4', "--sum=VSZ"], PS, 0, "4356\n")
    says("tabs, blanks at both ends, CR LF", ["-W", "--sum=b"], b" a \t b\t\r\n\t1   2  \r\n3 4\r\n  5\t6 \t\r\n", 0, "12\n")
    says("new fields come behind the blanks at a record's end", ["-W", "--running-sum=b"], b" a b \t\r\n1 2 \n", 0,
         " a b \t running_sum(b)\r\n1 2  2\n")
    says("'*' looks at all of the second record's last value", ["-W", "--running-sum=*", "--only"], b"a  b\n1  2 3\n", 0, "running_sum(a)\n1\n")
    for beside in ("--corr=a:b", "--where=a > 0"):
        harness.agrees("the blanks are no part of a text whose number another result needs: " + beside,
                       ["-W", "--text-min=a", "--text-max=a", "--mode=a", beside, "--format=json"], b"a b\n5\t 6\n7 \t 8\n 50 \t9\n",
                       lambda r: None if b'"text_min(a)": "5", "text_max(a)": "7", "mode(a)": "5"' in r.out else "texts without blanks",
                       [(1, 1), (None, None)])
    says("one name has no rest", ["-W", "--sum=1"], b"Mounted on\n1\n", 1, "", "gpustat: <stdin>:1: the header has 2 words where the next record "
         "has 1, which do not stand below them (try -N if this line is data, --skip-lines 1 if it is a title, or both, and columns by number)\n")
    says("lines of blanks are blank lines", ["-W", "--sum=b"], b"\n  \na b\n\n \t \r\n1 2\n   ", 0, "2\n")
    says("one column", ["-W", "--sum=1", "--count=1"], b"  1\n2  \n\n \t\n 3", 0, "sum(1),count(1)\n6,3\n".replace("(1)", "(col1)"))
    says("one column takes the line", ["-W", "--where=a = 'x  y'", "--count=a"], b"a\n x  y \nx y\n", 0, "1\n")
    says("quotes are data", ["-W", "--where=a = '\"x'", "--count=b"], b'a b\n"x y"\n"z 1\n', 0, "1\n")
    says("comments", ["-W", "--comment=#", "--sum=b"], b"# x y z\na b\n#1 1\n2 2\n #3 3\n", 0, "5\n")
    says("too few fields", ["-W", "--sum=b"], b"a b c\n1 2 3\n4 5\n", 1, "", "gpustat: <stdin>:3: 2 fields where the header has 3: see --ragged\n")
    says("too few fields, taken", ["-W", "--ragged=allow", "--sum=b"], b"a b c\n1 2 3\n4 5\n", 0, "7\n")
    says("a bad value in the last column", ["-W", "--sum=b"], b"a  b\n1  2\n3  4 5\n", 1, "", "gpustat: <stdin>:3: column 'b': not a number: '4 5' (try --invalid skip)\n")
    rows = [(i % 7 * 1001, "w" * (i % 5 + 1), i * i % 997) for i in range(4000)]
    data = "".join("%8d %-6s %5d %s\n" % (a, b, c, "x y" * ((i + 1) % 3)) for i, (a, b, c) in enumerate(rows)).encode()
    want = "sum(col1),sum(col3)\n%d,%d\n" % (sum(r[0] for r in rows), sum(r[2] for r in rows))
    ways = [(c, t) for c in (1, 7, 64, 1000, 65536, None) for t in (1, 3)]
    harness.agrees("4,000 aligned rows", ["-W", "--header=no", "--ragged=allow", "--sum=1,3"], data, harness.exactly(want), ways)
    harness.agrees("4,000 aligned rows, a condition", ["-W", "--header=no", "--ragged=allow", "--where=:3 > 500 and :2 = 'www'", "--sum=1"], data,
                   harness.exactly("%d\n" % sum(r[0] for r in rows if r[2] > 500 and r[1] == "www")), ways)


# ---- what is printed, usage ------------------------------------------------------------------------

def check_output():
    says("names are quoted as the input is", ["--quote='", "-d_", "--running-sum=b"], b"a_b\nx_1\n", 0, "a_b_'running_sum(b)'\nx_1_1\n")
    says("a quote in a name is doubled", ["--quote=*", "--running-sum", "b*c"], b"a,*b**c*\nx,1\n", 0, "a,*b**c*,*running_sum(b**c)*\nx,1,1\n")
    says("numbers are quoted as the input is", ["--quote='", "-d.", "--running-sum=b"], b"a.b\nx.'1.5'\n", 0, "a.b.running_sum(b)\nx.'1.5'.'1.5'\n")
    says("an escape byte in a name is escaped", ["--escape=^", "--running-sum", "b^c"], b"a,b^^c\nx,1\n", 0, "a,b^^c,running_sum(b^^c)\nx,1,1\n")
    says("no quotes: a delimiter in a name is escaped", ["--escape=^", "--quote=none", "--running-sum", '"b,c"'], b"a,b^,c\nx,1\n", 0,
         "a,b^,c,running_sum(b^,c)\nx,1,1\n")
    says("no quotes: a quote in a name stays", ["--quote=none", "--running-sum", '"b""c"'], b'a,b"c\nx,1\n', 0, 'a,b"c,running_sum(b"c)\nx,1,1\n')
    says("nothing quotes a name", ["--quote=none", "-d_", "--running-sum=b"], b"a_b\nx_1\n", 2, "",
         USAGE % "--quote none: the name of the new column 'running_sum(b)' holds the delimiter: nothing can quote it")
    for device in ("cpu", "gpu"):
        if device == "gpu" and harness.run(["--sum=1"], b"1\n", device="gpu").status:
            harness.skip("why not on a GPU", "no GPU")
            continue
        for args, why in ((["--escape=\\"], "--escape"), (["--comment=#"], "--comment"), (["-W"], "--whitespace"), (["--trim"], "--trim")):
            r = harness.run(args + ["--sum=1", "-v"], b"1\n", device=device)
            reason = b"CPU only, as asked" if device == "cpu" else b"CPU only: no GPU reads " + why.encode()
            harness.ok(r.status == 0 and r.err.startswith(b"gpustat: " + reason + b"\n"), "%s: %s" % (device, why), lambda r=r: harness.describe(r))


# ---- trim ------------------------------------------------------------------------------------------

LATE = "gpustat: <stdin>:%d: blanks between a quote and a delimiter: try --trim, or --quote none if quotes are data\n"
LIST = b'id, "name, first" ,amount \n1, "Doe, J", 5\n 2 ,\t"Roe ""R"", S"\t, "7.5" \r\n3 , , 4'


def check_trim():
    trim = ["--trim"]
    says("quotes after blanks", trim + ["--sum=amount", "--count", '"name, first"'], LIST, 0, 'sum(amount),"count(name, first)"\n16.5,2\n')
    says("groups", trim + ["--by", '"name, first"', "--sum=amount"], LIST, 0, '"name, first",sum(amount)\n"Doe, J",5\n"Roe ""R"", S",7.5\n,4\n')
    says("groups of two columns", trim + ["--by=k,l"], b'k ,l\n"a" , x\n a,"x"\na , "x "\n', 0, 'k,l,count\na,x,2\na,x ,1\n')
    says("conditions", trim + ["--where", "n = 'Doe, J' or n = 'x'", "--sum=v"], b'n, v\n "Doe, J", 1\nx ,2\n" x",4\n', 0, "3\n")
    says("records are printed as they came", trim + ["--where=v > 1", "--cumsum=v"], b'n, v \n "Doe, J", 1\nx ,2 \n  \n', 0, "n, v ,running_sum(v)\nx ,2 ,2\n")
    says("copied fields lack the blanks", trim + ["--select=v,n"], b'n, v \n "Doe, J", 1\nx ,2 \n', 0, 'v,n\n1,"Doe, J"\n2,x\n')
    says("a lag", trim + ["--lag=n", "--fill-down=n"], b'n, v \n "a, b", 1\n ,2 \n', 0, 'n, v ,lag(n),filled(n)\n "a, b", 1,,"a, b"\n ,2 ,"a, b","a, b"\n')
    says("a lead", trim + ["--lead=n", "--only"], b'n, v \n "a, b", 1\n c ,2 \n', 0, 'lead(n)\nc\n\n')
    says("computed texts", trim + ["--let", "u=upper(n)", "--by=u"], b'n, v \n "a, b", 1\na ,2 \n"A, B",3\n', 0, 'u,count\n"A, B",2\nA,1\n')
    says("a computed text with blanks", trim + ["--let", "u=if(v > 1, ' x', n)", "--by=u"], b'n, v \n "a, b", 1\na ,2 \n', 0, 'u,count\n"a, b",1\n x,1\n')
    says("texts", trim + ["--mode=n", "--text-min=n", "--text-max=n", "--first=n", "--last=n", "--count-distinct=n"], b'n, v \n "b" , 1\n b,2 \n a ,3\n', 0,
         "mode(n),text_min(n),text_max(n),first(n),last(n),count_distinct(n)\nb,a,b,b,a,2\n")
    says("medians, a rank", trim + ["--median=v", "--p90=v"], b'n, v \na, "1" \na, 2\na,3 \n', 0, "p50(v),p90(v)\n2,2.8\n".replace("p50", "median"))
    says("the summary", trim + ["--format=csv"], b' n , v \n "b" , 1\n b,"2" \n', 0,
         "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\nn,text,2,0,0,,b,b,,1,1\nv,number,2,0,0,3,1,2,1.5,,\n")
    says("tabs are delimiters, blanks are not", trim + ["-d", "tab", "--sum=b"], b'a\t b\n "x\ty" \t 1\n\t2 \n', 0, "3\n")
    says("another quote, comments, escapes", trim + ["--quote='", "--escape=\\", "--comment=#", "--sum=b", "--count=a"],
         b"# a, 'b\na, b \n 'x, y' , 1\n#'\n \\ , 2\n '\\'', ' , '4'\n #,8\n", 1, "", "gpustat: <stdin>:6: text behind a closing quote: try --quote none\n")
    says("an escaped blank is data", trim + ["--escape=\\", "--where=a = 'x '", "--sum=b"], b"a,b\nx\\ ,1\n x\\  ,2\nx ,4\n'x ',8\n", 0, "3\n")
    says("no quotes", trim + ["--quote=none", "--by=a"], b'a ,b\n"x ,1\n  "x,2\n', 0, 'a,count\n"""x",2\n')
    says("a comment begins its line", trim + ["--comment=#", "--sum=b"], b"a,b\n#,1\n #,2\n", 0, "2\n")
    says("a field that would begin a comment", trim + ["--comment=#", "--select=a"], b"a,b\n #x,1\n", 0, 'a\n"#x"\n')
    says("nothing can quote it", trim + ["--comment=#", "--quote=none", "--select=a"], b"a,b\n #x,1\n", 2, "",
         USAGE % "--quote none: a line that is printed could begin with '#', the byte of --comment, and nothing can quote it: try --escape '\\', "
         "or the input's first column first")
    says("line ends in quotes", trim + ["--sum=b"], b'a,b\n "x\n, y" , 1\n', 0, "1\n")
    says("a delimiter and a blank at the end", trim + ["--sum=b"], b'a,b\n1,2, \n1,3\t,\n', 0, "5\n")
    says("lines of blanks", trim + ["--sum=b"], b' \n a,b\n\t\n1,2\n  \r\n', 0, "2\n")
    says("text after a closing quote", trim + ["--sum=b"], b'a,b\n "x" y,2\n', 1, "", STRAY % (2, NONE))
    says("two quoted pieces", trim + ["--sum=b"], b'a,b\n "x" "y",2\n', 1, "", STRAY % (2, NONE))
    says("a bad value has no blanks", trim + ["--sum=b"], b'a,b\nx, " z" \n', 1, "", "gpustat: <stdin>:2: column 'b': not a number: 'z' (try --invalid skip)\n")
    spaced, plain = fixture("spaced.csv", b'a, b\nx, "1"\n'), fixture("plain.csv", b"b ,a\n2 ,y\n")
    harness.answers("files with the columns elsewhere", trim + ["--sum=b", spaced, plain], None, "3\n")
    parts = [fixture("%s.part" % k, harness.run(args + ["--sum=b", "--partial", path], None).out)
             for k, (args, path) in enumerate(((trim, spaced), (trim, fixture("more.csv", b"a, b\ny , 2\n")), ([], fixture("bare.csv", b"a,b\nx,1\n"))))]
    harness.answers("parts", ["--merge"] + parts[:2], None, "3\n")
    harness.refuses("parts share it", ["--merge", parts[0], parts[2]], None, 1, "gpustat: %s:1: another query than the first part's: --trim (try the same options for all parts)\n" % parts[2])
    lines = [b' %d , "a ""b"" , %d" ,%s' % (i, i, (b"x", b'"y" ', b'12" z', b' ')[i % 4]) for i in range(3000)]
    ways = [(c, t) for c in (1, 7, 61, 64, 1000, 65536, None) for t in (1, 3)]
    harness.agrees("3,000 records", trim + ["--sum=n", "--count=t,u"], b" n, t, u\n" + b"\n".join(lines),
                   harness.exactly("sum(n),count(t),count(u)\n4498500,3000,2250\n"), ways)


def check_late_quotes():
    """Blanks between a delimiter and a quote, without --trim."""
    for args in (["--sum=b"], ["--count=a"], ["--max=b", "--invalid=skip"], ["--where=b > 1", "--sum=b"], ["--by=a"], []):
        says("before the quote, %s" % args, args, b'a,b\nx,1\n "y, z",2\n', 1, "", LATE % 3)
        says("after it, %s" % args, args, b'a,b\nx,1\n"y, z" ,2\n', 1, "", LATE % 3)
    says("in the header", ["--sum=amount"], LIST, 1, "", LATE % 1)
    says("a tab", ["--sum=b"], b'a,b\nx,\t"1"\n', 1, "", LATE % 2)
    says("at the end", ["--count=b"], b'a,b\nx, "1"', 1, "", LATE % 2)
    says("before CR LF", ["--count=b"], b'a,b\r\nx,"1" \r\n', 1, "", LATE % 2)
    says("a quote that its line does not close", ["--count=b"], b'a,b\nx, "1\n"y\n', 1, "", LATE % 2)
    says("doubled quotes", ["--count=b"], b'a,b\nx, "1"""\n', 1, "", LATE % 2)
    says("escaped ones", ["--escape=\\", "--count=b"], b'a,b\nx, "1\\"" \n', 1, "", LATE % 2)
    says("with comments", ["--comment=#", "--count=b"], b'a,b\n# "x"\n#\nx, "1"\n', 1, "", LATE % 4)
    says("an escaped delimiter", ["--escape=\\", "--count=b"], b'a,b\nx\\, "1" ,2\n', 0, "1\n")
    says("quotes around a part of a field are data", ["--by=b"], b'a,b\nx, "1" y\n', 0, 'b,count\n" ""1"" y",1\n')
    says("quotes within a field are data", ["--count=b"], b'a,b\nx,y "1"\nx,12" disk\n', 0, "2\n")
    says("without quotes they are data", ["--quote=none", "--sum=b"], b'a,b\n "x" ,1\n', 0, "1\n")
    says("blanks that separate", ["-d ", "--sum=c"], b'a b c\n "1" 2\n', 0, "2\n")
    says("between words", ["-W", "--count=b"], b'a b\n "1" "2"\n', 0, "1\n")


def check_usage():
    same = "--%s and --%s are the same byte"
    for args, sentence in (
            (["-d;", "--quote=;"], "--delimiter: a quote or a line end cannot separate fields"),
            (["--quote=,"], "--delimiter: a quote or a line end cannot separate fields"),
            (["-d\""], "--delimiter: a quote or a line end cannot separate fields"),
            (["-d\n"], "--delimiter: a quote or a line end cannot separate fields"),
            (["--escape=,"], same % ("delimiter", "escape")),
            (["--escape=\""], same % ("quote", "escape")),
            (["--quote='", "--escape='"], same % ("quote", "escape")),
            (["--comment=,"], same % ("delimiter", "comment")),
            (["--comment=\""], same % ("quote", "comment")),
            (["--escape=#", "--comment=#"], same % ("escape", "comment")),
            (["--quote=\n"], "--quote: a line end has a meaning already"),
            (["--escape=\r"], "--escape: a line end has a meaning already"),
            (["--comment=\n"], "--comment: a line end has a meaning already"),
            (["--quote=5"], "--quote: '5' can be part of a number"),
            (["--escape=e"], "--escape: 'e' can be part of a number"),
            (["--quote=-"], "--quote: '-' can be part of a number"),
            (["--decimal=;", "--escape=;"], "--escape: ';' can be part of a number"),
            (["--quote=ab"], "--quote: 'ab' is not one byte"),
            (["--escape="], "--escape: '' is not one byte"),
            (["--comment=//"], "--comment: '//' is not one byte"),
            (["-d||"], "--delimiter: '||' is not one byte: try sed 's/||/\\x1f/g' FILE | gpustat -d '\\x1f' ..."),
            (["-d.*"], "--delimiter: '.*' is not one byte: try sed 's/\\.\\*/\\x1f/g' FILE | gpustat -d '\\x1f' ..."),
            (["-d\u00a6"], "--delimiter: '\u00a6' is not one byte: try sed 's/\u00a6/\\x1f/g' FILE | gpustat -d '\\x1f' ..."),
            (["-d", "\\x100"], "--delimiter: '\\x100' is not one byte: try sed 's/\\\\x100/"
                                                             "\\x1f/g' FILE | gpustat -d '\\x1f' ..."),
            (["--escape", "\\400"], "--escape: '\\400' is not one byte"),
            (["-d  "], "--delimiter: '  ' is not one byte: --whitespace reads fields that end at runs of blanks"),
            (["-d\\s+"], "--delimiter: '\\s+' is not one byte: --whitespace reads fields that end at runs of blanks"),
            (["-W", "-d;"], "--whitespace: fields end at blanks and nothing quotes them: --delimiter has no meaning then"),
            (["-W", "--quote=none"], "--whitespace: fields end at blanks and nothing quotes them: --quote has no meaning then"),
            (["--escape=\\", "-W"], "--whitespace: fields end at blanks and nothing quotes them: --escape has no meaning then"),
            (["-W", "--comment= "], "--comment: a blank separates fields"),
            (["-W", "--trim"], "--whitespace: fields end at blanks and nothing quotes them: --trim has no meaning then"),
            (["--trim", "-d "], "--trim: a blank separates fields: say --whitespace if a run of blanks does"),
            (["--trim", "--quote= "], "--quote: with --trim, a blank is no part of a field"),
            (["--trim", "--comment=\t"], "--comment: with --trim, a blank is no part of a field"),
            (["--quote=none", "-d-", "--cumsum=1"], "--quote none: the numbers of a new column can hold the delimiter '-': nothing can quote them"),
            (["--quote=none", "-d5", "--byte-offset"], "--quote none: the numbers of a new column can hold the delimiter '5': nothing can quote them")):
        harness.refuses("usage: %s" % " ".join(args), args + ["--sum=1"] * (not any("cumsum" in a or "offset" in a for a in args)), b"1\n", 2,
                        USAGE % sentence)
    for form, byte in (("tab", b"\t"), ("\\t", b"\t"), ("\\x09", b"\t"), ("\\x1", b"\1"), ("\\001", b"\1"), ("\\1", b"\1"), ("\\x7C", b"|"), ("\\\\", b"\\")):
        says("a delimiter given as " + form, ["-d", form, "--sum=b"], b"a|b\n1|2\n3|4\n".replace(b"|", byte), 0, "6\n")
    says("a quote as delimiter, where nothing quotes", ["--quote=none", "-d\"", "--sum=2"], b'1"2\n3"4\n', 0, "6\n")


check_quotes()
check_stray()
check_escapes()
check_comments()
check_random()
check_whitespace()
check_output()
check_trim()
check_late_quotes()
check_usage()
harness.done()
