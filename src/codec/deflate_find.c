/* SPDX-License-Identifier: MIT
 *
 * deflate_find.c - a search for the header of a dynamic block (RFC 1951, section 3.2.7).
 *
 *     bits 0, 1-2      0: not the last; 2: dynamic
 *     bits 3-7, 8-12   the number of lengths in the literals' code less 257, of distances less 1:
 *                      both below 30
 *     bits 13-16       the number of code lengths less 4: 8 or more, if 12 are asked for
 *     bits 17-...      the code lengths, 3 bits each, 0 for a code that is not used
 *
 * Three filters, each for what the one before has left:
 *   1. bits 0 to 16 in all places of 56 bits at once, by shifted copies of the input: one random
 *      bit in 18 is left;
 *   2. Kraft's sum. A code is complete if its 2^-length sum up to 1. For lengths of up to 7 bits
 *      that is 128 in units of 2^-7; five lookups of four lengths each give it: one bit in 10^4 is left;
 *   3. the header is read to its end, and both codes are summed up.
 *
 * The first filter writes down its places for 392 bits at once, without a branch on how many there
 * are, and the second runs through that list: it is the branches guessed wrong that would cost.
 *
 * 0.42 ns a bit, of noise and of gzipped logs, on one core of an AMD EPYC, its other thread busy;
 * 0.40 if compiled for BMI2, so there is no such variant (2026-11-22).
 */
#include "codec/deflate_find.h"

#include <stdbool.h>

#include "codec/deflate_header.h"

#define WHOLE 32768u /* Kraft's sum of a complete code with lengths of up to 15 bits */

/* Places in a header. */
#define AT_COUNT 13
#define AT_LENGTHS 17

/* At least the next 57 bits. Reads 8 bytes. */
static uint64_t bits_at(const unsigned char *in, uint64_t bit)
{
	return deflate_load64(in + (bit >> 3)) >> (bit & 7);
}

/* ---- the third filter: the whole header ---- */

static unsigned kraft_sum(const uint8_t *length, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += length[i] ? WHOLE >> length[i] : 0;
	return sum;
}

/* Whether what follows is a header with complete codes; of distances there may be one or none. */
static bool header_is_valid(const unsigned char *in, size_t nbytes, uint64_t bit)
{
	struct deflate_bits b = deflate_bits_at(in, nbytes, bit + 3);
	struct deflate_lengths lengths;
	const uint8_t *distances;
	unsigned sum, nused = 0;
	const char *words;

	if (!deflate_read_lengths(&b, &lengths, &words) ||
	    kraft_sum(lengths.length, lengths.nliterals) != WHOLE)
		return false;
	distances = lengths.length + lengths.nliterals;
	sum = kraft_sum(distances, lengths.ndistances);
	for (unsigned i = 0; i < lengths.ndistances; i++)
		nused += distances[i] != 0;
	return sum == WHOLE || nused == 0 || (nused == 1 && sum == WHOLE / 2);
}

/* ---- the first filter: bits 0 to 16, in many places at once ---- */

#define STRIDE_NBYTES 7
#define STRIDE_NBITS (8 * STRIDE_NBYTES)
/* How many strides' places are written down at once. From the input's last byte on, what is read of
 * them and behind a place in them ends within the 64 bytes that are readable. */
#define NSTRIDES 7
#define NPLACES_AT_ONCE 4

/* In bit i < 56 whether a header may begin at bit i of *in. Reads 10 bytes. */
static uint64_t places(const unsigned char *in)
{
	uint64_t type = deflate_load64(in), distances = deflate_load64(in + 1), count = deflate_load64(in + 2);
	uint64_t begins = ~type & ~(type >> 1) & (type >> 2) & count;
	uint64_t literals_30 = type >> 4 & type >> 5 & type >> 6 & type >> 7;
	uint64_t distances_30 = distances >> 1 & distances >> 2 & distances >> 3 & distances >> 4;

	return begins & ~literals_30 & ~distances_30 & ((UINT64_C(1) << STRIDE_NBITS) - 1);
}

