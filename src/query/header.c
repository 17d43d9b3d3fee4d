/* SPDX-License-Identifier: MIT
 *
 * header.c - the first records of the input, whether the first is a header, and the headers of later files: see header.h.
 *
 * Where the first record may be read as names and as data, and the answers differ, nothing is
 * guessed: that is an error, and --header decides. The rule:
 *   - --header says whether the first record is a header;
 *   - it is one if every column that is asked for by name is found in it;
 *   - it is data if all its values are numbers, and none is in quotes above one without;
 *   - it is a header if a text in it stands above a number: in any column, the first value below
 *     that is not missing;
 *   - all else is doubtful.
 *
 * The first record of a later file is a header if --header says so, or if it shows names of the first file: a text at the
 * place that it has there, two numbers at theirs, or a text elsewhere, unless there are values beside it that are no names and
 * half of all are such. A number is no name if the first file has a text there, or a number that is written with more or
 * fewer digits: 2022 may be one below 2021. A record with such a value, and without a number that is its
 * column's name, is data if it is no header: the file has none. All else could be either, which is an error.
 */
#include "query/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv/record.h"
#include "csv/word_layout.h"
#include "io/source.h"
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
	fault->line = input_source(input, t->file)->line + count_lines(t->data, offset);
}

/* Sets fault to a status of the record, at its byte `offset`. */
static enum status fail_record(const struct input *input, const struct first_text *t, enum status status, size_t offset,
			       struct fault *fault)
{
	fault_set(fault, status, 0, NULL);
	place_fault(input, t, t->begin + offset, fault);
	return status;
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
		TRY(input_peek(input, t->file, &t->data, &t->nbytes, &t->at_end, fault));
		t->has_byte |= t->nbytes > 0;
		status = cut(t, 0, false, dialect);
		whole = status == STATUS_OK && is_whole(t);
		/* blank lines before it are kept as well */
		if (status == STATUS_OK &&
		    (whole ? t->begin + t->record.nbytes : t->nbytes) > RECORD_MAX_NBYTES)
			return fail_record(input, t, STATUS_LONG_RECORD, 0, fault);
	}
	if ((status == STATUS_OK || status == STATUS_OPEN_QUOTE) && t->record.nbytes && t->record.stray_offset != SIZE_MAX) {
		record_fault_stray(t->data + t->begin, t->nbytes - t->begin, t->record.stray_offset, dialect, fault);
		place_fault(input, t, t->begin + t->record.stray_offset, fault);
		return fault->status;
	}
	if (status == STATUS_OPEN_QUOTE || status == STATUS_OPEN_ESCAPE)
		return fail_record(input, t, status, t->record.fields[0].begin, fault);
	return status;
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
			return fail_record(input, t, STATUS_LONG_RECORD, 0, fault);
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

enum status first_record_index(struct name_index *names, const struct first_record *r)
{
	return name_index_make(names, r->nfields ? &r->values->text : NULL, sizeof *r->values, r->nfields);
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

static enum status copy_values(struct first_record *r, const struct first_text *t, const struct plan *plan)
{
	const struct record *cut = &t->record;
	const char *data = t->data + t->begin;
	size_t counted = 0;
	uint32_t nlines = 0;

	r->values = calloc(cut->nfields + 1, sizeof *r->values);
	for (; r->values && r->nfields < cut->nfields; r->nfields++) {
		struct field_span f = cut->fields[r->nfields];
		struct first_value *v = &r->values[r->nfields];
		if (copy_value(v, data + f.begin, f.end - f.begin, plan) != STATUS_OK)
			break;
		nlines += (uint32_t)count_lines(data + counted, f.begin - counted);
		counted = f.begin;
		v->nlines = nlines;
	}
	return r->values && r->nfields == cut->nfields ? STATUS_OK : STATUS_NO_MEMORY;
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

/* Fills h, which is all 0, with what was cut. */
static enum status fill_header(struct header *h, const struct input *input, const struct first_text *t, const struct plan *plan)
{
	const struct record *first = &t->record;
	struct field_span last;

