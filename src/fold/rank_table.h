/* SPDX-License-Identifier: MIT
 *
 * rank_table.h - the numbers of a column in order, so that a number's rank can be looked up: 1 and how many numbers
 * come before it. Equal numbers have one rank, however they are written. A dense table has each distinct number once.
 *
 * The numbers are those that a pass over the input kept (values.h). A later pass looks up each record's.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "fold/group.h"
#include "fold/groups.h"
#include "fold/values_select.h"
#include "query/plan.h"
#include "query/value.h"

/* Zeroed: of no numbers. All owned, and counted towards --memory. Of the three arrays the keys' kind has one,
 * of n numbers, ascending. */
struct rank_table {
	struct values_keys keys;
	uint64_t n;
	int64_t least;       /* KEY_64: number i is least + distances[i] */
	uint64_t *distances;
	struct exact *longer; /* whose limbs are owned, too */
	/* Of distances, if there are many: those with the same d >> shift are starts[d >> shift] .. starts[.. + 1) */
	uint64_t *starts;
	size_t nstarts; /* entries but for the last */
	int shift;
	uint64_t taken_nbytes;
};

/* Makes t the table of all numbers that the column kept. nthreads: at least 1; as many threads sort. is_dense: of its distinct numbers.
 * Errors: STATUS_NO_MEMORY; t can then be freed. Cost: two passes over the numbers, and sorting the 4096 ranges
 * into which they are dealt. */
enum status rank_table_make(struct rank_table *t, const struct column_partial *column, bool is_dense, int nthreads);
void rank_table_free(struct rank_table *t);

/* Returns the rank of a number, DECIMAL_NUMBER or DECIMAL_WIDE; descending: from the largest on. 0: the
 * number is beyond the range. */
uint64_t rank_table_find(const struct rank_table *t, const struct value *number, bool descending);

/* One of many lookups. */
struct rank_lookup {
	const struct rank_table *table; /* NULL: nothing is looked up */
	struct decimal number;
	uint64_t rank;              /* the result, as from rank_table_find */
	uint64_t key, begin, end;   /* while it is looked up */
};
#define RANK_LOOKUPS_MAX 64

/* Looks up n numbers, up to RANK_LOOKUPS_MAX, step by step side by side: a table is larger than a cache, and a
 * step of one waits for memory while the others go on. */
void rank_table_find_all(struct rank_lookup *lookups, size_t n, bool descending);

/* ---- the tables of all columns that rank ---- */

struct rank_tables {
	struct group_store *groups; /* of the pass that kept the numbers; NULL: without keys. Not owned. A group's
				     * state is its number in `at` */
	struct rank_table *at; /* plan->nranks for each group, or all records; owned */
	size_t nranks, ngroups;
};

/* Makes the tables of a pass over the input that kept the numbers of the plan's columns of NEW_RANKS: total is its
 * fold. The plan's groups must stay. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS; t can then be freed. */
enum status rank_tables_make(struct rank_tables *t, const struct plan *plan, const struct partial *total,
			     int nthreads);
void rank_tables_free(struct rank_tables *t);

/* The plan->nranks tables of a group of another pass's store, by its key; NULL: that pass had no such group.
 * group: NULL: of all records. Any thread. */
const struct rank_table *rank_tables_of(const struct rank_tables *t, const struct group *group);
