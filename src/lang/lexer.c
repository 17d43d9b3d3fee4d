/* SPDX-License-Identifier: MIT
 *
 * lexer.c - see lexer.h.
 */
#include "lang/lexer.h"

#include <string.h>
#include <strings.h>

#include "lang/program.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "==" stands before "=", "<>" before "<": the first match counts. */
static const struct sign {
	const char *text;
	enum token_kind kind;
	unsigned accepts;
} signs[] = {
	{"==", TOKEN_COMPARE, ORDER_EQUAL},
	{"=~", TOKEN_MATCH, ORDER_EQUAL},
	{"<>", TOKEN_COMPARE, ORDER_LESS | ORDER_GREATER},
	{"!~", TOKEN_MATCH, ORDER_LESS | ORDER_GREATER},
	{"~", TOKEN_MATCH, ORDER_EQUAL},
	{"!=", TOKEN_COMPARE, ORDER_LESS | ORDER_GREATER},
	{"<=", TOKEN_COMPARE, ORDER_LESS | ORDER_EQUAL},
	{">=", TOKEN_COMPARE, ORDER_GREATER | ORDER_EQUAL},
	{"=", TOKEN_COMPARE, ORDER_EQUAL},
	{"<", TOKEN_COMPARE, ORDER_LESS},
	{">", TOKEN_COMPARE, ORDER_GREATER},
	{"&&", TOKEN_AND, 0},
	{"||", TOKEN_OR, 0},
	{"!", TOKEN_NOT, 0},
	{"(", TOKEN_OPEN, 0},
	{")", TOKEN_CLOSE, 0},
	{",", TOKEN_COMMA, 0},
	{"+", TOKEN_PLUS, 0},
	{"-", TOKEN_MINUS, 0},
	{"*", TOKEN_STAR, 0},
	{"/", TOKEN_SLASH, 0},
	{"%", TOKEN_PERCENT, 0},
};

static const struct keyword {
	const char *text;
	enum token_kind kind;
} keywords[] = {
	{"and", TOKEN_AND}, {"or", TOKEN_OR}, {"not", TOKEN_NOT}, {"is", TOKEN_IS}, {"missing", TOKEN_MISSING},
};

static struct token bad(const char *words)
{
	return (struct token){.kind = TOKEN_BAD, .words = words};
}

static struct token quoted(const char *p)
{
	enum token_kind kind = *p == '`' ? TOKEN_COLUMN : TOKEN_STRING;
	const char *end = p + 1;

	for (; *end; end++)
		if (*end == *p && *++end != *p)
			return (struct token){.kind = kind, .nbytes = (size_t)(end - p)};
	return bad("this quote does not close");
}

static struct token name_or_keyword(const char *p)
{
	struct token token = {.kind = TOKEN_COLUMN};

	while (token_in_name(p[token.nbytes]))
		token.nbytes++;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (strlen(keywords[i].text) == token.nbytes && !strncasecmp(keywords[i].text, p, token.nbytes))
			token.kind = keywords[i].kind;
	return token;
}

/* Reads letters too, so that 0x10 is one malformed number, not a number and a name. */
static struct token number(const char *p)
{
	const char *end = p + 1;

	while (token_in_name(*end) || ((*end == '+' || *end == '-') && (end[-1] | 0x20) == 'e'))
		end++;
	return (struct token){.kind = TOKEN_NUMBER, .nbytes = (size_t)(end - p)};
}

static bool begins_number(const char *p)
{
	if (*p == '+' || *p == '-')
		p++;
	if (*p == '.')
		p++;
	return decimal_is_digit(*p);
}

static struct token position(const char *p)
{
	struct token token = {.kind = TOKEN_COLUMN, .nbytes = 1};

	while (decimal_is_digit(p[token.nbytes]))
		token.nbytes++;
	if (token.nbytes == 1 || token_in_name(p[token.nbytes]))
		return bad("':' is followed by a column's number");
	return token;
}

static struct token sign(const char *p)
{
	for (size_t i = 0; i < COUNT(signs); i++)
		if (!strncmp(p, signs[i].text, strlen(signs[i].text)))
			return (struct token){
				.kind = signs[i].kind, .nbytes = strlen(signs[i].text), .accepts = signs[i].accepts};
	return bad("unexpected character (a name that has it is written in `backquotes`)");
}

static struct token lex(const char *p)
{
	if (!*p)
		return (struct token){.kind = TOKEN_END};
	if (*p == '"' || *p == '\'' || *p == '`')
		return quoted(p);
	if (begins_number(p))
		return number(p);
	if (token_in_name(*p) && *p != '.')
		return name_or_keyword(p);
	return *p == ':' ? position(p) : sign(p);
}

/* The length of the longest name that the text begins with, and that does not go on; 0: none. */
static size_t match_name(const struct signed_names *names, const char *text)
{
	size_t longest = 0;

	for (size_t i = 0; i < names->n; i++) {
		size_t nbytes = strlen(names->at[i]);
		if (nbytes > longest && !strncmp(names->at[i], text, nbytes) &&
		    !(token_in_name(text[nbytes - 1]) && token_in_name(text[nbytes])))
			longest = nbytes;
	}
	return longest;
}

struct token token_at(const char *text, size_t from, const struct signed_names *names)
{
	struct token token;
	size_t nbytes;

	while (text[from] == ' ' || (text[from] >= '\t' && text[from] <= '\r'))
		from++;
	nbytes = names && token_in_name(text[from]) ? match_name(names, text + from) : 0;
	token = nbytes > 0 ? (struct token){.kind = TOKEN_COLUMN, .nbytes = nbytes, .is_signed = true} : lex(text + from);
	token.begin = from;
	return token;
}

size_t token_unquote(const char *token, size_t nbytes, char *to)
{
	size_t length = 0;

	for (size_t i = 1; i + 1 < nbytes; i++) {
		to[length++] = token[i];
		i += token[i] == token[0];
	}
	return length;
}

bool token_is_word(const struct token *token, const char *text, const char *word)
{
	return token->kind == TOKEN_COLUMN && token->nbytes == strlen(word) &&
	       !strncasecmp(text + token->begin, word, token->nbytes);
}

static bool are_digits(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!decimal_is_digit(text[i]))
			return false;
	return true;
}

bool token_is_date(const char *text, size_t at)
{
	const char *minus = text + at;

	if (at < 4 || *minus != '-' || !are_digits(minus - 4, 4) || (at > 4 && decimal_is_digit(minus[-5])) ||
	    !are_digits(minus + 1, 2) || decimal_is_digit(minus[3]))
		return false;
	return minus[1] == '0' || (minus[3] == '-' && are_digits(minus + 4, 2));
}

bool name_is_signed(const char *name)
{
	struct decimal_syntax ignored;
	bool has_sign = false;

	if (!token_in_name(*name))
		return false;
	for (const char *c = name; *c; c++) {
		bool is_sign = strchr("+-*/", *c) != NULL;
		if (!is_sign && !token_in_name(*c))
			return false;
		has_sign |= is_sign;
	}
	return has_sign && !decimal_tokenize(name, strlen(name), &ignored);
}
