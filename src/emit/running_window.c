/* SPDX-License-Identifier: MIT
 *
 * running_window.c - see running_window.h. A sum takes the new value in and the oldest out, exactly, so it
 * is added up only at a text's begin.
 */
#include "emit/running_window.h"

#include <string.h>

#include "emit/running_ratio.h"
#include "number/decimal_text.h"

void running_window_free(struct running_window *r)
{
	recent_free(&r->recent);
	window_extremes_free(&r->extremes);
	exact_free(&r->sum);
	memset(r, 0, sizeof *r);
}

/* ---- the sum ---- */

/* Notes that a number of a scale enters or leaves the window. */
static void note_scale(struct running_window *r, int scale, bool leaves)
{
	if (!wide_scale_is_rounded(scale))
		return;
	if (scale > r->coarsest) {
		r->coarsest = scale;
		r->ncoarsest = 0;
	}
	if (scale == r->coarsest)
		r->ncoarsest += leaves ? (uint64_t)-1 : 1;
}

/* Adds or subtracts a number's text. */
static enum status add_long(struct running_window *r, const struct recent_value *v, bool negative)
{
	struct wide x;
	int scale = recent_value_wide(v, &x);

	note_scale(r, scale, negative);
	if (negative)
		wide_negate(&x);
	return exact_add_wide(&r->sum, &x, scale);
}

/* Adds or subtracts a value whose scale is not above r's. */
static inline enum status add(struct running_window *r, const struct recent_value *v, bool negative)
{
	struct decimal number = v->number;

	if (v->kind == RECENT_NONE)
		return STATUS_OK;
	r->count += negative ? (uint64_t)-1 : 1;
	number.significand = negative ? -number.significand : number.significand;
	return v->kind == RECENT_NUMBER ? exact_add(&r->sum, number) : add_long(r, v, negative);
}

/* The scale of a number. */
static int scale_of(const struct recent_value *v)
{
	struct wide ignored;

	if (v->kind == RECENT_TEXT)
		return recent_value_wide(v, &ignored);
	return v->kind == RECENT_NUMBER ? v->number.scale : 0;
}

/* ---- all numbers ---- */

static bool is_extreme(const struct running_window *r)
{
	return r->plan->kind == NEW_ROLLING_MIN || r->plan->kind == NEW_ROLLING_MAX;
}

/* Adds a value of the window to what its values add up to. */
static enum status take_in(struct running_window *r, const struct recent_value *v)
{
	int scale = scale_of(v);

	if (scale > r->sum.scale && exact_raise(&r->sum, scale) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (is_extreme(r))
		return window_extremes_add(&r->extremes, r->plan->kind == NEW_ROLLING_MAX, v);
	return add(r, v, false);
}

static enum status take_in_before(void *context, const struct recent_value *v)
{
	return take_in(context, v);
}

/* Adds some values of the window at once. */
static bool take_in_piece(void *context, const struct recent_sum *some)
{
	struct running_window *r = context;

	if (exact_add_scaled(&r->sum, some->sum, some->scale) != STATUS_OK)
		return false;
	r->count += some->count;
	return true;
}

/* The largest scale of a column's numbers. */
static int largest_scale(const struct column_partial *numbers)
{
	uint32_t scales = numbers->fast.scales;
	int scale = scales ? 31 - __builtin_clz(scales) : 0;

	return column_has_wide(numbers) && numbers->wide->scale > scale ? numbers->wide->scale : scale;
}

enum status running_window_begin(struct running_window *r, const struct window_fold *before,
				 const struct column_partial *numbers)
{
	enum status status;

	r->plan = before->plan;
	r->count = 0;
	r->coarsest = 0;
	r->ncoarsest = 0;
	exact_clear(&r->sum);
	if (exact_raise(&r->sum, largest_scale(numbers)) != STATUS_OK)
		return STATUS_NO_MEMORY;
	r->mean = before->mean;
	recent_clear(&r->recent);
	r->recent.is_last = true;
	if (r->plan->kind == NEW_EWMA) {
		struct window_fold mean = {.plan = r->plan, .mean.is_set = false};
		status = window_combine(&mean, before);
		r->mean = mean.mean;
		return status;
	}
	if (is_extreme(r))
		return window_extremes_begin(&r->extremes, r->plan->kind == NEW_ROLLING_MAX, &before->recent);
	status = recent_append(&r->recent, &before->recent);
	if (status == STATUS_OK && !plan_window_is_of_text(r->plan))
		status = recent_each_piece(&before->recent, take_in_piece, take_in_before, r);
	return status;
}

/* Moves the window on by a record. */
static enum status slide(struct running_window *r, const struct recent_value *v)
{
	enum status status = STATUS_OK;

