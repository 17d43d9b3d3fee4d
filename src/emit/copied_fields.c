/* SPDX-License-Identifier: MIT
 *
 * copied_fields.c - see copied_fields.h.
 */
#include "emit/copied_fields.h"

#include <string.h>

#include "csv/field.h"
#include "emit/copy_text.h"
#include "fold/row_windows.h"
#include "number/decimal.h"

/* With whitespace, a blank in a field becomes "_": fields end at blanks. */
static void join_words(char *field, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (decimal_is_blank(field[i]))
			field[i] = '_';
}

/* Sets *out to what new column i shows in a row. */
static enum status field_of(struct new_fields *f, struct row_block *b, struct group *const *groups, size_t i,
			    unsigned row, struct recent_value *out)
{
	const struct new_column *column = &f->plan->new_columns[i];
	struct running_window *window = &f->state.windows[column->window];
	struct recent_value value;
	enum status status = row_text_value(b, column->column, row, column->kind == NEW_FILL_DOWN, &f->scratch, &value);

	*out = value;
	if (status != STATUS_OK || !new_column_has_window(column))
		return status;
	if (groups && group_shows_window(groups[row], f->plan, column->window, &value))
		return group_running_field(groups[row], f->plan, column->window, &value, f->shown, out);
	if (groups)
		window = group_states_window(&f->states, f->plan, groups[row], column->window);
	return window ? running_window_field(window, &value, out) : STATUS_NO_MEMORY;
}

/* How many rows of the block a lag without groups looks back; 0 if it goes beyond the block, or is no lag. */
static unsigned lag_within(const struct new_fields *f, struct group *const *groups, size_t i)
{
	const struct new_column *column = &f->plan->new_columns[i];

	if (groups || column->kind != NEW_LAG || f->plan->windows[column->window].nrows >= f->nrows)
		return 0;
	return (unsigned)f->plan->windows[column->window].nrows;
}

/* Makes the last nrows fields of the block those that a lag looks back on. */
static enum status keep_last(struct new_fields *f, struct row_block *b, size_t i, unsigned nrows)
{
	const struct new_column *column = &f->plan->new_columns[i];
	struct recent *recent = &f->state.windows[column->window].recent;
	enum status status = STATUS_OK;

	recent_keep(recent, 0);
	for (unsigned k = f->nrows - nrows; k < f->nrows && status == STATUS_OK; k++) {
		struct recent_value v;
		status = row_text_value(b, column->column, f->rows[k], false, &f->scratch, &v);
		if (status == STATUS_OK)
			status = recent_push(recent, &v);
	}
	return status;
}

/* Appends the fields of the rows rows[0 .. n), of a column that is not computed, as copied_fields_write does. */
static enum status write_from_input(struct new_fields *f, const struct row_block *b, size_t c, const unsigned *rows, unsigned n,
				    unsigned leads, size_t *begins)
{
	const struct csv_dialect *dialect = &f->plan->dialect;
	bool trims = csv_dialect_trims(dialect);
	char delimiter = dialect->delimiter, *to, *data;
	struct field_span spans[ROW_BLOCK_NROWS];
	size_t nbytes = n * leads;

	row_block_fields(b, c, rows, n, spans);
	for (unsigned k = 0; k < n; k++)
		nbytes += spans[k].end - spans[k].begin;
	if (text_reserve(&f->text, nbytes + EMIT_SLACK) != STATUS_OK)
		return STATUS_NO_MEMORY;
	data = f->text.data;
	to = data + f->text.nbytes;
	for (unsigned k = 0; k < n; k++) {
		const char *from = b->text + spans[k].begin;
		char *field = to + leads;
		nbytes = spans[k].end - spans[k].begin;
		if (trims)
			from = field_trim(dialect, from, &nbytes);
		begins[k] = (size_t)(to - data);
		*to = delimiter;
		to = copy_text(field, from, nbytes);
		if (dialect->whitespace)
			join_words(field, nbytes);
	}
	f->text.nbytes = (size_t)(to - data);
	return STATUS_OK;
}

char *copied_fields_write(struct new_fields *f, struct row_block *b, struct group *const *groups, size_t i,
			  unsigned leads, size_t *begins)
{
	const struct plan *plan = f->plan;
	const struct new_column *column = &plan->new_columns[i];
	struct text_buffer *text = &f->text;
	unsigned lag = lag_within(f, groups, i), k = 0;
	bool is_there = (lag || !new_column_has_window(column)) && !plan->columns[column->column].let;
	unsigned nasked = is_there ? lag : f->nrows; /* of the others, the rows in the block are known */

	for (; k < nasked; k++) {
		struct recent_value v;
		enum status status = lag && k >= lag /* a row of the block */
					     ? row_text_value(b, column->column, f->rows[k - lag], false, &f->scratch, &v)
					     : field_of(f, b, groups, i, f->rows[k], &v);
		if (status != STATUS_OK || text_reserve(text, v.nbytes + EMIT_SLACK) != STATUS_OK)
			return NULL;
		begins[k] = text->nbytes;
		text->data[text->nbytes] = plan->dialect.delimiter;
		memcpy(text->data + text->nbytes + leads, v.text, v.nbytes);
		if (plan->dialect.whitespace)
			join_words(text->data + text->nbytes + leads, v.nbytes);
		text->nbytes += leads + v.nbytes;
	}
	if (is_there && write_from_input(f, b, column->column, f->rows, f->nrows - lag, leads, begins + lag) != STATUS_OK)
		return NULL;
	if (lag && keep_last(f, b, i, lag) != STATUS_OK)
		return NULL;
	return text->data + text->nbytes;
}
