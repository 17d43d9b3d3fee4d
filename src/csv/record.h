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
};

/* Cuts the first record of data[0 .. nbytes) into fields. A blank line has no field.
 * at_end: the file ends here, which completes a record that lacks its LF.
 * Free with record_free. Errors: STATUS_NO_MEMORY; STATUS_OPEN_QUOTE with at_end, then fields
 * holds the one that never closes. */
enum status record_split(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			 bool at_end, struct record *out);
void record_free(struct record *r);

/* The length of the field at data[0], of a text that ends at data[nbytes]; without the CR of a line
 * end. */
size_t record_first_field(const char *data, size_t nbytes, const struct csv_dialect *dialect);

/* Returns the number of LFs in text[0 .. nbytes). */
uint64_t count_lines(const char *text, size_t nbytes);

#endif
