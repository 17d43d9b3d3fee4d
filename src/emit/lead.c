/* SPDX-License-Identifier: MIT
 *
 * lead.c - see lead.h. A record is a row of parts: a piece, a field of a later record, ... a piece. Of the records of a text, those
 * before the first that lacks a field of a later text are closed: their text is printed as it is. The others, with the fields that
 * records of texts before may lack, are a block, which goes from the text to the queue by its address, and waits there as it is.
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

#define IS_OPEN UINT32_MAX /* the length of a field that is not there yet */

struct lead_field {
	const char *text; /* in this block, or in one that is freed after it */
	uint32_t nbytes;
};

/* One of the groups that a text has records of. */
struct lead_block_group {
	const void *home;
	uint64_t nfirsts; /* its first records, whose fields earlier records may lack */
};

/* One allocation, except for the closed text, if it waits. */
struct lead_block {
	struct lead_block *next;
	size_t nbytes, nrecords, nwritten, ngroups;
	struct lead_field *fields;       /* nleads of each record */
	struct lead_block_group *groups;
	uint32_t *of_group;              /* of each record: which of these is its group */
	uint32_t *piece_nbytes;          /* nleads + 1 of each record */
	const char *text;                /* the records that are not written: piece, field if it is there, ... piece */
	const char *firsts;              /* group by group, the nleads fields of each of the first records: length, text */
	char *closed;                    /* the text before the records, if it waits, too; owned */
	size_t closed_nbytes;
	bool in_line; /* the last record's line end is not to be printed */
};

/* How a text that lead_rows_write has written begins; then comes its closed text. Unaligned. */
struct lead_mark {
	struct lead_block *block;
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

void lead_rows_free(struct lead_rows *r)
{
	text_free(&r->bytes);
	text_free(&r->firsts);
	free(r->cells);
	free(r->rows);
	free(r->order);
	free(r->groups);
	free(r->scratch.data);
	memset(r, 0, sizeof *r);
}

/* Finds the number of a row's group in the text: that of its states, which new columns that need only some of
 * the rows have given in an order of their own. Errors: STATUS_NO_MEMORY. */
static enum status find_number(struct lead_rows *r, struct new_fields *fields, struct group *group, uint32_t *number)
{
	if (group && !new_fields_group(fields, group))
		return STATUS_NO_MEMORY;
	*number = group ? (uint32_t)group->state - 1 : 0;
	for (; *number >= r->ngroups; r->ngroups++) {
		TRY(ARRAY_GROW(r->groups, r->groups_capacity, r->ngroups + 1));
		r->groups[r->ngroups] = (struct lead_rows_group){NULL, 0, 0};
	}
	r->groups[*number].home = group ? *group_home(group) : NULL;
	return STATUS_OK;
}

/* Copies the record and new fields of row k of the fields', and notes where its own fields are. */
static char *add_row(const struct lead_rows *r, const struct row_block *b, const struct new_fields *fields,
		     unsigned k, const struct row_record *record, struct lead_cell *cell, char *to)
{
	const struct plan *plan = r->plan;
	const size_t *begin = fields->begins + k;

	if (!plan->only)
		to = copy_delimiters(copy_text(to, b->text + record->begin, record->end - record->begin),
				     plan->dialect.delimiter, record->nlacking);
	for (size_t i = 0; i < plan->nnew_columns; i++, begin += ROW_BLOCK_NROWS + 1) {
		size_t nbytes = begin[1] - begin[0], nleading = i > 0 || !plan->only;
		if (plan->new_columns[i].kind == NEW_LEAD)
			*cell++ = (struct lead_cell){(size_t)(to - r->bytes.data) + nleading, (uint32_t)(nbytes - nleading)};
		to = copy_text(to, fields->text.data + begin[0], nbytes);
	}
	memcpy(to, b->text + record->line_end, 2); /* the line end, perhaps a byte more */
	return to + (record->next - record->line_end);
}

enum status lead_rows_add(struct lead_rows *r, const struct row_block *b, struct new_fields *fields,
			  struct group *const *groups)
{
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1] + row_block_nlacking(b) + fields->text.nbytes;
	size_t n = r->n + fields->nrows, nleads = r->plan->nleads;
	char *to;

