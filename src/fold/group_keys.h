/* SPDX-License-Identifier: MIT
 *
 * group_keys.h - the different values of groups, where groups are many.
 *
 * A part of the store (groups.h) has one table for each column of which they are asked: its keys are a group's address, without
 * the bits that no address uses, and a text behind it, so that no group has a table of its own. A cell has their number and,
 * when all have come, where the most and the least frequent one are. A group with a partial has its keys there.
 */
#ifndef GPUSTAT_GROUP_KEYS_H
#define GPUSTAT_GROUP_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"
#include "fold/keys.h"

#define GROUP_KEYS_FLIGHT 64

/* A text on its way to its group. */
struct group_key {
	struct group *group;
	const char *text; /* not owned */
	size_t nbytes;
	uint64_t first; /* its offset in the input, in bytes */
};

/* Adds n <= GROUP_KEYS_FLIGHT texts of column c, whose keys are in cells, to groups of a part of the store; they are copied.
 * Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_keys_add(struct groups *part, size_t c, const struct group_key *x, size_t n);

/* To be called once, when nothing more is added, before groups are read: the cells get what is above, and the logarithms.
 * Errors: as above. */
enum status group_keys_settle(struct groups *part);

/* Moves all keys to partials of the groups, which can be written. Errors: as above. */
enum status group_keys_fold(struct groups *part);

/* Sets *text to the text that came most or least often, which belongs to the part of the group, that has no partial; false: it
 * has none. */
bool group_keys_find(struct group *group, const struct plan *plan, size_t c, enum keys_order order, const char **text,
		     size_t *nbytes);

void group_keys_free(struct groups *part);

#endif
