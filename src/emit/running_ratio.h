/* SPDX-License-Identifier: MIT
 *
 * running_ratio.h - a running variance or standard deviation: the value of one new column,
 * record after record. Each is the result of the records so far, exact and rounded once.
 */
#ifndef GPUSTAT_RUNNING_RATIO_H
#define GPUSTAT_RUNNING_RATIO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/statistic.h"
#include "query/plan.h"
#include "query/value.h"

/* Longest text: the variance of numbers below 10^400 of up to 400 digits behind the point is above
 * 10^-840 or 0, and below 10^801; it has up to 17 digits behind its zeros. */
#define RUNNING_RATIO_NBYTES 896

/* Zeroed: owns nothing. */
struct running_ratio {
	enum new_column_kind kind; /* NEW_VAR, NEW_STDDEV */
	struct partial so_far;     /* one column: all numbers so far. Owned. */
};

static inline bool running_ratio_is(enum new_column_kind kind)
{
	return kind == NEW_VAR || kind == NEW_STDDEV;
}

void running_ratio_free(struct running_ratio *r);

/* Makes r that of all numbers in before, the fold of the records so far. Keeps r's memory. Errors:
 * STATUS_NO_MEMORY. */
enum status running_ratio_begin(struct running_ratio *r, enum new_column_kind kind,
				const struct column_partial *before);

/* Adds the next value; missing values and text change nothing. Errors: STATUS_NO_MEMORY. */
enum status running_ratio_add_value(struct running_ratio *r, const struct value *v);

/* Writes the value, of no more than RUNNING_RATIO_NBYTES; nothing if the ratio has no value. No terminator.
 * Returns the text's end. */
char *running_ratio_write(struct running_ratio *r, char *to);

#endif
