# SPDX-License-Identifier: MIT
"""Several files: columns are matched by the names of each file's header, never summed under another name.

The model for random files is Python's csv.DictReader, which knows columns by name only.
"""
import csv
import gzip
import io
import random

import harness
from harness import fixture

FIRST = b"a,b,c\n1,2,3\n4,5,6\n"
WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, None) for threads in (1, 2, 3, 7)]
LACKS = "column '%s': in the first file's header, but not in this one: rename it, or say --union, with which it is missing here"
UNCLEAR = "this record may be a header: say -H if it is; if it is data, try: cat FILE... | gpustat ..."
LATER = "this record may be a header, where the first file has none: say -N if it is data (try sed 1d, if it is one)"
REPEATS = "column '%s': not as often in this header as in the first file's (try each file by itself, or another name in one of them)"
DIFFERS = "header differs from the first file's: --union prints the columns of all files, --select COLS those that they share"
NFILES = 0


def written(files):
    """Paths of files with these contents; '-' stays."""
    global NFILES
    paths = []
    for data in files:
        NFILES += 1
        paths.append(data if data == "-" else fixture("f%d.csv" % NFILES, data))
    return paths


def gives(name, args, files, want, stdin=None):
    harness.agrees(name, args + written(files), stdin, harness.exactly(want), WAYS)


def fails(name, args, files, words, out=b"", file=1, stdin=None):
    """Status 1; one message, of the file with that index."""
    paths = written(files)
    err = ("gpustat: %s:%s\n" % ("<stdin>" if paths[file] == "-" else paths[file], words)).encode()
    harness.agrees(name, args + paths, stdin,
                   lambda r: None if (r.status, r.out, r.err) == (1, out, err) else "wanted: %r, %r" % (out, err), WAYS)


def check_names():
    gives("another order", ["--sum=a,b"], [FIRST, b"b,a\n20,10\n"], "sum(a),sum(b)\n15,27\n")
    gives("another order, the same number of columns", ["--sum=a"], [FIRST, b"c,a,b\n20,10,30\n"], "15\n")
    gives("by number: the column that has this number in the first file", ["--sum=2"], [FIRST, b"b,a\n20,10\n"], "27\n")
    gives("a range", ["--max=1-2"], [FIRST, b"b,x,a\n20,0,10\n"], "max(a),max(b)\n10,20\n")
    gives("a column that is not needed lacks", ["--sum=a"], [FIRST, b"z,a\n20,10\n"], "15\n")
    gives("a column more", ["--sum=c"], [FIRST, b"a,b,x,c\n1,1,1,10\n"], "19\n")
    gives("a number as a new name", ["--sum=a"], [FIRST, b"a,b,c,2024\n10,1,1,1\n"], "15\n")
    gives("names that are numbers", ['--sum="2018"'], [b"year,2018,2019\n1,2,3\n", b"y,2018,2019\n1,7,8\n"], "9\n")
    fails("a number as name, one below a text", ['--sum="2018"'], [b"year,2018\n1,2\n", b"2017,2018\n1,7\n"], "1: " + UNCLEAR)
    gives("columns of a condition", ["--where", "b > 1", "--sum=a"], [FIRST, b"b,a\n0,10\n2,100\n"], "105\n")
    gives("the summary: columns of the first file", ["--format=csv"], [b"a,b\n1,2\n", b"x,b,a\n9,20,10\n"],
          "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\na,number,2,0,0,11,1,10,5.5,,\nb,number,2,0,0,22,2,20,11,,\n")
    gives("moments", ["--stddev=b"], [FIRST, b"b,q\n8,1\n"], "3\n")
    gives("running columns alone", ["--only", "--cumsum=a", "--offsets", "a > 1"], [FIRST, b"b,a\n20,10\n"],
          "running_sum(a),offset\n1,\n5,0\n15,1\n")
    gives("a third file in the first order", ["--sum=a"], [FIRST, b"b,a\n20,10\n", FIRST, b"a\n100\n"], "120\n")
    gives("no record behind another header", ["--sum=a"], [FIRST, b"b,a\n", b"b,a"], "5\n")
    gives("a record across the end of chunks", ["--sum=a", "--count=b"], [FIRST, b'b,a\n"x\n,1",10\n,20'],
          "sum(a),count(b)\n35,3\n")
    gives("names of the second file in the first's other columns", ["--sum=x"], [b"x,y\n1,2\n", b"y,x\n10,20\n"], "21\n")
    gives("names that are numbers, more than half of all at other places", ["--sum=a"], [b"a,0,b\n1,2,3\n", b"b,5,a\n10,20,30\n"], "31\n")
    fails("the same, a number that is no name there", ["--sum=a", "--max=2"], [b"a,0,b\n1,2,3\n", b"b,5,a\n10,20,30\n"], "1: " + LACKS % "0")
    gives("the same, half of them", ["--sum=b"], [b"b,0,a,c\n1,2,3,4\n", b"5,b,7,a\n10,20,30,40\n"], "16\n")
    gives("the same, less", ["--sum=b"], [b"a,0,b\n1,2,3\n", b"b,5,7\n10,20,30\n"], "40\n")
    gives("--header yes: a number as name", ["--sum=a", "--header=yes"], [FIRST, b"1,a,1\n10,20,30\n"], "25\n")


