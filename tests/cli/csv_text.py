# SPDX-License-Identifier: MIT
"""CSV as the chapter CSV of gpustat(1) has it: every good-* case, cut at every byte, on 1, 2, 3, 7 threads."""
import gzip
import subprocess
import threading
import time

import harness
import oracle
import oracle_dialect
import oracle_text
from csv_cases import GOOD

THREADS = (1, 2, 3, 7)


def check_table():
    for case in GOOD:
        sizes = harness.every_cut(case.data)
        ways = [(size, THREADS[i % 4]) for i, size in enumerate(sizes)]
        ways += [(size, t) for size in (1, 2, 3, 5, 7, 16, 64) for t in THREADS]
        ways += [(None, None), (None, 1), (None, 7)]
        harness.agrees("good: " + case.name, case.request.args(), case.data,
                       harness.exactly(case.want), sorted(set(ways), key=str))


def check_as_files():
    """The same input by name, redirected from a file, as gzip, and in slow small writes."""
    for case in GOOD[:40:3]:
        path = harness.fixture("input.csv", case.data)
        zipped = harness.fixture("input.csv.gz", gzip.compress(case.data))
        harness.answers("from a file: " + case.name, case.request.args() + [path], None, case.want)
        harness.answers("from gzip: " + case.name, case.request.args() + [zipped], None, case.want)
        harness.answers("gzip on stdin: " + case.name, case.request.args(),
                        gzip.compress(case.data), case.want)
    for case in (c for c in GOOD if c.name in ("crlf in quotes", "doubled quotes", "bom")):
        harness.is_(trickle(case), case.want.encode(), "a byte at a time through a pipe: " + case.name)


def trickle(case):
    p = subprocess.Popen([harness.program()] + case.request.args(), stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, env=harness.environment(7), bufsize=0)
    for i in range(len(case.data)):
        p.stdin.write(case.data[i:i + 1])
        time.sleep(0.0005)
    return p.communicate(timeout=60)[0]


def check_seams():
    """A table of several KiB whose chunk borders fall everywhere, held against the model."""
    rows = [b'id,note,value\n']
    for i in range(400):
        note = (b'"a ""b"", c"', b'"line\none"', b'12" disk', b'""', b'"x""y"', b"plain")[i % 6]
        rows.append(b"%d,%s,%d.%02d%s" % (i, note, i * 7919 % 1000, i % 100, (b"\n", b"\r\n")[i % 3 == 0]))
    data = b"".join(rows)
    for columns in ("value", "id,value"):
        request = oracle.Request([("sum", columns), ("mean", "value"), ("count", "note")])
        sizes = (1, 2, 3, 5, 7, 11, 13, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000,
                 1023, 1024, 1025, 4095, 4096, 4097, len(data) - 1, len(data), len(data) + 1)
        harness.agrees("seams at every place: " + columns, request.args(), data,
                       oracle.judge(request, data), [(s, THREADS[i % 4]) for i, s in enumerate(sizes)])
    # runs of quotes as long as any vector: the parity must carry over every border
    body = b"".join(b'"%s",%d\n' % (b'""' * n + b",\n" * (n % 3), n) for n in range(0, 140))
    data = b"t,n\n" + body
    request = oracle.Request([("sum", "n"), ("count", "t")])
    harness.agrees("long runs of quotes", request.args(), data, oracle.judge(request, data),
                   [(s, THREADS[i % 4]) for i, s in enumerate((1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, None))])
    body = b"".join(b"%s,%d\n" % (b"x" * n, n) for n in range(0, 300))
    data = b"t,n\n" + body
    request = oracle.Request([("sum", "n"), ("max", "n")])
    harness.agrees("records of every length", request.args(), data, oracle.judge(request, data),
                   [(s, THREADS[i % 4]) for i, s in enumerate((1, 8, 16, 32, 63, 64, 65, 128, 4096, None))])
    for name, end in (("quoted", b'"\n'), ("plain", b"\n")):
        lead = b'"' if name == "quoted" else b""
        for length in range(56, 72):
            data = b"a,n\n" + (lead + b"y" * length + end[:-1] + b",1\n") * 5
            harness.agrees("a %s field of %d bytes" % (name, length), ["--sum", "n"], data,
                           harness.exactly("5\n"), [(None, 1), (64, 2), (length, 3)])


