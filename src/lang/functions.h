/* SPDX-License-Identifier: MIT
 *
 * functions.h - functions of expressions that are called for each record: ROW_FUNCTION in functions.def.
 *
 * Such a function takes values, and makes a text or a number of them. It knows neither blocks nor how fields are written:
 * fold/program_block.c unquotes its arguments, quotes its result, and calls it only where each argument is there, or the row of
 * functions.def says that it may be missing.
 */
#pragma once

#include "base/status.h"
#include "csv/field.h"
#include "lang/pattern.h"
#include "lang/program.h"
#include "lang/time.h"
#include "number/exact.h"
#include "number/notation.h"

/* A value that a function is given. */
struct argument {
	const char *text; /* of letters t, e and d: unquoted, nbytes; not owned */
	size_t nbytes;    /* 0 where it is missing */
	int64_t integer;  /* of letter i */
	struct instant time; /* of letter d */
	struct decimal number; /* of letter n, if text is NULL; else it is longer, and text is plain */
};

enum call_result { CALL_MISSING, CALL_TEXT, CALL_NUMBER, CALL_LONG };

/* One call. All but the result is set before. */
struct call {
	unsigned nvalues; /* of arguments: those that are left out at the end have defaults of the function */
	const struct argument *value;
	const char *constant; /* of letters s, p, r, w and z, nbytes */
	size_t constant_nbytes;
	uint32_t index; /* of letters k and g */
	struct time_unit unit; /* of letter u */
	const struct number_notation *notation; /* of the input */
	const struct pattern *pattern; /* of letter p */
	struct pattern_match *match;
	struct time_reader *times;
	struct scratch *room; /* for a text that is made: call_room */
	/* Of a function of one value, letter d: of all instants of these seconds the result is the same; of none, to begin with. */
	struct time_span same;
	/* the result; CALL_MISSING to begin with */
	enum call_result result;
	const char *text; /* CALL_TEXT: nbytes, in an argument, the constant or the room; none: missing */
	size_t nbytes;
	struct decimal number;    /* CALL_NUMBER: of the fast path */
	struct exact exact;       /* CALL_LONG: any number */
	struct integer *limbs;    /* the room for its limbs */
};

/* Returns STATUS_OK, or why there is no result: then the value is wrong. */
typedef enum status call_function(struct call *call);

/* Memory for a text of nbytes; NULL where there is none. */
char *call_room(struct call *call, size_t nbytes);

#define FUNCTION(id, name, arguments, type, work, lane, help)
#define ROW_FUNCTION(id, name, arguments, type, call, help) call_function call;
#include "lang/functions.def"
#undef FUNCTION
