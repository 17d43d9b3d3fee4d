/* SPDX-License-Identifier: MIT
 *
 * row_windows.h - folds rows into what new columns that look back need (window.h).
 */
#ifndef GPUSTAT_ROW_WINDOWS_H
#define GPUSTAT_ROW_WINDOWS_H

#include <stdint.h>

#include "base/status.h"
#include "csv/rows.h"
#include "fold/column.h"
#include "fold/recent.h"
#include "fold/row_block.h"

struct row_folder;

/* Sets *out to the number of column c in a row, or to no value: text that is no number was counted where the
 * column was folded. x: row_block_numbers of the column. The value's text is in the block or the scratch.
 * Errors: STATUS_NO_MEMORY. */
enum status row_number_value(const struct row_block *b, size_t c, const struct simd_numbers *x, unsigned row,
			     struct scratch *scratch, struct recent_value *out);

/* Sets *out to the field of column c in a row as it is printed. skips_missing: or to no value, if it is missing.
 * Errors: STATUS_NO_MEMORY. */
enum status row_text_value(struct row_block *b, size_t c, unsigned row, bool skips_missing,
			   struct scratch *scratch, struct recent_value *out);

/* Adds the values of some of the block's rows to the plan's windows: by group, if the plan has keys, those of
 * f->groups. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status row_windows_fold(struct row_folder *f, uint64_t rows, struct partial *out);

/* Adds all rows of a run, without keys and conditions. Errors: STATUS_NO_MEMORY. */
enum status row_windows_fold_run(struct row_folder *f, const char *text, const struct row_run *run,
				 struct partial *out);

#endif
