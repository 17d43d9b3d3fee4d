/* SPDX-License-Identifier: MIT
 *
 * field.c - see field.h.
 */
#include "csv/field.h"

#include <stdlib.h>
#include <string.h>

#include "csv/dfa.h"

/* Copies a field without its quotes; to: nbytes. Returns the length. */
static size_t unquote(const char *field, size_t nbytes, char *to)
{
	enum csv_state state = CSV_FIELD_START;
	size_t length = 0;

	for (size_t i = 0; i < nbytes; i++) {
		enum csv_state before = state;
		state = csv_step(state, field[i] == '"' ? CSV_QUOTE : CSV_OTHER);
		if (state == CSV_QUOTE_SEEN || (state == CSV_QUOTED && before == CSV_FIELD_START))
			continue;
		to[length++] = field[i];
	}
	return length;
}

const char *field_value(const char *field, size_t nbytes, struct scratch *scratch,
			size_t *value_nbytes)
{
	*value_nbytes = nbytes;
	if (nbytes == 0 || field[0] != '"')
		return field;
	if (nbytes >= 2 && memchr(field + 1, '"', nbytes - 1) == field + nbytes - 1) {
		*value_nbytes = nbytes - 2;
		return field + 1;
	}
	if (scratch->nbytes < nbytes) {
		char *grown = realloc(scratch->data, nbytes);
		if (!grown)
			return NULL;
		scratch->data = grown;
		scratch->nbytes = nbytes;
	}
	*value_nbytes = unquote(field, nbytes, scratch->data);
	return scratch->data;
}
