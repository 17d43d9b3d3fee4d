# SPDX-License-Identifier: MIT
"""Random hostile tables and random requests over them, the same for the same seed.

A table has quoted and unquoted fields, delimiters, newlines and doubled quotes inside quotes, stray
quotes, text after a closing quote, CRLF and lone CR, blank lines, missing values, long records,
wide numbers; now and then one fault. make_case(seed) gives a Case.
"""
import random

import harness
import oracle

FAULTS = ("not a number", "short record", "out of range", "open quote")
SPELLINGS = (b"NA", b"null", b"-", b"n/a", b"-999")
DELIMITERS = (b",",) * 5 + (b";", b"\t", b"|", b"-", b".", b"5", b"e", b" ")
NAMES = (b"a", b"bytes", b"two words", b"x,y", b"semi;colon", b"say \"hi\"", b"12\" disk",
         b"line\nbreak", "größe".encode(), b"seconds", b"c_1", b"tab\there", b"p|q")
TEXTS = (b"", b"foo", b"x,y", b"a;b", b"1.2.3", b"12\" disk", b"\"", b"\"\"", b"line\none",
         b"\n", b"\r\n", b"nan", b"inf", b"0x10", b"--1", "ü€".encode(), b"tab\t", b" lead",
         b"1e", b".", b"+", b"lone\rcr", b"\0", b"\xff\xfe", b"a\"b\"c", b"end\"", b"e5", b"|")
NOT_NUMBERS = (b"abc", b"1x", b"1e", b"1.2.3", b"0x10", b"nan", b"1 2", b"--1", b".", b"e5")


class Case:
    """files: pairs (name, bytes). request: an oracle.Request."""
    def __init__(self, files, request):
        self.files, self.request = files, request


def number_text(rng, kind):
    sign = rng.choice(("", "", "", "-", "+"))
    if kind == "small":
        return sign + str(rng.randrange(10 ** rng.randrange(1, 5)))
    if kind == "int":
        return sign + str(rng.randrange(10 ** rng.randrange(1, 19)))
    if kind == "decimal":
        whole, places = rng.randrange(10 ** rng.randrange(1, 9)), rng.randrange(0, 7)
        part = "".join(rng.choice("0123456789") for _ in range(places))
        form = rng.randrange(8)
        if form == 0 and part:
            return sign + "." + part
        return sign + str(whole) + ("." + part if part or form == 1 else "")
    if kind == "edge":
        base = rng.choice((2 ** 63, 2 ** 64, 2 ** 127, 2 ** 128, 10 ** 18, 10 ** 19, 10 ** 38, 10 ** 9))
        text = str(base + rng.randrange(-2, 3))
        if rng.randrange(3) == 0:
            cut = rng.randrange(len(text) + 1)
            text = text[:cut] + "." + text[cut:]
        return sign + text
    if kind == "zeros":
        return sign + "0" * rng.randrange(1, 30) + rng.choice(("", "7", ".0", ".", ".000", ".00100"))
    if kind == "exponent":
        return "%s%d%s%s%s%d" % (sign, rng.randrange(10 ** 6), rng.choice(("", ".", ".5", ".250")),
                                 "e", rng.choice(("", "+", "-")), rng.randrange(0, 25))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 60)))
    return "%s%s.%se%d" % (sign, digits, digits[::-1][:20], rng.randrange(-300, 300))


def quoted(rng, content, split=True):
    """`content` as a quoted field; perhaps with its tail after the closing quote."""
    cut = len(content)
    if split and content and rng.randrange(5) == 0:
        cut = rng.randrange(len(content) + 1)
        tail = content[cut:]
        if tail[:1] == b'"' or any(c in b'",;|\t\r\n' for c in tail):
            cut = len(content)
    return b'"' + content[:cut].replace(b'"', b'""') + b'"' + content[cut:]


def must_quote(content, delimiter):
    return content[:1] == b'"' or any(c in delimiter + b"\n" for c in content) or content[-1:] == b"\r"


def encode(rng, content, delimiter, style):
    if must_quote(content, delimiter) or rng.randrange(100) < style:
        return quoted(rng, content)
    return content


