/* SPDX-License-Identifier: MIT
 *
 * rows_fold.c - see rows_fold.h. Without conditions, a column of a run is folded straight from the
 * text. With conditions, a block of rows is filtered first. A column that the filter has converted
 * is folded from its numbers; another one from the ends of the kept rows' fields, copied as rows of
 * two separators. Pairs of columns are folded a block at a time, too, from the same numbers.
 */
#include "fold/rows_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fold/keys.h"
#include "fold/row_currencies.h"
#include "fold/window.h"

/* ---- what a thread folds with ---- */

enum status row_folder_init(struct row_folder *f, const struct plan *plan)
{
	memset(f, 0, sizeof *f);
	f->plan = plan;
	if (row_block_init(&f->block, plan) != STATUS_OK ||
	    text_folder_init(&f->texts, plan) != STATUS_OK ||
	    pair_block_init(&f->pairs, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	TRY(program_block_init(&f->programs, plan));
	NEED(f->quotients = calloc(plan->nlets + 1, sizeof *f->quotients));
	if (plan->computes)
		f->block.programs = &f->programs;
	f->keeps_keys = plan->nkeys > 0;
	for (size_t c = 0; c < plan->ncolumns; c++)
		f->keeps_keys |= (plan->columns[c].needs & MOMENT_KEYS) || !plan->columns[c].parses;
	memcpy(f->may_not_be_key, f->block.may_be_missing, sizeof f->may_not_be_key);
	f->may_not_be_key[(unsigned char)plan->dialect.quote] = true;
	return row_filter_init(&f->filter, plan);
}

void row_folder_free(struct row_folder *f)
{
	row_block_free(&f->block);
	program_block_free(&f->programs);
	row_filter_free(&f->filter);
	text_folder_free(&f->texts);
	pair_block_free(&f->pairs);
	row_groups_free(&f->groups);
	for (size_t i = 0; f->quotients && i < f->plan->nlets; i++)
		free(f->quotients[i]);
	free(f->quotients);
	free(f->scratch.data);
	free(f->time_scratch.data);
	free(f->kept);
	memset(f, 0, sizeof *f);
}

/* ---- which rows are folded ---- */

/* Whether the last field of a row of `stride` fields has no byte. */
static bool ends_empty(const struct csv_dialect *dialect, const char *text, const uint32_t *ends,
		       size_t stride)
{
	struct field_span last = row_field(text, ends + stride - 1, true);
	size_t nbytes = last.end - last.begin;

	if (nbytes > 0 && csv_dialect_trims(dialect))
		field_trim(dialect, text + last.begin, &nbytes);
	return nbytes == 0;
}

/* The row's first byte. */
static inline unsigned char first_byte(const char *text, const uint32_t *ends)
{
	return (unsigned char)text[(uint32_t)(ends[-1] + 1)];
}

/* Whether a row is the header again. */
static bool is_header(const struct plan *plan, const char *text, const uint32_t *ends, size_t stride)
{
	uint32_t begin = ends[-1] + 1, end = ends[stride - 1];

	end -= (uint32_t)field_cr_nbytes(text, begin, end, plan->dialect.escape);
	return header_is_repeated(&plan->sought, &plan->dialect, text + begin, end - begin);
}

/* Returns the first byte of a header by which spellings of it do not differ, or 0. */
static char first_sought_byte(const struct sought_header *h)
{
	for (uint32_t i = 0; i < h->nbytes; i++)
		if (!sought_header_ignores(h, h->text[i]))
			return h->text[i];
	return '\0';
}

/* Returns how many rows come before the first that is the header again. Every record passes here: four at a time
 * are looked at by their first bytes. */
static size_t nrows_before_header(const struct plan *plan, const char *text, const struct row_run *rows)
{
	const struct sought_header *h = &plan->sought;
	const char sought = first_sought_byte(h);
	bool begins[256] = {0}; /* a header may begin with the byte, and so may what follows one that is not looked for */
	const size_t stride = rows->stride;
	const uint32_t *ends = rows->ends;
	size_t row = 0;

	for (const char *c = " \t\r" BYTE_ORDER_MARK; *c; c++)
		begins[(unsigned char)*c] = true;
	begins[(unsigned char)h->quote] = begins[(unsigned char)h->escape] = true;
	begins[(unsigned char)sought] = true;
	while (row < rows->nrows) {
		size_t n = rows->nrows - row < 4 ? 1 : 4;
		if (n == 4 && !(begins[first_byte(text, ends)] | begins[first_byte(text, ends + stride)] |
				begins[first_byte(text, ends + 2 * stride)] | begins[first_byte(text, ends + 3 * stride)])) {
			row += n;
			ends += n * stride;
			continue;
		}
		for (; n > 0; n--, row++, ends += stride) {
			const char *record = text + (uint32_t)(ends[-1] + 1);
			if (begins[(unsigned char)record[0]] &&
			    (record[0] == sought || begins[(unsigned char)record[1]]) &&
			    is_header(plan, text, ends, stride))
				return row;
		}
	}
	return row;
}

/* Cuts a part of rows that are not ragged before one that is the header again, or leaves that row alone in it. */
static void part_seek_header(struct row_part *part, const struct plan *plan, const char *text)
{
	size_t n = nrows_before_header(plan, text, &part->rows);

	part->is_header = n == 0;
	part->is_taken = n > 0;
	part->rows.nrows = n ? n : 1;
}

struct row_part row_run_part(const struct plan *plan, const char *text, const struct row_run *run, size_t first,
			     bool seeks_header)
{
	const struct ragged_rule *rule = &plan->ragged;
	uint32_t n = (uint32_t)run->stride;
	const uint32_t *ends = run->ends + first * run->stride;
	struct row_part part = {.rows = {ends, run->stride, run->nrows - first}};
	bool looks = n == rule->nfields + 1; /* at each row's last field: it decides */
	size_t nrows = 1;

	part.is_ragged = n != rule->nfields &&
			 ragged_is(rule, n, looks && ends_empty(&plan->dialect, text, ends, n));
	part.is_taken = !part.is_ragged || ragged_is_taken(rule, n);
	if (looks) {
		while (nrows < part.rows.nrows &&
		       ends_empty(&plan->dialect, text, ends + nrows * n, n) == !part.is_ragged)
			nrows++;
		part.rows.nrows = nrows;
	}
	if (seeks_header && plan->sought.nbytes && !part.is_ragged && n + 1 >= rule->nfields)
		part_seek_header(&part, plan, text);
	return part;
}

/* ---- which rows are printed ---- */

/* Appends a range to the kept ones, or lengthens the last. */
static enum status keep_range(struct row_folder *f, struct row_range range)
{
	struct row_range *last = f->nkept > 0 ? &f->kept[f->nkept - 1] : NULL;

	if (last && last->end == range.begin && last->ndelimiters == 0) {
		last->end = range.end;
		last->ndelimiters = range.ndelimiters;
		return STATUS_OK;
	}
	TRY(ARRAY_GROW(f->kept, f->kept_capacity, f->nkept + 1));
	f->kept[f->nkept++] = range;
	return STATUS_OK;
}

/* Keeps a row of another number of fields than the first record's. */
static enum status keep_uneven(struct row_folder *f, unsigned row)
{
	const struct row_block *b = &f->block;
	struct row_record r = row_record_at(b->text, row_block_ends(b, row), b->stride, row_block_nfields(b),
					    f->plan->dialect.escape);

	TRY(keep_range(f, (struct row_range){r.begin, r.end, r.nlacking}));
	return keep_range(f, (struct row_range){r.line_end, r.next, 0});
}

enum status row_folder_keep(struct row_folder *f)
{
	const struct row_block *b = &f->block;
	bool is_even = b->stride == f->plan->ragged.nfields;
	enum status status = STATUS_OK;

	for (uint64_t rows = f->filter.kept; rows && status == STATUS_OK;) {
		unsigned first = (unsigned)__builtin_ctzll(rows);
		uint64_t behind = rows + (rows & -rows); /* without the first row's neighbours */
		unsigned last = behind ? (unsigned)__builtin_ctzll(behind) - 1
				       : ROW_BLOCK_NROWS - 1;
		if (is_even)
			status = keep_range(f, (struct row_range){row_block_ends(b, first)[-1] + 1,
								  row_block_ends(b, last)[b->stride - 1] + 1, 0});
		for (unsigned row = first; !is_even && row <= last && status == STATUS_OK; row++)
			status = keep_uneven(f, row);
		rows &= behind;
	}
	return status;
}

/* ---- fields ---- */

/* One field of each of nrows rows: row r's is ended by ends[r x stride]. */
struct row_fields {
	const uint32_t *ends;
	size_t stride, nrows;
	bool drops_cr;
};

/* One call of rows_fold. */
struct fold {
	struct row_folder *f;
	const char *text;
	struct partial *out;
};

/* ---- keys ---- */

/* Makes room in the cell of column c for n texts. NULL: no memory. */
static struct keys *need_room(const struct fold *m, size_t c, size_t n, struct key_span **room)
{
	struct keys *keys = moments_need(&m->out->columns[c].moments, CELL_KEYS);

	if (keys)
		*room = keys_note(keys, keys_wanted_of(&m->f->plan->columns[c]), m->text, m->out->offset_bytes, n);
	return keys && *room ? keys : NULL;
}

/* What a field is whose first byte says that it may be no key. */
enum doubt { IS_MISSING, IS_KEY, NOT_IN_PLACE };

static enum doubt settle(const struct plan *plan, const char *text, struct field_span *span)
{
	size_t nbytes = span->end - span->begin;
	const char *value = field_in_place(&plan->dialect, text + span->begin, &nbytes);

	if (!value)
		return NOT_IN_PLACE;
	if (value_is_missing(plan, 0, value, nbytes))
		return IS_MISSING;
	span->begin = (size_t)(value - text);
	span->end = span->begin + nbytes;
	return IS_KEY;
}

/* Folds fields of column c, which does not parse: counts them and, if it needs MOMENT_KEYS, notes their
 * texts, up to the first whose text is not part of the field. *ndone: their number. Errors:
 * STATUS_NO_MEMORY. */
static enum status note_keys(const struct fold *m, size_t c, const struct row_fields *fields, size_t *ndone)
{
	struct column_partial *column = &m->out->columns[c];
	bool counts_only = !(m->f->plan->columns[c].needs & MOMENT_KEYS);
	struct key_span *room = NULL;
	struct keys *keys = counts_only ? NULL : need_room(m, c, fields->nrows, &room);
	size_t row, n = 0;

	*ndone = 0;
	if (!keys && !counts_only)
		return STATUS_NO_MEMORY;
	for (row = 0; m->f->has_plain_texts && row < fields->nrows; row++) {
		struct field_span span = row_field(m->text, fields->ends + row * fields->stride, fields->drops_cr);
		enum doubt doubt = span.begin == span.end ? IS_MISSING : IS_KEY;
		if (doubt == IS_KEY && m->f->may_not_be_key[(unsigned char)m->text[span.begin]])
			doubt = settle(m->f->plan, m->text, &span);
		if (doubt == NOT_IN_PLACE && counts_only && m->f->plan->nmissing == 0)
			doubt = IS_KEY; /* there is a quote in it, so it is not blank */
		if (doubt == NOT_IN_PLACE)
			break;
		if (keys)
			room[n] = (struct key_span){(uint32_t)span.begin, (uint32_t)span.end};
		n += doubt == IS_KEY;
	}
	if (keys)
		keys->log.nspans += n;
	column->numbers.count += n;
	column->nmissing += row - n;
	*ndone = row;
	return STATUS_OK;
}

/* Notes the texts of the fields of some of up to 64 rows, which are numbers. Errors:
 * STATUS_NO_MEMORY. */
static enum status note_keys_of_numbers(const struct fold *m, size_t c, const struct row_fields *fields, uint64_t rows)
{
	struct key_span *room;
	struct keys *keys = need_room(m, c, (size_t)__builtin_popcountll(rows), &room);

	NEED(keys);
	for (; rows; rows &= rows - 1) {
		const uint32_t *ends = fields->ends + (size_t)__builtin_ctzll(rows) * fields->stride;
		struct field_span span = row_field(m->text, ends, fields->drops_cr);
		settle(m->f->plan, m->text, &span);
		room[0] = (struct key_span){(uint32_t)span.begin, (uint32_t)span.end};
		room++;
		keys->log.nspans++;
	}
	return STATUS_OK;
}

/* ---- a column ---- */

/* Folds a field that is not a plain number. */
static enum status fold_field(const struct fold *m, size_t c, struct field_span span)
{
	return column_add_field(m->f->plan, m->out, c, m->text + span.begin, span.end - span.begin,
			   span.begin, &m->f->scratch);
}

/* Sets the first number's offset unless it is set. offset: of the number, or of a missing value
 * before it. */
static void note_first_number(struct column_partial *column, size_t offset)
{
	if (column->first_number_offset == OFFSET_NONE)
		column->first_number_offset = offset;
}

/* How the column's numbers are folded. */
static struct simd_hint *fold_hint(const struct fold *m, size_t c)
{
	struct simd_hint *hint = row_block_hint(&m->f->block, c);

	hint->sums_only = !(m->f->plan->columns[c].needs & MOMENT_EXTREMES);
	return hint;
}

/* Folds fields that are plain numbers, up to the first that is not. Returns their number. */
static size_t fold_numbers(const struct fold *m, size_t c, const struct row_fields *fields)
{
	struct column_partial *partial = &m->out->columns[c];
	struct decimal_fold *fold = &m->f->fold;
	uint64_t before = fold->count;
	size_t n;

	if (!m->f->plan->columns[c].parses || m->f->block.missing_is_number)
		return 0;
	n = simd()->fold(m->text, fields->ends, fields->stride, fields->nrows, fields->drops_cr,
			 fold, &partial->nmissing, fold_hint(m, c));
	if (n > 0 && fold->count > before)
		note_first_number(partial, (uint32_t)(fields->ends[-1] + 1));
	return n;
}

static struct field_span field_at(const struct fold *m, const struct row_fields *fields,
				  unsigned row)
{
	return row_field(m->text, fields->ends + row * fields->stride, fields->drops_cr);
}

/* Folds the fields of some of up to 64 rows one by one. */
static enum status fold_singles(const struct fold *m, size_t c, const struct row_fields *fields,
				uint64_t rows)
{
	enum status status = STATUS_OK;

	for (; rows && status == STATUS_OK; rows &= rows - 1)
		status = fold_field(m, c, field_at(m, fields, lowest(rows)));
	return status;
}

static struct text_rows text_rows_of(const struct fold *m, size_t c,
				     const struct row_fields *fields)
{
	return (struct text_rows){m->text, fields->ends, fields->stride, fields->drops_cr,
				  m->f->plan->columns[c].parses};
}

/* Folds the texts of rows that are `numbers`, which are folded already, and all of the others. */
static enum status fold_text_rows(const struct fold *m, size_t c, const struct row_fields *fields,
				  uint64_t numbers, uint64_t others)
{
	const struct text_rows rows = text_rows_of(m, c, fields);

	TRY(text_folder_rows(&m->f->texts, c, &rows, numbers, &others,
					      m->out));
	return fold_singles(m, c, fields, others);
}

/* Folds the fields of some of up to 64 rows. x: their numbers. */
static enum status fold_converted(const struct fold *m, size_t c, const struct row_fields *fields,
				  const struct simd_numbers *x, uint64_t rows)
{
	struct column_partial *column = &m->out->columns[c];
	uint64_t numbers = rows & x->numbers, empty = rows & x->empty;
	const struct plan_column *plan = &m->f->plan->columns[c];
	enum status status = STATUS_OK;

	simd()->fold_numbers(x, numbers, &m->f->fold);
	if (numbers && plan_column_has_moments(plan))
		status = moments_add(&column->moments, plan->needs, x->significand, x->scale,
				     numbers);
	if (numbers && (plan->needs & MOMENT_KEYS) && status == STATUS_OK)
		status = note_keys_of_numbers(m, c, fields, numbers);
	column->nmissing += (uint64_t)__builtin_popcountll(empty);
	if (numbers)
		note_first_number(column, field_at(m, fields, lowest(numbers)).begin);
	rows &= ~(numbers | empty);
	if (status == STATUS_OK && plan_column_has_texts(plan))
		return fold_text_rows(m, c, fields, numbers, rows);
	return status == STATUS_OK ? fold_singles(m, c, fields, rows) : status;
}

/* Moves on by n rows. */
static void pass_rows(struct row_fields *fields, size_t n)
{
	fields->ends += n * fields->stride;
	fields->nrows -= n;
}

static size_t block_nrows(const struct row_fields *fields)
{
	return fields->nrows < SIMD_NUMBERS_NROWS ? fields->nrows : SIMD_NUMBERS_NROWS;
}

/* Folds the first n <= 64 fields by converting them first. */
static enum status fold_block_converted(const struct fold *m, size_t c,
					const struct row_fields *fields, size_t n)
{
	struct simd_numbers x;

	simd()->convert(m->text, fields->ends, fields->stride, n, fields->drops_cr, &x,
			fold_hint(m, c));
	if (m->f->block.missing_is_number)
		x.numbers = 0;
	return fold_converted(m, c, fields, &x, ~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n));
}

/* Folds fields by converting them first, for moments that the fused fold does not have. */
static enum status fold_moments(const struct fold *m, size_t c, struct row_fields fields)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && fields.nrows > 0) {
		size_t n = block_nrows(&fields);
		status = fold_block_converted(m, c, &fields, n);
		pass_rows(&fields, n);
	}
	return status;
}

