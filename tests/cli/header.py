# SPDX-License-Identifier: MIT
"""The chapter HEADER of gpustat(1): which first record is a header, which is data, and which is an error."""
import harness
from harness import fixture

WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, None) for threads in (1, 3)]
DOUBT = "gpustat: <stdin>:%s: column '%s': '%s' is neither a number nor surely a name: say --header yes or --header no%s\n"
LONE = "gpustat: <stdin>:%d: no record follows what may be a header: say --header yes or --header no\n"
NOTE = "gpustat: note: <stdin>:%d: '%s' is taken for a column's name: say --header no if it is data\n"
NUL = "gpustat: <stdin>:%d: column '%s': NUL byte in '%s': try iconv -f UTF-16 -t UTF-8, or tr '\\0' '\\n'\n"


def says(name, args, stdin, status, out, err=""):
    """Exactly this, whatever the chunks and threads."""
    wanted = (status, harness._bytes(out), harness._bytes(err))
    harness.agrees(name, args, stdin, lambda r: None if (r.status, r.out, r.err) == wanted else "wanted: %r" % (wanted,),
                   WAYS)


def check_doubtful_values():
    """A bad first value never passes for a name."""
    no_values = ("N/A", "n/a", "NA", "NaN", "nan", "null", "NULL", "None", "nil", "-", "--", "?", ".", "#N/A", "n.a.", "#DIV/0!",
                 "<NA>", "\\N")
    for value in no_values + ("inf", "-Infinity", "$5", "1,5", "12%", "0x10", "1_000", "1.2.3", "(5)", "5 EUR", "1O", "-5x", ".5x", "10.0.0.1", "2024-01-02"):
        hint = " (try --missing '%s')" % value if value in no_values else ""
        data = ('"%s"\n4\n6\n' % value).encode()
        says("the first value is %s" % value, ["--mean", "1"], data, 1, "", DOUBT % (1, "col1", value, hint))
        harness.answers("%s is a name" % value, ["--mean=1", "--header=yes"], data, "5\n")
        harness.refuses("%s is data" % value, ["--mean=1", "--header=no"], data, 1, "<stdin>:1: column 'col1': not a number: ")
    says("beyond the range", ["--sum=1"], b"1e500\n4\n", 1, "",
         "gpustat: <stdin>:1: column 'col1': number beyond 10^-400 to 10^400: '1e500'\n")
    says("a spelling of --missing is data", ["--mean=1", "--missing=N/A"], b"N/A\n4\n6\n", 0, "5\n")
    says("an operation that takes text", ["--count=1"], b"N/A\nx\ny\n", 1, "", DOUBT % (1, "col1", "N/A", " (try --missing 'N/A')"))
    says("records that are printed", ["--cumsum=1"], b"N/A\n4\n", 1, "", DOUBT % (1, "col1", "N/A", " (try --missing 'N/A')"))
    says("a condition", ["--where=:1 > 5"], b"NaN\n4\n6\n", 1, "", DOUBT % (1, "col1", "NaN", " (try --missing 'NaN')"))
    says("'*'", ["--sum=*"], b"x,$5\ny,6\n", 1, "", DOUBT % (1, "col2", "$5", ""))
    says("the line of a field behind others", ["--sum=2"], b'"a\nb",$5\nc,6\n', 1, "", DOUBT % (2, "col2", "$5", ""))
    says("the line behind blank ones", ["--sum=2"], b"\n\r\na,$5\nc,6\n", 1, "", DOUBT % (3, "col2", "$5", ""))
    says("a name beside a number", ["--sum=1,2"], b"a,7\n5,2\n", 1, "", DOUBT % (1, "col1", "a", ""))
    says("the same, counted", ["--count=1", "--sum=2"], b"ann,5\nbob,6\n", 1, "", DOUBT % (1, "col1", "ann", ""))
    says("the same, '*'", ["--sum=*"], b"1,b\n2,3\n", 1, "", DOUBT % (1, "col2", "b", ""))
    beside = ["--sum=*", "--max=1"]
    says("'*', a name in a numbered column", beside, b"x,4\ny,5\n", 1, "", DOUBT % (1, "col1", "x", ""))
    says("'*', a name above a number, and a number in a numbered column", beside, b"3,y\n4,5\n", 1, "", DOUBT % (1, "col2", "y", ""))
    says("'*', a numbered column of numbers", ["--sum=*", "--max=2"], b"x,4\ny,5\n", 0, "sum(col2),max(col2)\n9,5\n")
    says("'*', a name in a counted column", ["--sum=*", "--count=1"], b"x,b,7\nu,v,4\n", 1, "", DOUBT % (1, "col1", "x", ""))
    says("'*', a number above a missing value, and a name in a key", ["--mean=*", "--by=:2"], b'"",A,"1"\n"""",A,\n', 1, "",
         DOUBT % (1, "col2", "A", ""))
    says("'*', names only", ["--sum=*", "--max=2"], b"x,y\nu,5\n", 0, "sum(y),max(y)\n5,5\n")
    says("a name beside a bad value", ["--sum=1,2"], b"price,N/A\n5,2\n", 1, "", DOUBT % (1, "col2", "N/A", " (try --missing 'N/A')"))
    says("a name beside one that begins with a digit", ["--sum=1,2"], b"x,1-2\n1,2\n", 0, "sum(x),sum(1-2)\n1,2\n")
    says("a name tells, whatever else there is", ["--sum=1,b"], b"N/A,b\n1,2\n", 0, "sum(N/A),sum(b)\n1,2\n")
    says("a value that is not selected", ["--sum=2"], b"N/A,1\nx,2\n", 0, "3\n")


