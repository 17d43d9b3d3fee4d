/* SPDX-License-Identifier: MIT
 *
 * scan_lookahead.cuh - the scan from compute capability 9.0 on: one persistent block a multiprocessor,
 * which publishes tiles' aggregates long before it needs their prefixes.
 *
 * From look-back to here:
 *  - In look-back a tile's successors wait from its draw until its data has come, about a
 *    microsecond in every tile. Here a block fetches tiles ahead, and publishes an aggregate as
 *    soon as the data is there, before it scans the current tiles. When a prefix is needed, all
 *    aggregates before it have usually been published long before.
 *  - So prefixes need not be published. A block knows the prefix of its last tile; the prefix of
 *    its next is that and the aggregates from there on, about one a block of the grid, which a warp
 *    reads in one round. Blocks do not form a chain: an aggregate depends on data only.
 *  - Every block reads every aggregate, so there should be few blocks and large tiles: one block a
 *    multiprocessor. NGROUPS groups of warps with a tile each keep it busy while warps wait for
 *    each other.
 *  - Roles, so that no work waits for other work. A fetcher, one thread, draws tiles and starts
 *    their copies. A sender, one thread, starts the copies of results. A prefix warp folds
 *    aggregates. The groups, NWARPS warps each, take the block's tiles in turn: they publish a
 *    tile's aggregate, then scan the group's previous tile.
 *
 * A stage of the ring holds one tile from its draw until its results have left:
 *     fetcher -> drawn -> prefix warp -> prefixed
 *     fetcher -> (the copy) full -> its group: publish the aggregate; when prefixed, scan in
 *     place -> written -> sender -> left -> fetcher, for another tile.
 * Each arrow is a barrier. A wait identifies a barrier's phase by its parity, so no thread may
 * wait for a phase before the previous one has ended. The roles that handle all tiles cannot, but
 * a group could: if the stage's last tile was another group's, that copy may still be in flight,
 * for copies overtake each other (one launch in ten thousand hung). So barriers belong not to
 * stages but to turns: the block's k-th tile has stage k modulo nstages, and turn k modulo the
 * least common multiple of nstages and NGROUPS, so that a group always has the same turns. No
 * phase is missed either: the next phase of drawn, full and prefixed requires left, which requires
 * written, which requires that every thread of the group has passed full and prefixed; and the
 * sender and the prefix warp have passed theirs.
 *
 * Proof that it terminates. Let tile t be the block's k-th. To publish it, its group must have
 * scanned its last but one tile, number k - 2 NGROUPS, and number k - nstages must have left stage
 * k. Those scans wait for the data of tiles up to number k - nstages + NGROUPS, which is less than
 * k since there are more stages than groups; and for the aggregates of tiles before them, all less
 * than t and drawn, so that their blocks run. By induction over t every tile is published, and
 * every prefix then known, with any number of blocks at once.
 */
#pragma once

#include "async_copy.cuh"
#include "scan_tile.cuh"

#define LOOKAHEAD_NTURNS_MAX 24
#define LOOKAHEAD_NTHREADS(ngroups, nwarps) (((ngroups) * (nwarps) + 3) * WARP_NLANES)
#define LOOKAHEAD_END UINT32_MAX /* in a tile's place: there are no more */

template <class T, unsigned NGROUPS, unsigned NWARPS> struct lookahead_ring {
	async_barrier drawn[LOOKAHEAD_NTURNS_MAX];    /* fetcher -> prefix warp */
	async_barrier full[LOOKAHEAD_NTURNS_MAX];     /* fetcher, copy -> group, sender */
	async_barrier prefixed[LOOKAHEAD_NTURNS_MAX]; /* prefix warp -> group */
	async_barrier written[LOOKAHEAD_NTURNS_MAX];  /* group -> sender */
	async_barrier left[LOOKAHEAD_NTURNS_MAX];     /* sender -> fetcher */
	T prefix[LOOKAHEAD_NTURNS_MAX];
	T of_warp[NGROUPS][2][NWARPS]; /* tiles alternate: one barrier a tile is enough */
	T carry;                       /* set before tile 0 is drawn, by its fetcher */
	uint32_t tile[LOOKAHEAD_NTURNS_MAX];
};

