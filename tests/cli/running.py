# SPDX-License-Identifier: MIT
"""Running totals, offsets and byte offsets: what is printed, byte for byte, however it is cut.

The wanted text is written by hand and the model (oracle_scan.py) must agree with it; the matrix at
the end rests on the model alone.
"""
import gzip
import itertools
import random

import harness
import oracle_scan
from harness import answers, fixture, refuses, skip
from oracle_scan import TOTALS, Scan
from scan_ways import breaks, holds, models, no_gpu, prints, ways

ALL = [(o, "v") for o in TOTALS]
RATIOS = [("mean", "v"), ("var", "v"), ("stddev", "v")]
HEAD = ",running_sum(v),running_min(v),running_max(v),running_count(v)"


def case(name, data, news, want, **how):
    return name, data, Scan([(news, "v")] if isinstance(news, str) else news, **how), want


TABLE = [
    # ---- each scan ------------------------------------------------------------------------------
    case("sum", b"v\n1\n2\n3\n", "sum", "v,running_sum(v)\n1,1\n2,3\n3,6\n"),
    case("min", b"v\n2\n1\n3\n", "min", "v,running_min(v)\n2,2\n1,1\n3,1\n"),
    case("max", b"v\n2\n1\n3\n", "max", "v,running_max(v)\n2,2\n1,2\n3,3\n"),
    case("count", b"v\n2\n\n3\n", "count", "v,running_count(v)\n2,1\n,1\n3,2\n"),
    case("sum, exclusive", b"v\n1\n2\n3\n", "sum", "v,running_sum(v)\n1,0\n2,1\n3,3\n", exclusive=True),
    case("min, exclusive", b"v\n2\n1\n3\n", "min", "v,running_min(v)\n2,\n1,2\n3,1\n", exclusive=True),
    case("max, exclusive", b"v\n2\n1\n3\n", "max", "v,running_max(v)\n2,\n1,2\n3,2\n", exclusive=True),
    case("count, exclusive", b"v\n2\n\n3\n", "count", "v,running_count(v)\n2,0\n,1\n3,1\n", exclusive=True),
    case("all of them", b"v\n1\n2.5\n\n-3", ALL,
         "v" + HEAD + "\n1,1,1,1,1\n2.5,3.5,1.0,2.5,2\n,3.5,1.0,2.5,2\n-3,0.5,-3.0,2.5,3"),
    case("all of them, exclusive", b"v\n1\n2.5\n\n-3", ALL,
         "v" + HEAD + "\n1,0,,,0\n2.5,1,1,1,1\n,3.5,1.0,2.5,2\n-3,3.5,1.0,2.5,2", exclusive=True),
    # ---- means, variances and standard deviations -----------------------------------------------
    case("mean", b"v\n1\n2.5\n\n-3\n", "mean", "v,running_mean(v)\n1,1\n2.5,1.75\n,1.75\n-3,0.16666666666666667\n"),
    case("var and stddev", b"v\n1\n3\n\n5\n", RATIOS[1:],
         "v,running_var(v),running_stddev(v)\n1,,\n3,2,1.414213562373095\n,2,1.414213562373095\n5,4,2\n"),
    case("all three, exclusive", b"v\n1\n2.5\n-3\n", RATIOS,
         "v,running_mean(v),running_var(v),running_stddev(v)\n1,,,\n2.5,1,,\n-3,1.75,1.125,1.0606601717798213\n", exclusive=True),
    case("scales grow, numbers beyond 18 digits", b"v\n0.5\n1e30\n-1e30\n0.25", RATIOS, "v,running_mean(v),running_var(v),running_stddev(v)\n"
         "0.5,0.5,,\n1e30,500000000000000000000000000000,500000000000000000000000000000000000000000000000000000000000,"
         "707106781186547520000000000000\n-1e30,0.16666666666666667,"
         "1000000000000000000000000000000000000000000000000000000000000,1000000000000000000000000000000\n"
         "0.25,0.1875,666666666666666670000000000000000000000000000000000000000000,816496580927726030000000000000"),
    case("of quoted numbers, without the record", b'"v"\n"1"\n"4"\n', RATIOS[:1], "running_mean(v)\n1\n2.5\n", only=True),
    case("text is counted", b"v,t\n1,a\n2,\n3,b\n", [("count", "t")],
         "v,t,running_count(t)\n1,a,1\n2,,1\n3,b,2\n"),
    # ---- order and number of columns ------------------------------------------------------------
    case("in the order of the command line", b"a,b\n1,2\n3,4\n",
         [("max", "b"), ("byte-offset", None), ("sum", "b,a"), ("offsets", "a = 3"), ("sum", "a")],
         "a,b,running_max(b),byte_offset,running_sum(b),running_sum(a),offset,running_sum(a)\n"
         "1,2,2,4,2,1,,1\n3,4,4,8,6,4,0,4\n"),
    case("by number and range", b"1,2,3\n4,5,6\n", [("sum", "3"), ("sum", "1-2"), ("max", ":2")],
         "1,2,3,3,1,2,2\n4,5,6,9,5,7,5\n"),
    case("two offsets", b"v\n1\n2\n3\n", [("offsets", "v > 1"), ("offsets", "v != 2")],
         "v,offset,offset\n1,,0\n2,0,\n3,1,1\n"),
    case("every numeric column", b"a,t,b\n1,x,2\n3,y,4\n", [("sum", "*")],
         "a,t,b,running_sum(a),running_sum(b)\n1,x,2,1,2\n3,y,4,4,6\n"),
    case("* looks at the first data record", b"a,b\n1,\n2,5\n", [("sum", "*")],
         "a,b,running_sum(a)\n1,,1\n2,5,3\n"),
    # ---- only -----------------------------------------------------------------------------------
    case("only", b"v\n1\n2.5\n\n-3", ALL[:2], "running_sum(v),running_min(v)\n1,1\n3.5,1.0\n3.5,1.0\n0.5,-3.0",
         only=True),
    case("only, CRLF", b"v;t\r\n1;x\r\n2;y\r\n", ALL[:2], "running_sum(v);running_min(v)\r\n1;1\r\n3;1\r\n",
         only=True, delimiter=b";"),
    case("only, a record of lines", b'v,t\n1,"a\nb"\n2,"\r\n"\n', "sum", "running_sum(v)\n1\n3\n", only=True),
    case("only, exclusive, no header", b"5,x\n6,y\n", [("sum", "1"), ("max", "1")], "0,\n5,5\n",
         only=True, exclusive=True, header="no"),
    # ---- line ends, quotes ----------------------------------------------------------------------
    case("CRLF", b"v,w\r\n1,2\r\n3,4\r\n", "sum", "v,w,running_sum(v)\r\n1,2,1\r\n3,4,4\r\n"),
    case("CRLF and LF mixed", b"v,w\r\n1,2\n3,4\r\n5,6", "sum",
         "v,w,running_sum(v)\r\n1,2,1\n3,4,4\r\n5,6,9"),
    case("header only", b"v,w\n", "sum", "v,w,running_sum(v)\n"),
    case("header only, no line end", b"v,w", "sum", "v,w,running_sum(v)"),
    case("one number, no line end", b"7", [("sum", "1")], "7,7"),
    case("quotes stay", b'"v","t"\n"1","x"\n"2","y, ""z"""\n', "sum",
         '"v","t",running_sum(v)\n"1","x",1\n"2","y, ""z""",3\n'),
    case("blanks stay", b"v, t\n 1 ,x \n\t2,y\n", "sum", "v, t,running_sum(v)\n 1 ,x ,1\n\t2,y,3\n"),
    case("lines and delimiters in quotes", b't,v\n"a\nb,c\r\nd",1\n",\n,",2\n"""\n""",3', "sum",
         't,v,running_sum(v)\n"a\nb,c\r\nd",1,1\n",\n,",2,3\n"""\n""",3,6'),
    case("a quoted last field", b'v,t\n1,"a\nb"\n2,"c""x"\n3,""\n', "sum",
         'v,t,running_sum(v)\n1,"a\nb",1\n2,"c""x",3\n3,"",6\n'),
    case("a stray quote", b'v,t\n1,12" disk\n2,a"b\n', "sum", 'v,t,running_sum(v)\n1,12" disk,1\n2,a"b,3\n'),
    case("a lone CR is data", b"v,t\n1,a\rb\n2,\r\r\n3,c\n", "sum",
         "v,t,running_sum(v)\n1,a\rb,1\n2,\r,3\r\n3,c,6\n"),
    case("a delimiter at the record's end", b"v,t\n1,a,\n2,d\n", "sum", "v,t,running_sum(v)\n1,a,1\n2,d,3\n"),
    case("any byte", b"v,t\n1,\xff\x00\xfe\n2,\xc3\xbc\n", "sum",
         b"v,t,running_sum(v)\n1,\xff\x00\xfe,1\n2,\xc3\xbc,3\n"),
    # ---- blank lines, missing -------------------------------------------------------------------
    case("blank lines are dropped", b"v,w\n\n1,2\n\r\n\n3,4\n\n", "sum", "v,w,running_sum(v)\n1,2,1\n3,4,4\n"),
    case("a blank line in one column", b"v\n1\n\n\r\n2\n\n", "sum", "v,running_sum(v)\n1,1\n,1\n,1\r\n2,3\n,3\n"),
    case("missing values", b"v,t\n,a\nNA,b\n 1,c\n\"\",d\n  ,e\n2,f\n", ALL,
         "v,t" + HEAD + "\n,a,0,,,0\nNA,b,0,,,0\n 1,c,1,1,1,1\n\"\",d,1,1,1,1\n  ,e,1,1,1,1\n2,f,3,1,2,2\n",
         missing=["NA"]),
    case("nothing but missing", b"v,t\n,a\n,b\n", ALL, "v,t" + HEAD + "\n,a,0,,,0\n,b,0,,,0\n"),
    # ---- numbers --------------------------------------------------------------------------------
    case("the scale grows", b"v\n1\n0.5\n0.25\n10\n1e-4\n", "sum",
         "v,running_sum(v)\n1,1\n0.5,1.5\n0.25,1.75\n10,11.75\n1e-4,11.7501\n"),
    case("the scale grows, exclusive", b"v\n1\n0.50\n2\n", "sum", "v,running_sum(v)\n1,0\n0.50,1\n2,1.50\n",
         exclusive=True),
    case("the scale of a value that is not the least", b"v\n-1\n0.50\n2\n", "min",
         "v,running_min(v)\n-1,-1\n0.50,-1.00\n2,-1.00\n"),
    case("each column has its scale", b"a,b\n1,0.5\n2.5,1\n", [("sum", "a,b")],
         "a,b,running_sum(a),running_sum(b)\n1,0.5,1,0.5\n2.5,1,3.5,1.5\n"),
    case("no minus zero", b"v\n-0\n-1\n1.0\n-0.00\n", "sum",
         "v,running_sum(v)\n-0,0\n-1,-1\n1.0,0.0\n-0.00,0.00\n"),
    case("exact decimals", b"v\n0.1\n0.2\n-0.3\n", "sum", "v,running_sum(v)\n0.1,0.1\n0.2,0.3\n-0.3,0.0\n"),
    case("beyond 64 bits", b"v\n9223372036854775807\n1\n-18446744073709551616\n", "sum",
         "v,running_sum(v)\n9223372036854775807,9223372036854775807\n1,9223372036854775808\n"
         "-18446744073709551616,-9223372036854775808\n"),
    case("beyond 128 bits, and back", b"v\n1e38\n170141183460469231731687303715884105727\n1\n-1e39\n", "sum",
         "v,running_sum(v)\n1e38,100000000000000000000000000000000000000\n"
         "170141183460469231731687303715884105727,270141183460469231731687303715884105727\n"
         "1,270141183460469231731687303715884105728\n-1e39,-729858816539530768268312696284115894272\n"),
    case("to 128 bits and over", b"v\n170141183460469231731687303715884105726\n1\n1\n-3\n", "sum",
         "v,running_sum(v)\n170141183460469231731687303715884105726,170141183460469231731687303715884105726\n"
         "1,170141183460469231731687303715884105727\n1,170141183460469231731687303715884105728\n"
         "-3,170141183460469231731687303715884105725\n"),
    case("a digit 400 places apart", b"v\n1e399\n1e-400\n", "sum", b"v,running_sum(v)\n1e399,1" + b"0" * 399
         + b"\n1e-400,1" + b"0" * 399 + b"." + b"0" * 399 + b"1\n"),
    case("wide values in min and max", b"v\n1e30\n-1e30\n0.5\n", [("min", "v"), ("max", "v")],
         "v,running_min(v),running_max(v)\n1e30,1" + "0" * 30 + ",1" + "0" * 30 + "\n-1e30,-1" + "0" * 30
         + ",1" + "0" * 30 + "\n0.5,-1" + "0" * 30 + ".0,1" + "0" * 30 + ".0\n"),
    # ---- names ----------------------------------------------------------------------------------
    case("names that need quotes", b'"a,b","say ""x""","l\nm"\n1,2,3\n', [("sum", "1-3")],
         '"a,b","say ""x""","l\nm","running_sum(a,b)","running_sum(say ""x"")","running_sum(l\nm)"\n1,2,3,1,2,3\n',
         header="yes"),
    case("quoted for the delimiter given", b"a,b;c\n1;2\n", [("sum", "1,2")],
         "a,b;c;running_sum(a,b);running_sum(c)\n1;2;1;2\n", delimiter=b";", header="yes"),
    case("a delimiter within the name", b"a_b\n1_2\n", [("sum", "a"), ("byte-offset", None)],
         'a_b_"running_sum(a)"_"byte_offset"\n1_2_1_4\n', delimiter=b"_"),
    case("a delimiter within the value", b'v.t\n"1.5".x\n2.y\n', "sum",
         'v.t.running_sum(v)\n"1.5".x."1.5"\n2.y."3.5"\n', delimiter=b"."),
    case("a name that is empty", b"a,\n1,2\n", [("sum", "2"), ("sum", "a")],
         "a,,running_sum(col2),running_sum(a)\n1,2,2,1\n"),
    case("tabs", b"v\tt\n1\tx,y\n2\tz\n", "sum", "v\tt\trunning_sum(v)\n1\tx,y\t1\n2\tz\t3\n", delimiter=b"\t"),
    # ---- offsets and byte offsets -----------------------------------------------------------------
    case("offsets", b"v\n1\n5\n\n7\n", [("offsets", "v >= 5")], "v,offset\n1,\n5,0\n,\n7,1\n"),
    case("offsets take no note of --exclusive", b"v\n1\n5\n", [("offsets", "v > 0"), ("sum", "v")],
         "v,offset,running_sum(v)\n1,0,0\n5,1,1\n", exclusive=True),
    case("byte offsets", b'v,t\r\n1,"a\nb"\n\n2,x', [("byte-offset", None)],
         'v,t,byte_offset\r\n1,"a\nb",5\n2,x,14'),
    case("byte offsets, a BOM counts", b"\xef\xbb\xbf1,2\n3,4\n", [("byte-offset", None)], "3\n7\n", only=True),
    case("byte offsets, no header: two records tell", b"1,x\n2,y\n", [("byte-offset", None)], "1,x,0\n2,y,4\n", header="no"),
    case("byte offsets, one record is no header", b"1,x\n", [("byte-offset", None)], "1,x,0\n", header="no"),
    case("byte offsets, header given", b"1\n2\n", [("byte-offset", None)], "1,byte_offset\n2,2\n", header="yes"),
    # ---- the values of what is filtered -----------------------------------------------------------
    case("filtered", b"v,t\n1,a\n2,b\n3,a\n4,c\n", ALL[:1] + [("byte-offset", None)],
         "v,t,running_sum(v),byte_offset\n1,a,1,4\n3,a,4,12\n", where="t = 'a'"),
    case("filtered, exclusive", b"v,t\n1,a\n2,b\n3,a\n4,c\n5,a\n", "sum",
         "v,t,running_sum(v)\n1,a,0\n3,a,1\n5,a,4\n", where="t = 'a'", exclusive=True),
    case("what is dropped may be invalid", b"v,t\n1,a\noops,b\n3,a\n", "sum",
         "v,t,running_sum(v)\n1,a,1\n3,a,4\n", where="t = 'a'"),
    case("offsets among the kept", b"v,t\n1,a\n2,b\n3,a\n4,a\n", [("offsets", "v >= 2")],
         "v,t,offset\n1,a,\n3,a,0\n4,a,1\n", where="t = 'a'"),
    case("nothing kept", b"v,t\n1,a\n", "sum", "v,t,running_sum(v)\n", where="t = 'x'"),
    case("what is dropped does not grow the scale", b"v,t\n1,a\n0.25,b\n2,a\n", "sum",
         "v,t,running_sum(v)\n1,a,1\n2,a,3\n", where="t = 'a'"),
]


