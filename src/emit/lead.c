/* SPDX-License-Identifier: MIT
 *
 * lead.c - see lead.h. A record is a row of parts: a piece, a field of a later record, ... a piece. Of the records of a text, those
 * before the first that lacks a field of a later text are closed: what is written of them is known within the text.
 */
#include "emit/lead.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "emit/printed_row.h"
#include "io/output.h"
#include "io/row_format.h"

/* How a text that lead_text_write has written begins; then come its closed records. Unaligned. */
struct lead_mark {
	struct lead_text *text;
	size_t closed_nbytes;
};

/* The first column of NEW_LEAD from `column` on, of which there is one. */
static const struct new_column *lead_from(const struct new_column *column)
{
	while (column->kind != NEW_LEAD)
		column++;
	return column;
}

/* ---- gathering ---- */

void lead_text_free(struct lead_text *t)
{
	if (!t)
		return;
	memory_give(t->taken_nbytes);
	text_free(&t->bytes);
	free(t->cells);
	free(t->rows);
	free(t->order);
	free(t->groups);
	free(t->fields);
	free(t);
}

/* Finds the number of a row's group in the text: that of its states, which new columns that need only some of
 * the rows have given in an order of their own. Errors: STATUS_NO_MEMORY. */
static enum status find_number(struct lead_text *t, struct new_fields *fields, struct group *group,
			       uint32_t *number)
{
	if (group && !new_fields_group(fields, group))
		return STATUS_NO_MEMORY;
	*number = group ? (uint32_t)group->state - 1 : 0;
	for (; *number >= t->ngroups; t->ngroups++) {
		TRY(ARRAY_GROW(t->groups, t->groups_capacity, t->ngroups + 1));
		t->groups[t->ngroups] = (struct lead_text_group){NULL, 0, 0};
	}
	t->groups[*number].home = group ? *group_home(group) : NULL;
	return STATUS_OK;
}

/* Copies the record and new fields of row k of the fields', and notes where its own fields are. */
static char *add_row(const struct lead_text *t, const struct row_block *b,
		     const struct new_fields *fields, unsigned k, const struct row_record *record,
		     struct lead_cell *cell, char *to)
{
	const struct plan *plan = b->plan;
	const size_t *begin = fields->begins + k;

	if (!plan->only)
		to = copy_delimiters(copy_text(to, b->text + record->begin, record->end - record->begin),
				     plan->dialect.delimiter, record->nlacking);
	for (size_t i = 0; i < plan->nnew_columns; i++, begin += ROW_BLOCK_NROWS + 1) {
		size_t nbytes = begin[1] - begin[0], nleading = i > 0 || !plan->only;
		if (plan->new_columns[i].kind == NEW_LEAD)
			*cell++ = (struct lead_cell){(size_t)(to - t->bytes.data) + nleading,
						     (uint32_t)(nbytes - nleading)};
		to = copy_text(to, fields->text.data + begin[0], nbytes);
	}
	memcpy(to, b->text + record->line_end, 2); /* the line end, perhaps a byte more */
	return to + (record->next - record->line_end);
}

enum status lead_text_add(struct lead_text **text, const struct row_block *b,
			  struct new_fields *fields, struct group *const *groups,
			  size_t text_nbytes, struct scratch *scratch)
{
	const size_t block_nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1];
	const size_t nbytes = block_nbytes + row_block_nlacking(b) + fields->text.nbytes;
	const size_t nleads = b->plan->nleads;
	struct lead_text *t = *text ? *text : (*text = calloc(1, sizeof *t));
	size_t n, nlikely;
	char *to;

	NEED(t);
	nlikely = t->n == 0 ? 1 + text_nbytes / block_nbytes * 9 / 8
			    : 1; /* blocks: so that what is large need not grow */
	n = t->n + fields->nrows * nlikely;
	TRY(ARRAY_GROW(t->cells, t->cells_capacity, n * nleads));
	TRY(ARRAY_GROW(t->rows, t->rows_capacity, n));
	TRY(ARRAY_GROW(t->order, t->order_capacity, n));
	TRY(text_reserve(&t->bytes, nbytes * nlikely + EMIT_SLACK));
	to = t->bytes.data + t->bytes.nbytes;
	for (unsigned k = 0; k < fields->nrows; k++, t->n++) {
		const unsigned row = fields->rows[k];
		const struct row_record record = row_record_at(b->text, row_block_ends(b, row),
							       b->stride, row_block_nfields(b),
							       b->plan->dialect.escape);
		struct lead_row *out = &t->rows[t->n];
		TRY(find_number(t, fields, groups ? groups[row] : NULL, &out->group));
		out->begin = (size_t)(to - t->bytes.data);
		if (b->plan->row_format) {
			t->bytes.nbytes = out->begin;
			TRY(printed_row_append(b, fields, k, scratch, t->cells + t->n * nleads,
					       &t->bytes));
			to = t->bytes.data + t->bytes.nbytes;
		} else {
			to = add_row(t, b, fields, k, &record, t->cells + t->n * nleads, to);
		}
	}
	t->bytes.nbytes = (size_t)(to - t->bytes.data);
	return STATUS_OK;
}

