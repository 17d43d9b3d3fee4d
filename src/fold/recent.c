/* SPDX-License-Identifier: MIT
 *
 * recent.c - see recent.h. A value takes 9 bytes: a significand and a scale, or where a text lies in its
 * block. A block has room for about as many values as its queue has by then, since each group may have one.
 */
#include "fold/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"

#define BLOCK_NVALUES_MIN 8
#define BLOCK_NVALUES_MAX 8192
#define BLOCK_TEXT_NBYTES_MAX ((size_t)1 << 20) /* unless one text is longer */
#define LIKELY_TEXT_NBYTES 16 /* that a text is longer than the first one of its block */
#define FEW_NVALUES 512 /* so many are copied, not shared: blocks stay full */
#define VECTORS_NVALUES 512 /* room in the blocks of a queue to which vectors are appended */

void recent_number(const struct recent_value *v, struct integer *room, struct exact *x)
{
	const bool is_short = v->kind == RECENT_NUMBER;

	*x = (struct exact){.value = is_short ? v->number.significand : 0, .scale = is_short ? v->number.scale : 0};
	if (v->kind == RECENT_TEXT)
		exact_parse(v->text, v->nbytes, room, x); /* it is a number */
}

__attribute__((noinline)) int recent_compare_any(const struct recent_value *x, const struct recent_value *y)
{
	struct integer x_room, y_room;
	struct exact a, b;

	recent_number(x, &x_room, &a);
	recent_number(y, &y_room, &b);
	return exact_compare(&a, &b);
}

/* ---- blocks ---- */

static bool is_shared(const struct recent_block *b)
{
	return __atomic_load_n(&b->npieces, __ATOMIC_ACQUIRE) > 1;
}

