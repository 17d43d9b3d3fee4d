/* SPDX-License-Identifier: MIT
 *
 * total.c - see total.h. Chunks are checked in input order, so here a value that is no number
 * becomes an error, is noted, or makes its column text.
 */
#include "engine/total.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "codec/codec.h"
#include "csv/field.h"
#include "csv/record.h"
#include "emit/lead.h"
#include "fold/groups.h"
#include "fold/keys.h"
#include "fold/window.h"
#include "query/remedy.h"

/* Makes the folder's tables unless they are there, and clears the partial. Errors: STATUS_NO_MEMORY. */
static enum status seam_folder_begin(const struct total *t, struct seam_folder *f)
{
	enum status status = partial_need(&f->partial, t->plan);

	TRY(status);
	partial_clear(&f->partial);
	if (!f->cpu.plan)
		status = cpu_folder_init(&f->cpu, t->plan);
	if (status == STATUS_OK)
		cpu_folder_use(&f->cpu, t->file_plan);
	else
		cpu_folder_free(&f->cpu);
	return status;
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

static enum status combine(const struct total *t, struct partial *p, const struct partial *later, struct fault *fault)
{
	return partial_fault(p, t->plan, partial_combine(p, later), fault);
}

enum status total_bind(const struct plan *plan, struct partial *p, struct fault *fault, enum status status)
{
	if (status != STATUS_OK || !plan->emits || plan->has_runs || !p->groups)
		return status;
	return partial_fault(p, plan, groups_bind(p->groups), fault);
}

/* Where records are printed: adds p's groups to the store, and makes them those of all records before. */
static enum status exchange_groups(const struct total *t, const struct partial *p, struct fault *fault)
{
	return p->groups ? partial_fault(p, t->plan, groups_exchange(p->groups), fault) : STATUS_OK;
}

/* ---- what is wrong at a place of a text, in words ---- */

/* A piece of the input that was folded as one: a chunk, or the seam. */
struct text {
	const char *data;
	size_t nbytes;
	int file;      /* which of the input's files */
	uint64_t line; /* of data[0] */
	/* The place whose line was counted last, so that a fault nearby costs little. */
	size_t counted_nbytes;
	uint64_t ncounted; /* LFs in data[0 .. counted_nbytes) */
};

#define PACKED_NBYTES 4096 /* of a line, on both sides of a fault, in which compressed data are sought */

/* A value that is complained about: where it was found, and why. */
struct complaint {
	size_t offset; /* OFFSET_NONE: nothing is wrong */
	size_t column; /* of the plan */
	enum status why;
	const struct bad_value *kept; /* NULL: the field at offset */
};

/* Returns the number of LFs before data[offset]. */
static uint64_t count_lines_before(struct text *text, size_t offset)
{
	size_t from = text->counted_nbytes;

	if (offset >= from)
		text->ncounted += count_lines(text->data + from, offset - from);
	else
		text->ncounted -= count_lines(text->data + offset, from - offset);
	text->counted_nbytes = offset;
	return text->ncounted;
}

/* The format of compressed data that begin in the line at offset, or NULL. */
static const struct codec *codec_in_line(const struct text *text, size_t offset)
{
	const char *begin = text->data + offset, *end;
	const struct codec *codec;

	while (begin > text->data && begin[-1] != '\n' && text->data + offset - begin < PACKED_NBYTES)
		begin--;
	end = memchr(text->data + offset, '\n', text->nbytes - offset);
	end = end ? end : text->data + text->nbytes;
	for (; begin < text->data + offset + PACKED_NBYTES && begin < end; begin++)
		if (codec_find((const unsigned char *)begin, (size_t)(end - begin), &codec) == CODEC_BEGINS)
			return codec;
	return NULL;
}

/* Sets fault's line to that of data[offset], and its column to the plan's column c, if there is such a column. Where
 * compressed data begin in that line, they are the fault: STATUS_PACKED. Returns its status. */
static enum status diagnose_place(const struct plan *plan, struct text *text, size_t offset, size_t c, struct fault *fault)
{
	const struct codec *codec = codec_in_line(text, offset);
	char words[FAULT_DETAIL_NBYTES];

