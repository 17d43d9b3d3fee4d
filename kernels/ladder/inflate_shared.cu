/* SPDX-License-Identifier: MIT
 *
 * inflate_shared.cu - the tables in shared memory, and a warp for each stream, of which one lane works.
 *
 * It seems to waste 31 of 32 lanes. But lanes with streams of their own take turns anyway, since each goes its own way;
 * alone in its warp, a lane waits for no other, and as many warps as streams hide each other's waiting. What is still done by
 * one lane alone, the shipped kernel (kernels/codec/inflate_blocks.cuh) does with all 32: tables are made, and matches copied, an
 * entry or a byte a lane.
 */
#include "inflate_thread.cuh"

#define WARP_NTHREADS 32

typedef struct thread_codes<lookup_code<9, NLITERALS>, lookup_code<8, NDISTANCES>> shared_codes;

__global__ static void __launch_bounds__(WARP_NTHREADS) shared(struct inflate_job job)
{
	__shared__ shared_codes codes;

	if (threadIdx.x == 0 && !thread_inflate(job, job.streams[blockIdx.x], &codes))
		atomicAdd(job.ndamaged, 1);
}

static cudaError_t shared_launch(struct inflate_job job, cudaStream_t stream)
{
	if (job.nstreams > 0)
		shared<<<job.nstreams, WARP_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}

INFLATE_RUNG(shared, "a warp a stream, one lane at work, its tables in shared memory", shared_launch)
