/* SPDX-License-Identifier: MIT
 *
 * reduce_strips.cuh - level 1 of a reduction: one thread over its share of an array, with
 * many loads under way.
 *
 * The array is cut into strips of NTHREADS x NLOADS loads, and the blocks of the grid take
 * strips in turn: so at any moment they read one narrow window of it, which is what
 * device memory likes best (one run of strips a block: 1 % slower; a block a strip: 15 %).
 * A thread's NLOADS loads are all on their way before the first is used.
 */
#ifndef GPUSTAT_REDUCE_STRIPS_CUH
#define GPUSTAT_REDUCE_STRIPS_CUH

#include <stdint.h>

/* Folds the calling thread's share of items into *all. Grid: one dimension of blocks of
 * NTHREADS threads (other dimensions: other arrays). ITEMS has
 *   value             what is folded into
 *   load              what one load brings
 *   uint64_t nloads() how many there are
 *   load get(i)       load i < nloads(); neighbouring threads get neighbouring ones
 *   void add(value *all, const load &)
 * The order of items is not kept: the fold commutes. */
template <unsigned NTHREADS, unsigned NLOADS, class ITEMS>
static __device__ inline void reduce_strips(const ITEMS &items, typename ITEMS::value *all)
{
	const uint64_t nloads = items.nloads(), strip = NTHREADS * NLOADS;
	uint64_t begin = blockIdx.x * strip;

	for (; begin + strip <= nloads; begin += gridDim.x * strip) {
		typename ITEMS::load loads[NLOADS];
#pragma unroll
		for (unsigned i = 0; i < NLOADS; i++)
			loads[i] = items.get(begin + i * NTHREADS + threadIdx.x);
#pragma unroll
		for (unsigned i = 0; i < NLOADS; i++)
			items.add(all, loads[i]);
	}
	for (uint64_t i = begin + threadIdx.x; i < nloads; i += NTHREADS) /* the last strip */
		items.add(all, items.get(i));
}

#endif
