/* SPDX-License-Identifier: MIT
 *
 * group_order.c - see group_order.h, and group_sort_find of group_result.h. Threads take one part of the store
 * after the other, and keep its first groups; the parts' are then merged. Where few of many groups are wanted
 * no list of all is made, and each group is touched once, in the order in which they lie in memory. Of a source, a thread
 * keeps the first of all that it has read.
 */
#include "fold/group_order.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "fold/group_heap.h"
#include "fold/group_source.h"
#include "fold/group_values.h"
#include "fold/result.h"
#include "query/option_table.h"

/* ---- by what ---- */

/* How well a result is named: not, by its columns, by its operation, or as it is printed. */
enum fit { FIT_NONE, FIT_COLUMN, FIT_OPERATION, FIT_NAME };

/* Whether a result's name as it is printed, "sum(bytes)", has these columns. */
static bool has_columns(const char *printed, const char *columns)
{
	const char *open = strchr(printed, '(');
	size_t nbytes = strlen(columns);

	return open && !strncmp(open + 1, columns, nbytes) && !strcmp(open + 1 + nbytes, ")");
}

static enum fit fit_of(const struct query *q, const struct result *r, const char *name, enum status *status)
{
	const struct operation_use *use = &q->uses[r->use];
	const char *title = use->title ? use->title : operation_title(r->operation);
	char *printed = result_name(q, r);
	enum fit fit = FIT_NONE;

	if (!printed) {
		*status = STATUS_NO_MEMORY;
		return FIT_NONE;
	}
	if (!strcmp(printed, name))
		fit = FIT_NAME;
	else if (!strcmp(use->name, name) || (r->operation != OPERATION_PERCENTILE && !strcmp(title, name)))
		fit = FIT_OPERATION;
	else if (has_columns(printed, name))
		fit = FIT_COLUMN;
	free(printed);
	return fit;
}

/* Finds the result that the name fits best; *n: how many it fits so. */
static enum fit find_result(const struct query *q, const char *name, size_t *index, size_t *n,
			    enum status *status)
{
	enum fit best = FIT_NONE;

	for (size_t i = 0; i < q->nresults && *status == STATUS_OK; i++) {
		enum fit fit = fit_of(q, &q->results[i], name, status);
		if (fit == FIT_NONE || fit < best)
			continue;
		*n = fit > best ? 1 : *n + 1;
		if (fit > best)
			*index = i;
		best = fit;
	}
	return best;
}

static bool find_key(const struct query *q, const char *name, size_t *index)
{
	for (size_t i = 0; i < q->plan.nkeys; i++)
		if (!strcmp(q->plan.columns[q->plan.keys[i]].name, name)) {
			*index = i;
			return true;
		}
	return false;
}

/* Lists what may be sorted by. */
static enum status unknown_name(const struct query *q, const char *name, struct fault *fault)
{
	char list[FAULT_DETAIL_NBYTES] = "";
	size_t n = 0;

	for (size_t i = 0; i < q->plan.nkeys + q->nresults && n < sizeof list; i++) {
		char *result = i < q->plan.nkeys ? strdup(q->plan.columns[q->plan.keys[i]].name)
						 : result_name(q, &q->results[i - q->plan.nkeys]);
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
				      result ? result : "");
		free(result);
	}
	return option_fault(fault, "--sort: '%.64s' is not one result: %.150s", name, list);
}

enum status group_sort_find(const struct query *q, const char *name, uint64_t top, struct group_sort *out,
			    struct fault *fault)
{
	enum status status = STATUS_OK;
	enum fit fit;
	size_t n = 0;

	*out = (struct group_sort){.is_given = name || top, .is_first = !name, .is_descending = !name};
	if (!name)
		return STATUS_OK;
	out->is_descending = *name == '-';
	name += out->is_descending;
	fit = find_result(q, name, &out->index, &n, &status);
	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	if (fit == FIT_NAME)
		return STATUS_OK;
	out->is_key = find_key(q, name, &out->index);
	return out->is_key || n == 1 ? STATUS_OK : unknown_name(q, name, fault);
}

/* ---- a group's value ---- */

static enum status read_value(struct group_rows *rows, const struct group_sort *sort, struct group *g,
			      struct sort_value *v)
{
	const struct number_notation *notation = &rows->q->plan.notation;
	char text[GROUP_RESULT_NBYTES], *end = NULL;
	struct group_row row = {NULL, NULL};
	struct cell cell = {.text = NULL};
	enum status status;
	size_t nbytes;

