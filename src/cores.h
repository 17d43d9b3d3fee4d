/* SPDX-License-Identifier: MIT
 *
 * cores.h - how many threads are worth starting.
 */
#ifndef GPUSTAT_CORES_H
#define GPUSTAT_CORES_H

/* Cores that this process may run on; at least 1. */
int cores_count(void);

#endif
