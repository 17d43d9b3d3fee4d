/* SPDX-License-Identifier: MIT
 *
 * query_pairs.c - see query_pairs.h.
 */
#include "query/query_pairs.h"

#include <stdlib.h>

#include "query/let.h"
#include "query/option_table.h"

/* A thread takes up to 0.4 KiB a pair: 200 MB. */
#define MATRIX_COLUMNS_MAX 1000

static enum status reserve(struct plan *plan, size_t npairs, struct fault *fault)
{
	plan->pairs = calloc(npairs + 1, sizeof *plan->pairs);
	return plan->pairs ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

static size_t add_pair(struct plan *plan, enum operation operation, size_t x, size_t y)
{
	plan->pairs[plan->npairs] = (struct plan_pair){.x = x, .y = y, .needs = operation_needs(operation)};
	return plan->npairs++;
}

/* Whether numbers of a computed column may be rounded quotients. before: of the columns before it, all that it takes. */
static bool may_be_rounded(const struct let *let, const bool *before)
{
	for (const struct let_step *step = let->steps; step < let->steps + let->nsteps; step++)
		if (step->code == LET_DIVIDE || (step->code == LET_LOAD && before[let->request.expr.columns[step->index]]))
			return true;
	return false;
}

/* Asks for the extremes of pairs with quotients: of one side they tell how far the errors of the other reach. */
static enum status need_extremes(struct plan *plan, struct fault *fault)
{
	bool *rounded;

	if (plan->nlets == 0 || plan->npairs == 0)
		return STATUS_OK;
	rounded = calloc(plan->ncolumns, sizeof *rounded);
	if (!rounded)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (size_t c = 0; c < plan->ncolumns; c++)
		rounded[c] = plan->columns[c].let && may_be_rounded(plan->columns[c].let, rounded);
	for (const struct plan_pair *p = plan->pairs; p < plan->pairs + plan->npairs; p++) {
		if (!rounded[p->x] && !rounded[p->y])
			continue;
		plan->columns[p->x].needs |= MOMENT_EXTREMES;
		plan->columns[p->y].needs |= MOMENT_EXTREMES;
	}
	free(rounded);
	return STATUS_OK;
}

/* In the order of query_matrix_pair. */
static enum status plan_matrix(struct query *q, struct fault *fault)
{
	size_t n = q->nresults;
	enum status status;

	if (n > MATRIX_COLUMNS_MAX)
		return option_fault(fault, "--%s '*' is a matrix of %zu columns: more than %d",
				    operation_name(q->results[0].operation), n, MATRIX_COLUMNS_MAX);
	status = reserve(&q->plan, n * n / 2, fault);
	for (size_t i = 0; status == STATUS_OK && i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			add_pair(&q->plan, q->results[i].operation, q->results[i].column,
				 q->results[j].column);
	return status == STATUS_OK ? need_extremes(&q->plan, fault) : status;
}

enum status query_plan_pairs(struct query *q, struct fault *fault)
{
	size_t npairs = 0;
	enum status status;

	if (q->matrix)
		return plan_matrix(q, fault);
	for (size_t i = 0; i < q->nresults; i++)
		npairs += operation_kind(q->results[i].operation) == OPERATION_PAIR;
	status = reserve(&q->plan, npairs, fault);
	for (size_t i = 0; status == STATUS_OK && i < q->nresults; i++) {
		struct result *r = &q->results[i];
		if (operation_kind(r->operation) == OPERATION_PAIR)
			r->pair = (uint32_t)add_pair(&q->plan, r->operation, r->column, r->other);
	}
	return status == STATUS_OK ? need_extremes(&q->plan, fault) : status;
}
