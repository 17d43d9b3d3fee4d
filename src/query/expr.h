/* SPDX-License-Identifier: MIT
 *
 * expr.h - the EXPR language of --where and --offsets: from text to a condition.
 *
 *     expression  = conjunction { ("or" | "||") conjunction }
 *     conjunction = negation { ("and" | "&&") negation }
 *     negation    = { "not" | "!" } ( "(" expression ")" | comparison )
 *     comparison  = operand ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") operand
 *                 | column "is" ["not"] ("missing" | "number")
 *                 | column ["not"] "in" "(" operand { "," operand } ")"
 *                 | column ["not"] "between" operand "and" operand
 *                 | column ["not"] ("contains" | "starts" "with" | "ends" "with") string
 *                 | column ("~" | "!~") string
 *     operand     = column | number | string
 *     column      = name | "`" any name "`" | ":" N | colN
 *     string      = '"' ... '"' | "'" ... "'"
 *
 * Words of the language are case-insensitive. `and or not is missing` are keywords; the others
 * have a meaning only where an operator can stand, so that a column may be called `in`. A quote within quotes is doubled. A
 * comparison has at least one column. With a string it compares bytes; with a number or
 * another column, exact numbers. Comparisons do not chain.
 *
 * Order of use: expr_parse, before the input is opened, and again if its names have signs; r->columns helps to detect a header;
 * expr_resolve with its names; the planner plans r->fields for r->uses, and sets r->expr.columns
 * to their indexes in the plan. Then expr_eval.h can evaluate r->expr.
 */
#ifndef GPUSTAT_EXPR_H
#define GPUSTAT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/expr_eval.h"
#include "query/select.h"
#include "base/status.h"

#define EXPR_NLEVELS 200 /* of nested parentheses */

/* What a condition uses a column for; a set. */
enum expr_use {
	EXPR_AS_NUMBER = 1, /* a value that decides must be a number or missing */
	EXPR_AS_TEXT = 2,
	EXPR_FOR_PRESENCE = 4,
	EXPR_FOR_KIND = 8, /* whether it is a number */
};

/* Names of columns with a sign in them: temp-max, bytes+1. Where an expression has one of these letter by letter, it is
 * that column, the longest one; otherwise the sign is one. Not owned. */
struct expr_names {
	const char **at;
	size_t n;
};

/* Whether an expression may have the name as it is: of letters, digits, _ . and + - * /, with one of these four, and no
 * number. */
bool expr_is_signed_name(const char *name);

struct expr_request {
	struct expr expr;         /* its arrays owned; the arrays below have expr.ncolumns items */
	/* As written; no duplicates, but a column that is compared both as text and as a number is
	 * two: in the input's notation its number's text may be another one. Owned. */
	struct selection columns;
	uint8_t *uses;            /* sets of enum expr_use; owned */
	uint32_t *fields;         /* set by expr_resolve; may have duplicates; owned */
	size_t error_offset;      /* after STATUS_USAGE: the byte of text at fault */
	size_t value_begin, value_end; /* and of the text a value that is calculated in a condition, if that is the
					* error; else 0 */
	bool may_be_name;         /* and whether a name with a sign may mend it: a value that is calculated, or a date */
};

/* Compiles text. names: NULL: none. option: the option's name without dashes, for messages.
 * Errors: STATUS_USAGE with three lines in fault's detail (the error, an excerpt of the expression
 * in printing characters, a caret below the error); STATUS_NO_MEMORY. Free with expr_free, after
 * an error too. Cost: memory of some 50 times text's length. */
enum status expr_parse(struct expr_request *r, const char *option, const char *text,
		       const struct expr_names *names, struct fault *fault);

/* Finds the columns' fields. names: nfields header names, NULL for a column without one.
 * Errors: selector_resolve's. */
enum status expr_resolve(struct expr_request *r, char *const *names, size_t nfields,
			 struct fault *fault);

void expr_free(struct expr_request *r);

#endif
