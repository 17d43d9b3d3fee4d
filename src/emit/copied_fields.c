/* SPDX-License-Identifier: MIT
 *
 * copied_fields.c - see copied_fields.h.
 */
#include "emit/copied_fields.h"

#include <string.h>

#include "number/wide.h"
#include "query/value.h"

/* Whether a field may be printed: a value that is to be a number and is none was left out. */
static bool is_printed(struct new_fields *f, const struct row_block *b, size_t c, unsigned row,
		       struct field_span span)
{
	const struct plan *plan = f->plan;
	struct wide ignored;
	struct value v;
	int scale;

	if (!plan->columns[c].parses || (b->numbers[c].numbers >> row & 1) || span.begin == span.end)
		return true;
	if (value_read(plan, true, b->text + span.begin, span.end - span.begin, &f->scratch, &v) != STATUS_OK)
		return false;
	return v.kind == DECIMAL_NUMBER || (v.kind == DECIMAL_WIDE &&
					    wide_parse(v.text, v.nbytes, &ignored, &scale) == STATUS_OK);
}

/* With whitespace, a blank in a word that others may follow becomes "_". */
static void join_words(char *field, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (decimal_is_blank(field[i]))
			field[i] = '_';
}

char *copied_fields_write(struct new_fields *f, struct row_block *b, size_t i, unsigned leads,
			  size_t *begins)
{
	const struct plan *plan = f->plan;
	struct text_buffer *text = &f->text;
	size_t c = plan->new_columns[i].column;
	bool joins = plan->dialect.whitespace && i + 1 < plan->nnew_columns;

	if (plan->columns[c].let)
		row_block_numbers(b, c);
	for (unsigned k = 0; k < f->nrows; k++) {
		unsigned row = f->rows[k];
		struct field_span span = row_block_field(b, c, row);
		size_t nbytes = span.end - span.begin;
		const char *field = b->text + span.begin;
		if (plan->dialect.whitespace)
			field = decimal_trim(field, &nbytes);
		if (plan->columns[c].let && !is_printed(f, b, c, row, span))
			nbytes = 0;
		if (text_reserve(text, nbytes + EMIT_SLACK) != STATUS_OK)
			return NULL;
		begins[k] = text->nbytes;
		text->data[text->nbytes] = plan->dialect.delimiter;
		memcpy(text->data + text->nbytes + leads, field, nbytes);
		if (joins)
			join_words(text->data + text->nbytes + leads, nbytes);
		text->nbytes += leads + nbytes;
	}
	return text->data + text->nbytes;
}
