/* SPDX-License-Identifier: MIT
 *
 * group_order.c - see group_order.h.
 *
 * By first appearance, groups are dealt into slices of the input by their offsets, and each slice is sorted by itself, in the cache.
 * Threads take parts of the store, and know from a count where each part's groups of each slice go: the groups of a part lie about
 * in the order of the input, so they are read, and dealt, from one end to the other. Until it is sorted, a word of the list has the
 * group's address and, in the bits that no address uses, those of its offset that tell it from others of its slice: sorting does
 * not look at the groups.
 *
 * By a result or a key (--sort), threads take one part of the store after the other, and keep its first groups; the parts' are
 * then merged. Where few of many groups are wanted no list of all is made, and each group is touched once, in the order in which
 * they lie in memory. Of a source, a thread keeps the first of all that it has read.
 */
#include "fold/group_order.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/thread.h"
#include "fold/finish.h"
#include "fold/group_result.h"
#include "fold/group_lists.h"
#include "fold/key_memory.h"
#include "fold/order_key.h"
#include "fold/result.h"
#include "query/option_table.h"

/* ---- by first appearance ---- */

#define SLICE_NGROUPS 4096 /* in the mean, where there are more slices than this: */
#define NSLICES_FEW 1024   /* groups that appear early lie close together */
#define SLICE_NGROUPS_MIN 64
#define INSERTION_NGROUPS_MAX 32

/* Groups on their way into slices. */
struct dealing {
	struct group_store *store;
	size_t nthreads;
	atomic_size_t next;     /* slice that no thread has taken */
	_Atomic uint64_t last;  /* the largest offset */
	_Atomic enum status status;
	int shift;              /* from an offset to a slice */
	int tag_shift;          /* from an offset to a word's tag, the bits that follow */
	size_t nslices;
	size_t *ends;           /* nslices: of the slices, in the list */
	size_t *places;         /* nslices for each part of the store: how many groups it has there, then where the next one goes */
	const struct group_list *list;
};

#define ADDRESS_MASK (((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1)
#define TAG_BITS (64 - GROUPS_ADDRESS_BITS)

/* A part's groups, in a pass over them. */
struct dealing_part {
	const struct dealing *d;
	size_t *places;
	uint64_t last;
};

static enum status find_last(void *context, struct group *group)
{
	struct dealing_part *p = context;

	p->last = group->first > p->last ? group->first : p->last;
	return STATUS_OK;
}

static enum status find_last_of_part(void *context, struct groups *part)
{
	struct dealing_part p = {.last = 0};
	struct dealing *d = context;
	uint64_t last = d->last;

	groups_each(part, find_last, &p);
	while (p.last > last && !atomic_compare_exchange_weak(&d->last, &last, p.last))
		continue;
	return STATUS_OK;
}

static enum status count(void *context, struct group *group)
{
	struct dealing_part *p = context;

	p->places[group->first >> p->d->shift]++;
	return STATUS_OK;
}

static enum status count_part(void *context, struct groups *part)
{
	const struct dealing *d = context;
	struct dealing_part p = {.d = d, .places = d->places + part->part * d->nslices};

	return groups_each(part, count, &p);
}

static enum status deal(void *context, struct group *group)
{
	struct dealing_part *p = context;
	const size_t i = p->places[group->first >> p->d->shift]++;

	*group_list_word(p->d->list, i) = group->first >> p->d->tag_shift << GROUPS_ADDRESS_BITS | (uintptr_t)group;
	return STATUS_OK;
}

static enum status deal_part(void *context, struct groups *part)
{
	const struct dealing *d = context;
	struct dealing_part p = {.d = d, .places = d->places + part->part * d->nslices};

	return groups_each(part, deal, &p);
}

/* Makes counts the places where each part's groups of each slice begin. */
static void place_slices(struct dealing *d)
{
	size_t begin = 0, n;

	for (size_t part = 0; part < STORE_NPARTS; part++)
		for (size_t i = 0; i < d->nslices; i++)
			d->ends[i] += d->places[part * d->nslices + i];
	for (size_t i = 0; i < d->nslices; i++, begin += n) {
		n = d->ends[i];
		d->ends[i] = begin;
	}
	for (size_t part = 0; part < STORE_NPARTS; part++)
		for (size_t i = 0; i < d->nslices; i++) {
			n = d->places[part * d->nslices + i];
			d->places[part * d->nslices + i] = d->ends[i];
			d->ends[i] += n;
		}
}

