# SPDX-License-Identifier: MIT
"""Numbers in other notations: --decimal, --thousands, --money, --percent, --durations, --sizes, as gpustat(1) has them.

The model below tries every way to take a value apart; the program peels it from both ends. Durations and sizes have theirs in
oracle_notation.py.
"""
import os
import random
import re
import tempfile
import unicodedata

import harness
import hostile_dialect
import oracle_notation
import oracle_statistic
import oracle_text

SEED = 17
BARE = ["--header=no", "--format=plain"]
SIGNS = "".join(c for c in map(chr, range(0x110000)) if unicodedata.category(c) == "Sc")
GAP = "[ \t\u00a0\u202f]?"
CURRENCY = "(?:[%s]|[A-Z]{3})" % re.escape(SIGNS)
CHUNKS = (1, 2, 3, 7)


# ---- the model ------------------------------------------------------------------------------

def number(text, decimal, thousands):
    """[+-]digits[.digits][e...] in the notation, without a sign -> its plain text, or None."""
    group = "[ \u00a0\u202f]" if thousands == " " else re.escape(thousands)
    whole = "[0-9]+" if not thousands else "[1-9][0-9]{0,2}(?:%s[0-9]{3})+|[0-9]+" % group
    m = re.fullmatch("(%s)?(?:%s([0-9]*))?(?:[eE]([+-]?[0-9]+))?" % (whole, re.escape(decimal)), text)
    if not m or not (m[1] or m[2]):
        return None
    return "%s.%s" % ("".join(c for c in m[1] or "" if c in "0123456789"), m[2] or ""), int(m[3] or 0)


def signs(text, money):
    """Every way to take a sign off: pairs of the sign and the rest."""
    if text[:1] in ("+", "-"):
        yield text[0], text[1:]
    if money and text[-1:] == "-":
        yield "-", text[:-1]
    if money and len(text) > 1 and text[0] == "(" and text[-1] == ")":
        yield "-", text[1:-1]


def units(text, money, percent):
    """Every way to take a currency or a percent sign off: pairs of the exponent and the rest."""
    for pattern in ((CURRENCY + GAP + "(.*)", "(.*?)" + GAP + CURRENCY) if money else ()):
        m = re.fullmatch(pattern, text, re.S)
        if m:
            yield 0, m[1]
    if percent and (m := re.fullmatch("(.*?)" + GAP + "%", text, re.S)):
        yield -2, m[1]


def plain_texts(text, decimal, thousands, money, percent):
    found = [("", 0, text)]
    found += [(s, 0, rest) for s, rest in signs(text, money)]
    for e, rest in units(text, money, percent):
        found.append(("", e, rest))
        found += [(s, e, r) for s, r in signs(rest, money)]
    for s, rest in signs(text, money):
        found += [(s, e, r) for e, r in units(rest, money, percent)]
    for sign, e, rest in found:
        plain = number(rest, decimal, thousands)
        if plain:
            yield "%s%se%d" % (sign, plain[0], plain[1] + e)


def value(text, decimal=".", thousands="", money=False, percent=False):
    """(exact Decimal, scale), or None where it is no number."""
    texts = set(plain_texts(text.strip(" \t"), decimal, thousands, money, percent))
    assert len(texts) < 2, (text, texts)
    return oracle_text.number(texts.pop().encode()) if texts else None


def value_in_range(text, **notation):
    try:
        return value(text, **notation)
    except oracle_text.BadData:
        return None


def options(decimal=".", thousands="", money=False, percent=False):
    return ((["--decimal", decimal] if decimal != "." else []) + (["--thousands", thousands] if thousands else []) +
            ["--money"] * money + ["--percent"] * percent)


# ---- what is in the manual --------------------------------------------------------------------

def quoted(text):
    return '"%s"' % text.replace('"', '""')


def sums(values, want, **notation):
    data = "".join(quoted(v) + "\n" for v in values).encode()
    harness.answers("%s of %s" % (" ".join(options(**notation)), harness.short(" ".join(values), 60)),
                    BARE + options(**notation) + ["--sum=1"], data, want + "\n")


