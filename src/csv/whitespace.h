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

#include "csv/dialect.h"
#include "simd/simd.h"

#define WHITESPACE_BLANK ' ' /* the delimiter and the quote to classify with */
#define WHITESPACE_TAB '\t'

/* Reduces the separators of text[0 .. nbytes) to one a field; bits was filled with the two bytes
 * above. With dialect->nfields, a line keeps at most so many; a comment keeps its LF only. If the
 * text begins inside a record, that record's separators mean nothing. bits.quotes: undefined
 * then. */
void whitespace_separate(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			 size_t nbytes);

#endif