static uint64_t first_of(uintptr_t word)
{
	return ((const struct group *)(word & ADDRESS_MASK))->first;
}

/* Whether one word of a slice comes before another: by their tags, unless these have too few bits. */
static bool word_comes_before(uintptr_t x, uintptr_t y)
{
	return (x ^ y) & ~ADDRESS_MASK ? x < y : first_of(x) < first_of(y);
}

/* Sorts n words of a list by their tags: two passes. sorted: room for them. */
static void sort_tags(const struct group_list *l, size_t begin, size_t n, uintptr_t *sorted)
{
	enum { DIGIT_BITS = TAG_BITS / 2, NDIGITS = 1 << DIGIT_BITS };
	size_t places[2][NDIGITS] = {{0}}, low = 0, high = 0;

	for (size_t i = 0; i < n; i++) {
		const uintptr_t tag = *group_list_word(l, begin + i) >> GROUPS_ADDRESS_BITS;
		places[0][tag % NDIGITS]++;
		places[1][tag / NDIGITS]++;
	}
	for (size_t digit = 0; digit < NDIGITS; digit++) {
		const size_t nlow = places[0][digit], nhigh = places[1][digit];
		places[0][digit] = low;
		places[1][digit] = high;
		low += nlow;
		high += nhigh;
	}
	for (size_t i = 0; i < n; i++) {
		const uintptr_t word = *group_list_word(l, begin + i);
		sorted[places[0][word >> GROUPS_ADDRESS_BITS & (NDIGITS - 1)]++] = word;
	}
	for (size_t i = 0; i < n; i++)
		*group_list_word(l, begin + places[1][sorted[i] >> (GROUPS_ADDRESS_BITS + DIGIT_BITS)]++) = sorted[i];
}

/* Sorts a slice, whose words are then addresses. room: for nroom words, to be made larger where it must. */
static enum status sort_slice(const struct group_list *l, size_t begin, size_t end, void **room, size_t *nroom)
{
	if (end - begin > *nroom) {
		key_memory_free(*room, *nroom * sizeof(uintptr_t));
		*room = NULL;
		*nroom = 0;
		TRY(key_memory_new((end - begin) * sizeof(uintptr_t), room));
		*nroom = end - begin;
	}
	if (end - begin > INSERTION_NGROUPS_MAX)
		sort_tags(l, begin, end - begin, *room);
	for (size_t i = begin + 1; i < end; i++) { /* those with one tag, or all */
		const uintptr_t word = *group_list_word(l, i);
		size_t j = i;
		for (; j > begin && word_comes_before(word, *group_list_word(l, j - 1)); j--)
			*group_list_word(l, j) = *group_list_word(l, j - 1);
		*group_list_word(l, j) = word;
	}
	for (size_t i = begin; i < end; i++)
		*group_list_word(l, i) &= ADDRESS_MASK;
	return STATUS_OK;
}

static void *sort_slices(void *context)
{
	struct dealing *d = context;
	void *room = NULL;
	size_t nroom = 0, i;

	while (d->status == STATUS_OK && (i = atomic_fetch_add(&d->next, 1)) < d->nslices) {
		const enum status status = sort_slice(d->list, i > 0 ? d->ends[i - 1] : 0, d->ends[i], &room, &nroom);
		if (status != STATUS_OK)
			d->status = status;
	}
	key_memory_free(room, nroom * sizeof(uintptr_t));
	return NULL;
}

/* The bytes of a list's piece. */
static size_t piece_nbytes(const struct group_list *l, size_t piece)
{
	size_t nleft = l->room - piece * GROUP_LIST_PIECE_NGROUPS;

	return (nleft < GROUP_LIST_PIECE_NGROUPS ? nleft : GROUP_LIST_PIECE_NGROUPS) * sizeof(uintptr_t);
}

