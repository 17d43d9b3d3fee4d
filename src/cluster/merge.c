/* SPDX-License-Identifier: MIT
 *
 * merge.c - reading parts. See part.h.
 *
 * This reads the files in order, line by line: heads, notes, and records that the parts' ends cut. The lines of
 * columns and groups, which are nearly all, go on to several threads (part_lines.h). Memory holds what the result
 * needs, and some blocks of lines. A part without records has columns as it imagined them, if its input had no
 * header either: it adds nothing but its length.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/merge_head.h"
#include "cluster/merge_query.h"
#include "cluster/part.h"
#include "cluster/part_lines.h"
#include "cluster/part_order.h"
#include "cluster/part_text.h"
#include "codec/crc32.h"
#include "csv/record.h"

/* ---- lines ---- */

/* Before the record between two parts is folded: where order shows, all lines before are to be in the total. */
static enum status await_order(struct merge *m)
{
	return plan_is_ordered(&m->query->plan) ? part_lines_wait(m->lines, m->fault) : STATUS_OK;
}

/* Reads a piece of a record: the tail of the file's part before, or the head of this. */
static enum status read_ends(struct merge *m, struct part_file *f, struct json_text *r, bool is_head)
{
	struct end_text text = {.plan = f->plan, .line = f->nlines_before + 1, .offset_bytes = f->offset_bytes};
	enum status status;

	text.file = (int)(is_head ? f->ninputs : m->ninputs - 1);
	part_piece_text(r, &r->joined, is_head, &text.ends);
	text.text = r->joined.data;
	text.nbytes = r->joined.nbytes;
	if (r->at != r->end)
		json_fail(r, STATUS_DAMAGED);
	if (r->status != STATUS_OK)
		return merge_fail_reading(m, f, r->status, NULL);
	if (!is_head) {
		text.line = m->right.nlines + 1 - count_lines(text.text, text.nbytes);
		text.offset_bytes = m->right.offset_bytes + m->right.border - text.nbytes;
	}
	status = await_order(m);
	if (status != STATUS_OK)
		return status;
	status = is_head ? total_add_head(m->total, &text, m->fault) : total_add_tail(m->total, &text, m->fault);
	if (status != STATUS_OK)
		m->fault->file = m->inputs[text.file];
	return status;
}

static enum status read_end(struct merge *m, struct part_file *f, struct json_text *r)
{
	uint64_t nlines = 0;
	uint32_t crc = 0;

	part_end_text(r, &nlines, &crc);
	part_map_release(f->map);
	f->map = NULL;
	f->is_inside = false;
	if (r->status != STATUS_OK || r->at != r->end || nlines != f->text.nlines - 1 - f->begin || crc != f->crc)
		return merge_fail(m, f, STATUS_PART_DAMAGED, NULL);
	if (f->is_skipped || f->right.of || m->total->seam.nbytes == 0)
		return STATUS_OK;
	if (await_order(m) != STATUS_OK)
		return m->fault->status;
	if (total_end_file(m->total, f->plan, m->fault) == STATUS_OK)
		return STATUS_OK;
	m->fault->file = m->inputs[m->ninputs - 1];
	return m->fault->status;
}

static bool begins(const struct json_text *r, const char *text)
{
	size_t nbytes = strlen(text);

	return (size_t)(r->end - r->at) >= nbytes && !memcmp(r->at, text, nbytes);
}

/* Reads a line that is no fold, of a part that has begun, and not its last. */
static enum status read_line(struct merge *m, struct part_file *f, struct json_text *r)
{
	enum status status = STATUS_OK;

	if (f->is_skipped)
		return STATUS_OK;
	if (begins(r, PART_HEAD_TEXT_BEGIN))
		return read_ends(m, f, r, true);
	if (begins(r, PART_TAIL_BEGIN))
		return read_ends(m, f, r, false);
	if (begins(r, PART_NOTE_BEGIN))
		status = part_note_read(m->total, &f->map->map, m->inputs, f->ninputs, m->ninputs, f->nlines_before,
					m->is_state, r, m->fault);
	else
		json_fail(r, STATUS_DAMAGED);
	return r->status == STATUS_OK ? status : merge_fail_reading(m, f, r->status, NULL);
}

/* Whether the line is one of columns, pairs or groups, or damaged: by the first letter of its first name. */
static bool is_fold(const struct part_text *t)
{
	char letter = t->nbytes > 2 ? t->line[2] : '\0';

	return letter != 'h' && letter != 't' && letter != 'n' && letter != 'l';
}

/* Keeps a line of folds, to be added with those behind it. Where order does not show in the results, the
 * threads that read lines do not know which value of a column is the first: its kind is read here. */
