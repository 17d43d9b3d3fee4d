/* SPDX-License-Identifier: MIT
 *
 * new_fields.c - see new_fields.h. Each kind of new column (NEW_COLUMN_KINDS of query/plan.h) names a row of functions here: the
 * state of one, how it begins, and how the fields of a block are written.
 */
#include "emit/new_fields.h"

#include <stdlib.h>

#include "fold/rank_table.h"
#include "fold/window.h"
#include "io/row_format.h"
#include "number/decimal.h"
#include "query/value.h"

#define FIELD_NBYTES_MAX (NEW_NUMBER_NBYTES + 3) /* with a delimiter before it, and quotes */
static_assert(NEW_NUMBER_NBYTES >= EXACT_TEXT_NBYTES, "a total is a field, too");

/* ---- what is written ---- */

/* One call of new_fields_write, and the new column that it is at. */
struct writing {
	struct new_fields *f;
	struct row_block *b;
	const struct row_filter *filter;
	struct group *const *groups; /* by row; NULL: all records are one group */
	uint64_t offset_bytes;
	size_t i; /* new column */
	const struct simd_numbers *times; /* of windows by time */
	const struct new_column *column;
	const struct simd_numbers *x; /* the numbers of its column; none of one that does not parse */
	void *state;    /* without groups: its */
	unsigned leads; /* 1: a delimiter comes before its fields */
	size_t *begins; /* where they begin */
};

/* The state of the column that a row adds to. NULL: no memory. */
static inline void *state_at(const struct writing *w, unsigned row)
{
	char *states;

	if (!w->groups)
		return w->state;
	states = new_fields_group(w->f, w->groups[row]);
	return states ? states + w->f->offsets[w->i] : NULL;
}

/* Writes the field of the k-th kept row at `to`. Returns its end, or NULL where memory ran out. */
typedef char *field_writer(const struct writing *w, unsigned k, char *to);

/* Writes the fields of all rows. Inline, so that each column has a loop of its own. */
static inline __attribute__((always_inline)) char *write_each(const struct writing *w, field_writer *write, char *to)
{
	const char delimiter = w->f->plan->dialect.delimiter, *data = w->f->text.data;
	const unsigned n = w->f->nrows, leads = w->leads;
	size_t *begins = w->begins;

	for (unsigned k = 0; k < n && to; k++) {
		begins[k] = (size_t)(to - data);
		*to = delimiter;
		to = write(w, k, to + leads);
	}
	return to;
}

#define WRITE_EACH(name, field_writer) \
	static char *name(const struct writing *w, char *to) { return write_each(w, field_writer, to); }

/* What a state begins with. */
struct beginning {
	const struct plan *plan;
	struct group *group;          /* NULL: all records are one */
	const struct partial *before; /* the fold of the records before, unless there is a group */
	struct window_folds *windows;
};

/* Reads the row's number. */
static inline enum status read_number(const struct writing *w, unsigned row, struct recent_value *v)
{
	return row_number_value(w->b, w->column->column, w->x, row, &w->f->scratch, v);
}

/* ---- results of all numbers so far ---- */

/* Whether a column's struct running has squares. */
static bool has_squares(const struct new_column *column)
{
	return operation_needs(new_column_aggregate(column->kind)) & MOMENT_SQUARES;
}

static void free_running(void *state, const struct new_column *column)
{
	running_free(state, has_squares(column));
}

static enum status begin_running(void *state, const struct new_column *column, const struct beginning *from)
{
	const struct plan_column *of = &from->plan->columns[column->column];
	struct group_sums before;

	if (from->group)
		group_cell_read(group_cell(from->group, of), of->needs, &before);
	else
		group_sums_of(&from->before->columns[column->column], &before);
	return running_begin(state, has_squares(column), &before);
}

/* Adds the row's value, which is no plain number. */
static __attribute__((noinline)) enum status add_other(const struct writing *w, struct running *r, bool squares, unsigned row)
{
	const size_t c = w->column->column;
	struct recent_value v;
	bool is;

	if (!w->f->plan->columns[c].parses) {
		TRY(row_is_there(w->b, c, row, &w->f->scratch, &is));
		r->numbers.count += is;
		return STATUS_OK;
	}
	TRY(row_number_value(w->b, c, w->x, row, &w->f->scratch, &v));
	return v.kind == RECENT_NUMBER ? running_add(r, squares, v.number) : running_add_long(r, squares, &v);
}

