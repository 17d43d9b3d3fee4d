/* SPDX-License-Identifier: MIT
 *
 * groups.c - see groups.h.
 *
 * The store of a run: a thread sorts its groups by part. For each part it takes the lock once, and looks its keys up some at
 * a time, so that their places are on their way into the cache before they are needed. Threads begin at
 * different parts, and come back later to one in which another thread is: it may be growing.
 */
#include "fold/groups.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "fold/group_lists.h"
#include "fold/pair.h"
#include "fold/window.h"
#include "fold/key_memory.h"
#include "lang/program.h"

#define NSLOTS_MIN 16
#define NSLOTS_SPARSE 4096 /* 32 KB */

/* ---- the plan ---- */

/* Whether a column that has a cell may have numbers that were rounded, and needs nothing but their sums and extremes. Parts have
 * extremes of such numbers also where they are not needed. */
static bool may_keep_quotients(const struct plan *plan, const struct plan_column *column)
{
	const struct program *let =
		column->parses && !plan->emits && !plan->is_saved && !(column->needs & ~MOMENTS_FUSED) ? column->let : NULL;

	for (size_t i = 0; let && i < let->nsteps; i++)
		if (step_rounds(&let->steps[i]) ||
		    (let->steps[i].code == STEP_LOAD && plan->columns[let->columns[let->steps[i].index]].let))
			return true;
	return false;
}

/* The states that a group keeps of a column, of those that it may have: group.h. */
static uint16_t states_of(const struct plan *plan, const struct plan_column *column)
{
	const bool keeps_quotients = may_keep_quotients(plan, column);
	unsigned states = 0;

#define STATE(id, name, type, nbytes, is_needed) states |= (unsigned)((is_needed) != 0) << GROUP_##id;
	GROUP_STATES(STATE)
#undef STATE
	return (uint16_t)states;
}

enum status groups_plan(struct plan *plan, size_t chunk_nbytes)
{
	size_t end = sizeof(struct group);

	for (size_t i = 0; i < plan->nwindows; i++) {
		group_window_plan(&plan->windows[i], (uint32_t)end);
		end += group_window_nbytes(&plan->windows[i]);
	}
	if (plan->nkeys == 0)
		return STATUS_OK;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct plan_column *column = &plan->columns[c];
		if (column->needs) {
			column->states = states_of(plan, column);
			plan->nlists += (column->needs & (MOMENT_VALUES | MOMENT_KEYS)) != 0;
			column->cell_offset = (uint32_t)end;
			end += group_state_offset(column, GROUP_NSTATES);
		}
		column->keeps_few_keys = true;
		plan->groups_keep_keys |= (column->needs & MOMENT_KEYS) != 0;
		plan->groups_keep_ends |= (column->needs & (MOMENT_ENDS | MOMENT_TEXTS)) != 0;
	}
	for (struct plan_pair *pair = plan->pairs; pair < plan->pairs + plan->npairs; pair++) {
		pair->cell_offset = (uint32_t)end;
		end += sizeof(struct pair);
	}
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_OFFSET)
			plan->group_nmatched_offset = end;
	if (plan->group_nmatched_offset)
		end += plan->npredicates * sizeof(uint64_t);
	plan->group_nbytes = end;
	plan->groups_few = chunk_nbytes && chunk_nbytes < GROUPS_FEW ? chunk_nbytes : GROUPS_FEW;
	if (!plan->has_runs)
		group_tuples_plan(plan);
	plan->groups = group_store_new(plan);
	return plan->groups ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- blocks ---- */

struct groups *groups_new(const struct plan *plan)
{
	struct groups *g = calloc(1, sizeof *g);

	if (g)
		g->plan = plan;
	return g;
}

/* The bytes that lie before a group. */
static size_t home_nbytes(const struct groups *g)
{
	return g->plan->emits ? sizeof(struct group *) : 0;
}

