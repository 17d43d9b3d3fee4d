/* SPDX-License-Identifier: MIT
 *
 * scan_lookahead.cuh - the scan from compute capability 9.0 on: persistent blocks that
 * publish their next tile's aggregate before they need the prefix of the one in hand.
 *
 * From look-back to here:
 *  - In look-back a tile's successors wait from its draw until its data has come, about a
 *    microsecond of doing nothing, in every tile. Here a block fetches tiles ahead, and
 *    publishes an aggregate as soon as the data is there, one tile ahead of its use. When
 *    a prefix is asked for, all aggregates before it have mostly been out for long.
 *  - So nobody needs to publish prefixes. A block knows the prefix of its last tile; the
 *    prefix of its next is that and the aggregates from there on, about one a block of
 *    the grid, which a warp reads in one or two rounds. No chain leads through the blocks:
 *    an aggregate depends on data only.
 *  - Three roles, so that nobody does the one thing while the other waits. A mover, one
 *    thread: draws tiles, fetches them, sends results off, all by the copy engine. A
 *    prefix warp: folds aggregates. NWARPS scan warps: the tile's aggregate, then the
 *    scan of the tile before.
 *
 * A stage of the ring holds one tile from its fetch until its results have left:
 *     mover: fetch -> full -> scan warps: publish aggregate -> prefix warp -> prefixed
 *     -> scan warps: scan in place -> written -> mover: send off, fetch another.
 * Each arrow is a barrier of the stage, whose k-th phase is that of the k-th tile there.
 * No phase is missed: the next one of `full` needs `written`, that needs every scan warp
 * and `prefixed`, and those have all seen `full`.
 *
 * It ends. Say that tile t is drawn by a block, after u, after v. Publishing t waits for
 * t's data and the scan of v: for t's stage to be free (at least 2 stages: v's at the
 * latest) and for the program order of the scan warps. The scan of v waits for aggregates
 * of tiles before v, all less than t, drawn, so their blocks run. By induction over t
 * every tile is published, and every prefix then known. It does not matter how many
 * blocks run at once.
 */
#ifndef GPUSTAT_SCAN_LOOKAHEAD_CUH
#define GPUSTAT_SCAN_LOOKAHEAD_CUH

#include "async_copy.cuh"
#include "scan_tile.cuh"

#define LOOKAHEAD_NSTAGES_MAX 8
#define LOOKAHEAD_NTHREADS(nwarps) (((nwarps) + 2) * WARP_NLANES)
#define LOOKAHEAD_END UINT32_MAX /* in a tile's place: there are no more */

template <class T, unsigned NWARPS> struct lookahead_ring {
	async_barrier full[LOOKAHEAD_NSTAGES_MAX];     /* mover -> all: the tile is there */
	async_barrier prefixed[LOOKAHEAD_NSTAGES_MAX]; /* prefix warp -> scan warps */
	async_barrier written[LOOKAHEAD_NSTAGES_MAX];  /* scan warps -> mover */
	T prefix[LOOKAHEAD_NSTAGES_MAX];
	T of_warp[2][NWARPS]; /* tiles take turns: one barrier a tile is enough */
	T carry;              /* set before tile 0 is full, by its block's mover */
	uint32_t tile[LOOKAHEAD_NSTAGES_MAX];
};

/* Where one of the roles is in the ring. */
struct lookahead_place {
	unsigned stage, parity;
};

static __device__ inline void lookahead_advance(struct lookahead_place *at, unsigned nstages)
{
	if (++at->stage == nstages) {
		at->stage = 0;
		at->parity ^= 1;
	}
}

/* Tile `tile` of TILE_NPACKS packs in an array of n values: its whole packs, and whether
 * a part of one follows. */
struct lookahead_extent {
	uint64_t first_pack;
	uint32_t npacks;
	bool has_part;
};

template <class T, unsigned TILE_NPACKS>
static __device__ inline struct lookahead_extent lookahead_extent_of(uint32_t tile, uint64_t n)
{
	uint64_t first = (uint64_t)tile * TILE_NPACKS;
	uint64_t left = n / pack_nvalues<T>() - first;

	if (left >= TILE_NPACKS)
		return {first, TILE_NPACKS, false};
	return {first, (uint32_t)left, n % pack_nvalues<T>() != 0};
}

/* Starts fetching a tile into a stage that nobody uses. */
template <class T, unsigned TILE_NPACKS>
static __device__ inline void lookahead_fetch(const struct scan_job<T> &job, uint32_t tile,
					      scan_pack *packs, async_barrier *full, uint64_t policy)
{
	struct lookahead_extent e = lookahead_extent_of<T, TILE_NPACKS>(tile, job.n);

	if (e.has_part) /* ordinary stores: our arrival releases them */
		packs[e.npacks] = pack_get(job.in, job.n, e.first_pack + e.npacks);
	if (e.npacks == 0) {
		async_barrier_arrive(full);
		return;
	}
	async_barrier_expect(full, e.npacks * SCAN_PACK_NBYTES);
	async_load(packs, (const scan_pack *)job.in + e.first_pack, e.npacks * SCAN_PACK_NBYTES,
		   full, policy);
}

