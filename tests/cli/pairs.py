# SPDX-License-Identifier: MIT
"""Statistics of two columns: covariance, correlation, weighted mean; pair by pair and as a matrix.

Values as SQL and pandas define them; Python's fractions on hostile columns; chunks down to one byte, every instruction
set, any number of threads.
"""
import csv
import io
import os
import random

import harness
import hostile
import oracle_pair
import oracle_text

SEED = int(os.environ.get("GPUSTAT_TEST_SEED", 20261123))
NAMES = oracle_pair.PAIRS
SETS = [None] + harness.instruction_sets()
TABLE = b"g,x,y,w\na,1,2.5,3\nb,2,,1\nc,4,3.25,2\nd,,7,4\ne,8.5,-1,0.5\nf,-3,9,2\n"
# as pandas 3.1 (DataFrame.cov, .corr) and DuckDB (covar_samp, corr) print them, here to all digits
COV = "column,x,y,w\nx,17.75,-18.697916666666667,-2.5\ny,-18.697916666666667,15.425,2.94375\n" \
      "w,-2.5,2.94375,1.6416666666666667\n"
CORR = "column,x,y,w\nx,1,-0.92927016220690593,-0.60880614497930813\ny,-0.92927016220690593,1,0.5748623652359142\n" \
       "w,-0.60880614497930813,0.5748623652359142,1\n"


def lines(header, rows):
    return ("".join(",".join(row) + "\n" for row in [header] + rows)).encode()


def number(text):
    """The Decimal of a field, or None where --invalid skip leaves it out or it is missing."""
    pair = oracle_text.number(text.strip().encode()) if text.strip() else None
    return pair and pair[0]


def column(rows, k):
    return [number(row[k]) for row in rows]


def want_of(operation, xs, ys):
    pairs = [(x, y) for x, y in zip(xs, ys) if x is not None and y is not None]
    return oracle_pair.answer(operation, pairs) or ""


# ---- fixed ----------------------------------------------------------------------------------

def check_definitions():
    harness.answers("three statistics", ["--cov=x:y", "--corr=x:y", "--wmean=x:w"], TABLE,
                    "cov(x:y),corr(x:y),wmean(x:w)\n-18.697916666666667,-0.92927016220690593,1.3235294117647059\n")
    harness.answers("a matrix of covariances", ["--cov", "*"], TABLE, COV)
    harness.answers("a population's", ["--cov-pop=x:y,y:w,y:y"], TABLE, "cov_pop(x:y),cov_pop(y:w),cov_pop(y:y)\n-14.0234375,2.355,12.34\n")
    harness.answers("a line of least squares", ["--slope=x:y,y:x", "--intercept", "x:y,w:y,:3::3"], "x,y,w\n1,3,7\n2,5,7\n,9,1\n3,8,7\n".encode(),
                    "slope(x:y),slope(y:x),intercept(x:y),intercept(w:y),intercept(w:w)\n"
                    "2.5,0.39473684210526316,0.33333333333333333,9.6111111111111111,0\n")
    harness.answers("... by group", ["--by=k", "--slope=x:y", "--intercept=x:y"], b"k,x,y\na,1,1\nb,1,5\na,2,3\nb,1,6\na,,4\n",
                    "k,slope(x:y),intercept(x:y)\na,2,-1\nb,,\n")
    harness.answers("a matrix of a population's", ["--cov-pop", "*"], TABLE,
                    "column,x,y,w\nx,14.2,-14.0234375,-2\ny,-14.0234375,12.34,2.355\nw,-2,2.355,1.3680555555555556\n")
    harness.answers("a matrix of correlations", ["--corr", "*"], TABLE, CORR)
    harness.answers("with a condition", ["--where", "g != \"c\"", "--cov", "x:y,y:w"], TABLE,
                    "cov(x:y),cov(y:w)\n-27.875,3.8125\n")
    for name, rows, wants in (
            ("no record", [], ("", "", "")), ("one record", [["3", "4"]], ("", "", "3")),
            ("one record with both", [["3", "4"], ["", "5"], ["6", ""]], ("", "", "3")),
            ("a constant", [["1", "5"], ["2", "5"], ["4", "5"]], ("0", "", "2.3333333333333333")),
            ("a constant but for records without a partner", [["1", "5"], ["2", "5"], ["", "7"]], ("0.0", "", "1.5")),
            ("a line upwards", [["0.1", "1"], ["0.2", "2"], ["0.3", "3"]], ("0.1", "1", "0.23333333333333333")),
            ("a line downwards, far from 0", [["1000000000.1", "-1e9"], ["1000000000.2", "-1000000001"]],
             ("-0.05", "-1", "1000000000.1500000")),
            ("weights that add up to 0", [["1", "2"], ["3", "-2"]], ("-4", "-1", "")),
            ("negative weights", [["1", "-1"], ["2", "-3"]], ("-1", "-1", "1.75")),
            ("products of 1e-400 and 1e399", [["1e-400", "1e399"], ["-1e-400", "-1e399"]], ("0.2", "1", None)),
            ("products of 1e-300", [["1e-300", "1e-300"], ["0", "0"]], (None, "1", None)),
            ("-0", [["-0", "1"], ["0", "3"]], ("0", "", "0"))):
        for operation, want in zip(("cov", "corr", "wmean", "cov-pop"), wants + (None,)):
            xs, ys = column(rows, 0), column(rows, 1)
            if want is None:
                want = want_of(operation, xs, ys)
            want = want.rstrip("0").rstrip(".") if "." in want else want
            assert want == want_of(operation, xs, ys), (name, operation, want, want_of(operation, xs, ys))
            harness.answers("%s of %s" % (operation, name), ["--%s=x:y" % operation, "--format=plain"],
                            lines(["x", "y"], rows), want + "\n")


