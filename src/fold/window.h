/* SPDX-License-Identifier: MIT
 *
 * window.h - new columns that tell of the records before: of all of them, or of the last ones.
 *
 * What is computed of the numbers so far (--running-mean), or of those of a window
 * (--rolling-mean), is an aggregate's result: the sums of a column, and the aggregate's formula
 * (statistic.h). NEW_COLUMN_KINDS of query/plan.h names the aggregate. The sums of all numbers so
 * far only grow (struct running); a window's are kept up from record to record (struct rolling in
 * window.c): its values come in and leave. The others (--delta, --ewma, --lag) are functions of
 * some values before.
 *
 * A window by rows has the last N records, one by time those of the last seconds: t - width < t' <=
 * t, up to the record itself. Which records leave is known in one place of window.c; all else is
 * alike. A window by time keeps the times of its records beside their values. A record without a
 * time is in no window, and shows nothing.
 *
 * What a chunk needs of the records before it is a fold, a struct window_fold: the last values of
 * its column, or the weighted mean so far. Identity: zeroed but for the plan, or window_clear.
 * Combine: window_combine(earlier, later), associative. An exponentially weighted mean is known
 * only from the first value on, so of a text alone its values are kept, and in
 * window_combine(earlier, later) earlier is the fold of all records before. Usually the last few
 * values of a text settle the mean, whatever came before; else it goes from value to value in the
 * turn of the total chain.
 *
 * A group has a few values in line with its cells: struct group_window. One with a value too long
 * for that, or with more values, keeps them in a struct window_fold; then its struct group_window
 * says so, and has its address. While records are printed, both are moved on from record to record;
 * without groups, all records are one.
 */
#pragma once

#include <string.h>

#include "base/status.h"
#include "csv/rows.h"
#include "fold/column.h"
#include "fold/group.h"
#include "fold/recent.h"
#include "fold/row_block.h"
#include "number/ewma.h"
#include "number/numbers.h"
#include "number/shown.h"
#include "query/options.h"
#include "query/plan.h"

/* Longest text of a new column that is a number: the variance of numbers below 10^400 of up to 400 digits after the point is
 * above 10^-840 or 0, and below 10^801; it has up to 17 digits after its zeros. */
#define NEW_NUMBER_NBYTES 960

#define OPERATION_NONE NOPERATIONS

/* The aggregate whose result a new column is; OPERATION_NONE: it is none's. */
static inline enum operation new_column_aggregate(enum new_column_kind kind)
{
#define NEW_AGGREGATE(name, ops, aggregate, traits) OPERATION_##aggregate,
	static const enum operation all[] = {NEW_COLUMN_KINDS(NEW_AGGREGATE)};
#undef NEW_AGGREGATE

	return all[kind];
}

/* ---- of all records so far ---- */

/* The sums of the numbers so far, or, of a column that does not parse, their count. Zeroed: of none. */
struct running {
	struct numbers numbers; /* owned */
	struct exact squares;   /* owned. Only there if the column's state has squares: a state may be shorter. */
};

/* Returns the sum, minimum or maximum of numbers. */
static inline const struct exact *numbers_total(enum new_column_kind kind, const struct number_sums *n)
{
	return kind == NEW_MIN ? &n->min : kind == NEW_MAX ? &n->max : &n->sum;
}

void running_free(struct running *r, bool has_squares);

/* Makes r that of all numbers before. Errors: STATUS_NO_MEMORY. */
enum status running_begin(struct running *r, bool has_squares, const struct group_sums *before);

/* Adds a value that is no number of the fast path; no value changes nothing. Errors: STATUS_NO_MEMORY. */
enum status running_add_long(struct running *r, bool has_squares, const struct recent_value *value);

static inline enum status running_add(struct running *r, bool has_squares, struct decimal x)
{
	enum status status = numbers_add(&r->numbers, x);

	return status == STATUS_OK && has_squares
		       ? exact_add_scaled(&r->squares, (int128)x.significand * x.significand, 2 * x.scale) : status;
}

