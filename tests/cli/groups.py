# SPDX-License-Identifier: MIT
"""Groups by key (--by): results of each group, their order, and running columns by group.

What is wanted was written by hand, and the model (oracle_groups.py) must say the same; then each case runs with chunks
down to one byte on 1, 2, 3 and 7 threads. Tables of up to 100000 groups are made by a loop and answered by a dict.
Random tables are in tests/fuzz/differential.py.
"""
import collections
import gzip
import json
import random

import harness
import oracle_groups
from harness import fixture, is_, ok, refuses
from oracle_dialect import Dialect
from oracle_groups import Groups
from oracle_notation import Notation
from oracle_text import BadData, Unclear, Usage
from scan_ways import breaks, holds, ways

HELP = harness.run(["--help"]).out
LOG = b"status,host,bytes,rt\n200,a,10,0.5\n404,b,7,1.25\n200,b,5,\n500,a,,2\n200,a,1.50,0.75\n"
WIDE = [(chunk, threads) for chunk in (1, 7, 1000, None) for threads in (1, 2, 3, 7)]
NCASES = 0


def gives(name, data, by, want, **how):
    """The request Groups(by, **how) of `data`: what was written by hand, and what the model says."""
    global NCASES
    NCASES += 1
    q, want = Groups(by, **how), want if isinstance(want, bytes) else want.encode()
    try:
        answer = oracle_groups.answer(q, data)
        said = answer.bad or answer.text(q.format)
    except (BadData, Unclear, Usage) as why:
        said = why
    if said != want:
        return ok(False, name, "the model itself differs: %r\nwanted: %r" % (said, want))
    return holds(name, q.args(), data, oracle_groups.judge(q, data), ways(NCASES))


def fails(name, data, by, want, *parts, **how):
    """Status 1 after `want`, a message with all parts; and the model refuses it, too."""
    q = Groups(by, **how)
    ok(oracle_groups.answer(q, data).bad, name + ": so says the model")
    holds(name, q.args(), data, breaks(want, *parts), ways(len(name)))


# ---- results --------------------------------------------------------------------------------

def check_keys():
    gives("--by alone counts", LOG, "status", "status,count\n200,3\n404,1\n500,1\n")
    gives("--count-records says records", LOG, "status", "status,records\n200,3\n404,1\n500,1\n",
          operations=[("count-records", None)])
    gives("groups in order of first appearance", b"k\nb\na\nb\nc\na\n", "k", "k,count\nb,2\na,2\nc,1\n")
    gives("two key columns, in the order given", LOG, "host,status", "host,status,count\na,200,2\nb,404,1\nb,200,1\na,500,1\n")
    gives("the bounds of two keys", b"a,b\nx,yz\nxy,z\nx,yz\n,xyz\n", "a,b", "a,b,count\nx,yz,2\nxy,z,1\n,xyz,1\n")
    gives("by position", LOG, "2", "host,count\na,3\nb,2\n")
    gives("by range", LOG, "1-2", "status,host,count\n200,a,2\n404,b,1\n200,b,1\n500,a,1\n")
    gives("without a header: colN", b"a,1\nb,2\na,3\n", "col1", "col1,sum(col2)\na,4\nb,2\n", operations=[("sum", "2")], header="no")
    gives("a key column twice", b"k,v\na,1\n", "k,k", "k,k,count\na,a,1\n")
    gives("quotes are undone, and come back where CSV asks", b'k,v\n"a",1\na,2\n"x,y",3\n"say ""hi""",4\n"l\nb",5\n"r\rs",6\n',
          "k", 'k,sum(v)\na,3\n"x,y",3\n"say ""hi""",4\n"l\nb",5\n"r\rs",6\n', operations=[("sum", "v")])
    gives("a key's name that needs quotes", b'"x,y",v\na,1\n', '"x,y"', '"x,y",count\na,1\n')
    gives("an empty key is a key", b"k,v\n,1\na,2\n\"\",3\n", "k", "k,sum(v)\n,4\na,2\n", operations=[("sum", "v")])
    gives("a missing value is a key as it is written", b"k,v\nNA,1\n,2\nNA,NA\n", "k", "k,sum(v)\nNA,1\n,2\n",
          operations=[("sum", "v")], missing=["NA"])
    gives("blanks belong to the key", b"k,v\na,1\n a,2\na ,3\n ,4\n,5\n", "k", "k,count\na,1\n a,1\na ,1\n ,1\n,1\n")
    gives("not with -W", b"k  v\n a 1\na   2 \n", "k", "k,count\na,2\n", dialect=Dialect(whitespace=True))
    gives("case and numbers are bytes", b"k,v\n1,1\n1.0,1\n01,1\nA,1\na,1\n1,1\n", "k",
          "k,count\n1,2\n1.0,1\n01,1\nA,1\na,1\n")
    gives("bytes that are no UTF-8", b"k,v\n\xff,1\n\xc3,2\n\xff,3\n", "k", b"k,sum(v)\n\xff,4\n\xc3,2\n",
          operations=[("sum", "v")])
    gives("a field that is not there", b"v,k\n1,a\n2\n3,\n", "k", "k,sum(v)\na,1\n,5\n", operations=[("sum", "v")],
          ragged="allow")
    long = [b"k" * n + end for n in (6, 7, 8, 15, 16, 17, 64, 300) for end in (b"", b"1", b"2")]
    gives("keys of many lengths", b"k,v\n" + b"".join(k + b",1\n" for k in long + long[::-1]), "k",
          b"k,sum(v)\n" + b"".join(k + b",2\n" for k in long), operations=[("sum", "v")])
    gives("a key of 70000 bytes", b"k,v\n%s,1\nx,1\n%s,2\n" % (b"q" * 70000, b"q" * 70000), "k",
          b"k,sum(v)\n%s,3\nx,1\n" % (b"q" * 70000), operations=[("sum", "v")])
    gives("CRLF", LOG.replace(b"\n", b"\r\n"), "host", "host,count\na,3\nb,2\n")
    gives("a header and nothing", b"k,v\n", "k", "k,sum(v)\n", operations=[("sum", "v")])
    gives("an empty input", b"", "1", "col1,count\n")


