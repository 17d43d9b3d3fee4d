# SPDX-License-Identifier: MIT
"""What an error suggests: another delimiter, the name that was meant, quotes around text, files named instead of joined."""
import harness
from harness import fixture

WAYS = [(chunk, threads) for chunk in (1, 2, 3, 7, None) for threads in (1, 3)]
AGAIN = " (try naming the files instead of joining them: this is the header again)"


def says(name, args, stdin, status, out, err=""):
    wanted = (status, harness._bytes(out), harness._bytes(err))
    harness.agrees(name, args, stdin, lambda r: None if (r.status, r.out, r.err) == wanted else "wanted: %r" % (wanted,),
                   WAYS)


def check_delimiters():
    for c, option in ((b";", "-d ';'"), (b"\t", "-d '\\t'"), (b"|", "-d '|'")):
        table, hint = b"id;price\n1;0.10\n2;0.20\n".replace(b";", c), " (try %s)\n" % option
        head = "id\\tprice" if c == b"\t" else "id%sprice" % c.decode()
        row = "1\\t0.10" if c == b"\t" else "1%s0.10" % c.decode()
        says(option + ", an unknown column", ["--sum=price"], table, 2, "",
             "gpustat: unknown column 'price'" + hint + "gpustat: the input has 1 column: %s\n" % head)
        says(option + ", beyond the last column", ["--sum=2"], table, 2, "",
             "gpustat: unknown column '2'" + hint + "gpustat: the input has 1 column: %s\n" % head)
        says(option + ", not a number", ["-H", "--sum=1"], table, 1, "",
             "gpustat: <stdin>:2: column '%s': not a number: '%s'%s" % (head, row, hint))
        says(option + ", no header", ["--sum=1"], table[9:], 1, "",
             "gpustat: <stdin>:1: '%s' may be names or data: say -H if these are names, -N if they are data%s" % (row, hint))
        says(option + ", --header no", ["--sum=1", "--header=no"], table[9:], 1, "",
             "gpustat: <stdin>:1: column 'col1': not a number: '%s'%s" % (row, hint))
        says(option + ", a ragged record", ["-H", "--sum=1"], table + b"3;0,5\n".replace(b";", c), 1, "",
             "gpustat: <stdin>:2: column '%s': not a number: '%s'%s" % (head, row, hint))
        says(option + ", a ragged record first", ["-H", "--count=1"], table + b"3;0,5\n".replace(b";", c), 1, "",
             "gpustat: <stdin>:4: 2 fields where the header has 1" + hint)
        says(option + ", '*'", ["-H", "--sum=*"], table, 1, "", "gpustat: no column holds numbers" + hint)
        says(option + ", in a value only", ["--sum=x"], b"x\n5\n1;0.10\n".replace(b";", c), 1, "",
             "gpustat: <stdin>:3: column 'x': not a number: '%s'%s" % (row, hint))
        says(option + ", the summary", ["--format=csv"], table, 0, harness.run(["--format=csv", "-d,"], table).out,
             "gpustat: warning: there is one column, and it holds '%s': try %s\n" % ("\\t" if c == b"\t" else c.decode(), option))
        says(option + ", given", ["-d", c, "--sum=price"], table, 0, "0.30\n")
    says("the most frequent one", ["--sum=a"], b"x;y|z|w\n1;2|3|4\n", 2, "",
         "gpustat: unknown column 'a' (try -d '|')\ngpustat: the input has 1 column: x;y|z|w\n")
    for name, data in (("in quotes", b'"a\tb"\n"c\td"\n'), ("in quotes, the second only", b'a\tb\n"c\td"\n')):
        says(name, ["-H", "--format=csv"], data, 0, harness.run(["-d,", "-H", "--format=csv"], data).out)
    says("-d was given", ["-d,", "--sum=b"], b"a;b\n1;2\n", 2, "", "gpustat: unknown column 'b'\ngpustat: the input has 1 column: a;b\n")
    says("-d was given, the summary", ["-d,", "-H", "--format=csv"], b"a;b\n1;2\n", 0, harness.run(["-d,", "-H", "--format=csv"], b"a;b\n1;2\n").out)
    says("-W was given", ["-W", "--sum=b"], b"a;b\n1;2\n", 2, "", "gpustat: unknown column 'b'\ngpustat: the input has 1 column: a;b\n")
    says("several columns", ["--sum=b"], b"a;b,c\n1;2,3\n", 2, "", "gpustat: unknown column 'b'\ngpustat: the input has 2 columns: a;b, c\n")
    says("no other delimiter", ["--sum=x"], b"x\na b\n", 1, "", "gpustat: <stdin>:2: column 'x': not a number: 'a b' (try --invalid skip)\n")
    doubled = "gpustat: note: every second column has no name: if fields end at '%s', try sed 's/%s/%s/g' FILE | gpustat -d '%s'\n"
    says("fields that end at two bytes", ["-d|", "--sum=b"], b"a||b||c\n1||2||3\n", 0, "2\n", doubled % ("||", "||", "|", "|"))
    says("two tabs", ["-d", "tab", "--sum=b"], b"a\t\tb\n1\t\t2\n", 0, "2\n", doubled % ("\\t\\t", "\\t\\t", "\\t", "\\t"))
    says("one column without a name", ["-d|", "--sum=b"], b"a||b|c\n1||2|3\n", 0, "2\n")
    says("commas, not given", ["--sum=b"], b"a,,b\n1,,2\n", 0, "2\n")
    df = b"Filesystem  Size Used\n/dev/a      10   5\n"
    log = b'2024-01-01 12:00 GET "/x y" 200\n2024-01-01 12:01 GET "/z;a" 500\n'
    for name, args, data, status, want in (
            ("aligned by blanks", ["--sum=Used"], df, 2, "gpustat: unknown column 'Used' (try -W)\ngpustat: the input has 1 column: "
             "Filesystem  Size Used\n"),
            ("aligned, by position", ["--sum=3"], df, 2, "gpustat: unknown column '3' (try -W)\ngpustat: the input has 1 column: "
             "Filesystem  Size Used\n"),
            ("aligned, a value", ["-H", "--sum=1"], df, 1, "gpustat: <stdin>:2: column 'Filesystem  Size Used': not a number: "
             "'/dev/a      10   5' (try -W)\n"),
            ("a log", ["--sum=5"], log, 2, "gpustat: unknown column '5' (try -d ' ')\ngpustat: the input has 1 column: "
             '2024-01-01 12:00 GET "/x y" 200\n'),
            ("a log with ; in quotes", ["--sum=5"], log.replace(b"x y", b"x;y;z"), 2, "gpustat: unknown column '5' (try -d ' ')\n"
             'gpustat: the input has 1 column: 2024-01-01 12:00 GET "/x;y;z" 200\n'),
            ("a log that has more ; each line", ["-N", "--sum=1"], b'a b "c" x; y\na b "c" x; y; z\n', 1, "gpustat: <stdin>:1: column 'col1': "
             "not a number: 'a b \"c\" x; y' (try -d ';')\n"),
            ("; beside blanks", ["--sum=b"], b"a first;b\nx y z;1\n", 2, "gpustat: unknown column 'b' (try -d ';')\n"
             "gpustat: the input has 1 column: a first;b\n"),
            ("a list of names", ["--sum=b"], b"full name\nAnn Lee\n", 2, "gpustat: unknown column 'b'\ngpustat: the input has 1 column: full name\n")):
        says("blanks: " + name, args, data, status, "", want)
    says("a value that stands for none", ["--sum=x"], b"x,y\nN/A,2\n", 1, "",
         "gpustat: <stdin>:2: column 'x': not a number: 'N/A' (try --missing 'N/A')\n")


