/* SPDX-License-Identifier: MIT
 *
 * pair_block.h - folds a block of rows into the plan's pairs of columns.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/row_block.h"
#include "query/plan.h"

/* The numbers of one column in the block's rows; bit r of a word describes row r. */
struct pair_values {
	int64_t value[ROW_BLOCK_NROWS]; /* a number is value x 10^-scale; 0 for rows without one of
					 * the fast path */
	uint8_t scale[ROW_BLOCK_NROWS];
	uint64_t present; /* rows that are kept and have a number */
	uint64_t wide;    /* of these, rows whose number is beyond the fast path */
	bool one_scale;   /* scale[r] is scale[0] for every row */
	uint8_t nbits;    /* no |value| is more than 2^nbits, nor than 2^60 */
};

/* One thread's memory. */
struct pair_block {
	bool *is_paired;            /* plan->ncolumns: whether the column is in a pair. Owned. */
	struct pair_values *values; /* plan->ncolumns, set for those. Owned. */
	uint64_t kept;              /* of the block that was taken */
};

/* Errors: STATUS_NO_MEMORY; b can then be freed. */
enum status pair_block_init(struct pair_block *b, const struct plan *plan);
void pair_block_free(struct pair_block *b);

/* Gathers the numbers of a block: b->values. rows->plan has pairs; their columns are converted afterwards
 * (row_block_numbers). shares_scales: a column's numbers may get the largest of their scales, which makes sums of many of them
 * faster; then they may have more digits after the point than the numbers of some of the rows. Errors: STATUS_NO_MEMORY. */
enum status pair_block_take(struct pair_block *b, struct row_block *rows, uint64_t kept, bool shares_scales,
			    struct scratch *scratch);

/* Adds some rows of the block that was taken to the plan's pair i. Errors: as above. */
enum status pair_block_fold_rows(struct pair_block *b, struct row_block *rows, size_t i, uint64_t some, struct scratch *scratch,
				 struct pair_partial *out);

/* Takes the block, and adds all kept rows to the pairs of out. Errors: as above. */
enum status pair_block_fold(struct pair_block *b, struct row_block *rows, uint64_t kept,
			    struct scratch *scratch, struct partial *out);