/* Folds fields up to the first that is no plain number, as long as the column has had nothing else. */
static enum status fold_pure_numbers(const struct fold *m, size_t c, struct row_fields *fields)
{
	const struct text_rows rows = text_rows_of(m, c, fields);
	struct column_partial *column = &m->out->columns[c];
	enum status status = STATUS_OK;
	size_t n;

	if (column->ninvalid > 0 || plan_column_has_moments(&m->f->plan->columns[c]))
		return STATUS_OK;
	n = fold_numbers(m, c, fields);
	if (n > 0 && m->f->texts.states[c].numbers_too)
		status = text_folder_numbers(&rows, n, column);
	pass_rows(fields, n);
	return status;
}

/* Folds fields whose texts are needed: runs of numbers first, then block by block. */
static enum status fold_texts(const struct fold *m, size_t c, struct row_fields fields)
{
	const struct text_state *state = &m->f->texts.states[c];
	enum status status = STATUS_OK;

	while (status == STATUS_OK && fields.nrows > 0) {
		size_t n;
		status = fold_pure_numbers(m, c, &fields);
		n = block_nrows(&fields);
		if (status != STATUS_OK || n == 0)
			break;
		if (state->converts)
			status = fold_block_converted(m, c, &fields, n);
		else
			status = fold_text_rows(m, c, &fields, 0,
						~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n));
		pass_rows(&fields, n);
	}
	return status;
}

