/* SPDX-License-Identifier: MIT
 *
 * simd/avx2.c - AVX2: 64 bytes are two registers; VPMOVMSKB turns a comparison into bits.
 */
#include "simd/simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* simd.c checks for the same list. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,pclmul,popcnt"))),              \
			     apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,pclmul,popcnt")
#endif

#include "simd/x86.h"

/* The top bits of 64 bytes. */
static inline uint64_t top_bits(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* Of simd/plain.h. */
static inline uint64_t simd_match(const char *text, char byte)
{
	const __m256i *at = (const __m256i *)(const void *)text, byte_32 = _mm256_set1_epi8(byte);

	return top_bits(_mm256_cmpeq_epi8(_mm256_loadu_si256(at), byte_32),
			_mm256_cmpeq_epi8(_mm256_loadu_si256(at + 1), byte_32));
}

/* ---- the registers of simd/groups.h: four rows a group ---- */

typedef __m256i lanes;
#define LANES(op) _mm256_##op
#define LANES_64(x) _mm256_set1_epi64x(x)
#define LANES_BITS(op) _mm256_##op##_si256
#define LANES_NFIELDS 2

static inline lanes lanes_repeat(__m128i x)
{
	return _mm256_broadcastsi128_si256(x);
}

static inline lanes lanes_fields(const char *text, const uint32_t *ends, size_t step)
{
	return _mm256_set_m128i(load_lanes(text + ends[step]), load_lanes(text + ends[0]));
}

static inline lanes lanes_pairs(const uint32_t *p, size_t stride)
{
	return _mm256_set_m128i(load_pairs(p + 2 * stride, p + 3 * stride),
				load_pairs(p, p + stride));
}

static inline lanes lanes_less_minus(lanes counts, lanes first)
{
	return _mm256_add_epi8(counts, _mm256_cmpeq_epi8(first, _mm256_set1_epi8('-')));
}

static inline lanes lanes_signed(lanes x, lanes first)
{
	lanes minus = _mm256_cmpeq_epi8(first, _mm256_set1_epi8('-'));

	return _mm256_sub_epi64(_mm256_xor_si256(x, minus), minus);
}

static inline unsigned lanes_zeros(lanes x)
{
	x = _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(x));
}

/* All ones in 64 bits number i where bit i of rows is set. */
static inline lanes rows_mask(unsigned rows)
{
	const lanes bit = _mm256_setr_epi64x(1, 2, 4, 8);

	return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(rows), bit), bit);
}

static inline lanes lanes_only(lanes x, unsigned rows)
{
	return _mm256_and_si256(x, rows_mask(rows));
}

static inline lanes lanes_pack(lanes x, unsigned rows)
{
	/* For each set of rows, the 32-bit halves to keep, a byte each, the first the lowest. */
	static const uint64_t halves[] = {
		0x0000000000000000, 0x0000000000000100, 0x0000000000000302, 0x0000000003020100,
		0x0000000000000504, 0x0000000005040100, 0x0000000005040302, 0x0000050403020100,
		0x0000000000000706, 0x0000000007060100, 0x0000000007060302, 0x0000070603020100,
		0x0000000007060504, 0x0000070605040100, 0x0000070605040302, 0x0706050403020100,
	};
	__m128i order = _mm_loadl_epi64((const __m128i *)(const void *)&halves[rows]);

	return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(order));
}

static inline lanes lanes_fold_min(lanes a, lanes x, unsigned rows)
{
	lanes less = _mm256_cmpgt_epi64(a, x);

	return _mm256_blendv_epi8(a, x, rows == 0xf ? less : lanes_only(less, rows));
}

static inline lanes lanes_fold_max(lanes a, lanes x, unsigned rows)
{
	lanes more = _mm256_cmpgt_epi64(x, a);

	return _mm256_blendv_epi8(a, x, rows == 0xf ? more : lanes_only(more, rows));
}

static inline unsigned lanes_tops(lanes x)
{
	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(x));
}

static inline lanes lanes_inverted(lanes x, unsigned words)
{
	return _mm256_xor_si256(x, rows_mask(words));
}

static inline lanes lanes_shift_in(lanes x, lanes before)
{
	lanes low = _mm256_blend_epi32(_mm256_permute4x64_epi64(x, 0x93),
				       _mm256_permute4x64_epi64(before, 0x93), 3);

	return _mm256_or_si256(_mm256_slli_epi64(x, 1), _mm256_srli_epi64(low, 63));
}

#include "simd/groups.h"
#include "simd/convert.h"

const struct simd_ops simd_avx2 = {
	.name = "avx2",
	.classify = simd_classify_words,
	.pack = simd_pack_x86,
	.positions = simd_positions,
	.clear_quoted = quote_clear_lanes,
	.count = simd_count,
	.fold = groups_fold,
	.convert = simd_convert_rows,
	.short_texts = simd_short_texts,
	.fold_numbers = simd_fold_numbers,
	.sum_products = simd_sum_products,
	.crc = simd_crc_x86,
	.resolve = simd_resolve_x86,
	.sum_squares = simd_sum_squares,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
