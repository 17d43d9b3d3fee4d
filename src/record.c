/* SPDX-License-Identifier: MIT
 *
 * record.c - see record.h.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "record_walk.h"

/* ---- folding ---- */

struct folding {
	const struct plan *plan;
	struct partial *out;
};

/* Folds one record: all its columns, or, if it has not all of them, none. */
static enum status fold_record(void *context, const struct record_view *r)
{
	const struct folding *f = context;

	if (!r->spans) {
		f->out->nshort++;
		if (f->out->first_short_offset == OFFSET_NONE)
			f->out->first_short_offset = r->begin;
		return STATUS_OK;
	}
	for (size_t c = 0; c < f->plan->ncolumns; c++) {
		struct field_span span = r->spans[c];
		enum status status = column_take(f->plan, f->out, c, r->data + span.begin,
						 span.end - span.begin, span.begin);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status records_fold(const struct plan *plan, const char *data, size_t nbytes,
			 struct chunk_entry entry, bool at_end, struct partial *out)
{
	struct folding f = {plan, out};
	struct walk w = {.plan = plan, .spans = out->spans};
	enum status status = walk_text(&w, data, nbytes, entry, at_end, fold_record, &f);

	out->head_ends = w.head_ends;
	out->head_nbytes = w.head_nbytes;
	out->tail_offset = w.tail_offset;
	out->open_quote_offset = w.open_quote_offset;
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
