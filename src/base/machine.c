/* SPDX-License-Identifier: MIT
 *
 * machine.c - see machine.h. The files: cgroups(7); Linux,
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
 */
#include "base/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- the control groups that the process is in: cgroups(7) ---- */

/* Reads up to room_nbytes - 1 bytes of the file folder/name, and adds a NUL. Returns false where
 * there is no such file, or nothing in it. */
static bool control_group_read(const char *folder, const char *name, char *text, size_t room_nbytes)
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

/* Whether name is one of a comma-separated list of nbytes bytes. */
static bool list_holds(const char *list, size_t nbytes, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list, *end = list + nbytes; at < end; at++) {
		size_t item = strcspn(at, ",:");
		if (item == length && !memcmp(at, name, length))
			return true;
		at += item;
	}
	return false;
}

/* The group in the text of /proc/self/cgroup, whose lines are NUMBER:CONTROLLERS:GROUP, and 0::GROUP
 * for version 2. The line end behind the group becomes a NUL. NULL if no line has the controller. */
static char *find_group(char *text, const char *controller)
{
	for (char *line = text, *end; *line; line = end) {
		size_t nbytes = strcspn(line, "\n");
		char *list = memchr(line, ':', nbytes), *group;
		end = line + nbytes + (line[nbytes] != '\0');
		group = list ? memchr(list + 1, ':', (size_t)(line + nbytes - list - 1)) : NULL;
		if (!group)
			continue;
		line[nbytes] = '\0';
		list++;
		if (controller ? list_holds(list, (size_t)(group - list), controller)
			       : list == group && list == line + 2 && *line == '0')
			return group + 1;
	}
	return NULL;
}

/* In a container the root is its own group, and `group` may be its path on the host. */
static void visit_ancestors(const char *root, const char *mount, const char *group,
			    void (*visit)(void *context, const char *folder), void *context)
{
	char folder[PATH_MAX];
	size_t least_nbytes, nbytes;
	int n = snprintf(folder, sizeof folder, "%s%s%s", root, mount, group);

	if (n < 0 || n >= (int)sizeof folder)
		return;
	least_nbytes = (size_t)n - strlen(group);
	if (strstr(group, "/..") || !strcmp(group, "/")) /* not visible here; the root */
		folder[least_nbytes] = '\0';
	visit(context, folder);
	for (nbytes = strlen(folder); nbytes > least_nbytes; nbytes--) {
		if (folder[nbytes - 1] != '/')
			continue;
		folder[nbytes - 1] = '\0';
		visit(context, folder);
	}
}

/* Calls visit with the folder of the process's group, and of each of its ancestors up to the
 * hierarchy's root. Folders that are not there are among them.
 * controller: of version 1, "memory"; NULL: version 2's hierarchy. mount: where the hierarchy is
 * mounted, such as "/sys/fs/cgroup". root: the folder with proc/ and sys/, "" for the system's. */
static void control_group_each(const char *root, const char *controller, const char *mount,
			       void (*visit)(void *context, const char *folder), void *context)
{
	char folder[PATH_MAX], text[16384], *group = NULL;

	if (snprintf(folder, sizeof folder, "%s/proc/self", root) < (int)sizeof folder &&
	    control_group_read(folder, "cgroup", text, sizeof text))
		group = find_group(text, controller);
	if (group)
		visit_ancestors(root, mount, group, visit, context);
}

/* ---- cores ---- */

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

/* ---- memory ---- */

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
