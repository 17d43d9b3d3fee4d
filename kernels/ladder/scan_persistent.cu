/* SPDX-License-Identifier: MIT
 *
 * scan_persistent.cu - persistent blocks that fetch ahead, and why that alone is not enough.
 *
 * In look-back a block's memory traffic stops while it waits for its prefix, and later blocks wait
 * while its tile is in flight. The obvious cure: as many blocks as run at once, which stay, and
 * each fetches its next tile by a bulk asynchronous copy while it works on the current one. Then
 * data is always in flight.
 *
 * It does not help: half as fast as look-back (docs/ladder.md). To fetch a tile is to draw it: from
 * then on every later tile needs its total. But the block publishes the total only when the tile
 * becomes its current one, after it has waited for the prefix of the one before. So the others look
 * back to a tile that lies complete in another block's shared memory, and a wait in one block
 * becomes one in all. shipped changes that first: it publishes a tile's total as soon as the tile
 * has arrived (kernels/ladder/scan_lookahead.cuh).
 *
 * It ends: a block publishes its tiles in order of their numbers, and waits for lower ones only,
 * all of them drawn by blocks that run. So the lowest that is not yet published can always be.
 *
 * Needs compute capability 9.0, for the copies. Tiles are look-back's, 20 KiB.
 */
#include "async_copy.cuh"
#include "scan_launch.cuh"
#include "scan.cuh"

#define PERSISTENT_NTHREADS 256
#define PERSISTENT_NPACKS 5       /* a thread; odd: see kernels/ladder/scan_tile.cuh */
#define PERSISTENT_TILE_NPACKS (PERSISTENT_NTHREADS * PERSISTENT_NPACKS)
#define PERSISTENT_NSTAGES 2      /* the current tile, and the next */
#define PERSISTENT_END UINT32_MAX /* instead of a tile: there are no more */
#define PERSISTENT_PTX 90         /* the least code version that has its instructions */

template <class T> struct persistent_ring {
	scan_pack packs[PERSISTENT_NSTAGES][PERSISTENT_TILE_NPACKS];
	async_barrier full[PERSISTENT_NSTAGES]; /* the tile has arrived */
	uint32_t tile[PERSISTENT_NSTAGES];
	T prefix; /* of the current tile */
};

/* Draws a tile and starts to fetch it into a free stage. One thread calls it, for the last time
 * when it draws PERSISTENT_END. */
template <class T>
static __device__ inline void persistent_fetch(struct persistent_ring<T> &ring, unsigned stage,
					       const T *in, uint64_t n,
					       const struct grid_domino &domino, uint32_t ntiles)
{
	uint32_t tile = grid_draw(domino), npacks = 0;

	grid_draws_end(domino, tile, ntiles + gridDim.x); /* each block draws once too often */
	ring.tile[stage] = tile < ntiles ? tile : PERSISTENT_END;
	if (tile < ntiles) {
		uint64_t first = (uint64_t)tile * PERSISTENT_TILE_NPACKS;
		uint64_t left = n / pack_nvalues<T>() - first;
		npacks = (uint32_t)(left < PERSISTENT_TILE_NPACKS ? left : PERSISTENT_TILE_NPACKS);
		/* Copies move whole packs; a last partial pack is loaded here, and our arrival
		 * releases it. */
		if (npacks < PERSISTENT_TILE_NPACKS && n % pack_nvalues<T>() != 0)
			ring.packs[stage][npacks] = pack_get(in, n, first + npacks);
	}
	if (npacks == 0) {
		async_barrier_arrive(&ring.full[stage]);
		return;
	}
	async_barrier_expect(&ring.full[stage], npacks * SCAN_PACK_NBYTES);
	async_load(ring.packs[stage],
		   (const scan_pack *)in + (uint64_t)tile * PERSISTENT_TILE_NPACKS,
		   npacks * SCAN_PACK_NBYTES, &ring.full[stage], async_streaming());
}

/* The current tile, whose packs have arrived: publishes its total, looks back, scans it in
 * place. */
