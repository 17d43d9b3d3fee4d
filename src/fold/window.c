/* SPDX-License-Identifier: MIT
 *
 * window.c - see window.h. The sums of a window take the new value in and the oldest out, exactly, so they are added up only at a
 * text's begin. What cannot be taken out, a smallest number or a middle one, is found among values that are kept in order.
 */
#include "fold/window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "fold/moment.h"
#include "fold/quantile.h"
#include "fold/rows_fold.h"
#include "fold/statistic.h"
#include "number/decimal_text.h"
#include "query/value.h"

/* ---- all numbers so far ---- */

void running_free(struct running *r, bool has_squares)
{
	numbers_free(&r->numbers);
	if (has_squares)
		exact_free(&r->squares);
}

enum status running_begin(struct running *r, bool has_squares, const struct group_sums *before)
{
	running_free(r, has_squares);
	if (before->numbers.count > 0)
		TRY(numbers_add_sums(&r->numbers, &before->numbers));
	return has_squares ? exact_add(&r->squares, &before->powers[0]) : STATUS_OK;
}

/* Adds the square of x, or subtracts it. */
static enum status add_square(struct exact *squares, const struct exact *x, bool subtracts)
{
	struct exact once = *x, square;
	struct integer room;

	once.is_rounded = false; /* the square is not rounded in its turn */
	square = exact_product(&once, &once, &room);
	if (subtracts)
		exact_negate(&square);
	return exact_add(squares, &square);
}

enum status running_add_long(struct running *r, bool has_squares, const struct recent_value *value)
{
	struct number_sums one = {.count = 1};
	struct integer room;

	if (value->kind == RECENT_NONE)
		return STATUS_OK;
	recent_number(value, &room, &one.sum);
	one.scale = exact_kept_scale(&one.sum);
	one.min = one.max = one.sum;
	TRY(numbers_add_sums(&r->numbers, &one));
	return has_squares ? add_square(&r->squares, &one.sum, false) : STATUS_OK;
}

char *running_write_long(const struct running *r, enum operation aggregate, int scale, char *to)
{
	struct column_moments m; /* large: not zeroed */

	m.npresent = r->numbers.count;
	m.squares = &r->squares;
	numbers_get(&r->numbers, &m.numbers);
	m.numbers.scale = scale > m.numbers.scale ? scale : m.numbers.scale;
	return statistic_format(aggregate, &m, to);
}

/* ---- values that are kept ---- */

struct held {
	uint64_t at; /* which of all values added, counted from 0 */
	struct recent_value value; /* its text is owned, NULL without one */
	size_t place; /* in the heap of its half (struct half) */
	bool in_upper;
};

/* From the first added on. */
struct held_queue {
	struct held *ring; /* of `capacity`, a power of 2; owned */
	size_t first, n, capacity;
	uint64_t nvalues; /* added so far, the missing ones too */
};

static struct held *held_at(const struct held_queue *q, size_t i)
{
	return &q->ring[(q->first + i) & (q->capacity - 1)];
}

static inline void drop(struct held *x)
{
	if (x->value.kind == RECENT_TEXT)
		free((char *)x->value.text);
}

static inline void drop_last(struct held_queue *q)
{
	drop(held_at(q, --q->n));
}

static inline void drop_first(struct held_queue *q)
{
	drop(held_at(q, 0));
	q->first = (q->first + 1) & (q->capacity - 1);
	q->n--;
}

static void held_clear(struct held_queue *q)
{
	while (q->n > 0)
		drop_last(q);
	q->first = 0;
	q->nvalues = 0;
}

static __attribute__((noinline)) enum status grow_held(struct held_queue *q)
{
	size_t capacity = q->capacity ? 2 * q->capacity : 8;
	struct held *grown = malloc(capacity * sizeof *grown);

	NEED(grown);
	for (size_t i = 0; i < q->n; i++)
		grown[i] = *held_at(q, i);
	free(q->ring);
	q->ring = grown;
	q->capacity = capacity;
	q->first = 0;
	return STATUS_OK;
}

/* Makes room for a value more. */
static inline enum status need_held(struct held_queue *q)
{
	return q->n < q->capacity ? STATUS_OK : grow_held(q);
}

/* Makes *x value number `at`, and copies its text. */
static inline enum status hold(struct held *x, uint64_t at, const struct recent_value *value)
{
	char *text = NULL;

	if (value->kind == RECENT_TEXT) {
		NEED(text = malloc(value->nbytes + 1));
		memcpy(text, value->text, value->nbytes);
	}
	*x = (struct held){.at = at, .value = *value};
	x->value.text = text;
	return STATUS_OK;
}

/* ---- the smallest or the largest number of a window ----
 *
 * Only numbers that no later one makes useless are kept: for the minimum, a number is dropped as soon as a later one is not greater.
 * What is left ascends, its first is the minimum, and each number is added and dropped once, so a step costs the same for any window.
 * Source: the monotonic queue (D. Lemire, "Streaming maximum-minimum filter using no more than three comparisons per element", 2006).
 */

static inline enum status extremes_add(struct held_queue *q, bool wants_max,
				       const struct recent_value *value)
{
	if (value->kind == RECENT_NONE) {
		q->nvalues++;
		return STATUS_OK;
	}
	TRY(need_held(q));
	while (q->n > 0) {
		int order = recent_compare(&held_at(q, q->n - 1)->value, value);
		if (wants_max ? order > 0 : order < 0)
			break;
		drop_last(q);
	}
	return hold(held_at(q, q->n++), q->nvalues++, value);
}

/* Values that are added from the latest back to the oldest. */
struct extremes_beginning {
	struct held_queue *q;
	bool wants_max;
	uint64_t nleft; /* of the values */
};

/* Whether a number that came before the first of the queue is an extreme, too: it is beyond that one. */
static bool is_beyond(const struct extremes_beginning *b, const struct recent_value *x)
{
	int order = b->q->n ? recent_compare(x, &held_at(b->q, 0)->value) : 0;

	return b->q->n == 0 || (b->wants_max ? order > 0 : order < 0);
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
	struct held_queue *q = b->q;
	struct held x;
	uint64_t at = --b->nleft;

	if (value->kind == RECENT_NONE || !is_beyond(b, value))
		return STATUS_OK;
	TRY(need_held(q));
	TRY(hold(&x, at, value));
	q->first = (q->first - 1) & (q->capacity - 1);
	q->n++;
	*held_at(q, 0) = x;
	return STATUS_OK;
}

static enum status extremes_begin(struct held_queue *q, bool wants_max, const struct recent *r)
{
	struct extremes_beginning b = {q, wants_max, r->nvalues};

	q->nvalues = r->nvalues;
	return recent_each(r, true, skip_extremes, add_before, &b);
}

/* ---- the middle of a window ----
 *
 * All its values are held, and its numbers are in two heaps: the lower half under its largest number, the upper half, which has as many
 * or one less, under its smallest. A number that comes or leaves takes as many steps as the halves have levels.
 */

struct half {
	struct held_queue *held;
	uint64_t *at; /* a heap of numbers of held values; owned */
	size_t n, capacity;
	bool is_upper;
};

/* The value of that number. */
static struct held *held_of(const struct held_queue *q, uint64_t at)
{
	return held_at(q, at - held_at(q, 0)->at);
}

static bool half_is_above(const void *half, size_t i, size_t j)
{
	const struct half *h = half;
	int order = recent_compare(&held_of(h->held, h->at[i])->value, &held_of(h->held, h->at[j])->value);

	return h->is_upper ? order < 0 : order > 0;
}

static void half_swap(void *half, size_t i, size_t j)
{
	struct half *h = half;
	uint64_t at = h->at[i];

	h->at[i] = h->at[j];
	h->at[j] = at;
	held_of(h->held, h->at[i])->place = i;
	held_of(h->held, h->at[j])->place = j;
}

static enum status half_put(struct half *h, uint64_t at)
{
	struct held *x = held_of(h->held, at);

