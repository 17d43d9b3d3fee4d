/* SPDX-License-Identifier: MIT
 *
 * decoder.h - a compressed file taken apart: into pieces of text, or into batches of blocks
 * of BGZF that any thread can inflate. One thread at a time.
 */
#ifndef GPUSTAT_DECODER_H
#define GPUSTAT_DECODER_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/bgzf.h"
#include "codec/feed.h"
#include "codec/gzip.h"
#include "codec/inflate.h"
#include "base/status.h"
#include "codec/zstd_frames.h"

#define PIECE_NBYTES (256 * 1024) /* of text; a few of them stay in L2 */

enum decoder_format { DECODER_GZIP, DECODER_ZSTD };

struct decoder {
	struct feed feed;
	struct gzip *gzip; /* one of the two */
	struct unzstd *zstd;
	/* For blocks. */
	const struct inflate_ops *block_ops;
	void *block_state; /* NULL: none yet */
	struct bgzf_batch batch;
};

/* All 0 to begin with; used again and again. */
struct piece {
	unsigned char *data; /* PIECE_NBYTES of room; NULL: not used yet */
	size_t nbytes;
	bool last;          /* nothing comes after */
	enum status status; /* of what comes behind data; if not STATUS_OK, fault says more */
	struct fault fault;
};

/* Begins with what fd delivers. prefix: bytes already read from it, at most FEED_NBYTES,
 * copied. Errors: STATUS_NO_MEMORY; STATUS_OPEN, with words: this build cannot. */
enum status decoder_open(struct decoder *d, enum decoder_format format, int fd,
			 const void *prefix, size_t nbytes, struct fault *fault);
void decoder_close(struct decoder *d);

/* Fills the piece with text until nothing more can come into it, or it has something to say and
 * more would have to be waited for. What goes wrong is the piece's status. */
void decoder_fill(struct decoder *d, struct piece *p);

/* Whether, as far as the feed tells, blocks come next, of which decoder_cut can make a batch. */
bool decoder_has_blocks(const struct decoder *d);

/* Moves blocks into the batch until none is next that has room; reads more, but if prompt only
 * while the batch is empty or nothing has to be waited for. An empty batch: something else comes
 * next, or a block that is larger than all of the room. *ended: nothing comes, and all was right.
 * Errors: STATUS_READ, where the batch is empty; behind blocks reading is tried again. */
enum status decoder_cut(struct decoder *d, struct bgzf_batch *batch, bool prompt, bool *ended,
			struct fault *fault);

/* Whether no other will be filled after this one. */
bool piece_is_last(const struct piece *p);

void piece_free(struct piece *p);

#endif
