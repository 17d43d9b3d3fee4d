/* SPDX-License-Identifier: MIT
 *
 * new_fields.c - see new_fields.h.
 */
#include "emit/new_fields.h"

#include <stdlib.h>
#include <string.h>

#include "emit/copied_fields.h"
#include "emit/rank_fields.h"
#include "fold/row_windows.h"
#include "query/value.h"

#define TEXT_NBYTES_MAX (RUNNING_RATIO_NBYTES > WIDE_TEXT_NBYTES ? RUNNING_RATIO_NBYTES : WIDE_TEXT_NBYTES)
#define FIELD_NBYTES_MAX (TEXT_NBYTES_MAX + 3) /* with a delimiter before it, and quotes */

enum status new_fields_init(struct new_fields *f, const struct plan *plan)
{
	memset(f, 0, sizeof *f);
	f->plan = plan;
	f->begins = calloc(plan->nnew_columns + 1, (ROW_BLOCK_NROWS + 1) * sizeof *f->begins);
	f->writers = calloc(plan->nnew_columns + 1, sizeof *f->writers);
	if (!f->begins || !f->writers)
		return STATUS_NO_MEMORY;
	return running_state_init(&f->state, plan);
}

void new_fields_free(struct new_fields *f)
{
	running_state_free(&f->state, f->plan);
	group_states_free(&f->states, f->plan);
	free(f->scratch.data);
	text_free(&f->text);
	free(f->begins);
	free(f->writers);
	memset(f, 0, sizeof *f);
}

enum status new_fields_begin(struct new_fields *f, const struct partial *before)
{
	f->states.n = 0;
	return running_state_begin(&f->state, f->plan, before);
}

bool new_fields_need_quotes(const struct plan *plan)
{
	char d = plan->dialect.delimiter;

	return plan->nnew_columns > 0 &&
	       (d == '-' || d == plan->notation.decimal || decimal_is_digit(d));
}

/* One call of new_fields_write. */
struct writing {
	struct new_fields *f;
	struct row_block *b;
	const struct row_filter *filter;
	struct group *const *groups; /* by row; NULL: all records are one group */
	uint64_t offset_bytes;
};

/* The running values that a row adds to. NULL: no memory. */
static inline struct running_state *state_at(const struct writing *w, unsigned row)
{
	return w->groups ? group_states_of(&w->f->states, w->f->plan, w->groups[row]) : &w->f->state;
}

/* ---- totals ---- */

/* Adds a row's field that is not a plain number to the total r of new column i. */
static enum status add_other(const struct writing *w, size_t i, struct running *r, unsigned row)
{
	size_t c = w->f->plan->new_columns[i].column;
	bool parses = w->f->plan->columns[c].parses;
	const char *value;
	size_t nbytes;
	struct value v;
	enum status status;
	enum row_value is = parses ? ROW_QUOTED
				   : row_block_value(w->b, c, row, &value, &nbytes);

	if (is != ROW_QUOTED) { /* the column counts values only; one with a NUL is invalid */
		r->count += is == ROW_PRESENT && !memchr(value, '\0', nbytes);
		return STATUS_OK;
	}
	status = row_block_read(w->b, c, row, parses, &w->f->scratch, &v);
	return status == STATUS_OK ? running_add_value(r, &v) : status;
}

/* Adds the row's value to the total r of new column i. x: the numbers of its column. */
static inline enum status add_row(const struct writing *w, size_t i, struct running *r,
				  const struct simd_numbers *x, unsigned row)
{
	if (x->numbers >> row & 1)
		return running_add_decimal(r, (struct decimal){x->significand[row], x->scale[row]});
	return x->empty >> row & 1 ? STATUS_OK : add_other(w, i, r, row);
}

/* Like running_write. */
static inline char *write_total(struct decimal_writer *d, const struct running *r, char *to)
{
	const struct exact *total = &r->total;
	int64_t value = (int64_t)total->value;

	if (r->kind == NEW_COUNT)
		return decimal_writer_u64(d, to, r->count);
	if (r->kind == NEW_MEAN || total->is_long || total->scale > DECIMAL_POWER_MAX || value != total->value ||
	    value == INT64_MIN || (r->count == 0 && r->kind != NEW_SUM))
		return running_write(r, to);
	if (total->scale != d->scale)
		decimal_writer_set(d, total->scale);
	return decimal_writer_i64(d, to, value);
}

/* Adds a row's value of any kind to the total r of new column i, and writes the total: before it is added, if exclusive. NULL: no
 * memory. Inline, so that the loop over a column's rows keeps all of this in registers. */