/* Offers fields to an end of the column: for the last ones from the last field back. */
static enum status offer_fields(const struct fold *m, size_t c, const struct row_fields *fields,
				struct ends *ends, enum end end)
{
	enum status status = STATUS_OK;
	bool taken = false;

	for (size_t i = 0; i < fields->nrows && !taken && status == STATUS_OK; i++) {
		size_t row = end <= END_FIRST_NUMBER ? i : fields->nrows - 1 - i;
		struct field_span span = row_field(m->text, fields->ends + row * fields->stride,
						   fields->drops_cr);
		const struct raw_field field = {m->text + span.begin, span.end - span.begin, 0, NULL};
		status = ends_offer(ends, end, m->f->plan, c, m->out->offset_bytes + span.begin, &field, &m->f->scratch,
				    &taken);
	}
	return status;
}

static enum status fold_ends(const struct fold *m, size_t c, const struct row_fields *fields)
{
	struct ends *ends = moments_need(&m->out->columns[c].moments, CELL_ENDS);
	enum status status = STATUS_OK;

	NEED(ends);
	for (enum end end = END_FIRST; end < NENDS && status == STATUS_OK; end++) {
		bool wants_number = end == END_FIRST_NUMBER || end == END_LAST_NUMBER;
		if (end <= END_FIRST_NUMBER && ends_has(ends, end))
			continue;
		if (!wants_number || m->f->plan->columns[c].if_numeric)
			status = offer_fields(m, c, fields, ends, end);
	}
	return status;
}

