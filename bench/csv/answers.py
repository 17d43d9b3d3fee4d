# SPDX-License-Identifier: MIT
"""Whether answers agree. gpustat's are exact; a peer's may differ as its doubles do."""
import decimal
import re

# Doubles that are added up in any order come closer than this; a lost record, or a column
# taken for another, does not.
TOLERANCE = decimal.Decimal("1e-9")


def numbers(text):
    """The numbers of an answer in ascending order, for tools order them each in its own way.

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
    """The largest relative error of the numbers `got`, or None: they are not so many."""
    if len(got) != len(want) or not want:
        return None
    with decimal.localcontext(decimal.Context(prec=60)):
        return max(abs(g - w) / (abs(w) or 1) for g, w in zip(got, want))


def verdict(got, want):
    """What the table says of an answer (bytes), and whether it is good enough."""
    difference = error(numbers(got), numbers(want))
    if difference is None:
        return "WRONG: %d numbers, not %d" % (len(numbers(got)), len(numbers(want))), False
    if difference == 0:
        return "exact", True
    return ("%.0e off" if difference <= TOLERANCE else "WRONG: %.0e off") % difference, \
        difference <= TOLERANCE