	if (codec) {
		snprintf(words, sizeof words, "%s data begins here, after plain text", codec->name);
		fault_set(fault, STATUS_PACKED, 0, words);
		strcpy(fault->remedy, "naming the files instead of joining them");
		c = plan->ncolumns;
	}
	fault->line = text->line + count_lines_before(text, offset);
	if (c < plan->ncolumns)
		fault->column = plan->columns[c].name;
	return fault->status;
}

/* The dialect of a text that begins with a field of a record, `before` fields behind its first: that
 * field is no comment, and with whitespace, fewer follow. */
static struct csv_dialect dialect_inside(const struct plan *plan, size_t before)
{
	struct csv_dialect d = plan->dialect;

	d.comment = '\0';
	if (d.nfields)
		d.nfields = before < d.nfields ? d.nfields - before : 1;
	return d;
}

/* Cuts the field at text[offset], of a column. *at: its number in r, whose record begins at *begin. */
static enum status cut_field(const struct plan *plan, const struct text *text, size_t offset, size_t field,
			     struct record *r, size_t *begin, size_t *at)
{
	struct csv_dialect d = dialect_inside(plan, field);

	*begin = offset;
	*at = 0;
	if (!d.layout)
		return record_split_first(text->data + offset, text->nbytes - offset, &d, r);
	while (*begin > 0 && text->data[*begin - 1] != '\n') /* its line shows where it ends */
		--*begin;
	*at = field;
	return record_split(text->data + *begin, text->nbytes - *begin, &plan->dialect, true, r);
}

/* Reads the value of a column at fault, a field of the input. */
static enum status read_value(const struct plan *plan, const struct text *text, const struct complaint *of, struct bad_value *out)
{
	struct scratch scratch = {NULL, 0};
	struct record r;
	size_t nbytes, begin, at;
	const char *value;
	enum status status;

	out->offset = OFFSET_NONE;
	TRY(cut_field(plan, text, of->offset, plan->columns[of->column].field, &r, &begin, &at));
	value = field_value(&plan->dialect, text->data + begin + r.fields[at].begin, r.fields[at].end - r.fields[at].begin, &scratch,
			    &nbytes);
	record_free(&r);
	status = value ? bad_value_keep(&out, of->offset, of->why, value, nbytes) : STATUS_NO_MEMORY;
	free(scratch.data);
	return status;
}

/* Sets fault to the value that is complained about, with a remedy if there is one. Returns its status. */
static enum status diagnose(const struct total *t, struct text *text, const struct complaint *of, struct fault *fault)
{
	const struct bad_value *v = of->kept;
	struct bad_value read;

	if (!v) {
		TRY(read_value(t->file_plan, text, of, &read));
		v = &read;
	}
	fault_set_value(fault, v->why, v->text, v->nbytes);
	if ((v->why == STATUS_NOT_A_NUMBER || v->why == STATUS_NOT_BOTH_NUMBERS) && fault->detail_nbytes == v->nbytes)
		notation_suggest(&t->plan->notation, fault->detail, fault->detail_nbytes, fault->remedy);
	if (v->why == STATUS_NOT_A_DATE && strspn(v->text, "0123456789") == v->nbytes && (v->nbytes == 10 || v->nbytes == 13))
		snprintf(fault->remedy, sizeof fault->remedy, "from_epoch%s(n), if it is the %sseconds since 1970",
			 v->nbytes == 13 ? "_ms" : "", v->nbytes == 13 ? "milli" : "");
	else if (v->why == STATUS_TIME_BACKWARDS)
		snprintf(fault->remedy, sizeof fault->remedy,
			 "gpustat --sort %.128s FILE | gpustat ...",
			 t->plan->columns[of->column].name);
	else if (v->why == STATUS_NOT_A_DATE)
		snprintf(fault->remedy, sizeof fault->remedy, "%s", "time(t, \"%d.%m.%Y %H:%M\") for another form than 2024-01-05T10:15:00Z");
	return diagnose_place(t->file_plan, text, v->offset, of->column, fault);
}

/* Sets fault to the text behind a closing quote in the record that begins at offset. Returns its status. */
static enum status diagnose_stray(const struct plan *plan, struct text *text, size_t offset,
			   struct fault *fault)
{
	const char *data = text->data + offset;
	struct record r;
	size_t at;

