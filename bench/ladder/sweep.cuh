/* SPDX-License-Identifier: MIT
 *
 * sweep.cuh - how fast device memory can be read and copied: the ceilings that rungs are compared
 * with, beside the datasheet's figure, which nothing reaches.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>

extern "C" {
#include "bench/ladder/bench.h"
}

enum sweep_kind {
	SWEEP_READ,
	SWEEP_COPY,   /* by a kernel; bytes count twice, read and written */
	SWEEP_MEMCPY, /* by cudaMemcpyAsync; bytes count twice, too */
};

/* The arrays: nslots of nbytes, slot_nbytes apart, used in turn so that they are not in the cache.
 * Device memory, 16-byte aligned. SWEEP_READ may write the first 4 bytes of out, and no more. */
struct sweep_arrays {
	const char *in;
	char *out;
	size_t nbytes, slot_nbytes, nslots;
	size_t out_slot_nbytes; /* slot_nbytes, or 0: one slot for all */
};

/* Times several shapes of the sweep (loads in flight a thread, number of blocks) and returns the
 * median time and the speed of the fastest. Waits. Errors: the launches'. */
cudaError_t sweep_measure(enum sweep_kind kind, const struct sweep_arrays *arrays,
			  struct bench_time *time, double *gbps);
