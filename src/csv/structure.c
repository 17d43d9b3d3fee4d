/* SPDX-License-Identifier: MIT
 *
 * structure.c - see structure.h.
 */
#include "csv/structure.h"

#include <string.h>

#include "simd/simd.h"

struct structure structure_classify(const char *text, size_t nbytes, char delimiter)
{
	uint64_t separators, newlines, quotes, valid = ~UINT64_C(0);
	char padded[STRUCTURE_NBYTES];

	if (nbytes < STRUCTURE_NBYTES) {
		valid = (UINT64_C(1) << nbytes) - 1;
		memset(padded, 0, sizeof padded);
		text = memcpy(padded, text, nbytes);
	}
	simd()->classify(text, 1, delimiter,
		     (struct simd_bits){&separators, &newlines, &quotes});
	return (struct structure){separators & ~newlines & valid, newlines & valid, quotes & valid};
}

uint64_t structure_count_lines(const char *text, size_t nbytes)
{
	uint64_t nlines = 0;

	for (size_t left = nbytes; left > 0;) {
		size_t n = left < STRUCTURE_NBYTES ? left : STRUCTURE_NBYTES;
		struct structure s = structure_classify(text + nbytes - left, n, ',');
		nlines += (uint64_t)__builtin_popcountll(s.newline);
		left -= n;
	}
	return nlines;
}
