/* SPDX-License-Identifier: MIT
 *
 * ladder_value.cuh - what the benchmark does with arrays of values in device memory, for
 * types that are known at run time. All on the default stream.
 */
#ifndef GPUSTAT_LADDER_VALUE_CUH
#define GPUSTAT_LADDER_VALUE_CUH

#include <cuda_runtime.h>

extern "C" {
#include "bench/ladder/reference.h"
}

/* Which values an array holds; see sample.cuh. */
enum value_sample {
	VALUE_ANY,   /* float32: uniform in [-1, 1); AFFINE: a is odd; others: any bits */
	VALUE_EXACT, /* float32: odd numbers, whose sums do not round; others: as VALUE_ANY */
};

/* Writes values [0, n) of the sample to out. Errors: the launch's. */
cudaError_t value_fill(enum bench_type type, enum value_sample sample, void *out, uint64_t n,
		       uint64_t seed);

/* Adds to *nwrong, in device memory, how many of in[0 .. n) are no longer what value_fill
 * wrote. Errors: the launch's. */
cudaError_t value_count_changed(enum bench_type type, enum value_sample sample, const void *in,
				uint64_t n, uint64_t seed, unsigned *nwrong);

/* A scan as it should have been done: of sections of so many values, 0: of all together. */
struct value_scan {
	const void *in, *out;
	uint64_t n, section_nvalues;
	bool exclusive;
};

/* Adds to *nwrong, in device memory, how many of out[0 .. n) do not follow from the one
 * before, sums; none means that all are right. float32 must follow without rounding: for
 * VALUE_EXACT only. Errors: the launch's. */
cudaError_t value_count_missteps(enum bench_type type, struct value_scan scan, unsigned *nwrong);

/* The fold of in[0 .. n), n values in device memory: parts of them in a plain loop each on
 * the device, the parts in a plain loop on the host. Waits. Errors: memory, the launch. */
cudaError_t value_reference(enum bench_type type, enum bench_fold fold, const void *in,
			    uint64_t n, struct reference *whole);

#endif
