/* SPDX-License-Identifier: MIT
 *
 * chunk.h - a piece of the input, and how the automaton enters it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/dfa.h"

/* The longest record; a longer one is STATUS_LONG_RECORD. A record may exceed a worker's buffer,
 * but is kept in memory, and decompressed text can be a thousand times as long as its input. */
#define RECORD_MAX_NBYTES ((size_t)256 << 20)

struct plan;

/* Consecutive bytes of one file, cut without regard to records. Chunks are numbered
 * in input order over all files; nbytes may be 0. */
struct chunk {
	char *data;            /* in the worker's buffer, which may hold only the text's ends: see
				* load_text of worker.h */
	size_t nbytes;         /* < 4 GiB */
	uint64_t index;        /* 0, 1, 2, ... in input order */
	int file;              /* which of the input's files */
	uint64_t offset_bytes; /* where data starts in the whole input, decompressed */
	bool first_of_file;    /* the automaton starts afresh here */
	bool last_of_file;     /* an unfinished record ends with this chunk */
	uint64_t first_line;   /* with first_of_file: the line that data starts on */
	const struct plan *plan; /* the file's, if its columns are elsewhere than in the run's */
};

/* The plan by which a chunk of the run is folded. */
static inline const struct plan *chunk_plan(const struct chunk *chunk, const struct plan *run)
{
	return chunk->plan ? chunk->plan : run;
}

/* How a chunk is entered: known only once every earlier chunk has been mapped. */
struct chunk_entry {
	enum csv_state state;
	bool inside_record; /* a record that began earlier is still open */
	bool unknown;       /* this is CHUNK_UNKNOWN */
};

/* How much of a chunk's fold depends on its entry. */
enum chunk_dependence {
	CHUNK_DEPENDS,     /* perhaps all of it */
	CHUNK_INDEPENDENT, /* only the head, which then may have several records */
	CHUNK_GUESSES,     /* the chunk has no quotes: nothing, unless it is entered in quotes */
};

/* The entry for a fold before the entry is known; not for a chunk that is CHUNK_DEPENDS. */
#define CHUNK_UNKNOWN ((struct chunk_entry){CSV_UNQUOTED, true, true})

/* The entry of a file's first chunk, and of text between records. */
#define CHUNK_BETWEEN_RECORDS ((struct chunk_entry){CSV_FIELD_START, false, false})

/* The automaton's state at an entry, for a full map. Between records, entry.state is
 * CSV_FIELD_START, which every device knows. */
static inline enum csv_state chunk_entry_state(struct chunk_entry entry)
{
	return entry.inside_record ? entry.state : CSV_RECORD_START;
}

/* How the text behind a chunk of at least a byte is entered, given the chunk's map and its own
 * entry. A record ends with an LF outside quotes, after which the automaton is at a field's
 * start. ends_line: the chunk's last byte is an LF. */
static inline struct chunk_entry chunk_entry_after(csv_full_map map, bool ends_line,
						   struct chunk_entry entry)
{
	entry.state = csv_full_map_apply(map, chunk_entry_state(entry));
	entry.inside_record = entry.state != CSV_RECORD_START &&
			      (entry.state != CSV_FIELD_START || !ends_line);
	if (!entry.inside_record)
		entry.state = CSV_FIELD_START;
	return entry;
}
