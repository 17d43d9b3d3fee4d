/* SPDX-License-Identifier: MIT
 *
 * running_ratio.c - see running_ratio.h. The moments of all numbers so far are kept as a column's
 * fold, from which any value can be computed as a result is. That takes microseconds, but
 * while the sums fit in 128 bits, statistic_write_short does it.
 */
#include "emit/running_ratio.h"

#include <string.h>

void running_ratio_free(struct running_ratio *r)
{
	partial_free(&r->so_far);
	memset(r, 0, sizeof *r);
}

enum status running_ratio_begin(struct running_ratio *r, enum new_column_kind kind,
				const struct column_partial *before)
{
	const struct plan plan = {.ncolumns = 1};
	const struct partial one = {.ncolumns = 1, .columns = (struct column_partial *)before};

	r->kind = kind;
	if (partial_need(&r->so_far, &plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	partial_clear(&r->so_far);
	return partial_combine(&r->so_far, &one);
}

enum status running_ratio_add_value(struct running_ratio *r, const struct value *v)
{
	struct column_partial *column = &r->so_far.columns[0];
	struct squares *squares = moments_cell(&column->moments, CELL_SQUARES);

	if (v->kind != DECIMAL_NUMBER || !squares)
		return column_add_number(column, MOMENT_COUNT | MOMENT_SUM | MOMENT_SQUARES, v); /* which makes them */
	if (by_scale_add(&column->fast, v->number) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return squares_add_sum(squares, v->number.scale,
			       (struct sum192){(uint128)((int128)v->number.significand * v->number.significand), 0});
}

/* ---- the text ---- */

/* Sets *out to the moments of a column. Returns false where they do not fit. */
static bool moments_fit(const struct column_partial *column, struct short_moments *out)
{
	struct decimal_total total;

	out->count = column->fast.count;
	if (column_has_wide(column) || !by_scale_total(&column->fast, &total, &out->scale))
		return false;
	out->sum = total.sum;
	return squares_total(moments_cell(&column->moments, CELL_SQUARES), out->scale, &out->squares);
}

char *running_ratio_write(struct running_ratio *r, char *to)
{
	enum operation operation = r->kind == NEW_VAR ? OPERATION_VAR : OPERATION_STDDEV;
	const struct column_partial *column = &r->so_far.columns[0];
	struct short_moments so_far;
	char text[STATISTIC_TEXT_NBYTES], *end = moments_fit(column, &so_far) ? statistic_write_short(operation, &so_far, to) : NULL;
	struct column_moments moments;
	size_t nbytes;

	if (end)
		return end;
	statistic_moments(column, 0, false, &moments);
	statistic_format(operation, &moments, text);
	nbytes = strlen(text);
	memcpy(to, text, nbytes);
	return to + nbytes;
}
