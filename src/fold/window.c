/* SPDX-License-Identifier: MIT
 *
 * window.c - see window.h.
 */
#include "fold/window.h"

#include <assert.h>
#include <string.h>

#include "fold/rows_fold.h"
#include "query/value.h"

void window_free(struct window_fold *w)
{
	recent_free(&w->recent);
}

void window_clear(struct window_fold *w)
{
	recent_clear(&w->recent);
	w->mean.is_set = false;
}

enum status window_add(struct window_fold *w, const struct recent_value *value)
{
	uint64_t n = plan_window_nbefore(w->plan);

	if (n == 0)
		return STATUS_OK;
	recent_keep(&w->recent, n - 1);
	return recent_push(&w->recent, value);
}

void window_weigh(struct ewma *mean, const struct plan_window *plan, const struct recent_value *value)
{
	bool is_text = value->kind == RECENT_TEXT;

	if (value->kind != RECENT_NONE)
		ewma_add(mean, &plan->weight, value->number, is_text ? value->text : NULL, value->nbytes);
}

static enum status weigh_next(void *context, const struct recent_value *value)
{
	struct window_fold *w = context;

	window_weigh(&w->mean, w->plan, value);
	return STATUS_OK;
}

/* Takes w's mean to the last of its values, and later's. */
static enum status combine_means(struct window_fold *w, const struct window_fold *later)
{
	recent_each(&w->recent, false, NULL, weigh_next, w);
	recent_clear(&w->recent);
	if (later->mean.is_set) /* w has no record: later is the fold from the first one on */
		w->mean = later->mean;
	return recent_each(&later->recent, false, NULL, weigh_next, w);
}

enum status window_combine(struct window_fold *w, const struct window_fold *later)
{
	uint64_t n = plan_window_nbefore(w->plan);
	enum status status;

	if (w->plan->kind == NEW_EWMA)
		return combine_means(w, later);
	if (later->recent.nvalues >= n)
		recent_clear(&w->recent);
	status = recent_append(&w->recent, &later->recent);
	recent_keep(&w->recent, n);
	return status;
}

/* ---- of a group: values in line ---- */

static_assert(sizeof(struct group_window) % 8 == 0 && sizeof(struct ewma) % 8 == 0 && GROUP_WINDOW_TEXT_NBYTES % 8 == 0,
	      "groups lie at multiples of 8 bytes");

void group_window_plan(struct plan_window *window, uint32_t offset)
{
	uint64_t needed = plan_window_nbefore(window), room = new_column_has(window->kind, NEW_COPIES) ? GROUP_WINDOW_NTEXTS : GROUP_WINDOW_NVALUES;

	window->cell_offset = offset;
	window->cell_nvalues = (uint8_t)(needed < room ? needed : room);
	window->cell_suffices = needed <= room;
}

static size_t value_nbytes(const struct plan_window *window)
{
	return new_column_has(window->kind, NEW_COPIES) ? GROUP_WINDOW_TEXT_NBYTES : sizeof(int64_t);
}

static size_t mean_nbytes(const struct plan_window *window)
{
	return window->kind == NEW_EWMA ? sizeof(struct ewma) : 0;
}

size_t group_window_nbytes(const struct plan_window *window)
{
	return sizeof(struct group_window) + mean_nbytes(window) + window->cell_nvalues * value_nbytes(window);
}

static char *value_at(const struct group_window *w, const struct plan_window *window, unsigned k)
{
	return (char *)(w + 1) + mean_nbytes(window) + k * value_nbytes(window);
}

struct recent_value group_window_value(const struct group_window *w, const struct plan_window *window, unsigned k)
{
	struct recent_value v = {.kind = w->kinds[k] == GROUP_WINDOW_NONE ? RECENT_NONE : RECENT_NUMBER};
	const char *at = value_at(w, window, k);

	if (new_column_has(window->kind, NEW_COPIES))
		return (struct recent_value){.kind = RECENT_TEXT, .text = at, .nbytes = w->kinds[k]};
	v.number.scale = w->kinds[k];
	memcpy(&v.number.significand, at, sizeof v.number.significand);
	return v;
}

bool group_window_fits(const struct group_window *w, const struct plan_window *window, const struct recent_value *value)
{
	bool is_text = new_column_has(window->kind, NEW_COPIES);

	if (w->n == GROUP_WINDOW_ELSEWHERE || (is_text ? value->nbytes > GROUP_WINDOW_TEXT_NBYTES : value->kind == RECENT_TEXT))
		return false;
	return w->n < window->cell_nvalues || window->cell_suffices;
}

