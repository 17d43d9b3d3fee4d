/* SPDX-License-Identifier: MIT
 *
 * lead_queue.c - see lead_queue.h. Of each frame a copy waits, a block, but for the closed text at its end:
 * that is copied only if records before it wait.
 */
#include "emit/lead_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "emit/lead_frame.h"

#define RECORD_NBYTES (2 * sizeof(struct lead_gap *)) /* of a record in its group's list */
#define GROUP_NBYTES (4 * sizeof(struct lead_group))  /* of a group in the table */

struct lead_block {
	struct lead_block *next;
	size_t nbytes;  /* of this allocation */
	char *closed;   /* printed before the records; owned; NULL: nothing */
	size_t closed_nbytes;
	struct lead_gap *gaps; /* plan->nleads for each record */
	size_t nrecords, nwritten;
	const uint32_t *part_nbytes; /* of the next record */
	const char *parts;           /* the same */
	bool in_line;                /* the last record's line end is not printed */
	/* The gaps and the frame follow. */
};

void lead_queue_init(struct lead_queue *q, const struct plan *plan)
{
	memset(q, 0, sizeof *q);
	q->plan = plan;
}

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
	free(q->nahead);
	text_free(&q->ready);
	memset(q, 0, sizeof *q);
}

/* Lists how far the columns look ahead. */
static enum status need_columns(struct lead_queue *q)
{
	size_t n = 0;

	if (q->nahead)
		return STATUS_OK;
	q->nahead = calloc(q->plan->nleads, sizeof *q->nahead);
	if (!q->nahead)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < q->plan->nnew_columns; i++) {
		const struct new_column *column = &q->plan->new_columns[i];
		if (column->kind != NEW_LEAD)
			continue;
		q->nahead[n++] = column->nahead;
		q->nahead_max = column->nahead > q->nahead_max ? column->nahead : q->nahead_max;
	}
	return STATUS_OK;
}

/* Takes memory of the limit. Errors: STATUS_MEMORY_LIMIT. */
static enum status take(const struct lead_queue *q, uint64_t nbytes, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	if (memory_take(nbytes))
		return STATUS_OK;
	snprintf(words, sizeof words, "%" PRIu64 " bytes", memory_limit_nbytes());
	fault_set(fault, STATUS_MEMORY_LIMIT, 0, words);
	snprintf(fault->remedy, sizeof fault->remedy, "--memory SIZE with more, or %s",
		 q->plan->nkeys ? "an input sorted by the columns of --by" : "--lead with a smaller N");
	return fault->status;
}

/* ---- groups ---- */

static struct lead_group *slot_of(const struct lead_queue *q, const void *home)
{
	size_t i = (size_t)((uint64_t)(uintptr_t)home * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (q->nslots - 1);

	while (q->groups[i].at && q->groups[i].home != home)
		i = (i + 1) & (q->nslots - 1);
	return &q->groups[i];
}

static enum status grow_table(struct lead_queue *q)
{
	struct lead_queue grown = {.nslots = q->nslots ? 2 * q->nslots : 16};

	grown.groups = calloc(grown.nslots, sizeof *grown.groups);
	if (!grown.groups)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < q->nslots; i++)
		if (q->groups[i].at)
			*slot_of(&grown, q->groups[i].home) = q->groups[i];
	free(q->groups);
	q->groups = grown.groups;
	q->nslots = grown.nslots;
	return STATUS_OK;
}

/* Makes room for a record more at the end of a group's. */
static enum status reserve(struct lead_group *group)
{
	size_t n = group->end - group->begin;
	struct lead_gap **grown;

	if (group->end < group->capacity)
		return STATUS_OK;
	if (n > group->capacity / 2) {
		grown = realloc(group->at, 2 * group->capacity * sizeof *grown);
		if (!grown)
			return STATUS_NO_MEMORY;
		group->at = grown;
		group->capacity *= 2;
	}
	memmove(group->at, group->at + group->begin, n * sizeof *group->at);
	group->begin = 0;
	group->end = n;
	return STATUS_OK;
}

/* Returns the group, without records if it is new; valid until the next call. NULL: fault says why. */
static struct lead_group *find_group(struct lead_queue *q, const void *home, struct fault *fault)
{
	struct lead_group *group = NULL;

	if (2 * q->ngroups < q->nslots || grow_table(q) == STATUS_OK)
		group = slot_of(q, home);
	if (group && group->at)
		return group;
	if (take(q, GROUP_NBYTES, fault) != STATUS_OK)
		return NULL;
	if (group)
		group->at = calloc(2, sizeof *group->at);
	if (!group || !group->at) {
		fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		return NULL;
	}
	group->home = home;
	group->capacity = 2;
	q->ngroups++;
	return group;
}

