/* SPDX-License-Identifier: MIT
 *
 * rows_fold.h - folding the rows of a text, a column at a time.
 */
#pragma once

#include "base/status.h"
#include "csv/chunk.h"
#include "csv/rows.h"
#include "fold/column.h"
#include "fold/pair.h"
#include "fold/program_block.h"
#include "fold/row_block.h"
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
	struct program_block programs; /* block.programs, if plan->computes */
	struct row_filter filter;
	struct pair_block pairs;
	struct row_groups groups;
	struct scratch scratch, time_scratch;
	struct text_folder texts;
	struct decimal_fold fold; /* of the current column; added to its bins at the end */
	struct quotient_bins **quotients; /* of the computed columns, in their order, added at the end of the text; owned. NULL: of one that
					   * has had no rounded numbers */
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

/* Rows of a run that are of one kind: ragged, or the header again (one row), or neither. */
struct row_part {
	struct row_run rows;
	bool is_ragged, is_header;
	bool is_taken; /* folded, and printed if the others are */
};

/* Returns the rows of the run from `first` on that are of the kind of the first: at least one. seeks_header: the
 * plan's sought header is told from other rows. */
struct row_part row_run_part(const struct plan *plan, const char *text, const struct row_run *run, size_t first,
			     bool seeks_header);

/* Folds into out, which the caller has cleared, the complete records of the text that r has
 * classified last. entry: as in rows_walk. Sets all of out but needs_entry. Values that are no
 * numbers are counted, not errors. If plan->computes, text is f->programs.data, and out is void if
 * f->programs.is_full afterwards. Errors: STATUS_NO_MEMORY. */
enum status rows_fold(struct row_folder *f, struct rows *r, const char *text, size_t nbytes,
		      struct chunk_entry entry, struct partial *out);

/* Folds column c, which is computed, of the rows of f's block that its filter keeps into out and f->fold.
 * text: f->programs.data. Errors: STATUS_NO_MEMORY. */
enum status computed_fold_column(struct row_folder *f, const char *text, size_t c, struct partial *out);

/* Folds column c, which is computed, of a row into out. A value that is complained about is kept in f->out. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status computed_fold_row(struct row_folder *f, const char *text, size_t c, unsigned row, struct partial *out);
