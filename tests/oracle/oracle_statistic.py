# SPDX-License-Identifier: MIT
"""Statistics of decimals, by Python's fractions and integer roots: exact, rounded once, half to even, to 17 digits.

Nothing here was taken from the program: it divides naturals by subtraction, and here is integer division.
"""
import collections
import decimal
import fractions
import math

import oracle_order
import oracle_style
import oracle_texts
from oracle_text import EXACT, in_plain, mean_text, strip

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
    if oracle_style.SHOWN:
        return oracle_style.SHOWN.text(x, root)
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


def known(x):
    """The text of a Fraction that is known to NDIGITS digits, as logarithms and reciprocals are."""
    style, oracle_style.SHOWN = oracle_style.SHOWN, None
    try:
        text = rounded(x)
    finally:
        oracle_style.SHOWN = style
    return style.text(fractions.Fraction(text)) if style else text


def variance(values, less):
    """Of a list of Fractions, with divisor n - less; None where there are not enough."""
    n = len(values)
    if n <= less:
        return None
    mean = sum(values) / n
    return sum((v - mean) ** 2 for v in values) / (n - less)


def _variance_text(less, root):
    def text(values):
        x = variance(values, less)
        return None if x is None else rounded(x, root)
    return text


def signed(x, text):
    """One that is rounded to 0 has no sign."""
    return "-" + text if x < 0 and text.strip("0.") else text


def _central(values, power):
    mean = sum(values) / len(values)
    return sum((v - mean) ** power for v in values) / len(values)


def skewness(values):
    """G1: g1 = m3 / m2^1.5, times the root of n (n - 1), over n - 2."""
    n = len(values)
    if n < 3 or len(set(values)) == 1:
        return None
    third = _central(values, 3)
    square = third ** 2 / _central(values, 2) ** 3 * n * (n - 1) / (n - 2) ** 2
    return signed(third, rounded(square, root=True))


def skewness_pop(values):
    """g1 = m3 / m2^1.5."""
    if len(set(values)) < 2:
        return None
    third = _central(values, 3)
    return signed(third, rounded(third ** 2 / _central(values, 2) ** 3, root=True))


def kurtosis_pop(values):
    """g2 = m4 / m2^2 - 3."""
    if len(set(values)) < 2:
        return None
    x = _central(values, 4) / _central(values, 2) ** 2 - 3
    return signed(x, rounded(abs(x)))


def sem(values):
    """The standard error of the mean."""
    x = variance(values, 1)
    return None if x is None else rounded(x / len(values), root=True)


def rms(values):
    """The root of the mean square."""
    return rounded(sum(v * v for v in values) / len(values), root=True) if values else None


def kurtosis(values):
    """G2, the excess over the normal distribution's."""
    n = len(values)
    if n < 4 or len(set(values)) == 1:
        return None
    excess = _central(values, 4) / _central(values, 2) ** 2 - 3
    x = fractions.Fraction(n - 1, (n - 2) * (n - 3)) * ((n + 1) * excess + 6)
    return signed(x, rounded(abs(x)))


def geomean(values):
    """By logarithms of 60 digits; where 40 of the result's are exact, so are ties."""
    if not values or min(values) < 0:
        return None
    if min(values) == 0:
        return known(fractions.Fraction(0))
    long = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    total = decimal.Decimal(0)
    for v in values:
        total = long.add(total, long.ln(long.divide(decimal.Decimal(v.numerator), decimal.Decimal(v.denominator))))
    mean = long.exp(long.divide(total, decimal.Decimal(len(values))))
    return known(fractions.Fraction(decimal.Context(prec=40, Emax=999999, Emin=-999999).plus(mean)))


def harmonic_mean(values):
    """Count over the sum of the reciprocals."""
    if not values or min(values) < 0:
        return None
    return known(fractions.Fraction(0) if min(values) == 0 else len(values) / sum(1 / v for v in values))


