/* SPDX-License-Identifier: MIT
 *
 * cores.h - how many threads are worth starting, and where.
 */
#ifndef GPUSTAT_CORES_H
#define GPUSTAT_CORES_H

/* Cores that this process may run on, or as much time as its control groups grant, rounded up to
 * whole cores, if that is less; at least 1. Cost: some opens of small files, 0.05 ms. */
int cores_count(void);

/* What the control groups grant, cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us): the least of the
 * process's own group and all that it lies in, in cores, rounded up. root: the folder where proc/
 * and sys/ are, "" for the system's own. INT_MAX: there is no limit, or none can be read. */
int cores_granted(const char *root);

/* Keeps the calling thread to those cores of a list that it may run on, and that stand near a
 * device: "0-15,32-47", in folder/name. Leaves it alone if there are none, or no such list. */
void cores_keep_to(const char *folder, const char *name);

#endif
