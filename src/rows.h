/* SPDX-License-Identifier: MIT
 *
 * rows.h - the complete records of a chunk as rows of separator positions, and the fold of
 * their columns: the CPU's fast path.
 *
 * A chunk is scanned once (rows_scan), into bitmaps; that also tells its transition map. When
 * it is known how the chunk is entered, the bitmaps become positions, a window at a time,
 * and rows with the same number of fields become runs in which the k-th field is a stride
 * away from the row before: then a column is folded without looking at any other field.
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

#include "chunk.h"
#include "column.h"
#include "csv_dfa.h"
#include "plan.h"
#include "quotes.h"
#include "simd.h"
#include "status.h"

/* One thread's memory for it. All owned. */
struct rows {
	const struct plan *plan;
	bool missing_is_number; /* a spelling of "missing" that could pass for a number */
	struct simd_hint *hints; /* of each of the plan's columns */
	struct simd_bits bits; /* of the text scanned last */
	struct simd_counts counts;
	size_t nwords;
	struct quotes_resolved resolved;
	/* Positions of separators outside quotes; ends[-1] is there, too: where the row in hand
	 * begins, less 1. */
	uint32_t *ends, *ends_memory;
	size_t nends, ends_capacity;
	size_t nlines; /* those of the window in hand that end records */
	size_t stride; /* fields that rows had so far, or 0 */
};

/* Prepares for texts of up to chunk_nbytes. Errors: STATUS_NO_MEMORY; r can then be freed. */
enum status rows_init(struct rows *r, const struct plan *plan, size_t chunk_nbytes);
void rows_free(struct rows *r);

/* How much a chunk needs to know of how it is entered, as rows_scan has found. */
enum chunk_dependence rows_dependence(const struct rows *r);

/* Scans text[0 .. nbytes), padded as simd.h says. Sets *nlines to the number of its LFs, and
 * returns its transition map. */
csv_map rows_scan(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines);

/* Folds complete records of the text just scanned into out, which the caller cleared, like
 * records_fold, from the first on. *left: nbytes if all were folded; otherwise where the
 * first that was not begins, and records_fold_from is to go on; SIZE_MAX if there was not even
 * an end to the one that began before, and records_fold is to do it. The plan has no
 * predicates. entry may be unknown, see chunk.h: then all up to the first record's end where it does
 * not matter any more is head. Errors: STATUS_NO_MEMORY. */
enum status rows_fold(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      struct scratch *scratch, struct partial *out, size_t *left);

#endif
