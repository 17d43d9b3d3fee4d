/* SPDX-License-Identifier: MIT
 *
 * block.cuh - level 3: the warps of a block, whose partials travel through shared memory.
 *
 * All NTHREADS threads of the block call each function together; NTHREADS is the block's size, a
 * multiple of 32, at most 1024. Each function ends with a barrier, or has passed one after its last
 * read of shared memory, so that it can be called again at once.
 */
#pragma once

#include "warp.cuh"

/* The fold of the block's x in thread order. Valid in thread 0 only. */
template <class F, unsigned NTHREADS>
static __device__ inline typename F::value block_reduce(typename F::value x)
{
	const unsigned nwarps = NTHREADS / WARP_NLANES;
	__shared__ typename F::value of_warp[nwarps];

	x = warp_reduce<F>(x);
	if (warp_lane() == 0)
		of_warp[warp_index()] = x;
	__syncthreads(); /* every warp's partial is there */
	if (warp_index() == 0) {
		x = warp_lane() < nwarps ? of_warp[warp_lane()] : F::identity();
		x = warp_reduce<F>(x);
	}
	__syncthreads(); /* warp 0 has read them: the next call may write */
	return x;
}

/* In each thread: the fold of the threads before it. *total: the block's, in every
 * thread. */
template <class F, unsigned NTHREADS>
static __device__ inline typename F::value block_exclusive(typename F::value x,
							   typename F::value *total)
{
	const unsigned nwarps = NTHREADS / WARP_NLANES;
	__shared__ typename F::value of_warp[nwarps];
	typename F::value within = warp_inclusive<F>(x), warps;

	if (warp_lane() == WARP_NLANES - 1)
		of_warp[warp_index()] = within;
	__syncthreads(); /* every warp's total is there */
	/* Each warp scans all totals for itself: cheaper than one more barrier. */
	warps = warp_lane() < nwarps ? of_warp[warp_lane()] : F::identity();
	__syncthreads(); /* all have read them: the next call may write */
	warps = warp_inclusive<F>(warps);
	*total = warp_broadcast(warps, nwarps - 1);
	warps = warp_broadcast(warp_exclusive<F>(warps), warp_index());
	return F::combine(warps, warp_exclusive<F>(within));
}
