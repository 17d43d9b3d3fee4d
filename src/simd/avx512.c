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
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,vpclmulqdq,bmi,bmi2,pclmul,popcnt"))),   \
	apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi2,vpclmulqdq,bmi,bmi2,pclmul,popcnt")
#endif

#include "simd/x86.h"

/* Of simd/plain.h. */
static inline uint64_t simd_match(const char *text, char byte)
{
	return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text), _mm512_set1_epi8(byte));
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

#include "simd/groups.h"
#include "simd/convert.h"

/* ---- short texts ---- */

/* 16 bytes of each second of eight rows, from the begin of the field on. */
static inline __m512i load_fields(const char *text, const uint32_t *ends, size_t step)
{
#define FIELD_16(r) _mm_loadu_si128((const __m128i *)(const void *)(text + (uint32_t)(ends[(r) * step - 1] + 1)))
	__m512i x = _mm512_castsi128_si512(FIELD_16(0));

	x = _mm512_mask_broadcast_i32x4(x, 0x00f0, FIELD_16(1));
	x = _mm512_mask_broadcast_i32x4(x, 0x0f00, FIELD_16(2));
	return _mm512_mask_broadcast_i32x4(x, 0xf000, FIELD_16(3));
#undef FIELD_16
}

/* What is wanted of four rows' fields. */
struct short_fields {
	__m512i texts;
	__mmask64 quotes, crs; /* of the first byte, of the one behind the field or else of its last one */
};

/* counts: 1 + the numbers of bytes, in all lanes. has_crs: a CR is to follow each field, else none is to be its last byte. */
SIMD_INLINE struct short_fields short_fields_of(__m512i x, __m512i counts, char quote, bool drops_cr, bool has_crs)
{
	const __m512i place = lanes_repeat(_mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
	const __mmask64 firsts = 0x0001000100010001, lengths = 0x8000800080008000;
	struct short_fields f = {.quotes = _mm512_mask_cmpeq_epi8_mask(firsts, x, _mm512_set1_epi8(quote))};

	if (drops_cr) {
		__m512i at = has_crs ? counts : _mm512_sub_epi8(counts, _mm512_set1_epi8(1));
		f.crs = _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(place, at), x, _mm512_set1_epi8('\r'));
	}
	x = _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(place, counts), x);
	f.texts = _mm512_mask_mov_epi8(x, lengths, counts);
	return f;
}

/* Bit r: any of the 16 bits of element r. */
static inline unsigned rows_with(__mmask64 bits)
{
	__m128i x = _mm_cvtsi64_si128((long long)bits);

	return _mm_test_epi16_mask(x, x) & 15;
}

/* Spreads the even rows' bits and the odd ones' among 8. */
static inline unsigned interleave(unsigned even, unsigned odd)
{
	return _pdep_u32(even, 0x55) | _pdep_u32(odd, 0xaa);
}

/* Eight rows. Returns those that are left. */
SIMD_INLINE unsigned short_texts_8(const char *text, const uint32_t *ends, size_t stride, char quote, bool drops_cr, bool has_crs,
				   uint64_t (*out)[2])
{
	const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
	__m512i pairs = lanes_pairs(ends - 1, stride);
	__m512i counts = _mm512_maskz_sub_epi32(0x5555, _mm512_srli_epi64(pairs, 32), pairs);
	struct short_fields even, odd;
	unsigned others;

	if (has_crs)
		counts = _mm512_maskz_sub_epi32(0x5555, counts, _mm512_set1_epi32(1));
	others = _mm512_cmpgt_epu64_mask(counts, LANES_64(SIMD_SHORT_NBYTES + 1));
	even = short_fields_of(load_fields(text, ends, 2 * stride), _mm512_shuffle_epi8(counts, _mm512_setzero_si512()), quote,
			       drops_cr, has_crs);
	odd = short_fields_of(load_fields(text, ends + stride, 2 * stride), _mm512_shuffle_epi8(counts, _mm512_set1_epi8(8)), quote,
			      drops_cr, has_crs);
	_mm512_storeu_si512(out, _mm512_permutex2var_epi64(even.texts, low, odd.texts));
	_mm512_storeu_si512(out + 4, _mm512_permutex2var_epi64(even.texts, high, odd.texts));
	others |= interleave(rows_with(even.quotes), rows_with(odd.quotes));
	if (drops_cr)
		others |= interleave(rows_with(even.crs), rows_with(odd.crs)) ^ (has_crs ? 0xff : 0);
	return others;
}

