# SPDX-License-Identifier: MIT
"""--let: computed columns. What is printed is the model's (oracle_let.py); what is computed of such a column is what
the program computes of the same column in a file that has it. GPUSTAT_TEST_SEED sets the first random case,
GPUSTAT_TEST_CASES how many follow."""
import os
import random
import re
import shlex

import harness
import oracle_let
from harness import answers, refuses
from oracle_let import Draw, Invalid, evaluate, spell, write
from scan_ways import breaks, holds, prints, ways

DATA = (b"region,qty,price,name,when\n"
        b"n,2,1.50,Ann,2026-01-02\n"
        b's,"3",0.10,b\xc3\xb6b,1969-12-31T23:59:59.5Z\r\n'
        b'n,,5,"C, ""d""",2026-01-02 03:04+01:00\n'
        b"s,-1e2,1e-20,,\n"
        b"w,123456789012345678,123456789012345678.9,x,2000-02-29T00:00:00Z\n")

# expression, the column's values
MEANINGS = [
    ("qty * price", "3.00|0.30||-0.00000000000000000100|15241578753238836639079409876390794.2"),
    ("qty + price", "3.50|3.10||-99.99999999999999999999|246913578024691356.9"),
    ("qty - price", "0.50|2.90||-100.00000000000000000001|-0.9"),
    ("-qty", "-2|-3||100|-123456789012345678"), ("- qty + 1", "-1|-2||101|-123456789012345677"),
    ("qty / 3", "0.66666666666666667|1||-33.333333333333333|41152263004115226"),
    ("price / 0", "||||"), ("0 * qty", "0|0||0|0"), ("1 - 1 - 1", "-1|-1|-1|-1|-1"), ("2 - (1 - 1)", "2|2|2|2|2"),
    ("8 / 2 / 2", "2|2|2|2|2"), ("2 + 3 * 4", "14|14|14|14|14"), ("(2 + 3)*4", "20|20|20|20|20"), ("-2 * -3", "6|6|6|6|6"),
    ("abs(qty)", "2|3||100|123456789012345678"), ("round(price, 1)", "1.5|0.1|5|0.0|123456789012345678.9"),
    ("round(2.5, 0)", "2|2|2|2|2"), ("round(-3.5, 0)", "-4|-4|-4|-4|-4"), ("round(0.125, 2)", "0.12|0.12|0.12|0.12|0.12"),
    ("round(123456789012345678901.55, 1)", "|".join(["123456789012345678901.6"] * 5)),
    ("min(qty, price)", "1.50|0.10||-100|123456789012345678"), ("max(qty, price, 2.0)", "2|3||2.0|123456789012345678.9"),
    ("coalesce(qty, 0)", '2|"3"|0|-1e2|123456789012345678'), ("coalesce(qty, price, 1) * 1", "2|3|5|-100|123456789012345678"),
    ("if(qty > 2, 1, 2)", "2|1|2|2|1"), ("if(qty is missing, price, qty)", '2|"3"|5|-1e2|123456789012345678'),
    ("if(name in ('Ann', 'x') and qty >= 2, 'yes', 'no')", "yes|no|no|no|yes"),
    ("if(region = 'n', if(qty > 1, 10, 20), 30)", "10|30|20|30|30"),
    ("case when qty > 2 then 1 else 2 end", "2|1|2|2|1"), ("CASE WHEN qty is missing THEN price ELSE qty END", '2|"3"|5|-1e2|123456789012345678'),
    ("case when qty > 1000 then 'much' when qty > 2 then name end", "|b\xf6b|||much"), ("case region when 'n' then 1 when 's' then 2 end + 1", "2|3|2|3|"),
    ("case qty when 2 then 'two' when 9 / 3 then 'three' else region || '?' end", "two|three|n?|s?|w?"),
    ("case case region when 'n' then 1 else 2 end when 1 then name else case when qty < 0 then 0 end end", 'Ann||"C, ""d"""|0|'),
    ("case when case when qty > 2 then 1 else 0 end = 1 then 'y' else 'n' end", "n|y|n|n|y"),
    ("if(qty = 2 || price = 5, 1, 0)", "1|0|1|0|0"), ("region || '-' || qty", "n-2|s-3||s--1e2|w-123456789012345678"), ("region || qty + 1", "n3|s4||s-99|w123456789012345679"),
    ("1 || 2 || '\"'", "|".join(['"12"""'] * 5)), ("name || name = 'xx'", "0|0|0||1"), ("qty / 4 || 'q'", "0.5q|0.75q||-25q|30864197253086420q"),
    ("nullif(region, 's')", "n||n||w"), ("nullif(qty, 2) * 2", "|6||-200|246913578024691356"), ("nullif(price, qty)", '1.50|0.10|5|1e-20|123456789012345678.9'),
    ("nullif(qty / 4, 0.5)", "|0.75||-25|30864197253086420"), ("nullif(date(when), '1969-12-31')", "2026-01-02||2026-01-02||2000-02-29"), ("coalesce(nullif(region, 'n'), '-')", "-|s|-|s|w"),
    ("lower(name)", 'ann|b\xf6b|"c, ""d"""||x'), ("UPPER(name)", 'ANN|B\xf6B|"C, ""D"""||X'), ("length(name)", "3|3|6||1"),
    ("length(qty * 10)", "2|2||5|19"), ("name", 'Ann|b\xf6b|"C, ""d"""||x'), ("`qty`", '2|"3"||-1e2|123456789012345678'),
    (":2 + col3", "3.50|3.10||-99.99999999999999999999|246913578024691356.9"),
    ("epoch(when)", "1767312000|-0.5|1767319440||951782400"), ("'a,b'", '|'.join(['"a,b"'] * 5)),
    ("12345678901234567890 * 10", "|".join(["123456789012345678900"] * 5)), ("1e3", "|".join(["1000"] * 5)),
    ("999999999999999999 + 1", "|".join(["1000000000000000000"] * 5)),
    ("0.0000000000000000001 * 0.0000000000000000001", "|".join(["0." + "0" * 37 + "1"] * 5)),
    (" + ".join(["999999999999999999"] * 20), "|".join(["19999999999999999980"] * 5)),
    ("0" + " - 999999999999999999" * 20, "|".join(["-19999999999999999980"] * 5)),
    ("1000000000 * 1000000000", "|".join(["1000000000000000000"] * 5)),
    ("round(price)", "2|0|5|0|123456789012345679"), ("floor(price)", "1|0|5|0|123456789012345678"), ("ceil(price)", "2|1|5|1|123456789012345679"),
    ("round_half_up(price)", "2|0|5|0|123456789012345679"), ("round_half_up(-2.5)", "-3|-3|-3|-3|-3"), ("trunc(-2.59, 1)", "-2.5|-2.5|-2.5|-2.5|-2.5"),
    ("sign(qty - 2)", "0|1||-1|1"), ("mod(qty, 7)", "2|3||-2|1"), ("-7 % 3", "-1|-1|-1|-1|-1"), ("7.5 % -2", "1.5|1.5|1.5|1.5|1.5"), ("qty % 0", "||||"),
    ("div(qty, 3)", "0|1||-33|41152263004115226"), ("bin(qty, 5)", "0|0||-100|123456789012345675"), ("bin(price, 0.25)", "1.50|0.00|5.00|0.00|123456789012345678.75"),
    ("floor(qty / 3)", "0|1||-34|41152263004115226"), ("floor(-1 / 3 * 3)", "-1|-1|-1|-1|-1"), ("10 % 4 * 2", "4|4|4|4|4"), ("sqrt(qty + 2)", "2|2.2360679774997897|||351364182.88201443"),
    ("sqrt(2) * sqrt(2)", "2|2|2|2|2"), ("sqrt(1e-400)", "|".join(["0." + "0" * 199 + "1"] * 5)), ("ln(qty)", "0.69314718055994531|1.0986122886681097|||39.354667603214429"),
    ("log10(1000)", "3|3|3|3|3"), ("log2(0.125)", "-3|-3|-3|-3|-3"), ("exp(1)", "|".join(["2.7182818284590452"] * 5)), ("ln(exp(1.5))", "1.5|1.5|1.5|1.5|1.5"),
    ("pow(qty, 2)", "4|9||10000|15241578753238836527968299765279684"), ("pow(1.01, 365)", "|".join(["37.783434332887159"] * 5)), ("pow(-8, 1 / 3)", "||||"),
    ("pow(-2, -3)", "|".join(["-0.125"] * 5)), ("pow(0, 0)", "1|1|1|1|1"), ("pow(0, -1)", "||||"), ("power(4, 0.5)", "2|2|2|2|2"), ("pow(10, 30)", "|".join(["1" + "0" * 30] * 5)), ("substr(name, 1, 2)", 'An|b\xf6|"C,"||x'), ("substr(name, -2)", 'nn|\xf6b|"d"""||x'),
    ("substr(name, 2)", 'nn|\xf6b|", ""d"""||'), ("substr(when, qty, 3)", "026|69-|||"), ("left(name, 2)", 'An|b\xf6|"C,"||x'),
    ("left(name, -1)", 'An|b\xf6|"C, ""d"||'), ("right(name, 2)", 'nn|\xf6b|"d"""||x'), ("right(name, -1)", 'nn|\xf6b|", ""d"""||'),
    ("concat(name, ' ', qty * 2)", 'Ann 4|b\xf6b 6|"C, ""d"" "| -200|x 246913578024691356'), ("if(name is number, if(name > 5, 1, 0), 7)", "7|7|7|7|7"), ("if(qty is missing, name > 5, 7) is missing", "0|0|0|0|0"),
    ("number(trim(qty)) + 1", "3|4||-99|123456789012345679"), ("replace(region, name, '')", "n|s|n||w"),
    ("when - when", "0|0.0|0||0"), ("(\"2026-01-02\" - when) / 86400", "0|20455.000005787037|-0.086111111111111111||9439"), ("left(qty / 0, name)", "||||"), ("concat(name)", 'Ann|b\xf6b|"C, ""d"""||x'),
    ("replace(name, 'b', '')", 'Ann|\xf6|"C, ""d"""||x'), ("replace(name, ' ', 'BB')", 'Ann|b\xf6b|"C,BB""d"""||x'),
    ("split(when, '-', 2)", "01|12|01||02"), ("split(when, '-', -1)", "02|31T23:59:59.5Z|02 03:04+01:00||29T00:00:00Z"),
    ("split(when, '-', 4)", "||||"), ("split(name, '  ', 1)", 'Ann|b\xf6b|"C, ""d"""||x'), ("pad(region, 3)", "  n|  s|  n|  s|  w"),
    ("pad(region, -3, '.')", "n..|s..|n..|s..|w.."), ("pad(qty, 4, '0')", "0002|0003||-1e2|123456789012345678"),
    ("pad(region, 6, 'ab\xf6')", "ab\xf6abn|ab\xf6abs|ab\xf6abn|ab\xf6abs|ab\xf6abw"), ("trim(concat('  ', name, ' '))", 'Ann|b\xf6b|"C, ""d"""||x'),
    ("qty > 2", "0|1||0|1"), ("not qty > 2", "1|0||1|0"), ("qty > 2 or name is missing", "0|1||1|1"), ("qty > 2 and price < 1", "0|1|0|0|0"),
    ("qty is missing", "0|0|1|0|0"), ("(qty > 2) + (qty > 1) * 2", "2|3||0|3"), ("if(qty > 2, price > 5, 7)", "7|0|7|7|1"),
    ("coalesce(qty = 2, 9)", "1|0|9|0|0"), ("(qty > 2) = (price > 2)", "1|0||1|1"), ("(qty > 2) is missing", "0|0|1|0|0"),
    ("not (qty > 2 and price > 2) or name = 'x'", "1|1||1|1"), ("contains(name, 'n')", "1|0|0||0"), ("starts_with(name, 'C,')", "0|0|1||0"),
    ("not ends_with(name, 'b')", "1|0|1||1"), ("contains(concat(name, '-'), region)", "1|0|0|0|0"), ("contains(when, qty)", "1|1|||0"),
    ("when contains qty", "1|1|||0"), ("region in ('n', 'w')", "1|0|1|0|1"), ("region = lower(name)", "0|0|0||0"), ("concat(qty = 2)", "1|0||0|0"),
    ("least(qty, price)", "1.50|0.10||-100|123456789012345678"), ("substring(name, 1, 1)", "A|b|C||x"),
    ("length(' ')", "1|1|1|1|1"), ("SubStr(concat(name, ',', qty), 3)", '"n,2"|"b,3"|" ""d"","|1e2|123456789012345678'),
] + ([("extract(when, '([0-9]+)-([0-9]+)', 2)", "01|12|01||02"), ("extract(when, '[0-9]+')", "2026|1969|2026||2000"),
      ("extract(when, '([0-9]+)Z')", "|5|||00"), ("extract(name, '^.')", "A|b|C||x")] if harness.has_patterns() else [])


