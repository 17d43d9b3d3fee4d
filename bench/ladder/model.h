/* SPDX-License-Identifier: MIT
 *
 * model.h - what the textbook rungs cost, counted by running their index functions
 * (kernels/ladder/index.h) for every thread of one block. Needs no GPU.
 *
 * Source of the accounting: W. Hwu, D. Kirk, I. El Hajj, "Programming Massively Parallel
 * Processors", 4th ed., 2022, chapters 10 (reduction) and 11 (prefix sum).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/ladder/bench.h"

#define MODEL_DEFAULT_N 256
#define MODEL_LEAST_N 2
#define MODEL_GREATEST_N 2048

/* The modelled machine: the lanes of a warp, and the bytes of one request to global memory; values
 * are float32. */
#define MODEL_WARP_NLANES 32
#define MODEL_LINE_NBYTES 128
#define MODEL_VALUE_NBYTES 4

/* The rungs: (id, name, ladder). */
#define MODEL_RUNG_TABLE(RUNG) \
	RUNG(SIMPLE, "simple", BENCH_REDUCE) \
	RUNG(CONVERGENT, "convergent", BENCH_REDUCE) \
	RUNG(SHARED_MEMORY, "shared_memory", BENCH_REDUCE) \
	RUNG(KOGGE_STONE, "kogge_stone", BENCH_SCAN) \
	RUNG(BRENT_KUNG, "brent_kung", BENCH_SCAN)

enum model_rung {
#define MODEL_RUNG(id, name, ladder) MODEL_##id,
	MODEL_RUNG_TABLE(MODEL_RUNG)
#undef MODEL_RUNG
	MODEL_NRUNGS
};

/* What one block's work on n values costs. */
struct model_cost {
	unsigned nthreads;
	unsigned niterations;
	uint64_t nactive;   /* additions: threads that add, over all iterations */
	uint64_t nissued;   /* lanes that are busy or wait: 32 for every warp in every iteration
			     * that one of its threads adds in */
	uint64_t nrequests; /* to global memory: lines touched by a warp in one access, over all
			     * accesses; 0: not counted (the scans work in shared memory) */
};

/* The published counts; 0: nothing is published for this n. */
struct model_published {
	uint64_t nactive, nissued, nrequests;
	const char *why; /* why the count differs; NULL: it does not */
};

const char *model_name(enum model_rung rung);
enum bench_ladder model_ladder(enum model_rung rung);

/* Whether n is a power of 2 from MODEL_LEAST_N to MODEL_GREATEST_N. */
bool model_takes(uint64_t n);

/* Counts, for n that model_takes. Time n log n. */
struct model_cost model_count(enum model_rung rung, unsigned n);

/* What the source prints for n: a figure or, for the scans, a formula. */
struct model_published model_published(enum model_rung rung, unsigned n);