/* Adds the row's value. */
static inline __attribute__((always_inline)) enum status add_row(const struct writing *w, struct running *r, bool squares,
								 unsigned row)
{
	if (w->x->numbers >> row & 1)
		return running_add(r, squares, (struct decimal){w->x->significand[row], w->x->scale[row]});
	return w->x->empty >> row & 1 ? STATUS_OK : add_other(w, r, squares, row);
}

/* Inline, so that the loop over a column's rows keeps all of this in registers. */
static inline __attribute__((always_inline)) char *write_running_of(const struct writing *w, bool by_group, bool squares, char *to)
{
	struct running *total = w->state;
	struct decimal_writer d = w->f->writers[w->i];
	const enum operation aggregate = new_column_aggregate(w->column->kind);
	const bool exclusive = w->f->plan->exclusive;
	const char delimiter = w->f->plan->dialect.delimiter, *data = w->f->text.data;
	const unsigned leads = w->leads;
	size_t *begins = w->begins;

	for (unsigned k = 0, n = w->f->nrows; k < n && to; k++) {
		unsigned row = w->f->rows[k];
		begins[k] = (size_t)(to - data);
		*to = delimiter;
		if (by_group && !(total = state_at(w, row)))
			return NULL;
		if (!exclusive && add_row(w, total, squares, row) != STATUS_OK)
			return NULL;
		to = running_write(total, aggregate, 0, &d, to + leads);
		if (exclusive && add_row(w, total, squares, row) != STATUS_OK)
			return NULL;
	}
	w->f->writers[w->i] = d;
	return to;
}

static char *write_totals(const struct writing *w, char *to)
{
	return w->groups ? write_running_of(w, true, false, to) : write_running_of(w, false, false, to);
}

static char *write_spreads(const struct writing *w, char *to)
{
	return w->groups ? write_running_of(w, true, true, to) : write_running_of(w, false, true, to);
}

/* ---- windows ---- */

/* Without groups; a group has its own. */
static enum status begin_window(void *state, const struct new_column *column, const struct beginning *from)
{
	const struct plan_window *window = &from->plan->windows[column->window];
	const struct window_place at = {from->windows, window, state};
	struct window_fold *fold;

	if (from->group)
		return STATUS_OK;
	memset(state, 0, group_window_nbytes(window));
	if (column->kind == NEW_EWMA)
		TRY(group_window_fold(&at, &fold)); /* one mean: it need not be copied */
	return group_window_add_fold(&at, &from->before->windows[column->window],
				     from->before->columns[column->column].numbers.scale);
}

/* The window of the column in a row. */
static inline struct window_place window_at(const struct writing *w, unsigned row)
{
	const struct plan_window *window = &w->f->plan->windows[w->column->window];

	return (struct window_place){&w->f->windows, window,
				     w->groups ? group_window(w->groups[row], window) : w->state};
}

static inline __attribute__((always_inline)) char *write_window(const struct writing *w, unsigned k,
								window_show *show, char *to)
{
	const unsigned row = w->f->rows[k];
	const struct window_place at = window_at(w, row);
	struct recent_value v, time;

	if (w->times && row_number_value(w->b, w->f->plan->over, w->times, row, &w->f->time_scratch,
					 &time) != STATUS_OK)
		return NULL;
	return read_number(w, row, &v) == STATUS_OK ? show(&at, &v, &time, &w->f->writers[w->i], to)
						    : NULL;
}

