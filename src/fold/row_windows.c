/* SPDX-License-Identifier: MIT
 *
 * row_windows.c - see row_windows.h. Without groups only the last rows of a text count, as many as the window
 * looks back on: the others are left out before their fields are read.
 */
#include "fold/row_windows.h"

#include <string.h>

#include "fold/group.h"
#include "fold/group_window.h"
#include "fold/rows_fold.h"
#include "fold/window.h"
#include "number/wide.h"
#include "query/value.h"

/* Whether a value is a number within the range. */
static bool is_number(const struct value *v)
{
	struct wide ignored;
	int scale;

	return v->kind == DECIMAL_NUMBER ||
	       (v->kind == DECIMAL_WIDE && wide_parse(v->text, v->nbytes, &ignored, &scale) == STATUS_OK);
}

enum status row_number_value(const struct row_block *b, size_t c, const struct simd_numbers *x, unsigned row,
			     struct scratch *scratch, struct recent_value *out)
{
	struct value v;
	enum status status;

	*out = (struct recent_value){.kind = RECENT_NUMBER, .number = {x->significand[row], x->scale[row]}};
	if (x->numbers >> row & 1)
		return STATUS_OK;
	out->kind = RECENT_NONE;
	if (x->empty >> row & 1)
		return STATUS_OK;
	status = row_block_read(b, c, row, true, scratch, &v);
	if (status != STATUS_OK || !is_number(&v))
		return status;
	*out = (struct recent_value){.kind = RECENT_TEXT, .text = v.text, .nbytes = v.nbytes};
	if (v.kind == DECIMAL_NUMBER)
		*out = (struct recent_value){.kind = RECENT_NUMBER, .number = v.number};
	return STATUS_OK;
}

/* Whether a field is missing. */
static enum status is_missing(const struct row_block *b, size_t c, unsigned row, struct scratch *scratch,
			      bool *is)
{
	const char *text;
	size_t nbytes;
	enum row_value kind = row_block_value(b, c, row, &text, &nbytes);
	struct value v;
	enum status status = STATUS_OK;

	*is = kind == ROW_MISSING;
	if (kind != ROW_QUOTED)
		return STATUS_OK;
	status = row_block_read(b, c, row, false, scratch, &v);
	*is = status == STATUS_OK && v.kind == DECIMAL_MISSING;
	return status;
}

/* Whether a field may be printed: the value of a computed column that is to be a number and is neither one nor
 * missing was left out. */
static enum status is_printed(struct row_block *b, size_t c, unsigned row, struct scratch *scratch, bool *is)
{
	struct recent_value v;
	enum status status;

	*is = !b->plan->columns[c].let || let_block_why(b, c, row) == STATUS_OK;
	if (!*is || !b->plan->columns[c].let || !b->plan->columns[c].parses)
		return STATUS_OK;
	status = row_number_value(b, c, row_block_numbers(b, c), row, scratch, &v);
	*is = v.kind != RECENT_NONE;
	return *is || status != STATUS_OK ? status : is_missing(b, c, row, scratch, is);
}

enum status row_text_value(struct row_block *b, size_t c, unsigned row, bool skips_missing,
			   struct scratch *scratch, struct recent_value *out)
{
	struct field_span span = row_block_field(b, c, row);
	bool printed, missing = false;
	enum status status = is_printed(b, c, row, scratch, &printed);

	*out = (struct recent_value){.kind = RECENT_TEXT, .text = b->text + span.begin,
				     .nbytes = printed ? span.end - span.begin : 0};
	if (csv_dialect_trims(&b->plan->dialect))
		out->text = field_trim(&b->plan->dialect, out->text, &out->nbytes);
	if (status == STATUS_OK && skips_missing && printed)
		status = is_missing(b, c, row, scratch, &missing);
	if (skips_missing && (missing || !printed))
		out->kind = RECENT_NONE;
	return status;
}

/* Adds a row's value to the plan's window i, its group's or that of all records. x: the column's numbers. *adds: set to false if it is
 * missing, and does not count. */
