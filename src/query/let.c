/* SPDX-License-Identifier: MIT
 *
 * let.c - see let.h. Recursive descent, as of conditions; steps come out in postfix order.
 */
#include "query/let.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "number/decimal.h"
#include "query/expr_parser.h"
#include "query/option_table.h"

#define DATE_WORDS "a date is text: write it in quotes"
#define VALUES_MAX 8
#define LET_LITERAL_NBYTES 4096 /* of a text with quotes, as a raw field */
#define LET_PLACES_MAX WIDE_SCALE_MAX

struct let_parser {
	struct expr_parser e; /* its tokens, columns, literals and errors */
	struct let *let;
	const struct csv_dialect *dialect;
	char decimal;
	size_t depth;
};

enum let_kind { LET_IS_EITHER, LET_IS_NUMBER, LET_IS_TEXT };

/* A value whose steps were just added. */
struct let_operand {
	enum let_kind kind;
	size_t begin; /* in the text */
	size_t first_step, nsteps;
};

/* A row of the table of functions. */
struct let_function {
	const char *name;
	enum let_code code;
	bool (*parse)(struct let_parser *p, const struct let_function *f, struct let_operand *out);
	bool is_number;  /* its arguments are numbers, and its result */
	bool gives_text;
};

/* ---- steps ---- */

static bool add_step(struct let_parser *p, struct let_step step)
{
	p->let->steps[p->let->nsteps++] = step;
	return true;
}

/* Pushes a value. */
static bool push(struct let_parser *p, struct let_step step)
{
	if (++p->depth > p->let->depth)
		p->let->depth = p->depth;
	if (p->depth > LET_DEPTH_MAX)
		return expr_fail(&p->e, p->e.token.begin, "too many values at once: use several --let");
	return add_step(p, step);
}

/* Combines the two values on top to one. */
static bool combine(struct let_parser *p, enum let_code code, uint32_t index)
{
	p->depth--;
	return add_step(p, (struct let_step){.code = (uint8_t)code, .index = index});
}

/* Says what is wanted of a value that is just a column. */
static void want(struct let_parser *p, const struct let_operand *x, enum let_load load)
{
	struct let_step *step = &p->let->steps[x->first_step];

	if (x->nsteps == 1 && step->code == LET_LOAD)
		step->load = (uint8_t)load;
}

/* Reports a text where a number is needed. */
static bool want_number(struct let_parser *p, const struct let_operand *x)
{
	want(p, x, LET_LOAD_NUMBER);
	return x->kind != LET_IS_TEXT || expr_fail(&p->e, x->begin, "a number is needed, not a text");
}

/* ---- values ---- */

static bool parse_sum(struct let_parser *p, struct let_operand *out);

/* Whether text[i] means more than itself in a field without quotes. */
static bool is_odd(const struct csv_dialect *d, const char *text, size_t n, size_t i)
{
	char c = text[i];

	return (d->quote && c == d->quote) || c == d->delimiter || c == '\n' || c == '\r' ||
	       (d->escape && c == d->escape) || (d->trim && decimal_is_blank(c) && (i == 0 || i == n - 1));
}

/* Turns the literal that was added last into a raw field, as new fields are printed: with an escape byte, escaped;
 * else in quotes. There is room for twice its length and two quotes. */
static bool quote_literal(struct let_parser *p, size_t offset, struct expr_test *literal)
{
	const struct csv_dialect *d = p->dialect;
	char *text = p->e.literals + literal->literal_begin, copy[LET_LITERAL_NBYTES];
	size_t n = literal->literal_nbytes, length = 0, nodd = 0;

	for (size_t i = 0; i < n; i++)
		nodd += is_odd(d, text, n, i);
	if (nodd == 0)
		return true;
	if ((!d->quote && !d->escape) || d->whitespace || 2 * n + 2 > sizeof copy)
		return expr_fail(&p->e, offset, "a text with a delimiter or a quote in it cannot be "
						"written in this input%s",
				 d->quote || d->whitespace ? "" : " without --escape");
	if (!d->escape)
		copy[length++] = d->quote;
	for (size_t i = 0; i < n; i++) {
		if (d->escape ? is_odd(d, text, n, i) : text[i] == d->quote)
			copy[length++] = d->escape ? d->escape : d->quote;
		copy[length++] = text[i];
	}
	if (!d->escape)
		copy[length++] = d->quote;
	memcpy(text, copy, length);
	literal->literal_nbytes = (uint32_t)length;
	p->e.e->nliteral_bytes = literal->literal_begin + (uint32_t)length;
	return true;
}

