/* SPDX-License-Identifier: MIT
 *
 * simd/x86.h - what simd/avx2.c and simd/avx512.c share: instructions for words, loads of 16 bytes,
 * and packing. Included after the instruction set has been chosen.
 */
#ifndef GPUSTAT_SIMD_X86_H
#define GPUSTAT_SIMD_X86_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "simd/simd.h"

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

/* For simd_ops.pack, 32 bytes a register. */
static inline bool simd_pack_x86(const char *text, size_t nwords, const unsigned char letters[16],
				 unsigned char *out)
{
	const __m256i low_half = _mm256_set1_epi8(15), weights = _mm256_set1_epi16(0x1001);
	const __m256i letters_2 = _mm256_broadcastsi128_si256(
		_mm_loadu_si128((const __m128i *)(const void *)letters));
	__m256i differing = _mm256_setzero_si256();

	for (size_t k = 0; k < nwords; k++, text += SIMD_WORD_NBYTES) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)text);
		__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
		__m256i low_a = _mm256_and_si256(a, low_half), low_b = _mm256_and_si256(b, low_half);
		a = _mm256_xor_si256(a, _mm256_shuffle_epi8(letters_2, low_a));
		b = _mm256_xor_si256(b, _mm256_shuffle_epi8(letters_2, low_b));
		differing = _mm256_or_si256(differing, _mm256_or_si256(a, b));
		a = _mm256_packus_epi16(_mm256_maddubs_epi16(low_a, weights),
					_mm256_maddubs_epi16(low_b, weights));
		_mm256_storeu_si256((__m256i *)(void *)(out + k * (SIMD_WORD_NBYTES / 2)),
				    _mm256_permute4x64_epi64(a, 0xd8));
	}
	return _mm256_testz_si256(differing, differing);
}

/* Loads two words from each. */
static inline __m128i load_pairs(const uint32_t *low, const uint32_t *high)
{
	__m128i x = _mm_loadl_epi64((const __m128i *)(const void *)low);

	return _mm_castpd_si128(
		_mm_loadh_pd(_mm_castsi128_pd(x), (const double *)(const void *)high));
}

#endif
