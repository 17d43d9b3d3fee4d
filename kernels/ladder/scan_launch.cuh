/* SPDX-License-Identifier: MIT
 *
 * scan_launch.cuh - the host's side of scan_job.cuh, for any fold.
 */
#pragma once

#include "scan_lookahead.cuh"
#include "scan_lookback.cuh"

#ifndef SCAN_LOOKBACK_NTHREADS
#define SCAN_LOOKBACK_NTHREADS 256
#define SCAN_LOOKBACK_NPACKS 5 /* tiles of 20 KiB; odd: see kernels/ladder/scan_tile.cuh */
#endif
#define SCAN_PTX_LOOKAHEAD 90 /* the least code version that has its instructions */

/* The sizes of look-ahead that are shipped, by the size of a value: the best of those that
 * tests/gpu/time_scan.cu tries. The more bytes an aggregate has, the larger the tiles should be:
 * each block reads them all. On an H200, 2 GiB, GB/s read and written, against CUB's (CUDA
 * 13.0, 2026-11-21): see docs/ladder.md. */
template <unsigned VALUE_NBYTES> struct scan_lookahead_sizes {
	enum { NGROUPS = 4, NWARPS = 6, NPACKS = 9, NSTAGES = 8 }; /* tiles of 27 KiB */
};
template <> struct scan_lookahead_sizes<8> {
	enum { NGROUPS = 3, NWARPS = 8, NPACKS = 9, NSTAGES = 6 }; /* 36 KiB */
};
template <> struct scan_lookahead_sizes<16> {
	enum { NGROUPS = 3, NWARPS = 8, NPACKS = 11, NSTAGES = 5 }; /* 44 KiB */
};

/* The ring of scan_lookahead with the most stages up to nstages_max that it can have. */
static inline struct lookahead_size lookahead_size_of(uint32_t ngroups, uint32_t nstages_max)
{
	for (uint32_t nstages = nstages_max; nstages > ngroups; nstages--)
		for (uint32_t nturns = nstages; nturns <= LOOKAHEAD_NTURNS_MAX; nturns += nstages)
			if (nturns % ngroups == 0)
				return {nstages, nturns};
	return {0, 0};
}

/* What scan_lookahead<F, NGROUPS, NWARPS, NPACKS> needs with up to nstages stages, as far as
 * the device's shared memory reaches. */
template <class F, unsigned NGROUPS, unsigned NWARPS, unsigned NPACKS>
static cudaError_t lookahead_shape(uint32_t nstages, struct scan_shape *shape)
{
	const uint32_t nthreads = LOOKAHEAD_NTHREADS(NGROUPS, NWARPS);
	const uint32_t stage_nbytes = NWARPS * WARP_NLANES * NPACKS * SCAN_PACK_NBYTES;
	auto kernel = scan_lookahead<F, NGROUPS, NWARPS, NPACKS>;
	struct cudaFuncAttributes code;
	int device, nbytes;
	uint32_t nblocks;
	cudaError_t error;

	static_assert(NPACKS % 2 == 1 && stage_nbytes <= ASYNC_NBYTES_MAX, "see scan_tile.cuh");
	if ((error = cudaGetDevice(&device)) != cudaSuccess ||
	    (error = cudaFuncGetAttributes(&code, kernel)) != cudaSuccess ||
	    (error = cudaDeviceGetAttribute(&nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
					    device)) != cudaSuccess)
		return error;
	uint32_t nfitting = ((uint32_t)nbytes - (uint32_t)code.sharedSizeBytes) / stage_nbytes;
	if (nstages > nfitting)
		nstages = nfitting;
	nstages = lookahead_size_of(NGROUPS, nstages).nstages;
	if (code.ptxVersion < SCAN_PTX_LOOKAHEAD || nstages == 0)
		return cudaErrorNotSupported;
	error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
				     (int)(nstages * stage_nbytes));
	if (error == cudaSuccess)
		error = grid_nresident(kernel, nthreads, nstages * stage_nbytes, &nblocks);
	if (error != cudaSuccess)
		return error;
	if (nblocks == 0)
		return cudaErrorNotSupported;
	*shape = {SCAN_LOOKAHEAD, (uint32_t)(stage_nbytes / sizeof(typename F::value)), nblocks,
		  nstages, nstages * stage_nbytes};
	return cudaSuccess;
}

static inline uint64_t scan_ntiles(const struct scan_shape *shape, uint64_t n)
{
	return n / shape->tile_nvalues + (n % shape->tile_nvalues != 0);
}

/* The scan of no values: copies the carry. */
template <class F> __global__ static void scan_nothing(struct scan_job<typename F::value> job)
{
	*job.carry_out = job.carry_in != NULL ? *job.carry_in : F::identity();
}

