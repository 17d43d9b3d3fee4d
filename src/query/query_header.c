/* SPDX-License-Identifier: MIT
 *
 * query_header.c - see query_header.h.
 */
#include "query/query_header.h"

#include <stdlib.h>
#include <string.h>

#include "query/query_lets.h"

static enum status skip_preamble(struct query *q, const struct options *o, struct input *input,
				 struct fault *fault)
{
	const struct preamble preamble = {
		.nlines = o->nskipped_lines,
		.seeks_delimiter = q->guesses_delimiter,
		.dialect = &q->plan.dialect,
	};

	return input_skip_preamble(input, &preamble, fault);
}

/* Whether the second record must be read too: the first may be a header, and some selector is `*`, or
 * nothing is selected, or the header's last name may have several words. */
static bool needs_second(const struct options *o, const struct selection *selections,
			 size_t nselections)
{
	struct field_range range;
	size_t nselectors = 0;

	if (o->header == HEADER_NO)
		return false; /* a fault in it would hide one of the first record */
	for (size_t i = 0; i < nselections; i++) {
		const struct selection *s = &selections[i];
		nselectors += s->nselectors;
		for (size_t j = 0; j < s->nselectors; j++)
			if (selector_by_position(&s->selectors[j], 0, &range) && range.star)
				return true;
	}
	return o->dialect.whitespace || (nselectors == 0 && o->header == HEADER_AUTO);
}

/* Reads the record behind the header, and requires one behind a header that was guessed. */
static enum status read_second(struct query *q, struct input *input, bool wanted,
			       struct fault *fault)
{
	struct header *h = &q->header;
	enum status status;

	if (!h->guess && !wanted)
		return STATUS_OK;
	status = header_read_second(h, input, &q->plan, fault);
	if (status != STATUS_OK || !h->guess || h->has_second)
		return status;
	fault_set(fault, STATUS_LONE_HEADER, 0, NULL);
	fault->file = input_name(input, h->file);
	fault->line = h->line_number;
	return STATUS_LONE_HEADER;
}

/* ---- what tells of a header ---- */

enum status query_select_telling(const struct expr_request *r, struct selection *to)
{
	struct field_range ignored;

	to->selectors = calloc(r->columns.nselectors + 1, sizeof *to->selectors);
	if (!to->selectors)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < r->columns.nselectors; i++) {
		const struct selector *s = &r->columns.selectors[i];
		struct selector *copy = &to->selectors[to->nselectors];
		if (!(r->uses[i] & EXPR_AS_NUMBER) && selector_by_position(s, 0, &ignored))
			continue;
		*copy = (struct selector){.text = strdup(s->text), .quoted = s->quoted,
					  .computed = s->computed};
		if (!copy->text)
			return STATUS_NO_MEMORY;
		to->nselectors++;
	}
	return STATUS_OK;
}

static bool has_joined(const struct selection *s)
{
	for (size_t i = 0; i < s->nselectors; i++)
		if (s->selectors[i].joined)
			return true;
	return false;
}

/* Cuts the pairs of columns that have several colons, now that the first record is known. */
static enum status cut_pairs(const struct header *h, struct selection *selections,
			     size_t nselections, struct fault *fault)
{
	const struct first_record *first = &h->record[0];
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < nselections; i++) {
		struct name_index names;
		if (!has_joined(&selections[i]))
			continue;
		if (name_index_init(&names, first->nfields) != STATUS_OK)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		for (size_t j = 0; j < first->nfields; j++)
			name_index_add(&names, first->values[j].text, j);
		name_index_sort(&names);
		status = selection_cut_pairs(&selections[i], &names, first->nfields, fault);
		name_index_free(&names);
	}
	return status;
}

/* ---- no records ---- */

/* All that is selected: the columns of operations, then those of conditions, then --by's, then what
 * computed columns are made of. */
static const struct selection *selection_at(const struct query *q, const struct options *o,
					    const struct selection *selections, size_t i)
{
	if (i >= o->nuses && i < o->nuses + q->nconditions)
		return &q->conditions[i - o->nuses].columns;
	i -= o->nuses + q->nconditions + (o->by != NULL);
	if (i < query_count_let_requests(q))
		return &query_let_request(q, i)->columns;
	i += o->nuses + q->nconditions + (o->by != NULL);
	return &selections[i];
}

