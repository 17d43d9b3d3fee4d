/* SPDX-License-Identifier: MIT
 *
 * recent.h - the last values of a column, in order: what a window that looks back needs of the records
 * before a text.
 *
 * Values lie in blocks that are only ever appended to. A queue of values is a list of pieces of blocks, so
 * that a copy of a million values, which each chunk gets in its turn of the total chain, is a copy of some
 * hundred addresses. A block is freed with its last piece. Only the queue that made a block appends to it,
 * after all that other queues see of it, so that threads need no lock.
 *
 * Identity: zeroed, or recent_clear. Combine: recent_append(earlier, later), associative; and recent_keep
 * may come before or after it, for the last n of both are the last n of the last n of each.
 */
#pragma once

#include "base/status.h"
#include "number/decimal.h"
#include "number/exact.h"

enum recent_kind {
	RECENT_NONE,   /* no value */
	RECENT_NUMBER, /* one of the fast path */
	RECENT_TEXT,   /* any other: text[0 .. nbytes), fewer than 2^32 */
};

struct recent_value {
	enum recent_kind kind;
	struct decimal number;
	const char *text; /* not owned; of a queue's value: until the queue changes */
	size_t nbytes;
};

/* Sets *x to a value's number, whose limbs are in the room, or to 0 if there is no value. */
void recent_number(const struct recent_value *v, struct integer *room, struct exact *x);

/* Like recent_compare, for numbers that are not short, or of different scales. */
int recent_compare_any(const struct recent_value *x, const struct recent_value *y);

/* -1, 0 or 1 as the number x is less than, equal to or greater than y. */
static inline int recent_compare(const struct recent_value *x, const struct recent_value *y)
{
	int64_t a = x->number.significand, b = y->number.significand;

	if (x->kind != RECENT_NUMBER || y->kind != RECENT_NUMBER || x->number.scale != y->number.scale)
		return recent_compare_any(x, y);
	return a < b ? -1 : a > b;
}

#define RECENT_SCALE_NONE 255 /* in place of the scale of a value that there is not */
#define RECENT_SCALE_TEXT 254 /* ... and of one that is a text */

/* One allocation. */
struct recent_block {
	unsigned npieces; /* in all queues; atomic */
	uint32_t nvalues, capacity;
	int64_t *significands; /* of a text: offset << 32 | nbytes */
	uint8_t *scales;
	char *text;
	size_t text_nbytes, text_capacity;
	size_t taken_nbytes; /* of the memory limit */
};

/* Values with numbers of one scale: x 10^scale. */
struct recent_sum {
	uint64_t nvalues, count; /* the values, and the numbers among them */
	int scale;
	int128 sum;
	int64_t least, greatest; /* if count > 0 */
};

/* Values [begin, end) of a block. */
struct recent_piece {
	struct recent_block *block;
	uint32_t begin, end;
	bool has_sum;          /* if begin is 0: the values have one, which is */
	struct recent_sum sum;
};

/* A queue of values. All owned, the blocks together with other queues. */
struct recent {
	struct recent_piece *pieces; /* from the first on */
	size_t first, end, capacity;
	uint64_t nvalues;
	bool owns_last; /* the last piece's block may be appended to */
	bool is_last;   /* no other queue takes the values: pushing need not sum them up. The owner's to set. */
};

void recent_free(struct recent *r);

/* Removes all values. Keeps some memory. */
void recent_clear(struct recent *r);

/* Like recent_push, for any value and queue. */
enum status recent_push_any(struct recent *r, const struct recent_value *value);

/* Appends a value; a text is copied. Errors: STATUS_NO_MEMORY, also where --memory is used up. */
static inline enum status recent_push(struct recent *r, const struct recent_value *value)
{
	struct recent_piece *last = r->owns_last ? &r->pieces[r->end - 1] : NULL;
	struct recent_block *b = last ? last->block : NULL;

	if (!b || !r->is_last || b->nvalues == b->capacity || value->kind == RECENT_TEXT)
		return recent_push_any(r, value);
	b->significands[b->nvalues] = value->number.significand;
	b->scales[b->nvalues++] = value->kind == RECENT_NUMBER ? (uint8_t)value->number.scale
							       : RECENT_SCALE_NONE;
	last->has_sum = false;
	last->end++;
	r->nvalues++;
	return STATUS_OK;
}

/* Appends n numbers, significand[i] x 10^-scale[i]; no value where the scale is RECENT_SCALE_NONE. Errors: as above. */
enum status recent_push_numbers(struct recent *r, const int64_t *significand,
				const uint8_t *scale, size_t n);

/* Reads the oldest n values of a queue that has n or more. Returns false if one of them is a text. */
bool recent_read_numbers(const struct recent *r, size_t n, int64_t *significand, uint8_t *scale);

/* Removes the oldest values but n. */
void recent_keep(struct recent *r, uint64_t n);

/* Removes the oldest value, of at least one. */
static inline void recent_drop_oldest(struct recent *r)
{
	struct recent_piece *p = &r->pieces[r->first];

	if (p->end - p->begin <= 1) {
		recent_keep(r, r->nvalues - 1);
		return;
	}
	p->begin++;
	r->nvalues--;
}

/* Appends later's values. later stays as it is. Errors: as above. */
enum status recent_append(struct recent *r, const struct recent *later);

/* The value at a place in a block. */
static inline struct recent_value recent_block_value(const struct recent_block *b, uint32_t at)
{
	const uint64_t bits = (uint64_t)b->significands[at];
	struct recent_value v = {RECENT_NUMBER, {b->significands[at], b->scales[at]}, NULL, 0};

	if (b->scales[at] == RECENT_SCALE_NONE)
		v.kind = RECENT_NONE;
	if (b->scales[at] != RECENT_SCALE_TEXT)
		return v;
	v.kind = RECENT_TEXT;
	v.text = b->text + (bits >> 32);
	v.nbytes = (uint32_t)bits;
	return v;
}

/* The value that came as the k-th, from 0 on, of those that are there. */
static inline struct recent_value recent_at(const struct recent *r, uint64_t k)
{
	const struct recent_piece *p = &r->pieces[r->first];

	for (; k >= p->end - p->begin; p++)
		k -= p->end - p->begin;
	return recent_block_value(p->block, p->begin + (uint32_t)k);
}

/* The oldest value, of at least one. */
static inline struct recent_value recent_oldest(const struct recent *r)
{
	return recent_at(r, 0);
}

/* The latest one. */
static inline struct recent_value recent_latest(const struct recent *r)
{
	const struct recent_piece *p = &r->pieces[r->end - 1];

	return recent_block_value(p->block, p->end - 1);
}

/* Returns how many values the oldest piece of a queue that has values has, and sets *last to the last of them. */
static inline uint64_t recent_first_piece(const struct recent *r, struct recent_value *last)
{
	const struct recent_piece *p = &r->pieces[r->first];

	while (p->begin == p->end)
		p++;
	*last = recent_block_value(p->block, p->end - 1);
	return p->end - p->begin;
}

typedef enum status (*recent_visitor)(void *context, const struct recent_value *value);

/* Called with the sum of a piece; returns whether that suffices, so that the piece's values are left out. */
typedef bool (*recent_skipper)(void *context, const struct recent_sum *sum);

/* Calls visit for each value, from the oldest on or from the latest back, up to one that fails; before, skip for each piece that
 * has a sum, unless it is NULL. */
enum status recent_each(const struct recent *r, bool back, recent_skipper skip, recent_visitor visit, void *context);