	if (sort->is_key) {
		const char *value = group_key_value(g, sort->index, &nbytes);
		return sort_value_set(v, value, nbytes, notation);
	}
	end = group_write_quickly(g, rows->q, &rows->q->results[sort->index], text);
	if (end)
		return sort_value_set(v, text, (size_t)(end - text), NULL);
	status = group_row_result(rows, &row, g, &rows->q->results[sort->index], &cell);
	group_row_end(rows, &row);
	if (status == STATUS_OK)
		status = sort_value_set(v, cell_number(&cell), strlen(cell_number(&cell)),
					cell.is_number ? NULL : notation);
	free(cell.text);
	return status;
}

/* ---- of all groups ---- */

/* The first values of a part of the store, or of what a thread has read of its source, in order. */
struct run {
	struct group_heap heap;
	size_t next; /* from there on they are not merged yet */
};
#define NRUNS_MAX (TEAM_NTHREADS_MAX > STORE_NPARTS ? TEAM_NTHREADS_MAX : STORE_NPARTS)

struct sorting {
	const struct group_rows *rows; /* those of the threads are like them */
	const struct group_sort *sort;
	const struct group_source *source; /* NULL: the groups are those of the store's parts */
	size_t nfirst; /* that are wanted */
	atomic_size_t next; /* part, or block of the source, that no thread has taken */
	atomic_size_t nruns; /* of a source: of threads that have begun */
	_Atomic(enum status) status;
	atomic_flag is_faulty;
	struct fault fault; /* of STATUS_GPU */
	struct run runs[NRUNS_MAX];
};

/* One thread's. */
struct gathering {
	const struct group_sort *sort;
	struct group_rows rows;
	struct group_heap *heap;
	size_t of; /* groups that are seen in all; SIZE_MAX: it is not known */
};

/* Copies a group that will be gone, and its key; takes its partial over. NULL: no memory. */
static struct group *copy_group(struct group *g, const struct plan *plan)
{
	size_t nbytes = key_is_long(&g->key) ? key_nbytes(&g->key) : 0;
	struct group *copy = malloc(plan->group_nbytes + nbytes);

	if (!copy)
		return NULL;
	memcpy(copy, g, plan->group_nbytes);
	if (nbytes)
		copy->key.text = memcpy((char *)copy + plan->group_nbytes, g->key.text, nbytes);
	g->rest = NULL;
	return copy;
}

/* Keeps a group that is among the first so far; a copy of it, if it will be gone. */
static enum status gather_group(void *context, struct group *group)
{
	struct gathering *g = context;
	struct sort_value v = {.first = group->first, .group = group};
	enum status status = read_value(&g->rows, g->sort, group, &v);

	if (status != STATUS_OK)
		return status;
	if (!group_heap_wants(g->heap, &v)) {
		free(v.text);
		return STATUS_OK;
	}
	if (g->heap->owns)
		v.group = copy_group(group, g->heap->owns);
	if (v.group)
		group_heap_offer(g->heap, v, g->of);
	else
		free(v.text);
	return v.group ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status sort_part(struct gathering *g, const struct groups *part, size_t nfirst, struct run *run)
{
	enum status status;

	g->of = part->ngroups;
	g->heap = &run->heap;
	status = group_heap_init(&run->heap, nfirst < g->of ? nfirst : g->of, g->sort->is_descending, NULL);
	if (status == STATUS_OK)
		status = groups_each(part, gather_group, g);
	group_heap_sort(&run->heap);
	return status;
}

static void *sort_parts(void *sorting)
{
	struct sorting *s = sorting;
	struct gathering g = {.sort = s->sort};
	enum status status = group_rows_init(&g.rows, s->rows->q, s->rows->total, s->rows->nthreads);
	size_t part;

	while (status == STATUS_OK && (part = atomic_fetch_add(&s->next, 1)) < STORE_NPARTS)
		status = sort_part(&g, group_store_part(s->rows->q->plan.groups, part), s->nfirst, &s->runs[part]);
	if (status != STATUS_OK)
		s->status = status;
	group_rows_free(&g.rows);
	return NULL;
}

/* ---- of a source ---- */

static enum status gather_blocks(struct sorting *s, struct gathering *g, struct group_reading *r)
{
	size_t n = (size_t)s->source->ngroups, block;
	enum status status = group_reading_begin(r, &s->rows->q->plan);

