/* SPDX-License-Identifier: MIT
 *
 * merge_head.c - see merge_head.h.
 */
#include "cluster/merge_head.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/merge_query.h"
#include "cluster/part_order.h"
#include "query/options.h"
#include "query/select.h"

enum status merge_fail(struct merge *m, const struct part_file *f, enum status status, const char *words)
{
	fault_set(m->fault, status, 0, words);
	m->fault->file = f->text.name;
	m->fault->line = f->text.nlines;
	return status;
}

/* ---- the query ---- */

/* The first option of one list that differs from the other's. */
static const char *find_difference(const struct asked *a, const struct asked *b)
{
	size_t i = 0;

	while (i < a->n && i < b->n && !strcmp(a->at[i], b->at[i]))
		i++;
	return i < a->n ? a->at[i] : b->at[i];
}

/* Compares a part's query with the first part's, or with the command line's. */
static enum status check_query(struct merge *m, const struct part_file *f, const struct part_head *head)
{
	if (m->has_head && !asked_equal(&head->asked, &m->first.asked))
		return merge_fail(m, f, STATUS_PART_QUERY, find_difference(&head->asked, &m->first.asked));
	if (m->is_state)
		return asked_equal(&head->asked, &m->options->asked)
			       ? STATUS_OK
			       : merge_fail(m, f, STATUS_STATE_QUERY,
				      find_difference(&head->asked, &m->options->asked));
	if (m->given.asked.n && !asked_equal(&head->asked, &m->given.asked))
		return option_fault(m->fault, "--merge: the query is that of the parts, which differs in %.100s: "
				    "leave it out", find_difference(&m->given.asked, &head->asked));
	return STATUS_OK;
}

/* ---- heads ---- */

/* is_same: the first is the last of the parts before. */
static enum status add_inputs(struct merge *m, const struct part_head *head, bool is_same)
{
	char **grown = realloc(m->inputs, (m->ninputs + head->ninputs + 1) * sizeof *grown);

	if (!grown)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	m->inputs = grown;
	for (size_t i = is_same; i < head->ninputs; i++) {
		grown[m->ninputs] = strdup(head->inputs[i]);
		if (!grown[m->ninputs])
			return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
		m->ninputs++;
	}
	return STATUS_OK;
}

/* Makes the head the one from which the query is made: the first, but rather one whose input is not empty. */
static void prefer(struct merge *m, struct part_head *head)
{
	bool better = !m->has_head || (m->first.header.nfields == 0 && head->header.nfields > 0);

	if (m->has_begun || !better)
		return;
	part_head_free(&m->first);
	m->first = *head;
	memset(head, 0, sizeof *head);
	m->has_head = true;
}

static enum status map_part(struct merge *m, struct part_file *f, const struct part_head *head)
{
	size_t lacks = 0;
	enum status status;

	f->map = part_map_new();
	if (!f->map)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	status = part_map_make(&f->map->map, head, &m->query->plan, &lacks);
	f->map->map.offset_bytes = f->offset_bytes;
	if (status == STATUS_OK && lacks == m->query->plan.ncolumns)
		return STATUS_OK;
	merge_fail(m, f, status == STATUS_OK ? STATUS_HEADER_LACKS : status, NULL);
	if (status == STATUS_OK)
		m->fault->column = m->query->plan.columns[lacks].name;
	return m->fault->status;
}

/* Whether a record that is the header again is told by the same bytes as the run's header. */
static bool is_headed_alike(const struct plan *run, const struct part_head *head)
{
	return head->seeks_header == (run->sought.nbytes > 0) && head->header.line_nbytes == run->header_nbytes &&
	       (run->header_nbytes == 0 || !memcmp(head->header.line, run->header, run->header_nbytes));
}

/* Whether the part's columns are where the run's are, in as many fields, below the same header. */
static bool is_placed_alike(const struct merge *m, const struct part_file *f, const struct part_head *head)
{
	const struct plan *run = &m->query->plan;

	for (size_t i = 0; i < head->ncolumns; i++)
		if (f->map->map.columns[i] != SIZE_MAX && head->fields[i] != FIELD_COMPUTED &&
		    run->columns[f->map->map.columns[i]].field != head->fields[i])
			return false;
	return head->header.nfields == 0 || (head->header.nfields == run->ragged.nfields && is_headed_alike(run, head));
}

/* Makes a plan for the part's file, which the merge owns: folders point to it. */
static enum status make_plan(struct merge *m, struct part_file *f, struct part_head *head)
{
	const struct plan *run = &m->query->plan;
	struct plan_column *columns = malloc((run->ncolumns + 1) * sizeof *columns);
	struct file_plan *made = calloc(1, sizeof *made);

