/* SPDX-License-Identifier: MIT
 *
 * beyond_gpus.c - see beyond_gpus.h.
 */
#include "run/beyond_gpus.h"

#include "fold/group_words.h"
#include "fold/values_select.h"
#include "lang/lane.h"
#include "query/value.h"

/* Whether a GPU does a step of a program. A column whose texts count as well is read in one way only; of computed columns a GPU
 * has numbers of the fast path, and no text. What conditions compute with may be passed over: then it need be no number. */
static bool step_is_for_gpus(const struct plan *plan, const struct program *p, const struct step *step)
{
	static const bool lanes[] = {
#define FUNCTION(id, name, arguments, type, work, lane, help) [STEP_##id] = lane,
#include "lang/functions.def"
#undef FUNCTION
		[STEP_NUMBER] = true,	[STEP_NEGATE] = true,	[STEP_ADD] = true,	   [STEP_SUBTRACT] = true,
		[STEP_MULTIPLY] = true, [STEP_AND_THEN] = true, [STEP_OR_THEN] = true, [STEP_AND] = true,
		[STEP_OR] = true,	[STEP_DROP] = true,
	};
	const struct plan_column *c = NULL;

	if (step->code == STEP_LOAD) {
		c = &plan->columns[p->columns[step->index]];
		return step->load == LOAD_TEST || (step->load == LOAD_CALCULATE && p->name && step->depth == 0 &&
						   (c->parses || c->needs == 0));
	}
	if (!step_is_test(step))
		return step->code < sizeof lanes && lanes[step->code];
	if (step->quotients)
		return false;
	if (step->left != NO_COLUMN)
		c = &plan->columns[p->columns[step->left]];
	if (step->code == STEP_ORDER_NUMBERS)
		return c && !c->let && !(step->index && c->begins_as_text) && step->right != NO_COLUMN &&
		       !plan->columns[p->columns[step->right]].let;
	if (step->code == STEP_MATCH || step->of_two)
		return false;
	if ((c && !c->let) || step->code == STEP_IS_MISSING || step->code == STEP_IS_NUMBER)
		return true;
	return step->code == STEP_ORDER_NUMBER && !step->is_long;
}

/* Whether a GPU runs a program. */
static bool program_is_for_gpus(const struct plan *plan, const struct program *p)
{
	if (p->nvalues > LANE_NVALUES_MAX || p->ntruths > LANE_NTRUTHS_MAX || (p->computes && missing_is_number(plan)) ||
	    (p->name && p->type != TYPE_NUMBER) || p->is_aggregate)
		return false;
	for (size_t i = 0; i < p->nsteps; i++)
		if (!step_is_for_gpus(plan, p, &p->steps[i]))
			return false;
	return true;
}

/* Whether a column needs what no kernel keeps: beyond the fused fold there are its numbers, distinct
 * ones, and the squares, which are summed where nothing needs each record's values, or by group. Nor are numbers kept that leave
 * the process, or are looked for in several passes; nor texts, but of a column that is likely to be one of numbers, whose texts may be
 * left out. */
static bool is_for_cpus(const struct plan *plan, const struct plan_column *column)
{
	unsigned others = column->needs & ~(unsigned)(MOMENTS_FUSED | MOMENT_TEXTS | MOMENT_VALUES);

	if (plan_folds_columns(plan) || plan->nkeys)
		others &= ~(unsigned)MOMENT_SQUARES;
	if (!(others & MOMENT_KEY_COUNTS) && column->nkeys_most == 0 && !column->begins_as_text)
		others &= ~(unsigned)MOMENT_KEYS;
	return others != 0 || (plan_column_has_texts(column) && (!plan->guesses_texts || column->begins_as_text)) ||
	       (column->needs & (MOMENT_VALUES | MOMENT_KEYS) && (plan->is_saved || values_are_searched()));
}

/* Whether a GPU keeps all of the groups. */
static bool groups_are_for_gpus(const struct plan *plan)
{
	struct group_layout layout;

	for (size_t k = 0; k < plan->nkeys; k++)
		if (plan->columns[plan->keys[k]].let)
			return false;
	return group_layout_make(&layout, plan);
}

const char *beyond_gpus(const struct plan *plan, const struct input *input)
{
	bool condition = plan->where != PREDICATE_NONE && plan->where > 0; /* GPUs choose records by one */
	bool let = false, result = false, new_column = false, position = false;

	for (size_t p = 0; p < plan->npredicates; p++)
		condition |= !program_is_for_gpus(plan, plan->predicates[p]);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		let |= column->let && !program_is_for_gpus(plan, column->let);
		result |= plan->npairs || is_for_cpus(plan, column);
	}
	for (size_t i = 0; i < plan->nnew_columns; i++) {
		new_column |= !new_column_has(plan->new_columns[i].kind, NEW_FOR_GPUS);
		position |= plan->new_columns[i].kind == NEW_OFFSET;
	}

	/* DEVICES in the manual lists the reasons in this order, and tests/cli/device_table.py compares them; the first that
	 * holds is the answer. Should a GPU fail, the groups that it keeps are lost, and the input is read again. */
	const struct {
		const char *reason;
		bool holds;
	} limits[] = {
		{"CPU only: no GPU reads --whitespace", plan->dialect.whitespace},
		{"CPU only: no GPU reads --trim", plan->dialect.trim},
		{"CPU only: no GPU reads --escape", plan->dialect.escape},
		{"CPU only: no GPU reads --comment", plan->dialect.comment},
		{"CPU only: no GPU reads numbers in this notation", !notation_is_plain(&plan->notation)},
		{"CPU only: no GPU stops at --head", plan->head != 0 || plan->group_head != 0},
		{"CPU only: no GPU chooses records", plan->choice != CHOICE_NONE},
		{"CPU only: no GPU sorts records", plan->sorter != NULL},
		{"CPU only: no GPU copies records", plan_copies_records(plan) && plan->npredicates == 0},
		{"CPU only: no GPU joins columns by name", plan->nunited > 0},
		{"CPU only: no GPU prints records in a format", plan->emits && plan->formats},
		{"CPU only: no GPU prints numbers in a style", plan->emits && plan->shown},
		{"CPU only: no GPU numbers records by group", plan->nkeys && position},
		{"CPU only: no GPU tells runs apart", plan->has_runs},
		{"CPU only: no GPU keeps groups of an input that cannot be read again",
		 plan_leaves_groups(plan) && !input_is_repeatable(input)},
		{"CPU only: no GPU keeps all of this by group", plan->nkeys && !groups_are_for_gpus(plan)},
		{"CPU only: no GPU evaluates this condition", condition},
		{"CPU only: no GPU computes this column", let},
		{"CPU only: no GPU computes this result", result},
		{"CPU only: no GPU computes this new column", new_column},
	};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].holds)
			return limits[i].reason;
	return NULL;
}