static enum status add_row(struct row_folder *f, size_t i, const struct simd_numbers *x, unsigned row, struct partial *out, bool *adds)
{
	const struct plan_window *window = &f->plan->windows[i];
	struct group *group = f->plan->nkeys > 0 ? f->groups.groups[row] : NULL;
	struct recent_value v;
	size_t c = window->column;
	enum status status = x ? row_number_value(&f->block, c, x, row, &f->scratch, &v)
			       : row_text_value(&f->block, c, row, window->kind == NEW_FILL_DOWN, &f->scratch, &v);

	*adds = v.kind != RECENT_NONE || !new_column_has(window->kind, NEW_SKIPS_MISSING);
	if (status != STATUS_OK || !*adds)
		return status;
	return group ? group_window_add(group, f->plan, i, &v) : window_add(&out->windows[i], &v);
}

static unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
}

static unsigned highest(uint64_t rows)
{
	return 63 - (unsigned)__builtin_clzll(rows);
}

/* The last n of the rows. */
static uint64_t last_rows(uint64_t rows, uint64_t n)
{
	for (unsigned surplus = (unsigned)__builtin_popcountll(rows); surplus > n; surplus--)
		rows &= rows - 1;
	return rows;
}

/* Whether nothing but the last value counts that is not missing. */
static bool is_of_last_value(const struct plan_window *window)
{
	return new_column_has(window->kind, NEW_SKIPS_MISSING) && plan_window_nbefore(window) == 1;
}

/* Adds rows to window i. *adds: whether a value of them counts. */
static enum status fold_window(struct row_folder *f, size_t i, uint64_t rows, struct partial *out, bool *adds)
{
	const struct plan_window *window = &f->plan->windows[i];
	const struct simd_numbers *x =
		new_column_has(window->kind, NEW_COPIES) ? NULL : row_block_numbers(&f->block, window->column);
	bool by_group = f->plan->nkeys > 0;
	enum status status = STATUS_OK;

	*adds = false;
	if (!by_group && is_of_last_value(window)) {
		for (; rows && status == STATUS_OK && !*adds; rows -= UINT64_C(1) << highest(rows))
			status = add_row(f, i, x, highest(rows), out, adds);
		return status;
	}
	if (!by_group)
		rows = last_rows(rows, plan_window_nbefore(window));
	for (; rows && status == STATUS_OK; rows &= rows - 1)
		status = add_row(f, i, x, lowest(rows), out, adds);
	return status;
}

enum status row_windows_fold(struct row_folder *f, uint64_t rows, struct partial *out)
{
	enum status status = STATUS_OK;
	bool ignored;

	for (size_t i = 0; i < f->plan->nwindows && status == STATUS_OK; i++)
		status = fold_window(f, i, rows, out, &ignored);
	return status;
}

/* Adds a run's rows to window i: as many of the last ones as it needs, or, from the last block back, those up to a value. */
static enum status fold_window_run(struct row_folder *f, size_t i, const char *text, const struct row_run *run, struct partial *out)
{
	const uint64_t nbefore = plan_window_nbefore(&f->plan->windows[i]);
	const bool is_of_last = is_of_last_value(&f->plan->windows[i]);
	const size_t n = nbefore < run->nrows ? (size_t)nbefore : run->nrows;
	enum status status = STATUS_OK;
	bool adds = false;

	for (size_t row = run->nrows; row > 0 && is_of_last && !adds && status == STATUS_OK;) {
		row -= row < ROW_BLOCK_NROWS ? row : ROW_BLOCK_NROWS;
		row_block_set(&f->block, text, run, row);
		status = fold_window(f, i, row_block_all(&f->block), out, &adds);
	}
	for (size_t row = run->nrows - n; row < run->nrows && !is_of_last && status == STATUS_OK;) {
		row += row_block_set(&f->block, text, run, row);
		status = fold_window(f, i, row_block_all(&f->block), out, &adds);
	}
	return status;
}

enum status row_windows_fold_run(struct row_folder *f, const char *text, const struct row_run *run,
				 struct partial *out)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < f->plan->nwindows && status == STATUS_OK; i++)
		status = fold_window_run(f, i, text, run, out);
	return status;
}
