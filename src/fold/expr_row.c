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
	row->is_number = calloc(e->ncolumns + (size_t)1, sizeof *row->is_number);
	row->why = calloc(e->ncolumns + (size_t)1, sizeof *row->why);
	row->how = calloc(e->ncolumns + (size_t)1, sizeof *row->how);
	if (!row->values || !row->scratch || !row->is_number || !row->why || !row->how) {
		expr_row_free(row);
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < e->ntests; i++) {
		const struct expr_test *t = &e->tests[i];
		row->is_number[t->left] |= t->kind == EXPR_TEST_NUMBER ||
					  t->kind == EXPR_TEST_IS_NUMBER;
		if (t->kind == EXPR_TEST_COLUMNS)
			row->is_number[t->left] = row->is_number[t->right] = true;
	}
	return STATUS_OK;
}

void expr_row_free(struct expr_row *row)
{
	for (uint32_t i = 0; row->scratch && i < row->ncolumns; i++)
		free(row->scratch[i].data);
	free(row->scratch);
	free(row->is_number);
	free(row->how);
	free(row->why);
	free(row->values);
	memset(row, 0, sizeof *row);
}

void expr_row_computed(struct expr_row *row, uint32_t i, unsigned how, enum status why)
{
	row->how[i] = how;
	row->why[i] = why;
}

/* Removes the quotes of column i's raw field, decides whether it is missing, and brings a number into
 * decimal.h's syntax. */
static enum status read_value(struct expr_row *row, uint32_t i, const struct plan *plan,
			      const char *field, size_t nbytes)
{
	struct expr_value *v = &row->values[i];
	bool is_number = true;
	enum status status = STATUS_OK;

	v->text = field_value(&plan->dialect, field, nbytes, &row->scratch[i], &v->nbytes);
	NEED(v->text);
	v->kind = value_is_missing(plan, row->how[i], v->text, v->nbytes)
			  ? EXPR_MISSING : EXPR_UNREAD;
	if (row->why[i] != STATUS_OK) {
		v->kind = EXPR_WRONG;
		return STATUS_OK;
	}
	if (v->kind == EXPR_UNREAD && row->is_number[i])
		status = value_to_plain(plan, &v->text, &v->nbytes, &row->scratch[i], &is_number);
	if (!is_number)
		v->kind = EXPR_NOT_A_NUMBER;
	return status;
}

static enum status why_invalid(enum expr_value_kind kind)
{
	if (kind == EXPR_TOO_COSTLY)
		return STATUS_TOO_COSTLY;
	return kind == EXPR_OUT_OF_RANGE ? STATUS_OUT_OF_RANGE : STATUS_NOT_A_NUMBER;
}

enum status expr_row_eval(struct expr_row *row, const struct expr *e, const struct plan *plan,
			  const char *text, const struct field_span *spans,
			  enum expr_truth *truth, uint32_t *culprit, enum status *why)
{
	uint32_t column;

	for (uint32_t i = 0; i < e->ncolumns; i++) {
		struct field_span span = spans[e->columns[i]];
		enum status status = read_value(row, i, plan, text + span.begin,
						span.end - span.begin);
		if (status != STATUS_OK)
			return status;
	}
	*truth = expr_eval(e, row->values, &column);
	if (*truth == EXPR_INVALID) {
		*culprit = e->columns[column];
		*why = row->values[column].kind == EXPR_WRONG ? row->why[column]
							      : why_invalid(row->values[column].kind);
	}
	return STATUS_OK;
}