def pad(rng, text, delimiter):
    blanks = b" " if delimiter == b"\t" else b" \t"
    if rng.randrange(12):
        return text
    return bytes(rng.choice(blanks) for _ in range(rng.randrange(3))) + text + \
        bytes(rng.choice(blanks) for _ in range(rng.randrange(3)))


def column_names(rng, n):
    names = rng.sample(NAMES, min(n, len(NAMES)))
    return names + [b"n%d" % k for k in range(len(names), n)]


def cell(rng, kind, missing, delimiter):
    """The content of a field and whether it may stand unquoted."""
    if rng.randrange(10) == 0:
        return rng.choice((b"", b"", b" ", *missing))
    if kind == "text":
        return rng.choice(TEXTS)
    if kind == "empty":
        return b""
    if kind == "mixed":
        kind = rng.choice(("small", "int", "decimal", "edge", "zeros", "exponent", "wide"))
    return pad(rng, number_text(rng, kind).encode(), delimiter)


def spell_item(rng, k, n, names):
    """An item of COLS that means column k, or, seldom, none."""
    if rng.randrange(60) == 0:
        return rng.choice((b"nosuch", b":%d" % (n + 1), b"%d" % (n + 7), b"0"))
    forms = [b":%d" % (k + 1), b"%d" % (k + 1), b"col%d" % (k + 1)]
    if names:
        name = names[k]
        if any(c in b",\r\n" for c in name) or name[:1] == b'"':
            name = b'"' + name.replace(b'"', b'""') + b'"'
        forms += [name] * 4
    return rng.choice(forms)


def make_request(rng, n, names, kinds, missing, delimiter, invalid):
    numeric = [k for k in range(n) if kinds[k] not in ("text", "empty")]
    operations = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 4))):
        operation = rng.choice(oracle.OPERATIONS)
        pool = list(range(n)) if operation == "count" else numeric
        form = rng.randrange(8)
        if form == 0 or not pool:
            operations.append((operation, b"*"))
            continue
        if form == 1 and len(pool) == n and n > 1:
            low = rng.randrange(n)
            high = rng.randrange(low, n)
            operations.append((operation, rng.choice((b"%d-%d" % (low + 1, high + 1),
                                                      b"%d-" % (low + 1), b"-%d" % (high + 1)))))
            continue
        chosen = rng.sample(pool, rng.randrange(1, min(3, len(pool)) + 1))
        operations.append((operation, b",".join(spell_item(rng, k, n, names) for k in chosen)))
    header = rng.choice(("auto", "auto", "auto", "yes" if names else "no"))
    format = rng.choice(("auto", "auto", "plain", "csv", "tsv", "json", "table"))
    if not operations:
        format = rng.choice(("auto", "csv", "csv", "json", "tsv", "table"))
    return oracle.Request(operations, header, missing, invalid, delimiter, format)


