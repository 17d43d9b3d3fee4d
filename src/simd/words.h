/* SPDX-License-Identifier: MIT
 *
 * simd/words.h - eight bytes of text in a plain register, and their numbers: for sets without wide
 * registers, and for texts too short for those.
 */
#ifndef GPUSTAT_SIMD_WORDS_H
#define GPUSTAT_SIMD_WORDS_H

#include <string.h>

#include "simd/simd.h"

#define SIMD_INLINE static inline __attribute__((always_inline))
#define SIMD_NO_NUMBER -1 /* for a scale */

/* Eight bytes of text as a word, the first the lowest. */
static inline uint64_t simd_load_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Sets words to the first n < 16 bytes of a text, of which 16 may be read; the bytes behind them are 0. */
static inline void simd_first_bytes(const char *text, size_t n, uint64_t words[2])
{
	static const char bytes[32] = "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"; /* n before the middle */

	words[0] = simd_load_word(text) & simd_load_word(bytes + 16 - n);
	words[1] = simd_load_word(text + 8) & simd_load_word(bytes + 24 - n);
}

/* Words with 1, or the top bit, in each byte. */
#define SIMD_EACH UINT64_C(0x0101010101010101)
#define SIMD_TOPS (SIMD_EACH * 0x80)

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

/* For simd_ops.pack. */
static inline bool simd_pack(const char *text, size_t nwords, const unsigned char letters[16],
			     unsigned char *out)
{
	unsigned differing = 0;

	for (size_t k = 0; k < nwords * (SIMD_WORD_NBYTES / 2); k++) {
		unsigned low = (unsigned char)text[2 * k], high = (unsigned char)text[2 * k + 1];
		differing |= (low ^ letters[low & 15]) | (high ^ letters[high & 15]);
		out[k] = (unsigned char)((low & 15) | high << 4);
	}
	return differing == 0;
}

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

#endif
