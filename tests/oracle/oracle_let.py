# SPDX-License-Identifier: MIT
"""An independent model of --let: expressions as trees, spelled and evaluated; and random ones.

A value is None, which is missing; a Number, an integer and the count of its digits after the point; or bytes, a
field of the input as it is written there. A quotient of more than 17 digits is a Number that was rounded to 38; what
is computed of it is rounded, too, unless the digits say that the errors cancel. Written from the man page's chapter
COMPUTED COLUMNS.
"""
import collections
import decimal
import fractions
import math
import re

import oracle_time
from oracle_statistic import rounded

Number = collections.namedtuple("Number", "significand scale rounded", defaults=(False,))
LIMIT = 400     # digits before the point, and behind it
NDIGITS = 17    # of what is printed
NKEPT = 38      # of a rounded quotient, of which the last NDOUBTFUL are not believed in what is computed of it
NDOUBTFUL = 4
NZEROS = 12     # at the end of what is believed: the value is exact without them

_NUMBER = re.compile(rb"[ \t]*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?[ \t]*\Z")


class Invalid(Exception):
    """A value that is needed as a number is none, or a result is beyond the range."""


def plain(field):
    """A field's text without its quotes."""
    if field[:1] == b'"':
        return field[1:-1].replace(b'""', b'"')
    return field


class Made(bytes):
    """A raw field that a function has made, or a text of the expression: where functions take texts, one of blanks is there."""


def made(text):
    """A text as a raw field."""
    return Made(b'"%s"' % text.replace(b'"', b'""') if set(text) & set(b'",\r\n') else text)


def is_missing(value):
    return value is None or (isinstance(value, bytes) and not plain(value).strip(b" \t"))


def read(text):
    """Text to Number; Invalid."""
    m = _NUMBER.match(text)
    if not m or not (m[2] or m[3]):
        raise Invalid(text)
    digits, scale = int((m[2] + (m[3] or b"")) or b"0"), len(m[3] or b"") - int(m[4] or b"0")
    if scale < 0:
        digits, scale = digits * 10 ** -scale, 0
    return check(Number(-digits if m[1] == b"-" else digits, scale))


def check(x):
    if x.scale > LIMIT or abs(x.significand) >= 10 ** (LIMIT + x.scale):
        raise Invalid("beyond the range")
    return x


def number(value):
    """A value that is not missing to Number; Invalid."""
    return value if isinstance(value, Number) else read(plain(value))


def fraction(x):
    return x.significand * fractions.Fraction(10) ** -x.scale


def write(value):
    """As it is printed."""
    if is_missing(value) and value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if value.rounded:
        value = cut(value, value.scale - max(ndigits(value) - NDIGITS, NDOUBTFUL))
        text = rounded(abs(fraction(value)))
        return (("-" if value.significand < 0 else "") + text).encode()
    digits = str(abs(value.significand)).rjust(value.scale + 1, "0")
    text = digits[:len(digits) - value.scale] + ("." + digits[len(digits) - value.scale:] if value.scale else "")
    return (("-" if value.significand < 0 else "") + text).encode()


# ---- functions ------------------------------------------------------------------------------

def raised(x, scale):
    return x.significand * 10 ** (scale - x.scale)


def ndigits(x):
    return len(str(abs(x.significand))) if x.significand else 0


def cut(x, nplaces):
    """x, rounded half-even to a multiple of 10^-nplaces."""
    if x.scale <= nplaces:
        return x
    return Number(round(fractions.Fraction(x.significand, 10 ** (x.scale - nplaces))), nplaces, x.rounded)


def exact(x):
    """x, exact and without zeros at the end of its fraction."""
    value, scale = fraction(x), 0
    while (value * 10 ** scale).denominator != 1:
        scale += 1
    return Number(int(value * 10 ** scale), scale)


def settle(x):
    """x is known to its last place: what it is then."""
    surplus = ndigits(x) - NKEPT
    if x.scale - LIMIT > surplus and ndigits(x) - (x.scale - LIMIT) >= NDIGITS:
        surplus = x.scale - LIMIT
    x = cut(x, x.scale - max(surplus, 0))
    believed = cut(x, x.scale - NDOUBTFUL)
    text = str(abs(believed.significand))
    nzeros = len(text) - len(text.rstrip("0"))
    if believed.significand == 0 or (nzeros >= NZEROS and len(text) - nzeros <= NDIGITS):
        return exact(believed)
    return x._replace(rounded=True)


