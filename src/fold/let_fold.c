/* SPDX-License-Identifier: MIT
 *
 * let_fold.c - see let_fold.h. Numbers of the fast path are folded all at once; other values, and those of
 * which the text is needed, one by one.
 */
#include "fold/let_fold.h"

static unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
}

static unsigned highest(uint64_t rows)
{
	return 63 - (unsigned)__builtin_clzll(rows);
}

static bool is_before(size_t offset, const struct bad_value *kept)
{
	return !kept || offset < kept->offset;
}

/* Keeps the row's value, if it is the first of its kind. is_text: it is wrong as a number only. */
static enum status keep(struct row_folder *f, const char *text, size_t c, unsigned row, enum status why,
			bool is_text)
{
	struct bad_values *kept = partial_computed(f->out, c);
	size_t offset = row_block_offset(&f->block, c, row), nbytes;
	struct field_span span;
	const char *value;

	if (!is_before(offset, kept->first) && (is_text || !is_before(offset, kept->first_nul)))
		return STATUS_OK;
	span = row_block_field(&f->block, c, row);
	value = field_value(&f->plan->dialect, text + span.begin, span.end - span.begin, &f->scratch, &nbytes);
	NEED(value);
	TRY(bad_value_keep(&kept->first, offset, why, value, nbytes));
	if (!is_text)
		TRY(bad_value_keep(&kept->first_nul, offset, why, value, nbytes));
	return STATUS_OK;
}

enum status let_fold_row(struct row_folder *f, const char *text, size_t c, unsigned row, struct partial *out)
{
	size_t offset = row_block_offset(&f->block, c, row);
	enum status why = let_block_why(&f->block, c, row), status = STATUS_OK;
	bool is_text = why == STATUS_OK;
	struct raw_field field;

	if (is_text) {
		field = row_block_raw(&f->block, c, row);
		status = column_add_computed(f->plan, out, c, &field, offset, &f->scratch, &why);
		is_text = why != STATUS_NUL;
	} else {
		column_add_wrong(&out->columns[c], why, offset);
	}
	return status == STATUS_OK && why != STATUS_OK ? keep(f, text, c, row, why, is_text) : status;
}

/* Offers the kept rows' values to an end of the column: for the last one from the last row back. */
static enum status offer_rows(struct row_folder *f, size_t c, uint64_t offset_bytes, struct ends *ends, enum end end)
{
	enum status status = STATUS_OK;
	bool taken = false;

	for (uint64_t rows = f->filter.kept & ~let_block_wrong(&f->block, c); rows && !taken && status == STATUS_OK;) {
		unsigned row = end == END_FIRST ? lowest(rows) : highest(rows);
		struct raw_field field = row_block_raw(&f->block, c, row);
		uint64_t place = offset_bytes + row_block_offset(&f->block, c, row);
		rows &= ~(UINT64_C(1) << row);
		status = ends_offer(ends, end, f->plan, c, place, &field, &f->scratch, &taken);
	}
	return status;
}

static enum status fold_ends(struct row_folder *f, size_t c, struct partial *out)
{
	struct ends *ends = moments_need(&out->columns[c].moments, CELL_ENDS);
	enum status status = STATUS_OK;

	NEED(ends);
	if (!ends_has(ends, END_FIRST))
		status = offer_rows(f, c, out->offset_bytes, ends, END_FIRST);
	return status == STATUS_OK ? offer_rows(f, c, out->offset_bytes, ends, END_LAST) : status;
}

enum status let_fold_column(struct row_folder *f, const char *text, size_t c, struct partial *out)
{
	const struct plan_column *plan = &f->plan->columns[c];
	const struct simd_numbers *x = row_block_numbers(&f->block, c);
	struct column_partial *column = &out->columns[c];
	uint64_t kept = f->filter.kept, numbers = kept & x->numbers;
	enum status status = plan->needs & MOMENT_ENDS ? fold_ends(f, c, out) : STATUS_OK;

	if (!plan->parses || (plan->needs & (MOMENT_TEXTS | MOMENT_KEYS)))
		numbers = 0;
	simd()->fold_numbers(x, numbers, &f->fold);
	if (status == STATUS_OK && numbers && plan_column_has_moments(plan))
		status = moments_add(&column->moments, plan->needs, x->significand, x->scale,
				     numbers);
	if (numbers && column->first_number_offset == OFFSET_NONE)
		column->first_number_offset =
			(uint32_t)(row_block_ends(&f->block, lowest(numbers))[-1] + 1);
	for (kept &= ~numbers; kept && status == STATUS_OK; kept &= kept - 1)
		status = let_fold_row(f, text, c, lowest(kept), out);
	return status;
}
