/* SPDX-License-Identifier: MIT
 *
 * group_order.c - see group_order.h.
 *
 * By first appearance, groups are dealt into buckets by their offsets, which lie about evenly in the input, and each bucket is
 * sorted by itself: three passes over the groups, whatever their number. In each pass, threads take parts of the store, or
 * ranges of buckets. Until it is sorted, a word of the list has the group's address and, in the bits that no address uses,
 * those of its offset that tell it from others of its bucket: sorting does not look at the groups.
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
#include "fold/group_result.h"
#include "fold/group_lists.h"
#include "fold/key_memory.h"
#include "fold/result.h"
#include "number/decimal_text.h"
#include "number/decimal_compare.h"
#include "query/option_table.h"

/* ---- by first appearance ---- */

#define BUCKET_NGROUPS 8 /* in the mean */
#define INSERTION_NGROUPS_MAX 32

/* Groups on their way into buckets. */
struct dealing {
	struct group_store *store;
	size_t nthreads;
	groups_visitor visit;   /* of the current pass */
	atomic_size_t next;     /* range of buckets that no thread has taken */
	_Atomic uint64_t last;  /* the largest offset */
	int shift;              /* from an offset to a bucket */
	int tag_shift;          /* from an offset to a word's tag, the bits that follow */
	atomic_size_t *ends;    /* nbuckets: after the last word so far */
	size_t nbuckets;
	const struct group_list *list;
};

#define ADDRESS_MASK (((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1)

static enum status visit_part(void *context, struct groups *part)
{
	struct dealing *d = context;

	return groups_each(part, d->visit, d);
}

static void visit_all(struct dealing *d, groups_visitor visit)
{
	d->visit = visit;
	group_store_visit(d->store, d->nthreads, visit_part, d);
}

static enum status find_last(void *context, struct group *group)
{
	struct dealing *d = context;
	uint64_t last = atomic_load_explicit(&d->last, memory_order_relaxed);

	while (group->first > last && !atomic_compare_exchange_weak(&d->last, &last, group->first))
		continue;
	return STATUS_OK;
}

static atomic_size_t *end_of(struct dealing *d, uint64_t first)
{
	return &d->ends[first >> d->shift];
}

static enum status count(void *context, struct group *group)
{
	struct dealing *d = context;

	atomic_fetch_add_explicit(end_of(d, group->first), 1, memory_order_relaxed);
	return STATUS_OK;
}

#define AHEAD_NGROUPS 16 /* whose buckets are on their way into the cache, and half as many whose words are */

/* The groups of a part that were visited last. Adding to a counter that another thread may add to waits for all stores before
 * it, so they must not miss the cache. */
struct dealing_part {
	struct dealing *d;
	struct group *ahead[AHEAD_NGROUPS];
	size_t n; /* visited so far */
};

static void deal(struct dealing *d, struct group *group)
{
	size_t i = atomic_fetch_add_explicit(end_of(d, group->first), 1, memory_order_relaxed);

	*group_list_word(d->list, i) = group->first >> d->tag_shift << GROUPS_ADDRESS_BITS | (uintptr_t)group;
}

static enum status deal_ahead(void *context, struct group *group)
{
	struct dealing_part *p = context;
	struct group **at = &p->ahead[p->n % AHEAD_NGROUPS], *half = p->ahead[(p->n + AHEAD_NGROUPS / 2) % AHEAD_NGROUPS];

	if (p->n++ >= AHEAD_NGROUPS)
		deal(p->d, *at);
	*at = group;
	__builtin_prefetch(end_of(p->d, group->first), 1);
	if (half)
		__builtin_prefetch(group_list_word(p->d->list, atomic_load_explicit(end_of(p->d, half->first), memory_order_relaxed)), 1);
	return STATUS_OK;
}

static enum status deal_part(void *context, struct groups *part)
{
	struct dealing_part p = {.d = context};

	groups_each(part, deal_ahead, &p);
	for (size_t i = p.n < AHEAD_NGROUPS ? 0 : p.n - AHEAD_NGROUPS; i < p.n; i++)
		deal(p.d, p.ahead[i % AHEAD_NGROUPS]);
	return STATUS_OK;
}

static uint64_t first_of(uintptr_t word)
{
	return ((const struct group *)(word & ADDRESS_MASK))->first;
}

/* Whether one word of a bucket comes before another: by their tags, unless these have too few bits. */
static bool word_comes_before(uintptr_t x, uintptr_t y)
{
	return (x ^ y) & ~ADDRESS_MASK ? x < y : first_of(x) < first_of(y);
}

/* A bucket that offsets have filled unevenly. */
struct bucket {
	const struct group_list *list;
	size_t begin;
};

