/* SPDX-License-Identifier: MIT
 *
 * field.c - see field.h.
 */
#include "csv/field.h"

#include <stdlib.h>

/* Copies a field's value; to: nbytes. Returns its length. */
static size_t copy_value(const struct csv_dialect *dialect, const char *field, size_t nbytes,
			 char *to)
{
	enum csv_state state = CSV_FIELD_START;
	size_t length = 0;

	for (size_t i = 0; i < nbytes; i++) {
		enum csv_state before = state;
		enum csv_class c = csv_dialect_classify(dialect, field[i]);
		if (c == CSV_DELIMITER || c == CSV_NEWLINE)
			c = CSV_OTHER; /* in quotes or escaped */
		state = csv_full_step(state, c);
		if (state == CSV_QUOTE_SEEN || state == CSV_ESCAPED || state == CSV_ESCAPED_QUOTED ||
		    (state == CSV_QUOTED && before == CSV_FIELD_START))
			continue;
		to[length++] = field[i];
	}
	if (state == CSV_ESCAPED)
		to[length++] = '\r';
	return length;
}

const char *field_value(const struct csv_dialect *dialect, const char *field, size_t nbytes,
			struct scratch *scratch, size_t *value_nbytes)
{
	const char *in_place;

	*value_nbytes = nbytes;
	in_place = field_in_place(dialect, field, value_nbytes);
	if (in_place)
		return in_place;
	if (scratch->nbytes < nbytes) {
		char *grown = realloc(scratch->data, nbytes);
		if (!grown)
			return NULL;
		scratch->data = grown;
		scratch->nbytes = nbytes;
	}
	*value_nbytes = copy_value(dialect, field, nbytes, scratch->data);
	return scratch->data;
}
