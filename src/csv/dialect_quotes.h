/* SPDX-License-Identifier: MIT
 *
 * dialect_quotes.h - like quotes.h, for dialects with an escape byte, comments or blanks that are
 * trimmed.
 *
 * The escaped bytes of a word follow from its escape bytes with a few operations. Without them, what
 * is left is a text for quotes.h. Blanks that begin a field are separators to quotes.h: then a quote
 * after them opens the field. A comment begins where a record does, with a sign that comes right
 * behind an LF: a word that has such a sign, or begins inside a comment, goes through the automaton
 * of dfa.h from one byte of interest to the next.
 */
#ifndef GPUSTAT_DIALECT_QUOTES_H
#define GPUSTAT_DIALECT_QUOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/dfa.h"
#include "csv/dialect.h"
#include "simd/simd.h"

/* A text's bitmaps, a word for each 64 bytes. */
struct dialect_bits {
	struct simd_bits simd;
	uint64_t *escapes;  /* escape bytes */
	uint64_t *comments; /* comment signs behind an LF, and as the text's first byte */
	uint64_t *blanks;   /* blanks, where the dialect trims them; resolved: those that begin a field */
};

/* Completes bits of nwords words: simd is classified by the dialect's delimiter and quote. On entry
 * escapes has the escape bytes and all LFs, comments has all comment signs, blanks all blanks that the
 * dialect trims. */
void dialect_prepare(const struct csv_dialect *dialect, const struct dialect_bits *bits,
		     size_t nwords);

/* Clears the separators and newlines that are data in words [0, nwords), those of a text that is
 * entered in `state`; a comment keeps only the LF that ends it. Replaces the quotes as
 * quotes_resolve does. Returns whether a byte may be stray. */
bool dialect_resolve(const struct dialect_bits *bits, size_t nwords, enum csv_state state);

/* Returns the transition map of a text of nbytes, for the entry states that the dialect has. From
 * word *resolved on, the entry state does not matter; those words are resolved here. If has_quotes
 * is false, the text has no quote byte, and that holds for entries outside quotes only. None such:
 * the number of words. *strays: as dialect_resolve's result, of those words. */
csv_full_map dialect_map(const struct csv_dialect *dialect, const struct dialect_bits *bits,
			 size_t nbytes, bool has_quotes, size_t *resolved, bool *strays);

#endif
