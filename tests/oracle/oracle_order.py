# SPDX-License-Identifier: MIT
"""Order statistics of decimals, by sorted lists of Fractions: quantiles by definition 7 of Hyndman and Fan."""
import collections
import fractions
import functools

import oracle_style
from oracle_text import EXACT, mean_text

# Some percentiles by their option, and what is made of percentiles.
PERCENTILES = {"median": "50", "p0": "0", "p1": "1", "p25": "25", "p33.333": "33.333", "p50": "50", "p75": "75", "p99.9": "99.9", "p100": "100"}
TRIMMED = "trimmed-mean:"   # and what part is left out at each end
QUANTILES = tuple(PERCENTILES) + ("iqr", "mad") + tuple(TRIMMED + part for part in ("0.1", "0", "0.25", "0.49999", "0.333333333333333"))


def spell(operation, columns):
    """The option of an operation: a trimmed mean's part stands behind the columns."""
    name, colon, part = operation.partition(":")
    return "--%s=%s%s" % (name, columns, colon + part)


def percentile(values, percent):
    """Of a sorted list of Decimals, as a Fraction; percent: text."""
    h = (len(values) - 1) * fractions.Fraction(percent) / 100
    k = h.numerator // h.denominator
    x, above = fractions.Fraction(values[k]), fractions.Fraction(values[min(k + 1, len(values) - 1)])
    return x + (h - k) * (above - x)


def plain(x, scale):
    """A Fraction that is a decimal, as text with `scale` digits after the point, or more if it has more."""
    if oracle_style.SHOWN:
        return oracle_style.SHOWN.text(x)
    while (x * 10 ** scale).denominator != 1:
        scale += 1
    digits = str(abs(int(x * 10 ** scale))).rjust(scale + 1, "0")
    return ("-" if x < 0 else "") + digits[:len(digits) - scale] + ("." + digits[len(digits) - scale:] if scale else "")


def answer(operation, values, scale):
    """values: a list of Decimals; scale: the column's. None where there are none."""
    if not values:
        return None
    values = sorted(values)
    if operation.startswith(TRIMMED):
        n = int(len(values) * fractions.Fraction(operation.removeprefix(TRIMMED)))
        values = values[n:len(values) - n]
        return mean_text(functools.reduce(EXACT.add, values), len(values))
    if operation == "iqr":
        return plain(percentile(values, "75") - percentile(values, "25"), scale)
    if operation == "mad":
        median = percentile(values, "50")
        return plain(percentile(sorted(abs(v - median) for v in map(fractions.Fraction, values)), "50"), scale)
    return plain(percentile(values, PERCENTILES.get(operation) or operation[1:]), scale)


def histogram(values, width):
    """[(low, high, count)] of Fractions: every bin from that of the least value to that of the greatest."""
    bins = collections.Counter(v // width for v in values)
    return [(k * width, (k + 1) * width, bins[k]) for k in range(min(bins), max(bins) + 1)] if bins else []
