/* SPDX-License-Identifier: MIT
 *
 * cpu_measure.h - checks and times the CPU's rungs.
 */
#ifndef GPUSTAT_CPU_MEASURE_H
#define GPUSTAT_CPU_MEASURE_H

#include "bench/ladder/bench.h"

/* A rung of the CPU. */
struct cpu_rung {
	const char *name, *idea;
	enum bench_ladder ladder;
	bool all_threads;
};
extern const struct cpu_rung cpu_ladder[];
extern const size_t cpu_ladder_nrungs;

/* What to run on, in host memory: nslots arrays of n values, slot_nbytes apart, that take
 * turns. out: room for n values, reductions 1, and one at least. whole: the sum of the first
 * array's. */
struct reference;
struct cpu_arrays {
	enum bench_type type;
	const char *in;
	char *out;
	uint64_t n;
	size_t slot_nbytes, nslots;
	const struct reference *whole;
};

/* Checks rung on the first array's beginnings, of awkward n, and on all of it, and times it
 * nwanted times, or as often as timing_nrepeats allows. Fills all of *figure but the
 * indices. */
void cpu_measure(const struct cpu_rung *rung, const struct cpu_arrays *arrays, unsigned nwanted,
		 struct bench_figure *figure);

#endif
