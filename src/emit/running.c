/* SPDX-License-Identifier: MIT
 *
 * running.c - see running.h. The total stays in 128 bits while it fits; after that it is wide to
 * the end of the chunk.
 */
#include "emit/running.h"

#include <stdlib.h>
#include <string.h>

void running_free(struct running *r)
{
	free(r->wide);
	memset(r, 0, sizeof *r);
}

static enum status need_wide(struct running *r)
{
	if (!r->wide)
		r->wide = malloc(sizeof *r->wide);
	return r->wide ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Makes the total wide. */
static enum status widen(struct running *r)
{
	if (r->is_wide)
		return STATUS_OK;
	if (need_wide(r) != STATUS_OK)
		return STATUS_NO_MEMORY;
	wide_clear(r->wide);
	wide_add_decimal(r->wide, r->value, r->scale);
	r->is_wide = true;
	return STATUS_OK;
}

enum status running_begin(struct running *r, enum new_column_kind kind,
			  const struct plan_column *column, const struct column_partial *before)
{
	struct decimal_total total;
	struct wide_fold f;

	r->kind = kind;
	r->counts_text = !column->parses;
	r->count = before->fast.count;
	r->is_wide = false;
	if (!column_has_wide(before) && by_scale_total(&before->fast, &total, &r->scale)) {
		r->value = kind == NEW_MIN ? total.min : kind == NEW_MAX ? total.max : total.sum;
		return STATUS_OK;
	}
	column_numbers(before, &f);
	r->count = f.count;
	r->scale = f.scale;
	r->is_wide = !wide_to_int128(fold_total(kind, &f), f.scale, &r->value);
	if (!r->is_wide)
		return STATUS_OK;
	if (need_wide(r) != STATUS_OK)
		return STATUS_NO_MEMORY;
	*r->wide = *fold_total(kind, &f);
	return STATUS_OK;
}

/* Whether a number replaces the minimum or maximum; order: how it compares. */
static bool replaces(const struct running *r, int order)
{
	return r->count == 1 || (r->kind == NEW_MIN ? order < 0 : order > 0);
}

/* Adds x, which has the total's scale. Returns false where the sum does not fit. */
static bool add_aligned(struct running *r, int128 x)
{
	int128 sum;

	if (r->kind != NEW_SUM) {
		if (replaces(r, x < r->value ? -1 : x > r->value))
			r->value = x;
		return true;
	}
	if (__builtin_add_overflow(r->value, x, &sum))
		return false;
	r->value = sum;
	return true;
}

static void add_wide(struct running *r, const struct wide *x)
{
	if (r->kind == NEW_SUM)
		wide_add(r->wide, x);
	else if (replaces(r, wide_compare(x, r->wide)))
		*r->wide = *x;
}

/* Adds a number in 128 bits. Returns false where it does not fit; the total is then unchanged, but
 * its scale may have grown. */
static bool add_fast(struct running *r, struct decimal number)
{
	int128 x = number.significand, value = r->value;

	if (r->is_wide)
		return false;
	if (number.scale > r->scale) {
		if (!decimal_rescale(&value, number.scale - r->scale))
			return false;
		r->value = value;
		r->scale = number.scale;
	}
	return decimal_rescale(&x, r->scale - number.scale) && add_aligned(r, x);
}

enum status running_add_number(struct running *r, struct decimal number)
{
	struct wide x;

	r->count++;
	if (r->kind == NEW_COUNT || add_fast(r, number))
		return STATUS_OK;
	if (widen(r) != STATUS_OK)
		return STATUS_NO_MEMORY;
	wide_clear(&x);
	wide_add_decimal(&x, number.significand, number.scale);
	add_wide(r, &x);
	if (number.scale > r->scale)
		r->scale = number.scale;
	return STATUS_OK;
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
	if (widen(r) != STATUS_OK)
		return STATUS_NO_MEMORY;
	add_wide(r, &x);
	if (scale > r->scale)
		r->scale = scale;
	return STATUS_OK;
}
