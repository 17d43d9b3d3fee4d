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

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the least number in the file `name` of the process's group and of each of its ancestors up to the hierarchy's root;
 * UINT64_MAX: there is none. number_of: of a file's text, as the result.
 * controller: of version 1, "memory"; NULL: version 2's hierarchy. mount: where the hierarchy is
 * mounted, such as "/sys/fs/cgroup". root: the folder with proc/ and sys/, "" for the system's. */
static uint64_t control_group_least(const char *root, const char *controller, const char *mount, const char *name,
				    uint64_t (*number_of)(const char *text))
{
	char folder[PATH_MAX], text[16384], number[64], *group = NULL;
	size_t least_nbytes, nbytes;
	uint64_t least = UINT64_MAX;
	int n;

	if (snprintf(folder, sizeof folder, "%s/proc/self", root) < (int)sizeof folder &&
	    control_group_read(folder, "cgroup", text, sizeof text))
		group = find_group(text, controller);
	n = group ? snprintf(folder, sizeof folder, "%s%s%s", root, mount, group) : -1;
	if (n < 0 || n >= (int)sizeof folder)
		return least;
	least_nbytes = (size_t)n - strlen(group);
	/* In a container the root is its own group, and `group` may be its path on the host. */
	if (strstr(group, "/..") || !strcmp(group, "/")) /* not visible here; the root */
		folder[least_nbytes] = '\0';
	for (nbytes = strlen(folder);; nbytes--) {
		if (folder[nbytes] == '/' || folder[nbytes] == '\0') {
			folder[nbytes] = '\0';
			if (control_group_read(folder, name, number, sizeof number))
				least = lesser(least, number_of(number));
		}
		if (nbytes == least_nbytes)
			return least;
	}
}

/* ---- cores ---- */

/* A group's quota in cores, rounded up: "QUOTA PERIOD" or "max PERIOD", in microseconds. */
static uint64_t ncores_of(const char *text)
{
	char *end;
	long long quota = strtoll(text, &end, 10), period = strtoll(end, NULL, 10);

	return quota <= 0 || period <= 0 ? UINT64_MAX : (uint64_t)(quota / period + (quota % period != 0));
}

/* Version 1's groups are not read: on two cores, 16 threads are as fast as 2 (2026-11-22), so
 * ignoring a quota costs nothing. */
int cores_granted(const char *root)
{
	return (int)lesser(control_group_least(root, NULL, "/sys/fs/cgroup", "cpu.max", ncores_of), INT_MAX);
}

int cores_count(void)
{
	cpu_set_t set;
	bool fits = sched_getaffinity(0, sizeof set, &set) == 0; /* not on machines with more than CPU_SETSIZE cores */
	long n = fits ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
	int ncores = n > 0 && n < INT_MAX ? (int)n : 1, granted = ncores > 1 ? cores_granted("") : INT_MAX;

	return granted < ncores ? granted : ncores;
}

void cores_keep_to(const char *folder, const char *name)
{
	cpu_set_t set, allowed;
	char list[4096], *at = list, *end;

	if (!control_group_read(folder, name, list, sizeof list) ||
	    sched_getaffinity(0, sizeof allowed, &allowed))
		return;
	CPU_ZERO(&set);
	do { /* a range "0-15" or "7" */
		unsigned long first = strtoul(at, &end, 10), last = first;
		if (end != at && *end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; end != at && i <= last && i < CPU_SETSIZE; i++)
			CPU_SET(i, &set);
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

/* "max" is no number, and no limit. */
static uint64_t nbytes_of(const char *text)
{
	return text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;
}

uint64_t memory_usable_nbytes(const char *root)
{
	long npages = sysconf(_SC_PHYS_PAGES), page_nbytes = sysconf(_SC_PAGESIZE);
	uint64_t least = UINT64_MAX;
	struct rlimit space;

	if (npages > 0 && page_nbytes > 0)
		least = (uint64_t)npages * (uint64_t)page_nbytes;
	if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
		least = lesser(least, space.rlim_cur);
	least = lesser(least, control_group_least(root, NULL, "/sys/fs/cgroup", "memory.max", nbytes_of));
	least = lesser(least, control_group_least(root, NULL, "/sys/fs/cgroup/unified", "memory.max", nbytes_of));
	return lesser(least, control_group_least(root, "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", nbytes_of));
}

void memory_limit_set(uint64_t nbytes)
{
	limit_nbytes = nbytes;
	refused = false;
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
