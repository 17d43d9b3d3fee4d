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
	size_t stray_offset; /* of the first byte of text after a closing quote, or of a quote before
			      * which its field has blanks; 0 of a line whose words do not stand below the
			      * header's; SIZE_MAX: nothing of that occurs */
	bool is_comment;     /* nbytes are those of a comment */
};

/* Cuts the first record of data[0 .. nbytes) into fields. A blank line and a comment have no field.
 * at_end: the file ends here, which completes a record that lacks its LF.
 * Free with record_free. Errors: STATUS_NO_MEMORY; STATUS_OPEN_QUOTE and STATUS_OPEN_ESCAPE with
 * at_end, then fields holds the one that never ends. */
enum status record_split(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			 bool at_end, struct record *out);
void record_free(struct record *r);

/* Like record_split of a text that ends with the file, but cuts the first field only: out has one field, or no
 * field if the text has no record. */
enum status record_split_first(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			       struct record *out);

/* Whether the quoted field that was closed before text[at] ends there, blanks aside. */
bool record_field_ends(const struct csv_dialect *dialect, const char *text, size_t nbytes, size_t at);

/* Whether text[at], a quote after blanks with which a field begins, is there to quote it: after the
 * closing one a separator follows, perhaps blanks, or the rest of its line lacks one. */
bool record_quote_opens(const struct csv_dialect *dialect, const char *text, size_t nbytes, size_t at);

/* Sets fault to STATUS_STRAY_QUOTE, STATUS_BLANK_QUOTE or STATUS_UNALIGNED, with the words of the remedy, for what is at
 * the stray_offset of data[0 .. nbytes). Returns the status. */
enum status record_fault_stray(const char *data, size_t nbytes, size_t offset,
			       const struct csv_dialect *dialect, struct fault *fault);

/* Returns the number of LFs in text[0 .. nbytes). */
uint64_t count_lines(const char *text, size_t nbytes);

#endif
