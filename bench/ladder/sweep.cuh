/* SPDX-License-Identifier: MIT
 *
 * sweep.cuh - how fast device memory can be read, and copied: the ceilings that rungs are
 * held against, beside the datasheet's figure, which nothing reaches.
 */
#ifndef GPUSTAT_SWEEP_CUH
#define GPUSTAT_SWEEP_CUH

#include <cuda_runtime.h>
#include <stddef.h>

extern "C" {
#include "bench/ladder/bench.h"
}

enum sweep_kind {
	SWEEP_READ,
	SWEEP_COPY,   /* by a kernel; bytes count twice, read and written */
	SWEEP_MEMCPY, /* by cudaMemcpyAsync; likewise */
};

/* What to sweep over: nslots arrays of nbytes, slot_nbytes apart, taking turns so that the
 * cache does not answer. Device memory, 16-byte aligned. out: not for SWEEP_READ, which
 * takes the first 4 bytes there for itself. */
struct sweep_arrays {
	const char *in;
	char *out;
	size_t nbytes, slot_nbytes, nslots;
	size_t out_slot_nbytes; /* slot_nbytes, or 0: all write to the same */
};

/* Times each of a few shapes of the sweep (how many loads a thread has in flight, how many
 * blocks) and gives the median time and the speed of the fastest. Waits. Errors: the launches'. */
cudaError_t sweep_measure(enum sweep_kind kind, const struct sweep_arrays *arrays,
			  struct bench_time *time, double *gbps);

#endif