	TRY(ARRAY_GROW(h->at, h->capacity, h->n + 1));
	h->at[h->n] = at;
	x->place = h->n;
	x->in_upper = h->is_upper;
	heap_rise(h, h->n++, half_is_above, half_swap);
	return STATUS_OK;
}

static void half_take(struct half *h, size_t place)
{
	half_swap(h, place, --h->n);
	if (place == h->n)
		return;
	heap_sink(h, h->n, place, half_is_above, half_swap);
	heap_rise(h, place, half_is_above, half_swap);
}

/* Adds a value to the lower half, halves[0], or the upper one, and drops the nleaving oldest ones. */
static enum status halves_add(struct half halves[2], uint64_t nleaving,
			      const struct recent_value *value)
{
	struct held_queue *q = halves->held;
	uint64_t at = q->nvalues++;

	for (; nleaving > 0; nleaving--) {
		const struct held *oldest = held_at(q, 0);
		if (oldest->value.kind != RECENT_NONE)
			half_take(&halves[oldest->in_upper], oldest->place);
		drop_first(q);
	}
	TRY(need_held(q));
	TRY(hold(held_at(q, q->n), at, value));
	q->n++;
	if (value->kind != RECENT_NONE)
		TRY(half_put(&halves[halves[0].n == 0 || recent_compare(value, &held_of(q, halves[0].at[0])->value) > 0], at));
	while (halves[1].n > halves[0].n || halves[0].n > halves[1].n + 1) {
		bool in_upper = halves[1].n > halves[0].n;
		at = halves[in_upper].at[0];
		half_take(&halves[in_upper], 0);
		TRY(half_put(&halves[!in_upper], at));
	}
	return STATUS_OK;
}

/* Whether a number fits at a scale that is not below its own. */
static bool fits_scale(const struct recent_value *v, int scale, int64_t *out)
{
	int128 x = v->number.significand;

	if (v->kind != RECENT_NUMBER || exact_scale_is_rounded(scale) || !decimal_rescale(&x, scale - v->number.scale))
		return false;
	*out = (int64_t)x;
	return *out == x;
}

/* Writes the median of numbers of which these n are in the middle, 1 or 2; nothing of none. scale: the largest of all so far. */
static char *write_middle(const struct recent_value middle[2], size_t n, int scale, char *to)
{
	struct ranked at[2];
	struct ranks ranks = {.n = n, .at = at};
	struct column_moments m; /* large: not zeroed */
	struct integer rooms[2];
	int64_t x[2];
	char *end = NULL;

	if (n == 0)
		return to;
	if (fits_scale(&middle[0], scale, &x[0]) && (n == 1 || fits_scale(&middle[1], scale, &x[1])))
		end = quantile_write_short(OPERATION_MEDIAN, (struct percentile){50, 0}, x, n, scale, to);
	if (end)
		return end;
	for (size_t i = 0; i < n; i++) {
		recent_number(&middle[i], &rooms[i], &at[i].value);
		at[i].rank = i;
	}
	m.numbers = (struct number_sums){.count = n, .scale = scale};
	m.ranks = &ranks;
	return statistic_format(OPERATION_MEDIAN, &m, to);
}

/* ---- what the values of a window add up to ---- */

struct rolling {
	enum operation aggregate;
	unsigned needs; /* its: a set of enum moment */
	uint64_t nrecords;  /* in the window */
	uint64_t count;     /* numbers in it */
	int scale;          /* the largest of all numbers so far, in the window or before it */
	int coarsest;       /* the largest scale of the window's numbers that were rounded, or of more ... */
	uint64_t ncoarsest; /* ... and how many of them have it; 0: to be looked up */
	struct exact sum, squares;
	struct held_queue held;   /* with MOMENT_EXTREMES or MOMENT_VALUES, in place of the sums */
	uint64_t nodd; /* of values: one held that came after these has no text, and has `scale` */
	struct half halves[2]; /* with MOMENT_VALUES */
};

static void rolling_clear(struct rolling *r)
{
	exact_free(&r->sum);
	exact_free(&r->squares);
	held_clear(&r->held);
	r->halves[0].n = r->halves[1].n = 0;
	r->count = r->ncoarsest = 0;
	r->coarsest = 0;
}

/* Notes that a number of a scale enters or leaves the window. */
static void note_scale(struct rolling *r, int scale, bool leaves)
{
	if (!exact_scale_is_rounded(scale))
		return;
	if (scale > r->coarsest) {
		r->coarsest = scale;
		r->ncoarsest = 0;
	}
	if (scale == r->coarsest)
		r->ncoarsest += leaves ? (uint64_t)-1 : 1;
}

/* Takes a long number in, or out. */
static enum status take_long(struct rolling *r, const struct recent_value *v, bool leaves)
{
	struct integer room;
	struct exact x;

	recent_number(v, &room, &x);
	note_scale(r, exact_kept_scale(&x), leaves);
	if (r->needs & MOMENT_SQUARES)
		TRY(add_square(&r->squares, &x, leaves));
	if (leaves)
		exact_negate(&x);
	return exact_add(&r->sum, &x);
}

/* Takes a value into the sums, or out of them. */
static inline enum status take(struct rolling *r, const struct recent_value *v, bool leaves)
{
	struct decimal x = v->number;
	int128 square;

	if (v->kind == RECENT_NONE)
		return STATUS_OK;
	r->count += leaves ? (uint64_t)-1 : 1;
	if (v->kind == RECENT_TEXT)
		return take_long(r, v, leaves);
	if (r->needs & MOMENT_SQUARES) {
		square = (int128)x.significand * x.significand;
		TRY(exact_add_scaled(&r->squares, leaves ? -square : square, 2 * x.scale));
	}
	x.significand = leaves ? -x.significand : x.significand;
	return exact_add_decimal(&r->sum, x);
}

static enum status take_in(void *context, const struct recent_value *v)
{
	return take(context, v, false);
}

/* Takes some values in at once. */
static bool take_in_piece(void *context, const struct recent_sum *some)
{
	struct rolling *r = context;

	if (r->needs & MOMENT_SQUARES || exact_add_scaled(&r->sum, some->sum, some->scale) != STATUS_OK)
		return false;
	r->count += some->count;
	return true;
}

static __attribute__((noinline)) int long_scale(const struct recent_value *v)
{
	struct integer room;
	struct exact x;

	recent_number(v, &room, &x);
	return exact_kept_scale(&x);
}

/* The scale of a value's number. */
static inline int scale_of(const struct recent_value *v)
{
	return v->kind == RECENT_NUMBER ? v->number.scale
	       : v->kind == RECENT_TEXT ? long_scale(v)
					: 0;
}

static enum status note_value(void *context, const struct recent_value *v)
{
	note_scale(context, scale_of(v), false);
	return STATUS_OK;
}

/* The largest scale of the window's numbers that were rounded; without any, where one was before, the least. */
static int window_scale(const struct window_fold *w)
{
	struct rolling *r = w->rolling;

	if (r->coarsest && r->ncoarsest == 0) {
		r->coarsest = 0;
		recent_each(&w->recent, false, NULL, note_value, r);
	}
	if (r->coarsest)
		return r->coarsest;
	return exact_scale_is_rounded(r->scale) ? EXACT_SCALE_MAX + 1 : r->scale;
}

/* ---- which records leave ----
 *
 * The one place that knows where a window ends: all that is kept of a window drops its oldest
 * records as this says.
 */

#define TIME_SCALE 18 /* of times that are compared as 128 bits: all but those with more digits */

/* The latest time that is no longer in a window. */
struct time_limit {
	bool is_short;
	int128 value; /* x 10^TIME_SCALE, if it is short */
	struct exact exact;
	struct integer room;
};

static void set_limit(struct time_limit *limit, const struct plan_window *window,
		      const struct recent_value *now)
{
	const struct decimal width = window->width;
	struct exact then = {.value = -(int128)width.significand, .scale = width.scale}, x;
	struct integer room;

	limit->is_short = now->kind == RECENT_NUMBER && now->number.scale <= TIME_SCALE;
	if (limit->is_short) {
		limit->value = (int128)now->number.significand *
				       decimal_powers[TIME_SCALE - now->number.scale] -
			       (int128)width.significand * decimal_powers[TIME_SCALE - width.scale];
		limit->exact = (struct exact){.value = limit->value, .scale = TIME_SCALE};
		return;
	}
	recent_number(now, &room, &x);
	limit->exact = exact_sum(&x, &then, &limit->room);
}