/* Reserves n places. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS; the list can then be freed. */
static enum status group_list_new(size_t n, struct group_list *out)
{
	size_t npieces = (n + GROUP_LIST_PIECE_NGROUPS - 1) / GROUP_LIST_PIECE_NGROUPS;

	*out = (struct group_list){.pieces = calloc(npieces + 1, sizeof *out->pieces), .n = n, .room = n};
	NEED(out->pieces);
	for (size_t i = 0; i < npieces; i++) {
		void *memory;
		TRY(key_memory_new(piece_nbytes(out, i), &memory));
		out->pieces[i] = memory;
	}
	return STATUS_OK;
}

/* Where all groups are listed, none is looked for. */
static enum status drop_index(void *context, struct groups *part)
{
	(void)context;
	groups_drop_index(part);
	return STATUS_OK;
}

enum status group_list_make(struct group_store *s, size_t nthreads, struct group_list *out)
{
	struct dealing d = {.store = s, .nthreads = group_store_count(s) < GROUPS_NTHREAD ? 1 : nthreads, .list = out};
	size_t nslices, nbytes;
	void *memory;

	*out = (struct group_list){.pieces = NULL};
	TRY(group_store_visit(s, 1, drop_index, NULL));
	TRY(group_list_new(group_store_count(s), out));
	if (out->n == 0)
		return STATUS_OK;
	nslices = out->n / SLICE_NGROUPS_MIN < NSLICES_FEW ? out->n / SLICE_NGROUPS_MIN : NSLICES_FEW;
	nslices = out->n / SLICE_NGROUPS > nslices ? out->n / SLICE_NGROUPS : nslices;
	group_store_visit(s, d.nthreads, find_last_of_part, &d);
	while (d.last >> d.shift > nslices)
		d.shift++;
	d.tag_shift = d.shift > TAG_BITS ? d.shift - TAG_BITS : 0;
	d.nslices = (d.last >> d.shift) + 1;
	nbytes = (STORE_NPARTS + 1) * d.nslices * sizeof *d.ends;
	TRY(key_memory_new(nbytes, &memory));
	d.ends = memory;
	d.places = d.ends + d.nslices;
	group_store_visit(s, d.nthreads, count_part, &d);
	place_slices(&d);
	group_store_visit(s, d.nthreads, deal_part, &d);
	team_run(d.nthreads, sort_slices, &d);
	key_memory_free(memory, nbytes);
	return d.status;
}

/* ---- by keys ---- */

struct keyed_group {
	uint64_t begin; /* of its key */
	struct group *group;
};

/* The first bytes of a group's key as a number that is in their order. */
static uint64_t begin_of_key(const struct group *g)
{
	const char *text = key_text(&g->key);
	size_t nbytes = key_nbytes(&g->key);
	uint64_t begin = 0;

	for (size_t i = 0; i < 8; i++)
		begin = begin << 8 | (i < nbytes ? (unsigned char)text[i] : 0);
	return begin;
}

static int compare_keys(const void *a, const void *b)
{
	const struct keyed_group *x = a, *y = b;
	const int order = (x->begin > y->begin) - (x->begin < y->begin);

	return order ? order : key_order(&x->group->key, &y->group->key);
}

enum status group_list_order_keys(struct group_list *l)
{
	struct keyed_group *groups;
	void *memory;

	if (l->n == 0)
		return STATUS_OK;
	TRY(key_memory_new(l->n * sizeof *groups, &memory));
	groups = memory;
	for (size_t i = 0; i < l->n; i++)
		groups[i] = (struct keyed_group){begin_of_key(group_list_at(l, i)), group_list_at(l, i)};
	qsort(groups, l->n, sizeof *groups, compare_keys);
	for (size_t i = 0; i < l->n; i++)
		*group_list_word(l, i) = (uintptr_t)groups[i].group;
	key_memory_free(memory, l->n * sizeof *groups);
	return STATUS_OK;
}

void group_list_free(struct group_list *l)
{
	for (size_t i = 0; l->owns && i < l->n; i++)
		free(group_list_at(l, i));
	key_arena_free(&l->texts);
	for (size_t i = 0; l->pieces && i * GROUP_LIST_PIECE_NGROUPS < l->room; i++)
		key_memory_free(l->pieces[i], piece_nbytes(l, i));
	free(l->pieces);
	*l = (struct group_list){.pieces = NULL};
}

