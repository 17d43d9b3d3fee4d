/* SPDX-License-Identifier: MIT
 *
 * group_tuples.h - records on their way to their groups, where groups are many.
 *
 * Where most records of a chunk have a group of their own, a table for the chunk is a table too many: each of its groups
 * would be made, found once, and added to the store's. There a chunk makes a tuple of each record whose values are plain: its
 * key, its place, and what its columns' cells are made of. Tuples wait with the part of the store that their groups are in.
 * When many do, they are folded: a block at a time, a column at a time, into slots and cells that fit in a second-level
 * cache up to some million groups. Numbers and texts that groups keep are made tuples where a chunk has many groups, or many distinct
 * texts; until they prove too many for a thread, its own groups take them.
 *
 * A tuple has plan->tuple_nbytes: a struct group_tuple with a code for each column that has a cell, then, at the column's
 * tuple_offset, its number's significand (8 bytes) or, if group_keeps_quotients, a struct tuple_quotient, and, where
 * group_wants_texts, its value as a struct tuple_text. Tuples come in any order: a group's first record, and its first and last
 * values, are known by their places.
 */
#pragma once

#include "base/status.h"
#include "fold/group.h"
#include "fold/key.h"
#include "fold/key_memory.h"
#include "query/plan.h"

struct groups;

#define GROUPS_PART_BITS 8 /* the highest of a hash, which give the part of the store (groups.h) */
#define TUPLE_PLACE_BITS 48
#define TUPLE_PLACES ((uint64_t)1 << TUPLE_PLACE_BITS)

struct group_tuple {
	struct key key; /* the bytes of a long one: in the text that is folded, or in texts of the tuples */
	union {
		uint64_t place;   /* the record's offset in the input, in its lowest TUPLE_PLACE_BITS bits */
		uint8_t bytes[8]; /* codes begin after these bits, and may go on after this struct */
	};
};

/* Tuples of one plan: a chunk's, or those that wait. Zeroed: none. All owned. */
struct group_tuples {
	char *data; /* n of them, room for more */
	size_t n, room;
	uint8_t *parts; /* of each, where they are made; NULL: they wait with one, and count towards --memory */
	struct key_arena texts;
};

/* Sets the plan's tuple_nbytes, and its columns' places in a tuple, if its records can be tuples: cells keep all of them. */
void group_tuples_plan(struct plan *plan);

/* Makes room for n more in a chunk's. Errors: STATUS_NO_MEMORY. */
enum status group_tuples_reserve(struct group_tuples *t, const struct plan *plan, size_t n);

/* Adds a tuple, for which there is room, to a chunk's. place: the record's. copies: the bytes of a long key. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status group_tuples_add(struct group_tuples *t, const struct plan *plan, const struct key *key, uint64_t hash, uint64_t place,
			     bool copies);

/* Returns the rows among `rows` whose values of a column fit in a tuple. */
uint64_t group_tuples_fit(const struct plan_column *column, const struct group_vector *v, uint64_t rows);

/* Writes these values to a chunk's tuples from number `first` on, with copies of long texts that are computed. Errors: as above. */
enum status group_tuples_put(struct group_tuples *t, const struct plan *plan, const struct plan_column *column,
			     const struct group_vector *v, uint64_t rows, size_t first);

/* Adds n tuples of `from`, those with the numbers `at`, to those that wait with a part of the store, with copies of what they
 * point to. Where they become many, they are folded. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_tuples_wait(struct groups *part, const struct group_tuples *from, const uint32_t *at, size_t n);

/* Folds tuples into groups, and removes them: a chunk's, or those that wait with a part. Errors: as above. */
enum status group_tuples_fold(struct groups *to, struct group_tuples *t);

void group_tuples_free(struct group_tuples *t, const struct plan *plan);
