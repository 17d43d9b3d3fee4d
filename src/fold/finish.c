/* SPDX-License-Identifier: MIT
 *
 * finish.c - see finish.h: names become columns, groups become rows, and programs are run for these.
 */
#include "fold/finish.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/thread.h"
#include "fold/group_lists.h"
#include "fold/group_order.h"
#include "fold/group_result.h"
#include "fold/result.h"
#include "number/decimal_text.h"
#include "number/quotient.h"

/* ---- names become columns ---- */

/* While programs get their columns. */
struct placing {
	struct finishing *g;
	struct finish *f;
	const struct query *q;
	const char *option; /* whose program it is */
	struct fault *fault;
};

static enum status place_result(struct placing *p, size_t result, uint32_t *column);

/* Makes a program the next column; it is freed with those of f. */
static enum status add_program(struct finish *f, struct program *program, uint32_t *column)
{
	*column = (uint32_t)f->nprograms;
	return ARRAY_PUSH(f->programs, f->nprograms, program);
}

static bool is_same_source(const struct finish_source *a, const struct finish_source *b)
{
	return a->kind == b->kind && a->index == b->index && a->result.operation == b->result.operation &&
	       a->result.column == b->result.column && a->result.use == b->result.use && a->result.other == b->result.other;
}

/* Places a column that is looked up, unless it is there. name: for messages. */
static enum status place_source(struct placing *p, struct finish_source source, const char *name, uint32_t *column)
{
	struct finish *f = p->f;
	struct program *program;

	for (size_t c = 0; c < f->nprograms; c++)
		if (f->programs[c]->is_aggregate && is_same_source(&f->sources[f->programs[c]->aggregate], &source)) {
			*column = (uint32_t)c;
			return STATUS_OK;
		}
	TRY(ARRAY_PUSH(f->sources, f->nsources, source));
	NEED(program = calloc(1, sizeof *program));
	*program = (struct program){.type = TYPE_ANY, .is_aggregate = true, .aggregate = f->nsources - 1, .nvalues = 1};
	TRY(add_program(f, program, column));
	program->name = strdup(name);
	return program->name ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status place_share(struct placing *p, const struct result *r, uint32_t *column)
{
	const struct program_context context = {
		NULL, &finished_dialect, '.', NULL, NULL, true, NULL, false};
	const char *name = p->q->plan.columns[r->column].name;
	struct finishing *g = p->g;
	struct program *program;
	const struct result sum = {OPERATION_SUM, .use = r->use, .column = r->column};
	uint32_t part, total;
	size_t i = 0;

	if (r->operation == OPERATION_CUMSHARE && p->f == &g->listed)
		return option_fault(p->fault, "--%s: cumshare(%.64s) is known when the order is, of the groups that are printed", p->option,
				    name);
	while (i < g->nshares && g->shares[i].sum.column != r->column)
		i++;
	if (i == g->nshares)
		TRY(ARRAY_PUSH(g->shares, g->nshares, (struct finish_share){.sum = sum}));
	g->runs |= r->operation == OPERATION_CUMSHARE;
	if (r->operation == OPERATION_CUMSHARE)
		TRY(place_source(p, (struct finish_source){.kind = FINISH_RUNNING, .index = i}, name, &part));
	else
		TRY(place_source(p, (struct finish_source){.kind = FINISH_RESULT, .result = sum}, name, &part));
	TRY(place_source(p, (struct finish_source){.kind = FINISH_TOTAL, .index = i}, name, &total));
	NEED(program = calloc(1, sizeof *program));
	TRY(add_program(p->f, program, column));
	TRY(program_compile(program, "let", "share = part / total", &context, p->fault));
	program->columns[0] = part;
	program->columns[1] = total;
	return STATUS_OK;
}

static enum status fail_name(const struct placing *p, const struct selector *s)
{
	const char *of = p->q->plan.nkeys ? "neither a result nor a column of --by" : "no result";

