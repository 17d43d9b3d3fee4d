/* SPDX-License-Identifier: MIT
 *
 * choice.c - see choice.h. Records gather until there are a quarter more than are printed; then the keys' N-th
 * least is found, and what lies above it is dropped: a few operations a record that was gathered.
 */
#include "emit/choice.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "io/output.h"

#define PLACED uint64_t
#define PLACED_NAME(name) name##_key
#include "fold/put_in_place.h"
#undef PLACED
#undef PLACED_NAME

#define GATHERED_LEAST 4096
#define WRITE_NBYTES (1 << 20)

struct choice {
	enum choice_kind kind;
	uint64_t nmost, seed;  /* N, and of a sample */
	_Atomic uint64_t bound;
	pthread_mutex_t lock;  /* guards all below */
	struct chosen_record *records; /* owned */
	size_t nrecords, capacity;
	struct text_buffer text; /* of all of them, one after the other */
	uint64_t ntaken;       /* bytes of the memory limit */
};

/* ---- keys ---- */

static uint64_t splitmix(uint64_t seed, uint64_t number)
{
	uint64_t x = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t choice_key(const struct choice *c, uint64_t number)
{
	return c->kind == CHOICE_LAST ? ~number : splitmix(c->seed, number);
}

/* ---- all records ---- */

struct choice *choice_new(enum choice_kind kind, uint64_t nmost, uint64_t seed)
{
	struct choice *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	*c = (struct choice){.kind = kind, .nmost = nmost, .seed = seed, .bound = UINT64_MAX};
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void choice_free(struct choice *c)
{
	if (!c)
		return;
	free(c->records);
	text_free(&c->text);
	memory_give(c->ntaken);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Drops the records above the bound. Their texts lie one after the other in the records' order. */
static void drop_others(struct choice *c)
{
	size_t n = 0, nbytes = 0;

	for (size_t i = 0; i < c->nrecords; i++) {
		struct chosen_record *r = &c->records[i];
		if (r->key > c->bound)
			continue;
		memmove(c->text.data + nbytes, c->text.data + r->begin, r->nbytes);
		r->begin = nbytes;
		nbytes += r->nbytes;
		c->records[n++] = *r;
	}
	c->nrecords = n;
	c->text.nbytes = nbytes;
}

/* Lowers the bound to the N-th least key. */
static enum status narrow(struct choice *c)
{
	uint64_t *keys;

	if (c->nrecords <= c->nmost)
		return STATUS_OK;
	keys = malloc(c->nrecords * sizeof *keys);
	NEED(keys);
	for (size_t i = 0; i < c->nrecords; i++)
		keys[i] = c->records[i].key;
	put_in_place_key(keys, 0, (ptrdiff_t)c->nrecords - 1, (ptrdiff_t)c->nmost - 1);
	c->bound = keys[c->nmost - 1];
	free(keys);
	drop_others(c);
	return STATUS_OK;
}

/* Makes room for nrecords more with nbytes of text, within the memory limit. */
static enum status reserve(struct choice *c, size_t nrecords, size_t nbytes)
{
	size_t had = c->text.capacity, grown = c->nrecords + nrecords > c->capacity ? c->capacity + nrecords : 0;
	uint64_t needs = (c->text.nbytes + nbytes > had ? had + nbytes : 0) + grown * sizeof *c->records;

	NEED(memory_take(needs));
	c->ntaken += needs;
	TRY(text_reserve(&c->text, nbytes));
	return ARRAY_GROW(c->records, c->capacity, c->nrecords + nrecords);
}

/* Takes over copies of a thread's records, which lie in text one after the other, first to last. */
static enum status add(struct choice *c, const struct chosen_record *records, size_t nrecords, const char *text)
{
	uint64_t enough = c->nmost + c->nmost / 4;
	size_t nbytes = 0;

	for (size_t i = 0; i < nrecords; i++)
		nbytes += records[i].nbytes;
	TRY(reserve(c, nrecords, nbytes));
	for (size_t i = 0; i < nrecords; i++) {
		struct chosen_record *to = &c->records[c->nrecords++];
		*to = records[i];
		to->begin = c->text.nbytes;
		memcpy(c->text.data + to->begin, text + records[i].begin, to->nbytes);
		c->text.nbytes += to->nbytes;
	}
	return c->nrecords < GATHERED_LEAST || c->nrecords < enough ? STATUS_OK : narrow(c);
}

/* ---- the records of one text ---- */

bool candidates_begin(struct candidates *c, uint64_t before, uint64_t nrecords)
{
	uint64_t nmost = c->choice->nmost, bound = c->choice->bound;

	c->next = c->first = before;
	c->end = before + nrecords;
	if (c->choice->kind == CHOICE_LAST && nrecords > nmost)
		c->first = c->end - nmost;
	c->nrecords = 0;
	for (uint64_t number = c->first; number < c->end; number++)
		if (choice_key(c->choice, number) <= bound)
			return true;
	return false;
}

void candidates_free(struct candidates *c)
{
	free(c->records);
	memset(c, 0, sizeof *c);
}

uint64_t candidates_choose(struct candidates *c, uint64_t rows)
{
	uint64_t chosen = 0, bound = c->choice->bound;

	for (; rows; rows &= rows - 1, c->next++)
		if (c->next >= c->first && choice_key(c->choice, c->next) <= bound)
			chosen |= rows & -rows;
	return chosen;
}

enum status candidates_note(struct candidates *c, uint64_t number, size_t begin, size_t nbytes)
{
	TRY(ARRAY_GROW(c->records, c->capacity, c->nrecords + 1));
	c->records[c->nrecords++] = (struct chosen_record){number, choice_key(c->choice, number), begin, nbytes,
							   c->lacks_end && number + 1 == c->end};
	return STATUS_OK;
}

enum status candidates_offer(struct candidates *c, const char *text)
{
	enum status status = STATUS_OK;

	if (c->nrecords == 0)
		return STATUS_OK;
	pthread_mutex_lock(&c->choice->lock);
	status = add(c->choice, c->records, c->nrecords, text);
	pthread_mutex_unlock(&c->choice->lock);
	return status;
}

/* ---- printing ---- */

enum status choice_write(struct choice *c, struct writer *writer, struct fault *fault)
{
	struct text_buffer out = {0};
	enum status status = narrow(c);

	if (c->nrecords > 0)
		qsort(c->records, c->nrecords, sizeof *c->records, compare_uint64);
	for (size_t i = 0; status == STATUS_OK && i < c->nrecords; i++) {
		const struct chosen_record *r = &c->records[i];
		bool is_last = i + 1 == c->nrecords;
		status = text_reserve(&out, r->nbytes);
		if (status != STATUS_OK)
			break;
		memcpy(out.data + out.nbytes, c->text.data + r->begin, r->nbytes);
		out.in_line = is_last && r->lacks_end; /* the last one of all is printed as it is, with a line end or without */
		out.nbytes += r->nbytes - out.in_line;
		if (out.nbytes < WRITE_NBYTES && !is_last)
			continue;
		status = writer_write(writer, &out, fault);
		out.nbytes = 0;
	}
	if (status == STATUS_NO_MEMORY)
		fault_set(fault, status, 0, NULL);
	text_free(&out);
	return status;
}
