/* SPDX-License-Identifier: MIT
 *
 * natural.h - non-negative integers of any size that a statistic needs, and the text of
 * a rational number, or of its square root, rounded once.
 *
 * A mean, a variance, or a standard deviation is p/q x 10^-scale, or the root of it,
 * where p and q are exact integers. Its text has 17 significant digits, rounded
 * half-even from the exact value. Nothing here is floating point or allocates.
 */
#ifndef GPUSTAT_NATURAL_H
#define GPUSTAT_NATURAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number/decimal.h"

#define NATURAL_LIMB_DIGITS 9
#define NATURAL_LIMB_BASE 1000000000

/* The capacity: 5184 digits. S1, S2, ... are the sums of the powers of n values, n < 2^64,
 * each value an integer below 10^805 (|x| < 10^400, times 10^405). Longest operands:
 *     mean      S1                                      825 digits,  92 limbs
 *     variance  n S2, S1^2                             1650 digits, 184 limbs
 *     correlation  the square of n Sxy - Sx Sy         3300 digits, 368 limbs
 *     kurtosis  n^5 S4, n (n S2 - S1^2)^2              3340 digits, 372 limbs
 *     skewness  n^2 (n S2 - S1^2)^3, as a root         4990 digits, 556 limbs
 *     the fourth power of any struct wide              3384 digits, 376 limbs
 * 1 more is for the top of a product that turns out 0, and 3 are for the digits of a root:
 * RATIO_NLIMBS. */
#define NATURAL_NLIMBS 576

/* The sum of limb[i] x 10^(9 i), i < nlimbs; nlimbs == 0: zero. Canonical: every limb
 * below 10^9 and the highest not 0. All functions take and leave canonical numbers. Limbs
 * from nlimbs up are undefined: time and copying follow the length, not the capacity. */
struct natural {
	int nlimbs;
	uint32_t limb[NATURAL_NLIMBS];
};

/* copy = n. An assignment takes the time of the longest one. */
static inline void natural_copy(struct natural *copy, const struct natural *n)
{
	copy->nlimbs = n->nlimbs;
	memcpy(copy->limb, n->limb, (size_t)n->nlimbs * sizeof *n->limb);
}

/* n = value */
void natural_set(struct natural *n, uint128 value);

/* n = the absolute value of the sum of limb[i] x 10^(9 i), i < nlimbs, which is canonical
 * as struct wide is: each limb in -999999999 ... 999999999, none of the other sign than
 * the number's. nlimbs may exceed NATURAL_NLIMBS where the limbs from there on are 0.
 * Returns whether the number is negative. */
bool natural_set_limbs(struct natural *n, const int64_t *limb, int nlimbs);

/* -1, 0 or 1 as a is less than, equal to or greater than b. Cost: usually one limb. */
int natural_compare(const struct natural *a, const struct natural *b);

/* a += b. The sum must fit into NATURAL_NLIMBS limbs. b may be a. */
void natural_add(struct natural *a, const struct natural *b);

/* a -= b, a >= b. b may be a. */
void natural_subtract(struct natural *a, const struct natural *b);

/* product = a x b, a->nlimbs + b->nlimbs <= NATURAL_NLIMBS. a may be b; product must be
 * neither. Cost: a->nlimbs x b->nlimbs steps, less those where a's limb is 0. */
void natural_multiply(struct natural *product, const struct natural *a, const struct natural *b);

/* n *= 10^ndigits, ndigits >= 0. The product must fit into NATURAL_NLIMBS limbs. */
void natural_shift(struct natural *n, int ndigits);

struct sum192; /* by_scale.h */

/* *to += sum x 10^ndigits; sum: not negative. */
void sum192_add_to(struct natural *to, const struct sum192 *sum, int ndigits);

/* Decimal digits of n; none of 0. */
int natural_ndigits(const struct natural *n);

/* ---- ratios ---- */

#define RATIO_NDIGITS 17                  /* significant digits of a result */
#define RATIO_NLIMBS (NATURAL_NLIMBS - 3) /* longest numerator and denominator */
#define RATIO_SCALE_MAX 4096              /* |scale| at most */

