/* SPDX-License-Identifier: MIT
 *
 * ratio.c - see ratio.h.
 *
 * A ratio is first aligned: r/d x 10^exponent is its value, with r < d, so that all digits of the
 * result are after the point and the first of them is not 0. The digits are then the quotient s of r x 10^17 by d, and the rest
 * is less than a unit of the last digit: it rounds by twice itself against d.
 *
 * Root: 34 digits of r/d are the quotient w, and its integer root s has 17. The ratio is compared with
 * (s + 1/2)^2 = s^2 + s + 1/4 to round s: w with s^2 + s, and if they are equal the rest with a quarter of d.
 */
#include "number/ratio.h"

#include <gmp.h>
#include <string.h>

#include "number/decimal_text.h"

/* ---- ratios ---- */

/* Sets r and d, 1/10^step <= r/d < 1, and returns an exponent, a multiple of step (1, or 2 for a root), so that
 * r/d x 10^exponent = |x|, of which x is the root, if it is one. x is not 0. */
static int align(struct ratio x, struct integer *r, struct integer *d)
{
	const int step = x.is_root ? 2 : 1;
	int nbits = integer_nbits(x.numerator) - integer_nbits(x.denominator) - 1; /* p/q is between 2^nbits and 2^(nbits + 2) */
	int exponent = integer_digits_of_bits(nbits) + 1;

	exponent += (exponent - x.scale) % step != 0;
	integer_copy(r, x.numerator);
	integer_copy(d, x.denominator);
	r->negative = d->negative = false;
	integer_shift(exponent > 0 ? d : r, exponent > 0 ? exponent : -exponent);
	if (integer_compare(r, d) >= 0) {
		integer_shift(d, step);
		exponent += step;
	}
	return exponent - x.scale;
}

/* The first ndigits digits of r/d as an integer; r becomes the rest. */
static uint128 divide(struct integer *r, const struct integer *d, int ndigits)
{
	struct integer quotient;

	integer_shift(r, ndigits);
	integer_divide(r, d, &quotient);
	return integer_low(&quotient);
}

/* s, or s + 1 where `times` x rest is more than d, or equal to it and s is odd. */
static uint128 round_half_even(uint128 s, struct integer *rest, unsigned times, const struct integer *d)
{
	int order;

	integer_multiply_short(rest, times);
	order = integer_compare(rest, d);
	return s + (order > 0 || (order == 0 && s % 2 == 1));
}

/* The integer part of x's root; 0 < x < 2^126 */
static uint64_t integer_root(uint128 x)
{
	const unsigned long limb[] = {(unsigned long)x, (unsigned long)(x >> 64)};
	unsigned long root;

	mpn_sqrtrem(&root, NULL, limb, limb[1] ? 2 : 1);
	return root;
}

/* The first 17 digits of the root of r/d as an integer, rounded. */
static uint64_t take_root(struct integer *r, const struct integer *d)
{
	uint128 whole = divide(r, d, 2 * RATIO_NDIGITS), middle;
	uint64_t s = integer_root(whole);

	middle = (uint128)s * s + s;
	return whole == middle ? (uint64_t)round_half_even(s, r, 4, d) : s + (whole > middle);
}

/* Drops zeros at the end, as many as after the point. */
static void trim_zeros(uint64_t *significand, int *exponent)
{
	for (int n = *significand % 10 ? 0 : 8; n > 0; n /= 2)
		for (; *exponent <= -n && *significand % decimal_powers[n] == 0 && *significand; *exponent += n)
			*significand /= decimal_powers[n];
}

/* Writes n zeros. Returns their end. */
static char *write_zeros(char *p, int n)
{
	if (n <= 0)
		return p;
	memset(p, '0', (size_t)n);
	return p + n;
}

