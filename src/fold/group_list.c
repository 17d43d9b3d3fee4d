/* SPDX-License-Identifier: MIT
 *
 * group_list.c - see group_list.h. Groups are dealt into buckets by their offsets, which lie about evenly
 * in the input, and each bucket is sorted by itself: three passes over the groups, whatever their number.
 * In each pass, threads take parts of the store, or ranges of buckets. Until it is sorted, a word of the list has the
 * group's address and, in the bits that no address uses, those of its offset that tell it from others of its bucket: sorting
 * does not look at the groups.
 */
#include "fold/group_list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "fold/group_values.h"
#include "fold/key_memory.h"

#define BUCKET_NGROUPS 8 /* in the mean */
#define INSERTION_NGROUPS_MAX 32

/* Groups on their way into buckets. */
struct dealing {
	struct group_store *store;
	size_t nthreads;
	groups_visitor visit;   /* of the current pass */
	atomic_size_t next;     /* range of buckets that no thread has taken */
	_Atomic uint64_t last;  /* the greatest offset */
	int shift;              /* from an offset to a bucket */
	int tag_shift;          /* from an offset to a word's tag, the bits that follow */
	atomic_size_t *ends;    /* nbuckets: behind the last word so far */
	size_t nbuckets;
	const struct group_list *list;
};

#define ADDRESS_MASK (((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1)

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

/* ---- buckets ---- */

static uint64_t first_of(uintptr_t word)
{
	return ((const struct group *)(word & ADDRESS_MASK))->first;
}

/* Whether one word of a bucket comes before another: by their tags, unless these have too few bits. */
static bool comes_before(uintptr_t x, uintptr_t y)
{
	return (x ^ y) & ~ADDRESS_MASK ? x < y : first_of(x) < first_of(y);
}

/* Moves the word at `begin` + i down the heap of n words there to where it belongs: the last one is on top. */
static void settle(const struct group_list *l, size_t begin, size_t n, size_t i)
{
	uintptr_t word = *group_list_word(l, begin + i);
	size_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && comes_before(*group_list_word(l, begin + child), *group_list_word(l, begin + child + 1)))
			child++;
		if (!comes_before(word, *group_list_word(l, begin + child)))
			break;
		*group_list_word(l, begin + i) = *group_list_word(l, begin + child);
	}
	*group_list_word(l, begin + i) = word;
}

/* Sorts a bucket that offsets have filled unevenly. */
static void sort_long_bucket(const struct group_list *l, size_t begin, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		settle(l, begin, n, i);
	for (; n > 1; n--) {
		uintptr_t last = *group_list_word(l, begin);
		*group_list_word(l, begin) = *group_list_word(l, begin + n - 1);
		*group_list_word(l, begin + n - 1) = last;
		settle(l, begin, n - 1, 0);
	}
}

static void sort_bucket(const struct group_list *l, size_t begin, size_t end)
{
	if (end - begin > INSERTION_NGROUPS_MAX)
		sort_long_bucket(l, begin, end - begin);
	for (size_t i = begin + 1; i < end && end - begin <= INSERTION_NGROUPS_MAX; i++) {
		uintptr_t word = *group_list_word(l, i);
		size_t j = i;
		for (; j > begin && comes_before(word, *group_list_word(l, j - 1)); j--)
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

enum status group_list_new(size_t n, struct group_list *out)
{
	size_t npieces = (n + GROUP_LIST_PIECE_NGROUPS - 1) / GROUP_LIST_PIECE_NGROUPS;
	enum status status = STATUS_OK;

	*out = (struct group_list){n > 0 ? calloc(npieces, sizeof *out->pieces) : NULL, n, NULL};
	if (n > 0 && !out->pieces)
		status = STATUS_NO_MEMORY;
	for (size_t i = 0; i < npieces && status == STATUS_OK; i++) {
		void *memory;
		status = key_memory_new(piece_nbytes(out, i), &memory);
		if (status == STATUS_OK)
			out->pieces[i] = memory;
	}
	if (status != STATUS_OK)
		group_list_free(out);
	return status;
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
	enum status status = group_store_settle(s, d.nthreads);
	void *ends;

	*out = (struct group_list){NULL, 0, NULL};
	if (status == STATUS_OK)
		status = group_store_visit(s, 1, drop_index, NULL);
	if (status == STATUS_OK)
		status = group_list_new(group_store_count(s), out);
	if (status != STATUS_OK || out->n == 0)
		return status;
	visit_all(&d, find_last);
	while (d.last >> d.shift > out->n / BUCKET_NGROUPS)
		d.shift++;
	d.tag_shift = d.shift > 64 - GROUPS_ADDRESS_BITS ? d.shift - (64 - GROUPS_ADDRESS_BITS) : 0;
	d.nbuckets = (d.last >> d.shift) + 1;
	status = key_memory_new(d.nbuckets * sizeof *d.ends, &ends);
	if (status != STATUS_OK)
		return status;
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
	enum status status;
	void *memory;

	if (l->n == 0)
		return STATUS_OK;
	status = key_memory_new(l->n * sizeof *groups, &memory);
	if (status != STATUS_OK)
		return status;
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
