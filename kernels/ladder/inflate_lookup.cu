/* SPDX-License-Identifier: MIT
 *
 * inflate_lookup.cu - the codes are looked up: one step a symbol.
 *
 * The next 9 bits are an index, and the entry has symbol and length: what every CPU's decoder does. A thread has fewer
 * steps, and all threads take the same ones more often. But its tables take 1.4 KiB more, and 16,000 threads have more
 * tables than the caches hold: what was computed is now waited for.
 */
#include "inflate_thread.cuh"

#define LOOKUP_NTHREADS 64

typedef struct thread_codes<lookup_code<9, NLITERALS>, lookup_code<8, NDISTANCES>> lookup_codes;

__global__ static void __launch_bounds__(LOOKUP_NTHREADS) lookup(struct inflate_job job)
{
	uint32_t i = blockIdx.x * LOOKUP_NTHREADS + threadIdx.x;
	lookup_codes codes;

	if (i < job.nstreams && !thread_inflate(job, job.streams[i], &codes))
		atomicAdd(job.ndamaged, 1);
}

static cudaError_t lookup_launch(struct inflate_job job, cudaStream_t stream)
{
	if (job.nstreams > 0)
		lookup<<<(job.nstreams + LOOKUP_NTHREADS - 1) / LOOKUP_NTHREADS, LOOKUP_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}

INFLATE_RUNG(lookup, "a table: one step a symbol", lookup_launch)