/* Names the columns of an input without records after the selectors that are names, behind those
 * that are selected by number: it has every column that is asked for. */
static enum status name_blindly(struct query *q, const struct options *o,
				const struct selection *selections)
{
	struct header *h = &q->header;
	size_t nselections = o->nuses + q->nconditions + (o->by != NULL) +
			     query_count_let_requests(q), nselectors = 0, nfields = 0;
	struct field_range range;

	for (size_t i = 0; i < nselections; i++) {
		const struct selection *s = selection_at(q, o, selections, i);
		nselectors += s->nselectors;
		for (size_t j = 0; j < s->nselectors; j++)
			if (!s->selectors[j].computed &&
			    selector_by_position(&s->selectors[j], 0, &range) &&
			    range.last >= nfields)
				nfields = (size_t)range.last + 1;
	}
	free(h->names);
	h->nnames = nfields;
	h->names = calloc(nfields + nselectors + 1, sizeof *h->names);
	for (size_t i = 0; h->names && i < nselections; i++) {
		const struct selection *s = selection_at(q, o, selections, i);
		for (size_t j = 0; j < s->nselectors; j++)
			if (!s->selectors[j].computed &&
			    header_add_name(h, &s->selectors[j]) != STATUS_OK)
				return STATUS_NO_MEMORY;
	}
	return h->names ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status query_read_first(struct query *q, const struct options *o, const struct selection *selections,
			     size_t nselections, struct input *input, struct fault *fault)
{
	enum status status = skip_preamble(q, o, input, fault);

	if (status == STATUS_OK)
		status = header_read(&q->header, input, &q->plan, needs_second(o, selections, nselections), fault);
	q->guesses_delimiter &= q->plan.dialect.delimiter == ',';
	return status;
}

enum status query_read_header(struct query *q, const struct options *o,
			      struct selection *selections, size_t nselections,
			      struct input *input, struct fault *fault)
{
	bool and_second = needs_second(o, selections, nselections);
	struct header *h = &q->header;
	enum status status = cut_pairs(h, selections, nselections, fault);

	if (status == STATUS_OK)
		status = header_decide(h, input, o->header, selections, nselections, q->summary,
				       fault);
	if (status == STATUS_OK && h->present)
		status = file_headers_init(&q->later, h, &q->plan, o->header == HEADER_YES, input,
					   fault);
	if (status == STATUS_OK && h->nfields == 0 && name_blindly(q, o, selections) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK)
		status = read_second(q, input, o->emits && and_second, fault);
	if (h->present) {
		q->plan.header = h->line;
		q->plan.header_nbytes = h->end - h->begin;
	}
	return status;
}

enum status query_use_header(struct query *q, const struct options *o,
			     struct selection *selections, size_t nselections, struct fault *fault)
{
	enum status status = cut_pairs(&q->header, selections, nselections, fault);

	if (status == STATUS_OK && q->header.nfields == 0 && name_blindly(q, o, selections) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return status;
}

/* ---- what '*' means ---- */

/* Whether --invalid skip leaves the record out because it is ragged. */
static bool is_left_out(const struct query *q, const struct options *o,
			const struct first_record *r)
{
	const struct ragged_rule rule = {.policy = q->plan.ragged.policy,
					 .nfields = (uint32_t)q->header.nfields,
					 .last_is_empty = q->header.ends_empty};
	uint32_t n = (uint32_t)r->nfields;
	bool ends_empty = n > 0 && r->values[n - 1].has_no_byte;

	return o->invalid == INVALID_SKIP && n > 0 && ragged_is(&rule, n, ends_empty) &&
	       !ragged_is_taken(&rule, n);
}

bool query_starts_unfit(const struct query *q, const struct options *o, uint32_t field)
{
	const struct header *h = &q->header;
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	if (field >= r->nfields || (!o->emits && is_left_out(q, o, r)))
		return o->emits;
	return !r->values[field].is_number && (o->emits || !r->values[field].is_missing);
}
