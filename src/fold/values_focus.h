/* SPDX-License-Identifier: MIT
 *
 * values_focus.h - what the cells of kept numbers do where not all numbers fit in memory.
 *
 * Where dropping is allowed, the first refusal of memory has all cells drop their numbers: the pass
 * over the input then still finds count and extremes. Later passes have a focus: intervals in which
 * ranks are looked for. Their numbers are counted in bins, or kept; the others are not. One focus holds
 * for all cells of the process, so one column at a time is looked at.
 */
#ifndef GPUSTAT_VALUES_FOCUS_H
#define GPUSTAT_VALUES_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

#include "fold/values.h"
#include "fold/values_interval.h"

struct values_focus {
	struct values_keys keys;
	const struct interval *intervals; /* disjoint; their shifts are set */
	size_t nintervals;
	bool counts; /* numbers are counted; else kept */
};

/* ---- before and after a pass ---- */

/* Sets the focus, NULL: none, and whether numbers are dropped where memory is refused. Before any
 * thread starts. */
void values_focus_set(const struct values_focus *focus, bool may_drop);

/* Whether numbers have been dropped since then. */
bool values_are_dropped(void);

/* ---- by cells ---- */

const struct values_focus *values_focus(void);

/* Memory was refused. */
void values_note_refusal(void);

/* The key of a number. */
int128 values_focus_key(const struct values_focus *f, int64_t significand, int scale);
int128 values_focus_key_of_wide(const struct values_focus *f, const struct wide *x);

/* Returns whether the number of that key is to be kept. Counts it in v, if it is to be counted.
 * *status: STATUS_NO_MEMORY where that fails. */
bool values_focus_find(const struct values_focus *f, struct values *v, int128 key,
		       enum status *status);

/* Adds later's counts to v's; makes v's 0. Errors: STATUS_NO_MEMORY. */
enum status values_focus_combine(struct values *v, const struct values *later);
void values_focus_clear(struct values *v);

#endif
