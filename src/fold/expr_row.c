/* SPDX-License-Identifier: MIT
 *
 * expr_row.c - see expr_row.h.
 */
#include "fold/expr_row.h"

#include <stdlib.h>
#include <string.h>

#include "query/value.h"

enum status expr_row_init(struct expr_row *row, const struct expr *e)
{
	row->ncolumns = e->ncolumns;
	row->values = calloc(e->ncolumns + (size_t)1, sizeof *row->values);
	row->scratch = calloc(e->ncolumns + (size_t)1, sizeof *row->scratch);
	if (row->values && row->scratch)
		return STATUS_OK;
	expr_row_free(row);
	return STATUS_NO_MEMORY;
}

void expr_row_free(struct expr_row *row)
{
	for (uint32_t i = 0; row->scratch && i < row->ncolumns; i++)
		free(row->scratch[i].data);
	free(row->scratch);
	free(row->values);
	memset(row, 0, sizeof *row);
}

/* Removes the quotes of a raw field and decides whether it is missing. */
static enum status read_value(struct expr_value *v, struct scratch *scratch,
			      const struct plan *plan, const char *field, size_t nbytes)
{
	v->text = field_value(&plan->dialect, field, nbytes, scratch, &v->nbytes);
	if (!v->text)
		return STATUS_NO_MEMORY;
	v->kind = value_is_missing(plan, v->text, v->nbytes) ? EXPR_MISSING : EXPR_UNREAD;
	return STATUS_OK;
}

enum status expr_row_eval(struct expr_row *row, const struct expr *e, const struct plan *plan,
			  const char *text, const struct field_span *spans,
			  enum expr_truth *truth, uint32_t *culprit, enum status *why)
{
	uint32_t column;

	for (uint32_t i = 0; i < e->ncolumns; i++) {
		struct field_span span = spans[e->columns[i]];
		enum status status = read_value(&row->values[i], &row->scratch[i], plan,
						text + span.begin, span.end - span.begin);
		if (status != STATUS_OK)
			return status;
	}
	*truth = expr_eval(e, row->values, &column);
	if (*truth == EXPR_INVALID) {
		*culprit = e->columns[column];
		*why = row->values[column].kind == EXPR_OUT_OF_RANGE ? STATUS_OUT_OF_RANGE
								     : STATUS_NOT_A_NUMBER;
	}
	return STATUS_OK;
}