def check_forms():
    sums(["1,5", "-2,25", ",5", "1e1"], "9.75", decimal=",")
    sums(["1,234.50", "1234.5", "-1,000,000"], "-997531.00", thousands=",")
    sums(["1.234,50", "0,001"], "1234.501", decimal=",", thousands=".")
    sums(["1 234,5", "1\u00a0234,5", "1\u202f234,5"], "3703.5", decimal=",", thousands=" ")
    sums(["1'234'567.89"], "1234567.89", thousands="'")
    sums(["1\u2019234"], "1234", thousands="\u2019")
    sums(["1\u00a0234"], "1234", thousands="\u00a0")
    sums(["1\u202f234"], "1234", thousands="\u202f")
    sums(["$5", "(12.00)", "12.00-", "$(1.5)", "$ -1"], "-21.50", money=True)
    sums(["5 EUR", "EUR5", "1"], "11", money=True)
    sums(["-\u20ac 3", "\u20ac3", "4\u20ac"], "4", money=True)
    sums(["+5\u00a0\u00a3"], "5", money=True)
    sums(["12%", "12 %", "-0.5%", "3"], "3.235", percent=True)
    sums(["(1,234 %)", "$1,000"], "987.66", thousands=",", money=True, percent=True)
    sums(["9" * 200 + "," + "9" * 200, "1e-400"], "9" * 200 + "." + "9" * 200 + "0" * 199 + "1", decimal=",")
    sums(["-" + ",".join(["999"] * 133), "$1e399"], str(10 ** 399 - int("999" * 133)),
         thousands=",", money=True)
    sums(["0" * 600 + "1,5"], "1.5", decimal=",")
    sums(["1," + "000," * 100 + "001"], "1" + "000" * 100 + "001", thousands=",")
    for text in ("0,123", "00,123", "012,345", "0,123.5"):
        harness.refuses("no group begins with 0: " + text, ["-d;", "--thousands=,", "--sum=v"], b"v\n%s\n" % text.encode(), 1,
                        "<stdin>:2: column 'v': not a number: '%s'" % text)
    harness.answers("zeros without groups", ["-d;", "--thousands=,", "--sum=v"], b"v\n0123\n0\n", "123\n")
    sums(["0e99999999999999999999%", "5%"], "0.05", percent=True)
    harness.answers("missing is decided first", ["--decimal=,", "--missing", "-1,-", "--sum=a", "--count=a", "-d;"],
                    b"a;b\n-1;x\n1,5;x\n-;x\n;x\n", "sum(a),count(a)\n1.5,1\n")
    harness.answers("a spelling of missing that is a number", ["--decimal=;", "--missing", "9;9", "--sum=a"],
                    b"a,b\n9;9,1\n1;5,2\n", "1.5\n")


def check_none():
    for text, notation in (
            ("1.5", dict(decimal=",")), ("1.23.4", dict(decimal=",", thousands=".")), ("1,5", dict(thousands=",")),
            ("1234,567", dict(thousands=",")), ("1,2345", dict(thousands=",")), (",123", dict(thousands=",")),
            ("0.123,456", dict(thousands=",")), ("1 234", dict(thousands=",")), ("$5", {}), ("(5)", {}), ("5-", {}),
            ("5%", {}), ("5%", dict(money=True)), ("$5", dict(percent=True)), ("$5 EUR", dict(money=True)),
            ("-5-", dict(money=True)), ("usd 5", dict(money=True)), ("$5%", dict(money=True, percent=True)),
            ("5%%", dict(percent=True)), ("-", dict(money=True)), ("()", dict(money=True)), ("$", dict(money=True))):
        assert value(text, **notation) is None, text
        harness.refuses("%s is no number %s" % (text, options(**notation)), ["--header=no", "--sum=1"] + options(**notation),
                        ("5\n%s\n6\n" % quoted(text)).encode(), 1, "<stdin>:2: column 'col1': not a number: '%s'" % text)


# ---- messages ---------------------------------------------------------------------------------

def message(text, want, **notation):
    r = harness.run(["--header=no", "--sum=1"] + options(**notation), ("5\n%s\n" % quoted(text)).encode())
    harness.is_((r.status, r.out, r.err.decode()), (1, b"", "gpustat: <stdin>:2: column 'col1': %s\n" % want),
                "message for %s %s" % (text, options(**notation)))


