/* SPDX-License-Identifier: MIT
 *
 * file_header.c - see file_header.h.
 *
 * The first record of a later file is a header if --header says so, or if it shows names of the first file: a text at the
 * place that it has there, two numbers at theirs, or a text elsewhere, unless there are values beside it that are no names and
 * half of all are such. A number is no name if the first file has a text there, or a number that is written with more or
 * fewer digits: 2022 may be one below 2021. A record with such a value, and without a number that is its
 * column's name, is data if it is no header: the file has none. All else could be either, which is an error.
 */
#include "query/file_header.h"

#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "csv/word_layout.h"

/* ---- names ---- */

static enum status index_names(struct name_index *names, const struct first_record *r)
{
	if (name_index_init(names, r->nfields) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < r->nfields; i++)
		name_index_add(names, r->values[i].text, i);
	name_index_sort(names);
	return STATUS_OK;
}

/* ---- is it a header? ---- */

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

/* What the values of a first record are. */
struct likeness {
	size_t nknown;           /* names of the first header: texts and numbers, */
	size_t nknown_texts;     /* ... texts, */
	size_t nplaced_texts;    /* ... at the same place there, */
	size_t nplaced_numbers;  /* ... numbers at the same place */
	size_t ndata;            /* no names of it or like it, but numbers, or spellings of "missing" */
};

static struct likeness compare(const struct file_headers *f, const struct first_record *r)
{
	const struct first_record *first = &f->first->record[0];
	struct likeness like = {0};
	size_t n;

	for (size_t i = 0; i < r->nfields; i++) {
		const struct first_value *v = &r->values[i];
		const char *name = i < first->nfields ? first->values[i].text : "";
		bool is_placed = *name && !strcmp(name, v->text);
		if (*v->text && name_index_find(&f->names, v->text, &n)) {
			like.nknown++;
			like.nknown_texts += !v->is_number;
			like.nplaced_texts += is_placed && !v->is_number;
			like.nplaced_numbers += is_placed && v->is_number;
		} else {
			like.ndata += v->is_number ? !is_alike(name, v->text) : v->is_missing && *v->text;
		}
	}
	return like;
}

/* Sets fault to a status at the file's first record. */
static enum status fail(const struct input *input, const struct file_header *file,
			enum status status, struct fault *fault)
{
	fault_set(fault, status, 0, NULL);
	fault->file = input_name(input, file->header.file);
	fault->line = file->header.line_number;
	return status;
}

/* Whether the first record, which is not the first header, is a header as well. */
static enum status is_header(const struct file_headers *f, const struct file_header *file,
			     const struct input *input, bool *is, struct fault *fault)
{
	const struct first_record *r = &file->header.record[0];
	struct likeness like = compare(f, r);

	*is = f->always || like.nplaced_texts || (like.nplaced_numbers > 1 && !like.ndata) ||
	      (like.nknown_texts && (2 * like.nknown > r->nfields || !like.ndata));
	if (*is || (like.ndata && !like.nplaced_numbers) || r->nfields == 0)
		return STATUS_OK;
	return fail(input, file, STATUS_HEADER_UNCLEAR, fault);
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
	return has_text ? fail(input, file, STATUS_HEADER_LATER, fault) : STATUS_OK;
}

/* Whether that is wrong with a record's text. */
static bool is_no_csv(enum status status)
{
	return status == STATUS_OPEN_QUOTE || status == STATUS_OPEN_ESCAPE || status == STATUS_STRAY_QUOTE ||
	       status == STATUS_BLANK_QUOTE;
}

/* The input's find: see struct input_headers. */
static enum status find(void *context, struct input *input, int index, size_t *nbytes,
			struct fault *fault)
{
	struct file_headers *f = context;
	struct file_header *file = &f->files[index];
	struct header *h = &file->header;
	struct plan plan = *f->plan;
	enum status status;
	bool is = true;

