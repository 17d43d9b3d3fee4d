/* SPDX-License-Identifier: MIT
 *
 * plan.cu - copies the plan to the device: arrays without pointers to host memory, laid out in
 * pinned memory as on the device.
 */
#include <string.h>

#include "kernels/worker/worker.cuh"

/* Lengths of the arrays of a plan's conditions. */
struct condition_sizes {
	size_t ntests, nliteral_bytes, ncolumns;
};

static struct condition_sizes sizes_of(const struct plan *plan, size_t npredicates)
{
	struct condition_sizes n = {};

	for (size_t p = 0; p < npredicates; p++) {
		n.ntests += plan->predicates[p]->ntests;
		n.nliteral_bytes += plan->predicates[p]->nliteral_bytes;
		n.ncolumns += plan->predicates[p]->ncolumns;
	}
	return n;
}

static size_t missing_nbytes(const struct plan *plan)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < plan->nmissing; i++)
		nbytes += strlen(plan->missing[i]);
	return nbytes;
}

/* Numbers the columns that predicates look at, in span_of, of plan->ncolumns, which may be NULL.
 * Returns the number of them. */
static size_t number_places(const struct plan *plan, uint8_t *span_of)
{
	size_t nplaces = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		bool is_used = false;
		for (size_t p = 0; p < plan->npredicates; p++)
			for (uint32_t i = 0; i < plan->predicates[p]->ncolumns; i++)
				is_used |= plan->predicates[p]->columns[i] == c;
		if (span_of)
			span_of[c] = is_used ? (uint8_t)nplaces : FIELDS_NO_SPAN;
		nplaces += is_used;
	}
	return nplaces;
}

bool plan_filters_on_device(const struct plan *plan)
{
	for (size_t p = 0; p < plan->npredicates; p++)
		if (plan->predicates[p]->ncolumns > FIELDS_NSPANS_MAX)
			return false;
	return plan->npredicates == 0 || number_places(plan, NULL) <= FIELDS_NSPANS_MAX;
}

void plan_arrays_cut(struct plan_arrays *a, struct arena *arena, const struct plan *plan)
{
	struct condition_sizes n = sizes_of(plan, plan->npredicates);

	a->field = arena_cut<uint32_t>(arena, plan->ncolumns);
	a->parses = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->missing = arena_cut<char>(arena, missing_nbytes(plan));
	a->missing_end = arena_cut<uint32_t>(arena, plan->nmissing);
	a->folds = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->span_of = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->exprs = arena_cut<struct expr>(arena, plan->npredicates);
	a->tests = arena_cut<struct expr_test>(arena, n.ntests);
	a->literals = arena_cut<char>(arena, n.nliteral_bytes);
	a->places = arena_cut<uint32_t>(arena, n.ncolumns);
}

static void flatten_columns(const struct plan *plan, const struct plan_arrays *to)
{
	uint32_t end = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		to->field[c] = plan->columns[c].field;
		to->parses[c] = plan->columns[c].parses;
		to->folds[c] = plan->columns[c].needs != 0;
	}
	for (size_t i = 0; i < plan->nmissing; i++) {
		size_t nbytes = strlen(plan->missing[i]);
		memcpy(to->missing + end, plan->missing[i], nbytes);
		end += (uint32_t)nbytes;
		to->missing_end[i] = end;
	}
}

/* Copies predicate p and its arrays to `to`, with pointers to the device's arrays, `there`. */
static void flatten_predicate(const struct plan *plan, size_t p, const struct plan_arrays *to,
			      const struct plan_arrays *there)
{
	const struct expr *e = plan->predicates[p];
	struct condition_sizes at = sizes_of(plan, p);

	memcpy(to->tests + at.ntests, e->tests, e->ntests * sizeof *e->tests);
	if (e->nliteral_bytes)
		memcpy(to->literals + at.nliteral_bytes, e->literals, e->nliteral_bytes);
	for (uint32_t i = 0; i < e->ncolumns; i++)
		to->places[at.ncolumns + i] = to->span_of[e->columns[i]];
	to->exprs[p] = *e;
	to->exprs[p].tests = there->tests + at.ntests;
	to->exprs[p].literals = there->literals + at.nliteral_bytes;
	to->exprs[p].columns = there->places + at.ncolumns;
}

/* The arrays lie alike in both memories, one after the other: one copy takes them all. */
enum status plan_copy_up(struct worker *w, struct fault *fault)
{
	const struct plan_arrays *from = &w->plan_pinned, *to = &w->plan_device;
	const struct plan *plan = w->plan;
	const uint32_t *end = from->places + sizes_of(plan, plan->npredicates).ncolumns;

	flatten_columns(plan, from);
	if (w->filters) {
		number_places(plan, from->span_of);
		for (size_t p = 0; p < plan->npredicates; p++)
			flatten_predicate(plan, p, from, to);
	}
	TRY("copy plan", copy_up(w, (char *)to->field, (const char *)from->field,
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
	to.missing = a->missing;
	to.missing_end = a->missing_end;
	to.nmissing = (uint32_t)plan->nmissing;
	to.missing_is_number = missing_is_number(plan);
	to.quote = device_quote(plan);
	to.ragged = plan->ragged;
	to.ncolumns = (uint32_t)plan->ncolumns;
	to.conditions.exprs = a->exprs;
	to.conditions.npredicates = (uint32_t)plan->npredicates;
	to.conditions.where = plan->where == PREDICATE_NONE || plan->npredicates == 0
				      ? FIELDS_NO_WHERE
				      : (uint32_t)plan->where;
	to.conditions.folds = a->folds;
	to.conditions.span_of = a->span_of;
	to.nkeys = (uint32_t)plan->nkeys;
	for (size_t k = 0; k < plan->nkeys; k++)
		to.key[k] = (uint32_t)plan->keys[k];
	return to;
}