/* The bytes that a group takes with a key and what lies before it. */
static size_t nbytes_with(const struct groups *g, const struct key *key)
{
	return home_nbytes(g) + g->plan->group_nbytes + (key_is_long(key) ? (key_nbytes(key) + 7) / 8 * 8 : 0);
}

enum status groups_each(const struct groups *g, groups_visitor visit, void *context)
{
	for (const struct key_arena_block *b = g->memory.first; b; b = b->next)
		for (size_t at = 0; at < b->nused;) {
			struct group *group = (struct group *)((char *)b->taken + at + home_nbytes(g));
			at += nbytes_with(g, &group->key);
			TRY(visit(context, group));
		}
	return STATUS_OK;
}

void groups_clear(struct groups *g)
{
	g->is_bound = false;
	g->first_run = g->run = NULL;
	g->tuples.n = 0;
	key_arena_free(&g->tuples.texts);
	key_arena_free(&g->texts);
	window_folds_free(&g->windows);
	if (g->ngroups == 0)
		return;
	group_lists_clear(g);
	key_arena_clear(&g->memory);
	if (g->slots)
		memset(g->slots, 0, g->nslots * sizeof *g->slots);
	g->ngroups = 0;
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	groups_drop_index(g);
	groups_clear(g);
	key_arena_free(&g->values);
	key_arena_free(&g->memory);
	text_free(&g->key_text);
	group_tuples_free(&g->tuples, g->plan);
	free(g);
}

/* ---- slots ---- */

/* In a small table nearly all groups are in the first slot where they are looked for. */
static size_t most_groups(size_t nslots)
{
	return nslots <= NSLOTS_SPARSE ? nslots / 8 : nslots / 16 * 11;
}

static void set_slot(struct groups *g, struct group *group, uint64_t hash)
{
	size_t i = (size_t)(hash << GROUPS_PART_BITS >> g->shift);

	while (g->slots[i])
		i = (i + 1) & (g->nslots - 1);
	g->slots[i] = groups_tag(hash) | (uintptr_t)group;
}

static enum status move_group(void *context, struct group *group)
{
	struct groups *g = context;

	set_slot(g, group, group_hash(group, key_seed_get()));
	return STATUS_OK;
}

/* Gives g so many slots. */
static enum status resize(struct groups *g, size_t nslots)
{
	void *slots;

	TRY(key_memory_new(nslots * sizeof *g->slots, &slots));
	key_memory_free(g->slots, g->nslots * sizeof *g->slots);
	g->slots = slots;
	g->nslots = nslots;
	g->shift = 64 - __builtin_ctzll(nslots);
	return groups_each(g, move_group, g);
}

enum status groups_index(struct groups *g)
{
	size_t nslots = NSLOTS_MIN;

	if (g->slots)
		return STATUS_OK;
	while (most_groups(nslots) <= g->ngroups)
		nslots *= 2;
	return resize(g, nslots);
}

void groups_drop_index(struct groups *g)
{
	key_memory_free(g->slots, g->nslots * sizeof *g->slots);
	g->slots = NULL;
	g->nslots = 0;
}

enum status groups_append(struct groups *g, const struct key *key, struct group **out)
{
	struct group *group;
	void *memory;

	TRY(key_arena_take(&g->memory, nbytes_with(g, key), &memory));
	group = (struct group *)((char *)memory + home_nbytes(g));
	memset(group, 0, g->plan->group_nbytes);
	group->key = *key;
	if (key_is_long(key))
		group->key.text = memcpy((char *)group + g->plan->group_nbytes, key->text, key_nbytes(key));
	g->ngroups++;
	*out = group;
	return STATUS_OK;
}

enum status groups_insert(struct groups *g, const struct key *key, uint64_t hash, struct group **out)
{
	TRY(g->ngroups >= most_groups(g->nslots) ? resize(g, 2 * g->nslots) : STATUS_OK);
	TRY(groups_append(g, key, out));
	set_slot(g, *out, hash);
	return STATUS_OK;
}

