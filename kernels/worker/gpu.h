/* SPDX-License-Identifier: MIT
 *
 * gpu.h - all that src/ knows of GPUs, beside worker_gpu (src/engine/worker.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of GPUs that the driver offers; 0 without a GPU or driver. Does not fail, and makes no
 * context. */
int gpu_count(void);

/* The number of GPUs that there may be, by their device files, at most as many as
 * CUDA_VISIBLE_DEVICES names; the driver may offer fewer. It is not asked, since its first answer
 * takes long. */
int gpu_estimate(void);

/* Members of compressed files, decoded on a GPU. */
struct device_inflate_ops;
extern const struct device_inflate_ops device_inflate_gpu;

/* ---- one GPU ---- */

/* Binds the calling thread to the cores next to GPU `device`, as far as the system knows them and
 * allows it: memory that the thread allocates is then near, too. */
void gpu_keep_near(int device);

/* Writes the name of GPU `device` into text[0 .. nbytes), NUL-terminated, cut to fit; nbytes > 0.
 * "unknown GPU" if the driver does not tell. Returns text. */
const char *gpu_name(int device, char *text, size_t nbytes);

/* Like gpu_name, but writes the versions of the CUDA runtime and of the driver. */
const char *gpu_versions(char *text, size_t nbytes);

#ifdef __cplusplus
}
#endif