/* Writes significand x 10^exponent as ratio_format() documents. 0 is never negative. */
static size_t write_plain(bool negative, uint64_t significand, int exponent, char *text)
{
	char digits[20 + DECIMAL_TEXT_SLACK], *p = text;
	int ndigits;

	trim_zeros(&significand, &exponent);
	if (negative)
		*p++ = '-';
	if (exponent >= -DECIMAL_POWER_MAX) { /* usual */
		p = exponent < 0 ? decimal_write(p, significand, -exponent) : write_zeros(decimal_write_u64(p, significand), exponent);
	} else {
		ndigits = (int)(decimal_write_u64(digits, significand) - digits);
		memcpy(p, "0.", 2);
		p = write_zeros(p + 2, -exponent - ndigits);
		memcpy(p, digits, (size_t)ndigits);
		p += ndigits;
	}
	*p = '\0';
	return (size_t)(p - text);
}

size_t ratio_format(struct ratio x, int ndigits, int places, char *text)
{
	const bool negative = x.numerator->negative != x.denominator->negative;
	const bool is_whole = ndigits >= RATIO_NDIGITS && places >= RATIO_ALL && x.numerator->nlimbs <= 2;
	struct integer r, d;
	int exponent;
	uint64_t s, unit;

	if (integer_is_zero(x.numerator))
		return write_plain(false, 0, 0, text);
	if (is_whole && !x.is_root && x.denominator->nlimbs == 1)
		return ratio_format_short(negative, integer_low(x.numerator), x.denominator->limb[0], x.scale, text);
	if (is_whole && x.is_root && x.scale % 2 == 0 && x.denominator->nlimbs <= 2 &&
	    integer_low(x.denominator) <= RATIO_SHORT_MAX)
		return ratio_sqrt_format_short(negative, integer_low(x.numerator), integer_low(x.denominator), x.scale, text);
	exponent = align(x, &r, &d) / (x.is_root ? 2 : 1);
	ndigits = ndigits < places + exponent ? ndigits : places + exponent;
	ndigits = ndigits < RATIO_NDIGITS ? ndigits : RATIO_NDIGITS;
	if (ndigits <= 0)
		return write_plain(false, 0, 0, text);
	if (x.is_root) {
		s = take_root(&r, &d);
		unit = decimal_powers[RATIO_NDIGITS - ndigits];
		return write_plain(negative, (s + unit / 2) / unit * unit, exponent - RATIO_NDIGITS, text);
	}
	s = (uint64_t)divide(&r, &d, ndigits);
	return write_plain(negative, (uint64_t)round_half_even(s, &r, 2, &d), exponent - ndigits, text);
}

bool ratio_digits(struct ratio x, int ndigits, uint128 *digits, int *exponent)
{
	struct integer r, d;

	*exponent = align(x, &r, &d) - ndigits;
	*digits = divide(&r, &d, ndigits);
	*digits = round_half_even(*digits, &r, 2, &d);
	if (*digits >= decimal_power(ndigits)) { /* rounded up from nines */
		*digits /= 10;
		++*exponent;
	}
	return !integer_is_zero(&r);
}

int ratio_magnitude(struct ratio x)
{
	struct integer r, d;

	return align(x, &r, &d) / (x.is_root ? 2 : 1);
}

/* ---- short ratios ---- */

static const uint128 ten16 = 10000000000000000;

#define SHORT_DENOMINATOR_MAX ((uint64_t)1 << 34) /* times 10^9 it has 64 bits */

/* Writes p / q x 10^-scale in words of 64 bits: the whole part, and as many digits of the fraction as
 * make it 17, or as it has. Returns NULL where the whole part is 0 or has more than 17 digits itself. */
