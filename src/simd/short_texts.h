/* SPDX-License-Identifier: MIT
 *
 * simd/short_texts.h - the body of simd_ops.short_texts for sets without masks: a row after the other, without
 * a branch that depends on a field, since how long fields are can seldom be predicted.
 */
#ifndef GPUSTAT_SIMD_SHORT_TEXTS_H
#define GPUSTAT_SIMD_SHORT_TEXTS_H

#include "simd/simd.h"
#include "simd/words.h"

/* simd_ops.short_texts */
static uint64_t simd_short_texts(const char *text, const uint32_t *ends, size_t stride, size_t nrows, bool drops_cr,
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

#endif
