/* SPDX-License-Identifier: MIT
 *
 * group_store.c - the groups of a run, which all threads add to. See groups.h.
 *
 * A thread sorts its groups by part. For each part it takes the lock once, and looks its keys up some at
 * a time, so that their places are on their way into the cache before they are needed. Threads begin at
 * different parts, and come back later to one in which another thread is: it may be growing.
 */
#include "fold/groups.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "fold/group_source.h"
#include "fold/key_memory.h"

#define FLIGHT_NKEYS 32

struct part {
	pthread_mutex_t lock;
	struct groups *groups;
	char padding[64]; /* locks lie in lines of their own */
};

struct group_store {
	struct part parts[STORE_NPARTS];
	atomic_uint nturns; /* how often groups were added: where the next thread begins */
	struct group_source *source; /* owned; NULL if all groups are in memory */
};

struct group_store *group_store_new(const struct plan *plan)
{
	struct group_store *s = calloc(1, sizeof *s);

	for (size_t i = 0; s && i < STORE_NPARTS; i++) {
		pthread_mutex_init(&s->parts[i].lock, NULL);
		s->parts[i].groups = groups_new(plan);
		if (s->parts[i].groups)
			continue;
		group_store_free(s);
		return NULL;
	}
	return s;
}

void group_store_free(struct group_store *s)
{
	for (size_t i = 0; s && i < STORE_NPARTS; i++)
		groups_free(s->parts[i].groups);
	if (s && s->source)
		s->source->ops->free(s->source);
	free(s);
}

void group_store_set_source(struct group_store *s, struct group_source *source)
{
	s->source = source;
}

const struct group_source *group_store_source(const struct group_store *s)
{
	return s->source;
}

uint64_t group_store_count(const struct group_store *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < STORE_NPARTS; i++)
		n += s->parts[i].groups->ngroups + s->parts[i].groups->tuples.n;
	return n;
}

bool group_store_is_used(const struct group_store *s)
{
	return atomic_load_explicit(&s->nturns, memory_order_relaxed) > 0;
}

struct groups *group_store_part(struct group_store *s, size_t part)
{
	return s->parts[part].groups;
}

/* Threads that take one part after the other. */
struct visiting {
	struct group_store *store;
	group_part_visitor visit;
	void *context;
	atomic_size_t next; /* part that no thread has taken */
	_Atomic enum status status;
};

/* Folds the tuples that wait with a part, which are the last ones. */
static enum status end_tuples(struct groups *part, size_t number)
{
	enum status status = group_tuples_fold(part, number);

	group_tuples_free(&part->tuples, part->plan);
	return status;
}

static void *visit_parts(void *visiting)
{
	struct visiting *v = visiting;
	size_t part;

	while ((part = atomic_fetch_add(&v->next, 1)) < STORE_NPARTS && v->status == STATUS_OK) {
		enum status status = end_tuples(group_store_part(v->store, part), part);
		if (status == STATUS_OK && v->visit)
			status = v->visit(v->context, group_store_part(v->store, part));
		if (status != STATUS_OK)
			v->status = status;
	}
	return NULL;
}

enum status group_store_visit(struct group_store *s, size_t nthreads, group_part_visitor visit, void *context)
{
	struct visiting v = {.store = s, .visit = visit, .context = context, .status = STATUS_OK};

	team_run(nthreads, visit_parts, &v);
	return v.status;
}

struct groups *group_store_lock(struct group_store *s, size_t part)
{
	pthread_mutex_lock(&s->parts[part].lock);
	return s->parts[part].groups;
}

void group_store_unlock(struct group_store *s, size_t part)
{
	pthread_mutex_unlock(&s->parts[part].lock);
}

/* ---- adding ---- */

static size_t part_of(const struct group *group)
{
	return (size_t)(group_hash(group, key_seed_get()) >> (64 - GROUPS_PART_BITS));
}

