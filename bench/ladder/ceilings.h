/* SPDX-License-Identifier: MIT
 *
 * ceilings.h - the limits of the machine that gpustat's speed is compared with.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "bench/ladder/bench.h"
#include "base/status.h"

/* Measures them, on GPU 0. *nceilings: the room in ceilings, then how many were written; those
 * beyond the room are left out, CEILINGS_NMAX is enough. The first is the time that the driver and
 * the context take to start, if the process has not called the driver before. Cost: up to 4 GiB of
 * device memory; 768 MiB of host memory; a second or two. Errors: STATUS_NO_GPU; STATUS_GPU, with
 * the ceiling's name and CUDA's words; STATUS_NO_MEMORY. */
#define CEILINGS_NMAX 16
enum status ceilings_measure(struct bench_ceiling *ceilings, size_t *nceilings,
			     struct fault *fault);

#ifdef __cplusplus
}
#endif
