/* SPDX-License-Identifier: MIT
 *
 * key_memory.h - the memory of tables of keys: zeroed, and taken of the limit of memory_limit.h, because
 * a column may have as many different values as the input has records.
 */
#ifndef GPUSTAT_KEY_MEMORY_H
#define GPUSTAT_KEY_MEMORY_H

#include <stddef.h>

#include "base/status.h"

/* Sets *memory to nbytes of zeros, to be freed with key_memory_free. Any thread may call these two.
 * Errors: STATUS_NO_MEMORY; STATUS_MANY_KEYS, where the limit has fewer bytes left. */
enum status key_memory_new(size_t nbytes, void **memory);
void key_memory_free(void *memory, size_t nbytes);

#endif
