/* SPDX-License-Identifier: MIT
 *
 * simd/avx512.c - AVX-512: 64 bytes are one register, and a comparison of it is a word of bits.
 *
 * Positions: VPCOMPRESSB (VBMI2) moves those of the bytes 0, 1 .. 63 whose bit is set to the
 * front, all at once; then they are widened and stored, 16 a step. More than 16 separators in 64
 * bytes mean fields of fewer than three bytes, so the one branch is rarely taken.
 * (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VPCOMPRESSB.)
 */
#include "simd/simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* simd.c checks for the same list. */
#if defined(__clang__)
#pragma clang attribute push(                                                                      \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,pclmul,popcnt"))),   \
	apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,pclmul,popcnt")
#endif

#include "simd/x86.h"
#include "simd/positions.h"

static struct simd_counts classify(const char *text, size_t nwords, char delimiter, char quote,
				   struct simd_bits bits)
{
	const __m512i delimiter_64 = _mm512_set1_epi8(delimiter);
	const __m512i newline_64 = _mm512_set1_epi8('\n'), quote_64 = _mm512_set1_epi8(quote);
	struct simd_counts counts = {0, 0};

	for (size_t k = 0; k < nwords; k++) {
		__m512i bytes = _mm512_loadu_si512(text + k * SIMD_WORD_NBYTES);
		uint64_t newlines = _mm512_cmpeq_epi8_mask(bytes, newline_64);
		uint64_t quotes = _mm512_cmpeq_epi8_mask(bytes, quote_64);
		bits.separators[k] = _mm512_cmpeq_epi8_mask(bytes, delimiter_64) | newlines;
		bits.newlines[k] = newlines;
		bits.quotes[k] = quotes;
		counts.nlines += (uint64_t)_mm_popcnt_u64(newlines);
		counts.nquotes |= quotes;
	}
	return counts;
}

/* Writes the first 16 bytes of indexes, base added. */
static inline void store_16(uint32_t *out, __m128i indexes, __m512i base)
{
	_mm512_storeu_si512(out, _mm512_add_epi32(_mm512_cvtepu8_epi32(indexes), base));
}

static size_t positions(const uint64_t *bits, size_t nwords, uint32_t base, uint32_t *out)
{
	const __m512i step = _mm512_set1_epi32(SIMD_WORD_NBYTES);
	const __m512i each_byte = _mm512_set_epi64(
		0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
		0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
	__m512i base_16 = _mm512_set1_epi32((int)base);
	uint32_t *end = out;

	for (size_t k = 0; k < nwords; k++, base_16 = _mm512_add_epi32(base_16, step)) {
		__m512i indexes = _mm512_maskz_compress_epi8(bits[k], each_byte);
		uint64_t count = (uint64_t)_mm_popcnt_u64(bits[k]);
		store_16(end, _mm512_castsi512_si128(indexes), base_16);
		if (count > 16) {
			store_16(end + 16, _mm512_extracti32x4_epi32(indexes, 1), base_16);
			store_16(end + 32, _mm512_extracti32x4_epi32(indexes, 2), base_16);
			store_16(end + 48, _mm512_extracti32x4_epi32(indexes, 3), base_16);
		}
		end += count;
	}
	return (size_t)(end - out);
}

/* ---- the registers of simd/groups.h: eight rows a group ---- */

typedef __m512i lanes;
#define LANES(op) _mm512_##op
#define LANES_64(x) _mm512_set1_epi64(x)
#define LANES_BITS(op) _mm512_##op##_si512
#define LANES_NFIELDS 4

static inline lanes lanes_repeat(__m128i x)
{
	return _mm512_broadcast_i32x4(x);
}

static inline lanes lanes_fields(const char *text, const uint32_t *ends, size_t step)
{
	lanes x = _mm512_castsi128_si512(load_lanes(text + ends[0]));

	x = _mm512_mask_broadcast_i32x4(x, 0x00f0, load_lanes(text + ends[step]));
	x = _mm512_mask_broadcast_i32x4(x, 0x0f00, load_lanes(text + ends[2 * step]));
	return _mm512_mask_broadcast_i32x4(x, 0xf000, load_lanes(text + ends[3 * step]));
}

static inline __m256i load_four_pairs(const uint32_t *p, size_t stride)
{
	return _mm256_set_m128i(load_pairs(p + 2 * stride, p + 3 * stride),
				load_pairs(p, p + stride));
}

static inline lanes lanes_pairs(const uint32_t *p, size_t stride)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(load_four_pairs(p, stride)),
				  load_four_pairs(p + 4 * stride, stride), 1);
}

