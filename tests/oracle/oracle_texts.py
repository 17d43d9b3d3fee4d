# SPDX-License-Identifier: MIT
"""Statistics of values as text: lengths, the least and the greatest byte by byte, and whether all are dates.

The calendar is Python's datetime; the syntax is a regular expression. The program has neither.
"""
import datetime
import re

TIME = re.compile(rb"([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)([.,][0-9]+)?)?"
                  rb"(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?\Z")


def date_kind(value):
    """"date", "datetime", or None for what is neither."""
    if not re.match(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return None
    year, month, day = int(value[:4]), int(value[5:7]), int(value[8:10])
    try:
        datetime.date(year or 2000, month, day)  # year 0 is a leap year, too
    except ValueError:
        return None
    if len(value) == 10:
        return "date"
    return "datetime" if value[10:11] in (b"T", b" ") and TIME.match(value, 11) else None


def type_of(values):
    """The type of a column of these texts."""
    kinds = {date_kind(v) for v in values}
    if None in kinds:
        return "text"
    return "datetime" if "datetime" in kinds else "date"


def answer(operation, values):
    """text-min or text-max of a list of bytes; None of none."""
    return (min if operation == "text-min" else max)(values, default=None)
