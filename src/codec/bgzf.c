/* SPDX-License-Identifier: MIT
 *
 * bgzf.c - BGZF blocks, which bgzip writes: gzip members that say in the extra subfield BC how
 * long they are. SAM/BAM format specification, section 4.1.
 *
 * In a plain file, blocks are found without reading them: a block's length stands in its header, and a few
 * bytes around its end tell the length of its text and where the next one ends.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "codec/crc32.h"
#include "codec/gzip.h"
#include "codec/inflate.h"

#define USUAL_HEADER_NBYTES 18 /* of a block whose header has the subfield BC and nothing else */

/* Parses the block that begins at data, of which nbytes are there, at least its header. Returns its
 * length; 0: none begins, or its header goes on. */
static size_t parse_block(const unsigned char *data, size_t nbytes, struct gzip_header *header)
{
	const char *words;

	if (gzip_parse_header(header, data, nbytes, &words) != GZIP_PARSED ||
	    header->block_nbytes <= header->nbytes + GZIP_TRAILER_NBYTES)
		return 0;
	return header->block_nbytes;
}

/* Looks for a whole block; *block_nbytes: its length, *text_nbytes: that of its text. */
static enum block_next find(const void *state, const struct feed *feed, size_t *block_nbytes,
			    size_t *text_nbytes)
{
	enum block_next starves = feed->at_end ? BLOCK_NONE : BLOCK_STARVES;
	struct gzip_header header;
	enum gzip_parse parse;
	const char *words;
	size_t have;
	const unsigned char *begin = feed_data(feed, &have);

	if (!gzip_is_between(state))
		return BLOCK_NONE;
	if (have < 2)
		return starves;
	parse = gzip_parse_header(&header, begin, have, &words);
	if (parse == GZIP_INCOMPLETE && have < BGZF_BLOCK_NBYTES)
		return starves;
	*block_nbytes = parse_block(begin, have, &header);
	if (*block_nbytes == 0)
		return BLOCK_NONE;
	if (*block_nbytes > have)
		return starves;
	*text_nbytes = gzip_trailer_nbytes(begin + *block_nbytes - GZIP_TRAILER_NBYTES);
	return *text_nbytes <= BGZF_BLOCK_NBYTES ? BLOCK_WHOLE : BLOCK_NONE;
}

static enum block_next bgzf_next(const void *state, const struct feed *feed)
{
	size_t block_nbytes, text_nbytes;

	return find(state, feed, &block_nbytes, &text_nbytes);
}

static bool has_room(const struct block_batch *batch, size_t nbytes, size_t text_nbytes)
{
	return batch->nbytes + nbytes <= batch->room_nbytes &&
	       batch->text_nbytes + text_nbytes <= batch->text_room_nbytes;
}

static enum block_next bgzf_cut(const void *state, struct feed *feed, struct block_batch *batch)
{
	size_t nbytes, text_nbytes, have;
	enum block_next next;

	while ((next = find(state, feed, &nbytes, &text_nbytes)) == BLOCK_WHOLE &&
	       has_room(batch, nbytes, text_nbytes)) {
		memcpy(batch->data + batch->nbytes, feed_data(feed, &have), nbytes);
		batch->nbytes += nbytes;
		batch->text_nbytes += text_nbytes;
		feed_use(feed, nbytes);
	}
	return next;
}

/* Up to nbytes of the file at position; -1: errno. */
static ssize_t read_at(int fd, unsigned char *to, size_t nbytes, off_t position)
{
	ssize_t n;

	do
		n = pread(fd, to, nbytes, position);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool bgzf_walk(int fd, off_t *position, off_t end, struct block_batch *batch)
{
	/* The end of a block, and the header of the next one. */
	unsigned char seam[GZIP_TRAILER_NBYTES + USUAL_HEADER_NBYTES];
	const unsigned char *header = seam + GZIP_TRAILER_NBYTES;
	ssize_t n = read_at(fd, seam + GZIP_TRAILER_NBYTES, USUAL_HEADER_NBYTES, *position);

	while (n > 0) {
		struct gzip_header parsed;
		size_t nbytes = parse_block(header, (size_t)n, &parsed), text_nbytes;
		if (nbytes == 0 || (off_t)nbytes > end - *position)
			return true;
		n = read_at(fd, seam, sizeof seam, *position + (off_t)nbytes - GZIP_TRAILER_NBYTES);
		if (n < GZIP_TRAILER_NBYTES)
			return n >= 0;
		text_nbytes = gzip_trailer_nbytes(seam);
		if (text_nbytes > BGZF_BLOCK_NBYTES || !has_room(batch, nbytes, text_nbytes))
			return true;
		batch->nbytes += nbytes;
		batch->text_nbytes += text_nbytes;
		*position += (off_t)nbytes;
		n -= GZIP_TRAILER_NBYTES;
	}
	return n == 0;
}

static void *bgzf_open(void)
{
	return inflate_chosen()->open();
}

static void bgzf_close(void *thread_state)
{
	inflate_chosen()->close(thread_state);
}

/* Decodes a block's data, behind its header, into to, which has room for its text. */
static enum status decode_block(void *thread_state, const unsigned char *data, const unsigned char *trailer,
				unsigned char *to, struct fault *fault)
{
	const struct inflate_ops *ops = inflate_chosen();
	uint32_t text_nbytes = gzip_trailer_nbytes(trailer);
	enum inflate_result result =
		ops->whole(thread_state, data, (size_t)(trailer - data), to, text_nbytes);

	if (result == INFLATE_NO_MEMORY)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (result != INFLATE_ENDED)
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip,
				   "damaged block, or of another length");
	if (crc32_continue(0, to, text_nbytes) != gzip_trailer_crc(trailer))
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "incorrect data check");
	return STATUS_OK;
}

size_t bgzf_parse(const unsigned char *data, size_t nbytes, struct bgzf_block *block)
{
	struct gzip_header header;
	size_t block_nbytes = parse_block(data, nbytes, &header);
	const unsigned char *trailer = data + block_nbytes - GZIP_TRAILER_NBYTES;

	if (block_nbytes == 0 || block_nbytes > nbytes)
		return 0;
	*block = (struct bgzf_block){data + header.nbytes, trailer, gzip_trailer_nbytes(trailer)};
	return block_nbytes;
}

/* The blocks of a file that is being changed may be others now than when they were measured. */
static enum status bgzf_decode(void *thread_state, struct block_batch *batch, unsigned char *to,
			       struct fault *fault)
{
	size_t room_nbytes = batch->text_nbytes, at = 0;
	struct bgzf_block b;

	batch->text_nbytes = 0;
	while (at < batch->nbytes) {
		size_t nbytes = bgzf_parse(batch->data + at, batch->nbytes - at, &b);
		if (nbytes == 0 || b.text_nbytes > room_nbytes - batch->text_nbytes)
			return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "damaged block");
		enum status status = decode_block(thread_state, b.data, b.trailer, to + batch->text_nbytes,
						  fault);
		if (status != STATUS_OK)
			return status;
		at += nbytes;
		batch->text_nbytes += b.text_nbytes;
	}
	return STATUS_OK;
}

const struct codec_blocks bgzf_blocks = {
	.block_nbytes = BGZF_BLOCK_NBYTES,
	.next = bgzf_next,
	.cut = bgzf_cut,
	.walk = bgzf_walk,
	.open = bgzf_open,
	.close = bgzf_close,
	.decode = bgzf_decode,
};
