/* SPDX-License-Identifier: MIT
 *
 * field.h - one raw field of a text, and its value.
 */
#ifndef GPUSTAT_FIELD_H
#define GPUSTAT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "csv/dialect.h"
#include "number/decimal.h"

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
	if (n == 0 || *field != dialect->quote || dialect->quote == 0)
		return field;
	if (n < 2 || memchr(field + 1, dialect->quote, n - 1) != field + n - 1)
		return NULL;
	*nbytes = n - 2;
	return field + 1;
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

#endif