def check_forms():
    text = b"a,b,c,n\nx,1,2,3\ny,2,4,\nz,3,5,9\n"
    harness.answers("one pair is plain", ["--cov=b:c"], text, "1.5\n")
    harness.answers("a column and itself", ["--cov=b:b", "--corr=b:b"], text, "cov(b:b),corr(b:b)\n1,1\n")
    harness.answers("by position", ["--cov=2:3,:2::3,col2:col3,b::3,2:c"], text,
                    "cov(b:c),cov(b:c),cov(b:c),cov(b:c),cov(b:c)\n1.5,1.5,1.5,1.5,1.5\n")
    harness.answers("beside other results", ["--sum=b", "--cov=b:c", "--count=a", "--count-records"], text,
                    "sum(b),cov(b:c),count(a),records\n6,1.5,3,3\n")
    harness.answers("no value is null in JSON", ["--corr=b:c", "--cov=b:n", "--format=json", "--where=b=1"], text,
                    '{"corr(b:c)": null, "cov(b:n)": null}\n')
    harness.answers("a matrix as JSON", ["--corr=*", "--format=json", "--where=b<3"], text,
                    '[{"column": "b", "b": 1, "c": 1, "n": null},\n {"column": "c", "b": 1, "c": 1, "n": null},\n'
                    ' {"column": "n", "b": null, "c": null, "n": null}]\n')
    harness.answers("a matrix as TSV", ["--cov=*", "--format=tsv"], b"column,b\n1,2\n2,4\n",
                    "column\tcolumn\tb\ncolumn\t0.5\t1\nb\t1\t2\n")
    harness.answers("a matrix of one column", ["--cov=*"], b"t,v\na,1\nb,3\n", "column,v\nv,2\n")
    harness.answers("a matrix without columns that turn out to be text", ["--corr=*"], b"t,v,u\n,1,1\na,3,2\nb,3,3\n",
                    "column,v,u\nv,1,0.86602540378443865\nu,0.86602540378443865,1\n")
    harness.answers("no header", ["--cov=1:2", "--header=no"], b"1,2\n3,8\n", "6\n")
    harness.answers("numbers tell that there is none", ["--cov=1:2,2:1"], b"1,2\n3,8\n", "cov(col1:col2),cov(col2:col1)\n6,6\n")
    harness.answers("a product of 255 places, by group", ["--by=k", "--wmean=x:w"], "k,x,w\na,1e-255,1\na,,1\na,3e-255,1\n".encode(),
                    "k,wmean(x:w)\na,0.%s2\n" % ("0" * 254))
    harness.answers("an empty input", ["--cov=2:3", "--wmean=:1:3"], b"", "cov(col2:col3),wmean(col1:col3)\n,\n")
    harness.answers("quoted numbers, blanks, a missing spelling", ["--cov=x:y", "--missing=-999"],
                    b"x,y\n\"1\", 2\n 3 ,\"4\"\n-999,5\n2,-999\n", "2\n")
    harness.answers("another notation", ["--cov=x:y", "-d;", "--decimal=,", "--thousands=."],
                    b"x;y\n1.000,5;1\n1.001,5;3\n", "1\n")
    harness.answers("short records", ["--cov=x:y", "--ragged=allow"], b"x,y\n1,2\n3\n4,6\n", "6\n")
    r = harness.run(["--cov=x:y", "--invalid=skip"], b"x,y\n1,2\nNaN,3\n4,6\n5,1e401\n")
    harness.ok(r.status == 0 and r.out == b"6\n" and r.err.count(b"\n") == 2, "--invalid skip leaves values out, and says so",
               lambda: harness.describe(r, b""))
    harness.refuses("a value that is no number", ["--cov=x:y"], b"x,y\n1,2\n3,u\n", 1, "<stdin>:3: ", "column 'y'", "'u'")