def check_results():
    every = [(o, "v") for o in ("sum", "min", "max", "count", "mean", "range", "first", "last", "median", "p25", "iqr", "var",
                                "stddev", "count-distinct", "mode", "antimode", "text-min", "text-max", "geomean", "entropy", "mad", "harmonic-mean", "trimmed-mean:0.3")]
    gives("every operation", b"k,v\na,1\nb,2.50\na,4\nb,\na,1\nc,\n", "k",
          "k,sum(v),min(v),max(v),count(v),mean(v),range(v),first(v),last(v),median(v),p25(v),iqr(v),var(v),stddev(v),"
          "count_distinct(v),mode(v),antimode(v),text_min(v),text_max(v),geomean(v),entropy(v),mad(v),harmonic_mean(v),trimmed_mean(v:0.3)\n"
          "a,6,1,4,3,2,3,1,1,1,1,1.5,3,1.7320508075688773,2,1,4,1,4,1.5874010519681995,0.91829583405448951,0,1.3333333333333333,2\n"
          "b,2.50,2.50,2.50,1,2.5,0.00,2.50,2.50,2.50,2.50,0.00,,,1,2.50,2.50,2.50,2.50,2.5,0,0.00,2.5,2.5\n"
          "c,0,,,0,,,,,,,,,,0,,,,,,,,,\n", operations=every)
    gives("skewness and kurtosis", b"k,v\n" + b"".join(b"%s,%d\n" % (k, v) for v in (1, 2, 3, 10) for k in (b"a", b"b")), "k",
          "k,skewness(v),kurtosis(v)\na,1.7636326148038882,3.228\nb,1.7636326148038882,3.228\n",
          operations=[("skewness", "v"), ("kurtosis", "v")])
    gives("pairs", b"k,x,y\na,1,2\nb,1,5\na,2,4\nb,2,\na,4,8\n", "k", "k,cov(x:y),corr(x:y),wmean(x:y)\n"
          "a,4.6666666666666667,1,3\nb,,,1\n", operations=[("cov", "x:y"), ("corr", "x:y"), ("wmean", "x:y")])
    gives("* is the numbers that are no keys", LOG, "status", "status,sum(bytes),sum(rt)\n200,16.50,1.25\n404,7,1.25\n500,0,2\n",
          operations=[("sum", "*")])
    for name, data, more in (("only the key holds numbers", b"k,t\n1,a\n", []), ("another result is there", b"k,t\n1,a\n", [("count", "t")]),
                             ("there is no record", b"k,v\n", [])):
        fails("* is an error where " + name, data, "k", "", "no column holds numbers", operations=[("sum", "*")] + more)
    gives("a key that is a value, too", b"k,v\n1,5\n2.5,5\n1,5\n", "k", "k,sum(k),max(v)\n1,2,5\n2.5,2.5,5\n",
          operations=[("sum", "k"), ("max", "v")])
    gives("decimals are those of the group", b"k,v\na,1.50\nb,2\na,1\n", "k", "k,sum(v)\na,2.50\nb,2\n",
          operations=[("sum", "v")])
    gives("exact beyond 64 bits", b"k,v\na,9223372036854775807\nb,0.1\na,9223372036854775807\nb,0.2\na,1e-20\n", "k",
          "k,sum(v),max(v)\na,18446744073709551614.00000000000000000001,9223372036854775807.00000000000000000000\nb,0.3,0.2\n",
          operations=[("sum", "v"), ("max", "v")])
    gives("--where first", LOG, "host", "host,count\na,3\nb,1\n", where="bytes > 1 and rt is not missing or status = 500")
    gives("--where leaves a group out", LOG, "status", "status,sum(bytes)\n404,7\n", where="status = 404",
          operations=[("sum", "bytes")])
    gives("--where leaves all out", LOG, "status", "status,sum(bytes)\n", where="status = 1", operations=[("sum", "bytes")])
    for alone, more in (("last", "text-max"), ("first", "text-min"), ("first", "mode"), ("last", "count-distinct")):
        gives("%s beside %s" % (alone, more), b"k,v\na,4\nb,\na,4\n", "k", "k,sum(v),%s(v),%s(v)\na,8,4,%s\nb,0,,%s\n" % (
            alone, more.replace("-", "_"), 1 if "distinct" in more else 4, 0 if "distinct" in more else ""),
            operations=[("sum", "v"), (alone, "v"), (more, "v")])