def check_table():
    for i, (name, data, q, want) in enumerate(TABLE):
        models(name, q, data, ways(i), want)


def check_every_cut():
    """The two hardest ones, a chunk ending at every byte."""
    for wanted in ("lines and delimiters in quotes", "beyond 128 bits, and back"):
        name, data, q, _ = next(c for c in TABLE if c[0] == wanted)
        models("cut at every byte: " + name, q, data, ways(1, range(1, len(data) + 1)))


# ---- errors -----------------------------------------------------------------------------------

BAD = [
    ("not a number", b"v,t\n1,a\n2,b\nx,c\n4,d\n", [("sum", "v")], "v,t,running_sum(v)\n1,a,1\n2,b,3\n",
     "<stdin>:4: column 'v': not a number: 'x'"),
    ("the first record", b"v,t\n1x,a\n2,b\n", [("sum", "v")], "v,t,running_sum(v)\n",
     "<stdin>:2: column 'v': not a number: '1x'"),
    ("after a record of lines", b't,v\n"a\nb",1\n"c\n\nd",2\ne,x\n', [("max", "v")],
     't,v,running_max(v)\n"a\nb",1,1\n"c\n\nd",2,2\n', "<stdin>:7: column 'v': not a number: 'x'"),
    ("of two columns the second", b"a,b\n1,2\n3,y\n", [("sum", "b"), ("min", "a")],
     "a,b,running_sum(b),running_min(a)\n1,2,2,1\n", "<stdin>:3: column 'b': not a number: 'y'"),
    ("a short record", b"a,b\n1,2\n3\n5,6\n", [("sum", "b")], "a,b,running_sum(b)\n1,2,2\n",
     "gpustat: <stdin>:3: 1 field where the header has 2: see --ragged\n"),
    ("an open quote", b'a,b\n1,2\n3,"4\n5,6\n7,8\n', [("sum", "a")], "a,b,running_sum(a)\n1,2,1\n", "<stdin>:3:"),
    ("out of range", b"a,b\n1,2\n3,1e400\n5,6\n", [("sum", "b")], "a,b,running_sum(b)\n1,2,2\n",
     "<stdin>:3: column 'b'"),
    ("the condition of an offset", b"a,b\n1,2\nx,y\n5,6\n", [("offsets", "a > 0")], "a,b,offset\n1,2,0\n",
     "<stdin>:3: column 'a': not a number: 'x'"),
]


