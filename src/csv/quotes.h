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
#include "csv/dialect.h"
#include "simd/simd.h"

/* Clears the separators and newlines that lie in quotes in words [0, nwords) of a text that is
 * entered in `state`, and replaces the quotes by the bytes that may be stray. Returns whether
 * there is such a byte. */
bool quotes_resolve(struct simd_bits bits, size_t nwords, enum csv_state state);

/* Returns the transition map of a text of nbytes, which bits describe. From word *resolved on, the
 * entry state does not matter; those words are resolved here. None such: the number of words.
 * *strays: as quotes_resolve's result, of those words. */
csv_map quotes_map(struct simd_bits bits, size_t nbytes, size_t *resolved, bool *strays);

/* Returns where the first record with stray text begins, of the complete records text[begin .. end),
 * whose words are resolved; SIZE_MAX: no record has any. */
size_t quotes_find_stray(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			 size_t begin, size_t end);

/* ---- the parts, for other dialects ---- */

/* Whether a byte in this state lies in quotes. */
static inline bool csv_in_quotes(enum csv_state state)
{
	return state == CSV_QUOTED || state == CSV_ESCAPED_QUOTED;
}

/* The bitmap form of a state, and back. There, FIELD_START and RECORD_START are the same, and an
 * escape is not seen. */
struct simd_quotes quotes_enter(enum csv_state state);
enum csv_state quotes_state(const struct simd_quotes *at);

/* What the quotes of one word tell. */
struct quotes_word {
	uint64_t inside; /* the bytes that lie in quotes */
	uint64_t strays; /* those after a closing quote that are no separator, and quotes that are data */
};

/* Moves *at past a word that ends with byte `last`, quote by quote. */
struct quotes_word quotes_step(uint64_t separators, uint64_t quotes, unsigned last,
			       struct simd_quotes *at);

/* Like quotes_resolve, for words [begin, end); moves *at past them. */
void quotes_clear(struct simd_bits bits, size_t begin, size_t end, struct simd_quotes *at);

#endif
