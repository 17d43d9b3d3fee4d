/* SPDX-License-Identifier: MIT
 *
 * group_values.c - see group_values.h.
 */
#include "fold/group_values.h"

#include <assert.h>
#include <string.h>

#include "fold/group_keys.h"
#include "fold/key_memory.h"
#include "fold/values.h"
#include "number/decimal_text.h"

#define LIST_NBYTES ((size_t)1 << 16) /* of a block of a list */
#define MANY_A_GROUP 64 /* where each group has so many numbers, partials hold them in less memory */
#define AHEAD 8

/* A number on its way to its group: the address of that in the lowest GROUPS_ADDRESS_BITS bits, then its scale in 5, and above
 * them the number of its column among those with cells of values. */
struct listed {
	uint64_t group_scale_column;
	int64_t significand;
};
#define SCALE_BITS 5
static_assert(DECIMAL_NSCALES <= 1 << SCALE_BITS, "a scale fits");
#define COLUMN_SHIFT (GROUPS_ADDRESS_BITS + SCALE_BITS)

struct listed_values {
	struct listed_values *next;
	size_t n;
	struct listed at[];
};
#define LIST_NVALUES ((LIST_NBYTES - sizeof(struct listed_values)) / sizeof(struct listed))

/* The settled numbers of a part's groups. */
struct settled_values {
	size_t nbytes;
	int64_t x[];
};

