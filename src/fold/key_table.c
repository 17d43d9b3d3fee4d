/* SPDX-License-Identifier: MIT
 *
 * key_table.c - see key_table.h. Linear probing: Knuth, The Art of Computer Programming 3, 6.4.
 */
#include "fold/key_table.h"

#include <string.h>
#include <sys/random.h>
#include <pthread.h>

#include "fold/key_memory.h"

#define NSLOTS_MIN 16
#define NSLOTS_SMALL 4096

/* ---- the seed ---- */

static struct key_seed seed = {{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03}};

/* Where the system has no random bytes yet, constants do. */
static void seed_set(void)
{
	struct key_seed bytes;

	if (getrandom(&bytes, sizeof bytes, GRND_NONBLOCK) == sizeof bytes)
		seed = bytes;
}

static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

struct key_seed key_seed_get(void)
{
	pthread_once(&seed_once, seed_set);
	return seed;
}

void key_seed_set(struct key_seed other)
{
	key_seed_get(); /* which sets it the first time */
	seed = other;
}

/* Copies a long key's bytes, and makes the key point to the copy. */
static enum status copy_text(struct key_table *t, struct key *key)
{
	void *to;

	TRY(key_arena_take(&t->texts, key_nbytes(key), &to));
	key->text = memcpy(to, key->text, key_nbytes(key));
	return STATUS_OK;
}

/* ---- slots ---- */

/* Linear probes become long where more than about two thirds of the slots are taken. */
static size_t most_keys(size_t nslots)
{
	return nslots / 16 * 10;
}

/* How many keys there is to be room for where one more does not fit: small tables grow to four times
 * their size, so that fewer are cleared and left. */
static size_t more_keys(const struct key_table *t)
{
	return t->nslots && t->nslots < NSLOTS_SMALL ? most_keys(4 * t->nslots) : t->nkeys + 1;
}

/* Returns the first slot without a key from the hash's place on. */
static size_t free_slot(const struct key_table *t, uint64_t hash)
{
	size_t i = key_table_place(t, hash);

	while (t->keys[i].high != 0)
		i = (i + 1) & (t->nslots - 1);
	return i;
}

static void free_slots(struct key_table *t)
{
	key_memory_free(t->keys, t->nslots * sizeof *t->keys);
	key_memory_free(t->values, t->nslots * t->value_nbytes);
}

enum status key_table_reserve(struct key_table *t, size_t nkeys, struct key_seed of)
{
	size_t nslots = t->nslots ? t->nslots : NSLOTS_MIN;
	struct key_table grown = *t;
	void *slots, *values;

	if (nkeys <= most_keys(t->nslots))
		return STATUS_OK;
	while (most_keys(nslots) < nkeys)
		nslots *= 2;
	TRY(key_memory_new_two(nslots * sizeof *t->keys, &slots, nslots * t->value_nbytes, &values));
	grown.nslots = nslots;
	grown.shift = 64 - __builtin_ctzll(nslots);
	grown.keys = slots;
	grown.values = values;
	for (size_t i = 0; i < t->nslots; i++) {
		const struct key *key = &t->keys[i];
		size_t slot;
		if (!key->high)
			continue;
		slot = free_slot(&grown, key_held_hash(key, of));
		grown.keys[slot] = *key;
		if (grown.value_nbytes)
			memcpy(key_table_value(&grown, slot), key_table_value(t, i),
			       grown.value_nbytes);
	}
	free_slots(t);
	*t = grown;
	return STATUS_OK;
}

enum status key_table_insert(struct key_table *t, const struct key *key, uint64_t hash,
			     struct key_seed of, bool adopts, size_t *slot)
{
	struct key owned = *key;
	enum status status = STATUS_OK;

	if (t->nkeys >= most_keys(t->nslots))
		status = key_table_reserve(t, more_keys(t), of);
	if (status == STATUS_OK && !adopts && key_is_long(key))
		status = copy_text(t, &owned);
	TRY(status);
	*slot = free_slot(t, hash);
	t->keys[*slot] = owned;
	t->nkeys++;
	return STATUS_OK;
}

enum status key_table_add(struct key_table *t, const struct key *key, uint64_t hash,
			  struct key_seed of, size_t *slot)
{
	*slot = key_table_find(t, key, hash);
	return *slot != SIZE_MAX ? STATUS_OK : key_table_insert(t, key, hash, of, false, slot);
}

void key_table_clear(struct key_table *t)
{
	if (t->nkeys == 0)
		return;
	memset(t->keys, 0, t->nslots * sizeof *t->keys);
	if (t->value_nbytes)
		memset(t->values, 0, t->nslots * t->value_nbytes);
	key_arena_free(&t->texts);
	t->nkeys = 0;
}

void key_table_free(struct key_table *t)
{
	free_slots(t);
	key_arena_free(&t->texts);
	*t = (struct key_table){.value_nbytes = t->value_nbytes};
}