def check_errors():
    for i, (name, data, news, want, message) in enumerate(BAD):
        q = Scan(news)
        holds("an error: " + name, q.args(), data, breaks(want, message), ways(i))
        models("an error, the model: " + name, q, data, ways(i, (3, None)))
    for i, (name, data) in enumerate((("no numeric column", b"t,u\na,b\n1,2\n"),
                                      ("a blank first record", b"v\n\n1\n"))):
        models("an error: * and " + name, Scan([("sum", "*"), ("count", "1")], header="yes"), data, ways(i), "")
    far = b"v\n" + b"1\n" * 100000
    q = Scan([("sum", "v")], only=True)
    holds("an error far away: all before it is printed", q.args(), far + b"x\n" + b"1\n" * 1000,
          breaks(b"running_sum(v)\n" + b"".join(b"%d\n" % i for i in range(1, 100001)), "<stdin>:100002:"),
          ways(0, (4096, 100000, None)))


def check_skipping():
    data = b"v,w\n1,2\nx,3\n4,5\n\n6\n"
    q = Scan([("sum", "v"), ("count", "w")], invalid="skip")
    judge = oracle_scan.judge(q, data)
    holds("--invalid=skip: the total carries on, a short record is left out", q.args(), data,
          lambda r: judge(r) or (None if b"'v'" in r.err else "wanted: a warning of v"), ways())
    q = Scan([("offsets", "v > 0"), ("sum", "w")], invalid="skip")
    models("--invalid=skip: a record that a condition cannot judge is left out", q, data, ways())
    q = Scan([("offsets", "v > 0"), ("offsets", "v > 1"), ("sum", "w")], invalid="skip", where="w != 9")
    models("--invalid=skip: it is counted once", q, data, ways())


