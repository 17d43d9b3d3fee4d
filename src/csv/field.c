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

/* Whether value[i] means more than itself in a field without quotes. */
static bool is_odd(const struct csv_dialect *d, const char *value, size_t nbytes, size_t i)
{
	char c = value[i];

	return (d->quote && c == d->quote) || c == d->delimiter || c == '\n' || c == '\r' || (d->escape && c == d->escape) ||
	       (csv_dialect_trims(d) && decimal_is_blank(c) && (d->whitespace || i == 0 || i == nbytes - 1));
}

size_t field_write(const struct csv_dialect *d, const char *value, size_t nbytes, char *to)
{
	const char *begin = to;
	size_t nodd = 0;

	for (size_t i = 0; i < nbytes; i++)
		nodd += is_odd(d, value, nbytes, i);
	if (nodd == 0) {
		if (nbytes)
			memcpy(to, value, nbytes);
		return nbytes;
	}
	if ((!d->quote && !d->escape) || d->whitespace)
		return SIZE_MAX;
	if (!d->escape)
		*to++ = d->quote;
	for (size_t i = 0; i < nbytes; i++) {
		if (d->escape ? is_odd(d, value, nbytes, i) : value[i] == d->quote)
			*to++ = d->escape ? d->escape : d->quote;
		*to++ = value[i];
	}
	if (!d->escape)
		*to++ = d->quote;
	return (size_t)(to - begin);
}
