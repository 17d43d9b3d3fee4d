/* SPDX-License-Identifier: MIT
 *
 * group_order.c - see group_order.h, and group_sort_find of group_result.h. Threads take one part of the store
 * after the other, and keep its first groups; the parts' are then merged. Where few of many groups are wanted
 * no list of all is made, and each group is touched once, in the order in which they lie in memory.
 */
#include "fold/group_order.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "fold/result.h"
#include "query/option_table.h"

/* ---- by what ---- */

/* How well a result is named: not, by its operation, or as it is printed. */
enum fit { FIT_NONE, FIT_OPERATION, FIT_NAME };

static enum fit fit_of(const struct query *q, const struct result *r, const char *name, enum status *status)
{
	const struct operation_use *use = &q->uses[r->use];
	const char *title = use->title ? use->title : operation_title(r->operation);
	char *printed = result_name(q, r);
	bool is_same;

	if (!printed) {
		*status = STATUS_NO_MEMORY;
		return FIT_NONE;
	}
	is_same = !strcmp(printed, name);
	free(printed);
	if (is_same)
		return FIT_NAME;
	if (r->operation == OPERATION_PERCENTILE)
		return strlen(name) == use->name_nbytes && !strncmp(name, use->name, use->name_nbytes)
			       ? FIT_OPERATION : FIT_NONE;
	return !strcmp(title, name) || !strcmp(operation_name(r->operation), name) ? FIT_OPERATION
										   : FIT_NONE;
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

enum status group_sort_find(const struct query *q, const char *name, struct group_sort *out,
			    struct fault *fault)
{
	enum status status = STATUS_OK;
	enum fit fit;
	size_t n = 0;

	*out = (struct group_sort){.is_given = name != NULL};
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

/* ---- values in order ---- */

enum value_kind { VALUE_NUMBER, VALUE_WIDE, VALUE_TEXT, VALUE_EMPTY };

struct sort_value {
	enum value_kind kind;
	struct decimal number; /* of VALUE_NUMBER */
	char *text;            /* of VALUE_WIDE and VALUE_TEXT. Owned. */
	size_t nbytes;
	struct group_place place;
};

/* Sets the value to that of a text. Errors: STATUS_NO_MEMORY. */
static enum status set_value(struct sort_value *v, const char *text, size_t nbytes)
{
	enum decimal_kind kind = decimal_parse(text, nbytes, &v->number);

	v->text = NULL;
	v->nbytes = nbytes;
	v->kind = nbytes == 0		   ? VALUE_EMPTY
		  : kind == DECIMAL_NUMBER ? VALUE_NUMBER
		  : kind == DECIMAL_WIDE   ? VALUE_WIDE
					   : VALUE_TEXT;
	if (v->kind == VALUE_EMPTY || v->kind == VALUE_NUMBER)
		return STATUS_OK;
	v->text = malloc(nbytes);
	if (!v->text)
		return STATUS_NO_MEMORY;
	memcpy(v->text, text, nbytes);
	return STATUS_OK;
}

static void make_wide(const struct sort_value *v, struct wide *x)
{
	int scale;

	wide_clear(x);
	if (v->kind == VALUE_NUMBER)
		wide_add_decimal(x, v->number.significand, v->number.scale);
	else if (wide_parse(v->text, v->nbytes, x, &scale) != STATUS_OK)
		wide_clear(x);
}

static int compare_numbers(const struct sort_value *a, const struct sort_value *b)
{
	int difference = a->number.scale - b->number.scale;
	int128 x = a->number.significand, y = b->number.significand;
	struct wide wide_x, wide_y;

	if (a->kind == VALUE_NUMBER && b->kind == VALUE_NUMBER &&
	    decimal_rescale(&x, difference < 0 ? -difference : 0) &&
	    decimal_rescale(&y, difference > 0 ? difference : 0))
		return x < y ? -1 : x > y;
	make_wide(a, &wide_x);
	make_wide(b, &wide_y);
	return wide_compare(&wide_x, &wide_y);
}

static int compare_texts(const struct sort_value *a, const struct sort_value *b)
{
	int order = memcmp(a->text, b->text, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);

	return order ? order : a->nbytes < b->nbytes ? -1 : a->nbytes > b->nbytes;
}

/* Compares values: what is empty comes last, and of equal ones the first to appear comes first, whatever the
 * direction; numbers before texts, which turns around with it. */
static int compare(const struct sort_value *a, const struct sort_value *b, bool descending)
{
	bool a_text = a->kind == VALUE_TEXT, b_text = b->kind == VALUE_TEXT;
	int order = 0;

	if ((a->kind == VALUE_EMPTY) != (b->kind == VALUE_EMPTY))
		return a->kind == VALUE_EMPTY ? 1 : -1;
	if (a->kind != VALUE_EMPTY)
		order = a_text != b_text ? a_text - b_text
			: a_text	 ? compare_texts(a, b)
					 : compare_numbers(a, b);
	if (order)
		return descending ? -order : order;
	return a->place.first < b->place.first ? -1 : a->place.first > b->place.first;
}

static int compare_ascending(const void *a, const void *b)
{
	return compare(a, b, false);
}

static int compare_descending(const void *a, const void *b)
{
	return compare(a, b, true);
}

static enum status read_value(struct group_rows *rows, const struct group_sort *sort, struct group *g,
			      struct sort_value *v)
{
	char text[GROUP_RESULT_NBYTES], *end = NULL;
	struct group_row row = {NULL, NULL};
	struct cell cell = {NULL, false};
	enum status status;
	size_t nbytes;

