/* SPDX-License-Identifier: MIT
 *
 * scan.cu - the scans that gpustat has ready. See scan.cuh.
 */
#include "kernels/scan/launch.cuh"

cudaError_t scan_memory_open(struct scan_memory *memory, void *data, size_t nbytes,
			     cudaStream_t stream)
{
	size_t nwords = nbytes / sizeof(uint64_t);

	if ((uintptr_t)data % sizeof(uint64_t) != 0 || nwords < 2)
		return cudaErrorInvalidValue;
	/* The ticket first, then the slots, as many as can be numbered. */
	memory->domino.ticket = (uint32_t *)data;
	memory->domino.slots = (uint64_t *)data + 1;
	memory->domino.nslots = (uint32_t)(nwords - 1 < UINT32_MAX ? nwords - 1 : UINT32_MAX);
	memory->domino.epoch = 0;
	return cudaMemsetAsync(data, 0, nbytes, stream);
}

#define SCAN_INSTANTIATE(F)                                                                     \
	template cudaError_t scan_shape_of<scan_##F>(enum scan_engine, struct scan_shape *);    \
	template cudaError_t scan_shape_choose<scan_##F>(struct scan_shape *);                  \
	template size_t scan_memory_nbytes<scan_##F>(const struct scan_shape *, uint64_t);      \
	template cudaError_t scan_launch<scan_##F>(const struct scan_shape *,                   \
						   struct scan_memory *,                        \
						   struct scan_job<scan_##F::value>, cudaStream_t);
SCAN_FOLDS(SCAN_INSTANTIATE)
