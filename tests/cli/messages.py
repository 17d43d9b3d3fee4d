# SPDX-License-Identifier: MIT
"""Untrusted text in messages: every byte that could harm a terminal or a log is escaped.

Names of files and columns, values, values of options and of environment variables contain hostile
text: escape sequences, line ends, bytes that are no UTF-8, characters that
change the direction of text. A message must be lines of plain text, and only the program may begin a line.
"""
import os
import pty
import re
import shlex
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
    harness.is_(pieces, [b"gpustat: <stdin>:2: column 'n': not a number: '\\x1b[31m' (try --invalid skip)\n"],
                "a message is one write")


HELP = "Try 'gpustat --help'."
NAMES = "gpustat: the input has 3 columns: host, bytes, k"

# What people type who know other programs, or slip: a command, its exact message, the status. t.csv is a file, "part" too.
MISTAKES = (
    # an option took the file's name
    ("--by k --count t.csv", "gpustat: --count took the file 't.csv' for its COLS, and no input is left: type --count COLS t.csv, "
     "or --count-records t.csv\n" + HELP, 2),
    ("--sum t.csv", "gpustat: --sum took the file 't.csv' for its COLS, and no input is left: type --sum COLS t.csv\n" + HELP, 2),
    ("--sum=t.csv", "gpustat: --sum took the file 't.csv' for its COLS, and no input is left: type --sum COLS t.csv\n" + HELP, 2),
    ("--p99 t.csv", "gpustat: --p99 took the file 't.csv' for its COLS, and no input is left: type --p99 COLS t.csv\n" + HELP, 2),
    ("--sum bytes -g t.csv", "gpustat: --by took the file 't.csv' for its COLS, and no input is left: type --by COLS t.csv\n" + HELP, 2),
    ("--sum bytes --missing t.csv",
     "gpustat: --missing took the file 't.csv' for its LIST, and no input is left: type --missing LIST t.csv\n" + HELP, 2),
    ("--cumsum t.csv", "gpustat: --cumsum took the file 't.csv' for its COLS, and no input is left: type --cumsum COLS t.csv\n" + HELP, 2),
    ("--select t.csv", "gpustat: --select took the file 't.csv' for its COLS, and no input is left: type --select COLS t.csv\n" + HELP, 2),
    ("--corr t.csv:2 t.csv", "gpustat: unknown column 't.csv'\n" + NAMES, 2),
    ("--sum t.csv bytes", "gpustat: bytes: cannot open: No such file or directory (try --sum 'bytes' 't.csv': the file was taken for COLS)", 1),
    # another thing is meant than what stands there
    ("--p95 bytes --by k --head 10 t.csv",
     "gpustat: --head is for printed records: --by prints groups, and --top N the first N of them\n" + HELP, 2),
    ("--p95 bytes --head 10 t.csv", "gpustat: --head is for printed records, and --p95 prints a result: for a result of those records, "
     "gpustat --head N FILE | gpustat --p95 COLS\n" + HELP, 2),
    ("--p95=bytes --cumsum bytes t.csv", "gpustat: --p95 prints one value and --cumsum prints every record: not both\n" + HELP, 2),
    ("--by host --sum bytes --max bytes --sort bytes t.csv",
     "gpustat: --sort: 'bytes' is not one result: host, sum(bytes), max(bytes)\n" + HELP, 2),
    ("--by host --sum bytes --sort byte t.csv", "gpustat: --sort: 'byte' is not one result: host, sum(bytes)\n" + HELP, 2),
    # a position beyond the table
    ("--sum 5 t.csv", "gpustat: unknown column '5'\n" + NAMES, 2),
    ("--sum :5 t.csv", "gpustat: unknown column ':5'\n" + NAMES, 2),
    ("--by 5 t.csv", "gpustat: unknown column '5'\n" + NAMES, 2),
    ("--sum 2-5 t.csv", "gpustat: unknown column '2-5'\n" + NAMES, 2),
    ("--where ':5 > 1' t.csv", "gpustat: unknown column ':5'\n" + NAMES, 2),
    ("--sum 5 --header no t.csv", "gpustat: unknown column '5'\ngpustat: the input has 3 columns: col1, col2, col3", 2),
    # names of files
    ("--sum a https://x.org/a.csv", "gpustat: https://x.org/a.csv: cannot open: No such file or directory "
     "(try curl -sL 'https://x.org/a.csv' | gpustat ...)", 1),
    ("--sum a s3://b/a.csv", "gpustat: s3://b/a.csv: cannot open: No such file or directory (try aws s3 cp 's3://b/a.csv' - | gpustat ...)", 1),
    ('--sum a "http://x/it\'s"', "gpustat: http://x/it's: cannot open: No such file or directory (try curl -sL 'URL' | gpustat ...)", 1),
    ("--sum a file:///a.csv", "gpustat: file:///a.csv: cannot open: No such file or directory (try the path without file://)", 1),
    ("--sum a nosuch.csv", "gpustat: nosuch.csv: cannot open: No such file or directory", 1),
    # the first words of other programs
    ("sum bytes t.csv", "gpustat: sum: cannot open: No such file or directory (try --sum COLS)", 1),
    ("p95 bytes t.csv", "gpustat: p95: cannot open: No such file or directory (try --p95 COLS)", 1),
    ("count t.csv", "gpustat: count: cannot open: No such file or directory (try --count COLS)", 1),
    ("groupby k t.csv", "gpustat: groupby: cannot open: No such file or directory (try --by)", 1),
    ("stats1 t.csv", "gpustat: stats1: cannot open: No such file or directory "
     "(try --sum COLS --mean COLS --by COLS: each statistic is an option)", 1),
    ("sort t.csv", "gpustat: sort: cannot open: No such file or directory (try --sort COLS for records, --by COLS --sort RESULT for groups)", 1),
    ("cat t.csv", "gpustat: cat: cannot open: No such file or directory (try gpustat FILE FILE: it reads several files)", 1),
    ("join a b", "gpustat: join: cannot open: No such file or directory (try join(1), mlr join or xsv join: no tables are joined here)", 1),
    ("'{s += $2} END {print s}' t.csv", "gpustat: {s += $2} END {print s}: cannot open: No such file or directory "
     "(try options such as --sum COLS and --where EXPR: no program text is read)", 1),
)

