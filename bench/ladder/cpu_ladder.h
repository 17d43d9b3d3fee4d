/* SPDX-License-Identifier: MIT
 *
 * cpu_ladder.h - the rungs of the CPU, which the GPU's are compared with; checked and timed. Sums
 * only, of the timed types.
 */
#pragma once

#include "bench/ladder/bench.h"

/* A rung of the CPU. */
struct cpu_rung {
	const char *name, *idea;
	enum bench_ladder ladder;
	bool all_threads;
};
extern const struct cpu_rung cpu_ladder[];
extern const size_t cpu_ladder_nrungs;

/* The input, in host memory: nslots arrays of n values, slot_nbytes apart, that runs use in turn.
 * out: room for n values, reductions 1, and at least one. whole: the sum of the first array. */
struct reference;
struct cpu_arrays {
	enum bench_type type;
	const char *in;
	char *out;
	uint64_t n;
	size_t slot_nbytes, nslots;
	const struct reference *whole;
};

/* Checks rung on the beginning of the first array, at awkward n, and on all of it; times it nwanted
 * times, or as often as timing_nrepeats allows. Sets all of *figure but the indices. */
void cpu_measure(const struct cpu_rung *rung, const struct cpu_arrays *arrays, unsigned nwanted,
		 struct bench_figure *figure);
