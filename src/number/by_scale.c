/* SPDX-License-Identifier: MIT
 *
 * by_scale.c - see by_scale.h.
 */
#include "number/by_scale.h"

#include <stdlib.h>
#include <string.h>

void by_scale_free(struct by_scale *b)
{
	if (b->capacity)
		free(b->many);
	memset(b, 0, sizeof *b);
}

/* Makes room for a value more than the n that there are. */
static enum status grow(struct by_scale *b, uint32_t n)
{
	uint32_t capacity = n < 2 ? 2 : 2 * n;
	union scale_value *grown;

	if (n < b->capacity || n == 0)
		return STATUS_OK;
	grown = realloc(b->capacity ? b->many : NULL, capacity * sizeof *grown);
	NEED(grown);
	if (b->capacity == 0)
		*grown = b->one;
	b->many = grown;
	b->capacity = capacity;
	return STATUS_OK;
}

static enum status insert_one(struct by_scale *b, int scale, const union scale_value *value)
{
	uint32_t n = (uint32_t)__builtin_popcount(b->scales), i;
	union scale_value *at;

	if (grow(b, n) != STATUS_OK)
		return STATUS_NO_MEMORY;
	at = by_scale_at(b, scale);
	i = (uint32_t)(at - by_scale_values(b));
	memmove(at + 1, at, (n - i) * sizeof *at);
	*at = *value;
	b->scales |= (uint32_t)1 << scale;
	return STATUS_OK;
}

enum status by_scale_insert(struct by_scale *b, uint32_t scales, const union scale_value *value)
{
	enum status status = STATUS_OK;

	for (; scales && status == STATUS_OK; scales &= scales - 1)
		status = insert_one(b, __builtin_ctz(scales), value);
	return status;
}

/* ---- bins ---- */

static const union scale_value no_bin = {.bin = {0, INT64_MAX, INT64_MIN}};

enum status by_scale_add_bin(struct by_scale *b, int scale, const struct decimal_bin *later)
{
	if (by_scale_need(b, (uint32_t)1 << scale, &no_bin) != STATUS_OK)
		return STATUS_NO_MEMORY;
	decimal_bin_combine(&by_scale_at(b, scale)->bin, later);
	return STATUS_OK;
}

enum status by_scale_add(struct by_scale *b, struct decimal x)
{
	struct decimal_bin one = {x.significand, x.significand, x.significand};

	b->count++;
	return by_scale_add_bin(b, x.scale, &one);
}

/* Both add the bins of scales that `later` has, in ascending order: without a search. */

enum status by_scale_add_fold(struct by_scale *b, const struct decimal_fold *later)
{
	union scale_value *value;

	if (by_scale_need(b, later->scales, &no_bin) != STATUS_OK)
		return STATUS_NO_MEMORY;
	value = b->capacity ? b->many : &b->one;
	for (uint32_t left = b->scales; left; left &= left - 1, value++)
		if (later->scales & left & -left)
			decimal_bin_combine(&value->bin, &later->bin[__builtin_ctz(left)]);
	b->count += later->count;
	return STATUS_OK;
}

enum status by_scale_combine(struct by_scale *b, const struct by_scale *later)
{
	const union scale_value *from = by_scale_values(later);
	union scale_value *value;

	if (by_scale_need(b, later->scales, &no_bin) != STATUS_OK)
		return STATUS_NO_MEMORY;
	value = b->capacity ? b->many : &b->one;
	for (uint32_t left = b->scales; left; left &= left - 1, value++)
		if (later->scales & left & -left)
			decimal_bin_combine(&value->bin, &from++->bin);
	b->count += later->count;
	return STATUS_OK;
}

/* Adds a bin to *t. nzeros: how many digits its scale is short of that of *t. */
static bool total_add(struct decimal_total *t, const struct decimal_bin *bin, int nzeros,
		      bool first)
{
	struct decimal_total x = {bin->sum, bin->min, bin->max};

	if (!decimal_rescale(&x.sum, nzeros) || !decimal_rescale(&x.min, nzeros) ||
	    !decimal_rescale(&x.max, nzeros))
		return false;
	t->min = first || x.min < t->min ? x.min : t->min;
	t->max = first || x.max > t->max ? x.max : t->max;
	return !__builtin_add_overflow(t->sum, x.sum, &t->sum);
}

bool by_scale_total(const struct by_scale *b, struct decimal_total *out, int *scale)
{
	const union scale_value *value = by_scale_values(b);

	*out = (struct decimal_total){0, 0, 0};
	*scale = b->scales ? 31 - __builtin_clz(b->scales) : 0;
	for (uint32_t left = b->scales; left; left &= left - 1, value++)
		if (!total_add(out, &value->bin, *scale - __builtin_ctz(left), left == b->scales))
			return false;
	return true;
}
