/* SPDX-License-Identifier: MIT
 *
 * query.c - see query.h.
 */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expr.h"
#include "query/expr_value.h"
#include "query/query_fields.h"
#include "query/query_header.h"
#include "query/query_lets.h"
#include "query/query_making.h"
#include "query/query_renames.h"
#include "query/select.h"
#include "query/summary.h"

#define FEW_SELECTORS 16

static enum status no_memory(struct making *m)
{
	return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* ---- what the options say ---- */

enum status making_parsed(struct making *m, enum status status, const char *option, const char *text,
			  const struct expr_request *r)
{
	const struct first_record *first = &m->q->header.record[0];
	const char **taken;

	if (status != STATUS_USAGE || !r->may_be_name)
		return status;
	if (m->waits_for_names) {
		m->needs_names = true;
		return STATUS_OK;
	}
	if (r->value_end == 0)
		return status;
	taken = calloc(first->nfields + 1, sizeof *taken);
	for (size_t i = 0; taken && i < first->nfields; i++)
		taken[i] = first->values[i].text;
	expr_suggest_let(option, text, &m->names, taken, taken ? first->nfields : 0, m->fault);
	free(taken);
	return status;
}

static enum status parse_condition(struct making *m, const char *option, const char *text)
{
	struct expr_request *r = &m->q->conditions[m->q->nconditions++];

	return making_parsed(m, expr_parse(r, option, text, &m->names, m->fault), option, text, r);
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

	if (status == STATUS_OK)
		status = query_parse_lets(m);
	m->selections = calloc(o->nuses + o->nrenames + 1, sizeof *m->selections);
	m->let_demands = calloc(m->q->nlets + 1, sizeof *m->let_demands);
	if (!m->selections || !m->let_demands)
		return no_memory(m);
	for (size_t i = 0; status == STATUS_OK && i < o->nuses; i++) {
		struct selection *to = &m->selections[m->nselections++];
		if (operation_has_columns(o->uses[i].operation))
			status = parse_columns(m, &o->uses[i], to);
	}
	if (status == STATUS_OK && o->by) {
		m->keys_selection = m->nselections++;
		status = selection_parse(o->by, &m->selections[m->keys_selection], m->fault);
	}
	if (status == STATUS_OK)
		status = query_parse_renames(m);
	if (status == STATUS_OK)
		query_mark_all_computed(m);
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

struct demand *making_demand(struct making *m, size_t field)
{
	if (field >= FIELD_COMPUTED)
		return &m->let_demands[field - FIELD_COMPUTED];
	return grow_demands(m, field + 1) == STATUS_OK ? &m->demands[field] : NULL;
}

enum status making_add_result(struct making *m, struct result result)
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

enum status making_demand_values(struct making *m, enum operation operation, uint32_t field, bool star)
{
	struct demand *d = making_demand(m, field);