def check_messages():
    for text, remedy, notation in (
            ("1,234.50", "--thousands ,", {}), ("1,5", "--decimal ,", {}), ("1,234", "--decimal , or --thousands ,", {}),
            ("1.234,50", "--decimal , --thousands .", {}), ("1'234", "--thousands \"'\"", {}),
            ("1 234,5", "--decimal , --thousands ' '", {}), ("$5", "--money", {}), ("12 %", "--percent", {}),
            ("(5)", "--money", {}), ("$1,234.50", "--thousands , --money", {}), ("1.5", "--decimal .", dict(decimal=",")),
            ("12,5%", "--decimal , --percent", dict(money=True)), ("EUR 5", "--money", {})):
        message(text, "not a number: '%s' (try %s)" % (text, remedy), **notation)
    message("nan", "not a number: 'nan' (try --missing 'nan')")
    for text in ("abc", "0x10", "1_000", "inf", "COL1", "1,23,4", "2026-01-01"):
        message(text, "not a number: '%s' (try --invalid skip)" % text)
    message("1,234e500", "number beyond 10^-400 to 10^400: '1,234e500' (try --invalid skip)", thousands=",")
    message("1e-399%", "number beyond 10^-400 to 10^400: '1e-399%' (try --invalid skip)", percent=True)
    long = "1," + "234," * 100 + "5"
    message(long, "not a number: '%s'... (%d bytes) (try --invalid skip)" % (long[:255], len(long)))
    for args, words in (
            (["--decimal", ",", "--thousands", ","], "--decimal and --thousands are the same character"),
            (["--thousands", "."], "--decimal and --thousands are the same character"),
            (["--decimal", "5"], "--decimal: a sign, letter, digit, quote or blank is no decimal point"),
            (["--decimal", "e"], "--decimal: a sign, letter, digit, quote or blank is no decimal point"),
            (["--decimal", "-"], "--decimal: a sign, letter, digit, quote or blank is no decimal point"),
            (["--decimal", '"'], "--decimal: a sign, letter, digit, quote or blank is no decimal point"),
            (["--decimal", " "], "--decimal: a sign, letter, digit, quote or blank is no decimal point"),
            (["--decimal", ",,"], "--decimal: ',,' is not one byte"),
            (["--thousands", "-"], "--thousands: a sign, letter, digit or quote does not separate groups"),
            (["--thousands", "0"], "--thousands: a sign, letter, digit or quote does not separate groups"),
            (["--thousands", "''"], "--thousands takes one character"),
            (["--thousands", ""], "--thousands: '' is not one character"),
            (["--thousands", "12345"], "--thousands: '12345' is not one character"),
            (["--decimal", ",", "--quote", "none"],
             "the delimiter ',' is the decimal point as well, and with --quote none no field can hold it: "
             "another --decimal, or a --quote"),
            (["-d.", "--quote=none"],
             "the delimiter '.' is the decimal point as well, and with --quote none no field can hold it: "
             "another --decimal, or a --quote")):
        r = harness.run(args + ["--sum", "1"], b"1\n")
        harness.is_((r.status, r.out, r.err.decode()),
                    (2, b"", "gpustat: %s\nTry 'gpustat --help'.\n" % words), "usage: %s" % " ".join(args))
    harness.answers("escaped decimal commas", ["--decimal=,", "--quote=none", "--escape=\\", "--sum=1"],
                    b"1\\,5,2\n-2\\,25,3\n", "-0.75\n")
    harness.answers("a decimal comma and --quote none", ["-d;", "--decimal=,", "--quote=none", "--sum=1"], b"1,5;2\n2;3\n",
                    "3.5\n")


# ---- new columns and conditions ---------------------------------------------------------------

def everywhere(name, args, data, want):
    harness.agrees(name, args, data.encode(), harness.exactly(want),
                   [(c, t) for c in CHUNKS + (None,) for t in (1, 3)])


def check_new_columns():
    data = "a;b\n1,5;x\n-2;y\n;z\n0,25;w\n"
    everywhere("new columns have the input's decimal point", ["-d;", "--decimal=,", "--running-sum=a", "--running-max=a"],
               data, "a;b;running_sum(a);running_max(a)\n1,5;x;1,5;1,5\n-2;y;-0,5;1,5\n;z;-0,5;1,5\n0,25;w;-0,25;1,50\n")
    everywhere("and quotes, where that is the delimiter", ["--decimal=,", "--cumsum=a"],
               'a,b\n"1,5",x\n2,y\n-4,z\n', 'a,b,running_sum(a)\n"1,5",x,"1,5"\n2,y,"3,5"\n-4,z,"-0,5"\n')
    wide = "9" * 50
    everywhere("wide ones, too", ["-d;", "--decimal=,", "--only", "--cumsum=a"], "a;b\n%s,5;x\n1,5;y\n" % wide,
               "running_sum(a)\n%s,5\n%d,0\n" % (wide, int(wide) + 2))
    everywhere("results have a point", ["-d;", "--decimal=,", "--sum=a", "--mean=a"], data, "sum(a),mean(a)\n-0.25,-0.083333333333333333\n")
    everywhere("thousands are not written", ["--thousands=,", "--money", "--cumsum=a"], 'a,b\n"$1,234.5",x\n"(234.50)",y\n',
               'a,b,running_sum(a)\n"$1,234.5",x,1234.5\n"(234.50)",y,1000.00\n')


