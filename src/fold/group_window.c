/* SPDX-License-Identifier: MIT
 *
 * group_window.c - see group_window.h.
 */
#include "fold/group_window.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct group_window) % 8 == 0 && sizeof(struct ewma) % 8 == 0 && GROUP_WINDOW_TEXT_NBYTES % 8 == 0,
	      "groups lie at multiples of 8 bytes");

/* ---- values in line ---- */

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
	enum status status = STATUS_OK;

	if (w->n == GROUP_WINDOW_ELSEWHERE)
		return STATUS_OK;
	if (to->plan->kind == NEW_EWMA && mean_of(w).is_set)
		to->mean = mean_of(w);
	for (unsigned k = 0; k < w->n && status == STATUS_OK; k++) {
		struct recent_value v = group_window_value(w, to->plan, k);
		status = window_add(to, &v);
	}
	return status;
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
	return recent_each(&later->recent, add_next, &a);
}

/* Whether g's window, which is not elsewhere, has room for later's values, which are not. */
static bool has_room(const struct group_window *g, const struct group_window *later, const struct plan_window *window)
{
	return window->kind == NEW_EWMA || window->cell_suffices || g->n + later->n <= window->cell_nvalues;
}

static enum status combine(struct group *g, struct group *later, const struct plan *plan, size_t i)
{
	const struct plan_window *window = &plan->windows[i];
	struct group_window *w = group_window(g, window), *x = group_window(later, window);
	enum status status = STATUS_OK;

	w->scale = x->scale > w->scale ? x->scale : w->scale;
	if (w->n == GROUP_WINDOW_ELSEWHERE || x->n == GROUP_WINDOW_ELSEWHERE || !has_room(w, x, window)) {
		status = group_window_move(g, plan, i);
		return status == STATUS_OK ? group_window_move(later, plan, i) : status;
	}
	if (window->kind == NEW_EWMA && mean_of(x).is_set) {
		struct ewma mean = mean_of(x);
		set_mean(w, &mean);
		w->n = 0;
	}
	for (unsigned k = 0; k < x->n && status == STATUS_OK; k++) {
		struct recent_value v = group_window_value(x, window, k);
		status = group_window_go_on(g, plan, i, &v);
	}
	return status;
}

enum status group_windows_combine(struct group *g, struct group *later, const struct plan *plan)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < plan->nwindows && status == STATUS_OK; i++)
		status = combine(g, later, plan, i);
	return status;
}