static inline __attribute__((always_inline)) char *write_any(const struct writing *w, size_t i, bool exclusive,
							     struct decimal_writer *d, struct running *r,
							     const struct simd_numbers *x, unsigned row, char *to)
{
	if (!exclusive && add_row(w, i, r, x, row) != STATUS_OK)
		return NULL;
	to = write_total(d, r, to);
	return exclusive && add_row(w, i, r, x, row) != STATUS_OK ? NULL : to;
}

/* Writes the running totals of new column i. x: its column's numbers. Returns the last one's end,
 * or NULL where memory ran out. */
static char *write_totals(const struct writing *w, size_t i, const struct simd_numbers *x,
			  unsigned leads, size_t *begins, char *data, char *to)
{
	struct running *total = &w->f->state.runnings[i];
	struct decimal_writer d = w->f->writers[i];
	bool exclusive = w->f->plan->exclusive;
	char delimiter = w->f->plan->dialect.delimiter;

	for (unsigned k = 0, n = w->f->nrows; k < n && to; k++) {
		begins[k] = (size_t)(to - data);
		*to = delimiter;
		to = write_any(w, i, exclusive, &d, total, x, w->f->rows[k], to + leads);
	}
	w->f->writers[i] = d;
	return to;
}

/* ---- variances and standard deviations ---- */

/* Reads the row's value for new column i. x: the numbers of its column. */
static enum status read_row(const struct writing *w, size_t i, const struct simd_numbers *x, unsigned row,
			    struct value *v)
{
	if (x->numbers >> row & 1) {
		v->kind = DECIMAL_NUMBER;
		v->number = (struct decimal){x->significand[row], x->scale[row]};
		return STATUS_OK;
	}
	return row_block_read(w->b, w->f->plan->new_columns[i].column, row, true, &w->f->scratch, v);
}

/* Adds the row's value to r of new column i. x: the numbers of its column. */
static enum status ratio_add_row(const struct writing *w, size_t i, struct running_ratio *r,
				 const struct simd_numbers *x, unsigned row)
{
	struct value v;
	enum status status = read_row(w, i, x, row, &v);

	return status == STATUS_OK ? running_ratio_add_value(r, &v) : status;
}

/* Adds a row's value to r of new column i, and writes the result. NULL: no memory. */
static char *write_ratio(const struct writing *w, size_t i, struct running_ratio *r,
			 const struct simd_numbers *x, unsigned row, char *to)
{
	bool exclusive = w->f->plan->exclusive;

	if (exclusive)
		to = running_ratio_write(r, to);
	if (ratio_add_row(w, i, r, x, row) != STATUS_OK)
		return NULL;
	return exclusive ? to : running_ratio_write(r, to);
}

/* ---- windows ---- */

/* Takes the row's number into window i of the plan, and writes what it shows. x: as above. NULL: no memory. */
static char *write_window(const struct writing *w, size_t i, const struct simd_numbers *x, unsigned row, char *to)
{
	const struct plan *plan = w->f->plan;
	struct running_window *r = &w->f->state.windows[i];
	struct recent_value v;

	if (row_number_value(w->b, plan->windows[i].column, x, row, &w->f->scratch, &v) != STATUS_OK)
		return NULL;
	if (w->groups && group_shows_window(w->groups[row], plan, i, &v))
		return group_running_write(w->groups[row], plan, i, &v, to);
	if (w->groups)
		r = group_states_window(&w->f->states, plan, w->groups[row], i);
	return r ? running_window_write(r, &v, to) : NULL;
}

/* ---- positions ---- */

static char *write_byte_offsets(const struct writing *w, size_t i, unsigned leads, size_t *begins,
				char *data, char *to)
{
	struct decimal_writer *d = &w->f->writers[i];

	for (unsigned k = 0; k < w->f->nrows; k++) {
		uint32_t begin = row_block_ends(w->b, w->f->rows[k])[-1] + 1;
		begins[k] = (size_t)(to - data);
		*to = w->f->plan->dialect.delimiter;
		to = decimal_writer_u64(d, to + leads, w->offset_bytes + begin);
	}
	return to;
}

/* The rows' positions among those of their group, or of all, where the predicate holds; elsewhere nothing. */
static char *write_offsets(const struct writing *w, size_t i, unsigned leads, size_t *begins,
			   char *data, char *to)
{
	size_t predicate = w->f->plan->new_columns[i].predicate;
	uint64_t holds = w->filter->holds[predicate], *nmatched = &w->f->state.nmatched[predicate];

	for (unsigned k = 0; k < w->f->nrows; k++) {
		unsigned row = w->f->rows[k];
		begins[k] = (size_t)(to - data);
		*to = w->f->plan->dialect.delimiter;
		to += leads;
		if (!(holds >> row & 1))
			continue;
		if (w->groups) {
			struct running_state *state = state_at(w, row);
			if (!state)
				return NULL;
			nmatched = &state->nmatched[predicate];
		}
		to = decimal_writer_u64(&w->f->writers[i], to, (*nmatched)++);
	}
	return to;
}

