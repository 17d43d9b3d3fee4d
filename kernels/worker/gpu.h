/* SPDX-License-Identifier: MIT
 *
 * gpu.h - all that src/ knows of GPUs, beside worker_gpu (src/engine/worker.h).
 */
#ifndef GPUSTAT_GPU_H
#define GPUSTAT_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plan;
struct worker_pool;
struct worker_setup;

/* The number of GPUs that the driver offers; 0 without a GPU or driver. Does not fail, and makes no
 * context. */
int gpu_count(void);

/* The number of GPUs that there may be, by their device files, at most as many as
 * CUDA_VISIBLE_DEVICES names; the driver may offer fewer. It is not asked, since its first answer
 * takes long. */
int gpu_estimate(void);

/* ---- how GPUs are fed: feeding.c ---- */

/* What one of ngpus is to do. */
struct gpu_work {
	const struct plan *plan;
	uint64_t input_nbytes; /* UINT64_MAX: not known, as of a pipe */
	bool unpacks;          /* the GPU decodes the input's blocks */
	const char *sample;    /* the text's beginning */
	size_t sample_nbytes;  /* 0: not known */
	int ngpus, ncores;     /* cores for each GPU */
	bool beside_cpus;      /* CPU workers share the cores */
};

/* Whether a thread should read one chunk while its GPU works on another. False if the thread may
 * have to wait for its input or for other chunks; more threads are faster then: 300 columns took
 * 1.54 s with reading ahead and 0.82 without, a sum with a condition 1.10 and 0.88 (H200,
 * 2026-11-22). */
bool gpu_reads_ahead(const struct gpu_work *work);

/* The number of threads that keep a GPU busy. Reading takes longest, at 7 GB/s a thread; threads
 * that only read leave half of the cores to CPU workers beside them. */
int gpu_nthreads(const struct gpu_work *work);

/* Whether workers of that setup pack text on its way to the device, where it can be packed. */
bool gpu_packs(const struct plan *plan, const struct worker_setup *setup);

/* Bytes of text a second that a pool's GPU folds, once awake. */
double gpu_speed(const struct plan *plan, const struct worker_pool *pool);

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

#endif
