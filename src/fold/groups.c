/* SPDX-License-Identifier: MIT
 *
 * groups.c - see groups.h.
 */
#include "fold/groups.h"

#include <stdlib.h>

#include "fold/group_keys.h"
#include "fold/group_values.h"
#include "fold/group_window.h"
#include "fold/key_memory.h"
#include "query/let.h"

#define NSLOTS_MIN 16
#define NSLOTS_SPARSE 4096 /* 32 KB */
#define BLOCK_NBYTES_MIN ((size_t)1 << 10) /* the next block is twice as long, */
#define BLOCK_NBYTES_MAX ((size_t)1 << 16) /* ... up to this: of each part of the store, half of its last one may be empty */

struct groups_block {
	struct groups_block *next;
	size_t nbytes, nused; /* of the whole block, and of its groups */
	uint64_t groups[];
};

/* ---- the plan ---- */

/* Whether a column that has a cell may have numbers that were rounded, and needs nothing but their sums and extremes. Parts have
 * extremes of such numbers also where they are not needed. */
static bool may_keep_quotients(const struct plan *plan, const struct plan_column *column)
{
	const struct let *let = column->parses && !plan->emits && !plan->is_saved && !(column->needs & ~MOMENTS_FUSED) ? column->let : NULL;

	for (size_t i = 0; let && i < let->nsteps; i++)
		if (let->steps[i].code == LET_DIVIDE ||
		    (let->steps[i].code == LET_LOAD && plan->columns[let->request.expr.columns[let->steps[i].index]].let))
			return true;
	return false;
}

/* The states that a group keeps of a column, of those that it may have: group.h. */
static uint8_t states_of(const struct plan *plan, const struct plan_column *column)
{
	const bool keeps_quotients = may_keep_quotients(plan, column);
	unsigned states = 0;

#define STATE(id, name, type, nbytes, is_needed) states |= (unsigned)((is_needed) != 0) << GROUP_##id;
	GROUP_STATES(STATE)
#undef STATE
	return (uint8_t)states;
}

enum status groups_plan(struct plan *plan, size_t chunk_nbytes)
{
	size_t end = sizeof(struct group);
	uint32_t nlists = 0;

	if (plan->nkeys == 0)
		return STATUS_OK;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct plan_column *column = &plan->columns[c];
		bool has_list = (column->needs & (MOMENT_VALUES | MOMENT_KEYS)) != 0;
		if (group_may_have_states(column) && !(has_list && nlists == GROUP_LISTS_MAX) &&
		    !(plan->emits && (has_list || column->needs & MOMENT_TEXTS))) {
			column->cell_list = has_list ? nlists++ : 0;
			column->states = states_of(plan, column);
			column->cell_offset = (uint32_t)end;
			end += group_state_offset(column, GROUP_NSTATES);
		}
		column->keeps_few_keys = true;
		plan->groups_keep_keys |= (column->needs & MOMENT_KEYS) != 0;
		plan->groups_keep_ends |= plan_column_has_cell_of(column, MOMENT_ENDS | MOMENT_TEXTS);
	}
	for (struct plan_pair *pair = plan->pairs; pair < plan->pairs + plan->npairs; pair++)
		if (plan_column_has_cell(&plan->columns[pair->x]) && plan_column_has_cell(&plan->columns[pair->y])) {
			pair->cell_offset = (uint32_t)end;
			end += sizeof(struct group_pair);
		}
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_OFFSET)
			plan->group_nmatched_offset = end;
	if (plan->group_nmatched_offset)
		end += plan->npredicates * sizeof(uint64_t);
	for (size_t i = 0; i < plan->nwindows; i++) {
		group_window_plan(&plan->windows[i], (uint32_t)end);
		end += group_window_nbytes(&plan->windows[i]);
	}
	plan->nlists = nlists;
	plan->group_nbytes = end;
	plan->groups_few = chunk_nbytes && chunk_nbytes < GROUPS_FEW ? chunk_nbytes : GROUPS_FEW;
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
	enum status status = STATUS_OK;

	for (struct groups_block *b = g->blocks; b; b = b->next)
		for (size_t at = 0; at < b->nused && status == STATUS_OK;) {
			struct group *group = (struct group *)((char *)b->groups + at + home_nbytes(g));
			at += nbytes_with(g, &group->key);
			status = visit(context, group);
		}
	return status;
}

static enum status free_group(void *context, struct group *group)
{
	const struct groups *g = context;