	h->file = t->file;
	h->has_byte = t->has_byte;
	TRY(copy_values(&h->record[0], t, plan));
	if (first->nfields == 0)
		return STATUS_OK;
	last = first->fields[first->nfields - 1];
	h->nfields = first->nfields;
	h->begin = t->begin;
	h->end = t->begin + last.end; /* with the blanks before its line end */
	while (h->end < t->begin + first->nbytes && decimal_is_blank(t->data[h->end]))
		h->end++;
	h->ends_empty = last.begin == last.end;
	h->is_numbers = true;
	for (size_t i = 0; i < h->nfields - (h->ends_empty && h->nfields > 1); i++) /* a delimiter at the line's end makes no value */
		h->is_numbers &= h->record[0].values[i].is_number;
	h->nbytes = t->begin + first->nbytes;
	h->line_number = input_source(input, t->file)->line + count_lines(t->data, t->begin);
	find_other_fields(h, t, &plan->dialect, false);
	return STATUS_OK;
}

/* Makes h of what reading with this status has cut, and frees that. */
static enum status make_header(struct header *h, const struct input *input, struct first_text *t, const struct plan *plan,
			       enum status status)
{
	memset(h, 0, sizeof *h);
	THEN(status, fill_header(h, input, t, plan));
	record_free(&t->record);
	return status;
}

enum status header_read(struct header *h, struct input *input, const struct plan *plan,
			struct fault *fault)
{
	struct first_text t = {.file = 0};
	enum status status = read_first(&t, input, &plan->dialect, false, fault);

	return make_header(h, input, &t, plan, status);
}

/* Copies the first record, which data has. */
static enum status keep_line(struct header *h, const char *data)
{
	h->line_nbytes = h->nbytes - h->begin;
	h->line = malloc(h->line_nbytes + 1);
	NEED(h->line);
	memcpy(h->line, data + h->begin, h->line_nbytes);
	return STATUS_OK;
}

/* Of the records below the header. */
static struct csv_dialect dialect_below(const struct header *h, const struct plan *plan)
{
	struct csv_dialect dialect = plan->dialect;

	if (dialect.whitespace) {
		dialect.nfields = h->nfields;
		dialect.layout = h->layout;
	}
	return dialect;
}

enum status header_read_second(struct header *h, struct input *input, const struct plan *plan,
			       struct fault *fault)
{
	bool blank_counts = h->nfields == 1;
	struct csv_dialect dialect = dialect_below(h, plan);
	struct first_text t = {.file = h->file};
	enum status status;

