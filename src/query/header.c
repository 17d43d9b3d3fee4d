/* SPDX-License-Identifier: MIT
 *
 * header.c - see header.h.
 *
 * A first record is a header if a selector is a name, or if a field selected by position
 * is no number. For `*` and the summary it is a header if it has no number at all, or if
 * some column has text in it and a number below. So a file of numbers without a header
 * never loses its first record.
 */
#include "query/header.h"

#include <stdlib.h>
#include <string.h>

#include "number/decimal.h"
#include "csv/record.h"
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

/* Cuts record i at or after position `from`, passing over blank lines unless one is a
 * record: the second one of a table of one column. */
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
		    blank_counts)
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
	enum status status = cut(t, 0, 0, dialect);

	*whole = status == STATUS_OK && is_whole(t, 0);
	if (!*whole || !and_second)
		return status;
	status = cut(t, 1, t->begin[0] + t->record[0].nbytes, dialect);
	*whole = status == STATUS_OK && is_whole(t, 1);
	return status;
}

static enum status open_quote(const struct input *input, const struct first_text *t,
			      struct fault *fault)
{
	int i = t->record[1].nfields != 0;

	fault_set(fault, STATUS_OPEN_QUOTE, 0, NULL);
	fault->file = input_name(input, t->file);
	fault->line = 1 + count_lines(t->data,
						t->begin[i] + t->record[i].fields[0].begin);
	return STATUS_OPEN_QUOTE;
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
	fault->file = input_name(input, t->file);
	fault->line = 1 + count_lines(t->data, t->begin[i]);
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
	if (status == STATUS_OPEN_QUOTE)
		return open_quote(input, t, fault);
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

/* Like read_file, but skips empty files and (unless blank_counts) files of blank lines, from file
 * t->file on. Skipped files stay in memory, so their total length is limited like a record's. */
static enum status read_first(struct first_text *t, struct input *input, const struct csv_dialect *dialect,
			      bool and_second, bool blank_counts, struct fault *fault)
{
	enum status status = read_file(t, input, dialect, and_second, fault);
	size_t nbytes = 0;

	while (status == STATUS_OK && t->record[0].nfields == 0 &&
	       (t->nbytes == 0 || !blank_counts) && t->file + 1 < input_nfiles(input)) {
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
	struct decimal ignored;
	enum decimal_kind kind;
	const char *text = field_value(field, nbytes, &scratch, &nbytes);

	/* With a NUL in it, it is no name: what stands before might be one, or a number of COLS. */
	v->text = text ? strndup(text, memchr(text, '\0', nbytes) ? 0 : nbytes) : NULL;
	if (v->text) {
		kind = decimal_parse(text, nbytes, &ignored);
		v->is_missing = value_is_missing(plan, text, nbytes);
		v->is_number = !v->is_missing && (kind == DECIMAL_NUMBER || kind == DECIMAL_WIDE);
	}
	free(scratch.data);
	return v->text ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status copy_values(struct first_record *r, const struct first_text *t, int i,
			       const struct plan *plan)
{
	const struct record *cut = &t->record[i];

	r->values = calloc(cut->nfields + 1, sizeof *r->values);
	if (!r->values)
		return STATUS_NO_MEMORY;
	for (; r->nfields < cut->nfields; r->nfields++) {
		struct field_span f = cut->fields[r->nfields];
		if (copy_value(&r->values[r->nfields], t->data + t->begin[i] + f.begin,
			       f.end - f.begin, plan) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
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
	    copy_values(&h->record[1], t, 1, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (first->nfields == 0)
		return STATUS_OK;
	last = first->fields[first->nfields - 1];
	h->nfields = first->nfields;
	h->begin = t->begin[0];
	h->end = t->begin[0] + last.end;
	h->ends_empty = last.begin == last.end;
	h->nbytes = t->begin[0] + first->nbytes;
	h->line_number = input_line(input, t->file) + count_lines(t->data, t->begin[0]);
	return STATUS_OK;
}

enum status header_read(struct header *h, struct input *input, const struct plan *plan,
			bool and_second, struct fault *fault)
{
	struct first_text t = {.file = 0};
	enum status status = read_first(&t, input, &plan->dialect, and_second, false, fault);

	memset(h, 0, sizeof *h);
	if (status == STATUS_OK && fill_header(h, input, &t, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	record_free(&t.record[0]);
	record_free(&t.record[1]);
	return status;
}

enum status header_read_file(struct header *h, struct input *input, int file,
			     const struct plan *plan, struct fault *fault)
{
	struct first_text t = {.file = file};
	enum status status = read_file(&t, input, &plan->dialect, false, fault);

	memset(h, 0, sizeof *h);
	if (status == STATUS_OK && fill_header(h, input, &t, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	record_free(&t.record[0]);
	return status;
}

enum status header_read_second(struct header *h, struct input *input, const struct plan *plan,
			       struct fault *fault)
{
	bool blank_counts = h->nfields == 1;
	struct first_text t = {.file = h->file};
	enum status status;

	if (!h->present || h->has_second)
		return STATUS_OK;
	status = read_first(&t, input, &plan->dialect, false, blank_counts, fault);
	free(h->record[1].values);
	h->record[1] = (struct first_record){0, NULL};
	if (status == STATUS_OK && !(blank_counts && t.begin[0]) &&
	    copy_values(&h->record[1], &t, 0, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	record_free(&t.record[0]);
	if (status == STATUS_OK)
		input_begin_with(input, t.file);
	return status;
}

/* ---- deciding ---- */

/* The rule for `*` and the summary. */
static bool looks_like_header(const struct header *h)
{
	const struct first_record *first = &h->record[0], *second = &h->record[1];
	size_t nnumbers = 0, ntexts = 0;

	for (size_t i = 0; i < first->nfields; i++) {
		bool is_text = !first->values[i].is_number && !first->values[i].is_missing;
		nnumbers += first->values[i].is_number;
		ntexts += is_text;
		if (is_text && i < second->nfields && second->values[i].is_number)
			return true;
	}
	return nnumbers == 0 && ntexts > 0;
}

/* Whether a selector tells that the first record is a header. */
static bool selector_tells(const struct header *h, const struct selector *s)
{
	struct field_range range;
	bool by_position = selector_by_position(s, h->nfields, &range);

	if (!by_position && !selector_by_position(s, 0, &range))
		return true; /* a name: if the header has it not, that will be the error */
	for (size_t i = 0; i < h->nfields; i++) {
		const struct first_value *v = &h->record[0].values[i];
		bool selected = !range.star && range.first <= i && i <= range.last;
		if (selected && !v->is_number && !v->is_missing)
			return true;
		if (!strcmp(v->text, s->text) && !(by_position && v->is_number))
			return true;
	}
	return range.star && looks_like_header(h);
}

static bool is_header(const struct header *h, enum header_mode mode,
		      const struct selection *selections, size_t nselections)
{
	size_t nselectors = 0;

	if (h->nfields == 0 || mode == HEADER_NO)
		return false;
	if (mode == HEADER_YES)
		return true;
	for (size_t i = 0; i < nselections; i++) {
		nselectors += selections[i].nselectors;
		for (size_t j = 0; j < selections[i].nselectors; j++)
			if (selector_tells(h, &selections[i].selectors[j]))
				return true;
	}
	return nselectors == 0 && looks_like_header(h);
}

/* Names the columns that the header has a name for. */
static enum status name_columns(struct header *h)
{
	h->names = calloc(h->nfields + 1, sizeof *h->names);
	for (size_t i = 0; h->names && h->present && i < h->nfields; i++) {
		const char *text = h->record[0].values[i].text;
		if (*text && !(h->names[i] = strdup(text)))
			return STATUS_NO_MEMORY;
	}
	return h->names ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status skip_header(struct header *h, struct input *input, struct fault *fault)
{
	size_t nbytes;
	const char *data = input_peeked(input, &nbytes);

	h->line_nbytes = h->nbytes - h->begin;
	h->line = malloc(h->line_nbytes + 1);
	if (!h->line)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	memcpy(h->line, data + h->begin, h->line_nbytes);
	input_skip(input, h->nbytes);
	return STATUS_OK;
}

enum status header_decide(struct header *h, struct input *input, enum header_mode mode,
			  const struct selection *selections, size_t nselections,
			  struct fault *fault)
{
	h->present = is_header(h, mode, selections, nselections);
	if (name_columns(h) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (!h->present && h->nfields <= 1)
		return STATUS_OK; /* blank lines are records: begin with the first file */
	input_begin_with(input, h->file);
	return h->present ? skip_header(h, input, fault) : STATUS_OK;
}

void header_free(struct header *h)
{
	for (size_t i = 0; h->names && i < h->nfields; i++)
		free(h->names[i]);
	free(h->names);
	free(h->line);
	for (int i = 0; i < 2; i++) {
		for (size_t j = 0; j < h->record[i].nfields; j++)
			free(h->record[i].values[j].text);
		free(h->record[i].values);
	}
	memset(h, 0, sizeof *h);
}
