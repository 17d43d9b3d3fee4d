/* SPDX-License-Identifier: MIT
 *
 * query_header.c - see query_header.h.
 */
#include "query/query_header.h"

#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
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

/* ---- what is selected ---- */

/* All lists of columns: those of the command line, then those of conditions and of computed columns. */
struct selected {
	const struct selection **at; /* owned; NULL: out of memory */
	size_t n;
};

static struct selected list_selected(const struct query *q, const struct selection *selections,
				     size_t nselections)
{
	size_t nlets = query_count_let_requests(q);
	struct selected all = {malloc((nselections + q->nconditions + nlets + 1) * sizeof *all.at), 0};

	for (size_t i = 0; all.at && i < nselections; i++)
		all.at[all.n++] = &selections[i];
	for (size_t i = 0; all.at && i < q->nconditions; i++)
		all.at[all.n++] = &q->conditions[i].columns;
	for (size_t i = 0; all.at && i < nlets; i++)
		all.at[all.n++] = &query_let_request(q, i)->columns;
	return all;
}

/* Whether the second record must be read too: the first may be a header, and some selector is `*`, it is the summary, or
 * a note may be due on what a condition compares. */
static bool needs_second(const struct query *q, const struct options *o, const struct selected *all)
{
	struct field_range range;

	if (o->header == HEADER_NO)
		return false;
	for (size_t i = 0; i < all->n; i++)
		for (size_t j = 0; j < all->at[i]->nselectors; j++)
			if (selector_by_position(&all->at[i]->selectors[j], 0, &range) && range.star)
				return true;
	return q->summary || query_has_order_as_text(q);
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

/* Names the columns of an input without records after the selectors that are names, behind those
 * that are selected by number: it has every column that is asked for. */
static enum status name_blindly(struct header *h, const struct selected *all)
{
	size_t nselectors = 0, nfields = 0;
	struct field_range range;

	for (size_t i = 0; i < all->n; i++) {
		const struct selection *s = all->at[i];
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
	for (size_t i = 0; h->names && i < all->n; i++)
		for (size_t j = 0; j < all->at[i]->nselectors; j++)
			if (!all->at[i]->selectors[j].computed &&
			    header_add_name(h, &all->at[i]->selectors[j]) != STATUS_OK)
				return STATUS_NO_MEMORY;
	return h->names ? STATUS_OK : STATUS_NO_MEMORY;
}

/* An input without any byte has no column of a name: what writes it may have failed. */
static enum status check_empty(const struct query *q, const struct input *input,
			       const struct selected *all, struct fault *fault)
{
	struct field_range range;

	for (size_t i = 0; !q->header.has_byte && i < all->n; i++)
		for (size_t j = 0; j < all->at[i]->nselectors; j++) {
			const struct selector *s = &all->at[i]->selectors[j];
			if (s->computed || selector_is_position(s) ||
			    selector_by_position(s, 0, &range))
				continue;
			fault_set_value(fault, STATUS_EMPTY, s->text, strlen(s->text));
			fault->file = input_name(input, 0);
			return STATUS_EMPTY;
		}
	return STATUS_OK;
}

enum status query_read_first(struct query *q, const struct options *o, const struct selection *selections,
			     size_t nselections, struct input *input, struct fault *fault)
{
	struct selected all = list_selected(q, selections, nselections);
	struct header *h = &q->header;
	bool of_words = q->plan.dialect.whitespace && o->header != HEADER_NO;
	enum status status = all.at ? skip_preamble(q, o, input, fault)
				    : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);

	if (status == STATUS_OK)
		status = header_read(h, input, &q->plan, fault);
	q->guesses_delimiter &= q->plan.dialect.delimiter == ',';
	if (status == STATUS_OK && of_words)
		status = header_line_up(h, input, &q->plan, fault);
	if (status == STATUS_OK && needs_second(q, o, &all))
		status = header_read_below(h, input, &q->plan, fault);
	if (status == STATUS_OK && !o->emits && !q->summary && !of_words && o->header != HEADER_NO)
		status = header_find_units(h, input, &q->plan, fault);
	free(all.at);
	return status;
}

static enum status read_header(struct query *q, const struct options *o, struct selection *selections,
			       size_t nselections, struct input *input, const struct selected *all,
			       struct fault *fault)
{
	const struct header_request request = {o->header, all->at, all->n, q->summary, o->emits};
	struct header *h = &q->header;
	enum status status = cut_pairs(h, selections, nselections, fault);

	if (status == STATUS_OK)
		status = header_decide(h, input, &q->plan, &request, fault);
	if (status == STATUS_OK && (h->present || h->reason == HEADER_ALL_NUMBERS))
		status = file_headers_init(&q->later, h, &q->plan, o->header == HEADER_YES, input,
					   fault);
	if (status == STATUS_OK && h->nfields == 0 && name_blindly(h, all) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK && h->nfields == 0)
		status = check_empty(q, input, all, fault);
	if (status == STATUS_OK && o->emits && needs_second(q, o, all))
		status = header_read_second(h, input, &q->plan, fault);
	if (h->present && h->line) { /* else memory ran out */
		q->plan.header = h->line;
		q->plan.header_nbytes = h->end - h->begin;
		q->plan.line_below_header = h->line_number + count_lines(h->line, h->line_nbytes);
	}
	return status;
}

enum status query_read_header(struct query *q, const struct options *o,
			      struct selection *selections, size_t nselections,
			      struct input *input, struct fault *fault)
{
	struct selected all = list_selected(q, selections, nselections);
	enum status status = all.at ? read_header(q, o, selections, nselections, input, &all, fault)
				    : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);

	free(all.at);
	return status;
}

enum status query_use_header(struct query *q, struct selection *selections, size_t nselections,
			     struct fault *fault)
{
	struct selected all = list_selected(q, selections, nselections);
	enum status status = cut_pairs(&q->header, selections, nselections, fault);

	if (status == STATUS_OK && q->header.nfields == 0 &&
	    (!all.at || name_blindly(&q->header, &all) != STATUS_OK))
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	free(all.at);
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
