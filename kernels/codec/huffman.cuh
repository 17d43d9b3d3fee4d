/* SPDX-License-Identifier: MIT
 *
 * huffman.cuh - the tables of a canonical Huffman code, made and used by a warp.
 *
 * A code of up to FAST_NBITS bits is found by one look into a table, a longer one by comparing with the
 * greatest code of each length: such symbols are rare. Sources: RFC 1951, section 3.2.2; E. S. Schwartz and
 * B. Kallick, "Generating a canonical prefix encoding", CACM 7(3), 1964.
 */
#pragma once

#include <stdint.h>

#include "kernels/codec/bit_reader.cuh"
#include "kernels/level/warp.cuh"

#define HUFFMAN_NBITS_MAX 15

/* A table entry: the symbol x 16, and the length of its code; 0 if the code is longer, or the bits begin no code.
 * Shared memory, one for each warp. */
template <int FAST_NBITS, int NSYMBOLS> struct huffman {
	uint16_t fast[1 << FAST_NBITS]; /* by the next bits */
	uint16_t sorted[NSYMBOLS];      /* symbols by length, and by value */
	uint16_t end[HUFFMAN_NBITS_MAX + 1];  /* of each length: the first code beyond it ... */
	uint16_t place[HUFFMAN_NBITS_MAX + 1]; /* ... and what a code lacks to its symbol's place in sorted,
					       * modulo 2^16 */
};

/* What the lengths make: the codes of each length. */
struct huffman_counts {
	uint32_t of[HUFFMAN_NBITS_MAX + 1];
};

/* Counts the lengths. counts: shared memory. */
static __device__ inline void huffman_count(const uint8_t *length, uint32_t n, struct huffman_counts *counts)
{
	if (warp_lane() <= HUFFMAN_NBITS_MAX)
		counts->of[warp_lane()] = 0;
	__syncwarp();
	for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
		atomicAdd(&counts->of[length[i]], 1);
	__syncwarp();
}

/* Sets where the codes of each length begin and end. Returns false unless the code is complete, or has a
 * single code of one bit, or none, and may_lack. In all lanes. */
template <class H>
static __device__ inline bool huffman_place(const struct huffman_counts &counts, bool may_lack, H *h,
					    uint32_t first[HUFFMAN_NBITS_MAX + 1])
{
	uint32_t code = 0, nplaced = 0, left = 1;

	for (uint32_t l = 1; l <= HUFFMAN_NBITS_MAX; l++) {
		uint32_t n = counts.of[l];
		code <<= 1;
		left <<= 1;
		if (n > left)
			return false;
		left -= n;
		first[l] = nplaced;
		if (warp_lane() == 0) {
			h->end[l] = (uint16_t)(code + n);
			h->place[l] = (uint16_t)(nplaced - code);
		}
		code += n;
		nplaced += n;
	}
	return left == 0 || (may_lack && nplaced <= 1 && counts.of[1] == nplaced);
}

/* Gives a symbol its place among those of its length, and its entries. */
template <int FAST_NBITS, class H>
static __device__ inline void huffman_add(H *h, uint32_t symbol, uint32_t length, uint32_t at)
{
	uint32_t code = (at - h->place[length]) & 0xffff;
	uint32_t reversed = __brev(code) >> (32 - length);

	h->sorted[at] = (uint16_t)symbol;
	if (length > FAST_NBITS)
		return;
	for (uint32_t i = reversed; i < 1u << FAST_NBITS; i += 1u << length)
		h->fast[i] = (uint16_t)(symbol << 4 | length);
}

/* Gives all symbols their places. Lanes have neighbouring symbols; those of one length find theirs together. */
template <int FAST_NBITS, class H>
static __device__ inline void huffman_add_all(H *h, const uint8_t *length, uint32_t n,
					      const uint32_t first[HUFFMAN_NBITS_MAX + 1],
					      struct huffman_counts *nplaced)
{
	for (uint32_t base = 0; base < n; base += WARP_NLANES) {
		uint32_t symbol = base + warp_lane(), l = symbol < n ? length[symbol] : 0;
		uint32_t alike = __match_any_sync(WARP_ALL, l);
		uint32_t below = (uint32_t)__popc(alike & ((1u << warp_lane()) - 1));
		uint32_t nbefore = nplaced->of[l];
		__syncwarp();
		if (l > 0) {
			huffman_add<FAST_NBITS>(h, symbol, l, first[l] + nbefore + below);
			if (below == 0)
				nplaced->of[l] = nbefore + (uint32_t)__popc(alike);
		}
		__syncwarp();
	}
}

/* Makes the tables of the code with these lengths of n symbols. counts: shared memory, for the time of
 * the call. The warp calls it together. Returns false if there is no such code. */
template <int FAST_NBITS, int NSYMBOLS>
static __device__ inline bool huffman_make(const uint8_t *length, uint32_t n, bool may_lack,
					   struct huffman_counts *counts,
					   struct huffman<FAST_NBITS, NSYMBOLS> *h)
{
	uint32_t first[HUFFMAN_NBITS_MAX + 1];

	huffman_count(length, n, counts);
	if (!huffman_place(*counts, may_lack, h, first))
		return false;
	__syncwarp(); /* the counts have been read */
	for (uint32_t i = warp_lane(); i < 1u << FAST_NBITS; i += WARP_NLANES)
		h->fast[i] = 0;
	if (warp_lane() <= HUFFMAN_NBITS_MAX)
		counts->of[warp_lane()] = 0;
	__syncwarp();
	huffman_add_all<FAST_NBITS>(h, length, n, first, counts);
	return true;
}

/* The entry of the code that the next bits begin with, beyond the table; 0 if they begin no code. */
template <int FAST_NBITS, int NSYMBOLS>
static __device__ inline uint32_t huffman_find_long(const struct huffman<FAST_NBITS, NSYMBOLS> &h, uint32_t bits)
{
	uint32_t reversed = __brev(bits);

	for (uint32_t l = 1; l <= HUFFMAN_NBITS_MAX; l++) {
		uint32_t code = reversed >> (32 - l);
		if (code < h.end[l] && h.end[l] > 0) {
			uint32_t at = (code + h.place[l]) & 0xffff;
			return at < NSYMBOLS ? (uint32_t)h.sorted[at] << 4 | l : 0;
		}
	}
	return 0;
}

/* Takes the next symbol, of which all bits are there. UINT32_MAX: there is no such code. */
template <int FAST_NBITS, int NSYMBOLS>
static __device__ inline uint32_t huffman_take(const struct huffman<FAST_NBITS, NSYMBOLS> &h, struct bit_reader *b)
{
	uint32_t entry = h.fast[b->bits & ((1u << FAST_NBITS) - 1)];

	if (entry == 0)
		entry = huffman_find_long(h, (uint32_t)b->bits);
	bits_drop(b, entry & 15);
	return entry ? entry >> 4 : UINT32_MAX;
}
