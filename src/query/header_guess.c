/* SPDX-License-Identifier: MIT
 *
 * header_guess.c - see header_guess.h.
 *
 * Where a column is selected by name, the first record is a header. Where columns are selected by
 * number, their first values tell: it is a header if all are names, and data if all are numbers. A
 * value that may be either, or names beside numbers, is an error: a bad value in the first record
 * must not pass for a name. For `*` the values with a number below them tell, or, if the record has
 * no number, any name.
 */
#include "query/header_guess.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "number/decimal.h"
#include "number/notation.h"
#include "query/remedy.h"

/* ---- names ---- */

/* 1O, 10.0.0.1 */
static bool begins_like_number(const struct first_value *v)
{
	size_t nbytes = strlen(v->text);
	const char *text = decimal_trim(v->text, &nbytes);

	text += *text == '+' || *text == '-';
	text += *text == '.';
	return decimal_is_digit(*text);
}

/* inf, -Infinity */
static bool is_infinity(const char *text, size_t nbytes)
{
	size_t nsigns = nbytes && (*text == '+' || *text == '-');

	text += nsigns;
	nbytes -= nsigns;
	return (nbytes == 3 && !strncasecmp(text, "inf", 3)) ||
	       (nbytes == 8 && !strncasecmp(text, "infinity", 8));
}

/* Whether a value is text, and neither stands for no value nor is a number in some notation. */
static bool is_name(const struct first_value *v)
{
	size_t nbytes = strlen(v->text);
	const char *text = decimal_trim(v->text, &nbytes);

	return !v->is_missing && !v->is_number && !v->has_nul && !remedy_is_no_value(text, nbytes) &&
	       !is_infinity(text, nbytes) && !notation_resembles_number(text, nbytes);
}

/* ---- votes ---- */

/* The first value of each kind among those that tell. */
struct votes {
	bool named; /* a column is selected by name */
	const struct first_value *name, *number, *doubt;
	const struct first_value *slip; /* a number with a slip, unless there is a name */
	const struct first_value *weak; /* begins like a number: a name, unless there is a slip */
};

static void note(const struct first_value **first, const struct first_value *v)
{
	if (!*first)
		*first = v;
}

/* Counts a value of a selected column. */
static void vote(struct votes *votes, const struct first_value *v, bool wants_number)
{
	if (v->is_number)
		note(&votes->number, v);
	else if (is_name(v) && begins_like_number(v))
		note(wants_number ? &votes->slip : &votes->weak, v);
	else if (is_name(v))
		note(&votes->name, v);
	else if (!v->is_missing)
		note(&votes->doubt, v);
}

/* Counts the whole record, for `*` and where no column is selected. */
static void vote_all(struct votes *votes, const struct header *h)
{
	const struct first_record *first = &h->record[0], *second = &h->record[1];
	const struct first_value *text = NULL;
	bool has_number = false;

	for (size_t i = 0; i < first->nfields; i++) {
		const struct first_value *v = &first->values[i];
		has_number |= v->is_number;
		if (v->is_number || (i < second->nfields && second->values[i].is_number))
			vote(votes, v, true);
		else if (is_name(v))
			note(&text, v);
	}
	if (!has_number && text)
		note(begins_like_number(text) ? &votes->weak : &votes->name, text);
}

/* Counts what a selector says. */
static void vote_selector(struct votes *votes, const struct header *h, const struct selector *s,
			  bool wants_number)
{
	struct field_range range;
	bool by_position = selector_by_position(s, h->nfields, &range);

	if (!by_position && !selector_by_position(s, 0, &range)) {
		votes->named = true; /* if the header has it not, that will be the error */
		return;
	}
	for (size_t i = 0; i < h->nfields; i++) {
		const struct first_value *v = &h->record[0].values[i];
		if (!strcmp(v->text, s->text) && (!by_position || is_name(v)))
			votes->named = true;
		else if (!range.star && range.first <= i && i <= range.last)
			vote(votes, v, wants_number);
	}
	if (range.star)
		vote_all(votes, h);
}

/* ---- the decision ---- */

static enum status doubt(struct header *h, const struct input *input,
			 const struct first_value *value, struct fault *fault)
{
	size_t field = (size_t)(value - h->record[0].values);
	const enum status status = value->has_nul ? STATUS_NUL : STATUS_DOUBTFUL_HEADER;

	fault_set_value(fault, status, value->text, strlen(value->text) + value->has_nul);
	snprintf(h->doubtful_column, sizeof h->doubtful_column, "col%zu", field + 1);
	fault->file = input_name(input, h->file);
	fault->line = h->line_number + value->nlines;
	fault->column = h->doubtful_column;
	return status;
}

enum status header_guess(struct header *h, const struct input *input, enum header_mode mode,
			 const struct selection *selections, size_t nselections, bool summary,
			 struct fault *fault)
{
	struct votes votes = {.named = mode == HEADER_YES};
	size_t nselectors = 0;

	if (h->nfields == 0 || mode == HEADER_NO)
		return STATUS_OK;
	for (size_t i = 0; i < nselections; i++) {
		for (size_t j = 0; j < selections[i].nselectors; j++) {
			if (selections[i].selectors[j].computed)
				continue; /* no name of the input's */
			nselectors++;
			vote_selector(&votes, h, &selections[i].selectors[j],
				      !selections[i].takes_text);
		}
	}
	if (nselectors == 0)
		vote_all(&votes, h);
	if (!votes.name && !votes.slip)
		votes.name = votes.weak;
	h->present = votes.named || votes.name || (summary && votes.slip && !votes.number);
	if (votes.named || summary) /* the summary shows what it takes for names */
		return STATUS_OK;
	if (!votes.doubt && (!votes.name || votes.number))
		votes.doubt = votes.slip ? votes.slip : votes.name;
	if (votes.doubt)
		return doubt(h, input, votes.doubt, fault);
	h->guess = votes.name;
	return STATUS_OK;
}

bool header_may_be_data(const struct header *h)
{
	const struct first_record *first = &h->record[0], *second = &h->record[1];

	for (size_t i = 0; i < first->nfields && i < second->nfields; i++)
		if (second->values[i].is_number && !first->values[i].is_missing)
			return false;
	return h->guess && second->nfields > 0;
}
