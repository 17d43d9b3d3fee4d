/* SPDX-License-Identifier: MIT
 *
 * row_block.c - see row_block.h.
 */
#include "fold/row_block.h"

#include <stdlib.h>
#include <string.h>

#include "fold/program_block.h"

enum status row_block_init(struct row_block *b, const struct plan *plan)
{
	memset(b, 0, sizeof *b);
	b->plan = plan;
	b->may_be_missing[' '] = b->may_be_missing['\t'] = true;
	for (size_t i = 0; i < plan->nmissing; i++)
		b->may_be_missing[(unsigned char)*plan->missing[i]] = true;
	b->missing_is_number = missing_is_number(plan);
	for (int byte = 0; b->missing_is_number && byte < 256; byte++) /* it is spelled in many ways */
		b->may_be_missing[byte] |= !notation_is_plain(&plan->notation) || decimal_is_digit((char)byte) ||
					   byte == '+' || byte == '-' || byte == '.';
	b->numbers = calloc(plan->ncolumns + 1, sizeof *b->numbers);
	b->has_numbers = calloc(plan->ncolumns + 1, sizeof *b->has_numbers);
	b->hints = calloc(plan->ncolumns + 1, sizeof *b->hints);
	return b->numbers && b->has_numbers && b->hints ? STATUS_OK : STATUS_NO_MEMORY;
}

void row_block_free(struct row_block *b)
{
	free(b->numbers);
	free(b->has_numbers);
	free(b->hints);
	memset(b, 0, sizeof *b);
}

size_t row_block_set(struct row_block *b, const char *text, const struct row_run *run,
		     size_t first)
{
	size_t left = run->nrows - first;

	b->text = text;
	b->ends = run->ends + first * run->stride;
	b->stride = run->stride;
	b->nrows = (unsigned)(left < ROW_BLOCK_NROWS ? left : ROW_BLOCK_NROWS);
	if (b->programs)
		program_block_forget(b->programs);
	memset(b->has_numbers, 0, b->plan->ncolumns * sizeof *b->has_numbers);
	return b->nrows;
}

/* Whether the rows have the field of column c. */
static bool has_field(const struct row_block *b, size_t c)
{
	return b->plan->columns[c].field < b->stride;
}

static bool drops_cr(const struct row_block *b, size_t c)
{
	return b->plan->columns[c].field == b->stride - 1;
}

struct field_span row_block_field(const struct row_block *b, size_t c, unsigned row)
{
	const uint32_t *ends = row_block_ends(b, row);

	if (b->plan->columns[c].let)
		return program_block_field(b, c, row);
	if (!has_field(b, c))
		return (struct field_span){ends[b->stride - 1], ends[b->stride - 1]};
	return row_field(b->text, ends + b->plan->columns[c].field, drops_cr(b, c));
}

void row_block_fields(const struct row_block *b, size_t c, const unsigned *rows, unsigned n, struct row_text *fields)
{
	const uint32_t *ends = b->ends + (has_field(b, c) ? b->plan->columns[c].field : b->stride - 1);
	const char *text = b->text;
	size_t stride = b->stride;
	bool has = has_field(b, c), is_last = drops_cr(b, c), trims = csv_dialect_trims(&b->plan->dialect);

	for (unsigned k = 0; k < n; k++) {
		const uint32_t *end = ends + rows[k] * stride;
		struct field_span span = has ? row_field(text, end, is_last) : (struct field_span){*end, *end};
		fields[k] = (struct row_text){text + span.begin, span.end - span.begin};
		if (trims)
			fields[k].text = field_trim(&b->plan->dialect, fields[k].text, &fields[k].nbytes);
	}
}

