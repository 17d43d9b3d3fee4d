/* SPDX-License-Identifier: MIT
 *
 * decoder.c - see decoder.h.
 */
#include "codec/decoder.h"

#include <errno.h>
#include <stdlib.h>

#define AHEAD_BATCH_NBYTES ((size_t)8 << 20)  /* of text that a batch has room for */
#define AHEAD_RANGE_NBYTES ((off_t)16 << 20) /* 1000 blocks of logs: 0.6 ms, and 0.2 for what seems to be the first one */

static size_t piece_nbytes(void)
{
	const char *text = getenv(CHUNK_VARIABLE);
	unsigned long long number = text ? strtoull(text, NULL, 10) : 0;

	return number > 0 && number < PIECE_NBYTES ? (size_t)number : PIECE_NBYTES;
}

enum status decoder_open(struct decoder *d, const struct codec *codec, int fd, const void *prefix,
			 size_t nbytes, int nthreads, struct fault *fault)
{
	d->codec = codec;
	d->state = NULL;
	d->piece_nbytes = piece_nbytes();
	block_pool_init(&d->pool);
	d->ahead = NULL;
	d->ahead_asked = false;
	feed_init(&d->feed, fd, prefix, nbytes);
	return codec->open(&d->state, nthreads, fault);
}

void decoder_close(struct decoder *d)
{
	block_ahead_close(d->ahead);
	if (d->state)
		d->codec->close(d->state);
	feed_free(&d->feed);
	block_pool_free(&d->pool);
}

/* ---- text ---- */

static enum status make_room(struct piece *p)
{
	if (!p->data)
		p->data = malloc(PIECE_NBYTES);
	return p->data ? STATUS_OK : fault_set(&p->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Reads more, unless the piece has text and input would have to be waited for: then *full. */
static enum status feed_piece(struct decoder *d, struct piece *p, bool *full)
{
	enum status status;

	*full = p->nbytes && !feed_is_ready(&d->feed);
	if (*full)
		return STATUS_OK;
	status = feed_more(&d->feed, &p->fault);
	p->last = d->feed.stopped;
	return status;
}

static enum block_next next_block(const struct decoder *d)
{
	return d->codec == &codec_gzip ? bgzf_next(d->state, &d->feed) : BLOCK_NONE;
}

/* Appends the text of the blocks that are next. *full: the piece has no room for another. */
static enum status decode_blocks(struct decoder *d, struct piece *p, bool *full)
{
	struct block_decoder *b = block_pool_get(&d->pool, PIECE_NBYTES - p->nbytes);
	enum status status;

	if (!b)
		return fault_set(&p->fault, STATUS_NO_MEMORY, 0, NULL);
	*full = bgzf_cut(d->state, &d->feed, &b->batch) == BLOCK_WHOLE;
	status = bgzf_decode(&b->deflate, &b->batch, p->data + p->nbytes, &p->fault);
	p->nbytes += b->batch.text_nbytes;
	block_pool_put(&d->pool, b);
	return status;
}

static enum status fill(struct decoder *d, struct piece *p)
{
	enum status status = make_room(p);
	bool full = false;

	while (status == STATUS_OK && !full && !p->last) {
		enum block_next next = next_block(d);
		enum decode_step step = DECODE_GOES_ON;
		if (next == BLOCK_WHOLE)
			status = decode_blocks(d, p, &full);
		else if (next == BLOCK_STARVES)
			step = DECODE_STARVES;
		else
			status = d->codec->step(d->state, &d->feed, p, &step);
		full = full || p->nbytes >= p->room_nbytes;
		p->last = step == DECODE_ENDED;
		if (status == STATUS_OK && step == DECODE_STARVES)
			status = feed_piece(d, p, &full);
	}
	return status;
}

void decoder_fill(struct decoder *d, struct piece *p)
{
	p->nbytes = 0;
	p->room_nbytes = d->piece_nbytes;
	p->last = p->padded = false;
	p->status = fill(d, p);
}

/* ---- blocks ---- */

bool decoder_has_blocks(const struct decoder *d)
{
	return next_block(d) != BLOCK_NONE;
}

/* Has blocks looked for ahead of large batches, which are a GPU's: while one is measured, all others wait. */
static struct block_ahead *ahead_of(struct decoder *d, const struct block_batch *batch, off_t position)
{
	if (!d->ahead_asked && batch->text_room_nbytes >= AHEAD_BATCH_NBYTES) {
		d->ahead_asked = true;
		d->ahead = block_ahead_open(batch->fd, position, feed_end(&d->feed), AHEAD_RANGE_NBYTES);
	}
	return d->ahead;
}

/* Measures blocks of a plain file, batch->fd, and leaves them there: the feed goes on behind them. There may
 * be none. Errors: STATUS_READ, if the batch is empty. */
static enum status walk_blocks(struct decoder *d, struct block_batch *batch, struct fault *fault)
{
	off_t position = feed_tell(&d->feed);
	bool readable = true;

	batch->position = position;
	if (position >= 0) {
		bool full = block_ahead_walk(ahead_of(d, batch, position), &position, feed_end(&d->feed), batch);
		readable = full || bgzf_walk(batch->fd, &position, feed_end(&d->feed), batch);
	}
	if (batch->nbytes)
		feed_seek(&d->feed, position);
	else if (!readable)
		return fault_set(fault, STATUS_READ, errno, NULL);
	return STATUS_OK;
}

enum status decoder_cut(struct decoder *d, struct block_batch *batch, bool prompt, bool *ended,
			struct fault *fault)
{
	enum status status = STATUS_OK;
	enum block_next next;
	size_t have;

	*ended = false;
	if (batch->fd >= 0 && next_block(d) != BLOCK_NONE)
		status = walk_blocks(d, batch, fault);
	if (batch->nbytes)
		return STATUS_OK;
	batch->fd = -1;
	if (status != STATUS_OK)
		return status;
	while ((next = bgzf_cut(d->state, &d->feed, batch)) == BLOCK_STARVES &&
	       status == STATUS_OK) {
		if (prompt && batch->nbytes && !feed_is_ready(&d->feed))
			break;
		status = feed_more(&d->feed, fault);
	}
	feed_data(&d->feed, &have);
	*ended = next == BLOCK_NONE && d->feed.at_end && have == 0;
	return batch->nbytes ? STATUS_OK : status;
}

bool decoder_has_sections(const struct decoder *d)
{
	return d->codec == &codec_gzip && gzip_is_in_data(d->state);
}

/* ---- pieces ---- */

bool piece_is_last(const struct piece *p)
{
	return p->last || p->status != STATUS_OK;
}

void piece_free(struct piece *p)
{
	free(p->data);
}
