# SPDX-License-Identifier: MIT
"""What is left out, and when it is too much: --invalid skip, --max-invalid, and the summary's invalid values.

The exit status, standard output and standard error must be exactly these, in any chunks and on any threads.
"""
import json

import harness
from harness import fixture

WAYS = [(c, t) for c in (1, 2, 3, 7, 64, None) for t in (1, 2, 3, 7)]
SKIP = ["--invalid=skip"]
HEAD = "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n"


def says(name, args, data, status, out, *messages):
    want = (status, out.encode(), "".join("gpustat: %s\n" % m for m in messages).encode())
    harness.agrees(name, args, data, lambda r: None if (r.status, r.out, r.err) == want else "wanted: %s" % (want,), WAYS)


def check_kinds_of_records():
    """Records are left out for several reasons, and judged together."""
    data = b"k,h,v\n5\n,\0,1\n,,2\n"
    nul = "<stdin>:3: column 'h': NUL byte in '\\x00': try iconv -f UTF-16 -t UTF-8, or tr '\\0' '\\n'"
    ask = SKIP + ["--by=k,h", "--sum=v"]
    says("two of three, a ragged one first", ask + ["--max-invalid=50%"], data, 1, "",
         "<stdin>:2: 1 field where the header has 3: see --ragged; --invalid skip leaves out 2 of 3 records, more than --max-invalid 50%")
    says("... a key first", ask + ["--max-invalid=1"], b"k,h,v\n\n,\0,1\n5\n,,2\n", 1, "",
         nul + "; --invalid skip leaves out 2 of 3 records, more than --max-invalid 1")
    says("two keys, and a condition", ask + ["--where=v > 0", "--max-invalid=2"], b"k,h,v\n\n,\0,1\n\0,,1\na,b,x\na,,2\n", 1, "",
         nul + "; --invalid skip leaves out 3 of 4 records, more than --max-invalid 2")
    says("all of them", ask, b"k,h,v\n\n,\0,1\n5\n", 1, "", nul + "; --invalid skip leaves out all 2 records")
    says("as many as may be", ask + ["--max-invalid=67%"], data, 0, "k,h,sum(v)\n,,2\n",
         "warning: 1 value of column 'h' left out: " + nul.replace("column 'h': ", ""),
         "warning: 1 record left out: <stdin>:2: 1 field where the header has 3: see --ragged")