/* ---- all of them ---- */

/* The numbers that the total of new column i adds up: none in a column that does not parse. */
static const struct simd_numbers *numbers_of(const struct writing *w, size_t i)
{
	static const struct simd_numbers none;
	const struct new_column *column = &w->f->plan->new_columns[i];

	if (!new_column_is_running(column) || !w->f->plan->columns[column->column].parses)
		return &none;
	return row_block_numbers(w->b, column->column);
}

/* Writes the field of new column i in a row, and advances what it shows. NULL: no memory. */
static char *write_field(const struct writing *w, size_t i, const struct simd_numbers *x, unsigned row, char *to)
{
	const struct new_column *column = &w->f->plan->new_columns[i];
	struct running_state *state;

	if (new_column_has_window(column))
		return write_window(w, column->window, x, row, to);
	state = state_at(w, row);
	if (!state)
		return NULL;
	if (column->kind == NEW_ROW_NUMBER)
		return decimal_writer_u64(&w->f->writers[i], to,
					  state->runnings[i].count++ + !w->f->plan->exclusive);
	if (running_ratio_is(column->kind))
		return write_ratio(w, i, &state->ratios[i], x, row, to);
	return write_any(w, i, w->f->plan->exclusive, &w->f->writers[i], &state->runnings[i], x, row, to);
}

/* Writes the fields of new column i one by one. Returns the last one's end, or NULL where memory ran out. */
static char *write_fields(const struct writing *w, size_t i, unsigned leads, size_t *begins, char *data, char *to)
{
	const struct simd_numbers *x = numbers_of(w, i);

	for (unsigned k = 0; k < w->f->nrows && to; k++) {
		begins[k] = (size_t)(to - data);
		*to = w->f->plan->dialect.delimiter;
		to = write_field(w, i, x, w->f->rows[k], to + leads);
	}
	return to;
}

/* Whether new column i shows totals of all records so far. */
static bool is_total(const struct writing *w, size_t i)
{
	return !w->groups && w->f->plan->new_columns[i].kind <= NEW_COUNT;
}

/* Sets the input's decimal point in the fields of the column written last, so that the file keeps one
 * notation; each has `leads` bytes before it. */
static void set_points(struct new_fields *f, const size_t *begins, unsigned leads)
{
	for (unsigned k = 0; k < f->nrows; k++) {
		char *field = f->text.data + begins[k] + leads;
		char *point = memchr(field, '.', (size_t)(f->text.data + begins[k + 1] - field));
		if (point)
			*point = f->plan->notation.decimal;
	}
}

/* Puts quotes around the fields that hold the delimiter, in the column written last; each has
 * `leads` bytes before it, and room for quotes. */
static void quote_fields(struct new_fields *f, size_t *begins, unsigned leads)
{
	char *data = f->text.data;
	char delimiter = f->plan->dialect.delimiter, quote = f->plan->dialect.quote;

	for (unsigned k = 0; k < f->nrows; k++) {
		char *field = data + begins[k] + leads;
		size_t nbytes = (size_t)(data + begins[k + 1] - field);
		if (!memchr(field, delimiter, nbytes))
			continue;
		memmove(field + 1, field, (size_t)(data + f->text.nbytes - field));
		field[0] = quote;
		field += nbytes + 1;
		memmove(field + 1, field, (size_t)(data + f->text.nbytes + 1 - field));
		field[0] = quote;
		f->text.nbytes += 2;
		for (unsigned later = k + 1; later <= f->nrows; later++)
			begins[later] += 2;
	}
}

/* With whitespace, writes "_" for the empty fields of the column written last, as for blanks: else nothing would be read in
 * their place. Errors: STATUS_NO_MEMORY. */