def check_names():
    def unknown(name, typed, data, listed, *args):
        says(name, ["--sum", typed] + list(args), data, 2, "", "gpustat: unknown column '%s'\ngpustat: the input has %s\n" % (typed, listed))

    unknown("an empty name", "nope", b"a,,c\n1,2,3\n", "3 columns: a, col2, c")
    unknown("no header", "price", b"1,2\n", "2 columns: col1, col2", "--header=no")
    unknown("one column", "xyz", b"a\n1\n", "1 column: a")
    unknown("a slip", "prise", b"name,price\nx,2\n", "2 columns: name, price; did you mean 'price'?")
    unknown("another case", "PRICE", b"name,price\nx,2\n", "2 columns: name, price; did you mean 'price'?")
    unknown("a blank before it", "price", b"name, price\nx,2\n", "2 columns: name,  price; did you mean ' price'?")
    unknown("a beginning", "inst", b"name,installed_size\nx,2\n", "2 columns: name, installed_size; did you mean 'installed_size'?")
    unknown("the nearest of several", "amount2", b"amount,amount1,amount22\n1,2,3\n",
            "3 columns: amount, amount1, amount22; did you mean 'amount'?")
    unknown("far from all", "zzz", b"name,price\nx,2\n", "2 columns: name, price")
    unknown("a letter", "x", b"a,b\nx,2\n", "2 columns: a, b")
    names = ["c%d" % i for i in range(1, 21)]
    unknown("twenty columns", "zzz", ",".join(names).encode() + b"\n" + b"1," * 19 + b"1\n", "20 columns: " + ", ".join(names))
    unknown("more columns", "zzz", ",".join(names).encode() + b",d,target\n" + b"1," * 21 + b"1\n",
            "22 columns: " + ", ".join(names) + " and 2 more")
    unknown("the nearest is not listed", "tarket", ",".join(names).encode() + b",d,target\n" + b"1," * 21 + b"1\n",
            "22 columns: " + ", ".join(names) + " and 2 more; did you mean 'target'?")
    unknown("long names are cut", "zzz", b"x" * 100 + b"," + "é".encode() * 100 + b"\n1,2\n",
            "2 columns: %s..., %s..." % ("x" * 60, "é" * 30))
    wide = b",".join(b"name%d" % i for i in range(500000)) + b"\n"
    r = harness.run(["--sum=nosuch"], wide)
    harness.ok(r.status == 2 and len(r.err) < 2000 and b"the input has 500000 columns: name0, name1, " in r.err, "a header of 5 MB",
               lambda: "%s, %d bytes of message" % (r.status, len(r.err)))


