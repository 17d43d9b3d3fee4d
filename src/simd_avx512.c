/* SPDX-License-Identifier: MIT
 *
 * simd_avx512.c - AVX-512: 64 bytes are one register, and a comparison of it is a word of bits.
 *
 * Positions: VPCOMPRESSB (VBMI2) moves those of the bytes 0, 1 .. 63 whose bit is set to the
 * front, all at once; what is left is to widen and to store them, 16 a step. More than 16
 * separators in 64 bytes are fields of fewer than three, so the one branch is rarely taken.
 * (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VPCOMPRESSB.)
 */
#include "simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* The same list is asked for in simd.c. */
#if defined(__clang__)
#pragma clang attribute push(                                                                      \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,pclmul,popcnt"))),          \
	apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,pclmul,popcnt")
#endif

#define SIMD_OWN_FOLD
#define SIMD_PARITY(bits)                                                                         \
	((uint64_t)_mm_cvtsi128_si64(                                                              \
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)(bits)), _mm_set1_epi8(-1), 0)))
#include "simd_fold.h"
#include "simd_quotes.h"

static struct simd_counts scan(const char *text, size_t nwords, char delimiter,
			       struct simd_bits bits)
{
	const __m512i delimiter_64 = _mm512_set1_epi8(delimiter);
	const __m512i newline_64 = _mm512_set1_epi8('\n'), quote_64 = _mm512_set1_epi8('"');
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

/* ---- four fields at once ----
 *
 * What simd_fold.h does to 16 lanes, done to four times 16. Masks have 16 bits for each field,
 * so what is the same for all of them is one operation on a word. Taken are four fields that
 * are alike: no point in any, or one in each at the same place; others go one by one.
 */
#define FOURS_EACH UINT64_C(0x0001000100010001) /* the first lane of each field */
#define FOURS_LAST UINT64_C(0x8000800080008000)
#define FOURS_NGROUPS_MAX 256 /* so many times four numbers below 10^16 fit in 64-bit sums */

/* Sums, minima and maxima: each field's number is in two 64-bit lanes. */
struct fours {
	__m512i sum, min, max;
	int scale;
	unsigned ngroups;
};

static inline struct fours fours_none(int scale)
{
	return (struct fours){_mm512_setzero_si512(), _mm512_set1_epi64(INT64_MAX),
			      _mm512_set1_epi64(INT64_MIN), scale, 0};
}

static void fours_flush(struct decimal_fold *fold, const struct fours *f)
{
	int64_t sums[8];
	struct decimal_bin bin = {0, _mm512_reduce_min_epi64(f->min),
				  _mm512_reduce_max_epi64(f->max)};

	if (f->ngroups == 0)
		return;
	_mm512_storeu_si512(sums, f->sum);
	for (unsigned i = 0; i < 8; i += 2)
		bin.sum += sums[i];
	decimal_fold_add_bin(fold, f->scale, &bin);
}

/* Four fields' bytes, and how many there are of each. */
struct fours_text {
	__m512i bytes, counts;
};

static inline __m128i load_lanes(const char *end)
{
	return _mm_loadu_si128((const __m128i *)(end - SIMD_NDIGITS));
}

/* Loads the fields of four rows. Returns false where one has no byte or more than 16. */
static inline bool fours_load(const char *text, const uint32_t *ends, size_t stride, bool drops_cr,
			      struct fours_text *out)
{
	uint32_t end[4], n[4];

	for (unsigned i = 0; i < 4; i++, ends += stride) {
		end[i] = ends[0];
		n[i] = end[i] - (ends[-1] + 1);
		if (drops_cr && n[i] > 0 && text[end[i] - 1] == '\r') {
			end[i]--;
			n[i]--;
		}
	}
	if (((n[0] - 1) | (n[1] - 1) | (n[2] - 1) | (n[3] - 1)) >= SIMD_NDIGITS)
		return false;
	out->bytes = _mm512_inserti64x4(
		_mm512_castsi256_si512(_mm256_set_m128i(load_lanes(text + end[1]),
							load_lanes(text + end[0]))),
		_mm256_set_m128i(load_lanes(text + end[3]), load_lanes(text + end[2])), 1);
	out->counts = _mm512_shuffle_epi8(
		_mm512_broadcast_i32x4(_mm_setr_epi32((int)n[0], (int)n[1], (int)n[2], (int)n[3])),
		_mm512_set_epi64(0x0c0c0c0c0c0c0c0c, 0x0c0c0c0c0c0c0c0c, 0x0808080808080808,
				 0x0808080808080808, 0x0404040404040404, 0x0404040404040404, 0, 0));
	return true;
}

/* 64 lanes of 0 to 9 as four numbers, each twice. */
static inline __m512i fours_join(__m512i x)
{
	x = _mm512_maddubs_epi16(x, _mm512_set1_epi16(0x010a));
	x = _mm512_madd_epi16(x, _mm512_set1_epi32(0x00010064));
	x = _mm512_packus_epi32(x, x);
	x = _mm512_madd_epi16(x, _mm512_set1_epi32(0x00012710));
	return _mm512_add_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(100000000)),
				_mm512_srli_epi64(x, 32));
}

