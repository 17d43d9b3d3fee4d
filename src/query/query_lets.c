/* SPDX-License-Identifier: MIT
 *
 * query_lets.c - see query_lets.h.
 */
#include "query/query_lets.h"

#include <stdlib.h>
#include <string.h>

#include "query/option_table.h"

static enum status no_memory(struct making *m)
{
	return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* ---- what the options say ---- */

static enum status check_name(struct making *m, size_t n)
{
	const struct let *lets = m->q->lets;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(lets[i].name, lets[n].name))
			return option_fault(m->fault, "--let: there are two new columns '%.64s'",
					    lets[n].name);
	return STATUS_OK;
}

enum status query_parse_lets(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	enum status status = STATUS_OK;
	struct let *let;

	q->lets = calloc(o->nuses + 1, sizeof *q->lets);
	if (!q->lets)
		return no_memory(m);
	for (size_t i = 0; status == STATUS_OK && i < o->nuses; i++) {
		if (operation_kind(o->uses[i].operation) != OPERATION_LET)
			continue;
		let = &q->lets[q->nlets++];
		status = let_parse(let, o->uses[i].argument, &m->names, &o->dialect, o->notation.decimal, m->fault);
		status = making_parsed(m, status, "let", o->uses[i].argument, &let->request);
		if (status == STATUS_OK && let->name)
			status = check_name(m, q->nlets - 1);
		else if (status == STATUS_OK)
			let_free(&q->lets[--q->nlets]); /* the error comes when names are known */
	}
	return status;
}

void query_mark_computed(const struct query *q, struct selection *s, size_t nlets)
{
	for (size_t i = 0; i < s->nselectors; i++)
		for (size_t k = 0; k < nlets; k++)
			if (!strcmp(s->selectors[i].text, q->lets[k].name))
				s->selectors[i].computed = (uint32_t)k + 1;
}

void query_mark_all_computed(struct making *m)
{
	struct query *q = m->q;

	for (size_t i = 0; i < m->nselections; i++)
		query_mark_computed(q, &m->selections[i], q->nlets);
	for (size_t i = 0; i < q->nconditions; i++)
		query_mark_computed(q, &q->conditions[i].columns, q->nlets);
	for (size_t k = 0; k < q->nlets; k++) {
		query_mark_computed(q, &q->lets[k].request.columns, k); /* earlier ones only */
		for (size_t i = 0; i < q->lets[k].nconditions; i++)
			query_mark_computed(q, &q->lets[k].conditions[i].columns, k);
	}
}

/* ---- requests ---- */

size_t query_count_let_requests(const struct query *q)
{
	size_t n = q->nlets;

	for (size_t k = 0; k < q->nlets; k++)
		n += q->lets[k].nconditions;
	return n;
}

struct expr_request *query_let_request(const struct query *q, size_t i)
{
	struct let *let = q->lets;

	for (; i > let->nconditions; let++)
		i -= let->nconditions + 1;
	return i == 0 ? &let->request : &let->conditions[i - 1];
}

/* ---- columns ---- */

static enum status check_names(struct making *m)
{
	const struct header *h = &m->q->header;

	for (size_t k = 0; k < m->q->nlets; k++)
		for (size_t i = 0; i < h->nnames; i++)
			if (h->names[i] && !strcmp(h->names[i], m->q->lets[k].name))
				return option_fault(m->fault, "--let: the input has a column '%.64s' "
						    "already", h->names[i]);
	return STATUS_OK;
}

enum status query_resolve_lets(struct making *m)
{
	const struct header *h = &m->q->header;
	enum status status = check_names(m);

	for (size_t i = 0; status == STATUS_OK && i < query_count_let_requests(m->q); i++)
		status = expr_resolve(query_let_request(m->q, i), h->names, h->nnames, m->fault);
	return status;
}

/* Demands the columns of a request. */
static enum status demand_request(struct making *m, const struct expr_request *r)
{
	for (size_t i = 0; i < r->columns.nselectors; i++) {
		struct demand *d = making_demand(m, r->fields[i]);
		if (!d)
			return STATUS_NO_MEMORY;
		d->selected = true;
	}
	return STATUS_OK;
}

enum status query_demand_lets(struct making *m)
{
	enum status status = STATUS_OK;

	for (size_t k = m->q->nlets; status == STATUS_OK && k-- > 0;) {
		const struct let *let = &m->q->lets[k];
		if (!m->let_demands[k].selected)
			continue;
		status = demand_request(m, &let->request);
		for (size_t i = 0; status == STATUS_OK && i < let->nconditions; i++)
			status = demand_request(m, &let->conditions[i]);
	}
	return status;
}

/* ---- the plan ---- */

/* Sets where in the plan the request's columns are. */
static void place(struct making *m, struct expr_request *r)
{
	for (size_t i = 0; i < r->columns.nselectors; i++)
		r->expr.columns[i] = (uint32_t)making_demand(m, r->fields[i])->column;
}

/* A column of numbers is always one: a value that is no number is an error wherever it is used. */
static void plan_let(struct making *m, size_t k, struct plan_column *c)
{
	struct let *let = &m->q->lets[k];
	struct demand *d = &m->let_demands[k];

	place(m, &let->request);
	for (size_t i = 0; i < let->nconditions; i++)
		place(m, &let->conditions[i]);
	if (let->is_number && d->is_key)
		d->needs |= MOMENT_COUNT;
	if (let->is_number && d->needs) {
		d->number = true;
		d->counts_text = false;
	}
	c->let = let;
}

enum status query_plan_lets(struct making *m)
{
	struct plan *plan = &m->q->plan;

	for (size_t k = 0; k < m->q->nlets; k++) {
		struct plan_column *c = &plan->columns[plan->ncolumns];
		if (!m->let_demands[k].selected)
			continue;
		plan_let(m, k, c);
		c->name = strdup(m->q->lets[k].name);
		plan->nlets++;
		query_plan_column(m, &m->let_demands[k], c);
		if (!c->name)
			return no_memory(m);
	}
	return STATUS_OK;
}