/* A number of up to 18 digits is computed with; a longer one stays text, as a field is written. */
static bool parse_number(struct let_parser *p, struct let_operand *out)
{
	struct expr_test literal = {.left = 0};
	struct let_step step = {.code = LET_LITERAL};
	char *text;

	if (!expr_add_number(&p->e, &p->e.token, &literal))
		return false;
	if (literal.literal_kind == EXPR_NUMBER) {
		step.code = LET_NUMBER;
		step.number = literal.number;
	}
	text = p->e.literals + literal.literal_begin;
	for (uint32_t i = 0; i < literal.literal_nbytes; i++)
		text[i] = text[i] == '.' ? p->decimal : text[i];
	if (step.code == LET_LITERAL && !quote_literal(p, p->e.token.begin, &literal))
		return false;
	step.literal_begin = literal.literal_begin;
	step.literal_nbytes = literal.literal_nbytes;
	expr_advance(&p->e);
	out->kind = LET_IS_NUMBER;
	return push(p, step);
}

static bool parse_string(struct let_parser *p, struct let_operand *out)
{
	struct expr_test literal = {.left = 0};

	expr_add_literal(&p->e, &p->e.token, &literal);
	if (!quote_literal(p, p->e.token.begin, &literal))
		return false;
	expr_advance(&p->e);
	out->kind = LET_IS_TEXT;
	return push(p, (struct let_step){.code = LET_LITERAL,
					 .is_quoted = literal.is_quoted,
					 .literal_begin = literal.literal_begin,
					 .literal_nbytes = literal.literal_nbytes});
}

static bool add_column(struct let_parser *p, const struct expr_token *name, struct let_operand *out)
{
	uint32_t column;

	out->kind = LET_IS_EITHER;
	return expr_add_column(&p->e, name, EXPR_AS_NUMBER, &column) &&
	       push(p, (struct let_step){.code = LET_LOAD, .index = column});
}

/* ---- functions ---- */

/* min, max, coalesce: two values or more, combined from the left. */
static bool parse_several(struct let_parser *p, const struct let_function *f, struct let_operand *out)
{
	struct let_operand next;
	size_t n = 1;

	if (!parse_sum(p, out) || (f->is_number && !want_number(p, out)))
		return false;
	for (; n < 2 || p->e.token.kind == EXPR_TOKEN_COMMA; n++) {
		if (!expr_take(&p->e, EXPR_TOKEN_COMMA, "',': two values or more") || !parse_sum(p, &next) ||
		    (f->is_number && !want_number(p, &next)) || !combine(p, f->code, 0))
			return false;
		if (next.kind != out->kind)
			out->kind = LET_IS_EITHER;
	}
	if (f->is_number)
		out->kind = LET_IS_NUMBER;
	return true;
}

/* abs, lower, upper, length, epoch */
static bool parse_one(struct let_parser *p, const struct let_function *f, struct let_operand *out)
{
	if (!parse_sum(p, out))
		return false;
	if (f->is_number && !want_number(p, out))
		return false;
	if (!f->is_number)
		want(p, out, LET_LOAD_TEXT);
	out->kind = f->gives_text ? LET_IS_TEXT : LET_IS_NUMBER;
	return add_step(p, (struct let_step){.code = (uint8_t)f->code});
}

/* round(x, n) */
static bool parse_round(struct let_parser *p, const struct let_function *f, struct let_operand *out)
{
	struct expr_test places = {.left = 0};

	if (!parse_sum(p, out) || !want_number(p, out) ||
	    !expr_take(&p->e, EXPR_TOKEN_COMMA, "',' and the number of digits after the point"))
		return false;
	if (p->e.token.kind != EXPR_TOKEN_NUMBER || !expr_add_number(&p->e, &p->e.token, &places) ||
	    places.literal_kind != EXPR_NUMBER || places.number.scale != 0 ||
	    places.number.significand < 0 || places.number.significand > LET_PLACES_MAX)
		return expr_fail(&p->e, p->e.token.begin, "a number of digits from 0 to %d",
				 LET_PLACES_MAX);
	expr_advance(&p->e);
	out->kind = LET_IS_NUMBER;
	return add_step(p, (struct let_step){.code = (uint8_t)f->code,
					     .index = (uint32_t)places.number.significand});
}

