/* SPDX-License-Identifier: MIT
 *
 * control_group.c - see control_group.h. The files: cgroups(7); Linux,
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
 */
#include "base/control_group.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool control_group_read(const char *folder, const char *name, char *text, size_t room_nbytes)
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

void control_group_each(const char *root, const char *controller, const char *mount,
			void (*visit)(void *context, const char *folder), void *context)
{
	char folder[PATH_MAX], text[16384], *group = NULL;

	if (snprintf(folder, sizeof folder, "%s/proc/self", root) < (int)sizeof folder &&
	    control_group_read(folder, "cgroup", text, sizeof text))
		group = find_group(text, controller);
	if (group)
		visit_ancestors(root, mount, group, visit, context);
}
