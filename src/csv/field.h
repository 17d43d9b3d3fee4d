/* SPDX-License-Identifier: MIT
 *
 * field.h - how an input writes CSV; one raw field of a text, and its value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "csv/dfa.h"
#include "number/decimal.h"

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

/* ---- fields ---- */

/* Where a field lies in a text: [begin, end), quotes included. */
struct field_span {
	size_t begin, end;
};

/* Memory for a field's value where it is not the field's bytes. Zeroed: empty; grows. */
struct scratch {
	char *data; /* owned */
	size_t nbytes;
};

/* Whether an escape byte at or after text[begin] makes text[at] data. */
static inline bool field_is_escaped(const char *text, size_t begin, size_t at, char escape)
{
	size_t nescapes = 0;

	while (escape && at - nescapes > begin && text[at - 1 - nescapes] == escape)
		nescapes++;
	return nescapes % 2 == 1;
}

/* The number of bytes, 1 or 0, of the CR that belongs to the line end of text[begin .. end), a
 * record or a field. An escaped CR is data. */
static inline size_t field_cr_nbytes(const char *text, size_t begin, size_t end, char escape)
{
	return end > begin && text[end - 1] == '\r' &&
	       !field_is_escaped(text, begin, end - 1, escape);
}

/* Drops the blanks around field[0 .. *nbytes) that are no part of it, where the dialect trims: an
 * escaped one is. Returns where the rest begins. */
static inline const char *field_trim(const struct csv_dialect *dialect, const char *field,
				     size_t *nbytes)
{
	size_t n = *nbytes;
	const char *begin = decimal_trim(field, nbytes);

	if (*nbytes > 0 && begin + *nbytes < field + n &&
	    field_is_escaped(begin, 0, *nbytes, dialect->escape))
		++*nbytes;
	return begin;
}

/* field_in_place, which see, of a field without escapes, and without blanks to trim. */
static inline __attribute__((always_inline)) const char *field_in_quotes(const struct csv_dialect *dialect, const char *field, size_t *nbytes)
{
	const size_t n = *nbytes;

	if (n == 0 || *field != dialect->quote || dialect->quote == 0)
		return field;
	if (n < 2 || memchr(field + 1, dialect->quote, n - 1) != field + n - 1)
		return NULL;
	*nbytes = n - 2;
	return field + 1;
}

/* The value of field[0 .. *nbytes) where it is some of the field's bytes: sets *nbytes to their
 * number. NULL where bytes must be taken out of its midst: then only field_value knows it. */
static inline const char *field_in_place(const struct csv_dialect *dialect, const char *field,
					 size_t *nbytes)
{
	size_t n = *nbytes;

	if (csv_dialect_trims(dialect)) {
		field = field_trim(dialect, field, nbytes);
		n = *nbytes;
		if (dialect->whitespace)
			return field;
	}
	if (dialect->escape && memchr(field, dialect->escape, n))
		return NULL;
	return field_in_quotes(dialect, field, nbytes);
}

/* Returns the value of field[0 .. nbytes): without the outer quotes, "" within them as ", without
 * escape bytes; where the dialect trims, without the blanks around it. field lacks the CR of a line end; if
 * an escape byte is its last, that CR was data and belongs to the value. The result points into
 * field or into scratch, its length is *value_nbytes; NULL where memory ran out. */
const char *field_value(const struct csv_dialect *dialect, const char *field, size_t nbytes,
			struct scratch *scratch, size_t *value_nbytes);

/* The most bytes that field_write writes. */
static inline size_t field_nbytes_max(size_t value_nbytes)
{
	return 2 * value_nbytes + 2;
}

/* Writes a value as a raw field of the dialect, as new fields are printed: with an escape byte, escaped; else in quotes, if it
 * needs them. to: field_nbytes_max. Returns its length, or SIZE_MAX where the dialect cannot write it. */
size_t field_write(const struct csv_dialect *dialect, const char *value, size_t nbytes, char *to);
