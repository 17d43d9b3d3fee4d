# SPDX-License-Identifier: MIT
"""-W: tables whose values stand below the header's names, as free, docker, df, ps, kubectl, netstat, lsblk and others print them."""
import random

import harness
import oracle_words
from harness import answers, fixture

WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, 61, None) for threads in (1, 3)]
FREE = b"""\
               total        used        free      shared  buff/cache   available
Mem:        16303428     4501200     2304112      410244     9498116    11060232
Swap:        2097148           0     2097148
"""
DOCKER = """\
CONTAINER ID   IMAGE           COMMAND                  CREATED          STATUS                    PORTS                    NAMES
4c01db0b339c   ubuntu:22.04    "bash"                   17 seconds ago   Up 16 seconds             3300-3310/tcp            webapp
d7886598dbe2   crosbymichael   "docker-entrypoint.s…"   33 minutes ago   Up 33 minutes (healthy)                            redis,webapp/db
0a1b2c3d4e5f   postgres:16     "docker-entrypoint.s…"   2 weeks ago      Exited (0) 3 days ago     0.0.0.0:5432->5432/tcp   db
""".encode()
DF = b"""\
Filesystem      Size  Used Avail Use% Mounted on
udev            7.8G     0  7.8G   0% /dev
/dev/nvme0n1p2  468G  123G  322G  28% /
/dev/sdb1        59G   12G   45G  21% /media/My Disk
"""
PS = b"""\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.0 167744 11776 ?        Ss   Nov20   0:09 /sbin/init splash
root           2  0.0  0.0      0     0 ?        S    Nov20   0:00 [kthreadd]
chrome     12345  2.0  5.1 34359738 512345 ?     Sl   10:00   1:23 /opt/chrome --type=x  y
"""
KUBECTL = b"""\
NAME                     READY   STATUS             RESTARTS         AGE
web-7d4b9c6f5-abcde      1/1     Running            0                5d3h
api-5f6d7c8b9-xyz12      1/1     Running            3 (2d ago)       5d3h
job-28411200-q9x8w       0/1     CrashLoopBackOff   128 (4m2s ago)   11h
"""
WIDE = b"""\
NAME                  READY   STATUS    RESTARTS     AGE    IP           NODE     NOMINATED NODE   READINESS GATES
api-5f6d7c8b9-xyz12   1/1     Running   3 (2d ago)   5d3h   10.1.0.12    node-1   <none>           <none>
web-7d4b9c6f5-abcde   1/1     Running   0            5d3h   10.1.0.7     node-2   <none>           <none>
"""
NETSTAT = b"""\
Proto Recv-Q Send-Q Local Address           Foreign Address         State      
tcp        0      0 0.0.0.0:22              0.0.0.0:*               LISTEN     
tcp        0     36 10.0.0.5:22             10.0.0.9:51234          ESTABLISHED
udp        0      0 0.0.0.0:68              0.0.0.0:*                          
tcp6       0      0 :::80                   :::*                    LISTEN     
"""
LSBLK = """\
NAME        MAJ:MIN RM   SIZE RO TYPE MOUNTPOINTS
sda           8:0    0 931.5G  0 disk 
├─sda1        8:1    0   512M  0 part /boot/efi
└─sda2        8:2    0   931G  0 part /
nvme0n1     259:0    0 476.9G  0 disk
""".encode()
PANDAS = b"""\
   x   y   name
0  5   6  ab cd
1  7  10      d
"""
CASE = b"NAME  QTY PRICE\nab c    3  1.50\nd      10 12.25\n"
HEADER = "gpustat: <stdin>:%d: the header %s (try -N if this line is data, --skip-lines %d if it is a title, or both, and columns by number)\n"
COUNTS = "has %d words where the next record has %d, which do not stand below them"
RECORD = "gpustat: <stdin>:%d: this record's words do not stand below the header's names (try --skip-lines %d -N, and columns by number)\n"
WHOLE = "gpustat: records that are read below their names are printed only as they came, since fields may be empty or hold blanks (try --select, --only, or --where alone)\n"


