/* SPDX-License-Identifier: MIT
 *
 * window.h - what a new column that looks back needs of the records before a text: the last values of its
 * column, or the weighted mean so far.
 *
 * Identity: zeroed but for the plan, or window_clear. Combine: window_combine(earlier, later), associative. An
 * exponentially weighted mean is known only from the first value on, so of a text alone its values are kept,
 * and in window_combine(earlier, later) earlier is the fold of all records before: the mean goes from value to
 * value in the turn of the total chain, and later's values have been parsed outside it.
 */
#ifndef GPUSTAT_WINDOW_H
#define GPUSTAT_WINDOW_H

#include "base/status.h"
#include "fold/recent.h"
#include "number/ewma.h"
#include "query/plan.h"

struct window_fold {
	const struct plan_window *plan;
	struct recent recent; /* the last plan_window_nbefore values; of NEW_FILL_DOWN those not missing, of
			       * NEW_EWMA the numbers since `mean`. Owned. */
	struct ewma mean;     /* of the numbers before these, from the first of all on */
};

void window_free(struct window_fold *w);

/* Makes w the fold of no records. Keeps some memory. */
void window_clear(struct window_fold *w);

/* Adds the value of the next record. Errors: STATUS_NO_MEMORY. */
enum status window_add(struct window_fold *w, const struct recent_value *value);

/* w becomes the fold of w's records followed by later's, which stays as it is. Errors: STATUS_NO_MEMORY. */
enum status window_combine(struct window_fold *w, const struct window_fold *later);

/* Adds a value to a weighted mean; one that is missing changes nothing. */
void window_weigh(struct ewma *mean, const struct plan_window *plan, const struct recent_value *value);

#endif
