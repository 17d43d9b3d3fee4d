/* SPDX-License-Identifier: MIT
 *
 * reduce_array.cuh - the shipped reduction over a plain array: the top of the ladder.
 *
 * gpustat's own arrays are columns of significands with a code for each (reduce.cu); this one has
 * values only. Both are lane_reduce, then shuffles, shared memory, and a last block that folds the
 * blocks' partials, in one launch.
 *
 * Sizes: 512 threads with 4 loads of 16 bytes each, as many blocks as run at once: the
 * best for all types, at 2 GiB and at 128 MiB, of 35 tried on an H200 (2026-11-21; 256 to
 * 1024 threads, 4 to 16 loads, caching hints, bulk copies into shared memory):
 * docs/ladder.md.
 */
#ifndef GPUSTAT_REDUCE_ARRAY_CUH
#define GPUSTAT_REDUCE_ARRAY_CUH

#include "../level/grid.cuh"
#include "../level/lane.cuh"

#define REDUCE_ARRAY_NTHREADS 512
#define REDUCE_ARRAY_NLOADS 4
#define REDUCE_ARRAY_ALIGN 16 /* of the array, in bytes: one load */

/* The whole loads of an array, for lane_reduce. */
template <class F> struct reduce_array_items {
	typedef typename F::value value;
	typedef uint4 load;
	static const unsigned nvalues = sizeof(load) / sizeof(value);
	const value *in;
	uint64_t n;

	__device__ uint64_t nloads(void) const { return n / nvalues; }
	__device__ load get(uint64_t i) const { return ((const load *)in)[i]; }
	__device__ void add(value *all, const load &pack) const
	{
		value x[nvalues];

		memcpy(x, &pack, sizeof x);
#pragma unroll
		for (unsigned i = 0; i < nvalues; i++)
			*all = F::combine(*all, x[i]);
	}
};

/* in: n values, device memory, 16-byte aligned. *out becomes their fold, the identity if
 * n = 0. partials: gridDim.x values; ndone: 0, and left 0. F commutes. gridDim.x: any. */
template <class F>
__global__ static void __launch_bounds__(REDUCE_ARRAY_NTHREADS)
reduce_array(const typename F::value *in, uint64_t n, typename F::value *partials,
	     uint32_t *ndone, typename F::value *out)
{
	typedef typename F::value T;
	const struct reduce_array_items<F> items = {in, n};
	T all = F::identity();

	/* 1. The thread's share; the first thread folds what does not fill a load. */
	lane_reduce<REDUCE_ARRAY_NTHREADS, REDUCE_ARRAY_NLOADS>(items, &all);
	if (blockIdx.x == 0 && threadIdx.x == 0)
		for (uint64_t i = items.nloads() * items.nvalues; i < n; i++)
			all = F::combine(all, in[i]);

	/* 2. The block's partial. */
	all = block_reduce<F, REDUCE_ARRAY_NTHREADS>(all);
	if (threadIdx.x == 0)
		partials[blockIdx.x] = all;

	/* 3. The last block folds them. */
	if (!grid_is_last_block(ndone, gridDim.x))
		return;
	all = F::identity();
	for (uint32_t i = threadIdx.x; i < gridDim.x; i += REDUCE_ARRAY_NTHREADS)
		all = F::combine(all, partials[i]);
	all = block_reduce<F, REDUCE_ARRAY_NTHREADS>(all);
	if (threadIdx.x == 0)
		*out = all;
}

/* Sets *nblocks to the number of blocks of reduce_array<F> that keep the current device busy. */
template <class F> static cudaError_t reduce_array_nblocks(uint32_t *nblocks)
{
	return grid_nresident(reduce_array<F>, REDUCE_ARRAY_NTHREADS, 0, nblocks);
}

#endif
