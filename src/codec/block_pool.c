/* SPDX-License-Identifier: MIT
 *
 * block_pool.c - see block_pool.h.
 */
#include "codec/block_pool.h"

#include <stdlib.h>

void block_pool_init(struct block_pool *pool)
{
	pool->idle = NULL;
	pthread_mutex_init(&pool->lock, NULL);
}

static void decoder_free(struct block_decoder *d)
{
	if (d && d->state)
		d->blocks->close(d->state);
	if (d)
		free(d->batch.data);
	free(d);
}

static struct block_decoder *pop(struct block_pool *pool)
{
	struct block_decoder *d;

	pthread_mutex_lock(&pool->lock);
	d = pool->idle;
	if (d)
		pool->idle = d->next;
	pthread_mutex_unlock(&pool->lock);
	return d;
}

void block_pool_free(struct block_pool *pool)
{
	struct block_decoder *d;

	while ((d = pop(pool)))
		decoder_free(d);
	pthread_mutex_destroy(&pool->lock);
}

/* Opens the decoder for these blocks, unless it is open for them. False: out of memory. */
static bool reopen(struct block_decoder *d, const struct codec_blocks *blocks)
{
	if (d->state && d->blocks == blocks)
		return true;
	if (d->state)
		d->blocks->close(d->state);
	d->blocks = blocks;
	d->state = blocks->open();
	return d->state != NULL;
}

/* Empties the batch. Its room suffices even if blocks are no shorter than their text. False: out
 * of memory. */
static bool make_room(struct block_batch *batch, size_t text_nbytes, size_t block_nbytes)
{
	size_t nbytes = text_nbytes > block_nbytes ? text_nbytes : block_nbytes;

	if (nbytes > batch->room_nbytes) {
		free(batch->data);
		batch->data = malloc(nbytes + FEED_PAD_NBYTES);
		batch->room_nbytes = batch->data ? nbytes : 0;
	}
	batch->text_room_nbytes = text_nbytes;
	batch->fd = -1;
	batch->nbytes = batch->text_nbytes = 0;
	return batch->data != NULL;
}

struct block_decoder *block_pool_get(struct block_pool *pool, const struct codec_blocks *blocks,
				     size_t text_nbytes)
{
	struct block_decoder *d = pop(pool);

	if (!d)
		d = calloc(1, sizeof *d);
	if (d && reopen(d, blocks) && make_room(&d->batch, text_nbytes, blocks->block_nbytes))
		return d;
	decoder_free(d);
	return NULL;
}

void block_pool_put(struct block_pool *pool, struct block_decoder *d)
{
	pthread_mutex_lock(&pool->lock);
	d->next = pool->idle;
	pool->idle = d;
	pthread_mutex_unlock(&pool->lock);
}

enum status block_decoder_run(struct block_decoder *d, void *to, struct fault *fault)
{
	return d->blocks->decode(d->state, &d->batch, to, fault);
}
