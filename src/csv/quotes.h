/* SPDX-License-Identifier: MIT
 *
 * quotes.h - what quotes do to a text, worked out on bitmaps, 64 bytes at a time.
 *
 * In a well-kept CSV the parity of the quotes so far tells whether a byte lies in quotes,
 * doubled quotes and all. It does so if every quote that opens a field comes right after a
 * separator, or after a quote (then it is the second of a pair). That is checked in every
 * word; where it does not hold, the automaton of dfa.h goes from quote to quote.
 */
#ifndef GPUSTAT_QUOTES_H
#define GPUSTAT_QUOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/dfa.h"
#include "simd/simd.h"

/* Where a walk from word to word is: before the first byte of one. */
struct quotes_at {
	bool inside;    /* in quotes */
	bool seen;      /* the byte before was a quote that closed */
	bool separated; /* the byte before was a separator, or the field starts here */
};

/* How a text is entered in a state. */
struct quotes_at quotes_enter(enum csv_state state);

/* Clears in words [begin, end) the separators and newlines that lie in quotes, and moves *at
 * on; or in those up to the first for which parity does not tell. Returns where it stopped. */
size_t quotes_resolve(struct simd_bits bits, size_t begin, size_t end, struct quotes_at *at);

/* The words of a text whose quotes are seen to, however the text is entered. */
struct quotes_resolved {
	size_t begin, end;
	struct quotes_at at; /* before word begin, if there is one */
};

/* The transition map of a text of nbytes, of which bits speak. Where it does not matter any more
 * how the text is entered, it does quotes_resolve's work by the way, up to the last word or the
 * first for which parity does not tell: *resolved. None: begin is the number of words. */
csv_map quotes_map(struct simd_bits bits, size_t nbytes, struct quotes_resolved *resolved);

#endif