def check_warnings():
    data = b"n,m\n1,2\nabc,3\n4,x y\n,7\ndef,8\n"
    says("values", SKIP + ["--sum=n,m"], data, 0, "sum(n),sum(m)\n5,20\n",
         "warning: 2 values of column 'n' left out; the first: <stdin>:3: not a number: 'abc'",
         "warning: 1 value of column 'm' left out: <stdin>:4: not a number: 'x y'")
    says("out of range", SKIP + ["--sum=n"], b"n\n1\n1e500\n2\n", 0, "3\n",
         "warning: 1 value of column 'n' left out: <stdin>:3: number beyond 10^-400 to 10^400: '1e500'")
    says("text before a number out of range", SKIP + ["--sum=n"], b"n\n1\nx\n1e500\n", 0, "1\n",
         "warning: 2 values of column 'n' left out; the first: <stdin>:3: not a number: 'x'")
    says("a number out of range before text", SKIP + ["--sum=n"], b"n\n1\n1e500\nx\n", 0, "1\n",
         "warning: 2 values of column 'n' left out; the first: <stdin>:3: number beyond 10^-400 to 10^400: '1e500'")
    says("a remedy", SKIP + ["--sum=n"], b'n\n1\n"1,234"\n', 0, "1\n",
         "warning: 1 value of column 'n' left out: <stdin>:3: not a number: '1,234' (try --decimal , or --thousands ,)")
    says("in quotes, after lines", SKIP + ["--sum=n"], b't,n\n"a\nb",1\n"\n\n"," x ""y"""\r\n', 0, "1\n",
         "warning: 1 value of column 'n' left out: <stdin>:6: not a number: 'x \"y\"'")
    says("'*' looks behind a record that is left out", SKIP + ["--sum=*"], b"y,e\n0,1,z\n6,2\n", 0, "sum(y),sum(e)\n6,2\n",
         "warning: 1 record left out: <stdin>:2: 3 fields where the header has 2: "
         "a delimiter in a value that is not quoted? See --ragged")
    says("a NUL in text that is counted beside '*'", SKIP + ["--count=b", "--sum=*"], b"a,b\n8,\n9,y\n7,z\0\n5,w\0\n,4\n", 0,
         "count(b),sum(a)\n2,29\n", "warning: 2 values of column 'b' left out; the first: <stdin>:4: NUL byte in 'z\\x00': "
         "try iconv -f UTF-16 -t UTF-8, or tr '\\0' '\\n'")
    says("printed records", SKIP + ["--cumsum=n"], b"n,m\n1,2\nx,3\n", 0, "n,m,running_sum(n)\n1,2,1\nx,3,1\n",
         "warning: 1 value of column 'n' left out: <stdin>:3: not a number: 'x'")
    says("values and records", SKIP + ["--sum=n"], b"n,m\n1,2\nx,3\n5\n", 0, "1\n",
         "warning: 1 value of column 'n' left out: <stdin>:3: not a number: 'x'",
         "warning: 1 record left out: <stdin>:4: 1 field where the header has 2: see --ragged")
    says("only of records that are kept", SKIP + ["--sum=n", "--where=m > 2"], b"n,m\nx,1\n1,3\ny,4\n", 0, "1\n",
         "warning: 1 value of column 'n' left out: <stdin>:4: not a number: 'y'")
    says("a condition", SKIP + ["--sum=m", "--where=n > 0"], b"n,m\nx,1\n1,3\n", 0, "3\n",
         "warning: 1 record without an answer to the condition: <stdin>:2: column 'n': not a number: 'x'")
    first, second = fixture("first.csv", b"n\n1\n2\n"), fixture("second.csv", b"n\n3\nx\n")
    says("the file", SKIP + ["--sum=n", first, second], b"", 0, "6\n",
         "warning: 1 value of column 'n' left out: %s:3: not a number: 'x'" % second)
    lines = b"1,2\n" * 5000
    far = b"n,m\n" + lines + b"x,1\n" + lines + b"y,z\n" + lines
    says("far away", SKIP + ["--sum=n,m"], far, 0, "sum(n),sum(m)\n15000,30001\n",
         "warning: 2 values of column 'n' left out; the first: <stdin>:5002: not a number: 'x'",
         "warning: 1 value of column 'm' left out: <stdin>:10003: not a number: 'z'")


