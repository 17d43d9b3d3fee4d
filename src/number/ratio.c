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
#include "number/shown.h"

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

/* Writes n zeros. Returns their end. */
static char *write_zeros(char *p, int n)
{
	if (n <= 0)
		return p;
	memset(p, '0', (size_t)n);
	return p + n;
}

/* Writes significand x 10^exponent as ratio_format() documents. 0 is never negative. */
static inline size_t write_plain(bool negative, uint64_t significand, int exponent, char *text)
{
	char digits[20 + DECIMAL_TEXT_SLACK], *p = text;
	int ndigits;

	*p = '-';
	p += negative;
	if (exponent >= -DECIMAL_POWER_MAX && exponent <= 0) { /* usual */
		p = decimal_write_trimmed(p, significand, -exponent);
	} else if (exponent > 0) {
		p = write_zeros(decimal_write_u64(p, significand), exponent);
	} else { /* no digit is before the point, and one is not 0 */
		ndigits = (int)(decimal_write_u64(digits, significand) - digits);
		memcpy(p, "0.", 2);
		p = write_zeros(p + 2, -exponent - ndigits);
		memcpy(p, digits, (size_t)ndigits);
		for (p += ndigits; p[-1] == '0';)
			p--;
	}
	*p = '\0';
	return (size_t)(p - text);
}

/* *x becomes the integer part of its root. Returns whether it was its square. */
static bool take_integer_root(struct integer *x)
{
	struct integer square = {.nlimbs = 0}, root = {.nlimbs = (x->nlimbs + 1) / 2};

	if (integer_is_zero(x))
		return true;
	square.nlimbs = (int)mpn_sqrtrem(root.limb, square.limb, x->limb, x->nlimbs);
	integer_copy(x, &root);
	return square.nlimbs == 0;
}

/* Writes x, which is not 0, with nplaces digits after the point, or more for it to have
 * RATIO_NDIGITS digits, the last one as shown.h says. */
static size_t write_kept(struct ratio x, int nplaces, char *text)
{
	const int least = RATIO_NDIGITS - ratio_magnitude(x),
		  scale = nplaces > least ? nplaces : least;
	const int shift = (x.is_root ? 2 * scale : scale) - x.scale;
	struct integer rest, divisor, n, one;
	bool is_exact;
	uint64_t last;

	integer_copy(&rest, x.numerator);
	integer_copy(&divisor, x.denominator);
	integer_shift(shift > 0 ? &rest : &divisor, shift > 0 ? shift : -shift);
	rest.negative = divisor.negative = false;
	integer_divide(&rest, &divisor, &n);
	is_exact = integer_is_zero(&rest);
	if (x.is_root)
		is_exact &= take_integer_root(&n);
	integer_copy(&rest, &n);
	last = integer_divide_short(&rest, 5);
	if (!is_exact && last == 0) {
		integer_set(&one, 1);
		integer_add(&n, &one, false);
	}
	n.negative = x.numerator->negative != x.denominator->negative;
	return integer_format(&n, scale, 0, text);
}

size_t ratio_write_digits(bool negative, uint128 magnitude, int scale, char *text)
{
	struct integer n;

	integer_set(&n, magnitude);
	n.negative = negative;
	integer_shift(&n, scale < 0 ? -scale : 0);
	return integer_format(&n, scale > 0 ? scale : 0, 0, text);
}

size_t ratio_format(struct ratio x, int ndigits, int places, char *text)
{
	const int nkept = number_style_nkept(number_shown);
	const bool negative = x.numerator->negative != x.denominator->negative;
	const bool is_whole = ndigits >= RATIO_NDIGITS && places >= RATIO_ALL && x.numerator->nlimbs <= 2;
	struct integer r, d;
	int exponent;
	uint64_t s, unit;

	if (integer_is_zero(x.numerator))
		return write_plain(false, 0, 0, text);
	if (nkept >= 0 && ndigits >= RATIO_ALL && places >= RATIO_ALL)
		return write_kept(x, nkept, text);
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

/* The first 17 digits of p / q, rounded, times 10^*exponent. nzeros: p 10^nzeros / q has 17 or 18 digits before its point. Without
 * branches: nothing could foretell which. */
static inline uint64_t divide_short(uint64_t p, uint64_t q, int nzeros, int *exponent)
{
	uint64_t rest, s = decimal_divide_step(p * decimal_power(nzeros), q, &rest);
	const uint64_t tenth = s / 10, last = s - 10 * tenth;
	const bool is_long = s >= decimal_powers[RATIO_NDIGITS];
	const bool is_over = (rest > q - rest) | ((rest == q - rest) & (s & 1));
	const bool is_over_tenth = (last > 5) | ((last == 5) & ((rest != 0) | (tenth & 1)));

	*exponent += is_long - nzeros;
	return is_long ? tenth + is_over_tenth : s + is_over;
}

size_t ratio_format_short(bool negative, uint128 numerator, uint64_t denominator, int scale,
			  char *text)
{
	uint128 p = numerator, q = denominator, least, rest;
	int exponent = -scale, nbits, nzeros;
	uint64_t s;

	if (p == 0)
		return write_plain(false, 0, 0, text);
	if (q == 1 && p < decimal_powers[RATIO_NDIGITS])
		return write_plain(negative, (uint64_t)p, exponent, text);
	nzeros = RATIO_NDIGITS + decimal_ndigits_64(denominator) - decimal_ndigits_64((uint64_t)p);
	if (p >> 64 == 0 && nzeros >= 0) {
		s = divide_short((uint64_t)p, denominator, nzeros, &exponent);
		return write_plain(negative, s, exponent, text);
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
