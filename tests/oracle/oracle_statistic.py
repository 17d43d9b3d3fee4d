# SPDX-License-Identifier: MIT
"""Statistics of decimals, by Python's fractions and integer roots: exact, rounded once, half to even, to 17 digits.

Nothing here was taken from the program: it divides naturals by subtraction, and here is integer division.
"""
import collections
import decimal
import fractions
import math

from oracle_text import EXACT, in_plain, mean_text

NDIGITS = 17


def _plain(significand, exponent):
    """significand x 10^exponent in plain decimal, without zeros at the end of a fraction."""
    digits = str(significand)
    if exponent >= 0:
        return digits + "0" * exponent if significand else "0"
    digits = digits.rjust(1 - exponent, "0")
    return (digits[:exponent] + "." + digits[exponent:]).rstrip("0").rstrip(".")


def _scaled(x, k):
    return x * 10 ** k if k >= 0 else x / 10 ** -k


def rounded(x, root=False):
    """The text of the Fraction x >= 0, or of its square root."""
    if x == 0:
        return "0"
    k = NDIGITS
    while True:  # find k so that the result times 10^k has NDIGITS digits before the point
        y = _scaled(x, 2 * k if root else k)
        s = math.isqrt(y.numerator // y.denominator) if root else y.numerator // y.denominator
        if len(str(s)) == NDIGITS and s:
            break
        k += NDIGITS - (len(str(s)) if s else 0)
    middle = fractions.Fraction(2 * s + 1, 2)
    middle = middle * middle if root else middle
    s += y > middle or (y == middle and s % 2 == 1)
    return _plain(s, -k)


def variance(values, less):
    """Of a list of Fractions, with divisor n - less; None where there are not enough."""
    n = len(values)
    if n <= less:
        return None
    mean = sum(values) / n
    return sum((v - mean) ** 2 for v in values) / (n - less)


# By operation: (divisor less than n, is it the root).
STATISTICS = {"var": (1, False), "var-pop": (0, False), "stddev": (1, True), "stddev-pop": (0, True)}


def answer(operation, values):
    """The statistic of a list of Decimals as text, or None."""
    less, root = STATISTICS[operation]
    x = variance([fractions.Fraction(v) for v in values], less)
    return None if x is None else rounded(x, root)


# ---- the values of a column ----------------------------------------------------------------

class Column:
    """The values of one column: what is asked of it comes from here."""
    def __init__(self):
        self.values, self.scale, self.texts, self.missing = [], 0, 0, 0
        self.keys = collections.Counter()  # by text, in the order of first appearance

    def add(self, pair):
        self.values.append(pair[0])
        self.scale = max(self.scale, pair[1])

    def total(self):
        total = decimal.Decimal(0)
        for v in self.values:
            total = EXACT.add(total, v)
        return total

    def answer(self, operation):
        if operation == "count":
            return str(len(self.values) + self.texts)
        if operation == "count-distinct":
            return str(len(self.keys))
        if operation in ("mode", "antimode"):  # max and min take the first of several
            best = max if operation == "mode" else min
            return best(self.keys, key=self.keys.get) if self.keys else None
        if operation == "sum":
            return in_plain(self.total(), self.scale)
        if operation in STATISTICS:
            return answer(operation, self.values)
        if not self.values:
            return None
        if operation == "mean":
            return mean_text(self.total(), len(self.values))
        return in_plain((min if operation == "min" else max)(self.values), self.scale)