	if (!s->is_aggregate && strlen(s->text) < 64 && header_names_column(&p->q->header, s->text, strlen(s->text)))
		return option_fault(p->fault, "--%s: '%s' is %s: the column has many values, and a result is sum(%s), max(%s), first(%s)",
				    p->option, s->text, of, s->text, s->text, s->text);
	if (s->is_aggregate)
		return option_fault(p->fault, "--%s: '%.64s' is none of the results: ask for it with --agg where the parts are written",
				    p->option, s->text);
	return option_fault(p->fault, "--%s: '%.64s' is %s%s", p->option, s->text, of,
			    strcmp(s->text, "count") ? "" : ": count() is the number of records");
}

/* Places what a name in an expression means: a result as its heading has it, before those of --agg from place `from` on, another
 * aggregate, or a key. So sum(3) is the sum of a column called 3, if that was asked for. */
static enum status place_name(struct placing *p, const struct selector *s, size_t from, uint32_t *column)
{
	const struct query *q = p->q;
	size_t key;

	for (size_t i = 0; i < q->nshown; i++) {
		char *name;
		bool is_named;
		if (operation_kind(q->results[i].operation) == OPERATION_EXPR && q->results[i].other >= from)
			continue;
		NEED(name = result_name(q, &q->results[i]));
		is_named = !strcmp(name, s->text);
		free(name);
		if (is_named)
			return place_result(p, i, column);
	}
	for (size_t i = 0; s->is_aggregate && i < q->nhidden; i++)
		if (!strcmp(q->hidden[i], s->text))
			return place_result(p, q->nshown + i, column);
	if (!s->is_aggregate && group_sort_find_key(q, s, &key))
		return place_source(p, (struct finish_source){.kind = FINISH_KEY, .index = key}, q->plan.columns[q->plan.keys[key]].name, column);
	return fail_name(p, s);
}

/* Gives a copy of one of the query's finishers its columns, unless it has them in f. */
static enum status place_finisher(struct placing *p, size_t k, struct program **out, uint32_t *column)
{
	const struct program *of = &p->q->finishers[k];
	struct program *program;

	if (!out && p->f->placed[k] != NO_COLUMN) {
		*column = p->f->placed[k];
		return STATUS_OK;
	}
	NEED(program = calloc(1, sizeof *program));
	*program = *of;
	program->columns = calloc(of->names.nselectors + 1, sizeof *program->columns);
	if (!program->columns) {
		free(program);
		return STATUS_NO_MEMORY;
	}
	if (out)
		*out = program;
	else
		TRY(add_program(p->f, program, column));
	for (size_t i = 0; i < of->names.nselectors; i++)
		TRY(place_name(p, &of->names.selectors[i], k, &program->columns[i]));
	if (!out)
		p->f->placed[k] = *column;
	return STATUS_OK;
}

static enum status place_result(struct placing *p, size_t result, uint32_t *column)
{
	const struct result *r = &p->q->results[result];
	enum status status;
	char *name;

	if (operation_kind(r->operation) == OPERATION_EXPR)
		return place_finisher(p, r->other, NULL, column);
	if (operation_kind(r->operation) == OPERATION_FRACTION)
		return place_share(p, r, column);
	NEED(name = result_name(p->q, r));
	status = place_source(p, (struct finish_source){.kind = FINISH_RESULT, .result = *r}, name, column);
	free(name);
	return status;
}

/* Adds a key of --sort that is a result, or computed of results. */
static enum status add_sort(struct placing *p, struct group_sort *sort, struct group_sort_key key)
{
	uint32_t column;

	if (key.kind == SORT_RESULT && operation_is_computed(p->q->results[key.index].operation)) {
		TRY(place_result(p, key.index, &column));
		key.kind = SORT_COMPUTED;
		key.index = column;
	}
	return ARRAY_PUSH(sort->keys, sort->n, key);
}

/* Says why an item of --sort means nothing to sort by. */
static enum status fail_sort(struct placing *p, const struct sort_item *item)
{
	const struct query *q = p->q;
	const struct program_context context = {
		NULL, &finished_dialect, '.', result_names, NULL, true, NULL, false};
	struct program program;
	enum status status = STATUS_OK;