/* ---- by what groups are sorted ---- */

/* How well a result is named: not, by its columns, by its operation, or as it is printed. */
enum fit { FIT_NO_MEMORY, FIT_NONE, FIT_COLUMN, FIT_OPERATION, FIT_NAME };

/* Whether a result's name as it is printed, "sum(bytes)", has these columns. */
static bool has_columns(const char *printed, const char *columns)
{
	const char *open = strchr(printed, '(');
	size_t nbytes = strlen(columns);

	return open && !strncmp(open + 1, columns, nbytes) && !strcmp(open + 1 + nbytes, ")");
}

static enum fit fit_of(const struct query *q, const struct result *r, const char *name)
{
	const struct operation_use *use = &q->uses[r->use];
	const char *title = use->title ? use->title : operation_title(r->operation);
	char *printed = result_name(q, r);
	enum fit fit = FIT_NONE;

	if (!printed)
		return FIT_NO_MEMORY;
	if (!strcmp(printed, name))
		fit = FIT_NAME;
	else if (!strcmp(use->name, name) || (r->operation != OPERATION_PERCENTILE && !strcmp(title, name)))
		fit = FIT_OPERATION;
	else if (operation_kind(r->operation) != OPERATION_FRACTION && has_columns(printed, name))
		fit = FIT_COLUMN;
	free(printed);
	return fit;
}

/* Finds the result that the name fits best; *n: how many it fits so. */
static enum fit find_result(const struct query *q, const char *name, size_t *index, size_t *n)
{
	enum fit best = FIT_NONE;

	for (size_t i = 0; i < q->nshown; i++) {
		enum fit fit = fit_of(q, &q->results[i], name);
		if (fit == FIT_NO_MEMORY)
			return fit;
		if (fit == FIT_NONE || fit < best)
			continue;
		*n = fit > best ? 1 : *n + 1;
		if (fit > best)
			*index = i;
		best = fit;
	}
	return best;
}

bool group_sort_find_key(const struct query *q, const struct selector *s, size_t *index)
{
	const struct plan_column *columns = q->plan.columns;
	const size_t *keys = q->plan.keys;
	struct field_range range;
	size_t i = 0;

	while (i < q->plan.nkeys && strcmp(columns[keys[i]].name, s->text) != 0)
		i++;
	if (i == q->plan.nkeys && selector_by_position(s, 0, &range) && range.first == range.last && !range.star)
		for (i = 0; i < q->plan.nkeys && (columns[keys[i]].let || columns[keys[i]].field != range.first);)
			i++;
	if (i == q->plan.nkeys)
		return false;
	*index = i;
	return true;
}

enum status group_sort_unknown(const struct query *q, const char *name, struct fault *fault)
{
	char list[FAULT_DETAIL_NBYTES] = "";
	size_t n = 0;

	for (size_t i = 0; i < q->plan.nkeys + q->nshown && n < sizeof list; i++) {
		char *result = i < q->plan.nkeys ? strdup(q->plan.columns[q->plan.keys[i]].name)
						 : result_name(q, &q->results[i - q->plan.nkeys]);
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
				      result ? result : "");
		free(result);
	}
	return option_fault(fault, "--sort: '%.64s' is not one result: %.150s%s", name, list,
			    strcmp(name, "count") ? "" : "; count() is the number of records");
}

enum status group_sort_find(const struct query *q, const char *name, bool is_quoted, struct group_sort_key *out, bool *found)
{
	const struct selector key = {.text = (char *)(uintptr_t)name, .quoted = is_quoted};
	size_t n = 0, index = 0;
	enum fit fit = find_result(q, name, &index, &n);
	struct field_range range;

	NEED(fit != FIT_NO_MEMORY);
	out->kind = SORT_RESULT;
	if (fit != FIT_NAME && group_sort_find_key(q, &key, &index)) {
		out->kind = SORT_KEY;
		n = 1;
	}
	out->index = index;
	if (n == 0 && selector_by_position(&key, q->header.nnames, &range) && !range.star && range.first == range.last &&
	    q->header.names[range.first])
		return group_sort_find(q, q->header.names[range.first], true, out, found);
	*found = n == 1 || fit == FIT_NAME;
	return STATUS_OK;
}