def says(name, args, stdin, status, out, err=""):
    wanted = (status, harness._bytes(out), harness._bytes(err))
    harness.agrees(name, ["-W", *args], stdin, lambda r: None if (r.status, r.out, r.err) == wanted else "wanted: %r" % (wanted,), WAYS)


def check_programs():
    says("names to the left and to the right", ["--sum=QTY"], CASE, 0, "13\n")
    says("a value with a blank", ["--by=NAME", "--sum=PRICE"], CASE, 0, "NAME,sum(PRICE)\nab c,1.50\nd,12.25\n")
    says("free", ["--sum=used"], FREE, 0, "4501200\n")
    says("free: by number, a column without a name is the first", ["--sum=3"], FREE, 0, "4501200\n")
    says("free: what a line lacks is missing", ["--count=available,free", "--count-records"], FREE, 0, "count(available),count(free),records\n1,2,2\n")
    says("free: lines by their first word", ["--by=1", "--sum=total"], FREE, 0, "col1,sum(total)\nMem:,16303428\nSwap:,2097148\n")
    says("free: a condition prints lines as they came", ["--where=used > 0"], FREE, 0, FREE[:FREE.index(b"Swap")])
    says("free: short lines, too", ["--where=used = 0"], FREE, 0, FREE[:FREE.index(b"Mem")] + FREE[FREE.index(b"Swap"):])
    says("docker ps", ["--count=PORTS,NAMES,CONTAINER ID"], DOCKER, 0, "count(PORTS),count(NAMES),count(CONTAINER ID)\n2,3,3\n")
    says("docker ps: values with blanks", ["--by=STATUS", "--mode=NAMES"], DOCKER, 0,
         "STATUS,mode(NAMES)\nUp 16 seconds,webapp\nUp 33 minutes (healthy),\"redis,webapp/db\"\nExited (0) 3 days ago,db\n")
    says("docker ps: records without a value", ["--where=PORTS is missing", "--count-records"], DOCKER, 0, "1\n")
    says("df", ["--by=Mounted on", "--max=Use%", "--percent"], DF, 0,
         "Mounted on,max(Use%)\n/dev,0.00\n/,0.28\n/media/My Disk,0.21\n")
    says("ps aux: a value wider than its column", ["--sum=RSS", "--max=PID"], PS, 0, "sum(RSS),max(PID)\n524121,12345\n")
    says("ps aux: the rest of the line", ["--by=COMMAND", "--sum=RSS"], PS, 0,
         "COMMAND,sum(RSS)\n/sbin/init splash,11776\n[kthreadd],0\n/opt/chrome --type=x  y,512345\n")
    for name, text, line in (("below their names", b"  PID CMD\n    1 a b c\n", 2), ("below the last name", b"  PID CMD\n    1 a\n    2 b c\n", 3)):
        printed = b"".join(x + (b" 1" if k else b" running_sum(PID)") + b"\n" for k, x in enumerate(text.splitlines()[:line - 1]))
        says("a new column behind several words, " + name, ["--cumsum=PID"], text, 1, printed, WHOLE.replace("gpustat: ", "gpustat: <stdin>:%d: " % line, 1))
        says("several words, " + name, ["--max=PID", "--last=CMD"], text, 0, "max(PID),last(CMD)\n" + ("1,a b c\n" if line == 2 else "2,b c\n"))
    one, two = fixture("no_records.txt", b"PID NAME\n"), fixture("records.txt", b"PID NAME\n1 a\n2 b\n")
    says("a new column, the first file without records", ["--cumsum=PID", one, two], None, 0, "PID NAME running_sum(PID)\n1 a 1\n2 b 3\n")
    says("a new column behind several words, no header", ["-N", "--cumsum=1"], b"1 a\n2 b c\n", 1, "1 a 1\n",
         "gpustat: <stdin>:2: 3 fields where the first record has 2: a last value with blanks cannot be read again before a new column; try --only or --select\n")
    says("ps aux: new columns", ["--running-sum=RSS", "--only"], PS, 0, "running_sum(RSS)\n11776\n11776\n524121\n")
    says("kubectl: a record of more words", ["--by=RESTARTS", "--mode=AGE"], KUBECTL, 0,
         "RESTARTS,mode(AGE)\n0,5d3h\n3 (2d ago),5d3h\n128 (4m2s ago),11h\n")
    says("kubectl -o wide: as many words as the header by chance", ["--by=NODE", "--mode=IP", "--count=NOMINATED NODE"], WIDE, 0,
         "NODE,mode(IP),count(NOMINATED NODE)\nnode-1,10.1.0.12,1\nnode-2,10.1.0.7,1\n")
    says("netstat", ["--by=State", "--sum=Send-Q"], NETSTAT, 0, "State,sum(Send-Q)\nLISTEN,0\nESTABLISHED,36\n,0\n")
    says("netstat: names of two words", ["--mode=Foreign Address", "--count=Local Address"], NETSTAT, 0,
         "mode(Foreign Address),count(Local Address)\n0.0.0.0:*,4\n")
    says("netstat: a title", ["--sum=Send-Q"], b"Active Internet connections\n" + NETSTAT, 2, "",
         "gpustat: unknown column 'Send-Q'\ngpustat: the input has 3 columns: Active, Internet, connections\n")
    says("netstat: a title, a name of it", ["-H", "--count=Active"], b"Active Internet connections\n" + NETSTAT, 1, "", HEADER % (1, COUNTS % (3, 8), 1))
    says("netstat: a title that is skipped", ["--skip-lines=1", "--sum=Send-Q"], b"Active Internet connections\n" + NETSTAT, 0, "36\n")
    one = b"".join(PS.splitlines(True)[:2])
    says("fields that are printed have no blanks, the last one neither", ["--select=PID,COMMAND"], one, 0, "PID COMMAND\n1 /sbin/init_splash\n")
    says("a new column of such fields", ["--select=COMMAND", "--fill-down=COMMAND"], one, 0,
         "COMMAND filled(COMMAND)\n/sbin/init_splash /sbin/init_splash\n")
    says("extra words, no header", ["-N", "--ragged=extra", "--running-sum=1"], b"0 1\n  8\t  I   J\n", 0, "0 1 0\n  8\t  I   8\n")
    says("lsblk", ["--by=TYPE", "--count=MOUNTPOINTS"], LSBLK, 0, "TYPE,count(MOUNTPOINTS)\ndisk,0\npart,2\n")
    says("lsblk: a value in the midst of its name", ["--count-distinct=MAJ:MIN"], LSBLK, 0, "4\n")
    says("a data frame", ["--sum=y", "--mode=name"], PANDAS, 0, "sum(y),mode(name)\n16,ab cd\n")
    says("the summary", ["--format=csv"], CASE, 0,
         "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\nNAME,text,2,0,0,,ab c,d,,1,4\nQTY,number,2,0,0,13,3,10,6.5,,\n"
         "PRICE,number,2,0,0,13.75,1.50,12.25,6.875,,\n")
    says("comments, CR LF, blank lines", ["--comment=#", "--sum=QTY"], b"# x\r\n" + CASE.replace(b"\n", b"\r\n#\r\n\r\n"), 0, "13\n")


