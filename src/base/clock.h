/* SPDX-License-Identifier: MIT
 *
 * clock.h - what time it is, for how long something took.
 */
#ifndef GPUSTAT_CLOCK_H
#define GPUSTAT_CLOCK_H

#include <time.h>

/* Seconds since some time before the process began; in a signal's handler, too. */
static inline double clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
