/* SPDX-License-Identifier: MIT
 *
 * header.c - see header.h. header_guess.c decides whether the first record is a header.
 */
#include "query/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "csv/word_layout.h"
#include "query/header_guess.h"
#include "query/remedy.h"
#include "query/value.h"

#define PATIENCE_NBYTES (1024 * 1024)

/* How far is looked for values below a first record that may be a header. */
#define LOOK_NRECORDS 100
#define LOOK_NBYTES ((size_t)1024 * 1024)

/* ---- reading ---- */

/* What the text so far holds of one record. */
struct first_text {
	int file;
	const char *data;
	size_t nbytes;
	bool at_end;
	bool has_byte; /* this file, or one before that was skipped, has one */
	struct record record;
	size_t begin; /* of the record in data */
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

/* Cuts the record at or after position `from`, passing over comments, and over blank lines unless
 * one counts as a record. A line whose words do not stand below the header's is one, without a field. */
static enum status cut(struct first_text *t, size_t from, bool blank_counts,
		       const struct csv_dialect *dialect)
{
	enum status status;

	record_free(&t->record);
	for (;; from += t->record.nbytes) {
		if (!blank_counts)
			from += blank_nbytes(t->data + from, t->nbytes - from);
		t->begin = from;
		status = record_split(t->data + from, t->nbytes - from, dialect, t->at_end,
				      &t->record);
		if (status != STATUS_OK || t->record.nfields || t->record.nbytes == 0 ||
		    t->record.stray_offset != SIZE_MAX ||
		    (blank_counts && !t->record.is_comment))
			return status;
	}
}

/* Drops the fields of a record whose end has not come: they may be cut short. */
static bool is_whole(struct first_text *t)
{
	if (t->record.nbytes == 0)
		record_free(&t->record);
	return t->record.nbytes != 0;
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
	fault_set(fault, status, 0, NULL);
	place_fault(input, t, t->begin + t->record.fields[0].begin, fault);
	return status;
}

/* Text behind a closing quote. */
static enum status stray(const struct input *input, const struct first_text *t,
			 const struct csv_dialect *dialect, struct fault *fault)
{
	size_t offset = t->record.stray_offset;

	record_fault_stray(t->data + t->begin, t->nbytes - t->begin, offset, dialect, fault);
	place_fault(input, t, t->begin + offset, fault);
	return fault->status;
}

static enum status too_long(const struct input *input, const struct first_text *t,
			    struct fault *fault)
{
	fault_set(fault, STATUS_LONG_RECORD, 0, NULL);
	place_fault(input, t, t->begin, fault);
	return STATUS_LONG_RECORD;
}

/* Reads file t->file on until its first record is whole, or it ends. A short text is cut anew with
 * every piece that comes, so that a slow pipe is not waited for needlessly; a long one only when it
 * has doubled, so that the work stays linear. */
static enum status read_file(struct first_text *t, struct input *input, const struct csv_dialect *dialect,
			     struct fault *fault)
{
	bool whole = false;
	enum status status = STATUS_OK;

