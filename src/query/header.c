/* SPDX-License-Identifier: MIT
 *
 * header.c - see header.h. header_guess.c decides whether the first record is a header.
 */
#include "query/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "query/header_guess.h"
#include "query/remedy.h"
#include "query/value.h"

#define PATIENCE_NBYTES (1024 * 1024)

/* ---- reading ---- */

/* What the text so far holds of the first records. */
struct first_text {
	int file;
	const char *data;
	size_t nbytes;
	bool at_end;
	struct record record[2];
	size_t begin[2]; /* of each in data */
};

/* The length of the blank lines that the text begins with. */
static size_t blank_nbytes(const char *data, size_t nbytes)
{
	size_t n = 0;

	for (;;) {
		if (n < nbytes && data[n] == '\n')
			n++;
		else if (n + 1 < nbytes && data[n] == '\r' && data[n + 1] == '\n')
			n += 2;
		else
			return n;
	}
}

/* Cuts record i at or after position `from`, passing over comments, and over blank lines unless one
 * is a record: the second one of a table of one column. */
static enum status cut(struct first_text *t, int i, size_t from,
		       const struct csv_dialect *dialect)
{
	bool blank_counts = i == 1 && t->record[0].nfields == 1;
	enum status status;

	record_free(&t->record[i]);
	for (;; from += t->record[i].nbytes) {
		if (!blank_counts)
			from += blank_nbytes(t->data + from, t->nbytes - from);
		t->begin[i] = from;
		status = record_split(t->data + from, t->nbytes - from, dialect, t->at_end,
				      &t->record[i]);
		if (status != STATUS_OK || t->record[i].nfields || t->record[i].nbytes == 0 ||
		    (blank_counts && !t->record[i].is_comment))
			return status;
	}
}

/* Drops the fields of a record whose end has not come: they may be cut short. */
static bool is_whole(struct first_text *t, int i)
{
	if (t->record[i].nbytes == 0)
		record_free(&t->record[i]);
	return t->record[i].nbytes != 0;
}

static enum status cut_both(struct first_text *t, const struct csv_dialect *dialect,
			    bool and_second, bool *whole)
{
	struct csv_dialect of_second = *dialect;
	enum status status = cut(t, 0, 0, dialect);

	*whole = status == STATUS_OK && is_whole(t, 0);
	if (!*whole || !and_second)
		return status;
	if (dialect->whitespace)
		of_second.nfields = t->record[0].nfields;
	status = cut(t, 1, t->begin[0] + t->record[0].nbytes, &of_second);
	*whole = status == STATUS_OK && is_whole(t, 1);
	return status;
}

/* Names the file, and the line of data[offset]. */
static void place_fault(const struct input *input, const struct first_text *t, size_t offset,
			struct fault *fault)
{
	fault->file = input_name(input, t->file);
	fault->line = input_line(input, t->file) + count_lines(t->data, offset);
}

/* status: STATUS_OPEN_QUOTE or STATUS_OPEN_ESCAPE. */
static enum status open_field(const struct input *input, const struct first_text *t,
			      enum status status, struct fault *fault)
{
	int i = t->record[1].nfields != 0;

	fault_set(fault, status, 0, NULL);
	place_fault(input, t, t->begin[i] + t->record[i].fields[0].begin, fault);
	return status;
}

/* The first record has stray text. */
static enum status stray(const struct input *input, const struct first_text *t,
			 const struct csv_dialect *dialect, struct fault *fault)
{
	size_t offset = t->record[0].stray_offset;

	record_fault_stray(t->data + t->begin[0], t->nbytes - t->begin[0], offset, dialect, fault);
	place_fault(input, t, t->begin[0] + offset, fault);
	return fault->status;
}

/* Whether a record, whole or not yet, is longer than any may be, blank lines before it
 * included, which are kept as well; *i: which. */
static bool is_too_long(const struct first_text *t, bool whole, int *i)
{
	size_t first_nbytes = t->record[0].nbytes ? t->begin[0] + t->record[0].nbytes : t->nbytes;

	*i = first_nbytes <= RECORD_MAX_NBYTES;
	if (*i == 0)
		return true;
	return (whole ? t->record[1].nbytes : t->nbytes - first_nbytes) > RECORD_MAX_NBYTES;
}

