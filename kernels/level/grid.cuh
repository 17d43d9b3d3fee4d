/* SPDX-License-Identifier: MIT
 *
 * grid.cuh - level 4: the blocks of one launch, whose partials travel through device
 * memory.
 *
 * The domino: a scan over tiles in a single pass, by decoupled look-back. Each block draws one
 * tile, publishes the tile's aggregate, finds its prefix by looking back over what earlier tiles
 * have published, and publishes that. From naive to shipped:
 *  - blockIdx does not tell the order in which blocks start; a block that waited for a lower
 *    blockIdx could wait for one that is never scheduled. Tiles are therefore numbered by a ticket,
 *    drawn when a block starts: all lower tiles are running or done.
 *  - Waiting for the neighbour's prefix makes a chained scan, one hop a tile. Instead a warp reads
 *    the 32 tiles before its own: the aggregates up to the nearest prefix suffice (D. Merrill and
 *    M. Garland, "Single-pass parallel prefix scan with decoupled look-back", NVR-2016-002).
 *  - Value, status and epoch share one 64-bit word, read and written whole. No other memory is read
 *    because of it, so relaxed order is enough.
 *  - A value of more than 32 bits takes several words, each with status and epoch. A tile publishes
 *    at most one aggregate and one prefix in a launch, so words of the same epoch and status are
 *    parts of the same value, in whatever order they arrive. If they differ, they are read again.
 *    This needs no 128-bit atomics, no order between the words, and no fence.
 *  - The epoch differs in every launch, so words of earlier launches count as not written: no
 *    reset. The block that draws the last ticket resets the ticket.
 */
#pragma once

#include <cuda/atomic>
#include <string.h>

#include "block.cuh"

template <class T> using grid_atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;

/* The memory of one look-back; gridDim.x is its number of tiles.
 * slots: nslots words, grid_nwords<value>() a tile; ticket: 0. Device memory, both zeroed once, and
 * then used only by the launches of one stream, for any values.
 * epoch: 1 ... GRID_EPOCH_MAX, different for each launch since slots were zeroed; 0 before the
 * first. */
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

/* Sets *nblocks to the number of blocks of kernel that the current device runs at once, with
 * nthreads threads and shared_nbytes of dynamic shared memory each. Host. Errors: the runtime's. */
template <class KERNEL>
static inline cudaError_t grid_nresident(KERNEL kernel, unsigned nthreads, size_t shared_nbytes,
					 uint32_t *nblocks)
{
	int device, nprocessors, neach;
	cudaError_t error = cudaGetDevice(&device);

	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&nprocessors, cudaDevAttrMultiProcessorCount,
					       device);
	if (error == cudaSuccess)
		error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&neach, kernel, (int)nthreads,
								      shared_nbytes);
	if (error == cudaSuccess)
		*nblocks = (uint32_t)(nprocessors * neach);
	return error;
}

/* A slot's word: the epoch in bits 33 to 63, whether the value is a prefix in bit 32, and the value
 * below. */
static __device__ inline uint64_t grid_word(uint32_t epoch, bool is_prefix, uint32_t value)
{
	return (uint64_t)epoch << 33 | (uint64_t)is_prefix << 32 | value;
}

static __device__ inline bool grid_word_is_prefix(uint64_t word)
{
	return word >> 32 & 1;
}

/* The number of words of a T. */
template <class T> static constexpr __host__ __device__ inline unsigned grid_nwords(void)
{
	static_assert(sizeof(T) <= 4 || sizeof(T) % 4 == 0, "a word holds 32 bits of value");
	return (sizeof(T) + 3) / 4;
}

/* A tile's words, as they were read. */
template <class T> struct grid_slot {
	uint64_t word[grid_nwords<T>()];
};

template <class T>
static __device__ inline struct grid_slot<T> grid_slot_make(uint32_t epoch, bool is_prefix,
							     T value)
{
	uint32_t part[grid_nwords<T>()] = {};
	struct grid_slot<T> slot;

	memcpy(part, &value, sizeof value);
#pragma unroll
	for (unsigned i = 0; i < grid_nwords<T>(); i++)
		slot.word[i] = grid_word(epoch, is_prefix, part[i]);
	return slot;
}

