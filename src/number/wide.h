/* SPDX-License-Identifier: MIT
 *
 * wide.h - long decimals in fixed point: the values of a column beyond the fast path, where they are kept one by one, sorted
 * and ranked. Sums and results are struct exact (exact.h).
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
#include "base/status.h"

#define WIDE_LIMB_DIGITS 9
#define WIDE_LIMB_BASE 1000000000
#define WIDE_POINT 45 /* limbs below the point: 405 digits */
#define WIDE_NLIMBS 94

/* limb[i] weighs 10^(9 (i - WIDE_POINT)). Canonical: every limb in -999999999 ...
 * 999999999 and none of the other sign than the number's, so that numbers compare limb
 * by limb from the top. All functions take and leave canonical numbers. */
struct wide {
	int64_t limb[WIDE_NLIMBS];
};

/* x = 0 */
void wide_clear(struct wide *x);

/* x = significand x 10^-scale; scale 0 .. EXACT_SCALE_MAX; any scale of 0. */
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

/* *out = x x 10^places, which is an integer. */
static inline void wide_to_integer(const struct wide *x, int places, struct integer *out)
{
	integer_set_limbs(out, x->limb, WIDE_NLIMBS, WIDE_POINT * WIDE_LIMB_DIGITS - places);
}

/* x = n x 10^-scale, which is in range; scale: -441 .. 405. */
void wide_set_integer(struct wide *x, const struct integer *n, int scale);

/* -1, 0 or 1 as x is less than, equal to or greater than y. */
int wide_compare(const struct wide *x, const struct wide *y);

/* Rounds x, a number of that scale, half-even to digits that are right, RATIO_NDIGITS at most, if it was rounded: numbers that
 * are printed alike become equal. */
void wide_settle(struct wide *x, int scale);

#endif