	if (!d)
		return STATUS_NO_MEMORY;
	d->selected = true;
	d->needs |= m->q->summary ? summary_needs(m->options->all) : operation_needs(operation);
	d->needs |= m->q->matrix ? MOMENT_SQUARES : 0; /* for its diagonal */
	d->star |= star;
	d->number |= star ? m->options->emits : !operation_takes_text(operation);
	d->counts_text |= operation_takes_text(operation) && !star;
	return STATUS_OK;
}

static bool is_key(const struct making *m, uint32_t field)
{
	return field < m->ndemands && m->demands[field].is_key;
}

/* Asks operation of one field. Until the plan is made, the new result's column is the field. */
static enum status demand_field(struct making *m, enum operation operation, uint32_t field,
				bool star)
{
	const struct options *o = m->options;
	bool unfit = star && query_starts_unfit(m->q, o, field);

	if (star && is_key(m, field))
		return STATUS_OK;
	if (unfit && !o->partial && !o->merge) /* a part has what may be a number in other parts */
		return STATUS_OK;
	if (making_demand_values(m, operation, field, star) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (unfit && !o->partial)
		return STATUS_OK;
	return making_add_result(m, (struct result){operation, .column = field, .if_numeric = star});
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

/* In an empty input, a position is not one of the columns that name_blindly made. */
static enum status resolve(struct making *m, const struct selector *s, struct field_range *range)
{
	const struct header *h = &m->q->header;
	bool blindly = h->nfields == 0 && selector_by_position(s, 0, range);

	if (s->computed) {
		*range = (struct field_range){FIELD_COMPUTED + s->computed - 1,
					      FIELD_COMPUTED + s->computed - 1, false};
		return STATUS_OK;
	}
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
			status = making_demand_values(m, operation, sides[i].first, false);
		if (status != STATUS_OK)
			return status;
	}
	return making_add_result(m, (struct result){.operation = operation, .column = sides[0].first,
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

/* A computed column, the *n-th, is printed where records are. */
static enum status demand_let(struct making *m, size_t *n)
{
	uint32_t field = FIELD_COMPUTED + (uint32_t)(*n)++;

	if (!m->options->emits || m->options->selects || picture_is_asked(&m->options->picture))
		return STATUS_OK;
	if (making_demand_values(m, OPERATION_LET_COLUMN, field, false) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return making_add_result(m, (struct result){.operation = OPERATION_LET_COLUMN, .column = field});
}

static enum status demand_selected(struct making *m)
{
	struct field_range range;
	enum status status = STATUS_OK;
	size_t nresults = 0, nlets = 0;

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
			if (status == STATUS_OK && operation_kind(use->operation) == OPERATION_FIELDS)
				status = query_demand_fields(m, use->operation, range);
			else if (status == STATUS_OK)
				status = demand_range(m, use->operation, range);
		}
		if (status == STATUS_OK && use->operation == OPERATION_DROP)
			status = query_demand_left(m, i);
		if (operation_kind(use->operation) == OPERATION_LET) {
			status = status == STATUS_OK ? demand_let(m, &nlets) : status;
		} else if (status == STATUS_OK && !operation_has_columns(use->operation)) {
			status = making_add_result(m, (struct result){.operation = use->operation});
		}
		if (status == STATUS_OK && operation_kind(use->operation) == OPERATION_TABLE &&
		    (m->q->star || m->q->nresults != 1))
			status = option_fault(m->fault, "--%s: '%.64s' is not one column",
					      operation_name(use->operation), use->argument);
		for (; nresults < m->q->nresults; nresults++)
			m->q->results[nresults].use = (uint32_t)i;
	}
	return status;
}

/* Makes a range of fields keys. */
static enum status demand_key(struct making *m, struct field_range range)
{
	uint32_t *grown = realloc(m->keys, (m->nkeys + range.last - range.first + 1) * sizeof *grown);

	if (!grown)
		return no_memory(m);
	m->keys = grown;
	for (uint32_t field = range.first; field <= range.last; field++) {
		struct demand *d = making_demand(m, field);
		if (!d)
			return STATUS_NO_MEMORY;
		d->selected = d->is_key = true;
		m->keys[m->nkeys++] = field;
	}
	return STATUS_OK;
}

/* The columns of --by. */
static enum status demand_keys(struct making *m)
{
	const struct selection *s = &m->selections[m->keys_selection];
	enum status status = STATUS_OK;
	struct field_range range;

	if (!m->options->by)
		return STATUS_OK;
	m->nkeys = 0;
	for (size_t i = 0; status == STATUS_OK && i < s->nselectors; i++) {
		status = resolve(m, &s->selectors[i], &range);
		if (status == STATUS_OK && range.star)
			status = option_fault(m->fault, "--by: '*' is not a column: name those that make a "
					      "group");
		if (status == STATUS_OK)
			status = demand_key(m, range);
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
			struct demand *d = making_demand(m, r->fields[j]);
			if (!d)
				status = STATUS_NO_MEMORY;
			else
				d->selected = true;
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

/* ---- all of it ---- */

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
	enum status status = index_names(m);

	if (status == STATUS_OK)
		status = query_resolve_lets(m);
	if (status == STATUS_OK)
		status = demand_keys(m); /* first: '*' leaves them out */
	if (status == STATUS_OK)
		status = m->q->summary ? demand_all(m) : demand_selected(m);
	if (status == STATUS_OK)
		status = demand_conditions(m);
	if (status == STATUS_OK)
		status = query_find_renames(m);
	return status == STATUS_OK ? query_demand_lets(m) : status; /* last: what they need */
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

static void free_parsed(struct making *m)
{
	struct query *q = m->q;

	for (size_t i = 0; m->selections && i < m->nselections; i++)
		selection_free(&m->selections[i]);
	for (size_t i = 0; i < q->nconditions; i++)
		expr_free(&q->conditions[i]);
	for (size_t i = 0; i < q->nlets; i++)
		let_free(&q->lets[i]);
	free(m->selections);
	free(m->let_demands);
	free(q->conditions);
	free(q->lets);
	m->selections = NULL;
	m->let_demands = NULL;
	q->conditions = NULL;
	q->lets = NULL;
	m->nselections = q->nconditions = q->nlets = 0;
}

static enum status add_signed_name(struct making *m, const char *name)
{
	const char **grown;

	if (!name || !expr_is_signed_name(name))
		return STATUS_OK;
	grown = realloc(m->names.at, (m->names.n + 1) * sizeof *grown);
	if (!grown)
		return no_memory(m);
	m->names.at = grown;
	m->names.at[m->names.n++] = name;
	return STATUS_OK;
}

/* Parses what the options say, by the names with signs that the first record has. */
static enum status parse_by_names(struct making *m, bool has_record)
{
	const struct header *h = &m->q->header;
	size_t n = !has_record ? h->nnames : m->options->header == HEADER_NO ? 0 : h->record[0].nfields;
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < n; i++)
		status = add_signed_name(m, has_record ? h->record[0].values[i].text : h->names[i]);
	m->waits_for_names = false;
	if (status != STATUS_OK || (has_record && m->names.n == 0 && !m->needs_names))
		return status;
	free_parsed(m);
	return parse_selections(m);
}

/* Parses what the options say: usage errors come before the input is read. An expression may have names with signs, so its
 * own come after its first record. input: as in make. */
static enum status parse(struct making *m, struct input *input)
{
	enum status status;

	if (!input)
		return parse_by_names(m, false);
	m->waits_for_names = true;
	status = parse_selections(m);
	if (status == STATUS_OK)
		status = query_read_first(m->q, m->options, m->selections, m->nselections, input, m->fault);
	return status == STATUS_OK ? parse_by_names(m, true) : status;
}

/* input: NULL: the query has its header. */
static enum status make(struct making *m, struct input *input)
{
	struct query *q = m->q;
	enum status status = parse(m, input);
	size_t nfields;

	if (status != STATUS_OK)
		return status;
	status = input ? query_read_header(q, m->options, m->selections, m->nselections, input, m->fault)
		       : query_use_header(q, m->selections, m->nselections, m->fault);
	if (status != STATUS_OK)
		return prefer_unknown(m, status);
	status = demand(m);
	if (status == STATUS_OK && m->options->emits && q->star && !found_star(q))
		status = fault_set(m->fault, STATUS_NO_NUMERIC_COLUMN, 0, NULL);
	if (status == STATUS_OK)
		status = query_make_plan(m);
	nfields = q->header.nfields ? q->header.nfields : q->header.nnames;
	q->plan.dialect.one_column = nfields <= 1;
	q->plan.ragged.nfields = nfields ? (uint32_t)nfields : 1;
	q->plan.ragged.last_is_empty = q->header.ends_empty;
	q->plan.guesses_texts = q->summary && input && input_is_repeatable(input);
	if (q->plan.dialect.whitespace)
		q->plan.dialect.nfields = q->header.nfields;
	if (status == STATUS_OK && input && plan_use_layout(&q->plan, q->header.layout) != STATUS_OK)
		status = fault_set(m->fault, STATUS_ALIGNED_ONLY, 0, NULL);
	if (status == STATUS_OK && input)
		query_seek_header(q, m->options->partial);
	return status;
}

/* input: as in make. */
static enum status make_and_free(struct query *q, const struct options *options, struct input *input,
				 struct fault *fault)
{
	struct making m = {.q = q, .options = options, .fault = fault};
	enum status status = make(&m, input);

	for (size_t i = 0; m.selections && i < m.nselections; i++)
		selection_free(&m.selections[i]);
	free(m.selections);
	free(m.names.at);
	free(m.demands);
	free(m.let_demands);
	free(m.keys);
	name_index_free(&m.index);
	return status;
}

enum status query_make(struct query *q, const struct options *options, struct input *input,
		       struct fault *fault)
{
	memset(q, 0, sizeof *q);
	query_begin_plan(q, options);
	return make_and_free(q, options, input, fault);
}

enum status query_make_again(struct query *q, const struct options *options, struct header *header,
			     struct fault *fault)
{
	memset(q, 0, sizeof *q);
	query_begin_plan(q, options);
	q->header = *header;
	memset(header, 0, sizeof *header);
	return make_and_free(q, options, NULL, fault);
}

void query_free(struct query *q)
{
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		free((char *)q->plan.columns[c].name);
	for (size_t i = 0; i < q->nconditions; i++)
		expr_free(&q->conditions[i]);
	for (size_t i = 0; i < q->nlets; i++)
		let_free(&q->lets[i]);
	free(q->lets);
	free(q->renames);
	free(q->conditions);
	free(q->plan.columns);
	free(q->plan.keys);
	free(q->plan.pairs);
	free(q->plan.predicates);
	free(q->plan.new_columns);
	free(q->plan.windows);
	free(q->results);
	file_headers_free(&q->later);
	header_free(&q->header);
	memset(q, 0, sizeof *q);
}
