/* SPDX-License-Identifier: MIT
 *
 * column_bin.cuh - a column's bins in device memory, to which the blocks of column_fold add.
 */
#ifndef GPUSTAT_COLUMN_BIN_CUH
#define GPUSTAT_COLUMN_BIN_CUH

#include "kernels/fold/column_fold.cuh"

#define BIN_ZERO ((int64_t)1 << 62) /* beyond all significands: 18 digits */

/* Raises *greatest to x. It never falls, so a thread that finds it large enough skips the atomic,
 * which others would queue behind. */
static __device__ void bin_raise(unsigned long long *greatest, unsigned long long x)
{
	if (x > __ldcg(greatest))
		atomicMax(greatest, x);
}

/* Adds 32 bits each, so that the sums need no carry. */
static __device__ void bin_add_squares(struct column_bin *bin, uint128 squares)
{
	for (int i = 0; i < 4; i++)
		if ((uint32_t)(squares >> 32 * i))
			atomicAdd(&bin->squares[i], (unsigned long long)(uint32_t)(squares >> 32 * i));
}

/* Adds numbers of one scale to column c. */
template <bool SQUARES>
static __device__ void bin_add(const struct column_fold_memory &memory, uint32_t c, uint32_t scale,
			       int128 sum, uint128 squares, int64_t min, int64_t max)
{
	struct column_bin *bin = &memory.bins[(size_t)c * DECIMAL_NSCALES + scale];
	uint32_t *scales = &memory.counts[c].scales;

	atomicAdd(&bin->sum_low, (unsigned long long)(uint32_t)sum);
	atomicAdd(&bin->sum_high, (unsigned long long)(sum >> 32));
	if (SQUARES)
		bin_add_squares(bin, squares);
	bin_raise(&bin->least, (unsigned long long)(BIN_ZERO - min));
	bin_raise(&bin->greatest, (unsigned long long)(BIN_ZERO + max));
	if (!(__ldcg(scales) >> scale & 1))
		atomicOr(scales, 1u << scale);
}

static __device__ int128 bin_sum(const struct column_bin &bin)
{
	return (int128)(int64_t)bin.sum_high * ((int128)1 << 32) + (int128)bin.sum_low;
}

static __device__ uint128 bin_squares(const struct column_bin &bin)
{
	uint128 sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (uint128)bin.squares[i] << 32 * i;
	return sum;
}

#endif