def check_too_much():
    four = b"n,m\n1,2\nx,3\ny,4\n5,6\n"
    first = "<stdin>:3: column 'n': not a number: 'x'; --invalid skip leaves out "
    says("every value", SKIP + ["--sum=n", "--min=n"], b"n\nabc\ndef\n", 1, "",
         "<stdin>:2: column 'n': not a number: 'abc'; --invalid skip leaves out all 2 values")
    says("the only value", SKIP + ["--sum=n"], b"n,m\n,1\nabc,2\n", 1, "",
         "<stdin>:3: column 'n': not a number: 'abc'; --invalid skip leaves out the only value")
    says("every value of one column", SKIP + ["--sum=m,n"], b"n,m\nx,2\ny,3\n", 1, "",
         "<stdin>:2: column 'n': not a number: 'x'; --invalid skip leaves out all 2 values")
    says("every value kept", SKIP + ["--sum=n", "--where=m > 2 and m < 5"], four, 1, "", first + "all 2 values")
    says("no value is none", SKIP + ["--sum=n"], b"n,m\n,1\n,2\n", 0, "0\n")
    says("no record is none", SKIP + ["--sum=n"], b"n,m\n", 0, "0\n")
    says("text that is only counted", SKIP + ["--count=n"], b"n,m\nx,1\n", 0, "1\n")
    says("every record", SKIP + ["--sum=n"], b"n,m\n1\n2\n", 1, "",
         "<stdin>:2: 1 field where the header has 2: see --ragged; --invalid skip leaves out all 2 records")
    says("every record, by a condition", SKIP + ["--sum=m", "--where=n > 0"], b"n,m\nx,1\ny,1\n", 1, "",
         "<stdin>:2: column 'n': not a number: 'x'; --invalid skip leaves out all 2 records")
    says("every value, printed", SKIP + ["--cumsum=n"], b"n,m\nx,2\ny,3\n", 1, "n,m,running_sum(n)\nx,2,0\ny,3,0\n",
         "<stdin>:2: column 'n': not a number: 'x'; --invalid skip leaves out all 2 values")
    warning = "warning: 2 values of column 'n' left out; the first: <stdin>:3: not a number: 'x'"
    for limit, too_much in (("0", "2 of 4 values, more than --max-invalid 0"), ("1", "2 of 4 values, more than --max-invalid 1"),
                            ("2", None), ("3", None), ("0%", "2 of 4 values, more than --max-invalid 0%"),
                            ("49%", "2 of 4 values, more than --max-invalid 49%"), ("50%", None), ("100%", None),
                            ("49.999999999%", "2 of 4 values, more than --max-invalid 49.999999999%"), ("50.0%", None)):
        args = SKIP + ["--max-invalid", limit, "--sum=n"]
        if too_much:
            says("--max-invalid " + limit, args, four, 1, "", first + too_much)
        else:
            says("--max-invalid " + limit, args, four, 0, "6\n", warning)
    says("--max-invalid, printed", SKIP + ["--max-invalid=1", "--cumsum=n"], four, 1,
         "n,m,running_sum(n)\n1,2,1\nx,3,1\ny,4,1\n5,6,6\n", first + "2 of 4 values, more than --max-invalid 1")
    says("every value, whatever --max-invalid", SKIP + ["--max-invalid=9", "--sum=n"], b"n\nx\ny\n", 1, "",
         "<stdin>:2: column 'n': not a number: 'x'; --invalid skip leaves out all 2 values")
    says("values present, not records", SKIP + ["--max-invalid=49%", "--sum=n"], b"n,m\n,\n,\n,\n1,\nx,\n", 1, "",
         "<stdin>:6: column 'n': not a number: 'x'; --invalid skip leaves out 1 of 2 values, more than --max-invalid 49%")
    short = b"n,m\n1,2\n3\n4,5\n6\n"
    says("records, a count", SKIP + ["--max-invalid=1", "--sum=n"], short, 1, "",
         "<stdin>:3: 1 field where the header has 2: see --ragged; --invalid skip leaves out 2 of 4 records, more than --max-invalid 1")
    says("records, a percentage", SKIP + ["--max-invalid=50%", "--sum=n"], short, 0, "5\n",
         "warning: 2 records left out; the first: <stdin>:3: 1 field where the header has 2: see --ragged")
    says("records of a condition", SKIP + ["--max-invalid=1", "--sum=m", "--where=n >= 5"], four, 1, "",
         first.replace("leaves out ", "leaves out 2 of 4 records, more than --max-invalid 1"))
    says("records of a condition, among those that it drops", SKIP + ["--max-invalid=50%", "--sum=m", "--where=n >= 5"], four, 0,
         "6\n", "warning: 2 records without an answer to the condition; the first: <stdin>:3: column 'n': not a number: 'x'")
    for text in ("x", "", "-1", "1.5", "101%", "100.1%", "1.%", ".5%", "1.1234567891%", "5%%", "99999999999999999999"):
        says("--max-invalid " + text, SKIP + ["--max-invalid=" + text, "--sum=n"], b"n\n1\n", 2, "",
             "--max-invalid: '%s' is neither a number nor a percentage\nTry 'gpustat --help'." % text)
    for name, args in (("alone", ["--max-invalid=5", "--sum=n"]), ("with error", ["--max-invalid=5", "--invalid=error"])):
        says("--max-invalid " + name, args, b"n\n1\n", 2, "", "--max-invalid: nothing is left out without --invalid skip\n"
             "Try 'gpustat --help'.")


