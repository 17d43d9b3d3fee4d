/* SPDX-License-Identifier: MIT
 *
 * feeding.c - how many threads feed a GPU, whether they pack the text, and how fast that is: see
 * gpu.h.
 */
#include <assert.h>

#include "engine/engine.h"
#include "kernels/worker/gpu.h"
#include "simd/nibbles.h"

#define MIN_THREADS 3        /* each with a stream: one reads, one copies, one computes */
#define MAX_THREADS 16       /* that pack, or read no chunk before theirs is folded */
#define MAX_IN_TURN 12       /* that wait for a pipe, or to print: more are no faster */
#define MAX_READING_AHEAD 10 /* that keep the bus busy */
#define MAX_READING_AHEAD_ALL 24 /* for all GPUs: more get less out of the host's memory */

/* Packing makes more of the bus, but it takes threads: 16 do 79 GB/s and 10 do 55, where 52 is all
 * that the bus carries unpacked (H200, 2026-11-22). Two GPUs' buses together are faster than the
 * host's memory, so packing does not help there. Text that cannot be packed has at most
 * MAX_READING_AHEAD readers, so gpu_packs can decide by their number. */
#define MIN_PACKING 12
static_assert(MAX_READING_AHEAD < MIN_PACKING, "see gpu_packs");

/* Seconds a byte (Xeon with AVX-512, 16 threads, and H200, 2026-11-22: docs/speed.md): of a core
 * that reads for a GPU, beside others that fold, and of one that packs as well; of a GPU, which are
 * its bus's, or those of 16 threads that wait for their folds, as with a condition, with more
 * columns than column_fold takes, or with text to print. */
#define READ_S_PER_BYTE 0.18e-9
#define PACK_S_PER_BYTE 0.22e-9
#define GPU_S_PER_BYTE 0.019e-9
#define GPU_PACKED_S_PER_BYTE 0.0125e-9
#define GPU_WAITED_S_PER_BYTE 0.036e-9
#define GPU_MANY_S_PER_BYTE 0.07e-9
#define GPU_PRINTED_S_PER_BYTE 0.043e-9
#define GPU_UNPACKED_S_PER_BYTE 0.028e-9 /* of text whose blocks it decodes (H100, 2026-11-23) */

#define COLUMNS_MANY 256

#define SAMPLE_NBYTES ((size_t)16 << 10) /* enough to see whether text can be packed */

bool gpu_reads_ahead(const struct gpu_work *work)
{
	return work->input_nbytes != UINT64_MAX && plan_folds_columns(work->plan);
}

static bool is_packable(const struct gpu_work *work)
{
	unsigned char packed[SAMPLE_NBYTES / 2];
	size_t nbytes = work->sample_nbytes < SAMPLE_NBYTES ? work->sample_nbytes : SAMPLE_NBYTES;

	return nbytes > 0 && nibbles_pack(work->sample, nbytes,
					  nibble_letters(work->plan->dialect.delimiter), packed);
}

static int most_threads(const struct gpu_work *work, bool packs)
{
	int share = MAX_READING_AHEAD_ALL / work->ngpus;

	if (work->unpacks)
		return MAX_THREADS;
	if (work->input_nbytes == UINT64_MAX || work->plan->emits)
		return MAX_IN_TURN;
	if (packs || !gpu_reads_ahead(work))
		return MAX_THREADS;
	return share < MAX_READING_AHEAD ? share : MAX_READING_AHEAD;
}

int gpu_nthreads(const struct gpu_work *work)
{
	bool ahead = gpu_reads_ahead(work);
	bool packs = ahead && work->ngpus == 1 && work->ncores >= MIN_PACKING && is_packable(work);
	bool leaves_half = work->beside_cpus && ahead && !packs;
	int nthreads = leaves_half ? work->ncores / 2 : work->ncores;
	int most = most_threads(work, packs);

	nthreads = nthreads < most ? nthreads : most;
	return nthreads > MIN_THREADS ? nthreads : MIN_THREADS;
}

bool gpu_packs(const struct plan *plan, const struct worker_setup *setup)
{
	return setup->nreaders >= MIN_PACKING && plan_folds_columns(plan);
}

/* Seconds a byte of the GPU itself, with as many threads as it needs. */
static double gpu_s_per_byte(const struct plan *plan, const struct worker_pool *pool, bool packs)
{
	if (plan->emits)
		return GPU_PRINTED_S_PER_BYTE;
	if (pool->setup.unpacks)
		return GPU_UNPACKED_S_PER_BYTE;
	if (!plan_folds_columns(plan) && plan->ncolumns > COLUMNS_MANY)
		return GPU_MANY_S_PER_BYTE;
	if (!pool->reads_ahead)
		return GPU_WAITED_S_PER_BYTE;
	return packs ? GPU_PACKED_S_PER_BYTE : GPU_S_PER_BYTE;
}

double gpu_speed(const struct plan *plan, const struct worker_pool *pool)
{
	bool packs = gpu_packs(plan, &pool->setup);
	double threads = pool->nthreads / (packs ? PACK_S_PER_BYTE : READ_S_PER_BYTE);
	double gpu = 1 / gpu_s_per_byte(plan, pool, packs);

	return threads < gpu && !pool->setup.unpacks ? threads : gpu;
}
