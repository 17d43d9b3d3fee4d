/* SPDX-License-Identifier: MIT
 *
 * timing.h - the clock, and what is said of several runs of the same thing.
 */
#ifndef GPUSTAT_TIMING_H
#define GPUSTAT_TIMING_H

#include "bench/ladder/bench.h"

/* Nanoseconds since some moment, by a clock that nobody sets. */
double timing_now_ns(void);

/* The median (of an even number, the mean of the middle two), least and greatest of
 * ns[0 .. n), which is sorted; n > 0. */
struct bench_time timing_summary(double *ns, size_t n);

/* How often to time what takes once_ns: as often as wanted, but no longer than
 * TIMING_BUDGET_NS in all; and TIMING_NREPEATS_MIN times at least, or as often as wanted if
 * that is less. wanted 0: TIMING_NREPEATS. */
unsigned timing_nrepeats(unsigned wanted, double once_ns);
#define TIMING_BUDGET_NS 1.5e9
#define TIMING_NREPEATS_MIN 3
#define TIMING_NREPEATS 101

#endif
