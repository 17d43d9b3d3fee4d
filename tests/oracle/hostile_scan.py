# SPDX-License-Identifier: MIT
"""Random scans, filters and offsets over a hostile table, the same for the same state of rng.

make_request() is for hostile.make_case(): conditions of every form, mostly about columns that there
are, and new columns of every kind.
"""
import re

import hostile
import oracle_window
from oracle_request import RANK, RUNNING, WINDOWS
from oracle_scan import Scan

BARE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = (b"and", b"or", b"not", b"is", b"missing")
KINDS = ("small", "small", "int", "decimal", "edge", "zeros", "exponent", "wide")


PATTERNS = False    # whether the program has regular expressions: a test sets it


# ---- random conditions ----------------------------------------------------------------------

def spell_column(rng, k, n, names):
    if rng.randrange(80) == 0:
        return rng.choice((b"nosuch", b":%d" % (n + 1), b":0", b"`no such`"))
    forms = [b":%d" % (k + 1), b"col%d" % (k + 1)]
    if names:
        back = b"`" + names[k].replace(b"`", b"``") + b"`"
        bare = BARE.match(names[k]) and names[k].lower() not in RESERVED
        forms += [names[k] if bare else back, back, names[k] if bare else back]
    return rng.choice(forms)


def spell_string(rng, missing):
    text = rng.choice(hostile.TEXTS + tuple(missing) + (b"a", b"1", b"it's"))
    text = text.replace(b"\0", b"") or b"m"
    quote = rng.choice((b'"', b"'"))
    return quote + text.replace(quote, quote * 2) + quote


def spell_number(rng, kind):
    return hostile.number_text(rng, kind if rng.randrange(3) and kind in KINDS else rng.choice(KINDS)).encode()


def spell_test(rng, n, names, kinds, missing):
    numeric = [k for k in range(n) if kinds[k] not in hostile.NO_NUMBERS]
    k = rng.randrange(n)
    form = rng.randrange(10)
    if form == 0:
        return spell_column(rng, k, n, names) + rng.choice((b" is missing", b" IS NOT missing", b"\tis\nnot missing"))
    if rng.randrange(4) == 0:
        return spell_words(rng, n, names, kinds, missing)
    blank = rng.choice((b"", b" "))
    sign = blank + rng.choice((b"=", b"==", b"!=", b"<", b"<=", b">", b">=")) + blank
    if form < 4 or not numeric:
        sides = [spell_column(rng, k, n, names), spell_string(rng, missing)]
    else:
        k = rng.choice(numeric) if rng.randrange(25) else k
        sides = [spell_column(rng, k, n, names), spell_number(rng, kinds[k])]
        if form < 6:
            sides[1] = spell_column(rng, rng.choice(numeric), n, names)
    if rng.randrange(3) == 0:
        sides.reverse()
    return sign.join(sides)


def spell_pattern(rng, depth=2):
    """A regular expression that PCRE2, POSIX and Python spell alike, but for `$`."""
    atom = rng.choice((b"a", b"e", b"1", b"0", b"-", b",", b"[0-9]", b"[^a-z]", b".", b"[]a]", "é".encode(), b" ", b"[.]"))
    out = atom + rng.choice((b"", b"", b"+", b"*", b"?", b"{2}", b"{1,3}"))
    if depth and rng.randrange(2):
        out += spell_pattern(rng, depth - 1)
    if depth and rng.randrange(4) == 0:
        out = b"(" + out + b"|" + spell_pattern(rng, depth - 1) + b")" + rng.choice((b"", b"?", b"+"))
    return rng.choice((b"", b"", b"^")) + out + rng.choice((b"", b"", b"$")) if depth == 2 else out