	TRY(record_split(data, text->nbytes - offset, &plan->dialect, true, &r));
	at = r.stray_offset;
	record_free(&r);
	record_fault_stray(data, text->nbytes - offset, at, &plan->dialect, fault);
	diagnose_place(plan, text, offset + at, plan->ncolumns, fault);
	if (fault->status == STATUS_UNALIGNED && plan_widens_records(plan))
		fault->status = STATUS_ALIGNED_ONLY; /* else its words might be read below the names */
	else if (fault->status == STATUS_UNALIGNED)
		snprintf(fault->remedy, sizeof fault->remedy, "--skip-lines %" PRIu64 " -N, and columns by number",
			 plan->line_below_header - 1);
	return fault->status;
}

/* Sets fault to the field at offset, which the file's end leaves open: STATUS_OPEN_QUOTE or STATUS_OPEN_ESCAPE. Returns that. */
static enum status diagnose_open(const struct plan *plan, struct text *text, size_t offset,
			  struct fault *fault)
{
	struct csv_dialect d = dialect_inside(plan, 0);
	struct record r;
	enum status status =
		record_split(text->data + offset, text->nbytes - offset, &d, true, &r);

	record_free(&r);
	fault_set(fault, status, 0, NULL);
	return diagnose_place(plan, text, offset, plan->ncolumns, fault);
}

/* The likely reason and the remedy for a record of n fields where `wanted` are. */
static const char *ragged_hint(const struct plan *plan, size_t n, size_t wanted)
{
	if (n > wanted && plan->dialect.whitespace && plan_widens_records(plan))
		return ": a last value with blanks cannot be read again before a new column; try --only or --select";
	return n > wanted ? ": a delimiter in a value that is not quoted? See --ragged"
			  : ": see --ragged";
}

/* Sets fault to the ragged record that begins at offset, STATUS_RAGGED, or to the header again that does, STATUS_HEADER_AGAIN.
 * Returns that. */
static enum status diagnose_ragged(const struct plan *plan, struct text *text, size_t offset,
			    struct fault *fault)
{
	struct record r;
	char words[FAULT_DETAIL_NBYTES];

	if (remedy_repeated_header(plan, text->data, text->nbytes, offset) != SIZE_MAX) {
		fault_set(fault, STATUS_HEADER_AGAIN, 0, NULL);
		strcpy(fault->remedy, plan->bad_record == INVALID_ERROR
					      ? "naming the files instead of joining them, or --invalid skip"
					      : "naming the files instead of joining them");
		return diagnose_place(plan, text, offset, plan->ncolumns, fault);
	}
	TRY(record_split(text->data + offset, text->nbytes - offset, &plan->dialect, true, &r));
	snprintf(words, sizeof words, "%zu field%s where the %s has %" PRIu32 "%s", r.nfields,
		 r.nfields == 1 ? "" : "s", plan->header ? "header" : "first record",
		 plan->ragged.nfields, ragged_hint(plan, r.nfields, plan->ragged.nfields));
	fault_set(fault, STATUS_RAGGED, 0, words);
	record_free(&r);
	return diagnose_place(plan, text, offset, plan->ncolumns, fault);
}

/* ---- notes: faults that end no run ---- */

struct note *note_make(const struct fault *fault, int file)
{
	size_t remedy_nbytes = strlen(fault->remedy) + 1;
	struct note *note = malloc(sizeof *note + remedy_nbytes + fault->detail_nbytes);

	if (!note)
		return NULL;
	*note = (struct note){fault->status, file, fault->line, fault->column,
			      fault->value_nbytes, fault->detail_nbytes};
	memcpy(note->text, fault->remedy, remedy_nbytes);
	memcpy(note->text + remedy_nbytes, fault->detail, fault->detail_nbytes);
	return note;
}

/* A note's file in the order of the input. */
static int64_t order_of(const struct note *note)
{
	return note->file < 0 ? INT32_MIN - (int64_t)note->file : note->file;
}

bool note_is_before(const struct note *a, const struct note *b)
{
	return order_of(a) < order_of(b) || (a->file == b->file && a->line < b->line);
}

void note_read(const struct note *note, struct fault *fault)
{
	fault_set_value(fault, note->status, note->text + strlen(note->text) + 1,
			note->detail_nbytes);
	strcpy(fault->remedy, note->text);
	fault->value_nbytes = note->value_nbytes;
	fault->line = note->line;
	fault->column = note->column;
}

/* ---- errors, and what is noted ---- */

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

/* Keeps a diagnosis as a note, unless memory ran out for it. */
static enum status keep_note(struct note *_Atomic *note, const struct text *text, enum status diagnosed, const struct fault *fault)
{
	struct note *made = diagnosed == STATUS_NO_MEMORY ? NULL : note_make(fault, text->file);