/* if(condition, a, b) */
static bool parse_if(struct let_parser *p, const struct let_function *f, struct let_operand *out)
{
	struct let *let = p->let;
	uint32_t condition = (uint32_t)let->nconditions;
	struct expr_request *added;
	struct let_operand other;

	if (condition == LET_NCONDITIONS_MAX)
		return expr_fail(&p->e, p->e.token.begin, "more than %d conditions: use several --let",
				 LET_NCONDITIONS_MAX);
	added = ARRAY_ADD(let->conditions, let->nconditions);
	if (!added)
		return expr_no_memory(&p->e);
	let->nconditions++;
	if (!expr_parse_condition(&p->e, added) ||
	    !expr_take(&p->e, EXPR_TOKEN_COMMA, "',' behind the condition") || !parse_sum(p, out) ||
	    !expr_take(&p->e, EXPR_TOKEN_COMMA, "',': if(condition, a, b)") || !parse_sum(p, &other))
		return false;
	if (other.kind != out->kind)
		out->kind = LET_IS_EITHER;
	return combine(p, f->code, condition);
}

static const struct let_function functions[] = {
	{"abs", LET_ABS, parse_one, true, false},
	{"round", LET_ROUND, parse_round, true, false},
	{"min", LET_MIN, parse_several, true, false},
	{"max", LET_MAX, parse_several, true, false},
	{"coalesce", LET_COALESCE, parse_several, false, false},
	{"if", LET_IF, parse_if, false, false},
	{"lower", LET_LOWER, parse_one, false, true},
	{"upper", LET_UPPER, parse_one, false, true},
	{"length", LET_LENGTH, parse_one, false, false},
	{"epoch", LET_EPOCH, parse_one, false, false},
};

bool let_is_function(const char *name, size_t nbytes)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strlen(functions[i].name) == nbytes && !strncasecmp(functions[i].name, name, nbytes))
			return true;
	return false;
}

/* The name was read; the token is the parenthesis. */
static bool parse_call(struct let_parser *p, const struct expr_token *name, struct let_operand *out)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (!expr_is_word(name, p->e.text, functions[i].name))
			continue;
		expr_advance(&p->e);
		return functions[i].parse(p, &functions[i], out) &&
		       expr_take(&p->e, EXPR_TOKEN_CLOSE, "')'");
	}
	return expr_fail(&p->e, name->begin, "no function of this name: abs, coalesce, epoch, if, "
			 "length, lower, max, min, round, upper");
}

/* ---- operators ---- */

static bool enter(struct let_parser *p)
{
	if (p->e.nlevels++ < EXPR_NLEVELS)
		return true;
	return expr_fail(&p->e, p->e.token.begin, "more than %d values within each other",
			 EXPR_NLEVELS);
}

static bool parse_negation(struct let_parser *p, struct let_operand *out);

static bool parse_parentheses(struct let_parser *p, struct let_operand *out)
{
	expr_advance(&p->e);
	return parse_sum(p, out) && expr_take(&p->e, EXPR_TOKEN_CLOSE, "')'");
}

static bool parse_value(struct let_parser *p, struct let_operand *out)
{
	const struct expr_token token = p->e.token;

	switch (token.kind) {
	case EXPR_TOKEN_NUMBER:
		return parse_number(p, out);
	case EXPR_TOKEN_STRING:
		return parse_string(p, out);
	case EXPR_TOKEN_OPEN:
		return parse_parentheses(p, out);
	case EXPR_TOKEN_MINUS:
		return parse_negation(p, out);
	case EXPR_TOKEN_COLUMN:
		expr_advance(&p->e);
		if (p->e.token.kind == EXPR_TOKEN_OPEN && p->e.text[token.begin] != '`')
			return parse_call(p, &token, out);
		return add_column(p, &token, out);
	default:
		return expr_unexpected(&p->e, "a column, a number, a text or a function");
	}
}

static bool parse_factor(struct let_parser *p, struct let_operand *out)
{
	const size_t begin = p->e.token.begin, first_step = p->let->nsteps;

	if (!enter(p) || !parse_value(p, out))
		return false;
	p->e.nlevels--;
	out->begin = begin;
	out->first_step = first_step;
	out->nsteps = p->let->nsteps - out->first_step;
	return true;
}

