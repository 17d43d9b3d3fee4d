/* SPDX-License-Identifier: MIT
 *
 * total.c - see total.h.
 */
#include "engine/total.h"

#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "engine/total_check.h"
#include "emit/lead.h"
#include "engine/total_head.h"
#include "fold/groups.h"

enum status seam_folder_begin(const struct total *t, struct seam_folder *f)
{
	if (partial_need(&f->partial, t->plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	partial_clear(&f->partial);
	if (!f->cpu.plan && cpu_folder_init(&f->cpu, t->plan) != STATUS_OK) {
		cpu_folder_free(&f->cpu);
		return STATUS_NO_MEMORY;
	}
	cpu_folder_use(&f->cpu, t->file_plan);
	return STATUS_OK;
}

void seam_folder_free(struct seam_folder *f)
{
	partial_free(&f->partial);
	cpu_folder_free(&f->cpu);
}

enum status total_init(struct total *t, const struct plan *plan)
{
	memset(t, 0, sizeof *t);
	t->plan = t->file_plan = plan;
	t->notes = calloc(TOTAL_NNOTES(plan), sizeof *t->notes);
	return t->notes ? partial_init(&t->partial, plan) : STATUS_NO_MEMORY;
}

void total_free(struct total *t)
{
	for (size_t i = 0; t->notes && i < TOTAL_NNOTES(t->plan); i++)
		free(t->notes[i]);
	free(t->notes);
	partial_free(&t->partial);
	seam_folder_free(&t->folder);
	free(t->seam.memory);
	text_free(&t->head);
	memset(t, 0, sizeof *t);
}

static enum status combine(const struct total *t, struct partial *p, const struct partial *later,
			   struct fault *fault)
{
	enum status status = partial_combine(p, later);

	return status == STATUS_OK ? status : partial_fault(p, t->plan, status, fault);
}

enum status total_bind(const struct plan *plan, struct partial *p, struct fault *fault, enum status status)
{
	if (status != STATUS_OK || !plan->emits || !p->groups)
		return status;
	status = groups_bind(p->groups);
	return status == STATUS_OK ? status : partial_fault(p, plan, status, fault);
}

/* Where records are printed: adds p's groups to the store, and makes them those of all records before. */
static enum status exchange_groups(const struct total *t, const struct partial *p, struct fault *fault)
{
	enum status status = p->groups ? groups_exchange(p->groups) : STATUS_OK;

	return status == STATUS_OK ? status : partial_fault(p, t->plan, status, fault);
}

/* ---- the seam ---- */

static enum status too_long(const struct seam *s, struct fault *fault)
{
	fault_set(fault, STATUS_LONG_RECORD, 0, NULL);
	fault->line = s->line;
	return STATUS_LONG_RECORD;
}

/* Errors: STATUS_LONG_RECORD, STATUS_NO_MEMORY. */
static enum status seam_append(struct seam *s, const char *data, size_t nbytes,
			       struct fault *fault)
{
	if (nbytes == 0)
		return STATUS_OK;
	if (nbytes > RECORD_MAX_NBYTES - s->nbytes)
		return too_long(s, fault);
	if (s->capacity - s->nbytes < nbytes) {
		size_t capacity = 2 * s->capacity + nbytes;
		char *grown = realloc(s->memory, capacity + 1 + 2 * SIMD_PAD_NBYTES);
		if (!grown)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		s->memory = grown;
		s->data = grown + SIMD_PAD_NBYTES;
		s->capacity = capacity;
	}
	memcpy(s->data + s->nbytes, data, nbytes);
	s->nbytes += nbytes;
	return STATUS_OK;
}

/* What is done with the records in the seam. */
struct seam_use {
	struct seam_folder *folder;
	struct partial *into;    /* what they are added to */
	struct text_buffer *out; /* where they are printed, if the plan emits */
};

/* Prints the seam's first nbytes, as folded last into p: all records or none. at_end: the file lacks the
 * LF that they end with. p's groups become those of all records before. */
static enum status seam_emit(struct total *t, const struct seam_use *use, size_t nbytes, bool at_end,
			     struct fault *fault)
{
	const struct seam *s = &t->seam;
	struct text_buffer *out = use->out;
	struct partial before = t->partial;
	size_t had = out->nbytes;
	enum status status = exchange_groups(t, &use->folder->partial, fault);

	if (status != STATUS_OK)
		return status;
	before.groups = use->folder->partial.groups;
	use->folder->cpu.candidates.lacks_end = at_end;
	if (cpu_folder_emit(&use->folder->cpu, s->data, nbytes, CHUNK_BETWEEN_RECORDS, &before,
			    s->offset_bytes, out) != STATUS_OK) {
		out->nbytes = had;
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	if (at_end && out->nbytes > had && t->plan->nleads > 0) {
		lead_rows_end_in_line(out, had);
	} else if (at_end && out->nbytes > had) {
		out->nbytes--;
		out->in_line = s->data[nbytes - 2] != '\r';
	}
	return STATUS_OK;
}

/* Folds the records in the seam, which are complete. at_end: the file's end makes them so, which
 * an LF in the padding stands for. */
static enum status seam_fold(struct total *t, bool at_end, const struct seam_use *use,
			     struct fault *fault)
{
	struct seam *s = &t->seam;
	struct partial *p = &use->folder->partial;
	struct cpu_folder *cpu = &use->folder->cpu;
	struct text text = {s->data, s->nbytes, s->file, s->line, 0, 0};
	size_t nbytes = s->nbytes + at_end;
	enum status status;

	if (s->nbytes == 0)
		return STATUS_OK;
	if (at_end)
		s->data[s->nbytes] = '\n';
	if (partial_need(use->into, t->plan) != STATUS_OK ||
	    seam_folder_begin(t, use->folder) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	p->offset_bytes = s->offset_bytes;
	status = cpu_folder_fold(cpu, s->data, nbytes, CHUNK_BETWEEN_RECORDS, p);
	if (status != STATUS_OK)
		return partial_fault(p, t->plan, status, fault);
	s->nbytes = 0;
	status = total_check(t, &text, p, fault);
	if (status == STATUS_OK && p->open_field_offset != OFFSET_NONE)
		return diagnose_open(t->file_plan, &text, p->open_field_offset, fault);
	if (status == STATUS_OK && t->plan->emits)
		status = seam_emit(t, use, nbytes, at_end, fault);
	if (t->plan->emits && p->groups)
		groups_clear(p->groups); /* they are in the store */
	return status == STATUS_OK ? combine(t, use->into, p, fault) : status;
}

enum status total_end_range(struct total *t, struct fault *fault)
{
	struct seam *s = &t->seam;
	struct partial *p = &t->folder.partial;
	struct text text = {s->data, s->nbytes, s->file, s->line, 0, 0};
	enum status status;

	if (t->keeps_head || s->nbytes == 0)
		return STATUS_OK;
	if (seam_folder_begin(t, &t->folder) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	p->offset_bytes = s->offset_bytes;
	status = cpu_folder_fold(&t->folder.cpu, s->data, s->nbytes, CHUNK_BETWEEN_RECORDS, p);
	if (status != STATUS_OK)
		return partial_fault(p, t->plan, status, fault);
	text.nbytes = p->tail_offset;
	status = total_check(t, &text, p, fault);
	if (status == STATUS_OK)
		status = combine(t, &t->partial, p, fault);
	s->nbytes -= p->tail_offset;
	memmove(s->data, s->data + p->tail_offset, s->nbytes);
	return status;
}

/* ---- a chunk's turn ---- */

void chunk_output_free(struct chunk_output *e)
{
	partial_free(&e->before);
	text_free(&e->head);
	text_free(&e->tail);
}

/* Copies the total so far, for printing the chunk. */
static enum status begin_output(const struct total *t, struct chunk_output *e, struct fault *fault)
{
	if (!t->plan->emits)
		return STATUS_OK;
	if (partial_need(&e->before, t->plan) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	partial_clear(&e->before);
	if (partial_combine(&e->before, &t->partial) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

/* Moves the chunk's groups, as they were before, to what the chunk is printed with. */
static enum status output_groups(const struct total *t, struct partial *later, struct chunk_output *e,
				 struct fault *fault)
{
	struct groups *spare = e->before.groups;
	enum status status;

	if (!t->plan->emits || t->plan->nkeys == 0)
		return STATUS_OK;
	status = exchange_groups(t, later, fault);
	e->before.groups = later->groups;
	e->has_groups = true;
	later->groups = spare;
	if (spare)
		groups_clear(spare);
	return status;
}

void total_begin_quoted(struct total *t)
{
	t->keeps_head = true;
	t->line = 1;
}

/* Moves the seam, in which a record ends that began before all chunks. */
static enum status keep_head(struct total *t, struct fault *fault)
{
	if (text_reserve(&t->head, t->seam.nbytes) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (t->seam.nbytes)
		memcpy(t->head.data, t->seam.data, t->seam.nbytes);
	t->head.nbytes = t->seam.nbytes;
	t->seam.nbytes = 0;
	t->keeps_head = false;
	return STATUS_OK;
}

/* A record ends with the seam, which is folded, unless the record began before all chunks. */
static enum status end_seam(struct total *t, const struct seam_use *use, struct fault *fault)
{
	return t->keeps_head ? keep_head(t, fault) : seam_fold(t, false, use, fault);
}

/* Appends the chunk's head to the seam, and folds the seam if a record ends there. A head may begin
 * with a record: see CHUNK_UNKNOWN. line: the chunk's first. */
static enum status add_head(struct total *t, const struct chunk *chunk, uint64_t line,
			    const struct partial *later, const struct seam_use *use,
			    struct fault *fault)
{
	enum status status;

	if (t->seam.nbytes == 0) {
		t->seam.file = chunk->file;
		t->seam.line = line;
		t->seam.offset_bytes = chunk->offset_bytes;
	}
	status = seam_append(&t->seam, chunk->data, later->head_nbytes, fault);

	if (status == STATUS_OK && later->head_ends)
		status = end_seam(t, use, fault);
	return status;
}

/* Appends the chunk's tail to the seam, and folds the seam at the file's end. */
static enum status add_tail(struct total *t, const struct chunk *chunk,
			    const struct partial *later, const struct seam_use *use,
			    struct fault *fault)
{
	const char *tail = chunk->data + later->tail_offset;
	size_t nbytes = chunk->nbytes - later->tail_offset;
	enum status status;

	if (t->seam.nbytes == 0) {
		t->seam.file = chunk->file;
		t->seam.line = t->line - count_lines(tail, nbytes);
		t->seam.offset_bytes = chunk->offset_bytes + later->tail_offset;
	}
	status = seam_append(&t->seam, tail, nbytes, fault);
	if (status == STATUS_OK && chunk->last_of_file && !t->keeps_head)
		status = seam_fold(t, true, use, fault);
	return status;
}

/* Begins the seam with a text, if it is empty. */
static void place_seam(struct total *t, const struct end_text *text)
{
	t->file_plan = text->plan;
	if (t->seam.nbytes > 0)
		return;
	t->seam.file = text->file;
	t->seam.line = text->line;
	t->seam.offset_bytes = text->offset_bytes;
}

enum status total_add_head(struct total *t, const struct end_text *head, struct fault *fault)
{
	const struct seam_use use = {&t->folder, &t->partial, NULL};
	enum status status;

	place_seam(t, head);
	status = seam_append(&t->seam, head->text, head->nbytes, fault);
	if (status == STATUS_OK && head->ends)
		status = end_seam(t, &use, fault);
	if (status == STATUS_OK && head->ends && t->partial.groups &&
	    groups_store(t->partial.groups) != STATUS_OK) /* before those of later records */
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return status;
}

enum status total_end_file(struct total *t, const struct plan *plan, struct fault *fault)
{
	const struct seam_use use = {&t->folder, &t->partial, NULL};
	enum status status;

	t->file_plan = plan;
	status = t->keeps_head ? STATUS_OK : seam_fold(t, true, &use, fault);
	if (status == STATUS_OK && t->partial.groups && groups_store(t->partial.groups) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return status;
}

enum status total_add_tail(struct total *t, const struct end_text *tail, struct fault *fault)
{
	place_seam(t, tail);
	return seam_append(&t->seam, tail->text, tail->nbytes, fault);
}

/* Adds a chunk's nlines; returns the line that it starts on. */
static uint64_t pass_lines(struct total *t, const struct chunk *chunk, uint64_t nlines)
{
	uint64_t line = chunk->first_of_file ? chunk->first_line : t->line;

	t->line = line + nlines;
	return line;
}

/* Whether the kind of each column that has one is known. The summary's columns have none before the
 * end. */
static bool columns_are_known(const struct plan *plan, const struct partial *p)
{
	for (size_t c = 0; c < p->ncolumns; c++)
		if (plan->columns[c].parses && plan->columns[c].invalid != INVALID_TEXT &&
		    column_kind(&p->columns[c]) == COLUMN_UNKNOWN)
			return false;
	return true;
}

enum status total_add(struct total *t, const struct chunk *chunk, uint64_t nlines,
		      struct partial *later, struct chunk_output *output, struct fault *fault)
{
	uint64_t line = pass_lines(t, chunk, nlines);
	struct text text = {chunk->data, chunk->nbytes, chunk->file, line, 0, 0};
	struct seam_use head = {&t->folder, &t->partial, &output->head};
	struct seam_use tail = {&t->folder, &t->partial, &output->tail};
	enum status status;

	t->file_plan = chunk_plan(chunk, t->plan);
	output->head.nbytes = output->tail.nbytes = 0;
	output->good_nbytes = 0;
	output->has_groups = false;
	t->end_bytes = chunk->offset_bytes + chunk->nbytes;
	status = add_head(t, chunk, line, later, &head, fault);
	if (status == STATUS_OK && total_is_enough(t, NULL))
		return fault_set(fault, STATUS_ENOUGH, 0, NULL);
	if (status == STATUS_OK)
		status = begin_output(t, output, fault);
	if (status != STATUS_OK)
		return status;
	if (total_is_enough(t, later))
		return total_end_within(t, chunk, line, output, fault);
	status = total_check(t, &text, later, fault);
	output->good_nbytes = status == STATUS_OK ? chunk->nbytes : t->fault_offset;
	if (status == STATUS_OK)
		status = output_groups(t, later, output, fault);
	if (status == STATUS_OK)
		status = combine(t, &t->partial, later, fault);
	if (status == STATUS_OK)
		status = add_tail(t, chunk, later, &tail, fault);
	t->settled = t->settled || columns_are_known(t->plan, &t->partial);
	if (status == STATUS_OK && total_is_enough(t, NULL))
		return fault_set(fault, STATUS_ENOUGH, 0, NULL);
	return status;
}

void total_emit_before_fault(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			     struct chunk_output *output)
{
	struct cpu_folder *cpu = &t->folder.cpu;
	struct partial *good = &t->folder.partial, before = output->before;
	size_t had = output->head.nbytes;
	struct fault ignored;

	if (!t->plan->emits || output->good_nbytes == 0)
		return;
	if (seam_folder_begin(t, &t->folder) == STATUS_OK &&
	    cpu_folder_fold(cpu, chunk->data, output->good_nbytes, entry, good) == STATUS_OK &&
	    (output->has_groups || exchange_groups(t, good, &ignored) == STATUS_OK)) {
		before.groups = output->has_groups ? before.groups : good->groups;
		if (cpu_folder_emit(cpu, chunk->data, output->good_nbytes, entry, &before,
				    chunk->offset_bytes, &output->head) == STATUS_OK)
			return;
	}
	output->head.nbytes = had;
	output->tail.nbytes = 0;
}

/* ---- a chunk that is added out of turn ---- */

bool ends_suffice(const struct total *t, const struct partial *later, bool settled)
{
	return !t->plan->emits && !plan_is_ordered(t->plan) &&
	       (settled || columns_are_known(t->plan, later)) && !total_has_fault(t, later);
}

bool border_suffices(const struct total *t, const struct chunk *chunk,
		     const struct partial *later, bool settled)
{
	size_t tail_nbytes = chunk->nbytes - later->tail_offset;

	return later->head_nbytes + tail_nbytes <= BORDER_NBYTES &&
	       ends_suffice(t, later, settled);
}

void border_copy(struct border *b, const struct chunk *chunk, uint64_t nlines,
		 const struct partial *later)
{
	size_t tail_nbytes = chunk->nbytes - later->tail_offset;

	b->chunk = *chunk;
	b->chunk.data = b->text;
	b->chunk.nbytes = later->head_nbytes + tail_nbytes;
	b->tail_offset_bytes = chunk->offset_bytes + later->tail_offset;
	b->nlines = nlines;
	b->head_ends = later->head_ends;
	b->head_nbytes = later->head_nbytes;
	memcpy(b->text, chunk->data, later->head_nbytes);
	memcpy(b->text + later->head_nbytes, chunk->data + later->tail_offset, tail_nbytes);
}

/* A chunk that posts a border has had numbers in every column that parses; the kind of others is
 * not used. */
static void settle(struct total *t)
{
	for (size_t c = 0; !t->settled && c < t->partial.ncolumns; c++)
		if (column_kind(&t->partial.columns[c]) == COLUMN_UNKNOWN)
			t->partial.columns[c].kind = COLUMN_NUMBER;
	t->settled = true;
}

enum status total_add_border(struct total *t, const struct border *b, struct seam_folder *folder,
			     struct partial *deferred, struct fault *fault)
{
	const struct partial ends = {.head_ends = b->head_ends, .head_nbytes = b->head_nbytes,
				     .tail_offset = b->head_nbytes};
	struct seam_use use = {folder, t->settled ? deferred : &t->partial, NULL};
	struct chunk tail = b->chunk; /* as if its text began where the tail's offset says */
	enum status status;
	uint64_t line;

	t->file_plan = chunk_plan(&b->chunk, t->plan);
	line = pass_lines(t, &b->chunk, b->nlines);
	status = add_head(t, &b->chunk, line, &ends, &use, fault);
	settle(t);
	tail.offset_bytes = b->tail_offset_bytes - b->head_nbytes;
	t->end_bytes = tail.offset_bytes + b->chunk.nbytes;
	return status == STATUS_OK ? add_tail(t, &tail, &ends, &use, fault) : status;
}
