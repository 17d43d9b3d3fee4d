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

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expr_lex.h"
#include "query/expr_show.h"

#define QUOTES " (text is written in quotes)"
#define TEST_NBYTES_LEAST 3 /* a=1 */
#define EXPR_NBYTES_MAX ((size_t)1 << 28)

/* A list of exits to be set: test i's if_true is exit 2 i, its if_not 2 i + 1. */
#define EXIT_NONE UINT32_MAX
struct exits {
	uint32_t first, last;
};

/* A compiled part: tests from `begin` to the start of the next part. */
struct part {
	uint32_t begin;
	struct exits if_true, if_not;
};

struct parser {
	struct expr_request *request;
	struct expr *e;          /* request->expr */
	struct expr_test *tests; /* e->tests, writable */
	char *literals;
	const char *option, *text;
	struct expr_token token; /* the look-ahead */
	int nlevels;
	enum status status;
	struct fault *fault;
};

/* ---- errors ---- */

/* Stores the first error. Returns false. */
__attribute__((format(printf, 3, 4))) static bool fail(struct parser *p, size_t offset,
						       const char *format, ...)
{
	char words[FAULT_DETAIL_NBYTES], lines[EXPR_SHOW_NBYTES];
	char detail[FAULT_DETAIL_NBYTES];
	va_list arguments;

	if (p->status != STATUS_OK)
		return false;
	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	expr_show(p->text, offset, lines);
	snprintf(detail, sizeof detail, "--%.16s: %.100s\n%s", p->option, words, lines);
	p->request->error_offset = offset;
	p->status = fault_set(p->fault, STATUS_USAGE, 0, detail);
	return false;
}

/* Reports that the next token is not what the grammar requires. */
static bool unexpected(struct parser *p, const char *wanted)
{
	if (p->token.kind == EXPR_TOKEN_BAD)
		return fail(p, p->token.begin, "%s", p->token.words);
	return fail(p, p->token.begin, "expected %s%s", wanted,
		    p->token.kind == EXPR_TOKEN_END ? ", not the end" : "");
}

/* Whether the next token is a column or a number. */
static bool is_operand(const struct parser *p)
{
	return p->token.kind == EXPR_TOKEN_COLUMN || p->token.kind == EXPR_TOKEN_NUMBER;
}

/* ---- backpatching ---- */

static uint32_t *exit_at(struct parser *p, uint32_t exit)
{
	struct expr_test *test = &p->tests[exit / 2];

	return exit % 2 ? &test->if_not : &test->if_true;
}

static void set_exits(struct parser *p, struct exits exits, uint32_t target)
{
	for (uint32_t exit = exits.first, next; exit != EXIT_NONE; exit = next) {
		next = *exit_at(p, exit);
		*exit_at(p, exit) = target;
	}
}

static struct exits concatenate(struct parser *p, struct exits a, struct exits b)
{
	*exit_at(p, a.last) = b.first; /* every part has exits of both kinds */
	return (struct exits){a.first, b.last};
}

/* Makes part `part and next` or `part or next`. */
static void join(struct parser *p, bool with_and, struct part *part, const struct part *next)
{
	set_exits(p, with_and ? part->if_true : part->if_not, next->begin);
	if (with_and) {
		part->if_not = concatenate(p, part->if_not, next->if_not);
		part->if_true = next->if_true;
	} else {
		part->if_true = concatenate(p, part->if_true, next->if_true);
		part->if_not = next->if_not;
	}
}

/* Appends a test. Returns it as a part. */
static struct part emit(struct parser *p, struct expr_test test)
{
	uint32_t at = p->e->ntests++;

	test.if_true = test.if_not = EXIT_NONE;
	p->tests[at] = test;
	return (struct part){at, {2 * at, 2 * at}, {2 * at + 1, 2 * at + 1}};
}

/* ---- operands ---- */

static void advance(struct parser *p)
{
	p->token = expr_lex(p->text, p->token.begin + p->token.nbytes);
}

/* Returns the index of the selector's column, added if it is new. A column that is compared both as
 * text and as a number is two. Owns s.text from here on. */
static uint32_t find_column(struct parser *p, struct selector s, enum expr_use use)
{
	const unsigned text_or_number = EXPR_AS_TEXT | EXPR_AS_NUMBER;
	struct selection *columns = &p->request->columns;
	uint8_t *uses = p->request->uses;

	for (size_t i = 0; i < columns->nselectors; i++) {
		if (columns->selectors[i].quoted != s.quoted ||
		    strcmp(columns->selectors[i].text, s.text) ||
		    ((uses[i] | use) & text_or_number) == text_or_number)
			continue;
		uses[i] |= (uint8_t)use;
		free(s.text);
		return (uint32_t)i;
	}
	uses[columns->nselectors] = (uint8_t)use;
	columns->selectors[columns->nselectors++] = s;
	return p->e->ncolumns++;
}

