/* SPDX-License-Identifier: MIT
 *
 * inflate_simple.cu - the first rung: a thread a stream, its codes bit by bit.
 *
 * It is what RFC 1951 says, line by line. A code of 8 bits takes 8 steps, each with a branch, and the threads of a warp
 * are seldom in the same one: their streams have nothing to do with each other. Each thread's counts and symbols lie in its
 * own device memory ("local"), and so does what it writes: 32 places for 32 threads, a byte each.
 */
#include "inflate_thread.cuh"

#define SIMPLE_NTHREADS 64

typedef struct thread_codes<canonical_code<NLITERALS>, canonical_code<NDISTANCES>> simple_codes;

__global__ static void __launch_bounds__(SIMPLE_NTHREADS) simple(struct inflate_job job)
{
	uint32_t i = blockIdx.x * SIMPLE_NTHREADS + threadIdx.x;
	simple_codes codes;

	if (i < job.nstreams && !thread_inflate(job, job.streams[i], &codes))
		atomicAdd(job.ndamaged, 1);
}

static cudaError_t simple_launch(struct inflate_job job, cudaStream_t stream)
{
	if (job.nstreams > 0)
		simple<<<(job.nstreams + SIMPLE_NTHREADS - 1) / SIMPLE_NTHREADS, SIMPLE_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}

INFLATE_RUNG(simple, "a thread a stream, its codes found bit by bit", simple_launch)
