/* SPDX-License-Identifier: MIT
 *
 * simd_portable.c - plain C: eight bytes a step, in a plain register.
 *
 * A word XORed with eight copies of a byte has a zero where the byte was. Adding 0x7f to the low
 * seven bits of each byte leaves the top bit clear only for zero. Of eight words, the top
 * bits shifted in one after the other are an 8 x 8 matrix of bits, a byte of it for each place
 * in a word; transposed, it has a byte for each word, which is the order of the text.
 * (H. S. Warren, Hacker's Delight, 2nd ed., sections 6-1 and 7-3.)
 */
#include "simd.h"

#include "simd_convert.h"
#include "simd_fold.h"
#include "simd_positions.h"
#include "simd_quotes.h"

#define LOW_BITS (~SIMD_TOPS)

/* The top bit of each byte of word that is not the byte repeated in pattern. The seven bits
 * below it mean nothing. */
static inline uint64_t differ(uint64_t word, uint64_t pattern)
{
	uint64_t x = word ^ pattern;

	return ((x & LOW_BITS) + LOW_BITS) | x;
}

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

static struct simd_counts scan(const char *text, size_t nwords, char delimiter,
			       struct simd_bits bits)
{
	const uint64_t delimiter_8 = SIMD_EACH * (unsigned char)delimiter;
	struct simd_counts counts = {0, 0};

	for (size_t k = 0; k < nwords; k++, text += SIMD_WORD_NBYTES) {
		uint64_t not_separators = 0, not_newlines = 0, not_quotes = 0;
		for (unsigned i = 0; i < SIMD_WORD_NBYTES; i += 8) {
			uint64_t word = simd_load_word(text + i);
			uint64_t not_newline = differ(word, SIMD_EACH * '\n');
			uint64_t not_quote = differ(word, SIMD_EACH * '"');
			uint64_t not_separator = differ(word, delimiter_8) & not_newline;
			not_separators = not_separators >> 1 | (not_separator & SIMD_TOPS);
			not_newlines = not_newlines >> 1 | (not_newline & SIMD_TOPS);
			not_quotes = not_quotes >> 1 | (not_quote & SIMD_TOPS);
		}
		bits.separators[k] = transpose(~not_separators);
		bits.newlines[k] = transpose(~not_newlines);
		bits.quotes[k] = transpose(~not_quotes);
		counts.nlines += simd_count_ones(bits.newlines[k]);
		counts.nquotes |= bits.quotes[k];
	}
	return counts;
}

const struct simd_ops simd_portable = {
	.name = "portable",
	.scan = scan,
	.positions = simd_positions,
	.unquote = simd_unquote,
	.count = simd_count,
	.fold = simd_fold_rows,
	.convert = simd_convert_rows,
};
