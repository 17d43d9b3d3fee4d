/* SPDX-License-Identifier: MIT
 *
 * query.c - see query.h.
 */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expr.h"
#include "query/query_header.h"
#include "query/select.h"
#include "query/summary.h"

#define FEW_SELECTORS 16

/* What is asked of one field. */
struct demand {
	bool selected;        /* at all */
	unsigned needs;       /* the moments that operations need; 0: only a condition reads it */
	bool number;          /* named in COLS of an operation that needs numbers */
	bool counts_text;     /* named in COLS of an operation that takes text */
	bool star;            /* included by '*' */
	size_t column;        /* its place in the plan */
};

/* The state of making a query. */
struct making {
	struct query *q;
	const struct options *options;
	struct selection *selections; /* one an operation, one a condition */
	size_t nselections;
	struct demand *demands;       /* by field */
	size_t ndemands;
	struct name_index index; /* if there are many selectors */
	struct fault *fault;
};

static enum status no_memory(struct making *m)
{
	return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* ---- what the options say ---- */

static enum status parse_condition(struct making *m, const char *option, const char *text)
{
	struct query *q = m->q;

	return expr_parse(&q->conditions[q->nconditions++], option, text, m->fault);
}

/* --where first, if it is there; then every --offsets. */
static enum status parse_conditions(struct making *m)
{
	const struct options *o = m->options;
	enum status status = STATUS_OK;

	m->q->conditions = calloc(o->nuses + 1, sizeof *m->q->conditions);
	if (!m->q->conditions)
		return no_memory(m);
	if (o->where)
		status = parse_condition(m, "where", o->where);
	for (size_t i = 0; status == STATUS_OK && i < o->nuses; i++)
		if (o->uses[i].operation == OPERATION_OFFSETS)
			status = parse_condition(m, "offsets", o->uses[i].argument);
	return status;
}

/* The columns of a condition that tell of a header: names, and fields by position that
 * must be numbers. */
static enum status select_telling(struct making *m, const struct expr_request *r)
{
	struct selection *to = &m->selections[m->nselections++];
	struct field_range ignored;

	to->selectors = calloc(r->columns.nselectors + 1, sizeof *to->selectors);
	if (!to->selectors)
		return no_memory(m);
	for (size_t i = 0; i < r->columns.nselectors; i++) {
		const struct selector *s = &r->columns.selectors[i];
		struct selector *copy = &to->selectors[to->nselectors];
		if (!(r->uses[i] & EXPR_AS_NUMBER) && selector_by_position(s, 0, &ignored))
			continue;
		*copy = (struct selector){strdup(s->text), s->quoted};
		if (!copy->text)
			return no_memory(m);
		to->nselectors++;
	}
	return STATUS_OK;
}

static enum status parse_selections(struct making *m)
{
	const struct options *o = m->options;
	enum status status = parse_conditions(m);

