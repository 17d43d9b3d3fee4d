/* SPDX-License-Identifier: MIT
 *
 * expr_lex.h - the tokens of the EXPR language.
 */
#ifndef GPUSTAT_EXPR_LEX_H
#define GPUSTAT_EXPR_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum expr_token_kind {
	EXPR_TOKEN_END,
	EXPR_TOKEN_BAD,     /* no token begins here */
	EXPR_TOKEN_COLUMN,  /* name, `quoted name`, :N */
	EXPR_TOKEN_NUMBER,  /* begins like one; the parser checks the rest */
	EXPR_TOKEN_STRING,  /* "..." or '...' */
	EXPR_TOKEN_COMPARE, /* = == != < <= > >= */
	EXPR_TOKEN_MATCH,   /* ~ !~ */
	EXPR_TOKEN_AND,
	EXPR_TOKEN_OR,
	EXPR_TOKEN_NOT,
	EXPR_TOKEN_IS,
	EXPR_TOKEN_MISSING,
	EXPR_TOKEN_OPEN,
	EXPR_TOKEN_CLOSE,
	EXPR_TOKEN_COMMA,
	EXPR_TOKEN_PLUS, /* this one and those below: of --let only */
	EXPR_TOKEN_MINUS,
	EXPR_TOKEN_STAR,
	EXPR_TOKEN_SLASH,
};

struct expr_token {
	enum expr_token_kind kind;
	size_t begin, nbytes; /* in the expression, with quotes */
	unsigned accepts;     /* EXPR_TOKEN_COMPARE, _MATCH: set of enum expr_order */
	const char *words;    /* EXPR_TOKEN_BAD: what is wrong at begin; not owned */
	bool is_signed;       /* EXPR_TOKEN_COLUMN: one of struct expr_names, a name only */
};

/* Whether a byte can be in a name that stands for itself; the first is no digit and no point. */
bool expr_in_name(char c);

/* Returns the first token at or after byte `from` of text (NUL-terminated, any bytes). */
struct expr_token expr_lex(const char *text, size_t from);

/* Copies a quoted token's text to `to`, a doubled quote as one, without a terminator. Returns its
 * length, which is less than nbytes. */
size_t expr_unquote(const char *token, size_t nbytes, char *to);

#endif
