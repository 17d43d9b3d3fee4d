/* SPDX-License-Identifier: MIT
 *
 * simd_parity.h - the body of simd_ops.parity, compiled once by each simd_*.c: eight words at
 * once in the compiler's own vectors, which it makes of what registers there are.
 *
 * A word XORed with itself moved up by 1, then 2, 4 ... 32 has in each bit the parity of all
 * bits up to it: the prefix sum of Hillis and Steele, without carry.
 */
#ifndef GPUSTAT_SIMD_PARITY_H
#define GPUSTAT_SIMD_PARITY_H

#include <string.h>

#include "simd.h"

typedef uint64_t simd_words __attribute__((vector_size(SIMD_PARITY_NWORDS * sizeof(uint64_t))));

static void simd_parity(const uint64_t *bits, size_t nwords, uint64_t *out)
{
	for (size_t i = 0; i < nwords; i += SIMD_PARITY_NWORDS) {
		simd_words x;

		memcpy(&x, bits + i, sizeof x);
		x ^= x << 1;
		x ^= x << 2;
		x ^= x << 4;
		x ^= x << 8;
		x ^= x << 16;
		x ^= x << 32;
		memcpy(out + i, &x, sizeof x);
	}
}

#endif