/* Longest text: sign, 0, point, as many digits as scale and denominator have together,
 * 17 digits, NUL. The integers, whose digits scale and numerator make, are shorter. */
#define RATIO_TEXT_NBYTES \
	(4 + RATIO_SCALE_MAX + RATIO_NLIMBS * NATURAL_LIMB_DIGITS + RATIO_NDIGITS)

/* Writes numerator / denominator x 10^-scale, negated if negative, rounded half-even to
 * RATIO_NDIGITS significant digits: plain decimal, no exponent, trailing zeros after the
 * point (and then the point) trimmed, -0 as 0, NUL-terminated.
 * numerator, denominator: at most RATIO_NLIMBS limbs each; denominator > 0; |scale| <=
 * RATIO_SCALE_MAX. text: RATIO_TEXT_NBYTES bytes, or fewer if the
 * caller knows a bound for the text. Returns the text's length.
 * Cost: about 80 subtractions of the length of the longer one, where the zero limbs at
 * the low end of each do not count. */
size_t ratio_format(bool negative, const struct natural *numerator,
		    const struct natural *denominator, int scale, char *text);

/* Like ratio_format(), but rounds to ndigits digits if these are fewer; to none: 0. */
size_t ratio_format_known(bool negative, const struct natural *numerator, const struct natural *denominator, int scale,
			  int ndigits, char *text);

/* Like ratio_format(), but rounds to `places` digits after the point if these are fewer digits, places < 0: to 10^-places; to 0
 * what is less than 1 in the last of them. */
size_t ratio_format_places(bool negative, const struct natural *numerator, const struct natural *denominator, int scale,
			   int places, char *text);

/* For ratio_format_places() and its like: all of RATIO_NDIGITS digits, whatever is taken from it. */
#define RATIO_PLACES_ALL 1000000

/* Sets *digits to the first ndigits digits of numerator / denominator x 10^-scale, rounded half-even, as an
 * integer, which is to be multiplied by 10^*exponent; ndigits <= 38. Neither is 0. Returns whether there are
 * more. Limits and cost: as of ratio_format(), by the digits. */
bool ratio_digits(const struct natural *numerator, const struct natural *denominator, int scale,
		  int ndigits, uint128 *digits, int *exponent);

/* Like ratio_format(), but writes the square root of numerator / denominator x 10^-scale,
 * rounded once. Costs about twice as much. */
size_t ratio_sqrt_format(const struct natural *numerator, const struct natural *denominator,
			 int scale, char *text);

/* Like ratio_sqrt_format(), but rounds to ndigits digits if these are fewer; to none: 0. */
size_t ratio_sqrt_format_known(const struct natural *numerator, const struct natural *denominator, int scale, int ndigits,
			       char *text);

/* Like ratio_format_places(), of the square root, negated if negative. */
size_t ratio_sqrt_format_places(bool negative, const struct natural *numerator, const struct natural *denominator, int scale,
				int places, char *text);

/* Returns m with 10^(m - 1) <= numerator / denominator x 10^-scale < 10^m; neither is 0. Limits: as of ratio_format(). */
int ratio_magnitude(const struct natural *numerator, const struct natural *denominator, int scale);

/* Like ratio_magnitude(), of the square root. */
int ratio_sqrt_magnitude(const struct natural *numerator, const struct natural *denominator, int scale);

/* Like ratio_format() and ratio_sqrt_format_places() of all digits, for numbers that fit, denominator > 0; a root's scale is
 * even, its denominator at most RATIO_SHORT_MAX. They cost about 0.1 and 0.3 us, where those take 1 and 3; 1 us a root whose
 * denominator exceeds 64 bits. */
#define RATIO_SHORT_MAX ((uint128)1 << 120)
size_t ratio_format_short(bool negative, uint128 numerator, uint64_t denominator, int scale,
			  char *text);
size_t ratio_sqrt_format_short(bool negative, uint128 numerator, uint128 denominator, int scale, char *text);

#endif