	if (is_extreme(r)) {
		window_extremes_keep(&r->extremes, r->plan->nrows - 1);
		return take_in(r, v);
	}
	if (r->recent.nvalues == r->plan->nrows) {
		struct recent_value oldest = recent_oldest(&r->recent);
		status = add(r, &oldest, true);
		recent_keep(&r->recent, r->plan->nrows - 1);
	}
	if (status == STATUS_OK)
		status = take_in(r, v);
	return status == STATUS_OK ? recent_push(&r->recent, v) : status;
}

/* ---- the text ---- */

static char *write_extreme(const struct running_window *r, char *to)
{
	const struct recent_value *x = window_extremes_get(&r->extremes);
	int128 value;
	struct wide wide;

	if (!x)
		return to;
	value = x->number.significand;
	if (x->kind == RECENT_NUMBER && !wide_scale_is_rounded(r->sum.scale) && decimal_rescale(&value, r->sum.scale - x->number.scale))
		return decimal_write(to, value, r->sum.scale);
	recent_value_wide(x, &wide);
	return to + wide_format(&wide, r->sum.scale, to);
}

static bool skip_piece(void *context, const struct recent_sum *some)
{
	(void)context;
	(void)some;
	return true; /* none of its numbers was rounded */
}

static enum status note_value(void *context, const struct recent_value *v)
{
	note_scale(context, scale_of(v), false);
	return STATUS_OK;
}

/* The largest scale of the window's numbers that were rounded; without any, where one was before, the least. */
static int window_scale(struct running_window *r)
{
	if (r->coarsest && r->ncoarsest == 0) {
		r->coarsest = 0;
		recent_each_piece(&r->recent, skip_piece, note_value, r);
	}
	if (r->coarsest)
		return r->coarsest;
	return wide_scale_is_rounded(r->sum.scale) ? WIDE_SCALE_MAX + 1 : r->sum.scale;
}

static char *write_sum_or_mean(struct running_window *r, char *to)
{
	int scale = r->sum.is_long ? window_scale(r) : 0;

	return r->plan->kind == NEW_ROLLING_MEAN ? exact_write_mean(&r->sum, scale, r->count, to)
						 : exact_write_sum(&r->sum, scale, r->count, to);
}

char *running_window_write(struct running_window *r, const struct recent_value *v, char *to)
{
	if (r->plan->kind == NEW_EWMA) {
		window_weigh(&r->mean, r->plan, v);
		return ewma_write(&r->mean, to);
	}
	if (slide(r, v) != STATUS_OK)
		return NULL;
	if (is_extreme(r))
		return write_extreme(r, to);
	return write_sum_or_mean(r, to);
}

/* ---- fields ---- */

enum status running_window_field(struct running_window *r, const struct recent_value *value,
				 struct recent_value *out)
{
	static const struct recent_value none = {.kind = RECENT_TEXT, .text = ""};

	if (r->plan->kind == NEW_LAG) {
		recent_keep(&r->recent, r->plan->nrows); /* without what was shown last */
		if (recent_push(&r->recent, value) != STATUS_OK)
			return STATUS_NO_MEMORY;
		*out = r->recent.nvalues > r->plan->nrows ? recent_oldest(&r->recent) : none;
		return STATUS_OK;
	}
	if (value->kind == RECENT_TEXT) {
		*out = *value;
		recent_keep(&r->recent, 0);
		return recent_push(&r->recent, value);
	}
	*out = r->recent.nvalues ? recent_oldest(&r->recent) : none;
	return STATUS_OK;
}
