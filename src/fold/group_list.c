/* SPDX-License-Identifier: MIT
 *
 * group_list.c - see group_list.h. Groups are dealt into buckets by their offsets, which lie about evenly
 * in the input, and each bucket is sorted by itself: three passes over the groups, whatever their number.
 * In each pass, threads take parts of the store, or ranges of buckets.
 */
#include "fold/group_list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "fold/group_values.h"
#include "fold/key_memory.h"

#define BUCKET_NGROUPS 4 /* in the mean */
#define INSERTION_NGROUPS_MAX 32

/* Groups on their way into buckets. */
struct dealing {
	struct group_store *store;
	size_t nthreads;
	groups_visitor visit;   /* of the current pass */
	atomic_size_t next;     /* range of buckets that no thread has taken */
	_Atomic uint64_t last;  /* the greatest offset */
	int shift;              /* from an offset to a bucket */
	atomic_size_t *ends;    /* nbuckets: behind the last place so far */
	size_t nbuckets;
	struct group_place *at;
};

/* ---- passes over the groups ---- */

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

static enum status count(void *context, struct group *group)
{
	struct dealing *d = context;

	atomic_fetch_add_explicit(&d->ends[group->first >> d->shift], 1, memory_order_relaxed);
	return STATUS_OK;
}

static enum status deal(void *context, struct group *group)
{
	struct dealing *d = context;
	size_t i = atomic_fetch_add_explicit(&d->ends[group->first >> d->shift], 1, memory_order_relaxed);

	d->at[i] = (struct group_place){group->first, group};
	return STATUS_OK;
}

/* ---- buckets ---- */

static int compare_places(const void *a, const void *b)
{
	uint64_t x = ((const struct group_place *)a)->first, y = ((const struct group_place *)b)->first;

	return x < y ? -1 : x > y;
}

static void sort_bucket(struct group_place *at, size_t n)
{
	if (n > INSERTION_NGROUPS_MAX) {
		qsort(at, n, sizeof *at, compare_places);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct group_place place = at[i];
		size_t j = i;
		for (; j > 0 && at[j - 1].first > place.first; j--)
			at[j] = at[j - 1];
		at[j] = place;
	}
}

#define RANGE_NBUCKETS 4096 /* that a thread takes at once */

static void *sort_ranges(void *context)
{
	struct dealing *d = context;
	size_t first;

	while ((first = RANGE_NBUCKETS * atomic_fetch_add(&d->next, 1)) < d->nbuckets)
		for (size_t i = first; i < first + RANGE_NBUCKETS && i < d->nbuckets; i++) {
			size_t begin = i > 0 ? d->ends[i - 1] : 0;
			sort_bucket(d->at + begin, d->ends[i] - begin);
		}
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

enum status group_list_new(size_t n, struct group_list *out)
{
	void *memory = NULL;
	enum status status = n > 0 ? key_memory_new(n * sizeof *out->at, &memory) : STATUS_OK;

	*out = (struct group_list){memory, status == STATUS_OK ? n : 0, NULL};
	return status;
}

enum status group_list_make(struct group_store *s, size_t nthreads, struct group_list *out)
{
	struct dealing d = {.store = s, .nthreads = group_store_count(s) < GROUP_LIST_FEW ? 1 : nthreads};
	enum status status = group_store_settle(s, d.nthreads);

	*out = (struct group_list){NULL, 0, NULL};
	if (status == STATUS_OK)
		status = group_list_new(group_store_count(s), out);
	if (status != STATUS_OK || out->n == 0)
		return status;
	visit_all(&d, find_last);
	while (d.last >> d.shift > out->n / BUCKET_NGROUPS)
		d.shift++;
	d.nbuckets = (d.last >> d.shift) + 1;
	d.ends = calloc(d.nbuckets, sizeof *d.ends);
	status = d.ends ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		d.at = out->at;
		visit_all(&d, count);
		place_buckets(&d);
		visit_all(&d, deal);
		d.next = 0;
		team_run(d.nthreads, sort_ranges, &d);
	}
	free(d.ends);
	return status;
}

/* ---- by keys ---- */

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
	const struct group_place *x = a, *y = b;
	size_t nx = key_nbytes(&x->group->key), ny = key_nbytes(&y->group->key);
	int order = (x->first > y->first) - (x->first < y->first);

	if (order == 0)
		order = memcmp(key_text(&x->group->key), key_text(&y->group->key), nx < ny ? nx : ny);
	return order ? order : (nx > ny) - (nx < ny);
}

void group_list_order_keys(struct group_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->at[i].first = begin_of_key(l->at[i].group);
	if (l->n > 1)
		qsort(l->at, l->n, sizeof *l->at, compare_keys);
}

void group_list_free(struct group_list *l)
{
	for (size_t i = 0; l->owns && i < l->n; i++) {
		group_free(l->at[i].group, l->owns);
		free(l->at[i].group);
	}
	key_memory_free(l->at, l->n * sizeof *l->at);
}
