/* SPDX-License-Identifier: MIT
 *
 * exact.c - see exact.h.
 */
#include "number/exact.h"

#include <stdlib.h>
#include <string.h>

#include "number/ratio.h"

void exact_free(struct exact *x)
{
	free(x->limbs);
	memset(x, 0, sizeof *x);
}

void exact_clear(struct exact *x)
{
	*x = (struct exact){.limbs = x->limbs};
}

static enum status need_limbs(struct exact *x)
{
	if (!x->limbs)
		x->limbs = malloc(sizeof *x->limbs);
	return x->limbs ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status exact_set(struct exact *x, const struct wide *value, int scale)
{
	int128 fits;
	bool is_long = !wide_to_int128(value, scale, &fits);

	if (is_long && need_limbs(x) != STATUS_OK)
		return STATUS_NO_MEMORY;
	*x = (struct exact){.scale = scale, .is_long = is_long, .value = is_long ? 0 : fits, .limbs = x->limbs};
	if (is_long)
		*x->limbs = *value;
	return STATUS_OK;
}

enum status exact_widen(struct exact *x)
{
	if (x->is_long)
		return STATUS_OK;
	TRY(need_limbs(x));
	wide_set_decimal(x->limbs, x->value, x->scale);
	x->is_long = true;
	return STATUS_OK;
}

enum status exact_raise(struct exact *x, int scale)
{
	int128 value = x->value;

	if (scale <= x->scale)
		return STATUS_OK;
	if (!x->is_long && (wide_scale_is_rounded(scale) || !decimal_rescale(&value, scale - x->scale)) &&
	    exact_widen(x) != STATUS_OK)
		return STATUS_NO_MEMORY;
	x->value = value;
	x->scale = scale;
	return STATUS_OK;
}

enum status exact_add_wide(struct exact *x, const struct wide *y, int scale)
{
	if (exact_widen(x) != STATUS_OK || exact_raise(x, scale) != STATUS_OK)
		return STATUS_NO_MEMORY;
	wide_add(x->limbs, y);
	return STATUS_OK;
}

enum status exact_add_scaled(struct exact *x, int128 significand, int scale)
{
	int128 term = significand, sum;

	TRY(exact_raise(x, scale));
	if (!x->is_long && decimal_rescale(&term, x->scale - scale) &&
	    !__builtin_add_overflow(x->value, term, &sum)) {
		x->value = sum;
		return STATUS_OK;
	}
	TRY(exact_widen(x));
	wide_add_decimal(x->limbs, significand, scale);
	return STATUS_OK;
}

char *exact_write_mean(const struct exact *x, int scale, uint64_t count, char *to)
{
	bool negative = x->value < 0;

	if (count == 0)
		return to;
	if (x->is_long)
		return to + wide_format_mean(x->limbs, scale, count, to);
	return to + ratio_format_short(negative, negative ? -(uint128)x->value : (uint128)x->value, count, x->scale, to);
}
