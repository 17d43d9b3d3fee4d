/* SPDX-License-Identifier: MIT
 *
 * beyond_gpus.c - see beyond_gpus.h.
 */
#include "run/beyond_gpus.h"

#include "fold/group_words.h"
#include "fold/values_select.h"
#include "query/expr_eval.h"
#include "query/let.h"
#include "query/value.h"

/* Whether a column's texts are needed, and the column is not likely to be one of numbers, whose texts
 * may be left out. */
static bool needs_texts_of_cpu(const struct plan *plan, const struct plan_column *column)
{
	return plan_column_has_texts(column) && (!plan->guesses_texts || column->begins_as_text);
}

static bool is_computed(const struct plan *plan, const struct expr *e, uint32_t operand)
{
	return plan->columns[e->columns[operand]].let != NULL;
}

/* Whether a GPU evaluates a test: of computed columns it has numbers of the fast path, and no text. */
static bool test_is_for_gpus(const struct plan *plan, const struct expr *e, const struct expr_test *t)
{
	if (t->kind == EXPR_TEST_MATCH)
		return false;
	if (t->kind == EXPR_TEST_COLUMNS)
		return !is_computed(plan, e, t->left) && !is_computed(plan, e, t->right);
	if (!is_computed(plan, e, t->left) || t->kind == EXPR_TEST_MISSING || t->kind == EXPR_TEST_IS_NUMBER)
		return true;
	return t->kind == EXPR_TEST_NUMBER && t->literal_kind == EXPR_NUMBER;
}

static bool condition_is_for_gpus(const struct plan *plan, const struct expr *e)
{
	for (uint32_t i = 0; i < e->ntests; i++)
		if (!test_is_for_gpus(plan, e, &e->tests[i]))
			return false;
	return true;
}

/* Whether a GPU does a step of a computed column. A column whose texts count as well is read in one way only. */
static bool step_is_for_gpus(const struct plan *plan, const struct let *let, const struct let_step *step)
{
	const struct plan_column *c;

	switch (step->code) {
	case LET_LOAD:
		c = &plan->columns[let->request.expr.columns[step->index]];
		return step->load == LET_LOAD_NUMBER && (c->parses || c->needs == 0);
	case LET_DIVIDE:
	case LET_LITERAL:
		return false;
	default:
		return step->code < LET_LOWER;
	}
}

/* Whether a GPU computes a column of --let. */
static bool let_is_for_gpus(const struct plan *plan, const struct let *let)
{
	if (!let->is_number || let->depth > LET_LANE_DEPTH_MAX || missing_is_number(plan))
		return false;
	for (size_t i = 0; i < let->nsteps; i++)
		if (!step_is_for_gpus(plan, let, &let->steps[i]))
			return false;
	for (size_t i = 0; i < let->nconditions; i++)
		if (!condition_is_for_gpus(plan, &let->conditions[i].expr))
			return false;
	return true;
}

/* Whether a column needs moments that no kernel keeps: beyond the fused fold there are its numbers, different
 * ones, and the squares, which are summed where nothing needs each record's values, or by group. */
static bool needs_moments_of_cpu(const struct plan *plan, const struct plan_column *column)
{
	unsigned others = column->needs & ~(unsigned)(MOMENTS_FUSED | MOMENT_TEXTS | MOMENT_VALUES);

	if (plan_folds_columns(plan) || plan->nkeys)
		others &= ~(unsigned)MOMENT_SQUARES;
	if (!(others & MOMENT_KEY_COUNTS) && column->nkeys_most == 0 && !column->begins_as_text)
		others &= ~(unsigned)MOMENT_KEYS;
	return others != 0;
}

/* Whether a column's numbers are kept, and then leave the process, or are looked for in several passes. */
static bool keeps_numbers_for_cpu(const struct plan *plan, const struct plan_column *column)
{
	return column->needs & (MOMENT_VALUES | MOMENT_KEYS) && (plan->is_saved || values_are_searched());
}

static bool has_new_column(const struct plan *plan, enum new_column_kind kind)
{
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == kind)
			return true;
	return false;
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
	bool condition = false, let = false, result = false, new_column = false;

	for (size_t p = 0; p < plan->npredicates; p++)
		condition |= !condition_is_for_gpus(plan, plan->predicates[p]);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		let |= column->let && !let_is_for_gpus(plan, column->let);
		result |= needs_moments_of_cpu(plan, column) || plan->npairs || keeps_numbers_for_cpu(plan, column) ||
			  needs_texts_of_cpu(plan, column);
	}
	for (size_t i = 0; i < plan->nnew_columns; i++)
		new_column |= !new_column_has(plan->new_columns[i].kind, NEW_FOR_GPUS);

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
		{"CPU only: no GPU stops at --head", plan->head != 0},
		{"CPU only: no GPU chooses records", plan->choice},
		{"CPU only: no GPU copies records", plan_copies_records(plan) && plan->npredicates == 0},
		{"CPU only: no GPU numbers records by group", plan->nkeys && has_new_column(plan, NEW_OFFSET)},
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
