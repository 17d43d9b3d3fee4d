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
	if (!grown)
		return STATUS_NO_MEMORY;
	k->far = grown;
	k->capacity = nbytes;
	return STATUS_OK;
}

static enum status keep(struct kept_text *k, const struct text_at *x)
{
	if (x->text == kept_text_bytes(k))
		return STATUS_OK;
	if (reserve(k, x->nbytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
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
		text_run_note_date(run, iso_date_of(x->text, x->nbytes));
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

/* ---- text: [count,shortest,longest,least,greatest,has_other,has_time]; after another value, nobody looks for times:
 * whether one was seen depends on the chunks ---- */

static bool texts_is_empty(const void *cell)
{
	return ((const struct texts *)cell)->count == 0;
}

static void texts_write(const void *cell, struct json_writer *to)
{
	const struct texts *t = cell;
	const uint64_t numbers[] = {t->count, t->count ? t->shortest : 0, t->count ? t->longest : 0};

	for (int i = 0; i < 3; i++) {
		json_put(to, i ? "," : "[");
		json_put_number(to, numbers[i]);
	}
	json_put(to, ",");
	json_put_string(to, kept_text_bytes(&t->least), t->count ? t->least.nbytes : 0);
	json_put(to, ",");
	json_put_string(to, kept_text_bytes(&t->greatest), t->count ? t->greatest.nbytes : 0);
	json_put(to, t->has_other ? ",true" : ",false");
	json_put(to, t->has_time && !t->has_other ? ",true]" : ",false]");
}

static uint32_t read_length(struct json_reader *r)
{
	uint64_t length = json_number(r);

	if (length > UINT32_MAX)
		json_fail(r, STATUS_DAMAGED);
	json_expect(r, ",");
	return (uint32_t)length;
}

static void read_kept(struct json_reader *r, struct kept_text *to)
{
	size_t nbytes;
	const char *text = json_string(r, &nbytes);
	struct text_at x = {text, (uint32_t)nbytes, 0};

	if (text && nbytes > UINT32_MAX)
		json_fail(r, STATUS_DAMAGED);
	else if (text && keep(to, &x) != STATUS_OK)
		json_fail(r, STATUS_NO_MEMORY);
	json_expect(r, ",");
}

static bool read_bool(struct json_reader *r)
{
	bool is = json_try(r, "true");

	if (!is)
		json_expect(r, "false");
	return is;
}

static void texts_read(void *cell, const struct moment_source *from)
{
	struct json_reader *r = from->json;
	struct texts later;

	memset(&later, 0, sizeof later);
	json_expect(r, "[");
	later.count = json_number(r);
	json_expect(r, ",");
	later.shortest = read_length(r);
	later.longest = read_length(r);
	read_kept(r, &later.least);
	read_kept(r, &later.greatest);
	later.has_other = read_bool(r);
	json_expect(r, ",");
	later.has_time = read_bool(r);
	json_expect(r, "]");
	if (r->status == STATUS_OK && texts_combine(cell, &later) != STATUS_OK)
		json_fail(r, STATUS_NO_MEMORY);
	texts_free(&later);
}

const struct moment_ops moment_texts = {
	.moment = MOMENT_TEXTS,
	.cell_nbytes = sizeof(struct texts),
	.clear = texts_clear,
	.combine = texts_combine,
	.free = texts_free,
	.is_empty = texts_is_empty,
	.write = texts_write,
	.read = texts_read,
};
