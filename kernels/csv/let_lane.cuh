/* SPDX-License-Identifier: MIT
 *
 * let_lane.cuh - a thread computes a record's columns of --let.
 *
 * Only numbers of the fast path: where one does not fit, or a value is no number, the CPU folds the chunk. The
 * results are those of src/fold/let_arithmetic.c, which calls the same functions.
 */
#ifndef GPUSTAT_LET_LANE_CUH
#define GPUSTAT_LET_LANE_CUH

extern "C" {
#include "number/decimal_arithmetic.h"
#include "query/let.h"
}

#include "kernels/csv/field_read.cuh"

/* The fields that conditions look at. Of a computed column: its number, and LET_SPAN. */
struct filter_spans {
	struct span at[FIELDS_NSPANS_MAX];
};
#define LET_SPAN SIZE_MAX

/* A number, or missing. */
struct let_number {
	struct decimal number;
	bool missing;
};

/* The value of column c, which may be a computed one. Returns false where it is neither a number of the fast
 * path nor missing. */
static __device__ inline bool let_load(const struct field_table &table, uint32_t c, uint32_t r,
					struct let_number *out)
{
	size_t at = field_at(table, c, r);
	unsigned code = table.code[at];

	out->missing = code == FIELD_MISSING;
	out->number = {table.significand[at], (int32_t)code};
	return out->missing || code < FIELD_NCODES_NUMBER;
}

/* The value of a field for a condition, as in expr_row.c. Returns false if the quotes are irregular, or if the
 * column could not be computed. */
static __device__ inline bool value_read(const struct fields_plan &plan, const struct field_table &table,
					 const struct row &row, struct span field, struct expr_value *v)
{
	if (field.end == LET_SPAN) {
		struct let_number x;
		bool is_computed = let_load(table, (uint32_t)field.begin, row.number, &x);
		v->kind = x.missing ? EXPR_MISSING : EXPR_NUMBER;
		v->number = x.number;
		return is_computed;
	}
	if (!field_unquote(row.text, plan.quote, &field))
		return false;
	v->text = row.text + field.begin;
	v->nbytes = field.end - field.begin;
	v->kind = field_is_missing(plan, v->text, v->nbytes) ? EXPR_MISSING : EXPR_UNREAD;
	return true;
}

/* Evaluates condition i. EXPR_INVALID: the CPU must. */
static __device__ inline enum expr_truth condition_eval(const struct fields_plan &plan,
							const struct field_table &table, const struct row &row,
							const struct filter_spans &spans, uint32_t i)
{
	const struct expr &e = plan.conditions.exprs[i];
	struct expr_value values[FIELDS_NSPANS_MAX];
	uint32_t culprit;

	for (uint32_t k = 0; k < e.ncolumns; k++)
		if (!value_read(plan, table, row, spans.at[e.columns[k]], &values[k]))
			return EXPR_INVALID;
	return expr_eval(&e, values, &culprit);
}

/* *a = *a op *b. Returns false where the result does not fit. */
static __device__ inline bool let_combine(enum let_code code, struct let_number *a, const struct let_number *b)
{
	int order;

	a->missing |= b->missing;
	if (a->missing)
		return true;
	switch (code) {
	case LET_ADD:
		return decimal_add(a->number, b->number, &a->number);
	case LET_SUBTRACT:
		return decimal_add(a->number, decimal_negate(b->number), &a->number);
	case LET_MULTIPLY:
		return decimal_multiply(a->number, b->number, &a->number);
	default: /* LET_MIN, LET_MAX: of equal ones the first */
		order = decimal_compare(a->number, b->number);
		if (code == LET_MIN ? order > 0 : order < 0)
			a->number = b->number;
		return true;
	}
}

static __device__ inline struct decimal let_change(const struct fields_let_step &step, struct decimal x)
{
	if (step.code == LET_ROUND)
		return decimal_round(x, (int32_t)step.index);
	return step.code == LET_NEGATE || x.significand < 0 ? decimal_negate(x) : x;
}

/* Computes the k-th column of --let into *out. Returns false where the CPU must. */
static __device__ inline bool let_compute(const struct fields_plan &plan, const struct field_table &table,
					  const struct row &row, const struct filter_spans &spans, uint32_t k,
					  struct let_number *out)
{
	struct let_number stack[LET_LANE_DEPTH_MAX];
	enum expr_truth truth;
	int top = -1;

	for (uint32_t i = k ? plan.lets.end[k - 1] : 0; i < plan.lets.end[k]; i++) {
		const struct fields_let_step &step = plan.lets.steps[i];
		switch (step.code) {
		case LET_LOAD:
			if (!let_load(table, step.index, row.number, &stack[++top]))
				return false;
			break;
		case LET_NUMBER:
			stack[++top] = {step.number, false};
			break;
		case LET_NEGATE:
		case LET_ABS:
		case LET_ROUND:
			stack[top].number = let_change(step, stack[top].number);
			break;
		case LET_COALESCE:
			top--;
			if (stack[top].missing)
				stack[top] = stack[top + 1];
			break;
		case LET_IF:
			top--;
			truth = condition_eval(plan, table, row, spans, step.index);
			if (truth == EXPR_INVALID)
				return false;
			if (truth == EXPR_FALSE)
				stack[top] = stack[top + 1];
			break;
		default:
			top--;
			if (!let_combine((enum let_code)step.code, &stack[top], &stack[top + 1]))
				return false;
		}
	}
	*out = stack[0];
	return true;
}

#endif
