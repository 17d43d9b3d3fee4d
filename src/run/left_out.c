/* SPDX-License-Identifier: MIT
 *
 * left_out.c - what a run has left out: the warnings, and when it is too much. See run.h.
 */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hd.h"
#include "fold/result.h"
#include "fold/texts.h"
#include "io/message.h"
#include "io/source.h"
#include "number/decimal_text.h"
#include "number/notation.h"
#include "query/remedy.h"
#include "query/value.h"

/* Sets fault to what was noted, with its file and a remedy. */
static void read_note(const struct run *l, const struct note *note, struct fault *fault)
{
	note_read(note, fault);
	if (note->file < 0)
		fault->file = l->merge.inputs[-1 - note->file]; /* of the state that the run began with */
	else
		fault->file = l->input ? input_name(l->input, note->file) : l->merge.inputs[note->file];
	query_explain(&l->query, fault);
}

/* The number of values of column c that were left out. */
static uint64_t count_values(const struct run *l, size_t c)
{
	return result_nleft_out(&l->query.plan.columns[c], &l->total.partial.columns[c]);
}

/* The number of ragged records that were left out. */
static uint64_t count_ragged(const struct run *l)
{
	return l->query.plan.ragged.policy == RAGGED_COUNT ? 0 : l->total.partial.nragged;
}

/* ---- what the summary's columns of text would be ---- */

#define NHINTS 8 /* that are given */

/* Columns that one option, or a command, makes columns of numbers. */
struct hint {
	const char *column; /* the first */
	size_t ncolumns;
	char option[FAULT_REMEDY_NBYTES];
};

/* Whether a value of a column of text may be a number once `wrong`, which is no number, is read as one or is missing. */
static bool may_be_number(const struct run *l, const struct kept_text *text, const struct fault *wrong)
{
	size_t nbytes;
	const char *bytes = kept_text_bytes(text, &nbytes);

	return notation_resembles_number(bytes, nbytes) || value_is_number(&l->query.plan, bytes, nbytes) ||
	       (nbytes == wrong->detail_nbytes && !memcmp(bytes, wrong->detail, nbytes));
}

/* Sets fault's remedy to the option with which column c, text in the summary, might be one of numbers: its first value
 * that is no number tells, and its minimum and maximum. */
static bool find_hint(const struct run *l, size_t c, struct fault *fault)
{
	const struct column_partial *column = &l->total.partial.columns[c];
	const struct texts *texts = moments_cell(&column->moments, CELL_TEXTS);
	const struct note *note = total_note_of_values(&l->total, c);
	bool is_hint;

	if (!note || !texts || texts->count == 0 || count_values(l, c) > 0)
		return false;
	note_read(note, fault);
	query_explain(&l->query, fault);
	if (!strncmp(fault->remedy, REMEDY_UNITS, strlen(REMEDY_UNITS)))
		is_hint = result_nnumbers(column) > 0;
	else
		is_hint = !strncmp(fault->remedy, "--", 2) && strncmp(fault->remedy, "--comment", 9);
	return is_hint && may_be_number(l, &texts->least, fault) && may_be_number(l, &texts->greatest, fault);
}

static void report_hints(const struct run *l)
{
	struct hint hints[NHINTS];
	size_t n = 0, i;
	struct fault fault;

	for (size_t c = 0; c < l->query.plan.ncolumns; c++) {
		if (!find_hint(l, c, &fault))
			continue;
		for (i = 0; i < n && strcmp(hints[i].option, fault.remedy);)
			i++;
		if (i == NHINTS)
			continue;
		if (i == n) {
			hints[n++] = (struct hint){.column = l->query.plan.columns[c].name};
			strcpy(hints[i].option, fault.remedy);
		}
		hints[i].ncolumns++;
	}
	for (i = 0; i < n; i++)
		if (hints[i].ncolumns > 1)
			message_say("note: column '@' and # more may hold numbers: try @", hints[i].column,
				    hints[i].ncolumns - 1, hints[i].option);
		else
			message_say("note: column '@' may hold numbers: try @", hints[i].column, hints[i].option);
}

/* ---- the report ---- */

/* Warns about records of one kind, of which there are n. */
static void report_records(const struct run *l, uint64_t n, enum note_of_records kind, const char *words)
{
	struct fault first;

	if (n == 0)
		return;
	read_note(l, l->total.notes[kind], &first);
	message_first_of(n, &first, words, n);
}

static void report_padded(const char *file)
{
	message_say("warning: @: zero bytes behind the gzip data left out", file);
}