def with_column(data, name, values):
    lines = [line for line in data.replace(b"\r\n", b"\r\0").split(b"\n") if line]
    lines = [part for line in lines for part in line.replace(b"\r\0", b"\r\n").split(b"\n")]
    out = []
    for line, value in zip(lines, [name] + values):
        end = b"\r\n" if line.endswith(b"\r") else b"\n"
        out.append(line.rstrip(b"\r") + b"," + value + end)
    return b"".join(out)


def check_meanings():
    for i, (text, values) in enumerate(MEANINGS):
        values = values.encode("latin-1").replace(b"\xf6", "ö".encode()).split(b"|")
        text = text.replace("\xf6", "ö")
        holds("x = " + text, ["--let", "x = " + text], DATA, prints(with_column(DATA, b"x", values)),
              ways(i, (1, 5, 16, None)))


def check_use():
    total = ["--let", "total = qty * price"]
    answers("a sum", [*total, "--sum=total", "--where=region != 'w'"], DATA, "3.29999999999999999900\n")
    answers("groups by it", ["--let", "k = if(qty > 2, 'big', 'small')", "--by=k", "--sum=price"], DATA,
            "k,sum(price)\nsmall,6.50000000000000000001\nbig,123456789012345679.00\n")
    answers("only groups", ["--let", "k = lower(region)", "--by=k"], DATA, "k,count\nn,2\ns,2\nw,1\n")
    answers("alone, only", ["--let=a = qty * 2", "--let=b = a + 1", "--only"], b"qty\n1\n2\n", "a,b\n2,3\n4,5\n")
    answers("between other new columns", ["--row-number", "--let=a = qty * 2", "--cumsum=a"], b"qty\n1\n2\n",
            "qty,row_number,a,running_sum(a)\n1,1,2,2\n2,2,4,6\n")
    answers("a name with a sign", ["--let", "`a*b` = qty * 2", "--sum", "a*b"], b"qty\n1\n2\n", "6\n")
    answers("a column with a sign", ["--let", "x = `p-q` * 2", "--sum", "x"], b"p-q\n1\n2\n", "6\n")
    answers("columns called as functions", ["--let", "x = round + min * round(abs, 1)", "--sum", "x"],
            b"round,min,abs\n1,2,3.14\n", "7.2\n")
    answers("by position, no header", ["--let", "x = :1 * :2", "--sum", "x"], b"1,2\n3,4\n", "14\n")
    answers("no header, printed", ["--let", "x = :1 * :2"], b"1,2\n3,4\n", "1,2,2\n3,4,12\n")
    answers("no records", ["--let", "x = a * 2", "--sum", "x"], b"a\n", "0\n")
    answers("no input", ["--let", "x = :1 * 2", "--sum", "x"], b"", "0\n")
    answers("count of texts", ["--let", "x = lower(t)", "--count=x", "--mode=x"], b"t\nA\na\n\n", "count(x),mode(x)\n2,a\n")
    answers("a condition on it", ["--let", "x = t * 2", "--where", "x between 3 and 5"], b"t\n1\n2\n3\n", "t,x\n2,4\n")
    answers("offsets of it", ["--let", "x = t * 2", "--offsets", "x > 2", "--only"], b"t\n1\n2\n3\n",
            "x,offset\n2,\n4,0\n6,1\n")
    answers("another notation", ["-d;", "--decimal=,", "--let", "x = a * 1.5"], b"a;b\n1,5;x\n2;y\n", "a;b;x\n1,5;x;2,25\n2;y;3,0\n")
    answers("a point that is the delimiter", ["--decimal=,", "--let", "x = a * 1.5"], b'a,b\n"1,5",x\n', 'a,b,x\n"1,5",x,"2,25"\n')
    answers("missing values", ["--missing=NA,0", "--let", "x = a - 1", "--let", "y = coalesce(a, 7)", "--count=x", "--sum=y"],
            b"a\nNA\n1\n2\n", "count(x),sum(y)\n2,10\n")
    answers("two files, other order", ["--let", "x = a * 10 + b", "--sum", "x", harness.fixture("one.csv", b"a,b\n1,2\n"),
                                       harness.fixture("two.csv", b"b,a\n3,4\n")], None, "55\n")
    answers("ragged records", ["--ragged=allow", "--let", "x = coalesce(b, 5)", "--sum", "x"], b"a,b\n1\n1,2\n", "7\n")
    answers("whitespace", ["-W", "--let", "x = a * b", "--sum", "x"], b"a  b\n1  2\n 3 4\n", "14\n")
    many = b"a,b\n" + b"".join(b"%d,%d.5\n" % (i, i % 7) for i in range(50000))
    total = sum(i * (2 * (i % 7) + 1) * 5 for i in range(50000))
    holds("many records", ["--let", "x = a * b", "--sum", "x"], many, prints("%d.%d\n" % divmod(total, 10)), ways(0, (1000, None)))


