/* SPDX-License-Identifier: MIT
 *
 * summary.c - the columns of the summary: see query.h.
 */
#include "query/query.h"

#define RESULT(name, of_numbers, of_texts) {name, SUMMARY_RESULT, of_numbers, of_texts, false, {0, 0}}
#define COSTLY(name, of_numbers, of_texts) {name, SUMMARY_RESULT, of_numbers, of_texts, true, {0, 0}}
#define QUARTILE(name, percent) \
	{name, SUMMARY_RESULT, OPERATION_PERCENTILE, NOPERATIONS, true, {percent, 0}}
#define OTHER(name, value) {name, value, NOPERATIONS, NOPERATIONS, false, {0, 0}}

const struct summary_column summary_columns[] = {
	OTHER("column", SUMMARY_NAME),
	OTHER("type", SUMMARY_TYPE),
	RESULT("count", OPERATION_COUNT, OPERATION_COUNT),
	OTHER("missing", SUMMARY_MISSING),
	OTHER("invalid", SUMMARY_INVALID),
	RESULT("sum", OPERATION_SUM, NOPERATIONS),
	RESULT("min", OPERATION_MIN, OPERATION_TEXT_MIN),
	RESULT("max", OPERATION_MAX, OPERATION_TEXT_MAX),
	RESULT("mean", OPERATION_MEAN, NOPERATIONS),
	COSTLY("stddev", OPERATION_STDDEV, NOPERATIONS),
	QUARTILE("p25", 25),
	QUARTILE("p50", 50),
	QUARTILE("p75", 75),
	OTHER("shortest", SUMMARY_SHORTEST),
	OTHER("longest", SUMMARY_LONGEST),
	{"distinct", SUMMARY_DISTINCT, OPERATION_COUNT_DISTINCT, OPERATION_COUNT_DISTINCT, true, {0, 0}},
	COSTLY("mode", OPERATION_MODE, OPERATION_MODE),
	OTHER(NULL, SUMMARY_NAME),
};

static unsigned needs_of(enum operation operation)
{
	return operation == NOPERATIONS ? 0 : operation_needs(operation);
}

/* Lengths and types come from the texts. */
unsigned summary_needs(bool all)
{
	unsigned needs = MOMENT_TEXTS;

	for (const struct summary_column *c = summary_columns; c->name; c++)
		if (all || !c->is_costly)
			needs |= needs_of(c->of_numbers) | needs_of(c->of_texts);
	return needs;
}
