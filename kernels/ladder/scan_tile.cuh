/* SPDX-License-Identifier: MIT
 *
 * scan_tile.cuh - a tile of a scan in shared memory, for both engines.
 *
 * The tile has the array's layout, in packs of 16 bytes, and each thread owns NPACKS packs in a
 * row. NPACKS is odd: 8 threads then read their i-th packs, 16 bytes each, from 8 different groups
 * of 4 banks, without conflicts and without a transposition.
 */
#pragma once

#include "scan_job.cuh"

#define SCAN_PACK_NBYTES 16
typedef uint4 scan_pack;

/* Values in a pack. */
template <class T> static constexpr __host__ __device__ inline unsigned pack_nvalues(void)
{
	static_assert(SCAN_PACK_NBYTES % sizeof(T) == 0, "packs hold whole values");
	return SCAN_PACK_NBYTES / sizeof(T);
}

/* Loads pack p of in[0 .. n), zeros beyond its end. */
template <class T> static __device__ inline scan_pack pack_get(const T *in, uint64_t n, uint64_t p)
{
	T value[pack_nvalues<T>()] = {};
	scan_pack pack;

	if ((p + 1) * pack_nvalues<T>() <= n)
		return ((const scan_pack *)in)[p];
#pragma unroll
	for (unsigned i = 0; i < pack_nvalues<T>(); i++)
		if (p * pack_nvalues<T>() + i < n)
			value[i] = in[p * pack_nvalues<T>() + i];
	memcpy(&pack, value, sizeof pack);
	return pack;
}

/* Stores pack p of out[0 .. n), nothing beyond its end. */
template <class T>
static __device__ inline void pack_put(T *out, uint64_t n, uint64_t p, scan_pack pack)
{
	T value[pack_nvalues<T>()];

	if ((p + 1) * pack_nvalues<T>() <= n) {
		((scan_pack *)out)[p] = pack;
		return;
	}
	memcpy(value, &pack, sizeof pack);
#pragma unroll
	for (unsigned i = 0; i < pack_nvalues<T>(); i++)
		if (p * pack_nvalues<T>() + i < n)
			out[p * pack_nvalues<T>() + i] = value[i];
}

/* The fold of a thread's packs. */
template <class F, unsigned NPACKS>
static __device__ inline typename F::value packs_fold(const scan_pack *packs)
{
	typedef typename F::value T;
	T all = F::identity();

#pragma unroll
	for (unsigned p = 0; p < NPACKS; p++) {
		T value[pack_nvalues<T>()];
		scan_pack pack = packs[p];

		memcpy(value, &pack, sizeof pack);
#pragma unroll
		for (unsigned i = 0; i < pack_nvalues<T>(); i++)
			all = F::combine(all, value[i]);
	}
	return all;
}

/* Scans a thread's packs in place; all: the fold of everything before. */
template <class F, unsigned NPACKS>
static __device__ inline void packs_scan(scan_pack *packs, typename F::value all, bool exclusive)
{
	typedef typename F::value T;

#pragma unroll
	for (unsigned p = 0; p < NPACKS; p++) {
		T value[pack_nvalues<T>()];
		scan_pack pack = packs[p];

		memcpy(value, &pack, sizeof pack);
#pragma unroll
		for (unsigned i = 0; i < pack_nvalues<T>(); i++) {
			T before = all;
			all = F::combine(all, value[i]);
			value[i] = exclusive ? before : all;
		}
		memcpy(&pack, value, sizeof pack);
		packs[p] = pack;
	}
}

/* Writes the carry, if this thread of the last tile has the job's last value. Called before
 * packs_scan, since exclusive results do not contain it. */
template <class F, unsigned NPACKS>
static __device__ inline void packs_carry_out(const struct scan_job<typename F::value> &job,
					      uint64_t tile_begin, unsigned thread,
					      const scan_pack *packs, typename F::value all)
{
	typedef typename F::value T;
	const unsigned nvalues = NPACKS * pack_nvalues<T>();
	uint64_t begin = tile_begin + (uint64_t)thread * nvalues;

	if (job.carry_out == NULL || begin >= job.n || job.n - begin > nvalues)
		return;
	for (unsigned i = 0; i < job.n - begin; i++)
		all = F::combine(all, ((const T *)packs)[i]);
	*job.carry_out = all;
}
