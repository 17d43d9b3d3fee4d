/* SPDX-License-Identifier: MIT
 *
 * repeated_header.c - see repeated_header.h.
 */
#include "csv/repeated_header.h"

#include <stdlib.h>
#include <string.h>

#include "csv/record.h"

struct sought_header sought_header_of(const char *text, size_t nbytes, const struct csv_dialect *dialect)
{
	return (struct sought_header){text, (uint32_t)nbytes, dialect->delimiter, dialect->quote, dialect->escape};
}

/* Whether field i of two records has the same value; a field that is not there is empty. */
static bool is_same_value(const struct csv_dialect *dialect, const char *const text[2], const struct record r[2], size_t i,
			  struct scratch scratch[2])
{
	const char *value[2] = {"", ""};
	size_t nbytes[2] = {0, 0};

	for (int k = 0; k < 2; k++)
		if (i < r[k].nfields)
			value[k] = field_value(dialect, text[k] + r[k].fields[i].begin,
					       r[k].fields[i].end - r[k].fields[i].begin, &scratch[k], &nbytes[k]);
	return !value[0] || !value[1] || (nbytes[0] == nbytes[1] && !memcmp(value[0], value[1], nbytes[0]));
}

/* Cuts text[0 .. nbytes), a record without its line end, into fields. It gets one: a CR at its end is the last field's. */
static enum status split_line(const char *text, size_t nbytes, const struct csv_dialect *dialect, struct record *out)
{
	char *line = malloc(nbytes + 2);
	enum status status = STATUS_NO_MEMORY;

	if (line) {
		memcpy(line, text, nbytes);
		memcpy(line + nbytes, "\r\n", 2);
		status = record_split(line, nbytes + 2, dialect, true, out);
	}
	free(line);
	return status;
}

bool header_is_repeated(const struct sought_header *h, const struct csv_dialect *dialect, const char *text, size_t nbytes)
{
	size_t mark_nbytes = byte_order_mark_nbytes(text, nbytes);
	const char *const texts[2] = {h->text, text + mark_nbytes};
	struct record r[2] = {{0}, {0}};
	struct scratch scratch[2] = {{NULL, 0}, {NULL, 0}};
	bool is = true;

	if (!header_may_be_repeated(h, text, nbytes))
		return false;
	if (split_line(texts[0], h->nbytes, dialect, &r[0]) == STATUS_OK &&
	    split_line(texts[1], nbytes - mark_nbytes, dialect, &r[1]) == STATUS_OK) {
		size_t nmost = r[0].nfields > r[1].nfields ? r[0].nfields : r[1].nfields;
		is = nmost <= r[0].nfields + 1 && nmost <= r[1].nfields + 1;
		for (size_t i = 0; is && i < nmost; i++)
			is = is_same_value(dialect, texts, r, i, scratch);
	}
	for (int k = 0; k < 2; k++) {
		record_free(&r[k]);
		free(scratch[k].data);
	}
	return is;
}