	group_free(group, g->plan);
	return STATUS_OK;
}

/* Frees what does not lie in g's blocks. Millions of groups are not visited for nothing. */
static void free_rests(struct groups *g)
{
	if (group_rests_exist())
		groups_each(g, free_group, g);
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	free_rests(g);
	for (struct groups_block *b = g->blocks, *next; b; b = next) {
		next = b->next;
		key_memory_free(b, b->nbytes);
	}
	key_memory_free(g->slots, g->nslots * sizeof *g->slots);
	text_arena_free(&g->texts);
	group_values_free(g);
	group_keys_free(g);
	group_tuples_free(&g->tuples, g->plan);
	free(g);
}

void groups_clear(struct groups *g)
{
	g->is_bound = false;
	g->tuples.n = 0;
	text_arena_free(&g->tuples.key_texts);
	if (g->ngroups == 0)
		return;
	free_rests(g);
	text_arena_free(&g->texts);
	group_values_free(g);
	group_keys_free(g);
	for (struct groups_block *b = g->blocks; b; b = b->next)
		b->nused = 0;
	g->last = g->blocks;
	if (g->slots)
		memset(g->slots, 0, g->nslots * sizeof *g->slots);
	g->ngroups = 0;
}

static size_t room_in(const struct groups_block *b)
{
	return b->nbytes - sizeof *b - b->nused;
}

/* Adds a block with room for nbytes behind the last. */
static enum status add_block(struct groups *g, size_t nbytes)
{
	struct groups_block *last = g->last, *block;
	size_t size = last ? 2 * last->nbytes : BLOCK_NBYTES_MIN;
	enum status status;
	void *memory;

	size = size < BLOCK_NBYTES_MAX ? size : BLOCK_NBYTES_MAX;
	size = size < nbytes + sizeof *block ? nbytes + sizeof *block : size;
	status = key_memory_new(size, &memory);
	if (status != STATUS_OK)
		return status;
	block = memory;
	block->nbytes = size;
	block->next = last ? last->next : NULL;
	*(last ? &last->next : &g->blocks) = block;
	g->last = block;
	return STATUS_OK;
}

/* Makes the last block one with room for nbytes. */
static enum status need_room(struct groups *g, size_t nbytes)
{
	while (g->last && room_in(g->last) < nbytes && g->last->next)
		g->last = g->last->next;
	return g->last && room_in(g->last) >= nbytes ? STATUS_OK : add_block(g, nbytes);
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
	enum status status = key_memory_new(nslots * sizeof *g->slots, &slots);

	if (status != STATUS_OK)
		return status;
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

enum status groups_index_and_find(struct groups *g, const struct key *key, uint64_t hash, struct group **out)
{
	enum status status = groups_index(g);

	return status == STATUS_OK ? groups_find(g, key, hash, out) : status;
}

enum status groups_append(struct groups *g, const struct key *key, struct group **out)
{
	size_t nbytes = nbytes_with(g, key);
	enum status status = need_room(g, nbytes);
	struct group *group;

	if (status != STATUS_OK)
		return status;
	group = (struct group *)((char *)g->last->groups + g->last->nused + home_nbytes(g));
	g->last->nused += nbytes;
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
	enum status status = g->ngroups >= most_groups(g->nslots) ? resize(g, 2 * g->nslots) : STATUS_OK;

	if (status == STATUS_OK)
		status = groups_append(g, key, out);
	if (status == STATUS_OK)
		set_slot(g, *out, hash);
	return status;
}

/* ---- combining ---- */

static enum status add_group(void *context, struct group *group)
{
	struct groups *g = context;
	struct group *to = NULL;
	enum status status = groups_find(g, &group->key, group_hash(group, key_seed_get()), &to);

	if (status == STATUS_OK)
		status = group_combine(to, group, g->plan, &g->texts);
	if (g->plan->emits)
		*group_home(group) = to;
	return status;
}

/* Whether a thread keeps the groups of two together. */
static bool are_few(const struct groups *g, const struct groups *later)
{
	return g->ngroups + later->ngroups <= g->plan->groups_few && later->tuples.n == 0;
}

enum status groups_combine(struct groups *g, struct groups *later)
{
	enum status status;

	if (are_few(g, later))
		return groups_each(later, add_group, g);
	status = groups_store(g); /* first: its records come before later's */
	return status == STATUS_OK ? groups_store(later) : status;
}
