/* SPDX-License-Identifier: MIT
 *
 * running_window.c - see running_window.h. A sum takes the new value in and the oldest out, exactly, so it
 * is added up only at a text's begin.
 */
#include "emit/running_window.h"

#include <stdlib.h>
#include <string.h>

#include "number/big_decimal.h"
#include "number/decimal_text.h"

/* ---- extremes ---- */

struct extreme {
	uint64_t at; /* which of all values added, counted from 0 */
	struct recent_value value; /* a number; its text is owned, NULL without one */
};

static struct extreme *at(const struct window_extremes *e, size_t i)
{
	return &e->queue[(e->first + i) & (e->capacity - 1)];
}

static void drop_last(struct window_extremes *e)
{
	free((char *)at(e, --e->n)->value.text);
}

static void extremes_clear(struct window_extremes *e)
{
	while (e->n > 0)
		drop_last(e);
	e->first = 0;
	e->nvalues = 0;
}

static void extremes_free(struct window_extremes *e)
{
	extremes_clear(e);
	free(e->queue);
	memset(e, 0, sizeof *e);
}

/* Makes room for a number more. */
static enum status need_extreme(struct window_extremes *e)
{
	size_t capacity = e->capacity ? 2 * e->capacity : 8;
	struct extreme *grown;

	if (e->n < e->capacity)
		return STATUS_OK;
	grown = malloc(capacity * sizeof *grown);
	if (!grown)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < e->n; i++)
		grown[i] = *at(e, i);
	free(e->queue);
	e->queue = grown;
	e->capacity = capacity;
	e->first = 0;
	return STATUS_OK;
}

/* Copies a value, and its text. */
static enum status copy_value(struct recent_value *x, const struct recent_value *value)
{
	char *text = NULL;

	if (value->kind == RECENT_TEXT) {
		if (!(text = malloc(value->nbytes + 1)))
			return STATUS_NO_MEMORY;
		memcpy(text, value->text, value->nbytes);
	}
	*x = *value;
	x->text = text;
	return STATUS_OK;
}

static enum status extremes_add(struct window_extremes *e, bool wants_max, const struct recent_value *value)
{
	struct extreme x = {.at = e->nvalues++};

	if (value->kind == RECENT_NONE)
		return STATUS_OK;
	TRY(need_extreme(e));
	TRY(copy_value(&x.value, value));
	while (e->n > 0) {
		int order = recent_compare(&at(e, e->n - 1)->value, &x.value);
		if (wants_max ? order > 0 : order < 0)
			break;
		drop_last(e);
	}
	*at(e, e->n++) = x;
	return STATUS_OK;
}

/* Values that are added from the latest back to the oldest. */
struct extremes_beginning {
	struct window_extremes *e;
	bool wants_max;
	uint64_t nleft; /* of the values */
};

/* Whether a number that came before the first of the queue is an extreme, too: it is beyond that one. */
static bool is_beyond(const struct extremes_beginning *b, const struct recent_value *x)
{
	int order = b->e->n ? recent_compare(x, &at(b->e, 0)->value) : 0;

	return b->e->n == 0 || (b->wants_max ? order > 0 : order < 0);
}

static bool skip_extremes(void *context, const struct recent_sum *some)
{
	struct extremes_beginning *b = context;
	struct recent_value x = {RECENT_NUMBER, .number = {b->wants_max ? some->greatest : some->least, some->scale}};

	if (some->count > 0 && is_beyond(b, &x))
		return false;
	b->nleft -= some->nvalues;
	return true;
}

static enum status add_before(void *context, const struct recent_value *value)
{
	struct extremes_beginning *b = context;
	struct window_extremes *e = b->e;
	struct extreme x = {.at = --b->nleft};

	if (value->kind == RECENT_NONE || !is_beyond(b, value))
		return STATUS_OK;
	TRY(need_extreme(e));
	TRY(copy_value(&x.value, value));
	e->first = (e->first - 1) & (e->capacity - 1);
	e->n++;
	*at(e, 0) = x;
	return STATUS_OK;
}

static enum status extremes_begin(struct window_extremes *e, bool wants_max, const struct recent *r)
{
	struct extremes_beginning b = {e, wants_max, r->nvalues};

	extremes_clear(e);
	e->nvalues = r->nvalues;
	return recent_each(r, true, skip_extremes, add_before, &b);
}

static void extremes_keep(struct window_extremes *e, uint64_t n)
{
	while (e->n > 0 && e->nvalues - at(e, 0)->at > n) {
		free((char *)at(e, 0)->value.text);
		e->first = (e->first + 1) & (e->capacity - 1);
		e->n--;
	}
}


void running_window_free(void *window)
{
	struct running_window *r = window;

	recent_free(&r->recent);
	extremes_free(&r->extremes);
	exact_free(&r->sum);
	memset(r, 0, sizeof *r);
}

