/* SPDX-License-Identifier: MIT
 *
 * scan_lookback.cuh - the scan for every GPU: a tile a block, and the decoupled look-back of grid.cuh
 * (D. Merrill and M. Garland, NVR-2016-002).
 *
 * Any number of blocks may run at once: tiles are drawn, and grid.cuh proves that waiting ends.
 */
#pragma once

#include "scan_tile.cuh"

template <class F, unsigned NTHREADS, unsigned NPACKS>
__global__ static void __launch_bounds__(NTHREADS)
scan_lookback(struct scan_job<typename F::value> job, struct grid_domino domino)
{
	typedef typename F::value T;
	const unsigned tile_npacks = NTHREADS * NPACKS, warp_npacks = WARP_NLANES * NPACKS;
	__shared__ scan_pack packs[tile_npacks];
	__shared__ T carry;

	/* 1. The tile, each warp's part in coalesced rows. Loads before stores. */
	uint32_t tile = grid_draw_tile(domino);
	uint64_t tile_pack = (uint64_t)tile * tile_npacks;
	unsigned row = warp_index() * warp_npacks + warp_lane();
	scan_pack loaded[NPACKS];
#pragma unroll
	for (unsigned i = 0; i < NPACKS; i++)
		loaded[i] = pack_get(job.in, job.n, tile_pack + row + i * WARP_NLANES);
#pragma unroll
	for (unsigned i = 0; i < NPACKS; i++)
		packs[row + i * WARP_NLANES] = loaded[i];
	/* Only thread 0 of tile 0 reads carry_in, which may be carry_out: the thread that writes
	 * carry_out depends on a value computed from it. */
	if (threadIdx.x == 0)
		carry = tile == 0 && job.carry_in != NULL ? *job.carry_in : F::identity();
	__syncwarp(); /* the warp's packs are there; no other warp uses them */

	/* 2. The tile's aggregate; tile 0's begins with the carry. */
	scan_pack *mine = packs + threadIdx.x * NPACKS;
	T total, within = block_exclusive<F, NTHREADS>(packs_fold<F, NPACKS>(mine), &total);

	/* 3. Its prefix, from the tiles before. */
	T prefix = grid_exclusive<F>(domino, tile, F::combine(carry, total));
	T before = F::combine(tile == 0 ? carry : prefix, within);

	/* 4. The scan, and back in rows. */
	if (tile == gridDim.x - 1)
		packs_carry_out<F, NPACKS>(job, tile_pack * pack_nvalues<T>(), threadIdx.x, mine,
					   before);
	packs_scan<F, NPACKS>(mine, before, job.exclusive);
	__syncwarp(); /* the warp's results are there */
#pragma unroll
	for (unsigned i = 0; i < NPACKS; i++)
		pack_put(job.out, job.n, tile_pack + row + i * WARP_NLANES,
			 packs[row + i * WARP_NLANES]);
}
