/* SPDX-License-Identifier: MIT
 *
 * world.h - the ranks of the job: who they are, what they agree on, and what each may use of its host.
 *
 * All functions are collective: every rank calls them, in the same order. MPI itself ends the job where a message
 * cannot be sent, so they have no errors of their own. Those of passages are called by the two ranks only.
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "base/array.h"
#include "cluster/part.h"
#include "query/options.h"

struct world {
	int rank, nranks;
};

/* Begins MPI. Threads other than the caller's never call it. */
void world_open(struct world *w, int *argc, char ***argv);

/* Refuses ranks of another version of the program than rank 0's: what ranks send each other is their version's. Before
 * any other exchange, and without one after it where it fails; it stays as it is in all versions. *first: the first
 * such rank; nranks if all versions are the same.
 * Errors, of each such rank: STATUS_RANK_VERSION. */
enum status world_check_version(const struct world *w, int *first, struct fault *fault);

/* Ends MPI. */
void world_close(void);

/* The first rank whose status is not STATUS_OK; nranks if all are STATUS_OK. */
int world_first_fault(const struct world *w, enum status status);

/* Gives the bytes of one rank to all. */
void world_share(void *data, size_t nbytes, int from);

/* Whether it is true for any rank. */
bool world_any(bool is);

/* Sets how many threads a rank has, unless --threads says it; which GPU, where there are any; and its share of the
 * host's memory, unless --memory says it. */
void world_share_host(const struct world *w, struct options *o);

/* ---- passages: texts on their way from one rank to another: parts (cluster/part.h), or records ----
 *
 * They go in blocks, while they are written on one side and read on the other, so neither rank holds all of one. A sender waits
 * until the receiver takes the block. Every text has an end, which says whether it is whole: a sender that fails
 * halfway ends the text as well, and a receiver takes all blocks even if it needs no more of them.
 */

#define PASSAGE_NBYTES ((size_t)1 << 22) /* of a block */

struct passage {
	int rank;            /* to, or from which it goes */
	size_t block_nbytes; /* to send; up to PASSAGE_NBYTES */
	size_t nbytes, at;   /* in data: not yet sent, or received; and of those read */
	bool has_ended, is_whole;
	char data[PASSAGE_NBYTES];
};

/* Begins to send to a rank. chunk_nbytes: the length of a block in tests; 0: PASSAGE_NBYTES. */
void passage_send(struct passage *p, int to, size_t chunk_nbytes);

/* A part_sink's write: sends nbytes. */
bool passage_write(void *passage, const char *text, size_t nbytes);

/* Ends the text. */
void passage_end(struct passage *p, bool is_whole);

/* Begins to receive from a rank. Returns false if its text is empty. */
bool passage_receive(struct passage *p, int from);

/* A part_source's read: takes up to nbytes of the text. Returns how many; 0 at its end. */
ssize_t passage_read(void *passage, char *to, size_t nbytes);

/* Takes what is left of the text. Returns whether the text was whole. */
bool passage_drain(struct passage *p);

/* ---- texts in memory ---- */

/* A part_sink that appends to a struct text_buffer; errno: ENOMEM. */
bool text_write(void *buffer, const char *text, size_t nbytes);
