/* SPDX-License-Identifier: MIT
 *
 * simd/squares.h - the body of simd_ops.sum_squares, compiled by each instruction set's file. Where
 * simd/groups.h was included before, a register of numbers is squared at once.
 *
 * Numbers below 2^30 have squares below 2^60. Eight of them fit in 63 bits, which is why every lane
 * has two sums of up to eight rows.
 */
#ifndef GPUSTAT_SIMD_SQUARES_H
#define GPUSTAT_SIMD_SQUARES_H

#include <string.h>

#include "simd/simd.h"

#ifdef GROUP_NROWS

/* Adds the squares of a group's rows to *sum, and to *beyond the bits that no number has which is in
 * -2^30 ... 2^30 - 1. */
SIMD_INLINE void squares_add_group(const int64_t *significand, unsigned rows, lanes *sum,
				   lanes *beyond)
{
	const lanes limit = LANES_64(INT64_C(1) << 30);
	lanes x;

	memcpy(&x, significand, sizeof x);
	if (rows != GROUP_ALL)
		x = lanes_only(x, rows);
	*sum = LANES(add_epi64)(*sum, LANES(mul_epi32)(x, x));
	*beyond = LANES_BITS(or)(*beyond, LANES(srli_epi64)(LANES(add_epi64)(x, limit), 31));
}

static bool simd_sum_squares(const int64_t *significand, uint64_t rows, uint128 *sum)
{
	lanes even = LANES_64(0), odd = LANES_64(0), beyond = LANES_64(0);
	uint64_t sums[2][GROUP_NROWS];

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r += 2 * GROUP_NROWS) {
		squares_add_group(significand + r, (unsigned)(rows >> r) & GROUP_ALL, &even,
				  &beyond);
		squares_add_group(significand + r + GROUP_NROWS,
				  (unsigned)(rows >> r >> GROUP_NROWS) & GROUP_ALL, &odd, &beyond);
	}
	if (lanes_zeros(beyond) != GROUP_ALL)
		return false;
	memcpy(sums[0], &even, sizeof even);
	memcpy(sums[1], &odd, sizeof odd);
	*sum = 0;
	for (unsigned i = 0; i < GROUP_NROWS; i++)
		*sum += (uint128)sums[0][i] + sums[1][i];
	return true;
}

#else

static bool simd_sum_squares(const int64_t *significand, uint64_t rows, uint128 *sum)
{
	uint64_t beyond = 0, sums[8] = {0};

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++) {
		int64_t x = significand[r] & -(int64_t)(rows >> r & 1);
		beyond |= ((uint64_t)x + (UINT64_C(1) << 30)) >> 31;
		sums[r % 8] += (uint64_t)x * (uint64_t)x;
	}
	*sum = 0;
	for (unsigned i = 0; i < 8; i++)
		*sum += sums[i];
	return beyond == 0;
}

#endif

#endif
