/* SPDX-License-Identifier: MIT
 *
 * query_pairs.h - the pairs of columns of the plan.
 */
#ifndef GPUSTAT_QUERY_PAIRS_H
#define GPUSTAT_QUERY_PAIRS_H

#include <stddef.h>

#include "query/query.h"

/* Gives q->plan its pairs, whose columns it has: one for each result of two columns, which becomes the
 * result's pair; of a matrix, one for each two of its nresults columns. Columns of a pair with quotients
 * get MOMENT_EXTREMES. Errors: STATUS_NO_MEMORY; STATUS_USAGE for a matrix of too many columns. */
enum status query_plan_pairs(struct query *q, struct fault *fault);

/* Where in the plan the pair of a matrix's results i and j is, i < j < nresults. */
static inline size_t query_matrix_pair(size_t nresults, size_t i, size_t j)
{
	return i * (2 * nresults - i - 1) / 2 + (j - i - 1);
}

#endif
