/* SPDX-License-Identifier: MIT
 *
 * simd_convert.h - the body of simd_ops.convert, compiled once by each simd_*.c for its own
 * instruction set, as simd_fold.h is, whose conversion it uses.
 */
#ifndef GPUSTAT_SIMD_CONVERT_H
#define GPUSTAT_SIMD_CONVERT_H

#include "simd_fold.h"

SIMD_INLINE void simd_convert_some(const char *text, const uint32_t *ends, size_t stride,
				   size_t nrows, bool drops_cr, struct simd_numbers *out)
{
	const struct simd_constants k = simd_constants();
	uint64_t numbers = 0, empty = 0;

	for (size_t r = 0; r < nrows; r++, ends += stride) {
		uint32_t begin = ends[-1] + 1, end = ends[0];
		struct decimal x = {0, SIMD_NO_NUMBER};

		if (drops_cr)
			end -= end != begin && text[end - 1] == '\r';
		if (end != begin)
			x = simd_convert(&k, text, begin, end);
		empty |= (uint64_t)(end == begin) << r;
		numbers |= (uint64_t)(x.scale != SIMD_NO_NUMBER) << r;
		out->significand[r] = x.significand;
		out->scale[r] = (uint8_t)(x.scale & (DECIMAL_NSCALES - 1));
	}
	out->numbers = numbers;
	out->empty = empty;
}

/* simd_ops.convert: two loops, so that only the last field's looks for a CR. */
static void simd_convert_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			      bool drops_cr, struct simd_numbers *out)
{
	if (drops_cr)
		simd_convert_some(text, ends, stride, nrows, true, out);
	else
		simd_convert_some(text, ends, stride, nrows, false, out);
}

#endif
