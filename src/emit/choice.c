/* SPDX-License-Identifier: MIT
 *
 * choice.c - see choice.h. Records gather until there are a quarter more than are printed; then the keys' N-th
 * least is found, and what lies above it is dropped: a few operations a record that was gathered.
 */
#include "emit/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"

#define GATHERED_LEAST 4096
#define WRITE_NBYTES (1 << 20)

/* ---- keys ---- */

static uint64_t splitmix(uint64_t seed, uint64_t number)
{
	uint64_t x = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t choice_key(const struct choice *c, uint64_t number)
{
	return c->kind == CHOICE_LAST ? ~number : splitmix(c->seed, number);
}

/* ---- all records ---- */

void choice_init(struct choice *c, enum choice_kind kind, uint64_t nmost, uint64_t seed)
{
	*c = (struct choice){.kind = kind, .nmost = nmost, .seed = seed, .bound = UINT64_MAX};
	pthread_mutex_init(&c->lock, NULL);
}

void choice_free(struct choice *c)
{
	if (c->nmost == 0)
		return;
	free(c->records);
	text_free(&c->text);
	memory_give(c->ntaken);
	pthread_mutex_destroy(&c->lock);
	memset(c, 0, sizeof *c);
}

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t x = *a;

	*a = *b;
	*b = x;
}

/* Moves keys[*i .. *j] so that those before *i are at most the pivot, and those behind *j at least; *j may
 * become -1. The range holds the pivot. */
static void split_keys(uint64_t *keys, uint64_t pivot, ptrdiff_t *i, ptrdiff_t *j)
{
	while (*i <= *j) {
		for (; keys[*i] < pivot; ++*i)
			;
		for (; keys[*j] > pivot; --*j)
			;
		if (*i <= *j)
			swap(&keys[(*i)++], &keys[(*j)--]);
	}
}

static uint64_t median_of_three(uint64_t a, uint64_t b, uint64_t c)
{
	if (b < a)
		swap(&a, &b);
	return c < a ? a : c < b ? c : b;
}

/* The k-th least of n different keys, from 0 on; reorders them. Quickselect: Hoare, Algorithm 65: Find,
 * CACM 4(7), 1961. */
static uint64_t select_key(uint64_t *keys, size_t n, size_t nth)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, k = (ptrdiff_t)nth;

	while (low < high) {
		ptrdiff_t i = low, j = high;
		split_keys(keys, median_of_three(keys[low], keys[low + (high - low) / 2], keys[high]), &i, &j);
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return keys[k];
}

/* Drops the records above the bound. Their texts lie one behind the other in the records' order. */
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
	if (!keys)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < c->nrecords; i++)
		keys[i] = c->records[i].key;
	c->bound = select_key(keys, c->nrecords, c->nmost - 1);
	free(keys);
	drop_others(c);
	return STATUS_OK;
}

/* Makes room for nrecords more with nbytes of text, within the memory limit. */
static enum status reserve(struct choice *c, size_t nrecords, size_t nbytes)
{
	size_t had = c->text.capacity, capacity = 2 * c->capacity + nrecords;
	uint64_t needs = c->text.nbytes + nbytes > had ? had + nbytes : 0;
	struct chosen_record *grown;

	if (c->nrecords + nrecords > c->capacity)
		needs += (capacity - c->capacity) * sizeof *grown;
	if (!memory_take(needs))
		return STATUS_NO_MEMORY;
	c->ntaken += needs;
	TRY(text_reserve(&c->text, nbytes));
	if (c->nrecords + nrecords <= c->capacity)
		return STATUS_OK;
	grown = realloc(c->records, capacity * sizeof *grown);
	if (!grown)
		return STATUS_NO_MEMORY;
	c->records = grown;
	c->capacity = capacity;
	return STATUS_OK;
}

static void take(struct choice *c, const struct chosen_record *from, const char *text)
{
	struct chosen_record *to = &c->records[c->nrecords++];

	*to = *from;
	to->begin = c->text.nbytes;
	memcpy(c->text.data + to->begin, text + from->begin, from->nbytes);
	c->text.nbytes += from->nbytes;
}

static enum status add(struct choice *c, const struct chosen_record *records, size_t nrecords, const char *text)
{
	uint64_t enough = c->nmost + c->nmost / 4;
	size_t nbytes = 0;

	for (size_t i = 0; i < nrecords; i++)
		nbytes += records[i].nbytes;
	TRY(reserve(c, nrecords, nbytes));
	for (size_t i = 0; i < nrecords; i++)
		take(c, &records[i], text);
	if (c->nrecords < GATHERED_LEAST || c->nrecords < enough)
		return STATUS_OK;
	return narrow(c);
}

enum status choice_add(struct choice *c, const struct chosen_record *records, size_t nrecords, const char *text)
{
	enum status status;

	pthread_mutex_lock(&c->lock);
	status = add(c, records, nrecords, text);
	pthread_mutex_unlock(&c->lock);
	return status;
}

/* ---- printing ---- */

static int compare_numbers(const void *a, const void *b)
{
	const struct chosen_record *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Appends the record to out. The last one of all is printed as it is, with a line end or without. */
static enum status append(const struct choice *c, size_t i, struct text_buffer *out)
{
	const struct chosen_record *r = &c->records[i];

	TRY(text_reserve(out, r->nbytes));
	memcpy(out->data + out->nbytes, c->text.data + r->begin, r->nbytes);
	out->nbytes += r->nbytes;
	if (i + 1 == c->nrecords && r->lacks_end) {
		out->nbytes--;
		out->in_line = true;
	}
	return STATUS_OK;
}

enum status choice_write(struct choice *c, struct writer *writer, struct fault *fault)
{
	struct text_buffer out = {0};
	enum status status = narrow(c);

	if (c->nrecords > 0)
		qsort(c->records, c->nrecords, sizeof *c->records, compare_numbers);
	for (size_t i = 0; status == STATUS_OK && i < c->nrecords; i++) {
		status = append(c, i, &out);
		if (status != STATUS_OK || (out.nbytes < WRITE_NBYTES && i + 1 < c->nrecords))
			continue;
		status = writer_write(writer, &out, fault);
		out.nbytes = 0;
		if (status != STATUS_OK)
			break; /* fault is set */
	}
	if (status == STATUS_NO_MEMORY)
		fault_set(fault, status, 0, NULL);
	text_free(&out);
	return status;
}
