/* SPDX-License-Identifier: MIT
 *
 * group_values.h - the numbers of groups that order statistics are made of, where groups are many.
 *
 * A part of the store (groups.h) lists numbers in the order in which they came, each with its group's ordinal: 8 bytes, or 16
 * if a number is long. When all have come, they are written group by group, and each group's cell says where its own lie. No
 * group has memory of its own, and a page is touched twice. Where lists take much of --memory, and numbers are many for each
 * group, the groups' partials hold them in 4 bytes or 8 (values.h).
 */
#ifndef GPUSTAT_GROUP_VALUES_H
#define GPUSTAT_GROUP_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"

/* Lists a number of column c, which has a cell with values, of one of g's groups. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status group_values_add(struct groups *g, struct group *group, size_t c, int64_t significand, unsigned scale);

/* Folds all that g has listed into its groups' partials if they have become many for each group. Errors: as above. */
enum status group_values_limit(struct groups *g);

/* Has the cells of groups hold what is listed here and in group_keys.h: of a part, or of the store, with up to nthreads
 * threads. To be called when nothing more is added, before groups are read. Errors: as above. */
enum status group_lists_settle(struct groups *g);
enum status group_store_settle(struct group_store *s, size_t nthreads);

/* Frees the lists, and what cells hold. */
void group_values_free(struct groups *g);

/* Adds what a cell holds to a column. Errors: STATUS_NO_MEMORY. */
enum status group_values_add_to(const struct group_values *v, struct column_partial *column);

#endif
