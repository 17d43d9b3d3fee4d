/* SPDX-License-Identifier: MIT
 *
 * bit_reader.cuh - the bits of a deflate stream, lowest first (RFC 1951, section 3.1.1).
 *
 * A warp has one stream, and every lane the same reader. The next word is loaded while the one before is
 * used.
 */
#pragma once

#include <stdint.h>

struct bit_reader {
	const uint32_t *words; /* the stream begins in the first */
	uint32_t nwords, nread; /* of them; nread may go beyond: the words there are 0 */
	uint32_t first_bit;     /* of the first word, where the stream begins */
	uint32_t ahead;         /* the word behind those in bits */
	uint64_t bits;          /* the next ones; above nbits: 0 */
	uint32_t nbits;
};

static __device__ inline uint32_t bit_word(const struct bit_reader &b, uint32_t i)
{
	return i < b.nwords ? b.words[i] : 0;
}

/* Appends a word. nbits <= 32 before. */
static __device__ inline void bits_add_word(struct bit_reader *b)
{
	b->bits |= (uint64_t)b->ahead << b->nbits;
	b->nbits += 32;
	b->ahead = bit_word(*b, ++b->nread);
}

/* Makes nbits at least 32. */
static __device__ inline void bits_need(struct bit_reader *b)
{
	if (b->nbits < 32)
		bits_add_word(b);
}

/* Begins with byte `at` of a stream of nbytes at data, where all begins at a multiple of 4. */
static __device__ inline void bits_begin(struct bit_reader *b, const unsigned char *data, uint64_t begin,
					 uint32_t nbytes, uint32_t at)
{
	uint64_t first = begin + at;

	b->words = (const uint32_t *)data + first / 4;
	b->first_bit = (uint32_t)(first % 4) * 8;
	b->nwords = (uint32_t)((begin + nbytes + 3) / 4 - first / 4);
	b->nread = 0;
	b->bits = 0;
	b->nbits = 0;
	b->ahead = bit_word(*b, 0);
	bits_add_word(b);
	b->bits >>= b->first_bit;
	b->nbits -= b->first_bit;
	bits_need(b);
}

/* Bits that have been taken since bits_begin. */
static __device__ inline uint64_t bits_taken(const struct bit_reader &b)
{
	return (uint64_t)b.nread * 32 - b.nbits - b.first_bit;
}

static __device__ inline void bits_drop(struct bit_reader *b, uint32_t n)
{
	b->bits >>= n;
	b->nbits -= n;
}

/* The next n bits, n <= 16, of which at least n are there. */
static __device__ inline uint32_t bits_take(struct bit_reader *b, uint32_t n)
{
	uint32_t x = (uint32_t)b->bits & ((1u << n) - 1);

	bits_drop(b, n);
	return x;
}
