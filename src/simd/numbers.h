/* SPDX-License-Identifier: MIT
 *
 * simd/numbers.h - the body of simd_ops.fold, compiled by each instruction set's file; those
 * with wide registers fold groups instead (simd/groups.h), which is 2 to 4 times as fast, and
 * use this for single rows.
 *
 * A field of up to 16 bytes is converted without a loop, and without a branch that its length, sign
 * or point could mispredict. Its last byte goes into the last of 16 lanes; the text before it fills
 * the others and is masked away. The digits before a point move up one lane, over it. Then
 * neighbouring lanes are joined, 10 a + b, into 8 numbers of two digits, those into 4, 2 and 1.
 * (The joining: W. Mula, "SIMD-ized conversion of decimal numbers", 2014.)
 */
#pragma once

#include "simd/plain.h"

#define SIMD_NO_NUMBER -1 /* for a scale */
#define SIMD_NDIGITS 16   /* lanes: bytes that are converted at once */

/* The value of up to 16 bytes of digits, with or without a point. */
struct simd_digits {
	uint64_t number;
	unsigned ndigits;
	int nfraction; /* digits behind the point; 0 without */
	unsigned has_point;
	unsigned others; /* not 0: there are other bytes or several points */
};

#if defined(__SSE4_1__)
#include <immintrin.h>

typedef __m128i simd_text;

/* The classes of a field's lanes: bit i is lane i; the field's last byte is lane 15. */
struct simd_lanes {
	unsigned digits, points;
};

/* Constants in registers. */
struct simd_constants {
	__m128i lane, zero_digit, nine, point, tens, hundreds, ten_thousands;
	char decimal;
};

/* The asm keeps the compiler from making them anew for each field. */
SIMD_INLINE struct simd_constants simd_constants(char decimal)
{
	struct simd_constants k = {
		_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
		_mm_set1_epi8('0'), _mm_set1_epi8(9), _mm_set1_epi8(decimal), _mm_set1_epi16(0x010a),
		_mm_set1_epi32(0x00010064), _mm_set1_epi32(0x00012710), decimal,
	};

	__asm__("" : "+x"(k.lane), "+x"(k.zero_digit), "+x"(k.nine), "+x"(k.point), "+x"(k.tens),
		     "+x"(k.hundreds), "+x"(k.ten_thousands));
	return k;
}

static inline simd_text simd_load(const char *end)
{
	return _mm_loadu_si128((const __m128i *)(end - SIMD_NDIGITS));
}

/* 16 lanes of 0 to 9, the first the most significant. */
static inline uint64_t simd_join(const struct simd_constants *k, __m128i x)
{
	x = _mm_maddubs_epi16(x, k->tens);
	x = _mm_madd_epi16(x, k->hundreds);
	x = _mm_packus_epi32(x, x);
	x = _mm_madd_epi16(x, k->ten_thousands);
	uint64_t both = (uint64_t)_mm_cvtsi128_si64(x);
	__asm__("" : "+r"(both)); /* keeps the rest in plain registers */
	return (both & UINT32_MAX) * 100000000 + (both >> 32);
}

/* Which of all 16 lanes are digits, and which points. */
static inline struct simd_lanes simd_classify(const struct simd_constants *k, simd_text v)
{
	__m128i x = _mm_sub_epi8(v, k->zero_digit);
	struct simd_lanes lanes;

	lanes.digits = (unsigned)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_min_epu8(x, k->nine), x));
	lanes.points = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, k->point));
	return lanes;
}

/* The number in the last ndigits lanes once the point is removed: the first nmoving lanes, which
 * end with it, move up by one. */
static inline uint64_t simd_number(const struct simd_constants *k, simd_text v,
				   unsigned nmoving, unsigned ndigits)
{
	__m128i moves = _mm_cmpgt_epi8(_mm_set1_epi8((char)nmoving), k->lane);
	__m128i counts =
		_mm_cmpgt_epi8(k->lane, _mm_set1_epi8((char)(SIMD_NDIGITS - 1 - (int)ndigits)));
	__m128i x = _mm_blendv_epi8(v, _mm_slli_si128(v, 1), moves);

	x = _mm_and_si128(_mm_sub_epi8(x, k->zero_digit), counts);
	return simd_join(k, x);
}

