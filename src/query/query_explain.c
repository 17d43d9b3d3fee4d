/* SPDX-License-Identifier: MIT
 *
 * query_explain.c - what a fault's message suggests, from what the query knows of the input.
 */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number/iso_date.h"
#include "query/expr_eval.h"
#include "query/let.h"
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

/* Whether --min or --max asks for the column. */
static bool asks_extremes(const struct query *q, const char *column)
{
	for (size_t i = 0; i < q->nresults; i++) {
		const struct result *r = &q->results[i];
		if ((r->operation == OPERATION_MIN || r->operation == OPERATION_MAX) && column &&
		    !strcmp(q->plan.columns[r->column].name, column))
			return true;
	}
	return false;
}

/* Whether the value, which is no number, is a date whose extremes are asked for. */
static bool is_date_of_extremes(const struct query *q, const struct fault *fault)
{
	return fault->detail_nbytes == fault->value_nbytes && asks_extremes(q, fault->column) &&
	       iso_date_of(fault->detail, fault->detail_nbytes) != ISO_NONE;
}

void query_explain(const struct query *q, struct fault *fault)
{
	char delimiter = query_other_delimiter(q), sign = header_comment_sign(&q->header, &q->plan.dialect);

	switch (fault->status) {
	case STATUS_NOT_A_NUMBER:
		if (!delimiter && q->guesses_delimiter && q->header.nfields == 1)
			delimiter = remedy_delimiter((struct line_text){fault->detail, fault->detail_nbytes});
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
	else if (fault->status == STATUS_NO_NUMERIC_COLUMN && q->header.nfields > 0)
		strcpy(fault->remedy, "gpustat without an operation, which shows what the columns hold");
}

/* ---- numbers that a condition puts in order as text ---- */

static bool holds_numbers(const struct query *q, const struct plan_column *c)
{
	const struct header *h = &q->header;
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	if (c->let)
		return c->let->is_number;
	return c->field < r->nfields && r->values[c->field].is_number;
}

/* The first test of an expression from the i-th on that puts a column in order by a number in quotes; ntests: none. */
static uint32_t find_order(const struct query *q, const struct expr *e, uint32_t i)
{
	for (; i < e->ntests; i++) {
		const struct expr_test *t = &e->tests[i];
		bool is_order = !(t->accepts & EXPR_LESS) != !(t->accepts & EXPR_GREATER);
		if (t->kind == EXPR_TEST_TEXT && is_order &&
		    value_is_number(&q->plan, e->literals + t->literal_begin, t->literal_nbytes))
			break;
	}
	return i;
}

/* The n-th condition, and the computed column that it is in or NULL; NULL: there are fewer. */
static const struct expr *condition_at(const struct query *q, size_t n, const struct let **let)
{
	*let = NULL;
	if (n < q->nconditions)
		return &q->conditions[n].expr;
	n -= q->nconditions;
	for (*let = q->lets; *let < q->lets + q->nlets; ++*let) {
		if (n < (*let)->nconditions)
			return &(*let)->conditions[n].expr;
		n -= (*let)->nconditions;
	}
	return NULL;
}

/* Whether the plan has a computed column: one that nothing asks for has no places of columns. */
static bool is_planned(const struct query *q, const struct let *let)
{
	for (size_t c = q->plan.ncolumns - q->plan.nlets; c < q->plan.ncolumns; c++)
		if (q->plan.columns[c].let == let)
			return true;
	return false;
}

bool query_has_order_as_text(const struct query *q)
{
	const struct let *let;
	const struct expr *e;

	for (size_t n = 0; (e = condition_at(q, n, &let)); n++)
		if (find_order(q, e, 0) < e->ntests)
			return true;
	return false;
}

bool query_orders_numbers_as_text(const struct query *q, struct fault *fault)
{
	const struct let *let;
	const struct expr *e;

	for (size_t n = 0; (e = condition_at(q, n, &let)); n++) {
		if (let && !is_planned(q, let))
			continue;
		for (uint32_t i = find_order(q, e, 0); i < e->ntests; i = find_order(q, e, i + 1)) {
			const struct plan_column *c = &q->plan.columns[e->columns[e->tests[i].left]];
			if (!holds_numbers(q, c))
				continue;
			fault_set_value(fault, STATUS_OK, e->literals + e->tests[i].literal_begin,
					e->tests[i].literal_nbytes);
			fault->column = c->name;
			return true;
		}
	}
	return false;
}

/* ---- names of columns that are taken for texts ---- */

static bool is_name(const struct query *q, const char *text, size_t nbytes)
{
	const struct header *h = &q->header;

	for (size_t i = 0; h->present && i < h->nnames; i++)
		if (h->names[i] && strlen(h->names[i]) == nbytes && !memcmp(h->names[i], text, nbytes))
			return true;
	for (size_t i = 0; i < q->nlets; i++)
		if (strlen(q->lets[i].name) == nbytes && !memcmp(q->lets[i].name, text, nbytes))
			return true;
	return false;
}

/* Whether a condition compares another column with the name of a column. */
static bool compares_with_name(const struct query *q, const struct expr *e, struct fault *fault)
{
	for (const struct expr_test *t = e->tests; t < e->tests + e->ntests; t++) {
		const char *text = e->literals + t->literal_begin, *own;
		if (t->kind != EXPR_TEST_TEXT || !t->is_quoted || !is_name(q, text, t->literal_nbytes))
			continue;
		own = q->plan.columns[e->columns[t->left]].name;
		if (strlen(own) == t->literal_nbytes && !memcmp(own, text, t->literal_nbytes))
			continue; /* v != "v": it leaves headers out */
		fault_set_value(fault, STATUS_OK, text, t->literal_nbytes);
		return true;
	}
	return false;
}

/* Whether a value of the computed column is the name of a column. */
static bool has_name(const struct query *q, const struct let *let, struct fault *fault)
{
	const char *literals = let->request.expr.literals;

	for (const struct let_step *step = let->steps; step < let->steps + let->nsteps; step++)
		if (step->code == LET_LITERAL && step->is_quoted &&
		    is_name(q, literals + step->literal_begin, step->literal_nbytes)) {
			fault_set_value(fault, STATUS_OK, literals + step->literal_begin, step->literal_nbytes);
			return true;
		}
	return false;
}

bool query_takes_name_for_text(const struct query *q, struct fault *fault)
{
	const struct let *let;
	const struct expr *e;

	for (size_t n = 0; (e = condition_at(q, n, &let)); n++)
		if ((!let || is_planned(q, let)) && compares_with_name(q, e, fault))
			return true;
	for (let = q->lets; let < q->lets + q->nlets; let++)
		if (is_planned(q, let) && has_name(q, let, fault))
			return true;
	return false;
}
