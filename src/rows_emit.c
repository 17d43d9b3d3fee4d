/* SPDX-License-Identifier: MIT
 *
 * rows_emit.c - see rows_emit.h. Records without new fields are copied as the ranges that
 * rows_fold noted. Others are printed a block at a time: the predicates' answers and the columns'
 * numbers come for all its rows at once, then each row is copied and its totals written.
 *
 * Copying and writing may overshoot a text's end by EMIT_SLACK bytes, so that no length is
 * looked at twice; the next piece is written over that.
 */
#include "rows_emit.h"

#include <string.h>

#define COPY_NBYTES 32 /* copied at once; what is read too much lies in the text's padding */
#define EMIT_SLACK (COPY_NBYTES + DECIMAL_TEXT_SLACK)
#define FIELD_NBYTES_MAX (WIDE_TEXT_NBYTES + 1) /* a new field and a delimiter before it */

/* What one call of rows_emit works on. */
struct printing {
	struct emitter *e;
	struct row_block *block;
	struct row_judge *judge;
	const char *text;
	uint64_t offset_bytes;
	struct text_buffer *out;
};

/* ---- pieces ---- */

/* Copies nbytes, and perhaps COPY_NBYTES - 1 more. Returns the copy's end. */
static inline char *copy_text(char *to, const char *from, size_t nbytes)
{
	if (nbytes > 4 * COPY_NBYTES) {
		memcpy(to, from, nbytes);
		return to + nbytes;
	}
	for (size_t i = 0; i < nbytes; i += COPY_NBYTES)
		memcpy(to + i, from + i, COPY_NBYTES);
	return to + nbytes;
}

/* Takes a field that is not a plain number into scan i's total. */
static enum status take_other(const struct printing *m, size_t i, unsigned row)
{
	const struct plan_scan *s = &m->e->plan->scans[i];
	bool parses = m->e->plan->columns[s->column].parses;
	struct field_span span;
	const char *ignored;
	size_t nbytes;
	enum row_value is = parses ? ROW_QUOTED
				   : row_block_value(m->block, s->column, row, &ignored, &nbytes);

	if (is != ROW_QUOTED) { /* presence is all that is counted */
		m->e->runnings[i].count += is == ROW_PRESENT;
		return STATUS_OK;
	}
	span = row_block_field(m->block, s->column, row);
	return emitter_take(m->e, i, m->text + span.begin, span.end - span.begin);
}

/* Takes the row's value into scan i's total. */
static inline enum status take(const struct printing *m, size_t i, unsigned row)
{
	size_t c = m->e->plan->scans[i].column;
	const struct simd_numbers *x = &m->block->numbers[c];

	if (!m->block->has_numbers[c])
		return take_other(m, i, row);
	if (x->numbers >> row & 1)
		return running_take_decimal(&m->e->runnings[i],
					    (struct decimal){x->significand[row], x->scale[row]});
	return x->empty >> row & 1 ? STATUS_OK : take_other(m, i, row);
}

/* The row's position among those where the predicate holds, or nothing. */
static inline char *write_offset(const struct printing *m, size_t predicate, unsigned row,
				 char *to)
{
	if (!(m->judge->holds[predicate] >> row & 1))
		return to;
	return decimal_write_u64(to, m->e->nmatched[predicate]++);
}

/* Writes scan i's field for the row, and moves the total on. NULL: no memory. */
static inline char *write_scan(const struct printing *m, size_t i, unsigned row, uint32_t begin,
			       char *to)
{
	const struct plan_scan *s = &m->e->plan->scans[i];
	bool exclusive = m->e->plan->exclusive;

	if (s->scan == SCAN_BYTE_OFFSET)
		return decimal_write_u64(to, m->offset_bytes + begin);
	if (s->scan == SCAN_OFFSET)
		return write_offset(m, s->predicate, row, to);
	if (!exclusive && take(m, i, row) != STATUS_OK)
		return NULL;
	to = running_write(&m->e->runnings[i], to);
	return exclusive && take(m, i, row) != STATUS_OK ? NULL : to;
}

/* ---- rows ---- */