/* Reads text[end - nbytes .. end), 1 to 16 bytes. */
SIMD_INLINE struct simd_digits simd_digits(const struct simd_constants *k, const char *text,
					   uint32_t end, unsigned nbytes)
{
	unsigned all = 0xffffu << (SIMD_NDIGITS - nbytes) & 0xffff;
	simd_text v = simd_load(text + end);
	struct simd_lanes lanes = simd_classify(k, v);
	unsigned points = lanes.points & all, more_points = points & (points - 1);
	unsigned at = (unsigned)__builtin_ctz(points | 1u << SIMD_NDIGITS); /* 16: none */
	unsigned has_point = 1 - at / SIMD_NDIGITS, if_point = -has_point;

	return (struct simd_digits){
		simd_number(k, v, (at + 1) & if_point, nbytes - has_point), nbytes - has_point,
		(int)((SIMD_NDIGITS - 1 - at) & if_point), has_point,
		(((lanes.digits & all) | points) ^ all) | more_points};
}

#else /* plain registers, of either byte order */

/* The high bit of each byte that is a digit: x XOR '0' is at most 9. */
static inline uint64_t simd_digit_bits(uint64_t word)
{
	uint64_t x = word ^ SIMD_EACH * '0';

	return ~(((x & SIMD_EACH * 0x7f) + SIMD_EACH * (0x7f - 9)) | x) & SIMD_TOPS;
}

/* The high bit of each byte that is the decimal point. */
static inline uint64_t simd_point_bits(uint64_t word, char decimal)
{
	uint64_t x = word ^ SIMD_EACH * (unsigned char)decimal;

	return ~(((x & SIMD_EACH * 0x7f) + SIMD_EACH * 0x7f) | x) & SIMD_TOPS;
}

/* Joins eight lanes of 0 to 9, the lowest the most significant. Of the pairs that the first step
 * leaves, two are multiplied at once, and their sum is in the upper half. */