static inline bool has_left(const struct time_limit *limit, const struct recent_value *time)
{
	struct integer room;
	struct exact x;

	if (limit->is_short && time->kind == RECENT_NUMBER && time->number.scale <= TIME_SCALE)
		return (int128)time->number.significand *
			       decimal_powers[TIME_SCALE - time->number.scale] <=
		       limit->value;
	recent_number(time, &room, &x);
	return exact_compare(&x, &limit->exact) <= 0;
}

/* Drops the times that are no longer in the window of a record of time `now`. Returns how many. */
static __attribute__((noinline)) uint64_t drop_times(struct window_fold *w,
						     const struct recent_value *now)
{
	struct time_limit limit; /* large: not zeroed */
	struct recent_value oldest;
	uint64_t n = 0;

	set_limit(&limit, w->plan, now);
	for (; w->times.nvalues > 0; n++) {
		oldest = recent_oldest(&w->times);
		if (!has_left(&limit, &oldest))
			break;
		recent_drop_oldest(&w->times);
	}
	return n;
}

/* Drops what the window of the fold's last record does not hold: whole pieces at once, since most of a text's records may have left. */
static void drop_before(struct window_fold *w)
{
	struct time_limit limit; /* large: not zeroed */
	struct recent_value now, last;
	uint64_t n;

	if (w->times.nvalues == 0)
		return;
	now = recent_latest(&w->times);
	set_limit(&limit, w->plan, &now);
	while ((n = recent_first_piece(&w->times, &last)) < w->times.nvalues &&
	       has_left(&limit, &last))
		recent_keep(&w->times, w->times.nvalues - n);
	drop_times(w, &now);
	recent_keep(&w->recent, w->times.nvalues);
}

/* ---- the fold ---- */

static void forget_first(struct window_fold *w)
{
	if (w->first_time.time.kind == RECENT_TEXT)
		free((char *)w->first_time.time.text);
	w->first_time.time.kind = RECENT_NONE;
}

void window_free(struct window_fold *w)
{
	recent_free(&w->recent);
	recent_free(&w->times);
	forget_first(w);
	if (!w->rolling)
		return;
	rolling_clear(w->rolling);
	free(w->rolling->held.ring);
	free(w->rolling->halves[0].at);
	free(w->rolling->halves[1].at);
	free(w->rolling);
	w->rolling = NULL;
}

void window_clear(struct window_fold *w)
{
	recent_clear(&w->recent);
	recent_clear(&w->times);
	forget_first(w);
	w->mean.is_set = w->settled.is_set = w->is_begun = w->recent.is_last = false;
	if (w->rolling)
		rolling_clear(w->rolling);
}

enum status window_add(struct window_fold *w, const struct recent_value *value,
		       const struct recent_value *time)
{
	const uint64_t n = plan_window_nbefore(w->plan);

	if (n == 0)
		return STATUS_OK;
	if (w->plan->is_timed) {
		w->times.is_last = true; /* nobody wants their sum */
		TRY(recent_push(&w->times, time));
	} else if (w->recent.nvalues >= n) {
		recent_keep(&w->recent, n - 1);
	}
	w->recent.is_last |= w->plan->kind == NEW_EWMA;
	return recent_push(&w->recent, value);
}

/* Adds a value to a weighted mean; one that is missing changes nothing. */
static void window_weigh(struct ewma *mean, const struct plan_window *plan, const struct recent_value *value)
{
	bool is_text = value->kind == RECENT_TEXT;

	if (value->kind != RECENT_NONE)
		ewma_add(mean, plan->weight, value->number, is_text ? value->text : NULL, value->nbytes);
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
	w->settled.is_set = false;
	if (!later->settled.is_set || !ewma_is_bounded(&w->mean))
		return recent_each(&later->recent, false, NULL, weigh_next, w);
	w->mean = later->settled;
	return STATUS_OK;
}

struct settling {
	const struct ewma_weight *weight;
	struct ewma_bounds bounds;
};

/* Adds a short number; another value makes that the mean does not settle. */
static enum status settle_next(void *context, const struct recent_value *value)
{
	struct settling *s = context;

	if (value->kind == RECENT_NUMBER)
		ewma_bounds_add(&s->bounds, s->weight, value->number);
	return value->kind == RECENT_NUMBER ? STATUS_OK : STATUS_NOT_A_NUMBER;
}

/* Finds the mean after the values, if the last few of them suffice. */
static enum status settle(struct window_fold *w)
{
	struct settling s = {.weight = w->plan->weight};
	struct recent last = {.nvalues = 0};
	enum status status;
	uint64_t nvalues;

	if (w->recent.nvalues == 0 || (nvalues = ewma_memory(s.weight)) > w->recent.nvalues / 4)
		return STATUS_OK;
	ewma_bounds_begin(&s.bounds);
	status = recent_append(&last, &w->recent);
	recent_keep(&last, nvalues);
	if (status == STATUS_OK && recent_each(&last, false, NULL, settle_next, &s) == STATUS_OK &&
	    ewma_bounds_meet(&s.bounds))
		w->settled = s.bounds.low;
	recent_free(&last);
	return status;
}

enum status row_windows_end(const struct plan *plan, struct partial *out)
{
	for (size_t i = 0; plan->nkeys == 0 && i < plan->nwindows; i++) {
		if (plan->windows[i].kind == NEW_EWMA)
			TRY(settle(&out->windows[i]));
		drop_before(&out->windows[i]);
	}
	return STATUS_OK;
}

enum status window_combine(struct window_fold *w, const struct window_fold *later)
{
	const uint64_t n = plan_window_nbefore(w->plan);

	if (w->plan->kind == NEW_EWMA)
		return combine_means(w, later);
	if (later->recent.nvalues >= n)
		recent_clear(&w->recent);
	TRY(recent_append(&w->recent, &later->recent));
	TRY(recent_append(&w->times, &later->times));
	if (w->plan->is_timed)
		drop_before(w);
	else
		recent_keep(&w->recent, n);
	return STATUS_OK;
}

/* ---- a window that is not in line ---- */

static enum status add_held(void *rolling, const struct recent_value *v)
{
	return halves_add(((struct rolling *)rolling)->halves, 0, v);
}

/* Notes the scale of the value that is added as number `at`. */
static inline void note_odd(struct rolling *r, const struct recent_value *v, uint64_t at)
{
	if (v->kind == RECENT_TEXT || (v->kind == RECENT_NUMBER && v->number.scale != r->scale))
		r->nodd = at + 1;
}

static bool wants_max(const struct plan_window *window)
{
	return window->kind == NEW_ROLLING_MAX;
}

/* Has the fold of all records before a text print the next ones. scale: the largest of all numbers of the column so far. */
static enum status begin(struct window_fold *w, int scale)
{
	const enum operation aggregate = new_column_aggregate(w->plan->kind);
	struct rolling *r;

	w->is_begun = w->recent.is_last = true;
	if (w->plan->kind == NEW_EWMA)
		return combine_means(w, &(struct window_fold){.plan = w->plan});
	if (aggregate == OPERATION_NONE)
		return STATUS_OK;
	NEED(r = w->rolling = calloc(1, sizeof *r));
	r->scale = scale;
	r->nrecords = w->recent.nvalues;
	r->aggregate = aggregate;
	r->needs = operation_needs(aggregate);
	if (!(r->needs & (MOMENT_EXTREMES | MOMENT_VALUES)))
		return recent_each(&w->recent, false, take_in_piece, take_in, r);
	for (int i = 0; i < 2; i++) {
		r->halves[i].held = &r->held;
		r->halves[i].is_upper = i == 1;
	}
	if (r->needs & MOMENT_VALUES)
		TRY(recent_each(&w->recent, false, NULL, add_held, r));
	else
		TRY(extremes_begin(&r->held, wants_max(w->plan), &w->recent));
	for (size_t i = 0; i < r->held.n; i++)
		note_odd(r, &held_at(&r->held, i)->value, held_at(&r->held, i)->at);
	recent_clear(&w->recent);
	return STATUS_OK;
}

