/* SPDX-License-Identifier: MIT
 *
 * quotient.h - quotients that do not end, or not soon, with digits to spare.
 *
 * A quotient of up to RATIO_NDIGITS digits is a plain decimal. Any other one is rounded, half-even, to
 * QUOTIENT_NDIGITS significant digits, and that it was rounded goes with it: whatever is computed of it is
 * printed with RATIO_NDIGITS digits at most. The digits to spare take up the errors of what is computed
 * meanwhile, so that three thirds are 1.
 *
 * As a text, such a number is QUOTIENT_MARK, an integer, 'e' and an exponent: ~-333e-38. No field has it,
 * and decimal_parse() refuses it, so only what reads a number that was computed takes it for one.
 */
#pragma once

#include "number/decimal.h"
#include "number/exact.h"

#define QUOTIENT_NDIGITS 38 /* 10^38 < 2^127 */
#define QUOTIENT_MARK '~'

/* So many zeros after the last digit of a number that was computed of rounded ones are no accident. */
#define QUOTIENT_NZEROS 12

/* A rounded number of QUOTIENT_NDIGITS digits is wrong by less than its 10^-QUOTIENT_NRIGHT-th part. */
#define QUOTIENT_NRIGHT (QUOTIENT_NDIGITS - EXACT_NDOUBTFUL - 1)

/* Longest text of a rounded one, and what writing takes: mark, sign, digits, e, sign, 3 digits, NUL. */
#define QUOTIENT_TEXT_NBYTES (QUOTIENT_NDIGITS + 32)

/* q = a / b of some rows, b not 0. An exact quotient has a scale of 0 or more, and no trailing zeros after the point. Returns the rows
 * of rounded ones. Cost: usually two divisions of 128 bits by 64 each. */
uint64_t quotient_divide_rows(struct exact *q, const int64_t *a, const uint8_t *a_scale, const int64_t *b, const uint8_t *b_scale, uint64_t rows);

/* The quotient whose first digits are magnitude x 10^-scale; has_rest: there are more, which the magnitude was rounded by. An exact
 * one may have to have a magnitude beyond 10^QUOTIENT_NDIGITS to have a scale of 0: its scale is then negative. */
struct exact quotient_from_digits(bool negative, uint128 magnitude, int scale, bool has_rest);

/* Writes a rounded one as above, NUL-terminated. Returns the length. */
size_t quotient_write(const struct exact *q, char text[QUOTIENT_TEXT_NBYTES]);

/* Reads what quotient_write wrote. Returns false if text is no quotient, or is beyond the range of numbers. */
bool quotient_parse(const char *text, size_t nbytes, struct exact *q);

/* Writes a rounded one in plain decimal with RATIO_NDIGITS significant digits at most, as ratio_format
 * does. text: for a sign, a point and 800 digits. Returns the length. */
size_t quotient_format(const struct exact *q, char *text);

/* Writes x x 10^-scale, or what has a rest after x less than 1, rounded half-even to `places` digits after the point, if it has more,
 * and then to RATIO_NDIGITS digits, as ratio_format does; x is used up. Returns the text's length. */
size_t quotient_format_sum(struct integer *x, int scale, bool has_rest, int places, char *text);

/* ---- short sums ---- */

/* Count, sum and extremes of some rounded numbers, or of plain ones: integers x 10^-scale of 192 bits with a sign, the low word
 * first. Zeroed: of none. A group keeps it in line: it owns no memory, and what does not fit goes elsewhere. */
#define QUOTIENT_NWORDS 3
enum { QUOTIENT_SUM, QUOTIENT_MIN, QUOTIENT_MAX, QUOTIENT_NSUMS };
struct quotient_fold {
	uint64_t count;
	int32_t scale;       /* the largest of theirs */
	int32_t least_scale; /* the smallest of the rounded ones'; QUOTIENT_SCALE_NONE: of plain ones alone */
	unsigned long sums[QUOTIENT_NSUMS][QUOTIENT_NWORDS];
};
#define QUOTIENT_SCALE_NONE INT32_MAX

/* A fold of one number. */
struct quotient_fold quotient_fold_of(const struct exact *q);

/* Adds a rounded number; returns as quotient_fold_add does. */
bool quotient_fold_add_one(struct quotient_fold *f, const struct exact *q);

/* f becomes the fold of its numbers and later's. Returns false, and changes nothing, where that does not fit. */
bool quotient_fold_add(struct quotient_fold *f, const struct quotient_fold *later);

/* The same of many numbers, which is read by quotient_bins_fold: sums and extremes at each scale, defined where the set of the scales
 * has it. Zeroed: of none. */
struct quotient_bins {
	uint64_t count, scales, rounded; /* rounded: the scales of rounded numbers */
	struct quotient_bin {
		uint128 low; /* the sum of the low words, and of the high ones */
		int128 high, least, greatest;
	} bin[64];
};

/* Adds the rounded numbers of some rows. Returns the rows that are left, whose scales are beyond those of the fast path's quotients. */
uint64_t quotient_bins_add(struct quotient_bins *bins, const struct exact *q, uint64_t rows);
void quotient_bins_add_plain(struct quotient_bins *bins, const struct decimal_fold *plain);

/* The fold of the numbers of a scale, but for their count. */
struct quotient_fold quotient_bins_fold(const struct quotient_bins *bins, int scale);
