/* SPDX-License-Identifier: MIT
 *
 * group_lists.h - all values of groups: the numbers that order statistics are made of, and the distinct values.
 *
 * A group has a chain of blocks of its numbers, in 4 bytes each where they fit, else in 8. The blocks lie one after the other in an
 * arena of struct groups (groups.h), so no group has memory of its own.
 *
 * The distinct values of a group, while they are few, and words (key_word in key.h), lie in a block of the same arena, which is looked
 * through. Then struct groups has one table for each column: its keys are a group's address, without the bits that no address
 * uses, and a text after it. A state has their number and, when all have come, where the most and the least frequent one of the
 * table are.
 */
#pragma once

#include "base/status.h"
#include "fold/groups.h"
#include "fold/keys.h"
#include "fold/values.h"

/* Writes the group's numbers at a scale that is no smaller than theirs. Returns false where they do not fit. */
bool group_values_get(const struct group_values *v, unsigned scale, int64_t *to);

/* Fetches the last numbers of a group's columns into the cache. */
void group_values_prefetch(struct group *g, const struct plan *plan);

/* A distinct value of a group. */
struct group_key {
	struct group *group;
	struct key value;       /* the bytes of a long one are the table's */
	struct key_count times; /* once, if they are not counted */
	size_t slot;            /* SIZE_MAX: it is in no table */
	bool is_text; /* kept apart from the column's numbers */
};

/* How many distinct values there are of all groups and columns, and visit for each: up to one that fails. */
size_t group_keys_count(const struct groups *g);
typedef enum status (*group_keys_visitor)(void *context, size_t c, const struct group_key *key);
enum status group_keys_each(const struct groups *g, group_keys_visitor visit, void *context);

/* Adds a value of column c, which is copied, to a group of g. Errors: as above. */
enum status group_keys_add(struct groups *g, struct group *group, size_t c, bool is_text, const struct key *value,
			   struct key_count times);

/* Has the cells of groups hold what is listed here: of a part, or of the store, with up to nthreads threads. To be called when
 * nothing more is added, before groups are read: also by each of several readers. Errors: as above. */
enum status group_lists_settle(struct groups *part);
enum status group_store_settle(struct group_store *s, size_t nthreads);

/* Lists the distinct values of a part's tables by group: cells no longer hold what group_lists_settle found. Then adds those of a group and a
 * column to `to`. Errors: as above. */
enum status group_keys_chain(struct groups *part);
enum status group_keys_add_to(struct group *group, const struct plan *plan, size_t c, struct column_partial *to);

/* Sets *value to the text that came most or least often; a long one's bytes belong to the group's part. has_texts: values that are
 * no numbers are among them. Returns false, and an empty one, if the group has no text. */
bool group_keys_find(struct group *group, const struct plan *plan, size_t c, enum keys_order order, bool has_texts, struct key *value);

/* Removes, and frees, all that is listed. */
void group_lists_clear(struct groups *g);
void group_lists_free(struct groups *g);
