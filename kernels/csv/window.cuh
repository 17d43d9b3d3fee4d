/* SPDX-License-Identifier: MIT
 *
 * window.cuh - a tile of text in shared memory, cut into fields.
 *
 * A window is a tile of records.cuh and some bytes behind it, so that nearly every record that
 * begins in the tile ends in the window. A block loads it, 32 bytes a thread, resolves the quotes
 * exactly (by a scan of transition maps, unless the window has no quotes), and lists where fields
 * begin. From the lists any thread finds any field of any record:
 *
 *     text      a,b\nc,"d\ne",f\n
 *     starts    0 2 4 6 12 14        behind each separator that is not in quotes
 *     lines     0 2 5                which of them begin a record
 *
 * Field f of record r begins at starts[lines[r] + f], and its separator is the byte before
 * starts[lines[r] + f + 1]; the record has lines[r + 1] - lines[r] fields.
 */
#pragma once

#include "kernels/csv/records.cuh"

#define WINDOW_NTHREADS 288
#define WINDOW_NBYTES (WINDOW_NTHREADS * LANE_NBYTES) /* 9 KiB: a tile of 8, and 1 more */
#define WINDOW_PAD 32 /* a number is read in words that end where it ends */

/* Shared memory. Positions count from the tile's begin. */
struct window {
	uint4 before[WINDOW_PAD / 16];
	uint4 text[WINDOW_NBYTES / 16];
	uint4 after; /* the last word may reach so far */
	uint16_t starts[WINDOW_NBYTES + 1];
	uint16_t lines[WINDOW_NBYTES + 1];
	uint32_t ntile_separators; /* in the tile: starts[1 .. ntile_separators] are theirs */
};

/* Of a window; the same in all threads of the block. */
struct window_records {
	size_t base;     /* of the tile, in the chunk's text */
	uint32_t nlines; /* entries of lines: the records that end in the window, and one more */
	uint32_t nends;  /* record ends in it: nlines, or one less if a record begins the tile */
};

/* How a chunk is entered. */
struct window_entry {
	const csv_map *tile_prefix; /* from records_map */
	enum csv_state state;
	uint32_t nheads; /* as in record_table */
	uint32_t head_nbytes; /* records that begin before are not folded, and state need only be
			       * right from there on; 0: all are folded */
};

static __device__ inline const char *window_text(const struct window &w)
{
	return (const char *)w.text;
}

/* Whether a record begins where the tile does, which is entered in state. */
static __device__ inline bool window_begins_record(const struct text_view &text, size_t base,
						   enum csv_state state, uint32_t nheads)
{
	if (base == 0)
		return nheads == 0;
	return state == CSV_FIELD_START && text.data[base - 1] == '\n';
}

/* The thread's bytes that are entered in quotes. state: the tile's. *stray: those of lane_stray,
 * but for the tile's first byte, which the window before it has as well. */
static __device__ inline uint32_t window_quoted(const struct lane_bits &bits, enum csv_state state,
						uint32_t *stray)
{
	uint32_t states, quoted;
	enum csv_state left;

	*stray = 0;
	/* The barrier also ends all use of the window's previous text and lists. */
	if (!__syncthreads_or(bits.quotes != 0))
		return state == CSV_QUOTED ? ~0u : 0;
	states = block_exclusive<fold_csv_states, WINDOW_NTHREADS>(lane_states(bits), &states);
	state = csv_states_apply(states, state);
	quoted = lane_quoted(bits, state, &left);
	*stray = lane_stray(bits, state, quoted);
	return quoted;
}

/* Notes text behind closing quotes in the thread's bytes, which begin at `offset`. */
static __device__ inline void window_note_stray(const struct text_view &text,
						const struct window_entry &entry, size_t offset,
						uint32_t stray, struct chunk_summary *summary)
{
	for (; stray; stray &= stray - 1) {
		size_t at = offset + (size_t)__ffs((int)stray) - 1;
		if (at >= entry.head_nbytes)
			record_note_stray(text, at, summary);
	}
}

/* Lists the thread's separators, from entry `at` of starts and `line` of lines on. */
static __device__ inline void window_list(struct window *w, uint32_t separators,
					  uint32_t newlines, uint32_t at, uint32_t line)
{
	for (; separators; separators &= separators - 1) {
		uint32_t bit = (uint32_t)__ffs((int)separators) - 1;

		w->starts[at] = (uint16_t)(threadIdx.x * LANE_NBYTES + bit + 1);
		if (newlines >> bit & 1)
			w->lines[line++] = (uint16_t)at;
		at++;
	}
}

/* Fills the window of a tile, and notes stray text in it. All WINDOW_NTHREADS threads of the block
 * call it, and no longer use what the window held. */
static __device__ inline struct window_records window_fill(struct window *w,
							   const struct text_view &text,
							   const struct window_entry &entry,
							   uint32_t tile,
							   struct chunk_summary *summary)
{
	struct window_records records;
	uint32_t total, stray;

	/* 1. The text: to registers, where it is classified, and to shared memory. */
	records.base = (size_t)tile * RECORDS_TILE_NBYTES;
	struct lane_text lane = lane_load(text.data, text.nbytes,
					  records.base + threadIdx.x * LANE_NBYTES);
	struct lane_bits bits = lane_classify(lane, text.delimiter, text.quote);
	enum csv_state state = csv_map_apply(entry.tile_prefix[tile], entry.state);
	bool begins = window_begins_record(text, records.base, state, entry.nheads);
	uint32_t outside = ~window_quoted(bits, state, &stray);
	w->text[2 * threadIdx.x] =
		make_uint4(lane.word[0], lane.word[1], lane.word[2], lane.word[3]);
	w->text[2 * threadIdx.x + 1] =
		make_uint4(lane.word[4], lane.word[5], lane.word[6], lane.word[7]);

	window_note_stray(text, entry, records.base + threadIdx.x * LANE_NBYTES, stray, summary);

	/* 2. The threads' places in both lists, by one scan: neither has 2^15 entries or more. */
	bits.separators &= outside;
	bits.newlines &= outside;
	uint32_t before = block_exclusive<fold_sum<uint32_t>, WINDOW_NTHREADS>(
		(uint32_t)__popc(bits.separators) | (uint32_t)__popc(bits.newlines) << 16, &total);

	/* 3. The lists. */
	if (threadIdx.x == RECORDS_TILE_NBYTES / LANE_NBYTES)
		w->ntile_separators = before & 0xffff;
	if (threadIdx.x == 0) {
		w->starts[0] = 0;
		if (begins)
			w->lines[0] = 0;
	}
	window_list(w, bits.separators, bits.newlines, 1 + (before & 0xffff),
		    begins + (before >> 16));
	records.nends = total >> 16;
	records.nlines = records.nends + begins;
	__syncthreads(); /* text and lists are there */
	return records;
}

/* A field of the window: [begin, end), without the CR before its record's LF. */
struct window_field {
	uint32_t begin, end;
};

/* Entry `at` of starts; `next`: the entry at which the record after it begins. */
static __device__ inline struct window_field window_field_at(const struct window &w, uint32_t at,
							     uint32_t next)
{
	struct window_field field = {w.starts[at], w.starts[at + 1] - 1u};

	if (at + 1 == next && field.end > field.begin && window_text(w)[field.end - 1] == '\r')
		field.end--;
	return field;
}
