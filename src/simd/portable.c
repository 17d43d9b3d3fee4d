/* SPDX-License-Identifier: MIT
 *
 * simd/portable.c - plain C: 64 bytes a step, in plain registers.
 *
 * Eight words of eight bytes are transposed (bit-sliced) into eight words, one for each bit of a
 * byte, each with that bit of all 64 bytes. One operation for each bit then compares 64 bytes. The
 * result is an 8 x 8 bit matrix, a byte for each place in a word; transposed, it has a byte for
 * each word, which is the order of the text.
 * (H. S. Warren, Hacker's Delight, 2nd ed., section 7-3.)
 */
#include "simd/simd.h"

#define SIMD_OWN_CLASSIFY
#include "simd/convert.h"

/* Swaps the bits of pairs with those that lie distance above them. */
static inline uint64_t swap(uint64_t x, uint64_t pairs, unsigned distance)
{
	uint64_t differing = (x ^ x >> distance) & pairs;

	return x ^ differing ^ differing << distance;
}

/* Bit 8 i + j becomes bit 8 j + i: swaps within squares of 2 x 2, then 4 x 4, then 8 x 8. */
static inline uint64_t transpose(uint64_t x)
{
	x = swap(x, UINT64_C(0x00aa00aa00aa00aa), 7);
	x = swap(x, UINT64_C(0x0000cccc0000cccc), 14);
	return swap(x, UINT64_C(0x00000000f0f0f0f0), 28);
}

/* Swaps the bits `low` of b with those that lie distance above them in a. */
static inline void exchange(uint64_t *a, uint64_t *b, uint64_t low, unsigned distance)
{
	uint64_t differing = (*a >> distance ^ *b) & low;

	*a ^= differing << distance;
	*b ^= differing;
}

/* Bit p of each of 64 bytes becomes b[p]; that of text[8 i + j] is bit 8 j + i. The index of
 * the bit and that of the word are exchanged in halves, then in quarters, then one by one.
 * Unrolled: compilers make loops a third slower. */
static inline void slice(const char *text, uint64_t b[8])
{
	const uint64_t halves = SIMD_EACH * 0x0f, quarters = SIMD_EACH * 0x33;
	const uint64_t singles = SIMD_EACH * 0x55;

	b[0] = simd_load_word(text);
	b[1] = simd_load_word(text + 8);
	b[2] = simd_load_word(text + 16);
	b[3] = simd_load_word(text + 24);
	b[4] = simd_load_word(text + 32);
	b[5] = simd_load_word(text + 40);
	b[6] = simd_load_word(text + 48);
	b[7] = simd_load_word(text + 56);
	exchange(&b[0], &b[4], halves, 4);
	exchange(&b[1], &b[5], halves, 4);
	exchange(&b[2], &b[6], halves, 4);
	exchange(&b[3], &b[7], halves, 4);
	exchange(&b[0], &b[2], quarters, 2);
	exchange(&b[1], &b[3], quarters, 2);
	exchange(&b[4], &b[6], quarters, 2);
	exchange(&b[5], &b[7], quarters, 2);
	exchange(&b[0], &b[1], singles, 1);
	exchange(&b[2], &b[3], singles, 1);
	exchange(&b[4], &b[5], singles, 1);
	exchange(&b[6], &b[7], singles, 1);
}

/* Of 64 bytes as slice leaves them: those that differ from the byte whose bits are `wanted`. */
static inline uint64_t differ(const uint64_t b[8], const uint64_t wanted[8])
{
	return (b[0] ^ wanted[0]) | (b[1] ^ wanted[1]) | (b[2] ^ wanted[2]) | (b[3] ^ wanted[3]) |
	       (b[4] ^ wanted[4]) | (b[5] ^ wanted[5]) | (b[6] ^ wanted[6]) | (b[7] ^ wanted[7]);
}

/* Bit p of byte, in all bits of word p. */
static inline void spread(char byte, uint64_t words[8])
{
	for (unsigned i = 0; i < 8; i++)
		words[i] = -(uint64_t)((unsigned char)byte >> i & 1);
}

static struct simd_counts classify(const char *text, size_t nwords, char delimiter, char quote,
				   struct simd_bits bits)
{
	struct simd_counts counts = {0, 0};
	uint64_t delimiters[8], quotes[8];

	spread(delimiter, delimiters);
	spread(quote, quotes);
	for (size_t k = 0; k < nwords; k++, text += SIMD_WORD_NBYTES) {
		uint64_t b[8], newlines;
		slice(text, b);
		/* LF is 00001010. */
		newlines = b[3] & b[1] & ~(b[7] | b[6] | b[5] | b[4] | b[2] | b[0]);
		bits.separators[k] = transpose(~differ(b, delimiters) | newlines);
		bits.newlines[k] = transpose(newlines);
		bits.quotes[k] = transpose(~differ(b, quotes));
		counts.nlines += simd_count_ones(newlines);
		counts.nquotes |= bits.quotes[k];
	}
	return counts;
}

const struct simd_ops simd_portable = {
	.name = "portable",
	.classify = classify,
	.pack = simd_pack,
	.positions = simd_positions,
	.clear_quoted = simd_clear_quoted,
	.count = simd_count,
	.fold = simd_fold_rows,
	.convert = simd_convert_rows,
	.short_texts = simd_short_texts,
	.fold_numbers = simd_fold_singles,
	.sum_products = simd_sum_products,
	.crc = simd_crc,
	.resolve = simd_resolve,
	.sum_squares = simd_sum_squares,
};
