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

#include "codec/bgzf_text.h"
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

/* Looks for a whole block; sets *block at BLOCK_WHOLE. */
static enum block_next find(const void *state, const struct feed *feed, struct block_length *block)
{
	enum block_next starves = feed->at_end ? BLOCK_NONE : BLOCK_STARVES;
	struct gzip_header header;
	enum gzip_parse parse;
	size_t nbytes, have;
	const char *words;
	const unsigned char *begin = feed_data(feed, &have);

	if (!gzip_is_between(state))
		return BLOCK_NONE;
	if (have < 2)
		return starves;
	parse = gzip_parse_header(&header, begin, have, &words);
	if (parse == GZIP_INCOMPLETE && have < BGZF_BLOCK_NBYTES)
		return starves;
	nbytes = parse_block(begin, have, &header);
	if (nbytes == 0)
		return BLOCK_NONE;
	if (nbytes > have)
		return starves;
	*block = (struct block_length){(uint32_t)nbytes, gzip_trailer_nbytes(begin + nbytes - GZIP_TRAILER_NBYTES)};
	return block->text_nbytes <= BGZF_BLOCK_NBYTES ? BLOCK_WHOLE : BLOCK_NONE;
}

static enum block_next bgzf_next(const void *state, const struct feed *feed)
{
	struct block_length ignored;

	return find(state, feed, &ignored);
}

static enum block_next bgzf_cut(const void *state, struct feed *feed, struct block_batch *batch)
{
	struct block_length block;
	enum block_next next;
	size_t have;

	while ((next = find(state, feed, &block)) == BLOCK_WHOLE && block_batch_take(batch, block)) {
		memcpy(batch->data + batch->nbytes - block.nbytes, feed_data(feed, &have), block.nbytes);
		feed_use(feed, block.nbytes);
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

/* The end of a block, and the header of the next one: nheader bytes of it; -1: errno. */
struct seam {
	unsigned char trailer[GZIP_TRAILER_NBYTES], header[USUAL_HEADER_NBYTES];
	ssize_t nheader;
};

static void seam_begin(struct seam *s, int fd, off_t position)
{
	s->nheader = read_at(fd, s->header, sizeof s->header, position);
}

/* Measures the block at position, whose header the seam has, and moves the seam to its end. nbytes 0: no whole block
 * begins there, or it ends beyond `end`. False: the file cannot be read. */
static bool measure(struct seam *s, int fd, off_t position, off_t end, struct block_length *block)
{
	struct gzip_header parsed;
	size_t nbytes = s->nheader > 0 ? parse_block(s->header, (size_t)s->nheader, &parsed) : 0;
	ssize_t n;

	*block = (struct block_length){0, 0};
	if (nbytes == 0 || (off_t)nbytes > end - position)
		return s->nheader >= 0;
	n = read_at(fd, s->trailer, sizeof s->trailer + sizeof s->header, position + (off_t)nbytes - GZIP_TRAILER_NBYTES);
	s->nheader = n < 0 ? -1 : n > GZIP_TRAILER_NBYTES ? n - GZIP_TRAILER_NBYTES : 0;
	if (n >= GZIP_TRAILER_NBYTES && gzip_trailer_nbytes(s->trailer) <= BGZF_BLOCK_NBYTES)
		*block = (struct block_length){(uint32_t)nbytes, gzip_trailer_nbytes(s->trailer)};
	return n >= 0;
}

static bool bgzf_walk(int fd, off_t *position, off_t end, struct block_batch *batch)
{
	struct block_length block;
	struct seam seam;

	for (seam_begin(&seam, fd, *position); measure(&seam, fd, *position, end, &block); *position += block.nbytes)
		if (block.nbytes == 0 || !block_batch_take(batch, block))
			return true;
	return false;
}

static size_t bgzf_list(int fd, off_t *position, off_t stop, struct block_length *lengths, size_t most)
{
	struct seam seam;
	size_t n = 0;

	seam_begin(&seam, fd, *position);
	while (n < most && *position < stop && measure(&seam, fd, *position, INT64_MAX, &lengths[n]) && lengths[n].nbytes)
		*position += lengths[n++].nbytes;
	return n;
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
	.list = bgzf_list,
	.seek = bgzf_seek,
	.open = bgzf_open,
	.close = bgzf_close,
	.decode = bgzf_decode,
};