static struct group *group_of(const struct listed *v)
{
	return (struct group *)(uintptr_t)(v->group_scale_column & (((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1));
}

static unsigned scale_of(const struct listed *v)
{
	return v->group_scale_column >> GROUPS_ADDRESS_BITS & ((1u << SCALE_BITS) - 1);
}

/* ---- lists ---- */

enum status group_values_add(struct groups *g, struct group *group, size_t c, int64_t significand, unsigned scale)
{
	struct listed_values *block = g->listed;
	enum status status;
	void *memory;

	if (!block || block->n == LIST_NVALUES) {
		status = key_memory_new(LIST_NBYTES, &memory);
		if (status != STATUS_OK)
			return status;
		block = memory;
		block->next = g->listed;
		g->listed = block;
	}
	block->at[block->n++] = (struct listed){(uintptr_t)group | (uint64_t)scale << GROUPS_ADDRESS_BITS |
						(uint64_t)g->plan->columns[c].cell_list << COLUMN_SHIFT, significand};
	g->nlisted++;
	return STATUS_OK;
}

static void free_lists(struct groups *g)
{
	while (g->listed) {
		struct listed_values *next = g->listed->next;
		key_memory_free(g->listed, LIST_NBYTES);
		g->listed = next;
	}
	g->nlisted = 0;
}

void group_values_free(struct groups *g)
{
	free_lists(g);
	if (g->settled)
		key_memory_free(g->settled, g->settled->nbytes);
	g->settled = NULL;
}

/* The plan's column of a listed number. columns: by their numbers among those with cells of values. */
static size_t column_of(const size_t *columns, const struct listed *v)
{
	return columns[v->group_scale_column >> COLUMN_SHIFT];
}

static enum status fold(const struct plan *plan, size_t c, const struct listed *v)
{
	const uint8_t scale = (uint8_t)scale_of(v);
	enum status status = group_need_rest(group_of(v), plan);

	if (status != STATUS_OK)
		return status;
	return moments_add(&group_of(v)->rest->columns[c].moments, MOMENT_VALUES, &v->significand, &scale, 1);
}

/* Calls visit for each listed number, or up to one that fails. */
typedef enum status list_visitor(struct groups *g, size_t c, struct listed *v);
static enum status each(struct groups *g, list_visitor *visit)
{
	size_t columns[GROUP_LISTS_MAX];
	enum status status = STATUS_OK;

	for (size_t c = 0; c < g->plan->ncolumns; c++)
		if (plan_column_has_cell_of(&g->plan->columns[c], MOMENT_VALUES))
			columns[g->plan->columns[c].cell_list] = c;
	for (struct listed_values *block = g->listed; block; block = block->next)
		for (size_t i = 0; i < block->n && status == STATUS_OK; i++) {
			if (i + AHEAD < block->n)
				group_prefetch(group_of(&block->at[i + AHEAD]));
			status = visit(g, column_of(columns, &block->at[i]), &block->at[i]);
		}
	return status;
}

static enum status fold_listed(struct groups *g, size_t c, struct listed *v)
{
	return fold(g->plan, c, v);
}

enum status group_values_limit(struct groups *g)
{
	enum status status = STATUS_OK;

	if (g->nlisted <= LIST_NVALUES || g->nlisted / MANY_A_GROUP <= g->ngroups)
		return status;
	status = each(g, fold_listed);
	free_lists(g);
	return status;
}

/* ---- settling ---- */

/* Counts a number in its group's cell, which gets the largest scale of all. */
static enum status count_listed(struct groups *g, size_t c, struct listed *v)
{
	struct group_values *to = group_values(group_of(v), &g->plan->columns[c]);
	uint64_t scale = scale_of(v), had = group_values_scale(to);

	to->count_scale += 1 + (scale > had ? (scale - had) << GROUP_COUNT_BITS : 0);
	return STATUS_OK;
}

/* Gives a group's cells their places, one behind the other, and begins to count anew. */
static enum status place_group(void *context, struct group *group)
{
	struct groups *g = context;

	for (size_t c = 0; c < g->plan->ncolumns; c++) {
		const struct plan_column *column = &g->plan->columns[c];
		struct group_values *v = group_values(group, column);
		if (!plan_column_has_cell_of(column, MOMENT_VALUES))
			continue;
		v->at = g->settled->x + g->nlisted;
		g->nlisted += group_values_count(v);
		v->count_scale -= group_values_count(v);
	}
	return STATUS_OK;
}

/* Writes a number at its group's place, or to its partial if it does not fit at the group's scale. */
static enum status put_listed(struct groups *g, size_t c, struct listed *v)
{
	struct group_values *to = group_values(group_of(v), &g->plan->columns[c]);
	unsigned nzeros = group_values_scale(to) - scale_of(v);
	int64_t x = v->significand;

	if (nzeros && (nzeros > DECIMAL_NDIGITS || __builtin_mul_overflow(x, (int64_t)decimal_powers[nzeros], &x)))
		return fold(g->plan, c, v);
	to->at[group_values_count(to)] = x;
	to->count_scale++;
	return STATUS_OK;
}

static enum status settle_part(struct groups *g)
{
	size_t nbytes = sizeof *g->settled + g->nlisted * sizeof *g->settled->x;
	enum status status;
	void *memory;

	if (g->nlisted == 0)
		return STATUS_OK;
	status = key_memory_new(nbytes, &memory);
	if (status != STATUS_OK)
		return status;
	g->settled = memory;
	g->settled->nbytes = nbytes;
	each(g, count_listed);
	g->nlisted = 0;
	groups_each(g, place_group, g);
	status = each(g, put_listed);
	free_lists(g);
	return status;
}

enum status group_lists_settle(struct groups *g)
{
	enum status status = settle_part(g);

	return status == STATUS_OK ? group_keys_settle(g) : status;
}

static enum status visit_settle(void *context, struct groups *part)
{
	(void)context;
	return group_lists_settle(part);
}

enum status group_store_settle(struct group_store *store, size_t nthreads)
{
	return group_store_visit(store, nthreads, visit_settle, NULL);
}

/* ---- what cells hold ---- */

bool group_has_values(struct group *g, const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan_column_has_cell_of(&plan->columns[c], MOMENT_VALUES) &&
		    group_values_count(group_values(g, &plan->columns[c])))
			return true;
	return false;
}

enum status group_values_add_to(const struct group_values *v, struct column_partial *column)
{
	struct values *to = group_values_count(v) ? moments_need(&column->moments, CELL_VALUES) : NULL;
	uint8_t scales[SIMD_NUMBERS_NROWS];
	enum status status = to || group_values_count(v) == 0 ? STATUS_OK : STATUS_NO_MEMORY;

	if (to && !values_have_any(to))
		values_forget_scale(to);
	memset(scales, (int)group_values_scale(v), sizeof scales);
	for (uint64_t i = 0, n; i < group_values_count(v) && status == STATUS_OK; i += n) {
		n = group_values_count(v) - i;
		n = n < SIMD_NUMBERS_NROWS ? n : SIMD_NUMBERS_NROWS;
		status = moments_add(&column->moments, MOMENT_VALUES, v->at + i, scales,
				     ~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n));
	}
	return status;
}
