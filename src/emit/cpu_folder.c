/* SPDX-License-Identifier: MIT
 *
 * cpu_folder.c - see cpu_folder.h. Records without new fields are copied as the ranges that
 * rows_fold noted. Others are printed a block at a time: first the new fields of all its rows
 * (new_fields.h), then row by row the record and its fields, in room that was reserved for all.
 *
 * A copy may write beyond its end: fixed lengths are faster than exact ones. The next piece
 * overwrites the surplus.
 */
#include "emit/cpu_folder.h"

#include <stdlib.h>
#include <string.h>

#include "emit/printed_row.h"

/* How many of a record's first fields are read. */
static size_t count_fields(const struct plan *plan)
{
	size_t n = plan->ragged.nfields;

	for (size_t c = 0; c < plan->ncolumns; c++)
		if (!plan->columns[c].let && plan->columns[c].field >= n && plan->columns[c].field != FIELD_NOWHERE)
			n = plan->columns[c].field + (size_t)1;
	return n;
}

enum status cpu_folder_init(struct cpu_folder *f, const struct plan *plan)
{
	memset(f, 0, sizeof *f);
	f->plan = plan;
	rows_init(&f->rows, plan->dialect, count_fields(plan));
	TRY(row_folder_init(&f->folder, plan));
	return new_fields_init(&f->fields, plan);
}

void cpu_folder_use(struct cpu_folder *f, const struct plan *plan)
{
	if (f->plan == plan)
		return;
	f->plan = f->folder.plan = f->folder.block.plan = plan;
	f->folder.programs.plan = plan;
	f->rows.dialect = plan->dialect;
	f->rows.nfields = count_fields(plan);
}

void cpu_folder_free(struct cpu_folder *f)
{
	if (!f->plan)
		return;
	rows_free(&f->rows);
	row_folder_free(&f->folder);
	new_fields_free(&f->fields);
	lead_text_free(f->leads);
	free(f->scratch.data);
	memset(f, 0, sizeof *f);
}

/* Folds a text whose plan computes values: again, with more room, if their fields found none. */
static enum status fold_computing(struct cpu_folder *f, const char *text, size_t nbytes,
				  struct chunk_entry entry, struct partial *out)
{
	struct program_block *programs = &f->folder.programs;
	uint64_t offset_bytes = out->offset_bytes;
	enum status status;

	for (;;) {
		if (program_block_begin(programs, text, nbytes) != STATUS_OK)
			return STATUS_NO_MEMORY;
		status = rows_fold(&f->folder, &f->rows, programs->data, nbytes, entry, out);
		if (status != STATUS_OK || !programs->is_full)
			return status;
		program_block_widen(programs);
		partial_clear(out);
		out->offset_bytes = offset_bytes;
	}
}

enum status cpu_folder_fold_classified(struct cpu_folder *f, const char *text, size_t nbytes,
				       struct chunk_entry entry, struct partial *out)
{
	enum status status = f->plan->computes
				     ? fold_computing(f, text, nbytes, entry, out)
				     : rows_fold(&f->folder, &f->rows, text, nbytes, entry, out);

	f->nkept = out->nkept;
	return status;
}

enum status cpu_folder_fold(struct cpu_folder *f, const char *text, size_t nbytes,
			    struct chunk_entry entry, struct partial *out)
{
	uint64_t nlines;

	TRY(rows_reserve(&f->rows, nbytes));
	rows_classify(&f->rows, text, nbytes, &nlines);
	return cpu_folder_fold_classified(f, text, nbytes, entry, out);
}

/* ---- printing ---- */

/* One call of cpu_folder_emit. */
struct printing {
	struct cpu_folder *f;
	const char *text;
	size_t nbytes;
	struct groups *groups; /* if the plan has keys */
	uint64_t offset_bytes;
	struct text_buffer *out;
	uint64_t chosen; /* the rows of the block that may be printed */
	uint64_t nblocks, ndone; /* of the walk so far; of a walk before that had to stop: they are printed */
	uint64_t nkept; /* records of the blocks that are printed, and before the text */
};

