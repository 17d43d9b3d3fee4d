/* SPDX-License-Identifier: MIT
 *
 * gpu.h - what the host program asks about GPUs, beside worker_gpu (src/engine/worker.h).
 */
#ifndef GPUSTAT_GPU_H
#define GPUSTAT_GPU_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plan;

/* The number of GPUs that the driver offers; 0 where there is none, or no driver. Never
 * fails, and makes no context. */
int gpu_count(void);

/* How many GPUs there may be, by their device files: the driver is not asked, as its first answer
 * takes long. It may offer fewer. No more than CUDA_VISIBLE_DEVICES names, if it is set. */
int gpu_estimate(void);

/* Whether a GPU folds the plan's columns straight from the text, before it is known how a chunk is
 * entered. Otherwise a chunk waits for those before it. */
bool gpu_folds_ahead(const struct plan *plan);

/* Keeps the calling thread to the cores next to GPU `device`, if the system knows which they are
 * and it may run there: what it allocates then lies near, too. */
void gpu_keep_near(int device);

/* Writes the name of GPU `device` into text[0 .. nbytes), NUL-terminated, cut to fit;
 * nbytes > 0. "unknown GPU" where the driver will not say. Returns text. */
const char *gpu_name(int device, char *text, size_t nbytes);

/* Writes the versions of the CUDA runtime and of the driver, likewise. Returns text. */
const char *gpu_versions(char *text, size_t nbytes);

#ifdef __cplusplus
}
#endif

#endif