static bool add_column(struct parser *p, const struct expr_token *token, enum expr_use use,
		       uint32_t *column)
{
	const char *text = p->text + token->begin;
	struct selector s = {.text = strndup(text, token->nbytes), .quoted = *text == '`'};

	if (!s.text) {
		p->status = fault_set(p->fault, STATUS_NO_MEMORY, 0, NULL);
		return false;
	}
	if (s.quoted)
		s.text[expr_unquote(text, token->nbytes, s.text)] = '\0';
	*column = find_column(p, s, use);
	return true;
}

/* Whether a token is a keyword, not a sign. first: its first byte. */
static bool is_keyword(const struct expr_token *token, char first)
{
	return token->kind >= EXPR_TOKEN_AND && token->kind <= EXPR_TOKEN_MISSING &&
	       (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
}

/* Reads a column or a literal. */
static bool parse_operand(struct parser *p, struct expr_token *operand)
{
	const char *text = p->text + p->token.begin;

	*operand = p->token;
	switch (p->token.kind) {
	case EXPR_TOKEN_COLUMN:
	case EXPR_TOKEN_NUMBER:
	case EXPR_TOKEN_STRING:
		advance(p);
		return true;
	default:
		if (is_keyword(&p->token, *text))
			return fail(p, p->token.begin, "expected a column or a value; a column "
				    "of this name is written `%.*s`", (int)p->token.nbytes, text);
		return unexpected(p, "a column or a value");
	}
}

/* Copies a literal's text into the compiled condition. */
static void add_literal(struct parser *p, const struct expr_token *token, struct expr_test *test)
{
	char *to = p->literals + p->e->nliteral_bytes;
	size_t nbytes = token->nbytes;

	if (token->kind == EXPR_TOKEN_STRING)
		nbytes = expr_unquote(p->text + token->begin, nbytes, to);
	else
		memcpy(to, p->text + token->begin, nbytes);
	test->literal_begin = p->e->nliteral_bytes;
	test->literal_nbytes = (uint32_t)nbytes;
	p->e->nliteral_bytes += (uint32_t)nbytes;
}

static bool add_number(struct parser *p, const struct expr_token *token, struct expr_test *test)
{
	struct expr_value v = {.text = p->text + token->begin, .nbytes = token->nbytes};

	expr_read(&v);
	if (!expr_is_number(&v))
		return fail(p, token->begin, "%s", v.kind == EXPR_OUT_OF_RANGE
				? status_words(STATUS_OUT_OF_RANGE) : "not a number" QUOTES);
	add_literal(p, token, test);
	test->literal_kind = (uint8_t)v.kind;
	test->number = v.number;
	return true;
}

/* ---- comparisons ---- */

/* Returns the orders of (b, a) from those of (a, b). */
static unsigned mirrored(unsigned accepts)
{
	return (accepts & EXPR_EQUAL) | (accepts & EXPR_LESS ? EXPR_GREATER : 0u) |
	       (accepts & EXPR_GREATER ? EXPR_LESS : 0u);
}

/* Sets the test's kind, columns and literal, and the columns' uses. left is a column. */
static bool set_operands(struct parser *p, const struct expr_token *left,
			 const struct expr_token *right, struct expr_test *test)
{
	bool is_text = right->kind == EXPR_TOKEN_STRING;

	if (!add_column(p, left, is_text ? EXPR_AS_TEXT : EXPR_AS_NUMBER, &test->left))
		return false;
	if (is_text) {
		test->kind = EXPR_TEST_TEXT;
		add_literal(p, right, test);
		return test->literal_nbytes ||
		       fail(p, right->begin, "an empty field is missing: write 'is missing'");
	}
	if (right->kind == EXPR_TOKEN_NUMBER) {
		test->kind = EXPR_TEST_NUMBER;
		return add_number(p, right, test);
	}
	test->kind = EXPR_TEST_COLUMNS;
	return add_column(p, right, EXPR_AS_NUMBER, &test->right);
}

static bool parse_compare(struct parser *p, const struct expr_token *left, struct expr_test *test)
{
	struct expr_token right;

	test->accepts = (uint8_t)p->token.accepts;
	advance(p);
	if (!parse_operand(p, &right))
		return false;
	if (left->kind == EXPR_TOKEN_COLUMN)
		return set_operands(p, left, &right, test);
	if (right.kind != EXPR_TOKEN_COLUMN)
		return fail(p, left->begin, "neither side of this comparison is a column");
	test->accepts = (uint8_t)mirrored(test->accepts);
	return set_operands(p, &right, left, test);
}

/* is missing, is not missing */
static bool parse_is(struct parser *p, const struct expr_token *left, struct expr_test *test)
{
	test->kind = EXPR_TEST_MISSING;
	test->accepts = EXPR_LESS;
	if (left->kind != EXPR_TOKEN_COLUMN)
		return fail(p, left->begin, "only a column can be missing");
	advance(p);
	if (p->token.kind == EXPR_TOKEN_NOT) {
		test->accepts ^= EXPR_ANY_ORDER;
		advance(p);
	}
	if (p->token.kind != EXPR_TOKEN_MISSING)
		return unexpected(p, "'missing' or 'not missing'");
	advance(p);
	return add_column(p, left, EXPR_FOR_PRESENCE, &test->left);
}

static bool parse_comparison(struct parser *p, bool negated, struct part *out)
{
	struct expr_test test = {.left = 0};
	struct expr_token left;

	if (!parse_operand(p, &left))
		return false;
	if (p->token.kind == EXPR_TOKEN_IS) {
		if (!parse_is(p, &left, &test))
			return false;
	} else if (p->token.kind == EXPR_TOKEN_COMPARE) {
		if (!parse_compare(p, &left, &test))
			return false;
	} else {
		return unexpected(p, "a comparison (= != < <= > >=, is missing)");
	}
	if (p->token.kind == EXPR_TOKEN_COMPARE || p->token.kind == EXPR_TOKEN_IS)
		return fail(p, p->token.begin, "comparisons do not chain: join them with 'and'");
	if (negated)
		test.accepts ^= EXPR_ANY_ORDER;
	*out = emit(p, test);
	return true;
}

/* ---- and, or, not ---- */

static bool parse_or(struct parser *p, bool negated, struct part *out);

static bool parse_parentheses(struct parser *p, bool negated, struct part *out)
{
	if (p->nlevels == EXPR_NLEVELS)
		return fail(p, p->token.begin, "more than %d parentheses within each other",
			    EXPR_NLEVELS);
	p->nlevels++;
	advance(p);
	if (!parse_or(p, negated, out))
		return false;
	if (p->token.kind != EXPR_TOKEN_CLOSE)
		return unexpected(p, is_operand(p) ? "')', 'and' or 'or'" QUOTES
						   : "')', 'and' or 'or'");
	advance(p);
	p->nlevels--;
	return true;
}

static bool parse_not(struct parser *p, bool negated, struct part *out)
{
	for (; p->token.kind == EXPR_TOKEN_NOT; advance(p))
		negated = !negated;
	if (p->token.kind == EXPR_TOKEN_OPEN)
		return parse_parentheses(p, negated, out);
	return parse_comparison(p, negated, out);
}

static bool parse_and(struct parser *p, bool negated, struct part *out)
{
	struct part next;

	if (!parse_not(p, negated, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_AND) {
		advance(p);
		if (!parse_not(p, negated, &next))
			return false;
		join(p, !negated, out, &next);
	}
	return true;
}

static bool parse_or(struct parser *p, bool negated, struct part *out)
{
	struct part next;

	if (!parse_and(p, negated, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_OR) {
		advance(p);
		if (!parse_and(p, negated, &next))
			return false;
		join(p, negated, out, &next);
	}
	return true;
}

static bool parse_all(struct parser *p)
{
	struct part part;

	advance(p);
	if (p->token.kind == EXPR_TOKEN_END)
		return fail(p, 0, "the expression is empty");
	if (!parse_or(p, false, &part))
		return false;
	if (p->token.kind == EXPR_TOKEN_CLOSE)
		return fail(p, p->token.begin, "no parenthesis is open here");
	if (p->token.kind != EXPR_TOKEN_END)
		return unexpected(p, is_operand(p) ? "'and', 'or' or the end" QUOTES
						   : "'and', 'or' or the end");
	set_exits(p, part.if_true, EXPR_ACCEPT);
	set_exits(p, part.if_not, EXPR_REJECT);
	return true;
}

/* ---- the whole ---- */

/* Allocates for the most tests and columns that nbytes of text can have. */
static bool allocate(struct parser *p, size_t nbytes)
{
	struct expr_request *r = p->request;
	size_t ntests = nbytes / TEST_NBYTES_LEAST + 1, ncolumns = 2 * ntests;

	if (nbytes > EXPR_NBYTES_MAX)
		return false;
	r->expr.tests = p->tests = calloc(ntests, sizeof *p->tests);
	r->expr.literals = p->literals = malloc(nbytes + 1);
	r->expr.columns = calloc(ncolumns, sizeof *r->expr.columns);
	r->columns.selectors = calloc(ncolumns, sizeof *r->columns.selectors);
	r->uses = calloc(ncolumns, sizeof *r->uses);
	r->fields = calloc(ncolumns, sizeof *r->fields);
	return p->tests && p->literals && r->expr.columns && r->columns.selectors && r->uses &&
	       r->fields;
}

enum status expr_parse(struct expr_request *r, const char *option, const char *text,
		       struct fault *fault)
{
	struct parser p = {
		.request = r, .e = &r->expr, .option = option, .text = text, .fault = fault};

	memset(r, 0, sizeof *r);
	if (!allocate(&p, strlen(text)))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	parse_all(&p);
	return p.status;
}

/* Like selector_resolve, but :N is a position even if a column has that name. */
static enum status resolve(const struct selector *s, char *const *names, size_t nfields,
			   uint32_t *field, struct fault *fault)
{
	struct field_range range;
	enum status status = STATUS_OK;

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
	free((void *)r->expr.tests);
	free((void *)r->expr.literals);
	free(r->expr.columns);
	selection_free(&r->columns);
	free(r->uses);
	free(r->fields);
	memset(r, 0, sizeof *r);
}
