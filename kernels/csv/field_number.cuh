/* SPDX-License-Identifier: MIT
 *
 * field_number.cuh - a thread reads a plain number from shared memory, 8 digits at a time.
 *
 * decimal_parse() goes byte by byte; this works on 64-bit words that end where the number ends.
 * Bytes before its beginning become '0', and the bytes before the point move down by one to remove
 * it. It handles [+-]digits[.digits] of at most 18 significant digits, quoted or not; the rest is
 * left to decimal_parse().
 *
 * Source of the conversion: D. Lemire, "Number parsing at a gigabyte per second", Software:
 * Practice and Experience 51(8), 2021, section 4, after J. Mula.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "number/decimal.h"
}

#define NUMBER_WORD_NBYTES 8
#define NUMBER_NWORDS 3 /* 24 characters: 18 digits, a point, some zeros */
#define NUMBER_EVERY(byte) ((uint64_t)(byte) * UINT64_C(0x0101010101010101))

/* The 8 bytes from text[at] on; the first is the lowest. text: 4-byte aligned; at may be
 * negative, and text is readable from the 4-byte boundary before to 12 bytes after that. */
static __device__ inline uint64_t number_load(const char *text, int at)
{
	const uint32_t *words = (const uint32_t *)text + (at >> 2);
	unsigned shift = 8 * ((unsigned)at & 3);
	uint32_t low = __funnelshift_r(words[0], words[1], shift);
	uint32_t high = __funnelshift_r(words[1], words[2], shift);

	return (uint64_t)high << 32 | low;
}

/* Bit 7 of each byte that is a point. */
static __device__ inline uint64_t number_points(uint64_t word)
{
	uint64_t difference = word ^ NUMBER_EVERY('.');
	uint64_t low = (difference & NUMBER_EVERY(0x7f)) + NUMBER_EVERY(0x7f);

	return ~(low | difference) & NUMBER_EVERY(0x80);
}

/* 0 if all bytes are digits, else not. */
static __device__ inline uint64_t number_wrong(uint64_t word)
{
	return ((word & NUMBER_EVERY(0xf0)) ^ NUMBER_EVERY('0')) |
	       (((word + NUMBER_EVERY(6)) & NUMBER_EVERY(0xf0)) ^ NUMBER_EVERY('0'));
}

/* Four digits, the first in the lowest byte. */
static __device__ inline uint32_t number_four(uint32_t digits)
{
	uint32_t pairs = (digits & 0x0f0f0f0fu) * 2561 >> 8 & 0x00ff00ffu;

	return pairs * 6553601u >> 16;
}

static __device__ inline uint32_t number_eight(uint64_t digits)
{
	return number_four((uint32_t)digits) * 10000 + number_four((uint32_t)(digits >> 32));
}

/* The last nbytes bytes of a word; nbytes may be negative, or more than 8. */
static __device__ inline uint64_t number_tail(int nbytes)
{
	if (nbytes <= 0)
		return 0;
	return nbytes >= NUMBER_WORD_NBYTES ? ~UINT64_C(0)
					    : ~UINT64_C(0) << 8 * (NUMBER_WORD_NBYTES - nbytes);
}

/* Reads digits with or without a point: the last nbytes bytes of word, the first digits in the
 * first word. Returns false if they are something else, or too many. */
template <unsigned NWORDS>
static __device__ inline bool number_convert(uint64_t (&word)[NWORDS], int nbytes,
					     uint64_t *significand, unsigned *scale)
{
	uint64_t wrong = 0;
	bool has_point = false;

	*significand = 0;
	*scale = 0;
#pragma unroll
	for (unsigned i = 0; i < NWORDS; i++) {
		uint64_t own = number_tail(nbytes - (int)(NWORDS - 1 - i) * NUMBER_WORD_NBYTES);
		word[i] = (word[i] & own) | (NUMBER_EVERY('0') & ~own);
	}
	/* From the last word on, bytes up to the point are replaced by those before them. If there
	 * are two points, the first one stays and is no digit. */
#pragma unroll
	for (unsigned i = NWORDS; i-- > 0;) {
		uint64_t point = number_points(word[i]), moved = ~UINT64_C(0);
		if (!has_point && point == 0)
			continue;
		if (!has_point) {
			unsigned last = 63 - (unsigned)__clzll((long long)point);
			moved = ~UINT64_C(0) >> (63 - last);
			*scale = (63 - last) / 8 + (NWORDS - 1 - i) * NUMBER_WORD_NBYTES;
			has_point = true;
		}
		uint64_t earlier = i > 0 ? word[i > 0 ? i - 1 : 0] >> 56 : '0';
		word[i] = (word[i] & ~moved) | ((word[i] << 8 | earlier) & moved);
	}
#pragma unroll
	for (unsigned i = 0; i < NWORDS; i++) {
		wrong |= number_wrong(word[i]);
		*significand = *significand * 100000000u + number_eight(word[i]);
	}
	/* 24 digits could wrap around: all but two of the first 8 must be zeros. */
	if (NWORDS == NUMBER_NWORDS && (word[0] << 16) >> 16 != (NUMBER_EVERY('0') << 16) >> 16)
		return false;
	return wrong == 0 && nbytes > (int)has_point;
}

template <unsigned NWORDS>
static __device__ inline bool number_read_words(const char *text, uint32_t begin, uint32_t end,
						uint64_t *significand, unsigned *scale)
{
	uint64_t word[NWORDS];

#pragma unroll
	for (unsigned i = 0; i < NWORDS; i++)
		word[i] = number_load(text, (int)end - (int)(NWORDS - i) * NUMBER_WORD_NBYTES);
	return number_convert<NWORDS>(word, (int)(end - begin), significand, scale);
}

/* Reads the number text[begin .. end). Returns true and sets *significand and *scale as
 * decimal_parse() does, or returns false if decimal_parse() must decide. quote: may be around it.
 * text: shared memory, 4-byte aligned, readable from 27 bytes before begin to 4 behind end. */
static __device__ inline bool number_read(const char *text, uint32_t begin, uint32_t end,
					  char quote, int64_t *significand, unsigned *scale)
{
	uint64_t magnitude;
	bool negative, read;

	if (end - begin >= 2 && text[begin] == quote && text[end - 1] == quote) {
		begin++;
		end--;
	}
	if (begin == end)
		return false;
	negative = text[begin] == '-';
	begin += negative || text[begin] == '+';
	if (end - begin <= NUMBER_WORD_NBYTES)
		read = number_read_words<1>(text, begin, end, &magnitude, scale);
	else if (end - begin <= NUMBER_NWORDS * NUMBER_WORD_NBYTES)
		read = number_read_words<NUMBER_NWORDS>(text, begin, end, &magnitude, scale);
	else
		return false;
	*significand = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return read;
}
