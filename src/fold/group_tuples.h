/* SPDX-License-Identifier: MIT
 *
 * group_tuples.h - records on their way to their groups, where groups are many.
 *
 * Where most records of a chunk have a group of their own, a table for the chunk is a table too many: each of its groups
 * would be made, found once, and added to the store's. There a chunk makes a tuple of each record whose values are plain: its
 * key, its place, and what its columns' cells are made of. Tuples wait with the part of the store that their groups are in.
 * When many do, they are folded: a block at a time, a column at a time, into slots and cells that fit in a second-level
 * cache up to some million groups.
 *
 * A tuple has plan->tuple_nbytes: a struct group_tuple with a code for each column that has a cell, then, at the column's
 * tuple_offset, its number's significand (8 bytes) or, if group_keeps_quotients, a struct tuple_quotient; with MOMENT_ENDS or
 * MOMENT_TEXTS, its value as a struct group_end; with MOMENT_KEYS, as a struct tuple_text. Tuples come in any order: a group's first record, and its first and last
 * values, are known by their places.
 */
#ifndef GPUSTAT_GROUP_TUPLES_H
#define GPUSTAT_GROUP_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/group.h"
#include "fold/key.h"
#include "fold/text_arena.h"
#include "query/plan.h"

struct groups;

#define GROUPS_PART_BITS 8 /* the highest of a hash, which give the part of the store (groups.h) */
#define TUPLE_PLACE_BITS 48
#define TUPLE_PLACES ((uint64_t)1 << TUPLE_PLACE_BITS)

/* The code of a number is its scale; that of a column that does not parse, if it has a value, is 0. */
#define TUPLE_MISSING 255 /* or no value */
#define TUPLE_TEXT 254    /* where texts are no error */
#define TUPLE_QUOTIENT 253 /* a number that was rounded */

struct group_tuple {
	struct key key; /* the bytes of a long one: in the text that is folded, or in key_texts */
	union {
		uint64_t place;   /* the record's offset in the input, in its lowest TUPLE_PLACE_BITS bits */
		uint8_t bytes[8]; /* codes begin behind these bits, and may go on behind this struct */
	};
};

/* A value that is a key among its group's. */
struct tuple_text {
	struct key key; /* as that of the tuple */
	uint64_t first; /* its offset in the input, in bytes */
};

/* A significand, or a number that was rounded. */
struct tuple_quotient {
	union {
		int64_t significand;
		struct {
			int32_t scale;
			bool negative;
		};
	};
	uint64_t magnitude[2]; /* the low half first */
};

/* Tuples of one plan: a chunk's, or those that wait. Zeroed: none. All owned. */
struct group_tuples {
	char *data; /* n of them, room for more */
	size_t n, room;
	uint8_t *parts; /* of each, where they are made; NULL: they wait with one, and count towards --memory */
	struct text_arena key_texts;
};

/* Sets the plan's tuple_nbytes, and its columns' places in a tuple, if its records can be tuples: cells keep all of them. */
void group_tuples_plan(struct plan *plan);

static inline struct group_tuple *group_tuple_at(const struct group_tuples *t, const struct plan *plan, size_t i)
{
	return (struct group_tuple *)(t->data + i * plan->tuple_nbytes);
}

/* The codes of a tuple, by tuple_code of the columns. */
static inline uint8_t *group_tuple_codes(struct group_tuple *t)
{
	return &t->bytes[TUPLE_PLACE_BITS / 8];
}

static inline int64_t *group_tuple_number(struct group_tuple *t, const struct plan_column *column)
{
	return (int64_t *)((char *)t + column->tuple_offset);
}

static inline struct tuple_quotient *group_tuple_quotient(struct group_tuple *t, const struct plan_column *column)
{
	return (struct tuple_quotient *)((char *)t + column->tuple_offset);
}

static inline struct group_end *group_tuple_end(struct group_tuple *t, const struct plan_column *column)
{
	return (struct group_end *)((char *)t + column->tuple_offset + (column->parses ? sizeof(int64_t) : 0));
}

static inline struct tuple_text *group_tuple_text(struct group_tuple *t, const struct plan_column *column)
{
	bool has_end = (column->needs & (MOMENT_ENDS | MOMENT_TEXTS)) != 0;

	return (struct tuple_text *)(void *)(group_tuple_end(t, column) + has_end);
}

/* Makes room for n more in a chunk's. Errors: STATUS_NO_MEMORY. */
enum status group_tuples_reserve(struct group_tuples *t, const struct plan *plan, size_t n);

/* Gives a long key of a tuple its own bytes, in key_texts. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_tuples_copy_key(struct group_tuples *t, struct key *key);

/* Adds n tuples of `from`, those with the numbers `at`, to those that wait with a part of the store, of that number, with copies
 * of what they point to. Where they become many, they are folded. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_tuples_wait(struct groups *part, size_t number, const struct group_tuples *from, const uint32_t *at, size_t n);

/* Folds the tuples that wait with a part into its groups. Errors: as above. */
enum status group_tuples_fold(struct groups *part, size_t number);

void group_tuples_free(struct group_tuples *t, const struct plan *plan);

#endif