	if (q->uses[0].title && header_names_column(&q->header, item->text, strlen(item->text))) /* groups are counted, and nothing else */
		return option_fault(p->fault, "--sort: '%.64s' is neither a column of --by nor count: --top N prints the first N records of "
				    "each group, and max(%.64s) is one value of it", item->text, item->text);
	if (strpbrk(item->text, "()+*/%=<>"))
		status = program_compile(&program, "sort", item->text, &context, p->fault);
	else
		return group_sort_unknown(q, item->text, p->fault);
	program_free(&program);
	return status == STATUS_OK ? group_sort_unknown(q, item->text, p->fault) : status;
}

/* Finds what each item of --sort is. All of it may be the name of one result. */
static enum status place_sort(struct placing *p, struct group_sort *sort, const char *text)
{
	const struct query *q = p->q;
	const size_t first = q->nfinishers - q->nsorts;
	struct group_sort_key key = {.is_descending = *text == '-'};
	bool found = false;

	p->option = "sort";
	if (q->nsorts > 1)
		TRY(group_sort_find(q, text + key.is_descending, false, &key, &found));
	if (found)
		return add_sort(p, sort, key);
	for (size_t i = 0; i < q->nsorts; i++) {
		const struct program *program = &q->finishers[first + i];
		uint32_t column;
		key.is_descending = q->sorts[i].is_descending;
		TRY(group_sort_find(q, q->sorts[i].text, q->sorts[i].is_quoted, &key, &found));
		if (!found) {
			if (program->names.nselectors == 0 ||
			    (program->nsteps == 1 && program->steps->code == STEP_LOAD && !strpbrk(q->sorts[i].text, "(`")))
				return fail_sort(p, &q->sorts[i]);
			TRY(place_finisher(p, first + i, NULL, &column));
			key.kind = SORT_COMPUTED;
			key.index = column;
		}
		TRY(add_sort(p, sort, key));
	}
	return STATUS_OK;
}

/* By the first result, whichever it will be: those of '*' may be dropped. */
static enum status place_top(struct placing *p, struct group_sort *sort)
{
	const struct query *q = p->q;
	struct group_sort_key key = {.kind = SORT_FIRST, .is_descending = true};
	size_t i = 0;
	uint32_t column = 0;

	p->option = "top";
	while (i + 1 < q->nshown && q->results[i].if_numeric)
		i++;
	if (q->nshown > 0 && operation_is_computed(q->results[i].operation))
		TRY(place_result(p, i, &column));
	key.index = column;
	return add_sort(p, sort, key);
}

/* Makes the plan of a set whose programs have been placed. */
static enum status plan_finish(struct finish *f, const struct query *q)
{
	struct plan *plan = &f->plan;

	plan->dialect = finished_dialect;
	plan->notation = q->plan.notation;
	plan->zone = q->plan.zone;
	plan->bad_record = q->plan.bad_record;
	plan->computes = true;
	plan->ncolumns = plan->nlets = f->nprograms;
	NEED(plan->columns = calloc(f->nprograms + 1, sizeof *plan->columns));
	for (size_t c = 0; c < f->nprograms; c++)
		plan->columns[c] = (struct plan_column){.let = f->programs[c], .name = f->programs[c]->name};
	return STATUS_OK;
}

static enum status place_all(struct placing *p, struct group_sort *sort, const char *text, uint64_t top)
{
	const struct query *q = p->q;
	const size_t nexprs = q->nfinishers - q->nsorts;
	struct finishing *g = p->g;
	bool has_having = false;