template <class T> static __device__ inline T grid_slot_value(const struct grid_slot<T> &slot)
{
	uint32_t part[grid_nwords<T>()];
	T value;

#pragma unroll
	for (unsigned i = 0; i < grid_nwords<T>(); i++)
		part[i] = (uint32_t)slot.word[i];
	memcpy(&value, part, sizeof value);
	return value;
}

/* Whether the words are of this epoch, and all of the same value. */
template <class T>
static __device__ inline bool grid_slot_is_whole(const struct grid_slot<T> &slot, uint32_t epoch)
{
	bool whole = slot.word[0] >> 33 == epoch;

#pragma unroll
	for (unsigned i = 1; i < grid_nwords<T>(); i++)
		whole = whole && slot.word[i] >> 32 == slot.word[0] >> 32;
	return whole;
}

/* Word i of a tile. The same word of neighbouring tiles lies together, so that a warp's
 * look at 32 tiles is one coalesced load a word. */
template <class T>
static __device__ inline uint64_t *grid_word_at(const struct grid_domino &d, uint32_t tile,
						unsigned i)
{
	return d.slots + (size_t)i * (d.nslots / grid_nwords<T>()) + tile;
}

/* Draws a ticket, in one thread: 0, 1, 2 ... */
static __device__ inline uint32_t grid_draw(const struct grid_domino &d)
{
	return grid_atomic<uint32_t>(*d.ticket).fetch_add(1, cuda::memory_order_relaxed);
}

/* Resets the tickets if the one drawn is the last of a launch's ndraws. */
static __device__ inline void grid_draws_end(const struct grid_domino &d, uint32_t drawn,
					     uint32_t ndraws)
{
	if (drawn == ndraws - 1) /* no other draw follows in this launch */
		grid_atomic<uint32_t>(*d.ticket).store(0, cuda::memory_order_relaxed);
}

/* Draws the block's tile. All threads call it; valid in all. */
static __device__ inline uint32_t grid_draw_tile(const struct grid_domino &d)
{
	__shared__ uint32_t drawn;
	uint32_t tile;

	if (threadIdx.x == 0) {
		drawn = grid_draw(d);
		grid_draws_end(d, drawn, gridDim.x);
	}
	__syncthreads(); /* the tile is drawn */
	tile = drawn;
	__syncthreads(); /* all have read it: the next call may write */
	return tile;
}

template <class T>
static __device__ inline void grid_publish(const struct grid_domino &d, uint32_t tile,
					   bool is_prefix, T value)
{
	struct grid_slot<T> slot = grid_slot_make(d.epoch, is_prefix, value);

#pragma unroll
	for (unsigned i = 0; i < grid_nwords<T>(); i++)
		grid_atomic<uint64_t>(*grid_word_at<T>(d, tile, i))
			.store(slot.word[i], cuda::memory_order_relaxed);
}

/* The tile's words as they are now, whole or not. */
template <class T>
static __device__ inline struct grid_slot<T> grid_look(const struct grid_domino &d, uint32_t tile)
{
	struct grid_slot<T> slot;

#pragma unroll
	for (unsigned i = 0; i < grid_nwords<T>(); i++)
		slot.word[i] = grid_atomic<uint64_t>(*grid_word_at<T>(d, tile, i))
				       .load(cuda::memory_order_relaxed);
	return slot;
}

/* Waits until the tile has published in this launch. Terminates, since the tile's block is running,
 * and publishes its aggregate before it waits for another. */
template <class T = uint32_t>
static __device__ inline struct grid_slot<T> grid_await(const struct grid_domino &d,
							 uint32_t tile)
{
	struct grid_slot<T> slot;

	do
		slot = grid_look<T>(d, tile);
	while (!grid_slot_is_whole(slot, d.epoch));
	return slot;
}

/* The fold of the tiles before `tile`. One whole warp calls it; valid in all its lanes.
 * Each round looks at the 32 tiles before `end`, the top lane at the nearest. */
