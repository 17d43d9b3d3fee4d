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

#define GROUP_LIST_PIECE_NGROUPS ((size_t)1 << 16)

/* Owns its words, which count towards --memory. They lie in pieces, for which the memory of tables does that are not needed any
 * more. */
struct group_list {
	uintptr_t **pieces; /* of GROUP_LIST_PIECE_NGROUPS addresses of groups, the last one of as many as are left */
	size_t n;
	const struct plan *owns; /* each group is its own, of this plan; NULL: they are the store's */
};

/* The word of group i. */
static inline uintptr_t *group_list_word(const struct group_list *l, size_t i)
{
	return &l->pieces[i / GROUP_LIST_PIECE_NGROUPS][i % GROUP_LIST_PIECE_NGROUPS];
}

static inline struct group *group_list_at(const struct group_list *l, size_t i)
{
	return (struct group *)*group_list_word(l, i);
}

#define GROUP_LIST_FEW 10000 /* a thread takes longer to start than it saves */

/* Reserves n places. Errors: as below; the list can then be freed. */
enum status group_list_new(size_t n, struct group_list *out);

/* Lists the groups of the store in order of first appearance, with up to nthreads threads. Their table is made again
 * when one is looked for. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_list_make(struct group_store *s, size_t nthreads, struct group_list *out);

/* Sorts the list by the bytes of the groups' keys: where records are printed, groups do not know when they appeared. Errors: as
 * above. */
enum status group_list_order_keys(struct group_list *l);

void group_list_free(struct group_list *l);

#endif
