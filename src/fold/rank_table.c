/* SPDX-License-Identifier: MIT
 *
 * rank_table.c - see rank_table.h.
 *
 * Most columns' numbers are integers of 64 bits at the column's largest scale. They are dealt into ranges
 * of equal width by their distance from the least, as in one pass of a radix sort from the highest digit, and
 * each range is sorted by itself; threads have blocks of numbers, then ranges. Longer numbers are rare,
 * and are sorted at once.
 */
#include "fold/rank_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/deal.h"
#include "base/machine.h"
#include "base/thread.h"
#include "fold/group_lists.h"
#include "fold/key_memory.h"
#include "fold/values_select.h"
#include "number/decimal_text.h"

#define RANGE_BITS 12
#define NRANGES ((size_t)1 << RANGE_BITS)
#define FEW_NUMBERS 4096     /* sorted at once */
#define START_NNUMBERS 4     /* in the mean, between two starts */
#define STARTS_MAX ((uint64_t)1 << 22)

/* Allocates an array that counts. */
static void *allocate(struct rank_table *t, uint64_t nbytes)
{
	void *memory;

	if (!memory_take(nbytes))
		return NULL;
	memory = malloc(nbytes);
	t->taken_nbytes += nbytes;
	return memory;
}

void rank_table_free(struct rank_table *t)
{
	free(t->distances);
	for (uint64_t i = 0; t->longer && i < t->n; i++)
		exact_free(&t->longer[i]);
	free(t->longer);
	free(t->starts);
	memory_give(t->taken_nbytes);
	memset(t, 0, sizeof *t);
}

/* ---- numbers of 64 bits ---- */

/* A column's numbers on their way to their ranges. */
struct dealing {
	struct rank_table *t;
	const struct values_blocks *blocks;
	struct deal deal; /* shares are of the blocks */
	int shift;        /* of a distance to its range */
	bool counts;      /* else the numbers are placed */
	atomic_bool lacks_memory;
};

static void deal_share(void *context, size_t share)
{
	const struct dealing *d = context;
	uint64_t *places = deal_places(&d->deal, share);
	int64_t x[VALUES_BATCH];
	size_t n;

	for (size_t b = d->blocks->n * share / d->deal.nshares; b < d->blocks->n * (share + 1) / d->deal.nshares; b++)
		for (struct values_cursor at = {.block = d->blocks->at[b]}; (n = values_next64(&at, d->t->keys.scale, x)) > 0;)
			for (size_t i = 0; i < n; i++) {
				uint64_t distance = (uint64_t)x[i] - (uint64_t)d->t->least;
				uint64_t *place = &places[distance >> d->shift];
				if (!d->counts)
					d->t->distances[*place] = distance;
				++*place;
			}
}

static void sort_range(void *context, size_t range)
{
	struct dealing *d = context;
	const uint64_t begin = d->deal.begins[range], n = d->deal.begins[range + 1] - begin;
	uint64_t *spare = n > SORT_FEW_WORDS ? malloc(n * sizeof *spare) : NULL;

	if (spare || n <= SORT_FEW_WORDS)
		sort_words(d->t->distances + begin, spare, n, 0, (unsigned)d->shift);
	else
		d->lacks_memory = true;
	free(spare);
}

/* Few numbers are one range, of which nothing needs counting. width: less than 2^63 */
static enum status deal_few(struct dealing *d, uint64_t width)
{
	uint64_t place = 0, begins[] = {0, d->t->n};

	d->shift = 64 - __builtin_clzll(width | 1);
	d->deal = (struct deal){1, 1, &place, begins};
	deal_share(d, 0);
	sort_range(d, 0);
	d->deal = (struct deal){.places = NULL};
	return d->lacks_memory ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Deals the numbers into ranges, and sorts each. */
static enum status deal(struct dealing *d, uint64_t width, size_t nthreads)
{
	if (d->t->n <= FEW_NUMBERS && width <= INT64_MAX)
		return deal_few(d, width);
	while (width >> d->shift >= NRANGES)
		d->shift++;
	TRY(deal_new(&d->deal, nthreads, NRANGES));
	d->counts = true;
	team_each(nthreads, nthreads, deal_share, d);
	deal_place(&d->deal);
	d->counts = false;
	team_each(nthreads, nthreads, deal_share, d);
	team_each(nthreads, NRANGES, sort_range, d);
	return d->lacks_memory ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Notes where the distances with the same highest bits start. */
static enum status make_starts(struct rank_table *t, uint64_t width)
{
	uint64_t most = t->n / START_NNUMBERS < STARTS_MAX ? t->n / START_NNUMBERS : STARTS_MAX, at = 0;

