/* SPDX-License-Identifier: MIT
 *
 * reciprocal.h - sums of reciprocals of numbers above 0, as fixed-point integers, which are exact and associative, and the
 * way back: the harmonic mean.
 *
 * A reciprocal is rounded down to a multiple of 2^-RECIPROCAL_NBITS. So it depends on the number alone, and their sum neither on
 * the order nor on where it was cut. A number of the fast path lies between 10^-31 and 10^18: the sum of 2^64 reciprocals is below
 * 2^319, with a relative error below 10^-27.
 */
#pragma once

#include "number/decimal.h"
#include "number/exact.h"

#define RECIPROCAL_NBITS 152
#define RECIPROCAL_NWORDS 5
#define RECIPROCAL_NDIGITS 40 /* of one of a wide number, or one more */

/* In units of 2^-RECIPROCAL_NBITS, the least significant word first. Zeroed: of none. */
struct reciprocal_sum {
	unsigned long word[RECIPROCAL_NWORDS];
};

/* Adds the reciprocal of significand x 10^-scale, if the significand is above 0. Cost: about 15 ns. */
void reciprocal_add(struct reciprocal_sum *sum, struct decimal number);

/* sum += later */
void reciprocal_combine(struct reciprocal_sum *sum, const struct reciprocal_sum *later);

bool reciprocal_is_zero(const struct reciprocal_sum *sum);

/* 1 / x, rounded down to RECIPROCAL_NDIGITS digits, or one more; x is above 0. Its limbs are in the room. */
struct exact reciprocal_of(const struct exact *x, struct integer *room);

/* Writes count over the sum of reciprocals, the harmonic mean, rounded to ndigits significant digits, as ratio_format() writes; nothing
 * where the sum is not above 0, as that of a forged part. wide: what wide numbers add to the sum; NULL: nothing. text:
 * RATIO_TEXT_NBYTES. Returns the text's length. The result is rounded half-even from the exact value, but for one of about 10^9. */
size_t reciprocal_format_mean(const struct reciprocal_sum *sum, const struct exact *wide, uint64_t count, int ndigits,
			      char *text);
