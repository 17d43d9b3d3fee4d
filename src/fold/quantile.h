/* SPDX-License-Identifier: MIT
 *
 * quantile.h - medians, percentiles and what is made of them.
 *
 * The p-th percentile of n numbers is that of rank h = (n - 1) p / 100, counted from 0 in ascending
 * order; between two ranks it is interpolated linearly. This is definition 7 of Hyndman and Fan,
 * "Sample Quantiles in Statistical Packages", 1996. Nothing is rounded: the result is a decimal.
 *
 * The median of the distances from the median is found like a median, of other numbers.
 *
 * A trimmed mean is that of the numbers without as many at each end as the fraction has, rounded down: as R's mean(trim) and
 * SciPy's trim_mean.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "fold/statistic.h"
#include "fold/values_select.h"
#include "query/query.h"

/* Numbers of a column by their ranks, ascending. */
struct ranks {
	size_t n;
	struct ranked *at; /* owned */
	struct ranked *wanted; /* nwanted that are still to be found: `at` or, later, the distances */
	size_t nwanted;
	bool has_deviation;         /* --mad is asked for */
	struct exact center;        /* twice the median; owned */
	struct ranked distances[2]; /* and of twice the distances from it those in the middle */
};

/* Lists, for each of the plan's columns, the ranks that the query's quantiles need; the numbers are
 * still to be found. *out: one for each column, owned by the caller; NULL where none needs any.
 * Errors: STATUS_NO_MEMORY; *out is to be freed then, too. */
enum status ranks_list(const struct query *q, const struct partial *total, struct ranks **out);

/* Finds the numbers, and all that they show to be needed, among the kept ones of total, in up to nthreads threads. ranks may
 * be NULL. Errors: STATUS_NO_MEMORY, STATUS_GPU, with which the ranks are left that are still to be found. */
enum status ranks_find(const struct query *q, const struct partial *total, int nthreads, struct ranks *ranks);

/* For a caller that finds the numbers in another way: called when all wanted ones are found. *more: whether they show that
 * others are wanted, as --mad wants the distances from the median. Errors: STATUS_NO_MEMORY. */
enum status ranks_advance(struct ranks *ranks, const struct partial *total, bool *more);

/* The threads for all that is done with a run's total. Not for each group: the cores are counted. */
int ranks_nthreads(const struct query *q);

/* What a selection of the wanted ranks needs to know of a column's numbers; both must stay. */
void ranks_extent(const struct ranks *r, const struct number_sums *numbers, struct values_extent *out);
void ranks_free(struct ranks *ranks, size_t ncolumns);

/* Formulas (statistic.h). They write the exact value, with the column's scale or more digits, but a trimmed mean as a mean; nothing
 * where there are no numbers. */
statistic_formula quantile_format, quantile_mad, quantile_trimmed_mean;

/* Writes what the formula of the operation writes, of n > 0 numbers x[i] 10^-scale, and returns its end, or NULL if it is too
 * long. Their order is changed. percentile: of --pNN. */
char *quantile_write_short(enum operation operation, struct percentile percentile, int64_t *x, uint64_t n, int scale,
			   char *to);
