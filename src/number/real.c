/* SPDX-License-Identifier: MIT
 *
 * real.c - see real.h.
 *
 * Numbers are integers in units of 2^-nbits. A logarithm is that of a power of 2, and that of a factor f near 1, which is
 * 2 atanh((f - 1) / (f + 1)); the series needs some 50 terms. An exponential is a power of 2 times exp(r), |r| < .35, which is
 * exp(r / 256) squared eight times.
 */
#include "number/real.h"

#include <gmp.h>

#include "number/ratio.h"

#define NBITS 192     /* after the point */
#define NGUARD 192    /* significant bits of a logarithm, at least */
#define LN_NBITS 384  /* of the constants */
#define NSQUARES 8
#define EXP_MAX 924 /* exp(EXP_MAX) > 10^401 */

static const struct integer ln2 = {.nlimbs = 6, .limb = {0x559552fb4afa1b11, 0xe7b876206debac98, 0x8a0d175b8baafa2b,
							 0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab}};
static const struct integer ln10 = {.nlimbs = 7, .limb = {0x31c32f00b17c35a1, 0x58bc0b5ec6a04173, 0x0f187a0807c0b5ca, 0x8a3fb3e76977e43a,
							  0xa95b58ae0b4c28a3, 0x4d763776aaa2b05b, 2}};

/* ---- integers ---- */

/* x *= 2^nbits; towards 0 where nbits is negative */
static void shift(struct integer *x, int nbits)
{
	const int nlimbs = (nbits < 0 ? -nbits : nbits) / 64, rest = (nbits < 0 ? -nbits : nbits) % 64;

	if (x->nlimbs == 0)
		return;
	if (nbits < 0) {
		if (nlimbs >= x->nlimbs) {
			x->nlimbs = 0;
			return;
		}
		x->nlimbs -= nlimbs;
		memmove(x->limb, x->limb + nlimbs, (size_t)x->nlimbs * sizeof *x->limb);
		if (rest)
			mpn_rshift(x->limb, x->limb, x->nlimbs, (unsigned)rest);
		x->nlimbs -= x->limb[x->nlimbs - 1] == 0;
		return;
	}
	memmove(x->limb + nlimbs, x->limb, (size_t)x->nlimbs * sizeof *x->limb);
	memset(x->limb, 0, (size_t)nlimbs * sizeof *x->limb);
	x->nlimbs += nlimbs;
	if (rest) {
		unsigned long top = mpn_lshift(x->limb + nlimbs, x->limb + nlimbs, x->nlimbs - nlimbs, (unsigned)rest);
		if (top)
			x->limb[x->nlimbs++] = top;
	}
}

/* x = x y 2^-nbits */
static void multiply_fixed(struct integer *x, const struct integer *y, int nbits)
{
	struct integer product;

	integer_multiply(&product, x, y);
	shift(&product, -nbits);
	integer_copy(x, &product);
}

/* x = x / divisor towards 0 */
static void divide(struct integer *x, const struct integer *divisor)
{
	struct integer quotient;

	integer_divide(x, divisor, &quotient);
	integer_copy(x, &quotient);
}

static void set_constant(struct integer *x, const struct integer *constant, int nbits)
{
	integer_copy(x, constant);
	shift(x, nbits - LN_NBITS);
}

/* ---- results ---- */

/* x = n 10^-scale; has_rest: and something after it, less than 1. It is rounded, or known to be exact. */
static void set_result(struct big_decimal *x, const struct integer *n, int scale, bool has_rest)
{
	int surplus = integer_ndigits(n) - QUOTIENT_NDIGITS;

	integer_copy(&x->n, n);
	x->scale = scale;
	if (surplus > 0)
		integer_round(&x->n, surplus, has_rest);
	x->scale -= surplus > 0 ? surplus : 0;
	big_decimal_settle(x);
}

/* x = n 2^-nbits, which is not 0, rounded */
static void set_fixed(struct big_decimal *x, struct integer *n, int nbits)
{
	int places = QUOTIENT_NDIGITS + 2 - integer_digits_of_bits(integer_nbits(n) - nbits);
	struct integer power;

	if (nbits < 0)
		shift(n, -nbits);
	if (places >= 0) {
		integer_shift(n, places);
	} else {
		integer_set(&power, 1);
		integer_shift(&power, -places);
		divide(n, &power);
	}
	shift(n, nbits > 0 ? -nbits : 0);
	set_result(x, n, places, true);
}

/* A number that is beyond the range. */
static void set_beyond(struct big_decimal *x, bool is_large, bool negative)
{
	integer_set(&x->n, 1);
	integer_shift(&x->n, is_large ? WIDE_MAGNITUDE_MAX : 0);
	x->n.negative = negative;
	x->scale = is_large ? 0 : WIDE_SCALE_MAX + 1;
	x->is_rounded = false;
}

