/* SPDX-License-Identifier: MIT
 *
 * part_text.h - a text of parts, line by line, in blocks that outlive the reading.
 *
 * The thread that reads a file finds its lines, and others parse them later (part_lines.h). So a block is
 * freed by whoever uses it last.
 */
#ifndef GPUSTAT_PART_TEXT_H
#define GPUSTAT_PART_TEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

#define PART_BLOCK_NBYTES ((size_t)1 << 18) /* about half a millisecond's work of one thread */

/* Some of a file. It begins with a line. */
struct part_block {
	atomic_uint nusers;
	size_t nbytes, capacity; /* of data */
	char data[];
};

/* Uses a block, and ends a use. Any thread. */
static inline void part_block_use(struct part_block *b)
{
	atomic_fetch_add_explicit(&b->nusers, 1, memory_order_relaxed);
}
void part_block_release(struct part_block *b);

#define PART_NBLOCKS 64

/* Blocks to be used again, of one file or of several that one thread reads: memory that is given back and taken
 * again is cleared anew. Zeroed but for nbytes: none. */
struct part_blocks {
	size_t nbytes; /* of a block, unless a line is longer */
	struct part_block *at[PART_NBLOCKS]; /* one use of each is this; NULL: none */
	size_t next;
};
void part_blocks_free(struct part_blocks *blocks);

#define PART_MAGIC_NBYTES 32 /* of a file, which tell whether it is compressed */

/* Where a text of parts comes from: a file, which may be compressed, or a function. Nothing is owned. */
struct part_source {
	const char *name; /* of the file, "-" for standard input; NULL: read is called */
	/* Reads up to nbytes. Returns how many; 0 at the end; -1 after an error, with errno set. */
	ssize_t (*read)(void *context, char *to, size_t nbytes);
	void *context;
};

struct packed_part; /* part_text.c */

/* A text that is open. Zeroed: none. */
struct part_text {
	const char *name;         /* for messages; NULL: it has no name */
	struct part_source source;
	struct part_blocks *blocks; /* not owned */
	int fd;
	char begin[PART_MAGIC_NBYTES]; /* what has been read of it to tell; nbegin bytes are not in a block yet */
	size_t nbegin;
	struct packed_part *packed; /* NULL: it is not compressed. Owned. */
	bool is_at_end;           /* all has been read */
	struct part_block *block; /* that of the line */
	size_t at;                /* behind the line, in the block */
	const char *line;         /* with its LF; only the last line of the file may lack it */
	size_t nbytes;            /* of the line */
	uint64_t nlines;          /* so far, with this */
};

/* Opens a text, to be read by way of blocks. Errors, in fault, with the file's name: STATUS_OPEN, STATUS_READ,
 * STATUS_NO_MEMORY. Free with part_text_close in any case. */
enum status part_text_open(struct part_text *t, const struct part_source *source, struct part_blocks *blocks,
			   struct fault *fault);
void part_text_close(struct part_text *t);

/* Goes to the next line of the block. Returns false at the block's end: then part_text_fill is to be
 * called. */
bool part_text_next(struct part_text *t);

/* Reads on, into another block. Returns false at the end of the file and after an error, to which *status is set:
 * STATUS_READ or a codec's, with the file's name in fault, or STATUS_NO_MEMORY. */
bool part_text_fill(struct part_text *t, enum status *status, struct fault *fault);

#endif