	for (size_t i = 0; i < q->nshown; i++) {
		p->f = &g->printed;
		p->option = q->uses[q->results[i].use].name;
		if (operation_is_computed(q->results[i].operation))
			TRY(place_result(p, i, &g->columns[i]));
	}
	p->f = &g->listed;
	g->listed.plan.where = PREDICATE_NONE;
	g->printed.plan.where = PREDICATE_NONE;
	for (size_t k = 0; k < nexprs; k++)
		has_having |= !q->finishers[k].name;
	if (has_having) { /* the last of them */
		struct program *program = NULL;
		p->option = "having";
		NEED(g->listed.plan.predicates = calloc(1, sizeof *g->listed.plan.predicates));
		TRY(place_finisher(p, nexprs - 1, &program, NULL));
		g->listed.plan.predicates[0] = program;
		g->listed.plan.npredicates = 1;
		g->listed.plan.where = 0;
	}
	if (text)
		TRY(place_sort(p, sort, text));
	else if (top)
		TRY(place_top(p, sort));
	TRY(plan_finish(&g->listed, q));
	return plan_finish(&g->printed, q);
}

static enum status finish_init(struct finish *f, const struct query *q)
{
	NEED(f->placed = calloc(q->nfinishers + 1, sizeof *f->placed));
	for (size_t k = 0; k < q->nfinishers; k++)
		f->placed[k] = NO_COLUMN;
	return STATUS_OK;
}

enum status finishing_make(struct finishing **out, struct group_sort *sort, const struct query *q, const char *text, uint64_t top,
			   struct fault *fault)
{
	struct finishing *g = calloc(1, sizeof *g);
	struct placing p = {.g = g, .q = q, .fault = fault};

	*out = g;
	*sort = (struct group_sort){.n = 0};
	NEED(g);
	g->q = q;
	pthread_mutex_init(&g->lock, NULL);
	g->fault_first = UINT64_MAX;
	NEED(g->columns = calloc(q->nshown + 1, sizeof *g->columns));
	TRY(finish_init(&g->listed, q));
	TRY(finish_init(&g->printed, q));
	TRY(place_all(&p, sort, text, top));
	if (g->listed.nprograms + g->printed.nprograms + g->listed.plan.npredicates > 0)
		return STATUS_OK;
	finishing_free(g);
	*out = NULL;
	return STATUS_OK;
}

/* Frees a program that place_* has made: what a copy has of its own, or all. */
static void free_program(const struct query *q, struct program *program)
{
	for (size_t k = 0; k < q->nfinishers; k++)
		if (program->steps && program->steps == q->finishers[k].steps) {
			free(program->columns);
			free(program);
			return;
		}
	program_free(program);
	free(program);
}

static void finish_free(struct finish *f, const struct query *q)
{
	for (size_t c = 0; c < f->nprograms; c++)
		free_program(q, f->programs[c]);
	for (size_t i = 0; i < f->plan.npredicates; i++)
		free_program(q, (struct program *)(uintptr_t)f->plan.predicates[i]);
	free(f->programs);
	free(f->placed);
	free(f->sources);
	free(f->plan.columns);
	free(f->plan.predicates);
}

void finishing_free(struct finishing *g)
{
	if (!g)
		return;
	finish_free(&g->listed, g->q);
	finish_free(&g->printed, g->q);
	for (size_t i = 0; i < g->nshares; i++)
		exact_free(&g->shares[i].total);
	for (size_t i = 0; i < g->nbefore * g->nshares; i++)
		exact_free(&g->before[i]);
	free(g->before);
	free(g->shares);
	free(g->columns);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

/* ---- sums over groups ---- */

/* Adds a result that is a sum. */
static enum status add_text(struct exact *to, const char *text, size_t nbytes)
{
	struct integer room;
	struct exact x;

	return exact_parse(text, nbytes, &room, &x) == STATUS_OK ? exact_add(to, &x) : STATUS_OK; /* it may have no value */
}

static enum status add_group(struct exact *sums, const struct finishing *g, struct group_rows *rows, struct group *group)
{
	struct group_row row = {.group = group};
	struct result_value v;
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < g->nshares; i++) {
		status = group_row_find(rows, &row, &g->shares[i].sum, NULL, &v);
		THEN(status, add_text(&sums[i], v.text, v.nbytes));
	}
	group_row_end(rows, &row);
	return status;
}

/* Groups that are summed: those of the store's parts, or of a list's blocks. */
struct summing {
	struct finishing *g;
	const struct group_rows *rows; /* those of the threads are like them */
	const struct group_list *list;
	size_t block_nrows;
	atomic_size_t next; /* block */
	_Atomic(enum status) status;
};

/* Those of one thread. */
struct adding {
	struct finishing *g;
	struct group_rows rows;
	struct exact *sums;
};

static enum status add_visited(void *context, struct group *group)
{
	struct adding *a = context;