/* To begin the SIMD fold costs as much as folding a few fields one by one. If it folds fewer than
 * RUN_NROWS, twice as many are folded one by one before it is tried again. */
#define RUN_NROWS 8
#define SINGLES_MAX 32

/* Folds fields of which none has blanks around it that mean nothing. */
static enum status fold_exact(const struct fold *m, size_t c, struct row_fields fields)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	enum status status = STATUS_OK;
	size_t nsingles = 1;

	if (column->needs & MOMENT_ENDS)
		status = fold_ends(m, c, &fields);
	TRY(status);
	if (plan_column_has_texts(column))
		return fold_texts(m, c, fields);
	if (column->parses && plan_column_has_moments(column))
		return fold_moments(m, c, fields);
	while (status == STATUS_OK && fields.nrows > 0) {
		size_t n = fold_numbers(m, c, &fields);
		if (!column->parses)
			status = note_keys(m, c, &fields, &n);
		fields.ends += n * fields.stride;
		fields.nrows -= n;
		if (n >= RUN_NROWS)
			nsingles = 1;
		for (size_t i = 0; i < nsingles && fields.nrows > 0 && status == STATUS_OK; i++) {
			status = fold_field(m, c,
					    row_field(m->text, fields.ends, fields.drops_cr));
			fields.ends += fields.stride;
			fields.nrows--;
		}
		nsingles = nsingles < SINGLES_MAX ? 2 * nsingles : nsingles;
	}
	return status;
}

