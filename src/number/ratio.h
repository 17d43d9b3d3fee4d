/* SPDX-License-Identifier: MIT
 *
 * ratio.h - the text of a rational number, or of its square root, rounded once.
 *
 * A mean, a variance, or a standard deviation is p/q x 10^-scale, or the root of it,
 * where p and q are exact integers. Its text has 17 significant digits, rounded
 * half-even from the exact value. Nothing here is floating point or allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/integer.h"

#define RATIO_NDIGITS 17            /* significant digits of a result */
#define RATIO_OPERAND_NDIGITS 5157  /* longest numerator and denominator */
#define RATIO_SCALE_MAX 4096        /* |scale| at most */

/* Longest text: sign, 0, point, as many digits as scale and denominator have together,
 * 17 digits, NUL. The integers, whose digits scale and numerator make, are shorter. */
#define RATIO_TEXT_NBYTES (4 + RATIO_SCALE_MAX + RATIO_OPERAND_NDIGITS + RATIO_NDIGITS)

/* numerator / denominator x 10^-scale, the denominator not 0; or the square root of its size, with its sign. */
struct ratio {
	const struct integer *numerator, *denominator;
	int scale;
	bool is_root;
};

/* For places and ndigits: all of RATIO_NDIGITS digits, whatever is taken from it. */
#define RATIO_ALL 1000000

/* Writes a ratio, rounded half-even to RATIO_NDIGITS significant digits: plain decimal, no exponent, trailing zeros after the
 * point (and then the point) trimmed, -0 as 0, NUL-terminated. While number_shown is set, digits to spare are written (shown.h), unless
 * the caller says how many are right. Rounds to ndigits digits, or to `places` digits after the point
 * (places < 0: to 10^-places), if these are fewer digits; to none, as where it is less than 1 in the last place: 0.
 * text: RATIO_TEXT_NBYTES bytes, or fewer if the caller knows a bound for the text, and DECIMAL_TEXT_SLACK more. Returns the text's length.
 * Cost: usually the division of a number of the length of the longer one. */
size_t ratio_format(struct ratio x, int ndigits, int places, char *text);

/* Writes all digits of magnitude x 10^-scale in plain decimal, without zeros at the end of a fraction. Returns the text's length. */
size_t ratio_write_digits(bool negative, uint128 magnitude, int scale, char *text);

/* Sets *digits to the first ndigits digits of |x|, which is no root, rounded half-even, as an
 * integer, which is to be multiplied by 10^*exponent; ndigits <= 38. x is not 0. Returns whether there are
 * more. Limits: as in ratio_format(). */
bool ratio_digits(struct ratio x, int ndigits, uint128 *digits, int *exponent);

/* Returns m with 10^(m - 1) <= |x| < 10^m; x is not 0. Limits: as in ratio_format(). */
int ratio_magnitude(struct ratio x);

/* What ratio_format() does of all digits where numbers fit, denominator > 0; a root's scale is
 * even, its denominator at most RATIO_SHORT_MAX. They cost about 0.1 and 0.3 us; 1 us a root whose
 * denominator exceeds 64 bits. */
#define RATIO_SHORT_MAX ((uint128)1 << 120)
size_t ratio_format_short(bool negative, uint128 numerator, uint64_t denominator, int scale, char *text);
size_t ratio_sqrt_format_short(bool negative, uint128 numerator, uint128 denominator, int scale, char *text);
