/* SPDX-License-Identifier: MIT
 *
 * moment_rows.h - the rows that moment_ops.add is called with, taken apart for sums of powers: the
 * rows of one scale, as a block without gaps.
 *
 * Most blocks have 64 numbers of one scale. A loop of fixed length over such a block has no branch
 * that the numbers could mispredict.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "simd/simd.h"

/* Returns the rows whose scale is that of the first of them. rows: not 0. scale: of
 * SIMD_NUMBERS_NROWS rows, or of one if rows is 1. */
static inline uint64_t moment_rows_alike(const uint8_t *scale, uint64_t rows)
{
	uint8_t wanted;
	uint64_t same = 0;

	if (rows == 1 || (rows == ~UINT64_C(0) && simd_scales_alike(scale)))
		return rows;
	wanted = scale[__builtin_ctzll(rows)];
	for (uint64_t left = rows; left; left &= left - 1)
		same |= scale[__builtin_ctzll(left)] == wanted ? left & -left : 0;
	return same;
}

/* The significands of some rows; 0 in the others. */
struct moment_block {
	uint64_t bound; /* if it is below 2^k, they are in -2^k ... 2^k - 1 */
	int64_t significand[SIMD_NUMBERS_NROWS];
};

/* significand: of SIMD_NUMBERS_NROWS rows, or of one if rows is 1. */
static inline void moment_block_set(struct moment_block *b, const int64_t *significand,
				    uint64_t rows)
{
	b->bound = 0;
	if (rows == ~UINT64_C(0)) {
		for (unsigned i = 0; i < SIMD_NUMBERS_NROWS; i++) {
			b->significand[i] = significand[i];
			b->bound |= (uint64_t)(significand[i] ^ significand[i] >> 63);
		}
		return;
	}
	memset(b->significand, 0, sizeof b->significand);
	for (; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);
		b->significand[i] = significand[i];
		b->bound |= (uint64_t)(significand[i] ^ significand[i] >> 63);
	}
}
