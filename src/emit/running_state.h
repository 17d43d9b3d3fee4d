/* SPDX-License-Identifier: MIT
 *
 * running_state.h - the running values of all new columns: of all records so far, or of a group's.
 */
#ifndef GPUSTAT_RUNNING_STATE_H
#define GPUSTAT_RUNNING_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "emit/running.h"
#include "emit/running_ratio.h"
#include "emit/running_window.h"
#include "fold/column.h"
#include "fold/group.h"
#include "query/plan.h"

struct rank_table; /* fold/rank_table.h */

/* All owned, but ranks. */
struct running_state {
	struct running *runnings; /* plan->nnew_columns; of a row number, only the count is used */
	struct running_ratio *ratios; /* plan->nnew_columns */
	struct running_window *windows; /* plan->nwindows */
	const struct rank_table *ranks; /* plan->nranks; not owned; NULL: of no numbers */
	uint64_t *nmatched; /* plan->npredicates: records so far where it holds */
};

/* Errors: STATUS_NO_MEMORY; s can then be freed. */
enum status running_state_init(struct running_state *s, const struct plan *plan);
void running_state_free(struct running_state *s, const struct plan *plan);

/* Sets the values to those after the records of which before is the fold. Errors: STATUS_NO_MEMORY. */
enum status running_state_begin(struct running_state *s, const struct plan *plan, const struct partial *before);

/* The states of the groups that a chunk has met so far. All owned. */
struct group_states {
	struct running_state *at;
	size_t n, capacity; /* begun, and made */
	struct partial blank; /* of a group without a partial */
};

/* Zeroed, s has no states. */
void group_states_free(struct group_states *s, const struct plan *plan);

/* Returns the state of a group; begins with what the group holds of the records before the chunk, whose
 * states are as many as s->n says. NULL: no memory. */
struct running_state *group_states_of(struct group_states *s, const struct plan *plan, struct group *group);

/* Returns window i of a group that has it in its partial, or has it moved there. NULL: no memory. */
struct running_window *group_states_window(struct group_states *s, const struct plan *plan, struct group *group, size_t i);

/* Whether the group itself shows what window i does with a value, and takes it: running_window.h, "in line". */
static inline bool group_shows_window(struct group *group, const struct plan *plan, size_t i, const struct recent_value *value)
{
	const struct plan_window *window = &plan->windows[i];

	return window->cell_offset && group_window_fits(group_window(group, window), window, value);
}

#endif
