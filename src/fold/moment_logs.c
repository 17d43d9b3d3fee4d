/* SPDX-License-Identifier: MIT
 *
 * moment_logs.c - the sums of the logarithms and of the reciprocals of a column's positive numbers, of which the geometric and
 * the harmonic mean are made. See moment.h, number/logarithm.h and number/reciprocal.h. The other numbers have none; the
 * column's smallest number tells that there are any.
 */
#include <string.h>

#include "fold/groups.h"
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

#define NDIGITS 38 /* of a longer number: what is after them is less than 10^-37 of the number */

/* The number may lack digits for want of places. */
static enum status logs_add_long(void *cell, const struct exact *x)
{
	struct integer n;
	int nzeros, most = EXACT_NPLACES_MAX - x->scale;

	exact_to_integer(x, x->scale, &n);
	if (n.negative || integer_is_zero(&n))
		return STATUS_OK;
	nzeros = NDIGITS - integer_ndigits(&n);
	nzeros = nzeros < most ? nzeros : most;
	integer_shift(&n, nzeros);
	for (int left = -nzeros, ndigits; left > 0; left -= ndigits) {
		ndigits = left < DECIMAL_POWER_MAX ? left : DECIMAL_POWER_MAX;
		integer_divide_short(&n, decimal_powers[ndigits]);
	}
	logarithm_add(cell, integer_low(&n), -(x->scale + nzeros));
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

	return !sum->mantissas[0] && !sum->mantissas[1] && !sum->mantissas[2] && !sum->exponents2 && !sum->exponents10;
}

/* Whether count numbers may have these sums. */
static bool is_of(const struct logarithm_sum *sum, uint64_t count)
{
	const int128 most2 = (int128)count * LOGARITHM_EXPONENT2_MAX, most10 = (int128)count * LOGARITHM_EXPONENT10_MAX;

	return logarithm_mantissas_fit(sum, count) && sum->exponents2 >= 0 && sum->exponents2 <= most2 &&
	       sum->exponents10 >= -most10 && sum->exponents10 <= most10;
}

/* A sum of that many words, which is not negative. */
static void words_text(struct json_text *j, unsigned long *word, int nwords)
{
	struct exact sum = {.scale = 0};
	struct integer n;

	integer_set_words(&n, word, nwords);
	if (!j->reads) {
		sum = exact_view(&n, 0);
		exact_put(j, &sum);
		return;
	}
	exact_get(j, &sum, 1);
	exact_to_integer(&sum, 0, &n);
	if (sum.scale > 0 || !integer_to_words(&n, word, nwords) || n.negative)
		json_fail(j, STATUS_DAMAGED);
	exact_free(&sum);
}

static void logs_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct logarithm_sum later = {.exponents2 = 0}, *sum = j->reads ? &later : cell;

	json_mark(j, "[");
	words_text(json_next(j), sum->mantissas, 3);
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
	.add_long = logs_add_long,
	.combine = logs_combine,
	.free = logs_free,
	.is_empty = logs_is_empty,
	.text = logs_text,
};

/* In a group: struct group_logs. No sum of exponents of fewer than 2^56 numbers is beyond 64 bits. */

static enum status update_group_logs(struct groups *to, struct group *const *groups, size_t c, const struct group_vector *v)
{
	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const int row = __builtin_ctzll(rows);
		struct group_logs *state = group_logs(groups[row], &to->plan->columns[c]);
		struct logarithm_sum sum = group_logs_get(state);
		logarithm_add_rows(&sum, &v->x->significand[row], &v->x->scale[row], 1);
		group_logs_set(state, &sum);
	}
	return STATUS_OK;
}

static enum status add_group_logs(struct groups *to, struct group *g, size_t c, const void *cell)
{
	struct group_logs *state = group_logs(g, &to->plan->columns[c]);
	struct logarithm_sum sum = group_logs_get(state);

	logarithm_combine(&sum, cell);
	group_logs_set(state, &sum);
	return STATUS_OK;
}

static void read_group_logs(struct group *g, const struct plan_column *column, void *cell)
{
	*(struct logarithm_sum *)cell = group_logs_get(group_logs(g, column));
}

