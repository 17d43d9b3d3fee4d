/* SPDX-License-Identifier: MIT
 *
 * simd_test.h - what tests of simd.h share: random numbers, and memory between pages that trap.
 *
 * Memory out of bounds lies on a page without access, so that an access to it ends the program.
 * Padding that a function may read but must ignore is filled with misleading bytes.
 */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "simd/simd.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t random_state = 20261121;

static inline uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* Memory with a page that traps before and behind it. */
struct arena { char *begin, *end; };

static inline struct arena arena_of(size_t nbytes_min)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t nbytes = (nbytes_min + page - 1) / page * page;
	char *all = mmap(NULL, nbytes + 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all, page, PROT_NONE) != 0 ||
	    mprotect(all + page + nbytes, page, PROT_NONE) != 0)
		bail("no memory with pages that trap");
	return (struct arena){all + page, all + page + nbytes};
}

/* Returns the instruction set `name`, or NULL if this architecture does not have it. */
static inline const struct simd_ops *simd_named(const char *name)
{
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	return NULL;
}
