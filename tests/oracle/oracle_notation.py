# SPDX-License-Identifier: MIT
"""The notations of people: --decimal, --thousands, --money and --percent.

A Notation takes off what its options allow, checks the groups, and gives the rest to oracle_text.number().
"""
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


class Notation:
    """decimal: the byte of the point. thousands: the sign between groups, UTF-8, or None. currency: of the table's
    amounts, for those who write them; the model takes any."""
    def __init__(self, decimal=b".", thousands=None, money=False, percent=False, currency=None):
        self.mark = currency
        self.decimal, self.thousands, self.money, self.percent = decimal, thousands, money, percent
        self.plain = decimal == b"." and not thousands and not money and not percent
        self.number = number if self.plain else functools.lru_cache(4096)(self._number)
        self.is_number = is_number if self.plain else functools.lru_cache(4096)(self._is_number)

    def args(self):
        out = [b"--decimal=" + self.decimal] if self.decimal != b"." else []
        if self.thousands:
            out.append(b"--thousands=" + self.thousands)
        return out + [b"--money"] * self.money + [b"--percent"] * self.percent

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
        found = {(sign + self.without_groups(rest), places) for sign, places, rest in self.ways(text, True, True)
                 if self.without_groups(rest) is not None and is_number(self.without_groups(rest))}
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