	if (sort->is_key) {
		const char *value = group_key_value(g, sort->index, &nbytes);
		return set_value(v, value, nbytes);
	}
	end = group_write_quickly(g, &rows->q->plan, &rows->q->results[sort->index], text);
	if (end)
		return set_value(v, text, (size_t)(end - text));
	status = group_row_result(rows, &row, g, &rows->q->results[sort->index], &cell);
	group_row_end(rows, &row);
	if (status == STATUS_OK)
		status = set_value(v, cell.text, strlen(cell.text));
	free(cell.text);
	return status;
}

/* ---- the first ones ---- */

/* The first values of those that were offered: a heap whose top is the last of them. */
struct heap {
	struct sort_value *at; /* room for `most` */
	size_t n, most;
	bool descending;
};

static bool comes_before(const struct heap *h, const struct sort_value *a, const struct sort_value *b)
{
	return compare(a, b, h->descending) < 0;
}

/* Puts v into the heap from place i up. */
static void sift_up(struct heap *h, size_t i, struct sort_value v)
{
	for (; i > 0 && comes_before(h, &h->at[(i - 1) / 2], &v); i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = v;
}

/* Replaces the top by v. */
static void replace_top(struct heap *h, struct sort_value v)
{
	size_t i = 0, child;

	free(h->at[0].text);
	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && comes_before(h, &h->at[child], &h->at[child + 1]))
			child++;
		if (!comes_before(h, &v, &h->at[child]))
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = v;
}

/* Takes the value over. of: how many are offered in all. */
static void offer(struct heap *h, struct sort_value v, size_t of)
{
	if (h->most == of) { /* none is replaced: no order is needed */
		h->at[h->n++] = v;
	} else if (h->n < h->most) {
		h->n++;
		sift_up(h, h->n - 1, v);
	} else if (comes_before(h, &v, &h->at[0])) {
		replace_top(h, v);
	} else {
		free(v.text);
	}
}

/* ---- of all parts of the store ---- */

/* The first values of a part, in order. */
struct run {
	struct sort_value *at; /* from `next` on those that are not merged yet. Owned. */
	size_t n, next;
};

struct sorting {
	const struct group_rows *rows; /* those of the threads are like them */
	const struct group_sort *sort;
	size_t nfirst; /* that are wanted */
	atomic_size_t next; /* part that no thread has taken */
	_Atomic(enum status) status;
	struct run runs[STORE_NPARTS];
};

/* One thread's. */
struct gathering {
	const struct group_sort *sort;
	struct group_rows rows;
	struct heap heap;
	size_t of;
};

static enum status gather_group(void *context, struct group *group)
{
	struct gathering *g = context;
	struct sort_value v = {.place = {group->first, group}};
	enum status status = read_value(&g->rows, g->sort, group, &v);

