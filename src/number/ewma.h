/* SPDX-License-Identifier: MIT
 *
 * ewma.h - the exponentially weighted mean: y = x for the first value, then y = A x + (1 - A) y.
 *
 * An exact y would have more digits after each value. So each step is computed exactly and then rounded once,
 * half-even, to EWMA_NDIGITS significant digits (those of IEEE 754's decimal128), and to no more than
 * EXACT_SCALE_MAX places, which is the range of numbers. That is a definition: y depends on the values and
 * their order, and on nothing else. Until a step has more digits, y is exact.
 */
#pragma once

#include "base/status.h"
#include "number/decimal.h"
#include "number/decimal_text.h"
#include "number/exact.h"

#define EWMA_NDIGITS 34

/* Longest text: sign, 0, point, 400 places and 17 digits, or 400 digits, NUL. */
#define EWMA_TEXT_NBYTES 424

/* A and 1 - A, both x 10^scale. */
struct ewma_weight {
	int64_t now, before;
	int scale;
	uint128 now_by[39]; /* now x 10^n, below 2^126, or 0 */
};

/* How far a mean of rounded numbers (quotient.h) is known: digits x 10^-scale is twenty times what it may be wrong by, as the
 * unit of the last digit of a sum is (exact_sum_places). Of each value it takes the part that the value has in the mean. */
struct ewma_reach {
	uint32_t digits; /* EWMA_REACH_NDIGITS of them; 0: no value was rounded */
	int scale;
};
#define EWMA_REACH_NDIGITS 9
#define EWMA_REACH_SCALE_MAX (EXACT_SCALE_MAX + 50) /* it becomes no less */

/* Zeroed: of no value. */
struct ewma {
	bool is_set, negative;
	int scale;         /* may be negative */
	uint128 magnitude; /* y x 10^scale, at most 10^EWMA_NDIGITS */
	struct ewma_reach reach;
};

/* Sets *w to A, a plain decimal with 0 < A <= 1 of up to 18 digits. Returns false if the text is no such number. */
bool ewma_weight_parse(const char *text, size_t nbytes, struct ewma_weight *w);

/* Adds the next value: number or, if text is not NULL, the number that text[0 .. nbytes) is, in decimal.h's
 * syntax; one beyond the range changes nothing. */
void ewma_add(struct ewma *y, const struct ewma_weight *w, struct decimal number, const char *text,
	      size_t nbytes);

/* Returns a number of short numbers after which the mean usually does not depend on what came before them. */
uint64_t ewma_memory(const struct ewma_weight *w);

/* The means after some short numbers, of the lowest mean that can have come before them and of the
 * highest one. Rounding keeps the order of two means, so where these lead to the same, each does. */
struct ewma_bounds {
	struct ewma low, high;
};

/* Sets b to those of no numbers. */
void ewma_bounds_begin(struct ewma_bounds *b);

/* Adds a number. */
static inline void ewma_bounds_add(struct ewma_bounds *b, const struct ewma_weight *w,
				   struct decimal x)
{
	ewma_add(&b->low, w, x, NULL, 0);
	ewma_add(&b->high, w, x, NULL, 0);
}

/* Whether b->low is the mean after the numbers, with its scale, if ewma_is_bounded of the one before
 * them. */
bool ewma_bounds_meet(const struct ewma_bounds *b);
bool ewma_is_bounded(const struct ewma *before);

/* Writes y rounded half-even to 17 significant digits, or to those that are right, as ratio_format does; nothing of no
 * value. No terminator. Returns the text's end. d: of such means only. */
char *ewma_write(const struct ewma *y, struct decimal_writer *d, char to[EWMA_TEXT_NBYTES]);