	while (width >> t->shift >= most)
		t->shift++;
	t->nstarts = (size_t)(width >> t->shift) + 1;
	t->starts = allocate(t, (t->nstarts + 1) * sizeof *t->starts);
	if (!t->starts)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i <= t->nstarts; i++) {
		while (at < t->n && t->distances[at] >> t->shift < i)
			at++;
		t->starts[i] = at;
	}
	return STATUS_OK;
}

static enum status make64(struct rank_table *t, const struct values_blocks *blocks, uint64_t width, int nthreads)
{
	struct dealing d = {.t = t, .blocks = blocks};
	enum status status;

	NEED(t->distances = allocate(t, t->n * sizeof *t->distances));
	status = deal(&d, width, (size_t)values_pass_nthreads(blocks, nthreads));
	deal_free(&d.deal);
	return status;
}

/* ---- longer numbers ---- */

/* Copies a number, as it is settled. */
static enum status add_long(struct rank_table *t, const struct exact *x, struct exact *to)
{
	struct integer room;
	const struct exact settled = exact_settle(x, &room);

	TRY(exact_copy(to, &settled));
	if (!to->is_long)
		return STATUS_OK;
	if (!memory_take((uint64_t)to->capacity * sizeof *to->limb))
		return STATUS_NO_MEMORY;
	t->taken_nbytes += (uint64_t)to->capacity * sizeof *to->limb;
	return STATUS_OK;
}

static enum status make_long(struct rank_table *t, const struct values_blocks *blocks)
{
	struct exact *to = t->longer = allocate(t, t->n * sizeof *t->longer), x;

	NEED(to);
	memset(to, 0, t->n * sizeof *to);
	for (size_t i = 0; i < blocks->n; i++) {
		struct values_cursor at = {.block = blocks->at[i]};
		while (values_next_exact(&at, &x))
			TRY(add_long(t, &x, to++));
	}
	qsort(t->longer, t->n, sizeof *t->longer, exact_order);
	return STATUS_OK;
}

/* ---- a table ---- */

/* Keeps the first of equal numbers. */
static void drop_equal(struct rank_table *t)
{
	uint64_t n = t->n > 0;

	for (uint64_t i = 1; i < t->n; i++)
		if (!t->longer) {
			t->distances[n] = t->distances[i];
			n += t->distances[i] != t->distances[n - 1];
		} else if (exact_order(&t->longer[n - 1], &t->longer[i]) == 0) {
			exact_free(&t->longer[i]);
		} else {
			t->longer[n++] = t->longer[i];
		}
	t->n = n;
}

enum status rank_table_make(struct rank_table *t, const struct column_partial *column, bool is_dense, int nthreads)
{
	struct number_sums numbers;
	struct values_blocks blocks;
	struct values_extent extent;
	enum status status;
	int128 low, high;

