# SPDX-License-Identifier: MIT
"""Records with more or fewer fields than the first: --ragged, the summary, --count-records.

Each case is run in chunks that end at every byte or nearly so, on several threads; the exit status, standard output and
standard error must be exactly these. Random tables are held against a model of a few lines, below.
"""
import gzip
import random

import harness
from harness import answers, fixture

WAYS = [(c, t) for c in (1, 2, 3, 7, None) for t in (1, 2, 3, 7)]
HINT = ": a delimiter in a value that is not quoted? See --ragged\n"
BELOW = HINT[:-1] + " (try sed '1s/^/row,/' if the first column has no name, as from R and pandas)\n"     # all records have one more


def says(status, out, err=""):
    """For harness.agrees(): exactly this."""
    want = (status, out.encode(), err.encode())

    def judge(r):
        return None if (r.status, r.out, r.err) == want else "wanted: %s" % (want,)
    return judge


def fails(name, args, data, message, out=""):
    harness.agrees(name, args, data, says(1, out, "gpustat: <stdin>:" + message), WAYS)


def gives(name, args, data, out, warning=""):
    harness.agrees(name, args, data, says(0, out, warning and "gpustat: warning: " + warning), WAYS)


def check_error():
    for name, data, args, message in (
            ("a number with a comma", b"item,amount\nA,1,234.50\n", ["--sum=amount"], "2: 3 fields where the header has 2" + BELOW),
            ("too few", b"a,b\n1,2\n3\n4,5\n", ["--sum=b"], "3: 1 field where the header has 2: see --ragged\n"),
            ("too few, not of those asked", b"a,b\n1,2\n3\n4,5\n", ["--sum=a"], "3: 1 field where the header has 2: see --ragged\n"),
            ("too few, of three", b"a,b,c\n1,2,3\n3,4\n", ["--count=a"], "3: 2 fields where the header has 3: see --ragged\n"),
            ("no header", b"1,2\n3,4,5\n", ["--sum=1"], "2: 3 fields where the first record has 2" + HINT),
            ("no header, too few", b"1,2\n3\n", ["--sum=2"], "2: 1 field where the first record has 2: see --ragged\n"),
            ("the last, without a line end", b"a,b\n1,2\n3", ["--sum=b"], "3: 1 field where the header has 2: see --ragged\n"),
            ("the last, longer", b"a,b\n1,2\n3,4,5", ["--sum=b"], "3: 3 fields where the header has 2" + HINT),
            ("after lines in quotes", b'a,b\n"x\ny",2\n3\n', ["--sum=b"], "4: 1 field where the header has 2: see --ragged\n"),
            ("with lines in quotes", b'a,b\n"x\n,y",2,"\n"\n3\n', ["--sum=b"], "2: 3 fields where the header has 2" + HINT),
            ("CR LF", b"a,b\r\n1,2\r\n3,4,5\r\n", ["--sum=a"], "3: 3 fields where the header has 2" + HINT),
            ("two delimiters at the end", b"a,b\n1,2\n3,4,,\n", ["--sum=a"], "3: 4 fields where the header has 2" + HINT),
            ("empty quotes at the end", b'a,b\n1,2,""\n', ["--sum=a"], "2: 3 fields where the header has 2" + BELOW),
            ("a blank at the end", b"a,b\n1,2, \n", ["--sum=a"], "2: 3 fields where the header has 2" + BELOW),
            ("a delimiter, one column", b"a\n1\n2,3\n", ["--sum=a"], "3: 2 fields where the header has 1" + HINT),
            ("quotes that are no blank line", b'a,b\n1,2\n""\n', ["--sum=a"], "3: 1 field where the header has 2: see --ragged\n"),
            ("a blank that is no blank line", b"a,b\n1,2\n \n", ["--sum=a"], "3: 1 field where the header has 2: see --ragged\n"),
            ("one too few where the header's last name is empty", b"a,b,\n1,2\n3\n", ["--sum=a"],
             "3: 1 field where the header has 3: see --ragged\n"),
            ("among regular ones", b"a,b\n" + b"1,2\n" * 70 + b"1,2,3\n" + b"1,2\n" * 70, ["--sum=a,b"],
             "72: 3 fields where the header has 2" + HINT),
            ("among those with a delimiter at the end", b"a,b\n" + b"1,2,\n" * 70 + b"1,2,3\n" + b"1,2,\n" * 70, ["--sum=a,b"],
             "72: 3 fields where the header has 2" + HINT),
            ("records only counted", b"a,b\n1,2\n3\n", ["--count-records"], "3: 1 field where the header has 2: see --ragged\n"),
            ("the summary, if said", b"a,b\n1,2\n3\n", ["--ragged=error"], "3: 1 field where the header has 2: see --ragged\n"),
            ("the summary, extra", b"a,b\n1,2,3\n3\n", ["--ragged=extra"], "3: 1 field where the header has 2: see --ragged\n"),
            ("extra takes no shorter one", b"a,b\n1,2,3\n4\n", ["--ragged=extra", "--sum=a"],
             "3: 1 field where the header has 2: see --ragged\n"),
            # the first error of the input, whichever it is
            ("before text", b"a,b\n1\nx,2\n", ["--sum=a"], "2: 1 field where the header has 2: see --ragged\n"),
            ("text before it", b"a,b\nx,2\n1\n", ["--sum=a"], "2: column 'a': not a number: 'x' (try --invalid skip)\n"),
            ("text in it", b"a,b\nx\ny,2\n", ["--sum=a"], "2: 1 field where the header has 2: see --ragged\n"),
            ("before a condition on text", b"a,b\n1\nx,2\n", ["--where=a > 1", "--sum=b"],
             "2: 1 field where the header has 2: see --ragged\n"),
            ("after a condition on text", b"a,b\nx,2\n1\n", ["--where=a > 1", "--sum=b"], "2: column 'a': not a number: 'x' (try --invalid skip)\n"),
            ("where the condition would not hold", b"a,b\n1,2\n1\n", ["--where=a > 1", "--sum=b"],
             "3: 1 field where the header has 2: see --ragged\n"),
            ("before an open quote", b'a,b\n1\n"x,2\n', ["--sum=a"], "2: 1 field where the header has 2: see --ragged\n")):
        fails("error: " + name, args, data, message)
    for name, args, out in (("a running column", ["--cumsum=a"], "a,b,running_sum(a)\n1,2,1\n"),
                            ("printed records", ["--where=a > 0"], "a,b\n1,2\n")):
        fails("error: " + name, args, b"a,b\n1,2\n3\n5,6\n", "3: 1 field where the header has 2: see --ragged\n", out)


