/* SPDX-License-Identifier: MIT
 *
 * decoder.c - see decoder.h.
 */
#include "codec/decoder.h"

#include <stdlib.h>

/* ---- opening ---- */

enum status decoder_open(struct decoder *d, enum decoder_format format, int fd,
			 const void *prefix, size_t nbytes, struct fault *fault)
{
	d->gzip = NULL;
	d->zstd = NULL;
	d->block_state = NULL;
	d->batch = (struct bgzf_batch){0};
	feed_init(&d->feed, fd, prefix, nbytes);
	if (format == DECODER_ZSTD)
		return unzstd_open(&d->zstd, fault);
	d->gzip = gzip_open();
	d->block_ops = inflate_block();
	return d->gzip ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

void decoder_close(struct decoder *d)
{
	gzip_close(d->gzip);
	unzstd_close(d->zstd);
	if (d->block_state)
		d->block_ops->close(d->block_state);
	free(d->batch.data);
}

/* ---- filling ---- */

static enum status make_room(struct piece *p)
{
	if (!p->data)
		p->data = malloc(PIECE_NBYTES);
	return p->data ? STATUS_OK : fault_set(&p->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Inflates into the piece what blocks come next, as many as the feed has and the piece has room
 * for. *next: what comes behind them; BGZF_BLOCK: one for which there is no room. */
static enum status unpack_blocks(struct decoder *d, struct piece *p, enum bgzf_next *next)
{
	enum status status;
	size_t n;

	if (!d->block_state)
		d->block_state = d->block_ops->open();
	if (!d->block_state || !bgzf_make_room(&d->batch, PIECE_NBYTES - p->nbytes))
		return fault_set(&p->fault, STATUS_NO_MEMORY, 0, NULL);
	*next = bgzf_cut(&d->batch, &d->feed, d->block_ops);
	status = bgzf_inflate(&d->batch, d->block_ops, d->block_state, p->data + p->nbytes, &n,
			      &p->fault);
	p->nbytes += n;
	return status;
}

/* Does what can be done about blocks; *next: what comes then. */
static enum status unpack(struct decoder *d, struct piece *p, enum bgzf_next *next)
{
	enum status status = STATUS_OK;

	*next = BGZF_OTHER;
	if (!d->gzip || !gzip_is_between(d->gzip))
		return STATUS_OK;
	*next = bgzf_next(&d->feed, d->block_ops);
	if (*next == BGZF_BLOCK)
		status = unpack_blocks(d, p, next);
	if (status == STATUS_OK && *next == BGZF_TRUNCATED)
		return fault_set(&p->fault, STATUS_GZIP_TRUNCATED, 0, NULL);
	if (status == STATUS_OK && *next == BGZF_LIES)
		return fault_set(&p->fault, STATUS_GZIP_DATA, 0, "impossible length of a block");
	return status;
}

/* Decompresses into the piece. */
static enum status step(struct decoder *d, struct piece *p, enum step *how)
{
	unsigned char *to = p->data + p->nbytes;
	size_t room = PIECE_NBYTES - p->nbytes, n;
	enum status status =
		d->gzip ? gzip_step(d->gzip, &d->feed, to, room, &n, how, &p->fault)
			: unzstd_step(d->zstd, &d->feed, to, room, &n, how, &p->fault);

	p->nbytes += n;
	return status;
}

/* The reader has done what it can with what the feed holds: reads more, unless the piece has
 * something to say and more would have to be waited for. */
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

/* Fills the piece until nothing more can come into it, or more would have to be waited for. */
static enum status fill(struct decoder *d, struct piece *p)
{
	enum status status = make_room(p);
	bool full = false;

	while (status == STATUS_OK && !full && !p->last) {
		enum bgzf_next next;
		enum step how = STEP_GOES_ON;
		status = unpack(d, p, &next);
		if (status != STATUS_OK)
			break;
		full = next == BGZF_BLOCK;
		if (next == BGZF_OTHER)
			status = step(d, p, &how);
		full = full || p->nbytes == PIECE_NBYTES;
		p->last = how == STEP_ENDED;
		if (status == STATUS_OK && (next == BGZF_STARVES || how == STEP_STARVES))
			status = feed_piece(d, p, &full);
	}
	return status;
}

void decoder_fill(struct decoder *d, struct piece *p)
{
	p->nbytes = 0;
	p->last = false;
	p->status = fill(d, p);
}

/* ---- blocks alone ---- */

bool decoder_has_blocks(const struct decoder *d)
{
	enum bgzf_next next;

	if (!d->gzip || !gzip_is_between(d->gzip))
		return false;
	next = bgzf_next(&d->feed, d->block_ops);
	return next == BGZF_BLOCK || next == BGZF_STARVES;
}

enum status decoder_cut(struct decoder *d, struct bgzf_batch *batch, bool prompt, bool *ended,
			struct fault *fault)
{
	enum status status = STATUS_OK;
	enum bgzf_next next;
	size_t have;

	while ((next = bgzf_cut(batch, &d->feed, d->block_ops)) == BGZF_STARVES &&
	       status == STATUS_OK) {
		if (prompt && batch->nbytes && !feed_is_ready(&d->feed))
			break;
		status = feed_more(&d->feed, fault);
	}
	feed_data(&d->feed, &have);
	*ended = next == BGZF_OTHER && d->feed.at_end && have == 0;
	return batch->nbytes ? STATUS_OK : status;
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
