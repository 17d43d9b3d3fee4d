/* SPDX-License-Identifier: MIT
 *
 * plain.c - see plain.h.
 */
#include "number/plain.h"

#include <string.h>

/* The digits of a text around its point. */
struct digits {
	bool negative;
	const char *integer; /* without leading zeros */
	const char *fraction;
	int ninteger, nfraction;
};

static int count_digits(const char *text)
{
	int n = 0;

	while ((unsigned char)(text[n] - '0') < 10)
		n++;
	return n;
}

static int count_zeros(const char *text)
{
	int n = 0;

	while (text[n] == '0')
		n++;
	return n;
}

static struct digits split(const char *text)
{
	struct digits d = {.negative = *text == '-'};

	text += d.negative;
	d.integer = text + count_zeros(text);
	d.ninteger = count_digits(d.integer);
	d.fraction = d.integer + d.ninteger;
	d.fraction += *d.fraction == '.';
	d.nfraction = count_digits(d.fraction);
	return d;
}

bool plain_is(const char *text)
{
	int n = count_digits(text += *text == '-'), nplaces;

	if (n == 0)
		return false;
	text += n;
	if (*text != '.')
		return !*text;
	nplaces = count_digits(text + 1);
	return nplaces > 0 && !text[1 + nplaces];
}

static bool is_zero(const struct digits *d)
{
	return d->ninteger == 0 && count_zeros(d->fraction) == d->nfraction;
}

int plain_top(const char *text)
{
	struct digits d = split(text);

	if (d.ninteger > 0)
		return d.ninteger - 1;
	return is_zero(&d) ? PLAIN_NO_TOP : -count_zeros(d.fraction) - 1;
}

int plain_nplaces(const char *text)
{
	return split(text).nfraction;
}

/* The digit of 10^power. */
static int digit_at(const struct digits *d, int power)
{
	if (power >= 0)
		return power < d->ninteger ? d->integer[d->ninteger - 1 - power] - '0' : 0;
	return -power <= d->nfraction ? d->fraction[-power - 1] - '0' : 0;
}

int128 plain_window(const char *text, int top)
{
	struct digits d = split(text);
	int128 window = 0;

	for (int i = 0; i < PLAIN_NDIGITS; i++)
		window = window * 10 + digit_at(&d, top - i);
	return d.negative ? -window : window;
}

/* Compares the digits after the point. */
static int compare_fractions(const struct digits *a, const struct digits *b)
{
	const struct digits *longer = a->nfraction > b->nfraction ? a : b;
	int ncommon = a->nfraction + b->nfraction - longer->nfraction;
	int order = memcmp(a->fraction, b->fraction, (size_t)ncommon);

	if (order)
		return order;
	if (count_zeros(longer->fraction + ncommon) == longer->nfraction - ncommon)
		return 0;
	return longer == a ? 1 : -1;
}

/* Compares without the signs. */
static int compare_magnitudes(const struct digits *a, const struct digits *b)
{
	int order = (a->ninteger > b->ninteger) - (a->ninteger < b->ninteger);

	if (order == 0)
		order = memcmp(a->integer, b->integer, (size_t)a->ninteger);
	if (order == 0)
		order = compare_fractions(a, b);
	return (order > 0) - (order < 0);
}

int plain_compare(const char *a, const char *b)
{
	struct digits x = split(a), y = split(b);

	if (x.negative == y.negative)
		return x.negative ? compare_magnitudes(&y, &x) : compare_magnitudes(&x, &y);
	if (is_zero(&x) && is_zero(&y))
		return 0; /* -0 and 0 */
	return x.negative ? -1 : 1;
}
