/* SPDX-License-Identifier: MIT
 *
 * group_window.h - what a new column that looks back (struct plan_window) needs of its group's records: a few values, in line with
 * the group's cells. A group with a value too long for that, or with more values, keeps them in its partial, as a struct
 * window_fold; then its struct group_window says so, and holds none.
 *
 * Identity: zeroed. Combine: group_windows_combine(earlier, later), associative. While records are printed, the group
 * itself is moved on from record to record (emit/running_window.h).
 */
#ifndef GPUSTAT_GROUP_WINDOW_H
#define GPUSTAT_GROUP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/group.h"
#include "fold/recent.h"
#include "fold/window.h"
#include "query/plan.h"

#define GROUP_WINDOW_NVALUES 14    /* numbers in line */
#define GROUP_WINDOW_NTEXTS 4      /* and texts, of */
#define GROUP_WINDOW_TEXT_NBYTES 24
#define GROUP_WINDOW_ELSEWHERE 255 /* the values are in the partial */
#define GROUP_WINDOW_NONE 255      /* no value */

/* With NEW_EWMA, a struct ewma follows; then the values: texts of GROUP_WINDOW_TEXT_NBYTES each, or significands. */
struct group_window {
	uint8_t n;     /* values, from the oldest on; or GROUP_WINDOW_ELSEWHERE */
	uint8_t scale; /* the largest of all short numbers so far, in the window or before it */
	uint8_t kinds[GROUP_WINDOW_NVALUES]; /* of each value: a text's length, a number's scale, or GROUP_WINDOW_NONE */
};

/* Sets the window's place in a group. */
void group_window_plan(struct plan_window *window, uint32_t offset);

/* The bytes that a group has there. */
size_t group_window_nbytes(const struct plan_window *window);

static inline struct group_window *group_window(struct group *g, const struct plan_window *window)
{
	return (struct group_window *)((char *)g + window->cell_offset);
}

/* The significands of a rolling window that is not elsewhere; w->kinds are their scales. */
static inline const int64_t *group_window_numbers(const struct group_window *w)
{
	return (const int64_t *)(w + 1);
}

/* The k-th value, of one that is not elsewhere. Its text is the group's. */
struct recent_value group_window_value(const struct group_window *w, const struct plan_window *window, unsigned k);

/* The weighted mean of NEW_EWMA up to the last value, of a window that is not elsewhere; the group holds its records from the
 * input's first on. */
struct ewma group_window_mean(const struct group_window *w, const struct plan_window *window);

/* Whether the values are in line, and are so with one more. */
bool group_window_fits(const struct group_window *w, const struct plan_window *window, const struct recent_value *value);

/* Adds the value of the group's next record to window i of the plan. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_window_add(struct group *g, const struct plan *plan, size_t i, const struct recent_value *value);

/* The same, for a group that holds all its records before this one: a weighted mean goes on with the value. */
enum status group_window_go_on(struct group *g, const struct plan *plan, size_t i, const struct recent_value *value);

/* Moves the values of window i to the group's partial, if they are not there. Errors: as above. */
enum status group_window_move(struct group *g, const struct plan *plan, size_t i);

/* Adds all that `later` holds. Errors: as above. */
enum status group_window_add_fold(struct group *g, const struct plan *plan, size_t i, const struct window_fold *later);

/* Combines the windows of two groups, before their partials are combined: g's become those of both, or both move to the
 * partials. Errors: as above. */
enum status group_windows_combine(struct group *g, struct group *later, const struct plan *plan);

/* Adds the values of window i that are not elsewhere to `to`. Errors: STATUS_NO_MEMORY. */
enum status group_window_copy(const struct group_window *w, struct window_fold *to);

#endif
