/* SPDX-License-Identifier: MIT
 *
 * simd/positions.h - bits to positions in plain C, for sets without an instruction for many.
 *
 * Removing the lowest bit until none is left takes a different number of steps for each word, and
 * a mispredicted branch for each word costs more than the bits. So eight positions are written for
 * every word; the next word overwrites those that were none. The branch is on whether there are
 * more than eight, which predicts well.
 *
 * The including file chooses its instruction set before, and defines SIMD_LOWEST_ONE and
 * SIMD_COUNT_ONES if the set has instructions for them.
 */
#ifndef GPUSTAT_SIMD_POSITIONS_H
#define GPUSTAT_SIMD_POSITIONS_H

#include <stddef.h>
#include <stdint.h>

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

#endif