	if (!h->present || h->has_second)
		return STATUS_OK;
	status = read_first(&t, input, &dialect, blank_counts, fault);
	free_values(&h->record[1]);
	if (status == STATUS_OK && !(blank_counts && has_lines(&t, &dialect, t.begin)))
		status = copy_values(&h->record[1], &t, plan);
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
	*l = (struct look){.h = h, .input = input, .plan = plan, .dialect = dialect_below(h, plan),
			   .t = {.file = h->file}, .end = h->nbytes, .blank_counts = h->nfields == 1};
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
		TRY(input_peek(l->input, t->file, &t->data, &t->nbytes, &t->at_end, fault));
	}
	if (status == STATUS_NO_MEMORY)
		return status;
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
	if (status != STATUS_OK || !*found)
		return status;
	TRY(copy_values(r, &l->t, l->plan));
	if (l->nrecords == 1)
		find_other_fields(h, &l->t, &l->plan->dialect, true);
	return STATUS_OK;
}

static void look_end(struct look *l)
{
	record_free(&l->t.record);
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
	enum status status;
	size_t n;

	if (h->nfields == 0)
		return STATUS_OK;
	look_begin(&look, h, input, plan);
	status = look_cut(&look, &found, fault);
	if (status == STATUS_OK && found && look.t.begin == h->nbytes)
		status = copy_values(&r, &look.t, plan);
	n = r.nfields;
	if (status == STATUS_OK && n > 0)
		status = (is_unit = calloc(n, sizeof *is_unit)) ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK && n > 0 && note_units(&r, is_unit)) {
		status = look_next(&look, h, &r, &found, fault);
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

/* Looks at nrecords more records, but for what the file lacks. */
static enum status look_at_lines(struct look *look, struct word_table *t, size_t nrecords, struct fault *fault)
{
	bool found = true;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < nrecords && status == STATUS_OK && found; i++) {
		status = look_cut(look, &found, fault);
		found = found && look->t.record.nfields > 0;
		if (status == STATUS_OK && found) {
			const char *data = look->t.data + look->t.begin;
			size_t nbytes = look->t.record.nbytes;
			nbytes -= nbytes > 0 && data[nbytes - 1] == '\n';
			nbytes -= nbytes > 0 && data[nbytes - 1] == '\r';
			t->begins[t->n] = look->t.begin;
			t->nbytes[t->n++] = nbytes;
		}
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

	NEED(word_layout_find(t->lines, 2, &h->layout));
	NEED(!h->layout || word_layout_agrees(h->layout, t->lines + 1, 1, &agrees));
	NEED(word_layout_of_words(t->lines[0], &words));
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
			status = STATUS_NO_MEMORY;
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
	status = status == STATUS_OK ? copy_values(&h->record[0], &t, plan) : STATUS_NO_MEMORY;
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

	NEED(t);
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
	if (status == STATUS_OK && h->layout)
		status = cut_again(h, look.t.data, plan);
	look_end(&look);
	free(t);
	return status;
}

/* Names the record in a fault. Returns its status. */
static enum status at_header(const struct header *h, const struct input *input, struct fault *fault)
{
	fault->file = input_name(input, h->file);
	fault->line = h->line_number;
	return fault->status;
}

/* Fails if the header, which is present, has another number of words than the record below it, or begins with blanks, and that
 * record does not stand below it. Errors: STATUS_MISALIGNED. */
static enum status check_words(const struct header *h, const struct input *input, struct fault *fault)
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
	return at_header(h, input, fault);
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

/* Sets h->lacks_name, of a header that is present, and fails if it is so and --ragged takes longer records: R and pandas
 * leave out the name of the first column. Looks no further than the first record that has not one field more.
 * Errors: input's, STATUS_NO_MEMORY, STATUS_ROW_NAMES. */
static enum status check_row_names(struct header *h, struct input *input, const struct plan *plan,
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
		bool is_longer;
		status = look_cut(&look, &found, fault);
		if (status != STATUS_OK || !found)
			break;
		is_longer = r->nfields == h->nfields + 1 && r->fields[h->nfields].begin < r->fields[h->nfields].end;
		nlonger = is_longer ? nlonger + 1 : 0;
		found = is_longer;
	}
	look_end(&look);
	h->lacks_name = nlonger > 0;
	if (status != STATUS_OK || !h->lacks_name || plan->ragged.policy == RAGGED_ERROR)
		return status;
	fault_set(fault, STATUS_ROW_NAMES, 0, NULL);
	remedy_row_names(&plan->dialect, h->line_number, "to name that column", fault);
	return at_header(h, input, fault);
}

/* ---- is it a header? ---- */

/* inf, -Infinity */
static bool is_infinity(const char *text, size_t nbytes)
{
	size_t nsigns = nbytes && (*text == '+' || *text == '-');

	text += nsigns;
	nbytes -= nsigns;
	return (nbytes == 3 && !strncasecmp(text, "inf", 3)) ||
	       (nbytes == 8 && !strncasecmp(text, "infinity", 8));
}

/* Whether a letter comes before any digit: not in 1O, <5, -, 2024-01-02. Signs beyond ASCII, such as
 * those of currencies and the minus of U+2212, are no letters. */
static bool begins_with_letter(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes && !decimal_is_digit(text[i]); i++) {
		unsigned char c = (unsigned char)text[i];
		if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			return true;
		if (c == 0xC2) /* U+0080 to U+00BF */
			i++;
		else if (c == 0xE2) /* U+2000 to U+2FFF */
			i += 2;
		else if (c >= 0x80)
			return true;
	}
	return false;
}

/* Whether a value is a text, and no number in any notation. Of the spellings of a missing value, NaN and null may be names,
 * but not N/A and \N, nor any beside a number. */
