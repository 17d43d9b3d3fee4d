/* SPDX-License-Identifier: MIT
 *
 * integer.h - integers of any size that a statistic needs, with a sign. The arithmetic is GMP's, by its low-level
 * functions (mpn) over limbs that lie in the structure itself: nothing here allocates or fails.
 *
 * GMP takes scratch memory by alloca while a request is at most 65,536 bytes, and by malloc, which it aborts without,
 * only beyond. What it asks for is a few times the operands' length, which is INTEGER_NLIMBS x 8 = 2,240 bytes at most.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number/decimal.h"

/* The capacity: 5,390 digits. S1, S2, ... are the sums of the powers of n values, n < 2^64,
 * each value an integer below 10^805 (|x| < 10^400, times 10^405). Longest operands:
 *     mean      S1                                      825 digits
 *     variance  n S2, S1^2                             1650 digits
 *     correlation  the square of n Sxy - Sx Sy         3300 digits
 *     kurtosis  n^5 S4, n (n S2 - S1^2)^2              3340 digits
 *     skewness  n^2 (n S2 - S1^2)^3, as a root         4990 digits
 *     the fourth power of any sum                      3384 digits
 * The rest is for a product's top, and for the digits of a ratio (ratio.h). */
#define INTEGER_NLIMBS 280
#define INTEGER_NDIGITS 5395 /* no integer has more */

/* The sum of limb[i] x 2^(64 i), i < nlimbs; nlimbs == 0: zero, which may have either sign. limb[nlimbs - 1] is not 0, and
 * limbs from nlimbs up are undefined: time and copying follow the length, not the capacity. */
struct integer {
	int nlimbs;
	bool negative;
	unsigned long limb[INTEGER_NLIMBS]; /* mp_limb_t; C++ reads this header as C, which gmp.h does not suffer */
};

/* copy = x. An assignment takes the time of the longest one. */
static inline void integer_copy(struct integer *copy, const struct integer *x)
{
	copy->nlimbs = x->nlimbs;
	copy->negative = x->negative;
	memcpy(copy->limb, x->limb, (size_t)x->nlimbs * sizeof *x->limb);
}

static inline bool integer_is_zero(const struct integer *x)
{
	return x->nlimbs == 0;
}

void integer_set(struct integer *x, uint128 value);
void integer_set_signed(struct integer *x, int128 value);

/* *x = digits[0 .. n), n <= INTEGER_NDIGITS. */
void integer_set_digits(struct integer *x, const char *digits, size_t n);

/* *x = a two's complement of nwords words, the least significant first. */
void integer_set_words(struct integer *x, const unsigned long *word, int nwords);

/* Sets word[0 .. nwords) to such a two's complement. Returns false where that does not fit. */
bool integer_to_words(const struct integer *x, unsigned long *word, int nwords);

/* -1, 0 or 1 as a is less than, equal to or greater than b. */
int integer_compare(const struct integer *a, const struct integer *b);

/* *to += x, or -= x. x may be to. */
void integer_add(struct integer *to, const struct integer *x, bool subtract);

/* Adds limbs, the least significant first, of which the highest is not 0, to others; *to_negative and negative: their signs. `to` has
 * room for one limb more than the longer one has. Returns how many there are then. */
int integer_add_limbs(unsigned long *to, int nto, bool *to_negative, const unsigned long *x, int nx, bool negative);

/* *product = a x b, at most INTEGER_NLIMBS limbs together. a may be b; product must be neither. */
void integer_multiply(struct integer *product, const struct integer *a, const struct integer *b);

/* *x *= factor > 0 */
void integer_multiply_short(struct integer *x, uint64_t factor);

/* *x *= 10^ndigits, ndigits >= 0 */
void integer_shift(struct integer *x, int ndigits);

/* *x = x / divisor towards 0, divisor > 0. Returns the rest's magnitude. */
uint64_t integer_divide_short(struct integer *x, uint64_t divisor);

/* *quotient = x / divisor towards 0, divisor not 0; *x becomes the rest. quotient is neither. */
void integer_divide(struct integer *x, const struct integer *divisor, struct integer *quotient);

/* *x /= 10^ndigits, rounded half-even. has_rest: there is more after x, less than 1, which rounding is to know of. */
void integer_round(struct integer *x, int ndigits, bool has_rest);

/* The magnitude modulo 2^128. */
static inline uint128 integer_low(const struct integer *x)
{
	return x->nlimbs == 0 ? 0 : (x->nlimbs > 1 ? (uint128)x->limb[1] << 64 : 0) | x->limb[0];
}

/* How many bits the magnitude has; x is not 0. */
static inline int integer_nbits(const struct integer *x)
{
	return 64 * x->nlimbs - __builtin_clzl(x->limb[x->nlimbs - 1]);
}

/* The largest n with 10^n <= 2^nbits, |nbits| <= 64 x INTEGER_NLIMBS. */
static inline int integer_digits_of_bits(int nbits)
{
	return (int)((int64_t)nbits * 1292913986 >> 32); /* log10(2) x 2^32 */
}

/* Writes the magnitude's digits, none of 0. No terminator. Returns how many. text: INTEGER_NDIGITS */
int integer_digits(const struct integer *x, char *text);

/* How many digits the magnitude has; none of 0. */
int integer_ndigits(const struct integer *x);

/* Writes x 10^-scale in plain decimal, NUL-terminated, -0 as 0: with at least `least` digits after the point, 0 <= least <= scale,
 * and more where they are not 0. Returns the text's length. text: integer_ndigits or scale bytes, whichever are more, and 4. */
size_t integer_format(const struct integer *x, int scale, int least, char *text);