/* Adds a value to an extreme's window, which has nrecords with it. */
static inline enum status slide_extreme(const struct window_fold *w, uint64_t nrecords,
					const struct recent_value *v)
{
	struct held_queue *q = &w->rolling->held;

	while (q->n > 0 && held_at(q, 0)->at + nrecords <= q->nvalues)
		drop_first(q);
	return extremes_add(q, wants_max(w->plan), v);
}

/* Moves the window on by a record. */
static inline enum status slide(struct window_fold *w, const struct recent_value *v,
				const struct recent_value *time)
{
	struct rolling *r = w->rolling;
	uint64_t nleaving = r->nrecords == w->plan->nrows;

	if (w->plan->is_timed) {
		nleaving = drop_times(w, time);
		TRY(recent_push(&w->times, time));
	}
	r->nrecords += 1 - nleaving;
	if (r->needs & MOMENT_VALUES)
		return halves_add(r->halves, nleaving, v);
	note_odd(r, v, r->held.nvalues);
	if (r->needs & MOMENT_EXTREMES)
		return slide_extreme(w, r->nrecords, v);
	for (; nleaving > 0; nleaving--) {
		struct recent_value oldest = recent_oldest(&w->recent);
		TRY(take(r, &oldest, true));
		recent_drop_oldest(&w->recent);
	}
	TRY(take(r, v, false));
	return recent_push(&w->recent, v);
}

/* Writes what the window shows. */
static inline char *write_rolling(struct window_fold *w, struct decimal_writer *d, char *to)
{
	struct rolling *r = w->rolling;
	const struct half *half = r->halves;
	const struct held *extreme = r->held.n ? held_at(&r->held, 0) : NULL;
	struct recent_value middle[2];
	struct column_moments m; /* large: not zeroed */
	struct integer room;
	int64_t total;

	if (r->needs & MOMENT_VALUES) {
		for (int i = 0; i < 2 && half[i].n > 0; i++)
			middle[i] = held_of(&r->held, half[i].at[0])->value;
		return write_middle(middle, (half[0].n > 0) + (half[0].n > 0 && half[0].n == half[1].n), r->scale, to);
	}
	if (r->needs & MOMENT_EXTREMES) {
		if (!extreme)
			return to;
		if (r->scale <= DECIMAL_POWER_MAX && fits_scale(&extreme->value, r->scale, &total))
			return write_short_total(d, r->aggregate, total, r->scale, 1, to);
		m.numbers.count = 1;
		recent_number(&extreme->value, &room, &m.numbers.min);
		m.numbers.scale = r->scale;
		m.numbers.max = m.numbers.min;
		return statistic_format(r->aggregate, &m, to);
	}
	if (!(r->needs & MOMENT_SQUARES) && !r->coarsest && r->scale <= DECIMAL_POWER_MAX &&
	    exact_raise(&r->sum, r->scale) == STATUS_OK && !r->sum.is_long &&
	    (total = (int64_t)r->sum.value) == r->sum.value)
		return write_short_total(d, r->aggregate, total, r->scale, r->count, to);
	m.npresent = r->count;
	m.squares = &r->squares;
	m.numbers = (struct number_sums){
		.count = r->count, .scale = window_scale(w), .sum = r->sum};
	return statistic_format(r->aggregate, &m, to);
}

/* ---- changes ---- */

/* now / last: of rounded ones the digits that are right, as --let has them; one beyond the range is not rounded so. */
static char *write_ratio(const struct exact *now, const struct exact *last, char *to)
{
	struct integer room;
	struct exact ratio;

	if (exact_is_zero(last))
		return to;
	if ((now->is_rounded || last->is_rounded) && exact_divide(now, last, &room, &ratio))
		return exact_write_computed(&ratio, to);
	return exact_write_quotient(now, last, to);
}

/* Writes how v differs from the value before; nothing where one of the two is missing, or where 0 would divide. */
static char *write_change(enum new_column_kind kind, const struct recent_value *last, const struct recent_value *v, char *to)
{
	struct integer now_room, last_room, room;
	struct exact now, before, change;

	if (v->kind == RECENT_NONE || last->kind == RECENT_NONE)
		return to;
	recent_number(v, &now_room, &now);
	recent_number(last, &last_room, &before);
	if (kind == NEW_RATIO)
		return write_ratio(&now, &before, to);
	exact_negate(&before);
	change = exact_sum(&now, &before, &room);
	exact_negate(&before);
	return kind == NEW_PCT_CHANGE ? write_ratio(&change, &before, to) : exact_write_computed(&change, to);
}

/* ---- values in line ---- */

static_assert(sizeof(struct group_window) % 4 == 0 && GROUP_WINDOW_TEXT_NBYTES % 8 == 0 &&
		      sizeof(struct ewma) <= GROUP_WINDOW_NWEIGHTED * sizeof(int64_t),
	      "groups lie at multiples of 8 bytes");

static size_t value_nbytes(const struct plan_window *window)
{
	return new_column_has(window->kind, NEW_COPIES) ? GROUP_WINDOW_TEXT_NBYTES
							: sizeof(int64_t);
}

void group_window_plan(struct plan_window *window, uint32_t offset)
{
	const uint64_t needed = plan_window_nbefore(window);
	const uint64_t room = new_column_has(window->kind, NEW_COPIES) ? GROUP_WINDOW_NTEXTS
			      : window->kind == NEW_EWMA ? GROUP_WINDOW_NWEIGHTED : GROUP_WINDOW_NVALUES;

	window->cell_offset = offset;
	window->cell_nvalues = (uint8_t)(window->is_timed ? 0 : needed < room ? needed : room);
	window->cell_suffices = needed <= room;
	window->cell_values = (uint8_t)((sizeof(struct group_window) + window->cell_nvalues + 7) /
					8 * 8);
}

size_t group_window_nbytes(const struct plan_window *window)
{
	const size_t nbytes = window->cell_nvalues * value_nbytes(window);

	return window->cell_values + (nbytes < sizeof(void *) ? sizeof(void *) : nbytes);
}

static inline char *values_of(const struct group_window *w, const struct plan_window *window)
{
	return (char *)w + window->cell_values;
}

/* The k-th value from the oldest on. Its text is the group's. */
static inline struct recent_value value_of(const struct group_window *w,
					   const struct plan_window *window, unsigned k)
{
	const unsigned at = w->first + k < window->cell_nvalues
				    ? w->first + k
				    : w->first + k - window->cell_nvalues;
	const uint8_t kind = w->kinds[at];

	if (new_column_has(window->kind, NEW_COPIES))
		return (struct recent_value){.kind = RECENT_TEXT,
					     .text = values_of(w, window) +
						     at * GROUP_WINDOW_TEXT_NBYTES,
					     .nbytes = kind};
	return (struct recent_value){.kind = kind == GROUP_WINDOW_NONE ? RECENT_NONE
								       : RECENT_NUMBER,
				     .number = {((const int64_t *)values_of(w, window))[at], kind}};
}

/* Whether the values are in line, and are so with one more, a number or none. */
static inline bool fits_in_line(const struct group_window *w, const struct plan_window *window,
				const struct recent_value *value)
{
	return value->kind != RECENT_TEXT && w->n != GROUP_WINDOW_ELSEWHERE &&
	       (w->n < window->cell_nvalues || window->cell_suffices);
}

/* Notes the scale of a value. */
static inline void raise_scale(struct group_window *w, const struct recent_value *value)
{
	const int scale = scale_of(value);

	if (scale > w->scale)
		w->scale = (uint16_t)scale;
}

