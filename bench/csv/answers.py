# SPDX-License-Identifier: MIT
"""Compares answers. gpustat's are exact; a peer's may have the rounding errors of doubles."""
import decimal
import re

# A sum of doubles in any order has a smaller error; a lost record or a wrong column has a larger one.
TOLERANCE = decimal.Decimal("1e-9")


def numbers(text):
    """The numbers of an answer in ascending order, since each tool has its own order.

    Words, as a header has them, are left out.
    """
    found = []
    for word in re.split(r"[\s,]+", text.decode("utf-8", "replace")):
        try:
            found.append(decimal.Decimal(word))
        except decimal.InvalidOperation:
            continue
    return sorted(n for n in found if n.is_finite())


def error(got, want):
    """The largest relative error of the numbers `got`; None: their count differs."""
    if len(got) != len(want) or not want:
        return None
    with decimal.localcontext(decimal.Context(prec=60)):
        return max(abs(g - w) / (abs(w) or 1) for g, w in zip(got, want))


def verdict(got, want):
    """The words of the table for an answer (bytes), and whether it is right."""
    difference = error(numbers(got), numbers(want))
    if difference is None:
        return "WRONG: %d numbers, not %d" % (len(numbers(got)), len(numbers(want))), False
    if difference == 0:
        return "exact", True
    return ("%.0e off" if difference <= TOLERANCE else "WRONG: %.0e off") % difference, \
        difference <= TOLERANCE