/* ---- filling ---- */

/* Sorts the rows by group, each group's in the order of the text. */
static void sort_rows(struct lead_text *t)
{
	uint32_t begin = 0;

	for (size_t i = 0; i < t->n; i++)
		t->groups[t->rows[i].group].end++;
	for (size_t g = 0; g < t->ngroups; g++) {
		uint32_t n = t->groups[g].end;
		t->groups[g].begin = t->groups[g].end = begin;
		begin += n;
	}
	for (size_t i = 0; i < t->n; i++) {
		t->rows[i].place = t->groups[t->rows[i].group].end++;
		t->order[t->rows[i].place] = (uint32_t)i;
	}
}

/* How many of a group's records, from the first on, may hold fields of texts before; and from the last, may
 * lack some. */
static uint64_t count_edge(const struct plan *plan, const struct lead_text_group *group)
{
	uint64_t n = group->end - group->begin;

	return n < plan->nahead_max ? n : plan->nahead_max;
}

/* Where a row ends. */
static size_t row_end(const struct lead_text *t, size_t row)
{
	return row + 1 < t->n ? t->rows[row + 1].begin : t->bytes.nbytes;
}

/* What a row shows of the lead-th column that looks ahead, which is `column`: a field of the text or of a later one, or else
 * `missing`; its text is NULL if that is not there yet. */
static inline struct lead_field field_of(const struct lead_text *t, const struct plan *plan,
					 size_t row, size_t lead, const struct new_column *column,
					 struct lead_field missing)
{
	const uint32_t place = t->rows[row].place, left = t->groups[t->rows[row].group].end - place;
	const struct lead_cell *cell;
	const struct lead_field *field;

	if (column->nahead < left) {
		cell = &t->cells[t->order[place + column->nahead] * plan->nleads + lead];
		return (struct lead_field){t->bytes.data + cell->begin, cell->nbytes};
	}
	field = &t->fields[(row - t->first_open) * plan->nleads + lead];
	return field->text ? *field : missing;
}

/* Copies a row with the fields of later ones, which are all there. Returns the copy's end. */
static inline char *fill_row(const struct lead_text *t, const struct plan *plan, size_t row,
			     struct lead_field missing, char *to)
{
	const struct lead_cell *own = t->cells + row * plan->nleads;
	const struct new_column *column = plan->new_columns;
	struct lead_field field;
	size_t from = t->rows[row].begin;

	for (size_t lead = 0; lead < plan->nleads; lead++, own++, column++) {
		column = lead_from(column);
		field = field_of(t, plan, row, lead, column, missing);
		to = copy_text(to, t->bytes.data + from, own->begin - from);
		to = copy_text(to, field.text, field.nbytes);
		from = own->begin + own->nbytes;
	}
	return copy_text(to, t->bytes.data + from, row_end(t, row) - from);
}

enum status lead_text_write(struct lead_text **text, const struct plan *plan,
			    struct text_buffer *out)
{
	struct lead_text *t = *text;
	struct lead_mark mark = {.text = t};
	char *closed, *to;

	if (!t)
		return STATUS_OK;
	sort_rows(t);
	t->first_open = t->n;
	for (size_t g = 0; g < t->ngroups; g++) {
		const uint64_t edge = count_edge(plan, &t->groups[g]);
		const uint32_t row = edge ? t->order[t->groups[g].end - edge] : UINT32_MAX;
		t->first_open = row < t->first_open ? row : t->first_open;
	}
	NEED(t->fields = calloc((t->n - t->first_open) * plan->nleads + 1, sizeof *t->fields));
	TRY(text_reserve(&t->bytes, EMIT_SLACK)); /* the queue copies from it, too */
	TRY(text_reserve(
		out, sizeof mark + t->bytes.nbytes +
			     EMIT_SLACK)); /* each piece and each field is closed at most once */
	to = closed = out->data + out->nbytes + sizeof mark;
	for (size_t row = 0; row < t->first_open; row++)
		to = fill_row(t, plan, row, (struct lead_field){NULL, 0}, to);
	mark.closed_nbytes = (size_t)(to - closed);
	memcpy(out->data + out->nbytes, &mark, sizeof mark);
	out->nbytes = (size_t)(to - out->data);
	*text = NULL;
	return STATUS_OK;
}

void lead_text_end_in_line(struct text_buffer *out, size_t offset)
{
	struct lead_mark mark;

	memcpy(&mark, out->data + offset, sizeof mark);
	mark.text->in_line = true;
}

