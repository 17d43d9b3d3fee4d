/* SPDX-License-Identifier: MIT
 *
 * ladder_time.cuh - the arrays that rungs are timed on, and the timing.
 */
#pragma once

#include "kernels/ladder/ladder.cuh"

extern "C" {
#include "base/status.h"
}

/* Values of one type for all rungs: more than the cache holds, cut into slots of the n that a rung
 * runs on. Runs use the slots in turn, so that a slot is no longer in the cache when it is used
 * again. Scans write to the same slot of `out`; a reduction's result is out[0]. */
struct ladder_pool {
	enum bench_type type;
	char *in, *out;               /* device memory */
	size_t in_nbytes, out_nbytes; /* in: all of it holds values (value_fill, VALUE_ANY) */
};

/* Makes a pool of values of the type, for rungs of up to n of them. The caller frees it with
 * ladder_pool_close, after an error as well. Costs 2n values at least, and for scans as much again.
 * Errors: the memory's. */
cudaError_t ladder_pool_open(struct ladder_pool *pool, enum bench_ladder ladder,
			     enum bench_type type, uint64_t n);
void ladder_pool_close(struct ladder_pool *pool);

/* The slots of the pool for arrays of nbytes: how many, and how far apart. */
struct ladder_slots {
	uint64_t nslots;
	size_t nbytes;
};
struct ladder_slots ladder_slots_of(const struct ladder_pool *pool, size_t nbytes);

/* Times a rung on n values of the pool: opens it, warms up, times it nwanted times, or as often as
 * timing_nrepeats allows, and closes it. The pool keeps its values. Waits. Errors:
 * cudaErrorNotSupported where open says so, and the rung's own. */
cudaError_t ladder_time(const struct ladder_rung *rung, enum bench_fold fold, uint64_t n,
			const struct ladder_pool *pool, unsigned nwanted,
			struct bench_time *time);
