/* SPDX-License-Identifier: MIT
 *
 * record.c - see record.h.
 */
#include "csv/record.h"

#include <stdlib.h>
#include <string.h>

#include "csv/dfa.h"

static enum status append_field(struct record *r, size_t begin, size_t end)
{
	if ((r->nfields & (r->nfields + 1)) == 0) { /* full at 0, 1, 3, 7, ... */
		struct field_span *grown = realloc(r->fields, (2 * r->nfields + 1) * sizeof *grown);
		if (!grown)
			return STATUS_NO_MEMORY;
		r->fields = grown;
	}
	r->fields[r->nfields++] = (struct field_span){begin, end};
	return STATUS_OK;
}

/* Ends the record at `end`, the LF or the text's end; nbytes counts it with its line end. */
static enum status finish(struct record *r, const char *data, size_t begin, size_t end,
			  size_t nbytes)
{
	r->nbytes = nbytes;
	if (end > 0 && data[end - 1] == '\r')
		end--;
	return end == 0 ? STATUS_OK : append_field(r, begin, end);
}

/* Returns where the first separator outside quotes lies from `at` on, a field's start, or nbytes.
 * *state: the automaton's there. */
static size_t field_end(const char *data, size_t at, size_t nbytes,
			const struct csv_dialect *dialect, enum csv_state *state)
{
	for (*state = CSV_FIELD_START; at < nbytes; at++) {
		enum csv_class c = csv_classify((unsigned char)data[at], (unsigned char)dialect->delimiter);
		if (*state != CSV_QUOTED && (c == CSV_DELIMITER || c == CSV_NEWLINE))
			return at;
		*state = csv_step(*state, c);
	}
	return nbytes;
}

enum status record_split(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			 bool at_end, struct record *out)
{
	size_t begin = 0, end;
	enum csv_state state;

	memset(out, 0, sizeof *out);
	while ((end = field_end(data, begin, nbytes, dialect, &state)) < nbytes) {
		if (data[end] == '\n')
			return finish(out, data, begin, end, end + 1);
		if (append_field(out, begin, end) != STATUS_OK)
			return STATUS_NO_MEMORY;
		begin = end + 1;
	}
	if (!at_end || nbytes == 0)
		return STATUS_OK;
	if (state != CSV_QUOTED)
		return finish(out, data, begin, nbytes, nbytes);
	out->nfields = 0;
	return append_field(out, begin, nbytes) ? STATUS_NO_MEMORY : STATUS_OPEN_QUOTE;
}

size_t record_first_field(const char *data, size_t nbytes, const struct csv_dialect *dialect)
{
	enum csv_state state;
	size_t end = field_end(data, 0, nbytes, dialect, &state);
	bool ends_line = end == nbytes || data[end] == '\n';

	return end - (ends_line && end > 0 && data[end - 1] == '\r');
}

void record_free(struct record *r)
{
	free(r->fields);
	memset(r, 0, sizeof *r);
}

uint64_t count_lines(const char *text, size_t nbytes)
{
	const char *end = text + nbytes;
	uint64_t nlines = 0;

	while (nbytes > 0 && (text = memchr(text, '\n', (size_t)(end - text)))) {
		nlines++;
		text++;
	}
	return nlines;
}
