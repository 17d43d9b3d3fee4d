/* SPDX-License-Identifier: MIT
 *
 * chunk.h - a piece of the input, and how the automaton enters it.
 */
#ifndef GPUSTAT_CHUNK_H
#define GPUSTAT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv_dfa.h"

/* Consecutive bytes of one file, cut without regard to records. Chunks are numbered
 * in input order over all files; nbytes may be 0. */
struct chunk {
	char *data;            /* the buffer of the worker that took the chunk */
	size_t nbytes;         /* < 4 GiB */
	uint64_t index;        /* 0, 1, 2, ... in input order */
	int file;              /* which of the input's files */
	uint64_t offset_bytes; /* where data starts in the whole input, decompressed */
	bool first_of_file;    /* the automaton starts afresh here */
	bool last_of_file;     /* an unfinished record ends with this chunk */
	uint64_t first_line;   /* with first_of_file: the line that data starts on */
};

/* How a chunk is entered: known only once every earlier chunk has been mapped. */
struct chunk_entry {
	enum csv_state state;
	bool inside_record; /* a record that began earlier is still open */
};

/* How the text behind a chunk is entered, given the chunk's map and its own entry. A
 * record ends with an LF outside quotes, after which the automaton is at a field's start. */
static inline struct chunk_entry chunk_entry_after(const struct chunk *chunk, csv_map map,
						   struct chunk_entry entry)
{
	if (chunk->nbytes == 0)
		return entry;
	entry.state = csv_map_apply(map, entry.state);
	entry.inside_record =
		entry.state != CSV_FIELD_START || chunk->data[chunk->nbytes - 1] != '\n';
	return entry;
}

#endif
