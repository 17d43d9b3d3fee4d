/* SPDX-License-Identifier: MIT
 *
 * query_explain.c - what a query knows of the input's first records: what a fault's message suggests, notes on conditions, and
 * whether the header must be sought among the records.
 */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/program.h"
#include "lang/time.h"
#include "query/remedy.h"
#include "query/value.h"

char query_other_delimiter(const struct query *q)
{
	return q->guesses_delimiter ? q->header.other.delimiter : '\0';
}

/* Whether the ragged record lies right below the header, and has one field more, as those after it. */
static bool may_have_row_name(const struct query *q, const struct fault *fault)
{
	const struct header *h = &q->header;

	return h->present && h->lacks_name && fault->line == q->plan.line_below_header &&
	       strtoull(fault->detail, NULL, 10) == h->nfields + 1;
}

/* Whether the value, which is no number, is a date of a column whose extremes are asked for. */
static bool is_date_of_extremes(const struct query *q, const struct fault *fault)
{
	bool is_date = fault->detail_nbytes == fault->value_nbytes && time_form_of(fault->detail, fault->detail_nbytes) != TIME_NONE;

	for (size_t i = 0; is_date && fault->column && i < q->nresults; i++) {
		const struct result *r = &q->results[i];
		if ((r->operation == OPERATION_MIN || r->operation == OPERATION_MAX) &&
		    !strcmp(q->plan.columns[r->column].name, fault->column))
			return true;
	}
	return false;
}

/* Whether a value is a number, a blank and a unit, as 1 kg, of a column whose name needs no quotes. */
static bool has_unit(const struct query *q, const struct fault *fault)
{
	const char *blank = memchr(fault->detail, ' ', fault->detail_nbytes);
	const size_t nbytes = blank ? (size_t)(blank - fault->detail) : 0;
	const char *name = fault->column;

	if (!blank || !name || strlen(name) > 32 || !value_is_number(&q->plan, fault->detail, nbytes))
		return false;
	while (token_in_name(*name))
		name++;
	for (size_t i = nbytes + 1; i < fault->detail_nbytes; i++)
		if (decimal_is_digit(fault->detail[i]) || decimal_is_blank(fault->detail[i]))
			return false;
	return !*name && *fault->column && !decimal_is_digit(*fault->column);
}

void query_explain(const struct query *q, struct fault *fault)
{
	char delimiter = query_other_delimiter(q), sign = header_comment_sign(&q->header, &q->plan.dialect);

	switch (fault->status) {
	case STATUS_NOT_A_NUMBER:
		if (!delimiter && q->guesses_delimiter && q->header.nfields == 1)
			delimiter = remedy_delimiter((struct line_text){fault->detail, fault->detail_nbytes}, NULL);
		break;
	case STATUS_RAGGED:
		if (delimiter || sign) /* the better remedy */
			fault->detail_nbytes = strcspn(fault->detail, ":");
		else if (may_have_row_name(q, fault))
			remedy_row_names(&q->plan.dialect, q->header.line_number,
					 "if the first column has no name, as from R and pandas", fault);
		break;
	case STATUS_UNKNOWN_COLUMN:
	case STATUS_DOUBTFUL_HEADER:
	case STATUS_NO_NUMERIC_COLUMN:
		break;
	default:
		return;
	}
	if (*fault->remedy)
		return;
	if (sign)
		snprintf(fault->remedy, sizeof fault->remedy, "--comment '%c'", sign);
	else if (delimiter)
		snprintf(fault->remedy, sizeof fault->remedy, "%s",
			 remedy_delimiter_option(delimiter));
	else if (q->guesses_delimiter && q->header.other.blanks)
		snprintf(fault->remedy, sizeof fault->remedy, "%s", q->header.other.blanks);
	else if (fault->status != STATUS_UNKNOWN_COLUMN && fault->status != STATUS_DOUBTFUL_HEADER &&
		 remedy_is_no_value(fault->detail, fault->detail_nbytes) &&
		 !value_is_missing(&q->plan, 0, fault->detail, fault->detail_nbytes))
		snprintf(fault->remedy, sizeof fault->remedy, "--missing '%.16s'",
			 fault->detail);
	else if (fault->status == STATUS_NOT_A_NUMBER && fault->detail_nbytes > BYTE_ORDER_MARK_NBYTES &&
		 byte_order_mark_nbytes(fault->detail, fault->detail_nbytes))
		strcpy(fault->remedy, "naming the files instead of joining them: a byte-order mark begins this value");
	else if (fault->status == STATUS_NOT_A_NUMBER && is_date_of_extremes(q, fault))
		strcpy(fault->remedy, "--text-min and --text-max, which order dates");
	else if (fault->status == STATUS_NOT_A_NUMBER && !q->header.present && fault->line == 1 &&
		 !notation_resembles_number(fault->detail, fault->detail_nbytes))
		strcpy(fault->remedy, "-H, if this is the header");
	else if (fault->status == STATUS_NOT_A_NUMBER && has_unit(q, fault))
		snprintf(fault->remedy, sizeof fault->remedy, "'number(split(%s, \" \", 1))', the number before the unit", fault->column);
	else if (fault->status == STATUS_NO_NUMERIC_COLUMN && q->header.nfields > 0)
		strcpy(fault->remedy, "gpustat without an operation, which shows what the columns hold");
}

