/* SPDX-License-Identifier: MIT
 *
 * lane.cuh - a thread classifies 32 bytes of text, and steps the automaton over them at once.
 *
 * The bytes are in registers: every loop over them is unrolled, so that the compiler knows each
 * index. 32 bytes are one sector of device memory, and one word has a bit for each of them: quotes
 * and separators become bitmaps, on which the automaton handles all 32 bytes at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/csv/map_fold.cuh"

#define LANE_NBYTES 32
#define LANE_NWORDS (LANE_NBYTES / 4)

struct lane_text {
	uint32_t word[LANE_NWORDS]; /* little-endian: byte i is in word[i / 4] */
	uint32_t nbytes;            /* bytes [nbytes, 32) lie past the text's end */
};

/* Loads text[offset .. offset + 32), as far as it lies before text[nbytes).
 * text: 16-byte aligned, readable up to nbytes rounded up to 16. offset: a multiple of
 * 32, and may be past the end. */
static __device__ inline struct lane_text lane_load(const char *text, size_t nbytes,
						    size_t offset)
{
	struct lane_text lane;
	size_t left = offset < nbytes ? nbytes - offset : 0;

	lane.nbytes = (uint32_t)(left < LANE_NBYTES ? left : LANE_NBYTES);
#pragma unroll
	for (unsigned i = 0; i < LANE_NWORDS; i += 4) {
		uint4 four = make_uint4(0, 0, 0, 0);
		if (4 * i < lane.nbytes)
			four = *(const uint4 *)(text + offset + 4 * i);
		lane.word[i] = four.x;
		lane.word[i + 1] = four.y;
		lane.word[i + 2] = four.z;
		lane.word[i + 3] = four.w;
	}
	return lane;
}

/* Bitmaps of a lane: bit i describes byte i. Bits past the end are 0. */
struct lane_bits {
	uint32_t quotes, newlines;
	uint32_t separators; /* delimiters and newlines */
	uint32_t nbytes;
};

#define LANE_EVERY(byte) ((uint32_t)(byte) * 0x01010101u)

/* Bit 7 of each byte of word that is equal to pattern's, and no other bit. */
static __device__ inline uint32_t lane_equal_word(uint32_t word, uint32_t pattern)
{
	uint32_t difference = word ^ pattern;
	/* No carry leaves a byte: bit 7 is set unless the lower seven are 0. */
	uint32_t low = (difference & LANE_EVERY(0x7f)) + LANE_EVERY(0x7f);

	return ~(low | difference) & LANE_EVERY(0x80);
}

/* Bit i: byte i of the lane is equal to byte, past the end or not. A dot product with powers of 2
 * gathers the bits of four bytes: each sum is 128 times eight bits. */
static __device__ inline uint32_t lane_equal(const struct lane_text &lane, char byte)
{
	uint32_t pattern = LANE_EVERY((unsigned char)byte), sum[LANE_NWORDS / 2];

#pragma unroll
	for (unsigned i = 0; i < LANE_NWORDS; i += 2) {
		sum[i / 2] = __dp4a(lane_equal_word(lane.word[i], pattern), 0x08040201u, 0u);
		sum[i / 2] = __dp4a(lane_equal_word(lane.word[i + 1], pattern), 0x80402010u,
				    sum[i / 2]);
	}
	return sum[0] >> 7 | sum[1] << 1 | sum[2] << 9 | sum[3] << 17;
}

/* The bits of a lane's first nbytes bytes. */
static __device__ inline uint32_t lane_valid(uint32_t nbytes)
{
	return nbytes < LANE_NBYTES ? (1u << nbytes) - 1 : ~0u;
}

/* quote: the delimiter if no byte quotes. */
static __device__ inline struct lane_bits lane_classify(const struct lane_text &lane,
							char delimiter, char quote)
{
	uint32_t valid = lane_valid(lane.nbytes);
	struct lane_bits bits;

	bits.newlines = lane_equal(lane, '\n') & valid;
	bits.separators = (lane_equal(lane, delimiter) & valid) | bits.newlines;
	bits.quotes = lane_equal(lane, quote) & valid & ~bits.separators;
	bits.nbytes = lane.nbytes;
	return bits;
}

