/* SPDX-License-Identifier: MIT
 *
 * simd_x86.h - what simd_avx2.c and simd_avx512.c have in common: instructions for words, and
 * loads of 16 bytes. To be included after the instruction set has been chosen.
 */
#ifndef GPUSTAT_SIMD_X86_H
#define GPUSTAT_SIMD_X86_H

#include <immintrin.h>
#include <stdint.h>

#define SIMD_LOWEST_ONE(bits) _tzcnt_u64(bits)
#define SIMD_COUNT_ONES(bits) _mm_popcnt_u64(bits)
#define SIMD_PARITY(bits)                                                                          \
	((uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)(bits)),    \
							  _mm_set1_epi8(-1), 0)))

/* The 16 bytes before end. */
static inline __m128i load_lanes(const char *end)
{
	return _mm_loadu_si128((const __m128i *)(const void *)(end - 16));
}

/* Two times two words. */
static inline __m128i load_pairs(const uint32_t *low, const uint32_t *high)
{
	__m128i x = _mm_loadl_epi64((const __m128i *)(const void *)low);

	return _mm_castpd_si128(
		_mm_loadh_pd(_mm_castsi128_pd(x), (const double *)(const void *)high));
}

#endif
