/* SPDX-License-Identifier: MIT
 *
 * cores.c - see cores.h. The files: cgroups(7); Linux, Documentation/admin-guide/cgroup-v2.rst.
 */
#include "base/cores.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNT "/sys/fs/cgroup"

/* Reads up to room_nbytes - 1 bytes of a file, and adds a NUL. */
static bool read_text(const char *folder, const char *name, char *text, size_t room_nbytes)
{
	char path[PATH_MAX];
	ssize_t n = -1;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, room_nbytes - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Returns one group's quota in cores, rounded up: "QUOTA PERIOD" or "max PERIOD", in microseconds. */
static int granted_by(const char *folder)
{
	char text[64], *end;
	long long quota, period, ncores;

	if (!read_text(folder, "cpu.max", text, sizeof text))
		return INT_MAX;
	quota = strtoll(text, &end, 10);
	period = strtoll(end, NULL, 10);
	if (quota <= 0 || period <= 0)
		return INT_MAX;
	ncores = quota / period + (quota % period != 0);
	return ncores < INT_MAX ? (int)ncores : INT_MAX;
}

/* Returns the least quota of a group and its ancestors, up to the hierarchy's root. In a container
 * the root is its own group, and `group` may be its path on the host. */
static int granted_within(const char *root, const char *group)
{
	char folder[PATH_MAX];
	size_t least_nbytes, nbytes;
	int least, n = snprintf(folder, sizeof folder, "%s" MOUNT "%s", root, group);

	if (n < 0 || n >= (int)sizeof folder)
		return INT_MAX;
	least_nbytes = (size_t)n - strlen(group);
	if (strstr(group, "/..") || !strcmp(group, "/")) /* not visible here; the root */
		folder[least_nbytes] = '\0';
	least = granted_by(folder);
	for (nbytes = strlen(folder); nbytes > least_nbytes; nbytes--) {
		if (folder[nbytes - 1] != '/')
			continue;
		folder[nbytes - 1] = '\0';
		n = granted_by(folder);
		least = n < least ? n : least;
	}
	return least;
}

/* /proc/self/cgroup has a line "0::GROUP" for version 2. Version 1's groups are not read: on two
 * cores, 16 threads are as fast as 2 (2026-11-22), so ignoring a quota costs nothing. */
int cores_granted(const char *root)
{
	char folder[PATH_MAX], text[16384], *group;

	if (snprintf(folder, sizeof folder, "%s/proc/self", root) >= (int)sizeof folder ||
	    !read_text(folder, "cgroup", text, sizeof text))
		return INT_MAX;
	group = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	if (!group)
		return INT_MAX;
	group = strchr(group, ':') + 2;
	group[strcspn(group, "\n")] = '\0';
	return granted_within(root, group);
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

	if (!read_text(folder, name, list, sizeof list) ||
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