def check_signs():
    """Signs need no blanks; a column whose name has one, letter by letter, is that column, the longest one."""
    plain, signed = b"a,b,c\n7,2,3\n", b"a,b,a-b,c,b+1,a-b+1,2024-01,1e-5,a/b\n7,2,30,3,50,70,110,130,170\n"
    for expression, without, with_names in (
            ("a-b", "5", "30"), ("a - b", "5", "5"), ("a -b", "5", "5"), ("a- b", "5", "5"), ("a-1", "6", "6"), ("a -1", "6", "6"),
            ("a+1", "8", "8"), ("b+1", "3", "50"), ("b + 1", "3", "3"), ("b+1*2", "4", "100"), ("b+10", "12", "12"), ("b+1.5", "3.5", "3.5"),
            ("a-b+1", "6", "70"), ("a-b-c", "2", "27"), ("a-b+1-c", "3", "67"), ("(a-b)", "5", "30"), ("-a-b", "-9", "-30"),
            ("a*-1", "-7", "-7"), ("a--1", "8", "8"), ("a+-1", "6", "6"), ("2*b-1", "3", "3"), ("a*5-3", "32", "32"),
            ("1e-5*100000", "1.00000", "1.00000"), ("1e2-1", "99", "99"), ("a/b", "3.5", "170"), ("a/b/2", "1.75", "85"),
            ("max(a-b,b+1)", "5", "50"), ("`a`-b", "5", "5"), ("col1-b", "5", "5"), (":1-b", "5", "5"),
            ("if(a > 5, a-b, 0)", "5", "30"), ("abs(b-a)", "5", "5"), ("a-bb", None, None), ("2024-01 + 0", None, "110")):
        for data, want in ((plain, without), (signed, with_names)):
            args = ["--headers", "--let", "x = " + expression, "--select", "x"]
            if want is None:
                harness.is_(harness.run(args, data).status, 2, "x = %s: refused" % expression)
            else:
                answers("x = %s of %s" % (expression, data.split(b"\n")[0].decode()), args, data, "x\n%s\n" % want)
    for condition, want in (("a-b = 30", "1"), ("a-b > b+1", "0"), ("b+1 in (1, 50)", "1"), ("a-b+1 between 70 and 70", "1"),
                            ("not a-b is missing", "1"), ("a-b contains '3'", "1"), ("a/b = 170 and a-b = 30", "1"), ("2024-01 = 110", "1"),
                            ("c > 1e-5", "1")):
        answers("--where " + condition, ["--where", condition, "--count-records"], signed, want + "\n")
    answers("--offsets", ["--offsets", "a-b > 1", "--only"], signed, "offset\n0\n")
    answers("a condition of if()", ["--let", "x = if(a-b > 1, b+1, 0)", "--sum", "x"], signed, "50\n")
    answers("a computed column of such a name", ["--let", "`u-v` = a", "--let", "x = `u-v` - 1", "--sum", "x"], plain, "6\n")
    answers("groups", ["--let", "x = a-b", "--by", "c", "--sum", "x"], signed, "c,sum(x)\n3,30\n")
    answers("parts have the names", ["--merge"],
            harness.run(["--let", "x = a-b", "--sum", "x", "--where", "b+1 = 50", "--partial"], signed).out, "30\n")
    answers("another order in another file", ["--let", "x = a-b", "--sum", "x", harness.fixture("1.csv", b"a,b,a-b\n1,2,3\n"),
                                              harness.fixture("2.csv", b"a-b,b,a\n10,2,3\n")], None, "13\n")
    answers("no header", ["--header=no", "--let", "x = :1-:2", "--sum", "x"], b"7,2\n", "5\n")
    refuses("no header, no names", ["--header=no", "--where", "a-b = 1"], b"7,2\n", 2, "unknown column 'a'")
    answers("a name that is a number is none", ["--let", "x = a-5", "--sum", "x"], b"a,-5\n7,1\n", "2\n")
    holds("many records", ["--let", "x = a-b", "--sum", "x"], b"a,b,a-b\n" + b"1,2,3\n" * 500, prints("1500\n"), ways(0, (7, 100, None)))


