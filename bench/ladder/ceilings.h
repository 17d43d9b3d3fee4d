/* SPDX-License-Identifier: MIT
 *
 * ceilings.h - what the machine itself allows: the limits that gpustat's speed is held
 * against.
 */
#ifndef GPUSTAT_CEILINGS_H
#define GPUSTAT_CEILINGS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "bench/ladder/bench.h"
#include "base/status.h"

/* Measures them, on GPU 0. *nceilings: the room in ceilings, then how many were filled in;
 * more than there is room for are left out, CEILINGS_NMAX is enough.
 * The first is the time that the driver and the context take to start: that is true of a
 * process which has not asked the driver anything before it calls this.
 * Cost: 4 GiB of device memory, or what there is; 512 MiB of the host's; a second or two.
 * Errors: STATUS_NO_GPU; STATUS_GPU, with the ceiling's name and CUDA's words;
 * STATUS_NO_MEMORY. */
#define CEILINGS_NMAX 16
enum status ceilings_measure(struct bench_ceiling *ceilings, size_t *nceilings,
			     struct fault *fault);

#ifdef __cplusplus
}
#endif

#endif