def check_texts():
    gives("quoted names", ["--sum=a"], [FIRST, b'"c","a"\n1,10\n'], "15\n")
    gives("quoted names in the same order", ["--sum=a"], [FIRST, b'"a","b","c"\n10,1,1\n'], "15\n")
    gives("quotes, delimiters and line ends in names", ["--sum", '"a ""x"",\ny"'],
          [b'"a ""x"",\ny",b\n1,2\n', b'b,"a ""x"",\ny"\n2,10\n'], "11\n")
    gives("CRLF", ["--sum=a"], [FIRST, b"b,a\r\n20,10\r\n"], "15\n")
    gives("CRLF, the same header", ["--sum=a"], [FIRST, b"a,b,c\r\n10,1,1\r\n"], "15\n")
    gives("a byte-order mark", ["--sum=a"], [FIRST, b"\xef\xbb\xbfb,a\n20,10\n"], "15\n")
    gives("a byte-order mark and a quoted name", ["--sum=a"], [FIRST, b'\xef\xbb\xbf"b","a"\n20,10\n'], "15\n")
    gives("blank lines before the header", ["--sum=a"], [FIRST, b"\n\r\n\nb,a\n20,10\n"], "15\n")
    gives("empty files and blank lines between", ["--sum=a"], [FIRST, b"", b"\n\r\n", b"b,a\n20,10\n", b""], "15\n")
    gives("an empty file first", ["--sum=a"], [b"", FIRST, b"b,a\n20,10\n"], "15\n")
    gives("gzip", ["--sum=a"], [FIRST, gzip.compress(b"b,a\n20,10\n")], "15\n")
    gives("gzip of two members, the header in both", ["--sum=a"],
          [gzip.compress(FIRST), gzip.compress(b"b,") + gzip.compress(b"a\n20,10\n")], "15\n")
    gives("standard input", ["--sum=a"], [FIRST, "-"], "15\n", stdin=b"b,a\n20,10\n")
    gives("standard input first", ["--sum=a"], ["-", b"b,a\n20,10\n"], "15\n", stdin=FIRST)
    gives("no line end behind the header", ["--sum=a"], [FIRST, b"b,a", FIRST], "10\n")
    gives("a header that lacks its line end first", ["--sum=a"], [b"a,b", b"b,a\n20,10\n"], "10\n")
    gives("another delimiter", ["-d", ";", "--sum=a"], [b"a;b\n1;2\n", b"b;a\n20;10\n"], "11\n")
    gives("one column, blank lines are missing values", ["--count=a", "--format=plain"], [b"x,a\n1,1\n", b"a\n1\n\n2\n"], "3\n")
    gives("... they are records", ["--count-records"], [b"x,a\n1,1\n", b"a\n1\n\n2\n"], "4\n")
    gives("... of several columns they are not", ["--count-records"], [b"a\n1\n\n", b"x,a\n1,1\n\n2,2\n"], "4\n")
    gives("columns without a name", ["--sum=:2,a"], [b"a,,c\n1,2,3\n", b"c,a,\n30,10,20\n"], "sum(col2),sum(a)\n22,11\n")
    gives("a name twice", ["--sum=:1,:2"], [b"a,a\n1,2\n", b"x,a,a\n1,5,6\n"], "sum(a),sum(a)\n6,8\n")
    gives("a name beside one that is there twice", ["--sum=b"], [b"a,a,b\n1,2,3\n", b"b,a\n10,1\n"], "13\n")


