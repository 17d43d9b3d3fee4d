/* SPDX-License-Identifier: MIT
 *
 * records.cuh - from bytes to record ends: the syntax fold on the GPU.
 *
 * Two launches a chunk. The first needs the bytes only and computes the chunk's transition map; the
 * second needs the chunk's entry state and finds where every record ends. fields and reduce then
 * address records by number, through a record_table.
 */
#ifndef GPUSTAT_RECORDS_CUH
#define GPUSTAT_RECORDS_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/csv/lane.cuh"
#include "kernels/level/grid.cuh"

#define RECORDS_NTHREADS 256
#define RECORDS_TILE_NBYTES (RECORDS_NTHREADS * LANE_NBYTES)

/* A chunk's text. data: device memory, 16-byte aligned, readable up to nbytes rounded up
 * to 16. 0 < nbytes < 4 GiB. */
struct text_view {
	const char *data;
	size_t nbytes;
	char delimiter;
};

/* The number of tiles that nbytes bytes make: the blocks of a launch, the slots of its
 * domino, the elements of tile_prefix. */
HD uint32_t records_ntiles(size_t nbytes)
{
	return (uint32_t)((nbytes + RECORDS_TILE_NBYTES - 1) / RECORDS_TILE_NBYTES);
}

/* What the launches of one chunk report to the host. Each member names its writer. */
struct chunk_summary {
	uint32_t nlines;      /* records_map: LF bytes, quoted or not */
	uint32_t map;         /* records_map: the chunk's csv_map */
	uint32_t has_quotes;  /* records_map: 1 if there is a quote, or 0 */
	uint32_t nends;       /* records_ends: LF bytes that end a record */
	uint32_t nrecords;    /* records_ends: records that begin and end here */
	uint32_t first_end;   /* fields: offset after the first record end; 0: none */
	uint32_t last_end;    /* fields: offset after the last record end; 0: none */
	uint32_t nragged;     /* fields: records that lack a field */
	uint32_t first_ragged; /* fields: least start of such a record, or UINT32_MAX */
	uint32_t nexceptions; /* fields: exceptions met, listed or not */
	uint32_t nundecided;  /* fields: records whose conditions the CPU must evaluate */
	uint32_t noff_scale;  /* column_fold: numbers added one by one, see there */
};

/* The complete records of a chunk. Record r ends before ends[r + nheads] and begins where
 * the one before it ends. */
struct record_table {
	const uint32_t *ends;      /* device memory: offset after each record end, ascending */
	const uint32_t *nrecords;  /* device memory */
	uint32_t nheads;           /* 1: the first end is of a record of an earlier chunk */
	uint32_t nrecords_at_most; /* the host's bound, by which launches are sized */
};

static __device__ inline uint32_t record_begin(const struct record_table &t, uint32_t r)
{
	return r + t.nheads == 0 ? 0 : t.ends[r + t.nheads - 1];
}

/* The record's LF lies at the byte before this. */
static __device__ inline uint32_t record_end(const struct record_table &t, uint32_t r)
{
	return t.ends[r + t.nheads];
}

/* Where the record's text ends: before its LF, and before the CR in front of that. */
static __device__ inline uint32_t record_text_end(const struct record_table &t, const char *text,
						  uint32_t r)
{
	uint32_t end = record_end(t, r) - 1;

	return end > record_begin(t, r) && text[end - 1] == '\r' ? end - 1 : end;
}

/* Computes the text's transition map. tile_prefix: records_ntiles(nbytes) maps, device memory;
 * receives each tile's exclusive prefix map. summary: device memory, zeroed; receives nlines, map
 * and has_quotes, and the initial values of what fields and column_fold count. domino: advanced for
 * this launch. Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t records_map_launch(struct text_view text, struct grid_domino domino,
			       csv_map *tile_prefix, struct chunk_summary *summary,
			       cudaStream_t stream);

/* Finds the record ends of a text that is entered in state.
 * tile_prefix: from records_map_launch. nheads: as in record_table.
 * ends: room for summary->nlines offsets, device memory; receives the offset just after
 * each record end, in order. summary: device memory; receives nends and nrecords, and the initial
 * values of what fields counts.
 * domino: advanced for this launch.
 * Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t records_ends_launch(struct text_view text, struct grid_domino domino,
				const csv_map *tile_prefix, enum csv_state state,
				uint32_t nheads, uint32_t *ends, struct chunk_summary *summary,
				cudaStream_t stream);

#endif