/* ---- what a group is sorted by ---- */

/* What a group's key has after its words. */
struct sort_rest {
	size_t nbytes;
	char bytes[];
};

/* A group, and what it is sorted by. */
struct sort_row {
	uint64_t key[ORDER_KEY_NWORDS];
	struct sort_rest *rest; /* NULL: nothing. Owned. */
	uint64_t first;		/* the group's */
	struct group *group;
};

/* Sets a row's key to bytes. Errors: STATUS_NO_MEMORY. */
static enum status set_key(struct sort_row *row, struct text_buffer *bytes)
{
	const size_t nbytes = bytes->nbytes > sizeof row->key ? bytes->nbytes - sizeof row->key : 0;

	TRY(order_key_words(bytes, 0, row->key));
	if (nbytes == 0)
		return STATUS_OK;
	NEED(row->rest = malloc(sizeof *row->rest + nbytes));
	row->rest->nbytes = nbytes;
	memcpy(row->rest->bytes, bytes->data + sizeof row->key, nbytes);
	return STATUS_OK;
}

/* Where the words are equal, both keys have a rest or none. */
static int compare_rests(const struct sort_rest *a, const struct sort_rest *b)
{
	return memcmp(a->bytes, b->bytes, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);
}

/* Of groups whose values are equal, the first to appear comes first. */
static int compare_rows(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;
	int order = 0;

	for (int i = 0; i < ORDER_KEY_NWORDS; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	if (a->rest && b->rest)
		order = compare_rests(a->rest, b->rest);
	return order ? order : a->first < b->first ? -1 : a->first > b->first;
}

enum status group_order_texts(const struct plan *plan, const char *const *texts, size_t n, bool is_descending, size_t *places)
{
	struct sort_row *rows = calloc(n + 1, sizeof *rows);
	enum status status = rows ? STATUS_OK : STATUS_NO_MEMORY;
	struct text_buffer bytes = {0};

	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		bytes.nbytes = 0;
		rows[i].first = i;
		status = order_key_add(&bytes, texts[i], strlen(texts[i]), &plan->notation);
		if (status == STATUS_OK && is_descending)
			order_key_descend(&bytes, 0);
		THEN(status, set_key(&rows[i], &bytes));
	}
	if (status == STATUS_OK)
		qsort(rows, n, sizeof *rows, compare_rows);
	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		places[rows[i].first] = i;
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].rest);
	text_free(&bytes);
	free(rows);
	return status;
}

/* The first rows of those that were seen: a heap, once it is full, whose top is the last of them. */
struct group_heap {
	struct sort_row *at; /* room for `most`. Owned. */
	size_t n, most;
	bool is_heap;
	const struct plan *owns; /* the groups of its rows are its own, of this plan; NULL: they are not */
	struct key_arena texts;  /* of these groups, as in struct groups: also of those that were dropped */
};

static void free_row(const struct group_heap *h, struct sort_row *row)
{
	free(row->rest);
	if (h->owns)
		free(row->group);
}

static bool row_is_last(const void *heap, size_t i, size_t j)
{
	const struct group_heap *h = heap;

	return compare_rows(&h->at[i], &h->at[j]) > 0;
}

static void swap_rows(void *heap, size_t i, size_t j)
{
	struct sort_row *at = ((struct group_heap *)heap)->at, row = at[i];

	at[i] = at[j];
	at[j] = row;
}

/* Whether the row is among the first so far. */
static bool heap_wants(struct group_heap *h, const struct sort_row *row)
{
	if (h->n < h->most)
		return true;
	if (!h->is_heap)
		heap_make(h, h->n, row_is_last, swap_rows);
	h->is_heap = true;
	return h->n > 0 && compare_rows(row, &h->at[0]) < 0;
}

/* Takes over a row that is wanted. */
static void heap_take(struct group_heap *h, struct sort_row row)
{
	if (h->n < h->most) {
		h->at[h->n++] = row;
		return;
	}
	free_row(h, &h->at[0]);
	h->at[0] = row;
	heap_sink(h, h->n, 0, row_is_last, swap_rows);
}