	plan.dialect.layout = NULL;
	if (plan.dialect.whitespace)
		plan.dialect.nfields = 0;
	status = header_read_file(h, input, index, &plan, fault);
	if (!f->first->present) {
		if (status == STATUS_OK)
			status = check_data(file, input, fault);
		else if (is_no_csv(status))
			status = STATUS_OK; /* found again when records are read: blank lines before it may be some */
		header_free(h);
		return status;
	}
	if (status == STATUS_OK && plan.dialect.whitespace && h->nfields > 0)
		status = header_line_up(h, input, &plan, fault);
	if (status == STATUS_OK && !is_same(&h->record[0], &f->first->record[0])) {
		status = is_header(f, file, input, &is, fault);
		file->has_other_names = status == STATUS_OK && is && h->nfields > 0;
	}
	if (status == STATUS_OK && is)
		status = header_check_words(h, input, fault);
	file->differs = file->has_other_names ||
			(is && h->nfields > 0 && !word_layout_is_same(h->layout, f->first->layout));
	if (status == STATUS_OK && is)
		status = header_check_row_names(h, input, f->plan, fault);
	*nbytes = is ? h->nbytes : 0;
	if (!file->differs)
		header_free(h);
	return status;
}

/* ---- where its columns are ---- */

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

static enum status place_columns(const struct file_headers *f, const struct input *input,
				 struct file_header *file, struct fault *fault)
{
	struct name_index names = {0};
	enum status status = index_names(&names, &file->header.record[0]);

	for (size_t c = 0; status == STATUS_OK && c < f->plan->ncolumns; c++) {
		if (!f->plan->columns[c].let)
			status = place_field(f, &names, &file->plan.columns[c].field);
		if (status == STATUS_OK)
			continue;
		fail(input, file, status, fault);
		fault->column = f->plan->columns[c].name;
	}
	name_index_free(&names);
	return status == STATUS_NO_MEMORY ? fault_set(fault, status, 0, NULL) : status;
}

/* Makes the file's plan. */
static enum status make_plan(const struct file_headers *f, const struct input *input,
			     struct file_header *file, struct fault *fault)
{
	const struct plan *run = f->plan;
	struct plan *plan = &file->plan;

	*plan = *run;
	plan->columns = malloc((run->ncolumns + 1) * sizeof *plan->columns);
	if (!plan->columns)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (run->ncolumns)
		memcpy(plan->columns, run->columns, run->ncolumns * sizeof *plan->columns);
	plan->ragged.nfields = (uint32_t)file->header.nfields;
	plan->ragged.last_is_empty = file->header.ends_empty;
	plan->line_below_header = file->header.line_number + count_lines(file->header.line, file->header.line_nbytes);
	plan->dialect.one_column = file->header.nfields == 1;
	if (plan->dialect.whitespace)
		plan->dialect.nfields = file->header.nfields;
	file->layout = file->header.layout;
	file->header.layout = NULL;
	if (plan_use_layout(plan, file->layout) != STATUS_OK)
		return fail(input, file, STATUS_ALIGNED_ONLY, fault);
	plan->header = file->line = file->header.line;
	plan->header_nbytes = file->header.end - file->header.begin;
	file->header.line = NULL;
	if (plan->sought.nbytes)
		plan->sought = sought_header_of(plan->header, plan->header_nbytes, &plan->dialect);
	return place_columns(f, input, file, fault);
}

/* The input's place: see struct input_headers. */
static enum status place(void *context, const struct input *input, int index,
			 const struct plan **plan, struct fault *fault)
{
	struct file_headers *f = context;
	struct file_header *file = &f->files[index];
	enum status status;

	if (!file->differs)
		return STATUS_OK;
	if (f->plan->shares_header && file->has_other_names)
		return fail(input, file, STATUS_HEADER_DIFFERS, fault);
	status = make_plan(f, input, file, fault);
	header_free(&file->header);
	*plan = &file->plan;
	return status;
}

/* ---- */

enum status file_headers_init(struct file_headers *f, const struct header *first,
			      const struct plan *plan, bool always, struct input *input,
			      struct fault *fault)
{
	const struct input_headers headers = {f, find, place};

	*f = (struct file_headers){.first = first, .plan = plan, .always = always};
	f->files = calloc((size_t)input_nfiles(input), sizeof *f->files);
	if (!f->files || index_names(&f->names, &first->record[0]) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
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
	}
	free(f->files);
	name_index_free(&f->names);
	memset(f, 0, sizeof *f);
}