/* ---- the queue ---- */

#define RECORD_NBYTES (2 * sizeof(struct lead_field *)) /* of a record in its group's list */
#define GROUP_NBYTES (4 * sizeof(struct lead_group))    /* of a group in the table */

void lead_queue_free(struct lead_queue *q)
{
	while (q->first) {
		struct lead_text *t = q->first;
		q->first = t->next;
		lead_text_free(t);
	}
	for (size_t i = 0; i < q->nslots; i++)
		free(q->groups[i].at);
	memory_give(q->ngroups * GROUP_NBYTES);
	free(q->groups);
	text_free(&q->ready);
	memset(q, 0, sizeof *q);
}

/* Takes *nbytes of the memory limit, or sets them to 0. A quarter is left to the groups: without it, the error would name them as what is too large. */
static enum status take(const struct lead_queue *q, size_t *nbytes, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	if (memory_take_leaving(*nbytes, q->plan->nkeys ? memory_limit_nbytes() / 4 : 0))
		return STATUS_OK;
	*nbytes = 0;
	snprintf(words, sizeof words, "%" PRIu64 " bytes", memory_limit_nbytes());
	fault_set(fault, STATUS_MEMORY_LIMIT, 0, words);
	snprintf(fault->remedy, sizeof fault->remedy, "--memory SIZE with more, or %s",
		 q->plan->nkeys ? "an input sorted by the columns of --by" : "--lead with a smaller N");
	return STATUS_MEMORY_LIMIT;
}

/* ---- groups ---- */

static struct lead_group *slot_of(const struct lead_group *groups, size_t nslots, const void *home)
{
	size_t i = (size_t)((uint64_t)(uintptr_t)home * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (nslots - 1);

	while (groups[i].at && groups[i].home != home)
		i = (i + 1) & (nslots - 1);
	return (struct lead_group *)&groups[i];
}

static enum status grow_table(struct lead_queue *q)
{
	size_t nslots = q->nslots ? 2 * q->nslots : 16;
	struct lead_group *grown = calloc(nslots, sizeof *grown);

	NEED(grown);
	for (size_t i = 0; i < q->nslots; i++)
		if (q->groups[i].at)
			*slot_of(grown, nslots, q->groups[i].home) = q->groups[i];
	free(q->groups);
	q->groups = grown;
	q->nslots = nslots;
	return STATUS_OK;
}

/* Sets *out to the group, without records if it is new; valid until the next call. */
static enum status find_group(struct lead_queue *q, const void *home, struct lead_group **out, struct fault *fault)
{
	struct lead_group *group;
	size_t nbytes = GROUP_NBYTES;

	if (2 * q->ngroups >= q->nslots)
		TRY(grow_table(q));
	group = *out = slot_of(q->groups, q->nslots, home);
	if (group->at)
		return STATUS_OK;
	TRY(take(q, &nbytes, fault));
	*group = (struct lead_group){.home = home, .capacity = 2, .at = malloc(2 * sizeof *group->at)};
	NEED(group->at);
	q->ngroups++;
	return STATUS_OK;
}

/* Adds a record; of a group's records, the last few may lack fields. */
static enum status add_to_group(const struct lead_queue *q, struct lead_group *group, struct lead_field *fields)
{
	size_t n = group->end - group->begin;

	if (group->end == group->capacity && n <= group->capacity / 2) { /* so that each is moved once */
		memmove(group->at, group->at + group->begin, n * sizeof *group->at);
		group->begin = 0;
		group->end = n;
	}
	TRY(ARRAY_GROW(group->at, group->capacity, group->end + 1));
	group->at[group->end++] = fields;
	group->begin += group->end - group->begin > q->plan->nahead_max;
	return STATUS_OK;
}

/* Gives the records of a group that wait the fields of its first records in a text. */
static void fill_gaps(const struct plan *plan, struct lead_group *group, const struct lead_text *t,
		      const struct lead_text_group *of)
{
	const uint64_t nwaiting = group->end - group->begin;

	for (uint64_t i = 0, n = count_edge(plan, of); i < n; i++) {
		const struct lead_cell *cell = &t->cells[t->order[of->begin + i] * plan->nleads];
		const struct new_column *column = plan->new_columns;
		for (size_t lead = 0; lead < plan->nleads; lead++, column++, cell++) {
			column = lead_from(column);
			if (column->nahead > i && column->nahead <= i + nwaiting)
				group->at[group->begin + (nwaiting + i - column->nahead)][lead] =
					(struct lead_field){t->bytes.data + cell->begin,
							    cell->nbytes};
		}
	}
}

/* ---- writing ---- */

static enum status flush(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	enum status status = writer_write(writer, &q->ready, fault);

	q->ready.nbytes = 0;
	return status;
}

#define MISSING_NBYTES 16

/* Writes a field that there is not, as one that is empty is written. */
static struct lead_field write_missing(const struct plan *plan,
				       char to[MISSING_NBYTES + EMIT_SLACK])
{
	char *end = to;

	if (plan->row_format)
		end = row_put_value(plan->row_format, "", 0, false, to);
	else if (plan->dialect.whitespace)
		*end++ = '_';
	return (struct lead_field){to, (uint32_t)(end - to)};
}

/* Makes the text's next record ready, or sets *lacks if it lacks a field and none is given for it. */
static enum status ready_record(struct lead_queue *q, struct lead_text *t,
				struct lead_field missing, bool *lacks)
{
	const struct new_column *column = q->plan->new_columns;
	const size_t row = t->nwritten;
	size_t nbytes = row_end(t, row) - t->rows[row].begin + EMIT_SLACK;