/* Adds a value that fits; the oldest leaves if as many as are needed are there. */
static void put(struct group_window *w, const struct plan_window *window, const struct recent_value *value)
{
	unsigned room = window->cell_nvalues;

	if (room == 0)
		return;
	if (w->n == room) {
		memmove(w->kinds, w->kinds + 1, room - 1);
		memmove(value_at(w, window, 0), value_at(w, window, 1), (room - 1) * value_nbytes(window));
		w->n--;
	}
	if (new_column_has(window->kind, NEW_COPIES)) {
		w->kinds[w->n] = (uint8_t)value->nbytes;
		memcpy(value_at(w, window, w->n), value->text, value->nbytes);
	} else {
		w->kinds[w->n] = value->kind == RECENT_NUMBER ? (uint8_t)value->number.scale : GROUP_WINDOW_NONE;
		memcpy(value_at(w, window, w->n), &value->number.significand, sizeof value->number.significand);
	}
	w->n++;
}

/* ---- the weighted mean ---- */

static struct ewma mean_of(const struct group_window *w)
{
	struct ewma mean;

	memcpy(&mean, w + 1, sizeof mean);
	return mean;
}

static void set_mean(struct group_window *w, const struct ewma *mean)
{
	memcpy(w + 1, mean, sizeof *mean);
}

struct ewma group_window_mean(const struct group_window *w, const struct plan_window *window)
{
	struct ewma mean = mean_of(w);

	for (unsigned k = 0; k < w->n; k++) {
		struct recent_value v = group_window_value(w, window, k);
		window_weigh(&mean, window, &v);
	}
	return mean;
}

/* ---- elsewhere ---- */

enum status group_window_copy(const struct group_window *w, struct window_fold *to)
{
	if (w->n == GROUP_WINDOW_ELSEWHERE)
		return STATUS_OK;
	if (to->plan->kind == NEW_EWMA && mean_of(w).is_set)
		to->mean = mean_of(w);
	for (unsigned k = 0; k < w->n; k++) {
		struct recent_value v = group_window_value(w, to->plan, k);
		TRY(window_add(to, &v));
	}
	return STATUS_OK;
}

enum status group_window_move(struct group *g, const struct plan *plan, size_t i)
{
	struct group_window *w = group_window(g, &plan->windows[i]);

	TRY(group_need_rest(g, plan));
	TRY(group_window_copy(w, &g->rest->windows[i]));
	w->n = GROUP_WINDOW_ELSEWHERE;
	return STATUS_OK;
}

enum status group_window_add(struct group *g, const struct plan *plan, size_t i, const struct recent_value *value)
{
	const struct plan_window *window = &plan->windows[i];
	struct group_window *w = group_window(g, window);

	if (value->kind == RECENT_NUMBER && value->number.scale > w->scale)
		w->scale = (uint8_t)value->number.scale;
	if (group_window_fits(w, window, value)) {
		put(w, window, value);
		return STATUS_OK;
	}
	TRY(group_window_move(g, plan, i));
	return window_add(&g->rest->windows[i], value);
}

enum status group_window_go_on(struct group *g, const struct plan *plan, size_t i, const struct recent_value *value)
{
	const struct plan_window *window = &plan->windows[i];
	struct group_window *w = group_window(g, window);
	struct ewma mean;

	if (window->kind != NEW_EWMA || w->n == GROUP_WINDOW_ELSEWHERE)
		return group_window_add(g, plan, i, value);
	mean = group_window_mean(w, window);
	window_weigh(&mean, window, value);
	set_mean(w, &mean);
	w->n = 0;
	return STATUS_OK;
}

/* ---- several ---- */

struct adding {
	struct group *g;
	const struct plan *plan;
	size_t i;
};

static enum status add_next(void *context, const struct recent_value *value)
{
	const struct adding *a = context;

	return group_window_go_on(a->g, a->plan, a->i, value);
}

enum status group_window_add_fold(struct group *g, const struct plan *plan, size_t i, const struct window_fold *later)
{
	struct group_window *w = group_window(g, &plan->windows[i]);
	struct adding a = {g, plan, i};

