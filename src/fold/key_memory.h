/* SPDX-License-Identifier: MIT
 *
 * key_memory.h - the memory of tables of keys, which all count towards --memory.
 *
 * Tables grow by doubling, many at a time. What one of them leaves, another takes: given back to the
 * system and taken again, each page would be faulted and cleared anew. With malloc, whose arenas trim
 * themselves, that was half of the time of --count-distinct with two threads (0.80 s, now 0.36 s, for
 * 22 million values, 2 million of them different; a virtual machine with 2 cores, 2026-11-23).
 */
#ifndef GPUSTAT_KEY_MEMORY_H
#define GPUSTAT_KEY_MEMORY_H

#include <stddef.h>

#include "base/status.h"

/* Allocates nbytes > 0 of zeros, aligned to 16 bytes, to be freed with key_memory_free and the same nbytes.
 * Any thread may call it. Errors: STATUS_NO_MEMORY; STATUS_MANY_KEYS: --memory is used up. */
enum status key_memory_new(size_t nbytes, void **memory);

/* How many bytes are taken for nbytes > 0: as many can be used. */
size_t key_memory_nbytes(size_t nbytes);

/* Makes *memory, nbytes of key_memory_new or NULL, larger: `to` bytes of which the first nbytes are as before, and the others
 * are any. Errors: as above; then *memory is as before. */
enum status key_memory_widen(void **memory, size_t nbytes, size_t to);

/* memory: of key_memory_new, or NULL. */
void key_memory_free(void *memory, size_t nbytes);

#endif