	memset(t, 0, sizeof *t);
	numbers_get(&column->numbers, &numbers);
	if (numbers.count == 0)
		return STATUS_OK;
	extent = (struct values_extent){numbers.count, numbers.scale, &numbers.min, &numbers.max, NULL};
	values_keys_choose(&t->keys, &extent, &low, &high);
	t->n = numbers.count;
	status = values_blocks_list(moments_cell(&column->moments, CELL_VALUES), &blocks);
	t->least = (int64_t)low;
	if (status == STATUS_OK)
		status = t->keys.kind == KEY_64 ? make64(t, &blocks, (uint64_t)(high - low), nthreads) : make_long(t, &blocks);
	if (status == STATUS_OK && is_dense)
		drop_equal(t);
	if (status == STATUS_OK && t->keys.kind == KEY_64 && t->n > FEW_NUMBERS)
		status = make_starts(t, (uint64_t)(high - low));
	values_blocks_free(&blocks);
	return status;
}

/* ---- looking up ---- */

/* How many of the sorted elements [begin, end) of x are less than key, or with_equal also those that equal it. Inline, so that
 * the comparison is. */
static inline __attribute__((always_inline)) uint64_t count_below(const void *x, size_t each_nbytes, uint64_t begin, uint64_t end,
								  const void *key, bool with_equal,
								  int (*compare)(const void *, const void *))
{
	while (begin < end) {
		uint64_t middle = begin + (end - begin) / 2;
		int order = compare((const char *)x + middle * each_nbytes, key);
		if (order < 0 || (with_equal && order == 0))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

static uint64_t count_below64(const struct rank_table *t, int128 x, bool with_equal)
{
	const uint64_t key = (uint64_t)(x - t->least);

	if (x < t->least)
		return 0;
	if (x - t->least > t->distances[t->n - 1])
		return t->n;
	return count_below(t->distances, sizeof key, 0, t->n, &key, with_equal, compare_uint64);
}

uint64_t rank_table_find(const struct rank_table *t, const struct value *number, bool descending)
{
	struct exact x = {.value = number->number.significand, .scale = number->number.scale};
	struct integer room, settled;
	uint64_t nbelow;
	int128 key;

	if (t->n == 0)
		return 0;
	if (number->kind != DECIMAL_NUMBER) {
		if (exact_parse(number->text, number->nbytes, &room, &x) != STATUS_OK)
			return 0; /* beyond the range */
		x = exact_settle(&x, &settled);
	}
	if (t->keys.kind != KEY_64)
		nbelow = count_below(t->longer, sizeof x, 0, t->n, &x, descending, exact_order);
	else if (exact_to_int128(&x, t->keys.scale, &key))
		nbelow = count_below64(t, key, descending);
	else
		return 0;
	return descending ? t->n - nbelow + 1 : nbelow + 1;
}

/* ---- many at once ---- */

/* Whether the number is one of a table with starts, between its smallest and largest; sets the key. */
static bool begin_lookup(struct rank_lookup *l)
{
	const struct rank_table *t = l->table;
	int nplaces = t->keys.scale - l->number.scale;
	int128 x;

	if (!t->starts || nplaces < 0 || nplaces > DECIMAL_NDIGITS)
		return false;
	x = (int128)l->number.significand * decimal_powers[nplaces] - t->least;
	if (x < 0 || x > t->distances[t->n - 1])
		return false;
	l->key = (uint64_t)x;
	__builtin_prefetch(&t->starts[l->key >> t->shift]);
	return true;
}

/* Reads where the lookup starts. */
static void start_lookup(struct rank_lookup *l)
{
	const uint64_t *start = &l->table->starts[l->key >> l->table->shift];

	l->begin = start[0];
	l->end = start[1];
	__builtin_prefetch(&l->table->distances[l->begin + (l->end - l->begin) / 2]);
}

/* Halves what is left. Returns whether more than nothing is. */
static bool step_lookup(struct rank_lookup *l, bool with_equal)
{
	const uint64_t *x = l->table->distances;
	uint64_t middle = l->begin + (l->end - l->begin) / 2;

	if (l->begin == l->end)
		return false;
	if (x[middle] < l->key || (with_equal && x[middle] == l->key))
		l->begin = middle + 1;
	else
		l->end = middle;
	__builtin_prefetch(&x[l->begin + (l->end - l->begin) / 2]);
	return l->begin < l->end;
}

void rank_table_find_all(struct rank_lookup *lookups, size_t n, bool descending)
{
	struct rank_lookup *begun[RANK_LOOKUPS_MAX], *left[RANK_LOOKUPS_MAX];
	size_t nbegun = 0, nleft;

	for (size_t i = 0; i < n; i++) {
		struct rank_lookup *l = &lookups[i];
		const struct value number = {.kind = DECIMAL_NUMBER, .number = l->number};
		if (!l->table)
			continue;
		if (begin_lookup(l))
			begun[nbegun++] = l;
		else
			l->rank = rank_table_find(l->table, &number, descending);
	}
	for (size_t i = 0; i < nbegun; i++)
		start_lookup(left[i] = begun[i]);
	nleft = nbegun;
	while (nleft > 0) {
		size_t n_before = nleft;
		nleft = 0;
		for (size_t i = 0; i < n_before; i++)
			if (step_lookup(left[i], descending))
				left[nleft++] = left[i];
	}
	for (size_t i = 0; i < nbegun; i++)
		begun[i]->rank = descending ? begun[i]->table->n - begun[i]->begin + 1 : begun[i]->begin + 1;
}

/* ---- the tables of all columns ---- */

/* Makes the tables of one fold. */
static enum status make_tables(struct rank_table *to, const struct plan *plan, const struct partial *of, int nthreads)
{
	for (const struct new_column *c = plan->new_columns; c < plan->new_columns + plan->nnew_columns; c++)
		if (new_column_has(c->kind, NEW_RANKS))
			TRY(rank_table_make(to++, &of->columns[c->column], c->kind == NEW_RANK_DENSE, nthreads));
	return STATUS_OK;
}

/* Groups whose tables are being made. */
struct making {
	struct rank_tables *t;
	const struct plan *plan;
	atomic_size_t group; /* the next one's number */
};

/* Those of a part of the store. */
struct maker {
	struct making *m;
	struct partial blank; /* of a group */
};

static enum status make_group(void *context, struct group *group)
{
	struct maker *maker = context;
	struct making *m = maker->m;
	enum status status;

	group->state = atomic_fetch_add(&m->group, 1);
	partial_clear(&maker->blank);
	status = group_add_to(group, m->plan, &maker->blank);
	return status == STATUS_OK ? make_tables(m->t->at + group->state * m->t->nranks, m->plan, &maker->blank, 1) : status;
}

static enum status make_part(void *context, struct groups *part)
{
	struct maker maker = {.m = context};
	enum status status = partial_init(&maker.blank, part->plan);

	if (status == STATUS_OK)
		status = groups_each(part, make_group, &maker);
	partial_free(&maker.blank);
	return status;
}

static enum status make_of_groups(struct rank_tables *t, const struct plan *plan, const struct partial *total, int nthreads)
{
	struct making m = {.t = t, .plan = plan};
	void *memory;

	t->groups = plan->groups;
	if (total->groups)
		TRY(groups_store(total->groups));
	TRY(group_store_visit(plan->groups, (size_t)nthreads, NULL, NULL));
	t->ngroups = (size_t)group_store_count(plan->groups);
	TRY(key_memory_new(t->ngroups * t->nranks * sizeof *t->at + 1, &memory));
	t->at = memory;
	return group_store_visit(plan->groups, (size_t)nthreads, make_part, &m);
}

enum status rank_tables_make(struct rank_tables *t, const struct plan *plan, const struct partial *total,
			     int nthreads)
{
	*t = (struct rank_tables){.nranks = plan->nranks, .ngroups = 1};
	if (plan->nkeys > 0)
		return make_of_groups(t, plan, total, nthreads);
	t->at = calloc(t->nranks, sizeof *t->at);
	return t->at ? make_tables(t->at, plan, total, nthreads) : STATUS_NO_MEMORY;
}

void rank_tables_free(struct rank_tables *t)
{
	for (size_t i = 0; t->at && i < t->ngroups * t->nranks; i++)
		rank_table_free(&t->at[i]);
	if (t->groups)
		key_memory_free(t->at, t->ngroups * t->nranks * sizeof *t->at + 1);
	else
		free(t->at);
	memset(t, 0, sizeof *t);
}

const struct rank_table *rank_tables_of(const struct rank_tables *t, const struct group *group)
{
	const struct group *same;
	uint64_t hash;

	if (!t->groups || !group)
		return t->at;
	hash = group_hash(group, key_seed_get());
	same = groups_seek(group_store_part(t->groups, (size_t)(hash >> (64 - GROUPS_PART_BITS))), &group->key, hash);
	return same ? t->at + same->state * t->nranks : NULL;
}
