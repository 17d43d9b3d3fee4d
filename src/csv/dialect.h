/* SPDX-License-Identifier: MIT
 *
 * dialect.h - how an input writes CSV.
 */
#ifndef GPUSTAT_CSV_DIALECT_H
#define GPUSTAT_CSV_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "csv/dfa.h"

struct word_layout;

struct csv_dialect {
	char delimiter;
	bool whitespace; /* fields are separated by runs of blanks, whatever the delimiter */
	bool trim;       /* blanks around a field mean nothing, and a quote after them opens it */
	/* each 0 if the dialect has no such byte */
	char quote;      /* around a field that holds separators */
	char escape;     /* the byte behind it is data */
	char comment;    /* as a line's first byte: the line is no record */
	bool one_column; /* records have one field: a blank line is a record with a missing value */
	const struct word_layout *layout; /* with whitespace: how records stand below a header; NULL without
					   * a header, or if it has one name. Not owned. */
	size_t nfields;  /* with whitespace: the last of so many fields takes the rest of the line; 0:
			  * not known yet */
};

/* Whether the four states of csv_map, and its classes of bytes, are enough for the dialect. */
static inline bool csv_dialect_is_ordinary(const struct csv_dialect *d)
{
	return !d->whitespace && !d->trim && !d->escape && !d->comment;
}

/* Whether blanks around a field are no part of it. */
static inline bool csv_dialect_trims(const struct csv_dialect *d)
{
	return d->whitespace || d->trim;
}

/* Whether a byte is a blank that separates nothing. */
static inline bool csv_dialect_is_blank(const struct csv_dialect *d, char byte)
{
	return (byte == ' ' || byte == '\t') && byte != d->delimiter;
}

/* Classifies one byte of a dialect whose fields end at delimiters, for csv_full_step. */
static inline enum csv_class csv_dialect_classify(const struct csv_dialect *d, char byte)
{
	enum csv_class c = csv_classify((unsigned char)byte, (unsigned char)d->delimiter,
					(unsigned char)d->quote);

	if (c == CSV_OTHER && byte == d->escape && byte)
		return CSV_ESCAPE;
	if (c == CSV_OTHER && byte == d->comment && byte)
		return CSV_COMMENT_SIGN;
	return c == CSV_OTHER && d->trim && csv_dialect_is_blank(d, byte) ? CSV_BLANK : c;
}

#endif
