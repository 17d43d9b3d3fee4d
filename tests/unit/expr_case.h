/* SPDX-License-Identifier: MIT
 *
 * expr_case.h - one expression asked about one record, for the tests of the EXPR language.
 */
#ifndef GPUSTAT_EXPR_CASE_H
#define GPUSTAT_EXPR_CASE_H

#include "query/expr.h"
#include "fold/expr_row.h"
#include "tap.h"

static char *const expr_names[] = {"a",     "b",   "c", "user agent", "and",
				   "größe", "a`b", "7", ":1",         NULL};
#define NFIELDS 10 /* the last one has no name */

struct outcome {
	enum status status;
	enum expr_truth truth;
	uint32_t field; /* at fault */
	enum status why;
	size_t error_offset;
	struct fault fault;
};

/* Asks text about a record of raw fields, cut at '|'. */
__attribute__((unused)) static struct outcome ask(const char *text, const char *record)
{
	static const char *const spellings[] = {"NA"};
	struct outcome out = {.field = UINT32_MAX};
	struct field_span spans[NFIELDS];
	struct plan the_plan = {.dialect = {.delimiter = '|', .quote = '"'},
				.notation = {.decimal = '.'}, .ncolumns = NFIELDS, .nmissing = 1,
				.missing = spellings};
	struct expr_request r;
	struct expr_row row;
	size_t n = 0, begin = 0;

	for (size_t i = 0; n < NFIELDS; i++) {
		if (record[i] && record[i] != '|')
			continue;
		spans[n++] = (struct field_span){begin, i};
		begin = i + 1;
		for (; !record[i] && n < NFIELDS; n++)
			spans[n] = (struct field_span){i, i};
	}
	out.status = expr_parse(&r, "where", text, NULL, &out.fault);
	out.error_offset = r.error_offset;
	if (out.status == STATUS_OK)
		out.status = expr_resolve(&r, expr_names, NFIELDS, &out.fault);
	if (out.status == STATUS_OK) {
		memcpy(r.expr.columns, r.fields, r.expr.ncolumns * sizeof *r.fields);
		if (expr_row_init(&row, &r.expr) != STATUS_OK)
			bail("no memory");
		out.status = expr_row_eval(&row, &r.expr, &the_plan, record, spans, &out.truth,
					   &out.field, &out.why);
		expr_row_free(&row);
	}
	expr_free(&r);
	return out;
}

#endif