/* The ring's size: stages of data, turns of barriers. */
struct lookahead_size {
	uint32_t nstages, nturns;
};

/* A role's position in the ring. */
struct lookahead_place {
	unsigned stage, turn, parity;
};

/* Moves n <= nstages tiles on. */
static __device__ inline void lookahead_advance(struct lookahead_place *at, unsigned n,
						struct lookahead_size size)
{
	at->stage += n;
	if (at->stage >= size.nstages)
		at->stage -= size.nstages;
	at->turn += n;
	if (at->turn >= size.nturns) {
		at->turn -= size.nturns;
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

/* ---- the fetcher: one thread ---- */

/* Starts the copy of a tile into a free stage. */
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

template <class F, unsigned NGROUPS, unsigned TILE_NPACKS, class RING>
static __device__ inline void lookahead_fetch_tiles(const struct scan_job<typename F::value> &job,
						    const struct grid_domino &domino,
						    uint32_t ntiles, RING &ring, scan_pack *stages,
						    struct lookahead_size size)
{
	typedef typename F::value T;
	const uint32_t ndraws = ntiles + 2 * gridDim.x; /* each block draws two in excess */
	const uint64_t policy = async_keeping();
	struct lookahead_place at = {}, oldest = {};
	/* A draw takes as long as an access to device memory, so one is always in flight. */
	uint32_t tile = grid_draw(domino), next = grid_draw(domino), nheld = 0;

	for (unsigned nends = 0; nends < NGROUPS; lookahead_advance(&at, 1, size)) {
		if (nheld < size.nstages) {
			nheld++;
		} else {
			async_barrier_wait(&ring.left[oldest.turn], oldest.parity);
			lookahead_advance(&oldest, 1, size);
		}
		if (tile >= ntiles) { /* each group needs an end in the ring */
			nends++;
			ring.tile[at.turn] = LOOKAHEAD_END;
			async_barrier_arrive(&ring.drawn[at.turn]);
			async_barrier_arrive(&ring.full[at.turn]);
			continue;
		}
		/* The only read of carry_in, which may be carry_out: the thread that writes
		 * carry_out depends on an aggregate computed from it. */
		if (tile == 0)
			ring.carry = job.carry_in != NULL ? *job.carry_in : F::identity();
		ring.tile[at.turn] = tile;
		async_barrier_arrive(&ring.drawn[at.turn]);
		lookahead_fetch<T, TILE_NPACKS>(job, tile, stages + at.stage * TILE_NPACKS,
						&ring.full[at.turn], policy);
		tile = next;
		next = grid_draw(domino);
	}
	grid_draws_end(domino, tile, ndraws);
	grid_draws_end(domino, next, ndraws);
}

/* ---- the sender: one thread ---- */

/* Starts the copy of a tile's whole packs; on return its stage may be filled again. */
template <class T, unsigned TILE_NPACKS>
static __device__ inline void lookahead_send(const struct scan_job<T> &job, uint32_t tile,
					     const scan_pack *packs, uint64_t policy)
{
	struct lookahead_extent e = lookahead_extent_of<T, TILE_NPACKS>(tile, job.n);

	if (e.npacks > 0)
		async_store((scan_pack *)job.out + e.first_pack, packs,
			    e.npacks * SCAN_PACK_NBYTES, policy);
	async_store_wait_read();
}

template <class T, unsigned TILE_NPACKS, class RING>
static __device__ inline void lookahead_send_tiles(const struct scan_job<T> &job, RING &ring,
						   const scan_pack *stages, struct lookahead_size size)
{
	const uint64_t policy = async_streaming();

	for (struct lookahead_place at = {};; lookahead_advance(&at, 1, size)) {
		async_barrier_wait(&ring.full[at.turn], at.parity);
		uint32_t tile = ring.tile[at.turn];
		if (tile == LOOKAHEAD_END)
			break;
		async_barrier_wait(&ring.written[at.turn], at.parity);
		lookahead_send<T, TILE_NPACKS>(job, tile, stages + at.stage * TILE_NPACKS, policy);
		async_barrier_arrive(&ring.left[at.turn]);
	}
	async_store_wait(); /* shared memory ends with the block */
}

/* Writes the incomplete pack that the last tile may end with, since copies are of whole packs.
 * mine: the packs of the group's thread `thread`; the thread that owns the pack writes it. */
template <class T, unsigned TILE_NPACKS, unsigned NPACKS>
static __device__ inline void lookahead_send_part(const struct scan_job<T> &job, uint32_t tile,
						  unsigned thread, const scan_pack *mine)
{
	struct lookahead_extent e = lookahead_extent_of<T, TILE_NPACKS>(tile, job.n);

	if (e.has_part && e.npacks / NPACKS == thread)
		pack_put(job.out, job.n, e.first_pack + e.npacks, mine[e.npacks % NPACKS]);
}

/* ---- the prefix warp ---- */

/* Does not wait for the tile's own data, which is not part of its prefix. */
template <class F, class RING>
static __device__ inline void lookahead_find_prefixes(const struct grid_domino &domino, RING &ring,
						      struct lookahead_size size)
{
	typename F::value prefix = F::identity();
	uint32_t nfolded = 0; /* prefix: the fold of the carry and so many tiles */

	for (struct lookahead_place at = {};; lookahead_advance(&at, 1, size)) {
		uint32_t tile = 0;
		async_barrier_wait(&ring.drawn[at.turn], at.parity);
		if (warp_lane() == 0)
			tile = ring.tile[at.turn];
		tile = warp_broadcast(tile, 0);
		if (tile == LOOKAHEAD_END)
			return;
		prefix = grid_fold_tiles<F>(domino, nfolded, tile, prefix);
		nfolded = tile;
		if (warp_lane() == 0) {
			ring.prefix[at.turn] = tile == 0 ? ring.carry : prefix;
			async_barrier_arrive(&ring.prefixed[at.turn]);
		}
	}
}

/* ---- the groups ---- */

/* A thread's numbers: its group, and in the group the thread and its warp. */
struct lookahead_rank {
	unsigned group, thread, warp;
};

/* Waits for the tile at `at`, publishes its aggregate, and sets *within to the fold of the tile's
 * values before the thread's. All threads of a group call it. Returns the tile, in all of them. */
template <class F, unsigned NWARPS, unsigned NPACKS, class RING>
static __device__ inline uint32_t lookahead_publish(const struct grid_domino &domino, RING &ring,
						    const scan_pack *stages,
						    struct lookahead_place at,
						    struct lookahead_rank me, unsigned side,
						    typename F::value *within)
{
	typedef typename F::value T;
	async_barrier_wait(&ring.full[at.turn], at.parity);
	uint32_t tile = ring.tile[at.turn];
	if (tile == LOOKAHEAD_END)
		return tile;

	const scan_pack *mine = stages + (at.stage * NWARPS * WARP_NLANES + me.thread) * NPACKS;
	T *of_warp = ring.of_warp[me.group][side];
	T inclusive = warp_inclusive<F>(packs_fold<F, NPACKS>(mine));
	if (warp_lane() == WARP_NLANES - 1)
		of_warp[me.warp] = inclusive;
	/* Every warp's total is there. And all have read the previous tile's totals, which the next
	 * tile's will overwrite. */
	async_sync_group<NWARPS * WARP_NLANES>(me.group);
	T warps = warp_lane() < NWARPS ? of_warp[warp_lane()] : F::identity();
	warps = warp_inclusive<F>(warps);
	T total = warp_broadcast(warps, NWARPS - 1);
	if (me.thread == 0)
		grid_publish<T>(domino, tile, false,
				tile == 0 ? F::combine(ring.carry, total) : total);
	warps = warp_broadcast(warp_exclusive<F>(warps), me.warp);
	*within = F::combine(warps, warp_exclusive<F>(inclusive));
	return tile;
}

template <class F, unsigned NGROUPS, unsigned NWARPS, unsigned NPACKS, class RING>
static __device__ inline void lookahead_scan_tiles(const struct scan_job<typename F::value> &job,
						   const struct grid_domino &domino,
						   uint32_t ntiles, RING &ring, scan_pack *stages,
						   struct lookahead_size size)
{
	typedef typename F::value T;
	const unsigned nthreads = NWARPS * WARP_NLANES, tile_npacks = nthreads * NPACKS;
	const struct lookahead_rank me = {threadIdx.x / nthreads, threadIdx.x % nthreads,
					    warp_index() % NWARPS};
	struct lookahead_place at = {me.group, me.group, 0}, next = at;
	T within, next_within;
	unsigned side = 0;
	uint32_t tile, next_tile;

	tile = lookahead_publish<F, NWARPS, NPACKS>(domino, ring, stages, at, me, side, &within);
	for (; tile != LOOKAHEAD_END; tile = next_tile, at = next, within = next_within) {
		/* 1. The next tile's aggregate, for which other blocks wait. */
		lookahead_advance(&next, NGROUPS, size);
		side ^= 1;
		next_tile = lookahead_publish<F, NWARPS, NPACKS>(domino, ring, stages, next, me,
								 side, &next_within);
		/* 2. The current tile. */
		scan_pack *mine = stages + at.stage * tile_npacks + me.thread * NPACKS;
		async_barrier_wait(&ring.prefixed[at.turn], at.parity);
		T before = F::combine(ring.prefix[at.turn], within);
		if (tile == ntiles - 1)
			packs_carry_out<F, NPACKS>(job,
						   (uint64_t)tile * tile_npacks * pack_nvalues<T>(),
						   me.thread, mine, before);
		packs_scan<F, NPACKS>(mine, before, job.exclusive);
		lookahead_send_part<T, tile_npacks, NPACKS>(job, tile, me.thread, mine);
		async_fence(); /* the copy engine reads what we wrote */
		async_barrier_arrive(&ring.written[at.turn]);
	}
}

/* gridDim.x blocks, any number, of LOOKAHEAD_NTHREADS(NGROUPS, NWARPS) threads; dynamic
 * shared memory: size.nstages tiles, more than NGROUPS. size.nturns: the least common
 * multiple of the two, at most LOOKAHEAD_NTURNS_MAX. */
template <class F, unsigned NGROUPS, unsigned NWARPS, unsigned NPACKS>
__global__ static void __launch_bounds__(LOOKAHEAD_NTHREADS(NGROUPS, NWARPS), 1)
scan_lookahead(struct scan_job<typename F::value> job, struct grid_domino domino, uint32_t ntiles,
	       struct lookahead_size size)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	typedef typename F::value T;
	const unsigned ngroup_warps = NGROUPS * NWARPS, tile_npacks = NWARPS * WARP_NLANES * NPACKS;
	extern __shared__ __align__(128) scan_pack lookahead_stages[];
	__shared__ struct lookahead_ring<T, NGROUPS, NWARPS> ring;

	if (threadIdx.x == 0) {
		for (unsigned i = 0; i < size.nturns; i++) {
			async_barrier_init(&ring.drawn[i], 1);
			async_barrier_init(&ring.full[i], 1);
			async_barrier_init(&ring.prefixed[i], 1);
			async_barrier_init(&ring.written[i], NWARPS * WARP_NLANES);
			async_barrier_init(&ring.left[i], 1);
		}
		async_barrier_publish();
	}
	__syncthreads(); /* the barriers are there */
	if (warp_index() < ngroup_warps)
		lookahead_scan_tiles<F, NGROUPS, NWARPS, NPACKS>(job, domino, ntiles, ring,
								 lookahead_stages, size);
	else if (warp_index() == ngroup_warps)
		lookahead_find_prefixes<F>(domino, ring, size);
	else if (warp_index() == ngroup_warps + 1 && warp_lane() == 0)
		lookahead_fetch_tiles<F, NGROUPS, tile_npacks>(job, domino, ntiles, ring,
							       lookahead_stages, size);
	else if (warp_index() == ngroup_warps + 2 && warp_lane() == 0)
		lookahead_send_tiles<T, tile_npacks>(job, ring, lookahead_stages, size);
#else
	__trap(); /* scan_shape_of does not choose it */
#endif
}
