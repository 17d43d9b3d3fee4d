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

struct recent_block;

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

/* Appends a value; a text is copied. Errors: STATUS_NO_MEMORY, also where --memory is used up. */
enum status recent_push(struct recent *r, const struct recent_value *value);

/* Values that have no text, as vectors: significand[i] x 10^-scale[i]; no value where the scale is
 * RECENT_SCALE_NONE. */
#define RECENT_SCALE_NONE 255

/* Appends n of them. Errors: as above. */
enum status recent_push_numbers(struct recent *r, const int64_t *significand,
				const uint8_t *scale, size_t n);

/* Reads the oldest n values of a queue that has n or more. Returns false if one of them is a text. */
bool recent_read_numbers(const struct recent *r, size_t n, int64_t *significand, uint8_t *scale);

/* Removes the oldest values but n. */
void recent_keep(struct recent *r, uint64_t n);

/* Removes the oldest values for which `leaves` is true, up to the first for which it is not: then
 * it is not for all after it. Returns how many these were. */
typedef bool recent_test(const void *context, const struct recent_value *value);
uint64_t recent_drop(struct recent *r, recent_test *leaves, const void *context);

/* Appends later's values. later stays as it is. Errors: as above. */
enum status recent_append(struct recent *r, const struct recent *later);

/* The value that came as the k-th, from 0 on, of those that are there. */
struct recent_value recent_at(const struct recent *r, uint64_t k);

/* The oldest value, of at least one. */
static inline struct recent_value recent_oldest(const struct recent *r)
{
	return recent_at(r, 0);
}

/* The latest one. */
struct recent_value recent_latest(const struct recent *r);

typedef enum status (*recent_visitor)(void *context, const struct recent_value *value);

/* Called with the sum of a piece; returns whether that suffices, so that the piece's values are left out. */
typedef bool (*recent_skipper)(void *context, const struct recent_sum *sum);

/* Calls visit for each value, from the oldest on or from the latest back, up to one that fails; before, skip for each piece that
 * has a sum, unless it is NULL. */
enum status recent_each(const struct recent *r, bool back, recent_skipper skip, recent_visitor visit, void *context);
