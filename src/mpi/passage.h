/* SPDX-License-Identifier: MIT
 *
 * passage.h - a text on its way from one rank to another: a part (cluster/part.h), or records.
 *
 * It goes in blocks, while it is written on one side and read on the other, so neither rank holds all of it. A sender waits
 * until the receiver takes the block. Every text has an end, which says whether it is whole: a sender that fails
 * halfway ends the text as well, and a receiver takes all blocks even if it needs no more of them.
 */
#ifndef GPUSTAT_MPI_PASSAGE_H
#define GPUSTAT_MPI_PASSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text_buffer.h"
#include "cluster/part.h"

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

/* A struct text_buffer that is read, as by a part_source. */
struct text_reading {
	const struct text_buffer *text;
	size_t at;
};
ssize_t text_read(void *reading, char *to, size_t nbytes);

#endif
