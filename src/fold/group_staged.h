/* SPDX-License-Identifier: MIT
 *
 * group_staged.h - numbers of groups on their way into the groups' partials.
 *
 * Order statistics and higher powers of a group are kept in a partial of its own (group.h). Where there are many groups, each of
 * a chunk's has a number or two, and a partial for each would cost a hundred times what is folded into it. So a
 * chunk lists its numbers beside its groups. The list follows the groups to where these are kept, and there each
 * number is folded into its group's partial, of which the run needs one for each group.
 */
#ifndef GPUSTAT_GROUP_STAGED_H
#define GPUSTAT_GROUP_STAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"

/* A number of the fast path, of the plan's column. */
struct staged_number {
	struct group *group;
	int64_t significand;
	uint32_t column;
	uint8_t scale;
};

/* Whether a column's numbers are listed: they go to partials, and all that is kept of them is numbers. Not where
 * records are printed, whose groups are bound to those of the store. */
bool group_stages(const struct plan *plan, const struct plan_column *column);

/* Makes room for n more. Errors: STATUS_NO_MEMORY. */
enum status group_staged_reserve(struct groups *g, size_t n);

/* Lists a number of one of g's groups. There is room. */
static inline void group_stage(struct groups *g, struct staged_number x)
{
	g->staged[g->nstaged++] = x;
}

/* Lists what later has listed, whose groups' homes are groups of g, and empties later's list. Folds all of it where it
 * becomes long. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_staged_take(struct groups *g, struct groups *later);

/* Folds numbers into the partials of the groups that they name, which the caller alone uses. Errors: as above. */
enum status group_staged_fold(const struct plan *plan, const struct staged_number *x, size_t n);

#endif