/* Folds fields with blanks around them. */
static enum status fold_words(const struct fold *m, size_t c, struct row_fields fields)
{
	uint32_t pairs[2 * ROW_BLOCK_NROWS];
	enum status status = STATUS_OK;

	while (status == STATUS_OK && fields.nrows > 0) {
		size_t n = fields.nrows < ROW_BLOCK_NROWS ? fields.nrows : ROW_BLOCK_NROWS;
		rows_trim(&m->f->plan->dialect, m->text, fields.ends, fields.stride, n, fields.drops_cr, pairs);
		status = fold_exact(m, c, (struct row_fields){pairs + 1, 2, n, false});
		fields.ends += n * fields.stride;
		fields.nrows -= n;
	}
	return status;
}

static enum status fold_fields(const struct fold *m, size_t c, struct row_fields fields)
{
	return csv_dialect_trims(&m->f->plan->dialect) ? fold_words(m, c, fields) : fold_exact(m, c, fields);
}

/* Column c of rows of `stride` fields, that one among them. */
static struct row_fields fields_of(const struct fold *m, size_t c, const struct row_run *run)
{
	uint32_t field = m->f->plan->columns[c].field;

	return (struct row_fields){run->ends + field, run->stride, run->nrows,
				   field == run->stride - 1};
}

/* Adds the dense fold of the current column to its bins, and clears it. */
static enum status end_column(const struct fold *m, size_t c)
{
	enum status status = numbers_add_fold(&m->out->columns[c].numbers, &m->f->fold);

	decimal_fold_clear(&m->f->fold);
	return status;
}

/* ---- few rows of many fields ---- */

/* A record may be so long that a run has a few of them, and a column's fields there are too few for the fold of a column: then
 * neighbouring fields of a row are converted at once. */
#define ACROSS_NROWS_MAX 4
#define ACROSS_NFIELDS_MIN 16

/* How many columns from c on, up to 64, lie beside each other in the rows and need no more than plain numbers give. */
static size_t count_across(const struct fold *m, size_t c, const struct row_run *run)
{
	const struct plan *plan = m->f->plan;
	const struct plan_column *first = &plan->columns[c];
	size_t n = 0;

	if (run->nrows > ACROSS_NROWS_MAX || m->f->block.missing_is_number || csv_dialect_trims(&plan->dialect))
		return 0;
	while (n < SIMD_NUMBERS_NROWS && c + n < plan->ncolumns && first[n].field == first->field + n &&
	       first[n].field + 1 < run->stride && first[n].parses && first[n].needs &&
	       !(first[n].needs & ~(unsigned)MOMENTS_FUSED) && !plan_column_has_texts(&first[n]))
		n++;
	return n < ACROSS_NFIELDS_MIN ? 0 : n;
}

