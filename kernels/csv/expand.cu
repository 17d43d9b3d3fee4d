/* SPDX-License-Identifier: MIT
 *
 * expand.cu - see expand.cuh. A thread makes 16 bytes of 8.
 *
 * Four letters at once: PRMT selects each byte of its result from eight, so one looks the nibbles
 * up among the first eight letters, one among the last eight, and a third makes the mask that
 * selects (CUDA C++ Programming Guide, __byte_perm).
 */
#include <string.h>

#include "kernels/csv/expand.cuh"

#define EXPAND_NTHREADS 256

/* The letters of the lowest four nibbles. */
__device__ static uint32_t expand_four(uint32_t nibbles, uint4 letters)
{
	uint32_t place = nibbles & 0x7777, is_late = nibbles >> 1 & 0x4444;
	uint32_t early = __byte_perm(letters.x, letters.y, place);
	uint32_t late = __byte_perm(letters.z, letters.w, place);
	uint32_t mask = __byte_perm(0, UINT32_MAX, is_late);

	return (early & ~mask) | (late & mask);
}

__global__ static void __launch_bounds__(EXPAND_NTHREADS)
expand(uint4 *__restrict__ text, const uint2 *__restrict__ packed, uint32_t n, uint4 letters)
{
	uint32_t i = blockIdx.x * EXPAND_NTHREADS + threadIdx.x;

	if (i >= n)
		return;
	uint2 p = packed[i];
	text[i] = make_uint4(expand_four(p.x, letters), expand_four(p.x >> 16, letters),
			     expand_four(p.y, letters), expand_four(p.y >> 16, letters));
}

cudaError_t expand_launch(char *text, const unsigned char *packed, uint32_t nbytes,
			  struct nibble_letters letters, cudaStream_t stream)
{
	uint32_t n = (nbytes + (uint32_t)sizeof(uint4) - 1) / (uint32_t)sizeof(uint4);
	uint4 all;

	if (n == 0)
		return cudaSuccess;
	memcpy(&all, letters.of, sizeof all);
	expand<<<(n + EXPAND_NTHREADS - 1) / EXPAND_NTHREADS, EXPAND_NTHREADS, 0, stream>>>(
		(uint4 *)text, (const uint2 *)packed, n, all);
	return cudaGetLastError();
}
