/* SPDX-License-Identifier: MIT
 *
 * printed_row.c - see printed_row.h.
 */
#include "emit/printed_row.h"

#include <string.h>

#include "emit/lead.h"
#include "io/row_format.h"
#include "query/value.h"

/* Whether a value is printed as a number. In JSON that is one which is spelled as JSON's are, and is the same number there: in another
 * notation 1.500 may be fifteen hundred. */
static bool is_number(const struct plan *plan, const char **text, size_t *nbytes)
{
	size_t n = *nbytes;
	const char *trimmed = decimal_trim(*text, &n);

	if (!row_has_strings(plan->row_format))
		return value_is_number(plan, *text, *nbytes);
	if (!row_is_json_number(trimmed, n) ||
	    (!notation_is_plain(&plan->notation) && (memchr(trimmed, '.', n) || memchr(trimmed, 'e', n) || memchr(trimmed, 'E', n))))
		return false;
	*text = trimmed;
	*nbytes = n;
	return true;
}

/* Appends a field, which is read in the plan's dialect. how: as in value.h. */
static enum status append_field(const struct plan *plan, size_t column, unsigned how, const char *field, size_t nbytes,
				struct scratch *scratch, struct text_buffer *out)
{
	const struct row_format *f = plan->row_format;
	bool is_string = true;

	field = field_value(&plan->dialect, field, nbytes, scratch, &nbytes);
	NEED(field);
	if (row_has_kinds(f)) {
		const bool is_missing = value_is_missing(plan, how, field, nbytes);
		if (is_missing && row_has_strings(f))
			nbytes = 0;
		is_string = !is_missing && !is_number(plan, &field, &nbytes);
	}
	return row_append(out, f, column, field, nbytes, is_string);
}

/* Appends the fields of the input. */
static enum status append_record(const struct row_block *b, unsigned row, struct scratch *scratch, struct text_buffer *out)
{
	const struct plan *plan = b->plan;
	const uint32_t *ends = row_block_ends(b, row);
	const size_t nprinted = plan_nprinted(plan);
	const struct row_record r = row_record_at(b->text, ends, b->stride, (uint32_t)b->stride, plan->dialect.escape);

	for (size_t i = 0; i < nprinted; i++) {
		const size_t at = plan->places ? plan->places[i] : i;
		const size_t begin = at < b->stride ? (uint32_t)(ends[(ptrdiff_t)at - 1] + 1) : r.line_end;
		const size_t end = at + 1 < b->stride ? ends[at] : r.line_end;
		TRY(append_field(plan, i, 0, b->text + begin, end - begin, scratch, out));
	}
	return STATUS_OK;
}

enum status printed_row_append(const struct row_block *b, const struct new_fields *fields, unsigned k, struct scratch *scratch,
			       struct lead_cell *cells, struct text_buffer *out)
{
	const struct plan *plan = b->plan;
	const struct row_format *f = plan->row_format;
	const size_t *begins = fields->begins + k;
	size_t column = 0;

	if (!plan->only) {
		TRY(append_record(b, fields->rows[k], scratch, out));
		column = plan_nprinted(plan);
	}
	for (size_t i = 0; i < plan->nnew_columns; i++, column++, begins += ROW_BLOCK_NROWS + 1) {
		const struct new_column *new = &plan->new_columns[i];
		const char *text = fields->text.data + begins[0];
		const size_t nbytes = begins[1] - begins[0], begin = out->nbytes + f->leads[column].nbytes;
		if (new_column_has(new->kind, NEW_COPIES))
			TRY(append_field(plan, column, plan->columns[new->column].let ? VALUE_COMPUTED : 0, text, nbytes, scratch, out));
		else
			TRY(row_append(out, f, column, text, nbytes, !row_has_kinds(f)));
		if (cells && new->kind == NEW_LEAD)
			*cells++ = (struct lead_cell){begin, (uint32_t)(out->nbytes - begin - (column + 1 == f->ncolumns ? strlen(f->end) : 0))};
	}
	return STATUS_OK;
}