static bool parse_negation(struct let_parser *p, struct let_operand *out)
{
	struct let_operand x;

	expr_advance(&p->e);
	if (!parse_factor(p, &x) || !want_number(p, &x))
		return false;
	out->kind = LET_IS_NUMBER;
	return add_step(p, (struct let_step){.code = LET_NEGATE});
}

/* Applies an operator to a and the value that follows. */
static bool apply(struct let_parser *p, enum let_code code, struct let_operand *a,
		  bool (*parse)(struct let_parser *p, struct let_operand *out))
{
	struct let_operand b;

	expr_advance(&p->e);
	if (!want_number(p, a) || !parse(p, &b) || !want_number(p, &b))
		return false;
	a->kind = LET_IS_NUMBER;
	a->nsteps += b.nsteps + 1;
	return combine(p, code, 0);
}

static bool parse_product(struct let_parser *p, struct let_operand *out)
{
	if (!parse_factor(p, out))
		return false;
	while (p->e.token.kind == EXPR_TOKEN_STAR || p->e.token.kind == EXPR_TOKEN_SLASH)
		if (!apply(p, p->e.token.kind == EXPR_TOKEN_STAR ? LET_MULTIPLY : LET_DIVIDE, out,
			   parse_factor))
			return false;
	return true;
}

/* Behind a value the sign of a number, +1, is an operator. */
static void split_sign(struct let_parser *p)
{
	struct expr_token *t = &p->e.token;
	char first = p->e.text[t->begin];

	if (t->kind != EXPR_TOKEN_NUMBER || (first != '+' && first != '-'))
		return;
	t->kind = first == '+' ? EXPR_TOKEN_PLUS : EXPR_TOKEN_MINUS;
	t->nbytes = 1;
}

static bool parse_sum(struct let_parser *p, struct let_operand *out)
{
	if (!parse_product(p, out))
		return false;
	for (split_sign(p); p->e.token.kind == EXPR_TOKEN_PLUS || p->e.token.kind == EXPR_TOKEN_MINUS; split_sign(p)) {
		bool adds = p->e.token.kind == EXPR_TOKEN_PLUS;
		if (expr_is_date(p->e.text, p->e.token.begin)) {
			p->e.request->may_be_name = true;
			return expr_fail(&p->e, p->e.token.begin, DATE_WORDS);
		}
		if (!apply(p, adds ? LET_ADD : LET_SUBTRACT, out, parse_product))
			return false;
	}
	return true;
}

/* ---- the whole ---- */

/* NAME = */
static bool parse_name(struct let_parser *p)
{
	const struct expr_token name = p->e.token;
	const char *text = p->e.text + name.begin;

	if (name.kind != EXPR_TOKEN_COLUMN || *text == ':')
		return expr_unexpected(&p->e, "the new column's name: NAME = EXPR");
	p->let->name = strndup(text, name.nbytes);
	if (!p->let->name)
		return expr_no_memory(&p->e);
	if (*text == '`')
		p->let->name[expr_unquote(text, name.nbytes, p->let->name)] = '\0';
	expr_advance(&p->e);
	if (p->e.token.kind != EXPR_TOKEN_COMPARE || p->e.token.nbytes != 1 ||
	    p->e.token.accepts != EXPR_EQUAL)
		return expr_unexpected(&p->e, "'=' behind the new column's name");
	expr_advance(&p->e);
	return true;
}

static bool parse_all(struct let_parser *p)
{
	struct let_operand value;

	expr_advance(&p->e);
	if (!parse_name(p) || !parse_sum(p, &value))
		return false;
	if (p->e.token.kind != EXPR_TOKEN_END)
		return expr_unexpected(&p->e, "an operator or the end");
	p->let->is_number = value.kind == LET_IS_NUMBER;
	return true;
}

