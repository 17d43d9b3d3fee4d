/* SPDX-License-Identifier: MIT
 *
 * group_values.c - see group_values.h.
 */
#include "fold/group_values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "fold/group_keys.h"
#include "fold/key_memory.h"
#include "fold/values.h"
#include "number/decimal_text.h"

#define BLOCK_NBYTES_MIN ((size_t)1 << 9) /* of a list; the next one is twice as long, */
#define BLOCK_NBYTES_MAX ((size_t)1 << 14) /* ... up to this */
#define MANY_A_GROUP 64 /* where each group has so many numbers, partials hold them in less memory */
#define SHARE_SHIFT 2 /* of --memory, lists may have 1 / 2^this before that counts */

/* Numbers are listed by column and scale where they fit in 32 bits, if there are few such lists; all others in one list. Groups
 * are known by the ordinals that their cells have. */
#define NARROW_NSCALES 8
#define NARROW_NCOLUMNS_MAX 8

struct narrow_value {
	uint32_t ordinal;
	int32_t significand;
};
struct wide_value {
	uint32_t ordinal;
	uint16_t list; /* cell_list of its column */
	uint16_t scale;
	int64_t significand;
};
static_assert(GROUP_LISTS_MAX <= 1 << 16, "a list's number fits");

struct listed_values {
	struct listed_values *next;
	size_t nbytes, n;
	union {
		struct narrow_value narrow[1];
		struct wide_value wide[1];
	};
};

/* The settled numbers of a part's groups. */
struct settled_values {
	size_t nbytes;
	int64_t x[];
};

/* ---- lists ---- */

static size_t nlists(const struct plan *plan)
{
	return plan->nlists > NARROW_NCOLUMNS_MAX ? 1 : plan->nlists * NARROW_NSCALES + 1;
}

/* The list for a number: the last one is the wide one. */
static size_t list_of(const struct plan *plan, const struct plan_column *column, int64_t significand, unsigned scale)
{
	if (plan->nlists > NARROW_NCOLUMNS_MAX || scale >= NARROW_NSCALES || significand != (int32_t)significand)
		return nlists(plan) - 1;
	return column->cell_list * NARROW_NSCALES + scale;
}

static size_t entry_nbytes(const struct plan *plan, size_t list)
{
	return list == nlists(plan) - 1 ? sizeof(struct wide_value) : sizeof(struct narrow_value);
}

/* Gives a list a block with room. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
static enum status lengthen(struct groups *g, size_t list)
{
	struct listed_values *block;
	size_t nbytes = g->lists && g->lists[list] ? 2 * g->lists[list]->nbytes : BLOCK_NBYTES_MIN;
	void *memory;

	if (!g->lists)
		g->lists = calloc(nlists(g->plan), sizeof(struct listed_values *));
	NEED(g->lists);
	nbytes = nbytes < BLOCK_NBYTES_MAX ? nbytes : BLOCK_NBYTES_MAX;
	TRY(key_memory_new(nbytes, &memory));
	block = memory;
	block->nbytes = nbytes;
	block->next = g->lists[list];
	g->lists[list] = block;
	g->nlist_bytes += nbytes;
	return STATUS_OK;
}

enum status group_values_add(struct groups *g, struct group *group, size_t c, int64_t significand, unsigned scale)
{
	const struct plan_column *column = &g->plan->columns[c];
	struct group_values *v = group_values(group, column);
	size_t list = list_of(g->plan, column, significand, scale), nbytes = entry_nbytes(g->plan, list);
	struct listed_values *block = g->lists ? g->lists[list] : NULL;
	unsigned had = group_values_scale(v);

	if (!block || offsetof(struct listed_values, wide) + (block->n + 1) * nbytes > block->nbytes) {
		enum status status = lengthen(g, list);
		if (status != STATUS_OK)
			return status;
		block = g->lists[list];
	}
	if (group_values_count(v) == 0) {
		if (g->nordinals == UINT32_MAX)
			return STATUS_NO_MEMORY;
		v->ordinal = g->nordinals++;
	}
	v->count_scale += 1 + (scale > had ? (uint64_t)(scale - had) << GROUP_COUNT_BITS : 0);
	if (nbytes == sizeof *block->narrow)
		block->narrow[block->n++] = (struct narrow_value){(uint32_t)v->ordinal, (int32_t)significand};
	else
		block->wide[block->n++] = (struct wide_value){(uint32_t)v->ordinal, (uint16_t)column->cell_list, (uint16_t)scale, significand};
	g->nlisted++;
	return STATUS_OK;
}

static void free_lists(struct groups *g)
{
	for (size_t list = 0; g->lists && list < nlists(g->plan); list++)
		while (g->lists[list]) {
			struct listed_values *next = g->lists[list]->next;
			key_memory_free(g->lists[list], g->lists[list]->nbytes);
			g->lists[list] = next;
		}
	free(g->lists);
	g->lists = NULL;
	g->nlisted = g->nlist_bytes = g->nordinals = 0;
}

void group_values_free(struct groups *g)
{
	free_lists(g);
	if (g->settled)
		key_memory_free(g->settled, g->settled->nbytes);
	g->settled = NULL;
}

/* ---- settling ---- */

