/* SPDX-License-Identifier: MIT
 *
 * copied_fields.h - new columns that are fields of the record, or would be if they were in the input: those of
 * --select, computed ones, and fields of records before and
 * after.
 */
#ifndef GPUSTAT_COPIED_FIELDS_H
#define GPUSTAT_COPIED_FIELDS_H

#include "emit/new_fields.h"

/* Appends the fields of new column i in the rows f->rows, each with the delimiter before it if leads is 1, and
 * sets begins[0 .. f->nrows) to where they begin. groups: as in new_fields_write. Returns the
 * last one's end, or NULL where memory ran out. */
char *copied_fields_write(struct new_fields *f, struct row_block *b, struct group *const *groups, size_t i,
			  unsigned leads, size_t *begins);

#endif
