/* SPDX-License-Identifier: MIT
 *
 * lead.c - see lead.h. What goes from one to the other is a frame. A record is a row of pieces with a gap after each but the last,
 * one for each of the plan's nleads columns. After the frame's header there are, one after the other, in host byte order:
 *
 *     struct frame_group  groups[ngroups]             those of the records
 *     uint32_t            of_group[nheld]             of each held record: which of these is its group
 *     uint32_t            part_nbytes[nheld][2 * nleads + 1]  piece, field, piece, field, ... piece
 *     uint32_t            first_nbytes[nfirsts][nleads]
 *     char                firsts[]                    group by group, the fields of the first records, as
 *                                                     far as records before the frame may lack them
 *     char                held[held_nbytes]           the parts of the held records
 *     char                closed[closed_nbytes]       all records before the held ones, as they are printed
 *     padding to a multiple of 8 bytes
 *
 * The first held record is the first that lacks a field of a later frame. Of each frame a copy waits in the queue, a block, but for
 * the closed text at its end: that is copied only if records before it wait.
 */
#include "emit/lead.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory_limit.h"
#include "io/writer.h"

#define IS_OPEN UINT32_MAX /* part_nbytes of a field that is not in the frame */

struct frame {
	uint64_t nbytes; /* of all, this header included */
	uint64_t closed_offset, closed_nbytes;
	uint64_t nfirsts; /* of all groups */
	uint64_t firsts_nbytes;
	uint32_t ngroups, nheld;
	uint64_t in_line; /* 1: the last record's line end is not to be printed */
};

struct frame_group {
	const void *home;
	uint64_t nfirsts;
};

/* Where the parts of a frame lie. */
struct frame_parts {
	struct frame_group *groups;
	uint32_t *of_group, *part_nbytes, *first_nbytes;
	char *firsts;
};

static struct frame_parts find_parts(struct frame *frame, size_t nleads)
{
	struct frame_parts p;

	p.groups = (struct frame_group *)(frame + 1);
	p.of_group = (uint32_t *)(p.groups + frame->ngroups);
	p.part_nbytes = p.of_group + frame->nheld;
	p.first_nbytes = p.part_nbytes + frame->nheld * (2 * nleads + 1);
	p.firsts = (char *)(p.first_nbytes + frame->nfirsts * nleads);
	return p;
}

/* The first column of NEW_LEAD from `column` on, of which there is one. */
static const struct new_column *lead_from(const struct new_column *column)
{
	while (column->kind != NEW_LEAD)
		column++;
	return column;
}

/* ---- gathering ---- */

static size_t count_parts(const struct plan *plan)
{
	return 2 * plan->nleads + 1;
}

