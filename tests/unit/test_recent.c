/* SPDX-License-Identifier: MIT
 *
 * test_recent.c - queues of the last values (fold/recent.h) against plain arrays: values are pushed, dropped, shared
 * and copied at random among several queues, so that blocks are appended to while others see them.
 */
#include "tap.h"
#include "base/machine.h"
#include "fold/recent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NQUEUES 5
#define NVALUES_MAX 60000
#define NSTEPS 6000

/* A value's number tells all of it: every fifth is none, every seventh a text, the others numbers of two scales. */
struct model {
	uint32_t *ids; /* the first is the oldest */
	size_t n;
};

static struct recent queues[NQUEUES];
static struct model models[NQUEUES];
static uint64_t random_state = 88172645463325252;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static struct recent_value value_of(uint32_t id, char text[64])
{
	struct recent_value v = {.kind = RECENT_NUMBER, .number = {(int64_t)id * 1000003 - 77, id % 1000 == 1 ? 3 : 2}};

	if (id % 5 == 0)
		return (struct recent_value){.kind = RECENT_NONE};
	if (id % 7 != 0 || id / 3000 % 2)
		return v;
	v = (struct recent_value){.kind = RECENT_TEXT, .text = text};
	v.nbytes = id % 3 ? (size_t)snprintf(text, 64, "text %u of some length", id) : 0;
	return v;
}

static bool is_same(const struct recent_value *a, const struct recent_value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == RECENT_TEXT)
		return a->nbytes == b->nbytes && (a->nbytes == 0 || !memcmp(a->text, b->text, a->nbytes));
	return a->kind == RECENT_NONE ||
	       (a->number.significand == b->number.significand && a->number.scale == b->number.scale);
}

/* ---- what a queue holds ---- */

/* A walk over a queue, and over its model. */
struct walk {
	const struct model *model;
	size_t next; /* of the model: the next value, or behind it if back */
	bool back, is_right;
};

static enum status visit(void *context, const struct recent_value *v)
{
	struct walk *w = context;
	char text[64];
	struct recent_value want;

	if (w->back ? w->next == 0 : w->next == w->model->n) {
		w->is_right = false;
		return STATUS_OK;
	}
	want = value_of(w->model->ids[w->back ? --w->next : w->next++], text);
	w->is_right &= is_same(v, &want);
	return STATUS_OK;
}

/* Checks the sum of a piece against the model, and leaves the piece out. */
static bool skip_piece(void *context, const struct recent_sum *sum)
{
	struct walk *w = context;
	struct recent_sum want = {.least = INT64_MAX, .greatest = INT64_MIN};
	char text[64];

	if (sum->nvalues > (w->back ? w->next : w->model->n - w->next))
		return w->is_right = false;
	for (uint64_t i = 0; i < sum->nvalues; i++) {
		struct recent_value v = value_of(w->model->ids[w->back ? --w->next : w->next++], text);
		int64_t x = v.number.significand;
		if (v.kind == RECENT_NONE)
			continue;
		w->is_right &= v.kind == RECENT_NUMBER && v.number.scale == sum->scale;
		want.count++;
		want.sum += x;
		want.least = x < want.least ? x : want.least;
		want.greatest = x > want.greatest ? x : want.greatest;
	}
	w->is_right &= sum->count == want.count && sum->sum == want.sum &&
		       (want.count == 0 || (sum->least == want.least && sum->greatest == want.greatest));
	return true;
}

static bool is_right(int i)
{
	const struct model *m = &models[i];
	struct walk forward = {m, 0, false, true}, pieces = forward, back = {m, m->n, true, true};
	char text[64];
	struct recent_value oldest, want;

	if (queues[i].nvalues != m->n)
		return false;
	recent_each(&queues[i], false, NULL, visit, &forward);
	recent_each(&queues[i], false, skip_piece, visit, &pieces);
	recent_each(&queues[i], true, skip_piece, visit, &back);
	if (m->n == 0)
		return true;
	oldest = recent_oldest(&queues[i]);
	want = value_of(m->ids[0], text);
	return is_same(&oldest, &want) && forward.is_right && pieces.is_right && back.is_right &&
	       forward.next == m->n && pieces.next == m->n && back.next == 0;
}

