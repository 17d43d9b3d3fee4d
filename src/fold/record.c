/* SPDX-License-Identifier: MIT
 *
 * record.c - see record.h.
 */
#include "fold/record.h"

#include <stdlib.h>
#include <string.h>

#include "fold/record_walk.h"

/* ---- working memory ---- */

enum status record_memory_init(struct record_memory *m, const struct plan *plan)
{
	enum status status = STATUS_OK;

	memset(m, 0, sizeof *m);
	m->plan = plan;
	m->spans = calloc(plan->ncolumns + 1, sizeof *m->spans);
	m->rows = calloc(plan->npredicates + 1, sizeof *m->rows);
	m->holds = calloc(plan->npredicates + 1, sizeof *m->holds);
	if (!m->spans || !m->rows || !m->holds)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; status == STATUS_OK && i < plan->npredicates; i++)
		status = expr_row_init(&m->rows[i], plan->predicates[i]);
	return status;
}

void record_memory_free(struct record_memory *m)
{
	for (size_t i = 0; m->rows && i < m->plan->npredicates; i++)
		expr_row_free(&m->rows[i]);
	free(m->rows);
	free(m->holds);
	free(m->spans);
	free(m->scratch.data);
	memset(m, 0, sizeof *m);
}

/* ---- folding ---- */

struct folding {
	const struct plan *plan;
	struct record_memory *memory;
	struct partial *out;
};

static enum status fold_short(struct partial *out, const struct record_view *r)
{
	out->nshort++;
	if (out->first_short_offset == OFFSET_NONE)
		out->first_short_offset = r->begin;
	return STATUS_OK;
}

/* A value leaves a predicate undecided. */
static void fold_undecided(struct partial *out, const struct record_view *r, uint32_t column)
{
	out->nundecided++;
	if (out->first_undecided_offset != OFFSET_NONE)
		return;
	out->first_undecided_offset = r->spans[column].begin;
	out->undecided_column = column;
}

static enum status fold_columns(const struct folding *f, const struct record_view *r)
{
	for (size_t c = 0; c < f->plan->ncolumns; c++) {
		struct field_span span = r->spans[c];
		enum status status = STATUS_OK;
		if (f->plan->columns[c].needs)
			status = column_add_field(f->plan, f->out, c, r->data + span.begin,
					     span.end - span.begin, span.begin, &f->memory->scratch);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Folds one record: all its columns, or, if it has not all of them, none. */
static enum status fold_record(void *context, const struct record_view *r)
{
	const struct folding *f = context;
	enum verdict verdict;
	uint32_t culprit;
	enum status status;

	if (!r->spans)
		return fold_short(f->out, r);
	status = record_filter(f->memory, r, &verdict, &culprit);
	if (status == STATUS_OK && verdict == RECORD_UNDECIDED)
		fold_undecided(f->out, r, culprit);
	if (status != STATUS_OK || verdict != RECORD_KEPT)
		return status;
	for (size_t p = 0; p < f->plan->npredicates; p++)
		f->out->nmatched[p] += f->memory->holds[p];
	return fold_columns(f, r);
}

enum status records_fold(const struct plan *plan, const char *data, size_t nbytes,
			 struct chunk_entry entry, bool at_end, struct record_memory *memory,
			 struct partial *out)
{
	struct folding f = {plan, memory, out};
	struct walk w = {.plan = plan, .spans = memory->spans};
	enum status status = walk_text(&w, data, nbytes, entry, at_end, fold_record, &f);

	out->head_ends = w.head_ends;
	out->head_nbytes = w.head_nbytes;
	out->tail_offset = w.tail_offset;
	out->open_quote_offset = w.open_quote_offset;
	return status;
}

enum status records_fold_from(const struct plan *plan, const char *data, size_t nbytes,
			      size_t from, struct record_memory *memory, struct partial *out)
{
	struct folding f = {plan, memory, out};
	struct walk w = {.plan = plan, .spans = memory->spans};
	enum status status = walk_text_from(&w, data, nbytes, from, fold_record, &f);

	out->tail_offset = w.tail_offset;
	return status;
}

/* ---- one whole record ---- */

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
	if (end == 0)
		return STATUS_OK;
	return append_field(r, begin, end);
}

enum status record_split(const char *data, size_t nbytes, char delimiter, bool at_end,
			 struct record *out)
{
	struct cursor k = cursor_at(data, nbytes, delimiter, CSV_FIELD_START);
	size_t at;

	memset(out, 0, sizeof *out);
	while ((at = cursor_next(&k)) < nbytes) {
		if (data[at] == '\n')
			return finish(out, data, k.field_begin, at, at + 1);
		if (append_field(out, k.field_begin, at) != STATUS_OK)
			return STATUS_NO_MEMORY;
		k.field_begin = at + 1;
	}
	if (!at_end || nbytes == 0)
		return STATUS_OK;
	if (k.state == CSV_QUOTED) {
		out->nfields = 0;
		return append_field(out, k.field_begin, nbytes) ? STATUS_NO_MEMORY
								: STATUS_OPEN_QUOTE;
	}
	return finish(out, data, k.field_begin, nbytes, nbytes);
}

void record_free(struct record *r)
{
	free(r->fields);
	memset(r, 0, sizeof *r);
}
