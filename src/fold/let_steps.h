/* SPDX-License-Identifier: MIT
 *
 * let_steps.h - what the steps of --let do with a block of values. See let_block.h.
 */
#ifndef GPUSTAT_LET_STEPS_H
#define GPUSTAT_LET_STEPS_H

#include "fold/let_block.h"
#include "number/big_decimal.h"

/* One evaluation of a column. */
struct let_run {
	struct let_block *l;
	struct row_block *b;
	struct let_column *column;
	uint64_t rows; /* of the block */
};

/* ---- fields: let_text.c ---- */

/* Appends a field of nbytes and makes it the row's; it has no number then. Without room, it is
 * empty, and l->is_full. */
void let_set_field(struct let_run *r, struct let_values *v, unsigned row, const char *text,
		   size_t nbytes);

/* Writes the row's number as its field. */
void let_number_to_field(struct let_block *l, struct let_values *v, unsigned row);

/* LET_LOWER, LET_UPPER, LET_LENGTH, LET_EPOCH: replaces the values. */
void let_step_text(struct let_run *r, enum let_code code, struct let_values *x);

/* Puts a row's value without quotes at *text; false: it is missing, or memory ran out. */
bool let_read_text(struct let_run *r, struct let_values *v, unsigned row, const char **text,
		   size_t *nbytes);

/* ---- numbers: let_arithmetic.c ---- */

/* a = a op b */
void let_step_binary(struct let_run *r, enum let_code code, struct let_values *a,
		     struct let_values *b);

/* x = op x; nplaces: of LET_ROUND */
void let_step_unary(struct let_run *r, enum let_code code, struct let_values *x, int nplaces);

/* Makes q, which is rounded, the row's value. */
void let_set_quotient(struct let_run *r, struct let_values *v, unsigned row, const struct quotient *q);

/* Makes x the row's value. */
void let_set_big(struct let_run *r, struct let_values *v, unsigned row, const struct big_decimal *x);

/* Makes the row's value wrong; the field that it has shows it. */
void let_set_wrong(struct let_values *v, unsigned row, enum status why);

/* Makes the row's value missing. */
void let_set_missing(struct let_run *r, struct let_values *v, unsigned row);

#endif
