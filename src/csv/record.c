/* SPDX-License-Identifier: MIT
 *
 * record.c - see record.h.
 */
#include "csv/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "csv/word_layout.h"

static enum status append_field(struct record *r, size_t begin, size_t end)
{
	return ARRAY_PUSH(r->fields, r->nfields, (struct field_span){begin, end});
}

/* A walk over one record. */
struct walk {
	const char *data;
	size_t nbytes;
	bool at_end; /* the file ends with data */
	const struct csv_dialect *dialect;
	enum csv_state state;
	size_t stray_offset;
	size_t nfields_max; /* cut no more; 0: all */
};

/* Appends a field without the blanks around it that are no part of it. */
static enum status append_trimmed(struct record *r, const struct walk *w, size_t begin, size_t end)
{
	size_t nbytes = end - begin;
	const char *field = w->data + begin;

	if (w->dialect->trim)
		field = field_trim(w->dialect, field, &nbytes);
	begin = (size_t)(field - w->data);
	return append_field(r, begin, begin + nbytes);
}

/* Ends the record at `end`, the LF or the text's end; nbytes counts it with its line end. */
static enum status finish(struct record *r, const struct walk *w, size_t begin, size_t end,
			  size_t nbytes)
{
	r->nbytes = nbytes;
	end -= field_cr_nbytes(w->data, 0, end, w->dialect->escape);
	if (w->dialect->trim && r->nfields == 0) {
		size_t nbytes = end;
		field_trim(w->dialect, w->data, &nbytes);
		end = nbytes ? end : 0;
	}
	return end == 0 ? STATUS_OK : append_trimmed(r, w, begin, end);
}

bool record_field_ends(const struct csv_dialect *dialect, const char *text, size_t nbytes, size_t at)
{
	while (at < nbytes && csv_dialect_is_blank(dialect, text[at]))
		at++;
	if (at == nbytes || text[at] == dialect->delimiter || text[at] == '\n')
		return true;
	return text[at] == '\r' && (at + 1 == nbytes || text[at + 1] == '\n');
}

bool record_quote_opens(const struct csv_dialect *dialect, const char *text, size_t nbytes, size_t at)
{
	enum csv_state state = CSV_QUOTED;

	while (++at < nbytes) {
		enum csv_class c = csv_dialect_classify(dialect, text[at]);
		if (state == CSV_QUOTE_SEEN && c != CSV_QUOTE)
			return record_field_ends(dialect, text, nbytes, at);
		if (text[at] == '\n')
			return true;
		state = csv_full_step(state, c);
	}
	return true;
}

/* Whether data[at], after a closing quote, belongs to no separator and no line end. */
static bool is_stray(const struct walk *w, size_t at, enum csv_class c)
{
	if (c == CSV_DELIMITER || c == CSV_NEWLINE || c == CSV_QUOTE)
		return false;
	if (c == CSV_BLANK)
		return !record_field_ends(w->dialect, w->data, w->nbytes, at);
	if (w->data[at] != '\r')
		return true;
	return at + 1 < w->nbytes ? w->data[at + 1] != '\n' : !w->at_end;
}

/* Whether data[at], a quote in the unquoted field that begins at `begin`, was to quote it. */
static bool opens_late(const struct walk *w, size_t begin, size_t at)
{
	while (begin < at && csv_dialect_is_blank(w->dialect, w->data[begin]))
		begin++;
	return begin == at && record_quote_opens(w->dialect, w->data, w->nbytes, at);
}

/* Returns where the first separator outside quotes lies from `at` on, or nbytes. */
static size_t field_end(struct walk *w, size_t at)
{
	size_t begin = at;

	for (; at < w->nbytes; at++) {
		enum csv_class c = csv_dialect_classify(w->dialect, w->data[at]);
		enum csv_state before = w->state;
		w->state = csv_full_step(before, c);
		if (w->state == CSV_RECORD_START || (w->state == CSV_FIELD_START && c == CSV_DELIMITER))
			return at;
		if (w->stray_offset != SIZE_MAX)
			continue;
		if (before == CSV_QUOTE_SEEN ? is_stray(w, at, c)
					     : before == CSV_UNQUOTED && c == CSV_QUOTE &&
						       opens_late(w, begin, at))
			w->stray_offset = at;
	}
	return w->nbytes;
}

/* Ends a text in which no LF ends the record; its last field starts at begin. */
static enum status finish_text(struct record *r, const struct walk *w, size_t begin)
{
	bool escaped = w->state == CSV_ESCAPED;

