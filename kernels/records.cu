/* SPDX-License-Identifier: MIT
 *
 * records.cu - the syntax fold on the GPU. See records.cuh.
 *
 * Source: E. Stehle and H.-A. Jacobsen, "ParPaRaw: Massively parallel parsing of
 * delimiter-separated raw data", VLDB 2020, with its two scans (of maps, then of counts)
 * each made a single pass by the domino of grid.cuh.
 */
#include "records.cuh"

/* The thread's bytes within its block's tile. */
static __device__ struct lane_text tile_load(const struct text_view &text, uint32_t tile)
{
	size_t offset = (size_t)tile * RECORDS_TILE_NBYTES + threadIdx.x * LANE_NBYTES;

	return lane_load(text.data, text.nbytes, offset);
}

__global__ static void __launch_bounds__(RECORDS_NTHREADS)
records_map(struct text_view text, struct grid_domino domino, csv_map *tile_prefix,
	    struct chunk_summary *summary)
{
	/* 1. The tile's aggregate, valid in thread 0. */
	uint32_t tile = grid_take_tile(domino);
	struct lane_text lane = tile_load(text, tile);
	csv_map aggregate =
		block_reduce<fold_csv_map, RECORDS_NTHREADS>(lane_map(lane, text.delimiter));
	uint32_t nlines =
		block_reduce<fold_sum<uint32_t>, RECORDS_NTHREADS>(lane_count_lines(lane));

	/* 2. Its prefix, from the tiles before. */
	csv_map prefix = grid_exclusive<fold_csv_map>(domino, tile, aggregate);

	if (threadIdx.x != 0)
		return;
	tile_prefix[tile] = prefix;
	if (tile == gridDim.x - 1)
		summary->map = csv_map_compose(prefix, aggregate);
	/* A sum of integers commutes: the order of tiles does not show. */
	grid_atomic<uint32_t>(summary->nlines).fetch_add(nlines, cuda::memory_order_relaxed);
}

/* Completes the count, and clears what the fields kernel counts in: it runs after us. */
static __device__ void summary_begin(struct chunk_summary *summary, uint32_t nends,
				     uint32_t nheads)
{
	summary->nends = nends;
	summary->nrecords = nends > nheads ? nends - nheads : 0;
	summary->first_end = summary->last_end = 0;
	summary->nshort = summary->nexceptions = summary->nundecided = 0;
	summary->first_short = UINT32_MAX;
}

__global__ static void __launch_bounds__(RECORDS_NTHREADS)
records_ends(struct text_view text, struct grid_domino domino, const csv_map *tile_prefix,
	     enum csv_state state, uint32_t nheads, uint32_t *ends,
	     struct chunk_summary *summary)
{
	/* 1. The state at each thread's first byte: chunk, then tile, then block. */
	uint32_t tile = grid_take_tile(domino);
	struct lane_text lane = tile_load(text, tile);
	csv_map tile_map;
	csv_map before = block_exclusive<fold_csv_map, RECORDS_NTHREADS>(
		lane_map(lane, text.delimiter), &tile_map);
	state = csv_map_apply(tile_prefix[tile], state);
	state = csv_map_apply(before, state);

	/* 2. Where each thread's ends go: likewise. */
	uint32_t mask = lane_ends(lane, text.delimiter, state), tile_nends;
	uint32_t in_tile = block_exclusive<fold_sum<uint32_t>, RECORDS_NTHREADS>(
		(uint32_t)__popc(mask), &tile_nends);
	uint32_t in_chunk = grid_exclusive<fold_sum<uint32_t>>(domino, tile, tile_nends);

	/* 3. The ends themselves. */
	uint32_t *to = ends + in_chunk + in_tile;
	size_t lane_begin = (size_t)tile * RECORDS_TILE_NBYTES + threadIdx.x * LANE_NBYTES;
	for (; mask; mask &= mask - 1)
		*to++ = (uint32_t)(lane_begin + (size_t)__ffs((int)mask));

	if (threadIdx.x == 0 && tile == gridDim.x - 1)
		summary_begin(summary, in_chunk + tile_nends, nheads);
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
				uint32_t nheads, uint32_t *ends, struct chunk_summary *summary,
				cudaStream_t stream)
{
	records_ends<<<records_ntiles(text.nbytes), RECORDS_NTHREADS, 0, stream>>>(
		text, domino, tile_prefix, state, nheads, ends, summary);
	return cudaGetLastError();
}
