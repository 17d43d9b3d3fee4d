/* SPDX-License-Identifier: MIT
 *
 * total.c - see total.h. Chunks are added in input order, so this file decides whether a value that
 * is no number is an error.
 */
#include "engine/total.h"

#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "query/remedy.h"

/* Indices of t->notes; those of the columns follow. */
enum { NOTE_UNDECIDED, NOTE_RAGGED, NNOTES_OF_RECORDS };

/* Makes the folder's tables unless they are there, and clears the partial. */
static enum status seam_folder_begin(const struct total *t, struct seam_folder *f)
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
	t->notes = calloc(NNOTES_OF_RECORDS + plan->ncolumns, sizeof *t->notes);
	return t->notes ? partial_init(&t->partial, plan) : STATUS_NO_MEMORY;
}

void total_free(struct total *t)
{
	for (size_t i = 0; t->notes && i < NNOTES_OF_RECORDS + t->plan->ncolumns; i++)
		free(t->notes[i]);
	free(t->notes);
	partial_free(&t->partial);
	seam_folder_free(&t->folder);
	free(t->seam.memory);
	memset(t, 0, sizeof *t);
}

/* ---- faults ---- */

/* Whether '*' includes column c, and it is text. The summary decides at the end. */
static bool is_text(const struct total *t, const struct partial *later, size_t c)
{
	const struct plan_column *plan = &t->plan->columns[c];
	enum column_kind kind = column_kind(&t->partial.columns[c]);

	if (kind == COLUMN_UNKNOWN)
		kind = column_kind(&later->columns[c]);
	return plan->if_numeric && plan->invalid != INVALID_TEXT && kind == COLUMN_TEXT;
}

/* The offset of column c's first value that is an error or left out: one that is no number or out of
 * range, but in a column of text only one with a NUL. */
static size_t first_wrong(const struct total *t, const struct partial *later, size_t c)
{
	const struct column_partial *column = &later->columns[c];
	size_t text = column->first_invalid_offset, number = column->first_out_of_range_offset;

	if (column->ninvalid == 0)
		return OFFSET_NONE;
	if (t->plan->columns[c].takes_text)
		return column->first_nul_offset;
	if (is_text(t, later, c))
		return t->plan->columns[c].counts_text ? column->first_nul_offset : OFFSET_NONE;
	return text < number ? text : number;
}

/* Whether invalid values of column c are left out, or make it a column of text. */
static bool tolerates(const struct plan *plan, size_t c)
{
	return plan->columns[c].invalid != INVALID_ERROR;
}

/* The first note of column c, or of a kind of records. */
static struct note *_Atomic *note_at(const struct total *t, size_t c)
{
	return &t->notes[NNOTES_OF_RECORDS + c];
}

/* Keeps a diagnosis as a note, unless it failed. */
static enum status keep_note(struct note *_Atomic *note, const struct text *text,
			     struct fault *fault)
{
	struct note *made = NULL;

	if (fault->status != STATUS_NO_MEMORY)
		made = note_make(fault, text->file);
	*note = made;
	return made ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Notes the first value or record of each kind that is no error. */
static enum status note_tolerated(struct total *t, struct text *text, const struct partial *later,
				  struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t c = 0; status == STATUS_OK && c < t->plan->ncolumns; c++) {
		size_t offset = first_wrong(t, later, c);
		if (offset == OFFSET_NONE || *note_at(t, c) || !tolerates(t->plan, c))
			continue;
		diagnose_value(t->file_plan, text, offset, c, fault);
		status = keep_note(note_at(t, c), text, fault);
	}
	if (status == STATUS_OK && later->nundecided && !t->notes[NOTE_UNDECIDED]) {
		diagnose_value(t->file_plan, text, later->first_undecided_offset,
			       later->undecided_column, fault);
		status = keep_note(&t->notes[NOTE_UNDECIDED], text, fault);
	}
	if (status == STATUS_OK && later->nragged && !t->notes[NOTE_RAGGED]) {
		diagnose_ragged(t->file_plan, text, later->first_ragged_offset, fault);
		status = keep_note(&t->notes[NOTE_RAGGED], text, fault);
	}
	return status;
}

const struct note *total_note_of_values(const struct total *t, size_t c)
{
	return *note_at(t, c);
}

const struct note *total_note_of_ragged(const struct total *t)
{
	return t->notes[NOTE_RAGGED];
}

const struct note *total_note_of_undecided(const struct total *t)
{
	return t->notes[NOTE_UNDECIDED];
}

/* The offset of column c's first value that is an error. */
static size_t first_error(const struct total *t, const struct partial *later, size_t c)
{
	return tolerates(t->plan, c) ? OFFSET_NONE : first_wrong(t, later, c);
}

/* The offset of the first ragged record that is an error. */
static size_t first_ragged(const struct plan *plan, const struct partial *later)
{
	bool is_error = plan->ragged.policy != RAGGED_COUNT && plan->bad_record == INVALID_ERROR;

	return is_error ? later->first_ragged_offset : OFFSET_NONE;
}

/* Finds the first error in text, whose partial is `later`. If there is none, notes what is left
 * out. */
static enum status check(struct total *t, struct text *text, const struct partial *later,
			 struct fault *fault)
{
	size_t first = OFFSET_NONE, column = 0, ragged = first_ragged(t->plan, later);
	enum status status;