def entropy(counts):
    """Shannon's, in bits, of how often each value came: log2(n^n / (c1^c1 c2^c2 ...)) / n, by logarithms of 90 digits if that
    is no power of 2."""
    n = sum(counts)
    if n == 0:
        return None
    odd, twos = {}, 0   # the quotient is 2^twos and powers of odd primes
    for base, times in [(n, n)] + [(c, -c) for c in counts]:
        divisor = 2
        while base > 1:
            if divisor * divisor > base:
                divisor = base
            while base % divisor == 0:
                base //= divisor
                if divisor == 2:
                    twos += times
                else:
                    odd[divisor] = odd.get(divisor, 0) + times
            divisor += 1
    if not any(odd.values()):
        return known(fractions.Fraction(twos, n))
    long = decimal.Context(prec=90)
    bits = decimal.Decimal(twos)
    for prime, times in odd.items():
        bits = long.add(bits, long.multiply(long.divide(long.ln(decimal.Decimal(prime)), long.ln(decimal.Decimal(2))), decimal.Decimal(times)))
    return known(fractions.Fraction(bits) / n)


# By operation: the text of a list of Fractions, or None.
STATISTICS = {"var": _variance_text(1, False), "var-pop": _variance_text(0, False), "stddev": _variance_text(1, True),
              "stddev-pop": _variance_text(0, True), "skewness": skewness, "kurtosis": kurtosis, "geomean": geomean,
              "skewness-pop": skewness_pop, "kurtosis-pop": kurtosis_pop, "sem": sem, "rms": rms, "harmonic-mean": harmonic_mean}


def answer(operation, values):
    """The statistic of a list of Decimals as text, or None."""
    return STATISTICS[operation]([fractions.Fraction(v) for v in values])


# ---- the values of a column ----------------------------------------------------------------

class Column:
    """The values of one column: what is asked of it comes from here."""
    def __init__(self):
        self.values, self.scale, self.texts, self.missing, self.spelled = [], 0, 0, 0, []
        self.number_texts = []  # the values as they are spelled
        self.raw = []  # every value that is not missing, as it stands in the text
        self.keys = collections.Counter()  # by text, in the order of first appearance

    def add(self, pair, field=b""):
        self.values.append(pair[0])
        self.number_texts.append(field)
        self.scale = max(self.scale, pair[1])

    def add_text(self, field, pair):
        """A value of a column that need not have numbers. pair: None where it is none."""
        self.texts += 1
        self.spelled.append((field, pair))

    def end(self, at):
        """The first or last value as it is spelled, a number without blanks around it."""
        if not self.values and not self.spelled:
            return None
        field, number = (self.number_texts[at], (self.values[at],)) if self.values else self.spelled[at]
        if number and oracle_style.SHOWN:
            return oracle_style.SHOWN.text(fractions.Fraction(number[0]))
        return (strip(field) if number else field).decode("utf-8", "surrogateescape")

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
        if operation == "entropy":
            return entropy(list(self.keys.values()))
        if operation in ("mode", "antimode"):  # max and min take the first of several
            best = max if operation == "mode" else min
            return best(self.keys, key=self.keys.get) if self.keys else None
        if operation == "sum":
            return in_plain(self.total(), self.scale)
        if operation in oracle_order.QUANTILES or operation.startswith(oracle_order.TRIMMED):
            return oracle_order.answer(operation, self.values, self.scale)
        if operation in STATISTICS:
            return answer(operation, self.values)
        if operation in ("first", "last"):
            return self.end(0 if operation == "first" else -1)
        if operation in ("text-min", "text-max"):
            return oracle_texts.answer(operation, self.raw)
        if not self.values:
            return None
        if operation == "mean":
            return mean_text(self.total(), len(self.values))
        if operation == "range":
            return in_plain(EXACT.subtract(max(self.values), min(self.values)), self.scale)
        return in_plain((min if operation == "min" else max)(self.values), self.scale)
