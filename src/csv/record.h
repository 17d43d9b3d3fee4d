/* SPDX-License-Identifier: MIT
 *
 * record.h - one record cut into fields, for headers and messages: a byte at a time, from any text.
 * Data goes through rows.h.
 */
#ifndef GPUSTAT_RECORD_H
#define GPUSTAT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "csv/dialect.h"
#include "csv/field.h"

struct record {
	size_t nbytes; /* with its line end; 0: the text holds no complete record */
	size_t nfields;
	struct field_span *fields; /* in the text given; without the CR before LF. Owned. */
	size_t stray_offset; /* of the first byte of text behind a closing quote; SIZE_MAX: none */
	bool is_comment;     /* nbytes are those of a comment */
};

/* Cuts the first record of data[0 .. nbytes) into fields. A blank line and a comment have no field.
 * at_end: the file ends here, which completes a record that lacks its LF.
 * Free with record_free. Errors: STATUS_NO_MEMORY; STATUS_OPEN_QUOTE and STATUS_OPEN_ESCAPE with
 * at_end, then fields holds the one that never ends. */
enum status record_split(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			 bool at_end, struct record *out);
void record_free(struct record *r);

/* Like record_split of a text that ends with the file, but cuts the first field only: 1 or none. */
enum status record_split_first(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			       struct record *out);

/* Sets fault to STATUS_STRAY_QUOTE, with the words of the remedy, for the text behind a closing
 * quote at data[offset]. Returns the status. */
enum status record_fault_stray(const char *data, size_t offset, const struct csv_dialect *dialect,
			       struct fault *fault);

/* Returns the number of LFs in text[0 .. nbytes). */
uint64_t count_lines(const char *text, size_t nbytes);

#endif
