/* SPDX-License-Identifier: MIT
 *
 * bgzf.c - see bgzf.h. SAM/BAM format specification, section 4.1: the extra subfield BC
 * holds the block's length less one; the trailer, as in every gzip member, the inflated one.
 */
#include "codec/bgzf.h"

#include <stdlib.h>
#include <string.h>

bool bgzf_make_room(struct bgzf_batch *batch, size_t inflated_nbytes)
{
	size_t nbytes = inflated_nbytes > BGZF_BLOCK_NBYTES ? inflated_nbytes : BGZF_BLOCK_NBYTES;

	if (nbytes > batch->room_nbytes) {
		free(batch->data);
		batch->data = malloc(nbytes);
		batch->room_nbytes = batch->data ? nbytes : 0;
	}
	batch->inflated_room_nbytes = inflated_nbytes;
	batch->nbytes = batch->inflated_nbytes = 0;
	return batch->data != NULL;
}

/* What a block's sizes tell before it is inflated. */
struct block {
	struct gzip_header header;
	const unsigned char *trailer;
	size_t inflated_nbytes;
};

/* Looks at the end of a whole block; false: it says more than a block may hold. */
static bool look_at_end(struct block *b, const unsigned char *data)
{
	b->trailer = data + b->header.block_nbytes - GZIP_TRAILER_NBYTES;
	b->inflated_nbytes = gzip_trailer_nbytes(b->trailer);
	return b->inflated_nbytes <= BGZF_BLOCK_NBYTES;
}

/* What the feed has next; *b is filled where that is a block. */
static enum bgzf_next find(struct block *b, const struct feed *feed, const struct inflate_ops *ops)
{
	enum bgzf_next starves = feed->at_end ? BGZF_OTHER : BGZF_STARVES;
	const char *words;
	size_t have;
	const unsigned char *data = feed_data(feed, &have);

	if (have < 2)
		return starves;
	if (!gzip_is_magic(data, have))
		return BGZF_OTHER;
	switch (gzip_parse_header(&b->header, data, have, ops, &words)) {
	case GZIP_INCOMPLETE:
		return have < BGZF_BLOCK_NBYTES ? starves : BGZF_OTHER;
	case GZIP_DAMAGED:
		return BGZF_OTHER;
	case GZIP_PARSED:
		break;
	}
	if (b->header.block_nbytes == 0)
		return BGZF_OTHER;
	if (b->header.block_nbytes <= b->header.nbytes + GZIP_TRAILER_NBYTES)
		return BGZF_LIES;
	if (b->header.block_nbytes > have)
		return feed->at_end ? BGZF_TRUNCATED : BGZF_STARVES;
	return look_at_end(b, data) ? BGZF_BLOCK : BGZF_LIES;
}

enum bgzf_next bgzf_next(const struct feed *feed, const struct inflate_ops *ops)
{
	struct block b;

	return find(&b, feed, ops);
}

enum bgzf_next bgzf_cut(struct bgzf_batch *batch, struct feed *feed, const struct inflate_ops *ops)
{
	for (;;) {
		struct block b;
		size_t have;
		const unsigned char *data = feed_data(feed, &have);
		enum bgzf_next next = find(&b, feed, ops);
		if (next != BGZF_BLOCK ||
		    batch->nbytes + b.header.block_nbytes > batch->room_nbytes ||
		    batch->inflated_nbytes + b.inflated_nbytes > batch->inflated_room_nbytes)
			return next;
		memcpy(batch->data + batch->nbytes, data, b.header.block_nbytes);
		batch->nbytes += b.header.block_nbytes;
		batch->inflated_nbytes += b.inflated_nbytes;
		feed_use(feed, b.header.block_nbytes);
	}
}

static enum status inflate_block_into(const struct block *b, const unsigned char *data,
				      const struct inflate_ops *ops, void *state,
				      unsigned char *to, struct fault *fault)
{
	const unsigned char *deflated = data + b->header.nbytes;
	enum inflate_result result = ops->whole(
		state, deflated, (size_t)(b->trailer - deflated), to, b->inflated_nbytes);

	if (result == INFLATE_NO_MEMORY)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (result != INFLATE_ENDED)
		return fault_set(fault, STATUS_GZIP_DATA, 0, "damaged block, or of another length");
	if (ops->crc(0, to, b->inflated_nbytes) != gzip_trailer_crc(b->trailer))
		return fault_set(fault, STATUS_GZIP_DATA, 0, "incorrect data check");
	return STATUS_OK;
}

enum status bgzf_inflate(const struct bgzf_batch *batch, const struct inflate_ops *ops,
			 void *state, unsigned char *to, size_t *nbytes, struct fault *fault)
{
	enum status status;

	*nbytes = 0;
	for (size_t at = 0; at < batch->nbytes;) {
		struct block b;
		const char *words;
		gzip_parse_header(&b.header, batch->data + at, batch->nbytes - at, ops, &words);
		look_at_end(&b, batch->data + at);
		status = inflate_block_into(&b, batch->data + at, ops, state, to + *nbytes, fault);
		if (status != STATUS_OK)
			return status;
		*nbytes += b.inflated_nbytes;
		at += b.header.block_nbytes;
	}
	return STATUS_OK;
}