static void block_release(struct recent_block *b)
{
	if (__atomic_fetch_sub(&b->npieces, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	memory_give(b->taken_nbytes);
	free(b);
}

/* Makes a block for a queue of nvalues, of which the next has a text of nbytes: long texts are not many in most queues. NULL: no memory. */
static struct recent_block *block_new(uint64_t nvalues, size_t nbytes)
{
	struct recent_block b = {.npieces = 1,
				 .capacity = nvalues < BLOCK_NVALUES_MIN   ? BLOCK_NVALUES_MIN
					     : nvalues < BLOCK_NVALUES_MAX ? (uint32_t)nvalues
									   : BLOCK_NVALUES_MAX},
			    *made;

	if (nbytes)
		b.text_capacity = (nvalues < 2 ? 2 : nvalues < b.capacity ? (size_t)nvalues : b.capacity) * (nbytes + LIKELY_TEXT_NBYTES);
	if (b.text_capacity > BLOCK_TEXT_NBYTES_MAX)
		b.text_capacity = nbytes > BLOCK_TEXT_NBYTES_MAX ? nbytes : BLOCK_TEXT_NBYTES_MAX;
	b.taken_nbytes = sizeof b + b.capacity * (sizeof *b.significands + sizeof *b.scales) + b.text_capacity;
	if (!memory_take(b.taken_nbytes))
		return NULL;
	if (!(made = malloc(b.taken_nbytes))) {
		memory_give(b.taken_nbytes);
		return NULL;
	}
	b.significands = (int64_t *)(made + 1);
	b.scales = (uint8_t *)(b.significands + b.capacity);
	b.text = (char *)(b.scales + b.capacity);
	*made = b;
	return made;
}

/* A piece of a block of its own, without values. */
static struct recent_piece piece_of(struct recent_block *b)
{
	return (struct recent_piece){.block = b, .has_sum = true,
				     .sum = {.least = INT64_MAX, .greatest = INT64_MIN}};
}

/* Adds the values from a place in the block on to the sum of their piece. It does not overflow: a
 * block is short, and a number below 10^18. */
static inline void sum_put(struct recent_piece *p, uint32_t begin)
{
	const struct recent_block *b = p->block;
	struct recent_sum *s = &p->sum;

	s->nvalues += b->nvalues - begin;
	for (uint32_t i = begin; i < b->nvalues; i++) {
		int64_t x = b->significands[i];
		if (b->scales[i] == RECENT_SCALE_NONE)
			continue;
		if (s->count++ == 0)
			s->scale = b->scales[i];
		p->has_sum &= b->scales[i] != RECENT_SCALE_TEXT && b->scales[i] == s->scale;
		s->sum += x;
		s->least = x < s->least ? x : s->least;
		s->greatest = x > s->greatest ? x : s->greatest;
	}
}

static void block_put(struct recent_block *b, const struct recent_value *v)
{
	uint32_t at = b->nvalues++;

	b->significands[at] = v->number.significand;
	b->scales[at] = v->kind == RECENT_NUMBER ? (uint8_t)v->number.scale : RECENT_SCALE_NONE;
	if (v->kind != RECENT_TEXT)
		return;
	b->significands[at] = (int64_t)((uint64_t)b->text_nbytes << 32 | v->nbytes);
	b->scales[at] = RECENT_SCALE_TEXT;
	if (v->nbytes)
		memcpy(b->text + b->text_nbytes, v->text, v->nbytes);
	b->text_nbytes += v->nbytes;
}

/* ---- pieces ---- */

void recent_free(struct recent *r)
{
	for (size_t i = r->first; i < r->end; i++)
		block_release(r->pieces[i].block);
	free(r->pieces);
	memset(r, 0, sizeof *r);
}

void recent_clear(struct recent *r)
{
	struct recent_piece *last = r->end > r->first ? &r->pieces[r->end - 1] : NULL;
	bool keeps = last && r->owns_last && !is_shared(last->block);

	for (size_t i = r->first; i < r->end - keeps; i++)
		block_release(r->pieces[i].block);
	r->nvalues = r->first = r->end = 0;
	r->owns_last = keeps;
	if (!keeps)
		return;
	last->block->nvalues = 0;
	last->block->text_nbytes = 0;
	r->pieces[r->end++] = piece_of(last->block);
}

/* Makes room for a piece more. */
static enum status need_piece(struct recent *r)
{
	size_t n = r->end - r->first;

	if (r->end == r->capacity && r->first > n) { /* more room before than is used: each piece is moved once */
		memmove(r->pieces, r->pieces + r->first, n * sizeof *r->pieces);
		r->first = 0;
		r->end = n;
	}
	return ARRAY_GROW(r->pieces, r->capacity, r->end + 1);
}

/* Whether r's last block is its own, and has room for a value more, with a text of nbytes. */
static bool has_room(const struct recent *r, size_t nbytes)
{
	const struct recent_block *b = r->owns_last ? r->pieces[r->end - 1].block : NULL;

	return b && b->nvalues < b->capacity && nbytes <= b->text_capacity - b->text_nbytes;
}

/* Begins a block of r's own, as of a queue of nvalues. */
static __attribute__((noinline)) enum status begin_block(struct recent *r, uint64_t nvalues,
							  size_t nbytes)
{
	struct recent_block *b;

	TRY(need_piece(r));
	NEED(b = block_new(nvalues, nbytes));
	r->pieces[r->end++] = piece_of(b);
	r->owns_last = true;
	return STATUS_OK;
}

/* Takes what was appended to the last block into the queue. */
static inline void put_in_piece(struct recent *r, struct recent_piece *last, uint32_t nvalues)
{
	if (r->is_last)
		last->has_sum = false;
	else
		sum_put(last, last->end);
	last->end += nvalues;
	r->nvalues += nvalues;
}

enum status recent_push_any(struct recent *r, const struct recent_value *value)
{
	size_t nbytes = value->kind == RECENT_TEXT ? value->nbytes : 0;
	struct recent_piece *last;

	if (!has_room(r, nbytes))
		TRY(begin_block(r, r->nvalues, nbytes));
	last = &r->pieces[r->end - 1];
	block_put(last->block, value);
	put_in_piece(r, last, 1);
	return STATUS_OK;
}

enum status recent_push_numbers(struct recent *r, const int64_t *significand,
				const uint8_t *scale, size_t n)
{
	while (n > 0) {
		struct recent_block *b;
		uint32_t room;
		if (!has_room(r, 0))
			TRY(begin_block(r, r->nvalues + VECTORS_NVALUES, 0));
		b = r->pieces[r->end - 1].block;
		room = b->capacity - b->nvalues < n ? b->capacity - b->nvalues : (uint32_t)n;
		memcpy(b->significands + b->nvalues, significand, room * sizeof *significand);
		memcpy(b->scales + b->nvalues, scale, room);
		b->nvalues += room;
		put_in_piece(r, &r->pieces[r->end - 1], room);
		significand += room;
		scale += room;
		n -= room;
	}
	return STATUS_OK;
}

bool recent_read_numbers(const struct recent *r, size_t n, int64_t *significand, uint8_t *scale)
{
	for (const struct recent_piece *p = &r->pieces[r->first]; n > 0; p++) {
		size_t count = p->end - p->begin < n ? p->end - p->begin : n;
		memcpy(significand, p->block->significands + p->begin, count * sizeof *significand);
		memcpy(scale, p->block->scales + p->begin, count);
		if (memchr(scale, RECENT_SCALE_TEXT, count))
			return false;
		significand += count;
		scale += count;
		n -= count;
	}
	return true;
}

void recent_keep(struct recent *r, uint64_t n)
{
	if (n == 0)
		recent_clear(r);
	while (r->nvalues > n) {
		struct recent_piece *p = &r->pieces[r->first];
		uint64_t surplus = r->nvalues - n;
		if (p->end - p->begin > surplus) {
			p->begin += (uint32_t)surplus;
			r->nvalues = n;
			return;
		}
		r->nvalues -= p->end - p->begin;
		block_release(p->block);
		r->first++;
	}
}

/* Shares a piece. */
static enum status add_piece(struct recent *r, struct recent_piece p)
{
	TRY(need_piece(r));
	__atomic_fetch_add(&p.block->npieces, 1, __ATOMIC_RELAXED);
	r->pieces[r->end++] = p;
	r->nvalues += p.end - p.begin;
	r->owns_last = false;
	return STATUS_OK;
}

static enum status copy_piece(struct recent *r, struct recent_piece p)
{
	for (uint32_t i = p.begin; i < p.end; i++) {
		struct recent_value v = recent_block_value(p.block, i);
		TRY(recent_push(r, &v));
	}
	return STATUS_OK;
}

enum status recent_append(struct recent *r, const struct recent *later)
{
	bool shares = r->nvalues == 0 && !r->owns_last; /* a block of its own is used again */
	for (size_t i = later->first; i < later->end; i++) {
		struct recent_piece p = later->pieces[i];
		if (p.begin < p.end)
			TRY(shares || p.end - p.begin > FEW_NVALUES ? add_piece(r, p) : copy_piece(r, p));
	}
	return STATUS_OK;
}

enum status recent_each(const struct recent *r, bool back, recent_skipper skip, recent_visitor visit, void *context)
{
	for (size_t i = r->first; i < r->end; i++) {
		const struct recent_piece *p = &r->pieces[back ? r->end - 1 - (i - r->first) : i];
		uint32_t n = p->end - p->begin;
		if (skip && p->begin == 0 && p->has_sum && skip(context, &p->sum))
			continue;
		for (uint32_t k = 0; k < n; k++) {
			struct recent_value v = recent_block_value(p->block, back ? p->end - 1 - k
										  : p->begin + k);
			TRY(visit(context, &v));
		}
	}
	return STATUS_OK;
}
