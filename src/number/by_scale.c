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
	if (!grown)
		return STATUS_NO_MEMORY;
	if (b->capacity == 0)
		*grown = b->one;
	b->many = grown;
	b->capacity = capacity;
	return STATUS_OK;
}

union scale_value *by_scale_at(struct by_scale *b, int scale, bool *is_new)
{
	uint32_t bit = (uint32_t)1 << scale, n = (uint32_t)__builtin_popcount(b->scales);
	uint32_t i = (uint32_t)__builtin_popcount(b->scales & (bit - 1));
	union scale_value *values;

	*is_new = !(b->scales & bit);
	if (*is_new && grow(b, n) != STATUS_OK)
		return NULL;
	values = b->capacity ? b->many : &b->one;
	if (*is_new)
		memmove(values + i + 1, values + i, (n - i) * sizeof *values);
	b->scales |= bit;
	return values + i;
}

/* ---- bins ---- */

enum status by_scale_add_bin(struct by_scale *b, int scale, const struct decimal_bin *later)
{
	bool is_new;
	union scale_value *value = by_scale_at(b, scale, &is_new);

	if (!value)
		return STATUS_NO_MEMORY;
	if (is_new)
		value->bin = *later;
	else
		decimal_bin_combine(&value->bin, later);
	return STATUS_OK;
}

enum status by_scale_add(struct by_scale *b, struct decimal x)
{
	struct decimal_bin one = {x.significand, x.significand, x.significand};

	b->count++;
	return by_scale_add_bin(b, x.scale, &one);
}

enum status by_scale_add_fold(struct by_scale *b, const struct decimal_fold *later)
{
	enum status status = STATUS_OK;

	b->count += later->count;
	for (uint32_t left = later->scales; left && status == STATUS_OK; left &= left - 1) {
		int scale = __builtin_ctz(left);
		status = by_scale_add_bin(b, scale, &later->bin[scale]);
	}
	return status;
}

enum status by_scale_combine(struct by_scale *b, const struct by_scale *later)
{
	const union scale_value *value = by_scale_values(later);
	enum status status = STATUS_OK;

	b->count += later->count;
	for (uint32_t left = later->scales; left && status == STATUS_OK; left &= left - 1)
		status = by_scale_add_bin(b, __builtin_ctz(left), &value++->bin);
	return status;
}