enum status groups_find_flight(struct groups *g, const struct key *const *keys, const uint64_t *hashes,
			       size_t n, struct group **out)
{
	TRY(groups_index(g));
	for (size_t i = 0; i < n; i++)
		groups_prefetch(g, hashes[i]);
	for (size_t i = 0; i < n; i++)
		groups_prefetch_group(g, hashes[i]);
	for (size_t i = 0; i < n; i++)
		TRY(groups_find(g, keys[i], hashes[i], &out[i]));
	return STATUS_OK;
}

/* ---- runs ---- */

#define RUN_PLACE_NBYTES 8 /* of a key, at its end: a NUL, and 7 bits each with the highest one set, since no value has a NUL */

bool group_is_run_of(const struct group *g, const struct key *values)
{
	const size_t nbytes = key_nbytes(values);

	return key_nbytes(&g->key) == nbytes + RUN_PLACE_NBYTES && memcmp(key_text(&g->key), key_text(values), nbytes) == 0;
}

/* The values of a run's key columns. */
static struct key values_of(const struct group *run)
{
	struct key values;

	key_make(key_text(&run->key), key_nbytes(&run->key) - RUN_PLACE_NBYTES, false, key_seed_get(), &values);
	return values;
}

enum status groups_begin_run(struct groups *g, const struct key *values, uint64_t place)
{
	const size_t nbytes = key_nbytes(values);
	struct group *before = g->run;
	struct key key;
	char *at;

	g->key_text.nbytes = 0;
	if (nbytes > KEY_MAX_NBYTES - RUN_PLACE_NBYTES)
		return STATUS_NO_MEMORY;
	TRY(text_reserve(&g->key_text, nbytes + RUN_PLACE_NBYTES));
	at = memcpy(g->key_text.data, key_text(values), nbytes);
	at[nbytes] = '\0';
	for (size_t i = 1; i < RUN_PLACE_NBYTES; i++)
		at[nbytes + i] = (char)(0x80 | (place >> 7 * (RUN_PLACE_NBYTES - 1 - i) & 0x7f));
	key_make(at, nbytes + RUN_PLACE_NBYTES, false, key_seed_get(), &key);
	TRY(groups_append(g, &key, &g->run));
	g->run->first = place;
	if (g->plan->emits)
		*group_home(g->run) = NULL;
	if (!g->first_run)
		g->first_run = g->run;
	else if (g->plan->emits)
		*group_home(before) = g->run;
	return STATUS_OK;
}

/* Has the first run of g, whose records come next, go on with the last one before it, if it does. */
static enum status join_runs(struct groups *g)
{
	struct groups *open = group_store_bound(g->plan->groups);
	struct group *first = g->first_run;
	struct key values;

	if (!first)
		return STATUS_OK;
	values = values_of(first);
	if (open->run && group_is_run_of(open->run, &values)) {
		if (key_is_long(&first->key)) {
			memcpy((char *)(uintptr_t)first->key.text, open->run->key.text, key_nbytes(&first->key));
			first->key.high = open->run->key.high;
		} else {
			first->key = open->run->key;
		}
	}
	groups_clear(open);
	return groups_append(open, &g->run->key, &open->run);
}

/* Does what groups_exchange does: only the last run goes on. spare: room for a group. */
static enum status exchange_runs(struct groups *g, struct group *spare)
{
	struct groups *open = group_store_bound(g->plan->groups);
	struct group *last = g->run;
	struct key values;

	for (struct group *run = g->first_run; run; run = *group_home(run)) {
		values = values_of(run);
		if (run != g->first_run || !open->run || !group_is_run_of(open->run, &values)) {
			if (run != last) {
				memset(&run->first, 0, g->plan->group_nbytes - offsetof(struct group, first));
				continue;
			}
			groups_clear(open);
			TRY(groups_begin_run(open, &values, 0));
		}
		TRY(group_exchange(open, open->run, g, run, spare));
	}
	return STATUS_OK;
}

/* ---- combining ---- */