SIMD_INLINE uint64_t short_texts_of(const char *text, const uint32_t *ends, size_t stride, size_t nrows, char quote, bool drops_cr,
				    bool has_crs, uint64_t (*out)[2])
{
	uint64_t others = 0;

	for (size_t r = 0; r < nrows; r += 8) {
		struct simd_few few;
		struct simd_rows rows = {text, ends + r * stride, stride};
		uint64_t texts[8][2];
		if (nrows - r < 8) {
			rows = few_rows(&few, rows, (unsigned)(nrows - r));
			others |= (uint64_t)short_texts_8(text, rows.ends, rows.stride, quote, drops_cr, has_crs, texts) << r;
			memcpy(out + r, texts, (nrows - r) * sizeof *texts);
		} else {
			others |= (uint64_t)short_texts_8(text, rows.ends, stride, quote, drops_cr, has_crs, out + r) << r;
		}
	}
	return others & ~UINT64_C(0) >> (64 - nrows);
}

/* simd_ops.short_texts. Takes all rows to have a CR if the first one does. */
static uint64_t short_texts(const char *text, const uint32_t *ends, size_t stride, size_t nrows, bool drops_cr, char quote,
			    uint64_t (*out)[2])
{
	if (!drops_cr)
		return short_texts_of(text, ends, stride, nrows, quote, false, false, out);
	if (text[(int64_t)ends[0] - 1] == '\r')
		return short_texts_of(text, ends, stride, nrows, quote, true, true, out);
	return short_texts_of(text, ends, stride, nrows, quote, true, false, out);
}

/* ---- the CRC-32, and symbols to bytes ---- */

#define FOUR_WIDE_NBYTES 256

static inline __m512i moved_wide(__m512i x, __m512i by, __m512i there)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, by, 0x00),
					 _mm512_clmulepi64_epi128(x, by, 0x11), there, 0x96);
}

/* simd_ops.crc: four times 64 bytes. */
static uint32_t crc_wide(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	const __m512i by_512 = _mm512_broadcast_i32x4(pair_of(BY_512));
	const __m512i by_2048 = _mm512_broadcast_i32x4(pair_of(BY_2048));
	unsigned char left[64];
	__m512i a, b, c, d;

	if (nbytes < FOUR_WIDE_NBYTES)
		return simd_crc_x86(crc, data, nbytes);
	a = _mm512_xor_si512(_mm512_loadu_si512(data),
			     _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
	b = _mm512_loadu_si512(data + 64);
	c = _mm512_loadu_si512(data + 128);
	d = _mm512_loadu_si512(data + 192);
	for (;;) {
		data += FOUR_WIDE_NBYTES;
		nbytes -= FOUR_WIDE_NBYTES;
		if (nbytes < FOUR_WIDE_NBYTES)
			break;
		a = moved_wide(a, by_2048, _mm512_loadu_si512(data));
		b = moved_wide(b, by_2048, _mm512_loadu_si512(data + 64));
		c = moved_wide(c, by_2048, _mm512_loadu_si512(data + 128));
		d = moved_wide(d, by_2048, _mm512_loadu_si512(data + 192));
	}
	d = moved_wide(moved_wide(moved_wide(a, by_512, b), by_512, c), by_512, d);
	_mm512_storeu_si512(left, d);
	return simd_crc_x86(simd_crc_x86(NOTHING_YET, left, sizeof left), data, nbytes);
}

/* simd_ops.resolve, with gathers where they are fast. On a Xeon, all 16 threads busy, 0.51 ns a byte of gzipped logs, and 0.69 by the table;
 * on an EPYC, where a gather is many loads, up to 0.43, and 0.27 (2026-11-22). */
static void resolve_wide(unsigned char *to, const uint16_t *symbols, size_t n, const unsigned char *table)
{
	size_t i = 0;

	if (!__builtin_cpu_is("intel")) {
		simd_resolve_x86(to, symbols, n, table);
		return;
	}
	for (; i + 32 <= n; i += 32) {
		__m512i v = _mm512_loadu_si512(symbols + i);
		__mmask32 markers = _mm512_movepi16_mask(v);
		__m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(v));
		__m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(v, 1));
		low = _mm512_mask_i32gather_epi32(low, (__mmask16)markers, low, table, 1);
		high = _mm512_mask_i32gather_epi32(high, (__mmask16)(markers >> 16), high, table, 1);
		_mm_storeu_si128((__m128i *)(void *)(to + i), _mm512_cvtepi32_epi8(low));
		_mm_storeu_si128((__m128i *)(void *)(to + i + 16), _mm512_cvtepi32_epi8(high));
	}
	simd_resolve(to + i, symbols + i, n - i, table);
}

const struct simd_ops simd_avx512 = {
	.name = "avx512",
	.classify = simd_classify_words,
	.pack = simd_pack_x86,
	.positions = positions,
	.clear_quoted = quote_clear_lanes,
	.count = simd_count,
	.fold = groups_fold,
	.convert = simd_convert_rows,
	.short_texts = short_texts,
	.fold_numbers = simd_fold_numbers,
	.sum_products = simd_sum_products,
	.crc = crc_wide,
	.resolve = resolve_wide,
	.sum_squares = simd_sum_squares,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
