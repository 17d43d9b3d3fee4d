/* SPDX-License-Identifier: MIT
 *
 * merge.c - reading parts. See part.h.
 *
 * A part is read line by line and each line is added to the total, so memory holds what the result needs, and
 * a line. A part without records has columns as it imagined them, if its input had no header either: it adds
 * nothing but its length.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/part.h"
#include "cluster/part_order.h"
#include "codec/crc32.h"
#include "csv/record.h"
#include "fold/groups.h"
#include "fold/values_focus.h"
#include "query/options_asked.h"
#include "query/options_check.h"

#define BUFFER_NBYTES (1 << 20)

/* A file of parts. */
struct part_file {
	const char *name;
	FILE *stream;
	char *line;       /* the last that was read; owned */
	size_t nbytes, capacity;
	uint64_t nlines;  /* read so far */
	uint64_t begin;   /* lines before the current part */
	uint32_t crc;     /* of the current part so far */
	bool is_inside;   /* a part has begun and not ended */
	bool is_skipped;  /* it has no records */
	size_t ninputs;   /* of the parts before */
	uint64_t offset_bytes;  /* of the part in the input */
	uint64_t nlines_before; /* of the file in the midst of which the part begins */
	struct part_seam left, right; /* of the part; their names are not owned, nor valid */
	struct partial_map map;
	struct plan plan; /* for records that the part's ends cut: the run's, but its columns are where they are
			   * in the part's inputs; its columns are owned */
};

static enum status fail(struct merge *m, const struct part_file *f, enum status status, const char *words)
{
	fault_set(m->fault, status, 0, words);
	m->fault->file = f->name;
	m->fault->line = f->nlines;
	return status;
}

/* ---- the query ---- */