/* Groups and tuples that are to be added, sorted by part. */
struct arrivals {
	struct group **at; /* begins[STORE_NPARTS] of them */
	size_t begins[STORE_NPARTS + 1];
	size_t next[STORE_NPARTS]; /* while they are sorted */
	bool binds; /* they are bound, not added */
	const struct group_tuples *tuples;
	uint32_t *order; /* of the tuples; owned */
	uint32_t tuple_begins[STORE_NPARTS + 1];
};

static enum status count_arrival(void *context, struct group *group)
{
	struct arrivals *a = context;

	a->next[part_of(group)]++;
	return STATUS_OK;
}

static enum status place_arrival(void *context, struct group *group)
{
	struct arrivals *a = context;

	a->at[a->next[part_of(group)]++] = group;
	return STATUS_OK;
}

/* Makes counts of parts the places where they begin. */
static void begin_parts(struct arrivals *a)
{
	size_t begin = 0;

	for (size_t p = 0; p < STORE_NPARTS; p++) {
		a->begins[p] = begin;
		begin += a->next[p];
		a->next[p] = a->begins[p];
	}
	a->begins[STORE_NPARTS] = begin;
}

/* Sorts g's groups into a, whose `at` has room for them. */
static void sort_by_part(const struct groups *g, struct arrivals *a)
{
	memset(a->next, 0, sizeof a->next);
	groups_each(g, count_arrival, a);
	begin_parts(a);
	groups_each(g, place_arrival, a);
}

/* Adds up to FLIGHT_NKEYS arrivals, or binds them. */
static enum status add_flight(struct groups *to, const struct arrivals *all, size_t first, size_t n)
{
	struct group *const *a = &all->at[first];
	struct group *groups[FLIGHT_NKEYS];
	const struct key_seed seed = key_seed_get();
	uint64_t hashes[FLIGHT_NKEYS];
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n; i++) {
		hashes[i] = group_hash(a[i], seed);
		groups_prefetch(to, hashes[i]);
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		status = groups_find(to, &a[i]->key, hashes[i], &groups[i]);
		if (status == STATUS_OK)
			group_prefetch(groups[i]);
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		if (all->binds)
			*group_home(a[i]) = groups[i];
		else
			status = group_combine(groups[i], a[i], to->plan, &to->texts);
	}
	return status;
}

/* Sorts g's tuples by part. Errors: STATUS_NO_MEMORY. */
static enum status sort_tuples(const struct groups *g, struct arrivals *a)
{
	const struct group_tuples *t = &g->tuples;
	uint32_t next[STORE_NPARTS] = {0}, begin = 0;

	a->tuples = t;
	if (t->n == 0)
		return STATUS_OK;
	a->order = malloc(t->n * sizeof *a->order);
	if (!a->order)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < t->n; i++)
		next[t->parts[i]]++;
	for (size_t p = 0; p < STORE_NPARTS; p++) {
		a->tuple_begins[p] = begin;
		begin += next[p];
		next[p] = a->tuple_begins[p];
	}
	a->tuple_begins[STORE_NPARTS] = begin;
	for (size_t i = 0; i < t->n; i++)
		a->order[next[t->parts[i]]++] = (uint32_t)i;
	return STATUS_OK;
}

/* Adds all arrivals of part p, whose lock the caller holds. */
static enum status add_part(struct part *part, const struct arrivals *a, size_t p)
{
	enum status status = STATUS_OK;

	if (a->tuple_begins[p] < a->tuple_begins[p + 1])
		status = group_tuples_wait(part->groups, p, a->tuples, a->order + a->tuple_begins[p],
					   a->tuple_begins[p + 1] - a->tuple_begins[p]);

	for (size_t i = a->begins[p], n; i < a->begins[p + 1] && status == STATUS_OK; i += n) {
		n = a->begins[p + 1] - i < FLIGHT_NKEYS ? a->begins[p + 1] - i : FLIGHT_NKEYS;
		status = add_flight(part->groups, a, i, n);
	}
	return status;
}

