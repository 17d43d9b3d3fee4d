/* SPDX-License-Identifier: MIT
 *
 * group_warp.cu - the records of a warp with one key are added up first: one addition each group and warp.
 *
 * Of few groups a warp has several records each, of many hardly two: what helps there costs a little here. gpustat's
 * own table (kernels/group/) does it this way.
 */
#include "group_rung.cuh"

#define WARP_NTHREADS 256

__global__ static void __launch_bounds__(WARP_NTHREADS) warp(struct group_run run)
{
	uint32_t i = blockIdx.x * WARP_NTHREADS + threadIdx.x;
	bool valid = i < run.n;

	table_add_warp(run, valid, i, valid ? key_hash(run, i) : 0);
}

static cudaError_t warp_launch(const struct group_run &run, cudaStream_t stream)
{
	if (run.n > 0)
		warp<<<(run.n + WARP_NTHREADS - 1) / WARP_NTHREADS, WARP_NTHREADS, 0, stream>>>(run);
	return cudaGetLastError();
}

GROUP_RUNG(warp, "a warp's records with one key are added up first", warp_launch, NULL)