# Options of other programs, and what the message says behind "unknown option 'X'".
ELSEWHERE = (
    ("--join", " (try join(1), mlr join or xsv join: no tables are joined here)"),
    ("--pivot-table", " (try --by ROWS --pivot COLUMN)"),
    ("--melt", " (try --by ROWS --pivot COLUMN for long to wide; a wide table is not made long)"),
    ("--percentile", " (try --p95 COLS, or any other number from 0 to 100)"),
    ("--quantile=0.9", " (try --p95 COLS, or any other number from 0 to 100)"),
    ("--fillna", " (try --let 'x = coalesce(COL, 0)')"),
    ("--cols", " (try --select COLS to print them, --columns for their names)"),
    ("--bins=10", " (try --hist COL:WIDTH)"),
    ("--icsv", " (try leaving it out: CSV is what is read)"),
    ("--ocsv", " (try --format csv)"),
    ("--ojson", " (try --format json)"),
    ("--json", " (try --format json)"),
    ("--tsv", " (try -d '\\t' to read it, --format tsv to print it)"),
    ("--c2p", " (try --format table)"),
    ("--where-like", " (try --where 'COL ~ \"REGEX\"', or --where 'COL contains \"TEXT\"')"),
    ("--uniq", " (try --by COLS: it counts each value)"),
    ("--value_counts", " (try --by COLS: it counts each value)"),
    ("--limit=5", " (try --head N for records, --top N for groups)"),
    ("--describe", " (try gpustat FILE: without an operation it is a summary)"),
    ("--no-header-row", " (try --header no)"),
    ("--output=x", " (try > FILE: results go to standard output)"),
    ("--encoding=latin1", " (try iconv -f ENCODING -t UTF-8 FILE | gpustat)"),
    ("--avg", ": did you mean '--mean'?"), ("--stdev", ": did you mean '--stddev'?"), ("--std", ": did you mean '--stddev'?"),
    ("--pstdev", ": did you mean '--stddev-pop'?"), ("--svar", ": did you mean '--var'?"), ("--q1", ": did you mean '--p25'?"),
    ("--nunique", ": did you mean '--count-distinct'?"), ("--histogram", ": did you mean '--hist'?"),
    ("--group-by", ": did you mean '--by'?"), ("--GROUP_BY", ": did you mean '--by'?"), ("--sort_values", ": did you mean '--sort'?"),
    ("--nlargest", ": did you mean '--top'?"), ("--filter", ": did you mean '--where'?"), ("--mutate", ": did you mean '--let'?"),
    ("--cut", ": did you mean '--select'?"), ("--complement", ": did you mean '--drop'?"), ("--shift", ": did you mean '--lag'?"),
    ("--ifs=;", ": did you mean '--delimiter'?"), ("--skiprows=2", ": did you mean '--skip-lines'?"),
    ("--na-values=x", ": did you mean '--missing'?"), ("--jobs=2", ": did you mean '--threads'?"),
    ("-t;", ": did you mean '-d'?"), ("-F;", ": did you mean '-d'?"),
    ("-o", " (try > FILE: results go to standard output)"),
    ("-n", " (try --head N for the first records, -N if there are no names)"),
    ("-f1", " (try --select COLS to print columns, --by COLS to count each value)"),
    ("-k2", " (try --sort COLS for the order, --by COLS for groups)"),
    ("-r", " (try --sort -COLS: the largest first)"),
    ("-l", ": did you mean '--count-records'?"), ("-Q", ""),
)
TABLE = b"host,bytes,k\na,1,x\nb,2,y\na,5,x\n"


