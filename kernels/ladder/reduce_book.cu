/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce_book.cu - the first five rungs of the reduction: one block, and then as
 * many as there are values for.
 *
 * Source: W. Hwu, D. Kirk, I. El Hajj, "Programming Massively Parallel Processors", 4th ed.,
 * 2022, chapter 10. The book's kernels take it that n fits their blocks exactly and that
 * somebody has zeroed the output; these are right for every n. Who adds what to what stands in
 * kernels/ladder/index.h, where `gpustat-bench model` counts it.
 */
#include "kernels/ladder/reduce.cuh"

extern "C" {
#include "kernels/ladder/index.h"
}

#define BOOK_NTHREADS_MAX (REDUCE_BLOCK_NMAX / 2)
#define BOOK_COARSENING 4 /* coarsened: 2 x 4 values a thread */

/* ---- one block ---- */

/* simple: a sum needs every value once, but not one after the other: pairs, then pairs of
 * pairs, log2 n steps in all. The textbook's first try gives thread t position 2t and lets
 * every other of the threads still at work rest in each step. It wastes nearly all it is
 * given: up to stride 32 every warp still runs, for ever fewer threads, at last for one; and
 * as the gaps widen, a warp's loads touch ever more sectors for ever less.
 * It works in x itself, in device memory. It keeps the order. */
template <class F>
__global__ static void __launch_bounds__(BOOK_NTHREADS_MAX)
simple(typename F::value *x, unsigned n, typename F::value *out)
{
	for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
		struct ladder_step step = simple_step(threadIdx.x, stride);
		if (step.active && step.from < n)
			x[step.to] = F::combine(x[step.to], x[step.from]);
		__syncthreads(); /* the next step reads what others wrote in this */
	}
	if (threadIdx.x == 0)
		*out = n > 0 ? x[0] : F::identity();
}

/* convergent: the same number of steps, the strides turned round, n / 2 down to 1. The threads
 * that stay are now the first ones, side by side: whole warps retire (only the last five
 * steps run a warp for some of its threads), and a warp's loads are adjacent, a few sectors
 * in place of one a thread. What is left to waste: every step still goes to device memory,
 * twice for reading and once for writing.
 * It adds x[t] and x[t + stride] before what lies between them: the fold must commute. */
template <class F>
__global__ static void __launch_bounds__(BOOK_NTHREADS_MAX)
convergent(typename F::value *x, unsigned n, typename F::value *out)
{
	for (unsigned stride = blockDim.x; stride >= 1; stride /= 2) {
		struct ladder_step step = convergent_step(threadIdx.x, stride);
		if (step.active && step.from < n)
			x[step.to] = F::combine(x[step.to], x[step.from]);
		__syncthreads(); /* the next step reads what others wrote in this */
	}
	if (threadIdx.x == 0)
		*out = n > 0 ? x[0] : F::identity();
}

/* The steps of convergent over part[0 .. blockDim.x) in shared memory, of which each thread
 * brings one. Valid in thread 0 only, which is also the last to write part[0]. */
template <class F>
static __device__ inline typename F::value convergent_tree(typename F::value *part,
							   typename F::value x)
{
	part[threadIdx.x] = x;
	for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
		__syncthreads(); /* others have written what this step reads */
		struct ladder_step step = convergent_step(threadIdx.x, stride);
		if (step.active)
			part[step.to] = F::combine(part[step.to], part[step.from]);
	}
	return part[threadIdx.x];
}

/* shared_memory: only the first step needs device memory at all. Each thread loads its two
 * values, adds them in a register, and from there on partial sums live in shared memory, on
 * the multiprocessor itself: 2 loads a thread and 1 store a block are left. The input stays as
 * it was. Threads without values bring the identity; in the book they read what lies beyond
 * the array. Its limit is the block: 2048 values, on one of all the multiprocessors.
 * The fold must commute. */
template <class F>
__global__ static void __launch_bounds__(BOOK_NTHREADS_MAX)
shared_memory(const typename F::value *in, unsigned n, typename F::value *out)
{
	__shared__ typename F::value part[BOOK_NTHREADS_MAX];
	struct ladder_step step = convergent_step(threadIdx.x, blockDim.x);
	typename F::value x = ladder_value<F>(in, n, step.to);

	if (step.from < n)
		x = F::combine(x, in[step.from]);
	x = convergent_tree<F>(part, x);
	if (threadIdx.x == 0)
		*out = x;
}

/* Threads for n values: half as many, rounded up to a power of two. */
static unsigned block_nthreads(uint64_t n)
{
	unsigned nthreads = 1;

	while (2 * nthreads < n)
		nthreads *= 2;
	return nthreads;
}

static cudaError_t block_open(struct ladder_run *run)
{
	run->nblocks = 1;
	return run->n <= REDUCE_BLOCK_NMAX ? cudaSuccess : cudaErrorInvalidValue;
}

template <class F, class KERNEL>
static cudaError_t block_launch(KERNEL kernel, const struct ladder_run *run, void *in, void *out)
{
	typedef typename F::value value;

	kernel<<<1, block_nthreads(run->n)>>>((value *)in, (unsigned)run->n, (value *)out);
	return cudaGetLastError();
}

