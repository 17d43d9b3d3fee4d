/* SPDX-License-Identifier: MIT
 *
 * running_window.h - the value of one new column that looks back, record after record: a field before it, the
 * sum, mean or extremes of the last records, an exponentially weighted mean, or how a number differs from the one before.
 */
#ifndef GPUSTAT_RUNNING_WINDOW_H
#define GPUSTAT_RUNNING_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/recent.h"
#include "fold/window.h"
#include "number/ewma.h"
#include "number/exact.h"
#include "query/plan.h"

/* The smallest or the largest number of a window. Only numbers that no later one makes useless are kept: for the minimum, a number
 * is dropped as soon as a later one is not greater. What is left ascends, its first is the minimum, and each number is added and
 * dropped once, so a step costs the same for any window. Source: the monotonic queue (D. Lemire, "Streaming maximum-minimum filter
 * using no more than three comparisons per element", 2006). Zeroed: no value. */
struct window_extremes {
	struct extreme *queue; /* a ring of `capacity`, a power of 2; owned */
	size_t first, n, capacity;
	uint64_t nvalues; /* added so far, the missing ones too */
};

/* Zeroed: owns nothing. The values of the window are in `recent`; the rest is what they add up to. */
struct running_window {
	const struct plan_window *plan; /* NULL: it has not begun */
	struct recent recent; /* owned */
	struct exact sum; /* owned */
	int scale;        /* the largest of all numbers so far, in the window or before it */
	uint64_t count;   /* numbers in the window */
	int coarsest;       /* the largest scale of the window's numbers that were rounded, or of more ... */
	uint64_t ncoarsest; /* ... and how many of them have it; 0: to be looked up */
	struct window_extremes extremes; /* of NEW_ROLLING_MIN and NEW_ROLLING_MAX */
	struct ewma mean; /* of NEW_EWMA */
	struct recent_value last; /* of NEW_DELTA and NEW_RATIO: the last number, a long one in `recent` */
};

/* Frees what a struct running_window owns. */
void running_window_free(void *window);

/* Makes r the window after the records of which before is the fold, and numbers that of its column. Keeps r's memory.
 * Errors: STATUS_NO_MEMORY. */
enum status running_window_begin(struct running_window *r, const struct window_fold *before, const struct column_partial *numbers);

/* The same, for window i of the plan in a group; the group's partial gets it. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status running_window_begin_group(struct running_window *r, const struct plan *plan, size_t i, struct group *group);

/* Takes the next record's value into a window of numbers, and writes what the new column shows, in no more than
 * RUNNING_TEXT_NBYTES; nothing where there is no number. No terminator. Returns the text's end, or NULL where
 * memory ran out. */
char *running_window_write(struct running_window *r, const struct recent_value *value, char *to);

/* Takes the next record's field into a window of fields, and sets *out to the one that the new column shows, of no
 * bytes if the column is empty in this record. Its text is the caller's to copy: it is valid up to the next call, and as long as
 * value's. Errors: STATUS_NO_MEMORY. */
enum status running_window_field(struct running_window *r, const struct recent_value *value,
				 struct recent_value *out);

/* ---- where a group has the window in line (fold/window.h), and the value fits ---- */

/* Like running_window_write, for window i of the plan. */
char *group_running_write(struct group *group, const struct plan *plan, size_t i, const struct recent_value *value, char *to);

/* Like running_window_field; shown: room for the text of *out. */
enum status group_running_field(struct group *group, const struct plan *plan, size_t i, const struct recent_value *value,
				char shown[GROUP_WINDOW_TEXT_NBYTES], struct recent_value *out);

#endif
