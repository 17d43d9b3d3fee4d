/* SPDX-License-Identifier: MIT
 *
 * aggregates.c - see aggregates.h.
 */
#include "fold/aggregates.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fold/group_lists.h"
#include "fold/group_result.h"
#include "fold/key_memory.h"
#include "fold/quantile.h"
#include "fold/result.h"

enum status aggregate_value_set(struct aggregate_value *to, const char *text, size_t nbytes, bool is_number)
{
	struct decimal number;

	*to = (struct aggregate_value){.kind = AGGREGATE_MISSING};
	if (nbytes == 0)
		return STATUS_OK;
	if (is_number && decimal_parse(text, nbytes, &number) == DECIMAL_NUMBER) {
		*to = (struct aggregate_value){.significand = number.significand, .kind = AGGREGATE_NUMBER, .scale = (uint8_t)number.scale};
		return STATUS_OK;
	}
	to->text = strndup(text, nbytes);
	NEED(to->text);
	to->kind = is_number ? AGGREGATE_LONG : AGGREGATE_TEXT;
	return STATUS_OK;
}

enum status aggregate_value_find(struct aggregate_value *to, struct group_rows *rows, struct group_row *row, const struct result *r)
{
	struct result_value v;

	TRY(group_row_find(rows, row, r, NULL, &v));
	return aggregate_value_set(to, v.text, v.nbytes, v.is_number && !v.number); /* a spelled one is a text, as first(x) has it */
}

void aggregate_value_free(struct aggregate_value *v)
{
	if (v->kind == AGGREGATE_LONG || v->kind == AGGREGATE_TEXT)
		free(v->text);
	v->kind = AGGREGATE_MISSING;
}

/* Groups whose values are being made. */
struct making {
	struct aggregates *a;
	const struct query *q;
	const struct partial *total;
	atomic_size_t group; /* the next one's number */
};

/* Those of a part of the store. */
struct maker {
	struct making *m;
	struct group_rows rows;
};

/* group: NULL: all records. */
static enum status make_row(const struct making *m, struct group_rows *rows, struct group *group, struct aggregate_value *to)
{
	struct group_row row = {.group = group};
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < m->a->n; i++)
		status = aggregate_value_find(&to[i], rows, &row, &m->q->results[i]);
	group_row_end(rows, &row);
	return status;
}

static enum status make_group(void *context, struct group *group)
{
	struct maker *maker = context;

	group->state = atomic_fetch_add(&maker->m->group, 1);
	return make_row(maker->m, &maker->rows, group, &maker->m->a->at[group->state * maker->m->a->n]);
}

static enum status make_part(void *context, struct groups *part)
{
	struct maker maker = {.m = context};
	enum status status = group_rows_init(&maker.rows, maker.m->q, maker.m->total, 1);

	groups_drop_index(part); /* a GPU's groups are appended to a part and not in its table */
	THEN(status, groups_index(part));
	THEN(status, groups_each(part, make_group, &maker));
	group_rows_free(&maker.rows);
	return status;
}

static enum status make_of_groups(struct aggregates *a, const struct query *q, struct partial *total)
{
	const size_t nthreads = (size_t)ranks_nthreads(q);
	struct making m = {.a = a, .q = q, .total = total};
	void *memory;

	if (total->groups)
		TRY(groups_store(total->groups));
	TRY(group_store_visit(q->plan.groups, nthreads, NULL, NULL));
	a->groups = q->plan.groups;
	a->ngroups = (size_t)group_store_count(a->groups);
	TRY(key_memory_new(a->ngroups * a->n * sizeof *a->at + 1, &memory));
	a->at = memory;
	return group_store_visit(a->groups, nthreads, make_part, &m);
}

static enum status make_of_all(struct aggregates *a, const struct query *q, const struct partial *total, const struct ranks *ranks)
{
	const struct making m = {.a = a, .q = q};
	struct group_rows rows;
	enum status status = group_rows_init(&rows, q, total, 1);

	rows.ranks = ranks;
	if (status == STATUS_OK && !(a->at = calloc(a->n + 1, sizeof *a->at)))
		status = STATUS_NO_MEMORY;
	THEN(status, make_row(&m, &rows, NULL, a->at));
	group_rows_free(&rows);
	return status;
}

enum status aggregates_make(struct aggregates *a, const struct query *q, struct partial *total, const struct ranks *ranks)
{
	*a = (struct aggregates){.n = q->nresults, .ngroups = 1};
	return q->plan.nkeys ? make_of_groups(a, q, total) : make_of_all(a, q, total, ranks);
}

void aggregates_free(struct aggregates *a)
{
	for (size_t i = 0; a->at && i < a->ngroups * a->n; i++)
		aggregate_value_free(&a->at[i]);
	if (a->groups)
		key_memory_free(a->at, a->ngroups * a->n * sizeof *a->at + 1);
	else
		free(a->at);
	memset(a, 0, sizeof *a);
}

const struct aggregate_value *aggregates_of(const struct aggregates *a, const struct key *key, uint64_t hash)
{
	const struct group *group = groups_seek(group_store_part(a->groups, (size_t)(hash >> (64 - GROUPS_PART_BITS))), key, hash);

	return group ? a->at + group->state * a->n : NULL;
}

enum status aggregates_use(const struct aggregates *a, struct query *q)
{
	q->plan.aggregates = a;
	for (size_t i = 0; i < q->naggregates && !a->groups; i++) {
		struct program *p = &q->lets[q->ncomputed - q->naggregates + i];
		if (a->at[i].kind != AGGREGATE_NUMBER)
			continue;
		NEED(p->steps = calloc(1, sizeof *p->steps));
		*p->steps = (struct step){.code = STEP_NUMBER, .number = {a->at[i].significand, a->at[i].scale}};
		p->nsteps = 1;
		p->computes = true;
		p->is_aggregate = false;
	}
	return STATUS_OK;
}
