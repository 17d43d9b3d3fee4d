/* SPDX-License-Identifier: MIT
 *
 * numbers.c - see numbers.h. The numbers of a column mostly have one scale, so rows are folded a
 * scale at a time.
 */
#include "fold/numbers.h"

#define PLAIN_MAX (INT64_MAX / SIMD_NUMBERS_NROWS) /* so many may be added in 64 bits */

/* Returns the rows in `rows` whose number has the scale. */
static uint64_t rows_of_scale(const struct simd_numbers *x, uint64_t rows, uint8_t scale)
{
	uint64_t same = 0;

	for (unsigned row = 0; row < SIMD_NUMBERS_NROWS; row++)
		same |= (uint64_t)(x->scale[row] == scale) << row;
	return same & rows;
}

/* Folds the rows into an empty bin. */
static struct decimal_bin bin_of(const struct simd_numbers *x, uint64_t rows)
{
	struct decimal_bin bin = {0, INT64_MAX, INT64_MIN};
	int64_t sum = 0;

	for (uint64_t left = rows; left; left &= left - 1) {
		int64_t value = x->significand[__builtin_ctzll(left)];
		sum = (int64_t)((uint64_t)sum + (uint64_t)value);
		bin.min = value < bin.min ? value : bin.min;
		bin.max = value > bin.max ? value : bin.max;
	}
	bin.sum = sum;
	if (bin.min >= -PLAIN_MAX && bin.max <= PLAIN_MAX)
		return bin;
	bin.sum = 0;
	for (uint64_t left = rows; left; left &= left - 1)
		bin.sum += x->significand[__builtin_ctzll(left)];
	return bin;
}

void numbers_fold(struct decimal_fold *f, const struct simd_numbers *x, uint64_t rows)
{
	f->count += (uint64_t)__builtin_popcountll(rows);
	while (rows) {
		uint8_t scale = x->scale[__builtin_ctzll(rows)];
		uint64_t same = rows_of_scale(x, rows, scale);
		struct decimal_bin bin = bin_of(x, same);
		decimal_fold_add_bin(f, scale, &bin);
		rows &= ~same;
	}
}
