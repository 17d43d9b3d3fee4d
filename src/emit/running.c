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

enum status running_begin(struct running *r, enum new_column_kind kind,
			  const struct plan_column *column, const struct column_partial *before)
{
	struct decimal_total total;
	struct wide_fold f;

	r->kind = kind;
	r->counts_text = !column->parses;
	r->count = before->fast.count;
	exact_clear(&r->total);
	if (!column_has_wide(before) && by_scale_total(&before->fast, &total, &r->total.scale)) {
		r->total.value = kind == NEW_MIN ? total.min : kind == NEW_MAX ? total.max : total.sum;
		return STATUS_OK;
	}
	column_numbers(before, &f);
	r->count = f.count;
	return exact_set(&r->total, fold_total(kind, &f), f.scale);
}

/* Whether a number replaces the minimum or maximum; order: how it compares. */
static bool replaces(const struct running *r, int order)
{
	return r->count == 1 || (r->kind == NEW_MIN ? order < 0 : order > 0);
}

static enum status add_wide(struct running *r, const struct wide *x, int scale)
{
	struct exact *total = &r->total;

	if (r->kind != NEW_MIN && r->kind != NEW_MAX)
		return exact_add_wide(total, x, scale);
	TRY(exact_widen(total));
	TRY(exact_raise(total, scale));
	if (replaces(r, wide_compare(x, total->limbs)))
		*total->limbs = *x;
	return STATUS_OK;
}

enum status running_add_number(struct running *r, struct decimal number)
{
	struct exact *total = &r->total;
	int128 x = number.significand;
	struct wide wide;

	r->count++;
	if (r->kind == NEW_COUNT)
		return STATUS_OK;
	if (r->kind == NEW_SUM || r->kind == NEW_MEAN)
		return exact_add(total, number);
	TRY(exact_raise(total, number.scale));
	if (!total->is_long && decimal_rescale(&x, total->scale - number.scale)) {
		if (replaces(r, x < total->value ? -1 : x > total->value))
			total->value = x;
		return STATUS_OK;
	}
	wide_set_decimal(&wide, number.significand, number.scale);
	return add_wide(r, &wide, number.scale);
}

enum status running_add_value(struct running *r, const struct value *v)
{
	struct wide x;
	int scale;

	if (v->kind == DECIMAL_NUMBER)
		return running_add_number(r, v->number);
	if (v->kind == DECIMAL_INVALID && r->counts_text && !memchr(v->text, '\0', v->nbytes))
		r->count++;
	if (v->kind != DECIMAL_WIDE || wide_parse(v->text, v->nbytes, &x, &scale) != STATUS_OK)
		return STATUS_OK;
	r->count++;
	return add_wide(r, &x, scale);
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
	struct squares *squares = moments_cell(&r->so_far.moments, CELL_SQUARES);

	if (v->kind != DECIMAL_NUMBER || !squares)
		return column_add_number(&r->so_far, MOMENT_COUNT | MOMENT_SUM | MOMENT_SQUARES, v); /* which makes them */
	TRY(by_scale_add(&r->so_far.fast, v->number));
	return squares_add_sum(squares, v->number.scale,
			       (struct sum192){(uint128)((int128)v->number.significand * v->number.significand), 0});
}

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

char *running_spread_write(const struct running_spread *r, enum new_column_kind kind, char *to)
{
	enum operation operation = kind == NEW_VAR ? OPERATION_VAR : OPERATION_STDDEV;
	struct short_moments so_far;
	char text[STATISTIC_TEXT_NBYTES], *end = moments_fit(&r->so_far, &so_far) ? statistic_write_short(operation, &so_far, to) : NULL;
	struct column_moments moments;
	size_t nbytes;

	if (end)
		return end;
	statistic_moments(&r->so_far, 0, false, &moments); /* takes microseconds */
	statistic_format(operation, &moments, text);
	nbytes = strlen(text);
	memcpy(to, text, nbytes);
	return to + nbytes;
}
