/* SPDX-License-Identifier: MIT
 *
 * histogram.h - how many numbers of a column lie in each of many bins of one width.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "io/table.h"
#include "query/query.h"

#define HISTOGRAM_NBINS_MAX 100000

/* Makes the table low,high,count of the query's only result, whose operation is OPERATION_HIST: a row
 * for each bin [low, high) from that of the smallest number to that of the largest, bins without numbers
 * among them. A bin begins at a multiple of the width. Threads: the query's. total: the fold of all
 * records. Errors: STATUS_NO_MEMORY; STATUS_MANY_BINS for more than HISTOGRAM_NBINS_MAX. */
enum status histogram_table(const struct query *q, const struct partial *total, struct table *out,
			    struct fault *fault);
