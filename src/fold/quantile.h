/* SPDX-License-Identifier: MIT
 *
 * quantile.h - medians, percentiles and what is made of them.
 *
 * The p-th percentile of n numbers is that of rank h = (n - 1) p / 100, counted from 0 in ascending
 * order; between two ranks it is interpolated linearly. This is definition 7 of Hyndman and Fan,
 * "Sample Quantiles in Statistical Packages", 1996. Nothing is rounded: the result is a decimal.
 */
#ifndef GPUSTAT_QUANTILE_H
#define GPUSTAT_QUANTILE_H

#include <stddef.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/statistic.h"
#include "fold/values_select.h"
#include "query/query.h"

/* Numbers of a column by their ranks, ascending. */
struct ranks {
	size_t n;
	struct ranked *at; /* owned */
};

/* Lists, for each of the plan's columns, the ranks that the query's quantiles need; the numbers are
 * still to be found. *out: one for each column, owned by the caller; NULL where none needs any.
 * Errors: STATUS_NO_MEMORY; *out is to be freed then, too. */
enum status ranks_list(const struct query *q, const struct partial *total, struct ranks **out);

/* Finds the numbers among the kept ones of total, in up to nthreads threads. ranks may be NULL. Errors:
 * STATUS_NO_MEMORY. */
enum status ranks_select(const struct query *q, const struct partial *total, int nthreads, struct ranks *ranks);

/* The threads for all that is done with a run's total. Not for each group: the cores are counted. */
int ranks_nthreads(const struct query *q);

/* What a selection needs to know of a column's numbers, which must stay. */
void ranks_extent(const struct wide_fold *numbers, struct values_extent *out);
void ranks_free(struct ranks *ranks, size_t ncolumns);

/* Formulas (statistic.h). They write the exact value, with the column's scale or more digits; nothing
 * where there are no numbers. */
statistic_formula quantile_median, quantile_percentile, quantile_iqr;

/* Writes what the formula of the operation writes, of n > 0 numbers x[i] 10^-scale, and returns its end, or NULL if it is too
 * long. Their order is changed. percentile: of --pNN. */
char *quantile_write_short(enum operation operation, struct percentile percentile, int64_t *x, uint64_t n, int scale,
			   char *to);

#endif