static bool word_is_last(const void *bucket, size_t i, size_t j)
{
	const struct bucket *b = bucket;

	return word_comes_before(*group_list_word(b->list, b->begin + j), *group_list_word(b->list, b->begin + i));
}

static void swap_words(void *bucket, size_t i, size_t j)
{
	const struct bucket *b = bucket;
	uintptr_t *x = group_list_word(b->list, b->begin + i), *y = group_list_word(b->list, b->begin + j), word = *x;

	*x = *y;
	*y = word;
}

static void sort_bucket(const struct group_list *l, size_t begin, size_t end)
{
	if (end - begin > INSERTION_NGROUPS_MAX)
		heap_sort(&(struct bucket){l, begin}, end - begin, word_is_last, swap_words);
	for (size_t i = begin + 1; i < end && end - begin <= INSERTION_NGROUPS_MAX; i++) {
		uintptr_t word = *group_list_word(l, i);
		size_t j = i;
		for (; j > begin && word_comes_before(word, *group_list_word(l, j - 1)); j--)
			*group_list_word(l, j) = *group_list_word(l, j - 1);
		*group_list_word(l, j) = word;
	}
	for (size_t i = begin; i < end; i++)
		*group_list_word(l, i) &= ADDRESS_MASK;
}

#define RANGE_NBUCKETS 4096 /* that a thread takes at once */

static void *sort_ranges(void *context)
{
	struct dealing *d = context;
	size_t first;

	while ((first = RANGE_NBUCKETS * atomic_fetch_add(&d->next, 1)) < d->nbuckets)
		for (size_t i = first; i < first + RANGE_NBUCKETS && i < d->nbuckets; i++)
			sort_bucket(d->list, i > 0 ? d->ends[i - 1] : 0, d->ends[i]);
	return NULL;
}

/* Makes counts of buckets the places where they begin. */
static void place_buckets(struct dealing *d)
{
	size_t begin = 0;

	for (size_t i = 0; i < d->nbuckets; i++) {
		size_t n = d->ends[i];
		d->ends[i] = begin;
		begin += n;
	}
}

/* The bytes of a list's piece. */
static size_t piece_nbytes(const struct group_list *l, size_t piece)
{
	size_t nleft = l->n - piece * GROUP_LIST_PIECE_NGROUPS;

	return (nleft < GROUP_LIST_PIECE_NGROUPS ? nleft : GROUP_LIST_PIECE_NGROUPS) * sizeof(uintptr_t);
}

/* Reserves n places. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS; the list can then be freed. */
static enum status group_list_new(size_t n, struct group_list *out)
{
	size_t npieces = (n + GROUP_LIST_PIECE_NGROUPS - 1) / GROUP_LIST_PIECE_NGROUPS;

	*out = (struct group_list){calloc(npieces + 1, sizeof *out->pieces), n, NULL};
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
	struct dealing d = {.store = s, .nthreads = group_store_count(s) < GROUP_LIST_FEW ? 1 : nthreads};
	void *ends;

	*out = (struct group_list){NULL, 0, NULL};
	TRY(group_store_settle(s, d.nthreads));
	TRY(group_store_visit(s, 1, drop_index, NULL));
	TRY(group_list_new(group_store_count(s), out));
	if (out->n == 0)
		return STATUS_OK;
	visit_all(&d, find_last);
	while (d.last >> d.shift > out->n / BUCKET_NGROUPS)
		d.shift++;
	d.tag_shift = d.shift > 64 - GROUPS_ADDRESS_BITS ? d.shift - (64 - GROUPS_ADDRESS_BITS) : 0;
	d.nbuckets = (d.last >> d.shift) + 1;
	TRY(key_memory_new(d.nbuckets * sizeof *d.ends, &ends));
	d.ends = ends;
	d.list = out;
	visit_all(&d, count);
	place_buckets(&d);
	group_store_visit(s, d.nthreads, deal_part, &d);
	d.next = 0;
	team_run(d.nthreads, sort_ranges, &d);
	key_memory_free(ends, d.nbuckets * sizeof *d.ends);
	return STATUS_OK;
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
	size_t nx = key_nbytes(&x->group->key), ny = key_nbytes(&y->group->key);
	int order = (x->begin > y->begin) - (x->begin < y->begin);

	if (order == 0)
		order = memcmp(key_text(&x->group->key), key_text(&y->group->key), nx < ny ? nx : ny);
	return order ? order : (nx > ny) - (nx < ny);
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
	for (size_t i = 0; l->owns && i < l->n; i++) {
		group_free(group_list_at(l, i), l->owns);
		free(group_list_at(l, i));
	}
	for (size_t i = 0; l->pieces && i * GROUP_LIST_PIECE_NGROUPS < l->n; i++)
		key_memory_free(l->pieces[i], piece_nbytes(l, i));
	free(l->pieces);
	*l = (struct group_list){NULL, 0, NULL};
}

