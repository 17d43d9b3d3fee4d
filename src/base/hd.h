/* SPDX-License-Identifier: MIT
 *
 * hd.h - for inline functions that gcc and nvcc compile from the same source, so that CPU threads
 * and GPU lanes agree: HD marks them; and 128-bit integers.
 */
#pragma once

#ifdef __CUDACC__
#define HD __host__ __device__ static inline
#else
#define HD static inline
#endif

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