def check_regular():
    """What is not ragged."""
    for name, data, args, out in (
            ("a delimiter at every line's end", b"a,b\n1,2,\n3,4,\n", ["--sum=a,b"], "sum(a),sum(b)\n4,6\n"),
            ("a delimiter at some lines' ends", b"a,b\r\n1,2,\r\n3,4\r\n5,6,", ["--sum=a,b"], "sum(a),sum(b)\n9,12\n"),
            ("a delimiter at the header's end", b"a,b,\n1,2\n3,4\n", ["--sum=a,b"], "sum(a),sum(b)\n4,6\n"),
            ("the field that the header's empty name asks for", b"a,b,\n1,2\n3,4,5\n", ["--sum=3", "--count=3"],
             "sum(col3),count(col3)\n5,1\n"),
            ("one column, a delimiter at the end", b"a\n1,\n2\n", ["--sum=a"], "3\n"),
            ("one column, blank lines", b"a\n1\n\n2\n", ["--sum=a", "--count-records"], "sum(a),records\n3,3\n"),
            ("two columns, blank lines", b"a,b\n1,2\n\n\r\n3,4\n", ["--sum=a", "--count-records"], "sum(a),records\n4,2\n"),
            ("a delimiter at the end, printed", b"a,b\n1,2,\n3,4\n", ["--cumsum=b"],
             "a,b,running_sum(b)\n1,2,2\n3,4,6\n"),
            ("a delimiter at the end, where", b"a,b\n1,2,\n3,4\n", ["--where=b > 1"], "a,b\n1,2\n3,4\n"),
            ("the last number before CR LF and before a delimiter", b"a,b\r\n1,2\r\n3,4,\r\n", ["--max=b"], "4\n")):
        gives("regular: " + name, args, data, out)


