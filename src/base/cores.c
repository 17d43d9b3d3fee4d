/* SPDX-License-Identifier: MIT
 *
 * cores.c - see cores.h.
 */
#include "base/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/control_group.h"

/* Lowers *least to a group's quota in cores, rounded up: "QUOTA PERIOD" or "max PERIOD", in
 * microseconds. */
static void limit_to_group(void *least, const char *folder)
{
	char text[64], *end;
	long long quota, period, ncores;

	if (!control_group_read(folder, "cpu.max", text, sizeof text))
		return;
	quota = strtoll(text, &end, 10);
	period = strtoll(end, NULL, 10);
	if (quota <= 0 || period <= 0)
		return;
	ncores = quota / period + (quota % period != 0);
	if (ncores < *(int *)least)
		*(int *)least = (int)ncores;
}

/* Version 1's groups are not read: on two cores, 16 threads are as fast as 2 (2026-11-22), so
 * ignoring a quota costs nothing. */
int cores_granted(const char *root)
{
	int least = INT_MAX;

	control_group_each(root, NULL, "/sys/fs/cgroup", limit_to_group, &least);
	return least;
}

/* For machines with more than CPU_SETSIZE cores. */
static int cores_online(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 && n < INT_MAX ? (int)n : 1;
}

int cores_count(void)
{
	cpu_set_t set;
	int ncores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
								 : cores_online();
	int granted = ncores > 1 ? cores_granted("") : INT_MAX;

	return granted < ncores ? granted : ncores;
}

/* Adds the cores of a range "0-15" or "7" to set. Sets *end behind it. */
static void set_add_range(cpu_set_t *set, const char *text, char **end)
{
	unsigned long first = strtoul(text, end, 10), last = first;

	if (*end != text && **end == '-')
		last = strtoul(*end + 1, end, 10);
	for (unsigned long i = first; *end != text && i <= last && i < CPU_SETSIZE; i++)
		CPU_SET(i, set);
}

void cores_keep_to(const char *folder, const char *name)
{
	cpu_set_t set, allowed;
	char list[4096], *at = list, *end;

	if (!control_group_read(folder, name, list, sizeof list) ||
	    sched_getaffinity(0, sizeof allowed, &allowed))
		return;
	CPU_ZERO(&set);
	do {
		set_add_range(&set, at, &end);
		at = end + 1;
	} while (*end == ',');
	CPU_AND(&set, &set, &allowed);
	if (CPU_COUNT(&set) > 0)
		(void)sched_setaffinity(0, sizeof set, &set); /* a failure only costs time */
}