def check_conditions():
    data = "p;q;n\n1,5;1,50;a\n1,6;2;b\n;1;c\n1,50;-3;d\n%s,5;1e60;e\n" % ("9" * 50)
    for condition, want in (("p > 1.5", "be"), ("p = 1.5", "ad"), ("1.55 < p", "be"), ("p = q", "a"), ("p < q", "be"),
                            ("p > %s.4" % ("9" * 50), "e"), ("p = '1,50'", "d"), ("p = '1,50' or p > 1.55", "bde"),
                            ("p = '1,50' and p = 1.5", "d"), ("p is missing", "c"), ("not (p > 1.5)", "ad")):
        rows = "".join(line + "\n" for line in data.splitlines() if line[-1] in want + "n" and line[-1] != ";")
        everywhere("--where %s" % harness.short(condition, 40), ["-d;", "--decimal=,", "--where", condition], data, rows)
    money = 'p,n\n"$1,234.5",a\n"(3)",b\n12%,c\n5,d\n'
    notation = ["--thousands=,", "--money", "--percent"]
    everywhere("--where with money", notation + ["--sum=p", "--where", "p < 1000 and p != 5"], money, "-2.88\n")
    everywhere("text and number of one column", notation + ["--sum=p", "--where", "p = '(3)' or p > 1000 or p = '12%'"], money,
               "1231.62\n")
    everywhere("--offsets", notation + ["--only", "--offsets", "p > 1"], money, "offset\n0\n\n\n1\n")
    harness.refuses("text in a condition", ["--decimal=,", "-d;", "--sum=q", "--where", "p > 1"], b"p;q\n1.5;1\n", 1,
                    "gpustat: <stdin>:2: column 'p': not a number: '1.5' (try --decimal .)\n")
    harness.refuses("a literal has a point", ["--decimal=,", "-d;", "--where", "p > 1,5"], b"p;q\n1,5;1\n", 2, "--where")


def check_header():
    harness.answers("a first value in the notation is no header", ["--decimal=,", "-d;", "--sum=1"], b"1,5;3\n2,5;b\n", "4.0\n")
    harness.answers("nor for *", ["--money", "--sum=*"], b"$1,2\n$2,$3\n", "sum(col1),sum(col2)\n3,5\n")
    harness.answers("a name is one", ["--money", "--sum=1"], b"price,a\n$2,b\n", "2\n")


def check_summary():
    r = harness.run(["--money", "--thousands=,", "--format=csv"], b'p,n\n"$1,234.5",a\n"(3)",b\n')
    harness.ok(r.status == 0 and b"1231.5" in r.out, "the summary reads them", lambda: harness.describe(r))


def check_devices():
    r = harness.run(["-v", "--device=all", "--decimal=,", "-d;", "--sum=1"], b"1,5;2\n2;3\n")
    harness.ok(b"gpustat: CPU only: no GPU reads numbers in this notation\n" in r.err, "--verbose says that CPUs do it", lambda: harness.describe(r))


# ---- random values ----------------------------------------------------------------------------

def grouped(digits, separator):
    first = len(digits) % 3 or 3
    return separator.join([digits[:first]] + [digits[i:i + 3] for i in range(first, len(digits), 3)])


def random_currency(rng):
    return rng.choice((rng.choice(SIGNS), "EUR", "$", "\u20ac"))


def random_value(rng, decimal, thousands, money, percent, currency=None):
    separator = rng.choice(" \u00a0\u202f") if thousands == " " else thousands
    whole = str(rng.randrange(10 ** rng.choice((1, 2, 3, 4, 6, 7, 12, 15, 19, 30))))
    text = grouped(whole, separator) if separator and rng.randrange(3) else whole
    text += decimal + str(rng.randrange(10 ** rng.randrange(1, 12))) if rng.randrange(2) else ""
    text += "e%d" % rng.randrange(-20, 20) if rng.randrange(12) == 0 else ""
    unit = rng.choice(("money", "percent", ""))
    sign = rng.choice(("", "", "", "-", "+", "(", "after") if money else ("", "", "-", "+"))
    steps = ["sign", "unit"] if rng.randrange(2) else ["unit", "sign"]
    for step in steps:
        if step == "unit" and unit == "money" and money:
            mark, gap = currency or random_currency(rng), rng.choice(("", "", " ", "\u00a0"))
            text = mark + gap + text if rng.randrange(2) else text + gap + mark
        elif step == "unit" and unit == "percent" and percent:
            text += rng.choice(("%", " %", "\u00a0%"))
        elif step == "sign":
            text = "(%s)" % text if sign == "(" else text + "-" if sign == "after" else sign + text
    return text


