/* SPDX-License-Identifier: MIT
 *
 * program.h - the language of expressions: from the text of --where, --offsets, --let and --by to a program.
 *
 *     let         = NAME "=" expression
 *     key         = [ NAME "=" ] expression                              (and --agg; --sort, without a name)
 *     expression  = conjunction { ("or" | "||") conjunction }
 *     conjunction = negation { ("and" | "&&") negation }
 *     negation    = { "not" | "!" } comparison
 *     comparison  = text [ ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") text
 *                       | "is" ["not"] ("missing" | "null" | "number")
 *                       | ["not"] "in" "(" text { "," text } ")"
 *                       | ["not"] "between" text "and" text
 *                       | ["not"] ("contains" | "starts" "with" | "ends" "with") text
 *                       | ["not"] ("like" | "ilike") string
 *                       | ("~" | "=~" | "!~") string ]
 *     text        = sum { "||" sum }
 *     sum         = product { ("+" | "-") product }
 *     product     = factor { ("*" | "/" | "%") factor }
 *     factor      = "-" factor | number | string | column | "missing" | "(" expression ")"
 *                 | function "(" expression { "," expression } ")"          (functions.def)
 *                 | "case" [ expression ] "when" expression "then" expression { "when" ... } [ "else" expression ] "end"
 *     aggregate   = its name "(" [ expression ] ")"              (struct aggregate_name; a factor)
 *     column      = name | "`" any name "`" | ":" N | colN
 *     string      = '"' ... '"' | "'" ... "'"
 *
 * Words of the language are case-insensitive. `and or not is missing` are keywords; the others have a meaning only where an
 * operator can stand, and a function's name only before a parenthesis, so that a column may be called `in` or `round`. A quote
 * within quotes is doubled. A comparison with a string, or with a value that is text, compares bytes; one with a number, or with a
 * value that is one, compares exact numbers. Two columns compare as the record's values are: two numbers, two times, or two
 * texts; a number and something else have no order, and are neither equal nor different. Comparisons do not chain.
 *
 * A condition is a value as well, where one is needed: 1, 0, or missing where it is unknown; it is compiled as
 * if(condition, 1, if(not condition, 0, missing)).
 *
 * After a value, || joins texts, as in SQL; after a condition it is `or`. What follows tells which where both are: in a = "x" || b it
 * joins, in a = "x" || b = "y" it is `or`.
 *
 * case is if() within if(); nullif(a, b), and a case of a value, compile that value as often as it is used.
 *
 * A program is a list of steps. They take values from a stack and leave one there; truths have a stack of their own. `not` is
 * pushed down to the tests when it is compiled: not (a < 1) is a >= 1. A comparison with a missing value is then never true. For
 * what chooses records that is all of SQL's three-valued logic: and/or are monotone, so without `not` unknown and false lead to
 * the same records. By the same monotony, a field that is no number matters only if the condition holds when every test of such
 * a field counts as true, and does not when each counts as false.
 *
 * An aggregate is a column: sum(x) is that of all records, or of the record's group. To the program it is one of its names; who
 * runs it computes it before. mean(x) is sum(x) / count(x).
 *
 * Order of use: program_compile, before the input is opened, and again if its names have signs; p->names helps to detect a
 * header; program_resolve with its names; the planner plans p->fields, and sets p->columns to their indexes in the plan. Then a
 * block of rows (fold/program_block.h) or a GPU's lane (lane.h) can run it.
 */
#pragma once

#include "base/status.h"
#include "csv/field.h"
#include "lang/lexer.h"
#include "lang/select.h"
#include "lang/time.h"
#include "number/decimal.h"

#define PROGRAM_NLEVELS 200    /* of nested parentheses */
#define PROGRAM_NSTEPS_MAX ((size_t)1 << 22) /* conditions that are values double what is in them */
#define PROGRAM_NVALUES_MAX 200 /* at once on the stack */
#define NO_COLUMN UINT32_MAX

/* The order of two values; a test has the set of orders that make it true. */
enum order { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_GREATER = 4, ORDER_ANY = 7 };