template <class F>
static __device__ inline void persistent_scan(struct persistent_ring<typename F::value> &ring,
					      scan_pack *packs, uint32_t tile,
					      const struct grid_domino &domino)
{
	typedef typename F::value T;
	scan_pack *mine = packs + threadIdx.x * PERSISTENT_NPACKS;
	T total, within = block_exclusive<F, PERSISTENT_NTHREADS>(
			 packs_fold<F, PERSISTENT_NPACKS>(mine), &total);

	if (warp_index() == 0) {
		if (warp_lane() == 0) /* only now: the others have waited for this */
			grid_publish<T>(domino, tile, tile == 0, total);
		T prefix = grid_look_back<F>(domino, tile);
		if (warp_lane() == 0 && tile > 0)
			grid_publish<T>(domino, tile, true, F::combine(prefix, total));
		if (warp_lane() == 0)
			ring.prefix = prefix;
	}
	__syncthreads(); /* the prefix is written */
	packs_scan<F, PERSISTENT_NPACKS>(mine, F::combine(ring.prefix, within), false);
}

/* Stores the warp's packs, coalesced, and nothing beyond out[n - 1]. */
template <class T>
static __device__ inline void persistent_store(const scan_pack *packs, T *out, uint64_t n,
					       uint32_t tile)
{
	uint64_t first = (uint64_t)tile * PERSISTENT_TILE_NPACKS;
	unsigned row = warp_index() * WARP_NLANES * PERSISTENT_NPACKS + warp_lane();

	__syncwarp(); /* the warp's results are written; it stores no others */
#pragma unroll
	for (unsigned i = 0; i < PERSISTENT_NPACKS; i++, row += WARP_NLANES)
		pack_put(out, n, first + row, packs[row]);
}

/* gridDim.x: any number of blocks; as many as run at once is fast. */
template <class F>
__global__ static void __launch_bounds__(PERSISTENT_NTHREADS)
persistent(const typename F::value *in, typename F::value *out, uint64_t n,
	   struct grid_domino domino, uint32_t ntiles)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	__shared__ struct persistent_ring<typename F::value> ring;
	uint32_t tile;

	if (threadIdx.x == 0) {
		async_barrier_init(&ring.full[0], 1);
		async_barrier_init(&ring.full[1], 1);
		async_barrier_publish();
		persistent_fetch(ring, 0, in, n, domino, ntiles);
	}
	__syncthreads(); /* the barriers are initialised */
	for (unsigned turn = 0;; turn++) {
		unsigned stage = turn % PERSISTENT_NSTAGES;
		unsigned parity = turn / PERSISTENT_NSTAGES % 2;

		/* 1. Fetch the next tile. */
		if (threadIdx.x == 0 && ring.tile[stage] != PERSISTENT_END)
			persistent_fetch(ring, !stage, in, n, domino, ntiles);
		/* 2. The current one. */
		async_barrier_wait(&ring.full[stage], parity);
		if ((tile = ring.tile[stage]) == PERSISTENT_END)
			return;
		persistent_scan<F>(ring, ring.packs[stage], tile, domino);
		persistent_store(ring.packs[stage], out, n, tile);
		async_fence(); /* orders what we wrote there before the next copy into it */
		__syncthreads(); /* all are done with the stage: it may be filled again */
	}
#endif /* else: open refuses */
}

struct scan_persistent_rung : scan_engine_rung {
	/* cudaErrorNotSupported: the device, or the code for it, lacks the copies. */
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		struct cudaFuncAttributes code;
		cudaError_t error = cudaFuncGetAttributes(&code, persistent<F>);

		if (error != cudaSuccess)
			return error;
		if (code.ptxVersion < PERSISTENT_PTX)
			return cudaErrorNotSupported;
		error = grid_nresident(persistent<F>, PERSISTENT_NTHREADS, 0, &run->nblocks);
		if (error != cudaSuccess)
			return error;
		/* Its tiles are linked as look-back's are, so they need look-back's slots. */
		run->shape = {SCAN_LOOKBACK,
			      PERSISTENT_TILE_NPACKS * pack_nvalues<typename F::value>(), 0, 0, 0};
		return open_slots<F>(run);
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		uint32_t ntiles = (uint32_t)ladder_ntiles(run->n, run->shape.tile_nvalues);
		uint32_t nblocks = ntiles < run->nblocks ? ntiles : run->nblocks;
		cudaError_t error = grid_domino_advance(&run->memory.domino, 0);

		if (error != cudaSuccess)
			return error;
		persistent<F><<<nblocks, PERSISTENT_NTHREADS>>>(in, out, run->n,
								run->memory.domino, ntiles);
		return cudaGetLastError();
	}
};
LADDER_RUNG(scan, persistent, "blocks stay, fetch a tile ahead, but publish it late")