	return add_group(a->sums, a->g, &a->rows, group);
}

static enum status sum_part(void *context, struct groups *part)
{
	struct summing *s = context;
	struct adding a = {.g = s->g, .sums = calloc(s->g->nshares, sizeof *a.sums)};
	enum status status = a.sums ? group_rows_init(&a.rows, s->rows->q, s->rows->total, 1) : STATUS_NO_MEMORY;

	THEN(status, groups_each(part, add_visited, &a));
	pthread_mutex_lock(&s->g->lock);
	for (size_t i = 0; status == STATUS_OK && i < s->g->nshares; i++)
		status = exact_add(&s->g->shares[i].total, &a.sums[i]);
	pthread_mutex_unlock(&s->g->lock);
	for (size_t i = 0; a.sums && i < s->g->nshares; i++)
		exact_free(&a.sums[i]);
	free(a.sums);
	group_rows_free(&a.rows);
	return status;
}

enum status finishing_sum(struct finishing *g, const struct group_rows *rows, size_t nthreads)
{
	struct group_store *store = rows->q->plan.groups;
	struct summing s = {.g = g, .rows = rows};

	if (g->nshares == 0)
		return STATUS_OK;
	return group_store_visit(store, nthreads, sum_part, &s);
}

static void *sum_blocks(void *context)
{
	struct summing *s = context;
	struct group_rows rows;
	enum status status = group_rows_init(&rows, s->rows->q, s->rows->total, 1);
	size_t block;

	while (status == STATUS_OK && (block = atomic_fetch_add(&s->next, 1)) + 1 < s->g->nbefore) {
		struct exact *sums = &s->g->before[(block + 1) * s->g->nshares];
		for (size_t i = block * s->block_nrows; status == STATUS_OK && i < (block + 1) * s->block_nrows; i++)
			status = add_group(sums, s->g, &rows, group_list_at(s->list, i));
	}
	if (status != STATUS_OK)
		s->status = status;
	group_rows_free(&rows);
	return NULL;
}

enum status finishing_sum_before(struct finishing *g, const struct group_rows *rows, const struct group_list *list, size_t block_nrows,
				 size_t nthreads)
{
	struct summing s = {.g = g, .rows = rows, .list = list, .block_nrows = block_nrows};

	if (!g->runs || list->n == 0)
		return STATUS_OK;
	g->nbefore = (list->n + block_nrows - 1) / block_nrows;
	NEED(g->before = calloc(g->nbefore * g->nshares + 1, sizeof *g->before));
	team_run(list->n < GROUPS_NTHREAD ? 1 : nthreads, sum_blocks, &s);
	TRY(s.status);
	for (size_t i = g->nshares; i < g->nbefore * g->nshares; i++)
		TRY(exact_add(&g->before[i], &g->before[i - g->nshares]));
	return STATUS_OK;
}

/* ---- rows ---- */

enum status finisher_init(struct finisher *f, const struct query *q, const struct finish *finish)
{
	memset(f, 0, sizeof *f);
	if (!finish || finish->nprograms + finish->plan.npredicates == 0)
		return STATUS_OK;
	f->all = q->finishing;
	f->finish = finish;
	f->q = q;
	memset(f->text, '\n', ROW_BLOCK_NROWS);
	for (uint32_t i = 0; i <= ROW_BLOCK_NROWS; i++)
		f->ends[i] = i - 1;
	f->values = calloc(ROW_BLOCK_NROWS * finish->nsources + 1, sizeof *f->values);
	f->running = calloc(f->all->nshares + 1, sizeof *f->running);
	NEED(f->values && f->running);
	TRY(row_block_init(&f->block, &finish->plan));
	TRY(program_block_init(&f->programs, &finish->plan));
	f->block.programs = &f->programs;
	return row_filter_init(&f->filter, &finish->plan);
}

void finisher_free(struct finisher *f)
{
	if (!f->finish)
		return;
	if (f->values)
		finisher_clear(f);
	for (size_t i = 0; f->running && i < f->all->nshares; i++)
		exact_free(&f->running[i]);
	free(f->running);
	free(f->values);
	row_block_free(&f->block);
	program_block_free(&f->programs);
	row_filter_free(&f->filter);
	free(f->scratch.data);
	f->finish = NULL;
}

enum status finisher_begin(struct finisher *f, size_t block)
{
	for (size_t i = 0; f->all->before && i < f->all->nshares; i++) {
		exact_free(&f->running[i]);
		TRY(exact_copy(&f->running[i], &f->all->before[block * f->all->nshares + i]));
	}
	return STATUS_OK;
}

void finisher_clear(struct finisher *f)
{
	for (size_t i = 0; i < f->n * f->finish->nsources; i++)
		aggregate_value_free(&f->values[i]);
	f->n = 0;
}

static enum status set_exact(struct aggregate_value *to, const struct exact *x)
{
	char text[EXACT_TEXT_NBYTES];

