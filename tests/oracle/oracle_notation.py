# SPDX-License-Identifier: MIT
"""The notations of people: --decimal, --thousands, --money, --percent, --durations and --sizes.

A Notation takes off what its options allow, checks the groups, and gives the rest to oracle_text.number().
"""
import fractions
import functools
import itertools
import re
import unicodedata

from oracle_text import is_number, number, strip

GAPS = (b" ", b"\t", "\u00a0".encode(), "\u202f".encode())
SIGNS = tuple(chr(c).encode() for c in range(0x110000) if unicodedata.category(chr(c)) == "Sc")
CURRENCY = re.compile(b"|".join(map(re.escape, SIGNS)) + b"|[A-Z]{3}")


def without(text, end, marks):
    """`text` without one of `marks` at this end (0: the front, 1: the back), for each that stands there."""
    for mark in marks:
        if text.startswith(mark) if end == 0 else text.endswith(mark):
            yield text[len(mark):] if end == 0 else text[:len(text) - len(mark)]


def without_currency(text, end):
    """The same for a sign or a code of a currency, with and without the blank between it and the number."""
    found = list(without(text, end, SIGNS))
    code = text[:3] if end == 0 else text[-3:]
    if len(code) == 3 and code.isalpha() and code.isascii() and code.isupper():
        found.append(text[3:] if end == 0 else text[:-3])
    for rest in found:
        yield rest
        yield from without(rest, end, GAPS)


# ---- durations and sizes -------------------------------------------------------------------

_GAP = rb"(?:[ \t]|\xc2\xa0|\xe2\x80\xaf)?"
_WORDS = ((604800, rb"weeks?|w"), (86400, rb"days?|d"), (3600, rb"hours?|hrs?|h"), (60, rb"minutes?|mins?|m"),
          (1, rb"seconds?|secs?|s"), (fractions.Fraction(1, 10 ** 3), rb"ms"),
          (fractions.Fraction(1, 10 ** 6), rb"us|\xc2\xb5s|\xce\xbcs"), (fractions.Fraction(1, 10 ** 9), rb"ns"))
_SIZE = re.compile(rb"(.*?)" + _GAP + rb"(?:[Bb]|([KMGTPE])(i?)B?|(k)(i?)B?|([kmgtpe])(i?)b|([gtp]))\Z", re.S)
SCALE = 18


def in_plain(x):
    """A Fraction of no more than SCALE places as text, without zeros at its end; None: it has more, or is too large."""
    scaled = x * 10 ** SCALE
    if scaled.denominator != 1 or scaled >= 2 ** 124:
        return None
    digits = str(scaled.numerator).rjust(SCALE + 1, "0")
    return (digits[:-SCALE] + "." + digits[-SCALE:]).rstrip("0").rstrip(".").encode()


def short(text, decimal):
    """digits[.digits] -> a Fraction, or None if there are more than 18 significant digits, or 23 bytes."""
    text = text.replace(decimal, b".")
    m = re.match(rb"([0-9]*)(?:\.([0-9]*))?\Z", text)
    if not m or not (m[1] or m[2]) or len(text) > 23 or len((m[1] + (m[2] or b"")).lstrip(b"0")) > 18:
        return None
    return fractions.Fraction(int(m[1] + (m[2] or b"")), 10 ** len(m[2] or b""))


def seconds_of(text, decimal):
    """A duration without a sign -> its seconds as plain text, or None."""
    point = re.escape(decimal)
    number = rb"((?:[0-9]|" + point + rb")+)"
    forms = []
    words = b"".join(rb"(?:" + number + _GAP + rb"(?:" + names + rb")(?![a-z\x80-\xff])" + (rb",?" if unit == 86400 else b"") + _GAP + b")?"
                     for unit, names in _WORDS)
    forms.append((words + rb"\Z", [unit for unit, _ in _WORDS]))
    sixty = rb"([0-5][0-9])"
    last = rb"([0-5][0-9](?:" + point + rb"[0-9]+)?)\Z"
    forms.append((rb"([0-9]+):" + last, [60, 1]))
    forms.append((rb"(?:([0-9]+)-)?([0-9]+):" + sixty + b":" + last, [86400, 3600, 60, 1]))
    forms.append((number + _GAP + rb"(?:days?|d),?" + _GAP + rb"([0-9]+):" + sixty + b":" + last, [86400, 3600, 60, 1]))
    forms.append((rb"P(?:" + number + rb"W)?(?:" + number + rb"D)?(?:T(?=.)(?:" + number + rb"H)?(?:" + number + rb"M)?(?:" + number + rb"S)?)?\Z",
                  [604800, 86400, 3600, 60, 1]))
    for form, units in forms:
        m = re.match(form, text)
        if not m or not any(m.groups()) or text[-1:] == b"," or text.endswith((b" ", b"\t")):
            continue
        parts = [short(part, decimal) if part else 0 for part in m.groups()]
        if None not in parts and all((p * u * 10 ** SCALE).denominator == 1 for p, u in zip(parts, units)):
            return in_plain(sum(p * u for p, u in zip(parts, units)))
    return None