	while (status == STATUS_OK && (block = atomic_fetch_add(&s->next, 1)) * GROUP_SOURCE_NGROUPS < n) {
		size_t nleft = n - block * GROUP_SOURCE_NGROUPS;
		status = group_reading_visit(r, block, nleft < GROUP_SOURCE_NGROUPS ? nleft : GROUP_SOURCE_NGROUPS,
					     gather_group, g);
	}
	return status;
}

static void *sort_blocks(void *sorting)
{
	struct sorting *s = sorting;
	struct gathering g = {.sort = s->sort, .heap = &s->runs[atomic_fetch_add(&s->nruns, 1)].heap, .of = SIZE_MAX};
	struct group_reading r = {.reader = NULL};
	size_t n = (size_t)s->source->ngroups;
	enum status status = group_rows_init(&g.rows, s->rows->q, s->rows->total, s->rows->nthreads);

	if (status == STATUS_OK)
		status = group_heap_init(g.heap, s->nfirst < n ? s->nfirst : n, s->sort->is_descending,
					 &s->rows->q->plan);
	if (status == STATUS_OK)
		status = gather_blocks(s, &g, &r);
	group_heap_sort(g.heap);
	if (status == STATUS_GPU && !atomic_flag_test_and_set(&s->is_faulty))
		s->fault = r.fault;
	if (status != STATUS_OK)
		s->status = status;
	group_reading_end(&r);
	group_rows_free(&g.rows);
	return NULL;
}

/* ---- all of them ---- */

static const struct sort_value *next_of(const struct run *run)
{
	return &run->heap.at[run->next];
}

/* Moves the run at heap[i] down to where its next value belongs: the first of all is on top. */
static void settle(struct run **heap, size_t n, size_t i, bool descending)
{
	struct run *run = heap[i];
	size_t child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && sort_value_compare(next_of(heap[child + 1]), next_of(heap[child]), descending) < 0)
			child++;
		if (sort_value_compare(next_of(heap[child]), next_of(run), descending) > 0)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = run;
}

/* Fills the list with the first groups of all runs. */
static void merge_runs(struct sorting *s, struct group_list *list)
{
	bool descending = s->sort->is_descending;
	struct run *heap[NRUNS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < NRUNS_MAX; i++)
		if (s->runs[i].heap.n > 0)
			heap[n++] = &s->runs[i];
	for (size_t i = n; i-- > 0;)
		settle(heap, n, i, descending);
	for (size_t i = 0; i < list->n; i++) {
		*group_list_word(list, i) = (uintptr_t)next_of(heap[0])->group;
		if (++heap[0]->next == heap[0]->heap.n)
			heap[0] = heap[--n];
		if (n > 0)
			settle(heap, n, 0, descending);
	}
}

/* Sorts what the threads have found into a list, and frees the rest. */
static enum status end_sorting(struct sorting *s, struct group_list *list)
{
	enum status status = s->status;
	size_t n = 0;

	for (size_t i = 0; i < NRUNS_MAX; i++)
		n += s->runs[i].heap.n;
	if (status == STATUS_OK)
		status = group_list_new(s->nfirst < n ? s->nfirst : n, list);
	if (status == STATUS_OK) {
		list->owns = s->source ? &s->rows->q->plan : NULL;
		merge_runs(s, list);
	}
	for (size_t i = 0; i < NRUNS_MAX; i++)
		group_heap_free(&s->runs[i].heap, s->runs[i].next);
	return status;
}

enum status group_list_sort(struct group_list *list, const struct group_rows *rows, const struct group_sort *sort,
			    size_t nfirst, size_t nthreads, struct fault *fault)
{
	struct group_store *store = rows->q->plan.groups;
	struct sorting s = {.rows = rows, .sort = sort, .nfirst = nfirst, .source = group_store_source(store),
			    .is_faulty = ATOMIC_FLAG_INIT};
	uint64_t ngroups = s.source ? s.source->ngroups : group_store_count(store);
	enum status status;

	nthreads = ngroups < GROUP_LIST_FEW ? 1 : nthreads;
	status = group_store_settle(store, nthreads);
	if (status != STATUS_OK)
		return status;
	team_run(nthreads, s.source ? sort_blocks : sort_parts, &s);
	status = end_sorting(&s, list);
	if (status == STATUS_GPU)
		*fault = s.fault;
	return status;
}
