/* SPDX-License-Identifier: MIT
 *
 * memory_limit.c - see memory_limit.h.
 */
#include "base/memory_limit.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/control_group.h"

static _Atomic uint64_t limit_nbytes; /* 0: not known yet */
static _Atomic uint64_t taken_nbytes;
static atomic_bool refused;

static void lower(uint64_t *least, uint64_t nbytes)
{
	if (nbytes < *least)
		*least = nbytes;
}

/* Lowers *least to the number in a file; "max" is no number, and no limit. */
static void lower_to_file(uint64_t *least, const char *folder, const char *name)
{
	char text[64];

	if (control_group_read(folder, name, text, sizeof text) && text[0] >= '0' && text[0] <= '9')
		lower(least, strtoull(text, NULL, 10));
}

static void lower_to_group(void *least, const char *folder)
{
	lower_to_file(least, folder, "memory.max");
}

static void lower_to_old_group(void *least, const char *folder)
{
	lower_to_file(least, folder, "memory.limit_in_bytes");
}

uint64_t memory_usable_nbytes(const char *root)
{
	long npages = sysconf(_SC_PHYS_PAGES), page_nbytes = sysconf(_SC_PAGESIZE);
	uint64_t least = UINT64_MAX;
	struct rlimit space;

	if (npages > 0 && page_nbytes > 0)
		lower(&least, (uint64_t)npages * (uint64_t)page_nbytes);
	if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
		lower(&least, space.rlim_cur);
	control_group_each(root, NULL, "/sys/fs/cgroup", lower_to_group, &least);
	control_group_each(root, NULL, "/sys/fs/cgroup/unified", lower_to_group, &least);
	control_group_each(root, "memory", "/sys/fs/cgroup/memory", lower_to_old_group, &least);
	return least;
}

void memory_limit_set(uint64_t nbytes)
{
	limit_nbytes = nbytes;
}

uint64_t memory_limit_nbytes(void)
{
	if (limit_nbytes == 0) /* threads that come here at once find the same */
		limit_nbytes = memory_usable_nbytes("") / 2 + 1;
	return limit_nbytes;
}

bool memory_take_leaving(uint64_t nbytes, uint64_t left_nbytes)
{
	uint64_t limit = memory_limit_nbytes(), taken = taken_nbytes;

	limit = limit > left_nbytes ? limit - left_nbytes : 0;
	do {
		if (taken > limit || nbytes > limit - taken) {
			refused = true;
			return false;
		}
	} while (!atomic_compare_exchange_weak(&taken_nbytes, &taken, taken + nbytes));
	return true;
}

bool memory_take(uint64_t nbytes)
{
	return memory_take_leaving(nbytes, 0);
}

void memory_give(uint64_t nbytes)
{
	atomic_fetch_sub(&taken_nbytes, nbytes);
}

bool memory_was_refused(void)
{
	return refused;
}