/* Adds to each part in which the caller finds no other thread; leaves the others for later. waits: to all. */
static enum status add_parts_round(struct group_store *s, const struct arrivals *a, size_t first, bool *is_left,
				   bool waits)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < STORE_NPARTS && status == STATUS_OK; i++) {
		size_t p = (first + i) % STORE_NPARTS;
		if (!is_left[p])
			continue;
		if (waits)
			pthread_mutex_lock(&s->parts[p].lock);
		else if (pthread_mutex_trylock(&s->parts[p].lock))
			continue;
		status = add_part(&s->parts[p], a, p);
		pthread_mutex_unlock(&s->parts[p].lock);
		is_left[p] = false;
	}
	return status;
}

static enum status add_parts(struct group_store *s, const struct arrivals *a)
{
	size_t first = 37 * (size_t)atomic_fetch_add(&s->nturns, 1);
	bool is_left[STORE_NPARTS];
	enum status status;

	for (size_t p = 0; p < STORE_NPARTS; p++)
		is_left[p] = a->begins[p] < a->begins[p + 1] ||
			     a->tuple_begins[p] < a->tuple_begins[p + 1];
	status = add_parts_round(s, a, first, is_left, false);
	return status == STATUS_OK ? add_parts_round(s, a, first, is_left, true) : status;
}

/* Adds all of g to the store, or binds them. */
static enum status send(struct groups *g, bool binds)
{
	size_t nbytes = g->ngroups * sizeof(struct group *);
	struct arrivals arrivals = {.binds = binds};
	enum status status = sort_tuples(g, &arrivals);
	void *memory = NULL;

	if (g->ngroups == 0 && g->tuples.n == 0)
		return STATUS_OK;
	if (status == STATUS_OK && nbytes)
		status = key_memory_new(nbytes, &memory);
	if (status == STATUS_OK) {
		arrivals.at = memory;
		sort_by_part(g, &arrivals);
		status = add_parts(g->plan->groups, &arrivals);
	}
	key_memory_free(memory, nbytes);
	free(arrivals.order);
	return status;
}

enum status groups_store(struct groups *g)
{
	enum status status = send(g, false);

	if (status == STATUS_OK)
		groups_clear(g);
	return status;
}

/* ---- exchanging ---- */

enum status groups_bind(struct groups *g)
{
	enum status status = g->is_bound ? STATUS_OK : send(g, true);

	g->is_bound = true;
	return status;
}

#define AHEAD_NGROUPS 16 /* whose homes are on their way into the cache */

/* The groups that were visited last, which are exchanged AHEAD_NGROUPS later. */
struct exchange {
	const struct plan *plan;
	struct group *ahead[AHEAD_NGROUPS];
	size_t n;            /* visited so far */
	struct group *spare; /* owned */
};

static enum status exchange_one(struct exchange *e, struct group *group)
{
	return group_exchange(*group_home(group), group, e->plan, e->spare);
}

static enum status begin_exchange(void *context, struct group *group)
{
	struct exchange *e = context;
	struct group **at = &e->ahead[e->n++ % AHEAD_NGROUPS], *earlier = *at;

	group_prefetch(*group_home(group));
	*at = group;
	return earlier ? exchange_one(e, earlier) : STATUS_OK;
}

enum status groups_exchange(struct groups *g)
{
	struct exchange e = {.plan = g->plan, .spare = calloc(1, g->plan->group_nbytes)};
	enum status status = e.spare ? groups_bind(g) : STATUS_NO_MEMORY;

	if (status == STATUS_OK)
		status = groups_each(g, begin_exchange, &e);
	for (size_t i = 0; i < AHEAD_NGROUPS && status == STATUS_OK; i++) {
		struct group *group = e.ahead[(e.n + i) % AHEAD_NGROUPS];
		status = group ? exchange_one(&e, group) : STATUS_OK;
	}
	if (e.spare)
		group_free(e.spare, g->plan);
	free(e.spare);
	return status;
}
