/* SPDX-License-Identifier: MIT
 *
 * part_lines.h - a text of parts, line by line, and the lines that hold folds (fold/partial_text.h), parsed and merged in several threads.
 *
 * Nearly all of a part are lines of columns and of groups. One thread finds them (merge.c) and adds them here, in
 * input order, a run of lines at a time; others take the runs and read them. Where order does not show in the
 * results, each thread reads into a partial of its own, whose groups move to the plan's store once they are many,
 * and all partials are joined at the end. Otherwise each run is read by itself, and added to the total in its
 * turn. Threads are started only when there is work for them, and the thread that adds runs takes one where
 * too many wait.
 *
 * The first error in input order is the one that is told: runs are taken in that order, so all before it are
 * read to their ends.
 */
#ifndef GPUSTAT_PART_LINES_H
#define GPUSTAT_PART_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/partial_text.h"
#include "io/source.h"
#include "query/plan.h"

/* ---- the text, in blocks that outlive the reading: they are freed by whoever uses them last ---- */

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

/* Where a text of parts comes from: a file, which may be compressed, or a function. Nothing is owned. */
struct part_source {
	const char *name; /* of the file, "-" for standard input; NULL: read is called */
	/* Reads up to nbytes. Returns how many; 0 at the end; -1 after an error, with errno set. */
	ssize_t (*read)(void *context, char *to, size_t nbytes);
	void *context;
};

/* A text that is open. Zeroed: none. */
struct part_text {
	const char *name;         /* for messages; NULL: it has no name, but a function: */
	struct part_source from;
	struct source file;
	struct part_blocks *blocks; /* not owned */
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

/* ---- lines that hold folds ---- */

/* Where a part's columns are in the plan. Freed by whoever uses it last. */
struct part_map {
	atomic_uint nusers;
	struct partial_map map; /* owned */
};

/* Makes one with a use and an empty map. NULL: no memory. */
struct part_map *part_map_new(void);
void part_map_release(struct part_map *map);

/* Some lines of a part. */
struct line_run {
	const char *text, *end;   /* whole lines; they lie in the block */
	struct part_block *block;
	struct part_map *map;
	const char *name;         /* of the file. Not owned, and valid to the end. */
	uint64_t nlines;          /* of the file, before the run */
};

struct part_lines;

/* Begins to merge lines into a plan's total, which is the caller's to use until part_lines_end, but for its
 * partial where plan_is_ordered: then only after part_lines_wait. nthreads: the most that work; 0: one for each
 * core. NULL: no memory. */
struct part_lines *part_lines_begin(const struct plan *plan, struct partial *total, int nthreads);

/* Adds a run of lines, of which it takes uses of its own. Returns STATUS_OK, or that of an error in a run
 * before: part_lines_wait has the error. */
enum status part_lines_add(struct part_lines *l, const struct line_run *run);

/* Waits until all runs have been read. Errors, the first in input order: STATUS_PART_DAMAGED, with file and line;
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_MANY_GROUPS. */
enum status part_lines_wait(struct part_lines *l, struct fault *fault);

/* Waits, makes the total that of all runs, with its groups in the plan's store, and frees l; NULL: does nothing.
 * Errors: as above; fault is left alone without one. */
enum status part_lines_end(struct part_lines *l, struct fault *fault);

#endif
