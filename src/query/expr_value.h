/* SPDX-License-Identifier: MIT
 *
 * expr_value.h - values that are calculated inside a condition, which only compares: where they are, and what to type
 * instead.
 */
#ifndef GPUSTAT_EXPR_VALUE_H
#define GPUSTAT_EXPR_VALUE_H

#include "query/expr_parser.h"
#include "query/plan.h"

/* Whether the text at `at`, a minus or what follows four digits, goes on like a date: 2024-01-02, 2024-05. */
bool expr_is_date(const char *text, size_t at);

/* Whether the parser's token, which no condition has, goes on with the operand that was read last, as a value of --let
 * would: a sign, or the parenthesis of a function. Then sets the request's value to where this value stands. */
bool expr_find_value(struct expr_parser *p);

/* Sets fault->remedy to what computes the values of a condition before it: --let 'x = a+1' --where 'x > 2'. option: the
 * condition's; text: its own, or with "let" that of a computed column with conditions. taken: ntaken names that the new
 * columns cannot have; NULL ones count nothing. Does nothing if there is no memory. */
void expr_suggest_let(const char *option, const char *text, const struct expr_names *names, const char *const *taken,
		      size_t ntaken, struct fault *fault);

#endif
