/* SPDX-License-Identifier: MIT
 *
 * row_groups.h - folds a block of rows by groups (--by).
 */
#pragma once

#include "base/status.h"
#include "base/array.h"
#include "fold/group.h"
#include "fold/groups.h"
#include "fold/row_block.h"

struct row_folder;

/* A thread's memory for a block. Zeroed: none. All owned. */
struct row_groups {
	struct partial one;         /* of a value that is folded by itself */
	struct text_buffer texts;   /* of keys that are not bytes of the text */
	uint64_t rows;              /* those that have a group: */
	struct group *groups[ROW_BLOCK_NROWS];
	bool makes_tuples;          /* of the chunk's records: group_tuples.h */
	unsigned nchunks;           /* that have done so since one that did not */
	size_t nrecords, ngroups;   /* of the last chunk that did not */
};

void row_groups_free(struct row_groups *g);

/* Finds the group of each of the kept rows of f's block among `groups`, which has them, and leaves rows out
 * that have none. Errors: STATUS_NO_MEMORY. */
enum status row_groups_find(struct row_folder *f, const char *text, struct groups *groups);

/* Finds the group of each of the kept rows of f's block among out's groups, and folds the rows into
 * them: all but what out itself counts, which are records, values and faults. A row with a NUL in its key
 * is an invalid value, and has no group. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status row_groups_fold(struct row_folder *f, const char *text, struct partial *out);