uint64_t row_block_plain_values(const struct row_block *b, size_t c, uint64_t rows, struct row_text values[ROW_BLOCK_NROWS])
{
	const struct csv_dialect *d = &b->plan->dialect;
	const uint32_t *ends = b->ends + b->plan->columns[c].field;
	const size_t stride = b->stride;
	const bool is_last = drops_cr(b, c);
	const char *text = b->text;
	uint64_t plain = 0;

	if (b->plan->columns[c].let || !has_field(b, c) || d->escape || csv_dialect_trims(d))
		return 0;
	for (; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct field_span span = row_field(text, ends + row * stride, is_last);
		size_t nbytes = span.end - span.begin;
		const char *value = field_in_quotes(d, text + span.begin, &nbytes);
		values[row] = (struct row_text){value, nbytes};
		if (value && nbytes > 0 && (!b->may_be_missing[(unsigned char)*value] || !value_is_missing(b->plan, 0, value, nbytes)))
			plain |= rows & -rows;
	}
	return plain;
}

size_t row_block_offset_of(const struct row_block *b, struct field_span field, unsigned row)
{
	if (b->programs && field.begin >= b->programs->text_nbytes)
		return (uint32_t)(row_block_ends(b, row)[-1] + 1);
	return field.begin;
}

size_t row_block_offset(const struct row_block *b, size_t c, unsigned row)
{
	return row_block_offset_of(b, row_block_field(b, c, row), row);
}

static unsigned how_at(const struct row_block *b, struct field_span span)
{
	return b->programs ? program_block_how(b->programs, span.begin) : 0;
}

struct raw_field row_block_raw(const struct row_block *b, size_t c, unsigned row)
{
	struct field_span span = row_block_field(b, c, row);

	return (struct raw_field){b->text + span.begin, span.end - span.begin, how_at(b, span),
				  program_block_rounded(b, c, row)};
}

enum status row_block_read(const struct row_block *b, size_t c, unsigned row, bool parses,
			   struct scratch *scratch, struct value *v)
{
	struct raw_field field = row_block_raw(b, c, row);
	enum status status = value_read(b->plan, field.how | (parses ? VALUE_AS_NUMBER : 0u), field.text,
					field.nbytes, scratch, v);

	if (status == STATUS_OK && parses)
		value_set_rounded(v, field.rounded);
	if (b->plan->columns[c].let && program_block_why(b, c, row) != STATUS_OK)
		v->kind = DECIMAL_INVALID;
	return status;
}

/* Converts column c, whose fields have blanks around them. */
static void convert_words(struct row_block *b, size_t c, struct simd_numbers *numbers)
{
	uint32_t pairs[2 * ROW_BLOCK_NROWS];

	rows_trim(&b->plan->dialect, b->text, b->ends + b->plan->columns[c].field, b->stride, b->nrows, drops_cr(b, c),
		  pairs);
	simd()->convert(b->text, pairs + 1, 2, b->nrows, false, numbers, row_block_hint(b, c));
}

const struct simd_numbers *row_block_numbers(struct row_block *b, size_t c)
{
	struct simd_numbers *numbers = &b->numbers[c];

	if (b->has_numbers[c])
		return numbers;
	if (b->plan->columns[c].let)
		return program_block_numbers(b, c);
	if (!has_field(b, c))
		*numbers = (struct simd_numbers){.empty = row_block_all(b)};
	else if (csv_dialect_trims(&b->plan->dialect))
		convert_words(b, c, numbers);
	else
		simd()->convert(b->text, b->ends + b->plan->columns[c].field, b->stride, b->nrows,
				drops_cr(b, c), numbers, row_block_hint(b, c));
	if (b->missing_is_number)
		numbers->numbers = 0;
	b->has_numbers[c] = true;
	return numbers;
}

enum row_value row_block_value(const struct row_block *b, size_t c, unsigned row,
			       const char **text, size_t *nbytes)
{
	struct field_span span = row_block_field(b, c, row);
	size_t n = span.end - span.begin;
	const char *value = field_in_place(&b->plan->dialect, b->text + span.begin, &n);

	if (!value || (b->programs && b->plan->columns[c].let && program_block_why(b, c, row) != STATUS_OK))
		return ROW_QUOTED;
	if (n == 0 || (b->may_be_missing[(unsigned char)*value] && value_is_missing(b->plan, how_at(b, span), value, n)))
		return ROW_MISSING;
	*text = value;
	*nbytes = n;
	return ROW_PRESENT;
}