void lead_rows_free(struct lead_rows *r)
{
	text_free(&r->bytes);
	free(r->part_nbytes);
	free(r->rows);
	free(r->order);
	free(r->groups);
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

/* Copies the record and new fields of row k of the fields', in parts. */
static char *add_parts(struct lead_rows *r, const struct row_block *b, const struct new_fields *fields,
		       unsigned k, const struct row_record *record, uint32_t *part_nbytes, char *to)
{
	const struct plan *plan = r->plan;
	const size_t *begin = fields->begins + k;
	char *piece = to;

	if (!plan->only)
		to = copy_delimiters(copy_text(to, b->text + record->begin, record->end - record->begin),
				     plan->dialect.delimiter, record->nlacking);
	for (size_t i = 0; i < plan->nnew_columns; i++, begin += ROW_BLOCK_NROWS + 1) {
		const char *field = fields->text.data + begin[0];
		size_t nbytes = begin[1] - begin[0], nleading = i > 0 || !plan->only;
		if (plan->new_columns[i].kind != NEW_LEAD) {
			to = copy_text(to, field, nbytes);
			continue;
		}
		to = copy_text(to, field, nleading);
		*part_nbytes++ = (uint32_t)(to - piece);
		piece = to;
		to = copy_text(to, field + nleading, nbytes - nleading);
		*part_nbytes++ = (uint32_t)(to - piece);
		piece = to;
	}
	memcpy(to, b->text + record->line_end, 2); /* the line end, perhaps a byte more */
	to += record->next - record->line_end;
	*part_nbytes = (uint32_t)(to - piece);
	return to;
}

enum status lead_rows_add(struct lead_rows *r, const struct row_block *b, struct new_fields *fields,
			  struct group *const *groups)
{
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1] + row_block_nlacking(b) + fields->text.nbytes;
	size_t n = r->n + fields->nrows, nparts = count_parts(r->plan);
	char *to;

	TRY(ARRAY_GROW(r->part_nbytes, r->parts_capacity, n * nparts));
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
		to = add_parts(r, b, fields, k, &record, r->part_nbytes + r->n * nparts, to);
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

/* The lead-th field of a row. */
static const char *own_field(const struct lead_rows *r, size_t row, size_t lead, uint32_t *nbytes)
{
	const uint32_t *part_nbytes = r->part_nbytes + row * count_parts(r->plan);
	const char *field = r->bytes.data + r->rows[row].begin;

	for (size_t part = 0; part < 2 * lead + 1; part++)
		field += part_nbytes[part];
	*nbytes = part_nbytes[2 * lead + 1];
	return field;
}

/* Copies a row with the fields of later ones. part_nbytes: set to the lengths of its parts; NULL: they are
 * not wanted, and no field is lacking. Returns the copy's end. */
static char *fill_row(const struct lead_rows *r, size_t row, uint32_t *part_nbytes, char *to)
{
	const uint32_t *own_nbytes = r->part_nbytes + row * count_parts(r->plan);
	const char *from = r->bytes.data + r->rows[row].begin;
	const uint32_t place = r->rows[row].place, left = r->groups[r->rows[row].group].end - place;
	const struct new_column *column = r->plan->new_columns;

	for (size_t lead = 0; lead < r->plan->nleads; lead++, own_nbytes += 2) {
		uint32_t nbytes = IS_OPEN;
		column = lead_from(column + (lead > 0));
		to = copy_text(to, from, own_nbytes[0]);
		if (column->nahead < left) {
			const char *field = own_field(r, r->order[place + column->nahead], lead, &nbytes);
			to = copy_text(to, field, nbytes);
		}
		if (part_nbytes) {
			*part_nbytes++ = own_nbytes[0];
			*part_nbytes++ = nbytes;
		}
		from += own_nbytes[0] + own_nbytes[1];
	}
	if (part_nbytes)
		*part_nbytes = own_nbytes[0];
	return copy_text(to, from, own_nbytes[0]);
}

/* ---- the frame ---- */

/* Copies the fields of each group's first rows. Returns the copy's end. */
static char *write_firsts(const struct lead_rows *r, const struct frame_parts *p)
{
	uint32_t *first_nbytes = p->first_nbytes;
	char *to = p->firsts;

	for (size_t g = 0; g < r->ngroups; g++) {
		p->groups[g] = (struct frame_group){r->groups[g].home, count_edge(r, &r->groups[g])};
		for (uint64_t i = 0; i < p->groups[g].nfirsts; i++)
			for (size_t lead = 0; lead < r->plan->nleads; lead++) {
				const char *field = own_field(r, r->order[r->groups[g].begin + i], lead, first_nbytes);
				to = copy_text(to, field, *first_nbytes++);
			}
	}
	return to;
}

/* Each piece and each field is written at most once as part of a record, and fields once more as firsts. */
static size_t frame_nbytes_most(const struct lead_rows *r, const struct frame *frame)
{
	return sizeof *frame + frame->ngroups * sizeof(struct frame_group) +
	       sizeof(uint32_t) * (frame->nheld * (1 + count_parts(r->plan)) + frame->nfirsts * r->plan->nleads) +
	       2 * r->bytes.nbytes + EMIT_SLACK;
}

enum status lead_rows_write(struct lead_rows *r, struct text_buffer *out)
{
	struct frame *frame, head = {.ngroups = (uint32_t)r->ngroups};
	struct frame_parts p;
	size_t first_held = r->n;
	char *to, *begin;

	if (r->n == 0)
		return STATUS_OK;
	sort_rows(r);
	for (size_t g = 0; g < r->ngroups; g++) {
		uint64_t edge = count_edge(r, &r->groups[g]);
		uint32_t row = edge ? r->order[r->groups[g].end - edge] : UINT32_MAX;
		first_held = row < first_held ? row : first_held;
		head.nfirsts += edge;
	}
	head.nheld = (uint32_t)(r->n - first_held);
	TRY(text_reserve(out, frame_nbytes_most(r, &head)));
	begin = out->data + out->nbytes;
	frame = (struct frame *)(void *)begin;
	*frame = head;
	p = find_parts(frame, r->plan->nleads);
	to = write_firsts(r, &p);
	frame->firsts_nbytes = (uint64_t)(to - p.firsts);
	for (size_t row = first_held; row < r->n; row++, p.part_nbytes += count_parts(r->plan)) {
		*p.of_group++ = r->rows[row].group;
		to = fill_row(r, row, p.part_nbytes, to);
	}
	frame->closed_offset = (uint64_t)(to - begin);
	for (size_t row = 0; row < first_held; row++)
		to = fill_row(r, row, NULL, to);
	frame->closed_nbytes = (uint64_t)(to - begin) - frame->closed_offset;
	frame->nbytes = ((uint64_t)(to - begin) + 7) & ~(uint64_t)7;
	out->nbytes += frame->nbytes;
	r->n = r->ngroups = r->bytes.nbytes = 0;
	return STATUS_OK;
}

void lead_rows_end_in_line(struct text_buffer *out, size_t offset)
{
	((struct frame *)(void *)(out->data + offset))->in_line = 1;
}

/* ---- the queue ---- */

#define RECORD_NBYTES (2 * sizeof(struct lead_gap *)) /* of a record in its group's list */
#define GROUP_NBYTES (4 * sizeof(struct lead_group))  /* of a group in the table */

/* A field of a record that waits. */
struct lead_gap {
	const char *text; /* in a block that is freed after the record's */
	uint32_t nbytes;  /* or IS_OPEN */
};

struct lead_block {
	struct lead_block *next;
	size_t nbytes;  /* of this allocation */
	char *closed;   /* printed before the records; owned; NULL: nothing */
	size_t closed_nbytes;
	struct lead_gap *gaps; /* plan->nleads for each record */
	struct frame *frame;
	size_t nrecords, nwritten;
	const uint32_t *part_nbytes; /* of the next record */
	const char *parts;           /* the same */
	/* The gaps and the frame follow. */
};

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

static enum status no_memory(struct fault *fault)
{
	return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Allocates memory of the limit. NULL: fault says why there is none. */
static void *allocate(const struct lead_queue *q, size_t nbytes, uint64_t limit_nbytes, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	void *memory;

	if (memory_take(limit_nbytes)) {
		memory = malloc(nbytes);
		if (!memory)
			no_memory(fault);
		return memory;
	}
	snprintf(words, sizeof words, "%" PRIu64 " bytes", memory_limit_nbytes());
	fault_set(fault, STATUS_MEMORY_LIMIT, 0, words);
	snprintf(fault->remedy, sizeof fault->remedy, "--memory SIZE with more, or %s",
		 q->plan->nkeys ? "an input sorted by the columns of --by" : "--lead with a smaller N");
	return NULL;
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

/* Returns the group, without records if it is new; valid until the next call. NULL: fault says why. */
static struct lead_group *find_group(struct lead_queue *q, const void *home, struct fault *fault)
{
	struct lead_group *group;

	if (2 * q->ngroups >= q->nslots && grow_table(q) != STATUS_OK) {
		no_memory(fault);
		return NULL;
	}
	group = slot_of(q->groups, q->nslots, home);
	if (group->at)
		return group;
	*group = (struct lead_group){.home = home, .capacity = 2};
	group->at = allocate(q, 2 * sizeof *group->at, GROUP_NBYTES, fault);
	q->ngroups += group->at != NULL;
	return group->at ? group : NULL;
}

/* Adds a record with its gaps; of a group's records, the last few may lack fields. */
static enum status add_to_group(const struct lead_queue *q, struct lead_group *group, struct lead_gap *gaps)
{
	size_t n = group->end - group->begin;

	if (group->end == group->capacity && n <= group->capacity / 2) { /* so that each is moved once */
		memmove(group->at, group->at + group->begin, n * sizeof *group->at);
		group->begin = 0;
		group->end = n;
	}
	TRY(ARRAY_GROW(group->at, group->capacity, group->end + 1));
	group->at[group->end++] = gaps;
	group->begin += group->end - group->begin > q->plan->nahead_max;
	return STATUS_OK;
}

/* ---- a block ---- */

/* Sets the gaps of the block's records that the frame fills. */
static void set_gaps(struct lead_block *b, size_t nleads)
{
	const uint32_t *nbytes = b->part_nbytes;
	const char *text = b->parts;
	struct lead_gap *gap = b->gaps;

	for (size_t i = 0; i < b->nrecords; i++) {
		for (size_t lead = 0; lead < nleads; lead++, nbytes += 2) {
			text += nbytes[0];
			*gap++ = (struct lead_gap){text, nbytes[1]};
			text += nbytes[1] == IS_OPEN ? 0 : nbytes[1];
		}
		text += *nbytes++;
	}
}

/* Makes a block of all of a frame but its closed text. NULL: fault says why. */
static struct lead_block *make_block(const struct lead_queue *q, const struct frame *frame, struct fault *fault)
{
	size_t gaps_nbytes = frame->nheld * q->plan->nleads * sizeof(struct lead_gap);
	size_t nbytes = sizeof(struct lead_block) + gaps_nbytes + frame->closed_offset;
	struct lead_block *b = allocate(q, nbytes, nbytes + frame->nheld * RECORD_NBYTES, fault);
	struct frame_parts p;

	if (!b)
		return NULL;
	*b = (struct lead_block){.nbytes = nbytes, .gaps = (struct lead_gap *)(b + 1), .nrecords = frame->nheld};
	b->frame = memcpy((char *)b->gaps + gaps_nbytes, frame, frame->closed_offset);
	p = find_parts(b->frame, q->plan->nleads);
	b->part_nbytes = p.part_nbytes;
	b->parts = p.firsts + frame->firsts_nbytes;
	set_gaps(b, q->plan->nleads);
	return b;
}

/* Gives the records of a group that wait the fields of its n first records of a frame. */
static void fill_gaps(const struct lead_queue *q, struct lead_group *group, uint64_t n, struct frame_parts *p)
{
	uint64_t nwaiting = group->end - group->begin;

	for (uint64_t i = 0; i < n; i++) {
		const struct new_column *column = q->plan->new_columns;
		for (size_t lead = 0; lead < q->plan->nleads; lead++, column++) {
			uint32_t nbytes = *p->first_nbytes++;
			column = lead_from(column);
			if (column->nahead > i && column->nahead <= i + nwaiting)
				group->at[group->begin + (nwaiting + i - column->nahead)][lead] = (struct lead_gap){p->firsts, nbytes};
			p->firsts += nbytes;
		}
	}
}

/* Gives the records that wait what a block has for them. Errors: as of lead_queue_write. */
static enum status fill_earlier(struct lead_queue *q, const struct lead_block *b, struct fault *fault)
{
	struct frame_parts p = find_parts(b->frame, q->plan->nleads);

	for (uint32_t g = 0; g < b->frame->ngroups; g++) {
		struct lead_group *group = find_group(q, p.groups[g].home, fault);
		if (!group)
			return fault->status;
		fill_gaps(q, group, p.groups[g].nfirsts, &p);
	}
	return STATUS_OK;
}

/* Adds the block's records to their groups. Errors: as of lead_queue_write. */
static enum status add_to_groups(struct lead_queue *q, const struct lead_block *b, struct fault *fault)
{
	struct frame_parts p = find_parts(b->frame, q->plan->nleads);

	for (size_t i = 0; i < b->nrecords; i++) {
		struct lead_group *group = find_group(q, p.groups[p.of_group[i]].home, fault);
		if (!group)
			return fault->status;
		if (add_to_group(q, group, b->gaps + i * q->plan->nleads) != STATUS_OK)
			return no_memory(fault);
	}
	return STATUS_OK;
}

/* ---- writing ---- */

static enum status flush(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	enum status status = writer_write(writer, &q->ready, fault);

	q->ready.nbytes = 0;
	return status;
}

static bool is_complete(const struct lead_block *b, size_t nleads)
{
	const struct lead_gap *gaps = b->gaps + b->nwritten * nleads;

	for (size_t lead = 0; lead < nleads; lead++)
		if (gaps[lead].nbytes == IS_OPEN)
			return false;
	return true;
}

static enum status append(struct text_buffer *to, const char *text, size_t nbytes)
{
	TRY(text_reserve(to, nbytes));
	if (nbytes > 0)
		memcpy(to->data + to->nbytes, text, nbytes);
	to->nbytes += nbytes;
	return STATUS_OK;
}

/* Makes the block's next record ready; what it lacks is empty. */
static enum status ready_record(struct lead_queue *q, struct lead_block *b)
{
	size_t nleads = q->plan->nleads;
	const struct lead_gap *gap = b->gaps + b->nwritten++ * nleads;

	for (size_t part = 0; part <= 2 * nleads; part++) {
		uint32_t nbytes = *b->part_nbytes++;
		if (part % 2 == 0)
			TRY(append(&q->ready, b->parts, nbytes));
		else if (gap[part / 2].nbytes != IS_OPEN)
			TRY(append(&q->ready, gap[part / 2].text, gap[part / 2].nbytes));
		else if (q->plan->dialect.whitespace) /* as new_fields.c writes what is empty */
			TRY(append(&q->ready, "_", 1));
		b->parts += nbytes == IS_OPEN ? 0 : nbytes;
	}
	return STATUS_OK;
}

/* Makes all records ready before the first that lacks a field. at_end: it is empty then. A last record without a line end is
 * written at once: the writer adds one if others follow. */
static enum status write_blocks(struct lead_queue *q, bool at_end, struct writer *writer, struct fault *fault)
{
	for (struct lead_block *b; (b = q->first); free_block(b)) {
		if (append(&q->ready, b->closed, b->closed_nbytes) != STATUS_OK)
			return no_memory(fault);
		memory_give(b->closed_nbytes);
		free(b->closed);
		b->closed = NULL;
		b->closed_nbytes = 0;
		while (b->nwritten < b->nrecords && (at_end || is_complete(b, q->plan->nleads)))
			if (ready_record(q, b) != STATUS_OK)
				return no_memory(fault);
		if (b->nwritten < b->nrecords)
			return STATUS_OK;
		if (b->frame->in_line) {
			q->ready.nbytes--;
			q->ready.in_line = true;
			TRY(flush(q, writer, fault));
		}
		q->first = b->next;
	}
	return STATUS_OK;
}

/* Writes the closed text of a frame, or lets it wait behind the records that do. */
static enum status write_closed(struct lead_queue *q, const struct frame *frame, struct lead_block *b,
				struct writer *writer, struct fault *fault)
{
	char *closed = (char *)frame + frame->closed_offset;
	struct text_buffer view = {.data = closed, .nbytes = frame->closed_nbytes};

	if (frame->closed_nbytes == 0)
		return STATUS_OK;
	if (!q->first) {
		TRY(flush(q, writer, fault));
		return writer_write(writer, &view, fault);
	}
	b->closed = allocate(q, frame->closed_nbytes, frame->closed_nbytes, fault);
	if (!b->closed)
		return fault->status;
	b->closed_nbytes = frame->closed_nbytes;
	memcpy(b->closed, closed, frame->closed_nbytes);
	return STATUS_OK;
}

static enum status write_frame(struct lead_queue *q, const struct frame *frame, struct writer *writer,
			       struct fault *fault)
{
	struct lead_block *b = make_block(q, frame, fault);
	enum status status;

	if (!b)
		return fault->status;
	status = fill_earlier(q, b, fault);
	if (status == STATUS_OK)
		status = write_blocks(q, false, writer, fault);
	if (status == STATUS_OK)
		status = write_closed(q, frame, b, writer, fault);
	if (status == STATUS_OK)
		status = add_to_groups(q, b, fault);
	if (q->first) /* after an error, too: records before it may hold its fields */
		q->last->next = b;
	else
		q->first = b;
	q->last = b;
	return status;
}

enum status lead_queue_write(struct lead_queue *q, struct text_buffer *text, struct writer *writer,
			     struct fault *fault)
{
	if (q->plan->nleads == 0)
		return writer_write(writer, text, fault);
	for (size_t offset = 0; offset < text->nbytes;) {
		const struct frame *frame = (const struct frame *)(const void *)(text->data + offset);
		TRY(write_frame(q, frame, writer, fault));
		offset += frame->nbytes;
	}
	return flush(q, writer, fault);
}

enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	TRY(write_blocks(q, true, writer, fault));
	return flush(q, writer, fault);
}