def spell_words(rng, n, names, kinds, missing):
    """A test that begins with a word."""
    numeric = [k for k in range(n) if kinds[k] not in hostile.NO_NUMBERS]
    k = rng.randrange(n)
    negative = rng.choice((b" ", b" not ", b"\tNOT "))
    form = rng.randrange(5 if PATTERNS else 4)
    if form == 4:
        text = spell_pattern(rng).replace(b"'", b"''")
        return spell_column(rng, k, n, names) + rng.choice((b"~", b" !~ ")) + b"'" + text + b"'"
    if form == 0:
        return spell_column(rng, k, n, names) + b" is" + negative + rng.choice((b"number", b"Number"))
    if form == 1:
        text = rng.choice(hostile.TEXTS + (b"a", b"1", b"e")).replace(b"\0", b"")
        begin = rng.randrange(len(text)) if text else 0
        text = text[begin:begin + rng.choice((1, 1, 2, 9))] or b"m"
        quote = rng.choice((b'"', b"'"))
        return (spell_column(rng, k, n, names) + negative + rng.choice((b"contains ", b"starts with ", b"Ends\nWITH"))
                + quote + text.replace(quote, quote * 2) + quote)
    if numeric and rng.randrange(3):
        k = rng.choice(numeric)
        values = [spell_column(rng, rng.choice(numeric), n, names) if rng.randrange(6) == 0
                  else spell_number(rng, kinds[k]) for _ in range(rng.choice((1, 2, 2, 5)))]
    else:
        values = [spell_string(rng, missing) for _ in range(rng.choice((1, 2, 2, 5)))]
    if form == 2:
        return spell_column(rng, k, n, names) + negative + b"in (" + rng.choice((b",", b" , ")).join(values) + b")"
    return (spell_column(rng, k, n, names) + negative + b"between " + values[0] + rng.choice((b" and ", b"&&"))
            + values[-1])


def spell_condition(rng, depth, *about):
    if depth == 0 or rng.randrange(3) == 0:
        return spell_test(rng, *about)
    form = rng.randrange(5)
    if form == 0:
        return rng.choice((b"not (", b"!(", b"NOT(")) + spell_condition(rng, depth - 1, *about) + b")"
    if form == 1:
        return b"(" + spell_condition(rng, depth - 1, *about) + b")"
    if form == 2:
        return rng.choice((b"not ", b"! ")) + spell_test(rng, *about)
    joint = rng.choice((b" and ", b" && ", b" or ", b" || ", b" OR "))
    return spell_condition(rng, depth - 1, *about) + joint + spell_condition(rng, depth - 1, *about)


# ---- random requests ------------------------------------------------------------------------

def spell_columns(rng, operation, n, names, kinds):
    numeric = [k for k in range(n) if kinds[k] not in hostile.NO_NUMBERS]
    pool = list(range(n)) if operation == "count" else numeric
    if not pool or (operation != "count" and rng.randrange(10) == 0):
        return b"*"
    if len(pool) == n and rng.randrange(8) == 0:
        low = rng.randrange(n)
        return b"%d-%d" % (low + 1, rng.randrange(low, n) + 1)
    chosen = rng.sample(pool, rng.randrange(1, min(3, len(pool)) + 1))
    return b",".join(hostile.spell_item(rng, k, n, names) for k in chosen)


def spell_order(rng, operation):
    return rng.choice((b"", b"-")) if operation == RANK else b""


def make_request(rng, shape):
    n, names, kinds = about = shape.n, shape.names, shape.kinds
    about = (*about, shape.missing)
    common = hostile.common_of(rng, shape)
    where = spell_condition(rng, rng.randrange(4), *about) if rng.randrange(5) < 2 else None
    if rng.randrange(8) == 0:
        return Scan(operations=hostile.spell_operations(rng, shape, rng.randrange(1, 4)),
                    where=where or spell_condition(rng, 2, *about), **common)
    news = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 5)) if where else rng.choice((1, 1, 1, 2, 3, 5))):
        form = rng.randrange(7)
        if form == 5:
            news.append(("offsets", spell_condition(rng, rng.randrange(3), *about)))
        elif form == 6:
            news.append(("byte-offset", None))
        else:
            operation = rng.choice(RUNNING + WINDOWS + (RANK,))
            columns = spell_order(rng, operation) + spell_columns(rng, operation, n, names, kinds)
            news.append((operation, oracle_window.spell(rng, operation, columns) if operation in WINDOWS else columns))
    totals = any(o in RUNNING for o, _ in news) and not any(o in WINDOWS or o == RANK for o, _ in news)
    return Scan(news, where, totals and rng.randrange(3) == 0, bool(news) and rng.randrange(4) == 0, **common)