def check_summary():
    rows = b"".join(b"%d,%s\n" % (i, b"?" if i == 3 else b"%d" % i) for i in range(1, 11))
    note = "warning: 1 value of column 'n' left out: <stdin>:4: not a number: '?' (try --missing '?')"
    number = HEAD + "id,number,10,0,0,55,1,10,5.5,,\nn,number,9,0,1,52,1,10,5.7777777777777778,,\n"
    says("a tenth", ["--format=csv"], b"id,n\n" + rows, 0, number, note)
    rows = rows.replace(b"10,10\n", b"10,\n")
    says("more than a tenth of those present", ["--format=csv"], b"id,n\n" + rows, 0,
         HEAD + "id,number,10,0,0,55,1,10,5.5,,\nn,text,9,1,0,,1,?,,1,1\n",
         "note: column 'n' may hold numbers: try --missing '?'")
    first = b"n\n?\n" + b"1\n" * 19 + b"1e999\n"
    says("the first, and one out of range", ["--format=csv", "--header=yes"], first, 0,
         HEAD + "n,number,19,0,2,19,1,1,1,,\n",
         "warning: 2 values of column 'n' left out; the first: <stdin>:2: not a number: '?' (try --missing '?')")
    says("only out of range", ["--format=csv"], b"n\n" + b"1\n" * 19 + b"1e999\n", 0, HEAD + "n,number,19,0,1,19,1,1,1,,\n",
         "warning: 1 value of column 'n' left out: <stdin>:21: number beyond 10^-400 to 10^400: '1e999'")
    says("skipping changes nothing", SKIP + ["--format=csv"], b"n\n1\nx\n", 0, HEAD + "n,text,2,0,0,,1,x,,1,1\n")
    says("every record", SKIP + ["--format=csv", "--ragged=error"], b"n\n1,2\n", 0, HEAD + "n,empty,0,0,0,0,,,,,\n",
         "warning: 1 record left out: <stdin>:2: 2 fields where the header has 1: a delimiter in a value that is not "
         "quoted? See --ragged (try sed '1s/^/row,/' if the first column has no name, as from R and pandas)")
    says("with --max-invalid", SKIP + ["--max-invalid=1"], first, 1, "",
         "<stdin>:2: column 'n': not a number: '?' (try --missing '?'); --invalid skip leaves out 2 of 21 values, "
         "more than --max-invalid 1")
    table = b"id,n\n" + b"".join(b"%d,%s\n" % (i, b"?" if i == 3 else b"%d" % i) for i in range(1, 11))
    for form in ("table", "tsv", "plain", "json"):
        r = harness.run(["--format=" + form], table)
        words = r.out.decode().replace('"', "").replace(",", " ").split() if form != "json" else None
        if words is None:
            row = json.loads(r.out)[1]
            right = (row["column"], row["type"], row["count"], row["invalid"], row["sum"]) == ("n", "number", 9, 1, 52)
        else:
            right = ["n", "number", "9", "0", "1", "52", "1", "10"] == words[words.index("n"):][:8]
        harness.ok(r.status == 0 and right and r.err.decode() == "gpustat: %s\n" % note, "the summary as " + form,
                   lambda: harness.describe(r))


def check_joined():
    """A record that is the header again: the summary leaves it out as the operations do."""
    data, again = b"a,b\n1,2\na,b\n3,4\n", "this record is the header again (try naming the files instead of joining them)"
    table = HEAD + "a,number,2,0,0,4,1,3,2,,\nb,number,2,0,0,6,2,4,3,,\n"
    says("the summary, of joined files", ["--format=csv"], data, 1, "",
         "<stdin>:3: this record is the header again (try naming the files instead of joining them, or --invalid skip)")
    says("... left out", SKIP + ["--format=csv"], data, 0, table, "warning: 1 record left out: <stdin>:3: " + again)
    says("... more than may be", SKIP + ["--format=csv", "--max-invalid=0"], data, 1, "",
         "<stdin>:3: " + again + "; --invalid skip leaves out 1 of 3 records, more than --max-invalid 0")
    says("... as many as may be", SKIP + ["--format=csv", "--max-invalid=1"], data, 0, table, "warning: 1 record left out: <stdin>:3: " + again)
    says("... beside ragged records, which it takes", SKIP + ["--format=csv", "--max-invalid=1"], b"a,b\n1\na,b\n3,4\na,b\n", 1, "",
         "<stdin>:3: " + again + "; --invalid skip leaves out 2 of 4 records, more than --max-invalid 1")
    says("... and said of both", SKIP + ["--format=csv"], b"a,b\n1\na,b\n3,4\na,b\n", 0, HEAD + "a,number,2,0,0,4,1,3,2,,\nb,number,1,1,0,4,4,4,4,,\n",
         "warning: 1 record has too many or too few fields: <stdin>:2: 1 field where the header has 2: see --ragged",
         "warning: 2 records left out; the first: <stdin>:3: " + again)


check_kinds_of_records()
check_warnings()
check_joined()
check_too_much()
check_summary()
harness.done()
