/* SPDX-License-Identifier: MIT
 *
 * rows_fold.h - folding the rows of a text, a column at a time.
 */
#ifndef GPUSTAT_ROWS_FOLD_H
#define GPUSTAT_ROWS_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "csv/chunk.h"
#include "csv/rows.h"
#include "fold/column.h"
#include "fold/let_block.h"
#include "fold/pair_block.h"
#include "fold/row_block.h"
#include "fold/row_filter.h"
#include "fold/row_groups.h"
#include "fold/text_rows.h"
#include "query/plan.h"

/* Bytes of the text, [begin, end), and a number of delimiters after them. */
struct row_range {
	uint32_t begin, end, ndelimiters;
};

/* One thread's memory for folding. All owned. */
struct row_folder {
	const struct plan *plan;
	struct partial *out; /* of the text that is folded: what is complained about is kept there */
	struct row_block block;
	struct let_block lets; /* block.lets, if the plan has computed columns */
	struct row_filter filter;
	struct pair_block pairs;
	struct row_groups groups;
	struct scratch scratch;
	struct simd_hint *hints; /* of each of the plan's columns */
	struct text_folder texts;
	struct decimal_fold fold; /* of the current column; added to its bins at the end */
	bool keeps_keys;     /* some column does not parse or needs MOMENT_KEYS, or there are groups */
	bool has_plain_texts; /* of the current text: no NUL, no escapes */
	bool may_not_be_key[256]; /* by first byte: the field may be missing, or is quoted */
	/* If records are printed without new fields: those to print, in order, not adjacent. */
	struct row_range *kept;
	size_t nkept, kept_capacity;
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status row_folder_init(struct row_folder *f, const struct plan *plan);
void row_folder_free(struct row_folder *f);

/* Appends the block's rows that its filter keeps to the kept ranges, neighbours as one range, each row with as
 * many fields as the first record. Errors: STATUS_NO_MEMORY. */
enum status row_folder_keep(struct row_folder *f);

/* Rows of a run that are all ragged, or none of them is. */
struct row_part {
	struct row_run rows;
	bool is_ragged;
	bool is_taken; /* not ragged, or folded and printed all the same */
};

/* Returns the rows of the run from `first` on that are ragged alike: at least one. */
struct row_part row_run_part(const struct plan *plan, const char *text,
			     const struct row_run *run, size_t first);

/* Returns how many rows of the run from `first` on come before the next that is the plan's sought header. */
size_t row_run_before_header(const struct plan *plan, const char *text, const struct row_run *run, size_t first);

/* The rows of the run from `first` on, n of them. */
static inline struct row_run row_run_part_of(const struct row_run *run, size_t first, size_t n)
{
	return (struct row_run){run->ends + first * run->stride, run->stride, n};
}

/* Folds into out, which the caller has cleared, the complete records of the text that r has
 * classified last. entry: as in rows_walk. Sets all of out but needs_entry. Values that are no
 * numbers are counted, not errors. With computed columns, text is f->lets.data, and out is void if
 * f->lets.is_full afterwards. Errors: STATUS_NO_MEMORY. */
enum status rows_fold(struct row_folder *f, struct rows *r, const char *text, size_t nbytes,
		      struct chunk_entry entry, struct partial *out);

/* Folds column c of the rows of f's block that its filter keeps into out. Errors: STATUS_NO_MEMORY. */
enum status rows_fold_kept_column(struct row_folder *f, const char *text, size_t c, struct partial *out);

#endif