/* ---- numbers that a condition puts in order as text ---- */

static bool holds_numbers(const struct query *q, const struct plan_column *c)
{
	const struct header *h = &q->header;
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	if (c->let)
		return c->let->type == TYPE_NUMBER;
	return c->field < r->nfields && r->values[c->field].is_number;
}

/* Whether a step puts a column in order by a number in quotes. */
static bool is_order(const struct query *q, const struct program *p, const struct step *step)
{
	return step->code == STEP_ORDER_TEXT && step->left != NO_COLUMN &&
	       !(step->accepts & ORDER_LESS) != !(step->accepts & ORDER_GREATER) &&
	       value_is_number(&q->plan, p->literals + step->literal_begin, step->literal_nbytes);
}

/* The same, of a column of numbers in the plan. */
static bool is_order_of_numbers(const struct query *q, const struct program *p, const struct step *step)
{
	return is_order(q, p, step) && holds_numbers(q, &q->plan.columns[p->columns[step->left]]);
}

/* The n-th program: the conditions, then the computed columns and keys. NULL: there are fewer. */
static const struct program *program_at(const struct query *q, size_t n)
{
	if (n < q->nconditions)
		return &q->conditions[n];
	return n - q->nconditions < q->ncomputed ? &q->lets[n - q->nconditions] : NULL;
}

/* Whether the plan has the program: a computed column that nothing asks for has no places of columns. */
static bool is_planned(const struct query *q, const struct program *p)
{
	for (size_t c = q->plan.ncolumns - q->plan.nlets; p->name && c < q->plan.ncolumns; c++)
		if (q->plan.columns[c].let == p)
			return true;
	return !p->name;
}

/* Finds the first step for which `is` holds, of programs that the plan has if it is_made. Sets *p to its program. */
static const struct step *find_step(const struct query *q, bool is_made, const struct program **p,
				    bool (*is)(const struct query *q, const struct program *p, const struct step *step))
{
	for (size_t n = 0; (*p = program_at(q, n)); n++)
		for (size_t i = 0; i < (*p)->nsteps && (!is_made || is_planned(q, *p)); i++)
			if (is(q, *p, &(*p)->steps[i]))
				return &(*p)->steps[i];
	return NULL;
}

bool query_has_order_as_text(const struct query *q)
{
	const struct program *p;

	return find_step(q, false, &p, is_order) != NULL;
}

bool query_orders_numbers_as_text(const struct query *q, struct fault *fault)
{
	const struct program *p;
	const struct step *step = find_step(q, true, &p, is_order_of_numbers);

	if (!step)
		return false;
	fault_set_value(fault, STATUS_OK, p->literals + step->literal_begin, step->literal_nbytes);
	fault->column = q->plan.columns[p->columns[step->left]].name;
	return true;
}

/* ---- names of columns that are taken for texts ---- */

