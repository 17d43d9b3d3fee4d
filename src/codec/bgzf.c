/* SPDX-License-Identifier: MIT
 *
 * bgzf.c - BGZF blocks, which bgzip writes: gzip members that say in the extra subfield BC how
 * long they are. SAM/BAM format specification, section 4.1.
 *
 * For each block, a batch holds a struct block, filled from its header and trailer, and then the
 * deflate data. That is shorter than the block.
 */
#include <string.h>

#include "codec/crc32.h"
#include "codec/gzip.h"
#include "codec/inflate.h"

struct block {
	uint32_t nbytes; /* of deflate data */
	uint32_t text_nbytes, text_crc;
};

/* Looks for a whole block; *data: its deflate data, block_nbytes: its length. */
static enum block_next find(const void *state, const struct feed *feed, struct block *b,
			    const unsigned char **data, size_t *block_nbytes)
{
	enum block_next starves = feed->at_end ? BLOCK_NONE : BLOCK_STARVES;
	struct gzip_header header;
	enum gzip_parse parse;
	const char *words;
	size_t have;
	const unsigned char *begin = feed_data(feed, &have), *trailer;

	if (!gzip_is_between(state))
		return BLOCK_NONE;
	if (have < 2)
		return starves;
	parse = gzip_parse_header(&header, begin, have, &words);
	if (parse == GZIP_INCOMPLETE && have < BGZF_BLOCK_NBYTES)
		return starves;
	*block_nbytes = header.block_nbytes;
	if (parse != GZIP_PARSED || *block_nbytes <= header.nbytes + GZIP_TRAILER_NBYTES)
		return BLOCK_NONE;
	if (*block_nbytes > have)
		return starves;
	*data = begin + header.nbytes;
	trailer = begin + *block_nbytes - GZIP_TRAILER_NBYTES;
	*b = (struct block){(uint32_t)(trailer - *data), gzip_trailer_nbytes(trailer),
			    gzip_trailer_crc(trailer)};
	return b->text_nbytes <= BGZF_BLOCK_NBYTES ? BLOCK_WHOLE : BLOCK_NONE;
}

static enum block_next bgzf_next(const void *state, const struct feed *feed)
{
	const unsigned char *data;
	size_t block_nbytes;
	struct block b;

	return find(state, feed, &b, &data, &block_nbytes);
}

static enum block_next bgzf_cut(const void *state, struct feed *feed, struct block_batch *batch)
{
	const unsigned char *data;
	size_t block_nbytes;
	enum block_next next;
	struct block b;

	while ((next = find(state, feed, &b, &data, &block_nbytes)) == BLOCK_WHOLE &&
	       batch->nbytes + sizeof b + b.nbytes <= batch->room_nbytes &&
	       batch->text_nbytes + b.text_nbytes <= batch->text_room_nbytes) {
		memcpy(batch->data + batch->nbytes, &b, sizeof b);
		memcpy(batch->data + batch->nbytes + sizeof b, data, b.nbytes);
		batch->nbytes += sizeof b + b.nbytes;
		batch->text_nbytes += b.text_nbytes;
		feed_use(feed, block_nbytes);
	}
	return next;
}

static void *bgzf_open(void)
{
	return inflate_chosen()->open();
}

static void bgzf_close(void *thread_state)
{
	inflate_chosen()->close(thread_state);
}

static enum status decode_block(void *thread_state, const struct block *b,
				const unsigned char *data, unsigned char *to, struct fault *fault)
{
	const struct inflate_ops *ops = inflate_chosen();
	enum inflate_result result = ops->whole(thread_state, data, b->nbytes, to, b->text_nbytes);

	if (result == INFLATE_NO_MEMORY)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (result != INFLATE_ENDED)
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip,
				   "damaged block, or of another length");
	if (crc32_continue(0, to, b->text_nbytes) != b->text_crc)
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "incorrect data check");
	return STATUS_OK;
}

static enum status bgzf_decode(void *thread_state, struct block_batch *batch, unsigned char *to,
			       struct fault *fault)
{
	const unsigned char *data = batch->data, *end = data + batch->nbytes;

	batch->text_nbytes = 0;
	while (data < end) {
		struct block b;
		memcpy(&b, data, sizeof b);
		data += sizeof b;
		enum status status = decode_block(thread_state, &b, data, to + batch->text_nbytes,
						  fault);
		if (status != STATUS_OK)
			return status;
		data += b.nbytes;
		batch->text_nbytes += b.text_nbytes;
	}
	return STATUS_OK;
}

const struct codec_blocks bgzf_blocks = {
	.block_nbytes = BGZF_BLOCK_NBYTES,
	.next = bgzf_next,
	.cut = bgzf_cut,
	.open = bgzf_open,
	.close = bgzf_close,
	.decode = bgzf_decode,
};