/* One thread's. */
struct gathering {
	const struct group_sort *sort;
	struct group_rows rows;
	struct group_heap *heap;
	struct text_buffer bytes; /* of a row's key */
	struct finisher finisher; /* if something is computed while groups are listed */
	struct group *waiting[ROW_BLOCK_NROWS]; /* its rows */
};

/* Adds the key of a value. i: which of the finisher's rows the group is, if there is one. */
static enum status add_value(struct gathering *gathering, const struct group_sort_key *key, struct group *g, size_t i)
{
	struct group_rows *rows = &gathering->rows;
	struct text_buffer *to = &gathering->bytes;
	const struct number_notation *notation = &rows->q->plan.notation;
	struct group_row row = {.group = g};
	struct result_value found;
	enum status status;
	size_t nbytes;

	if (key->kind == SORT_KEY) {
		const char *value = group_key_value(g, key->index, &nbytes);
		return order_key_add(to, value, nbytes, notation);
	}
	if (key->kind == SORT_COMPUTED) {
		const char *value;
		bool is_number;
		TRY(finisher_listed(&gathering->finisher, i, (uint32_t)key->index, g, &value, &nbytes, &is_number));
		return order_key_add(to, value, nbytes, is_number ? NULL : notation);
	}
	status = group_row_find(rows, &row, &rows->q->results[key->index], NULL, &found);
	if (status == STATUS_OK && found.number) /* how it is spelled does not matter */
		status = order_key_add(to, found.number, strlen(found.number), NULL);
	else if (status == STATUS_OK)
		status = order_key_add(to, found.text, found.nbytes, found.is_number ? NULL : notation);
	group_row_end(rows, &row);
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

/* Sets *out to a copy of a source's group, which will be gone, and of its key. texts: for what its cells do not hold. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
static enum status copy_group(struct group *g, const struct plan *plan, struct key_arena *texts, struct group **out)
{
	size_t nbytes = key_is_long(&g->key) ? key_nbytes(&g->key) : 0;
	struct group *copy = malloc(plan->group_nbytes + nbytes);

	NEED(*out = copy);
	memcpy(copy, g, plan->group_nbytes);
	if (nbytes)
		copy->key.text = memcpy((char *)copy + plan->group_nbytes, g->key.text, nbytes);
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].states)
			TRY(group_cell_own(group_cell(copy, &plan->columns[c]), plan->columns[c].needs, texts));
	return STATUS_OK;
}

static enum status read_key(struct gathering *g, struct sort_row *row, size_t i)
{
	g->bytes.nbytes = 0;
	for (size_t k = 0; k < g->sort->n; k++) {
		const size_t begin = g->bytes.nbytes;
		TRY(add_value(g, &g->sort->keys[k], row->group, i));
		if (g->sort->keys[k].is_descending)
			order_key_descend(&g->bytes, begin);
	}
	return set_key(row, &g->bytes);
}

/* Keeps a group that is among the first so far; a copy of it, if it will be gone. */
static enum status keep_group(struct gathering *g, struct group *group, size_t i)
{
	struct sort_row row = {.first = group->first, .group = group};
	enum status status = read_key(g, &row, i);

	if (status != STATUS_OK || !heap_wants(g->heap, &row)) {
		free(row.rest);
		return status;
	}
	if (g->heap->owns)
		status = copy_group(group, g->heap->owns, &g->heap->texts, &row.group);
	if (status == STATUS_OK)
		heap_take(g->heap, row);
	else
		free_row(g->heap, &row);
	return status;
}

/* Does that with the groups that wait, if --having holds. */
static enum status keep_waiting(struct gathering *g)
{
	bool has_answer;

	if (!g->finisher.finish || g->finisher.n == 0)
		return STATUS_OK;
	TRY(finisher_run_listed(&g->finisher, g->waiting, &has_answer));
	for (size_t i = 0; has_answer && i < g->finisher.n; i++)
		if (finisher_holds(&g->finisher, i))
			TRY(keep_group(g, g->waiting[i], i));
	finisher_clear(&g->finisher);
	return STATUS_OK;
}

static enum status gather_group(void *context, struct group *group)
{
	struct gathering *g = context;

