/* SPDX-License-Identifier: MIT
 *
 * expr.h - the EXPR language of --where and --offsets: from text to a condition.
 *
 *     expression  = conjunction { ("or" | "||") conjunction }
 *     conjunction = negation { ("and" | "&&") negation }
 *     negation    = { "not" | "!" } ( "(" expression ")" | comparison )
 *     comparison  = operand ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") operand
 *                 | column "is" ["not"] "missing"
 *     operand     = column | number | string
 *     column      = name | "`" any name "`" | ":" N | colN
 *     string      = '"' ... '"' | "'" ... "'"
 *
 * Words of the language are case-insensitive. A quote within quotes is doubled. A
 * comparison has at least one column: with a string it compares bytes; with a number or
 * another column, exact numbers. It does not chain.
 *
 * Order of use: expr_parse, before anything of the input is known; r->columns then helps
 * to tell whether there is a header; expr_resolve with its names; the planner makes a plan
 * that has r->fields, used as r->uses say, and sets r->expr.columns to their places. Then
 * r->expr is complete: expr_eval.h evaluates it.
 */
#ifndef GPUSTAT_EXPR_H
#define GPUSTAT_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "query/expr_eval.h"
#include "query/select.h"
#include "base/status.h"

#define EXPR_NLEVELS 200 /* parentheses within parentheses */

/* What a condition does with a column; a set. */
enum expr_use {
	EXPR_AS_NUMBER = 1, /* its values must be numbers or missing, where they decide */
	EXPR_AS_TEXT = 2,
	EXPR_FOR_PRESENCE = 4,
};

struct expr_request {
	struct expr expr;         /* its arrays owned; what follows has its ncolumns */
	struct selection columns; /* as written, none twice; owned */
	uint8_t *uses;            /* sets of enum expr_use; owned */
	uint32_t *fields;         /* once resolved; two columns may be one field; owned */
	size_t error_offset;      /* after STATUS_USAGE: the byte of text it is about */
};

/* Compiles text. option: the option's name without dashes, for messages.
 * Errors: STATUS_USAGE, with three lines in fault's detail: what is wrong, the expression
 * around it as one line of printing characters, and a caret below the culprit;
 * STATUS_NO_MEMORY. Free with expr_free in any case.
 * Cost: memory of some 50 times text's length. */
enum status expr_parse(struct expr_request *r, const char *option, const char *text,
		       struct fault *fault);

/* Finds the fields that the columns mean. names: nfields header names, NULL for a column
 * without one. Errors: selector_resolve's. */
enum status expr_resolve(struct expr_request *r, char *const *names, size_t nfields,
			 struct fault *fault);

void expr_free(struct expr_request *r);

#endif