	NEED(made);
	*note = made;
	return STATUS_OK;
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

enum status total_add_currency(struct total *t, size_t c, int file, struct fault *fault)
{
	struct note *_Atomic *at = currency_note_at(t, c);
	const struct note *note = *at;

	if (!note) {
		struct note *made = note_make(fault, file);
		NEED(made);
		*at = made;
		return STATUS_OK;
	}
	if (!strcmp(note->text, fault->remedy))
		return STATUS_OK;
	t->partial.columns[c].is_mixed = true;
	return t->plan->columns[c].invalid == INVALID_TEXT ? STATUS_OK : foreign_fault(note->text, fault);
}

/* Sets *out to the first time that is before the one before it, which may be in the records before
 * the text. */
static enum status first_backward(const struct total *t, struct partial *later,
				  struct complaint *out)
{
	*out = (struct complaint){.column = t->plan->over_field, .why = STATUS_TIME_BACKWARDS};
	return windows_find_backward(t->plan, &t->partial, later, &out->offset);
}

/* The first value that leaves a condition undecided. */
static struct complaint first_undecided(const struct partial *later)
{
	return (struct complaint){.offset = later->first_undecided_offset, .column = later->undecided_column,
				  .kept = later->undecided};
}

/* Notes a value that is no error, with a remedy if it is a unit below the header. */
static enum status note_value(const struct total *t, struct note *_Atomic *note, struct text *text, const struct complaint *of,
			      struct fault *fault)
{
	enum status status = diagnose(t, text, of, fault);

	if (status != STATUS_NO_MEMORY)
		remedy_units(t->file_plan, text->data, text->nbytes, of->offset, false, fault);
	return keep_note(note, text, status, fault);
}

/* Notes a ragged record, or the header again, unless one is noted already. */
static enum status note_record(struct total *t, int kind, uint64_t n, size_t offset, struct text *text, struct fault *fault)
{
	if (n == 0 || t->notes[kind])
		return STATUS_OK;
	return keep_note(&t->notes[kind], text, diagnose_ragged(t->file_plan, text, offset, fault), fault);
}

/* Notes the first values of column c that are no errors: in a part, the first that is no number; the first currency, of which the
 * summary's columns of text have two; the first that is left out. */
static enum status note_column(struct total *t, struct text *text, const struct partial *later, size_t c, struct fault *fault)
{
	const struct currencies_seen *seen = later->currencies ? &later->currencies[c] : NULL;
	struct complaint of;
	enum status status;

	if (t->plan->is_part && t->plan->columns[c].if_numeric && later->columns[c].ninvalid > 0 && !*text_note_at(t, c)) {
		of = complaint_of(later, c, false);
		TRY(keep_note(text_note_at(t, c), text, diagnose(t, text, &of, fault), fault));
	}
	if (seen && first_foreign(t, later, c).offset != OFFSET_NONE)
		t->partial.columns[c].is_mixed = true;
	if (seen && seen->first_offset != OFFSET_NONE && !*currency_note_at(t, c)) {
		of = (struct complaint){.offset = seen->first_offset, .column = c, .why = STATUS_CURRENCY};
		status = diagnose(t, text, &of, fault);
		strcpy(fault->remedy, seen->first);
		TRY(keep_note(currency_note_at(t, c), text, status, fault));
	}
	of = first_wrong(t, later, c);
	if (of.offset != OFFSET_NONE && !*note_at(t, c) && tolerates(t->plan, c))
		TRY(note_value(t, note_at(t, c), text, &of, fault));
	return STATUS_OK;
}

/* Notes the first value or record of each kind that is no error. */
static enum status note_tolerated(struct total *t, struct text *text, const struct partial *later,
				  struct fault *fault)
{
	for (size_t c = 0; c < t->plan->ncolumns; c++)
		TRY(note_column(t, text, later, c, fault));
	if (later->nundecided && !t->notes[NOTE_UNDECIDED]) {
		struct complaint of = first_undecided(later);
		TRY(note_value(t, &t->notes[NOTE_UNDECIDED], text, &of, fault));
	}
	TRY(note_record(t, NOTE_RAGGED, later->nragged, later->first_ragged_offset, text, fault));
	return note_record(t, NOTE_HEADERS, later->nheaders, later->first_header_offset, text, fault);
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

/* Column c's first value that is an error. */
static struct complaint first_error(const struct total *t, const struct partial *later, size_t c)
{
	struct complaint wrong = tolerates(t->plan, c) ? no_complaint : first_wrong(t, later, c), foreign;

