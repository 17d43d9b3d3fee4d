/* SPDX-License-Identifier: MIT
 *
 * quotes.h - which separators of a text lie in quotes, from bitmaps, 64 bytes at a time.
 *
 * The parity of the quotes so far tells whether a byte lies in quotes, doubled quotes included, if
 * every quote that opens a field comes right after a separator, or after a quote (then it is the
 * second of a pair). Each word is checked for that. In a word where it does not hold (12" disk),
 * the automaton of dfa.h steps from quote to quote; parity goes on with the next word.
 *
 * Stray text: after a closing quote only a separator may come, or CR and LF. Resolved words have in
 * bits.quotes the bytes that come after a closing quote and are no separators, CRs included, and the
 * quotes outside quotes that open nothing: the text tells a CR of a line end from a stray one, and
 * `12" disk` from a field that has blanks before its quote (quotes_find_stray). A bit beyond the text's
 * end means nothing.
 */
#ifndef GPUSTAT_QUOTES_H
#define GPUSTAT_QUOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "csv/dfa.h"
#include "csv/field.h"
#include "simd/simd.h"

/* A text's bitmaps, a word for each 64 bytes. */
struct dialect_bits {
	struct simd_bits simd;
	/* NULL in an ordinary dialect: */
	uint64_t *escapes;  /* escape bytes */
	uint64_t *comments; /* comment signs behind an LF, and as the text's first byte */
	uint64_t *blanks;   /* blanks, where the dialect trims them; resolved: those that begin a field */
};

/* Completes bits of nwords words, of a dialect that is not ordinary: simd is classified by the dialect's delimiter and quote. On entry
 * escapes has the escape bytes and all LFs, comments has all comment signs, blanks all blanks that the
 * dialect trims. */
void quotes_prepare(const struct csv_dialect *dialect, const struct dialect_bits *bits, size_t nwords);

/* Clears the separators and newlines that are data in words [0, nwords), those of a text that is
 * entered in `state`; a comment keeps only the LF that ends it. Replaces the quotes by the bytes that may be stray. Returns
 * whether there is such a byte. */
bool quotes_resolve(const struct dialect_bits *bits, size_t nwords, enum csv_state state);

/* Returns the transition map of a text of nbytes, for the entry states that the dialect has. From
 * word *resolved on, the entry state does not matter; those words are resolved here. If has_quotes
 * is false, the text has no quote byte, and that holds for entries outside quotes only. None such:
 * the number of words. *strays: as quotes_resolve's result, of those words. */
csv_full_map quotes_map(const struct csv_dialect *dialect, const struct dialect_bits *bits,
			size_t nbytes, bool has_quotes, size_t *resolved, bool *strays);

/* Returns where the first record with stray text begins, of the complete records text[begin .. end),
 * whose words are resolved; SIZE_MAX: no record has any. */
size_t quotes_find_stray(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			 size_t begin, size_t end);

/* Whether a byte in this state lies in quotes. */
static inline bool csv_in_quotes(enum csv_state state)
{
	return state == CSV_QUOTED || state == CSV_ESCAPED_QUOTED;
}

#endif