def check_formats():
    data, ask = b'k,v,t\na,1,u\n"x\ty",2,\n,,w\n7,3.50,"q""r"\n', dict(operations=[("sum", "v"), ("max", "v"), ("mode", "t")])
    gives("auto is csv, also for one result", b"k\na\n", "k", "k,count\na,1\n", format="auto")
    gives("csv", data, "k", 'k,sum(v),max(v),mode(t)\na,1,1,u\nx\ty,2,2,\n,0,,w\n7,3.50,3.50,"q""r"\n', format="csv", **ask)
    gives("tsv", data, "k", 'k\tsum(v)\tmax(v)\tmode(t)\na\t1\t1\tu\nx\\ty\t2\t2\t\n\t0\t\tw\n7\t3.50\t3.50\tq"r\n',
          format="tsv", **ask)
    gives("plain", data, "k", 'a\t1\t1\tu\nx\\ty\t2\t2\t\n\t0\t\tw\n7\t3.50\t3.50\tq"r\n', format="plain", **ask)
    json_is("json: keys are strings, no value is null", data, ["--by=k", "--sum=v", "--max=v", "--mode=t"],
            '[{"k": "a", "sum(v)": 1, "max(v)": 1, "mode(t)": "u"}, {"k": "x\\ty", "sum(v)": 2, "max(v)": 2, "mode(t)": null},'
            ' {"k": "", "sum(v)": 0, "max(v)": null, "mode(t)": "w"},'
            ' {"k": "7", "sum(v)": 3.50, "max(v)": 3.50, "mode(t)": "q\\"r"}]')
    json_is("json: no group", b"k\n", ["--by=k"], "[]")
    json_is("json: a key column that is called as a result is", b"count\na\n", ["--by=count"], '[{"count": "a", "count_2": 1}]')
    json_is("json: a key that is no UTF-8", b"k\n\xff\n", ["--by=k"], '[{"k": "\\ufffd", "count": 1}]')
    harness.answers("a table for people", ["--by=k", "--format=table"], b"k\nlong key\nb\nb\n", "k         count\n"
                    "long key      1\nb             2\n")
    harness.answers("wide characters take two columns of a table, marks none", ["--by=k,l", "--format=table"],
                    "k,l\n東京,a\ne\u0301,b\nxyz,c\n".encode(), "k     l  count\n東京  a      1\ne\u0301     b      1\nxyz   c      1\n")
    harness.answers("a table for people without groups", ["--by=k", "--format=table"], b"k\n", "k  count\n")


