/* SPDX-License-Identifier: MIT
 *
 * cpu_ladder.h - the rungs of the CPU: what the GPU's are held against. Sums only, of the
 * four timed types.
 */
#ifndef GPUSTAT_CPU_LADDER_H
#define GPUSTAT_CPU_LADDER_H

#include "bench/ladder/bench.h"

/* Writes the sum of in[0 .. n) to out[0]. nthreads > 0: so many threads take equal parts,
 * the caller one of them; where one cannot be started the caller does its part. Starting
 * and joining them is part of the time, as it is for whoever uses them. */
void cpu_reduce(enum bench_type type, const void *in, uint64_t n, unsigned nthreads, void *out);

/* The additions that a value of cpu_reduce goes through, at most. */
uint64_t cpu_reduce_depth(uint64_t n, unsigned nthreads);

/* Writes the sum of in[0 .. i] to out[i], for all i < n. */
void cpu_scan(enum bench_type type, const void *in, uint64_t n, void *out);

#endif
