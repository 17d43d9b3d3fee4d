/* SPDX-License-Identifier: MIT
 *
 * real.c - see real.h.
 *
 * Numbers are integers in units of 2^-nbits. A logarithm is that of a power of 2, and that of a factor f near 1, which is
 * 2 atanh((f - 1) / (f + 1)); the series needs some 50 terms. An exponential is a power of 2 times exp(r), |r| < .35, which is
 * exp(r / 256) squared eight times.
 *
 * MPFR at 192 bits, with the text of 38 digits that a result is rounded to, takes 2.4 times as long for a root, 2.7 to 4.5 times for a
 * logarithm, and 1.4 times for an exponential (2 cores, 2026-11-28), and it allocates: so these few series over GMP's limbs stay.
 */
#include "number/real.h"

#include <gmp.h>

#include "number/quotient.h"
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

/* n 10^-scale; has_rest: and something after it, less than 1. It is rounded, or known to be exact. n is used up. */
static struct exact result_of(struct integer *n, int scale, bool has_rest, struct integer *room)
{
	const int surplus = integer_ndigits(n) - QUOTIENT_NDIGITS;
	struct exact x;

	if (surplus > 0)
		integer_round(n, surplus, has_rest);
	x = exact_view(n, surplus > 0 ? scale - surplus : scale);
	return exact_accept(&x, room);
}

/* n 2^-nbits, which is not 0, rounded; n is used up. */
static struct exact result_of_fixed(struct integer *n, int nbits, struct integer *room)
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
	return result_of(n, places, true, room);
}

/* A number that is beyond the range. */
static struct exact beyond(bool is_large, struct integer *room)
{
	integer_set(room, 1);
	integer_shift(room, is_large ? EXACT_MAGNITUDE_MAX : 0);
	return exact_view(room, is_large ? 0 : EXACT_SCALE_MAX + 1);
}

/* ---- functions ---- */

