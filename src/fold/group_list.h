/* SPDX-License-Identifier: MIT
 *
 * group_list.h - the groups of a run in the order in which they are printed.
 */
#ifndef GPUSTAT_GROUP_LIST_H
#define GPUSTAT_GROUP_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"

struct group_place {
	uint64_t first; /* as in the group; once they are in the order of keys, its key's first bytes */
	struct group *group;
};

/* Owns its places, which count towards --memory. */
struct group_list {
	struct group_place *at;
	size_t n;
	const struct plan *owns; /* each group is its own, of this plan; NULL: they are the store's */
};

#define GROUP_LIST_FEW 10000 /* a thread takes longer to start than it saves */

/* Reserves n places. Errors: as below; the list can then be freed. */
enum status group_list_new(size_t n, struct group_list *out);

/* Lists the groups of the store in order of first appearance, with up to nthreads threads. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_list_make(struct group_store *s, size_t nthreads, struct group_list *out);

/* Sorts the list by the bytes of the groups' keys: where records are printed, groups do not know when they appeared. */
void group_list_order_keys(struct group_list *l);

void group_list_free(struct group_list *l);

#endif
