/* SPDX-License-Identifier: MIT
 *
 * gpu_fault.cuh - makes a CUDA error a fault of gpustat-bench.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdio.h>

extern "C" {
#include "base/status.h"
}

/* Fills fault with what failed ("warp_shuffle") and CUDA's words. Returns STATUS_GPU, or
 * STATUS_OK where there is no error. */
static inline enum status gpu_fault_of(struct fault *fault, const char *what, cudaError_t error)
{
	char words[FAULT_DETAIL_NBYTES];

	if (error == cudaSuccess)
		return STATUS_OK;
	(void)cudaGetLastError(); /* reported here: the next call starts clean */
	snprintf(words, sizeof words, "%s: %s", what, cudaGetErrorString(error));
	return fault_set(fault, STATUS_GPU, 0, words);
}