	return aggregate_value_set(to, text, (size_t)(exact_write(x, x->scale, text) - text), true);
}

/* Looks up a key. One that is missing among records is missing here. */
static enum status set_key(struct aggregate_value *to, const struct query *q, const struct group *g, size_t i)
{
	size_t nbytes;
	const char *text = group_key_value(g, i, &nbytes);

	return aggregate_value_set(to, text, value_is_missing(&q->plan, 0, text, nbytes) ? 0 : nbytes, false);
}

enum status finisher_add(struct finisher *f, struct group_rows *rows, struct group *g)
{
	struct aggregate_value *to = &f->values[f->n++ * f->finish->nsources];
	struct group_row row = {.group = g};
	enum status status = STATUS_OK;

	if (f->finish == &f->all->printed && f->all->runs)
		TRY(add_group(f->running, f->all, rows, g));
	for (size_t i = 0; i < f->finish->nsources && status == STATUS_OK; i++, to++) {
		const struct finish_source *source = &f->finish->sources[i];
		switch (source->kind) {
		case FINISH_KEY:
			status = set_key(to, f->q, g, source->index);
			break;
		case FINISH_TOTAL:
			status = set_exact(to, &f->all->shares[source->index].total);
			break;
		case FINISH_RUNNING:
			status = set_exact(to, &f->running[source->index]);
			break;
		case FINISH_RESULT:
			status = aggregate_value_find(to, rows, &row, &source->result);
			break;
		}
	}
	group_row_end(rows, &row);
	return status;
}

enum status finisher_run(struct finisher *f)
{
	const struct row_run run = {f->ends + 1, 1, f->n};
	struct program_block *l = &f->programs;

