/* SPDX-License-Identifier: MIT
 *
 * warp.cuh - level 2: 32 lanes, whose partials travel by shuffles.
 *
 * All 32 lanes of a warp call each function together. Blocks have one dimension, a multiple of 32
 * threads.
 *
 * The scan is that of Hillis and Steele ("Data parallel algorithms", CACM 29(12), 1986):
 * five steps, each adding the partial from 1, 2, 4, 8, 16 lanes below. The reduction
 * runs the other way, towards lane 0. In both the lower lane's items come first.
 */
#pragma once

#include "fold.cuh"

#define WARP_NLANES 32
#define WARP_ALL 0xffffffffu /* every lane takes part */

static __device__ inline unsigned warp_lane(void)
{
	return threadIdx.x % WARP_NLANES;
}

/* The warp's position in its block. */
static __device__ inline unsigned warp_index(void)
{
	return threadIdx.x / WARP_NLANES;
}

/* x of the lane delta above; in the top delta lanes: their own. T: up to 64 bits. */
template <class T> static __device__ inline T warp_shuffle_down(T x, unsigned delta)
{
	return (T)__shfl_down_sync(WARP_ALL, x, delta);
}

/* x of the lane delta below; in the bottom delta lanes: their own. */
template <class T> static __device__ inline T warp_shuffle_up(T x, unsigned delta)
{
	return (T)__shfl_up_sync(WARP_ALL, x, delta);
}

/* Lane source's x, in all lanes. */
template <class T> static __device__ inline T warp_broadcast(T x, unsigned source)
{
	return (T)__shfl_sync(WARP_ALL, x, source);
}

/* Shuffles move 64 bits; an int128 goes in two. Like the three above. */
static __device__ inline int128 warp_join(uint64_t high, uint64_t low)
{
	return (int128)((uint128)high << 64 | low);
}

static __device__ inline int128 warp_shuffle_down(int128 x, unsigned delta)
{
	return warp_join(warp_shuffle_down((uint64_t)((uint128)x >> 64), delta),
			 warp_shuffle_down((uint64_t)x, delta));
}

static __device__ inline int128 warp_shuffle_up(int128 x, unsigned delta)
{
	return warp_join(warp_shuffle_up((uint64_t)((uint128)x >> 64), delta),
			 warp_shuffle_up((uint64_t)x, delta));
}

static __device__ inline int128 warp_broadcast(int128 x, unsigned source)
{
	return warp_join(warp_broadcast((uint64_t)((uint128)x >> 64), source),
			 warp_broadcast((uint64_t)x, source));
}

/* The fold of the warp's x in lane order. Valid in lane 0 only. */
template <class F>
static __device__ inline typename F::value warp_reduce(typename F::value x)
{
#pragma unroll
	for (unsigned delta = 1; delta < WARP_NLANES; delta *= 2)
		x = F::combine(x, warp_shuffle_down(x, delta));
	return x;
}

/* In each lane: the fold of the lanes up to and including itself. Lane 31 has the warp's. */
template <class F>
static __device__ inline typename F::value warp_inclusive(typename F::value x)
{
#pragma unroll
	for (unsigned delta = 1; delta < WARP_NLANES; delta *= 2) {
		typename F::value earlier = warp_shuffle_up(x, delta);
		x = warp_lane() >= delta ? F::combine(earlier, x) : x;
	}
	return x;
}

/* In each lane: the fold of the lanes before it, given warp_inclusive's result. Lane 0:
 * the identity. */
template <class F>
static __device__ inline typename F::value warp_exclusive(typename F::value inclusive)
{
	typename F::value earlier = warp_shuffle_up(inclusive, 1);

	return warp_lane() == 0 ? F::identity() : earlier;
}
