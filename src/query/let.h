/* SPDX-License-Identifier: MIT
 *
 * let.h - the expressions of --let: from NAME = EXPR to a program that computes a column.
 *
 *     let       = NAME "=" sum
 *     sum       = product { ("+" | "-") product }
 *     product   = factor { ("*" | "/") factor }
 *     factor    = "-" factor | number | string | column | "(" sum ")"
 *               | function "(" argument { "," argument } ")"
 *
 * A minus between values has blanks around it, since names of columns may have a minus in them.
 * NAME, numbers, strings and columns are written as in conditions (expr.h). A function's name is one
 * only before a parenthesis, so that a column may have it.
 *
 * The program is a list of steps that take values from a stack and leave one there.
 */
#ifndef GPUSTAT_LET_H
#define GPUSTAT_LET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "csv/dialect.h"
#include "query/expr.h"

#define LET_DEPTH_MAX 64 /* values on the stack */
#define LET_LANE_DEPTH_MAX 8 /* ... for which a GPU's lane has room */
#define LET_NCONDITIONS_MAX 64 /* of one expression: each may have as many tests as the text has bytes */
#define LET_NBYTES_MAX ((size_t)1 << 16)

enum let_code {
	LET_LOAD,     /* push the value of a column */
	LET_NUMBER,   /* push a number of the fast path */
	LET_LITERAL,  /* push a text, or a longer number */
	LET_NEGATE,   /* x: -x */
	LET_ADD,      /* a, b: a + b; and so on */
	LET_SUBTRACT,
	LET_MULTIPLY,
	LET_DIVIDE,   /* rounded as number/quotient.h says; missing where b is 0 */
	LET_MIN,
	LET_MAX,
	LET_ABS,
	LET_ROUND,    /* half-even to at most `index` digits after the point */
	LET_COALESCE, /* a, b: a, or b where a is missing */
	LET_IF,       /* a, b: a where condition `index` holds, else b */
	LET_LOWER,    /* letters of ASCII */
	LET_UPPER,
	LET_LENGTH,   /* characters of UTF-8 */
	LET_EPOCH,    /* seconds from 1970-01-01 UTC to an ISO date */
};

/* What is wanted of a column that is loaded. */
enum let_load { LET_LOAD_BOTH, LET_LOAD_NUMBER, LET_LOAD_TEXT };

struct let_step {
	uint8_t code; /* enum let_code */
	uint8_t load; /* LET_LOAD: enum let_load */
	bool is_quoted; /* LET_LITERAL: as in struct expr_test */
	uint32_t index; /* LET_LOAD: of request.expr.columns; LET_IF, LET_ROUND: see there */
	uint32_t literal_begin, literal_nbytes; /* LET_LITERAL: in request.expr.literals */
	struct decimal number;                  /* LET_NUMBER */
};

/* A compiled expression. All memory owned. */
struct let {
	char *name;
	/* Its columns: request.columns, as written; request.fields, once they are found; request.expr.
	 * columns, in the plan. Its literals are raw fields of the dialect. It has no tests. */
	struct expr_request request;
	size_t nsteps, depth; /* depth: of the stack */
	struct let_step *steps;
	size_t nconditions;
	struct expr_request *conditions; /* of if() */
	bool is_number; /* its values are numbers or missing; else whatever they are in the input */
};

/* Whether a name is a function's. */
bool let_is_function(const char *name, size_t nbytes);

/* Compiles argument, of --let. names: as of expr_parse. dialect: what literals are written for; decimal: the decimal point.
 * Errors: STATUS_USAGE as from expr_parse, or for more than LET_NBYTES_MAX; STATUS_NO_MEMORY. Free with let_free, after an error too. */
enum status let_parse(struct let *let, const char *argument, const struct expr_names *names, const struct csv_dialect *dialect,
		      char decimal, struct fault *fault);
void let_free(struct let *let);

/* Sets fault->remedy to what computes the values of a condition before it: --let 'x = a+1' --where 'x > 2'. option: the
 * condition's; text: its own, or with "let" that of a computed column with conditions. taken: ntaken names that the new
 * columns cannot have; NULL ones count nothing. Does nothing if there is no memory. */
void let_suggest(const char *option, const char *text, const struct expr_names *names, const char *const *taken,
		 size_t ntaken, struct fault *fault);

#endif
