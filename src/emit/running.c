/* SPDX-License-Identifier: MIT
 *
 * running.c - see running.h.
 */
#include "emit/running.h"

#include <string.h>

#include "fold/statistic.h"

/* ---- totals ---- */

void running_free(void *r)
{
	exact_free(&((struct running *)r)->total);
	memset(r, 0, sizeof(struct running));
}

/* Gives the total the largest scale, at which it prints, unless a number was rounded. */
static enum status raise_total(struct running *r)
{
	return wide_scale_is_rounded(r->scale) ? STATUS_OK : exact_raise(&r->total, r->scale);
}

enum status running_begin(struct running *r, enum new_column_kind kind,
			  const struct plan_column *column, const struct column_partial *before)
{
	struct number_sums numbers;

	numbers_get(&before->numbers, &numbers);
	r->kind = kind;
	r->counts_text = !column->parses;
	r->count = numbers.count;
	r->scale = numbers.scale;
	TRY(exact_copy(&r->total, numbers_total(kind, &numbers)));
	return raise_total(r);
}

/* Adds x, whose scale is at most `scale`, or that of a rounded number. */
static enum status add_number(struct running *r, const struct exact *x, int scale)
{
	int order;

	r->count++;
	r->scale = scale > r->scale ? scale : r->scale;
	if (r->kind == NEW_COUNT)
		return STATUS_OK;
	if (r->kind == NEW_SUM || r->kind == NEW_MEAN)
		return exact_add(&r->total, x);
	order = exact_compare(x, &r->total);
	if (r->count == 1 || (r->kind == NEW_MIN ? order < 0 : order > 0))
		TRY(exact_copy(&r->total, x));
	return raise_total(r);
}

enum status running_add_number(struct running *r, struct decimal number)
{
	return add_number(r, &(struct exact){.value = number.significand, .scale = number.scale}, number.scale);
}

enum status running_add_value(struct running *r, const struct value *v)
{
	struct integer room;
	struct exact number;
	int scale;

	if (v->kind == DECIMAL_NUMBER)
		return running_add_number(r, v->number);
	if (v->kind == DECIMAL_INVALID && r->counts_text && !memchr(v->text, '\0', v->nbytes))
		r->count++;
	if (v->kind != DECIMAL_WIDE || exact_parse(v->text, v->nbytes, &room, &number, &scale) != STATUS_OK)
		return STATUS_OK;
	return add_number(r, &number, scale);
}

/* ---- variances ---- */

void running_spread_free(void *r)
{
	column_free(&((struct running_spread *)r)->so_far);
}

enum status running_spread_begin(struct running_spread *r, const struct column_partial *before)
{
	column_clear(&r->so_far);
	return column_combine(&r->so_far, before);
}

enum status running_spread_add(struct running_spread *r, const struct value *v)
{
	const unsigned needs = MOMENT_COUNT | MOMENT_SUM | MOMENT_SQUARES;
	struct exact *squares = moments_cell(&r->so_far.moments, CELL_SQUARES);

	if (v->kind != DECIMAL_NUMBER || !squares)
		return column_add_number(&r->so_far, needs, v); /* which makes them */
	TRY(numbers_add(&r->so_far.numbers, v->number));
	return exact_add_scaled(squares, (int128)v->number.significand * v->number.significand, 2 * v->number.scale);
}

char *running_spread_write(const struct running_spread *r, enum new_column_kind kind, char *to)
{
	enum operation operation = kind == NEW_VAR ? OPERATION_VAR : OPERATION_STDDEV;
	char text[STATISTIC_TEXT_NBYTES];
	struct column_moments moments;
	size_t nbytes;

	statistic_moments(&r->so_far, 0, false, &moments);
	nbytes = (size_t)(statistic_format(operation, &moments, text) - text);
	memcpy(to, text, nbytes);
	return to + nbytes;
}