/* A time is a text of ISO 8601 when the program runs; only the compiler tells them apart, to compare, add and subtract instants. */
enum value_type { TYPE_ANY, TYPE_NUMBER, TYPE_TEXT, TYPE_TRUTH, TYPE_TIME };

enum step_code {
	/* values */
	STEP_LOAD,    /* push the value of column `index` */
	STEP_NUMBER,  /* push a number of the fast path */
	STEP_LITERAL, /* push a text, or a longer number: a raw field */
	STEP_NEGATE,  /* x: -x */
	STEP_ADD,     /* a, b: a + b; and so on */
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_DIVIDE, /* rounded as number/quotient.h says; missing where b is 0 */
#define FUNCTION(id, name, arguments, type, work, lane, help) STEP_##id,
#include "lang/functions.def"
#undef FUNCTION
	/* Tests take values and push a truth: whether the order of the last two, if the step is of_two, or
	   of one and the step's literal, is accepted. */
	STEP_ORDER_NUMBERS, /* of two; index 1: texts, where neither is a number */
	STEP_ORDER_NUMBER,
	STEP_ORDER_TEXT,
	STEP_IS_MISSING, /* ORDER_LESS where it is, else ORDER_GREATER */
	/* Whether something holds: ORDER_EQUAL where it does, else ORDER_GREATER. */
	STEP_IS_NUMBER,
	STEP_STARTS, /* its text starts with the other one, */
	STEP_ENDS,
	STEP_CONTAINS,
	STEP_MATCH, /* ... matches a pattern: on CPUs only */
	/* truths */
	STEP_AND_THEN, /* a: go `index` steps on if it is false for all, else evaluate b for the
			  others */
	STEP_OR_THEN,
	STEP_AND, /* a, b: a and b */
	STEP_OR,
	STEP_DROP, /* the values that tests have kept */
};

/* What a value that is loaded is for. */
enum step_load { LOAD_VALUE, LOAD_CALCULATE, LOAD_TEST };

/* The sides of a test that are quotients, a / b, of which a and b are on the stack: they are compared
 * without dividing. */
enum quotient_side { QUOTIENT_LEFT = 1, QUOTIENT_RIGHT = 2 };

struct step {
	uint8_t code;     /* enum step_code */
	uint8_t accepts;  /* of tests: set of enum order */
	uint8_t load;     /* STEP_LOAD: enum step_load */
	bool keeps;	  /* of tests: the left side stays on the stack */
	bool of_two;      /* of tests: the right side is on the stack */
	bool is_long;     /* STEP_ORDER_NUMBER: the literal is a number beyond the fast path */
	bool is_quoted;   /* a literal in "...": a text that in SQL would be a column's name; not '...' */
	uint8_t nvalues;  /* how many it takes from the stack */
	uint8_t quotients; /* of tests of numbers: set of enum quotient_side */
	uint8_t depth;    /* the number of nested conditions of if() that it is part of */
	uint32_t index; /* LOAD: of columns; ROUND: digits; MATCH: of patterns; ..._THEN: steps; ORDER_NUMBER: 0 .. norders - 1; of
			 * functions: letters k, g; EPOCH: 1 if it takes numbers, too */
	uint32_t left, right; /* of tests: the columns that are compared, or NO_COLUMN; left, of functions: of patterns */
	uint32_t at;      /* byte of the text */
	uint32_t literal_begin, literal_nbytes; /* in literals */
	struct decimal number;
};

struct pattern; /* pattern.h */

/* A compiled expression. All memory owned. */
struct program {
	char *name; /* of a computed column, a key's is its text if it has none; NULL: a condition */
	enum value_type type;
	struct selection names; /* its columns as written, no duplicates; the three arrays below have as many items */
	uint32_t *fields;  /* set by program_resolve; may have duplicates */
	uint32_t *columns; /* in the plan */
	size_t nsteps, nliteral_bytes, npatterns;
	struct step *steps;
	char *literals; /* no terminators */
	struct pattern **patterns;
	uint32_t norders, nvalues, ntruths; /* the last two: of the stacks */
	bool computes; /* values that are no columns: they need memory */
	bool is_aggregate; /* a computed column without steps, whose values another pass has made; name: sum(x) */
	size_t aggregate;  /* its number among them */
	size_t error_offset; /* after STATUS_USAGE: the byte of text at fault */
	bool may_be_name;    /* and whether a name with a sign may mend it */
	bool is_named;       /* the text begins with NAME = */
};

