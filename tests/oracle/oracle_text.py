# SPDX-License-Identifier: MIT
"""What a value is: the chapter NUMBERS of gpustat(1), by Python's decimal with room for every digit.

tests/oracle/oracle_check.py holds it against fractions. Nothing here was taken from the program.
"""
import codecs
import decimal
import fractions
import re

import oracle_style

LIMIT = 400                       # |x| < 10^400 and scale <= 400
EXACT = decimal.Context(prec=20000, Emin=-999999, Emax=999999, rounding=decimal.ROUND_HALF_EVEN,
                        traps=[decimal.Inexact, decimal.InvalidOperation, decimal.Overflow])
MEAN = decimal.Context(prec=17, Emin=-999999, Emax=999999, rounding=decimal.ROUND_HALF_EVEN)
BOM = b"\xef\xbb\xbf"
BLANKS = b" \t"
NUMBER = re.compile(rb"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?\Z")


class Unclear(Exception):
    """The contract does not say; the caller must not test this."""


class Usage(Exception):
    """Exit 2."""


class BadData(Exception):
    """Exit 1. places: pairs (file name, line), each a right one to name; columns: names.
    values: what stands in the field, stripped of blanks, where it is no number. kind: a key of oracle_judge.KINDS."""
    def __init__(self, what, places=(), columns=(), values=(), kind=None):
        super().__init__(what)
        self.places, self.columns, self.values, self.kind = set(places), set(columns), set(values), kind


# ---- numbers --------------------------------------------------------------------------------

def strip(field):
    """Surrounding blanks are no part of a value."""
    return field.strip(BLANKS)


def is_number(field):
    return NUMBER.match(strip(field)) is not None


def number(field, more_places=0):
    """field -> (exact Decimal, scale), None where it is no number, BadData beyond the range.
    more_places: of a percentage, 2: its value has the point two places further left."""
    m = NUMBER.match(strip(field))
    if not m:
        return None
    sign, whole, fraction, bare, exponent = m.groups()
    fraction = bare if bare is not None else fraction or b""
    digits = ((whole or b"") + fraction).lstrip(b"0")
    power = int(exponent or b"0") - len(fraction) - more_places
    scale = max(0, -power)
    if scale > LIMIT or (digits and len(digits) + power > LIMIT):
        raise BadData("out of range", kind="range")
    if not digits:
        return decimal.Decimal(0), scale
    value = decimal.Decimal((1 if sign == b"-" else 0, tuple(d - 48 for d in digits), power))
    return value, scale


def in_plain(value, scale):
    """A Decimal as text with `scale` digits after the point, exactly."""
    if oracle_style.SHOWN:
        return oracle_style.SHOWN.text(fractions.Fraction(value))
    if value == 0:
        value = decimal.Decimal(0)
    return format(value.quantize(decimal.Decimal((0, (1,), -scale)), context=EXACT), "f")


def mean_text(total, count):
    if oracle_style.SHOWN:
        return oracle_style.SHOWN.text(fractions.Fraction(total) / count)
    quotient = MEAN.divide(total, decimal.Decimal(count))
    if quotient == 0:
        return "0"
    text = format(quotient, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


# ---- names that are no UTF-8 --------------------------------------------------------------------

def in_json(name):
    """Text that is no UTF-8 has the replacement character for each byte that is none."""
    return name.decode("utf-8", "one by one")


def is_utf8(text):
    return b"\xef\xbf\xbd" in text or "\ufffd" not in text.decode("utf-8", "replace")


codecs.register_error("one by one", lambda e: ("\ufffd", e.start + 1))
