/* SPDX-License-Identifier: MIT
 *
 * expr_parser.h - what the compilers of conditions (expr.c) and of values (let.c) share: tokens, operands, errors.
 */
#ifndef GPUSTAT_EXPR_PARSER_H
#define GPUSTAT_EXPR_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/expr.h"

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

/* Returns the first token at or after byte `from` of text (NUL-terminated, any bytes). */
struct expr_token expr_lex(const char *text, size_t from);

/* Copies a quoted token's text to `to`, a doubled quote as one, without a terminator. Returns its
 * length, which is less than nbytes. */
size_t expr_unquote(const char *token, size_t nbytes, char *to);

/* Whether a token of the text is this word, in any case. Such a word is no keyword: where an operand
 * can stand, it is a column's name. */
bool expr_is_word(const struct expr_token *token, const char *text, const char *word);

/* Whether the text at `at`, a minus or what follows four digits, goes on like a date: 2024-01-02, 2024-05. */
bool expr_is_date(const char *text, size_t at);

struct expr_parser {
	struct expr_request *request;
	struct expr *e;          /* request->expr */
	struct expr_test *tests; /* e->tests, writable */
	char *literals;
	const char *option, *text;
	const struct expr_names *names; /* NULL: none */
	struct expr_token token; /* the look-ahead */
	struct expr_token operand; /* the last that was read, or looked for */
	int nlevels;
	bool is_condition; /* else an expression of --let */
	bool in_condition; /* is_condition, or within an if() */
	enum status status;
	struct fault *fault;
};

/* Makes r empty, and p its parser; allocates for all that text can have, if a test or a column takes
 * test_nbytes of it. Returns false where there is no memory. */
bool expr_parser_begin(struct expr_parser *p, struct expr_request *r, const char *option,
		       const char *text, const struct expr_names *names, size_t test_nbytes, struct fault *fault);

/* Compiles the condition that begins at the parser's token, up to a token that belongs to no
 * condition, into r, to be freed with expr_free. Returns false after an error, which is the parser's,
 * too. */
bool expr_parse_condition(struct expr_parser *within, struct expr_request *r);

/* ---- these return false after an error ---- */

/* Stores the first error, at a byte of the text. */
__attribute__((format(printf, 3, 4))) bool expr_fail(struct expr_parser *p, size_t offset,
						     const char *format, ...);

/* Reports that the next token is not what the grammar requires, or that memory ran out. */
bool expr_unexpected(struct expr_parser *p, const char *wanted);
bool expr_no_memory(struct expr_parser *p);

/* Reads the next token; expr_take: after one of this kind. */
void expr_advance(struct expr_parser *p);
bool expr_take(struct expr_parser *p, enum expr_token_kind kind, const char *wanted);

/* Adds a column, used so; sets its index. */
bool expr_add_column(struct expr_parser *p, const struct expr_token *token, enum expr_use use,
		     uint32_t *column);

/* Copies the text of a literal, or of a number, into the compiled condition. */
void expr_add_literal(struct expr_parser *p, const struct expr_token *token,
		      struct expr_test *test);
bool expr_add_number(struct expr_parser *p, const struct expr_token *token,
		     struct expr_test *test);

#endif