def check_errors():
    says("more words", ["--sum=a"], b"a b\n1 2 3\n", 1, "", HEADER % (1, COUNTS % (2, 3), 1))
    says("row names of R", ["--sum=x"], b"x y\n1 5 6\n", 1, "", HEADER % (1, COUNTS % (2, 3), 1))
    says("fewer words", ["--sum=a"], b"a b c\n1 2\n", 1, "", HEADER % (1, COUNTS % (3, 2), 1))
    says("words not below", ["--sum=QTY"], b"NAME  QTY PRICE\nab cdefg  3  1.50\n", 1, "", HEADER % (1, COUNTS % (3, 4), 1))
    says("one blank on both sides", ["--sum=QTY"], b"NAME   QTY\nabcde 5 3\n", 1, "", HEADER % (1, COUNTS % (2, 3), 1))
    says("a leading blank", ["--sum=abc"], b"   abc  d\nxyz 1234\n", 1, "",
         HEADER % (1, "begins with blanks, and the next record's words do not stand below its", 1))
    says("after skipped lines", ["--skip-lines=2", "--sum=a"], b"x\ny\na b\n1 2 3\n", 1, "", HEADER % (3, COUNTS % (2, 3), 3))
    says("the summary", [], b"a b\nx y z\n", 1, "", HEADER % (1, COUNTS % (2, 3), 1))
    says("not named: doubtful first", ["--count=1"], b"a b\nx y z\n", 1, "",
         "gpustat: <stdin>:1: 'a b' may be names or data: say -H if these are names, -N if they are data\n")
    says("no header", ["-N", "--sum=1"], b"1 a\n2 b c\n", 0, "3\n")
    says("only numbers", ["--sum=1"], b" 1  2 3\n4 5 6 7\n", 0, "5\n")
    says("a later record", ["--sum=QTY"], CASE + b"e f g 7  1.50\n", 1, "", RECORD % (4, 1))
    says("a later record, not selected", ["-H", "--count-records"], CASE + b"abcdefg 7\n", 1, "", RECORD % (4, 1))
    says("a later record, not left out", ["--invalid=skip", "--sum=QTY"], CASE + b"abcdefg 7\n", 1, "", RECORD % (4, 1))
    says("a later record, lines before it are printed", ["--where=QTY > 3"], CASE + b"abcdefg 7\n", 1, "NAME  QTY PRICE\nd      10 12.25\n", RECORD % (4, 1))
    says("a later record, after a bad value", ["--sum=QTY"], CASE + b"d       x\nabcdefg 7\n", 1, "", "gpustat: <stdin>:4: column 'QTY': not a number: 'x' (try --invalid skip)\n")
    says("the whole value is shown", ["--sum=NAME"], CASE, 1, "", "gpustat: <stdin>:2: column 'NAME': not a number: 'ab c' (try --invalid skip)\n")
    says("a wide character", ["--sum=QTY"], CASE + "日本    7  1.50\n".encode(), 1, "", RECORD % (4, 1))
    says("a combining mark", ["--sum=QTY"], CASE + "e\u0301      7  1.50\n".encode(), 1, "", RECORD % (4, 1))
    says("an accent", ["--sum=QTY"], CASE + "é       7  1.50\n".encode(), 0, "20\n")
    says("a table without padding, a later record", ["--sum=a"], b"a b\n1 2\n3 4 5\n", 1, "", RECORD % (3, 1))
    says("new columns beside blanks", ["--running-sum=QTY"], CASE, 1, "", WHOLE)
    says("new columns, a later record of more words", ["--running-sum=AGE"], KUBECTL, 1, KUBECTL.split(b"\n")[0] + b" running_sum(AGE)\n", "gpustat: <stdin>:2: column 'AGE': not a number: '5d3h' (try --durations)\n", )
    says("fewer words, --ragged", ["--ragged=allow", "--sum=b"], b"a b c\n1 2 3\n4 5\n", 0, "7\n")
    says("below the header, fewer words", ["--sum=c", "--count=b"], b"a  b  c\n1  2  3\n4     5\n6\n", 0, "sum(c),count(b)\n8,1\n")
    wide = b"x   name  y\n"
    says("as many words as names: a value is wider than its column", ["--count=:3", "--last=name"], wide + b"12  abcdef 7\n", 0, "count(y),last(name)\n1,abcdef\n")
    shifted = b"   a  b\n 10  2\n 11  3\n"
    says("a later record begins left of the names", ["--sum=a"], shifted + b"7    40\n12   5\n", 1, "", RECORD % (4, 1))
    says("it is the first one", ["--sum=a"], b"   a  b\n7    40\n 10  2\n", 1, "", RECORD % (3, 1))
    says("wider than its column", ["--sum=a"], shifted + b"1234  5\n", 0, "1255\n")
    says("no word stands below a name", ["--sum=a"], shifted + b"12  5\n", 0, "33\n")
    says("a value that is not there, below the names", ["--sum=b", "--count=a"], b"   a    b\n  10    2\n        3 4\n", 1, "",
         "gpustat: <stdin>:3: column 'b': not a number: '3 4' (try --invalid skip)\n")
    says("names or data: no number is looked for behind a record that is not below", ["--corr=*"], b" ab_break  twds\n _\n 2  n\n2025-02-29  4\n", 1, "",
         "gpustat: <stdin>:1: ' ab_break  twds' may be names or data: say -H if these are names, -N if they are data\n")
    says("a blank line below a header of one word", ["--sum=total", "--count=:1"], b"      total\n\nMem:     20\n\nSwap:    22\n", 0, "sum(total),count(col1)\n42,2\n")
    says("blank lines below the only column", ["--count=total", "--count-records"], b"total\n\n20\n\n22\n", 0, "count(total),records\n2,4\n")
    says("fewer words, not below", ["--sum=c"], b"a  b  c\n1  2  3\n4 5555\n", 1, "", RECORD % (3, 1))


