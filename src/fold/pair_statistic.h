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

#endif
