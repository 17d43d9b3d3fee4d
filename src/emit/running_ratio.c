/* SPDX-License-Identifier: MIT
 *
 * running_ratio.c - see running_ratio.h. The moments of all numbers so far are kept as a column's
 * fold, from which any value can be computed as a result is. That takes microseconds, so the sums are
 * kept in 128 bits as well, while they fit: see statistic_write_short.
 */
#include "emit/running_ratio.h"

#include <string.h>

void running_ratio_free(struct running_ratio *r)
{
	partial_free(&r->so_far);
	memset(r, 0, sizeof *r);
}

/* Makes r->so_far the fold `before` alone. */
static enum status copy_fold(struct running_ratio *r, const struct column_partial *before)
{
	const struct plan plan = {.ncolumns = 1};
	const struct partial one = {.ncolumns = 1, .columns = (struct column_partial *)before};

	if (partial_need(&r->so_far, &plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	partial_clear(&r->so_far);
	return partial_combine(&r->so_far, &one);
}

enum status running_ratio_begin(struct running_ratio *r, enum new_column_kind kind,
				const struct column_partial *before)
{
	const struct squares *squares = moments_cell(&before->moments, CELL_SQUARES);
	struct decimal_total total;

	r->kind = kind;
	r->needs = MOMENT_COUNT | MOMENT_SUM | (kind == NEW_MEAN ? 0 : MOMENT_SQUARES);
	r->squares = 0;
	r->fits = !column_has_wide(before) && by_scale_total(&before->fast, &total, &r->scale);
	if (r->fits) {
		r->sum = total.sum;
		r->fits = kind == NEW_MEAN || squares_total(squares, r->scale, &r->squares);
	}
	return copy_fold(r, before);
}

/* *x *= 10^nzeros; false where that does not fit. */
static bool rescale(uint128 *x, int nzeros)
{
	for (; nzeros > 0 && *x != 0; nzeros--)
		if (__builtin_mul_overflow(*x, (uint128)10, x))
			return false;
	return true;
}

/* Gives the short sums a larger scale. */
static bool raise_scale(struct running_ratio *r, int scale)
{
	int more = scale - r->scale;

	r->scale = scale;
	return decimal_rescale(&r->sum, more) && rescale(&r->squares, 2 * more);
}

/* Adds a number to the short sums; false where they do not fit. */
static bool add_short(struct running_ratio *r, struct decimal number)
{
	int128 x = number.significand;
	uint128 square = (uint128)(x < 0 ? -x : x);

	if (number.scale > r->scale && !raise_scale(r, number.scale))
		return false;
	if (!decimal_rescale(&x, r->scale - number.scale) ||
	    __builtin_add_overflow(r->sum, x, &r->sum))
		return false;
	if (r->kind == NEW_MEAN)
		return true;
	square *= square;
	return rescale(&square, 2 * (r->scale - number.scale)) &&
	       !__builtin_add_overflow(r->squares, square, &r->squares);
}

enum status running_ratio_add_number(struct running_ratio *r, struct decimal number)
{
	struct value v = {.kind = DECIMAL_NUMBER, .number = number};

	return running_ratio_add_value(r, &v);
}

enum status running_ratio_add_value(struct running_ratio *r, const struct value *v)
{
	if (v->kind == DECIMAL_NUMBER && r->fits)
		r->fits = add_short(r, v->number);
	else if (v->kind == DECIMAL_WIDE)
		r->fits = false;
	return column_add_number(&r->so_far.columns[0], r->needs, v);
}

/* ---- the text ---- */

char *running_ratio_write(struct running_ratio *r, char *to)
{
	static const enum operation operations[] = {
		[NEW_MEAN] = OPERATION_MEAN, [NEW_VAR] = OPERATION_VAR, [NEW_STDDEV] = OPERATION_STDDEV,
	};
	const struct column_partial *column = &r->so_far.columns[0];
	uint64_t n = column->fast.count + (column->wide ? column->wide->count : 0);
	const struct short_moments so_far = {.count = n, .scale = r->scale, .sum = r->sum, .squares = r->squares};
	char text[STATISTIC_TEXT_NBYTES], *end = r->fits ? statistic_write_short(operations[r->kind], &so_far, to) : NULL;
	struct column_moments moments;
	size_t nbytes;

	if (end)
		return end;
	statistic_moments(column, 0, false, &moments);
	statistic_format(operations[r->kind], &moments, text);
	nbytes = strlen(text);
	memcpy(to, text, nbytes);
	return to + nbytes;
}
