/* SPDX-License-Identifier: MIT
 *
 * shown.c - see shown.h.
 */
#include "number/shown.h"

#include <string.h>

#include "number/integer.h"

__thread const struct number_style *number_shown;

#define DIGITS_NBYTES (2 * INTEGER_NDIGITS + SHOWN_NPLACES_MAX)
#define UNITS_NDIGITS 3 /* of numbers below the first unit, unless --digits says more */

static const char units[] = "KMGTPEZY";

bool number_style_is_set(const struct number_style *s)
{
	return s->has_places || s->point || *s->group || s->units;
}

bool number_style_has(const struct number_style *s, char byte)
{
	if (byte && (strchr("+-0123456789", byte) || byte == (s && s->point ? s->point : '.')))
		return true;
	return s && byte && (byte == *s->group || (s->units && strchr(units, byte)));
}

/* digits x 10^-scale. */
struct shown {
	bool negative;
	size_t ndigits; /* more than scale; there may be zeros at the front */
	size_t scale;
	char digits[DIGITS_NBYTES];
};

/* Reads [-]digits[.digits]. Returns false where the text is something else, or too long. */
static bool read_plain(struct shown *x, const char *text, size_t nbytes)
{
	const char *end = text + nbytes, *point = NULL;

	x->negative = nbytes > 0 && *text == '-';
	x->ndigits = 0;
	for (text += x->negative; text < end; text++) {
		if (*text == '.' && !point && x->ndigits > 0)
			point = text;
		else if (decimal_is_digit(*text) && x->ndigits < INTEGER_NDIGITS)
			x->digits[x->ndigits++] = *text;
		else
			return false;
	}
	x->scale = point ? (size_t)(end - point) - 1 : 0;
	return x->ndigits > 0 && (!point || x->scale > 0);
}

/* Digits before the first one that is not 0. */
static size_t count_zeros(const struct shown *x)
{
	size_t n = 0;

	while (n < x->ndigits && x->digits[n] == '0')
		n++;
	return n;
}

/* Gives x nplaces digits after the point. */
static void round_to(struct shown *x, size_t nplaces, enum shown_rounding how)
{
	char *last, *rest;
	bool is_odd, up;

	if (nplaces >= x->scale) {
		memset(x->digits + x->ndigits, '0', nplaces - x->scale);
		x->ndigits += nplaces - x->scale;
		x->scale = nplaces;
		return;
	}
	x->ndigits -= x->scale - nplaces;
	rest = x->digits + x->ndigits;
	last = rest - 1;
	is_odd = (*last - '0') % 2;
	up = *rest > '5' || (*rest == '5' && (how == SHOWN_HALF_UP || is_odd));
	for (size_t i = 1; *rest == '5' && !up && i < x->scale - nplaces; i++)
		up = rest[i] != '0';
	x->scale = nplaces;
	for (; up && last >= x->digits && *last == '9'; last--)
		*last = '0';
	if (up && last >= x->digits) {
		++*last;
	} else if (up) {
		memmove(x->digits + 1, x->digits, x->ndigits++);
		*x->digits = '1';
	}
}

/* Rounds x, if it has more significant digits, but for those before the point; then there are no
 * zeros at the end of a fraction. */
static void round_significant(struct shown *x, int ndigits, enum shown_rounding how)
{
	const size_t nzeros = count_zeros(x), nwhole = x->ndigits - x->scale;
	const long nplaces = (long)ndigits - ((long)nwhole - (long)nzeros);

	if (nplaces >= (long)x->scale)
		return;
	round_to(x, nplaces > 0 ? (size_t)nplaces : 0, how);
	for (; x->scale > 0 && x->digits[x->ndigits - 1] == '0'; x->scale--)
		x->ndigits--;
}

/* x / 1024^n, or / 1000^n, exactly. */
static void divide(struct shown *x, enum size_units of, size_t n)
{
	struct integer product;
	size_t nwanted;

	if (of == SIZES_SI) {
		x->scale += 3 * n;
	} else {
		integer_set_digits(&product, x->digits, x->ndigits);
		for (size_t i = 0; i < n; i++)
			integer_multiply_short(&product, 9765625); /* 10^10 / 1024 */
		x->scale += 10 * n;
		x->ndigits =
			integer_ndigits(&product) ? (size_t)integer_digits(&product, x->digits) : 0;
	}
	nwanted = x->scale + 1;
	if (x->ndigits < nwanted) {
		memmove(x->digits + nwanted - x->ndigits, x->digits, x->ndigits);
		memset(x->digits, '0', nwanted - x->ndigits);
		x->ndigits = nwanted;
	}
}

/* Whether x, rounded, is a whole unit or more. */
static bool reaches_next(const struct shown *x, enum size_units of)
{
	const size_t nzeros = count_zeros(x), nwhole = x->ndigits - x->scale,
		     n = nwhole > nzeros ? nwhole - nzeros : 0;

	return n > 4 || (n == 4 && (of == SIZES_SI || memcmp(x->digits + nzeros, "1024", 4) >= 0));
}

/* Divides x by the largest unit that it reaches, rounds it, and returns the unit, or 0. */
static char take_unit(struct shown *x, const struct number_style *s)
{
	struct shown whole = *x;

	for (size_t n = 0;; n++) {
		*x = whole;
		if (n > 0)
			divide(x, s->units, n);
		if (s->has_places || n > 0)
			round_to(x, s->has_places ? (size_t)s->nplaces : 1, s->rounding);
		else
			round_significant(x, UNITS_NDIGITS, s->rounding);
		if (!units[n] || !reaches_next(x, s->units))
			return n > 0 ? units[n - 1] : '\0';
	}
}

static bool is_zero(const struct shown *x)
{
	return count_zeros(x) == x->ndigits;
}

static enum status write(const struct shown *x, const struct number_style *s, char unit,
			 struct text_buffer *out)
{
	const size_t nwhole = x->ndigits - x->scale, ngroup = strlen(s->group);
	size_t nzeros = count_zeros(x);
	char *to;

	nzeros = nzeros < nwhole ? nzeros : nwhole - 1;
	TRY(text_reserve(out, x->ndigits + nwhole / 3 * ngroup + 3));
	to = out->data + out->nbytes;
	if (x->negative && !is_zero(x))
		*to++ = '-';
	for (size_t i = nzeros; i < nwhole; i++) {
		if (i > nzeros && (nwhole - i) % 3 == 0)
			to = (char *)memcpy(to, s->group, ngroup) + ngroup;
		*to++ = x->digits[i];
	}
	if (x->scale > 0) {
		*to++ = s->point ? s->point : '.';
		to = (char *)memcpy(to, x->digits + nwhole, x->scale) + x->scale;
	}
	if (unit)
		*to++ = unit;
	out->nbytes = (size_t)(to - out->data);
	return STATUS_OK;
}

enum status number_show(const struct number_style *s, bool is_count, const char *text,
			size_t nbytes, struct text_buffer *out)
{
	struct shown x; /* large: not zeroed */
	char unit = '\0';

	if (!read_plain(&x, text, nbytes))
		return text_append(out, text, nbytes);
	if (s->units)
		unit = take_unit(&x, s);
	else if (s->has_places && !is_count)
		round_to(&x, (size_t)s->nplaces, s->rounding);
	else if (s->ndigits_most && !is_count)
		round_significant(&x, s->ndigits_most, s->rounding);
	return write(&x, s, unit, out);
}