def check_dialects():
    gives("--skip-lines", ["--skip-lines=2", "--sum=a"], [b"x\ny\n" + FIRST, b"p\nq\nb,a\n20,10\n"], "15\n")
    fails("--skip-lines, the line of an error", ["--skip-lines=2", "--sum=a"], [b"x\ny\n" + FIRST, b"p\nq\nb,a\n20,z\n"],
          "4: column 'a': not a number: 'z' (try --invalid skip)")
    fails("--skip-lines, the line of a header", ["--skip-lines=2", "--sum=a"], [b"x\ny\n" + FIRST, b"p\nq\nb,c\n20,1\n"],
          "3: " + LACKS % "a")
    gives("sep=", ["--sum=a"], [b"sep=;\na;b\n1;2\n", b"sep=;\nb;a\n20;10\n"], "11\n")
    gives("comments", ["--comment=#", "--sum=a"], [b"#x\n" + FIRST, b"#,y\n\n#\nb,a\n#\n20,10\n"], "15\n")
    gives("a quote byte", ["--quote='", "--sum=a"], [FIRST, b"'b','a'\n'20','10'\n"], "15\n")
    gives("no quotes", ["--quote=none", "--sum=a"], [b'a,"b\n1,2\n', b'"b,a\n20,10\n'], "11\n")
    gives("an escape byte", ["--escape=\\", "--sum=a"], [b"a,b\\,c\n1,2\n", b"b\\,c,a\n2\\,0,10\n"], "11\n")
    gives("--whitespace", ["-W", "--sum=a"], [b"a  b\n1  2\n", b" b a\n 20   10\n"], "11\n")
    gives("--whitespace, a last name of several words", ["-W", "--sum=a", "--count=b c"],
          [b"a  b c\n1  x\n", b" a  b c\n20  x\n"], "sum(a),count(b c)\n21,2\n")
    gives("--whitespace, fewer names", ["-W", "--sum=a"], [b"x a b\n1 2 3\n", b"b a\n10 20\n"], "22\n")
    gives("--decimal", ["-d", ";", "--decimal=,", "--sum=a"], [b"a;b\n1,5;2\n", b"b;a\n2,5;0,5\n"], "2.0\n")
    gives("--decimal, no header", ["-d", ";", "--decimal=,", "--sum=a"], [b"a;b\n1,5;2\n", b"2,5;0,5\n"], "4.0\n")
    gives("--money, no header", ["--money", "--sum=a"], [b"a,b\n$1,2\n", b"$2,$3\n"], "3\n")