static bool is_text(const struct first_value *v, bool beside_number)
{
	size_t nbytes = strlen(v->text), nletters = 0;
	const char *text = decimal_trim(v->text, &nbytes);

	while (nletters < nbytes && (text[nletters] | 0x20) >= 'a' && (text[nletters] | 0x20) <= 'z')
		nletters++;
	return !v->is_missing && !v->is_number && !v->has_nul && begins_with_letter(text, nbytes) &&
	       !is_infinity(text, nbytes) && !notation_resembles_number(text, nbytes) &&
	       (!remedy_is_no_value(text, nbytes) || (nletters == nbytes && !beside_number));
}

/* Sets *names to whether a selector names a column: one of the first record, or one that is nowhere. What could be a position as
 * well, as col3 and 2-4, names one only if the first record has it, and not as a number. Errors: STATUS_NO_MEMORY. */
static enum status names_column(const struct header *h, const struct header_request *request, bool *names)
{
	struct name_index unsure;
	struct field_range range;
	size_t n;

	TRY(name_index_init(&unsure, request->nselectors));
	*names = false;
	for (size_t i = 0; i < request->nselectors && !*names; i++) {
		const struct selector *s = request->selectors[i];
		if (s->computed || selector_is_position(s))
			continue;
		*names = !selector_by_position(s, 0, &range);
		if (!*names && !range.star)
			name_index_add(&unsure, s->text, 0);
	}
	name_index_sort(&unsure);
	for (size_t i = 0; unsure.nentries > 0 && i < h->nfields && !*names; i++)
		*names = !h->record[0].values[i].is_number && name_index_find(&unsure, h->record[0].values[i].text, &n);
	name_index_free(&unsure);
	return STATUS_OK;
}

/* Whether numbers in quotes stand above numbers without, where all values of the first record are numbers: R
 * writes names so. */
static enum status look_for_quotes(struct header *h, struct input *input, const struct plan *plan,
				   bool *found, struct fault *fault)
{
	const struct first_record *first = &h->record[0], *second = &h->record[1];
	enum status status = STATUS_OK;
	bool any = false;

	for (size_t i = 0; i < first->nfields; i++)
		any |= first->values[i].has_quotes;
	if (any && !second->nfields)
		status = header_read_below(h, input, plan, fault);
	*found = false;
	for (size_t i = 0; any && i < first->nfields && i < second->nfields; i++)
		*found |= first->values[i].has_quotes && second->values[i].is_number &&
			  !second->values[i].has_quotes;
	return status;
}

/* Looks in the records below the first, one after the other, whether the first value that is not missing is a
 * number below any of the first record's texts, and sets h->above_number. Ends as soon as that is known, after 100 records, and at
 * one that does not end within a mebibyte after the first: it does not wait for more. */
static enum status look_below(struct header *h, struct input *input, const struct plan *plan,
			      struct fault *fault)
{
	const struct first_value *values = h->record[0].values;
	struct first_record below = {0, NULL};
	bool *is_open = calloc(h->nfields, sizeof *is_open), has_number = false, found = true; /* a text without a value below so far */
	size_t nopen = 0;
	struct look look;
	enum status status = STATUS_OK;

	NEED(is_open);
	for (size_t i = 0; i < h->nfields; i++)
		has_number |= values[i].is_number;
	for (size_t i = 0; i < h->nfields; i++)
		nopen += is_open[i] = is_text(&values[i], has_number);
	look_begin(&look, h, input, plan);
	while (status == STATUS_OK && found && nopen > 0 && !h->above_number) {
		status = look_next(&look, h, &below, &found, fault);
		for (size_t i = 0; found && i < h->nfields && i < below.nfields && !h->above_number; i++) {
			if (!is_open[i] || below.values[i].is_missing)
				continue;
			if (below.values[i].is_number)
				h->above_number = &values[i];
			is_open[i] = false;
			nopen--;
		}
	}
	free_values(&below);
	look_end(&look);
	free(is_open);
	return status;
}

