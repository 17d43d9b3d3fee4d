/* SPDX-License-Identifier: MIT
 *
 * control_group.h - the control groups that the process is in: cgroups(7).
 */
#ifndef GPUSTAT_CONTROL_GROUP_H
#define GPUSTAT_CONTROL_GROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Reads up to room_nbytes - 1 bytes of the file folder/name, and adds a NUL. Returns false where
 * there is no such file, or nothing in it. */
bool control_group_read(const char *folder, const char *name, char *text, size_t room_nbytes);

/* Calls visit with the folder of the process's group, and of each of its ancestors up to the
 * hierarchy's root. Folders that are not there are among them.
 * controller: of version 1, "memory"; NULL: version 2's hierarchy. mount: where the hierarchy is
 * mounted, such as "/sys/fs/cgroup". root: the folder with proc/ and sys/, "" for the system's. */
void control_group_each(const char *root, const char *controller, const char *mount,
			void (*visit)(void *context, const char *folder), void *context);

#endif
