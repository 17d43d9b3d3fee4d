/* SPDX-License-Identifier: MIT
 *
 * moment_texts.c - see texts.h.
 */
#include <stdlib.h>

#include "fold/moment.h"
#include "fold/texts.h"

/* ---- a value that is kept ---- */

enum status kept_text_copy(struct kept_text *to, const struct kept_text *from, struct key_arena *arena)
{
	size_t room = to->nbytes == KEPT_LONG ? to->room_nbytes : 0;
	void *at = room ? to->at : NULL;

	if (from->nbytes == KEPT_LONG && room < from->long_nbytes) {
		for (room = 2 * KEPT_NBYTES; room < from->long_nbytes; room *= 2)
			continue; /* so that what is left of places that became too short is never more than what is used */
		room = room < UINT32_MAX ? room : UINT32_MAX;
		if (arena)
			TRY(key_arena_take(arena, room, &at));
		else
			NEED(at = realloc(at, room));
	} else if (from->nbytes != KEPT_LONG && !arena) {
		free(at);
	}
	*to = *from;
	if (from->nbytes != KEPT_LONG)
		return STATUS_OK;
	to->room_nbytes = (uint32_t)room;
	to->at = memcpy(at, from->at, from->long_nbytes);
	return STATUS_OK;
}

static void kept_text_free(struct kept_text *k)
{
	if (k->nbytes == KEPT_LONG && k->room_nbytes)
		free(k->at);
}

static enum status keep(struct kept_text *k, const struct text_at *x, struct key_arena *arena, bool copies)
{
	struct kept_text one;
	size_t nbytes;

	if (x->text == kept_text_bytes(k, &nbytes))
		return STATUS_OK;
	kept_text_set(&one, x->key, x->text, x->nbytes, false);
	if (copies)
		return kept_text_copy(k, &one, arena);
	*k = one;
	return STATUS_OK;
}

/* A value of which no more than its bytes can be read. */
static struct text_at text_at(const char *text, size_t nbytes)
{
	char first[8] = {0};

	memcpy(first, text, nbytes < sizeof first ? nbytes : sizeof first);
	return (struct text_at){text, (uint32_t)nbytes, text_key(first, (uint32_t)nbytes)};
}

/* ---- runs ---- */

/* The order of memcmp, a value before those that it begins. */
static int compare(const struct text_at *a, const struct text_at *b)
{
	int order;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	order = memcmp(a->text, b->text, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);
	return order ? order : (a->nbytes > b->nbytes) - (a->nbytes < b->nbytes);
}

void text_run_lower(struct text_run *run, const struct text_at *x)
{
	if (!run->least.text || compare(x, &run->least) < 0)
		run->least = *x;
}

void text_run_raise(struct text_run *run, const struct text_at *x)
{
	if (!run->greatest.text || compare(x, &run->greatest) > 0)
		run->greatest = *x;
}

enum status text_run_end(const struct text_run *run, struct texts *t, struct key_arena *arena, bool copies)
{
	if (run->count == t->count)
		return STATUS_OK;
	TRY(keep(&t->least, &run->least, arena, copies));
	TRY(keep(&t->greatest, &run->greatest, arena, copies));
	t->count = run->count;
	t->shortest = run->shortest;
	t->longest = run->longest;
	t->has_other = run->has_other;
	t->has_time = run->has_time;
	return STATUS_OK;
}

void text_run_combine(struct text_run *run, const struct text_run *later)
{
	if (later->count == 0)
		return;
	run->count += later->count;
	run->shortest = later->shortest < run->shortest ? later->shortest : run->shortest;
	run->longest = later->longest > run->longest ? later->longest : run->longest;
	run->has_other |= later->has_other;
	run->has_time |= later->has_time;
	text_run_lower(run, &later->least);
	text_run_raise(run, &later->greatest);
}

void text_run_take(struct text_run *run, const struct text_at *x)
{
	const struct text_run one = {.count = 1, .shortest = x->nbytes, .longest = x->nbytes, .least = *x, .greatest = *x};

	text_run_combine(run, &one);
	if (!run->has_other)
		text_run_note_date(run, time_form_of(x->text, x->nbytes));
}

enum status texts_add(struct texts *t, const char *text, size_t nbytes)
{
	struct text_run run;
	const struct text_at x = text_at(text, nbytes);

	text_run_begin(&run, t);
	text_run_take(&run, &x);
	return text_run_end(&run, t, NULL, true);
}

/* ---- the moment ---- */

static void texts_free(void *cell)
{
	struct texts *t = cell;

	kept_text_free(&t->least);
	kept_text_free(&t->greatest);
}

static void texts_clear(void *cell)
{
	texts_free(cell);
	memset(cell, 0, sizeof(struct texts));
}

static enum status texts_combine(void *cell, void *later_cell)
{
	struct text_run run, later;

	text_run_begin(&run, cell);
	text_run_begin(&later, later_cell);
	text_run_combine(&run, &later);
	return text_run_end(&run, cell, NULL, true);
}

/* ---- text: [count,shortest,longest,smallest,largest,has_other,has_time]; after another value, nobody looks for times:
 * whether one was seen depends on the chunks ---- */

static bool texts_is_empty(const void *cell)
{
	return ((const struct texts *)cell)->count == 0;
}

static void length_text(struct json_text *j, uint32_t *length)
{
	uint64_t number = *length;

	json_number(j, &number);
	if (number > UINT32_MAX)
		json_fail(j, STATUS_DAMAGED);
	*length = (uint32_t)number;
}

static void kept_text_text(struct json_text *j, struct kept_text *kept)
{
	size_t nbytes;
	const char *text;
	struct text_at x;

	if (!j->reads) {
		text = kept_text_bytes(kept, &nbytes);
		json_put_string(j, text, nbytes);
		return;
	}
	text = json_get_string(j, &nbytes);
	if (nbytes > UINT32_MAX)
		json_fail(j, STATUS_DAMAGED);
	if (!text || j->status != STATUS_OK)
		return;
	x = text_at(text, nbytes);
	if (keep(kept, &x, NULL, true) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

static void texts_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct texts now;
	uint64_t count;
	bool has_other, has_time;

	(void)source;
	memset(&now, 0, sizeof now);
	if (!j->reads && ((struct texts *)cell)->count)
		now = *(struct texts *)cell;
	count = now.count;
	has_other = now.has_other;
	has_time = now.has_time && !now.has_other;
	json_mark(j, "[");
	json_number(j, &count);
	length_text(json_next(j), &now.shortest);
	length_text(json_next(j), &now.longest);
	kept_text_text(json_next(j), &now.least);
	kept_text_text(json_next(j), &now.greatest);
	json_bool(json_next(j), &has_other);
	json_bool(json_next(j), &has_time);
	json_mark(j, "]");
	if (!j->reads)
		return;
	now.count = count;
	now.has_other = has_other;
	now.has_time = has_time;
	if (j->status == STATUS_OK && texts_combine(cell, &now) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
	texts_free(&now);
}

const struct moment_ops moment_texts = {
	.moment = MOMENT_TEXTS,
	.cell_nbytes = sizeof(struct texts),
	.clear = texts_clear,
	.combine = texts_combine,
	.free = texts_free,
	.is_empty = texts_is_empty,
	.text = texts_text,
};