/* ---- the numbers of a window ---- */

static bool is_extreme(const struct plan_window *window)
{
	return window->kind == NEW_ROLLING_MIN || window->kind == NEW_ROLLING_MAX;
}

static bool is_change(const struct plan_window *window)
{
	return window->kind == NEW_DELTA || window->kind == NEW_RATIO;
}

/* Notes that a number of a scale enters or leaves the window. */
static void note_scale(struct running_window *r, int scale, bool leaves)
{
	if (!wide_scale_is_rounded(scale))
		return;
	if (scale > r->coarsest) {
		r->coarsest = scale;
		r->ncoarsest = 0;
	}
	if (scale == r->coarsest)
		r->ncoarsest += leaves ? (uint64_t)-1 : 1;
}

/* Adds or subtracts a number's text. */
static enum status add_long(struct running_window *r, const struct recent_value *v, bool negative)
{
	struct integer room;
	struct exact x;

	note_scale(r, recent_number(v, &room, &x), negative);
	if (negative)
		exact_negate(&x);
	return exact_add(&r->sum, &x);
}

/* Adds or subtracts a value whose scale is not above r's. */
static inline enum status add(struct running_window *r, const struct recent_value *v, bool negative)
{
	struct decimal number = v->number;

	if (v->kind == RECENT_NONE)
		return STATUS_OK;
	r->count += negative ? (uint64_t)-1 : 1;
	number.significand = negative ? -number.significand : number.significand;
	return v->kind == RECENT_NUMBER ? exact_add_decimal(&r->sum, number) : add_long(r, v, negative);
}

/* The scale of a number. */
static int scale_of(const struct recent_value *v)
{
	struct integer room;
	struct exact x;

	return recent_number(v, &room, &x);
}

/* Adds a value of the window to what its values add up to. */
static enum status take_in(void *context, const struct recent_value *v)
{
	struct running_window *r = context;
	int scale = scale_of(v);

	r->scale = scale > r->scale ? scale : r->scale;
	if (is_extreme(r->plan))
		return extremes_add(&r->extremes, r->plan->kind == NEW_ROLLING_MAX, v);
	return add(r, v, false);
}

/* Adds some values of the window at once. */
static bool take_in_piece(void *context, const struct recent_sum *some)
{
	struct running_window *r = context;

	if (exact_add_scaled(&r->sum, some->sum, some->scale) != STATUS_OK)
		return false;
	r->count += some->count;
	return true;
}

static enum status begin(struct running_window *r, const struct window_fold *before, int scale)
{
	struct window_fold mean = {.plan = before->plan};

	r->plan = before->plan;
	r->count = r->ncoarsest = 0;
	r->coarsest = 0;
	r->last.kind = RECENT_NONE;
	exact_free(&r->sum);
	r->scale = scale;
	recent_clear(&r->recent);
	r->recent.is_last = true;
	if (r->plan->kind == NEW_EWMA) {
		TRY(window_combine(&mean, before));
		r->mean = mean.mean;
		return STATUS_OK;
	}
	if (is_extreme(r->plan))
		return extremes_begin(&r->extremes, r->plan->kind == NEW_ROLLING_MAX, &before->recent);
	TRY(recent_append(&r->recent, &before->recent));
	if (is_change(r->plan) && r->recent.nvalues)
		r->last = recent_oldest(&r->recent);
	if (is_change(r->plan) || new_column_has(r->plan->kind, NEW_COPIES))
		return STATUS_OK;
	return recent_each(&before->recent, false, take_in_piece, take_in, r);
}

enum status running_window_begin(struct running_window *r, const struct window_fold *before, const struct column_partial *numbers)
{
	return begin(r, before, numbers->numbers.scale);
}

/* Moves the window on by a record. */
static enum status slide(struct running_window *r, const struct recent_value *v)
{
	if (is_extreme(r->plan)) {
		extremes_keep(&r->extremes, r->plan->nrows - 1);
		return take_in(r, v);
	}
	if (r->recent.nvalues == r->plan->nrows) {
		struct recent_value oldest = recent_oldest(&r->recent);
		TRY(add(r, &oldest, true));
		recent_keep(&r->recent, r->plan->nrows - 1);
	}
	TRY(take_in(r, v));
	return recent_push(&r->recent, v);
}

/* ---- the text ---- */

/* Writes a number with a scale that is not below its own; nothing if x is NULL. */
static char *write_extreme(const struct recent_value *x, int scale, char *to)
{
	struct integer room;
	struct exact number;

	if (!x)
		return to;
	recent_number(x, &room, &number);
	return exact_write(&number, scale, to);
}

static bool skip_piece(void *context, const struct recent_sum *some)
{
	(void)context;
	(void)some;
	return true; /* none of its numbers was rounded */
}