/* Sends a tile off; on return its stage may be filled again. */
template <class T, unsigned TILE_NPACKS>
static __device__ inline void lookahead_send(const struct scan_job<T> &job, uint32_t tile,
					     const scan_pack *packs, uint64_t policy)
{
	struct lookahead_extent e = lookahead_extent_of<T, TILE_NPACKS>(tile, job.n);

	if (e.npacks > 0)
		async_store((scan_pack *)job.out + e.first_pack, packs,
			    e.npacks * SCAN_PACK_NBYTES, policy);
	if (e.has_part)
		pack_put(job.out, job.n, e.first_pack + e.npacks, packs[e.npacks]);
	async_store_wait_read();
}

/* Takes the block's oldest tile out of the ring, once it is written. */
template <class T, unsigned TILE_NPACKS, class RING>
static __device__ inline void lookahead_make_room(const struct scan_job<T> &job, RING &ring,
						  const scan_pack *stages, unsigned nstages,
						  struct lookahead_place *out, uint64_t policy)
{
	async_barrier_wait(&ring.written[out->stage], out->parity);
	lookahead_send<T, TILE_NPACKS>(job, ring.tile[out->stage],
				       stages + out->stage * TILE_NPACKS, policy);
	lookahead_advance(out, nstages);
}

/* The mover: one thread. */
template <class F, unsigned TILE_NPACKS, class RING>
static __device__ inline void lookahead_move(const struct scan_job<typename F::value> &job,
					     const struct grid_domino &domino, uint32_t ntiles,
					     RING &ring, scan_pack *stages, unsigned nstages)
{
	typedef typename F::value T;
	const uint32_t ndraws = ntiles + gridDim.x; /* each block draws once too often */
	struct lookahead_place in = {0, 0}, out = {0, 0};
	uint64_t policy = async_streaming();
	uint32_t tile = grid_draw(domino, ndraws), nheld = 0;

	/* 1. Tiles. The next is drawn before anyone waits for room. */
	for (; tile < ntiles; tile = grid_draw(domino, ndraws)) {
		if (nheld == nstages)
			lookahead_make_room<T, TILE_NPACKS>(job, ring, stages, nstages, &out, policy);
		else
			nheld++;
		/* Only here is carry_in read, which carry_out may be: whoever writes that
		 * has read an aggregate that came of this value. */
		if (tile == 0)
			ring.carry = job.carry_in != NULL ? *job.carry_in : F::identity();
		ring.tile[in.stage] = tile;
		lookahead_fetch<T, TILE_NPACKS>(job, tile, stages + in.stage * TILE_NPACKS,
						&ring.full[in.stage], policy);
		lookahead_advance(&in, nstages);
	}

	/* 2. The end takes a stage, too; the others wait for it to go on. */
	if (nheld == nstages) {
		lookahead_make_room<T, TILE_NPACKS>(job, ring, stages, nstages, &out, policy);
		nheld--;
	}
	ring.tile[in.stage] = LOOKAHEAD_END;
	async_barrier_arrive(&ring.full[in.stage]);
	for (; nheld > 0; nheld--)
		lookahead_make_room<T, TILE_NPACKS>(job, ring, stages, nstages, &out, policy);
	async_store_wait(); /* shared memory ends with the block */
}

/* The prefix warp. */
template <class F, class RING>
static __device__ inline void lookahead_find_prefixes(const struct grid_domino &domino, RING &ring,
						      unsigned nstages)
{
	typename F::value prefix = F::identity();
	uint32_t nfolded = 0; /* prefix is the fold of so many tiles, and the carry */

	for (struct lookahead_place at = {0, 0};; lookahead_advance(&at, nstages)) {
		async_barrier_wait(&ring.full[at.stage], at.parity);
		uint32_t tile = ring.tile[at.stage];
		if (tile == LOOKAHEAD_END)
			return;
		prefix = grid_fold_tiles<F>(domino, nfolded, tile, prefix);
		nfolded = tile;
		if (warp_lane() == 0) {
			ring.prefix[at.stage] = tile == 0 ? ring.carry : prefix;
			async_barrier_arrive(&ring.prefixed[at.stage]);
		}
	}
}

/* Waits for the tile at `at`, publishes its aggregate, and puts into *within the fold of
 * the tile's values before the thread's. All scan warps call it. The tile, in all. */
