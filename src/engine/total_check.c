/* SPDX-License-Identifier: MIT
 *
 * total_check.c - see total_check.h. Chunks are checked in input order, so here a value that is no number
 * becomes an error, is noted, or makes its column text.
 */
#include "engine/total_check.h"

#include <stdio.h>
#include <string.h>

#include "query/remedy.h"

/* Indices of t->notes; those of the columns follow. */
enum { NOTE_UNDECIDED, NOTE_RAGGED, NOTE_HEADERS };

#define FOREIGN_SHOWN_NBYTES 120 /* of a value in another currency */

/* Whether '*' includes column c, and it is text. The summary decides at the end. */
static bool is_text(const struct total *t, const struct partial *later, size_t c)
{
	const struct plan_column *plan = &t->plan->columns[c];
	enum column_kind kind = column_kind(&t->partial.columns[c]);

	if (kind == COLUMN_UNKNOWN)
		kind = column_kind(&later->columns[c]);
	return plan->if_numeric && plan->invalid != INVALID_TEXT && kind == COLUMN_TEXT;
}

/* A value that is complained about: where it was found, and why. */
struct complaint {
	size_t offset; /* OFFSET_NONE: nothing is wrong */
	size_t column; /* of the plan */
	enum status why;
	const struct bad_value *kept; /* NULL: the field at offset */
};

/* Column c's first value that is no number or, in a column of text, the first that is no text either. */
static struct complaint complaint_of(const struct partial *later, size_t c, bool is_text)
{
	const struct column_partial *column = &later->columns[c];
	size_t text = column->first_invalid_offset, number = column->first_out_of_range_offset;
	struct complaint out = {.offset = text < number ? text : number, .column = c};

	if (is_text)
		out.offset = column->first_nul_offset;
	out.why = out.offset == number ? STATUS_OUT_OF_RANGE
		  : out.offset == column->first_nul_offset ? STATUS_NUL : STATUS_NOT_A_NUMBER;
	if (c >= later->ncolumns - later->nlets) {
		const struct bad_values *kept = partial_computed(later, c);
		out.kept = is_text ? kept->first_nul : kept->first;
	}
	return out;
}

static const struct complaint no_complaint = {.offset = OFFSET_NONE};

/* Column c's first value that is an error or left out: one that is no number or out of range, but in a column of
 * text only one that is no text either. */
static struct complaint first_wrong(const struct total *t, const struct partial *later, size_t c)
{
	bool is_text_column;

	if (later->columns[c].ninvalid == 0)
		return no_complaint;
	is_text_column = is_text(t, later, c);
	if (is_text_column && !t->plan->columns[c].takes_text && !t->plan->columns[c].counts_text)
		return no_complaint;
	return complaint_of(later, c, is_text_column || t->plan->columns[c].takes_text);
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

/* The note of column c's first value with a currency, which is the note's remedy. */
static struct note *_Atomic *currency_note_at(const struct total *t, size_t c)
{
	return note_at(t, 2 * t->plan->ncolumns + c);
}

/* Column c's first value in another currency than the column's, if it has one. */
static struct complaint first_foreign(const struct total *t, const struct partial *later, size_t c)
{
	struct complaint of = {.offset = OFFSET_NONE, .column = c, .why = STATUS_CURRENCY};
	const struct note *note = *currency_note_at(t, c);

	if (!later->currencies)
		return of;
	of.offset = note && strcmp(note->text, later->currencies[c].first) ? later->currencies[c].first_offset
									   : later->currencies[c].other_offset;
	return of;
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

/* Sets fault to the value that is complained about. */
static enum status diagnose(const struct total *t, struct text *text, const struct complaint *of,
			    struct fault *fault)
{
	struct bad_value read;