/* Sets h->present, and h->reason. Arguments and errors: header_decide's. */
static enum status guess(struct header *h, struct input *input, const struct plan *plan,
			 const struct header_request *request, struct fault *fault)
{
	enum status status = STATUS_OK;
	size_t nbytes = 0;
	const char *data;
	bool names, at_end;

	h->present = false;
	h->reason = HEADER_AS_SAID;
	if (h->nfields == 0 || request->mode == HEADER_NO)
		return STATUS_OK;
	h->present = true;
	if (request->mode == HEADER_YES)
		return STATUS_OK;
	h->reason = HEADER_IS_NAMED;
	TRY(names_column(h, request, &names));
	if (names)
		return STATUS_OK;
	if (h->is_numbers) {
		status = look_for_quotes(h, input, plan, &h->present, fault);
		h->reason = HEADER_ALL_NUMBERS;
		if (status != STATUS_OK || !h->present)
			return status;
	} else {
		status = look_below(h, input, plan, fault);
	}
	h->reason = h->above_number ? HEADER_ABOVE_NUMBER : HEADER_DOUBTFUL;
	if (status != STATUS_OK || h->above_number || request->summary)
		return status;
	h->present = false;
	TRY(input_peek(input, h->file, &data, &nbytes, &at_end, fault));
	fault_set_value(fault, STATUS_DOUBTFUL_HEADER, data + h->begin, h->end - h->begin);
	return at_header(h, input, fault);
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

bool header_names_column(const struct header *h, const char *text, size_t nbytes)
{
	for (size_t i = 0; i < h->nnames; i++)
		if (h->names[i] && strlen(h->names[i]) == nbytes && !memcmp(h->names[i], text, nbytes))
			return true;
	return false;
}

enum status header_add_name(struct header *h, const struct selector *s)
{
	struct field_range ignored;

	if (selector_by_position(s, 0, &ignored) || header_names_column(h, s->text, strlen(s->text)))
		return STATUS_OK;
	h->names[h->nnames] = strdup(s->text);
	return h->names[h->nnames++] ? STATUS_OK : STATUS_NO_MEMORY;
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
	TRY(input_peek(input, h->file, &data, &nbytes, &at_end, fault));
	return cut_again(h, data, plan);
}

enum status header_decide(struct header *h, struct input *input, const struct plan *plan,
			  const struct header_request *request, struct fault *fault)
{
	enum status status = guess(h, input, plan, request, fault);
	size_t nbytes;

	if (status == STATUS_OK && !h->present)
		status = drop_layout(h, input, plan, fault);
	TRY(name_columns(h));
	TRY(status);
	if (h->present) {
		TRY(check_words(h, input, fault));
		if (!(request->prints && plan->ragged.policy == RAGGED_ERROR))
			TRY(check_row_names(h, input, plan, fault));
	}
	if (!h->present && h->nfields <= 1)
		return STATUS_OK; /* blank lines are records: begin with the first file */
	input_begin_with(input, h->file);
	if (h->present) {
		TRY(keep_line(h, source_peeked(input_next(input), 0, &nbytes)));
		source_skip(input_next(input), h->nbytes);
	}
	return STATUS_OK;
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

/* ---- headers of later files ---- */

/* Makes an index of the header's names, empty ones too. Errors: STATUS_NO_MEMORY. */
static enum status index_names(struct name_index *names, const struct header *h)
{
	TRY(name_index_init(names, h->nnames));
	for (size_t i = 0; i < h->nnames; i++)
		name_index_add(names, h->names[i] ? h->names[i] : "", i);
	name_index_sort(names);
	return STATUS_OK;
}

/* Finds the columns of all files that the fields of a record of names are: columns[i], of field i, is the k-th column of its name if
 * the field is the record's k-th of that name, or h->nnames if there are not so many. Errors: STATUS_NO_MEMORY. */
static enum status find_united(const struct header *h, const struct first_record *r, uint32_t *columns)
{
	struct name_index all = {0}, own = {0};
	enum status status = index_names(&all, h);
	size_t n, k = 0;

	THEN(status, first_record_index(&own, r));
	for (const struct name_entry *e = own.entries; status == STATUS_OK && e < own.entries + own.nentries; e++) {
		const struct name_entry *there = name_index_find(&all, e->name, &n);
		k = e > own.entries && !strcmp(e[-1].name, e->name) ? k + 1 : 0;
		columns[e->field] = k < n ? there[k].field : (uint32_t)h->nnames;
	}
	name_index_free(&all);
	name_index_free(&own);
	return status;
}

/* The number of a record's names: a delimiter at the line's end makes none. */
static size_t count_names(const struct first_record *r)
{
	return r->nfields > 1 && r->values[r->nfields - 1].has_no_byte ? r->nfields - 1 : r->nfields;
}

enum status header_unite(struct header *h, const struct first_record *r)
{
	const size_t nnames = h->nnames, n = count_names(r);
	uint32_t *columns = malloc((r->nfields + 1) * sizeof *columns);
	char **grown = realloc(h->names, (nnames + n + 1) * sizeof *grown);
	enum status status = columns && grown ? STATUS_OK : STATUS_NO_MEMORY;

	h->names = grown ? grown : h->names;
	THEN(status, find_united(h, r, columns));
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		if (columns[i] < nnames)
			continue;
		h->names[h->nnames] = strdup(r->values[i].text);
		status = h->names[h->nnames] ? STATUS_OK : STATUS_NO_MEMORY;
		h->nnames += status == STATUS_OK;
	}
	free(columns);
	return status;
}

static bool is_same(const struct first_record *a, const struct first_record *b)
{
	bool same = a->nfields == b->nfields;

	for (size_t i = 0; same && i < a->nfields; i++)
		same = !strcmp(a->values[i].text, b->values[i].text);
	return same;
}

/* Whether two texts are numbers of as many digits, and nothing else. */
static bool is_alike(const char *a, const char *b)
{
	size_t nbytes = strlen(a);

	return nbytes > 0 && nbytes == strlen(b) && strspn(a, "0123456789") == nbytes &&
	       strspn(b, "0123456789") == nbytes;
}

/* Sets fault to a status at the file's first record. */
static enum status fail_later(const struct input *input, const struct file_header *file, enum status status, struct fault *fault)
{
	fault_set(fault, status, 0, NULL);
	return at_header(&file->header, input, fault);
}

/* Whether the first record, which is not the first header, is a header as well. */
static enum status is_later_header(const struct file_headers *f, const struct file_header *file,
			     const struct input *input, bool *is, struct fault *fault)
{
	const struct first_record *r = &file->header.record[0], *first = &f->first->record[0];
	size_t nknown = 0, nknown_texts = 0;           /* names of the first header, and those that are texts */
	size_t nplaced_texts = 0, nplaced_numbers = 0; /* ... at the same place there */
	size_t ndata = 0, n; /* no names of it or like it, but numbers, or spellings of "missing" */

	for (size_t i = 0; i < r->nfields; i++) {
		const struct first_value *v = &r->values[i];
		const char *name = i < first->nfields ? first->values[i].text : "";
		bool is_placed = *name && !strcmp(name, v->text);
		if (*v->text && name_index_find(&f->names, v->text, &n)) {
			nknown++;
			nknown_texts += !v->is_number;
			nplaced_texts += is_placed && !v->is_number;
			nplaced_numbers += is_placed && v->is_number;
		} else {
			ndata += v->is_number ? !is_alike(name, v->text) : v->is_missing && *v->text;
		}
	}
	*is = f->always || nplaced_texts || (nplaced_numbers > 1 && !ndata) ||
	      (nknown_texts && (2 * nknown > r->nfields || !ndata));
	if (*is || (ndata && !nplaced_numbers) || r->nfields == 0)
		return STATUS_OK;
	return fail_later(input, file, STATUS_HEADER_UNCLEAR, fault);
}

/* Fails if the first record may be a header, where the first file begins with numbers alone: it has a text, and no number. */
static enum status check_data(const struct file_header *file, const struct input *input, struct fault *fault)
{
	const struct first_record *r = &file->header.record[0];
	bool has_text = false;

	for (size_t i = 0; i < r->nfields; i++) {
		if (r->values[i].is_number)
			return STATUS_OK;
		has_text |= !r->values[i].is_missing;
	}
	return has_text ? fail_later(input, file, STATUS_HEADER_LATER, fault) : STATUS_OK;
}

/* The input's find: see struct input_headers. */
static enum status find_later(void *context, struct input *input, int index, size_t *nbytes,
			struct fault *fault)
{
	struct file_headers *f = context;
	struct file_header *file = &f->files[index];
	struct header *h = &file->header;
	struct first_text t = {.file = index};
	struct plan plan = *f->plan;
	enum status status;
	bool is = true;

	plan.dialect.layout = NULL;
	if (plan.dialect.whitespace)
		plan.dialect.nfields = 0;
	status = make_header(h, input, &t, &plan, read_file(&t, input, &plan.dialect, fault));
	if (status == STATUS_OK && h->nfields > 0) /* else the file has no records */
		status = keep_line(h, t.data);
	if (!f->first->present) {
		if (status == STATUS_OK)
			status = check_data(file, input, fault);
		else if (status == STATUS_OPEN_QUOTE || status == STATUS_OPEN_ESCAPE || status == STATUS_STRAY_QUOTE ||
			 status == STATUS_BLANK_QUOTE)
			status = STATUS_OK; /* found again when records are read: blank lines before it may be some */
		header_free(h);
		return status;
	}
	TRY(status);
	if (plan.dialect.whitespace && h->nfields > 0)
		TRY(header_line_up(h, input, &plan, fault));
	if (!is_same(&h->record[0], &f->first->record[0])) {
		TRY(is_later_header(f, file, input, &is, fault));
		file->has_other_names = is && h->nfields > 0;
	}
	if (is)
		TRY(check_words(h, input, fault));
	file->differs = file->has_other_names || (f->plan->nunited && is && h->nfields > 0) ||
			(is && h->nfields > 0 && !word_layout_is_same(h->layout, f->first->layout));
	if (is)
		TRY(check_row_names(h, input, f->plan, fault));
	*nbytes = is ? h->nbytes : 0;
	if (!file->differs)
		header_free(h);
	return STATUS_OK;
}

/* Sets *field to the place in the file of the first file's field of that number. */
static enum status place_field(const struct file_headers *f, const struct name_index *names,
			       uint32_t *field)
{
	const struct first_record *first = &f->first->record[0];
	const char *text = *field < first->nfields ? first->values[*field].text : NULL;
	const struct name_entry *here, *there;
	size_t nhere, nthere, k = 0;

	if (!text) /* beyond the names: it has none here either */
		return *field < names->nentries ? STATUS_HEADER_LACKS : STATUS_OK;
	here = name_index_find(names, text, &nhere);
	there = name_index_find(&f->names, text, &nthere);
	if (!here)
		return STATUS_HEADER_LACKS;
	if (nhere != nthere)
		return STATUS_HEADER_REPEATS;
	while (there[k].field != *field)
		k++;
	*field = here[k].field;
	return STATUS_OK;
}

/* Places the columns of all files in one of them. */
static enum status place_united(const struct file_headers *f, struct file_header *file, const struct first_record *r)
{
	uint32_t *columns = malloc((r->nfields + 1) * sizeof *columns);
	enum status status;

	file->plan.places = file->places = malloc((f->first->nnames + 1) * sizeof *file->places);
	status = columns && file->places ? find_united(f->first, r, columns) : STATUS_NO_MEMORY;
	for (size_t u = 0; u < f->first->nnames && status == STATUS_OK; u++)
		file->places[u] = FIELD_NOWHERE;
	for (size_t i = 0; i < r->nfields && status == STATUS_OK; i++)
		file->places[columns[i]] = (uint32_t)i; /* the last place is for what has no name */
	for (size_t c = 0; c < f->plan->ncolumns && status == STATUS_OK; c++)
		if (!f->plan->columns[c].let)
			file->plan.columns[c].field = file->places[f->plan->columns[c].field];
	free(columns);
	return status;
}

static enum status place_columns(const struct file_headers *f, const struct input *input,
				 struct file_header *file, struct fault *fault)
{
	struct name_index names = {0};
	enum status status = first_record_index(&names, &file->header.record[0]);

	for (size_t c = 0; status == STATUS_OK && c < f->plan->ncolumns; c++) {
		if (!f->plan->columns[c].let)
			status = place_field(f, &names, &file->plan.columns[c].field);
		if (status == STATUS_OK)
			continue;
		fail_later(input, file, status, fault);
		fault->column = f->plan->columns[c].name;
	}
	name_index_free(&names);
	return status;
}

enum status plan_of_file(struct plan *plan, const struct plan *run, size_t nfields, bool ends_empty)
{
	*plan = *run;
	plan->columns = malloc((run->ncolumns + 1) * sizeof *plan->columns);
	NEED(plan->columns);
	if (run->ncolumns)
		memcpy(plan->columns, run->columns, run->ncolumns * sizeof *plan->columns);
	plan->ragged.nfields = (uint32_t)nfields;
	plan->ragged.last_is_empty = ends_empty;
	plan->dialect.one_column = nfields == 1;
	return STATUS_OK;
}

void plan_use_header(struct plan *plan, const char *line, size_t nbytes, bool is_sought)
{
	plan->header = line;
	plan->header_nbytes = nbytes;
	plan->sought = is_sought ? sought_header_of(line, nbytes, &plan->dialect) : (struct sought_header){.text = NULL};
}

/* Makes the file's plan. */
static enum status plan_later(const struct file_headers *f, const struct input *input,
			     struct file_header *file, struct fault *fault)
{
	struct plan *plan = &file->plan;
	struct header *h = &file->header;

	TRY(plan_of_file(plan, f->plan, h->nfields, h->ends_empty));
	plan->line_below_header = h->line_number + count_lines(h->line, h->line_nbytes);
	if (plan->dialect.whitespace)
		plan->dialect.nfields = h->nfields;
	file->layout = h->layout;
	h->layout = NULL;
	if (plan_use_layout(plan, file->layout) != STATUS_OK)
		return fail_later(input, file, STATUS_ALIGNED_ONLY, fault);
	file->line = h->line;
	h->line = NULL;
	plan_use_header(plan, file->line, h->end - h->begin, plan->sought.nbytes > 0);
	return f->plan->nunited ? place_united(f, file, &h->record[0]) : place_columns(f, input, file, fault);
}

/* The input's place: see struct input_headers. */
static enum status place_later(void *context, const struct input *input, int index,
			 const struct plan **plan, struct fault *fault)
{
	struct file_headers *f = context;
	struct file_header *file = &f->files[index];
	enum status status;

	if (index == f->first->file && f->plan->nunited) {
		TRY(plan_of_file(&file->plan, f->plan, f->first->nfields, f->first->ends_empty));
		*plan = &file->plan;
		return place_united(f, file, &f->first->record[0]);
	}
	if (!file->differs)
		return STATUS_OK;
	if (f->plan->shares_header && !f->plan->nunited && file->has_other_names)
		return fail_later(input, file, STATUS_HEADER_DIFFERS, fault);
	status = plan_later(f, input, file, fault);
	header_free(&file->header);
	*plan = &file->plan;
	return status;
}

enum status file_headers_init(struct file_headers *f, const struct header *first, const struct plan *plan, bool always,
			      struct input *input)
{
	const struct input_headers headers = {f, find_later, place_later};

	*f = (struct file_headers){.first = first, .plan = plan, .always = always};
	f->files = calloc((size_t)input_nfiles(input), sizeof *f->files);
	NEED(f->files);
	TRY(first_record_index(&f->names, &first->record[0]));
	f->nfiles = input_nfiles(input);
	input_expect_headers(input, &headers);
	return STATUS_OK;
}

void file_headers_free(struct file_headers *f)
{
	for (int i = 0; i < f->nfiles; i++) {
		header_free(&f->files[i].header);
		free(f->files[i].plan.columns);
		free(f->files[i].line);
		free(f->files[i].layout);
		free(f->files[i].places);
	}
	free(f->files);
	name_index_free(&f->names);
	memset(f, 0, sizeof *f);
}