/* ---- by what groups are sorted ---- */

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

/* ---- what a group is sorted by ---- */

enum value_kind { VALUE_NUMBER, VALUE_WIDE, VALUE_TEXT, VALUE_EMPTY };

/* What a group is sorted by. */
struct sort_value {
	enum value_kind kind;
	struct decimal number; /* of VALUE_NUMBER */
	char *text;            /* of VALUE_WIDE and VALUE_TEXT. Owned. */
	size_t nbytes;
	uint64_t first; /* the group's */
	struct group *group;
};

#define PLAIN_NBYTES 256 /* of a number that needs no memory of its own to be read in its notation */

/* Keeps the text of v, nbytes of it, where the kind needs it. */
static enum status keep_text(struct sort_value *v, const char *text)
{
	v->text = NULL;
	if (v->kind == VALUE_EMPTY || v->kind == VALUE_NUMBER)
		return STATUS_OK;
	v->text = malloc(v->nbytes);
	NEED(v->text);
	memcpy(v->text, text, v->nbytes);
	return STATUS_OK;
}

/* Sets the value to that of a text that is a number if decimal.h's syntax has it. */
static enum status set_plain(struct sort_value *v, const char *text, size_t nbytes)
{
	enum decimal_kind kind = decimal_parse(text, nbytes, &v->number);

	v->nbytes = nbytes;
	v->kind = nbytes == 0		   ? VALUE_EMPTY
		  : kind == DECIMAL_NUMBER ? VALUE_NUMBER
		  : kind == DECIMAL_WIDE   ? VALUE_WIDE
					   : VALUE_TEXT;
	return keep_text(v, text);
}

/* Sets the value to that of a text, but for its group. notation: of a text of the input, in which it is a number if it is
 * one; NULL: the text is decimal.h's. Errors: STATUS_NO_MEMORY. */
static enum status set_value(struct sort_value *v, const char *text, size_t nbytes, const struct number_notation *notation)
{
	char room[PLAIN_NBYTES], *to = room;
	size_t plain_nbytes;
	enum status status;

	if (!notation || notation_is_plain(notation))
		return set_plain(v, text, nbytes);
	if (nbytes + NOTATION_ROOM > sizeof room)
		to = malloc(nbytes + NOTATION_ROOM);
	NEED(to);
	plain_nbytes = notation_to_plain(notation, text, nbytes, to);
	if (plain_nbytes > 0) {
		status = set_plain(v, to, plain_nbytes);
	} else {
		*v = (struct sort_value){.kind = nbytes == 0 ? VALUE_EMPTY : VALUE_TEXT, .nbytes = nbytes, .first = v->first, .group = v->group};
		status = keep_text(v, text);
	}
	if (to != room)
		free(to);
	return status;
}

/* The text of a number: v's, or in room. */
static const char *text_of(const struct sort_value *v, char room[DECIMAL_TEXT_NBYTES], size_t *nbytes)
{
	*nbytes = v->kind == VALUE_NUMBER ? (size_t)(decimal_write(room, v->number.significand, v->number.scale) - room)
					  : v->nbytes;
	return v->kind == VALUE_NUMBER ? room : v->text;
}

/* Of any length: results and keys may be beyond the range of the input's numbers. */
static int compare_numbers(const struct sort_value *a, const struct sort_value *b)
{
	int difference = a->number.scale - b->number.scale;
	int128 x = a->number.significand, y = b->number.significand;
	char a_room[DECIMAL_TEXT_NBYTES], b_room[DECIMAL_TEXT_NBYTES];
	const char *a_text, *b_text;
	size_t a_nbytes, b_nbytes;

	if (a->kind == VALUE_NUMBER && b->kind == VALUE_NUMBER &&
	    decimal_rescale(&x, difference < 0 ? -difference : 0) &&
	    decimal_rescale(&y, difference > 0 ? difference : 0))
		return x < y ? -1 : x > y;
	a_text = text_of(a, a_room, &a_nbytes);
	b_text = text_of(b, b_room, &b_nbytes);
	return decimal_compare_texts(a_text, a_nbytes, b_text, b_nbytes);
}

static int compare_texts(const struct sort_value *a, const struct sort_value *b)
{
	int order = memcmp(a->text, b->text, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);

	return order ? order : a->nbytes < b->nbytes ? -1 : a->nbytes > b->nbytes;
}

/* Compares values: < 0, 0, > 0. Numbers compare exactly and come before texts, which compare byte by byte; descending turns
 * that around. What is empty comes last, and of equal ones the first to appear comes first, whatever the direction. */
static int compare_values(const struct sort_value *a, const struct sort_value *b, bool descending)
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
	return a->first < b->first ? -1 : a->first > b->first;
}