	m->selections = calloc(o->nuses + m->q->nconditions + 1, sizeof *m->selections);
	if (!m->selections)
		return no_memory(m);
	for (size_t i = 0; status == STATUS_OK && i < o->nuses; i++) {
		struct selection *to = &m->selections[m->nselections++];
		if (operation_has_columns(o->uses[i].operation))
			status = selection_parse(o->uses[i].argument, to, m->fault);
		to->takes_text = operation_takes_text(o->uses[i].operation);
	}
	for (size_t i = 0; status == STATUS_OK && i < m->q->nconditions; i++)
		status = select_telling(m, &m->q->conditions[i]);
	return status;
}

/* ---- what is asked of the fields ---- */

/* Whether --invalid skip leaves the record out because it is ragged. */
static bool is_left_out(const struct making *m, const struct first_record *r)
{
	const struct ragged_rule rule = {.policy = m->q->plan.ragged.policy,
					 .nfields = (uint32_t)m->q->header.nfields,
					 .last_is_empty = m->q->header.ends_empty};
	uint32_t n = (uint32_t)r->nfields;
	bool ends_empty = n > 0 && !*r->values[n - 1].text;

	return m->options->invalid == INVALID_SKIP && n > 0 && ragged_is(&rule, n, ends_empty) &&
	       !ragged_is_taken(&rule, n);
}

/* Whether the first record that is no header excludes this field from '*'. If its value is missing
 * there, or the record is left out, the field's first value decides later. If records are printed,
 * that would be too late for their header: the field is then excluded. */
static bool starts_unfit(const struct making *m, uint32_t field)
{
	const struct header *h = &m->q->header;
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	if (field >= r->nfields || (!m->options->emits && is_left_out(m, r)))
		return m->options->emits;
	return !r->values[field].is_number && (m->options->emits || !r->values[field].is_missing);
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

static enum status add_result(struct making *m, struct result result)
{
	struct query *q = m->q;
	struct result *grown;

	if ((q->nresults & (q->nresults + 1)) == 0) { /* full at 0, 1, 3, 7, ... */
		grown = realloc(q->results, (2 * q->nresults + 1) * sizeof *grown);
		if (!grown)
			return no_memory(m);
		q->results = grown;
	}
	q->results[q->nresults++] = result;
	return STATUS_OK;
}

/* Asks operation of one field. Until the plan is made, the new result's column is the field. */
static enum status demand_field(struct making *m, enum operation operation, uint32_t field,
				bool star)
{
	bool takes_text = operation_takes_text(operation);
	bool counts = takes_text && !(operation_needs(operation) & MOMENT_ENDS);
	struct demand *d;

	if (star && starts_unfit(m, field))
		return STATUS_OK;
	if (grow_demands(m, (size_t)field + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	d = &m->demands[field];
	d->selected = true;
	d->needs |= m->q->summary ? summary_needs(m->options->all) : operation_needs(operation);
	d->star |= star;
	d->number |= star ? m->options->emits : !takes_text;
	d->counts_text |= counts && !star;
	return add_result(m, (struct result){.operation = operation, .column = field,
						     .if_numeric = star});
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

/* In an empty input, a position is none of the columns that name_blindly made. */
static enum status resolve(struct making *m, const struct selector *s, struct field_range *range)
{
	const struct header *h = &m->q->header;
	bool blindly = h->nfields == 0 && selector_by_position(s, 0, range);

	if (m->index.entries)
		return selector_resolve_indexed(s, &m->index, h->nnames, range, m->fault);
	return selector_resolve(s, h->names, blindly ? 0 : h->nnames, range, m->fault);
}

/* Sorts the names if that is faster than searching all of them for each selector. */
static enum status index_names(struct making *m)
{
	const struct header *h = &m->q->header;
	size_t nselectors = 0;

	for (size_t i = 0; i < m->nselections; i++)
		nselectors += m->selections[i].nselectors;
	if (nselectors <= FEW_SELECTORS || h->nfields == 0)
		return STATUS_OK;
	if (name_index_init(&m->index, h->nnames) != STATUS_OK)
		return no_memory(m);
	for (size_t i = 0; i < h->nnames; i++)
		if (h->names[i])
			name_index_add(&m->index, h->names[i], i);
	name_index_sort(&m->index);
	return STATUS_OK;
}

static enum status demand_selected(struct making *m)
{
	struct field_range range;
	enum status status = index_names(m);
	size_t nresults = 0;

	for (size_t i = 0; i < m->options->nuses; i++) {
		const struct operation_use *use = &m->options->uses[i];
		const struct selection *s = &m->selections[i];
		for (size_t j = 0; status == STATUS_OK && j < s->nselectors; j++) {
			status = resolve(m, &s->selectors[j], &range);
			if (status == STATUS_OK)
				status = demand_range(m, use->operation, range);
		}
		if (status == STATUS_OK && !operation_has_columns(use->operation))
			status = add_result(m, (struct result){.operation = use->operation});
		if (status == STATUS_OK && operation_kind(use->operation) == OPERATION_TABLE &&
		    (m->q->star || m->q->nresults != 1))
			status = option_fault(m->fault, "--%s: '%.64s' is not one column",
					      operation_name(use->operation), use->argument);
		for (; nresults < m->q->nresults; nresults++)
			m->q->results[nresults].use = (uint32_t)i;
	}
	return status;
}

/* The fields that the conditions look at. */
static enum status demand_conditions(struct making *m)
{
	const struct header *h = &m->q->header;
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < m->q->nconditions; i++) {
		struct expr_request *r = &m->q->conditions[i];
		status = expr_resolve(r, h->names, h->nnames, m->fault);
		for (size_t j = 0; status == STATUS_OK && j < r->columns.nselectors; j++) {
			status = grow_demands(m, (size_t)r->fields[j] + 1);
			if (status == STATUS_OK)
				m->demands[r->fields[j]].selected = true;
		}
	}
	return status;
}

/* The summary asks for every column. Each column's values decide whether it is number or text. */
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

	if (field < h->nnames && h->names[field])
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
	c->needs = d->needs;
	c->takes_text = (d->needs & MOMENT_ENDS) && !d->number && !d->star;
	c->parses = d->number || d->star || c->takes_text;
	c->if_numeric = m->q->summary || (d->star && !d->number);
	c->counts_text = d->counts_text;
	c->invalid = m->q->summary ? INVALID_TEXT : m->options->invalid;
	c->nkeys_most = m->q->summary ? SUMMARY_NKEYS_MOST : 0;
	c->begins_as_text = starts_unfit(m, (uint32_t)field);
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
		if (operation_has_columns(q->results[i].operation))
			q->results[i].column = m->demands[q->results[i].column].column;
	return status;
}

/* The conditions, their columns now those of the plan. */
static enum status plan_predicates(struct making *m)
{
	struct plan *plan = &m->q->plan;

	plan->predicates = calloc(m->q->nconditions + 1, sizeof *plan->predicates);
	if (!plan->predicates)
		return no_memory(m);
	plan->npredicates = m->q->nconditions;
	plan->where = m->options->where ? 0 : PREDICATE_NONE;
	for (size_t i = 0; i < plan->npredicates; i++) {
		struct expr_request *r = &m->q->conditions[i];
		for (size_t j = 0; j < r->columns.nselectors; j++)
			r->expr.columns[j] = (uint32_t)m->demands[r->fields[j]].column;
		plan->predicates[i] = &r->expr;
	}
	return STATUS_OK;
}

/* What a new column shows, by operation. */
static const enum new_column_kind new_column_kinds[NOPERATIONS] = {
#define KIND_REDUCE(formula) 0
#define KIND_TABLE(formula) 0
#define KIND_TEXT(formula) 0
#define KIND_RECORDS(formula) 0
#define KIND_RUNNING(new_column) new_column
#define KIND_OFFSET(new_column) new_column
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
	[OPERATION_##id] = KIND_##kind(value),
#include "query/options.def"
};

/* The new columns, in the order of the command line. */
static enum status plan_new_columns(struct making *m)
{
	struct plan *plan = &m->q->plan;
	const struct header *h = &m->q->header;
	size_t predicate = plan->where == PREDICATE_NONE ? 0 : 1;

	plan->emits = m->options->emits;
	plan->only = m->options->only;
	plan->exclusive = m->options->exclusive;
	plan->inside_line = h->present && h->line[h->line_nbytes - 1] != '\n';
	if (!plan->emits)
		return STATUS_OK;
	plan->new_columns = calloc(m->q->nresults + 1, sizeof *plan->new_columns);
	if (!plan->new_columns)
		return no_memory(m);
	for (; plan->nnew_columns < m->q->nresults; plan->nnew_columns++) {
		const struct result *r = &m->q->results[plan->nnew_columns];
		struct new_column *s = &plan->new_columns[plan->nnew_columns];
		s->kind = new_column_kinds[r->operation];
		s->column = r->column;
		s->predicate = s->kind == NEW_OFFSET ? predicate++ : 0;
	}
	return STATUS_OK;
}

static void begin_plan(struct query *q, const struct options *options)
{
	q->plan.dialect = options->dialect;
	q->plan.notation = options->notation;
	q->plan.bad_record = options->invalid;
	q->plan.nmissing = options->nmissing;
	q->plan.missing = options->missing;
	q->guesses_delimiter = !options->has_delimiter && !options->dialect.whitespace;
	q->uses = options->uses;
	q->nthreads = options->nthreads;
	q->summary = options->nuses == 0 && !options->where;
	q->all = options->all;
	q->plan.ragged.policy = q->summary && !options->has_ragged ? RAGGED_COUNT : options->ragged;
	q->plan.counts_records = options->invalid == INVALID_SKIP;
	for (size_t i = 0; i < options->nuses; i++)
		q->plan.counts_records |= options->uses[i].operation == OPERATION_COUNT_RECORDS;
}

/* Whether '*' has found any column. */
static bool found_star(const struct query *q)
{
	for (size_t i = 0; i < q->nresults; i++)
		if (q->results[i].if_numeric)
			return true;
	return false;
}

static enum status demand(struct making *m)
{
	enum status status = m->q->summary ? demand_all(m) : demand_selected(m);

	return status == STATUS_OK ? demand_conditions(m) : status;
}

/* A column that the first record cannot have is the error, if that record was understood, before one of
 * its values or of what follows it. */
static enum status prefer_unknown(struct making *m, enum status status)
{
	struct fault *fault = m->fault, unknown;

	if (status == STATUS_NO_MEMORY || m->q->header.nnames == 0)
		return status;
	m->fault = &unknown;
	if (demand(m) != STATUS_OK && unknown.status == STATUS_UNKNOWN_COLUMN) {
		*fault = unknown;
		status = unknown.status;
	}
	m->fault = fault;
	return status;
}

static enum status make(struct making *m, struct input *input)
{
	struct query *q = m->q;
	enum status status = parse_selections(m);
	size_t nfields;

	if (status != STATUS_OK)
		return status;
	status = query_read_header(q, m->options, m->selections, m->nselections, input, m->fault);
	if (status != STATUS_OK)
		return prefer_unknown(m, status);
	status = demand(m);
	if (status == STATUS_OK && m->options->emits && q->star && !found_star(q))
		status = fault_set(m->fault, STATUS_NO_NUMERIC_COLUMN, 0, NULL);
	if (status == STATUS_OK)
		status = plan_columns(m);
	if (status == STATUS_OK)
		status = plan_predicates(m);
	if (status == STATUS_OK)
		status = plan_new_columns(m);
	nfields = q->header.nfields ? q->header.nfields : q->header.nnames;
	q->plan.dialect.one_column = nfields <= 1;
	q->plan.ragged.nfields = nfields ? (uint32_t)nfields : 1;
	q->plan.ragged.last_is_empty = q->header.ends_empty;
	q->plan.guesses_texts = q->summary && input_is_repeatable(input);
	if (q->plan.dialect.whitespace)
		q->plan.dialect.nfields = q->header.nfields;
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
	for (size_t i = 0; m.selections && i < m.nselections; i++)
		selection_free(&m.selections[i]);
	free(m.selections);
	free(m.demands);
	name_index_free(&m.index);
	return status;
}

void query_free(struct query *q)
{
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		free((char *)q->plan.columns[c].name);
	for (size_t i = 0; i < q->nconditions; i++)
		expr_free(&q->conditions[i]);
	free(q->conditions);
	free(q->plan.columns);
	free(q->plan.predicates);
	free(q->plan.new_columns);
	free(q->results);
	file_headers_free(&q->later);
	header_free(&q->header);
	memset(q, 0, sizeof *q);
}
