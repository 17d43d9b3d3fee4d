/* SPDX-License-Identifier: MIT
 *
 * new_fields.h - the new fields of a block of rows as text: a scan after the other, so that each
 * runs through its column in one loop and knows where to write without any record between.
 */
#ifndef GPUSTAT_NEW_FIELDS_H
#define GPUSTAT_NEW_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "emit/emit.h"
#include "query/plan.h"
#include "fold/row_block.h"
#include "fold/row_filter.h"
#include "base/status.h"

/* One thread's memory for it. All owned. */
struct new_fields {
	const struct plan *plan;
	struct text_buffer text; /* the fields, each behind the delimiter that comes before it */
	/* plan->nnew_columns times ROW_BLOCK_NROWS + 1: where in it a scan's fields begin, that of
	 * rows[k] at the k-th, and, after the last, where that ends. */
	size_t *begins;
	struct decimal_writer *writers; /* plan->nnew_columns */
	unsigned nrows;                 /* the rows of the block that are kept: */
	unsigned rows[ROW_BLOCK_NROWS];
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status new_fields_init(struct new_fields *f, const struct plan *plan);
void new_fields_free(struct new_fields *f);

/* Writes the fields of the block's rows that j, which judged it last, keeps; no number can hold
 * the delimiter. Moves e's totals and positions on. offset_bytes: where the block's text starts in
 * the input. Behind the texts there are EMIT_SLACK readable bytes. Errors: STATUS_NO_MEMORY. */
enum status new_fields_write(struct new_fields *f, struct emitter *e, struct row_block *b,
			     const struct row_filter *j, uint64_t offset_bytes);

#define EMIT_SLACK 64 /* bytes that copying may overshoot by */

#endif