# Conditions that calculate, and the same by columns that are computed before.
CALCULATED = (
    ("bytes+1 > 2", "--let 'x = bytes+1' --where 'x > 2'"),
    ("a-b > 2", "--let 'x = a-b' --where 'x > 2'"),
    ("a*b > 2 and a/2 = 1", "--let 'x = a*b' --let 'y = a/2' --where 'x > 2 and y = 1'"),
    ("-a > 2", "--let 'x = -a' --where 'x > 2'"),
    ("a > -b", "--let 'x = -b' --where 'a > x'"),
    ("a > 1/3", "--let 'x = 1/3' --where 'a > x'"),
    ("a/3 > 2.3333333333333333", "--let 'x = a/3' --where 'x > 2.3333333333333333'"),
    ("p > q+1", "--let 'z = q+1' --where 'p > z'"),
    ("(a + 1)*2 > 2", "--let 'x = (a + 1)*2' --where 'x > 2'"),
    ("not (a + 1 > 2)", "--let 'x = a + 1' --where 'not (x > 2)'"),
    ('lower(c) = "x"', "--let 'x = lower(c)' --where 'x = \"x\"'"),
    ("abs(a) is missing", "--let 'x = abs(a)' --where 'x is missing'"),
    ("a between b-1 and b+1", "--let 'x = b-1' --let 'y = b+1' --where 'a between x and y'"),
    ("a in (b+5, 2)", "--let 'x = b+5' --where 'a in (x, 2)'"),
    ("round(a, 1) >= max(a, b)", "--let 'x = round(a, 1)' --let 'y = max(a, b)' --where 'x >= y'"),
    ("upper(c) contains 'X'", "--let 'x = upper(c)' --where \"x contains 'X'\""),
)


def check_calculated():
    """A condition may calculate: with the answers of computed columns."""
    data = b"bytes,a,b,c,p,q\n5,7,2,X,1,2\n6,0,3,a,9,1\n0,,1,,2,5\n"
    for condition, other in CALCULATED:
        want = harness.run(shlex.split(other) + ["--count-records"], data)
        harness.ok(want.status == 0 and not want.err, "it runs: " + other, lambda r=want: harness.describe(r))
        answers(condition, ["--where", condition, "--count-records"], data, want.out)
    answers("--offsets", ["--offsets", "a+1 > 2", "--only"], data, "offset\n0\n\n\n")
    answers("in if()", ["--let", "t = if(a+1 > 2, 1, 0)", "--sum", "t"], data, "1\n")
    answers("many", ["--where", " or ".join("a+%d = 9" % i for i in range(30)), "--count-records"], data, "2\n")
    many = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(20000))
    for condition, test in (("a - b > 100 and a / 4 < 2000", lambda a, b: a - b > 100 and a < 8000),
                            ("a * 3 in (b, 300, 301, 303)", lambda a, b: a * 3 in (b, 300, 303)),
                            ("lower(a) = upper(b)", lambda a, b: a == b)):
        want = sum(test(i, i % 7) for i in range(20000))
        holds("many records: " + condition, ["--where", condition, "--count-records"], many, prints("%d\n" % want), ways(0, (1000, None)))
    for text, words in (("a + = 2", "expected a column or a value"), ("a = -", "not the end"), ("a > b +", "not the end"),
                        ("* 2 > 1", "expected a column"), ("a > 2024-01-02", "a date is text: write it in quotes"),
                        ("sqr(a) > 1", "no function of this name (try "), ("a + 'x' > 1", "a number is needed, not a text"),
                        ("1 + 1 = 2", "no column is in this condition")):
        refuses("--where " + text, ["--where", text], b"a,b\n1,2\n", 2, words)
    for args, data, parts in (
            (["--where", "a + 1 > 2"], b"a,b\n1,3\nx,1\n", ("<stdin>:3:", "column 'a'", "not a number: 'x'")),
            (["--where", "b > 2 * a", "--count-records"], b"a,b\n1,3\nx,1\n", ("<stdin>:3:", "column 'a'", "not a number: 'x'")),
            (["--where", "a * b > 1"], b"a,b\n1e300,1e300\n", ("<stdin>:2:", "column 'a'", "beyond 10^-400 to 10^400", "1e600")),
            (["--let", "c = if(a + 1 > 1, 1, 2)", "--sum=c"], b"a,b\n1,3\nx,1\n", ("<stdin>:3:", "column 'c'", "not a number: 'x'"))):
        r = harness.run(args, data)
        harness.ok(r.status != 0 and all(part in r.err.decode() for part in parts), "a value at fault: " + " ".join(args),
                   lambda r=r: harness.describe(r))