static inline uint64_t simd_join_word(uint64_t x)
{
	const uint64_t pairs = UINT64_C(0x000000ff000000ff);

	x = x * 10 + (x >> 8);
	return ((x & pairs) * (100 + (UINT64_C(1000000) << 32)) +
		(x >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

struct simd_constants {
	char decimal; /* the others are immediate operands */
};

SIMD_INLINE struct simd_constants simd_constants(char decimal)
{
	return (struct simd_constants){decimal};
}

/* Reads the nbytes before end, 1 to 8, as lanes of a word: the last is the highest. */
SIMD_INLINE struct simd_digits simd_word_digits(const struct simd_constants *k, const char *end,
						unsigned nbytes)
{
	uint64_t word = simd_load_word(end - 8), all = ~UINT64_C(0) << 8 * (8 - nbytes);
	uint64_t points = simd_point_bits(word, k->decimal) & all, has_point = points != 0;
	uint64_t known = (simd_digit_bits(word) & all) | points, point = points >> 7;
	uint64_t below = (point - 1) & -has_point, digits = word & SIMD_EACH * 0x0f & all;
	unsigned at = (unsigned)__builtin_ctzll(points | UINT64_C(1) << 63) / 8; /* 7 also without a point */

	digits = (digits & ~(below | point * 0xff)) | (digits & below) << 8;
	return (struct simd_digits){
		simd_join_word(digits), nbytes - (unsigned)has_point, (int)(7 - at),
		(unsigned)has_point,
		known != (SIMD_TOPS & all) || (points & (points - 1)) != 0};
}

/* Reads text[end - nbytes .. end), 1 to 16 bytes. */
SIMD_INLINE struct simd_digits simd_digits(const struct simd_constants *k, const char *text,
					   uint32_t end, unsigned nbytes)
{
	static const uint64_t factors[] = {100000000, 10000000};
	struct simd_digits low, high;

	if (nbytes <= 8)
		return simd_word_digits(k, text + end, nbytes);
	low = simd_word_digits(k, text + end, 8);
	high = simd_word_digits(k, text + end - 8, nbytes - 8);
	return (struct simd_digits){
		high.number * factors[low.has_point] + low.number, high.ndigits + low.ndigits,
		high.has_point ? high.nfraction + 8 : low.nfraction, high.has_point | low.has_point,
		low.others | high.others | (low.has_point & high.has_point)};
}

#endif

/* Converts text[begin .. end), digits[.digits], 1 to 16 bytes. No number: the scale is
 * SIMD_NO_NUMBER. */
SIMD_INLINE struct decimal simd_convert_lanes(const struct simd_constants *k, const char *text,
					      uint32_t begin, uint32_t end, unsigned is_negative)
{
	struct simd_digits d = simd_digits(k, text, end, end - begin);
	struct decimal x = {(int64_t)((d.number ^ -(uint64_t)is_negative) + is_negative),
			    d.nfraction};

	/* A number has at least one digit, at most one point, and no other byte. */
	if (d.others | (d.ndigits == 0))
		x.scale = SIMD_NO_NUMBER;
	return x;
}

/* Like simd_convert_lanes, but for 17 to 32 bytes: the last 16, and those before them, which may
 * hold only the first few of 18 digits. */
SIMD_INLINE struct decimal simd_convert_two(const struct simd_constants *k, const char *text,
					    uint32_t begin, uint32_t end, unsigned is_negative)
{
	static const uint64_t limits[] = {100, 1000}; /* 10^18 over factors */
	static const uint64_t factors[] = {10000000000000000, 1000000000000000};
	struct simd_digits low = simd_digits(k, text, end, SIMD_NDIGITS);
	struct simd_digits high = simd_digits(k, text, end - SIMD_NDIGITS,
					      end - SIMD_NDIGITS - begin);
	uint64_t number = high.number * factors[low.has_point] + low.number;
	struct decimal x = {(int64_t)((number ^ -(uint64_t)is_negative) + is_negative),
			    low.nfraction};

	if (high.has_point)
		x.scale = high.nfraction + SIMD_NDIGITS;
	if (low.others | high.others | (low.has_point & high.has_point) |
	    (high.number >= limits[low.has_point]) | (x.scale >= DECIMAL_NSCALES))
		x.scale = SIMD_NO_NUMBER;
	return x;
}

/* Returns where the exponent of text[begin .. end) begins, and sets *exponent to it; end: it has
 * none of one or two digits. */
static inline uint32_t simd_exponent(const char *text, uint32_t begin, uint32_t end,
				     int *exponent)
{
	uint32_t at = end - 2; /* of the e, if the exponent has one digit */
	int value = text[end - 1] - '0';

	if (end - begin < 3 || !decimal_is_digit(text[end - 1]))
		return end;
	if (decimal_is_digit(text[at]))
		value += 10 * (text[at--] - '0');
	if (text[at] == '-')
		value = -value;
	at -= text[at] == '-' || text[at] == '+';
	if ((int32_t)(at - begin) <= 0 || (text[at] | 0x20) != 'e')
		return end;
	*exponent = value;
	return at;
}

#if !defined(__SSE4_1__)

#define SIMD_NPOINTED 19 /* bytes: 18 digits and a point */

/* Not 0 where a lane is more than 9. */
static inline uint64_t simd_above_nine(uint64_t x)
{
	return ((x + SIMD_EACH * (0x7f - 9)) | x) & SIMD_TOPS;
}

/* A number's digits as lanes: whole x power + high x 10^8 + low. */
struct simd_three {
	uint64_t whole, power, high, low;
};

/* Reads text[begin .. end), 9 to SIMD_NPOINTED bytes with a point among the first eight. The digits
 * before the first point, the last eight behind it, and those between are a word each, so no gap
 * needs closing. `whole` is padded with zeros to eight lanes. */
SIMD_INLINE struct simd_three simd_read_three(const char *text, uint32_t begin, uint32_t end,
					      uint64_t points)
{
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
					  100000000, 1000000000, 10000000000};
	const uint64_t zeros = SIMD_EACH * '0';
	unsigned nbytes = end - begin, nmore = nbytes - 9; /* than one, and eight */
	uint64_t up_to_point = points ^ (points - 1); /* these lanes */
	uint64_t first = simd_load_word(text + begin) ^ zeros;
	struct simd_three x = {first & up_to_point >> 8, powers[nmore], first & ~up_to_point,
			       simd_load_word(text + end - 8) ^ zeros};

	if (nbytes > 16) {
		x.high = simd_load_word(text + end - 16) ^ zeros;
		x.high &= ~(up_to_point >> 8 * (nbytes - 16));
	} else {
		x.high <<= 8 * (16 - nbytes);
		x.low &= ~(up_to_point >> 8 * nmore >> 8);
	}
	return x;
}

/* Converts text[begin .. end), of a length for simd_read_three. No number: the scale is
 * SIMD_NO_NUMBER. */
SIMD_INLINE struct decimal simd_convert_three(const char *text, uint32_t begin, uint32_t end,
					      uint64_t points, unsigned is_negative)
{
	struct simd_three d = simd_read_three(text, begin, end, points);
	uint64_t number = simd_join_word(d.whole) * d.power +
			  simd_join_word(d.high) * 100000000 + simd_join_word(d.low);
	struct decimal x = {(int64_t)((number ^ -(uint64_t)is_negative) + is_negative),
			    (int32_t)(end - begin - 1) - __builtin_ctzll(points) / 8};

	if (simd_above_nine(d.whole) | simd_above_nine(d.high) | simd_above_nine(d.low) ||
	    x.scale > 16)
		x.scale = SIMD_NO_NUMBER;
	return x;
}

/* Whether text[end - 4 .. end) is an exponent as printf writes it; sets *exponent. */
SIMD_INLINE bool simd_printed_exponent(const char *end, int *exponent)
{
	unsigned tens = (unsigned char)end[-2] - '0', ones = (unsigned char)end[-1] - '0';
	int is_negative = end[-3] == '-', value = (int)(10 * tens + ones);

	*exponent = (value ^ -is_negative) + is_negative;
	return (end[-4] | 0x20) == 'e' && (is_negative || end[-3] == '+') && tens <= 9 && ones <= 9;
}

/* Like simd_convert_lanes, but for up to SIMD_NPOINTED bytes, and such an exponent behind them. */
SIMD_INLINE struct decimal simd_convert_words(const struct simd_constants *k, const char *text,
					      uint32_t begin, uint32_t end, unsigned is_negative)
{
	struct decimal x = {0, SIMD_NO_NUMBER};
	int exponent = 0;
	bool has_exponent = simd_printed_exponent(text + end, &exponent);
	uint32_t last = has_exponent ? end - 4 : end;

	uint64_t points = simd_point_bits(simd_load_word(text + begin), k->decimal);

	if (last - begin - 9 < SIMD_NPOINTED - 8 && points != 0)
		x = simd_convert_three(text, begin, last, points, is_negative);
	else if (last - begin - 1 < SIMD_NDIGITS)
		x = simd_convert_lanes(k, text, begin, last, is_negative);
	if (!has_exponent || x.scale == SIMD_NO_NUMBER)
		return x;
	x.scale -= exponent;
	if (x.scale < 0 || x.scale >= DECIMAL_NSCALES)
		x.scale = SIMD_NO_NUMBER;
	return x;
}

#else

/* Like simd_convert_lanes, for any number of bytes; only up to 16 are converted. */
SIMD_INLINE struct decimal simd_convert_words(const struct simd_constants *k, const char *text,
					      uint32_t begin, uint32_t end, unsigned is_negative)
{
	if (end - begin - 1 < SIMD_NDIGITS)
		return simd_convert_lanes(k, text, begin, end, is_negative);
	return (struct decimal){0, SIMD_NO_NUMBER};
}

#endif

/* x times 10^exponent; the scale is SIMD_NO_NUMBER where that does not fit the fast path. */
static inline struct decimal simd_scale(struct decimal x, int exponent)
{
	static const int64_t limits[] = { /* 10^(18 - i) */
		1000000000000000000, 100000000000000000, 10000000000000000, 1000000000000000,
		100000000000000, 10000000000000, 1000000000000, 100000000000, 10000000000,
		1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10,
	};
	int nzeros = exponent - x.scale;

	x.scale = nzeros < 0 ? -nzeros : 0;
	if (nzeros > 0 && x.significand != 0) {
		if (nzeros >= DECIMAL_NDIGITS || x.significand >= limits[nzeros] ||
		    x.significand <= -limits[nzeros])
			x.scale = SIMD_NO_NUMBER;
		else
			x.significand *= limits[DECIMAL_NDIGITS - nzeros];
	}
	if (x.scale >= DECIMAL_NSCALES)
		x.scale = SIMD_NO_NUMBER;
	return x;
}

/* Converts text[begin .. end), which simd_convert_words does not: it is longer, or has an exponent.
 * The result is decimal_parse's, if that is DECIMAL_NUMBER and the decimal point is its own. */
static __attribute__((noinline)) struct decimal simd_convert_long(const char *text, uint32_t begin,
								  uint32_t end, char decimal)
{
	const struct simd_constants k = simd_constants(decimal);
	struct decimal x = {0, SIMD_NO_NUMBER};
	unsigned is_negative = text[begin] == '-';
	uint32_t first = begin + (is_negative | (text[begin] == '+'));
	int exponent = 0;
	uint32_t last = simd_exponent(text, first, end, &exponent);

	if (last - first - 1 < SIMD_NDIGITS)
		x = simd_convert_lanes(&k, text, first, last, is_negative);
	else if (last - first - 1 < 2 * SIMD_NDIGITS)
		x = simd_convert_two(&k, text, first, last, is_negative);
	if (x.scale != SIMD_NO_NUMBER && last != end)
		x = simd_scale(x, exponent);
	if (x.scale == SIMD_NO_NUMBER && decimal == '.' && !decimal_is_blank(text[begin]) &&
	    !decimal_is_blank(text[end - 1]))
		decimal_parse(text + begin, end - begin, &x);
	return x;
}

/* Converts text[begin .. end), at least a byte. */
SIMD_INLINE struct decimal simd_convert(const struct simd_constants *k, const char *text,
					uint32_t begin, uint32_t end)
{
	unsigned is_negative = text[begin] == '-';
	uint32_t first = begin + (is_negative | (text[begin] == '+'));
	struct decimal x = simd_convert_words(k, text, first, end, is_negative);

	return x.scale == SIMD_NO_NUMBER ? simd_convert_long(text, begin, end, k->decimal) : x;
}

/* Returns the bin of a scale, which it empties if it was not in use. */
static inline struct decimal_bin *simd_bin(struct decimal_fold *fold, int scale)
{
	const struct decimal_bin none = {0, INT64_MAX, INT64_MIN};

	if (!(fold->scales >> scale & 1))
		fold->bin[scale] = none;
	fold->scales |= (uint32_t)1 << scale;
	return &fold->bin[scale];
}

SIMD_INLINE size_t simd_fold_some(const char *text, const uint32_t *ends, size_t stride,
				  size_t nrows, bool drops_cr, char decimal,
				  struct decimal_fold *fold, uint64_t *nmissing)
{
	const struct simd_constants k = simd_constants(decimal);
	uint64_t nempty = 0;
	size_t r;

	for (r = 0; r < nrows; r++, ends += stride) {
		uint32_t begin = ends[-1] + 1, end = ends[0];

		if (drops_cr)
			end -= end != begin && text[end - 1] == '\r';
		if (end == begin) {
			nempty++;
			continue;
		}
		struct decimal x = simd_convert(&k, text, begin, end);
		if (x.scale == SIMD_NO_NUMBER)
			break;
		struct decimal_bin *bin = simd_bin(fold, x.scale);
		bin->sum += x.significand;
		bin->min = x.significand < bin->min ? x.significand : bin->min;
		bin->max = x.significand > bin->max ? x.significand : bin->max;
	}
	fold->count += r - nempty;
	*nmissing += nempty;
	return r;
}

/* simd_ops.fold: two loops, so that only the one for the last field checks for a CR; and one for any
 * decimal point but '.', which is then no immediate operand. */
static inline size_t simd_fold_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			     bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing,
			     struct simd_hint *hint)
{
	char decimal = simd_decimal(hint);

	if (decimal != '.')
		return simd_fold_some(text, ends, stride, nrows, drops_cr, decimal, fold, nmissing);
	return drops_cr ? simd_fold_some(text, ends, stride, nrows, true, '.', fold, nmissing)
			: simd_fold_some(text, ends, stride, nrows, false, '.', fold, nmissing);
}
