/* SPDX-License-Identifier: MIT
 *
 * window.c - see window.h.
 */
#include "fold/window.h"

#include <string.h>

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
	recent_each(&w->recent, weigh_next, w);
	recent_clear(&w->recent);
	if (later->mean.is_set) /* w has no record: later is the fold from the first one on */
		w->mean = later->mean;
	return recent_each(&later->recent, weigh_next, w);
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
