/* SPDX-License-Identifier: MIT
 *
 * ladder_bench.h - validates the rungs of a ladder and measures them, on GPU 0.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "bench/ladder/bench.h"
#include "base/status.h"

/* What to measure. */
struct ladder_request {
	enum bench_ladder ladder;
	unsigned types; /* bit BENCH_x: that type; 0: all that are timed */
	size_t nrungs;
	const char *const *rungs; /* by name; none: every rung */
	uint64_t n;      /* 0: 2 GiB of each type, less where the device has less memory */
	unsigned repeat; /* 0: timing_nrepeats chooses */
};

/* Validates every rung asked for (kernels/ladder/check.cuh), and only then times each, on arrays
 * that all rungs of a type share. Rungs of one block run on as many values as they take, all others
 * on n. A rung that is too slow for `repeat` runs in 1.5 s is run less often, but at least three
 * times.
 *
 * Sets *run, which the caller frees with bench_run_free whatever is returned. It has a figure for
 * each rung, type and operation, ordered by type, sums before minima and maxima, and the CPU's
 * rungs before the ladder's. A rung with a wrong result is measured, too, with is_right
 * false. A rung that does not run on this GPU has no figure; if it was asked for by name, that is
 * an error. first, cpu and cub are figures of the same type, operation and n; first is of a rung of
 * the GPU if there is one.
 *
 * Errors: STATUS_USAGE, with the whole sentence in fault's detail, for a name that no rung
 * has, and for a rung that takes none of the types; STATUS_NO_GPU; STATUS_GPU, with the
 * rung's name and CUDA's words; STATUS_NO_MEMORY.
 * Cost: of device memory 3 times the values' bytes (reduce) or 5 times; of the host's twice. */
enum status ladder_bench(const struct ladder_request *request, struct bench_run *run,
			 struct fault *fault);

/* Frees what ladder_bench allocated. A zeroed run is allowed. */
void bench_run_free(struct bench_run *run);

#ifdef __cplusplus
}
#endif
