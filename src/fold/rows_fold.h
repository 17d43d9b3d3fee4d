/* SPDX-License-Identifier: MIT
 *
 * rows_fold.h - folding the rows of a chunk, a column at a time.
 */
#ifndef GPUSTAT_ROWS_FOLD_H
#define GPUSTAT_ROWS_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "query/plan.h"
#include "fold/row_block.h"
#include "fold/row_filter.h"
#include "csv/rows.h"
#include "base/status.h"

/* Bytes of the text, [begin, end). */
struct row_range {
	uint32_t begin, end;
};

/* One thread's memory for it. All owned. */
struct row_folder {
	const struct plan *plan;
	struct row_block block;
	struct row_filter judge;
	struct scratch scratch;
	struct simd_hint *hints; /* of each of the plan's columns */
	/* Where records are printed as they are, those that are: in order, not adjacent. */
	struct row_range *kept;
	size_t nkept, kept_capacity;
	size_t left; /* of the last call of rows_fold: its *left */
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status row_folder_init(struct row_folder *f, const struct plan *plan);
void row_folder_free(struct row_folder *f);

/* Folds complete records of the text just scanned into r and out, which the caller cleared, like
 * records_fold, from the first on. *left: nbytes if all were folded; otherwise where the
 * first that was not begins, and records_fold_from is to go on; SIZE_MAX if there was not even
 * an end to the one that began before, and records_fold is to do it.
 * Errors: STATUS_NO_MEMORY. */
enum status rows_fold(struct row_folder *f, struct rows *r, const char *text, size_t nbytes,
		      struct chunk_entry entry, struct partial *out, size_t *left);

#endif