def check_names_with_colons():
    text = b"a,b:c,a:b,c,1:\n1,2,3,4,5\n3,6,7,9,1\n"
    for item, want in (("\"a\":c", "cov(a:c)"), ("\"a:b\":c", "cov(a:b:c)"), ("a:\"b:c\"", "cov(a:b:c)"),
                       ("\"a:b\":\"b:c\"", "cov(a:b:b:c)"), ("a:b:b:c", "cov(a:b:b:c)"), ("c:a:b", "cov(c:a:b)"),
                       ("1::2", "cov(1::b:c)"), ("1::c", "cov(1::c)"), ("c:1:", "cov(c:1:)"), (":1:c", "cov(a:c)")):
        sides = {"cov(a:c)": "1:4", "cov(c:a:b)": "4:3", "cov(a:b:b:c)": "3:2", "cov(1::c)": "5:4", "cov(1::b:c)": "5:2", "cov(c:1:)": "4:5"}
        by_number = sides.get(want) or ("3:4" if item[1:4] == "a:b" else "1:2")
        value = harness.run(["--cov=" + by_number, "--header=yes"], text).out
        harness.answers("a name with a colon: " + item, ["--cov=" + item, "--format=csv"], text,
                        want.encode() + b"\n" + value)
    harness.refuses("two ways to cut a pair", ["--cov=a:b:c"], text, 2, "'a:b:c'", "in quotes")
    harness.answers("a comma in quotes", ["--cov", "\"x,y\":z,z:\"x,y\""], b"\"x,y\",z\n1,2\n2,4\n",
                    '"cov(x,y:z)","cov(z:x,y)"\n1,1\n')
    harness.answers("a name with a quote in it, and a comma in quotes", ["--cov", "\"x,y\":12\" disk,12\" disk:\"x,y\""],
                    b"\"x,y\",12\" disk\n1,2\n2,4\n", b"\"cov(x,y:12\"\" disk)\",\"cov(12\"\" disk:x,y)\"\n1,1\n")
    harness.answers("a sign of no expression, and a comma in quotes", ["--cov", "semi;colon:\"x,y\",z:semi;colon"],
                    b"\"x,y\",semi;colon,z\n1,2,2\n2,4,1\n", '"cov(semi;colon:x,y)",cov(z:semi;colon)\n1,-1\n')


def check_refusals():
    text = b"a,b,t\n1,2,x\n"
    for name, args, words in (("no pair", ["--cov=a"], ("'a'", "x:y")), ("an empty side", ["--cov=a:"], ("'a:'",)),
                              ("an empty side before", ["--cov=:b"], ("':b'",)), ("an empty item", ["--cov=a:b,"], ("'a:b,'",)),
                              ("an open quote", ["--cov=\"a:b"], ("x:y",)), ("text behind a quote", ["--cov=a:\"b\"c"], ("--cov: expected an operator", '"b"c')),
                              ("an unknown column", ["--cov=a:z"], ("unknown column 'z'",)),
                              ("a range", ["--cov=1-2:3"], ("'1-2'", "one column")),
                              ("'*' on one side", ["--corr=a:*"], ("'*'", "one column")),
                              ("'*' of a weighted mean", ["--wmean=*"], ("--wmean", "x:y")), ("'*' of slopes", ["--slope=*"], ("--slope", "x:y")),
                              ("'*' beside a pair", ["--cov=*,a:b"], ("x:y",)),
                              ("a matrix beside a result", ["--corr=*", "--sum=a"], ("--corr", "matrix")),
                              ("a result beside a matrix", ["--sum=a", "--cov=*"], ("--cov", "matrix")),
                              ("with a new column", ["--cov=a:b", "--cumsum=a"], ("--cov", "--cumsum"))):
        harness.refuses(name, args, text, 2, *words)
    harness.refuses("a matrix of no column", ["--cov=*", "-H"], b"t\nx\n", 1, "no column holds numbers")
    wide = ",".join("c%d" % k for k in range(1001)) + "\n" + "1," * 1000 + "1\n"
    harness.refuses("a matrix of too many columns", ["--cov=*"], wide.encode(), 2, "1001 columns")
    harness.offers_to_gpu("a GPU leaves pairs to the CPU, and says so", ["--cov=a:b"], b"a,b\n1,2\n3,8\n", "6\n", True)


