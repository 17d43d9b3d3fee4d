/* SPDX-License-Identifier: MIT
 *
 * lane.cuh - level 1: one thread over its own 32 bytes of text.
 *
 * The bytes are held in registers: every loop over them is unrolled, so that no index
 * is known only at run time. 32 of them make one sector of device memory, and let a
 * lane name its record ends by the bits of one word.
 */
#ifndef GPUSTAT_LANE_CUH
#define GPUSTAT_LANE_CUH

#include <stddef.h>
#include <stdint.h>

#include "fold.cuh"

#define LANE_NBYTES 32
#define LANE_NWORDS (LANE_NBYTES / 4)
#define LANE_LOAD_NBYTES 16 /* one load; text buffers are padded to a multiple of it */

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

/* Byte i of the lane, i a constant once loops are unrolled. */
static __device__ inline unsigned char lane_byte(const struct lane_text &lane, unsigned i)
{
	return (unsigned char)(lane.word[i / 4] >> 8 * (i % 4));
}

/* The transition map of the lane's bytes; bytes past the end change nothing. */
static __device__ inline csv_map lane_map(const struct lane_text &lane, char delimiter)
{
	csv_map map = CSV_MAP_IDENTITY;

#pragma unroll
	for (unsigned i = 0; i < LANE_NBYTES; i++) {
		csv_map step = csv_map_of(
			csv_classify(lane_byte(lane, i), (unsigned char)delimiter));
		map = i < lane.nbytes ? csv_map_compose(map, step) : map;
	}
	return map;
}

/* The number of the lane's bytes that are LF, quoted or not. */
static __device__ inline uint32_t lane_count_lines(const struct lane_text &lane)
{
	uint32_t nlines = 0;

#pragma unroll
	for (unsigned i = 0; i < LANE_NBYTES; i++)
		nlines += i < lane.nbytes && lane_byte(lane, i) == '\n';
	return nlines;
}

/* Which of the lane's bytes end a record, entered in state: bit i speaks of byte i. */
static __device__ inline uint32_t lane_ends(const struct lane_text &lane, char delimiter,
					    enum csv_state state)
{
	uint32_t ends = 0;

#pragma unroll
	for (unsigned i = 0; i < LANE_NBYTES; i++) {
		enum csv_class c =
			csv_classify(lane_byte(lane, i), (unsigned char)delimiter);
		bool is_end = i < lane.nbytes && c == CSV_NEWLINE && csv_outside_quotes(state);
		ends |= (uint32_t)is_end << i;
		state = csv_step(state, c); /* past the end: no matter */
	}
	return ends;
}

#endif
