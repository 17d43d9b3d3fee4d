/* SPDX-License-Identifier: MIT
 *
 * running.h - results of the numbers so far, record after record: a running total or mean, and a running variance or deviation.
 */
#ifndef GPUSTAT_RUNNING_H
#define GPUSTAT_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "number/exact.h"
#include "query/plan.h"
#include "query/value.h"

/* Longest text of a new column that is a number: the variance of numbers below 10^400 of up to 400 digits after the point is
 * above 10^-840 or 0, and below 10^801; it has up to 17 digits after its zeros. */
#define RUNNING_TEXT_NBYTES 896

/* The state of one running total. Zeroed: owns nothing. */
struct running {
	enum new_column_kind kind; /* NEW_SUM ... NEW_MEAN */
	bool counts_text;   /* the column does not parse: any value counts */
	uint64_t count;     /* numbers so far */
	int scale;          /* the largest of theirs, as in struct numbers */
	struct exact total; /* owned */
};

/* Returns the sum, minimum or maximum of numbers. */
static inline const struct exact *numbers_total(enum new_column_kind kind, const struct number_sums *n)
{
	return kind == NEW_MIN ? &n->min : kind == NEW_MAX ? &n->max : &n->sum;
}

/* Frees what r, a struct running, owns. r may be zeroed. */
void running_free(void *r);

/* Makes r the total of all numbers in before, the fold of the records so far. column: the plan's.
 * Keeps r's memory. Errors: STATUS_NO_MEMORY. */
enum status running_begin(struct running *r, enum new_column_kind kind,
			  const struct plan_column *column, const struct column_partial *before);

/* Adds the next value; missing values and text change nothing. Errors: STATUS_NO_MEMORY. */
enum status running_add_value(struct running *r, const struct value *v);

/* Like running_add_value, for a number of the fast path. */
enum status running_add_number(struct running *r, struct decimal number);

/* Like running_add_number, with the common cases inline: a sum, and extremes of numbers that have no
 * more digits after the point than those before. */
static inline enum status running_add_decimal(struct running *r, struct decimal number)
{
	struct exact *total = &r->total;
	int nplaces = total->scale - number.scale;
	int128 x = number.significand;

	if (r->kind == NEW_SUM || r->kind == NEW_MEAN) {
		r->count++;
		r->scale = number.scale > r->scale ? number.scale : r->scale;
		return exact_add_decimal(total, number);
	}
	if (r->count == 0 || total->is_long || nplaces < 0 || nplaces > DECIMAL_NDIGITS)
		return running_add_number(r, number);
	if (nplaces > 0)
		x *= decimal_powers[nplaces];
	r->count++;
	if (r->kind == NEW_MIN ? x < total->value : r->kind == NEW_MAX && x > total->value)
		total->value = x;
	return STATUS_OK;
}

/* Writes the total in plain decimal at its scale, or the mean as exact_write_mean does; nothing for the minimum, maximum or
 * mean of no numbers. No terminator. Returns the text's end. */
static inline char *running_write(const struct running *r, char text[EXACT_TEXT_NBYTES])
{
	if (r->kind == NEW_COUNT)
		return decimal_write_u64(text, r->count);
	if (r->kind != NEW_SUM && r->count == 0)
		return text;
	if (r->kind == NEW_MEAN)
		return exact_write_mean(&r->total, r->scale, r->count, text);
	return r->kind == NEW_SUM ? exact_write_sum(&r->total, r->scale, r->count, text) : exact_write(&r->total, r->scale, text);
}

/* The numbers of a column so far, of which any statistic is the result of the records so far, exact and rounded once: the same
 * state and formulas as an aggregate's. Zeroed: of no numbers. */
struct running_spread {
	struct column_partial so_far; /* owned */
};

/* Frees what r, a struct running_spread, owns. */
void running_spread_free(void *r);

/* Makes r that of all numbers in before, the fold of the records so far. Keeps r's memory. Errors:
 * STATUS_NO_MEMORY. */
enum status running_spread_begin(struct running_spread *r, const struct column_partial *before);

/* Adds the next value; missing values and text change nothing. Errors: STATUS_NO_MEMORY. */
enum status running_spread_add(struct running_spread *r, const struct value *v);

/* Writes the variance or deviation, in no more than RUNNING_TEXT_NBYTES; nothing if it has no value. No terminator. Returns the
 * text's end. */
char *running_spread_write(const struct running_spread *r, enum new_column_kind kind, char *to);

#endif
