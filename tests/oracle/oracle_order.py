# SPDX-License-Identifier: MIT
"""Order statistics of decimals, by sorted lists of Fractions: quantiles by definition 7 of Hyndman and Fan."""
import collections
import fractions

# Some percentiles by their option, and what is made of percentiles.
PERCENTILES = {"median": "50", "p0": "0", "p1": "1", "p25": "25", "p33.333": "33.333", "p50": "50", "p75": "75", "p99.9": "99.9", "p100": "100"}
QUANTILES = tuple(PERCENTILES) + ("iqr", "mad")


def percentile(values, percent):
    """Of a sorted list of Decimals, as a Fraction; percent: text."""
    h = (len(values) - 1) * fractions.Fraction(percent) / 100
    k = h.numerator // h.denominator
    x, above = fractions.Fraction(values[k]), fractions.Fraction(values[min(k + 1, len(values) - 1)])
    return x + (h - k) * (above - x)


def plain(x, scale):
    """A Fraction that is a decimal, as text with `scale` digits after the point, or more if it has more."""
    while (x * 10 ** scale).denominator != 1:
        scale += 1
    digits = str(abs(int(x * 10 ** scale))).rjust(scale + 1, "0")
    return ("-" if x < 0 else "") + digits[:len(digits) - scale] + ("." + digits[len(digits) - scale:] if scale else "")


def answer(operation, values, scale):
    """values: a list of Decimals; scale: the column's. None where there are none."""
    if not values:
        return None
    values = sorted(values)
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
