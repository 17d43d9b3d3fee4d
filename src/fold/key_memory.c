/* SPDX-License-Identifier: MIT
 *
 * key_memory.c - see key_memory.h. Sizes are rounded up to powers of two. Small blocks are malloc's,
 * large ones are mapped one by one. Those between are cut from regions by the buddy system (Knuth, The
 * Art of Computer Programming 1, 2.5): all tables of a column grow at about the same time, so what two
 * neighbours leave makes one block of the next size.
 */
#include "fold/key_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/machine.h"

#define UNIT_NBYTES ((size_t)1 << 12)   /* the least size of a block of a region */
#define LARGE_NBYTES ((size_t)1 << 22)  /* the least size of one that is mapped by itself */
#define REGION_NBYTES ((size_t)1 << 23) /* and its alignment */
#define REGION_NUNITS (REGION_NBYTES / UNIT_NBYTES)
#define NORDERS 11 /* sizes of UNIT_NBYTES << 0, 1, ... up to half a region */

/* A block that is free. */
struct free_block {
	struct free_block *next, **link; /* link: what points to this block */
};

/* The first unit of a region. */
struct region {
	uint8_t free_order[REGION_NUNITS]; /* by unit: 1 + the order of the free block that begins there */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct free_block *free_blocks[NORDERS]; /* lists */

/* Maps nbytes of zeros, in huge pages where the system has them. NULL: no memory. */
static void *map(size_t nbytes)
{
	void *memory = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
#ifdef MADV_HUGEPAGE
	madvise(memory, nbytes, MADV_HUGEPAGE);
#endif
	return memory;
}

/* ---- regions; the caller holds the lock ---- */

static struct region *region_of(const void *block)
{
	return (struct region *)((uintptr_t)block & ~(uintptr_t)(REGION_NBYTES - 1));
}

static uint8_t *free_order_of(const void *block)
{
	struct region *r = region_of(block);

	return &r->free_order[(size_t)((const char *)block - (char *)r) / UNIT_NBYTES];
}

static void put(void *memory, int order)
{
	struct free_block *block = memory, **list = &free_blocks[order];

	*block = (struct free_block){*list, list};
	if (*list)
		(*list)->link = &block->next;
	*list = block;
	*free_order_of(block) = (uint8_t)(order + 1);
}

static void take(struct free_block *block)
{
	*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	*free_order_of(block) = 0;
}

static void unmap(char *begin, char *end)
{
	if (begin < end)
		munmap(begin, (size_t)(end - begin));
}

/* Maps a region; its blocks of every order but the first unit are free. */
static bool add_region(void)
{
	char *memory = map(REGION_NBYTES), *begin = memory;

	if (memory && (char *)region_of(memory) != memory) { /* more, to cut it to the alignment */
		munmap(memory, REGION_NBYTES);
		memory = map(2 * REGION_NBYTES - UNIT_NBYTES);
		if (!memory)
			return false;
		begin = (char *)region_of(memory + REGION_NBYTES - 1);
		unmap(memory, begin);
		unmap(begin + REGION_NBYTES, memory + 2 * REGION_NBYTES - UNIT_NBYTES);
	}
	if (!memory)
		return false;
	for (int order = 0; order < NORDERS; order++)
		put(begin + (UNIT_NBYTES << order), order);
	return true;
}

/* Takes a block of the order, whose bytes are any. NULL: no memory. */
static void *take_order(int order)
{
	struct free_block *block;
	int larger = order;

	while (larger < NORDERS && !free_blocks[larger])
		larger++;
	if (larger == NORDERS)
		return add_region() ? take_order(order) : NULL;
	block = free_blocks[larger];
	take(block);
	while (larger-- > order)
		put((char *)block + (UNIT_NBYTES << larger), larger);
	return block;
}

/* Frees a block, and joins it with its free neighbours. */
static void put_joined(void *memory, int order)
{
	uintptr_t block = (uintptr_t)memory;

	for (; order + 1 < NORDERS; order++) {
		uintptr_t buddy = block ^ (UNIT_NBYTES << order);
		if (*free_order_of((void *)buddy) != order + 1)
			break;
		take((struct free_block *)buddy);
		block = block < buddy ? block : buddy;
	}
	put((void *)block, order);
}

/* ---- blocks of any size ---- */

size_t key_memory_nbytes(size_t nbytes)
{
	return nbytes <= 16 ? 16 : (size_t)1 << (64 - __builtin_clzll(nbytes - 1));
}

static int order_of(size_t size)
{
	return __builtin_ctzll(size / UNIT_NBYTES);
}

/* clears: its bytes are zeros; else they are any. */
static void *new_block(size_t size, bool clears)
{
	void *block;

	if (size < UNIT_NBYTES)
		return clears ? calloc(1, size) : malloc(size);
	if (size >= LARGE_NBYTES)
		return map(size);
	pthread_mutex_lock(&lock);
	block = take_order(order_of(size));
	pthread_mutex_unlock(&lock);
	return block && clears ? memset(block, 0, size) : block;
}

static enum status take_block(size_t size, bool clears, void **memory)
{
	void *block;

