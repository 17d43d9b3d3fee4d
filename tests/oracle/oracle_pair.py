# SPDX-License-Identifier: MIT
"""Statistics of two columns, by Python's fractions: exact, rounded once, as oracle_statistic.py rounds.

Covariance and correlation are sums of products of deviations from the means; the program multiplies sums instead.
"""
import fractions
import re

from oracle_statistic import rounded, signed, variance

PAIRS = ("cov", "cov-pop", "corr", "slope", "intercept", "wmean")
SYMMETRIC = ("cov", "cov-pop", "corr")     # '*' makes a matrix of them
_SIDE = rb'("(?:[^"]|"")*"|:?[^:,"][^:,]*)'
_ITEM = re.compile(_SIDE + rb":" + _SIDE + rb"(,|\Z)")


def _signed(x, root=None):
    """The text of x; or of the root of root, with the sign of x."""
    text = rounded(abs(x)) if root is None else rounded(root, True)
    return signed(x, text)


def answer(operation, pairs):
    """The statistic of a list of pairs of Decimals as text, or None."""
    pairs = [(fractions.Fraction(x), fractions.Fraction(y)) for x, y in pairs]
    n, weights = len(pairs), sum(y for _, y in pairs)
    if operation == "wmean":
        return _signed(sum(x * y for x, y in pairs) / weights) if weights else None
    if n < (1 if operation == "cov-pop" else 2):
        return None
    means = [sum(p[side] for p in pairs) / n for side in (0, 1)]
    products = sum((x - means[0]) * (y - means[1]) for x, y in pairs)
    if operation in ("cov", "cov-pop"):
        return _signed(products / (n - (operation == "cov")))
    if operation in ("slope", "intercept"):
        scatter = sum((x - means[0]) ** 2 for x, _ in pairs)
        slope = products / scatter if scatter else None
        return None if slope is None else _signed(slope if operation == "slope" else means[1] - slope * means[0])
    squares = [variance([p[side] for p in pairs], 0) * n for side in (0, 1)]
    return _signed(products, products ** 2 / (squares[0] * squares[1])) if all(squares) else None


def of_itself(operation, values):
    """What stands on the diagonal of a matrix."""
    return answer(operation, [(x, x) for x in values])


def sides(text):
    """x:y,x:y -> [(x, y)]: raw items of COLS. None where it is not that, or only names can tell."""
    found, at = [], 0
    while True:
        m = _ITEM.match(text, at)
        if not m:
            return None
        found.append((m[1], m[2]))
        at = m.end()
        if not m[3]:
            return found


def both(records, x, y):
    """The pairs of values of the records that have both. records: {column: pair (value, scale), or what it is else}."""
    return [(r[x][0], r[y][0]) for r in records if isinstance(r[x], tuple) and isinstance(r[y], tuple)]