static enum status too_long(const struct input *input, const struct first_text *t, int i,
			    struct fault *fault)
{
	fault_set(fault, STATUS_LONG_RECORD, 0, NULL);
	place_fault(input, t, t->begin[i], fault);
	return STATUS_LONG_RECORD;
}

/* Reads file t->file on until the records wanted are whole, or it ends. A short text is cut anew
 * with every piece that comes, so that a slow pipe is not waited for needlessly; a long one
 * only when it has doubled, so that the work stays linear. */
static enum status read_file(struct first_text *t, struct input *input, const struct csv_dialect *dialect,
			     bool and_second, struct fault *fault)
{
	bool whole = false;
	enum status status = STATUS_OK;
	int i;

	*t = (struct first_text){.file = t->file};
	while (status == STATUS_OK && !whole && !t->at_end) {
		if (t->nbytes > PATIENCE_NBYTES)
			t->nbytes *= 2;
		status = input_peek(input, t->file, &t->data, &t->nbytes, &t->at_end, fault);
		if (status != STATUS_OK)
			return status;
		status = cut_both(t, dialect, and_second, &whole);
		if (status == STATUS_OK && is_too_long(t, whole, &i))
			return too_long(input, t, i, fault);
	}
	if ((status == STATUS_OK || status == STATUS_OPEN_QUOTE) && t->record[0].nbytes &&
	    t->record[0].stray_offset != SIZE_MAX)
		return stray(input, t, dialect, fault);
	if (status == STATUS_OPEN_QUOTE || status == STATUS_OPEN_ESCAPE)
		return open_field(input, t, status, fault);
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

/* Whether the first nbytes have a line, which may be blank, that is no comment. */
static bool has_lines(const struct first_text *t, const struct csv_dialect *dialect, size_t nbytes)
{
	const char *at = t->data, *end = t->data + nbytes;

	while (at < end && dialect->comment && *at == dialect->comment) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
	}
	return at < end;
}

/* Like read_file, but skips empty files and (unless blank_counts) files of blank lines, from file
 * t->file on. Skipped files stay in memory, so their total length is limited like a record's. */
static enum status read_first(struct first_text *t, struct input *input, const struct csv_dialect *dialect,
			      bool and_second, bool blank_counts, struct fault *fault)
{
	enum status status = read_file(t, input, dialect, and_second, fault);
	size_t nbytes = 0;

	while (status == STATUS_OK && t->record[0].nfields == 0 &&
	       (!has_lines(t, dialect, t->nbytes) || !blank_counts) && t->file + 1 < input_nfiles(input)) {
		nbytes += t->nbytes;
		if (nbytes > RECORD_MAX_NBYTES)
			return too_long(input, t, 0, fault);
		t->file++;
		status = read_file(t, input, dialect, and_second, fault);
	}
	return status;
}

/* ---- values ---- */