def make_case(seed, rows=None, request_of=None):
    """A Case from a seed. rows: how many records, None for some dozens at most. request_of: what
    makes the request, None for make_request()."""
    rng = random.Random(seed)
    delimiter = rng.choice(DELIMITERS)
    n = rng.choice((1, 1, 2, 3, 4, 6, 9))
    kinds = [rng.choice(("small", "int", "decimal", "decimal", "edge", "zeros", "exponent", "wide",
                         "mixed", "text", "text", "empty")) for _ in range(n)]
    names = column_names(rng, n) if rng.randrange(4) else None
    missing = rng.sample(SPELLINGS, rng.randrange(1, 4)) if rng.randrange(3) == 0 else []
    fault = rng.choice(FAULTS) if rng.randrange(6) == 0 else None
    invalid = "skip" if rng.randrange(5) == 0 else "error"
    style, eols = rng.choice((0, 5, 30, 100)), rng.choice(((b"\n",), (b"\r\n",), (b"\n", b"\r\n")))
    ragged, blanks = rng.randrange(3) == 0, rng.randrange(3) == 0
    nrows = rng.choice((0, 1, 2, 3, 5, 12, 40)) if rows is None else rows

    def encode_all(contents):
        return delimiter.join(encode(rng, c, delimiter, style) for c in contents)

    table = []
    for _ in range(nrows):
        fields = [cell(rng, kind, missing, delimiter) for kind in kinds]
        if invalid == "skip" and rng.randrange(4) == 0:
            if rng.randrange(3) or n == 1:
                fields[rng.randrange(n)] = rng.choice(NOT_NUMBERS)
            else:
                fields = fields[:rng.randrange(1, n)]
        if ragged and rng.randrange(6) == 0:
            fields += [rng.choice(TEXTS) for _ in range(rng.randrange(1, 4))]
        table.append(encode_all(fields))
    if fault and table:
        at = rng.randrange(len(table))
        if fault == "short record" and n > 1:
            table[at] = encode_all([cell(rng, kind, missing, delimiter)
                                    for kind in kinds[:rng.randrange(1, n)]])
        elif fault == "open quote":
            table[at] += delimiter + b'"tail'
        else:
            bad = rng.choice(NOT_NUMBERS) if fault == "not a number" else rng.choice(
                (b"1e400", b"-1e400", b"1e-401", b"1" * 401))
            fields = [cell(rng, kind, missing, delimiter) for kind in kinds]
            fields[rng.randrange(n)] = bad
            table[at] = encode_all(fields)
    head = encode_all(names) if names else None
    files = lay_out(rng, head, table, eols, blanks)
    return Case(files, (request_of or make_request)(rng, n, names, kinds, missing, delimiter, invalid))


def lay_out(rng, head, table, eols, blanks):
    """The records as one to three files, with line ends, blank lines, BOMs, repeated headers."""
    nfiles = rng.choice((1, 1, 1, 1, 2, 3))
    bounds = sorted(rng.randrange(len(table) + 1) for _ in range(nfiles - 1))
    files = []
    for k, (low, high) in enumerate(zip([0] + bounds, bounds + [len(table)])):
        lines = table[low:high]
        if head is not None and (k == 0 or rng.randrange(2)):
            lines = [head] + lines
        data = bytearray(b"\xef\xbb\xbf" if rng.randrange(8) == 0 else b"")
        for i, line in enumerate(lines):
            data += line + rng.choice(eols)
            if blanks and rng.randrange(5) == 0:
                data += rng.choice(eols) * rng.randrange(1, 4)
        if rng.randrange(3) == 0:
            for end in (b"\r\n", b"\n"):
                if data.endswith(end):
                    data = data[:-len(end)] + rng.choice((b"", b"", b"\r"))
                    break
        files.append(("part%d.csv" % k, bytes(data)))
    return files


# ---- the two kinds of differential test ----------------------------------------------------------

GROUP = 50  # cases a TAP line


def check_small(run_case, seed, cases, unclear_one_in):
    """`cases` small tables from `seed` on. run_case(seed) -> None (right), "unclear" (the contract is silent;
    no more than about one case in `unclear_one_in`), or what is wrong."""
    for first in range(seed, seed + cases, GROUP):
        seeds = range(first, min(first + GROUP, seed + cases))
        outcomes = [run_case(s) for s in seeds]
        unclear = outcomes.count("unclear")
        wrong = [o for o in outcomes if o not in (None, "unclear")]
        harness.ok(not wrong and unclear * unclear_one_in < len(seeds) + 3,
                   "hostile tables, seeds %d to %d" % (seeds[0], seeds[-1]),
                   lambda: "%d of %d wrong, %d unclear\n%s" % (len(wrong), len(seeds), unclear, "\n".join(wrong[:3])))


def check_large(run_case, seed, rows):
    """Eight tables of some hundred KiB, so that chunks of usual sizes have borders inside them."""
    done, seed = 0, seed + 10 ** 6
    while done < 8:
        outcome = run_case(seed, rows, [(None, None), (None, 1), (4096, 2), (1000, 3), (65536, 7), (333, 2)])
        if outcome != "unclear":
            done += 1
            harness.ok(outcome is None, "a large hostile table, seed %d" % seed, outcome or "")
        seed += 1
