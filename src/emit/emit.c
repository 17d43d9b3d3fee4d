/* SPDX-License-Identifier: MIT
 *
 * emit.c - see emit.h.
 */
#include "emit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "fold/record_walk.h"

enum status text_reserve(struct text_buffer *text, size_t nbytes)
{
	size_t capacity = 2 * text->capacity + nbytes;
	char *grown;

	if (text->capacity - text->nbytes >= nbytes)
		return STATUS_OK;
	grown = realloc(text->data, capacity);
	if (!grown)
		return STATUS_NO_MEMORY;
	text->data = grown;
	text->capacity = capacity;
	return STATUS_OK;
}

void text_free(struct text_buffer *text)
{
	free(text->data);
	memset(text, 0, sizeof *text);
}

enum status emitter_init(struct emitter *e, const struct plan *plan)
{
	memset(e, 0, sizeof *e);
	e->plan = plan;
	e->runnings = calloc(plan->nnew_columns + 1, sizeof *e->runnings);
	e->nmatched = calloc(plan->npredicates + 1, sizeof *e->nmatched);
	if (!e->runnings || !e->nmatched)
		return STATUS_NO_MEMORY;
	return record_memory_init(&e->memory, plan);
}

void emitter_free(struct emitter *e)
{
	if (!e->plan)
		return;
	for (size_t i = 0; e->runnings && i < e->plan->nnew_columns; i++)
		running_free(&e->runnings[i]);
	free(e->runnings);
	free(e->nmatched);
	record_memory_free(&e->memory);
	memset(e, 0, sizeof *e);
}

/* ---- one record ---- */

struct emitting {
	struct emitter *e;
	uint64_t offset_bytes;
	struct text_buffer *out;
};

enum status emitter_add_field(struct emitter *e, size_t i, const char *field, size_t nbytes)
{
	struct value v;
	enum status status = value_read(e->plan, e->plan->columns[e->plan->new_columns[i].column].parses,
					field, nbytes, &e->memory.scratch, &v);

	return status == STATUS_OK ? running_add_value(&e->runnings[i], &v) : status;
}

/* Takes the record's value into scan i's total. */
static enum status take(struct emitter *e, size_t i, const struct record_view *r)
{
	struct field_span span = r->spans[e->plan->new_columns[i].column];

	return emitter_add_field(e, i, r->data + span.begin, span.end - span.begin);
}

/* The record's position among those where the predicate holds, or nothing. */
static size_t format_offset(struct emitter *e, size_t predicate, char *text)
{
	if (!e->memory.holds[predicate])
		return 0;
	return (size_t)(decimal_write_u64(text, e->nmatched[predicate]++) - text);
}

/* Writes scan i's field for the record, and moves the total on. */
static enum status format_column(struct emitting *m, size_t i, const struct record_view *r,
			       char text[WIDE_TEXT_NBYTES], size_t *nbytes)
{
	struct emitter *e = m->e;
	const struct new_column *s = &e->plan->new_columns[i];
	enum status status = STATUS_OK;

	if (s->kind == NEW_BYTE_OFFSET)
		*nbytes = (size_t)(decimal_write_u64(text, m->offset_bytes + r->begin) - text);
	if (s->kind == NEW_OFFSET)
		*nbytes = format_offset(e, s->predicate, text);
	if (!new_column_is_running(s))
		return status;
	if (!e->plan->exclusive)
		status = take(e, i, r);
	*nbytes = (size_t)(running_write(&e->runnings[i], text) - text);
	return e->plan->exclusive ? take(e, i, r) : status;
}

static void append(struct text_buffer *out, const char *text, size_t nbytes)
{
	memcpy(out->data + out->nbytes, text, nbytes);
	out->nbytes += nbytes;
}

/* Appends a new field. It needs quotes only where a number can hold the delimiter. */
static enum status append_field(struct emitting *m, bool first, const char *text, size_t nbytes)
{
	char delimiter = m->e->plan->delimiter;
	bool quoted = nbytes && memchr(text, delimiter, nbytes);

	if (text_reserve(m->out, nbytes + 3) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (!first)
		append(m->out, &delimiter, 1);
	if (quoted)
		append(m->out, "\"", 1);
	append(m->out, text, nbytes);
	if (quoted)
		append(m->out, "\"", 1);
	return STATUS_OK;
}

static enum status print(struct emitting *m, const struct record_view *r)
{
	const struct plan *plan = m->e->plan;
	char text[WIDE_TEXT_NBYTES];
	size_t nbytes = 0;

	if (text_reserve(m->out, r->next - r->begin) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (!plan->only)
		append(m->out, r->data + r->begin, r->end - r->begin);
	for (size_t i = 0; i < plan->nnew_columns; i++) {
		enum status status = format_column(m, i, r, text, &nbytes);
		if (status == STATUS_OK)
			status = append_field(m, i == 0 && plan->only, text, nbytes);
		if (status != STATUS_OK)
			return status;
	}
	if (text_reserve(m->out, r->next - r->end) != STATUS_OK)
		return STATUS_NO_MEMORY;
	append(m->out, r->data + r->end, r->next - r->end);
	m->out->in_line = r->next == r->end;
	return STATUS_OK;
}

static enum status emit_record(void *context, const struct record_view *r)
{
	struct emitting *m = context;
	enum verdict verdict;
	uint32_t ignored;
	enum status status;

	if (!r->spans)
		return STATUS_OK;
	status = record_filter(&m->e->memory, r, &verdict, &ignored);
	return status == STATUS_OK && verdict == RECORD_KEPT ? print(m, r) : status;
}

enum status emitter_begin(struct emitter *e, const struct partial *before)
{
	for (size_t i = 0; i < e->plan->npredicates; i++)
		e->nmatched[i] = before->nmatched[i];
	for (size_t i = 0; i < e->plan->nnew_columns; i++) {
		const struct new_column *s = &e->plan->new_columns[i];
		if (!new_column_is_running(s))
			continue;
		if (running_begin(&e->runnings[i], s->kind, &e->plan->columns[s->column],
				  &before->columns[s->column]) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

enum status records_emit(struct emitter *e, const char *data, size_t nbytes,
			 struct chunk_entry entry, bool at_end, const struct partial *before,
			 uint64_t offset_bytes, struct text_buffer *out)
{
	struct emitting m = {e, offset_bytes, out};
	struct walk w = {.plan = e->plan, .spans = e->memory.spans};

	if (emitter_begin(e, before) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return walk_text(&w, data, nbytes, entry, at_end, emit_record, &m);
}

enum status records_emit_from(struct emitter *e, const char *data, size_t nbytes, size_t from,
			      uint64_t offset_bytes, struct text_buffer *out)
{
	struct emitting m = {e, offset_bytes, out};
	struct walk w = {.plan = e->plan, .spans = e->memory.spans};

	return walk_text_from(&w, data, nbytes, from, emit_record, &m);
}
