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

/* A row's question: whether the plan, over the input, asks for what no GPU does. */
typedef bool is_asked(const struct plan *plan, const struct input *input);

static bool has_whitespace(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->dialect.whitespace;
}

static bool has_trim(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->dialect.trim;
}

static bool has_escape(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->dialect.escape;
}

static bool has_comment(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->dialect.comment;
}

static bool has_notation(const struct plan *plan, const struct input *input)
{
	(void)input;
	return !notation_is_plain(&plan->notation);
}

static bool has_head(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->head != 0;
}

static bool chooses_records(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->choice;
}

static bool copies_records(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan_copies_records(plan) && plan->npredicates == 0;
}

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
	return column->needs & (MOMENT_VALUES | MOMENT_KEYS) && (plan->is_saved || values_focus());
}

static bool has_computed_key(const struct plan *plan)
{
	for (size_t k = 0; k < plan->nkeys; k++)
		if (plan->columns[plan->keys[k]].let)
			return true;
	return false;
}

static bool has_new_column(const struct plan *plan, enum new_column_kind kind)
{
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == kind)
			return true;
	return false;
}

static bool numbers_groups(const struct plan *plan, const struct input *input)
{
	(void)input;
	return plan->nkeys && has_new_column(plan, NEW_OFFSET);
}

/* Should a GPU fail, the groups that it keeps are lost, and the input is read again. */
static bool cannot_repeat_groups(const struct plan *plan, const struct input *input)
{
	return plan_leaves_groups(plan) && !input_is_repeatable(input);
}

static bool has_groups_beyond(const struct plan *plan, const struct input *input)
{
	struct group_layout layout;

	(void)input;
	return plan->nkeys && (has_computed_key(plan) || !group_layout_make(&layout, plan));
}

static bool has_condition_beyond(const struct plan *plan, const struct input *input)
{
	(void)input;
	for (size_t p = 0; p < plan->npredicates; p++)
		if (!condition_is_for_gpus(plan, plan->predicates[p]))
			return true;
	return false;
}

static bool has_let_beyond(const struct plan *plan, const struct input *input)
{
	(void)input;
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].let && !let_is_for_gpus(plan, plan->columns[c].let))
			return true;
	return false;
}

static bool has_result_beyond(const struct plan *plan, const struct input *input)
{
	(void)input;
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (needs_moments_of_cpu(plan, &plan->columns[c]) || plan->npairs ||
		    keeps_numbers_for_cpu(plan, &plan->columns[c]) ||
		    needs_texts_of_cpu(plan, &plan->columns[c]))
			return true;
	return false;
}

static bool has_new_column_beyond(const struct plan *plan, const struct input *input)
{
	(void)input;
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (!new_column_has(plan->new_columns[i].kind, NEW_FOR_GPUS))
			return true;
	return false;
}

/* All that no GPU does. DEVICES in the manual lists the reasons in this order, and tests/cli/device_table.py compares
 * them; the first that holds is the answer. */
static const struct {
	const char *reason;
	is_asked *holds;
} limits[] = {
	{"CPU only: no GPU reads --whitespace", has_whitespace},
	{"CPU only: no GPU reads --trim", has_trim},
	{"CPU only: no GPU reads --escape", has_escape},
	{"CPU only: no GPU reads --comment", has_comment},
	{"CPU only: no GPU reads numbers in this notation", has_notation},
	{"CPU only: no GPU stops at --head", has_head},
	{"CPU only: no GPU chooses records", chooses_records},
	{"CPU only: no GPU copies records", copies_records},
	{"CPU only: no GPU numbers records by group", numbers_groups},
	{"CPU only: no GPU keeps groups of an input that cannot be read again", cannot_repeat_groups},
	{"CPU only: no GPU keeps all of this by group", has_groups_beyond},
	{"CPU only: no GPU evaluates this condition", has_condition_beyond},
	{"CPU only: no GPU computes this column", has_let_beyond},
	{"CPU only: no GPU computes this result", has_result_beyond},
	{"CPU only: no GPU computes this new column", has_new_column_beyond},
};

const char *beyond_gpus(const struct plan *plan, const struct input *input)
{
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		if (limits[i].holds(plan, input))
			return limits[i].reason;
	return NULL;
}