def check_data():
    """A later file without a header, as its first record has numbers and no name."""
    gives("no header", ["--sum=a"], [FIRST, b"10,20,30\n"], "15\n")
    gives("no header, one number among text", ["--sum=b"], [b"n,b\nx,1\n", b"y,2\nz,3\n"], "6\n")
    gives("no header, a name of another column in a value", ["--sum=v"], [b"k,v\nx,1\n", b"v,2\n"], "3\n")
    gives("no header, spellings of missing", ["--missing=NA", "--sum=b"], [b"n,b\nx,1\n", b"y,NA\n"], "1\n")
    gives("no header, then another order", ["--sum=a"], [FIRST, b"10,20,30\n", b"b,a\n1,100\n"], "115\n")
    years = b"Country,2020,2021\nFood,1,2\n"
    gives("no header below years", ['--sum="2021"'], [years, b"Essen,3,4\n"], "6\n")
    gives("no header below years, a number that is another one", ['--sum="2021"'], [years, b"Essen,2021,4\n"], "6\n")
    fails("a number that is its column's name", ['--sum="2021"'], [years, b"Essen,2020,4\n"], "1: " + UNCLEAR)
    gives("years at their places", ['--sum="2021"'], [years, b"Land,2020,2021\nEssen,3,4\n"], "6\n")
    gives("years behind a name", ['--sum="2021"'], [years, b"Country,2021,2022\nEssen,3,4\n"], "5\n")
    gives("other years, -H", ["-H", '--sum="2021"'], [years, b"Land,2021,2022\nEssen,3,4\n"], "5\n")
    for name, record in (("one year at another place", b"Land,2021,2022"), ("other years", b"Land,1998,1999"), ("one at its place", b"Land,2020,2022"),
                         ("changed places", b"Land,2021,2020"), ("numbers as long as years", b"Food,1500,1650")):
        fails(name + " may be a header", ['--sum="2021"'], [years, record + b"\nEssen,3,4\n"], "1: " + UNCLEAR)
    for args in (["--sum=1"], ["--count=1"], ["--mode=2"], ["--count-records"], []):
        fails("text in a later file alone: %s" % args, args, [b"1,2\n", b"a,b\n3,4\n"], "1: " + LATER)
    gives("text in a later file, -N", ["-N", "--mode=2"], [b"1,2\n", b"a,b\n"], "2\n")
    gives("text and a number in a later file", ["--mode=2"], [b"1,2\n", b"a,5\n", b"7,5\n"], "5\n")
    gives("the first file has no header either", ["--header=no", "--sum=1"], [b"1,2\n", b"3,4\n"], "4\n")
    for name, args, wrong, words in (("an open quote", [], b'"', "quoted field is never closed (try --quote none, if quotes are data)"),
                                     ("text behind a quote", [], b'"a"b\n', "text behind a closing quote: try --quote none"),
                                     ("an escape byte", ["--escape=\\"], b"\\", "nothing follows the escape byte that ends the file (try no --escape, if the byte is data)")):
        fails("blank lines of a later file are records, before what is no CSV: %s" % name, args + ["--cumsum=:1"], [b"7\n", b"\n\n" + wrong],
              "3: " + words, out=b"7,7\n,7\n,7\n")
    fails("text only", ["--sum=a"], [FIRST, b"x,y,z\n10,20,30\n"], "1: " + UNCLEAR)
    fails("text only, standard input", ["--count=a"], [FIRST, "-"], "1: " + UNCLEAR, stdin=b"x,y,z\n")
    fails("text only, no column is needed", ["--only", "--byte-offset"], [FIRST, b"x,y,z\n10,20,30\n"], "1: " + UNCLEAR,
          out=b"byte_offset\n6\n12\n")
    fails("text and empty values", ["--count=a"], [FIRST, b"x,,\n"], "1: " + UNCLEAR)
    fails("text behind blank lines", ["--sum=a"], [FIRST, b"\n\r\nx,y,z\n"], "3: " + UNCLEAR)


def check_errors():
    fails("a needed column lacks", ["--sum=a,b"], [FIRST, b"a,c\n20,10\n"], "1: " + LACKS % "b")
    fails("it is reported at the header's line", ["--sum=a,b"], [FIRST, b"\n\n\xc3\xa4,a\n20,10\n"], "3: " + LACKS % "b")
    fails("a column of a condition lacks", ["--where", "b > 1", "--sum=a"], [FIRST, b"a,c\n20,10\n"], "1: " + LACKS % "b")
    fails("the summary needs all", [], [FIRST, b"a,b\n20,10\n"], "1: " + LACKS % "c")
    fails("'*' needs all", ["--sum=*"], [FIRST, b"c,b\n20,10\n"], "1: " + LACKS % "a")
    fails("by number: another name", ["--sum=2"], [FIRST, b"a,x,c\n1,20,1\n"], "1: " + LACKS % "b")
    fails("names that are numbers", ['--sum="2018"'], [b"year,2018\n1,2\n", b"year,2020\n1,7\n"], "1: " + LACKS % "2018")
    fails("--header yes", ["--header=yes", "--sum=a"], [FIRST, b"x,y,z\n1,2,3\n"], "1: " + LACKS % "a")
    fails("--header yes, numbers", ["--header=yes", "--sum=a"], [FIRST, b"10,20,30\n1,2,3\n"], "1: " + LACKS % "a")
    fails("a column without name lacks", ["--header=yes", "--sum=:2"], [b"a,,c\n1,2,3\n", b"c,a\n30,10\n"], "1: " + LACKS % "col2")
    fails("a name twice there", ["--sum=a"], [FIRST, b"a,a,b\n1,2,3\n"], "1: " + REPEATS % "a")
    fails("a name twice in the first", ["--sum=:1"], [b"a,a,b\n1,2,3\n", b"a,b\n1,2\n"], "1: " + REPEATS % "a")
    fails("a header is named once more where records are printed", ["--cumsum=a"], [FIRST, b"b,a\n20,10\n"], "1: " + DIFFERS,
          out=b"a,b,c,running_sum(a)\n1,2,3,1\n4,5,6,5\n")
    fails("... and where they are only selected", ["--where", "a > 3"], [FIRST, b"a,b,c,d\n20,10,1,1\n"], "1: " + DIFFERS,
          out=b"a,b,c\n4,5,6\n")
    gives("... not where names are the same, quoted", ["--cumsum=a"], [FIRST, b'"a",b,"c"\r\n10,1,1\n'],
          "a,b,c,running_sum(a)\n1,2,3,1\n4,5,6,5\n10,1,1,15\n")
    fails("a value, its name and its line", ["--sum=a"], [FIRST, b"b,a\n1,2\n2,x\n"], "3: column 'a': not a number: 'x' (try --invalid skip)")
    fails("a value before an error of a later file", ["--sum=a"], [FIRST, b"b,a\n1,2\n2,x\n", b"x,y,z\n"],
          "3: column 'a': not a number: 'x' (try --invalid skip)")
    fails("a quote that stays open in the header", ["--sum=a"], [FIRST, b'b,"a\n1,2\n'], "1: quoted field is never closed (try --quote none, if quotes are data)")


