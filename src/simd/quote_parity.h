/* SPDX-License-Identifier: MIT
 *
 * simd/quote_parity.h - the body of simd_ops.clear_quoted, compiled by each instruction set's file.
 *
 * XORing a word with itself shifted up by 1, then 2, 4 ... 32 gives in each bit the parity of all
 * bits up to it: the prefix sum of Hillis and Steele, without carry. It is also the carry-less
 * product of the word and all ones; a set that has an instruction for that defines SIMD_PARITY
 * before it includes this.
 * (G. Langdale, D. Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 28, 2019.)
 */
#ifndef GPUSTAT_SIMD_QUOTES_H
#define GPUSTAT_SIMD_QUOTES_H

#include "simd/simd.h"

/* Each bit of the result: whether an odd number of x's bits up to it, inclusive, are set. */
static inline uint64_t simd_parity(uint64_t x)
{
	x ^= x << 1;
	x ^= x << 2;
	x ^= x << 4;
	x ^= x << 8;
	x ^= x << 16;
	return x ^ x << 32;
}

#ifndef SIMD_PARITY
#define SIMD_PARITY(bits) simd_parity(bits)
#endif

/* simd_ops.clear_quoted */
static size_t simd_clear_quoted(struct simd_bits bits, size_t nwords, struct simd_quotes *at)
{
	uint64_t in_quotes = at->inside, may_open_next = at->may_open;
	uint64_t closed = at->closed, strays = at->strays;
	size_t k;

	for (k = 0; k < nwords; k++) {
		uint64_t quotes = bits.quotes[k], separators = bits.separators[k];
		uint64_t inside = SIMD_PARITY(quotes) ^ in_quotes;
		uint64_t ends = separators | quotes, closing = quotes & ~inside;
		if (quotes & inside & ~(ends << 1 | may_open_next))
			break;
		bits.quotes[k] = (closing << 1 | closed) & ~ends;
		strays |= bits.quotes[k];
		closed = closing >> 63;
		bits.separators[k] = separators & ~inside;
		bits.newlines[k] &= ~inside;
		in_quotes = -(inside >> 63);
		may_open_next = ends >> 63;
	}
	at->inside = in_quotes;
	at->may_open = may_open_next;
	at->closed = closed;
	at->strays = strays;
	return k;
}

#endif
