# SPDX-License-Identifier: MIT
"""--digits and --round: numbers as they are shown, rounded once from the exact value.

While SHOWN is a Style, the models write what they have found by it: nothing is rounded before.
"""
import fractions
import math

SHOWN = None


class Style:
    """places: after the point; half_up: ties go from 0, not to the even digit."""
    def __init__(self, places, half_up=False):
        self.places, self.half_up = places, half_up

    def text(self, x, root=False):
        """Of the Fraction x, or of its square root."""
        return self._plain(self.rounded(abs(x), root), x < 0)

    def rounded(self, x, root=False):
        """x >= 0, or its root, times 10^places, as an integer."""
        y = x * 10 ** (2 * self.places if root else self.places)
        s = math.isqrt(y.numerator // y.denominator) if root else y.numerator // y.denominator
        middle = fractions.Fraction(2 * s + 1, 2) ** (2 if root else 1)
        return s + (y > middle or (y == middle and (self.half_up or s % 2 == 1)))

    def _plain(self, n, negative):
        digits = str(n).rjust(self.places + 1, "0")
        whole, part = digits[:len(digits) - self.places], digits[len(digits) - self.places:]
        return ("-" if negative and n else "") + whole + ("." + part if self.places else "")
