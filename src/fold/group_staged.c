/* SPDX-License-Identifier: MIT
 *
 * group_staged.c - see group_staged.h.
 */
#include "fold/group_staged.h"

#include <stdlib.h>

#include "fold/column.h"
#include "query/value.h"

#define STAGED_MANY ((size_t)1 << 16) /* 1.5 MB: more than that a thread folds */
#define AHEAD_GROUPS 16
#define AHEAD_RESTS 8

bool group_stages(const struct plan *plan, const struct plan_column *column)
{
	const unsigned others = MOMENT_ENDS | MOMENT_TEXTS | MOMENT_KEYS | MOMENT_KEY_COUNTS;

	return column->parses && !(column->needs & others) && !plan_column_has_cell(column) && !plan->emits;
}

enum status group_staged_reserve(struct groups *g, size_t n)
{
	size_t room = g->staged_room > 0 ? g->staged_room : 64;
	struct staged_number *staged;

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

enum status group_staged_take(struct groups *g, struct groups *later)
{
	enum status status = group_staged_reserve(g, later->nstaged);

	for (size_t i = 0; i < later->nstaged && status == STATUS_OK; i++) {
		struct staged_number x = later->staged[i];
		x.group = x.group->home;
		group_stage(g, x);
	}
	later->nstaged = 0;
	if (status == STATUS_OK && g->nstaged > STAGED_MANY) {
		status = group_staged_fold(g->plan, g->staged, g->nstaged);
		g->nstaged = 0;
	}
	return status;
}

static enum status fold_number(const struct plan *plan, const struct staged_number *x)
{
	const struct value value = {.kind = DECIMAL_NUMBER, .number = {x->significand, x->scale}};
	enum status status = group_need_rest(x->group, plan);

	if (status != STATUS_OK)
		return status;
	return column_add_number(&x->group->rest->columns[x->column], plan->columns[x->column].needs, &value);
}

enum status group_staged_fold(const struct plan *plan, const struct staged_number *x, size_t n)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		if (i + AHEAD_GROUPS < n)
			group_prefetch(x[i + AHEAD_GROUPS].group);
		if (i + AHEAD_RESTS < n)
			__builtin_prefetch(x[i + AHEAD_RESTS].group->rest);
		status = fold_number(plan, &x[i]);
	}
	return status;
}
