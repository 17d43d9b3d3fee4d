/* SPDX-License-Identifier: MIT
 *
 * chunk.h - a piece of the input, and how the automaton enters it.
 */
#ifndef GPUSTAT_CHUNK_H
#define GPUSTAT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/dfa.h"

/* A record may be longer than any buffer, but not than this: it is kept in memory, and a
 * compressed one can be a thousand times as long as what was sent. STATUS_LONG_RECORD says it. */
#define RECORD_MAX_NBYTES ((size_t)256 << 20)

/* Consecutive bytes of one file, cut without regard to records. Chunks are numbered
 * in input order over all files; nbytes may be 0. */
struct chunk {
	char *data;            /* the buffer of the worker that took the chunk; it may hold only
				* the text's ends: see restore of worker.h */
	size_t nbytes;         /* < 4 GiB */
	uint64_t index;        /* 0, 1, 2, ... in input order */
	int file;              /* which of the input's files */
	uint64_t offset_bytes; /* where data starts in the whole input, decompressed */
	bool first_of_file;    /* the automaton starts afresh here */
	bool last_of_file;     /* an unfinished record ends with this chunk */
	uint64_t first_line;   /* with first_of_file: the line that data starts on */
};

/* Where bytes may be written. */
struct room {
	char *data;
	size_t nbytes;
};

/* Who takes a chunk, and where it is to be read to. */
struct reader {
	struct room buffer; /* chunk->data, and how long a chunk may be */
	struct worker *worker;
	/* Asked of a plain file's chunk, once its first `done` bytes are there, beginning with 0, up
	 * to all: where the next are to be read to, and how many of them, at least one while there
	 * are some. What is said to the last call is not looked at. NULL: into the buffer. */
	struct room (*next)(struct worker *worker, const struct chunk *chunk, size_t done);
};

/* How a chunk is entered: known only once every earlier chunk has been mapped. */
struct chunk_entry {
	enum csv_state state;
	bool inside_record; /* a record that began earlier is still open */
	bool unknown;       /* this is CHUNK_UNKNOWN */
};

/* How much of what is folded depends on how the chunk is entered. */
enum chunk_dependence {
	CHUNK_DEPENDS,     /* perhaps all of it */
	CHUNK_INDEPENDENT, /* nothing behind the head, if that is taken to be long enough */
	CHUNK_GUESSES,     /* nothing, unless it is entered in quotes: there are none in it */
};

/* The entry of a chunk that is folded before it is known, unless it CHUNK_DEPENDS. */
#define CHUNK_UNKNOWN ((struct chunk_entry){CSV_UNQUOTED, true, true})

/* How the text behind a chunk of at least a byte is entered, given the chunk's map and its own
 * entry. A record ends with an LF outside quotes, after which the automaton is at a field's
 * start. ends_line: the chunk's last byte is an LF. */
static inline struct chunk_entry chunk_entry_after(csv_map map, bool ends_line,
						   struct chunk_entry entry)
{
	entry.state = csv_map_apply(map, entry.state);
	entry.inside_record = entry.state != CSV_FIELD_START || !ends_line;
	return entry;
}

#endif