def known(*operands):
    return min([NKEPT] + [ndigits(x) for x in operands if x.rounded])


def add(a, b):
    scale = max(a.scale, b.scale)
    x = Number(raised(a, scale) + raised(b, scale), scale)
    if not (a.rounded or b.rounded):
        return x
    return settle(cut(x, min(y.scale for y in (a, b) if y.rounded)))


def multiply(a, b):
    x = Number(a.significand * b.significand, a.scale + b.scale)
    if not (a.rounded or b.rounded):
        return x
    return settle(cut(x, x.scale - max(ndigits(x) - known(a, b), 0)))


def significant(ratio, n):
    """The Fraction ratio, not 0, rounded half-even to n digits."""
    scale = n - 1
    while abs(ratio) * fractions.Fraction(10) ** scale >= 10 ** n:
        scale -= 1
    while abs(ratio) * fractions.Fraction(10) ** scale < 10 ** (n - 1):
        scale += 1
    return Number(round(ratio * fractions.Fraction(10) ** scale), scale, True)


def divide(a, b):
    if b.significand == 0:
        return None
    ratio = fraction(a) / fraction(b)
    if ratio == 0:
        return Number(0, 0)
    if a.rounded or b.rounded:
        return settle(significant(ratio, known(a, b)))
    short = read(rounded(abs(ratio)).encode())
    x = significant(ratio, NKEPT)
    if fraction(short) == abs(ratio) or x.scale > LIMIT:
        return Number(-short.significand, short.scale) if ratio < 0 else short
    return x


ARITHMETIC = {
    "+": add,
    "-": lambda a, b: add(a, UNARY["neg"](b)),
    "*": multiply,
    "/": divide,
    "min": lambda a, b: a if fraction(a) <= fraction(b) else b,
    "max": lambda a, b: a if fraction(a) >= fraction(b) else b,
    "%": lambda a, b: modulo(a, b), "mod": lambda a, b: modulo(a, b), "div": lambda a, b: whole(a, b, "trunc"),
    "bin": lambda a, b: multiply(whole(a, b, "floor"), b),
}


def modulo(a, b):
    if a.rounded or b.rounded:
        return add(a, UNARY["neg"](multiply(whole(a, b, "trunc"), b)))
    scale = max(a.scale, b.scale)
    x, y = raised(a, scale), raised(b, scale)
    return Number((abs(x) % abs(y)) * (-1 if x < 0 else 1), scale)


def whole(a, b, how):
    if a.rounded or b.rounded:
        return to_places(divide(a, b), 0, how)
    quotient = fraction(a) / fraction(b)
    return Number(math.floor(quotient) if how == "floor" else math.trunc(quotient), 0)


def to_places(x, nplaces, how):
    if x.rounded:
        if nplaces > x.scale - NDOUBTFUL:
            return x
        x = cut(x, x.scale - NDOUBTFUL)._replace(rounded=False) if how != "round" else x._replace(rounded=False)
    if x.scale <= nplaces:
        return x
    y = fraction(x) * 10 ** nplaces
    n = {"round": round, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil,
         "round_half_up": lambda y: math.floor(abs(y) + fractions.Fraction(1, 2)) * (1 if y > 0 else -1)}[how](y)
    return Number(n, nplaces)


# ---- roots, logarithms, powers: by Python's decimal ------------------------------------------

_EXACT, _REAL = decimal.Context(prec=1300, Emax=10 ** 6, Emin=-10 ** 6), decimal.Context(prec=100, Emax=10 ** 6, Emin=-10 ** 6)


def exactly(x):
    return _EXACT.scaleb(decimal.Decimal(x.significand), -x.scale)


def from_real(value):
    if value == 0:
        return Number(0, 0)
    if not -LIMIT - 40 < value.adjusted() < LIMIT + 40:
        raise Invalid("beyond the range")
    value = decimal.Context(prec=NKEPT).plus(value)
    sign, digits, exponent = value.as_tuple()
    n, nzeros = int("".join(map(str, digits))), NKEPT - len(digits)
    return settle(Number((-n if sign else n) * 10 ** nzeros, nzeros - exponent, True))


