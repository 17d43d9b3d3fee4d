/* SPDX-License-Identifier: MIT
 *
 * group_staged.h - values of groups on their way into the groups' partials.
 *
 * What order statistics and different values of a group are made of may be kept in a partial of its own (group.h).
 * Where there are many groups, each of a chunk's has a value or two, and a partial for each would cost a hundred times what is
 * folded into it. So a chunk lists its values beside its groups. The list follows the groups to where these are kept, and
 * there each value is folded into its group's partial, of which the run needs one for each group.
 */
#ifndef GPUSTAT_GROUP_STAGED_H
#define GPUSTAT_GROUP_STAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"

/* A number of the fast path, or a key (keys.h): of a number that is both there are two. */
struct staged_value {
	struct group *group;
	union {
		int64_t significand;
		const char *text; /* valid until the chunk's groups are combined with others */
	};
	uint64_t first;  /* of a text: its offset in the input, in bytes */
	uint32_t column : 31; /* of the plan */
	uint32_t is_text : 1;
	uint32_t scale_or_nbytes; /* the number's scale; the text's length */
};

/* Whether a column's values are listed: those that group_values.h keeps beside a cell, and where there is no cell, if nothing
 * but numbers and keys is kept of them, but not where records are printed, whose groups are bound to those of the store. */
bool group_stages(const struct plan *plan, const struct plan_column *column);

/* Makes room for n more. Errors: STATUS_NO_MEMORY. */
enum status group_staged_reserve(struct groups *g, size_t n);

/* Lists a value of one of g's groups. There is room. */
static inline void group_stage(struct groups *g, struct staged_value x)
{
	g->staged[g->nstaged++] = x;
}

/* Lists what later has listed, whose groups' homes are groups of g, and empties later's list. Folds all of it where
 * it becomes long, or has texts. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_staged_take(struct groups *g, struct groups *later);

/* Folds all that g has listed if it has texts, which may not outlive what follows. Errors: as above. */
enum status group_staged_settle(struct groups *g);

/* Folds values into the partials of the groups that they name, which the caller alone uses. Errors: as above. */
enum status group_staged_fold(const struct plan *plan, const struct staged_value *x, size_t n);

/* Adds values to groups of a part of the store, which they name: numbers of columns with cells to its list (group_values.h),
 * others to partials. Errors: as above. */
enum status group_staged_keep(struct groups *part, const struct staged_value *x, size_t n);

#endif
