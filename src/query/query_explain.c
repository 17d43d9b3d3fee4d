/* SPDX-License-Identifier: MIT
 *
 * query_explain.c - what a query knows of the input's first records: what a fault's message suggests, notes on conditions, and
 * whether the header must be sought among the records.
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

/* ---- the header again ---- */

/* Whether the header's field of a column is a value that is no number. */
static bool header_has_name(const struct query *q, const struct plan_column *c)
{
	const struct first_record *first = &q->header.record[0];

	return !c->let && c->field < first->nfields && !first->values[c->field].is_number &&
	       !first->values[c->field].is_missing;
}

/* What a value of an expression is in a record that is the header. */
enum in_header {
	IN_HEADER_ANY,
	IN_HEADER_NUMBER, /* one of the expression, not 0 */
	IN_HEADER_NAME,
	IN_HEADER_WRONG, /* an operation on a name, which is no number */
};

/* The result of an operation on a and b. */
static enum in_header operate_in_header(enum let_code code, enum in_header a, enum in_header b)
{
	bool calculates = code >= LET_ADD && code <= LET_DIVIDE;

	return calculates && a && b && (a >= IN_HEADER_NAME || b >= IN_HEADER_NAME) ? IN_HEADER_WRONG : IN_HEADER_ANY;
}

/* lets: of those of --let, as far as they are known. */
static enum in_header load_in_header(const struct query *q, const struct plan_column *c, const enum in_header *lets)
{
	if (c->let)
		return lets[c->let - q->lets];
	return header_has_name(q, c) ? IN_HEADER_NAME : IN_HEADER_ANY;
}

/* Runs the expression on the header, as far as names and numbers alone say what comes out. lets: of those before it. */
static enum in_header let_in_header(const struct query *q, const struct let *let, const enum in_header *lets)
{
	enum in_header stack[LET_DEPTH_MAX];
	size_t n = 0;

	for (const struct let_step *step = let->steps; step < let->steps + let->nsteps; step++) {
		switch ((enum let_code)step->code) {
		case LET_LOAD:
			stack[n++] = load_in_header(q, &q->plan.columns[let->request.expr.columns[step->index]],
						    lets);
			break;
		case LET_NUMBER:
			stack[n++] = step->number.significand ? IN_HEADER_NUMBER : IN_HEADER_ANY;
			break;
		case LET_LITERAL:
			stack[n++] = IN_HEADER_ANY;
			break;
		case LET_NEGATE:
		case LET_ABS:
		case LET_ROUND:
		case LET_LOWER:
		case LET_UPPER:
		case LET_LENGTH:
		case LET_EPOCH:
			stack[n - 1] = IN_HEADER_ANY;
			break;
		default:
			n--;
			stack[n - 1] = operate_in_header(step->code, stack[n - 1], stack[n]);
		}
	}
	return stack[0];
}

/* Whether in every record that is the header the column has a value that is an error. */
static bool shows_header(const struct query *q, const struct plan_column *c, const enum in_header *lets, bool is_part)
{
	const struct first_record *second = &q->header.record[1];
	bool is_number = q->header.has_second && c->field < second->nfields && second->values[c->field].is_number;

	if (!c->parses || c->takes_text || !c->needs || c->invalid != INVALID_ERROR || q->plan.where != PREDICATE_NONE)
		return false;
	return c->let ? !c->if_numeric && load_in_header(q, c, lets) == IN_HEADER_WRONG
		      : header_has_name(q, c) && (!c->if_numeric || (is_number && !is_part));
}

static bool some_column_shows_header(const struct query *q, bool is_part)
{
	enum in_header *lets = calloc(q->nlets + 1, sizeof *lets);
	bool shows = false;

	for (size_t c = 0; lets && c < q->plan.ncolumns && !shows; c++) {
		const struct let *let = q->plan.columns[c].let; /* those that it takes come before it */
		if (let)
			lets[let - q->lets] = let_in_header(q, let, lets);
		shows = shows_header(q, &q->plan.columns[c], lets, is_part);
	}
	free(lets);
	return shows; /* false without memory: to seek it is never wrong */
}

/* Whether the condition of --where compares only one column, with a number. */
static bool condition_shows_header(const struct query *q)
{
	const struct expr *e = q->plan.where == PREDICATE_NONE ? NULL : q->plan.predicates[q->plan.where];

	return e && e->ntests == 1 && e->tests[0].kind == EXPR_TEST_NUMBER && q->plan.bad_record == INVALID_ERROR &&
	       header_has_name(q, &q->plan.columns[e->columns[e->tests[0].left]]);
}

void query_seek_header(struct query *q, bool is_part)
{
	const struct header *h = &q->header;
	bool has_name = false;

	for (size_t i = 0; h->present && i < h->record[0].nfields; i++)
		has_name |= !h->record[0].values[i].is_missing;
	if (!has_name)
		return; /* none, or records of empty fields are no headers */
	if (condition_shows_header(q))
		return;
	if (some_column_shows_header(q, is_part))
		return;
	q->plan.sought = sought_header_of(q->plan.header, q->plan.header_nbytes, &q->plan.dialect);
}
