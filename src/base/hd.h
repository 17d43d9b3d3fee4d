/* SPDX-License-Identifier: MIT
 *
 * hd.h - marks a function that gcc and nvcc compile from the same text.
 *
 * The numeric core (dfa.h, decimal.h) is inline and has no other
 * dependency, so that a CPU thread and a GPU lane cannot disagree on it.
 */
#ifndef GPUSTAT_HD_H
#define GPUSTAT_HD_H

#ifdef __CUDACC__
#define HD __host__ __device__ static inline
#else
#define HD static inline
#endif

#endif
