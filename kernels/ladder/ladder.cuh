/* SPDX-License-Identifier: MIT
 *
 * ladder.cuh - what a rung is. gpustat-bench runs them; gpustat runs the last of each
 * ladder only.
 *
 * A rung is one idea, in one kernel, in one place: ladder_reduce_*.cu and ladder_scan_*.cu,
 * naive to shipped, each with its why. The tables reduce_ladder and scan_ladder list them.
 */
#ifndef GPUSTAT_LADDER_CUH
#define GPUSTAT_LADDER_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/scan/scan.cuh"

extern "C" {
#include "bench/ladder/bench.h"
}

/* A rung that is ready for arrays of one size: opened once, launched often. */
struct ladder_run {
	enum bench_type type;
	enum bench_fold fold;
	uint64_t n;
	uint32_t nblocks;       /* where the rung chooses its grid once */
	void *scratch;          /* device memory, zeroed once, then the rung's own */
	size_t scratch_nbytes;
	struct scan_shape shape; /* rungs that are engines of scan.cuh */
	struct scan_memory memory;
};

/* A row of a ladder. */
struct ladder_rung {
	const char *name; /* of its idea: "warp_shuffle" */
	const char *idea; /* what is new, in one line of up to 60 bytes */
	uint64_t n_max;   /* the largest n; 0: any */
	unsigned types;   /* bit BENCH_x: the type is allowed; BENCH_AFFINE: keeps the order */
	unsigned folds;   /* bit BENCH_SUM ...; the scans': SUM only */
	bool spoils_input;
	bool exclusive;          /* scans */
	uint32_t section_nbytes; /* scans: so many bytes of values are scanned together,
				  * apart from the others; 0: all of them */
	/* An upper bound on the additions that a value goes through on its way into a
	 * result: what bounds the rounding of float32. */
	uint64_t (*depth)(const struct ladder_run *run);
	/* Makes run ready: type, fold and n are set, the rest is zero. Errors: CUDA's. */
	cudaError_t (*open)(struct ladder_run *run);
	/* in: n values, 16-byte aligned, device memory, left as they are unless
	 * spoils_input. out: reduce, 1 value; scan, n values, 16-byte aligned, apart from
	 * in. Launches on the default stream, and does not wait. Errors: the launches'. */
	cudaError_t (*launch)(struct ladder_run *run, void *in, void *out);
};

extern const struct ladder_rung reduce_ladder[], scan_ladder[];
extern const size_t reduce_ladder_nrungs, scan_ladder_nrungs;

/* Frees what open allocated (run->scratch). */
void ladder_close(struct ladder_run *run);

/* Allocates run->scratch, nbytes of it, zeroed. */
cudaError_t ladder_scratch(struct ladder_run *run, size_t nbytes);

#endif