	if (!later->currencies || t->plan->columns[c].invalid == INVALID_TEXT || is_text(t, later, c))
		return wrong;
	foreign = first_foreign(t, later, c);
	return foreign.offset < wrong.offset ? foreign : wrong;
}

/* Finds the first error in text, whose partial is `later`, and sets t->fault_offset. Without an error, notes
 * what is left out. In the chunk's turn. Errors: those of total_add that values have. */
static enum status total_check(struct total *t, struct text *text, struct partial *later,
			       struct fault *fault)
{
	const bool is_strict = t->plan->bad_record == INVALID_ERROR;
	size_t ragged = is_strict && t->plan->ragged.policy != RAGGED_COUNT ? later->first_ragged_offset : OFFSET_NONE, first;
	size_t again = is_strict ? later->first_header_offset : OFFSET_NONE; /* a record that is the header again */
	struct complaint of;
	enum status status;

	TRY(first_backward(t, later, &of));
	for (size_t c = 0; c < t->plan->ncolumns; c++) {
		struct complaint error = first_error(t, later, c);
		if (error.offset < of.offset)
			of = error;
	}
	if (later->first_undecided_offset < of.offset && is_strict)
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
	if (of.why == STATUS_CURRENCY) {
		const struct note *note = *currency_note_at(t, of.column);
		if (diagnose(t, text, &of, fault) == STATUS_NO_MEMORY)
			return STATUS_NO_MEMORY;
		return foreign_fault(note ? note->text : later->currencies[of.column].first, fault);
	}
	again = remedy_repeated_header(t->file_plan, text->data, text->nbytes, first);
	if (again != SIZE_MAX && t->file_plan->columns[of.column].let)
		return diagnose_ragged(t->file_plan, text, again, fault); /* no field shows the value */
	status = diagnose(t, text, &of, fault);
	if (status == STATUS_NO_MEMORY)
		return status;
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

/* Whether a chunk has an error, or what must be noted: of a column whose invalid values are no errors the
 * first is, and once it is, a chunk whose turn has not come holds later ones only. Any thread may call it. */
static bool total_has_fault(const struct total *t, const struct partial *p)
{
	for (size_t c = 0; c < p->ncolumns; c++)
		if ((p->columns[c].ninvalid > 0 && !(tolerates(t->plan, c) && *note_at(t, c))) ||
		    has_currency_news(t, p, c))
			return true;
	return p->nragged > 0 || p->nundecided > 0 || p->nheaders > 0 ||
	       p->first_stray_offset != OFFSET_NONE;
}

/* ---- the seam ---- */

/* Errors: STATUS_LONG_RECORD, STATUS_NO_MEMORY. */
static enum status seam_append(struct seam *s, const char *data, size_t nbytes, struct fault *fault)
{
	if (nbytes == 0)
		return STATUS_OK;
	if (nbytes > RECORD_MAX_NBYTES - s->nbytes) {
		fault_set(fault, STATUS_LONG_RECORD, 0, NULL);
		fault->line = s->line;
		return STATUS_LONG_RECORD;
	}
	TRY(ARRAY_GROW(s->memory, s->capacity, s->nbytes + nbytes + 1 + 2 * SIMD_PAD_NBYTES));
	s->data = s->memory + SIMD_PAD_NBYTES;
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
	const bool lacks_end = at_end && !t->plan->row_format; /* a row of a format has its own */
	struct partial before = t->partial;
	size_t had = out->nbytes;
	enum status status;