static int compare_ascending(const void *a, const void *b)
{
	return compare_values(a, b, false);
}

static int compare_descending(const void *a, const void *b)
{
	return compare_values(a, b, true);
}

/* The first values of those that were seen: a heap, once it is full, whose top is the last of them. */
struct group_heap {
	struct sort_value *at; /* room for `most`. Owned. */
	size_t n, most;
	bool descending, is_heap;
	const struct plan *owns; /* the groups of its values are its own, of this plan; NULL: they are not */
};

static void free_value(const struct group_heap *h, struct sort_value *v)
{
	free(v->text);
	if (!h->owns)
		return;
	group_free(v->group, h->owns);
	free(v->group);
}

static bool value_is_last(const void *heap, size_t i, size_t j)
{
	const struct group_heap *h = heap;

	return compare_values(&h->at[i], &h->at[j], h->descending) > 0;
}

static void swap_values(void *heap, size_t i, size_t j)
{
	struct sort_value *at = ((struct group_heap *)heap)->at, v = at[i];

	at[i] = at[j];
	at[j] = v;
}

/* Whether the value is among the first so far. */
static bool heap_wants(struct group_heap *h, const struct sort_value *v)
{
	if (h->n < h->most)
		return true;
	if (!h->is_heap)
		heap_make(h, h->n, value_is_last, swap_values);
	h->is_heap = true;
	return h->n > 0 && compare_values(v, &h->at[0], h->descending) < 0;
}

/* Takes over a value that is wanted. */
static void heap_take(struct group_heap *h, struct sort_value v)
{
	if (h->n < h->most) {
		h->at[h->n++] = v;
		return;
	}
	free_value(h, &h->at[0]);
	h->at[0] = v;
	heap_sink(h, h->n, 0, value_is_last, swap_values);
}

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
		return set_value(v, value, nbytes, notation);
	}
	end = group_write_quickly(g, rows->q, &rows->q->results[sort->index], text);
	if (end)
		return set_value(v, text, (size_t)(end - text), NULL);
	status = group_row_result(rows, &row, g, &rows->q->results[sort->index], &cell);
	group_row_end(rows, &row);
	if (status == STATUS_OK)
		status = set_value(v, cell_number(&cell), strlen(cell_number(&cell)),
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

	TRY(read_value(&g->rows, g->sort, group, &v));
	if (!heap_wants(g->heap, &v)) {
		free(v.text);
		return STATUS_OK;
	}
	if (g->heap->owns)
		v.group = copy_group(group, g->heap->owns);
	if (v.group)
		heap_take(g->heap, v);
	else
		free(v.text);
	return v.group ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Makes the thread's heap, for the first of n groups. owns: see struct group_heap. Errors: STATUS_NO_MEMORY. */
static enum status begin_heap(struct gathering *g, const struct sorting *s, size_t n, const struct plan *owns)
{
	n = s->nfirst < n ? s->nfirst : n;
	*g->heap = (struct group_heap){.at = calloc(n + 1, sizeof *g->heap->at), .most = n, .descending = g->sort->is_descending, .owns = owns};
	return g->heap->at ? STATUS_OK : STATUS_NO_MEMORY;
}

static void end_heap(struct group_heap *h)
{
	if (h->n > 0) /* it may have no room at all */
		qsort(h->at, h->n, sizeof *h->at, h->descending ? compare_descending : compare_ascending);
}

static enum status sort_part(struct gathering *g, const struct sorting *s, const struct groups *part, struct run *run)
{
	g->heap = &run->heap;
	TRY(begin_heap(g, s, part->ngroups, NULL));
	TRY(groups_each(part, gather_group, g));
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
		status = s->source ? sort_blocks(s, &g, &r) : sort_parts(s, &g);
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

/* Whether run i has the first value of both; those of parts and threads are sorted in one direction. */
static bool run_is_first(const void *runs, size_t i, size_t j)
{
	const struct run *const *heap = runs;

	return compare_values(next_of(heap[i]), next_of(heap[j]), heap[i]->heap.descending) < 0;
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

/* Frees the values of a run, and the groups that are not in the list. */
static void free_run(struct run *run)
{
	for (size_t i = 0; i < run->heap.n; i++)
		if (i < run->next)
			free(run->heap.at[i].text);
		else
			free_value(&run->heap, &run->heap.at[i]);
	free(run->heap.at);
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

	nthreads = ngroups < GROUP_LIST_FEW ? 1 : nthreads;
	TRY(group_store_settle(store, nthreads));
	team_run(nthreads, sort_some, &s);
	status = end_sorting(&s, list);
	if (status == STATUS_GPU)
		*fault = s.fault;
	return status;
}
