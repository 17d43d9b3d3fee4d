/* SPDX-License-Identifier: MIT
 *
 * rows_keep.c - which rows of a block are printed: see row_folder_keep of rows_fold.h.
 */
#include <stdlib.h>

#include "fold/rows_fold.h"

/* Appends a range to the kept ones, or lengthens the last. */
static enum status keep_range(struct row_folder *f, uint32_t begin, uint32_t end)
{
	if (f->nkept > 0 && f->kept[f->nkept - 1].end == begin) {
		f->kept[f->nkept - 1].end = end;
		return STATUS_OK;
	}
	if (f->nkept == f->kept_capacity) {
		size_t capacity = 2 * f->kept_capacity + ROW_BLOCK_NROWS;
		struct row_range *grown = realloc(f->kept, capacity * sizeof *grown);
		if (!grown)
			return STATUS_NO_MEMORY;
		f->kept = grown;
		f->kept_capacity = capacity;
	}
	f->kept[f->nkept++] = (struct row_range){begin, end};
	return STATUS_OK;
}

enum status row_folder_keep(struct row_folder *f)
{
	const struct row_block *b = &f->block;
	enum status status = STATUS_OK;

	for (uint64_t rows = f->filter.kept; rows && status == STATUS_OK;) {
		unsigned first = (unsigned)__builtin_ctzll(rows);
		uint64_t behind = rows + (rows & -rows); /* without the first row's neighbours */
		unsigned last = behind ? (unsigned)__builtin_ctzll(behind) - 1
				       : ROW_BLOCK_NROWS - 1;
		status = keep_range(f, row_block_ends(b, first)[-1] + 1,
				    row_block_ends(b, last)[b->stride - 1] + 1);
		rows &= behind;
	}
	return status;
}