/* Folds columns [c, c + n) of one row. ends: the first's. */
static enum status fold_row(const struct fold *m, size_t c, size_t n, const uint32_t *ends)
{
	struct column_partial *columns = m->out->columns + c;
	enum status status = STATUS_OK;
	struct simd_numbers x;

	simd()->convert(m->text, ends, 1, n, false, &x, fold_hint(m, c));
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		if (x.numbers >> i & 1) {
			note_first_number(&columns[i], (uint32_t)(ends[i - 1] + 1));
			status = numbers_add(&columns[i].numbers, (struct decimal){x.significand[i], x.scale[i]});
		} else {
			status = fold_field(m, c + i, row_field(m->text, ends + i, false));
		}
	}
	return status;
}

static enum status fold_across(const struct fold *m, size_t c, size_t n, const struct row_run *run)
{
	const uint32_t *ends = run->ends + m->f->plan->columns[c].field;
	enum status status = STATUS_OK;

	for (size_t row = 0; row < run->nrows && status == STATUS_OK; row++)
		status = fold_row(m, c, n, ends + row * run->stride);
	return status;
}

/* Folds all rows of the run. Fields that are not there are missing. */
static enum status fold_all(const struct fold *m, const struct row_run *run)
{
	const struct plan *plan = m->f->plan;
	enum status status = STATUS_OK;

	for (size_t c = 0; status == STATUS_OK && c < plan->ncolumns; c++) {
		const size_t nacross = count_across(m, c, run);
		if (nacross) {
			status = fold_across(m, c, nacross, run);
			c += nacross - 1;
			continue;
		}
		if (!plan->columns[c].needs)
			continue;
		if (plan->columns[c].field >= run->stride) {
			m->out->columns[c].nmissing += run->nrows;
			continue;
		}
		status = fold_fields(m, c, fields_of(m, c, run));
		THEN(status, end_column(m, c));
	}
	return status;
}

/* ---- computed columns ----
 *
 * Numbers of the fast path are folded all at once; other values, and those of which the text is needed, one by one. */

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

enum status computed_fold_row(struct row_folder *f, const char *text, size_t c, unsigned row, struct partial *out)
{
	size_t offset = row_block_offset(&f->block, c, row);
	enum status why = program_block_why(&f->block, c, row), status = STATUS_OK;
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

	for (uint64_t rows = f->filter.kept & ~program_block_wrong(&f->block, c); rows && !taken && status == STATUS_OK;) {
		unsigned row = end == END_FIRST ? lowest(rows) : highest(rows);
		struct raw_field field = row_block_raw(&f->block, c, row);
		uint64_t place = offset_bytes + row_block_offset(&f->block, c, row);
		rows &= ~(UINT64_C(1) << row);
		status = ends_offer(ends, end, f->plan, c, place, &field, &f->scratch, &taken);
	}
	return status;
}

static enum status fold_computed_ends(struct row_folder *f, size_t c, struct partial *out)
{
	struct ends *ends = moments_need(&out->columns[c].moments, CELL_ENDS);
	enum status status = STATUS_OK;

	NEED(ends);
	if (!ends_has(ends, END_FIRST))
		status = offer_rows(f, c, out->offset_bytes, ends, END_FIRST);
	return status == STATUS_OK ? offer_rows(f, c, out->offset_bytes, ends, END_LAST) : status;
}

/* The same for the first of some rows, if there are any, whose number was computed. */
static void note_first_row(struct row_folder *f, struct column_partial *column, uint64_t rows)
{
	if (rows)
		note_first_number(column, (uint32_t)(row_block_ends(&f->block, lowest(rows))[-1] + 1));
}

static struct quotient_bins **bins_of(const struct row_folder *f, size_t c)
{
	return &f->quotients[c - (f->plan->ncolumns - f->plan->nlets)];
}

/* Folds rounded numbers of which counts, sums and extremes are asked, and from then on the plain ones of the column, which are in
 * f->fold. Returns the rows that are left: those that would not fit. */
static uint64_t fold_quotients(struct row_folder *f, size_t c, uint64_t kept, struct column_partial *column, enum status *status)
{
	struct quotient_bins **bins = bins_of(f, c);
	uint64_t done;
	const struct exact *q = program_block_quotients(&f->block, c, &done);

	done &= kept;
	if (!*bins && done && !(*bins = calloc(1, sizeof **bins)))
		*status = STATUS_NO_MEMORY;
	if (!*bins)
		return kept;
	done &= ~quotient_bins_add(*bins, q, done);
	quotient_bins_add_plain(*bins, &f->fold);
	decimal_fold_clear(&f->fold);
	note_first_row(f, column, done);
	return kept & ~done;
}