static enum status keep_line(struct merge *m, struct part_file *f, const struct json_text *r)
{
	if (f->is_skipped)
		return STATUS_OK;
	if (!f->run) {
		f->run = f->text.line;
		f->run_begin = f->text.nlines - 1;
	}
	if (!plan_is_ordered(&m->query->plan))
		partial_read_kind(&m->total->partial, &f->map->map, *r);
	return STATUS_OK;
}

/* Adds the lines that were kept, up to `end`. */
static enum status add_run(struct merge *m, struct part_file *f, const char *end)
{
	const struct line_run run = {f->run, end, f->text.block, f->map, f->text.name, f->run_begin};

	f->run = NULL;
	return run.text ? part_lines_add(m->lines, &run) : STATUS_OK;
}

/* Adds the part's bytes up to `end` to its CRC. */
static void sum_up(struct part_file *f, const char *end)
{
	f->crc = crc32_continue(f->crc, (const unsigned char *)f->unsummed, (size_t)(end - f->unsummed));
	f->unsummed = end;
}

/* Reads the line, which is no fold of a part. */
static enum status take_line(struct merge *m, struct part_file *f, struct json_text *r)
{
	enum status status;

	if (f->is_inside && begins(r, PART_END_BEGIN)) {
		sum_up(f, f->text.line);
		return read_end(m, f, r);
	}
	if (!f->is_inside && !begins(r, PART_HEAD_BEGIN))
		return merge_fail(m, f, STATUS_PART_FOREIGN, NULL);
	if (!f->is_inside) {
		f->begin = f->text.nlines - 1;
		f->crc = 0;
		f->unsummed = f->text.line;
	}
	status = f->is_inside ? read_line(m, f, r) : merge_read_head(m, f, r);
	f->is_inside = true;
	text_free(&r->scratch);
	text_free(&r->joined);
	return status;
}

/* ---- files ---- */

/* Whether a line that has no end is one of a part. */
static bool is_cut(const struct part_file *f)
{
	const struct part_text *t = &f->text;
	size_t nbytes = t->nbytes < strlen(PART_HEAD_BEGIN) ? t->nbytes : strlen(PART_HEAD_BEGIN);

	return t->line[t->nbytes - 1] != '\n' && (f->is_inside || !memcmp(t->line, PART_HEAD_BEGIN, nbytes));
}

/* Reads the lines of the block. */
static enum status read_block(struct merge *m, struct part_file *f)
{
	enum status status = STATUS_OK;
	struct part_text *t = &f->text;

	f->unsummed = t->block->data;
	while (status == STATUS_OK && part_text_next(t)) {
		struct json_text r = {.reads = true, .at = t->line, .end = t->line + t->nbytes - 1};
		if (is_cut(f))
			return merge_fail(m, f, STATUS_PART_TRUNCATED, NULL);
		if (f->is_inside && is_fold(t)) {
			status = keep_line(m, f, &r);
			continue;
		}
		status = add_run(m, f, t->line);
		if (status == STATUS_OK)
			status = take_line(m, f, &r);
	}
	if (status == STATUS_OK && f->is_inside)
		sum_up(f, t->block->data + t->at);
	return status == STATUS_OK ? add_run(m, f, t->block->data + t->at) : status;
}

static enum status read_parts(struct merge *m, struct part_file *f)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && part_text_fill(&f->text, &status, m->fault))
		status = read_block(m, f);
	if (status != STATUS_OK)
		return status;
	if (f->text.nlines == 0)
		return merge_fail(m, f, STATUS_PART_EMPTY, NULL);
	return f->is_inside ? merge_fail(m, f, STATUS_PART_TRUNCATED, NULL) : STATUS_OK;
}

/* After reading has ended with a status: waits for the lines, of which an error comes before. */
static enum status settle(struct merge *m, enum status status)
{
	struct fault earlier;

	if (!m->lines || part_lines_wait(m->lines, &earlier) == STATUS_OK)
		return status;
	*m->fault = earlier;
	return earlier.status;
}

static enum status read_source(struct merge *m, const struct part_source *from)
{
	struct part_file f = {.run = NULL};
	enum status status = part_text_open(&f.text, from, &m->blocks, m->fault);

	if (status == STATUS_OK)
		status = read_parts(m, &f);
	part_map_release(f.map);
	part_text_close(&f.text);
	return status;
}

/* Tests have blocks as long as chunks. */
static size_t block_nbytes(const struct options *o)
{
	return o->chunk_nbytes ? o->chunk_nbytes : PART_BLOCK_NBYTES;
}

static enum status end_lines(struct merge *m)
{
	struct part_lines *lines = m->lines;

	m->lines = NULL;
	return part_lines_end(lines, m->fault);
}

enum status merge_parts(struct merge *m, struct fault *fault)
{
	enum status status = STATUS_OK;

