/* SPDX-License-Identifier: MIT
 *
 * key_table.h - a hash table from byte strings to values of a fixed size.
 *
 * Open addressing with linear probes. A slot is a struct key, 4 in a cache line. The key is compared where it was found, so that a look-up misses the
 * cache once. Values lie in an array beside the
 * slots, at the same index, and cost nothing in a table without values. A key's place is given by the
 * highest bits of its hash, so slots are ordered by hash but for collisions: growth, and adding one
 * table to another, run through both from front to back.
 *
 * The hash comes from the caller, who may divide keys between 2^KEY_PART_BITS tables by its highest
 * bits: a table does not use these.
 */
#pragma once

#include "base/status.h"
#include "fold/key.h"
#include "fold/key_memory.h"

#define KEY_PART_BITS (KEY_LONG_HASH_BITS - KEY_HELD_HASH_BITS)

/* Zeroed: an empty table without values. All owned. */
struct key_table {
	struct key *keys;        /* nslots, a power of 2, or NULL: none; high is 0 where there is no key */
	char *values;      /* nslots x value_nbytes; those of slots without a key are 0 */
	size_t nslots, nkeys, value_nbytes;
	int shift;               /* of a hash without its highest bits, to its place */
	struct key_arena texts; /* the bytes of long keys */
};

static inline size_t key_table_place(const struct key_table *t, uint64_t hash)
{
	return (size_t)(hash << KEY_PART_BITS >> t->shift);
}

/* Fetches the place of a hash into the cache. always_inline: gcc takes a function that does nothing else
 * for one without effect, and removes the call. */
static inline __attribute__((always_inline)) void key_table_prefetch(const struct key_table *t, uint64_t hash)
{
	size_t place;

	if (!t->keys)
		return;
	place = key_table_place(t, hash);
	__builtin_prefetch(&t->keys[place]);
	if (t->value_nbytes)
		__builtin_prefetch(t->values + place * t->value_nbytes);
}

/* Makes room for nkeys keys in all. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status key_table_reserve(struct key_table *t, size_t nkeys, struct key_seed seed);

/* Finds the key, or adds it with a value of 0. The table copies a long key's bytes. *slot: its index,
 * valid until a key is added. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS; the table is then as it was. */
enum status key_table_add(struct key_table *t, const struct key *key, uint64_t hash,
			  struct key_seed seed, size_t *slot);

/* Like key_table_add, for a key that is there already; SIZE_MAX: it is not. */
static inline size_t key_table_find(const struct key_table *t, const struct key *key, uint64_t hash)
{
	if (!t->keys)
		return SIZE_MAX;
	for (size_t i = key_table_place(t, hash);; i = (i + 1) & (t->nslots - 1)) {
		if (key_equals(&t->keys[i], key))
			return i;
		if (t->keys[i].high == 0)
			return SIZE_MAX;
	}
}

static inline void *key_table_value(const struct key_table *t, size_t slot)
{
	return t->values + slot * t->value_nbytes;
}

/* Like key_table_add, for a key that the table does not have. adopts: t owns the bytes of a long key
 * already. */
enum status key_table_insert(struct key_table *t, const struct key *key, uint64_t hash,
			     struct key_seed seed, bool adopts, size_t *slot);

/* Removes all keys. Keeps the slots. */
void key_table_clear(struct key_table *t);

/* Makes t an empty table without slots; value_nbytes stays. */
void key_table_free(struct key_table *t);