/* ---- what is done with it ---- */

static void push(int i, uint32_t *next)
{
	char text[64];

	for (uint64_t n = random_below(8) ? random_below(200) : random_below(12000); n > 0; n--) {
		struct recent_value v = value_of(*next, text);
		if (models[i].n == NVALUES_MAX || recent_push(&queues[i], &v) != STATUS_OK)
			return;
		models[i].ids[models[i].n++] = (*next)++;
	}
}

/* Slides the queue over values, as a window does. */
static void slide(int i, uint32_t *next)
{
	char text[64];

	for (uint64_t n = random_below(3000), width = models[i].n; n > 0 && width > 0 && width < 200; n--) {
		struct recent_value v = value_of(*next, text);
		recent_keep(&queues[i], width - 1);
		recent_push(&queues[i], &v);
		memmove(models[i].ids, models[i].ids + 1, (width - 1) * sizeof *models[i].ids);
		models[i].ids[width - 1] = (*next)++;
	}
}

static void keep(int i, size_t n)
{
	struct model *m = &models[i];

	recent_keep(&queues[i], n);
	if (n >= m->n)
		return;
	memmove(m->ids, m->ids + m->n - n, n * sizeof *m->ids);
	m->n = n;
}

static void append(int i, int later)
{
	struct model *m = &models[i];
	const struct model *l = &models[later];

	if (i == later || m->n + l->n > NVALUES_MAX || recent_append(&queues[i], &queues[later]) != STATUS_OK)
		return;
	memcpy(m->ids + m->n, l->ids, l->n * sizeof *l->ids);
	m->n += l->n;
}

static void step(uint32_t *next)
{
	int i = (int)random_below(NQUEUES);

	switch (random_below(10)) {
	case 0:
		recent_clear(&queues[i]);
		models[i].n = 0;
		break;
	case 1: case 2:
		keep(i, (size_t)random_below(models[i].n + 2));
		break;
	case 3: case 4: case 5:
		append(i, (int)random_below(NQUEUES));
		break;
	case 6:
		keep(i, (size_t)random_below(100));
		slide(i, next);
		break;
	default:
		push(i, next);
	}
}

static void test_random(void)
{
	uint32_t next = 1;
	int nwrong = 0;

	for (int i = 0; i < NQUEUES; i++)
		models[i].ids = malloc(NVALUES_MAX * sizeof *models[i].ids);
	for (int k = 0; k < NSTEPS; k++) {
		step(&next);
		for (int i = 0; i < NQUEUES; i++)
			nwrong += k % 16 == 0 && !is_right(i);
	}
	ok(nwrong == 0, "queues that share blocks hold what arrays hold: %d are wrong", nwrong);
	for (int i = 0; i < NQUEUES; i++) {
		recent_free(&queues[i]);
		free(models[i].ids);
	}
	ok(memory_take(memory_limit_nbytes()), "all memory is given back");
	memory_give(memory_limit_nbytes());
}

static void test_limit(void)
{
	struct recent r = {0};
	struct recent_value v = {.kind = RECENT_NUMBER, .number = {1, 0}};
	enum status status = STATUS_OK;
	int n = 0;

	memory_limit_set(2000);
	while (status == STATUS_OK && n++ < 1000)
		status = recent_push(&r, &v);
	ok(status == STATUS_NO_MEMORY && r.nvalues >= 64, "no more values than --memory allows: %d", (int)r.nvalues);
	recent_free(&r);
}

int main(void)
{
	plan(3);
	memory_limit_set((uint64_t)1 << 33);
	test_random();
	test_limit();
	return done();
}
