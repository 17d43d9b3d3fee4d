/* SPDX-License-Identifier: MIT
 *
 * total_check.c - see total_check.h. Chunks are checked in input order, so here a value that is no number
 * becomes an error, is noted, or makes its column text.
 */
#include "engine/total_check.h"

#include "query/remedy.h"

/* Indices of t->notes; those of the columns follow. */
enum { NOTE_UNDECIDED, NOTE_RAGGED };

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
	return &t->notes[TOTAL_NNOTES_OF_RECORDS + c];
}

/* The note of column c's first value that is no number, left out or not: of columns of '*' in a part. */
static struct note *_Atomic *text_note_at(const struct total *t, size_t c)
{
	return note_at(t, t->plan->ncolumns + c);
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

/* Sets fault to column c's value at offset, or its computed value in the record at offset. */
static enum status diagnose_column(const struct total *t, struct text *text,
				   const struct partial *later, size_t offset, size_t c,
				   struct fault *fault)
{
	const struct plan *plan = t->file_plan;
	const struct computed_note *note;

	if (plan->columns[c].let) {
		note = &later->computed[c - (plan->ncolumns - plan->nlets)];
		if (note->offset == offset)
			return diagnose_computed(plan, text, offset, c, note->text,
						 note->nbytes < sizeof note->text
							 ? note->nbytes
							 : sizeof note->text, fault);
	}
	return diagnose_value(plan, text, offset, c, fault);
}

/* Sets fault to the first value that leaves a condition undecided. */
static enum status diagnose_undecided(const struct total *t, struct text *text,
				      const struct partial *later, struct fault *fault)
{
	enum status status = diagnose_value(t->file_plan, text, later->first_undecided_offset,
					    later->undecided_column, fault);

	if (status == STATUS_NO_MEMORY || !later->undecided_is_costly)
		return status;
	fault->remedy[0] = '\0';
	return fault->status = STATUS_TOO_COSTLY;
}

/* In a part, notes the first value of each column that is no number. */
static enum status note_texts(struct total *t, struct text *text, const struct partial *later,
			      struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t c = 0; status == STATUS_OK && t->plan->is_part && c < t->plan->ncolumns; c++) {
		const struct column_partial *column = &later->columns[c];
		size_t words = column->first_invalid_offset, number = column->first_out_of_range_offset;
		if (!t->plan->columns[c].if_numeric || column->ninvalid == 0 || *text_note_at(t, c))
			continue;
		diagnose_value(t->file_plan, text, words < number ? words : number, c, fault);
		status = keep_note(text_note_at(t, c), text, fault);
	}
	return status;
}

/* Notes the first value or record of each kind that is no error. */
static enum status note_tolerated(struct total *t, struct text *text, const struct partial *later,
				  struct fault *fault)
{
	enum status status = note_texts(t, text, later, fault);

	for (size_t c = 0; status == STATUS_OK && c < t->plan->ncolumns; c++) {
		size_t offset = first_wrong(t, later, c);
		if (offset == OFFSET_NONE || *note_at(t, c) || !tolerates(t->plan, c))
			continue;
		diagnose_column(t, text, later, offset, c, fault);
		status = keep_note(note_at(t, c), text, fault);
	}
	if (status == STATUS_OK && later->nundecided && !t->notes[NOTE_UNDECIDED]) {
		diagnose_undecided(t, text, later, fault);
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
	const struct note *of_texts = *text_note_at(t, c);
	bool is_number = column_kind(&t->partial.columns[c]) == COLUMN_NUMBER;

	const struct note *other = *note_at(t, c); /* of a record that parts' ends cut, perhaps, which no part has noted */

	if (!of_texts || !is_number)
		return other;
	return other && note_is_before(other, of_texts) ? other : of_texts;
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

enum status total_check(struct total *t, struct text *text, const struct partial *later,
			 struct fault *fault)
{
	size_t first = OFFSET_NONE, column = 0, ragged = first_ragged(t->plan, later), again = later->first_header_offset;
	bool is_undecided = false;
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
		is_undecided = true;
	}
	if (ragged < first)
		first = ragged;
	if (again < first)
		first = again;
	t->fault_offset = first;
	if (later->first_stray_offset != OFFSET_NONE && later->first_stray_offset <= first) {
		t->fault_offset = later->first_stray_offset; /* before all else in its record */
		return diagnose_stray(t->file_plan, text, t->fault_offset, fault);
	}
	if (first == OFFSET_NONE)
		return note_tolerated(t, text, later, fault);
	if (first == ragged || first == again)
		return diagnose_ragged(t->file_plan, text, first, fault);
	if (is_undecided && later->undecided_is_costly)
		return diagnose_undecided(t, text, later, fault);
	status = diagnose_column(t, text, later, first, column, fault);
	if (!t->file_plan->columns[column].let)
		remedy_repeated_header(t->file_plan, text->data, text->nbytes, first,
			       t->file_plan->columns[column].field, fault);
	return status;
}

bool total_has_fault(const struct total *t, const struct partial *p)
{
	for (size_t c = 0; c < p->ncolumns; c++)
		if (p->columns[c].ninvalid > 0 && !(tolerates(t->plan, c) && *note_at(t, c)))
			return true;
	return p->nragged > 0 || p->nundecided > 0 || p->first_header_offset != OFFSET_NONE ||
	       p->first_stray_offset != OFFSET_NONE;
}