/* Like running_write, for `count` numbers of which total is the sum, or the extreme, x 10^scale,
 * scale <= DECIMAL_POWER_MAX. */
static inline __attribute__((always_inline)) char *
write_short_total(struct decimal_writer *d, enum operation aggregate, int64_t total, int scale,
		  uint64_t count, char *to)
{
	char *end = NULL;

	if (aggregate == OPERATION_COUNT)
		return decimal_writer_u64(d, to, count);
	if (count == 0 && aggregate != OPERATION_SUM)
		return to;
	if (aggregate == OPERATION_MEAN) {
		const struct exact sum = {.value = total, .scale = scale, .is_long = false, .negative = false,
					  .is_rounded = false};
		if (!number_shown && ((d->count == count && d->scale == scale) ||
				      decimal_writer_set(d, scale, count)))
			end = decimal_writer_mean(d, to, total);
		return end ? end : exact_write_mean(&sum, scale, count, to);
	}
	if (d->scale != scale)
		decimal_writer_set(d, scale, 1);
	return decimal_writer_i64(d, to, total);
}

/* What running_write writes where numbers are not short. */
char *running_write_long(const struct running *r, enum operation aggregate, int scale, char *to);

/* Writes the result of an aggregate in at most NEW_NUMBER_NBYTES; nothing where it has no value.
 * scale: no number so far had a larger one, perhaps. d: the column's. Returns the text's end. */
static inline __attribute__((always_inline)) char *
running_write(const struct running *r, enum operation aggregate, int scale,
	      struct decimal_writer *d, char *to)
{
	const struct numbers *n = &r->numbers;
	int128 total = n->bin.sum;

	if (aggregate == OPERATION_COUNT)
		return decimal_writer_u64(d, to, n->count);
	if (aggregate == OPERATION_MIN || aggregate == OPERATION_MAX)
		total = aggregate == OPERATION_MIN ? n->bin.min : n->bin.max;
	else if (aggregate != OPERATION_SUM && aggregate != OPERATION_MEAN)
		return running_write_long(r, aggregate, scale, to);
	if (n->form != NUMBERS_BIN || scale > n->scale || n->scale > DECIMAL_POWER_MAX ||
	    (int64_t)total != total || total == INT64_MIN)
		return running_write_long(r, aggregate, scale, to);
	return write_short_total(d, aggregate, (int64_t)total, n->scale, n->count, to);
}

/* ---- of some ---- */

struct rolling; /* window.c */

struct window_fold {
	const struct plan_window *plan;
	struct recent recent; /* the last plan_window_nbefore values; of NEW_FILL_DOWN those not missing, of
			       * NEW_EWMA the numbers since `mean`. Owned. */
	struct ewma mean;     /* of the numbers before these, from the first of all on */
	struct ewma settled;  /* if it is set: of these and all before, if ewma_is_bounded of `mean` */
	struct recent times;  /* if the plan is timed: those of the values of `recent`, or of the
				 window. Owned. */
	struct first_time {   /* of a text: of the first of its records that has a time */
		struct recent_value time; /* its text owned; NULL without one */
		size_t offset; /* of the field that shows it; undefined where time is missing, since
				  no record has one */
	} first_time;
	bool is_begun; /* records are printed: `recent` has the values of the window, if they are
			  needed, and: */
	struct rolling *rolling; /* what they add up to. Owned; NULL: nothing. */
};

void window_free(struct window_fold *w);

/* Makes w the fold of no records. Keeps some memory. */
void window_clear(struct window_fold *w);

/* Adds the value of the next record, which has a time if the window is by time; else time is
 * ignored. Errors: STATUS_NO_MEMORY. */
enum status window_add(struct window_fold *w, const struct recent_value *value,
		       const struct recent_value *time);

/* w becomes the fold of w's records followed by later's, which stays as it is. Errors: STATUS_NO_MEMORY. */
enum status window_combine(struct window_fold *w, const struct window_fold *later);

