/* SPDX-License-Identifier: MIT
 *
 * text_arena.c - see text_arena.h.
 */
#include "fold/text_arena.h"

#include "fold/key_memory.h"

#define NBYTES_MIN ((size_t)1 << 10) /* of a block; the next one is twice as long, */
#define NBYTES_MAX ((size_t)1 << 20) /* ... up to this, unless a text is longer */

struct text_arena_block {
	struct text_arena_block *next;
	size_t nbytes, nused; /* of the whole block, and of its texts */
	char texts[];
};

/* Adds a block with room for nbytes of text. */
static enum status grow(struct text_arena *a, size_t nbytes)
{
	size_t size = a->blocks ? 2 * a->blocks->nbytes : NBYTES_MIN;
	struct text_arena_block *block;
	void *memory;

	nbytes += sizeof *block;
	size = size < NBYTES_MAX ? size : NBYTES_MAX;
	size = size < nbytes ? nbytes : size;
	TRY(key_memory_new(size, &memory));
	block = memory;
	block->nbytes = size;
	block->next = a->blocks;
	a->blocks = block;
	return STATUS_OK;
}

enum status text_arena_take(struct text_arena *a, size_t nbytes, char **text)
{
	if (!a->blocks || a->blocks->nbytes - sizeof *a->blocks - a->blocks->nused < nbytes)
		TRY(grow(a, nbytes));
	*text = a->blocks->texts + a->blocks->nused;
	a->blocks->nused += nbytes;
	return STATUS_OK;
}

void text_arena_join(struct text_arena *a, struct text_arena *from)
{
	struct text_arena_block **end = &from->blocks;

	while (*end)
		end = &(*end)->next;
	if (a->blocks) { /* its first block is the one that is being filled */
		*end = a->blocks->next;
		a->blocks->next = from->blocks;
	} else {
		a->blocks = from->blocks;
	}
	from->blocks = NULL;
}

void text_arena_free(struct text_arena *a)
{
	while (a->blocks) {
		struct text_arena_block *next = a->blocks->next;
		key_memory_free(a->blocks, a->blocks->nbytes);
		a->blocks = next;
	}
}
