/* SPDX-License-Identifier: MIT
 *
 * expr_parser.h - the state of compiling an expression, and what the rules of the grammar share.
 */
#ifndef GPUSTAT_EXPR_PARSER_H
#define GPUSTAT_EXPR_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/expr.h"
#include "query/expr_lex.h"

#define EXPR_UNKNOWN_CHARACTER \
	"unexpected character (a name that has it is written in `backquotes`)"
#define EXPR_CALCULATES "a condition compares, and does not calculate"
#define EXPR_QUOTES " (text is written in quotes)"

/* A list of exits to be set: test i's if_true is exit 2 i, its if_not 2 i + 1. */
#define EXIT_NONE UINT32_MAX
struct expr_exits {
	uint32_t first, last;
};

/* A compiled part: tests from `begin` to the start of the next part. */
struct expr_part {
	uint32_t begin;
	struct expr_exits if_true, if_not;
};

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

#define EXPR_NBYTES_MAX ((size_t)1 << 28)

/* Makes r empty, and p its parser; allocates for all that text can have, if a test or a column takes
 * test_nbytes of it. Returns false where there is no memory. */
bool expr_parser_begin(struct expr_parser *p, struct expr_request *r, const char *option,
		       const char *text, const struct expr_names *names, size_t test_nbytes, struct fault *fault);

/* Compiles the condition that begins at the parser's token, up to a token that belongs to no
 * condition, into r, to be freed with expr_free. Returns false after an error, which is the parser's,
 * too. */
bool expr_parse_condition(struct expr_parser *within, struct expr_request *r);

/* ---- errors ---- */

/* Stores the first error, at a byte of the text. Returns false. */
__attribute__((format(printf, 3, 4))) bool expr_fail(struct expr_parser *p, size_t offset,
						     const char *format, ...);

/* Reports that the next token is not what the grammar requires. Returns false. */
bool expr_unexpected(struct expr_parser *p, const char *wanted);

/* ---- tokens ---- */

/* The first token at or after byte `from` of the text. */
struct expr_token expr_next_token(const struct expr_parser *p, size_t from);

/* Reads the next token. */
void expr_advance(struct expr_parser *p);

/* Whether the next token is a column or a number. */
bool expr_is_operand(const struct expr_parser *p);

/* Whether a token of the text is this word, in any case. Such a word is no keyword: where an operand
 * can stand, it is a column's name. */
bool expr_is_word(const struct expr_token *token, const char *text, const char *word);

/* Reads a column or a literal. Returns false after an error. */
bool expr_parse_operand(struct expr_parser *p, struct expr_token *operand);

/* Adds a column, used so; sets its index. Returns false after an error. */
bool expr_add_column(struct expr_parser *p, const struct expr_token *token, enum expr_use use,
		     uint32_t *column);

/* Copies a literal's text into the compiled condition. */
void expr_add_literal(struct expr_parser *p, const struct expr_token *token,
		      struct expr_test *test);

/* The same for a number. Returns false after an error. */
bool expr_add_number(struct expr_parser *p, const struct expr_token *token,
		     struct expr_test *test);

/* ---- parts ---- */

/* Appends a test. Returns it as a part. */
struct expr_part expr_emit(struct expr_parser *p, struct expr_test test);

/* Makes part `part and next` or `part or next`. */
void expr_join(struct expr_parser *p, bool with_and, struct expr_part *part,
	       const struct expr_part *next);

/* Sets the test to which a list of exits leads. */
void expr_set_exits(struct expr_parser *p, struct expr_exits exits, uint32_t target);

/* Compiles a comparison, or its complement. Returns false after an error. */
bool expr_parse_comparison(struct expr_parser *p, bool negated, struct expr_part *out);

#endif