def real(name, x):
    value = exactly(x)
    if name == "exp":
        if abs(value) > 924:
            raise Invalid("beyond the range")
        return from_real(_REAL.exp(value))
    if value < 0 or (value == 0 and name != "sqrt"):
        return None
    if name == "sqrt":
        return from_real(_REAL.sqrt(value))
    precise = decimal.Context(prec=900, Emax=10 ** 6, Emin=-10 ** 6) if abs(value - 1) < decimal.Decimal("0.01") else _REAL
    ln = precise.ln(value)
    return from_real(ln if name == "ln" else _REAL.divide(ln, _REAL.ln(decimal.Decimal(10 if name == "log10" else 2))))


def power(x, k):
    exponent = fraction(k)
    if exponent == 0:
        return Number(1, 0)
    if x.significand == 0:
        return Number(0, 0) if exponent > 0 else None
    is_integer = exponent.denominator == 1 and not k.rounded
    if is_integer and not x.rounded:
        n, significand, scale = abs(int(exponent)), x.significand, x.scale
        while significand % 10 == 0:
            significand, scale = significand // 10, scale - 1
        if abs(significand) == 1 and scale == 0 and n > LIMIT + 1:
            return Number(significand ** (n % 2), 0)
        if n <= LIMIT + 1 and len(str(abs(significand))) * n <= NKEPT + 2 and scale * n <= LIMIT and scale * n >= -LIMIT:
            y = Number(significand ** n, scale * n) if scale >= 0 else Number(significand ** n * 10 ** (-scale * n), 0)
            return y if exponent > 0 else divide(Number(1, 0), y)
    if x.significand < 0 and not is_integer:
        return None
    ln = decimal.Context(prec=900, Emax=10 ** 6, Emin=-10 ** 6).ln(abs(exactly(x))) if abs(abs(fraction(x)) - 1) < fractions.Fraction(1, 100) \
        else _REAL.ln(abs(exactly(x)))
    product = _REAL.multiply(ln, exactly(k))
    if abs(product) > 924:
        raise Invalid("beyond the range")
    y = from_real(_REAL.exp(product))
    return y._replace(significand=-y.significand) if x.significand < 0 and exponent % 2 else y


REAL = ("sqrt", "ln", "log10", "log2", "exp")
PLACES = ("round", "trunc", "round_half_up")
UNARY = {"neg": lambda x: x._replace(significand=-x.significand), "abs": lambda x: x._replace(significand=abs(x.significand)),
         "floor": lambda x: to_places(x, 0, "floor"), "ceil": lambda x: to_places(x, 0, "ceil"),
         "sign": lambda x: Number((x.significand > 0) - (x.significand < 0), 0)}


def epoch(text):
    try:
        x = oracle_time.read(text.strip(b" \t"))
    except oracle_time.NoTime:
        raise Invalid(text) from None
    return Number(int(x.seconds * 10 ** x.places), x.places)


CASE = {
    "lower": lambda value: re.sub(rb"[A-Z]", lambda m: m[0].lower(), value),
    "upper": lambda value: re.sub(rb"[a-z]", lambda m: m[0].upper(), value),
}


def substr(text, first, n=None):
    begin = first - 1 if first > 0 else len(text) + first if first < 0 else -1
    end = len(text) if n is None else begin + n
    return text[max(begin, 0):max(end, 0)]


def split(text, separator, n):
    parts = text.split(separator)
    return parts[n - 1 if n > 0 else n] if n and -len(parts) <= n <= len(parts) else ""


def pad(text, n, fill=" "):
    filling = (fill * abs(n))[:max(abs(n) - len(text), 0)]
    return text + filling if n < 0 else filling + text


def extract(text, pattern, group=None):
    m = re.search(pattern, text, re.DOTALL | re.ASCII)
    return m and m[(1 if m.re.groups else 0) if group is None else group] or ""


