/* SPDX-License-Identifier: MIT
 *
 * cores.h - how many threads to start, and on which cores.
 */
#ifndef GPUSTAT_CORES_H
#define GPUSTAT_CORES_H

/* Returns the smaller of the cores that this process may run on and cores_granted(""); at least 1.
 * Cost: opens some small files, 0.05 ms. */
int cores_count(void);

/* Returns the CPU quota of the process's control group, or of the ancestor that grants least, in
 * cores, rounded up: cgroup v2's cpu.max. INT_MAX: no readable limit.
 * root: the folder with proc/ and sys/, "" for the system's. */
int cores_granted(const char *root);

/* Binds the calling thread to the cores in the list "0-15,32-47" in the file folder/name, such as a
 * device's local_cpulist. Does nothing if there is no list, or none of its cores is allowed. */
void cores_keep_to(const char *folder, const char *name);

#endif