static enum status add_group(void *context, struct group *group)
{
	struct groups *g = context;
	struct group *to = NULL;

	TRY(groups_find(g, &group->key, group_hash(group, key_seed_get()), &to));
	TRY(group_combine(g, to, group));
	if (g->plan->emits)
		*group_home(group) = to;
	return STATUS_OK;
}

/* Whether a thread keeps the groups of two together. Tuples may be of many groups: they are only until the store has some. */
static bool are_few(const struct groups *g, const struct groups *later)
{
	return g->ngroups + later->ngroups <= g->plan->groups_few && g->nkeys <= GROUPS_NKEYS_FEW &&
	       (later->tuples.n == 0 || !group_store_is_used(g->plan->groups));
}

enum status groups_combine(struct groups *g, struct groups *later)
{
	TRY(g->plan->has_runs && !g->plan->emits ? join_runs(later) : STATUS_OK);
	if (!are_few(g, later)) {
		TRY(groups_store(g)); /* first: its records come before later's */
		return groups_store(later);
	}
	TRY(groups_each(later, add_group, g));
	TRY(group_tuples_fold(g, &later->tuples));
	return g->ngroups > g->plan->groups_few ? groups_store(g) : STATUS_OK;
}

/* ---- the store of a run ---- */

#define FLIGHT_NKEYS 32

struct part {
	pthread_mutex_t lock;
	struct groups *groups;
	char padding[64]; /* locks lie in lines of their own */
};

struct group_store {
	struct part parts[STORE_NPARTS];
	struct groups *bound; /* without groups: group_store_bound. Owned. */
	atomic_uint nturns; /* how often groups were added: where the next thread begins */
	struct group_source *source; /* owned; NULL if all groups are in memory */
};

struct group_store *group_store_new(const struct plan *plan)
{
	struct group_store *s = calloc(1, sizeof *s);

	if (s && !(s->bound = groups_new(plan))) {
		free(s);
		return NULL;
	}
	for (size_t i = 0; s && i < STORE_NPARTS; i++) {
		pthread_mutex_init(&s->parts[i].lock, NULL);
		s->parts[i].groups = groups_new(plan);
		if (!s->parts[i].groups) {
			group_store_free(s);
			return NULL;
		}
		s->parts[i].groups->part = i;
	}
	return s;
}