def check_conditions():
    def unknown(name, condition, column, hint, listed="2 columns: region, x"):
        says(name, ["--where", condition], b"region,x\nnorth,1\n", 2, "",
             "gpustat: unknown column '%s'%s\ngpustat: the input has %s\n" % (column, hint, listed))

    quotes = ' (try "north": text is written in quotes)'
    unknown("text without quotes", "region == north", "north", quotes)
    unknown("on the left", "north = region", "north", quotes)
    unknown("not the first test", "x > 1 and not (region != north)", "north", quotes)
    unknown("a name that is no column's", "regoin == north", "regoin", "", "2 columns: region, x; did you mean 'region'?")
    unknown("in backquotes it is a column", "region == `north`", "north", "")
    unknown("a position", "region == :9", ":9", "")
    unknown("is missing", "north is missing", "north", "")
    for condition, place, words in (
            ("region = North America", 15, "expected 'and', 'or' or the end (text is written in quotes)"),
            ("region = 2024-01-02", 13, "a date is text: write it in quotes"),
            ("(region = north pole)", 16, "expected ')', 'and' or 'or' (text is written in quotes)"),
            ("region = 10.0.0.1", 9, "not a number (text is written in quotes)"),
            ("region = 'a' )", 13, "no parenthesis is open here"), ("region = 'a' = 'b'", 13, "comparisons do not chain: join them with 'and'")):
        says("an error in " + condition, ["--where", condition], b"region,x\nnorth,1\n", 2, "",
             "gpustat: --where: %s\n%s\n%s^\nTry 'gpustat --help'.\n" % (words, condition, " " * place))


def check_repeated_headers():
    for end in (b"\n", b"\r\n"):
        table = b"a,b\n1,2\n".replace(b"\n", end)
        says("a header in the middle", ["--sum=b"], table + table, 1, "",
             "gpustat: <stdin>:3: column 'b': not a number: 'b'" + AGAIN + "\n")
        says("the last line", ["--sum=b"], table + b"a,b", 1, "", "gpustat: <stdin>:3: column 'b': not a number: 'b'" + AGAIN + "\n")
        says("records that are printed", ["--cumsum=a", "--only"], table + table, 1,
             b"running_sum(a)\n1\n".replace(b"\n", end), "gpustat: <stdin>:3: column 'a': not a number: 'a'" + AGAIN + "\n")
        says("a condition", ["--where=b > 1", "--count=a"], table + table, 1, "",
             "gpustat: <stdin>:3: column 'b': not a number: 'b'" + AGAIN + "\n")
    says("names in quotes", ["--sum=b"], b'"a\n,","b"\n1,2\n' * 2, 1, "", "gpustat: <stdin>:5: column 'b': not a number: 'b'" + AGAIN + "\n")
    for args in (["--count=a"], ["--count-records"]):
        says("where nothing is read as a number: %s" % args, args, b"a,b\n1,2\na,b\n3,4\n", 1, "",
             "gpustat: <stdin>:3: this record is the header again (try naming the files instead of joining them, or --invalid skip)\n")
    path = fixture("part.csv", b"a,b\n1,2\n")
    says("the files named", ["--sum=b", path, path], None, 0, "4\n")
    says("another record with this name", ["--sum=b"], b"a,b\n1,2\nx,b\n", 1, "", "gpustat: <stdin>:3: column 'b': not a number: 'b' (try --invalid skip)\n")
    says("a longer record", ["--sum=b"], b"a,b\n1,2\na,bb\n", 1, "", "gpustat: <stdin>:3: column 'b': not a number: 'bb' (try --invalid skip)\n")
    says("the end of a longer one", ["--sum=b"], b"a,b\n1,2\nxa,b\n", 1, "", "gpustat: <stdin>:3: column 'b': not a number: 'b' (try --invalid skip)\n")