def check_unknown_columns():
    """A column that the first record cannot have is wrong usage, whatever its values are and whatever follows."""
    unknown = "gpustat: unknown column '%s'\ngpustat: the input has 2 columns: %s, b\n"
    says("a column beyond a doubtful value", ["--sum=1,9"], b"N/A,b\n2,3\n", 2, "", unknown % ("9", "N/A"))
    says("a condition, too", ["--count=1", "--where=:9 > 1"], b"$5,b\n2,3\n", 2, "", unknown % (":9", "$5"))
    says("a column beyond a name beside a number", ["--sum=*", "--max=3"], b"1,b\n2,3\n", 2, "", unknown % ("3", "1"))
    says("beyond a value with a NUL", ["--sum=1,3"], b"1\0,b\n2,3\n", 2, "", unknown % ("3", "col1"))
    says("nothing follows the header", ["--sum=1,3"], b"a,b\n", 2, "", unknown % ("3", "a"))
    says("an open quote follows", ["--sum=1,3"], b'a,b\n"3\n', 2, "", unknown % ("3", "a"))
    says("all columns are there", ["--sum=1,2"], b'a,b\n"3\n', 1, "", "gpustat: <stdin>:2: quoted field is never closed\n")
    says("a name that may be there twice is none that is not", ["--sum=1,2"], b"N/A,x,2,2\n1,2,3,4\n", 1, "",
         DOUBT % (1, "col1", "N/A", " (try --missing 'N/A')"))


def check_nuls():
    says("a NUL in the first value", ["--sum=1"], b"1\0002\n3\n", 1, "", NUL % (1, "col1", "1\\x00"))
    says("a NUL in the first text", ["--count=1"], b"a\0b\nc\n", 1, "", NUL % (1, "col1", "a\\x00"))
    says("a NUL in a number", ["--sum=a"], b"a,b\n1,2\n3\0004,5\n", 1, "", NUL % (3, "a", "3\\x004"))
    says("a NUL in text that is counted", ["--count=a"], b"a,b\nx,2\ny\0,5\n", 1, "", NUL % (3, "a", "y\\x00"))
    says("a NUL in text that is counted beside '*'", ["--count=b", "--sum=*"], b"a,b\n,\n8,x\0\n", 1, "", NUL % (3, "b", "x\\x00"))
    says("the same, text before it", ["--count=b", "--sum=*"], b"a,b\n,\n8,x\n9,y\n7,z\0\n1,\0\n", 1, "", NUL % (5, "b", "z\\x00"))
    says("the same, in a number", ["--count=b", "--sum=*"], b"a,b\n,\n8,x\n9,5\0\n", 1, "", NUL % (4, "b", "5\\x00"))
    says("text that only '*' includes", ["--sum=*", "--header=yes"], b"a,b\n,\n8,x\0\n", 0, "8\n")
    says("a NUL in quotes", ["--count=a"], b'a,b\nx,2\n"y\0\n""z",5\n', 1, "", NUL % (3, "a", "y\\x00\\n\"z"))
    says("a NUL in records that are printed", ["--running-count=a"], b"a\nx\ny\0\nz\n", 1, "a,running_count(a)\nx,1\n",
         NUL % (3, "a", "y\\x00"))
    says("a NUL elsewhere", ["--sum=b"], b"a,b\nx\0y,2\n", 0, "2\n")
    says("a name ends at its first NUL", ["--sum", "ab"], b"ab\0cd,x\n1,2\n", 0, "1\n")
    says("so does one that is listed", ["--sum", "abcd"], b"ab\0cd,x\n1,2\n", 2, "",
         "gpustat: unknown column 'abcd'\ngpustat: the input has 2 columns: ab, x; did you mean 'ab'?\n")
    long_text = b"x" * 100 + b"\0"
    harness.refuses("a NUL far into a long text", ["--count=a"], b"a\n" + long_text + b"\n", 1, "<stdin>:2: column 'a': NUL byte in 'xxx")