void group_store_free(struct group_store *s)
{
	for (size_t i = 0; s && i < STORE_NPARTS; i++)
		groups_free(s->parts[i].groups);
	if (s)
		groups_free(s->bound);
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

struct groups *group_store_bound(struct group_store *s)
{
	return s->bound;
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
static enum status end_tuples(struct groups *part)
{
	enum status status = group_tuples_fold(part, &part->tuples);

	group_tuples_free(&part->tuples, part->plan);
	return status;
}

static void *visit_parts(void *visiting)
{
	struct visiting *v = visiting;
	size_t part;

	while ((part = atomic_fetch_add(&v->next, 1)) < STORE_NPARTS && v->status == STATUS_OK) {
		enum status status = end_tuples(group_store_part(v->store, part));
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

	team_run(group_store_count(s) < GROUPS_NTHREAD ? 1 : nthreads, visit_parts, &v);
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

/* Of items that are numbered, those for each part of the store. */
struct by_part {
	uint32_t begins[STORE_NPARTS + 1];
	uint32_t *order; /* of the items' numbers. Owned. */
};

static bool has_items(const struct by_part *b, size_t part)
{
	return b->begins[part] < b->begins[part + 1];
}

/* What is to be added. */
struct arrivals {
	struct group **groups, **sorted; /* as they came, and by part */
	uint8_t *parts;
	size_t n;
	struct by_part of_groups, of_tuples;
	bool binds; /* the groups are bound, not added */
	const struct group_tuples *tuples;
};

static uint8_t part_of(const struct group *group)
{
	return (uint8_t)(group_hash(group, key_seed_get()) >> (64 - GROUPS_PART_BITS));
}

static enum status add_arrival(void *context, struct group *group)
{
	struct arrivals *a = context;

	a->parts[a->n] = part_of(group);
	a->groups[a->n++] = group;
	return STATUS_OK;
}

/* Orders n items by their parts. Errors: STATUS_NO_MEMORY. */
static enum status order_by_part(const uint8_t *parts, size_t n, struct by_part *out)
{
	uint32_t next[STORE_NPARTS] = {0};

	out->order = malloc((n + 1) * sizeof *out->order);
	NEED(out->order);
	for (size_t i = 0; i < n; i++)
		next[parts[i]]++;
	out->begins[0] = 0;
	for (size_t p = 0; p < STORE_NPARTS; p++) {
		out->begins[p + 1] = out->begins[p] + next[p];
		next[p] = out->begins[p];
	}
	for (size_t i = 0; i < n; i++)
		out->order[next[parts[i]]++] = (uint32_t)i;
	return STATUS_OK;
}

/* Adds up to FLIGHT_NKEYS arrivals, or binds them. */
static enum status add_flight(struct groups *to, struct group *const *from, size_t n, bool binds)
{
	struct group *groups[FLIGHT_NKEYS];
	const struct key_seed seed = key_seed_get();
	const struct key *keys[FLIGHT_NKEYS];
	uint64_t hashes[FLIGHT_NKEYS];

	for (size_t i = 0; i < n; i++) {
		keys[i] = &from[i]->key;
		hashes[i] = group_hash(from[i], seed);
	}
	TRY(groups_find_flight(to, keys, hashes, n, groups));
	for (size_t i = 0; i < n; i++) {
		if (binds)
			*group_home(from[i]) = groups[i];
		else
			TRY(group_combine(to, groups[i], from[i]));
	}
	return STATUS_OK;
}

/* Adds all arrivals of part p, whose lock the caller holds. */
static enum status add_part(struct part *part, const struct arrivals *a, size_t p)
{
	const struct by_part *tuples = &a->of_tuples;
	const size_t end = a->of_groups.begins[p + 1];

	if (has_items(tuples, p))
		TRY(group_tuples_wait(part->groups, a->tuples, tuples->order + tuples->begins[p],
				      tuples->begins[p + 1] - tuples->begins[p]));
	for (size_t i = a->of_groups.begins[p], n; i < end; i += n) {
		n = end - i < FLIGHT_NKEYS ? end - i : FLIGHT_NKEYS;
		TRY(add_flight(part->groups, a->sorted + i, n, a->binds));
	}
	return STATUS_OK;
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

	for (size_t p = 0; p < STORE_NPARTS; p++)
		is_left[p] = has_items(&a->of_groups, p) || has_items(&a->of_tuples, p);
	TRY(add_parts_round(s, a, first, is_left, false));
	return add_parts_round(s, a, first, is_left, true);
}

/* Adds all of g to the store, or binds them. */
static enum status send(struct groups *g, bool binds)
{
	const size_t nbytes = g->ngroups * (2 * sizeof(struct group *) + 1);
	struct arrivals a = {.binds = binds, .tuples = &g->tuples};
	enum status status = STATUS_OK;
	void *memory = NULL;

	if (g->ngroups == 0 && g->tuples.n == 0)
		return STATUS_OK;
	if (nbytes)
		TRY(key_memory_widen(&memory, 0, nbytes));
	a.groups = memory;
	a.sorted = a.groups + g->ngroups;
	a.parts = (uint8_t *)(a.sorted + g->ngroups);
	groups_each(g, add_arrival, &a);
	status = order_by_part(a.parts, a.n, &a.of_groups);
	for (size_t i = 0; i < a.n && status == STATUS_OK; i++)
		a.sorted[i] = a.groups[a.of_groups.order[i]];
	if (status == STATUS_OK)
		status = order_by_part(g->tuples.parts, g->tuples.n, &a.of_tuples);
	if (status == STATUS_OK)
		status = add_parts(g->plan->groups, &a);
	key_memory_free(memory, nbytes);
	free(a.of_groups.order);
	free(a.of_tuples.order);
	return status;
}

enum status groups_store(struct groups *g)
{
	TRY(send(g, false));
	groups_clear(g);
	return STATUS_OK;
}

/* ---- exchanging ---- */

enum status groups_bind(struct groups *g)
{
	TRY(g->is_bound ? STATUS_OK : send(g, true));
	g->is_bound = true;
	return STATUS_OK;
}

/* A visitor of pairs. */
struct pair_visit {
	groups_pair_visitor visit;
	void *context;
};

static enum status visit_pair(void *pair_visit, struct group *group)
{
	const struct pair_visit *v = pair_visit;

	return v->visit(v->context, *group_home(group), group);
}

enum status groups_each_before(struct groups *g, groups_pair_visitor visit, void *context)
{
	const struct groups *open = group_store_bound(g->plan->groups);
	struct key values;

	if (!g->plan->has_runs) {
		TRY(groups_bind(g));
		return groups_each(g, visit_pair, &(struct pair_visit){visit, context});
	}
	if (!g->first_run || !open->run)
		return STATUS_OK;
	values = values_of(g->first_run);
	return group_is_run_of(open->run, &values) ? visit(context, open->run, g->first_run)
						   : STATUS_OK;
}

#define AHEAD_NGROUPS 16 /* whose homes are on their way into the cache */

/* The groups that were visited last, which are exchanged AHEAD_NGROUPS later. */
struct exchange {
	struct groups *chunk;
	struct group *ahead[AHEAD_NGROUPS];
	size_t n;            /* visited so far */
	struct group *spare; /* owned */
};

static enum status exchange_one(struct exchange *e, struct group *group)
{
	return group_exchange(group_store_bound(e->chunk->plan->groups), *group_home(group), e->chunk, group, e->spare);
}

static enum status begin_exchange(void *context, struct group *group)
{
	struct exchange *e = context;
	struct group **at = &e->ahead[e->n++ % AHEAD_NGROUPS], *earlier = *at;

	group_prefetch(*group_home(group), e->chunk->plan);
	*at = group;
	return earlier ? exchange_one(e, earlier) : STATUS_OK;
}

enum status groups_exchange(struct groups *g)
{
	struct exchange e = {.chunk = g, .spare = calloc(1, g->plan->group_nbytes)};
	const bool has_runs = g->plan->has_runs;
	enum status status = !e.spare ? STATUS_NO_MEMORY : has_runs ? exchange_runs(g, e.spare) : groups_bind(g);

	if (status == STATUS_OK && !has_runs)
		status = groups_each(g, begin_exchange, &e);
	for (size_t i = 0; i < AHEAD_NGROUPS && status == STATUS_OK; i++) {
		struct group *group = e.ahead[(e.n + i) % AHEAD_NGROUPS];
		status = group ? exchange_one(&e, group) : STATUS_OK;
	}
	free(e.spare);
	return status;
}

/* ---- a source ---- */

enum status group_reading_begin(struct group_reading *r, const struct plan *plan)
{
	*r = (struct group_reading){.source = group_store_source(plan->groups), .plan = plan};
	return r->source->ops->open(r->source, &r->reader, &r->fault);
}

enum status group_reading_visit(struct group_reading *r, size_t block, size_t n, groups_visitor visit, void *context)
{
	const struct group_source *s = r->source;
	uint64_t *words;
	enum status status = s->ops->read(r->reader, block, &words, &r->fault);

	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		struct group *g = (struct group *)words;
		words += group_words_count(s->layout, g);
		status = group_words_settle(g, r->plan, s->layout, s->scales, &r->texts);
		if (status == STATUS_OK)
			status = visit(context, g);
	}
	key_arena_clear(&r->texts);
	return status;
}

void group_reading_end(struct group_reading *r)
{
	key_arena_free(&r->texts);
	if (r->reader)
		r->source->ops->close(r->reader);
}
