/* SPDX-License-Identifier: MIT
 *
 * window.h - what a new column that looks back (struct plan_window) needs of the records before a text: the last values of its
 * column, or the weighted mean so far.
 *
 * Identity: zeroed but for the plan, or window_clear. Combine: window_combine(earlier, later), associative. An
 * exponentially weighted mean is known only from the first value on, so of a text alone its values are kept,
 * and in window_combine(earlier, later) earlier is the fold of all records before: the mean goes from value to
 * value in the turn of the total chain, and later's values have been parsed outside it.
 *
 * A group has a few values in line with its cells: struct group_window. One with a value too long for that, or with more values,
 * keeps them in its partial, as a struct window_fold; then its struct group_window says so, and holds none. While records are
 * printed, the group itself is moved on from record to record (emit/running_window.h).
 */
#ifndef GPUSTAT_WINDOW_H
#define GPUSTAT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "csv/rows.h"
#include "fold/column.h"
#include "fold/group.h"
#include "fold/recent.h"
#include "fold/row_block.h"
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

/* ---- of a group ---- */

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

/* Combines the windows of two groups, before their partials are combined: g's become those of both, or those to which the later
 * partial's are added then. Errors: as above. */
enum status group_windows_combine(struct group *g, struct group *later, const struct plan *plan);

/* Adds the values of window i that are not elsewhere to `to`. Errors: STATUS_NO_MEMORY. */
enum status group_window_copy(const struct group_window *w, struct window_fold *to);

/* ---- of rows ---- */

struct row_folder;

/* Sets *out to the number of column c in a row, or to no value: text that is no number was counted where the
 * column was folded. x: row_block_numbers of the column. The value's text is in the block or the scratch.
 * Errors: STATUS_NO_MEMORY. */
enum status row_number_value(const struct row_block *b, size_t c, const struct simd_numbers *x, unsigned row,
			     struct scratch *scratch, struct recent_value *out);

/* Sets *out to the field of column c in a row as it is printed. skips_missing: or to no value, if it is missing.
 * Errors: STATUS_NO_MEMORY. */
enum status row_text_value(struct row_block *b, size_t c, unsigned row, bool skips_missing,
			   struct scratch *scratch, struct recent_value *out);

/* Adds the values of some of the block's rows to the plan's windows: by group, if the plan has keys, those of
 * f->groups. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status row_windows_fold(struct row_folder *f, uint64_t rows, struct partial *out);

/* Adds all rows of a run, without keys and conditions. Errors: STATUS_NO_MEMORY. */
enum status row_windows_fold_run(struct row_folder *f, const char *text, const struct row_run *run,
				 struct partial *out);

#endif
