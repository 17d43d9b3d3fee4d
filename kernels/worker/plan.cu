/* SPDX-License-Identifier: MIT
 *
 * plan.cu - copies the plan to the device: arrays without pointers to host memory, laid out in
 * pinned memory as on the device.
 */
#include <string.h>

#include "kernels/worker/worker.cuh"

/* ---- conditions: the predicates, then those of --let's columns ---- */

static const struct let *let_at(const struct plan *plan, size_t k)
{
	return plan->columns[plan->ncolumns - plan->nlets + k].let;
}

static size_t count_conditions(const struct plan *plan)
{
	size_t n = plan->npredicates;

	for (size_t k = 0; k < plan->nlets; k++)
		n += let_at(plan, k)->nconditions;
	return n;
}

static const struct expr *condition_at(const struct plan *plan, size_t i)
{
	if (i < plan->npredicates)
		return plan->predicates[i];
	i -= plan->npredicates;
	for (size_t k = 0;; i -= let_at(plan, k++)->nconditions)
		if (i < let_at(plan, k)->nconditions)
			return &let_at(plan, k)->conditions[i].expr;
}

/* Lengths of the arrays of a plan's first n conditions. */
struct condition_sizes {
	size_t ntests, nliteral_bytes, ncolumns;
};

static struct condition_sizes sizes_of(const struct plan *plan, size_t nconditions)
{
	struct condition_sizes n = {};

	for (size_t i = 0; i < nconditions; i++) {
		const struct expr *e = condition_at(plan, i);
		n.ntests += e->ntests;
		n.nliteral_bytes += e->nliteral_bytes;
		n.ncolumns += e->ncolumns;
	}
	return n;
}

static size_t count_steps(const struct plan *plan)
{
	size_t n = 0;

	for (size_t k = 0; k < plan->nlets; k++)
		n += let_at(plan, k)->nsteps;
	return n;
}

static size_t missing_nbytes(const struct plan *plan)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < plan->nmissing; i++)
		nbytes += strlen(plan->missing[i]);
	return nbytes;
}

static bool condition_reads(const struct expr *e, size_t c)
{
	for (uint32_t i = 0; i < e->ncolumns; i++)
		if (e->columns[i] == c)
			return true;
	return false;
}

/* Numbers the columns that conditions look at, in span_of, of plan->ncolumns, which may be NULL.
 * Returns the number of them. */
static size_t number_places(const struct plan *plan, uint8_t *span_of)
{
	size_t nplaces = 0, nconditions = count_conditions(plan);

	for (size_t c = 0; c < plan->ncolumns; c++) {
		bool is_used = false;
		for (size_t i = 0; i < nconditions; i++)
			is_used |= condition_reads(condition_at(plan, i), c);
		if (span_of)
			span_of[c] = is_used ? (uint8_t)nplaces : FIELDS_NO_SPAN;
		nplaces += is_used;
	}
	return nplaces;
}

bool plan_filters_on_device(const struct plan *plan)
{
	size_t nconditions = count_conditions(plan);

	for (size_t i = 0; i < nconditions; i++)
		if (condition_at(plan, i)->ncolumns > FIELDS_NSPANS_MAX)
			return false;
	return nconditions == 0 || number_places(plan, NULL) <= FIELDS_NSPANS_MAX;
}

void plan_arrays_cut(struct plan_arrays *a, struct arena *arena, const struct plan *plan)
{
	size_t nconditions = count_conditions(plan);
	struct condition_sizes n = sizes_of(plan, nconditions);

	a->field = arena_cut<uint32_t>(arena, plan->ncolumns);
	a->parses = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->keeps_keys = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->missing = arena_cut<char>(arena, missing_nbytes(plan));
	a->sought = arena_cut<char>(arena, plan->sought.nbytes);
	a->missing_end = arena_cut<uint32_t>(arena, plan->nmissing);
	a->folds = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->span_of = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->exprs = arena_cut<struct expr>(arena, nconditions);
	a->tests = arena_cut<struct expr_test>(arena, n.ntests);
	a->literals = arena_cut<char>(arena, n.nliteral_bytes);
	a->let_steps = arena_cut<struct fields_let_step>(arena, count_steps(plan));
	a->let_end = arena_cut<uint32_t>(arena, plan->nlets);
	a->places = arena_cut<uint32_t>(arena, n.ncolumns);
}

static void flatten_columns(const struct plan *plan, const struct plan_arrays *to)
{
	uint32_t end = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		to->field[c] = plan->columns[c].field;
		to->keeps_keys[c] = (plan->columns[c].needs & MOMENT_KEYS) != 0;
		to->parses[c] = plan->columns[c].parses || to->keeps_keys[c];
		to->folds[c] = plan->columns[c].needs != 0;
	}
	if (plan->sought.nbytes)
		memcpy(to->sought, plan->sought.text, plan->sought.nbytes);
	for (size_t i = 0; i < plan->nmissing; i++) {
		size_t nbytes = strlen(plan->missing[i]);
		memcpy(to->missing + end, plan->missing[i], nbytes);
		end += (uint32_t)nbytes;
		to->missing_end[i] = end;
	}
}