	if (!made || !columns) {
		free(made);
		free(columns);
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	}
	made->header = head->header.line;
	head->header.line = NULL;
	made->plan = *run;
	merge_use_header(&made->plan, made->header, head->header.line_nbytes, head->seeks_header);
	made->plan.columns = memcpy(columns, run->columns, run->ncolumns * sizeof *run->columns);
	for (size_t i = 0; i < head->ncolumns; i++)
		if (f->map->map.columns[i] != SIZE_MAX && head->fields[i] != FIELD_COMPUTED)
			columns[f->map->map.columns[i]].field = (uint32_t)head->fields[i];
	made->plan.ragged.nfields = (uint32_t)head->header.nfields;
	made->plan.ragged.last_is_empty = head->header.ends_empty;
	made->plan.dialect.one_column = head->header.nfields == 1;
	made->next = m->plans;
	m->plans = made;
	f->plan = &made->plan;
	return STATUS_OK;
}

/* Finds the plan for the records that the part's ends cut. */
static enum status find_plan(struct merge *m, struct part_file *f, struct part_head *head)
{
	f->plan = &m->query->plan;
	if ((head->left.of == 0 && head->right.of == 0) || is_placed_alike(m, f, head))
		return STATUS_OK;
	return make_plan(m, f, head);
}

/* Places the part behind those before: where it begins in the input. */
static enum status place_part(struct merge *m, struct part_file *f, const struct part_head *head)
{
	bool is_first = m->ninputs == 0;
	enum status status = part_order_check(&m->right, &head->left, is_first, m->given.partial, m->fault);

	if (status != STATUS_OK) {
		m->fault->file = f->text.name;
		m->fault->line = f->text.nlines;
		return status;
	}
	f->left = head->left;
	f->right = head->right;
	f->nlines_before = head->left.of ? m->right.nlines : 0;
	f->offset_bytes = head->left.of ? m->right.offset_bytes : m->offset_bytes;
	if (is_first && head->left.of)
		status = part_seam_copy(&m->left, &head->left);
	if (status == STATUS_OK && head->right.is_same)
		m->right.nlines += head->right.nlines;
	else
		m->right.nlines = head->right.nlines;
	f->right.nlines = m->right.nlines;
	f->right.offset_bytes = f->offset_bytes + head->right.offset_bytes;
	if (status == STATUS_OK)
		status = part_seam_copy(&m->right, &head->right);
	m->right.nlines = f->right.nlines;
	m->right.offset_bytes = f->right.offset_bytes;
	m->is_one_file = (is_first || m->is_one_file) && head->right.is_same;
	m->right.is_same = m->is_one_file;
	return status == STATUS_OK ? status : fault_set(m->fault, status, 0, NULL);
}

/* Begins with a part whose head has been read. */
static enum status begin_part(struct merge *m, struct part_file *f, struct part_head *head)
{
	uint64_t nbytes = head->nbytes;
	bool is_first = m->ninputs == 0, is_same = !is_first && head->left.of > 0;
	enum status status = check_query(m, f, head);

	f->is_skipped = head->nrecords == 0 && head->left.of == 0 && head->right.of == 0;
	if (status == STATUS_OK)
		status = place_part(m, f, head);
	f->ninputs = m->ninputs - is_same;
	if (status == STATUS_OK)
		status = add_inputs(m, head, is_same);
	if (status != STATUS_OK)
		return status;
	prefer(m, head);
	if (!f->is_skipped && !m->has_begun) {
		status = merge_begin(m);
		if (status == STATUS_PART_DAMAGED)
			return merge_fail(m, f, status, NULL);
		if (status == STATUS_PART_RECORDS)
			return merge_fail(m, f, status, m->first.asked.at[0]);
	}
	if (status == STATUS_OK && !f->is_skipped)
		status = map_part(m, f, head->version ? head : &m->first);
	if (status == STATUS_OK && !f->is_skipped)
		status = find_plan(m, f, head->version ? head : &m->first);
	m->offset_bytes = f->offset_bytes + nbytes;
	if (status == STATUS_OK && !f->is_skipped && is_first && m->left.of && m->left.is_quoted)
		total_begin_quoted(m->total);
	return status;
}

enum status merge_fail_reading(struct merge *m, const struct part_file *f, enum status status,
			       const struct part_head *head)
{
	if (status == STATUS_DAMAGED)
		status = STATUS_PART_DAMAGED;
	if (status == STATUS_PART_VERSION)
		return merge_fail(m, f, status, head->version);
	if (status == STATUS_MANY_KEYS && m->has_begun)
		return partial_fault(&m->total->partial, &m->query->plan, status, m->fault);
	return merge_fail(m, f, status, NULL);
}

enum status merge_read_head(struct merge *m, struct part_file *f, struct json_text *r)
{
	struct part_head head;
	enum status status;

	part_head_read(&head, r);
	status = r->status == STATUS_OK ? begin_part(m, f, &head) : merge_fail_reading(m, f, r->status, &head);
	part_head_free(&head);
	return status;
}