def check_new_columns():
    """A field that is empty would not be there when it is read."""
    says("empty fields", ["--lag=a", "--cumsum=b", "--lead=a"], b"a b\n1 2\n3 4\n", 0, "a b lag(a) running_sum(b) lead(a)\n1 2 _ 2 3\n3 4 1 6 _\n")
    says("empty fields alone", ["--lag=a", "--only"], b"a b\n1 2\n3 4\n", 0, "lag(a)\n_\n1\n")
    says("positions", ["--offsets=a > 1", "--row-number"], b"a b\n1 2\n3 4\n5 6\n", 0, "a b offset row_number\n1 2 _ 1\n3 4 0 2\n5 6 1 3\n")
    says("means before the first", ["--running-mean=a", "--exclusive"], b"a b\n1 2\n3 4\n", 0, "a b running_mean(a)\n1 2 _\n3 4 1\n")
    says("changes", ["--delta=b"], b"a b\n1 2\n3 4\n", 0, "a b delta(b)\n1 2 _\n3 4 2\n")
    says("fields of values with blanks", ["--select=NAME,QTY"], CASE, 0, "NAME QTY\nab_c 3\nd 10\n")
    says("fields that may be empty", ["--select=PORTS,NAMES,CONTAINER ID"], DOCKER, 0,
         "PORTS NAMES CONTAINER_ID\n3300-3310/tcp webapp 4c01db0b339c\n_ redis,webapp/db d7886598dbe2\n0.0.0.0:5432->5432/tcp db 0a1b2c3d4e5f\n")
    says("fields that short records lack", ["--select=available,used"], FREE, 0, "available used\n11060232 4501200\n_ 0\n")
    says("new columns alone", ["--cumsum=used", "--lag=shared", "--only"], FREE, 0, "running_sum(used) lag(shared)\n4501200 _\n4501200 410244\n")
    printed = harness.run(["-W", "--lag=a", "--cumsum=b"], b"a b\n1 2\n3 4\n").out
    answers("and are read again", ["-W", "--missing=_", "--sum=running_sum(b),lag(a)"], printed, "sum(running_sum(b)),sum(lag(a))\n8,1\n")
    pushed = harness.run(["-W", "--running-min=y"], b"""\
y        host     x        bytes
0.097    85956    it's     null
-82541266.1246 -11442   it       -00000000000000000000.0
3        464633702660237926 foo      -00000000.000
""").out
    for chunk, threads in WAYS:
        answers("where the first value stands below two names, but the others do not", ["-W", "-H", "--threads=%d" % threads, "--sum=y,running_min(y)"],
                pushed, "sum(y),sum(running_min(y))\n-82541263.0276,-165082532.1522\n", chunk=chunk)