def spoiled(rng, text):
    """A value with one character changed, dropped or doubled."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(("", text[at:at + 1] * 2, rng.choice("0123456789.,' $%()-+eE\u00a0ZU"))) + text[at + 1:]


NOTATIONS = [dict(decimal=d, thousands=t, money=m, percent=p) for d, t in (
    (".", ""), (".", ","), (".", "'"), (".", " "), (",", ""), (",", "."), (",", " "), (",", "\u2019"), (";", "\u00a0"))
    for m, p in ((False, False), (True, False), (False, True), (True, True))]


def check_random_sums():
    """Numbers: the sum and the extremes, on any instruction set, cut anywhere."""
    rng = random.Random(SEED)
    sets = harness.instruction_sets()
    for notation in NOTATIONS:
        jobs, wants = [], []
        for i in range(24):
            currency = random_currency(rng)
            values = [random_value(rng, currency=currency, **notation) for _ in range(rng.choice((1, 3, 20, 200)))]
            column = oracle_statistic.Column()
            for v in values:
                pair = value(v, **notation)
                assert pair, (v, notation)
                column.add(pair)
            operations = ("sum", "min", "max", "count", "var")
            wants.append("".join((column.answer(o) or "") + "\n" for o in operations))
            data = "".join((quoted(v) if "|" in v or rng.randrange(4) == 0 else v) + "|%d\n" % rng.randrange(99) for v in values)
            jobs.append(dict(args=BARE + ["-d|"] + options(**notation) + ["--%s=1" % o for o in operations],
                             stdin=data.encode(), chunk=rng.choice(CHUNKS + (64, 500, None)), threads=rng.choice((1, 2, 3)),
                             simd=sets[i % len(sets)]))
        wrong = [harness.describe(r, job["stdin"]) + "\nwanted: " + want
                 for job, want, r in zip(jobs, wants, harness.run_many(jobs)) if r.status or r.out != want.encode()]
        harness.ok(not wrong, "random numbers %s" % " ".join(options(**notation)), lambda: wrong[0])


def sums_of(pairs):
    """What --sum prints of columns that each have the number of a pair, or none, and a 7."""
    sums = []
    for pair in pairs:
        column = oracle_statistic.Column()
        for p in [pair] * bool(pair) + [(7, 0)]:
            column.add(p)
        sums.append("%s\n" % column.answer("sum"))
    return "".join(sums)


def check_random_values():
    """Spoiled numbers, each in a column of its own, with a 7 below: which of them are numbers."""
    rng = random.Random(SEED + 1)
    sets = harness.instruction_sets()
    for notation in NOTATIONS:
        jobs, wants = [], []
        for i in range(12):
            values = [spoiled(rng, random_value(rng, **notation)) for _ in range(150)]
            pairs = [value_in_range(v, **notation) if v.strip(" \t") else None for v in values]
            wants.append(sums_of(pairs))
            data = "|".join(quoted(v) for v in values) + "\n" + "|".join("7" for v in values) + "\n"
            jobs.append(dict(args=BARE + ["-d|", "--invalid=skip"] + options(**notation) + ["--sum=1-%d" % len(values)],
                             stdin=data.encode(),
                             chunk=rng.choice(CHUNKS + (None,)), simd=sets[i % len(sets)]))
        wrong = [harness.describe(r, job["stdin"]) + "\nwanted: " + want
                 for job, want, r in zip(jobs, wants, harness.run_many(jobs)) if r.status or r.out != want.encode()]
        harness.ok(not wrong, "spoiled numbers %s" % " ".join(options(**notation)), lambda: wrong[0])


# ---- durations and sizes ----------------------------------------------------------------------

def check_units():
    everywhere("durations", ["--durations", "--sum=d"], "d\n1h30m\n45m\n", "8100\n")
    everywhere("clocks", ["--durations", "--by=who", "--sum=dur"], "who,dur\na,01:30:15\nb,00:45:50\na,10:00\n",
               "who,sum(dur)\na,6015\nb,2750\n")
    everywhere("sizes of du", ["--sizes=iec", "--header=no", "--sum=1"], "1.5K\n10M\n2GiB\n", "2157970944\n")
    everywhere("sizes of disks", ["--sizes=si", "--header=no", "--sum=1"], "1.5K\n10M\n2GiB\n", "2157485148\n")
    everywhere("all at once", ["--sizes=si", "--durations", "--percent", "--money", "--header=no", "--sum=1"],
               "1.5K\n1:40\n50%\n($3)\n2m\n", "1717.50\n")
    everywhere("in conditions", ["--durations", "--where=d > 600 and d <= 5400"], "d,n\n10:00,1\n1h30m,2\n10:01,3\n2h,4\n",
               "d,n\n1h30m,2\n10:01,3\n")
    everywhere("in expressions", ["--sizes=iec", "--let=k=x/1024", "--only"], "x\n1.5K\n3M\n\n", "k\n1.5\n3072\n\n")
    r = harness.run(["--durations", "--format=csv"], b"d\nPT1H\nPT30M\n")
    harness.ok(r.status == 0 and b"\nd,number,2,0,0,5400,1800,3600," in r.out, "the summary reads durations of ISO 8601", lambda: harness.describe(r))
    for text, remedy in (("1h30m", "--durations"), ("10:00", "--durations"), ("1.5K", "--sizes iec"), ("2GiB", "--sizes iec")):
        message(text, "not a number: '%s' (try %s)" % (text, remedy))
    for text, option in (("1 month", "--durations"), ("1:60", "--durations"), ("1Kb", "--sizes=si"), ("1m", "--sizes=si")):
        harness.refuses("%s is none, %s" % (text, option), ["--header=no", "--sum=1", option], ("5\n%s\n" % text).encode(), 1,
                        "<stdin>:2: column 'col1': not a number: '%s'" % text)
    r = harness.run(["--sizes=4", "--sum=1"], b"1\n")
    harness.ok(r.status == 2 and b"iec, si" in r.err, "units that do not exist", lambda: harness.describe(r))


def check_random_units():
    rng = random.Random(SEED + 3)
    for how in (dict(durations=True), dict(durations=True, decimal=b","), dict(sizes=b"iec"), dict(sizes=b"si", thousands=b"'"),
                dict(sizes=b"iec", durations=True, percent=True, money=True)):
        notation, jobs, wants = oracle_notation.Notation(**how), [], []
        for _ in range(12):
            texts = [str(rng.randrange(10 ** rng.choice((1, 3, 6)))) + rng.choice(("", "", ".5", ".250")) for _ in range(150)]
            values = [hostile_dialect.in_notation(rng, text, notation).decode() for text in texts]
            values = [spoiled(rng, v) if rng.randrange(3) == 0 else v for v in values]
            pairs = [notation.number(v.encode()) if v.strip(" \t") else None for v in values]
            wants.append(sums_of(pairs))
            data = "|".join(quoted(v) for v in values) + "\n" + "|".join("7" for v in values) + "\n"
            jobs.append(dict(args=BARE + ["-d|", "--invalid=skip"] + [a.decode() for a in notation.args()] + ["--sum=1-%d" % len(values)],
                             stdin=data.encode(), chunk=rng.choice(CHUNKS + (None,))))
        wrong = [harness.describe(r, job["stdin"]) + "\nwanted: " + want
                 for job, want, r in zip(jobs, wants, harness.run_many(jobs)) if r.status or r.out != want.encode()]
        harness.ok(not wrong, "random units %s" % b" ".join(notation.args()).decode(), lambda: wrong[0])


# ---- currencies -------------------------------------------------------------------------------

def currency_of(text):
    m = re.search(CURRENCY, text)
    return m[0] if m else None


def complaint(place, column, first, value):
    return ("gpustat: %s: column '%s': another currency than '%s' before it: '%s' (try --where, to choose the records of "
            "one currency)\n" % (place, column, first, value))


def check_currencies():
    """A column has one currency in the whole input, wherever chunks, files and parts end."""
    data = "k,v,w\na,$5,\u20ac1\nb,7,2\na,\u20ac3,3\nb,\u20ac4,4\n"
    wrong = complaint("<stdin>:4", "v", "$", "\u20ac3")
    for name, args in (
            ("a sum", ["--sum=v"]), ("two columns", ["--sum=w,v"]), ("every column", ["--max=*"]), ("groups", ["--by=k", "--sum=v"]),
            ("a percentile", ["--median=v"]), ("a pair", ["--corr=v:w"]), ("a computed column", ["--let=d=v*2", "--sum=d"]),
            ("a distribution", ["--hist=v:1"]), ("values that are left out otherwise", ["--invalid=skip", "--mean=v"]),
            ("a condition that keeps both", ["--where=v > 1", "--sum=v"])):
        for chunk, threads in ((None, 4), (1, 1), (3, 4), (20, 2)):
            harness.refuses("two currencies: %s, chunks of %s" % (name, chunk), ["--money"] + args, data.encode(), 1, wrong,
                            chunk=chunk, threads=threads)
    r = harness.run(["--money", "--delta=v"], data.encode())
    harness.ok(r.status == 1 and r.out == b"k,v,w,delta(v)\n" + "a,$5,\u20ac1,\nb,7,2,2\n".encode() and r.err == wrong.encode(),
               "records before the second currency are printed", lambda: harness.describe(r, data.encode()))
    for name, args, want in (
            ("other columns", ["--sum=w"], "10\n"), ("as text", ["--count=v", "--mode=v"], "count(v),mode(v)\n4,$5\n"),
            ("chosen", ["--where=v contains '\u20ac'", "--sum=v"], "7\n"),
            ("compared only", ["--where=v > 3", "--sum=w"], "7\n"),
            ("columns of their own", ["--let=d=if(v contains '\u20ac', w, 0)", "--sum=d"], "7\n")):
        harness.answers("two currencies: " + name, ["--money"] + args, data.encode(), want)
    harness.refuses("a sign is not its code", ["--money", "--sum=v"], b"k,v\na,$1\nb,USD 2\n", 1,
                    complaint("<stdin>:3", "v", "$", "USD 2"))
    harness.refuses("in quotes", ["--money", "--sum=v", "--thousands=,"], b'k,v\na,$1\nb,"-2,000 EUR"\n', 1,
                    complaint("<stdin>:3", "v", "$", "-2,000 EUR"))
    harness.refuses("a long value is cut", ["--money", "--sum=v"], b"k,v\na,$1\nb,EUR " + b"0" * 400 + b"1\n", 1,
                    "another currency than '$' before it: 'EUR " + "0" * 116 + "'... (try --where")
    harness.answers("missing values have none", ["--money", "--missing=EUR 0", "--sum=v"], b"k,v\na,$1\nb,EUR 0\nc,EUR 0.0\n", "1\n")
    harness.answers("a column of text that begins so has none", ["--money", "--sum=*"], b"c,v\nx,1\nABC1,2\nDEF2,3\n", "6\n")
    r = harness.run(["--money", "--format=csv"], data.encode(), chunk=1)
    harness.ok(r.status == 0 and b"\nv,text,4,0,0,,$5," in r.out, "to the summary it is text", lambda: harness.describe(r, data.encode()))
    check_currencies_of_parts()
    check_random_currencies()


def check_currencies_of_parts():
    """Files, parts, slices and states keep the currency that they have seen."""
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        def part(name, args):
            with open(path(name), "wb") as f:
                f.write(harness.run(["--money", "--partial"] + args).out)

        for name, text in (("d", "k,v\na,$5\nb,7\n"), ("e", "k,v\nc,8\na,\u20ac3\nb,\u20ac4\n"), ("f", "k,v\nc,$9\n")):
            with open(path(name), "w", encoding="utf-8") as f:
                f.write(text)
            part(name + ".part", ["--sum=v", path(name)])
            part(name + ".all", [path(name)])
        with open(path("g"), "w", encoding="utf-8") as f:
            f.write("k,v\na,$5\nb,7\na,\u20ac3\n")
        euro, dollar = complaint(path("e") + ":3", "v", "$", "\u20ac3"), complaint(path("d") + ":2", "v", "\u20ac", "$5")
        harness.refuses("two files", ["--money", "--sum=v", path("d"), path("e")], b"", 1, euro)
        harness.refuses("two parts", ["--merge", path("d.part"), path("e.part")], b"", 1, euro)
        harness.refuses("the other way", ["--merge", path("e.part"), path("d.part")], b"", 1, dollar)
        harness.refuses("into a part", ["--merge", "--partial", path("d.part"), path("e.part")], b"", 1, euro)
        harness.answers("parts of one currency", ["--merge", path("d.part"), path("f.part")], b"", "21\n")
        for n in (2, 3, 5):
            slices = ["%d-%d" % (i, n) for i in range(1, n + 1)]
            for i, name in enumerate(slices, 1):
                part(name, ["--sum=v", "--part=%d/%d" % (i, n), path("g")])
            harness.refuses("slices of a file, %d" % n, ["--merge"] + [path(s) for s in slices], b"", 1,
                            complaint(path("g") + ":4", "v", "$", "\u20ac3"))
        harness.run(["--money", "--sum=v", "--save-state=" + path("state"), path("d")])
        harness.refuses("a state", ["--money", "--sum=v", "--from-state=" + path("state"), path("e")], b"", 1, euro)
        for names in (["d", "e"], ["e", "d"], ["d", "e", "f"]):
            whole = harness.run(["--money"] + [path(n) for n in names])
            merged = harness.run(["--merge"] + [path(n + ".all") for n in names])
            harness.ok(b"v       text" in whole.out and merged.out == whole.out, "the summary of parts %s" % " ".join(names),
                       lambda: harness.describe(merged))


def check_missing():
    """--missing under a decimal comma: a number is one item only in quotes."""
    data, comma = b"v;w\n1,5;a\n-99,50;b\n5;c\n", ["-d;", "--decimal=,", "--sum=v"]
    harness.answers("a number in quotes", comma + ['--missing="-99,5"'], data, "6.5\n")
    harness.answers("among others", comma + ['--missing=NA, "-99,5" ,"1,5",x'], data, "5\n")
    harness.answers("a blank separates two", comma + ["--missing=-99, 5"], data, "-98.00\n")
    harness.answers("quotes in quotes", ["--sum=v", '--missing="a""b,c"'], b'v,w\n1,\n"a""b,c",\n2,\n', "3\n")
    for options, named, shown in ((["--decimal=,"], "--decimal", "-99,5"), (["--thousands=,"], "--thousands", "1,000")):
        r = harness.run(["-d;", "--sum=v", "--missing=NA," + shown + ",x"] + options, data)
        harness.ok((r.status, r.out) == (2, b"") and ("--missing: '%s' is one number with %s , (write '\"%s\"', or a blank after the comma for two)"
                                                      % (shown, named, shown)).encode() in r.err, "%s splits no number" % named, lambda: harness.describe(r))
    r = harness.run(["--sum=v", '--missing="a,b'], data)
    harness.ok((r.status, r.out) == (2, b"") and b"--missing: after '\"a,b' a quote is missing, or a comma; a quote in quotes is doubled" in r.err,
               "a quote that is not closed", lambda: harness.describe(r))


def check_random_currencies():
    """The first value whose currency differs from the first one, in files cut anywhere, and in parts of them."""
    rng = random.Random(SEED + 2)
    jobs, wants = [], []
    for i in range(60):
        notation = dict(decimal=".", thousands="", money=True, percent=False)
        pool = [random_currency(rng) for _ in range(rng.choice((1, 2, 2, 3)))]
        values = [random_value(rng, currency=rng.choice(pool[:1] * 9 + pool), **notation) for _ in range(rng.choice((2, 9, 100)))]
        seen = [(line, currency_of(v), v) for line, v in enumerate(values, 1) if currency_of(v)]
        foreign = [x for x in seen if x[1] != seen[0][1]]
        column = oracle_statistic.Column()
        for v in values:
            column.add(value(v, **notation))
        wants.append((1, "", complaint("<stdin>:%d" % foreign[0][0], "col1", seen[0][1],
                                                 foreign[0][2].replace("\u00a0", "\\u00a0").replace("\u202f", "\\u202f"))) if foreign
                     else (0, column.answer("sum") + "\n", ""))
        jobs.append(dict(args=BARE + ["-d|", "--money", "--sum=1"], stdin="".join(v + "|1\n" for v in values).encode(),
                         chunk=rng.choice(CHUNKS + (64, 500, None)), threads=rng.choice((1, 2, 3))))
    wrong = [harness.describe(r, job["stdin"]) + "\nwanted: %s" % (want,)
             for job, want, r in zip(jobs, wants, harness.run_many(jobs))
             if (r.status, r.out.decode(), r.err.decode()) != want]
    harness.ok(not wrong and any(w[0] for w in wants) and not all(w[0] for w in wants), "random currencies", lambda: wrong[0])


check_forms()
check_none()
check_currencies()
check_messages()
check_new_columns()
check_conditions()
check_header()
check_summary()
check_devices()
check_missing()
check_random_sums()
check_random_values()
check_units()
check_random_units()
harness.done()
