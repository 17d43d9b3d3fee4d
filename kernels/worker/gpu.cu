/* SPDX-License-Identifier: MIT
 *
 * gpu.cu - see gpu.h. Errors of the CUDA runtime are cleared: callers get a count
 * of 0 or a default text instead.
 */
#include "kernels/worker/gpu.h"

#include <ctype.h>
#include <cuda_runtime.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/machine.h"
}

int gpu_count(void)
{
	int count = 0;

	if (cudaGetDeviceCount(&count) == cudaSuccess)
		return count;
	(void)cudaGetLastError();
	return 0;
}

/* nvidia0, nvidia1 ...; dxg: the only one in a virtual machine on Windows. */
static bool is_device_file(const char *name)
{
	if (!strcmp(name, "dxg"))
		return true;
	return !strncmp(name, "nvidia", 6) && name[6] && strspn(name + 6, "0123456789") ==
								 strlen(name + 6);
}

/* The lesser of count and the number of devices that CUDA_VISIBLE_DEVICES names. */
static int named_at_most(int count)
{
	const char *names = getenv("CUDA_VISIBLE_DEVICES");
	int nnames = names && *names ? 1 : 0;

	for (const char *c = names; nnames && *c; c++)
		nnames += *c == ',';
	return names && nnames < count ? nnames : count;
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
	return named_at_most(count);
}

void gpu_keep_near(int device)
{
	char id[32], folder[64];

	if (cudaDeviceGetPCIBusId(id, sizeof id, device) != cudaSuccess) {
		(void)cudaGetLastError();
		return;
	}
	for (char *c = id; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s", id);
	cores_keep_to(folder, "local_cpulist");
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