def check_ragged():
    """The number of fields is that of each file's own header."""
    gives("fewer columns", ["--sum=a"], [FIRST, b"b,a\n20,10\n", b"a\n100\n"], "115\n")
    fails("one field more than the file's header", ["--sum=a"], [FIRST, b"b,a\n20,10,1\n"],
          "2: 3 fields where the header has 2: a delimiter in a value that is not quoted? See --ragged")
    fails("one less", ["--sum=a"], [FIRST, b"b,a\n1,2\n20\n"], "3: 1 field where the header has 2: see --ragged")
    fails("the first file's number", ["--sum=a"], [b"a,b\n1,2\n", b"b,a,c\n20,10\n"],
          "2: 2 fields where the header has 3: see --ragged")
    gives("one less, where the first header ends with a delimiter", ["--sum=a"], [b"a,b,\n1,2,\n", b'a,b,""\n10,2\n'], "11\n")
    fails("the same names: the first header tells", ["--sum=a"], [b'a,b,""\n1,2,3\n', b"a,b,\n10,2\n"],
          "2: 2 fields where the header has 3: see --ragged")
    gives("--ragged allow", ["--ragged=allow", "--sum=a", "--count=b"], [FIRST, b"b,a\n20\n21,10,99\n"], "sum(a),count(b)\n15,4\n")
    gives("a delimiter at the line's end", ["--sum=a"], [FIRST, b"b,a\n20,10,\n"], "15\n")
    gives("a header with a delimiter at its end", ["--sum=a"], [FIRST, b"b,a,\n20,10\n21,20,\n"], "35\n")


# ---- random files, against csv.DictReader ----------------------------------------------------

def random_file(rng, names):
    """-> (bytes, the records as dictionaries). All names are there, in any order, perhaps with others."""
    order = names + ["new%d" % i for i in range(rng.randrange(3))]
    rng.shuffle(order)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=rng.choice(("\n", "\r\n")), quoting=rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)))
    writer.writerow(order)
    for _ in range(rng.randrange(8)):
        writer.writerow([rng.choice((rng.randrange(-999, 999), rng.randrange(99) / 8, "")) if name[0] == "n"
                         else rng.choice(("x", 'say "y"', "two\nlines", "a,b", "")) for name in order])
    data = out.getvalue()
    return data.encode(), list(csv.DictReader(io.StringIO(data, newline="")))