/* ---- a frame ---- */

/* Where the parts of a frame lie: see lead_frame.h. */
struct parts {
	const struct lead_frame_group *groups;
	const uint32_t *of_group, *part_nbytes, *first_nbytes;
	const char *firsts;
};

static struct parts find_parts(const struct lead_frame *frame, size_t nleads)
{
	struct parts p;

	p.groups = (const struct lead_frame_group *)(frame + 1);
	p.of_group = (const uint32_t *)(p.groups + frame->ngroups);
	p.part_nbytes = p.of_group + frame->nheld;
	p.first_nbytes = p.part_nbytes + frame->nheld * (2 * nleads + 1);
	p.firsts = (const char *)(p.first_nbytes + frame->nfirsts * nleads);
	return p;
}

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
			text += nbytes[1] == LEAD_OPEN ? 0 : nbytes[1];
		}
		text += *nbytes++;
	}
}

/* Makes a block of all of a frame but its closed text. NULL: fault says why. */
static struct lead_block *make_block(const struct lead_queue *q, const struct lead_frame *frame, struct fault *fault)
{
	size_t gaps_nbytes = frame->nheld * q->plan->nleads * sizeof(struct lead_gap);
	size_t nbytes = sizeof(struct lead_block) + gaps_nbytes + frame->closed_offset;
	struct lead_frame *copy;
	struct lead_block *b;
	struct parts p;

	if (take(q, nbytes + frame->nheld * RECORD_NBYTES, fault) != STATUS_OK)
		return NULL;
	b = malloc(nbytes);
	if (!b) {
		fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		return NULL;
	}
	*b = (struct lead_block){.nbytes = nbytes, .gaps = (struct lead_gap *)(b + 1), .nrecords = frame->nheld,
				 .in_line = frame->in_line != 0};
	copy = (struct lead_frame *)(void *)((char *)b->gaps + gaps_nbytes);
	memcpy(copy, frame, frame->closed_offset);
	p = find_parts(copy, q->plan->nleads);
	b->part_nbytes = p.part_nbytes;
	b->parts = p.firsts + copy->firsts_nbytes;
	set_gaps(b, q->plan->nleads);
	return b;
}

static const struct lead_frame *frame_of(const struct lead_block *b, size_t nleads)
{
	return (const struct lead_frame *)(const void *)(b->gaps + b->nrecords * nleads);
}

/* Gives the records of a group that wait the fields of its n first records of a frame. */
static void fill_gaps(const struct lead_queue *q, struct lead_group *group, uint64_t n,
		      const uint32_t **first_nbytes, const char **text)
{
	uint64_t nwaiting = group->end - group->begin;

	for (uint64_t i = 0; i < n; i++)
		for (size_t lead = 0; lead < q->plan->nleads; lead++) {
			uint64_t ahead = q->nahead[lead];
			uint32_t nbytes = *(*first_nbytes)++;
			if (ahead > i && ahead <= i + nwaiting)
				group->at[group->begin + (nwaiting + i - ahead)][lead] =
					(struct lead_gap){*text, nbytes};
			*text += nbytes;
		}
}

/* Gives the records that wait what a block has for them. Errors: as of lead_queue_write. */
static enum status fill_earlier(struct lead_queue *q, const struct lead_block *b, struct fault *fault)
{
	const struct lead_frame *frame = frame_of(b, q->plan->nleads);
	struct parts p = find_parts(frame, q->plan->nleads);

	for (uint32_t g = 0; g < frame->ngroups; g++) {
		struct lead_group *group = find_group(q, p.groups[g].home, fault);
		if (!group)
			return fault->status;
		fill_gaps(q, group, p.groups[g].nfirsts, &p.first_nbytes, &p.firsts);
	}
	return STATUS_OK;
}

/* Adds the block's records to their groups, of which the last few may lack fields. Errors: as of
 * lead_queue_write. */
static enum status add_to_groups(struct lead_queue *q, const struct lead_block *b, struct fault *fault)
{
	size_t nleads = q->plan->nleads;
	struct parts p = find_parts(frame_of(b, nleads), nleads);

