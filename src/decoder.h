/* SPDX-License-Identifier: MIT
 *
 * decoder.h - a compressed file taken apart, piece by piece: text where it must come in
 * order, or blocks of BGZF that any thread can inflate.
 *
 * Below, a piece is filled by one thread, in the file's order; unpacked by any.
 */
#ifndef GPUSTAT_DECODER_H
#define GPUSTAT_DECODER_H

#include <stdbool.h>
#include <stddef.h>

#include "bgzf.h"
#include "feed.h"
#include "gzip.h"
#include "inflate.h"
#include "status.h"
#include "unzstd.h"

#define PIECE_NBYTES BGZF_BATCH_NBYTES /* of text; a few of them stay in L2 */

enum decoder_format { DECODER_GZIP, DECODER_ZSTD };

struct decoder {
	struct feed feed;
	struct gzip *gzip; /* one of the two */
	struct unzstd *zstd;
	const struct inflate_ops *block_ops; /* for unpacking */
};

/* All 0 to begin with; used again and again. */
struct piece {
	unsigned char *data; /* PIECE_NBYTES of room; NULL: not used yet */
	size_t nbytes;
	struct bgzf_batch batch; /* what data is to be inflated from; empty: data is there */
	bool last;               /* nothing comes after */
	enum status status;      /* of what comes behind data; if not STATUS_OK, fault says more */
	struct fault fault;
};

/* Begins with what fd delivers. prefix: bytes already read from it, at most FEED_NBYTES,
 * copied. Errors: STATUS_NO_MEMORY; STATUS_OPEN, with words: this build cannot. */
enum status decoder_open(struct decoder *d, enum decoder_format format, int fd,
			 const void *prefix, size_t nbytes, struct fault *fault);
void decoder_close(struct decoder *d);

/* Fills the piece until nothing more can come into it, or it has something to say and more
 * would have to be waited for. What goes wrong is the piece's status. */
void decoder_fill(struct decoder *d, struct piece *p);

/* Whether, as far as the feed tells, blocks come next, of which decoder_cut can make a batch. */
bool decoder_has_blocks(const struct decoder *d);

/* Moves blocks into the batch until none is next that has room; reads more, but if prompt only
 * while the batch is empty or nothing has to be waited for. An empty batch: something else comes
 * next, or a block that is larger than all of the room. *ended: nothing comes, and all was right.
 * Errors: STATUS_READ, where the batch is empty; behind blocks reading is tried again. */
enum status decoder_cut(struct decoder *d, struct bgzf_batch *batch, bool prompt, bool *ended,
			struct fault *fault);

/* Whether the piece is still packed, and must go through piece_unpack. */
bool piece_is_packed(const struct piece *p);

/* Whether no other will be filled after this one. */
bool piece_is_last(const struct piece *p);

/* Inflates the piece's blocks. state: ops' own, for this thread, or NULL if there was no memory
 * for one, which is then the piece's status. */
void piece_unpack(struct piece *p, const struct inflate_ops *ops, void *state);

void piece_free(struct piece *p);

#endif