def check_policies():
    data = b"a,b\n1,2\n3\n5,6,7\n8,9,\n"
    for name, args, out in (
            ("allow", ["--ragged=allow", "--sum=a,b", "--count=b"], "sum(a),sum(b),count(b)\n17,17,3\n"),
            ("allow, a column that is only counted", ["--ragged=allow", "--count=b"], "3\n"),
            ("allow, moments", ["--ragged=allow", "--var=b"], "12.333333333333333\n"),
            ("allow, is missing", ["--ragged=allow", "--where=b is missing"], "a,b\n3,\n"),
            ("allow, is not missing", ["--ragged=allow", "--where=not b is missing"], "a,b\n1,2\n5,6\n8,9\n"),
            ("allow, a number", ["--ragged=allow", "--where=b > 2", "--sum=a,b"], "sum(a),sum(b)\n13,15\n"),
            ("allow, text", ["--ragged=allow", "--where=b != 'x'", "--sum=a"], "14\n"),
            ("allow, columns", ["--ragged=allow", "--where=a < b or b is missing", "--sum=a"], "17\n"),
            ("allow, kept without the field", ["--ragged=allow", "--where=a = 3", "--sum=b", "--count=b"],
             "sum(b),count(b)\n0,0\n"),
            ("allow, running columns", ["--ragged=allow", "--cumsum=b", "--running-count=b"],
             "a,b,running_sum(b),running_count(b)\n1,2,2,1\n3,,2,1\n5,6,8,2\n8,9,17,3\n"),
            ("allow, positions", ["--ragged=allow", "--offsets=b > 2", "--only"], "offset\n\n\n0\n1\n"),
            ("allow, '*'", ["--ragged=allow", "--sum=*"], "sum(a),sum(b)\n17,17\n"),
            ("allow, records", ["--ragged=allow", "--count-records"], "4\n"),
            ("allow, numbers that mean missing", ["--ragged=allow", "--missing=2", "--sum=b", "--count=b"],
             "sum(b),count(b)\n15,2\n")):
        gives(name, args, data, out)
    fails("extra", ["--ragged=extra", "--sum=a,b"], data, "3: 1 field where the header has 2: see --ragged\n")
    longer = b"a,b\n1,2,3\n4,5\n6,7,8,9\n"
    gives("extra, sums", ["--ragged=extra", "--sum=a,b"], longer, "sum(a),sum(b)\n11,14\n")
    gives("extra, printed", ["--ragged=extra", "--cumsum=b"], longer, "a,b,running_sum(b)\n1,2,2\n4,5,7\n6,7,14\n")
    gives("extra, the summary", ["--ragged=extra", "--format=csv"], longer,
          "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\na,number,3,0,0,11,1,6,3.6666666666666667,,\n"
          "b,number,3,0,0,14,2,7,4.6666666666666667,,\n")
    gives("skip", ["--invalid=skip", "--sum=a,b"], data, "sum(a),sum(b)\n9,11\n",
          "2 records left out; the first: <stdin>:3: 1 field where the header has 2: see --ragged\n")
    gives("skip, one", ["--invalid=skip", "--sum=a"], b"a,b\n1,2\n3,4,5\n", "1\n",
          "1 record left out: <stdin>:3: 3 fields where the header has 2" + HINT)
    for last in ('""', "x", '"x"', "\0"):
        gives("skip, '*' behind a record that is left out, which ends with %r" % last, ["--invalid=skip", "--sum=*"],
              b"a,b\n0,x,%s\n6,8\n" % last.encode(), "sum(a),sum(b)\n6,8\n", "1 record left out: <stdin>:2: 3 fields where the header has 2" + HINT)
    gives("skip and extra", ["--invalid=skip", "--ragged=extra", "--sum=a,b"], data, "sum(a),sum(b)\n14,17\n",
          "1 record left out: <stdin>:3: 1 field where the header has 2: see --ragged\n")
    gives("skip, printed", ["--invalid=skip", "--cumsum=a"], data, "a,b,running_sum(a)\n1,2,1\n8,9,9\n",
          "2 records left out; the first: <stdin>:3: 1 field where the header has 2: see --ragged\n")