static inline lanes lanes_within(lanes counts, lanes above, lanes x)
{
	return _mm512_maskz_mov_epi8(_mm512_cmpgt_epi8_mask(counts, above), x);
}

static inline lanes lanes_where_equal(lanes a, lanes b, lanes x)
{
	return _mm512_maskz_mov_epi8(_mm512_cmpeq_epi8_mask(a, b), x);
}

static inline lanes lanes_unless_equal(lanes a, lanes b, lanes x)
{
	return _mm512_maskz_mov_epi8(_mm512_cmpneq_epi8_mask(a, b), x);
}

static inline lanes lanes_less_where(lanes x, lanes a, lanes b)
{
	return _mm512_mask_sub_epi8(x, _mm512_cmpgt_epi8_mask(a, b), x, _mm512_set1_epi8(1));
}

static inline lanes lanes_less_minus(lanes counts, lanes first)
{
	__mmask64 minus = _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8('-'));

	return _mm512_mask_sub_epi8(counts, minus, counts, _mm512_set1_epi8(1));
}

static inline lanes lanes_signed(lanes x, lanes first)
{
	__mmask8 minus = _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi8('-'));

	return _mm512_mask_sub_epi64(x, minus, _mm512_setzero_si512(), x);
}

static inline unsigned lanes_zeros(lanes x)
{
	return _mm512_testn_epi64_mask(x, x);
}

static inline lanes lanes_only(lanes x, unsigned rows)
{
	return _mm512_maskz_mov_epi64((__mmask8)rows, x);
}

/* Compresses in the register: compressing to memory is slow on some machines. */
static inline lanes lanes_pack(lanes x, unsigned rows)
{
	return _mm512_maskz_compress_epi64((__mmask8)rows, x);
}

static inline lanes lanes_fold_min(lanes a, lanes x, unsigned rows)
{
	return _mm512_mask_min_epi64(a, (__mmask8)rows, a, x);
}

static inline lanes lanes_fold_max(lanes a, lanes x, unsigned rows)
{
	return _mm512_mask_max_epi64(a, (__mmask8)rows, a, x);
}

static inline unsigned lanes_tops(lanes x)
{
	return _mm512_cmplt_epi64_mask(x, _mm512_setzero_si512());
}

static inline lanes lanes_inverted(lanes x, unsigned words)
{
	return _mm512_mask_xor_epi64(x, (__mmask8)words, x, _mm512_set1_epi64(-1));
}

static inline lanes lanes_shift_in(lanes x, lanes before)
{
	return _mm512_shldi_epi64(x, _mm512_alignr_epi64(x, before, 7), 1);
}

#include "simd/fold_groups.h"
#include "simd/convert.h"
#include "simd/squares.h"
#include "simd/quote_lanes.h"

const struct simd_ops simd_avx512 = {
	.name = "avx512",
	.classify = classify,
	.pack = simd_pack_x86,
	.positions = positions,
	.clear_quoted = quote_clear_lanes,
	.count = simd_count,
	.fold = groups_fold,
	.convert = simd_convert_rows,
	.fold_numbers = simd_fold_numbers,
	.sum_squares = simd_sum_squares,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