void left_out_report(const struct run *l)
{
	const struct partial *total = &l->total.partial;
	struct fault first;

	for (size_t i = 0; i < l->npadded; i++)
		if (l->padded[i])
			report_padded(l->input ? input_name(l->input, (int)i) : l->merge.inputs[i]);
	for (int i = 0; l->input && !l->padded && i < input_nfiles(l->input); i++)
		if (input_source(l->input, i)->padded)
			report_padded(input_name(l->input, i));
	for (size_t c = 0; c < l->query.plan.ncolumns; c++) {
		uint64_t n = count_values(l, c);
		if (n == 0)
			continue;
		read_note(l, total_note_of_values(&l->total, c), &first);
		first.column = NULL; /* the sentence names it */
		message_first_of(n, &first, "# value$ of column '@' left out", n, l->query.plan.columns[c].name);
	}
	report_records(l, total->nundecided, NOTE_UNDECIDED, "# record$ without an answer to the condition");
	report_records(l, total->nragged, NOTE_RAGGED,
		       count_ragged(l) > 0 ? "# record$ left out"
		       : total->nragged == 1 ? "# record has too many or too few fields"
					     : "# records have too many or too few fields");
	report_records(l, total->nheaders, NOTE_HEADERS, "# record$ left out");
	if (l->query.summary)
		report_hints(l);
}

/* ---- too much ---- */

/* n of `of` values or records; what: one of them. */
struct share {
	uint64_t n, of;
	const char *what;
};

static bool is_above(const struct invalid_limit *limit, const struct share *s)
{
	uint128 scale = 100 * (uint128)decimal_powers[limit->nplaces];

	if (!limit->text)
		return false;
	return limit->is_percentage ? s->n * scale > (uint128)s->of * limit->most
				    : s->n > limit->most;
}

/* Sets fault to the note, and says why the share is too much. */
static enum status fail(const struct run *l, const struct share *s, const struct note *note,
			struct fault *fault)
{
	const struct invalid_limit *limit = &l->options.max_invalid;

	read_note(l, note, fault);
	if (s->of == 1 && !is_above(limit, s))
		snprintf(fault->excess, sizeof fault->excess,
			 "; --invalid skip leaves out the only %s", s->what);
	else if (s->n == s->of && !is_above(limit, s))
		snprintf(fault->excess, sizeof fault->excess,
			 "; --invalid skip leaves out all %" PRIu64 " %ss", s->n, s->what);
	else
		snprintf(fault->excess, sizeof fault->excess,
			 "; --invalid skip leaves out %" PRIu64 " of %" PRIu64
			 " %ss, more than --max-invalid %s",
			 s->n, s->of, s->what, limit->text);
	return fault->status;
}

/* Whether it is an error to leave out the share. */
static bool is_too_much(const struct run *l, const struct share *s)
{
	bool is_all = s->n == s->of && !l->query.summary; /* it is a first look */

	return s->n > 0 && (is_all || is_above(&l->options.max_invalid, s));
}

/* The number of records that were left out for a NUL in column c, a key. */
static uint64_t count_keys(const struct run *l, size_t c)
{
	return l->query.plan.columns[c].is_key ? l->total.partial.columns[c].nnuls : 0;
}

static enum status check_column(const struct run *l, size_t c, struct fault *fault)
{
	const struct column_partial *column = &l->total.partial.columns[c];
	uint64_t nrecords = count_keys(l, c);
	struct share s = {count_values(l, c) - nrecords, column->ninvalid + result_nnumbers(column) - nrecords,
			  "value"};

	return is_too_much(l, &s) ? fail(l, &s, total_note_of_values(&l->total, c), fault) : STATUS_OK;
}

/* The note that is earlier in the input; either may be NULL. */
static const struct note *earlier(const struct note *a, const struct note *b)
{
	if (!a || !b)
		return a ? a : b;
	return note_is_before(b, a) ? b : a;
}

/* Ragged records, those that are the header again, those whose condition is undecided, and those with a NUL in a key:
 * all of them together. */
static enum status check_records(const struct run *l, struct fault *fault)
{
	const struct partial *total = &l->total.partial;
	uint64_t nragged = count_ragged(l);
	struct share s = {nragged + total->nheaders + total->nundecided, nragged + total->nheaders + total->nrecords, "record"};
	const struct note *note = earlier(l->total.notes[NOTE_UNDECIDED], nragged ? l->total.notes[NOTE_RAGGED] : NULL);

	note = earlier(note, l->total.notes[NOTE_HEADERS]);
	for (size_t c = 0; c < l->query.plan.ncolumns; c++) {
		if (count_keys(l, c) == 0)
			continue;
		s.n += count_keys(l, c);
		note = earlier(note, total_note_of_values(&l->total, c));
	}
	return is_too_much(l, &s) ? fail(l, &s, note, fault) : STATUS_OK;
}

enum status left_out_check(const struct run *l, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (l->options.invalid != INVALID_SKIP)
		return STATUS_OK;
	for (size_t c = 0; status == STATUS_OK && c < l->query.plan.ncolumns; c++)
		status = check_column(l, c, fault);
	return status == STATUS_OK ? check_records(l, fault) : status;
}