def check_summary():
    head = "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n"
    gives("the summary takes all", ["--format=csv"], b"a,b\n1,2\n3\n5,6,7\n8,9,\n",
          head + "a,number,4,0,0,17,1,8,4.25,,\nb,number,3,1,0,17,2,9,5.6666666666666667,,\n",
          "2 records have too many or too few fields; the first: <stdin>:3: 1 field where the header has 2: see --ragged\n")
    gives("the summary, one", ["--format=csv"], b"1,2\n3,4\n5,6,7\n",
          head + "col1,number,3,0,0,9,1,5,3,,\ncol2,number,3,0,0,12,2,6,4,,\n",
          "1 record has too many or too few fields: <stdin>:3: 3 fields where the first record has 2" + HINT)
    gives("the summary, allow", ["--format=csv", "--ragged=allow"], b"a,b\n1,2\n3\n",
          head + "a,number,2,0,0,4,1,3,2,,\nb,number,1,1,0,2,2,2,2,,\n")
    first, second = fixture("first.csv", b"a,b\n1,2\n3,4\n"), fixture("second.csv", b"a,b\n5,6\n7\n8,9\n10\n")
    harness.agrees("the summary names the file", ["--format=csv", first, second], b"", says(
        0, head + "a,number,6,0,0,34,1,10,5.6666666666666667,,\nb,number,4,2,0,21,2,9,5.25,,\n",
        "gpustat: warning: 2 records have too many or too few fields; the first: %s:3: 1 field where the header has 2: "
        "see --ragged\n" % second), WAYS)
    zipped = fixture("second.csv.gz", gzip.compress(b"a,b\n5,6\n7\n8,9\n10\n"))
    for name, path in (("a second file", second), ("a gzip file", zipped)):
        harness.agrees("error: " + name, ["--sum=a", first, path], b"", says(
            1, "", "gpustat: %s:3: 1 field where the header has 2: see --ragged\n" % path), WAYS)


def check_records():
    """--count-records."""
    text = b"a,b\n1,2\n\n3,x\n\r\n5,\n"
    gives("records", ["--count-records"], text, "3\n")
    gives("records, no header", ["--count-records", "--header=no"], text, "4\n")
    gives("records, without names", ["--count-records"], b"1\n2\n3\n", "3\n")
    gives("records of one column", ["--count-records"], b"a\n1\n\n3\n", "3\n")
    gives("records, where", ["--count-records", "--where=a > 1"], text, "2\n")
    gives("records and others", ["--sum=a", "--count-records", "--count=b", "--where=b is missing or a = 1"], text,
          "sum(a),records,count(b)\n6,2,1\n")
    gives("records as JSON", ["--count-records", "--sum=a", "--format=json"], text, '{"records": 3, "sum(a)": 9}\n')
    gives("records, csv", ["--count-records", "--format=csv"], text, "records\n3\n")
    gives("no record", ["--count-records"], b"", "0\n")
    gives("blank lines, no columns", ["--count-records"], b"\n\r\n", "2\n")
    gives("blank lines, one column", ["--count-records", "--count=1"], b"\n\n", "records,count(col1)\n2,0\n")
    gives("blank lines, two columns", ["--count-records", "--count=2"], b"\n\n", "records,count(col2)\n0,0\n")
    harness.agrees("records with skip", ["--count-records", "--invalid=skip"], b"a,b\n1,2\n3\n5,6\n", says(
        0, "2\n", "gpustat: warning: 1 record left out: <stdin>:3: 1 field where the header has 2: see --ragged\n"), WAYS)
    many = b"a,b\n" + b"".join(b'%d,"x\n,%d"\n' % (i, i) for i in range(30000))
    harness.agrees("many records", ["--count-records"], many, harness.exactly("30000\n"),
                   [(c, t) for c in (100, 4096, None) for t in (1, 3)])
    harness.refuses("records take no columns", ["--count-records=a"], b"", 2, "--count-records")
    harness.refuses("records beside a running column", ["--count-records", "--cumsum=a"], b"", 2,
                    "--count-records prints one value and --cumsum prints every record: not both")


