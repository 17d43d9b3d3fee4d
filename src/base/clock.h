/* SPDX-License-Identifier: MIT
 *
 * clock.h - a monotonic clock.
 */
#pragma once

#include <time.h>

/* Returns seconds since a fixed time in the past. Async-signal-safe. */
static inline double clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
