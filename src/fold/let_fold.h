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

/* Folds column c, which is computed, of a row into out. A value that is complained about is kept in f->out. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status let_fold_row(struct row_folder *f, const char *text, size_t c, unsigned row, struct partial *out);

#endif