/* Adds what fold_quotients has folded of a text. */
static enum status end_quotients(struct row_folder *f, struct partial *out)
{
	const size_t first = f->plan->ncolumns - f->plan->nlets;

	for (size_t i = 0; i < f->plan->nlets; i++) {
		struct quotient_bins *bins = f->quotients[i];
		if (!bins || bins->scales == 0)
			continue;
		TRY(numbers_add_quotient_bins(&out->columns[first + i].numbers, bins));
		bins->count = bins->scales = bins->rounded = 0;
	}
	return STATUS_OK;
}

enum status computed_fold_column(struct row_folder *f, const char *text, size_t c, struct partial *out)
{
	const struct plan_column *plan = &f->plan->columns[c];
	const struct simd_numbers *x;
	struct column_partial *column = &out->columns[c];
	uint64_t kept = f->filter.kept, numbers;
	enum status status = plan->needs & MOMENT_ENDS ? fold_computed_ends(f, c, out) : STATUS_OK;

	if (plan->needs == MOMENT_COUNT && plan->parses && program_block_quotients_not_made(&f->block, c, kept) == kept) {
		note_first_row(f, column, kept);
		column->numbers.count += (uint64_t)__builtin_popcountll(kept);
		return STATUS_OK;
	}
	x = row_block_numbers(&f->block, c);
	numbers = kept & x->numbers;
	if (!plan->parses || (plan->needs & (MOMENT_TEXTS | MOMENT_KEYS)))
		numbers = 0;
	simd()->fold_numbers(x, numbers, &f->fold);
	if (status == STATUS_OK && numbers && plan_column_has_moments(plan))
		status = moments_add(&column->moments, plan->needs, x->significand, x->scale,
				     numbers);
	note_first_row(f, column, numbers);
	kept &= ~numbers;
	if (status == STATUS_OK && (kept || *bins_of(f, c)) && plan->parses && !(plan->needs & ~(unsigned)MOMENTS_FUSED))
		kept = fold_quotients(f, c, kept, column, &status);
	for (; kept && status == STATUS_OK; kept &= kept - 1)
		status = computed_fold_row(f, text, c, lowest(kept), out);
	return status;
}

/* ---- conditions ---- */

/* Folds the kept rows' fields as rows of two separators. */
static enum status fold_copied(const struct fold *m, size_t c, const struct row_fields *fields)
{
	uint32_t pairs[2 * ROW_BLOCK_NROWS], *to = pairs;

	for (uint64_t rows = m->f->filter.kept; rows; rows &= rows - 1, to += 2) {
		const uint32_t *end = fields->ends + lowest(rows) * fields->stride;
		to[0] = end[-1];
		to[1] = end[0];
	}
	return fold_fields(m, c, (struct row_fields){pairs + 1, 2, (size_t)(to - pairs) / 2,
						     fields->drops_cr});
}

/* Folds column c of the rows that are kept. */
static enum status fold_kept_column(const struct fold *m, size_t c)
{
	const struct row_block *b = &m->f->block;
	const struct plan_column *column = &m->f->plan->columns[c];
	struct row_fields fields = fields_of(m, c, &(struct row_run){b->ends, b->stride, b->nrows});
	uint64_t kept = m->f->filter.kept;
	bool trims_texts = csv_dialect_trims(&m->f->plan->dialect) && plan_column_has_texts(column);

	if (column->let)
		return computed_fold_column(m->f, m->text, c, m->out);
	if (column->field >= b->stride) {
		m->out->columns[c].nmissing += (uint64_t)__builtin_popcountll(kept);
		return STATUS_OK;
	}
	if (b->has_numbers[c] && column->parses && !(column->needs & MOMENT_ENDS) && !trims_texts)
		return fold_converted(m, c, &fields, &b->numbers[c], kept);
	return kept == row_block_all(b) ? fold_fields(m, c, fields) : fold_copied(m, c, &fields);
}

static enum status fold_kept(const struct fold *m)
{
	const struct plan *plan = m->f->plan;

	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs) {
			TRY(fold_kept_column(m, c));
			TRY(end_column(m, c));
		}
	return STATUS_OK;
}

/* A value leaves a predicate undecided: the first is kept. */
static enum status fold_undecided(const struct fold *m)
{
	const struct row_filter *filter = &m->f->filter;
	const struct row_culprit *culprit = &filter->culprit;
	const char *value;
	size_t nbytes;

	m->out->nundecided += (uint64_t)__builtin_popcountll(filter->undecided);
	if (m->out->first_undecided_offset != OFFSET_NONE)
		return STATUS_OK;
	m->out->first_undecided_offset = row_block_offset_of(&m->f->block, culprit->field, lowest(filter->undecided));
	m->out->undecided_column = culprit->column;
	value = field_value(&m->f->plan->dialect, m->text + culprit->field.begin, culprit->field.end - culprit->field.begin,
			    &m->f->scratch, &nbytes);
	return value ? bad_value_keep(&m->out->undecided, m->out->first_undecided_offset, culprit->why,
				      value, nbytes)
		     : STATUS_NO_MEMORY;
}

