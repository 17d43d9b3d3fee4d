/* SPDX-License-Identifier: MIT
 *
 * moment_squares.c - the exact sum of the squares of a column's numbers. See moment.h.
 *
 * A significand is below 10^18 < 2^60, its square below 2^120: 64 of them fit in 128 bits, and
 * 2^64 of them in 192. So there is one sum of 192 bits for each scale, packed like the bins
 * (number/by_scale.h). Those of significands below 2^30 are summed by SIMD (simd/squares.h). The
 * squares of wide numbers are added as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "fold/moment.h"
#include "fold/moment_rows.h"
#include "number/big_decimal.h"
#include "number/by_scale.h"
#include "number/exact_text.h"

#define UNIT_NDIGITS (2 * WIDE_POINT * WIDE_LIMB_DIGITS) /* after the point, of the squares of wide numbers */

struct squares {
	struct by_scale sums;
	struct big_decimal *wide; /* the sum of the squares of wide numbers; NULL: 0. Owned. */
};

static void squares_clear(void *cell)
{
	struct squares *s = cell;

	by_scale_clear(&s->sums);
	if (s->wide)
		big_decimal_set(s->wide, (struct decimal){0, 0});
}

static void squares_free(void *cell)
{
	struct squares *s = cell;

	by_scale_free(&s->sums);
	free(s->wide);
}

enum status squares_add_sum(struct squares *s, int scale, struct sum192 sum)
{
	static const union scale_value none = {.square = {0, 0}};
	struct sum192 *to;

	if (by_scale_need(&s->sums, (uint32_t)1 << scale, &none) != STATUS_OK)
		return STATUS_NO_MEMORY;
	to = &by_scale_at(&s->sums, scale)->square;
	sum192_add(to, sum);
	return STATUS_OK;
}

/* The sum of the squares of the significands in rows. */
static uint128 sum_squares(const int64_t *significand, uint64_t rows)
{
	uint128 sum = 0;

	if (rows != 1 && simd()->sum_squares(significand, rows, &sum))
		return sum;
	for (sum = 0; rows; rows &= rows - 1) {
		int64_t x = significand[__builtin_ctzll(rows)];
		sum += (uint128)((int128)x * x);
	}
	return sum;
}

static enum status squares_add(void *cell, const int64_t *significand, const uint8_t *scale,
			       uint64_t rows)
{
	while (rows) {
		uint64_t alike = moment_rows_alike(scale, rows);
		struct sum192 sum = {sum_squares(significand, alike), 0};
		TRY(squares_add_sum(cell, scale[__builtin_ctzll(rows)], sum));
		rows &= ~alike;
	}
	return STATUS_OK;
}

static enum status squares_add_wide(void *cell, const struct wide *x, int scale)
{
	struct squares *s = cell;
	struct big_decimal root, square;

	big_decimal_set_wide(&root, x, scale);
	big_decimal_multiply(&square, &root, &root);
	return big_decimal_sum_up(&s->wide, &square);
}

static enum status squares_combine(void *cell, void *later_cell)
{
	struct squares *s = cell;
	const struct squares *later = later_cell;
	const union scale_value *value = by_scale_values(&later->sums);
	enum status status = STATUS_OK;

	for (uint32_t left = later->sums.scales; left && status == STATUS_OK; left &= left - 1)
		status = squares_add_sum(s, __builtin_ctz(left), value++->square);
	return status == STATUS_OK && later->wide ? big_decimal_sum_up(&s->wide, later->wide) : status;
}

void squares_sum(const struct squares *s, int scale, struct integer *out)
{
	const union scale_value *value;

	integer_set(out, 0);
	if (!s)
		return;
	value = by_scale_values(&s->sums);
	if (s->wide)
		big_decimal_to_integer(s->wide, 2 * scale, out);
	for (uint32_t left = s->sums.scales; left; left &= left - 1)
		sum192_add_to(out, value++->square, 2 * (scale - __builtin_ctz(left)));
}

/* *to += sum x 10^ndigits; false where that does not fit. */
static bool add_to_total(uint128 *to, const struct sum192 *sum, int ndigits)
{
	uint128 x = sum->low;

	for (; ndigits > 0 && x != 0; ndigits--)
		if (__builtin_mul_overflow(x, (uint128)10, &x))
			return false;
	return sum->high == 0 && !__builtin_add_overflow(*to, x, to);
}

bool squares_total(const struct squares *s, int scale, uint128 *out)
{
	const union scale_value *value;

	*out = 0;
	if (!s)
		return true;
	value = by_scale_values(&s->sums);
	for (uint32_t left = s->sums.scales; left; left &= left - 1)
		if (!add_to_total(out, &value++->square, 2 * (scale - __builtin_ctz(left))))
			return false;
	return !big_decimal_has(s->wide);
}

static bool squares_is_empty(const void *cell)
{
	const struct squares *s = cell;
	const union scale_value *value = by_scale_values(&s->sums);

	for (uint32_t left = s->sums.scales; left; left &= left - 1, value++)
		if (value->square.low || value->square.high)
			return false;
	return !big_decimal_has(s->wide);
}

static enum status read_sum(void *squares, int scale, struct sum192 sum)
{
	return squares_add_sum(squares, scale, sum);
}

static void squares_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct big_decimal wide;
	struct squares *s = cell;

	(void)source;
	json_mark(j, "{");
	exact_sums(json_member(j, "sums"), &s->sums, 2, read_sum, s);
	if (json_may(j, big_decimal_has(s->wide), "wide")) {
		exact_big(j, j->reads ? &wide : s->wide, UNIT_NDIGITS, 2 * WIDE_NLIMBS * WIDE_LIMB_DIGITS);
		if (j->reads && big_decimal_sum_up(&s->wide, &wide) != STATUS_OK)
			json_fail(j, STATUS_NO_MEMORY);
	}
	json_mark(j, "}");
}

const struct moment_ops moment_squares = {
	.moment = MOMENT_SQUARES,
	.cell_nbytes = sizeof(struct squares),
	.clear = squares_clear,
	.add = squares_add,
	.add_wide = squares_add_wide,
	.combine = squares_combine,
	.free = squares_free,
	.is_empty = squares_is_empty,
	.text = squares_text,
};