/* Returns where the next value goes in; the oldest leaves if as many as are needed are there. */
static inline unsigned next_place(struct group_window *w, const struct plan_window *window)
{
	const unsigned room = window->cell_nvalues, at = w->first;

	if (w->n < room)
		return w->n++;
	w->first = (uint8_t)(at + 1 == room ? 0 : at + 1);
	return at;
}

/* Adds a number that fits, or none. */
static inline void put(struct group_window *w, const struct plan_window *window,
		       const struct recent_value *value)
{
	const bool is_number = value->kind == RECENT_NUMBER;
	unsigned at;

	if (window->cell_nvalues == 0)
		return;
	at = next_place(w, window);
	w->kinds[at] = is_number ? (uint8_t)value->number.scale : GROUP_WINDOW_NONE;
	((int64_t *)values_of(w, window))[at] = is_number ? value->number.significand : 0;
}

/* Adds a text, if the values are in line, and are so with it. */
static bool put_text(struct group_window *w, const struct plan_window *window,
		     const struct recent_value *value)
{
	unsigned at;

	if (w->n == GROUP_WINDOW_ELSEWHERE || !window->cell_suffices ||
	    value->nbytes > GROUP_WINDOW_TEXT_NBYTES)
		return false;
	if (window->cell_nvalues == 0)
		return true;
	at = next_place(w, window);
	w->kinds[at] = (uint8_t)value->nbytes;
	if (value->nbytes) /* a damaged state may have no text where a window has fields */
		memcpy(values_of(w, window) + at * GROUP_WINDOW_TEXT_NBYTES, value->text,
		       value->nbytes);
	return true;
}

/* Sets *mean to that of all values so far but those in line, where these would lie. */
static inline void get_mean(const struct group_window *w, const struct plan_window *window,
			    struct ewma *mean)
{
	if (w->n == 0)
		memcpy(mean, values_of(w, window), sizeof *mean);
	else
		*mean = (struct ewma){.is_set = false};
}

static inline void set_mean(struct group_window *w, const struct plan_window *window,
			    const struct ewma *mean)
{
	memcpy(values_of(w, window), mean, sizeof *mean);
	w->n = 0;
}

/* Takes a value into the mean of a group that holds its records from the input's first on. */
static inline void weigh_in_line(struct group_window *w, const struct plan_window *window,
				 const struct recent_value *value, struct ewma *mean)
{
	get_mean(w, window, mean);
	for (unsigned k = 0; k < w->n; k++) {
		struct recent_value v = value_of(w, window, k);
		window_weigh(mean, window, &v);
	}
	window_weigh(mean, window, value);
	set_mean(w, window, mean);
}

/* ---- elsewhere ---- */

/* One of struct window_folds. */
struct group_fold {
	struct window_fold fold;
	struct group_fold *before;
};

void window_folds_free(struct window_folds *folds)
{
	for (struct group_fold *f = folds->last; f; f = f->before)
		window_free(&f->fold);
	key_arena_free(&folds->memory);
	folds->last = NULL;
}

/* The fold of a window that is not in line. */
static struct window_fold *fold_of(const struct group_window *w, const struct plan_window *window)
{
	return *(struct window_fold **)values_of(w, window);
}

enum status group_window_add_to(const struct group_window *w, struct window_fold *to)
{
	struct ewma mean;

	if (w->n == GROUP_WINDOW_ELSEWHERE)
		return window_combine(to, fold_of(w, to->plan));
	if (to->plan->kind == NEW_EWMA) {
		get_mean(w, to->plan, &mean);
		to->mean = mean.is_set ? mean : to->mean;
	}
	for (unsigned k = 0; k < w->n; k++) {
		struct recent_value v = value_of(w, to->plan, k);
		TRY(window_add(to, &v, NULL));
	}
	return STATUS_OK;
}

enum status group_window_fold(const struct window_place *at, struct window_fold **out)
{
	struct group_window *w = at->w;
	struct group_fold *made;
	void *memory;

	if (w->n != GROUP_WINDOW_ELSEWHERE) {
		TRY(key_arena_take_zeros(&at->folds->memory, sizeof *made, &memory));
		made = memory;
		made->fold.plan = at->window;
		made->before = at->folds->last;
		at->folds->last = made;
		TRY(group_window_add_to(w, &made->fold));
		*(struct window_fold **)values_of(w, at->window) = &made->fold;
		w->n = GROUP_WINDOW_ELSEWHERE;
	}
	*out = fold_of(w, at->window);
	return STATUS_OK;
}

enum status group_window_add(const struct window_place *at, const struct recent_value *value,
			     const struct recent_value *time)
{
	struct window_fold *fold;

	if (new_column_has(at->window->kind, NEW_COPIES)) {
		if (put_text(at->w, at->window, value))
			return STATUS_OK;
	} else {
		raise_scale(at->w, value);
		if (fits_in_line(at->w, at->window, value)) {
			put(at->w, at->window, value);
			return STATUS_OK;
		}
	}
	TRY(group_window_fold(at, &fold));
	return window_add(fold, value, time);
}

/* Like group_window_add, for a group that holds all its records before this one: a weighted mean goes on with the value. */
static enum status go_on(void *place, const struct recent_value *value)
{
	const struct window_place *at = place;
	struct ewma ignored;

	if (at->window->kind != NEW_EWMA || at->w->n == GROUP_WINDOW_ELSEWHERE)
		return group_window_add(at, value, NULL);
	weigh_in_line(at->w, at->window, value, &ignored);
	return STATUS_OK;
}

enum status group_window_add_fold(const struct window_place *at, const struct window_fold *later,
				  int scale)
{
	struct group_window *w = at->w;
	struct window_place place = *at;
	struct window_fold *fold;

	w->scale = scale > w->scale ? (uint16_t)scale : w->scale;
	if (w->n == GROUP_WINDOW_ELSEWHERE || at->window->is_timed ||
	    (later->recent.nvalues > at->window->cell_nvalues && at->window->kind != NEW_EWMA)) {
		TRY(group_window_fold(at, &fold));
		return window_combine(fold, later);
	}
	if (later->mean.is_set) /* it is the fold from the first record on */
		set_mean(w, at->window, &later->mean);
	return recent_each(&later->recent, false, NULL, go_on, &place);
}

enum status group_window_combine(const struct window_place *at, const struct group_window *later)
{
	struct group_window *w = at->w;
	struct window_place place = *at;
	struct window_fold *fold;
	struct ewma mean;

	w->scale = later->scale > w->scale ? later->scale : w->scale;
	if (later->n == GROUP_WINDOW_ELSEWHERE) {
		TRY(group_window_fold(at, &fold));
		return window_combine(fold, fold_of(later, at->window));
	}
	if (at->window->kind == NEW_EWMA) {
		get_mean(later, at->window, &mean);
		if (mean.is_set)
			set_mean(w, at->window, &mean);
	}
	for (unsigned k = 0; k < later->n; k++) {
		struct recent_value v = value_of(later, at->window, k);
		TRY(go_on(&place, &v));
	}
	return STATUS_OK;
}

/* ---- where times fall ---- */

/* Notes the first time of a text if it is before the latest one of the records before. */
static void find_backward(const struct window_fold *before, const struct window_fold *later,
			  size_t *offset)
{
	const struct first_time *first = &later->first_time;
	struct recent_value latest;

	if (before->times.nvalues == 0 || first->time.kind == RECENT_NONE ||
	    first->offset >= *offset)
		return;
	latest = recent_latest(&before->times);
	if (recent_compare(&first->time, &latest) < 0)
		*offset = first->offset;
}

/* A search in all groups of a text. */
struct backward {
	const struct plan_window *window;
	size_t *offset;
};

static enum status find_group_backward(void *backward, struct group *before, struct group *group)
{
	const struct backward *b = backward;
	const struct group_window *x = group_window(before, b->window),
				  *y = group_window(group, b->window);

	if (x->n == GROUP_WINDOW_ELSEWHERE && y->n == GROUP_WINDOW_ELSEWHERE)
		find_backward(fold_of(x, b->window), fold_of(y, b->window), b->offset);
	return STATUS_OK;
}

