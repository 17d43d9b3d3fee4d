/* SPDX-License-Identifier: MIT
 *
 * expr_lex.c - see expr_lex.h.
 *
 * Bytes from 0x80 on are letters in every locale, so that a name may be in any script. A sign is not part of a name
 * here: the parser knows the columns that have one (struct expr_names).
 */
#include "query/expr_lex.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "number/decimal.h"
#include "query/expr_parser.h"

/* "==" stands before "=", "!~" before "!": the first match counts. */
static const struct sign {
	const char *text;
	enum expr_token_kind kind;
	unsigned accepts;
} signs[] = {
	{"==", EXPR_TOKEN_COMPARE, EXPR_EQUAL},
	{"!~", EXPR_TOKEN_MATCH, EXPR_LESS | EXPR_GREATER},
	{"~", EXPR_TOKEN_MATCH, EXPR_EQUAL},
	{"!=", EXPR_TOKEN_COMPARE, EXPR_LESS | EXPR_GREATER},
	{"<=", EXPR_TOKEN_COMPARE, EXPR_LESS | EXPR_EQUAL},
	{">=", EXPR_TOKEN_COMPARE, EXPR_GREATER | EXPR_EQUAL},
	{"=", EXPR_TOKEN_COMPARE, EXPR_EQUAL},
	{"<", EXPR_TOKEN_COMPARE, EXPR_LESS},
	{">", EXPR_TOKEN_COMPARE, EXPR_GREATER},
	{"&&", EXPR_TOKEN_AND, 0},
	{"||", EXPR_TOKEN_OR, 0},
	{"!", EXPR_TOKEN_NOT, 0},
	{"(", EXPR_TOKEN_OPEN, 0},
	{")", EXPR_TOKEN_CLOSE, 0},
	{",", EXPR_TOKEN_COMMA, 0},
	{"+", EXPR_TOKEN_PLUS, 0},
	{"-", EXPR_TOKEN_MINUS, 0},
	{"*", EXPR_TOKEN_STAR, 0},
	{"/", EXPR_TOKEN_SLASH, 0},
};

static const struct keyword {
	const char *text;
	enum expr_token_kind kind;
} keywords[] = {
	{"and", EXPR_TOKEN_AND}, {"or", EXPR_TOKEN_OR},           {"not", EXPR_TOKEN_NOT},
	{"is", EXPR_TOKEN_IS},   {"missing", EXPR_TOKEN_MISSING},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool begins_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

bool expr_in_name(char c)
{
	return begins_name(c) || decimal_is_digit(c) || c == '.';
}

static struct expr_token bad(const char *words)
{
	return (struct expr_token){.kind = EXPR_TOKEN_BAD, .words = words};
}

static struct expr_token quoted(const char *p)
{
	enum expr_token_kind kind = *p == '`' ? EXPR_TOKEN_COLUMN : EXPR_TOKEN_STRING;
	const char *end = p + 1;

	for (; *end; end++)
		if (*end == *p && *++end != *p)
			return (struct expr_token){.kind = kind, .nbytes = (size_t)(end - p)};
	return bad("this quote does not close");
}

static struct expr_token name_or_keyword(const char *p)
{
	struct expr_token token = {.kind = EXPR_TOKEN_COLUMN};

	while (expr_in_name(p[token.nbytes]))
		token.nbytes++;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (strlen(keywords[i].text) == token.nbytes &&
		    !strncasecmp(keywords[i].text, p, token.nbytes))
			token.kind = keywords[i].kind;
	return token;
}

/* Reads letters too, so that 0x10 is one malformed number, not a number and a name. */
static struct expr_token number(const char *p)
{
	const char *end = p + 1;

	while (expr_in_name(*end) || ((*end == '+' || *end == '-') && (end[-1] | 0x20) == 'e'))
		end++;
	return (struct expr_token){.kind = EXPR_TOKEN_NUMBER, .nbytes = (size_t)(end - p)};
}

static bool begins_number(const char *p)
{
	if (*p == '+' || *p == '-')
		p++;
	if (*p == '.')
		p++;
	return decimal_is_digit(*p);
}

static struct expr_token position(const char *p)
{
	struct expr_token token = {.kind = EXPR_TOKEN_COLUMN, .nbytes = 1};

	while (decimal_is_digit(p[token.nbytes]))
		token.nbytes++;
	if (token.nbytes == 1 || expr_in_name(p[token.nbytes]))
		return bad("':' is followed by a column's number");
	return token;
}

static struct expr_token sign(const char *p)
{
	for (size_t i = 0; i < COUNT(signs); i++)
		if (!strncmp(p, signs[i].text, strlen(signs[i].text)))
			return (struct expr_token){.kind = signs[i].kind,
						   .nbytes = strlen(signs[i].text),
						   .accepts = signs[i].accepts};
	return bad(EXPR_UNKNOWN_CHARACTER);
}

static struct expr_token lex_at(const char *p)
{
	if (!*p)
		return (struct expr_token){.kind = EXPR_TOKEN_END};
	if (*p == '"' || *p == '\'' || *p == '`')
		return quoted(p);
	if (begins_name(*p))
		return name_or_keyword(p);
	if (begins_number(p))
		return number(p);
	return *p == ':' ? position(p) : sign(p);
}

struct expr_token expr_lex(const char *text, size_t from)
{
	struct expr_token token;

	while (is_space(text[from]))
		from++;
	token = lex_at(text + from);
	token.begin = from;
	return token;
}

size_t expr_unquote(const char *token, size_t nbytes, char *to)
{
	size_t length = 0;

	for (size_t i = 1; i + 1 < nbytes; i++) {
		to[length++] = token[i];
		i += token[i] == token[0];
	}
	return length;
}
