/* SPDX-License-Identifier: MIT
 *
 * rows_emit.c - see rows_emit.h. Records without new fields are copied as the ranges that
 * rows_fold noted. Others are printed a block at a time: first the new fields of all its rows
 * (new_fields.h), then row for row the record and its fields, in room that was reserved for all.
 *
 * Copying may overshoot a text's end, so that no length is looked at twice; the next piece is
 * written over that.
 */
#include "emit/rows_emit.h"

#include <string.h>

#define COPY_NBYTES 32 /* copied at once; what is read too much lies in padding */

/* What one call of rows_emit works on. */
struct printing {
	struct emitter *e;
	struct row_folder *f;
	struct new_fields *fields;
	const char *text;
	uint64_t offset_bytes;
	struct text_buffer *out;
};

/* Copies nbytes, or COPY_NBYTES more than that. Returns the copy's end. */
static inline char *copy_text(char *to, const char *from, size_t nbytes)
{
	memcpy(to, from, COPY_NBYTES);
	if (nbytes > 8 * COPY_NBYTES)
		memcpy(to, from, nbytes);
	else
		for (size_t i = COPY_NBYTES; i < nbytes; i += COPY_NBYTES)
			memcpy(to + i, from + i, COPY_NBYTES);
	return to + nbytes;
}

/* Prints the rows that are kept, each with its nnew_columns new fields. Returns the end of what it
 * wrote. Inline, so that the commonest plans have a loop of their own. */
static inline __attribute__((always_inline)) char *print_rows(const struct printing *m, char *to,
							      size_t nnew_columns, bool only)
{
	const struct new_fields *fields = m->fields;
	const char *new_text = fields->text.data, *text = m->text;
	const uint32_t *ends = m->f->block.ends;
	size_t stride = m->f->block.stride;

	for (unsigned k = 0, nrows = fields->nrows; k < nrows; k++) {
		struct row_record r = row_record_at(text, ends + fields->rows[k] * stride, stride);
		const size_t *begin = fields->begins + k;
		if (!only)
			to = copy_text(to, text + r.begin, r.end - r.begin);
		for (size_t i = 0; i < nnew_columns; i++, begin += ROW_BLOCK_NROWS + 1)
			to = copy_text(to, new_text + begin[0], begin[1] - begin[0]);
		memcpy(to, text + r.end, 2); /* the line end, or that and what comes behind it */
		to += r.next - r.end;
	}
	return to;
}

static enum status print_block(const struct printing *m)
{
	const struct row_block *b = &m->f->block;
	const struct plan *plan = m->e->plan;
	struct text_buffer *out = m->out;
	char *to;
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1];
	enum status status = row_filter_block(&m->f->judge, &m->f->block);

	if (status != STATUS_OK || m->f->judge.kept == 0)
		return status;
	status = new_fields_write(m->fields, m->e, &m->f->block, &m->f->judge, m->offset_bytes);
	if (status != STATUS_OK ||
	    text_reserve(out, (uint32_t)nbytes + m->fields->text.nbytes + EMIT_SLACK) != STATUS_OK)
		return STATUS_NO_MEMORY;
	to = out->data + out->nbytes;
	to = plan->nnew_columns == 1 && !plan->only ? print_rows(m, to, 1, false)
					      : print_rows(m, to, plan->nnew_columns, plan->only);
	out->nbytes = (size_t)(to - out->data);
	return STATUS_OK;
}

static enum status print_run(void *context, const struct row_run *some)
{
	const struct printing *m = context;
	enum status status = STATUS_OK;

	if (row_run_is_short(some, m->e->plan))
		return STATUS_OK;
	for (size_t row = 0; status == STATUS_OK && row < some->nrows;) {
		row += row_block_set(&m->f->block, m->text, some, row);
		status = print_block(m);
	}
	return status;
}

/* Prints the records that were noted, as they are. */
static enum status print_kept(const struct row_folder *f, const char *text,
			      struct text_buffer *out)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < f->nkept; i++)
		nbytes += f->kept[i].end - f->kept[i].begin;
	if (text_reserve(out, nbytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < f->nkept; i++) {
		size_t n = f->kept[i].end - f->kept[i].begin;
		memcpy(out->data + out->nbytes, text + f->kept[i].begin, n);
		out->nbytes += n;
	}
	return STATUS_OK;
}

/* Whether new fields never need quotes: no number can hold the delimiter. */
static bool needs_no_quotes(const struct plan *plan)
{
	return !decimal_is_digit(plan->delimiter) && plan->delimiter != '.' &&
	       plan->delimiter != '-';
}

enum status rows_emit(struct emitter *e, struct new_fields *fields, struct row_folder *f,
		      struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      const struct partial *before, uint64_t offset_bytes, struct text_buffer *out)
{
	struct printing m = {e, f, fields, text, offset_bytes, out};
	struct rows_extent extent = {.left = f->left};
	enum status status;

	if (f->left == SIZE_MAX || !needs_no_quotes(e->plan))
		return records_emit(e, text, nbytes, entry, false, before, offset_bytes, out);
	status = emitter_begin(e, before);
	if (status == STATUS_OK && e->plan->nnew_columns == 0)
		status = print_kept(f, text, out);
	else if (status == STATUS_OK)
		status = rows_walk(r, text, nbytes, entry, print_run, &m, &extent);
	if (status == STATUS_OK && extent.left < nbytes)
		status = records_emit_from(e, text, nbytes, extent.left, offset_bytes, out);
	return status;
}
