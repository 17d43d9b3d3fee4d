/* SPDX-License-Identifier: MIT
 *
 * let_fold.h - folding a computed column.
 */
#ifndef GPUSTAT_LET_FOLD_H
#define GPUSTAT_LET_FOLD_H

#include "fold/rows_fold.h"

/* Folds column c, which is computed, of the rows of f's block that its filter keeps into out and f->fold.
 * text: f->lets.data. Errors: STATUS_NO_MEMORY. */
enum status let_fold_column(struct row_folder *f, const char *text, size_t c, struct partial *out);

/* Notes the value of column c in a row if a fault was found in it, and no field of the input has it. */
void let_fold_note(const struct row_folder *f, const char *text, size_t c, unsigned row,
		   struct partial *out);

#endif
