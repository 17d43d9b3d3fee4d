# SPDX-License-Identifier: MIT
"""An independent model of times: ISO 8601 and formats by regular expressions, the calendar by datetime, zones by zoneinfo.

An Instant is a Fraction of seconds from 1970-01-01T00:00:00Z, the digits of its fraction, and whether it is a date. Zones are
tzinfo; None is UTC. Written from the man page's chapters on expressions.
"""
import collections
import datetime
import fractions
import re

Instant = collections.namedtuple("Instant", "seconds places is_date")
NPLACES = 18
EPOCH = datetime.date(1970, 1, 1).toordinal()
ERA = 146097    # days of 400 years, after which the calendar repeats

MONTHS = ("January February March April May June July August September October November December").split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_DATES = (rb"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)", rb"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)",
          rb"(?P<y>\d{4})-W(?P<w>\d\d)-(?P<u>\d)", rb"(?P<y>\d{4})W(?P<w>\d\d)(?P<u>\d)", rb"(?P<y>\d{4})-(?P<j>\d{3})")
_CLOCK = rb"(?:[Tt ](?P<H>\d\d)%s(?P<M>\d\d)(?:%s(?P<S>\d\d)(?:[.,](?P<f>\d+))?)?(?P<zone>[Zz]| ?[+-]\d\d(?::?\d\d)?| UTC| GMT)?)?\Z"
_ISO = [re.compile(date + _CLOCK.replace(b"%s", b":" if b"-" in date else b"")) for date in _DATES]
_ISO.append(re.compile(rb"(?P<y>\d{4})-(?P<m>\d\d)\Z"))


class NoTime(Exception):
    """A text is no time, or a time is out of range."""


def days_of(year, month, day):
    """Days from 1970-01-01; NoTime."""
    try:
        if year < 1:
            return datetime.date(year + 400, month, day).toordinal() - ERA - EPOCH
        return datetime.date(year, month, day).toordinal() - EPOCH
    except (ValueError, OverflowError):
        raise NoTime from None


def date_of(days):
    """A tuple of year, month, day."""
    ordinal = days + EPOCH
    if ordinal < 1:
        date = datetime.date.fromordinal(ordinal + ERA)
        return date.year - 400, date.month, date.day
    try:
        date = datetime.date.fromordinal(ordinal)
    except (ValueError, OverflowError):
        raise NoTime from None
    return date.year, date.month, date.day


def offset_of(text):
    """Seconds of +02:00, +0200 or +02; NoTime."""
    m = re.match(rb"([+-])(\d\d)(?::?(\d\d))?\Z", text)
    if not m or int(m[2]) > 23 or int(m[3] or b"0") > 59:
        raise NoTime
    return (3600 * int(m[2]) + 60 * int(m[3] or b"0")) * (-1 if m[1] == b"-" else 1)