/* What is printed of a block, apart from where: the compiler must not read it again after each byte. */
struct printed_rows {
	const char *text, *new_text;
	const uint32_t *ends;
	size_t stride;
	uint32_t nfields;
	char delimiter, escape;
	unsigned nrows;
};

static inline struct printed_rows printed_rows(const struct printing *m)
{
	const struct cpu_folder *f = m->f;

	return (struct printed_rows){m->text, f->fields.text.data, f->folder.block.ends, f->folder.block.stride,
				     row_block_nfields(&f->folder.block), f->plan->dialect.delimiter,
				     f->plan->dialect.escape, f->fields.nrows};
}

/* Prints the k-th of the kept rows with its nnew_columns new fields. even: it has as many fields as the first record.
 * Returns the end of the output. Inline, so that the most common plans have a loop of their own. */
static inline __attribute__((always_inline)) char *print_row(const struct printing *m, const struct printed_rows *p,
							     unsigned k, char *to, size_t nnew_columns, bool only,
							     bool even)
{
	const struct new_fields *fields = &m->f->fields;
	struct row_record r = row_record_at(p->text, p->ends + fields->rows[k] * p->stride, p->stride,
					    even ? (uint32_t)p->stride : p->nfields, p->escape);
	const size_t *begin = fields->begins + k;

	if (!only)
		to = copy_delimiters(copy_text(to, p->text + r.begin, r.end - r.begin), p->delimiter, r.nlacking);
	for (size_t i = 0; i < nnew_columns; i++, begin += ROW_BLOCK_NROWS + 1)
		to = copy_text(to, p->new_text + begin[0], begin[1] - begin[0]);
	memcpy(to, p->text + r.line_end, 2); /* the line end, perhaps a byte more */
	return to + (r.next - r.line_end);
}

/* Prints the kept rows. */
static inline __attribute__((always_inline)) char *print_rows(const struct printing *m, char *to,
							      size_t nnew_columns, bool only, bool even)
{
	const struct printed_rows p = printed_rows(m);

	for (unsigned k = 0; k < p.nrows; k++)
		to = print_row(m, &p, k, to, nnew_columns, only, even);
	return to;
}

/* Appends the k-th of the kept rows. */
static enum status append_row(const struct printing *m, const struct printed_rows *p, unsigned k)
{
	const struct plan *plan = m->f->plan;
	struct text_buffer *out = m->out;

	if (plan->row_format)
		return printed_row_append(&m->f->folder.block, &m->f->fields, k, &m->f->scratch, NULL, out);
	out->nbytes = (size_t)(print_row(m, p, k, out->data + out->nbytes, plan->nnew_columns, plan->only, false) - out->data);
	return STATUS_OK;
}

/* Prints those kept rows that may be chosen, and gives them to the sorter. */
static enum status print_sorted(const struct printing *m)
{
	const struct new_fields *fields = &m->f->fields;
	const struct printed_rows p = printed_rows(m);
	struct text_buffer *out = m->out;
	const size_t begin = out->nbytes;

	for (unsigned k = 0; k < fields->nrows; k++, out->nbytes = begin) {
		if (!(m->chosen >> fields->rows[k] & 1))
			continue;
		TRY(append_row(m, &p, k));
		TRY(sort_part_add(m->f->sorted, fields->rows[k], out->data + begin, out->nbytes - begin));
	}
	return STATUS_OK;
}

/* Prints those kept rows. */
static enum status print_each(const struct printing *m)
{
	const struct printed_rows p = printed_rows(m);

	for (unsigned k = 0; k < p.nrows; k++)
		if (m->chosen >> m->f->fields.rows[k] & 1)
			TRY(append_row(m, &p, k));
	return STATUS_OK;
}