const struct group_state_ops group_state_logs = {
	.update = update_group_logs,
	.cell = CELL_LOGS,
	.read = read_group_logs,
	.add = add_group_logs,
};

/* ---- reciprocals ---- */

static void reciprocals_clear(void *cell)
{
	struct reciprocals *r = cell;

	memset(&r->sum, 0, sizeof r->sum);
	exact_free(&r->longer);
}

static void reciprocals_free(void *cell)
{
	exact_free(&((struct reciprocals *)cell)->longer);
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

static enum status reciprocals_add_long(void *cell, const struct exact *x)
{
	struct reciprocals *r = cell;
	struct integer room;
	struct exact reciprocal;

	if (exact_is_negative(x) || exact_is_zero(x))
		return STATUS_OK;
	reciprocal = reciprocal_of(x, &room);
	return exact_add(&r->longer, &reciprocal);
}

static enum status reciprocals_combine(void *cell, void *later_cell)
{
	struct reciprocals *r = cell;
	const struct reciprocals *later = later_cell;

	reciprocal_combine(&r->sum, &later->sum);
	return exact_add(&r->longer, &later->longer);
}

static bool reciprocals_is_empty(const void *cell)
{
	const struct reciprocals *r = cell;

	return reciprocal_is_zero(&r->sum) && exact_is_zero(&r->longer);
}

static void reciprocals_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct reciprocals later = {.longer = {.scale = 0}}, *r = j->reads ? &later : cell;

	(void)source;
	json_mark(j, "[");
	words_text(json_next(j), r->sum.word, RECIPROCAL_NWORDS);
	if (json_item(j, !exact_is_zero(&r->longer)))
		exact_text(j, &r->longer, 2);
	json_mark(j, "]");
	if (json_has_read(j) && reciprocals_combine(cell, &later) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
	exact_free(&later.longer);
}

const struct moment_ops moment_reciprocals = {
	.moment = MOMENT_RECIPROCALS,
	.cell_nbytes = sizeof(struct reciprocals),
	.clear = reciprocals_clear,
	.add = reciprocals_add,
	.add_long = reciprocals_add_long,
	.combine = reciprocals_combine,
	.free = reciprocals_free,
	.is_empty = reciprocals_is_empty,
	.text = reciprocals_text,
};

/* In a group: struct group_reciprocals. */

static enum status update_group_reciprocals(struct groups *to, struct group *const *groups, size_t c, const struct group_vector *v)
{
	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const int row = __builtin_ctzll(rows);
		reciprocal_add(&group_reciprocals(groups[row], &to->plan->columns[c])->sum,
			       (struct decimal){v->x->significand[row], v->x->scale[row]});
	}
	return STATUS_OK;
}

static enum status add_group_reciprocals(struct groups *to, struct group *g, size_t c, const void *cell)
{
	struct group_reciprocals *r = group_reciprocals(g, &to->plan->columns[c]);
	const struct reciprocals *later = cell;
	void *memory;

	reciprocal_combine(&r->sum, &later->sum);
	if (exact_is_zero(&later->longer))
		return STATUS_OK;
	if (!r->longer) {
		TRY(key_arena_take_zeros(&to->texts, sizeof *r->longer, &memory));
		r->longer = memory;
	}
	return group_exact_add(r->longer, &later->longer, &to->texts);
}

static void read_group_reciprocals(struct group *g, const struct plan_column *column, void *cell)
{
	const struct group_reciprocals *r = group_reciprocals(g, column);

	*(struct reciprocals *)cell = (struct reciprocals){r->sum, r->longer ? *r->longer : (struct exact){.scale = 0}};
}

const struct group_state_ops group_state_reciprocals = {
	.update = update_group_reciprocals,
	.cell = CELL_RECIPROCALS,
	.read = read_group_reciprocals,
	.add = add_group_reciprocals,
};
static_assert(sizeof(struct reciprocals) <= GROUP_READ_NBYTES && sizeof(struct logarithm_sum) <= GROUP_READ_NBYTES, "cells can be read");