	TRY(ARRAY_GROW(r->cells, r->cells_capacity, n * nleads));
	TRY(ARRAY_GROW(r->rows, r->rows_capacity, n));
	TRY(ARRAY_GROW(r->order, r->order_capacity, n));
	TRY(text_reserve(&r->bytes, nbytes + EMIT_SLACK));
	to = r->bytes.data + r->bytes.nbytes;
	for (unsigned k = 0; k < fields->nrows; k++, r->n++) {
		unsigned row = fields->rows[k];
		struct row_record record = row_record_at(b->text, row_block_ends(b, row), b->stride,
							 row_block_nfields(b), r->plan->dialect.escape);
		struct lead_row *out = &r->rows[r->n];
		TRY(find_number(r, fields, groups ? groups[row] : NULL, &out->group));
		out->begin = (size_t)(to - r->bytes.data);
		if (r->plan->row_format) {
			r->bytes.nbytes = out->begin;
			TRY(printed_row_append(b, fields, k, &r->scratch, r->cells + r->n * nleads, &r->bytes));
			to = r->bytes.data + r->bytes.nbytes;
		} else {
			to = add_row(r, b, fields, k, &record, r->cells + r->n * nleads, to);
		}
	}
	r->bytes.nbytes = (size_t)(to - r->bytes.data);
	return STATUS_OK;
}

/* ---- filling ---- */

/* Sorts the rows by group, each group's in the order of the text. */
static void sort_rows(struct lead_rows *r)
{
	uint32_t begin = 0;

	for (size_t i = 0; i < r->n; i++)
		r->groups[r->rows[i].group].end++;
	for (size_t g = 0; g < r->ngroups; g++) {
		uint32_t n = r->groups[g].end;
		r->groups[g].begin = r->groups[g].end = begin;
		begin += n;
	}
	for (size_t i = 0; i < r->n; i++) {
		r->rows[i].place = r->groups[r->rows[i].group].end++;
		r->order[r->rows[i].place] = (uint32_t)i;
	}
}

/* How many of a group's records, from the first on, may hold fields of texts before; and from the last, may
 * lack some. */
static uint64_t count_edge(const struct lead_rows *r, const struct lead_rows_group *group)
{
	uint64_t n = group->end - group->begin;

	return n < r->plan->nahead_max ? n : r->plan->nahead_max;
}

/* Copies a row with the fields of later ones. field, piece_nbytes: where they and the lengths of the pieces between them are noted; NULL:
 * they are not wanted, and no field is lacking. Returns the copy's end. */
static char *fill_row(const struct lead_rows *r, size_t row, struct lead_field *field, uint32_t *piece_nbytes, char *to)
{
	const size_t nleads = r->plan->nleads;
	const struct lead_cell *own = r->cells + row * nleads, *later;
	const uint32_t place = r->rows[row].place, left = r->groups[r->rows[row].group].end - place;
	const struct new_column *column = r->plan->new_columns;
	size_t from = r->rows[row].begin, end = row + 1 < r->n ? r->rows[row + 1].begin : r->bytes.nbytes;

	for (size_t lead = 0; lead < nleads; lead++, own++) {
		column = lead_from(column + (lead > 0));
		later = column->nahead < left ? &r->cells[r->order[place + column->nahead] * nleads + lead] : NULL;
		to = copy_text(to, r->bytes.data + from, own->begin - from);
		if (field) {
			*field++ = (struct lead_field){to, later ? later->nbytes : IS_OPEN};
			*piece_nbytes++ = (uint32_t)(own->begin - from);
		}
		if (later)
			to = copy_text(to, r->bytes.data + later->begin, later->nbytes);
		from = own->begin + own->nbytes;
	}
	if (field)
		*piece_nbytes = (uint32_t)(end - from);
	return copy_text(to, r->bytes.data + from, end - from);
}

