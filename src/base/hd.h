/* SPDX-License-Identifier: MIT
 *
 * hd.h - HD marks an inline function that gcc and nvcc compile from the same source, so that CPU
 * threads and GPU lanes agree.
 */
#ifndef GPUSTAT_HD_H
#define GPUSTAT_HD_H

#ifdef __CUDACC__
#define HD __host__ __device__ static inline
#else
#define HD static inline
#endif

#endif
