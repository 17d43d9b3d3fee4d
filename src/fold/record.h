/* SPDX-License-Identifier: MIT
 *
 * record.h - from text to records to columns, on the CPU.
 */
#ifndef GPUSTAT_RECORD_H
#define GPUSTAT_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "fold/expr_row.h"
#include "query/plan.h"
#include "base/status.h"

/* One thread's working memory for records. All owned. */
struct record_memory {
	const struct plan *plan;
	struct field_span *spans; /* plan->ncolumns: the fields of the record in hand */
	struct expr_row *rows;    /* plan->npredicates */
	bool *holds;              /* plan->npredicates: what they say of the record in hand */
	struct scratch scratch;
};

/* Errors: STATUS_NO_MEMORY; m can then be freed. */
enum status record_memory_init(struct record_memory *m, const struct plan *plan);
void record_memory_free(struct record_memory *m);

/* Folds the complete records of data[0 .. nbytes) into out, which the caller cleared:
 * those where the plan's condition holds.
 * entry: how the text is entered. at_end: the file ends here, and so does a record that
 * lacks its LF; if its quote is still open, out->open_quote_offset says which field's.
 * Sets out's columns, nshort, first_short_offset, head_ends, head_nbytes, tail_offset.
 * Errors: STATUS_NO_MEMORY. Values that are no numbers are counted, not errors. */
enum status records_fold(const struct plan *plan, const char *data, size_t nbytes,
			 struct chunk_entry entry, bool at_end, struct record_memory *memory,
			 struct partial *out);

/* Goes on where rows_fold left off: folds the complete records from data[from] on, where one
 * begins, into out. Sets what records_fold does but for the head. Errors: the same. */
enum status records_fold_from(const struct plan *plan, const char *data, size_t nbytes,
			      size_t from, struct record_memory *memory, struct partial *out);

/* One record cut into all its fields, for the header and the first rows. */
struct record {
	size_t nbytes; /* with its line end; 0: the text holds no complete record */
	size_t nfields;
	struct field_span *fields; /* raw, in the text given; the CR before LF left out. Owned. */
};

/* Cuts the first record of data[0 .. nbytes) into fields. A blank line has no field.
 * at_end: as above. Free with record_free. Errors: STATUS_NO_MEMORY; STATUS_OPEN_QUOTE
 * with at_end, then fields holds the one that never closes. */
enum status record_split(const char *data, size_t nbytes, char delimiter, bool at_end,
			 struct record *out);
void record_free(struct record *r);

#endif
