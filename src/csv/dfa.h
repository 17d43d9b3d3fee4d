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
 * The rules are RFC 4180's as people write it: a quote opens a quoted field only as the field's
 * first byte, and "" inside is a quote. Text behind a closing quote is an error, which the
 * automaton does not see: see rows.h. The automaton ignores CR: records end at LF, and the code
 * that cuts fields drops a CR before it.
 *
 * Dialects with an escape byte or comments have four more states, and one that trims blanks has a
 * class of bytes more. Their maps are twice as large and only the CPU's (csv_full_map), so that the
 * kernels and the ordinary dialect keep small ones.
 */
#pragma once

#include <stdint.h>

#include "base/hd.h"

enum csv_state {
	CSV_FIELD_START = 0, /* before a field's first byte; a file starts here */
	CSV_UNQUOTED = 1,    /* inside a field, outside quotes */
	CSV_QUOTED = 2,      /* inside quotes: LF and delimiters are data */
	CSV_QUOTE_SEEN = 3,  /* after a quote in quotes: it closed, or "" follows */
	/* Only in full maps: */
	CSV_RECORD_START = 4,   /* before a record's first byte */
	CSV_COMMENT = 5,        /* in a line that is no record */
	CSV_ESCAPED = 6,        /* after an escape byte, outside quotes: the next byte is data */
	CSV_ESCAPED_QUOTED = 7, /* the same, inside quotes */
};
#define CSV_NSTATES 4      /* of csv_map */
#define CSV_NSTATES_FULL 8 /* of csv_full_map */

enum csv_class {
	CSV_OTHER = 0,
	CSV_QUOTE = 1,
	CSV_DELIMITER = 2,
	CSV_NEWLINE = 3,
	/* Only for csv_full_step: */
	CSV_ESCAPE = 4,
	CSV_COMMENT_SIGN = 5,
	CSV_BLANK = 6, /* before a field's first byte it changes nothing; else it is CSV_OTHER */
};

/* Exit state for each entry state, two bits each: entry s at bits 2s, 2s+1. */
typedef uint8_t csv_map;

#define CSV_MAP(from_start, from_unquoted, from_quoted, from_quote_seen)                  \
	((csv_map)((from_start) | (from_unquoted) << 2 | (from_quoted) << 4 |             \
		   (from_quote_seen) << 6))
#define CSV_MAP_IDENTITY \
	CSV_MAP(CSV_FIELD_START, CSV_UNQUOTED, CSV_QUOTED, CSV_QUOTE_SEEN)

/* Classifies one byte. delimiter is never the quote, CR or LF. quote: 0 if fields are not quoted. */
HD enum csv_class csv_classify(unsigned char byte, unsigned char delimiter, unsigned char quote)
{
	if (byte == delimiter)
		return CSV_DELIMITER;
	if (byte == '\n')
		return CSV_NEWLINE;
	return byte == quote && quote != 0 ? CSV_QUOTE : CSV_OTHER;
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

/* ---- all states: of chunks, and of dialects with an escape byte or comments ---- */

/* Exit state for each of the eight entry states, three bits each: entry s at bits 3s .. 3s + 2. A
 * type of its own, so that neither kind of map is taken for the other. */
typedef struct {
	uint32_t exits;
} csv_full_map;

static inline csv_full_map csv_full_map_with(csv_full_map map, enum csv_state entry,
					     enum csv_state exit)
{
	map.exits &= ~(UINT32_C(7) << 3 * entry);
	map.exits |= (uint32_t)exit << 3 * entry;
	return map;
}

static inline enum csv_state csv_full_map_apply(csv_full_map map, enum csv_state state)
{
	return (enum csv_state)(map.exits >> 3 * state & 7);
}

static inline csv_full_map csv_full_map_identity(void)
{
	csv_full_map map = {0};

	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		map = csv_full_map_with(map, (enum csv_state)s, (enum csv_state)s);
	return map;
}

/* The same text's map, for a dialect without escape byte and comments. A record starts as a field
 * does; states that do not occur stay as they are. */
static inline csv_full_map csv_full_map_of(csv_map map)
{
	csv_full_map full = csv_full_map_identity();

	for (unsigned s = 0; s < CSV_NSTATES; s++)
		full = csv_full_map_with(full, (enum csv_state)s,
					 csv_map_apply(map, (enum csv_state)s));
	return csv_full_map_with(full, CSV_RECORD_START, csv_map_apply(map, CSV_FIELD_START));
}

/* One step of the automaton with all states. A comment sign is only one where a record starts. */
static inline enum csv_state csv_full_step(enum csv_state state, enum csv_class c)
{
	/* A row for each state; in it CSV_OTHER, QUOTE, DELIMITER, NEWLINE, ESCAPE, COMMENT_SIGN,
	 * BLANK. */
	static const unsigned char next[CSV_NSTATES_FULL][7] = {
		{CSV_UNQUOTED, CSV_QUOTED, CSV_FIELD_START, CSV_RECORD_START, CSV_ESCAPED,
		 CSV_UNQUOTED, CSV_FIELD_START},
		{CSV_UNQUOTED, CSV_UNQUOTED, CSV_FIELD_START, CSV_RECORD_START, CSV_ESCAPED,
		 CSV_UNQUOTED, CSV_UNQUOTED},
		{CSV_QUOTED, CSV_QUOTE_SEEN, CSV_QUOTED, CSV_QUOTED, CSV_ESCAPED_QUOTED,
		 CSV_QUOTED, CSV_QUOTED},
		{CSV_UNQUOTED, CSV_QUOTED, CSV_FIELD_START, CSV_RECORD_START, CSV_ESCAPED,
		 CSV_UNQUOTED, CSV_UNQUOTED},
		{CSV_UNQUOTED, CSV_QUOTED, CSV_FIELD_START, CSV_RECORD_START, CSV_ESCAPED,
		 CSV_COMMENT, CSV_FIELD_START},
		{CSV_COMMENT, CSV_COMMENT, CSV_COMMENT, CSV_RECORD_START, CSV_COMMENT,
		 CSV_COMMENT, CSV_COMMENT},
		{CSV_UNQUOTED, CSV_UNQUOTED, CSV_UNQUOTED, CSV_UNQUOTED, CSV_UNQUOTED,
		 CSV_UNQUOTED, CSV_UNQUOTED},
		{CSV_QUOTED, CSV_QUOTED, CSV_QUOTED, CSV_QUOTED, CSV_QUOTED, CSV_QUOTED,
		 CSV_QUOTED},
	};

	return (enum csv_state)next[state][c];
}
