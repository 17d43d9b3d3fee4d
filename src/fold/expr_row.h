/* SPDX-License-Identifier: MIT
 *
 * expr_row.h - evaluates a condition for one record's raw fields, on the CPU.
 */
#ifndef GPUSTAT_EXPR_ROW_H
#define GPUSTAT_EXPR_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/field.h"
#include "query/expr_eval.h"
#include "query/plan.h"
#include "base/status.h"

/* One worker's working memory for one condition. */
struct expr_row {
	struct expr_value *values; /* of the condition's columns in the current record; owned */
	bool *is_number;           /* the column is read as a number, not as text; owned */
	enum status *why;          /* of a computed value: see expr_row_computed; owned */
	unsigned *how;             /* how it is read: of enum value_how, VALUE_COMPUTED or 0; owned */
	struct scratch *scratch;   /* one for each column: a field without its quotes; owned */
	uint32_t ncolumns;
};

/* Errors: STATUS_NO_MEMORY. Free with expr_row_free. */
enum status expr_row_init(struct expr_row *row, const struct expr *e);
void expr_row_free(struct expr_row *row);

/* Says, before each evaluation, that column i of the condition is computed. how: of enum value_how. why: what is wrong with
 * its value, whatever it is compared with; STATUS_OK: it is as its field says. */
void expr_row_computed(struct expr_row *row, uint32_t i, unsigned how, enum status why);

/* Evaluates e over one record.
 * e->columns: where in plan and in spans each of its columns is.
 * spans: plan->ncolumns raw fields in text, quotes and all, without the record's CR.
 * Sets *truth. With EXPR_INVALID, *culprit is the plan's column whose field is at fault,
 * and *why STATUS_NOT_A_NUMBER, STATUS_OUT_OF_RANGE, STATUS_TOO_COSTLY, or what expr_row_computed was told;
 * otherwise they are unchanged.
 * Errors: STATUS_NO_MEMORY. Cost: memory only for fields with irregular quotes. */
enum status expr_row_eval(struct expr_row *row, const struct expr *e, const struct plan *plan,
			  const char *text, const struct field_span *spans,
			  enum expr_truth *truth, uint32_t *culprit, enum status *why);

#endif
