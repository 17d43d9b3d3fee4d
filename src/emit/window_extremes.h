/* SPDX-License-Identifier: MIT
 *
 * window_extremes.h - the least or the greatest number of a window that slides over values.
 *
 * Only numbers that no later one makes useless are kept: for the minimum, a number is dropped as soon as a
 * later one is not greater. What is left ascends, its first is the minimum, and each number is added and dropped
 * once, so a step costs the same for any window. Source: the monotonic queue (D. Lemire, "Streaming
 * maximum-minimum filter using no more than three comparisons per element", 2006).
 */
#ifndef GPUSTAT_WINDOW_EXTREMES_H
#define GPUSTAT_WINDOW_EXTREMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/recent.h"

struct extreme {
	uint64_t at; /* which of all values added, counted from 0 */
	struct recent_value value; /* a number; its text is owned, NULL without one */
};

/* Zeroed: no value. */
struct window_extremes {
	struct extreme *queue; /* a ring of `capacity`, a power of 2; owned */
	size_t first, n, capacity;
	uint64_t nvalues; /* added so far, the missing ones too */
};

void window_extremes_free(struct window_extremes *e);

/* Removes all values. Keeps memory. */
void window_extremes_clear(struct window_extremes *e);

/* Makes e the extremes of the values in r, all of them. wants_max: as below. Errors: STATUS_NO_MEMORY. Cost: pieces
 * of which no number is among the extremes are left out as a whole. */
enum status window_extremes_begin(struct window_extremes *e, bool wants_max, const struct recent *r);

/* Adds the next value; a missing one takes its place only. wants_max: it is the greatest that is wanted. Errors:
 * STATUS_NO_MEMORY. */
enum status window_extremes_add(struct window_extremes *e, bool wants_max, const struct recent_value *value);

/* Drops what is older than the last n values. */
void window_extremes_keep(struct window_extremes *e, uint64_t n);

/* The extreme; NULL: there is no number. */
const struct recent_value *window_extremes_get(const struct window_extremes *e);

#endif