def check_large():
    """A megabyte of hostile records, at sizes where many chunks are in flight."""
    rows = [b"id,note,value\r\n"]
    for i in range(30000):
        note = (b'"a ""b"", c"', b'"line\none\n"', b'12" disk', b'""', b'"x""y"', b"plain", b"")[i * i % 7]
        rows.append(b"%d,%s,%d.%03d\r\n" % (i, note, i * 7919 % 100003 - 50000, i % 1000))
    data = b"".join(rows)
    rows = oracle_dialect.records_by_csv_module(data)[1:]
    total, low = oracle.Column(), None
    for row in rows:
        total.add(oracle_text.number(row[2]))
    low = total.answer("min")
    want = "sum(value),min(value),count(note),sum(id)\n%s,%s,%d,%d\n" % (
        total.answer("sum"), low, sum(r[1] != b"" for r in rows), 30000 * 29999 // 2)
    harness.agrees("a megabyte", ["--sum=value", "--min=value", "--count=note", "--sum=id"], data,
                   harness.exactly(want), [(c, t) for c in (61, 997, 65536, None) for t in THREADS])


def check_many_columns():
    """Records of 200 columns, hardly more than their commas, then long, then short again, some in quotes; and the
    same with a quote in a field, for which parity does not tell."""
    width, sums, totals = 200, [0] * 200, []
    names = ",".join("c%d" % (k + 1) for k in range(width))
    rows = [names + ",t"]
    for i in range(5000):
        values = [i * (k + 77) * 15485863 % 10 ** 11 if 900 <= i < 1300 else None for k in range(width)]
        values[i % width] = i
        sums = [total + (v or 0) for total, v in zip(sums, values)]
        totals.append(sums[0])
        rows.append(",".join("" if v is None else '"%d"' % v if v % 97 == 0 else str(v) for v in values) + ",x")
    answer = ",".join("sum(%s)" % name for name in names.split(",")) + "\n" + ",".join(map(str, sums)) + "\n"
    running = "running_sum(c1)\n" + "".join("%d\n" % total for total in totals)
    ways = [(c, t) for c in (None, 1 << 20, 100000, 999) for t in THREADS]
    for what in "all regular", "one irregular":
        data = ("\n".join(rows) + "\n").encode()
        harness.agrees("200 columns, %s, sums" % what, ["--sum", names], data, harness.exactly(answer), ways)
        harness.agrees("200 columns, %s, running sums" % what, ["--cumsum=c1", "--only"], data,
                       harness.exactly(running), ways)
        rows[1150] = rows[1150][:-1] + '12" disk'


def check_long_record():
    """One record longer than any buffer; 100 MB of it arrive through a pipe."""
    field = b'"' + b'x,y\n""z' * 150000 + b'"'
    data = b"n,t,m\n1," + field + b",2\n3,short,4\n"
    for chunk in (1000, 4096, 65536, None):
        harness.agrees("a record of a megabyte, chunks of %s" % chunk, ["--sum", "m,n"], data,
                       harness.exactly("sum(m),sum(n)\n6,4\n"), [(chunk, t) for t in THREADS])
    data = b"n,m\n" + b" " * 300000 + b"5,1\n" + b"0" * 300000 + b"7,1\n"
    harness.agrees("numbers in very long fields", ["--sum", "n"], data, harness.exactly("12\n"),
                   [(c, t) for c in (1000, None) for t in (1, 3)])
    p = subprocess.Popen([harness.program(), "--sum", "m,n"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, env=harness.environment())

    def feed():
        block = b'x,y\n""z ' * 131072                   # a MiB
        try:
            p.stdin.write(b'n,t,m\n1,"')
            for _ in range(100):
                p.stdin.write(block)
            p.stdin.write(b'",2\n3,short,4\n')
            p.stdin.close()
        except BrokenPipeError:
            pass
    writer = threading.Thread(target=feed)
    writer.start()
    out = p.stdout.read()
    writer.join()
    harness.is_((p.wait(), out), (0, b"sum(m),sum(n)\n6,4\n"), "a record of 100 MiB through a pipe")


def check_instruction_sets():
    """An unknown instruction set is wrong usage; the others give the same answer for the same table."""
    r = harness.run(["--sum=1"], b"1\n", simd="abacus")
    harness.ok(r.status == 2 and b"GPUSTAT_SIMD" in r.err and b"abacus" in r.err and not r.out,
               "an unknown instruction set is refused", lambda: harness.describe(r))
    names = harness.instruction_sets()
    harness.ok("portable" in names, "there is always a portable one", lambda: repr(names))
    data = b"a,b,c\n" + b"".join(b'%d,"x, ""%d""\n",-%d.%02d\r\n' % (i, i, i * i, i % 100)
                                   for i in range(3000))
    results = {harness.run(["--sum=*", "--min=*", "--max=*"], data, simd=name).out for name in names}
    harness.is_(results, {harness.run(["--sum=*", "--min=*", "--max=*"], data).out},
                "they all give the same answer")


check_table()
check_as_files()
check_seams()
check_large()
check_many_columns()
check_long_record()
check_instruction_sets()
harness.done()
