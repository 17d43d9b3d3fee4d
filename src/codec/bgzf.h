/* SPDX-License-Identifier: MIT
 *
 * bgzf.h - gzip members that say how long they are (BGZF, what bgzip writes): cut without
 * being inflated, so that several threads can each inflate some. A block that is not as
 * long as it says is damaged, also where an inflater that does not listen finds no fault.
 */
#ifndef GPUSTAT_BGZF_H
#define GPUSTAT_BGZF_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/feed.h"
#include "codec/gzip.h"
#include "codec/inflate.h"
#include "base/status.h"

#define BGZF_BLOCK_NBYTES 65536 /* the most a block is long, deflated and inflated */

/* Some blocks in a row. */
struct bgzf_batch {
	unsigned char *data; /* the blocks as they came; NULL: no room yet */
	size_t nbytes, room_nbytes;
	size_t inflated_nbytes; /* what they say they come to; at most inflated_room_nbytes */
	size_t inflated_room_nbytes;
};

/* Empties a batch, which is all 0 to begin with, and gives it room for blocks that come to
 * inflated_nbytes together, even if they are no shorter packed. False: no memory. */
bool bgzf_make_room(struct bgzf_batch *batch, size_t inflated_nbytes);

enum bgzf_next {
	BGZF_BLOCK,     /* a whole block */
	BGZF_STARVES,   /* the feed has too little to tell, or not the whole block */
	BGZF_OTHER,     /* no block: another member, damage, or nothing; gzip_step knows */
	BGZF_TRUNCATED, /* a block that is longer than what is left */
	BGZF_LIES,      /* a block whose sizes cannot be true */
};

/* What the feed has next, between members. */
enum bgzf_next bgzf_next(const struct feed *feed, const struct inflate_ops *ops);

/* Moves as many whole blocks as the feed has and the batch has room for to the batch's end.
 * Returns what comes next; BGZF_BLOCK: one that does not fit. */
enum bgzf_next bgzf_cut(struct bgzf_batch *batch, struct feed *feed,
			const struct inflate_ops *ops);

/* Inflates a batch into to, which has room for inflated_nbytes; *nbytes of it, also where it
 * fails. state: ops' own, for this thread. Any thread.
 * Errors: STATUS_GZIP_DATA: damage, wrong CRC or length, or a block that is not as long as it
 * says; STATUS_NO_MEMORY. */
enum status bgzf_inflate(const struct bgzf_batch *batch, const struct inflate_ops *ops,
			 void *state, unsigned char *to, size_t *nbytes, struct fault *fault);

#endif