	if (of->kept)
		return diagnose_value(t->file_plan, text, of->kept, of->column, fault);
	if (diagnose_read(t->file_plan, text, of->offset, of->column, of->why, &read) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return diagnose_value(t->file_plan, text, &read, of->column, fault);
}

/* Makes fault, which has a value, the error that it is in another currency than the column's. */
static enum status foreign_fault(const char *currency, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	int shown = fault->value_nbytes > FOREIGN_SHOWN_NBYTES ? FOREIGN_SHOWN_NBYTES : (int)fault->detail_nbytes;

	fault->detail_nbytes = (size_t)snprintf(words, sizeof words, "another currency than '%s' before it: '%.*s'%s",
						currency, shown, fault->detail,
						fault->value_nbytes > FOREIGN_SHOWN_NBYTES ? "..." : "");
	fault->value_nbytes = fault->detail_nbytes;
	fault->status = STATUS_CURRENCY;
	strcpy(fault->detail, words);
	strcpy(fault->remedy, "--where, to choose the records of one currency");
	return STATUS_CURRENCY;
}

/* Sets fault to the value that is in another currency. */
static enum status diagnose_foreign(const struct total *t, struct text *text, const struct partial *later,
				    const struct complaint *of, struct fault *fault)
{
	const struct note *note = *currency_note_at(t, of->column);

	if (diagnose(t, text, of, fault) == STATUS_NO_MEMORY)
		return STATUS_NO_MEMORY;
	return foreign_fault(note ? note->text : later->currencies[of->column].first, fault);
}

/* Notes the first currency of each column. In the summary, a column that has two is text. */
static enum status note_currencies(struct total *t, struct text *text, const struct partial *later,
				   struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t c = 0; later->currencies && c < t->plan->ncolumns && status == STATUS_OK; c++) {
		const struct currencies_seen *seen = &later->currencies[c];
		const struct complaint of = {.offset = seen->first_offset, .column = c, .why = STATUS_CURRENCY};
		if (first_foreign(t, later, c).offset != OFFSET_NONE)
			t->partial.columns[c].is_mixed = true;
		if (seen->first_offset == OFFSET_NONE || *currency_note_at(t, c))
			continue;
		diagnose(t, text, &of, fault);
		strcpy(fault->remedy, seen->first);
		status = keep_note(currency_note_at(t, c), text, fault);
	}
	return status;
}

enum status total_add_currency(struct total *t, size_t c, int file, struct fault *fault)
{
	struct note *_Atomic *at = currency_note_at(t, c);
	const struct note *note = *at;

	if (!note) {
		*at = note_make(fault, file);
		return *at ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	if (!strcmp(note->text, fault->remedy))
		return STATUS_OK;
	t->partial.columns[c].is_mixed = true;
	return t->plan->columns[c].invalid == INVALID_TEXT ? STATUS_OK : foreign_fault(note->text, fault);
}

/* The first value that leaves a condition undecided. */
static struct complaint first_undecided(const struct partial *later)
{
	return (struct complaint){.offset = later->first_undecided_offset, .column = later->undecided_column,
				  .kept = later->undecided};
}

/* In a part, notes the first value of each column that is no number. */
static enum status note_texts(struct total *t, struct text *text, const struct partial *later,
			      struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t c = 0; status == STATUS_OK && t->plan->is_part && c < t->plan->ncolumns; c++) {
		struct complaint of;
		if (!t->plan->columns[c].if_numeric || later->columns[c].ninvalid == 0 || *text_note_at(t, c))
			continue;
		of = complaint_of(later, c, false);
		diagnose(t, text, &of, fault);
		status = keep_note(text_note_at(t, c), text, fault);
	}
	return status;
}

/* Sets fault to a value that is no error, with a remedy if it is a unit below the header. */
static void diagnose_tolerated(const struct total *t, struct text *text, const struct complaint *of, struct fault *fault)
{
	if (diagnose(t, text, of, fault) != STATUS_NO_MEMORY)
		remedy_units(t->file_plan, text->data, text->nbytes, of->offset, false, fault);
}

/* Notes the first value or record of each kind that is no error. */
static enum status note_tolerated(struct total *t, struct text *text, const struct partial *later,
				  struct fault *fault)
{
	enum status status = note_texts(t, text, later, fault);

