/* SPDX-License-Identifier: MIT
 *
 * gpu.cu - see gpu.h. Errors become answers here, and are cleared.
 */
#include "gpu.h"

#include <cuda_runtime.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

int gpu_count(void)
{
	int count = 0;

	if (cudaGetDeviceCount(&count) == cudaSuccess)
		return count;
	(void)cudaGetLastError();
	return 0;
}

/* nvidia0, nvidia1 ...; and dxg, which is all that a guest of Windows has. */
static bool is_device_file(const char *name)
{
	if (!strcmp(name, "dxg"))
		return true;
	return !strncmp(name, "nvidia", 6) && name[6] && strspn(name + 6, "0123456789") ==
								 strlen(name + 6);
}

int gpu_estimate(void)
{
	DIR *folder = opendir("/dev");
	const struct dirent *entry;
	int count = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder)) != NULL)
		count += is_device_file(entry->d_name);
	closedir(folder);
	return count;
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