static char *write_short(bool negative, uint64_t p, uint64_t q, int scale, char *to)
{
	uint64_t whole = p / q, rest = p - whole * q, fraction = 0, unit;
	const int n = RATIO_NDIGITS - decimal_ndigits(whole);
	int nwritten = rest ? n : 0;

	if (whole == 0 || n < 0)
		return NULL;
	for (int nleft = nwritten; rest && nleft > 0; nwritten = rest ? n : n - nleft) {
		int nnow = nleft < 9 ? nleft : 9;
		unit = decimal_powers[nnow];
		fraction = fraction * unit + rest * unit / q;
		rest = rest * unit % q;
		nleft -= nnow;
	}
	*(nwritten ? &fraction : &whole) += 2 * rest > q ||
					    (2 * rest == q && (nwritten ? fraction : whole) % 2 == 1);
	if (nwritten && fraction == decimal_powers[nwritten]) {
		nwritten = 0;
		whole++;
	}
	*to = '-';
	to += negative;
	unit = decimal_powers[scale];
	to = decimal_write_u64(to, whole / unit);
	if (scale + nwritten == 0)
		return to;
	*to = '.';
	to = decimal_write_padded(to + 1, whole % unit, scale);
	to = decimal_write_padded(to, fraction, nwritten);
	while (to[-1] == '0')
		to--;
	return to - (to[-1] == '.');
}

size_t ratio_format_short(bool negative, uint128 numerator, uint64_t denominator, int scale,
			  char *text)
{
	uint128 p = numerator, q = denominator, least, rest;
	int exponent = -scale, nbits, nzeros;
	char *end = NULL;
	uint64_t s;

	if (p == 0)
		return write_plain(false, 0, 0, text);
	if (p >> 64 == 0 && denominator < SHORT_DENOMINATOR_MAX && scale >= 0 &&
	    scale <= DECIMAL_POWER_MAX)
		end = write_short(negative, (uint64_t)p, denominator, scale, text);
	if (end) {
		*end = '\0';
		return (size_t)(end - text);
	}
	/* p / q is at least 2^nbits, and less than four times that */
	nbits = decimal_nbits(p) - decimal_nbits(q) - 1;
	least = q * ten16; /* q < 2^64: nothing leaves 128 bits */
	nzeros = RATIO_NDIGITS - 2 - (nbits * 1233 >> 12); /* one too few mostly, or right */
	if (nzeros > 0 && p < least) {
		p *= decimal_power(nzeros);
		exponent -= nzeros;
	}
	for (; p < least; exponent--)
		p *= 10;
	if (p >= 10 * least) /* seldom: a division takes longer */
		for (; p / (10 * ten16) >= q; exponent++)
			q *= 10;
	s = (uint64_t)(p / q);
	rest = 2 * (p - s * q);
	s += rest > q || (rest == q && s % 2 == 1);
	return write_plain(negative, s, exponent, text);
}

/* whole and rest are the quotient and the remainder of 10^2k p / q, with a k that gives the root of
 * whole 17 digits before the point: s. The ratio is then compared with (s + 1/2)^2 = s^2 + s + 1/4, to
 * round s. */
size_t ratio_sqrt_format_short(bool negative, uint128 numerator, uint128 denominator, int scale, char *text)
{
	static const struct {
		int ndigits;
		uint64_t factor;
	} steps[] = {{18, 1000000000000000000}, {4, 10000}, {2, 100}};
	uint128 q = denominator, whole, rest, middle;
	int exponent = -scale / 2;
	uint64_t s;

	if (numerator == 0)
		return write_plain(false, 0, 0, text);
	for (; numerator / q >= 100 * ten16 * ten16; exponent++)
		q *= 100;
	whole = numerator / q;
	rest = numerator % q;
	for (int i = q >> 64 ? 2 : 0; i < 3; i++) {
		uint128 limit = 100 * ten16 * ten16 / steps[i].factor;
		for (; whole < limit; exponent -= steps[i].ndigits / 2) {
			rest *= steps[i].factor; /* below 2^128, as q is below 2^64, or at most 2^120 */
			whole = whole * steps[i].factor + rest / q;
			rest %= q;
		}
	}
	s = integer_root(whole);
	middle = (uint128)s * s + s;
	s += whole > middle || (whole == middle && (4 * rest > q || (4 * rest == q && s % 2 == 1)));
	return write_plain(negative, s, exponent, text);
}