/* Sets how results are printed, and with what, to what the command line says. */
static void set_given(struct options *o, const struct options *given)
{
	o->format = given->format;
	o->sort = given->sort;
	o->top = given->top;
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

/* Forgets the columns that no result shows. */
static void forget_unasked(struct merge *m)
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

/* Makes the query that m->first's part answers. */
static enum status begin(struct merge *m)
{
	enum status status = asked_parse(&m->first.asked, m->options, m->fault);

	if (status != STATUS_OK)
		return status;
	set_given(m->options, &m->given);
	status = check_given(m->options, m->fault);
	if (status == STATUS_OK)
		status = query_make_again(m->query, m->options, &m->first.header, m->fault);
	if (status != STATUS_OK)
		return status;
	m->query->plan.counts_records = true;
	if (m->options->partial)
		plan_as_part(&m->query->plan);
	else
		take_unfit_as_text(&m->query->plan);
	values_focus_set(NULL, false);
	m->has_begun = true;
	if (groups_plan(&m->query->plan) != STATUS_OK || total_init(m->total, &m->query->plan) != STATUS_OK ||
	    partial_init(&m->blank, &m->query->plan) != STATUS_OK)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

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
		return fail(m, f, STATUS_PART_QUERY, find_difference(&head->asked, &m->first.asked));
	if (m->given.asked.n && !asked_equal(&head->asked, &m->given.asked))
		return option_fault(m->fault, "--merge: the query is that of the parts, which differs in %.100s: "
				    "leave it out", find_difference(&m->given.asked, &head->asked));
	return STATUS_OK;
}

/* ---- heads ---- */

static enum status add_inputs(struct merge *m, const struct part_head *head)
{
	char **grown = realloc(m->inputs, (m->ninputs + head->ninputs + 1) * sizeof *grown);

	if (!grown)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	m->inputs = grown;
	for (size_t i = 0; i < head->ninputs; i++) {
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

	f->map = (struct partial_map){.ncolumns = 0};
	status = part_map_make(&f->map, head, &m->query->plan, &lacks);
	f->map.offset_bytes = f->offset_bytes;
	if (status == STATUS_OK && lacks == m->query->plan.ncolumns)
		return STATUS_OK;
	fail(m, f, status == STATUS_OK ? STATUS_HEADER_LACKS : status, NULL);
	if (status == STATUS_OK)
		m->fault->column = m->query->plan.columns[lacks].name;
	return m->fault->status;
}

/* Makes the plan for the records that the part's ends cut. */
static enum status make_plan(struct merge *m, struct part_file *f, const struct part_head *head)
{
	const struct plan *run = &m->query->plan;

	f->plan = *run;
	f->plan.columns = malloc((run->ncolumns + 1) * sizeof *f->plan.columns);
	if (!f->plan.columns)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	memcpy(f->plan.columns, run->columns, run->ncolumns * sizeof *run->columns);
	for (size_t i = 0; i < head->ncolumns; i++)
		if (f->map.columns[i] != SIZE_MAX)
			f->plan.columns[f->map.columns[i]].field = (uint32_t)head->fields[i];
	if (head->header.nfields == 0) /* it has been moved to the query's */
		return STATUS_OK;
	f->plan.ragged.nfields = (uint32_t)head->header.nfields;
	f->plan.ragged.last_is_empty = head->header.ends_empty;
	f->plan.dialect.one_column = head->header.nfields == 1;
	return STATUS_OK;
}

/* Places the part behind those before: where it begins in the input. */
static enum status place_part(struct merge *m, struct part_file *f, const struct part_head *head)
{
	bool is_first = m->ninputs == 0;
	enum status status = part_order_check(&m->right, &head->left, is_first, m->given.partial, m->fault);

	if (status != STATUS_OK) {
		m->fault->file = f->name;
		m->fault->line = f->nlines;
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
	enum status status = check_query(m, f, head);

	f->is_skipped = head->nrecords == 0 && head->left.of == 0 && head->right.of == 0;
	f->ninputs = m->ninputs;
	if (status == STATUS_OK)
		status = place_part(m, f, head);
	if (status == STATUS_OK)
		status = add_inputs(m, head);
	if (status != STATUS_OK)
		return status;
	prefer(m, head);
	if (!f->is_skipped && !m->has_begun)
		status = begin(m);
	if (status == STATUS_OK && !f->is_skipped)
		status = map_part(m, f, head->version ? head : &m->first);
	if (status == STATUS_OK && !f->is_skipped)
		status = make_plan(m, f, head->version ? head : &m->first);
	m->offset_bytes = f->offset_bytes + nbytes;
	if (status == STATUS_OK && !f->is_skipped && m->left.of && f->ninputs == 0 && m->left.is_quoted)
		total_begin_quoted(m->total);
	return status;
}

/* ---- lines ---- */

static enum status set_fault(struct merge *m, const struct part_file *f, enum status status,
			     const struct part_head *head)
{
	if (status == STATUS_DAMAGED)
		status = STATUS_PART_DAMAGED;
	if (status == STATUS_PART_VERSION)
		return fail(m, f, status, head->version);
	if (status == STATUS_MANY_KEYS && m->has_begun)
		return partial_fault(&m->total->partial, &m->query->plan, status, m->fault);
	return fail(m, f, status, NULL);
}

static enum status read_head(struct merge *m, struct part_file *f, struct json_reader *r)
{
	struct part_head head;
	enum status status;

	part_head_read(&head, r);
	status = r->status == STATUS_OK ? begin_part(m, f, &head) : set_fault(m, f, r->status, &head);
	part_head_free(&head);
	return status;
}

static void end_part(struct part_file *f)
{
	part_map_free(&f->map);
	free(f->plan.columns);
	f->plan.columns = NULL;
}

/* Reads a piece of a record: the tail of the file's part before, or the head of this. */
static enum status read_ends(struct merge *m, struct part_file *f, struct json_reader *r, bool is_head)
{
	struct end_text text = {.plan = &f->plan, .line = f->nlines_before + 1, .offset_bytes = f->offset_bytes};
	enum status status;

	text.file = (int)(is_head ? f->ninputs : m->ninputs - 1);
	text.text = json_string(r, &text.nbytes);
	if (is_head) {
		text.ends = json_try(r, ",\"ends\":true");
		if (!text.ends)
			json_expect(r, ",\"ends\":false");
	}
	json_expect(r, "}");
	if (r->at != r->end)
		json_fail(r, STATUS_DAMAGED);
	if (r->status != STATUS_OK)
		return set_fault(m, f, r->status, NULL);
	if (!is_head) {
		text.line = m->right.nlines + 1 - count_lines(text.text, text.nbytes);
		text.offset_bytes = m->right.offset_bytes + m->right.border - text.nbytes;
	}
	status = is_head ? total_add_head(m->total, &text, m->fault) : total_add_tail(m->total, &text, m->fault);
	if (status != STATUS_OK)
		m->fault->file = m->inputs[text.file];
	return status;
}

static enum status read_end(struct merge *m, struct part_file *f, struct json_reader *r)
{
	uint64_t nlines;
	uint32_t crc;

	part_end_read(&nlines, &crc, r);
	end_part(f);
	f->is_inside = false;
	if (r->status != STATUS_OK || nlines != f->nlines - 1 - f->begin || crc != f->crc)
		return fail(m, f, STATUS_PART_DAMAGED, NULL);
	if (f->is_skipped || f->right.of)
		return STATUS_OK;
	if (total_end_file(m->total, &m->query->plan, m->fault) == STATUS_OK)
		return STATUS_OK;
	m->fault->file = m->inputs[m->ninputs - 1];
	return m->fault->status;
}

/* Reads a line of a part that has begun and is not its last. */
static enum status read_line(struct merge *m, struct part_file *f, struct json_reader *r)
{
	if (f->is_skipped)
		return STATUS_OK;
	if (json_try(r, PART_HEAD_TEXT_BEGIN))
		return read_ends(m, f, r, true);
	if (json_try(r, PART_TAIL_BEGIN))
		return read_ends(m, f, r, false);
	if (json_try(r, PART_NOTE_BEGIN))
		part_note_read(m->total, &f->map, f->ninputs, f->nlines_before, r);
	else
		partial_read_line(&m->total->partial, &m->query->plan, &f->map, &m->blank, r);
	return r->status == STATUS_OK ? STATUS_OK : set_fault(m, f, r->status, NULL);
}

static bool begins(const struct json_reader *r, const char *text)
{
	size_t nbytes = strlen(text);

	return (size_t)(r->end - r->at) >= nbytes && !memcmp(r->at, text, nbytes);
}

/* Reads the line that lies in f. */
static enum status take_line(struct merge *m, struct part_file *f)
{
	struct json_reader r = {.at = f->line, .end = f->line + f->nbytes - 1};
	enum status status;

	if (f->is_inside && begins(&r, PART_END_BEGIN))
		return read_end(m, f, &r);
	if (!f->is_inside && !begins(&r, PART_HEAD_BEGIN))
		return fail(m, f, STATUS_PART_FOREIGN, NULL);
	if (!f->is_inside) {
		f->begin = f->nlines - 1;
		f->crc = 0;
	}
	f->crc = crc32_continue(f->crc, (const unsigned char *)f->line, f->nbytes);
	status = f->is_inside ? read_line(m, f, &r) : read_head(m, f, &r);
	f->is_inside = true;
	text_free(&r.scratch);
	text_free(&r.joined);
	return status;
}

/* ---- files ---- */

/* Whether a line that has no end is one of a part. */
static bool is_cut(const struct part_file *f)
{
	size_t nbytes = f->nbytes < strlen(PART_HEAD_BEGIN) ? f->nbytes : strlen(PART_HEAD_BEGIN);

	return f->line[f->nbytes - 1] != '\n' && (f->is_inside || !memcmp(f->line, PART_HEAD_BEGIN, nbytes));
}

static enum status read_parts(struct merge *m, struct part_file *f)
{
	enum status status = STATUS_OK;
	ssize_t n;

	while (status == STATUS_OK && (n = getline(&f->line, &f->capacity, f->stream)) > 0) {
		f->nbytes = (size_t)n;
		f->nlines++;
		if (is_cut(f))
			return fail(m, f, STATUS_PART_TRUNCATED, NULL);
		status = take_line(m, f);
	}
	if (status == STATUS_OK && ferror(f->stream)) {
		fault_set(m->fault, STATUS_READ, errno, NULL);
		m->fault->file = f->name;
		return STATUS_READ;
	}
	if (status == STATUS_OK && (f->is_inside || f->nlines == 0))
		return fail(m, f, STATUS_PART_TRUNCATED, NULL);
	return status;
}

static enum status read_file(struct merge *m, const char *name)
{
	bool is_stdin = !strcmp(name, "-");
	struct part_file f = {.name = is_stdin ? "standard input" : name};
	enum status status;

	f.stream = is_stdin ? stdin : fopen(name, "r");
	if (!f.stream) {
		fault_set(m->fault, STATUS_OPEN, errno, NULL);
		m->fault->file = f.name;
		return STATUS_OPEN;
	}
	setvbuf(f.stream, NULL, _IOFBF, BUFFER_NBYTES);
	status = read_parts(m, &f);
	free(f.line);
	if (status != STATUS_OK || f.is_inside)
		end_part(&f);
	if (!is_stdin)
		fclose(f.stream);
	return status;
}

enum status merge_parts(struct merge *m, struct fault *fault)
{
	enum status status = STATUS_OK;

	m->fault = fault;
	m->given = *m->options;
	memset(m->options, 0, sizeof *m->options);
	for (int i = 0; i < m->given.npaths && status == STATUS_OK; i++)
		status = read_file(m, m->given.paths[i]);
	if (status == STATUS_OK && !m->given.partial)
		status = part_order_end(&m->right, fault);
	if (status == STATUS_OK && !m->has_begun)
		status = begin(m);
	if (status != STATUS_OK)
		return status;
	if (!m->options->partial)
		forget_unasked(m);
	m->total->end_bytes = m->offset_bytes;
	return status;
}

enum status merge_check(const struct merge *m, struct fault *fault)
{
	const struct plan *plan = &m->query->plan;
	const struct note *first = NULL;

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

void merge_scope(const struct merge *m, struct part_scope *scope)
{
	*scope = (struct part_scope){(const char *const *)m->inputs, m->ninputs, &m->left, &m->right};
}

void merge_free(struct merge *m)
{
	free(m->left.input);
	free(m->right.input);
	for (size_t i = 0; i < m->ninputs; i++)
		free(m->inputs[i]);
	free(m->inputs);
	partial_free(&m->blank);
	part_head_free(&m->first);
	options_free(&m->given);
	memset(m, 0, sizeof *m);
}
