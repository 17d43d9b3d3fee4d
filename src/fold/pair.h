/* SPDX-License-Identifier: MIT
 *
 * pair.h - what is kept of two columns, x and y, over a run of records: exact sums over the records
 * that have both values.
 *
 * A pair keeps the sum of the products x y. Count, sum and squares of x are the column's own
 * (column.h), minus those of the values whose partner in y is missing, which the pair keeps; and the
 * other way round. So where no value is missing, a pair costs one sum, and a column that is in many
 * pairs is summed once. All sums are exact, so nothing is lost by the subtraction.
 *
 * Identity: zeroed, or pair_clear. Combine: pair_combine(earlier, later), associative.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "number/exact.h"

/* The sides of a pair. */
enum { PAIR_X, PAIR_Y, PAIR_NSIDES };

struct pair_partial {
	struct exact products; /* their sum */
	struct column_partial *alone[PAIR_NSIDES]; /* the values of x where y is missing, and those
						    * of y where x is; NULL: none. Owned. */
};

void pair_free(struct pair_partial *p);

/* Makes p the fold of no records. Keeps its memory. */
void pair_clear(struct pair_partial *p);

/* p becomes the fold of p's records followed by later's. Errors: STATUS_NO_MEMORY. */
enum status pair_combine(struct pair_partial *p, const struct pair_partial *later);

/* The fold of a side's values without a partner; makes it the first time. NULL: out of memory. */
struct column_partial *pair_alone(struct pair_partial *p, int side);

/* Adds some of 64 numbers of the fast path to that fold: value[r] x 10^-scale[r] for each bit r of rows. needs: those of the
 * plan's pair. Errors: STATUS_NO_MEMORY. */
enum status pair_add_alone(struct pair_partial *p, int side, unsigned needs, const int64_t *value, const uint8_t *scale,
			   uint64_t rows);