# ---- long records -------------------------------------------------------------------------------

def check_long():
    """Records of more fields than positions are kept for."""
    some = [(c, t) for c in (1000, 65536, 300000, None) for t in (1, 3)]
    lines = b"a,b\n1,2\n" + b"," * 200000 + b"\n3,4\n"
    harness.agrees("200,001 fields where 2 should be", ["--sum=a"], lines, says(
        1, "", "gpustat: <stdin>:3: 200001 fields where the header has 2" + HINT), some)
    harness.agrees("200,001 fields where 2 should be, extra", ["--sum=b", "--ragged=extra"], lines, says(0, "6\n"), some)
    n = 150000
    names, whole = b",".join(b"c%d" % i for i in range(n)), b",".join(b"%04d" % (i % 10) for i in range(n))
    for name, record, message in (("one too many", whole + b",7", "%d fields where the header has %d" % (n + 1, n) + HINT),
                                  ("one too few", whole[:-5], "%d fields where the header has %d: see --ragged\n" % (n - 1, n)),
                                  ("two too many", whole + b",,", "%d fields where the header has %d" % (n + 2, n) + HINT)):
        data = names + b"\n" + whole + b"\n" + whole + b",\n" + record + b"\n" + whole + b"\n"
        harness.agrees("150,000 columns: " + name, ["--sum=c0,c3"], data, says(1, "", "gpustat: <stdin>:4: " + message), some)


# ---- random tables ------------------------------------------------------------------------------

def field(rng):
    return rng.choice((b"%d" % rng.randrange(100), b"%d" % rng.randrange(100), b"", b'"%d"' % rng.randrange(100),
                       b'"%s"' % rng.choice((b"x,y", b"p\nq", b'a""b', b""))))


def value(raw):
    """A number, "text", or None for what is missing."""
    if raw.startswith(b'"'):
        raw = raw[1:-1].replace(b'""', b'"')
    return None if not raw.strip() else int(raw) if raw.isdigit() else "text"


def table(rng, n):
    """Records as lists of fields, the first of them names."""
    rows = [[b"c%d" % i for i in range(1, n + 1)]]
    if n > 1 and rng.randrange(4) == 0:
        rows[0][-1] = b""
    for _ in range(rng.choice((3, 30, 150))):
        count = n if rng.randrange(rng.choice((3, 20))) else rng.randrange(1, n + 4)
        rows.append([field(rng) for _ in range(count)])
        if rng.randrange(5) == 0:
            rows[-1].append(b"")
    return [row for row in rows if len(row) > 1 or row[0] or n == 1]


def model(rows, policy):
    """The counts of --count 1 and of the last column and of the records; or the number of the first record that is
    refused, and its fields."""
    n, records, first, last = len(rows[0]), 0, 0, 0
    for k, row in enumerate(rows[1:]):
        count = len(row)
        regular = count == n or (count == n + 1 and row[-1] == b"") or (count == n - 1 and rows[0][-1] == b"")
        if not regular and not (policy == "allow" or (policy == "extra" and count > n)):
            return k, count
        records += 1
        first += value(row[0]) is not None
        last += count >= n and value(row[n - 1]) is not None
    return "count(c1),count(%s),records\n%d,%d,%d\n" % (rows[0][-1].decode() or "col%d" % n, first, last, records)


