/* SPDX-License-Identifier: MIT
 *
 * simd/quote_lanes.h - simd_ops.clear_quoted for sets with wide registers: an element a word.
 *
 * The prefix sum of quote_parity.h, without the carry-less product: six shifts serve all words of a
 * register. The parity of a whole word is its top bit; the prefix sum of those bits, again by
 * shifts, tells which words begin in quotes. A group with a quote that may not open a field is left
 * to the loop over words, which stops in it.
 *
 * The including file defines, besides what simd/groups.h asks for:
 *   lanes_tops(x)               bit i: the top bit of element i
 *   lanes_inverted(x, words)    x, element i inverted where bit i of words is set
 *   lanes_shift_in(x, before)   each element shifted up by 1; its lowest bit is the top bit of the
 *                               element before it, of before's last one for the first
 */
#ifndef GPUSTAT_SIMD_QUOTE_LANES_H
#define GPUSTAT_SIMD_QUOTE_LANES_H

#include "simd/quote_parity.h"

#define QUOTE_NWORDS (2 * LANES_NFIELDS) /* in a register */

static inline lanes quote_load(const uint64_t *words)
{
	lanes x;

	memcpy(&x, words, sizeof x);
	return x;
}

static inline void quote_store(uint64_t *words, lanes x)
{
	memcpy(words, &x, sizeof x);
}

/* Each bit of the result: the parity of its element's bits up to it. */
SIMD_INLINE lanes quote_parities(lanes x)
{
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 1));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 2));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 4));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 8));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 16));
	return LANES_BITS(xor)(x, LANES(slli_epi64)(x, 32));
}

/* The same of a few bits. */
static inline unsigned quote_few_parities(unsigned bits)
{
	bits ^= bits << 1;
	bits ^= bits << 2;
	return bits ^ bits << 4;
}

/* The top bit of a register's last element. */
static inline uint64_t quote_last_top(lanes x)
{
	return lanes_tops(x) >> (QUOTE_NWORDS - 1) & 1;
}

/* What one group leaves to the next. */
struct quote_carry {
	lanes ends, closing; /* of the group */
	lanes strays;        /* of all so far */
	unsigned inside;     /* bit 0 */
};

/* Clears a group's words from word k on, or returns false and changes nothing. */
SIMD_INLINE bool quote_clear_group(struct simd_bits bits, size_t k, struct quote_carry *carry)
{
	lanes quotes = quote_load(bits.quotes + k), separators = quote_load(bits.separators + k);
	lanes ends = LANES_BITS(or)(quotes, separators);
	lanes inside = quote_parities(quotes), opening, closing, strays;
	unsigned parities = quote_few_parities(lanes_tops(inside)), entries;

	entries = (parities << 1) ^ -carry->inside;
	inside = lanes_inverted(inside, entries & ((1u << QUOTE_NWORDS) - 1));
	opening = LANES_BITS(and)(quotes, inside);
	if (lanes_zeros(LANES_BITS(andnot)(lanes_shift_in(ends, carry->ends), opening)) !=
	    (1u << QUOTE_NWORDS) - 1)
		return false;
	closing = LANES_BITS(andnot)(inside, quotes);
	strays = LANES_BITS(andnot)(ends, lanes_shift_in(closing, carry->closing));
	quote_store(bits.quotes + k, strays);
	quote_store(bits.separators + k, LANES_BITS(andnot)(inside, separators));
	quote_store(bits.newlines + k, LANES_BITS(andnot)(inside, quote_load(bits.newlines + k)));
	carry->ends = ends;
	carry->closing = closing;
	carry->strays = LANES_BITS(or)(carry->strays, strays);
	carry->inside ^= parities >> (QUOTE_NWORDS - 1) & 1;
	return true;
}

/* simd_ops.clear_quoted */
static size_t quote_clear_lanes(struct simd_bits bits, size_t nwords, struct simd_quotes *at)
{
	struct quote_carry carry = {LANES_64((int64_t)(at->may_open << 63)),
				    LANES_64((int64_t)(at->closed << 63)), LANES_64(0),
				    at->inside & 1};
	struct simd_bits rest;
	size_t k = 0;

	while (nwords - k >= QUOTE_NWORDS && quote_clear_group(bits, k, &carry))
		k += QUOTE_NWORDS;
	at->inside = -(uint64_t)carry.inside;
	at->may_open = quote_last_top(carry.ends);
	at->closed = quote_last_top(carry.closing);
	at->strays |= lanes_zeros(carry.strays) != (1u << QUOTE_NWORDS) - 1;
	rest = (struct simd_bits){bits.separators + k, bits.newlines + k, bits.quotes + k};
	return k + simd_clear_quoted(rest, nwords - k < QUOTE_NWORDS ? nwords - k : QUOTE_NWORDS, at);
}

#endif