/* Makes the fields of column c of some rows, if it is computed; those of short numbers only where
 * they are copied. Returns how many texts of quotients it may take to read them. */
static size_t make_let(struct row_block *b, size_t c, uint64_t rows, bool copies)
{
	const struct plan_column *of = &b->plan->columns[c];
	size_t nread;

	if (!of->let)
		return 0;
	if (of->parses && !copies)
		rows &= ~row_block_numbers(b, c)->numbers;
	nread = copies ? 0 : (size_t)__builtin_popcountll(rows);
	for (; rows; rows &= rows - 1)
		row_block_field(b, c, (unsigned)__builtin_ctzll(rows));
	return nread;
}

/* Makes all computed fields that the block's new columns show, and room for the texts of quotients that they read: later none lacks
 * room. */
static void make_lets(const struct printing *m)
{
	const struct plan *plan = m->f->plan;
	struct row_block *b = &m->f->folder.block;
	size_t nread = 0;

	for (size_t i = 0; plan->nlets && i < plan->nnew_columns; i++) {
		const struct new_column *column = &plan->new_columns[i];
		nread += make_let(b, column->column, m->f->folder.filter.kept,
				  new_column_has(column->kind, NEW_COPIES));
		if (new_column_is_timed(plan, column))
			nread += make_let(b, plan->over, m->f->folder.filter.kept, false);
	}
	if (nread > 0)
		program_block_need(b->programs, nread * QUOTIENT_TEXT_NBYTES);
}

static enum status print_block(struct printing *m)
{
	struct row_block *b = &m->f->folder.block;
	struct group *run = m->groups ? m->groups->run : NULL;
	struct row_filter *filter = &m->f->folder.filter;
	struct new_fields *fields = &m->f->fields;
	struct group *const *groups = m->groups ? m->f->folder.groups.groups : NULL;
	const struct plan *plan = m->f->plan;
	struct text_buffer *out = m->out;
	char *to;
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1] + row_block_nlacking(b);
	uint64_t kept;
	enum status status;

	if (m->f->folder.programs.is_full || m->nblocks++ < m->ndone)
		return STATUS_OK;
	status = row_filter_block(filter, &m->f->folder.programs, b);
	kept = m->chosen = filter->kept;

	if (status == STATUS_OK && plan->sorter)
		status = sort_part_choose(m->f->sorted, b, m->nkept, &m->chosen);
	if (plan->sorter && !plan_has_running(plan))
		filter->kept = m->chosen; /* the others' fields are not needed */
	if (status == STATUS_OK && filter->kept && m->groups)
		status = row_groups_find(&m->f->folder, m->text, m->groups);
	if (status == STATUS_OK)
		make_lets(m);
	if (m->f->folder.programs.is_full) {
		if (m->groups)
			m->groups->run = run; /* it is looked for again */
		return STATUS_OK;
	}
	m->ndone++;
	m->nkept += (uint64_t)__builtin_popcountll(kept);
	TRY(status);
	if (plan->sorter) {
		m->chosen = sort_part_pick(m->f->sorted, m->chosen);
		if (!plan_has_running(plan))
			filter->kept = m->chosen;
	}
	if (plan->group_head) {
		m->chosen = filter->kept;
		TRY(new_fields_choose(fields, groups, &m->chosen));
		if (!plan_has_running(plan))
			filter->kept = m->chosen;
	}
	if (filter->kept == 0)
		return STATUS_OK;
	TRY(new_fields_write(fields, b, filter, groups, m->offset_bytes));
	if (plan->nleads > 0)
		return lead_text_add(&m->f->leads, b, fields, groups, m->nbytes, &m->f->scratch);
	TRY(text_reserve(out, nbytes + fields->text.nbytes + EMIT_SLACK));
	if (plan->sorter)
		return print_sorted(m);
	if (plan->row_format || plan->group_head)
		return print_each(m);
	to = out->data + out->nbytes;
	if (b->stride != plan->ragged.nfields)
		to = print_rows(m, to, plan->nnew_columns, plan->only, false);
	else if (plan->nnew_columns == 1 && !plan->only)
		to = print_rows(m, to, 1, false, true);
	else
		to = print_rows(m, to, plan->nnew_columns, plan->only, true);
	out->nbytes = (size_t)(to - out->data);
	return STATUS_OK;
}