enum status let_parse(struct let *let, const char *argument, const struct expr_names *names, const struct csv_dialect *dialect,
		      char decimal, struct fault *fault)
{
	struct let_parser p = {.let = let, .dialect = dialect, .decimal = decimal};
	size_t nbytes = strlen(argument);

	memset(let, 0, sizeof *let);
	if (nbytes > LET_NBYTES_MAX)
		return option_fault(fault, "--let: longer than %zu bytes", LET_NBYTES_MAX);
	let->steps = calloc(nbytes + 1, sizeof *let->steps);
	if (!let->steps || !expr_parser_begin(&p.e, &let->request, "let", argument, names, 2, fault))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	parse_all(&p);
	return p.e.status;
}

void let_free(struct let *let)
{
	for (size_t i = 0; i < let->nconditions; i++)
		expr_free(&let->conditions[i]);
	free(let->conditions);
	expr_free(&let->request);
	free(let->steps);
	free(let->name);
	memset(let, 0, sizeof *let);
}

/* ---- what to type instead of a value that is calculated in a condition ---- */

/* Writes text as one word of a shell. */
static void write_quoted(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", to);
		else
			fputc(*text, to);
	fputc('\'', to);
}

/* Whether the text has the name as a word. */
static bool has_word(const char *text, const char *name)
{
	struct expr_token t = expr_lex(text, 0);

	for (; t.kind != EXPR_TOKEN_END && t.kind != EXPR_TOKEN_BAD; t = expr_lex(text, t.begin + t.nbytes))
		if (expr_is_word(&t, text, name))
			return true;
	return false;
}

/* A name for a new column; NULL: all are taken. */
static const char *choose_name(const char *text, const char *const *taken, size_t ntaken)
{
	static const char *const names[] = {"x", "y", "z", "u", "v", "w", "x1", "x2", "x3", "value"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		bool is_taken = has_word(text, names[i]);
		for (size_t k = 0; k < ntaken && !is_taken; k++)
			is_taken = taken[k] && !strcmp(taken[k], names[i]);
		if (!is_taken)
			return names[i];
	}
	return NULL;
}

/* Compiles the text. Sets begin and end where it calculates in a condition. */
static enum status try(const char *option, const char *text, const struct expr_names *names, size_t *begin, size_t *end)
{
	static const struct csv_dialect dialect = {.delimiter = ',', .quote = '"'};
	struct expr_request request = {.value_end = 0};
	struct let let = {.name = NULL};
	struct fault ignored;
	bool is_let = !strcmp(option, "let");
	const struct expr_request *r = is_let ? &let.request : &request;
	enum status status = is_let ? let_parse(&let, text, names, &dialect, '.', &ignored)
				    : expr_parse(&request, option, text, names, &ignored);

	*begin = r->value_begin;
	*end = r->value_end;
	let_free(&let);
	expr_free(&request);
	return status;
}

/* Puts a new column in the place of one value after the other, until the text compiles. Returns whether it does; lets gets
 * the options before it. *text: replaced, to be freed. */
static bool replace_values(const char *option, char **text, const struct expr_names *names, const char *const *taken,
			   size_t ntaken, FILE *lets)
{
	size_t begin, end;

	for (int i = 0; i < VALUES_MAX; i++) {
		char *value, *replaced;
		const char *name;
		if (try(option, *text, names, &begin, &end) == STATUS_OK)
			return true;
		name = end > begin ? choose_name(*text, taken, ntaken) : NULL;
		if (!name || asprintf(&value, "%s = %.*s", name, (int)(end - begin), *text + begin) < 0)
			return false;
		fputs("--let ", lets);
		write_quoted(lets, value);
		fputc(' ', lets);
		free(value);
		if (asprintf(&replaced, "%.*s%s%s", (int)begin, *text, name, *text + end) < 0)
			return false;
		free(*text);
		*text = replaced;
	}
	return false;
}

void let_suggest(const char *option, const char *text, const struct expr_names *names, const char *const *taken,
		      size_t ntaken, struct fault *fault)
{
	char *now = strdup(text), *line = NULL;
	size_t nbytes;
	FILE *out = now ? open_memstream(&line, &nbytes) : NULL;
	bool is_whole = out && replace_values(option, &now, names, taken, ntaken, out);

	if (is_whole) {
		fprintf(out, "--%s ", option);
		write_quoted(out, now);
	}
	if (out && fclose(out) == 0) {
		is_whole = is_whole && nbytes < sizeof fault->remedy;
		snprintf(fault->remedy, sizeof fault->remedy, "%s", is_whole ? line : "--let 'x = VALUE', and x in this condition");
	}
	free(line);
	free(now);
}