# Of texts of characters and of integers.
FUNCTIONS = {
    "length": lambda t: Number(len(t), 0), "epoch": lambda t: epoch(t.encode()), "trim": lambda t: t.strip(" \t\n\v\f\r"), "substr": substr,
    "left": lambda t, n: t[:n] if n else "", "right": lambda t, n: (t[-n:] if n > 0 else t[-n:] if n < 0 else ""),
    "concat": lambda *t: "".join(t), "replace": lambda t, old, new: t.replace(old, new), "split": split, "pad": pad, "extract": extract,
}
INTEGERS = {"substr": (1, 2), "left": (1,), "right": (1,), "split": (2,), "pad": (1,), "extract": (2,)}   # which arguments are
EMPTY = {"concat": range(99), "replace": (2,)}   # which may be missing


def call(name, values):
    arguments = []
    for i, value in enumerate(values):
        if value is None or (not value if isinstance(value, Made) else is_missing(value)):
            if i not in EMPTY.get(name, ()):
                return None
            arguments.append("")
        elif i in INTEGERS.get(name, ()):
            x = number(value)
            if x.rounded or fraction(x).denominator != 1:
                raise Invalid("not an integer")
            arguments.append(int(fraction(x)))
        else:
            arguments.append(plain(value if isinstance(value, bytes) else write(value)).decode())
    result = FUNCTIONS[name](*arguments)
    return made(result.encode()) or None if isinstance(result, str) else result


# ---- results over values some of which were rounded ----------------------------------------

def known_sum(numbers):
    """The sum of numbers of which each is right in 33 digits, in the digits that are right."""
    digits = lambda x: len(str(int(abs(x) * 10 ** 500)))  # noqa: E731
    total, size = sum(numbers), sum(abs(x) for x in numbers)
    ndigits = NKEPT - NDOUBTFUL - 1 + digits(total) - digits(size)
    if ndigits >= NDIGITS or total == 0:
        return total
    return fraction(significant(total, ndigits)) if ndigits > 0 else fractions.Fraction(0)