	for (size_t i = 0; i < b->nrecords; i++) {
		struct lead_group *group = find_group(q, p.groups[p.of_group[i]].home, fault);
		if (!group)
			return fault->status;
		if (reserve(group) != STATUS_OK)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		group->at[group->end++] = b->gaps + i * nleads;
		if (group->end - group->begin > q->nahead_max)
			group->begin++;
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
		if (gaps[lead].nbytes == LEAD_OPEN)
			return false;
	return true;
}

static enum status append(struct text_buffer *to, const char *text, size_t nbytes)
{
	if (text_reserve(to, nbytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (nbytes > 0)
		memcpy(to->data + to->nbytes, text, nbytes);
	to->nbytes += nbytes;
	return STATUS_OK;
}

/* Makes the block's next record ready; what it lacks is empty. */
static enum status ready_record(struct lead_queue *q, struct lead_block *b)
{
	size_t nleads = q->plan->nleads;
	const struct lead_gap *gap = b->gaps + b->nwritten * nleads;
	enum status status = STATUS_OK;

	for (size_t part = 0; part <= 2 * nleads && status == STATUS_OK; part++) {
		uint32_t nbytes = *b->part_nbytes++;
		if (part % 2 == 0)
			status = append(&q->ready, b->parts, nbytes);
		else if (gap[part / 2].nbytes != LEAD_OPEN)
			status = append(&q->ready, gap[part / 2].text, gap[part / 2].nbytes);
		else if (q->plan->dialect.whitespace) /* as new_fields.c writes what is empty */
			status = append(&q->ready, "_", 1);
		b->parts += nbytes == LEAD_OPEN ? 0 : nbytes;
	}
	b->nwritten++;
	return status;
}

/* Makes the block's records ready, up to one that lacks a field. at_end: it is empty then. Sets *is_done
 * if none is left. A last record without a line end is written at once: the writer adds one if others
 * follow. */
static enum status write_block(struct lead_queue *q, struct lead_block *b, bool at_end, bool *is_done,
			       struct writer *writer, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (b->closed && b->nwritten == 0 && append(&q->ready, b->closed, b->closed_nbytes) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (b->closed) {
		memory_give(b->closed_nbytes);
		free(b->closed);
		b->closed = NULL;
		b->closed_nbytes = 0;
	}
	while (b->nwritten < b->nrecords && (at_end || is_complete(b, q->plan->nleads)))
		if (ready_record(q, b) != STATUS_OK)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	*is_done = b->nwritten == b->nrecords;
	if (*is_done && b->in_line) {
		q->ready.nbytes--;
		q->ready.in_line = true;
		status = flush(q, writer, fault);
	}
	return status;
}

/* Makes all records ready before the first that lacks a field. */
static enum status write_blocks(struct lead_queue *q, bool at_end, struct writer *writer, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool is_done = true;

	while (q->first && status == STATUS_OK) {
		struct lead_block *b = q->first;
		status = write_block(q, b, at_end, &is_done, writer, fault);
		if (status != STATUS_OK || !is_done)
			return status;
		q->first = b->next;
		free_block(b);
	}
	return status;
}

/* Writes the closed text of a frame, or lets it wait behind the records that do. */
static enum status write_closed(struct lead_queue *q, const struct lead_frame *frame, struct lead_block *b,
				struct writer *writer, struct fault *fault)
{
	const char *closed = (const char *)frame + frame->closed_offset;
	struct text_buffer view = {.data = (char *)closed, .nbytes = frame->closed_nbytes};
	enum status status;

	if (frame->closed_nbytes == 0)
		return STATUS_OK;
	if (!q->first) {
		status = flush(q, writer, fault);
		return status == STATUS_OK ? writer_write(writer, &view, fault) : status;
	}
	status = take(q, frame->closed_nbytes, fault);
	if (status != STATUS_OK)
		return status;
	b->closed_nbytes = frame->closed_nbytes;
	b->closed = malloc(frame->closed_nbytes);
	if (!b->closed)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	memcpy(b->closed, closed, frame->closed_nbytes);
	return STATUS_OK;
}

/* Puts a block behind all others. */
static void add_block(struct lead_queue *q, struct lead_block *b)
{
	if (q->first)
		q->last->next = b;
	else
		q->first = b;
	q->last = b;
}

static enum status write_frame(struct lead_queue *q, const struct lead_frame *frame, struct writer *writer,
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
	add_block(q, b); /* after an error, too: records before it may hold its fields */
	return status;
}

enum status lead_queue_write(struct lead_queue *q, struct text_buffer *text, struct writer *writer,
			     struct fault *fault)
{
	enum status status = STATUS_OK;

	if (q->plan->nleads == 0)
		return writer_write(writer, text, fault);
	if (need_columns(q) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (size_t offset = 0; status == STATUS_OK && offset < text->nbytes;) {
		const struct lead_frame *frame = (const struct lead_frame *)(const void *)(text->data + offset);
		status = write_frame(q, frame, writer, fault);
		offset += frame->nbytes;
	}
	return status == STATUS_OK ? flush(q, writer, fault) : status;
}

enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault)
{
	enum status status = write_blocks(q, true, writer, fault);

	return status == STATUS_OK ? flush(q, writer, fault) : status;
}
