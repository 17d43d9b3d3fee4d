/* SPDX-License-Identifier: MIT
 *
 * ewma.c - see ewma.h. A weight of up to four digits and values of up to 18 leave the exact step in 128 bits as
 * a rule; what does not fit is computed with natural numbers of any length, to the same digits.
 */
#include "number/ewma.h"

#include <string.h>

#include "number/big_decimal.h"
#include "number/decimal_text.h"
#include "number/natural.h"

bool ewma_weight_parse(const char *text, size_t nbytes, struct ewma_weight *w)
{
	struct decimal a;
	int64_t one;

	if (decimal_parse(text, nbytes, &a) != DECIMAL_NUMBER || a.scale > DECIMAL_NDIGITS)
		return false;
	one = (int64_t)decimal_powers[a.scale];
	*w = (struct ewma_weight){a.significand, one - a.significand, a.scale};
	return a.significand > 0 && a.significand <= one;
}

/* Returns x / 10^ndigits, rounded half-even; 0 < ndigits <= 36. */
static uint128 round_off(uint128 x, int ndigits)
{
	uint128 divisor = decimal_powers[ndigits > DECIMAL_NDIGITS ? DECIMAL_NDIGITS : ndigits];
	uint128 quotient, rest;

	if (ndigits > DECIMAL_NDIGITS)
		divisor *= (uint128)decimal_powers[ndigits - DECIMAL_NDIGITS];
	quotient = x / divisor;
	rest = 2 * (x - quotient * divisor);
	return quotient + (rest > divisor || (rest == divisor && quotient % 2 == 1));
}

static uint128 power_34(void)
{
	return (uint128)decimal_powers[17] * (uint128)decimal_powers[17];
}

/* How many digits x has beyond EWMA_NDIGITS; x < 2^127. */
static int count_surplus(uint128 x)
{
	uint128 limit = power_34();
	int n = 0;

	for (; x >= limit; limit *= 10) /* 10^38 < 2^127 < 10^39 */
		if (++n == 5)
			break;
	return n;
}

/* *x *= 10^n; false where that does not fit. */
static bool lengthen(int128 *x, int n)
{
	if (*x == 0)
		return true;
	if (n > DECIMAL_NDIGITS) {
		if (n > 2 * DECIMAL_NDIGITS ||
		    __builtin_mul_overflow(*x, (int128)decimal_powers[DECIMAL_NDIGITS], x))
			return false;
		n -= DECIMAL_NDIGITS;
	}
	return !__builtin_mul_overflow(*x, (int128)decimal_powers[n], x);
}

/* Sets y to x 10^-scale, rounded. Returns false where that is not for 128 bits. */
static bool set_short(struct ewma *y, int128 x, int scale)
{
	uint128 magnitude = (uint128)(x < 0 ? -x : x);
	int surplus = count_surplus(magnitude);

	if (scale > WIDE_SCALE_MAX)
		return false;
	y->magnitude = surplus ? round_off(magnitude, surplus) : magnitude;
	y->scale = scale - surplus;
	y->negative = x < 0;
	return true;
}

/* A step in 128 bits; returns false, and changes nothing, where it does not fit. */
static bool step_short(struct ewma *y, const struct ewma_weight *w, struct decimal x)
{
	int128 now = (int128)x.significand * w->now, before = (int128)y->magnitude, sum;
	int scale = y->scale > x.scale ? y->scale : x.scale;

	if (__builtin_mul_overflow(before, (int128)w->before, &before) ||
	    !lengthen(&before, scale - y->scale) || !lengthen(&now, scale - x.scale) ||
	    __builtin_add_overflow(y->negative ? -before : before, now, &sum))
		return false;
	return set_short(y, sum, scale + w->scale);
}

/* Sets y to x, rounded. */
static void set_long(struct ewma *y, struct big_decimal *x)
{
	int surplus = big_decimal_ndigits(x) - EWMA_NDIGITS, beyond = x->scale - WIDE_SCALE_MAX;

	surplus = surplus > beyond ? surplus : beyond;
	if (surplus > 0)
		big_decimal_round(x, x->scale - surplus);
	y->magnitude = 0;
	for (int i = x->n.nlimbs; i-- > 0;)
		y->magnitude = y->magnitude * NATURAL_LIMB_BASE + x->n.limb[i];
	y->scale = x->scale;
	y->negative = x->negative && y->magnitude != 0;
}

/* Multiplies x by weight x 10^-scale. */
static void weigh(struct big_decimal *x, int64_t weight, int scale)
{
	struct natural factor, n = x->n;

	natural_set(&factor, (uint128)weight);
	natural_multiply(&x->n, &n, &factor);
	x->scale += scale;
}

/* How many digits x has before the point; of |x| < 1, minus the number of zeros after the point. */
static int magnitude_of(const struct big_decimal *x)
{
	return big_decimal_ndigits(x) - x->scale;
}

/* A step of any length. */
static __attribute__((noinline)) void step_long(struct ewma *y, const struct ewma_weight *w,
						struct big_decimal *x)
{
	struct big_decimal before = {.negative = y->negative, .scale = y->scale};
	int magnitude;


	natural_set(&before.n, y->magnitude);
	if (y->scale < 0) {
		natural_shift(&before.n, -y->scale);
		before.scale = 0;
	}
	weigh(&before, w->before, w->scale);
	weigh(x, w->now, w->scale);
	magnitude = magnitude_of(x) > magnitude_of(&before) ? magnitude_of(x) : magnitude_of(&before);
	big_decimal_add(x, &before);
	if (y->is_rounded && magnitude_of(x) <= magnitude - (EWMA_NDIGITS - QUOTIENT_NDOUBTFUL))
		natural_set(&x->n, 0); /* what is left of two numbers that cancel is their errors */
	set_long(y, x);
}

void ewma_add(struct ewma *y, const struct ewma_weight *w, struct decimal number, const char *text,
	      size_t nbytes)
{
	struct big_decimal x;

	if (!text && !y->is_rounded && (y->is_set ? step_short(y, w, number)
				: set_short(y, number.significand, number.scale))) {
		y->is_set = true;
		return;
	}
	if (!text)
		big_decimal_set(&x, number);
	else if (big_decimal_parse(text, nbytes, &x) != STATUS_OK)
		return;
	y->is_rounded |= x.is_rounded;
	x.is_rounded = false; /* the mean has a rule of its own */
	if (y->is_set)
		step_long(y, w, &x);
	else
		set_long(y, &x);
	y->is_set = true;
}

char *ewma_write(const struct ewma *y, char to[EWMA_TEXT_NBYTES])
{
	uint128 magnitude = y->magnitude;
	int surplus = 0;

	if (!y->is_set)
		return to;
	for (uint128 limit = decimal_powers[RATIO_NDIGITS]; magnitude >= limit; limit *= 10)
		surplus++; /* 18 at most */
	if (surplus)
		magnitude = round_off(magnitude, surplus);
	return to + ratio_format_short(y->negative, magnitude, 1, y->scale - surplus, to);
}
