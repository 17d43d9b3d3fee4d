/* SPDX-License-Identifier: MIT
 *
 * ladder.cuh - the interface of a rung, for the code that checks and times it.
 *
 * A rung is one idea in one kernel, with its why, in a file named for it: reduce_*.cu and
 * scan_*.cu. The two ladders go from naive to shipped; ladder.cu lists them. gpustat-bench runs all
 * rungs; gpustat itself runs none of these files.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "scan_job.cuh"

extern "C" {
#include "types.h"
}

/* A rung that is ready for arrays of one size: opened once, launched often. */
struct ladder_run {
	enum bench_type type;
	enum bench_fold fold;
	uint64_t n;
	uint32_t nblocks;       /* for rungs that choose their grid when they are opened */
	void *scratch;          /* device memory, zeroed by ladder_scratch, then the rung's own */
	size_t scratch_nbytes;
	struct scan_shape shape; /* for rungs that are engines of scan_job.cuh */
	struct scan_memory memory;
};

struct ladder_rung {
	const char *name; /* of its idea: "warp_shuffle" */
	const char *idea; /* what is new, in one line of up to 60 bytes */
	enum bench_ladder ladder;
	unsigned types;   /* bit BENCH_x: the type is allowed; BENCH_AFFINE: keeps the order */
	unsigned folds;   /* bit BENCH_SUM ...; scans: SUM only */
	uint64_t n_max;   /* the largest n; 0: any */
	bool spoils_input;
	bool exclusive;          /* scans */
	uint32_t section_nbytes; /* scans: values of this many bytes are scanned together, apart
				  * from the others; 0: all of them */
	/* An upper bound on the additions that a value goes through on its way into a result.
	 * It bounds the rounding of float32. */
	uint64_t (*depth)(const struct ladder_run *run);
	/* Makes run ready: type, fold and n are set, the rest is zero. Errors: CUDA's;
	 * cudaErrorNotSupported: this GPU cannot run the rung. */
	cudaError_t (*open)(struct ladder_run *run);
	/* in: n values, 16-byte aligned, device memory, unchanged on return unless
	 * spoils_input. out: reduce, 1 value; scan, n values, 16-byte aligned, no overlap with
	 * in. Launches on the default stream, and does not wait. Errors: the launches'. */
	cudaError_t (*launch)(struct ladder_run *run, void *in, void *out);
};

/* Both ladders: the reductions, then the scans, each naive to shipped, then CUB. */
extern const struct ladder_rung *const ladder_rungs[];
extern const size_t ladder_nrungs;

/* Allocates run->scratch, nbytes of it, zeroed. A rung that needs none still gets an address. */
static inline cudaError_t ladder_scratch(struct ladder_run *run, size_t nbytes)
{
	cudaError_t error = cudaMalloc(&run->scratch, nbytes > 0 ? nbytes : 1);

	if (error != cudaSuccess) {
		run->scratch = NULL;
		return error;
	}
	run->scratch_nbytes = nbytes;
	return cudaMemset(run->scratch, 0, nbytes);
}

/* Frees what open allocated. */
static inline void ladder_close(struct ladder_run *run)
{
	(void)cudaFree(run->scratch); /* an error of earlier work was reported by its own wait */
	run->scratch = NULL;
	run->scratch_nbytes = 0;
}
