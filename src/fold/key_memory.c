/* SPDX-License-Identifier: MIT
 *
 * key_memory.c - see key_memory.h. Look-ups go to random places, and a page of 2 MiB takes as much of
 * the TLB as one of 4 KiB: with 2 million keys they are 1.6 times as fast in huge pages.
 */
#include "fold/key_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/memory_limit.h"

#define HUGE_NBYTES ((size_t)2 << 20)

/* Maps nbytes, a multiple of a huge page, at a huge page's address. NULL: no memory. */
static void *map_huge(size_t nbytes)
{
	size_t room = nbytes + HUGE_NBYTES, before;
	char *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)map & (HUGE_NBYTES - 1);
	if (before > 0)
		munmap(map, before);
	munmap(map + before + nbytes, HUGE_NBYTES - before);
	madvise(map + before, nbytes, MADV_HUGEPAGE); /* without it, it is only slower */
	return map + before;
}

static bool is_huge(size_t nbytes)
{
	return nbytes >= HUGE_NBYTES && nbytes % HUGE_NBYTES == 0;
}

enum status key_memory_new(size_t nbytes, void **memory)
{
	if (!memory_take(nbytes))
		return STATUS_MANY_KEYS;
	*memory = is_huge(nbytes) ? map_huge(nbytes) : calloc(1, nbytes);
	if (*memory)
		return STATUS_OK;
	memory_give(nbytes);
	return STATUS_NO_MEMORY;
}

void key_memory_free(void *memory, size_t nbytes)
{
	if (!memory)
		return;
	if (is_huge(nbytes))
		munmap(memory, nbytes);
	else
		free(memory);
	memory_give(nbytes);
}
