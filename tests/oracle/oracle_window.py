# SPDX-License-Identifier: MIT
"""An independent model of the new columns that look back on numbers: --rolling-sum, --rolling-mean, --rolling-min,
--rolling-max, --rolling-count, --rolling-stddev, --rolling-median and --ewma. A window is a tuple of the last records' values; nothing is kept up from one to the next."""
import decimal
import fractions
import re
import statistics

import oracle_order
import oracle_style
import oracle_time
from oracle_statistic import rounded
from oracle_text import EXACT, LIMIT, MEAN, Unclear, in_plain, mean_text, strip

NDIGITS = 34    # to which a weighted mean is rounded at each step


class Window:
    """operation, such as "rolling-sum"; argument: N or A, as it was typed. A copy has a state of its own."""
    def __init__(self, operation, argument):
        self.operation, self.argument = operation, argument
        self.width = None if operation == "ewma" else width_of(argument)
        self.values, self.times, self.scale, self.mean, self.is_empty = (), (), 0, None, False

    def take(self, pair, time=None):
        """pair: of the next record, (Decimal, scale); None: it has no number. time: seconds; None: it has none."""
        if pair and self.operation != "rolling-count":
            self.scale = max(self.scale, pair[1])
        if self.operation == "ewma":
            self.weigh(pair)
            return
        value = pair and (1 if self.operation == "rolling-count" else pair[0])
        if self.width is None:
            self.values = (self.values + (value,))[-int(self.argument):]
            return
        self.is_empty = time is None
        if time is not None:
            self.times += (time,)
            self.values += (value,)
            n = sum(t > time - self.width for t in self.times)
            self.times, self.values = self.times[-n:], self.values[-n:]

    def weigh(self, pair):
        if not pair:
            return
        weight = decimal.Decimal(self.argument.decode())
        exact = pair[0] if self.mean is None else \
            EXACT.add(EXACT.multiply(weight, pair[0]), EXACT.multiply(EXACT.subtract(1, weight), self.mean))
        place = max(exact.adjusted() - NDIGITS + 1, -LIMIT) if exact else -LIMIT
        self.mean = exact
        if exact.as_tuple().exponent < place:
            self.mean = exact.quantize(decimal.Decimal((0, (1,), place)), context=_ROUNDED)

    def text(self):
        if self.is_empty:
            return b""
        if self.operation == "ewma":
            return b"" if self.mean is None else _plain(self.mean if oracle_style.SHOWN else MEAN.plus(self.mean))
        there = [v for v in self.values if v is not None]
        if self.operation == "rolling-sum":
            return in_plain(_sum(there), self.scale).encode()
        if self.operation == "rolling-count":
            return b"%d" % len(there)
        if not there:
            return b""
        if self.operation == "rolling-stddev":
            there = [fractions.Fraction(v) for v in there]
            return rounded(statistics.variance(there), root=True).encode() if len(there) > 1 else b""
        if self.operation == "rolling-median":
            return oracle_order.plain(statistics.median(map(fractions.Fraction, there)), self.scale).encode()
        if self.operation == "rolling-mean":
            return mean_text(_sum(there), len(there)).encode()
        return in_plain((min if self.operation == "rolling-min" else max)(there), self.scale).encode()


_ROUNDED = decimal.Context(prec=20000, Emin=-999999, Emax=999999, rounding=decimal.ROUND_HALF_EVEN)


def _sum(values):
    total = decimal.Decimal(0)
    for v in values:
        total = EXACT.add(total, v)
    return total


def _plain(value):
    if oracle_style.SHOWN:
        return oracle_style.SHOWN.text(fractions.Fraction(value)).encode()
    text = format(value, "f") if value else "0"
    return (text.rstrip("0").rstrip(".") if "." in text else text).encode()


UNITS = {b"w": 604800, b"d": 86400, b"h": 3600, b"m": 60, b"s": 1, b"ms": fractions.Fraction(1, 1000)}


def width_of(argument):
    """The seconds of 7d or 1h30m; None of a number of records."""
    if argument.isdigit():
        return None
    parts = re.findall(rb"([0-9.]+)(ms|[wdhms])", argument)
    if b"".join(b"".join(p) for p in parts) != argument:
        raise Unclear("a width that this model does not read")
    return sum(fractions.Fraction(number.decode()) * UNITS[unit] for number, unit in parts)


def seconds_of(q, field):
    """The seconds of a value that is a time, or a number; None: it is neither."""
    try:
        return oracle_time.read(strip(field)).seconds
    except oracle_time.NoTime:
        found = q.number(field)
        return found and fractions.Fraction(found[0])


def split(argument):
    """COLS:N -> (COLS, N)."""
    columns, _, rest = argument.rpartition(b":")
    return columns, rest


def spell(rng, operation, columns, timed=False):
    """COLS:N, N or A at random, mostly small. timed: N is a duration, mostly."""
    if operation == "ewma":
        rest = rng.choice((b"1", b"0.5", b"0.1", b"0.05", b"0.25", b"0.123456789", b"1e-3", b"0.999", b".000000000000000001"))
    elif timed and rng.randrange(4):
        rest = rng.choice((b"1s", b"2s", b"0.5s", b"10s", b"90s", b"1m", b"1h", b"1h30m", b"1d", b"7d", b"52w", b"250ms"))
    else:
        rest = b"%d" % rng.choice((1, 2, 2, 3, 3, 5, 10, 63, 64, 65, 1000, 10 ** 9))
    return columns + b":" + rest