static enum status fill_fields(struct new_fields *f, size_t *begins, unsigned leads)
{
	if (text_reserve(&f->text, f->nrows + EMIT_SLACK) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (unsigned k = f->nrows; k-- > 0;) {
		char *field = f->text.data + begins[k] + leads;
		if (begins[k + 1] - begins[k] > leads)
			continue;
		memmove(field + 1, field, f->text.nbytes - (begins[k] + leads));
		*field = '_';
		f->text.nbytes++;
		for (unsigned later = k + 1; later <= f->nrows; later++)
			begins[later]++;
	}
	return STATUS_OK;
}

/* How many bytes more a field takes that would begin a comment, where it is the first of its line: quotes around it
 * and doubled within it, or an escape byte before it; with whitespace a blank, which separates nothing there. */
static size_t guard_nbytes(const struct csv_dialect *d, const char *field, size_t nbytes)
{
	size_t more = 2;

	if (d->escape || d->whitespace)
		return 1;
	for (size_t i = 0; i < nbytes; i++)
		more += field[i] == d->quote;
	return more;
}

/* Writes the field from[0 .. nbytes) so that it begins no comment. to: guard_nbytes before `from`. */
static void write_guarded(const struct csv_dialect *d, const char *from, size_t nbytes, char *to)
{
	if (d->escape || d->whitespace) {
		*to = d->whitespace ? ' ' : d->escape;
		return;
	}
	*to++ = d->quote;
	for (size_t i = 0; i < nbytes; i++) {
		char byte = from[i];
		if (byte == d->quote)
			*to++ = byte;
		*to++ = byte;
	}
	*to = d->quote;
}

/* Sees to it that no field of the column written last, which are the first of their lines, begins a comment. Errors:
 * STATUS_NO_MEMORY. */
static enum status guard_lines(struct new_fields *f, size_t *begins)
{
	const struct csv_dialect *d = &f->plan->dialect;

	for (unsigned k = f->nrows; k-- > 0;) {
		size_t nbytes = begins[k + 1] - begins[k], more;
		char *field = f->text.data + begins[k];
		if (nbytes == 0 || *field != d->comment)
			continue;
		more = guard_nbytes(d, field, nbytes);
		if (text_reserve(&f->text, more + EMIT_SLACK) != STATUS_OK)
			return STATUS_NO_MEMORY;
		field = f->text.data + begins[k];
		memmove(field + more, field, f->text.nbytes - begins[k]);
		write_guarded(d, field + more, nbytes, field);
		f->text.nbytes += more;
		for (unsigned later = k + 1; later <= f->nrows; later++)
			begins[later] += more;
	}
	return STATUS_OK;
}

static enum status write_column(const struct writing *w, size_t i)
{
	struct text_buffer *text = &w->f->text;
	size_t *begins = w->f->begins + i * (ROW_BLOCK_NROWS + 1);
	unsigned leads = i > 0 || !w->f->plan->only;
	bool guards = !leads && w->f->plan->dialect.comment && !w->f->plan->curve;
	bool fills = w->f->plan->dialect.whitespace && !w->f->plan->curve;
	char *to;

	if (new_column_is_copied(&w->f->plan->new_columns[i])) {
		to = copied_fields_write(w->f, w->b, w->groups, i, leads, begins);
		begins[w->f->nrows] = text->nbytes;
		if (!to || (fills && fill_fields(w->f, begins, leads) != STATUS_OK))
			return STATUS_NO_MEMORY;
		return guards ? guard_lines(w->f, begins) : STATUS_OK;
	}
	if (text_reserve(text, w->f->nrows * FIELD_NBYTES_MAX + EMIT_SLACK) != STATUS_OK)
		return STATUS_NO_MEMORY;
	to = text->data + text->nbytes;
	if (w->f->plan->new_columns[i].kind == NEW_BYTE_OFFSET)
		to = write_byte_offsets(w, i, leads, begins, text->data, to);
	else if (w->f->plan->new_columns[i].kind == NEW_OFFSET)
		to = write_offsets(w, i, leads, begins, text->data, to);
	else if (w->f->plan->new_columns[i].kind == NEW_RANK)
		to = rank_fields_write(w->f, w->b, w->groups, i, leads, begins, to);
	else if (is_total(w, i))
		to = write_totals(w, i, numbers_of(w, i), leads, begins, text->data, to);
	else
		to = write_fields(w, i, leads, begins, text->data, to);
	if (!to)
		return STATUS_NO_MEMORY;
	text->nbytes = begins[w->f->nrows] = (size_t)(to - text->data);
	if (w->f->plan->notation.decimal != '.')
		set_points(w->f, begins, leads);
	if (new_fields_need_quotes(w->f->plan))
		quote_fields(w->f, begins, leads);
	if (fills && fill_fields(w->f, begins, leads) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return guards ? guard_lines(w->f, begins) : STATUS_OK;
}

enum status new_fields_write(struct new_fields *f, struct row_block *b,
			     const struct row_filter *filter, struct group *const *groups,
			     uint64_t offset_bytes)
{
	const struct writing w = {f, b, filter, groups, offset_bytes};
	enum status status = STATUS_OK;

	f->nrows = 0;
	for (uint64_t rows = filter->kept; rows; rows &= rows - 1)
		f->rows[f->nrows++] = (unsigned)__builtin_ctzll(rows);
	f->text.nbytes = 0;
	for (size_t i = 0; status == STATUS_OK && i < f->plan->nnew_columns; i++)
		status = write_column(&w, i);
	return status;
}
