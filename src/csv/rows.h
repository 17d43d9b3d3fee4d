/* SPDX-License-Identifier: MIT
 *
 * rows.h - the complete records of a chunk as rows of separator positions: the CPU's fast path.
 *
 * A chunk is scanned once (rows_classify), into bitmaps; that also tells its transition map. When
 * it is known how the chunk is entered, the bitmaps become positions, a window at a time,
 * and rows with the same number of fields become runs in which the k-th field is a stride
 * away from the row before: then a column is dealt with without looking at any other field.
 * Who folds records walks the runs once (rows_fold.c), and who prints them once more
 * (rows_emit.c): to make positions again costs less than to keep them.
 *
 * What quotes do is worked out by parity, and proved: a quote that opens a field must come
 * after a separator or another quote. Where one does not (12" disk), the rest of the chunk
 * is left to the automaton (record_walk.h).
 */
#ifndef GPUSTAT_ROWS_H
#define GPUSTAT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "csv/dfa.h"
#include "query/plan.h"
#include "csv/quotes.h"
#include "simd/simd.h"
#include "base/status.h"

/* One thread's memory for it. All owned. */
struct rows {
	const struct plan *plan;
	struct simd_bits bits; /* of the text scanned last */
	struct simd_counts counts;
	size_t nwords;
	struct quotes_resolved resolved;
	bool walked;     /* since it was scanned: in words [0, nregular) quotes are seen to, */
	size_t nregular; /* and there parity did not tell */
	/* Positions of separators outside quotes; ends[-1] is there, too: where the row in hand
	 * begins, less 1. */
	uint32_t *ends, *ends_memory;
	size_t nends, ends_capacity;
	size_t nlines; /* those of the window in hand that end records */
	size_t window_nwords; /* of the next window, where as much is left */
	size_t stride; /* fields that rows had so far, or 0 */
};

/* Prepares for texts of up to chunk_nbytes. Errors: STATUS_NO_MEMORY; r can then be freed. */
enum status rows_init(struct rows *r, const struct plan *plan, size_t chunk_nbytes);
void rows_free(struct rows *r);

/* How much a chunk needs to know of how it is entered, as rows_classify has found. */
enum chunk_dependence rows_dependence(const struct rows *r);

/* Scans text[0 .. nbytes), padded as simd.h says. Sets *nlines to the number of its LFs, and
 * returns its transition map. */
csv_map rows_classify(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines);

/* Rows with the same number of fields: ends[0 .. nrows x stride), ends[-1] before them. */
struct row_run {
	const uint32_t *ends;
	size_t stride, nrows;
};

/* A field that ends[0] ends, ends[-1] being where the one before ended. drops_cr: it is its
 * record's last, and a CR at its end is none of it. */
static inline struct field_span row_field(const char *text, const uint32_t *ends, bool drops_cr)
{
	struct field_span span = {(uint32_t)(ends[-1] + 1), ends[0]};

	if (drops_cr && span.end > span.begin && text[span.end - 1] == '\r')
		span.end--;
	return span;
}

/* Whether the run's rows have not all of the plan's fields. */
static inline bool row_run_is_short(const struct row_run *some, const struct plan *plan)
{
	return plan->ncolumns > 0 && plan->columns[plan->ncolumns - 1].field >= some->stride;
}

/* What is done with a run. Stops the walk by returning another status than OK. */
typedef enum status (*row_taker)(void *context, const struct row_run *some);

/* Where a walk has found rows: as struct partial has it. */
struct rows_extent {
	bool head_ends;
	size_t head_nbytes, tail_offset;
	/* The text's nbytes if all complete records were taken; otherwise where the first that
	 * was not begins; SIZE_MAX if there was not even an end to the one that began before. */
	size_t left;
};

/* Gives the complete records of the text just scanned to take, in order and as runs, blank
 * lines left out. entry: as it was for the walk before of the same text, if there was one; or
 * unknown, see chunk.h: then all up to the first record's end where it does not matter any more is
 * head, and nothing is remembered of the walk.
 * Errors: STATUS_NO_MEMORY, and what take returns. */
enum status rows_walk(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      row_taker take, void *context, struct rows_extent *out);

#endif