	TRY(exchange_groups(t, &use->folder->partial, fault));
	before.groups = use->folder->partial.groups;
	use->folder->cpu.lacks_end = lacks_end;
	status = cpu_folder_emit(&use->folder->cpu, s->data, nbytes, CHUNK_BETWEEN_RECORDS, &before, s->offset_bytes, out);
	if (status != STATUS_OK) {
		out->nbytes = had;
		return status;
	}
	if (lacks_end && out->nbytes > had && t->plan->nleads > 0) {
		lead_text_end_in_line(out, had);
	} else if (lacks_end && out->nbytes > had) {
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
	TRY(partial_need(use->into, t->plan));
	TRY(seam_folder_begin(t, use->folder));
	p->offset_bytes = s->offset_bytes;
	TRY(partial_fault(p, t->plan, cpu_folder_fold(cpu, s->data, nbytes, CHUNK_BETWEEN_RECORDS, p), fault));
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
	TRY(seam_folder_begin(t, &t->folder));
	p->offset_bytes = s->offset_bytes;
	TRY(partial_fault(p, t->plan, cpu_folder_fold(&t->folder.cpu, s->data, s->nbytes, CHUNK_BETWEEN_RECORDS, p), fault));
	text.nbytes = p->tail_offset;
	status = total_check(t, &text, p, fault);
	THEN(status, combine(t, &t->partial, p, fault));
	s->nbytes -= p->tail_offset;
	memmove(s->data, s->data + p->tail_offset, s->nbytes);
	return status;
}

/* ---- where a run of --head ends ---- */

/* The end of the last record is searched for by folding parts of the chunk: that is done once in a run. */

/* Whether with p's records, or without any (NULL), so many are printed as plan->head says. */
static bool total_is_enough(const struct total *t, const struct partial *p)
{
	return t->plan->head > 0 && t->partial.nkept + (p ? p->nkept : 0) >= t->plan->head;
}

/* Folds the first nbytes of the chunk into the folder's partial. */
static enum status fold_prefix(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			       size_t nbytes)
{
	TRY(seam_folder_begin(t, &t->folder));
	t->folder.partial.offset_bytes = chunk->offset_bytes;
	return cpu_folder_fold(&t->folder.cpu, chunk->data, nbytes, entry, &t->folder.partial);
}

/* Sets *nbytes to how many of the chunk's bytes have the records that are enough. */
static enum status find_enough(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			       size_t *nbytes)
{
	size_t few = 0, enough = chunk->nbytes;

	while (enough - few > 1) {
		size_t middle = few + (enough - few) / 2;
		TRY(fold_prefix(t, chunk, entry, middle));
		if (total_is_enough(t, &t->folder.partial))
			enough = middle;
		else
			few = middle;
	}
	*nbytes = enough;
	return STATUS_OK;
}

/* Ends the run within the chunk, which begins on the given line: STATUS_ENOUGH, or the fault that
 * comes before. What follows the last record is not looked at. */
static enum status total_end_within(struct total *t, const struct chunk *chunk, uint64_t line,
			      struct chunk_output *output, struct fault *fault)
{
	struct partial *good = &t->folder.partial;
	struct text text = {chunk->data, 0, chunk->file, line, 0, 0};
	struct groups *groups;
	enum status status;

