/* SPDX-License-Identifier: MIT
 *
 * block_pool.h - decoders of block batches, reused from one batch to the next. Any thread.
 */
#ifndef GPUSTAT_BLOCK_POOL_H
#define GPUSTAT_BLOCK_POOL_H

#include <pthread.h>
#include <stddef.h>

#include "base/status.h"
#include "codec/codec.h"

struct block_decoder {
	struct block_batch batch;
	const struct codec_blocks *blocks;
	void *state;                /* of blocks, for one thread at a time */
	struct block_decoder *next; /* the next idle one */
};

struct block_pool {
	pthread_mutex_t lock; /* held for no longer than a pointer takes to change */
	struct block_decoder *idle;
};

void block_pool_init(struct block_pool *pool);

/* Frees the idle decoders. */
void block_pool_free(struct block_pool *pool);

/* Lends a decoder. Its batch is empty and has room for text_nbytes of text, and for one block at
 * least. NULL: out of memory. */
struct block_decoder *block_pool_get(struct block_pool *pool, const struct codec_blocks *blocks,
				     size_t text_nbytes);

/* Takes the decoder back. */
void block_pool_put(struct block_pool *pool, struct block_decoder *d);

/* Decodes the batch, which is in its data, into to, as codec_blocks.decode does. */
enum status block_decoder_run(struct block_decoder *d, void *to, struct fault *fault);

#endif
