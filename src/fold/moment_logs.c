/* SPDX-License-Identifier: MIT
 *
 * moment_logs.c - the sums of the logarithms and of the reciprocals of a column's positive numbers, of which the geometric and
 * the harmonic mean are made. See moment.h, number/logarithm.h and number/reciprocal.h. The other numbers have none; the
 * column's least number tells that there are any.
 */
#include <stdlib.h>
#include <string.h>

#include "fold/moment.h"
#include "number/exact_text.h"
#include "number/logarithm.h"

/* ---- logarithms ---- */

static void logs_clear(void *cell)
{
	memset(cell, 0, sizeof(struct logarithm_sum));
}

static void logs_free(void *cell)
{
	(void)cell;
}

static enum status logs_add(void *cell, const int64_t *significand, const uint8_t *scale,
			    uint64_t rows)
{
	logarithm_add_rows(cell, significand, scale, rows);
	return STATUS_OK;
}

/* The power of ten that digit `digit` of limb `limb` weighs; digit 0 is the limb's highest. */
static int weight(int limb, int digit)
{
	return (limb - WIDE_POINT) * WIDE_LIMB_DIGITS + WIDE_LIMB_DIGITS - 1 - digit;
}

/* Adds the logarithm of the first 38 digits: what is behind them is less than 10^-37 of the number. */
static enum status logs_add_wide(void *cell, const struct wide *x, int scale)
{
	const uint128 ten18 = 1000000000000000000;
	uint128 significand = 0;
	int limb = WIDE_NLIMBS - 1, digit = 0, last = 0;

	(void)scale;
	while (limb > 0 && x->limb[limb] == 0)
		limb--;
	if (x->limb[limb] <= 0)
		return STATUS_OK;
	for (; limb >= 0 && significand < ten18 * ten18 * 10; limb--) {
		int64_t unit = WIDE_LIMB_BASE / 10;
		for (digit = 0; unit > 0 && significand < ten18 * ten18 * 10; unit /= 10, digit++) {
			significand = significand * 10 + (uint128)(x->limb[limb] / unit % 10);
			last = weight(limb, digit);
		}
	}
	logarithm_add(cell, significand, last);
	return STATUS_OK;
}

static enum status logs_combine(void *cell, void *later)
{
	logarithm_combine(cell, later);
	return STATUS_OK;
}

static bool logs_is_empty(const void *cell)
{
	const struct logarithm_sum *sum = cell;

	return !sum->mantissas.low && !sum->mantissas.high && !sum->exponents2 && !sum->exponents10;
}

/* Whether count numbers may have these sums. */
static bool is_of(const struct logarithm_sum *sum, uint64_t count)
{
	const int128 most2 = (int128)count * LOGARITHM_EXPONENT2_MAX, most10 = (int128)count * LOGARITHM_EXPONENT10_MAX;

	return logarithm_mantissas_fit(sum, count) && sum->exponents2 >= 0 && sum->exponents2 <= most2 &&
	       sum->exponents10 >= -most10 && sum->exponents10 <= most10;
}

static void logs_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct logarithm_sum later = {.exponents2 = 0}, *sum = j->reads ? &later : cell;

	json_mark(j, "[");
	exact_sum192(json_next(j), &sum->mantissas);
	exact_int128(json_next(j), &sum->exponents2);
	exact_int128(json_next(j), &sum->exponents10);
	json_mark(j, "]");
	if (json_has_read(j) && !is_of(&later, source->count))
		json_fail(j, STATUS_DAMAGED);
	if (json_has_read(j))
		logs_combine(cell, &later);
}

const struct moment_ops moment_logs = {
	.moment = MOMENT_LOGS,
	.cell_nbytes = sizeof(struct logarithm_sum),
	.clear = logs_clear,
	.add = logs_add,
	.add_wide = logs_add_wide,
	.combine = logs_combine,
	.free = logs_free,
	.is_empty = logs_is_empty,
	.text = logs_text,
};

/* ---- reciprocals ---- */

static void reciprocals_clear(void *cell)
{
	struct reciprocals *r = cell;

	memset(&r->sum, 0, sizeof r->sum);
	if (r->wide)
		big_decimal_set(r->wide, (struct decimal){0, 0});
}

static void reciprocals_free(void *cell)
{
	free(((struct reciprocals *)cell)->wide);
}

static enum status reciprocals_add(void *cell, const int64_t *significand, const uint8_t *scale, uint64_t rows)
{
	struct reciprocals *r = cell;

	for (; rows; rows &= rows - 1) {
		const int i = __builtin_ctzll(rows);
		reciprocal_add(&r->sum, (struct decimal){significand[i], scale[i]});
	}
	return STATUS_OK;
}

static enum status reciprocals_add_wide(void *cell, const struct wide *x, int scale)
{
	struct reciprocals *r = cell;
	struct big_decimal value, reciprocal;

	big_decimal_set_wide(&value, x, scale);
	if (value.n.negative || integer_is_zero(&value.n))
		return STATUS_OK;
	reciprocal_of_big(&reciprocal, &value);
	return big_decimal_sum_up(&r->wide, &reciprocal);
}

static enum status reciprocals_combine(void *cell, void *later_cell)
{
	struct reciprocals *r = cell;
	const struct reciprocals *later = later_cell;

	reciprocal_combine(&r->sum, &later->sum);
	return later->wide ? big_decimal_sum_up(&r->wide, later->wide) : STATUS_OK;
}

static bool reciprocals_is_empty(const void *cell)
{
	const struct reciprocals *r = cell;

	return reciprocal_is_zero(&r->sum) && !big_decimal_has(r->wide);
}

static void reciprocals_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct big_decimal wide;
	struct reciprocals later = {.wide = NULL}, *r = j->reads ? &later : cell;

	(void)source;
	json_mark(j, "[");
	exact_words(json_next(j), r->sum.word, RECIPROCAL_NWORDS);
	if (json_item(j, big_decimal_has(r->wide))) {
		later.wide = &wide;
		exact_big(j, r->wide, RECIPROCAL_NPLACES, (WIDE_NLIMBS + RECIPROCAL_NPLACES / WIDE_LIMB_DIGITS) * WIDE_LIMB_DIGITS);
	}
	json_mark(j, "]");
	if (j->reads && later.sum.word[RECIPROCAL_NWORDS - 1] >> 63)
		json_fail(j, STATUS_DAMAGED);
	if (json_has_read(j) && reciprocals_combine(cell, &later) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

const struct moment_ops moment_reciprocals = {
	.moment = MOMENT_RECIPROCALS,
	.cell_nbytes = sizeof(struct reciprocals),
	.clear = reciprocals_clear,
	.add = reciprocals_add,
	.add_wide = reciprocals_add_wide,
	.combine = reciprocals_combine,
	.free = reciprocals_free,
	.is_empty = reciprocals_is_empty,
	.text = reciprocals_text,
};