def check_files():
    one, other, order = fixture("one", CASE), fixture("other", b"NAME      QTY PRICE\nx y z       5  2.00\n"), fixture("order", b"PRICE  NAME   QTY\n 1.00  a b      7\n")
    answers("later files stand below their own headers", ["-W", "--sum=QTY", one, other, order], None, "25\n")
    answers("an empty file before data that begins with a blank", ["-W", "--format=csv", fixture("blank.csv", b""),
            fixture("below.csv", b" .9 -88\n00 +")], None, "column,type,count,missing,invalid,sum,min,max,mean,shortest,longest\n"
            "col1,number,2,0,0,0.9,0.0,0.9,0.45,,\ncol2,text,2,0,0,,+,-88,,1,3\n")
    answers("records of several files", ["-W", "--where=QTY > 4", one, other], None,
            "NAME  QTY PRICE\nd      10 12.25\nx y z       5  2.00\n")
    bad = fixture("bad", b"NAME QTY PRICE\na b c d e\n")
    harness.refuses("a later header", ["-W", "--sum=QTY", one, bad], None, 1, (HEADER % (1, COUNTS % (3, 5), 1)).replace("<stdin>", bad))
    data = CASE + b"".join(b"n %-3d%4d %5.2f\n" % (i % 9, i, i % 50) for i in range(900))
    want = {tuple(c): harness.run(["-W", "--threads=1", *c], data).out for c in (("--sum=QTY,PRICE",), ("--by=NAME", "--sum=QTY"), ("--where=QTY > 400",))}
    for c, out in want.items():
        harness.ok(len(out) > 5, "900 records %s" % (c,))
        harness.agrees("900 records, chunks %s" % (c,), ["-W", *c], data, harness.exactly(out.decode()), [(n, t) for n in (1, 50, 1000, None) for t in (1, 7)])