# ---- several files ------------------------------------------------------------------------------

def check_files():
    a, b = fixture("a.csv", b"v,w\n1,2\n3,4\n"), fixture("b.csv", b"v,w\n5,6\n7,8\n")
    crlf = fixture("crlf.csv", b"v,w\r\n5,6\r\n")
    news = ["--cumsum=v", "--byte-offset"]
    want = "v,w,running_sum(v),byte_offset\n1,2,1,4\n3,4,4,8\n5,6,9,16\n7,8,16,20\n"
    for i, z in enumerate((b, fixture("b.csv.gz", gzip.compress(b"v,w\n5,6\n7,8\n")))):
        holds("several files are one stream" + " (gzip)" * i, news + [a, z], None, prints(want), ways(i))
    holds("a repeated header with other line ends", news + [a, crlf], None,
          prints("v,w,running_sum(v),byte_offset\n1,2,1,4\n3,4,4,8\n5,6,9,17\r\n"), ways(2))
    holds("a header that is repeated many times", ["--cumsum=v", "--only"] + [a] * 20, None,
          prints("running_sum(v)\n" + "".join("%d\n%d\n" % (4 * i + 1, 4 * i + 4) for i in range(20))), ways(3))
    bare, bom = fixture("bare.csv", b"v,w\n1,2"), fixture("bom.csv", b"\xef\xbb\xbfv,w\n5,6\n")
    holds("a file without a last line end does not run into the next", news + [bare, b], None,
          prints("v,w,running_sum(v),byte_offset\n1,2,1,4\n5,6,6,11\n7,8,13,15\n"), ways(1))
    holds("a header without a line end does not, either", ["--cumsum=v", fixture("head.csv", b"v,w"), b], None,
          prints("v,w,running_sum(v)\n5,6,5\n7,8,12\n"), ways(2))
    holds("no filtered record runs into the next", ["--where=v>0", bare, b], None,
          prints("v,w\n1,2\n5,6\n7,8\n"), ways(3))
    holds("a BOM in a later file counts and is not printed", news + [a, bom], None,
          prints("v,w,running_sum(v),byte_offset\n1,2,1,4\n3,4,4,8\n5,6,9,19\n"), ways(1))
    blank, empty = fixture("blank.csv", b"\n\r\n"), fixture("empty.csv", b"")
    for name, other in (("a file of blank lines", blank), ("an empty file", empty)):
        size = len(open(other, "rb").read())
        holds(name + " comes first", news + [other, a], None,
              prints("v,w,running_sum(v),byte_offset\n1,2,1,%d\n3,4,4,%d\n" % (4 + size, 8 + size)), ways(2))
        holds(name + " stands between", ["--running-max=:2", a, other, b], None,
              prints("v,w,running_max(w)\n1,2,2\n3,4,4\n5,6,6\n7,8,8\n"), ways(3))
    holds("'*' and a header that is alone in its file", ["--cumsum=v,*", fixture("alone.csv", b"v,w\n"), a], None,
          prints("v,w,running_sum(v),running_sum(v),running_sum(w)\n1,2,1,1,2\n3,4,4,4,6\n"), ways(1))
    holds("'*' and a header with blank lines behind it", ["--cumsum=v,*", fixture("blanks.csv", b"v,w\n\n\r\n"), a], None,
          prints("v,w,running_sum(v),running_sum(v),running_sum(w)\n1,2,1,1,2\n3,4,4,4,6\n"), ways(1))
    bad = fixture("bad.csv", b"v,w\n5,6\nx,8\n")
    holds("an error names the file", ["--cumsum=v", a, bad, b], None,
          breaks("v,w,running_sum(v)\n1,2,1\n3,4,4\n5,6,9\n", "bad.csv:3: column 'v': not a number: 'x'"), ways(2))
    holds("a file that is not there", ["--cumsum=v", a, "/no/such", b], None,
          breaks("v,w,running_sum(v)\n1,2,1\n3,4,4\n", "/no/such"), ways(0, (None,)))


