/* SPDX-License-Identifier: MIT
 *
 * simd/x86.h - what simd/avx2.c and simd/avx512.c share: instructions for words, loads of 16 bytes, packing, the CRC-32, and
 * symbols. Included after the instruction set has been chosen.
 */
#pragma once

#include <immintrin.h>

#define SIMD_LOWEST_ONE(bits) _tzcnt_u64(bits)
#define SIMD_COUNT_ONES(bits) _mm_popcnt_u64(bits)
#define SIMD_PARITY(bits)                                                                          \
	((uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)(bits)),    \
							  _mm_set1_epi8(-1), 0)))

#include "simd/plain.h"

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

/* ---- the CRC-32, by products of polynomials without carries ---- */

/* The CRC of a text is its polynomial over GF(2), modulo P (Gopal and others, "Fast CRC Computation
 * for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). So 16 bytes need not be
 * divided where they stand: H x^64 + L may be moved D bits on, where H (x^(D+64) mod P) + L (x^D mod P) is
 * congruent to them and fits into 16 bytes again, there to be added to those that stand there. What
 * is left in the end is a short text of the same CRC, which zlib divides.
 *
 * Bits are the other way round here: bit 0 of a word is its highest power. A product of two such
 * words of 64 bits is one bit too low for 128, and the constants have one power of x less for that.
 *
 * ns a byte from the second cache, AMD EPYC with AVX-512, its other thread busy (2026-11-22):
 *
 *     bytes a call    512   4096  65536
 *     VPCLMULQDQ     0.12   0.03   0.02
 *     PCLMULQDQ      0.15   0.09   0.08
 *     zlib 1.2.13    0.58   0.30   0.31
 */

/* x^(D+63) and x^(D-1) modulo P, for moves by D bits. */
#define BY_128 0x65673b4600000000, 0x9ba54c6f00000000
#define BY_512 0x653d982200000000, 0xcad38e8f00000000
#define BY_2048 0x7cc8e1e700000000, 0x03f9f86300000000

#define NOTHING_YET UINT32_C(0xffffffff) /* the CRC whose remainder is 0 */
#define FOUR_NBYTES 64

static inline __m128i pair_of(uint64_t low, uint64_t high)
{
	return _mm_set_epi64x((long long)high, (long long)low);
}

static inline __m128i load_16(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* x, moved by what `by` is for, plus what stands there. */
static inline __m128i moved(__m128i x, __m128i by, __m128i there)
{
	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00),
					   _mm_clmulepi64_si128(x, by, 0x11)), there);
}

/* simd_ops.crc: four times 16 bytes. */
static inline uint32_t simd_crc_x86(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	const __m128i by_128 = pair_of(BY_128), by_512 = pair_of(BY_512);
	unsigned char left[16];
	__m128i a, b, c, d;

	if (nbytes < FOUR_NBYTES)
		return simd_crc(crc, data, nbytes);
	a = _mm_xor_si128(load_16(data), _mm_cvtsi32_si128((int)~crc));
	b = load_16(data + 16);
	c = load_16(data + 32);
	d = load_16(data + 48);
	for (;;) {
		data += FOUR_NBYTES;
		nbytes -= FOUR_NBYTES;
		if (nbytes < FOUR_NBYTES)
			break;
		a = moved(a, by_512, load_16(data));
		b = moved(b, by_512, load_16(data + 16));
		c = moved(c, by_512, load_16(data + 32));
		d = moved(d, by_512, load_16(data + 48));
	}
	d = moved(moved(moved(a, by_128, b), by_128, c), by_128, d);
	_mm_storeu_si128((__m128i *)(void *)left, d);
	return simd_crc(simd_crc(NOTHING_YET, left, sizeof left), data, nbytes);
}

/* ---- symbols to bytes ---- */

#define NFEW_MARKERS 8 /* of 32 symbols: with more, the table is faster */

/* simd_ops.resolve. 32 symbols are narrowed at once, and a few markers among them
 * are put right one by one; the table is for those with many. Markers hardly ever die out: of 32
 * symbols in gzipped CSV, 1 to 8 are markers in 0 to 74 % of all cases, and more in the others.
 *
 * ns a symbol, on one core of an AMD EPYC with AVX-512, both threads of it busy (2026-11-22):
 *
 *     of 100 symbols, markers    0     1     3     10    30    100
 *     AVX2, and the table       0.04  0.04  0.06  0.11  0.27  0.30
 *     the table alone           0.23  0.24  0.24  0.24  0.25  0.26
 *     a gather of AVX-512       0.04  0.13  0.28  0.43  0.44  0.44
 *
 */
static inline void simd_resolve_x86(unsigned char *to, const uint16_t *symbols, size_t n, const unsigned char *table)
{
	size_t i = 0;

	for (; i + 32 <= n; i += 32) {
		const __m256i *at = (const __m256i *)(const void *)(symbols + i);
		__m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
		/* Signed saturation: a marker, being negative, stays so; a byte never becomes so. */
		__m256i signs = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
		__m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
		unsigned markers = (unsigned)_mm256_movemask_epi8(signs);
		if (_mm_popcnt_u32(markers) > NFEW_MARKERS) {
			simd_resolve(to + i, symbols + i, 32, table);
			continue;
		}
		_mm256_storeu_si256((__m256i *)(void *)(to + i), bytes);
		for (; markers; markers &= markers - 1) {
			size_t k = i + (unsigned)__builtin_ctz(markers);
			to[k] = table[symbols[k]];
		}
	}
	simd_resolve(to + i, symbols + i, n - i, table);
}