def offset_at(seconds, zone):
    if zone is None or isinstance(zone, datetime.timezone):
        return int(zone.utcoffset(None).total_seconds()) if zone else 0
    moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=int(seconds // 1))
    return int(moment.astimezone(zone).utcoffset().total_seconds())


def of_local(local, zone):
    """Seconds of UTC when clocks of the zone show `local`."""
    if zone is None or isinstance(zone, datetime.timezone):
        return local - offset_at(0, zone)
    naive = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(local // 1))
    return local - int(naive.replace(tzinfo=zone).utcoffset().total_seconds())


def make(days, clock, fraction, offset, zone, is_date):
    """clock: seconds of the day. fraction: digits. offset: None: the zone's."""
    if len(fraction) > NPLACES:
        raise NoTime
    local = 86400 * days + clock + fractions.Fraction(int(fraction or b"0"), 10 ** len(fraction))
    seconds = of_local(local, zone) if offset is None else local - offset
    return Instant(seconds, len(fraction), is_date)


def clock_of(hours, minutes, seconds):
    if hours > 23 or minutes > 59 or seconds > 60:
        raise NoTime
    return 3600 * hours + 60 * minutes + seconds


def read(text, zone=None):
    """ISO 8601; NoTime."""
    m = next(filter(None, (form.match(text) for form in _ISO)), None)
    if not m:
        raise NoTime
    g = m.groupdict()
    year = int(g["y"])
    if g.get("w"):
        fourth = days_of(year, 1, 4)
        days = fourth - (fourth + 3) % 7 + 7 * (int(g["w"]) - 1) + int(g["u"]) - 1
        thursday = date_of(days - (days + 3) % 7 + 3)[0]
        if not 1 <= int(g["u"]) <= 7 or thursday != year or int(g["w"]) < 1 or not 0 <= date_of(days)[0]:
            raise NoTime
    elif g.get("j"):
        days = days_of(year, 1, 1) + int(g["j"]) - 1
        if date_of(days)[0] != year:
            raise NoTime
    else:
        days = days_of(year, int(g["m"]), int(g.get("d") or b"1"))
    if not g.get("H"):
        return make(days, 0, b"", None, zone, True)
    clock = clock_of(*(int(g[k] or b"0") for k in "HMS"))
    offset = None
    if g["zone"]:
        offset = 0 if g["zone"].strip().upper() in (b"Z", b"UTC", b"GMT") else offset_of(g["zone"].strip())
    return make(days, clock, g["f"] or b"", offset, zone, False)


# ---- formats --------------------------------------------------------------------------------

_SHORT = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "D": "%m/%d/%y", "R": "%H:%M"}
_NAMES = {"b": MONTHS, "h": MONTHS, "B": MONTHS, "a": WEEKDAYS, "A": WEEKDAYS}
_READ = {"Y": r"(\d{1,4})", "m": r"(\d{1,2})", "d": r"( ?\d{1,2})", "e": r"( ?\d{1,2})", "H": r"(\d{1,2})", "I": r"(\d{1,2})",
         "M": r"(\d{1,2})", "S": r"(\d{1,2})", "f": r"(\d+)", "j": r"(\d{1,3})", "y": r"(\d{1,2})", "p": r"([AaPp][Mm])",
         "z": r"([Zz]|[+-]\d\d:\d\d|[+-]\d{4}|[+-]\d\d)", "Z": r"([Uu][Tt][Cc]|[Gg][Mm][Tt]|Z)", "s": r"(-?\d{1,13})", "%": r"%",
         "n": r"\s*", "t": r"\s*"}


def expand(form):
    return re.sub("%(.)", lambda m: _SHORT.get(m[1], m[0]), form, flags=re.S)


def tokens_of(form):
    """A regular expression for each letter and byte, which match one behind the other, and never go back; letter or None."""
    form = expand(form)
    for m in re.finditer("%(.)|(.)", form, flags=re.S):
        letter, c = m.groups()
        if letter in _NAMES:
            part = "((?i:%s))" % "|".join(sum(([name, name[:3]] for name in _NAMES[letter]), []))
        elif letter:
            part = _READ[letter]
        else:
            part = r"[ \t-\r]*" if c in " \t\n\v\f\r" else re.escape(c)
        yield part.encode(), letter if letter and letter not in "%nt" else None


def read_format(form, text, zone=None):
    letters, values, at = [], [], 0
    for part, letter in tokens_of(form):
        m = re.compile(part).match(text, at)
        if not m:
            raise NoTime
        at = m.end()
        if letter:
            letters.append(letter)
            values.append(m[1])
    if at != len(text):
        raise NoTime
    g = {"Y": 1970, "m": 1, "d": 1, "H": 0, "M": 0, "S": 0}
    fraction, offset, half, has_time = b"", None, None, False
    for letter, value in zip(letters, values):
        if letter in "YmdHMSejIy":
            value = int(value)
        has_time |= letter in "HIMS"
        if letter == "e":
            g["d"] = value
        elif letter == "y":
            g["Y"] = value + (2000 if value < 69 else 1900)
        elif letter == "I":
            if not 1 <= value <= 12:
                raise NoTime
            g["H"] = value % 12
        elif letter in "bhB":
            g["m"] = next(i for i, name in enumerate(MONTHS) if name[:3].lower() == value[:3].decode().lower()) + 1
        elif letter == "f":
            fraction = value
        elif letter == "p":
            half = value[:1].lower()
        elif letter == "z":
            offset = 0 if value in (b"Z", b"z") else offset_of(value)
        elif letter == "Z":
            offset = 0
        elif letter not in "aA":
            g[letter] = value
    if len(fraction) > NPLACES:
        raise NoTime
    if "s" in g:
        seconds = abs(int(g["s"])) + fractions.Fraction(int(fraction or b"0"), 10 ** len(fraction))
        return in_range(Instant(-seconds if g["s"][:1] == b"-" else seconds, len(fraction), False), zone)
    clock = clock_of(g["H"], g["M"], g["S"])
    clock = clock_of(g["H"] + 12 * (half == b"p"), g["M"], g["S"])
    if "j" in g:
        days = days_of(g["Y"], 1, 1) + g["j"] - 1
        if date_of(days)[0] != g["Y"]:
            raise NoTime
    else:
        days = days_of(g["Y"], g["m"], g["d"])
    return make(days, clock, fraction, offset, zone, not has_time)


def in_range(x, zone):
    local = x.seconds + offset_at(x.seconds, zone) if -62135596800 <= x.seconds <= 253402214400 else x.seconds
    if not -62167219200 <= local < 253402300800:
        raise NoTime
    return x


# ---- text -----------------------------------------------------------------------------------

class Civil:
    """What clocks of a zone show."""

    def __init__(self, x, zone=None):
        self.offset = offset_at(x.seconds, zone)
        local = x.seconds + self.offset
        self.days = int(local // 86400)
        self.year, self.month, self.day = date_of(self.days)
        of_day = local - 86400 * self.days
        self.clock = int(of_day // 1)
        self.fraction = of_day - self.clock
        self.hour, self.minute, self.second = self.clock // 3600, self.clock // 60 % 60, self.clock % 60
        self.weekday = (self.days + 3) % 7 + 1
        self.dayofyear = self.days - days_of(self.year, 1, 1) + 1
        self.quarter = (self.month + 2) // 3
        self.isoyear = date_of(self.days + 4 - self.weekday)[0]
        self.week = (self.days + 4 - self.weekday - days_of(self.isoyear, 1, 1)) // 7 + 1


def offset_text(offset, colon):
    return "%s%02d%s%02d" % ("-" if offset < 0 else "+", abs(offset) // 3600, colon, abs(offset) // 60 % 60)


def write(x, zone=None, is_utc=True):
    """is_utc: the zone is UTC, and not a name of it."""
    c = Civil(x, zone)
    text = "%04d-%02d-%02d" % (c.year, c.month, c.day)
    if x.is_date:
        return text
    text += "T%02d:%02d:%02d" % (c.hour, c.minute, c.second)
    if x.places:
        text += ".%0*d" % (x.places, c.fraction * 10 ** x.places)
    return text + ("Z" if is_utc else offset_text(c.offset, ":"))


def write_format(form, x, zone=None):
    c = Civil(x, zone)
    values = {"Y": "%04d" % c.year, "y": "%02d" % (c.year % 100), "m": "%02d" % c.month, "d": "%02d" % c.day, "e": "%2d" % c.day,
              "H": "%02d" % c.hour, "I": "%02d" % ((c.hour + 11) % 12 + 1), "M": "%02d" % c.minute, "S": "%02d" % c.second,
              "f": "%06d" % (c.fraction * 10 ** 6 // 1), "j": "%03d" % c.dayofyear, "p": "AM" if c.hour < 12 else "PM",
              "b": MONTHS[c.month - 1][:3], "h": MONTHS[c.month - 1][:3], "B": MONTHS[c.month - 1],
              "a": WEEKDAYS[c.weekday - 1][:3], "A": WEEKDAYS[c.weekday - 1], "z": offset_text(c.offset, ""),
              "Z": "UTC" if c.offset == 0 else offset_text(c.offset, ":"), "s": "%d" % (x.seconds // 1), "G": "%04d" % c.isoyear,
              "V": "%02d" % c.week, "u": "%d" % c.weekday, "w": "%d" % (c.weekday % 7), "q": "%d" % c.quarter, "%": "%", "n": "\n", "t": "\t"}
    if zone is not None and "%Z" in form:
        moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=int(x.seconds // 1))
        name = moment.astimezone(zone).tzname()
        values["Z"] = values["Z"] if isinstance(zone, datetime.timezone) else name
    return re.sub("%(.)", lambda m: values[m[1]], expand(form), flags=re.S)


# ---- units ----------------------------------------------------------------------------------

UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12}


def trunc(x, count, unit, zone=None):
    local = x.seconds + offset_at(x.seconds, zone)
    if unit in MONTH_UNITS:
        year, month, _ = date_of(int(local // 86400))
        step = count * MONTH_UNITS[unit]
        months = (12 * year + month - 1) // step * step
        return Instant(of_local(86400 * days_of(months // 12, months % 12 + 1, 1), zone), 0, True)
    step = count * UNITS[unit]
    origin = 4 * 86400 if step % 604800 == 0 else 0
    begin = (local - origin) // step * step + origin
    if step % 86400 == 0:
        return Instant(of_local(begin, zone), 0, True)
    same = begin - (local - x.seconds)
    if offset_at(same, zone) != local - x.seconds:
        same = of_local(begin, zone)
    return Instant(int(same), 0, False)