/* Where the numbers of a group's column go, by its ordinal. */
struct place {
	struct group *group;
	uint32_t column;
	uint32_t scale; /* of all of them */
	int64_t *next;  /* NULL: to the group's partial */
};

struct settling {
	struct groups *g;
	struct place *places;
	int64_t *at; /* the next group's; NULL: all numbers go to partials */
};

/* Gives a group's cells their places, one behind the other. */
static enum status place_group(void *context, struct group *group)
{
	struct settling *s = context;
	const struct plan *plan = s->g->plan;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		struct group_values *v = group_values(group, column);
		uint64_t n, ordinal;
		if (!plan_column_has_cell_of(column, MOMENT_VALUES) || group_values_count(v) == 0)
			continue;
		ordinal = v->ordinal;
		n = group_values_count(v);
		s->places[ordinal] = (struct place){group, (uint32_t)c, group_values_scale(v), s->at};
		v->at = s->at;
		if (s->at)
			s->at += n;
		else
			v->count_scale = 0;
	}
	return STATUS_OK;
}

/* Adds a number to its group's partial. */
static enum status fold(const struct plan *plan, const struct place *place, int64_t significand, unsigned scale)
{
	const uint8_t scales = (uint8_t)scale;

	TRY(group_need_rest(place->group, plan));
	return moments_add(&place->group->rest->columns[place->column].moments, MOMENT_VALUES, &significand, &scales, 1);
}

/* Writes a number at its group's place, or adds it to the partial if it does not fit at the group's scale. */
static inline enum status put(const struct plan *plan, struct place *place, int64_t significand, unsigned scale)
{
	unsigned nzeros = place->scale - scale;
	int64_t x = significand;

	if (place->next &&
	    (nzeros == 0 || (nzeros <= DECIMAL_NDIGITS && !__builtin_mul_overflow(x, (int64_t)decimal_powers[nzeros], &x)))) {
		*place->next++ = x;
		return STATUS_OK;
	}
	if (place->next)
		group_values(place->group, &plan->columns[place->column])->count_scale--;
	return fold(plan, place, significand, scale);
}

static enum status put_list(const struct groups *g, size_t list, struct place *places)
{
	const bool is_wide = list == nlists(g->plan) - 1;
	const unsigned scale = list % NARROW_NSCALES;

	for (const struct listed_values *block = g->lists[list]; block; block = block->next)
		for (size_t i = 0; i < block->n; i++)
			TRY(is_wide ? put(g->plan, &places[block->wide[i].ordinal], block->wide[i].significand,
					  block->wide[i].scale)
				    : put(g->plan, &places[block->narrow[i].ordinal], block->narrow[i].significand, scale));
	return STATUS_OK;
}

/* Moves all that g has listed to its groups: to their settled numbers, which `at` has room for, or, if it is NULL, to their
 * partials. */
static enum status put_all(struct groups *g, int64_t *at)
{
	struct settling s = {.g = g, .at = at};
	const size_t nbytes = g->nordinals * sizeof *s.places;
	void *memory;
	enum status status = STATUS_OK;

	TRY(key_memory_new(nbytes, &memory));
	s.places = memory;
	groups_each(g, place_group, &s);
	for (size_t list = 0; list < nlists(g->plan) && status == STATUS_OK; list++)
		status = put_list(g, list, s.places);
	key_memory_free(memory, nbytes);
	free_lists(g);
	return status;
}

enum status group_values_limit(struct groups *g)
{
	if (g->nlist_bytes <= memory_limit_nbytes() >> (GROUPS_PART_BITS + SHARE_SHIFT) ||
	    g->nlisted / MANY_A_GROUP <= g->ngroups)
		return STATUS_OK;
	return put_all(g, NULL);
}

static enum status settle_part(struct groups *g)
{
	size_t nbytes = sizeof *g->settled + g->nlisted * sizeof *g->settled->x;
	void *memory;

	if (g->nlisted == 0)
		return STATUS_OK;
	TRY(key_memory_new(nbytes, &memory));
	g->settled = memory;
	g->settled->nbytes = nbytes;
	return put_all(g, g->settled->x);
}

enum status group_lists_settle(struct groups *g)
{
	TRY(settle_part(g));
	return group_keys_settle(g);
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

enum status group_values_add_to(const struct group_values *v, struct column_partial *column)
{
	struct values *to = group_values_count(v) ? moments_need(&column->moments, CELL_VALUES) : NULL;
	uint8_t scales[SIMD_NUMBERS_NROWS];

	TRY(to || group_values_count(v) == 0 ? STATUS_OK : STATUS_NO_MEMORY);
	if (to && !values_have_any(to))
		values_forget_scale(to);
	memset(scales, (int)group_values_scale(v), sizeof scales);
	for (uint64_t i = 0, n; i < group_values_count(v); i += n) {
		n = group_values_count(v) - i;
		n = n < SIMD_NUMBERS_NROWS ? n : SIMD_NUMBERS_NROWS;
		TRY(moments_add(&column->moments, MOMENT_VALUES, v->at + i, scales,
				~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n)));
	}
	return STATUS_OK;
}