	m->fault = fault;
	m->blocks.nbytes = block_nbytes(m->options);
	m->given = *m->options;
	memset(m->options, 0, sizeof *m->options);
	for (int i = 0; i < m->given.npaths && status == STATUS_OK; i++)
		status = read_source(m, &(struct part_source){.name = m->given.paths[i]});
	status = settle(m, status);
	if (status == STATUS_OK && !m->given.partial)
		status = part_order_end(&m->right, fault);
	if (status == STATUS_OK && !m->has_begun)
		status = merge_begin(m);
	if (status == STATUS_OK)
		status = end_lines(m);
	if (status != STATUS_OK)
		return status;
	if (!m->options->partial)
		merge_forget_unasked(m);
	m->total->end_bytes = m->offset_bytes;
	return status;
}

/* Makes a fault of reading parts that of a state. */
static enum status state_fault(const char *path, struct fault *fault)
{
	static const struct {
		enum status of_part, of_state;
	} pairs[] = {{STATUS_PART_VERSION, STATUS_STATE_VERSION}, {STATUS_PART_FOREIGN, STATUS_STATE_FOREIGN},
		     {STATUS_PART_EMPTY, STATUS_STATE_EMPTY}, {STATUS_PART_DAMAGED, STATUS_STATE_DAMAGED},
		     {STATUS_PART_TRUNCATED, STATUS_STATE_TRUNCATED}};

	if (fault->status == STATUS_PART_ORDER) {
		fault->file = path;
		strcpy(fault->remedy, "--merge --partial of all parts, which writes what is a state, too");
	}
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (fault->status == pairs[i].of_part)
			return fault->status = pairs[i].of_state;
	return fault->status;
}

enum status state_read(struct merge *m, struct options *options, struct query *query, struct total *total,
		       const struct part_source *from, struct fault *fault)
{
	enum status status;

	*m = (struct merge){.options = options, .query = query, .total = total, .has_begun = true,
			    .is_state = true, .fault = fault, .blocks.nbytes = block_nbytes(options)};
	m->lines = part_lines_begin(&query->plan, &total->partial, options->nthreads);
	if (!m->lines)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = settle(m, read_source(m, from));
	if (status == STATUS_OK)
		status = end_lines(m);
	if (status == STATUS_OK && options->from_state) /* else that of a slice, which may end within a file */
		status = part_order_end(&m->right, fault);
	if (status == STATUS_OK && merge_lacks_note(m)) {
		status = fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
		fault->file = from->name;
	}
	return status != STATUS_OK && options->from_state ? state_fault(from->name, fault) : status;
}

enum status merge_behind(struct merge *m, struct options *options, struct query *query, struct total *total,
			 const struct part_scope *scope, struct fault *fault)
{
	enum status status = STATUS_OK;

	*m = (struct merge){.options = options, .query = query, .total = total, .given = {.partial = true}, .has_begun = true,
			    .offset_bytes = total->end_bytes, .fault = fault, .blocks.nbytes = block_nbytes(options)};
	m->lines = part_lines_begin(&query->plan, &total->partial, options->nthreads);
	m->inputs = calloc(scope->ninputs + 1, sizeof *m->inputs);
	for (size_t i = 0; m->inputs && i < scope->ninputs && (m->inputs[i] = strdup(scope->inputs[i])); i++)
		m->ninputs++;
	if (m->ninputs > 0) {
		m->is_one_file = scope->right->is_same;
		status = part_seam_copy(&m->left, scope->left);
		if (status == STATUS_OK)
			status = part_seam_copy(&m->right, scope->right);
	}
	if (m->lines && m->inputs && m->ninputs == scope->ninputs && status == STATUS_OK)
		return STATUS_OK;
	return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

enum status merge_next(struct merge *m, const struct part_source *from)
{
	enum status status = read_source(m, from);

	return status == STATUS_OK ? status : settle(m, status);
}

enum status merge_end(struct merge *m)
{
	m->total->end_bytes = m->offset_bytes;
	return end_lines(m);
}

void merge_scope(const struct merge *m, struct part_scope *scope)
{
	*scope = (struct part_scope){(const char *const *)m->inputs, m->ninputs, 0, &m->left, &m->right, 0};
}

void merge_free(struct merge *m)
{
	for (struct file_plan *p = m->plans, *next; p; p = next) {
		next = p->next;
		free(p->plan.columns);
		free(p->header);
		free(p);
	}
	free(m->left.input);
	free(m->right.input);
	for (size_t i = 0; i < m->ninputs; i++)
		free(m->inputs[i]);
	free(m->inputs);
	part_lines_end(m->lines, &(struct fault){.status = STATUS_OK});
	part_blocks_free(&m->blocks);
	part_head_free(&m->first);
	options_free(&m->given);
	memset(m, 0, sizeof *m);
}
