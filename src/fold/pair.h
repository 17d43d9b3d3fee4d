/* SPDX-License-Identifier: MIT
 *
 * pair.h - what is kept of two columns, x and y, over a run of records, or over those of a group: exact sums over the
 * records that have both values; and how blocks of rows are added to it.
 *
 * A pair keeps the sum of the products x y. Count, sum and squares of x are the column's own, minus those of the values
 * whose partner in y is missing, which the pair keeps; and the other way round. So where no value is missing, a pair costs
 * one sum, and a column that is in many pairs is summed once. All sums are exact, so nothing is lost by the subtraction.
 *
 * Identity: zeroed. Combine: pair_combine(earlier, later), associative. What does not fit into a pair lies in the arena of
 * those who keep it: struct partial (column.h), or struct groups.
 *
 * Errors of all functions: STATUS_NO_MEMORY, STATUS_MANY_KEYS.
 */
#pragma once

#include "base/status.h"
#include "fold/group.h"
#include "fold/row_block.h"
#include "number/exact.h"
#include "query/plan.h"

/* The sides of a pair. */
enum { PAIR_X, PAIR_Y, PAIR_NSIDES };

/* It lies in groups, which are aligned to 8 bytes only. */
struct __attribute__((packed, aligned(8))) pair {
	struct exact products;    /* their sum */
	struct group_cell *alone; /* PAIR_NSIDES: the values of x where y is missing, and those of y where x is; NULL: none */
};
#define PAIR_ALONE_MOMENTS ((unsigned)(MOMENT_COUNT | MOMENT_SUM | MOMENT_SQUARES))

/* Adds a product, which is 10^-scale of what it says, or a sum of them. */
enum status pair_add_products(struct pair *p, int128 products, int scale, struct key_arena *arena);
enum status pair_add_long_products(struct pair *p, const struct exact *products, struct key_arena *arena);

/* Adds values of a side without a partner: value[r] x 10^-scale[r] for each bit r of rows, arrays of SIMD_NUMBERS_NROWS, or of one if
 * rows is 1; or the sums of some. */
enum status pair_add_alone(struct pair *p, int side, const int64_t *value, const uint8_t *scale, uint64_t rows,
			   struct key_arena *arena);
enum status pair_add_alone_sums(struct pair *p, int side, const struct group_sums *sums, struct key_arena *arena);

/* The sums of a side's values without a partner, to be read: in the room if there are any. */
const struct group_sums *pair_alone(const struct pair *p, int side, struct group_sums *room);

/* Whether a pair is the identity. */
bool pair_is_empty(const struct pair *p);

/* p becomes the fold of p's records followed by later's. */
enum status pair_combine(struct pair *p, const struct pair *later, struct key_arena *arena);

/* ---- blocks of rows ---- */

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
};

/* b can be freed after an error, too. */
enum status pair_block_init(struct pair_block *b, const struct plan *plan);
void pair_block_free(struct pair_block *b);

/* Adds the kept rows to the pairs of out; or each to those of its group. rows->plan has pairs; their columns are converted afterwards
 * (row_block_numbers). */
enum status pair_block_fold(struct pair_block *b, struct row_block *rows, uint64_t kept, struct scratch *scratch,
			    struct partial *out);
enum status pair_block_fold_groups(struct pair_block *b, struct row_block *rows, uint64_t kept, struct scratch *scratch,
				   struct group *const *groups, struct key_arena *arena);
