/* SPDX-License-Identifier: MIT
 *
 * timing.h - the clock, and the summary of several runs.
 */
#pragma once

#include "bench/ladder/bench.h"

/* Nanoseconds of a monotonic clock. */
double timing_now_ns(void);

/* The median (the mean of the middle two if n is even), least and greatest of ns[0 .. n), which it
 * sorts; n > 0. */
struct bench_time timing_summary(double *ns, size_t n);

/* How often to time a run of once_ns: as often as wanted, but no longer than TIMING_BUDGET_NS in
 * all; yet at least TIMING_NREPEATS_MIN times, unless fewer are wanted. wanted 0:
 * TIMING_NREPEATS. */
unsigned timing_nrepeats(unsigned wanted, double once_ns);
#define TIMING_BUDGET_NS 1.5e9
#define TIMING_NREPEATS_MIN 3
#define TIMING_NREPEATS 101