	for (size_t lead = 0; lead < q->plan->nleads; lead++, column++) {
		struct lead_field field = field_of(t, q->plan, row, lead,
						   column = lead_from(column), missing);
		nbytes += field.nbytes;
		*lacks |= !field.text;
	}
	if (*lacks)
		return STATUS_OK;
	TRY(text_reserve(&q->ready, nbytes));
	q->ready.nbytes = (size_t)(fill_row(t, q->plan, row, missing,
					    q->ready.data + q->ready.nbytes) -
				   q->ready.data);
	t->nwritten++;
	return STATUS_OK;
}

/* Makes all records ready before the first that lacks a field. at_end: it is empty then. A last record without a line end is
 * written at once: the writer adds one if others follow. */
static enum status write_texts(struct lead_queue *q, bool at_end, struct writer *writer,
			       struct fault *fault)
{
	char room[MISSING_NBYTES + EMIT_SLACK] = "";
	const struct lead_field missing = at_end ? write_missing(q->plan, room)
						 : (struct lead_field){NULL, 0};
	bool lacks = false;

	for (struct lead_text *t; (t = q->first); lead_text_free(t)) {
		while (t->nwritten < t->n && !lacks)
			TRY(ready_record(q, t, missing, &lacks));
		if (lacks)
			return STATUS_OK;
		if (t->in_line) {
			q->ready.nbytes--;
			q->ready.in_line = true;
			TRY(flush(q, writer, fault));
		}
		q->first = t->next;
	}
	return STATUS_OK;
}

/* Takes a text that is to be the queue's last: gives the records that wait the fields that it has for them, writes what is
 * complete then, its closed records too if none waits before them, and adds the others to their groups. */
static enum status take_text(struct lead_queue *q, struct lead_text *t, struct text_buffer *closed,
			     struct writer *writer, struct fault *fault)
{
	const size_t nopen = t->n - t->first_open,
		     record_nbytes = RECORD_NBYTES + sizeof(struct lead_row) + sizeof *t->order +
				     q->plan->nleads * (sizeof *t->cells + sizeof *t->fields);
	struct lead_group *group;

	for (size_t g = 0; g < t->ngroups; g++) {
		TRY(find_group(q, t->groups[g].home, &group, fault));
		fill_gaps(q->plan, group, t, &t->groups[g]);
	}
	TRY(write_texts(q, false, writer, fault));
	if (!q->first) {
		TRY(flush(q, writer, fault));
		TRY(writer_write(writer, closed, fault));
		t->nwritten = t->first_open;
	}
	t->taken_nbytes = (t->n - t->nwritten) * record_nbytes + t->ngroups * sizeof *t->groups +
			  (t->nwritten < t->n ? t->bytes.nbytes - t->rows[t->nwritten].begin : 0);
	TRY(take(q, &t->taken_nbytes, fault));
	for (size_t i = 0; i < nopen; i++) {
		TRY(find_group(q, t->groups[t->rows[t->first_open + i].group].home, &group, fault));
		TRY(add_to_group(q, group, t->fields + i * q->plan->nleads));
	}
	return STATUS_OK;
}

enum status lead_queue_write(struct lead_queue *q, struct text_buffer *text, struct writer *writer, struct fault *fault)
{
	struct lead_mark mark;

	if (q->plan->nleads == 0)
		return writer_write(writer, text, fault);
	for (size_t at = 0; at < text->nbytes; at += sizeof mark + mark.closed_nbytes) {
		struct text_buffer closed = {.data = text->data + at + sizeof mark};
		enum status status;
		memcpy(&mark, text->data + at, sizeof mark);
		closed.nbytes = mark.closed_nbytes;
		status = take_text(q, mark.text, &closed, writer, fault);
		if (q->first) /* after an error, too: records before it may hold its fields */
			q->last->next = mark.text;
		else
			q->first = mark.text;
		q->last = mark.text;
		TRY(status);
	}
	return flush(q, writer, fault);
}

enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	TRY(write_texts(q, true, writer, fault));
	return flush(q, writer, fault);
}