# ---- usage --------------------------------------------------------------------------------------

def check_usage():
    data = b"v,w\n1,2\n"
    answers("--cumsum is --running-sum", ["--cumsum", "v"], data, "v,w,running_sum(v)\n1,2,1\n")
    answers("new columns are given in any order with options", ["--only", "--cumsum=v", "--exclusive"], data,
            "running_sum(v)\n0\n")
    for name, args in (
            ("a reduction and a scan", ["--sum=v", "--cumsum=v"]),
            ("a reduction and an offset", ["--byte-offset", "--count=v"]),
            ("a reduction and a condition's offset", ["--max=v", "--offsets=v>1"]),
            ("--only alone", ["--only"]),
            ("--only with a reduction", ["--only", "--sum=v"]),
            ("--only with a filter", ["--only", "--where=v>0"]),
            ("--exclusive alone", ["--exclusive"]),
            ("--exclusive with a filter", ["--exclusive", "--where=v>0"]),
            ("--exclusive with a reduction", ["--exclusive", "--sum=v"]),
            ("--exclusive with offsets only", ["--exclusive", "--byte-offset"]),
            ("an unknown column", ["--cumsum=nope"]),
            ("a column beyond the last", ["--running-min=:3"]),
            ("an unknown column in a condition", ["--offsets=nope > 1"]),
            ("no column", ["--running-count="]),
            ("a value for --byte-offset", ["--byte-offset=v"])):
        refuses("usage: " + name, args, data, 2)