	*t = (struct first_text){.file = t->file, .has_byte = t->has_byte};
	while (status == STATUS_OK && !whole && !t->at_end) {
		if (t->nbytes > PATIENCE_NBYTES)
			t->nbytes *= 2;
		status = input_peek(input, t->file, &t->data, &t->nbytes, &t->at_end, fault);
		if (status != STATUS_OK)
			return status;
		t->has_byte |= t->nbytes > 0;
		status = cut(t, 0, false, dialect);
		whole = status == STATUS_OK && is_whole(t);
		/* blank lines before it are kept as well */
		if (status == STATUS_OK &&
		    (whole ? t->begin + t->record.nbytes : t->nbytes) > RECORD_MAX_NBYTES)
			return too_long(input, t, fault);
	}
	if ((status == STATUS_OK || status == STATUS_OPEN_QUOTE) && t->record.nbytes &&
	    t->record.stray_offset != SIZE_MAX)
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
			      bool blank_counts, struct fault *fault)
{
	enum status status = read_file(t, input, dialect, fault);
	size_t nbytes = 0;

	while (status == STATUS_OK && t->record.nfields == 0 &&
	       (!has_lines(t, dialect, t->nbytes) || !blank_counts) && t->file + 1 < input_nfiles(input)) {
		nbytes += t->nbytes;
		if (nbytes > RECORD_MAX_NBYTES)
			return too_long(input, t, fault);
		t->file++;
		status = read_file(t, input, dialect, fault);
	}
	return status;
}

/* ---- values ---- */

static void free_values(struct first_record *r)
{
	for (size_t i = 0; i < r->nfields; i++)
		free(r->values[i].text);
	free(r->values);
	*r = (struct first_record){0, NULL};
}

static enum status copy_value(struct first_value *v, const char *field, size_t nbytes,
			      const struct plan *plan)
{
	struct scratch scratch = {NULL, 0};
	size_t nbytes_field = nbytes;
	const char *text = field_value(&plan->dialect, field, nbytes, &scratch, &nbytes);

	v->text = text ? strndup(text, nbytes) : NULL;
	if (v->text) {
		v->has_no_byte = nbytes_field == 0;
		v->has_quotes = nbytes_field > 2 && plan->dialect.quote && !plan->dialect.whitespace &&
				field[0] == plan->dialect.quote &&
				!memchr(text, plan->dialect.delimiter, nbytes);
		v->has_nul = memchr(text, '\0', nbytes) != NULL;
		v->is_missing = value_is_missing(plan, 0, text, nbytes);
		v->is_number = !v->is_missing && value_is_number(plan, text, nbytes);
	}
	free(scratch.data);
	return v->text ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status copy_values(struct first_record *r, const struct first_text *t,
			       const struct plan *plan)
{
	const struct record *cut = &t->record;
	const char *data = t->data + t->begin;
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

/* See struct header; second: the text's record is the one after the first, which the text has, too. A byte that means
 * something else in this dialect cannot be the delimiter. */
static void find_other_fields(struct header *h, const struct first_text *t, const struct csv_dialect *d, bool second)
{
	size_t nbytes = h->end - h->begin;
	const char *first = t->data + h->begin;
	struct line_text of_first, text;
	char found;

	if (h->nfields != 1 || t->record.nfields != 1)
		return;
	if (d->trim)
		first = decimal_trim(first, &nbytes);
	of_first = (struct line_text){first, nbytes};
	text = (struct line_text){t->data + t->begin + t->record.fields->begin,
				  t->record.fields->end - t->record.fields->begin};
	h->other = remedy_fields(of_first, second ? &text : NULL);
	found = h->other.delimiter;
	if (found && (found == d->quote || found == d->escape || found == d->comment))
		h->other.delimiter = '\0';
}

/* The length of the record, whose last field ends at `end`, with the blanks before its line end. */
static size_t end_with_blanks(const struct first_text *t, size_t end)
{
	const char *data = t->data + t->begin;

	while (end < t->record.nbytes && decimal_is_blank(data[end]))
		end++;
	return end;
}

/* Whether all values are numbers. A delimiter at the line's end makes no value. */
static bool is_all_numbers(const struct header *h)
{
	size_t n = h->nfields - (h->ends_empty && h->nfields > 1);

	for (size_t i = 0; i < n; i++)
		if (!h->record[0].values[i].is_number)
			return false;
	return true;
}

/* Fills h, which is all 0, with what was cut. */
static enum status fill_header(struct header *h, const struct input *input,
			       const struct first_text *t, const struct plan *plan)
{
	const struct record *first = &t->record;
	struct field_span last;

	h->file = t->file;
	h->has_byte = t->has_byte;
	if (copy_values(&h->record[0], t, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (first->nfields == 0)
		return STATUS_OK;
	last = first->fields[first->nfields - 1];
	h->nfields = first->nfields;
	h->begin = t->begin;
	h->end = t->begin + end_with_blanks(t, last.end);
	h->ends_empty = last.begin == last.end;
	h->is_numbers = is_all_numbers(h);
	h->nbytes = t->begin + first->nbytes;
	h->line_number = input_line(input, t->file) + count_lines(t->data, t->begin);
	find_other_fields(h, t, &plan->dialect, false);
	return STATUS_OK;
}

/* Makes h of what reading with this status has cut, and frees that. */
static enum status make_header(struct header *h, const struct input *input, struct first_text *t,
			       const struct plan *plan, enum status status, struct fault *fault)
{
	memset(h, 0, sizeof *h);
	if (status == STATUS_OK && fill_header(h, input, t, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	record_free(&t->record);
	return status;
}

enum status header_read(struct header *h, struct input *input, const struct plan *plan,
			struct fault *fault)
{
	struct first_text t = {.file = 0};
	enum status status = read_first(&t, input, &plan->dialect, false, fault);

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
	enum status status = read_file(&t, input, &plan->dialect, fault);

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
	if (dialect.whitespace) {
		dialect.nfields = h->nfields;
		dialect.layout = h->layout;
	}
	status = read_first(&t, input, &dialect, blank_counts, fault);
	free_values(&h->record[1]);
	if (status == STATUS_OK && !(blank_counts && has_lines(&t, &dialect, t.begin)) &&
	    copy_values(&h->record[1], &t, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	h->has_second = t.record.nfields > 0 || (blank_counts && has_lines(&t, &dialect, t.nbytes));
	record_free(&t.record);
	if (status == STATUS_OK)
		input_begin_with(input, t.file);
	return status;
}

/* ---- looking below the first record ---- */

/* The records below the first, in its file. */
struct look {
	const struct header *h;
	struct input *input;
	const struct plan *plan;
	struct csv_dialect dialect;
	struct first_text t;
	size_t end;        /* of the record before, in the text */
	unsigned nrecords; /* so far */
	bool blank_counts; /* as a record */
};

static void look_begin(struct look *l, const struct header *h, struct input *input, const struct plan *plan)
{
	*l = (struct look){.h = h, .input = input, .plan = plan, .dialect = plan->dialect,
			   .t = {.file = h->file}, .end = h->nbytes, .blank_counts = h->nfields == 1};
	if (l->dialect.whitespace) {
		l->dialect.nfields = h->nfields;
		l->dialect.layout = h->layout;
	}
}

/* Cuts the next record; *found: there is one, and it is whole and without a fault, which is found
 * later. The record may be a blank line. Reads no more than must be. */
static enum status look_cut(struct look *l, bool *found, struct fault *fault)
{
	struct first_text *t = &l->t;
	const size_t limit = l->h->nbytes + LOOK_NBYTES;
	enum status status = STATUS_OK;
	bool whole = false;

	*found = false;
	if (l->nrecords == LOOK_NRECORDS)
		return STATUS_OK;
	for (;;) {
		if (t->data) {
			status = cut(t, l->end, l->blank_counts, &l->dialect);
			whole = status == STATUS_OK && is_whole(t);
		}
		if (whole || status != STATUS_OK || t->at_end || t->nbytes > limit)
			break;
		status = input_peek(l->input, t->file, &t->data, &t->nbytes, &t->at_end, fault);
		if (status != STATUS_OK)
			return status;
	}
	if (status == STATUS_NO_MEMORY)
		return fault_set(fault, status, 0, NULL);
	l->end = t->begin + t->record.nbytes;
	l->nrecords++;
	*found = whole && t->record.stray_offset == SIZE_MAX && l->end <= limit;
	return STATUS_OK;
}

/* Like look_cut, and copies the values. The first record that is found becomes h->record[1]. */
static enum status look_next(struct look *l, struct header *h, struct first_record *r, bool *found,
			     struct fault *fault)
{
	enum status status = look_cut(l, found, fault);

	free_values(r);
	if (status == STATUS_OK && *found && copy_values(r, &l->t, l->plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK && *found && l->nrecords == 1)
		find_other_fields(h, &l->t, &l->plan->dialect, true);
	return status;
}

static void look_end(struct look *l)
{
	record_free(&l->t.record);
}

/* Whether the columns' values so far decide: a number below a text does, and so does a value below
 * each text. Drops the texts that have a value below. */
static bool look_decides(struct header *h, struct header_texts *texts, const struct first_record *r)
{
	for (size_t i = 0; i < h->nfields && i < r->nfields; i++) {
		const struct first_value *v = &r->values[i];
		if (!texts->is_text[i] || v->is_missing)
			continue;
		if (v->is_number) {
			h->above_number = &h->record[0].values[i];
			return true;
		}
		texts->is_text[i] = false;
		texts->n--;
	}
	return texts->n == 0;
}

enum status header_find_number(struct header *h, struct input *input, const struct plan *plan,
			       struct header_texts *texts, struct fault *fault)
{
	struct first_record below = {0, NULL};
	struct look look;
	bool found = texts->n > 0, decided = false;
	enum status status = STATUS_OK;

	look_begin(&look, h, input, plan);
	while (status == STATUS_OK && found && !decided) {
		status = look_next(&look, h, &below, &found, fault);
		if (status == STATUS_OK && found)
			decided = look_decides(h, texts, &below);
	}
	free_values(&below);
	look_end(&look);
	return status;
}

enum status header_read_below(struct header *h, struct input *input, const struct plan *plan,
			      struct fault *fault)
{
	struct look look;
	enum status status;

	if (h->nfields == 0)
		return STATUS_OK;
	look_begin(&look, h, input, plan);
	status = look_next(&look, h, &h->record[1], &h->has_second, fault);
	look_end(&look);
	return status;
}

/* Notes which values of the record are units. Returns whether it is a line of units. */
static bool note_units(const struct first_record *r, bool *is_unit)
{
	struct units units = {0};

	for (size_t i = 0; i < r->nfields; i++) {
		size_t nbytes = strlen(r->values[i].text);
		const char *text = decimal_trim(r->values[i].text, &nbytes);
		is_unit[i] = units_add(&units, text, nbytes, r->values[i].is_number);
	}
	return units_are(&units);
}

enum status header_find_units(struct header *h, struct input *input, const struct plan *plan, struct fault *fault)
{
	struct first_record r = {0, NULL};
	struct look look;
	bool found = false, *is_unit = NULL;
	size_t n = 0;
	enum status status;

	if (h->nfields == 0)
		return STATUS_OK;
	look_begin(&look, h, input, plan);
	status = look_cut(&look, &found, fault);
	if (status == STATUS_OK && found && look.t.begin == h->nbytes) {
		status = copy_values(&r, &look.t, plan);
		n = r.nfields;
		is_unit = calloc(n + 1, sizeof *is_unit);
		if (status != STATUS_OK || !is_unit)
			status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		else if (note_units(&r, is_unit))
			status = look_next(&look, h, &r, &found, fault);
		else
			found = false;
		for (size_t i = 0; status == STATUS_OK && found && i < n && i < r.nfields; i++)
			h->is_above_units |= is_unit[i] && r.values[i].is_number;
	}
	free(is_unit);
	free_values(&r);
	look_end(&look);
	return status;
}

/* ---- words below a header ---- */

/* The lines of a table of words, from its header on. */
struct word_table {
	size_t n; /* the header, and the records looked at */
	size_t begins[1 + LOOK_NRECORDS], nbytes[1 + LOOK_NRECORDS];
	struct word_line lines[1 + LOOK_NRECORDS]; /* once all have been read */
};

/* Adds a line of the text, without its line end. */
static void add_line(struct word_table *t, const char *data, size_t begin, size_t nbytes)
{
	nbytes -= nbytes > 0 && data[begin + nbytes - 1] == '\n';
	nbytes -= nbytes > 0 && data[begin + nbytes - 1] == '\r';
	t->begins[t->n] = begin;
	t->nbytes[t->n++] = nbytes;
}

/* Looks at nrecords more records, but for what the file lacks. */
static enum status look_at_lines(struct look *look, struct word_table *t, size_t nrecords, struct fault *fault)
{
	bool found = true;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < nrecords && status == STATUS_OK && found; i++) {
		status = look_cut(look, &found, fault);
		found = found && look->t.record.nfields > 0;
		if (status == STATUS_OK && found)
			add_line(t, look->t.data, look->t.begin, look->t.record.nbytes);
	}
	for (size_t i = 0; i < t->n; i++)
		t->lines[i] = (struct word_line){look->t.data + t->begins[i], t->nbytes[i]};
	return status;
}

/* Whether a record of so many words as a header, or more, can be read by words. */
static bool reads_words(const struct word_layout *l, const struct word_table *t, size_t nwords)
{
	if (nwords == l->nnames)
		return !word_layout_is_shifted(l, t->lines[1]);
	return nwords > l->nnames && l->takes_rest && word_layout_is_pushed(l, t->lines[1]);
}

/* Finds the layout of a table whose header has h->nfields words, and whose first record nwords. Waits for more records only
 * if the first alone does not tell. */
static enum status find_layout(struct header *h, struct look *look, struct word_table *t, size_t nwords,
			       struct fault *fault)
{
	struct word_layout *l = NULL, *words = NULL;
	bool agrees = false, is_wide;
	enum status status = STATUS_OK;

	if (!word_layout_find(t->lines, 2, &h->layout) ||
	    (h->layout && !word_layout_agrees(h->layout, t->lines + 1, 1, &agrees)) ||
	    !word_layout_of_words(t->lines[0], &words))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (agrees && h->layout->nnames == h->nfields) {
		h->layout->by_words = true;
		free(words);
		return STATUS_OK;
	}
	/* A value wider than its column explains the record, rather than a value or a name of several words. */
	is_wide = nwords == h->nfields && word_layout_is_pushed(words, t->lines[1]);
	if (!is_wide && (h->layout || nwords != h->nfields)) {
		status = look_at_lines(look, t, LOOK_NRECORDS - 1, fault);
		if (status == STATUS_OK && (!word_layout_find(t->lines, t->n, &l) ||
					    (l && !word_layout_agrees(l, t->lines + 1, t->n - 1, &l->by_words))))
			status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		if (l || word_layout_suffices(words, t->lines + 1, t->n - 1)) {
			free(h->layout);
			h->layout = l;
		} /* else the first record that does not stand below the header is the error */
		if (h->layout || status != STATUS_OK) {
			free(words);
			return status;
		}
	}
	free(h->layout);
	h->layout = h->nfields > 1 && reads_words(words, t, nwords) ? words : NULL; /* a lone column takes the whole line */
	if (!h->layout)
		free(words);
	return STATUS_OK;
}

/* Cuts the first record again, by the layout if there is one. */
static enum status cut_again(struct header *h, const char *data, const struct plan *plan)
{
	struct first_text t = {.data = data, .begin = h->begin};
	struct csv_dialect dialect = plan->dialect;
	enum status status;

	dialect.layout = h->layout;
	dialect.nfields = h->layout ? h->layout->nnames : 0;
	status = record_split(data + h->begin, h->nbytes - h->begin, &dialect, true, &t.record);
	free_values(&h->record[0]);
	if (status == STATUS_OK)
		status = copy_values(&h->record[0], &t, plan);
	h->nfields = h->record[0].nfields;
	record_free(&t.record);
	return status;
}

enum status header_line_up(struct header *h, struct input *input, const struct plan *plan, struct fault *fault)
{
	struct word_table *t = calloc(1, sizeof *t);
	struct look look;
	size_t nwords;
	enum status status;

	if (!t)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	look_begin(&look, h, input, plan);
	look.dialect.nfields = 0;
	look.blank_counts = false; /* a header of one word may be below a column without a name, as well */
	t->n = 1;
	t->begins[0] = h->begin;
	t->nbytes[0] = h->end - h->begin;
	status = look_at_lines(&look, t, 1, fault);
	nwords = look.t.record.nfields;
	if (status == STATUS_OK && t->n == 2) {
		status = find_layout(h, &look, t, nwords, fault);
		h->nwords_below = h->layout || h->nfields == 1 ? 0 : nwords;
	}
	if (status == STATUS_OK && h->layout && cut_again(h, look.t.data, plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	look_end(&look);
	free(t);
	return status;
}

enum status header_check_words(const struct header *h, const struct input *input, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES] = "the header begins with blanks, and the next record's words do not stand below its";

	if (h->nwords_below == 0)
		return STATUS_OK;
	if (h->nwords_below != h->nfields)
		snprintf(words, sizeof words, "the header has %zu words where the next record has %zu, which do not stand below them",
			 h->nfields, h->nwords_below);
	fault_set(fault, STATUS_MISALIGNED, 0, words);
	snprintf(fault->remedy, sizeof fault->remedy,
		 "-N if this line is data, --skip-lines %" PRIu64 " if it is a title, or both, and columns by number",
		 h->line_number);
	fault->file = input_name(input, h->file);
	fault->line = h->line_number;
	return STATUS_MISALIGNED;
}

/* ---- names that are not there ---- */

char header_comment_sign(const struct header *h, const struct csv_dialect *dialect)
{
	const struct first_value *v = h->record[0].values;

	if (h->nfields == 0 || dialect->comment || (*v->text != '#' && *v->text != '%') || v->has_quotes ||
	    strchr(v->text, dialect->delimiter)) /* it is in quotes, too */
		return '\0';
	return v->text[1] == ' ' || v->text[1] == '!' || v->text[1] == *v->text || (h->nfields == 1 && v->text[1])
		       ? *v->text : '\0';
}

enum status header_check_row_names(struct header *h, struct input *input, const struct plan *plan,
				   struct fault *fault)
{
	struct look look;
	bool found = true;
	size_t nlonger = 0;
	enum status status = STATUS_OK;

	/* for the summary, a lone field is rather a title, and it says that records are ragged */
	if (plan->dialect.whitespace || h->nfields == 0 ||
	    (plan->ragged.policy == RAGGED_COUNT && h->nfields == 1) ||
	    header_comment_sign(h, &plan->dialect))
		return STATUS_OK;
	look_begin(&look, h, input, plan);
	while (status == STATUS_OK && found) {
		const struct record *r = &look.t.record;
		status = look_cut(&look, &found, fault);
		if (status != STATUS_OK || !found)
			break;
		if (r->nfields != h->nfields + 1 ||
		    r->fields[h->nfields].begin == r->fields[h->nfields].end) {
			nlonger = 0;
			break;
		}
		nlonger++;
	}
	look_end(&look);
	h->lacks_name = nlonger > 0;
	if (status != STATUS_OK || !h->lacks_name || plan->ragged.policy == RAGGED_ERROR)
		return status;
	fault_set(fault, STATUS_ROW_NAMES, 0, NULL);
	remedy_row_names(&plan->dialect, h->line_number, "to name that column", fault);
	fault->file = input_name(input, h->file);
	fault->line = h->line_number;
	return STATUS_ROW_NAMES;
}

/* ---- deciding ---- */

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

/* Forgets the layout of what is no header. */
static enum status drop_layout(struct header *h, struct input *input, const struct plan *plan, struct fault *fault)
{
	size_t nbytes = h->nbytes - 1; /* so that all of the record is there */
	const char *data;
	bool at_end;

	h->nwords_below = 0;
	if (!h->layout)
		return STATUS_OK;
	free(h->layout);
	h->layout = NULL;
	/* what was looked at last may be another file */
	if (input_peek(input, h->file, &data, &nbytes, &at_end, fault) != STATUS_OK)
		return fault->status;
	return cut_again(h, data, plan) == STATUS_OK ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

enum status header_decide(struct header *h, struct input *input, const struct plan *plan,
			  const struct header_request *request, struct fault *fault)
{
	enum status status = header_guess(h, input, plan, request, fault);

	if (status == STATUS_OK && !h->present)
		status = drop_layout(h, input, plan, fault);
	if (name_columns(h) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK && h->present)
		status = header_check_words(h, input, fault);
	if (status == STATUS_OK && h->present && !(request->prints && plan->ragged.policy == RAGGED_ERROR))
		status = header_check_row_names(h, input, plan, fault);
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
	free(h->layout);
	free_values(&h->record[0]);
	free_values(&h->record[1]);
	memset(h, 0, sizeof *h);
}

char *header_column_name(const struct header *h, size_t field)
{
	char *name;

	if (field < h->nnames && h->names[field])
		return strdup(h->names[field]);
	return asprintf(&name, "col%zu", field + 1) < 0 ? NULL : name;
}