def check_manual():
    """The examples of the manual's chapter EXPRESSIONS: .Ql EXPR = VALUE. Each function of --help expr has one."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "man", "gpustat.1"), encoding="utf-8") as f:
        chapter = re.search(r"^\.Sh EXPRESSIONS\n(.*?)^\.Ss ROUNDED", f.read(), re.M | re.S)[1]
    examples = re.findall(r"^\.Ql (.*[(%/*].*) = (.*?)(?: [,.:])?$", chapter, re.M)
    plain = lambda text: text.replace("\\-", "-").replace("\\(dq", '"').replace("\\(aq", "'").replace("\\e", "\\")  # noqa: E731
    for text, value in examples:
        if "extract(" not in text or harness.has_patterns():
            answers("the manual: %s = %s" % (text, value), ["--let", "x = " + plain(text), "--only"], b"n\n7\n", "x\n%s\n" % plain(value))
    told = harness.run(["--help", "expr"]).out.decode()
    harness.ok(all(len(line) < 80 for line in told.split("\n")), "--help expr fits a terminal", lambda: told)
    for name in re.findall(r"^  (\w+)\(", told, re.M):
        harness.ok(any(re.search(r"\b%s\(" % name, text) for text, _ in examples), "the manual has an example of %s()" % name)


CARETS = [("x", 1), ("x =", 3), ("= 1", 0), ("x = 1 +", 7), ("x = a-", 6), ("x = a+*b", 6), ("x = 2025-03-01", 8), ("x = a*2025-03", 10),
          ("x = 'a' * 2", 4), ("x = 2 * lower(a)", 8), ("x = nosuch(a)", 4), ("x = a - lag(a)", 8), ("x = sum(*)", 8), ("x = '5' - a", 4), ("x = substr(a)", 12), ("x = round(a, )", 13), ("x = left(a, 1.5)", 12), ("x = substr(a, 0)", 14),
          ("x = split(a, '', 1)", 13), ("x = extract(a, b)", 15), ("x = extract(a, 'b', 1)", 20), ("x = round(a, b)", 13),
          ("x = round(a, 401)", 13), ("x = if(a, 1, 2)", 8), ("x = if(a > 1, 2)", 15), ("x = (a", 6),
          ("x = a)", 5), ("x = a b", 6), ("x = 0x1", 4), ("x = 1e500", 4), ("x = a ^ 2", 6), ("x == 1", 2), (":1 = 2", 0),
          ("x = if(a ~ '(', 1, 2)", 13), ("x = a = b = 1", 10), ("x = contains(a)", 14), ("x = contains(a, '')", 16)]


def check_refused():
    for text, column in CARETS:
        if "~" in text and not harness.has_patterns():
            continue
        r = harness.run(["--let", text], b"a,b\n1,2\n")
        lines = r.err.decode().split("\n")
        harness.ok(r.status == 2 and not r.out and len(lines) > 2 and lines[1] == text and lines[2] == " " * column + "^",
                   "--let %s: a caret under column %d" % (text, column), lambda r=r: harness.describe(r))
    refuses("a date", ["--let", "x = 2025-03-01"], b"a\n1\n", 2, "write it in quotes")
    refuses("an unknown column", ["--let", "x = c * 2"], b"a,b\n1,2\n", 2, "'c'")
    refuses("a later one", ["--let", "x = y * 2", "--let", "y = a"], b"a,b\n1,2\n", 2, "'y'")
    refuses("itself", ["--let", "x = x * 2"], b"a,b\n1,2\n", 2, "'x'")
    refuses("a name that is there", ["--let", "b = a * 2"], b"a,b\n1,2\n", 2, "already", "'b'")
    refuses("a name twice", ["--let", "x = a", "--let", "x = b"], b"a,b\n1,2\n", 2, "two new columns")
    refuses("a name in a condition", ["--where", "y > 1", "--let", "x = a"], b"a,b\n1,2\n", 2, "'y'")
    answers("many conditions", ["--let", "x = " + " + ".join(["if(a > 1, 1, 2)"] * 65), "--only"], b"a\n1\n", "x\n130\n")
    answers("a long expression", ["--let", "x = 1" + " + 1" * 20000, "--only"], b"a\n1\n", "x\n20001\n")
    refuses("numbers that hold the delimiter", ["--quote=none", "-d-", "--let", "x = :1 * 2"], b"1-2\n", 2, "delimiter")
    refuses("too deep", ["--let", "x = " + "(" * 300 + "a" + ")" * 300], b"a\n1\n", 2)
    refuses("too many at once", ["--let", "x = " + "1 + 2 * (" * 100 + "a" + ")" * 100], b"a\n1\n", 2, "too many values at once")
    whens = " ".join("when %d then %d" % (i, i * i) for i in range(199))
    answers("a long case", ["--let", "x = case a %s end" % whens, "--only"], b"a\n1\n198\n199\n", "x\n1\n39204\n\n")
    refuses("too long a case", ["--let", "x = case a %s when 7 then 1 when 8 then 2 end" % whens], b"a\n1\n", 2, "case")
    answers("many ||", ["--let", "x = " + "a = 2 || " * 12000 + "a = 1", "--only"], b"a\n1\n", "x\n1\n")
    refuses("|| within itself", ["--let", "x = a = 'x' || " + "(a = 'x' || " * 150 + "a = 1" + ")" * 150 + " || 1 +"], b"a\n1\n", 2, "not the end")


def check_faults():
    data = b"id,a,t\n1,2,x\n2,abc,y\n3,4,z\n"
    for i, (let, parts) in enumerate([
            ("x = a * 2", ("<stdin>:3:", "column 'x'", "not a number: 'abc'")),
            ("x = 1 + a / 3", ("<stdin>:3:", "column 'x'", "'abc'")),
            ("x = if(a > 1, 1, 2)", ("<stdin>:3:", "column 'x'", "not a number: 'abc'")),
            ("x = if(id = 2, 1e300, 1) * 1e300", ("<stdin>:3:", "column 'x'", "beyond 10^-400 to 10^400", "1e600")),
            ("x = if(id = 2, 1e-300, 1) * 1e-300", ("<stdin>:3:", "column 'x'", "beyond 10^-400 to 10^400", "1e-600")),
            ("x = if(id = 2, epoch(t), 0) + 1", ("<stdin>:3:", "column 'x'", "'y'"))]):
        holds("a fault ends the records: " + let, ["--let", let], data,
              breaks(b"id,a,t,x\n1,2,x," + {0: b"4", 1: b"1.6666666666666667", 2: b"1", 3: b"1" + b"0" * 300,
                                            4: b"0." + b"0" * 299 + b"1", 5: b"1"}[i] + b"\n", *parts), ways(i))
        holds("and a result: " + let, ["--let", let, "--sum=x"], data, breaks(b"", *parts), ways(i, (1, 9, None)))
        holds("and one by group: " + let, ["--let", let, "--sum=x", "--by=t"], data, breaks(b"", *parts), ways(i, (1, 9, None)))
    r = harness.run(["--let=x = a * 2", "--sum=x", "--invalid=skip"], data)
    harness.ok(r.status == 0 and r.out == b"12\n" and b"1 value of column 'x' left out: <stdin>:3: not a number: 'abc'" in r.err,
               "--invalid skip leaves it out", lambda: harness.describe(r))
    r = harness.run(["--let=x = if(id = 2, 1e300, 1) * 1e300", "--only", "--invalid=skip"], data)
    harness.ok(r.status == 0 and r.out == b"x\n1%s\n\n1%s\n" % (b"0" * 300, b"0" * 300) and b"left out" in r.err,
               "--invalid skip leaves out what is beyond the range", lambda: harness.describe(r))
    answers("what nobody asks for is not looked at", ["--let=x = a * 2", "--sum=id"], data, "6\n")
    answers("a record that is not taken", ["--let=x = a * 2", "--where=id != 2"], data, "id,a,t,x\n1,2,x,4\n3,4,z,8\n")
    answers("wide room", ["--let=x = %s * a" % ("9" * 390), "--where", "id < 0"], b"id,a\n" + b"1,2\n" * 5000, "id,a,x\n")
    value = b"%d" % (int("9" * 390) * 2)
    holds("many long values", ["--let=x = %s * a" % ("9" * 390), "--only"], b"id,a\n" + b"1,2\n" * 5000,
          prints(b"x\n" + (value + b"\n") * 5000), ways(0, (None, 20000)))


# What is said of a value that no field of the input has. Expressions, what reads z, the place, the column and the words.
A_TEXT = b"id,old\n1,x\n2,3\n"
LONG = b"a\n" + b"7" * 70 + b"x\n3\n"
STEPS = b"x,v\n" + b"a" * 5000 + b"b,1\n2,3\n"
KEPT = [
    (["a = lower(old)"], "--where=a > 1", A_TEXT, "a", "not a number: 'x'"),
    (["a = lower(old)"], "--offsets=a > 1", A_TEXT, "a", "not a number: 'x'"),
    (["a = lower(old)"], "--where=a != id", A_TEXT, "a", "cannot be compared with the other value: 'x'"),
    (["a = lower(old)", "d = if(a=1,0,1)"], None, A_TEXT, "d", "not a number: 'x'"),
    (["a = lower(old)", "d = if(a=1,0,1)"], "--sum=d", A_TEXT, "d", "not a number: 'x'"),
    (["c = if(old=\"x\",\"y\",old)"], "--where=c > 1", A_TEXT, "c", "not a number: 'y'"),
    (["c = coalesce(old,\"none\")", "d = \"y\""], "--where=d > 1", A_TEXT, "d", "not a number: 'y'"),
    (["a = old > 1"], "--sum=a", A_TEXT, "a", "not a number: 'x'"),
    (["a = coalesce(not old > 1 and id > 0, 5)"], None, A_TEXT, "a", "not a number: 'x'"),
    (["a = if(id = 1, old + 1, \"t\")"], None, A_TEXT, "a", "not a number: 'x'"),
    (["a = lower(old + 1)"], None, A_TEXT, "a", "not a number: 'x'"),
    (["a = length(old + 1)"], "--sum=a", A_TEXT, "a", "not a number: 'x'"),
    (["a = coalesce(old * 2, \"none\")"], "--by=a", A_TEXT, "a", "not a number: 'x'"),
    (["a = old * 2"], "--where=a = \"x\"", A_TEXT, "a", "not a number: 'x'"),
    (["a = old * 2"], "--lead=a", A_TEXT, "a", "not a number: 'x'"),
    (["a = old * 2"], "--tail=1", A_TEXT, "a", "not a number: 'x'"),
    (["a = old * 2"], "--text-min=a", A_TEXT, "a", "not a number: 'x'"),
    (["a = old * 2"], "--mode=a", A_TEXT, "a", "not a number: 'x'"),
    (["z = upper(a)"], "--sum=z", LONG, "z", "not a number: '" + "7" * 70 + "X'"),
    (["z = upper(a)"], "--where=z > 1", LONG, "z", "not a number: '" + "7" * 70 + "X'"),
    (["c = a*a"], "--where=c > 1", b"a\n1e300\n", "c", "number beyond 10^-400 to 10^400: '1e600'"),
    (["z = a*100"], "--where=z > 1", b"id,a\n1,1e399\n2,3\n", "z", "number beyond 10^-400 to 10^400: '1e401'"),
    (["z = if(a > 1, a*100, \"t\")"], None, b"id,a\n1,1e399\n2,3\n", "z", "number beyond 10^-400 to 10^400: '1e401'"),
    (["z = a/0.001"], "--sum=z", b"a\n1e399\n3\n", "z", "number beyond 10^-400 to 10^400: '1000"),
    (["z = a/1e300/1e300"], "--mean=z", b"a\n3\n3\n", "z", "number beyond 10^-400 to 10^400: '0.000"),
    (["z = a + 1"], "--where=z > 1", b"a\n3e400\n", "z", "number beyond 10^-400 to 10^400: '3e400'"),
    (["z = lower(a)"], "--where=z > 1", b"a,b\nA\0,2\n", "z", "NUL byte in 'a\\x00'"),
    (["z = epoch(t)"], None, b"t\n2024\n", "z", "not an ISO date: '2024' (try time(t, \"%d.%m.%Y %H:%M\") for another form than 2024-01-05T10:15:00Z)"),
    (["z = epoch(t)"], "--sum=z", b"t,u\n45296.5,1\n", "z", "not an ISO date: '45296.5'"),
    (["z = epoch(t)"], "--where=z > 1", b"t\n1714557600123\n", "z", "not an ISO date: '1714557600123'"),
    (["z = if(u = 1, epoch(t), \"\")"], "--by=z", b"t,u\n20240105101500,1\n", "z", "not an ISO date: '20240105101500'"),
    (["z = epoch(t) + 1"], "--cumsum=z", b"t,u\n20240230,1\n", "z", "not an ISO date: '20240230'"),
]
TOO_MANY = "a regular expression takes too many steps on this value: "
KEPT_PATTERNS = [
    (["n = upper(x)"], "--where=n ~ \"(A+)+$\"", STEPS, "n", TOO_MANY + "AAAA"),
    (["n = upper(x)", "m = if(n ~ \"(A+)+$\", 1, 2)"], None, STEPS, "m", TOO_MANY + "AAAA"),
    (["m = if(x ~ \"(a+)+$\", 1, 2)"], "--sum=m", STEPS, "m", TOO_MANY + "aaaa"),
]


def check_kept():
    for i, (lets, use, data, column, words) in enumerate(KEPT + (KEPT_PATTERNS if harness.has_patterns() else [])):
        args = [a for let in lets for a in ("--let", let)] + ([use] if use else [])
        place = "<stdin>:2: column '%s': %s" % (column, words)
        prints_records = not use or use.split("=")[0] in ("--where", "--offsets", "--lead", "--tail", "--cumsum")
        header = harness.run(args, data).out if prints_records else b""
        holds("of %s: %s" % (" ".join(args), words[:40]), args, data, breaks(header, place), ways(i, (1, 2, 7, None)))
        path = harness.fixture("kept%d.csv" % i, data)
        r = harness.run([*args, "--invalid=skip", "--max-invalid=0", path], chunk=7, threads=8)
        harness.ok(r.status == 1 and place.replace("<stdin>", path).encode() in r.err and b"; --invalid skip leaves out " in r.err,
                   "--max-invalid: " + " ".join(args), lambda r=r: harness.describe(r))
        if prints_records:
            continue
        part = harness.run([*args, "--invalid=skip", "--partial", path, path], chunk=2)
        if part.status == 0:
            merged = harness.run(["--merge", harness.fixture("kept%d.part" % i, part.out)])
            whole = harness.run([*args, "--invalid=skip", path, path])
            harness.ok((merged.status, merged.out, merged.err) == (whole.status, whole.out, whole.err), "in a part: " + " ".join(args),
                       lambda m=merged, w=whole: harness.describe(m) + harness.describe(w))


def check_missing_rule():
    """--missing names values of the input, and none that --let has made."""
    data = b"a,b\n5,NA\n2,x\n3,y\n"
    # What a column takes over is missing where the input's value is, and printed as it stands there.
    for let, column, missing in (("z = a + 3", "|5|6", 0), ("z = if(a > 2, a, 5)", "5|5|3", None), ("z = lower('5')", "5|5|5", None),
                                 ("z = a", "5|2|3", 0), ("z = coalesce(a, 5)", "5|2|3", None), ("z = 5", "5|5|5", None)):
        args, shown = ["--header=yes", "--missing=5,NA", "--let", let], column.split("|")
        values = ["" if i == missing else v for i, v in enumerate(shown)]
        answers(let + ": in records", [*args, "--only"], data, "z\n" + "".join(v + "\n" for v in shown))
        keys = list(dict.fromkeys(shown))
        answers(let + ": in keys", [*args, "--by=z", "--count-records"], data,
                "z,records\n" + "".join("%s,%d\n" % (k, shown.count(k)) for k in keys))
        answers(let + ": in results", [*args, "--sum=z", "--count=z"], data,
                "sum(z),count(z)\n%d,%d\n" % (sum(int(v or 0) for v in values), sum(v != "" for v in values)))
        answers(let + ": in conditions", [*args, "--where=z = 5", "--count-records"], data, "%d\n" % values.count("5"))
        answers(let + ": missing", [*args, "--where=z is missing", "--count-records"], data, "%d\n" % values.count(""))
        answers(let + ": once more", [*args, "--let=y = z", "--sum=y"], data, "%d\n" % sum(int(v or 0) for v in values))
        answers(let + ": so far", [*args, "--select=b", "--fill-down=z", "--running-count=z"], data, "b,filled(z),running_count(z)\n" +
                "".join("%s,%s,%d\n" % (b, next((w for w in values[i::-1] if w), ""), sum(w != "" for w in values[:i + 1]))
                        for i, b in enumerate(("NA", "x", "y"))))
    answers("a text", ["--missing=NA", "--let", "z = coalesce(b, 'none')", "--only"], data, "z\nnone\nx\ny\n")
    answers("its spelling", ["--missing=NA", "--let", "z = coalesce(b, 'NA')", "--only"], data, "z\nNA\nx\ny\n")


def check_literals():
    """A text with a byte that means something in the dialect is what it is, printed and read again."""
    data = b"a,b\nx\\,y,1\n"
    for dialect in (["--quote=none", "--escape=\\"], ["--escape=\\"]):
        for text, raw in (("p,q", b"p\\,q"), ("p\\q", b"p\\\\q"), ("\\", b"\\\\"), (",,", b"\\,\\,"),
                          ('u"v', b'u"v' if len(dialect) > 1 else b'u\\"v')):
            let = ["--header=yes", *dialect, "--let", "z = '%s'" % text]
            name = "%s: '%s'" % (" ".join(dialect), text)
            answers(name, [*let, "--only"], data, b"z\n" + raw + b"\n")
            answers(name + " again", ["--header=yes", *dialect, "--where", "z = '%s'" % text, "--let", "n = length(z)", "--only"],
                    b"z,b\n" + raw + b",1\n", "n\n%d\n" % len(text))
            answers(name + " is equal", [*let, "--where", "z = '%s'" % text, "--count=z"], data, "1\n")
    refuses("neither quotes nor an escape byte", ["--quote=none", "--let", "z = 'p,q'"], data, 2, "cannot be written in this input without --escape")


DATES = [("20240105", 1704412800), ("20240229", 1709164800), (" 20240105 ", 1704412800), ("20240105T101500Z", 1704449700),
         ("20240105T1015", 1704449700), ("20240105T101500+0200", 1704442500), ("20240105 101500,25", "1704449700.25"),
         (" 2024-01-05", 1704412800), ("2024-01-05T10:15:00Z ", 1704449700)]
NO_DATES = ["20240230", "20241301", "2024010", "202401051", "20240105T", "20240105T10", "20240105T10150", "20240105T10:15:00",
            "2024-01-05T101500", "20240105.5", "-20240105", "20240105T1015Zx", "2024", "45296.5", "1714557600"]


def check_dates():
    for text, seconds in DATES:
        answers("epoch of '%s'" % text, ["--let", "e = epoch(t)", "--only"], b't,u\n"%s",1\n' % text.encode(), "e\n%s\n" % seconds)
    for text in NO_DATES:
        refuses("no date: " + text, ["--let", "e = epoch(t)", "--sum=e"], b"t,u\n%s,1\n" % text.encode(), 1,
                "<stdin>:2: column 'e': not an ISO date: '%s'" % text)


def random_table(rng):
    numbers = (b"", b"0", b"1", b"-2", b"3.5", b"0.001", b"-12.50", b'"7"', b" 8 ", b"1e3", b"2.5E-3", b"999999999999999999",
               b"-123456789012345678.9", b"12345678901234567890123", b"1e-25", b"0.10", b"+4")
    texts = (b"", b"a", b"Abc", b'"x,Y"', b'"say ""HI"""', "grÖße".encode(), b"  pad ", b"12")
    dates = (b"", b"2026-11-23", b"1969-12-31T23:59:58.25Z", b"2000-02-29 12:30", b'"2024-01-01T00:00:00+02:00"',
             b'"1600-03-01T01:02:03,5-0130"', b"9999-12-31T23:59:60Z")
    return [dict(zip("abtdg", (rng.choice(numbers), rng.choice(numbers), rng.choice(texts), rng.choice(dates),
                               rng.choice((b"x", b"y", b"")))))
            for _ in range(rng.choice((1, 5, 63, 64, 65, 200)))]