static enum status fold_block(const struct fold *m)
{
	const struct plan *plan = m->f->plan;
	struct row_filter *filter = &m->f->filter;
	enum status status = row_filter_block(filter, &m->f->programs, &m->f->block);

	TRY(status);
	if (filter->undecided)
		status = fold_undecided(m);
	if (filter->kept == 0 || status != STATUS_OK)
		return status;
	m->out->nkept += (uint64_t)__builtin_popcountll(filter->kept);
	if (plan->notation.money)
		status = row_currencies_fold(m->f, filter->kept, m->out);
	for (size_t p = 0; p < plan->npredicates; p++)
		m->out->nmatched[p] += (uint64_t)__builtin_popcountll(filter->holds[p]);
	if (status == STATUS_OK && plan_copies_records(plan) && !plan->sorter)
		status = row_folder_keep(m->f);
	if (status == STATUS_OK && plan->nkeys) {
		status = row_groups_fold(m->f, m->text, m->out);
		m->out->nkept -= (uint64_t)__builtin_popcountll(filter->kept & ~m->f->groups.rows);
		return status; /* records without a key are not kept */
	}
	if (status == STATUS_OK && plan->npairs) /* first: it converts columns for both */
		status = pair_block_fold(&m->f->pairs, &m->f->block, filter->kept, &m->f->scratch,
					 m->out);
	THEN(status, fold_kept(m));
	if (status == STATUS_OK && plan->nwindows)
		status = row_windows_fold(m->f, filter->kept, m->out);
	return status;
}

/* ---- rows ---- */

static enum status fold_taken(const struct fold *m, const struct row_run *run)
{
	enum status status = STATUS_OK;

	m->out->nrecords += run->nrows;
	if (m->f->plan->npredicates == 0 && m->f->plan->npairs == 0 && m->f->plan->nkeys == 0 &&
	    m->f->plan->nlets == 0 && !m->f->plan->notation.money && !plan_copies_records(m->f->plan) && m->f->plan->head == 0 &&
	    !m->f->plan->sorter) {
		status = fold_all(m, run);
		return status == STATUS_OK && m->f->plan->nwindows
			       ? row_windows_fold_run(m->f, m->text, run, m->out) : status;
	}
	for (size_t row = 0; status == STATUS_OK && row < run->nrows;) {
		row += row_block_set(&m->f->block, m->text, run, row);
		status = fold_block(m);
	}
	return status;
}

/* Sets *first to where the first of the rows begins, unless it is set. */
static void note_record(size_t *first, const struct row_run *rows)
{
	if (*first == OFFSET_NONE)
		*first = (uint32_t)(rows->ends[-1] + 1);
}

/* Notes rows that are ragged, or a record that is the header again. */
static void note_odd_rows(const struct fold *m, const struct row_part *part)
{
	struct partial *out = m->out;

	if (part->is_header) {
		out->nheaders += part->rows.nrows;
		note_record(&out->first_header_offset, &part->rows);
	} else if (ragged_is_counted(&m->f->plan->ragged, (uint32_t)part->rows.stride)) {
		out->nragged += part->rows.nrows;
		note_record(&out->first_ragged_offset, &part->rows);
	}
}

static enum status fold_run(void *context, const struct row_run *run)
{
	const struct fold *m = context;
	enum status status = STATUS_OK;

	for (size_t row = 0; status == STATUS_OK && row < run->nrows;) {
		struct row_part part = row_run_part(m->f->plan, m->text, run, row, true);
		row += part.rows.nrows;
		if (part.is_ragged || part.is_header)
			note_odd_rows(m, &part);
		if (part.is_taken)
			status = fold_taken(m, &part.rows);
	}
	return status;
}

enum status rows_fold(struct row_folder *f, struct rows *r, const char *text, size_t nbytes,
		      struct chunk_entry entry, struct partial *out)
{
	struct fold m = {f, text, out};
	struct rows_extent extent;
	enum status status;

	f->nkept = 0;
	f->out = out;
	f->has_plain_texts = f->keeps_keys && !f->plan->dialect.escape && !memchr(text, '\0', nbytes);
	decimal_fold_clear(&f->fold);
	text_folder_begin(&f->texts, text, nbytes);
	status = rows_walk(r, text, nbytes, entry, fold_run, &m, &extent);
	if (status == STATUS_OK && f->plan->computes)
		status = f->programs.status;
	THEN(status, end_quotients(f, out));
	THEN(status, row_windows_end(f->plan, out));
	out->head_ends = extent.head_ends;
	out->head_nbytes = extent.head_nbytes;
	out->tail_offset = extent.tail_offset;
	out->open_field_offset = extent.open_field;
	out->first_stray_offset = extent.stray;
	text_folder_end(&f->texts, out);
	return status;
}
