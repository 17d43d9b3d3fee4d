/* SPDX-License-Identifier: MIT
 *
 * records.cuh - from bytes to record ends: the syntax fold on the GPU.
 *
 * Two launches a chunk. The first needs the bytes only and computes the chunk's transition map; the
 * second needs the chunk's entry state and finds where every record ends. fields and reduce then
 * address records by number, through a record_table.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/csv/lane.cuh"
#include "kernels/level/grid.cuh"

extern "C" {
#include "csv/record.h"
#include "number/decimal.h"
}

#define RECORDS_NTHREADS 256
#define RECORDS_TILE_NBYTES (RECORDS_NTHREADS * LANE_NBYTES)

/* A chunk's text. data: device memory, 16-byte aligned, readable up to nbytes rounded up
 * to 16. 0 < nbytes < 4 GiB. */
struct text_view {
	const char *data;
	size_t nbytes;
	char delimiter;
	char quote; /* the delimiter if no byte quotes */
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
	uint32_t has_nul;     /* records_map: 1 if there is a NUL byte, or 0 */
	uint32_t has_stray;   /* records_ends, fields, column_fold: 1 if there may be stray text
			       * (csv/rows.h), or a record is the header that is sought, or 0 */
	uint32_t nends;       /* records_ends: LF bytes that end a record */
	uint32_t nrecords;    /* records_ends: records that begin and end here */
	uint32_t first_end;   /* fields: offset after the first record end; 0: none */
	uint32_t last_end;    /* fields: offset after the last record end; 0: none */
	uint32_t nragged;     /* fields: ragged records that count (csv/record.h) */
	uint32_t first_ragged; /* fields: least start of such a record, or UINT32_MAX */
	uint32_t nomitted;    /* fields, not column_fold: blank lines, ragged records that are
			       * not taken, and EXCEPTION_RECORDs */
	uint32_t has_uneven;  /* fields: 1 if a record that is taken has not as many fields as the first, or 0 */
	uint32_t nexceptions; /* fields, group_find: exceptions met, listed or not */
	uint32_t nundecided;  /* fields: records whose conditions the CPU must evaluate */
	uint32_t noff_scale;  /* column_fold: numbers added one by one, see there */
};

/* The complete records of a chunk. Record r ends before ends[r + nheads] and begins where
 * the one before it ends. */
struct record_table {
	const uint32_t *ends;      /* device memory: offset after each record end, ascending */
	/* Device memory; separators outside quotes: for each record end, those of its tile up to
	 * this end; and all of each tile. */
	const uint16_t *nseparators, *tile_nseparators;
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

/* The record's number of fields: of separators behind the end before, up to its own. */
static __device__ inline uint32_t record_nfields(const struct record_table &t, uint32_t r)
{
	uint32_t end = r + t.nheads, tile = 0, n = t.nseparators[end];

	if (end > 0) {
		tile = (t.ends[end - 1] - 1) / RECORDS_TILE_NBYTES;
		n -= t.nseparators[end - 1];
	}
	for (; tile < (t.ends[end] - 1) / RECORDS_TILE_NBYTES; tile++)
		n += t.tile_nseparators[tile];
	return n;
}

enum record_kind { RECORD_REGULAR, RECORD_RAGGED, RECORD_BLANK /* and no record */ };

/* The kind of a record of nfields fields. [begin, end): its text, without the line end. */
static __device__ inline enum record_kind record_kind_of(const struct text_view &text,
							 const struct ragged_rule &rule,
							 size_t begin, size_t end,
							 uint32_t nfields)
{
	if (nfields == rule.nfields)
		return RECORD_REGULAR;
	if (begin == end)
		return RECORD_BLANK;
	/* The LF is not in quotes, so a delimiter in front of it is not, either. */
	bool ends_empty = text.data[end - 1] == text.delimiter;
	return ragged_is(&rule, nfields, ends_empty) ? RECORD_RAGGED : RECORD_REGULAR;
}

/* Whether a record of that kind is folded and printed. */
static __device__ inline bool record_is_taken(const struct ragged_rule &rule,
					      enum record_kind kind, uint32_t nfields)
{
	return kind == RECORD_REGULAR ||
	       (kind == RECORD_RAGGED && ragged_is_taken(&rule, nfields));
}

/* Counts a ragged record that begins at `begin`, if it is one that counts. */
static __device__ inline void record_count_ragged(const struct ragged_rule &rule, uint32_t begin,
						  uint32_t nfields, struct chunk_summary *summary)
{
	if (!ragged_is_counted(&rule, nfields))
		return;
	atomicAdd(&summary->nragged, 1);
	atomicMin(&summary->first_ragged, begin);
}

/* Has the CPU fold the chunk. */
static __device__ inline void summary_leave(struct chunk_summary *summary)
{
	grid_atomic<uint32_t>(summary->has_stray).store(1, cuda::memory_order_relaxed);
}

/* Whether the text has blanks before text[at], and before them a separator or nothing. */
static __device__ inline bool record_begins_late(const struct text_view &text, size_t at)
{
	size_t from = at;

	while (from > 0 && decimal_is_blank(text.data[from - 1]) && text.data[from - 1] != text.delimiter)
		from--;
	return from < at && (from == 0 || text.data[from - 1] == text.delimiter ||
			     text.data[from - 1] == '\n');
}

/* Notes stray text, which lane_stray has perhaps found at text[at]; the CPU decides. A CR before an LF
 * is none; nor is a CR as the last byte, which belongs to a record that does not end here. */
static __device__ inline void record_note_stray(const struct text_view &text, size_t at,
						struct chunk_summary *summary)
{
	if (text.data[at] == '\r' && (at + 1 == text.nbytes || text.data[at + 1] == '\n'))
		return;
	if (text.data[at] == text.quote && !record_begins_late(text, at))
		return;
	summary_leave(summary);
}

/* Computes the text's transition map. tile_prefix: records_ntiles(nbytes) maps, device memory;
 * receives each tile's exclusive prefix map. summary: device memory, zeroed; receives nlines, map,
 * has_quotes and has_nul, and the initial values of what fields and column_fold count. domino:
 * advanced for this launch. Launches one kernel on stream, and does not wait. Errors: the
 * launch's. */
cudaError_t records_map_launch(struct text_view text, struct grid_domino domino,
			       csv_map *tile_prefix, struct chunk_summary *summary,
			       cudaStream_t stream);

/* Finds the record ends of a text that is entered in state.
 * tile_prefix: from records_map_launch. nheads: as in record_table.
 * ends: room for summary->nlines offsets, device memory; receives the offset just after
 * each record end, in order. nseparators, tile_nseparators: receive what record_table has; as long
 * as ends, and an element for each tile. summary: device memory; receives nends, nrecords and
 * has_stray, and the initial values of what fields counts.
 * domino: advanced for this launch.
 * Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t records_ends_launch(struct text_view text, struct grid_domino domino,
				const csv_map *tile_prefix, enum csv_state state,
				uint32_t nheads, uint32_t *ends, uint16_t *nseparators,
				uint16_t *tile_nseparators, struct chunk_summary *summary,
				cudaStream_t stream);