def check_no_name():
    """A new column whose name cannot be read, with others and with conditions beside it."""
    message = b"gpustat: --let: expected the new column's name: NAME = EXPR\n"
    for name in ('12" disk', "5", "'x'"):
        for beside in ([], ["--where=a > 1"], ["--let=b = 2"], ["--sum=a"], ["--offsets=a > 1", "--where=not (+0. != a)"]):
            for data in (b"", b"a\n", b"a\n1\n"):
                r = harness.run(["--let=%s=abs(2)" % name] + beside, data)
                harness.ok(r.status == 2 and r.out == b"" and r.err.startswith(message), "no name: %s %s" % (name, beside),
                           lambda r=r: harness.describe(r))


def check_chain():
    """Each column takes the one before twice: that costs no more for each than once."""
    lets = ["--let=z1 = v + v"] + ["--let=z%d = z%d + z%d" % (i, i - 1, i - 1) for i in range(2, 61)]
    for args, want in ((["--sum=z60"], "3458764513820540928\n"), (["--by=z60"], "z60,count\n1152921504606846976,1\n2305843009213693952,1\n"),
                       (["--where=z60 > 2e18", "--select=v"], "v\n2\n")):
        harness.answers("a chain of 60 columns: " + args[0], ["--header=yes"] + lets + args, b"v\n1\n2\n", want)


