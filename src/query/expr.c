/* SPDX-License-Identifier: MIT
 *
 * expr.c - compiles by recursive descent to a chain of tests. See expr.h, expr_eval.h.
 *
 * There is no syntax tree. Each part of an expression becomes tests whose exits are not yet set: the
 * exits taken when the part is true, and those when it is not. `and` sets the first part's true
 * exits to the second part's first test; `or`, the other exits. `not` sets a flag for the functions
 * below it, which swap and/or and complement comparisons (De Morgan). Unset exits form a list
 * linked through the exits themselves: backpatching, as in Aho, Lam, Sethi, Ullman: Compilers,
 * section 6.7.
 */
#include "query/expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expr_parser.h"
#include "query/expr_value.h"
#include "query/pattern.h"

#define TEST_NBYTES_LEAST 2 /* 1, in a list */

/* ---- and, or, not ---- */

static bool parse_or(struct expr_parser *p, bool negated, struct expr_part *out);

static bool parse_parentheses(struct expr_parser *p, bool negated, struct expr_part *out)
{
	if (p->nlevels == EXPR_NLEVELS)
		return expr_fail(p, p->token.begin, "more than %d parentheses within each other",
			    EXPR_NLEVELS);
	p->nlevels++;
	expr_advance(p);
	if (!parse_or(p, negated, out))
		return false;
	if (p->token.kind != EXPR_TOKEN_CLOSE)
		return expr_unexpected(p, expr_is_operand(p) ? "')', 'and' or 'or'" EXPR_QUOTES
						   : "')', 'and' or 'or'");
	expr_advance(p);
	p->nlevels--;
	return true;
}

static bool parse_not(struct expr_parser *p, bool negated, struct expr_part *out)
{
	for (; p->token.kind == EXPR_TOKEN_NOT; expr_advance(p))
		negated = !negated;
	if (p->token.kind == EXPR_TOKEN_OPEN)
		return parse_parentheses(p, negated, out);
	return expr_parse_comparison(p, negated, out);
}

static bool parse_and(struct expr_parser *p, bool negated, struct expr_part *out)
{
	struct expr_part next;

	if (!parse_not(p, negated, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_AND) {
		expr_advance(p);
		if (!parse_not(p, negated, &next))
			return false;
		expr_join(p, !negated, out, &next);
	}
	return true;
}

static bool parse_or(struct expr_parser *p, bool negated, struct expr_part *out)
{
	struct expr_part next;

	if (!parse_and(p, negated, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_OR) {
		expr_advance(p);
		if (!parse_and(p, negated, &next))
			return false;
		expr_join(p, negated, out, &next);
	}
	return true;
}

/* Compiles a condition. Its end is left to the caller. */
static bool parse_condition(struct expr_parser *p)
{
	struct expr_part part;

	if (!parse_or(p, false, &part))
		return false;
	expr_set_exits(p, part.if_true, EXPR_ACCEPT);
	expr_set_exits(p, part.if_not, EXPR_REJECT);
	return true;
}

static bool parse_all(struct expr_parser *p)
{
	expr_advance(p);
	if (p->token.kind == EXPR_TOKEN_END)
		return expr_fail(p, 0, "the expression is empty");
	if (!parse_condition(p))
		return false;
	if (p->token.kind == EXPR_TOKEN_CLOSE)
		return expr_fail(p, p->token.begin, "no parenthesis is open here");
	if (p->token.kind != EXPR_TOKEN_END)
		return expr_unexpected(p, expr_is_operand(p) ? "'and', 'or' or the end" EXPR_QUOTES
							     : "'and', 'or' or the end");
	return true;
}

enum status expr_parse(struct expr_request *r, const char *option, const char *text,
		       const struct expr_names *names, struct fault *fault)
{
	struct expr_parser p;

	if (!expr_parser_begin(&p, r, option, text, names, TEST_NBYTES_LEAST, fault))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	p.is_condition = p.in_condition = true;
	parse_all(&p);
	return p.status;
}

bool expr_parse_condition(struct expr_parser *within, struct expr_request *r)
{
	struct expr_parser p;
	bool is_fine = false;

	if (!expr_parser_begin(&p, r, within->option, within->text, within->names, TEST_NBYTES_LEAST,
			       within->fault)) {
		p.status = fault_set(within->fault, STATUS_NO_MEMORY, 0, NULL);
	} else {
		p.token = within->token;
		p.in_condition = true;
		is_fine = parse_condition(&p) &&
			  (!expr_find_value(&p) || expr_fail(&p, p.token.begin, EXPR_CALCULATES));
	}
	within->token = p.token;
	within->status = p.status;
	within->request->error_offset = r->error_offset;
	within->request->value_begin = r->value_begin;
	within->request->value_end = r->value_end;
	within->request->may_be_name = r->may_be_name;
	return is_fine;
}

/* Like selector_resolve, but :N is a position even if a column has that name. */
static enum status resolve(const struct selector *s, char *const *names, size_t nfields,
			   uint32_t *field, struct fault *fault)
{
	struct field_range range;
	enum status status = STATUS_OK;

	if (s->computed) {
		*field = FIELD_COMPUTED + s->computed - 1;
		return STATUS_OK;
	}
	if (s->quoted || s->text[0] != ':' || !selector_by_position(s, nfields, &range))
		status = selector_resolve(s, names, nfields, &range, fault);
	if (status == STATUS_OK)
		*field = range.first;
	return status;
}

/* The column with which the condition compares column i, or UINT32_MAX. */
static uint32_t compared_with(const struct expr *e, uint32_t i)
{
	for (uint32_t t = 0; t < e->ntests; t++) {
		const struct expr_test *test = &e->tests[t];
		if (test->kind == EXPR_TEST_COLUMNS && test->left == i)
			return test->right;
		if (test->kind == EXPR_TEST_COLUMNS && test->right == i)
			return test->left;
	}
	return UINT32_MAX;
}

/* Says how text is written if column i, which is unknown, is compared with one that is known. */
static void suggest_quotes(const struct expr_request *r, uint32_t i, char *const *names,
			   size_t nfields, struct fault *fault)
{
	const struct selector *s = &r->columns.selectors[i];
	uint32_t other = compared_with(&r->expr, i), field;
	struct fault ignored;

	if (s->quoted || *s->text == ':' || other == UINT32_MAX ||
	    resolve(&r->columns.selectors[other], names, nfields, &field, &ignored) != STATUS_OK)
		return;
	snprintf(fault->remedy, sizeof fault->remedy, "\"%.64s\": text is written in quotes",
		 s->text);
}

enum status expr_resolve(struct expr_request *r, char *const *names, size_t nfields,
			 struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < r->columns.nselectors; i++) {
		status = resolve(&r->columns.selectors[i], names, nfields, &r->fields[i], fault);
		if (status == STATUS_UNKNOWN_COLUMN)
			suggest_quotes(r, (uint32_t)i, names, nfields, fault);
	}
	return status;
}

void expr_free(struct expr_request *r)
{
	for (uint32_t i = 0; i < r->expr.npatterns; i++)
		pattern_free(r->expr.patterns[i]);
	free(r->expr.patterns);
	free((void *)r->expr.tests);
	free((void *)r->expr.literals);
	free(r->expr.columns);
	selection_free(&r->columns);
	free(r->uses);
	free(r->fields);
	memset(r, 0, sizeof *r);
}