	TRY(partial_fault(good, t->plan, find_enough(t, chunk, output->entry, &text.nbytes), fault));
	TRY(partial_fault(good, t->plan, fold_prefix(t, chunk, output->entry, text.nbytes), fault));
	status = total_check(t, &text, good, fault);
	output->good_nbytes = status == STATUS_OK ? text.nbytes : t->fault_offset;
	TRY(status);
	groups = good->groups;
	good->groups = NULL; /* they join the store when the records are printed */
	status = combine(t, &t->partial, good, fault);
	good->groups = groups;
	return status == STATUS_OK ? STATUS_ENOUGH : status;
}

/* ---- a chunk's turn ---- */

void chunk_output_free(struct chunk_output *e)
{
	partial_free(&e->before);
	text_free(&e->head);
	text_free(&e->tail);
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

/* A record ends with the seam, which is folded, or moved to t->head if the record began before all chunks. */
static enum status end_seam(struct total *t, const struct seam_use *use, struct fault *fault)
{
	if (!t->keeps_head)
		return seam_fold(t, false, use, fault);
	TRY(text_reserve(&t->head, t->seam.nbytes));
	if (t->seam.nbytes)
		memcpy(t->head.data, t->seam.data, t->seam.nbytes);
	t->head.nbytes = t->seam.nbytes;
	t->seam.nbytes = 0;
	t->keeps_head = false;
	return STATUS_OK;
}

/* Where the seam begins, if it is empty. */
static void begin_seam(struct total *t, int file, uint64_t line, uint64_t offset_bytes)
{
	if (t->seam.nbytes > 0)
		return;
	t->seam.file = file;
	t->seam.line = line;
	t->seam.offset_bytes = offset_bytes;
}

/* Appends the chunk's head to the seam, and folds the seam if a record ends there. A head may begin
 * with a record: see CHUNK_UNKNOWN. line: the chunk's first. */
static enum status add_head(struct total *t, const struct chunk *chunk, uint64_t line,
			    const struct partial *later, const struct seam_use *use,
			    struct fault *fault)
{
	begin_seam(t, chunk->file, line, chunk->offset_bytes);
	TRY(seam_append(&t->seam, chunk->data, later->head_nbytes, fault));
	return later->head_ends ? end_seam(t, use, fault) : STATUS_OK;
}

/* Appends the chunk's tail to the seam, and folds the seam at the file's end. */
static enum status add_tail(struct total *t, const struct chunk *chunk,
			    const struct partial *later, const struct seam_use *use,
			    struct fault *fault)
{
	const char *tail = chunk->data + later->tail_offset;
	size_t nbytes = chunk->nbytes - later->tail_offset;

	if (t->seam.nbytes == 0)
		begin_seam(t, chunk->file, t->line - count_lines(tail, nbytes), chunk->offset_bytes + later->tail_offset);
	TRY(seam_append(&t->seam, tail, nbytes, fault));
	return chunk->last_of_file && !t->keeps_head ? seam_fold(t, true, use, fault) : STATUS_OK;
}

enum status total_store_groups(struct total *t, struct fault *fault)
{
	return t->partial.groups ? partial_fault(&t->partial, t->plan, groups_store(t->partial.groups), fault) : STATUS_OK;
}

enum status total_add_head(struct total *t, const struct end_text *head, struct fault *fault)
{
	const struct seam_use use = {&t->folder, &t->partial, NULL};

	t->file_plan = head->plan;
	begin_seam(t, head->file, head->line, head->offset_bytes);
	TRY(seam_append(&t->seam, head->text, head->nbytes, fault));
	if (!head->ends)
		return STATUS_OK;
	TRY(end_seam(t, &use, fault));
	return total_store_groups(t, fault); /* before those of later records */
}

enum status total_end_file(struct total *t, const struct plan *plan, struct fault *fault)
{
	const struct seam_use use = {&t->folder, &t->partial, NULL};

	t->file_plan = plan;
	if (!t->keeps_head)
		TRY(seam_fold(t, true, &use, fault));
	return total_store_groups(t, fault);
}

enum status total_add_tail(struct total *t, const struct end_text *tail, struct fault *fault)
{
	t->file_plan = tail->plan;
	begin_seam(t, tail->file, tail->line, tail->offset_bytes);
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
	TRY(add_head(t, chunk, line, later, &head, fault));
	if (total_is_enough(t, NULL))
		return STATUS_ENOUGH;
	if (t->plan->emits) { /* the chunk is printed with the total before it */
		TRY(partial_need(&output->before, t->plan));
		partial_clear(&output->before);
		NEED(partial_combine(&output->before, &t->partial) == STATUS_OK);
	}
	if (total_is_enough(t, later))
		return total_end_within(t, chunk, line, output, fault);
	status = total_check(t, &text, later, fault);
	output->good_nbytes = status == STATUS_OK ? chunk->nbytes : t->fault_offset;
	TRY(status);
	TRY(output_groups(t, later, output, fault));
	TRY(combine(t, &t->partial, later, fault));
	TRY(add_tail(t, chunk, later, &tail, fault));
	t->settled = t->settled || columns_are_known(t->plan, &t->partial);
	return total_is_enough(t, NULL) ? STATUS_ENOUGH : STATUS_OK;
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

enum status total_add_border(struct total *t, const struct border *b, struct seam_folder *folder,
			     struct partial *deferred, struct fault *fault)
{
	const struct partial ends = {.head_ends = b->head_ends, .head_nbytes = b->head_nbytes,
				     .tail_offset = b->head_nbytes};
	struct seam_use use = {folder, t->settled ? deferred : &t->partial, NULL};
	struct chunk tail = b->chunk; /* as if its text began where the tail's offset says */

	t->file_plan = chunk_plan(&b->chunk, t->plan);
	TRY(add_head(t, &b->chunk, pass_lines(t, &b->chunk, b->nlines), &ends, &use, fault));
	/* A chunk that posts a border has had numbers in every column that parses; the kind of others is not used. */
	for (size_t c = 0; !t->settled && c < t->partial.ncolumns; c++)
		if (column_kind(&t->partial.columns[c]) == COLUMN_UNKNOWN)
			t->partial.columns[c].kind = COLUMN_NUMBER;
	t->settled = true;
	tail.offset_bytes = b->tail_offset_bytes - b->head_nbytes;
	t->end_bytes = tail.offset_bytes + b->chunk.nbytes;
	return add_tail(t, &tail, &ends, &use, fault);
}

/* ---- partials that are joined at the end ---- */

#define FEW_KEYS 10000 /* to be joined: a thread takes longer to start */

/* One cell of the total and of all partials. */
struct join {
	struct keys **all;
	size_t nall;
	atomic_int status; /* an enum status: the last that was not OK */
};

static void join_part(void *context, size_t part)
{
	struct join *j = context;
	enum status status = keys_join_part(j->all, j->nall, part);

	if (status != STATUS_OK)
		j->status = (int)status;
}

static enum status join_cells(struct join *j, int nthreads)
{
	uint64_t nkeys = 0;

	TRY(keys_join_begin(j->all, j->nall));
	for (size_t i = 0; i < j->nall; i++)
		nkeys += keys_count_at_most(j->all[i]);
	team_each(nkeys < FEW_KEYS ? 1 : (size_t)nthreads, KEYS_NPARTS, join_part, j);
	if (j->status == STATUS_OK)
		keys_join_end(j->all[0]);
	return (enum status)j->status;
}

/* Joins the keys in cell `cell` of column c. all: room for npartials + 1. */
static enum status join_column(struct partial *total, struct partial *const *partials,
			       size_t npartials, size_t c, int cell, int nthreads,
			       struct keys **all)
{
	struct join join = {.all = all};

	for (size_t i = 0; i < npartials; i++)
		if (moments_cell(&partials[i]->columns[c].moments, cell))
			all[++join.nall] = moments_cell(&partials[i]->columns[c].moments, cell);
	if (join.nall++ == 0)
		return STATUS_OK;
	all[0] = moments_need(&total->columns[c].moments, cell);
	total->full_column = c;
	return all[0] ? join_cells(&join, nthreads) : STATUS_NO_MEMORY;
}

static enum status join_keys(struct partial *total, struct partial *const *partials,
			     size_t npartials, const struct plan *plan, int nthreads)
{
	struct keys **all = calloc(npartials + 1, sizeof *all);
	enum status status = all ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; status == STATUS_OK && i < 2 * plan->ncolumns; i++)
		if (plan->columns[i / 2].needs & MOMENT_KEYS)
			status = join_column(total, partials, npartials, i / 2, i % 2 ? CELL_TEXT_KEYS : CELL_KEYS, nthreads, all);
	free(all);
	return status;
}

/* Counts the keys that devices have kept. */
static enum status settle_keys(struct partial *total, const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct keys_wanted wanted = keys_wanted_of(&plan->columns[c]);
		total->full_column = c;
		TRY(keys_settle(moments_cell(&total->columns[c].moments, CELL_KEYS), &wanted));
	}
	return STATUS_OK;
}

enum status total_join(struct partial *total, struct partial *const *partials, size_t npartials,
		       const struct plan *plan, int nthreads, struct fault *fault)
{
	enum status status = join_keys(total, partials, npartials, plan, nthreads);

	for (size_t i = 0; status == STATUS_OK && i < npartials; i++)
		status = partial_combine(total, partials[i]);
	THEN(status, settle_keys(total, plan));
	return partial_fault(total, plan, status, fault);
}
