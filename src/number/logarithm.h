/* SPDX-License-Identifier: MIT
 *
 * logarithm.h - natural logarithms as fixed-point integers, whose sums are exact and associative,
 * and the way back: the geometric mean of numbers from the sum of their logarithms.
 *
 * A positive number is mantissa x 2^exponent2 x 10^exponent10, 1 <= mantissa < 2. The exponents are
 * summed as integers, and so is the logarithm of the mantissa, in units of 2^-120. It is a function
 * of the number alone, so the sum depends neither on the order nor on where it was cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/ratio.h"

/* The sums over up to 2^64 numbers. Zeroed: of none. */
struct logarithm_sum {
	unsigned long mantissas[3]; /* in units of 2^-120, the least significant word first */
	int128 exponents2, exponents10;
};

/* No exponent of a number is larger. */
#define LOGARITHM_EXPONENT2_MAX 127
#define LOGARITHM_EXPONENT10_MAX 450

/* Adds the logarithm of significand[i] x 10^-scale[i] for each bit i in rows where the significand is
 * above 0. Cost: a number about 25 ns. Thread-safe; the first call makes the tables, in 1 ms. */
void logarithm_add_rows(struct logarithm_sum *sum, const int64_t *significand,
			const uint8_t *scale, uint64_t rows);

/* Adds the logarithm of significand x 10^exponent10, significand > 0. */
void logarithm_add(struct logarithm_sum *sum, uint128 significand, int exponent10);

/* Whether the mantissas' sum can be one of n numbers. */
bool logarithm_mantissas_fit(const struct logarithm_sum *sum, uint64_t n);

/* sum += later */
void logarithm_combine(struct logarithm_sum *sum, const struct logarithm_sum *later);

/* Writes exp(sum / n), the geometric mean of n > 0 numbers, of which sum is or at least can be (NULL: all are 1), rounded to
 * ndigits significant digits, as ratio_format() writes. text: RATIO_TEXT_NBYTES. Returns the text's length. The
 * result is rounded half-even from the exact value, but for one of about 10^16: see logarithm.c. */
size_t logarithm_format_mean(const struct logarithm_sum *sum, uint64_t n, int ndigits, char *text);

/* Adds count x ln(count), count > 0: a value that came so often. */
void logarithm_add_count(struct logarithm_sum *sum, uint64_t count);

/* Writes Shannon's entropy in bits, log2(n) - sum / (n ln 2), of n > 0 values, at most 2^58: sum is of the counts of all
 * distinct ones, which add up to n. It is rounded half-even to 17 significant digits, as ratio_format() writes: from the
 * exact value where that is a quotient of integers, as of counts that are all equal to a power of 2, and else from one that
 * is wrong by less than 2^-112. text: RATIO_TEXT_NBYTES. Returns the text's length. */
size_t logarithm_format_entropy(const struct logarithm_sum *sum, uint64_t n, char *text);
