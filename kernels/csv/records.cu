/* SPDX-License-Identifier: MIT
 *
 * records.cu - the syntax fold on the GPU. See records.cuh.
 *
 * Source: E. Stehle and H.-A. Jacobsen, "ParPaRaw: Massively parallel parsing of
 * delimiter-separated raw data", VLDB 2020; its two scans (of maps, then of counts) are each a
 * single pass here, by the decoupled look-back of grid.cuh.
 */
#include "kernels/csv/records.cuh"

/* The thread's bytes within its block's tile. */
static __device__ struct lane_text tile_load(const struct text_view &text, uint32_t tile)
{
	size_t offset = (size_t)tile * RECORDS_TILE_NBYTES + threadIdx.x * LANE_NBYTES;

	return lane_load(text.data, text.nbytes, offset);
}

/* Sets what fields and column_fold count to nothing counted. */
static __device__ void summary_begin(struct chunk_summary *summary)
{
	summary->first_end = summary->last_end = 0;
	summary->nragged = summary->nomitted = summary->nexceptions = summary->nundecided = 0;
	summary->noff_scale = summary->has_uneven = 0;
	summary->first_ragged = UINT32_MAX;
}

__global__ static void __launch_bounds__(RECORDS_NTHREADS)
records_map(struct text_view text, struct grid_domino domino, csv_map *tile_prefix,
	    struct chunk_summary *summary)
{
	/* 1. The tile's aggregate, valid in thread 0. */
	uint32_t tile = grid_draw_tile(domino);
	struct lane_text lane = tile_load(text, tile);
	struct lane_bits bits = lane_classify(lane, text.delimiter, text.quote);
	if (lane_has_nul(lane))
		grid_atomic<uint32_t>(summary->has_nul).store(1, cuda::memory_order_relaxed);
	uint32_t counts = (uint32_t)__popc(bits.newlines) | (uint32_t)__popc(bits.quotes) << 16;
	uint64_t aggregate = block_reduce<fold_csv_counts, RECORDS_NTHREADS>(
		(uint64_t)counts << 32 | lane_states(bits));
	uint32_t states = (uint32_t)aggregate;

	/* 2. Its prefix, from the tiles before. */
	uint32_t prefix = grid_exclusive<fold_csv_states>(domino, tile, states);

	if (threadIdx.x != 0)
		return;
	tile_prefix[tile] = csv_states_map(prefix);
	if (tile == gridDim.x - 1) {
		summary->map = csv_states_map(fold_csv_states::combine(prefix, states));
		summary_begin(summary);
	}
	counts = (uint32_t)(aggregate >> 32);
	if (counts >> 16)
		grid_atomic<uint32_t>(summary->has_quotes).store(1, cuda::memory_order_relaxed);
	/* Integer sums commute: the order of tiles does not matter. */
	grid_atomic<uint32_t>(summary->nlines)
		.fetch_add(counts & 0xffff, cuda::memory_order_relaxed);
}

__global__ static void __launch_bounds__(RECORDS_NTHREADS)
records_ends(struct text_view text, struct grid_domino domino, const csv_map *tile_prefix,
	     enum csv_state state, uint32_t nheads, uint32_t *ends, uint16_t *nseparators,
	     uint16_t *tile_nseparators, struct chunk_summary *summary)
{
	/* 1. The state at each thread's first byte: chunk, then tile, then block. */
	uint32_t tile = grid_draw_tile(domino), tile_states;
	struct lane_bits bits = lane_classify(tile_load(text, tile), text.delimiter, text.quote);
	uint32_t before = block_exclusive<fold_csv_states, RECORDS_NTHREADS>(lane_states(bits),
									     &tile_states);
	state = csv_map_apply(tile_prefix[tile], state);
	state = csv_states_apply(before, state);

	/* 2. Text behind closing quotes. */
	size_t lane_begin = (size_t)tile * RECORDS_TILE_NBYTES + threadIdx.x * LANE_NBYTES;
	enum csv_state left;
	uint32_t quoted = lane_quoted(bits, state, &left);
	for (uint32_t stray = lane_stray(bits, state, quoted); stray; stray &= stray - 1)
		record_note_stray(text, lane_begin + (size_t)__ffs((int)stray) - 1, summary);

	/* 3. Where each thread's ends go: its offset in the tile, then the tile's in the chunk. One
	 * scan counts ends, in the upper half, and separators: at most 2^13 of each. */
	uint32_t mask = bits.newlines & ~quoted, separators = bits.separators & ~quoted, counts;
	uint32_t in_tile = block_exclusive<fold_sum<uint32_t>, RECORDS_NTHREADS>(
		(uint32_t)__popc(mask) << 16 | (uint32_t)__popc(separators), &counts);
	uint32_t in_chunk = grid_exclusive<fold_sum<uint32_t>>(domino, tile, counts >> 16);

	/* 4. The ends themselves. */
	for (uint32_t to = in_chunk + (in_tile >> 16); mask; mask &= mask - 1, to++) {
		uint32_t up_to_end = mask ^ (mask - 1);
		ends[to] = (uint32_t)(lane_begin + (size_t)__ffs((int)mask));
		nseparators[to] = (uint16_t)(in_tile + (uint32_t)__popc(separators & up_to_end));
	}

	if (threadIdx.x == 0)
		tile_nseparators[tile] = (uint16_t)counts;
	if (threadIdx.x == 0 && tile == gridDim.x - 1) {
		uint32_t nends = in_chunk + (counts >> 16);
		summary->nends = nends;
		summary->nrecords = nends > nheads ? nends - nheads : 0;
		summary_begin(summary);
	}
}

cudaError_t records_map_launch(struct text_view text, struct grid_domino domino,
			       csv_map *tile_prefix, struct chunk_summary *summary,
			       cudaStream_t stream)
{
	records_map<<<records_ntiles(text.nbytes), RECORDS_NTHREADS, 0, stream>>>(
		text, domino, tile_prefix, summary);
	return cudaGetLastError();
}

cudaError_t records_ends_launch(struct text_view text, struct grid_domino domino,
				const csv_map *tile_prefix, enum csv_state state,
				uint32_t nheads, uint32_t *ends, uint16_t *nseparators,
				uint16_t *tile_nseparators, struct chunk_summary *summary,
				cudaStream_t stream)
{
	records_ends<<<records_ntiles(text.nbytes), RECORDS_NTHREADS, 0, stream>>>(
		text, domino, tile_prefix, state, nheads, ends, nseparators, tile_nseparators,
		summary);
	return cudaGetLastError();
}
