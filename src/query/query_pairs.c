/* SPDX-License-Identifier: MIT
 *
 * query_pairs.c - see query_pairs.h.
 */
#include "query/query_pairs.h"

#include <stdlib.h>

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
	plan->pairs[plan->npairs] = (struct plan_pair){x, y, operation_needs(operation)};
	return plan->npairs++;
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
	return status;
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
	return status;
}