static bool is_name(const struct query *q, const char *text, size_t nbytes)
{
	if (q->header.present && header_names_column(&q->header, text, nbytes))
		return true;
	for (size_t i = 0; i < q->nlets; i++)
		if (strlen(q->lets[i].name) == nbytes && !memcmp(q->lets[i].name, text, nbytes))
			return true;
	return false;
}

/* Whether a step's text is the name of a column, and it is not compared with that: v != "v" leaves headers out. */
static bool has_name(const struct query *q, const struct program *p, const struct step *step)
{
	const char *text = p->literals + step->literal_begin, *own;

	if ((step->code != STEP_ORDER_TEXT && step->code != STEP_LITERAL) || !step->is_quoted ||
	    !is_name(q, text, step->literal_nbytes))
		return false;
	if (step->code == STEP_LITERAL || step->left == NO_COLUMN)
		return true;
	own = q->plan.columns[p->columns[step->left]].name;
	return strlen(own) != step->literal_nbytes || memcmp(own, text, step->literal_nbytes) != 0;
}

bool query_takes_name_for_text(const struct query *q, struct fault *fault)
{
	const struct program *p;
	const struct step *step = find_step(q, true, &p, has_name);

	if (step)
		fault_set_value(fault, STATUS_OK, p->literals + step->literal_begin, step->literal_nbytes);
	return step != NULL;
}

/* ---- the header again ---- */

/* Whether the header's field of a column is a value that is no number. */
static bool header_has_name(const struct query *q, const struct plan_column *c)
{
	const struct first_record *first = &q->header.record[0];

	return !c->let && c->field < first->nfields && !first->values[c->field].is_number &&
	       !first->values[c->field].is_missing;
}

/* Whether a computed column has a value that is an error where the record is the header: it calculates with names, and with a number
 * at most. */
static bool let_shows_header(const struct query *q, const struct program *let)
{
	size_t nnumbers = 0;

	for (const struct step *step = let->steps; step < let->steps + let->nsteps; step++) {
		bool is_name = step->code == STEP_LOAD && header_has_name(q, &q->plan.columns[let->columns[step->index]]);
		nnumbers += step->code == STEP_NUMBER && step->number.significand;
		if (!is_name && step->code != STEP_NUMBER && (step->code < STEP_ADD || step->code > STEP_DIVIDE))
			return false;
		if (step->code == STEP_NUMBER && (nnumbers > 1 || !step->number.significand))
			return false;
	}
	return let->nsteps > 1;
}

/* Whether in every record that is the header the column has a value that is an error. */
static bool shows_header(const struct query *q, const struct plan_column *c, bool is_part)
{
	const struct first_record *second = &q->header.record[1];
	bool is_number = q->header.has_second && c->field < second->nfields && second->values[c->field].is_number;

	if (!c->parses || c->takes_text || !c->needs || c->invalid != INVALID_ERROR || q->plan.where != PREDICATE_NONE)
		return false;
	return c->let ? !c->if_numeric && let_shows_header(q, c->let)
		      : header_has_name(q, c) && (!c->if_numeric || (is_number && !is_part));
}

/* Whether the condition of --where compares only one column, with a number. */
static bool condition_shows_header(const struct query *q)
{
	const struct program *p = q->plan.where != 0 ? NULL : q->plan.predicates[0];

	return p && p->nsteps == 2 && p->steps[1].code == STEP_ORDER_NUMBER && q->plan.bad_record == INVALID_ERROR &&
	       header_has_name(q, &q->plan.columns[p->columns[p->steps[1].left]]);
}

void query_seek_header(struct query *q, bool is_part)
{
	const struct header *h = &q->header;
	bool has_name = false, shows = false;

	for (size_t c = 0; c < q->plan.ncolumns; c++)
		shows |= shows_header(q, &q->plan.columns[c], is_part);
	for (size_t i = 0; h->present && i < h->record[0].nfields; i++)
		has_name |= !h->record[0].values[i].is_missing;
	/* without a name, a record of empty fields would be taken for a header */
	if (has_name && !shows && !condition_shows_header(q))
		q->plan.sought = sought_header_of(q->plan.header, q->plan.header_nbytes, &q->plan.dialect);
}
