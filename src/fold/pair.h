/* SPDX-License-Identifier: MIT
 *
 * pair.h - what is kept of two columns, x and y, over a run of records: exact sums over the records
 * that have both values.
 *
 * A pair keeps the sum of the products x y. Count, sum and squares of x are the column's own
 * (column.h), less those of the values whose partner in y is missing, which the pair keeps; and the
 * other way round. So where no value is missing, a pair costs one sum, and a column that is in many
 * pairs is summed once. All sums are exact, so nothing is lost by the subtraction.
 *
 * Identity: zeroed, or pair_clear. Combine: pair_combine(earlier, later), associative.
 */
#ifndef GPUSTAT_PAIR_H
#define GPUSTAT_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "number/big_decimal.h"
#include "number/by_scale.h"
#include "number/wide.h"

#define PAIR_WIDE_NDIGITS (2 * WIDE_POINT * WIDE_LIMB_DIGITS) /* after the point, of products of wide numbers */

/* The sides of a pair. */
enum { PAIR_X, PAIR_Y, PAIR_NSIDES };

struct pair_partial {
	struct by_scale products[2]; /* sums of products, in `square`, of 192 bits with a sign; a
				      * product has the scale of both factors together: those of
				      * scales 0 to 31, and those of 32 to 62 as 0 to 30 */
	struct big_decimal *wide[2]; /* sums of products with a wide number: of those that are not negative,
			   * and of the negative ones, their sign left out; NULL: 0. Owned. */
	struct column_partial *alone[PAIR_NSIDES]; /* the values of x where y is missing, and those
						    * of y where x is; NULL: none. Owned. */
};

void pair_free(struct pair_partial *p);

/* Makes p the fold of no records. Keeps its memory. */
void pair_clear(struct pair_partial *p);

/* p becomes the fold of p's records followed by later's. Errors: STATUS_NO_MEMORY. */
enum status pair_combine(struct pair_partial *p, const struct pair_partial *later);

/* Adds products of one scale, 0 to 62: their sum. Errors: STATUS_NO_MEMORY. */
enum status pair_add_products(struct pair_partial *p, unsigned scale, int128 sum);

/* Like pair_add_products, for a two's complement of 192 bits. */
enum status pair_add_sum(struct pair_partial *p, unsigned scale, struct sum192 sum);

/* Adds the product x y. Errors: STATUS_NO_MEMORY. Cost: some 100 ns. */
enum status pair_add_wide(struct pair_partial *p, const struct big_decimal *x, const struct big_decimal *y);

/* The fold of a side's values without a partner; makes it the first time. NULL: out of memory. */
struct column_partial *pair_alone(struct pair_partial *p, int side);

/* Adds some of 64 numbers of the fast path to that fold: value[r] x 10^-scale[r] for each bit r of rows. needs: those of the
 * plan's pair. Errors: STATUS_NO_MEMORY. */
enum status pair_add_alone(struct pair_partial *p, int side, unsigned needs, const int64_t *value, const uint8_t *scale,
			   uint64_t rows);

/* *out = the sum of the products x 10^scale, which is an integer: no product added had more than
 * scale digits after the point. scale: at most 2 x WIDE_POINT x WIDE_LIMB_DIGITS. */
void pair_products(const struct pair_partial *p, int scale, struct integer *out);

#endif
