/* SPDX-License-Identifier: MIT
 *
 * scan.cu - the scans that gpustat has ready. See scan.cuh.
 */
#include "kernels/scan/launch.cuh"

#define SCAN_INSTANTIATE(F)                                                                     \
	template cudaError_t scan_shape_of<scan_##F>(enum scan_engine, struct scan_shape *);    \
	template cudaError_t scan_shape_choose<scan_##F>(struct scan_shape *);                  \
	template size_t scan_memory_nbytes<scan_##F>(const struct scan_shape *, uint64_t);      \
	template cudaError_t scan_launch<scan_##F>(const struct scan_shape *,                   \
						   struct scan_memory *,                        \
						   struct scan_job<scan_##F::value>, cudaStream_t);
SCAN_FOLDS(SCAN_INSTANTIATE)
