/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce.cuh - what rungs of the reduction share: trees, and how kernels are
 * launched.
 *
 * A family below is the base of the rungs that are launched alike. Its RUNG gives kernel<F>(), the
 * kernel for fold F.
 */
#pragma once

#include "rung.cuh"

extern "C" {
#include "index.h"
}

#define LADDER_NTHREADS 256 /* threads a block, unless a rung chooses them */
#define LADDER_NTHREADS_LOG2 8
static_assert(1u << LADDER_NTHREADS_LOG2 == LADDER_NTHREADS, "trees halve the threads");

/* in[i], or the identity beyond the end. */
template <class F>
static __device__ inline typename F::value ladder_value(const typename F::value *in, uint64_t n,
							uint64_t i)
{
	return i < n ? in[i] : F::identity();
}

/* Blocks for n values, nvalues a block; at least one, which writes the identity if n = 0. */
static inline uint64_t ladder_nblocks(uint64_t n, uint64_t nvalues)
{
	return n == 0 ? 1 : ladder_ntiles(n, nvalues);
}

/* Sets run->nblocks. Error: more than a grid may have. */
static inline cudaError_t ladder_choose_nblocks(struct ladder_run *run, uint64_t nvalues)
{
	uint64_t nblocks = ladder_nblocks(run->n, nvalues);

	run->nblocks = (uint32_t)nblocks;
	return nblocks <= INT32_MAX ? cudaSuccess : cudaErrorInvalidValue;
}

/* The steps of convergent over part[0 .. blockDim.x) in shared memory; each thread contributes x.
 * Valid in thread 0 only, which is also the last to write part[0]. */
template <class F>
static __device__ inline typename F::value convergent_tree(typename F::value *part,
							   typename F::value x)
{
	part[threadIdx.x] = x;
	for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
		__syncthreads(); /* other threads have written what this step reads */
		struct ladder_step step = convergent_step(threadIdx.x, stride);
		if (step.active)
			part[step.to] = F::combine(part[step.to], part[step.from]);
	}
	return part[threadIdx.x];
}

/* ---- one block ---- */

#define REDUCE_BLOCK_NMAX 2048 /* values that a block of 1024 threads reduces */
#define REDUCE_BLOCK_NTHREADS_MAX (REDUCE_BLOCK_NMAX / 2)

/* kernel<F>(): void (T *in, unsigned n, T *out), for one block of n / 2 threads, rounded up to a
 * power of two. */
template <class RUNG> struct reduce_one_block : reduce_rung {
	static const uint64_t n_max = REDUCE_BLOCK_NMAX;

	static unsigned nthreads(uint64_t n)
	{
		unsigned nthreads = 1;

		while (2 * nthreads < n)
			nthreads *= 2;
		return nthreads;
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, T *in, T *out)
	{
		auto kernel = RUNG::template kernel<F>();

		kernel<<<1, nthreads(run->n)>>>(in, (unsigned)run->n, out);
		return cudaGetLastError();
	}

	/* At most one addition a step, and the steps halve 2 x nthreads to 1. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nsteps = 1;

		for (unsigned n = nthreads(run->n); n > 1; n /= 2)
			nsteps++;
		return nsteps;
	}
};

/* ---- many blocks, each of which adds its sum to the output ---- */

/* Adds x to *to, as other blocks do. CUDA has no signed 64-bit atomicAdd; modulo 2^bits the
 * unsigned one is the same. */
static __device__ inline void add_to(float *to, float x)
{
	atomicAdd(to, x);
}

static __device__ inline void add_to(int32_t *to, int32_t x)
{
	atomicAdd((unsigned *)to, (unsigned)x);
}

static __device__ inline void add_to(int64_t *to, int64_t x)
{
	atomicAdd((unsigned long long *)to, (unsigned long long)x);
}

/* kernel<F>(): void (const T *in, uint64_t n, T *out), for blocks of LADDER_NTHREADS threads with
 * NVALUES values each. */
template <class RUNG, unsigned NVALUES> struct reduce_atomic : reduce_rung {
	static const unsigned types = LADDER_TYPES & ~(1u << BENCH_INT128); /* no such atomicAdd */

	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		return ladder_choose_nblocks(run, NVALUES * LADDER_NTHREADS);
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		auto kernel = RUNG::template kernel<F>();
		/* Part of the work. 0 is a sum's identity in every bit. */
		cudaError_t error = cudaMemsetAsync(out, 0, sizeof *out, 0);

		if (error != cudaSuccess)
			return error;
		kernel<<<run->nblocks, LADDER_NTHREADS>>>(in, run->n, out);
		return cudaGetLastError();
	}

	/* A value goes through its thread's other additions, its block's tree, and, if its block is
	 * the first to arrive, the atomics of all. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return NVALUES - 1 + LADDER_NTHREADS_LOG2 + (uint64_t)run->nblocks;
	}
};

/* ---- a grid that fits the GPU, and a second launch of one block for its partials ---- */

/* The fold of the thread's share of in[0 .. n): two values of every stretch of the block's. The
 * stretches of the blocks alternate, so that the grid reads one window of memory at a time. */
template <class F>
static __device__ inline typename F::value fold_share(const typename F::value *in, uint64_t n)
{
	uint64_t step = (uint64_t)gridDim.x * 2 * LADDER_NTHREADS;
	uint64_t i = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS + threadIdx.x;
	typename F::value x = F::identity();

	for (; i < n; i += step)
		x = F::combine(x, F::combine(in[i], ladder_value<F>(in, n, i + LADDER_NTHREADS)));
	return x;
}

/* kernel<F>(): void (const T *in, uint64_t n, T *partials), for blocks of LADDER_NTHREADS threads,
 * each of which writes partials[blockIdx.x]. */
template <class RUNG> struct reduce_fitting_grid : reduce_rung {
	/* As many blocks as run at once, but at least a value a thread. */
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		uint64_t nuseful = ladder_nblocks(run->n, LADDER_NTHREADS);
		cudaError_t error = grid_nresident(RUNG::template kernel<F>(), LADDER_NTHREADS, 0,
						   &run->nblocks);

		if (error != cudaSuccess)
			return error;
		if (run->nblocks > nuseful)
			run->nblocks = (uint32_t)nuseful;
		return ladder_scratch(run, run->nblocks * sizeof(typename F::value));
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		auto kernel = RUNG::template kernel<F>();
		T *partials = (T *)run->scratch;

		kernel<<<run->nblocks, LADDER_NTHREADS>>>(in, run->n, partials);
		cudaError_t error = cudaGetLastError();
		if (error != cudaSuccess)
			return error;
		kernel<<<1, LADDER_NTHREADS>>>(partials, run->nblocks, out);
		return cudaGetLastError();
	}

	/* In either launch a value goes through its thread's additions, a value each and one for
	 * the pair, or a pack each, 3 for its places and one for the values behind; and the
	 * tree. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nthreads = (uint64_t)run->nblocks * LADDER_NTHREADS;

		return ladder_nblocks(run->n, nthreads) + 4 + LADDER_NTHREADS_LOG2 +
		       ladder_nblocks(run->nblocks, LADDER_NTHREADS) + 4 + LADDER_NTHREADS_LOG2;
	}
};