/* Whether a byte of the lane is 0. */
static __device__ inline bool lane_has_nul(const struct lane_text &lane)
{
	uint32_t zeros = 0;

	if (lane.nbytes < LANE_NBYTES)
		return (lane_equal(lane, 0) & lane_valid(lane.nbytes)) != 0;
	/* Bit 7 of the lowest zero byte is set, and above it perhaps that of a byte 1. */
#pragma unroll
	for (unsigned i = 0; i < LANE_NWORDS; i++)
		zeros |= (lane.word[i] - LANE_EVERY(1)) & ~lane.word[i];
	return (zeros & LANE_EVERY(0x80)) != 0;
}

/* Bit i: the parity of bits 0 .. i. */
static __device__ inline uint32_t lane_parity(uint32_t bits)
{
#pragma unroll
	for (unsigned i = 1; i < LANE_NBYTES; i *= 2)
		bits ^= bits << i;
	return bits;
}

/* The bytes of a lane before which the automaton is in CSV_QUOTED, if it enters the lane in state.
 * *left: the state in which it leaves the lane.
 * Parity gives the answer if every opening quote follows a separator, or a quote that closed (which
 * then continues the field). The first quote that violates this is an ordinary byte: the loop drops
 * it and computes the parity again. */
static __device__ inline uint32_t lane_quoted(const struct lane_bits &bits, enum csv_state state,
					      enum csv_state *left)
{
	uint32_t entered = state == CSV_QUOTED, may_open = state != CSV_UNQUOTED;
	uint32_t quotes = bits.quotes, through, before, ordinary, last;

	for (;; quotes ^= ordinary & (0 - ordinary)) {
		through = lane_parity(quotes) ^ (0 - entered);
		before = through << 1 | entered;
		ordinary = quotes & ~before & ~((quotes | bits.separators) << 1 | may_open);
		if (ordinary == 0)
			break;
	}
	if (bits.nbytes == 0) {
		*left = state;
		return before;
	}
	last = bits.nbytes - 1;
	*left = through >> last & 1	     ? CSV_QUOTED
		: quotes >> last & 1	     ? CSV_QUOTE_SEEN
		: bits.separators >> last & 1 ? CSV_FIELD_START
					     : CSV_UNQUOTED;
	return before;
}

/* The bytes of a lane after a closing quote that neither end the field nor continue it, CRs before an
 * LF included, and the quotes that are data: those that come first in a field but for blanks are
 * stray. state: before the lane; quoted: from lane_quoted. */
static __device__ inline uint32_t lane_stray(const struct lane_bits &bits, enum csv_state state,
					     uint32_t quoted)
{
	uint32_t behind = (bits.quotes & quoted) << 1 | (state == CSV_QUOTE_SEEN);

	uint32_t may_open = (bits.quotes | bits.separators) << 1 | (state != CSV_UNQUOTED);

	return (behind & ~(bits.quotes | bits.separators) & lane_valid(bits.nbytes)) |
	       (bits.quotes & ~quoted & ~may_open);
}

/* The transition map of the lane's bytes, in fold_csv_states's form. */
static __device__ inline uint32_t lane_states(const struct lane_bits &bits)
{
	enum csv_state from_start, from_unquoted, from_quoted;

	if (bits.nbytes == 0)
		return fold_csv_states::identity();
	if (bits.quotes == 0) {
		from_start = bits.separators >> (bits.nbytes - 1) & 1 ? CSV_FIELD_START
								      : CSV_UNQUOTED;
		return csv_states_of(from_start, from_start, CSV_QUOTED, from_start);
	}
	lane_quoted(bits, CSV_FIELD_START, &from_start);
	lane_quoted(bits, CSV_QUOTED, &from_quoted);
	/* Whether a quote may open depends on the entry state for the first byte only; after a
	 * quote that closed it may, as at a field's start. */
	from_unquoted = from_start;
	if (bits.quotes & 1)
		lane_quoted(bits, CSV_UNQUOTED, &from_unquoted);
	return csv_states_of(from_start, from_unquoted, from_quoted, from_start);
}
