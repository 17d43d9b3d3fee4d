/* SPDX-License-Identifier: MIT
 *
 * group_lists.h - the distinct values of groups.
 *
 * Those of a group and a column are a set, which lies in an arena of struct groups (groups.h) while it
 * is small. What is found in a set is looked for when it is asked: nothing is kept beside it but the
 * number of values.
 */
#pragma once

#include "base/status.h"
#include "fold/groups.h"
#include "fold/keys.h"
#include "fold/values.h"

/* Fetches the last numbers of a group's columns into the cache. */
void group_values_prefetch(struct group *g, const struct plan *plan);

/* Calls visit for each distinct value of a column, in no order that means anything. has_texts: also for those that are no numbers. */
void group_keys_each(struct group *group, const struct plan_column *column, bool has_texts, keys_visitor visit, void *context);

/* Adds all of them to a column. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_keys_add_to(struct group *group, const struct plan_column *column, struct column_partial *to);

/* Sets *value to the text that came most or least often; a long one's bytes belong to the groups. Returns false, and an empty one, if
 * the group has no text. */
bool group_keys_find(struct group *group, const struct plan_column *column, bool has_texts, enum keys_order order, struct key *value);

/* Removes all that is listed; its groups go next. */
void group_lists_clear(struct groups *g);
