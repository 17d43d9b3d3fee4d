/* SPDX-License-Identifier: MIT
 *
 * moment_powers.c - the exact sums of the second, third and fourth powers of a column's numbers. See moment.h.
 *
 * A significand is below 10^18 < 2^60: 64 squares add up to less than 2^127, and 64 fourth powers to less than 2^247. While all
 * significands of a block are below 2^30, which those of most columns are, a sum of a block has 128 bits; squares of such are summed
 * by SIMD (simd/convert.h). A block's sum is added to the column's, which grows when it must.
 */
#include <gmp.h>
#include <string.h>

#include "fold/moment.h"
#include "fold/moment_rows.h"
#include "number/exact_text.h"

#define SMALL_NBITS 30
#define SUM_NLIMBS 4

static enum status powers_combine(void *cell, void *later)
{
	return exact_add(cell, later);
}

static void powers_free(void *cell)
{
	exact_free(cell);
}

static bool powers_is_empty(const void *cell)
{
	return exact_is_zero(cell);
}

/* The sum of the squares of the significands in rows. */
static uint128 sum_squares(const int64_t *significand, uint64_t rows)
{
	uint128 sum = 0;

	if (rows != 1 && simd()->sum_squares(significand, rows, &sum))
		return sum;
	for (sum = 0; rows; rows &= rows - 1) {
		int64_t x = significand[__builtin_ctzll(rows)];
		sum += (uint128)((int128)x * x);
	}
	return sum;
}

/* Of significands below 2^SMALL_NBITS. */
static int128 sum_small(const struct moment_block *b, int power)
{
	int128 sum = 0;

	for (int i = 0; i < SIMD_NUMBERS_NROWS; i++) {
		int64_t x = b->significand[i], square = x * x;
		sum += (int128)square * (power == 3 ? x : square);
	}
	return sum;
}

/* Of any: those of negative numbers are summed apart from the others, without their sign. */
static enum status add_large(struct exact *to, const struct moment_block *b, int power, int scale)
{
	unsigned long sums[2][SUM_NLIMBS] = {{0}}, product[SUM_NLIMBS];

	for (int i = 0; i < SIMD_NUMBERS_NROWS; i++) {
		int64_t x = b->significand[i];
		unsigned long magnitude = (unsigned long)(x < 0 ? -x : x), *sum = sums[power == 3 && x < 0];
		uint128 square = (uint128)magnitude * magnitude;
		const unsigned long first[2] = {(unsigned long)square, (unsigned long)(square >> 64)}, second[2] = {magnitude, 0};
		if (x == 0)
			continue;
		mpn_mul_n(product, first, power == 3 ? second : first, 2);
		mpn_add_n(sum, sum, product, SUM_NLIMBS);
	}
	TRY(exact_add_limbs(to, sums[0], SUM_NLIMBS, false, scale));
	return exact_add_limbs(to, sums[1], SUM_NLIMBS, true, scale);
}

/* Adds the powers of the rows, which have one scale. */
static enum status add_alike(struct exact *to, int power, const int64_t *significand, int scale, uint64_t rows)
{
	struct moment_block block;

	if (power == 2)
		return exact_add_scaled(to, (int128)sum_squares(significand, rows), 2 * scale);
	moment_block_set(&block, significand, rows);
	if (block.bound >> SMALL_NBITS)
		return add_large(to, &block, power, power * scale);
	return exact_add_scaled(to, sum_small(&block, power), power * scale);
}

static enum status powers_add(struct exact *to, int power, const int64_t *significand, const uint8_t *scale, uint64_t rows)
{
	while (rows) {
		uint64_t alike = moment_rows_alike(scale, rows);
		TRY(add_alike(to, power, significand, scale[__builtin_ctzll(rows)], alike));
		rows &= ~alike;
	}
	return STATUS_OK;
}

static enum status powers_add_long(struct exact *to, int power, const struct exact *x)
{
	struct exact once = *x, result;
	struct integer rooms[2];

	once.is_rounded = false; /* a power is not rounded in its turn */
	result = exact_product(&once, &once, &rooms[0]);
	if (power > 2)
		result = exact_product(&result, power == 3 ? &once : &result, &rooms[1]);
	return exact_add(to, &result);
}

#define MOMENT_OF_POWERS(name, id, power) \
	static enum status name##_add(void *cell, const int64_t *significand, const uint8_t *scale, uint64_t rows) \
	{ \
		return powers_add(cell, power, significand, scale, rows); \
	} \
	static enum status name##_add_long(void *cell, const struct exact *x) \
	{ \
		return powers_add_long(cell, power, x); \
	} \
	static void name##_text(void *cell, struct json_text *j, const struct moment_source *source) \
	{ \
		(void)source; \
		exact_text(j, cell, power); \
	} \
	const struct moment_ops moment_##name = { \
		.moment = id, .cell_nbytes = sizeof(struct exact), .clear = powers_free, .add = name##_add, \
		.add_long = name##_add_long, .combine = powers_combine, .free = powers_free, .is_empty = powers_is_empty, \
		.text = name##_text, \
	};

MOMENT_OF_POWERS(squares, MOMENT_SQUARES, 2)
MOMENT_OF_POWERS(cubes, MOMENT_CUBES, 3)
MOMENT_OF_POWERS(fourths, MOMENT_FOURTHS, 4)
