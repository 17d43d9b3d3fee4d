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
import functools
import math
import operator
import re

import oracle_order
import oracle_time
from oracle_notation import Notation
from oracle_statistic import rounded, variance

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
    ln = decimal.Context(prec=900, Emax=10 ** 6, Emin=-10 ** 6).ln(exactly(x).copy_abs()) if abs(abs(fraction(x)) - 1) < fractions.Fraction(1, 100) \
        else _REAL.ln(exactly(x).copy_abs())
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


def spelled_number(text, **how):
    """A text in one of the notations of people."""
    text, places = Notation(**how).plain_text(text.strip(" \t").encode())
    if text is None:
        raise Invalid("not in this notation")
    x = read(text)
    return check(x._replace(scale=x.scale + places) if x.scale + places >= 0 else Number(x.significand * 10 ** -(x.scale + places), 0))


# Of texts of characters and of integers.
FUNCTIONS = {
    "length": lambda t: Number(len(t), 0), "trim": lambda t: t.strip(" \t\n\v\f\r"), "substr": substr, "text_of": lambda t: t,
    "left": lambda t, n: t[:n] if n else "", "right": lambda t, n: (t[-n:] if n > 0 else t[-n:] if n < 0 else ""),
    "concat": lambda *t: "".join(t), "replace": lambda t, old, new: t.replace(old, new), "split": split, "pad": pad, "extract": extract,
    "duration": lambda t: spelled_number(t, durations=True), "bytes": lambda t, units="si": spelled_number(t, sizes=units.encode()),
}
FUNCTIONS["||"] = FUNCTIONS["concat"]      # but where one is missing, so is the result
INTEGERS = {"substr": (1, 2), "left": (1,), "right": (1,), "split": (2,), "pad": (1,), "extract": (2,), "add_months": (1,)}   # which arguments are
EMPTY = {"concat": range(99), "replace": (2,)}   # which may be missing
SPELLED = {"text_of": "text", "number_of": "number", "trunc_time": "trunc"}      # functions that have another name here


# ---- times: all of them are of UTC -----------------------------------------------------------

def instant(text):
    try:
        return oracle_time.read((text if isinstance(text, bytes) else text.encode()).strip(b" \t"))
    except oracle_time.NoTime:
        raise Invalid(text) from None


def written_time(x):
    try:
        return oracle_time.write(oracle_time.in_range(x, None))
    except oracle_time.NoTime:
        raise Invalid("beyond the range") from None


def read_time(text, form=None):
    try:
        return written_time(oracle_time.read_format(form, text.strip(" \t").encode()) if form else instant(text))
    except oracle_time.NoTime:
        raise Invalid(text) from None


def trunc_time(text, unit):
    x, (count, word) = instant(text), UNITS[unit]
    try:
        return written_time(oracle_time.trunc(x, count, word))
    except oracle_time.NoTime:
        raise Invalid("beyond the range") from None


