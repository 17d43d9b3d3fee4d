# SPDX-License-Identifier: MIT
"""What a record, a field and a number are: the lower half of the model of the contract.

The chapters CSV and NUMBERS of gpustat(1), one byte at a time for CSV and Python's decimal with room for every digit
for numbers. tests/oracle/oracle_check.py holds it against csv.reader and fractions. Nothing here was
taken from the program.
"""
import codecs
import collections
import csv
import decimal
import io
import re

LIMIT = 400                       # |x| < 10^400 and scale <= 400
EXACT = decimal.Context(prec=20000, Emin=-999999, Emax=999999, rounding=decimal.ROUND_HALF_EVEN,
                        traps=[decimal.Inexact, decimal.InvalidOperation, decimal.Overflow])
MEAN = decimal.Context(prec=17, Emin=-999999, Emax=999999, rounding=decimal.ROUND_HALF_EVEN)
BOM = b"\xef\xbb\xbf"
BLANKS = b" \t"
NUMBER = re.compile(rb"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?\Z")


class BadData(Exception):
    """Exit 1. places: pairs (file name, line), each a right one to name; columns: names.
    values: what stands in the field, stripped of blanks, where it is no number."""
    def __init__(self, what, places=(), columns=(), values=()):
        super().__init__(what)
        self.places, self.columns, self.values = set(places), set(columns), set(values)


# ---- syntax ---------------------------------------------------------------------------------

# fields: contents, unquoted. lines: the physical line each field starts on. raw: without its end.
Record = collections.namedtuple("Record", "fields lines raw")


def records(data, delimiter=b","):
    """Cuts `data` (no BOM) into Records, blank lines too. Returns them and the line of a quote that
    stays open (the record it is in is left out), or None."""
    out, fields, lines = [], [], []
    delim = delimiter[0]
    text, state = bytearray(), "start"          # start, plain, quoted, closed
    line, i, begin, n = 1, 0, 0, len(data)
    here, opened = 1, 1                         # lines where the field, the quote began

    def end_field():
        fields.append(bytes(text))
        lines.append(here)
        text.clear()

    while i < n:
        c = data[i]
        if state == "quoted":
            if c == 0x22:
                state = "closed"
            else:
                text.append(c)
                line += c == 0x0A
        elif c == 0x0A or (c == 0x0D and (i + 1 == n or data[i + 1] == 0x0A)):
            end_field()
            out.append(Record(tuple(fields), tuple(lines), data[begin:i]))
            fields, lines = [], []
            if c == 0x0D:
                i += 1
            line += 1
            begin, here, state = i + 1, line, "start"
        elif c == delim:
            end_field()
            here, state = line, "start"
        elif c == 0x22 and state == "start":
            state, opened = "quoted", line
        elif c == 0x22 and state == "closed":
            text.append(c)
            state = "quoted"
        else:
            text.append(c)
            state = "plain"
        i += 1
    if state == "quoted":
        return out, opened
    if begin < n:
        end_field()
        out.append(Record(tuple(fields), tuple(lines), data[begin:]))
    return out, None


def has_lone_cr(data):
    return re.search(rb"\r(?!\n)", data) is not None


def records_by_csv_module(data, delimiter=b","):
    """The same by Python's csv module, contents only, [] for a blank line. No lone CR, please."""
    csv.field_size_limit(1 << 30)
    text = io.StringIO(data.decode("latin-1"), newline="")
    rows = csv.reader(text, delimiter=delimiter.decode("latin-1"))
    return [[field.encode("latin-1") for field in row] for row in rows]


# ---- numbers --------------------------------------------------------------------------------

def strip(field):
    """Surrounding blanks are no part of a value."""
    return field.strip(BLANKS)


def is_number(field):
    return NUMBER.match(strip(field)) is not None


def number(field):
    """field -> (exact Decimal, scale), None where it is no number, BadData beyond the range."""
    m = NUMBER.match(strip(field))
    if not m:
        return None
    sign, whole, fraction, bare, exponent = m.groups()
    fraction = bare if bare is not None else fraction or b""
    digits = ((whole or b"") + fraction).lstrip(b"0")
    power = int(exponent or b"0") - len(fraction)
    scale = max(0, -power)
    if scale > LIMIT or (digits and len(digits) + power > LIMIT):
        raise BadData("out of range")
    if not digits:
        return decimal.Decimal(0), scale
    value = decimal.Decimal((1 if sign == b"-" else 0, tuple(d - 48 for d in digits), power))
    return value, scale


def in_plain(value, scale):
    """A Decimal as text with `scale` digits after the point, exactly."""
    if value == 0:
        value = decimal.Decimal(0)
    return format(value.quantize(decimal.Decimal((0, (1,), -scale)), context=EXACT), "f")


def mean_text(total, count):
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