static enum status note_value(void *context, const struct recent_value *v)
{
	note_scale(context, scale_of(v), false);
	return STATUS_OK;
}

/* The largest scale of the window's numbers that were rounded; without any, where one was before, the least. */
static int window_scale(struct running_window *r)
{
	if (r->coarsest && r->ncoarsest == 0) {
		r->coarsest = 0;
		recent_each(&r->recent, false, skip_piece, note_value, r);
	}
	if (r->coarsest)
		return r->coarsest;
	return wide_scale_is_rounded(r->scale) ? WIDE_SCALE_MAX + 1 : r->scale;
}

static char *write_sum_or_mean(struct running_window *r, char *to)
{
	int scale = window_scale(r);

	return r->plan->kind == NEW_ROLLING_MEAN ? exact_write_mean(&r->sum, scale, r->count, to)
						 : exact_write_sum(&r->sum, scale, r->count, to);
}

/* ---- changes ---- */

static void set_big(struct big_decimal *x, const struct recent_value *v)
{
	if (v->kind == RECENT_TEXT)
		big_decimal_parse(v->text, v->nbytes, x); /* it is a number */
	else
		big_decimal_set(x, v->number);
}

/* now / last: of rounded ones the digits that are right, as --let has them; one beyond the range is not rounded so. */
static char *write_ratio(const struct big_decimal *now, const struct big_decimal *last, char *to)
{
	struct big_decimal ratio;

	if (integer_is_zero(&last->n))
		return to;
	if ((now->is_rounded || last->is_rounded) && big_decimal_quotient(&ratio, now, last))
		return to + big_decimal_format(&ratio, to);
	return to + big_decimal_divide(now, last, to);
}

/* Writes how v differs from the value before; nothing where one of the two is missing, or for a ratio to 0. */
static char *write_change(enum new_column_kind kind, const struct recent_value *last, const struct recent_value *v, char *to)
{
	struct big_decimal now, before;

	if (v->kind == RECENT_NONE || last->kind == RECENT_NONE)
		return to;
	if (kind == NEW_DELTA && v->kind == RECENT_NUMBER && last->kind == RECENT_NUMBER && v->number.scale == last->number.scale)
		return decimal_write(to, (int128)v->number.significand - last->number.significand, v->number.scale);
	set_big(&now, v);
	set_big(&before, last);
	if (kind == NEW_RATIO)
		return write_ratio(&now, &before, to);
	before.n.negative = !before.n.negative;
	big_decimal_add(&now, &before);
	return to + big_decimal_format(&now, to);
}

static char *write_running_change(struct running_window *r, const struct recent_value *v, char *to)
{
	to = write_change(r->plan->kind, &r->last, v, to);
	if (v->kind != RECENT_NONE)
		r->last = *v;
	if (v->kind != RECENT_TEXT)
		return to;
	recent_keep(&r->recent, 0);
	if (recent_push(&r->recent, v) != STATUS_OK)
		return NULL;
	r->last = recent_oldest(&r->recent);
	return to;
}

/* ---- a record ---- */

char *running_window_write(struct running_window *r, const struct recent_value *v, char *to)
{
	if (is_change(r->plan))
		return write_running_change(r, v, to);
	if (r->plan->kind == NEW_EWMA) {
		window_weigh(&r->mean, r->plan, v);
		return ewma_write(&r->mean, to);
	}
	if (slide(r, v) != STATUS_OK)
		return NULL;
	if (is_extreme(r->plan))
		return write_extreme(r->extremes.n ? &at(&r->extremes, 0)->value : NULL, r->scale, to);
	return write_sum_or_mean(r, to);
}

/* ---- fields ---- */

enum status running_window_field(struct running_window *r, const struct recent_value *value,
				 struct recent_value *out)
{
	static const struct recent_value none = {.kind = RECENT_TEXT, .text = ""};

	if (r->plan->kind == NEW_LAG) {
		recent_keep(&r->recent, r->plan->nrows); /* without what was shown last */
		TRY(recent_push(&r->recent, value));
		*out = r->recent.nvalues > r->plan->nrows ? recent_oldest(&r->recent) : none;
		return STATUS_OK;
	}
	if (value->kind == RECENT_TEXT) {
		*out = *value;
		recent_keep(&r->recent, 0);
		return recent_push(&r->recent, value);
	}
	*out = r->recent.nvalues ? recent_oldest(&r->recent) : none;
	return STATUS_OK;
}

/* ---- in a group ---- */

/* The largest scale of the numbers so far of window i's column in the group. */
static int group_scale(struct group *group, const struct plan *plan, size_t i)
{
	const struct plan_column *column = &plan->columns[plan->windows[i].column];
	int scale = group_window(group, &plan->windows[i])->scale;
	int in_cell = plan_column_has_cell(column) ? (int)group_cell_scale(group_cell(group, column)) : 0;
	int in_rest = group->rest ? group->rest->columns[plan->windows[i].column].numbers.scale : 0;

	scale = in_cell > scale ? in_cell : scale;
	return in_rest > scale ? in_rest : scale;
}