class Notation:
    """decimal: the byte of the point. thousands: the sign between groups, UTF-8, or None. currency: of the table's
    amounts, for those who write them; the model takes any."""
    def __init__(self, decimal=b".", thousands=None, money=False, percent=False, currency=None, durations=False, sizes=b"none"):
        self.mark = currency
        self.decimal, self.thousands, self.money, self.percent = decimal, thousands, money, percent
        self.durations, self.sizes = durations, sizes
        self.plain = decimal == b"." and not thousands and not money and not percent and not durations and sizes == b"none"
        self.number = number if self.plain else functools.lru_cache(4096)(self._number)
        self.is_number = is_number if self.plain else functools.lru_cache(4096)(self._is_number)

    def args(self):
        out = [b"--decimal=" + self.decimal] if self.decimal != b"." else []
        if self.thousands:
            out.append(b"--thousands=" + self.thousands)
        out += [b"--sizes=" + self.sizes] if self.sizes != b"none" else []
        return out + [b"--money"] * self.money + [b"--percent"] * self.percent + [b"--durations"] * self.durations

    def printed(self, text):
        """A number of a new column: the input's own decimal byte."""
        return text.replace(b".", self.decimal)

    def _number(self, field):
        """As oracle_text.number()."""
        text, places = self.plain_text(strip(field))
        return None if text is None else number(text, places)

    def _is_number(self, field):
        text, _ = self.plain_text(strip(field))
        return text is not None and is_number(text)

    def currency_of(self, field):
        """Of a number: its sign or its three letters, or None."""
        found = CURRENCY.search(field) if self.money else None
        return found[0] if found else None

    def plain_text(self, text):
        """-> (the number with a point and nothing else, or None; how many places a percent sign moves it)."""
        found = set()
        for sign, places, rest in self.ways(text, True, True):
            plain = self.without_groups(rest)
            if isinstance(places, tuple):   # of a size: bytes of a unit, and the power of 1000
                plain, places = self.bytes_of(plain, *places)
            if plain is not None and is_number(plain):
                found.add((sign + plain, places))
        if not found and self.durations:
            signed = [(b"", text)] + list(self.signs(text))
            found = {(sign + seconds_of(rest, self.decimal), 0) for sign, rest in signed if seconds_of(rest, self.decimal)}
        assert len(found) < 2, (text, found)
        return found.pop() if found else (None, 0)

    def ways(self, text, may_sign, may_unit):
        """Every way to take a sign and a unit off, one of each at most, in any order: (sign, places, what is left)."""
        yield b"", 0, text
        if may_sign:
            for sign, rest in self.signs(text):
                yield from ((sign, places, left) for _, places, left in self.ways(rest, False, may_unit))
        if may_unit:
            for places, rest in self.units(text):
                yield from ((sign, places, left) for sign, _, left in self.ways(rest, may_sign, False))

    def signs(self, text):
        if text[:1] in (b"+", b"-"):
            yield text[:1], text[1:]
        if self.money and text.endswith(b"-"):
            yield b"-", text[:-1]
        if self.money and text.startswith(b"(") and text.endswith(b")"):
            yield b"-", text[1:-1]

    def units(self, text):
        if self.money:
            yield from ((0, rest) for end in (0, 1) for rest in without_currency(text, end))
        if self.percent and text.endswith(b"%"):
            yield 2, text[:-1]
            yield from ((2, rest) for rest in without(text[:-1], 1, GAPS))

        m = _SIZE.match(text) if self.sizes != b"none" else None
        if m:
            prefix = (m[2] or m[4] or m[6] or m[8] or b"").upper()
            power = b" KMGTPE".index(prefix) if prefix else 0
            is_binary = bool(m[3] or m[5] or m[7]) or self.sizes == b"iec"
            yield (1024 ** power if is_binary else 1, 0 if is_binary else power), m[1]

    @staticmethod
    def bytes_of(plain, unit, power):
        if plain is None or re.search(b"[eE]", plain):
            return None, 0
        if unit == 1:
            return plain, -3 * power
        digits = plain.replace(b".", b"").lstrip(b"0")
        whole, _, part = plain.partition(b".")
        if len(digits) > 18 or len(part) > 31 or len(plain) > 64:
            return None, 0
        x = fractions.Fraction(int(whole + part), 10 ** len(part)) * unit
        text = str(x.numerator * (10 ** len(part) // x.denominator)).rjust(len(part) + 1, "0")
        text = (text[:len(text) - len(part)] + "." + text[len(text) - len(part):]).rstrip("0").rstrip(".")
        return text.encode(), 0

    def without_groups(self, text):
        """An unsigned number with a point and without groups, or None where these are wrong."""
        m = re.match(rb"(.*?)(?:" + re.escape(self.decimal) + rb"([0-9]*))?([eE][+-]?[0-9]+)?\Z", text, re.S)
        if m is None or not (m[1] or m[2]):
            return None
        whole = m[1]
        if self.thousands and not whole.isdigit() and whole:
            marks = {b" ", "\u00a0".encode(), "\u202f".encode()} if self.thousands == b" " else {self.thousands}
            first, *groups = re.split(b"|".join(re.escape(mark) for mark in marks), whole)
            if not 1 <= len(first) <= 3 or first[:1] == b"0" or any(len(g) != 3 for g in groups):
                return None
            whole = b"".join([first] + groups)
        if whole and not whole.isdigit():
            return None
        return whole + (b"." + m[2] if m[2] is not None else b"") + (m[3] or b"")


PLAIN = Notation()


@functools.lru_cache(None)
def _all():
    found = []
    for decimal, thousands in itertools.product((b".", b","), (None, b",", b".", b"'", b" ", "\u2019".encode())):
        if decimal != thousands:
            found.append(Notation(decimal, thousands, True, False))
            found.append(Notation(decimal, thousands, False, True))
    return found


@functools.lru_cache(4096)
def is_number_somewhere(field):
    """Is it a number under some notation?"""
    return any(notation.is_number(field) for notation in _all())
