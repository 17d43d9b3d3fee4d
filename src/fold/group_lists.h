/* SPDX-License-Identifier: MIT
 *
 * group_lists.h - all values of groups, where groups are many: the numbers that order statistics are made of, and the different
 * values.
 *
 * A part of the store (groups.h) lists numbers in the order in which they came, each with its group's ordinal: 8 bytes, or 16
 * if a number is long. When all have come, they are written group by group, and each group's cell says where its own lie. No
 * group has memory of its own, and a page is touched twice. Where lists take much of --memory, and numbers are many for each
 * group, the groups' partials hold them in 4 bytes or 8 (values.h).
 *
 * Of distinct values, a part has one table for each column that needs them: its keys are a group's address, without
 * the bits that no address uses, and a text after it. A cell has their number and, when all have come, where the most and the
 * least frequent one are. A group with a partial has its values there.
 */
#ifndef GPUSTAT_GROUP_LISTS_H
#define GPUSTAT_GROUP_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"
#include "fold/keys.h"

/* Add values of column c, which has a cell with these, as group_add_vector says: numbers, which go to partials if the groups are not
 * in the store; and texts, which are copied, of groups in a part of the store. */
enum status group_values_update(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v);
enum status group_keys_update(struct groups *part, struct group *const *groups, size_t c, const struct group_vector *v);

/* Folds all numbers that g has listed into its groups' partials if they have become many for each group. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status group_lists_limit(struct groups *g);

/* Has the cells of groups hold what is listed here: of a part, or of the store, with up to nthreads threads. To be called once, when
 * nothing more is added, before groups are read. Errors: as above. */
enum status group_lists_settle(struct groups *part);
enum status group_store_settle(struct group_store *s, size_t nthreads);

/* Moves all distinct values to partials of the groups, which can be written. Errors: as above. */
enum status group_keys_fold(struct groups *part);

/* Sets *text to the text that came most or least often, of a group without a partial; the text belongs to the group's part.
 * Returns false if the group has no text. */
bool group_keys_find(struct group *group, const struct plan *plan, size_t c, enum keys_order order, const char **text,
		     size_t *nbytes);

/* Adds the numbers that the cell of a column holds to a column's. Errors: STATUS_NO_MEMORY. */
enum status group_values_add_to(struct group *g, const struct plan *plan, const struct plan_column *column, struct column_partial *to);

/* Frees all that is listed, and what cells hold. */
void group_lists_free(struct groups *g);

#endif
