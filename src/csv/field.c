/* SPDX-License-Identifier: MIT
 *
 * field.c - see field.h.
 */
#include "csv/field.h"

#include <stdlib.h>

#include "base/array.h"

/* Copies a field's value; to: nbytes. Returns its length. */
static size_t copy_value(const struct csv_dialect *dialect, const char *field, size_t nbytes,
			 char *to)
{
	char quote = dialect->quote, escape = dialect->escape;
	bool quoted = quote && *field == quote; /* up to the closing quote */
	char *end = to;

	for (size_t i = quoted; i < nbytes; i++) {
		while (i < nbytes && field[i] != quote && field[i] != escape)
			*end++ = field[i++];
		if (i == nbytes)
			break;
		if (field[i] == escape && escape) {
			*end++ = ++i < nbytes ? field[i] : '\r';
		} else if (!quoted || field[i] != quote) {
			*end++ = field[i];
		} else if (i + 1 < nbytes && field[i + 1] == quote) {
			*end++ = field[i++];
		} else {
			quoted = false;
		}
	}
	return (size_t)(end - to);
}

const char *field_value(const struct csv_dialect *dialect, const char *field, size_t nbytes,
			struct scratch *scratch, size_t *value_nbytes)
{
	const char *in_place;

	*value_nbytes = nbytes;
	in_place = field_in_place(dialect, field, value_nbytes);
	if (in_place)
		return in_place;
	if (dialect->trim)
		field = field_trim(dialect, field, &nbytes);
	if (ARRAY_GROW(scratch->data, scratch->nbytes, nbytes) != STATUS_OK)
		return NULL;
	*value_nbytes = copy_value(dialect, field, nbytes, scratch->data);
	return scratch->data;
}
