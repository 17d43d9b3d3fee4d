/* SPDX-License-Identifier: MIT
 *
 * made_up_root.h - a folder with proc/ and sys/ of a system that is made up.
 */
#pragma once

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char root[] = "/tmp/test_root.XXXXXX";

/* Writes text to the file `path` below the root. Makes its parent folders. */
static void put(const char *path, const char *text)
{
	char whole[PATH_MAX];
	FILE *f;

	snprintf(whole, sizeof whole, "%s/%s", root, path);
	for (char *c = strchr(whole + strlen(root) + 1, '/'); c; c = strchr(c + 1, '/')) {
		*c = '\0';
		if (mkdir(whole, 0700) && errno != EEXIST)
			bail("mkdir %s: %s", whole, strerror(errno));
		*c = '/';
	}
	f = fopen(whole, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		bail("%s: %s", whole, strerror(errno));
}

static void forget_all(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof command, "rm -rf %s/proc %s/sys", root, root);
	if (system(command))
		bail("%s", command);
}
