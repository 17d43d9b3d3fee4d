/* SPDX-License-Identifier: MIT
 *
 * new_fields.h - the new fields of a block of rows as text. One new column is written after the
 * other, so that each runs through its column in one loop.
 */
#ifndef GPUSTAT_NEW_FIELDS_H
#define GPUSTAT_NEW_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text_buffer.h"
#include "emit/running_state.h"
#include "fold/column.h"
#include "fold/row_block.h"
#include "fold/row_filter.h"
#include "query/plan.h"

/* One thread's state of the new columns, and memory. All owned. */
struct new_fields {
	const struct plan *plan;
	struct running_state state; /* of all records so far */
	struct group_states states; /* if the plan has keys, of each group's */
	struct scratch scratch;
	char shown[GROUP_WINDOW_TEXT_NBYTES]; /* a field of a group's window */
	struct text_buffer text; /* the fields, each behind the delimiter that comes before it */
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

/* Writes the fields of the block's rows that are kept, and advances the totals and positions.
 * filter: row_filter_block was called with this block last. groups: if the plan has keys, those of the
 * rows that are kept, by row; else NULL. offset_bytes: where the block's text starts in the input.
 * Behind the fields there are EMIT_SLACK readable bytes. Errors: STATUS_NO_MEMORY. */
enum status new_fields_write(struct new_fields *f, struct row_block *b,
			     const struct row_filter *filter, struct group *const *groups,
			     uint64_t offset_bytes);

/* Whether a new field can need quotes: numbers can hold the delimiter. */
bool new_fields_need_quotes(const struct plan *plan);

#define EMIT_SLACK 64 /* bytes that copying may overshoot by */

#endif
