/* SPDX-License-Identifier: MIT
 *
 * gpu.cu - see gpu.h. Errors become answers here, and are cleared.
 */
#include "gpu.h"

#include <cuda_runtime.h>
#include <stdio.h>

int gpu_count(void)
{
	int count = 0;

	if (cudaGetDeviceCount(&count) == cudaSuccess)
		return count;
	(void)cudaGetLastError();
	return 0;
}

const char *gpu_name(int device, char *text, size_t nbytes)
{
	struct cudaDeviceProp properties;
	bool known = device < gpu_count() &&
		     cudaGetDeviceProperties(&properties, device) == cudaSuccess;

	if (!known)
		(void)cudaGetLastError();
	snprintf(text, nbytes, "%s", known ? properties.name : "unknown GPU");
	return text;
}

const char *gpu_versions(char *text, size_t nbytes)
{
	int runtime = 0, driver = 0;

	if (cudaRuntimeGetVersion(&runtime) != cudaSuccess ||
	    cudaDriverGetVersion(&driver) != cudaSuccess)
		(void)cudaGetLastError();
	snprintf(text, nbytes, "CUDA runtime %d.%d, driver for %d.%d", runtime / 1000,
		 runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
	return text;
}