	if (!memory_take(size))
		return STATUS_MANY_KEYS;
	block = new_block(size, clears);
	if (!block) {
		memory_give(size);
		return STATUS_NO_MEMORY;
	}
	*memory = block;
	return STATUS_OK;
}

enum status key_memory_new(size_t nbytes, void **memory)
{
	return take_block(key_memory_nbytes(nbytes), true, memory);
}

enum status key_memory_new_two(size_t nbytes, void **memory, size_t second_nbytes, void **second)
{
	enum status status;

	*second = NULL;
	TRY(key_memory_new(nbytes, memory));
	status = second_nbytes ? key_memory_new(second_nbytes, second) : STATUS_OK;
	if (status != STATUS_OK)
		key_memory_free(*memory, nbytes);
	return status;
}

enum status key_memory_widen(void **memory, size_t nbytes, size_t to)
{
	void *old = *memory;
	enum status status = take_block(key_memory_nbytes(to), false, memory);

	if (status != STATUS_OK || !old)
		return status;
	memcpy(*memory, old, nbytes);
	key_memory_free(old, nbytes);
	return STATUS_OK;
}

void key_memory_free(void *memory, size_t nbytes)
{
	size_t size = key_memory_nbytes(nbytes);

	if (!memory)
		return;
	memory_give(size);
	if (size < UNIT_NBYTES) {
		free(memory);
	} else if (size >= LARGE_NBYTES) {
		munmap(memory, size);
	} else {
		pthread_mutex_lock(&lock);
		put_joined(memory, order_of(size));
		pthread_mutex_unlock(&lock);
	}
}

/* ---- arenas ---- */

#define ALIGN_NBYTES ((uintptr_t)16)
#define ARENA_NBYTES_MIN ((size_t)1 << 10) /* of a block; the next one is twice as long, */
#define ARENA_NBYTES_MAX ((size_t)1 << 16) /* ... up to this: of each part of the store, half of its last one may be empty */

enum status key_arena_grow(struct key_arena *a, size_t nbytes, void **out)
{
	struct key_arena_block *last = a->last, *block;
	size_t size = last ? 2 * last->nbytes : ARENA_NBYTES_MIN;
	void *memory;

	if (last && last->next && last->next->nbytes - sizeof *last >= nbytes) { /* it was cleared */
		a->last = last->next;
		return key_arena_take(a, nbytes, out);
	}
	size = size < ARENA_NBYTES_MAX ? size : ARENA_NBYTES_MAX;
	size = size < nbytes + sizeof *block ? nbytes + sizeof *block : size;
	TRY(take_block(key_memory_nbytes(size), false, &memory));
	block = memory;
	*block = (struct key_arena_block){last ? last->next : NULL, size, nbytes};
	*(last ? &last->next : &a->first) = block;
	a->last = block;
	*out = block->taken;
	return STATUS_OK;
}

enum status key_arena_take_zeros(struct key_arena *a, size_t nbytes, void **out)
{
	TRY(key_arena_take(a, nbytes + ALIGN_NBYTES, out));
	*out = (void *)(((uintptr_t)*out + ALIGN_NBYTES - 1) & -ALIGN_NBYTES);
	memset(*out, 0, nbytes);
	return STATUS_OK;
}

void key_arena_join(struct key_arena *a, struct key_arena *from)
{
	struct key_arena_block **end = &from->first;

	while (*end)
		end = &(*end)->next;
	*end = a->first;
	if (from->first)
		*a = (struct key_arena){from->first, a->last ? a->last : from->last};
	*from = (struct key_arena){NULL, NULL};
}

void key_arena_clear(struct key_arena *a)
{
	for (struct key_arena_block *b = a->first; b; b = b->next)
		b->nused = 0;
	a->last = a->first;
}

void key_arena_free(struct key_arena *a)
{
	for (struct key_arena_block *b = a->first, *next; b; b = next) {
		next = b->next;
		key_memory_free(b, b->nbytes);
	}
	*a = (struct key_arena){NULL, NULL};
}
