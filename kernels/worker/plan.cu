/* SPDX-License-Identifier: MIT
 *
 * plan.cu - copies the plan to the device: arrays without pointers to host memory, laid out in
 * pinned memory as on the device.
 */
#include <string.h>

#include "kernels/worker/worker.cuh"

/* ---- programs: the predicates, then --let's columns ---- */

static size_t count_programs(const struct plan *plan)
{
	return plan->npredicates + plan->nlets;
}

static const struct program *program_at(const struct plan *plan, size_t i)
{
	return i < plan->npredicates ? plan->predicates[i] : plan->columns[plan->ncolumns - plan->nlets + i - plan->npredicates].let;
}

/* Lengths of the arrays of a plan's programs. */
struct program_sizes {
	size_t nsteps, nliteral_bytes;
};

static struct program_sizes sizes_of(const struct plan *plan)
{
	struct program_sizes n = {};

	for (size_t i = 0; i < count_programs(plan); i++) {
		n.nsteps += program_at(plan, i)->nsteps;
		n.nliteral_bytes += program_at(plan, i)->nliteral_bytes;
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

/* Whether a test of the program looks at a column. */
static bool program_tests(const struct program *p, size_t c)
{
	for (size_t i = 0; i < p->nsteps; i++)
		if (p->steps[i].code == STEP_LOAD && p->steps[i].load == LOAD_TEST && p->columns[p->steps[i].index] == c)
			return true;
	return false;
}

/* Numbers the columns that tests look at, in span_of, of plan->ncolumns, which may be NULL.
 * Returns the number of them. */
static size_t number_places(const struct plan *plan, uint8_t *span_of)
{
	size_t nplaces = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		bool is_used = false;
		for (size_t i = 0; i < count_programs(plan); i++)
			is_used |= program_tests(program_at(plan, i), c);
		if (span_of)
			span_of[c] = is_used ? (uint8_t)nplaces : FIELDS_NO_SPAN;
		nplaces += is_used;
	}
	return nplaces;
}

bool plan_filters_on_device(const struct plan *plan)
{
	return number_places(plan, NULL) <= FIELDS_NSPANS_MAX;
}

void plan_arrays_cut(struct plan_arrays *a, struct arena *arena, const struct plan *plan)
{
	struct program_sizes n = sizes_of(plan);

	a->field = arena_cut<uint32_t>(arena, plan->ncolumns);
	a->parses = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->keeps_keys = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->missing = arena_cut<char>(arena, missing_nbytes(plan));
	a->sought = arena_cut<char>(arena, plan->sought.nbytes);
	a->missing_end = arena_cut<uint32_t>(arena, plan->nmissing);
	a->folds = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->span_of = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->literals = arena_cut<char>(arena, n.nliteral_bytes);
	a->program_end = arena_cut<uint32_t>(arena, count_programs(plan));
	a->steps = arena_cut<struct step>(arena, n.nsteps);
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

/* Copies the programs: the literals of all of them as one text, and for each column that is loaded where a lane finds it. One that
 * is computed with is parsed. */
static void flatten_programs(const struct plan *plan, const struct plan_arrays *to)
{
	uint32_t nsteps = 0, nliteral_bytes = 0;

	for (size_t i = 0; i < count_programs(plan); i++) {
		const struct program *p = program_at(plan, i);
		for (size_t k = 0; k < p->nsteps; k++) {
			struct step step = p->steps[k];
			step.literal_begin += nliteral_bytes;
			if (step.code == STEP_LOAD) {
				uint32_t c = p->columns[step.index];
				step.index = step.load == LOAD_TEST ? to->span_of[c] : c;
				if (step.load != LOAD_TEST)
					to->folds[c] = to->parses[c] = 1;
			}
			to->steps[nsteps++] = step;
		}
		if (p->nliteral_bytes)
			memcpy(to->literals + nliteral_bytes, p->literals, p->nliteral_bytes);
		nliteral_bytes += (uint32_t)p->nliteral_bytes;
		to->program_end[i] = nsteps;
	}
}

/* The arrays lie alike in both memories, one after the other: one copy takes them all. */
enum status plan_copy_up(struct worker *w, struct fault *fault)
{
	const struct plan_arrays *from = &w->plan_pinned, *to = &w->plan_device;
	const struct plan *plan = w->plan;
	const struct step *end = from->steps + sizes_of(plan).nsteps;

	flatten_columns(plan, from);
	number_places(plan, from->span_of);
	flatten_programs(plan, from);
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
	to.programs.steps = a->steps;
	to.programs.end = a->program_end;
	to.programs.literals = a->literals;
	to.programs.npredicates = (uint32_t)plan->npredicates;
	to.programs.nlets = (uint32_t)plan->nlets;
	to.programs.where = plan->where == PREDICATE_NONE || plan->npredicates == 0
				      ? FIELDS_NO_WHERE
				      : (uint32_t)plan->where;
	to.programs.folds = a->folds;
	to.programs.span_of = a->span_of;
	for (size_t k = 0; k < plan->nlets; k++)
		to.programs.has_choices |= program_has(program_at(plan, plan->npredicates + k), STEP_IF);
	to.nkeys = (uint32_t)plan->nkeys;
	for (size_t k = 0; k < plan->nkeys; k++)
		to.key[k] = (uint32_t)plan->keys[k];
	return to;
}