/* ---- a block ---- */

/* Writes the fields of each group's first rows, nfirsts of all. */
static enum status gather_firsts(struct lead_rows *r, size_t nfirsts)
{
	const size_t nleads = r->plan->nleads;
	const struct lead_cell *cell;
	char *to;

	r->firsts.nbytes = 0;
	TRY(text_reserve(&r->firsts, nfirsts * nleads * sizeof cell->nbytes + r->bytes.nbytes + EMIT_SLACK));
	to = r->firsts.data;
	for (size_t g = 0; g < r->ngroups; g++)
		for (uint64_t i = 0; i < count_edge(r, &r->groups[g]) * nleads; i++) {
			cell = &r->cells[r->order[r->groups[g].begin + i / nleads] * nleads + i % nleads];
			memcpy(to, &cell->nbytes, sizeof cell->nbytes);
			to = copy_text(to + sizeof cell->nbytes, r->bytes.data + cell->begin, cell->nbytes);
		}
	r->firsts.nbytes = (size_t)(to - r->firsts.data);
	return STATUS_OK;
}

/* Makes a block of the rows from first_held on and of the first ones' fields, which have been gathered. */
static enum status make_block(const struct lead_rows *r, size_t first_held, struct lead_block **out)
{
	const size_t nleads = r->plan->nleads, nheld = r->n - first_held;
	size_t nbytes = sizeof(struct lead_block) + nheld * nleads * sizeof(struct lead_field) +
			r->ngroups * sizeof(struct lead_block_group) + nheld * (nleads + 2) * sizeof(uint32_t) + r->firsts.nbytes +
			(nheld ? r->bytes.nbytes - r->rows[first_held].begin : 0) + EMIT_SLACK;
	struct lead_block *b = *out = malloc(nbytes);
	char *to;

	NEED(b);
	*b = (struct lead_block){.nbytes = nbytes, .nrecords = nheld, .ngroups = r->ngroups, .fields = (struct lead_field *)(b + 1)};
	b->groups = (struct lead_block_group *)(b->fields + nheld * nleads);
	b->of_group = (uint32_t *)(b->groups + r->ngroups);
	b->piece_nbytes = b->of_group + nheld;
	b->firsts = memcpy(b->piece_nbytes + nheld * (nleads + 1), r->firsts.data, r->firsts.nbytes);
	b->text = to = (char *)b->firsts + r->firsts.nbytes;
	for (size_t g = 0; g < r->ngroups; g++)
		b->groups[g] = (struct lead_block_group){r->groups[g].home, count_edge(r, &r->groups[g])};
	for (size_t i = 0; i < nheld; i++) {
		b->of_group[i] = r->rows[first_held + i].group;
		to = fill_row(r, first_held + i, b->fields + i * nleads, b->piece_nbytes + i * (nleads + 1), to);
	}
	return STATUS_OK;
}

enum status lead_rows_write(struct lead_rows *r, struct text_buffer *out)
{
	struct lead_mark mark;
	size_t first_held = r->n, nfirsts = 0;
	char *closed, *to;

	if (r->n == 0)
		return STATUS_OK;
	sort_rows(r);
	for (size_t g = 0; g < r->ngroups; g++) {
		uint64_t edge = count_edge(r, &r->groups[g]);
		uint32_t row = edge ? r->order[r->groups[g].end - edge] : UINT32_MAX;
		first_held = row < first_held ? row : first_held;
		nfirsts += edge;
	}
	TRY(gather_firsts(r, nfirsts));
	TRY(text_reserve(out, sizeof mark + r->bytes.nbytes + EMIT_SLACK)); /* each piece and each field is closed at most once */
	TRY(make_block(r, first_held, &mark.block));
	to = closed = out->data + out->nbytes + sizeof mark;
	for (size_t row = 0; row < first_held; row++)
		to = fill_row(r, row, NULL, NULL, to);
	mark.closed_nbytes = (size_t)(to - closed);
	memcpy(out->data + out->nbytes, &mark, sizeof mark);
	out->nbytes = (size_t)(to - out->data);
	r->n = r->ngroups = r->bytes.nbytes = 0;
	return STATUS_OK;
}

