/* SPDX-License-Identifier: MIT
 *
 * group_order.h - the groups of a run in the order in which they are printed: by first appearance, or by a result (--sort).
 */
#pragma once

#include <stdlib.h>

#include "base/status.h"
#include "fold/groups.h"
#include "lang/select.h"
#include "query/query.h"

/* One of the things that groups are sorted by. */
struct group_sort_key {
	enum { SORT_KEY, SORT_RESULT, SORT_COMPUTED, SORT_FIRST } kind; /* FIRST: the first result that is printed, whichever it is */
	bool is_descending;
	size_t index; /* of the plan's keys, of the query's results, or the column of what is computed (fold/finish.h), also of FIRST */
};

/* What groups are sorted by. Zeroed: by first appearance. */
struct group_sort {
	size_t n;
	struct group_sort_key *keys; /* owned */
};

static inline void group_sort_free(struct group_sort *sort)
{
	free(sort->keys);
	*sort = (struct group_sort){.n = 0};
}

/* Finds what a name in --sort means: a result as it is printed or, if one result has it, the operation's name or title, or its column,
 * by name or place; or a key column. *found: it is one of them, and not several. is_quoted: it is no place. Errors: STATUS_NO_MEMORY. */
enum status group_sort_find(const struct query *q, const char *name, bool is_quoted, struct group_sort_key *out, bool *found);

/* Finds the column of --by that a name or a place means. Returns false if there is no such column. */
bool group_sort_find_key(const struct query *q, const struct selector *s, size_t *index);

/* Says that it means none, and which there are. Returns STATUS_USAGE. */
enum status group_sort_unknown(const struct query *q, const char *name, struct fault *fault);

#define GROUP_LIST_PIECE_NGROUPS ((size_t)1 << 16)

/* Owns its words, which count towards --memory. They lie in pieces, for which the memory of tables does that are not needed any
 * more. */
struct group_list {
	uintptr_t **pieces; /* of GROUP_LIST_PIECE_NGROUPS addresses of groups, the last one of as many as are left of `room` */
	size_t n, room;
	bool owns; /* each group is its own; else they are the store's */
	struct key_arena texts; /* of these, as in struct groups */
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

/* Lists the groups of the store in order of first appearance, with up to nthreads threads. Their table is made again
 * when one is looked for. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_list_make(struct group_store *s, size_t nthreads, struct group_list *out);

/* Sorts the list by the bytes of the groups' keys: where records are printed, groups do not know when they appeared. Errors: as
 * above. */
enum status group_list_order_keys(struct group_list *l);

/* Lists the first nfirst groups of the plan's store, sorted, with up to nthreads threads. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS; STATUS_GPU, with fault. */
struct group_rows; /* group_result.h */
enum status group_list_sort(struct group_list *list, const struct group_rows *rows, const struct group_sort *sort,
			    size_t nfirst, size_t nthreads, struct fault *fault);

/* Sorts texts of keys as groups are sorted by a key: places[i] is the place of texts[i]. Errors: STATUS_NO_MEMORY. */
enum status group_order_texts(const struct plan *plan, const char *const *texts, size_t n, bool is_descending, size_t *places);

/* Leaves out the groups of the list for which --having does not hold. Errors: STATUS_NO_MEMORY. */
enum status group_list_choose(struct group_list *l, const struct group_rows *rows, size_t nthreads);

void group_list_free(struct group_list *l);
