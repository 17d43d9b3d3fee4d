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
#include "query/query_pairs.h"
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

/* Parses the columns, or pairs of columns, of an operation. */
static enum status parse_columns(struct making *m, const struct operation_use *use,
				 struct selection *to)
{
	if (operation_kind(use->operation) == OPERATION_PAIR && !operation_use_is_matrix(use))
		return selection_parse_pairs(use->argument, to, m->fault);
	return selection_parse(use->argument, to, m->fault);
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
			status = parse_columns(m, &o->uses[i], to);
		to->takes_text = operation_takes_text(o->uses[i].operation);
	}
	for (size_t i = 0; status == STATUS_OK && i < m->q->nconditions; i++)
		if (query_select_telling(&m->q->conditions[i],
					 &m->selections[m->nselections++]) != STATUS_OK)
			return no_memory(m);
	return status;
}

/* ---- what is asked of the fields ---- */

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

/* Asks for what operation needs of one field. */
static enum status demand_values(struct making *m, enum operation operation, uint32_t field,
				 bool star)
{
	struct demand *d;

	if (grow_demands(m, (size_t)field + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	d = &m->demands[field];
	d->selected = true;
	d->needs |= m->q->summary ? summary_needs(m->options->all) : operation_needs(operation);
	d->needs |= m->q->matrix ? MOMENT_SQUARES : 0; /* for its diagonal */
	d->star |= star;
	d->number |= star ? m->options->emits : !operation_takes_text(operation);
	d->counts_text |= operation_takes_text(operation) && !star;
	return STATUS_OK;
}

/* Asks operation of one field. Until the plan is made, the new result's column is the field. */
static enum status demand_field(struct making *m, enum operation operation, uint32_t field,
				bool star)
{
	if (star && query_starts_unfit(m->q, m->options, field))
		return STATUS_OK;
	if (demand_values(m, operation, field, star) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return add_result(m, (struct result){operation, .column = field, .if_numeric = star});
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

/* Asks operation of a pair of columns. */
static enum status demand_pair(struct making *m, enum operation operation,
			       const struct selector pair[2])
{
	struct field_range sides[2];

	for (int i = 0; i < 2; i++) {
		enum status status = resolve(m, &pair[i], &sides[i]);
		if (status == STATUS_OK && (sides[i].star || sides[i].first != sides[i].last))
			status = option_fault(m->fault, "--%s: '%.64s' is not one column",
					      operation_name(operation), pair[i].text);
		if (status == STATUS_OK)
			status = demand_values(m, operation, sides[i].first, false);
		if (status != STATUS_OK)
			return status;
	}
	return add_result(m, (struct result){.operation = operation, .column = sides[0].first,
						     .other = sides[1].first});
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
		bool in_pairs = !m->q->matrix && operation_kind(use->operation) == OPERATION_PAIR;
		for (size_t j = 0; status == STATUS_OK && j < s->nselectors; j += 1 + in_pairs) {
			if (in_pairs) {
				status = demand_pair(m, use->operation, &s->selectors[j]);
				continue;
			}
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

static enum status plan_column(struct making *m, size_t field)
{
	struct plan *plan = &m->q->plan;
	struct demand *d = &m->demands[field];
	struct plan_column *c = &plan->columns[plan->ncolumns];

	c->field = (uint32_t)field;
	c->name = header_column_name(&m->q->header, field);
	c->needs = d->needs;
	c->takes_text = (d->needs & MOMENT_ENDS) && !d->number && !d->star;
	c->parses = d->number || d->star || c->takes_text;
	c->if_numeric = m->q->summary || (d->star && !d->number);
	c->counts_text = d->counts_text;
	c->invalid = m->q->summary ? INVALID_TEXT : m->options->invalid;
	c->nkeys_most = m->q->summary ? SUMMARY_NKEYS_MOST : 0;
	c->begins_as_text = query_starts_unfit(m->q, m->options, (uint32_t)field);
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
	for (size_t i = 0; status == STATUS_OK && i < q->nresults; i++) {
		if (!operation_has_columns(q->results[i].operation))
			continue;
		q->results[i].column = m->demands[q->results[i].column].column;
		q->results[i].other = (uint32_t)m->demands[q->results[i].other].column;
	}
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
#define KIND_PAIR(formula) 0
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
	for (size_t i = 0; i < options->nuses; i++) {
		q->plan.counts_records |= options->uses[i].operation == OPERATION_COUNT_RECORDS;
		q->matrix |= operation_use_is_matrix(&options->uses[i]);
	}
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
		status = query_plan_pairs(q, m->fault);
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
	free(q->plan.pairs);
	free(q->plan.predicates);
	free(q->plan.new_columns);
	free(q->results);
	file_headers_free(&q->later);
	header_free(&q->header);
	memset(q, 0, sizeof *q);
}
