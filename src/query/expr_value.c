/* SPDX-License-Identifier: MIT
 *
 * expr_value.c - see expr_value.h.
 */
#include "query/expr_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number/decimal.h"
#include "query/let.h"

#define VALUES_MAX 8

/* ---- where ---- */

static bool are_digits(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!decimal_is_digit(text[i]))
			return false;
	return true;
}

bool expr_is_date(const char *text, size_t at)
{
	const char *minus = text + at;

	if (at < 4 || *minus != '-' || !are_digits(minus - 4, 4) || (at > 4 && decimal_is_digit(minus[-5])) ||
	    !are_digits(minus + 1, 2) || decimal_is_digit(minus[3]))
		return false;
	return minus[1] == '0' || (minus[3] == '-' && are_digits(minus + 4, 2));
}

static bool is_sign(const struct expr_parser *p, const struct expr_token *t)
{
	char first = p->text[t->begin];

	return (t->kind >= EXPR_TOKEN_PLUS && t->kind <= EXPR_TOKEN_SLASH) ||
	       (t->kind == EXPR_TOKEN_NUMBER && (first == '+' || first == '-') && !expr_is_date(p->text, t->begin));
}

/* Whether a value ends before this token. after_value: the token before it ends one. */
static bool ends_value(const struct expr_parser *p, const struct expr_token *t, bool after_value)
{
	static const char *const words[] = {"in", "between", "contains", "starts", "ends"};

	for (size_t i = 0; after_value && i < sizeof words / sizeof *words; i++)
		if (expr_is_word(t, p->text, words[i]))
			return true;
	return t->kind == EXPR_TOKEN_END || t->kind == EXPR_TOKEN_BAD ||
	       (t->kind >= EXPR_TOKEN_COMPARE && t->kind <= EXPR_TOKEN_MISSING) || t->kind == EXPR_TOKEN_COMMA;
}

/* Returns the token that ends the value which goes on at `from`; *end: behind the value. */
static struct expr_token skip_value(const struct expr_parser *p, size_t from, size_t *end)
{
	bool after_value = false;
	size_t depth = 0;

	for (;;) {
		struct expr_token t = expr_next_token(p, from);
		if ((depth == 0 && (ends_value(p, &t, after_value) || t.kind == EXPR_TOKEN_CLOSE)) ||
		    t.kind == EXPR_TOKEN_END || t.kind == EXPR_TOKEN_BAD)
			return t;
		depth += t.kind == EXPR_TOKEN_OPEN;
		depth -= t.kind == EXPR_TOKEN_CLOSE;
		after_value = t.kind == EXPR_TOKEN_COLUMN || t.kind == EXPR_TOKEN_NUMBER || t.kind == EXPR_TOKEN_STRING ||
			      t.kind == EXPR_TOKEN_CLOSE;
		*end = from = t.begin + t.nbytes;
	}
}

/* Where the parenthesis stands that the value which begins at `begin` follows; SIZE_MAX: another thing is before it. */
static size_t opening_before(const char *text, size_t begin)
{
	while (begin > 0 && strchr(" \t\r\n", text[begin - 1]))
		begin--;
	return begin > 0 && text[begin - 1] == '(' ? begin - 1 : SIZE_MAX;
}

bool expr_find_value(struct expr_parser *p)
{
	const struct expr_token *t = &p->token;
	bool is_first = t->begin == p->operand.begin, is_call = t->kind == EXPR_TOKEN_OPEN && !is_first &&
			p->operand.kind == EXPR_TOKEN_COLUMN &&
			let_is_function(p->text + p->operand.begin, p->operand.nbytes);
	size_t begin = p->operand.begin, end = begin, outer_begin = begin, outer_end, opening;
	struct expr_token next;

	if (!is_call && (!is_sign(p, t) || (is_first && t->kind != EXPR_TOKEN_MINUS)))
		return false;
	next = skip_value(p, begin, &end);

	/* (a + 1) > 2: the parentheses are the value's, not the condition's. */
	while (next.kind == EXPR_TOKEN_CLOSE && (opening = opening_before(p->text, outer_begin)) != SIZE_MAX) {
		outer_begin = opening;
		outer_end = next.begin + 1;
		next = expr_next_token(p, outer_end);
		if (next.kind == EXPR_TOKEN_CLOSE)
			continue; /* ((a + 1)): the next ones tell */
		if (next.kind == EXPR_TOKEN_AND || next.kind == EXPR_TOKEN_OR || next.kind == EXPR_TOKEN_END ||
		    next.kind == EXPR_TOKEN_COMMA)
			break;
		next = skip_value(p, outer_begin, &outer_end);
		begin = outer_begin;
		end = outer_end;
	}
	if (strchr("+-*/(", p->text[end - 1])) /* nothing follows the sign */
		return false;
	p->request->value_begin = begin;
	p->request->value_end = end;
	p->request->may_be_name = true;
	return true;
}

/* ---- what instead ---- */

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

void expr_suggest_let(const char *option, const char *text, const struct expr_names *names, const char *const *taken,
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
