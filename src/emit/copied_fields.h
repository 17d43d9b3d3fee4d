/* SPDX-License-Identifier: MIT
 *
 * copied_fields.h - new columns that are fields of the record, or would be if they were in the input:
 * those of --select and --lead, and computed ones.
 */
#ifndef GPUSTAT_COPIED_FIELDS_H
#define GPUSTAT_COPIED_FIELDS_H

#include "emit/new_fields.h"

/* Appends the fields of new column i in the rows f->rows, each with the delimiter before it if leads is 1, and
 * sets begins[0 .. f->nrows) to where they begin. Returns the last one's end, or NULL where memory ran
 * out. */
char *copied_fields_write(struct new_fields *f, struct row_block *b, size_t i, unsigned leads,
			  size_t *begins);

#endif
