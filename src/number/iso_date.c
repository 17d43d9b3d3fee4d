/* SPDX-License-Identifier: MIT
 *
 * iso_date.c - see iso_date.h.
 */
#include "number/iso_date.h"

#include <stdbool.h>

#include "number/decimal.h"

/* Bytes of a date and of the separators in it, such as '-': a form is extended (2024-01-05T10:15:00), with nseparators 1, or
 * basic (20240105T101500), with 0. */
static size_t date_nbytes(size_t nseparators)
{
	return 8 + 2 * nseparators;
}

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

/* Whether p[0 .. date_nbytes(n)) is YYYY-MM-DD, with n separators between two parts. */
static bool is_date(const char *p, size_t n)
{
	unsigned century, year, month, day;

	return (n == 0 || (p[4] == '-' && p[7] == '-')) && two_digits(p, 99, &century) &&
	       two_digits(p + 2, 99, &year) && two_digits(p + 4 + n, 12, &month) &&
	       two_digits(p + 6 + 2 * n, 31, &day) && month > 0 && day > 0 &&
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

/* Whether the seconds of a time begin at p: ss in the basic form, :ss in the extended one. */
static bool has_seconds(const char *p, const char *end, size_t n)
{
	return p < end && (n ? *p == ':' : decimal_is_digit(*p));
}

static const char *pass_seconds(const char *p, const char *end, size_t n)
{
	unsigned ignored;

	if (!has_seconds(p, end, n))
		return p;
	if ((size_t)(end - p) < 2 + n || !two_digits(p + n, 60, &ignored))
		return NULL;
	return pass_fraction(p + 2 + n, end);
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
static bool is_time(const char *p, const char *end, size_t n)
{
	unsigned ignored;

	if ((size_t)(end - p) < 4 + n || !two_digits(p, 23, &ignored) || (n && p[2] != ':') ||
	    !two_digits(p + 2 + n, 59, &ignored))
		return false;
	p = pass_seconds(p + 4 + n, end, n);
	return p && pass_offset(p, end) == end;
}

/* Like iso_date_of, in the form with n separators. */
static enum iso_date date_in_form(const char *text, size_t nbytes, size_t n)
{
	const char *time = text + date_nbytes(n) + 1, *end = text + nbytes;

	if (nbytes < date_nbytes(n) || !is_date(text, n))
		return ISO_NONE;
	if (nbytes == date_nbytes(n))
		return ISO_DATE;
	return (time[-1] == 'T' || time[-1] == ' ') && is_time(time, end, n) ? ISO_DATETIME : ISO_NONE;
}

enum iso_date iso_date_of(const char *text, size_t nbytes)
{
	return date_in_form(text, nbytes, 1);
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
	size_t n = nbytes >= date_nbytes(1) && text[4] == '-' ? 1 : 0;
	enum iso_date kind = date_in_form(text, nbytes, n);
	const char *end = text + nbytes, *p = text + date_nbytes(n) + 1;

	*fraction = *nfraction = 0;
	if (kind == ISO_NONE)
		return false;
	*seconds = 86400 * days_before(100 * (int64_t)number_at(text) + number_at(text + 2),
				       number_at(text + 4 + n), number_at(text + 6 + 2 * n));
	if (kind == ISO_DATE)
		return true;
	*seconds += 3600 * (int64_t)number_at(p) + 60 * (int64_t)number_at(p + 2 + n);
	p += 4 + n;
	if (has_seconds(p, end, n)) {
		*seconds += number_at(p + n);
		p += 2 + n;
		if (p < end && (*p == '.' || *p == ','))
			for (*fraction = (size_t)(++p - text); p < end && decimal_is_digit(*p); p++)
				++*nfraction;
	}
	*seconds -= offset_seconds(p, end);
	return true;
}