/* The most that a record comes to with its new fields. */
static inline size_t room_for(const struct plan *plan, struct row_record r)
{
	return (size_t)(r.next - r.begin) + plan->nscans * FIELD_NBYTES_MAX + EMIT_SLACK;
}

static enum status print_row(const struct printing *m, unsigned row)
{
	const struct plan *plan = m->e->plan;
	struct row_record r = row_block_record(m->block, row);
	char *to;

	if (text_reserve(m->out, room_for(plan, r)) != STATUS_OK)
		return STATUS_NO_MEMORY;
	to = m->out->data + m->out->nbytes;
	if (!plan->only)
		to = copy_text(to, m->text + r.begin, r.end - r.begin);
	for (size_t i = 0; to && i < plan->nscans; i++) {
		if (i > 0 || !plan->only)
			*to++ = plan->delimiter;
		to = write_scan(m, i, row, r.begin, to);
	}
	if (!to)
		return STATUS_NO_MEMORY;
	memcpy(to, m->text + r.end, 2); /* the line end, or that and what comes behind it */
	m->out->nbytes = (size_t)(to - m->out->data) + (r.next - r.end);
	return STATUS_OK;
}

/* Has the numbers of all columns with a running total converted. */
static void convert_columns(const struct printing *m)
{
	const struct plan *plan = m->e->plan;

	for (size_t i = 0; i < plan->nscans; i++)
		if (scan_is_running(&plan->scans[i]) && plan->columns[plan->scans[i].column].parses)
			row_block_numbers(m->block, plan->scans[i].column);
}

static enum status print_block(const struct printing *m)
{
	enum status status = row_judge_block(m->judge, m->block);

	if (status == STATUS_OK && m->judge->kept)
		convert_columns(m);
	for (uint64_t rows = m->judge->kept; rows && status == STATUS_OK; rows &= rows - 1)
		status = print_row(m, (unsigned)__builtin_ctzll(rows));
	return status;
}

static enum status print_run(void *context, const struct row_run *some)
{
	const struct printing *m = context;
	enum status status = STATUS_OK;

	if (row_run_is_short(some, m->e->plan))
		return STATUS_OK;
	for (size_t row = 0; status == STATUS_OK && row < some->nrows;) {
		row += row_block_set(m->block, m->text, some, row);
		status = print_block(m);
	}
	return status;
}

/* Prints the records that were noted, as they are. */
static enum status print_kept(const struct row_folder *f, const char *text,
			      struct text_buffer *out)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < f->nkept; i++)
		nbytes += f->kept[i].end - f->kept[i].begin;
	if (text_reserve(out, nbytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < f->nkept; i++) {
		size_t n = f->kept[i].end - f->kept[i].begin;
		memcpy(out->data + out->nbytes, text + f->kept[i].begin, n);
		out->nbytes += n;
	}
	return STATUS_OK;
}

/* Whether new fields never need quotes: no number can hold the delimiter. */
static bool needs_no_quotes(const struct plan *plan)
{
	return !decimal_is_digit(plan->delimiter) && plan->delimiter != '.' &&
	       plan->delimiter != '-';
}

enum status rows_emit(struct emitter *e, struct row_folder *f, struct rows *r, const char *text,
		      size_t nbytes, struct chunk_entry entry, const struct partial *before,
		      uint64_t offset_bytes, struct text_buffer *out)
{
	struct printing m = {e, &f->block, &f->judge, text, offset_bytes, out};
	struct rows_extent extent = {.left = f->left};
	enum status status;

	if (f->left == SIZE_MAX || !needs_no_quotes(e->plan))
		return records_emit(e, text, nbytes, entry, false, before, offset_bytes, out);
	status = emitter_begin(e, before);
	if (status == STATUS_OK && e->plan->nscans == 0)
		status = print_kept(f, text, out);
	else if (status == STATUS_OK)
		status = rows_walk(r, text, nbytes, entry, print_run, &m, &extent);
	if (status == STATUS_OK && extent.left < nbytes)
		status = records_emit_from(e, text, nbytes, extent.left, offset_bytes, out);
	return status;
}