# ---- against fractions ----------------------------------------------------------------------

def edge(rng, nbits):
    """A number about 2^nbits: where 64 products no longer fit in 64 bits, or a factor in 32."""
    return str(rng.choice((-1, 1)) * (2 ** nbits + rng.choice((-1, 0, 0, 1))))


def scaled(rng, digits, scales):
    text = "".join(rng.choice("0123456789") for _ in range(digits))
    scale = rng.choice(scales)
    return rng.choice(("", "-")) + ("0." + text[:scale] if scale >= digits else text[:digits - scale] + "." + text[digits - scale:])


MAKERS = {
    "small": lambda rng: hostile.number_text(rng, "small"),
    "prices": lambda rng: "%d.%02d" % (rng.randrange(-9999, 9999), rng.randrange(100)),
    "mixed scales": lambda rng: hostile.number_text(rng, "decimal"),
    "18 digits": lambda rng: hostile.number_text(rng, "int"),
    "18 digits, mixed scales": lambda rng: scaled(rng, 18, (1, 2, 9, 17, 18)),
    "28 bits": lambda rng: edge(rng, 28), "25 bits": lambda rng: edge(rng, 25), "31 bits": lambda rng: edge(rng, 31),
    "32 bits": lambda rng: edge(rng, 32), "59 bits": lambda rng: edge(rng, 59),
    "scale 31": lambda rng: scaled(rng, 18, (17,)) + "e-14",
    "exponents": lambda rng: hostile.number_text(rng, "exponent"),
    "wide": lambda rng: hostile.number_text(rng, "wide"),
    "now and then wide": lambda rng: hostile.number_text(rng, "small" if rng.randrange(9) else "wide"),
    "any": lambda rng: hostile.number_text(rng, rng.choice(hostile.NUMBERS)),
}


def make_rows(rng, nrows, makers, holes):
    """holes: how often of 100 a value is missing, and half as often it is none."""
    def cell(make):
        form = rng.randrange(100)
        return "" if form < holes else "oops" if form * 2 < holes * 3 else make(rng)
    return [[cell(m) for m in makers] for _ in range(nrows)]


def check_random():
    rng = random.Random(SEED)
    for kind in MAKERS:
        jobs, wants = [], []
        for _ in range(30):
            other = MAKERS[kind if rng.randrange(2) else rng.choice(tuple(MAKERS))]
            rows = make_rows(rng, rng.choice((1, 2, 5, 63, 64, 65, 130, 300)), (MAKERS[kind], other), rng.choice((0, 0, 3, 50)))
            rows += [["1", "1"]]    # a value of each is left
            xs, ys = column(rows, 0), column(rows, 1)
            wants.append("".join(want_of(o, xs, ys) + "\n" for o in NAMES))
            jobs.append(dict(args=["--%s=x:y" % o for o in NAMES] + ["--format=plain", "--invalid=skip"],
                             stdin=lines(["x", "y"], rows), threads=rng.choice((1, 2, 3, 7)),
                             chunk=rng.choice((None, None, 1, 2, 3, 64, 500)), simd=rng.choice(SETS)))
        wrong = [harness.describe(r, job["stdin"]) + "\nwanted: " + want for job, want, r in
                 zip(jobs, wants, harness.run_many(jobs)) if r.status != 0 or r.out.decode() != want]
        harness.ok(not wrong, "random pairs against fractions: %s, seed %d" % (kind, SEED),
                   lambda: "%d of %d\n%s" % (len(wrong), len(jobs), wrong[0]))