/* *n = ln x in units of 2^-nbits, which are returned; x > 0 */
static int ln(const struct exact *x, struct integer *n)
{
	struct integer numerator, denominator, z, square, term;
	int exponent, nbits = NBITS;
	bool negative;

	exact_to_integer(x, x->scale, &numerator);
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

/* exp(y 2^-NBITS); y is used up. */
static struct exact exp_of(struct integer *y, struct integer *room)
{
	struct integer unit, sum, term;
	int64_t exponent;

	integer_set(&term, EXP_MAX);
	shift(&term, NBITS);
	term.negative = y->negative;
	if (integer_compare(y, &term) * (y->negative ? -1 : 1) > 0)
		return beyond(!y->negative, room);
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
	return result_of_fixed(&sum, NBITS - (int)exponent, room);
}

static struct exact root_of(const struct exact *x, struct integer *room)
{
	struct integer n, root;
	int nplaces, scale;
	long nrest;

	if (exact_is_zero(x))
		return (struct exact){.scale = 0};
	exact_to_integer(x, x->scale, &n);
	nplaces = 2 * QUOTIENT_NDIGITS + 2 - integer_ndigits(&n);
	nplaces = nplaces > 0 ? nplaces : 0;
	nplaces += (x->scale + nplaces) & 1;
	scale = x->scale + nplaces;
	integer_shift(&n, nplaces);
	nrest = mpn_sqrtrem(root.limb, n.limb, n.limb, n.nlimbs);
	root.negative = false;
	root.nlimbs = (n.nlimbs + 1) / 2;
	return result_of(&root, scale / 2, nrest != 0, room);
}

bool real_compute(enum real function, const struct exact *x, struct integer *room, struct exact *result)
{
	struct integer n, unit;
	int nbits;

	if (function == REAL_EXP) {
		exact_to_integer(x, x->scale, &n);
		shift(&n, NBITS);
		integer_set(&unit, 1);
		integer_shift(x->scale < 0 ? &n : &unit, x->scale < 0 ? -x->scale : x->scale);
		divide(&n, &unit);
		*result = exp_of(&n, room);
		return true;
	}
	if (exact_is_negative(x) || (exact_is_zero(x) && function != REAL_SQRT))
		return false;
	if (function == REAL_SQRT) {
		*result = root_of(x, room);
		return true;
	}
	nbits = ln(x, &n);
	if (function != REAL_LN) {
		shift(&n, LN_NBITS);
		divide(&n, function == REAL_LOG2 ? &ln2 : &ln10);
	}
	*result = integer_is_zero(&n) ? (struct exact){.scale = 0} : result_of_fixed(&n, nbits, room);
	return true;
}

/* Whether k is an integer of 64 bits. */
static bool to_integer(const struct exact *k, int64_t *out)
{
	struct integer n, unit, rest;

	if (k->is_rounded)
		return false;
	exact_to_integer(k, k->scale, &rest);
	integer_set(&unit, 1);
	integer_shift(&unit, k->scale);
	integer_divide(&rest, &unit, &n);
	*out = (int64_t)integer_low(&n) * (n.negative ? -1 : 1);
	return integer_is_zero(&rest) && n.nlimbs <= 1 && integer_low(&n) < INT64_MAX;
}

/* x^k, where that is exact and not long, or the quotient of 1 and such a power. */
static bool power_exactly(const struct exact *x, int64_t k, struct integer *room, struct exact *result)
{
	const int64_t n = k < 0 ? -k : k;
	const struct exact one = {.value = 1};
	struct integer factor, power, product;
	struct exact divisor;
	int scale = x->scale;

	exact_to_integer(x, x->scale, &factor);
	integer_copy(&product, &factor);
	for (; integer_divide_short(&product, 10) == 0; scale--)
		integer_copy(&factor, &product);
	if (n > EXACT_SCALE_MAX + 1 || integer_ndigits(&factor) * n > QUOTIENT_NDIGITS + 2 || scale * n > EXACT_SCALE_MAX ||
	    scale * n < -EXACT_MAGNITUDE_MAX) {
		*result = (struct exact){.value = factor.negative && n % 2 ? -1 : 1};
		return factor.nlimbs == 1 && factor.limb[0] == 1 && scale == 0;
	}
	integer_set(&power, 1);
	for (int64_t i = 0; i < n; i++) {
		integer_multiply(&product, &power, &factor);
		integer_copy(&power, &product);
	}
	integer_shift(&power, (int)(-scale * n));
	scale = scale < 0 ? 0 : (int)(scale * n);
	if (k < 0) {
		divisor = exact_view(&power, scale);
		exact_divide(&one, &divisor, room, result);
	} else {
		integer_copy(room, &power);
		*result = exact_view(room, scale);
	}
	return true;
}

bool real_power(const struct exact *x, const struct exact *k, struct integer *room, struct exact *result)
{
	const bool negative = exact_is_negative(x);
	struct exact magnitude = *x;
	struct integer y, n, product, unit;
	int64_t exponent = 0;
	bool is_integer = to_integer(k, &exponent);
	int nbits;

	*result = (struct exact){.value = exact_is_zero(k)};
	if (exact_is_zero(k))
		return true;
	if (exact_is_zero(x))
		return !exact_is_negative(k);
	if (is_integer && !x->is_rounded && power_exactly(x, exponent, room, result))
		return true;
	if (negative && !is_integer)
		return false;
	if (negative)
		exact_negate(&magnitude);
	nbits = ln(&magnitude, &y);
	exact_to_integer(k, k->scale, &n);
	integer_multiply(&product, &y, &n);
	shift(&product, NBITS - nbits);
	integer_set(&unit, 1);
	integer_shift(k->scale < 0 ? &product : &unit, k->scale < 0 ? -k->scale : k->scale);
	divide(&product, &unit);
	*result = exp_of(&product, room);
	if (negative && exponent % 2 != 0)
		exact_negate(result);
	return true;
}
