/* SPDX-License-Identifier: MIT
 *
 * decoder.h - a compressed file, decoded to pieces of text or cut to batches of blocks. One
 * thread at a time.
 */
#ifndef GPUSTAT_DECODER_H
#define GPUSTAT_DECODER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "codec/bgzf.h"

/* For tests: how long a chunk is at most, and a piece. */
#define CHUNK_VARIABLE "GPUSTAT_CHUNK_BYTES"

struct decoder {
	struct feed feed;
	const struct codec *codec;
	void *state; /* the codec's */
	size_t piece_nbytes; /* the longest piece */
	struct block_pool pool;
	struct block_ahead *ahead; /* NULL if it was not asked for, or could not be begun */
	bool ahead_asked;
};

/* Starts on what fd delivers. prefix: bytes already read from it, at most FEED_NBYTES; copied.
 * nthreads: as codec.open takes it. Errors: the codec's open. */
enum status decoder_open(struct decoder *d, const struct codec *codec, int fd, const void *prefix,
			 size_t nbytes, int nthreads, struct fault *fault);
void decoder_close(struct decoder *d);

/* Fills the piece with text. It ends early where input would have to be waited for, and before a
 * block for which it has no room. Errors go to the piece's status. */
void decoder_fill(struct decoder *d, struct piece *p);

/* Whether decoder_cut may find blocks next. */
bool decoder_has_blocks(const struct decoder *d);

/* Moves blocks to the batch until it has no room for the next, or, if batch->fd is the plain file that is
 * decoded, measures them where they are; sets it to -1 if they were moved. Reads more; if prompt, only while
 * the batch is empty or input need not be waited for. An empty batch: what is next is no block,
 * or one longer than all of the room. *ended: the stream is complete.
 * Errors: STATUS_READ, if the batch is empty; behind blocks the next call reads again. */
enum status decoder_cut(struct decoder *d, struct block_batch *batch, bool prompt, bool *ended,
			struct fault *fault);

/* Whether its stream stands where sections can go on. */
bool decoder_has_sections(const struct decoder *d);

/* Whether the stream ends behind the piece, complete or with an error. */
bool piece_is_last(const struct piece *p);

void piece_free(struct piece *p);

#endif