def check_random():
    rng = random.Random(17)
    for k in range(60):
        n = rng.choice((1, 2, 2, 3, 5))
        rows, end = table(rng, n), rng.choice((b"\n", b"\r\n"))
        data = end.join(b",".join(row) for row in rows) + rng.choice((b"", end))
        policy = rng.choice(("error", "extra", "allow"))
        args = ["--header=yes", "--ragged", policy, "--count=1", "--count=%d" % n, "--count-records"]
        want = model(rows, policy)
        if isinstance(want, str):
            judge = says(0, want)
        else:
            line = 1 + sum(b",".join(row).count(b"\n") + 1 for row in rows[:want[0] + 1])
            judge = says(1, "", "gpustat: <stdin>:%d: %d field%s where the header has %d" % (
                line, want[1], "" if want[1] == 1 else "s", n) + (HINT if want[1] > n else ": see --ragged\n"))
        ways = [(c, t) for c in (1, 2, 3, 7, 64, None) for t in (1, 3)]
        harness.agrees("table %d: %d columns, %s" % (k, n, policy), args, data, judge, ways)


def check_instruction_sets():
    for name in harness.instruction_sets():
        answers(name + ": regular", ["--sum=a,b"], b"a,b\n" + b"1,2,\n" * 100 + b"3,4\n" * 100, "sum(a),sum(b)\n400,600\n",
                simd=name)
        answers(name + ": allow", ["--sum=a,b", "--ragged=allow", "--where=a > 0"],
                b"a,b\n1,2\n" + b"1,2,3\n" * 99 + b"3\n" * 100, "sum(a),sum(b)\n400,200\n", simd=name)


# ---- printed records ----------------------------------------------------------------------------

PRINTED = ((["--where=c1 is missing or not c1 is missing"], [], lambda rows: [[] for _ in rows]),
           (["--head=100000"], [], lambda rows: [[] for _ in rows]),
           (["--tail=100000"], [], lambda rows: [[] for _ in rows]),
           (["--row-number"], [b"row_number"], lambda rows: [[b"%d" % (i + 1)] for i in range(len(rows))]),
           (["--row-number", "--lag=1"], [b"row_number", b"lag(c1)"],
            lambda rows: [[b"%d" % (i + 1), rows[i - 1][0] if i else b""] for i in range(len(rows))]),
           (["--lead=1"], [b"lead(c1)"], lambda rows: [[row[0]] for row in rows[1:]] + [[b""]] * (len(rows) > 0)),
           (["--lead=1", "--by=1"], [b"lead(c1)"],
            lambda rows: [[next((r[0] for r in rows[i + 1:] if value(r[0]) == value(row[0]) != "text" or r[0] == row[0]), b"")]
                          for i, row in enumerate(rows)]),
           (["--let=x = 7"], [b"x"], lambda rows: [[b"7"] for _ in rows]))


