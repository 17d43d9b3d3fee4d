/* SPDX-License-Identifier: MIT
 *
 * new_fields.h - the new fields of a block of rows as text. One new column is written after the
 * other, so that each runs through its column in one loop.
 */
#pragma once

#include <string.h>

#include "base/status.h"
#include "base/array.h"
#include "fold/column.h"
#include "fold/group.h"
#include "fold/window.h"
#include "fold/row_block.h"
#include "fold/program_block.h"
#include "query/plan.h"

/* One thread's new columns, and memory. All owned. A set of states has one of each new column, that of column i at
 * offsets[i], and at the end, with plan->group_head, the number of records so far: set_nbytes. */
struct new_fields {
	const struct plan *plan;
	size_t *offsets, set_nbytes;
	char *state;         /* a set: of all records so far */
	char *groups;        /* with keys, a set for each group that the text has met */
	size_t ngroups, capacity; /* begun, and made */
	struct window_folds windows; /* of groups of the text, that are not in line from a record of it on */
	struct scratch scratch, time_scratch;
	struct text_buffer text; /* the fields, each after the delimiter that comes before it */
	struct text_buffer shown; /* a number in the plan's style */
	/* plan->nnew_columns times ROW_BLOCK_NROWS + 1 offsets in text: for each column, where the
	 * field of rows[k] begins, k < nrows, and at index nrows where the last field ends. */
	size_t *begins;
	struct decimal_writer *writers; /* plan->nnew_columns */
	unsigned nrows;                 /* the rows of the block that are kept: */
	unsigned rows[ROW_BLOCK_NROWS];
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status new_fields_init(struct new_fields *f, const struct plan *plan);
void new_fields_free(struct new_fields *f);

/* Sets the totals and positions to those after the records of which before is the fold. Those of groups are
 * taken from the groups when a record of theirs is met: they hold their records before the text.
 * Errors: STATUS_NO_MEMORY. */
enum status new_fields_begin(struct new_fields *f, const struct partial *before);

/* Returns the set of states of a group, valid until the next call; it begins with what the group holds of the records before the
 * text. group->state is then 1 + its number among the text's groups. NULL: no memory. */
char *new_fields_group(struct new_fields *f, struct group *group);

/* Leaves of the rows those that are among the first plan->group_head records of their groups, which are given by row, and counts
 * all of them. Errors: STATUS_NO_MEMORY. */
enum status new_fields_choose(struct new_fields *f, struct group *const *groups, uint64_t *rows);

/* Writes the fields of the block's rows that are kept, and advances the totals and positions.
 * filter: row_filter_block was called with this block last. groups: if the plan has keys, those of the
 * rows that are kept, by row; else NULL. offset_bytes: where the block's text starts in the input.
 * After the fields there are EMIT_SLACK readable bytes. Errors: STATUS_NO_MEMORY. */
enum status new_fields_write(struct new_fields *f, struct row_block *b,
			     const struct row_filter *filter, struct group *const *groups,
			     uint64_t offset_bytes);

/* Whether a new field can need quotes: numbers can hold the delimiter. */
bool new_fields_need_quotes(const struct plan *plan);

/* ---- copies of short texts: fixed lengths are faster than exact ones ---- */

#define EMIT_SLACK 64 /* bytes that copying may overshoot by */
#define COPY_NBYTES 32 /* copied at once; reads beyond a piece's end stay within the padding */

/* Copies nbytes, or COPY_NBYTES more than that. Returns the copy's end. */
static inline char *copy_text(char *to, const char *from, size_t nbytes)
{
	memcpy(to, from, COPY_NBYTES);
	if (nbytes > 8 * COPY_NBYTES)
		memcpy(to, from, nbytes);
	else
		for (size_t i = COPY_NBYTES; i < nbytes; i += COPY_NBYTES)
			memcpy(to + i, from + i, COPY_NBYTES);
	return to + nbytes;
}

/* Writes n delimiters, of fields that a record lacks. Returns the end. */
static inline char *copy_delimiters(char *to, char delimiter, size_t n)
{
	if (n > 0) /* almost never: no call then */
		memset(to, delimiter, n);
	return to + n;
}