def check_random():
    for seed in range(60):
        rng = random.Random(seed)
        names = ["n%d" % i for i in range(rng.randrange(1, 5))] + ["t%d" % i for i in range(rng.randrange(3))]
        files = [random_file(rng, names) for _ in range(rng.randrange(2, 6))]
        asked = rng.sample(names, rng.randrange(1, len(names) + 1))
        numbers = [name for name in asked if name[0] == "n"]
        records = [record for _, some in files for record in some]
        want = [str(sum(1 for r in records if r[name] != "")) for name in asked]
        args = ["--header=yes", "--format=plain", "--count", ",".join(asked)]
        for name in numbers:
            args += ["--max", name]
            values = [r[name] for r in records if r[name] != ""]
            best = max(values, key=float) if values else ""
            want.append(best)
        paths = written([data for data, _ in files])
        same = lambda got, w: got == w or (got and w and float(got) == float(w))
        judge = lambda r: None if r.status == 0 and not r.err and len(r.out.decode().split("\n")) == len(want) + 1 and \
            all(same(g, w) for g, w in zip(r.out.decode().split("\n"), want)) else "wanted: %s" % want
        harness.agrees("random files, seed %d" % seed, args + paths, None, judge, [(1, 1), (2, 7), (3, 2), (7, 3), (None, 2)])


JOINED = "this record is the header again (try naming the files instead of joining them, or --invalid skip)"