/* An aggregate that expressions may have. */
struct aggregate_name {
	const char *name; /* "sum"; "pNN" stands for each percentile. NULL ends a list. */
	enum value_type type;
};

/* What programs are compiled for. */
struct program_context {
	const struct signed_names *names;  /* NULL: none */
	const struct csv_dialect *dialect; /* literals are raw fields of it; NULL: --where's that are printed nowhere */
	char decimal;                      /* the decimal point of numbers */
	const struct aggregate_name *aggregates; /* NULL: none */
	const struct time_zone *zone;      /* of times without an offset; NULL: UTC */
	bool of_results;                   /* they compute with finished results */
	const char *reads_once;            /* the option for which there can be no aggregates; NULL: none */
	bool is_time; /* the value is a time, of which its seconds are wanted, or a number of them
		       */
};

/* Whether a step tests values. */
static inline bool step_is_test(const struct step *step)
{
	return step->code >= STEP_ORDER_NUMBERS && step->code <= STEP_MATCH;
}

/* How many values on the stack are a test's left side, and its right one. */
static inline unsigned step_nleft(const struct step *step)
{
	return step->quotients & QUOTIENT_LEFT ? 2 : 1;
}

static inline unsigned step_nright(const struct step *step)
{
	return step->of_two ? step->quotients & QUOTIENT_RIGHT ? 2 : 1 : 0;
}

/* How many values a test leaves on the stack: its left side, or none. */
static inline unsigned step_nkept(const struct step *step)
{
	return step->keeps ? step_nleft(step) : 0;
}

/* Whether a step makes roots, logarithms, exponentials or powers. */
static inline bool step_is_real(const struct step *step)
{
	return step->code >= STEP_SQRT && step->code <= STEP_POW;
}

/* Whether a step's numbers may be rounded (number/quotient.h), though its operands are not. */
static inline bool step_rounds(const struct step *step)
{
	return step->code == STEP_DIVIDE || step_is_real(step);
}

/* Compiles text: a condition, NAME = EXPR if option is "let", or a key if it is "by", "agg" or "sort". option: its name without dashes.
 * Errors: STATUS_USAGE with three lines in fault's detail (the error, an excerpt of the expression
 * in printing characters, a caret below the error); STATUS_NO_MEMORY. Free with program_free, after
 * an error too. Cost: memory of some 50 times text's length. */
enum status program_compile(struct program *p, const char *option, const char *text, const struct program_context *context,
			    struct fault *fault);

/* What is true of an item of a list of expressions. */
enum aggregates_in {
	AGGREGATES_ANY = 1,      /* it has an aggregate */
	AGGREGATES_COMPUTED = 2, /* and more than that: an item that is nothing but sum(x) may be the name of a column */
	AGGREGATES_WITH_COLUMN = 4, /* and a column beside it: else it is of groups, or a column's name */
};

/* The set of what is true of items that have one of the aggregates. names: as far as they are known; or NULL. */
unsigned aggregates_in(const char *list, const struct aggregate_name *aggregates, const struct signed_names *names);

/* The argument of an aggregate's name: of "sum(x)", at *argument. Returns the argument's length, and the name's at *nbefore. */
size_t aggregate_argument(const char *text, const char **argument, size_t *nbefore);

/* Finds the columns' fields. names: nfields header names, NULL for a column without one.
 * Errors: selector_resolve's. */
enum status program_resolve(struct program *p, char *const *names, size_t nfields, struct fault *fault);

void program_free(struct program *p);

/* Adds to *nvalues and *ntruths how many of them a step leaves on the stacks, less how many it takes. */
void program_balance(const struct step *step, int *nvalues, int *ntruths);

/* Whether it has a step of this code. */
bool program_has(const struct program *p, enum step_code code);