/* ---- functions ---- */

/* *n = ln x in units of 2^-nbits, which are returned; x > 0 */
static int ln(const struct big_decimal *x, struct integer *n)
{
	struct integer numerator, denominator, z, square, term;
	int exponent, nbits = NBITS;
	bool negative;

	integer_copy(&numerator, &x->n);
	integer_set(&denominator, 1);
	integer_shift(x->scale < 0 ? &numerator : &denominator, x->scale < 0 ? -x->scale : x->scale);
	exponent = integer_nbits(&numerator) - integer_nbits(&denominator);
	shift(exponent > 0 ? &denominator : &numerator, exponent > 0 ? exponent : -exponent);
	/* the quotient is more than 1/2 and less than 2: now more than 2/3, and less than 4/3 */
	integer_copy(&z, &numerator);
	integer_copy(&term, &denominator);
	integer_multiply_short(&z, 3);
	integer_multiply_short(&term, 4);
	if (integer_compare(&z, &term) > 0) {
		shift(&denominator, 1);
		exponent++;
	}
	shift(&term, -1);
	if (integer_compare(&z, &term) < 0) {
		shift(&numerator, 1);
		exponent--;
	}
	integer_copy(&z, &numerator);
	integer_add(&z, &denominator, true);
	integer_add(&denominator, &numerator, false);
	negative = z.negative;
	z.negative = false;
	if (exponent == 0 && !integer_is_zero(&z)) /* as many bits as the first term needs */
		nbits = NGUARD + integer_nbits(&denominator) - integer_nbits(&z) + 1;
	shift(&z, nbits);
	divide(&z, &denominator);
	integer_multiply(&square, &z, &z);
	shift(&square, -nbits);
	integer_copy(n, &z);
	integer_copy(&term, &z);
	for (uint64_t k = 3; !integer_is_zero(&term); k += 2) {
		multiply_fixed(&term, &square, nbits);
		integer_copy(&z, &term);
		integer_divide_short(&z, k);
		integer_add(n, &z, false);
	}
	shift(n, 1);
	n->negative = negative && !integer_is_zero(n);
	if (exponent != 0) {
		set_constant(&term, &ln2, nbits);
		integer_multiply_short(&term, (uint64_t)(exponent < 0 ? -exponent : exponent));
		term.negative = exponent < 0;
		integer_add(n, &term, false);
	}
	return nbits;
}

/* x = exp(y 2^-NBITS) */
static void set_exp(struct big_decimal *x, struct integer *y)
{
	struct integer unit, sum, term;
	int64_t exponent;

	integer_set(&term, EXP_MAX);
	shift(&term, NBITS);
	term.negative = y->negative;
	if (integer_compare(y, &term) * (y->negative ? -1 : 1) > 0) {
		set_beyond(x, !y->negative, false);
		return;
	}
	set_constant(&unit, &ln2, NBITS);
	integer_copy(&term, y);
	divide(&term, &unit);
	exponent = (int64_t)integer_low(&term) * (y->negative ? -1 : 1);
	integer_copy(&term, &unit);
	integer_multiply_short(&term, (uint64_t)(exponent < 0 ? -exponent : exponent) + (exponent == 0));
	term.negative = exponent < 0;
	if (exponent != 0)
		integer_add(y, &term, true);
	shift(y, -NSQUARES);
	integer_set(&sum, 1);
	shift(&sum, NBITS);
	integer_copy(&term, &sum);
	for (uint64_t k = 1; !integer_is_zero(&term); k++) {
		bool negative = term.negative != y->negative;
		multiply_fixed(&term, y, NBITS);
		integer_divide_short(&term, k);
		term.negative = negative;
		integer_add(&sum, &term, false);
	}
	for (int i = 0; i < NSQUARES; i++) {
		integer_multiply(&term, &sum, &sum);
		shift(&term, -NBITS);
		integer_copy(&sum, &term);
	}
	set_fixed(x, &sum, NBITS - (int)exponent);
}

static void set_sqrt(struct big_decimal *x)
{
	struct integer root;
	int nplaces = 2 * QUOTIENT_NDIGITS + 2 - integer_ndigits(&x->n);
	long nrest;

	nplaces = nplaces > 0 ? nplaces : 0;
	nplaces += (x->scale + nplaces) & 1;
	integer_shift(&x->n, nplaces);
	x->scale += nplaces;
	nrest = mpn_sqrtrem(root.limb, x->n.limb, x->n.limb, x->n.nlimbs);
	root.negative = false;
	root.nlimbs = (x->n.nlimbs + 1) / 2;
	set_result(x, &root, x->scale / 2, nrest != 0);
}