def json_is(name, data, args, want):
    keep = dict(parse_float=oracle_groups.Number, parse_int=oracle_groups.Number, object_pairs_hook=list)

    def typed(value):
        return [[(k, type(v).__name__, v) for k, v in row] for row in value]

    def right(r):
        try:
            got = typed(json.loads(r.out, **keep))
        except ValueError as e:
            return "not JSON: %s" % e
        return None if (r.status, r.err, got) == (0, b"", typed(json.loads(want, **keep))) else "wanted: " + want
    harness.agrees(name, args + ["--format=json"], data, right, WIDE)


# ---- the order ------------------------------------------------------------------------------

SALES = b"k,v,t\na,2,x\nb,10,\nc,2.0,y\nd,,9\ne,-3,10\nf,1e1,x\n"


def check_order():
    both = [("sum", "v"), ("mode", "t")]

    def order(name, sort, want, operations=both, data=SALES, by="k", **how):
        q = Groups(by, sort, operations=operations, **how)
        r = harness.run(q.args(), data)
        is_((r.status, [line.split(b",")[0].decode() for line in r.out.split(b"\n")[1:-1]]), (0, want.split()), name + ": as by hand")
        holds(name, q.args(), data, oracle_groups.judge(q, data), ways(len(name)))
    order("ascending: numbers exactly, ties by appearance", "sum(v)", "e d a c b f")
    order("descending: ties by appearance, too", "-sum(v)", "b f a c d e")
    order("texts follow numbers, empty ones come last", "mode(t)", "d e a f c b")
    order("descending, empty ones come last, too", "-mode(t)", "c a f e d b")
    order("an operation's name", "-sum", "b f a c d e")
    order("its title", "-text_max", "c a f e d b", [("text-max", "t")])
    order("its name with a hyphen", "text-max", "d e a f c b", [("text-max", "t")])
    order("a key column", "-k", "f e d c b a")
    order("no value at all", "max(v)", "e a c b f d", [("max", "v")])
    order("count, where records are counted", "-count", "b a c", (), b"k\na\nb\nb\nc\n")
    order("records", "-records", "b a c", [("count-records", None)], b"k\na\nb\nb\nc\n")
    order("numbers as keys", "k", "-1 9 10 1e2 a", (), b"k,v\na,1\n10,1\n9,1\n1e2,1\n-1,1\n")
    euro, comma = b"k;v\na;10,25\nb;2,5\nc;9,75\n", dict(dialect=Dialect(delimiter=b";"), notation=Notation(decimal=b","))
    for name, notation, values, want in (("money", dict(money=True), b"$5 $10 $7", "$5 $7 $10"), ("percentages", dict(percent=True), b"100% u 12% 5%", "5% 12% 100% u")):
        order(name + " as keys", "x", want, (), b"x\n" + values.replace(b" ", b"\n") + b"\n", "x", notation=Notation(**notation))
    for operation in ("mode", "first", "text-max"):
        r = harness.run(["-d;", "--decimal=,", "--by=k", "--%s=v" % operation, "--sort=-" + operation], euro)
        is_((r.status, [line[:1] for line in r.out.split(b"\n")[1:-1]]), (0, [b"a", b"c", b"b"]), "--sort by a %s with a decimal comma" % operation)
        holds("--sort by a %s with a decimal comma" % operation, ["-d;", "--decimal=,", "--by=k", "--%s=v" % operation, "--sort=-" + operation], euro,
              oracle_groups.judge(Groups("k", "-" + operation, operations=[(operation, "v")], **comma), euro), ways(1))
    r = harness.run(["-d;", "--decimal=,", "--let=x=v*1", "--by=x", "--sort=-x", "--top=1"], euro)
    is_((r.status, r.out), (0, b'x,count\n"10,25",1\n'), "--sort by a computed key with a decimal comma")
    r = harness.run(["-d;", "--decimal=,", "--by=k", "--last=v", "--sort=-last"], b"k;v\na;x\na;10,5\nb;2,5\nc;1e500\nd;\n")
    is_((r.status, r.out), (0, b'k,last(v)\nc,1e500\na,"10,5"\nb,"2,5"\nd,\n'), "--sort by a last text with a decimal comma")
    order("numbers that differ beyond 17 digits", "sum", "b c a", [("sum", "v")],
          b"k,v\na,12345678901234567890.2\nb,12345678901234567890\nc,12345678901234567890.1\n")
    order("beyond 64 bits and of other scales", "-max", "d b a c", [("max", "v")],
          b"k,v\na,1e30\nb,1e31\nc,-1e-30\nd,99999999999999999999999999999999.5\n")
    order("--top", "-sum(v)", "b f a", top=3)
    order("--top alone: the first result, the largest first", None, "b f", top=2)
    order("--top alone: ties by appearance", None, "b f a c d e", top=6)
    order("--top alone: a text", None, "c a f", [("mode", "t"), ("sum", "v")], top=3)
    order("--top alone: a result without a value comes last", None, "b f a c e", [("max", "v")], top=5)
    order("--top alone: the count", None, "b a", (), b"k\na\nb\nb\nc\n", top=2)
    order("--top alone: the first that '*' finds", None, "b c", [("max", "*")], b"k,t,v\na,x,1\nb,7,5\nc,y,3\n", top=2)
    r = harness.run(["--by=k", "--sum=v", "--top=1", "--format=ndjson"], SALES)
    is_(r.out, b'{"k": "b", "sum(v)": %s}\n' % harness.run(["--by=k", "--sum=v", "--sort=-sum", "--top=1", "--format=plain"], SALES).out.split(b"\t")[1].strip(),
        "--top alone, as JSON")
    for args in (["--count=v"], ["--median=v"], ["--mode=t"], ["--first=v"], []):
        data, given = b"k,v,t\n" + b"".join(b"g%d,%d,t%d\n" % (i * 7919 % 5003, i * 31 % 997, i % 89) for i in range(30000)), ["--by=k"] + args
        name = "-" + (harness.run(given, b"k,v,t\n1,1,1\n", ).out.split(b"\n")[0].split(b",", 1)[1].decode())
        harness.agrees("--top alone is --sort %s" % name, given + ["--top=13"], data,
                       harness.exactly(harness.run(given + ["--sort=" + name, "--top=13"], data).out.decode()), [(1000, 3), (None, 1), (None, 3)])
    order("numbers of 10^400 and more", "sum", "d a b", [("sum", "x")], b"k,x\na,5\nb,9e399\nb,9e399\nd,-3\n")
    order("... descending", "-sum", "b c a d", [("sum", "x")], b"k,x\na,5\nb,9e399\nb,9e399\nd,-3\nc,9.5e399\n")
    order("... of both signs", "sum", "b d a", [("sum", "x")], b"k,x\na,5\nb,-9e399\nb,-9e399\nd,-3\n")
    order("... --top alone", None, "b", [("sum", "x")], b"k,x\na,5\nb,9e399\nb,9e399\nd,-3\n", top=1)
    order("keys out of range", "k", "-1e500 -1 1e-500 5 1e400 1e500", (), b"k,v\n1e500,1\n5,1\n1e400,1\n-1e500,1\n1e-500,1\n-1,1\n")
    order("keys that differ beyond 400 digits", "-k", "1" * 500 + "2 " + "1" * 500 + "1", (), b"k,v\n%s1,1\n%s2,1\n" % (b"1" * 500, b"1" * 500))
    order("--top 1", "sum", "e", top=1)
    order("--top beyond the groups", "sum", "e d a c b f", top=10 ** 15)
    order("--top after --where", "-sum", "f a", where="k != 'b'", top=2)
    order("a pair of columns", "-wmean(v:w)", "b a", [("wmean", "v:w")], b"k,v,w\na,1,1\nb,2,1\na,1,2\n")
    many = b"k,v\n" + b"".join(b"g%d,%d\n" % (i, i // 10) for i in range(3000))
    q = Groups("k", "-sum", 25, operations=[("sum", "v")])
    first = [i for tens in (299, 298, 297) for i in range(10 * tens, 10 * tens + 10)][:25]
    want = b"k,sum(v)\n" + b"".join(b"g%d,%d\n" % (i, i // 10) for i in first)
    harness.agrees("--top among ties of several threads", q.args(), many, harness.exactly(want), WIDE)


def ends_row(rnd):
    """A record of a key, a number as it may be spelled, and a text of up to 99 bytes, or of none."""
    number = rnd.choice(["", "%d" % rnd.randint(-99, 99), "+%03d.50" % rnd.randint(0, 99), "1e%d" % rnd.randint(20, 400),
                         "%d.%d" % (rnd.randint(0, 10 ** 30), rnd.randint(0, 9))])
    text = rnd.choice(["", "NA", "%d" % rnd.randint(0, 99), "t%d" % rnd.randint(0, 99), "10.0.0.%d" % rnd.randint(0, 9),
                       "é" * rnd.randint(1, 40), "long text of a group, %d" % rnd.randint(10 ** 5, 10 ** 40)])
    return "g%d" % rnd.randint(0, 40), number, text


def check_ends():
    """The first and the last value of each group lie in line, elsewhere, or with what a cell does not hold: all are the
    input's, in any order of chunks, through parts and ranks of them."""
    rnd = random.Random(41)
    rows = [ends_row(rnd) for _ in range(1500)]
    first, last = {}, {}
    for key, *values in rows:
        for i, value in enumerate(values):
            first.setdefault(key, ["", ""])
            last.setdefault(key, ["", ""])
            if value:
                first[key][i] = first[key][i] or value
                last[key][i] = value
    field = lambda text: '"%s"' % text if "," in text else text
    data = "k,v,t\n" + "".join("%s,%s,%s\n" % (k, v, field(t)) for k, v, t in rows)
    want = "k,first(v),last(v),first(t),last(t)\n" + "".join(
        "%s,%s,%s,%s,%s\n" % (k, f[0], last[k][0], field(f[1]), field(last[k][1])) for k, f in first.items())
    args = ["--by=k", "--first=v", "--last=v", "--first=t", "--last=t"]
    harness.agrees("first and last values of groups", args, data.encode(), harness.exactly(want), WIDE)
    for n in (1, 2, 3, 7):
        name = fixture("ends.csv", data.encode())
        parts = [fixture("ends%d.part" % i, harness.run(args + ["--partial", "--part=%d/%d" % (i, n), name]).out)
                 for i in range(1, n + 1)]
        is_(harness.run(["--merge"] + parts).out.decode(), want, "... of %d parts of one file" % n)
    cut = [data.encode().index(b"\n", i) + 1 for i in (0, 9000, 20000)] + [len(data.encode())]
    texts = [b"k,v,t\n" + data.encode()[a:b] for a, b in zip(cut, cut[1:])]
    parts = [fixture("ends%d.part" % i, harness.run(args + ["--partial"], text).out) for i, text in enumerate(texts)]
    is_(harness.run(["--merge"] + parts).out.decode(), want, "... of parts of three files")
    state = fixture("ends.state", b"")
    for i, text in enumerate(texts):
        r = harness.run(args + (["--from-state=" + state] if i else []) + ["--save-state=" + state], text)
    is_(r.out.decode(), want, "... of three runs, each with the state of the one before")


def cells_row(rnd, ngroups):
    """A record of a key, a number that may be long, a positive one, and a text."""
    long = rnd.choice(["%d" % rnd.randint(-10 ** 17, 10 ** 17), "%de%d" % (rnd.randint(-9, 9), rnd.randint(-99, 99))])
    v = long if rnd.random() < 0.02 else rnd.choice(["", "%d" % rnd.randint(-99, 99), "%.2f" % rnd.uniform(-10 ** 6, 10 ** 6), '"7"'])
    return "g%d" % rnd.randrange(ngroups), v, "%.*f" % (rnd.randint(0, 3), rnd.uniform(0.01, 99)), ends_row(rnd)[2].replace(",", ";")


def check_cells():
    """A group's cells, and what they leave to a partial, hold what a column keeps: a group's results are those of its
    records alone, whether groups are few or their records tuples."""
    rnd = random.Random(42)
    args = ["--let=q=v/w", "--skewness=v", "--skewness-pop=v", "--kurtosis=v", "--kurtosis-pop=v", "--geomean=w", "--harmonic-mean=w", "--text-min=t",
            "--text-max=t", "--sum=q", "--mean=q", "--min=q", "--max=q", "--range=q"]
    for ngroups, nrows in ((30, 3000), (9000, 30000)):
        groups = collections.OrderedDict()
        rows = [cells_row(rnd, ngroups) for _ in range(nrows)]
        for row in rows:
            groups.setdefault(row[0], []).append(row)
        table = lambda rows: ("k,v,w,t\n" + "".join(",".join(row) + "\n" for row in rows)).encode()
        alone = {k: harness.run(args, table(groups[k])).out.decode().split("\n")[1] for k in list(groups)[:30]}
        path = fixture("cells.csv", table(rows))
        for chunk, threads in ((None, 1), (None, 3), (100, 2), (30000, 7)):
            lines = harness.run(["--by=k"] + args + [path], chunk=chunk, threads=threads).out.decode().split("\n")[1:31]
            is_(lines, [k + "," + line for k, line in alone.items()],
                "the records of each of %d groups, chunks of %s, %d threads" % (len(groups), chunk, threads))


# ---- files, compression, many groups --------------------------------------------------------

def check_files():
    first, second, third = b"k,v\na,1\nb,2\n", b"v,x,k\n10,0,b\n20,0,c\n", b"k,v\nc,100\na,0.5\n"
    paths = [fixture("g1.csv", first), fixture("g2.csv.gz", gzip.compress(second)), fixture("g3.csv", third)]
    want = b"k,count(v),sum(v)\na,2,1.5\nb,2,12\nc,2,120\n"
    harness.agrees("files with other headers, one packed", ["--by=k", "--count=v", "--sum=v"] + paths, None,
                   harness.exactly(want), WIDE)
    packed = b"".join(gzip.compress(LOG[i:i + 20]) for i in range(0, len(LOG), 20))
    harness.agrees("gzip of many members", ["--by=status"], packed, harness.exactly("status,count\n200,3\n404,1\n500,1\n"), WIDE)
    other = fixture("g4.csv", b"v,x\n1,2\n")
    refuses("a later file lacks the key", ["--by=k", paths[0], other], None, 1, "column 'k'")


def grouped(ngroups, nrecords, seed):
    """(text, {key: [count, sum of hundredths]}), in order of first appearance."""
    rng, sums, rows = random.Random(seed), collections.OrderedDict(), []
    for i in range(nrecords):
        key, cents = rng.randrange(ngroups), rng.randrange(-10 ** 6, 10 ** 6)
        group = sums.setdefault(b"key %d,%d" % (key % 7, key), [0, 0])
        group[0] += 1
        group[1] += cents
        rows.append(b'"key %d,%d",%d.%02d' % (key % 7, key, cents // 100, cents % 100) if cents >= 0
                    else b'"key %d,%d",-%d.%02d' % (key % 7, key, -cents // 100, -cents % 100))
    return b"k,v\n" + b"\n".join(rows) + b"\n", sums


def cents_text(cents):
    return b"%s%d.%02d" % (b"-" if cents < 0 else b"", abs(cents) // 100, abs(cents) % 100)


def check_many():
    for ngroups, nrecords in ((1, 20000), (4095, 30000), (4097, 30000), (100000, 200000), (10 ** 9, 100000)):
        data, sums = grouped(ngroups, nrecords, ngroups)
        lines = [b'"%s",%d,%s\n' % (k, n, cents_text(total)) for k, (n, total) in sums.items()]
        path = fixture("many.csv", data)
        for chunk, threads in ((None, 1), (None, 2), (100000, 3), (4096, 7)):
            r = harness.run(["--by=k", "--count=v", "--sum=v", path], chunk=chunk, threads=threads)
            ok((r.status, r.err, r.out) == (0, b"", b"k,count(v),sum(v)\n" + b"".join(lines)),
               "%d groups, chunks of %s, %d threads" % (len(sums), chunk, threads),
               lambda r=r: "status %s, %r, %r" % (r.status, r.err, harness.short(r.out)))
        totals = sorted(sums.items(), key=lambda item: -item[1][1])     # stable
        r = harness.run(["--by=k", "--sum=v", "--sort=-sum", "--top=10", path], threads=3)
        is_(r.out, b"k,sum(v)\n" + b"".join(b'"%s",%s\n' % (k, cents_text(c)) for k, (_, c) in totals[:10]),
            "the ten greatest of %d groups" % len(sums))


# ---- faults and wrong usage -----------------------------------------------------------------

def check_faults():
    ask = dict(operations=[("sum", "v")])
    fails("the first error of the input, whatever the group", b"k,v\na,1\nb,x\na,y\n", "k", "",
          "<stdin>:3: column 'v': not a number: 'x'", **ask)
    fails("an error in a later group", b"k,v\n" + b"a,1\n" * 500 + b"b,z\na,y\n", "k", "", "<stdin>:502: column 'v'", **ask)
    fails("a NUL in a key", b"k,v\na,1\nb\0c,2\n", "k", "", "<stdin>:3: column 'k': NUL byte in 'b\\x00c'", **ask)
    fails("a ragged record", b"k,v\na,1\nb\n", "k", "", "<stdin>:3:", "1 field", **ask)
    fails("text behind a quote", b'k,v\na,1\n"b"c,2\n', "k", "", "<stdin>:3:", "text behind a closing quote", **ask)
    skips = [  # name, data, out, parts of the warning
        ("a value", b"k,v\na,1\nb,x\na,2\nb,5\n", b"k,records,sum(v)\na,2,3\nb,2,5\n", (b"1 value", b"<stdin>:3:", b"not a number")),
        ("a NUL in a key", b"k,v\na,1\nb\0c,2\na,2\n", b"k,records,sum(v)\na,2,3\n", (b"1 ", b"<stdin>:3:", b"NUL byte in")),
        ("a NUL in the first key", b"k,v\nb\0c,2\na,1\na,2\n", b"k,records,sum(v)\na,2,3\n", (b"1 ", b"<stdin>:2:", b"NUL byte in")),
        ("a ragged record", b"k,v\na,1\nb\na,2\n", b"k,records,sum(v)\na,2,3\n", (b"1 ", b"<stdin>:3:"))]
    for name, data, out, parts in skips:
        harness.agrees("--invalid skip: " + name, ["--by=k", "--count-records", "--sum=v", "--invalid=skip"], data,
                       lambda r, out=out, parts=parts: None if (r.status, r.out) == (0, out) and all(p in r.err for p in parts)
                       and r.err.count(b"\n") == 1 else "wanted: %r, a warning with %s" % (out, parts), WIDE)
    harness.agrees("--invalid skip: a NUL in a key, records counted", ["--by=k", "--invalid=skip"], b"k,v\na\0b,1\nc,2\n",
                   lambda r: None if (r.status, r.out) == (0, b"k,count\nc,1\n") and b"NUL byte in" in r.err else "wanted: c, 1", WIDE)


USAGE = [   # name, arguments, what the message holds
    ("'*' is no key", ["--by=*"], "*"),
    ("--by given twice", ["--by=k", "--by=v"], "--by"),
    ("an unknown key", ["--by=nosuch"], "nosuch"),
    ("a key beyond the columns", ["--by=9"], "9"),
    ("--hist", ["--by=k", "--hist=v:1"], "--hist"),
    ("a matrix", ["--by=k", "--cov=*"], "--cov"),
    ("another matrix", ["--by=k", "--corr=*"], "--corr"),
    ("--all", ["--by=k", "--all"], "--all"),
    ("--columns", ["--by=k", "--columns"], "--columns"),
    ("--sort without --by", ["--sum=v", "--sort=sum"], "--sort"),
    ("--top without --by", ["--sum=v", "--top=3"], "--top"),
    ("--sort and no operation", ["--sort=sum"], "sum"),
    ("--top 0", ["--by=k", "--top=0"], "--top"),
    ("--top, negative", ["--by=k", "--top=-1"], "--top"),
    ("--top, a word", ["--by=k", "--top=few"], "--top"),
    ("an unknown result lists the names", ["--by=k", "--sum=v", "--max=v", "--sort=nope"], "k, sum(v), max(v)"),
    ("an operation that two results have", ["--by=k", "--sum=v,w", "--sort=sum"], "sum(v), sum(w)"),
    ("a minus alone", ["--by=k", "--sort=-"], "--sort"),
]
USAGE_OF_RUNS = [
    ("--top with new columns", ["--by=k", "--cumsum=v", "--top=3"], "--top"),
    ("--top with --row-number", ["--by=k", "--row-number", "--top=3"], "--top"),
    ("a result and a new column", ["--by=k", "--cumsum=v", "--sum=v"], "--"),
]


def check_usage(table):
    for name, args, part in table:
        refuses("usage: " + name, args, b"k,v,w\na,1,2\nb,2,3\n", 2, part)


check_keys()
check_results()
check_formats()
check_order()
check_ends()
check_cells()
check_files()
check_many()
check_faults()
check_usage(USAGE)
check_usage(USAGE_OF_RUNS)
harness.done()