enum status windows_find_backward(const struct plan *plan, const struct partial *before,
				  struct partial *later, size_t *offset)
{
	struct backward b = {&plan->windows[plan->first_timed], offset};

	*offset = later->first_backward_offset;
	if (plan->first_timed == plan->nwindows)
		return STATUS_OK;
	if (later->groups) /* only where records are printed are groups bound to those before: a later pass does that */
		return plan->emits ? groups_each_before(later->groups, find_group_backward, &b) : STATUS_OK;
	if (plan->nkeys == 0)
		find_backward(&before->windows[plan->first_timed],
			      &later->windows[plan->first_timed], offset);
	return STATUS_OK;
}

/* ---- what a record shows ---- */

/* The fold of a window that is not in line, begun; NULL: no memory. */
static struct window_fold *begun_fold(const struct window_place *at)
{
	struct window_fold *w;

	if (group_window_fold(at, &w) != STATUS_OK)
		return NULL;
	return w->is_begun || begin(w, at->w->scale) == STATUS_OK ? w : NULL;
}

/* Sets *x to a number of a scale at the largest scale so far. Returns false where it does not fit. */
static inline bool lengthen(int64_t *x, int64_t significand, int scale, int largest)
{
	*x = significand;
	return scale == largest || decimal_lengthen_64(x, (unsigned)(largest - scale));
}

/* Whether all values of a window in line are numbers of the largest scale so far. */
static inline bool are_alike(const struct group_window *w)
{
	unsigned differing = 0;

	for (unsigned k = 0; k < w->n; k++)
		differing |= w->kinds[k] ^ (unsigned)w->scale;
	return !differing;
}

/* Writes what a window in line shows with the next record: of so few values, whatever it is, it is computed anew. Returns NULL where
 * that is not for 64 bits. */
static char *write_few(const struct window_place *at, const struct recent_value *value,
		       struct decimal_writer *d, char *to)
{
	const enum operation aggregate = new_column_aggregate(at->window->kind);
	const unsigned needs = operation_needs(aggregate);
	const struct group_window *w = at->w;
	const bool has = value->kind == RECENT_NUMBER,
		   wants_max = at->window->kind == NEW_ROLLING_MAX;
	const int scale = w->scale;
	const int64_t *x = (const int64_t *)values_of(w, at->window), *values = x;
	int64_t few[GROUP_WINDOW_NVALUES + 1], total = 0;
	struct exact squares = {.scale = 2 * scale};
	struct column_moments m; /* large: not zeroed */
	bool fits = scale <= DECIMAL_POWER_MAX;
	unsigned n = w->n, count;

	if (!fits ||
	    (has && !lengthen(&total, value->number.significand, value->number.scale, scale)))
		return NULL;
	if (needs & (MOMENT_VALUES | MOMENT_SQUARES) || !are_alike(w)) {
		x = few;
		n = 0;
		for (unsigned k = 0; k < w->n; k++)
			if (w->kinds[k] != GROUP_WINDOW_NONE)
				fits &= lengthen(&few[n++], values[k], w->kinds[k], scale);
		few[n] = total;
	}
	count = n + has;
	if (!fits)
		return NULL;
	if (needs & MOMENT_VALUES)
		return count ? quantile_write_short(aggregate, (struct percentile){50, 0}, few,
						    count, scale, to)
			     : to;
	if (needs & MOMENT_EXTREMES) {
		total = has || n == 0 ? total : x[0];
		for (unsigned k = 0; k < n; k++)
			total = wants_max      ? (x[k] > total ? x[k] : total)
				: x[k] < total ? x[k]
					       : total;
		return write_short_total(d, aggregate, total, scale, count, to);
	}
	for (unsigned k = 0; k < n; k++)
		fits &= !__builtin_add_overflow(total, x[k], &total);
	for (unsigned k = 0; needs & MOMENT_SQUARES && k < count; k++)
		fits &= !__builtin_add_overflow(squares.value, (int128)x[k] * x[k], &squares.value);
	if (!fits)
		return NULL;
	if (!(needs & MOMENT_SQUARES))
		return write_short_total(d, aggregate, total, scale, count, to);
	m.npresent = count;
	m.squares = &squares;
	m.numbers = (struct number_sums){
		.count = count, .scale = scale, .sum = {.value = total, .scale = scale}};
	return statistic_format(aggregate, &m, to);
}

char *rolling_show(const struct window_place *at, const struct recent_value *v,
		   const struct recent_value *time, struct decimal_writer *d, char *to)
{
	struct window_fold *w;
	int scale;
	char *end;

	if (fits_in_line(at->w, at->window, v)) {
		raise_scale(at->w, v);
		end = write_few(at, v, d, to);
		if (end) {
			put(at->w, at->window, v);
			return end;
		}
	}
	w = begun_fold(at);
	if (!w)
		return NULL;
	scale = scale_of(v);
	if (scale > w->rolling->scale) {
		w->rolling->scale = scale;
		w->rolling->nodd = w->rolling->held.nvalues;
	}
	if (w->plan->is_timed && time->kind == RECENT_NONE)
		return to;
	return slide(w, v, time) == STATUS_OK ? write_rolling(w, d, to) : NULL;
}

char *ewma_show(const struct window_place *at, const struct recent_value *v,
		const struct recent_value *time, struct decimal_writer *d, char *to)
{
	struct window_fold *w;
	struct ewma mean;

	(void)time;
	if (at->w->n != GROUP_WINDOW_ELSEWHERE) {
		weigh_in_line(at->w, at->window, v, &mean);
		return ewma_write(&mean, d, to);
	}
	w = begun_fold(at);
	if (!w)
		return NULL;
	window_weigh(&w->mean, at->window, v);
	return ewma_write(&w->mean, d, to);
}

/* ---- a block of records ---- */

/* How many records from before a block may leave while its records enter. */
#define GONE_NROWS (2 * ROW_BLOCK_NROWS)

/* What leaves a window with the records of a block: first what was in it, then records of the block itself. */
struct leaving {
	unsigned n; /* all of them */
	unsigned first; /* by rows: one leaves with each record from that on */
	bool one_each; /* it is by rows; else: */
	unsigned with[ROW_BLOCK_NROWS]; /* how many have left with the k-th and those before it */
};

/* Sets out->with of a window by time. Returns false where times are not of one scale, or more may
 * leave than there is room for. */
static bool pass_times(const struct window_fold *w, const struct window_block *b,
		       struct leaving *out)
{
	const unsigned nold = w->times.nvalues < GONE_NROWS ? (unsigned)w->times.nvalues
							    : GONE_NROWS;
	int64_t times[GONE_NROWS + ROW_BLOCK_NROWS], width = w->plan->width.significand;
	uint8_t scales[GONE_NROWS + ROW_BLOCK_NROWS];
	const int scale = b->time_scale[0], nzeros = scale - w->plan->width.scale;
	unsigned at = 0, differing = 0;

	if (nzeros < 0) /* rounded up: no time lies between */
		width = (width - 1) / decimal_powers[-nzeros] + 1;
	else if (nzeros > 0 && !decimal_lengthen_64(&width, (unsigned)nzeros))
		return false;
	if (nold > 0 && !recent_read_numbers(&w->times, nold, times, scales))
		return false;
	memcpy(times + nold, b->time, b->n * sizeof *times);
	memcpy(scales + nold, b->time_scale, b->n);
	for (unsigned i = 0; i < nold + b->n; i++)
		differing |= scales[i] ^ (unsigned)scale;
	if (differing)
		return false;
	for (unsigned k = 0; k < b->n; k++) {
		for (; times[at] <= b->time[k] - width; at++)
			if (at == nold && nold < w->times.nvalues)
				return false;
		out->with[k] = at;
	}
	out->n = at;
	return at < nold || nold == w->times.nvalues;
}

/* The same as pass for a block. Nothing changes but *out. */
static bool pass_block(const struct window_fold *w, const struct window_block *b,
		       struct leaving *out)
{
	const uint64_t room = w->plan->nrows - w->rolling->nrecords;

