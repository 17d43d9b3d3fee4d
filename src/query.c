/* SPDX-License-Identifier: MIT
 *
 * query.c - see query.h.
 */
#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"

/* What is asked of one field. */
struct demand {
	bool selected, number, star; /* at all; by a numeric operation by itself; by '*' */
	size_t column;               /* its place in the plan */
};

/* The state of making a query. */
struct making {
	struct query *q;
	const struct options *options;
	struct selection *selections; /* one an operation */
	struct demand *demands;       /* by field */
	size_t ndemands;
	struct fault *fault;
};

static enum status no_memory(struct making *m)
{
	return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
}

static enum status parse_selections(struct making *m)
{
	const struct options *o = m->options;

	m->selections = calloc(o->nuses + 1, sizeof *m->selections);
	if (!m->selections)
		return no_memory(m);
	for (size_t i = 0; i < o->nuses; i++) {
		enum status status =
			selection_parse(o->uses[i].cols, &m->selections[i], m->fault);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Whether the second record must be seen too: some column is not selected by itself. */
static bool needs_second(const struct making *m)
{
	struct field_range range;

	for (size_t i = 0; i < m->options->nuses; i++)
		for (size_t j = 0; j < m->selections[i].nselectors; j++)
			if (selector_by_position(&m->selections[i].selectors[j], 0, &range) &&
			    range.star)
				return true;
	return m->options->nuses == 0;
}

/* Whether field is text already in the first record that is no header. */
static bool starts_as_text(const struct header *h, uint32_t field)
{
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	return field < r->nfields && !r->values[field].is_number && !r->values[field].is_missing;
}

static enum status grow_demands(struct making *m, size_t ndemands)
{
	struct demand *grown;

	if (ndemands <= m->ndemands)
		return STATUS_OK;
	grown = realloc(m->demands, ndemands * sizeof *grown);
	if (!grown)
		return no_memory(m);
	memset(grown + m->ndemands, 0, (ndemands - m->ndemands) * sizeof *grown);
	m->demands = grown;
	m->ndemands = ndemands;
	return STATUS_OK;
}

/* Asks operation of one field. result->column is the field, until the plan is made. */
static enum status demand_field(struct making *m, enum operation operation, uint32_t field,
				bool star)
{
	struct query *q = m->q;
	struct result *grown;
	struct demand *d;

	if (star && starts_as_text(&q->header, field))
		return STATUS_OK;
	if (grow_demands(m, (size_t)field + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	d = &m->demands[field];
	d->selected = true;
	d->star |= star;
	d->number |= !star && operation != OPERATION_COUNT;
	if ((q->nresults & (q->nresults + 1)) == 0) { /* full at 0, 1, 3, 7, ... */
		grown = realloc(q->results, (2 * q->nresults + 1) * sizeof *grown);
		if (!grown)
			return no_memory(m);
		q->results = grown;
	}
	q->results[q->nresults++] = (struct result){operation, field, star};
	return STATUS_OK;
}

static enum status demand_range(struct making *m, enum operation operation,
				struct field_range range)
{
	enum status status = STATUS_OK;
	size_t end = range.star ? m->q->header.nfields : (size_t)range.last + 1;

	m->q->star |= range.star;
	for (size_t field = range.first; status == STATUS_OK && field < end; field++)
		status = demand_field(m, operation, (uint32_t)field, range.star);
	return status;
}

static enum status demand_selected(struct making *m)
{
	const struct header *h = &m->q->header;
	struct field_range range;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < m->options->nuses; i++) {
		const struct selection *s = &m->selections[i];
		for (size_t j = 0; status == STATUS_OK && j < s->nselectors; j++) {
			status = selector_resolve(&s->selectors[j], h->names, h->nfields, &range, m->fault);
			if (status == STATUS_OK)
				status = demand_range(m, m->options->uses[i].operation, range);
		}
	}
	return status;
}

/* The summary asks for everything; what each column is, its values will tell. */
static enum status demand_all(struct making *m)
{
	const struct field_range all = {0, (uint32_t)m->q->header.nfields - 1, false};

	return m->q->header.nfields ? demand_range(m, OPERATION_SUM, all) : STATUS_OK;
}

/* ---- the plan ---- */

/* The name of a column, colN where the header has none. Owned by the caller. */
static char *column_name(const struct header *h, size_t field)
{
	char *name;

	if (field < h->nfields && h->names[field])
		return strdup(h->names[field]);
	return asprintf(&name, "col%zu", field + 1) < 0 ? NULL : name;
}

static enum status plan_column(struct making *m, size_t field)
{
	struct plan *plan = &m->q->plan;
	struct demand *d = &m->demands[field];
	struct plan_column *c = &plan->columns[plan->ncolumns];

	c->field = (uint32_t)field;
	c->name = column_name(&m->q->header, field);
	c->parses = d->number || d->star;
	c->if_numeric = m->q->summary || (d->star && !d->number);
	c->invalid = m->options->invalid;
	if (m->q->summary && c->invalid == INVALID_ERROR)
		c->invalid = INVALID_TEXT;
	d->column = plan->ncolumns++;
	return c->name ? STATUS_OK : no_memory(m);
}

static enum status plan_columns(struct making *m)
{
	struct query *q = m->q;
	enum status status = STATUS_OK;

	q->plan.columns = calloc(m->ndemands + 1, sizeof *q->plan.columns);
	if (!q->plan.columns)
		return no_memory(m);
	for (size_t i = 0; status == STATUS_OK && i < m->ndemands; i++)
		if (m->demands[i].selected)
			status = plan_column(m, i);
	for (size_t i = 0; status == STATUS_OK && i < q->nresults; i++)
		q->results[i].column = m->demands[q->results[i].column].column;
	return status;
}

static void begin_plan(struct query *q, const struct options *options)
{
	q->plan.delimiter = options->delimiter;
	q->plan.short_record = options->invalid;
	q->plan.nmissing = options->nmissing;
	q->plan.missing = options->missing;
	q->summary = options->nuses == 0;
}

static enum status make(struct making *m, struct input *input)
{
	struct query *q = m->q;
	enum status status = parse_selections(m);

	if (status == STATUS_OK)
		status = header_read(&q->header, input, &q->plan, needs_second(m), m->fault);
	if (status == STATUS_OK)
		status = header_decide(&q->header, input, m->options->header, m->selections,
				       m->options->nuses, m->fault);
	if (status == STATUS_OK)
		status = q->summary ? demand_all(m) : demand_selected(m);
	if (status == STATUS_OK)
		status = plan_columns(m);
	q->plan.one_column = q->header.nfields <= 1;
	return status;
}

enum status query_make(struct query *q, const struct options *options, struct input *input,
		       struct fault *fault)
{
	struct making m = {.q = q, .options = options, .fault = fault};
	enum status status;

	memset(q, 0, sizeof *q);
	begin_plan(q, options);
	status = make(&m, input);
	for (size_t i = 0; m.selections && i < options->nuses; i++)
		selection_free(&m.selections[i]);
	free(m.selections);
	free(m.demands);
	return status;
}

void query_free(struct query *q)
{
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		free((char *)q->plan.columns[c].name);
	free(q->plan.columns);
	free(q->results);
	header_free(&q->header);
	memset(q, 0, sizeof *q);
}
