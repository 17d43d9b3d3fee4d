/* SPDX-License-Identifier: MIT
 *
 * merge_query.c - see merge_query.h.
 */
#include "cluster/merge_query.h"

#include <stdlib.h>

#include "cluster/part_lines.h"
#include "fold/groups.h"
#include "fold/result.h"
#include "fold/values_select.h"
#include "query/options.h"

/* Sets how results are printed, and with what, to what the command line says. */
static void set_given(struct options *o, const struct options *given)
{
	o->format = given->format;
	o->sort = given->sort;
	o->top = given->top;
	o->picture = given->picture;
	o->merge = true;
	o->partial = given->partial;
	o->memory_nbytes = given->memory_nbytes;
	o->nthreads = given->nthreads;
	o->verbose = given->verbose;
	o->device = DEVICE_CPU;
}

/* Checks what is printed against the parts' query. */
static enum status check_given(struct options *o, struct fault *fault)
{
	enum status status;

	o->merge = false;
	status = options_check(o, fault);
	o->merge = true;
	return status;
}

/* Whether '*' leaves the column out because its first value is a text: one run would not have read its
 * numbers. */
static bool is_unfit(const struct plan_column *column)
{
	return column->if_numeric && column->begins_as_text && column->invalid != INVALID_TEXT;
}

/* What other operations ask of such a column they take as text. */
static void take_unfit_as_text(struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (is_unfit(&plan->columns[c])) {
			plan->columns[c].if_numeric = false;
			plan->columns[c].takes_text = true;
		}
}

void merge_forget_unasked(struct merge *m)
{
	const struct query *q = m->query;
	bool *is_asked = calloc(q->plan.ncolumns + 1, sizeof *is_asked);

	for (size_t i = 0; is_asked && i < q->nresults; i++) {
		is_asked[q->results[i].column] = true;
		is_asked[q->results[i].other] = true;
	}
	for (size_t c = 0; is_asked && c < q->plan.ncolumns; c++)
		if (!is_asked[c] && !q->plan.columns[c].is_key)
			column_clear(&m->total->partial.columns[c]);
	free(is_asked);
}

void merge_use_header(struct plan *plan, const char *line, size_t nbytes, bool is_sought)
{
	plan->header = line;
	plan->header_nbytes = nbytes;
	plan->sought = is_sought ? sought_header_of(line, nbytes, &plan->dialect) : (struct sought_header){.text = NULL};
}

enum status merge_begin(struct merge *m)
{
	enum status status = asked_parse(&m->first.asked, m->options, m->fault);

	if (status != STATUS_OK)
		return status;
	set_given(m->options, &m->given);
	status = check_given(m->options, m->fault);
	if (m->options->emits && status != STATUS_NO_MEMORY) /* results are what a part is of */
		return fault_set(m->fault, m->options->nuses ? STATUS_PART_RECORDS : STATUS_PART_DAMAGED, 0, NULL);
	if (status == STATUS_OK)
		status = query_make_again(m->query, m->options, &m->first.header, m->fault);
	if (status != STATUS_OK)
		return status;
	if (m->query->header.present)
		merge_use_header(&m->query->plan, m->query->header.line, m->query->header.line_nbytes,
				 m->first.seeks_header);
	m->query->plan.counts_records = true;
	if (m->options->partial)
		plan_as_part(&m->query->plan);
	else
		take_unfit_as_text(&m->query->plan);
	values_focus_set(NULL, false);
	m->has_begun = true;
	if (groups_plan(&m->query->plan, 0) != STATUS_OK || total_init(m->total, &m->query->plan) != STATUS_OK)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	m->lines = part_lines_begin(&m->query->plan, &m->total->partial, m->options->nthreads);
	return m->lines ? STATUS_OK : fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
}

bool merge_lacks_note(const struct merge *m)
{
	const struct plan *plan = &m->query->plan;
	const struct partial *p = &m->total->partial;

	for (size_t c = 0; c < plan->ncolumns; c++)
		if (result_nleft_out(&plan->columns[c], &p->columns[c]) > 0 && !total_note_of_values(m->total, c))
			return true;
	return (p->nragged > 0 && !total_note_of_ragged(m->total)) ||
	       (p->nheaders > 0 && !total_note_of_headers(m->total)) ||
	       (p->nundecided > 0 && !total_note_of_undecided(m->total));
}

enum status merge_check(const struct merge *m, struct fault *fault)
{
	const struct plan *plan = &m->query->plan;
	const struct note *first = NULL;

	if (merge_lacks_note(m))
		return fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct column_partial *column = &m->total->partial.columns[c];
		const struct note *note = total_note_of_values(m->total, c);
		if (!plan->columns[c].if_numeric || plan->columns[c].invalid != INVALID_ERROR ||
		    column_kind(column) != COLUMN_NUMBER || column->ninvalid == 0 || !note)
			continue;
		if (!first || note->file < first->file || (note->file == first->file && note->line < first->line))
			first = note;
	}
	if (!first)
		return STATUS_OK;
	note_read(first, fault);
	fault->file = m->inputs[first->file];
	return fault->status;
}
