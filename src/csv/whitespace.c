/* SPDX-License-Identifier: MIT
 *
 * whitespace.c - see whitespace.h.
 */
#include "csv/whitespace.h"

#define LAST (SIMD_WORD_NBYTES - 1)

/* Gathers spaces, tabs, and CRs before LFs in blanks, which has the tabs. */
static void find_blanks(struct simd_bits bits, const char *text, size_t nwords)
{
	uint64_t *blanks = bits.quotes;

	for (size_t k = 0; k < nwords; k++) {
		blanks[k] |= bits.separators[k] & ~bits.newlines[k];
		for (uint64_t left = bits.newlines[k]; left; left &= left - 1) {
			size_t at = k * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(left);
			if (at > 0 && text[at - 1] == '\r')
				blanks[(at - 1) / SIMD_WORD_NBYTES] |= UINT64_C(1)
								       << (at - 1) % SIMD_WORD_NBYTES;
		}
	}
}

/* Leaves each run of blanks its last one; none before a line's first field and behind its last. */
static void join_runs(struct simd_bits bits, size_t nwords)
{
	const uint64_t *blanks = bits.quotes;
	uint64_t starts_line = 1; /* the word's first byte does, but for blanks */

	for (size_t k = 0; k < nwords; k++) {
		uint64_t newlines = bits.newlines[k], run = blanks[k];
		uint64_t ends = newlines | run, next = k + 1 < nwords ? bits.newlines[k + 1] | blanks[k + 1] : 0;
		/* A sum carries through the runs that begin a line. */
		uint64_t leading = run & ~(run + (run & (newlines << 1 | starts_line)));
		uint64_t last = run & ~(ends >> 1 | next << LAST);
		bits.separators[k] = newlines | (last & ~leading);
		starts_line = (newlines | leading) >> LAST;
	}
}

void whitespace_separate(struct simd_bits bits, const char *text, size_t nbytes)
{
	size_t nwords = (nbytes + LAST) / SIMD_WORD_NBYTES;

	find_blanks(bits, text, nwords);
	join_runs(bits, nwords);
}

/* The separators that a row may have before its LF, from its first byte. */
static size_t nallowed(const struct csv_dialect *d, char first)
{
	if (d->comment && first == d->comment)
		return 0;
	return d->nfields ? d->nfields - 1 : SIZE_MAX;
}

size_t whitespace_join(const struct csv_dialect *dialect, const char *text, uint32_t *ends,
		       size_t nends)
{
	size_t left = nallowed(dialect, text[(uint32_t)(ends[-1] + 1)]), n = 0;

	for (size_t i = 0; i < nends; i++) {
		uint32_t at = ends[i];
		if (text[at] != '\n' && left == 0)
			continue;
		ends[n++] = at;
		left = text[at] == '\n' ? nallowed(dialect, text[at + 1]) : left - 1;
	}
	return n;
}
