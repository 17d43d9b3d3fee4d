/* SPDX-License-Identifier: MIT
 *
 * rows_fold.c - see rows_fold.h. Where there are conditions, the rows of a block that are kept are
 * folded as if they stood by themselves: their fields' ends, copied, are rows of two
 * separators, one before the field and one behind it.
 */
#include "fold/rows_fold.h"

#include <stdlib.h>
#include <string.h>

enum status row_folder_init(struct row_folder *f, const struct plan *plan)
{
	memset(f, 0, sizeof *f);
	f->plan = plan;
	f->hints = calloc(plan->ncolumns + 1, sizeof *f->hints);
	if (!f->hints || row_block_init(&f->block, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return row_filter_init(&f->judge, plan);
}

void row_folder_free(struct row_folder *f)
{
	row_block_free(&f->block);
	row_filter_free(&f->judge);
	free(f->scratch.data);
	free(f->hints);
	free(f->kept);
	memset(f, 0, sizeof *f);
}

/* What one call of rows_fold works on. */
struct folding {
	struct row_folder *f;
	const char *text;
	struct partial *out;
};

/* ---- a column ---- */

/* One field of each of nrows rows: row r's is ended by ends[r x stride]. */
struct row_fields {
	const uint32_t *ends;
	size_t stride, nrows;
	bool drops_cr;
};

/* Folds a field that is not a plain number. */
static enum status fold_field(const struct folding *m, size_t c, struct field_span span)
{
	return column_add_field(m->f->plan, m->out, c, m->text + span.begin, span.end - span.begin,
			   span.begin, &m->f->scratch);
}

/* At the row that a fold began with: before its first number there may be missing values. */
static void note_first_number(struct column_partial *column, size_t offset)
{
	if (column->first_number_offset == OFFSET_NONE)
		column->first_number_offset = offset;
}

/* Folds those of the fields that are plain numbers, up to the first that is not. Returns how
 * many. */
static size_t fold_numbers(const struct folding *m, size_t c, const struct row_fields *fields)
{
	struct column_partial *partial = &m->out->columns[c];
	uint64_t before = partial->fast.count;
	size_t n;

	if (!m->f->plan->columns[c].parses || m->f->block.missing_is_number)
		return 0;
	n = simd()->fold(m->text, fields->ends, fields->stride, fields->nrows, fields->drops_cr,
			 &partial->fast, &partial->nmissing, &m->f->hints[c]);
	if (n > 0 && partial->fast.count > before)
		note_first_number(partial, (uint32_t)(fields->ends[-1] + 1));
	return n;
}

/* Adds the block's numbers in `rows` to the column's fold. */
static void add_numbers(struct column_partial *partial, const struct simd_numbers *x, uint64_t rows)
{
	for (uint64_t left = rows; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		decimal_fold_add(&partial->fast, (struct decimal){x->significand[i], x->scale[i]});
	}
	moments_add(&partial->moments, x->significand, x->scale, rows);
}

/* Folds the fields of up to 64 rows by converting them first: every moment takes the same
 * numbers. Returns how many rows. */
static enum status fold_converted(const struct folding *m, size_t c, const struct row_fields *fields,
				  size_t *nrows)
{
	struct column_partial *partial = &m->out->columns[c];
	size_t n = fields->nrows < SIMD_NUMBERS_NROWS ? fields->nrows : SIMD_NUMBERS_NROWS;
	uint64_t all = ~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n), others;
	enum status status = STATUS_OK;
	struct simd_numbers x;

	simd()->convert(m->text, fields->ends, fields->stride, n, fields->drops_cr, &x,
			&m->f->hints[c]);
	if (m->f->block.missing_is_number)
		x.numbers = 0;
	if (x.numbers) {
		int first = __builtin_ctzll(x.numbers);
		note_first_number(partial, (uint32_t)(fields->ends[(ptrdiff_t)(first * fields->stride) - 1] + 1));
		add_numbers(partial, &x, x.numbers);
	}
	partial->nmissing += (uint64_t)__builtin_popcountll(x.empty);
	for (others = all & ~x.numbers & ~x.empty; others && status == STATUS_OK; others &= others - 1)
		status = fold_field(m, c, row_field(m->text, fields->ends + (size_t)__builtin_ctzll(others) * fields->stride,
						    fields->drops_cr));
	*nrows = n;
	return status;
}

static enum status fold_fields(const struct folding *m, size_t c, struct row_fields fields)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && fields.nrows > 0 && moments_exist(&m->out->columns[c].moments)) {
		size_t n;
		status = fold_converted(m, c, &fields, &n);
		fields.ends += n * fields.stride;
		fields.nrows -= n;
	}
	while (status == STATUS_OK && fields.nrows > 0) {
		size_t n = fold_numbers(m, c, &fields);
		fields.ends += n * fields.stride;
		fields.nrows -= n;
		if (fields.nrows == 0)
			break;
		status = fold_field(m, c, row_field(m->text, fields.ends, fields.drops_cr));
		fields.ends += fields.stride;
		fields.nrows--;
	}
	return status;
}

/* Folds all rows of the run. */
static enum status fold_all(const struct folding *m, const struct row_run *some)
{
	const struct plan *plan = m->f->plan;
	enum status status = STATUS_OK;

	for (size_t c = 0; status == STATUS_OK && c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		struct row_fields fields = {some->ends + column->field, some->stride, some->nrows,
					    column->field == some->stride - 1};
		if (column->needs)
			status = fold_fields(m, c, fields);
	}
	return status;
}