/* A value goes through at most one addition a step, and steps halve 2 x nthreads to 1. */
static uint64_t block_depth(const struct ladder_run *run)
{
	uint64_t nsteps = 1;

	for (unsigned nthreads = block_nthreads(run->n); nthreads > 1; nthreads /= 2)
		nsteps++;
	return nsteps;
}

/* What a rung of one block has beside its kernel. */
#define BLOCK_RUNG(name)                                                                      \
	cudaError_t reduce_##name##_open(struct ladder_run *run)                              \
	{                                                                                     \
		return block_open(run);                                                       \
	}                                                                                     \
	cudaError_t reduce_##name##_launch(struct ladder_run *run, void *in, void *out)       \
	{                                                                                     \
		return REDUCE_WITH_FOLD(name, run, block_launch<F>(name<F>, run, in, out));   \
	}                                                                                     \
	uint64_t reduce_##name##_depth(const struct ladder_run *run)                          \
	{                                                                                     \
		return block_depth(run);                                                      \
	}

BLOCK_RUNG(simple)
BLOCK_RUNG(convergent)
BLOCK_RUNG(shared_memory)

/* ---- many blocks, joined by atomics ---- */

/* Adds x to *to, which other blocks do as well. CUDA has no signed 64-bit atomicAdd; modulo
 * 2^bits the unsigned one does the same. */
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

/* segmented_atomic: one block leaves all multiprocessors but one idle. Here each block does
 * what shared_memory did on a segment of its own, 2 values a thread, and adds its sum to the
 * output with one atomic: blocks need not know of each other, and n is free. But all atomics
 * go to one address, one after the other, and every 512 values pay for a block's start, its
 * tree and the idle threads in it.
 * Blocks arrive in any order: the fold must be a sum, and a float's last bits change from run
 * to run. The sum goes to output; in print it is seen going to &output, the pointer. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
segmented_atomic(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	uint64_t segment = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS;
	uint64_t i = segment + threadIdx.x;
	typename F::value x = F::combine(ladder_value<F>(in, n, i),
					 ladder_value<F>(in, n, i + LADDER_NTHREADS));

	x = convergent_tree<F>(part, x);
	if (threadIdx.x == 0)
		add_to(out, x);
}

/* coarsened: a GPU runs some hundreds of blocks at once; the others of segmented_atomic only
 * queue, and each pays for parallelism that is not there. Here each thread adds 2 x FACTOR
 * values first, in a register: no barrier, no idle thread, and loads that do not wait for each
 * other; trees and atomics are fewer by FACTOR. Neighbouring threads still read
 * neighbouring values, a block's width apart from round to round.
 * The sum begins with the segment's first value and the loop with its second round; in
 * print that first load is seen left out, and the sum is short by it. As to order: as
 * segmented_atomic. */
template <class F, unsigned FACTOR = BOOK_COARSENING>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
coarsened(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	uint64_t segment = (uint64_t)blockIdx.x * 2 * FACTOR * LADDER_NTHREADS;
	uint64_t i = segment + threadIdx.x;
	typename F::value x = ladder_value<F>(in, n, i);

#pragma unroll
	for (unsigned round = 1; round < 2 * FACTOR; round++)
		x = F::combine(x, ladder_value<F>(in, n, i + round * LADDER_NTHREADS));
	x = convergent_tree<F>(part, x);
	if (threadIdx.x == 0)
		add_to(out, x);
}

/* Zeroes the output, which is part of the work: 0 is a sum's identity in every bit. */
template <class F, class KERNEL>
static cudaError_t atomic_launch(KERNEL kernel, const struct ladder_run *run, const void *in,
				 void *out)
{
	typedef typename F::value value;
	cudaError_t error = cudaMemsetAsync(out, 0, sizeof(value), 0);

	if (error != cudaSuccess)
		return error;
	kernel<<<run->nblocks, LADDER_NTHREADS>>>((const value *)in, run->n, (value *)out);
	return cudaGetLastError();
}

/* What a rung of atomics has beside its kernel. nvalues: a thread's.
 * depth: a value goes through its thread's other additions, its block's tree, and, if its
 * block is the first to arrive, the atomics of all. */
#define ATOMIC_RUNG(name, nvalues)                                                            \
	cudaError_t reduce_##name##_open(struct ladder_run *run)                              \
	{                                                                                     \
		return ladder_choose_nblocks(run, (nvalues) * LADDER_NTHREADS);               \
	}                                                                                     \
	cudaError_t reduce_##name##_launch(struct ladder_run *run, void *in, void *out)       \
	{                                                                                     \
		return REDUCE_WITH_FOLD(name, run, atomic_launch<F>(name<F>, run, in, out));  \
	}                                                                                     \
	uint64_t reduce_##name##_depth(const struct ladder_run *run)                          \
	{                                                                                     \
		return (nvalues) - 1 + LADDER_NTHREADS_LOG2 + (uint64_t)run->nblocks;         \
	}

ATOMIC_RUNG(segmented_atomic, 2)
ATOMIC_RUNG(coarsened, 2 * BOOK_COARSENING)
