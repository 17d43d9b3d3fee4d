/* SPDX-License-Identifier: MIT
 *
 * quotes.h - which separators of a text lie in quotes, from bitmaps, 64 bytes at a time.
 *
 * The parity of the quotes so far tells whether a byte lies in quotes, doubled quotes included, if
 * every quote that opens a field comes right after a separator, or after a quote (then it is the
 * second of a pair). Each word is checked for that. In a word where it does not hold (12" disk),
 * the automaton of dfa.h steps from quote to quote; parity goes on with the next word.
 */
#ifndef GPUSTAT_QUOTES_H
#define GPUSTAT_QUOTES_H

#include <stddef.h>

#include "csv/dfa.h"
#include "simd/simd.h"

/* Clears the separators and newlines that lie in quotes in words [0, nwords) of a text that is
 * entered in `state`. */
void quotes_resolve(struct simd_bits bits, size_t nwords, enum csv_state state);

/* Returns the transition map of a text of nbytes, which bits describe. From word *resolved on, the
 * entry state does not matter; those words are resolved here. None such: the number of words. */
csv_map quotes_map(struct simd_bits bits, size_t nbytes, size_t *resolved);

#endif