def add_months(text, n):
    x = instant(text)
    c = oracle_time.Civil(x)
    months = 12 * c.year + c.month - 1 + n
    for day in range(c.day, 27, -1) if c.day > 28 else (c.day,):
        try:
            days = oracle_time.days_of(months // 12, months % 12 + 1, day)
        except oracle_time.NoTime:
            continue
        return written_time(x._replace(seconds=x.seconds + 86400 * (days - c.days)))
    raise Invalid("beyond the range")


def day_of(text):
    return written_time(oracle_time.Instant(86400 * oracle_time.Civil(instant(text)).days, 0, True))


def later(text, duration, sign):
    """text + "1h30m", or "2 months"."""
    months = MONTHS.get(duration)
    if months:
        return add_months(text, sign * months)
    x, seconds = instant(text), spelled_number(duration, durations=True)
    return from_epoch(add(epoch(text), seconds if sign > 0 else UNARY["neg"](seconds))) if x else None


def from_epoch(x, power=0):
    while x.scale + power > oracle_time.NPLACES and x.significand % 10 == 0:
        x = x._replace(significand=x.significand // 10, scale=x.scale - 1)
    if x.scale + power > oracle_time.NPLACES:
        raise Invalid("beyond the range")
    return written_time(oracle_time.Instant(fraction(x) / 10 ** power, x.scale + power, False))


def epoch(text):
    x = instant(text)
    return Number(int(x.seconds * 10 ** x.places), x.places)


UNITS = {"15m": (15, "minute"), "hour": (1, "hour"), "day": (1, "day"), "week": (1, "week"), "month": (1, "month"), "quarter": (1, "quarter"),
         "year": (1, "year"), "10 seconds": (10, "second"), "6h": (6, "hour"), "2 weeks": (2, "week"), "3d": (3, "day")}
MONTHS = {"1 month": 1, "2 years": 24, "quarter": 3}
PARTS = ("year", "quarter", "month", "week", "day", "weekday", "dayofyear", "hour", "minute", "second")
FORMATS = ("%F %H:00", "%d.%m.%Y", "%A, %e %B %Y", "%G-W%V-%u", "%Y-Q%q", "%s", "%I:%M %p", '"%b" %y')
TIMES = {"time": read_time, "date": day_of, "trunc_time": trunc_time, "add_months": add_months, "later": later}
FUNCTIONS.update(TIMES, epoch=epoch, format=lambda t, form: oracle_time.write_format(form, instant(t)))
FUNCTIONS.update((part, lambda t, part=part: Number(getattr(oracle_time.Civil(instant(t)), part), 0)) for part in PARTS)
FROM_NUMBERS = {"from_epoch": 0, "from_epoch_ms": 3}


def call(name, values):
    """values: of trees, or why they are invalid; what is no value is a constant."""
    arguments, wrong = [], None
    for i, value in enumerate(values):
        if isinstance(value, (int, str)):
            arguments.append(value)
        elif isinstance(value, Invalid):
            wrong = wrong or value
        elif value is None or (not value if isinstance(value, Made) else is_missing(value)):
            if i not in EMPTY.get(name, ()):
                return None
            arguments.append("")
        elif i in INTEGERS.get(name, ()):
            x = number_of(value)
            if x is None or x.rounded or fraction(x).denominator != 1:
                wrong = wrong or Invalid("not an integer")
            else:
                arguments.append(int(fraction(x)))
        else:
            arguments.append(plain(value if isinstance(value, bytes) else write(value)).decode())
    if wrong:
        raise wrong
    try:
        result = FUNCTIONS[name](*arguments)
    except oracle_time.NoTime:
        raise Invalid("beyond the range") from None
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
    """tree: ("column", name), ("number", text), ("text", bytes), ("missing",), (operator, tree, ...), ("round", tree, n),
    ("if", condition, tree, tree), a condition, ("aggregate", name, tree). record: fields by name, and the values of the
    aggregates that are in it (aggregates_of)."""
    kind = tree[0]
    if kind == "column":
        value = record[tree[1]]
        value = bytes(value) if isinstance(value, Made) else value
        return value if not isinstance(value, Invalid) else raise_(value)
    if kind == "number":
        return read(tree[1].encode())
    if kind == "text":
        return Made(tree[1])
    if kind == "missing":
        return None
    if kind == "aggregate":
        return record[tree]
    if kind == "nullif":
        x = value_of(tree[1], record)
        equal = settled(truth(("=", *tree[1:]), record)) == TRUE
        return None if equal else raise_(x) if isinstance(x, Invalid) else x
    if kind == "if":
        return evaluate(tree[2] if settled(truth(tree[1], record)) == TRUE else tree[3], record)
    if kind in CONDITIONS:
        value = settled(truth(tree, record), True)
        return None if value == UNKNOWN else Number(int(value == TRUE), 0)
    if kind == "coalesce":
        for part in tree[1:]:
            value = evaluate(part, record)
            if not is_missing(value):
                break
        return value
    if kind == "number_of":
        value = evaluate(tree[1], record)
        return number(value) if not is_missing(value) and beyond(plain(write(value))) else number_of(value)
    if kind in FROM_NUMBERS:
        value = evaluate(tree[1], record)
        return None if is_missing(value) else made(from_epoch(read(plain(write(value))), FROM_NUMBERS[kind]).encode())
    if kind == "seconds":
        values = operands(tree[1:], record)
        return values and ARITHMETIC["-"](*(epoch(plain(write(v))) for v in values))
    if kind in FUNCTIONS:
        return call(kind, [t if isinstance(t, (int, str)) else value_of(t, record) for t in tree[1:]])
    if kind in CASE:
        value = evaluate(tree[1], record)
        if is_missing(value):
            return None
        return Made(CASE[kind](value if isinstance(value, bytes) else write(value)))
    values = operands(tree[1:2] if kind in PLACES else tree[1:], record)
    if kind == "-" and values and times_of(*values):
        return ARITHMETIC["-"](*times_of(*values))
    return values and calculate(tree, [number(v) for v in values])


def calculate(tree, values):
    """Of numbers."""
    kind = tree[0]
    if kind in REAL or kind == "pow":
        result = real(kind, values[0]) if kind in REAL else power(*values)
        return None if result is None else check(result)
    if kind in PLACES:
        return to_places(values[0], tree[2], kind)
    if kind in ("%", "mod", "div", "bin") and values[1].significand == 0:
        return None
    result = UNARY[kind](values[0]) if kind in UNARY else functools.reduce(ARITHMETIC[kind], values)
    return None if result is None else check(result)


def times_of(*values):
    """Their seconds, if all are times and no numbers."""
    try:
        return None if any(number_of(v) is not None for v in values) else [epoch(plain(v)) for v in values]
    except Invalid:
        return None


def number_of(value):
    if is_missing(value):
        return None
    try:
        return number(value)
    except Invalid:
        return None


def raise_(error):
    raise error


def value_of(tree, record):
    """A value, or the Invalid that it is."""
    try:
        return evaluate(tree, record)
    except Invalid as why:
        return why


def operands(trees, record):
    """Their values, or None where one is missing, whatever the others are; Invalid."""
    values = [value_of(t, record) for t in trees]
    if any(not isinstance(v, Invalid) and is_missing(v) for v, t in zip(values, trees) if t[0] != "text"):
        return None
    for value in values:
        if isinstance(value, Invalid):
            raise value
    return values


# ---- conditions -----------------------------------------------------------------------------

FALSE, UNKNOWN, TRUE = 0, 1, 2
SIGNS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
PARTS_OF_TEXTS = {"contains": lambda t, part: part in t, "starts_with": bytes.startswith, "ends_with": bytes.endswith}
CONDITIONS = {"not", "and", "or", "is missing", "is number", "in", "between", "like", "~", *SIGNS, *PARTS_OF_TEXTS}
TEXTS = {"lower", "upper", "trim", "substr", "left", "right", "concat", "replace", "split", "extract", "pad", "text_of", "format", "text", "||"}
ANY_AGGREGATES = ("first", "last", "mode", "antimode", "text_min", "text_max")
_LIKE_NUMBER = re.compile(rb"[ \t]*[-+.,($#']*[\x80-\xff]{0,4}[0-9]")


def type_of(tree):
    """"any": as the record's value is."""
    kind = tree[0]
    if kind in ("if", "coalesce"):
        types = {type_of(t) for t in tree[1 + (kind == "if"):] if t[0] != "missing"}
        return types.pop() if len(types) == 1 else "any"
    if kind == "nullif":
        return type_of(tree[1])
    if kind == "aggregate":
        return "any" if tree[1] in ANY_AGGREGATES else "number"
    return "any" if kind == "column" else "text" if kind in TEXTS else "time" if kind in TIMES or kind in FROM_NUMBERS else "number"


def settled(truth_of, both=False):
    """What the bounds of a truth leave open is Invalid. both: it is asked whether it is false, too."""
    least, most = truth_of
    if least != most and (most == TRUE or both):
        raise Invalid("no answer to the condition")
    return least


def truth(tree, record):
    """The truth's bounds: a value that is not what it has to be may make a test true or false."""
    kind = tree[0]
    if kind == "not":
        least, most = truth(tree[1], record)
        return TRUE - most, TRUE - least
    if kind in ("and", "or"):
        bounds = [truth(part, record) for part in tree[1:]]
        pick = min if kind == "and" else max
        return pick(b[0] for b in bounds), pick(b[1] for b in bounds)
    if kind == "in":
        return truth(("or", *(("=", tree[1], value) for value in tree[2:])), record)
    if kind == "between":
        return truth(("and", (">=", *tree[1:3]), ("<=", tree[1], tree[3])), record)
    try:
        if kind == "is missing":
            return (TRUE, TRUE) if is_missing(evaluate(tree[1], record)) else (FALSE, FALSE)
        values = operands(tree[1:], record)
        if values is None:
            return UNKNOWN, UNKNOWN
        if kind == "is number":
            holds = number_of(values[0]) is not None
        elif kind in SIGNS:
            holds = SIGNS[kind](*comparable(kind, tree[1:], values))
        else:
            holds = (PARTS_OF_TEXTS.get(kind) or matches)(*(plain(write(v)) for v in values))
    except Invalid:
        return FALSE, FALSE if kind in ("is missing", "is number") else TRUE
    return (TRUE, TRUE) if holds else (FALSE, FALSE)


def comparable(sign, trees, values):
    """Two values as what is compared of them; Invalid."""
    types, texts = [type_of(t) for t in trees], [plain(write(v)) for v in values]
    literal = [t[0] in ("number", "text") for t in trees]
    if "time" in types:
        return [fraction(epoch(t)) for t in texts]
    if any(literal):
        as_text = types[literal.index(True)] == "text"
    else:
        as_text = "text" in types and "number" not in types
    if as_text:
        return texts
    if types != ["any", "any"]:
        return [fraction(number(Made(t))) for t in texts]
    numbers = [number_of(Made(t)) for t in texts]
    if None not in numbers:
        return list(map(fraction, numbers))
    if numbers != [None, None] or any(map(beyond, texts)):
        raise Invalid("a number and a text")
    times = times_of(*map(Made, texts))
    if not times and sign not in ("=", "!=") and any(_LIKE_NUMBER.match(t) for t in texts):
        raise Invalid("texts that are like numbers have no order")
    return list(map(fraction, times)) if times else texts


def beyond(text):
    """Is it a number that is out of range?"""
    return _NUMBER.match(text) is not None and any(c in b"0123456789" for c in text)


def matches(text, pattern):
    return re.search(pattern.decode(), text.decode(), re.DOTALL | re.ASCII) is not None


# ---- aggregates -----------------------------------------------------------------------------

def nodes(tree, kind):
    """The parts of a tree that are of this kind."""
    found = [tree] if tree[0] == kind else []
    for part in tree[1:]:
        if isinstance(part, tuple):
            found += nodes(part, kind)
    return found


def add_aggregates(trees, rows):
    """Sets the aggregates of trees, of all the rows, in each of them."""
    for node in {node for tree in trees for node in nodes(tree, "aggregate")}:
        value = aggregate(node, rows)
        for row in rows:
            row[node] = value


def aggregate(node, rows):
    """Of values that are missing or invalid, it has none."""
    _, name, tree = node
    if tree == ("missing",):
        return Number(len(rows), 0)
    values = []
    for row in rows:
        try:
            value = evaluate(tree, row)
            if not is_missing(value):
                values.append(value if name in ("count", "count_distinct", *ANY_AGGREGATES) else number(value))
        except Invalid:
            pass
    if name == "count":
        return Number(len(values), 0)
    if name == "count_distinct":
        return Number(len({plain(write(v)) for v in values}), 0)
    if name in ANY_AGGREGATES:
        return of_texts(name, values)
    if not values:
        return Number(0, 0) if name == "sum" else None
    if any(v.rounded for v in values):
        return of_rounded(name, values)
    return of_exact(name, values)


def of_texts(name, values):
    if not values:
        return None
    if name in ("first", "last"):
        value = values[0 if name == "first" else -1]
        if isinstance(value, Number) and value.rounded:     # as it is printed
            return read(write(value))
        return value if isinstance(value, Number) or number_of(value) is None else value.strip(b" \t") if value[:1] != b'"' else made(plain(value).strip(b" \t"))
    texts = [plain(write(v)) for v in values]
    if name in ("text_min", "text_max"):
        return made((min if name == "text_min" else max)(texts))
    counts = collections.Counter(texts)
    best = (max if name == "mode" else min)(counts.values())
    return made(next(t for t in texts if counts[t] == best))


def of_exact(name, values):
    scale, numbers = max(v.scale for v in values), [fraction(v) for v in values]
    if name in ("sum", "mean"):
        total = functools.reduce(add, values)
        return total if name == "sum" else divide(total, Number(len(values), 0))
    if name in ("min", "max", "range"):
        x = {"min": min, "max": max, "range": lambda n: max(n) - min(n)}[name](numbers)
        return read(oracle_order.plain(x, scale).encode())
    if name in ("var", "stddev"):
        x = variance(numbers, 1)
        return None if x is None else read(rounded(x, name == "stddev").encode())
    return read(oracle_order.answer(name, numbers, scale).encode())


def of_rounded(name, values):
    if name == "p25":
        numbers, at = sorted(map(fraction, values)), fractions.Fraction(len(values) - 1, 4)
        low, part = numbers[int(at)], at - int(at)
        x = known_sum([low * (1 - part), numbers[min(int(at) + 1, len(values) - 1)] * part])
        return read((("-" if x < 0 else "") + rounded(abs(x))).encode())
    text = result("sum" if name == "mean" else name, values)
    if name != "mean":
        return read(text.encode()) if text else None
    return divide(read(text.encode()), Number(len(values), 0))


# ---- a tree's text --------------------------------------------------------------------------

WORDS = {"and": ("and", "&&", "AND"), "or": ("or", "||", "Or"), "not": ("not ", "!", "NOT "), "=": ("=", "=="), "!=": ("!=", "<>"),
         "is missing": ("is missing", "IS NULL"), "is number": ("is number",), "~": ("~", "=~")}
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
KEYWORDS = ("and", "or", "not", "is", "missing")


def spell_case(tree, rng, same=None, is_first=True):
    """What is between `case` and `end` of an if. same: what is compared with the value of each `when`."""
    _, condition, x, other = tree
    if is_first and condition[0] == "=" and condition[1][0] not in CONDITIONS and rng.randrange(2):
        same = condition[1]
    text = spell(same, rng) + " " if is_first and same else ""
    text += "when %s then %s" % (spell(condition[2], rng) if same else spell_condition(condition, rng), spell(x, rng))
    if other[0] == "if" and (not same or (other[1][0] == "=" and other[1][1] == same)) and rng.randrange(4):
        return text + " " + spell_case(other, rng, same, False)
    return text if other == ("missing",) and rng.randrange(2) else text + " else " + spell(other, rng)


def spell(tree, rng, parentheses=True):
    """The expression's text. Parentheses that are not needed are there sometimes."""
    kind = tree[0]
    if kind == "column":
        is_plain = PLAIN_NAME.match(tree[1]) and tree[1].lower() not in KEYWORDS
        return rng.choice(([tree[1]] if is_plain else []) + ["`%s`" % tree[1].replace("`", "``")])
    if kind == "number":
        return tree[1]
    if kind == "text":
        return spell_text(plain(tree[1]).decode())
    if kind == "missing":
        return "missing"
    if kind == "aggregate":
        return "%s(%s)" % (tree[1], "" if tree[2] == ("missing",) else spell(tree[2], rng))
    if kind in CONDITIONS:
        return "(%s)" % spell_condition(tree, rng)
    if kind == "if" and rng.randrange(2):
        return "%s %s %s" % (rng.choice(("case", "CASE")), spell_case(tree, rng), rng.choice(("end", "END")))
    if kind == "||":
        text = rng.choice((" || ", "||")).join(spell(t, rng) if t[0] not in ("||", *CONDITIONS) else "(%s)" % spell(t, rng) for t in tree[1:])
        return "(%s)" % text if parentheses else text
    if kind == "if":
        return "if(%s, %s, %s)" % (spell_condition(tree[1], rng), spell(tree[2], rng), spell(tree[3], rng))
    if kind in PLACES:
        return "%s(%s%s)" % (kind.upper(), spell(tree[1], rng), ", %d" % tree[2] if tree[2] or rng.randrange(2) else "")
    if kind == "neg":
        return "-(%s)" % spell(tree[1], rng)
    if kind == "later":
        return "(%s %s %s)" % (spell(tree[1], rng), "+" if tree[3] > 0 else "-", spell_text(tree[2]))
    if kind == "seconds":
        return "(%s - %s)" % (spell(tree[1], rng), spell(tree[2], rng))
    if kind in ("+", "-", "*", "/", "%"):
        left, right = (spell(t, rng) for t in tree[1:])
        if tree[1][0] in "+-" and kind in "*/%" or rng.randrange(5) == 0:
            left = "(%s)" % left
        if tree[2][0] in "+-*/%":
            right = "(%s)" % right
        return left + (rng.choice((" %s ", "%s")) if kind in "*/%" else " %s ") % kind + right
    return "%s(%s)" % (SPELLED.get(kind, kind), ", ".join(spell(t, rng) if isinstance(t, tuple) else "%d" % t if isinstance(t, int) else spell_text(t)
                                                        for t in tree[1:]))


def spell_text(text):
    return "'%s'" % text.replace("'", "''")


def spell_condition(tree, rng):
    kind = tree[0]
    if kind not in CONDITIONS or (kind in PARTS_OF_TEXTS and rng.randrange(2)):
        return "%s(%s, %s)" % (kind, spell(tree[1], rng), spell(tree[2], rng))
    word = rng.choice(WORDS.get(kind, (kind.replace("_", " "),)))
    if kind == "not":
        return word + "(%s)" % spell_condition(tree[1], rng)
    if kind in ("and", "or"):
        left, right = ("(%s)" % spell_condition(t, rng) if t[0] in ("and", "or") or rng.randrange(2) else spell_condition(t, rng) for t in tree[1:])
        return "%s %s %s" % (left, word, right)
    left, right = spell(tree[1], rng, rng.randrange(3) == 0), [spell(t, rng, rng.randrange(3) == 0) for t in tree[2:]]
    if kind == "in":
        return "%s in (%s)" % (left, ", ".join(right))
    if kind == "between":
        return "%s between %s and %s" % (left, *right)
    return " ".join([left, word, *right])


# ---- random trees ---------------------------------------------------------------------------

PATTERNS = ("[a-z]+", "(.)(.)", "^.", "[0-9]+$", "(a)|b", "\\.", "^[^A-Z]*$")


class Draw:
    """Draws trees. numbers, texts, dates: the names of columns, of which those of numbers may be empty, others too. aggregates: draws
    these as well. one_in: one value in so many is of another type than what it is taken for; 0: none."""
    def __init__(self, rng, numbers, texts=(), dates=(), aggregates=False, one_in=0, patterns=True):
        self.rng, self.numbers, self.texts, self.dates = rng, list(numbers), list(texts), list(dates)
        self.aggregates, self.one_in, self.patterns = aggregates, one_in, patterns

    def odd(self):
        return self.one_in and self.rng.randrange(self.one_in) == 0

    def column(self, names):
        return ("column", self.rng.choice(self.numbers + self.texts + self.dates if self.odd() else names))

    def literal(self):
        return ("number", self.rng.choice(("0", "1", "2.50", "1e2", "0.001", "7", "123456789012345678", "12345678901234567890.5")))

    def number(self, depth):
        """A tree whose value is a number."""
        rng, form = self.rng, self.rng.randrange(20) if depth else self.rng.randrange(2)
        if form == 0:
            return self.literal()
        if form == 1 or (form > 14 and not self.texts):
            return self.column(self.numbers)
        if form == 19 and self.aggregates:
            return self.aggregate(depth)
        if form in (12, 18):
            return self.condition(depth - 1)
        if form == 17:
            return ("number_of", self.any(depth - 1))
        if form == 16:
            return (rng.choice(("duration", "bytes")), self.any(depth - 1)) if self.odd() else ("length", self.text(depth - 1))
        if form == 15 and self.dates:
            return self.of_time(depth)
        if form == 13:
            return (rng.choice(REAL[:4]), self.number(depth - 1))
        if form == 14:
            k = ("number", rng.choice(("2", "3", "0.5", "-1", "-2", "1.5", "0", "10", "40")))
            return rng.choice((("pow", self.number(depth - 1), k), ("exp", ("%", self.number(depth - 1), k))))
        if form == 7:
            return (rng.choice(("min", "max")), *(self.number(depth - 1) for _ in range(rng.choice((2, 2, 3)))))
        if form < 8:
            return (rng.choice("+-**+/%") if rng.randrange(8) else rng.choice(("mod", "div", "bin")), self.number(depth - 1),
                    self.number(depth - 1))
        x = self.number(depth - 1)
        if form == 8 and rng.randrange(3) == 0:
            return ("nullif", x if nodes(x, "column") else self.column(self.numbers), self.number(depth - 1))
        if form == 8:
            return (rng.choice(PLACES), x, rng.randrange(6))
        if form == 9:
            return ("coalesce", x, *(self.number(depth - 1) for _ in range(rng.choice((1, 1, 2)))))
        if form == 10:
            return (rng.choice(("neg", "abs", "floor", "ceil", "sign")), x)
        if rng.randrange(3) == 0:
            return self.of_values(depth, x)
        return ("if", self.condition(depth - 1), x, self.number(depth - 1) if rng.randrange(8) else ("missing",))

    def of_values(self, depth, x):
        """What a value is compared with, one after the other."""
        subject = self.column(self.texts if self.texts and self.rng.randrange(2) else self.numbers) if self.rng.randrange(3) else self.any(depth - 1)
        tree = self.number(depth - 1) if self.rng.randrange(3) else ("missing",)
        for _ in range(self.rng.choice((1, 2, 3))):
            tree = ("if", ("=", subject, self.like(subject, depth - 1) if self.texts else self.number(depth - 1)), x if self.rng.randrange(3) else self.number(depth - 1), tree)
        return tree

    def of_time(self, depth):
        """A number that is made of times."""
        t = self.time(depth - 1)
        form = self.rng.randrange(4)
        if form == 0:
            return ("epoch", t)
        if form == 1:
            return ("seconds", t if type_of(t) == "time" else ("time", t), self.time(depth - 1))
        return (self.rng.choice(PARTS), t)

    def time(self, depth):
        """A tree whose value is a time, or a column of times."""
        rng, form = self.rng, self.rng.randrange(10) if depth > 0 else 9
        if form > 7:
            return self.column(self.dates)
        if form == 7:
            return (rng.choice(("from_epoch", "from_epoch_ms")), rng.choice((self.column(self.numbers), ("floor", self.number(depth - 1)),
                                                                               ("number", rng.choice(("0", "1e9", "-86400.5", "1714558500.25"))))))
        t = self.time(depth - 1)
        if form == 0:
            return ("trunc_time", t, rng.choice(list(UNITS)))
        if form == 1:
            return (rng.choice(("time", "date")), t)
        if form == 2:
            return ("add_months", t, self.integer())
        if form == 3:
            return ("time", ("format", t, "%d.%m.%Y %T"), "%d.%m.%Y %H:%M:%S")
        return ("later", t, rng.choice(("1h30m", "2 days", "45:00", *MONTHS)), rng.choice((1, -1)))

    def integer(self):
        n = self.rng.choice((1, 2, 3, 5, -1, -2, -4, 30))
        return ("number", str(n)) if self.rng.randrange(4) or not self.texts else ("-", ("length", self.column(self.texts)), ("number", "2"))

    def text(self, depth):
        """A tree whose value is a text."""
        rng, form = self.rng, self.rng.randrange(12) if depth > 0 else 0
        if form == 0:
            return self.column(self.texts if rng.randrange(3) else self.texts + self.numbers)
        if form == 1:
            return ("text", rng.choice((b"none", b'"a,b"', b"x y", b"12", "\u00d6l".encode())))
        if form == 2:
            return ("coalesce", self.any(depth - 1), self.text(depth - 1))
        if form == 3:
            return ("if", self.condition(depth - 1), self.text(depth - 1), rng.choice((self.text(depth - 1), ("text", b"big"), ("missing",))))
        if form == 4:
            return (rng.choice(("lower", "upper")), self.any(depth - 1))
        if form == 5:
            return ("text_of", self.any(depth - 1))
        if form == 6 and self.dates:
            return rng.choice((self.time(depth - 1), ("format", self.time(depth - 1), rng.choice(FORMATS))))
        return self.made(depth)

    def made(self, depth):
        """A text that functions make of others, and of numbers."""
        rng, x = self.rng, self.any(depth - 1)
        part = ("text", rng.choice((b" ", b"a", b"b", b'","', b"1", b".", "\u00f6".encode(), b'""""', b"--"))) if rng.randrange(4) else self.column(self.texts)
        name = rng.choice(("trim", "substr", "substr", "left", "right", "concat", "replace", "split", "pad", "extract", "||"))
        if name == "||":
            operands = [rng.choice((part, x, self.any(0))) for _ in range(rng.choice((2, 2, 3)))]
            return (name, *operands, *[part] * all(t[0] in CONDITIONS for t in operands))      # of truths alone it is "or"
        if name == "trim":
            return (name, x)
        if name == "substr":
            return (name, x, self.integer()) + ((self.integer(),) if rng.randrange(2) else ())
        if name in ("left", "right"):
            return (name, x, self.integer())
        if name == "concat":
            return (name, x) + tuple(rng.choice((part, self.any(0), ("missing",))) for _ in range(rng.randrange(4)))
        if name == "replace":
            return (name, x, part, rng.choice((("text", b""), ("text", b"/"), self.column(self.texts))))
        if name == "split":
            return (name, x, part, self.integer())
        if name == "pad" or not self.patterns:
            return ("pad", x, self.integer()) + ((part,) if rng.randrange(2) else ())
        return (name, x, ("text", rng.choice(PATTERNS).encode()))

    def any(self, depth):
        draw = self.rng.choice([self.number, self.number, self.text] + [self.time] * bool(self.dates)) if self.texts else self.number
        return draw(depth)

    def aggregate(self, depth):
        name = self.rng.choice(("sum", "mean", "min", "max", "count", "median", "stddev", "p25", "var", "first", "count_distinct", "range"))
        plain = Draw(self.rng, self.numbers, self.texts, self.dates, False, 0, self.patterns)
        return ("aggregate", name, ("missing",) if name == "count" and self.rng.randrange(2) else plain.number(self.rng.randrange(depth)))

    def condition(self, depth):
        rng, form = self.rng, self.rng.randrange(14)
        if form < 3 and depth > 0:
            return ("not", self.condition(depth - 1))
        if form < 7 and depth > 0:
            return (rng.choice(("and", "or")), self.condition(depth - 1), self.condition(depth - 1))
        if form in (7, 8) or not self.texts and form > 10:
            x = self.any(max(depth - 1, 0))
            return ("is missing" if form == 7 else "is number", x if x[0] not in ("number", "text") else self.column(self.numbers))
        if form < 11 or not self.texts:
            return (rng.choice(list(SIGNS)), self.column(self.numbers), ("number", rng.choice(("0", "1", "100", "-2", "3.50"))))
        return self.test(max(depth - 1, 0))

    def test(self, depth):
        """A comparison of any two values, or another test of texts."""
        rng, form = self.rng, self.rng.randrange(12)
        x = self.any(depth)
        x = x if nodes(x, "column") or nodes(x, "aggregate") else self.column(self.numbers)
        if form < 4:
            y = self.any(depth)
            return (rng.choice(list(SIGNS)), *rng.choice(((x, y), (y, x))))
        if form == 4:
            return (rng.choice(list(SIGNS)), self.column(self.numbers), self.number(depth))
        if form == 5:
            return (rng.choice(list(SIGNS)), self.time(depth), ("trunc_time", self.time(depth), "day")) if self.dates else ("is missing", x)
        if form == 6:
            return ("in", x, *(self.like(x, depth) for _ in range(rng.choice((1, 2, 3)))))
        if form == 7:
            return ("between", x, self.like(x, depth), self.like(x, depth))
        if form == 8 and self.patterns:
            return ("~", x, ("text", rng.choice(PATTERNS).encode()))
        part = ("text", rng.choice((b"a", b"1", b".", b'"x,Y"', "\u00df".encode())))
        return (rng.choice(list(PARTS_OF_TEXTS)), x, part if rng.randrange(3) else self.text(depth))

    def like(self, x, depth):
        """A value to compare with x."""
        kind = type_of(x)
        if kind == "time":
            return self.rng.choice((("text", b"2024-02-29"), self.column(self.dates), self.time(depth)))
        return self.number(depth) if kind == "number" else self.text(depth) if kind == "text" else self.rng.choice((self.number(0), self.text(0)))


def random_rows(rng):
    """Records with the raw fields a, b, numbers, t, a text, and d, a date."""
    numbers = (b"", b"0", b"1", b"-2", b"3.5", b"-12.50", b'"7"', b" 8 ", b"1e3", b"999999999999999999", b"12345678901234567890123", b"0.10")
    texts = (b"", b"a", b"Abc", b'"x,Y"', b'"say ""HI"""', "grÖße".encode(), b"  pad ", b"12")
    dates = (b"", b"2026-11-23", b"1969-12-31T23:59:58.25Z", b'"2024-01-01T00:00:00+02:00"')
    return [dict(zip("abtd", map(rng.choice, (numbers, numbers, texts, dates)))) for _ in range(rng.choice((1, 5, 63, 64, 65, 300)))]


def in_csv(key):
    """A text as a field."""
    return b'"' + key.replace(b'"', b'""') + b'"' if any(c in key for c in b'",\r\n') else key