/* Places, as bits from the first stride's beginning. No two are neighbours: bit 1 is 0, bit 2
 * is 1. */
struct list {
	unsigned n;
	uint16_t at[NSTRIDES * STRIDE_NBITS / 2 + NPLACES_AT_ONCE];
};

static void list_add(struct list *list, uint64_t found, unsigned first)
{
	const uint64_t top = UINT64_C(1) << 63; /* for a count of zeros that is defined */
	uint16_t *at = list->at + list->n;
	unsigned n = 0;

	do {
		for (unsigned k = 0; k < NPLACES_AT_ONCE; k++) {
			at[n] = (uint16_t)(first + (unsigned)__builtin_ctzll(found | top));
			n += found != 0;
			found &= found - 1;
		}
	} while (__builtin_expect(found != 0, 0));
	list->n += n;
}

/* skip: how many bits of the first stride are not asked for. */
static void list_fill(struct list *list, const unsigned char *in, unsigned skip)
{
	uint64_t asked = ~UINT64_C(0) << skip;

	list->n = 0;
	for (unsigned k = 0; k < NSTRIDES; k++, asked = ~UINT64_C(0))
		list_add(list, places(in + (size_t)k * STRIDE_NBYTES) & asked, k * STRIDE_NBITS);
}

/* ---- the second filter: Kraft's sum of the code lengths ---- */

/* kraft[i]: the sum of the four lengths that are the digits of i in base 8; 255 stands for 256. */
#define AT_MOST(sum) ((sum) - (sum) / 256)
#define ROW(x) AT_MOST(x), AT_MOST(x + 64), AT_MOST(x + 32), AT_MOST(x + 16), AT_MOST(x + 8), \
		AT_MOST(x + 4), AT_MOST(x + 2), AT_MOST(x + 1)
#define ROWS(x) ROW(x), ROW(x + 64), ROW(x + 32), ROW(x + 16), ROW(x + 8), ROW(x + 4), ROW(x + 2), \
		ROW(x + 1)
#define SQUARE(x) ROWS(x), ROWS(x + 64), ROWS(x + 32), ROWS(x + 16), ROWS(x + 8), ROWS(x + 4), \
		ROWS(x + 2), ROWS(x + 1)
static const uint8_t kraft[4096] = {SQUARE(0), SQUARE(64), SQUARE(32), SQUARE(16), SQUARE(8),
				    SQUARE(4), SQUARE(2), SQUARE(1)};

/* Whether the code of code lengths is complete. Reads up to 11 bytes at the header. */
static bool code_is_complete(const unsigned char *in, uint64_t bit)
{
	unsigned n = ((unsigned)bits_at(in, bit + AT_COUNT) & 15) + 4;
	uint64_t x = bits_at(in, bit + AT_LENGTHS) & ((UINT64_C(1) << 3 * n) - 1);

	return kraft[x & 4095] + kraft[x >> 12 & 4095] + kraft[x >> 24 & 4095] +
		       kraft[x >> 36 & 4095] + kraft[x >> 48] == 128;
}

/* ---- the search ---- */

uint64_t deflate_find(const unsigned char *in, size_t nbytes, uint64_t from, uint64_t to)
{
	struct list list;
	unsigned skip = from & 7;

	if (to > (uint64_t)nbytes * 8)
		to = (uint64_t)nbytes * 8;
	for (size_t byte = (size_t)(from >> 3); (uint64_t)byte * 8 < to;
	     byte += NSTRIDES * STRIDE_NBYTES, skip = 0) {
		list_fill(&list, in + byte, skip);
		for (unsigned i = 0; i < list.n; i++) {
			uint64_t bit = (uint64_t)byte * 8 + list.at[i];
			if (bit < to && code_is_complete(in, bit) && header_is_valid(in, nbytes, bit))
				return bit;
		}
	}
	return UINT64_MAX;
}
