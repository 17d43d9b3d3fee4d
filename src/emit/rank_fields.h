/* SPDX-License-Identifier: MIT
 *
 * rank_fields.h - new columns of ranks (--rank), a block of rows at a time.
 */
#ifndef GPUSTAT_RANK_FIELDS_H
#define GPUSTAT_RANK_FIELDS_H

#include "emit/new_fields.h"

/* Writes the fields of new column i in the rows f->rows to `to`, in f->text, each with the delimiter before it if
 * leads is 1, and sets begins[0 .. f->nrows) to where they begin in f->text. groups: as in new_fields_write. A row
 * without a number has an empty field. Returns the last one's end, or NULL where memory ran out. */
char *rank_fields_write(struct new_fields *f, struct row_block *b, struct group *const *groups, size_t i,
			unsigned leads, size_t *begins, char *to);

#endif
