/* SPDX-License-Identifier: MIT
 *
 * group.h - what is kept of the records of one group (--by): count, sum and extremes of each column in
 * cells that are as small as they can be, all else in a partial.
 *
 * A cell holds numbers of the fast path at one scale, in 64 bits. Most columns have no others. A
 * number that does not fit goes to the partial, as do the other moments: at the end both are added up,
 * so nothing is rounded and nothing depends on where a number was kept. query/query_groups.c gives each
 * column of the plan the place of its cell.
 *
 * Identity: zeroed. Combine: group_combine(earlier, later), associative.
 */
#ifndef GPUSTAT_GROUP_H
#define GPUSTAT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/key.h"
#include "query/plan.h"

/* The numbers of one column: sum x 10^-scale. Their count and their scale share a word. */
struct group_cell {
	uint64_t count_scale;
	int64_t sum;
	int64_t extremes[]; /* the least and the greatest, if the column needs MOMENT_EXTREMES */
};
#define GROUP_CELL_NBYTES (2 * sizeof(uint64_t))
#define GROUP_EXTREMES_NBYTES (2 * sizeof(int64_t))

struct group {
	struct key key; /* the bytes of a long one lie behind the cells */
	uint64_t hash;  /* the key's */
	uint64_t first; /* offset in the input of the first record, in bytes: groups appear in this order */
	uint64_t nrecords;
	struct partial *rest; /* what the cells do not hold; NULL: nothing. Owned. */
	/* The cells follow: plan->group_nbytes in all. */
};

/* The cell of a column that has one: plan_column_has_cell. */
static inline struct group_cell *group_cell(struct group *g, const struct plan_column *column)
{
	return (struct group_cell *)((char *)g + column->cell_offset);
}

#define GROUP_COUNT_BITS 56

static inline uint64_t group_cell_count(const struct group_cell *cell)
{
	return cell->count_scale & (((uint64_t)1 << GROUP_COUNT_BITS) - 1);
}

static inline unsigned group_cell_scale(const struct group_cell *cell)
{
	return (unsigned)(cell->count_scale >> GROUP_COUNT_BITS);
}

/* Adds a number. Returns false, and changes nothing, where it does not fit as it is, or is the first of a
 * cell with extremes: then group_add adds it. */
static inline bool group_cell_add(struct group_cell *cell, bool has_extremes, int64_t significand,
				  unsigned scale)
{
	int64_t sum;

	if (group_cell_scale(cell) != scale || __builtin_add_overflow(cell->sum, significand, &sum))
		return false;
	if (has_extremes) {
		if (group_cell_count(cell) == 0)
			return false;
		cell->extremes[0] = significand < cell->extremes[0] ? significand : cell->extremes[0];
		cell->extremes[1] = significand > cell->extremes[1] ? significand : cell->extremes[1];
	}
	cell->sum = sum;
	cell->count_scale++;
	return true;
}

/* Adds a number of the plan's column c to the group. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_add(struct group *g, const struct plan *plan, size_t c, struct decimal number);

/* Makes the group's partial if there is none. It counts towards --memory. Errors: as above. */
enum status group_need_rest(struct group *g, const struct plan *plan);

/* g becomes the fold of its records and later's, of the same plan; later's partial may be taken
 * over. Its key stays. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_combine(struct group *g, struct group *later, const struct plan *plan);

/* Adds all that g holds of columns and records to p, the identity before: *p, or the group's own
 * partial. Returns it; NULL: no memory. */
struct partial *group_partial(struct group *g, const struct plan *plan, struct partial *p);

/* Frees what g owns, but not g. */
void group_free(struct group *g, const struct plan *plan);

#endif
