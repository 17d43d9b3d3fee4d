/* SPDX-License-Identifier: MIT
 *
 * cores.c - see cores.h. The files: cgroups(7); Linux, Documentation/admin-guide/cgroup-v2.rst
 * and scheduler/sched-bwc.rst.
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

/* Converts a quota to cores; both texts are in microseconds. Not a positive number: no limit. */
static int quota_cores(const char *quota_text, const char *period_text)
{
	long long quota = strtoll(quota_text, NULL, 10), period = strtoll(period_text, NULL, 10);
	long long ncores;

	if (quota <= 0 || period <= 0)
		return INT_MAX;
	ncores = quota / period + (quota % period != 0);
	return ncores < INT_MAX ? (int)ncores : INT_MAX;
}

/* Returns one group's quota in cores, cgroup v2 or v1. */
static int granted_by(const char *folder)
{
	char quota[64], period[64];
	const char *blank;

	if (read_text(folder, "cpu.max", quota, sizeof quota)) {
		blank = strchr(quota, ' ');
		return blank ? quota_cores(quota, blank) : INT_MAX; /* "max": no limit */
	}
	if (!read_text(folder, "cpu.cfs_quota_us", quota, sizeof quota) ||
	    !read_text(folder, "cpu.cfs_period_us", period, sizeof period))
		return INT_MAX;
	return quota_cores(quota, period);
}

/* Returns the least quota of a group and its ancestors, up to the hierarchy's root. In a container
 * the root is its own group, and `group` may be its path on the host. */
static int granted_within(const char *root, const char *hierarchy, const char *group)
{
	char folder[PATH_MAX];
	size_t least_nbytes, nbytes;
	int least, n = snprintf(folder, sizeof folder, "%s" MOUNT "%s%s", root, hierarchy, group);

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

/* Reads a line of /proc/self/cgroup: ID:CONTROLLERS:GROUP. Version 2 has no controllers. Version 1
 * mounts a hierarchy under its controllers' names, or under a link with one of the names. */
static int granted_by_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *group, hierarchy[128], list[130];
	int together, alone;

	group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return INT_MAX;
	*controllers++ = *group++ = '\0';
	if (*controllers == '\0')
		return granted_within(root, "", group);
	snprintf(list, sizeof list, ",%s,", controllers);
	if (snprintf(hierarchy, sizeof hierarchy, "/%s", controllers) >= (int)sizeof hierarchy ||
	    !strstr(list, ",cpu,"))
		return INT_MAX;
	alone = granted_within(root, "/cpu", group);
	together = strcmp(controllers, "cpu") ? granted_within(root, hierarchy, group) : alone;
	return together < alone ? together : alone;
}

int cores_granted(const char *root)
{
	char folder[PATH_MAX], text[16384];
	int least = INT_MAX;

	if (snprintf(folder, sizeof folder, "%s/proc/self", root) >= (int)sizeof folder ||
	    !read_text(folder, "cgroup", text, sizeof text))
		return INT_MAX;
	for (char *line = text, *end; *line; line = end) {
		int n;
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		n = granted_by_line(root, line);
		least = n < least ? n : least;
	}
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
