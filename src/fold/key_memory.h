/* SPDX-License-Identifier: MIT
 *
 * key_memory.h - the memory of tables of keys, and of what they hold, which all counts towards --memory.
 *
 * Tables grow by doubling, many at a time. What one of them leaves, another takes: given back to the
 * system and taken again, each page would be faulted and cleared anew. With malloc, whose arenas trim
 * themselves, that was half of the time of --count-distinct with two threads (0.80 s, now 0.36 s, for
 * 22 million values, 2 million of them different; a virtual machine with 2 cores, 2026-11-23).
 */
#pragma once

#include "base/status.h"

/* Allocates nbytes > 0 of zeros, aligned to 16 bytes, to be freed with key_memory_free and the same nbytes.
 * Any thread may call it. Errors: STATUS_NO_MEMORY; STATUS_MANY_KEYS: --memory is used up. */
enum status key_memory_new(size_t nbytes, void **memory);

/* Allocates two, of which the second may have no bytes: it is NULL then. Both or none. */
enum status key_memory_new_two(size_t nbytes, void **memory, size_t second_nbytes, void **second);

/* How many bytes are taken for nbytes > 0: as many can be used. */
size_t key_memory_nbytes(size_t nbytes);

/* Makes *memory, nbytes of key_memory_new or NULL, larger: `to` bytes of which the first nbytes are as before, and the others
 * are any. Errors: as above; then *memory is as before. */
enum status key_memory_widen(void **memory, size_t nbytes, size_t to);

/* memory: of key_memory_new, or NULL. */
void key_memory_free(void *memory, size_t nbytes);

/* ---- memory that stays where it is until all of it goes ---- */

/* As long keys, the first and last values of groups, groups themselves and lists of their numbers. */
struct key_arena_block {
	struct key_arena_block *next;
	size_t nbytes, nused; /* of the whole block, and of what was taken */
	uint64_t taken[];
};

/* Zeroed: nothing. All owned. */
struct key_arena {
	struct key_arena_block *first, *last; /* the last is being filled */
};

/* Adds a block with room for nbytes, and takes these: key_arena_take otherwise. */
enum status key_arena_grow(struct key_arena *a, size_t nbytes, void **out);

/* Sets *out to nbytes > 0 that are the caller's until the arena is cleared or freed, after those that were taken before.
 * Errors: STATUS_NO_MEMORY; STATUS_MANY_KEYS: --memory is used up. */
static inline enum status key_arena_take(struct key_arena *a, size_t nbytes, void **out)
{
	struct key_arena_block *block = a->last;

	if (!block || block->nbytes - sizeof *block - block->nused < nbytes)
		return key_arena_grow(a, nbytes, out);
	*out = (char *)block->taken + block->nused;
	block->nused += nbytes;
	return STATUS_OK;
}

/* The same with zeros, aligned to 16 bytes. */
enum status key_arena_take_zeros(struct key_arena *a, size_t nbytes, void **out);

/* Moves all of `from`, which stays where it is, to a: before what a has. */
void key_arena_join(struct key_arena *a, struct key_arena *from);

/* Has all that was taken be taken again. */
void key_arena_clear(struct key_arena *a);

/* Frees the memory of a, which is empty then. */
void key_arena_free(struct key_arena *a);
