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

#include "cluster/merge_query.h"
#include "cluster/part.h"
#include "cluster/part_order.h"
#include "codec/crc32.h"
#include "csv/record.h"
#include "query/options_asked.h"
#include "query/select.h"

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
	size_t ninputs;   /* of the parts before, less one where the part goes on with the last */
	uint64_t offset_bytes;  /* of the part in the input */
	uint64_t nlines_before; /* of the file in the midst of which the part begins */
	struct part_seam left, right; /* of the part; their names are not owned, nor valid */
	struct partial_map map;
	const struct plan *plan; /* for records that the part's ends cut: its columns are where they are in the
				  * part's inputs */
};

static enum status fail(struct merge *m, const struct part_file *f, enum status status, const char *words)
{
	fault_set(m->fault, status, 0, words);
	m->fault->file = f->name;
	m->fault->line = f->nlines;
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
		return fail(m, f, STATUS_PART_QUERY, find_difference(&head->asked, &m->first.asked));
	if (m->is_state)
		return asked_equal(&head->asked, &m->options->asked)
			       ? STATUS_OK
			       : fail(m, f, STATUS_STATE_QUERY,
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

/* Whether the part's columns are where the run's are, in as many fields. */
static bool is_placed_alike(const struct merge *m, const struct part_file *f, const struct part_head *head)
{
	const struct plan *run = &m->query->plan;

	for (size_t i = 0; i < head->ncolumns; i++)
		if (f->map.columns[i] != SIZE_MAX && head->fields[i] != FIELD_COMPUTED &&
		    run->columns[f->map.columns[i]].field != head->fields[i])
			return false;
	return head->header.nfields == 0 || head->header.nfields == run->ragged.nfields;
}

/* Makes a plan for the part's file, which the merge owns: folders point to it. */
static enum status make_plan(struct merge *m, struct part_file *f, const struct part_head *head)
{
	const struct plan *run = &m->query->plan;
	struct plan_column *columns = malloc((run->ncolumns + 1) * sizeof *columns);
	struct file_plan *made = calloc(1, sizeof *made);

	if (!made || !columns) {
		free(made);
		free(columns);
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	}
	made->plan = *run;
	made->plan.columns = memcpy(columns, run->columns, run->ncolumns * sizeof *run->columns);
	for (size_t i = 0; i < head->ncolumns; i++)
		if (f->map.columns[i] != SIZE_MAX && head->fields[i] != FIELD_COMPUTED)
			columns[f->map.columns[i]].field = (uint32_t)head->fields[i];
	made->plan.ragged.nfields = (uint32_t)head->header.nfields;
	made->plan.ragged.last_is_empty = head->header.ends_empty;
	made->plan.dialect.one_column = head->header.nfields == 1;
	made->next = m->plans;
	m->plans = made;
	f->plan = &made->plan;
	return STATUS_OK;
}

/* Finds the plan for the records that the part's ends cut. */
static enum status find_plan(struct merge *m, struct part_file *f, const struct part_head *head)
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
	if (!f->is_skipped && !m->has_begun)
		status = merge_begin(m);
	if (status == STATUS_OK && !f->is_skipped)
		status = map_part(m, f, head->version ? head : &m->first);
	if (status == STATUS_OK && !f->is_skipped)
		status = find_plan(m, f, head->version ? head : &m->first);
	m->offset_bytes = f->offset_bytes + nbytes;
	if (status == STATUS_OK && !f->is_skipped && is_first && m->left.of && m->left.is_quoted)
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

/* Reads a piece of a record: the tail of the file's part before, or the head of this. */
static enum status read_ends(struct merge *m, struct part_file *f, struct json_reader *r, bool is_head)
{
	struct end_text text = {.plan = f->plan, .line = f->nlines_before + 1, .offset_bytes = f->offset_bytes};
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
	part_map_free(&f->map);
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
		part_note_read(m->total, &f->map, f->ninputs, f->nlines_before, m->is_state, r);
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
		part_map_free(&f.map);
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
		status = merge_begin(m);
	if (status != STATUS_OK)
		return status;
	if (!m->options->partial)
		merge_forget_unasked(m);
	m->total->end_bytes = m->offset_bytes;
	return status;
}

enum status state_read(struct merge *m, struct options *options, struct query *query, struct total *total,
		       const char *path, struct fault *fault)
{
	enum status status;

	*m = (struct merge){.options = options, .query = query, .total = total, .has_begun = true,
			    .is_state = true, .fault = fault};
	if (partial_init(&m->blank, &query->plan) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = read_file(m, path);
	if (status == STATUS_OK)
		status = part_order_end(&m->right, fault);
	if (status == STATUS_OK && merge_lacks_note(m)) {
		fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
		fault->file = path;
		return STATUS_PART_DAMAGED;
	}
	return status;
}

void merge_scope(const struct merge *m, struct part_scope *scope)
{
	*scope = (struct part_scope){(const char *const *)m->inputs, m->ninputs, 0, &m->left, &m->right};
}

void merge_free(struct merge *m)
{
	for (struct file_plan *p = m->plans, *next; p; p = next) {
		next = p->next;
		free(p->plan.columns);
		free(p);
	}
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