	for (;;) {
		TRY(program_block_begin(l, f->text, ROW_BLOCK_NROWS));
		row_block_set(&f->block, l->data, &run, 0);
		for (size_t row = 0; row < f->n; row++)
			l->aggregates[row] = &f->values[row * f->finish->nsources];
		l->has_aggregates = true;
		TRY(row_filter_block(&f->filter, l, &f->block));
		for (size_t c = 0; c < f->finish->nprograms; c++)
			program_block_wrong(&f->block, c);
		for (size_t c = 0; c < f->finish->nprograms; c++) /* what is wrong is shown */
			for (uint64_t rows = program_block_wrong(&f->block, c); rows; rows &= rows - 1)
				program_block_field(&f->block, c, (unsigned)__builtin_ctzll(rows));
		if (!l->is_full)
			return l->status;
		program_block_widen(l);
	}
}

static enum status fail_value(const struct finisher *f, uint32_t column, enum status why, struct field_span field, struct fault *fault)
{
	fault_set_value(fault, why, f->block.text + field.begin, field.end - field.begin);
	fault->column = column == NO_COLUMN ? NULL : f->finish->programs[column]->name;
	return why;
}

/* Notes a fault of a group, unless one before it has one. */
static void note_fault(struct finisher *f, const struct group *g, const struct fault *fault)
{
	pthread_mutex_lock(&f->all->lock);
	if (g->first < f->all->fault_first) {
		f->all->fault_first = g->first;
		f->all->fault = *fault;
	}
	pthread_mutex_unlock(&f->all->lock);
}

/* Notes the first group in the input for which --having has no answer. */
static enum status note_undecided(struct finisher *f, struct group *const *groups)
{
	const size_t n = f->n;
	size_t first = (size_t)__builtin_ctzll(f->filter.undecided);
	struct fault fault = {.status = STATUS_OK};
	enum status status;

	for (uint64_t rows = f->filter.undecided; rows; rows &= rows - 1)
		if (groups[__builtin_ctzll(rows)]->first < groups[first]->first)
			first = (size_t)__builtin_ctzll(rows);
	for (size_t i = 0; i < f->finish->nsources; i++) { /* the culprit is known of the first row */
		struct aggregate_value *value = &f->values[first * f->finish->nsources + i], moved = f->values[i];
		f->values[i] = *value;
		*value = moved;
	}
	f->n = 1;
	status = finisher_run(f);
	f->n = n;
	TRY(status);
	fail_value(f, f->filter.culprit.column, f->filter.culprit.why, f->filter.culprit.field, &fault);
	note_fault(f, groups[first], &fault);
	return STATUS_OK;
}

enum status finisher_run_listed(struct finisher *f, struct group *const *groups, bool *has_answer)
{
	TRY(finisher_run(f));
	*has_answer = f->filter.undecided == 0 || f->finish->plan.bad_record != INVALID_ERROR;
	return *has_answer ? STATUS_OK : note_undecided(f, groups);
}

bool finisher_holds(const struct finisher *f, size_t row)
{
	return f->filter.kept >> row & 1;
}

enum status finisher_value(struct finisher *f, size_t row, uint32_t column, const char **text, size_t *nbytes, bool *is_number,
			   struct fault *fault)
{
	const enum status why = program_block_why(&f->block, column, (unsigned)row);

	*text = "";
	*nbytes = 0;
	*is_number = true;
	if (why != STATUS_OK)
		return f->finish->plan.bad_record != INVALID_ERROR
			       ? STATUS_OK
			       : fail_value(f, column, why, program_block_field(&f->block, column, (unsigned)row), fault);
	return program_block_plain(&f->block, column, (unsigned)row, &f->scratch, text, nbytes, is_number);
}

bool finisher_counts(const struct finisher *f, uint32_t column)
{
	const struct finish *finish = f->finish;
	const struct program *p = finish->programs[column];

	while (!p->is_aggregate && p->nsteps == 1 && p->steps->code == STEP_LOAD)
		p = finish->programs[p->columns[p->steps->index]];
	return p->is_aggregate && finish->sources[p->aggregate].kind == FINISH_RESULT &&
	       operation_counts(finish->sources[p->aggregate].result.operation);
}

enum status finisher_listed(struct finisher *f, size_t row, uint32_t column, const struct group *g, const char **text, size_t *nbytes,
			    bool *is_number)
{
	struct fault fault = {.status = STATUS_OK};
	enum status status = finisher_value(f, row, column, text, nbytes, is_number, &fault);

	if (fault.status != STATUS_OK) {
		note_fault(f, g, &fault);
		return STATUS_OK;
	}
	return status;
}