# ---- random tables, held against the model --------------------------------------------------------

NAMES = ("A", "NAME", "QTY", "Used", "Mounted on", "SIZE", "C D", "x", "on", "LONG NAME")
VALUES = ("1", "22", "333", "a", "ab cd", "", "", "x y z", "4444444444", "-", "3 (2d ago)")


def random_table(rng):
    n = rng.randrange(2, 6)
    names = [rng.choice(NAMES) if k or rng.randrange(4) else "" for k in range(n)]
    rows = [names] + [[rng.choice(VALUES) for _ in range(n)] for _ in range(rng.randrange(1, 7))]
    gap, right = rng.choice((1, 1, 2, 3)), [rng.randrange(2) for _ in range(n)]
    widths = [max(len(r[k]) for r in rows[:rng.choice((2, 99, 99))]) + gap for k in range(n)]
    lines = ["".join(v.rjust(w - gap) + " " * gap if r else v.ljust(w) for v, w, r in zip(row, widths, right)) for row in rows]
    lines = [line.rstrip() if rng.randrange(2) else line for line in lines]
    return [line.encode() for line in lines if line.strip()]


def check_random():
    rng, read, refused = random.Random(40), 0, 0
    for round_ in range(600):
        lines = random_table(rng)
        if len(lines) < 2:
            continue
        layout, data = oracle_words.line_up(lines[0], lines[1:]), b"\n".join(lines) + b"\n"
        n = len(lines[0].split()) if layout in (None, oracle_words.MISALIGNED) else len(layout.names)
        column = rng.randrange(n)
        r = harness.run(["-W", "-H", "--format=csv", "--by=:%d" % (column + 1), "--count-records", "--threads=%d" % rng.choice((1, 3))],
                        data, chunk=rng.choice((1, 7, None)))
        if layout is None and n == 1:
            continue
        fields = None
        if layout is not oracle_words.MISALIGNED:
            layout.shorter_fails = layout.by_columns
            fields = [layout.cut(line) for line in lines[1:]]
        if not fields or None in fields or any(len(f) < n for f in fields if not layout.shorter_fails):
            refused += 1
            good = r.status == 1 and not r.out
        else:
            read += 1
            groups = {}
            for f in fields:
                key = f[column] if column < len(f) else b""
                groups[key] = groups.get(key, 0) + 1
            good = r.status == 0 and r.out.split(b"\n")[1:-1] == [b"%s,%d" % g for g in groups.items()]
        if not good:
            harness.ok(False, "random table %d" % round_, lambda: "%s\nmodel: %s\n%s" % (data.decode(), fields, harness.describe(r)))
    harness.ok(read > 100 and refused > 30, "random tables: %d are read, %d refused" % (read, refused))


check_programs()
check_errors()
check_new_columns()
check_files()
check_random()
harness.done()