/* Sets *offset to that of the first time in a text that is earlier than the time before it, which
 * may be in the records before the text, or to OFFSET_NONE if times rise. By group, times of earlier
 * texts are known only to a plan that prints records, which binds the text's groups.
 * Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status windows_find_backward(const struct plan *plan, const struct partial *before,
				  struct partial *later, size_t *offset);

/* ---- of a group, or of all records ---- */

#define GROUP_WINDOW_NVALUES 14    /* numbers in line */
#define GROUP_WINDOW_NWEIGHTED 8   /* of a weighted mean */
#define GROUP_WINDOW_NTEXTS 4      /* and texts, of */
#define GROUP_WINDOW_TEXT_NBYTES 24
#define GROUP_WINDOW_ELSEWHERE 255 /* the values are not in line */
#define GROUP_WINDOW_NONE 255      /* no value */

/* After the kinds, the values lie in a ring of window->cell_nvalues: texts of GROUP_WINDOW_TEXT_NBYTES each, or significands. There is
 * the address of a struct window_fold, where they are not in line; or, where no value is, with NEW_EWMA, the struct ewma of
 * those so far. */
struct group_window {
	uint8_t n; /* values; or GROUP_WINDOW_ELSEWHERE */
	uint8_t first; /* where the oldest is */
	uint16_t scale; /* the largest of all numbers so far, in the window or before it */
	uint8_t kinds
		[]; /* of each value: a text's length, a number's scale, or GROUP_WINDOW_NONE */
};

/* Sets the window's place in a group. */
void group_window_plan(struct plan_window *window, uint32_t offset);

/* The bytes that a group has there. */
size_t group_window_nbytes(const struct plan_window *window);

static inline struct group_window *group_window(struct group *g, const struct plan_window *window)
{
	return (struct group_window *)((char *)g + window->cell_offset);
}

/* Where a window is. All that differs between the whole input, groups and runs. */
struct window_place {
	struct window_folds *folds; /* what is not in line from now on belongs to these */
	const struct plan_window *window;
	struct group_window *w;
};

/* Frees all of them. */
void window_folds_free(struct window_folds *folds);

/* Sets *out to what the window has kept; it is not in line from then on. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_window_fold(const struct window_place *at, struct window_fold **out);

/* Adds the value of the next record. time: as of window_add. Errors: as above. */
enum status group_window_add(const struct window_place *at, const struct recent_value *value,
			     const struct recent_value *time);

/* Adds all that `later` holds. scale: the largest of the numbers of its column up to there. Errors: as above. */
enum status group_window_add_fold(const struct window_place *at, const struct window_fold *later,
				  int scale);

/* Adds what the same window of a later group has. Errors: as above. */
enum status group_window_combine(const struct window_place *at, const struct group_window *later);

/* Adds the values of a window to `to`. Errors: STATUS_NO_MEMORY. */
enum status group_window_add_to(const struct group_window *w, struct window_fold *to);

/* The value that comes before the next record by as many as the window needs; none, an empty text, if there are fewer.
 * Valid until the next call. */
struct recent_value group_window_oldest(const struct window_place *at);

/* These take the next record's number into a window, and write what the new column shows, in no more than NEW_NUMBER_NBYTES;
 * nothing where there is no number. No terminator. time: if the window is by time. d: the column's. They return the text's end, or
 * NULL where memory ran out. The row of the column's kind in emit/new_fields.c names its function. */
typedef char *window_show(const struct window_place *at, const struct recent_value *value,
			  const struct recent_value *time, struct decimal_writer *d, char *to);
window_show rolling_show, change_show, ewma_show;

/* The numbers of a block's records in order, as vectors of recent.h, and what the window of each
 * holds. */
