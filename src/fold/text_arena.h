/* SPDX-License-Identifier: MIT
 *
 * text_arena.h - the bytes of texts that stay where they are until all of them go: long keys, and the first and last values
 * of groups. They count towards --memory (key_memory.h).
 */
#ifndef GPUSTAT_TEXT_ARENA_H
#define GPUSTAT_TEXT_ARENA_H

#include <stddef.h>

#include "base/status.h"

struct text_arena_block;

/* Zeroed: no texts. All owned. */
struct text_arena {
	struct text_arena_block *blocks; /* the one that is being filled first */
};

/* Sets *text to nbytes > 0 that are the caller's until the arena is freed. Errors: STATUS_NO_MEMORY; STATUS_MANY_KEYS:
 * --memory is used up. */
enum status text_arena_take(struct text_arena *a, size_t nbytes, char **text);

/* Moves all texts of `from`, which stay where they are, to a. */
void text_arena_join(struct text_arena *a, struct text_arena *from);

/* Makes a an arena without texts. */
void text_arena_free(struct text_arena *a);

#endif