def result(operation, values):
    """The text of a result over Numbers, at least one of them rounded; "" where it has none."""
    coarsest = min(x.scale for x in values if x.rounded)
    unit_of = lambda n: fractions.Fraction(10) ** (NDOUBTFUL + len(str(n)) - coarsest)  # noqa: E731
    unit = unit_of(len(values))
    numbers = [fraction(x) for x in values]
    settled = lambda x, unit=unit: round(x / unit) * unit  # noqa: E731
    mean = fractions.Fraction(sum(numbers), len(numbers))
    if operation in ("var", "stddev"):
        if len(numbers) < 2:
            return ""
        x = sum((v - mean) ** 2 for v in numbers) / (len(numbers) - 1)
        return rounded(x if x >= unit ** 2 else 0, operation == "stddev")
    ordered = sorted(numbers)
    ends = [ordered[(len(numbers) - 1) // 2], ordered[len(numbers) // 2]]
    x = {"sum": lambda: settled(sum(numbers)), "mean": lambda: settled(mean),
         "min": lambda: ordered[0], "max": lambda: ordered[-1], "first": lambda: numbers[0], "last": lambda: numbers[-1],
         "range": lambda: settled(ordered[-1] - ordered[0], unit_of(2)), "median": lambda: known_sum(ends) / 2}[operation]()
    return ("-" if x < 0 else "") + rounded(abs(x))


# ---- trees ----------------------------------------------------------------------------------

def evaluate(tree, record):
    """tree: ("column", name), ("number", text), ("text", bytes), (operator, tree, ...), ("round", tree, n),
    ("if", (condition's text, function of the record), tree, tree). record: fields by name."""
    kind = tree[0]
    if kind == "column":
        value = record[tree[1]]
        value = bytes(value) if isinstance(value, Made) else value
        return value if not isinstance(value, Invalid) else raise_(value)
    if kind == "number":
        return read(tree[1].encode())
    if kind == "text":
        return Made(tree[1])
    if kind == "if":
        return evaluate(tree[2] if tree[1][1](record) else tree[3], record)
    if kind == "truth":
        truth = tree[1][1](record)
        return None if truth is None else Number(int(truth), 0)
    if kind == "coalesce":
        first = evaluate(tree[1], record)
        return evaluate(tree[2], record) if is_missing(first) else first
    if kind in FUNCTIONS:
        return call(kind, [evaluate(t, record) for t in tree[1:]])
    if kind in CASE:
        value = evaluate(tree[1], record)
        if is_missing(value):
            return None
        return Made(CASE[kind](value if isinstance(value, bytes) else write(value)))
    values = [evaluate(t, record) for t in (tree[1:2] if kind in PLACES else tree[1:])]
    if any(is_missing(v) for v in values):
        return None
    values = [number(v) for v in values]
    if kind in REAL or kind == "pow":
        result = real(kind, values[0]) if kind in REAL else power(*values)
        return None if result is None else check(result)
    if kind in PLACES:
        return to_places(values[0], tree[2], kind)
    if kind in ("%", "mod", "div", "bin") and values[1].significand == 0:
        return None
    result = UNARY[kind](*values) if kind in UNARY else ARITHMETIC[kind](*values)
    return None if result is None else check(result)


def raise_(error):
    raise error


def spell(tree, rng):
    """The expression's text. Parentheses that are not needed are there sometimes."""
    kind = tree[0]
    if kind == "column":
        return rng.choice((tree[1], "`%s`" % tree[1]))
    if kind == "number":
        return tree[1]
    if kind == "text":
        return "'%s'" % plain(tree[1]).decode().replace("'", "''")
    if kind == "truth":
        return "(%s)" % tree[1][0]
    if kind == "if":
        return "if(%s, %s, %s)" % (tree[1][0], spell(tree[2], rng), spell(tree[3], rng))
    if kind in PLACES:
        return "%s(%s%s)" % (kind.upper(), spell(tree[1], rng), ", %d" % tree[2] if tree[2] or rng.randrange(2) else "")
    if kind == "neg":
        return "-(%s)" % spell(tree[1], rng)
    if kind in ("+", "-", "*", "/", "%"):
        left, right = (spell(t, rng) for t in tree[1:])
        if tree[1][0] in "+-" and kind in "*/%" or rng.randrange(5) == 0:
            left = "(%s)" % left
        if tree[2][0] in "+-*/%":
            right = "(%s)" % right
        return left + (rng.choice((" %s ", "%s")) if kind in "*/%" else " %s ") % kind + right
    return "%s(%s)" % (kind, ", ".join(spell(t, rng) for t in tree[1:]))


# ---- random trees ---------------------------------------------------------------------------

def random_number(rng, numbers, depth):
    """A tree whose value is a number. numbers: columns of numbers."""
    form = rng.randrange(15) if depth else rng.randrange(2)
    if form == 13:
        return (rng.choice(REAL[:4]), random_number(rng, numbers, depth - 1))
    if form == 14:
        k = ("number", rng.choice(("2", "3", "0.5", "-1", "-2", "1.5", "0", "10", "40")))
        return rng.choice((("pow", random_number(rng, numbers, depth - 1), k), ("exp", ("%", random_number(rng, numbers, depth - 1), k))))
    if form == 12:
        return ("truth", random_condition(rng, numbers))
    if form == 0:
        return ("number", rng.choice(("0", "1", "2.50", "1e2", "0.001", "7", "123456789012345678", "12345678901234567890.5")))
    if form == 1:
        return ("column", rng.choice(numbers))
    if form < 8:
        return (rng.choice(("+", "-", "*", "*", "+", "/", "min", "max", "%", "mod", "div", "bin")), random_number(rng, numbers, depth - 1),
                random_number(rng, numbers, depth - 1))
    x = random_number(rng, numbers, depth - 1)
    if form == 8:
        return (rng.choice(PLACES), x, rng.randrange(6))
    if form == 9:
        return ("coalesce", x, random_number(rng, numbers, depth - 1))
    if form == 10:
        return (rng.choice(("neg", "abs", "floor", "ceil", "sign")), x)
    return ("if", random_condition(rng, numbers), x, random_number(rng, numbers, depth - 1))


def random_condition(rng, numbers):
    """Its text, and what it is of a record: True, False, or None where it is unknown."""
    form, name, bound = rng.randrange(9), rng.choice(numbers), rng.choice((0, 1, 100))
    if form < 2:
        return "`%s` is missing" % name, lambda record: is_missing(record[name])
    if form == 2:
        text, of = random_condition(rng, numbers)
        return "not (%s)" % text, lambda record: None if of(record) is None else not of(record)
    if form < 5:
        (a, of_a), (b, of_b), word = random_condition(rng, numbers), random_condition(rng, numbers), rng.choice(("and", "or"))
        decisive = word == "or"
        return "((%s) %s (%s))" % (a, word, b), lambda record: (
            decisive if decisive in (of_a(record), of_b(record)) else None if None in (of_a(record), of_b(record)) else not decisive)
    return "%s > %d" % (name, bound), lambda record: (
        None if is_missing(record[name]) else fraction(read(plain(write(record[name])))) > bound)  # compared as printed


def random_text(rng, texts, dates, numbers):
    form = rng.randrange(12)
    if form == 0:
        return ("epoch", ("column", rng.choice(dates)))
    if form == 1:
        return ("length", ("column", rng.choice(texts)))
    if form >= 7:
        return random_made(rng, texts + numbers, rng.randrange(1, 4))
    if form == 2:
        return ("coalesce", ("column", rng.choice(texts + numbers)), ("text", rng.choice((b"none", b'"a,b"'))))
    if form == 3:
        return ("if", random_condition(rng, numbers), ("text", b"big"), ("column", rng.choice(texts)))
    return (rng.choice(("lower", "upper")), ("column", rng.choice(texts)))


def random_integer(rng, columns):
    n = rng.choice((1, 2, 3, 5, -1, -2, -4, 30))
    return ("number", str(n)) if rng.randrange(4) else ("-", ("length", ("column", rng.choice(columns))), ("number", "2"))


def random_made(rng, columns, depth):
    """A tree whose value is a text that functions make of others, and of numbers."""
    if depth == 0:
        return ("column", rng.choice(columns))
    x = random_made(rng, columns, depth - 1)
    part = ("text", rng.choice((b" ", b"a", b"b", b'","', b"1", b".", "\u00f6".encode(), b'""""', b"--"))) if rng.randrange(4) else x
    name = rng.choice(("trim", "substr", "substr", "left", "right", "concat", "replace", "split", "pad", "extract", "upper", "length"))
    if name in ("trim", "upper", "length"):
        return (name, x)
    if name == "substr":
        return (name, x, random_integer(rng, columns)) + ((random_integer(rng, columns),) if rng.randrange(2) else ())
    if name in ("left", "right"):
        return (name, x, random_integer(rng, columns))
    if name == "concat":
        return (name, x) + tuple(rng.choice((part, ("column", rng.choice(columns)))) for _ in range(rng.randrange(4)))
    if name == "replace":
        return (name, x, part, rng.choice((("text", b""), ("text", b"/"), ("column", rng.choice(columns)))))
    if name == "split":
        return (name, x, part, random_integer(rng, columns))
    if name == "pad":
        return (name, x, random_integer(rng, columns)) + ((part,) if rng.randrange(2) else ())
    return (name, x, ("text", rng.choice((b"[a-z]+", b"(.)(.)", b"^.", b"[0-9]+$", b"(a)|b"))))


def random_rows(rng):
    """Records with the raw fields a, b, numbers, t, a text, and d, a date."""
    numbers = (b"", b"0", b"1", b"-2", b"3.5", b"-12.50", b'"7"', b" 8 ", b"1e3", b"999999999999999999", b"12345678901234567890123", b"0.10")
    texts = (b"", b"a", b"Abc", b'"x,Y"', b'"say ""HI"""', "grÖße".encode(), b"  pad ", b"12")
    dates = (b"", b"2026-11-23", b"1969-12-31T23:59:58.25Z", b'"2024-01-01T00:00:00+02:00"')
    return [dict(zip("abtd", map(rng.choice, (numbers, numbers, texts, dates)))) for _ in range(rng.choice((1, 5, 63, 64, 65, 300)))]


def in_csv(key):
    """A text as a field."""
    return b'"' + key.replace(b'"', b'""') + b'"' if any(c in key for c in b'",\r\n') else key