def check_limits():
    """64 products of one sign, as large as 64 bits hold, or larger."""
    for x, y in ((28, 28), (29, 28), (29, 29), (31, 25), (31, 26), (32, 24), (32, 25), (40, 16), (40, 20), (59, 59)):
        for sign, less in ((1, 0), (1, 1), (-1, 0), (-1, -1)):
            rows = [[str(sign * 2 ** x - less), str(sign * 2 ** y - less)]] * 128 + [["1", "2"]]
            want = "".join(want_of(o, column(rows, 0), column(rows, 1)) + "\n" for o in NAMES)
            args = ["--%s=x:y" % o for o in NAMES] + ["--format=plain"]
            runs = [harness.run(args, lines(["x", "y"], rows), simd=s) for s in SETS]
            harness.ok(all(r.out.decode() == want for r in runs), "128 products of about %s2^%d and %s2^%d" % (
                "-"[sign:], x, "-"[sign:], y), lambda: harness.describe(runs[-1]) + "\nwanted: " + want)


def want_matrix(operation, names, rows):
    out = io.StringIO()
    w = csv.writer(out, lineterminator="\n")
    w.writerow(["column"] + names)
    columns = [column(rows, k) for k in range(len(names))]
    for k, name in enumerate(names):
        w.writerow([name] + [want_of(operation, columns[k], other) for other in columns])
    return out.getvalue()


def check_matrices():
    """Every way of cutting and sharing gives the same bytes, and what the fractions say."""
    rng = random.Random(SEED + 1)
    names = ["c%d" % k for k in range(9)]
    kinds = ("prices", "prices", "small", "mixed scales", "28 bits", "31 bits", "18 digits", "now and then wide", "any")
    for holes in (0, 10, 60):
        rows = make_rows(rng, 200, [MAKERS[k] for k in kinds], holes)
        rows.insert(0, ["1"] * 9)
        rows.append(["7"] + ["2"] * 8)
        jobs = [dict(args=["--%s=*" % o, "--invalid=skip"], stdin=lines(names, rows), threads=t, chunk=c, simd=s)
                for o in oracle_pair.SYMMETRIC for t, c, s in ((1, None, None), (2, 1, "portable"), (3, 2, None), (7, 3, None),
                                                               (2, 1000, "portable"), (3, 4096, SETS[-1]))]
        wants = {o: want_matrix(o, names, rows).encode() for o in oracle_pair.SYMMETRIC}
        for job, r in zip(jobs, harness.run_many(jobs)):
            want = wants[job["args"][0][2:-2]]
            harness.ok(r.status == 0 and r.out == want, "%s, %d%% missing, chunks of %s, %s threads, %s" %
                       (job["args"][0], holes, job["chunk"], job["threads"], job["simd"] or "best"),
                       lambda r=r, want=want: harness.describe(r) + "\nwanted: " + harness.short(want))


def check_digits_of_400():
    """The longest numbers: sums, and squares of them, as long as they get."""
    rng = random.Random(SEED + 2)

    def digits():
        return "".join(rng.choice("0123456789") for _ in range(400))
    rows = [[rng.choice(("", "-")) + digits() + "." + digits() for _ in range(2)] for _ in range(40)]
    rows += [["9" * 400 + "." + "9" * 400, "-" + "9" * 400 + "." + "9" * 400], ["1e-400", "-1e-400"]]
    xs, ys = column(rows, 0), column(rows, 1)
    for operation in NAMES:
        for chunk in (None, 1000):
            harness.answers("%s of numbers of 800 digits, chunks of %s" % (operation, chunk), ["--%s=x:y" % operation],
                            lines(["x", "y"], rows), want_of(operation, xs, ys) + "\n", chunk=chunk, threads=3)
    nines = "9" * 400 + "." + "9" * 400
    for x, y in ((nines, nines), (nines, "-" + nines), (digits() + "." + digits(), digits() + "." + digits())):
        harness.answers("a product of 1600 digits, exact to the last: %s x %s" % (x[:4], y[:4]), ["--cov=x:y"],
                        lines(["x", "y"], [[x, y], [x, y], [x, y]]), "0\n")


check_definitions()
check_forms()
check_names_with_colons()
check_refusals()
check_random()
check_limits()
check_matrices()
check_digits_of_400()
harness.done()
