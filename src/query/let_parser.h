/* SPDX-License-Identifier: MIT
 *
 * let_parser.h - the state of compiling an expression of --let.
 */
#ifndef GPUSTAT_LET_PARSER_H
#define GPUSTAT_LET_PARSER_H

#include "query/expr_parser.h"
#include "query/let.h"

#define LET_LITERAL_NBYTES 4096 /* of a text with quotes, as a raw field */
#define LET_PLACES_MAX WIDE_SCALE_MAX

struct let_parser {
	struct expr_parser e; /* its tokens, columns, literals and errors */
	struct let *let;
	const struct csv_dialect *dialect;
	char decimal;
	size_t depth;
};

enum let_kind { LET_IS_EITHER, LET_IS_NUMBER, LET_IS_TEXT };

/* A value whose steps were just added. */
struct let_operand {
	enum let_kind kind;
	size_t begin; /* in the text */
	size_t first_step, nsteps;
};

/* A row of the table of functions. */
struct let_function {
	const char *name;
	enum let_code code;
	bool (*parse)(struct let_parser *p, const struct let_function *f, struct let_operand *out);
	bool is_number;  /* its arguments are numbers, and its result */
	bool gives_text;
};

/* Reports that memory ran out. Returns false. */
bool let_no_memory(struct let_parser *p);

#endif