	out->one_each = !w->plan->is_timed;
	out->first = room < b->n ? (unsigned)room : b->n;
	if (w->plan->is_timed)
		return pass_times(w, b, out);
	out->n = b->n - out->first;
	return true;
}

/* Then takes the block's records into the window. */
static enum status enter_block(struct window_fold *w, const struct window_block *b,
			       const struct leaving *leaving)
{
	struct rolling *r = w->rolling;

	r->nrecords = r->nrecords + b->n - leaving->n;
	if (!w->plan->is_timed)
		return STATUS_OK;
	w->times.is_last = true;
	TRY(recent_push_numbers(&w->times, b->time, b->time_scale, b->n));
	recent_keep(&w->times, r->nrecords);
	return STATUS_OK;
}

/* How many have left with the k-th record and those before it. */
static inline unsigned left_with(const struct leaving *leaving, unsigned k)
{
	if (!leaving->one_each)
		return leaving->with[k];
	return k < leaving->first ? 0 : k + 1 - leaving->first;
}

bool window_block_read(struct window_block *b, const struct simd_numbers *x, uint64_t rows,
		       bool skips_missing)
{
	if (rows & ~(x->numbers | x->empty))
		return false;
	b->n = 0;
	for (rows &= skips_missing ? x->numbers : rows; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		b->significand[b->n] = x->significand[row];
		b->scale[b->n++] = x->numbers >> row & 1 ? x->scale[row] : RECENT_SCALE_NONE;
	}
	return true;
}

bool window_block_read_times(struct window_block *b, const struct simd_numbers *times,
			     uint64_t rows)
{
	if (rows & ~times->numbers)
		return false;
	for (unsigned k = 0; rows; rows &= rows - 1, k++) {
		b->time[k] = times->significand[lowest(rows)];
		b->time_scale[k] = times->scale[lowest(rows)];
	}
	return true;
}

/* Gives n numbers one scale, and makes those that are missing 0. Returns false where one does not
 * fit. */
static bool align(int64_t *x, const uint8_t *scales, unsigned n, int scale)
{
	for (unsigned k = 0; k < n; k++) {
		int nzeros = scale - scales[k];
		if (scales[k] == RECENT_SCALE_NONE)
			x[k] = 0;
		else if (nzeros != 0 &&
			 (nzeros < 0 || !decimal_lengthen_64(&x[k], (unsigned)nzeros)))
			return false;
	}
	return true;
}

/* x: the block's numbers at the window's scale. */
static enum status slide_extremes(struct window_fold *w, struct window_block *b, const int64_t *x,
				  const struct leaving *leaving, bool *is_done)
{
	struct rolling *r = w->rolling;
	struct held_queue *q = &r->held;
	struct recent_value v = {.number.scale = b->total_scale};

	if (q->n > 0 && held_at(q, 0)->at < r->nodd)
		return STATUS_OK;
	for (unsigned k = 0; k < b->n; k++) {
		v.kind = b->scale[k] == RECENT_SCALE_NONE ? RECENT_NONE : RECENT_NUMBER;
		v.number.significand = x[k];
		TRY(slide_extreme(w, r->nrecords + k + 1 - left_with(leaving, k), &v));
		b->count[k] = q->n;
		b->total[k] = q->n ? held_at(q, 0)->value.number.significand : 0;
	}
	*is_done = true;
	return enter_block(w, b, leaving);
}

/* Adds up the totals of a block from what was in the window, *total and *count. x: its numbers; gone: what leaves, at gone[k] with
 * the k-th if one leaves with each. Returns false where a total overflows. */
static inline __attribute__((always_inline)) bool slide_totals(
	struct window_block *b, const int64_t *x, const int64_t *gone, const uint8_t *gone_scales,
	const struct leaving *leaving, bool one_each, int64_t *total, uint64_t *count)
{
	const unsigned n = b->n;
	int64_t sum = *total;
	uint64_t nnumbers = *count;
	bool overflows = false;

	for (unsigned k = 0, at = 0, end; k < n; k++) {
		overflows |= __builtin_add_overflow(sum, x[k], &sum);
		nnumbers += b->scale[k] != RECENT_SCALE_NONE;
		end = one_each ? k + 1 : left_with(leaving, k);
		do {
			if (!one_each && at == end)
				break;
			overflows |= __builtin_sub_overflow(sum, gone[at], &sum);
			nnumbers -= gone_scales[at] != RECENT_SCALE_NONE;
		} while (++at < end);
		b->total[k] = sum;
		b->count[k] = nnumbers;
	}
	*total = sum;
	*count = nnumbers;
	return !overflows;
}

enum status rolling_slide(const struct window_place *at, struct window_block *b, bool *is_done)
{
	const unsigned n = b->n;
	struct leaving leaving; /* large: not zeroed */
	int64_t x[ROW_BLOCK_NROWS], all_gone[GONE_NROWS + ROW_BLOCK_NROWS], *gone = all_gone, total;
	uint8_t all_scales[GONE_NROWS + ROW_BLOCK_NROWS], *scales = all_scales;
	struct window_fold *w = begun_fold(at);
	struct rolling *r;
	uint64_t count;
	unsigned nold;
	bool fits;

	*is_done = false;
	NEED(w);
	r = w->rolling;
	count = r->count;
	b->total_scale = r->scale;
	memcpy(x, b->significand, n * sizeof *x);
	if (r->scale > DECIMAL_POWER_MAX || !align(x, b->scale, n, r->scale) ||
	    !pass_block(w, b, &leaving))
		return STATUS_OK;
	if (r->needs & MOMENT_EXTREMES)
		return slide_extremes(w, b, x, &leaving, is_done);
	if (r->coarsest || exact_raise(&r->sum, r->scale) != STATUS_OK || r->sum.is_long ||
	    r->sum.value != (int64_t)r->sum.value)
		return STATUS_OK;
	if (leaving.one_each) {
		memset(all_gone, 0, leaving.first * sizeof *gone);
		memset(all_scales, RECENT_SCALE_NONE, leaving.first);
		gone += leaving.first;
		scales += leaving.first;
	}
	nold = leaving.n < r->nrecords ? leaving.n
				       : (unsigned)r->nrecords; /* that came before the block */
	if (nold > 0 && !recent_read_numbers(&w->recent, nold, gone, scales))
		return STATUS_OK;
	memcpy(gone + nold, b->significand, (leaving.n - nold) * sizeof *gone);
	memcpy(scales + nold, b->scale, leaving.n - nold);
	if (!align(gone, scales, leaving.n, r->scale))
		return STATUS_OK;
	total = (int64_t)r->sum.value;
	fits = leaving.one_each
		       ? slide_totals(b, x, all_gone, all_scales, NULL, true, &total, &count)
		       : slide_totals(b, x, gone, scales, &leaving, false, &total, &count);
	if (!fits)
		return STATUS_OK;
	r->sum.value = total;
	r->count = count;
	TRY(enter_block(w, b, &leaving));
	TRY(recent_push_numbers(&w->recent, b->significand, b->scale, n));
	recent_keep(&w->recent, r->nrecords);
	*is_done = true;
	return STATUS_OK;
}

struct recent_value group_window_oldest(const struct window_place *at)
{
	const struct group_window *w = at->w;
	const uint64_t needed = plan_window_nbefore(at->window);
	struct window_fold *fold;

	if (w->n != GROUP_WINDOW_ELSEWHERE)
		return w->n == needed ? value_of(w, at->window, 0)
				      : (struct recent_value){.kind = RECENT_NONE, .text = ""};
	fold = fold_of(w, at->window);
	return fold->recent.nvalues == needed
		       ? recent_oldest(&fold->recent)
		       : (struct recent_value){.kind = RECENT_NONE, .text = ""};
}

