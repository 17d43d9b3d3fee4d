/* SPDX-License-Identifier: MIT
 *
 * whitespace.h - records whose fields are separated by runs of blanks, as in ps and df.
 *
 * The last blank of a run is the separator, so a field begins at its first byte; blanks behind it
 * are cut off with its value (field.h). Runs at a line's beginning and end separate nothing. Nothing
 * quotes: every LF ends a record.
 */
#ifndef GPUSTAT_WHITESPACE_H
#define GPUSTAT_WHITESPACE_H

#include <stddef.h>
#include <stdint.h>

#include "csv/dialect.h"
#include "simd/simd.h"

#define WHITESPACE_BLANK ' ' /* the delimiter and the quote to classify with */
#define WHITESPACE_TAB '\t'

/* Reduces the separators of text[0 .. nbytes) to one a field; bits was filled with the two bytes
 * above. bits.quotes: undefined then. */
void whitespace_separate(struct simd_bits bits, const char *text, size_t nbytes);

/* Drops from ends[0 .. nends), the separators of rows as in rows.h, those in the last of
 * dialect->nfields columns, which takes the rest of its line, and those of comments. Returns the
 * number of those left. */
size_t whitespace_join(const struct csv_dialect *dialect, const char *text, uint32_t *ends,
		       size_t nends);

#endif