enum status running_window_begin_group(struct running_window *r, const struct plan *plan, size_t i, struct group *group)
{
	TRY(group_window_move(group, plan, i));
	return begin(r, &group->rest->windows[i], group_scale(group, plan, i));
}

/* Writes the smallest or the largest of the window's numbers and the next one. */
static char *write_group_extreme(const struct group_window *w, bool is_max, const struct recent_value *value, int scale, char *to)
{
	struct recent_value found = *value;

	for (unsigned k = 0; k < w->n; k++) {
		const struct recent_value v = {.kind = RECENT_NUMBER, .number = {group_window_numbers(w)[k], w->kinds[k]}};
		int order;
		if (w->kinds[k] == GROUP_WINDOW_NONE)
			continue;
		order = found.kind == RECENT_NONE ? 1 : is_max ? recent_compare(&v, &found) : recent_compare(&found, &v);
		if (order > 0)
			found = v;
	}
	return write_extreme(found.kind == RECENT_NONE ? NULL : &found, scale, to);
}

/* Writes the sum or the mean of the window's numbers and the next one. */
static char *write_group_sum(const struct group_window *w, bool is_mean, const struct recent_value *value, int scale, char *to)
{
	struct exact sum = {.scale = 0};
	uint64_t count = value->kind == RECENT_NUMBER;
	enum status status = count ? exact_add_decimal(&sum, value->number) : STATUS_OK;
	int128 at_scale = 0; /* most numbers have it; so few of them are far below its limits */

	for (unsigned k = 0; k < w->n && status == STATUS_OK; k++) {
		count += w->kinds[k] != GROUP_WINDOW_NONE;
		if (w->kinds[k] == scale)
			at_scale += group_window_numbers(w)[k];
		else if (w->kinds[k] != GROUP_WINDOW_NONE)
			status = exact_add_decimal(&sum, (struct decimal){group_window_numbers(w)[k], w->kinds[k]});
	}
	if (status == STATUS_OK && at_scale)
		status = exact_add_scaled(&sum, at_scale, scale);
	if (status == STATUS_OK)
		to = is_mean ? exact_write_mean(&sum, scale, count, to) : exact_write_sum(&sum, scale, count, to);
	exact_free(&sum);
	return status == STATUS_OK ? to : NULL;
}

char *group_running_write(struct group *group, const struct plan *plan, size_t i, const struct recent_value *value, char *to)
{
	const struct plan_window *window = &plan->windows[i];
	const struct group_window *w = group_window(group, window);
	int scale = group_scale(group, plan, i);

	if (window->kind == NEW_EWMA) {
		struct ewma mean;
		if (value->kind != RECENT_NONE && group_window_go_on(group, plan, i, value) != STATUS_OK)
			return NULL;
		mean = group_window_mean(w, window);
		return ewma_write(&mean, to);
	}
	if (is_change(window)) {
		const struct recent_value last = w->n ? group_window_value(w, window, 0) : (struct recent_value){.kind = RECENT_NONE};
		to = write_change(window->kind, &last, value, to);
		return value->kind == RECENT_NONE || group_window_add(group, plan, i, value) == STATUS_OK ? to : NULL;
	}
	if (value->kind == RECENT_NUMBER && value->number.scale > scale)
		scale = value->number.scale;
	to = window->kind == NEW_ROLLING_SUM || window->kind == NEW_ROLLING_MEAN
		     ? write_group_sum(w, window->kind == NEW_ROLLING_MEAN, value, scale, to)
		     : write_group_extreme(w, window->kind == NEW_ROLLING_MAX, value, scale, to);
	return to && group_window_add(group, plan, i, value) == STATUS_OK ? to : NULL;
}

enum status group_running_field(struct group *group, const struct plan *plan, size_t i, const struct recent_value *value,
				char shown[GROUP_WINDOW_TEXT_NBYTES], struct recent_value *out)
{
	const struct plan_window *window = &plan->windows[i];
	const struct group_window *w = group_window(group, window);
	bool is_lag = window->kind == NEW_LAG;

	*out = (struct recent_value){.kind = RECENT_TEXT, .text = ""};
	if (!is_lag && value->kind == RECENT_TEXT) {
		*out = *value;
	} else if (is_lag ? w->n == window->nrows : w->n > 0) {
		*out = group_window_value(w, window, 0);
		out->text = memcpy(shown, out->text, out->nbytes);
	}
	return value->kind == RECENT_TEXT ? group_window_add(group, plan, i, value) : STATUS_OK;
}