	if (status == STATUS_OK)
		offer(&g->heap, v, g->of);
	return status;
}

static enum status sort_part(struct gathering *g, const struct groups *part, size_t nfirst, struct run *run)
{
	struct heap *h = &g->heap;
	enum status status;

	g->of = part->ngroups;
	*h = (struct heap){.most = nfirst < g->of ? nfirst : g->of, .descending = g->sort->is_descending};
	h->at = calloc(h->most + 1, sizeof *h->at);
	if (!h->at)
		return STATUS_NO_MEMORY;
	status = groups_each(part, gather_group, g);
	qsort(h->at, h->n, sizeof *h->at, h->descending ? compare_descending : compare_ascending);
	*run = (struct run){h->at, h->n, 0};
	return status;
}

static void *sort_parts(void *sorting)
{
	struct sorting *s = sorting;
	struct gathering g = {.sort = s->sort};
	enum status status = group_rows_init(&g.rows, s->rows->q, s->rows->total);
	size_t part;

	while (status == STATUS_OK && (part = atomic_fetch_add(&s->next, 1)) < STORE_NPARTS)
		status = sort_part(&g, group_store_part(s->rows->q->plan.groups, part), s->nfirst, &s->runs[part]);
	if (status != STATUS_OK)
		s->status = status;
	group_rows_free(&g.rows);
	return NULL;
}

/* Moves the run at heap[i] down to where its next value belongs: the first of all is on top. */
static void settle(struct run **heap, size_t n, size_t i, bool descending)
{
	struct run *run = heap[i];
	size_t child;

	while ((child = 2 * i + 1) < n) {
		const struct sort_value *left = &heap[child]->at[heap[child]->next];
		if (child + 1 < n && compare(&heap[child + 1]->at[heap[child + 1]->next], left, descending) < 0)
			child++;
		if (compare(&heap[child]->at[heap[child]->next], &run->at[run->next], descending) > 0)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = run;
}

/* Fills the list with the first places of all runs. */
static void merge_runs(struct sorting *s, struct group_list *list)
{
	bool descending = s->sort->is_descending;
	struct run *heap[STORE_NPARTS];
	size_t n = 0;

	for (size_t i = 0; i < STORE_NPARTS; i++)
		if (s->runs[i].n > 0)
			heap[n++] = &s->runs[i];
	for (size_t i = n; i-- > 0;)
		settle(heap, n, i, descending);
	for (size_t i = 0; i < list->n; i++) {
		list->at[i] = heap[0]->at[heap[0]->next++].place;
		if (heap[0]->next == heap[0]->n)
			heap[0] = heap[--n];
		if (n > 0)
			settle(heap, n, 0, descending);
	}
}

static void free_run(struct run *run)
{
	for (size_t i = 0; i < run->n; i++)
		free(run->at[i].text);
	free(run->at);
}

enum status group_list_sort(struct group_list *list, const struct group_rows *rows, const struct group_sort *sort,
			    size_t nfirst, size_t nthreads)
{
	struct group_store *store = rows->q->plan.groups;
	struct sorting s = {.rows = rows, .sort = sort, .nfirst = nfirst};
	uint64_t ngroups = group_store_count(store);
	enum status status;

	team_run(ngroups < GROUP_LIST_FEW ? 1 : nthreads, sort_parts, &s);
	status = s.status;
	if (status == STATUS_OK)
		status = group_list_new(nfirst < ngroups ? (size_t)nfirst : (size_t)ngroups, list);
	if (status == STATUS_OK)
		merge_runs(&s, list);
	for (size_t i = 0; i < STORE_NPARTS; i++)
		free_run(&s.runs[i]);
	return status;
}
