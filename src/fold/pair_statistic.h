/* SPDX-License-Identifier: MIT
 *
 * pair_statistic.h - statistics of two columns: formulas over the sums of a pair (pair.h), exact and
 * rounded once.
 *
 * A statistic is a row of kind PAIR in query/options.def, which names its formula, and the formula in
 * pair_statistic.c.
 */
#ifndef GPUSTAT_PAIR_STATISTIC_H
#define GPUSTAT_PAIR_STATISTIC_H

#include "fold/column.h"
#include "fold/statistic.h"
#include "query/options.h"
#include "query/plan.h"

/* Writes the result of an operation of kind PAIR for the pair p of a plan, NUL-terminated; "" where it
 * has no value. total: the fold of all records. */
void pair_statistic_format(enum operation operation, const struct plan *plan,
			   const struct partial *total, size_t p,
			   char text[STATISTIC_TEXT_NBYTES]);

/* Writes what pair_statistic_format writes, in a tenth of the time. sides: the moments of x and y over the records that have both
 * values. products: the sum of theirs, with the scales of both sides together. No terminator. Returns the text's end, or NULL where
 * it takes longer numbers. */
char *pair_statistic_write_short(enum operation operation, const struct short_moments sides[2], int128 products, char *to);

#endif
