/* SPDX-License-Identifier: MIT
 *
 * ladder_select.cuh - the rungs of the names that were asked for. Needs no GPU.
 */
#pragma once

#include "kernels/ladder/ladder.cuh"
#include "bench/ladder/ladder_bench.h"

extern "C" {
#include "bench/ladder/cpu_ladder.h"
}

#define LADDER_NRUNGS_MAX 64

/* The rungs asked for, in the ladder's order. */
struct ladder_selection {
	size_t nrungs, ncpu_rungs;
	const struct ladder_rung *rungs[LADDER_NRUNGS_MAX];
	const struct cpu_rung *cpu_rungs[LADDER_NRUNGS_MAX];
};

/* Fills s. Errors: STATUS_USAGE, as ladder_bench. */
enum status ladder_select(const struct ladder_request *request, struct ladder_selection *s,
			  struct fault *fault);

/* The types to measure: request->types, or all. */
unsigned ladder_types(const struct ladder_request *request);
