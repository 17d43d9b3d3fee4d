/* SPDX-License-Identifier: MIT
 *
 * lane.cuh - level 1: one thread folds its share of an array, with many loads in flight.
 *
 * The array is cut into strips of NTHREADS x NLOADS loads, and the blocks of the grid take strips
 * in turn, so that at any moment they read one narrow window of it. Device memory likes that best:
 * one run of strips a block is 1 % slower, a block a strip 15 %. All NLOADS loads of a thread are
 * in flight before it uses the first.
 */
#pragma once

#include <stdint.h>

/* Folds the calling thread's share of items into *all. Grid: one dimension of blocks of NTHREADS
 * threads; other dimensions are other arrays. ITEMS has
 *   value             what is folded into
 *   load              what one load returns
 *   uint64_t nloads() the number of loads
 *   load get(i)       load i < nloads(); neighbouring threads get neighbouring loads
 *   void add(value *all, const load &)
 * The order of the items is not kept, so the fold must commute. */
template <unsigned NTHREADS, unsigned NLOADS, class ITEMS>
static __device__ inline void lane_reduce(const ITEMS &items, typename ITEMS::value *all)
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