	if (status == STATUS_OK)
		status = note_currencies(t, text, later, fault);
	for (size_t c = 0; status == STATUS_OK && c < t->plan->ncolumns; c++) {
		struct complaint of = first_wrong(t, later, c);
		if (of.offset == OFFSET_NONE || *note_at(t, c) || !tolerates(t->plan, c))
			continue;
		diagnose_tolerated(t, text, &of, fault);
		status = keep_note(note_at(t, c), text, fault);
	}
	if (status == STATUS_OK && later->nundecided && !t->notes[NOTE_UNDECIDED]) {
		struct complaint of = first_undecided(later);
		diagnose_tolerated(t, text, &of, fault);
		status = keep_note(&t->notes[NOTE_UNDECIDED], text, fault);
	}
	if (status == STATUS_OK && later->nragged && !t->notes[NOTE_RAGGED]) {
		diagnose_ragged(t->file_plan, text, later->first_ragged_offset, fault);
		status = keep_note(&t->notes[NOTE_RAGGED], text, fault);
	}
	if (status == STATUS_OK && later->nheaders && !t->notes[NOTE_HEADERS]) {
		diagnose_ragged(t->file_plan, text, later->first_header_offset, fault);
		status = keep_note(&t->notes[NOTE_HEADERS], text, fault);
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

const struct note *total_note_of_headers(const struct total *t)
{
	return t->notes[NOTE_HEADERS];
}

const struct note *total_note_of_undecided(const struct total *t)
{
	return t->notes[NOTE_UNDECIDED];
}

/* Column c's first value that is an error. */
static struct complaint first_error(const struct total *t, const struct partial *later, size_t c)
{
	struct complaint wrong = tolerates(t->plan, c) ? no_complaint : first_wrong(t, later, c), foreign;

	if (!later->currencies || t->plan->columns[c].invalid == INVALID_TEXT || is_text(t, later, c))
		return wrong;
	foreign = first_foreign(t, later, c);
	return foreign.offset < wrong.offset ? foreign : wrong;
}

/* The offset of the first ragged record that is an error. */
static size_t first_ragged(const struct plan *plan, const struct partial *later)
{
	bool is_error = plan->ragged.policy != RAGGED_COUNT && plan->bad_record == INVALID_ERROR;

	return is_error ? later->first_ragged_offset : OFFSET_NONE;
}

/* The offset of the first record that is the header again, if that is an error. */
static size_t first_header(const struct plan *plan, const struct partial *later)
{
	return plan->bad_record == INVALID_ERROR ? later->first_header_offset : OFFSET_NONE;
}

enum status total_check(struct total *t, struct text *text, const struct partial *later,
			 struct fault *fault)
{
	struct complaint of = no_complaint;
	size_t ragged = first_ragged(t->plan, later), again = first_header(t->plan, later), first;
	enum status status;

	for (size_t c = 0; c < t->plan->ncolumns; c++) {
		struct complaint error = first_error(t, later, c);
		if (error.offset < of.offset)
			of = error;
	}
	if (later->first_undecided_offset < of.offset && t->plan->bad_record == INVALID_ERROR)
		of = first_undecided(later);
	first = ragged < of.offset ? ragged : of.offset;
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
	if (of.why == STATUS_CURRENCY)
		return diagnose_foreign(t, text, later, &of, fault);
	again = remedy_repeated_header(t->file_plan, text->data, text->nbytes, first);
	if (again != SIZE_MAX && t->file_plan->columns[of.column].let)
		return diagnose_ragged(t->file_plan, text, again, fault); /* no field shows the value */
	status = diagnose(t, text, &of, fault);
	if (again != SIZE_MAX && status != STATUS_TOO_COSTLY)
		strcpy(fault->remedy, "naming the files instead of joining them: this is the header again");
	else
		remedy_units(t->file_plan, text->data, text->nbytes, first, true, fault);
	return status;
}

/* Whether column c has a currency that is not noted yet, or another one. */
static bool has_currency_news(const struct total *t, const struct partial *p, size_t c)
{
	return p->currencies && p->currencies[c].first_offset != OFFSET_NONE &&
	       (!*currency_note_at(t, c) || first_foreign(t, p, c).offset != OFFSET_NONE);
}

bool total_has_fault(const struct total *t, const struct partial *p)
{
	for (size_t c = 0; c < p->ncolumns; c++)
		if ((p->columns[c].ninvalid > 0 && !(tolerates(t->plan, c) && *note_at(t, c))) ||
		    has_currency_news(t, p, c))
			return true;
	return p->nragged > 0 || p->nundecided > 0 || p->nheaders > 0 ||
	       p->first_stray_offset != OFFSET_NONE;
}
