/* SPDX-License-Identifier: MIT
 *
 * wide.h - long decimals in fixed point: the values of a column beyond the fast path, where they are kept one by one, sorted
 * and ranked; and the scales of numbers that were rounded. Sums and results are struct exact (exact.h).
 *
 * A fixed-point number of 94 limbs, base 10^9, over 10^-405 ... 10^441: any value a
 * field may have (|x| < 10^400, scale <= 400) is represented exactly, and so is any
 * sum of up to 2^64 of them. Adding is limb by limb and therefore associative.
 * Idea: Kulisch's long accumulator, in base ten.
 */
#ifndef GPUSTAT_WIDE_H
#define GPUSTAT_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/decimal.h"
#include "number/integer.h"
#include "number/quotient.h"
#include "base/status.h"

#define WIDE_SCALE_MAX 400     /* digits a field may have after the point */
#define WIDE_MAGNITUDE_MAX 400 /* |x| < 10^400 */
#define WIDE_LIMB_DIGITS 9
#define WIDE_LIMB_BASE 1000000000
#define WIDE_POINT 45 /* limbs below the point: 405 digits */
#define WIDE_NLIMBS 94

/* The scale of a number that was rounded (quotient.h) is WIDE_SCALE_ROUNDED minus that of its last digit.
 * That is above every other number's, so the largest scale of some numbers tells whether one of them was
 * rounded, and how coarse the coarsest is. */
#define WIDE_SCALE_ROUNDED (2 * WIDE_SCALE_MAX + 1)
#define WIDE_SCALE_LAST (WIDE_SCALE_ROUNDED + WIDE_MAGNITUDE_MAX)

static inline bool wide_scale_is_rounded(int scale)
{
	return scale > WIDE_SCALE_MAX;
}

/* limb[i] weighs 10^(9 (i - WIDE_POINT)). Canonical: every limb in -999999999 ...
 * 999999999 and none of the other sign than the number's, so that numbers compare limb
 * by limb from the top. All functions take and leave canonical numbers. */
struct wide {
	int64_t limb[WIDE_NLIMBS];
};

/* x = 0 */
void wide_clear(struct wide *x);

/* x = significand x 10^-scale; scale 0 .. WIDE_SCALE_MAX; any scale of 0. */
void wide_set_decimal(struct wide *x, int128 significand, int scale);

/* x = -x */
static inline void wide_negate(struct wide *x)
{
	for (int i = 0; i < WIDE_NLIMBS; i++)
		x->limb[i] = -x->limb[i];
}

/* x += y */
void wide_add(struct wide *x, const struct wide *y);

/* x x 10^scale as an integer, which it is. Returns false where that does not fit *out, or scale is that of a
 * rounded number. */
bool wide_to_int128(const struct wide *x, int scale, int128 *out);

/* The digits after the point that numbers of a scale have at most. */
static inline int wide_places(int scale)
{
	return wide_scale_is_rounded(scale) ? WIDE_POINT * WIDE_LIMB_DIGITS : scale;
}

/* *out = x x 10^places, which is an integer. */
static inline void wide_to_integer(const struct wide *x, int places, struct integer *out)
{
	integer_set_limbs(out, x->limb, WIDE_NLIMBS, WIDE_POINT * WIDE_LIMB_DIGITS - places);
}

/* x = n x 10^-scale, which is in range; scale: -441 .. 405. */
void wide_set_integer(struct wide *x, const struct integer *n, int scale);

/* -1, 0 or 1 as x is less than, equal to or greater than y. */
int wide_compare(const struct wide *x, const struct wide *y);

/* How many digits after the point are right of a sum of count numbers; scale: the largest of theirs, one of which
 * was rounded. Each may be wrong by half of a doubtful digit's reach, and their errors add up. May be negative. */
static inline int wide_sum_places(int scale, uint64_t count)
{
	int places = WIDE_SCALE_ROUNDED - scale - QUOTIENT_NDOUBTFUL;

	for (; count > 0; count /= 10)
		places--;
	return places;
}

/* Rounds x, a number of that scale, half-even to digits that are right, RATIO_NDIGITS at most, if it was rounded: numbers that
 * are printed alike become equal. */
void wide_settle(struct wide *x, int scale);

#endif