def check_printed():
    """A printed record has as many fields as the header, and new fields stand behind the last of them."""
    for name, args, data, out in (
            ("a delimiter at the end of all", ["--cumsum=b"], b"a,b\n1,2,\n3,4,\n", "a,b,running_sum(b)\n1,2,2\n3,4,6\n"),
            ("a delimiter at the header's end", ["--cumsum=b"], b"a,b,\n1,2\n3,4\n", "a,b,,running_sum(b)\n1,2,,2\n3,4,,6\n"),
            ("no new column", ["--where=a > 0"], b"a,b,\n1,2\n3,4,5\n6,7,\n", "a,b,\n1,2,\n3,4,5\n6,7,\n"),
            ("a computed column", ["--let=c = a*10"], b"a,b\r\n1,2,\r\n3,4\r\n5,6,", "a,b,c\r\n1,2,10\r\n3,4,30\r\n5,6,50"),
            ("a field before", ["--lag=b"], b"a,b\n1,2,\n3,4\n5,6,\n", "a,b,lag(b)\n1,2,\n3,4,2\n5,6,4\n"),
            ("--select", ["--select=1-", "--cumsum=b"], b"a,b\n1,2,\n3,4\n", "a,b,running_sum(b)\n1,2,2\n3,4,6\n"),
            ("--drop", ["--drop=a"], b"a,b,\n1,2\n3,4\n", "b,\n2,\n4,\n"),
            ("--rename", ["--rename=a=x"], b"a,b\n1,2,\n3,4\n", "x,b\n1,2\n3,4\n"),
            ("a quoted field last", ["--row-number"], b'a,b\n1,"x,\ny",\n', 'a,b,row_number\n1,"x,\ny",1\n'),
            ("too few and too many", ["--ragged=allow", "--row-number"], b"a,b,c\n1\n2,3\r\n4,5,6,7,8,9\n9,10,11",
             "a,b,c,row_number\n1,,,1\n2,3,,2\r\n4,5,6,3\n9,10,11,4"),
            ("no header: as the first record", ["--header=no", "--ragged=allow", "--row-number"], b"1,2,\n3\n4,5,6,7\n",
             "1,2,,1\n3,,,2\n4,5,6,3\n"),
            ("an escape byte", ["--header=yes", "--escape=\\", "--ragged=allow", "--row-number"], b"a,b\n1\\,2\n3,4\\\n5,6\n", "a,b,row_number\n1\\,2,,1\n3,4\\\n5,2\n"),
            ("one column", ["--row-number", "--ragged=extra"], b"a\n1,\n2,3\n\n", "a,row_number\n1,1\n2,2\n,3\n")):
        gives("printed: " + name, args, data, out)
    first, second = fixture("ab.csv", b"a,b\n1,2,\n"), fixture("ba.csv", b"b,a,\n3,4\n5,6,\n")
    gives("printed: --select of files with other headers", ["--select=a,b", "--row-number", first, second], None,
          "a,b,row_number\n1,2,1\n4,3,2\n6,5,3\n")
    words = b"a   b   c\n1   2      \r\n1   2   3\n"
    for args in (["--head=9"], ["--tail=9"], ["--sample=9"], ["--where=a=1"]):
        gives("a record below its names comes as it is: %s" % args[0], ["-W", "-H", *args], words, words.decode())
    harness.refuses("blanks cannot show that a field is not there", ["-W", "--ragged=allow", "--row-number"], b"a b\n1\n", 2,
                    "--whitespace: a field that a record lacks cannot be printed between blanks: --ragged allow is for results "
                    "then, not for --row-number")
    rng = random.Random(23)
    for k in range(80):
        n = rng.choice((2, 3, 5))
        rows, end = table(rng, n), rng.choice((b"\n", b"\r\n"))
        rows = rows[:1] + [row for row in rows[1:] if row != [b""]]
        policy = rng.choice(("extra", "allow"))
        if not isinstance(model(rows, policy), str):
            policy = "allow"
        args, names, more = PRINTED[k % len(PRINTED)]
        even = [(row + [b""] * n)[:n] for row in rows]
        want = [even[0] + names] + [row + new for row, new in zip(even[1:], more(even[1:]))]
        harness.agrees("printed %d: %s" % (k, " ".join(args)), ["--header=yes", "--ragged", policy] + args,
                       end.join(b",".join(row) for row in rows) + end,
                       says(0, b"".join(b",".join(row) + end for row in want).decode()),
                       [(c, t) for c in (1, 3, 64, None) for t in (1, 3)])


check_error()
check_regular()
check_printed()
check_policies()
check_summary()
check_records()
check_long()
check_random()
check_instruction_sets()
harness.done()
