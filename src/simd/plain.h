/* SPDX-License-Identifier: MIT
 *
 * simd/plain.h - the bodies of operations in plain C, for sets without an instruction for many, and for what is left over
 * there: classes of bytes, positions of bits, separators in quotes, short texts, half bytes, symbols.
 *
 * The including file chooses its instruction set before, and defines SIMD_LOWEST_ONE, SIMD_COUNT_ONES and SIMD_PARITY if the
 * set has instructions for them.
 */
#pragma once

#include "simd/simd.h"

#define SIMD_INLINE static inline __attribute__((always_inline))

/* ---- positions ---- */

/* Removing the lowest bit until none is left takes a different number of steps for each word, and
 * a mispredicted branch for each word costs more than the bits. So eight positions are written for
 * every word; the next word overwrites those that were none. The branch is on whether there are
 * more than eight, which predicts well.
 */

/* The number of bits set (Hacker's Delight, 2nd ed., section 5-1). The compiler's own function is
 * a call where there is no instruction. */
static inline unsigned simd_count_ones(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
}

#ifndef SIMD_COUNT_ONES
#define SIMD_COUNT_ONES(bits) simd_count_ones(bits)
#endif

/* ops->count of simd.h. */
static inline size_t simd_count(const uint64_t *bits, size_t nwords)
{
	size_t n = 0;

	for (size_t k = 0; k < nwords; k++)
		n += (size_t)SIMD_COUNT_ONES(bits[k]);
	return n;
}

/* The index of the lowest bit set; for 0 any number. The top bit is set because __builtin_ctzll(0)
 * is undefined. */
#ifndef SIMD_LOWEST_ONE
#define SIMD_LOWEST_ONE(bits) __builtin_ctzll((bits) | UINT64_C(1) << 63)
#endif

/* Clears the lowest bit set and returns its position; for 0 any number. */
static inline uint32_t simd_next_position(uint64_t *left, uint32_t base)
{
	uint32_t position = base + (uint32_t)SIMD_LOWEST_ONE(*left);

	*left &= *left - 1;
	return position;
}

/* ops->positions of simd.h. */
static inline size_t simd_positions(const uint64_t *bits, size_t nwords, uint32_t base,
				    uint32_t *out)
{
	uint32_t *end = out;

	for (size_t k = 0; k < nwords; k++, base += 64) {
		uint64_t left = bits[k];
		uint32_t *next = end;
		end += SIMD_COUNT_ONES(left);
		do {
			next[0] = simd_next_position(&left, base);
			next[1] = simd_next_position(&left, base);
			next[2] = simd_next_position(&left, base);
			next[3] = simd_next_position(&left, base);
			next[4] = simd_next_position(&left, base);
			next[5] = simd_next_position(&left, base);
			next[6] = simd_next_position(&left, base);
			next[7] = simd_next_position(&left, base);
			next += 8;
		} while (next < end);
	}
	return (size_t)(end - out);
}

/* ---- classes ---- */

#ifndef SIMD_OWN_CLASSIFY

/* Where the 64 bytes at text equal byte, one bit a byte: the including file's. */
static inline uint64_t simd_match(const char *text, char byte);

/* simd_ops.classify */
static struct simd_counts simd_classify_words(const char *text, size_t nwords, char delimiter, char quote,
					      struct simd_bits bits)
{
	struct simd_counts counts = {0, 0};

	for (size_t k = 0; k < nwords; k++, text += SIMD_WORD_NBYTES) {
		uint64_t newlines = simd_match(text, '\n'), quotes = simd_match(text, quote);
		bits.separators[k] = simd_match(text, delimiter) | newlines;
		bits.newlines[k] = newlines;
		bits.quotes[k] = quotes;
		counts.nlines += (uint64_t)SIMD_COUNT_ONES(newlines);
		counts.nquotes |= quotes;
	}
	return counts;
}

#endif

/* ---- quotes ---- */

/* XORing a word with itself shifted up by 1, then 2, 4 ... 32 gives in each bit the parity of all
 * bits up to it: the prefix sum of Hillis and Steele, without carry. It is also the carry-less
 * product of the word and all ones.
 * (G. Langdale, D. Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 28, 2019.)
 */

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
static inline size_t simd_clear_quoted(struct simd_bits bits, size_t nwords, struct simd_quotes *at)
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

/* ---- short texts ---- */

/* simd_ops.short_texts: a row after the other, without a branch that depends on a field, since how long fields are can seldom be
 * predicted. */
static inline uint64_t simd_short_texts(const char *text, const uint32_t *ends, size_t stride, size_t nrows, bool drops_cr,
				 char quote, uint64_t (*out)[2])
{
	uint64_t others = 0;

	for (size_t r = 0; r < nrows; r++, ends += stride) {
		const char *field = text + (uint32_t)(ends[-1] + 1);
		uint32_t n = ends[0] - (ends[-1] + 1), nshort;
		if (drops_cr)
			n -= (n > 0) & (field[(int64_t)n - 1] == '\r');
		nshort = n & SIMD_SHORT_NBYTES;
		others |= (uint64_t)((n > SIMD_SHORT_NBYTES) | (*field == quote)) << r;
		simd_first_bytes(field, nshort, out[r]);
		out[r][1] |= (uint64_t)(nshort + 1) << 56;
	}
	return others;
}

/* ---- half bytes, and symbols ---- */

/* simd_ops.pack */
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

/* simd_ops.resolve. A table of all symbols needs no branch. */
static __attribute__((noinline)) void simd_resolve(unsigned char *to, const uint16_t *symbols, size_t n,
						   const unsigned char *table)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		uint32_t bytes = table[symbols[i]] | (uint32_t)table[symbols[i + 1]] << 8 |
				 (uint32_t)table[symbols[i + 2]] << 16 |
				 (uint32_t)table[symbols[i + 3]] << 24;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		bytes = __builtin_bswap32(bytes);
#endif
		memcpy(to + i, &bytes, sizeof bytes);
	}
	for (; i < n; i++)
		to[i] = table[symbols[i]];
}