char *change_show(const struct window_place *at, const struct recent_value *v,
		  const struct recent_value *time, struct decimal_writer *d, char *to)
{
	const struct group_window *w = at->w;
	int64_t *in_line = (int64_t *)values_of(w, at->window), before = *in_line;
	struct recent_value last;

	(void)time;
	if (v->kind == RECENT_NONE)
		return to;
	if (at->window->kind == NEW_DELTA && v->kind == RECENT_NUMBER && w->n == 1 &&
	    w->kinds[0] == v->number.scale && v->number.scale <= DECIMAL_POWER_MAX) {
		*in_line = v->number.significand;
		return write_short_total(d, OPERATION_SUM, v->number.significand - before,
					 v->number.scale, 2, to);
	}
	last = group_window_oldest(at);
	to = write_change(at->window->kind, &last, v, to);
	return group_window_add(at, v, NULL) == STATUS_OK ? to : NULL;
}

/* ---- of rows ---- */

const struct simd_numbers *row_window_numbers(struct row_block *b, size_t c)
{
	static const struct simd_numbers none;

	return b->plan->columns[c].parses ? row_block_numbers(b, c) : &none;
}

enum status row_other_number(const struct row_block *b, size_t c, const struct simd_numbers *x,
			     unsigned row, struct scratch *scratch, struct recent_value *out)
{
	enum status status;
	struct value v;
	bool is;

	*out = (struct recent_value){.kind = RECENT_NONE};
	if (x->empty >> row & 1)
		return STATUS_OK;
	if (!b->plan->columns[c].parses) {
		TRY(row_is_there(b, c, row, scratch, &is));
		out->kind = is ? RECENT_NUMBER : RECENT_NONE;
		return STATUS_OK;
	}
	status = row_block_read(b, c, row, true, scratch, &v);
	if (status != STATUS_OK || !value_has_number(&v))
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
	uint64_t rounded;

	*is = !b->plan->columns[c].let || program_block_why(b, c, row) == STATUS_OK;
	if (!*is || !b->plan->columns[c].let || !b->plan->columns[c].parses)
		return STATUS_OK;
	program_block_quotients(b, c, &rounded);
	if (rounded >> row & 1)
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

/* Notes the time of a row: the text's first one of the window, or one that is before the window's
 * latest. */
static enum status note_time(struct row_folder *f, struct window_fold *w,
			     const struct recent_value *time, unsigned row, struct partial *out)
{
	const size_t offset = row_block_offset(&f->block, f->plan->over_field, row);
	struct recent_value latest;

	if (w->times.nvalues == 0) {
		char *text = time->kind == RECENT_TEXT ? malloc(time->nbytes + 1) : NULL;
		NEED(text || time->kind != RECENT_TEXT);
		w->first_time = (struct first_time){*time, offset};
		w->first_time.time.text = text ? memcpy(text, time->text, time->nbytes) : NULL;
		return STATUS_OK;
	}
	latest = recent_latest(&w->times);
	if (offset < out->first_backward_offset && recent_compare(time, &latest) < 0)
		out->first_backward_offset = offset;
	return STATUS_OK;
}

/* Adds a block to window i, whose times have been read. row: its first one. Sets *is_done; or adds
 * nothing, where the times are of several scales, or fall. */
static enum status add_timed_block(struct row_folder *f, size_t i, const struct window_block *b,
				   unsigned row, struct partial *out, bool *is_done)
{
	struct window_fold *w = &out->windows[i];
	struct recent_value time = {RECENT_NUMBER, .number = {b->time[0], b->time_scale[0]}},
			    latest = time;

	if (w->times.nvalues > 0)
		latest = recent_latest(&w->times);
	*is_done = latest.kind == RECENT_NUMBER && latest.number.scale == b->time_scale[0] &&
		   latest.number.significand <= b->time[0];
	for (unsigned k = 1; k < b->n; k++)
		*is_done &= b->time[k - 1] <= b->time[k] && b->time_scale[k] == b->time_scale[0];
	if (!*is_done)
		return STATUS_OK;
	if (i == f->plan->first_timed)
		TRY(note_time(f, w, &time, row, out));
	TRY(recent_push_numbers(&w->recent, b->significand, b->scale, b->n));
	w->times.is_last = true;
	return recent_push_numbers(&w->times, b->time, b->time_scale, b->n);
}

/* Adds a row's value to the plan's window i, its group's or that of all records. x: the column's
 * numbers; times: of a window by time. *adds: set to false if it is missing, and does not count. */
static inline enum status add_row(struct row_folder *f, size_t i, const struct simd_numbers *x,
				  const struct simd_numbers *times, unsigned row,
				  struct partial *out, bool *adds)
{
	const struct plan_window *window = &f->plan->windows[i];
	struct window_place at = {.window = window};
	struct window_fold *w = &out->windows[i];
	struct recent_value v, time;

	TRY(x ? row_number_value(&f->block, window->column, x, row, &f->scratch, &v)
	      : row_text_value(&f->block, window->column, row, window->kind == NEW_FILL_DOWN,
			       &f->scratch, &v));
	if (times)
		TRY(row_number_value(&f->block, f->plan->over, times, row, &f->time_scratch,
				     &time));
	*adds = times ? time.kind != RECENT_NONE
		      : v.kind != RECENT_NONE || !new_column_has(window->kind, NEW_SKIPS_MISSING);
	if (f->plan->nkeys > 0) {
		at.folds = &out->groups->windows;
		at.w = group_window(f->groups.groups[row], window);
		if (times)
			raise_scale(at.w, &v); /* also of a record that has no time */
	}
	if (!*adds)
		return STATUS_OK;
	if (at.w && times)
		TRY(group_window_fold(&at, &w));
	if (i == f->plan->first_timed)
		TRY(note_time(f, w, &time, row, out));
	return at.w ? group_window_add(&at, &v, &time) : window_add(w, &v, &time);
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

/* What add_row does where it adds a number of the fast path to a group's values in line; else does nothing, and returns false. */
static inline bool put_in_group(struct group_window *w, const struct plan_window *window,
				const struct simd_numbers *x, unsigned row)
{
	const struct recent_value v = {RECENT_NUMBER,
				       .number = {x->significand[row], x->scale[row]}};

	if (!(x->numbers >> row & 1) || !fits_in_line(w, window, &v))
		return false;
	raise_scale(w, &v);
	put(w, window, &v);
	return true;
}

/* Adds rows to window i. *adds: whether a value of the last one counts. */
static enum status fold_window(struct row_folder *f, size_t i, uint64_t rows, struct partial *out, bool *adds)
{
	const struct plan_window *window = &f->plan->windows[i];
	const struct simd_numbers *x =
		new_column_has(window->kind, NEW_COPIES) ? NULL : row_window_numbers(&f->block, window->column);
	const struct simd_numbers *times =
		window->is_timed ? row_window_numbers(&f->block, f->plan->over) : NULL;
	const bool by_group = f->plan->nkeys > 0;
	struct window_block b;
	bool is_done;

	*adds = false;
	if (!by_group && is_of_last_value(window)) {
		for (; rows && !*adds; rows -= UINT64_C(1) << highest(rows))
			TRY(add_row(f, i, x, NULL, highest(rows), out, adds));
		return STATUS_OK;
	}
	if (!by_group)
		rows = last_rows(rows, plan_window_nbefore(window));
	if (!by_group && times && window_block_read(&b, x, rows, false) &&
	    window_block_read_times(&b, times, rows)) {
		TRY(add_timed_block(f, i, &b, lowest(rows), out, &is_done));
		rows = is_done ? 0 : rows;
	}
	if (!by_group && x && !times &&
	    window_block_read(&b, x, rows, new_column_has(window->kind, NEW_SKIPS_MISSING))) {
		out->windows[i].recent.is_last = window->kind ==
						 NEW_EWMA; /* nobody wants its sum */
		TRY(recent_push_numbers(&out->windows[i].recent, b.significand, b.scale, b.n));
		recent_keep(&out->windows[i].recent, plan_window_nbefore(window));
		return STATUS_OK;
	}
	for (; rows; rows &= rows - 1)
		if (!by_group || !x || times ||
		    !put_in_group(group_window(f->groups.groups[lowest(rows)], window), window, x,
				  lowest(rows)))
			TRY(add_row(f, i, x, times, lowest(rows), out, adds));
	return STATUS_OK;
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
