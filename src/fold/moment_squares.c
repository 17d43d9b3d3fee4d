/* SPDX-License-Identifier: MIT
 *
 * moment_squares.c - the exact sum of the squares of a column's numbers. See moment.h.
 *
 * A significand is below 10^18 < 2^60, its square below 2^120: 64 of them fit in 128 bits, and
 * 2^64 of them in 192. So there is one sum of 192 bits for each scale, as there is one bin for
 * each scale in number/decimal.h. The square of a wide number, 94 limbs in base 10^9, has 188;
 * wide squares are added limb by limb.
 */
#include <stdlib.h>
#include <string.h>

#include "fold/moment.h"

#define WIDE_SQUARE_NLIMBS (2 * WIDE_NLIMBS) /* limb i weighs 10^(9 (i - 2 WIDE_POINT)) */

struct sum192 {
	uint128 low;
	uint64_t high;
};

struct squares {
	uint32_t scales; /* bit s: sum[s] is defined. Its numbers had scale s. */
	struct sum192 sum[DECIMAL_NSCALES];
	int64_t *wide; /* WIDE_SQUARE_NLIMBS canonical limbs; NULL: 0. Owned. */
};

static void squares_clear(void *cell)
{
	struct squares *s = cell;

	s->scales = 0;
	if (s->wide)
		memset(s->wide, 0, WIDE_SQUARE_NLIMBS * sizeof *s->wide);
}

static void squares_free(void *cell)
{
	free(((struct squares *)cell)->wide);
}

static void add_sum(struct squares *s, int scale, uint128 low, uint64_t high)
{
	struct sum192 *to = &s->sum[scale];

	if (!(s->scales >> scale & 1)) {
		s->scales |= (uint32_t)1 << scale;
		*to = (struct sum192){0, 0};
	}
	to->low += low;
	to->high += high + (to->low < low);
}

static void squares_add(void *cell, const int64_t *significand, const uint8_t *scale, uint64_t rows)
{
	while (rows) { /* the rows that have the scale of the first that is left */
		int first = __builtin_ctzll(rows);
		uint64_t others = 0;
		uint128 sum = 0;
		for (uint64_t left = rows; left; left &= left - 1) {
			int i = __builtin_ctzll(left);
			if (scale[i] == scale[first])
				sum += (uint128)((int128)significand[i] * significand[i]);
			else
				others |= left & -left;
		}
		add_sum(cell, scale[first], sum, 0);
		rows = others;
	}
}

static enum status need_wide(struct squares *s)
{
	if (!s->wide)
		s->wide = calloc(WIDE_SQUARE_NLIMBS, sizeof *s->wide);
	return s->wide ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Makes all limbs, which are not negative, smaller than the base. */
static void carry(int64_t *limb)
{
	for (int i = 0; i < WIDE_SQUARE_NLIMBS - 1; i++) {
		limb[i + 1] += limb[i] / WIDE_LIMB_BASE;
		limb[i] %= WIDE_LIMB_BASE;
	}
}

/* All limbs of x have one sign, so no product is negative. A product is below 10^18, and a
 * carry after each row keeps every limb below 2^61. */
static enum status squares_add_wide(void *cell, const struct wide *x)
{
	struct squares *s = cell;

	if (need_wide(s) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (int i = 0; i < WIDE_NLIMBS; i++) {
		if (x->limb[i] == 0)
			continue;
		for (int j = 0; j < WIDE_NLIMBS; j++)
			s->wide[i + j] += x->limb[i] * x->limb[j];
		carry(s->wide);
	}
	return STATUS_OK;
}

static enum status squares_combine(void *cell, const void *later_cell)
{
	struct squares *s = cell;
	const struct squares *later = later_cell;

	for (int scale = 0; scale < DECIMAL_NSCALES; scale++)
		if (later->scales >> scale & 1)
			add_sum(s, scale, later->sum[scale].low, later->sum[scale].high);
	if (!later->wide)
		return STATUS_OK;
	if (need_wide(s) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (int i = 0; i < WIDE_SQUARE_NLIMBS; i++)
		s->wide[i] += later->wide[i];
	carry(s->wide);
	return STATUS_OK;
}

/* *to += sum x 10^ndigits */
static void add_to_natural(struct natural *to, const struct sum192 *sum, int ndigits)
{
	struct natural high, two64, part;

	natural_set(&part, sum->high);
	natural_set(&two64, (uint128)1 << 64);
	natural_multiply(&high, &part, &two64);
	natural_multiply(&part, &high, &two64);
	natural_set(&high, sum->low);
	natural_add(&part, &high);
	natural_shift(&part, ndigits);
	natural_add(to, &part);
}

void squares_sum(const struct squares *s, int scale, struct natural *out)
{
	int from = 2 * (WIDE_POINT - scale / WIDE_LIMB_DIGITS); /* limbs below it are 0 */

	natural_set(out, 0);
	if (s->wide)
		natural_set_limbs(out, s->wide + from, WIDE_SQUARE_NLIMBS - from);
	for (int i = 0; i < DECIMAL_NSCALES; i++)
		if (s->scales >> i & 1)
			add_to_natural(out, &s->sum[i], 2 * (scale - i));
}

const struct moment_ops moment_squares = {
	.moment = MOMENT_SQUARES,
	.cell_nbytes = sizeof(struct squares),
	.clear = squares_clear,
	.add = squares_add,
	.add_wide = squares_add_wide,
	.combine = squares_combine,
	.free = squares_free,
};