bool real_compute(enum real function, struct big_decimal *x)
{
	struct integer n, unit;
	int nbits;

	if (function == REAL_EXP) {
		integer_copy(&n, &x->n);
		shift(&n, NBITS);
		integer_set(&unit, 1);
		integer_shift(x->scale < 0 ? &n : &unit, x->scale < 0 ? -x->scale : x->scale);
		divide(&n, &unit);
		set_exp(x, &n);
		return true;
	}
	if (integer_is_zero(&x->n)) {
		x->scale = 0;
		return function == REAL_SQRT;
	}
	if (x->n.negative)
		return false;
	if (function == REAL_SQRT) {
		set_sqrt(x);
		return true;
	}
	nbits = ln(x, &n);
	if (function != REAL_LN) {
		shift(&n, LN_NBITS);
		divide(&n, function == REAL_LOG2 ? &ln2 : &ln10);
	}
	if (integer_is_zero(&n))
		big_decimal_set(x, (struct decimal){0, 0});
	else
		set_fixed(x, &n, nbits);
	return true;
}

/* Whether k is an integer of 64 bits. */
static bool to_integer(const struct big_decimal *k, int64_t *out)
{
	struct integer n, unit, rest;

	integer_copy(&n, &k->n);
	if (k->is_rounded)
		return false;
	if (k->scale > 0) {
		integer_set(&unit, 1);
		integer_shift(&unit, k->scale);
		integer_copy(&rest, &n);
		integer_divide(&rest, &unit, &n);
		if (!integer_is_zero(&rest))
			return false;
	}
	*out = (int64_t)integer_low(&n) * (k->n.negative ? -1 : 1);
	return n.nlimbs <= 1 && integer_low(&n) < INT64_MAX;
}

/* x = x^k, where that is exact and not long, or the quotient of 1 and such a power. */
static bool power_exactly(struct big_decimal *x, int64_t k)
{
	const int64_t n = k < 0 ? -k : k;
	struct big_decimal power, factor = *x, one;
	int nzeros = 0;

	for (struct integer rest = factor.n; integer_divide_short(&rest, 10) == 0; nzeros++)
		integer_copy(&factor.n, &rest);
	factor.n.negative = x->n.negative;
	factor.scale -= nzeros;
	if (n > WIDE_SCALE_MAX + 1 || integer_ndigits(&factor.n) * n > QUOTIENT_NDIGITS + 2 || factor.scale * n > WIDE_SCALE_MAX ||
	    factor.scale * n < -WIDE_MAGNITUDE_MAX)
		return integer_ndigits(&factor.n) == 1 && integer_low(&factor.n) == 1 && factor.scale == 0 &&
		       (big_decimal_set(x, (struct decimal){x->n.negative && n % 2 ? -1 : 1, 0}), true);
	big_decimal_set(&power, (struct decimal){1, 0});
	for (int64_t i = 0; i < n; i++) {
		struct integer product;
		integer_multiply(&product, &power.n, &factor.n);
		integer_copy(&power.n, &product);
		power.n.negative = factor.n.negative && i % 2 == 0;
	}
	power.scale = (int)(factor.scale * n);
	if (power.scale < 0) {
		integer_shift(&power.n, -power.scale);
		power.scale = 0;
	}
	big_decimal_set(&one, (struct decimal){1, 0});
	if (k >= 0)
		*x = power;
	else
		big_decimal_quotient(x, &one, &power);
	return true;
}

bool real_power(struct big_decimal *x, const struct big_decimal *k)
{
	const bool negative = x->n.negative && !integer_is_zero(&x->n);
	struct integer y, product, unit;
	int64_t exponent = 0;
	bool is_integer = to_integer(k, &exponent);
	int nbits;

	if (integer_is_zero(&k->n)) {
		big_decimal_set(x, (struct decimal){1, 0});
		return true;
	}
	if (integer_is_zero(&x->n)) {
		big_decimal_set(x, (struct decimal){0, 0});
		return !k->n.negative;
	}
	if (is_integer && !x->is_rounded && power_exactly(x, exponent))
		return true;
	if (negative && !is_integer)
		return false;
	x->n.negative = false;
	nbits = ln(x, &y);
	integer_multiply(&product, &y, &k->n);
	product.negative = y.negative != k->n.negative && !integer_is_zero(&product);
	shift(&product, NBITS - nbits);
	integer_set(&unit, 1);
	integer_shift(k->scale < 0 ? &product : &unit, k->scale < 0 ? -k->scale : k->scale);
	divide(&product, &unit);
	set_exp(x, &product);
	x->n.negative = negative && exponent % 2 != 0 && !integer_is_zero(&x->n);
	return true;
}
