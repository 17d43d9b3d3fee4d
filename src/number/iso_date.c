/* SPDX-License-Identifier: MIT
 *
 * iso_date.c - see iso_date.h.
 */
#include "number/iso_date.h"

#include <stdbool.h>

#include "number/decimal.h"

#define DATE_NBYTES 10

/* Reads two digits. Returns whether they are digits, and at most max. */
static bool two_digits(const char *p, unsigned max, unsigned *out)
{
	unsigned tens = (unsigned char)(p[0] - '0'), ones = (unsigned char)(p[1] - '0');

	*out = 10 * tens + ones;
	return tens < 10 && ones < 10 && *out <= max;
}

static unsigned days_of(unsigned year, unsigned month)
{
	bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (month == 2)
		return is_leap ? 29 : 28;
	return 30 + (month + month / 8) % 2;
}

/* Whether p[0 .. DATE_NBYTES) is YYYY-MM-DD. */
static bool is_date(const char *p)
{
	unsigned century, year, month, day;

	return p[4] == '-' && p[7] == '-' && two_digits(p, 99, &century) &&
	       two_digits(p + 2, 99, &year) && two_digits(p + 5, 12, &month) &&
	       two_digits(p + 8, 31, &day) && month > 0 && day > 0 &&
	       (day <= 28 || day <= days_of(100 * century + year, month));
}

/* Each of these returns where its part of a time ends: p where the part, which is optional, is not
 * there, and NULL where it is malformed. */
static const char *pass_fraction(const char *p, const char *end)
{
	const char *digits = p + 1;

	if (p == end || (*p != '.' && *p != ','))
		return p;
	for (p = digits; p < end && decimal_is_digit(*p); p++)
		;
	return p > digits ? p : NULL;
}

static const char *pass_seconds(const char *p, const char *end)
{
	unsigned ignored;

	if (p == end || *p != ':')
		return p;
	if (end - p < 3 || !two_digits(p + 1, 60, &ignored))
		return NULL;
	return pass_fraction(p + 3, end);
}

static const char *pass_offset(const char *p, const char *end)
{
	unsigned ignored;

	if (p == end || *p == 'Z')
		return p == end ? p : p + 1;
	if ((*p != '+' && *p != '-') || end - p < 3 || !two_digits(p + 1, 23, &ignored))
		return NULL;
	p += 3;
	if (p == end)
		return p;
	p += *p == ':';
	return end - p == 2 && two_digits(p, 59, &ignored) ? p + 2 : NULL;
}

/* Whether p[0 .. end) is a time of day, perhaps with an offset. */
static bool is_time(const char *p, const char *end)
{
	unsigned ignored;

	if (end - p < 5 || !two_digits(p, 23, &ignored) || p[2] != ':' ||
	    !two_digits(p + 3, 59, &ignored))
		return false;
	p = pass_seconds(p + 5, end);
	return p && pass_offset(p, end) == end;
}

enum iso_date iso_date_of(const char *text, size_t nbytes)
{
	const char *time = text + DATE_NBYTES + 1, *end = text + nbytes;

	if (nbytes < DATE_NBYTES || !is_date(text))
		return ISO_NONE;
	if (nbytes == DATE_NBYTES)
		return ISO_DATE;
	return (time[-1] == 'T' || time[-1] == ' ') && is_time(time, end) ? ISO_DATETIME : ISO_NONE;
}

/* ---- seconds ---- */

static unsigned number_at(const char *p)
{
	return 10 * (unsigned)(p[0] - '0') + (unsigned)(p[1] - '0');
}

/* Days from 1970-01-01: years begin in March, so that the leap day is their last. */
static int64_t days_before(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + (y >= 0 ? y / 4 - y / 100 + y / 400 : -1) + (153 * m + 2) / 5 + day - 1 -
	       719468;
}

/* The seconds of an offset such as +02:00 at p, "Z" or nothing. */
static int64_t offset_seconds(const char *p, const char *end)
{
	int64_t seconds;

	if (p == end || *p == 'Z')
		return 0;
	seconds = 3600 * (int64_t)number_at(p + 1);
	if (end - p > 3)
		seconds += 60 * (int64_t)number_at(p + 3 + (p[3] == ':'));
	return *p == '-' ? -seconds : seconds;
}

bool iso_date_epoch(const char *text, size_t nbytes, int64_t *seconds, size_t *fraction,
		    size_t *nfraction)
{
	enum iso_date kind = iso_date_of(text, nbytes);
	const char *end = text + nbytes, *p = text + DATE_NBYTES + 6;

	*fraction = *nfraction = 0;
	if (kind == ISO_NONE)
		return false;
	*seconds = 86400 * days_before(100 * (int64_t)number_at(text) + number_at(text + 2),
				       number_at(text + 5), number_at(text + 8));
	if (kind == ISO_DATE)
		return true;
	*seconds += 3600 * (int64_t)number_at(p - 5) + 60 * (int64_t)number_at(p - 2);
	if (p < end && *p == ':') {
		*seconds += number_at(p + 1);
		p += 3;
		if (p < end && (*p == '.' || *p == ','))
			for (*fraction = (size_t)(++p - text); p < end && decimal_is_digit(*p); p++)
				++*nfraction;
	}
	*seconds -= offset_seconds(p, end);
	return true;
}
