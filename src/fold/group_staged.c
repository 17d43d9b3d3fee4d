/* SPDX-License-Identifier: MIT
 *
 * group_staged.c - see group_staged.h.
 */
#include "fold/group_staged.h"

#include <stdlib.h>

#include "fold/column.h"
#include "fold/group_keys.h"
#include "fold/group_values.h"
#include "fold/keys.h"
#include "query/value.h"

#define STAGED_MANY ((size_t)1 << 16) /* 2 MB: more than that a thread folds */
#define AHEAD_GROUPS 16
#define AHEAD_RESTS 8

bool group_stages(const struct plan *plan, const struct plan_column *column)
{
	if (plan_column_has_cell(column))
		return (column->needs & (MOMENT_VALUES | MOMENT_KEYS)) != 0;
	if (plan->emits || column->needs & (MOMENT_ENDS | MOMENT_TEXTS))
		return false;
	if (column->needs & MOMENT_KEYS) /* the text of a computed column is gone with its block of rows */
		return !column->let;
	return column->parses;
}

enum status group_staged_reserve(struct groups *g, size_t n)
{
	size_t room = g->staged_room > 0 ? g->staged_room : 64;
	struct staged_value *staged;

	while (room < g->nstaged + n)
		room *= 2;
	if (room == g->staged_room)
		return STATUS_OK;
	staged = realloc(g->staged, room * sizeof *staged);
	if (!staged)
		return STATUS_NO_MEMORY;
	g->staged = staged;
	g->staged_room = room;
	return STATUS_OK;
}

/* Folds all that g has listed into its groups. */
static enum status settle_all(struct groups *g)
{
	enum status status = group_staged_fold(g->plan, g->staged, g->nstaged);

	g->nstaged = 0;
	return status;
}

enum status group_staged_settle(struct groups *g)
{
	for (size_t i = 0; i < g->nstaged; i++)
		if (g->staged[i].is_text)
			return settle_all(g);
	return STATUS_OK;
}

enum status group_staged_take(struct groups *g, struct groups *later)
{
	enum status status = group_staged_reserve(g, later->nstaged);
	bool has_texts = false;

	for (size_t i = 0; i < later->nstaged && status == STATUS_OK; i++) {
		struct staged_value x = later->staged[i];
		has_texts |= x.is_text;
		x.group = *group_home(x.group);
		group_stage(g, x);
	}
	later->nstaged = 0;
	return status == STATUS_OK && (has_texts || g->nstaged > STAGED_MANY) ? settle_all(g) : status;
}

static enum status fold_number(const struct plan *plan, const struct staged_value *x)
{
	const struct value value = {.kind = DECIMAL_NUMBER, .number = {x->significand, (int)x->scale_or_nbytes}};
	const uint8_t scale = (uint8_t)x->scale_or_nbytes;

	if (plan_column_has_cell(&plan->columns[x->column])) /* which has all else of it */
		return moments_add(&x->group->rest->columns[x->column].moments, MOMENT_VALUES, &x->significand, &scale, 1);
	return column_add_number(&x->group->rest->columns[x->column], plan->columns[x->column].needs, &value);
}

static enum status fold_text(const struct plan *plan, const struct staged_value *x)
{
	struct column_partial *column = &x->group->rest->columns[x->column];
	struct keys *keys = moments_need(&column->moments, CELL_KEYS);

	if (!keys)
		return STATUS_NO_MEMORY;
	column->fast.count += !plan->columns[x->column].parses && !plan_column_has_cell(&plan->columns[x->column]);
	return keys_add(keys, keys_wanted_of(&plan->columns[x->column]), x->text, x->scale_or_nbytes, x->first);
}

static enum status fold_value(const struct plan *plan, const struct staged_value *x)
{
	enum status status = group_need_rest(x->group, plan);

	if (status != STATUS_OK)
		return status;
	return x->is_text ? fold_text(plan, x) : fold_number(plan, x);
}

enum status group_staged_fold(const struct plan *plan, const struct staged_value *x, size_t n)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		if (i + AHEAD_GROUPS < n)
			group_prefetch(x[i + AHEAD_GROUPS].group);
		if (i + AHEAD_RESTS < n)
			__builtin_prefetch(x[i + AHEAD_RESTS].group->rest);
		status = fold_value(plan, &x[i]);
	}
	return status;
}

/* Adds those texts at the beginning of x[0 .. n) that are of one column, up to a flight, to the part's groups. Sets *nadded. */
static enum status keep_texts(struct groups *part, const struct staged_value *x, size_t n, size_t *nadded)
{
	struct group_key keys[GROUP_KEYS_FLIGHT];
	size_t i;

	for (i = 0; i < n && i < GROUP_KEYS_FLIGHT && x[i].is_text && x[i].column == x->column; i++) {
		keys[i] = (struct group_key){x[i].group, x[i].text, x[i].scale_or_nbytes, x[i].first};
		group_prefetch(x[i].group);
	}
	*nadded = i;
	return group_keys_add(part, x->column, keys, i);
}

enum status group_staged_keep(struct groups *part, const struct staged_value *x, size_t n)
{
	const struct plan *plan = part->plan;
	enum status status = STATUS_OK;

	if (!plan->nlists)
		return group_staged_fold(plan, x, n);
	for (size_t i = 0, nadded; i < n && status == STATUS_OK; i += nadded) {
		nadded = 1;
		if (!plan_column_has_cell(&plan->columns[x[i].column]))
			status = fold_value(plan, &x[i]);
		else if (x[i].is_text)
			status = keep_texts(part, &x[i], n - i, &nadded);
		else
			status = group_values_add(part, x[i].group, x[i].column, x[i].significand, x[i].scale_or_nbytes);
	}
	return status == STATUS_OK ? group_values_limit(part) : status;
}
