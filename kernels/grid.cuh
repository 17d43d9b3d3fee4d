/* SPDX-License-Identifier: MIT
 *
 * grid.cuh - level 4: the blocks of one launch, whose partials travel through device
 * memory.
 *
 * The domino: a prefix over tiles in a single pass. Each block takes one tile, publishes
 * the tile's aggregate, finds its prefix by looking back over what earlier tiles have
 * published, and publishes that. From naive to shipped:
 *  - blockIdx says nothing about the order in which blocks start; a block that waited for
 *    a lower blockIdx could wait for one that never gets a place. Tiles are therefore
 *    numbered by a ticket, drawn when a block starts: all lower tiles are running or done.
 *  - Waiting for the neighbour's prefix alone makes a chain, one hop a tile. Instead a
 *    warp reads the 32 tiles before its own: aggregates up to the nearest prefix will do
 *    (D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled
 *    look-back", NVR-2016-002).
 *  - Value, status and epoch share one 64-bit word, read and written whole. Nobody reads
 *    other memory on the strength of it, so relaxed order is enough.
 *  - The epoch, another in every launch, makes all earlier launches' words read as not
 *    yet written: no reset. The ticket is put back by whoever draws the last one.
 */
#ifndef GPUSTAT_GRID_CUH
#define GPUSTAT_GRID_CUH

#include <cuda/atomic>

#include "block.cuh"

template <class T> using grid_atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;

/* What a launch needs for one domino; gridDim.x is its number of tiles.
 * slots: nslots words, one a tile; ticket: 0. Device memory, both zeroed once and from
 * then on left to the dominoes of one stream.
 * epoch: 1 ... GRID_EPOCH_MAX, never one that these slots have seen since they were
 * zeroed; 0 before the first launch. */
struct grid_domino {
	uint64_t *slots;
	uint32_t *ticket;
	uint32_t nslots;
	uint32_t epoch;
};
#define GRID_EPOCH_MAX 0x7fffffffu

/* Makes d ready for the next launch in stream: on the host, before each. Costs a memset
 * once in 2^31 calls, when the epochs start again. */
static inline cudaError_t grid_domino_advance(struct grid_domino *d, cudaStream_t stream)
{
	if (d->epoch++ < GRID_EPOCH_MAX)
		return cudaSuccess;
	d->epoch = 1;
	return cudaMemsetAsync(d->slots, 0, d->nslots * sizeof *d->slots, stream);
}

/* A slot's word: epoch in bits 33 to 63, whether the value is a prefix in bit 32, the
 * value below. */
static __device__ inline uint64_t grid_word(uint32_t epoch, bool is_prefix, uint32_t value)
{
	return (uint64_t)epoch << 33 | (uint64_t)is_prefix << 32 | value;
}

static __device__ inline bool grid_word_is_prefix(uint64_t word)
{
	return word >> 32 & 1;
}

/* Draws the block's tile. All threads call it; valid in all. */
static __device__ inline uint32_t grid_take_tile(const struct grid_domino &d)
{
	__shared__ uint32_t drawn;
	uint32_t tile;

	if (threadIdx.x == 0) {
		grid_atomic<uint32_t> ticket(*d.ticket);
		drawn = ticket.fetch_add(1, cuda::memory_order_relaxed);
		if (drawn == gridDim.x - 1) /* nobody draws after us in this launch */
			ticket.store(0, cuda::memory_order_relaxed);
	}
	__syncthreads(); /* the tile is drawn */
	tile = drawn;
	__syncthreads(); /* all have read it: the next call may write */
	return tile;
}

static __device__ inline void grid_publish(const struct grid_domino &d, uint32_t tile,
					   bool is_prefix, uint32_t value)
{
	grid_atomic<uint64_t>(d.slots[tile])
		.store(grid_word(d.epoch, is_prefix, value), cuda::memory_order_relaxed);
}

/* Waits until the tile has published in this launch. Ends: the tile's block is running,
 * and publishes its aggregate before it waits for anyone. */
static __device__ inline uint64_t grid_await(const struct grid_domino &d, uint32_t tile)
{
	grid_atomic<uint64_t> slot(d.slots[tile]);
	uint64_t word;

	do
		word = slot.load(cuda::memory_order_relaxed);
	while (word >> 33 != d.epoch);
	return word;
}

/* The fold of the tiles before `tile`. One whole warp calls it; valid in all its lanes.
 * Each round looks at the 32 tiles before `end`, the top lane at the nearest. */
template <class F>
static __device__ inline typename F::value grid_look_back(const struct grid_domino &d,
							  uint32_t tile)
{
	typename F::value prefix = F::identity(), x;

	for (int64_t end = tile;; end -= WARP_NLANES) {
		int64_t mine = end - WARP_NLANES + warp_lane();
		/* Before tile 0 lies nothing, and that is known. */
		uint64_t word = mine < 0 ? grid_word(d.epoch, true, F::identity())
					 : grid_await(d, (uint32_t)mine);
		unsigned prefixes = __ballot_sync(WARP_ALL, grid_word_is_prefix(word));
		unsigned nearest = prefixes ? WARP_NLANES - 1 - __clz(prefixes) : 0;

		/* Lanes below the nearest prefix are part of it. */
		x = warp_lane() < nearest ? F::identity() : (typename F::value)(uint32_t)word;
		x = warp_broadcast(warp_reduce<F>(x), 0);
		prefix = F::combine(x, prefix);
		if (prefixes)
			return prefix;
	}
}

/* The fold of all tiles before the block's own. F::value: at most 32 bits.
 * aggregate: the fold of the block's tile, looked at in thread 0 only. All threads call
 * it, once in a launch; valid in all. */
template <class F>
static __device__ inline typename F::value grid_exclusive(const struct grid_domino &d,
							  uint32_t tile,
							  typename F::value aggregate)
{
	__shared__ typename F::value of_tile;
	static_assert(sizeof(typename F::value) <= 4, "a slot holds 32 bits of value");

	if (warp_index() == 0) {
		if (warp_lane() == 0 && tile > 0)
			grid_publish(d, tile, false, aggregate);
		typename F::value prefix = grid_look_back<F>(d, tile);
		if (warp_lane() == 0) {
			grid_publish(d, tile, true, F::combine(prefix, aggregate));
			of_tile = prefix;
		}
	}
	__syncthreads(); /* the prefix is there */
	return of_tile;
}

/* Whether the calling block is the last of nblocks to come here; then all that the others
 * wrote before is visible to all its threads. All threads call it; valid in all.
 * ndone: 0, in device memory, the same for the nblocks; left 0. */
static __device__ inline bool grid_is_last_block(uint32_t *ndone, uint32_t nblocks)
{
	__shared__ bool is_last;

	__syncthreads(); /* the block's writes come before thread 0's release of them */
	if (threadIdx.x == 0) {
		grid_atomic<uint32_t> n(*ndone);
		is_last = n.fetch_add(1, cuda::memory_order_acq_rel) == nblocks - 1;
		if (is_last)
			n.store(0, cuda::memory_order_relaxed);
	}
	__syncthreads(); /* thread 0's acquire comes before the block's reads */
	return is_last;
}

#endif