	for (size_t c = 0; c < t->plan->ncolumns; c++) {
		size_t offset = first_error(t, later, c);
		if (offset < first) {
			first = offset;
			column = c;
		}
	}
	if (later->first_undecided_offset < first && t->plan->bad_record == INVALID_ERROR) {
		first = later->first_undecided_offset;
		column = later->undecided_column;
	}
	if (ragged < first)
		first = ragged;
	t->fault_offset = first;
	if (later->first_stray_offset != OFFSET_NONE && later->first_stray_offset <= first) {
		t->fault_offset = later->first_stray_offset; /* before all else in its record */
		return diagnose_stray(t->file_plan, text, t->fault_offset, fault);
	}
	if (first == OFFSET_NONE)
		return note_tolerated(t, text, later, fault);
	if (first == ragged)
		return diagnose_ragged(t->file_plan, text, first, fault);
	status = diagnose_value(t->file_plan, text, first, column, fault);
	remedy_repeated_header(t->file_plan, text->data, text->nbytes, first,
			       t->file_plan->columns[column].field, fault);
	return status;
}

static enum status combine(const struct total *t, struct partial *p, const struct partial *later,
			   struct fault *fault)
{
	enum status status = partial_combine(p, later);

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
		char *grown = realloc(s->memory, capacity + 2 * SIMD_PAD_NBYTES);
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

/* Prints the seam's first nbytes, as folded last: all records or none. at_end: the file lacks the
 * LF that they end with. */
static enum status seam_emit(struct total *t, struct cpu_folder *cpu, size_t nbytes, bool at_end,
			     struct text_buffer *out, struct fault *fault)
{
	const struct seam *s = &t->seam;
	size_t had = out->nbytes;

	if (cpu_folder_emit(cpu, s->data, nbytes, CHUNK_BETWEEN_RECORDS, &t->partial,
			    s->offset_bytes, out) != STATUS_OK) {
		out->nbytes = had;
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	if (at_end && out->nbytes > had) {
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
	status = check(t, &text, p, fault);
	if (status == STATUS_OK && p->open_field_offset != OFFSET_NONE)
		return diagnose_open(t->file_plan, &text, p->open_field_offset, fault);
	if (status == STATUS_OK && t->plan->emits)
		status = seam_emit(t, cpu, nbytes, at_end, use->out, fault);
	return status == STATUS_OK ? combine(t, use->into, p, fault) : status;
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
		status = seam_fold(t, false, use, fault);
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
	if (status == STATUS_OK && chunk->last_of_file)
		status = seam_fold(t, true, use, fault);
	return status;
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
		      const struct partial *later, struct chunk_output *output, struct fault *fault)
{
	uint64_t line = pass_lines(t, chunk, nlines);
	struct text text = {chunk->data, chunk->nbytes, chunk->file, line, 0, 0};
	struct seam_use head = {&t->folder, &t->partial, &output->head};
	struct seam_use tail = {&t->folder, &t->partial, &output->tail};
	enum status status;

	t->file_plan = chunk_plan(chunk, t->plan);
	output->head.nbytes = output->tail.nbytes = 0;
	output->good_nbytes = 0;
	status = add_head(t, chunk, line, later, &head, fault);
	if (status == STATUS_OK)
		status = begin_output(t, output, fault);
	if (status != STATUS_OK)
		return status;
	status = check(t, &text, later, fault);
	output->good_nbytes = status == STATUS_OK ? chunk->nbytes : t->fault_offset;
	if (status == STATUS_OK)
		status = combine(t, &t->partial, later, fault);
	if (status == STATUS_OK)
		status = add_tail(t, chunk, later, &tail, fault);
	t->settled = t->settled || columns_are_known(t->plan, &t->partial);
	return status;
}

void total_emit_before_fault(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			     struct chunk_output *output)
{
	struct cpu_folder *cpu = &t->folder.cpu;
	struct partial *ignored = &t->folder.partial;
	size_t had = output->head.nbytes;

	if (!t->plan->emits || output->good_nbytes == 0)
		return;
	if (seam_folder_begin(t, &t->folder) == STATUS_OK &&
	    cpu_folder_fold(cpu, chunk->data, output->good_nbytes, entry, ignored) == STATUS_OK &&
	    cpu_folder_emit(cpu, chunk->data, output->good_nbytes, entry, &output->before,
			    chunk->offset_bytes, &output->head) == STATUS_OK)
		return;
	output->head.nbytes = had;
	output->tail.nbytes = 0;
}

/* ---- a chunk that is added out of turn ---- */

/* Whether the chunk has an error, or what must be noted: of a column whose invalid values are no
 * errors the first is, and once it is, a chunk whose turn has not come holds later ones only. */
static bool has_fault(const struct total *t, const struct partial *p)
{
	for (size_t c = 0; c < p->ncolumns; c++)
		if (p->columns[c].ninvalid > 0 && !(tolerates(t->plan, c) && *note_at(t, c)))
			return true;
	return p->nragged > 0 || p->nundecided > 0 || p->first_stray_offset != OFFSET_NONE;
}

bool ends_suffice(const struct total *t, const struct partial *later, bool settled)
{
	return !t->plan->emits && !plan_is_ordered(t->plan) &&
	       (settled || columns_are_known(t->plan, later)) && !has_fault(t, later);
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
	return status == STATUS_OK ? add_tail(t, &tail, &ends, &use, fault) : status;
}