static enum status copy_value(struct first_value *v, const char *field, size_t nbytes,
			      const struct plan *plan)
{
	struct scratch scratch = {NULL, 0};
	size_t nbytes_field = nbytes;
	const char *text = field_value(&plan->dialect, field, nbytes, &scratch, &nbytes);

	v->text = text ? strndup(text, nbytes) : NULL;
	if (v->text) {
		v->has_no_byte = nbytes_field == 0;
		v->has_nul = memchr(text, '\0', nbytes) != NULL;
		v->is_missing = value_is_missing(plan, text, nbytes);
		v->is_number = !v->is_missing && value_is_number(plan, text, nbytes);
	}
	free(scratch.data);
	return v->text ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status copy_values(struct first_record *r, const struct first_text *t, int i,
			       const struct plan *plan)
{
	const struct record *cut = &t->record[i];
	const char *data = t->data + t->begin[i];
	size_t counted = 0;
	uint32_t nlines = 0;

	r->values = calloc(cut->nfields + 1, sizeof *r->values);
	if (!r->values)
		return STATUS_NO_MEMORY;
	for (; r->nfields < cut->nfields; r->nfields++) {
		struct field_span f = cut->fields[r->nfields];
		struct first_value *v = &r->values[r->nfields];
		if (copy_value(v, data + f.begin, f.end - f.begin, plan) != STATUS_OK)
			return STATUS_NO_MEMORY;
		nlines += (uint32_t)count_lines(data + counted, f.begin - counted);
		counted = f.begin;
		v->nlines = nlines;
	}
	return STATUS_OK;
}

/* See struct header. A byte that means something else in this dialect cannot be the delimiter. */
static char other_delimiter(const struct first_text *t, const struct csv_dialect *d)
{
	char found = '\0';

	for (int i = 0; i < 2 && !found && t->record[0].nfields == 1; i++)
		if (t->record[i].nfields == 1)
			found = remedy_delimiter(t->data + t->begin[i] + t->record[i].fields->begin,
						 t->record[i].fields->end - t->record[i].fields->begin);
	return found == d->quote || found == d->escape || found == d->comment ? '\0' : found;
}

/* With --whitespace, the header may have more words than the second record has fields: "Mounted on".
 * Then the last name is the rest of the line, unless it would be the only one. */
static enum status join_words(struct header *h, const struct first_text *t)
{
	const struct record *first = &t->record[0];
	size_t n = t->record[1].nfields, begin;

	if (n < 2 || n >= first->nfields)
		return STATUS_OK;
	begin = first->fields[n - 1].begin;
	h->last_name = strndup(t->data + t->begin[0] + begin,
			       first->fields[first->nfields - 1].end - begin);
	return h->last_name ? STATUS_OK : STATUS_NO_MEMORY;
}

/* The length of the first record, whose last field ends at `end`, with the blanks before its line end. */
static size_t end_with_blanks(const struct first_text *t, size_t end)
{
	const char *data = t->data + t->begin[0];

	while (end < t->record[0].nbytes && decimal_is_blank(data[end]))
		end++;
	return end;
}

/* Fills h, which is all 0, with what was cut. */
static enum status fill_header(struct header *h, const struct input *input,
			       const struct first_text *t, const struct plan *plan)
{
	const struct record *first = &t->record[0];
	struct field_span last;

	h->file = t->file;
	h->has_second = t->record[1].nbytes != 0;
	if (copy_values(&h->record[0], t, 0, plan) != STATUS_OK ||
	    copy_values(&h->record[1], t, 1, plan) != STATUS_OK ||
	    (plan->dialect.whitespace && join_words(h, t) != STATUS_OK))
		return STATUS_NO_MEMORY;
	if (first->nfields == 0)
		return STATUS_OK;
	last = first->fields[first->nfields - 1];
	h->nfields = first->nfields;
	h->begin = t->begin[0];
	h->end = t->begin[0] + end_with_blanks(t, last.end);
	h->ends_empty = last.begin == last.end;
	h->nbytes = t->begin[0] + first->nbytes;
	h->line_number = input_line(input, t->file) + count_lines(t->data, t->begin[0]);
	h->other_delimiter = other_delimiter(t, &plan->dialect);
	return STATUS_OK;
}

/* Makes h of what reading with this status has cut, and frees that. */
static enum status make_header(struct header *h, const struct input *input, struct first_text *t,
			       const struct plan *plan, enum status status, struct fault *fault)
{
	memset(h, 0, sizeof *h);
	if (status == STATUS_OK && fill_header(h, input, t, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	record_free(&t->record[0]);
	record_free(&t->record[1]);
	return status;
}

enum status header_read(struct header *h, struct input *input, const struct plan *plan,
			bool and_second, struct fault *fault)
{
	struct first_text t = {.file = 0};
	enum status status = read_first(&t, input, &plan->dialect, and_second, false, fault);

	return make_header(h, input, &t, plan, status, fault);
}

/* Copies the first record, which data has. */
static enum status keep_line(struct header *h, const char *data)
{
	h->line_nbytes = h->nbytes - h->begin;
	h->line = malloc(h->line_nbytes + 1);
	if (!h->line)
		return STATUS_NO_MEMORY;
	memcpy(h->line, data + h->begin, h->line_nbytes);
	return STATUS_OK;
}

enum status header_read_file(struct header *h, struct input *input, int file,
			     const struct plan *plan, struct fault *fault)
{
	struct first_text t = {.file = file};
	enum status status = read_file(&t, input, &plan->dialect, false, fault);

	status = make_header(h, input, &t, plan, status, fault);
	if (status == STATUS_OK && h->nfields > 0 && keep_line(h, t.data) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return status;
}

enum status header_read_second(struct header *h, struct input *input, const struct plan *plan,
			       struct fault *fault)
{
	bool blank_counts = h->nfields == 1;
	struct csv_dialect dialect = plan->dialect;
	struct first_text t = {.file = h->file};
	enum status status;

	if (!h->present || h->has_second)
		return STATUS_OK;
	if (dialect.whitespace)
		dialect.nfields = h->nfields;
	status = read_first(&t, input, &dialect, false, blank_counts, fault);
	free(h->record[1].values);
	h->record[1] = (struct first_record){0, NULL};
	if (status == STATUS_OK && !(blank_counts && has_lines(&t, &dialect, t.begin[0])) &&
	    copy_values(&h->record[1], &t, 0, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	h->has_second = t.record[0].nfields > 0 || (blank_counts && has_lines(&t, &dialect, t.nbytes));
	record_free(&t.record[0]);
	if (status == STATUS_OK)
		input_begin_with(input, t.file);
	return status;
}

/* ---- deciding ---- */

/* Gives the header the last name that join_words found. */
static void use_last_name(struct header *h)
{
	struct first_record *first = &h->record[0];

	while (first->nfields > h->record[1].nfields)
		free(first->values[--first->nfields].text);
	free(first->values[first->nfields - 1].text);
	first->values[first->nfields - 1].text = h->last_name;
	if (h->guess >= first->values + first->nfields)
		h->guess = first->values + first->nfields - 1;
	h->last_name = NULL;
	h->nfields = first->nfields;
}

/* Names the columns that the header has a name for. */
static enum status name_columns(struct header *h)
{
	h->nnames = h->nfields;
	h->names = calloc(h->nnames + 1, sizeof *h->names);
	for (size_t i = 0; h->names && h->present && i < h->nfields; i++) {
		const char *text = h->record[0].values[i].text;
		if (*text && !(h->names[i] = strdup(text)))
			return STATUS_NO_MEMORY;
	}
	return h->names ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status header_add_name(struct header *h, const struct selector *s)
{
	struct field_range ignored;

	if (selector_by_position(s, 0, &ignored))
		return STATUS_OK;
	for (size_t i = 0; i < h->nnames; i++)
		if (h->names[i] && !strcmp(h->names[i], s->text))
			return STATUS_OK;
	h->names[h->nnames] = strdup(s->text);
	return h->names[h->nnames++] ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status skip_header(struct header *h, struct input *input, struct fault *fault)
{
	size_t nbytes;
	const char *data = input_peeked(input, &nbytes);

	if (keep_line(h, data) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	input_skip(input, h->nbytes);
	return STATUS_OK;
}

enum status header_decide(struct header *h, struct input *input, enum header_mode mode,
			  const struct selection *selections, size_t nselections,
			  bool summary, struct fault *fault)
{
	enum status status = header_guess(h, input, mode, selections, nselections, summary, fault);

	if (status == STATUS_OK && h->present && h->last_name)
		use_last_name(h);
	if (name_columns(h) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status != STATUS_OK)
		return status;
	if (!h->present && h->nfields <= 1)
		return STATUS_OK; /* blank lines are records: begin with the first file */
	input_begin_with(input, h->file);
	return h->present ? skip_header(h, input, fault) : STATUS_OK;
}

void header_free(struct header *h)
{
	for (size_t i = 0; h->names && i < h->nnames; i++)
		free(h->names[i]);
	free(h->names);
	free(h->line);
	free(h->last_name);
	for (int i = 0; i < 2; i++) {
		for (size_t j = 0; j < h->record[i].nfields; j++)
			free(h->record[i].values[j].text);
		free(h->record[i].values);
	}
	memset(h, 0, sizeof *h);
}

char *header_column_name(const struct header *h, size_t field)
{
	char *name;

	if (field < h->nnames && h->names[field])
		return strdup(h->names[field]);
	return asprintf(&name, "col%zu", field + 1) < 0 ? NULL : name;
}
