/* SPDX-License-Identifier: MIT
 *
 * rank_tables.c - see rank_tables.h.
 */
#include "fold/rank_tables.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fold/group_values.h"
#include "fold/key_memory.h"

/* Makes the tables of one fold. */
static enum status make_tables(struct rank_table *to, const struct plan *plan, const struct partial *of, int nthreads)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < plan->nnew_columns && status == STATUS_OK; i++)
		if (plan->new_columns[i].kind == NEW_RANK)
			status = rank_table_make(to++, &of->columns[plan->new_columns[i].column], nthreads);
	return status;
}

/* ---- of groups ---- */

/* Groups whose tables are being made. */
struct making {
	struct rank_tables *t;
	const struct plan *plan;
	atomic_size_t group; /* the next one's number */
};

/* Those of a part of the store. */
struct maker {
	struct making *m;
	struct partial blank; /* of a group that has no partial */
};

static enum status make_group(void *context, struct group *group)
{
	struct maker *maker = context;
	struct making *m = maker->m;
	const struct partial *of;

	group->state = atomic_fetch_add(&m->group, 1);
	partial_clear(&maker->blank);
	of = group_partial(group, m->plan, &maker->blank);
	return of ? make_tables(m->t->at + group->state * m->t->nranks, m->plan, of, 1) : STATUS_NO_MEMORY;
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
	enum status status = total->groups ? groups_store(total->groups) : STATUS_OK;
	void *memory;

	t->groups = plan->groups;
	if (status == STATUS_OK)
		status = group_store_settle(plan->groups, (size_t)nthreads);
	t->ngroups = (size_t)group_store_count(plan->groups);
	if (status == STATUS_OK)
		status = key_memory_new(t->ngroups * t->nranks * sizeof *t->at + 1, &memory);
	if (status != STATUS_OK)
		return status;
	t->at = memory;
	return group_store_visit(plan->groups, (size_t)nthreads, make_part, &m);
}

/* ---- all of them ---- */

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
