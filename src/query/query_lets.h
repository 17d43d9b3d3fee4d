/* SPDX-License-Identifier: MIT
 *
 * query_lets.h - computed columns in the making of a query.
 *
 * A computed column counts as a field: FIELD_COMPUTED plus its number. What reads columns are requests:
 * of each computed column its own, then those of its conditions.
 */
#ifndef GPUSTAT_QUERY_LETS_H
#define GPUSTAT_QUERY_LETS_H

#include <stddef.h>

#include "query/query_making.h"

/* Parses every --let. Errors, in m->fault: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status query_parse_lets(struct making *m);

/* Marks the selectors that are names of the first nlets computed columns. */
void query_mark_computed(const struct query *q, struct selection *s, size_t nlets);

/* Marks the selectors of all that has been parsed. */
void query_mark_all_computed(struct making *m);

size_t query_count_let_requests(const struct query *q);
struct expr_request *query_let_request(const struct query *q, size_t i);

/* Finds the columns that computed columns are made of, once the header is known, and demands those of
 * computed columns that are in demand. Errors, in m->fault: those of expr_resolve; STATUS_USAGE where
 * the input has a column of that name. */
enum status query_resolve_lets(struct making *m);
enum status query_demand_lets(struct making *m);

/* Appends the computed columns in demand to the plan, which has all fields. Errors: STATUS_NO_MEMORY. */
enum status query_plan_lets(struct making *m);

#endif
