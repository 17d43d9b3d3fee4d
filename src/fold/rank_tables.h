/* SPDX-License-Identifier: MIT
 *
 * rank_tables.h - the tables of all columns of --rank: of all records, or of each group.
 */
#ifndef GPUSTAT_RANK_TABLES_H
#define GPUSTAT_RANK_TABLES_H

#include <stddef.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/group.h"
#include "fold/groups.h"
#include "fold/rank_table.h"
#include "query/plan.h"

struct rank_tables {
	struct group_store *groups; /* of the pass that kept the numbers; NULL: without keys. Not owned. A group's
				     * state is its number in `at` */
	struct rank_table *at; /* plan->nranks for each group, or all records; owned */
	size_t nranks, ngroups;
};

/* Makes the tables of a pass over the input that kept the numbers of the plan's columns of NEW_RANK: total is its
 * fold. The plan's groups must stay. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS; t can then be freed. */
enum status rank_tables_make(struct rank_tables *t, const struct plan *plan, const struct partial *total,
			     int nthreads);
void rank_tables_free(struct rank_tables *t);

/* The plan->nranks tables of a group of another pass's store, by its key; NULL: that pass had no such group.
 * group: NULL: of all records. Any thread. */
const struct rank_table *rank_tables_of(const struct rank_tables *t, const struct group *group);

#endif