#define WRITE_WINDOWS(name)                                                                        \
	static char *write_##name(const struct writing *w, unsigned k, char *to)                   \
	{                                                                                          \
		return write_window(w, k, name##_show, to);                                        \
	}                                                                                          \
	WRITE_EACH(write_each_##name, write_##name)

WRITE_WINDOWS(rolling)
WRITE_WINDOWS(change)
WRITE_WINDOWS(ewma)

/* A block at a time where that can be, else record after record. */
static char *write_rolling_block(const struct writing *w, char *to)
{
	const enum operation aggregate = new_column_aggregate(w->column->kind);
	const struct window_place at = {&w->f->windows, &w->f->plan->windows[w->column->window],
					w->state};
	struct decimal_writer d = w->f->writers[w->i];
	struct window_block b;
	bool is_done;

	if (w->groups || operation_needs(aggregate) & (MOMENT_SQUARES | MOMENT_VALUES) ||
	    !window_block_read(&b, w->x, w->filter->kept, false) ||
	    (w->times && !window_block_read_times(&b, w->times, w->filter->kept)))
		return write_each_rolling(w, to);
	if (rolling_slide(&at, &b, &is_done) != STATUS_OK)
		return NULL;
	if (!is_done)
		return write_each_rolling(w, to);
	for (unsigned k = 0; k < b.n; k++) {
		w->begins[k] = (size_t)(to - w->f->text.data);
		*to = w->f->plan->dialect.delimiter;
		to = write_short_total(&d, aggregate, b.total[k], b.total_scale, b.count[k], to + w->leads);
	}
	w->f->writers[w->i] = d;
	return to;
}

/* ---- fields, of any length ---- */

/* Appends the fields of n kept rows, from row `first` on, each with the delimiter before it. is_padded: COPY_NBYTES may be read
 * of each. Inline, so that both have a loop of their own. */
static inline __attribute__((always_inline)) enum status append(const struct writing *w, unsigned first, unsigned n,
								const struct row_text *fields, bool is_padded)
{
	struct text_buffer *text = &w->f->text;
	const char delimiter = w->f->plan->dialect.delimiter;
	const unsigned leads = w->leads;
	size_t nbytes = n * leads, *begins = w->begins + first;
	char *to, *data;

	for (unsigned k = 0; k < n; k++)
		nbytes += fields[k].nbytes;
	TRY(text_reserve(text, nbytes + EMIT_SLACK));
	data = text->data;
	to = data + text->nbytes;
	for (unsigned k = 0; k < n; k++) {
		begins[k] = (size_t)(to - data);
		*to = delimiter;
		to += leads;
		if (is_padded)
			to = copy_text(to, fields[k].text, fields[k].nbytes);
		else if (fields[k].nbytes) /* a damaged state may have no text where a window has fields */
			to = (char *)memcpy(to, fields[k].text, fields[k].nbytes) + fields[k].nbytes;
	}
	text->nbytes = (size_t)(to - data);
	return STATUS_OK;
}

/* The rows' own fields. */
static enum status own_fields(const struct writing *w, struct row_text fields[ROW_BLOCK_NROWS])
{
	const size_t c = w->column->column;
	struct recent_value v;
	uint64_t numbers;

	if (!w->f->plan->columns[c].let) {
		row_block_fields(w->b, c, w->f->rows, w->f->nrows, fields);
		return STATUS_OK;
	}
	numbers = csv_dialect_trims(&w->f->plan->dialect) ? 0 : program_block_number_fields(w->b, c, w->filter->kept);
	for (unsigned k = 0; k < w->f->nrows; k++) {
		if (numbers >> w->f->rows[k] & 1) {
			struct field_span span = row_block_field(w->b, c, w->f->rows[k]);
			fields[k] = (struct row_text){w->b->text + span.begin, span.end - span.begin};
			continue;
		}
		TRY(row_text_value(w->b, c, w->f->rows[k], false, &w->f->scratch, &v));
		fields[k] = (struct row_text){v.text, v.nbytes};
	}
	return STATUS_OK;
}

/* Whether the column is one of --let whose numbers are shown in a style. */
static bool is_shown_let(const struct plan *plan, const struct new_column *column)
{
	return plan->shown && column->kind == NEW_LET &&
	       plan->columns[column->column].let->type == TYPE_NUMBER;
}

/* Appends the numbers, in plain decimal. */
static enum status append_plain(const struct writing *w)
{
	const size_t c = w->column->column;
	struct row_text field;
	bool is_number;

	for (unsigned k = 0; k < w->f->nrows; k++) {
		TRY(program_block_plain(w->b, c, w->f->rows[k], &w->f->scratch, &field.text,
					&field.nbytes, &is_number));
		TRY(append(w, k, 1, &field, false));
	}
	return STATUS_OK;
}

static char *write_copies(const struct writing *w, char *to)
{
	struct row_text fields[ROW_BLOCK_NROWS];

	if (is_shown_let(w->f->plan, w->column))
		return append_plain(w) == STATUS_OK ? w->f->text.data + w->f->text.nbytes : NULL;
	if (own_fields(w, fields) != STATUS_OK || append(w, 0, w->f->nrows, fields, true) != STATUS_OK)
		return NULL;
	to = w->f->text.data + w->f->text.nbytes;
	return to;
}

/* The fields N rows before: those of rows before the block are kept, and then the block's last ones are. */
static enum status append_lags(const struct writing *w, struct recent *kept, uint64_t nback)
{
	const unsigned n = w->f->nrows, nold = nback < n ? (unsigned)nback : n;
	struct row_text own[ROW_BLOCK_NROWS], old[ROW_BLOCK_NROWS];

	TRY(own_fields(w, own));
	for (unsigned k = 0; k < nold; k++) {
		struct recent_value v = {.text = "", .nbytes = 0};
		if (kept->nvalues + k >= nback)
			v = recent_at(kept, kept->nvalues + k - nback);
		old[k] = (struct row_text){v.text, v.nbytes};
	}
	TRY(append(w, 0, nold, old, false));
	TRY(append(w, nold, n - nold, own, true));
	for (unsigned k = n - nold; k < n; k++) {
		const struct recent_value v = {.kind = RECENT_TEXT, .text = own[k].text, .nbytes = own[k].nbytes};
		TRY(recent_push(kept, &v));
	}
	recent_keep(kept, nback);
	return STATUS_OK;
}

/* The fields, or the last ones before them that are not missing. */
static enum status append_filled(const struct writing *w, struct recent *kept)
{
	const size_t c = w->column->column;
	struct recent_value v, last = {.kind = RECENT_NONE, .text = ""};
	struct row_text fields[ROW_BLOCK_NROWS], values[ROW_BLOCK_NROWS];
	unsigned nold = 0, n = w->f->nrows;
	const uint64_t plain = row_block_plain_values(w->b, c, w->filter->kept, values);

	if (kept->nvalues)
		last = recent_at(kept, 0);
	if (plain)
		row_block_fields(w->b, c, w->f->rows, n, fields);
	for (unsigned k = 0; k < n; k++) {
		if (plain >> w->f->rows[k] & 1)
			v = (struct recent_value){RECENT_TEXT, .text = fields[k].text,
						  .nbytes = fields[k].nbytes};
		else
			TRY(row_text_value(w->b, c, w->f->rows[k], true, &w->f->scratch, &v));
		if (v.kind == RECENT_TEXT)
			last = v;
		else if (nold == k)
			nold++;
		fields[k] = (struct row_text){last.text, last.nbytes};
	}
	TRY(append(w, 0, nold, fields, false));
	TRY(append(w, nold, n - nold, fields + nold, true));
	if (nold == n)
		return STATUS_OK;
	recent_keep(kept, 0);
	return recent_push(kept, &last);
}

/* The field that the k-th kept row shows of its group's. */
static enum status append_of_group(const struct writing *w, unsigned k)
{
	const bool fills = w->column->kind == NEW_FILL_DOWN;
	const struct window_place at = window_at(w, w->f->rows[k]);
	struct recent_value v, shown;

	TRY(row_text_value(w->b, w->column->column, w->f->rows[k], fills, &w->f->scratch, &v));
	shown = fills && v.kind == RECENT_TEXT ? v : group_window_oldest(&at);
	TRY(append(w, k, 1, &(struct row_text){shown.text, shown.nbytes}, false));
	return v.kind == RECENT_TEXT ? group_window_add(&at, &v, NULL) : STATUS_OK;
}

static char *write_lags(const struct writing *w, char *to)
{
	const struct window_place all = {&w->f->windows, &w->f->plan->windows[w->column->window],
					 w->state};
	struct window_fold *of_all;
	enum status status = STATUS_OK;

	for (unsigned k = 0; w->groups && k < w->f->nrows && status == STATUS_OK; k++)
		status = append_of_group(w, k);
	if (!w->groups && (status = group_window_fold(&all, &of_all)) == STATUS_OK)
		status = w->column->kind == NEW_LAG ? append_lags(w, &of_all->recent, of_all->plan->nrows) : append_filled(w, &of_all->recent);
	to = w->f->text.data + w->f->text.nbytes;
	return status == STATUS_OK ? to : NULL;
}

/* ---- positions ---- */

static enum status begin_row_number(void *state, const struct new_column *column, const struct beginning *from)
{
	const size_t where = from->plan->where;
	uint64_t *n = state;

	(void)column;
	*n = from->group ? from->group->nrecords
	     : where == PREDICATE_NONE ? from->before->nrecords - from->before->nundecided : from->before->nmatched[where];
	return STATUS_OK;
}

static char *write_row_number(const struct writing *w, unsigned k, char *to)
{
	uint64_t *n = state_at(w, w->f->rows[k]);

	return n ? decimal_writer_u64(&w->f->writers[w->i], to, (*n)++ + !w->f->plan->exclusive) : NULL;
}

WRITE_EACH(write_row_numbers, write_row_number)

static enum status begin_offset(void *state, const struct new_column *column, const struct beginning *from)
{
	uint64_t *n = state;

	*n = (from->group ? group_nmatched(from->group, from->plan) : from->before->nmatched)[column->predicate];
	return STATUS_OK;
}

/* The row's position among those of its group, or of all, where the predicate holds; elsewhere nothing. */
static char *write_offset(const struct writing *w, unsigned k, char *to)
{
	unsigned row = w->f->rows[k];
	uint64_t *n;

	if (!(w->filter->holds[w->column->predicate] >> row & 1))
		return to;
	n = state_at(w, row);
	return n ? decimal_writer_u64(&w->f->writers[w->i], to, (*n)++) : NULL;
}

WRITE_EACH(write_offsets, write_offset)

static char *write_byte_offset(const struct writing *w, unsigned k, char *to)
{
	uint32_t begin = row_block_ends(w->b, w->f->rows[k])[-1] + 1; /* 0 of the text's first record */

	return decimal_writer_u64(&w->f->writers[w->i], to, w->offset_bytes + begin);
}

WRITE_EACH(write_byte_offsets, write_byte_offset)

/* ---- ranks ---- */

/* The table of the group's numbers; NULL: there are none. */
static enum status begin_rank(void *state, const struct new_column *column, const struct beginning *from)
{
	const struct rank_tables *tables = from->plan->ranks;
	const struct rank_table *first = tables ? rank_tables_of(tables, from->group ? *group_home(from->group) : NULL) : NULL;

	*(const struct rank_table **)state = first ? first + column->rank : NULL;
	return STATUS_OK;
}

/* Prepares the lookup of the row's number, or finds the rank of a long one. */
static enum status begin_lookup(const struct writing *w, unsigned row, struct rank_lookup *l)
{
	const struct rank_table *const *table = state_at(w, row);
	struct recent_value v;

	l->table = NULL;
	l->rank = 0;
	if (!table || !*table || w->x->empty >> row & 1)
		return table ? STATUS_OK : STATUS_NO_MEMORY;
	TRY(read_number(w, row, &v));
	l->number = v.number;
	if (v.kind == RECENT_NUMBER)
		l->table = *table;
	else if (v.kind == RECENT_TEXT)
		l->rank = rank_table_find(*table, &(struct value){.kind = DECIMAL_WIDE, .text = v.text, .nbytes = v.nbytes},
					  w->column->is_descending);
	return STATUS_OK;
}

/* Writes (rank - 1) / (n - 1) of n numbers; of one alone 0. */
static char *write_percent(const struct rank_table *t, uint64_t rank, char *to)
{
	const struct exact nbefore = {.value = (int128)rank - 1}, nothers = {.value = t->n > 1 ? (int128)t->n - 1 : 1};

	return exact_write_quotient(&nbefore, &nothers, to);
}

/* Writes the number of the part that the rank is in, of nparts, whose sizes differ by 1 at most, the larger first. */
static char *write_tile(const struct writing *w, const struct rank_table *t, uint64_t rank, char *to)
{
	const uint64_t nparts = w->column->nahead, size = t->n / nparts, nlarger = t->n % nparts, nbefore = rank - 1;
	const uint64_t in_larger = nlarger * (size + 1);

	return decimal_writer_u64(&w->f->writers[w->i], to,
				  1 + (nbefore < in_larger ? nbefore / (size + 1) : nlarger + (nbefore - in_larger) / size));
}

static char *write_ranks(const struct writing *w, char *to)
{
	const enum new_column_kind kind = w->column->kind;
	struct rank_lookup lookups[ROW_BLOCK_NROWS];

	for (unsigned k = 0; k < w->f->nrows; k++)
		if (begin_lookup(w, w->f->rows[k], &lookups[k]) != STATUS_OK)
			return NULL;
	rank_table_find_all(lookups, w->f->nrows, w->column->is_descending);
	for (unsigned k = 0; k < w->f->nrows; k++) {
		w->begins[k] = (size_t)(to - w->f->text.data);
		*to = w->f->plan->dialect.delimiter;
		to += w->leads;
		if (!lookups[k].rank)
			continue;
		if (kind == NEW_PERCENT_RANK)
			to = write_percent(*(const struct rank_table *const *)state_at(w, w->f->rows[k]), lookups[k].rank, to);
		else if (kind == NEW_NTILE)
			to = write_tile(w, *(const struct rank_table *const *)state_at(w, w->f->rows[k]), lookups[k].rank, to);
		else
			to = decimal_writer_u64(&w->f->writers[w->i], to, lookups[k].rank);
	}
	return to;
}

/* ---- the table ---- */

struct new_column_ops {
	size_t state_nbytes; /* of one that has no window: that is a group's, or has group_window_nbytes */
	enum status (*begin)(void *state, const struct new_column *column, const struct beginning *from); /* NULL: nothing begins */
	void (*free)(void *state, const struct new_column *column); /* what it owns; NULL: nothing */
	char *(*write)(const struct writing *w, char *to); /* like field_writer, for all rows; copies make their own room */
	bool has_numbers;   /* of its column */
};

static const struct new_column_ops
	totals = {offsetof(struct running, squares), begin_running, free_running, write_totals, true},
	spreads = {sizeof(struct running), begin_running, free_running, write_spreads, true},
	rollings = {0, begin_window, NULL, write_rolling_block, true},
	changes = {0, begin_window, NULL, write_each_change, true},
	weighted = {0, begin_window, NULL, write_each_ewma, true},
	lags = {0, begin_window, NULL, write_lags, false},
	copies = {0, NULL, NULL, write_copies, false},
	ranks = {sizeof(struct rank_table *), begin_rank, NULL, write_ranks, true},
	row_numbers = {sizeof(uint64_t), begin_row_number, NULL, write_row_numbers, false},
	offsets = {sizeof(uint64_t), begin_offset, NULL, write_offsets, false},
	byte_offsets = {0, NULL, NULL, write_byte_offsets, false};

static const struct new_column_ops *ops_of(const struct new_column *column)
{
#define NEW_OPS(name, ops, aggregate, traits) &ops,
	static const struct new_column_ops *const all[] = {NEW_COLUMN_KINDS(NEW_OPS)};
#undef NEW_OPS

	return all[column->kind];
}

/* ---- states ---- */

enum status new_fields_init(struct new_fields *f, const struct plan *plan)
{
	const size_t n = plan->nnew_columns, alignment = sizeof(int128);

	memset(f, 0, sizeof *f);
	f->plan = plan;
	f->offsets = calloc(n + 1, sizeof *f->offsets);
	f->begins = calloc(n + 1, (ROW_BLOCK_NROWS + 1) * sizeof *f->begins);
	f->writers = calloc(n + 1, sizeof *f->writers);
	if (!f->offsets || !f->begins || !f->writers)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		const struct new_column *column = &plan->new_columns[i];
		size_t nbytes = ops_of(column)->state_nbytes;
		if (!plan->nkeys && new_column_has(column->kind, NEW_LOOKS_BACK))
			nbytes = group_window_nbytes(&plan->windows[column->window]);
		f->offsets[i + 1] = f->offsets[i] + (nbytes + alignment - 1) / alignment * alignment;
	}
	f->set_nbytes = f->offsets[n] + (plan->group_head ? alignment : 0);
	f->state = calloc(1, f->set_nbytes + 1);
	return f->state ? STATUS_OK : STATUS_NO_MEMORY;
}

static void free_states(struct new_fields *f, char *states)
{
	for (size_t i = 0; i < f->plan->nnew_columns; i++)
		if (f->offsets[i + 1] > f->offsets[i] && ops_of(&f->plan->new_columns[i])->free)
			ops_of(&f->plan->new_columns[i])->free(states + f->offsets[i], &f->plan->new_columns[i]);
}

void new_fields_free(struct new_fields *f)
{
	if (f->state)
		free_states(f, f->state);
	for (size_t g = 0; g < f->capacity; g++)
		free_states(f, f->groups + g * f->set_nbytes);
	window_folds_free(&f->windows);
	free(f->offsets);
	free(f->state);
	free(f->groups);
	free(f->scratch.data);
	free(f->time_scratch.data);
	text_free(&f->text);
	text_free(&f->shown);
	free(f->begins);
	free(f->writers);
	memset(f, 0, sizeof *f);
}

static enum status begin_states(struct new_fields *f, char *states, const struct beginning *from)
{
	for (size_t i = 0; i < f->plan->nnew_columns; i++)
		if (ops_of(&f->plan->new_columns[i])->begin)
			TRY(ops_of(&f->plan->new_columns[i])->begin(states + f->offsets[i], &f->plan->new_columns[i], from));
	if (f->plan->group_head)
		*(uint64_t *)(states + f->offsets[f->plan->nnew_columns]) = from->group->nrecords;
	return STATUS_OK;
}

enum status new_fields_begin(struct new_fields *f, const struct partial *before)
{
	f->ngroups = 0;
	window_folds_free(&f->windows);
	return f->plan->nkeys
		       ? STATUS_OK
		       : begin_states(f, f->state,
				      &(struct beginning){f->plan, NULL, before, &f->windows});
}

char *new_fields_group(struct new_fields *f, struct group *group)
{
	const size_t nbytes = f->set_nbytes, capacity = f->capacity;
	char *states;

	if (group->state > 0 && group->state <= f->ngroups)
		return f->groups + (group->state - 1) * nbytes;
	if (f->ngroups == capacity) {
		char *grown = realloc(f->groups, (2 * capacity + 16) * nbytes + 1);
		if (!grown)
			return NULL;
		f->groups = grown;
		f->capacity = 2 * capacity + 16;
		memset(grown + capacity * nbytes, 0, (f->capacity - capacity) * nbytes);
	}
	states = f->groups + f->ngroups * nbytes;
	if (begin_states(f, states, &(struct beginning){f->plan, group, NULL, &f->windows}) !=
	    STATUS_OK)
		return NULL;
	group->state = ++f->ngroups;
	return states;
}

enum status new_fields_choose(struct new_fields *f, struct group *const *groups, uint64_t *rows)
{
	uint64_t chosen = 0;

	for (uint64_t left = *rows; left; left &= left - 1) {
		char *states = new_fields_group(f, groups[__builtin_ctzll(left)]);
		NEED(states);
		if ((*(uint64_t *)(states + f->offsets[f->plan->nnew_columns]))++ < f->plan->group_head)
			chosen |= left & -left;
	}
	*rows = chosen;
	return STATUS_OK;
}

/* ---- a column ---- */

bool new_fields_need_quotes(const struct plan *plan)
{
	return plan->nnew_columns > 0 && plan_numbers_need_quotes(plan);
}

/* Moves what stands from text[at] on, in the field of the k-th kept row, of the column written
 * last, to text[to]. */
static enum status move(const struct writing *w, unsigned k, size_t at, size_t to)
{
	struct text_buffer *text = &w->f->text;

	TRY(text_reserve(text, (to > at ? to - at : 0) + EMIT_SLACK));
	memmove(text->data + to, text->data + at, text->nbytes - at);
	text->nbytes += to - at;
	while (++k <= w->f->nrows)
		w->begins[k] += to - at;
	return STATUS_OK;
}

/* Makes room for nbytes before text[at]. */
static enum status insert(const struct writing *w, unsigned k, size_t at, size_t nbytes)
{
	return move(w, k, at, at + nbytes);
}

/* Writes the number of nbytes at text[begin], in the field of the k-th kept row, in a style. */
static enum status show(const struct writing *w, const struct number_style *style, unsigned k,
			size_t begin, size_t nbytes)
{
	struct text_buffer *shown = &w->f->shown;

	shown->nbytes = 0;
	TRY(number_show(style, w->column->counts, w->f->text.data + begin, nbytes, shown));
	TRY(move(w, k, begin + nbytes, begin + shown->nbytes));
	memcpy(w->f->text.data + begin, shown->data, shown->nbytes);
	return STATUS_OK;
}

/* Has the k-th field, which begins its line with the byte of comments, begin none: by quotes around it, and doubled within it,
 * by an escape byte before it or, with whitespace, by a blank, which separates nothing there. */
static enum status guard(const struct writing *w, unsigned k)
{
	const struct csv_dialect *d = &w->f->plan->dialect;
	size_t begin = w->begins[k], end = w->begins[k + 1];
	const bool quotes = !d->escape && !d->whitespace;

	for (size_t at = end; quotes && at-- > begin;)
		if (w->f->text.data[at] == d->quote) {
			TRY(insert(w, k, at, 1));
			w->f->text.data[at] = d->quote;
			end++;
		}
	if (quotes)
		TRY(insert(w, k, end, 1));
	TRY(insert(w, k, begin, 1));
	if (quotes)
		w->f->text.data[begin] = w->f->text.data[end + 1] = d->quote;
	else
		w->f->text.data[begin] = d->whitespace ? ' ' : d->escape;
	return STATUS_OK;
}

/* Sets the input's decimal point in the fields of the column written last, so that the file keeps
 * one notation, and quotes around those that hold the delimiter, unless a style says otherwise;
 * with whitespace "_" for blanks and for empty ones: else nothing would be read in their place; and
 * sees to it that no field which is the first of its line begins a comment. From the last to the
 * first, since fields grow. */
static enum status finish_fields(const struct writing *w)
{
	const struct plan *plan = w->f->plan;
	const struct csv_dialect *d = &plan->dialect;
	const bool is_number =
		!new_column_has(w->column->kind, NEW_COPIES) || is_shown_let(plan, w->column);
	const bool shows = plan->shown && is_number;
	struct number_style style = shows ? *plan->shown : (struct number_style){.point = '\0'};
	const struct row_format *format = plan->row_format; /* of a row with one, printed_row.c sees to the rest */
	const bool points = is_number && plan->notation.decimal != '.' && !(format && row_has_strings(format));
	const bool quotes = !format && is_number && new_fields_need_quotes(plan), joins = !format && d->whitespace && !is_number;
	const bool fills = !format && d->whitespace && !plan->draws, guards = !format && !w->leads && d->comment && !plan->draws;

	style.point = style.point || !points ? style.point : plan->notation.decimal;
	for (unsigned k = w->f->nrows;
	     (shows || points || quotes || joins || fills || guards) && k-- > 0;) {
		size_t begin = w->begins[k] + w->leads, nbytes = w->begins[k + 1] - begin;
		char *field, *point;
		if (shows && nbytes > 0) {
			TRY(show(w, &style, k, begin, nbytes));
			nbytes = w->begins[k + 1] - begin;
		}
		field = w->f->text.data + begin;
		point = points && !shows ? memchr(field, '.', nbytes) : NULL;
		if (point)
			*point = plan->notation.decimal;
		if (quotes && memchr(field, d->delimiter, nbytes)) {
			TRY(insert(w, k, begin + nbytes, 1));
			TRY(insert(w, k, begin, 1));
			w->f->text.data[begin] = w->f->text.data[begin + nbytes + 1] = d->quote;
		}
		for (size_t at = 0; joins && at < nbytes; at++)
			field[at] = decimal_is_blank(field[at]) ? '_' : field[at]; /* fields end at blanks */
		if (fills && nbytes == 0) {
			TRY(insert(w, k, begin, 1));
			w->f->text.data[begin] = '_';
		}
		if (guards && w->begins[k + 1] > begin && w->f->text.data[begin] == d->comment)
			TRY(guard(w, k));
	}
	return STATUS_OK;
}

enum status new_fields_write(struct new_fields *f, struct row_block *b,
			     const struct row_filter *filter, struct group *const *groups,
			     uint64_t offset_bytes)
{
	struct writing w = {.f = f, .b = b, .filter = filter, .groups = groups, .offset_bytes = offset_bytes, .begins = f->begins};

	f->nrows = 0;
	for (uint64_t rows = filter->kept; rows; rows &= rows - 1)
		f->rows[f->nrows++] = (unsigned)__builtin_ctzll(rows);
	f->text.nbytes = 0;
	for (; w.i < f->plan->nnew_columns; w.i++, w.begins += ROW_BLOCK_NROWS + 1) {
		char *to;
		w.column = &f->plan->new_columns[w.i];
		w.state = f->state + f->offsets[w.i];
		w.x = ops_of(w.column)->has_numbers ? row_window_numbers(b, w.column->column) : NULL;
		w.times = new_column_is_timed(f->plan, w.column)
				  ? row_window_numbers(b, f->plan->over)
				  : NULL;
		w.leads = !f->plan->row_format && (w.i > 0 || !f->plan->only);
		if (!new_column_has(w.column->kind, NEW_COPIES))
			TRY(text_reserve(&f->text, f->nrows * FIELD_NBYTES_MAX + EMIT_SLACK));
		if (is_shown_let(f->plan, w.column)) /* computed as without a style */
			program_block_numbers(b, w.column->column);
		number_shown = f->plan->shown;
		to = ops_of(w.column)->write(&w, f->text.data + f->text.nbytes);
		number_shown = NULL;
		NEED(to);
		f->text.nbytes = w.begins[f->nrows] = (size_t)(to - f->text.data);
		TRY(finish_fields(&w));
	}
	return STATUS_OK;
}