void lead_rows_end_in_line(struct text_buffer *out, size_t offset)
{
	struct lead_mark mark;

	memcpy(&mark, out->data + offset, sizeof mark);
	mark.block->in_line = true;
}

/* ---- the queue ---- */

#define RECORD_NBYTES (2 * sizeof(struct lead_field *)) /* of a record in its group's list */
#define GROUP_NBYTES (4 * sizeof(struct lead_group))    /* of a group in the table */

static void free_block(struct lead_block *b)
{
	memory_give(b->nbytes + b->nrecords * RECORD_NBYTES + b->closed_nbytes);
	free(b->closed);
	free(b);
}

void lead_queue_free(struct lead_queue *q)
{
	while (q->first) {
		struct lead_block *b = q->first;
		q->first = b->next;
		free_block(b);
	}
	for (size_t i = 0; i < q->nslots; i++)
		free(q->groups[i].at);
	memory_give(q->ngroups * GROUP_NBYTES);
	free(q->groups);
	text_free(&q->ready);
	memset(q, 0, sizeof *q);
}

/* Takes memory of the limit. A quarter is left to the groups: without it, the error would name them as what is too large. */
static enum status take(const struct lead_queue *q, uint64_t nbytes, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	if (memory_take_leaving(nbytes, q->plan->nkeys ? memory_limit_nbytes() / 4 : 0))
		return STATUS_OK;
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

	if (2 * q->ngroups >= q->nslots)
		TRY(grow_table(q));
	group = *out = slot_of(q->groups, q->nslots, home);
	if (group->at)
		return STATUS_OK;
	TRY(take(q, GROUP_NBYTES, fault));
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

/* Gives the records of a group that wait the fields of its n first records of a block, and returns those of the next group. */
static const char *fill_gaps(const struct lead_queue *q, struct lead_group *group, uint64_t n, const char *firsts)
{
	uint64_t nwaiting = group->end - group->begin;
	uint32_t nbytes;

	for (uint64_t i = 0; i < n; i++) {
		const struct new_column *column = q->plan->new_columns;
		for (size_t lead = 0; lead < q->plan->nleads; lead++, column++, firsts += nbytes) {
			column = lead_from(column);
			memcpy(&nbytes, firsts, sizeof nbytes);
			firsts += sizeof nbytes;
			if (column->nahead > i && column->nahead <= i + nwaiting)
				group->at[group->begin + (nwaiting + i - column->nahead)][lead] = (struct lead_field){firsts, nbytes};
		}
	}
	return firsts;
}

/* ---- writing ---- */

static enum status flush(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	enum status status = writer_write(writer, &q->ready, fault);

	q->ready.nbytes = 0;
	return status;
}

/* Appends a field that there is not, as one that is empty is written. */
static enum status append_missing(struct lead_queue *q)
{
	const struct plan *plan = q->plan;

	if (!plan->row_format)
		return text_append(&q->ready, "_", plan->dialect.whitespace);
	TRY(text_reserve(&q->ready, row_value_nbytes_most(plan->row_format, 0, 0)));
	q->ready.nbytes = (size_t)(row_put_value(plan->row_format, "", 0, false, q->ready.data + q->ready.nbytes) - q->ready.data);
	return STATUS_OK;
}

/* Makes the block's next record ready, or sets *lacks if it lacks a field. at_end: a field that it lacks is empty. */
static enum status ready_record(struct lead_queue *q, struct lead_block *b, bool at_end, bool *lacks)
{
	const size_t nleads = q->plan->nleads;
	const struct lead_field *field = b->fields + b->nwritten * nleads;
	const uint32_t *piece_nbytes = b->piece_nbytes + b->nwritten * (nleads + 1);

	for (size_t lead = 0; lead < nleads && !at_end; lead++)
		*lacks |= field[lead].nbytes == IS_OPEN;
	if (*lacks)
		return STATUS_OK;
	b->nwritten++;
	for (size_t lead = 0; lead < nleads; lead++, field++) {
		TRY(text_append(&q->ready, b->text, piece_nbytes[lead]));
		b->text += piece_nbytes[lead];
		if (field->nbytes != IS_OPEN)
			TRY(text_append(&q->ready, field->text, field->nbytes));
		else
			TRY(append_missing(q));
		b->text += field->text == b->text && field->nbytes != IS_OPEN ? field->nbytes : 0;
	}
	TRY(text_append(&q->ready, b->text, piece_nbytes[nleads]));
	b->text += piece_nbytes[nleads];
	return STATUS_OK;
}

/* Makes all records ready before the first that lacks a field. at_end: it is empty then. A last record without a line end is
 * written at once: the writer adds one if others follow. */
static enum status write_blocks(struct lead_queue *q, bool at_end, struct writer *writer, struct fault *fault)
{
	bool lacks = false;

	for (struct lead_block *b; (b = q->first); free_block(b)) {
		TRY(text_append(&q->ready, b->closed, b->closed_nbytes));
		memory_give(b->closed_nbytes);
		free(b->closed);
		b->closed = NULL;
		b->closed_nbytes = 0;
		while (b->nwritten < b->nrecords && !lacks)
			TRY(ready_record(q, b, at_end, &lacks));
		if (lacks)
			return STATUS_OK;
		if (b->in_line) {
			q->ready.nbytes--;
			q->ready.in_line = true;
			TRY(flush(q, writer, fault));
		}
		q->first = b->next;
	}
	return STATUS_OK;
}

/* Writes the text before a block, or keeps it after the records that wait. */
static enum status write_closed(struct lead_queue *q, struct lead_block *b, struct text_buffer *closed, struct writer *writer,
				struct fault *fault)
{
	if (closed->nbytes == 0)
		return STATUS_OK;
	if (!q->first) {
		TRY(flush(q, writer, fault));
		return writer_write(writer, closed, fault);
	}
	TRY(take(q, closed->nbytes, fault));
	b->closed_nbytes = closed->nbytes;
	NEED(b->closed = malloc(closed->nbytes));
	memcpy(b->closed, closed->data, closed->nbytes);
	return STATUS_OK;
}

/* Takes a block that is to be the queue's last: gives the records that wait the fields that it has for them, writes what is
 * complete then, and adds the block's records to their groups. */
static enum status take_block(struct lead_queue *q, struct lead_block *b, struct text_buffer *closed, struct writer *writer,
			      struct fault *fault)
{
	const char *firsts = b->firsts;
	struct lead_group *group;

	for (size_t g = 0; g < b->ngroups; g++) {
		TRY(find_group(q, b->groups[g].home, &group, fault));
		firsts = fill_gaps(q, group, b->groups[g].nfirsts, firsts);
	}
	TRY(write_blocks(q, false, writer, fault));
	TRY(write_closed(q, b, closed, writer, fault));
	for (size_t i = 0; i < b->nrecords; i++) {
		TRY(find_group(q, b->groups[b->of_group[i]].home, &group, fault));
		TRY(add_to_group(q, group, b->fields + i * q->plan->nleads));
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
		status = take(q, mark.block->nbytes + mark.block->nrecords * RECORD_NBYTES, fault);
		if (status != STATUS_OK) {
			free(mark.block);
			return status;
		}
		status = take_block(q, mark.block, &closed, writer, fault);
		if (q->first) /* after an error, too: records before it may hold its fields */
			q->last->next = mark.block;
		else
			q->first = mark.block;
		q->last = mark.block;
		TRY(status);
	}
	return flush(q, writer, fault);
}

enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	TRY(write_blocks(q, true, writer, fault));
	return flush(q, writer, fault);
}
