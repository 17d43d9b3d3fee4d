/* SPDX-License-Identifier: MIT
 *
 * group_simple.cu - the first rung: a thread a record, two atomic additions each.
 *
 * With millions of groups this is not bad: a slot is seldom in a cache, and whoever adds to it waits for memory. With
 * eight, all threads add to the same eight places, and each place takes one addition after the other.
 */
#include "group_rung.cuh"

#define SIMPLE_NTHREADS 256

__global__ static void __launch_bounds__(SIMPLE_NTHREADS) simple(struct group_run run)
{
	uint32_t i = blockIdx.x * SIMPLE_NTHREADS + threadIdx.x;

	if (i < run.n)
		table_add(run, i, key_hash(run, i), 1, (unsigned long long)run.values[i]);
}

static cudaError_t simple_launch(const struct group_run &run, cudaStream_t stream)
{
	if (run.n > 0)
		simple<<<(run.n + SIMPLE_NTHREADS - 1) / SIMPLE_NTHREADS, SIMPLE_NTHREADS, 0, stream>>>(run);
	return cudaGetLastError();
}

GROUP_RUNG(simple, "a thread a record, two atomic additions each", simple_launch, NULL)
