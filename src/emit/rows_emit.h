/* SPDX-License-Identifier: MIT
 *
 * rows_emit.h - printing the rows of a chunk: what emit.h does, from positions.
 */
#ifndef GPUSTAT_ROWS_EMIT_H
#define GPUSTAT_ROWS_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "emit/emit.h"
#include "emit/new_fields.h"
#include "csv/rows.h"
#include "fold/rows_fold.h"
#include "base/status.h"

/* Prints the complete records of the text that rows_fold folded last with r and f, to the end of
 * out, as records_emit does; what rows_fold did not get to is left to it.
 * Errors: STATUS_NO_MEMORY. */
enum status rows_emit(struct emitter *e, struct new_fields *fields, struct row_folder *f,
		      struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      const struct partial *before, uint64_t offset_bytes, struct text_buffer *out);

#endif