	if (!w->at_end || w->nbytes == 0)
		return STATUS_OK;
	if (!escaped && w->state != CSV_QUOTED && w->state != CSV_ESCAPED_QUOTED)
		return finish(r, w, begin, w->nbytes, w->nbytes);
	r->nfields = 0;
	TRY(append_field(r, begin, w->nbytes));
	return escaped ? STATUS_OPEN_ESCAPE : STATUS_OPEN_QUOTE;
}

static enum status split(struct walk *w, struct record *r)
{
	size_t begin = 0, end;

	while ((end = field_end(w, begin)) < w->nbytes) {
		if (w->data[end] == '\n')
			return finish(r, w, begin, end, end + 1);
		TRY(append_trimmed(r, w, begin, end));
		if (r->nfields == w->nfields_max)
			return STATUS_OK;
		begin = end + 1;
	}
	return finish_text(r, w, begin);
}

/* Cuts a record whose fields end at blanks, or below the names of a header that is known: a line that does not stand there is a
 * fault of the record, which has no field then. */
static enum status split_words(struct walk *w, struct record *r)
{
	const char *lf = memchr(w->data, '\n', w->nbytes);
	struct word_line line = {w->data, lf ? (size_t)(lf - w->data) : w->nbytes};
	size_t begin = 0, nmost = w->dialect->nfields, n;
	enum status status = STATUS_OK;
	uint32_t *ends;

	if (!lf && !w->at_end)
		return STATUS_OK;
	r->nbytes = line.nbytes + (lf != NULL);
	line.nbytes -= field_cr_nbytes(w->data, 0, line.nbytes, '\0');
	while (line.nbytes > 0 && decimal_is_blank(w->data[line.nbytes - 1]))
		line.nbytes--;
	if (line.nbytes == 0)
		return STATUS_OK;
	nmost = nmost && nmost < line.nbytes ? nmost : line.nbytes;
	ends = malloc(nmost * sizeof *ends);
	NEED(ends);
	n = w->dialect->layout ? word_layout_cut(w->dialect, line, ends) : word_layout_cut_words(line, nmost, ends);
	if (n == 0)
		w->stray_offset = 0;
	nmost = w->nfields_max ? w->nfields_max : nmost;
	n = n < nmost ? n : nmost;
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		size_t nbytes = ends[i] - begin;
		const char *field = decimal_trim(line.text + begin, &nbytes);
		status = append_field(r, (size_t)(field - line.text), (size_t)(field - line.text) + nbytes);
		begin = ends[i] + 1;
	}
	free(ends);
	return status;
}

enum status record_split(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			 bool at_end, struct record *out)
{
	struct walk w = {data, nbytes, at_end, dialect, CSV_RECORD_START, SIZE_MAX, 0};
	enum status status;

	memset(out, 0, sizeof *out);
	out->stray_offset = SIZE_MAX;
	if (nbytes > 0 && dialect->comment && data[0] == dialect->comment) {
		const char *end = memchr(data, '\n', nbytes);
		out->nbytes = end ? (size_t)(end - data) + 1 : at_end ? nbytes : 0;
		out->is_comment = out->nbytes != 0;
		return STATUS_OK;
	}
	status = dialect->whitespace ? split_words(&w, out) : split(&w, out);
	out->stray_offset = w.stray_offset;
	return status;
}

enum status record_fault_stray(const char *data, size_t nbytes, size_t offset,
			       const struct csv_dialect *dialect, struct fault *fault)
{
	bool escapes = offset >= 2 && data[offset - 2] == '\\' && dialect->escape != '\\';

	if (dialect->layout)
		return fault_set(fault, STATUS_UNALIGNED, 0, NULL);
	if (data[offset] == dialect->quote ||
	    (!dialect->trim && csv_dialect_is_blank(dialect, data[offset]) &&
	     record_field_ends(dialect, data, nbytes, offset)))
		return fault_set(fault, STATUS_BLANK_QUOTE, 0, NULL);
	return fault_set(fault, STATUS_STRAY_QUOTE, 0,
			 escapes ? "try --escape '\\'" : "try --quote none");
}

enum status record_split_first(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			       struct record *out)
{
	struct walk w = {data, nbytes, true, dialect, CSV_RECORD_START, SIZE_MAX, 1};

	memset(out, 0, sizeof *out);
	return dialect->whitespace ? split_words(&w, out) : split(&w, out);
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

/* ---- the header again ---- */

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