template <class F, unsigned NWARPS, unsigned NPACKS, class RING>
static __device__ inline uint32_t lookahead_publish(const struct grid_domino &domino, RING &ring,
						    const scan_pack *stages,
						    struct lookahead_place at, unsigned turn,
						    typename F::value *within)
{
	typedef typename F::value T;
	async_barrier_wait(&ring.full[at.stage], at.parity);
	uint32_t tile = ring.tile[at.stage];
	if (tile == LOOKAHEAD_END)
		return tile;

	const scan_pack *mine = stages + (at.stage * NWARPS * WARP_NLANES + threadIdx.x) * NPACKS;
	T inclusive = warp_inclusive<F>(packs_fold<F, NPACKS>(mine));
	if (warp_lane() == WARP_NLANES - 1)
		ring.of_warp[turn][warp_index()] = inclusive;
	/* Every warp's total is there. And all have read those of the tile before, in whose
	 * place the next tile's will be. */
	async_sync_first<NWARPS * WARP_NLANES>();
	T warps = warp_lane() < NWARPS ? ring.of_warp[turn][warp_lane()] : F::identity();
	warps = warp_inclusive<F>(warps);
	T total = warp_broadcast(warps, NWARPS - 1);
	if (threadIdx.x == 0)
		grid_publish<T>(domino, tile, false,
				tile == 0 ? F::combine(ring.carry, total) : total);
	warps = warp_broadcast(warp_exclusive<F>(warps), warp_index());
	*within = F::combine(warps, warp_exclusive<F>(inclusive));
	return tile;
}

/* A scan warp. */
template <class F, unsigned NWARPS, unsigned NPACKS, class RING>
static __device__ inline void lookahead_scan_tiles(const struct scan_job<typename F::value> &job,
						   const struct grid_domino &domino,
						   uint32_t ntiles, RING &ring, scan_pack *stages,
						   unsigned nstages)
{
	typedef typename F::value T;
	const unsigned tile_npacks = NWARPS * WARP_NLANES * NPACKS;
	struct lookahead_place at = {0, 0}, next = {0, 0};
	T within, next_within;
	unsigned turn = 0;
	uint32_t tile, next_tile;

	tile = lookahead_publish<F, NWARPS, NPACKS>(domino, ring, stages, at, turn, &within);
	for (; tile != LOOKAHEAD_END; tile = next_tile, at = next, within = next_within) {
		/* 1. Let others go on. */
		lookahead_advance(&next, nstages);
		turn ^= 1;
		next_tile = lookahead_publish<F, NWARPS, NPACKS>(domino, ring, stages, next, turn,
								 &next_within);
		/* 2. The tile in hand. */
		scan_pack *mine = stages + at.stage * tile_npacks + threadIdx.x * NPACKS;
		async_barrier_wait(&ring.prefixed[at.stage], at.parity);
		T before = F::combine(ring.prefix[at.stage], within);
		if (tile == ntiles - 1)
			packs_carry_out<F, NPACKS>(job,
						   (uint64_t)tile * tile_npacks * pack_nvalues<T>(),
						   threadIdx.x, mine, before);
		packs_scan<F, NPACKS>(mine, before, job.exclusive);
		async_fence(); /* the copy engine reads what we wrote */
		__syncwarp();  /* the whole warp has: one arrival speaks for it */
		if (warp_lane() == 0)
			async_barrier_arrive(&ring.written[at.stage]);
	}
}

/* gridDim.x blocks, any number, of LOOKAHEAD_NTHREADS(NWARPS) threads; dynamic shared
 * memory: nstages tiles. NBLOCKS: how many are to fit on a multiprocessor. */
template <class F, unsigned NWARPS, unsigned NPACKS, unsigned NBLOCKS>
__global__ static void __launch_bounds__(LOOKAHEAD_NTHREADS(NWARPS), NBLOCKS)
scan_lookahead(struct scan_job<typename F::value> job, struct grid_domino domino, uint32_t ntiles,
	       uint32_t nstages)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(128) scan_pack lookahead_stages[];
	__shared__ struct lookahead_ring<typename F::value, NWARPS> ring;

	if (threadIdx.x == 0) {
		for (unsigned i = 0; i < nstages; i++) {
			async_barrier_init(&ring.full[i], 1);
			async_barrier_init(&ring.prefixed[i], 1);
			async_barrier_init(&ring.written[i], NWARPS);
		}
		async_barrier_publish();
	}
	__syncthreads(); /* the barriers are there */
	if (warp_index() < NWARPS)
		lookahead_scan_tiles<F, NWARPS, NPACKS>(job, domino, ntiles, ring,
							lookahead_stages, nstages);
	else if (warp_index() > NWARPS)
		lookahead_find_prefixes<F>(domino, ring, nstages);
	else if (warp_lane() == 0)
		lookahead_move<F, NWARPS * WARP_NLANES * NPACKS>(job, domino, ntiles, ring,
								 lookahead_stages, nstages);
#else
	__trap(); /* scan_shape_of does not choose it */
#endif
}

#endif
