/* SPDX-License-Identifier: MIT
 *
 * window_extremes.c - see window_extremes.h.
 */
#include "emit/window_extremes.h"

#include <stdlib.h>
#include <string.h>

static struct extreme *at(const struct window_extremes *e, size_t i)
{
	return &e->queue[(e->first + i) & (e->capacity - 1)];
}

static void drop_last(struct window_extremes *e)
{
	free((char *)at(e, --e->n)->value.text);
}

void window_extremes_clear(struct window_extremes *e)
{
	while (e->n > 0)
		drop_last(e);
	e->first = 0;
	e->nvalues = 0;
}

void window_extremes_free(struct window_extremes *e)
{
	window_extremes_clear(e);
	free(e->queue);
	memset(e, 0, sizeof *e);
}

static enum status grow(struct window_extremes *e)
{
	size_t capacity = e->capacity ? 2 * e->capacity : 8;
	struct extreme *grown = malloc(capacity * sizeof *grown);

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

/* ---- values ---- */

/* Copies a value, and its text. */
static enum status set(struct recent_value *x, const struct recent_value *value)
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

enum status window_extremes_add(struct window_extremes *e, bool wants_max, const struct recent_value *value)
{
	struct extreme x = {.at = e->nvalues++};

	if (value->kind == RECENT_NONE)
		return STATUS_OK;
	if (set(&x.value, value) != STATUS_OK)
		return STATUS_NO_MEMORY;
	while (e->n > 0) {
		int order = recent_compare(&at(e, e->n - 1)->value, &x.value);
		if (wants_max ? order > 0 : order < 0)
			break;
		drop_last(e);
	}
	if (e->n == e->capacity && grow(e) != STATUS_OK) {
		free((char *)x.value.text);
		return STATUS_NO_MEMORY;
	}
	*at(e, e->n++) = x;
	return STATUS_OK;
}

/* ---- the begin ---- */

/* Values that are added from the latest back to the oldest. */
struct beginning {
	struct window_extremes *e;
	bool wants_max;
	uint64_t nleft; /* of the values */
};

/* Whether a number that came before the first of the queue is an extreme, too: it is beyond that one. */
static bool is_beyond(const struct beginning *b, const struct recent_value *x)
{
	int order = b->e->n ? recent_compare(x, &at(b->e, 0)->value) : 0;

	return b->e->n == 0 || (b->wants_max ? order > 0 : order < 0);
}

static bool skip_piece(void *context, const struct recent_sum *some)
{
	struct beginning *b = context;
	struct recent_value x = {RECENT_NUMBER, .number = {b->wants_max ? some->greatest : some->least, some->scale}};

	if (some->count > 0 && is_beyond(b, &x))
		return false;
	b->nleft -= some->nvalues;
	return true;
}

static enum status add_before(void *context, const struct recent_value *value)
{
	struct beginning *b = context;
	struct window_extremes *e = b->e;
	struct extreme x = {.at = --b->nleft};

	if (value->kind == RECENT_NONE || !is_beyond(b, value))
		return STATUS_OK;
	if (e->n == e->capacity && grow(e) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (set(&x.value, value) != STATUS_OK)
		return STATUS_NO_MEMORY;
	e->first = (e->first - 1) & (e->capacity - 1);
	e->n++;
	*at(e, 0) = x;
	return STATUS_OK;
}

enum status window_extremes_begin(struct window_extremes *e, bool wants_max, const struct recent *r)
{
	struct beginning b = {e, wants_max, r->nvalues};

	window_extremes_clear(e);
	e->nvalues = r->nvalues;
	return recent_each_back(r, skip_piece, add_before, &b);
}

void window_extremes_keep(struct window_extremes *e, uint64_t n)
{
	while (e->n > 0 && e->nvalues - at(e, 0)->at > n) {
		free((char *)at(e, 0)->value.text);
		e->first = (e->first + 1) & (e->capacity - 1);
		e->n--;
	}
}

const struct recent_value *window_extremes_get(const struct window_extremes *e)
{
	return e->n ? &at(e, 0)->value : NULL;
}
