/* SPDX-License-Identifier: MIT
 *
 * lexer.h - the tokens of expressions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "number/decimal.h"

enum token_kind {
	TOKEN_END,
	TOKEN_BAD,     /* no token begins here */
	TOKEN_COLUMN,  /* name, `quoted name`, :N */
	TOKEN_NUMBER,  /* begins like one; the parser checks the rest */
	TOKEN_STRING,  /* "..." or '...' */
	TOKEN_COMPARE, /* = == != <> < <= > >= */
	TOKEN_MATCH,   /* ~ =~ !~ */
	TOKEN_AND,     /* from here to MISSING: words, or signs that mean the same */
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_IS,
	TOKEN_MISSING,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_PLUS,
	TOKEN_MINUS,
	TOKEN_STAR,
	TOKEN_SLASH,
	TOKEN_PERCENT,
};

struct token {
	enum token_kind kind;
	size_t begin, nbytes; /* in the text, with quotes */
	unsigned accepts;     /* TOKEN_COMPARE, _MATCH: set of enum order */
	const char *words;    /* TOKEN_BAD: what is wrong at begin; not owned */
	bool is_signed;       /* TOKEN_COLUMN: one of struct signed_names, a name only */
};

/* Names of columns with a sign in them: temp-max, bytes+1. Where an expression has one of these letter by letter, it is
 * that column, the longest one; otherwise the sign is one. Not owned. */
struct signed_names {
	const char **at;
	size_t n;
};

/* Whether an expression may have the name as it is: it has letters, digits, _ . and at least one of + - * /, and is not a
 * number. */
bool name_is_signed(const char *name);

/* Returns the first token at or after byte `from` of text (NUL-terminated, any bytes). names: NULL: none. */
struct token token_at(const char *text, size_t from, const struct signed_names *names);

/* Copies a quoted token's text to `to`, a doubled quote as one, without a terminator. Returns its
 * length, which is less than nbytes. */
size_t token_unquote(const char *token, size_t nbytes, char *to);

/* Whether a token of the text is this word, in any case. Such a word is no keyword: where an operand
 * can stand, it is a column's name. */
bool token_is_word(const struct token *token, const char *text, const char *word);

/* Whether the text at `at`, which is a minus sign or follows four digits, goes on like a date: 2024-01-02, 2024-05. */
bool token_is_date(const char *text, size_t at);

/* Whether a byte can be in a name that stands for itself; the first is no digit and no point. Bytes from 0x80 on are
 * letters in every locale, so that a name may be in any script. */
static inline bool token_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80 || decimal_is_digit(c) ||
	       c == '.';
}
