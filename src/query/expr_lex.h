/* SPDX-License-Identifier: MIT
 *
 * expr_lex.h - the words of the EXPR language.
 */
#ifndef GPUSTAT_EXPR_LEX_H
#define GPUSTAT_EXPR_LEX_H

#include <stddef.h>

enum expr_token_kind {
	EXPR_TOKEN_END,
	EXPR_TOKEN_BAD,     /* no token begins here */
	EXPR_TOKEN_COLUMN,  /* name, `quoted name`, :N */
	EXPR_TOKEN_NUMBER,  /* looks like one; whether it is, the parser finds out */
	EXPR_TOKEN_STRING,  /* "..." or '...' */
	EXPR_TOKEN_COMPARE, /* = == != < <= > >= */
	EXPR_TOKEN_AND,
	EXPR_TOKEN_OR,
	EXPR_TOKEN_NOT,
	EXPR_TOKEN_IS,
	EXPR_TOKEN_MISSING,
	EXPR_TOKEN_OPEN,
	EXPR_TOKEN_CLOSE,
};

struct expr_token {
	enum expr_token_kind kind;
	size_t begin, nbytes; /* in the expression, quotes and all */
	unsigned accepts;     /* EXPR_TOKEN_COMPARE: set of enum expr_order */
	const char *words;    /* EXPR_TOKEN_BAD: what is wrong at begin; not owned */
};

/* The first token at or after byte `from` of text (NUL-terminated, any bytes). */
struct expr_token expr_lex(const char *text, size_t from);

/* Copies what is between the quotes of a quoted token, doubled quotes made one; returns its
 * length, less than nbytes. No terminator is written. */
size_t expr_unquote(const char *token, size_t nbytes, char *to);

#endif