	if (later->mean.is_set) { /* it is the fold from the first record on */
		if (w->n == GROUP_WINDOW_ELSEWHERE)
			return window_combine(&g->rest->windows[i], later);
		w->n = 0;
		set_mean(w, &later->mean);
	}
	return recent_each(&later->recent, false, NULL, add_next, &a);
}

enum status group_windows_combine(struct group *g, struct group *later, const struct plan *plan)
{
	for (size_t i = 0; i < plan->nwindows; i++) {
		const struct plan_window *window = &plan->windows[i];
		struct group_window *w = group_window(g, window), *x = group_window(later, window);
		w->scale = x->scale > w->scale ? x->scale : w->scale;
		if (x->n == GROUP_WINDOW_ELSEWHERE) {
			TRY(group_window_move(g, plan, i));
			continue;
		}
		if (window->kind == NEW_EWMA && mean_of(x).is_set) {
			memcpy(w + 1, x + 1, sizeof(struct ewma));
			w->n = 0;
		}
		for (unsigned k = 0; k < x->n; k++) {
			struct recent_value v = group_window_value(x, window, k);
			TRY(group_window_go_on(g, plan, i, &v));
		}
	}
	return STATUS_OK;
}

/* ---- of rows ---- */

/* Whether a value is a number within the range. */
static bool is_number(const struct value *v)
{
	return v->kind == DECIMAL_NUMBER || (v->kind == DECIMAL_WIDE && exact_is_number(v->text, v->nbytes));
}

enum status row_number_value(const struct row_block *b, size_t c, const struct simd_numbers *x, unsigned row,
			     struct scratch *scratch, struct recent_value *out)
{
	struct value v;
	enum status status;

	*out = (struct recent_value){.kind = RECENT_NUMBER, .number = {x->significand[row], x->scale[row]}};
	if (x->numbers >> row & 1)
		return STATUS_OK;
	out->kind = RECENT_NONE;
	if (x->empty >> row & 1)
		return STATUS_OK;
	status = row_block_read(b, c, row, true, scratch, &v);
	if (status != STATUS_OK || !is_number(&v))
		return status;
	*out = (struct recent_value){.kind = RECENT_TEXT, .text = v.text, .nbytes = v.nbytes};
	if (v.kind == DECIMAL_NUMBER)
		*out = (struct recent_value){.kind = RECENT_NUMBER, .number = v.number};
	return STATUS_OK;
}

/* Whether a field is missing. */
static enum status is_missing(const struct row_block *b, size_t c, unsigned row, struct scratch *scratch,
			      bool *is)
{
	const char *text;
	size_t nbytes;
	enum row_value kind = row_block_value(b, c, row, &text, &nbytes);
	struct value v;
	enum status status = STATUS_OK;

	*is = kind == ROW_MISSING;
	if (kind != ROW_QUOTED)
		return STATUS_OK;
	status = row_block_read(b, c, row, false, scratch, &v);
	*is = status == STATUS_OK && v.kind == DECIMAL_MISSING;
	return status;
}

/* Whether a field may be printed: the value of a computed column that is to be a number and is neither one nor
 * missing was left out. */
static enum status is_printed(struct row_block *b, size_t c, unsigned row, struct scratch *scratch, bool *is)
{
	struct recent_value v;
	enum status status;

	*is = !b->plan->columns[c].let || program_block_why(b, c, row) == STATUS_OK;
	if (!*is || !b->plan->columns[c].let || !b->plan->columns[c].parses)
		return STATUS_OK;
	status = row_number_value(b, c, row_block_numbers(b, c), row, scratch, &v);
	*is = v.kind != RECENT_NONE;
	return *is || status != STATUS_OK ? status : is_missing(b, c, row, scratch, is);
}

enum status row_text_value(struct row_block *b, size_t c, unsigned row, bool skips_missing,
			   struct scratch *scratch, struct recent_value *out)
{
	struct field_span span = row_block_field(b, c, row);
	bool printed, missing = false;
	enum status status = is_printed(b, c, row, scratch, &printed);

	*out = (struct recent_value){.kind = RECENT_TEXT, .text = b->text + span.begin,
				     .nbytes = printed ? span.end - span.begin : 0};
	if (csv_dialect_trims(&b->plan->dialect))
		out->text = field_trim(&b->plan->dialect, out->text, &out->nbytes);
	if (status == STATUS_OK && skips_missing && printed)
		status = is_missing(b, c, row, scratch, &missing);
	if (skips_missing && (missing || !printed))
		out->kind = RECENT_NONE;
	return status;
}