/* ---- conditions ---- */

/* Column c of the rows that are kept, as rows of two separators. */
static enum status fold_kept_column(const struct folding *m, size_t c)
{
	const struct row_block *b = &m->f->block;
	uint32_t pairs[2 * ROW_BLOCK_NROWS], *to = pairs;
	uint32_t field = m->f->plan->columns[c].field;

	for (uint64_t rows = m->f->judge.kept; rows; rows &= rows - 1, to += 2) {
		const uint32_t *ends = row_block_ends(b, (unsigned)__builtin_ctzll(rows)) + field;
		to[0] = ends[-1];
		to[1] = ends[0];
	}
	return fold_fields(m, c, (struct row_fields){pairs + 1, 2, (size_t)(to - pairs) / 2,
						     field == b->stride - 1});
}

static enum status fold_kept(const struct folding *m)
{
	const struct plan *plan = m->f->plan;
	const struct row_block *b = &m->f->block;
	enum status status = STATUS_OK;

	if (m->f->judge.kept == row_block_all(b))
		return fold_all(m, &(struct row_run){b->ends, b->stride, b->nrows});
	for (size_t c = 0; status == STATUS_OK && c < plan->ncolumns; c++)
		if (plan->columns[c].needs)
			status = fold_kept_column(m, c);
	return status;
}

/* A value leaves a predicate undecided. */
static void fold_undecided(const struct folding *m)
{
	const struct row_filter *j = &m->f->judge;
	unsigned first = (unsigned)__builtin_ctzll(j->undecided);

	m->out->nundecided += (uint64_t)__builtin_popcountll(j->undecided);
	if (m->out->first_undecided_offset != OFFSET_NONE)
		return;
	m->out->first_undecided_offset = row_block_field(&m->f->block, j->culprit, first).begin;
	m->out->undecided_column = j->culprit;
}

/* Adds a range to those that are kept, or lengthens the last. */
static enum status keep_range(struct row_folder *f, uint32_t begin, uint32_t end)
{
	if (f->nkept > 0 && f->kept[f->nkept - 1].end == begin) {
		f->kept[f->nkept - 1].end = end;
		return STATUS_OK;
	}
	if (f->nkept == f->kept_capacity) {
		size_t capacity = 2 * f->kept_capacity + ROW_BLOCK_NROWS;
		struct row_range *grown = realloc(f->kept, capacity * sizeof *grown);
		if (!grown)
			return STATUS_NO_MEMORY;
		f->kept = grown;
		f->kept_capacity = capacity;
	}
	f->kept[f->nkept++] = (struct row_range){begin, end};
	return STATUS_OK;
}

/* Notes the block's rows that are kept, neighbours as one range. */
static enum status keep_rows(struct row_folder *f)
{
	const struct row_block *b = &f->block;
	enum status status = STATUS_OK;

	for (uint64_t rows = f->judge.kept; rows && status == STATUS_OK;) {
		unsigned first = (unsigned)__builtin_ctzll(rows);
		uint64_t behind = rows + (rows & -rows); /* the run's rows are 0 in it */
		unsigned last = behind ? (unsigned)__builtin_ctzll(behind) - 1
				       : ROW_BLOCK_NROWS - 1;
		status = keep_range(f, row_block_ends(b, first)[-1] + 1,
				    row_block_ends(b, last)[b->stride - 1] + 1);
		rows &= behind;
	}
	return status;
}

static enum status fold_block(const struct folding *m)
{
	const struct plan *plan = m->f->plan;
	struct row_filter *j = &m->f->judge;
	enum status status = row_filter_block(j, &m->f->block);

	if (status != STATUS_OK)
		return status;
	if (j->undecided)
		fold_undecided(m);
	if (j->kept == 0)
		return STATUS_OK;
	for (size_t p = 0; p < plan->npredicates; p++)
		m->out->nmatched[p] += (uint64_t)__builtin_popcountll(j->holds[p]);
	if (plan->emits && plan->nnew_columns == 0)
		status = keep_rows(m->f);
	return status == STATUS_OK ? fold_kept(m) : status;
}

/* ---- rows ---- */

static enum status fold_run(void *context, const struct row_run *some)
{
	const struct folding *m = context;
	enum status status = STATUS_OK;

	if (row_run_is_short(some, m->f->plan)) {
		m->out->nshort += some->nrows;
		if (m->out->first_short_offset == OFFSET_NONE)
			m->out->first_short_offset = (uint32_t)(some->ends[-1] + 1);
		return STATUS_OK;
	}
	if (m->f->plan->npredicates == 0)
		return fold_all(m, some);
	for (size_t row = 0; status == STATUS_OK && row < some->nrows;) {
		row += row_block_set(&m->f->block, m->text, some, row);
		status = fold_block(m);
	}
	return status;
}

enum status rows_fold(struct row_folder *f, struct rows *r, const char *text, size_t nbytes,
		      struct chunk_entry entry, struct partial *out, size_t *left)
{
	struct folding m = {f, text, out};
	struct rows_extent extent;
	enum status status;

	f->nkept = 0;
	status = rows_walk(r, text, nbytes, entry, fold_run, &m, &extent);
	out->head_ends = extent.head_ends;
	out->head_nbytes = extent.head_nbytes;
	out->tail_offset = extent.tail_offset;
	*left = f->left = extent.left;
	return status;
}