def check_header_spellings():
    """The header again in other words: quotes, blanks where they mean nothing, a delimiter at the end."""
    again = "gpustat: <stdin>:3: this record is the header again (try naming the files instead of joining them, or --invalid skip)\n"
    for options, header, record in (
            ([], b'"k","v w"', b"k,v w"), ([], b"k,v w", b'"k","v w"'), ([], b'"k",v w', b'k,"v w"'), ([], b"k,v", b'\xef\xbb\xbf"k",v'),
            ([], b"k,v,", b"k,v"), ([], b"k,v", b"k,v,"), ([], b"k,v,", b'"k",v,'), ([], b",v", b'"",v'), ([], b'"k""",v', b'"k""","v"'),
            (["--trim"], b"k,v", b" k , v "), (["--trim"], b"k,v", b'"k" , "v"'), (["-W"], b"k v", b"k    v"),
            (["--quote='"], b"k,v", b"'k','v'"), ([], b"k,v\r\r", b"k,v\r\r"), (["--escape=\\"], b'"k,l",v', b"k\\,l,v")):
        text = b"\n".join((header, *((b"x 1", record, b"y 2") if "-W" in options else (b"x,1", record, b"y,2"))))
        for end in (b"", b"\n", b"\r\n"):
            given = text.replace(b"\n", b"\r\n") + end if end != b"\n" else text + end
            for args in (["--mode=1"], ["--count-records"], []):
                says("%s again as %s, %s%s" % (header, record, args, options), options + args, given, 1, "", again)
        says("%s as %s, left out" % (header, record), options + ["--count-records", "--invalid=skip"], text, 0, b"2\n",
             again.replace("<stdin>", "warning: 1 record left out: <stdin>").replace(", or --invalid skip", ""))
        name = "v w" if b"v w" in header else "v\\r" if b"\r" in header else "v"
        says("%s as %s, summed" % (header, record), options + ["--sum=2"], text, 1, "",
             "gpustat: <stdin>:3: column '%s': not a number: '%s'%s\n" % ((name,) * 2 + (AGAIN,)))
    for options, header, record in (([], b"k,v w", b"k,vw"), ([], b"k,v", b" k,v"), ([], b"k,v", b"k,'v'"), ([], b"k,v,w", b"k,v,"), ([], b'"k""",v', b'"k",v'),
                                    ([], b'k,"v,"', b"k,v"), ([], b"k,v\r\r", b"k,v"), ([], b"k,v", b"k,v\r\r"), ([], b"\r\r", b'""')):
        fields = b"," * (3 if header == b"k,v,w" else 2 if b"," in header else 1)
        says("%s is not %s" % (record, header), options + ["-H", "--count-records"],
             header + b"\nx" + fields[1:] + b"\n" + record + b"\n", 0, b"2\n")


def check_exclusions():
    for args, words in (
            (["--sum=1", "--cumsum=1"], "--sum prints one value and --cumsum prints every record: not both"),
            (["--byte-offset", "--mean=1"], "--mean prints one value and --byte-offset prints every record: not both"),
            (["--format=json", "--output-delimiter=;", "--sum=1"], "--output-delimiter is for CSV: leave out --format, or say --format csv"),
            (["--where=:1 > 1", "--where=:1 > 2"], "--where is given twice: join the conditions with and")):
        says("excluded: " + " ".join(args), args, b"1\n", 2, "", "gpustat: %s\nTry 'gpustat --help'.\n" % words)


check_delimiters()
check_names()
check_conditions()
check_repeated_headers()
check_header_spellings()
check_exclusions()
harness.done()