struct window_block {
	unsigned n;
	int64_t significand[ROW_BLOCK_NROWS];
	uint8_t scale[ROW_BLOCK_NROWS];
	int64_t time[ROW_BLOCK_NROWS]; /* if the window is by time: as the numbers, none missing */
	uint8_t time_scale[ROW_BLOCK_NROWS];
	uint64_t count
		[ROW_BLOCK_NROWS]; /* of the numbers in the window; with extremes, 0 if it has no number */
	int64_t total[ROW_BLOCK_NROWS]; /* their sum, or their extreme, x 10^total_scale */
	int total_scale; /* at most DECIMAL_POWER_MAX */
};

/* Makes b those of some rows, in which x has numbers; or returns false, where another value is among
 * them. skips_missing: without those that are missing. */
bool window_block_read(struct window_block *b, const struct simd_numbers *x, uint64_t rows,
		       bool skips_missing);

/* Adds their times. Returns false where one is no short number, or missing. */
bool window_block_read_times(struct window_block *b, const struct simd_numbers *times,
			     uint64_t rows);

/* Moves a window on by the block's records, as rolling_show does with each, and sets *is_done; or adds none of
 * them, where the window shows more than such a total, or is not of short numbers only. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status rolling_slide(const struct window_place *at, struct window_block *b, bool *is_done);

/* ---- of rows ---- */

struct row_folder;

/* Sets *is to whether a row has a value of column c, which does not parse; one with a NUL is invalid. Errors: STATUS_NO_MEMORY. */
static inline enum status row_is_there(const struct row_block *b, size_t c, unsigned row, struct scratch *scratch, bool *is)
{
	const char *text;
	size_t nbytes;
	enum row_value kind = row_block_value(b, c, row, &text, &nbytes);
	struct value v;

	*is = kind == ROW_PRESENT && !memchr(text, '\0', nbytes);
	if (kind != ROW_QUOTED)
		return STATUS_OK;
	TRY(row_block_read(b, c, row, false, scratch, &v));
	*is = v.kind == DECIMAL_INVALID && !memchr(v.text, '\0', v.nbytes);
	return STATUS_OK;
}

/* The numbers of column c in a block; of one that does not parse, none. */
const struct simd_numbers *row_window_numbers(struct row_block *b, size_t c);

/* What row_number_value does where the row has no number of the fast path. */
enum status row_other_number(const struct row_block *b, size_t c, const struct simd_numbers *x,
			     unsigned row, struct scratch *scratch, struct recent_value *out);

/* Sets *out to the number of column c in a row, or to no value: text that is no number was counted where the
 * column was folded. In a column that does not parse, each value is 0. x: row_window_numbers of the column. The value's text is in the
 * block or the scratch. Errors: STATUS_NO_MEMORY. */
static inline enum status row_number_value(const struct row_block *b, size_t c,
					   const struct simd_numbers *x, unsigned row,
					   struct scratch *scratch, struct recent_value *out)
{
	if (!(x->numbers >> row & 1))
		return row_other_number(b, c, x, row, scratch, out);
	out->kind = RECENT_NUMBER;
	out->number.significand = x->significand[row];
	out->number.scale = x->scale[row];
	return STATUS_OK;
}

/* Sets *out to the field of column c in a row as it is printed. skips_missing: or to no value, if it is missing.
 * Errors: STATUS_NO_MEMORY. */
enum status row_text_value(struct row_block *b, size_t c, unsigned row, bool skips_missing,
			   struct scratch *scratch, struct recent_value *out);

/* Adds the values of some of the block's rows to the plan's windows: by group, if the plan has keys, those of
 * f->groups. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status row_windows_fold(struct row_folder *f, uint64_t rows, struct partial *out);

/* Ends the fold of a text: finds out how far the windows of it are known without the records before.
 * Errors: STATUS_NO_MEMORY. */
enum status row_windows_end(const struct plan *plan, struct partial *out);

/* Adds all rows of a run, without keys and conditions. Errors: STATUS_NO_MEMORY. */
enum status row_windows_fold_run(struct row_folder *f, const char *text, const struct row_run *run,
				 struct partial *out);