# ---- the matrix -----------------------------------------------------------------------------------

HARD = (b'id,v,"t, u"\r\n1,0.5,"a\nb"\r\n2,,"say ""v"""\n\n3,170141183460469231731687303715884105727,x\n'
        b'4,"170141183460469231731687303715884105727",",\r\n,"\r\n5, -1e40 ,""\n6,1e-30,12" d\n7,NA,\n'
        b'8,-.25,z\n9,9223372036854775807,"\n"\n10,-9999999999999999999999999999999999999999,y')


def check_matrix():
    several = [list(zip(TOTALS, itertools.repeat("v"))), [("sum", "v"), ("offsets", "v > 0 or :3 = 'x'"),
               ("count", "3"), ("byte-offset", None), ("sum", "id")]]
    several += [[(o, "v")] for o in TOTALS] + [[(o, "v"), (p, "id")] for o, p in zip(TOTALS, TOTALS[::-1])]
    several += [[("offsets", "not v < 0")], [("byte-offset", None)]]
    start = 0
    for news in several:
        for exclusive, only in itertools.product((False, True), repeat=2):
            if exclusive and not any(o in TOTALS for o, _ in news):
                continue
            q = Scan(news, exclusive=exclusive, only=only, missing=["NA"], header="yes")
            name = "+".join(o for o, _ in news) + ", exclusive" * exclusive + ", only" * only
            models("hard table: " + name, q, HARD, ways(start))
            start += 1


