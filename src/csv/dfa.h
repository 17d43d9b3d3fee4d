/* SPDX-License-Identifier: MIT
 *
 * dfa.h - the CSV automaton and its transition maps.
 *
 * A byte's meaning depends on whether it is inside quotes, and that depends on
 * every byte before it. A piece of text that starts in an unknown state
 * (a thread's chunk, a GPU lane's 32 bytes) is therefore reduced to a map: for each
 * state it may be entered in, the state it is left in. Maps compose associatively,
 * so the states at all bytes are a prefix scan, without speculation (Stehle and Jacobsen,
 * ParPaRaw, VLDB 2020).
 *
 * The rules are RFC 4180's as people write it: a quote opens a quoted field
 * only as the field's first byte, "" inside is a quote, and what follows the
 * closing quote up to the delimiter is kept unchanged. The automaton ignores CR:
 * records end at LF, and the code that cuts fields drops a CR before it.
 */
#ifndef GPUSTAT_CSV_DFA_H
#define GPUSTAT_CSV_DFA_H

#include <stdint.h>

#include "base/hd.h"

enum csv_state {
	CSV_FIELD_START = 0, /* before a field's first byte; a file starts here */
	CSV_UNQUOTED = 1,    /* inside a field, outside quotes */
	CSV_QUOTED = 2,      /* inside quotes: LF and delimiters are data */
	CSV_QUOTE_SEEN = 3,  /* after a quote in quotes: it closed, or "" follows */
};
#define CSV_NSTATES 4

enum csv_class { CSV_OTHER = 0, CSV_QUOTE = 1, CSV_DELIMITER = 2, CSV_NEWLINE = 3 };

/* Exit state for each entry state, two bits each: entry s at bits 2s, 2s+1. */
typedef uint8_t csv_map;

#define CSV_MAP(from_start, from_unquoted, from_quoted, from_quote_seen)                  \
	((csv_map)((from_start) | (from_unquoted) << 2 | (from_quoted) << 4 |             \
		   (from_quote_seen) << 6))
#define CSV_MAP_IDENTITY \
	CSV_MAP(CSV_FIELD_START, CSV_UNQUOTED, CSV_QUOTED, CSV_QUOTE_SEEN)

/* Classifies one byte. delimiter is never a quote, CR or LF. */
HD enum csv_class csv_classify(unsigned char byte, unsigned char delimiter)
{
	if (byte == delimiter)
		return CSV_DELIMITER;
	if (byte == '\n')
		return CSV_NEWLINE;
	return byte == '"' ? CSV_QUOTE : CSV_OTHER;
}

/* The map of a single byte of class c: the automaton's transition table. */
HD csv_map csv_map_of(enum csv_class c)
{
	switch (c) {
	case CSV_QUOTE:
		return CSV_MAP(CSV_QUOTED, CSV_UNQUOTED, CSV_QUOTE_SEEN, CSV_QUOTED);
	case CSV_DELIMITER:
	case CSV_NEWLINE:
		return CSV_MAP(CSV_FIELD_START, CSV_FIELD_START, CSV_QUOTED, CSV_FIELD_START);
	default:
		return CSV_MAP(CSV_UNQUOTED, CSV_UNQUOTED, CSV_QUOTED, CSV_UNQUOTED);
	}
}

/* The state that text with this map is left in when entered in state. */
HD enum csv_state csv_map_apply(csv_map map, enum csv_state state)
{
	return (enum csv_state)(map >> (2 * state) & 3);
}

/* The map of `earlier`'s text followed by `later`'s. Associative, not commutative. */
HD csv_map csv_map_compose(csv_map earlier, csv_map later)
{
	return CSV_MAP(csv_map_apply(later, csv_map_apply(earlier, CSV_FIELD_START)),
		       csv_map_apply(later, csv_map_apply(earlier, CSV_UNQUOTED)),
		       csv_map_apply(later, csv_map_apply(earlier, CSV_QUOTED)),
		       csv_map_apply(later, csv_map_apply(earlier, CSV_QUOTE_SEEN)));
}

/* One step: the state after a byte of class c, entered in state. */
HD enum csv_state csv_step(enum csv_state state, enum csv_class c)
{
	return csv_map_apply(csv_map_of(c), state);
}

/* Whether LF or a delimiter ends something in this state, or is quoted data. */
HD int csv_outside_quotes(enum csv_state state)
{
	return state != CSV_QUOTED;
}

#endif
