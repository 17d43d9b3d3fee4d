/* SPDX-License-Identifier: MIT
 *
 * running_state.c - see running_state.h.
 */
#include "emit/running_state.h"

#include <stdlib.h>
#include <string.h>

#include "fold/rank_tables.h"

enum status running_state_init(struct running_state *s, const struct plan *plan)
{
	memset(s, 0, sizeof *s);
	s->runnings = calloc(plan->nnew_columns + 1, sizeof *s->runnings);
	s->ratios = calloc(plan->nnew_columns + 1, sizeof *s->ratios);
	s->nmatched = calloc(plan->npredicates + 1, sizeof *s->nmatched);
	s->windows = calloc(plan->nwindows + 1, sizeof *s->windows);
	return s->runnings && s->ratios && s->windows && s->nmatched ? STATUS_OK : STATUS_NO_MEMORY;
}

void running_state_free(struct running_state *s, const struct plan *plan)
{
	for (size_t i = 0; s->runnings && i < plan->nnew_columns; i++)
		running_free(&s->runnings[i]);
	for (size_t i = 0; s->ratios && i < plan->nnew_columns; i++)
		running_ratio_free(&s->ratios[i]);
	free(s->runnings);
	for (size_t i = 0; s->windows && i < plan->nwindows; i++)
		running_window_free(&s->windows[i]);
	free(s->ratios);
	free(s->windows);
	free(s->nmatched);
	memset(s, 0, sizeof *s);
}

/* Sets the row numbers to those behind n records. */
static void begin_row_numbers(struct running_state *s, const struct plan *plan, uint64_t n)
{
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_ROW_NUMBER)
			s->runnings[i].count = n;
}

static enum status begin_columns(struct running_state *s, const struct plan *plan, const struct partial *before)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < plan->nnew_columns; i++) {
		const struct new_column *column = &plan->new_columns[i];
		if (running_ratio_is(column->kind))
			status = running_ratio_begin(&s->ratios[i], column->kind, &before->columns[column->column]);
		else if (running_is(column->kind))
			status = running_begin(&s->runnings[i], column->kind,
					       &plan->columns[column->column],
					       &before->columns[column->column]);
		else if (new_column_has_window(column) && !plan->windows[column->window].cell_offset)
			status = running_window_begin(&s->windows[column->window], &before->windows[column->window],
						      running_window_scale(&before->columns[column->column]));
	}
	return status;
}

enum status running_state_begin(struct running_state *s, const struct plan *plan, const struct partial *before)
{
	for (size_t i = 0; i < plan->npredicates; i++)
		s->nmatched[i] = before->nmatched[i];
	begin_row_numbers(s, plan, plan->where == PREDICATE_NONE ? before->nrecords - before->nundecided
								   : before->nmatched[plan->where]);
	s->ranks = plan->ranks ? rank_tables_of(plan->ranks, NULL) : NULL;
	return begin_columns(s, plan, before);
}

/* ---- of groups ---- */

void group_states_free(struct group_states *s, const struct plan *plan)
{
	for (size_t i = 0; i < s->capacity; i++)
		running_state_free(&s->at[i], plan);
	free(s->at);
	partial_free(&s->blank);
	memset(s, 0, sizeof *s);
}

/* Makes room for a state more. */
static enum status grow(struct group_states *s, const struct plan *plan)
{
	size_t capacity = s->capacity ? 2 * s->capacity : 16;
	struct running_state *grown;

	if (s->n < s->capacity)
		return STATUS_OK;
	grown = realloc(s->at, capacity * sizeof *grown);
	if (!grown)
		return STATUS_NO_MEMORY;
	s->at = grown;
	for (; s->capacity < capacity; s->capacity++)
		if (running_state_init(&s->at[s->capacity], plan) != STATUS_OK) {
			running_state_free(&s->at[s->capacity], plan);
			return STATUS_NO_MEMORY;
		}
	return STATUS_OK;
}

/* Whether the group's cells hold all that the new columns need. */
static bool is_in_cells(const struct group *group, const struct plan *plan)
{
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (running_ratio_is(plan->new_columns[i].kind) ||
		    (new_column_has_window(&plan->new_columns[i]) && !plan->windows[plan->new_columns[i].window].cell_offset))
			return false;
	return !group->rest;
}

static void begin_from_cells(struct running_state *s, const struct plan *plan, struct group *group)
{
	for (size_t i = 0; i < plan->nnew_columns; i++) {
		const struct new_column *column = &plan->new_columns[i];
		const struct plan_column *of = &plan->columns[column->column];
		const struct group_cell *cell = group_cell(group, of);
		if (!running_is(column->kind))
			continue;
		s->runnings[i] = (struct running){
			.kind = column->kind, .counts_text = !of->parses, .count = group_cell_count(cell),
			.total = {.scale = (int)group_cell_scale(cell), .limbs = s->runnings[i].total.limbs}};
		s->runnings[i].total.value = column->kind == NEW_MIN ? cell->extremes[0]
				       : column->kind == NEW_MAX ? cell->extremes[1]
								 : cell->sum;
	}
}

/* Sets the state to the values of the group's records. */
static enum status begin_group(struct group_states *states, struct running_state *s, const struct plan *plan,
			       struct group *group)
{
	const struct partial *before;

	for (size_t i = 0; group_nmatched(group, plan) && i < plan->npredicates; i++)
		s->nmatched[i] = group_nmatched(group, plan)[i];
	begin_row_numbers(s, plan, group->nrecords);
	s->ranks = plan->ranks ? rank_tables_of(plan->ranks, *group_home(group)) : NULL;
	for (size_t i = 0; i < plan->nwindows; i++)
		s->windows[i].plan = NULL; /* it has not begun */
	if (is_in_cells(group, plan)) {
		begin_from_cells(s, plan, group);
		return STATUS_OK;
	}
	if (partial_need(&states->blank, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	partial_clear(&states->blank);
	before = group_partial(group, plan, &states->blank);
	return before ? begin_columns(s, plan, before) : STATUS_NO_MEMORY;
}

struct running_state *group_states_of(struct group_states *s, const struct plan *plan, struct group *group)
{
	if (group->state == 0 || group->state > s->n) {
		if (grow(s, plan) != STATUS_OK ||
		    begin_group(s, &s->at[s->n], plan, group) != STATUS_OK)
			return NULL;
		group->state = ++s->n;
	}
	return &s->at[group->state - 1];
}

struct running_window *group_states_window(struct group_states *s, const struct plan *plan, struct group *group, size_t i)
{
	struct running_state *state = group_states_of(s, plan, group);
	struct running_window *window = state ? &state->windows[i] : NULL;

	if (!window || window->plan || !plan->windows[i].cell_offset)
		return window;
	if (group_window_move(group, plan, i) != STATUS_OK)
		return NULL;
	return running_window_begin(window, &group->rest->windows[i], group_running_scale(group, plan, i)) == STATUS_OK ? window : NULL;
}
