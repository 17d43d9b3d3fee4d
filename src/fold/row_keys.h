/* SPDX-License-Identifier: MIT
 *
 * row_keys.h - notes the texts of rows' fields for keys.h, straight from the separators' positions:
 * no number is read.
 */
#ifndef GPUSTAT_ROW_KEYS_H
#define GPUSTAT_ROW_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/rows_fold.h"

/* One field of each of nrows rows: row r's is ended by ends[r x stride]. */
struct row_fields {
	const uint32_t *ends;
	size_t stride, nrows;
	bool drops_cr;
};

/* Finds out whether f's plan has keys, and with which first bytes a field may be none: missing, or
 * quoted. After f's row block has been initialised. */
void row_keys_init(struct row_folder *f);

/* To be called before fields of text[0 .. nbytes) are noted: finds out whether all of them are their
 * texts but for quotes, which an escape byte or a NUL would exclude. */
void row_keys_begin(struct row_folder *f, const char *text, size_t nbytes);

/* Folds fields of column c, which does not parse: counts them and, if it needs MOMENT_KEYS, notes their
 * texts, up to the first whose text is not part of the field. *ndone: their number. Errors:
 * STATUS_NO_MEMORY. */
enum status row_keys_note(struct row_folder *f, const char *text, size_t c,
			  const struct row_fields *fields, struct partial *out, size_t *ndone);

/* Notes the texts of the fields of some of up to 64 rows, which are numbers. Errors:
 * STATUS_NO_MEMORY. */
enum status row_keys_note_numbers(struct row_folder *f, const char *text, size_t c,
				  const struct row_fields *fields, uint64_t rows,
				  struct partial *out);

#endif