/* Copies condition i and its arrays to `to`, with pointers to the device's arrays, `there`. */
static void flatten_condition(const struct plan *plan, size_t i, const struct plan_arrays *to,
			      const struct plan_arrays *there)
{
	const struct expr *e = condition_at(plan, i);
	struct condition_sizes at = sizes_of(plan, i);

	memcpy(to->tests + at.ntests, e->tests, e->ntests * sizeof *e->tests);
	if (e->nliteral_bytes)
		memcpy(to->literals + at.nliteral_bytes, e->literals, e->nliteral_bytes);
	for (uint32_t k = 0; k < e->ncolumns; k++)
		to->places[at.ncolumns + k] = to->span_of[e->columns[k]];
	to->exprs[i] = *e;
	to->exprs[i].tests = there->tests + at.ntests;
	to->exprs[i].literals = there->literals + at.nliteral_bytes;
	to->exprs[i].columns = there->places + at.ncolumns;
}

/* A step as the device sees it; a column that is loaded is parsed. nbefore: conditions before its let's. */
static struct fields_let_step flatten_step(const struct let *let, const struct let_step *step, size_t nbefore,
					   const struct plan_arrays *to)
{
	struct fields_let_step flat = {step->code, step->index, step->number};

	if (step->code == LET_IF)
		flat.index += (uint32_t)nbefore;
	if (step->code == LET_LOAD) {
		flat.index = let->request.expr.columns[step->index];
		to->folds[flat.index] = to->parses[flat.index] = 1;
	}
	return flat;
}

static void flatten_lets(const struct plan *plan, const struct plan_arrays *to)
{
	size_t nbefore = plan->npredicates;
	uint32_t end = 0;

	for (size_t k = 0; k < plan->nlets; k++) {
		const struct let *let = let_at(plan, k);
		for (size_t i = 0; i < let->nsteps; i++)
			to->let_steps[end++] = flatten_step(let, &let->steps[i], nbefore, to);
		to->let_end[k] = end;
		nbefore += let->nconditions;
	}
}

/* The arrays lie alike in both memories, one after the other: one copy takes them all. */
enum status plan_copy_up(struct worker *w, struct fault *fault)
{
	const struct plan_arrays *from = &w->plan_pinned, *to = &w->plan_device;
	const struct plan *plan = w->plan;
	size_t nconditions = count_conditions(plan);
	const uint32_t *end = from->places + sizes_of(plan, nconditions).ncolumns;

	flatten_columns(plan, from);
	flatten_lets(plan, from);
	if (w->filters) {
		number_places(plan, from->span_of);
		for (size_t i = 0; i < nconditions; i++)
			flatten_condition(plan, i, from, to);
	}
	GPU_TRY("copy plan", copy_up(w, (char *)to->field, (const char *)from->field,
				 (size_t)((const char *)end - (const char *)from->field)));
	return STATUS_OK;
}

struct fields_plan fields_plan_of(const struct worker *w)
{
	const struct plan_arrays *a = &w->plan_device;
	const struct plan *plan = w->plan;
	struct fields_plan to = {};

	to.field = a->field;
	to.parses = a->parses;
	to.keeps_keys = a->keeps_keys;
	to.missing = a->missing;
	to.missing_end = a->missing_end;
	to.nmissing = (uint32_t)plan->nmissing;
	to.missing_is_number = missing_is_number(plan);
	to.quote = device_quote(plan);
	to.ragged = plan->ragged;
	to.sought = plan->sought;
	to.sought.text = a->sought;
	to.ncolumns = (uint32_t)plan->ncolumns;
	to.conditions.exprs = a->exprs;
	to.conditions.npredicates = (uint32_t)plan->npredicates;
	to.conditions.where = plan->where == PREDICATE_NONE || plan->npredicates == 0
				      ? FIELDS_NO_WHERE
				      : (uint32_t)plan->where;
	to.conditions.folds = a->folds;
	to.conditions.span_of = a->span_of;
	to.lets.steps = a->let_steps;
	to.lets.end = a->let_end;
	to.lets.n = (uint32_t)plan->nlets;
	to.lets.has_conditions = count_conditions(plan) > plan->npredicates;
	to.nkeys = (uint32_t)plan->nkeys;
	for (size_t k = 0; k < plan->nkeys; k++)
		to.key[k] = (uint32_t)plan->keys[k];
	return to;
}