template <class F>
static __device__ inline typename F::value grid_look_back(const struct grid_domino &d,
							  uint32_t tile)
{
	typedef typename F::value value;
	value prefix = F::identity(), x;

	for (int64_t end = tile;; end -= WARP_NLANES) {
		int64_t mine = end - WARP_NLANES + warp_lane();
		/* The prefix before tile 0 is the identity. */
		struct grid_slot<value> slot =
			mine < 0 ? grid_slot_make<value>(d.epoch, true, F::identity())
				 : grid_await<value>(d, (uint32_t)mine);
		unsigned prefixes = __ballot_sync(WARP_ALL, grid_word_is_prefix(slot.word[0]));
		unsigned nearest = prefixes ? WARP_NLANES - 1 - __clz(prefixes) : 0;

		/* Lanes below the nearest prefix are part of it. */
		x = warp_lane() < nearest ? F::identity() : grid_slot_value(slot);
		x = warp_broadcast(warp_reduce<F>(x), 0);
		prefix = F::combine(x, prefix);
		if (prefixes)
			return prefix;
	}
}

/* The fold of all tiles before the block's own. aggregate: the fold of the block's tile, from
 * thread 0. All threads call it, once in a launch; valid in all. */
template <class F>
static __device__ inline typename F::value grid_exclusive(const struct grid_domino &d,
							  uint32_t tile,
							  typename F::value aggregate)
{
	typedef typename F::value value;
	__shared__ value of_tile;

	if (warp_index() == 0) {
		if (warp_lane() == 0 && tile > 0)
			grid_publish<value>(d, tile, false, aggregate);
		value prefix = grid_look_back<F>(d, tile);
		if (warp_lane() == 0) {
			grid_publish<value>(d, tile, true, F::combine(prefix, aggregate));
			of_tile = prefix;
		}
	}
	__syncthreads(); /* the prefix is there */
	return of_tile;
}

#define GRID_NROWS 5 /* one round for a block on each of an H200's 132 multiprocessors */

/* The fold of each row of the warp's x, in lane order; valid in lane 0 only. The rows'
 * shuffles overlap. */
template <class F, unsigned NROWS>
static __device__ inline void grid_reduce_rows(typename F::value (&x)[NROWS])
{
#pragma unroll
	for (unsigned delta = 1; delta < WARP_NLANES; delta *= 2)
#pragma unroll
		for (unsigned i = 0; i < NROWS; i++)
			x[i] = F::combine(x[i], warp_shuffle_down(x[i], delta));
}

/* The fold of prefix and the aggregates of tiles [begin, end), in order, for launches in which
 * tiles publish aggregates only. One whole warp calls it; prefix and the result are lane 0's. All
 * loads of a round are in flight before the first is used. Then the warp polls as one, row by row:
 * lanes that poll separately send separate loads, as all blocks do, to the same words (ten times
 * slower). */
template <class F>
static __device__ inline typename F::value grid_fold_tiles(const struct grid_domino &d,
							   uint32_t begin, uint32_t end,
							   typename F::value prefix)
{
	typedef typename F::value value;

	for (; begin < end; begin += GRID_NROWS * WARP_NLANES) {
		struct grid_slot<value> slot[GRID_NROWS];
		value x[GRID_NROWS];
#pragma unroll
		for (unsigned i = 0; i < GRID_NROWS; i++) { /* lanes past the end: the last */
			uint32_t tile = begin + i * WARP_NLANES + warp_lane();
			slot[i] = grid_look<value>(d, tile < end ? tile : end - 1);
		}
#pragma unroll
		for (unsigned i = 0; i < GRID_NROWS; i++) {
			uint32_t tile = begin + i * WARP_NLANES + warp_lane();
			while (!__all_sync(WARP_ALL, grid_slot_is_whole(slot[i], d.epoch)))
				slot[i] = grid_look<value>(d, tile < end ? tile : end - 1);
			x[i] = tile < end ? grid_slot_value(slot[i]) : F::identity();
		}
		grid_reduce_rows<F>(x);
#pragma unroll
		for (unsigned i = 0; i < GRID_NROWS; i++)
			prefix = F::combine(prefix, x[i]);
	}
	return prefix;
}

/* Whether the calling block is the last of nblocks to call this; then all that the others wrote
 * before is visible to all its threads. All threads call it; valid in all. ndone: 0, in device
 * memory, the same for the nblocks; left 0. */
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