	if (!g->finisher.finish)
		return keep_group(g, group, 0);
	g->waiting[g->finisher.n] = group;
	TRY(finisher_add(&g->finisher, &g->rows, group));
	return g->finisher.n == ROW_BLOCK_NROWS ? keep_waiting(g) : STATUS_OK;
}

/* Makes the thread's heap, for the first of n groups. owns: see struct group_heap. Errors: STATUS_NO_MEMORY. */
static enum status begin_heap(struct gathering *g, const struct sorting *s, size_t n, const struct plan *owns)
{
	n = s->nfirst < n ? s->nfirst : n;
	*g->heap = (struct group_heap){.at = calloc(n + 1, sizeof *g->heap->at), .most = n, .owns = owns};
	return g->heap->at ? STATUS_OK : STATUS_NO_MEMORY;
}

static void end_heap(struct group_heap *h)
{
	if (h->n > 0) /* it may have no room at all */
		qsort(h->at, h->n, sizeof *h->at, compare_rows);
}

static enum status sort_part(struct gathering *g, const struct sorting *s, const struct groups *part, struct run *run)
{
	g->heap = &run->heap;
	TRY(begin_heap(g, s, part->ngroups, NULL));
	TRY(groups_each(part, gather_group, g));
	TRY(keep_waiting(g));
	end_heap(&run->heap);
	return STATUS_OK;
}

static enum status sort_parts(struct sorting *s, struct gathering *g)
{
	enum status status = STATUS_OK;
	size_t part;

	while (status == STATUS_OK && (part = atomic_fetch_add(&s->next, 1)) < STORE_NPARTS)
		status = sort_part(g, s, group_store_part(s->rows->q->plan.groups, part), &s->runs[part]);
	return status;
}

/* Those of the blocks of the source that the thread takes. */
static enum status sort_blocks(struct sorting *s, struct gathering *g, struct group_reading *r)
{
	const size_t n = (size_t)s->source->ngroups;
	enum status status;
	size_t block;

	g->heap = &s->runs[atomic_fetch_add(&s->nruns, 1)].heap;
	TRY(begin_heap(g, s, n, &s->rows->q->plan));
	status = group_reading_begin(r, &s->rows->q->plan);
	while (status == STATUS_OK && (block = atomic_fetch_add(&s->next, 1)) * GROUP_SOURCE_NGROUPS < n) {
		size_t nleft = n - block * GROUP_SOURCE_NGROUPS;
		status = group_reading_visit(r, block, nleft < GROUP_SOURCE_NGROUPS ? nleft : GROUP_SOURCE_NGROUPS, gather_group, g);
	}
	end_heap(g->heap);
	return status;
}

static void *sort_some(void *sorting)
{
	struct sorting *s = sorting;
	struct gathering g = {.sort = s->sort};
	struct group_reading r = {.reader = NULL};
	enum status status = group_rows_init(&g.rows, s->rows->q, s->rows->total, s->rows->nthreads);

	if (status == STATUS_OK)
		status = finisher_init(&g.finisher, s->rows->q, finishing_listed(s->rows->q));
	if (status == STATUS_OK)
		status = s->source ? sort_blocks(s, &g, &r) : sort_parts(s, &g);
	if (status == STATUS_GPU && !atomic_flag_test_and_set(&s->is_faulty))
		s->fault = r.fault;
	if (status != STATUS_OK)
		s->status = status;
	text_free(&g.bytes);
	group_reading_end(&r);
	group_rows_free(&g.rows);
	finisher_free(&g.finisher);
	return NULL;
}

/* ---- those where --having holds ---- */

/* A list in which groups are marked. */
struct choosing {
	const struct group_rows *rows; /* those of the threads are like them */
	const struct group_list *list;
	uint64_t *kept; /* a bit for each group: words of ROW_BLOCK_NROWS */
	atomic_size_t next; /* word */
	_Atomic(enum status) status;
};

static enum status mark_groups(struct choosing *c, struct group_rows *rows, struct finisher *f)
{
	struct group *groups[ROW_BLOCK_NROWS];
	const size_t n = c->list->n;
	bool has_answer;
	size_t first;

