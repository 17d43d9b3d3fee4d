/* SPDX-License-Identifier: MIT
 *
 * key_memory.c - see key_memory.h. Huge pages made no difference to 2 million keys (a virtual machine
 * with 2 cores, 2026-11-23).
 */
#include "fold/key_memory.h"

#include <stdlib.h>

#include "base/memory_limit.h"

enum status key_memory_new(size_t nbytes, void **memory)
{
	if (!memory_take(nbytes))
		return STATUS_MANY_KEYS;
	*memory = calloc(1, nbytes);
	if (*memory)
		return STATUS_OK;
	memory_give(nbytes);
	return STATUS_NO_MEMORY;
}

void key_memory_free(void *memory, size_t nbytes)
{
	if (!memory)
		return;
	free(memory);
	memory_give(nbytes);
}