def check_nothing_behind():
    """A header that was guessed has a record behind it."""
    says("one line", ["--sum=1"], b"abc\n", 1, "", LONE % 1)
    says("one line behind blank ones", ["--count=1"], b"\n\na,b", 1, "", LONE % 3)
    says("then blank lines", ["--count=1"], b"a,b\n\n\r\n", 1, "", LONE % 1)
    says("then blank lines that are records", ["--count=1"], b"a\n\n\n", 0, "0\n")
    says("nothing is printed", ["--cumsum=1"], b"a,b\n", 1, "", LONE % 1)
    says("a condition on text", ["--where=:2 = 'y'"], b"x,y\n", 1, "", LONE % 1)
    for name, behind in (("alone", b""), ("with a record behind it", b"2024-01-03,20\n")):
        says("a slip beside text that begins with a digit, " + name, ["--count=1", "--sum=2"], b"2024-01-02,1O\n" + behind, 1, "",
             DOUBT % (1, "col2", "1O", ""))
    says("a doubtful value and nothing behind", ["--sum=1"], b"N/A\n", 1, "", DOUBT % (1, "col1", "N/A", " (try --missing 'N/A')"))
    says("a counted text that begins with a digit, alone", ["--count=1"], b"2024-01-02\n", 1, "", LONE % 1)
    says("the same beside a name, alone", ["--count=1", "--sum=2,3"], b"2024-01-02,1O,x\n", 1, "", LONE % 1)
    says("--header yes", ["--sum=1", "--header=yes"], b"abc\n", 0, "0\n")
    says("by name", ["--sum=abc"], b"abc\n", 0, "0\n")
    says("one by name", ["--count=1", "--sum=b"], b"a,b\n", 0, "count(a),sum(b)\n0,0\n")
    says("the summary shows the names", ["--format=csv"], b"a,b\n", 0,
         harness.run(["--format=csv", "--header=yes"], b"a,b\n").out)
    head, more = fixture("head.csv", b"a,b\n"), fixture("more.csv", b"1,2\n3,4\n")
    says("the record is in the next file", ["--sum=2", head, more], None, 0, "6\n")
    says("the files have headers only", ["--sum=2", head, head], None, 1, "", (LONE % 1).replace("<stdin>", head))
    says("a header and an empty file", ["--sum=2", head, fixture("none.csv", b"")], None, 1, "", (LONE % 1).replace("<stdin>", head))


def check_notes():
    """A header that was guessed where all else is text."""
    for name, args, out in (("a count", ["--count=1"], "2\n"), ("a count over records printed", ["--running-count=1", "--only"],
                                                               "running_count(ann@example.org)\n1\n2\n"),
                            ("values left out", ["--count=1", "--invalid=skip"], "2\n")):
        says("addresses: " + name, args, b"ann@example.org\nbob@example.org\neve@example.org\n", 0, out, NOTE % (1, "ann@example.org"))
    says("addresses that begin with a digit", ["--count=1"], b"1a.example.org\n2b.example.org\n", 0, "1\n", NOTE % (1, "1a.example.org"))
    says("--header yes", ["--count=1", "--header=yes"], b"x\ny\nz\n", 0, "2\n")
    says("--header no", ["--count=1", "--header=no"], b"x\ny\nz\n", 0, "3\n")
    says("a name over a number tells", ["--count=1"], b"name,price\nann,5\n", 0, "1\n")
    says("by name", ["--count=name"], b"name,city\nann,rome\n", 0, "1\n")
    says("numbers", ["--count=1"], b"n\n1\n2\n", 0, "2\n")
    says("a long name is cut", ["--count=1"], b"x" * 100 + b"\ny\n", 0, "1\n", NOTE % (1, "x" * 60 + "..."))


def check_empty():
    """An empty input has every column that is asked for, and no record."""
    for what, data in (("nothing", b""), ("a byte-order mark", b"\xef\xbb\xbf")):
        for args, out in ((["--sum=price"], "0\n"), (["--sum=1"], "0\n"), (["--min=price"], "\n"),
                          (["--sum=3,price", "--max=price,qty"], "sum(col3),sum(price),max(price),max(qty)\n0,0,,\n"),
                          (["--sum=price", "--where=qty > 1 or :7 < n"], "0\n"), (["--where=price > 1"], ""),
                          (["--cumsum=price"], ""), (["--sum=price", "--header=yes"], "0\n"),
                          (["--sum=price", "--header=no"], "0\n"), (['--count="2"', "--count=2-"], "count(2),count(col2)\n0,0\n")):
            says("%s, %s" % (what, args), args, data, 0, out)
        says(what + ", '*'", ["--sum=*"], data, 1, "", "gpustat: no column holds numbers\n")
    says("blank lines", ["--count=price", "--sum=price"], b"\n\r\n\n", 0, "count(price),sum(price)\n0,0\n")
    says("files", ["--sum=price", fixture("e1", b""), fixture("e2", b"")], None, 0, "0\n")


check_doubtful_values()
check_unknown_columns()
check_nuls()
check_nothing_behind()
check_notes()
check_empty()
harness.done()