def check_edges():
    """Sums that leave 64 and 128 bits and return, in one column or while the scale grows."""
    rng = random.Random(11)
    for i in range(24):
        width = (62, 63, 64, 126, 127, 128)[i % 6]
        edge = rng.choice((1, -1)) * 2 ** (width - i % 2) // 10 ** (i % 5)
        rows = []
        for k in range(14):             # over the edge and back, by large steps and by small ones
            step = rng.choice((1, 3, 9, 10 ** 17, 2 ** 62, edge if i % 3 else 2)) * rng.choice((1, 1, -1))
            cut = ".%0*d" % (rng.randrange(1, 6), rng.randrange(10)) if i % 2 and not rng.randrange(3) else ""
            rows.append(b"%d%s" % (step if k else edge - 2, cut.encode()) if rng.randrange(8) or not k else b"")
        q = Scan([(o, "v") for o in TOTALS], exclusive=i % 4 == 3, only=True)
        models("edges of %d bits, table %d" % (width, i), q, b"v\n" + b"\n".join(rows),
               ways(i, (1, 30, 64, 100, None)))


def check_long():
    """Some thousand records: many chunks of usual sizes, all threads at once."""
    rows = b"".join(b'%d,"r\n%d",%d.%0*d\n' % (i, i, i * 7919 % 1000 - 500, i % 7 + 1, i) for i in range(6000))
    for i, (exclusive, where) in enumerate(itertools.product((False, True), (None, "v >= 0 and id != 77"))):
        q = Scan([(o, "v") for o in TOTALS] + [("offsets", "v > 1"), ("byte-offset", None)],
                 exclusive=exclusive, where=where)
        models("a long table%s%s" % (", exclusive" * exclusive, ", filtered" * bool(where)), q, b"id,t,v\n" + rows,
               ways(i, (100, 1000, 4096, 65536, None)))
    record = b'1,"' + b"x,\n" * 300000 + b'"\n'
    holds("a record of a megabyte", ["-N", "--cumsum=1"], record + b"2,y\n",
          prints(record[:-1] + b",1\n2,y,3\n"), ways(0, (1000, 65536, None)))


check_table()
check_every_cut()
check_errors()
check_skipping()
check_files()
check_usage()
check_matrix()
check_edges()
check_long()
if no_gpu():
    skip("all of this on the GPU", no_gpu())
harness.done()