def check_random():
    nprinted, first = 0, int(os.environ.get("GPUSTAT_TEST_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("GPUSTAT_TEST_CASES", "250"))):
        rng = random.Random(seed)
        rows, lets = random_table(rng), []
        numbers, texts, names = ["a", "b"], ["t"], list("abtdg")
        for k in range(rng.choice((1, 1, 2, 3))):
            name = "x%d" % k
            if rng.randrange(4):
                tree = Draw(rng, numbers, texts, ["d"]).number(rng.randrange(1, 4))
                numbers.append(name)
            else:
                tree = Draw(rng, numbers, texts, ["d"]).text(rng.randrange(1, 4))
                texts.append(name)
            lets += ["--let", name + " = " + spell(tree, rng)]
            names.append(name)
            for row in rows:
                try:
                    row[name] = evaluate(tree, row)
                except Invalid:
                    row[name] = None
                    rows = [r for r in rows if r is not row]
        if not rows:
            continue
        body = [b",".join(write(row[n]) for n in names) + b"\n" for row in rows]
        source = b"a,b,t,d,g\n" + b"".join(b",".join(row[n] for n in "abtdg") + b"\n" for row in rows)
        whole = ",".join(names).encode() + b"\n" + b"".join(body)
        nprinted += len(rows) > 0
        holds("random %d: %s" % (seed, lets[1]), lets, source, prints(whole), ways(seed, (1, 7, 64, None)))
        compare(rng, seed, lets, names, numbers, rows, source, whole)
    harness.ok(nprinted > (seed - first) * 3 // 4, "and most of them have records")


ROUNDED = ("sum", "mean", "min", "max", "range", "median", "var", "stddev")


def compare_rounded(rng, seed, lets, x, rows, source):
    """Results over a column of which values were rounded, of all records and by group."""
    values = [oracle_let.number(row[x]) for row in rows if not oracle_let.is_missing(row[x])]
    sizes = [oracle_let.fraction(v) for v in values]
    close = max(map(abs, sizes)) > (max(sizes) - min(sizes)) * 10 ** 8 or any(v.rounded and oracle_let.ndigits(v) < 30 for v in values)
    asked, groups = rng.sample(ROUNDED[:6] if close else ROUNDED, 3), {}    # a deviation of such values has fewer digits
    for row in rows:
        groups.setdefault(row["g"], []).append(row[x])
    groups = {g: [oracle_let.number(v) for v in values if not oracle_let.is_missing(v)] for g, values in groups.items()}
    groups = {g: values for g, values in groups.items() if any(v.rounded for v in values)}
    by_group = "".join("%s,%s\n" % (g.decode(), ",".join(oracle_let.result(o, values) for o in asked)) for g, values in groups.items())
    options = [*lets, *["--%s=%s" % (o, x) for o in asked]]
    keep = lambda out: b"".join(  # noqa: E731
        line + b"\n" for line in out.split(b"\n")[1:] if line and line.split(b",")[0] in groups)
    holds("random %d: %s by g of rounded values" % (seed, asked), [*options, "--by=g"], source,
          lambda r: None if r.status == 0 and keep(r.out) == by_group.encode() else "wanted: " + by_group, ways(seed, (1, 64, None)))
    wanted = ",".join(oracle_let.result(o, values) for o in asked)
    holds("random %d: %s of rounded values" % (seed, asked), options, source,
          lambda r: None if r.status == 0 and r.out.split(b"\n")[1] == wanted.encode() else "wanted: " + wanted, ways(seed, (1, 64, None)))


def compare(rng, seed, lets, names, numbers, rows, source, whole):
    """What is asked of computed columns is what is asked of the same columns in a file; but of values that were rounded
    the file has the first digits only."""
    x, y = numbers[-1], rng.choice(numbers)
    z = rng.choice(names)
    asked = rng.choice((["--sum=" + x], ["--sum", x, "--by", "g"], ["--max", x, "--mean", y, "--where", "%s > 1" % x],
                        ["--count-distinct", z, "--mode", z], ["--count", z, "--by", z], ["--median", x], ["--first", z, "--last", x],
                        ["--text-max", z, "--by", "g"], ["--corr", "%s:%s" % (x, y)], ["--stddev", x, "--by", "g"],
                        ["--where", "%s is number" % z, "--count-records"], ["--where", "%s in (0, 1, 2) or g = 'x'" % x, "--sum", x],
                        ["--min", x, "--by", "g," + z]))
    if any(isinstance(row[n], oracle_let.Number) and row[n].rounded for row in rows for n in numbers):
        if any(isinstance(row[x], oracle_let.Number) and row[x].rounded for row in rows):
            compare_rounded(rng, seed, lets, x, rows, source)
        asked = rng.choice((["--count-distinct", z, "--mode", z], ["--count", z, "--by", z], ["--text-max", z, "--by", "g"],
                            ["--where", "%s > 1" % x, "--count-records"], ["--where", "%s is number" % z, "--count-records"],
                            ["--lag", z, "--lead", z], ["--by", z, "--row-number"]))
    files = [harness.fixture("let-%d-%s.csv" % (seed, kind), data) for kind, data in (("source", source), ("whole", whole))]
    want = harness.run(asked + ["--header=yes", files[1]])
    holds("random %d: %s" % (seed, " ".join(asked)), lets + asked + ["--header=yes", files[0]], None,
          lambda r: None if (r.status, r.out) == (want.status, want.out) else "wanted: %s" % harness.describe(want), ways(seed, (1, 64, None)))


check_meanings()
check_use()
check_signs()
check_calculated()
check_manual()
check_refused()
check_faults()
check_kept()
check_missing_rule()
check_literals()
check_dates()
check_no_name()
check_chain()
check_random()
harness.done()
