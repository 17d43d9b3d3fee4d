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

void let_fold_note(const struct row_folder *f, const char *text, size_t c, unsigned row,
		   struct partial *out)
{
	struct field_span span = row_block_field(&f->block, c, row);

	if (span.begin >= f->lets.text_nbytes)
		partial_note_computed(out, c, row_block_offset(&f->block, c, row),
				      text + span.begin, span.end - span.begin);
}

static enum status fold_row(struct row_folder *f, const char *text, size_t c, unsigned row,
			    struct partial *out)
{
	struct field_span span = row_block_field(&f->block, c, row);
	uint64_t ninvalid = out->columns[c].ninvalid;
	enum status status = column_add_computed(f->plan, out, c, text + span.begin, span.end - span.begin,
						 let_block_rounded(&f->block, c, row),
						 row_block_offset(&f->block, c, row), &f->scratch);

	if (out->columns[c].ninvalid > ninvalid)
		let_fold_note(f, text, c, row, out);
	return status;
}

/* Offers the kept rows' values to an end of the column: for the last one from the last row back. */
static enum status offer_rows(struct row_folder *f, const char *text, size_t c, struct ends *ends,
			      enum end end)
{
	enum status status = STATUS_OK;
	bool taken = false;

	for (uint64_t rows = f->filter.kept; rows && !taken && status == STATUS_OK;) {
		unsigned row = end == END_FIRST ? lowest(rows) : highest(rows);
		struct field_span span = row_block_field(&f->block, c, row);
		rows &= ~(UINT64_C(1) << row);
		status = ends_offer(ends, end, f->plan, c, text + span.begin, span.end - span.begin,
				    let_block_rounded(&f->block, c, row), &f->scratch, &taken);
	}
	return status;
}

static enum status fold_ends(struct row_folder *f, const char *text, size_t c, struct partial *out)
{
	struct ends *ends = moments_need(&out->columns[c].moments, CELL_ENDS);
	enum status status = STATUS_OK;

	if (!ends)
		return STATUS_NO_MEMORY;
	if (!ends_has(ends, END_FIRST))
		status = offer_rows(f, text, c, ends, END_FIRST);
	return status == STATUS_OK ? offer_rows(f, text, c, ends, END_LAST) : status;
}

enum status let_fold_column(struct row_folder *f, const char *text, size_t c, struct partial *out)
{
	const struct plan_column *plan = &f->plan->columns[c];
	const struct simd_numbers *x = row_block_numbers(&f->block, c);
	struct column_partial *column = &out->columns[c];
	uint64_t kept = f->filter.kept, numbers = kept & x->numbers;
	enum status status = plan->needs & MOMENT_ENDS ? fold_ends(f, text, c, out) : STATUS_OK;

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
		status = fold_row(f, text, c, lowest(kept), out);
	return status;
}