/* Checks the arguments of scan_launch. */
template <class T>
static cudaError_t scan_check(const struct scan_memory *memory, uint64_t ntiles,
			      const struct scan_job<T> &job)
{
	if ((uintptr_t)job.in % SCAN_ALIGN != 0 || (uintptr_t)job.out % SCAN_ALIGN != 0)
		return cudaErrorInvalidValue;
	if (ntiles > memory->domino.nslots / grid_nwords<T>() || ntiles > INT32_MAX)
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

/* Like scan_launch, for SCAN_LOOKAHEAD with the given sizes. */
template <class F, unsigned NGROUPS, unsigned NWARPS, unsigned NPACKS>
static cudaError_t lookahead_launch(const struct scan_shape *shape, struct scan_memory *memory,
				    const struct scan_job<typename F::value> &job,
				    cudaStream_t stream)
{
	const uint32_t nthreads = LOOKAHEAD_NTHREADS(NGROUPS, NWARPS);
	uint32_t ntiles = (uint32_t)scan_ntiles(shape, job.n);
	uint32_t nblocks = ntiles < shape->nblocks ? ntiles : shape->nblocks;
	cudaError_t error = grid_domino_advance(&memory->domino, stream);

	if (error != cudaSuccess)
		return error;
	scan_lookahead<F, NGROUPS, NWARPS, NPACKS>
		<<<nblocks, nthreads, shape->shared_nbytes, stream>>>(
			job, memory->domino, ntiles, lookahead_size_of(NGROUPS, shape->nstages));
	return cudaGetLastError();
}

template <class F, unsigned NTHREADS, unsigned NPACKS>
static cudaError_t lookback_launch(const struct scan_shape *shape, struct scan_memory *memory,
				   const struct scan_job<typename F::value> &job,
				   cudaStream_t stream)
{
	uint32_t ntiles = (uint32_t)scan_ntiles(shape, job.n);
	cudaError_t error = grid_domino_advance(&memory->domino, stream);

	if (error != cudaSuccess)
		return error;
	scan_lookback<F, NTHREADS, NPACKS><<<ntiles, NTHREADS, 0, stream>>>(job, memory->domino);
	return cudaGetLastError();
}

template <class F, unsigned NTHREADS, unsigned NPACKS>
static cudaError_t lookback_shape(struct scan_shape *shape)
{
	struct cudaFuncAttributes code;
	const uint32_t tile_nbytes = NTHREADS * NPACKS * SCAN_PACK_NBYTES;

	static_assert(NPACKS % 2 == 1, "see scan_tile.cuh");
	*shape = {SCAN_LOOKBACK, (uint32_t)(tile_nbytes / sizeof(typename F::value)), 0, 0, 0};
	return cudaFuncGetAttributes(&code, scan_lookback<F, NTHREADS, NPACKS>);
}

template <class F>
cudaError_t scan_shape_of(enum scan_engine engine, struct scan_shape *shape)
{
	typedef scan_lookahead_sizes<sizeof(typename F::value)> sizes;

	if (engine == SCAN_LOOKBACK)
		return lookback_shape<F, SCAN_LOOKBACK_NTHREADS, SCAN_LOOKBACK_NPACKS>(shape);
	return lookahead_shape<F, sizes::NGROUPS, sizes::NWARPS, sizes::NPACKS>(sizes::NSTAGES,
										shape);
}

template <class F> cudaError_t scan_shape_choose(struct scan_shape *shape)
{
	cudaError_t error = scan_shape_of<F>(SCAN_LOOKAHEAD, shape);

	return error == cudaErrorNotSupported ? scan_shape_of<F>(SCAN_LOOKBACK, shape) : error;
}

template <class F> size_t scan_memory_nbytes(const struct scan_shape *shape, uint64_t n)
{
	uint64_t nslots = scan_ntiles(shape, n) * grid_nwords<typename F::value>();

	return (size_t)(1 + (nslots > 0 ? nslots : 1)) * sizeof(uint64_t);
}

template <class F>
cudaError_t scan_launch(const struct scan_shape *shape, struct scan_memory *memory,
			struct scan_job<typename F::value> job, cudaStream_t stream)
{
	typedef scan_lookahead_sizes<sizeof(typename F::value)> sizes;
	cudaError_t error = scan_check(memory, scan_ntiles(shape, job.n), job);

	if (error != cudaSuccess)
		return error;
	if (job.n == 0) {
		if (job.carry_out == NULL)
			return cudaSuccess;
		scan_nothing<F><<<1, 1, 0, stream>>>(job);
		return cudaGetLastError();
	}
	if (shape->engine == SCAN_LOOKBACK)
		return lookback_launch<F, SCAN_LOOKBACK_NTHREADS, SCAN_LOOKBACK_NPACKS>(
			shape, memory, job, stream);
	return lookahead_launch<F, sizes::NGROUPS, sizes::NWARPS, sizes::NPACKS>(shape, memory, job,
										 stream);
}