def check_joined():
    """A record that is the header again, as in files that were joined, is an error for every operation."""
    data = b"k,v,t\na,1,x\nb,2,y\nk,v,t\nc,3,z\n"
    message = "gpustat: <stdin>:4: " + JOINED + "\n"

    def says(status, out, err):
        want = (status, out.encode(), err.encode())
        return lambda r: None if (r.status, r.out, r.err) == want else "wanted: %s" % (want,)
    for args, out in ((["--by=k"], ""), (["--by=k", "--count=t"], ""), (["--count-records"], ""), (["--count=k"], ""),
                      (["--count-distinct=k"], ""), (["--mode=t"], ""), (["--text-min=k"], ""), (["--first=k", "--last=k"], ""), ([], ""),
                      (["--sum=v", "--where=k = 'a'"], ""), (["--sum=v", "--where=k != 'a' or v > 1"], ""), (["--let=w = v * 2", "--sum=w"], ""),
                      (["--partial", "--by=k"], ""), (["--by=k", "--top=1"], ""),
                      (["--where=k != 'a'"], "k,v,t\nb,2,y\n"), (["--where=not k is missing"], "k,v,t\na,1,x\nb,2,y\n"),
                      (["--row-number"], "k,v,t,row_number\na,1,x,1\nb,2,y,2\n"), (["--select=t"], "t\nx\ny\n"),
                      (["--lag=k", "--only"], "lag(k)\n\na\n"), (["--lead=k", "--only"], "lead(k)\nb\n"), (["--tail=2"], ""),
                      (["--rename=k=w"], "w,v,t\na,1,x\nb,2,y\n"), (["--let=w = upper(t)", "--only"], "w\nX\nY\n")):
        harness.agrees("joined: " + " ".join(args), ["--header=yes"] + args, data, says(1, out, message), WAYS)
    value = ("gpustat: <stdin>:4: column 'v': not a number: 'v' (try naming the files instead of joining them: this is the header "
             "again)\n")
    for args in (["--sum=v"], ["--sum=*"], ["--by=k", "--mean=v"], ["--median=v"]):
        harness.agrees("joined: " + " ".join(args), args, data, says(1, "", value), WAYS)
    for args in (["--where=v > 5"], ["--cumsum=v"]):
        r = harness.run(args, data)
        harness.ok(r.status == 1 and r.err.endswith(b": this is the header again)\n"), "joined: " + " ".join(args), lambda r=r: harness.describe(r))
    left = "gpustat: warning: 1 record left out: <stdin>:4: this record is the header again (try naming the files instead of joining them)\n"
    for args, out in ((["--by=k", "--sum=v"], "k,sum(v)\na,1\nb,2\nc,3\n"), (["--count-records"], "3\n"), (["--sum=v"], "6\n"),
                      (["--cumsum=v"], "k,v,t,running_sum(v)\na,1,x,1\nb,2,y,3\nc,3,z,6\n"), (["--row-number", "--only"], "row_number\n1\n2\n3\n"),
                      (["--where=k != 'a'"], "k,v,t\nb,2,y\nc,3,z\n"), (["--tail=2", "--select=k"], "k\nb\nc\n"),
                      (["--lead=t", "--only"], "lead(t)\ny\nz\n\n")):
        harness.agrees("joined, left out: " + " ".join(args), ["--invalid=skip"] + args, data, says(0, out, left), WAYS)
    harness.agrees("joined: all its values are missing", ["-H", "--missing=NA", "--count=NA", "--count-records"], b"NA\n5\nNA\n",
                   says(0, "count(NA),records\n1,2\n", ""), WAYS)
    for name, header, again in (("CR LF", b"k,v\r\n", b"k,v\r\n"), ("CR LF after LF", b"k,v\n", b"k,v\r\n"), ("LF after CR LF", b"k,v\r\n", b"k,v\n"),
                                ("no line end", b"k,v\n", b"k,v"), ("a byte-order mark", b"\xef\xbb\xbfk,v\n", b"\xef\xbb\xbfk,v\n"),
                                ("quotes", b'"k","v\n"\n', b'"k","v\n"\n'), ("a delimiter at the end", b"k,v,\n", b"k,v,\n"),
                                ("a long name", b"k" * 1000 + b",v\n", b"k" * 1000 + b",v\n"), ("one column", b"k\n", b"k\n")):
        wide = b",1\n" if b"," in header else b"\n"
        text = header + b"a" + wide + again
        harness.agrees("joined: " + name, ["--header=yes", "--count-records"], text,
                       says(1, "", "gpustat: <stdin>:%d: %s\n" % (header.count(b"\n") + 2, JOINED)), WAYS)
    for name, text, n in (("other names", b"k,v\na,1\nk,w\n", 2), ("a longer record", b"k,v\na,1\nk,vv\n", 2), ("a shorter one", b"kk,v\na,1\nk,v\n", 2),
                          ("a blank before it", b"k,v\na,1\n k,v\n", 2), ("names that are empty", b",\na,1\n,\n", 2), ("the header once", b"k,v\na,1\nb,2\n", 2),
                          ("after the first records", b"k,v\na,1\nk,v\n", None)):
        args = ["--count-records"] if n else ["--head=1"]
        harness.agrees("not joined: " + name, ["--header=yes"] + args, text, says(0, "%d\n" % n if n else "k,v\na,1\n", ""), WAYS)
    harness.agrees("not joined: no header", ["--header=no", "--count-records"], data, says(0, "5\n", ""), WAYS)
    two = fixture("two.csv.gz", gzip.compress(b"k,v\na,1\n") + gzip.compress(b"k,v\nb,2\n"))
    harness.agrees("joined: two members of gzip", ["--by=k", two], b"", says(1, "", "gpustat: %s:3: %s\n" % (two, JOINED)), WAYS)
    one, other = fixture("joined1.csv", b"k,v\na,1\n"), fixture("joined2.csv", b"v,k\n1,b\nv,k\n2,c\n")
    harness.agrees("named: each header once", ["--by=k", one, one], b"", says(0, "k,count\na,2\n", ""), WAYS)
    harness.agrees("joined: of a file with another order", ["--by=k", one, other], b"", says(1, "", "gpustat: %s:3: %s\n" % (other, JOINED)), WAYS)
    quoted = fixture("joined3.csv", b'"k",v\nb,2\n"k",v\nc,3\n')
    harness.agrees("joined: of a file with the same names in other bytes", ["--by=k", one, quoted], b"", says(1, "", "gpustat: %s:3: %s\n" % (quoted, JOINED)), WAYS)
    harness.agrees("... and a column that shows it", ["--sum=v", one, quoted], b"", says(1, "", "gpustat: %s:3: column 'v': not a number: 'v' (try naming "
                   "the files instead of joining them: this is the header again)\n" % quoted), WAYS)
    many = b"k,v\n" + b"x,1\n" * 70000 + b"k,v\n" + b"y,2\n" * 70000
    harness.agrees("joined: far from the beginning", ["--by=k"], many, says(1, "", "gpustat: <stdin>:70002: %s\n" % JOINED),
                   [(c, t) for c in (1000, 65536, None) for t in (1, 3)])


check_joined()
check_names()
check_texts()
check_dialects()
check_data()
check_errors()
check_ragged()
check_random()
harness.done()