static enum status print_run(void *context, const struct row_run *run)
{
	struct printing *m = context;
	const struct plan *plan = m->f->plan;
	bool seeks_header = plan->bad_record != INVALID_ERROR; /* else nothing is printed if there is one */

	for (size_t row = 0; row < run->nrows;) {
		struct row_part part = row_run_part(plan, m->text, run, row, seeks_header);
		row += part.rows.nrows;
		for (size_t taken = 0; part.is_taken && taken < part.rows.nrows;) {
			taken += row_block_set(&m->f->folder.block, m->text, &part.rows, taken);
			TRY(print_block(m));
		}
	}
	return STATUS_OK;
}

/* Copies the ranges that rows_fold noted. */
static enum status print_kept(const struct row_folder *f, const char *text,
			      struct text_buffer *out)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < f->nkept; i++)
		nbytes += f->kept[i].end - f->kept[i].begin + f->kept[i].ndelimiters;
	TRY(text_reserve(out, nbytes));
	for (size_t i = 0; i < f->nkept; i++) {
		size_t n = f->kept[i].end - f->kept[i].begin;
		char *to = out->data + out->nbytes;
		memcpy(to, text + f->kept[i].begin, n);
		to = copy_delimiters(to + n, f->plan->dialect.delimiter, f->kept[i].ndelimiters);
		out->nbytes = (size_t)(to - out->data);
	}
	return STATUS_OK;
}

/* Prints record after record. If the plan computes values, from the first block on whose fields found no room again, with more. */
static enum status emit_rows(struct cpu_folder *f, const char *text, size_t nbytes, struct chunk_entry entry,
			     const struct partial *before, struct printing *m)
{
	struct program_block *programs = &f->folder.programs;
	struct rows_extent ignored;

	TRY(new_fields_begin(&f->fields, before));
	if (!f->plan->computes)
		return rows_walk(&f->rows, text, nbytes, entry, print_run, m, &ignored);
	for (;; program_block_widen(programs)) {
		TRY(program_block_begin(programs, text, nbytes));
		m->text = programs->data;
		m->nblocks = 0;
		TRY(rows_walk(&f->rows, programs->data, nbytes, entry, print_run, m, &ignored));
		if (programs->status != STATUS_OK || !programs->is_full)
			return programs->status;
	}
}

enum status cpu_folder_emit(struct cpu_folder *f, const char *text, size_t nbytes,
			    struct chunk_entry entry, const struct partial *before,
			    uint64_t offset_bytes, struct text_buffer *out)
{
	struct printing m = {.f = f,
			     .text = text,
			     .nbytes = nbytes,
			     .groups = before->groups,
			     .offset_bytes = offset_bytes,
			     .out = out,
			     .nkept = before->nkept};
	size_t had = out->nbytes;

	if (m.groups)
		m.groups->run = NULL;
	if (f->plan->sorter) {
		NEED(f->sorted || (f->sorted = sorter_part(f->plan->sorter)));
		if (!sort_part_begin(f->sorted, before->nkept, f->nkept, f->lacks_end))
			return STATUS_OK;
	} else if (plan_copies_records(f->plan) && !f->plan->row_format) {
		return print_kept(&f->folder, text, out);
	}
	TRY(emit_rows(f, text, nbytes, entry, before, &m));
	if (f->plan->sorter)
		out->nbytes = had; /* the sorter has them */
	return f->plan->nleads > 0 ? lead_text_write(&f->leads, f->plan, out) : STATUS_OK;
}