	TRY(finisher_init(f, rows->q, finishing_listed(rows->q)));
	while ((first = ROW_BLOCK_NROWS * atomic_fetch_add(&c->next, 1)) < n) {
		for (size_t i = 0; first + i < n && i < ROW_BLOCK_NROWS; i++) {
			groups[i] = group_list_at(c->list, first + i);
			TRY(finisher_add(f, rows, groups[i]));
		}
		TRY(finisher_run_listed(f, groups, &has_answer));
		for (size_t i = 0; i < f->n; i++)
			c->kept[first / ROW_BLOCK_NROWS] |= (uint64_t)finisher_holds(f, i) << i;
		finisher_clear(f);
	}
	return STATUS_OK;
}

static void *mark_some(void *context)
{
	struct choosing *c = context;
	struct finisher finisher = {.finish = NULL};
	struct group_rows rows;
	enum status status = group_rows_init(&rows, c->rows->q, c->rows->total, 1);

	if (status == STATUS_OK)
		status = mark_groups(c, &rows, &finisher);
	if (status != STATUS_OK)
		c->status = status;
	finisher_free(&finisher);
	group_rows_free(&rows);
	return NULL;
}

enum status group_list_choose(struct group_list *l, const struct group_rows *rows, size_t nthreads)
{
	struct choosing c = {.rows = rows, .list = l, .kept = calloc(l->n / ROW_BLOCK_NROWS + 1, sizeof *c.kept)};
	size_t n = 0;

	NEED(c.kept);
	team_run(l->n < GROUPS_NTHREAD ? 1 : nthreads, mark_some, &c);
	for (size_t i = 0; i < l->n; i++)
		if (c.kept[i / ROW_BLOCK_NROWS] >> i % ROW_BLOCK_NROWS & 1)
			*group_list_word(l, n++) = *group_list_word(l, i);
	l->n = n;
	free(c.kept);
	return c.status;
}

/* ---- all of them ---- */

static const struct sort_row *next_of(const struct run *run)
{
	return &run->heap.at[run->next];
}

/* Whether run i has the first value of both. */
static bool run_is_first(const void *runs, size_t i, size_t j)
{
	const struct run *const *heap = runs;

	return compare_rows(next_of(heap[i]), next_of(heap[j])) < 0;
}

static void swap_runs(void *runs, size_t i, size_t j)
{
	struct run **heap = runs, *run = heap[i];

	heap[i] = heap[j];
	heap[j] = run;
}

/* Fills the list with the first groups of all runs. */
static void merge_runs(struct sorting *s, struct group_list *list)
{
	struct run *heap[NRUNS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < NRUNS_MAX; i++)
		if (s->runs[i].heap.n > 0)
			heap[n++] = &s->runs[i];
	heap_make(heap, n, run_is_first, swap_runs);
	for (size_t i = 0; i < list->n; i++) {
		*group_list_word(list, i) = (uintptr_t)next_of(heap[0])->group;
		if (++heap[0]->next == heap[0]->heap.n)
			heap[0] = heap[--n];
		heap_sink(heap, n, 0, run_is_first, swap_runs);
	}
}

/* Frees the rows of a run, and the groups that are not in the list. */
static void free_run(struct run *run)
{
	for (size_t i = 0; i < run->heap.n; i++)
		if (i < run->next)
			free(run->heap.at[i].rest);
		else
			free_row(&run->heap, &run->heap.at[i]);
	free(run->heap.at);
	key_arena_free(&run->heap.texts);
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
		list->owns = s->source != NULL;
		merge_runs(s, list);
		for (size_t i = 0; i < NRUNS_MAX; i++)
			key_arena_join(&list->texts, &s->runs[i].heap.texts);
	}
	for (size_t i = 0; i < NRUNS_MAX; i++)
		free_run(&s->runs[i]);
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

	TRY(group_store_visit(store, nthreads, NULL, NULL));
	nthreads = ngroups < GROUPS_NTHREAD ? 1 : nthreads;
	team_run(nthreads, sort_some, &s);
	status = end_sorting(&s, list);
	if (status == STATUS_GPU)
		*fault = s.fault;
	return status;
}