/* The numbers of four fields; *scale: theirs. Returns false where they are not alike, or
 * one is no number. */
static inline bool fours_convert(const struct fours_text *t, __m512i *numbers, int *scale)
{
	const __m512i lanes_behind = _mm512_broadcast_i32x4(
		_mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
	__m512i x = _mm512_sub_epi8(t->bytes, _mm512_set1_epi8('0'));
	uint64_t field = _mm512_cmpgt_epi8_mask(t->counts, lanes_behind);
	uint64_t first = field & ~(field << 1 & ~FOURS_EACH);
	uint64_t digits = _mm512_mask_cmple_epu8_mask(field, x, _mm512_set1_epi8(9));
	uint64_t points = _mm512_mask_cmpeq_epi8_mask(field, t->bytes, _mm512_set1_epi8('.'));
	uint64_t minus = _mm512_mask_cmpeq_epi8_mask(first, t->bytes, _mm512_set1_epi8('-'));
	uint64_t plus = _mm512_mask_cmpeq_epi8_mask(first, t->bytes, _mm512_set1_epi8('+'));
	uint64_t point = points & 0xffff, moves = 0, negative;

	*scale = 0;
	if (points != 0) {
		if (points != point * FOURS_EACH || (point & (point - 1)) != 0)
			return false;
		moves = (2 * point - 1) * FOURS_EACH;
		*scale = SIMD_NDIGITS - 1 - (int)_tzcnt_u64(point);
		x = _mm512_mask_mov_epi8(x, moves, _mm512_bslli_epi128(x, 1));
	}
	if ((digits | points | minus | plus) != field)
		return false;
	digits = (digits & ~moves) | (digits & moves) << 1;
	if ((digits & FOURS_LAST) != FOURS_LAST)
		return false; /* a sign or a point alone */
	*numbers = fours_join(_mm512_maskz_mov_epi8(digits, x));
	negative = _pext_u64(((minus & ~FOURS_LAST) + ~FOURS_LAST) | minus, FOURS_LAST);
	negative = _pdep_u64(negative, 0x55) * 3;
	*numbers = _mm512_mask_sub_epi64(*numbers, (__mmask8)negative, _mm512_setzero_si512(),
					 *numbers);
	return true;
}

SIMD_INLINE size_t fold_fours(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			      bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing)
{
	struct fours f = fours_none(SIMD_NO_NUMBER);
	size_t r = 0, n = 0;

	for (; r + 4 <= nrows; r += 4, ends += 4 * stride) {
		struct fours_text t;
		__m512i numbers;
		int scale;
		if (!fours_load(text, ends, stride, drops_cr, &t) ||
		    !fours_convert(&t, &numbers, &scale)) {
			n = simd_fold_some(text, ends, stride, 4, drops_cr, fold, nmissing);
			if (n < 4)
				break;
			continue;
		}
		if (scale != f.scale || f.ngroups == FOURS_NGROUPS_MAX) {
			fours_flush(fold, &f);
			f = fours_none(scale);
		}
		f.sum = _mm512_add_epi64(f.sum, numbers);
		f.min = _mm512_min_epi64(f.min, numbers);
		f.max = _mm512_max_epi64(f.max, numbers);
		f.ngroups++;
		fold->count += 4;
	}
	fours_flush(fold, &f);
	if (r + 4 <= nrows)
		return r + n; /* stopped among four */
	return r + simd_fold_some(text, ends, stride, nrows - r, drops_cr, fold, nmissing);
}

/* simd_ops.fold */
static size_t fold_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing)
{
	return drops_cr ? fold_fours(text, ends, stride, nrows, true, fold, nmissing)
			: fold_fours(text, ends, stride, nrows, false, fold, nmissing);
}

const struct simd_ops simd_avx512 = {
	.name = "avx512",
	.scan = scan,
	.positions = positions,
	.unquote = simd_unquote,
	.fold = fold_rows,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
