/* SPDX-License-Identifier: MIT
 *
 * machine.h - how many cores and how much memory the process may use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ---- how many threads to start, and on which cores ---- */

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

/* ---- memory ----
 *
 * How much memory may be used for what grows with the input: kept values and
 * tables of texts. All of the process share one limit (--memory).
 *
 * Whoever keeps such data takes bytes before allocating and gives them back after freeing. Memory
 * that does not grow with the input is not counted. Any thread may call memory_take and memory_give.
 */

/* Returns what the process may use in all, in bytes: the least of physical memory, RLIMIT_AS, and
 * the limits of its control groups and their ancestors, of version 2 (memory.max) and 1
 * (memory.limit_in_bytes). UINT64_MAX: none is known.
 * root: the folder with proc/ and sys/, "" for the system's. Cost: opens some small files. */
uint64_t memory_usable_nbytes(const char *root);

/* Sets the limit; 0: to what is usable. No memory was refused then. Before any thread starts. */
void memory_limit_set(uint64_t nbytes);

/* The limit: that which was set, else half of memory_usable_nbytes(""). */
uint64_t memory_limit_nbytes(void);

/* Takes nbytes of the limit. Returns false, and takes nothing, where fewer are left. */
bool memory_take(uint64_t nbytes);

/* Like memory_take, but fails unless left_nbytes remain for others. */
bool memory_take_leaving(uint64_t nbytes, uint64_t left_nbytes);

/* Gives back nbytes that were taken. */
void memory_give(uint64_t nbytes);

/* Whether memory_take has returned false: STATUS_NO_MEMORY then means the limit. */
bool memory_was_refused(void);