def check_mistakes():
    harness.fixture("t.csv", TABLE)
    for command, message, status in MISTAKES:
        for stdin in (None, b"") if "took the file" in message else (None,):
            r = harness.run(shlex.split(command), stdin, cwd=harness.folder())
            harness.is_((r.status, r.out, r.err.decode()), (status, b"", message + "\n"), "gpustat " + command)
    known = harness.run(["--help"]).out.decode()
    for typed, words in ELSEWHERE:
        r = harness.run([typed])
        name = typed.split("=")[0] if typed.startswith("--") else typed[:2]
        harness.is_((r.status, r.out, r.err.decode()), (2, b"", "gpustat: unknown option '%s'%s\n%s\n" % (name, words, HELP)), typed)
        options = re.findall(r"--[a-z][\w-]*", re.sub(r"--p\d+", "--pNN", words))
        harness.is_([o for o in options if o not in known], [], typed + ": what it names is there")


def check_taken_file():
    """Standard input with data is read, a terminal is not waited for, and of a pipe that waits it is said."""
    harness.fixture("k", b"1\n")
    r = harness.run(["--by", "k", "--count", "t.csv"], TABLE, cwd=harness.folder())
    harness.is_((r.status, r.err.decode()), (2, "gpustat: unknown column 't.csv'\n" + NAMES + "\n"), "another word is the column, k")
    os.remove(os.path.join(harness.folder(), "k"))
    r = harness.run(["--by", "k", "--count", "t.csv"], TABLE, cwd=harness.folder())
    harness.is_((r.status, r.err.decode()), (2, "gpustat: unknown column 't.csv' (try --count COLS 't.csv': it is a file)\n" + NAMES + "\n"),
                "a pipe with data, and a file's name as a column")
    harness.fixture("bytes", b"x")
    harness.answers("a column that is called as a file", ["--sum", "bytes"], TABLE, "8\n", cwd=harness.folder())
    harness.answers("... and a file is named", ["--sum", "bytes", "t.csv"], None, "8\n", cwd=harness.folder())
    harness.answers("... or standard input", ["--sum", "bytes", "-"], TABLE, "8\n", cwd=harness.folder())
    os.remove(os.path.join(harness.folder(), "bytes"))
    ours, theirs = pty.openpty()
    p = subprocess.run([harness.program(), "--by", "k", "--count", "t.csv"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=harness.environment(), cwd=harness.folder(), timeout=60)
    os.close(ours)
    os.close(theirs)
    harness.is_((p.returncode, p.stdout, p.stderr.decode()), (2, b"", MISTAKES[0][1] + "\n"), "a terminal is not waited for")
    with subprocess.Popen([harness.program(), "--sum", "t.csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=harness.environment(), cwd=harness.folder()) as p:
        harness.is_(p.stderr.readline().decode(), "gpustat: note: waiting for standard input: --sum took a file's name for its COLS\n",
                    "a pipe that waits")
        p.communicate(b"t.csv\n5\n", timeout=60)
        harness.is_(p.returncode, 0, "... and has the column after all")
    long = "x" * 60
    harness.fixture(long, b"x")
    r = harness.run(["--sum", long], b"", cwd=harness.folder())
    harness.is_(r.err.decode(), "gpustat: --sum took the file 'FILE' for its COLS, and no input is left: type --sum COLS FILE\n" + HELP + "\n",
                "a long name is not cut")


def check_closed():
    """A standard stream that is closed is no file's."""
    words = b"gpustat: standard output is closed: the result has nowhere to go\n"
    harness.fixture("t.csv", TABLE)
    for command in ("--sum bytes t.csv", "--where 'bytes > 1' t.csv", "--by k t.csv", "t.csv", "--columns t.csv", "--help", "--version",
                    "--by k --svg - t.csv", "--sum bytes --partial t.csv", "--by k --svg x.svg --format csv t.csv"):
        p = subprocess.run(["sh", "-c", '"$0" %s >&-' % command, harness.program()], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           env=harness.environment(), cwd=harness.folder())
        harness.is_((p.returncode, p.stderr), (1, words), "%s >&-" % command)
    p = subprocess.run(["sh", "-c", '"$0" --by k --svg x.svg t.csv >&-', harness.program()], stdin=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, env=harness.environment(), cwd=harness.folder())
    with open(os.path.join(harness.folder(), "x.svg"), "rb") as f:
        harness.ok((p.returncode, p.stderr) == (0, b"") and f.read().startswith(b"<svg "), "a picture goes to its file", p.stderr)
    for streams, want in (("2>&-", b"8\n"), ("<&-", b"8\n"), ("<&- 2>&-", b"8\n")):
        p = subprocess.run(["sh", "-c", '"$0" --sum bytes t.csv ' + streams, harness.program()], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, env=harness.environment(), cwd=harness.folder())
        harness.is_((p.returncode, p.stdout), (0, want), streams)
    p = subprocess.run(["sh", "-c", '"$0" --sum bytes --invalid skip --save-state state t.csv 2>&-', harness.program()],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=harness.environment(), cwd=harness.folder())
    with open(os.path.join(harness.folder(), "state"), "rb") as f:
        harness.ok(p.returncode == 0 and b"gpustat: " not in f.read(), "no warning gets into a file that is written")


for description, hostile, wanted in HOSTILE:
    check_names(description, hostile, wanted)
    check_values(description, hostile, wanted)
    check_files(description, hostile, wanted)
    check_options(description, hostile, wanted)
check_one_write()
check_mistakes()
check_taken_file()
check_closed()
harness.done()