/* Adds a row's value to the plan's window i, its group's or that of all records. x: the column's numbers. *adds: set to false if it is
 * missing, and does not count. */
static enum status add_row(struct row_folder *f, size_t i, const struct simd_numbers *x, unsigned row, struct partial *out, bool *adds)
{
	const struct plan_window *window = &f->plan->windows[i];
	struct group *group = f->plan->nkeys > 0 ? f->groups.groups[row] : NULL;
	struct recent_value v;
	size_t c = window->column;
	enum status status = x ? row_number_value(&f->block, c, x, row, &f->scratch, &v)
			       : row_text_value(&f->block, c, row, window->kind == NEW_FILL_DOWN, &f->scratch, &v);

	*adds = v.kind != RECENT_NONE || !new_column_has(window->kind, NEW_SKIPS_MISSING);
	if (status != STATUS_OK || !*adds)
		return status;
	return group ? group_window_add(group, f->plan, i, &v) : window_add(&out->windows[i], &v);
}

static unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
}

static unsigned highest(uint64_t rows)
{
	return 63 - (unsigned)__builtin_clzll(rows);
}

/* The last n of the rows. */
static uint64_t last_rows(uint64_t rows, uint64_t n)
{
	for (unsigned surplus = (unsigned)__builtin_popcountll(rows); surplus > n; surplus--)
		rows &= rows - 1;
	return rows;
}

/* Whether nothing but the last value counts that is not missing. */
static bool is_of_last_value(const struct plan_window *window)
{
	return new_column_has(window->kind, NEW_SKIPS_MISSING) && plan_window_nbefore(window) == 1;
}

/* Adds rows to window i. *adds: whether a value of them counts. */
static enum status fold_window(struct row_folder *f, size_t i, uint64_t rows, struct partial *out, bool *adds)
{
	const struct plan_window *window = &f->plan->windows[i];
	const struct simd_numbers *x =
		new_column_has(window->kind, NEW_COPIES) ? NULL : row_block_numbers(&f->block, window->column);
	bool by_group = f->plan->nkeys > 0;
	enum status status = STATUS_OK;

	*adds = false;
	if (!by_group && is_of_last_value(window)) {
		for (; rows && status == STATUS_OK && !*adds; rows -= UINT64_C(1) << highest(rows))
			status = add_row(f, i, x, highest(rows), out, adds);
		return status;
	}
	if (!by_group)
		rows = last_rows(rows, plan_window_nbefore(window));
	for (; rows && status == STATUS_OK; rows &= rows - 1)
		status = add_row(f, i, x, lowest(rows), out, adds);
	return status;
}

enum status row_windows_fold(struct row_folder *f, uint64_t rows, struct partial *out)
{
	bool ignored;

	for (size_t i = 0; i < f->plan->nwindows; i++)
		TRY(fold_window(f, i, rows, out, &ignored));
	return STATUS_OK;
}

/* Adds a run's rows to window i: as many of the last ones as it needs, or, from the last block back, those up to a value. */
static enum status fold_window_run(struct row_folder *f, size_t i, const char *text, const struct row_run *run, struct partial *out)
{
	const uint64_t nbefore = plan_window_nbefore(&f->plan->windows[i]);
	const bool is_of_last = is_of_last_value(&f->plan->windows[i]);
	const size_t n = nbefore < run->nrows ? (size_t)nbefore : run->nrows;
	enum status status = STATUS_OK;
	bool adds = false;

	for (size_t row = run->nrows; row > 0 && is_of_last && !adds && status == STATUS_OK;) {
		row -= row < ROW_BLOCK_NROWS ? row : ROW_BLOCK_NROWS;
		row_block_set(&f->block, text, run, row);
		status = fold_window(f, i, row_block_all(&f->block), out, &adds);
	}
	for (size_t row = run->nrows - n; row < run->nrows && !is_of_last && status == STATUS_OK;) {
		row += row_block_set(&f->block, text, run, row);
		status = fold_window(f, i, row_block_all(&f->block), out, &adds);
	}
	return status;
}

enum status row_windows_fold_run(struct row_folder *f, const char *text, const struct row_run *run,
				 struct partial *out)
{
	for (size_t i = 0; i < f->plan->nwindows; i++)
		TRY(fold_window_run(f, i, text, run, out));
	return STATUS_OK;
}
