/* SPDX-License-Identifier: MIT
 *
 * timing.c - see timing.h.
 */
#include "bench/ladder/timing.h"

#include <stdlib.h>

#include "base/clock.h"

double timing_now_ns(void)
{
	return clock_s() * 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_time timing_summary(double *ns, size_t n)
{
	struct bench_time time;

	qsort(ns, n, sizeof *ns, compare);
	time.median_ns = (ns[(n - 1) / 2] + ns[n / 2]) / 2;
	time.least_ns = ns[0];
	time.greatest_ns = ns[n - 1];
	return time;
}

unsigned timing_nrepeats(unsigned wanted, double once_ns)
{
	unsigned n = wanted > 0 ? wanted : TIMING_NREPEATS;
	double affordable = TIMING_BUDGET_NS / (once_ns > 1 ? once_ns : 1);

	if (n <= TIMING_NREPEATS_MIN || affordable >= n)
		return n;
	return affordable > TIMING_NREPEATS_MIN ? (unsigned)affordable : TIMING_NREPEATS_MIN;
}
