/* SPDX-License-Identifier: MIT
 *
 * simd_avx2.c - AVX2: 64 bytes are two registers, and VPMOVMSKB makes bits of a comparison.
 */
#include "simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* The same list is asked for in simd.c. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,pclmul,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,pclmul,popcnt")
#endif

#define SIMD_LOWEST_ONE(bits) _tzcnt_u64(bits)
#define SIMD_PARITY(bits)                                                                         \
	((uint64_t)_mm_cvtsi128_si64(                                                              \
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)(bits)), _mm_set1_epi8(-1), 0)))

#include "simd_fold.h"
#include "simd_positions.h"
#include "simd_quotes.h"

/* The top bits of 64 bytes. */
static inline uint64_t top_bits(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static struct simd_counts scan(const char *text, size_t nwords, char delimiter,
			       struct simd_bits bits)
{
	const __m256i delimiter_32 = _mm256_set1_epi8(delimiter);
	const __m256i newline_32 = _mm256_set1_epi8('\n'), quote_32 = _mm256_set1_epi8('"');
	struct simd_counts counts = {0, 0};

	for (size_t k = 0; k < nwords; k++) {
		const __m256i *at = (const __m256i *)(const void *)(text + k * SIMD_WORD_NBYTES);
		__m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
		uint64_t newlines = top_bits(_mm256_cmpeq_epi8(low, newline_32),
					     _mm256_cmpeq_epi8(high, newline_32));
		uint64_t quotes = top_bits(_mm256_cmpeq_epi8(low, quote_32),
					   _mm256_cmpeq_epi8(high, quote_32));
		bits.separators[k] = top_bits(_mm256_cmpeq_epi8(low, delimiter_32),
					      _mm256_cmpeq_epi8(high, delimiter_32)) | newlines;
		bits.newlines[k] = newlines;
		bits.quotes[k] = quotes;
		counts.nlines += (uint64_t)_mm_popcnt_u64(newlines);
		counts.nquotes |= quotes;
	}
	return counts;
}

const struct simd_ops simd_avx2 = {
	.name = "avx2",
	.scan = scan,
	.positions = simd_positions,
	.unquote = simd_unquote,
	.fold = simd_fold_rows,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
