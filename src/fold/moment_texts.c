/* SPDX-License-Identifier: MIT
 *
 * moment_texts.c - see texts.h.
 */
#include <stdlib.h>

#include "fold/moment.h"
#include "fold/texts.h"

#define KEPT_NBYTES_MAX 4096 /* that an empty copy may have allocated */

/* ---- a copy of a value ---- */

static struct text_at kept_text_at(const struct kept_text *k)
{
	struct text_at x = {kept_text_bytes(k), k->nbytes, 0};
	char first[8] = {0};

	memcpy(first, x.text, x.nbytes < sizeof first ? x.nbytes : sizeof first);
	x.key = text_key(first, x.nbytes);
	return x;
}

/* Makes room for nbytes; what k held is lost. */
static enum status reserve(struct kept_text *k, uint32_t nbytes)
{
	char *grown;

	if (nbytes <= (k->capacity ? k->capacity : KEPT_NBYTES_INSIDE))
		return STATUS_OK;
	grown = realloc(k->capacity ? k->far : NULL, nbytes);
	NEED(grown);
	k->far = grown;
	k->capacity = nbytes;
	return STATUS_OK;
}

static enum status keep(struct kept_text *k, const struct text_at *x)
{
	if (x->text == kept_text_bytes(k))
		return STATUS_OK;
	TRY(reserve(k, x->nbytes));
	memcpy(k->capacity ? k->far : k->inside, x->text, x->nbytes);
	k->nbytes = x->nbytes;
	return STATUS_OK;
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

void text_run_begin(struct text_run *run, const struct texts *t)
{
	*run = (struct text_run){.count = t->count, .has_other = t->has_other,
				 .has_time = t->has_time, .shortest = UINT32_MAX,
				 .least = {NULL, 0, UINT64_MAX}};
	if (t->count == 0)
		return;
	run->shortest = t->shortest;
	run->longest = t->longest;
	run->least = kept_text_at(&t->least);
	run->greatest = kept_text_at(&t->greatest);
}

enum status text_run_end(const struct text_run *run, struct texts *t)
{
	if (run->count == t->count)
		return STATUS_OK;
	if (keep(&t->least, &run->least) != STATUS_OK ||
	    keep(&t->greatest, &run->greatest) != STATUS_OK)
		return STATUS_NO_MEMORY;
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
	struct text_at x = {text, (uint32_t)nbytes, 0};
	char first[8] = {0};

	memcpy(first, text, nbytes < sizeof first ? nbytes : sizeof first);
	x.key = text_key(first, x.nbytes);
	text_run_begin(&run, t);
	text_run_take(&run, &x);
	return text_run_end(&run, t);
}

/* ---- the moment ---- */

/* Frees the copy's memory if it is large: one long value in a column is no reason for the next. */
static void empty(struct kept_text *k)
{
	if (k->capacity <= KEPT_NBYTES_MAX)
		return;
	free(k->far);
	k->capacity = 0;
}

static void texts_clear(void *cell)
{
	struct texts *t = cell;

	empty(&t->least);
	empty(&t->greatest);
	t->count = 0;
	t->has_other = t->has_time = false;
}

static enum status texts_combine(void *cell, void *later_cell)
{
	struct text_run run, later;

	text_run_begin(&run, cell);
	text_run_begin(&later, later_cell);
	text_run_combine(&run, &later);
	return text_run_end(&run, cell);
}

static void texts_free(void *cell)
{
	struct texts *t = cell;

	if (t->least.capacity)
		free(t->least.far);
	if (t->greatest.capacity)
		free(t->greatest.far);
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
	struct text_at x = {.nbytes = 0};
	size_t nbytes;

	if (!j->reads) {
		json_put_string(j, kept_text_bytes(kept), kept->nbytes);
		return;
	}
	x.text = json_get_string(j, &nbytes);
	x.nbytes = (uint32_t)nbytes;
	if (nbytes > UINT32_MAX)
		json_fail(j, STATUS_DAMAGED);
	else if (x.text && keep(kept, &x) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

static void texts_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct texts now;

	(void)source;
	memset(&now, 0, sizeof now);
	if (!j->reads && ((struct texts *)cell)->count)
		now = *(struct texts *)cell;
	now.has_time = now.has_time && !now.has_other;
	json_mark(j, "[");
	json_number(j, &now.count);
	length_text(json_next(j), &now.shortest);
	length_text(json_next(j), &now.longest);
	kept_text_text(json_next(j), &now.least);
	kept_text_text(json_next(j), &now.greatest);
	json_bool(json_next(j), &now.has_other);
	json_bool(json_next(j), &now.has_time);
	json_mark(j, "]");
	if (!j->reads)
		return;
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
